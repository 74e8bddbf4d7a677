/* SPDX-License-Identifier: MIT
 *
 * draw_bodies.c: draws surfaces of bodies, and tubes for bodies that have edges only.
 */
#include "draw_world.h"

#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "fail.h"

bool drawing_cuts(const drawing *d, const double point[3])
{
    double side = 0;
    for (int c = 0; c < 3; c++)
        side += (point[c] - d->def->cut_point[c]) * d->def->cut_normal[c];
    return d->def->cut && side > 0;
}

const double *drawing_point(const drawing *d, int32_t particle)
{
    return d->shape->points + 3 * (size_t)particle;
}

float drawing_value(const drawing *d, int32_t particle)
{
    return d->field.at_particle ? d->field.at_particle[particle] : NAN;
}

int32_t drawing_add_triangle(drawing *d, const int32_t corners[3], int32_t paint)
{
    for (int i = 0; i < 3; i++)
        if (corners[i] < d->particle_count && !d->fine[corners[i]]) {
            d->left_out++;
            return -1;
        }
    shape *s = d->shape;
    const int32_t t = shape_add_triangle(s, corners[0], corners[1], corners[2], paint);
    const float *n = s->failed ? NULL : s->normals + 9 * (size_t)t;
    if (n && n[0] == 0 && n[1] == 0 && n[2] == 0)
        s->triangle_count--;
    else if (n)
        return t;
    return -1;
}

/* ---- Mean edge lengths of bodies --------------------------------------------------------------- */

/* Adds the side lengths of one cell at rest to the sum from which a body's mean edge is computed. */
static void measure_cell(const drawing *d, drawn_body *body, const int32_t *corners, int count, int64_t *sides)
{
    const sinew_real *rest = sinew_mesh_positions(sinew_body_mesh(d->world, body->id));
    for (int i = 0; i < (count == 2 ? 1 : count); i++) {
        const size_t a = 3 * (size_t)(corners[i] - body->first),
                     b = 3 * (size_t)(corners[(i + 1) % count] - body->first);
        double square = 0;
        for (size_t c = 0; c < 3; c++)
            square += (double)(rest[a + c] - rest[b + c]) * (double)(rest[a + c] - rest[b + c]);
        body->edge += sqrt(square);
        ++*sides;
    }
}

/* Computes the mean edge length of bodies from the drawn cells; ropes get the radius of their tubes. */
static sinew_status measure_bodies(drawing *d, const sinew_surface *surface)
{
    int64_t *sides = calloc((size_t)d->body_count + 1, sizeof *sides);
    if (!sides)
        return picture_fail_memory(d->error, "a snapshot");
    for (int32_t t = 0; t < surface->triangle_count; t++)
        measure_cell(d, &d->bodies[surface->bodies[t].index], surface->triangles + 3 * (size_t)t, 3,
                     &sides[surface->bodies[t].index]);
    for (int32_t e = 0; e < surface->edge_count; e++) {
        drawn_body *body = &d->bodies[surface->edge_bodies[e].index];
        measure_cell(d, body, surface->edges + 2 * (size_t)e, 2, &sides[surface->edge_bodies[e].index]);
        body->tube = 1;
    }
    for (int32_t i = 0; i < d->body_count; i++) {
        drawn_body *body = &d->bodies[i];
        if (body->id.index < 0)
            continue;
        body->edge = sides[i] > 0 ? body->edge / (double)sides[i] : 0.1 * body->size;
        if (body->tube > 0)
            body->tube =
                d->def->rope > 0 ? d->def->rope : fmin(fmax(0.35 * body->edge, 0.006 * body->size), 0.015 * body->size);
    }
    free(sides);
    return SINEW_OK;
}

/* ---- Colours of the sides of bodies ------------------------------------------------------------ */

/* Returns the colour of the back of cloth, a paler shade of its front, so that a viewer can distinguish the sides. */
vec3 drawing_back(vec3 front)
{
    const float grey = vec_luminance(front);
    return vec_mix(vec_scale(front, 0.75f), vec(grey, grey, grey), 0.45f);
}

static void paint_bodies(drawing *d)
{
    const bool by_value = d->field.at_particle != NULL;
    for (int32_t i = 0; i < d->body_count; i++) {
        const vec3 front = body_colour(i), lighter = vec_mix(front, vec(0.9f, 0.9f, 0.9f), 0.3f);
        d->bodies[i].skin_paint = shape_add_paint(d->shape, (shape_paint){front, drawing_back(front), by_value, false});
        d->bodies[i].cut_paint = shape_add_paint(d->shape, (shape_paint){lighter, lighter, by_value, true});
    }
}

/* ---- Drawn surfaces of bodies ------------------------------------------------------------------ */

static void set_values(drawing *d, int32_t triangle)
{
    for (size_t i = 0; i < 3 && triangle >= 0; i++)
        d->shape->values[3 * (size_t)triangle + i] = drawing_value(d, d->shape->triangles[3 * (size_t)triangle + i]);
}

/* True if the cut plane removes the centroid of a cell. */
static bool is_cut(const drawing *d, const int32_t *corners, int count)
{
    double middle[3] = {0};
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            middle[c] += drawing_point(d, corners[i])[c] / count;
    return drawing_cuts(d, middle);
}

/* Draws triangles first .. last - 1 of the world's surface, which belong to one body. */
static void draw_surface(drawing *d, const drawn_body *body, const sinew_surface *surface, int32_t first, int32_t last)
{
    const int32_t begin = d->shape->triangle_count;
    shape_reserve(d->shape, 0, last - first);
    for (int32_t t = first; t < last; t++) {
        const int32_t *corners = surface->triangles + 3 * (size_t)t;
        if (!is_cut(d, corners, 3))
            set_values(d, drawing_add_triangle(d, corners, body->skin_paint));
    }
    shape_smooth(d->shape, begin, d->shape->triangle_count, d->def->crease);
}

static sinew_status draw_surfaces(drawing *d, const sinew_surface *surface)
{
    sinew_status status = SINEW_OK;
    for (int32_t first = 0, last = 0; first < surface->triangle_count && status == SINEW_OK; first = last) {
        const drawn_body *body = &d->bodies[surface->bodies[first].index];
        while (last < surface->triangle_count && surface->bodies[last].index == body->id.index)
            last++;
        if (drawing_has_skin(d, body))
            continue;
        if (d->def->cut && sinew_mesh_tet_count(sinew_body_mesh(d->world, body->id)) > 0)
            status = draw_cut_body(d, body);
        else
            draw_surface(d, body, surface, first, last);
    }
    return status;
}

/* ---- Edges of ropes, drawn as tubes ----------------------------------------------------------- */

/* Draws the edges of ropes as tubes, and one ball at each vertex of these edges. */
static sinew_status draw_edges(drawing *d, const sinew_surface *surface)
{
    uint8_t *jointed = calloc((size_t)d->particle_count + 1, 1);
    if (!jointed)
        return picture_fail_memory(d->error, "a snapshot");
    const int32_t detail = shape_detail(surface->edge_count);
    for (int32_t e = 0; e < surface->edge_count; e++) {
        const int32_t *ends = surface->edges + 2 * (size_t)e;
        const drawn_body *body = &d->bodies[surface->edge_bodies[e].index];
        if (!d->fine[ends[0]] || !d->fine[ends[1]]) {
            d->left_out++;
            continue;
        }
        if (is_cut(d, ends, 2) || drawing_has_skin(d, body))
            continue;
        double end_points[2][3];
        memcpy(end_points[0], drawing_point(d, ends[0]), sizeof end_points[0]);
        memcpy(end_points[1], drawing_point(d, ends[1]), sizeof end_points[1]);
        shape_add_tube(d->shape, end_points[0], end_points[1], body->tube, drawing_value(d, ends[0]),
                       drawing_value(d, ends[1]), detail, body->skin_paint);
        for (int i = 0; i < 2; i++)
            if (!jointed[ends[i]]++)
                shape_add_ball(d->shape, end_points[i], body->tube, drawing_value(d, ends[i]), detail,
                               body->skin_paint);
    }
    free(jointed);
    return SINEW_OK;
}

/* ---- Drawing of all bodies --------------------------------------------------------------------- */

static sinew_status drawn_body_get_surface(drawing *d, sinew_surface *surface)
{
    sinew_status status = sinew_world_surface(d->world, surface, d->error);
    if (status != SINEW_OK)
        return status;
    surface->triangles = malloc(3 * (size_t)surface->triangle_count * sizeof *surface->triangles + 1);
    surface->bodies = malloc((size_t)surface->triangle_count * sizeof *surface->bodies + 1);
    surface->edges = malloc(2 * (size_t)surface->edge_count * sizeof *surface->edges + 1);
    surface->edge_bodies = malloc((size_t)surface->edge_count * sizeof *surface->edge_bodies + 1);
    if (!surface->triangles || !surface->bodies || !surface->edges || !surface->edge_bodies)
        return picture_fail_memory(d->error, "a snapshot");
    return sinew_world_surface(d->world, surface, d->error);
}

sinew_status draw_bodies(drawing *d)
{
    sinew_surface surface = {0};
    sinew_status status = drawn_body_get_surface(d, &surface);
    if (status == SINEW_OK)
        status = measure_bodies(d, &surface);
    if (status == SINEW_OK) {
        paint_bodies(d);
        status = draw_surfaces(d, &surface);
    }
    if (status == SINEW_OK)
        status = draw_edges(d, &surface);
    for (int32_t i = 0; i < d->body_count && status == SINEW_OK; i++)
        if (drawing_has_skin(d, &d->bodies[i]))
            status = draw_skin(d, &d->bodies[i]);
    free(surface.triangles);
    free(surface.bodies);
    free(surface.edges);
    free(surface.edge_bodies);
    return status;
}
