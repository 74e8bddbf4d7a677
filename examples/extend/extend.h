/* SPDX-License-Identifier: MIT
 *
 * extend.h: the extensions of this program: an energy and a solver.
 */
#ifndef EXTEND_H
#define EXTEND_H

#include <sinew/extend.h>

sinew_energy_extension fibre_energy(void);   /* extend_energy.c */
sinew_solver_extension descent_solver(void); /* extend_solver.c */

#endif
