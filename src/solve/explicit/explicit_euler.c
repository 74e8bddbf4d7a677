/* SPDX-License-Identifier: MIT
 *
 * explicit_euler.c: explicit Euler integration (thesis 3.2.1):
 *
 *     q+ = q_n + h v_n,    v+ = v_n + h M^-1 f(q_n)
 *
 * Both updates use the state at the start of the step, so that a step costs one evaluation of forces and no solve. v+
 * is not (q+ - q_n) / h.
 *
 * Known limits: no time step is stable without damping. In each step the amplitude of a mode of frequency omega grows
 * by sqrt(1 + (h omega)^2) and its energy by 1 + (h omega)^2 (stability.h computes the largest omega). Intended for
 * comparisons.
 */
#include <math.h>

#include "solve/explicit/explicit_step.h"

static uint32_t explicit_euler_iterate(sinew_solve *s)
{
    return sinew_explicit_iterate(s, false);
}

/* Growth factor of a mode per step. With the velocity first damped by the factor k, a step maps (q, v) of one mode by
 * [1, h k; -x omega, k], x = h omega: determinant d = k (1 + x^2), trace t = 1 + k. The eigenvalues are a complex pair
 * of modulus sqrt(d) unless 4 d < t^2. */
static double explicit_euler_growth(double omega, double h, double damping)
{
    const double kept = exp(-damping * h), d = kept * (1 + h * omega * h * omega), half = (1 + kept) / 2;
    return half * half > d ? half + sqrt(half * half - d) : sqrt(d);
}

/* True if a step of h is stable for the mode omega: the determinant d = exp(-damping h) (1 + (h omega)^2) is below
 * 1. */
static bool explicit_euler_is_stable(double h, double omega, double damping)
{
    return log1p(h * omega * h * omega) < damping * h;
}

/* Largest time step h, in s, up to which all steps are stable; 0 without damping. log(1 + x^2) / x has its maximum at
 * `peak`; if damping exceeds this maximum times omega, every h is stable. Otherwise an unstable range of h follows, and
 * beyond it h is stable again. */
static double explicit_euler_stable_step(double omega, double damping)
{
    const double peak = 1.9802913004322127;
    if (damping >= log1p(peak * peak) / peak * omega)
        return HUGE_VAL;
    return damping > 0 ? sinew_explicit_last_stable(explicit_euler_is_stable, damping / (omega * omega), peak / omega,
                                                    omega, damping)
                       : 0;
}

const sinew_solver_ops sinew_solver_explicit_euler = {
    .info = {.name = "explicit-euler",
             .summary = "explicit Euler: positions by the old velocity, which gains energy at every time step",
             .default_iterations = 1,
             .explicit_step = true},
    SINEW_EXPLICIT_OPS,
    .iterate = explicit_euler_iterate,
    .growth = explicit_euler_growth,
    .stable_step = explicit_euler_stable_step,
};
