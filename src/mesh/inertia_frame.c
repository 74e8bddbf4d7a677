/* SPDX-License-Identifier: MIT
 *
 * inertia_frame.c: computes volume, centroid and second moments of the inside of a mesh, and four equivalent point
 * masses.
 *
 * A tet of volume V with corners x_a has, about any origin, the second moment
 *
 *     S = integral x x^T = V/20 (sum_a x_a x_a^T + s s^T),   s = sum_a x_a
 *
 * A closed surface is a sum of signed tets, one per triangle, with a common apex at the centre of the bounds.
 *
 * A capsule of radius r and length l between the centres of its halves, whose barrel has the volume B and whose halves
 * have C together, has along its axis B l^2/12 + C (l^2/4 + 3 l r/8 + r^2/5), and across it B r^2/4 + C r^2/5.
 *
 * Four equal masses m/4 at c + L t_a, with t_a the corners (1 1 1), (1 -1 -1), (-1 1 -1), (-1 -1 1) of a cube, have
 * mass m, centre c (sum t_a = 0) and second moment m L L^T (sum t_a t_a^T = 4 I). With L L^T = S/V, L the Cholesky
 * factor, mass, centre and second moment equal those of the body, so four rigidly joined points move like the body (any
 * rigid body has an equivalent set of points: Routh, Elementary Rigid Dynamics, 1905).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "mesh/mesh.h"

/* Adds the volume, first moment and second moment S of one tet to the sums; `volume` is its signed volume, in m3. */
static void inertia_frame_add_tet(double x[4][3], double volume, sinew_inertia *sum)
{
    double s[3];
    for (int i = 0; i < 3; i++)
        s[i] = x[0][i] + x[1][i] + x[2][i] + x[3][i];
    sum->volume += volume;
    for (int i = 0; i < 3; i++) {
        sum->centre[i] += volume * s[i] / 4;
        for (int j = 0; j < 3; j++) {
            double corners = s[i] * s[j];
            for (int a = 0; a < 4; a++)
                corners += x[a][i] * x[a][j];
            sum->second[3 * i + j] += volume / 20 * corners;
        }
    }
}

static double signed_volume(double x[4][3])
{
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            e[a][i] = x[a + 1][i] - x[0][i];
    return vec3_triple(e[0], e[1], e[2]) / 6;
}

/* Corners of a cell of n vertices relative to `origin`; for a triangle (n = 3) the first corner is the origin
 * itself. */
static void inertia_frame_gather(const sinew_mesh *mesh, const int32_t *cell, int n, const double origin[3],
                                 double x[4][3])
{
    memset(x[0], 0, 3 * sizeof x[0][0]);
    for (int a = 0; a < n; a++)
        for (int i = 0; i < 3; i++)
            x[a + 4 - n][i] = (double)mesh->positions[3 * (size_t)cell[a] + (size_t)i] - origin[i];
}

/* Converts moments about the origin to moments about the centroid, and the centroid to a position. */
static void inertia_frame_finish(const double origin[3], sinew_inertia *inertia)
{
    for (int i = 0; i < 3; i++)
        inertia->centre[i] /= inertia->volume;
    for (int i = 0; i < 9; i++)
        inertia->second[i] -= inertia->volume * inertia->centre[i / 3] * inertia->centre[i % 3];
    for (int i = 0; i < 3; i++)
        inertia->centre[i] += origin[i];
}

/* Estimate of the error in m3 that rounded positions cause in the volume of a closed surface: its area times four
 * epsilons of the largest coordinate. */
static double surface_volume_noise(const sinew_mesh *mesh, const sinew_mesh_report *report)
{
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    const double zero[3] = {0, 0, 0};
    double area = 0, largest = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        double x[4][3], e[2][3], n[3] = {0, 0, 0};
        inertia_frame_gather(mesh, mesh->triangles + 3 * (size_t)t, 3, zero, x);
        for (int i = 0; i < 3; i++) {
            e[0][i] = x[2][i] - x[1][i];
            e[1][i] = x[3][i] - x[1][i];
        }
        vec3_add_cross(e[0], e[1], 0.5, n);
        area += vec3_norm(n);
    }
    for (int i = 0; i < 6; i++)
        largest = fmax(largest, fabs(report->bounds[i]));
    return 4 * epsilon * largest * area;
}

sinew_status sinew_mesh_inertia(const sinew_mesh *mesh, sinew_inertia *inertia, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(mesh && inertia))
        return sinew_fail(error, SINEW_ERROR_USAGE, "a mesh, or where its inertia is to go, is NULL");
    sinew_mesh_report report;
    if (sinew_mesh_check(mesh, &report, NULL, 0, error) < 0)
        return SINEW_ERROR_MEMORY;
    if (mesh->tet_count == 0 && !report.closed_surface)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the mesh encloses nothing: it has no tets, and its surface has %d open edges; close it, or "
                          "fill it (sinew mesh fill)",
                          report.boundary_edge_count);
    double origin[3], x[4][3];
    for (int i = 0; i < 3; i++)
        origin[i] = 0.5 * (report.bounds[i] + report.bounds[3 + i]);
    *inertia = (sinew_inertia){0};
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        inertia_frame_gather(mesh, mesh->tets + 4 * (size_t)t, 4, origin, x);
        inertia_frame_add_tet(x, fabs(signed_volume(x)) * (mesh->fractions ? (double)mesh->fractions[t] : 1), inertia);
    }
    for (int32_t t = 0; mesh->tet_count == 0 && t < mesh->triangle_count; t++) {
        inertia_frame_gather(mesh, mesh->triangles + 3 * (size_t)t, 3, origin, x);
        inertia_frame_add_tet(x, signed_volume(x), inertia);
    }
    if (mesh->tet_count == 0 && fabs(inertia->volume) <= surface_volume_noise(mesh, &report))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the mesh is flat: it encloses nothing beyond the rounding of positions");
    if (!(inertia->volume > 0))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the mesh encloses %g m3; a surface that is inside out is turned by sinew mesh fix",
                          inertia->volume);
    inertia_frame_finish(origin, inertia);
    return SINEW_OK;
}

/* Cholesky factorisation L L^T = A of a 3x3 matrix. Returns false if A is not positive definite to round-off. */
static bool inertia_frame_factorise(const double A[9], double L[9])
{
    memset(L, 0, 9 * sizeof *L);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            double sum = A[3 * i + j];
            for (int k = 0; k < j; k++)
                sum -= L[3 * i + k] * L[3 * j + k];
            if (i == j && !(sum > 1e-12 * A[4 * i]))
                return false;
            L[3 * i + j] = i == j ? sqrt(sum) : sum / L[4 * j];
        }
    return true;
}

sinew_mesh *sinew_inertia_frame(const sinew_inertia *inertia, const sinew_allocator *allocator, sinew_error *error)
{
    static const int corner[4][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    /* vertex order of the positively oriented tet of the four point masses */
    static const int32_t tet[4] = {0, 2, 1, 3};
    double L[9], second[9];
    for (int i = 0; i < 9; i++)
        second[i] = inertia->second[i] / inertia->volume;
    if (!inertia_frame_factorise(second, L)) {
        sinew_fail(error, SINEW_ERROR_DATA, "the mesh is flat: four points cannot have its inertia");
        return NULL;
    }
    sinew_real positions[12];
    for (int a = 0; a < 4; a++)
        for (int i = 0; i < 3; i++)
            positions[3 * a + i] = (sinew_real)(inertia->centre[i] + L[3 * i] * corner[a][0] +
                                                L[3 * i + 1] * corner[a][1] + L[3 * i + 2] * corner[a][2]);
    sinew_mesh_def def = sinew_default_mesh_def();
    def.allocator = *allocator;
    def.vertex_count = 4;
    def.positions = positions;
    def.tet_count = 1;
    def.tets = tet;
    return sinew_mesh_create(&def, error);
}

sinew_mesh *sinew_mesh_frame(const sinew_mesh *mesh, sinew_error *error)
{
    sinew_inertia inertia;
    return sinew_mesh_inertia(mesh, &inertia, error) == SINEW_OK
               ? sinew_inertia_frame(&inertia, &mesh->allocator, error)
               : NULL;
}

void sinew_solid_inertia(const sinew_solid *solid, sinew_inertia *inertia)
{
    const double pi = acos(-1), r = (double)solid->radius;
    double from[3], to[3], axis[3];
    for (int i = 0; i < 3; i++) {
        from[i] = (double)solid->ends[0][i];
        to[i] = (double)solid->ends[1][i];
    }
    vec3_sub(to, from, axis);
    const double length = vec3_norm(axis), barrel = pi * r * r * length, caps = 4 * pi * r * r * r / 3;
    const double across = barrel * r * r / 4 + caps * r * r / 5;
    const double along = barrel * length * length / 12 + caps * (length * length / 4 + 3 * length * r / 8 + r * r / 5);
    inertia->volume = barrel + caps;
    for (int i = 0; i < 3; i++)
        inertia->centre[i] = (from[i] + to[i]) / 2;
    for (int i = 0; i < 9; i++)
        inertia->second[i] = (i % 4 == 0 ? across : 0) +
                             (length > 0 ? (along - across) * axis[i / 3] * axis[i % 3] / (length * length) : 0);
}
