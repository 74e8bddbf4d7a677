/* SPDX-License-Identifier: MIT
 *
 * explicit_step.c: velocities, forces and positions of an explicit time step. See explicit_step.h.
 */
#include "solve/explicit/explicit_step.h"

#include <math.h>

#include "base/reduce.h"

typedef struct explicit_step {
    sinew_real *v;         /* [particle_count][4] damped velocity w, then new velocity v+, m/s */
    sinew_real *imbalance; /* [particle_count][4] grad psi - f_ext, the unbalanced force in N; zero at pins */
} explicit_step;

sinew_status sinew_explicit_prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const size_t size = 4 * (size_t)o->particle_count;
    explicit_step *e = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *e);
    if (!e)
        return sinew_fail_memory(error, "the explicit step");
    e->v = sinew_allocate_zero(&o->allocator, size, sizeof *e->v);
    e->imbalance = sinew_allocate_zero(&o->allocator, size, sizeof *e->imbalance);
    return e->v && e->imbalance ? SINEW_OK : sinew_fail_memory(error, "the explicit step");
}

void sinew_explicit_release(sinew_solve *s)
{
    const sinew_allocator *allocator = &s->objective->allocator;
    explicit_step *e = s->memory;
    if (!e)
        return;
    sinew_release(allocator, e->v);
    sinew_release(allocator, e->imbalance);
    sinew_release(allocator, e);
    s->memory = NULL;
}

/* v = damped velocity w of particles first .. last - 1; at pins the velocity towards their targets */
static void damp_velocities(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const sinew_solve *s = context;
    const sinew_objective *o = s->objective;
    const explicit_step *e = s->memory;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++)
            e->v[at] = (sinew_real)(o->step.pinned[i] ? ((double)s->q[at] - (double)s->q_start[at]) / o->step.h
                                                      : o->step.v_kept * (double)o->step.v[at]);
}

void sinew_explicit_begin(sinew_solve *s)
{
    const sinew_objective *o = s->objective;
    sinew_over_particles(o->thread_count, o->particle_count, damp_velocities, s);
    s->v_end = ((const explicit_step *)s->memory)->v;
}

/* Moves the free particles first .. last - 1: q += h v. */
static void move_free_particles(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const sinew_solve *s = context;
    const sinew_objective *o = s->objective;
    const explicit_step *e = s->memory;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0, at = 4 * (size_t)i; !o->step.pinned[i] && c < 3; c++, at++)
            s->q[at] = (sinew_real)((double)s->q[at] + o->step.h * (double)e->v[at]);
}

/* Adds the forces of a step to velocities: v -= h M^-1 (grad psi - f_ext); the change is zero at pins. */
static void kick_velocities(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const sinew_solve *s = context;
    const sinew_objective *o = s->objective;
    const explicit_step *e = s->memory;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++)
            e->v[at] = (sinew_real)((double)e->v[at] - o->step.h * (double)e->imbalance[at] / (double)o->step.mass[i]);
}

uint32_t sinew_explicit_iterate(sinew_solve *s, bool new_velocity)
{
    const sinew_objective *o = s->objective;
    const explicit_step *e = s->memory;
    /* A copy of the objective struct that shares its elements and work space. Without inertia its gradient is minus the
     * force. */
    sinew_objective forces = *o;
    forces.step.quasistatic = true;
    sinew_objective_gradient(&forces, s->q, e->imbalance, NULL);
    if (!new_velocity)
        sinew_over_particles(o->thread_count, o->particle_count, move_free_particles, s);
    sinew_over_particles(o->thread_count, o->particle_count, kick_velocities, s);
    if (new_velocity)
        sinew_over_particles(o->thread_count, o->particle_count, move_free_particles, s);
    s->gradient_known = false;
    /* Velocities are checked because they may become non-finite one step before positions. */
    return isfinite(sinew_norm(e->v, o->particle_count, o->thread_count)) ? 0 : SINEW_STEP_NOT_FINITE;
}

double sinew_explicit_last_stable(sinew_stable_at *stable, double low, double high, double omega, double damping)
{
    for (double h = (low + high) / 2; h > low && h < high; h = (low + high) / 2)
        *(stable(h, omega, damping) ? &low : &high) = h;
    return low;
}
