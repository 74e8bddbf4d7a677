/* SPDX-License-Identifier: MIT
 *
 * test_constraint_work.c: the energy balance of steps with hard constraints. For random worlds (arms with motors, arms
 * at limits, pendulums, inextensible ropes at moving pins) and every solver that keeps them hard, the balance closes to
 * round-off, and the work of constraints equals a sum that the test computes on its own:
 *
 *     ropes   sum over edges of lambda n . (d_b - d_a), from the multipliers and the positions of the ends
 *     arms    sum over the free particles of d . (m (u - w) / h - m g - r), by Newton's second law
 *
 * with the displacement d, u = d / h, the damped velocity w and the residual r.
 */
#include "rigid_world.h"

enum {
    PARTICLES_MAX = 16,
    STEPS = 12
};

typedef enum world_kind {
    MOTOR,
    LIMIT,
    PENDULUM,
    ROPE,
    WORLD_KIND_COUNT
} world_kind;

static const char *const kind_names[WORLD_KIND_COUNT] = {"motor", "limit", "pendulum", "rope"};

static const char *const solvers[] = {"sap", "primal-dual", "kkt", "scd", "dae", "xpbd", "pbd", "admm"};

enum {
    SOLVER_COUNT = sizeof solvers / sizeof solvers[0]
};

/* Relative round-off. In single precision the gradient of inertia has the round-off of m q / h^2. */
#ifdef SINEW_SINGLE
#define CLOSES 1e-5
#define EQUALS 1e-4
#else
#define CLOSES 1e-11
#define EQUALS 1e-9
#endif

/* A world and what the test knows of it. */
typedef struct driven_world {
    sinew_world *world;
    sinew_energy rope; /* hard springs; index -1: an arm */
    int32_t count;
    double h, kept, gravity[3];
    sinew_real m[PARTICLES_MAX], q_n[3 * PARTICLES_MAX], v_n[3 * PARTICLES_MAX], q[3 * PARTICLES_MAX];
    sinew_real r[3 * PARTICLES_MAX], reaction[3 * PARTICLES_MAX];
} driven_world;

static sinew_world_def random_def(random_cases *r, const char *solver, driven_world *w)
{
    sinew_world_def def = sinew_default_world_def();
    const double damping = random_index(r, 2) ? random_between(r, 0, 3) : 0;
    double down[3];
    random_direction(r, down);
    def.balance = true;
    def.thread_count = 1;
    def.time_step = (sinew_real)random_magnitude(r, 2e-3, 1e-2);
    def.damping = (sinew_real)damping;
    def.solver = sinew_default_solver_def(sinew_solver_by_name(solver));
    for (int c = 0; c < 3; c++) {
        def.gravity[c] = (sinew_real)(9.81 * down[c]);
        w->gravity[c] = (double)def.gravity[c];
    }
    w->h = (double)def.time_step;
    w->kept = exp(-(double)def.damping * w->h);
    return def;
}

static void throw_arm(rigid_arm *a, double speed)
{
    sinew_real q[12], v[12];
    sinew_world_get_positions(a->world, a->frames[4], 4, q);
    for (int i = 0; i < 12; i++) {
        const int p = i - i % 3, j = (i + 1) % 3, k = (i + 2) % 3;
        v[i] = (sinew_real)(speed * (a->axis[j] * (double)q[p + k] - a->axis[k] * (double)q[p + j]));
    }
    assert_int_equal(sinew_world_set_velocities(a->world, a->frames[4], 4, v), SINEW_OK);
}

static void make_driven_arm(random_cases *r, world_kind kind, const sinew_world_def *def, driven_world *w)
{
    double axis[3];
    sinew_error error = {0};
    random_direction(r, axis);
    const double speed = random_between(r, -4, 4), limits[2] = {-random_between(r, 0.01, 0.1), 0.1};
    rigid_arm a = make_arm(def, axis, ARM_HINGE);
    if (kind == MOTOR)
        add_to_arm(&a, SINEW_ENERGY_MOTOR, (const char *const[]){"speed", NULL}, &speed, &error);
    if (kind == LIMIT)
        add_to_arm(&a, SINEW_ENERGY_JOINT_LIMIT, (const char *const[]){"low", "high", NULL}, limits, &error);
    must(&error);
    if (kind != MOTOR)
        throw_arm(&a, speed);
    w->world = a.world;
    w->rope.index = -1;
}

/* An inextensible rope, with soft springs between its vertices i and i + 2, that hangs from a moving pin. */
static void make_driven_rope(random_cases *r, const sinew_world_def *def, driven_world *w)
{
    double along[3], end[3];
    sinew_real speed[3];
    random_direction(r, along);
    for (int c = 0; c < 3; c++) {
        end[c] = 2 * along[c];
        speed[c] = (sinew_real)random_between(r, -3, 3);
    }
    const int32_t vertices = 3 + random_index(r, 8);
    w->world = make_world(def);
    sinew_mesh *mesh = make_rope(vertices, (const double[3]){0, 0, 0}, end);
    const sinew_body body = add_mesh(w->world, mesh, 2, NULL, NULL);
    sinew_energy_def springs = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    springs.body = body;
    springs.hard = true;
    w->rope = add_energy(w->world, &springs);
    int32_t pairs[2 * PARTICLES_MAX];
    for (int32_t i = 0; i + 2 < vertices; i++) {
        pairs[2 * i] = i;
        pairs[2 * i + 1] = i + 2;
    }
    springs.hard = false;
    springs.elements = pairs;
    springs.element_count = vertices - 2;
    springs.parameters[0] = 50;
    add_energy(w->world, &springs);
    const sinew_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}}, {1, {speed[0], speed[1], speed[2]}, {0, 0, 0}}};
    const sinew_motion motion = {2, keys, {0, 0, 0}};
    sinew_pin_def pin = sinew_default_pin_def();
    sinew_error error = {0};
    pin.body = body;
    pin.vertices = (const int32_t[1]){0};
    pin.vertex_count = 1;
    pin.motion = &motion;
    sinew_world_add_pins(w->world, &pin, &error);
    must(&error);
    sinew_mesh_destroy(mesh);
}

/* Takes a step, with the state before and after it. */
static void step_driven(driven_world *w)
{
    sinew_error error = {0};
    w->count = sinew_world_particle_count(w->world);
    assert_in_range(w->count, 2, PARTICLES_MAX);
    sinew_world_get_masses(w->world, 0, w->count, w->m);
    sinew_world_get_positions(w->world, 0, w->count, w->q_n);
    sinew_world_get_velocities(w->world, 0, w->count, w->v_n);
    assert_false(sinew_world_step(w->world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
    sinew_world_get_positions(w->world, 0, w->count, w->q);
    sinew_world_field(w->world, SINEW_FIELD_RESIDUAL, 0, w->count, w->r, &error);
    must(&error);
    sinew_world_field(w->world, SINEW_FIELD_REACTION, 0, w->count, w->reaction, &error);
    must(&error);
}

static double way(const driven_world *w, int32_t particle, int c)
{
    return (double)w->q[3 * particle + c] - (double)w->q_n[3 * particle + c];
}

/* A sum of work, J, with the sum of the absolute values of its terms. */
typedef struct work_sum {
    double work, size;
} work_sum;

/* lambda n . (d_b - d_a) over the edges of the rope. */
static work_sum work_of_edges(const driven_world *w)
{
    sinew_real lambda[PARTICLES_MAX];
    sinew_error error = {0};
    int32_t edges = 0;
    work_sum sum = {0, 0};
    sinew_energy_multipliers(w->world, w->rope, PARTICLES_MAX, lambda, &edges, &error);
    must(&error);
    assert_int_equal(edges, w->count - 1);
    for (int32_t e = 0; e < edges; e++) {
        double n[3], length = 0;
        for (int c = 0; c < 3; c++) {
            n[c] = (double)w->q[3 * (e + 1) + c] - (double)w->q[3 * e + c];
            length += n[c] * n[c];
        }
        for (int c = 0; c < 3; c++) {
            const double pull = (double)lambda[e] * n[c] / sqrt(length);
            sum.work += pull * (way(w, e + 1, c) - way(w, e, c));
            sum.size += fabs(pull) * (fabs(way(w, e + 1, c)) + fabs(way(w, e, c)));
        }
    }
    return sum;
}

/* d . (m (u - w) / h - m g - r) over all particles of an arm, whose pins stand still. */
static work_sum work_by_newton(const driven_world *w)
{
    work_sum sum = {0, 0};
    for (int32_t i = 0; i < w->count; i++)
        for (int c = 0; c < 3; c++) {
            const double d = way(w, i, c), m = (double)w->m[i];
            const double momentum = m * (d / w->h - w->kept * (double)w->v_n[3 * i + c]) / w->h;
            sum.work += d * (momentum - m * w->gravity[c] - (double)w->r[3 * i + c]);
            /* Positions have the round-off of q, velocities that of q / h. */
            sum.size += fabs(d) * (fabs(momentum) + m * (9.81 + fabs((double)w->q[3 * i + c]) / (w->h * w->h)) +
                                   fabs((double)w->r[3 * i + c]));
        }
    return sum;
}

/* Sum of the absolute values of all terms of the balance, J. */
static double size_of(const sinew_balance *b)
{
    return fabs(b->kinetic[0]) + fabs(b->kinetic[1]) + fabs(b->elastic[0]) + fabs(b->elastic[1]) + fabs(b->gravity[0]) +
           fabs(b->gravity[1]) + fabs(b->pins) + fabs(b->forces) + fabs(b->targets) + fabs(b->constraints) +
           fabs(b->lost_integrator) + fabs(b->lost_damping) + fabs(b->lost_solver);
}

static bool keeps_multipliers(const char *solver)
{
    return strcmp(solver, "admm") != 0;
}

/* Sweeps measure their residual by stiffness, so Newton's law with their residual has no constraint forces. */
static bool measures_with_multipliers(const char *solver)
{
    return keeps_multipliers(solver) && strcmp(solver, "xpbd") != 0 && strcmp(solver, "pbd") != 0;
}

typedef struct worst_errors {
    double open, off, work;
} worst_errors;

static void check_step(driven_world *w, const char *solver, world_kind kind, int step, worst_errors *worst)
{
    sinew_balance b;
    sinew_error error = {0};
    step_driven(w);
    sinew_world_balance(w->world, &b, &error);
    must(&error);
    const work_sum newton = work_by_newton(w);
    const double open = fabs(b.unaccounted) / (size_of(&b) + newton.size);
    worst->open = fmax(worst->open, open);
    worst->work = fmax(worst->work, fabs(b.constraints));
    if (!(open <= CLOSES))
        fail_msg("%s, %s, step %d: %.3e J unaccounted of %.3e", kind_names[kind], solver, step, b.unaccounted,
                 size_of(&b));
    if (kind == ROPE ? !keeps_multipliers(solver) : !measures_with_multipliers(solver))
        return;
    const work_sum own = kind == ROPE ? work_of_edges(w) : newton;
    const double off = fabs(b.constraints - own.work) / (own.size + 1e-300);
    worst->off = fmax(worst->off, off);
    if (!(off <= EQUALS))
        fail_msg("%s, %s, step %d: work of constraints %.9e J, expected %.9e", kind_names[kind], solver, step,
                 b.constraints, own.work);
}

static void balances_close_with_hard_constraints(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("work of constraints", 5, 200);
    worst_errors worst[SOLVER_COUNT][WORLD_KIND_COUNT] = {{{0}}};
    for (int c = 0; c < r.count; c++)
        for (int k = 0; k < SOLVER_COUNT; k++)
            for (int kind = 0; kind < WORLD_KIND_COUNT; kind++) {
                if (!keeps_multipliers(solvers[k]) && kind != ROPE)
                    continue; /* admm has no joints */
                driven_world w = {0};
                const sinew_world_def def = random_def(&r, solvers[k], &w);
                if (kind == ROPE)
                    make_driven_rope(&r, &def, &w);
                else
                    make_driven_arm(&r, (world_kind)kind, &def, &w);
                for (int i = 0; i < STEPS; i++)
                    check_step(&w, solvers[k], (world_kind)kind, i, &worst[k][kind]);
                sinew_world_destroy(w.world);
            }
    for (int kind = 0; kind < WORLD_KIND_COUNT; kind++)
        for (int k = 0; k < SOLVER_COUNT; k++)
            printf("    %-8s %-12s work up to %8.2e J, unaccounted %.1e, own sum off by %.1e\n", kind_names[kind],
                   solvers[k], worst[k][kind].work, worst[k][kind].open, worst[k][kind].off);
}

/* Without gravity, the first step of a motor does the work sum m |u|^2: half becomes kinetic energy, half is the loss of
 * implicit Euler. */
static void a_motor_starts_an_arm(void **unused)
{
    (void)unused;
    const double axis[3] = {0, 0, 1}, speed = 2;
    for (int k = 0; k < 5; k++) {
        sinew_world_def def = sinew_default_world_def();
        sinew_error error = {0};
        sinew_balance b;
        def.balance = true;
        def.time_step = (sinew_real)0.001;
        def.solver = sinew_default_solver_def(sinew_solver_by_name(solvers[k]));
        memset(def.gravity, 0, sizeof def.gravity);
        rigid_arm a = make_arm(&def, axis, ARM_HINGE);
        add_to_arm(&a, SINEW_ENERGY_MOTOR, (const char *const[]){"speed", NULL}, &speed, &error);
        must(&error);
        sinew_world_step(a.world, NULL);
        sinew_world_balance(a.world, &b, &error);
        must(&error);
        /* Inertia about the hinge: 10 kg, 1 m by 0.1 m. */
        const double inertia = 10 * ((1 + 0.01) / 12 + 0.25), wanted = inertia * speed * speed;
        const double close = sizeof(sinew_real) == 4 ? 1e-2 : 1e-4;
        printf("    %-12s %.6f J, closed form %.6f J\n", solvers[k], b.constraints, wanted);
        assert_true(fabs(b.constraints - wanted) <= close * wanted);
        assert_true(fabs(b.kinetic[1] - wanted / 2) <= close * wanted);
        sinew_world_destroy(a.world);
    }
}

/* A soft motor works through its target, a hard one through its constraint: both turn the same arm. */
static void a_soft_motor_works_through_its_target(void **unused)
{
    (void)unused;
    const double axis[3] = {0, 0, 1}, speed = 2;
    double hard = 0, soft = 0;
    for (int k = 0; k < 2; k++) {
        sinew_world_def def = sinew_default_world_def();
        sinew_error error = {0};
        def.balance = true;
        def.time_step = (sinew_real)0.001;
        def.solver = sinew_default_solver_def(sinew_solver_by_name("primal-dual"));
        rigid_arm a = make_arm(&def, axis, ARM_HINGE);
        sinew_energy_def motor = sinew_default_energy_def(SINEW_ENERGY_MOTOR);
        motor.body.index = -1;
        motor.element_count = 1;
        motor.elements = a.frames;
        motor.hard = k == 0;
        motor.parameters[sinew_energy_parameter(SINEW_ENERGY_MOTOR, "speed")] = (sinew_real)speed;
        motor.parameters[sinew_energy_parameter(SINEW_ENERGY_MOTOR, "stiffness")] = (sinew_real)2e5;
        add_energy(a.world, &motor);
        for (int i = 0; i < 100; i++) {
            sinew_balance b;
            sinew_world_step(a.world, NULL);
            sinew_world_balance(a.world, &b, &error);
            must(&error);
            hard += k == 0 ? b.constraints : 0;
            soft += k == 1 ? b.targets : 0;
        }
        sinew_world_destroy(a.world);
    }
    printf("    work of a hard motor %.4f J, of a stiff one %.4f J\n", hard, soft);
    assert_true(fabs(soft - hard) <= 0.1 * hard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balances_close_with_hard_constraints),
        cmocka_unit_test(a_motor_starts_an_arm),
        cmocka_unit_test(a_soft_motor_works_through_its_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
