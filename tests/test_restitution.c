/* SPDX-License-Identifier: MIT
 *
 * test_restitution.c: impacts of boxes and balls against closed forms: speeds after over before, Coulomb friction in
 * oblique impacts, moving plates, rows of bodies, mixed coefficients; energy and momenta in random impacts.
 */
#include "impact_worlds.h"
#include "random_cases.h"

#ifdef SINEW_SINGLE
#define ENERGY   1e-5
#define MOMENTUM 1e-5
/* Round-off of single precision turns two free bodies that meet face to face or pole to pole a little, and they keep a
 * part of the energy as spin. */
#define STIFF_PAIR 0.15
#else
#define ENERGY     1e-9
#define MOMENTUM   1e-12
#define STIFF_PAIR STIFF
#endif

/* A body is stiff where the time step is longer than twice the time of a wave across it: h = 5 ms, 2 L / c = 2 ms. */
#define STIFF 0.05 /* largest error of the speed of stiff bodies, as a fraction of e times the approach, or of 1 */

#define SPEED 3.0
#define GAP   1.3e-3

static const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN,   SINEW_SOLVER_PD,
                                            SINEW_SOLVER_ADMM,   SINEW_SOLVER_PBNG, SINEW_SOLVER_XPBD,
                                            SINEW_SOLVER_PBD,    SINEW_SOLVER_MPBNG};
enum {
    SOLVERS = sizeof solvers / sizeof solvers[0],
    SHAPES = 4
};
static const int shapes[SHAPES] = {1, 3, 6, 0};

static const char *name_of(const impact_case *k)
{
    static char text[160];
    snprintf(text, sizeof text, "%s, shape %d, E %g, e %g, mu %g, h %g", sinew_get_solver_info(k->solver)->name,
             k->shape, k->young, k->e, k->mu, k->h);
    return text;
}

static int steps_of(const impact_case *k)
{
    return k->young < 1e6 ? (int)(0.06 / k->h) : 12;
}

/* ---- One impact ------------------------------------------------------------------------------ */

/* Speed of a body after a vertical impact on a floor over its speed before. */
static double rebound_from_floor(const impact_case *k)
{
    sinew_world *world = make_impact(k);
    double v[3];
    add_floor(world);
    const sinew_body body = add_impactor(world, k, (const double[]){0, IMPACT_SIZE / 2 + k->thickness + GAP, 0}, 0,
                                         (const double[]){0, -SPEED, 0});
    for (int s = 0; s < steps_of(k); s++)
        impact_step(world);
    body_velocity(world, body, v);
    sinew_world_destroy(world);
    return v[1] / SPEED;
}

/* Speed of separation of two equal bodies over their speed of approach. */
static double rebound_from_each_other(const impact_case *k)
{
    sinew_world *world = make_impact(k);
    double v[2][3];
    const sinew_body upper = add_impactor(world, k, (const double[]){0, IMPACT_SIZE + k->thickness + GAP, 0}, 0,
                                          (const double[]){0, -SPEED, 0});
    const sinew_body lower = add_impactor(world, k, (const double[]){0, 0, 0}, 0, (const double[]){0, 0, 0});
    for (int s = 0; s < steps_of(k); s++)
        impact_step(world);
    body_velocity(world, upper, v[0]);
    body_velocity(world, lower, v[1]);
    sinew_world_destroy(world);
    return (v[0][1] - v[1][1]) / SPEED;
}

/* Solvers whose steps are solved with the iterations that they have by default. xpbd and pbd make energy in impacts of
 * fine meshes, with restitution 0 too (two balls: 50 times their energy), and mpbng changes momentum. */
static bool solves(const impact_case *k)
{
    const bool sweeps = k->solver == SINEW_SOLVER_XPBD || k->solver == SINEW_SOLVER_PBD;
    return k->solver != SINEW_SOLVER_MPBNG && (!sweeps || (k->shape > 0 && k->shape < 6));
}

/* Two balls meet at one soft pole each. By admm and pbng they separate with 0.468 and 0.470 at e = 0.5, also with 450
 * iterations of admm; all other solved pairs keep e within STIFF_PAIR. */
static double pair_bound(const impact_case *k)
{
    const bool balls = k->shape == 0 && (k->solver == SINEW_SOLVER_ADMM || k->solver == SINEW_SOLVER_PBNG);
    return balls ? fmax(STIFF_PAIR, 0.1) : STIFF_PAIR;
}

static void check_stiff(const impact_case *k)
{
    const double floor = rebound_from_floor(k), each = rebound_from_each_other(k);
    /* A vibrating body rebounds a little without restitution, too: by 0.07 of the speed (balls, whose poles are
     * soft). */
    const double own = k->e > 0 ? STIFF * k->e : 0.1, pair = k->e > 0 ? pair_bound(k) * k->e : 0.1;
    if (!(fabs(floor - k->e) <= own && (fabs(each - k->e) <= pair || !solves(k))))
        fail_msg("%s: rebounds with %.4f from a floor, with %.4f from each other", name_of(k), floor, each);
}

/* The speed of the centre of mass after over before is e, for every mesh and solver. */
static void stiff_bodies(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("stiff bodies", 10, SOLVERS * SHAPES * 3);
    const int first = random_index(&r, SOLVERS * SHAPES * 3);
    for (int i = 0; i < r.count; i++) {
        const int c = (first + 7 * i) % (SOLVERS * SHAPES * 3); /* 7 has no common divisor with their number */
        impact_case k = impact_default();
        k.solver = solvers[c % SOLVERS];
        k.shape = shapes[c / SOLVERS % SHAPES];
        k.e = 0.5 * (double)(c / (SOLVERS * SHAPES));
        if (k.e > 0 || solves(&k))
            check_stiff(&k);
    }
    for (int s = 0; s < SHAPES; s++)
        for (int e = 0; e < 3; e++) {
            impact_case k = impact_default();
            k.shape = shapes[s];
            k.e = 0.5 * e;
            check_stiff(&k);
        }
}

/* Adds a rigid box or ball whose lowest point is at y, with a vertical velocity. */
static sinew_body add_rigid_impactor(sinew_world *world, const impact_case *k, double y, double speed)
{
    sinew_error error = {0};
    sinew_real x[12], v[12] = {0};
    sinew_body_def def = sinew_default_body_def();
    sinew_mesh *mesh = make_impact_mesh(k->shape);
    def.mesh = mesh;
    const sinew_body body = sinew_world_add_rigid(world, &def, &error);
    must(&error);
    const int32_t first = sinew_body_first_particle(world, body);
    assert_int_equal(sinew_world_get_positions(world, first, 4, x), SINEW_OK);
    for (int a = 0; a < 4; a++) {
        x[3 * a + 1] += (sinew_real)(y + IMPACT_SIZE / 2);
        v[3 * a + 1] = (sinew_real)speed;
    }
    assert_int_equal(sinew_world_set_positions(world, first, 4, x), SINEW_OK);
    assert_int_equal(sinew_world_set_velocities(world, first, 4, v), SINEW_OK);
    sinew_mesh_destroy(mesh);
    return body;
}

/* Rigid bodies, by newton and xpbd. Sweeps of xpbd load the vertices of a face unevenly, so bodies turn, and keep a
 * part of the energy as spin. Energy in hard distances is not measured: newton leaves 1e-9 of the whole there. */
static void rigid_bodies(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        impact_case k = impact_default();
        k.solver = i < 8 ? SINEW_SOLVER_XPBD : SINEW_SOLVER_NEWTON;
        k.shape = i % 2 ? 0 : 1;
        k.e = i % 4 < 2 ? 1 : 0.5;
        const bool pair = i % 8 >= 4;
        const double least = i >= 8 ? 1 - STIFF_PAIR : pair ? 0.4 : 0.8;
        sinew_world *world = make_impact(&k);
        const sinew_body upper = add_rigid_impactor(world, &k, k.thickness + GAP, -SPEED);
        double v[2][3] = {{0}};
        sinew_body lower = upper;
        if (pair)
            lower = add_rigid_impactor(world, &k, -IMPACT_SIZE, 0);
        else
            add_floor(world);
        const double energy = total_energy(world);
        for (int s = 0; s < 12; s++) {
            impact_step(world);
            assert_true(total_energy(world) <= energy * (1 + 100 * ENERGY));
        }
        body_velocity(world, upper, v[0]);
        if (pair)
            body_velocity(world, lower, v[1]);
        print_message("rigid: %s, %s: %.4f\n", name_of(&k), pair ? "pair" : "floor", (v[0][1] - v[1][1]) / SPEED);
        assert_true((v[0][1] - v[1][1]) / SPEED > least * k.e && (v[0][1] - v[1][1]) / SPEED < 1.05 * k.e);
        sinew_world_destroy(world);
    }
}

/* A soft body keeps between what an impact at a tiny time step keeps by itself, and e. */
static void soft_bodies(void **state)
{
    (void)state;
    for (int s = 0; s < 2; s++)
        for (int step = 0; step < 2; step++) {
            impact_case k = impact_default();
            k.shape = s == 0 ? 2 : 0;
            k.young = 1e5;
            k.e = 0;
            k.h = 2e-4;
            const double itself = rebound_from_floor(&k);
            k.e = 1;
            k.h = step == 0 ? 5e-3 : 1e-3;
            const double kept = rebound_from_floor(&k);
            print_message("soft: %s: %.3f; e = 0 and h = 0.2 ms: %.3f\n", name_of(&k), kept, itself);
            assert_true(kept >= itself - 0.02 && kept <= 1 + ENERGY);
        }
}

/* ---- Oblique impacts and moving plates ----------------------------------------------------------- */

/* Largest error of the speed of the centre of mass after an oblique impact, as a fraction of e times the approach. The
 * velocity at the contact has the part e. A box tilts under friction and keeps a part of its energy as spin. A ball of
 * 5 segments has contacts up to half a facet, 9 degrees, beside its lowest point: there the spin of the rim, 5/2 of
 * the change of speed by friction, has a vertical component. */
static double oblique_bound(const impact_case *k, double friction)
{
    const double half_facet = 3.14159265358979 / 20;
    return k->shape > 0 ? 0.25 : STIFF + 2.5 * friction * sin(half_facet) / (k->e * SPEED);
}

/* A body that flies along x onto a plate: the impulse of friction is mu times that of the normal force, and turns the
 * body; or the contact sticks. Rigid body: v_x' = v_x - mu (1 + e) v_n while it slides, spin w = -arm m dv_x / J. */
static void oblique_impacts(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("oblique impacts", 6, 60);
    for (int i = 0; i < r.count; i++) {
        impact_case k = impact_default();
        k.shape = i % 2 ? 0 : 3;
        k.e = random_between(&r, 0.3, 1);
        k.mu = random_between(&r, 0.05, 0.2);
        k.solver = i % 3 == 2 ? SINEW_SOLVER_QN : SINEW_SOLVER_NEWTON;
        k.iterations = 100;
        const double slide = random_between(&r, 3, 5);
        sinew_world *world = make_impact(&k);
        add_plate(world, (const double[]){0, 0, 0});
        const sinew_body body = add_impactor(world, &k, (const double[]){0, IMPACT_SIZE / 2 + k.thickness + GAP, 0}, 0,
                                             (const double[]){slide, -SPEED, 0});
        double v[3];
        for (int s = 0; s < 3; s++)
            impact_step(world);
        body_velocity(world, body, v);
        const double normal = v[1] + SPEED, friction = slide - v[0];
        print_message("oblique: %s: v_y %.4f of e v, friction %.4f of mu times the normal impulse\n", name_of(&k),
                      v[1] / (k.e * SPEED), friction / (k.mu * normal));
        assert_true(fabs(v[1] / (k.e * SPEED) - 1) < oblique_bound(&k, friction));
        assert_true(fabs(friction / (k.mu * normal) - 1) < STIFF);
        sinew_world_destroy(world);
    }
}

/* A rising plate: in its frame a body approaches with v + V and leaves with e (v + V), which is V more outside. */
static void rising_plate(void **state)
{
    (void)state;
    for (int s = 0; s < SHAPES; s++)
        for (int down = 0; down < 2; down++) {
            impact_case k = impact_default();
            const double V = down ? -1 : 2;
            k.shape = shapes[s];
            k.e = 0.8;
            sinew_world *world = make_impact(&k);
            add_plate(world, (const double[]){0, V, 0});
            double v[3];
            const sinew_body body =
                add_impactor(world, &k, (const double[]){0, IMPACT_SIZE / 2 + k.thickness + 1.3e-3, 0}, 0,
                             (const double[]){0, -SPEED, 0});
            for (int i = 0; i < 12; i++)
                impact_step(world);
            body_velocity(world, body, v);
            const double expected = V + k.e * (SPEED + V);
            print_message("plate at %g m/s: %s: v = %.4f, expected %.4f\n", V, name_of(&k), v[1], expected);
            assert_true(fabs(v[1] - expected) < STIFF * k.e * (SPEED + V));
            sinew_world_destroy(world);
        }
}

/* ---- Rows of bodies -------------------------------------------------------------------------------- */

/* A body hits a row of two, which touch or are apart. Apart, each impact is one of two bodies. */
static void rows_of_three(void **state)
{
    (void)state;
    for (int shape = 0; shape < 2; shape++)
        for (int apart = 0; apart < 2; apart++)
            for (int e = 1; e < 3; e++) {
                impact_case k = impact_default();
                k.shape = shape ? 0 : 2;
                k.e = 0.5 * e;
                sinew_world *world = make_impact(&k);
                const double pitch = IMPACT_SIZE + k.thickness;
                sinew_body row[3];
                double v[3][3];
                for (int b = 0; b < 3; b++)
                    row[b] = add_impactor(world, &k,
                                          (const double[]){0,
                                                           pitch * b + (b == 0            ? -GAP
                                                                        : apart && b == 2 ? 0.06
                                                                                          : 0),
                                                           0},
                                          0, (const double[]){0, b == 0 ? SPEED : 0, 0});
                const double energy = total_energy(world);
                for (int s = 0; s < 40; s++)
                    impact_step(world);
                for (int b = 0; b < 3; b++)
                    body_velocity(world, row[b], v[b]);
                print_message("row of three %s, %s: %.4f %.4f %.4f of the speed, %.4f of the energy\n",
                              shape ? "balls" : "boxes", apart ? "apart" : "touching", v[0][1] / SPEED, v[1][1] / SPEED,
                              v[2][1] / SPEED, total_energy(world) / energy);
                assert_true(total_energy(world) <= energy * (1 + ENERGY));
                assert_true(fabs(v[0][1] + v[1][1] + v[2][1] - SPEED) < 1e-4 * SPEED);
                const double a = (1 - k.e) / 2, b = (1 + k.e) / 2;
                if (apart)
                    assert_true(fabs(v[2][1] / SPEED - b * b) < STIFF_PAIR &&
                                fabs(v[1][1] / SPEED - a * b) < STIFF_PAIR);
                else
                    assert_true(v[2][1] >= v[1][1] - STIFF && v[1][1] >= v[0][1] - STIFF);
                sinew_world_destroy(world);
            }
}

/* ---- Mixed coefficients ---------------------------------------------------------------------------- */

/* A pair has the larger restitution of both objects: bodies, colliders, and the world where they have none. */
static void restitution_is_the_larger_one(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("mixed restitution", 4, 40);
    for (int i = 0; i < r.count; i++) {
        impact_case k = impact_default();
        sinew_error error = {0};
        const double own = random_between(&r, 0, 1), floor = random_between(&r, 0, 1);
        k.e = random_between(&r, 0, 1);
        sinew_world *world = make_impact(&k);
        sinew_collider_def plane = sinew_default_collider_def(SINEW_SHAPE_PLANE);
        plane.restitution = i % 2 ? (sinew_real)floor : plane.restitution;
        add_collider(world, &plane);
        const sinew_body body = add_impactor(world, &k, (const double[]){0, IMPACT_SIZE / 2 + k.thickness + GAP, 0}, 0,
                                             (const double[]){0, -SPEED, 0});
        sinew_body_contact contact = sinew_default_body_contact();
        contact.restitution = i % 4 < 2 ? (sinew_real)own : contact.restitution;
        sinew_body_set_contact(world, body, &contact, &error);
        must(&error);
        double v[3];
        for (int s = 0; s < 12; s++)
            impact_step(world);
        body_velocity(world, body, v);
        const double e = fmax(i % 4 < 2 ? own : k.e, i % 2 ? floor : k.e);
        if (!(fabs(v[1] / SPEED - e) < STIFF))
            fail_msg("body %g, floor %g, world %g: %g", (double)contact.restitution, (double)plane.restitution, k.e,
                     v[1] / SPEED);
        sinew_world_destroy(world);
    }
}

/* ---- Energy and momenta ------------------------------------------------------------------------------ */

/* Adds up over the steps of a closed world what restitution adds and what everything else loses: it returns what was
 * lost before, at most. */
typedef struct energy_account {
    double start, last, made; /* energy at the start and now; sum of what steps made without restitution */
} energy_account;

static void account_step(sinew_world *world, energy_account *account, const char *what)
{
    sinew_error error = {0};
    sinew_balance b;
    impact_step(world);
    sinew_world_balance(world, &b, &error);
    must(&error);
    const double now = total_energy(world);
    account->made += fmax(0, now - b.restitution - account->last);
    account->last = now;
    if (!(now <= (account->start + account->made) * (1 + ENERGY)))
        fail_msg("%s: energy %.17g of %.17g, %g made by steps, %g by restitution now", what, now, account->start,
                 account->made, b.restitution);
}

static void momenta_of(sinew_world *world, double p[3])
{
    sinew_measures m;
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    for (int c = 0; c < 3; c++)
        p[c] = m.linear_momentum[c];
}

/* Random bodies that fly into each other in free space: any solver, material, time step, friction. */
static void random_impacts(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("random impacts", 6, 150);
    for (int i = 0; i < r.count; i++) {
        impact_case k = impact_default();
        k.solver = solvers[random_index(&r, SOLVERS)];
        k.shape = random_index(&r, 4);
        k.young = random_magnitude(&r, 1e5, 1e7);
        k.e = random_between(&r, 0, 1.2) > 1 ? 1 : random_between(&r, 0, 1);
        k.mu = random_index(&r, 3) ? random_between(&r, 0, 1) : 0;
        k.thickness = random_magnitude(&r, 5e-4, 5e-3);
        k.h = random_magnitude(&r, 5e-4, 2e-2);
        const int bodies = 2 + random_index(&r, 3);
        sinew_world *world = make_impact(&k);
        double before[3], after[3], size = 0;
        for (int b = 0; b < bodies; b++) {
            const double place[3] = {random_between(&r, -0.04, 0.04), 0.16 * b, random_between(&r, -0.04, 0.04)};
            const double v = b == 0 ? SPEED : random_between(&r, -SPEED, 0);
            add_impactor(world, &k, place, random_between(&r, -0.6, 0.6),
                         (const double[]){random_between(&r, -0.3, 0.3), v, random_between(&r, -0.3, 0.3)});
            size += SPEED;
        }
        char what[200];
        snprintf(what, sizeof what, "case %d: %d bodies, thickness %g, %s", i, bodies, k.thickness, name_of(&k));
        energy_account account = {total_energy(world), total_energy(world), 0};
        for (int s = 0; s < (int)fmin(60, 0.12 / k.h + 10); s++) {
            sinew_contact_report report;
            sinew_error error = {0};
            momenta_of(world, before);
            account_step(world, &account, what);
            momenta_of(world, after);
            sinew_world_contact_report(world, &report, &error);
            /* Steps that the filter truncates, or that are not solved, change momentum by themselves. */
            if (report.restitution_work > 0 && k.solver == SINEW_SOLVER_NEWTON && report.filtered_vertices == 0)
                for (int c = 0; c < 3; c++)
                    if (!(fabs(after[c] - before[c]) <= 1e3 * MOMENTUM * size))
                        fail_msg("%s: momentum changes by %g", what, after[c] - before[c]);
        }
        sinew_world_destroy(world);
    }
}

/* The same on a plate with a constant velocity: in the frame of the plate the energy does not rise. */
static double energy_in_frame(sinew_world *world, const double V[3])
{
    sinew_measures m;
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    double energy = m.kinetic + m.elastic;
    for (int c = 0; c < 3; c++)
        energy += m.mass * V[c] * V[c] / 2 - m.linear_momentum[c] * V[c];
    return energy;
}

/* Largest energy that steps without restitution may make, as a fraction of the energy at the start, in solved steps and
 * in steps that the filter truncates, which are not solved. Of 200 random cases one truncated step made 0.022 and no
 * step made more than 1e-3 otherwise. */
#define MADE_SOLVED    5e-3
#define MADE_TRUNCATED 0.1
/* Largest energy that restitution may return beyond what was lost. In single precision one of about 30 random cases
 * returned 0.020, after a step that the filter truncated; not cured. */
#define RETURNED_MAX (sizeof(sinew_real) == 4 ? 0.05 : ENERGY)

static void random_plates(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("random plates", 6, 100);
    for (int i = 0; i < r.count; i++) {
        impact_case k = impact_default();
        k.solver = i % 2 ? SINEW_SOLVER_QN : SINEW_SOLVER_NEWTON;
        k.iterations = 300;
        k.shape = random_index(&r, 4);
        k.young = random_magnitude(&r, 1e5, 1e7);
        k.e = random_between(&r, 0.2, 1);
        k.mu = random_between(&r, 0, 1);
        k.h = random_magnitude(&r, 1e-3, 1e-2);
        const double V[3] = {random_between(&r, -1, 1), random_between(&r, -1, 3), random_between(&r, -1, 1)};
        sinew_world *world = make_impact(&k);
        add_plate(world, V);
        for (int b = 0; b < 2; b++)
            add_impactor(world, &k, (const double[]){0.02 * b, IMPACT_SIZE * (0.8 + 1.6 * b), 0},
                         random_between(&r, -0.5, 0.5), (const double[]){0, -SPEED, 0});
        const double start = energy_in_frame(world, V);
        double made = 0, made_truncated = 0, last = start;
        for (int s = 0; s < (int)(0.1 / k.h); s++) {
            sinew_error error = {0};
            sinew_contact_report report;
            impact_step(world);
            sinew_world_contact_report(world, &report, &error);
            const double now = energy_in_frame(world, V);
            *(report.filtered_vertices > 0 ? &made_truncated : &made) += fmax(0, now - report.restitution_work - last);
            last = now;
            if (!(now <= (start + made + made_truncated) * (1 + RETURNED_MAX)) || !(made < MADE_SOLVED * start) ||
                !(made_truncated < MADE_TRUNCATED * start))
                fail_msg("plate at %g %g %g, case %d, step %d: %s: energy %.12g of %.12g, %g made by solved steps, "
                         "%g by truncated ones",
                         V[0], V[1], V[2], i, s, name_of(&k), now, start, made, made_truncated);
        }
        sinew_world_destroy(world);
    }
}

/* ---- Bad input --------------------------------------------------------------------------------------- */

static void refuse(sinew_error *error, sinew_status status, const char *owner)
{
    assert_int_equal(status, SINEW_ERROR_DATA);
    if (!strstr(error->text, "restitution") || !strstr(error->text, owner))
        fail_msg("refused with \"%s\"", error->text);
}

/* Restitution outside of 0 .. 1 and, for a world, NaN is refused with the name of its owner. */
static void bad_coefficients(void **state)
{
    (void)state;
    const double bad[] = {-0.1, 1.000001, (double)INFINITY, -(double)INFINITY, (double)NAN};
    const impact_case k = impact_default();
    sinew_world *world = make_impact(&k);
    const sinew_body body = add_impactor(world, &k, (const double[]){0, 1, 0}, 0, (const double[]){0, 0, 0});
    for (int i = 0; i < 5; i++) {
        sinew_error error = {0};
        sinew_contact_def def = sinew_world_contact(world);
        def.restitution = (sinew_real)bad[i];
        refuse(&error, sinew_world_set_contact(world, &def, &error), "contact");
        if (isnan(bad[i]))
            continue; /* of bodies and colliders: the world's value */
        sinew_body_contact own = sinew_default_body_contact();
        own.restitution = (sinew_real)bad[i];
        refuse(&error, sinew_body_set_contact(world, body, &own, &error), "body 0");
        sinew_collider_def plane = sinew_default_collider_def(SINEW_SHAPE_PLANE);
        plane.restitution = (sinew_real)bad[i];
        assert_true(sinew_world_add_collider(world, &plane, &error).index < 0);
        refuse(&error, error.status, "plane");
    }
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stiff_bodies),     cmocka_unit_test(soft_bodies),
        cmocka_unit_test(oblique_impacts),  cmocka_unit_test(rising_plate),
        cmocka_unit_test(rows_of_three),    cmocka_unit_test(restitution_is_the_larger_one),
        cmocka_unit_test(random_impacts),   cmocka_unit_test(random_plates),
        cmocka_unit_test(bad_coefficients), cmocka_unit_test(rigid_bodies),
    };
    return cmocka_run_group_tests_name("restitution", tests, NULL, NULL);
}
