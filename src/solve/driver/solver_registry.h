/* SPDX-License-Identifier: MIT
 *
 * solver_registry.h: solvers that a program adds to the table while it runs (solver_extension.c).
 */
#ifndef SINEW_SRC_SOLVE_DRIVER_SOLVER_REGISTRY_H
#define SINEW_SRC_SOLVE_DRIVER_SOLVER_REGISTRY_H

#include "solve/solver.h"

/* Adds a solver, which must live until the process ends, and returns its number; SINEW_SOLVER_COUNT: the table is full.
 * The caller holds the lock of registrations (base/registration.h). */
sinew_solver_kind sinew_solver_add(const sinew_solver_ops *ops);

#endif
