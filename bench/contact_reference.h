/* SPDX-License-Identifier: MIT
 *
 * contact_reference.h: penetration depths by brute force, for positions of any code: below the floor, in the sphere, or
 * in a tet of another body.
 */
#ifndef SINEW_BENCH_CONTACT_REFERENCE_H
#define SINEW_BENCH_CONTACT_REFERENCE_H

#include <math.h>

#include "contact_peer.h"

static inline double reference_volume(const double *a, const double *b, const double *c, const double *d) /* times 6 */
{
    double e[3][3];
    for (int i = 0; i < 3; i++) {
        e[0][i] = b[i] - a[i];
        e[1][i] = c[i] - a[i];
        e[2][i] = d[i] - a[i];
    }
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static inline double reference_area(const double *a, const double *b, const double *c) /* times 2 */
{
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    return sqrt(pow(u[1] * v[2] - u[2] * v[1], 2) + pow(u[2] * v[0] - u[0] * v[2], 2) +
                pow(u[0] * v[1] - u[1] * v[0], 2));
}

/* m: distance of x from the nearest face of the tet p; 0: x is outside. */
static inline double reference_in_tet(const double *x, const double *const p[4])
{
    double depth = HUGE_VAL;
    for (int a = 0; a < 4; a++) {
        const double *q[4] = {p[0], p[1], p[2], p[3]};
        q[a] = x;
        depth = fmin(depth, reference_volume(q[0], q[1], q[2], q[3]) /
                                reference_area(p[(a + 1) % 4], p[(a + 2) % 4], p[(a + 3) % 4]));
    }
    return fmax(depth, 0);
}

/* m: largest depth of a body's vertices in the tets of another body. */
static inline double reference_between(const sinew_mesh *mesh, const double *x, const double *other)
{
    double max = 0, low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = HUGE_VAL;
        high[c] = -HUGE_VAL;
        for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++) {
            low[c] = fmin(low[c], other[3 * i + c]);
            high[c] = fmax(high[c], other[3 * i + c]);
        }
    }
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++) {
        const double *own = x + 3 * (size_t)i;
        bool near = true;
        for (int c = 0; c < 3; c++)
            near = near && own[c] >= low[c] && own[c] <= high[c];
        for (int32_t t = 0; near && t < sinew_mesh_tet_count(mesh); t++) {
            const int32_t *v = sinew_mesh_tets(mesh) + 4 * (size_t)t;
            const double *const p[4] = {other + 3 * (size_t)v[0], other + 3 * (size_t)v[1], other + 3 * (size_t)v[2],
                                        other + 3 * (size_t)v[3]};
            max = fmax(max, reference_in_tet(own, p));
        }
    }
    return max;
}

/* m: the largest depth over all bodies, x [body_count][3 * vertices]; NaN if a position is NaN. */
static inline double reference_depth(const bench_touching *scene, const double *x)
{
    const size_t n = 3 * (size_t)sinew_mesh_vertex_count(scene->mesh);
    double max = 0;
    for (int32_t k = 0; k < scene->body_count; k++)
        for (int32_t other = 0; other < scene->body_count; other++)
            if (k != other)
                max = fmax(max, reference_between(scene->mesh, x + n * (size_t)k, x + n * (size_t)other));
    for (size_t i = 0; i < n * (size_t)scene->body_count; i += 3) {
        const double size = sqrt(x[i] * x[i] + x[i + 1] * x[i + 1] + x[i + 2] * x[i + 2]);
        if (!isfinite(size))
            return NAN;
        max = fmax(max, scene->radius > 0 ? scene->radius - size : scene->radius < 0 ? 0 : -x[i + 1]);
    }
    return max;
}

/* m: root mean square distance of two states after each body is moved to a common centre: the difference of shapes. */
static inline double reference_shape(const bench_touching *scene, const double *x, const double *y)
{
    const int32_t n = sinew_mesh_vertex_count(scene->mesh);
    double sum = 0;
    for (int32_t k = 0; k < scene->body_count; k++)
        for (int c = 0; c < 3; c++) {
            const double *p = x + 3 * (size_t)n * (size_t)k + c, *q = y + 3 * (size_t)n * (size_t)k + c;
            double shift = 0;
            for (int32_t i = 0; i < n; i++)
                shift += (p[3 * i] - q[3 * i]) / n;
            for (int32_t i = 0; i < n; i++)
                sum += pow(p[3 * i] - q[3 * i] - shift, 2);
        }
    return sqrt(sum / (n * scene->body_count));
}

#endif
