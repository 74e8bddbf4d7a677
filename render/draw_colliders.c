/* SPDX-License-Identifier: MIT
 *
 * draw_colliders.c: draws colliders in a muted colour.
 *
 * A horizontal plane that faces up becomes the ground; a slope is drawn as a square around its point. Walls and
 * ceilings are not drawn, because they would hide or shadow the bodies. A hollow box is drawn as its edges and its
 * bottom wall, so that its inside is visible. A fitted camera ignores slopes and colliders that are much larger than
 * the bodies.
 *
 * Sizes derive from the bodies at rest, so all frames of a film have the same sizes.
 */
#include "draw_world.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

/* Surface mesh of a collider; malloc allocates the arrays. */
typedef struct collider_surface {
    int32_t vertex_count, triangle_count;
    sinew_real *positions;
    int32_t *triangles;
} collider_surface;

/* Bounding box of all bodies at rest, in m. */
typedef struct rest_box {
    double low[3], high[3], diagonal;
} rest_box;

static rest_box measure_rest(const drawing *d)
{
    rest_box box = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (int32_t b = 0; b < d->body_count; b++) {
        const sinew_mesh *mesh = d->bodies[b].id.index < 0 ? NULL : sinew_body_mesh(d->world, d->bodies[b].id);
        const sinew_real *rest = mesh ? sinew_mesh_positions(mesh) : NULL;
        for (size_t i = 0; mesh && i < 3 * (size_t)sinew_mesh_vertex_count(mesh); i++) {
            box.low[i % 3] = fmin(box.low[i % 3], (double)rest[i]);
            box.high[i % 3] = fmax(box.high[i % 3], (double)rest[i]);
        }
    }
    double square = 0;
    for (int c = 0; c < 3; c++)
        square += box.high[c] > box.low[c] ? (box.high[c] - box.low[c]) * (box.high[c] - box.low[c]) : 0;
    box.diagonal = sqrt(square);
    return box;
}

/* ---- Surfaces of colliders -------------------------------------------------------------------- */

/* Reads the collider's current surface or, for a collider of another world, its surface at the time in the def. Without
 * arrays the function returns the counts only. */
static sinew_status ask_surface(const drawing *d, sinew_collider id, double extent, collider_surface *surface)
{
    if (d->def->colliders)
        return sinew_collider_surface_at(d->def->colliders, id, d->def->collider_time, (sinew_real)extent,
                                         &surface->vertex_count, surface->positions, &surface->triangle_count,
                                         surface->triangles, d->error);
    return sinew_collider_surface(d->world, id, (sinew_real)extent, &surface->vertex_count, surface->positions,
                                  &surface->triangle_count, surface->triangles, d->error);
}

static sinew_status drawn_collider_get_surface(const drawing *d, sinew_collider id, double extent,
                                               collider_surface *surface)
{
    const sinew_status status = ask_surface(d, id, extent, surface);
    if (status != SINEW_OK)
        return status;
    surface->positions = malloc(3 * (size_t)surface->vertex_count * sizeof *surface->positions + 1);
    surface->triangles = malloc(3 * (size_t)surface->triangle_count * sizeof *surface->triangles + 1);
    if (!surface->positions || !surface->triangles)
        return picture_fail_memory(d->error, "a snapshot");
    return ask_surface(d, id, extent, surface);
}

static void free_surface(collider_surface *surface)
{
    free(surface->positions);
    free(surface->triangles);
    *surface = (collider_surface){0};
}

static void surface_point(const collider_surface *surface, int32_t vertex, double point[3])
{
    for (int c = 0; c < 3; c++)
        point[c] = (double)surface->positions[3 * (size_t)vertex + (size_t)c];
}

static double surface_diagonal(const collider_surface *surface)
{
    double square = 0;
    for (size_t c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < (size_t)surface->vertex_count; i++) {
            low = fmin(low, (double)surface->positions[3 * i + c]);
            high = fmax(high, (double)surface->positions[3 * i + c]);
        }
        square += high > low ? (high - low) * (high - low) : 0;
    }
    return sqrt(square);
}

/* The y component of the unit normal of a collider's triangle. */
static double upwardness(const collider_surface *surface, int32_t triangle)
{
    const int32_t *corners = surface->triangles + 3 * (size_t)triangle;
    double p[3][3], n[3];
    for (int i = 0; i < 3; i++)
        surface_point(surface, corners[i], p[i]);
    for (int c = 0; c < 3; c++) {
        const int a = (c + 1) % 3, b = (c + 2) % 3;
        n[c] = (p[1][a] - p[0][a]) * (p[2][b] - p[0][b]) - (p[1][b] - p[0][b]) * (p[2][a] - p[0][a]);
    }
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    return length > 0 ? n[1] / length : 0;
}

static bool middle_is_cut(const drawing *d, const collider_surface *surface, int32_t triangle)
{
    double middle[3] = {0};
    for (int i = 0; i < 3; i++) {
        double point[3];
        surface_point(surface, surface->triangles[3 * (size_t)triangle + (size_t)i], point);
        for (int c = 0; c < 3; c++)
            middle[c] += point[c] / 3;
    }
    return drawing_cuts(d, middle);
}

/* Draws the triangles of a collider whose unit normal has an upward component of at most `highest`. */
static void draw_triangles(drawing *d, const collider_surface *surface, double highest, int32_t paint)
{
    const int32_t begin = d->shape->triangle_count, first = d->shape->vertex_count;
    shape_reserve(d->shape, surface->vertex_count, surface->triangle_count);
    for (int32_t v = 0; v < surface->vertex_count; v++) {
        double point[3];
        surface_point(surface, v, point);
        shape_add_point(d->shape, point);
    }
    for (int32_t t = 0; t < surface->triangle_count && !d->shape->failed; t++) {
        const int32_t *from = surface->triangles + 3 * (size_t)t;
        const int32_t corners[3] = {first + from[0], first + from[1], first + from[2]};
        if (upwardness(surface, t) <= highest && !middle_is_cut(d, surface, t))
            drawing_add_triangle(d, corners, paint);
    }
    shape_smooth(d->shape, begin, d->shape->triangle_count, d->def->crease);
}

/* ---- Drawing of each kind of collider --------------------------------------------------------- */

/* Draws the edges and the bottom wall of a hollow box. Two of its eight corners are the ends of an edge if their
 * indices differ in one bit. */
static void draw_hollow_box(drawing *d, const collider_surface *surface, int32_t paint)
{
    const double radius = 0.004 * surface_diagonal(surface);
    draw_triangles(d, surface, -0.7, paint);
    for (int32_t v = 0; v < 8; v++) {
        double a[3], b[3];
        surface_point(surface, v, a);
        shape_add_ball(d->shape, a, radius, NAN, 1, paint);
        for (int32_t bit = 1; bit < 8; bit <<= 1)
            if (!(v & bit)) {
                surface_point(surface, v | bit, b);
                shape_add_tube(d->shape, a, b, radius, NAN, NAN, 2, paint);
            }
    }
}

static void draw_plane(drawing *d, const collider_surface *surface, sinew_snapshot *snapshot, int32_t paint)
{
    const double up = upwardness(surface, 0);
    if (up > 1 - 1e-9) {
        const double height = (double)surface->positions[1];
        snapshot->floor = snapshot->floored ? fmax(snapshot->floor, height) : height;
        snapshot->floored = true;
    } else if (up > 0.1) {
        draw_triangles(d, surface, 1, paint);
    }
}

/* Side length in m of the square that represents a plane; it extends beyond all bodies at rest. */
static double extent_of_plane(const drawing *d, sinew_collider id, const rest_box *rest)
{
    collider_surface small = {0};
    double farthest = 0;
    const sinew_status status = drawn_collider_get_surface(d, id, 1, &small);
    for (int c = 0; status == SINEW_OK && c < 3; c++) {
        const double at = (double)(small.positions[c] + small.positions[9 + c]) / 2;
        farthest = fmax(farthest, fmax(fabs(rest->low[c] - at), fabs(rest->high[c] - at)));
    }
    free_surface(&small);
    return rest->diagonal > 0 ? 2 * farthest + 2 * rest->diagonal : 1;
}

/* Draws one collider if it belongs to this pass. The first pass draws the colliders that the camera frames. */
static sinew_status draw_one(drawing *d, sinew_snapshot *snapshot, sinew_collider id, const rest_box *rest, bool framed,
                             int32_t paint)
{
    const sinew_world *world = d->def->colliders ? d->def->colliders : d->world;
    const sinew_shape_kind kind = sinew_collider_kind(world, id);
    const bool plane = kind == SINEW_SHAPE_PLANE;
    collider_surface surface = {0};
    if (plane && framed)
        return SINEW_OK;
    const sinew_status status = drawn_collider_get_surface(d, id, plane ? extent_of_plane(d, id, rest) : 1, &surface);
    if (status == SINEW_OK) {
        const bool large = rest->diagonal > 0 && surface_diagonal(&surface) > 4 * rest->diagonal;
        if (plane)
            draw_plane(d, &surface, snapshot, paint);
        else if (large == !framed && kind == SINEW_SHAPE_BOX && !sinew_collider_closed(world, id))
            draw_hollow_box(d, &surface, paint);
        else if (large == !framed)
            draw_triangles(d, &surface, 1, paint);
    }
    free_surface(&surface);
    return status;
}

sinew_status draw_colliders(drawing *d, sinew_snapshot *snapshot)
{
    const sinew_world *world = d->def->colliders ? d->def->colliders : d->world;
    const int32_t count = sinew_world_collider_count(world);
    const vec3 front = vec(0.42f, 0.40f, 0.37f);
    snapshot->framed = d->shape->triangle_count;
    if (count == 0)
        return SINEW_OK;
    const rest_box rest = measure_rest(d);
    const int32_t paint = shape_add_paint(d->shape, (shape_paint){front, drawing_back(front), false, false});
    sinew_status status = SINEW_OK;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < count && status == SINEW_OK; i++) {
            const sinew_collider id = sinew_world_collider_at(world, i);
            if (id.index >= 0)
                status = draw_one(d, snapshot, id, &rest, pass == 0, paint);
        }
        if (pass == 0)
            snapshot->framed = d->shape->triangle_count;
    }
    return status;
}
