/* SPDX-License-Identifier: MIT
 *
 * main.c: `sinew COMMAND ...`: finds the subcommand in one table, and the program of the wanted precision.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"

typedef struct command {
    const char *name;
    const char *summary;
    int (*run)(int argc, char **argv);
} command;

static const command commands[] = {
    {"run", "simulate a scene and write what other programs open", sinew_command_run},
    {"render", "pictures and films of a scene, or of a run", sinew_command_render},
    {"compare", "let several solvers take the same step, and show how near each came", sinew_command_compare},
    {"reproduce", "published experiments: what was published, what is measured, whether it holds",
     sinew_command_reproduce},
    {"info", "solvers, energies, scenes, a mesh, this build", sinew_command_info},
    {"mesh", "check, fix, fill and convert meshes", sinew_command_mesh},
};
enum {
    COMMAND_COUNT = sizeof commands / sizeof commands[0]
};

static int print_help(void)
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

/* Takes --precision out of the command line, wherever it stands before "--". */
static bool take_precision(int *argc, char **argv, const char **precision)
{
    int kept = 1;
    bool options_end = false;
    *precision = NULL;
    for (int i = 1; i < *argc; i++) {
        options_end = options_end || strcmp(argv[i], "--") == 0;
        if (!options_end && strcmp(argv[i], "--precision") == 0) {
            if (i + 1 == *argc) {
                sinew_usage_error("", "--precision needs a value: single or double");
                return false;
            }
            *precision = argv[++i];
        } else if (!options_end && strncmp(argv[i], "--precision=", 12) == 0) {
            *precision = argv[i] + 12;
        } else {
            argv[kept++] = argv[i];
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    if (*precision && strcmp(*precision, "single") != 0 && strcmp(*precision, "double") != 0) {
        sinew_usage_error("", "--precision: \"%s\" is neither single nor double", *precision);
        return false;
    }
    return true;
}

/* Becomes the program of the other precision, which lies beside this one. Returns only on failure. */
static int run_sibling(const char *precision, char **argv)
{
    char folder[4000], path[4096];
    if (!sinew_program_folder(folder, sizeof folder))
        return sinew_usage_error("", "--precision %s: cannot tell where this program is", precision);
    const char *name = strcmp(precision, "single") == 0 ? "sinew-single" : "sinew";
    snprintf(path, sizeof path, "%s/%s", folder, name);
    execv(path, argv);
    return sinew_usage_error("",
                             "--precision %s: cannot start %s: %s; `make` builds it, or install it beside this "
                             "program",
                             precision, path, strerror(errno));
}

int main(int argc, char **argv)
{
    const char *precision;
    /* A file that may grow no further is an error to report, not a reason to die. */
    signal(SIGXFSZ, SIG_IGN);
    if (!take_precision(&argc, argv, &precision))
        return SINEW_EXIT_USAGE;
    if (precision && strcmp(precision, SINEW_PRECISION) != 0)
        return run_sibling(precision, argv);
    if (argc < 2)
        return sinew_usage_error("", "needs a command; see sinew --help");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0)
        return print_help();
    int status = -1;
    if (strcmp(argv[1], "--version") == 0) {
        printf("sinew " SINEW_VERSION " (" SINEW_PRECISION ")\n");
        status = SINEW_EXIT_DONE;
    }
    for (int i = 0; i < COMMAND_COUNT && status < 0; i++)
        if (strcmp(commands[i].name, argv[1]) == 0)
            status = commands[i].run(argc - 1, argv + 1);
    if (status < 0)
        return unknown_command(argv[1]);
    /* Output that did not reach a full disk or a closed pipe must not look like success. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == SINEW_EXIT_DONE)
        return sinew_usage_error("", "cannot write to standard output: %s", strerror(errno));
    return status;
}
