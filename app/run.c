/* SPDX-License-Identifier: MIT
 *
 * run.c: `sinew run SCENE`: reads a scene, takes its steps, writes caches, metrics.csv and state.bin.
 *
 * Frame 0 is the start; a frame is steps_per_frame steps. --resume goes on from a state file to the frame that a run
 * without it would end with, and comes to the same bits.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "app.h"
#include "metrics.h"
#include "output.h"
#include "progress.h"
#include "settings.h"

static const char command[] = "run";

static const sinew_option options[] = {
    {"solver", "S", "another solver than the scene's; see sinew info solvers", false},
    {"iterations", "N", "at most, per step", false},
    {"tolerance", "R", "on the relative residual; 0 runs all iterations", false},
    {"frames", "N", "how many, counted from the start of the scene", false},
    {"threads", "N", "0: as many as the machine has; results do not depend on it", false},
    {"out", "DIR", "folder of the results; out/<scene> unless given", false},
    {"format", "LIST", "pc2, obj, vtu, gltf, csv or none, by commas; pc2 unless given", true},
    {"set", "KEY=VALUE", "in place of what the scene says, e.g. bodies.0.energies.0.young=1e6", true},
    {"resume", "FILE", "goes on from a state.bin", false},
    {"quiet", NULL, "says nothing unless something is wrong", false},
    {"help", NULL, "this text", false},
};
enum {
    OPTION_COUNT = sizeof options / sizeof options[0]
};

/* Set by the signal handler; the loop ends after the step. */
static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

typedef struct run {
    sinew_arguments arguments;
    sinew_scene *scene;
    sinew_world *world;
    char directory[2048];
    sinew_cache *caches[SINEW_CACHE_COUNT]; /* NULL: not wanted */
    bool wanted[SINEW_CACHE_COUNT];
    sinew_output metrics;
    int64_t frames;                 /* the frame to end with */
    uint32_t bits;                  /* of all steps */
    int64_t steps;                  /* taken by this run */
    double residual, relative, gap; /* largest of all steps */
    sinew_error error;
} run;

static int print_help(void)
{
    printf("usage: sinew run SCENE [OPTION ...]\n\n"
           "Simulates a scene (a file, or a name that `sinew info scenes` lists) and writes caches, metrics.csv (one\n"
           "row an iteration) and state.bin (to go on from).\n\n");
    sinew_options_print(options, OPTION_COUNT);
    printf(
        "  --precision P          single or double\n\n"
        "Example: sinew run scenes/twist.json --frames 120 --format gltf,vtu --set solver.tolerance=1e-6\n\n"
        "Exit status: 0 done; 1 some step did not reach its tolerance, or left tets inverted; 2 wrong usage or bad\n"
        "input; 3 the simulation became non-finite; 130 interrupted (the step was finished, the files are whole).\n");
    return SINEW_EXIT_DONE;
}

/* ---- Command line --------------------------------------------------------------------------- */

static bool read_formats(run *r)
{
    const sinew_given nothing = {0}, *given = &nothing;
    for (int i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].name, "format") == 0)
            given = &r->arguments.given[i];
    r->wanted[SINEW_CACHE_PC2] = given->count == 0;
    for (int32_t i = 0; i < given->count; i++) {
        for (const char *name = given->values[i]; name;) {
            char word[32];
            size_t length = strcspn(name, ",");
            snprintf(word, sizeof word, "%.*s", (int)length, name);
            sinew_cache_format format = sinew_cache_format_by_name(word);
            if (format < SINEW_CACHE_COUNT) {
                r->wanted[format] = true;
            } else if (strcmp(word, "none") != 0) {
                sinew_usage_error(command, "--format: unknown format \"%s\"; known are pc2, obj, vtu, gltf, csv, none",
                                  word);
                return false;
            }
            name = name[length] ? name + length + 1 : NULL;
        }
    }
    return true;
}

/* The options that stand for a setting, as settings; then --set itself. */
static bool make_settings(const run *r, sinew_settings *settings)
{
    const char *solver = sinew_option_text(&r->arguments, "solver");
    if (solver && sinew_read_solver(command, "--solver", solver) == SINEW_SOLVER_COUNT)
        return false;
    if (solver)
        sinew_settings_add_text(settings, "solver.name", solver);
    return sinew_settings_add_number(settings, &r->arguments, "iterations", "solver.iterations", true) &&
           sinew_settings_add_number(settings, &r->arguments, "tolerance", "solver.tolerance", false) &&
           sinew_settings_add_number(settings, &r->arguments, "frames", "frames", true) &&
           sinew_settings_add_number(settings, &r->arguments, "threads", "threads", true) &&
           sinew_settings_add_given(settings, &r->arguments);
}

/* ---- Scene ---------------------------------------------------------------------------------- */

static bool fail(const run *r)
{
    sinew_usage_error(command, "%s", r->error.text);
    return false;
}

static bool resume(run *r, const char *path)
{
    if (sinew_state_read(r->world, path, &r->error) != SINEW_OK)
        return fail(r);
    int64_t per_frame = sinew_scene_steps_per_frame(r->scene), step = sinew_world_step_count(r->world);
    if (step < r->frames * per_frame)
        return true;
    sinew_usage_error(command, "--resume %s: it is at frame %lld and the run ends with frame %lld; raise --frames",
                      path, (long long)(step / per_frame), (long long)r->frames);
    return false;
}

static bool open_scene(run *r, const char *name)
{
    sinew_settings settings = {0};
    r->scene = make_settings(r, &settings) ? sinew_open_scene(command, name, &settings) : NULL;
    if (!r->scene)
        return false;
    r->world = sinew_scene_world(r->scene);
    r->frames = sinew_scene_frames(r->scene);
    sinew_solver_def solver = sinew_scene_solver(r->scene);
    solver.record = SINEW_RECORD_ITERATIONS;
    if (sinew_world_set_solver(r->world, &solver, &r->error) != SINEW_OK ||
        sinew_world_prepare(r->world, &r->error) != SINEW_OK)
        return fail(r);
    const char *state = sinew_option_text(&r->arguments, "resume");
    return !state || resume(r, state);
}

/* ---- Files ---------------------------------------------------------------------------------- */

static bool choose_folder(run *r)
{
    const char *out = sinew_option_text(&r->arguments, "out");
    int64_t step = sinew_world_step_count(r->world);
    int length;
    if (out)
        length = snprintf(r->directory, sizeof r->directory, "%s", out);
    else if (step > 0) /* the first part's files stay */
        length = snprintf(r->directory, sizeof r->directory, "out/%s-from-step-%lld", sinew_scene_name(r->scene),
                          (long long)step);
    else
        length = snprintf(r->directory, sizeof r->directory, "out/%s", sinew_scene_name(r->scene));
    if (length <= 0 || length >= (int)sizeof r->directory) {
        sinew_usage_error(command, "--out: the path is empty or too long");
        return false;
    }
    return sinew_make_folders(command, r->directory);
}

static bool open_metrics(run *r)
{
    if (!sinew_output_open(&r->metrics, command, r->directory, "metrics.csv"))
        return false;
    sinew_metrics_head(r->metrics.stream);
    return true;
}

static void write_metrics(const run *r)
{
    int32_t count;
    const sinew_iteration *rows = sinew_world_iterations(r->world, &count);
    const char *solver = sinew_get_solver_info(sinew_scene_solver(r->scene).kind)->name;
    for (int32_t i = 0; i < count; i++)
        sinew_metrics_row(r->metrics.stream, solver, sinew_world_step_count(r->world), &rows[i], NAN);
}

static bool open_caches(run *r, int64_t first_frame)
{
    for (int format = 0; format < SINEW_CACHE_COUNT; format++) {
        if (!r->wanted[format])
            continue;
        sinew_cache_def def = sinew_default_cache_def();
        def.world = r->world;
        def.directory = r->directory;
        def.name = sinew_scene_name(r->scene);
        def.format = (sinew_cache_format)format;
        def.frame_count = (int32_t)(r->frames - first_frame + 1);
        def.frame_time = sinew_scene_time_step(r->scene) * (sinew_real)sinew_scene_steps_per_frame(r->scene);
        r->caches[format] = sinew_cache_open(&def, &r->error);
        if (!r->caches[format])
            return fail(r);
    }
    return true;
}

static bool write_frame(run *r)
{
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        if (r->caches[format] && sinew_cache_frame(r->caches[format], &r->error) != SINEW_OK)
            return fail(r);
    return true;
}

static bool close_files(run *r)
{
    bool good = true;
    for (int format = 0; format < SINEW_CACHE_COUNT && good; format++) {
        if (r->caches[format])
            good = sinew_cache_close(r->caches[format], &r->error) == SINEW_OK || fail(r);
        r->caches[format] = NULL;
    }
    char path[2200];
    snprintf(path, sizeof path, "%s/state.bin", r->directory);
    return good && sinew_output_close(&r->metrics) &&
           (sinew_state_write(r->world, path, &r->error) == SINEW_OK || fail(r));
}

static void free_run(run *r)
{
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        if (r->caches[format])
            sinew_cache_drop(r->caches[format]);
    sinew_output_drop(&r->metrics);
    sinew_scene_destroy(r->scene);
    sinew_arguments_free(&r->arguments);
}

/* ---- Steps ---------------------------------------------------------------------------------- */

static void take_step(run *r)
{
    sinew_step_result result = {0};
    r->bits |= sinew_world_step(r->world, &result);
    r->steps++;
    r->residual = fmax(r->residual, result.residual);
    r->relative = fmax(r->relative, result.relative_residual);
    r->gap = fmax(r->gap, result.gap);
    write_metrics(r);
}

static bool may_go_on(const run *r)
{
    return !interrupted && !(r->bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
}

static bool simulate(run *r, sinew_progress *progress)
{
    int64_t per_frame = sinew_scene_steps_per_frame(r->scene), step = sinew_world_step_count(r->world);
    if (!write_frame(r))
        return false;
    while (step < r->frames * per_frame && may_go_on(r)) {
        char note[64];
        take_step(r);
        step = sinew_world_step_count(r->world);
        snprintf(note, sizeof note, "residual %.1e", r->residual);
        sinew_progress_show(progress, step, note);
        bool stepped = !(r->bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
        if (stepped && step % per_frame == 0 && !write_frame(r))
            return false;
    }
    return true;
}

static const char *open_with(int format)
{
    static const char *const texts[SINEW_CACHE_COUNT] = {[SINEW_CACHE_PC2] =
                                                             "%s.obj + %s.pc2 (Blender: Mesh Cache modifier)",
                                                         [SINEW_CACHE_OBJ] = "%s.*.obj (any 3D program)",
                                                         [SINEW_CACHE_VTU] = "%s.pvd (ParaView)",
                                                         [SINEW_CACHE_GLTF] = "%s.glb (browser, Blender)",
                                                         [SINEW_CACHE_CSV] = "%s.csv (a spreadsheet)"};
    return texts[format];
}

/* Writes a pattern with every %s replaced by the name. */
static void print_named(const char *pattern, const char *name)
{
    for (const char *c = pattern; *c; c++) {
        if (c[0] == '%' && c[1] == 's') {
            fputs(name, stdout);
            c++;
        } else {
            putchar(*c);
        }
    }
}

static void print_summary(const run *r, double seconds)
{
    char bits[128], gap[64] = "gap not estimated";
    const char *name = sinew_scene_name(r->scene);
    sinew_bits_text(r->bits, bits, sizeof bits);
    if (isfinite(r->gap))
        snprintf(gap, sizeof gap, "gap about %.3g J in the worst step", r->gap);
    printf("%s%s: %g s simulated, %lld steps of %s, residual at most %.3g N (relative %.3g), %s, status %s, %.3g s a "
           "step; "
           "in %s: ",
           interrupted ? "interrupted, " : "", name, (double)sinew_world_time(r->world), (long long)r->steps,
           sinew_get_solver_info(sinew_scene_solver(r->scene).kind)->name, r->residual, r->relative, gap, bits,
           r->steps > 0 ? seconds / (double)r->steps : 0, r->directory);
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        if (r->wanted[format]) {
            print_named(open_with(format), name);
            printf(", ");
        }
    printf("metrics.csv, state.bin\n");
}

static int exit_status(const run *r)
{
    if (r->bits & SINEW_STEP_NOT_FINITE)
        return SINEW_EXIT_NOT_FINITE;
    if (interrupted)
        return SINEW_EXIT_INTERRUPTED;
    return r->bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_INVERTED) ? SINEW_EXIT_UNMET : SINEW_EXIT_DONE;
}

static int run_scene(run *r)
{
    bool quiet = sinew_option_on(&r->arguments, "quiet");
    if (!read_formats(r) || !open_scene(r, r->arguments.plain[0]) || !choose_folder(r) || !open_metrics(r))
        return SINEW_EXIT_USAGE;
    int64_t per_frame = sinew_scene_steps_per_frame(r->scene), first = sinew_world_step_count(r->world);
    if (!open_caches(r, first / per_frame))
        return SINEW_EXIT_USAGE;
    if (!quiet && *sinew_scene_notes(r->scene))
        fprintf(stderr, "%s\n", sinew_scene_notes(r->scene));
    /* A second interrupt ends the program at once. */
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sinew_progress progress;
    sinew_progress_start(&progress, r->frames * per_frame, quiet);
    bool good = simulate(r, &progress);
    double seconds = sinew_progress_end(&progress);
    if (r->bits & SINEW_STEP_UNPREPARED)
        return sinew_usage_error(command, "%s: %s", sinew_scene_name(r->scene), sinew_world_error(r->world));
    if (!good || !close_files(r))
        return SINEW_EXIT_USAGE;
    if (r->bits & SINEW_STEP_NOT_FINITE)
        sinew_usage_error(command, "%s: step %lld became non-finite; the state before it is kept; %s",
                          sinew_scene_name(r->scene), (long long)sinew_world_step_count(r->world) + 1,
                          sinew_not_finite_advice(r->world));
    if (!quiet)
        print_summary(r, seconds);
    return exit_status(r);
}

int sinew_command_run(int argc, char **argv)
{
    run r = {0};
    if (!sinew_arguments_read(&r.arguments, command, options, OPTION_COUNT, argc, argv))
        return SINEW_EXIT_USAGE;
    int status;
    if (sinew_option_on(&r.arguments, "help"))
        status = print_help();
    else if (r.arguments.plain_count != 1)
        status = sinew_usage_error(command, r.arguments.plain_count == 0 ? "needs a scene; see sinew run --help"
                                                                         : "takes one scene; see sinew run --help");
    else
        status = run_scene(&r);
    free_run(&r);
    return status;
}
