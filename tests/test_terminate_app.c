/* SPDX-License-Identifier: MIT
 *
 * test_terminate_app.c: SIGTERM at random moments of long operations: factorisation, ordering, detection, gaps, saddle
 * point systems, filling, pictures and mesh files. Prints, for each operation, the number of moments and the longest
 * time from the signal to the end of the process. Exit status: 143, or minus SIGTERM for commands that leave no files
 * open; a run that was stopped goes on.
 *
 * The table is the result. It is asserted only that a process ends within PATIENCE, because wall-clock time depends on
 * the load of the machine; the time that the process computes does not.
 */
#include "app_fixture.h"
#include "random_cases.h"

enum {
    PATIENCE = 60 /* s after which a process counts as one that ignores the signal */
};

#define BLOCK(side, solver, measure)                                                                                   \
    "{\"sinew\": 1, \"time_step\": 0.01, \"frames\": 500, \"solver\": {\"name\": \"" solver                            \
    "\", \"measure\": \"" measure "\"}, \"bodies\": [{\"mesh\": {\"generator\": \"box\", \"vertices\": [" side         \
    "]}, \"energies\": [{\"energy\": "                                                                                 \
    "\"neo_hookean\", \"young\": 1e5, \"poisson\": 0.3}], \"pins\": [{\"select\": {\"half_space\": {\"point\": [0, "   \
    "0.999, 0], \"normal\": [0, 1, 0]}}}]}]}"

/* Long operations. A scene is written first, if there is one. */
static const struct operation {
    const char *name, *scene, *words;

} operations[] = {
    {"factorisation", BLOCK("20, 20, 20", "newton", "residual"), "run op.json --quiet --threads 1 --out op"},
    {"ordering", BLOCK("32, 32, 32", "newton", "residual"), "run op.json --quiet --threads 1 --out op"},
    {"gap", BLOCK("13, 13, 13", "pbng", "gap"), "run op.json --quiet --threads 1 --out op"},
    {"detection", NULL, "run tablecloth --quiet --threads 1 --out op"},
    {"saddle point", BLOCK("9, 9, 9", "scd", "residual"), "run op.json --quiet --threads 1 --out op"},
    {"filling", NULL, "mesh fill " SCENES "/meshes/bean.obj --cells 120 --threads 1 --out op.vtu"},
    {"picture", NULL, "render twist --frames 1 --size 1600x1200 --samples 256 --threads 1 --out op.png"},
    {"mesh file", NULL, "mesh check op.obj"},
};
enum {
    OPERATIONS = sizeof operations / sizeof operations[0]
};

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void wait_for(double seconds)
{
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)}, NULL);
}

/* A grid of triangles with `side` * `side` vertices. */
static void write_grid(const char *path, int side)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < side * side; i++)
        fprintf(file, "v %d %d 0\n", i % side, i / side);
    for (int i = 0; i < side * (side - 1); i++)
        if (i % side < side - 1)
            fprintf(file, "f %d %d %d\nf %d %d %d\n", i + 1, i + 2, i + side + 1, i + 2, i + side + 2, i + side + 1);
    assert_int_equal(fclose(file), 0);
}

/* s from the signal to the end: wall clock, and time that the process computed. */
typedef struct delay {
    double wall, computed; /* wall < 0: the process had ended before the signal */
} delay;

/* s that the only thread of a process has computed. */
static double computed_by(pid_t child)
{
    char path[64], text[128];
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)child);
    read_text(path, text, sizeof text);
    return 1e-9 * atof(text);
}

static delay terminate(const struct operation *o, double moment, double *life)
{
    int status = 0;
    struct rusage use;
    const double began = now();
    const pid_t child = start(SINEW_COMMAND, o->words, 0);
    wait_for(moment);
    if (waitpid(child, &status, WNOHANG) == child) {
        *life = fmin(*life, now() - began);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
            fail_msg("%s is refused", o->name);
        return (delay){-1, 0};
    }
    const double sent = now(), before = computed_by(child);
    kill(child, SIGTERM);
    while (wait4(child, &status, WNOHANG, &use) == 0 && now() - sent < PATIENCE)
        wait_for(0.0005);
    const double taken = now() - sent;
    if (taken >= PATIENCE) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        fail_msg("%s: no end within %d s of SIGTERM", o->name, PATIENCE);
    }
    const bool stopped = WIFSIGNALED(status) ? WTERMSIG(status) == SIGTERM : WEXITSTATUS(status) == 128 + SIGTERM;
    /* 0, 1: the operation ended by itself when the signal came. */
    if (!stopped && !(WIFEXITED(status) && WEXITSTATUS(status) <= 1))
        fail_msg("%s, SIGTERM after %g s: status %x", o->name, moment, (unsigned)status);
    const double used = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                        1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    return (delay){taken, fmax(used - before, 0)};
}

static void measure_operation(const struct operation *o, random_cases *cases)
{
    double life = 4, wall = 0, computed = 0, at = 0;
    int stops = 0, late = 0;
    if (o->scene)
        write_text(scratch("op.json"), o->scene);
    for (int i = 0; i < 3 * cases->count && stops < cases->count; i++) {
        remove_files("op");
        const double moment = random_between(cases, 0.02, life);
        const delay d = terminate(o, moment, &life);
        stops += d.wall >= 0;
        late += d.computed > 0.1;
        at = d.computed > computed ? moment : at;
        computed = fmax(computed, d.computed);
        wall = fmax(wall, d.wall);
    }
    print_message("%-14s %4d moments; computed after the signal: at most %6.1f ms (after %.2f s), %d times more than "
                  "100 ms; wall clock: at most %6.1f ms\n",
                  o->name, stops, 1e3 * computed, at, late, 1e3 * wall);
}

static void moments(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("moments of SIGTERM, for each operation", 1, 25);
    write_grid(scratch("op.obj"), 1000);
    for (int k = 0; k < OPERATIONS; k++)
        measure_operation(&operations[k], &cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
