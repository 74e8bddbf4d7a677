/* SPDX-License-Identifier: MIT
 *
 * test_contact_physics.c: contact against laws of mechanics: motion is unaffected before surfaces touch, contact forces
 * equal the weight, momentum is conserved, colliders drag and press bodies, and filters select the pairs in contact.
 */
#include "make_world.h"
#include "sinew/contact.h"

#ifdef SINEW_SINGLE
#define BORNE           2e-3 /* relative error of a weight */
#define BORNE_BY_SWEEPS 5e-2
#define KEPT            1e-5 /* relative error of a momentum */
#define REBOUND         2e-2
#define PRESSED         5e-2
#else
#define BORNE           1e-6
#define BORNE_BY_SWEEPS 1e-3
#define KEPT            1e-10
#define REBOUND         1e-2
#define PRESSED         2e-2
#endif

#define G         9.81
#define H         (1.0 / 60)
#define THICKNESS 1e-3

static const sinew_solver_kind solvers[] = {
    SINEW_SOLVER_NEWTON, SINEW_SOLVER_PD,   SINEW_SOLVER_QN,    SINEW_SOLVER_ADMM,        SINEW_SOLVER_XPBD,
    SINEW_SOLVER_PBD,    SINEW_SOLVER_PBNG, SINEW_SOLVER_MPBNG, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_SAP};
enum {
    SOLVERS = sizeof solvers / sizeof solvers[0]
};

/* ---- Worlds ---------------------------------------------------------------------------------- */

static sinew_world *new_world(sinew_solver_kind kind, int32_t iterations)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    def.solver.iterations = iterations > 0 ? iterations : def.solver.iterations;
    return make_world(&def);
}

static void touch(sinew_world *world, double mu, double restitution)
{
    sinew_error error = {0};
    sinew_contact_def def = sinew_default_contact_def();
    def.friction = (sinew_real)mu;
    def.restitution = (sinew_real)restitution;
    def.thickness = (sinew_real)THICKNESS;
    sinew_world_set_contact(world, &def, &error);
    must(&error);
}

static sinew_collider add_collider(sinew_world *world, const sinew_collider_def *def)
{
    sinew_error error = {0};
    const sinew_collider collider = sinew_world_add_collider(world, def, &error);
    must(&error);
    return collider;
}

static sinew_collider add_floor(sinew_world *world)
{
    const sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    return add_collider(world, &def);
}

/* A cube of 0.2 m with its lowest corner at `corner`, rotated by `angle` about z through that corner. */
static sinew_body add_cube(sinew_world *world, int cells, double E, const double corner[3], double angle,
                           const double velocity[3])
{
    sinew_mesh *mesh = make_beam(cells, cells, cells, 0.2, 0.2, 0.2);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < n; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        const double a = (double)X[0] + 0.1, b = (double)X[1] + 0.1;
        x[3 * i] = (sinew_real)(corner[0] + cos(angle) * a - sin(angle) * b);
        x[3 * i + 1] = (sinew_real)(corner[1] + sin(angle) * a + cos(angle) * b);
        x[3 * i + 2] = (sinew_real)(corner[2] + (double)X[2] + 0.1);
        for (int c = 0; velocity && c < 3; c++)
            v[3 * i + c] = (sinew_real)velocity[c];
    }
    const sinew_body body = add_mesh(world, mesh, 1000, x, v);
    add_material(world, body, SINEW_ENERGY_STRAIN, E, 0);
    free(x);
    free(v);
    sinew_mesh_destroy(mesh);
    return body;
}

static sinew_contact_report report_of(const sinew_world *world)
{
    sinew_error error = {0};
    sinew_contact_report report;
    sinew_world_contact_report(world, &report, &error);
    must(&error);
    return report;
}

static uint32_t steps(sinew_world *world, int count)
{
    uint32_t bits = 0;
    for (int i = 0; i < count; i++) {
        bits |= sinew_world_step(world, NULL);
        if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
            fail_msg("step %d: bits %x %s", i, bits, sinew_world_error(world));
    }
    return bits;
}

static sinew_measures measure(sinew_world *world)
{
    sinew_measures m;
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    return m;
}

static void force_on(const sinew_world *world, sinew_collider collider, double force[3], double torque[3])
{
    sinew_error error = {0};
    sinew_collider_force(world, collider, force, torque, &error);
    must(&error);
}

static const char *name_of(sinew_solver_kind kind)
{
    return sinew_get_solver_info(kind)->name;
}

/* ---- Free motion before contact -------------------------------------------------------------- */

/* Until the first contact has a force, a world with contact has the same bits as a world without. */
static void test_fall_is_exact(void **state)
{
    (void)state;
    for (int k = 0; k < SOLVERS; k++) {
        const double above[3] = {0, 0.1, 0};
        sinew_world *with = new_world(solvers[k], 0), *without = new_world(solvers[k], 0);
        touch(with, 0.5, 0);
        add_floor(with);
        add_cube(with, 2, 1e5, above, 0.1, NULL);
        add_cube(without, 2, 1e5, above, 0.1, NULL);
        int step = 0;
        for (; step < 30; step++) {
            steps(with, 1);
            steps(without, 1);
            if (report_of(with).contacts > 0)
                break;
            if (sinew_world_state_hash(with) != sinew_world_state_hash(without))
                fail_msg("%s: other bits in step %d, before anything touches", name_of(solvers[k]), step);
        }
        /* y = 0.1 - g h^2 n (n + 1) / 2 reaches the thickness in step 8. */
        assert_int_equal(step, 8);
        sinew_world_destroy(with);
        sinew_world_destroy(without);
    }
}

/* Contact is enabled, and bodies are out of reach of each other. */
static void test_nothing_near(void **state)
{
    (void)state;
    for (int k = 0; k < SOLVERS; k++) {
        sinew_world *worlds[2];
        for (int w = 0; w < 2; w++) {
            const double one[3] = {0, 0, 0}, other[3] = {3, 0, 0}, spin[3] = {0.1, 0, 0.2};
            worlds[w] = new_world(solvers[k], 0);
            if (w == 1)
                touch(worlds[w], 0.5, 0);
            add_cube(worlds[w], 2, 1e4, one, 0.3, spin);
            add_cube(worlds[w], 1, 1e5, other, 0, NULL);
            steps(worlds[w], 20);
        }
        if (sinew_world_state_hash(worlds[0]) != sinew_world_state_hash(worlds[1]))
            fail_msg("%s: contact that is far away changes bits", name_of(solvers[k]));
        assert_int_equal(report_of(worlds[1]).contacts, 0);
        sinew_world_destroy(worlds[0]);
        sinew_world_destroy(worlds[1]);
    }
}

/* ---- Weight ---------------------------------------------------------------------------------- */

/* A block at rest: the floor carries its weight, without torque about the point below it; the offset is kept. */
static void test_weight(void **state)
{
    (void)state;
    for (int k = 0; k < SOLVERS; k++) {
        const double corner[3] = {0.3, THICKNESS, -0.1};
        sinew_world *world = new_world(solvers[k], 200);
        touch(world, 0.5, 0);
        const sinew_collider floor = add_floor(world);
        add_cube(world, 2, 1e6, corner, 0, NULL);
        sinew_error error = {0};
        sinew_world_set_damping(world, 20, &error);
        steps(world, 90);
        double f[3], t[3];
        force_on(world, floor, f, t);
        const sinew_measures m = measure(world);
        const double weight = m.mass * G, bound = solvers[k] == SINEW_SOLVER_NEWTON ? BORNE : BORNE_BY_SWEEPS;
        const sinew_contact_report r = report_of(world);
        print_message("%-7s floor bears %.9f of the weight, violation %.1e of the thickness\n", name_of(solvers[k]),
                      -f[1] / weight, r.violation / THICKNESS);
        assert_true(fabs(f[1] / weight + 1) < bound);
        assert_true(fabs(f[0]) < bound * weight && fabs(f[2]) < bound * weight);
        /* The torque about the origin is x m g. */
        assert_true(fabs(t[2] + m.centre_of_mass[0] * weight) < bound * weight);
        assert_true(r.violation < 0.01 * THICKNESS);
        sinew_world_destroy(world);
    }
}

/* On a tilted plane through a given point, force and torque are those of the weight at the centre of mass. */
static void test_torque_of_tilted_plane(void **state)
{
    (void)state;
    const double angle = 0.3;
    sinew_world *world = new_world(SINEW_SOLVER_NEWTON, 200);
    touch(world, 0.8, 0);
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    def.rotation[2] = (sinew_real)angle;
    def.position[0] = (sinew_real)-0.4;
    def.position[1] = (sinew_real)(-0.4 * tan(angle));
    const sinew_collider slope = add_collider(world, &def);
    const double corner[3] = {-THICKNESS * sin(angle), THICKNESS * cos(angle), 0};
    add_cube(world, 2, 1e6, corner, angle, NULL);
    sinew_error error = {0};
    sinew_world_set_damping(world, 20, &error);
    steps(world, 90);
    double f[3], t[3];
    force_on(world, slope, f, t);
    const sinew_measures m = measure(world);
    const double weight = m.mass * G, arm[2] = {m.centre_of_mass[0] + 0.4, m.centre_of_mass[1] + 0.4 * tan(angle)};
    print_message("tilted: force %.9f %.1e of the weight, torque %.9f of the weight's\n", -f[1] / weight, f[0] / weight,
                  -t[2] / (arm[0] * weight));
    assert_true(fabs(f[1] / weight + 1) < BORNE && fabs(f[0]) < BORNE * weight);
    assert_true(fabs(t[2] + arm[0] * weight) < BORNE * weight);
    sinew_world_destroy(world);
}

/* ---- Impacts --------------------------------------------------------------------------------- */

/* A particle that falls from rest rebounds to e^2 of the height, less implicit Euler's loss v h / 2. */
static void test_restitution(void **state)
{
    (void)state;
    const double heights[4] = {0.2, 0.5, 0.8, 1};
    for (int i = 0; i < 4; i++) {
        const sinew_real start[3] = {0, 1 + (sinew_real)THICKNESS, 0};
        sinew_error error = {0};
        sinew_mesh_def point = sinew_default_mesh_def();
        point.vertex_count = 1;
        point.positions = start;
        sinew_mesh *mesh = sinew_mesh_create(&point, &error);
        must(&error);
        sinew_world_def def = sinew_default_world_def();
        def.thread_count = 1;
        def.time_step = (sinew_real)2.5e-4;
        sinew_world *world = make_world(&def);
        touch(world, 0, heights[i]);
        add_floor(world);
        const sinew_real mass = 1;
        sinew_body_def body = sinew_default_body_def();
        body.mesh = mesh;
        body.masses = &mass;
        add_body(world, &body);
        double top = 0;
        for (int s = 0; s < 4000; s++) {
            sinew_real x[3], v[3];
            steps(world, 1);
            sinew_world_get_positions(world, 0, 1, x);
            sinew_world_get_velocities(world, 0, 1, v);
            top = (double)v[1] > 0 || top > 0 ? fmax(top, (double)x[1] - THICKNESS) : 0;
        }
        print_message("restitution %.1f: to %.5f of the height, e^2 = %.2f\n", heights[i], top,
                      heights[i] * heights[i]);
        assert_true(fabs(top - heights[i] * heights[i]) < REBOUND * heights[i] * heights[i]);
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
    }
}

static double difference(const double a[3], const double b[3])
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

/* Two free cubes collide. A step without truncated vertices conserves linear momentum; one with them sets the bit. */
static void test_momentum(void **state)
{
    (void)state;
    for (int e = 0; e < 2; e++) {
        const double left[3] = {0, 0, 0}, right[3] = {0.25, 0.06, 0.03}, there[3] = {2, 0, 0}, back[3] = {-1, 0, 0};
        const sinew_real none[3] = {0, 0, 0};
        sinew_error error = {0};
        sinew_world *world = new_world(SINEW_SOLVER_NEWTON, 100);
        sinew_world_set_gravity(world, none, &error);
        sinew_world_set_time_step(world, (sinew_real)1e-3, &error);
        touch(world, 0.4, 0.5 * e);
        add_cube(world, 2, 1e5, left, 0, there);
        add_cube(world, 2, 1e5, right, 0.2, back);
        double size = difference(measure(world).linear_momentum, (const double[3]){0, 0, 0}), worst = 0;
        int bore = 0, held = 0;
        for (int s = 0; s < 60; s++) {
            const sinew_measures before = measure(world);
            const uint32_t bits = steps(world, 1);
            const double change = difference(measure(world).linear_momentum, before.linear_momentum);
            bore += report_of(world).contacts;
            held += (bits & SINEW_STEP_TRUNCATED) != 0;
            worst = fmax(worst, bits & SINEW_STEP_TRUNCATED ? 0 : change);
        }
        print_message("restitution %.1f: linear momentum changes by %.1e of itself in a step; %d steps held back\n",
                      0.5 * e, worst / size, held);
        assert_true(bore > 0 && held < 6);
        assert_true(worst < KEPT * size);
        sinew_world_destroy(world);
    }
}

/* ---- Moving colliders ------------------------------------------------------------------------ */

/* A plane that moves within itself accelerates the block with mu g, then carries it along. */
static void test_conveyor(void **state)
{
    (void)state;
    const double mu = 0.4, speed = 1;
    const double corner[3] = {0, THICKNESS, 0};
    sinew_key keys[2] = {{.time = 0}, {.time = 10}};
    keys[1].translation[0] = (sinew_real)(10 * speed);
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_world *world = new_world(SINEW_SOLVER_NEWTON, 100);
    touch(world, mu, 0);
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    def.motion = &motion;
    add_collider(world, &def);
    add_cube(world, 2, 1e6, corner, 0, NULL);
    steps(world, 6);
    const sinew_measures early = measure(world);
    print_message("belt: %.6f m/s after 6 steps, mu g t = %.6f;", early.linear_momentum[0] / early.mass,
                  mu * G * 6 * H);
    assert_true(fabs(early.linear_momentum[0] / early.mass / (mu * G * 6 * H) - 1) < 0.02);
    steps(world, 60);
    const sinew_measures late = measure(world);
    print_message(" %.6f at last\n", late.linear_momentum[0] / late.mass);
    assert_true(fabs(late.linear_momentum[0] / late.mass / speed - 1) < 1e-3);
    sinew_world_destroy(world);
}

/* A collider box that presses `depth` deep, within `time`, on a cube on the floor. */
typedef struct press {
    sinew_world *world;
    sinew_collider floor, piston;
} press;

static press make_press(sinew_solver_kind kind, int32_t iterations, double mu, double depth, double time)
{
    const double corner[3] = {-0.1, THICKNESS, -0.1};
    sinew_key keys[2] = {{.time = 0}, {.time = (sinew_real)time}};
    keys[1].translation[1] = (sinew_real)-depth;
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    press p = {.world = new_world(kind, iterations)};
    touch(p.world, mu, 0);
    p.floor = add_floor(p.world);
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_BOX);
    def.size[1] = (sinew_real)0.1;
    def.position[1] = (sinew_real)(0.2 + 2.5 * THICKNESS + 0.05);
    def.motion = &motion;
    p.piston = add_collider(p.world, &def);
    add_cube(p.world, 2, 1e4, corner, 0, NULL);
    return p;
}

/* Without friction the cube is in uniaxial strain: floor and piston carry k A e, less or more by half the weight. */
static void test_slow_piston(void **state)
{
    (void)state;
    for (int k = 0; k < SOLVERS; k++) {
        const bool sweeps = solvers[k] == SINEW_SOLVER_XPBD || solvers[k] == SINEW_SOLVER_PBD;
        press p = make_press(solvers[k], 0, 0, 0.06, 0.6);
        double f[3], t[3];
        steps(p.world, 36);
        force_on(p.world, p.piston, f, t);
        const double exact = 1e4 * 0.04 * (0.06 - 0.5 * THICKNESS) / 0.2 - 0.5 * 0.008 * 1000 * G;
        print_message("%-7s piston: %.4f N, exact %.4f N\n", name_of(solvers[k]), f[1], exact);
        assert_true(sweeps || fabs(f[1] - exact) < PRESSED * exact);
        assert_true(sweeps || report_of(p.world).motion_lag < THICKNESS);
        sinew_world_destroy(p.world);
    }
}

/* A piston whose motion leads through the floor flattens the block and lags behind; no surfaces intersect, even in
 * unsolved steps. */
static void test_fast_piston(void **state)
{
    (void)state;
    for (int k = 0; k < SOLVERS; k++) {
        press p = make_press(solvers[k], 5, 0.3, 0.4, 0.5);
        double held = 0;
        int crossings = 0;
        uint32_t bits = 0;
        for (int s = 0; s < 36; s++) {
            bits |= steps(p.world, 1);
            const sinew_contact_report r = report_of(p.world);
            held = fmax(held, r.motion_lag);
            crossings += r.intersections;
        }
        print_message("%-7s piston held back %.3f m, %d crossings, bits %x\n", name_of(solvers[k]), held, crossings,
                      bits);
        assert_true(held > 0 && crossings == 0 && bits & SINEW_STEP_TRUNCATED);
        sinew_world_destroy(p.world);
    }
}

/* m: the largest distance between the surface of a collider and the one that its motion prescribes now. */
static double collider_lag(const sinew_world *world, sinew_collider collider)
{
    sinew_real now[3 * 64], wanted[3 * 64];
    int32_t corners[3 * 128], vertices = 0, triangles = 0;
    double lag = 0;
    assert_int_equal(sinew_collider_surface(world, collider, 1, &vertices, NULL, &triangles, NULL, NULL), SINEW_OK);
    assert_true(vertices <= 64 && triangles <= 128);
    sinew_collider_surface(world, collider, 1, &vertices, now, &triangles, corners, NULL);
    sinew_collider_surface_at(world, collider, (double)sinew_world_time(world), 1, &vertices, wanted, &triangles,
                              corners, NULL);
    for (int32_t v = 0; v < vertices; v++) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += pow((double)now[3 * v + c] - (double)wanted[3 * v + c], 2);
        lag = fmax(lag, sqrt(square));
    }
    return lag;
}

/* m: height of the first vertex of a collider. */
static double collider_height(const sinew_world *world, sinew_collider collider)
{
    sinew_real x[3 * 64];
    int32_t corners[3 * 128], vertices = 64, triangles = 128;
    assert_int_equal(sinew_collider_surface(world, collider, 1, &vertices, x, &triangles, corners, NULL), SINEW_OK);
    return (double)x[1];
}

/* Planes at heights 0 and `ceiling` keep vertices of the cube's surface at the distance of the thickness; vertex 13 is
 * in the middle. */
static void check_violation(const sinew_world *world, double ceiling)
{
    sinew_real *q = positions_of(world);
    double violation = 0;
    for (int32_t i = 0; i < sinew_world_particle_count(world); i++) {
        const double y = (double)q[3 * i + 1], clearance = fmin(y, ceiling - y);
        violation = i == 13 ? violation : fmax(violation, THICKNESS - clearance);
    }
    free(q);
    const double reported = report_of(world).violation;
    if (!(fabs(reported - violation) <= 1e-6))
        fail_msg("a violation of %.9g m is reported, it is %.9g m", reported, violation);
}

/* A cube on the floor is crushed by a moving box, a moving plane, or pins on its top that move down, too fast for the
 * solver. Returns the largest lag; the report has the same. */
static double crush(int how)
{
    const double corner[3] = {-0.1, THICKNESS, -0.1}, speed = 1.2;
    sinew_key keys[2] = {{.time = 0}, {.time = 1}};
    keys[1].translation[1] = (sinew_real)-speed;
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_world *world = new_world(SINEW_SOLVER_NEWTON, 4);
    touch(world, 0.3, 0);
    add_floor(world);
    const sinew_body cube = add_cube(world, 2, 1e4, corner, 0, NULL);
    sinew_collider_def def = sinew_default_collider_def(how == 0 ? SINEW_SHAPE_BOX : SINEW_SHAPE_PLANE);
    def.position[1] = (sinew_real)(0.2 + 2.5 * THICKNESS);
    if (how == 0) {
        def.size[1] = (sinew_real)0.1;
        def.position[1] += (sinew_real)0.05;
    }
    if (how == 1)
        def.rotation[2] = (sinew_real)MAKE_PI;
    def.motion = &motion;
    const sinew_collider piston = how < 2 ? add_collider(world, &def) : (sinew_collider){-1, 0};
    sinew_real *q = positions_of(world), targets[3 * 27];
    int32_t top[27], count = 0;
    for (int32_t i = 0; i < 27; i++)
        if ((double)q[3 * i + 1] > 0.19)
            memcpy(targets + 3 * count, q + 3 * i, 3 * sizeof *q), top[count++] = i;
    const sinew_pin pin = how == 2 ? add_pins(world, cube, top, count, targets) : (sinew_pin){-1, 0};
    free(q);
    double largest = 0;
    for (int s = 0; s < 16; s++) {
        double lag = 0;
        for (int32_t i = 0; how == 2 && i < count; i++)
            targets[3 * i + 1] -= (sinew_real)(speed * H);
        if (how == 2)
            sinew_pin_set_targets(world, pin, targets, NULL);
        steps(world, 1);
        q = positions_of(world);
        for (int32_t i = 0; how == 2 && i < count; i++)
            lag = fmax(lag, fabs((double)q[3 * top[i] + 1] - (double)targets[3 * i + 1]));
        free(q);
        lag = how < 2 ? collider_lag(world, piston) : lag;
        const double reported = report_of(world).motion_lag;
        if (!(fabs(reported - lag) <= 1e-5 * (1 + lag)))
            fail_msg("way %d, step %d: a lag of %.9g m is reported, the motion lags by %.9g m", how, s, reported, lag);
        largest = fmax(largest, lag);
        if (how > 0)
            check_violation(world, how == 1 ? collider_height(world, piston) : INFINITY);
    }
    sinew_world_destroy(world);
    return largest;
}

static void test_motion_lag(void **state)
{
    (void)state;
    for (int how = 0; how < 3; how++) {
        const double lag = crush(how);
        print_message("way %d: lag %.4f m\n", how, lag);
        assert_true(lag > 10 * THICKNESS);
    }
}

/* ---- Filters ----------------------------------------------------------------------------------- */

static bool nobody(void *context, const sinew_contact_object *a, const sinew_contact_object *b)
{
    int *asked = context;
    (void)a;
    (void)b;
    ++*asked;
    return false;
}

/* The number of contacts with a force after a cube has fallen on a floor. */
static int fallen(uint32_t group, uint32_t mask, sinew_contact_filter *filter, int *asked)
{
    const double corner[3] = {0, 2 * THICKNESS, 0};
    sinew_error error = {0};
    sinew_world *world = new_world(SINEW_SOLVER_NEWTON, 0);
    touch(world, 0.5, 0);
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    def.group = 2;
    def.mask = 4;
    add_collider(world, &def);
    const sinew_body body = add_cube(world, 1, 1e6, corner, 0, NULL);
    sinew_body_contact own = sinew_default_body_contact();
    own.group = group;
    own.mask = mask;
    sinew_body_set_contact(world, body, &own, &error);
    must(&error);
    sinew_world_set_contact_filter(world, filter, asked);
    steps(world, 20);
    const int contacts = report_of(world).contacts;
    sinew_world_destroy(world);
    return contacts;
}

static void test_groups_and_filter(void **state)
{
    (void)state;
    int asked = 0;
    assert_true(fallen(4, 2, NULL, NULL) > 0);
    assert_int_equal(fallen(1, 2, NULL, NULL), 0);
    assert_int_equal(fallen(4, 1, NULL, NULL), 0);
    assert_int_equal(fallen(4, 2, nobody, &asked), 0);
    assert_true(asked > 0);
}

/* More candidate pairs than the limit set a status bit and are counted. */
static void test_pair_limit(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        const double low[3] = {0, 0, 0}, high[3] = {0.02, 0.2 + THICKNESS, 0.03};
        sinew_error error = {0};
        sinew_world *world = new_world(SINEW_SOLVER_NEWTON, 0);
        sinew_contact_def def = sinew_default_contact_def();
        def.thickness = (sinew_real)THICKNESS;
        def.pair_limit = limited ? 3 : 0;
        sinew_world_set_contact(world, &def, &error);
        must(&error);
        add_cube(world, 2, 1e6, low, 0, NULL);
        add_cube(world, 2, 1e6, high, 0, NULL);
        const uint32_t bits = steps(world, 1);
        assert_int_equal((bits & SINEW_STEP_CONTACT_FULL) != 0, limited);
        assert_int_equal(report_of(world).dropped > 0, limited);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fall_is_exact),
        cmocka_unit_test(test_nothing_near),
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_torque_of_tilted_plane),
        cmocka_unit_test(test_restitution),
        cmocka_unit_test(test_momentum),
        cmocka_unit_test(test_conveyor),
        cmocka_unit_test(test_slow_piston),
        cmocka_unit_test(test_fast_piston),
        cmocka_unit_test(test_motion_lag),
        cmocka_unit_test(test_groups_and_filter),
        cmocka_unit_test(test_pair_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
