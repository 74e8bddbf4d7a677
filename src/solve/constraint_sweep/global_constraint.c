/* SPDX-License-Identifier: MIT
 *
 * global_constraint.c: one constraint formed by all elements of an energy (global_constraint in energy/energy.h),
 * projected when a sweep reaches its energy:
 *
 *     C = sum_e C_e,  g = sum_e grad C_e
 *     dlambda = (-C - alpha~ lambda - gamma g . (x - x_old)) / ((1 + gamma) sum w |g|^2 + alpha~)
 *
 * with w the inverse masses, as in energy/constrain.h for one element, whose header explains alpha~ and the damping
 * gamma. The energy's `jacobian` operation gives the contributions of elements; one
 * thread adds them in order, so the bits do not depend on threads. Every element stores the multiplier lambda: the
 * force on its vertices is lambda grad C_e.
 */
#include "solve/constraint_sweep/sweep.h"

#include <string.h>

/* Count of numbers per element in b->numbers: C_e, its gradient at n vertices, the compliance. */
#define CONSTRAINT_SIZE(n) (2 + 3 * (n))

bool sinew_sweep_global_capacity(const sinew_sweep *sweep, sinew_sweep_batch *b)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    const size_t padded_count = (size_t)b->group_count * (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    const size_t points = 4 * (size_t)sweep->objective->particle_count;
    if (!sinew_reserve(allocator, &b->numbers, &b->numbers_capacity, padded_count * CONSTRAINT_SIZE(n),
                       sizeof *b->numbers) ||
        !sinew_reserve(allocator, &b->slope, &b->slope_capacity, points, sizeof *b->slope))
        return false;
    memset(b->slope, 0, points * sizeof *b->slope);
    return true;
}

/* One vertex of an element of the global constraint: its offset in the sweep's arrays, and the gradient of C_e
 * there. */
typedef struct constraint_corner {
    size_t at; /* offset of the vertex in arrays of points: SINEW_POINT times its particle index */
    double g[3];
} constraint_corner;

static constraint_corner corner_of(const sinew_sweep_batch *b, size_t padded_index, size_t a)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count, group = padded_index / W,
                 lane = padded_index % W;
    const sinew_real *jacobian = b->numbers + (size_t)b->group_count * W;
    constraint_corner corner = {.at = (size_t)b->vertex[(group * n + a) * W + lane]};
    for (size_t c = 0; c < 3; c++)
        corner.g[c] = (double)jacobian[((group * n + a) * 3 + c) * W + lane];
    return corner;
}

/* Returns C = sum_e C_e and adds grad C to b->slope. alpha is the compliance of an active element; 0 if no element is
 * active or the constraint is hard. */
static double sum_elements(const sinew_sweep_batch *b, const sinew_constrain_kernel *how, double *alpha)
{
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count, padded_count = (size_t)b->group_count * W;
    double C = 0;
    *alpha = 0;
    for (size_t padded_index = 0; padded_index < padded_count; padded_index++) {
        const double weight = (double)b->data[padded_index / W * D * W + padded_index % W];
        C += (double)b->numbers[padded_index];
        if (weight > 0 && how->compliance > 0)
            *alpha = 1 / weight;
        for (size_t a = 0; a < (size_t)b->ops->info.vertex_count; a++) {
            const constraint_corner corner = corner_of(b, padded_index, a);
            for (size_t c = 0; c < 3; c++)
                b->slope[corner.at + c] += corner.g[c];
        }
    }
    return C;
}

/* Returns sum w |g|^2 over particles, w inverse masses, to which each element vertex adds w g . grad C_e; writes g . (x
 * - x_old) to `motion`. */
static double sum_inverse_mass(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how,
                               double *motion)
{
    double mass = 0;
    *motion = 0;
    for (size_t padded_index = 0; padded_index < (size_t)b->group_count * (size_t)b->width; padded_index++)
        for (size_t a = 0; a < (size_t)b->ops->info.vertex_count; a++) {
            const constraint_corner corner = corner_of(b, padded_index, a);
            const sinew_real *x = sweep->xw + corner.at;
            for (size_t c = 0; c < 3; c++) {
                mass += (double)x[3] * b->slope[corner.at + c] * corner.g[c];
                *motion += how->x_old ? corner.g[c] * ((double)x[c] - (double)how->x_old[corner.at + c]) : 0;
            }
        }
    return mass;
}

/* The smallest averaging weight of the global constraint's elements in a Jacobi sweep; 1 in other orders. */
static double averaging_weight_of(const sinew_sweep_batch *b)
{
    sinew_real min = 1;
    for (size_t padded_index = 0; b->averaging_weight && padded_index < (size_t)b->group_count * (size_t)b->width;
         padded_index++)
        min = b->averaging_weight[padded_index] < min ? b->averaging_weight[padded_index] : min;
    return (double)min;
}

/* Moves each particle of the global constraint once: x (dx in a Jacobi sweep) += w g dlambda; resets b->slope to
 * zero. */
static void move_global_constraint(const sinew_sweep *sweep, const sinew_sweep_batch *b, double change)
{
    sinew_real *to = sweep->dx ? sweep->dx : sweep->xw;
    for (size_t padded_index = 0; padded_index < (size_t)b->group_count * (size_t)b->width; padded_index++)
        for (size_t a = 0; a < (size_t)b->ops->info.vertex_count; a++) {
            const size_t at = corner_of(b, padded_index, a).at;
            const double scale = change * (double)sweep->xw[at + 3];
            for (size_t c = 0; c < 3; c++) {
                to[at + c] = (sinew_real)((double)to[at + c] + scale * b->slope[at + c]);
                b->slope[at + c] = 0;
            }
        }
}

void sinew_sweep_project_global(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how)
{
    const size_t padded_count = (size_t)b->group_count * (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    const sinew_jacobian_kernel kernel = {.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                          .x = sweep->xw,
                                          .form = SINEW_FORM_ROOT,
                                          .hard = !(how->compliance > 0),
                                          .C = b->numbers,
                                          .jacobian = b->numbers + padded_count,
                                          .compliance = b->numbers + padded_count * (1 + 3 * n)};
    double alpha, motion;
    b->ops->jacobian(&kernel);
    const double C = sum_elements(b, how, &alpha), mass = sum_inverse_mass(sweep, b, how, &motion);
    const double tilde = alpha * (double)how->compliance, gamma = how->x_old ? alpha * (double)how->damping : 0;
    const double top = -C - tilde * (double)b->lambda[0] - gamma * motion, bottom = (1 + gamma) * mass + tilde;
    const double change = bottom > 0 ? (double)how->stiffness * averaging_weight_of(b) * top / bottom : 0;
    for (size_t padded_index = 0; padded_index < padded_count; padded_index++)
        b->lambda[padded_index] = (sinew_real)((double)b->lambda[padded_index] + change);
    move_global_constraint(sweep, b, change);
}
