/* SPDX-License-Identifier: MIT
 *
 * substeps.c: the three ways in which time passes while constraints are swept (pbd_common.h): a step as one whole,
 * a step in substeps, and the pseudo-time of equilibria. Each is a table of what happens around the sweeps.
 */
#include <string.h>

#include "solve/constraint_sweep/pbd_common.h"

static size_t vector_bytes(const sinew_solve *s)
{
    return 4 * (size_t)s->objective->particle_count * sizeof *s->q;
}

/* ---- The step as one whole ------------------------------------------------------------------- */

static sinew_status whole_prepare(sinew_solve *s, sinew_sweeping *w, sinew_error *error)
{
    (void)error;
    w->part_h = s->objective->h;
    return SINEW_OK;
}

static void whole_begin(sinew_solve *s, sinew_sweeping *w)
{
    memcpy(s->q, s->objective->q_tilde, vector_bytes(s));
    s->gradient_known = false;
    sinew_sweeping_start(s, w);
}

static void whole_no_more(sinew_solve *s, sinew_sweeping *w)
{
    (void)s;
    (void)w;
}

const sinew_sweeping_time sinew_sweeping_whole = {whole_prepare, whole_begin, whole_no_more, whole_no_more};

/* ---- Parts: substeps and pseudo-time --------------------------------------------------------- */

/* Allocates the first time. */
static sinew_status allocate_parts(const sinew_solve *s, sinew_sweeping *w, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    w->v = w->v ? w->v : sinew_allocate_zero(&o->allocator, size, sizeof *w->v);
    w->q_last = w->q_last ? w->q_last : sinew_allocate_zero(&o->allocator, size, sizeof *w->q_last);
    return w->v && w->q_last ? SINEW_OK : sinew_fail_memory(error, "the substeps");
}

/* Moves q to where inertia and forces alone lead within one part; pins go on with their velocities. */
static void coast(sinew_solve *s, sinew_sweeping *w)
{
    const sinew_objective *o = s->objective;
    const double h = w->part_h;
    if (w->done > 0)
        memcpy(w->q_last, s->q, vector_bytes(s));
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double push = o->pinned[i] ? 0 : h * (double)o->force[at] / (double)o->mass[i];
            s->q[at] = (sinew_real)((double)w->q_last[at] + h * ((double)w->v[at] + push));
        }
}

static void start_sweeps(const sinew_solve *s, sinew_sweeping *w)
{
    if (w->how.damping > 0)
        w->how.x_old = w->q_last;
    sinew_sweeping_start(s, w);
}

/* v = keep (q - q_last) / h */
static void end_part(sinew_solve *s, sinew_sweeping *w, double keep)
{
    sinew_sweeping_settle(s);
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        w->v[i] = (sinew_real)(((double)s->q[i] - (double)w->q_last[i]) / w->part_h * keep);
}

/* ---- Substeps -------------------------------------------------------------------------------- */

/* A step in substeps is over after its last one and not before: no tolerance, no time budget. */
static sinew_status substeps_prepare(sinew_solve *s, sinew_sweeping *w, sinew_error *error)
{
    if (w->parts.count > s->def.iterations)
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "solver %s: substeps is %d but iterations is %d: every substep needs a sweep; raise iterations",
            s->ops->info.name, w->parts.count, s->def.iterations);
    s->def.tolerance = 0;
    s->def.time_budget = 0;
    w->part_h = s->objective->h / w->parts.count;
    return allocate_parts(s, w, error);
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

static void substeps_begin(sinew_solve *s, sinew_sweeping *w)
{
    memcpy(w->q_last, s->q_start, vector_bytes(s));
    first_velocity(s, w->v);
    s->v_end = w->v;
}

/* The substep of a sweep: the iterations are dealt out evenly. */
static int32_t substep_of(const sinew_solve *s, const sinew_sweeping *w, int32_t sweep)
{
    return (int32_t)((int64_t)sweep * w->parts.count / s->def.iterations);
}

/* Pins arrive with the last substep, exactly: straight lines would miss their targets by round-off. */
static void substeps_before(sinew_solve *s, sinew_sweeping *w)
{
    const sinew_objective *o = s->objective;
    const int32_t substep = substep_of(s, w, w->done);
    if (w->done > 0 && substep == substep_of(s, w, w->done - 1))
        return;
    coast(s, w);
    for (int32_t i = 0; substep == w->parts.count - 1 && i < o->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; o->pinned[i] && c < 3; c++, at++)
            s->q[at] = o->q_tilde[at];
    start_sweeps(s, w);
}

static void substeps_after(sinew_solve *s, sinew_sweeping *w)
{
    if (substep_of(s, w, w->done) != substep_of(s, w, w->done - 1))
        end_part(s, w, 1);
}

const sinew_sweeping_time sinew_sweeping_substeps = {substeps_prepare, substeps_begin, substeps_before, substeps_after};

/* ---- Pseudo-time ----------------------------------------------------------------------------- */

static sinew_status pseudo_prepare(sinew_solve *s, sinew_sweeping *w, sinew_error *error)
{
    w->part_h = w->parts.h;
    return allocate_parts(s, w, error);
}

/* From rest, with pins at their places: s->q has them there. */
static void pseudo_begin(sinew_solve *s, sinew_sweeping *w)
{
    memcpy(w->q_last, s->q, vector_bytes(s));
    memset(w->v, 0, vector_bytes(s));
}

static void pseudo_before(sinew_solve *s, sinew_sweeping *w)
{
    if (w->done % w->parts.sweeps != 0)
        return;
    coast(s, w);
    start_sweeps(s, w);
}

static void pseudo_after(sinew_solve *s, sinew_sweeping *w)
{
    if (w->done % w->parts.sweeps == 0)
        end_part(s, w, w->parts.keep);
}

const sinew_sweeping_time sinew_sweeping_pseudo = {pseudo_prepare, pseudo_begin, pseudo_before, pseudo_after};
