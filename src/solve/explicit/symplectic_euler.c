/* SPDX-License-Identifier: MIT
 *
 * symplectic_euler.c: symplectic Euler integration (thesis (3.3); notes on dynamic simulation):
 *
 *     v+ = v_n + h M^-1 f(q_n),    q+ = q_n + h v+
 *
 * The new velocity moves the positions: q+ = q_tilde - h^2 M^-1 grad psi(q_n), a descent step on the objective with the
 * Hessian of inertia alone. Without damping a mode of frequency omega conserves v^2 + omega^2 q^2 - h omega^2 q v: its
 * energy has a relative error of order h omega and no drift.
 *
 * Known limits: stable for h omega < 2 only (stability.h computes the largest omega).
 */
#include <math.h>

#include "solve/explicit/explicit_step.h"

static uint32_t symplectic_euler_iterate(sinew_solve *s)
{
    return sinew_explicit_iterate(s, true);
}

/* Growth factor of a mode per step. With the velocity first damped by the factor k, a step maps (q, v) of one mode by
 * [1 - x^2, h k; -x omega, k], x = h omega: determinant k, trace t = 1 - x^2 + k. The eigenvalues are a complex pair of
 * modulus sqrt(k) unless |t| > 2 sqrt(k). */
static double symplectic_euler_growth(double omega, double h, double damping)
{
    const double kept = exp(-damping * h), half = (1 - h * omega * h * omega + kept) / 2;
    const double square = half * half - kept;
    return square <= 0 ? sqrt(kept) : fabs(half) + sqrt(square);
}

/* True if a step of h is stable for the mode omega. An eigenvalue leaves the unit circle at -1, where the trace is t =
 * -(1 + k), k = exp(-damping h). */
static bool symplectic_euler_is_stable(double h, double omega, double damping)
{
    return h * omega * h * omega < 2 * (1 + exp(-damping * h));
}

/* Largest stable time step h, in s: (h omega)^2 = 2 (1 + exp(-damping h)), which is between 2 and 4. */
static double symplectic_euler_stable_step(double omega, double damping)
{
    const double low = sqrt(2.0) / omega, high = 2 / omega;
    return damping > 0 ? sinew_explicit_last_stable(symplectic_euler_is_stable, low, high, omega, damping) : high;
}

const sinew_solver_ops sinew_solver_symplectic_euler = {
    .info = {.name = "symplectic-euler",
             .summary = "symplectic Euler: velocity first, keeps energy, explodes beyond a time step of 2 / omega",
             .default_iterations = 1,
             .explicit_step = true},
    SINEW_EXPLICIT_OPS,
    .iterate = symplectic_euler_iterate,
    .growth = symplectic_euler_growth,
    .stable_step = symplectic_euler_stable_step,
};
