/* SPDX-License-Identifier: MIT
 *
 * rigid_contact_scenes.h: rigid bodies of simple shapes in contact, and a brute-force search for surfaces that cross.
 */
#ifndef SINEW_RIGID_CONTACT_SCENES_H
#define SINEW_RIGID_CONTACT_SCENES_H

#include <math.h>
#include <string.h>

#include "contact_worlds.h"
#include "random_cases.h"
#include "sinew/skin.h"

#define RIGID_THICKNESS 4e-3

/* ---- Shapes ------------------------------------------------------------------------------------ */

static inline sinew_mesh *moved_mesh(sinew_mesh *mesh, sinew_real *positions)
{
    sinew_error error = {0};
    sinew_mesh *moved = sinew_mesh_moved(mesh, positions, &error);
    must(&error);
    sinew_mesh_destroy(mesh);
    free(positions);
    return moved;
}

/* A ball of tets: each point of a cube of n cells an edge moves along its ray to the sphere of its own layer. */
static inline sinew_mesh *make_ball(int n, double radius)
{
    sinew_mesh *cube = make_beam(n, n, n, 2, 2, 2);
    const int32_t count = sinew_mesh_vertex_count(cube);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    for (int32_t v = 0; v < count; v++) {
        double p[3], max = 0, square = 0;
        for (int i = 0; i < 3; i++) {
            p[i] = (double)sinew_mesh_positions(cube)[3 * v + i];
            max = fmax(max, fabs(p[i]));
            square += p[i] * p[i];
        }
        for (int i = 0; i < 3; i++)
            x[3 * v + i] = square > 0 ? (sinew_real)(radius * max * p[i] / sqrt(square)) : 0;
    }
    return moved_mesh(cube, x);
}

/* ---- Bodies ------------------------------------------------------------------------------------ */

/* A rigid body around `middle`, turned by the rotation vector w, with velocity v and spin s. Destroys the mesh. */
typedef struct rigid_start {
    double middle[3], w[3], v[3], spin[3];
} rigid_start;

static inline void rotate_by(const double w[3], const double x[3], double y[3])
{
    const double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    for (int i = 0; i < 3; i++)
        y[i] = x[i];
    if (!(angle > 0))
        return;
    const double c = cos(angle), s = sin(angle), along = (w[0] * x[0] + w[1] * x[1] + w[2] * x[2]) / (angle * angle);
    const double across[3] = {w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2], w[0] * x[1] - w[1] * x[0]};
    for (int i = 0; i < 3; i++)
        y[i] = c * x[i] + s * across[i] / angle + (1 - c) * along * w[i];
}

static inline sinew_body add_rigid_shape(sinew_world *world, sinew_mesh *mesh, double density, const rigid_start *start)
{
    sinew_error error = {0};
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = (sinew_real)density;
    const sinew_body body = sinew_world_add_rigid(world, &def, &error);
    must(&error);
    sinew_mesh_destroy(mesh);
    const int32_t first = sinew_body_first_particle(world, body);
    sinew_real q[12], v[12];
    sinew_world_get_positions(world, first, 4, q);
    for (int a = 0; a < 4; a++) {
        const double x[3] = {(double)q[3 * a], (double)q[3 * a + 1], (double)q[3 * a + 2]}, *s = start->spin;
        double y[3];
        rotate_by(start->w, x, y);
        const double turn[3] = {s[1] * y[2] - s[2] * y[1], s[2] * y[0] - s[0] * y[2], s[0] * y[1] - s[1] * y[0]};
        for (int i = 0; i < 3; i++) {
            q[3 * a + i] = (sinew_real)(start->middle[i] + y[i]);
            v[3 * a + i] = (sinew_real)(start->v[i] + turn[i]);
        }
    }
    assert_int_equal(sinew_world_set_positions(world, first, 4, q), SINEW_OK);
    assert_int_equal(sinew_world_set_velocities(world, first, 4, v), SINEW_OK);
    return body;
}

/* Largest relative error of the six distances between the particles of a rigid body. */
static inline double rigid_strain(const sinew_world *world, sinew_body body, const sinew_mesh *frame)
{
    sinew_real q[12];
    sinew_world_get_positions(world, sinew_body_first_particle(world, body), 4, q);
    double max = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < a; b++) {
            double now = 0, rest = 0;
            for (int i = 0; i < 3; i++) {
                now += pow((double)q[3 * a + i] - (double)q[3 * b + i], 2);
                rest += pow(
                    (double)sinew_mesh_positions(frame)[3 * a + i] - (double)sinew_mesh_positions(frame)[3 * b + i], 2);
            }
            max = fmax(max, fabs(sqrt(now / rest) - 1));
        }
    return max;
}

/* ---- Crossings by brute force ------------------------------------------------------------------ */

/* The surface of one object. */
typedef struct shown_surface {
    sinew_real *x;
    int32_t *triangles;
    int32_t vertex_count, triangle_count;
} shown_surface;

static inline shown_surface shown_body(const sinew_world *world, sinew_body body, const sinew_mesh *mesh)
{
    shown_surface s = {0};
    sinew_error error = {0};
    const sinew_skin *skin = sinew_body_skin(world, body);
    sinew_mesh *own = sinew_mesh_surface(skin ? sinew_skin_mesh(skin) : mesh, &error);
    must(&error);
    s.vertex_count = sinew_mesh_vertex_count(own);
    s.triangle_count = sinew_mesh_triangle_count(own);
    s.x = make_array(3 * (size_t)s.vertex_count, sizeof *s.x);
    s.triangles = make_array(3 * (size_t)s.triangle_count, sizeof *s.triangles);
    memcpy(s.triangles, sinew_mesh_triangles(own), 3 * (size_t)s.triangle_count * sizeof *s.triangles);
    if (skin)
        assert_int_equal(sinew_body_skin_positions(world, body, s.x), SINEW_OK);
    else
        sinew_world_get_positions(world, sinew_body_first_particle(world, body), s.vertex_count, s.x);
    sinew_mesh_destroy(own);
    return s;
}

static inline shown_surface shown_collider(const sinew_world *world, sinew_collider collider)
{
    shown_surface s = {0};
    sinew_error error = {0};
    sinew_collider_surface(world, collider, 10, &s.vertex_count, NULL, &s.triangle_count, NULL, &error);
    s.x = make_array(3 * (size_t)s.vertex_count, sizeof *s.x);
    s.triangles = make_array(3 * (size_t)s.triangle_count, sizeof *s.triangles);
    sinew_collider_surface(world, collider, 10, &s.vertex_count, s.x, &s.triangle_count, s.triangles, &error);
    must(&error);
    return s;
}

static inline double signed_volume6(const sinew_real *a, const sinew_real *b, const sinew_real *c, const sinew_real *d)
{
    double e[3][3];
    for (int i = 0; i < 3; i++) {
        e[0][i] = (double)b[i] - (double)a[i];
        e[1][i] = (double)c[i] - (double)a[i];
        e[2][i] = (double)d[i] - (double)a[i];
    }
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* Whether the segment p q passes through the triangle a b c. */
static inline bool segment_crosses(const sinew_real *p, const sinew_real *q, const sinew_real *a, const sinew_real *b,
                                   const sinew_real *c)
{
    if ((signed_volume6(a, b, c, p) > 0) == (signed_volume6(a, b, c, q) > 0))
        return false;
    const bool one = signed_volume6(p, q, a, b) > 0, two = signed_volume6(p, q, b, c) > 0,
               three = signed_volume6(p, q, c, a) > 0;
    return one == two && two == three;
}

static inline bool triangles_are_apart(const shown_surface *a, int32_t s, const shown_surface *b, int32_t t)
{
    for (int i = 0; i < 3; i++) {
        double low[2] = {HUGE_VAL, HUGE_VAL}, high[2] = {-HUGE_VAL, -HUGE_VAL};
        for (int k = 0; k < 3; k++) {
            const double x = (double)a->x[3 * a->triangles[3 * s + k] + i],
                         y = (double)b->x[3 * b->triangles[3 * t + k] + i];
            low[0] = fmin(low[0], x);
            high[0] = fmax(high[0], x);
            low[1] = fmin(low[1], y);
            high[1] = fmax(high[1], y);
        }
        if (high[0] < low[1] || high[1] < low[0])
            return true;
    }
    return false;
}

/* Number of edges of one surface that pass through triangles of the other. */
static inline int count_crossings(const shown_surface *a, const shown_surface *b)
{
    int count = 0;
    for (int32_t s = 0; s < a->triangle_count; s++)
        for (int32_t t = 0; t < b->triangle_count; t++) {
            const sinew_real *x[3], *y[3];
            if (triangles_are_apart(a, s, b, t))
                continue;
            for (int k = 0; k < 3; k++) {
                x[k] = a->x + 3 * a->triangles[3 * s + k];
                y[k] = b->x + 3 * b->triangles[3 * t + k];
            }
            for (int k = 0; k < 3; k++) {
                count += segment_crosses(x[k], x[(k + 1) % 3], y[0], y[1], y[2]);
                count += segment_crosses(y[k], y[(k + 1) % 3], x[0], x[1], x[2]);
            }
        }
    return count;
}

static inline void shown_free(shown_surface *s)
{
    free(s->x);
    free(s->triangles);
}

#endif
