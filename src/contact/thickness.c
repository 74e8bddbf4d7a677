/* SPDX-License-Identifier: MIT
 *
 * thickness.c: refuses contact thicknesses that do not fit a body.
 *
 * A body cannot keep a distance that exceeds its own size, and the candidate pairs within the thickness grow with the
 * square of it. The limit is half the size of the body at rest:
 *
 *     solid   the smallest extent        sheet   the shorter side        rope   the length of all edges
 *
 * Extents are taken along the coordinate axes and along the principal axes of the vertices; the smaller one counts. At
 * thickness 0 surfaces may touch, where a pair has no direction, so the mode with multipliers refuses a thickness below
 * THICKNESS_MIN.
 */
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "math/small/decompose_batch.h"
#include "math/vec3.h"

/* Smallest thickness as a fraction of the size. Below it newton no longer solves a box on a floor in double precision,
 * and single precision rounds the distance away (test_thickness). */
#define THICKNESS_MIN (sizeof(sinew_real) == 4 ? 2e-5 : 5e-6)
#define THICKNESS_MAX 0.5 /* largest thickness as a fraction of the size */

/* Covariance of the vertices as the six entries of a symmetric matrix: 00 11 22 01 02 12. */
static void mesh_covariance(const sinew_mesh *mesh, double a[6])
{
    const sinew_real *x = sinew_mesh_positions(mesh);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    double mean[3] = {0, 0, 0};
    for (int32_t v = 0; v < n; v++)
        for (size_t k = 0; k < 3; k++)
            mean[k] += (double)x[3 * (size_t)v + k] / n;
    memset(a, 0, 6 * sizeof *a);
    for (int32_t v = 0; v < n; v++) {
        const double d[3] = {(double)x[3 * (size_t)v] - mean[0], (double)x[3 * (size_t)v + 1] - mean[1],
                             (double)x[3 * (size_t)v + 2] - mean[2]};
        const double entries[6] = {d[0] * d[0], d[1] * d[1], d[2] * d[2], d[0] * d[1], d[0] * d[2], d[1] * d[2]};
        for (int k = 0; k < 6; k++)
            a[k] += entries[k] / n;
    }
}

/* Extents of the mesh along three axes, in m, ascending. axes [3][3]: one unit vector per row. */
static void mesh_extents(const sinew_mesh *mesh, const double axes[9], double extents[3])
{
    const sinew_real *x = sinew_mesh_positions(mesh);
    for (int k = 0; k < 3; k++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int32_t v = 0; v < sinew_mesh_vertex_count(mesh); v++) {
            const double p[3] = {(double)x[3 * (size_t)v], (double)x[3 * (size_t)v + 1], (double)x[3 * (size_t)v + 2]};
            const double height = vec3_dot(axes + 3 * k, p);
            low = fmin(low, height);
            high = fmax(high, height);
        }
        extents[k] = high - low;
    }
    for (int i = 1; i < 3; i++)
        for (int k = i; k > 0 && extents[k] < extents[k - 1]; k--) {
            const double swap = extents[k];
            extents[k] = extents[k - 1];
            extents[k - 1] = swap;
        }
}

/* Computes the principal axes of the mesh's vertices, one unit vector per row of axes [3][3]. */
static void mesh_principal_axes(const sinew_mesh *mesh, double axes[9])
{
    int32_t count;
    const sinew_decompose_batch *scalar = sinew_decompose_variants(&count)[count - 1];
    double a[6];
    sinew_real covariance[6], values[3], Q[9];
    mesh_covariance(mesh, a);
    for (int k = 0; k < 6; k++)
        covariance[k] = (sinew_real)a[k];
    scalar->eigen3(1, covariance, values, Q);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            axes[3 * i + k] = (double)Q[3 * k + i];
}

static double mesh_rope_length(const sinew_mesh *mesh)
{
    const sinew_real *x = sinew_mesh_positions(mesh);
    const int32_t *edges = sinew_mesh_edges(mesh);
    double sum = 0;
    for (int32_t e = 0; e < sinew_mesh_edge_count(mesh); e++) {
        double d[3];
        for (size_t k = 0; k < 3; k++)
            d[k] =
                (double)x[3 * (size_t)edges[2 * (size_t)e] + k] - (double)x[3 * (size_t)edges[2 * (size_t)e + 1] + k];
        sum += vec3_norm(d);
    }
    return sum;
}

/* Sizes of a body at rest that bound its contact thickness (file head). Loose particles have none. */
typedef struct body_size {
    const char *name; /* name of the size that bounds the thickness, for the message */
    double bound;     /* size in m that bounds the thickness from above; 0: none */
    double largest;   /* largest extent in m, which bounds the thickness from below; 0: none */
} body_size;

static body_size body_size_of(const sinew_mesh *mesh)
{
    const double coordinate_axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double axes[9], straight[3], principal[3];
    if (sinew_mesh_tet_count(mesh) == 0 && sinew_mesh_triangle_count(mesh) == 0) {
        const double length = mesh_rope_length(mesh);
        return (body_size){"length", length, length};
    }
    mesh_principal_axes(mesh, axes);
    mesh_extents(mesh, coordinate_axes, straight);
    mesh_extents(mesh, axes, principal);
    const bool solid = sinew_mesh_tet_count(mesh) > 0;
    const int which = solid ? 0 : 1;
    return (body_size){solid ? "smallest extent" : "shorter side", fmin(straight[which], principal[which]),
                       fmin(straight[2], principal[2])};
}

sinew_status sinew_contact_check_thickness(const sinew_contact_work *c, int32_t slot, const sinew_mesh *mesh,
                                           double thickness, sinew_error *error)
{
    const body_size size = body_size_of(mesh);
    if (size.bound > 0 && thickness > THICKNESS_MAX * size.bound)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "contact: the thickness %g m of body %d is above half of its %s, %g m; give at most %g m",
                          thickness, slot, size.name, size.bound, THICKNESS_MAX * size.bound);
    if (sinew_contact_mode_get(c->def.mode)->multipliers && size.largest > 0 &&
        !(thickness >= THICKNESS_MIN * size.largest))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "contact: the thickness %g m of body %d is too small for its size %g m; give at least %g m",
                          thickness, slot, size.largest, THICKNESS_MIN * size.largest);
    return SINEW_OK;
}
