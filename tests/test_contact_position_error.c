/* SPDX-License-Identifier: MIT
 *
 * test_contact_position_error.c: the position error of steps with contact, for random scenes and solvers, against the
 * same step by Newton's method with converged multipliers; and steps with the estimate have the same bits as without.
 *
 * A case takes some steps by the drawn solver and saves the state. The next step reports its position error. The
 * reference loads the state, detects contacts itself, and takes the step by newton with a multiplier update after every
 * iteration, until forces, multipliers and friction limits have converged.
 */
#include "contact_worlds.h"
#include "random_cases.h"

#define SINGLE (sizeof(sinew_real) == 4)

typedef enum drawn_contact {
    BOX_ON_FLOOR,
    BOX_ON_BALL,
    TWO_BOXES,
    CLOTH_ON_BALL,
    DRAWN_COUNT
} drawn_contact;

typedef struct touch_case {
    drawn_contact scene;
    sinew_solver_kind solver;
    int32_t iterations, steps, cells;
    double size, young, h, friction, height, speed[3]; /* m, Pa, s, 1, m above the ground, m/s */
} touch_case;

static touch_case draw_case(random_cases *r)
{
    touch_case t = {.scene = (drawn_contact)random_index(r, DRAWN_COUNT),
                    .solver = touch_solvers[random_index(r, TOUCH_SOLVERS)]};
    t.iterations = (int32_t)random_magnitude(r, 2, 100);
    t.steps = random_index(r, 12);
    t.cells = 1 + random_index(r, 3);
    t.size = random_magnitude(r, 0.05, 0.5);
    t.young = random_magnitude(r, 1e4, 1e7);
    t.h = random_magnitude(r, 2e-3, 3e-2);
    t.friction = random_index(r, 3) ? random_between(r, 0.05, 0.9) : 0;
    t.height = random_between(r, 0.002, 0.02);
    t.speed[0] = random_index(r, 2) ? random_between(r, -1, 1) : 0;
    t.speed[1] = -random_magnitude(r, 1e-2, 3);
    return t;
}

static void add_ball(sinew_world *world, double radius)
{
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    def.radius = (sinew_real)radius;
    def.position[1] = (sinew_real)-radius;
    add_collider(world, &def);
}

static void set_speed(sinew_world *world, const touch_case *t)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < 3 * n; i++)
        v[i] = (sinew_real)t->speed[i % 3];
    sinew_world_set_velocities(world, 0, n, v);
    free(v);
}

static void add_cloth(sinew_world *world, const touch_case *t)
{
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 4 + 3 * t->cells;
    cloth.size[0] = cloth.size[1] = (sinew_real)(2 * t->size);
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int32_t i = 0; i < n; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * i;
        x[3 * i] = X[0] - (sinew_real)t->size;
        x[3 * i + 1] = (sinew_real)t->height;
        x[3 * i + 2] = X[1] - (sinew_real)t->size;
    }
    const sinew_body body = add_mesh(world, mesh, 0.3, x, NULL);
    add_springs(world, body, 1e-3 * t->young);
    sinew_mesh_destroy(mesh);
    free(x);
}

static sinew_world *make_case(const touch_case *t)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)t->h;
    def.solver = sinew_default_solver_def(t->solver);
    def.solver.iterations = t->iterations;
    def.solver.measure = SINEW_MEASURE_GAP;
    sinew_world *world = make_world(&def);
    set_touch(world, 2e-3, t->friction);
    const double first[3] = {0, t->height + 0.5 * t->size, 0},
                 second[3] = {0.1 * t->size, t->height + 1.55 * t->size, 0};
    if (t->scene == BOX_ON_BALL || t->scene == CLOTH_ON_BALL)
        add_ball(world, 0.6 * t->size);
    else
        add_floor(world);
    if (t->scene == CLOTH_ON_BALL)
        add_cloth(world, t);
    else
        add_box(world, t->solver, t->cells, t->size, first, t->young);
    if (t->scene == TWO_BOXES)
        add_box(world, t->solver, t->cells, t->size, second, t->young);
    set_speed(world, t);
    return world;
}

static double *positions(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q);
    double *out = make_array(3 * (size_t)n, sizeof *out);
    assert_int_equal(sinew_world_get_positions(world, 0, n, q), SINEW_OK);
    for (int32_t i = 0; i < 3 * n; i++)
        out[i] = (double)q[i];
    free(q);
    return out;
}

/* Takes the step after the saved state by newton until everything has converged. False: it did not converge. */
static bool solve_truth(sinew_world *world, const touch_case *t, const void *blob, size_t size)
{
    sinew_error error = {0};
    sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    newton.iterations = SINGLE ? 300 : 600;
    newton.tolerance = (sinew_real)(SINGLE ? 1e-6 : 1e-12);
    newton.measure = SINEW_MEASURE_RESIDUAL;
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)2e-3;
    contact.friction = (sinew_real)t->friction;
    contact.multiplier_interval = 1;
    assert_int_equal(sinew_world_set_solver(world, &newton, &error), SINEW_OK);
    assert_int_equal(sinew_world_set_contact(world, &contact, &error), SINEW_OK);
    assert_int_equal(sinew_world_state_load(world, blob, size, &error), SINEW_OK);
    sinew_step_result result;
    const uint32_t bits = sinew_world_step(world, &result);
    return (bits & ~(uint32_t)(SINEW_STEP_INVERTED | SINEW_STEP_ROUND_OFF)) == 0;
}

typedef enum verdict {
    RIGHT, /* within a factor of 2, or both small */
    BELOW, /* a correct bound */
    NEAR,  /* within a factor of 5 */
    WRONG,
    UNKNOWN,
    UNJUDGED, /* the reference did not converge */
    VERDICT_COUNT
} verdict;

static verdict compare(const touch_case *t, const sinew_step_result *told, double truth)
{
    const double small = (SINGLE ? 3e-6 : 1e-9) * t->size, ratio = told->position_error / truth;
    if (truth <= small && told->position_error <= 3 * small)
        return RIGHT;
    if (told->position_error_kind == SINEW_GAP_BELOW)
        return truth <= 2 * told->position_error ? BELOW : WRONG;
    return ratio >= 0.5 && ratio <= 2 ? RIGHT : ratio >= 0.2 && ratio <= 5 ? NEAR : WRONG;
}

static verdict judge(const touch_case *t)
{
    static const char *const scenes[] = {"box on floor", "box on ball", "two boxes", "cloth on ball"};
    sinew_world *world = make_case(t);
    for (int32_t i = 0; i < t->steps; i++)
        sinew_world_step(world, NULL);
    const size_t size = sinew_world_state_size(world);
    void *blob = malloc(size);
    assert_int_equal(sinew_world_state_save(world, blob, size), SINEW_OK);
    sinew_step_result told;
    sinew_world_step(world, &told);
    double *q = positions(world), max = 0;
    const bool solved = solve_truth(world, t, blob, size);
    double *truth = positions(world);
    for (int32_t i = 0; i < sinew_world_particle_count(world); i++) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += (q[3 * i + c] - truth[3 * i + c]) * (q[3 * i + c] - truth[3 * i + c]);
        max = fmax(max, sqrt(square));
    }
    const verdict v = told.position_error_kind == SINEW_GAP_UNKNOWN ? UNKNOWN
                      : !solved                                     ? UNJUDGED
                                                                    : compare(t, &told, max);
    if (v == NEAR || v == WRONG || v == UNKNOWN)
        printf(
            "  %s: %.3e, true %.3e: %s, %s, iterations %d, step %d, cells %d, size %.3g, young %.3g, h %.3g, mu %.2g, "
            "v %.2g %.2g, bits %x: %s\n",
            v == UNKNOWN ? "unknown"
            : v == NEAR  ? "near"
                         : "WRONG",
            told.position_error, max, scenes[t->scene], sinew_get_solver_info(t->solver)->name, (int)t->iterations,
            (int)t->steps, (int)t->cells, t->size, t->young, t->h, t->friction, t->speed[0], t->speed[1],
            (unsigned)told.bits, told.position_error_reason);
    free(q);
    free(truth);
    free(blob);
    sinew_world_destroy(world);
    return v;
}

/* Counts spread by the root of their mean; `fraction` is the mean of many cases. */
static double limit(double fraction, int32_t count)
{
    return fraction * count + 4 * sqrt(fraction * count) + 1;
}

static void errors_are_true(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("errors_are_true", 30, 400);
    int32_t n[VERDICT_COUNT] = {0};
    for (int32_t i = 0; i < r.count; i++) {
        const touch_case t = draw_case(&r);
        n[judge(&t)]++;
    }
    const int32_t known = n[RIGHT] + n[BELOW] + n[NEAR] + n[WRONG];
    printf("position error with contact: %d known, within 2 %d, below %d, within 5 %d, worse %d; unknown %d, "
           "unjudged %d\n",
           known, n[RIGHT], n[BELOW], n[NEAR], n[WRONG], n[UNKNOWN], n[UNJUDGED]);
    assert_true(n[NEAR] + n[WRONG] <= limit(0.05, known));
    assert_true(n[WRONG] <= limit(0.01, known));
    /* Measured with 400 steps: 38 unknown in double, 97 in single precision, whose cause is not known. */
    assert_true(n[UNKNOWN] <= limit(SINGLE ? 0.25 : 0.1, r.count));
}

/* ---- Bits of the simulation -------------------------------------------------------------------- */

/* The state after the steps of a case, in a buffer of *size bytes that the caller frees. */
static void *run_measured(const touch_case *t, sinew_measure measure, size_t *size, int32_t *known)
{
    sinew_error error = {0};
    sinew_world *world = make_case(t);
    sinew_solver_def solver = sinew_default_solver_def(t->solver);
    solver.iterations = t->iterations;
    solver.measure = measure;
    assert_int_equal(sinew_world_set_solver(world, &solver, &error), SINEW_OK);
    for (int32_t i = 0; i < t->steps + 3; i++) {
        sinew_step_result result;
        sinew_world_step(world, &result);
        *known += result.position_error_kind == SINEW_GAP_ESTIMATE;
    }
    *size = sinew_world_state_size(world);
    void *blob = malloc(*size);
    assert_int_equal(sinew_world_state_save(world, blob, *size), SINEW_OK);
    sinew_world_destroy(world);
    return blob;
}

/* The estimate changes multipliers on its copy and restores them: states, with their contacts, have the same bits. */
static void estimates_change_no_bit(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("estimates_change_no_bit", 10, 100);
    int32_t known = 0;
    for (int32_t i = 0; i < r.count; i++) {
        const touch_case t = draw_case(&r);
        size_t plain_size, size;
        void *plain = run_measured(&t, SINEW_MEASURE_RESIDUAL, &plain_size, &known);
        void *measured = run_measured(&t, SINEW_MEASURE_GAP, &size, &known);
        assert_int_equal(size, plain_size);
        assert_memory_equal(plain, measured, size);
        free(plain);
        free(measured);
    }
    assert_true(known > r.count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_true), cmocka_unit_test(estimates_change_no_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
