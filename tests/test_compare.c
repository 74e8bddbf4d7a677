/* SPDX-License-Identifier: MIT
 *
 * test_compare.c: `sinew compare` as a user meets it: the numbers of its files against numbers that the library
 * computes, a self-contained HTML page, and one line of error for every wrong command line.
 */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "sinew/scene.h"

enum {
    TEXT_MAX = 1 << 20,
    ROW_MAX = 4000
};

#ifdef SINEW_SINGLE
static const double noise = 1e-4; /* relative error that round-off leaves */
#else
static const double noise = 1e-10;
#endif

static char printed[65536], complaint[65536];

static size_t read_text(const char *name, char *text, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", SINEW_TEST_DIR, name);
    FILE *stream = fopen(path, "r");
    if (!stream)
        fail_msg("%s is not there", path);
    size_t length = fread(text, 1, size - 1, stream);
    text[length] = '\0';
    fclose(stream);
    assert_true(length < size - 1);
    return length;
}

/* Runs `sinew compare ARGUMENTS` in the test's folder through a shell. Returns the exit status. */
static int compare(const char *arguments)
{
    char line[4096];
    snprintf(line, sizeof line,
             "cd '%s' && SINEW_SCENES='%s/scenes' '%s' compare %s --size 40x30 "
             ">printed.txt 2>complaint.txt",
             SINEW_TEST_DIR, SINEW_SOURCE_DIR, SINEW_COMMAND, arguments);
    int status = system(line);
    assert_true(WIFEXITED(status));
    read_text("printed.txt", printed, sizeof printed);
    read_text("complaint.txt", complaint, sizeof complaint);
    return WEXITSTATUS(status);
}

static void expect(const char *arguments, int status)
{
    int got = compare(arguments);
    if (got != status)
        fail_msg("sinew compare %s: exit %d, expected %d\n%s%s", arguments, got, status, printed, complaint);
}

/* A small scene: a twisted bar of `energy`, with the additional keys `more`. */
static void write_scene(const char *name, const char *energy, const char *more)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", SINEW_TEST_DIR, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    fprintf(
        stream,
        "{\"sinew\": 1, \"comment\": \"a <b> & \\\"c\\\"\", \"time_step\": 0.01, \"frames\": 3, \"gravity\": [0, 0, "
        "0], %s \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [4, 2, 2], \"size\": [2, 0.5, 0.5]}, "
        "\"initial\": {\"twist\": {\"axis\": \"x\", \"angle\": \"60 deg\"}}, \"energies\": [%s]}]}",
        more, energy);
    assert_int_equal(fclose(stream), 0);
}

static const char strain[] = "{\"energy\": \"strain\", \"stiffness\": 1e6}";

static int set_up(void **state)
{
    (void)state;
    write_scene("strain.json", strain, "");
    write_scene("rubber.json", "{\"energy\": \"neo_hookean\", \"young\": 1e6, \"poisson\": 0.4}", "");
    return 0;
}

/* ---- metrics.csv ----------------------------------------------------------------------------- */

typedef struct row {
    char solver[96];
    int step, iteration;
    double seconds, objective, inertia, elastic, residual, error, linear, angular;
} row;

static row rows[ROW_MAX];

static int read_rows(const char *name)
{
    static char text[TEXT_MAX];
    static const char head[] = "solver,step,iteration,seconds,objective,inertia,elastic,residual,relative_error,"
                               "linear_momentum,angular_momentum,gap,position_error,status\n";
    int count = 0;
    read_text(name, text, sizeof text);
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    for (char *line = strtok(text + strlen(head), "\n"); line; line = strtok(NULL, "\n")) {
        row *r = &rows[count++];
        assert_true(count < ROW_MAX);
        int fields = sscanf(line, "%95[^,],%d,%d,%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", r->solver, &r->step, &r->iteration,
                            &r->seconds, &r->objective, &r->inertia, &r->elastic, &r->residual, &r->error, &r->linear,
                            &r->angular);
        if (fields != 11)
            fail_msg("%d fields in: %s", fields, line);
    }
    return count;
}

static const row *find_row(int count, const char *solver, int step, int iteration)
{
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].solver, solver) == 0 && rows[i].step == step && rows[i].iteration == iteration)
            return &rows[i];
    fail_msg("no row %s,%d,%d", solver, step, iteration);
    return NULL;
}

static const row *last_row(int count, const char *solver, int step)
{
    const row *last = NULL;
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].solver, solver) == 0 && rows[i].step == step)
            last = &rows[i];
    assert_non_null(last);
    return last;
}

/* Recomputes thesis (5.5) from the objectives of the file. */
static void check_errors(int count, int step)
{
    double lowest = HUGE_VAL, min = HUGE_VAL, start = find_row(count, "reference", step, 0)->objective;
    for (int i = 0; i < count; i++)
        if (rows[i].step == step)
            lowest = fmin(lowest, rows[i].objective);
    for (int i = 0; i < count; i++) {
        if (rows[i].step != step)
            continue;
        double expected = (rows[i].objective - lowest) / (start - lowest);
        assert_true(fabs(rows[i].error - expected) <= 1e-12 * (1 + expected));
        assert_true(rows[i].error >= 0);
        assert_true(rows[i].seconds >= 0);
        assert_true(fabs(rows[i].objective - rows[i].inertia - rows[i].elastic) <= 1e-6 * fabs(rows[i].objective));
        min = fmin(min, rows[i].error);
    }
    assert_true(min == 0);
}

static void test_metrics_hold_the_relative_error(void **state)
{
    (void)state;
    expect("strain.json --iterations 20 --steps 2 --threads 1 --out metrics", 0);
    int count = read_rows("metrics/metrics.csv");
    check_errors(count, 1);
    check_errors(count, 2);
    /* All solvers of a step start at the same objective, and the second step has another objective than the first. */
    double first = find_row(count, "reference", 1, 0)->objective,
           second = find_row(count, "reference", 2, 0)->objective;
    assert_true(find_row(count, "newton", 1, 0)->objective == first);
    assert_true(find_row(count, "newton", 2, 0)->objective == second);
    assert_true(fabs(first - second) > 0.01 * first);
    /* With zero velocity and no gravity, the constraint solvers also start at the initial state. */
    assert_true(fabs(find_row(count, "xpbd", 1, 0)->objective / first - 1) < 1e-6);
    /* Solvers of g converge; PBD does not. */
    assert_true(last_row(count, "qn", 1)->error < 1e-2);
    assert_true(last_row(count, "pbd", 1)->error > 1e-2);
}

/* The first step of every solver equals that of `sinew run`; the second step starts at the reference's end. */
static void test_steps_are_those_of_the_world(void **state)
{
    (void)state;
    expect("strain.json --solvers xpbd:tolerance=0 --iterations 7 --steps 2 --threads 1 --out world", 0);
    int count = read_rows("world/metrics.csv");
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/strain.json";
    for (int step = 1; step <= 2; step++) {
        sinew_scene *scene = sinew_scene_read(&def, NULL);
        assert_non_null(scene);
        sinew_world *world = sinew_scene_world(scene);
        sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
        newton.tolerance = (sinew_real)1e-12;
        newton.iterations = 500;
        sinew_solver_def xpbd = sinew_default_solver_def(SINEW_SOLVER_XPBD);
        xpbd.tolerance = 0;
        xpbd.iterations = 7;
        assert_int_equal(sinew_world_set_solver(world, &newton, NULL), SINEW_OK);
        for (int k = 1; k < step; k++)
            sinew_world_step(world, NULL);
        assert_int_equal(sinew_world_set_solver(world, &xpbd, NULL), SINEW_OK);
        sinew_step_result result;
        sinew_world_step(world, &result);
        const row *last = find_row(count, "xpbd:tolerance=0", step, 7);
        assert_true(fabs(last->objective - result.objective) <= 1e-6 * result.objective);
        assert_true(fabs(last->residual - result.residual) <= 1e-4 * result.residual);
        sinew_scene_destroy(scene);
    }
}

/* ---- summary.json ---------------------------------------------------------------------------- */

static json_t *read_summary(const char *name)
{
    static char text[TEXT_MAX];
    json_error_t error;
    read_text(name, text, sizeof text);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("%s:%d: %s", name, error.line, error.text);
    return root;
}

static const json_t *solver_named(const json_t *root, const char *label)
{
    size_t i;
    json_t *solver;
    json_array_foreach(json_object_get(root, "solvers"), i,
                       solver) if (strcmp(json_string_value(json_object_get(solver, "solver")), label) ==
                                   0) return solver;
    fail_msg("no solver %s in the summary", label);
    return NULL;
}

static void test_summary_says_what_the_metrics_say(void **state)
{
    (void)state;
    expect("strain.json --iterations 30 --threads 2 --out summary --solvers newton,qn,admm:weight=0.5", 0);
    int count = read_rows("summary/metrics.csv");
    json_t *root = read_summary("summary/summary.json");
    const json_t *machine = json_object_get(root, "machine");
    assert_string_equal(json_string_value(json_object_get(machine, "precision")), SINEW_PRECISION);
    assert_string_equal(json_string_value(json_object_get(machine, "simd")), sinew_simd_name());
    assert_int_equal(json_number_value(json_object_get(machine, "threads")), 2);
    assert_int_equal(json_array_size(json_object_get(root, "solvers")), 4);
    const json_t *admm = solver_named(root, "admm:weight=0.5");
    assert_true(json_number_value(json_object_get(json_object_get(admm, "parameters"), "weight")) == 0.5);
    const json_t *last = json_array_get(json_object_get(admm, "steps"), 0);
    static const char *const keys[] = {"iterations",
                                       "objective",
                                       "inertia",
                                       "elastic",
                                       "relative_error",
                                       "residual",
                                       "relative_residual",
                                       "gap",
                                       "seconds",
                                       "set_up_seconds",
                                       "linear_momentum_drift",
                                       "angular_momentum_drift",
                                       "distance",
                                       "inverted_tets",
                                       "status",
                                       "reached",
                                       "relative_error_at"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!json_object_get(last, keys[i]))
            fail_msg("%s is not in a step of the summary", keys[i]);
    const row *r = find_row(count, "admm:weight=0.5", 1, (int)json_number_value(json_object_get(last, "iterations")));
    assert_true(json_number_value(json_object_get(last, "relative_error")) == r->error);
    assert_true(json_number_value(json_object_get(last, "objective")) == r->objective);
    json_decref(root);
}

static void test_levels_are_reached_for_good(void **state)
{
    (void)state;
    expect("strain.json --iterations 30 --threads 1 --out levels --solvers qn,pbd", 0);
    int count = read_rows("levels/metrics.csv");
    json_t *root = read_summary("levels/summary.json");
    const json_t *reached =
        json_object_get(json_array_get(json_object_get(solver_named(root, "qn"), "steps"), 0), "reached");
    int iteration = (int)json_number_value(json_object_get(json_object_get(reached, "1e-2"), "iteration"));
    assert_true(iteration > 0);
    assert_true(find_row(count, "qn", 1, iteration - 1)->error > 1e-2);
    for (int i = 0; i < count; i++)
        assert_true(strcmp(rows[i].solver, "qn") != 0 || rows[i].iteration < iteration || rows[i].error <= 1e-2);
    reached = json_object_get(json_array_get(json_object_get(solver_named(root, "pbd"), "steps"), 0), "reached");
    assert_true(json_is_null(json_object_get(reached, "1e-6")));
    json_decref(root);
}

/* Solvers that do not support the scene's energy are left out by default with a reason, and refused if requested. */
static void test_solvers_that_do_not_fit_are_named(void **state)
{
    (void)state;
    char why[512];
    assert_false(sinew_solver_accepts(SINEW_SOLVER_PD, SINEW_ENERGY_NEO_HOOKEAN, why, sizeof why));
    expect("rubber.json --iterations 3 --threads 1 --out fit", 0);
    assert_non_null(strstr(printed, why));
    json_t *root = read_summary("fit/summary.json");
    const json_t *left_out = json_object_get(root, "left_out");
    int accepted = 0;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        accepted += sinew_solver_accepts((sinew_solver_kind)kind, SINEW_ENERGY_NEO_HOOKEAN, NULL, 0) &&
                    !info->static_only && !info->explicit_step;
    }
    assert_int_equal(json_array_size(left_out), SINEW_SOLVER_COUNT - accepted);
    assert_int_equal(json_array_size(json_object_get(root, "solvers")), accepted + 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(left_out, 0), "why")), why);
    json_decref(root);
    expect("rubber.json --solvers newton,pd --out fit", 2);
    assert_non_null(strstr(complaint, why));
}

/* At the reference's end the gradient of g is round-off, and no other solver has a lower objective. */
static void test_reference_is_the_minimum(void **state)
{
    (void)state;
    expect("rubber.json --solvers newton,qn --iterations 200 --threads 1 --out minimum", 0);
    json_t *root = read_summary("minimum/summary.json");
    const json_t *step = json_array_get(json_object_get(solver_named(root, "reference"), "steps"), 0);
    assert_true(json_number_value(json_object_get(step, "relative_error")) < noise);
    step = json_array_get(json_object_get(solver_named(root, "newton"), "steps"), 0);
    assert_true(json_number_value(json_object_get(step, "relative_error")) < noise);
    assert_true(json_number_value(json_object_get(step, "distance")) < 1e-3);
    json_decref(root);
}

/* ---- report.html ----------------------------------------------------------------------------- */

static char page[8 * TEXT_MAX];

static int count_of(const char *part)
{
    int count = 0;
    for (const char *at = page; (at = strstr(at, part)); at += strlen(part))
        count++;
    return count;
}

/* Reads a report without its base64 images, whose text could match any search. */
static void read_page(const char *name)
{
    static const char begin[] = "data:image/png;base64,";
    read_text(name, page, sizeof page);
    char *to = page;
    for (const char *at = page; *at;) {
        if (strncmp(at, begin, strlen(begin)) != 0) {
            *to++ = *at++;
            continue;
        }
        memmove(to, at, strlen(begin));
        to += strlen(begin);
        at += strcspn(at, "\"");
    }
    *to = '\0';
}

static void test_page_stands_alone(void **state)
{
    (void)state;
    expect("strain.json --iterations 10 --steps 2 --threads 1 --out page --solvers newton,xpbd,xpbd:order=jacobi,pbd",
           0);
    read_page("page/report.html");
    static const char *const pairs[] = {"svg",    "table", "section", "figure", "main",
                                        "script", "style", "g",       "h2",     "ul"};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char closing[32], opening[32], plain[32];
        snprintf(closing, sizeof closing, "</%s>", pairs[i]);
        snprintf(opening, sizeof opening, "<%s ", pairs[i]);
        snprintf(plain, sizeof plain, "<%s>", pairs[i]);
        if (count_of(opening) + count_of(plain) != count_of(closing) || count_of(closing) == 0)
            fail_msg("<%s>: %d opened, %d closed", pairs[i], count_of(opening) + count_of(plain), count_of(closing));
    }
    /* The page fetches nothing: no address, source or import. */
    static const char *const outside[] = {"http://", "https://", "@import", "url(", "<link"};
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++)
        if (strstr(page, outside[i]))
            fail_msg("the page holds %s", outside[i]);
    assert_int_equal(count_of(" src="), count_of(" src=\"data:image/png;base64,\""));
    /* Texts of the scene are escaped, and numbers are finite. */
    assert_non_null(strstr(page, "a &lt;b&gt; &amp; &quot;c&quot;"));
    assert_null(strstr(page, "nan"));
    assert_null(strstr(page, "inf "));
    /* Each solver has a line in each of the eight plots and in the plot over steps, and a picture. */
    assert_int_equal(count_of("class=\"line\" data-s=\"1\""), 9);
    assert_int_equal(count_of("alt=\"shape by xpbd:order=jacobi\""), 1);
    assert_non_null(strstr(page, "sinew compare strain.json --iterations 10 --steps 2"));
}

/* Bodies without triangles, sheets, and steps that start at the minimum also have pages. */
static void test_every_kind_of_body_is_drawn(void **state)
{
    (void)state;
    static const char *const scenes[] = {"swinging_rope", "hanging_cloth", "two_blocks", "hanging_bar"};
    for (int i = 0; i < 4; i++) {
        char arguments[256];
        snprintf(arguments, sizeof arguments, "%s --iterations 3 --threads 1 --out kinds --quiet", scenes[i]);
        expect(arguments, 0);
        assert_string_equal(printed, "");
        read_page("kinds/report.html");
        assert_int_equal(count_of("<svg "), count_of("</svg>"));
        assert_true(count_of("<img ") >= 2);
        json_decref(read_summary("kinds/summary.json"));
    }
    write_scene("rest.json", strain, "\"solver\": {\"name\": \"newton\"},");
    expect("rest.json --set 'bodies.0.initial.twist.angle=0' --iterations 3 --threads 1 --out rest", 0);
    json_t *root = read_summary("rest/summary.json");
    const json_t *step = json_array_get(json_object_get(solver_named(root, "newton"), "steps"), 0);
    assert_true(json_is_null(json_object_get(step, "relative_error")));
    json_decref(root);
    assert_null(strstr(printed, "nan"));
}

/* Every file reports a diverging solver; the other solvers are still compared. */
static void test_solver_that_becomes_non_finite(void **state)
{
    (void)state;
    write_scene("wild.json", "{\"energy\": \"neo_hookean_log\", \"young\": 1e6, \"poisson\": 0.45}", "");
    expect("wild.json --set bodies.0.initial.twist.angle=6 --solvers newton,qn:search=none --threads 1 --out wild", 1);
    assert_non_null(strstr(printed, "not_finite"));
    json_t *root = read_summary("wild/summary.json");
    const json_t *step = json_array_get(json_object_get(solver_named(root, "qn:search=none"), "steps"), 0);
    assert_true(json_is_null(json_object_get(step, "relative_error")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(step, "status"), 0)), "not_finite");
    json_decref(root);
    read_page("wild/report.html");
    assert_non_null(strstr(page, "became non-finite: no shape"));
    assert_int_equal(count_of("alt=\"shape by newton\""), 1);
    assert_null(strstr(page, "nan"));
    assert_null(strstr(page, "inf"));
    /* A reference whose start has infinite energy is an error. */
    expect("wild.json --set bodies.0.initial.twist.angle=9 --solvers newton,xpbd --threads 1 --out torn", 3);
    assert_non_null(
        strstr(complaint, "step 1 of the reference became non-finite; its energy is infinite where it begins"));
    assert_string_equal(printed, "");
}

/* The plots keep the range of the converging solvers when another one diverges. */
static void test_solver_that_blows_up_leaves_the_plots(void **state)
{
    (void)state;
    write_scene("blown.json", "{\"energy\": \"strain\", \"stiffness\": 1e6}", "");
    expect("blown.json --solvers newton,pbd:stiffness=1 --set time_step=1e-5 --iterations 20 --threads 1 --out blown",
           0);
    read_page("blown/report.html");
    assert_non_null(strstr(page, ">above: pbd"));
    assert_non_null(strstr(page, ">newton</text>"));
    assert_null(strstr(page, "nan"));
}

/* ---- Wrong usage ----------------------------------------------------------------------------- */

static void test_wrong_command_lines(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *fragment;
    } cases[] = {
        {"", "needs a scene"},
        {"a b", "takes one scene"},
        {"nowhere", "nowhere: no such scene"},
        {"strain.json --sovlers pd", "unknown option --sovlers; did you mean --solvers?"},
        {"strain.json --solvers newtn", "--solvers: unknown solver \"newtn\"; did you mean \"newton\"?"},
        {"strain.json --solvers newton,,pd", "--solvers: a word is empty"},
        {"strain.json --solvers newton,newton", "--solvers: newton is given twice"},
        {"strain.json --solvers admm:wieght=1", "--solvers: admm has no option \"wieght\"; did you mean \"weight\"?"},
        {"strain.json --solvers admm:weight", "--solvers: admm:weight: expected OPTION=VALUE"},
        {"strain.json --solvers admm:weight=heavy", "--solvers: admm:weight: \"heavy\" is not a number"},
        {"strain.json --solvers admm:weight=-1", "--solvers: admm:weight: \"-1\" is not a number >= 0"},
        {"strain.json --solvers newton:linear=svd", "--solvers: newton:linear: \"svd\" is none of direct|cg"},
        {"strain.json --solvers newton:iterations=x", "newton:iterations: \"x\" is not a whole number"},
        {"strain.json --solvers newton:tolerance=7", "newton:tolerance: \"7\" is not a number from 0 to 1"},
        {"strain.json --solvers 'newton:linear=<cg>'", "words are made of letters"},
        {"strain.json --iterations 0", "--iterations: \"0\" is not a whole number"},
        {"strain.json --steps many", "--steps: \"many\" is not a whole number"},
        {"strain.json --tolerance -1", "--tolerance: \"-1\" is not a number"},
        {"strain.json --set bodies.0.density=-1", "must be > 0"},
        {"strain.json --out strain.json/x", "strain.json/x: cannot make this folder"},
        {"strain.json --out /proc/sinew", "/proc/sinew: cannot make this folder"},
        {"strain.json --out ''", "--out: the path is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        expect(cases[i].arguments, 2);
        assert_string_equal(printed, "");
        if (!strstr(complaint, cases[i].fragment) || strncmp(complaint, "sinew compare: ", 15) != 0)
            fail_msg("sinew compare %s says %s, expected %s", cases[i].arguments, complaint, cases[i].fragment);
        assert_ptr_equal(strchr(complaint, '\n'), complaint + strlen(complaint) - 1);
    }
    expect("--help", 0);
    assert_non_null(strstr(printed, "Example: sinew compare"));
}

/* An unwritable folder, and a disk that is full in the middle of the report: one line of error, no file left. */
static void test_folders_that_cannot_be_written(void **state)
{
    (void)state;
    char path[1024];
    snprintf(path, sizeof path, "%s/locked", SINEW_TEST_DIR);
    mkdir(path, 0777);
    if (geteuid() != 0) {
        chmod(path, 0555);
        expect("strain.json --solvers newton --out locked", 2);
        assert_non_null(strstr(complaint, "cannot write: Permission denied"));
        chmod(path, 0777);
    }
    char line[4096];
    snprintf(
        line, sizeof line,
        "cd '%s' && rm -rf full && ulimit -f 20 && '%s' compare strain.json --solvers newton --threads 1 --out full "
        ">printed.txt 2>complaint.txt",
        SINEW_TEST_DIR, SINEW_COMMAND);
    int status = system(line);
    read_text("complaint.txt", complaint, sizeof complaint);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 2);
    assert_non_null(strstr(complaint, "report.html: cannot write: File too large"));
    snprintf(path, sizeof path, "%s/full/report.html", SINEW_TEST_DIR);
    assert_int_equal(access(path, F_OK), -1);
    strcat(path, ".partial");
    assert_int_equal(access(path, F_OK), -1);
}

/* Output to a pipe has no progress bar; the last line names the file to open. */
static void test_what_is_printed(void **state)
{
    (void)state;
    expect("strain.json --solvers 'newton;linear=cg,qn' --iterations 5 --threads 1 --out said", 0);
    assert_string_equal(complaint, "");
    assert_non_null(strstr(printed, "newton:linear=cg"));
    assert_non_null(strstr(printed, "strain: 1 step of 2 solvers; open said/report.html in a browser"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metrics_hold_the_relative_error),
        cmocka_unit_test(test_steps_are_those_of_the_world),
        cmocka_unit_test(test_summary_says_what_the_metrics_say),
        cmocka_unit_test(test_levels_are_reached_for_good),
        cmocka_unit_test(test_solvers_that_do_not_fit_are_named),
        cmocka_unit_test(test_reference_is_the_minimum),
        cmocka_unit_test(test_page_stands_alone),
        cmocka_unit_test(test_every_kind_of_body_is_drawn),
        cmocka_unit_test(test_solver_that_becomes_non_finite),
        cmocka_unit_test(test_solver_that_blows_up_leaves_the_plots),
        cmocka_unit_test(test_wrong_command_lines),
        cmocka_unit_test(test_folders_that_cannot_be_written),
        cmocka_unit_test(test_what_is_printed),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
