/* SPDX-License-Identifier: MIT
 *
 * compare.c: `sinew compare SCENE`: several methods solve the same steps and are compared with a reference solver.
 *
 * Every method starts every step at the state of the reference: Newton to a relative residual of 1e-12, or to
 * round-off. The relative error is Ledwon's thesis (5.5), (g(q_k) - g*) / (g(q_n) - g*), with g* the lowest objective
 * of all methods. Times of all methods but the reference are those of a second run without records, distributed over
 * the iterations like the first run's.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"
#include "compare.h"
#include "metrics.h"
#include "output.h"
#include "progress.h"
#include "settings.h"

static const char command[] = "compare";

static const sinew_option options[] = {
    {"solvers", "LIST", "by commas, with options by colons: newton,xpbd,admm:weight=0.5; all that fit unless given",
     false},
    {"iterations", "N", "at most, per step; 100 unless given", false},
    {"steps", "N", "each from the state that the reference reached; 1 unless given", false},
    {"tolerance", "R", "on the relative residual, ends a solver early; 0 runs all iterations", false},
    {"threads", "N", "0: as many as the machine has; results do not depend on it", false},
    {"out", "DIR", "folder of the results; out/compare-<scene> unless given", false},
    {"size", "WxH", "pixels of each picture in the report; 400x300 unless given", false},
    {"set", "KEY=VALUE", "in place of what the scene says, e.g. time_step=1e-3", true},
    {"quiet", NULL, "says nothing unless something is wrong", false},
    {"help", NULL, "this text", false},
};
enum {
    OPTION_COUNT = sizeof options / sizeof options[0],
    REFERENCE_ITERATIONS = 500
};

static int compare_print_help(void)
{
    printf(
        "usage: sinew compare SCENE [OPTION ...]\n\n"
        "Lets several solvers take the same steps of a scene and writes how near to the minimum each came, after how\n"
        "many iterations and how much time: report.html (a browser), metrics.csv (a spreadsheet), summary.json.\n\n");
    sinew_options_print(options, OPTION_COUNT);
    printf("  --precision P          single or double\n\n"
           "Options of a solver are those that `sinew info solvers` lists, iterations and tolerance.\n\n"
           "Example: sinew compare untwist --solvers newton,qn,admm:weight=0.4,xpbd:order=mesh --iterations 300\n\n"
           "Exit status: 0 done; 1 the reference did not get to the minimum, or a solver became non-finite; 2 wrong\n"
           "usage or bad input; 3 the reference became non-finite.\n");
    return SINEW_EXIT_DONE;
}

/* ---- Command line of `sinew compare` ---------------------------------------------------------- */

typedef struct saved_state {
    void *blob; /* [size] bytes of a saved state of the world (sinew_world_state_save) */
    size_t size;
} saved_state;

typedef struct compare {
    sinew_arguments arguments;
    sinew_comparison c;
    sinew_real tolerance;
    char directory[2048];
    saved_state now, next; /* saved states of the world at the start of this step and of the next one */
    sinew_error error;
} compare;

static bool compare_fail(const compare *m)
{
    sinew_usage_error(command, "%s: %s", sinew_scene_name(m->c.scene), m->error.text);
    return false;
}

static bool out_of_memory(void)
{
    sinew_usage_error(command, "out of memory");
    return false;
}

static bool compare_read_numbers(compare *m)
{
    const char *iterations = sinew_option_text(&m->arguments, "iterations");
    const char *steps = sinew_option_text(&m->arguments, "steps");
    const char *tolerance = sinew_option_text(&m->arguments, "tolerance");
    const char *size = sinew_option_text(&m->arguments, "size");
    int64_t iteration_count = 100, step_count = 1;
    double number = sizeof(sinew_real) == 4 ? 1e-5 : 1e-10;
    m->c.picture_width = 400;
    m->c.picture_height = 300;
    if ((size && !sinew_read_size(command, size, &m->c.picture_width, &m->c.picture_height)) ||
        (iterations && !sinew_read_integer(command, "--iterations", iterations, 1, 1000000, &iteration_count)) ||
        (steps && !sinew_read_integer(command, "--steps", steps, 1, 10000, &step_count)) ||
        (tolerance && !sinew_read_number(command, "--tolerance", tolerance, 0, 1, &number)))
        return false;
    m->c.iterations = (int32_t)iteration_count;
    m->c.step_count = (int32_t)step_count;
    m->tolerance = (sinew_real)number;
    return true;
}

/* ---- Choice of the methods to compare ---------------------------------------------------------- */

static void set_reference(sinew_method *r)
{
    *r = (sinew_method){.label = "reference", .def = sinew_default_solver_def(SINEW_SOLVER_NEWTON)};
    r->def.iterations = REFERENCE_ITERATIONS;
    r->def.tolerance = (sinew_real)1e-12;
}

/* Returns SINEW_OK if the world accepts the method's solver; otherwise m->error has the reason. */
static sinew_status try_method(compare *m, const sinew_method *method)
{
    if (sinew_get_solver_info(method->def.kind)->explicit_step) {
        snprintf(m->error.text, sizeof m->error.text,
                 "%s minimises nothing, so that its distance from the minimum is no error of it; sinew run takes it",
                 sinew_get_solver_info(method->def.kind)->name);
        return SINEW_ERROR_UNSUPPORTED;
    }
    sinew_status status = sinew_world_set_solver(m->c.world, &method->def, &m->error);
    return status == SINEW_OK ? sinew_world_prepare(m->c.world, &m->error) : status;
}

static bool add_method(compare *m, sinew_method *method)
{
    sinew_comparison *c = &m->c;
    for (int32_t i = 0; i < c->method_count; i++)
        if (strcmp(c->methods[i].label, method->label) == 0) {
            sinew_usage_error(command, "--solvers: %s is given twice", method->label);
            return false;
        }
    if (c->method_count == SINEW_METHOD_MAX) {
        sinew_usage_error(command, "--solvers: at most %d; compare them in parts", SINEW_METHOD_MAX - 1);
        return false;
    }
    if (!method->own_iterations)
        method->def.iterations = c->iterations;
    if (!method->own_tolerance)
        method->def.tolerance = m->tolerance;
    c->methods[c->method_count++] = *method;
    return true;
}

static bool read_methods(compare *m, const char *list)
{
    for (const char *word = list; word;) {
        size_t length = strcspn(word, ",");
        sinew_method method;
        if (!sinew_method_read(command, word, length, &method) || !add_method(m, &method))
            return false;
        if (try_method(m, &method) != SINEW_OK) {
            sinew_usage_error(command, "--solvers: %s: %s", method.label, m->error.text);
            return false;
        }
        word = word[length] ? word + length + 1 : NULL;
    }
    return true;
}

/* Adds every solver that supports the scene's energies, and records the others with the reason. */
static bool choose_methods(compare *m)
{
    sinew_comparison *c = &m->c;
    for (int kind = 0; kind < sinew_solver_kind_end(); kind++) {
        if (!sinew_get_solver_info((sinew_solver_kind)kind))
            continue;
        const char *name = sinew_get_solver_info((sinew_solver_kind)kind)->name;
        sinew_method method = {.def = sinew_default_solver_def((sinew_solver_kind)kind)};
        snprintf(method.label, sizeof method.label, "%s", name);
        sinew_status status = try_method(m, &method);
        if (status == SINEW_ERROR_UNSUPPORTED) {
            sinew_refusal *refusal = &c->refusals[c->refusal_count++];
            refusal->name = name;
            snprintf(refusal->why, sizeof refusal->why, "%.*s", (int)sizeof refusal->why - 1, m->error.text);
        } else if (status != SINEW_OK) {
            return compare_fail(m);
        } else if (!add_method(m, &method)) {
            return false;
        }
    }
    return true;
}

static bool compare_open_scene(compare *m)
{
    sinew_comparison *c = &m->c;
    sinew_settings settings = {0};
    if (!compare_read_numbers(m) || !sinew_settings_add_integer(&settings, &m->arguments, "threads", "threads") ||
        !sinew_settings_add_given(&settings, &m->arguments))
        return false;
    c->scene = sinew_open_scene(command, m->arguments.plain[0], &settings);
    if (!c->scene)
        return false;
    c->world = sinew_scene_world(c->scene);
    set_reference(&c->methods[SINEW_REFERENCE]);
    c->method_count = 1;
    if (try_method(m, &c->methods[SINEW_REFERENCE]) != SINEW_OK) {
        sinew_usage_error(command, "%s: the reference is always newton: %s", sinew_scene_name(c->scene), m->error.text);
        return false;
    }
    const char *list = sinew_option_text(&m->arguments, "solvers");
    return list ? read_methods(m, list) : choose_methods(m);
}

/* ---- Result of one method ---------------------------------------------------------------------- */

static double compare_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool compare_take_step(compare *m, const sinew_solver_def *def, sinew_step_result *result, double *set_up)
{
    sinew_world *world = m->c.world;
    if (sinew_world_state_load(world, m->now.blob, m->now.size, &m->error) != SINEW_OK ||
        sinew_world_set_solver(world, def, &m->error) != SINEW_OK)
        return compare_fail(m);
    double began = compare_now();
    if (sinew_world_prepare(world, &m->error) != SINEW_OK)
        return compare_fail(m);
    *set_up = compare_now() - began;
    if (!(sinew_world_step(world, result) & SINEW_STEP_UNPREPARED))
        return true;
    sinew_usage_error(command, "%s: %s", sinew_scene_name(m->c.scene), sinew_world_error(world));
    return false;
}

static bool keep_answer(compare *m, sinew_answer *a)
{
    sinew_world *world = m->c.world;
    int32_t particle_count = sinew_world_particle_count(world);
    const sinew_iteration *records = sinew_world_iterations(world, &a->record_count);
    a->records = malloc(((size_t)a->record_count + 1) * sizeof *a->records);
    a->relative_error = malloc(((size_t)a->record_count + 1) * sizeof *a->relative_error);
    a->positions = malloc((3 * (size_t)particle_count + 1) * sizeof *a->positions);
    if (!a->records || !a->relative_error || !a->positions)
        return out_of_memory();
    memcpy(a->records, records, (size_t)a->record_count * sizeof *records);
    sinew_world_get_positions(world, 0, particle_count, a->positions);
    sinew_world_measure(world, &a->measures);
    return true;
}

/* Measures the time of a method. Recording costs one evaluation per iteration, which would dominate a cheap solver: a
 * second run of the step without records gives the time. */
static bool measure_time(compare *m, const sinew_method *method, sinew_answer *a)
{
    sinew_solver_def plain = method->def;
    plain.record = SINEW_RECORD_NONE;
    plain.measure = SINEW_MEASURE_RESIDUAL;
    plain.tolerance = 0;
    plain.iterations = a->result.iterations;
    sinew_step_result result;
    double set_up;
    if (!compare_take_step(m, &plain, &result, &set_up))
        return false;
    double factor = a->result.seconds > 0 ? result.seconds / a->result.seconds : 1;
    for (int32_t i = 0; i < a->record_count; i++)
        a->records[i].seconds *= factor;
    a->result.seconds = result.seconds;
    a->set_up = fmin(a->set_up, set_up);
    return true;
}

static bool ask(compare *m, const sinew_method *method, sinew_answer *a)
{
    sinew_solver_def def = method->def;
    def.record = SINEW_RECORD_ITERATIONS;
    def.measure = SINEW_MEASURE_GAP;
    return compare_take_step(m, &def, &a->result, &a->set_up) && keep_answer(m, a);
}

/* ---- Steps of the comparison ------------------------------------------------------------------- */

/* Replaces *state by the current state of the world, whose size depends on the data that the solver keeps. */
static bool save_state(compare *m, saved_state *state)
{
    free(state->blob);
    state->size = sinew_world_state_size(m->c.world);
    state->blob = malloc(state->size);
    if (!state->blob)
        return out_of_memory();
    return sinew_world_state_save(m->c.world, state->blob, state->size) == SINEW_OK || compare_fail(m);
}

static bool compare_reserve(compare *m)
{
    sinew_comparison *c = &m->c;
    c->answers = calloc((size_t)c->step_count * (size_t)c->method_count, sizeof *c->answers);
    c->start = calloc((size_t)c->step_count, sizeof *c->start);
    c->lowest = calloc((size_t)c->step_count, sizeof *c->lowest);
    if (!c->answers || !c->start || !c->lowest)
        return out_of_memory();
    return save_state(m, &m->now);
}

/* Runs the other methods on the step of the reference. A non-finite result does not end the comparison. */
static bool ask_others(compare *m, int32_t step, sinew_progress *progress)
{
    sinew_comparison *c = &m->c;
    for (int32_t i = 1; i < c->method_count; i++) {
        sinew_answer *a = sinew_answer_of(c, step, i);
        sinew_progress_show(progress, (int64_t)step * c->method_count + i, c->methods[i].label);
        if (!ask(m, &c->methods[i], a) || !measure_time(m, &c->methods[i], a))
            return false;
    }
    return true;
}

static void forget_shapes(sinew_comparison *c, int32_t step)
{
    for (int32_t i = 0; i < c->method_count; i++) {
        sinew_answer *a = sinew_answer_of(c, step, i);
        free(a->positions);
        a->positions = NULL;
    }
}

/* Takes one step with all methods; `q` receives the positions at the start of the step. The next step starts at the
 * reference's result. */
static bool compare_step(compare *m, int32_t step, sinew_real *q, sinew_progress *progress)
{
    sinew_comparison *c = &m->c;
    sinew_answer *reference = sinew_answer_of(c, step, SINEW_REFERENCE);
    sinew_world_get_positions(c->world, 0, sinew_world_particle_count(c->world), q);
    sinew_progress_show(progress, (int64_t)step * c->method_count, "reference");
    if (!ask(m, &c->methods[SINEW_REFERENCE], reference))
        return false;
    if (reference->result.bits & SINEW_STEP_NOT_FINITE)
        return true;
    if (!save_state(m, &m->next) || !ask_others(m, step, progress))
        return false;
    sinew_judge_step(c, step);
    const saved_state used = m->now;
    m->now = m->next;
    m->next = used;
    return sinew_world_state_load(c->world, m->now.blob, m->now.size, &m->error) == SINEW_OK || compare_fail(m);
}

static bool compare_steps(compare *m, sinew_progress *progress, bool *finite)
{
    sinew_comparison *c = &m->c;
    sinew_real *q = malloc((3 * (size_t)sinew_world_particle_count(c->world) + 1) * sizeof *q);
    bool good = q || out_of_memory();
    *finite = true;
    for (int32_t step = 0; good && *finite && step < c->step_count; step++) {
        good = compare_step(m, step, q, progress);
        *finite = !(sinew_answer_of(c, step, SINEW_REFERENCE)->result.bits & SINEW_STEP_NOT_FINITE);
        if (good && step + 1 < c->step_count)
            forget_shapes(c, step);
    }
    if (good && *finite)
        good = sinew_judge_scales(c, q) || out_of_memory();
    free(q);
    return good;
}

static void free_compare(compare *m)
{
    sinew_comparison *c = &m->c;
    for (size_t i = 0; c->answers && i < (size_t)c->step_count * (size_t)c->method_count; i++) {
        free(c->answers[i].records);
        free(c->answers[i].relative_error);
        free(c->answers[i].positions);
    }
    free(c->answers);
    free(c->start);
    free(c->lowest);
    free(c->command_line);
    free(m->now.blob);
    free(m->next.blob);
    sinew_scene_destroy(c->scene);
    sinew_arguments_free(&m->arguments);
}

/* ---- Files of the comparison ------------------------------------------------------------------- */

/* True if the folder holds no results other than a comparison's: a comparison overwrites only a comparison; results of
 * a run or of a reproduction are kept. */
static bool replaces_own_only(const char *directory)
{
    bool found;
    json_t *summary = sinew_read_summary(directory, &found);
    const bool own = json_is_array(json_object_get(summary, "objectives"));
    const char *whose = json_object_get(summary, "sinew_run")    ? "a run lies there"
                        : json_object_get(summary, "experiment") ? "a reproduction lies there"
                                                                 : "is not of a comparison";
    if (found && !own)
        sinew_usage_error(command, "%s/summary.json: %s and would be replaced; give another --out", directory, whose);
    json_decref(summary);
    return !found || own;
}

static bool compare_choose_folder(compare *m)
{
    const char *out = sinew_option_text(&m->arguments, "out");
    if (snprintf(m->directory, sizeof m->directory, out ? "%s" : "out/compare-%s",
                 out ? out : sinew_scene_name(m->c.scene)) >= (int)sizeof m->directory)
        m->directory[0] = '\0';
    return replaces_own_only(m->directory) && sinew_prepare_folder(command, m->directory);
}

static void write_metrics(const sinew_comparison *c, FILE *stream)
{
    sinew_metrics_head(stream);
    int64_t first = sinew_world_step_count(c->world) - c->step_count + 1;
    for (int32_t step = 0; step < c->step_count; step++)
        for (int32_t i = 0; i < c->method_count; i++) {
            const sinew_answer *a = sinew_answer_of(c, step, i);
            for (int32_t row = 0; row < a->record_count; row++)
                sinew_metrics_record(stream, c->methods[i].label, first + step, &a->records[row],
                                     a->relative_error[row], row == a->record_count - 1 ? &a->result : NULL);
        }
}

static bool write_files(compare *m)
{
    sinew_output file;
    if (!sinew_output_open(&file, command, m->directory, "metrics.csv"))
        return false;
    write_metrics(&m->c, file.stream);
    if (!sinew_output_close(&file) || !sinew_output_open(&file, command, m->directory, "summary.json"))
        return false;
    sinew_write_summary(&m->c, file.stream);
    if (!sinew_output_close(&file) || !sinew_output_open(&file, command, m->directory, "report.html"))
        return false;
    if (sinew_write_report(&m->c, file.stream))
        return sinew_output_close(&file);
    sinew_output_drop(&file);
    return out_of_memory();
}

/* ---- The command `sinew compare` --------------------------------------------------------------- */

static void compare_print_summary(const compare *m)
{
    const sinew_comparison *c = &m->c;
    size_t width = 8;
    for (int32_t i = 0; i < c->method_count; i++)
        width = strlen(c->methods[i].label) > width ? strlen(c->methods[i].label) : width;
    printf("%-*s %10s %14s %10s %9s  %s\n", (int)width, "solver", "iterations", "relative error", "seconds", "inverted",
           "status");
    for (int32_t i = 1; i < c->method_count; i++) {
        const sinew_answer *a = sinew_answer_of(c, c->step_count - 1, i);
        /* Relative error of a method after the last step; NaN if the step starts at the minimum. */
        const double error_left = sinew_final_error(a);
        char bits[128], near[32] = "-";
        sinew_bits_text(a->result.bits, bits, sizeof bits);
        if (!isnan(error_left))
            snprintf(near, sizeof near, "%.3g", error_left);
        printf("%-*s %10d %14s %10.3g %9d  %s\n", (int)width, c->methods[i].label, a->result.iterations, near,
               a->result.seconds, a->measures.inverted_count, bits);
    }
    for (int32_t i = 0; i < c->refusal_count; i++)
        printf("left out: %s\n", c->refusals[i].why);
    printf("%s: %d step%s of %d solver%s; open %s/report.html in a browser (metrics.csv and summary.json beside it)\n",
           sinew_scene_name(c->scene), c->step_count, c->step_count == 1 ? "" : "s", c->method_count - 1,
           c->method_count == 2 ? "" : "s", m->directory);
}

static int compare_exit_status(const sinew_comparison *c)
{
    const sinew_real enough = sinew_default_solver_def(SINEW_SOLVER_NEWTON).tolerance;
    int status = SINEW_EXIT_DONE;
    for (int32_t step = 0; step < c->step_count; step++) {
        const sinew_step_result *reference = &sinew_answer_of(c, step, SINEW_REFERENCE)->result;
        if (reference->bits & SINEW_STEP_NOT_CONVERGED && reference->relative_residual > (double)enough)
            status = SINEW_EXIT_UNMET;
        for (int32_t i = 1; i < c->method_count; i++)
            if (sinew_answer_of(c, step, i)->result.bits & SINEW_STEP_NOT_FINITE)
                status = SINEW_EXIT_UNMET;
    }
    return status;
}

static int compare_scene(compare *m, int argc, char **argv)
{
    bool quiet = sinew_option_on(&m->arguments, "quiet"), finite;
    m->c.command_line = sinew_command_line(argc, argv);
    if (!m->c.command_line)
        out_of_memory();
    if (!m->c.command_line || !compare_open_scene(m) || !compare_choose_folder(m) || !compare_reserve(m))
        return SINEW_EXIT_USAGE;
    sinew_progress progress;
    sinew_progress_start(&progress, (int64_t)m->c.step_count * m->c.method_count, quiet);
    bool good = compare_steps(m, &progress, &finite);
    sinew_progress_end(&progress);
    if (!good)
        return SINEW_EXIT_USAGE;
    if (!finite) {
        sinew_usage_error(command, "%s: step %lld of the reference became non-finite; %s", sinew_scene_name(m->c.scene),
                          (long long)sinew_world_step_count(m->c.world) + 1, sinew_not_finite_advice(m->c.world, NULL));
        return SINEW_EXIT_NOT_FINITE;
    }
    if (!write_files(m))
        return SINEW_EXIT_USAGE;
    if (!quiet)
        compare_print_summary(m);
    return compare_exit_status(&m->c);
}

int sinew_command_compare(int argc, char **argv)
{
    compare m = {0};
    if (!sinew_arguments_read(&m.arguments, command, options, OPTION_COUNT, argc, argv))
        return SINEW_EXIT_USAGE;
    int status;
    if (sinew_option_on(&m.arguments, "help"))
        status = compare_print_help();
    else if (m.arguments.plain_count != 1)
        status = sinew_usage_error(command, m.arguments.plain_count == 0 ? "needs a scene; see sinew compare --help"
                                                                         : "takes one scene; see sinew compare --help");
    else
        status = compare_scene(&m, argc, argv);
    free_compare(&m);
    return status;
}
