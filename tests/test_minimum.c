/* SPDX-License-Identifier: MIT
 *
 * test_minimum.c: the minimum that a step finds, against one found without the library.
 *
 * This file has its own objective (lumped masses, inertia, gravity, materials from reference_material.h) and its own
 * minimiser: Newton's method with a Hessian by central differences of its own gradient, dense elimination and step
 * halving. Only the mesh comes from the library. The problem has 24 unknowns, so that dense differences stay cheap.
 */
#include "dense_solve.h"
#include "make_world.h"

#include "reference_material.h"

#ifdef SINEW_SINGLE
#define MINIMUM_ERROR 2e-6
#define VALUE_ERROR   1e-5
#else
#define MINIMUM_ERROR 1e-12
#define VALUE_ERROR   1e-12
#endif

enum {
    UNKNOWNS_MAX = 64,
    VERTICES_MAX = 32
};

/* ---- The reference objective --------------------------------------------------------------------- */

typedef struct problem {
    sinew_energy_kind kind;
    double E, nu, h; /* h = 0: quasistatic */
    double gravity[3];
    int32_t vertex_count, tet_count;
    const int32_t *tets;
    double X[3 * VERTICES_MAX]; /* rest positions */
    double m[VERTICES_MAX];
    double q_tilde[3 * VERTICES_MAX];
    int unknown_count;
    int unknown[UNKNOWNS_MAX]; /* indices of free coordinates */
} problem;

static void edges_of(const problem *p, const double *x, int32_t t, double D[9])
{
    const int32_t *tet = p->tets + 4 * t;
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            D[3 * i + a] = x[3 * tet[a + 1] + i] - x[3 * tet[0] + i];
}

/* B = Dm^-1; returns the volume */
static double rest_shape(const problem *p, int32_t t, double B[9])
{
    double Dm[9], C[9];
    edges_of(p, p->X, t, Dm);
    const double det = reference_det(Dm);
    reference_cofactor(Dm, C);
    for (int i = 0; i < 9; i++)
        B[i] = C[i % 3 * 3 + i / 3] / det;
    return fabs(det) / 6;
}

/* g(q); gradient over all coordinates may be NULL */
static double reference_objective(const problem *p, const double *q, double *gradient)
{
    double g = 0;
    for (int32_t i = 0; i < 3 * p->vertex_count; i++) {
        const double d = q[i] - p->q_tilde[i], m = p->m[i / 3];
        g += p->h > 0 ? m / (2 * p->h * p->h) * d * d : -m * p->gravity[i % 3] * q[i];
        if (gradient)
            gradient[i] = p->h > 0 ? m / (p->h * p->h) * d : -m * p->gravity[i % 3];
    }
    for (int32_t t = 0; t < p->tet_count; t++) {
        double B[9], Ds[9], F[9], P[9];
        const double volume = rest_shape(p, t, B);
        edges_of(p, q, t, Ds);
        for (int i = 0; i < 9; i++)
            F[i] = Ds[i / 3 * 3] * B[i % 3] + Ds[i / 3 * 3 + 1] * B[3 + i % 3] + Ds[i / 3 * 3 + 2] * B[6 + i % 3];
        g += volume * reference_material(p->kind, p->E, p->nu, F, P);
        for (int a = 0; gradient && a < 3; a++)
            for (int i = 0; i < 3; i++) {
                const double f =
                    volume * (P[3 * i] * B[3 * a] + P[3 * i + 1] * B[3 * a + 1] + P[3 * i + 2] * B[3 * a + 2]);
                gradient[3 * p->tets[4 * t + a + 1] + i] += f;
                gradient[3 * p->tets[4 * t] + i] -= f;
            }
    }
    return g;
}

/* ---- The reference minimiser --------------------------------------------------------------------- */

/* Takes one Newton step; returns |gradient| over the unknowns before it. */
static double reference_step(const problem *p, double *q)
{
    static double A[UNKNOWNS_MAX][UNKNOWNS_MAX];
    double gradient[3 * VERTICES_MAX], ahead[3 * VERTICES_MAX], behind[3 * VERTICES_MAX], d[UNKNOWNS_MAX];
    double residual = 0, slope = 0, trial[3 * VERTICES_MAX];
    const double g = reference_objective(p, q, gradient), step = 1e-6;
    for (int j = 0; j < p->unknown_count; j++) {
        const int at = p->unknown[j];
        const double kept = q[at];
        q[at] = kept + step;
        reference_objective(p, q, ahead);
        q[at] = kept - step;
        reference_objective(p, q, behind);
        q[at] = kept;
        for (int i = 0; i < p->unknown_count; i++)
            A[i][j] = (ahead[p->unknown[i]] - behind[p->unknown[i]]) / (2 * step);
        d[j] = -gradient[at];
        residual += d[j] * d[j];
    }
    dense_solve(&A[0][0], UNKNOWNS_MAX, d, p->unknown_count, 0);
    for (int j = 0; j < p->unknown_count; j++)
        slope += d[j] * gradient[p->unknown[j]];
    if (slope > 0) /* an ascent direction is reversed */
        for (int j = 0; j < p->unknown_count; j++)
            d[j] = -d[j];
    for (double alpha = 1; alpha > 1e-9; alpha /= 2) {
        memcpy(trial, q, sizeof trial);
        for (int j = 0; j < p->unknown_count; j++)
            trial[p->unknown[j]] += alpha * d[j];
        const double after = reference_objective(p, trial, NULL);
        if (isfinite(after) && after <= g + 1e-12 * fabs(g)) {
            memcpy(q, trial, sizeof trial);
            break;
        }
    }
    return sqrt(residual);
}

/* ---- The same problem in the library ------------------------------------------------------------- */

/* Fills the problem from the mesh: left face held, right end pulled, initial velocity upwards. */
static void pose(problem *p, const sinew_mesh *mesh, const double *start, double speed)
{
    p->vertex_count = sinew_mesh_vertex_count(mesh);
    p->tet_count = sinew_mesh_tet_count(mesh);
    p->tets = sinew_mesh_tets(mesh);
    assert_true(p->vertex_count <= VERTICES_MAX);
    memset(p->m, 0, sizeof p->m);
    for (int32_t i = 0; i < 3 * p->vertex_count; i++)
        p->X[i] = (double)sinew_mesh_positions(mesh)[i];
    for (int32_t t = 0; t < p->tet_count; t++) {
        double B[9];
        const double share = 1000 * rest_shape(p, t, B) / 4;
        for (int a = 0; a < 4; a++)
            p->m[p->tets[4 * t + a]] += share;
    }
    p->unknown_count = 0;
    for (int32_t i = 0; i < 3 * p->vertex_count; i++) {
        const double v = i % 3 == 1 ? speed : 0;
        p->q_tilde[i] = start[i] + p->h * v + p->h * p->h * p->gravity[i % 3];
        if (p->X[i / 3 * 3] > -0.99)
            p->unknown[p->unknown_count++] = i;
        else
            p->q_tilde[i] = start[i]; /* no inertia at pins */
    }
}

static void check_minimum(sinew_energy_kind kind, double h, double E)
{
    sinew_mesh *mesh = make_beam(2, 1, 1, 2, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const double speed = 3;
    double start[3 * VERTICES_MAX], q[3 * VERTICES_MAX];
    sinew_real first[3 * VERTICES_MAX], velocity[3 * VERTICES_MAX];
    uint32_t seed = 11;
    for (int32_t i = 0; i < 3 * n; i++) {
        first[i] = sinew_mesh_positions(mesh)[i];
        if (first[i / 3 * 3] > (sinew_real)-0.99)
            first[i] += (sinew_real)(0.08 * next_random(&seed) + (i % 3 == 0 ? 0.1 : 0));
        start[i] = (double)first[i];
        velocity[i] = (sinew_real)(i % 3 == 1 ? speed : 0);
    }
    problem p = {.kind = kind, .E = E, .nu = 0.3, .h = h, .gravity = {0, -9.81, 0}};
    pose(&p, mesh, start, speed);
    memcpy(q, start, sizeof q);
    const double before = reference_step(&p, q);
    double residual = before;
    for (int k = 0; k < 60 && residual > 1e-13 * before; k++)
        residual = reference_step(&p, q);
    assert_true(residual < 1e-9 * before);

    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = h == 0;
    def.time_step = h > 0 ? (sinew_real)h : 1;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-6 : 1e-13);
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, first, velocity);
    int32_t held[VERTICES_MAX];
    add_material(world, body, kind, E, p.nu);
    add_pins(world, body, held, vertices_at(mesh, 0, -1, -1, held), NULL);
    sinew_step_result result;
    assert_int_equal(sinew_world_step(world, &result) & SINEW_STEP_NOT_CONVERGED, 0);
    sinew_real *found = positions_of(world);
    double error = 0, moved = 0;
    for (int32_t i = 0; i < 3 * n; i++) {
        error = fmax(error, fabs((double)found[i] - q[i]));
        moved = fmax(moved, fabs(q[i] - start[i]));
    }
    const double g = reference_objective(&p, q, NULL);
    printf("%-20s %-11s E %.0e: moved %.3f m, largest difference %.1e m, objective %.6e J, difference %.1e\n",
           sinew_get_energy_info(kind)->name, h > 0 ? "dynamic" : "quasistatic", E, moved, error, g,
           fabs(result.objective - g) / fabs(g));
    assert_true(error < MINIMUM_ERROR);
    assert_true(fabs(result.objective - g) < VALUE_ERROR * (fabs(g) + E));
    assert_true(moved > 0.01);
    free(found);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

static void test_dynamic(void **state)
{
    (void)state;
    for (int kind = 0; kind < REFERENCE_MATERIAL_COUNT; kind++)
        check_minimum((sinew_energy_kind)kind, 0.05, 2e5);
}

static void test_quasistatic(void **state)
{
    (void)state;
    for (int kind = 0; kind < REFERENCE_MATERIAL_COUNT; kind++)
        check_minimum((sinew_energy_kind)kind, 0, 2e6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dynamic), cmocka_unit_test(test_quasistatic)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
