/* SPDX-License-Identifier: MIT
 *
 * chebyshev.c: Chebyshev extrapolation of sweeps, and XPBD's dropped momentum residual. See sweep.h.
 *
 * Chebyshev. With x^l the iterates, x_swept the result of a Jacobi sweep from x^l, and w_l Chebyshev's weights,
 *
 *     x^{l+1} = w_{l+1} (x_swept - x^{l-1}) + x^{l-1} = x_swept + (w_{l+1} - 1) (x_swept - x^{l-1})
 *
 * and the same for the multipliers, so that x - q_tilde remains the same linear function of the multipliers.
 *
 * The residual. XPBD's derivation has g = M (x - q_tilde) - sum lambda grad C(x) on the right-hand side and drops it:
 *
 *     dlambda = (-C - alpha~ lambda + grad C . M^-1 g) / (sum w |grad C|^2 + alpha~),  dx = M^-1 (grad C dlambda - g)
 *
 * (PBNG (22)-(26)), with w the inverse masses and alpha~ = alpha / h^2. The first update of a particle in a sweep with
 * g removes g, up to the rotation of gradients within the sweep. So a sweep with g equals a sweep without g from
 * x - M^-1 g = q_tilde + M^-1 sum lambda grad C(x), with C evaluated there instead of linearised.
 * sinew_sweep_balance() moves x to that point.
 */
#include <math.h>
#include <string.h>

#include "solve/constraint_sweep/sweep.h"

enum {
    CONSTRAINTS_MAX = 8 /* largest number of constraints C of one element */
};

bool sinew_sweep_has_contacts(const sinew_sweep *sweep)
{
    for (int32_t k = 0; k < sweep->batch_count; k++)
        if (sweep->batches[k].ops->contact)
            return true;
    return false;
}

static size_t multiplier_count(const sinew_sweep_batch *b)
{
    return (size_t)b->group_count * (size_t)b->width * (size_t)b->ops->constraint_count;
}

/* Stores the current numbers as newest of the last two iterates: past[1] = past[0], past[0] = now. The buffers are
 * swapped, then overwritten. */
static void push_iterate(sinew_real *past[2], const sinew_real *now, size_t count)
{
    sinew_real *oldest = past[1];
    past[1] = past[0];
    past[0] = memcpy(oldest, now, count * sizeof *now);
}

void sinew_sweep_keep(sinew_sweep *sweep)
{
    push_iterate(sweep->past, sweep->xw, 4 * (size_t)sweep->objective->particle_count);
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        sinew_sweep_batch *b = &sweep->batches[k];
        const size_t capacity = b->past_capacity[0];
        b->past_capacity[0] = b->past_capacity[1];
        b->past_capacity[1] = capacity;
        push_iterate(b->past, b->lambda, multiplier_count(b));
    }
}

/* Extrapolates positions and multipliers. Of a point all four numbers are extrapolated: the fourth, its inverse
 * mass, is equal in all iterates and does not change. */
void sinew_sweep_extrapolate(sinew_sweep *sweep, double factor)
{
    const sinew_real f = (sinew_real)factor;
    for (size_t i = 0; i < 4 * (size_t)sweep->objective->particle_count; i++)
        sweep->xw[i] += f * (sweep->xw[i] - sweep->past[1][i]);
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        const sinew_sweep_batch *b = &sweep->batches[k];
        for (size_t i = 0; i < multiplier_count(b); i++)
            b->lambda[i] += f * (b->lambda[i] - b->past[1][i]);
    }
}

/* ---- Values, Jacobians and compliances of constraints ---------------------------------------- */

/* Evaluates one SIMD group of constraints at sweep->xw: values C [m][W], Jacobian J [m][n][3][W] and compliance alpha
 * [m][m][W] in sweep->numbers. */
static sinew_jacobian_kernel evaluate_group(const sinew_sweep *sweep, const sinew_sweep_batch *b,
                                            const sinew_constrain_kernel *manner, int32_t group)
{
    const size_t W = (size_t)b->width, m = (size_t)b->ops->constraint_count, n = (size_t)b->ops->info.vertex_count;
    const sinew_jacobian_kernel kernel = {.groups = {.count = 1,
                                                     .vertex = b->vertex + (size_t)group * n * W,
                                                     .data = b->data + (size_t)group * (size_t)b->ops->data_count * W},
                                          .x = sweep->xw,
                                          .form = manner->form,
                                          .hard = manner->compliance == 0,
                                          .C = sweep->numbers,
                                          .jacobian = sweep->numbers + m * W,
                                          .compliance = sweep->numbers + m * (1 + 3 * n) * W};
    b->ops->jacobian(&kernel);
    return kernel;
}

/* Guess of the multipliers of one element (one lane of a SIMD group): lambda = -(alpha~)^-1 C by elimination, from
 * the constraint values C and alpha~ = factor alpha. Zero for hard constraints, whose alpha is zero. */
static void guess_element_multipliers(const sinew_jacobian_kernel *at, size_t m, size_t W, size_t lane, double factor,
                                      sinew_real *lambda)
{
    double A[CONSTRAINTS_MAX][CONSTRAINTS_MAX], b[CONSTRAINTS_MAX];
    for (size_t i = 0; i < m; i++) {
        b[i] = -(double)at->C[i * W + lane];
        for (size_t j = 0; j < m; j++)
            A[i][j] = factor * (double)at->compliance[(i * m + j) * W + lane];
    }
    for (size_t k = 0; k < m; k++)
        for (size_t i = k + 1; A[k][k] > 0 && i < m; i++) {
            const double f = A[i][k] / A[k][k];
            for (size_t j = k; j < m; j++)
                A[i][j] -= f * A[k][j];
            b[i] -= f * b[k];
        }
    for (size_t i = m; i-- > 0;) {
        for (size_t j = i + 1; j < m; j++)
            b[i] -= A[i][j] * b[j];
        b[i] = A[i][i] > 0 ? b[i] / A[i][i] : 0;
        lambda[i * W + lane] = (sinew_real)b[i];
    }
}

/* Sets the multiplier of a global constraint to -C / alpha~ in all its elements; 0 if the constraint is hard. */
static void guess_global_constraint(const sinew_sweep *sweep, const sinew_sweep_batch *b,
                                    const sinew_constrain_kernel *manner)
{
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count, padded_count = (size_t)b->group_count * W;
    double C = 0, weight = 0;
    for (int32_t group = 0; group < b->group_count; group++) {
        const sinew_jacobian_kernel at = evaluate_group(sweep, b, manner, group);
        for (size_t lane = 0; lane < W; lane++) {
            C += (double)at.C[lane];
            weight = fmax(weight, (double)b->data[(size_t)group * D * W + lane]);
        }
    }
    for (size_t padded_index = 0; padded_index < padded_count; padded_index++)
        b->lambda[padded_index] = manner->compliance > 0 ? (sinew_real)(-C * weight / (double)manner->compliance) : 0;
}

void sinew_sweep_guess(sinew_sweep *sweep, const sinew_constrain_kernel *how)
{
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        const sinew_sweep_batch *b = &sweep->batches[k];
        const sinew_constrain_kernel manner = sinew_sweep_settings_for(sweep, b, how);
        const size_t W = (size_t)b->width, m = (size_t)b->ops->constraint_count;
        if (b->ops->global_constraint)
            guess_global_constraint(sweep, b, &manner);
        for (int32_t group = 0; !b->ops->contact && !b->ops->global_constraint && group < b->group_count; group++) {
            const sinew_jacobian_kernel at = evaluate_group(sweep, b, &manner, group);
            for (size_t lane = 0; lane < W; lane++)
                guess_element_multipliers(&at, m, W, lane, (double)manner.compliance,
                                          b->lambda + (size_t)group * m * W);
        }
    }
}

/* Moves the particles of one SIMD group's elements by x += w sum lambda grad C, with the gradients in `at` and the
 * inverse masses w. */
static void move_by_multipliers(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_jacobian_kernel *at,
                                int32_t group, sinew_real *x)
{
    const size_t W = (size_t)b->width, m = (size_t)b->ops->constraint_count, n = (size_t)b->ops->info.vertex_count;
    const sinew_real *lambda = b->lambda + (size_t)group * m * W;
    for (size_t lane = 0; lane < W; lane++)
        for (size_t a = 0; b->element[(size_t)group * W + lane] >= 0 && a < n; a++) {
            const size_t point = (size_t)at->groups.vertex[a * W + lane];
            for (size_t i = 0; i < m; i++)
                for (size_t c = 0; c < 3; c++)
                    x[point + c] +=
                        sweep->xw[point + 3] * lambda[i * W + lane] * at->jacobian[((i * n + a) * 3 + c) * W + lane];
        }
}

/* Computes x = x_begin + M^-1 sum lambda grad C(x) with the masses M. All constraint gradients are evaluated at the
 * same x: particles move after the last evaluation. */
void sinew_sweep_balance(sinew_sweep *sweep, const sinew_constrain_kernel *how)
{
    const size_t size = 4 * (size_t)sweep->objective->particle_count;
    memcpy(sweep->balanced, sweep->start, size * sizeof *sweep->start);
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        const sinew_sweep_batch *b = &sweep->batches[k];
        const sinew_constrain_kernel manner = sinew_sweep_settings_for(sweep, b, how);
        for (int32_t group = 0; group < b->group_count; group++) {
            const sinew_jacobian_kernel at = evaluate_group(sweep, b, &manner, group);
            move_by_multipliers(sweep, b, &at, group, sweep->balanced);
        }
    }
    memcpy(sweep->xw, sweep->balanced, size * sizeof *sweep->xw);
}
