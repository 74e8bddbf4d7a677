/* SPDX-License-Identifier: MIT
 *
 * test_integrators.c: explicit-euler, symplectic-euler and linear-implicit: the updates of the thesis (3.2, 3.9).
 *
 * References: the explicit updates are recomputed particle by particle from the gradient of the public API; the
 * linearly implicit update equals one exact iteration of newton. The integrators report no gap, set the bit `explicit`
 * and report neither solved nor unsolved; unsupported features are refused by name.
 */
#include "linear_methods.h"
#include "random_scene.h"
#include "sinew/contact.h"
#include "small_world.h"

#ifdef SINEW_SINGLE
#define SAME 2e-5 /* relative error */
#define KEPT 1e-5
#else
#define SAME 1e-12
#define KEPT 1e-13
#endif

static const sinew_solver_kind explicit_kinds[] = {SINEW_SOLVER_EXPLICIT_EULER, SINEW_SOLVER_SYMPLECTIC_EULER};

/* ---- Reference steps ----------------------------------------------------------------------------- */

typedef struct by_hand {
    int32_t count;
    sinew_real *q, *v, *m, *gradient;
} by_hand;

static by_hand take_state(const sinew_world *world)
{
    by_hand b = {.count = sinew_world_particle_count(world)};
    const size_t size = 3 * (size_t)b.count;
    b.q = positions_of(world);
    b.v = make_array(size, sizeof *b.v);
    b.m = make_array((size_t)b.count, sizeof *b.m);
    b.gradient = make_array(size, sizeof *b.gradient);
    assert_int_equal(sinew_world_get_velocities(world, 0, b.count, b.v), SINEW_OK);
    assert_int_equal(sinew_world_get_masses(world, 0, b.count, b.m), SINEW_OK);
    return b;
}

static void free_state(by_hand *b)
{
    void *arrays[] = {b->q, b->v, b->m, b->gradient};
    for (size_t i = 0; i < 4; i++)
        free(arrays[i]);
}

/* Both updates follow from grad g(q_n) = M/h^2 (q_n - q_tilde) + grad psi = -M/h^2 (h w + h^2 M^-1 f). Pins stay fixed.
 */
static void step_by_hand(sinew_world *world, by_hand *b, bool symplectic)
{
    const double h = (double)sinew_world_time_step(world), kept = exp(-(double)sinew_world_damping(world) * h);
    double g;
    assert_int_equal(sinew_world_objective(world, b->q, &g, b->gradient), SINEW_OK);
    for (int32_t i = 0; i < 3 * b->count; i++) {
        const double v = -h * (double)b->gradient[i] / (double)b->m[i / 3];
        b->q[i] = (sinew_real)((double)b->q[i] + h * (symplectic ? v : kept * (double)b->v[i]));
        b->v[i] = (sinew_real)v;
    }
}

static double difference(const sinew_real *a, const sinew_real *b, int32_t count)
{
    double max = 0;
    for (int32_t i = 0; i < count; i++)
        max = fmax(max, fabs((double)a[i] - (double)b[i]));
    return max;
}

/* Reference velocities have the round-off of positions divided by h. */
static void check_state(const sinew_world *world, const by_hand *b, const char *name, int step)
{
    by_hand now = take_state(world);
    const double h = (double)sinew_world_time_step(world);
    const double dq = difference(now.q, b->q, 3 * b->count), dv = difference(now.v, b->v, 3 * b->count);
    if (!(dq <= SAME) || !(dv * h <= SAME))
        fail_msg("%s, step %d: positions differ by %.3g m, velocities by %.3g m/s", name, step, dq, dv);
    free_state(&now);
}

static sinew_world *falling_beam(sinew_solver_kind kind)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)1e-3;
    def.damping = (sinew_real)0.7;
    def.solver = sinew_default_solver_def(kind);
    scene s = make_scene(&def);
    const sinew_real push[3] = {3, 20, -5};
    assert_int_equal(sinew_world_set_forces(s.world, sinew_world_particle_count(s.world) - 1, 1, push), SINEW_OK);
    sinew_mesh_destroy(s.mesh);
    return s.world;
}

static void explicit_steps_are_those_of_the_book(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < 2; k++) {
        sinew_world *world = falling_beam(explicit_kinds[k]);
        const char *name = sinew_get_solver_info(explicit_kinds[k])->name;
        for (int step = 1; step <= 20; step++) {
            by_hand b = take_state(world);
            step_by_hand(world, &b, k == 1);
            sinew_world_step(world, NULL);
            check_state(world, &b, name, step);
            free_state(&b);
        }
        sinew_world_destroy(world);
    }
}

/* A single particle falls by h^2 g n (n - 1) / 2 with explicit Euler and by h^2 g n (n + 1) / 2 with symplectic Euler.
 */
static void free_fall_tells_them_apart(void **unused)
{
    (void)unused;
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0}, h = 0.01, g = 9.81;
    for (size_t k = 0; k < 2; k++) {
        sinew_world_def def = sinew_default_world_def();
        def.time_step = (sinew_real)h;
        def.solver = sinew_default_solver_def(explicit_kinds[k]);
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_rope(2, from, to);
        add_mesh(world, mesh, 1, NULL, NULL);
        const int n = 50;
        for (int step = 0; step < n; step++)
            sinew_world_step(world, NULL);
        sinew_real *q = positions_of(world);
        const double fallen = h * h * g * n * (k == 0 ? n - 1 : n + 1) / 2;
        assert_true(fabs((double)q[1] + fallen) < 100 * SAME);
        free(q);
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* ---- Pins and momentum ----------------------------------------------------------------------- */

static void pins_go_where_they_are_led(void **unused)
{
    (void)unused;
    const sinew_solver_kind kinds[] = {explicit_kinds[0], explicit_kinds[1], SINEW_SOLVER_LINEAR_IMPLICIT};
    for (size_t k = 0; k < 3; k++) {
        sinew_world_def def = sinew_default_world_def();
        def.time_step = (sinew_real)1e-3;
        def.solver = sinew_default_solver_def(kinds[k]);
        scene s = make_scene(&def);
        sinew_real targets[48], q[3], v[3];
        const sinew_real *X = sinew_mesh_positions(s.mesh);
        for (int step = 1; step <= 5; step++) {
            sinew_error error = {0};
            for (int32_t i = 0; i < 3 * s.held_count; i++)
                targets[i] = X[3 * s.held[i / 3] + i % 3] + (sinew_real)(0.002 * step);
            sinew_pin_set_targets(s.world, s.pin, targets, &error);
            must(&error);
            sinew_world_step(s.world, NULL);
            for (int32_t i = 0; i < s.held_count; i++) {
                sinew_world_get_positions(s.world, s.held[i], 1, q);
                sinew_world_get_velocities(s.world, s.held[i], 1, v);
                assert_memory_equal(q, targets + 3 * i, sizeof q);
                assert_true(fabs((double)v[0] - 2) < 2e3 * SAME);
            }
        }
        free_scene(&s);
    }
}

/* Internal forces sum to zero and velocities are sums of forces: linear momentum is conserved to round-off. */
static void explicit_steps_keep_momentum(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < 2; k++) {
        sinew_world_def def = sinew_default_world_def();
        def.time_step = (sinew_real)1e-4;
        def.gravity[1] = 0;
        def.solver = sinew_default_solver_def(explicit_kinds[k]);
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_beam(3, 2, 2, 1, 0.5, 0.5);
        const int32_t n = sinew_mesh_vertex_count(mesh);
        sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
        uint32_t state = 7;
        for (int32_t i = 0; i < 3 * n; i++)
            v[i] = (sinew_real)(1 + next_random(&state));
        add_material(world, add_mesh(world, mesh, 1000, NULL, v), SINEW_ENERGY_COROTATED, 1e6, 0.3);
        sinew_measures before, after;
        assert_int_equal(sinew_world_measure(world, &before), SINEW_OK);
        for (int step = 0; step < 200; step++)
            sinew_world_step(world, NULL);
        assert_int_equal(sinew_world_measure(world, &after), SINEW_OK);
        for (int c = 0; c < 3; c++)
            assert_true(fabs(after.linear_momentum[c] / before.linear_momentum[c] - 1) < 10 * KEPT);
        free(v);
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* ---- Reported results ---------------------------------------------------------------------------- */

static void explicit_steps_claim_nothing(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < 2; k++) {
        sinew_world *world = falling_beam(explicit_kinds[k]);
        sinew_solver_def def = sinew_world_solver(world);
        sinew_error error = {0};
        sinew_step_result result;
        def.iterations = 30;
        sinew_world_set_solver(world, &def, &error);
        must(&error);
        assert_int_equal(sinew_world_step(world, &result), SINEW_STEP_EXPLICIT);
        assert_int_equal(result.iterations, 1);
        assert_int_equal(result.gap_kind, SINEW_GAP_UNKNOWN);
        assert_true(isinf(result.gap));
        assert_non_null(strstr(result.gap_reason, "explicit"));
        assert_true(isfinite(result.residual) && result.residual > 0);
        def.measure = SINEW_MEASURE_NOTHING;
        sinew_world_set_solver(world, &def, &error);
        must(&error);
        assert_int_equal(sinew_world_step(world, &result), SINEW_STEP_EXPLICIT);
        assert_int_equal(result.gap_kind, SINEW_GAP_NONE);
        assert_string_equal(sinew_step_bit_name(SINEW_STEP_EXPLICIT), "explicit");
        sinew_world_destroy(world);
    }
}

/* All gains and losses are attributed to the integrator, and the balance closes. */
static void explicit_steps_balance(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < 2; k++) {
        sinew_world_def def = sinew_default_world_def();
        def.balance = true;
        def.time_step = (sinew_real)1e-3;
        def.solver = sinew_default_solver_def(explicit_kinds[k]);
        scene s = make_scene(&def);
        for (int step = 0; step < 30; step++) {
            sinew_balance b;
            sinew_error error = {0};
            sinew_world_step(s.world, NULL);
            sinew_world_balance(s.world, &b, &error);
            must(&error);
            const double size = b.kinetic[1] + b.elastic[1] + fabs(b.gravity[1]) + 1;
            assert_true(b.lost_solver == 0 && fabs(b.unaccounted) < 100 * KEPT * size);
            const double change =
                b.kinetic[1] - b.kinetic[0] + b.elastic[1] - b.elastic[0] + b.gravity[1] - b.gravity[0];
            assert_true(fabs(change + b.lost_integrator - b.pins) < 100 * KEPT * size);
        }
        free_scene(&s);
    }
}

/* Unstable steps end with a status, and the last finite state is kept. */
static void explosions_end_in_a_status(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < 2; k++)
        for (int measured = 0; measured < 2; measured++) {
            sinew_world *world = falling_beam(explicit_kinds[k]);
            sinew_solver_def def = sinew_world_solver(world);
            sinew_error error = {0};
            def.measure = measured ? SINEW_MEASURE_RESIDUAL : SINEW_MEASURE_NOTHING;
            sinew_world_set_solver(world, &def, &error);
            sinew_world_set_time_step(world, 1, &error);
            must(&error);
            uint32_t bits = 0;
            for (int step = 0; step < 2000 && !(bits & SINEW_STEP_NOT_FINITE); step++)
                bits = sinew_world_step(world, NULL);
            assert_true(bits & SINEW_STEP_NOT_FINITE);
            by_hand b = take_state(world);
            for (int32_t i = 0; i < 3 * b.count; i++)
                assert_true(isfinite((double)b.q[i]) && isfinite((double)b.v[i]));
            free_state(&b);
            sinew_world_destroy(world);
        }
}

/* ---- Linearly implicit ------------------------------------------------------------------------ */

/* One step of a random scene; NULL if it is not finite. */
static sinew_real *step_drawn(const drawn_scene *d, const sinew_solver_def *def)
{
    sinew_world *world = drawn_world(d, def, NULL);
    const uint32_t bits = sinew_world_step(world, NULL);
    sinew_real *q = bits & SINEW_STEP_NOT_FINITE ? NULL : positions_of(world);
    sinew_world_destroy(world);
    return q;
}

static void linear_implicit_is_one_iteration_of_newton(void **unused)
{
    (void)unused;
    static const char *const words[] = {"direct", "lu", "qr"};
    const int word_count = linear_methods_register() ? 3 : 1;
    random_cases r = random_cases_begin("linear-implicit and newton", 30, 600);
    double worst = 0;
    for (int i = 0; i < r.count; i++) {
        drawn_scene d = draw_scene(&r);
        d.h = d.h > 0 ? d.h : 0.01;
        sinew_error error = {0};
        sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
        sinew_solver_def linear = sinew_default_solver_def(SINEW_SOLVER_LINEAR_IMPLICIT);
        newton.iterations = 1;
        newton.tolerance = 0;
        linear.iterations = 40; /* one iteration is taken for any limit */
        newton.measure = linear.measure = SINEW_MEASURE_RESIDUAL;
        sinew_solver_def_set_keyword(&newton, "hessian", "exact", &error);
        sinew_solver_def_set_keyword(&newton, "line_search", "off", &error);
        sinew_solver_def_set_keyword(&newton, "linear", words[i % word_count], &error);
        sinew_solver_def_set_keyword(&linear, "linear", words[i % word_count], &error);
        must(&error);
        sinew_real *one = step_drawn(&d, &newton), *other = step_drawn(&d, &linear);
        assert_true((one == NULL) == (other == NULL));
        sinew_mesh *mesh = drawn_rest(&d, NULL);
        const int32_t n = sinew_mesh_vertex_count(mesh);
        const double apart = one ? difference(one, other, 3 * n) : 0;
        worst = fmax(worst, apart);
        if (apart > 1e-14) {
            print_scene(&d);
            fail_msg(": linear-implicit is %.3g m from newton's first iterate", apart);
        }
        sinew_mesh_destroy(mesh);
        free(one);
        free(other);
    }
    printf("linear-implicit and one exact iteration of newton: at most %.2g m apart in %d scenes\n", worst, r.count);
}

/* One spring with a particle that moves along it: (M - h^2 K) v+ = M v_n + h f in closed form. */
static void linear_implicit_solves_the_equation(void **unused)
{
    (void)unused;
    const double k = 700, h = 0.02, from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_LINEAR_IMPLICIT);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(2, from, to);
    const sinew_real start[6] = {0, 0, 0, (sinew_real)1.25, 0, 0}, speed[6] = {0, 0, 0, 3, 0, 0};
    const sinew_body body = add_mesh(world, mesh, 2, start, speed);
    add_springs(world, body, k);
    add_pins(world, body, &(int32_t){0}, 1, NULL);
    const double m = 1, v = (m * 3 - h * k * 0.25) / (m + h * h * k);
    assert_int_equal(sinew_world_step(world, NULL), 0); /* a linear force: the step reaches the minimum */
    sinew_real q[3], u[3];
    sinew_world_get_positions(world, 1, 1, q);
    sinew_world_get_velocities(world, 1, 1, u);
    assert_true(fabs((double)q[0] - (1.25 + h * v)) < 10 * SAME && fabs((double)u[0] - v) < 1e3 * SAME);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* ---- Refusals --------------------------------------------------------------------------------- */

static void what_does_not_fit_is_refused_by_name(void **unused)
{
    (void)unused;
    const sinew_solver_kind kinds[] = {explicit_kinds[0], explicit_kinds[1], SINEW_SOLVER_LINEAR_IMPLICIT};
    for (size_t k = 0; k < 3; k++) {
        char words[96];
        const char *name = sinew_get_solver_info(kinds[k])->name;
        sinew_error error = {0};
        sinew_world_def def = sinew_default_world_def();
        def.solver = sinew_default_solver_def(kinds[k]);
        def.quasistatic = true;
        scene s = make_scene(&def);
        sinew_world_prepare(s.world, &error);
        snprintf(words, sizeof words, "%s cannot be quasistatic", name);
        refused(&error, SINEW_ERROR_UNSUPPORTED, words);
        free_scene(&s);
        def.quasistatic = false;
        s = make_scene(&def);
        sinew_contact_def contact = sinew_default_contact_def();
        sinew_world_set_contact(s.world, &contact, &error);
        must(&error);
        sinew_world_prepare(s.world, &error);
        snprintf(words, sizeof words, "%s takes no contact", name);
        refused(&error, SINEW_ERROR_UNSUPPORTED, words);
        free_scene(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_steps_are_those_of_the_book),
        cmocka_unit_test(free_fall_tells_them_apart),
        cmocka_unit_test(pins_go_where_they_are_led),
        cmocka_unit_test(explicit_steps_keep_momentum),
        cmocka_unit_test(explicit_steps_claim_nothing),
        cmocka_unit_test(explicit_steps_balance),
        cmocka_unit_test(explosions_end_in_a_status),
        cmocka_unit_test(linear_implicit_is_one_iteration_of_newton),
        cmocka_unit_test(linear_implicit_solves_the_equation),
        cmocka_unit_test(what_does_not_fit_is_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
