/* SPDX-License-Identifier: MIT
 *
 * rod_frames.c: a copy of a mesh with a director point for every edge of its triangles, or for its own edges if it has
 * no triangles. See rod_frames.h.
 *
 * Shells: d is the mean normal of the triangles at the edge, with the second normal flipped if the triangles are
 * oriented inconsistently. Rods: d is a unit vector perpendicular to the first edge of a connected component. Parallel
 * transport carries d from edge to edge: the smallest rotation that takes one edge's direction to the next. A rope at
 * rest then has no twist.
 *
 * Limits: edges of three or more triangles have no unique normal and are refused. Around a closed loop that is not
 * planar, the transport generally does not return to its start: a twist remains between the last two edges reached.
 */
#include "mesh/topology/rod_frames.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "mesh/topology/facets.h"

#define OFFSET_SHARE 0.25 /* default offset of a director point from its edge, as a fraction of the mean edge length */

typedef struct director_builder {
    const sinew_mesh *mesh;
    int32_t *directors; /* [3 * count] per director: edge a b, then the director point p */
    double *d;          /* [3 * count] unit vector d of each director, perpendicular to its edge */
    int32_t count;
    double length; /* sum of the lengths of all edges with directors, in m */
    /* two vertices of an edge of three or more triangles, and the number of its triangles; 0: no such edge */
    int32_t crowded[3];
    const sinew_real *up; /* [3] preferred direction of the directors of rods, or NULL */
} director_builder;

/* ---- Operations on 3-vectors --------------------------------------------------------------------- */

static void rod_frame_difference(const sinew_real *positions, int32_t a, int32_t b, double e[3])
{
    for (size_t k = 0; k < 3; k++)
        e[k] = (double)positions[3 * (size_t)b + k] - (double)positions[3 * (size_t)a + k];
}

/* Normalises v; returns false if v is zero or not finite. */
static bool rod_frame_unit(double v[3])
{
    const double length = vec3_norm(v);
    for (int k = 0; k < 3; k++)
        v[k] /= length > 0 ? length : 1;
    return length > 0 && isfinite(length);
}

/* ---- Directors at the edges of shells ------------------------------------------------------------ */

static bool triangle_normal(const sinew_mesh *mesh, int32_t t, double n[3])
{
    const int32_t *v = mesh->triangles + 3 * (size_t)t;
    double e[3], f[3];
    rod_frame_difference(mesh->positions, v[0], v[1], e);
    rod_frame_difference(mesh->positions, v[0], v[2], f);
    vec3_cross(e, f, n);
    return rod_frame_unit(n);
}

/* The direction in which a triangle traverses an edge. use = 3 * triangle + corner opposite to the edge. +1: from
 * the lower vertex of the edge to the higher, -1: the reverse. */
static double edge_sense(const sinew_mesh *mesh, uint64_t use, const int32_t *vertices)
{
    const int32_t *v = mesh->triangles + 3 * (use / 3);
    return v[(use % 3 + 1) % 3] == vertices[0] ? 1 : -1;
}

static void add_shell_edge(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    director_builder *builder = context;
    const sinew_mesh *mesh = builder->mesh;
    if (use_count > 2 && builder->crowded[2] == 0) {
        memcpy(builder->crowded, vertices, 2 * sizeof *vertices);
        builder->crowded[2] = (int32_t)use_count;
    }
    double n[2][3] = {{0}}, e[3];
    for (size_t i = 0; i < use_count && i < 2; i++)
        triangle_normal(mesh, (int32_t)(uses[i].minor / 3), n[i]);
    /* Triangles with consistent orientation traverse their edge in opposite directions. */
    const bool agree =
        use_count < 2 || edge_sense(mesh, uses[0].minor, vertices) != edge_sense(mesh, uses[1].minor, vertices);
    double *d = builder->d + 3 * (size_t)builder->count;
    for (int k = 0; k < 3; k++)
        d[k] = n[0][k] + (agree ? n[1][k] : -n[1][k]);
    /* the triangles are folded flat and the mean normal vanishes; the first normal replaces it */
    if (!(vec3_dot(d, d) > 1e-12))
        memcpy(d, n[0], sizeof n[0]);
    rod_frame_unit(d);
    rod_frame_difference(mesh->positions, vertices[0], vertices[1], e);
    builder->length += vec3_norm(e);
    memcpy(builder->directors + 3 * (size_t)builder->count++, vertices, 2 * sizeof *vertices);
}

static sinew_status add_shell_directors(director_builder *builder, sinew_error *error)
{
    const sinew_mesh *mesh = builder->mesh;
    const sinew_elements triangles = {mesh->triangles, mesh->triangle_count, 3};
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        double n[3];
        if (!triangle_normal(mesh, t, n))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "directors: triangle %d has no area and no normal; sinew mesh fix drops it", t);
    }
    sinew_status status =
        sinew_visit_facets(&mesh->allocator, mesh->vertex_count, &triangles, add_shell_edge, builder, error);
    if (status == SINEW_OK && builder->crowded[2] > 0)
        status = sinew_fail(error, SINEW_ERROR_DATA,
                            "directors: the edge (%d, %d) is shared by %d triangles, at most 2 have one normal between "
                            "them; split the surface there",
                            builder->crowded[0], builder->crowded[1], builder->crowded[2]);
    return status;
}

/* ---- Directors along rods ------------------------------------------------------------------------ */

/* Director of the first edge of a rod: the component of `up` perpendicular to the edge. Without `up`, or if it is
 * parallel to the edge, the coordinate axis most perpendicular to the edge is used. */
static void start_direction(const director_builder *builder, const double t[3], double d[3])
{
    double up[3] = {0};
    for (int k = 0; builder->up && k < 3; k++)
        up[k] = (double)builder->up[k];
    rod_frame_unit(up);
    const double across = vec3_dot(up, up) - vec3_dot(up, t) * vec3_dot(up, t);
    if (!(across > 1e-12)) {
        int min = 2;
        for (int k = 1; k >= 0; k--)
            if (fabs(t[k]) < fabs(t[min]))
                min = k;
        memset(up, 0, sizeof up);
        up[min] = 1;
    }
    const double along = vec3_dot(up, t);
    for (int k = 0; k < 3; k++)
        d[k] = up[k] - along * t[k];
    rod_frame_unit(d);
}

/* Rotates d by the smallest rotation that takes t to u (Rodrigues); d is kept if t and u are opposite. */
static void parallel_transport(const double t[3], const double u[3], double d[3])
{
    double axis[3], turned[3];
    const double c = vec3_dot(t, u);
    vec3_cross(t, u, axis);
    vec3_cross(axis, d, turned);
    const double along = c > -1 ? vec3_dot(axis, d) / (1 + c) : 0;
    double next[3];
    for (int k = 0; k < 3; k++)
        next[k] = c > -1 + 1e-9 ? c * d[k] + turned[k] + along * axis[k] : d[k];
    /* removes the component of d along u, round-off that accumulates over many edges */
    const double out = vec3_dot(next, u);
    for (int k = 0; k < 3; k++)
        d[k] = next[k] - out * u[k];
    rod_frame_unit(d);
}

/* Unit vector t along edge e, away from its vertex v. Returns false if the edge has no length. */
static bool edge_direction_from(const sinew_mesh *mesh, int32_t e, int32_t v, double t[3])
{
    const int32_t *edge = mesh->edges + 2 * (size_t)e;
    rod_frame_difference(mesh->positions, v, edge[0] == v ? edge[1] : edge[0], t);
    return rod_frame_unit(t);
}

/* Sets the unit vectors d of all edges connected to edge `first`, by parallel transport in breadth-first order. Work
 * space: queue [edge_count]; seen [edge_count], 1: d is set. */
static void transport_along_rod(director_builder *builder, const sinew_incidence *at, int32_t first, int32_t *queue,
                                uint8_t *seen)
{
    const sinew_mesh *mesh = builder->mesh;
    double t[3], u[3];
    int32_t head = 0, tail = 0;
    edge_direction_from(mesh, first, mesh->edges[2 * (size_t)first], t);
    start_direction(builder, t, builder->d + 3 * (size_t)first);
    seen[first] = 1;
    queue[tail++] = first;
    while (head < tail) {
        const int32_t e = queue[head++];
        for (int end = 0; end < 2; end++) {
            const int32_t v = mesh->edges[2 * (size_t)e + (size_t)end];
            edge_direction_from(mesh, e, v, t);
            for (int k = 0; k < 3; k++)
                t[k] = -t[k];
            for (int64_t i = at->first[v]; i < at->first[v + 1]; i++) {
                const int32_t next = at->elements[i];
                if (seen[next])
                    continue;
                edge_direction_from(mesh, next, v, u);
                memcpy(builder->d + 3 * (size_t)next, builder->d + 3 * (size_t)e, 3 * sizeof *builder->d);
                parallel_transport(t, u, builder->d + 3 * (size_t)next);
                seen[next] = 1;
                queue[tail++] = next;
            }
        }
    }
}

static sinew_status add_rod_directors(director_builder *builder, sinew_error *error)
{
    const sinew_mesh *mesh = builder->mesh;
    const sinew_allocator *allocator = &mesh->allocator;
    const sinew_elements edges = {mesh->edges, mesh->edge_count, 2};
    for (int32_t e = 0; e < mesh->edge_count; e++) {
        double t[3];
        rod_frame_difference(mesh->positions, mesh->edges[2 * (size_t)e], mesh->edges[2 * (size_t)e + 1], t);
        builder->length += vec3_norm(t);
        if (!rod_frame_unit(t))
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "directors: edge %d has no length and nothing across it; sinew mesh fix drops it", e);
        memcpy(builder->directors + 3 * (size_t)e, mesh->edges + 2 * (size_t)e, 2 * sizeof *mesh->edges);
    }
    builder->count = mesh->edge_count;
    sinew_incidence at = {0};
    int32_t *queue = sinew_allocate(allocator, (size_t)mesh->edge_count, sizeof *queue);
    uint8_t *seen = sinew_allocate_zero(allocator, (size_t)mesh->edge_count, 1);
    sinew_status status = queue && seen ? sinew_incidence_build(&at, allocator, mesh->vertex_count, &edges, error)
                                        : sinew_fail_memory(error, "the directors of a mesh");
    for (int32_t e = 0; status == SINEW_OK && e < mesh->edge_count; e++)
        if (!seen[e])
            transport_along_rod(builder, &at, e, queue, seen);
    sinew_incidence_free(&at, allocator);
    sinew_release(allocator, queue);
    sinew_release(allocator, seen);
    return status;
}

/* ---- The copy of the mesh with director points --------------------------------------------------- */

/* Writes positions [3 * (vertex_count + count)]: vertices of the mesh, then the director points, whose indices are
 * set. */
static void place_directors(const director_builder *builder, double offset, sinew_real *positions)
{
    const sinew_mesh *mesh = builder->mesh;
    memcpy(positions, mesh->positions, 3 * (size_t)mesh->vertex_count * sizeof *positions);
    for (int32_t i = 0; i < builder->count; i++) {
        int32_t *director = builder->directors + 3 * (size_t)i;
        director[2] = mesh->vertex_count + i;
        for (size_t k = 0; k < 3; k++) {
            const double a = (double)mesh->positions[3 * (size_t)director[0] + k];
            const double b = (double)mesh->positions[3 * (size_t)director[1] + k];
            positions[3 * (size_t)director[2] + k] =
                (sinew_real)(0.5 * (a + b) + offset * builder->d[3 * (size_t)i + k]);
        }
    }
}

static sinew_mesh *copy_with_directors(const director_builder *builder, double offset, sinew_error *error)
{
    const sinew_mesh *mesh = builder->mesh;
    const int64_t vertex_count = (int64_t)mesh->vertex_count + builder->count;
    sinew_mesh *copy = NULL;
    if (vertex_count > INT32_MAX) {
        sinew_fail(error, SINEW_ERROR_DATA, "directors: %lld vertices are more than 32-bit indices reach",
                   (long long)vertex_count);
        return NULL;
    }
    sinew_real *positions = sinew_allocate(&mesh->allocator, 3 * (size_t)vertex_count, sizeof *positions);
    if (positions) {
        place_directors(builder, offset, positions);
        sinew_mesh_def def = sinew_mesh_get_def(mesh);
        def.vertex_count = (int32_t)vertex_count;
        def.positions = positions;
        def.director_count = builder->count;
        def.directors = builder->directors;
        copy = sinew_mesh_create(&def, error);
    } else {
        sinew_fail_memory(error, "the directors of a mesh");
    }
    sinew_release(&mesh->allocator, positions);
    return copy;
}

static bool can_have_directors(const sinew_mesh *mesh, double offset, sinew_error *error)
{
    if (!SINEW_ASSERT(mesh))
        sinew_fail(error, SINEW_ERROR_USAGE, "directors: there is no mesh");
    else if (!isfinite(offset) || offset < 0)
        sinew_fail(error, SINEW_ERROR_DATA,
                   "directors: the offset is %g m; it must be finite and greater than 0, or 0 "
                   "for a quarter of the mean edge",
                   offset);
    else if (mesh->director_count > 0)
        sinew_fail(error, SINEW_ERROR_DATA, "directors: the mesh has %d already", mesh->director_count);
    else if (mesh->triangle_count == 0 && mesh->edge_count == 0)
        sinew_fail(error, SINEW_ERROR_DATA, "directors: the mesh has neither triangles nor edges to give them to");
    else
        return true;
    return false;
}

sinew_mesh *sinew_mesh_with_directors(const sinew_mesh *mesh, double offset, const sinew_real *toward,
                                      sinew_error *error)
{
    sinew_error_clear(error);
    if (!can_have_directors(mesh, offset, error))
        return NULL;
    const bool shell = mesh->triangle_count > 0;
    const size_t capacity = shell ? 3 * (size_t)mesh->triangle_count : (size_t)mesh->edge_count;
    director_builder builder = {.mesh = mesh, .up = toward};
    builder.directors = sinew_allocate(&mesh->allocator, 3 * capacity, sizeof *builder.directors);
    builder.d = sinew_allocate(&mesh->allocator, 3 * capacity, sizeof *builder.d);
    sinew_mesh *copy = NULL;
    sinew_status status =
        builder.directors && builder.d ? SINEW_OK : sinew_fail_memory(error, "the directors of a mesh");
    if (status == SINEW_OK)
        status = shell ? add_shell_directors(&builder, error) : add_rod_directors(&builder, error);
    if (status == SINEW_OK)
        copy =
            copy_with_directors(&builder, offset > 0 ? offset : OFFSET_SHARE * builder.length / builder.count, error);
    sinew_release(&mesh->allocator, builder.directors);
    sinew_release(&mesh->allocator, builder.d);
    return copy;
}
