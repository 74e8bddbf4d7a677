/* SPDX-License-Identifier: MIT
 *
 * direction_filter.c: particles with constrained directions: the filter S of Baraff and Witkin 1998, 5.1 (objective.h).
 */
#include "objective/objective.h"

/* Index of each of the nine entries of a particle's filter S among its six stored numbers (00 11 22 01 02 12). */
static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

/* Writes the 3x3 filter S of particle i (objective.h), row-major. */
static void particle_filter(const sinew_objective *o, int32_t i, double S[9])
{
    for (int k = 0; k < 9; k++)
        S[k] = (double)o->step.filter[6 * (size_t)i + (size_t)entry[k]];
}

void sinew_filter_point(const sinew_objective *o, int32_t particle, double x[3])
{
    const double from[3] = {x[0], x[1], x[2]};
    double S[9];
    particle_filter(o, particle, S);
    for (int r = 0; r < 3; r++)
        x[r] = S[3 * r] * from[0] + S[3 * r + 1] * from[1] + S[3 * r + 2] * from[2];
}

void sinew_filter(const sinew_objective *o, sinew_real *x)
{
    for (int32_t k = 0; k < o->step.constrained_count; k++) {
        sinew_real *at = x + 4 * (size_t)o->step.constrained[k];
        double point[3] = {(double)at[0], (double)at[1], (double)at[2]};
        sinew_filter_point(o, o->step.constrained[k], point);
        for (int c = 0; c < 3; c++)
            at[c] = (sinew_real)point[c];
    }
}

void sinew_project_constrained(const sinew_objective *o, sinew_real *q)
{
    for (int32_t k = 0; k < o->step.constrained_count; k++) {
        sinew_real *at = q + 4 * (size_t)o->step.constrained[k];
        const sinew_real *there = o->step.q_tilde + 4 * (size_t)o->step.constrained[k];
        double way[3];
        for (int c = 0; c < 3; c++)
            way[c] = (double)at[c] - (double)there[c];
        sinew_filter_point(o, o->step.constrained[k], way);
        for (int c = 0; c < 3; c++)
            at[c] = (sinew_real)((double)there[c] + way[c]);
    }
}

void sinew_filter_block(const sinew_objective *o, int32_t i, int32_t j, double block[9])
{
    double left[9], right[9], half[9];
    const double scale = (block[0] + block[4] + block[8]) / 3;
    particle_filter(o, i, left);
    particle_filter(o, j, right);
    for (int k = 0; k < 9; k++)
        half[k] = left[3 * (k / 3)] * block[k % 3] + left[3 * (k / 3) + 1] * block[3 + k % 3] +
                  left[3 * (k / 3) + 2] * block[6 + k % 3];
    for (int k = 0; k < 9; k++) {
        block[k] = half[3 * (k / 3)] * right[k % 3] + half[3 * (k / 3) + 1] * right[3 + k % 3] +
                   half[3 * (k / 3) + 2] * right[6 + k % 3];
        if (i == j)
            block[k] += (scale > 0 ? scale : 1) * ((k % 4 == 0) - left[k]);
    }
}
