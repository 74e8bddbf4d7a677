/* SPDX-License-Identifier: MIT
 *
 * fields.h: what fields, measures and the balance of a step share: forces on every particle, pins included.
 */
#ifndef SINEW_SRC_WORLD_MEASURE_FIELDS_H
#define SINEW_SRC_WORLD_MEASURE_FIELDS_H

#include "world/world.h"

/* out = grad of all energies less f_ext (N) where the particles are, zero where left_out [particle_count] is 1: that is
 * minus the elastic and external force. The objective is built and f_ext set. Returns sum psi - f_ext . q (J). */
double sinew_world_imbalance(sinew_world *world, const uint8_t *left_out, sinew_real *out);

/* J: all energies where the particles are, without the terms of contacts, which the objective may hold. */
double sinew_world_elastic(const sinew_world *world);

/* Rest positions (m) of the vertices of an element [vertex_count], as the caller numbered them. */
void sinew_element_rest(const sinew_world *world, const sinew_energy_record *record, int32_t element,
                        double (*rest)[3]);

/* The balance of a step (energy_balance.c), where the def asks for it. prepare makes room, also for new particles; begin
 * comes before the state is predicted, note after, end when the step has been accepted (`good`) or not. */
sinew_status sinew_balance_prepare(sinew_world *world, sinew_error *error);
void sinew_balance_begin(sinew_world *world);
void sinew_balance_note(sinew_world *world);
void sinew_balance_end(sinew_world *world, bool good);
void sinew_balance_release(sinew_world *world);
/* [particle_count][4] grad g of the last step where it ended, at pins the force of the pin; refuses, naming `what`,
 * where it was not kept. */
sinew_status sinew_balance_imbalance(const sinew_world *world, const char *what, const sinew_real **imbalance,
                                     sinew_error *error);

#endif
