/* SPDX-License-Identifier: MIT
 *
 * run.c: `sinew run SCENE`: reads a scene, takes its steps, writes caches, metrics.csv, contact.csv if the world has
 * contact, state.bin and summary.json.
 *
 * Frame 0 is the start; a frame is steps_per_frame steps. A checkpoint is taken between two steps. --resume continues
 * from the checkpoint, in the same folder with the same files and frame numbers. Positions, velocities and frames equal
 * those of an uninterrupted run; times do not (see run_files.c).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "metrics.h"
#include "progress.h"
#include "run.h"
#include "signals.h"

static const char command[] = "run";

static const sinew_option options[] = {
    {"solver", "S", "another solver than the scene's; see sinew info solvers", false},
    {"iterations", "N", "at most, per step", false},
    {"tolerance", "R", "on the relative residual; 0 runs all iterations", false},
    {"accuracy", "A", "position error of a solved step, as a fraction of a body's size; 1e-4 unless given", false},
    {"frames", "N", "how many, counted from the start of the scene", false},
    {"threads", "N", "0: as many as the machine has; results do not depend on it", false},
    {"memory", "SIZE", "the world may not hold more, e.g. 2GB; results do not depend on it", false},
    {"out", "DIR", "folder of the results; out/<scene> unless given", false},
    {"format", "LIST", "pc2, obj, vtu, gltf, csv, npy, usda or none, by commas; pc2 unless given", true},
    {"fields", "LIST", "of vtu and npy, by commas; von_mises unless given; all, none", true},
    {"morphs", "N", "gltf: at most so many frames, evenly chosen; 120 unless given, 0: all", false},
    {"set", "KEY=VALUE", "in place of what the scene says, e.g. bodies.0.energies.0.young=1e6", true},
    {"record", NULL, "metrics.csv has one row an iteration, in place of one a step", false},
    {"checkpoint", "SECONDS", "between checkpoints, 60 unless given; 0: after every frame", false},
    {"resume", "PATH", "goes on from a state.bin, or from the one in a folder", false},
    {"force", NULL, "resumes from a state of another scene or solver where its sizes fit", false},
    {"overwrite", NULL, "removes the files of the run that lies in the folder, and no others", false},
    {"quiet", NULL, "says nothing unless something is wrong", false},
    {"help", NULL, "this text", false},
};
enum {
    OPTION_COUNT = sizeof options / sizeof options[0]
};

static int run_print_help(void)
{
    printf("usage: sinew run SCENE [OPTION ...]\n\n"
           "Simulates a scene (a file, or a name that `sinew info scenes` lists) and writes caches, metrics.csv,\n"
           "contact.csv where bodies touch, state.bin (to go on from) and summary.json (`sinew info run DIR` prints "
           "it).\n\n");
    sinew_options_print(options, OPTION_COUNT);
    printf(
        "  --precision P          single or double\n\n"
        "Example: sinew run scenes/twist.json --frames 120 --format gltf,vtu --set solver.tolerance=1e-6\n"
        "         sinew run twist --out out/a --checkpoint 10      is killed, then:\n"
        "         sinew run twist --resume out/a                   ends with the same bytes as if it had not been\n"
        "         sinew run twist --resume out/a --frames 200      goes on after its end\n"
        "         sinew run twist --resume out/a --out out/b --force --set bodies.0.energies.0.young=1e6\n"
        "                                                          from there on otherwise, in another folder\n\n"
        "Exit status: 0 done; 1 some step is not known to be solved, or left tets inverted; 2 wrong usage or bad\n"
        "input; 3 the simulation became non-finite; 130 interrupted, 143 terminated (the step was finished, the files\n"
        "are whole, --resume goes on).\n");
    return SINEW_EXIT_DONE;
}

double sinew_run_clock(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool run_fail(const sinew_run *r)
{
    sinew_usage_error(command, "%s", r->error.text);
    return false;
}

/* ---- Command line of `sinew run` --------------------------------------------------------------- */

/* Returns the command line for summary.json, whose texts are UTF-8. NULL if memory is short. */
static char *run_join(int argc, char **argv)
{
    char *text = sinew_command_line(argc, argv);
    json_t *valid = text ? json_string(text) : NULL;
    for (char *c = text; c && !valid && *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    json_decref(valid);
    return text;
}

/* ---- Resuming an unfinished run --------------------------------------------------------------- */

/* State file that --resume names, directly or by its folder, and the folder of this file. */
typedef struct origin {
    char path[2200], folder[2100];
} origin;

static bool find_origin(const char *given, origin *o)
{
    struct stat facts;
    if (strlen(given) >= sizeof o->folder) {
        sinew_usage_error(command, "--resume: the path is too long");
        return false;
    }
    if (stat(given, &facts) == 0 && S_ISDIR(facts.st_mode)) {
        snprintf(o->folder, sizeof o->folder, "%s", given);
        snprintf(o->path, sizeof o->path, "%s/state.bin", given);
        if (access(o->path, F_OK) == 0)
            return true;
        sinew_usage_error(command,
                          "--resume %s: no state.bin is in it: no run there came to its first checkpoint; leave out "
                          "--resume to begin it",
                          given);
        return false;
    }
    const char *slash = strrchr(given, '/');
    snprintf(o->path, sizeof o->path, "%s", given);
    snprintf(o->folder, sizeof o->folder, "%.*s", slash ? (int)(slash - given) + (slash == given) : 1,
             slash ? given : ".");
    return true;
}

/* True if the run of the folder kept the energy balance of its steps, which some fields need. */
static bool kept_balance(const origin *o)
{
    bool foreign;
    json_t *summary = sinew_run_summary_read(o->folder, &foreign);
    const bool kept = json_is_true(json_object_get(summary, "balance"));
    json_decref(summary);
    return kept;
}

static bool same_folder(const char *a, const char *b)
{
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* True if summary.json of a continued run lacks "finished". If all steps are taken, the run was killed before its files
 * had their final names. */
static bool is_unfinished(const sinew_run *r)
{
    bool foreign;
    json_t *summary = r->goes_on ? sinew_run_summary_read(r->directory, &foreign) : NULL;
    bool unfinished = summary && strcmp(sinew_run_summary_text(summary, "status"), "finished") != 0;
    json_decref(summary);
    return unfinished;
}

static bool resume(sinew_run *r, const origin *o)
{
    const bool force = sinew_option_on(&r->arguments, "force");
    sinew_status status =
        force ? sinew_state_read_forced(r->world, o->path, &r->error) : sinew_state_read(r->world, o->path, &r->error);
    if (status != SINEW_OK) {
        sinew_usage_error(command, "%s%s", r->error.text,
                          status == SINEW_ERROR_DATA ? "; --force takes it anyway" : "");
        return false;
    }
    const int64_t step = sinew_world_step_count(r->world), end = r->frames * r->per_frame;
    const bool finished = step == end && !is_unfinished(r);
    r->nothing_left = finished && r->goes_on;
    if (step > end || (finished && !r->goes_on)) {
        sinew_usage_error(command, "--resume %s: it is at frame %lld and the run ends with frame %lld; raise --frames",
                          o->path, (long long)(step / r->per_frame), (long long)r->frames);
        return false;
    }
    if (!r->goes_on) {
        r->first_frame = (step + r->per_frame - 1) / r->per_frame;
        r->statistics = (sinew_run_statistics){.first_step = step};
        return true;
    }
    json_t *note = json_loads(sinew_world_comment(r->world), 0, NULL);
    bool good = sinew_run_read_state_comment(r, note, o->path);
    json_decref(note);
    return good;
}

/* ---- Set-up of a run -------------------------------------------------------------------------- */

static bool run_choose_folder(sinew_run *r, const origin *o)
{
    const char *out = sinew_option_text(&r->arguments, "out");
    int length;
    if (out)
        length = snprintf(r->directory, sizeof r->directory, "%s", out);
    else if (o->path[0])
        length = snprintf(r->directory, sizeof r->directory, "%s", o->folder);
    else
        length = snprintf(r->directory, sizeof r->directory, "out/%s", sinew_scene_name(r->scene));
    if (length <= 0 || length >= (int)sizeof r->directory) {
        sinew_usage_error(command, "--out: the path is empty or too long");
        return false;
    }
    r->goes_on = o->path[0] && same_folder(r->directory, o->folder);
    return true;
}

static bool run_open_scene(sinew_run *r, const char *name)
{
    char path[4096];
    if (r->balance)
        sinew_settings_add_text(&r->settings, "balance", "true");
    r->scene =
        sinew_settings_add_options(&r->settings, &r->arguments) ? sinew_open_scene(command, name, &r->settings) : NULL;
    if (!r->scene)
        return false;
    r->scene_file = sinew_find_scene(name, path, sizeof path) ? realpath(path, NULL) : NULL;
    r->world = sinew_scene_world(r->scene);
    r->frames = sinew_scene_frames(r->scene);
    r->per_frame = sinew_scene_steps_per_frame(r->scene);
    return true;
}

static bool set_solver(sinew_run *r)
{
    sinew_solver_def solver = sinew_scene_solver(r->scene);
    r->record = sinew_option_on(&r->arguments, "record");
    solver.record = r->record ? SINEW_RECORD_ITERATIONS : SINEW_RECORD_STEP;
    return sinew_world_set_solver(r->world, &solver, &r->error) == SINEW_OK || run_fail(r);
}

static bool set_up(sinew_run *r)
{
    const char *given = sinew_option_text(&r->arguments, "resume");
    origin o = {{0}, {0}};
    if (given && sinew_option_on(&r->arguments, "overwrite")) {
        sinew_usage_error(command, "--overwrite removes what --resume goes on with; give one of them");
        return false;
    }
    if (!sinew_run_read_formats(r) || (given && !find_origin(given, &o)))
        return false;
    r->balance = r->balance || (given && kept_balance(&o));
    if (!run_open_scene(r, r->arguments.plain[0]) || !run_choose_folder(r, &o) || !sinew_run_check_folder(r) ||
        !set_solver(r) || (given && !resume(r, &o)) || !sinew_run_check_fields(r))
        return false;
    /* Ordering and factorisation may take minutes, so they follow all checks that can refuse the command. */
    return sinew_world_prepare(r->world, &r->error) == SINEW_OK || run_fail(r);
}

/* ---- Advice before the first step ------------------------------------------------------------- */

/* Number of steps in which a motion that grows by the factor `growth` per step becomes ten times as large. */
static double steps_to_tenfold(double growth)
{
    return ceil(log(10) / log(growth));
}

/* Warns before the first step if an explicit integrator is unstable, and prints the stable time step. If memory is
 * short, the run continues without this warning. */
static void advise(const sinew_run *r)
{
    const sinew_solver_info *solver = sinew_get_solver_info(sinew_scene_solver(r->scene).kind);
    sinew_stability s;
    if (!solver->explicit_step || sinew_world_stability(r->world, &s, NULL) != SINEW_OK || !(s.growth > 1))
        return;
    const double tenfold = steps_to_tenfold(s.growth);
    fprintf(stderr,
            "%s: at h = %.3g s the fastest motion (omega = %.4g 1/s at the start) grows by %.4g a step, tenfold "
            "in %.3g step%s: ",
            solver->name, (double)sinew_world_time_step(r->world), s.omega_max, s.growth, tenfold,
            tenfold > 1 ? "s" : "");
    if (s.time_step_max > 0)
        fprintf(stderr, "take a time_step below %.4g s, or newton\n", s.time_step_max);
    else
        fprintf(stderr, "no time_step is small enough without damping; take symplectic-euler or newton\n");
}

/* ---- Steps of a run --------------------------------------------------------------------------- */

/* Status bits of a step after which no further step is possible. */
static const uint32_t last_bits = SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED | SINEW_STEP_CONTRADICTORY;

static sinew_step_result run_take_step(sinew_run *r)
{
    sinew_step_result result = {0};
    const int64_t step = sinew_world_step_count(r->world) + 1;
    if (sinew_world_step(r->world, &result) & SINEW_STEP_INTERRUPTED)
        return result;
    r->steps_now++;
    r->solver_seconds += result.seconds;
    r->gap_seconds += result.gap_seconds;
    sinew_run_write_metrics(r, step, &result);
    /* steps_now counts a failed step; the saved state and the statistics do not. */
    if (result.bits & last_bits)
        return result;
    sinew_run_write_contact(r, step);
    sinew_run_count(&r->statistics, r->world, step, &result);
    return result;
}

static bool is_due(const sinew_run *r, double interval, double last)
{
    if (interval > 0)
        return sinew_run_clock() - last >= interval;
    return sinew_world_step_count(r->world) % r->per_frame == 0;
}

/* Takes the steps of the run. Returns false if a file cannot be written. *failed receives the result of a failed
 * step. */
static bool simulate(sinew_run *r, double interval, sinew_progress *progress, sinew_step_result *failed)
{
    const int64_t end = r->frames * r->per_frame;
    int64_t step = sinew_world_step_count(r->world);
    for (double last = sinew_run_clock(); step < end && !sinew_signal_came() && !failed->bits;) {
        char note[64];
        sinew_step_result result = run_take_step(r);
        if (result.bits & SINEW_STEP_INTERRUPTED)
            break;
        step = sinew_world_step_count(r->world);
        if (result.bits & last_bits)
            *failed = result;
        else if (step % r->per_frame == 0 && !sinew_run_write_frame(r))
            return false;
        if (step < end && !failed->bits && is_due(r, interval, last)) {
            if (!sinew_run_checkpoint(r))
                return false;
            last = sinew_run_clock();
        }
        snprintf(note, sizeof note, "residual %.1e", r->statistics.residual.value);
        sinew_progress_show(progress, step, note);
    }
    return true;
}

/* ---- End of `sinew run` ----------------------------------------------------------------------- */

/* Prints a line for each status bit of the run: how often it was set, where, and a remedy. */
static void run_print_places(const sinew_run *r)
{
    const sinew_run_statistics *s = &r->statistics;
    for (int i = 0; i < SINEW_RUN_BITS; i++) {
        char text[512];
        if (s->bits[i].count == 0)
            continue;
        sinew_run_place_text(&s->places[i], 1u << i, text, sizeof text);
        printf("  %s: in %lld of %lld steps, first in step %lld%s%s\n", sinew_step_bit_name(1u << i),
               (long long)s->bits[i].count, (long long)s->steps, (long long)s->bits[i].first, text[0] ? ", " : "",
               text);
    }
}

static void run_print_summary(const sinew_run *r, double seconds, bool complete)
{
    char bits[128], residual[96], gap[320], position[128];
    const char *name = sinew_scene_name(r->scene);
    sinew_bits_text(sinew_run_bits(&r->statistics), bits, sizeof bits);
    sinew_run_residual_text(&r->statistics, residual, sizeof residual);
    sinew_run_gap_text(&r->statistics, gap, sizeof gap);
    sinew_run_position_text(&r->statistics, position, sizeof position);
    printf("%s%s: %g s simulated, %lld step%s of %s, %s, %s%s%s, status %s, %.3g s a step; in %s: ",
           sinew_signal_came() && !complete ? "interrupted, " : "", name, (double)sinew_world_time(r->world),
           (long long)r->statistics.steps, r->statistics.steps == 1 ? "" : "s",
           sinew_get_solver_info(sinew_scene_solver(r->scene).kind)->name, residual, gap, position[0] ? ", " : "",
           position, bits, r->steps_now > 0 ? seconds / (double)r->steps_now : 0, r->directory);
    sinew_run_print_formats(r);
    printf("metrics.csv, %s%sstate.bin, summary.json\n", sinew_run_has_contact(r) ? "contact.csv, " : "",
           sinew_run_has_sequence(r) ? "checksums.csv, " : "");
    run_print_places(r);
    sinew_run_constraint_text(&r->statistics, gap, sizeof gap);
    if (gap[0])
        printf("Constraints: %s.\n", gap);
    if (r->gap_seconds > 1 && r->gap_seconds > r->solver_seconds)
        printf("Finding the gap took %.3g s, the solver %.3g s: --set solver.measure=auto measures as often as a tenth "
               "of the solver's work pays for.\n",
               r->gap_seconds, r->solver_seconds);
}

static int run_exit_status(uint32_t bits, bool complete)
{
    if (bits & SINEW_STEP_NOT_FINITE)
        return SINEW_EXIT_NOT_FINITE;
    if (sinew_signal_came() && !complete)
        return sinew_signal_status();
    const uint32_t unmet = SINEW_STEP_NOT_CONVERGED | SINEW_STEP_INVERTED | SINEW_STEP_ROUND_OFF |
                           SINEW_STEP_CONSTRAINTS | SINEW_STEP_CONTRADICTORY;
    return bits & unmet ? SINEW_EXIT_UNMET : SINEW_EXIT_DONE;
}

/* Writes a last checkpoint, finishes all files and prints the end of the run. */
static bool run_finish(sinew_run *r, const sinew_step_result *failed, bool complete)
{
    if (!sinew_run_checkpoint(r) || !sinew_run_close_files(r))
        return false;
    if (failed->bits)
        sinew_run_count(&r->statistics, r->world, sinew_world_step_count(r->world) + 1, failed);
    return sinew_run_summary_write(r, failed->bits & SINEW_STEP_CONTRADICTORY ? "contradictory"
                                      : failed->bits                          ? "not_finite"
                                      : complete                              ? "finished"
                                                                              : "interrupted");
}

static int run_scene(sinew_run *r)
{
    const bool quiet = sinew_option_on(&r->arguments, "quiet");
    const char *every = sinew_option_text(&r->arguments, "checkpoint");
    double interval = 60;
    if ((every && !sinew_read_number(command, "--checkpoint", every, 0, 1e9, &interval)) || !set_up(r))
        return SINEW_EXIT_USAGE;
    if (r->nothing_left) {
        if (!sinew_run_verify_frames(r))
            return SINEW_EXIT_USAGE;
        if (!quiet)
            printf("%s: finished already, at frame %lld; in %s; --frames with a larger number goes on\n",
                   sinew_scene_name(r->scene), (long long)r->frames, r->directory);
        return SINEW_EXIT_DONE;
    }
    sinew_signals_defer(true);
    if (!sinew_run_open_files(r))
        return SINEW_EXIT_USAGE;
    if (!quiet && *sinew_scene_warnings(r->scene))
        fprintf(stderr, "%s\n", sinew_scene_warnings(r->scene));
    if (!quiet)
        advise(r);
    sinew_progress progress;
    sinew_step_result failed = {0};
    sinew_progress_start(&progress, r->frames * r->per_frame, quiet);
    sinew_signals_interrupt(r->world);
    bool good = simulate(r, interval, &progress, &failed);
    sinew_signals_interrupt(NULL);
    double seconds = sinew_progress_end(&progress);
    const bool complete = sinew_world_step_count(r->world) == r->frames * r->per_frame;
    if (failed.bits & SINEW_STEP_UNPREPARED)
        return sinew_usage_error(command, "%s: %s", sinew_scene_name(r->scene), sinew_world_error(r->world));
    if (!good || !run_finish(r, &failed, complete))
        return SINEW_EXIT_USAGE;
    if (failed.bits & SINEW_STEP_CONTRADICTORY)
        sinew_usage_error(command, "%s: step %lld: constraints are %s; the state before it is kept",
                          sinew_scene_name(r->scene), (long long)sinew_world_step_count(r->world) + 1,
                          failed.constraints);
    else if (failed.bits)
        sinew_usage_error(command, "%s: step %lld became non-finite; the state before it is kept; %s",
                          sinew_scene_name(r->scene), (long long)sinew_world_step_count(r->world) + 1,
                          sinew_not_finite_advice(r->world, &failed));
    if (!quiet)
        run_print_summary(r, seconds, complete);
    return run_exit_status(sinew_run_bits(&r->statistics), complete);
}

int sinew_command_run(int argc, char **argv)
{
    sinew_run r = {.folder = -1, .began = sinew_run_clock()};
    sinew_watch_signals();
    if (!sinew_arguments_read(&r.arguments, command, options, OPTION_COUNT, argc, argv))
        return SINEW_EXIT_USAGE;
    int status;
    char *line = run_join(argc, argv);
    r.command_line = line;
    if (!line)
        status = sinew_usage_error(command, "out of memory");
    else if (sinew_option_on(&r.arguments, "help"))
        status = run_print_help();
    else if (r.arguments.plain_count != 1)
        status = sinew_usage_error(command, r.arguments.plain_count == 0 ? "needs a scene; see sinew run --help"
                                                                         : "takes one scene; see sinew run --help");
    else
        status = run_scene(&r);
    sinew_run_free_files(&r);
    sinew_scene_destroy(r.scene);
    sinew_arguments_free(&r.arguments);
    free(r.scene_file);
    free(line);
    return status;
}
