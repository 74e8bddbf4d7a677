/* SPDX-License-Identifier: MIT
 *
 * test_rods.c: rods with independent EA, EI_1, EI_2 and GJ: strains against frames bent and twisted by known angles,
 * rest shapes, known solutions (experiments/rod_cases.h; a sample here, all of thin/rods at night), solvers against
 * each other, and refusals.
 */
#include "make_world.h"
#include "random_cases.h"

#include "../experiments/rod_cases.h"
#include "energy/registry.h"
#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define CLOSE   2e-5 /* error of strains, rad */
#define ANSWERS 3    /* factor on the tolerances of double: the rod is softer in stretch, and steps end at round-off */
#else
#define CLOSE   1e-12
#define ANSWERS 1
#endif

static bool nightly(void)
{
    const char *text = getenv("SINEW_NIGHTLY");
    return text && text[0] == '1';
}

/* Segments of cantilevers. In single precision steps of finer rods end at the round-off of the stretching force,
 * EA epsilon / l, before their bending is solved: the shape is that of a stiffer rod. */
static int32_t cantilever_segments(void)
{
    return nightly() && sizeof(sinew_real) > 4 ? 80 : 24;
}

/* ---- Strains from frames ------------------------------------------------------------------------- */

static void times(const double A[9], const double B[9], double C[9])
{
    for (int i = 0; i < 9; i++)
        C[i] = A[i / 3 * 3] * B[i % 3] + A[i / 3 * 3 + 1] * B[3 + i % 3] + A[i / 3 * 3 + 2] * B[6 + i % 3];
}

/* Segment j starts at `from` along column 0 of its frame, with the director on the side of column 1 at a random
 * position along it. */
static void place_segment(random_cases *r, const double R[9], int j, double *x)
{
    const double l = random_between(r, 0.5, 2), s = random_between(r, 0.1, 1), along = random_between(r, -0.3, 0.3);
    for (int i = 0; i < 3; i++) {
        x[3 * (j + 1) + i] = x[3 * j + i] + l * R[3 * i];
        x[3 * (j + 3) + i] = x[3 * j + i] + l * (0.5 + along) * R[3 * i] + s * R[3 * i + 1];
    }
}

/* Two segments: the second frame is the first one, bent by theta about the axis at angle `aside` across it, then
 * twisted by tau about its own direction. */
static void draw_pair(random_cases *r, double theta, double aside, double tau, double *x)
{
    double A[9], bend[9], twist[9], AB[9], B[9];
    const double axis[3] = {0, cos(aside), sin(aside)}, along[3] = {1, 0, 0};
    random_state = random_bits(r);
    random_rotation(0, 3, A);
    rotation(axis, theta, bend);
    rotation(along, tau, twist);
    times(A, bend, AB);
    times(AB, twist, B);
    for (int i = 0; i < 3; i++)
        x[i] = random_between(r, -1, 1);
    place_segment(r, A, 0, x);
    place_segment(r, B, 1, x);
}

static double length_between(const double *a, const double *b)
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

static void set_parameters(random_cases *r, bool straight, sample *s)
{
    for (int i = 0; i < 3; i++) /* EI_1, EI_2, GJ */
        s->parameters[i] = random_between(r, 0.5, 2);
    s->parameters[3] = straight;
    for (int i = 4; i < 7; i++) /* curvatures and twist at rest */
        s->parameters[i] = random_between(r, -0.2, 0.2);
}

/* kappa_1, kappa_2, tau of such a pair: 2 tan(theta/2) across the axis, in the frame halfway between both. */
static void known_strains(double theta, double aside, double tau, double strain[3])
{
    const double kappa = 2 * tan(theta / 2) * cos(tau / 2);
    strain[0] = kappa * sin(aside - tau / 2);
    strain[1] = -kappa * cos(aside - tau / 2);
    strain[2] = tau;
}

static void strains_are_known_angles(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("bent and twisted pairs", 300, 10000);
    const sinew_simd_variant *simd = sinew_simd();
    const sinew_energy_ops *ops = simd->energies[SINEW_ENERGY_ROD];
    double worst = 0;
    for (int32_t i = 0; i < r.count; i++) {
        sample s = {0};
        double rest[3], now[3], psi = 0;
        const double tau = random_between(&r, -1.5, 1.5), theta = random_between(&r, 0, 1.5),
                     aside = random_between(&r, -3, 3);
        const bool straight = random_index(&r, 2) == 1;
        set_parameters(&r, straight, &s);
        draw_pair(&r, theta, aside, tau, s.rest);
        known_strains(theta, aside, tau, rest);
        const double L = (length_between(s.rest, s.rest + 3) + length_between(s.rest + 3, s.rest + 6)) / 2;
        const double theta2 = random_between(&r, 0, 2.5), aside2 = random_between(&r, -3, 3),
                     tau2 = random_between(&r, -1, 1);
        draw_pair(&r, theta2, aside2, tau2, s.x);
        known_strains(theta2, aside2, tau2, now);
        for (int k = 0; k < 3; k++) {
            const double strain = now[k] - (straight ? 0 : rest[k]) - s.parameters[4 + k] * L;
            psi += s.parameters[k] * strain * strain / (2 * L);
        }
        batch b = batch_make(simd, ops, &s, 1);
        worst = fmax(worst, fabs(batch_value(&b) - psi) / (1 + psi));
        batch_free(&b);
    }
    print_message("psi of known angles: worst error %.1e (bound %.0e)\n", worst, CLOSE);
    assert_true(worst < CLOSE);
}

/* ---- Rest shapes ----------------------------------------------------------------------------------- */

/* A clamped rod without load takes the shape of its rest curvature and twist: a closed circle. */
static void curvature_at_rest_closes_a_circle(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const int32_t n = 60;
    rod_stuff s = rod_default_stuff();
    rod_world r;
    double tip[3], start[3];
    s.stretching = 1e3;
    sinew_mesh *mesh = rod_line(n, 0, 1, &error);
    assert_true(rod_make(mesh, &s, &r, &error));
    const sinew_energy rod = sinew_world_energy_at(r.world, 1);
    assert_int_equal(sinew_energy_set_parameter(r.world, rod, "curvature_2", (sinew_real)(2 * MAKE_PI), &error),
                     SINEW_OK);
    assert_true(rod_clamp(&r, 0, NULL, &error));
    rod_settle(&r, 8);
    rod_point(&r, n, tip);
    rod_point(&r, 0, start);
    print_message("curvature 2 pi at rest: the ends are %.2g of the length apart\n", length_between(tip, start));
    assert_true(length_between(tip, start) < 0.01);
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
}

/* The far end of a straight rod rotates by the twist times the length between the middles of its first and last
 * segment. */
static void twist_at_rest_turns_the_end(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const int32_t n = 20;
    rod_stuff s = rod_default_stuff();
    rod_world r;
    double p[3], a[3], b[3];
    s.stretching = 1e3;
    s.twist = 2;
    sinew_mesh *mesh = rod_line(n, 0, 1, &error);
    assert_true(rod_make(mesh, &s, &r, &error) && rod_clamp(&r, 0, NULL, &error));
    rod_settle(&r, 4);
    rod_point(&r, r.vertex_count + n - 1, p);
    rod_point(&r, n - 1, a);
    rod_point(&r, n, b);
    const double angle = atan2(p[2] - (a[2] + b[2]) / 2, p[1] - (a[1] + b[1]) / 2), wanted = 2.0 * (n - 1) / n;
    assert_true(fabs(angle - wanted) < 1e-3);
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
}

/* A coil with a straight rest shape unrolls. */
static void a_straight_rest_unrolls(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    rod_stuff s = rod_default_stuff();
    rod_world r;
    double a[3], b[3];
    sinew_coil_def def = sinew_default_coil_def();
    def.radius = (sinew_real)0.3;
    def.turns = (sinew_real)0.4;
    def.vertices = 21;
    s.stretching = 1e3;
    s.straight = true;
    sinew_mesh *mesh = sinew_mesh_coil(&def, &error);
    assert_true(rod_make(mesh, &s, &r, &error) && rod_clamp(&r, 0, NULL, &error));
    rod_settle(&r, 10);
    double length = 0;
    for (int i = 0; i < 20; i++) {
        rod_point(&r, i, a);
        rod_point(&r, i + 1, b);
        length += length_between(a, b);
    }
    rod_point(&r, 0, a);
    assert_true(fabs(length_between(a, b) / length - 1) < 1e-3);
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
}

/* ---- Known solutions ------------------------------------------------------------------------------- */

static void cantilevers_hang_as_the_elastica(void **unused)
{
    (void)unused;
    static const double ratio[7][2] = {{1, 0.124562},  {3, 0.364621},  {5, 0.585721},  {10, 1.066802},
                                       {20, 1.863930}, {50, 3.705561}, {100, 5.888105}};
    /* 24 segments are too coarse for the last load. */
    const int last = !nightly() ? 4 : cantilever_segments() < 80 ? 6 : 7;
    for (int i = nightly() ? 0 : 2; i < last; i++) {
        sinew_error error = {0};
        double angle;
        const double found = rod_drop_over_reach(cantilever_segments(), ratio[i][0], &angle, &error);
        must(&error);
        print_message("Gamma %g: drop over reach %.6f, elastica %.6f\n", ratio[i][0], found, ratio[i][1]);
        assert_true(fabs(found / ratio[i][1] - 1) < 0.01 * ANSWERS);
    }
    sinew_error error = {0};
    double w = NAN, u = NAN;
    rod_tip_load(cantilever_segments(), 4, &w, &u, &error);
    must(&error);
    print_message("tip load 4: w %.5f, u %.5f\n", w, u);
    assert_true(fabs(w / 0.66996 - 1) < 0.01 * ANSWERS && fabs(u / 0.32894 - 1) < 0.01 * ANSWERS);
}

#ifndef SINEW_SINGLE
/* A clamp is at the middle of the pinned edge, from where the curvature of its inner end counts: with that length the
 * deflection under a tip load converges with the square of the edge length. */
static void a_clamp_is_at_the_middle_of_its_edge(void **unused)
{
    (void)unused;
    double off[2];
    for (int i = 0; i < 2; i++) {
        sinew_error error = {0};
        double w = NAN, u = NAN;
        rod_tip_load(10 << i, 4, &w, &u, &error);
        must(&error);
        off[i] = fabs(w / 0.66996 - 1);
    }
    print_message("tip load 4: off by %.5f with 10 edges, %.5f with 20\n", off[0], off[1]);
    assert_true(off[0] < 0.015 && off[1] < 0.3 * off[0]);
}
#endif

static void catenaries_hang_as_they_should(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    double sag = NAN, force = NAN;
    rod_catenary(40, &sag, &force, &error);
    must(&error);
    print_message("catenary: sag %.6f, force %.6f\n", sag, force);
    assert_true(fabs(sag / 0.502633 - 1) < 0.01 * ANSWERS && fabs(force / 0.308236 - 1) < 0.01 * ANSWERS);
}

#ifndef SINEW_SINGLE
/* A strip loaded edgewise and a twisted ring, below and above their critical loads. The sample's meshes are coarse. */
static void strips_and_rings_give_way_where_they_should(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const int32_t n = nightly() ? 80 : 20, ring = nightly() ? 80 : 40;
    const double margin = nightly() ? 0.03 : 0.06, limit = sqrt(3) / 0.7;
    for (int weight = 0; weight < 2; weight++) {
        const double critical = weight ? 12.85376 : 4.01260;
        const double below = rod_sideways(n, 0.5, weight, (1 - margin) * critical, ROD_NUDGE, &error);
        const double above = rod_sideways(n, 0.5, weight, (1 + margin) * critical, ROD_NUDGE, &error);
        must(&error);
        print_message("%s: %.3g m/N aside below, %.3g above\n", weight ? "own weight" : "tip load", below, above);
        assert_true(fabs(below) < 100 && fabs(above) > 0.01 / ROD_NUDGE);
    }
    const double below = rod_ring_loss(ring, 0.7, (1 - margin) * limit, &error);
    const double above = rod_ring_loss(ring, 0.7, (1 + margin) * limit, &error);
    must(&error);
    print_message("ring: loses %.1e of its energy below, %.1e above\n", below, above);
    assert_true(fabs(below) < 1e-6 && above > 1e-3);
}

static void coils_are_as_stiff_as_textbooks_say(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const double ratio = rod_coil_stiffness(nightly() ? 10 : 4, nightly() ? 48 : 32, 0.1, 0.01, &error);
    must(&error);
    print_message("coil: %.4f of the textbook's stiffness\n", ratio);
    assert_true(fabs(ratio - 1) < 0.03);
}

/* ---- Solvers ------------------------------------------------------------------------------------------ */

/* A short rod falls about its clamp for some steps; q receives its end positions. */
static void fall(sinew_solver_kind kind, int32_t iterations, sinew_real *q, int32_t count)
{
    sinew_error error = {0};
    rod_stuff s = rod_default_stuff();
    rod_world r;
    s.stretching = 50;
    s.bending[1] = 0.3;
    s.twisting = 0.5;
    s.density = 0.2;
    s.gravity = ROD_GRAVITY;
    s.time_step = 0.02;
    s.toward[2] = 0.5;
    sinew_mesh *mesh = rod_line(8, 0, 1, &error);
    assert_true(rod_make(mesh, &s, &r, &error) && rod_clamp(&r, 0, NULL, &error));
    assert_true(rod_pull(&r, 8, (double[]){0, 0, 0.2}));
    sinew_solver_def solver = sinew_default_solver_def(kind);
    solver.iterations = iterations;
    solver.tolerance = (sinew_real)1e-9;
    assert_int_equal(sinew_world_set_solver(r.world, &solver, &error), SINEW_OK);
    for (int i = 0; i < 5; i++)
        assert_true((sinew_world_step(r.world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)) == 0);
    assert_int_equal(r.vertex_count + r.edge_count, count);
    sinew_world_get_positions(r.world, 0, count, q);
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
}

static void solvers_agree(void **unused)
{
    (void)unused;
    enum {
        COUNT = 17
    };
    static const struct {
        sinew_solver_kind kind;
        int32_t iterations;
        double within; /* m, for a tip displacement of 5 cm; constraint solvers do not converge fully */
    } others[] = {{SINEW_SOLVER_QN, 3000, 1e-6}, {SINEW_SOLVER_PBNG, 6000, 1e-6}, {SINEW_SOLVER_XPBD, 400, 5e-3}};
    sinew_real truth[3 * COUNT], q[3 * COUNT];
    fall(SINEW_SOLVER_NEWTON, 100, truth, COUNT);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        double worst = 0;
        fall(others[i].kind, others[i].iterations, q, COUNT);
        for (int k = 0; k < 3 * COUNT; k++)
            worst = fmax(worst, fabs((double)q[k] - (double)truth[k]));
        print_message("%s: %.1e m from newton\n", sinew_get_solver_info(others[i].kind)->name, worst);
        assert_true(worst < others[i].within);
    }
    char why[256];
    assert_false(sinew_solver_accepts(SINEW_SOLVER_PD, SINEW_ENERGY_ROD, why, sizeof why));
    assert_non_null(strstr(why, "rod"));
}
#endif

/* ---- Meshes and refusals -------------------------------------------------------------------------------- */

static int32_t joints_of(const sinew_mesh *mesh)
{
    sinew_error error = {0};
    rod_stuff s = rod_default_stuff();
    rod_world r;
    assert_true(rod_make(mesh, &s, &r, &error));
    const int32_t count = sinew_energy_element_count(r.world, sinew_world_energy_at(r.world, 1));
    sinew_world_destroy(r.world);
    return count;
}

/* Joints of chains and closed rings; at a vertex of three segments each segment is joined to the next. */
static void joints_are_found(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_coil_def def = sinew_default_coil_def();
    sinew_mesh *line = rod_line(5, 0, 1, &error), *ring = sinew_mesh_ring(&def, &error);
    assert_int_equal(joints_of(line), 4);
    assert_int_equal(joints_of(ring), 24);
    const sinew_real x[12] = {0, 0, 0, 1, 0, 0, 2, 1, 0, 2, -1, 0};
    const int32_t edges[6] = {0, 1, 1, 2, 1, 3};
    sinew_mesh_def fork = sinew_default_mesh_def();
    fork.vertex_count = 4;
    fork.positions = x;
    fork.edge_count = 3;
    fork.edges = edges;
    sinew_mesh *branched = sinew_mesh_create(&fork, &error);
    assert_int_equal(joints_of(branched), 2);
    sinew_mesh_destroy(line);
    sinew_mesh_destroy(ring);
    sinew_mesh_destroy(branched);
}

static void refused(const sinew_energy_ops *ops, const sample *s, const char *part)
{
    sinew_real data[SINEW_DATA_MAX];
    const char *why = batch_prepare(ops, s, data);
    if (!why || !strstr(why, part))
        fail_msg("%s: \"%s\" does not say \"%s\"", ops->info.name, why ? why : "taken", part);
}

static void nonsense_is_refused(void **unused)
{
    (void)unused;
    const sinew_energy_ops *rod = sinew_simd()->energies[SINEW_ENERGY_ROD],
                           *director = sinew_simd()->energies[SINEW_ENERGY_DIRECTOR];
    const sample good = {.rest = {0, 0, 0, 1, 0, 0, 2, 0, 0, 0.5, 0.2, 0, 1.5, 0.2, 0}, .parameters = {1, 1, 1}};
    sample s = good;
    s.rest[3] = 0;
    refused(rod, &s, "no length");
    s = good;
    s.rest[10] = 0;
    refused(rod, &s, "lies on the line");
    s = good;
    s.rest[6] = 0;
    s.rest[12] = 0.5;
    refused(rod, &s, "folded back");
    s = good;
    s.parameters[6] = 4;
    refused(rod, &s, "half a turn");
    const sample edge = {.rest = {0, 0, 0, 1, 0, 0, 0.5, 0.2, 0}, .parameters = {1}};
    s = edge;
    s.rest[3] = 0;
    refused(director, &s, "no length");
    s = edge;
    s.rest[7] = 0;
    refused(director, &s, "lies on the line");
    s = edge;
    s.rest[7] = NAN;
    refused(director, &s, "not finite");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strains_are_known_angles),
        cmocka_unit_test(curvature_at_rest_closes_a_circle),
        cmocka_unit_test(twist_at_rest_turns_the_end),
        cmocka_unit_test(a_straight_rest_unrolls),
        cmocka_unit_test(cantilevers_hang_as_the_elastica),
        cmocka_unit_test(catenaries_hang_as_they_should),
#ifndef SINEW_SINGLE
        cmocka_unit_test(strips_and_rings_give_way_where_they_should),
        cmocka_unit_test(a_clamp_is_at_the_middle_of_its_edge),
        cmocka_unit_test(coils_are_as_stiff_as_textbooks_say),
        cmocka_unit_test(solvers_agree),
#endif
        cmocka_unit_test(joints_are_found),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
