/* SPDX-License-Identifier: MIT
 *
 * fields.h: forces on every particle, pins included, for fields, measures and the energy balance of a step.
 */
#ifndef SINEW_SRC_WORLD_MEASURE_FIELDS_H
#define SINEW_SRC_WORLD_MEASURE_FIELDS_H

#include "world/world.h"

/* Computes out [particle_count][4] = gradient of all energies less f_ext at the current positions, in N: minus the
 * elastic and external force; zero where left_out [particle_count] is 1; `hard`: hard energies included, by their
 * stiffness. Requires a built objective and a set f_ext. Returns sum psi - f_ext . q (J). */
double sinew_world_imbalance(sinew_world *world, const uint8_t *left_out, bool hard, sinew_real *out);

/* Sum of all energies at the current positions, without contact terms that the objective may contain, in J; `hard`:
 * hard energies included, by their stiffness. */
double sinew_world_elastic_energy(const sinew_world *world, bool hard);

/* Computes the rest positions (m) of the vertices of an element, rest [vertex_count][3], in the caller's order. */
void sinew_element_rest(const sinew_world *world, const sinew_energy_record *record, int32_t element,
                        double (*rest)[3]);

/* The energy balance of a step (energy_balance.c), if the def enables it. prepare allocates, also for new particles;
 * begin, before the prediction, stores the state; record, after the prediction, stores the work of moving targets; end,
 * after the step (`good`: it was accepted), computes the balance. */
sinew_status sinew_balance_prepare(sinew_world *world, sinew_error *error);
void sinew_balance_begin(sinew_world *world);
void sinew_balance_record(sinew_world *world);
/* Makes the current positions the start of the balance, after contact has separated surfaces that touch. */
void sinew_balance_move_start(sinew_world *world);
void sinew_balance_end(sinew_world *world, bool good);
void sinew_balance_release(sinew_world *world);
/* Called after the elements of the objective changed: the next sinew_balance_prepare collects the hard constraints
 * again. */
void sinew_balance_forget_constraints(sinew_world *world);
/* Returns imbalance [particle_count][4], N: the gradient of the objective g at the end of the last step; at pins,
 * the force of the pin. Fails with `what` in the error if the step did not store the gradient. */
sinew_status sinew_balance_imbalance(const sinew_world *world, const char *what, const sinew_real **imbalance,
                                     sinew_error *error);

/* det F of a tet: the ratio of its signed volume to that at rest (inverted.c). */
double sinew_element_determinant(const sinew_world *world, const sinew_energy_record *record, int32_t element);

#endif
