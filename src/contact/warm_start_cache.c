/* SPDX-License-Identifier: MIT
 *
 * warm_start_cache.c: the contact cache: keeps contacts when the collision mesh is rebuilt. States store the same
 * entries.
 *
 * Features may get new numbers when a body or a collider is added, removed or changed. Before a rebuild, contacts are
 * cached by slot and generation of both objects and by vertices of their meshes; afterwards, cached contacts are
 * matched to the new features. Contacts whose object or feature no longer exists are dropped. Entries of a state are
 * untrusted: loading checks their kind, and slots and vertices are looked up.
 */
#include <math.h>
#include <float.h>
#include <string.h>

#include "contact/contact.h"

enum {
    FIRST_VERTEX = 4 /* index in `vertices` of a cache entry at which the contact's first vertex is stored */
};

/* Number of vertices of the first and of the second feature of each contact kind. */
static const int feature_size[SINEW_CONTACT_KIND_COUNT][2] = {{1, 3}, {1, 2}, {1, 1}, {2, 2}, {1, 0}, {0, 0}};

/* ---- From contacts to cache entries ---------------------------------------------------------- */

bool sinew_contact_is_cacheable(const sinew_contact_constraint *t)
{
    return t->lambda > 0 || t->lagged_normal_force > 0 || t->force > 0 || t->tangent[0] != 0 || t->tangent[1] != 0 ||
           t->tangent[2] != 0 || t->rising > 0 || t->yield.offset > 0 || t->yield.updates > 0;
}

static void entry_read_feature(const sinew_collision_mesh *f, int size, int32_t feature, int32_t *vertices)
{
    for (int k = 0; k < size; k++)
        vertices[k] = size == 3 ? f->primitives[feature][k] : size == 2 ? f->edges[feature][k] : feature;
}

static void entry_put_vertex(const sinew_contact_work *c, const sinew_contact_constraint *t, int32_t vertex, int slot,
                             sinew_contact_cache_entry *entry)
{
    entry->vertices[slot] = c->vertex_number[vertex];
    entry->sides |= c->mesh.object[vertex] == t->first ? 0 : 1u << slot;
}

sinew_contact_cache_entry sinew_contact_cache_entry_of(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    sinew_contact_cache_entry entry = {
        .lambda = t->lambda, .lagged_normal_force = t->lagged_normal_force, .force = t->force, .yield = t->yield};
    const int32_t objects[2] = {t->first, t->second};
    int32_t features[2], vertices[3];
    entry.kind = (int32_t)sinew_contact_key_read(t->key, &features[0], &features[1]);
    memcpy(entry.tangent, t->tangent, sizeof entry.tangent);
    for (int s = 0, at = 0; s < 2; s++) {
        const sinew_collision_object *o = &c->mesh.objects[objects[s]];
        const int size = feature_size[entry.kind][s];
        entry.object_slot[s] = o->kinematic ? o->collider : o->body;
        entry.generation[s] = o->generation;
        entry.flags |= o->kinematic ? 1u << s : 0;
        entry_read_feature(&c->mesh, size, features[s], vertices);
        for (int k = 0; k < size; k++)
            entry_put_vertex(c, t, vertices[k], at++, &entry);
    }
    entry.flags |= t->rising > 0 ? SINEW_CACHED_RISING : 0;
    if (entry.kind == SINEW_CONTACT_SKIN_COLLIDER)
        entry.vertices[0] = c->skins[features[0]].number;
    entry_put_vertex(c, t, t->v[0], FIRST_VERTEX, &entry);
    return entry;
}

bool sinew_contact_cache_store(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    if (c->cached)
        return true;
    if (!sinew_reserve_spare(view->allocator, &c->cache, &c->cache_capacity, (size_t)c->contacts.count,
                             sizeof *c->cache))
        return false;
    c->cache_count = 0;
    for (int32_t k = 0; k < c->contacts.count; k++)
        if (sinew_contact_is_cacheable(&c->contacts.list[k]))
            c->cache[c->cache_count++] = sinew_contact_cache_entry_of(c, &c->contacts.list[k]);
    c->contacts.count = c->previous.count = 0;
    c->cached = true;
    return true;
}

/* ---- From cache entries to contacts ---------------------------------------------------------- */

/* Bodies precede colliders, both in the order of their slots. */
int32_t sinew_contact_find_object(const sinew_collision_mesh *f, bool collider, int32_t slot, uint32_t generation)
{
    int32_t low = 0, high = f->object_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const sinew_collision_object *o = &f->objects[middle];
        const bool before = o->kinematic != collider ? collider : (collider ? o->collider : o->body) < slot;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    if (low == f->object_count || f->objects[low].kinematic != collider || f->objects[low].generation != generation ||
        (collider ? f->objects[low].collider : f->objects[low].body) != slot)
        return -1;
    return low;
}

/* Finds the collision vertex of a rigid body's surface by its vertex number in the surface; -1: none. These numbers
 * ascend behind the four frame vertices. */
static int32_t entry_find_surface_vertex(const sinew_contact_work *c, const sinew_collision_object *o, int32_t number)
{
    int32_t low = o->first_vertex + 4, high = o->first_vertex + o->vertex_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = c->vertex_number[middle] < number ? middle + 1 : low;
        high = c->vertex_number[middle] < number ? high : middle;
    }
    return low < o->first_vertex + o->vertex_count && c->vertex_number[low] == number ? low : -1;
}

/* Finds the collision vertex of an object by its vertex number in the mesh of the object; -1: none. Particles of a body
 * ascend. */
static int32_t entry_find_vertex(const sinew_contact_view *view, int32_t object, int32_t number)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    const sinew_collision_object *o = &f->objects[object];
    if (o->kinematic)
        return number >= 0 && number < o->vertex_count ? o->first_vertex + number : -1;
    const sinew_contact_body *body = &view->bodies[o->body];
    if (o->rigid)
        return entry_find_surface_vertex(view->contact, o, number);
    if (number < 0 || number >= body->count)
        return -1;
    const int32_t particle = view->inside[body->first + number];
    int32_t low = o->first_vertex, high = o->first_vertex + o->vertex_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = f->particle[middle] < particle ? middle + 1 : low;
        high = f->particle[middle] < particle ? high : middle;
    }
    return low < o->first_vertex + o->vertex_count && f->particle[low] == particle ? low : -1;
}

static int32_t mesh_find_edge(const sinew_collision_mesh *f, int32_t a, int32_t b)
{
    const uint64_t name_wanted = sinew_pack(a < b ? a : b, a < b ? b : a);
    int32_t low = 0, high = f->edge_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const bool before = sinew_pack(f->edges[middle][0], f->edges[middle][1]) < name_wanted;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < f->edge_count && sinew_pack(f->edges[low][0], f->edges[low][1]) == name_wanted ? low : -1;
}

/* Packs the two lowest vertices of a primitive into one integer, its sort key; *last is the highest vertex. */
static uint64_t primitive_name(const int32_t v[3], int32_t *last)
{
    const int32_t low = v[0] < v[1] ? (v[0] < v[2] ? v[0] : v[2]) : (v[1] < v[2] ? v[1] : v[2]);
    *last = v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : (v[1] > v[2] ? v[1] : v[2]);
    return sinew_pack(low, v[0] ^ v[1] ^ v[2] ^ low ^ *last);
}

/* Index of primitives: sorted by packed vertices, to find a primitive by its vertices. */
typedef struct primitive_index {
    /* [2 * count] pairs (primitive_name(), primitive), sorted by name; the second half is work space */
    sinew_pair *pairs;
    int32_t count;
} primitive_index;

static bool primitive_index_build(const sinew_collision_mesh *f, primitive_index *index)
{
    index->count = f->primitive_count;
    index->pairs = sinew_allocate(&f->allocator, 2 * (size_t)f->primitive_count, sizeof *index->pairs);
    if (!index->pairs)
        return false;
    for (int32_t primitive = 0; primitive < f->primitive_count; primitive++) {
        int32_t last;
        index->pairs[primitive] = (sinew_pair){primitive_name(f->primitives[primitive], &last), (uint64_t)primitive};
    }
    sinew_sort_pairs(index->pairs, (size_t)index->count, index->pairs + index->count);
    return true;
}

static int32_t primitive_find(const sinew_collision_mesh *f, const primitive_index *index, const int32_t v[3])
{
    int32_t last, other, low = 0, high = index->count;
    const uint64_t name_wanted = primitive_name(v, &last);
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = index->pairs[middle].major < name_wanted ? middle + 1 : low;
        high = index->pairs[middle].major < name_wanted ? high : middle;
    }
    for (; low < index->count && index->pairs[low].major == name_wanted; low++) {
        const int32_t primitive = (int32_t)index->pairs[low].minor;
        primitive_name(f->primitives[primitive], &other);
        if (other == last)
            return primitive;
    }
    return -1;
}

/* Index in `skins` of the embedded-surface vertex with this number in its object; -1: none. */
static int32_t skin_find_vertex(const sinew_contact_work *c, int32_t object, int32_t number)
{
    int32_t low = 0, high = c->skin_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const sinew_skin_vertex *s = &c->skins[middle];
        const bool before = s->object < object || (s->object == object && s->number < number);
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < c->skin_count && c->skins[low].object == object && c->skins[low].number == number ? low : -1;
}

/* Rebuilds the contact of a cache entry; false: its objects or features no longer exist. */
static bool contact_of_entry(const sinew_contact_view *view, const primitive_index *primitives,
                             const sinew_contact_cache_entry *entry, sinew_contact_constraint *t)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    int32_t objects[2], v[5] = {0}, features[2];
    const int *sizes = feature_size[entry->kind];
    for (int s = 0; s < 2; s++)
        objects[s] = sinew_contact_find_object(f, entry->flags >> s & 1, entry->object_slot[s], entry->generation[s]);
    if (objects[0] < 0 || objects[1] < 0)
        return false;
    for (int k = 0; k < 5; k++) {
        if (k >= sizes[0] + sizes[1] && k != FIRST_VERTEX)
            continue;
        v[k] = entry_find_vertex(view, objects[entry->sides >> k & 1], entry->vertices[k]);
        if (v[k] < 0)
            return false;
    }
    for (int s = 0; s < 2; s++) {
        const int32_t *own = v + (s == 0 ? 0 : sizes[0]);
        features[s] = sizes[s] == 3   ? primitive_find(f, primitives, own)
                      : sizes[s] == 2 ? mesh_find_edge(f, own[0], own[1])
                      : sizes[s] == 1 ? own[0]
                                      : objects[1];
    }
    if (entry->kind == SINEW_CONTACT_SKIN_COLLIDER)
        features[0] = skin_find_vertex(view->contact, objects[0], entry->vertices[0]);
    *t = (sinew_contact_constraint){.first = objects[0], .second = objects[1], .primitive = -1};
    if (features[0] < 0 || features[1] < 0)
        return false;
    t->key = sinew_contact_key((sinew_contact_kind)entry->kind, features[0], features[1]);
    t->v[0] = t->v[1] = t->v[2] = t->v[3] = v[FIRST_VERTEX];
    t->lambda = entry->lambda;
    t->lagged_normal_force = entry->lagged_normal_force;
    t->force = entry->force;
    t->yield = entry->yield;
    t->rising = entry->flags & SINEW_CACHED_RISING ? DBL_MIN : 0; /* the first pass of a step sets the limit */
    memcpy(t->tangent, entry->tangent, sizeof t->tangent);
    return true;
}

/* Sorts found [count] contacts by key into the list of contacts and drops repeated keys. */
static void contacts_sort(sinew_contact_list *contacts, int32_t count)
{
    for (int32_t k = 0; k < count; k++)
        contacts->work[k] = (sinew_pair){contacts->found[k].key, (uint64_t)k};
    sinew_sort_pairs(contacts->work, (size_t)count, contacts->work + count);
    contacts->count = 0;
    for (int32_t k = 0; k < count; k++)
        if (k == 0 || contacts->work[k].major != contacts->work[k - 1].major)
            contacts->list[contacts->count++] = contacts->found[contacts->work[k].minor];
}

bool sinew_contact_cache_restore(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const sinew_allocator *m = view->allocator;
    const size_t n = (size_t)c->cache_count;
    primitive_index primitives = {0};
    int32_t found = 0;
    c->contacts.count = c->previous.count = 0;
    if (!sinew_reserve_spare(m, &c->contacts.list, &c->contacts.capacity_bytes, n, sizeof *c->contacts.list) ||
        !sinew_reserve_spare(m, &c->contacts.found, &c->contacts.found_capacity, n, sizeof *c->contacts.found) ||
        !sinew_reserve_spare(m, &c->contacts.work, &c->contacts.work_capacity, 2 * n, sizeof *c->contacts.work) ||
        (n > 0 && !primitive_index_build(&c->mesh, &primitives)))
        return false;
    for (int32_t k = 0; k < c->cache_count; k++)
        found += contact_of_entry(view, &primitives, &c->cache[k], &c->contacts.found[found]);
    contacts_sort(&c->contacts, found);
    sinew_release(&c->mesh.allocator, primitives.pairs);
    c->cached = c->listed = false;
    c->cache_count = 0;
    return true;
}
