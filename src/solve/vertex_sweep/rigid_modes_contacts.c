/* SPDX-License-Identifier: MIT
 *
 * rigid_modes_contacts.c: lists the contacts, links and clusters of components in contact, and reads contact data. See
 * rigid_modes_contacts.h.
 */
#include "solve/vertex_sweep/rigid_modes_contacts.h"

#include <string.h>

#include "base/sort_pairs.h"
#include "math/vec3.h"
#include "mesh/topology.h"
#include "objective/connected_components.h"

/* ---- Contacts and clusters of bodies --------------------------------------------------------- */

static bool rigid_contacts_reserve(sinew_rigid_contacts *t, size_t bodies, size_t contacts)
{
    const sinew_allocator *a = &t->objective->allocator;
    const size_t links = SINEW_RIGID_LINKS * contacts, max = bodies > links ? bodies : links;
    return sinew_reserve_spare(a, &t->bodies, &t->bodies_capacity, bodies, sizeof *t->bodies) &&
           sinew_reserve_spare(a, &t->cluster, &t->cluster_capacity, bodies, sizeof *t->cluster) &&
           sinew_reserve_spare(a, &t->contacts, &t->contacts_capacity, contacts, sizeof *t->contacts) &&
           sinew_reserve_spare(a, &t->particles, &t->particles_capacity, SINEW_CONTACT_VERTICES_WIDE * contacts,
                               sizeof *t->particles) &&
           sinew_reserve_spare(a, &t->numbers, &t->numbers_capacity, max, sizeof *t->numbers);
}

/* Finds the sides of a contact: the bodies of its vertices in descending order, each body once. */
static void rigid_contact_find_sides(sinew_rigid_contact *t, const int32_t *body_of)
{
    t->side_count = 0;
    for (int32_t below = INT32_MAX, next = 0; next >= 0; below = next) {
        next = -1;
        for (int a = 0; a < t->vertex_count; a++) {
            const int32_t body = body_of[t->particle[a]];
            next = body < below && body > next ? body : next;
        }
        if (next >= 0)
            t->sides[t->side_count++].body = next;
    }
    for (int a = 0; a < t->vertex_count; a++) {
        t->side_of[a] = -1;
        for (int32_t k = 0; k < t->side_count; k++)
            if (t->sides[k].body == body_of[t->particle[a]])
                t->side_of[a] = k;
    }
}

/* Adds the contacts of a batch that involve bodies, and joins these bodies to one cluster. */
static void rigid_contacts_add_batch(sinew_rigid_contacts *t, const sinew_batch *batch, const int32_t *body_of)
{
    const int32_t n = batch->ops->info.vertex_count;
    sinew_batch_list_particles(batch, t->particles);
    for (int32_t e = 0; e < batch->element_count; e++) {
        sinew_rigid_contact *contact = &t->contacts[t->contact_count];
        *contact = (sinew_rigid_contact){.batch = batch, .element = e, .vertex_count = n};
        memcpy(contact->particle, t->particles + n * (size_t)e, (size_t)n * sizeof *contact->particle);
        rigid_contact_find_sides(contact, body_of);
        for (int32_t k = 1; k < contact->side_count; k++) {
            const int32_t one = sinew_find_root(t->cluster, contact->sides[0].body);
            const int32_t two = sinew_find_root(t->cluster, contact->sides[k].body);
            t->cluster[one > two ? one : two] = one > two ? two : one;
        }
        t->contact_count += contact->side_count > 0;
    }
}

/* Numbers the clusters of touching bodies in the order of their first bodies. */
static void rigid_number_clusters(sinew_rigid_contacts *t)
{
    t->cluster_count = 0;
    for (int32_t b = 0; b < t->body_count; b++) {
        const int32_t root = sinew_find_root(t->cluster, b);
        t->numbers[b] = root == b ? t->cluster_count++ : t->numbers[root];
    }
    memcpy(t->cluster, t->numbers, (size_t)t->body_count * sizeof *t->cluster);
}

/* Sorts the indices of `count` bodies, contacts or links by cluster; t->numbers holds the cluster of each. Returns
 * false if out of memory. */
static bool rigid_sort_by_cluster(sinew_rigid_contacts *t, int32_t count, sinew_rigid_order *order)
{
    const sinew_allocator *a = &t->objective->allocator;
    if (!sinew_reserve_spare(a, &order->item, &order->item_capacity, (size_t)count, sizeof *order->item) ||
        !sinew_reserve_spare(a, &order->first, &order->first_capacity, (size_t)t->cluster_count + 1,
                             sizeof *order->first))
        return false;
    sinew_colour_groups(t->numbers, count, t->cluster_count, order->first, order->item);
    return true;
}

/* ---- Links: pairs of bodies in contact ------------------------------------------------------- */

/* Index, within a contact, of the link between its sides i > k. */
static int32_t link_index(int32_t i, int32_t k)
{
    return i * (i - 1) / 2 + k;
}

/* Writes a key (pair of bodies, contact and link) for each pair of sides of each contact, unless keys is NULL. Returns
 * their number. */
static size_t rigid_contacts_list_pairs(const sinew_rigid_contacts *t, sinew_pair *keys)
{
    size_t count = 0;
    for (int32_t k = 0; k < t->contact_count; k++)
        for (int32_t i = 1; i < t->contacts[k].side_count; i++)
            for (int32_t j = 0; j < i; j++, count++)
                if (keys)
                    keys[count] = (sinew_pair){sinew_pack(t->contacts[k].sides[i].body, t->contacts[k].sides[j].body),
                                               SINEW_RIGID_LINKS * (uint64_t)k + (uint64_t)link_index(i, j)};
    return count;
}

static bool rigid_contacts_find_links(sinew_rigid_contacts *t)
{
    const sinew_allocator *a = &t->objective->allocator;
    const size_t count = rigid_contacts_list_pairs(t, NULL);
    if (!sinew_reserve_spare(a, &t->keys, &t->keys_capacity, 2 * count, sizeof *t->keys) ||
        !sinew_reserve_spare(a, &t->links, &t->links_capacity, count, sizeof *t->links))
        return false;
    rigid_contacts_list_pairs(t, t->keys);
    sinew_sort_pairs(t->keys, count, t->keys + count);
    t->link_count = 0;
    for (size_t i = 0; i < count; i++) {
        const sinew_pair key = t->keys[i];
        if (i == 0 || key.major != t->keys[i - 1].major) {
            sinew_rigid_link *link = &t->links[t->link_count++];
            link->a = (int32_t)(key.major >> 32);
            link->b = (int32_t)(key.major & UINT32_MAX);
        }
        t->contacts[key.minor / SINEW_RIGID_LINKS].link[key.minor % SINEW_RIGID_LINKS] = t->link_count - 1;
    }
    return true;
}

/* ---- Bodies, contacts and links by cluster --------------------------------------------------- */

/* Sorts the indices of bodies, contacts and links by cluster. Returns false if out of memory. */
static bool rigid_sort_clusters(sinew_rigid_contacts *t)
{
    rigid_number_clusters(t);
    bool good = rigid_sort_by_cluster(t, t->body_count, &t->body_order) && rigid_contacts_find_links(t);
    for (int32_t k = 0; good && k < t->contact_count; k++)
        t->numbers[k] = t->cluster[t->contacts[k].sides[0].body];
    good = good && rigid_sort_by_cluster(t, t->contact_count, &t->contact_order);
    for (int32_t k = 0; good && k < t->link_count; k++)
        t->numbers[k] = t->cluster[t->links[k].a];
    return good && rigid_sort_by_cluster(t, t->link_count, &t->link_order);
}

bool sinew_rigid_contacts_list(sinew_rigid_contacts *t, const sinew_objective *o, int32_t body_count,
                               const int32_t *body_of)
{
    size_t max = 0;
    t->objective = o;
    t->body_count = t->contact_count = t->link_count = t->cluster_count = 0;
    if (body_count == 0)
        return true;
    for (int32_t k = o->fixed_task_count; k < o->task_count; k++)
        max += sinew_task_begins_contacts(o, k) ? (size_t)o->tasks[k].batch->element_count : 0;
    if (!rigid_contacts_reserve(t, (size_t)body_count, max))
        return false;
    t->body_count = body_count;
    for (int32_t b = 0; b < body_count; b++)
        t->cluster[b] = b;
    for (int32_t k = o->fixed_task_count; k < o->task_count; k++)
        if (sinew_task_begins_contacts(o, k))
            rigid_contacts_add_batch(t, o->tasks[k].batch, body_of);
    return rigid_sort_clusters(t);
}

void sinew_rigid_contacts_destroy(sinew_rigid_contacts *t, const sinew_allocator *allocator)
{
    sinew_rigid_order *orders[] = {&t->body_order, &t->contact_order, &t->link_order};
    void *arrays[] = {t->bodies, t->contacts, t->links, t->cluster, t->particles, t->numbers, t->keys};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    for (size_t k = 0; k < sizeof orders / sizeof orders[0]; k++) {
        sinew_release(allocator, orders[k]->item);
        sinew_release(allocator, orders[k]->first);
    }
    *t = (sinew_rigid_contacts){0};
}

/* ---- Rigid moves of clusters ----------------------------------------------------------------- */

/* Reads the data of a contact, and computes its point z and the contributions of its sides. */
static void rigid_contact_gather(const sinew_rigid_contacts *all, sinew_rigid_contact *t, const sinew_real *q)
{
    sinew_real data[SINEW_CONTACT_DATA_COUNT_WIDE];
    sinew_batch_element(t->batch, t->element, data);
    t->r = (double)data[SINEW_CONTACT_OFFSET];
    t->lambda = (double)data[SINEW_CONTACT_LAMBDA];
    t->kn = (double)data[SINEW_CONTACT_KN];
    t->kt = (double)data[SINEW_CONTACT_KT];
    t->limit = t->kt > 0 ? (double)data[SINEW_CONTACT_LIMIT] : 0;
    for (int i = 0; i < 3; i++) {
        t->n[i] = (double)data[SINEW_CONTACT_NORMAL + i];
        t->anchor[i] = (double)data[SINEW_CONTACT_ANCHOR + i];
        t->z[i] = 0;
    }
    double arm[3] = {0, 0, 0};
    for (int32_t k = 0; k < t->side_count; k++)
        t->sides[k] = (sinew_rigid_side){.body = t->sides[k].body};
    for (int a = 0; a < t->vertex_count; a++) {
        sinew_rigid_side *side = t->side_of[a] < 0 ? NULL : &t->sides[t->side_of[a]];
        const double w = (double)data[SINEW_CONTACT_WEIGHTS + a];
        const double d =
            t->vertex_count > SINEW_CONTACT_VERTICES ? (double)data[SINEW_CONTACT_WEIGHTS + t->vertex_count + a] : 0;
        if (side)
            side->w += w;
        for (size_t i = 0; i < 3; i++) {
            const double x = (double)q[SINEW_POINT * (size_t)t->particle[a] + i];
            t->z[i] += w * x;
            arm[i] += d * x;
            if (side) {
                side->p[i] += w * (x - all->bodies[side->body].centre[i]);
                side->lever[i] += d * x;
            }
        }
    }
    vec3_add_across(t->n, arm, t->z);
}

void sinew_rigid_contacts_solve(const sinew_rigid_contacts *t, const sinew_real *q)
{
    for (int32_t b = 0; b < t->body_count; b++) {
        memset(t->bodies[b].turn, 0, sizeof t->bodies[b].turn);
        memset(t->bodies[b].shift, 0, sizeof t->bodies[b].shift);
    }
    for (int32_t k = 0; k < t->contact_count; k++)
        rigid_contact_gather(t, &t->contacts[k], q);
    for (int32_t k = 0; k < t->cluster_count; k++)
        sinew_rigid_move_cluster(t, k);
}
