/* SPDX-License-Identifier: MIT
 *
 * test_admm_hard.c: ADMM with hard energies, which it projects on: thesis 4.4.2, (4.76).
 *
 * The step has to reach min 1/(2 h^2) |M^(1/2) (q - q_tilde)|^2 subject to C = 0; soft energies add their sum.
 * References: Newton's method on the KKT conditions M/h^2 (q - q_tilde) + J^T mu = 0, C = 0 of a rope, in double and
 * with dense elimination; closed forms; and the residual of the KKT conditions.
 */
#include "dense_solve.h"
#include "solver_scenes.h"

#include "random_cases.h"
#include "sinew/hard.h"

#define SOLVED (IS_SINGLE ? 2e-4 : 1e-8)

/* ---- Ropes against Newton's method on the KKT conditions --------------------------------------- */

enum {
    POINTS = 5,
    LINKS = POINTS - 1,
    UNKNOWNS = 3 * POINTS + LINKS
};

typedef struct hard_rope {
    double h, density, weight, rest;
    sinew_real start[3 * POINTS], velocity[3 * POINTS];
} hard_rope;

static hard_rope draw_rope(random_cases *r)
{
    hard_rope d = {.h = random_magnitude(r, 3e-3, 5e-2), .density = random_magnitude(r, 0.1, 10), .rest = 0.25};
    d.weight = random_index(r, 2) == 0 ? 0 : random_between(r, 0.5, 2);
    for (int i = 0; i < 3 * POINTS; i++) {
        d.start[i] = (sinew_real)((i % 3 == 0 ? d.rest * (i / 3) : 0) + random_between(r, -0.03, 0.03));
        d.velocity[i] = (sinew_real)random_between(r, -1, 1);
    }
    return d;
}

/* Adds link j to matrix and right-hand side: C = l - L with gradient n and Hessian term mu (1 - n n^T) / l. */
static void add_link(const hard_rope *d, const double x[UNKNOWNS], int j, double A[UNKNOWNS][UNKNOWNS],
                     double b[UNKNOWNS])
{
    const int row = 3 * POINTS + j;
    double n[3], l = 0;
    for (int c = 0; c < 3; c++) {
        n[c] = x[3 * (j + 1) + c] - x[3 * j + c];
        l += n[c] * n[c];
    }
    l = sqrt(l);
    b[row] = -(l - d->rest);
    for (int c = 0; c < 3; c++)
        n[c] /= l;
    for (int side = 0; side < 2; side++)
        for (int c = 0; c < 3; c++) {
            const int at = 3 * (j + side) + c;
            const double sign = side ? 1 : -1;
            A[row][at] = A[at][row] = sign * n[c];
            b[at] -= sign * n[c] * x[row];
            for (int k = 0; k < 6; k++)
                A[at][3 * j + k] += sign * (k < 3 ? -1 : 1) * x[row] * ((k % 3 == c ? 1 : 0) - n[c] * n[k % 3]) / l;
        }
}

/* Solves the KKT conditions for x = [q, mu] by Newton's method, starting at q_tilde. */
static void newton_on_conditions(const hard_rope *d, const double q_tilde[3 * POINTS], double x[UNKNOWNS])
{
    static double A[UNKNOWNS][UNKNOWNS];
    memset(x, 0, UNKNOWNS * sizeof *x);
    memcpy(x, q_tilde, 3 * POINTS * sizeof *x);
    for (int k = 0; k < 50; k++) {
        double b[UNKNOWNS] = {0};
        memset(A, 0, sizeof A);
        for (int i = 0; i < 3 * POINTS; i++) {
            const double m = d->density * d->rest * (i < 3 || i >= 3 * (POINTS - 1) ? 0.5 : 1) / (d->h * d->h);
            A[i][i] = m;
            b[i] = -m * (x[i] - q_tilde[i]);
        }
        for (int j = 0; j < LINKS; j++)
            add_link(d, x, j, A, b);
        dense_solve(&A[0][0], UNKNOWNS, b, UNKNOWNS, 0);
        for (int i = 0; i < UNKNOWNS; i++)
            x[i] += b[i];
    }
}

static sinew_world *make_hard_rope(const hard_rope *d, int iterations)
{
    const double from[3] = {0, 0, 0}, to[3] = {d->rest * LINKS, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.time_step = (sinew_real)d->h;
    def.solver = solver_of(SINEW_SOLVER_ADMM, iterations);
    set(&def.solver, "weight", d->weight);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(POINTS, from, to);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    energy.body = add_mesh(world, mesh, d->density, d->start, d->velocity);
    energy.hard = true;
    /* The stiffness of a hard energy affects convergence only; this one is comparable to the inertia. */
    energy.parameters[0] = (sinew_real)(d->density * d->rest / (d->h * d->h));
    add_energy(world, &energy);
    sinew_mesh_destroy(mesh);
    return world;
}

static void hard_ropes_meet_the_conditions(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("hard ropes", 20, 1000);
    for (int32_t i = 0; i < r.count; i++) {
        const hard_rope d = draw_rope(&r);
        double q_tilde[3 * POINTS], x[UNKNOWNS];
        for (int k = 0; k < 3 * POINTS; k++)
            q_tilde[k] = (double)d.start[k] + d.h * (double)d.velocity[k];
        newton_on_conditions(&d, q_tilde, x);
        sinew_world *world = make_hard_rope(&d, 1000);
        step_of(world);
        sinew_real *q = positions_of(world);
        for (int k = 0; k < 3 * POINTS; k++)
            if (fabs((double)q[k] - x[k]) > SOLVED)
                fail_msg("rope %d: %.12g and not %.12g", (int)i, (double)q[k], x[k]);
        assert_true(sinew_world_violation(world) < SOLVED);
        free(q);
        sinew_world_destroy(world);
    }
}

/* After one iteration z is on the set and q is not; the reported violation is that of the lengths of q. */
static void violation_is_that_of_the_positions(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("violations", 5, 200);
    for (int32_t i = 0; i < r.count; i++) {
        const hard_rope d = draw_rope(&r);
        double before = HUGE_VAL;
        for (int iterations = 1; iterations <= 256; iterations *= 16) {
            sinew_world *world = make_hard_rope(&d, iterations);
            const sinew_step_result result = step_of(world);
            sinew_real *q = positions_of(world);
            double max = 0;
            for (int j = 0; j < LINKS; j++) {
                double l = 0;
                for (int c = 0; c < 3; c++)
                    l += pow((double)(q[3 * (j + 1) + c] - q[3 * j + c]), 2);
                max = fmax(max, fabs(sqrt(l) - d.rest));
            }
            assert_true(fabs(sinew_world_violation(world) - max) < (IS_SINGLE ? 1e-6 : 1e-14));
            assert_true(iterations > 1 || max > 1e-6);
            assert_true(max < before);
            assert_int_equal(result.gap_kind, SINEW_GAP_UNKNOWN);
            assert_non_null(strstr(result.gap_reason, "hard"));
            assert_true(result.bits & SINEW_STEP_NOT_CONVERGED);
            before = IS_SINGLE ? HUGE_VAL : max;
            free(q);
            sinew_world_destroy(world);
        }
    }
}

/* ---- Positions --------------------------------------------------------------------------------- */

/* A rope of soft springs whose first vertex is held against gravity by a hard position energy, or pinned. */
static sinew_world *hold_rope(bool pinned)
{
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.02;
    def.solver = solver_of(SINEW_SOLVER_ADMM, 2000);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(POINTS, from, to);
    const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    const sinew_real target[3] = {(sinew_real)0.01, (sinew_real)0.02, 0};
    add_springs(world, body, 200);
    if (pinned) {
        add_pins(world, body, &(int32_t){0}, 1, target);
    } else {
        sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_POSITION);
        energy.body = body;
        energy.elements = &(int32_t){0};
        energy.element_count = 1;
        energy.targets = target;
        energy.hard = true;
        energy.parameters[0] = 200;
        add_energy(world, &energy);
    }
    sinew_mesh_destroy(mesh);
    return world;
}

static void a_hard_position_is_a_pin(void **unused)
{
    (void)unused;
    sinew_world *hard = hold_rope(false), *pinned = hold_rope(true);
    for (int step = 0; step < 3; step++) {
        step_of(hard);
        assert_true(sinew_world_violation(hard) < SOLVED);
        step_of(pinned);
        sinew_real *a = positions_of(hard), *b = positions_of(pinned);
        const double off = largest_difference(a, b, 3 * POINTS);
        if (off > 10 * SOLVED)
            fail_msg("step %d: %g m from pinned", step, off);
        free(a);
        free(b);
    }
    sinew_world_destroy(hard);
    sinew_world_destroy(pinned);
}

/* ---- Volume ------------------------------------------------------------------------------------ */

static sinew_world *hard_volume(const sinew_real *corners, const sinew_real *start)
{
    static const int32_t tet[4] = {0, 1, 2, 3};
    sinew_error error = {0};
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    mesh_def.positions = corners;
    mesh_def.vertex_count = 4;
    mesh_def.tets = tet;
    mesh_def.tet_count = 1;
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, &error);
    must(&error);
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.solver = solver_of(SINEW_SOLVER_ADMM, 2000);
    set(&def.solver, "weight", 1);
    sinew_world *world = make_world(&def);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_VOLUME);
    energy.body = add_mesh(world, mesh, 1000, start, NULL);
    energy.hard = true;
    energy.parameters[0] = (sinew_real)(1000 / (double)(def.time_step * def.time_step));
    add_energy(world, &energy);
    sinew_mesh_destroy(mesh);
    return world;
}

/* d = (b - a) x (c - a) */
static void area(const sinew_real *a, const sinew_real *b, const sinew_real *c, double d[3])
{
    double u[3], v[3];
    for (int i = 0; i < 3; i++) {
        u[i] = (double)(b[i] - a[i]);
        v[i] = (double)(c[i] - a[i]);
    }
    for (int i = 0; i < 3; i++)
        d[i] = u[(i + 1) % 3] * v[(i + 2) % 3] - u[(i + 2) % 3] * v[(i + 1) % 3];
}

/* Equal masses: q - q_tilde must be a multiple of the gradient of det F, whose blocks are the faces' area vectors. */
static double turn_from_gradient(const sinew_real q[12], const sinew_real start[12])
{
    static const int face[4][3] = {{1, 3, 2}, {0, 2, 3}, {0, 3, 1}, {0, 1, 2}};
    double along = 0, squared = 0, size = 0, gradient[12];
    for (int a = 0; a < 4; a++)
        area(q + 3 * face[a][0], q + 3 * face[a][1], q + 3 * face[a][2], gradient + 3 * a);
    for (int i = 0; i < 12; i++) {
        const double move = (double)(q[i] - start[i]);
        along += move * gradient[i];
        squared += gradient[i] * gradient[i];
        size += move * move;
    }
    return sqrt(fmax(1 - along * along / (squared * size), 0));
}

static void hard_volumes_meet_the_conditions(void **unused)
{
    (void)unused;
    static const sinew_real corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    random_cases r = random_cases_begin("hard volumes", 10, 500);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_real start[12];
        for (int k = 0; k < 12; k++)
            start[k] = corners[k] + (sinew_real)random_between(&r, -0.15, 0.15);
        sinew_world *world = hard_volume(corners, start);
        step_of(world);
        sinew_measures measures;
        sinew_world_measure(world, &measures);
        sinew_real *q = positions_of(world);
        const double turn = turn_from_gradient(q, start), violation = sinew_world_violation(world);
        if (fabs(measures.det_min - 1) > SOLVED || turn > (IS_SINGLE ? 2e-2 : 1e-5) || violation > SOLVED)
            fail_msg("tet %d: det F = %.12g, violation %g, %g off the gradient", (int)i, measures.det_min, violation,
                     turn);
        free(q);
        sinew_world_destroy(world);
    }
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

static void what_is_no_set_is_refused(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_info *info = sinew_get_energy_info((sinew_energy_kind)kind);
        if (strcmp(info->name, "neo_hookean") != 0 && strcmp(info->name, "corotated") != 0)
            continue;
        sinew_world_def def = sinew_default_world_def();
        sinew_error error = {0};
        def.solver = sinew_default_solver_def(SINEW_SOLVER_ADMM);
        sinew_world *world = make_world(&def);
        sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
        sinew_energy_def energy = sinew_default_energy_def((sinew_energy_kind)kind);
        energy.body = add_mesh(world, mesh, 1000, NULL, NULL);
        energy.hard = true;
        sinew_world_add_energy(world, &energy, &error);
        assert_int_equal(error.status, SINEW_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.text, "not a distance to a set"));
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_ropes_meet_the_conditions), cmocka_unit_test(violation_is_that_of_the_positions),
        cmocka_unit_test(a_hard_position_is_a_pin),       cmocka_unit_test(hard_volumes_meet_the_conditions),
        cmocka_unit_test(what_is_no_set_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
