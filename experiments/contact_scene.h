/* SPDX-License-Identifier: MIT
 *
 * contact_scene.h: shared parts of the contact experiments: a world of any solver, cubes, floors, and measures of them.
 *
 * Cubes have the energy `strain` (k/2 |F - R|^2), which all solvers support: Young's modulus k, no transverse
 * contraction.
 */
#ifndef SINEW_CONTACT_SCENE_H
#define SINEW_CONTACT_SCENE_H

#include "experiments.h"
#include "sinew/contact.h"

#define CONTACT_G 9.81 /* acceleration of gravity in the contact experiments, in m/s2 */

enum {
    CONTACT_SOLVERS = 7,
    CONTACT_JUDGED = 5 /* number of solvers that claims judge: the first five; xpbd and pbd are only reported */
};
/* Solvers of the contact experiments: newton, qn, admm, pd, pbng, xpbd, pbd. */
extern const sinew_solver_kind contact_solvers[CONTACT_SOLVERS];

const char *contact_name(sinew_solver_kind kind);

/* Definition of a world with one thread that measures residuals but no optimality gaps. */
typedef struct contact_world_def {
    sinew_solver_kind kind;
    int32_t iterations;
    double h;         /* time step in s; 0: 1/60 */
    double tolerance; /* tolerance of the solver; 0: the library's default */
    double friction, restitution;
    double thickness; /* of contact surfaces, in m; 0: a world without contact */
    bool weightless;
    bool quasistatic;
    int32_t detections; /* maximum number of detection passes per step; 0: the library's default */
} contact_world_def;
sinew_world *contact_world(const contact_world_def *def, sinew_error *error);

/* Definition of a box of tet cells. */
typedef struct contact_box {
    int32_t cells[3];
    double size[3], centre[3], velocity[3]; /* side lengths (m), centre (m) and initial velocity (m/s) of the box */
    double turn[2];                         /* rotation angles of the box in rad, about z, then about x */
    double young, density;                  /* Young's modulus in Pa; density in kg/m3, 0: 1000 */
} contact_box;
sinew_body contact_add_box(sinew_world *world, const contact_box *box, sinew_error *error);
/* Adds the plane y = 0 as the floor. index -1 on failure. */
sinew_collider contact_add_floor(sinew_world *world, sinew_error *error);

/* Takes one step. Returns false, with the error set, if the step fails or is not finite. bits may be NULL. */
bool contact_step(sinew_world *world, uint32_t *bits, sinew_error *error);
/* Computes the centre of mass of a body (m) and its kinetic energy (J, may be NULL). */
bool contact_centre(const sinew_world *world, sinew_body body, double centre[3], double *kinetic);

#endif
