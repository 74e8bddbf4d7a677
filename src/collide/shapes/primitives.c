/* SPDX-License-Identifier: MIT
 *
 * primitives.c: the table of shapes, and the geometry of all shapes except meshes.
 *
 * Boxes and cylinders are closed surfaces of outward triangles. A cylinder is a prism around the circle: its corners
 * lie at radius / cos(pi / segments) from the axis and its sides touch the circle of `radius`, so no point of its
 * mantle is nearer to the axis than the radius. With 64 sides the corners are 0.12 % farther out. Spheres are one
 * vertex and capsules one edge with a solid radius: exactly round. Hollow boxes and height fields are open surfaces
 * that collide on both sides; the triangles of a height field face up.
 */
#include "collide/shapes/primitives.h"

#include <math.h>

#define PI 3.14159265358979323846

sinew_status sinew_shape_allocate(sinew_collider_record *record, const sinew_allocator *allocator, int64_t vertex_count,
                                  int64_t triangle_count, int64_t edge_count, sinew_error *error)
{
    record->vertex_count = (int32_t)vertex_count;
    record->triangle_count = (int32_t)triangle_count;
    record->edge_count = (int32_t)edge_count;
    record->vertices = sinew_allocate(allocator, 3 * (size_t)vertex_count, sizeof *record->vertices);
    record->triangles = sinew_allocate(allocator, 3 * (size_t)triangle_count, sizeof *record->triangles);
    record->edges = sinew_allocate(allocator, 2 * (size_t)edge_count, sizeof *record->edges);
    return record->vertices && record->triangles && record->edges ? SINEW_OK : sinew_fail_memory(error, "a collider");
}

static void record_set_vertex(sinew_collider_record *record, int32_t v, double x, double y, double z)
{
    sinew_real *vertex = record->vertices + 3 * (size_t)v;
    vertex[0] = (sinew_real)x;
    vertex[1] = (sinew_real)y;
    vertex[2] = (sinew_real)z;
}

static void record_set_triangle(sinew_collider_record *record, int32_t t, int32_t a, int32_t b, int32_t c)
{
    int32_t *triangle = record->triangles + 3 * (size_t)t;
    triangle[0] = a;
    triangle[1] = b;
    triangle[2] = c;
}

/* ---- Box colliders ---------------------------------------------------------------------------- */

/* Triangles of a box. Vertex i is at the upper end along axis k if bit k of i is set. */
static const int32_t box_triangles[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                             {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};

static sinew_status make_box_shape(sinew_collider_record *record, const sinew_allocator *allocator,
                                   const sinew_collider_def *def, sinew_error *error)
{
    const sinew_status status = sinew_shape_allocate(record, allocator, 8, 12, 0, error);
    if (status != SINEW_OK)
        return status;
    const double half[3] = {(double)def->size[0] / 2, (double)def->size[1] / 2, (double)def->size[2] / 2};
    for (int32_t i = 0; i < 8; i++)
        record_set_vertex(record, i, i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1],
                          i & 4 ? half[2] : -half[2]);
    for (int32_t t = 0; t < 12; t++)
        record_set_triangle(record, t, box_triangles[t][0], box_triangles[t][1], box_triangles[t][2]);
    record->closed = !def->hollow;
    return SINEW_OK;
}

/* ---- Spheres, capsules and cylinders ------------------------------------------------------------ */

static sinew_status make_sphere_shape(sinew_collider_record *record, const sinew_allocator *allocator,
                                      const sinew_collider_def *def, sinew_error *error)
{
    const sinew_status status = sinew_shape_allocate(record, allocator, 1, 0, 0, error);
    if (status != SINEW_OK)
        return status;
    record_set_vertex(record, 0, 0, 0, 0);
    record->radius = (double)def->radius;
    record->closed = true;
    return SINEW_OK;
}

static sinew_status make_capsule_shape(sinew_collider_record *record, const sinew_allocator *allocator,
                                       const sinew_collider_def *def, sinew_error *error)
{
    const sinew_status status = sinew_shape_allocate(record, allocator, 2, 0, 1, error);
    if (status != SINEW_OK)
        return status;
    record_set_vertex(record, 0, 0, -(double)def->size[1] / 2, 0);
    record_set_vertex(record, 1, 0, (double)def->size[1] / 2, 0);
    record->edges[0] = 0;
    record->edges[1] = 1;
    record->radius = (double)def->radius;
    record->closed = true;
    return SINEW_OK;
}

static sinew_status check_cylinder(const sinew_collider_def *def, sinew_error *error)
{
    if (def->segments < 3 || def->segments > 4096)
        return sinew_fail(error, SINEW_ERROR_DATA, "cylinder: segments is %d, must be 3 .. 4096", def->segments);
    return SINEW_OK;
}

/* Creates a cylinder. Corner i of the prism has the vertices 2 i (lower) and 2 i + 1 (upper); the centres of both ends
 * follow. */
static sinew_status make_cylinder_shape(sinew_collider_record *record, const sinew_allocator *allocator,
                                        const sinew_collider_def *def, sinew_error *error)
{
    const int32_t n = def->segments;
    const sinew_status status = sinew_shape_allocate(record, allocator, 2 * n + 2, 4 * n, 0, error);
    if (status != SINEW_OK)
        return status;
    const double half = (double)def->size[1] / 2, corner = (double)def->radius / cos(PI / n);
    for (int32_t i = 0; i < n; i++) {
        const double x = corner * cos(2 * PI * i / n), z = -corner * sin(2 * PI * i / n);
        record_set_vertex(record, 2 * i, x, -half, z);
        record_set_vertex(record, 2 * i + 1, x, half, z);
        const int32_t low = 2 * i, high = low + 1, next = 2 * ((i + 1) % n);
        record_set_triangle(record, 4 * i, low, next, next + 1);
        record_set_triangle(record, 4 * i + 1, low, next + 1, high);
        record_set_triangle(record, 4 * i + 2, 2 * n, next, low);
        record_set_triangle(record, 4 * i + 3, 2 * n + 1, high, next + 1);
    }
    record_set_vertex(record, 2 * n, 0, -half, 0);
    record_set_vertex(record, 2 * n + 1, 0, half, 0);
    record->closed = true;
    return SINEW_OK;
}

/* ---- Height-field colliders ------------------------------------------------------------------- */

static sinew_status check_heights(const sinew_collider_def *def, sinew_error *error)
{
    if (def->columns < 2 || def->rows < 2)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "height_field: %d columns and %d rows; at least 2 of each are needed", def->columns,
                          def->rows);
    const int64_t count = (int64_t)def->columns * def->rows;
    if (count > INT32_MAX / 6)
        return sinew_fail(error, SINEW_ERROR_DATA, "height_field: %d columns times %d rows are over %d samples",
                          def->columns, def->rows, INT32_MAX / 6);
    if (!def->heights)
        return sinew_fail(error, SINEW_ERROR_DATA, "height_field: %d columns and %d rows, but no heights", def->columns,
                          def->rows);
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(def->heights[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "height_field: height %d of row %d is %g m, must be finite",
                              (int)(i % def->columns), (int)(i / def->columns), (double)def->heights[i]);
    return SINEW_OK;
}

static sinew_status make_height_field(sinew_collider_record *record, const sinew_allocator *allocator,
                                      const sinew_collider_def *def, sinew_error *error)
{
    const int32_t columns = def->columns, rows = def->rows;
    const int64_t quads = (int64_t)(columns - 1) * (rows - 1);
    const sinew_status status = sinew_shape_allocate(record, allocator, (int64_t)columns * rows, 2 * quads, 0, error);
    if (status != SINEW_OK)
        return status;
    int32_t t = 0;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < columns; c++) {
            const int32_t v = r * columns + c;
            record_set_vertex(record, v, (double)def->size[0] * ((double)c / (columns - 1) - 0.5),
                              (double)def->heights[v], (double)def->size[2] * ((double)r / (rows - 1) - 0.5));
            if (c + 1 == columns || r + 1 == rows)
                continue;
            record_set_triangle(record, t++, v, v + columns, v + columns + 1);
            record_set_triangle(record, t++, v, v + columns + 1, v + 1);
        }
    return SINEW_OK;
}

/* ---- Table of collider shapes ------------------------------------------------------------------- */

static const sinew_shape_ops shapes[SINEW_SHAPE_COUNT] = {
    [SINEW_SHAPE_PLANE] = {"plane", 0, NULL, NULL},
    [SINEW_SHAPE_BOX] = {"box", SINEW_SHAPE_NEEDS_X | SINEW_SHAPE_NEEDS_Y | SINEW_SHAPE_NEEDS_Z, NULL, make_box_shape},
    [SINEW_SHAPE_SPHERE] = {"sphere", SINEW_SHAPE_NEEDS_RADIUS, NULL, make_sphere_shape},
    [SINEW_SHAPE_CAPSULE] = {"capsule", SINEW_SHAPE_NEEDS_Y | SINEW_SHAPE_NEEDS_RADIUS, NULL, make_capsule_shape},
    [SINEW_SHAPE_CYLINDER] = {"cylinder", SINEW_SHAPE_NEEDS_Y | SINEW_SHAPE_NEEDS_RADIUS, check_cylinder,
                              make_cylinder_shape},
    [SINEW_SHAPE_HEIGHT_FIELD] = {"height_field", SINEW_SHAPE_NEEDS_X | SINEW_SHAPE_NEEDS_Z, check_heights,
                                  make_height_field},
    [SINEW_SHAPE_MESH] = {"mesh", 0, sinew_shape_check_mesh, sinew_shape_make_mesh},
};

const sinew_shape_ops *sinew_get_shape_ops(sinew_shape_kind kind)
{
    return (int)kind >= 0 && kind < SINEW_SHAPE_COUNT ? &shapes[kind] : NULL;
}
