/* SPDX-License-Identifier: MIT
 *
 * test_reproduce.c: `sinew reproduce` as a user meets it: the quick version of each experiment runs, its tables are
 * complete, and its mesh-independent and machine-independent results are confirmed. `make test` draws some experiments,
 * `make nightly` runs all.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "random_cases.h"
#include "sinew/types.h"

#define FOLDER SINEW_TEST_DIR "/"

#ifdef SINEW_SANITIZED
enum {
    SAMPLE = 3
};
#else
enum {
    SAMPLE = 6
};
#endif

static char printed[65536];

static void read_text(const char *path)
{
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    printed[fread(printed, 1, sizeof printed - 1, stream)] = '\0';
    fclose(stream);
}

/* Runs the command in the test's folder, fills `printed` and returns the exit status. */
static int run_program(const char *program, const char *arguments)
{
    char line[8192];
    snprintf(line, sizeof line, "cd " SINEW_TEST_DIR " && %s reproduce %s >printed.txt 2>&1", program, arguments);
    int status = system(line);
    assert_true(WIFEXITED(status));
    read_text(FOLDER "printed.txt");
    return WEXITSTATUS(status);
}

static int run(const char *arguments)
{
    return run_program(SINEW_COMMAND, arguments);
}

static void assert_says(const char *part)
{
    if (!strstr(printed, part))
        fail_msg("\"%s\" is not in:\n%s", part, printed);
}

static json_t *load(const char *name)
{
    char path[1024];
    json_error_t error;
    snprintf(path, sizeof path, FOLDER "out/%s/summary.json", name);
    json_t *summary = json_load_file(path, 0, &error);
    if (!summary)
        fail_msg("%s:%d: %s", path, error.line, error.text);
    return summary;
}

static double number(const json_t *summary, const char *name)
{
    const json_t *value = json_object_get(json_object_get(summary, "numbers"), name);
    if (!json_is_number(value))
        fail_msg("%s: no number \"%s\"", json_string_value(json_object_get(summary, "experiment")), name);
    return json_number_value(value);
}

static void assert_file(const char *experiment, const char *name)
{
    char path[1024];
    struct stat facts;
    snprintf(path, sizeof path, FOLDER "out/%s/%s", experiment, name);
    if (stat(path, &facts) != 0 || facts.st_size < 500)
        fail_msg("%s is missing or empty", path);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (!text)
        fail_msg("no text \"%s\"", key);
    return text;
}

/* Whether a claim has one of the documented results; null, with a reason, if it was not measured. */
static bool is_verdict(const json_t *claim)
{
    static const char *const words[] = {"yes", "partly", "no", "not judged"};
    const json_t *holds = json_object_get(claim, "holds");
    if (json_is_null(holds))
        return strlen(text_of(claim, "cause")) > 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(text_of(claim, "holds"), words[i]) == 0)
            return true;
    return false;
}

/* Checks that every claim has its published value, its measured value and a result. */
static void assert_complete(const char *name, const char *figure)
{
    json_t *summary = load(name);
    const char *const keys[] = {"source", "title", "version"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_true(strlen(text_of(summary, keys[i])) > 0);
    assert_string_equal(text_of(summary, "experiment"), name);
    assert_string_equal(text_of(summary, "precision"), SINEW_PRECISION);
    assert_true(json_is_true(json_object_get(summary, "quick")));
    if (strncmp(name, "thesis", 6) == 0)
        assert_true(json_number_value(json_object_get(json_object_get(summary, "beam"), "tets")) > 0);
    else
        assert_true(strlen(text_of(summary, "setup")) > 0);
    size_t index;
    const json_t *claim, *claims = json_object_get(summary, "claims");
    assert_true(json_array_size(claims) > 0);
    json_array_foreach(claims, index, claim)
    {
        assert_null(strstr(text_of(claim, "measured"), " nan"));
        assert_null(strstr(text_of(claim, "measured"), "-1:"));
        assert_true(strlen(text_of(claim, "what")) > 0 && strlen(text_of(claim, "published")) > 0);
        assert_true(strlen(text_of(claim, "measured")) > 0);
        assert_true(is_verdict(claim));
    }
    assert_file(name, "report.html");
    assert_file(name, figure);
    char line[2048];
    snprintf(line, sizeof line, "! grep -q '(null)' " FOLDER "out/%s/report.html", name);
    assert_int_equal(system(line), 0);
    json_decref(summary);
}

static void test_list_and_refusals(void **state)
{
    (void)state;
    assert_int_equal(run("--list"), 0);
    assert_says("thesis/pbd-stiffness");
    assert_says("thesis/neo-hookean");
    assert_says("pbng/gravity-bar");
    /* Names select the listed experiments, and are validated. */
    assert_int_equal(run("--list pbng thesis/twist"), 0);
    assert_says("pbng/gravity-bar");
    assert_says("thesis/twist ");
    assert_null(strstr(printed, "thesis/untwist"));
    assert_int_equal(run("nonsense --list"), 2);
    assert_says("unknown experiment \"nonsense\"");
    assert_int_equal(run("--help"), 0);
    assert_says("example:");
    assert_int_equal(run("thesis/untwsit"), 2);
    assert_says("did you mean \"thesis/untwist\"?");
}

/* An unwritable folder is reported before anything is computed, also for the last of several experiments. */
static void test_folder_that_cannot_be(void **state)
{
    (void)state;
    mkdir(FOLDER "blocked", 0777);
    mkdir(FOLDER "blocked/pbng", 0777);
    FILE *file = fopen(FOLDER "blocked/pbng/gravity-bar", "w");
    assert_non_null(file);
    fclose(file);
    assert_int_equal(run("thesis/untwist --quick --out /dev/null/x"), 2);
    assert_says("/dev/null/x: cannot make this folder");
    assert_int_equal(run("thesis/untwist --quick --out ''"), 2);
    assert_says("--out: the path is empty");
    assert_int_equal(run("pbng/acceleration pbng/gravity-bar --quick --out blocked"), 2);
    assert_says("blocked/pbng/gravity-bar");
    assert_null(strstr(printed, "holds?"));
}

/* Table 5.1: the order of solvers after 40 iterations; XPBD stops above the minimum. */
static void check_untwist(void)
{
    assert_complete("thesis/untwist", "objective.svg");
    json_t *s = load("thesis/untwist");
    assert_true(number(s, "error_qn_40") < number(s, "error_admm_40"));
    assert_true(number(s, "error_admm_40") < number(s, "error_pd_40"));
    assert_true(number(s, "error_pd_40") < number(s, "error_xpbd_40"));
    assert_true(number(s, "xpbd_floor") > 0.3);
    assert_true(number(s, "error_qn_60") < 0.01 && number(s, "error_pd_1000") < 0.01);
    assert_true(number(s, "twist_qn") < number(s, "twist_xpbd") && number(s, "xpbd_elastic_10") > 1);
    assert_true(number(s, "error_global") > 0.3); /* XPBD's system solved globally stops above the minimum, too */
    /* The last claim is about computing time. */
    const json_t *claims = json_object_get(s, "claims");
    assert_string_equal(text_of(json_array_get(claims, json_array_size(claims) - 1), "holds"), "not judged");
    json_decref(s);
}

/* ---- PBNG ------------------------------------------------------------------------------------- */

#ifdef SINEW_SINGLE
#define CONVERGED 1e-3
#else
#define CONVERGED 1e-5
#endif

static void check_xpbd_residual(const json_t *s)
{
    assert_true(number(s, "pbng_relative") < CONVERGED && number(s, "xpbd_relative") > 0.1);
}

/* Holds for any number of iterations that the machine's speed gives to the other methods. */
static void check_stretch(const json_t *s)
{
    assert_true(number(s, "low_pbng_inverted") == 0 && number(s, "big_pbng_inverted") == 0);
    assert_true(number(s, "low_pbng_residual") < number(s, "low_pbd_residual"));
    assert_true(number(s, "low_pbng_residual") < number(s, "low_qs_residual"));
    assert_true(number(s, "big_pbng_residual") < 0.01 * number(s, "low_pbng_residual"));
}

static void check_resolution(const json_t *s)
{
    assert_true(number(s, "inverted_14") == 0 && number(s, "relative_14") < 0.01 && number(s, "bytes_per_tet_14") > 0);
}

static void check_materials(const json_t *s)
{
    assert_true(number(s, "inverted_corotated") == 0 && number(s, "inverted_neo_hookean") == 0);
    assert_true(number(s, "relative_stable_neo_hookean") < 0.01);
}

static void check_linear_gs(const json_t *s)
{
    assert_true(number(s, "residual_pbng_42") < number(s, "residual_linear_6x7"));
}

/* Exact Hessians fail where PBNG converges. */
static void check_hessian(const json_t *s)
{
    assert_true(number(s, "inverted_pbng_8") == 0 && number(s, "lost_pbng_8") == 0);
    assert_true(number(s, "inverted_lu_8") + number(s, "lost_lu_8") > 0);
    assert_true(number(s, "inverted_gs_8") + number(s, "lost_gs_8") > 0);
}

static void check_acceleration(const json_t *s)
{
    assert_true(number(s, "first_sor_100") < number(s, "first_plain_100"));
    assert_true(number(s, "first_chebyshev_100") < number(s, "first_plain_100"));
}

static void check_colours(const json_t *s)
{
    assert_true(number(s, "nodes_32") == 4 && number(s, "constraints_32") > 30 && number(s, "nodes_muscles") < 20);
    assert_true(number(s, "changed_hanging") > 0 && number(s, "changed_outside_hanging") == 0);
    assert_true(number(s, "changed_muscles") > 0 && number(s, "changed_outside_muscles") == 0);
}

/* Stiff bonds slow PBNG down, soft ones do not. */
static void check_muscles(const json_t *s)
{
    assert_true(number(s, "distance_soft") < 0.05 && number(s, "distance_soft") < number(s, "distance_pbng"));
    assert_true(number(s, "gap_weak_first") > number(s, "gap_material_first"));
}

static void check_hanging(const json_t *s)
{
    assert_true(number(s, "gap_weak_first") > 0.01 && number(s, "gap_material_first") < 1e-6);
    assert_true(number(s, "gap_pbng") < 1e-5);
    assert_true(number(s, "pbng_distance_1e+02") < 0.01 && number(s, "pbng_distance_1e+08") > 0.5);
}

static void check_gravity_bar(const json_t *s)
{
    assert_true(number(s, "sag_pbd_1600") < 0.01 * number(s, "sag_truth"));
    assert_true(number(s, "pbng_distance_share") < CONVERGED * 10);
    assert_true(number(s, "qs10_distance_share") < number(s, "qs1_distance_share"));
}

/* Layers and aggregates bring a cloth near its converged sag; sweeps alone do not. The number of iterations of
 * aggregates depends on the machine's speed. */
static void check_multiresolution(const json_t *s)
{
    assert_true(number(s, "excess_pbng_44") > 0.04);
    assert_true(fabs(number(s, "excess_mpbng")) < 0.04);
    assert_true(fabs(number(s, "excess_coarse")) < 0.04);
}

/* Augmented contact keeps blocks apart, and its force equals that of a converged penalty. */
static void check_two_blocks(const json_t *s)
{
    assert_true(number(s, "crossings_augmented") == 0 && number(s, "inverted_augmented") == 0);
    assert_true(number(s, "particles_augmented") > 20 && number(s, "crossings_newton") == 0);
    assert_true(fabs(number(s, "force_augmented") / number(s, "force_soft") - 1) < 0.1);
}

static void check_dropping(const json_t *s)
{
    assert_true(number(s, "crossings_large") == 0 && number(s, "crossings_pile") == 0);
    assert_true(number(s, "contacts_pile") > 20 && number(s, "contacts_large") > 0);
    assert_true(number(s, "bytes") > 0 && number(s, "colours") < 20);
}

static void check_dropping_cloth(const json_t *s)
{
    assert_true(number(s, "crossings") == 0 && number(s, "on_cloth") == 8 && number(s, "contacts") > 20);
}

static void check_bundles(const json_t *s)
{
    assert_true(number(s, "crossings_augmented") == 0 && number(s, "crossings_newton") == 0);
    assert_true(number(s, "distance_augmented") < 0.2 && number(s, "contacts_augmented") > 5);
    assert_true(number(s, "crossings_tissue") == 0 && number(s, "bonds") > 10 && number(s, "distance_tissue") < 0.3);
}

/* Contact alone supports the garment. */
static void check_dress(const json_t *s)
{
    assert_true(number(s, "crossings_sweeps") == 0 && number(s, "crossings_layers") == 0);
    assert_true(number(s, "contacts_sweeps") > 20 && number(s, "contacts_layers") > 20);
    assert_true(number(s, "hem_layers") > 0.25 && fabs(number(s, "hem_off_aggregates")) < 0.02);
    assert_true(number(s, "left_aggregates") < 0.2 && number(s, "left_sweeps") < 0.2);
}

static void check_mannequin(const json_t *s)
{
    assert_true(number(s, "crossings_layers") == 0 && number(s, "crossings_sweeps") == 0);
    assert_true(number(s, "contacts_layers") > 20 && number(s, "hem_layers") > 0.25);
}

/* Tets invert under the press and recover completely. */
static void check_pd_press(const json_t *s)
{
    assert_true(number(s, "inverted_augmented") > 0 && number(s, "crossings_augmented") == 0);
    assert_true(number(s, "left_augmented") < 0.02 && number(s, "left_half_space") < 0.02);
}

static void check_pd_examples(const json_t *s)
{
    assert_true(number(s, "crossings") == 0 && number(s, "crossings_plain") == 0);
    assert_true(number(s, "like_bent") > number(s, "plain_like_bent") + 0.2);
    assert_true(number(s, "like_twisted") > number(s, "plain_like_twisted") + 0.2);
    assert_true(number(s, "like_folded") > number(s, "plain_like_folded") + 0.2);
}

/* A higher volume weight preserves more volume, and thins the waist of a stretched bar. */
static void check_pd_volume(const json_t *s)
{
    assert_true(number(s, "volume_0") > 1.2);
    assert_true(fabs(number(s, "volume_100") - 1) < 0.1 * (number(s, "volume_0") - 1));
    assert_true(number(s, "waist_100") < number(s, "waist_1"));
    assert_true(number(s, "sag_stiff") < number(s, "sag_soft"));
}

#ifdef SINEW_SINGLE
#define HEAVY_BOUNDARY "boundary_2"
#define HEAVY_FLOOR    "slide_3"
#else
#define HEAVY_BOUNDARY "boundary_4"
#define HEAVY_FLOOR    "slide_4"
#endif

/* Consistent masses raise frequencies, less so on finer meshes. No linear case locks, except for the round-off of
 * single precision at weights of 1e9 N/m and more. */
static void check_pd_choices(const json_t *s)
{
    assert_true(number(s, "mass_first_0") > number(s, "mass_first_1") && number(s, "mass_first_1") > 0);
    assert_true(fabs(number(s, HEAVY_BOUNDARY) - 1) < 0.05 && number(s, "boundary_0") > 1.2);
    assert_true(fabs(number(s, HEAVY_FLOOR) - 1) < 0.01 && number(s, "depth_0") > number(s, "depth_3"));
}

/* Sanitizers are ten times slower, so they run only the fast experiments, which together build every scene and use
 * every solver. */
#define FAST_PBNG "pbng/xpbd-residual pbng/acceleration pbng/colours pbng/hanging pbng/gravity-bar"
#ifdef SINEW_SINGLE
#define FAST_NAMES FAST_PBNG
#define ALL_NAMES  "pbng pd/volume pd/press pd/examples pd/choices"
#else
#define FAST_NAMES "thesis/pbd-stiffness thesis/untwist-stiff " FAST_PBNG
#define ALL_NAMES                                                                                                      \
    "thesis pbng pd/volume pd/press pd/examples pd/choices contact dynamics/stiff-spring dynamics/drift "              \
    "dynamics/jacobi dynamics/sap dynamics/table dynamics/geometric-stiffness dynamics/trampoline "                    \
    "dynamics/articulated"
#endif
#ifdef SINEW_SANITIZED
#define NAMES FAST_NAMES
#else
#define NAMES ALL_NAMES
#endif

/* The experiments of this run: a random sample of NAMES, all of them in nightly runs; a blank follows each name. */
static char drawn[4096];

static bool wanted(const char *name)
{
    char whole[128];
    snprintf(whole, sizeof whole, " %s ", name);
    return strstr(drawn, whole) != NULL;
}

/* Draws `sample` of the experiments of NAMES and runs their quick versions. */
static void run_drawn(int sample, const char *options)
{
    enum {
        MOST = 96
    };
    char names[MOST][64];
    int count = 0;
    assert_int_equal(run("--list " NAMES), 0);
    for (const char *c = printed; *c && count < MOST; c = strchr(c, '\n') + 1)
        count += sscanf(c, "%63s", names[count]) == 1;
    random_cases draw = random_cases_begin("experiments", sample, count);
    strcpy(drawn, " ");
    for (int k = 0; k < draw.count && k < count; k++) {
        const int other = k + random_index(&draw, count - k);
        strcat(strcat(drawn, names[other]), " ");
        memcpy(names[other], names[k], sizeof names[k]);
    }
    print_message("drawn:%s\n", drawn);
    char arguments[sizeof drawn + 64];
    snprintf(arguments, sizeof arguments, "%s%s", drawn, options);
    /* 1: some published claim does not hold, which is a valid result. */
    assert_true(run(arguments) <= 1);
}

typedef struct experiment {
    const char *name, *figure;
    void (*check)(const json_t *s);
} experiment;

static void check_each(const experiment *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!wanted(all[i].name))
            continue;
        assert_complete(all[i].name, all[i].figure);
        json_t *s = load(all[i].name);
        all[i].check(s);
        json_decref(s);
    }
}

static void check_pbng(void)
{
    static const experiment all[] = {
        {"pbng/xpbd-residual", "residual.svg", check_xpbd_residual},
        {"pbng/stretch", "residual-low.svg", check_stretch},
        {"pbng/resolution", "cost.svg", check_resolution},
        {"pbng/materials", "shapes.svg", check_materials},
        {"pbng/linear-gs", "residual.svg", check_linear_gs},
        {"pbng/hessian", "shapes.svg", check_hessian},
        {"pbng/acceleration", "frames.svg", check_acceleration},
        {"pbng/colours", "colours.svg", check_colours},
        {"pbng/muscles", "shapes.svg", check_muscles},
        {"pbng/hanging", "creeping.svg", check_hanging},
        {"pbng/gravity-bar", "distance.svg", check_gravity_bar},
        {"pbng/multiresolution", "shapes.svg", check_multiresolution},
        {"pbng/two-blocks", "shapes.svg", check_two_blocks},
        {"pbng/dropping", "shapes.svg", check_dropping},
        {"pbng/dropping-cloth", "shapes.svg", check_dropping_cloth},
        {"pbng/bundles", "shapes.svg", check_bundles},
        {"pbng/dress", "shapes.svg", check_dress},
        {"pbng/mannequin", "shapes.svg", check_mannequin},
    };
    check_each(all, sizeof all / sizeof all[0]);
}

static void check_pd(void)
{
    static const experiment all[] = {
        {"pd/volume", "stretched.svg", check_pd_volume},
        {"pd/press", "energy.svg", check_pd_press},
        {"pd/examples", "shapes.svg", check_pd_examples},
        {"pd/choices", "frequencies.svg", check_pd_choices},
    };
    check_each(all, sizeof all / sizeof all[0]);
}

#ifndef SINEW_SINGLE
/* ---- Contact ---------------------------------------------------------------------------------- */

/* newton, pd and qn stick and slide according to Coulomb's law. */
static void check_slope(const json_t *s)
{
    assert_true(number(s, "newton_drift") < 1e-6 && number(s, "pd_drift") < 1e-6 && number(s, "qn_drift") < 1e-6);
    assert_true(fabs(number(s, "newton_acceleration_percent")) < 1);
    assert_true(fabs(number(s, "pd_acceleration_percent")) < 1);
    assert_true(fabs(number(s, "newton_held")) < 1e-3 && number(s, "newton_slid") > 0.8);
}

static void check_rebound(const json_t *s)
{
    assert_true(number(s, "rebound_0.2_percent") < 1 && number(s, "rebound_1_percent") < 1);
    assert_true(number(s, "newton_linear") < 1e-10 && number(s, "newton_angular") < 1e-8);
    assert_true(number(s, "newton_linear_e") < 1e-10 && number(s, "newton_angular_e") < 1e-8);
}

static void check_tower(const json_t *s)
{
    assert_true(number(s, "newton_energy") < 1e-10 && number(s, "newton_way") < 1e-3);
    assert_true(number(s, "pd_energy") < 1e-10 && number(s, "pd_way") < 1e-3);
}

static void check_belt(const json_t *s)
{
    assert_true(fabs(number(s, "newton_0.2_percent")) < 3 && fabs(number(s, "newton_0.4_percent")) < 3);
    assert_true(fabs(number(s, "pd_0.2_percent")) < 3 && fabs(number(s, "qn_0.4_percent")) < 3);
}

static void check_stick_slip(const json_t *s)
{
    assert_true(fabs(number(s, "newton_0.05_percent")) < 3 && fabs(number(s, "newton_0.2_percent")) < 3);
}

static void check_hertz(const json_t *s)
{
    assert_true(fabs(number(s, "press_0.0006_percent")) < 12);
    assert_true(fabs(number(s, "press_0.0006_mesh_1_percent")) < fabs(number(s, "press_0.0006_mesh_0_percent")));
}

static void check_contact(void)
{
    static const experiment all[] = {
        {"contact/slope", "slide.svg", check_slope},  {"contact/rebound", "rebound.svg", check_rebound},
        {"contact/tower", "energy.svg", check_tower}, {"contact/belt", "tensions.svg", check_belt},
        {"contact/hertz", "force.svg", check_hertz},  {"contact/stick-slip", "friction.svg", check_stick_slip},
    };
    check_each(all, sizeof all / sizeof all[0]);
}

/* The rope with k = 1e9 agrees with the hard rope; with k = 1e16 it does not. */
static void check_stiff_spring(const json_t *s)
{
    assert_true(fabs(number(s, "factor_explicit-euler") - 1.01) < 1e-6);
    assert_true(fabs(number(s, "factor_newton") * 1.01 - 1) < 1e-6);
    assert_true(number(s, "symplectic_low") > 0.95 && number(s, "symplectic_high") < 1.06);
    assert_true(number(s, "limit_2.02") > 1.3 && number(s, "limit_1.98") < 101);
    assert_true(fabs(number(s, "tail_primal-dual") / number(s, "tail_1e+09") - 1) < 0.01);
    assert_true(fabs(number(s, "tail_primal-dual") / number(s, "tail_1e+16") - 1) > 0.5);
}

/* Constraints on accelerations drift most, on velocities by the step along tangents, on positions not at all; the drift
 * is of first order in h. */
static void check_drift(const json_t *s)
{
    assert_true(number(s, "drift_accelerations") > number(s, "drift_velocities"));
    assert_true(number(s, "drift_velocities") > 1e-3 && number(s, "most_4") < 1e-9 && number(s, "most_5") < 1e-9);
    assert_true(fabs(number(s, "order_velocities") - 2) < 0.2);
    assert_true(number(s, "drift_midpoint") < 1e-2 * number(s, "drift_velocities"));
}

static void check_jacobi(const json_t *s)
{
    assert_true(number(s, "sweeps_chebyshev") < 0.5 * number(s, "sweeps_jacobi"));
    assert_true(number(s, "sweeps_coloured") < 0.5 * number(s, "sweeps_jacobi"));
    assert_true(number(s, "asymmetry_jacobi") < 1e-12 && number(s, "asymmetry_mesh") > 1e-4);
}

/* Rates agree with theory, and with geometric stiffness the energy never grows; one linear system per step. */
static void check_geometric(const json_t *s)
{
    assert_true(number(s, "worst_1") < 1 && number(s, "worst_100") < 1 && number(s, "systems_a_step") == 1);
    assert_true(fabs(number(s, "without_1") / number(s, "without_1_theory") - 1) < 1e-3);
    assert_true(fabs(number(s, "with_100") / number(s, "with_100_theory") - 1) < 1e-3);
    assert_true(number(s, "without_100") > 1e5 && number(s, "sweep_off") < 0.01);
    assert_true(number(s, "crooked_5") < 1e-6 && number(s, "crooked_4") < 1e-6);
}

/* Constraints hold, and the distance from the exact end is of fourth order; a sweep with relinearised constraints is
 * PBD. */
static void check_sap(const json_t *s)
{
    assert_true(fabs(number(s, "order_sap") - 4) < 0.3 && number(s, "far_1_0") > 1e-6);
    assert_true(number(s, "sweep_relinearised") < 1e-12 && fabs(number(s, "sweep_frozen_order") - 2) < 0.2);
    assert_true(fabs(number(s, "compliant_0_7") / number(s, "far_1_0") - 1) < 0.01);
}

static void check_table(const json_t *s)
{
    assert_true(number(s, "iterations_scd") == 1 && number(s, "iterations_sap") <= 5);
    assert_true(number(s, "iterations_pbd") > 20 && number(s, "iterations_xpbd") > 20);
}

/* With geometric stiffness the sheet moves as in exact steps, without it flutters; exact steps respect the limits. */
static void check_trampoline(const json_t *s)
{
    assert_true(number(s, "with_taut") < 1.5 && number(s, "with_slack") < 3 && number(s, "indefinite") == 0);
    assert_true(number(s, "without_taut") > 10 && number(s, "without_slack") > 10);
    assert_true(number(s, "slack") > 0 && number(s, "hinge_exact") < 0.1001);
}

/* Rates of the arms agree with theory; the knee comes to rest. */
static void check_articulated(const json_t *s)
{
    assert_true(number(s, "arms_with_10") < 0.01 && number(s, "arms_with_100") < 0.01);
    assert_true(number(s, "arms_without_10") < 0.01 && number(s, "arms_worst_10000") < 1);
    assert_true(number(s, "knee_with") < 1e-6 && number(s, "knee_slack") > 0);
}

static void check_dynamics(void)
{
    static const experiment all[] = {{"dynamics/stiff-spring", "energy.svg", check_stiff_spring},
                                     {"dynamics/drift", "drift.svg", check_drift},
                                     {"dynamics/sap", "drift.svg", check_sap},
                                     {"dynamics/table", "distance.svg", check_table},
                                     {"dynamics/jacobi", "violation.svg", check_jacobi},
                                     {"dynamics/geometric-stiffness", "growth.svg", check_geometric},
                                     {"dynamics/trampoline", "sheet.svg", check_trampoline},
                                     {"dynamics/articulated", "knee.svg", check_articulated}};
    check_each(all, sizeof all / sizeof all[0]);
}

static void check_stiff(void)
{
    assert_complete("thesis/untwist-stiff", "momentum.svg");
    json_t *here = load("thesis/untwist-stiff");
    /* In 64 bits the centre of mass stays. In 32 bits it moves, except if the solve is for the increment. */
    assert_true(number(here, "pd_drift") < 1e-8);
    struct stat facts;
    if (stat(SINEW_COMMAND "-reproduce-single", &facts) != 0) {
        /* The build has one precision only, as with sanitizers. */
        json_decref(here);
        return;
    }
    assert_file("thesis/untwist-stiff", "momentum-other.svg");
    json_t *single = load("single/thesis/untwist-stiff");
    assert_true(number(single, "pd_drift") > 1e-5);
    assert_true(number(single, "pd_increment_drift") < 0.01 * number(single, "pd_drift"));
    assert_true(number(single, "pd1e12_drift") > 10 * number(single, "pd_drift"));
    json_decref(here);
    json_decref(single);
}

/* Without the program of the other precision, claims that need it are not measured; the others are judged as usual. */
static void test_no_other_precision(void **state)
{
    (void)state;
    const char *const alone = FOLDER "alone/sinew", *const beside = FOLDER "alone/sinew-reproduce";
    mkdir(FOLDER "alone", 0777);
    unlink(alone);
    unlink(beside);
    assert_int_equal(link(SINEW_COMMAND, alone), 0);
    assert_int_equal(run_program(alone, "--list"), 2);
    assert_says("sinew reproduce: cannot start sinew-reproduce: it is not beside this program; `make` builds it");
    assert_int_equal(link(SINEW_COMMAND "-reproduce", beside), 0);
    assert_int_equal(run_program(alone, "thesis/untwist-stiff --quick --out out/alone"), 0);
    assert_says("single: not measured; double: position form");
    assert_says("not measured: sinew-reproduce-single is not beside this program; `make` builds it");
    assert_says("holds altogether: partly");
    assert_null(strstr(printed, "nan"));
    json_t *summary = load("alone/thesis/untwist-stiff");
    const json_t *claims = json_object_get(summary, "claims");
    size_t i, missing = 0;
    const json_t *claim;
    json_array_foreach(claims, i, claim)
    {
        if (!json_is_null(json_object_get(claim, "holds")))
            continue;
        assert_non_null(strstr(text_of(claim, "cause"), "sinew-reproduce-single is not beside"));
        missing++;
    }
    /* Claims on momenta and on the two terms need this precision only. */
    assert_true(missing > 0);
    assert_int_equal(json_array_size(claims) - missing, 2);
    assert_string_equal(text_of(summary, "holds"), "partly");
    json_decref(summary);
    assert_int_equal(system("grep -q 'not measured' " FOLDER "out/alone/thesis/untwist-stiff/report.html && "
                            "! grep -qiw 'nan' " FOLDER "out/alone/thesis/untwist-stiff/report.html"),
                     0);
}

static void check_pbd_stiffness(const json_t *s)
{
    assert_true(fabs(number(s, "twist_pbd_0")) < 0.02 * number(s, "twist_start"));
    assert_true(fabs(number(s, "twist_pbd_0") - number(s, "twist_pbd_1")) < 0.1);
    assert_true(number(s, "twist_qn_0") < 0.5 * number(s, "twist_qn_1"));
}

static void check_admm_weights(const json_t *s)
{
    assert_true(number(s, "best_h0") < number(s, "best_h1"));
    assert_true(number(s, "iterations_h1_w0.3") < 0);
}

static void check_twist(const json_t *s)
{
    assert_true(number(s, "others_fail") == 0);
    assert_true(number(s, "xpbd_fails_from_h1e-2") <= 1e10);
}

static void check_twist_admm(const json_t *s)
{
    assert_true(number(s, "ratio_1e-2_1e10") > 5 && number(s, "inertia_ratio") > 2);
    assert_true(number(s, "overtwist_left") < 0.5 && number(s, "overtwist_right") > 0.5);
}

static void check_neo_hookean(const json_t *s)
{
    assert_true(number(s, "stiff_moduli_solved") >= 1);
    assert_true(number(s, "final_combined") < 100 && number(s, "final_split") > 100);
}

static void check_qn_choices(const json_t *s)
{
    assert_true(number(s, "strain_window_1") > number(s, "strain_window_5"));
    assert_true(number(s, "strain_first_diagonal") > 2 * number(s, "strain_window_5"));
    assert_true(number(s, "drift_neither") < 1e-9 && number(s, "drift_qn") < 1e-9);
    assert_true(number(s, "materials_where_wolfe_is_needless") == 3);
}

/* Springs miss their targets in inverse proportion to their stiffness; hard and pinned ends do not miss. */
static void check_beyond(const json_t *s)
{
    assert_true(number(s, "missed_qn_1") > 50 * number(s, "missed_qn_1e2") && number(s, "missed_qn_1e6") < 1e-7);
    assert_true(number(s, "missed_xpbd_hard") < 1e-12 && number(s, "missed_qn_pinned") < 1e-15);
    assert_true(number(s, "volume_newton_3") < number(s, "volume_newton_0") && number(s, "error_qn_3") < 1);
    assert_true(number(s, "vbd_untwist_rises") == 0 && number(s, "vbd_twist_rises") == 0);
}

static void test_all(void **state)
{
    (void)state;
    static const experiment all[] = {{"thesis/pbd-stiffness", "shapes.svg", check_pbd_stiffness},
                                     {"thesis/admm-weights", "objective-h1e-2.svg", check_admm_weights},
                                     {"thesis/twist", "objective.svg", check_twist},
                                     {"thesis/twist-admm", "objective-1e10.svg", check_twist_admm},
                                     {"thesis/neo-hookean", "weights.svg", check_neo_hookean},
                                     {"thesis/qn-choices", "objective-neo.svg", check_qn_choices},
                                     {"thesis/beyond", "volume.svg", check_beyond}};
    run_drawn(SAMPLE, "--quick --out out");
    if (wanted("thesis/untwist"))
        check_untwist();
    if (wanted("thesis/untwist-stiff"))
        check_stiff();
    check_each(all, sizeof all / sizeof all[0]);
    check_pbng();
    check_pd();
    check_contact();
    check_dynamics();
}

/* ---- Projective Dynamics ------------------------------------------------------------------------ */

static void check_strain_limit(const json_t *s)
{
    assert_true(number(s, "beyond") < 0.01 && number(s, "beyond_heavy") < 0.02);
    assert_true(number(s, "length_10_1") < number(s, "length_30_1") && number(s, "most_30_5") > 1.25);
}

static void check_bending_limit(const json_t *s)
{
    assert_true(number(s, "beyond") < 0.01 && number(s, "angle_free") > 0.5 && number(s, "angle_qn") < 0.11);
}

static void check_buckling(const json_t *s)
{
    assert_true(number(s, "mean_around_0") > number(s, "mean_around_3"));
    assert_true(number(s, "around_0") > number(s, "around_3"));
}

static void check_pd_resolution(const json_t *s)
{
    assert_true(number(s, "curtain_spread") < 0.1 && number(s, "bar_spread") < 0.1);
    assert_true(number(s, "pbd_spread") > number(s, "curtain_spread"));
}

/* A world of eight kinds of energies; couplings do not lock, sets do; lighter sets need fewer iterations. */
static void check_mixed(const json_t *s)
{
    static const char *const kinds[] = {"strain",    "volume",         "edge_strain", "triangle_strain",
                                        "isometric", "mean_curvature", "position",    "weak"};
    double sum = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "count_%s", kinds[i]);
        assert_true(number(s, name) > 0);
        sum += number(s, name);
    }
    assert_true(sum == number(s, "constraints"));
    assert_true(fabs(number(s, "way_couplings_3") / number(s, "way_couplings_0") - 1) < 0.2);
    assert_true(number(s, "way_sets_3") < 0.8 * number(s, "way_sets_0"));
    assert_true(number(s, "off_with_10_weights_2") < number(s, "off_with_10_weights_0"));
}

/* A smaller strain limit sags less and takes a local solver more iterations. */
static void check_patch(const json_t *s)
{
    assert_true(number(s, "lower_newton_0") > number(s, "lower_newton_1"));
    assert_true(number(s, "lower_newton_1") > number(s, "lower_newton_2") && number(s, "strain_newton_2") < 0.015);
    assert_true(number(s, "excess_xpbd_2") > number(s, "excess_xpbd_0"));
}

/* The sag of XPBD's balloon depends less on iterations than PBD's, and its volume converges to newton's. */
static void check_balloon(const json_t *s)
{
    assert_true(number(s, "hang_xpbd") < number(s, "hang_pbd") && number(s, "off_newton") < 0.15);
}

static void check_relative_stiffness(const json_t *s)
{
    assert_true(number(s, "waist_100") < number(s, "waist_1") && number(s, "spread_xpbd") < number(s, "spread_pbd"));
}

/* The slow experiments. */
static void test_sheets(void **state)
{
    (void)state;
    static const experiment all[] = {{"pd/mixed", "garden.svg", check_mixed},
                                     {"pd/strain-limit", "curtains.svg", check_strain_limit},
                                     {"pd/bending-limit", "strips.svg", check_bending_limit},
                                     {"pd/buckling", "waves.svg", check_buckling},
                                     {"pd/resolution", "curtain.svg", check_pd_resolution},
                                     {"dynamics/patch", "patches.svg", check_patch},
                                     {"dynamics/balloon", "balloons.svg", check_balloon},
                                     {"dynamics/relative-stiffness", "bodies.svg", check_relative_stiffness}};
#ifdef SINEW_SANITIZED
    const int sample = 0; /* sanitizers are ten times slower */
#else
    const int sample = 1;
#endif
    const int count = sizeof all / sizeof all[0];
    random_cases draw = random_cases_begin("sheets", sample, count);
    const int first = random_index(&draw, count);
    for (int k = 0; k < draw.count; k++) {
        const int i = (first + k) % count;
        char arguments[128];
        snprintf(arguments, sizeof arguments, "%s --quick --alone --out out", all[i].name);
        assert_true(run(arguments) <= 1);
        assert_complete(all[i].name, all[i].figure);
        json_t *s = load(all[i].name);
        all[i].check(s);
        json_decref(s);
    }
}

/* The one fitted number is reproduced by its procedure. */
static void test_calibration(void **state)
{
    (void)state;
    double fitted = 0, used = 0;
    assert_int_equal(run("--calibrate"), 0);
    assert_int_equal(sscanf(printed, "%lf kg/m3 (in use: %lf)", &fitted, &used), 2);
    assert_true(used > 0 && fabs(fitted - used) < 0.01 * used);
}
#else
static void test_untwist(void **state)
{
    (void)state;
    assert_true(run("thesis/untwist --quick --alone --out out") <= 1);
    check_untwist();
}

static void test_pbng(void **state)
{
    (void)state;
    run_drawn(SAMPLE, "--quick --alone --out out");
    check_pbng();
    check_pd();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list_and_refusals),  cmocka_unit_test(test_folder_that_cannot_be),
#ifndef SINEW_SINGLE
        cmocka_unit_test(test_no_other_precision), cmocka_unit_test(test_all),
        cmocka_unit_test(test_calibration),        cmocka_unit_test(test_sheets),
#else
        cmocka_unit_test(test_untwist),
        cmocka_unit_test(test_pbng),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
