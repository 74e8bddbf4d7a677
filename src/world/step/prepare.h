/* SPDX-License-Identifier: MIT
 *
 * prepare.h: what steps use of the preparation of a world's objective and solver (prepare.c).
 */
#ifndef SINEW_SRC_WORLD_STEP_PREPARE_H
#define SINEW_SRC_WORLD_STEP_PREPARE_H

#include "world/world.h"

/* Updates the data that all elements of an energy share, for every energy, from positions q [particle_count][4] and a
 * time; true if some energy has such data. */
bool sinew_world_update_shared_data(const sinew_world *world, const sinew_real *q, double time);
/* Marks the solver as incomplete: the next preparation starts over and loads the solver's data from before the step. */
void sinew_world_discard_solver(sinew_world *world);
/* Copies the data that the solver keeps between steps, for the case that the step is interrupted or memory is short. */
sinew_status sinew_world_keep_solver_state(sinew_world *world, sinew_error *error);
sinew_status sinew_fail_interrupted(sinew_error *error);

#endif
