/* SPDX-License-Identifier: MIT
 *
 * untangle_calm.c: bounds the kinetic energy of bodies after a step in which untangling displaced vertices (patches,
 * untangle_patches.c).
 *
 * Displacing vertices of a body stores elastic energy, which the step turns into motion. At the end of a step with
 * displaced patches, the kinetic energy of each body, displaced or not, may exceed that of the start of the step by the
 * work of external forces at most,
 *
 *     E_kin <= E_kin,0 + max(0, h sum f_ext.v);
 *
 * else velocities relative to their mean are scaled down, which keeps linear momentum, and then the mean.
 */
#include <math.h>

#include "contact/contact.h"

/* Sums over the free particles of one body: mass, momentum, kinetic energies now and at the start of the step, work
 * of external forces. */
typedef struct body_motion {
    double mass, momentum[3], kinetic, before, work;
} body_motion;

static body_motion body_motion_of(const sinew_contact_view *view, const sinew_contact_body *body)
{
    body_motion m = {0};
    for (int32_t i = body->start; i < body->start + body->count; i++) {
        const double mass = view->pinned[i] ? 0 : (double)view->mass[i];
        m.mass += mass;
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)i + k;
            const double v = (double)view->v[at], v_before = (double)view->contact->v_step_start[at];
            m.momentum[k] += mass * v;
            m.kinetic += mass * v * v / 2;
            m.before += mass * v_before * v_before / 2;
            m.work += view->pinned[i] ? 0 : (double)view->f_ext[at] * v * view->time_step;
        }
    }
    return m;
}

static void limit_body_energy(const sinew_contact_view *view, const sinew_contact_body *body)
{
    const body_motion m = body_motion_of(view, body);
    const double limit = m.before + fmax(0, m.work);
    double mean = 0;
    if (!(m.kinetic > limit) || !(m.mass > 0))
        return;
    for (int k = 0; k < 3; k++)
        mean += m.momentum[k] * m.momentum[k] / (2 * m.mass);
    const double relative = m.kinetic - mean;
    const double scale = mean < limit && relative > 0 ? sqrt((limit - mean) / relative) : 0,
                 scale_mean = mean > limit ? sqrt(limit / mean) : 1;
    for (int32_t i = body->start; i < body->start + body->count; i++)
        for (size_t k = 0; !view->pinned[i] && k < 3; k++) {
            sinew_real *v = &view->v[4 * (size_t)i + k];
            const double centre = m.momentum[k] / m.mass;
            *v = (sinew_real)(scale_mean * centre + scale * ((double)*v - centre));
        }
}

void sinew_contact_calm_patches(const sinew_contact_view *view)
{
    for (int32_t b = 0; view->contact->patched && b < view->body_count; b++)
        if (view->bodies[b].mesh)
            limit_body_energy(view, &view->bodies[b]);
}
