/* SPDX-License-Identifier: MIT
 *
 * vertex_impulses.c: changes of velocities after the solve, contact by contact: restitution of cloth, ropes and loose
 * particles, and Coulomb friction of the mode `half_space` (Bouaziz et al. 2014, section 6).
 *
 *     v_n' = e sqrt(v_n^2 + 2 a d)     where the root, the speed of impact, is above 2 g h
 *
 * v_n is the speed of approach at the start of the step, v_n' the speed of separation, e the coefficient of
 * restitution, a gravity along the normal, d the clearance at detection, g gravity, h the time step. A thin body has no
 * rigid motion that would rebound: each contact point rebounds, with the masses of its vertices. The energy that all
 * contacts of an island return is limited by what the island lost in the step (energy_budget.c). Solids and rigid
 * bodies: restitution.c.
 */
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "math/vec3.h"
#include "objective/connected_components.h"

/* Separation speed of the two sides of a contact along its normal, with particle velocities v [particle_count][4],
 * in m/s. The velocity of a collider is its displacement in the step over h. */
static double contact_separation_speed(const sinew_contact_view *view, const sinew_contact_constraint *t,
                                       const sinew_real *v, const sinew_real *x)
{
    const sinew_contact_support s = sinew_contact_support_of(view->contact, t);
    double body[3], collider[3], apart[3] = {0, 0, 0};
    sinew_contact_displacements(view, t, x, body, collider);
    sinew_contact_support_add(&s, v, apart);
    return vec3_dot(t->n, apart) + vec3_dot(t->n, collider) / (double)view->time_step;
}

/* Part of a contact's separation speed that impulses do not change: that of colliders and pinned vertices, in m/s. */
static double contact_prescribed_speed(const sinew_contact_view *view, const sinew_contact_constraint *t,
                                       const sinew_real *x)
{
    const sinew_contact_support s = sinew_contact_support_of(view->contact, t);
    double speed = contact_separation_speed(view, t, view->v, x);
    for (int k = 0; k < s.count; k++)
        for (size_t i = 0; !view->pinned[s.particle[k]] && i < 3; i++)
            speed -= s.weight[k] * t->n[i] * (double)view->v[4 * (size_t)s.particle[k] + i];
    return speed;
}

/* Effective mass 1 / sum w^2/m of a contact over its free vertices, in kg; 0: no free vertex. */
static double support_effective_mass(const sinew_contact_view *view, const sinew_contact_support *s)
{
    double sum = 0;
    for (int k = 0; k < s->count; k++)
        sum += view->pinned[s->particle[k]] ? 0 : s->weight[k] * s->weight[k] / (double)view->mass[s->particle[k]];
    return sum > 0 ? 1 / sum : 0;
}

/* Adds the velocities of an impulse along the unit vector n. */
static void support_apply_impulse(const sinew_contact_view *view, const sinew_contact_support *s, const double n[3],
                                  double impulse)
{
    for (int k = 0; k < s->count; k++) {
        const int32_t p = s->particle[k];
        for (size_t i = 0; !view->pinned[p] && i < 3; i++)
            view->v[4 * (size_t)p + i] += (sinew_real)(impulse * s->weight[k] / (double)view->mass[p] * n[i]);
    }
}

/* ---- Restitution ----------------------------------------------------------------------------- */

/* Approach speed at the moment of impact instead of the start of the step: v^2 = v_n^2 + 2 a d, with gravity a along
 * the normal and the clearance d at the last detection pass. v_old: velocities at the start of the step. */
static double contact_impact_speed(const sinew_contact_view *view, const sinew_contact_constraint *t,
                                   const sinew_real *v_old, const sinew_real *x)
{
    const double before = -contact_separation_speed(view, t, v_old, x), left = fmax(0, t->distance - t->offset);
    return before > 0 ? sqrt(fmax(0, before * before - 2 * vec3_dot(view->gravity, t->n) * left)) : 0;
}

/* Impulse of restitution of a contact, in N s; 0: none. */
static double contact_rebound(const sinew_contact_view *view, const sinew_contact_constraint *t, const sinew_real *x)
{
    const sinew_contact_work *c = view->contact;
    const double e = fmax(c->mesh.objects[t->first].restitution, c->mesh.objects[t->second].restitution);
    const sinew_contact_support s = sinew_contact_support_of(c, t);
    const double mass = support_effective_mass(view, &s);
    if (!(e > 0) || !(t->force > 0) || !(mass > 0) || sinew_contact_is_at_body_level(view, t))
        return 0;
    const double approach = contact_impact_speed(view, t, c->v_step_start, x);
    const double separation = contact_separation_speed(view, t, view->v, x);
    const double least = SINEW_REBOUND_SPEED * vec3_norm(view->gravity) * (double)view->time_step;
    return approach > least && separation < e * approach ? mass * (e * approach - separation) : 0;
}

/* Island (bodies that contacts or energies join) to which a contact belongs. */
static int32_t contact_island(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    const int32_t first = c->mesh.objects[t->first].body, second = c->mesh.objects[t->second].body;
    return c->restitution.island[first >= 0 ? first : second];
}

/* Scales the change of velocities since v_before so that no island gains more energy than it has lost, and subtracts
 * the gain from the loss. */
static void limit_rebounds(const sinew_contact_view *view, const sinew_real *v_before)
{
    sinew_restitution *r = &view->contact->restitution;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t b = 0; b < view->body_count; b++) {
            const sinew_contact_body *body = &view->bodies[b];
            const int32_t root = r->island[b];
            const double s = pass == 1 ? sinew_budget_scale(r->linear[root], r->square[root], r->loss[root]) : 1;
            for (int32_t i = body->start; body->mesh && i < body->start + body->count; i++)
                for (size_t k = 4 * (size_t)i; k < 4 * (size_t)i + 3; k++) {
                    const double change = (double)view->v[k] - (double)v_before[k];
                    r->linear[root] += pass == 0 ? (double)view->mass[i] * (double)v_before[k] * change : 0;
                    r->square[root] += pass == 0 ? (double)view->mass[i] * change * change / 2 : 0;
                    view->v[k] = s < 1 ? (sinew_real)((double)v_before[k] + s * change) : view->v[k];
                }
        }
    for (int32_t b = 0; b < view->body_count; b++) {
        const double s = sinew_budget_scale(r->linear[b], r->square[b], r->loss[b]);
        const double used = s * (r->linear[b] + s * r->square[b]);
        r->loss[b] -= used;
        view->contact->report.restitution_work += used;
    }
}

void sinew_contact_vertex_restitution(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_contact_work *c = view->contact;
    sinew_restitution *r = &c->restitution;
    sinew_real *v_before = c->guess; /* work space: the first guess of the step is no longer needed */
    bool any = false;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        const double impulse = contact_rebound(view, t, x);
        if (!(impulse > 0))
            continue;
        if (!any) {
            memcpy(v_before, view->v, 4 * (size_t)view->particle_count * sizeof *v_before);
            memset(r->linear, 0, (size_t)view->body_count * sizeof *r->linear);
            memset(r->square, 0, (size_t)view->body_count * sizeof *r->square);
        }
        any = true;
        r->linear[contact_island(c, t)] += impulse * contact_prescribed_speed(view, t, x);
        const sinew_contact_support s = sinew_contact_support_of(c, t);
        support_apply_impulse(view, &s, t->n, impulse);
        if (sinew_contact_is_between_bodies(c, t))
            sinew_contact_add_couple(c, t, x, t->n, impulse);
    }
    if (any)
        limit_rebounds(view, v_before);
}

/* ---- Friction on velocities ------------------------------------------------------------------ */

void sinew_contact_velocity_friction(const sinew_contact_view *view, const sinew_real *x)
{
    const sinew_contact_work *c = view->contact;
    const double h = (double)view->time_step;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        sinew_contact_support s = sinew_contact_support_of(c, t);
        for (int i = 0; i < s.count; i++)
            s.weight[i] += s.lever[i]; /* friction acts on the surface of rigid spheres and capsules */
        const double mass = support_effective_mass(view, &s);
        double slide[3], body[3], collider[3];
        if (!(t->force > 0) || !(mass > 0) || t->mu <= 0)
            continue;
        sinew_contact_displacements(view, t, x, body, collider);
        for (int i = 0; i < 3; i++)
            slide[i] = collider[i] / h;
        sinew_contact_support_add(&s, view->v, slide);
        const double along = vec3_dot(slide, t->n);
        for (int i = 0; i < 3; i++)
            slide[i] -= along * t->n[i];
        const double speed = vec3_norm(slide), max = t->mu * t->force * h / mass;
        for (int i = 0; i < 3; i++)
            slide[i] *= speed > 0 ? 1 / speed : 0;
        support_apply_impulse(view, &s, slide, -mass * fmin(speed, max));
    }
}
