/* SPDX-License-Identifier: MIT
 *
 * rod_geometry.h: two segments of a rod that meet at a vertex: their frames, bending and twist between them, and
 * derivatives. Points x0 x1 x2 p0 p1: segment j runs from x_j to x_j+1 and has the director point p_j.
 *
 *     e = x_j+1 - x_j,  l = |e|,  t = e / l           the segment's direction
 *     m = p_j - (x_j + x_j+1) / 2 = mu t + rho d      d: the frame's first axis, perpendicular to t; n = t x d
 *
 * With a = (t, d, n) of segment 0 and b of segment 1, and chi = 1 + t_a . t_b,
 *
 *     kappa_1 = (d_a . t_b - t_a . d_b) / chi         bending in the plane of t and d
 *     kappa_2 = (n_a . t_b - t_a . n_b) / chi         bending in the plane of t and n
 *     tau     = atan2(n_a . d_b - d_a . n_b, d_a . d_b + n_a . n_b)
 *
 * kappa are the components of the curvature binormal 2 t_a x t_b / chi in the mean of both frames (Bergou et al.,
 * Discrete elastic rods, 2008), tau the angle between the frames after parallel transport from t_a to t_b.
 *
 * Derivatives go through rotations. A step (de, dm) rotates a frame by w = t x E + t (n . Q), with E = de / l and
 * Q = (dm - (mu / l) de) / rho. Rotations w_a and w_b of the frames change a strain s by v . (w_a - w_b), where
 *
 *     v_1 = (d_a x t_b - t_a x d_b - kappa_1 t_a x t_b) / chi,   v_2 with n for d,   v_3 = -(t_a + t_b) / chi
 *
 * Along a straight path of the points s'' is the Hessian over rotations plus v . (w_a' - w_b'), with, in frame axes,
 *
 *     w' = (-2 Q_n Q_d - 2 Q_t E_n - E_d E_n,  Q_n E_d + 2 E_t E_n,  Q_n E_n - 2 E_t E_d)
 *
 * Limits: if the rod is folded back on itself (chi = 0), kappa has no direction; chi has the lower bound ROD_CHI_FLOOR.
 * Lengths l and rho have the lower bound ROD_FLOOR times their rest values. tau jumps by 2 pi where it differs by pi
 * from its rest value.
 */
#ifndef SINEW_SRC_ENERGY_ROD_ROD_GEOMETRY_H
#define SINEW_SRC_ENERGY_ROD_ROD_GEOMETRY_H

#include "energy/kernel_loop.h"
#include "math/small/jacobi.h"

#define ROD_CHI_FLOOR ((sinew_real)1e-4)
#define ROD_FLOOR     1e-6

enum {
    ROD_POINTS = 5,
    ROD_STRAINS = 3,
    ROD_AXES = 9, /* number of reals of the three unit axes t, d, n of a segment's frame */
    ROD_SIZE = 3 * ROD_POINTS
};

/* Layout of a rod's rest shape in data: lower bounds of l and rho of both segments, kappa_1 and kappa_2, cosine and
 * sine of tau. */
enum {
    ROD_REST_FLOOR = 0,
    ROD_REST_KAPPA = 4,
    ROD_REST_TAU = 6,
    ROD_REST_COUNT = 8
};

typedef struct rod_frame {
    wide axis[3][3]; /* unit axes t, d, n of the segment's frame */
    wide l, rho;
    wide slant; /* mu / l: offset of the director point along the edge, as a fraction of the edge */
} rod_frame;

typedef struct rod_now {
    rod_frame f[2];
    wide chi;
    wide strain[ROD_STRAINS];   /* strains of the rod element: kappa_1, kappa_2 and tau minus their rest values */
    wide kappa[2];              /* bending strains kappa_1 and kappa_2, without subtracting rest values */
    wide slope[ROD_STRAINS][3]; /* v_1 v_2 v_3: derivatives of the three strains by a rotation of frame a */
    wide turn[3];               /* t_a x t_b, the cross product of both segments' tangents */
} rod_now;

/* Points of a segment: its two ends and its director point. */
enum {
    ROD_SLOTS = 3
};
static const int rod_vertex[2][ROD_SLOTS] = {{0, 1, 3}, {1, 2, 4}};

/* Derivative of a segment's frame by a vertex displacement dx: E = weights.e dx, Q = weights.q dx. */
typedef struct rod_weights {
    wide e, q;
} rod_weights;

KERNEL_INLINE void rod_frame_geometry(const wide *a, const wide *b, const wide *p, wide l_floor, wide rho_floor,
                                      rod_frame *f)
{
    const wide half = wide_set((sinew_real)0.5), tiny = wide_set(WIDE_ROOT_TINY);
    wide *t = f->axis[0], *d = f->axis[1], m[3];
    for (int i = 0; i < 3; i++) {
        t[i] = b[i] - a[i];
        m[i] = p[i] - half * (a[i] + b[i]);
    }
    const wide l = wide_sqrt(jacobi_dot(t, t)), inverse = 1 / wide_max(l, tiny);
    for (int i = 0; i < 3; i++)
        t[i] *= inverse;
    const wide mu = jacobi_dot(m, t);
    for (int i = 0; i < 3; i++)
        d[i] = m[i] - mu * t[i];
    const wide rho = wide_sqrt(jacobi_dot(d, d)), across = 1 / wide_max(rho, tiny);
    for (int i = 0; i < 3; i++)
        d[i] *= across;
    jacobi_cross(t, d, f->axis[2]);
    f->l = wide_max(l, l_floor);
    f->rho = wide_max(rho, rho_floor);
    f->slant = mu / f->l;
}

/* Computes the bending strain kappa_k and its derivative v_k: k = 1 with axis d, 2 with axis n. */
KERNEL_INLINE void rod_bend(rod_now *s, int k)
{
    const wide *ta = s->f[0].axis[0], *tb = s->f[1].axis[0], *da = s->f[0].axis[k], *db = s->f[1].axis[k];
    const wide kappa = (jacobi_dot(da, tb) - jacobi_dot(ta, db)) / s->chi;
    wide first[3], second[3];
    jacobi_cross(da, tb, first);
    jacobi_cross(ta, db, second);
    for (int i = 0; i < 3; i++)
        s->slope[k - 1][i] = (first[i] - second[i] - kappa * s->turn[i]) / s->chi;
    s->kappa[k - 1] = kappa;
}

/* Computes the frames and strains of a rod element at x[ROD_SIZE]; `rest` has the layout of ROD_REST_... */
KERNEL_INLINE void rod_geometry(const wide *x, const sinew_real *rest, rod_now *s)
{
    wide r[ROD_REST_COUNT];
    load_wide_array(rest, ROD_REST_COUNT, r);
    for (int j = 0; j < 2; j++)
        rod_frame_geometry(x + 3 * rod_vertex[j][0], x + 3 * rod_vertex[j][1], x + 3 * rod_vertex[j][2],
                           r[ROD_REST_FLOOR + 2 * j], r[ROD_REST_FLOOR + 2 * j + 1], &s->f[j]);
    const wide(*a)[3] = (const wide(*)[3])s->f[0].axis;
    const wide(*b)[3] = (const wide(*)[3])s->f[1].axis;
    s->chi = wide_max(1 + jacobi_dot(a[0], b[0]), wide_set(ROD_CHI_FLOOR));
    jacobi_cross(a[0], b[0], s->turn);
    for (int k = 1; k < 3; k++) {
        rod_bend(s, k);
        s->strain[k - 1] = s->kappa[k - 1] - r[ROD_REST_KAPPA + k - 1];
    }
    const wide sine = jacobi_dot(a[2], b[1]) - jacobi_dot(a[1], b[2]);
    const wide cosine = jacobi_dot(a[1], b[1]) + jacobi_dot(a[2], b[2]);
    const wide rest_cosine = r[ROD_REST_TAU], rest_sine = r[ROD_REST_TAU + 1];
    s->strain[2] = wide_atan2(sine * rest_cosine - cosine * rest_sine, cosine * rest_cosine + sine * rest_sine);
    for (int i = 0; i < 3; i++)
        s->slope[2][i] = -(a[0][i] + b[0][i]) / s->chi;
}

KERNEL_INLINE rod_weights rod_weights_of(const rod_frame *f, int slot)
{
    const wide half = wide_set((sinew_real)0.5), zero = wide_set(0), e = 1 / f->l, q = 1 / f->rho;
    if (slot == 0)
        return (rod_weights){-e, q * (f->slant - half)};
    if (slot == 1)
        return (rod_weights){e, -q * (f->slant + half)};
    return (rod_weights){zero, q};
}

/* g += force on a vertex that corresponds to a torque on a segment's frame: e (t x)^T torque + q n (t . torque) */
KERNEL_INLINE void rod_force(const rod_frame *f, rod_weights weights, const wide torque[3], wide g[3])
{
    wide along[3];
    jacobi_cross(torque, f->axis[0], along);
    const wide twist = weights.q * jacobi_dot(torque, f->axis[0]);
    for (int i = 0; i < 3; i++)
        g[i] += weights.e * along[i] + twist * f->axis[2][i];
}

/* g[ROD_SIZE] = forces of opposite torques on both frames of a rod element; torque = v gives the gradient of a
 * strain. */
KERNEL_INLINE void rod_gradient(const rod_now *s, const wide torque[3], wide *g)
{
    const wide back[3] = {-torque[0], -torque[1], -torque[2]};
    for (int i = 0; i < ROD_SIZE; i++)
        g[i] = wide_set(0);
    for (int j = 0; j < 2; j++)
        for (int slot = 0; slot < ROD_SLOTS; slot++)
            rod_force(&s->f[j], rod_weights_of(&s->f[j], slot), j ? back : torque, g + 3 * rod_vertex[j][slot]);
}

/* ---- Second derivatives of the rod's energy sum_s k_s strain_s^2 / 2 ----------------------------- */

typedef struct rod_curve {
    wide torque[3];     /* torque on frame a: sum over strains of k strain v */
    wide same[9];       /* Hessian over rotations of either segment's frame with itself, row-major 3x3 */
    wide other[9];      /* Hessian over rotations of both frames, row-major 3x3: rows of frame b, columns of frame a */
    wide bend[2][3][9]; /* quadratic forms of torque . w' of each segment's frame over (E, E), (E, Q) and (Q, Q) */
} rod_curve;

/* A += f (x y^T + y x^T) for a row-major 3x3 matrix A */
KERNEL_INLINE void rod_add_symmetric(wide A[9], wide f, const wide x[3], const wide y[3])
{
    for (int i = 0; i < 9; i++)
        A[i] += f * (x[i / 3] * y[i % 3] + y[i / 3] * x[i % 3]);
}

/* A += f x y^T for a row-major 3x3 matrix A */
KERNEL_INLINE void rod_add_outer(wide A[9], wide f, const wide x[3], const wide y[3])
{
    for (int i = 0; i < 9; i++)
        A[i] += f * x[i / 3] * y[i % 3];
}

/* M = sum over kappa_1 and kappa_2 of k strain times (d_a t_b^T - t_a d_b^T - kappa t_a t_b^T) / chi */
KERNEL_INLINE void rod_mixed(const rod_now *s, const wide force[ROD_STRAINS], wide M[9])
{
    const wide *ta = s->f[0].axis[0], *tb = s->f[1].axis[0];
    for (int i = 0; i < 9; i++)
        M[i] = wide_set(0);
    for (int k = 1; k < 3; k++) {
        const wide f = force[k - 1] / s->chi;
        rod_add_outer(M, f, s->f[0].axis[k], tb);
        rod_add_outer(M, -f, ta, s->f[1].axis[k]);
        rod_add_outer(M, -f * s->kappa[k - 1], ta, tb);
    }
}

/* Computes the Hessian of a rod's energy over rotations of both frames; stiffness[ROD_STRAINS] are the factors k. */
KERNEL_INLINE void rod_rotations(const rod_now *s, const wide *stiffness, rod_curve *c)
{
    const wide half = wide_set((sinew_real)0.5), zero = wide_set(0);
    wide force[ROD_STRAINS], M[9], N[9], y[3] = {zero, zero, zero};
    for (int i = 0; i < 9; i++)
        N[i] = zero;
    for (int i = 0; i < 3; i++)
        c->torque[i] = zero;
    for (int k = 0; k < ROD_STRAINS; k++) {
        force[k] = stiffness[k] * s->strain[k];
        rod_add_outer(N, stiffness[k], s->slope[k], s->slope[k]);
        for (int i = 0; i < 3; i++) {
            c->torque[i] += force[k] * s->slope[k][i];
            y[i] += (k < 2 ? force[k] : half * force[k]) * s->slope[k][i];
        }
    }
    rod_add_symmetric(N, -1 / s->chi, y, s->turn);
    rod_mixed(s, force, M);
    const wide trace = M[0] + M[4] + M[8], v[3] = {half * force[2] * s->slope[2][0], half * force[2] * s->slope[2][1],
                                                   half * force[2] * s->slope[2][2]};
    const wide cross[9] = {zero, -v[2], v[1], v[2], zero, -v[0], -v[1], v[0], zero};
    for (int i = 0; i < 9; i++) {
        const wide diagonal = i % 4 == 0 ? trace : zero;
        c->same[i] = half * (M[i] + M[3 * (i % 3) + i / 3]) - diagonal + N[i];
        c->other[i] = diagonal - M[i] - N[i] + cross[i];
    }
}

/* bend = the quadratic forms of torque . w' over (E, E), (E, Q) and (Q, Q) for one frame on which `torque` acts. */
KERNEL_INLINE void rod_frame_curve(const rod_frame *f, const wide torque[3], wide bend[3][9])
{
    const wide half = wide_set((sinew_real)0.5), *t = f->axis[0], *d = f->axis[1], *n = f->axis[2];
    const wide gt = jacobi_dot(torque, t), gd = jacobi_dot(torque, d), gn = jacobi_dot(torque, n);
    for (int i = 0; i < 27; i++)
        bend[i / 9][i % 9] = wide_set(0);
    rod_add_symmetric(bend[0], -half * gt, d, n);
    rod_add_symmetric(bend[0], gd, t, n);
    rod_add_symmetric(bend[0], -gn, t, d);
    rod_add_outer(bend[1], -gt, n, t);
    rod_add_outer(bend[1], half * gd, d, n);
    rod_add_outer(bend[1], half * gn, n, n);
    rod_add_symmetric(bend[2], -gt, d, n);
}

KERNEL_INLINE void rod_curve_geometry(const rod_now *s, const wide *stiffness, rod_curve *c)
{
    rod_rotations(s, stiffness, c);
    const wide back[3] = {-c->torque[0], -c->torque[1], -c->torque[2]};
    rod_frame_curve(&s->f[0], c->torque, c->bend[0]);
    rod_frame_curve(&s->f[1], back, c->bend[1]);
}

/* K = e [t x] + q t n^T: rotation of a segment's frame per displacement of a vertex */
KERNEL_INLINE void rod_turning(const rod_frame *f, rod_weights weights, wide K[9])
{
    const wide *t = f->axis[0], zero = wide_set(0);
    const wide cross[9] = {zero, -t[2], t[1], t[2], zero, -t[0], -t[1], t[0], zero};
    for (int i = 0; i < 9; i++)
        K[i] = weights.e * cross[i] + weights.q * t[i / 3] * f->axis[2][i % 3];
}

/* B += 3x3 Hessian block of a vertex with weights `row` in frame j and a vertex with weights `column` in frame k. */
static inline void rod_block(const rod_now *s, const rod_curve *c, int j, rod_weights row, int k, rod_weights column,
                             wide B[9])
{
    const wide *W = j == k ? c->same : c->other;
    wide L[9], R[9], WR[9];
    rod_turning(&s->f[j], row, L);
    rod_turning(&s->f[k], column, R);
    for (int i = 0; i < 9; i++) {
        /* index strides that read the matrix W^T instead of W if j < k */
        const int y = i / 3, z = i % 3, step = j < k ? 3 : 1, first = j < k ? y : 3 * y;
        WR[i] = W[first] * R[z] + W[first + step] * R[3 + z] + W[first + 2 * step] * R[6 + z];
    }
    for (int i = 0; i < 9; i++)
        B[i] += L[i / 3] * WR[i % 3] + L[3 + i / 3] * WR[3 + i % 3] + L[6 + i / 3] * WR[6 + i % 3];
    if (j != k)
        return;
    const wide(*bend)[9] = (const wide(*)[9])c->bend[j];
    for (int i = 0; i < 9; i++)
        B[i] += row.e * column.e * bend[0][i] + row.e * column.q * bend[1][i] +
                row.q * column.e * bend[1][3 * (i % 3) + i / 3] + row.q * column.q * bend[2][i];
}

#endif
