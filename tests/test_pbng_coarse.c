/* SPDX-License-Identifier: MIT
 *
 * test_pbng_coarse.c: pbng's coarse step: free components conserve momentum, no iteration increases g because of it,
 * and other components do not change.
 */
#include "pbng_worlds.h"
#include "random_cases.h"

#ifdef SINEW_SANITIZED
#define FLIGHT 50
#else
#define FLIGHT 1000
#endif
#define KEPT (IS_SINGLE ? 1e-5 : 1e-10) /* relative error of the linear momentum in free flight */

/* ---- Worlds ------------------------------------------------------------------------------------ */

enum {
    ALONE,  /* one free body without symmetry */
    BOUND,  /* ALONE and a second body, weakly bound to the first */
    BESIDE, /* BOUND and a third body, pinned and unconnected */
    PINNED  /* the third body by itself */
};

typedef struct flight {
    sinew_energy_kind kind;
    double E, nu, h, spin;
    sinew_solver_def solver;
} flight;

/* A sheared and bent bar of 4 x 2 x 1 cells, thrown past the origin and spinning. */
static sinew_body add_thrown(sinew_world *world, const sinew_mesh *mesh, const flight *f, double up)
{
    static const double speed[3] = {1, 2, 0.5};
    const sinew_real *X = sinew_mesh_positions(mesh);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < n; i++) {
        const double a = (double)X[3 * i], b = (double)X[3 * i + 1], c = (double)X[3 * i + 2];
        const double bent[3] = {1.2 * a, b * (1 + 0.3 * a) + up, c + 0.2 * a * a};
        const double turn[3] = {-bent[1], bent[0] - bent[2], bent[1]};
        for (int k = 0; k < 3; k++) {
            x[3 * i + k] = (sinew_real)(bent[k] - FLIGHT * f->h / 2 * speed[k]);
            v[3 * i + k] = (sinew_real)(speed[k] + f->spin * turn[k]);
        }
    }
    sinew_body body = add_mesh(world, mesh, 1000, x, v);
    add_material(world, body, f->kind, f->E, f->nu);
    free(x);
    free(v);
    return body;
}

static void bind(sinew_world *world, int32_t first, int32_t second)
{
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    const int32_t pair[8] = {first, first, first, first, second, second, second, second};
    const sinew_real weights[8] = {1, 0, 0, 0, 1, 0, 0, 0}, normal[3] = {0, 1, 0};
    weak.body.index = -1;
    weak.elements = pair;
    weak.element_count = 1;
    weak.weights = weights;
    weak.normals = normal;
    weak.parameters[0] = 300;
    weak.parameters[1] = 100;
    add_energy(world, &weak);
}

static void add_hanging(sinew_world *world, const flight *f)
{
    sinew_mesh *mesh = make_beam(3, 1, 1, 0.6, 0.2, 0.2);
    int32_t fixed[8];
    sinew_real *v = make_array(3 * (size_t)sinew_mesh_vertex_count(mesh), sizeof *v);
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++)
        v[3 * i + 2] = sinew_mesh_positions(mesh)[3 * i] + (sinew_real)0.3;
    sinew_body body = add_mesh(world, mesh, 1000, NULL, v);
    add_material(world, body, f->kind, f->E, f->nu);
    add_pins(world, body, fixed, vertices_at(mesh, 0, -0.3, -0.3, fixed), NULL);
    free(v);
    sinew_mesh_destroy(mesh);
}

static sinew_world *flying(const flight *f, int what)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(4, 2, 1, 0.8, 0.4, 0.2);
    def.thread_count = 1;
    def.time_step = (sinew_real)f->h;
    def.gravity[1] = 0;
    def.solver = f->solver;
    sinew_world *world = make_world(&def);
    if (what == BESIDE || what == PINNED)
        add_hanging(world, f);
    const int32_t before = sinew_world_particle_count(world);
    if (what != PINNED)
        add_thrown(world, mesh, f, 0);
    if (what == BOUND || what == BESIDE) {
        add_thrown(world, mesh, f, 0.5);
        bind(world, before + 3, before + sinew_mesh_vertex_count(mesh) + 1);
    }
    sinew_mesh_destroy(mesh);
    return world;
}

/* ---- Momentum ---------------------------------------------------------------------------------- */

/* The sum of m v over particles from `first` on. */
static void momentum_of(const sinew_world *world, int32_t first, double p[3])
{
    const int32_t n = sinew_world_particle_count(world) - first;
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v), *mass = make_array((size_t)n, sizeof *mass);
    assert_int_equal(sinew_world_get_velocities(world, first, n, v), SINEW_OK);
    assert_int_equal(sinew_world_get_masses(world, first, n, mass), SINEW_OK);
    p[0] = p[1] = p[2] = 0;
    for (int32_t i = 0; i < 3 * n; i++)
        p[i % 3] += (double)mass[i / 3] * (double)v[i];
    free(v);
    free(mass);
}

static double largest_drift(sinew_world *world, int32_t first, int steps)
{
    double start[3], now[3], max = 0;
    momentum_of(world, first, start);
    for (int k = 0; k < steps; k++) {
        step_of(world);
        momentum_of(world, first, now);
        const double apart = sqrt(pow(now[0] - start[0], 2) + pow(now[1] - start[1], 2) + pow(now[2] - start[2], 2));
        max = fmax(max, apart / sqrt(start[0] * start[0] + start[1] * start[1] + start[2] * start[2]));
    }
    return max;
}

static void linear_momentum_is_kept(void **unused)
{
    (void)unused;
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_NEO_HOOKEAN, SINEW_ENERGY_COROTATED, SINEW_ENERGY_LINEAR};
    static const char *const names[] = {"a body", "two, bound", "two and a pinned one"};
    for (int m = 0; m < 3; m++)
        for (int what = ALONE; what <= BESIDE; what++) {
            const flight f = {kinds[m], what == ALONE ? 1e8 : 1e6, 0.3, 0.01, 3, pbng(15, CHEBYSHEV, 0)};
            sinew_world *world = flying(&f, what);
            const double drift = largest_drift(world, what == BESIDE ? 16 : 0, FLIGHT);
            print_message("%-12s %-20s: linear momentum changes by %.1e of itself in %d steps of 15 iterations\n",
                          name_of(kinds[m]), names[what], drift, FLIGHT);
            assert_true(drift <= KEPT);
            sinew_world_destroy(world);
        }
}

/* Without the coarse step a stiff body loses a fifth of its momentum. */
static void sweeps_alone_lose_momentum(void **unused)
{
    (void)unused;
    flight f = {SINEW_ENERGY_NEO_HOOKEAN, 1e8, 0.3, 0.01, 3, pbng(60, CHEBYSHEV, 0)};
    set(&f.solver, "coarse", 0);
    sinew_world *world = flying(&f, ALONE);
    const double drift = largest_drift(world, 0, FLIGHT);
    print_message("without the coarse step: by %.2g of itself in %d steps of 60 iterations\n", drift, FLIGHT);
    assert_true(drift > 100 * KEPT);
    sinew_world_destroy(world);
}

/* A pinned component has the bits that it has by itself and without the coarse step. Acceleration depends on the whole
 * world, so sweeps are plain here. */
static void pinned_pieces_are_left_alone(void **unused)
{
    (void)unused;
    sinew_real *q[3];
    for (int k = 0; k < 3; k++) {
        flight f = {SINEW_ENERGY_NEO_HOOKEAN, 1e6, 0.3, 0.01, 3, pbng(15, NONE, 0)};
        set(&f.solver, "coarse", k != 2);
        sinew_world *world = flying(&f, k == 0 ? PINNED : BESIDE);
        for (int step = 0; step < 100; step++)
            step_of(world);
        q[k] = positions_of(world);
        sinew_world_destroy(world);
    }
    assert_memory_equal(q[1], q[2], 3 * 16 * sizeof *q[0]);
    assert_memory_equal(q[0], q[1], 3 * 16 * sizeof *q[0]);
    for (int k = 0; k < 3; k++)
        free(q[k]);
}

/* ---- Distance from the minimum ----------------------------------------------------------------- */

/* g after a step of the given number of iterations. */
static double reached(flight *f, int what, int iterations, int acceleration, int coarse)
{
    f->solver = pbng(iterations, acceleration, 0);
    set(&f->solver, "coarse", coarse);
    sinew_world *world = flying(f, what);
    const double objective = step_of(world).objective;
    sinew_world_destroy(world);
    return objective;
}

static double newtons(flight *f, int what)
{
    f->solver = solver_of(SINEW_SOLVER_NEWTON, 300);
    f->solver.tolerance = (sinew_real)(IS_SINGLE ? 1e-6 : 1e-12);
    sinew_world *world = flying(f, what);
    const double objective = step_of(world).objective;
    sinew_world_destroy(world);
    return objective;
}

/* One plain sweep with the coarse step ends no higher than one without. After more, accelerated sweeps the iterates
 * differ, and those with the coarse step are lower on average. */
static void no_step_is_farther_for_it(void **unused)
{
    (void)unused;
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_NEO_HOOKEAN, SINEW_ENERGY_STABLE_NEO_HOOKEAN,
                                              SINEW_ENERGY_COROTATED, SINEW_ENERGY_STRAIN};
    random_cases r = random_cases_begin("coarse step", 30, 500);
    double worst = 0, sum = 0;
    int32_t farther = 0;
    for (int32_t k = 0; k < r.count; k++) {
        const int what = random_index(&r, 3);
        flight f = {.kind = kinds[random_index(&r, 4)],
                    .E = random_magnitude(&r, 1e4, 1e8),
                    .nu = random_between(&r, 0.1, 0.45),
                    .h = random_magnitude(&r, 0.003, 0.1),
                    .spin = random_between(&r, 0, 20)};
        const double without = reached(&f, what, 1, NONE, 0), with = reached(&f, what, 1, NONE, 1);
        assert_true(with <= without + (IS_SINGLE ? 1e-4 : 1e-11) * fabs(without));
        const double lowest = newtons(&f, what), floor = (IS_SINGLE ? 1e-4 : 1e-11) * fabs(lowest);
        const double gap = fmax(reached(&f, what, 15, CHEBYSHEV, 0) - lowest, floor);
        const double own = fmax(reached(&f, what, 15, CHEBYSHEV, 1) - lowest, floor);
        worst = fmax(worst, own / gap);
        sum += log(own / gap);
        farther += own > 1.05 * gap;
    }
    print_message(
        "gap with / without the coarse step after 15 iterations: mean %.3f, worst %.2f, above 1.05 in %d of %d\n",
        exp(sum / r.count), worst, farther, r.count);
    assert_true(exp(sum / r.count) <= 1.05 && farther <= 0.1 * r.count + 1);
}

/* ---- Threads, other solvers -------------------------------------------------------------------- */

/* A body large enough that its sums are computed in parallel. */
static void threads_do_not_change_bits(void **unused)
{
    (void)unused;
    uint64_t hashes[3];
    sinew_mesh *mesh = make_beam(21, 20, 19, 2.1, 2, 1.9);
    for (int k = 0; k < 3; k++) {
        const flight f = {SINEW_ENERGY_NEO_HOOKEAN, 1e6, 0.3, 0.01, 3, pbng(4, CHEBYSHEV, 0)};
        sinew_world_def def = sinew_default_world_def();
        def.thread_count = k + 1;
        def.solver = f.solver;
        sinew_world *world = make_world(&def);
        add_thrown(world, mesh, &f, 0);
        step_of(world);
        hashes[k] = sinew_world_state_hash(world);
        sinew_world_destroy(world);
    }
    sinew_mesh_destroy(mesh);
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

/* Solvers that declare it conserve linear momentum up to the rounding of positions. */
static void every_solver_keeps_momentum(void **unused)
{
    (void)unused;
    static const sinew_solver_kind keep[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PD,  SINEW_SOLVER_QN,  SINEW_SOLVER_ADMM,
                                             SINEW_SOLVER_XPBD,   SINEW_SOLVER_PBD, SINEW_SOLVER_PBNG};
    for (size_t i = 0; i < sizeof keep / sizeof keep[0]; i++) {
        const sinew_solver_kind kind = keep[i];
        const flight f = {SINEW_ENERGY_STRAIN, 1e5, 0.3, 0.01, 3, solver_of(kind, 15)};
        sinew_world *world = flying(&f, ALONE);
        const double drift = largest_drift(world, 0, 100);
        print_message("%-8s: linear momentum changes by %.1e of itself in 100 steps\n",
                      sinew_get_solver_info(kind)->name, drift);
        assert_true(drift <= (IS_SINGLE ? 5e-3 : 1e-11));
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_momentum_is_kept),      cmocka_unit_test(sweeps_alone_lose_momentum),
        cmocka_unit_test(pinned_pieces_are_left_alone), cmocka_unit_test(no_step_is_farther_for_it),
        cmocka_unit_test(threads_do_not_change_bits),   cmocka_unit_test(every_solver_keeps_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
