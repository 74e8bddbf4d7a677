/* SPDX-License-Identifier: MIT
 *
 * test_stability.c: predictions of sinew_world_stability(): the highest frequency against closed forms and against
 * dense eigenvalues of a finite-difference stiffness matrix, and the predicted instability against actual steps.
 */
#include "failing_allocator.h"
#include "random_scene.h"

#ifdef SINEW_SINGLE
#define CLOSE 1e-5 /* relative error */
#define DENSE 2e-2
#else
#define CLOSE 1e-9
#define DENSE 1e-6
#endif

/* A rope of springs along x without gravity, pinned at its ends or not. */
static sinew_world *make_chain(sinew_solver_kind kind, int32_t vertices, double k, const sinew_real *masses,
                               bool pinned, double h, double damping)
{
    const double from[3] = {0, 0, 0}, to[3] = {vertices - 1.0, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    def.gravity[1] = 0;
    def.damping = (sinew_real)damping;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(vertices, from, to);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = masses;
    const sinew_body b = add_body(world, &body);
    add_springs(world, b, k);
    if (pinned)
        add_pins(world, b, (int32_t[]){0, vertices - 1}, 2, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_stability ask(sinew_world *world)
{
    sinew_error error = {0};
    sinew_stability s;
    sinew_world_stability(world, &s, &error);
    must(&error);
    return s;
}

static bool near(double a, double b, double part)
{
    return fabs(a - b) <= part * fabs(b);
}

/* ---- Closed forms ---------------------------------------------------------------------------- */

static void one_spring(void **unused)
{
    (void)unused;
    const sinew_real masses[] = {2, 0.5};
    sinew_world *world = make_chain(SINEW_SOLVER_SYMPLECTIC_EULER, 2, 300, masses, false, 0.01, 0);
    const double omega = sqrt(300 * (1 / 2.0 + 1 / 0.5));
    sinew_stability s = ask(world);
    assert_true(near(s.omega_max, omega, CLOSE) && near(s.time_step_max, 2 / omega, CLOSE));
    assert_true(near(s.growth, 1, CLOSE)); /* the time step 0.01 s is below the limit 0.073 s */
    sinew_error error = {0};
    const sinew_solver_def forward = sinew_default_solver_def(SINEW_SOLVER_EXPLICIT_EULER);
    sinew_world_set_solver(world, &forward, &error);
    must(&error);
    s = ask(world);
    assert_true(near(s.growth, sqrt(1 + pow(0.01 * omega, 2)), CLOSE) && s.time_step_max == 0);
    const sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    sinew_world_set_solver(world, &newton, &error);
    must(&error);
    s = ask(world);
    assert_true(near(s.omega_max, omega, CLOSE) && isnan(s.growth) && isinf(s.time_step_max));
    sinew_world_destroy(world);
}

/* n equal masses between two walls: omega = 2 sqrt(k/m) sin(n pi / (2 (n + 1))). */
static void a_chain(void **unused)
{
    (void)unused;
    enum {
        N = 40
    };
    sinew_real masses[N + 2];
    for (int i = 0; i < N + 2; i++)
        masses[i] = (sinew_real)0.25;
    sinew_world *world = make_chain(SINEW_SOLVER_SYMPLECTIC_EULER, N + 2, 900, masses, true, 0.01, 0);
    const sinew_stability s = ask(world);
    const double omega = 2 * sqrt(900 / 0.25) * sin(N * MAKE_PI / (2 * (N + 1)));
    printf("chain of %d: omega %.12g, closed form %.12g, %d products\n", N, s.omega_max, omega, (int)s.products);
    assert_true(near(s.omega_max, omega, CLOSE));
    sinew_world_destroy(world);
}

static void nothing_swings(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(SINEW_SOLVER_SYMPLECTIC_EULER);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(3, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    add_mesh(world, mesh, 1, NULL, NULL);
    const sinew_stability s = ask(world);
    assert_true(s.omega_max == 0 && s.growth <= 1 && isinf(s.time_step_max));
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* Each allocation fails in turn: the call reports it, leaks nothing, and the world continues to step. */
static void without_memory(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = hooks_of(&memory);
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_SYMPLECTIC_EULER);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(5, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    add_springs(world, add_mesh(world, mesh, 1, NULL, NULL), 100);
    sinew_error error = {0};
    sinew_world_prepare(world, &error);
    must(&error);
    sinew_stability s;
    const int64_t live = memory.live;
    int64_t refused = 0;
    for (int64_t n = 1; refused == n - 1; n++) {
        memory.calls = 0;
        memory.fail_at = n;
        refused += sinew_world_stability(world, &s, &error) == SINEW_ERROR_MEMORY;
        assert_int_equal(memory.live, live);
    }
    memory.fail_at = 0;
    assert_true(refused > 5 && s.omega_max > 0);
    assert_int_equal(sinew_world_step(world, NULL), SINEW_STEP_EXPLICIT);
    const int64_t calls = memory.calls;
    for (int i = 0; i < 3; i++)
        sinew_world_step(world, NULL);
    assert_int_equal(memory.calls, calls);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
    assert_int_equal(memory.live, 0);
}

/* ---- Dense eigenvalues ------------------------------------------------------------------------ */

/* The largest eigenvalue of a symmetric matrix A [n][n], which is overwritten, by Jacobi rotations. */
static double largest_eigenvalue(double *A, int n)
{
    for (int sweep = 0; sweep < 30; sweep++)
        for (int p = 0; p < n; p++)
            for (int q = p + 1; q < n; q++) {
                const double apq = A[p * n + q];
                if (fabs(apq) < 1e-300)
                    continue;
                const double theta = (A[q * n + q] - A[p * n + p]) / (2 * apq);
                const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
                const double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int i = 0; i < n; i++) {
                    const double x = A[i * n + p], y = A[i * n + q];
                    A[i * n + p] = c * x - s * y;
                    A[i * n + q] = s * x + c * y;
                }
                for (int i = 0; i < n; i++) {
                    const double x = A[p * n + i], y = A[q * n + i];
                    A[p * n + i] = c * x - s * y;
                    A[q * n + i] = s * x + c * y;
                }
            }
    double max = A[0];
    for (int i = 1; i < n; i++)
        max = fmax(max, A[i * n + i]);
    return max;
}

/* M^(-1/2) K M^(-1/2), where K is by central differences of grad g without inertia. */
static double dense_omega(sinew_world *world, const uint8_t *free_particle)
{
    const int32_t count = sinew_world_particle_count(world), n = 3 * count;
    const double h = (double)sinew_world_time_step(world), step = sizeof(sinew_real) == 4 ? 2e-3 : 1e-5;
    sinew_real *q = positions_of(world), *plus = make_array((size_t)n, sizeof *plus),
               *minus = make_array((size_t)n, sizeof *minus), *m = make_array((size_t)count, sizeof *m);
    double *A = make_array((size_t)n * (size_t)n, sizeof *A), g;
    sinew_world_get_masses(world, 0, count, m);
    for (int32_t j = 0; j < n; j++) {
        const sinew_real here = q[j];
        q[j] = (sinew_real)((double)here + step);
        const double above = (double)q[j];
        assert_int_equal(sinew_world_objective(world, q, &g, plus), SINEW_OK);
        q[j] = (sinew_real)((double)here - step);
        const double wide = above - (double)q[j];
        assert_int_equal(sinew_world_objective(world, q, &g, minus), SINEW_OK);
        q[j] = here;
        for (int32_t i = 0; i < n; i++) {
            double K = ((double)plus[i] - (double)minus[i]) / wide - (i == j ? (double)m[i / 3] / (h * h) : 0);
            K *= free_particle[i / 3] && free_particle[j / 3];
            A[i * n + j] += K / 2 / sqrt((double)m[i / 3] * (double)m[j / 3]);
            A[j * n + i] += K / 2 / sqrt((double)m[i / 3] * (double)m[j / 3]);
        }
    }
    const double max = largest_eigenvalue(A, n);
    void *arrays[] = {q, plus, minus, m, A};
    for (size_t i = 0; i < 5; i++)
        free(arrays[i]);
    return sqrt(fmax(max, 0));
}

/* Blocks of tets, compressed and perturbed, pinned or not, away from rest. */
static void blocks_against_dense_eigenvalues(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("fastest motions", 6, 60);
    double worst = 0;
    for (int i = 0; i < r.count; i++) {
        drawn_scene d = draw_scene(&r);
        d.mesh = i % 2 ? DRAWN_BOX : DRAWN_BEAM;
        d.cells = 1;
        d.h = 0.01;
        d.energy = i % 2 ? SINEW_ENERGY_COROTATED : SINEW_ENERGY_NEO_HOOKEAN;
        d.stiffness = drawn_number(random_magnitude(&r, 1e4, 1e6));
        d.poisson = drawn_number(random_between(&r, 0.1, 0.4));
        d.squeeze = drawn_number(random_between(&r, 0.8, 1.3));
        d.noise = drawn_number(random_between(&r, 0, 0.1));
        const sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_SYMPLECTIC_EULER);
        sinew_world *world = drawn_world(&d, &def, NULL);
        int32_t pinned[64];
        uint8_t free_particle[64];
        const int32_t held = sinew_world_pinned(world, 64, pinned);
        assert_true(sinew_world_particle_count(world) <= 64);
        memset(free_particle, 1, sizeof free_particle);
        for (int32_t p = 0; p < held; p++)
            free_particle[pinned[p]] = 0;
        const double found = ask(world).omega_max, dense = dense_omega(world, free_particle);
        worst = fmax(worst, fabs(found / dense - 1));
        if (!near(found, dense, DENSE)) {
            print_scene(&d);
            fail_msg(": omega %.9g, dense %.9g", found, dense);
        }
        sinew_world_destroy(world);
    }
    printf("largest frequencies of %d blocks: at most %.2g of them away from dense eigenvalues\n", r.count, worst);
}

/* ---- Observed instability ------------------------------------------------------------------------ */

/* Perturbs the chain along itself by a small noise, which excites all modes. */
static void disturb(sinew_world *world, int32_t first, int32_t last, double size)
{
    uint32_t state = 5;
    for (int32_t i = first; i < last; i++) {
        sinew_real q[3];
        sinew_world_get_positions(world, i, 1, q);
        q[0] = (sinew_real)((double)q[0] + size * next_random(&state));
        sinew_world_set_positions(world, i, 1, q);
    }
}

static double largest_speed(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    sinew_world_get_velocities(world, 0, n, v);
    double max = 0;
    for (int32_t i = 0; i < 3 * n; i++)
        max = fmax(max, fabs((double)v[i]));
    free(v);
    return max;
}

/* Small motions of a chain; h is `part` of the limit. Returns the largest speed over the initial one. */
static double run_chain(sinew_solver_kind kind, double part, double damping, int steps, double *growth)
{
    enum {
        N = 6
    };
    sinew_real masses[N + 2];
    for (int i = 0; i < N + 2; i++)
        masses[i] = (sinew_real)0.25;
    sinew_world *world = make_chain(kind, N + 2, 900, masses, true, 0.01, damping);
    sinew_error error = {0};
    const double limit = ask(world).time_step_max;
    sinew_world_set_time_step(world, (sinew_real)(part * limit), &error);
    must(&error);
    const sinew_stability s = ask(world);
    assert_true(part < 1 ? s.growth <= 1 + CLOSE : s.growth > 1);
    if (growth)
        *growth = s.growth;
    disturb(world, 1, N + 1, sizeof(sinew_real) == 4 ? 1e-3 : 1e-6);
    sinew_world_step(world, NULL);
    const double first = largest_speed(world);
    double max = first;
    for (int step = 1; step < steps; step++) {
        sinew_world_step(world, NULL);
        if (step % 7 == 0 || step + 1 == steps)
            max = fmax(max, largest_speed(world));
    }
    sinew_world_destroy(world);
    return max / first;
}

static void symplectic_euler_holds_below_the_limit_and_explodes_above(void **unused)
{
    (void)unused;
    double growth;
    const double below = run_chain(SINEW_SOLVER_SYMPLECTIC_EULER, 0.95, 0, 100000, NULL);
    const int steps = sizeof(sinew_real) == 4 ? 12 : 20; /* while motions are small */
    const double above = run_chain(SINEW_SOLVER_SYMPLECTIC_EULER, 1.05, 0, steps, &growth);
    printf("symplectic Euler: 0.95 of the limit %.3g times in 1e5 steps; 1.05: %.3g in %d, %.4g a step foretold\n",
           below, above, steps, growth);
    assert_true(below < 30);
    assert_true(above > pow(growth, steps) / 100 && above < pow(growth, steps) * 100 && above > 50);
}

/* With damping, explicit Euler is stable below a limit, too. */
static void damping_moves_both_limits(void **unused)
{
    (void)unused;
    const double damping = 30;
    double growth;
    for (int k = 0; k < 2; k++) {
        const sinew_solver_kind kind = k ? SINEW_SOLVER_SYMPLECTIC_EULER : SINEW_SOLVER_EXPLICIT_EULER;
        const double below = run_chain(kind, 0.95, damping, 2000, NULL);
        assert_true(below < 30);
        const int steps = k ? 40 : 4000;
        const double above = run_chain(kind, 1.05, damping, steps, &growth);
        printf("%s, damped: 0.95: %.3g; 1.05: %.3g in %d steps, %.6g a step foretold\n",
               sinew_get_solver_info(kind)->name, below, above, steps, growth);
        assert_true(above > 5);
    }
}

/* Growth per step of explicit Euler for the highest frequency alone: the two-mass spring has no other mode. */
static void explicit_euler_grows_as_foretold(void **unused)
{
    (void)unused;
    const sinew_real masses[] = {1, 1};
    sinew_world *world = make_chain(SINEW_SOLVER_EXPLICIT_EULER, 2, 50, masses, false, 0.02, 0);
    const double growth = ask(world).growth;
    const sinew_real q[3] = {(sinew_real)1.001, 0, 0};
    sinew_world_set_positions(world, 1, 1, q);
    sinew_measures before, after;
    sinew_world_measure(world, &before);
    const int steps = 100;
    for (int i = 0; i < steps; i++)
        sinew_world_step(world, NULL);
    sinew_world_measure(world, &after);
    const double measured = (after.kinetic + after.elastic) / (before.kinetic + before.elastic);
    assert_true(near(measured, pow(growth, 2 * steps), sizeof(sinew_real) == 4 ? 1e-2 : 1e-9));
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_spring),
        cmocka_unit_test(a_chain),
        cmocka_unit_test(nothing_swings),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(blocks_against_dense_eigenvalues),
        cmocka_unit_test(symplectic_euler_holds_below_the_limit_and_explodes_above),
        cmocka_unit_test(damping_moves_both_limits),
        cmocka_unit_test(explicit_euler_grows_as_foretold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
