/* SPDX-License-Identifier: MIT
 *
 * test_xpbd_stiff.c: xpbd on stiff bodies of every tet material: a cantilever stays near Newton's, and a freely turning
 * body gains no energy. On neo_hookean a step ends near the minimum if C is zero at rest, and not otherwise.
 */
#include "solver_scenes.h"
#include "tet_materials.h"

#ifdef SINEW_SANITIZED
#define HANGING 10
#define TURNING 20
#else
#define HANGING 100
#define TURNING 1000
#endif

enum {
    VERTICES = 16
};

typedef struct bar {
    sinew_energy_kind kind;
    double E, nu;
    bool turns; /* turns freely, without gravity; else it is pinned at one end */
} bar;

/* 15 tets: 3 x 1 x 1 cells of 0.2 m. */
static sinew_world *make_bar(const bar *b, const sinew_solver_def *solver)
{
    sinew_mesh *mesh = make_beam(3, 1, 1, 0.6, 0.2, 0.2);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real v[3 * VERTICES] = {0};
    int32_t fixed[4];
    sinew_world_def def = sinew_default_world_def();
    assert_int_equal(sinew_mesh_tet_count(mesh), 15);
    for (int32_t i = 0; b->turns && i < VERTICES; i++) {
        v[3 * i] = -5 * X[3 * i + 1];
        v[3 * i + 1] = 5 * X[3 * i] - 3 * X[3 * i + 2];
        v[3 * i + 2] = 3 * X[3 * i + 1];
    }
    def.thread_count = 1;
    def.solver = *solver;
    def.time_step = (sinew_real)0.01;
    if (b->turns)
        def.gravity[1] = 0;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, NULL, v);
    add_material(world, body, b->kind, b->E, b->nu);
    if (!b->turns)
        add_pins(world, body, fixed, vertices_at(mesh, 0, -0.3, -0.3, fixed), NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_solver_def plain(sinew_solver_kind kind, int iterations)
{
    sinew_solver_def def = solver_of(kind, iterations);
    def.record = SINEW_RECORD_NONE;
    return def;
}

/* The largest distance of a vertex from the pins, m. */
static double reach_of(const bar *b, const sinew_solver_def *solver)
{
    sinew_world *world = make_bar(b, solver);
    double max = 0;
    for (int k = 0; k < HANGING; k++) {
        step_of(world);
        sinew_real *q = positions_of(world);
        for (int i = 0; i < VERTICES; i++)
            max = fmax(max, sqrt(pow((double)q[3 * i] + 0.3, 2) + pow((double)q[3 * i + 1], 2) +
                                 pow((double)q[3 * i + 2], 2)));
        free(q);
    }
    sinew_world_destroy(world);
    return max;
}

static void cantilevers_stay_in_reach(void **unused)
{
    (void)unused;
    static const double ratios[] = {0.3, 0.45, 0.49};
    const sinew_solver_def xpbd = plain(SINEW_SOLVER_XPBD, 20), newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    for (int m = 0; m < MATERIALS; m++) {
        double worst = 0;
        for (int i = 0; i < 21; i++) {
            const bar b = {materials[m], pow(10, 4 + i / 3), ratios[i % 3], false};
            worst = fmax(worst, reach_of(&b, &xpbd) / reach_of(&b, &newton));
        }
        print_message("%-20s E = 1e4 .. 1e10 Pa, nu = 0.3 .. 0.49: reaches at most %.2f times as far as Newton's\n",
                      sinew_get_energy_info(materials[m])->name, worst);
        assert_true(worst <= 1.3);
    }
}

/* The largest energy of a flight over its initial energy; elastic: includes the elastic energy. */
static double gain_of(const bar *b, const sinew_solver_def *solver, bool elastic)
{
    sinew_world *world = make_bar(b, solver);
    sinew_measures m;
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    const double start = m.kinetic;
    double max = start;
    for (int k = 0; k < TURNING; k++) {
        step_of(world);
        assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
        max = fmax(max, m.kinetic + (elastic ? m.elastic : 0));
    }
    sinew_world_destroy(world);
    return max / start;
}

/* The elastic energy is included only if 20 sweeps come near enough to the minimum of a step: at E = 1e10 a strain
 * error of 1e-4 is 50 J. */
static void turning_bodies_gain_no_energy(void **unused)
{
    (void)unused;
    static const double ratios[] = {0.3, 0.45, 0.49};
    const sinew_solver_def xpbd = plain(SINEW_SOLVER_XPBD, 20);
    for (int m = 0; m < MATERIALS; m++) {
        double moving = 0, all = 0;
        for (int i = 0; i < 7; i++) {
            const bar b = {materials[m], pow(10, 4 + i), ratios[(i + m) % 3], true};
            moving = fmax(moving, gain_of(&b, &xpbd, false));
            if (b.E <= 1e6)
                all = fmax(all, gain_of(&b, &xpbd, true));
        }
        print_message("%-20s at most %.6f of its kinetic energy; E up to 1e6: %.6f of its energy\n",
                      sinew_get_energy_info(materials[m])->name, moving, all);
        assert_true(moving <= 1 + (IS_SINGLE ? 1e-3 : 1e-5) && all <= 1 + 1e-3);
    }
}

/* Relative error (g - g*) / (g0 - g*) after the first step of a turning bar. */
static double error_of(const bar *b, int form)
{
    sinew_solver_def xpbd = solver_of(SINEW_SOLVER_XPBD, 300), newton = solver_of(SINEW_SOLVER_NEWTON, 100);
    newton.tolerance = (sinew_real)(IS_SINGLE ? 1e-6 : 1e-12);
    set(&xpbd, "neo_hookean", form);
    sinew_world *world = make_bar(b, &newton);
    const double lowest = step_of(world).objective;
    sinew_world_destroy(world);
    world = make_bar(b, &xpbd);
    const double reached = step_of(world).objective;
    int32_t count;
    const double first = sinew_world_iterations(world, &count)[0].objective;
    sinew_world_destroy(world);
    return (reached - lowest) / (first - lowest);
}

static void neo_hookean_ends_near_the_minimum(void **unused)
{
    (void)unused;
    for (double E = 1e4; E < 2e8; E *= 100) {
        const bar b = {SINEW_ENERGY_NEO_HOOKEAN, E, 0.45, true};
        const double root = error_of(&b, 3), combined = error_of(&b, 0), split = error_of(&b, 1);
        print_message("E = %.0e Pa: relative error %.1e, combined %.1e, split %.1e\n", E, root, combined, split);
        assert_true(root <= 0.05);
        if (E > 1e5)
            assert_true(root < 0.1 * combined && root < 0.1 * split);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cantilevers_stay_in_reach),
        cmocka_unit_test(turning_bodies_gain_no_energy),
        cmocka_unit_test(neo_hookean_ends_near_the_minimum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
