/* SPDX-License-Identifier: MIT
 *
 * mesh_check.c: finds the flaws of a mesh (sinew_flaw_kind), each with the index of its element.
 *
 * Flaws are reported kind by kind, ascending by element. The order does not depend on the BVH; a short array of the
 * caller receives the first flaws.
 *
 * A BVH finds intersecting triangles (triangle_crossing.h). Limits: does not find overlapping tets, nor coplanar
 * triangles that overlap.
 */
#include "mesh/topology/facets.h"
#include "mesh/flaws.h"
#include "bvh/triangle_crossing.h"

#include <math.h>

typedef struct checker {
    const sinew_mesh *mesh;
    sinew_mesh_report *report;
    sinew_flaw *flaws;
    int64_t capacity;
    int64_t total;
    sinew_error *error;
} checker;

static void add_flaw(checker *c, sinew_flaw_kind kind, int32_t element, int32_t other, double measure)
{
    if (c->flaws && c->total < c->capacity)
        c->flaws[c->total] = (sinew_flaw){kind, element, other, measure};
    c->total++;
    c->report->counts[kind]++;
}

const char *sinew_flaw_name(sinew_flaw_kind kind)
{
    static const char *const names[SINEW_FLAW_COUNT] = {"inverted tet",        "degenerate tet",   "sliver tet",
                                                        "degenerate triangle", "degenerate edge",  "duplicate vertex",
                                                        "unused vertex",       "duplicate cell",   "non-manifold face",
                                                        "non-manifold edge",   "flipped triangle", "crossing triangle"};
    return (size_t)kind < SINEW_FLAW_COUNT ? names[kind] : "unknown flaw";
}

/* ---- Shapes of single cells ---------------------------------------------------------------------- */

/* Adds x to a compensated sum (A. Neumaier 1974), for sums of millions of volumes. sum is {total, accumulated rounding
 * error}. */
static void add_compensated(double sum[2], double x)
{
    double total = sum[0] + x;
    sum[1] += fabs(sum[0]) >= fabs(x) ? (sum[0] - total) + x : (x - total) + sum[0];
    sum[0] = total;
}

static void add_flawed_tets(checker *c, sinew_flaw_kind kind)
{
    for (int32_t t = 0; t < c->mesh->tet_count; t++) {
        sinew_tet_shape shape = sinew_shape_of_tet(c->mesh->positions, c->mesh->tets + 4 * (size_t)t);
        if (shape.flaw == kind)
            add_flaw(c, kind, t, -1, kind == SINEW_FLAW_SLIVER_TET ? shape.quality : shape.volume);
    }
}

static void check_tets(checker *c)
{
    const sinew_mesh *mesh = c->mesh;
    bool found[SINEW_FLAW_COUNT + 1] = {false};
    double volume[2] = {0}, quality[2] = {0};
    if (mesh->tet_count == 0)
        return;
    c->report->quality_min = INFINITY;
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        sinew_tet_shape shape = sinew_shape_of_tet(mesh->positions, mesh->tets + 4 * (size_t)t);
        add_compensated(volume, mesh->fractions ? shape.volume * (double)mesh->fractions[t] : shape.volume);
        add_compensated(quality, shape.quality);
        c->report->quality_min = fmin(c->report->quality_min, shape.quality);
        found[shape.flaw] = true;
    }
    c->report->volume = volume[0] + volume[1];
    c->report->quality_mean = (quality[0] + quality[1]) / mesh->tet_count;
    for (int kind = SINEW_FLAW_INVERTED_TET; kind <= SINEW_FLAW_SLIVER_TET; kind++)
        if (found[kind])
            add_flawed_tets(c, (sinew_flaw_kind)kind);
}

static void check_triangles_and_edges(checker *c)
{
    const sinew_mesh *mesh = c->mesh;
    double area_sum[2] = {0}, length_sum[2] = {0};
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        bool degenerate;
        double area = sinew_shape_of_triangle(mesh->positions, mesh->triangles + 3 * (size_t)t, &degenerate);
        add_compensated(area_sum, area);
        if (degenerate)
            add_flaw(c, SINEW_FLAW_DEGENERATE_TRIANGLE, t, -1, area);
    }
    for (int32_t e = 0; e < mesh->edge_count; e++) {
        double length = sinew_shape_of_edge(mesh->positions, mesh->edges + 2 * (size_t)e);
        add_compensated(length_sum, length);
        if (!(length > 0))
            add_flaw(c, SINEW_FLAW_DEGENERATE_EDGE, e, -1, length);
    }
    c->report->area = area_sum[0] + area_sum[1];
    c->report->length = length_sum[0] + length_sum[1];
}

static void find_mesh_bounds(const sinew_mesh *mesh, double bounds[6])
{
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        double x = (double)mesh->positions[i];
        bounds[i % 3] = i < 3 ? x : fmin(bounds[i % 3], x);
        bounds[3 + i % 3] = i < 3 ? x : fmax(bounds[3 + i % 3], x);
    }
}

/* ---- Unused or coincident vertices, connected components ----------------------------------------- */

static sinew_status check_vertices(checker *c)
{
    const sinew_mesh *mesh = c->mesh;
    int32_t *numbers = sinew_allocate(&mesh->allocator, (size_t)mesh->vertex_count, sizeof *numbers);
    if (!numbers)
        return sinew_fail_memory(c->error, "a check of the vertices");
    sinew_status status =
        sinew_same_vertices(&mesh->allocator, mesh->positions, mesh->vertex_count, 0, numbers, c->error);
    if (status == SINEW_OK) {
        for (int32_t v = 0; v < mesh->vertex_count; v++)
            if (numbers[v] != v)
                add_flaw(c, SINEW_FLAW_DUPLICATE_VERTEX, v, numbers[v], 0);
        sinew_elements lists[3];
        sinew_mesh_elements(mesh, lists);
        c->report->component_count = sinew_components(mesh->vertex_count, lists, 3, numbers);
        for (int32_t i = 0; i < mesh->director_count; i++)
            numbers[mesh->directors[3 * (size_t)i + 2]] = 0;
        for (int32_t v = 0; v < mesh->vertex_count; v++)
            if (numbers[v] < 0)
                add_flaw(c, SINEW_FLAW_UNUSED_VERTEX, v, -1, 0);
    }
    sinew_release(&mesh->allocator, numbers);
    return status;
}

/* ---- Duplicate cells ----------------------------------------------------------------------------- */

static sinew_status check_duplicate_cells(checker *c, const sinew_elements *elements)
{
    const sinew_mesh *mesh = c->mesh;
    int32_t *same = sinew_allocate(&mesh->allocator, (size_t)elements->count, sizeof *same);
    if (!same)
        return sinew_fail_memory(c->error, "a check of the cells");
    sinew_status status = sinew_same_elements(&mesh->allocator, mesh->vertex_count, elements, same, c->error);
    if (status == SINEW_OK)
        for (int32_t e = 0; e < elements->count; e++)
            if (same[e] != e)
                add_flaw(c, SINEW_FLAW_DUPLICATE_CELL, e, same[e], elements->size);
    sinew_release(&mesh->allocator, same);
    return status;
}

/* ---- Non-manifold faces and edges ---------------------------------------------------------------- */

/* Non-manifold facets, which are shared by too many elements. They are found in the order of their vertices and
 * sorted by element. */
typedef struct crowd {
    /* [2 * capacity] per facet: first and second element, number of sharing elements; then a buffer for sorting */
    sinew_pair *facets;
    size_t count;
    size_t capacity;
    int32_t size; /* number of vertices of an element: 4 for tets, 3 for triangles */
} crowd;

static void count_non_manifold(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    (void)uses;
    ((crowd *)context)->capacity += use_count > 2;
}

static void gather_non_manifold(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    crowd *found = context;
    if (use_count < 3)
        return;
    uint64_t size = (uint64_t)found->size;
    found->facets[found->count++] =
        (sinew_pair){sinew_pack((int32_t)(uses[0].minor / size), (int32_t)(uses[1].minor / size)), (uint64_t)use_count};
}

static sinew_status check_non_manifold_facets(checker *c, const sinew_elements *elements, sinew_flaw_kind kind)
{
    const sinew_mesh *mesh = c->mesh;
    crowd found = {.size = elements->size};
    sinew_status status =
        sinew_visit_facets(&mesh->allocator, mesh->vertex_count, elements, count_non_manifold, &found, c->error);
    if (status != SINEW_OK || found.capacity == 0)
        return status;
    found.facets = sinew_allocate(&mesh->allocator, 2 * found.capacity, sizeof *found.facets);
    if (!found.facets)
        return sinew_fail_memory(c->error, "a check of the faces");
    status = sinew_visit_facets(&mesh->allocator, mesh->vertex_count, elements, gather_non_manifold, &found, c->error);
    if (status == SINEW_OK) {
        sinew_sort_pairs(found.facets, found.count, found.facets + found.capacity);
        for (size_t n = 0; n < found.count; n++)
            add_flaw(c, kind, (int32_t)(found.facets[n].major >> 32), (int32_t)(found.facets[n].major & UINT32_MAX),
                     (double)found.facets[n].minor);
    }
    sinew_release(&mesh->allocator, found.facets);
    return status;
}

/* ---- Orientation of triangles, boundary of tets -------------------------------------------------- */

static sinew_status check_triangle_orientation(checker *c)
{
    const sinew_mesh *mesh = c->mesh;
    sinew_orientation orientation;
    sinew_status status = sinew_orientation_find(&orientation, &mesh->allocator, mesh->vertex_count, mesh->triangles,
                                                 mesh->triangle_count, c->error);
    if (status != SINEW_OK)
        return status;
    c->report->boundary_edge_count = (int32_t)(orientation.once_count < INT32_MAX ? orientation.once_count : INT32_MAX);
    c->report->closed_surface = mesh->triangle_count > 0 && orientation.odd_count == 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++)
        if (orientation.flip[t] || orientation.against[t] >= 0)
            add_flaw(c, SINEW_FLAW_FLIPPED_TRIANGLE, t, orientation.against[t], 0);
    sinew_orientation_free(&orientation, &mesh->allocator);
    return SINEW_OK;
}

static void count_odd_edges(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    (void)vertices;
    (void)uses;
    *(int64_t *)context += use_count % 2;
}

static sinew_status check_boundary_of_tets(checker *c)
{
    sinew_mesh *surface = sinew_mesh_surface(c->mesh, c->error);
    if (!surface)
        return SINEW_ERROR_MEMORY;
    int64_t odd_count = 0;
    sinew_elements triangles = {surface->triangles, surface->triangle_count, 3};
    sinew_status status = sinew_visit_facets(&surface->allocator, surface->vertex_count, &triangles, count_odd_edges,
                                             &odd_count, c->error);
    c->report->closed_surface = surface->triangle_count > 0 && odd_count == 0;
    sinew_mesh_destroy(surface);
    return status;
}

/* ---- Intersecting triangles ------------------------------------------------------------------ */

/* Result of the search for intersecting triangles. */
typedef struct crossed {
    int32_t *other; /* [triangle_count] the first intersecting triangle of each triangle; -1: none */
} crossed;

static void add_crossing(void *context, int32_t a, int32_t b)
{
    int32_t *other = ((crossed *)context)->other;
    other[a] = other[a] < 0 ? b : other[a];
    other[b] = other[b] < 0 ? a : other[b];
}

static sinew_status find_crossings(checker *c, crossed *found)
{
    const sinew_mesh *mesh = c->mesh;
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = mesh->allocator;
    def.vertex_count = mesh->vertex_count;
    def.positions = mesh->positions;
    def.cell_count = mesh->triangle_count;
    def.cells = mesh->triangles;
    def.winding = false;
    sinew_tree *tree = sinew_tree_create(&def, c->error);
    if (!tree)
        return SINEW_ERROR_MEMORY;
    const sinew_status status = sinew_visit_crossings(tree, &mesh->allocator, mesh->positions, mesh->triangles,
                                                      mesh->triangle_count, add_crossing, found, c->error);
    sinew_tree_destroy(tree);
    return status;
}

static sinew_status check_crossings(checker *c)
{
    const int32_t count = c->mesh->triangle_count;
    if (count == 0)
        return SINEW_OK;
    crossed found = {sinew_allocate(&c->mesh->allocator, (size_t)count, sizeof *found.other)};
    if (!found.other)
        return sinew_fail_memory(c->error, "a check of the triangles");
    for (int32_t t = 0; t < count; t++)
        found.other[t] = -1;
    const sinew_status status = find_crossings(c, &found);
    for (int32_t t = 0; status == SINEW_OK && t < count; t++)
        if (found.other[t] >= 0)
            add_flaw(c, SINEW_FLAW_CROSSING_TRIANGLE, t, found.other[t], 0);
    sinew_release(&c->mesh->allocator, found.other);
    return status;
}

/* ---- All checks of a mesh together --------------------------------------------------------------- */

static sinew_status check_everything(checker *c)
{
    sinew_elements lists[3];
    sinew_mesh_elements(c->mesh, lists);
    find_mesh_bounds(c->mesh, c->report->bounds);
    check_tets(c);
    check_triangles_and_edges(c);
    sinew_status status = check_vertices(c);
    for (int l = 0; l < 3 && status == SINEW_OK; l++)
        status = check_duplicate_cells(c, &lists[l]);
    if (status == SINEW_OK)
        status = check_non_manifold_facets(c, &lists[0], SINEW_FLAW_NON_MANIFOLD_FACE);
    if (status == SINEW_OK)
        status = check_non_manifold_facets(c, &lists[1], SINEW_FLAW_NON_MANIFOLD_EDGE);
    if (status == SINEW_OK)
        status = check_triangle_orientation(c);
    if (status == SINEW_OK)
        status = check_crossings(c);
    if (status == SINEW_OK && c->mesh->triangle_count == 0 && c->mesh->tet_count > 0)
        status = check_boundary_of_tets(c);
    return status;
}

int64_t sinew_mesh_check(const sinew_mesh *mesh, sinew_mesh_report *report, sinew_flaw *flaws, int64_t flaw_capacity,
                         sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(mesh))
        return -(int64_t)sinew_fail(error, SINEW_ERROR_USAGE, "mesh: there is no mesh to check");
    sinew_mesh_report own = {0};
    checker c = {mesh, &own, flaws, flaw_capacity, 0, error};
    sinew_status status = check_everything(&c);
    if (status != SINEW_OK)
        return -(int64_t)status;
    if (report)
        *report = own;
    return c.total;
}
