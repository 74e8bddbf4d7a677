/* SPDX-License-Identifier: MIT
 *
 * offset_limits.c: contacts that keep less than their offset.
 *
 *     rising    the sides touched (touching.c): the offset grows from the distance at the start of each step
 *     yielded   there is no room for the offset (no_room.c), as between pads nearer than the thickness, and the
 *               violation does not fall. The offset becomes the present distance, and the multiplier is limited.
 *               A yielded offset grows only with the distance, while the contact bears no force: if it grew by itself,
 *               one side of a squeezed sheet would take the room of the other, and the sheet would gain energy
 *               (test_yield)
 *
 * Each multiplier update adds k_n times the violation to the multiplier. A contact that can move apart answers: k_n is
 * `stiffness` times the stiffness and inertia of its own vertices, so its violation falls by a fraction in each update.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "energy/contact_data.h"

/* Contacts nearer than this fraction of the offset have just been separated by touching.c, whose target is 2e-2:
 * their offset starts at the distance and grows. */
#define RISING_START 2.5e-2
/* Time in s over which the offset of separated contacts grows to its full value: a full offset at once would throw
 * the bodies apart. Chosen: boxes that start face to face gain no measurable speed (test_touching). */
#define RISING_TIME 0.2
/* A contact yields if its violation is above YIELD_MIN of the offset and does not fall to YIELD_FALL in YIELD_UPDATES
 * updates. The bit `contact` is set at 1e-2 (report.c). At `stiffness` = 1 a sheet with eight times the stiffness of
 * one of its vertices falls by 1/9 per update, to 0.39 in eight. */
#define YIELD_MIN     8e-3
#define YIELD_FALL    0.5
#define YIELD_UPDATES 8
/* Largest force after a yield over k_n times the distance, unless the force was larger before the count. Friction
 * relies on this force; at 1 it turns the contact of two parallel edges over: it pushes sidewards by force over
 * distance, and friction has the stiffness k_n (in test_yield, sheets at rest gained a third of their speed per
 * step). */
#define YIELD_FORCE 0.5
#define YIELD_FLOOR 1e-2 /* smallest yielded offset, as a fraction of the offset: the floor of the step filter */

/* False: a contact of an embedded surface, of a vertex inside a collider or of sides that overlap, which have rules of
 * their own. */
static bool contact_has_limits(const sinew_contact_constraint *t)
{
    return !(t->distance < 0) && !(t->initial_penetration > 0) && t->key >> 60 != SINEW_CONTACT_SKIN_COLLIDER;
}

/* Limits the offset of a contact of separated surfaces: in each step it grows from the distance at the start, by the
 * whole offset in RISING_TIME. Later passes keep the limit of the first. Quasistatic steps have no limit. */
static void contact_limit_rising(const sinew_contact_view *view, sinew_contact_constraint *t)
{
    const sinew_contact_work *c = view->contact;
    const bool first = c->first_pass;
    const double growth = t->offset * (double)view->time_step / RISING_TIME;
    /* Untangled surfaces may be at any distance below the offset, so all their new contacts count as separated. */
    const double start = c->untangled && !t->was_active ? 1 : RISING_START;
    const bool touched = first && c->separated && t->distance < start * t->offset;
    if (view->quasistatic || !(t->rising > 0 || touched)) {
        t->rising = 0;
        return;
    }
    t->rising = first || t->rising <= DBL_MIN ? t->distance + growth : t->rising;
    t->rising = t->rising < t->offset ? t->rising : 0;
    t->offset = t->rising > 0 ? t->rising : t->offset;
}

static void contact_limit_yielded(const sinew_contact_view *view, sinew_contact_constraint *t)
{
    if (!(t->yield.offset > 0))
        return;
    if (view->contact->first_pass && !t->was_active)
        t->yield.offset = fmax(t->yield.offset, t->distance);
    if (t->yield.offset >= t->asked)
        t->yield = (sinew_contact_yield){0};
    else
        t->offset = fmin(t->offset, t->yield.offset);
}

/* Records how much less than its offset a contact keeps, at each of its vertices. */
static void contact_record_reduction(sinew_contact_work *c, const sinew_contact_constraint *t)
{
    for (size_t a = 0; a < 4; a++)
        if ((double)t->w[a] != 0) {
            sinew_real *reduction = &c->offset_reduction[t->v[a]];
            *reduction = (sinew_real)fmax((double)*reduction, t->asked - t->offset);
        }
}

bool sinew_contact_clear_reductions(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const size_t n = (size_t)c->mesh.vertex_count;
    if (!sinew_reserve_spare(view->allocator, &c->offset_reduction, &c->offset_reduction_capacity, n,
                             sizeof *c->offset_reduction))
        return false;
    if (n > 0)
        memset(c->offset_reduction, 0, n * sizeof *c->offset_reduction);
    return true;
}

void sinew_contact_limit_offset(const sinew_contact_view *view, sinew_contact_constraint *t)
{
    if (!contact_has_limits(t)) {
        /* DBL_MIN marks both objects: while they overlap, their new contacts rise, too (collide/contact_list.c). */
        t->rising = view->contact->overlapping && t->distance < 0 && !view->quasistatic ? DBL_MIN : 0;
        t->yield = (sinew_contact_yield){0};
        return;
    }
    contact_limit_rising(view, t);
    contact_limit_yielded(view, t);
    if (t->offset < t->asked)
        contact_record_reduction(view->contact, t);
}

/* Counts a multiplier update of a contact with this violation (m). True: in more than YIELD_UPDATES updates, the
 * violation has not fallen to YIELD_FALL. */
static bool contact_violation_persists(sinew_contact_constraint *t, double violation)
{
    sinew_contact_yield *y = &t->yield;
    if (!(violation > YIELD_MIN * t->asked)) {
        *y = (sinew_contact_yield){.offset = y->offset};
        return false;
    }
    if (y->updates == 0 || violation < YIELD_FALL * y->violation)
        *y = (sinew_contact_yield){.offset = y->offset, .violation = violation, .lambda = t->lambda};
    return ++y->updates > YIELD_UPDATES;
}

/* True if neither side of a contact can retreat. Out of memory: false, and the contact does not yield. */
static bool contact_has_no_room(const sinew_contact_view *view, int32_t element, const sinew_real *q)
{
    sinew_contact_work *c = view->contact;
    if (!c->backed_known && !sinew_contact_find_backed(view, q))
        return false;
    c->backed_known = true;
    const size_t k = 2 * (size_t)c->contact_of[element];
    return c->backed[k] && c->backed[k + 1];
}

double sinew_contact_follow_yield(const sinew_contact_view *view, int32_t element, double force, const sinew_real *q)
{
    sinew_contact_work *c = view->contact;
    sinew_contact_constraint *t = &c->contacts.list[c->contact_of[element]];
    double u[3];
    const double violation = (sinew_contact_normal_force(c, element, q, u) - t->lambda) / t->kn;
    if (!contact_has_limits(t) || !contact_violation_persists(t, violation) || !contact_has_no_room(view, element, q))
        return force;
    const double left = fmax(t->offset - violation, YIELD_FLOOR * t->asked);
    const double kept = fmin(force, fmax(t->yield.lambda, YIELD_FORCE * t->kn * left));
    sinew_contact_element_data(c, element)[SINEW_CONTACT_OFFSET] -= (sinew_real)(t->offset - left);
    t->offset = left;
    t->yield = (sinew_contact_yield){.offset = left};
    contact_record_reduction(c, t);
    return kept;
}

void sinew_contact_follow_step(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    c->backed_known = false;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        if (t->force > 0)
            t->lambda = sinew_contact_follow_yield(view, e, t->lambda, view->q);
    }
}

void sinew_contact_report_yields(sinew_contact_work *c)
{
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        if (!(t->yield.offset > 0 && t->force > 0))
            continue;
        c->report.yielded++;
        c->report.yield_depth = fmax(c->report.yield_depth, t->asked - t->offset);
    }
}
