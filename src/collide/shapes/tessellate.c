/* SPDX-License-Identifier: MIT
 *
 * tessellate.c: surfaces of colliders for drawing: spheres and capsules are tessellated, and a plane becomes a square.
 *
 * A round surface has its poles on the y axis and `rings` circles between them. The halves of a capsule are shifted by
 * half its length, and each has a circle at its equator. Corners lie on the exact surface.
 */
#include "collide/shapes/colliders.h"

#include "mesh/key_frames.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

enum {
    AROUND = 64,
    UPRIGHT = 32 /* number of steps of latitude from pole to pole of a sphere or capsule; must be even */
};

/* Number of circles of latitude between the poles of a sphere or capsule; 0: the shape is not round. */
static int32_t ring_count(const sinew_collider_record *record)
{
    if (!(record->radius > 0))
        return 0;
    return record->edge_count > 0 ? UPRIGHT : UPRIGHT - 1;
}

void sinew_shape_drawing_counts(const sinew_collider_record *record, int32_t *vertex_count, int32_t *triangle_count)
{
    const int32_t rings = ring_count(record);
    *vertex_count = record->vertex_count;
    *triangle_count = record->triangle_count;
    if (record->kind == SINEW_SHAPE_PLANE) {
        *vertex_count = 4;
        *triangle_count = 2;
    } else if (rings > 0) {
        *vertex_count = AROUND * rings + 2;
        *triangle_count = 2 * AROUND * rings;
    }
}

static void write_point(const double R[9], const double p[3], const double X[3], sinew_real *position)
{
    double x[3];
    sinew_rigid_apply(R, p, X, x);
    for (int c = 0; c < 3; c++)
        position[c] = (sinew_real)x[c];
}

static void write_round_points(const sinew_collider_record *record, const double R[9], const double p[3],
                               sinew_real *positions)
{
    const int32_t rings = ring_count(record);
    const double half = record->edge_count > 0 ? (double)record->vertices[4] : 0;
    for (int32_t r = 0; r < rings; r++) {
        const bool below = r >= UPRIGHT / 2;
        const double angle = PI * (record->edge_count > 0 && below ? r : r + 1) / UPRIGHT;
        for (int32_t i = 0; i < AROUND; i++, positions += 3) {
            const double turn = 2 * PI * i / AROUND, radius = record->radius * sin(angle);
            const double X[3] = {radius * cos(turn), record->radius * cos(angle) + (below ? -half : half),
                                 -radius * sin(turn)};
            write_point(R, p, X, positions);
        }
    }
    const double top[3] = {0, record->radius + half, 0}, bottom[3] = {0, -record->radius - half, 0};
    write_point(R, p, top, positions);
    write_point(R, p, bottom, positions + 3);
}

static void write_square_points(const double R[9], const double p[3], double extent, sinew_real *positions)
{
    for (int i = 0; i < 4; i++) {
        const double X[3] = {i & 1 ? extent / 2 : -extent / 2, 0, i & 2 ? extent / 2 : -extent / 2};
        write_point(R, p, X, positions + 3 * i);
    }
}

void sinew_shape_draw_points(const sinew_collider_record *record, double time, double extent, sinew_real *positions)
{
    double R[9], p[3];
    sinew_shape_frame(record, time, 0, R, p);
    if (record->kind == SINEW_SHAPE_PLANE)
        write_square_points(R, p, extent, positions);
    else if (ring_count(record) > 0)
        write_round_points(record, R, p, positions);
    else
        sinew_shape_positions_packed(record, time, 0, positions);
}

static int32_t *drawing_put_triangle(int32_t *triangles, int32_t a, int32_t b, int32_t c)
{
    triangles[0] = a;
    triangles[1] = b;
    triangles[2] = c;
    return triangles + 3;
}

static void write_ring_triangles(int32_t rings, int32_t *triangles)
{
    const int32_t top = AROUND * rings, bottom = top + 1;
    for (int32_t i = 0; i < AROUND; i++) {
        const int32_t next = (i + 1) % AROUND;
        triangles = drawing_put_triangle(triangles, top, i, next);
        for (int32_t r = 0; r + 1 < rings; r++) {
            const int32_t here = AROUND * r, below = here + AROUND;
            triangles = drawing_put_triangle(triangles, here + i, below + i, below + next);
            triangles = drawing_put_triangle(triangles, here + i, below + next, here + next);
        }
        triangles = drawing_put_triangle(triangles, bottom, AROUND * (rings - 1) + next, AROUND * (rings - 1) + i);
    }
}

void sinew_shape_draw_triangles(const sinew_collider_record *record, int32_t *triangles)
{
    const int32_t rings = ring_count(record);
    if (record->kind == SINEW_SHAPE_PLANE)
        drawing_put_triangle(drawing_put_triangle(triangles, 0, 2, 3), 0, 3, 1);
    else if (rings > 0)
        write_ring_triangles(rings, triangles);
    else
        memcpy(triangles, record->triangles, 3 * (size_t)record->triangle_count * sizeof *triangles);
}
