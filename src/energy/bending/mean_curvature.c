/* SPDX-License-Identifier: MIT
 *
 * mean_curvature.c: bending by the mean curvature vector of a vertex, PD (20), (21), (28).
 *
 *     z = 1/(2A) sum_j (cot alpha_j + cot beta_j) (x_j - x_0)        psi = D A/2 (|z| - L)^2
 *
 * over the ring of neighbours j, in order around the vertex. alpha_j and beta_j are the rest angles opposite to the
 * edge to j in its two triangles. A is the rest area that belongs to the vertex (Meyer et al. 2003: its Voronoi area,
 * or a half or a quarter of obtuse triangles), L = |z| at rest. z is the Laplacian of the positions: the sum of both
 * principal curvatures along the normal, so that D is the rigidity of a plate. With the mean of the curvatures, PD
 * (19), the energy would be a quarter. A flat rest shape has L = 0 and a constant Hessian. |z| has no sign: a curved
 * rest shape and its mirror image have the same energy. With slack, L is replaced by the value nearest to |z| between
 * L - slack_below, or zero, and L + slack_above: strain limiting for bending (PD 5.4). Vertices on a boundary have no
 * closed ring and no energy.
 */
#include "mesh/topology/stencil.h"

enum {
    VERTEX_COUNT = SINEW_STENCIL_MAX
};

#include "energy/plate_parameters.h"
#include "energy/edge/length_element.h"

/* a triangle has no area if twice its area is below this fraction of the squared longer edge at the vertex */
#define RING_THIN 1e-9

static const sinew_parameter parameters[] = {PLATE_LENGTH_PARAMETERS("the surface", "1/m", "the curvature")};

/* One triangle of a vertex's ring: cotangents of its angles at the vertex and at its neighbours j and k, and twice its
 * area (m2). */
typedef struct ring_triangle {
    double vertex, j, k, twice;
    double to_j, to_k; /* squared lengths of the edges from the ring's vertex to j and to k */
} ring_triangle;

static const char *measure_triangle(const sinew_real *x, int j, int k, ring_triangle *t)
{
    double a[3], b[3], ab = 0, cross = 0;
    t->to_j = t->to_k = 0;
    for (int i = 0; i < 3; i++) {
        a[i] = (double)x[3 * j + i] - (double)x[i];
        b[i] = (double)x[3 * k + i] - (double)x[i];
        t->to_j += a[i] * a[i];
        t->to_k += b[i] * b[i];
        ab += a[i] * b[i];
    }
    for (int i = 0; i < 3; i++) {
        const double c = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
        cross += c * c;
    }
    t->twice = sqrt(cross);
    if (!isfinite(cross))
        return "its rest shape is not finite";
    if (!(t->twice > RING_THIN * fmax(t->to_j, t->to_k)))
        return "one of its triangles has no area at rest; collapse or refine it";
    t->vertex = ab / t->twice;
    t->j = (t->to_j - ab) / t->twice;
    t->k = (t->to_k - ab) / t->twice;
    return NULL;
}

/* The part of the triangle's area that belongs to the ring's vertex, in m2 (Meyer et al. 2003). */
static double ring_vertex_area(const ring_triangle *t)
{
    if (t->vertex < 0)
        return t->twice / 4;
    if (t->j < 0 || t->k < 0)
        return t->twice / 8;
    return (t->to_j * t->k + t->to_k * t->j) / 8;
}

static const char *mean_curvature_prepare(const sinew_element *element, sinew_real *data)
{
    const int size = element->vertex_count;
    double c[VERTEX_COUNT] = {0}, area = 0;
    if (size < 4)
        return "a ring needs three neighbours at least";
    for (int a = 1; a < size; a++) {
        const int next = a + 1 < size ? a + 1 : 1;
        ring_triangle t;
        const char *flaw = measure_triangle(element->rest, a, next, &t);
        if (flaw)
            return flaw;
        area += ring_vertex_area(&t);
        c[a] += t.k; /* cotangent at the triangle's other neighbour, the angle opposite to this edge */
        c[next] += t.j;
    }
    for (int a = 1; a < size; a++) {
        c[a] /= 2 * area;
        c[0] -= c[a];
    }
    data[0] = (sinew_real)((double)element->parameters[PLATE_LENGTH_RIGIDITY] * area);
    const double L = element->parameters[PLATE_LENGTH_REST] > 0 ? 0 : length_rest_length(c, element->rest);
    data[LENGTH_MIN] = (sinew_real)fmax(L - (double)element->parameters[PLATE_LENGTH_SLACK_BELOW], 0);
    data[LENGTH_GREATEST] = (sinew_real)(L + (double)element->parameters[PLATE_LENGTH_SLACK_ABOVE]);
    for (int a = 0; a < VERTEX_COUNT; a++)
        data[LENGTH_FIRST + a] = (sinew_real)c[a];
    return NULL;
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_mean_curvature) = {
    .info = {.name = "mean_curvature",
             .summary = "D A/2 (|z| - L)^2, z the Laplacian of the positions in a ring",
             .stencil = SINEW_STENCIL_WHEEL,
             .vertex_count = VERTEX_COUNT,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = LENGTH_CAPABILITIES},
    LENGTH_OPS,
    .prepare = mean_curvature_prepare,
};
