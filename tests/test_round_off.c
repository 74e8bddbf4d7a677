/* SPDX-License-Identifier: MIT
 *
 * test_round_off.c: the smallest residual that positions in the library's precision allow, and Newton's method reaches
 * it.
 *
 * The minimum of a step is refined in long double: gradient from reference_material.h, corrections with Newton's last
 * matrix, positions in long double. The refined positions are rounded to the library's precision and their gradient is
 * computed in long double: this residual is due to the storage of positions alone. No solver can be expected to end
 * below it: where M/h^2 dominates the stiffness, each coordinate has its own share of the residual and the nearest
 * number is the best.
 *
 * The bar is that of test_newton.c, 3 x 1 x 1 m, twisted by half a turn, or sagging from rest.
 */
#include <float.h>

#include "make_world.h"

#define REFERENCE_REAL long double
#include "base/reduce.h"
#include "objective/objective.h"
#include "reference_material.h"
#include "solve/solver.h"
#include "world/world.h"

#ifdef SINEW_SINGLE
#define TOLERANCE 1e-4
#define FACTOR    3.0 /* accounts for the rounding of gradients */
#else
#define TOLERANCE 1e-10
#define FACTOR    1.5
#endif
#define REFINED 0.01 /* fraction of the floor: residual of the refined minimum in long double */

typedef long double wide;

typedef struct problem {
    const char *name;
    sinew_energy_kind kind;
    double h, E, turn; /* h = 0: quasistatic */
} problem;

static const double nu = 0.3;

/* ---- The bar --------------------------------------------------------------------------------- */

static sinew_world *make_bar(const problem *p)
{
    sinew_mesh *mesh = make_beam(12, 4, 4, 3, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *start = make_array(3 * (size_t)n, sizeof *start), *targets = make_array(3 * (size_t)n, sizeof *targets);
    int32_t *ends = make_array((size_t)n, sizeof *ends);
    const int32_t end_count = vertices_at(mesh, 0, -1.5, 1.5, ends);
    for (int32_t i = 0; i < n; i++) {
        const double y = (double)X[3 * i + 1], z = (double)X[3 * i + 2];
        const double angle = p->turn * ((double)X[3 * i] + 1.5) / 3;
        start[3 * i] = X[3 * i];
        start[3 * i + 1] = (sinew_real)(cos(angle) * y - sin(angle) * z);
        start[3 * i + 2] = (sinew_real)(sin(angle) * y + cos(angle) * z);
    }
    for (int32_t i = 0; i < end_count; i++)
        memcpy(targets + 3 * i, start + 3 * ends[i], 3 * sizeof *targets);
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.quasistatic = p->h == 0;
    if (p->h > 0)
        def.time_step = (sinew_real)p->h;
    def.solver.tolerance = (sinew_real)TOLERANCE;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, start, NULL);
    add_material(world, body, p->kind, p->E, nu);
    add_pins(world, body, ends, end_count, targets);
    sinew_mesh_destroy(mesh);
    free(start);
    free(targets);
    free(ends);
    return world;
}

/* ---- The gradient in long double --------------------------------------------------------------- */

static void edges_of(const int32_t *tet, const wide *x, wide D[9])
{
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            D[3 * i + a] = x[3 * tet[a + 1] + i] - x[3 * tet[0] + i];
}

/* Adds the gradient of one tet with rest positions X. */
static void add_tet(const problem *p, const int32_t *tet, const wide *X, const wide *q, wide *gradient)
{
    wide Dm[9], C[9], B[9], Ds[9], F[9], P[9];
    edges_of(tet, X, Dm);
    edges_of(tet, q, Ds);
    const wide det = reference_det(Dm), volume = fabsl(det) / 6;
    reference_cofactor(Dm, C);
    for (int i = 0; i < 9; i++)
        B[i] = C[i % 3 * 3 + i / 3] / det;
    for (int i = 0; i < 9; i++)
        F[i] = Ds[i / 3 * 3] * B[i % 3] + Ds[i / 3 * 3 + 1] * B[3 + i % 3] + Ds[i / 3 * 3 + 2] * B[6 + i % 3];
    reference_material(p->kind, (wide)p->E, (wide)(sinew_real)nu, F, P);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++) {
            const wide f = volume * (P[3 * i] * B[3 * a] + P[3 * i + 1] * B[3 * a + 1] + P[3 * i + 2] * B[3 * a + 2]);
            gradient[3 * tet[a + 1] + i] += f;
            gradient[3 * tet[0] + i] -= f;
        }
}

/* The problem of the library's own step, in the order of its particles. */
typedef struct reference {
    const problem *problem;
    const sinew_world *world;
    int32_t n, tet_count, *tets;
    wide *X, *q, *gradient; /* [3 n] */
} reference;

static reference make_reference(const problem *p, const sinew_world *world)
{
    const sinew_batch *batch = world->objective.tasks[0].batch;
    reference r = {.problem = p, .world = world, .n = world->particle_count, .tet_count = batch->element_count};
    sinew_mesh *mesh = make_beam(12, 4, 4, 3, 1, 1);
    r.tets = make_array(4 * (size_t)r.tet_count, sizeof *r.tets);
    sinew_batch_list_particles(batch, r.tets);
    wide **arrays[] = {&r.X, &r.q, &r.gradient};
    for (int k = 0; k < 3; k++)
        *arrays[k] = make_array(3 * (size_t)r.n, sizeof(wide));
    for (int32_t i = 0; i < 3 * r.n; i++) {
        r.X[i] = (wide)sinew_mesh_positions(mesh)[3 * world->outside[i / 3] + i % 3];
        r.q[i] = (wide)world->q[4 * (i / 3) + i % 3];
    }
    sinew_mesh_destroy(mesh);
    return r;
}

static void free_reference(reference *r)
{
    free(r->tets);
    free(r->X);
    free(r->q);
    free(r->gradient);
}

/* |gradient| over the free particles at r->q */
static wide residual_of(reference *r)
{
    const sinew_objective *o = &r->world->objective;
    const wide h2 = (wide)o->step.h * (wide)o->step.h;
    wide sum = 0;
    for (int32_t i = 0; i < 3 * r->n; i++) {
        const int32_t at = 4 * (i / 3) + i % 3;
        r->gradient[i] = o->step.quasistatic ? -(wide)o->step.force[at]
                                             : (wide)o->step.mass[i / 3] / h2 * (r->q[i] - (wide)o->step.q_tilde[at]);
    }
    for (int32_t t = 0; t < r->tet_count; t++)
        add_tet(r->problem, r->tets + 4 * t, r->X, r->q, r->gradient);
    for (int32_t i = 0; i < 3 * r->n; i++)
        sum += o->step.pinned[i / 3] ? 0 : r->gradient[i] * r->gradient[i];
    return sqrtl(sum);
}

/* ---- The floor --------------------------------------------------------------------------------- */

/* q <- q - H^-1 gradient with Newton's last matrix */
static void correct(reference *r, sinew_solve *s)
{
    for (int32_t i = 0; i < 3 * r->n; i++)
        s->gradient[4 * (i / 3) + i % 3] = r->world->objective.step.pinned[i / 3] ? 0 : (sinew_real)r->gradient[i];
    s->residual = sinew_norm(s->gradient, r->n, 1);
    assert_true(s->ops->precondition(s, s->gradient, s->velocity));
    for (int32_t i = 0; i < 3 * r->n; i++)
        r->q[i] -= (wide)s->velocity[4 * (i / 3) + i % 3];
}

/* Repeats corrections until the residual stops decreasing; returns the residual. */
static wide refine(reference *r, sinew_solve *s)
{
    wide before = HUGE_VALL, now = residual_of(r);
    for (int k = 0; k < 20 && now < before / 2; k++) {
        before = now;
        correct(r, s);
        now = residual_of(r);
    }
    return now;
}

static void check(const problem *p)
{
    sinew_world *world = make_bar(p);
    sinew_step_result result;
    sinew_world_step(world, &result);
    assert_false(result.bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
    reference r = make_reference(p, world);
    const wide scale = (wide)(result.residual / result.relative_residual), there = residual_of(&r);
    const double refined = (double)(refine(&r, &world->solve) / scale);
    for (int32_t i = 0; i < 3 * r.n; i++)
        r.q[i] = (wide)(sinew_real)r.q[i];
    const double floor = (double)(residual_of(&r) / scale);
    printf("%-6s %-20s h %-6g E %-6g: Newton ends at %.2e, in long double %.2e; minimum in long double %.1e, rounded "
           "%.2e\n",
           p->name, sinew_get_energy_info(p->kind)->name, p->h, p->E, result.relative_residual, (double)(there / scale),
           refined, floor);
    assert_true(refined <= REFINED * floor);
    assert_true(result.relative_residual <= fmax(TOLERANCE, FACTOR * floor));
    free_reference(&r);
    sinew_world_destroy(world);
}

static void newton_ends_where_positions_do(void **state)
{
    (void)state;
    if (LDBL_MANT_DIG <= DBL_MANT_DIG)
        skip(); /* long double is no longer than double */
    for (int kind = 0; kind < REFERENCE_MATERIAL_COUNT; kind++) {
        check(&(problem){"twist", (sinew_energy_kind)kind, 1e-4, 1e5, MAKE_PI});
        check(&(problem){"sag", (sinew_energy_kind)kind, 1e-2, 1e12, 0});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(newton_ends_where_positions_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
