/* SPDX-License-Identifier: MIT
 *
 * touch.h: shared parts of the published experiments with contact: solids of any mesh, steps with their cost and
 * accuracy, and pictures of the whole world.
 *
 * Times are wall clock. A step consists of detection, the solver's own time, and the rest: prediction, contacts as
 * elements, the update of the solver, which recolours particles in contact, and reports.
 */
#ifndef SINEW_EXPERIMENTS_TOUCH_H
#define SINEW_EXPERIMENTS_TOUCH_H

#include "experiments.h"
#include "sinew/contact.h"

#define TOUCH_FRAME (1.0 / 30) /* duration of a frame, in s */

/* Initial placement and material of a solid. */
typedef struct touch_solid {
    const sinew_mesh *mesh;
    double centre[3], velocity[3]; /* centre (m) and initial velocity (m/s) of the solid */
    double turn;                   /* rotation angle of the solid about (1, 1, 1), in rad */
    double young, density;         /* Young's modulus in Pa; density in kg/m3; Poisson's ratio is 0.3, corotated */
} touch_solid;
sinew_body touch_add_solid(sinew_world *world, const touch_solid *solid, sinew_error *error);
/* Adds a body without energies with placement and velocity of the solid. index -1 on failure. */
sinew_body touch_add_body(sinew_world *world, const touch_solid *solid, sinew_error *error);
/* Adds one energy over all elements of a body; pairs of name and value, NULL at the end. Returns false on failure. */
bool touch_add_energy(sinew_world *world, sinew_body body, sinew_energy_kind kind, sinew_error *error, ...);
/* Pins the vertices of a body whose rest positions lie beyond a plane across an axis; side -1 or 1 selects the side. */
sinew_pin touch_hold(sinew_world *world, sinew_body body, int axis, double at, int side, const sinew_motion *motion,
                     sinew_error *error);

/* Simple shapes within a ball of diameter `size` (m): box, ball, torus, cylinder, tube, by kind 0 .. TOUCH_SHAPES - 1.
 * touch_shape() returns the coarsest one with at least `vertices` vertices, or NULL on failure. */
enum {
    TOUCH_SHAPES = 5
};
sinew_mesh *touch_shape(int kind, double size, int32_t vertices, sinew_error *error);

/* Statistics of the steps of one world. */
typedef struct touch_log {
    int32_t steps;
    double wall, solve, detect; /* sums over all steps, in s: wall-clock time, time of the solver, time of detection */
    double recolour;            /* sum of the times in which the solver updates to new contacts, in s */
    int32_t contacts;           /* largest number of contacts with a force in one step */
    int32_t particles;          /* largest number of particles in contact in one step */
    double violation;           /* largest contact violation over all steps, in m */
    int32_t crossings;          /* largest number of intersecting triangle pairs in one step */
    double residual;            /* largest residual at the end of a step, in N */
    double force;               /* sum of the normal forces of all contacts in the last step, in N */
    int32_t inverted;           /* number of steps that end with inverted tets */
    int32_t detections;         /* largest number of detection passes in one step */
    sinew_contact_report last;
    sinew_step_result result; /* step result of the last step */
} touch_log;

/* Takes one step of a world and adds it to the log. Returns false, with the error set, if the step fails or is not
 * finite. */
bool touch_step(sinew_world *world, touch_log *log, sinew_error *error);
/* Wall-clock time in s of a frame of 1/30 s at time step h, from the mean duration of a step. */
double touch_frame_seconds(const touch_log *log, double h);
/* Fraction of the step time that is spent outside detection and solver. */
double touch_rest_share(const touch_log *log);
/* Fraction of the step time that the solver spends on updates to new contacts. */
double touch_recolour_share(const touch_log *log);

/* Adds all bodies as one shape to a figure; with `colliders` also all colliders but planes and hollow boxes. */
void touch_picture(figure *f, const char *name, sinew_solver_kind kind, const sinew_world *world, bool colliders);

/* Counts of the bytes allocated by worlds with this allocator; the caller owns it and keeps it longer than the
 * worlds. */
typedef struct touch_memory {
    size_t held, max;
} touch_memory;
sinew_allocator touch_tally(touch_memory *memory);

#endif
