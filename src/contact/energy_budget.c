/* SPDX-License-Identifier: MIT
 *
 * energy_budget.c: the energy that bodies lose in a step, which restitution may return.
 *
 *     L = k^2 E_kin(v_n) + E_el(q_n) + f.(q - q_n) + W - heat - E_kin(v) - E_el(q)
 *
 * for each island, which is a set of bodies that contacts with a force, or elements of one energy, join. k v_n is the
 * damped velocity of the step, E_el the energy of all elements but contacts and hard ones, with the targets of the
 * step, f the external forces, W the work of moving colliders, heat the work of friction. L contains the loss of
 * implicit Euler, which damps impacts, and what the solver left; it is negative where the step gained energy.
 *
 * Known limits: the work of moving pins and of drives (motors) is not part of L.
 */
#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "math/vec3.h"
#include "objective/connected_components.h"

bool sinew_budget_reserve(const sinew_contact_view *view)
{
    const sinew_allocator *m = view->allocator;
    sinew_restitution *r = &view->contact->restitution;
    const size_t n = (size_t)view->body_count;
    return sinew_reserve(m, &r->energy, &r->energy_capacity, n, sizeof *r->energy) &&
           sinew_reserve(m, &r->loss, &r->loss_capacity, n, sizeof *r->loss) &&
           sinew_reserve(m, &r->linear, &r->linear_capacity, n, sizeof *r->linear) &&
           sinew_reserve(m, &r->square, &r->square_capacity, n, sizeof *r->square) &&
           sinew_reserve(m, &r->island, &r->island_capacity, n, sizeof *r->island) &&
           sinew_reserve(m, &r->q_start, &r->q_start_capacity, 4 * (size_t)view->particle_count, sizeof *r->q_start);
}

static int32_t body_of(const sinew_restitution *r, int32_t particle)
{
    return r->piece_body[r->piece[particle]];
}

/* The objective without contacts and hard energies. */
static sinew_objective elastic_objective(const sinew_contact_view *view)
{
    sinew_objective o = *view->objective;
    o.omit_hard = true;
    while (o.task_count > o.fixed_task_count && o.tasks[o.task_count - 1].batch->ops->contact)
        o.task_count--;
    return o;
}

/* Adds `factor` times the kinetic energy (times `kept`) and the elastic energy at q to `sum`, by slots of bodies. */
static void budget_add_energy(const sinew_contact_view *view, double factor, double kept, double *sum)
{
    const sinew_restitution *r = &view->contact->restitution;
    for (int32_t b = 0; b < view->body_count; b++) {
        const sinew_contact_body *body = &view->bodies[b];
        double twice = 0;
        for (int32_t i = body->start; body->mesh && i < body->start + body->count; i++)
            for (size_t k = 4 * (size_t)i; k < 4 * (size_t)i + 3; k++)
                twice += (double)view->mass[i] * (double)view->v[k] * (double)view->v[k];
        sum[b] += factor * kept * twice / 2;
    }
    sinew_objective o = elastic_objective(view);
    sinew_objective_elastic(&o, view->q);
    for (int32_t t = 0; t < o.task_count; t++)
        if (o.tasks[t].chunk->slot_count > 0)
            sum[body_of(r, o.tasks[t].batch->particle[o.tasks[t].chunk->first_slot])] += factor * o.task_values[t];
}

void sinew_budget_begin(const sinew_contact_view *view)
{
    sinew_restitution *r = &view->contact->restitution;
    const double kept = view->objective->step.v_kept;
    memset(r->energy, 0, (size_t)view->body_count * sizeof *r->energy);
    memcpy(r->q_start, view->q, 4 * (size_t)view->particle_count * sizeof *r->q_start);
    budget_add_energy(view, 1, kept * kept, r->energy);
}

/* ---- Islands --------------------------------------------------------------------------------- */

static void islands_join(sinew_restitution *r, int32_t a, int32_t b)
{
    const int32_t first = sinew_find_root(r->island, a), second = sinew_find_root(r->island, b);
    r->island[first > second ? first : second] = first < second ? first : second;
}

static void islands_find(const sinew_contact_view *view)
{
    const sinew_contact_work *c = view->contact;
    sinew_restitution *r = &view->contact->restitution;
    const sinew_objective o = elastic_objective(view);
    for (int32_t b = 0; b < view->body_count; b++)
        r->island[b] = b;
    for (int32_t t = 0; t < o.task_count; t++) {
        const int32_t *particle = o.tasks[t].batch->particle + o.tasks[t].chunk->first_slot;
        for (int32_t i = 1; i < o.tasks[t].chunk->slot_count; i++)
            islands_join(r, body_of(r, particle[0]), body_of(r, particle[i]));
    }
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        const int32_t a = c->mesh.objects[t->first].body, b = c->mesh.objects[t->second].body;
        if (t->force > 0 && a >= 0 && b >= 0)
            islands_join(r, a, b);
    }
    for (int32_t b = 0; b < view->body_count; b++)
        r->island[b] = sinew_find_root(r->island, b);
}

/* ---- Losses ---------------------------------------------------------------------------------- */

void sinew_contact_displacements(const sinew_contact_view *view, const sinew_contact_constraint *t, const sinew_real *x,
                                 double body[3], double collider[3])
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_object *second = &c->mesh.objects[t->second];
    double from[3] = {0, 0, 0}, to[3] = {0, 0, 0}, arm[3], normal[3];
    if (second->kinematic && second->vertex_count == 0) {
        sinew_contact_plane(view, t->second, 0, from, normal);
        sinew_contact_plane(view, t->second, c->fraction[t->second], to, normal);
    } else if (t->key >> 60 == SINEW_CONTACT_SKIN_COLLIDER) {
        sinew_contact_skin_target(c, t, c->x_step_start, from);
        sinew_contact_skin_target(c, t, x, to);
    }
    for (size_t i = 0; i < 3; i++) {
        body[i] = 0;
        collider[i] = from[i] - to[i];
        for (int a = 0; a < 4; a++) {
            const size_t at = 4 * (size_t)t->v[a] + i;
            const double moved = (double)t->w[a] * ((double)x[at] - (double)c->x_step_start[at]);
            *(t->v[a] < c->mesh.moved_count ? &body[i] : &collider[i]) += moved;
        }
        arm[i] = 0;
    }
    sinew_contact_add_levers(c, t, x, 1, arm);
    sinew_contact_add_levers(c, t, c->x_step_start, -1, arm);
    vec3_add_across(t->n, arm, body);
}

/* Adds the work of moving colliders to the losses, and subtracts friction heat. */
static void budget_add_contacts(const sinew_contact_view *view, const sinew_real *x)
{
    const sinew_contact_work *c = view->contact;
    sinew_restitution *r = &view->contact->restitution;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        const int32_t first = c->mesh.objects[t->first].body, second = c->mesh.objects[t->second].body;
        double body[3], collider[3], work = 0, rubbed = 0;
        if (!(t->force > 0))
            continue;
        sinew_contact_displacements(view, t, x, body, collider);
        for (int i = 0; i < 3; i++) {
            work -= (t->force * t->n[i] + t->friction[i]) * collider[i];
            rubbed -= t->friction[i] * (body[i] + collider[i]);
        }
        r->loss[first >= 0 ? first : second] += work - fmax(0, rubbed);
    }
}

void sinew_budget_find_losses(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_restitution *r = &view->contact->restitution;
    memcpy(r->loss, r->energy, (size_t)view->body_count * sizeof *r->loss);
    budget_add_energy(view, -1, 1, r->loss);
    for (int32_t b = 0; b < view->body_count; b++) {
        const sinew_contact_body *body = &view->bodies[b];
        for (int32_t i = body->start; body->mesh && i < body->start + body->count; i++)
            for (size_t k = 4 * (size_t)i; k < 4 * (size_t)i + 3; k++)
                r->loss[b] += (double)view->f_ext[k] * ((double)view->q[k] - (double)r->q_start[k]);
    }
    budget_add_contacts(view, x);
    islands_find(view);
    for (int32_t b = view->body_count - 1; b >= 0; b--)
        if (r->island[b] != b) {
            r->loss[r->island[b]] += r->loss[b];
            r->loss[b] = 0;
        }
}

double sinew_budget_scale(double linear, double square, double budget)
{
    const double most = fmax(0, budget);
    if (linear + square <= most)
        return 1;
    /* The larger root of square s^2 + linear s = most, in the form without cancellation. */
    const double root = sqrt(fmax(0, linear * linear + 4 * square * most));
    const double s = linear > 0 ? 2 * most / (linear + root) : square > 0 ? (root - linear) / (2 * square) : 0;
    return fmin(1, fmax(0, s));
}
