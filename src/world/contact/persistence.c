/* SPDX-License-Identifier: MIT
 *
 * persistence.c: what contact remembers from step to step, by names that outlive features, and as sections of a
 * state.
 *
 *     TCHS   contacts that bear something, one sinew_touch_note (contact.h) each
 *     CVEL   one a body: velocities when the last step began, [4 * vertex_count] reals, the fourth 1 where known
 *     COLL   one a collider that was held back or posed: see collider_note
 *
 * Features are numbered anew whenever a body or a collider comes, goes or changes. Contacts are noted before that by
 * place and generation of both objects and by vertices of their meshes, and found again among the new features; those
 * whose object or feature is no more are forgotten. A state holds the same notes. Its bytes are untrusted: places and
 * vertices are only looked up, and forces must be finite and not negative.
 */
#include <math.h>
#include <string.h>

#include "world/contact/contact.h"
#include "world/contact/persistence.h"

enum {
    FIRST_VERTEX = 4 /* place of a contact's first vertex in a note */
};

/* A collider in a state. */
typedef struct collider_note {
    uint32_t generation, posed;
    double behind;
    double pose[2][6];
} collider_note;

/* Vertices of the first and of the second feature of each kind. */
static const int feature_size[SINEW_TOUCH_KINDS][2] = {{1, 3}, {1, 2}, {1, 1}, {2, 2}, {1, 0}, {0, 0}};

/* ---- From contacts to notes ------------------------------------------------------------------ */

bool sinew_contact_is_noted(const sinew_touch *t)
{
    return t->lambda > 0 || t->bears > 0 || t->force > 0 || t->tangent[0] != 0 || t->tangent[1] != 0 ||
           t->tangent[2] != 0;
}

static void read_feature(const sinew_features *f, int size, int32_t feature, int32_t *vertices)
{
    for (int k = 0; k < size; k++)
        vertices[k] = size == 3 ? f->cells[feature][k] : size == 2 ? f->edges[feature][k] : feature;
}

static void put_vertex(const sinew_contact_work *c, const sinew_touch *t, int32_t vertex, int place,
                       sinew_touch_note *note)
{
    note->vertices[place] = c->number[vertex];
    note->sides |= c->features.object[vertex] == t->first ? 0 : 1u << place;
}

sinew_touch_note sinew_contact_note(const sinew_world *world, const sinew_touch *t)
{
    const sinew_contact_work *c = world->contact;
    sinew_touch_note note = {.lambda = t->lambda, .bears = t->bears, .force = t->force};
    const int32_t objects[2] = {t->first, t->second};
    int32_t features[2], vertices[3];
    note.kind = (int32_t)sinew_touch_read_key(t->key, &features[0], &features[1]);
    memcpy(note.tangent, t->tangent, sizeof note.tangent);
    for (int s = 0, at = 0; s < 2; s++) {
        const sinew_touch_object *o = &c->features.objects[objects[s]];
        const int size = feature_size[note.kind][s];
        note.place[s] = o->kinematic ? o->collider : o->body;
        note.generation[s] = o->generation;
        note.colliders |= o->kinematic ? 1u << s : 0;
        read_feature(&c->features, size, features[s], vertices);
        for (int k = 0; k < size; k++)
            put_vertex(c, t, vertices[k], at++, &note);
    }
    if (note.kind == SINEW_TOUCH_SKIN)
        note.vertices[0] = c->skins[features[0]].number;
    put_vertex(c, t, t->v[0], FIRST_VERTEX, &note);
    return note;
}

bool sinew_contact_keep_notes(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    if (c->noted)
        return true;
    if (!sinew_make_spare_room(&world->allocator, &c->notes, &c->note_room, (size_t)c->touches.count, sizeof *c->notes))
        return false;
    c->note_count = 0;
    for (int32_t k = 0; k < c->touches.count; k++)
        if (sinew_contact_is_noted(&c->touches.list[k]))
            c->notes[c->note_count++] = sinew_contact_note(world, &c->touches.list[k]);
    c->touches.count = c->before.count = 0;
    c->noted = true;
    return true;
}

/* ---- From notes to contacts ------------------------------------------------------------------ */

/* The object of a body or collider, -1: there is none, or another generation of it. Bodies come before colliders, both
 * in the order of their places. */
static int32_t find_object(const sinew_features *f, bool collider, int32_t place, uint32_t generation)
{
    int32_t low = 0, high = f->object_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const sinew_touch_object *o = &f->objects[middle];
        const bool before = o->kinematic != collider ? collider : (collider ? o->collider : o->body) < place;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    if (low == f->object_count || f->objects[low].kinematic != collider || f->objects[low].generation != generation ||
        (collider ? f->objects[low].collider : f->objects[low].body) != place)
        return -1;
    return low;
}

/* The vertex of an object that has this number in its mesh, -1: none. Particles of a body are in ascending order. */
static int32_t find_vertex(const sinew_world *world, int32_t object, int32_t number)
{
    const sinew_features *f = &world->contact->features;
    const sinew_touch_object *o = &f->objects[object];
    if (o->kinematic)
        return number >= 0 && number < o->vertex_count ? o->first_vertex + number : -1;
    const sinew_body_record *body = &world->bodies[o->body];
    if (number < 0 || number >= body->count)
        return -1;
    const int32_t particle = world->inside[body->first + number];
    int32_t low = o->first_vertex, high = o->first_vertex + o->vertex_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = f->particle[middle] < particle ? middle + 1 : low;
        high = f->particle[middle] < particle ? high : middle;
    }
    return low < o->first_vertex + o->vertex_count && f->particle[low] == particle ? low : -1;
}

static int32_t find_edge(const sinew_features *f, int32_t a, int32_t b)
{
    const uint64_t wanted = sinew_pack(a < b ? a : b, a < b ? b : a);
    int32_t low = 0, high = f->edge_count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        const bool before = sinew_pack(f->edges[middle][0], f->edges[middle][1]) < wanted;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low < f->edge_count && sinew_pack(f->edges[low][0], f->edges[low][1]) == wanted ? low : -1;
}

/* The lowest two of a cell's vertices; *last is the third. */
static uint64_t cell_name(const int32_t v[3], int32_t *last)
{
    const int32_t low = v[0] < v[1] ? (v[0] < v[2] ? v[0] : v[2]) : (v[1] < v[2] ? v[1] : v[2]);
    *last = v[0] > v[1] ? (v[0] > v[2] ? v[0] : v[2]) : (v[1] > v[2] ? v[1] : v[2]);
    return sinew_pack(low, v[0] ^ v[1] ^ v[2] ^ low ^ *last);
}

/* Cells by name, so that one is found by its vertices. */
typedef struct cell_index {
    sinew_pair *pairs; /* [2 * count] sorted; the second half is work space */
    int32_t count;
} cell_index;

static bool index_cells(const sinew_features *f, cell_index *index)
{
    index->count = f->cell_count;
    index->pairs = sinew_allocate(&f->allocator, 2 * (size_t)f->cell_count, sizeof *index->pairs);
    if (!index->pairs)
        return false;
    for (int32_t cell = 0; cell < f->cell_count; cell++) {
        int32_t last;
        index->pairs[cell] = (sinew_pair){cell_name(f->cells[cell], &last), (uint64_t)cell};
    }
    sinew_sort_pairs(index->pairs, (size_t)index->count, index->pairs + index->count);
    return true;
}

static int32_t find_cell(const sinew_features *f, const cell_index *index, const int32_t v[3])
{
    int32_t last, other, low = 0, high = index->count;
    const uint64_t wanted = cell_name(v, &last);
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = index->pairs[middle].major < wanted ? middle + 1 : low;
        high = index->pairs[middle].major < wanted ? high : middle;
    }
    for (; low < index->count && index->pairs[low].major == wanted; low++) {
        const int32_t cell = (int32_t)index->pairs[low].minor;
        cell_name(f->cells[cell], &other);
        if (other == last)
            return cell;
    }
    return -1;
}

/* The vertex of a skin by its number, -1: none. */
static int32_t find_skin(const sinew_contact_work *c, int32_t object, int32_t number)
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

/* A contact that bears what the note says; false: its objects or features are no more. */
static bool touch_of_note(const sinew_world *world, const cell_index *cells, const sinew_touch_note *note,
                          sinew_touch *t)
{
    const sinew_features *f = &world->contact->features;
    int32_t objects[2], v[5] = {0}, features[2];
    const int *sizes = feature_size[note->kind];
    for (int s = 0; s < 2; s++)
        objects[s] = find_object(f, note->colliders >> s & 1, note->place[s], note->generation[s]);
    if (objects[0] < 0 || objects[1] < 0)
        return false;
    for (int k = 0; k < 5; k++) {
        if (k >= sizes[0] + sizes[1] && k != FIRST_VERTEX)
            continue;
        v[k] = find_vertex(world, objects[note->sides >> k & 1], note->vertices[k]);
        if (v[k] < 0)
            return false;
    }
    for (int s = 0; s < 2; s++) {
        const int32_t *own = v + (s == 0 ? 0 : sizes[0]);
        features[s] = sizes[s] == 3   ? find_cell(f, cells, own)
                      : sizes[s] == 2 ? find_edge(f, own[0], own[1])
                      : sizes[s] == 1 ? own[0]
                                      : objects[1];
    }
    if (note->kind == SINEW_TOUCH_SKIN)
        features[0] = find_skin(world->contact, objects[0], note->vertices[0]);
    *t = (sinew_touch){.first = objects[0], .second = objects[1], .cell = -1};
    if (features[0] < 0 || features[1] < 0)
        return false;
    t->key = sinew_touch_key((sinew_touch_kind)note->kind, features[0], features[1]);
    t->v[0] = t->v[1] = t->v[2] = t->v[3] = v[FIRST_VERTEX];
    t->lambda = note->lambda;
    t->bears = note->bears;
    t->force = note->force;
    memcpy(t->tangent, note->tangent, sizeof t->tangent);
    return true;
}

/* In the order of keys, each once. found [count]. */
static void sort_touches(sinew_touches *touches, int32_t count)
{
    for (int32_t k = 0; k < count; k++)
        touches->work[k] = (sinew_pair){touches->found[k].key, (uint64_t)k};
    sinew_sort_pairs(touches->work, (size_t)count, touches->work + count);
    touches->count = 0;
    for (int32_t k = 0; k < count; k++)
        if (k == 0 || touches->work[k].major != touches->work[k - 1].major)
            touches->list[touches->count++] = touches->found[touches->work[k].minor];
}

bool sinew_contact_use_notes(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    const sinew_allocator *m = &world->allocator;
    const size_t n = (size_t)c->note_count;
    cell_index cells = {0};
    int32_t found = 0;
    c->touches.count = c->before.count = 0;
    if (!sinew_make_spare_room(m, &c->touches.list, &c->touches.room, n, sizeof *c->touches.list) ||
        !sinew_make_spare_room(m, &c->touches.found, &c->touches.found_room, n, sizeof *c->touches.found) ||
        !sinew_make_spare_room(m, &c->touches.work, &c->touches.work_room, 2 * n, sizeof *c->touches.work) ||
        (n > 0 && !index_cells(&c->features, &cells)))
        return false;
    for (int32_t k = 0; k < c->note_count; k++)
        found += touch_of_note(world, &cells, &c->notes[k], &c->touches.found[found]);
    sort_touches(&c->touches, found);
    sinew_release(&c->features.allocator, cells.pairs);
    c->noted = c->listed = false;
    c->note_count = 0;
    return true;
}

/* ---- Save ------------------------------------------------------------------------------------ */

static void put_touches(const sinew_world *world, sinew_section_writer *writer)
{
    const sinew_contact_work *c = world->contact;
    sinew_section_begin(writer, "TCHS", true, 0);
    if (c->noted)
        sinew_section_put(writer, c->notes, (size_t)c->note_count * sizeof *c->notes);
    for (int32_t k = 0; !c->noted && k < c->touches.count; k++)
        if (sinew_contact_is_noted(&c->touches.list[k])) {
            const sinew_touch_note note = sinew_contact_note(world, &c->touches.list[k]);
            sinew_section_put(writer, &note, sizeof note);
        }
    sinew_section_end(writer);
}

static void put_velocities(const sinew_world *world, int32_t index, sinew_section_writer *writer)
{
    const sinew_body_record *body = &world->bodies[index];
    sinew_section_begin(writer, "CVEL", true, (uint32_t)index);
    char *at = sinew_section_reserve(writer, 4 * (size_t)body->count * sizeof(sinew_real));
    for (int32_t i = body->first; at && i < body->first + body->count; i++, at += 4 * sizeof(sinew_real))
        memcpy(at, world->v_before + 4 * (size_t)world->inside[i], 4 * sizeof(sinew_real));
    sinew_section_end(writer);
}

static void put_collider(const sinew_collider_record *r, int32_t index, sinew_section_writer *writer)
{
    collider_note note = {r->generation, r->posed, r->behind, {{0}}};
    for (int k = 0; r->posed && k < 12; k++)
        note.pose[k / 6][k % 6] = (double)r->pose[k / 6][k % 6];
    sinew_section_begin(writer, "COLL", true, (uint32_t)index);
    sinew_section_put(writer, &note, sizeof note);
    sinew_section_end(writer);
}

void sinew_contact_put_sections(const sinew_world *world, sinew_section_writer *writer)
{
    if (sinew_contact_is_on(world))
        put_touches(world, writer);
    for (int32_t i = 0; sinew_contact_is_on(world) && world->v_before && i < world->body_count; i++)
        if (world->bodies[i].mesh)
            put_velocities(world, i, writer);
    for (int32_t i = 0; i < world->collider_count; i++)
        if (world->colliders[i].there && (world->colliders[i].posed || world->colliders[i].behind != 0))
            put_collider(&world->colliders[i], i, writer);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static bool is_force(double value)
{
    return isfinite(value) && value >= 0;
}

static bool note_is_sound(const sinew_touch_note *n)
{
    return n->kind >= 0 && n->kind < SINEW_TOUCH_KINDS && is_force(n->lambda) && is_force(n->bears) &&
           is_force(n->force) && isfinite(n->tangent[0]) && isfinite(n->tangent[1]) && isfinite(n->tangent[2]);
}

static sinew_status check_touches(sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    const char *content = sinew_sections_find(reader, "TCHS", 0, &size);
    if (!content)
        return SINEW_OK;
    if (size % sizeof(sinew_touch_note) != 0 || size / sizeof(sinew_touch_note) > INT32_MAX / 4)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its contacts are cut off");
    for (size_t at = 0; at < size; at += sizeof(sinew_touch_note)) {
        sinew_touch_note note;
        memcpy(&note, content + at, sizeof note);
        if (!note_is_sound(&note))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: contact %zu bears what nothing can",
                              at / sizeof note);
    }
    return SINEW_OK;
}

static sinew_status check_velocities(int32_t index, size_t particles, sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    const char *content = sinew_sections_find(reader, "CVEL", (uint32_t)index, &size);
    if (!content)
        return SINEW_OK;
    if (size != 4 * particles * sizeof(sinew_real))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: body %d had no velocity for each particle",
                          (int)index);
    for (size_t i = 0; i < 4 * particles; i++) {
        sinew_real value;
        memcpy(&value, content + i * sizeof value, sizeof value);
        if (!isfinite(value) || (i % 4 == 3 && value != 0 && value != 1))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: velocities of body %d are no numbers",
                              (int)index);
    }
    return SINEW_OK;
}

static sinew_status check_collider(int32_t index, sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    collider_note note = {0};
    const char *content = sinew_sections_find(reader, "COLL", (uint32_t)index, &size);
    if (!content)
        return SINEW_OK;
    if (size == sizeof note)
        memcpy(&note, content, sizeof note);
    bool sound = size == sizeof note && isfinite(note.behind) && note.behind >= 0 && note.posed <= 1;
    for (int k = 0; sound && k < 12; k++)
        sound = isfinite((sinew_real)note.pose[k / 6][k % 6]);
    return sound ? SINEW_OK
                 : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the place of collider %d is none", (int)index);
}

sinew_status sinew_contact_check_body(int32_t index, size_t particles, sinew_section_reader *reader, sinew_error *error)
{
    return check_velocities(index, particles, reader, error);
}

sinew_status sinew_contact_check_sections(const sinew_world *world, bool whole, sinew_section_reader *reader,
                                          sinew_error *error)
{
    sinew_status status = check_touches(reader, error);
    uint32_t seen = 0;
    for (int32_t i = 0; i < world->collider_count && status == SINEW_OK; i++)
        if (world->colliders[i].there) {
            size_t size;
            seen += sinew_sections_find(reader, "COLL", (uint32_t)i, &size) != NULL;
            status = check_collider(i, reader, error);
        }
    if (status == SINEW_OK && whole && seen != sinew_sections_count(reader, "COLL"))
        status = sinew_fail(error, SINEW_ERROR_FORMAT,
                            "has %u colliders that were moved, the world has %u of them: build it the same way",
                            sinew_sections_count(reader, "COLL"), seen);
    return status;
}

/* ---- Take ------------------------------------------------------------------------------------ */

bool sinew_contact_need_v_before(sinew_world *world)
{
    if (!world->v_before)
        world->v_before =
            sinew_allocate_zero(&world->allocator, 4 * (size_t)world->particle_capacity, sizeof *world->v_before);
    return world->v_before != NULL;
}

bool sinew_contact_make_take_room(sinew_world *world, sinew_section_reader *reader)
{
    size_t size = 0;
    sinew_contact_work *c = world->contact;
    if (!sinew_contact_is_on(world))
        return true;
    if (!sinew_contact_need_v_before(world))
        return false;
    if (!sinew_sections_find(reader, "TCHS", 0, &size) || size <= c->note_room)
        return true;
    sinew_touch_note *notes =
        sinew_reallocate(&world->allocator, c->notes, (size_t)c->note_count, size / sizeof *notes, sizeof *notes);
    c->notes = notes ? notes : c->notes;
    c->note_room = notes ? size : c->note_room;
    return notes;
}

void sinew_contact_take_body(const sinew_world *world, int32_t index, sinew_section_reader *reader)
{
    const sinew_body_record *body = &world->bodies[index];
    size_t size;
    const char *at = sinew_sections_find(reader, "CVEL", (uint32_t)index, &size);
    for (int32_t i = body->first; world->v_before && i < body->first + body->count; i++) {
        sinew_real *v = world->v_before + 4 * (size_t)world->inside[i];
        memset(v, 0, 4 * sizeof *v);
        if (at)
            memcpy(v, at + 4 * (size_t)(i - body->first) * sizeof *v, 4 * sizeof *v);
    }
}

static void take_touches(sinew_world *world, bool whole, sinew_section_reader *reader)
{
    sinew_contact_work *c = world->contact;
    size_t size;
    const char *content = sinew_sections_find(reader, "TCHS", 0, &size);
    c->note_count = content ? (int32_t)(size / sizeof *c->notes) : 0;
    if (c->note_count > 0)
        memcpy(c->notes, content, size);
    /* A state that is loaded whole names places; who was there before does not matter. */
    for (int32_t k = 0; whole && k < c->note_count; k++)
        for (int s = 0; s < 2; s++) {
            sinew_touch_note *n = &c->notes[k];
            const bool collider = n->colliders >> s & 1;
            if (n->place[s] >= 0 && n->place[s] < (collider ? world->collider_count : world->body_count))
                n->generation[s] =
                    collider ? world->colliders[n->place[s]].generation : world->bodies[n->place[s]].generation;
        }
    c->noted = c->stale = true;
    c->crossings_known = false;
    c->report = (sinew_contact_report){0};
}

void sinew_contact_take_sections(sinew_world *world, bool whole, sinew_section_reader *reader)
{
    for (int32_t i = 0; i < world->collider_count; i++) {
        sinew_collider_record *r = &world->colliders[i];
        size_t size;
        collider_note note = {.generation = r->generation};
        const char *content = sinew_sections_find(reader, "COLL", (uint32_t)i, &size);
        if (content)
            memcpy(&note, content, sizeof note);
        if (!r->there || (!whole && note.generation != r->generation))
            continue;
        r->behind = note.behind;
        r->posed = note.posed;
        for (int k = 0; k < 12; k++)
            r->pose[k / 6][k % 6] = (sinew_real)note.pose[k / 6][k % 6];
    }
    sinew_contact_moved(world);
    if (sinew_contact_is_on(world))
        take_touches(world, whole, reader);
}
