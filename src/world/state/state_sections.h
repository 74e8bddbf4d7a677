/* SPDX-License-Identifier: MIT
 *
 * state_sections.h: all data that stepping changes, as one block of tagged sections (base/tagged_blob.h).
 *
 *     TIME   int64 steps taken, double time (s)
 *     BODY   one per body: positions, velocities, forces, [3 * vertex_count] reals each, in the public order
 *     TEAR   one per body with tears or refused tears: int64 edges, copies, refusals; the log of int32 (tear.h)
 *     TORN   one per body that was torn for the next step, which was interrupted; empty
 *     GOAL   one per energy with targets: uint32 motion (SINEW_STATE_STILL ..), uint32 count, base points [3 * count];
 *            with SINEW_STATE_FOLLOWING also sinew_follow_point [count]
 *     PINS   one per pin, same content as GOAL
 *     SOLV   char[16] name of the solver, then the data that it keeps between steps; absent if it has none
 *     MEAS   double [6]: what earlier steps measured (sinew_measure_history); absent: later steps do not need it
 *     TCHS, YLDS, IMPT, FREE, CVEL, COLL   data of contact (contact_sections.c)
 *     WIND   one per body in a world with wind: acceleration in the last step by all other forces (known_points.h)
 *     GENS   uint32 number of slots of bodies, of energies, of pins, then the generation of each; absent: all are 0
 *     SIGN   the signature of the world (signature.c), "name=value" lines
 *     NOTE   the comment, a text of the caller
 *
 * A reader must support all sections but MEAS and the last three. The index of a section is the slot of its body,
 * energy or pins. Loading requires a world with the same slots and sizes. Restoring also requires the same generations
 * and skips objects that do not fit. Both check all sections before they change the world. Both allocate before that,
 * too, except that loading first replays the tears of the state, which stay if memory runs out afterwards.
 */
#ifndef SINEW_SRC_WORLD_STATE_STATE_SECTIONS_H
#define SINEW_SRC_WORLD_STATE_STATE_SECTIONS_H

#include "base/tagged_blob.h"
#include "world/bodies/tear.h"
#include "world/world.h"

enum {
    SINEW_STATE_SOLVER_NAME = 16,               /* bytes of the solver's name in section SOLV */
    SINEW_STATE_TEAR_HEAD = 3 * sizeof(int64_t) /* bytes before the log in section TEAR */
};

/* Motion of pins or targets, the first number of their section. */
enum {
    SINEW_STATE_STILL = 0,
    SINEW_STATE_MOVING,   /* the definition of the pins or targets has key frames, or frames of a vertex cache */
    SINEW_STATE_FOLLOWING /* the section stores positions on the followed collider after the base points */
};

/* Kinds of objects with slots, in the order of section GENS. */
enum {
    SINEW_STATE_BODIES,
    SINEW_STATE_ENERGIES,
    SINEW_STATE_PINS,
    SINEW_STATE_KINDS
};

/* ---- Saving (save.c) --------------------------------------------------------------------------- */

/* Motion of pins or targets, as their section stores it: SINEW_STATE_STILL .. */
uint32_t sinew_state_motion_of(const sinew_trajectory *trajectory);
/* Generation of the object of a kind (SINEW_STATE_BODIES ..) in a slot of the world. */
uint32_t sinew_state_generation(const sinew_world *world, int kind, int32_t slot);

/* ---- Checks before the first change (check_sections.c) ------------------------------------------- */

/* Opens a state: checks header, section table and checksums; refuses unknown sections that a reader must support. */
sinew_status sinew_state_open(sinew_section_reader *reader, const void *blob, size_t size, sinew_error *error);
sinew_status sinew_state_check_time(sinew_section_reader *reader, sinew_error *error);
sinew_status sinew_state_check_body(const sinew_world *world, int32_t index, sinew_section_reader *reader,
                                    sinew_error *error);
sinew_status sinew_state_check_bodies(const sinew_world *world, sinew_section_reader *reader, sinew_error *error);
/* True if the section of these pins or targets exists, has the same number of points, and moves them only if the world
 * does. */
bool sinew_state_trajectory_fits(const sinew_trajectory *trajectory, const char *tag, int32_t index,
                                 sinew_section_reader *reader, sinew_error *error);
sinew_status sinew_state_check_trajectory(const sinew_world *world, const sinew_trajectory *trajectory, const char *tag,
                                          int32_t index, sinew_section_reader *reader, sinew_error *error);
sinew_status sinew_state_check_trajectories(const sinew_world *world, sinew_section_reader *reader, sinew_error *error);
/* Returns the tear operations of a body that only the state has: *count integers, which the caller releases. The
 * state may be unaligned. NULL: no such operations (*count 0) or out of memory (*count > 0). */
int32_t *sinew_state_new_tears(const sinew_world *world, int32_t index, sinew_section_reader *reader, size_t *count);
/* Copies the positions on the followed collider from a section that fits to points [count]; false: the section has
 * none. */
bool sinew_state_follow_points(const sinew_trajectory *trajectory, const char *content, sinew_follow_point *points);

/* ---- Copying checked sections to the world (load.c) ---------------------------------------------- */

void sinew_state_take_time(sinew_world *world, sinew_section_reader *reader);
/* Restores the measurement history from the section MEAS. A section without six finite numbers is ignored: the next
 * step measures as in a new world. */
void sinew_state_take_history(sinew_world *world, sinew_section_reader *reader);
void sinew_state_take_body(sinew_world *world, int32_t index, sinew_section_reader *reader);
/* Restores from the section TORN whether the tears of a body already belong to the next step. */
void sinew_state_take_torn(const sinew_world *world, int32_t index, sinew_section_reader *reader);
void sinew_state_take_trajectory(sinew_trajectory *trajectory, const char *tag, int32_t index,
                                 sinew_section_reader *reader);
/* Restores the data that the solver keeps between steps. A different solver than that of the state starts without
 * data. */
sinew_status sinew_state_take_solver(sinew_world *world, sinew_section_reader *reader, sinew_error *error);
/* Marks the solver for preparation in the next step, because it may have data from steps that the state does not
 * contain. */
void sinew_state_forget_steps(sinew_world *world);

#endif
