/* SPDX-License-Identifier: MIT
 *
 * test_rigid_solid.c: rigid spheres and capsules in contact against closed forms: rolling and slipping down a slope,
 * impacts, rest, and their exact inertia. Slopes are gravity that is turned.
 *
 *     rolls    a = g sin(angle) / (1 + k),  k = I/(m r^2)              k = 2/5 for a sphere
 *     slips    a = g (sin(angle) - mu cos(angle)),  r alpha = mu g cos(angle) / k
 */
#include "rigid_contact_scenes.h"

#include "saved_state.h"

#define GRAVITY   9.81
#define DENSITY   500
#define THICKNESS RIGID_THICKNESS
#define LOAD      (sizeof(sinew_real) == 4 ? 0.06 : 0.02) /* relative error of a load on a contact in one step */

static const double degree = 3.14159265358979323846 / 180;

typedef struct solid_case {
    sinew_solver_kind solver;
    int iterations; /* 0: the default */
    double h;
} solid_case;

static const solid_case solvers[] = {{SINEW_SOLVER_XPBD, 40, 2e-3},
                                     {SINEW_SOLVER_NEWTON, 0, 2e-3},
                                     {SINEW_SOLVER_PBNG, 0, 2e-3},
                                     {SINEW_SOLVER_PRIMAL_DUAL, 0, 2e-3},
                                     {SINEW_SOLVER_SAP, 0, 2e-3}};

enum {
    SOLVERS = sizeof solvers / sizeof solvers[0]
};

/* In single precision, newton, primal-dual and sap neither roll nor bear loads as the closed forms say
 * (docs/evidence/rigid.md). */
static bool rolls(sinew_solver_kind solver)
{
    return sizeof(sinew_real) == 8 || solver == SINEW_SOLVER_XPBD || solver == SINEW_SOLVER_PBNG;
}

static sinew_world *make_slope(const solid_case *k, double angle, double friction, int threads)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)k->h;
    def.gravity[0] = (sinew_real)(GRAVITY * sin(angle));
    def.gravity[1] = (sinew_real)(-GRAVITY * cos(angle));
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(k->solver);
    if (k->iterations > 0)
        def.solver.iterations = k->iterations;
    sinew_world *world = make_world(&def);
    set_touch(world, THICKNESS, friction);
    return world;
}

/* A sphere, or a capsule of this length along z, around `middle`. */
static sinew_body add_solid(sinew_world *world, double radius, double length, const double middle[3],
                            const double velocity[3])
{
    sinew_error error = {0};
    sinew_body_def def = sinew_default_body_def();
    def.density = DENSITY;
    def.solid.radius = (sinew_real)radius;
    for (int i = 0; i < 6; i++)
        def.solid.ends[i / 3][i % 3] =
            (sinew_real)(middle[i % 3] + (i % 3 == 2 ? (i < 3 ? -length / 2 : length / 2) : 0));
    const sinew_body body = sinew_world_add_rigid(world, &def, &error);
    must(&error);
    sinew_real v[12];
    for (int i = 0; i < 12; i++)
        v[i] = velocity ? (sinew_real)velocity[i % 3] : 0;
    assert_int_equal(sinew_world_set_velocities(world, sinew_body_first_particle(world, body), 4, v), SINEW_OK);
    return body;
}

/* Velocity of the centre, and angular velocity, of four equal particles. */
typedef struct solid_motion {
    double x[3], v[3], w[3];
} solid_motion;

static solid_motion motion_of(const sinew_world *world, sinew_body body)
{
    sinew_real q[12], v[12];
    const int32_t first = sinew_body_first_particle(world, body);
    sinew_world_get_positions(world, first, 4, q);
    sinew_world_get_velocities(world, first, 4, v);
    solid_motion m = {{0}, {0}, {0}};
    for (int i = 0; i < 12; i++) {
        m.x[i % 3] += (double)q[i] / 4;
        m.v[i % 3] += (double)v[i] / 4;
    }
    /* L = J w, J = trace(S) - S; solved by Cramer's rule. */
    double S[9] = {0}, L[3] = {0}, J[9];
    for (int a = 0; a < 4; a++) {
        double r[3];
        for (int i = 0; i < 3; i++)
            r[i] = (double)q[3 * a + i] - m.x[i];
        for (int i = 0; i < 9; i++)
            S[i] += r[i / 3] * r[i % 3];
        for (int i = 0; i < 3; i++)
            L[i] += r[(i + 1) % 3] * (double)v[3 * a + (i + 2) % 3] - r[(i + 2) % 3] * (double)v[3 * a + (i + 1) % 3];
    }
    for (int i = 0; i < 9; i++)
        J[i] = (i % 4 == 0 ? S[0] + S[4] + S[8] : 0) - S[i];
    const double det =
        J[0] * (J[4] * J[8] - J[5] * J[7]) - J[1] * (J[3] * J[8] - J[5] * J[6]) + J[2] * (J[3] * J[7] - J[4] * J[6]);
    for (int i = 0; i < 3; i++) {
        double M[9];
        memcpy(M, J, sizeof M);
        for (int k = 0; k < 3; k++)
            M[3 * k + i] = L[k];
        m.w[i] = (M[0] * (M[4] * M[8] - M[5] * M[7]) - M[1] * (M[3] * M[8] - M[5] * M[6]) +
                  M[2] * (M[3] * M[7] - M[4] * M[6])) /
                 det;
    }
    return m;
}

static void run(sinew_world *world, int steps)
{
    for (int step = 0; step < steps; step++)
        assert_int_equal(sinew_world_step(world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED), 0);
}

/* ---- Slopes ------------------------------------------------------------------------------------- */

/* I/(m r^2) about the axis of a capsule of this length in radii. */
static double gyration(double length)
{
    const double barrel = length, caps = 4.0 / 3;
    return (barrel / 2 + caps * 2 / 5) / (barrel + caps);
}

/* The time step is short enough for implicit Euler's loss of a spin w, which brakes the ball by 2/7 r h w^3. */
static void slide_down(const solid_case *k, double length, double angle, double mu, bool slips)
{
    const double radius = 0.5, time = 0.4, inertia = gyration(length);
    sinew_world *world = make_slope(k, angle, mu, 1);
    add_floor(world);
    const sinew_body body = add_solid(world, radius, length * radius, (double[3]){0, radius + THICKNESS, 0}, NULL);
    run(world, (int)lround(0.1 / k->h));
    const solid_motion from = motion_of(world, body);
    run(world, (int)lround(time / k->h));
    const solid_motion to = motion_of(world, body);
    const double a = (to.v[0] - from.v[0]) / time, turn = -radius * (to.w[2] - from.w[2]) / time;
    const double exact = slips ? GRAVITY * (sin(angle) - mu * cos(angle)) : GRAVITY * sin(angle) / (1 + inertia);
    const double exact_turn = slips ? mu * GRAVITY * cos(angle) / inertia : exact;
    print_message("%s, length %g r, %g degrees, mu %g: a %.4f, r alpha %.4f of the exact ones\n",
                  sinew_get_solver_info(k->solver)->name, length, angle / degree, mu, a / exact, turn / exact_turn);
    assert_true(fabs(a / exact - 1) < 0.01);
    assert_true(fabs(turn / exact_turn - 1) < 0.01);
    assert_true(fabs(to.x[1] - radius - THICKNESS) < 0.01 * THICKNESS);
    sinew_world_destroy(world);
}

static void solids_roll_and_slip(void **unused)
{
    (void)unused;
    for (int s = 0; s < SOLVERS; s++)
        for (int length = 0; length < 3 && rolls(solvers[s].solver); length += 2) {
            slide_down(&solvers[s], length, 10 * degree, 0.3, false);
            slide_down(&solvers[s], length, 20 * degree, 0.3, false);
            slide_down(&solvers[s], length, 30 * degree, 0.1, true);
        }
}

/* ---- Inertia ------------------------------------------------------------------------------------ */

/* The closed forms against slices across the axis. */
static void inertia_is_that_of_slices(void **unused)
{
    (void)unused;
    enum {
        SLICES = 20000
    };
    random_cases r = random_cases_begin("inertia of solids", 10, 100);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_solid solid = {.radius = (sinew_real)random_magnitude(&r, 0.05, 2)};
        const bool capsule = random_index(&r, 4) > 0;
        double axis[3], length = 0, volume = 0, along = 0, across = 0;
        for (int i = 0; i < 3; i++) {
            solid.ends[0][i] = (sinew_real)random_between(&r, -1, 1);
            solid.ends[1][i] = capsule ? (sinew_real)random_between(&r, -1, 1) : solid.ends[0][i];
            axis[i] = (double)solid.ends[1][i] - (double)solid.ends[0][i];
            length += axis[i] * axis[i];
        }
        length = sqrt(length);
        const double radius = (double)solid.radius, half = length / 2 + radius, width = 2 * half / SLICES;
        for (int k = 0; k < SLICES; k++) {
            const double s = -half + (k + 0.5) * width, beyond = fmax(0, fabs(s) - length / 2);
            const double area = 3.14159265358979323846 * (radius * radius - beyond * beyond);
            volume += area * width;
            along += area * s * s * width;
            across += area * (radius * radius - beyond * beyond) / 4 * width;
        }
        sinew_inertia found;
        sinew_solid_inertia(&solid, &found);
        assert_true(fabs(found.volume / volume - 1) < 1e-5);
        for (int i = 0; i < 9; i++) {
            const double unit = length > 0 ? axis[i / 3] * axis[i % 3] / (length * length) : 0;
            const double exact = (i % 4 == 0 ? across : 0) + (along - across) * unit;
            assert_true(fabs(found.second[i] - exact) < 1e-4 * along);
        }
        for (int i = 0; i < 3; i++)
            assert_true(fabs(found.centre[i] - ((double)solid.ends[0][i] + (double)solid.ends[1][i]) / 2) < 1e-6);
    }
}

/* ---- Impacts and rest --------------------------------------------------------------------------- */

static void set_restitution(sinew_world *world, double restitution, double friction)
{
    sinew_error error = {0};
    sinew_contact_def def = sinew_default_contact_def();
    def.thickness = (sinew_real)THICKNESS;
    def.friction = (sinew_real)friction;
    def.restitution = (sinew_real)restitution;
    sinew_world_set_contact(world, &def, &error);
    must(&error);
}

/* Two spheres of one size meet head-on without gravity; with restitution 1 they exchange their speeds. */
static void spheres_exchange_their_speeds(void **unused)
{
    (void)unused;
    for (int s = 0; s < SOLVERS; s++) {
        sinew_world *world = make_slope(&solvers[s], 0, 0, 1);
        const sinew_real none[3] = {0, 0, 0};
        sinew_world_set_gravity(world, none, NULL);
        set_restitution(world, 1, 0.4);
        const double radius = 0.2, speeds[2] = {2, -0.5};
        sinew_body balls[2];
        for (int k = 0; k < 2; k++)
            balls[k] =
                add_solid(world, radius, 0, (double[3]){k * (2 * radius + 0.05), 1, 0}, (double[3]){speeds[k], 0, 0});
        run(world, 50);
        for (int k = 0; k < 2; k++) {
            const solid_motion m = motion_of(world, balls[k]);
            print_message("%s: %.4f m/s of %g\n", sinew_get_solver_info(solvers[s].solver)->name, m.v[0],
                          speeds[1 - k]);
            assert_true(fabs(m.v[0] - speeds[1 - k]) < 0.01 * 2.5);
            assert_true(fabs(m.v[1]) < 1e-3 && fabs(m.v[2]) < 1e-3);
        }
        sinew_world_destroy(world);
    }
}

/* A sphere on a sphere on a box of triangles, which stands on a box collider: gaps are the thickness, and each contact
 * bears what is above it. */
static void stacks_do_not_sink(void **unused)
{
    (void)unused;
    const double size = 0.3, radius[2] = {0.2, 0.1};
    for (int s = 0; s < SOLVERS; s++) {
        sinew_world *world = make_slope(&solvers[s], 0, 0.5, 1);
        sinew_collider_def ground = sinew_default_collider_def(SINEW_SHAPE_BOX);
        for (int i = 0; i < 3; i++)
            ground.size[i] = (sinew_real)(i == 1 ? 0.2 : 1);
        ground.position[1] = (sinew_real)-0.1;
        add_collider(world, &ground);
        const rigid_start start = {.middle = {0, size / 2 + THICKNESS, 0}};
        add_rigid_shape(world, make_beam(2, 2, 2, size, size, size), DENSITY, &start);
        sinew_body balls[2];
        double height = size + THICKNESS, weight = 0;
        for (int k = 0; k < 2; k++) {
            height += radius[k] + THICKNESS;
            balls[k] = add_solid(world, radius[k], 0, (double[3]){0, height, 0}, NULL);
            height += radius[k];
            weight += DENSITY * 4 * 3.14159265358979323846 / 3 * pow(radius[k], 3) * GRAVITY;
        }
        run(world, 200);
        const solid_motion low = motion_of(world, balls[0]), high = motion_of(world, balls[1]);
        const double gaps[2] = {low.x[1] - radius[0] - size - THICKNESS, high.x[1] - low.x[1] - radius[0] - radius[1]};
        sinew_contact list[64];
        int32_t count;
        double load = 0;
        assert_int_equal(sinew_world_contacts(world, 64, list, &count, NULL), SINEW_OK);
        for (int32_t c = 0; c < count; c++)
            load += (list[c].a.body.index == balls[0].index && list[c].b.body.index == 0) ||
                            (list[c].b.body.index == balls[0].index && list[c].a.body.index == 0)
                        ? list[c].force
                        : 0;
        print_message("%s: gaps less the thickness %.2g, %.2g m; load %.4f of the weight\n",
                      sinew_get_solver_info(solvers[s].solver)->name, gaps[0] - THICKNESS, gaps[1] - THICKNESS,
                      load / weight);
        assert_true(fabs(gaps[0] - THICKNESS) < 0.02 * THICKNESS && fabs(gaps[1] - THICKNESS) < 0.02 * THICKNESS);
        assert_true(!rolls(solvers[s].solver) || fabs(load / weight - 1) < LOAD);
        sinew_world_destroy(world);
    }
}

/* ---- Random scenes ------------------------------------------------------------------------------ */

enum {
    SOLIDS = 4,
    STEPS = 40
};

static const sinew_solver_kind thrown_solvers[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD, SINEW_SOLVER_NEWTON,
                                                   SINEW_SOLVER_PBNG};

/* Spheres and capsules thrown at each other, at a box, a floor and a moving box. */
typedef struct thrown {
    sinew_world *world;
    sinew_body solids[SOLIDS], box;
    sinew_collider pusher;
    double radius[SOLIDS], length[SOLIDS];
} thrown;

static thrown throw_solids(random_cases *r, int threads)
{
    const solid_case k = {thrown_solvers[random_index(r, 4)], 1 + random_index(r, 20), random_magnitude(r, 2e-3, 2e-2)};
    thrown t = {.world = make_slope(&k, 0, random_between(r, 0, 1), threads)};
    add_floor(t.world);
    for (int n = 0; n < SOLIDS; n++) {
        sinew_real v[12], q[12];
        double middle[3], spin[3], speed[3];
        t.radius[n] = random_between(r, 0.04, 0.1);
        t.length[n] = random_index(r, 2) ? random_between(r, 0.02, 0.15) : 0;
        for (int i = 0; i < 3; i++) {
            middle[i] = (i == 1 ? 0.5 + 0.35 * n : 0) + random_between(r, -0.03, 0.03);
            spin[i] = random_between(r, -20, 20);
            speed[i] = random_between(r, -3, 3);
        }
        t.solids[n] = add_solid(t.world, t.radius[n], t.length[n], middle, NULL);
        const int32_t first = sinew_body_first_particle(t.world, t.solids[n]);
        sinew_world_get_positions(t.world, first, 4, q);
        for (int i = 0; i < 12; i++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, at = i / 3 * 3;
            v[i] = (sinew_real)(speed[i % 3] + spin[a] * ((double)q[at + b] - middle[b]) -
                                spin[b] * ((double)q[at + a] - middle[a]));
        }
        assert_int_equal(sinew_world_set_velocities(t.world, first, 4, v), SINEW_OK);
    }
    const rigid_start start = {.middle = {0, 0.15, 0}, .w = {0, random_between(r, -1, 1), 0}};
    t.box = add_rigid_shape(t.world, make_beam(2, 1, 2, 0.2, 0.1, 0.2), DENSITY, &start);
    sinew_collider_def pusher = sinew_default_collider_def(SINEW_SHAPE_BOX);
    const sinew_key keys[2] = {{0}, {1, {(sinew_real)random_between(r, 1, 4), 0, 0}, {0, 3, 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    for (int i = 0; i < 3; i++)
        pusher.size[i] = (sinew_real)(i == 1 ? 0.4 : 0.1);
    pusher.position[0] = (sinew_real)-0.4;
    pusher.position[1] = (sinew_real)0.25;
    pusher.motion = &motion;
    t.pusher = add_collider(t.world, &pusher);
    return t;
}

/* The ends of the axis of a solid, from its four particles: an affine combination that the rest shape gives. */
static void axis_of(const thrown *t, int n, double ends[2][3])
{
    const sinew_mesh *frame = sinew_body_mesh(t->world, t->solids[n]);
    const sinew_real *rest = sinew_mesh_positions(frame);
    sinew_real q[12];
    double direction[3] = {0, 0, 0}, square = 0, centre[3] = {0, 0, 0}, middle = 0;
    sinew_world_get_positions(t->world, sinew_body_first_particle(t->world, t->solids[n]), 4, q);
    for (int a = 0; a < 4; a++)
        middle += (double)rest[3 * a + 2] / 4;
    /* The frame is orthogonal: z of the rest shape maps to sum (z_a - middle) x_a / sum (z_a - middle)^2. */
    for (int a = 0; a < 4; a++) {
        const double z = (double)rest[3 * a + 2] - middle;
        square += z * z;
        for (int i = 0; i < 3; i++) {
            direction[i] += z * (double)q[3 * a + i];
            centre[i] += (double)q[3 * a + i] / 4;
        }
    }
    for (int i = 0; i < 6; i++)
        ends[i / 3][i % 3] = centre[i % 3] + (i < 3 ? -0.5 : 0.5) * t->length[n] * direction[i % 3] / square;
}

/* Distance of a point from the triangle x [3][3], by its plane or its sides. */
static double point_triangle(const double p[3], double x[3][3])
{
    double e[2][3], d[3], ee[3] = {0, 0, 0}, de[2] = {0, 0}, best = HUGE_VAL;
    for (int i = 0; i < 3; i++) {
        e[0][i] = x[1][i] - x[0][i];
        e[1][i] = x[2][i] - x[0][i];
        d[i] = p[i] - x[0][i];
        ee[0] += e[0][i] * e[0][i];
        ee[1] += e[0][i] * e[1][i];
        ee[2] += e[1][i] * e[1][i];
        de[0] += d[i] * e[0][i];
        de[1] += d[i] * e[1][i];
    }
    const double det = ee[0] * ee[2] - ee[1] * ee[1];
    const double u = (de[0] * ee[2] - de[1] * ee[1]) / det, v = (de[1] * ee[0] - de[0] * ee[1]) / det;
    if (u >= 0 && v >= 0 && u + v <= 1) {
        double square = 0;
        for (int i = 0; i < 3; i++)
            square += pow(d[i] - u * e[0][i] - v * e[1][i], 2);
        return sqrt(square);
    }
    for (int k = 0; k < 3; k++) {
        double square = 0, along = 0, sum = 0;
        for (int i = 0; i < 3; i++) {
            const double side = x[(k + 1) % 3][i] - x[k][i];
            along += (p[i] - x[k][i]) * side;
            square += side * side;
        }
        const double s = fmax(0, fmin(1, along / square));
        for (int i = 0; i < 3; i++)
            sum += pow(p[i] - x[k][i] - s * (x[(k + 1) % 3][i] - x[k][i]), 2);
        best = fmin(best, sqrt(sum));
    }
    return best;
}

/* Least distance of points of an axis from a surface; the points are dense, and the distance is below the true one by at
 * most half their spacing. */
static double axis_surface(double ends[2][3], const shown_surface *s)
{
    enum {
        POINTS = 65
    };
    double best = HUGE_VAL;
    for (int32_t c = 0; c < s->triangle_count; c++)
        for (int k = 0; k < POINTS; k++) {
            double x[3][3], p[3];
            for (int i = 0; i < 9; i++)
                x[i / 3][i % 3] = (double)s->x[3 * s->triangles[3 * c + i / 3] + i % 3];
            for (int i = 0; i < 3; i++)
                p[i] = ends[0][i] + (ends[1][i] - ends[0][i]) * k / (POINTS - 1);
            best = fmin(best, point_triangle(p, x));
        }
    return best;
}

/* Least distance of points of one axis from points of another. */
static double axis_axis(double a[2][3], double b[2][3])
{
    double best = HUGE_VAL;
    for (int j = 0; j < 65; j++)
        for (int k = 0; k < 65; k++) {
            double square = 0;
            for (int i = 0; i < 3; i++)
                square += pow(a[0][i] + (a[1][i] - a[0][i]) * j / 64 - b[0][i] - (b[1][i] - b[0][i]) * k / 64, 2);
            best = fmin(best, sqrt(square));
        }
    return best;
}

static void check_apart(const thrown *t, int step, uint64_t seed)
{
    shown_surface box = shown_body(t->world, t->box, NULL), pusher = shown_collider(t->world, t->pusher);
    double axes[SOLIDS][2][3];
    for (int n = 0; n < SOLIDS; n++) {
        axis_of(t, n, axes[n]);
        /* solid, floor, box, pusher: no distance falls to the radii */
        double gap = fmin(axes[n][0][1], axes[n][1][1]) - t->radius[n];
        gap = fmin(gap, axis_surface(axes[n], &box) - t->radius[n]);
        gap = fmin(gap, axis_surface(axes[n], &pusher) - t->radius[n]);
        for (int m = 0; m < n; m++)
            gap = fmin(gap, axis_axis(axes[n], axes[m]) - t->radius[n] - t->radius[m]);
        if (!(gap > 0))
            fail_msg("SINEW_SEED=%llu, step %d: solid %d is %g m inside", (unsigned long long)seed, step, n, -gap);
    }
    shown_free(&box);
    shown_free(&pusher);
}

static void solids_do_not_cross(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("thrown solids", 8, 400);
    for (int32_t n = 0; n < r.count; n++) {
        const uint64_t seed = r.state;
        thrown t = throw_solids(&r, 1);
        for (int step = 0; step < STEPS; step++) {
            const uint32_t bits = sinew_world_step(t.world, NULL);
            if (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED | SINEW_STEP_INTERSECTING))
                fail_msg("SINEW_SEED=%llu, step %d: bits %x", (unsigned long long)seed, step, (unsigned)bits);
            check_apart(&t, step, seed);
        }
        sinew_world_destroy(t.world);
    }
}

static void threads_and_states_give_the_same_bits(void **unused)
{
    (void)unused;
    random_cases draw = random_cases_begin("bits of solids", 4, 60);
    for (int32_t n = 0; n < draw.count; n++) {
        const random_cases from = draw;
        uint64_t hashes[3];
        saved half = {0};
        for (int k = 0; k < 3; k++) {
            draw = from;
            thrown t = throw_solids(&draw, k == 1 ? 3 : 1);
            sinew_error error = {0};
            if (k == 2)
                assert_int_equal(sinew_world_state_load(t.world, half.bytes, half.size, &error), SINEW_OK);
            for (int step = k == 2 ? STEPS / 2 : 0; step < STEPS; step++) {
                if (k == 0 && step == STEPS / 2)
                    half = save(t.world);
                sinew_world_step(t.world, NULL);
            }
            hashes[k] = sinew_world_state_hash(t.world);
            sinew_world_destroy(t.world);
        }
        free(half.bytes);
        assert_true(hashes[0] == hashes[1]);
        assert_true(hashes[0] == hashes[2]);
    }
}

/* ---- Refusals ----------------------------------------------------------------------------------- */

static void bad_solids_are_refused(void **unused)
{
    (void)unused;
    sinew_world *world = make_slope(&solvers[0], 0, 0.5, 1);
    sinew_mesh *bar = make_beam(1, 1, 1, 1, 1, 1);
    sinew_error error = {0};
    sinew_body_def def = sinew_default_body_def();
    def.solid.radius = -1;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    assert_non_null(strstr(error.text, "radius"));
    def.solid.radius = (sinew_real)NAN;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    def.solid.radius = 1;
    def.solid.ends[1][2] = (sinew_real)1e-4;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    assert_non_null(strstr(error.text, "apart"));
    def.solid.ends[1][2] = (sinew_real)INFINITY;
    assert_true(sinew_world_add_rigid(world, &def, &error).index < 0);
    def.solid.ends[1][2] = 0;
    def.mesh = bar;
    assert_true(sinew_world_add_body(world, &def, &error).index < 0);
    assert_non_null(strstr(error.text, "rigid"));
    assert_int_equal(sinew_world_body_at(world, 0).index, -1);
    assert_true(sinew_world_add_rigid(world, &def, &error).index >= 0);
    sinew_mesh_destroy(bar);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solids_roll_and_slip),          cmocka_unit_test(inertia_is_that_of_slices),
        cmocka_unit_test(spheres_exchange_their_speeds), cmocka_unit_test(stacks_do_not_sink),
        cmocka_unit_test(solids_do_not_cross),           cmocka_unit_test(threads_and_states_give_the_same_bits),
        cmocka_unit_test(bad_solids_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
