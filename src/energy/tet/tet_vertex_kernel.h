/* SPDX-License-Identifier: MIT
 *
 * tet_vertex_kernel.h: tetrahedra as functions of one vertex. This vertex is x0, with the rest gradient b of its shape
 * function; a displacement d of x0 changes F by d b^T. With c = dJ/dx0 = cof(F) b:
 *
 *     gradient  w P b
 *     block     w (2 |b|^2 1 + l/mu c c^T)          approximate, PBNG (32), (33), l the factor of (J - 1)^2 / 2 in psi
 *
 * J is linear in x0, so c does not depend on x0. An energy a/2 |F|^2 + phi(J) has the exact block
 * w (a |b|^2 1 + phi'' c c^T). The approximate block is therefore no smaller than the exact one for corotated
 * (|F - R|^2 is the minimum of |F - Q|^2 over rotations Q), for strain, and for neo_hookean and stable_neo_hookean,
 * whose l is lambda + mu and lambda + 5mu/6. PBNG uses l = lambda; nearly auxetic rubber under large stretch could
 * then overshoot.
 *
 * An incidence has one of two layouts. General: data of the element (tet.h), with L for the vertex order of the
 * incidence, from which F is computed. Volume form, for energies of |F|^2 and J alone, which do not need F:
 *
 *     c = -det(L) n,  n = (x2 - x1) x (x3 - x1)       J = det(L) n . (x1 - x0)
 *     F b = sum_k K_0k (x_k - x0),  K_ab = b_a . b_b      |F|^2 = -sum_{a<b} K_ab |x_a - x_b|^2
 */
#ifndef SINEW_SRC_ENERGY_TET_TET_VERTEX_KERNEL_H
#define SINEW_SRC_ENERGY_TET_TET_VERTEX_KERNEL_H

#include "energy/tet/isotropic.h"
#include "energy/vertex_kernel.h"
#include "math/vec3.h"

/* Order of the other three vertices of a tet after the node. All four orders are even permutations, so J keeps its
 * sign. */
static const int tet_incidence_order[4][3] = {{1, 2, 3}, {0, 3, 2}, {3, 0, 1}, {2, 1, 0}};

static inline void tet_incidence_others(const int32_t *particles, int node, int32_t *others)
{
    for (int k = 0; k < 3; k++)
        others[k] = particles[tet_incidence_order[node][k]];
}

/* Rest gradient b of a vertex's shape function, in 1/m, in the tet's own frame (tet.h). */
static inline void tet_rest_gradient(const sinew_real *data, int vertex, double b[3])
{
    const sinew_real *L = data + TET_LOWER;
    const double rows[3][3] = {
        {(double)L[0], 0, 0}, {(double)L[1], (double)L[2], 0}, {(double)L[3], (double)L[4], (double)L[5]}};
    for (int i = 0; i < 3; i++)
        b[i] = vertex > 0 ? rows[vertex - 1][i] : -(rows[0][i] + rows[1][i] + rows[2][i]);
}

/* ---- General layout of a vertex-tet incidence ---------------------------------------------------- */

/* Rotates the rest shape for the vertex order of the incidence: the rows of the inverse rest shape L are the rest
 * gradients of x1 x2 x3 in the frame q of their Gram-Schmidt basis. The rows of q are its axes in the element's
 * frame. */
static inline void tet_incidence_frame(double b[3][3], double lower[6], double q[3][3])
{
    const double first = vec3_norm(b[0]);
    double rest[3] = {b[1][0], b[1][1], b[1][2]};
    for (int i = 0; i < 3; i++)
        q[0][i] = b[0][i] / first;
    /* Gram-Schmidt runs twice: the result is then orthogonal up to round-off for any two gradients */
    for (int pass = 0; pass < 2; pass++) {
        const double along = vec3_dot(q[0], rest);
        for (int i = 0; i < 3; i++)
            rest[i] -= along * q[0][i];
    }
    const double second = vec3_norm(rest);
    for (int i = 0; i < 3; i++)
        q[1][i] = rest[i] / second;
    for (int i = 0; i < 3; i++)
        q[2][i] = q[0][(i + 1) % 3] * q[1][(i + 2) % 3] - q[0][(i + 2) % 3] * q[1][(i + 1) % 3];
    lower[0] = first;
    lower[1] = vec3_dot(b[1], q[0]);
    lower[2] = vec3_dot(b[1], q[1]);
    for (int k = 0; k < 3; k++)
        lower[3 + k] = vec3_dot(b[2], q[k]);
}

/* Writes a vertex-tet incidence in the general layout; q is the frame that anisotropic materials need. */
static inline void tet_incidence(const sinew_real *data, int data_count, const int32_t *particles, int node,
                                 sinew_real *out, int32_t *others, double q[3][3])
{
    double b[3][3], lower[6];
    tet_incidence_others(particles, node, others);
    for (int k = 0; k < 3; k++)
        tet_rest_gradient(data, tet_incidence_order[node][k], b[k]);
    tet_incidence_frame(b, lower, q);
    memcpy(out, data, (size_t)data_count * sizeof *out);
    for (int i = 0; i < 6; i++)
        out[TET_LOWER + i] = (sinew_real)lower[i];
}

/* Deformation gradient F of the tet of an incidence, and rest gradient b of its node. */
KERNEL_INLINE void tet_incidence_deformation(const incidence *v, wide F[9], wide b[3])
{
    wide D[9], L[6], xa[3];
    for (int a = 0; a < 3; a++) {
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            D[3 * i + a] = xa[i] - v->x[i];
    }
    load_wide_array(v->data + TET_LOWER * SIMD_WIDTH, 6, L);
    multiply3_lower(D, L, F);
    b[0] = -(L[0] + L[1] + L[3]);
    b[1] = -(L[2] + L[4]);
    b[2] = -L[5];
}

KERNEL_INLINE void apply3(const wide M[9], const wide b[3], wide out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = dot3(M + 3 * i, b);
}

/* Adds the gradient w P b of psi by the incidence's node to sum: weight w, stress P, rest gradient b of the node. */
KERNEL_INLINE void tet_incidence_gradient(const incidence *v, const wide F[9], const wide b[3], tet_stress *stress,
                                          incidence_sum *sum)
{
    const wide weight = wide_load(v->data);
    wide P[9], f[3];
    stress(F, v->data + TET_MATERIAL * SIMD_WIDTH, P);
    apply3(P, b, f);
    for (int i = 0; i < 3; i++)
        sum->g[i] += weight * f[i];
}

/* Adds the approximate block w (shear |b|^2 1 + bulk c c^T) to sum: weight w, rest gradient b of the node x0, and c
 * = dJ/dx0 with J = det F. */
KERNEL_INLINE void tet_incidence_bound(const incidence *v, const wide F[9], const wide b[3], wide shear, wide bulk,
                                       incidence_sum *sum)
{
    const wide weight = wide_load(v->data);
    wide C[9], c[3];
    cofactor3(F, C);
    apply3(C, b, c);
    block_add(sum->A, weight * shear * dot3(b, b), weight * bulk, c);
}

/* sum += 3x3 Hessian block of a vertex, from the second derivatives by F with negative eigenvalues set to zero
 * (isotropic.h). In the frames of the singular value decomposition, with a = V^T b: K_ii = A_ii a_i^2 + sum_j s_ij
 * a_j^2, K_ij = (A_ij + t_ij) a_i a_j. */
KERNEL_INLINE void tet_incidence_projected(const incidence *v, const wide F[9], const wide b[3],
                                           isotropic_curvature *curvature, incidence_sum *sum)
{
    const wide half = wide_set((sinew_real)0.5), weight = wide_load(v->data);
    wide U[9], sigma[3], V[9], a[3], K[9], UK[9];
    sinew_svd3(F, U, sigma, V);
    isotropic_eigen eigen;
    curvature(sigma, v->data + TET_MATERIAL * SIMD_WIDTH, &eigen);
    isotropic_project(&eigen);
    for (int i = 0; i < 3; i++)
        a[i] = V[i] * b[0] + V[3 + i] * b[1] + V[6 + i] * b[2];
    static const int first[3] = {0, 0, 1}, second[3] = {1, 2, 2};
    for (int i = 0; i < 3; i++)
        K[4 * i] = eigen.A[i] * a[i] * a[i];
    for (int pair = 0; pair < 3; pair++) {
        const int i = first[pair], j = second[pair];
        const wide s = half * (eigen.even[pair] + eigen.odd[pair]), t = half * (eigen.even[pair] - eigen.odd[pair]);
        K[4 * i] += s * a[j] * a[j];
        K[4 * j] += s * a[i] * a[i];
        K[3 * i + j] = K[3 * j + i] = (eigen.A[3 + pair] + t) * a[i] * a[j];
    }
    multiply3(U, K, UK);
    for (int i = 0; i < 3; i++)
        sum->A[i] += weight * dot3(UK + 3 * i, U + 3 * i);
    for (int pair = 0; pair < 3; pair++)
        sum->A[3 + pair] += weight * dot3(UK + 3 * first[pair], U + 3 * second[pair]);
}

KERNEL_INLINE wide tet_incidence_difference(const incidence *v, const wide d[3], tet_stress *stress, wide *noise)
{
    const sinew_real *material = v->data + TET_MATERIAL * SIMD_WIDTH;
    wide F[9], b[3], P[9];
    tet_incidence_deformation(v, F, b);
    const wide before = stress(F, material, P);
    for (int i = 0; i < 9; i++)
        F[i] += d[i / 3] * b[i % 3];
    const wide after = stress(F, material, P);
    *noise = 16 * WIDE_EPSILON * (1 + wide_abs(before) + norm3(F));
    return after - before;
}

/* ---- General layout, for materials that need the nearest rotation -------------------------------- */

/* Adds gradient and block of a vertex, for a material that depends on the rotation R only through R b. */
typedef void tet_rotated_add(const incidence *v, const wide F[9], const wide R[9], const wide b[3], incidence_sum *sum);

/* Processes several incidences of a group together, which reduces the time per polar decomposition. */
KERNEL_INLINE void tet_rotated_vertex(const sinew_vertex_kernel *kernel, int data_count, tet_rotated_add *add)
{
    wide F[SINEW_POLAR_TILE][9], R[SINEW_POLAR_TILE][9], b[SINEW_POLAR_TILE][3];
    for (int32_t group = 0; group < kernel->group_count; group++) {
        incidence v;
        incidence_sum sum;
        incidence_open(kernel, group, &v, &sum);
        for (int32_t first = kernel->first_incidence[group]; first < kernel->first_incidence[group + 1];
             first += SINEW_POLAR_TILE) {
            const int32_t left = kernel->first_incidence[group + 1] - first;
            const int count = left < SINEW_POLAR_TILE ? left : SINEW_POLAR_TILE;
            for (int k = 0; k < count; k++) {
                incidence_at(kernel, first + k, 3, data_count, &v);
                tet_incidence_deformation(&v, F[k], b[k]);
            }
            sinew_polar3_tile(count, (const wide(*)[9])F, R);
            for (int k = 0; k < count; k++) {
                incidence_at(kernel, first + k, 3, data_count, &v);
                add(&v, F[k], R[k], b[k], &sum);
            }
        }
        incidence_close(kernel, group, &sum);
    }
}

/* ---- Volume form of a vertex-tet incidence ------------------------------------------------------- */

/* Data of an incidence in volume form: weight, det L of the inverse rest shape L, the factors K_01 K_02 K_03 of the
 * file head, the material's constant; if |F|^2 is needed, also K_12 K_13 K_23. */
enum {
    VOLUME_DET = 1,
    VOLUME_OWN = 2,
    VOLUME_MATERIAL = 5,
    VOLUME_PAIRS = 6,
    VOLUME_DATA_COUNT = 6,
    VOLUME_NORM_DATA_COUNT = 9
};

static inline double tet_rest_product(const sinew_real *data, int a, int b)
{
    double first[3], second[3];
    tet_rest_gradient(data, a, first);
    tet_rest_gradient(data, b, second);
    return vec3_dot(first, second);
}

static inline void volume_incidence(const sinew_real *data, const int32_t *particles, int node, bool norm,
                                    sinew_real *out, int32_t *others)
{
    const int *order = tet_incidence_order[node];
    tet_incidence_others(particles, node, others);
    out[0] = data[TET_WEIGHT];
    out[VOLUME_DET] = (sinew_real)((double)data[TET_LOWER] * (double)data[TET_LOWER + 2] * (double)data[TET_LOWER + 5]);
    for (int k = 0; k < 3; k++)
        out[VOLUME_OWN + k] = (sinew_real)tet_rest_product(data, node, order[k]);
    out[VOLUME_MATERIAL] = data[TET_MATERIAL];
    for (int pair = 0; norm && pair < 3; pair++)
        out[VOLUME_PAIRS + pair] =
            (sinew_real)tet_rest_product(data, order[pair == 2 ? 1 : 0], order[pair == 0 ? 1 : 2]);
}

/* The quantities on which an energy in volume form depends, and their derivatives by the node x0. */
typedef struct volume_state {
    wide J, c[3];
    /* F b and |b|^2, b the node's rest gradient: a step d of the node changes |F|^2 by 2 d . F b + |d|^2 |b|^2 */
    wide fb[3], b2;
    wide norm; /* squared Frobenius norm |F|^2; set only if requested */
} volume_state;

KERNEL_INLINE wide square_distance(const wide a[3], const wide b[3])
{
    const wide d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return dot3(d, d);
}

KERNEL_INLINE void volume_geometry(const incidence *v, bool norm, volume_state *s)
{
    wide e[3][3], p[3], r[3], K[3];
    for (int k = 0; k < 3; k++) {
        wide_gather_point(v->q, v->others + k * SIMD_WIDTH, e[k]);
        for (int i = 0; i < 3; i++)
            e[k][i] -= v->x[i];
    }
    for (int i = 0; i < 3; i++) {
        p[i] = e[1][i] - e[0][i];
        r[i] = e[2][i] - e[0][i];
    }
    const wide det = wide_load(v->data + VOLUME_DET * SIMD_WIDTH);
    s->c[0] = det * (p[2] * r[1] - p[1] * r[2]);
    s->c[1] = det * (p[0] * r[2] - p[2] * r[0]);
    s->c[2] = det * (p[1] * r[0] - p[0] * r[1]);
    s->J = -dot3(s->c, e[0]);
    load_wide_array(v->data + VOLUME_OWN * SIMD_WIDTH, 3, K);
    for (int i = 0; i < 3; i++)
        s->fb[i] = K[0] * e[0][i] + K[1] * e[1][i] + K[2] * e[2][i];
    s->b2 = -(K[0] + K[1] + K[2]);
    if (norm) {
        const wide own = K[0] * dot3(e[0], e[0]) + K[1] * dot3(e[1], e[1]) + K[2] * dot3(e[2], e[2]);
        load_wide_array(v->data + VOLUME_PAIRS * SIMD_WIDTH, 3, K);
        s->norm = -(own + K[0] * dot3(p, p) + K[1] * dot3(r, r) + K[2] * square_distance(e[1], e[2]));
    }
}

/* Adds the gradient w (scale F b + pressure c) and the block w (diagonal |b|^2 1 + bulk c c^T) of the node: weight
 * w, rest gradient b, c the gradient of J = det F by the node. */
KERNEL_INLINE void volume_add(const incidence *v, const volume_state *s, wide scale, wide pressure, wide diagonal,
                              wide bulk, incidence_sum *sum)
{
    const wide w = wide_load(v->data), ws = w * scale, wp = w * pressure;
    for (int i = 0; i < 3; i++)
        sum->g[i] += ws * s->fb[i] + wp * s->c[i];
    block_add(sum->A, w * diagonal * s->b2, w * bulk, s->c);
}

/* Changes of |F|^2 and J = det F by the step d of the node. */
KERNEL_INLINE void volume_changes(const volume_state *s, const wide d[3], wide *norm, wide *J)
{
    *norm = 2 * dot3(d, s->fb) + dot3(d, d) * s->b2;
    *J = dot3(s->c, d);
}

#endif
