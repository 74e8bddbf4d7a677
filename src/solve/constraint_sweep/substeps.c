/* SPDX-License-Identifier: MIT
 *
 * substeps.c: three kinds of substeps (pbd_common.h): none, substeps of a step, and the pseudo-time of quasistatic
 * steps. Each is a table of operations around the sweeps.
 */
#include <string.h>

#include "solve/constraint_sweep/pbd_common.h"

static size_t vector_bytes(const sinew_solve *s)
{
    return 4 * (size_t)s->objective->particle_count * sizeof *s->q;
}

/* ---- Scheme of steps without substeps -------------------------------------------------------- */

static sinew_status full_step_prepare(sinew_solve *s, sinew_pbd *w, sinew_error *error)
{
    (void)error;
    w->substep_h = s->objective->step.h;
    return SINEW_OK;
}

static void full_step_begin(sinew_solve *s, sinew_pbd *w)
{
    memcpy(s->q, s->objective->step.q_tilde, vector_bytes(s));
    s->gradient_known = false;
    sinew_pbd_start(s, w);
}

static void full_step_nothing(sinew_solve *s, sinew_pbd *w)
{
    (void)s;
    (void)w;
}

const sinew_pbd_time sinew_pbd_without_substeps = {full_step_prepare, full_step_begin, full_step_nothing,
                                                   full_step_nothing};

/* ---- Common to substeps and pseudo-time ------------------------------------------------------ */

/* Allocates the vectors v and q_last of a substep on the first call and keeps them. */
static sinew_status allocate_substeps(const sinew_solve *s, sinew_pbd *w, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    w->v = w->v ? w->v : sinew_allocate_zero(&o->allocator, size, sizeof *w->v);
    w->q_last = w->q_last ? w->q_last : sinew_allocate_zero(&o->allocator, size, sizeof *w->q_last);
    return w->v && w->q_last ? SINEW_OK : sinew_fail_memory(error, "the substeps");
}

/* Moves s->q to the predicted positions of a substep: stores the end of the last substep in q_last and moves q from
 * there by inertia and external forces alone; pins continue with their velocities. */
static void predict_substep(sinew_solve *s, sinew_pbd *w)
{
    const sinew_objective *o = s->objective;
    const double h = w->substep_h;
    if (w->sweep_count > 0)
        memcpy(w->q_last, s->q, vector_bytes(s));
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double push = o->step.pinned[i] ? 0 : h * (double)o->step.force[at] / (double)o->step.mass[i];
            s->q[at] = (sinew_real)((double)w->q_last[at] + h * ((double)w->v[at] + push));
        }
}

static void start_sweeps(const sinew_solve *s, sinew_pbd *w)
{
    if (w->how.damping > 0)
        w->how.x_old = w->q_last;
    sinew_pbd_start(s, w);
}

/* Copies the swept positions to s->q and sets the velocity at the end of a substep: v = keep (q - q_last) / h. */
static void end_substep(sinew_solve *s, sinew_pbd *w, double keep)
{
    sinew_pbd_flush(s);
    for (size_t i = 0; i < 4 * (size_t)s->objective->particle_count; i++)
        w->v[i] = (sinew_real)(((double)s->q[i] - (double)w->q_last[i]) / w->substep_h * keep);
}

/* ---- Substeps in real time ------------------------------------------------------------------- */

/* Prepares substeps in real time. Sets the tolerance and the time budget of s->def to zero: a step ends after its last
 * substep only. */
static sinew_status substeps_prepare(sinew_solve *s, sinew_pbd *w, sinew_error *error)
{
    if (w->options.count > s->def.iterations)
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "solver %s: substeps is %d but iterations is %d: every substep needs a sweep; raise iterations",
            s->ops->info.name, w->options.count, s->def.iterations);
    s->def.tolerance = 0;
    s->def.time_budget = 0;
    w->substep_h = s->objective->step.h / w->options.count;
    return allocate_substeps(s, w, error);
}

/* Velocity of the first substep: v = (q_tilde - q_n) / h - h M^-1 f, the damped v_n; at pins the velocity towards their
 * targets. */
static void set_first_velocity(const sinew_solve *s, sinew_real *v)
{
    const sinew_objective *o = s->objective;
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++) {
            const double motion = ((double)o->step.q_tilde[at] - (double)s->q_start[at]) / o->step.h;
            const double push = o->step.pinned[i] ? 0 : o->step.h * (double)o->step.force[at] / (double)o->step.mass[i];
            v[at] = (sinew_real)(motion - push);
        }
}

static void substeps_begin(sinew_solve *s, sinew_pbd *w)
{
    memcpy(w->q_last, s->q_start, vector_bytes(s));
    set_first_velocity(s, w->v);
    s->v_end = w->v;
}

/* Index of the substep that a sweep belongs to: iterations are distributed evenly over substeps. */
static int32_t substep_of(const sinew_solve *s, const sinew_pbd *w, int32_t sweep)
{
    return (int32_t)((int64_t)sweep * w->options.count / s->def.iterations);
}

/* Begins a substep before its first sweep. The last substep sets pins to their targets exactly: extrapolated positions
 * would miss them by round-off. */
static void substeps_before_sweep(sinew_solve *s, sinew_pbd *w)
{
    const sinew_objective *o = s->objective;
    const int32_t substep = substep_of(s, w, w->sweep_count);
    if (w->sweep_count > 0 && substep == substep_of(s, w, w->sweep_count - 1))
        return;
    predict_substep(s, w);
    for (int32_t i = 0; substep == w->options.count - 1 && i < o->particle_count; i++)
        for (size_t c = 0, at = 4 * (size_t)i; o->step.pinned[i] && c < 3; c++, at++)
            s->q[at] = o->step.q_tilde[at];
    start_sweeps(s, w);
}

static void substeps_after_sweep(sinew_solve *s, sinew_pbd *w)
{
    if (substep_of(s, w, w->sweep_count) != substep_of(s, w, w->sweep_count - 1))
        end_substep(s, w, 1);
}

const sinew_pbd_time sinew_pbd_substeps = {substeps_prepare, substeps_begin, substeps_before_sweep,
                                           substeps_after_sweep};

/* ---- Pseudo-time of quasistatic steps -------------------------------------------------------- */

static sinew_status pseudo_time_prepare(sinew_solve *s, sinew_pbd *w, sinew_error *error)
{
    w->substep_h = w->options.h;
    return allocate_substeps(s, w, error);
}

/* Starts a quasistatic step in pseudo-time from rest, with pins at their targets in s->q. */
static void pseudo_time_begin(sinew_solve *s, sinew_pbd *w)
{
    memcpy(w->q_last, s->q, vector_bytes(s));
    memset(w->v, 0, vector_bytes(s));
}

static void pseudo_time_before_sweep(sinew_solve *s, sinew_pbd *w)
{
    if (w->sweep_count % w->options.sweeps != 0)
        return;
    predict_substep(s, w);
    start_sweeps(s, w);
}

static void pseudo_time_after_sweep(sinew_solve *s, sinew_pbd *w)
{
    if (w->sweep_count % w->options.sweeps == 0)
        end_substep(s, w, w->options.keep);
}

const sinew_pbd_time sinew_pbd_pseudo = {pseudo_time_prepare, pseudo_time_begin, pseudo_time_before_sweep,
                                         pseudo_time_after_sweep};
