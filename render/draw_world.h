/* SPDX-License-Identifier: MIT
 *
 * draw_world.h: for the files that turn a world into a shape (snapshot.c, draw_bodies.c, draw_skin.c, draw_cut.c,
 * draw_marks.c, draw_colliders.c): what they share.
 */
#ifndef SINEW_RENDER_DRAW_WORLD_H
#define SINEW_RENDER_DRAW_WORLD_H

#include "field.h"
#include "shape.h"
#include "sinew/contact.h"

/* The cells of one body that are drawn, and where its points begin. */
typedef struct drawn_body {
    sinew_body id;      /* index -1: removed */
    int32_t first;      /* particle */
    double edge, size;  /* m: mean edge of what is drawn, and diagonal of its box, at rest */
    double tube;        /* m: radius of its edges, where these are drawn; else 0 */
    int32_t skin_paint; /* of its surface */
    int32_t cut_paint;  /* of tets that a cut shows */
} drawn_body;

typedef struct drawing {
    sinew_world *world;
    const sinew_snapshot_def *def;
    picture_field field;
    shape *shape;
    int64_t left_out;
    int32_t particle_count; /* the shape's first vertices are the particles */
    uint8_t *fine;          /* [particle_count] its position can be drawn */
    int32_t *body_of;       /* [particle_count] place of its body, -1: none */
    int32_t body_count;
    drawn_body *bodies; /* [body_count] */
    sinew_error *error;
} drawing;

/* Whether the cut takes a point away. */
bool drawing_cuts(const drawing *d, const double point[3]);
/* A particle's place, and its value (not a number: none). */
const double *drawing_point(const drawing *d, int32_t particle);
float drawing_value(const drawing *d, int32_t particle);
/* A triangle over vertices of the shape, left out where it cannot be drawn or has no area: then -1. */
int32_t drawing_add_triangle(drawing *d, const int32_t corners[3], int32_t paint);

/* The colour of the back of a surface. */
vec3 drawing_back(vec3 front);

/* Surfaces and edges of bodies; measures them too. */
sinew_status draw_bodies(drawing *d);
/* Whether a body's skin is drawn in place of its surface and edges; draws it. */
bool drawing_has_skin(const drawing *d, const drawn_body *body);
sinew_status draw_skin(drawing *d, const drawn_body *body);
/* The tets of a body that the cut leaves: their outside as it is drawn without a cut, and faces that the cut shows. */
sinew_status draw_cut_body(drawing *d, const drawn_body *body);
/* Pins, targets of position energies, pairs and edges between bodies. */
sinew_status draw_marks(drawing *d);
/* Colliders, after all else: says which triangles are framed, and where the floor is. */
sinew_status draw_colliders(drawing *d, sinew_snapshot *snapshot);

#endif
