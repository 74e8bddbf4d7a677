/* SPDX-License-Identifier: MIT
 *
 * plate_mesh.c: meshes of rectangles that favour no direction, or the wrong one. See plate.h.
 */
#include <math.h>
#include <stdlib.h>

#include "plate.h"
#include "triangulate.h"

const char *const plate_mesh_names[PLATE_MESHES] = {"aligned", "turned by 17 degrees", "unstructured"};

#define TURN  (17 * 3.14159265358979323846 / 180)
#define SHEAR 1e-3 /* shear of the rotated lattice: one diagonal is shorter, so that all squares are cut alike */

typedef struct cloud {
    double *points;
    int32_t count, capacity;
    double low[2], high[2], step;
} cloud;

static bool plate_mesh_add(cloud *c, double u, double v)
{
    if (c->count == c->capacity) {
        const int32_t more = c->capacity > 0 ? 2 * c->capacity : 64;
        double *grown = realloc(c->points, 2 * (size_t)more * sizeof *grown);
        if (!grown)
            return false;
        c->points = grown;
        c->capacity = more;
    }
    c->points[2 * c->count] = u;
    c->points[2 * c->count++ + 1] = v;
    return true;
}

static double plate_mesh_distance(const cloud *c, double u, double v)
{
    double min = HUGE_VAL;
    for (int32_t i = 0; i < c->count; i++)
        min = fmin(min, hypot(c->points[2 * i] - u, c->points[2 * i + 1] - v));
    return min;
}

/* Adds points evenly along a line of the mesh from low to high, ends included. */
static bool plate_mesh_add_line(cloud *c, int axis, double at)
{
    const double from = c->low[axis], to = c->high[axis];
    const int32_t count = (int32_t)lround((to - from) / c->step);
    bool good = true;
    for (int32_t i = 0; good && i <= count; i++) {
        const double along = from + (to - from) * i / count;
        const double u = axis == 0 ? along : at, v = axis == 0 ? at : along;
        good = plate_mesh_distance(c, u, v) < 1e-9 * c->step || plate_mesh_add(c, u, v);
    }
    return good;
}

static bool inside(const cloud *c, double u, double v, double margin)
{
    return u > c->low[0] + margin && u < c->high[0] - margin && v > c->low[1] + margin && v < c->high[1] - margin;
}

static bool add_turned(cloud *c)
{
    const double middle[2] = {(c->low[0] + c->high[0]) / 2, (c->low[1] + c->high[1]) / 2};
    const int32_t reach = (int32_t)ceil(hypot(c->high[0] - c->low[0], c->high[1] - c->low[1]) / c->step);
    bool good = true;
    for (int32_t j = -reach; j <= reach; j++)
        for (int32_t i = -reach; good && i <= reach; i++) {
            const double a = (i + SHEAR * j) * c->step, b = j * c->step;
            const double u = middle[0] + a * cos(TURN) - b * sin(TURN), v = middle[1] + a * sin(TURN) + b * cos(TURN);
            if (inside(c, u, v, 0.45 * c->step))
                good = plate_mesh_add(c, u, v);
        }
    return good;
}

static double plate_mesh_next_random(uint32_t *state)
{
    *state = (uint32_t)((uint64_t)*state * 48271u % 2147483647u);
    return (double)*state / 2147483647.0;
}

/* Adds random points of the mesh with a minimum distance (dart throwing), about as dense as the squares' vertices. */
static bool add_darts(cloud *c, uint32_t seed)
{
    uint32_t state = seed % 2147483646u + 1;
    const double area = (c->high[0] - c->low[0]) * (c->high[1] - c->low[1]);
    const int32_t tries = (int32_t)(60 * area / (c->step * c->step));
    bool good = true;
    for (int32_t i = 0; good && i < tries; i++) {
        const double u = c->low[0] + (c->high[0] - c->low[0]) * plate_mesh_next_random(&state);
        const double v = c->low[1] + (c->high[1] - c->low[1]) * plate_mesh_next_random(&state);
        if (inside(c, u, v, 0.45 * c->step) && plate_mesh_distance(c, u, v) > 0.74 * c->step)
            good = plate_mesh_add(c, u, v);
    }
    return good;
}

/* Creates a mesh of squares, each cut by one diagonal. */
static sinew_mesh *squares(const double low[2], const double high[2], int32_t cells, sinew_error *error)
{
    const double step = (high[0] - low[0]) / cells;
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = cells + 1;
    def.vertices[1] = 1 + (int32_t)lround((high[1] - low[1]) / step);
    for (int k = 0; k < 2; k++) {
        def.origin[k] = (sinew_real)low[k];
        def.size[k] = (sinew_real)(high[k] - low[k]);
    }
    return sinew_mesh_cloth(&def, error);
}

/* Lays a mesh down: moves its vertices from (u, v, 0) to (u, 0, -v). Destroys the given mesh. */
static sinew_mesh *laid_down(sinew_mesh *mesh, sinew_error *error)
{
    const int32_t count = mesh ? sinew_mesh_vertex_count(mesh) : 0;
    sinew_real *x = mesh ? malloc(3 * (size_t)count * sizeof *x) : NULL;
    for (int32_t i = 0; x && i < count; i++) {
        const sinew_real *from = sinew_mesh_positions(mesh) + 3 * i;
        x[3 * i] = from[0];
        x[3 * i + 1] = from[2];
        x[3 * i + 2] = -from[1];
    }
    sinew_mesh *laid = x ? sinew_mesh_moved(mesh, x, error) : NULL;
    free(x);
    sinew_mesh_destroy(mesh);
    return laid;
}

sinew_mesh *plate_mesh_of(const double *points, int32_t count, sinew_error *error)
{
    int32_t *triangles = NULL, triangle_count = 0;
    sinew_mesh *mesh = NULL;
    sinew_real *x = calloc(3 * (size_t)count, sizeof *x);
    if (x && triangulate(points, count, &triangles, &triangle_count)) {
        for (int32_t i = 0; i < 2 * count; i++)
            x[i / 2 * 3 + i % 2] = (sinew_real)points[i];
        sinew_mesh_def def = sinew_default_mesh_def();
        def.vertex_count = count;
        def.positions = x;
        def.triangle_count = triangle_count;
        def.triangles = triangles;
        mesh = sinew_mesh_create(&def, error);
    }
    free(triangles);
    free(x);
    return laid_down(mesh, error);
}

sinew_mesh *plate_mesh(plate_mesh_kind kind, const double low[2], const double high[2], int32_t cells, bool row,
                       uint32_t seed, sinew_error *error)
{
    cloud c = {.low = {low[0], low[1]}, .high = {high[0], high[1]}, .step = (high[0] - low[0]) / cells};
    const double before[2] = {low[0] - c.step, low[1]};
    if (kind == PLATE_ALIGNED)
        return laid_down(squares(row ? before : low, high, cells + row, error), error);
    bool good = plate_mesh_add_line(&c, 0, low[1]) && plate_mesh_add_line(&c, 0, high[1]) &&
                plate_mesh_add_line(&c, 1, low[0]) && plate_mesh_add_line(&c, 1, high[0]) &&
                (!row || plate_mesh_add_line(&c, 1, before[0]));
    if (good)
        good = kind == PLATE_TURNED ? add_turned(&c) : add_darts(&c, seed);
    sinew_mesh *mesh = good ? plate_mesh_of(c.points, c.count, error) : NULL;
    free(c.points);
    return mesh;
}
