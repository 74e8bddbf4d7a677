/* SPDX-License-Identifier: MIT
 *
 * sweeping.c: the operations of PBD and XPBD. See sweeping.h.
 */
#include "solve/sweeping.h"

#include <string.h>

/* A step cut into substeps is over after its last one and not before; a pseudo-time may end any time. Allocates the
 * first time. */
static sinew_status prepare_parts(sinew_solve *s, sinew_sweeping *w, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    if (w->parts.sweeps == 0) {
        if (w->parts.count > s->def.iterations)
            return sinew_fail(
                error, SINEW_ERROR_DATA,
                "solver %s: substeps is %d but iterations is %d: every substep needs a sweep; raise iterations",
                s->ops->info.name, w->parts.count, s->def.iterations);
        s->def.tolerance = 0;
        s->def.time_budget = 0;
    }
    if (w->v && w->q_last)
        return SINEW_OK;
    w->v = sinew_allocate_zero(&o->allocator, size, sizeof *w->v);
    w->q_last = sinew_allocate_zero(&o->allocator, size, sizeof *w->q_last);
    return w->v && w->q_last ? SINEW_OK : sinew_fail_memory(error, "the substeps");
}

/* Settings that depend on h and on the limits of a step. */
static sinew_status take_settings(sinew_solve *s, const sinew_constrain_kernel *how, const sinew_sweeping_parts *parts,
                                  sinew_error *error)
{
    sinew_sweeping *w = s->memory;
    w->how = *how;
    w->parts = *parts;
    w->cut = parts->count > 1 || parts->sweeps > 0;
    if (w->parts.h == 0)
        w->parts.h = s->objective->h / parts->count;
    return w->cut ? prepare_parts(s, w, error) : SINEW_OK;
}

sinew_status sinew_sweeping_prepare(sinew_solve *s, const sinew_constrain_kernel *how,
                                    const sinew_sweeping_parts *parts, sinew_error *error)
{
    sinew_objective *o = s->objective;
    sinew_sweeping *w = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *w);
    if (!w)
        return sinew_fail_memory(error, "the constraints");
    w->symmetric = sinew_solve_parameter(s, "symmetric") > 0;
    w->relaxation = (double)sinew_solve_parameter(s, "relaxation");
    const sinew_status status = take_settings(s, how, parts, error);
    if (status != SINEW_OK)
        return status;
    return sinew_sweep_create(&w->sweep, o, (sinew_sweep_order)sinew_solve_parameter(s, "order"), error);
}

sinew_status sinew_sweeping_refresh(sinew_solve *s, const sinew_constrain_kernel *how,
                                    const sinew_sweeping_parts *parts, uint32_t changed, sinew_error *error)
{
    sinew_sweeping *w = s->memory;
    const sinew_status status = take_settings(s, how, parts, error);
    if (status != SINEW_OK)
        return status;
    return sinew_sweep_refresh(&w->sweep, changed & SINEW_CHANGED_TRANSIENT, changed & SINEW_CHANGED_PINS, error);
}

int32_t sinew_sweeping_form(int choice)
{
    static const int32_t forms[] = {SINEW_FORM_COMBINED, SINEW_FORM_SPLIT, SINEW_FORM_INCOMPRESSIBLE, SINEW_FORM_ROOT};
    return forms[choice];
}

void sinew_sweeping_release(sinew_solve *s)
{
    sinew_sweeping *w = s->memory;
    if (!w)
        return;
    const sinew_allocator *allocator = &s->objective->allocator;
    sinew_sweep_destroy(&w->sweep);
    sinew_release(allocator, w->v);
    sinew_release(allocator, w->q_last);
    sinew_release(allocator, w);
    s->memory = NULL;
}

/* v_n without its damped part, from q_tilde = q_n + h v_n + h^2 M^-1 f; at pins what leads to their targets. */
static void first_velocity(const sinew_solve *s, sinew_real *v)
{
    const sinew_objective *o = s->objective;
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double motion = ((double)o->q_tilde[at] - (double)s->q_start[at]) / o->h;
            const double push = o->pinned[i] ? 0 : o->h * (double)o->force[at] / (double)o->mass[i];
            v[at] = (sinew_real)(motion - push);
        }
}

void sinew_sweeping_begin(sinew_solve *s)
{
    sinew_sweeping *w = s->memory;
    const size_t bytes = 4 * (size_t)s->objective->particle_count * sizeof *s->q;
    w->done = 0;
    w->moved = false;
    w->how.x_old = w->how.damping > 0 ? s->q_start : NULL;
    if (w->parts.sweeps > 0) {
        memcpy(w->q_last, s->q, bytes);
        memset(w->v, 0, bytes);
    } else if (w->cut) {
        memcpy(w->q_last, s->q_start, bytes);
        first_velocity(s, w->v);
        s->v_end = w->v;
    } else {
        memcpy(s->q, s->objective->q_tilde, bytes);
        s->gradient_known = false;
        sinew_sweep_begin(&w->sweep, s->q);
    }
}

/* Moves q to where inertia alone leads in one part; pins arrive exactly with the last, in pseudo-time with the first.
 */
static void predict(sinew_solve *s, sinew_sweeping *w, int32_t part)
{
    const sinew_objective *o = s->objective;
    const double h = w->parts.h;
    const bool last = w->parts.sweeps == 0 && part == w->parts.count - 1;
    if (part > 0)
        memcpy(w->q_last, s->q, 4 * (size_t)o->particle_count * sizeof *w->q_last);
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double push = o->pinned[i] ? 0 : h * (double)o->force[at] / (double)o->mass[i];
            s->q[at] = (sinew_real)((double)w->q_last[at] + h * ((double)w->v[at] + push));
            if (o->pinned[i] && last)
                s->q[at] = o->q_tilde[at];
        }
    if (w->how.damping > 0)
        w->how.x_old = w->q_last;
    sinew_sweep_begin(&w->sweep, s->q);
}

static void sweep_once(sinew_sweeping *w)
{
    sinew_sweep_run(&w->sweep, &w->how, false, w->relaxation);
    if (w->symmetric)
        sinew_sweep_run(&w->sweep, &w->how, true, w->relaxation);
}

/* v = (q - q_last) / h once a part is over, less what pseudo-time loses */
static void finish_part(const sinew_solve *s, sinew_sweeping *w)
{
    const double h = w->parts.h, keep = w->parts.sweeps > 0 ? w->parts.keep : 1;
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        w->v[i] = (sinew_real)(((double)s->q[i] - (double)w->q_last[i]) / h * keep);
}

/* The part that a sweep belongs to; in real time the iterations are dealt out evenly. */
static int32_t part_of(const sinew_solve *s, const sinew_sweeping *w, int32_t sweep)
{
    if (w->parts.sweeps > 0)
        return sweep / w->parts.sweeps;
    return (int32_t)((int64_t)sweep * w->parts.count / s->def.iterations);
}

uint32_t sinew_sweeping_iterate(sinew_solve *s)
{
    sinew_sweeping *w = s->memory;
    const int32_t part = w->cut ? part_of(s, w, w->done) : 0;
    if (w->cut && (w->done == 0 || part != part_of(s, w, w->done - 1)))
        predict(s, w, part);
    sweep_once(w);
    w->moved = true;
    w->done++;
    if (w->cut && part != part_of(s, w, w->done)) {
        sinew_sweeping_settle(s);
        finish_part(s, w);
    }
    s->gradient_known = false;
    return 0;
}

void sinew_sweeping_settle(sinew_solve *s)
{
    sinew_sweeping *w = s->memory;
    if (w->moved)
        sinew_sweep_positions(&w->sweep, s->q);
    w->moved = false;
}

/* Colours are counted over all energies, which follow each other. Constraints have them, particles have none. */
int32_t sinew_sweeping_colours(const sinew_solve *s, const int32_t *outside, int32_t *colours)
{
    (void)outside;
    (void)colours;
    const sinew_sweep *sweep = &((const sinew_sweeping *)s->memory)->sweep;
    int32_t count = 0;
    for (int32_t k = 0; k < sweep->batch_count; k++)
        count += sweep->batches[k].colour_count;
    return count;
}

/* lambda / h^2 of each element, the factor of the gradient of C in the force. */
bool sinew_sweeping_multipliers(const sinew_solve *s, const sinew_batch *batch, sinew_real *values)
{
    const sinew_sweeping *w = s->memory;
    const double h = w->parts.h;
    for (int32_t k = 0; k < w->sweep.batch_count; k++)
        if (w->sweep.batches[k].source == batch) {
            sinew_sweep_multipliers(&w->sweep.batches[k], 1 / (h * h), values);
            return true;
        }
    return false;
}
