/* SPDX-License-Identifier: MIT
 *
 * reproduce.c: `sinew reproduce`: published experiments by name, as tables of published value, measured value and
 * verdict.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app.h"
#include "output.h"
#include "program.h"
#include "progress.h"
#include "reproduce.h"

static const sinew_option options[] = {
    {"list", NULL, "names and titles of the experiments", false},
    {"quick", NULL, "a smaller version of each, on coarser meshes", false},
    {"out", "DIR", "where results go, a folder an experiment (default out/reproduce)", false},
    {"alone", NULL, "stay in this precision: do not start the program of the other one", false},
    {"calibrate", NULL, "fit the beam's density again and print it", false},
};
enum {
    OPTION_COUNT = sizeof options / sizeof options[0],
    FOLDER_SIZE = 2100
};

/* Context of the callbacks of an experiment. */
typedef struct reproduction {
    const sinew_arguments *arguments;
    const char *out;
    sinew_progress progress;
    int32_t total;
} reproduction;

static int reproduce_print_help(void)
{
    printf(
        "usage: sinew reproduce [NAME ...] [options]\n\nRuns published experiments (all of them without a NAME; a "
        "NAME may end early: thesis) and prints for every\nstatement what was published, what is measured here and "
        "whether it holds: yes, partly or no, with the cause;\nnot judged, where it is a time; or not measured, where "
        "what it takes is not there. Writes report.html,\nsummary.json, and each figure as .svg and .csv to "
        "out/reproduce/NAME, and over all that lie\nthere out/reproduce/index.html.\n\n");
    sinew_options_print(options, OPTION_COUNT);
    printf("\nExit status 1: it ran, and some statement does not hold.\n\nexample:\n  sinew reproduce thesis/untwist "
           "--out out/reproduce\n");
    return SINEW_EXIT_DONE;
}

static void show_progress(void *context, int32_t done, int32_t total, const char *label)
{
    reproduction *r = context;
    if (done <= 1 || total != r->total) {
        sinew_progress_end(&r->progress);
        sinew_progress_start(&r->progress, total, false);
        r->total = total;
    }
    sinew_progress_show(&r->progress, done, label);
}

/* ---- The program of the other precision --------------------------------------------------------- */

static bool run_program(const char *path, char *const argv[])
{
    fflush(NULL);
    const pid_t parent = getpid(), child = fork();
    if (child == 0) {
        /* If `kill` or a batch system ends this program only, its child process must end too. */
        if (prctl(PR_SET_PDEATHSIG, SIGTERM) != 0 || getppid() != parent)
            _exit(127);
        /* Discards the table that the child process prints on standard output. */
        if (!freopen("/dev/null", "w", stdout))
            _exit(127);
        execv(path, argv);
        _exit(127);
    }
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    /* Exit status 1: the child process ran, and some claim does not hold. */
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) <= SINEW_EXIT_UNMET;
}

static bool fails(outcome *result, const char *program, const char *how)
{
    snprintf(result->failure, sizeof result->failure, "%s %s", program, how);
    return false;
}

static bool other_precision(void *context, const char *name, const char *figure_name, outcome *result)
{
    reproduction *r = context;
    const bool single = sizeof(sinew_real) == 4;
    const char *program = "sinew-reproduce" SINEW_PROGRAM_OTHER_SUFFIX;
    char path[4200], out[2048], written[2100];
    char word[64], alone[] = "--alone", quick[] = "--quick", out_option[] = "--out";
    if (!sinew_find_program(program, path, sizeof path))
        return fails(result, program, "is not beside this program; `make` builds it");
    if (snprintf(out, sizeof out, "%s/%s", r->out, single ? "double" : "single") >= (int)sizeof out)
        return fails(result, program, "was not started: the path of --out is too long");
    snprintf(word, sizeof word, "%s", name);
    snprintf(written, sizeof written, "%s/%s", out, name);
    char *argv[] = {path, word, out_option, out, alone, NULL, NULL};
    if (sinew_option_on(r->arguments, "quick"))
        argv[5] = quick;
    return (run_program(path, argv) && sinew_read_outcome(written, figure_name, result)) ||
           fails(result, program, "failed");
}

/* ---- Selection and listing of experiments ------------------------------------------------------- */

/* True if a plain argument names the experiment, or if there are no plain arguments; "thesis" names all of thesis/. */
static bool reproduce_wanted(const sinew_arguments *a, const char *name)
{
    for (int32_t i = 0; i < a->plain_count; i++) {
        const size_t length = strlen(a->plain[i]);
        if (strncmp(name, a->plain[i], length) == 0 && (name[length] == '\0' || name[length] == '/'))
            return true;
    }
    return a->plain_count == 0;
}

static bool all_known(const sinew_arguments *a)
{
    const char *names[EXPERIMENT_MAX];
    int32_t count = 0;
    for (; experiment_at(count) && count < EXPERIMENT_MAX; count++)
        names[count] = experiment_at(count)->name;
    for (int32_t i = 0; i < a->plain_count; i++) {
        bool known = false;
        for (int32_t k = 0; k < count; k++) {
            const size_t length = strlen(a->plain[i]);
            known = known || (length > 0 && strncmp(names[k], a->plain[i], length) == 0 &&
                              (names[k][length] == '\0' || names[k][length] == '/'));
        }
        if (known)
            continue;
        const char *nearest = sinew_nearest_name(a->plain[i], names, count);
        if (nearest)
            sinew_usage_error("reproduce", "unknown experiment \"%s\"; did you mean \"%s\"?", a->plain[i], nearest);
        else
            sinew_usage_error("reproduce", "unknown experiment \"%s\"; see sinew reproduce --list", a->plain[i]);
        return false;
    }
    return true;
}

/* Prints the list of experiments. Columns have the width of the longest entry, so that rows are aligned. */
static int print_list(const sinew_arguments *a)
{
    size_t name = 0, source = 0;
    for (int32_t i = 0; experiment_at(i); i++) {
        name = strlen(experiment_at(i)->name) > name ? strlen(experiment_at(i)->name) : name;
        source = strlen(experiment_at(i)->source) > source ? strlen(experiment_at(i)->source) : source;
    }
    for (int32_t i = 0; experiment_at(i); i++)
        if (reproduce_wanted(a, experiment_at(i)->name))
            printf("%-*s  %-*s  %s\n", (int)name, experiment_at(i)->name, (int)source, experiment_at(i)->source,
                   experiment_at(i)->title);
    return SINEW_EXIT_DONE;
}

/* ---- Run of one experiment --------------------------------------------------------------------- */

static bool folder_of(const experiment *e, const reproduction *r, char folder[FOLDER_SIZE])
{
    if (snprintf(folder, FOLDER_SIZE, "%s/%s", r->out, e->name) < FOLDER_SIZE)
        return true;
    sinew_usage_error("reproduce", "--out: the path is too long");
    return false;
}

static int run_one(const experiment *e, const setting *s, reproduction *r)
{
    outcome *o = calloc(1, sizeof *o);
    char folder[FOLDER_SIZE];
    int status = SINEW_EXIT_USAGE;
    sinew_progress whole;
    if (!o)
        return sinew_usage_error("reproduce", "out of memory");
    sinew_progress_start(&whole, 1, true);
    e->run(s, o);
    sinew_progress_end(&r->progress);
    const double seconds = sinew_progress_end(&whole);
    if (*o->failure) {
        sinew_usage_error("reproduce", "%s: %s", e->name, o->failure);
    } else if (folder_of(e, r, folder) && sinew_write_outcome(folder, e, s, o, seconds) && sinew_write_index(r->out)) {
        sinew_print_outcome(e, o, seconds);
        fflush(stdout);
        status = outcome_result(o) == HOLDS_NO ? SINEW_EXIT_UNMET : SINEW_EXIT_DONE;
    }
    outcome_release(o);
    free(o);
    return status;
}

static bool beam_wanted(const sinew_arguments *a)
{
    for (int32_t i = 0; experiment_at(i); i++)
        if (experiment_at(i)->needs_beam && reproduce_wanted(a, experiment_at(i)->name))
            return true;
    return false;
}

static bool prepare_folders(const reproduction *r)
{
    char folder[FOLDER_SIZE];
    if (!sinew_make_folders("reproduce", r->out) || !sinew_index_is_ours(r->out))
        return false;
    for (int32_t i = 0; experiment_at(i); i++)
        if (reproduce_wanted(r->arguments, experiment_at(i)->name) &&
            !(folder_of(experiment_at(i), r, folder) && sinew_prepare_folder("reproduce", folder)))
            return false;
    return true;
}

static int run_wanted(const sinew_arguments *a)
{
    sinew_error error = {SINEW_OK, ""};
    beam b = {0};
    const char *out = sinew_option_text(a, "out");
    reproduction r = {.arguments = a, .out = out ? out : "out/reproduce"};
    const bool calibrate = sinew_option_on(a, "calibrate"), with_beam = calibrate || beam_wanted(a);
    if (!calibrate && !prepare_folders(&r))
        return SINEW_EXIT_USAGE;
    if (with_beam && beam_create(&b, sinew_option_on(a, "quick"), &error) != SINEW_OK)
        return sinew_usage_error("reproduce", "%s", error.text);
    int worst = SINEW_EXIT_DONE;
    if (calibrate) {
        printf("%.1f kg/m3 (in use: %.1f)\n", beam_calibrate(&b, 22.7), b.density);
    } else {
        setting s = {.quick = sinew_option_on(a, "quick"),
                     .alone = sinew_option_on(a, "alone"),
                     .beam = with_beam ? &b : NULL,
                     .progress = show_progress,
                     .other_precision = other_precision,
                     .context = &r};
        for (int32_t i = 0; experiment_at(i); i++) {
            int status =
                reproduce_wanted(a, experiment_at(i)->name) ? run_one(experiment_at(i), &s, &r) : SINEW_EXIT_DONE;
            worst = status > worst ? status : worst;
        }
        if (worst <= SINEW_EXIT_UNMET)
            printf("all reproductions at a glance: %s/index.html\n", r.out);
    }
    beam_destroy(&b);
    return worst;
}

int sinew_command_reproduce(int argc, char **argv)
{
    sinew_arguments a;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return reproduce_print_help();
    if (!sinew_arguments_read(&a, "reproduce", options, OPTION_COUNT, argc, argv))
        return SINEW_EXIT_USAGE;
    int status = SINEW_EXIT_USAGE;
    if (all_known(&a))
        status = sinew_option_on(&a, "list") ? print_list(&a) : run_wanted(&a);
    sinew_arguments_free(&a);
    return status;
}
