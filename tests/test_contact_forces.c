/* SPDX-License-Identifier: MIT
 *
 * test_contact_forces.c: the list of contacts, the report and the forces on colliders are one and the same contact.
 * Random piles of cubes on a floor, beside a cube that is pinned, in every step: forces of the list change the momentum
 * of each body and the angular momentum of all, add up to those on the colliders, and give the numbers of the report;
 * no contact is between two sides that cannot move.
 */
#include "contact_worlds.h"
#include "random_cases.h"

enum {
    CONTACTS_MAX = 512,
    BODIES = 4,
    STEPS = 10
};
#define THICKNESS 0.01
#define SIDE      0.3

#ifdef SINEW_SINGLE
#define CLOSE 2e-3 /* of the weight of a body */
#define ROUND 1e-4 /* of the sum of forces */
/* Largest error of the cosine between the normal of a contact with the ball and the direction from the centre. */
#define NORMAL_ERROR 1e-3
#else
#define CLOSE        1e-6
#define ROUND        1e-9
#define NORMAL_ERROR 1e-5
#endif

#define BALL_RADIUS 0.15
static const double ball_centre[3] = {0.35, 0.16, 0};

typedef struct pile {
    sinew_world *world;
    sinew_body bodies[BODIES];  /* the first is pinned */
    sinew_collider floor, ball; /* ball: index -1 without one */
    double friction, v0[3 * 64];
    sinew_contact contacts[CONTACTS_MAX];
    int32_t count; /* of contacts */
    uint32_t bits; /* of the step */
    sinew_contact_report report;
} pile;

static void pile_make(pile *p, bool with_ball, random_cases *r)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0.01;
    def.solver.iterations = 400;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-5 : 1e-9);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    p->world = make_world(&def);
    p->friction = random_between(r, 0, 0.8);
    set_touch(p->world, THICKNESS, p->friction);
    p->floor = add_floor(p->world);
    sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    ball.radius = (sinew_real)BALL_RADIUS;
    for (int k = 0; k < 3; k++)
        ball.position[k] = (sinew_real)ball_centre[k];
    p->ball = with_ball ? add_collider(p->world, &ball) : (sinew_collider){.index = -1};
    for (int b = 0; b < BODIES; b++) {
        /* The pinned cube is nearer to the floor than the thickness; the others fall on it and beside it. */
        const double middle[3] = {b == 0 ? 0 : random_between(r, -0.3, 0.3),
                                  SIDE / 2 + (b == 0 ? 0.5 * THICKNESS : b * (SIDE + 2 * THICKNESS)),
                                  b == 0 ? 0 : random_between(r, -0.3, 0.3)};
        p->bodies[b] = add_box(p->world, SINEW_SOLVER_NEWTON, 1, SIDE, middle, 1e5);
    }
    static const int32_t all[] = {0, 1, 2, 3, 4, 5, 6, 7};
    add_pins(p->world, p->bodies[0], all, 8, NULL);
    const int32_t n = sinew_world_particle_count(p->world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 3 * n / BODIES; i < 3 * n; i++)
        v[i] = (sinew_real)(i % 3 == 1 ? -2 : random_between(r, -0.5, 0.5));
    assert_int_equal(sinew_world_set_velocities(p->world, 0, n, v), SINEW_OK);
    free(v);
}

static void pile_step(pile *p)
{
    sinew_error error = {0};
    const int32_t n = sinew_world_particle_count(p->world);
    sinew_real q[3 * 64];
    assert_true(n <= 64);
    assert_int_equal(sinew_world_get_velocities(p->world, 0, n, q), SINEW_OK);
    for (int32_t i = 0; i < 3 * n; i++)
        p->v0[i] = (double)q[i];
    p->bits = sinew_world_step(p->world, NULL);
    sinew_world_contacts(p->world, CONTACTS_MAX, p->contacts, &p->count, &error);
    must(&error);
    assert_int_equal(sinew_world_contact_report(p->world, &p->report, &error), SINEW_OK);
}

/* The force of a contact on a body; zero where it is on neither side. */
static void force_on_body(const sinew_contact *c, sinew_body body, double force[3])
{
    const double sign = (c->a.body.index == body.index) - (c->b.body.index == body.index);
    for (int k = 0; k < 3; k++)
        force[k] = sign * (c->force * (double)c->normal[k] + c->friction[k]);
}

/* m (v - v before) / h = m g + contact forces, for each body that is not pinned. */
static void check_momentum(const pile *p)
{
    const int32_t each = sinew_world_particle_count(p->world) / BODIES;
    sinew_real m[64], v[3 * 64];
    assert_int_equal(sinew_world_get_masses(p->world, 0, BODIES * each, m), SINEW_OK);
    assert_int_equal(sinew_world_get_velocities(p->world, 0, BODIES * each, v), SINEW_OK);
    for (int b = 1; b < BODIES; b++) {
        double sum[3] = {0, 0, 0}, weight = 0, forces = 0;
        for (int32_t i = b * each; i < (b + 1) * each; i++) {
            weight += 9.81 * (double)m[i];
            for (int k = 0; k < 3; k++)
                sum[k] += (double)m[i] * ((double)v[3 * i + k] - p->v0[3 * i + k]) / 0.01;
        }
        sum[1] += weight;
        for (int32_t c = 0; c < p->count; c++) {
            double force[3];
            force_on_body(&p->contacts[c], p->bodies[b], force);
            for (int k = 0; k < 3; k++)
                sum[k] -= force[k];
            forces += p->contacts[c].force;
        }
        /* Normals of the ball are those at the end of the step, which forces follow up to the tolerance of contact. */
        const double bound = p->ball.index >= 0 ? 0.02 * (weight + forces)
                                                : CLOSE * weight * (1 + p->count) + 4 * p->report.stationarity;
        for (int k = 0; k < 3; k++)
            if (fabs(sum[k]) > bound)
                fail_msg("body %d: a force of %g N along %c is in no contact (bound %g N)", b, sum[k], "xyz"[k], bound);
    }
}

static void add_cross(const double a[3], const double b[3], double factor, double sum[3])
{
    for (int k = 0; k < 3; k++)
        sum[k] += factor * (a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3]);
}

/* Sum of x cross (m (v - v before) / h - m g) of the particles of free bodies, in N m. Elastic forces have no part in
 * it. `scale` (N m) is the sum of absolute values. */
static void inertial_torque(const pile *p, const sinew_real *x, double sum[3], double *scale)
{
    const int32_t n = sinew_world_particle_count(p->world);
    sinew_real m[64], v[3 * 64];
    assert_int_equal(sinew_world_get_masses(p->world, 0, n, m), SINEW_OK);
    assert_int_equal(sinew_world_get_velocities(p->world, 0, n, v), SINEW_OK);
    for (int32_t i = n / BODIES; i < n; i++) {
        double f[3], at[3];
        for (int k = 0; k < 3; k++) {
            at[k] = (double)x[3 * i + k];
            f[k] = (double)m[i] * (((double)v[3 * i + k] - p->v0[3 * i + k]) / 0.01 + (k == 1 ? 9.81 : 0));
            *scale += fabs(f[k]);
        }
        add_cross(at, f, 1, sum);
    }
}

/* Forces of the list, by particles and weights, change the angular momentum of the free bodies. The report has the
 * angular impulse of contacts between bodies, whose two points are apart. */
static void check_angular_momentum(const pile *p)
{
    const int32_t n = sinew_world_particle_count(p->world);
    sinew_real x[3 * 64];
    double sum[3] = {0, 0, 0}, apart[3] = {0, 0, 0}, scale = 0;
    assert_int_equal(sinew_world_get_positions(p->world, 0, n, x), SINEW_OK);
    inertial_torque(p, x, sum, &scale);
    for (int32_t c = 0; c < p->count; c++) {
        const sinew_contact *t = &p->contacts[c];
        double f[3];
        for (int k = 0; k < 3; k++)
            f[k] = t->force * (double)t->normal[k] + t->friction[k];
        for (int a = 0; a < 4; a++) {
            const int32_t i = t->particles[a];
            if (i < 0)
                continue;
            const double at[3] = {(double)x[3 * i], (double)x[3 * i + 1], (double)x[3 * i + 2]};
            add_cross(at, f, i < n / BODIES ? 0 : -(double)t->weights[a], sum);
            add_cross(at, f, t->b.collider.index < 0 ? 0.01 * (double)t->weights[a] : 0, apart);
        }
    }
    const double bound = CLOSE * scale * (1 + p->count) + 4 * p->report.stationarity;
    for (int k = 0; k < 3; k++) {
        if (p->ball.index < 0 && !(fabs(sum[k]) <= bound))
            fail_msg("a torque of %g N m about %c is in no contact (bound %g N m)", sum[k], "xyz"[k], bound);
        /* Friction of contacts that have lost their force lags, and is not in the list. */
        if (!(p->bits & SINEW_STEP_CONTACT) &&
            !(fabs(apart[k] - p->report.angular_momentum_error[k]) <= 0.01 * ROUND * scale))
            fail_msg("contacts between bodies have the angular impulse %g N m s about %c, the report %g", apart[k],
                     "xyz"[k], p -> report.angular_momentum_error[k]);
    }
}

/* Forces and torques of the list on the floor. */
static void check_floor(const pile *p)
{
    double force[3], torque[3], sum[3] = {0, 0, 0}, turn[3] = {0, 0, 0}, scale = 0;
    assert_int_equal(sinew_collider_force(p->world, p->floor, force, torque, NULL), SINEW_OK);
    for (int32_t c = 0; c < p->count; c++) {
        const sinew_contact *t = &p->contacts[c];
        double f[3];
        if (t->b.collider.index != p->floor.index)
            continue;
        for (int k = 0; k < 3; k++) {
            f[k] = -(t->force * (double)t->normal[k] + t->friction[k]);
            sum[k] += f[k];
            scale += fabs(f[k]);
        }
        for (int k = 0; k < 3; k++)
            turn[k] += (double)t->point[(k + 1) % 3] * f[(k + 2) % 3] - (double)t->point[(k + 2) % 3] * f[(k + 1) % 3];
        assert_true(fabs((double)t->normal[1] - 1) < 1e-6);
        assert_true(fabs((double)t->point[1] - THICKNESS - (double)t->clearance) < 1e-6);
    }
    for (int k = 0; k < 3; k++) {
        assert_true(fabs(sum[k] - force[k]) <= 1e-5 * scale);
        assert_true(fabs(turn[k] - torque[k]) <= THICKNESS * scale + 1e-5 * scale);
    }
}

/* The normal of a contact with the ball points away from its centre, at the end of the step. Returns their number. */
static int32_t check_ball(const pile *p)
{
    int32_t found = 0;
    for (int32_t c = 0; c < p->count; c++) {
        const sinew_contact *t = &p->contacts[c];
        double away[3], length = 0, along = 0;
        if (p->ball.index < 0 || t->b.collider.index != p->ball.index || !(t->force > 0))
            continue;
        for (int k = 0; k < 3; k++) {
            away[k] = (double)t->point[k] - ball_centre[k];
            length += away[k] * away[k];
            along += away[k] * (double)t->normal[k];
        }
        length = sqrt(length);
        found++;
        if (along < (1 - NORMAL_ERROR) * length || fabs(length - BALL_RADIUS - THICKNESS - (double)t->clearance) > 1e-4)
            fail_msg("normal and way from the centre have the cosine %.9g; clearance %g m, by the point %g m",
                     along / length, (double)t->clearance, length - BALL_RADIUS - THICKNESS);
    }
    return found;
}

/* Numbers of the report from the list. */
static void check_report(const pile *p)
{
    double complementarity = 0, deepest = 0, cone = 0, scale = 0;
    for (int32_t c = 0; c < p->count; c++)
        scale += p->contacts[c].force;
    int32_t active = 0, began = 0, ended = 0;
    for (int32_t c = 0; c < p->count; c++) {
        const sinew_contact *t = &p->contacts[c];
        const double along = t->friction[0] * (double)t->normal[0] + t->friction[1] * (double)t->normal[1] +
                             t->friction[2] * (double)t->normal[2];
        const double size =
            sqrt(t->friction[0] * t->friction[0] + t->friction[1] * t->friction[1] + t->friction[2] * t->friction[2]);
        began += t->event == SINEW_CONTACT_BEGAN;
        ended += t->event == SINEW_CONTACT_ENDED;
        active += t->force > 0;
        complementarity += t->force * fabs((double)t->clearance);
        deepest = t->force > 0 ? fmax(deepest, -(double)t->clearance) : deepest;
        cone = fmax(cone, size - p->friction * t->force);
        assert_true(fabs(along) <= ROUND * scale);
    }
    assert_int_equal(p->report.contacts, active);
    assert_int_equal(p->report.began, began);
    assert_int_equal(p->report.ended, ended);
    assert_true(fabs(p->report.complementarity - complementarity) <=
                1e-4 * complementarity + ROUND * THICKNESS * scale);
    assert_true(p->report.violation >= deepest - 1e-7);
    /* Contacts that have lost their force are not in the list. Friction is at most mu times the lagged force. */
    if (p->report.cone_violation < cone - ROUND * scale ||
        p->report.cone_violation > p->report.friction_lag + ROUND * scale)
        fail_msg("cone_violation is %g N, by the list %g N, friction_lag %g N", p->report.cone_violation, cone,
                 p->report.friction_lag);
}

/* Side a is a body, whose particles come first with positive weights; those of b have negative ones. */
static void check_sides(const pile *p)
{
    for (int32_t c = 0; c < p->count; c++) {
        const sinew_contact *t = &p->contacts[c];
        double sums[2] = {0, 0};
        assert_true(t->a.body.index >= 0 && t->a.collider.index < 0);
        for (int k = 0; k < 4; k++) {
            sums[(double)t->weights[k] < 0] += (double)t->weights[k];
            assert_true(k == 0 || !((double)t->weights[k] > 0 && (double)t->weights[k - 1] < 0));
            if ((double)t->weights[k] > 0)
                assert_int_equal(t->particles[k] / (sinew_world_particle_count(p->world) / BODIES), t->a.body.index);
        }
        assert_true(fabs(sums[0] - 1) < 1e-5 && (t->b.collider.index == p->floor.index || fabs(sums[1] + 1) < 1e-5));
    }
}

/* A contact between the pinned cube and the floor has no force: nothing of it can move. */
static void check_pinned(const pile *p)
{
    const int32_t each = sinew_world_particle_count(p->world) / BODIES;
    for (int32_t c = 0; c < p->count; c++) {
        bool movable = false;
        for (int k = 0; k < 4; k++)
            movable |= p->contacts[c].particles[k] >= each && p->contacts[c].weights[k] != 0;
        assert_true(movable);
    }
}

static void piles(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("random piles", 16, 200);
    static pile p;
    int32_t seen = 0, round = 0;
    for (int32_t i = 0; i < r.count; i++) {
        pile_make(&p, i % 2, &r);
        for (int k = 0; k < STEPS; k++) {
            pile_step(&p);
            check_sides(&p);
            check_pinned(&p);
            if (p.bits == 0 || p.ball.index < 0) /* steps against the ball may stay unsolved */
                check_momentum(&p);
            check_angular_momentum(&p);
            check_floor(&p);
            round += check_ball(&p);
            check_report(&p);
            seen += p.count;
        }
        sinew_world_destroy(p.world);
    }
    print_message("%d contacts, %d on the ball\n", seen, round);
    assert_true(seen > r.count);
}

/* Two cubes that meet off centre, far from the origin, without gravity. */
static sinew_world *make_collision(double restitution, random_cases *r)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0.01;
    def.gravity[1] = 0;
    def.solver.iterations = 400;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-5 : 1e-9);
    sinew_world *world = make_world(&def);
    sinew_contact_def touch = sinew_default_contact_def();
    touch.thickness = (sinew_real)THICKNESS;
    touch.friction = (sinew_real)random_between(r, 0, 0.8);
    touch.restitution = (sinew_real)restitution;
    assert_int_equal(sinew_world_set_contact(world, &touch, &error), SINEW_OK);
    sinew_real v[3 * 16];
    for (int b = 0; b < 2; b++) {
        const double middle[3] = {2 + b * (SIDE + 3 * THICKNESS), 1 + random_between(r, -0.2, 0.2),
                                  random_between(r, -0.2, 0.2)};
        add_box(world, SINEW_SOLVER_NEWTON, 1, SIDE, middle, 1e6);
        for (int i = 0; i < 8; i++)
            for (int k = 0; k < 3; k++)
                v[3 * (8 * b + i) + k] = (sinew_real)(k == 0 ? (b == 0 ? 1.5 : -0.5) : b == 0 ? 0.3 : 0);
    }
    assert_int_equal(sinew_world_set_velocities(world, 0, 16, v), SINEW_OK);
    return world;
}

/* Impulses of contact and of restitution keep the momentum of two free cubes; they change the angular momentum
 * sum of x cross m v by what the report states. */
static void check_collision(sinew_world *world, double *moved)
{
    sinew_contact_report report;
    sinew_real x[3 * 16], v0[3 * 16], v[3 * 16], m[16];
    double impulse[3] = {0, 0, 0}, turn[3] = {0, 0, 0}, scale = 0;
    assert_int_equal(sinew_world_get_velocities(world, 0, 16, v0), SINEW_OK);
    sinew_world_step(world, NULL);
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    assert_int_equal(sinew_world_get_positions(world, 0, 16, x), SINEW_OK);
    assert_int_equal(sinew_world_get_velocities(world, 0, 16, v), SINEW_OK);
    assert_int_equal(sinew_world_get_masses(world, 0, 16, m), SINEW_OK);
    for (int i = 0; i < 16; i++) {
        double at[3], change[3];
        for (int k = 0; k < 3; k++) {
            at[k] = (double)x[3 * i + k];
            change[k] = (double)m[i] * ((double)v[3 * i + k] - (double)v0[3 * i + k]);
            impulse[k] += change[k];
            scale += (double)m[i];
        }
        add_cross(at, change, 1, turn);
    }
    for (int k = 0; k < 3; k++) {
        *moved = fmax(*moved, fabs(report.angular_momentum_error[k]));
        if (!(fabs(impulse[k]) <= CLOSE * scale))
            fail_msg("the momentum along %c changes by %g N s", "xyz"[k], impulse[k]);
        if (!(fabs(turn[k] - report.angular_momentum_error[k]) <= CLOSE * scale))
            fail_msg("the angular momentum about %c changes by %g N m s, by the report %g", "xyz"[k], turn[k],
                     report.angular_momentum_error[k]);
    }
}

static void collisions(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("random collisions", 12, 100);
    double moved = 0, work = 0;
    for (int32_t i = 0; i < r.count; i++) {
        sinew_world *world = make_collision(i % 2 ? random_between(&r, 0.3, 1) : 0, &r);
        for (int k = 0; k < 8; k++) {
            sinew_contact_report report;
            check_collision(world, &moved);
            sinew_world_contact_report(world, &report, NULL);
            work = fmax(work, report.restitution_work);
        }
        sinew_world_destroy(world);
    }
    print_message("up to %g N m s, restitution up to %g J\n", moved, work);
    assert_true(moved > 1e-3 && work > 0.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(piles), cmocka_unit_test(collisions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
