/* SPDX-License-Identifier: MIT
 *
 * balloon.h: the surface of a ball, and the volume in a closed surface.
 */
#ifndef SINEW_BALLOON_H
#define SINEW_BALLOON_H

#include "make_world.h"

/* The surface of a ball, a mesh of triangles. */
static inline sinew_mesh *make_shell(double radius)
{
    sinew_error error = {0};
    sinew_round_def def = sinew_default_round_def();
    sinew_mesh *ball = sinew_mesh_ball(&def, &error);
    must(&error);
    sinew_mesh *surface = sinew_mesh_surface(ball, &error);
    must(&error);
    const int32_t n = sinew_mesh_vertex_count(surface);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int32_t i = 0; i < n; i++) {
        const sinew_real *from = sinew_mesh_positions(surface) + 3 * (size_t)i;
        const double length = sqrt((double)from[0] * (double)from[0] + (double)from[1] * (double)from[1] +
                                   (double)from[2] * (double)from[2]);
        for (int c = 0; c < 3; c++)
            x[3 * i + c] = (sinew_real)(length > 0 ? radius * (double)from[c] / length : 0);
    }
    sinew_mesh *moved = sinew_mesh_moved(surface, x, &error);
    must(&error);
    sinew_mesh *shell = sinew_mesh_fix(moved, 0, NULL, &error); /* without the inner vertices */
    must(&error);
    free(x);
    sinew_mesh_destroy(ball);
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(moved);
    return shell;
}

static inline double volume_of(const sinew_mesh *mesh, const sinew_real *q)
{
    const int32_t *t = sinew_mesh_triangles(mesh);
    double sum = 0;
    for (int32_t i = 0; i < sinew_mesh_triangle_count(mesh); i++, t += 3)
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            sum += (double)q[3 * t[0] + c] * ((double)q[3 * t[1] + a] * (double)q[3 * t[2] + b] -
                                              (double)q[3 * t[1] + b] * (double)q[3 * t[2] + a]);
        }
    return sum / 6;
}

#endif
