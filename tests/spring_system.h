/* SPDX-License-Identifier: MIT
 *
 * spring_system.h: worlds of springs, some of them hard, and the same step solved by independent dense algebra.
 *
 * Reference: Newton's method on grad g - J^T lambda = 0, C = 0 with dense matrices and Gaussian elimination with full
 * pivoting; second derivatives are written out here. Soft springs are energies; hard springs are constraints.
 */
#ifndef SINEW_SPRING_SYSTEM_H
#define SINEW_SPRING_SYSTEM_H

#include "dense_solve.h"
#include "make_world.h"
#include "random_cases.h"

enum {
    SYSTEM_VERTICES = 18, /* vertices of make_beam(2, 2, 1) */
    SYSTEM_SPRINGS = 80,
    SYSTEM_UNKNOWNS = 3 * SYSTEM_VERTICES + SYSTEM_SPRINGS
};

/* Dependent constraints leave pivots of round-off, below this fraction of the first. */
#define SYSTEM_PIVOT 1e-13

typedef struct system_spring {
    int32_t ends[2];
    double length, stiffness;
    bool hard;
} system_spring;

typedef struct spring_system {
    int32_t vertex_count, spring_count, hard_count;
    system_spring springs[SYSTEM_SPRINGS]; /* hard springs first */
    double rest[3 * SYSTEM_VERTICES], q[3 * SYSTEM_VERTICES], v[3 * SYSTEM_VERTICES], mass[SYSTEM_VERTICES];
    bool pinned[SYSTEM_VERTICES];
    double h, gravity[3];
} spring_system;

static inline double spring_between(const double *q, const system_spring *s, double n[3])
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        n[c] = q[3 * s->ends[1] + c] - q[3 * s->ends[0] + c];
        sum += n[c] * n[c];
    }
    sum = sqrt(sum);
    for (int c = 0; c < 3; c++)
        n[c] /= sum;
    return sum;
}

/* ---- KKT conditions ------------------------------------------------------------------------------ */

static inline double system_q_tilde(const spring_system *s, int i)
{
    return s->q[i] + s->h * s->v[i] + s->h * s->h * s->gravity[i % 3];
}

/* gradient [3 n] = grad g_soft(q) - J^T lambda, zero at pins; C [hard_count]. Returns the scale of forces: the largest
 * of |grad g| here, |grad g| at the start of the step, and the norm of the single hard spring forces. */
static inline double system_conditions(const spring_system *s, const double *q, const double *lambda, double *gradient,
                                       double *C)
{
    double own[3] = {0};
    double *force = make_array(3 * (size_t)s->vertex_count, sizeof *force);
    for (int i = 0; i < 3 * s->vertex_count; i++)
        gradient[i] = s->mass[i / 3] / (s->h * s->h) * (q[i] - system_q_tilde(s, i));
    for (int k = 0; k < s->spring_count; k++) {
        const system_spring *p = &s->springs[k];
        double n[3];
        const double open = spring_between(q, p, n) - p->length;
        if (p->hard) {
            C[k] = open;
            own[1] += 2 * lambda[k] * lambda[k];
        }
        for (int c = 0; c < 3; c++)
            for (int e = 0; e < 2; e++) {
                double *into = p->hard ? force : gradient;
                into[3 * p->ends[e] + c] += (e ? 1 : -1) * n[c] * (p->hard ? lambda[k] : p->stiffness * open);
            }
    }
    for (int i = 0; i < 3 * s->vertex_count; i++) {
        if (s->pinned[i / 3])
            gradient[i] = force[i] = 0;
        own[0] += gradient[i] * gradient[i];
        own[2] += s->pinned[i / 3] ? 0 : pow(s->mass[i / 3] / (s->h * s->h) * (s->q[i] - system_q_tilde(s, i)), 2);
        gradient[i] -= force[i];
    }
    free(force);
    return sqrt(own[0]) + sqrt(own[1]) + sqrt(own[2]);
}

/* K [n + m][n + m] of the KKT conditions, with [A -J^T; J 0]; pins have rows of the identity. */
static inline void system_matrix(const spring_system *s, const double *q, const double *lambda, bool geometric,
                                 double *K)
{
    const int n = 3 * s->vertex_count, m = s->hard_count, all = n + m;
    memset(K, 0, (size_t)all * (size_t)all * sizeof *K);
    for (int i = 0; i < n; i++)
        K[i * all + i] = s->mass[i / 3] / (s->h * s->h);
    for (int k = 0; k < s->spring_count; k++) {
        const system_spring *p = &s->springs[k];
        double d[3];
        const double l = spring_between(q, p, d), open = l - p->length;
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) {
                const int i = 3 * p->ends[a / 3] + a % 3, j = 3 * p->ends[b / 3] + b % 3;
                const double sign = a / 3 == b / 3 ? 1 : -1, along = d[a % 3] * d[b % 3];
                const double across = ((a % 3 == b % 3) - along) / l;
                K[i * all + j] +=
                    sign * (p->hard ? (geometric ? -lambda[k] * across : 0) : p->stiffness * (along + open * across));
            }
        for (int a = 0; a < 6 && p->hard; a++) {
            const int i = 3 * p->ends[a / 3] + a % 3;
            K[(n + k) * all + i] += (a / 3 ? 1 : -1) * d[a % 3];
            K[i * all + n + k] -= (a / 3 ? 1 : -1) * d[a % 3];
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < all && s->pinned[i / 3]; j++) {
            K[i * all + j] = K[j * all + i] = 0;
            K[i * all + i] = 1;
        }
}

/* Takes one Newton step; returns its length. */
static inline double system_newton(const spring_system *s, double *q, double *lambda)
{
    const int n = 3 * s->vertex_count, all = n + s->hard_count;
    double *K = make_array((size_t)all * (size_t)all, sizeof *K), *b = make_array((size_t)all, sizeof *b);
    double length = 0;
    system_conditions(s, q, lambda, b, b + n);
    for (int i = 0; i < all; i++)
        b[i] = -b[i];
    system_matrix(s, q, lambda, true, K);
    dense_solve(K, all, b, all, SYSTEM_PIVOT);
    for (int i = 0; i < n; i++) {
        q[i] += b[i];
        length = fmax(length, fabs(b[i]));
    }
    for (int k = 0; k < s->hard_count; k++)
        lambda[k] += b[n + k];
    free(K);
    free(b);
    return length;
}

/* ---- Worlds -------------------------------------------------------------------------------------- */

/* Springs between vertices of a small beam, each at its rest length: `hard` of them hard, the rest soft. One corner or
 * end is pinned, all other vertices move. */
static inline spring_system draw_system(random_cases *r, int32_t hard, int32_t soft)
{
    spring_system s = {.spring_count = hard + soft, .hard_count = hard, .h = random_magnitude(r, 2e-3, 3e-2)};
    sinew_mesh *mesh = make_beam(2, 2, 1, 1, 0.8, 0.5);
    s.vertex_count = sinew_mesh_vertex_count(mesh);
    assert_true(s.vertex_count == SYSTEM_VERTICES && s.spring_count <= SYSTEM_SPRINGS);
    for (int i = 0; i < 3 * s.vertex_count; i++) {
        s.rest[i] = s.q[i] = (double)sinew_mesh_positions(mesh)[i];
        s.v[i] = random_between(r, -1, 1);
    }
    s.gravity[1] = -9.81;
    for (int i = 0; i < 1 + random_index(r, 3); i++)
        s.pinned[random_index(r, s.vertex_count)] = true;
    for (int k = 0; k < s.spring_count; k++) {
        system_spring *p = &s.springs[k];
        bool fresh = false;
        double n[3];
        while (!fresh) {
            p->ends[0] = random_index(r, s.vertex_count);
            p->ends[1] = random_index(r, s.vertex_count);
            fresh = p->ends[0] != p->ends[1] && !(s.pinned[p->ends[0]] && s.pinned[p->ends[1]]);
            for (int j = 0; j < k && fresh; j++)
                fresh = !((s.springs[j].ends[0] == p->ends[0] && s.springs[j].ends[1] == p->ends[1]) ||
                          (s.springs[j].ends[0] == p->ends[1] && s.springs[j].ends[1] == p->ends[0]));
        }
        p->hard = k < hard;
        p->stiffness = random_magnitude(r, 1e2, 1e5);
        p->length = spring_between(s.rest, p, n);
    }
    for (int i = 0; i < 3 * s.vertex_count; i++)
        s.v[i] = s.pinned[i / 3] ? 0 : s.v[i];
    sinew_mesh_destroy(mesh);
    return s;
}

static inline sinew_energy add_system_springs(sinew_world *world, sinew_body body, const spring_system *s, bool hard)
{
    int32_t elements[2 * SYSTEM_SPRINGS];
    sinew_real stiffness[SYSTEM_SPRINGS];
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    for (int k = hard ? 0 : s->hard_count; k < (hard ? s->hard_count : s->spring_count); k++) {
        memcpy(elements + 2 * def.element_count, s->springs[k].ends, sizeof s->springs[k].ends);
        stiffness[def.element_count++] = (sinew_real)s->springs[k].stiffness;
    }
    def.body = body;
    def.elements = elements;
    def.element_parameters[0] = stiffness;
    def.hard = hard;
    return add_energy(world, &def);
}

/* The same system as a world, whose masses it takes over; *hard is the energy of hard springs. */
static inline sinew_world *make_system(spring_system *s, const sinew_solver_def *solver, int threads,
                                       sinew_energy *hard)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(2, 2, 1, 1, 0.8, 0.5);
    sinew_real v[3 * SYSTEM_VERTICES], mass[SYSTEM_VERTICES];
    def.solver = *solver;
    def.time_step = (sinew_real)s->h;
    def.thread_count = threads;
    for (int c = 0; c < 3; c++)
        def.gravity[c] = (sinew_real)s->gravity[c];
    sinew_world *world = make_world(&def);
    for (int i = 0; i < 3 * s->vertex_count; i++)
        v[i] = (sinew_real)s->v[i];
    const sinew_body body = add_mesh(world, mesh, 100, NULL, v);
    *hard = (sinew_energy){.index = -1};
    if (s->hard_count > 0)
        *hard = add_system_springs(world, body, s, true);
    if (s->spring_count > s->hard_count)
        add_system_springs(world, body, s, false);
    for (int32_t i = 0; i < s->vertex_count; i++)
        if (s->pinned[i])
            add_pins(world, body, &i, 1, NULL);
    sinew_world_get_masses(world, 0, s->vertex_count, mass);
    for (int32_t i = 0; i < s->vertex_count; i++)
        s->mass[i] = (double)mass[i];
    sinew_mesh_destroy(mesh);
    return world;
}

static inline void system_multipliers(const sinew_world *world, sinew_energy hard, double *lambda)
{
    sinew_real values[SYSTEM_SPRINGS];
    sinew_error error = {0};
    int32_t count;
    sinew_energy_multipliers(world, hard, SYSTEM_SPRINGS, values, &count, &error);
    must(&error);
    for (int32_t k = 0; k < count; k++)
        lambda[k] = (double)values[k];
}

static inline double system_distance(const double *a, const sinew_real *b, int32_t count)
{
    double max = 0;
    for (int32_t i = 0; i < 3 * count; i++)
        max = fmax(max, fabs(a[i] - (double)b[i]));
    return max;
}

#endif
