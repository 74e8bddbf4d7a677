/* SPDX-License-Identifier: MIT
 *
 * sweep.c: runs sweeps over the layout of colour_layout.c. See sweep.h.
 */
#include "solve/constraint_sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/phases.h"
#include "base/reduce.h"

#define PARALLEL_GROUPS 512 /* number of SIMD groups of all batches from which several threads sweep */
#define PHASE_GROUPS                                                                                                   \
    32 /* smallest mean number of SIMD groups per phase for several threads: below, synchronisation dominates */
#define SLICE_ELEMENTS 128 /* largest number of elements in a slice of a colour, the unit of work of a thread */

sinew_constrain_kernel sinew_sweep_settings_for(const sinew_sweep *sweep, const sinew_sweep_batch *b,
                                                const sinew_constrain_kernel *how)
{
    sinew_constrain_kernel kernel = *how;
    const double k = (double)b->source->pbd_stiffness;
    if (k > 0 && sweep->stiffness_exponent > 0)
        kernel.stiffness = (sinew_real)(1 - pow(1 - k, sweep->stiffness_exponent)) * sweep->relaxation;
    if (b->source->hard && how->compliance > 0) {
        kernel.compliance = 0;
        kernel.x_old = NULL;
        kernel.form = SINEW_FORM_ROOT;
    }
    return kernel;
}

/* Projects the constraints of SIMD groups first .. last-1 of a batch. */
static void sweep_run_groups(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how,
                             int32_t first, int32_t last)
{
    const size_t offset = (size_t)first * (size_t)b->width;
    sinew_constrain_kernel kernel = sinew_sweep_settings_for(sweep, b, how);
    kernel.groups.count = last - first;
    kernel.groups.vertex = b->vertex + offset * (size_t)b->ops->info.vertex_count;
    kernel.groups.data = b->data + offset * (size_t)b->ops->data_count;
    kernel.lambda = b->lambda + offset * (size_t)b->ops->constraint_count;
    kernel.xw = sweep->xw;
    kernel.dx = sweep->dx;
    kernel.apart = sweep->order != SINEW_SWEEP_MESH;
    kernel.averaging_weight = b->averaging_weight ? b->averaging_weight + offset : NULL;
    if (b->ops->global_constraint)
        sinew_sweep_project_global(sweep, b, &kernel);
    else
        b->ops->constrain(&kernel);
}

/* Arguments of a coloured sweep: batches in order, within a batch domains before the elements between them, then
 * colours. Concurrent items write to different particles, so any distribution over threads gives the same bits. */
typedef struct sweep_pass {
    const sinew_sweep *sweep;
    const sinew_constrain_kernel *how;
    bool backward;
    int32_t phases; /* number of phases (levels of domains, or colours) of all batches */
} sweep_pass;

/* Number of phases of a batch: levels of domains, or colours without domains. */
static int32_t count_batch_phases(const sinew_sweep_batch *b)
{
    return b->domains.level_count > 0 ? b->domains.level_count : b->colour_count;
}

/* Returns the batch that a phase of the sweep belongs to; *phase becomes the level of domains or the colour within this
 * batch. */
static const sinew_sweep_batch *phase_batch(const sweep_pass *pass, int32_t *phase)
{
    const sinew_sweep_batch *batches = pass->sweep->batches;
    const int32_t *turn = pass->sweep->turn;
    int32_t low = 0, high = pass->sweep->batch_count - 1;
    if (pass->backward)
        *phase = pass->phases - 1 - *phase;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (batches[turn[middle]].first_phase <= *phase)
            low = middle;
        else
            high = middle - 1;
    }
    *phase -= batches[turn[low]].first_phase;
    return &batches[turn[low]];
}

/* Number of slices of a colour: an even number, which balances two threads, but at most one slice per SIMD group. A
 * global constraint is one slice. */
static int32_t colour_slices(const sinew_sweep_batch *b, int32_t colour)
{
    const int32_t groups = b->first_group[colour + 1] - b->first_group[colour], two = 2 * SLICE_ELEMENTS / b->width;
    const int32_t slices = b->ops->global_constraint ? 1 : 2 * ((groups + two - 1) / two);
    return slices < groups ? slices : groups;
}

/* Number of parallel items of a phase: the domains of a level, or the slices of a colour. */
static int32_t count_slices(const void *context, int32_t phase)
{
    const sinew_sweep_batch *b = phase_batch(context, &phase);
    return b->domains.level_count > 0 ? b->domains.first[phase + 1] - b->domains.first[phase] : colour_slices(b, phase);
}

static void run_domain(const sweep_pass *pass, const sinew_sweep_batch *b, int32_t domain)
{
    for (int32_t i = 0; i < b->colour_count; i++) {
        const int32_t c = domain * b->colour_count + (pass->backward ? b->colour_count - 1 - i : i);
        sweep_run_groups(pass->sweep, b, pass->how, b->first_group[c], b->first_group[c + 1]);
    }
}

static void run_slice(const void *context, int32_t phase, int32_t slice)
{
    const sweep_pass *pass = context;
    const sinew_sweep_batch *b = phase_batch(pass, &phase);
    if (b->domains.level_count > 0) {
        run_domain(pass, b, b->domains.first[phase] + slice);
        return;
    }
    const int32_t first = b->first_group[phase], slices = colour_slices(b, phase);
    const int64_t groups = b->first_group[phase + 1] - first;
    sweep_run_groups(pass->sweep, b, pass->how, first + (int32_t)(groups * slice / slices),
                     first + (int32_t)(groups * (slice + 1) / slices));
}

static void run_colours(sinew_sweep *sweep, const sinew_constrain_kernel *how, bool backward)
{
    sweep_pass pass = {sweep, how, backward, 0};
    int32_t groups = 0;
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        sinew_sweep_batch *b = &sweep->batches[sweep->turn[k]];
        b->first_phase = pass.phases;
        pass.phases += count_batch_phases(b);
        groups += b->group_count;
    }
    const sinew_phases work = {pass.phases, count_slices, run_slice, &pass};
    const bool parallel = groups >= PARALLEL_GROUPS && groups / PHASE_GROUPS >= pass.phases;
    sinew_phases_run(&work, parallel ? sweep->objective->thread_count : 1);
}

/* Runs a batch on one thread: in mesh order, reversed if `backward`, or as a Jacobi sweep, whose sums always have
 * the same order. A global constraint is one projection, which has no order to reverse. */
static void run_batch(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how,
                      bool backward)
{
    if (!backward || sweep->order != SINEW_SWEEP_MESH || b->ops->global_constraint) {
        sweep_run_groups(sweep, b, how, 0, b->group_count);
        return;
    }
    for (int32_t group = b->group_count - 1; group >= 0; group--)
        sweep_run_groups(sweep, b, how, group, group + 1);
}

/* Applies the averaged position changes of a Jacobi sweep: x += dx, dx = 0. */
static void apply_position_changes(sinew_sweep *sweep)
{
    const size_t size = 4 * (size_t)sweep->objective->particle_count;
    for (size_t i = 0; i < size; i++)
        sweep->xw[i] += sweep->dx[i];
    memset(sweep->dx, 0, size * sizeof *sweep->dx);
}

void sinew_sweep_run(sinew_sweep *sweep, const sinew_constrain_kernel *how, bool backward, double relaxation)
{
    sinew_constrain_kernel kernel = *how;
    sweep->relaxation = sweep->dx ? (sinew_real)relaxation : 1;
    kernel.stiffness *= sweep->relaxation;
    if (sweep->order == SINEW_SWEEP_COLOURED)
        run_colours(sweep, &kernel, backward);
    else
        for (int32_t k = 0; k < sweep->batch_count; k++)
            run_batch(sweep, &sweep->batches[sweep->turn[backward ? sweep->batch_count - 1 - k : k]], &kernel,
                      backward);
    if (sweep->dx)
        apply_position_changes(sweep);
}

typedef struct position_pass {
    const sinew_real *xw;
    sinew_real *q;
} position_pass;

static void copy_positions(const void *context, int32_t member, int32_t first, int32_t last)
{
    const position_pass *p = context;
    (void)member;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0; c < 4; c++)
            p->q[4 * (size_t)i + c] = c < 3 ? p->xw[4 * (size_t)i + c] : 0;
}

void sinew_sweep_positions(const sinew_sweep *sweep, sinew_real *q)
{
    const sinew_objective *o = sweep->objective;
    sinew_over_particles(o->thread_count, o->particle_count, copy_positions, &(position_pass){sweep->xw, q});
}

void sinew_sweep_multipliers(const sinew_sweep_batch *b, double factor, sinew_real *values)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->constraint_count;
    for (size_t padded_index = 0; padded_index < (size_t)b->group_count * W; padded_index++)
        for (size_t c = 0; b->element[padded_index] >= 0 && c < n; c++)
            values[(size_t)b->element[padded_index] * n + c] =
                (sinew_real)(factor * (double)b->lambda[(padded_index / W * n + c) * W + padded_index % W]);
}
