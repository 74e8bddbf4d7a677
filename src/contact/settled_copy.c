/* SPDX-License-Identifier: MIT
 *
 * settled_copy.c: multiplier updates for the estimate of the position error (solve/driver/objective_gap.h). The
 * estimate continues a step on a copy of the positions until multipliers and friction limits have converged on the
 * contacts of the last detection pass. Contact data are saved before and restored after, bit by bit.
 */
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "energy/contact_data.h"

static size_t element_data_size(const sinew_contact_work *c)
{
    return (size_t)c->narrow_count * SINEW_CONTACT_DATA_COUNT +
           (size_t)(c->element_count - c->narrow_count) * SINEW_CONTACT_DATA_COUNT_WIDE;
}

/* The batch of contacts of up to four particles (0) or up to eight (1); NULL: it has no elements in this step. */
static sinew_batch *contact_batch(const sinew_contact_work *c, int which)
{
    if (which == 0)
        return c->narrow_count > 0 ? c->batch : NULL;
    return c->element_count > c->narrow_count ? c->wide_batch : NULL;
}

static size_t batch_data_size(const sinew_batch *batch)
{
    return batch ? (size_t)batch->group_count * (size_t)batch->ops->data_count * (size_t)batch->width : 0;
}

/* Saves the list of contacts, the parameters of contact elements and the data of their batches. False: out of
 * memory. */
static bool settled_save_contacts(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const size_t contacts = (size_t)c->contacts.count, numbers = element_data_size(c);
    const size_t in_batches = batch_data_size(contact_batch(c, 0)) + batch_data_size(contact_batch(c, 1));
    if (!sinew_reserve_spare(view->allocator, &c->saved_list, &c->saved_list_capacity, contacts,
                             sizeof *c->saved_list) ||
        !sinew_reserve_spare(view->allocator, &c->saved_data, &c->saved_data_capacity, numbers + in_batches,
                             sizeof *c->saved_data))
        return false;
    memcpy(c->saved_list, c->contacts.list, contacts * sizeof *c->saved_list);
    memcpy(c->saved_data, c->data, numbers * sizeof *c->saved_data);
    sinew_real *to = c->saved_data + numbers;
    for (int which = 0; which < 2; which++) {
        const sinew_batch *batch = contact_batch(c, which);
        if (!batch)
            continue;
        memcpy(to, batch->data, batch_data_size(batch) * sizeof *to);
        to += batch_data_size(batch);
        c->saved_version[which] = batch->version;
        c->saved_form_version[which] = batch->form_version;
    }
    return true;
}

/* Takes over the multipliers of a solver that keeps its own (XPBD): its positions include their impulses. The anchors
 * of friction get the stretch of the friction springs, which such a solver stores as a force. Returns false if the
 * solver keeps no multipliers. */
static bool settled_adopt_multipliers(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    if (!sinew_contact_own_forces(view, c->solver_multipliers))
        return false;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        sinew_real *data = sinew_contact_element_data(c, e);
        t->lambda = t->lagged_normal_force = fmax(0, (double)c->solver_multipliers[4 * (size_t)e]);
        for (int i = 0; t->kt > 0 && i < 3; i++)
            data[SINEW_CONTACT_ANCHOR + i] -= (sinew_real)(t->tangent[i] / t->kt);
    }
    sinew_contact_write_numbers(c);
    return true;
}

const char *sinew_contact_settle_begin(void *context, bool *multipliers, bool *adopted)
{
    const sinew_contact_view *view = context;
    sinew_contact_work *c = view->contact;
    const sinew_contact_mode_ops *mode = sinew_contact_mode_get(c->def.mode);
    *multipliers = *adopted = false;
    if (mode->filter)
        return "contact: the mode moves vertices after every iteration";
    if (sinew_contact_is_filtered(c) && c->truncated_count > 0)
        return "contact: the step filter truncated the step";
    for (int32_t o = 0; sinew_contact_is_filtered(c) && o < c->mesh.object_count; o++)
        if (c->mesh.objects[o].kinematic && c->fraction[o] < 1)
            return "contact: the step filter truncated the motion of a collider";
    if (!mode->multipliers || c->element_count == 0)
        return NULL;
    if (!settled_save_contacts(view))
        return "contact: there is too little memory for it";
    *multipliers = true;
    *adopted = settled_adopt_multipliers(view);
    return NULL;
}

void sinew_contact_settle_update(void *context, const sinew_real *q)
{
    const sinew_contact_view *view = context;
    sinew_contact_work *c = view->contact;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        double u[3];
        t->lambda = t->lagged_normal_force = sinew_contact_normal_force(c, e, q, u);
    }
    sinew_contact_relax_round(view, q, true);
    sinew_contact_write_numbers(c);
}

void sinew_contact_settle_end(void *context)
{
    const sinew_contact_view *view = context;
    sinew_contact_work *c = view->contact;
    memcpy(c->contacts.list, c->saved_list, (size_t)c->contacts.count * sizeof *c->saved_list);
    memcpy(c->data, c->saved_data, element_data_size(c) * sizeof *c->saved_data);
    const sinew_real *from = c->saved_data + element_data_size(c);
    for (int which = 0; which < 2; which++) {
        sinew_batch *batch = contact_batch(c, which);
        if (!batch)
            continue;
        memcpy(batch->data, from, batch_data_size(batch) * sizeof *from);
        from += batch_data_size(batch);
        batch->version = c->saved_version[which];
        batch->form_version = c->saved_form_version[which];
    }
}
