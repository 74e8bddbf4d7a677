/* SPDX-License-Identifier: MIT
 *
 * global_constraint.c: one constraint that all elements of an energy form together (whole_row in energy/energy.h), projected
 * at once in its energy's turn of a sweep:
 *
 *     C = sum_e C_e,  g = sum_e grad C_e        dlambda = (-C - alpha~ lambda - gamma g . (x - x_old)) / (...)
 *
 * as constrain.h has it for one element. Elements give their shares by `jacobian`; one thread adds them up in their
 * order, so the bits do not depend on threads. The multiplier is kept in every element's place: its force on its
 * vertices is lambda grad C_e.
 */
#include "solve/constraint_sweep/sweep.h"

#include <string.h>

/* Numbers of an element in b->row: C, its gradient, the compliance. */
#define ROW_SIZE(n) (2 + 3 * (n))

bool sinew_sweep_row_room(const sinew_sweep *sweep, sinew_sweep_batch *b)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    const size_t lanes = (size_t)b->group_count * (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    const size_t points = 4 * (size_t)sweep->objective->particle_count;
    if (!sinew_make_room(allocator, &b->row, &b->row_room, lanes * ROW_SIZE(n), sizeof *b->row) ||
        !sinew_make_room(allocator, &b->slope, &b->slope_room, points, sizeof *b->slope))
        return false;
    memset(b->slope, 0, points * sizeof *b->slope);
    return true;
}

/* One corner of an element: where it is in the sweep's arrays, and its gradient. */
typedef struct row_corner {
    size_t at; /* SINEW_POINT times the particle */
    double g[3];
} row_corner;

static row_corner corner_of(const sinew_sweep_batch *b, size_t place, size_t a)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count, group = place / W, lane = place % W;
    const sinew_real *jacobian = b->row + (size_t)b->group_count * W;
    row_corner corner = {.at = (size_t)b->vertex[(group * n + a) * W + lane]};
    for (size_t c = 0; c < 3; c++)
        corner.g[c] = (double)jacobian[((group * n + a) * 3 + c) * W + lane];
    return corner;
}

/* C, and the compliance of any element that is on, 0 where none is or the row is hard. */
static double sum_shares(const sinew_sweep_batch *b, const sinew_constrain_kernel *how, double *alpha)
{
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count, lanes = (size_t)b->group_count * W;
    double C = 0;
    *alpha = 0;
    for (size_t place = 0; place < lanes; place++) {
        const double weight = (double)b->data[place / W * D * W + place % W];
        C += (double)b->row[place];
        if (weight > 0 && how->compliance > 0)
            *alpha = 1 / weight;
        for (size_t a = 0; a < (size_t)b->ops->info.vertex_count; a++) {
            const row_corner corner = corner_of(b, place, a);
            for (size_t c = 0; c < 3; c++)
                b->slope[corner.at + c] += corner.g[c];
        }
    }
    return C;
}

/* sum w |g|^2, and g . (x - x_old): a corner's part of the former is w g . grad C_e. */
static double sum_mass(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how,
                       double *motion)
{
    double mass = 0;
    *motion = 0;
    for (size_t place = 0; place < (size_t)b->group_count * (size_t)b->width; place++)
        for (size_t a = 0; a < (size_t)b->ops->info.vertex_count; a++) {
            const row_corner corner = corner_of(b, place, a);
            const sinew_real *x = sweep->xw + corner.at;
            for (size_t c = 0; c < 3; c++) {
                mass += (double)x[3] * b->slope[corner.at + c] * corner.g[c];
                *motion += how->x_old ? corner.g[c] * ((double)x[c] - (double)how->x_old[corner.at + c]) : 0;
            }
        }
    return mass;
}

/* Jacobi: the smallest part that any of its elements may make. */
static double share_of(const sinew_sweep_batch *b)
{
    sinew_real least = 1;
    for (size_t place = 0; b->share && place < (size_t)b->group_count * (size_t)b->width; place++)
        least = b->share[place] < least ? b->share[place] : least;
    return (double)least;
}

/* x += w g dlambda, each particle once; leaves slope zero. */
static void move_row(const sinew_sweep *sweep, const sinew_sweep_batch *b, double change)
{
    sinew_real *to = sweep->dx ? sweep->dx : sweep->xw;
    for (size_t place = 0; place < (size_t)b->group_count * (size_t)b->width; place++)
        for (size_t a = 0; a < (size_t)b->ops->info.vertex_count; a++) {
            const size_t at = corner_of(b, place, a).at;
            const double scale = change * (double)sweep->xw[at + 3];
            for (size_t c = 0; c < 3; c++) {
                to[at + c] = (sinew_real)((double)to[at + c] + scale * b->slope[at + c]);
                b->slope[at + c] = 0;
            }
        }
}

void sinew_sweep_row_project(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how)
{
    const size_t lanes = (size_t)b->group_count * (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    const sinew_jacobian_kernel kernel = {.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                          .x = sweep->xw,
                                          .form = SINEW_FORM_ROOT,
                                          .hard = !(how->compliance > 0),
                                          .C = b->row,
                                          .jacobian = b->row + lanes,
                                          .compliance = b->row + lanes * (1 + 3 * n)};
    double alpha, motion;
    b->ops->jacobian(&kernel);
    const double C = sum_shares(b, how, &alpha), mass = sum_mass(sweep, b, how, &motion);
    const double tilde = alpha * (double)how->compliance, gamma = how->x_old ? alpha * (double)how->damping : 0;
    const double top = -C - tilde * (double)b->lambda[0] - gamma * motion, bottom = (1 + gamma) * mass + tilde;
    const double change = bottom > 0 ? (double)how->stiffness * share_of(b) * top / bottom : 0;
    for (size_t place = 0; place < lanes; place++)
        b->lambda[place] = (sinew_real)((double)b->lambda[place] + change);
    move_row(sweep, b, change);
}
