/* SPDX-License-Identifier: MIT
 *
 * parameters.h: descriptors of parameters that several solvers share.
 */
#ifndef SINEW_SRC_SOLVE_PARAMETERS_H
#define SINEW_SRC_SOLVE_PARAMETERS_H

#include "sinew/sinew.h"

/* Parameter `start`: first guess of a solver, q_tilde, as in the published algorithms, or q_n. Quasistatic steps start
 * at q_n. */
#define SINEW_START_PARAMETER                                                                                          \
    {                                                                                                                  \
        .name = "start", .unit = "", .choices = "inertia|previous", .maximum = 1, .preset = 0,                         \
        .meaning = "first guess: where inertia alone would lead, or where the particles are"                           \
    }

/* Default interval of stretches (no unit) over which a material's stiffness is fitted, thesis (4.64). */
#define SINEW_STRETCH_LOW  0.5
#define SINEW_STRETCH_HIGH 1.5
#define SINEW_STRETCH_LOW_PARAMETER                                                                                    \
    {                                                                                                                  \
        .name = "stretch_low", .expert = true, .unit = "", .minimum = 0, .maximum = 1, .preset = SINEW_STRETCH_LOW,    \
        .open_minimum = true, .open_maximum = true,                                                                    \
        .meaning = "lower end of the stretches that a material's stiffness is fitted over"                             \
    }
#define SINEW_STRETCH_HIGH_PARAMETER                                                                                   \
    {                                                                                                                  \
        .name = "stretch_high", .expert = true, .unit = "", .minimum = 1, .maximum = 100,                              \
        .preset = SINEW_STRETCH_HIGH, .open_minimum = true,                                                            \
        .meaning = "upper end; wider intervals make most materials look stiffer"                                       \
    }

/* Parameters of sweeps over constraints (constraint_sweep/sweep.h). */
#define SINEW_ORDER_PARAMETER                                                                                          \
    {                                                                                                                  \
        .name = "order", .unit = "", .choices = "coloured|mesh|jacobi", .maximum = 2, .preset = 0,                     \
        .meaning = "Gauss-Seidel by colours (parallel), in mesh order (serial), or all at once in shares"              \
    }
#define SINEW_SYMMETRIC_PARAMETER                                                                                      \
    {                                                                                                                  \
        .name = "symmetric", .expert = true, .unit = "", .choices = "no|yes", .maximum = 1, .preset = 0,               \
        .meaning = "yes: every iteration goes forward and back"                                                        \
    }
#define SINEW_NEO_HOOKEAN_PARAMETER                                                                                    \
    {                                                                                                                  \
        .name = "neo_hookean", .unit = "", .choices = "combined|split|incompressible|root", .maximum = 3, .preset = 3, \
        .meaning = "root: sqrt(2 psi), zero at rest; of the thesis, for soft rubber: (4.32), (4.34, 4.35), det F = 1"  \
    }
/* Parameter `aggregate`: number of particles per aggregate of the coarse space (coarse/coarse_correction.h). */
#define SINEW_AGGREGATE_PARAMETER                                                                                      \
    {                                                                                                                  \
        .name = "aggregate", .expert = true, .unit = "", .minimum = 4, .maximum = 1e6, .preset = 100,                  \
        .meaning = "coarse: particles that move together; fewer: fewer iterations, and a larger system"                \
    }
#define SINEW_RELAXATION_PARAMETER                                                                                     \
    {                                                                                                                  \
        .name = "relaxation", .expert = true, .unit = "", .minimum = 0, .maximum = 2, .preset = 1,                     \
        .open_minimum = true, .meaning = "jacobi: factor of each share; below 1 calmer, above 1 faster"                \
    }
/* Parameters of the Chebyshev acceleration of whole sweeps. */
#define SINEW_RHO_PARAMETER                                                                                            \
    {                                                                                                                  \
        .name = "rho", .unit = "", .minimum = 0, .maximum = 1, .preset = 0.95, .open_maximum = true,                   \
        .meaning = "chebyshev: how much of the error a plain sweep is thought to leave; raising it goes further"       \
    }
#define SINEW_ACCELERATION_PARAMETER                                                                                   \
    {                                                                                                                  \
        .name = "acceleration", .unit = "", .choices = "none|chebyshev", .maximum = 1, .preset = 0,                    \
        .meaning = "jacobi: plain sweeps, or Chebyshev's extrapolation of positions and multipliers"                   \
    }

#endif
