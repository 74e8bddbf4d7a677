/* SPDX-License-Identifier: MIT
 *
 * test_constraint_work.c: the energy balance of steps with hard constraints. For random worlds (arms with motors, arms
 * at limits, pendulums, inextensible ropes at moving pins) and every solver that keeps them hard, the balance closes to
 * round-off, and the work of constraints equals a sum that the test computes on its own:
 *
 *     edges   sum of lambda n . (d_b - d_a) over edges of ropes and of rigid frames, from multipliers and positions
 *     joints  sum of lambda (C(q) - C(q_n)): with the post fixed, C is linear in the arm's particles (joint.h)
 *     arms    sum over the free particles of d . (m (u - w) / h - m g - r), by Newton's second law, without multipliers
 *
 * with the displacement d, u = d / h, the damped velocity w and the residual r.
 */
#include "contact_worlds.h"
#include "failing_allocator.h"
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
#define CLOSES 1e-13
#define EQUALS 1e-12
#endif

/* A world and what the test knows of it. */
typedef struct driven_world {
    sinew_world *world;
    world_kind kind;
    sinew_energy edges, joint, drive; /* hard springs of rope or arm, joint, and motor or limit */
    int32_t first_edge_particle;
    double axis[3], speed, limits[2];
    double rest[8][3]; /* m: particles of post and arm at rest */
    int32_t count, steps;
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
    w->edges = sinew_world_energy_at(a.world, 1);
    w->joint = sinew_world_energy_at(a.world, 2);
    w->drive = sinew_world_energy_at(a.world, 3);
    w->first_edge_particle = a.frames[4];
    w->speed = speed;
    memcpy(w->axis, axis, sizeof axis);
    memcpy(w->limits, limits, sizeof limits);
    for (int p = 0; p < 8; p++) {
        sinew_real x[3];
        sinew_world_get_positions(a.world, a.frames[p], 1, x);
        for (int i = 0; i < 3; i++)
            w->rest[p][i] = (double)x[i];
    }
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
    w->edges = add_energy(w->world, &springs);
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
    w->steps++;
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

static int32_t multipliers_of(const driven_world *w, sinew_energy energy, sinew_real lambda[PARTICLES_MAX])
{
    sinew_error error = {0};
    int32_t count = 0;
    sinew_energy_multipliers(w->world, energy, PARTICLES_MAX, lambda, &count, &error);
    must(&error);
    return count;
}

/* Adds lambda n . (d_b - d_a) of one edge. */
static void add_edge(const driven_world *w, int32_t a, int32_t b, double lambda, work_sum *sum)
{
    double n[3], length = 0;
    for (int c = 0; c < 3; c++) {
        n[c] = (double)w->q[3 * b + c] - (double)w->q[3 * a + c];
        length += n[c] * n[c];
    }
    for (int c = 0; c < 3; c++) {
        const double pull = lambda * n[c] / sqrt(length);
        sum->work += pull * (way(w, b, c) - way(w, a, c));
        sum->size += fabs(pull) * (fabs(way(w, b, c)) + fabs(way(w, a, c)));
    }
}

static work_sum work_of_rope(const driven_world *w)
{
    sinew_real lambda[PARTICLES_MAX];
    work_sum sum = {0, 0};
    assert_int_equal(multipliers_of(w, w->edges, lambda), w->count - 1);
    for (int32_t e = 0; e < w->count - 1; e++)
        add_edge(w, e, e + 1, (double)lambda[e], &sum);
    return sum;
}

static double determinant(const double u[3], const double v[3], const double w[3])
{
    return u[0] * (v[1] * w[2] - v[2] * w[1]) - u[1] * (v[0] * w[2] - v[2] * w[0]) + u[2] * (v[0] * w[1] - v[1] * w[0]);
}

/* change = displacement in this step of a vector (of_point: of a point) of the arm that is v at rest: the affine map of
 * the frame's four particles. */
static void change_in_arm(const driven_world *w, const double v[3], bool of_point, double change[3])
{
    double edge[3][3], right[3], weight[4] = {of_point ? 1 : 0, 0, 0, 0};
    for (int c = 0; c < 3; c++) {
        right[c] = v[c] - (of_point ? w->rest[4][c] : 0);
        for (int a = 0; a < 3; a++)
            edge[a][c] = w->rest[5 + a][c] - w->rest[4][c];
    }
    for (int a = 0; a < 3; a++) {
        weight[a + 1] = determinant(right, edge[(a + 1) % 3], edge[(a + 2) % 3]) /
                        determinant(edge[a], edge[(a + 1) % 3], edge[(a + 2) % 3]);
        weight[0] -= weight[a + 1];
    }
    for (int c = 0; c < 3; c++) {
        change[c] = 0;
        for (int a = 0; a < 4; a++)
            change[c] += weight[a] * way(w, w->first_edge_particle + a, c);
    }
}

/* m: root mean square distance of the particles from the centroids of their frames. */
static double arm_of_joint(const driven_world *w)
{
    double sum = 0;
    for (int p = 0; p < 8; p++)
        for (int c = 0; c < 3; c++) {
            const int first = p / 4 * 4;
            double middle = 0;
            for (int a = first; a < first + 4; a++)
                middle += w->rest[a][c] / 4;
            sum += pow(w->rest[p][c] - middle, 2);
        }
    return sqrt(sum / 8);
}

/* e [3][3]: directions of the joint; the first is that of the coordinate with the smallest share of the axis. */
static void directions_of_joint(const double axis[3], double e[3][3])
{
    int min = 0;
    for (int i = 1; i < 3; i++)
        min = fabs(axis[i]) < fabs(axis[min]) ? i : min;
    for (int i = 0; i < 3; i++) {
        e[2][i] = axis[i];
        e[0][i] = ((i == min) - axis[min] * axis[i]) / sqrt(1 - axis[min] * axis[min]);
    }
    for (int i = 0; i < 3; i++)
        e[1][i] = axis[(i + 1) % 3] * e[0][(i + 2) % 3] - axis[(i + 2) % 3] * e[0][(i + 1) % 3];
}

/* Adds lambda factor change . e, the change of one product in C times its multiplier. */
static void add_product(double lambda, double factor, const double change[3], const double e[3], work_sum *sum)
{
    for (int c = 0; c < 3; c++) {
        sum->work += lambda * factor * change[c] * e[c];
        sum->size += fabs(lambda * factor * change[c]);
    }
}

/* Adds lambda (C(q) - C(q_n)), C = r sin(theta - angle) times sign. */
static void add_turn(double lambda, double r, double angle, double sign, double f_1[3], double e[3][3], work_sum *sum)
{
    add_product(lambda, -sign * r * sin(angle), f_1, e[0], sum);
    add_product(lambda, sign * r * cos(angle), f_1, e[1], sum);
}

static work_sum work_of_arm(const driven_world *w)
{
    const double r = arm_of_joint(w), origin[3] = {0, 0, 0};
    double e[3][3], P[3], f_1[3], f_3[3];
    sinew_real lambda[PARTICLES_MAX];
    work_sum sum = {0, 0};
    assert_int_equal(multipliers_of(w, w->edges, lambda), 6);
    for (int32_t a = 0, k = 0; a < 4; a++)
        for (int32_t b = a + 1; b < 4; b++)
            add_edge(w, w->first_edge_particle + a, w->first_edge_particle + b, (double)lambda[k++], &sum);
    directions_of_joint(w->axis, e);
    change_in_arm(w, origin, true, P);
    change_in_arm(w, e[0], false, f_1);
    change_in_arm(w, e[2], false, f_3);
    assert_int_equal(multipliers_of(w, w->joint, lambda), 6);
    for (int i = 0; i < 3; i++)
        add_product((double)lambda[i], 1, P, e[i], &sum);
    for (int i = 0; i < 2; i++)
        add_product((double)lambda[3 + i], r, f_3, e[i], &sum);
    if (w->kind == PENDULUM)
        return sum;
    assert_int_equal(multipliers_of(w, w->drive, lambda), w->kind == MOTOR ? 1 : 2);
    if (w->kind == MOTOR)
        add_turn((double)lambda[0], r, w->speed * w->h * w->steps, 1, f_1, e, &sum);
    for (int i = 0; i < 2 && w->kind == LIMIT; i++)
        add_turn((double)lambda[i], r, w->limits[i], i == 0 ? 1 : -1, f_1, e, &sum);
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

static void compare_work(work_sum own, double found, const driven_world *w, const char *solver, worst_errors *worst)
{
    const double off = fabs(found - own.work) / (own.size + 1e-300);
    worst->off = fmax(worst->off, off);
    if (!(off <= EQUALS))
        fail_msg("%s, %s, step %d: work of constraints %.9e J, expected %.9e", kind_names[w->kind], solver, w->steps,
                 found, own.work);
}

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
    if (!keeps_multipliers(solver))
        return;
    compare_work(kind == ROPE ? work_of_rope(w) : work_of_arm(w), b.constraints, w, solver, worst);
    if (kind != ROPE && measures_with_multipliers(solver))
        compare_work(newton, b.constraints, w, solver, worst);
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
                driven_world w = {.kind = (world_kind)kind};
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

/* Without gravity, the first step of a motor does the work sum m |u|^2: half becomes kinetic energy, half is the
 * loss of implicit Euler. */
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

/* An inextensible rope falls flat on the floor: contacts and constraints are separate lines of the balance. */
static void a_rope_lies_on_the_floor(void **unused)
{
    (void)unused;
    const sinew_solver_kind kinds[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD};
    for (int k = 0; k < 2; k++) {
        sinew_world_def def = sinew_default_world_def();
        sinew_error error = {0};
        double touched = 0, pulled = 0;
        def.balance = true;
        def.thread_count = 1;
        def.solver = sinew_default_solver_def(kinds[k]);
        sinew_world *world = make_world(&def);
        set_touch(world, 2e-3, 0.3);
        add_floor(world);
        sinew_mesh *mesh = make_rope(9, (const double[3]){0, 0.02, 0}, (const double[3]){0.8, 0.1, 0});
        sinew_energy_def springs = sinew_default_energy_def(SINEW_ENERGY_SPRING);
        springs.body = add_mesh(world, mesh, 1, NULL, NULL);
        springs.hard = true;
        add_energy(world, &springs);
        for (int i = 0; i < 30; i++) {
            sinew_balance b;
            sinew_world_step(world, NULL);
            sinew_world_balance(world, &b, &error);
            must(&error);
            const double size = size_of(&b) + fabs(b.contacts) + fabs(b.restitution);
            if (!(fabs(b.unaccounted) <= 100 * CLOSES * size))
                fail_msg("%s, step %d: %.3e J unaccounted of %.3e", solvers[5 + k], i, b.unaccounted, size);
            touched += fabs(b.contacts);
            pulled += fabs(b.constraints);
        }
        printf("    %-5s contacts %.3e J, constraints %.3e J\n", solvers[5 + k], touched, pulled);
        assert_true(touched > 0 && pulled > 0);
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

static uint64_t hash_of_arm(bool balance, const char *solver)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    def.balance = balance;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(sinew_solver_by_name(solver));
    rigid_arm a = make_arm(&def, (const double[3]){0, 0.6, 0.8}, ARM_HINGE);
    add_to_arm(&a, SINEW_ENERGY_MOTOR, (const char *const[]){"speed", NULL}, (const double[]){2}, &error);
    must(&error);
    for (int i = 0; i < 5; i++)
        sinew_world_step(a.world, NULL);
    const uint64_t hash = sinew_world_state_hash(a.world);
    sinew_world_destroy(a.world);
    return hash;
}

static void results_do_not_depend_on_it(void **unused)
{
    (void)unused;
    for (int k = 0; k < SOLVER_COUNT; k++)
        if (keeps_multipliers(solvers[k]))
            assert_true(hash_of_arm(true, solvers[k]) == hash_of_arm(false, solvers[k]));
}

/* A warm step does not allocate. Without memory a step is refused, and a later one has its balance; so has a step after
 * a new hard energy. */
static void memory_of_hard_constraints(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    sinew_balance b;
    def.allocator = hooks_of(&memory);
    def.thread_count = 1;
    def.balance = true;
    def.solver = sinew_default_solver_def(sinew_solver_by_name("primal-dual"));
    rigid_arm a = make_arm(&def, (const double[3]){0, 0, 1}, ARM_HINGE);
    sinew_world_prepare(a.world, &error);
    must(&error);
    int refusals = 0;
    for (memory.fail_at = 1;; memory.fail_at++, refusals++) {
        memory.calls = 0;
        if (!(sinew_world_step(a.world, NULL) & SINEW_STEP_UNPREPARED))
            break;
        assert_non_null(strstr(sinew_world_error(a.world), "memory"));
    }
    printf("    %d allocations refused\n", refusals);
    assert_true(refusals > 5);
    memory.fail_at = 0;
    const int64_t calls = memory.calls;
    sinew_world_step(a.world, NULL);
    sinew_world_step(a.world, NULL);
    assert_int_equal(memory.calls, calls);
    add_to_arm(&a, SINEW_ENERGY_MOTOR, (const char *const[]){"speed", NULL}, (const double[]){2}, &error);
    must(&error);
    sinew_world_step(a.world, NULL);
    sinew_world_balance(a.world, &b, &error);
    must(&error);
    assert_true(b.constraints > 1 && fabs(b.unaccounted) <= 100 * CLOSES * size_of(&b));
    sinew_world_destroy(a.world);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balances_close_with_hard_constraints),  cmocka_unit_test(a_motor_starts_an_arm),
        cmocka_unit_test(a_soft_motor_works_through_its_target), cmocka_unit_test(a_rope_lies_on_the_floor),
        cmocka_unit_test(results_do_not_depend_on_it),           cmocka_unit_test(memory_of_hard_constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
