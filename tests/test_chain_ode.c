/* SPDX-License-Identifier: MIT
 *
 * test_chain_ode.c: a double pendulum and a chain of ten links by the five solvers of constraint systems, against the
 * same chains in minimal coordinates (angles), integrated by GSL.
 *
 *     sum_j M_ij theta_j'' = - sum_j mu_ij l_i l_j sin(theta_i - theta_j) theta_j'^2 - g l_i mu_ii sin(theta_i)
 *     M_ij = mu_ij l_i l_j cos(theta_i - theta_j),   mu_ij = sum over k >= max(i, j) of m_k
 *
 * (Lagrange's equations of point masses on massless rods; theta is measured from straight below; mu_ij is the mass that
 * both rods carry.) The integrator is the Prince-Dormand Runge-Kutta method of order 8 with a tolerance of 1e-12 a
 * step. A second tolerance and another method confirm its end state to 1e-10. All five solvers are of first order:
 * halving h halves the error, and the extrapolation 2 q(h/2) - q(h) is much closer to the reference.
 *
 * Needs the Debian package libgsl-dev; without it the test is skipped.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_world.h"

#ifdef SINEW_WITH_GSL
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_odeiv2.h>

#define GRAVITY 9.81

enum {
    LINK_MAX = 10
};

typedef struct chain {
    const char *name;
    int links;
    double length[LINK_MAX], mass[LINK_MAX]; /* m, kg, from the fixed end */
    double angle;                            /* rad from straight below, of all links at the start, at rest */
    double seconds;
    double h; /* s */
} chain;

/* A double pendulum of different links, and a chain of ten equal ones. Half a swing, before chaos amplifies errors. */
static chain double_pendulum(void)
{
    return (chain){.name = "double pendulum",
                   .links = 2,
                   .length = {0.6, 0.4},
                   .mass = {1, 0.5},
                   .angle = 1.5707963267948966,
                   .seconds = 0.5,
                   .h = sizeof(sinew_real) == 4 ? 4e-3 : 1e-3};
}

static chain ten_links(void)
{
    chain c = {.name = "chain of ten links",
               .links = LINK_MAX,
               .angle = 1,
               .seconds = 0.4,
               .h = sizeof(sinew_real) == 4 ? 4e-3 : 2.5e-4};
    for (int i = 0; i < LINK_MAX; i++) {
        c.length[i] = 0.1;
        c.mass[i] = 0.05;
    }
    return c;
}

/* ---- In angles, by GSL ------------------------------------------------------------------------- */

static double hanging(const chain *c, int i)
{
    double sum = 0;
    for (int k = i; k < c->links; k++)
        sum += c->mass[k];
    return sum;
}

/* The right-hand side of the ODE; y holds the angles, then their rates. */
static int chain_rate(double t, const double y[], double rate[], void *context)
{
    const chain *c = context;
    const int n = c->links;
    double M[LINK_MAX * LINK_MAX], f[LINK_MAX];
    (void)t;
    for (int i = 0; i < n; i++) {
        f[i] = -GRAVITY * c->length[i] * hanging(c, i) * sin(y[i]);
        for (int j = 0; j < n; j++) {
            const double weight = hanging(c, i > j ? i : j) * c->length[i] * c->length[j];
            M[i * n + j] = weight * cos(y[i] - y[j]);
            f[i] -= weight * sin(y[i] - y[j]) * y[n + j] * y[n + j];
        }
        rate[i] = y[n + i];
    }
    gsl_matrix_view matrix = gsl_matrix_view_array(M, (size_t)n, (size_t)n);
    gsl_vector_view right = gsl_vector_view_array(f, (size_t)n), out = gsl_vector_view_array(rate + n, (size_t)n);
    gsl_linalg_cholesky_decomp1(&matrix.matrix);
    return gsl_linalg_cholesky_solve(&matrix.matrix, &right.vector, &out.vector);
}

/* Integrates the chain; x [links][2] receives the final positions of the masses. */
static void integrate(const chain *c, const gsl_odeiv2_step_type *method, double tolerance, double *x)
{
    double y[2 * LINK_MAX] = {0}, t = 0, at[2] = {0, 0};
    for (int i = 0; i < c->links; i++)
        y[i] = c->angle;
    gsl_odeiv2_system system = {chain_rate, NULL, 2 * (size_t)c->links, (void *)c};
    gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&system, method, 1e-4, tolerance, tolerance);
    assert_non_null(driver);
    assert_int_equal(gsl_odeiv2_driver_apply(driver, &t, c->seconds, y), GSL_SUCCESS);
    gsl_odeiv2_driver_free(driver);
    for (int i = 0; i < c->links; i++) {
        x[2 * i] = at[0] += c->length[i] * sin(y[i]);
        x[2 * i + 1] = at[1] -= c->length[i] * cos(y[i]);
    }
}

static double farthest(int links, const double *a, const double *b)
{
    double max = 0;
    for (int i = 0; i < links; i++)
        max = fmax(max, hypot(a[2 * i] - b[2 * i], a[2 * i + 1] - b[2 * i + 1]));
    return max;
}

static void find_truth(const chain *c, double *x)
{
    double tighter[2 * LINK_MAX], other[2 * LINK_MAX];
    integrate(c, gsl_odeiv2_step_rk8pd, 1e-12, x);
    integrate(c, gsl_odeiv2_step_rk8pd, 1e-14, tighter);
    integrate(c, gsl_odeiv2_step_msadams, 1e-12, other);
    printf("%s after %g s: ends of GSL differ by %.1e (tolerance), %.1e m (method)\n", c->name, c->seconds,
           farthest(c->links, x, tighter), farthest(c->links, x, other));
    assert_true(farthest(c->links, x, tighter) < 1e-10 && farthest(c->links, x, other) < 1e-10);
}

/* ---- As particles on hard rods ------------------------------------------------------------------ */

static sinew_world *make_chain(const chain *c, const sinew_solver_def *solver, double h)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh_def shape = sinew_default_mesh_def();
    sinew_real X[3 * (LINK_MAX + 1)] = {0}, masses[LINK_MAX + 1] = {1};
    int32_t edges[2 * LINK_MAX];
    sinew_error error;
    for (int i = 0; i < c->links; i++) {
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
        masses[i + 1] = (sinew_real)c->mass[i];
        X[3 * i + 3] = X[3 * i] + (sinew_real)(c->length[i] * sin(c->angle));
        X[3 * i + 4] = X[3 * i + 1] - (sinew_real)(c->length[i] * cos(c->angle));
    }
    shape.vertex_count = c->links + 1;
    shape.positions = X;
    shape.edge_count = c->links;
    shape.edges = edges;
    sinew_mesh *mesh = sinew_mesh_create(&shape, &error);
    assert_non_null(mesh);
    def.solver = *solver;
    def.time_step = (sinew_real)h;
    def.gravity[1] = (sinew_real)-GRAVITY;
    sinew_world *world = make_world(&def);
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = masses;
    rods.body = sinew_world_add_body(world, &body, &error);
    rods.hard = true;
    add_energy(world, &rods);
    add_pins(world, rods.body, &(int32_t){0}, 1, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static void simulate(const chain *c, sinew_solver_kind kind, double h, double *x)
{
    sinew_error error;
    sinew_solver_def solver = sinew_default_solver_def(kind);
    solver.measure = SINEW_MEASURE_RESIDUAL;
    solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-6 : 1e-11);
    if (kind != SINEW_SOLVER_DAE)
        assert_int_equal(sinew_solver_def_set_keyword(&solver, "constraints", "hard", &error), SINEW_OK);
    sinew_world *world = make_chain(c, &solver, h);
    const uint32_t bad = SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED | SINEW_STEP_INDEFINITE;
    for (int i = 0; i < (int)lround(c->seconds / h); i++)
        assert_int_equal(sinew_world_step(world, NULL) & bad, 0);
    sinew_real q[3 * LINK_MAX];
    sinew_world_get_positions(world, 1, c->links, q);
    for (int i = 0; i < c->links; i++) {
        x[2 * i] = (double)q[3 * i];
        x[2 * i + 1] = (double)q[3 * i + 1];
    }
    sinew_world_destroy(world);
}

static void compare(const chain *c, const double *truth, sinew_solver_kind kind)
{
    double whole[2 * LINK_MAX], half[2 * LINK_MAX], both[2 * LINK_MAX];
    simulate(c, kind, c->h, whole);
    simulate(c, kind, c->h / 2, half);
    for (int i = 0; i < 2 * c->links; i++)
        both[i] = 2 * half[i] - whole[i];
    const double off = farthest(c->links, whole, truth), less = farthest(c->links, half, truth);
    const double min = farthest(c->links, both, truth);
    printf("    %-12s off by %.3e m at h = %g s, %.3e m at half of it: ratio %.3f; extrapolated %.2e m\n",
           sinew_get_solver_info(kind)->name, off, c->h, less, off / less, min);
    const bool single = sizeof(sinew_real) == 4;
    assert_true(fabs(off / less - 2) < (single ? 0.3 : 0.1));
    assert_true(min < (single ? 0.3 : 0.05) * less);
}

static void compare_all(const chain *c)
{
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_SAP, SINEW_SOLVER_SCD,
                                              SINEW_SOLVER_KKT, SINEW_SOLVER_DAE};
    double truth[2 * LINK_MAX];
    find_truth(c, truth);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        compare(c, truth, kinds[k]);
}

static void a_double_pendulum_is_the_ode(void **unused)
{
    (void)unused;
    const chain c = double_pendulum();
    compare_all(&c);
}

static void ten_links_are_the_ode(void **unused)
{
    (void)unused;
    const chain c = ten_links();
    compare_all(&c);
}
#else
static void a_double_pendulum_is_the_ode(void **unused)
{
    (void)unused;
    printf("without GSL (Debian: libgsl-dev) there is nothing to compare with\n");
    skip();
}

static void ten_links_are_the_ode(void **unused)
{
    (void)unused;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_double_pendulum_is_the_ode),
        cmocka_unit_test(ten_links_are_the_ode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
