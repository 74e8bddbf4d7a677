/* SPDX-License-Identifier: MIT
 *
 * parameter.h: checks parameter values against the descriptors of energies and solvers.
 */
#ifndef SINEW_SRC_ENERGY_PARAMETER_H
#define SINEW_SRC_ENERGY_PARAMETER_H

#include "base/base.h"
#include "sinew/sinew.h"

/* Refuses a value out of range, naming `owner`, the parameter, its unit and its range. */
sinew_status sinew_parameter_check(const sinew_parameter *parameter, double value, const char *owner,
                                   sinew_error *error);

#endif
