/* SPDX-License-Identifier: MIT
 *
 * clean_surface.c: cleans the surface before filling: coincident vertices are merged, triangles without area and
 * duplicates are dropped, and each connected component is oriented like the majority of its triangles. A component of
 * four or more triangles with negative volume is flipped as a whole, unless it lies in the box of another component and
 * may bound a cavity.
 *
 * Winding numbers tolerate many defects, but not a flipped patch: just outside the patch they have the values of the
 * inside.
 */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "mesh/topology/facets.h"
#include "mesh/flaws.h"
#include "tetfill/fill.h"

enum {
    /* largest number of components whose bounding boxes are compared with each other; with more components, none are */
    COMPONENTS_COMPARED = 4096
};

/* A surface is flat if its extent along the normal of its largest triangle is at most this fraction of its bounding
 * box's diagonal. */
static const double flatness = 1e-6;

/* Range of bounding box diagonals, in m, for which areas and volumes neither overflow nor underflow, also in single
 * precision. */
static const double diagonal_min = 1e-12, diagonal_max = 1e12;

/* ---- Dropping of degenerate and duplicate triangles ---------------------------------------------- */

static sinew_status merge_and_drop_degenerate(fill_surface *s, const sinew_mesh *mesh, const sinew_allocator *allocator,
                                              sinew_fill_report *report, sinew_error *error)
{
    int32_t *same = sinew_allocate(allocator, (size_t)mesh->vertex_count, sizeof *same);
    if (!same)
        return sinew_fail_memory(error, "a surface to fill");
    const sinew_status status = sinew_same_vertices(allocator, mesh->positions, mesh->vertex_count, 0, same, error);
    for (int32_t t = 0; status == SINEW_OK && t < mesh->triangle_count; t++) {
        int32_t *kept = s->triangles + 3 * (size_t)s->count;
        bool degenerate;
        for (size_t i = 0; i < 3; i++)
            kept[i] = same[mesh->triangles[3 * (size_t)t + i]];
        s->area += sinew_shape_of_triangle(mesh->positions, kept, &degenerate);
        s->count += !degenerate;
        report->degenerate += degenerate;
    }
    sinew_release(allocator, same);
    return status;
}

static sinew_status drop_duplicates(fill_surface *s, const sinew_allocator *allocator, sinew_fill_report *report,
                                    sinew_error *error)
{
    int32_t *same = sinew_allocate(allocator, (size_t)s->count, sizeof *same);
    if (!same)
        return sinew_fail_memory(error, "a surface to fill");
    const sinew_elements elements = {s->triangles, s->count, 3};
    const sinew_status status = sinew_same_elements(allocator, s->vertex_count, &elements, same, error);
    int32_t kept = 0;
    for (int32_t t = 0; status == SINEW_OK && t < s->count; t++)
        if (same[t] == t)
            memmove(s->triangles + 3 * (size_t)kept++, s->triangles + 3 * (size_t)t, 3 * sizeof *s->triangles);
    if (status == SINEW_OK) {
        report->duplicates = s->count - kept;
        s->count = kept;
    }
    sinew_release(allocator, same);
    return status;
}

/* ---- Orientation of connected components --------------------------------------------------------- */

/* A connected component of the surface, stored at the index of its first triangle. */
typedef struct component {
    double box[6];
    double volume; /* signed volume of the component in m3, with its first vertex as apex */
    int32_t count;
} component;

static void box_add(double box[6], const sinew_real *x)
{
    for (int c = 0; c < 3; c++) {
        box[c] = fmin(box[c], (double)x[c]);
        box[3 + c] = fmax(box[3 + c], (double)x[c]);
    }
}

static double triangle_volume_from(const fill_surface *s, const int32_t *triangle, const sinew_real *eye)
{
    double p[3][3];
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            p[i][c] = (double)s->positions[3 * (size_t)triangle[i] + (size_t)c] - (double)eye[c];
    return vec3_triple(p[0], p[1], p[2]) / 6;
}

static void survey_components(const fill_surface *s, const sinew_orientation *o, component *components)
{
    for (int32_t t = 0; t < s->count; t++) {
        component *p = &components[o->component[t]];
        const int32_t *triangle = s->triangles + 3 * (size_t)t;
        const double volume =
            triangle_volume_from(s, triangle, s->positions + 3 * (size_t)s->triangles[3 * (size_t)o->component[t]]);
        if (p->count++ == 0)
            memcpy(p->box, (double[6]){INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY}, sizeof p->box);
        for (int i = 0; i < 3; i++)
            box_add(p->box, s->positions + 3 * (size_t)triangle[i]);
        p->volume += o->flip[t] ? -volume : volume;
    }
}

static bool box_lies_in(const double inner[6], const double outer[6])
{
    bool in = true;
    for (int c = 0; c < 3; c++)
        in = in && inner[c] >= outer[c] && inner[3 + c] <= outer[3 + c];
    return in;
}

/* Whether another component's bounding box encloses that of component i, which may then bound a cavity. list [count]:
 * indices of components. */
static bool is_nested(const component *components, const int32_t *list, int32_t count, int32_t i)
{
    for (int32_t n = 0; n < count; n++)
        if (list[n] != i && box_lies_in(components[i].box, components[list[n]].box))
            return true;
    return false;
}

static void flip_inside_out_components(const fill_surface *s, sinew_orientation *o, component *components,
                                       int32_t *list)
{
    int32_t count = 0;
    for (int32_t t = 0; t < s->count; t++)
        if (components[t].count >= 4)
            list[count++] = t;
    const int32_t compared = count <= COMPONENTS_COMPARED ? count : 0;
    for (int32_t n = 0; n < count; n++)
        if (components[list[n]].volume < 0 && !is_nested(components, list, compared, list[n]))
            components[list[n]].count = -1;
    for (int32_t t = 0; t < s->count; t++)
        o->flip[t] ^= components[o->component[t]].count < 0;
}

static void flip_triangles(fill_surface *s, const sinew_orientation *o)
{
    for (int32_t t = 0; t < s->count; t++)
        if (o->flip[t]) {
            int32_t *triangle = s->triangles + 3 * (size_t)t, swap = triangle[1];
            triangle[1] = triangle[2];
            triangle[2] = swap;
        }
}

static void fill_surface_count_crowded(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    (void)uses;
    ((sinew_fill_report *)context)->crowded_edges += use_count > 2;
}

static sinew_status orient_consistently(fill_surface *s, const sinew_allocator *allocator, sinew_fill_report *report,
                                        sinew_error *error)
{
    sinew_orientation o = {0};
    component *components = sinew_allocate_zero(allocator, (size_t)s->count, sizeof *components);
    int32_t *list = sinew_allocate(allocator, (size_t)s->count, sizeof *list);
    const sinew_elements elements = {s->triangles, s->count, 3};
    sinew_status status = components && list ? SINEW_OK : sinew_fail_memory(error, "a surface to fill");
    if (status == SINEW_OK)
        status = sinew_visit_facets(allocator, s->vertex_count, &elements, fill_surface_count_crowded, report, error);
    if (status == SINEW_OK)
        status = sinew_orientation_find(&o, allocator, s->vertex_count, s->triangles, s->count, error);
    if (status == SINEW_OK) {
        for (int32_t t = 0; t < s->count; t++)
            report->flipped += o.flip[t];
        report->open_edges = (int32_t)(o.once_count < INT32_MAX ? o.once_count : INT32_MAX);
        s->closed = o.odd_count == 0;
        survey_components(s, &o, components);
        flip_inside_out_components(s, &o, components, list);
        flip_triangles(s, &o);
        sinew_orientation_free(&o, allocator);
    }
    sinew_release(allocator, components);
    sinew_release(allocator, list);
    return status;
}

/* ---- Extent of the surface ----------------------------------------------------------------------- */

static void fill_surface_unit_normal(const fill_surface *s, const int32_t *triangle, double normal[3])
{
    double e[2][3];
    for (int i = 0; i < 2; i++)
        vec3_edge(s->positions + 3 * (size_t)triangle[0], s->positions + 3 * (size_t)triangle[i + 1], e[i]);
    vec3_cross(e[0], e[1], normal);
    const double length = vec3_norm(normal);
    for (int c = 0; c < 3; c++)
        normal[c] /= length;
}

/* Extent of all vertices of the surface along the normal of its largest triangle, in m. */
static double surface_thickness(const fill_surface *s)
{
    int32_t largest = 0;
    double max = -1, normal[3], low = INFINITY, high = -INFINITY;
    for (int32_t t = 0; t < s->count; t++) {
        bool degenerate;
        const double area = sinew_shape_of_triangle(s->positions, s->triangles + 3 * (size_t)t, &degenerate);
        if (area > max) {
            max = area;
            largest = t;
        }
    }
    fill_surface_unit_normal(s, s->triangles + 3 * (size_t)largest, normal);
    for (size_t i = 0; i < 3 * (size_t)s->count; i++) {
        const sinew_real *x = s->positions + 3 * (size_t)s->triangles[i];
        const double along = normal[0] * (double)x[0] + normal[1] * (double)x[1] + normal[2] * (double)x[2];
        low = fmin(low, along);
        high = fmax(high, along);
    }
    return high - low;
}

static sinew_status check_extent(fill_surface *s, int32_t given, sinew_error *error)
{
    if (s->count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the surface is flat: none of its %d triangles has an area; a body needs a surface that "
                          "encloses something",
                          given);
    memcpy(s->box, (double[6]){INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY}, sizeof s->box);
    for (size_t i = 0; i < 3 * (size_t)s->count; i++)
        box_add(s->box, s->positions + 3 * (size_t)s->triangles[i]);
    const double diagonal = hypot(hypot(s->box[3] - s->box[0], s->box[4] - s->box[1]), s->box[5] - s->box[2]);
    if (!(diagonal >= diagonal_min && diagonal <= diagonal_max))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the surface is %.3g m long, must be from %g to %g m; give it in another unit", diagonal,
                          diagonal_min, diagonal_max);
    const double thick = surface_thickness(s);
    if (!(thick > flatness * diagonal))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the surface is flat: %.3g m thick and %.3g m long; a body needs a surface that encloses "
                          "something",
                          thick, diagonal);
    return SINEW_OK;
}

sinew_status sinew_fill_clean_surface(fill_surface *s, const sinew_mesh *mesh, const sinew_allocator *allocator,
                                      sinew_fill_report *report, sinew_error *error)
{
    s->vertex_count = mesh->vertex_count;
    s->positions = mesh->positions;
    s->triangles = sinew_allocate(allocator, 3 * (size_t)mesh->triangle_count, sizeof *s->triangles);
    if (!s->triangles)
        return sinew_fail_memory(error, "a surface to fill");
    sinew_status status = merge_and_drop_degenerate(s, mesh, allocator, report, error);
    if (status == SINEW_OK)
        status = drop_duplicates(s, allocator, report, error);
    if (status == SINEW_OK)
        status = check_extent(s, mesh->triangle_count, error);
    if (status == SINEW_OK)
        status = orient_consistently(s, allocator, report, error);
    for (int32_t t = 0; status == SINEW_OK && t < s->count; t++)
        s->volume += triangle_volume_from(s, s->triangles + 3 * (size_t)t, s->positions + 3 * (size_t)s->triangles[0]);
    return status;
}

void sinew_fill_surface_free(fill_surface *surface, const sinew_allocator *allocator)
{
    sinew_release(allocator, surface->triangles);
    surface->triangles = NULL;
}
