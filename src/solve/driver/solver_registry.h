/* SPDX-License-Identifier: MIT
 *
 * solver_registry.h: solvers that a program adds to the table while it runs (solver_extension.c).
 */
#ifndef SINEW_SRC_SOLVE_DRIVER_SOLVER_REGISTRY_H
#define SINEW_SRC_SOLVE_DRIVER_SOLVER_REGISTRY_H

#include "solve/solver.h"

/* Adds a solver to the solver table; its `ops` must live until the process ends. Returns its kind, or
 * SINEW_SOLVER_COUNT if the table is full. The caller holds the lock of registrations (base/registration.h). */
sinew_solver_kind sinew_solver_add(const sinew_solver_ops *ops);

#endif
