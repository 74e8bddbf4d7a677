/* SPDX-License-Identifier: MIT
 *
 * cell_measures.c: volume, area, length and quality of single cells, in double, at any scale.
 *
 * Quality of a tetrahedron: 6 sqrt(2) V / l^3 with l the root mean square of its six edge lengths (V. N. Parthasarathy,
 * C. M. Graichen, A. F. Hathaway, Finite Elem. Anal. Des. 15, 1993): 1 for a regular tet, 0 for a flat tet. Edges are
 * first divided by the longest, so that neither tiny nor huge meshes underflow or overflow.
 */
#include "mesh/flaws.h"

#include <math.h>

#include "math/vec3.h"

static double cell_edge_vector(const sinew_real *positions, int32_t from, int32_t to, double d[3])
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        d[k] = (double)positions[3 * (size_t)to + (size_t)k] - (double)positions[3 * (size_t)from + (size_t)k];
        sum = fmax(sum, fabs(d[k]));
    }
    /* Components are divided by the largest before they are squared, because the square of 1e-200 underflows to 0. */
    if (!(sum > 0))
        return 0;
    double x = d[0] / sum, y = d[1] / sum, z = d[2] / sum;
    return sum * sqrt(x * x + y * y + z * z);
}

static bool repeats_a_vertex(const int32_t *vertices, int size)
{
    for (int i = 0; i < size; i++)
        for (int j = 0; j < i; j++)
            if (vertices[i] == vertices[j])
                return true;
    return false;
}

sinew_tet_shape sinew_shape_of_tet(const sinew_real *positions, const int32_t tet[4])
{
    double e[6][3], length[6], longest = 0;
    for (int i = 0; i < 6; i++) {
        length[i] = cell_edge_vector(positions, tet[sinew_tet_edges[i][0]], tet[sinew_tet_edges[i][1]], e[i]);
        longest = fmax(longest, length[i]);
    }
    sinew_tet_shape shape = {0, 0, SINEW_FLAW_DEGENERATE_TET};
    if (!(longest > 0))
        return shape;
    double mean = 0, normal[3];
    for (int i = 0; i < 6; i++)
        mean += length[i] / longest * (length[i] / longest) / 6;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            e[i][k] /= longest;
    vec3_cross(e[0], e[1], normal);
    double unit = (normal[0] * e[2][0] + normal[1] * e[2][1] + normal[2] * e[2][2]) / 6;
    shape.volume = unit * longest * longest * longest;
    shape.quality = 6 * sqrt(2) * unit / (mean * sqrt(mean));
    if (!(fabs(unit) < SINEW_DEGENERATE) && !repeats_a_vertex(tet, 4))
        shape.flaw = unit < 0                       ? SINEW_FLAW_INVERTED_TET
                     : shape.quality < SINEW_SLIVER ? SINEW_FLAW_SLIVER_TET
                                                    : SINEW_FLAW_COUNT;
    return shape;
}

double sinew_shape_of_triangle(const sinew_real *positions, const int32_t triangle[3], bool *degenerate)
{
    double e[3][3], longest = 0, normal[3];
    for (int i = 0; i < 3; i++)
        longest = fmax(longest, cell_edge_vector(positions, triangle[i], triangle[(i + 1) % 3], e[i]));
    *degenerate = true;
    if (!(longest > 0))
        return 0;
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            e[i][k] /= longest;
    vec3_cross(e[0], e[1], normal);
    double unit = vec3_norm(normal) / 2;
    *degenerate = unit < SINEW_DEGENERATE || repeats_a_vertex(triangle, 3);
    return unit * longest * longest;
}

double sinew_shape_of_edge(const sinew_real *positions, const int32_t edge[2])
{
    double e[3];
    return cell_edge_vector(positions, edge[0], edge[1], e);
}
