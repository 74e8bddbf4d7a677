/* SPDX-License-Identifier: MIT
 *
 * measure.c: energies, momenta and other measures of the current state.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "objective/violation.h"
#include "sinew/hard.h"
#include "world/measure/fields.h"

typedef struct measure_context {
    const sinew_world *world;
} measure_context;

/* Adds the terms of particles first .. last - 1 to sums: [0] mass, [1] twice the kinetic energy, [2] potential
 * energy of gravity and external forces, [3..5] mass times position. */
static void measure_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const sinew_world *world = ((const measure_context *)context)->world;
    for (int32_t i = first; i < last; i++) {
        const double m = (double)world->mass[i];
        sums[0] += m;
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            sums[1] += m * (double)world->v[at] * (double)world->v[at];
            sums[2] -= (double)world->f_ext[at] * (double)world->q[at];
            sums[3 + c] += m * (double)world->q[at];
        }
    }
}

/* Norm of the sum of elastic and external forces over the free particles, in N. */
static double static_residual(sinew_world *world, sinew_real *gradient)
{
    sinew_world_imbalance(world, world->pinned, true, gradient);
    return sinew_norm(gradient, world->particle_count, world->objective.thread_count);
}

sinew_status sinew_world_measure(sinew_world *world, sinew_measures *measures)
{
    if (!SINEW_ASSERT(world && measures))
        return SINEW_ERROR_USAGE;
    if (!sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    sinew_status status = sinew_world_make_ready(world, &world->error);
    if (status != SINEW_OK)
        return status;
    sinew_objective *o = &world->objective;
    double sums[6];
    sinew_world_predict(world);
    sinew_world_external_forces(world, world->step_count);
    sinew_sum(measure_terms, &(measure_context){world}, world->particle_count, 6, sums, o->thread_count);
    *measures = (sinew_measures){.kinetic = sums[1] / 2, .potential = sums[2], .mass = sums[0]};
    for (int c = 0; c < 3; c++)
        measures->centre_of_mass[c] = sums[0] > 0 ? sums[3 + c] / sums[0] : 0;
    measures->elastic = sinew_world_elastic_energy(world, true);
    measures->residual = static_residual(world, world->solve.gradient);
    world->solve.gradient_known = false;
    sinew_objective_momenta(o, world->q, world->v, measures->linear_momentum, measures->angular_momentum);
    sinew_objective_determinants(o, world->q, &measures->det_min, &measures->det_max, &measures->inverted_count);
    return SINEW_OK;
}

double sinew_world_violation(sinew_world *world)
{
    if (!SINEW_ASSERT(world) || !sinew_world_may_change(world, __func__, &world->error) ||
        sinew_world_make_ready(world, &world->error) != SINEW_OK)
        return NAN;
    sinew_world_predict(world);
    world->solve.gradient_known = false;
    return sinew_objective_violation(&world->objective, world->q, world->solve.gradient);
}

sinew_status sinew_world_objective(sinew_world *world, const sinew_real *q, double *value, sinew_real *gradient)
{
    if (!SINEW_ASSERT(world && q && value))
        return SINEW_ERROR_USAGE;
    if (!sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    sinew_status status = sinew_world_make_ready(world, &world->error);
    if (status != SINEW_OK)
        return status;
    sinew_solve *s = &world->solve;
    sinew_world_predict(world);
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t c = 0; c < 3; c++)
            s->q[4 * (size_t)i + c] = q[3 * (size_t)world->outside[i] + c];
    s->gradient_known = false;
    *value = sinew_objective_gradient(&world->objective, s->q, s->gradient, NULL);
    if (gradient)
        sinew_world_outside_points(world, s->gradient, 0, world->number_count, gradient);
    return SINEW_OK;
}

sinew_status sinew_world_colours(sinew_world *world, int32_t *colour_count, int32_t *colours)
{
    if (!SINEW_ASSERT(world && colour_count))
        return SINEW_ERROR_USAGE;
    if (!sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    const sinew_status status = sinew_world_make_ready(world, &world->error);
    *colour_count = 0;
    for (int32_t i = 0; colours && i < world->number_count; i++)
        colours[i] = -1;
    if (status == SINEW_OK && world->solve.ops->colours)
        *colour_count = world->solve.ops->colours(&world->solve, world->outside, colours);
    return status;
}

/* ---- Hash of the state ----------------------------------------------------------------------- */

/* Continues a 64-bit FNV-1a hash (Fowler, Noll, Vo) with `size` bytes. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

uint64_t sinew_world_state_hash(const sinew_world *world)
{
    uint64_t hash = 0xcbf29ce484222325u;
    if (!SINEW_ASSERT(world))
        return hash;
    const sinew_real *arrays[] = {world->q, world->v};
    for (int a = 0; a < 2; a++)
        for (int32_t i = 0; i < world->number_count; i++)
            if (world->inside[i] >= 0)
                hash = hash_bytes(hash, arrays[a] + 4 * (size_t)world->inside[i], 3 * sizeof(sinew_real));
    return hash_bytes(hash, &world->time, sizeof world->time);
}
