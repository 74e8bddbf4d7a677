/* SPDX-License-Identifier: MIT
 *
 * main.c: `sinew COMMAND ...`: finds the subcommand in a table, or the program that implements it.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "program.h"

typedef struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} command;

/* Replaces this process by the program `sinew-reproduce` with the experiments and the same arguments. Returns only on
 * failure. */
static int become_reproduce(int argc, char **argv)
{
    (void)argc;
    return sinew_become("reproduce", "sinew-reproduce" SINEW_PROGRAM_SUFFIX, argv);
}

static const command commands[] = {
    {"run", "simulate a scene and write what other programs open", sinew_command_run},
    {"render", "pictures and films of a scene, or of a run", sinew_command_render},
    {"compare", "let several solvers take the same step, and show how near each came", sinew_command_compare},
    {"reproduce", "published experiments: what was published, what is measured, whether it holds", become_reproduce},
    {"info", "solvers, energies, scenes, a mesh, this build", sinew_command_info},
    {"mesh", "check, fix, fill and convert meshes", sinew_command_mesh},
};
enum {
    COMMAND_COUNT = sizeof commands / sizeof commands[0]
};

static int main_print_help(void)
{
    printf("sinew " SINEW_VERSION " (" SINEW_PRECISION
           "): deformable bodies, each solver telling how far from the truth "
           "it stopped\n\nusage: sinew COMMAND ... [--precision single|double]\n\n");
    for (int i = 0; i < COMMAND_COUNT; i++)
        printf("  %-9s %s\n", commands[i].name, commands[i].summary);
    printf("\n`sinew COMMAND --help` says more. For a start:\n\n  sinew info scenes\n  sinew run twist --out out "
           "--format gltf,vtu\n  sinew render twist\n  sinew compare untwist\n\n"
           "Exit status: 0 done; 1 ran, but something did not hold; 2 wrong usage or bad input;\n"
           "3 the simulation became non-finite; 130 interrupted, 143 terminated.\n");
    return SINEW_EXIT_DONE;
}

static int unknown_command(const char *name)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    const char *nearest = sinew_nearest_name(name, names, COMMAND_COUNT);
    if (nearest)
        return sinew_usage_error("", "unknown command \"%s\"; did you mean \"%s\"?", name, nearest);
    return sinew_usage_error("", "unknown command \"%s\"; see sinew --help", name);
}

int main(int argc, char **argv)
{
    const char *precision;
    /* SIGXFSZ is ignored: exceeding the file size limit then is an error of write(), which the command reports. */
    signal(SIGXFSZ, SIG_IGN);
    if (!sinew_take_precision(&argc, argv, &precision))
        return SINEW_EXIT_USAGE;
    if (precision)
        return sinew_become("", strcmp(precision, "single") == 0 ? "sinew-single" : "sinew", argv);
    if (argc < 2)
        return sinew_usage_error("", "needs a command; see sinew --help");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return main_print_help();
    int status = -1;
    if (strcmp(argv[1], "--version") == 0) {
        printf("sinew %s (" SINEW_PRECISION ")\n", sinew_version());
        status = SINEW_EXIT_DONE;
    }
    for (int i = 0; i < COMMAND_COUNT && status < 0; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            status = commands[i].run(argc - 1, argv + 1);
    if (status < 0)
        return unknown_command(argv[1]);
    return sinew_end_output(status);
}
