/* SPDX-License-Identifier: MIT
 *
 * draw_skin.c: draws the embedded surface of a body in place of its simulated surface. Each vertex has the interpolated
 * value of the particles that it follows. A skin of several materials has one colour for each material.
 */
#include "draw_world.h"

#include <stdlib.h>

#include "colour.h"
#include "fail.h"
#include "sinew/skin.h"

bool drawing_has_skin(const drawing *d, const drawn_body *body)
{
    const sinew_skin *skin = body->id.index >= 0 ? sinew_body_skin(d->world, body->id) : NULL;
    /* A cut shows tets, so the picture omits the skin of a body that is cut. */
    const bool cut = d->def->cut && sinew_mesh_tet_count(sinew_body_mesh(d->world, body->id)) > 0;
    return skin && !cut && sinew_mesh_triangle_count(sinew_skin_mesh(skin)) > 0;
}

/* Work data of one skin while it is drawn. */
typedef struct skin_work {
    const sinew_skin *skin;
    const drawn_body *body;
    sinew_real *q; /* [3 * vertex_count] positions of the skin's vertices, in m */
    float *values; /* [vertex_count] value of each skin vertex, which sets its colour; NaN: none */
    uint8_t *fine; /* [vertex_count] true: all particles in which the skin vertex is embedded can be drawn */
    /* [materials + 1] index of the paint of each material; the last entry is for faces without a material */
    int32_t *paint;
    int32_t first; /* index of the skin's first vertex in the shape */
} skin_work;

/* Adds the vertices of the skin, with their values, to the shape. */
static void drawn_skin_add_vertices(drawing *d, skin_work *w)
{
    const int32_t *follows = sinew_body_skin_vertices(d->world, w->body->id);
    const sinew_real *weights = sinew_body_skin_weights(d->world, w->body->id);
    w->first = d->shape->vertex_count;
    for (size_t i = 0; i < (size_t)sinew_skin_vertex_count(w->skin) && !d->shape->failed; i++) {
        double value = 0, point[3] = {0, 0, 0};
        w->fine[i] = 1;
        for (size_t k = 4 * i; k < 4 * i + 4; k++)
            if (weights[k] != 0) {
                w->fine[i] = w->fine[i] && d->fine[w->body->first + follows[k]];
                value += (double)weights[k] * (double)drawing_value(d, w->body->first + follows[k]);
            }
        for (size_t c = 0; c < 3 && w->fine[i]; c++)
            point[c] = (double)w->q[3 * i + c];
        w->values[i] = (float)value;
        shape_add_point(d->shape, point);
    }
}

static void drawn_skin_add_triangle(drawing *d, const skin_work *w, int32_t triangle)
{
    const int32_t *corners = sinew_mesh_triangles(sinew_skin_mesh(w->skin)) + 3 * (size_t)triangle;
    const int32_t *materials = sinew_skin_face_names(w->skin, SINEW_SKIN_MATERIAL);
    const int32_t count = sinew_skin_name_count(w->skin, SINEW_SKIN_MATERIAL);
    const int32_t material = materials ? materials[sinew_skin_triangle_faces(w->skin)[triangle]] : -1;
    int32_t at[3];
    double middle[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        if (!w->fine[corners[i]]) {
            d->left_out++;
            return;
        }
        at[i] = w->first + corners[i];
        for (int c = 0; c < 3; c++)
            middle[c] += drawing_point(d, at[i])[c] / 3;
    }
    if (drawing_cuts(d, middle))
        return;
    const int32_t t = drawing_add_triangle(d, at, w->paint[material >= 0 ? material : count]);
    for (size_t i = 0; i < 3 && t >= 0; i++)
        d->shape->values[3 * (size_t)t + i] = w->values[corners[i]];
}

/* Adds one paint for each material. The first material and faces without a material have the body's colour. */
static void add_paints(drawing *d, skin_work *w)
{
    const int32_t count = sinew_skin_name_count(w->skin, SINEW_SKIN_MATERIAL);
    w->paint[count] = w->body->skin_paint;
    for (int32_t i = 0; i < count; i++) {
        const vec3 front = body_colour(w->body->id.index + i);
        const shape_paint paint = {front, drawing_back(front), d->field.at_particle != NULL, false};
        w->paint[i] = i == 0 ? w->body->skin_paint : shape_add_paint(d->shape, paint);
    }
}

sinew_status draw_skin(drawing *d, const drawn_body *body)
{
    skin_work w = {.skin = sinew_body_skin(d->world, body->id), .body = body};
    const size_t vertices = (size_t)sinew_skin_vertex_count(w.skin);
    const size_t paints = (size_t)sinew_skin_name_count(w.skin, SINEW_SKIN_MATERIAL) + 1;
    w.q = malloc(3 * vertices * sizeof *w.q + 1);
    w.values = malloc(vertices * sizeof *w.values + 1);
    w.fine = malloc(vertices + 1);
    w.paint = malloc(paints * sizeof *w.paint);
    sinew_status status = w.q && w.values && w.fine && w.paint ? SINEW_OK : picture_fail_memory(d->error, "a skin");
    if (status == SINEW_OK && sinew_body_skin_positions(d->world, body->id, w.q) != SINEW_OK)
        status = picture_fail(d->error, SINEW_ERROR_DATA, "body %d: its skin cannot be placed", body->id.index);
    if (status == SINEW_OK) {
        const int32_t begin = d->shape->triangle_count, count = sinew_mesh_triangle_count(sinew_skin_mesh(w.skin));
        add_paints(d, &w);
        shape_reserve(d->shape, (int64_t)vertices, count);
        drawn_skin_add_vertices(d, &w);
        for (int32_t t = 0; t < count && !d->shape->failed; t++)
            drawn_skin_add_triangle(d, &w, t);
        shape_smooth(d->shape, begin, d->shape->triangle_count, d->def->crease);
    }
    free(w.q);
    free(w.values);
    free(w.fine);
    free(w.paint);
    return status;
}
