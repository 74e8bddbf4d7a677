/* SPDX-License-Identifier: MIT
 *
 * hinge_geometry.h: two triangles that share an edge: vertices 0 and 1 are the edge, vertices 2 and 3, the wings, lie
 * opposite to it. The header has the rest shape of hinges, and the angle between the triangles with its derivatives.
 *
 *     e = (x1 - x0) / l              the unit edge
 *     x_w = x0 + t_w l e + h_w m_w   wing w: foot of its height on the edge, height, and direction of the height
 *     n_2 = e x m_2,  n_3 = m_3 x e  normals; equal if the hinge is flat
 *     theta = atan2((n_2 x n_3) . e, n_2 . n_3) = atan2(-(m_2 x m_3) . e, -m_2 . m_3)
 *
 * A displacement d of wing w rotates its triangle by n_w . d / h_w; the ends of the edge rotate it in the other
 * direction:
 *
 *     d theta = -sum_w n_w . y_w / h_w,            y_w = dx_w - (1 - t_w) dx_0 - t_w dx_1
 *
 * The second derivative follows from dn_w = -e (n_w . z) - m_w (n_w . y_w) / h_w, dh_w = m_w . y_w and
 * l dt_w = e . y_w + h_w m_w . z, with z = (dx_1 - dx_0) / l. It is the symmetric form
 *
 *     d^2 theta = sum_w (2/h) (e . y)(n . z) + (2/h^2) (m . y)(n . y) + (n . z)(m . z)
 *
 * (Tamstorf and Grinspun, Discrete bending forces and their Jacobians, 2013, give the same form in angles.) theta is
 * continuous except at +-pi, where the triangles overlap and it jumps by 2 pi. In derivatives, lengths and heights have
 * the lower bound `floor`, so that collapsed triangles give finite numbers.
 */
#ifndef SINEW_SRC_ENERGY_BENDING_HINGE_GEOMETRY_H
#define SINEW_SRC_ENERGY_BENDING_HINGE_GEOMETRY_H

#include "energy/dense_element.h"
#include "math/small/jacobi.h"
#include "math/vec3.h"

/* a triangle counts as having no area if height over edge, or edge over height, is below this ratio at rest */
#define HINGE_THIN  1e-6
#define HINGE_FLOOR 1e-6 /* lower bound of a hinge's lengths, as a fraction of its smallest length at rest */

/* ---- Rest shape of one hinge, scalar code -------------------------------------------------------- */

typedef struct hinge_rest {
    /* edge length and heights of both wings in m; t: foot of each height as a fraction of the edge */
    double length, height[2], t[2];
    double edge[3], m[2][3]; /* unit vectors along the hinge's edge and along the heights of both wings */
    double angle;            /* hinge angle theta at rest, in rad */
    /* coefficients of the four points, in 1/m: sum_a coefficient[a] x_a = m_2 + m_3, zero if the hinge is flat */
    double coefficient[4];
} hinge_rest;

/* Measures the height of a wing over the hinge's edge: its length, foot and direction. */
static inline void hinge_rest_wing(const sinew_real *x, int wing, hinge_rest *r)
{
    double a[3];
    for (int i = 0; i < 3; i++)
        a[i] = (double)x[3 * (2 + wing) + i] - (double)x[i];
    const double along = vec3_dot(a, r->edge);
    for (int i = 0; i < 3; i++)
        a[i] -= along * r->edge[i];
    r->t[wing] = along / r->length;
    r->height[wing] = vec3_norm(a);
    for (int i = 0; i < 3; i++)
        r->m[wing][i] = a[i] / fmax(r->height[wing], 1e-300);
}

/* Measures the rest shape x[4][3] of a hinge. Returns NULL, or the reason why the hinge cannot have a bending
 * energy. */
static inline const char *hinge_measure(const sinew_real *x, hinge_rest *r)
{
    double across[3];
    for (int i = 0; i < 3; i++)
        r->edge[i] = (double)x[3 + i] - (double)x[i];
    r->length = vec3_norm(r->edge);
    for (int i = 0; i < 3; i++)
        r->edge[i] /= fmax(r->length, 1e-300);
    hinge_rest_wing(x, 0, r);
    hinge_rest_wing(x, 1, r);
    const double low = fmin(r->height[0], r->height[1]), high = fmax(r->height[0], r->height[1]);
    if (!isfinite(r->length + low + high))
        return "its rest shape is not finite";
    if (!(low > HINGE_THIN * r->length) || !(r->length > HINGE_THIN * high))
        return "one of its triangles has no area at rest; collapse or refine it";
    vec3_cross(r->m[0], r->m[1], across);
    r->angle = atan2(-vec3_dot(across, r->edge), -vec3_dot(r->m[0], r->m[1]));
    r->coefficient[0] = -(1 - r->t[0]) / r->height[0] - (1 - r->t[1]) / r->height[1];
    r->coefficient[1] = -r->t[0] / r->height[0] - r->t[1] / r->height[1];
    r->coefficient[2] = 1 / r->height[0];
    r->coefficient[3] = 1 / r->height[1];
    return NULL;
}

/* Factor of the rigidity D in the hinge stiffness k: |e|^2 over the sum of both triangle areas. */
static inline double hinge_area_weight(const hinge_rest *r)
{
    return 2 * r->length / (r->height[0] + r->height[1]);
}

/* *factor = rigidity of a hinge over the rigidity along the warp: cos^2 + ratio sin^2 of the angle between the
 * direction across its edge and the warp, both in the hinge's plane. Returns NULL, or the reason why there is no
 * such angle. */
static inline const char *hinge_rigidity_factor(const hinge_rest *r, const double warp[3], double ratio, double *factor)
{
    double normal[3], other[3], a[3];
    *factor = 1;
    if (ratio == 1)
        return NULL;
    vec3_cross(r->edge, r->m[0], normal);
    vec3_cross(r->m[1], r->edge, other);
    for (int i = 0; i < 3; i++)
        normal[i] += other[i];
    const double square = vec3_dot(normal, normal), off = vec3_dot(normal, warp);
    for (int i = 0; i < 3; i++)
        a[i] = warp[i] - (square > 1e-12 ? off / square : 0) * normal[i];
    const double length = vec3_dot(a, a), along = vec3_dot(a, r->edge);
    if (!(length > 1e-6 * vec3_dot(warp, warp)))
        return "the warp direction is zero or perpendicular to it; give a direction along the cloth";
    const double sine = along * along / length;
    *factor = 1 - sine + ratio * sine;
    return NULL;
}

/* ---- The hinge angle and its derivatives, W hinges at once --------------------------------------- */

typedef struct hinge_now {
    wide theta, l, e[3], t[2], h[2], m[2][3], n[2][3];
} hinge_now;

KERNEL_INLINE void hinge_wing(const wide *x, wide floor, int wing, hinge_now *s)
{
    wide a[3], normal[3];
    for (int i = 0; i < 3; i++)
        a[i] = x[3 * (2 + wing) + i] - x[i];
    const wide along = jacobi_dot(a, s->e);
    for (int i = 0; i < 3; i++)
        a[i] -= along * s->e[i];
    const wide h = wide_sqrt(jacobi_dot(a, a)), inverse = 1 / wide_max(h, wide_set(WIDE_ROOT_TINY));
    for (int i = 0; i < 3; i++)
        s->m[wing][i] = a[i] * inverse;
    jacobi_cross(s->e, s->m[wing], normal);
    for (int i = 0; i < 3; i++)
        s->n[wing][i] = wing ? -normal[i] : normal[i];
    s->t[wing] = along / s->l;
    s->h[wing] = wide_max(h, floor);
}

KERNEL_INLINE void hinge_geometry(const wide *x, wide floor, hinge_now *s)
{
    const wide zero = wide_set(0);
    for (int i = 0; i < 3; i++)
        s->e[i] = x[3 + i] - x[i];
    const wide l = wide_sqrt(jacobi_dot(s->e, s->e)), inverse = 1 / wide_max(l, wide_set(WIDE_ROOT_TINY));
    for (int i = 0; i < 3; i++)
        s->e[i] *= inverse;
    s->l = wide_max(l, floor);
    hinge_wing(x, floor, 0, s);
    hinge_wing(x, floor, 1, s);
    wide across[3];
    jacobi_cross(s->m[0], s->m[1], across);
    /* The arguments of atan2 are differences from zero, not negations: for collapsed triangles both are 0, and
     * atan2(-0, -0) would be -pi. */
    s->theta = wide_atan2(zero - jacobi_dot(across, s->e), zero - jacobi_dot(s->m[0], s->m[1]));
}

/* Coefficient of dx_a in y_w, the displacement of wing w relative to the foot of its height. */
KERNEL_INLINE wide hinge_coefficient(const hinge_now *s, int wing, int a)
{
    return a == 0 ? s->t[wing] - 1 : a == 1 ? -s->t[wing] : wide_set(a == 2 + wing ? 1 : 0);
}

/* g = d theta / dx_a: gradient of the hinge angle with respect to vertex a */
KERNEL_INLINE void hinge_slope(const hinge_now *s, int a, wide g[3])
{
    const wide first = -hinge_coefficient(s, 0, a) / s->h[0], second = -hinge_coefficient(s, 1, a) / s->h[1];
    for (int i = 0; i < 3; i++)
        g[i] = first * s->n[0][i] + second * s->n[1][i];
}

/* Adds the contribution of one wing to K, the 3x3 block (a, b) of the second derivatives of theta, row-major. */
KERNEL_INLINE void hinge_curve(const hinge_now *s, int wing, int a, int b, wide K[9])
{
    const wide *m = s->m[wing], *n = s->n[wing], *e = s->e, inverse = 1 / s->h[wing], zero = wide_set(0);
    const wide ya = inverse * hinge_coefficient(s, wing, a), yb = inverse * hinge_coefficient(s, wing, b);
    const wide za = a > 1 ? zero : (sinew_real)(2 * a - 1) / s->l, zb = b > 1 ? zero : (sinew_real)(2 * b - 1) / s->l;
    const wide mixed = ya * yb + (sinew_real)0.5 * (za * zb);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            K[3 * i + j] += mixed * (m[i] * n[j] + n[i] * m[j]) + ya * zb * e[i] * n[j] + za * yb * n[i] * e[j];
}

/* Number i of the data of each element of a group. */
KERNEL_INLINE wide hinge_number(const sinew_real *data, int i)
{
    return wide_load(data + i * SIMD_WIDTH);
}

#define HINGE_HALF_TURN ((sinew_real)3.14159265358979323846)

/* Reduces an angle to [-pi, pi] by adding or subtracting 2 pi once. */
KERNEL_INLINE wide hinge_wrapped_angle(wide angle)
{
    const wide pi = wide_set(HINGE_HALF_TURN), zero = wide_set(0);
    return angle - wide_select(wide_lt(pi, angle), 2 * pi, zero) + wide_select(wide_lt(angle, -pi), 2 * pi, zero);
}

/* Sets negative eigenvalues of the symmetric 3x3 block A to zero. */
KERNEL_INLINE void hinge_clamp_block(wide A[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    wide w[3], Q[9];
    sinew_eigen3(A, w, Q);
    for (int k = 0; k < 3; k++) {
        const wide added = wide_max(-w[k], wide_set(0));
        for (int i = 0; i < 6; i++)
            A[i] += added * Q[3 * row[i] + k] * Q[3 * column[i] + k];
    }
}

#endif
