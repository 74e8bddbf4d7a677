/* SPDX-License-Identifier: MIT
 *
 * touch.h: parts of the published experiments with contact: solids of any mesh put into a world, steps with what they
 * cost and how well they end, and pictures of all that is there.
 *
 * Times are wall clock. A step falls into detection, the solver's own time, and the rest: predicting, contacts as
 * elements, the update of the solver, which recolours their particles, and reports.
 */
#ifndef SINEW_EXPERIMENTS_TOUCH_H
#define SINEW_EXPERIMENTS_TOUCH_H

#include "experiments.h"
#include "sinew/contact.h"

#define TOUCH_FRAME (1.0 / 30) /* s */

/* Where a solid begins and what it is made of. */
typedef struct touch_solid {
    const sinew_mesh *mesh;
    double centre[3], velocity[3]; /* m, m/s */
    double turn;                   /* rad about (1, 1, 1) */
    double young, density;         /* Pa, kg/m3; Poisson's ratio 0.3, corotated */
} touch_solid;
sinew_body touch_add_solid(sinew_world *world, const touch_solid *solid, sinew_error *error);
/* A body without energies; places as above. index -1 on failure. */
sinew_body touch_add_body(sinew_world *world, const touch_solid *solid, sinew_error *error);
/* One energy over all of a body; pairs of name and value, NULL at the end. False on failure. */
bool touch_add_energy(sinew_world *world, sinew_body body, sinew_energy_kind kind, sinew_error *error, ...);
/* Pins the vertices of a body whose rest positions are beyond a plane across an axis; side -1 or 1. */
sinew_pin touch_hold(sinew_world *world, sinew_body body, int axis, double at, int side, const sinew_motion *motion,
                     sinew_error *error);

/* Simple shapes within a ball of `size` m across, with at least `vertices` vertices where the next coarser one has
 * fewer: box, ball, torus, cylinder, tube, by kind 0 .. TOUCH_SHAPES - 1. NULL on failure. */
enum {
    TOUCH_SHAPES = 5
};
sinew_mesh *touch_shape(int kind, double size, int32_t vertices, sinew_error *error);

/* Steps of one world, summed up as they are taken. */
typedef struct touch_log {
    int32_t steps;
    double wall, solve, detect; /* s, of all steps */
    double recolour;            /* s: new contacts handed over to the solver */
    int32_t contacts;           /* the most that bore a force in one step */
    int32_t particles;          /* the most in contact */
    double violation;           /* m: the most that surfaces were too near, over all steps */
    int32_t crossings;          /* the most pairs of triangles that crossed */
    double residual;            /* N: the largest at the end of a step */
    double force;               /* N: sum of the normal forces of all contacts, in the last step */
    int32_t inverted;           /* steps that ended with tets inside out */
    int32_t detections;         /* the most in one step */
    sinew_contact_report last;
    sinew_step_result result; /* the same for the last step */
} touch_log;

/* One step into the log; false, with the reason, when it could not be made or left the numbers. */
bool touch_step(sinew_world *world, touch_log *log, sinew_error *error);
/* s of a frame of 1/30 s in so many steps as that takes at this h, from the mean step. */
double touch_frame_seconds(const touch_log *log, double h);
/* Part of a step's time that is neither detection nor the solver's. */
double touch_rest_share(const touch_log *log);
/* The fraction of the step time in which the solver updates to new contacts: colours, visits, layers. */
double touch_recolour_share(const touch_log *log);

/* All bodies as one shape of a figure, and with `colliders` all colliders but planes and hollow boxes. */
void touch_picture(figure *f, const char *name, sinew_solver_kind kind, const sinew_world *world, bool colliders);

/* Bytes that worlds with this allocator hold; it is the caller's and outlives them. */
typedef struct touch_memory {
    size_t held, max;
} touch_memory;
sinew_allocator touch_tally(touch_memory *memory);

#endif
