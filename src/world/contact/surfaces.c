/* SPDX-License-Identifier: MIT
 *
 * surfaces.c: the surfaces of bodies and colliders as features that can touch (collide/collision_mesh.h).
 *
 * A body shows what is drawn of it: the boundary of its tets, its triangles, or its edges. Its vertices are those that
 * have a cell, in the order of particles, so that what is near in space is near in memory.
 */
#include <math.h>
#include <string.h>

#include "mesh/mesh.h"
#include "world/contact/contact.h"

/* What is known of objects before features are made of them. */
typedef struct sketch {
    sinew_touch_object *objects; /* [count] */
    sinew_object_cells *cells;
    bool *lone;
    sinew_mesh **meshes; /* [count] surfaces of bodies */
    int32_t **numbers;   /* [count] triangles and edges of a body in vertices of the object */
    int32_t **particles; /* [count][vertex_count] */
    int32_t count;
} sketch;

static void sketch_release(sketch *s, const sinew_allocator *allocator)
{
    for (int32_t o = 0; o < s->count; o++) {
        if (s->meshes)
            sinew_mesh_destroy(s->meshes[o]);
        sinew_release(allocator, s->numbers ? s->numbers[o] : NULL);
        sinew_release(allocator, s->particles ? s->particles[o] : NULL);
    }
    void *arrays[] = {s->objects, s->cells, s->lone, s->meshes, s->numbers, s->particles};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *s = (sketch){0};
}

static bool sketch_reserve(sketch *s, const sinew_allocator *allocator, int32_t count)
{
    const size_t n = (size_t)count;
    s->count = count;
    s->objects = sinew_allocate_zero(allocator, n, sizeof *s->objects);
    s->cells = sinew_allocate_zero(allocator, n, sizeof *s->cells);
    s->lone = sinew_allocate_zero(allocator, n, sizeof *s->lone);
    s->meshes = sinew_allocate_zero(allocator, n, sizeof *s->meshes);
    s->numbers = sinew_allocate_zero(allocator, n, sizeof *s->numbers);
    s->particles = sinew_allocate_zero(allocator, n, sizeof *s->particles);
    return s->objects && s->cells && s->lone && s->meshes && s->numbers && s->particles;
}

static double own_or(sinew_real own, sinew_real common)
{
    return isnan(own) ? (double)common : (double)own;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

/* Marks the vertices of a mesh that have a cell of its surface; returns how many. used [vertex_count]. */
static int32_t mark_used(const sinew_mesh *mesh, bool ropes, uint8_t *used)
{
    const int32_t *triangles = sinew_mesh_triangles(mesh), *edges = sinew_mesh_edges(mesh);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    int32_t count = 0;
    memset(used, 0, (size_t)n);
    for (int32_t k = 0; k < 3 * sinew_mesh_triangle_count(mesh); k++)
        used[triangles[k]] = 1;
    for (int32_t k = 0; ropes && k < 2 * sinew_mesh_edge_count(mesh); k++)
        used[edges[k]] = 1;
    for (int32_t v = 0; v < n; v++)
        count += used[v];
    return count;
}

/* Bodies without cells are clouds of particles, all of which touch. */
static bool is_cloud(const sinew_mesh *mesh)
{
    return sinew_mesh_triangle_count(mesh) == 0 && sinew_mesh_edge_count(mesh) == 0;
}

/* The object of a body: its particles ascending, and its cells in their numbers. */
static bool number_body(const sinew_world *world, const sinew_body_record *body, sketch *s, int32_t o)
{
    const sinew_allocator *allocator = &world->allocator;
    const sinew_mesh *mesh = s->meshes[o];
    const int32_t n = sinew_mesh_vertex_count(mesh), triangles = sinew_mesh_triangle_count(mesh);
    const int32_t edges = triangles > 0 ? 0 : sinew_mesh_edge_count(mesh);
    uint8_t *used = sinew_allocate(allocator, (size_t)n, 1);
    int32_t *number = sinew_allocate(allocator, (size_t)body->count, sizeof *number);
    bool good = used && number;
    int32_t count = 0;
    if (good) {
        count = mark_used(mesh, triangles == 0, used);
        s->lone[o] = is_cloud(mesh);
        count = s->lone[o] ? n : count;
        s->particles[o] = sinew_allocate(allocator, (size_t)count, sizeof **s->particles);
        s->numbers[o] = sinew_allocate(allocator, 3 * (size_t)triangles + 2 * (size_t)edges, sizeof **s->numbers);
        good = s->particles[o] && s->numbers[o];
    }
    if (good) {
        /* By inside number: particle start + i of the body is vertex outside - first. */
        int32_t next = 0;
        for (int32_t i = 0; i < body->count; i++) {
            const int32_t vertex = world->outside[body->start + i] - body->first;
            number[vertex] = -1;
            if (vertex >= n || !(s->lone[o] || used[vertex]))
                continue;
            s->particles[o][next] = body->start + i;
            number[vertex] = next++;
        }
        for (int32_t k = 0; k < 3 * triangles; k++)
            s->numbers[o][k] = number[sinew_mesh_triangles(mesh)[k]];
        for (int32_t k = 0; k < 2 * edges; k++)
            s->numbers[o][3 * triangles + k] = number[sinew_mesh_edges(mesh)[k]];
        s->objects[o].vertex_count = next;
        s->cells[o] = (sinew_object_cells){s->numbers[o], triangles, s->numbers[o] + 3 * (size_t)triangles, edges};
    }
    sinew_release(allocator, used);
    sinew_release(allocator, number);
    return good;
}

/* A body that touches with its skin has the particles that carry it as vertices, and no cells. */
static sinew_status sketch_skin(const sinew_world *world, int32_t place, sketch *s, int32_t o, sinew_error *error)
{
    const sinew_body_record *body = &world->bodies[place];
    if (!body->skin)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "body %d touches with its skin, and none rides on it: give it one, or touch with its cage",
                          place);
    uint8_t *used = sinew_allocate_zero(&world->allocator, (size_t)body->count, 1);
    s->particles[o] = sinew_allocate(&world->allocator, (size_t)body->count, sizeof **s->particles);
    if (!used || !s->particles[o]) {
        sinew_release(&world->allocator, used);
        return sinew_fail_memory(error, "the surface of a body");
    }
    for (int32_t k = 0; k < 4 * sinew_skin_vertex_count(body->skin); k++)
        used[world->inside[body->first + body->skin_vertices[k]] - body->start] = 1;
    s->objects[o].self = false;
    for (int32_t i = 0; i < body->count; i++)
        if (used[i])
            s->particles[o][s->objects[o].vertex_count++] = body->start + i;
    sinew_release(&world->allocator, used);
    return SINEW_OK;
}

static sinew_status sketch_body(const sinew_world *world, int32_t place, sketch *s, int32_t o, sinew_error *error)
{
    const sinew_contact_def *def = &world->contact->def;
    const sinew_body_record *body = &world->bodies[place];
    const sinew_body_contact *own = &body->contact;
    s->objects[o] = (sinew_touch_object){.body = place,
                                         .collider = -1,
                                         .generation = body->generation,
                                         .half = own_or(own->thickness, def->thickness) / 2,
                                         .friction = own_or(own->friction, def->friction),
                                         .restitution = own_or(own->restitution, def->restitution),
                                         .group = own->group,
                                         .mask = own->mask,
                                         .self = own->self && def->self};
    if (own->surface == SINEW_CONTACT_SKIN)
        return sketch_skin(world, place, s, o, error);
    s->meshes[o] = sinew_mesh_surface(body->mesh, error);
    if (!s->meshes[o])
        return SINEW_ERROR_MEMORY;
    return number_body(world, body, s, o) ? SINEW_OK : sinew_fail_memory(error, "the surface of a body");
}

/* ---- Colliders ------------------------------------------------------------------------------- */

static void sketch_collider(const sinew_world *world, int32_t place, sketch *s, int32_t o)
{
    const sinew_contact_def *def = &world->contact->def;
    const sinew_collider_record *r = &world->colliders[place];
    s->objects[o] = (sinew_touch_object){.body = -1,
                                         .collider = place,
                                         .generation = r->generation,
                                         .vertex_count = r->vertex_count,
                                         .half = own_or(r->thickness, def->thickness) / 2,
                                         .core = r->core,
                                         .friction = own_or(r->friction, def->friction),
                                         .restitution = own_or(r->restitution, def->restitution),
                                         .group = r->group,
                                         .mask = r->mask,
                                         .kinematic = true};
    s->cells[o] = (sinew_object_cells){r->triangles, r->triangle_count, r->edges, r->edge_count};
    s->lone[o] = r->triangle_count == 0 && r->edge_count == 0;
}

/* A collider that was held back begins where it is, behind its motion, and is to catch up. */
static double clock_of(const sinew_world *world, const sinew_collider_record *r, double part)
{
    return world->contact->time - r->behind + part * ((double)world->def.time_step + r->behind);
}

void sinew_contact_place(const sinew_world *world, int32_t object, double part, sinew_real *x)
{
    const sinew_collider_record *r = &world->colliders[world->contact->features.objects[object].collider];
    sinew_shape_place(r, clock_of(world, r, part), part, x);
}

void sinew_contact_plane(const sinew_world *world, int32_t object, double part, double point[3], double normal[3])
{
    const sinew_collider_record *r = &world->colliders[world->contact->features.objects[object].collider];
    sinew_shape_plane(r, clock_of(world, r, part), part, point, normal);
}

/* ---- All ------------------------------------------------------------------------------------- */

static bool may_touch(const sinew_world *world, const sinew_touch_object *a, const sinew_touch_object *b)
{
    const sinew_contact_work *c = world->contact;
    if (a == b)
        return a->self;
    if ((a->kinematic && b->kinematic) || !(a->group & b->mask) || !(b->group & a->mask))
        return false;
    const sinew_touch_object *all = c->features.objects;
    const sinew_contact_party first = sinew_contact_party_of(world, (int32_t)(a - all)),
                              second = sinew_contact_party_of(world, (int32_t)(b - all));
    return !c->filter || c->filter(c->filter_context, &first, &second);
}

static void fill_features(const sinew_world *world, const sketch *s, sinew_features *f)
{
    int32_t *number = world->contact->number;
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_touch_object *object = &f->objects[o];
        sinew_real *rest = f->rest + 4 * (size_t)object->first_vertex;
        for (int32_t v = 0; v < object->vertex_count; v++)
            number[object->first_vertex + v] =
                object->kinematic ? v : world->outside[s->particles[o][v]] - world->bodies[object->body].first;
        if (object->kinematic) {
            sinew_contact_place(world, o, 0, rest);
            continue;
        }
        memcpy(f->particle + object->first_vertex, s->particles[o], (size_t)object->vertex_count * sizeof *f->particle);
        for (int32_t v = 0; v < object->vertex_count; v++)
            memcpy(rest + 4 * (size_t)v, world->rest + 4 * (size_t)s->particles[o][v], 4 * sizeof *rest);
    }
    for (int32_t a = 0; a < f->object_count; a++)
        for (int32_t b = 0; b < f->object_count; b++)
            f->touches[(size_t)a * (size_t)f->object_count + (size_t)b] =
                may_touch(world, &f->objects[a], &f->objects[b]);
}

/* Bodies first, then colliders. */
static sinew_status make_sketch(const sinew_world *world, sketch *s, sinew_error *error)
{
    int32_t count = 0, first = 0;
    for (int32_t b = 0; b < world->body_count; b++)
        count += world->bodies[b].mesh && world->bodies[b].contact.surface != SINEW_CONTACT_NONE;
    for (int32_t k = 0; k < world->collider_count; k++)
        count += world->colliders[k].there;
    if (!sketch_reserve(s, &world->allocator, count))
        return sinew_fail_memory(error, "the surfaces that touch");
    int32_t o = 0;
    sinew_status status = SINEW_OK;
    for (int32_t b = 0; status == SINEW_OK && b < world->body_count; b++)
        if (world->bodies[b].mesh && world->bodies[b].contact.surface != SINEW_CONTACT_NONE)
            status = sketch_body(world, b, s, o++, error);
    for (int32_t k = 0; status == SINEW_OK && k < world->collider_count; k++)
        if (world->colliders[k].there)
            sketch_collider(world, k, s, o++);
    for (int32_t k = 0; k < count; k++) {
        s->objects[k].first_vertex = first;
        first += s->objects[k].vertex_count;
    }
    return status;
}

static bool make_room(const sinew_world *world, sinew_contact_work *c)
{
    const sinew_allocator *m = &world->allocator;
    const size_t n = (size_t)c->features.vertex_count, objects = (size_t)c->features.object_count;
    return sinew_make_room(m, &c->x, &c->x_room, 4 * n, sizeof *c->x) &&
           sinew_make_room(m, &c->wanted, &c->wanted_room, 4 * n, sizeof *c->wanted) &&
           sinew_make_room(m, &c->asked, &c->asked_room, 4 * n, sizeof *c->asked) &&
           sinew_make_room(m, &c->cut, &c->cut_room, n, sizeof *c->cut) &&
           sinew_make_room(m, &c->begun, &c->begun_room, 4 * n, sizeof *c->begun) &&
           sinew_make_room(m, &c->kinematic, &c->kinematic_room, 4 * n, sizeof *c->kinematic) &&
           sinew_make_room(m, &c->reach, &c->reach_room, n, sizeof *c->reach) &&
           sinew_make_room(m, &c->number, &c->number_room, n, sizeof *c->number) &&
           sinew_make_room(m, &c->edge, &c->edge_room, objects, sizeof *c->edge) &&
           sinew_make_room(m, &c->way, &c->way_room, objects, sizeof *c->way) &&
           sinew_make_room(m, &c->part, &c->part_room, objects, sizeof *c->part);
}

/* Mean lengths at rest; objects without edges have the size of nothing in particular. */
static void measure_edges(sinew_contact_work *c)
{
    const sinew_features *f = &c->features;
    for (int32_t o = 0; o < f->object_count; o++) {
        c->edge[o] = 0;
        c->part[o] = 0; /* counts edges until they are divided by */
    }
    for (int32_t e = 0; e < f->edge_count; e++) {
        double square = 0;
        for (size_t k = 0; k < 3; k++) {
            const double d =
                (double)f->rest[4 * (size_t)f->edges[e][0] + k] - (double)f->rest[4 * (size_t)f->edges[e][1] + k];
            square += d * d;
        }
        c->edge[f->object[f->edges[e][0]]] += sqrt(square);
        c->part[f->object[f->edges[e][0]]] += 1;
    }
    for (int32_t o = 0; o < f->object_count; o++) {
        c->edge[o] = c->part[o] > 0 ? c->edge[o] / c->part[o] : HUGE_VAL;
        c->part[o] = 0;
    }
}

void sinew_contact_surfaces_release(sinew_contact_work *c, const sinew_allocator *allocator)
{
    (void)allocator;
    sinew_contact_trees_release(c);
    sinew_detector_destroy(c->detector);
    c->detector = NULL;
    sinew_features_destroy(&c->features);
}

sinew_status sinew_contact_surfaces(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    sketch s = {0};
    if (!c->stale && c->shape_version == world->shape_version)
        return SINEW_OK;
    if (!sinew_contact_keep_notes(world))
        return sinew_fail_memory(error, "the surfaces that touch");
    c->crossings_known = false;
    sinew_contact_surfaces_release(c, &world->allocator);
    sinew_status status = make_sketch(world, &s, error);
    if (status == SINEW_OK)
        status = sinew_features_create(&c->features, &world->allocator, s.objects, s.cells, s.lone, s.count, error);
    if (status == SINEW_OK && !make_room(world, c))
        status = sinew_fail_memory(error, "the surfaces that touch");
    if (status == SINEW_OK) {
        fill_features(world, &s, &c->features);
        measure_edges(c);
        if (!sinew_contact_list_skins(world))
            status = sinew_fail_memory(error, "the surfaces that touch");
    }
    if (status == SINEW_OK) {
        status = sinew_detector_create(&c->detector, &c->features, world->objective.thread_count, error);
    }
    if (status == SINEW_OK && !sinew_contact_use_notes(world))
        status = sinew_fail_memory(error, "the surfaces that touch");
    sketch_release(&s, &world->allocator);
    if (status != SINEW_OK) {
        sinew_contact_surfaces_release(c, &world->allocator);
        return status;
    }
    c->stale = false;
    c->shape_version = world->shape_version;
    return SINEW_OK;
}

void sinew_contact_gather(const sinew_world *world, const sinew_real *q, sinew_real *x)
{
    const sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    for (int32_t v = 0; v < f->moved_count; v++)
        memcpy(x + 4 * (size_t)v, q + 4 * (size_t)f->particle[v], 4 * sizeof *x);
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic)
            sinew_contact_place(world, o, c->part[o], x + 4 * (size_t)f->objects[o].first_vertex);
}
