/* SPDX-License-Identifier: MIT
 *
 * draw_world.h: types and functions that snapshot.c, draw_bodies.c, draw_skin.c, draw_cut.c, draw_marks.c and
 * draw_colliders.c share to turn a world into a shape.
 */
#ifndef SINEW_RENDER_DRAW_WORLD_H
#define SINEW_RENDER_DRAW_WORLD_H

#include "field.h"
#include "shape.h"
#include "sinew/contact.h"

/* One body of the drawn world: its sizes, and the paints of its faces. */
typedef struct drawn_body {
    sinew_body id;      /* id of the drawn body; index -1: removed */
    int32_t first;      /* number of the body's first particle */
    double edge, size;  /* at rest, in m: mean edge of the drawn cells; diagonal of the mesh's bounding box */
    double tube;        /* radius of the tubes along edges in m; 0: edges are not drawn */
    int32_t skin_paint; /* index of the paint of the body's surface */
    int32_t cut_paint;  /* index of the paint of the body's faces that a cut exposes */
} drawn_body;

typedef struct drawing {
    sinew_world *world;
    const sinew_snapshot_def *def;
    picture_field field;
    shape *shape;
    int64_t left_out;       /* number of omitted triangles, edges, tets and marks, see sinew_snapshot_left_out() */
    int32_t particle_count; /* number of particles, which are the shape's first vertices */
    uint8_t *fine;          /* [particle_count] true: the particle's position can be drawn */
    int32_t *body_of;       /* [particle_count] index of each particle's body; -1: none */
    int32_t body_count;
    drawn_body *bodies; /* [body_count] sizes and paints of the bodies */
    sinew_error *error;
} drawing;

/* True if the cut plane removes a point. */
bool drawing_cuts(const drawing *d, const double point[3]);
/* Return position and value of a particle; the value is NaN if there is none. */
const double *drawing_point(const drawing *d, int32_t particle);
float drawing_value(const drawing *d, int32_t particle);
/* Adds a triangle over vertices of the shape and returns its index. Returns -1, and adds nothing, if a corner cannot be
 * drawn or the area is zero. */
int32_t drawing_add_triangle(drawing *d, const int32_t corners[3], int32_t paint);

/* Returns the colour of the back of a surface for the colour of its front. */
vec3 drawing_back(vec3 front);

/* Draws surfaces and edges of bodies, and measures the bodies. */
sinew_status draw_bodies(drawing *d);
/* drawing_has_skin returns true if a body's skin replaces its surface and edges; draw_skin draws the skin. */
bool drawing_has_skin(const drawing *d, const drawn_body *body);
sinew_status draw_skin(drawing *d, const drawn_body *body);
/* Draws the tets of a body that the cut keeps: faces of the body's surface as without a cut, and exposed faces. */
sinew_status draw_cut_body(drawing *d, const drawn_body *body);
/* Draws pins, targets of position energies, pairs, and edges between bodies. */
sinew_status draw_marks(drawing *d);
/* Draws colliders. The call comes last, because it also records which triangles the camera frames and the floor
 * height. */
sinew_status draw_colliders(drawing *d, sinew_snapshot *snapshot);

#endif
