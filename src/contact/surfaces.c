/* SPDX-License-Identifier: MIT
 *
 * surfaces.c: builds the collision mesh (collide/collision_mesh.h) from bodies and colliders.
 *
 * The surface of a body is the boundary of its tets, its triangles, or its edges. A body without cells collides with
 * all its particles. The collision vertices of a body are the vertices of its primitives, in the order of particles, so
 * that vertices near in space are near in memory. A rigid body with an embedded surface collides with this surface,
 * whose vertices are affine combinations of its four particles. A rigid sphere or capsule is a lone vertex or a lone
 * edge with a solid radius.
 */
#include <math.h>
#include <string.h>

#include "mesh/embedded_surface.h"
#include "mesh/mesh.h"
#include "contact/contact.h"

/* Objects of the collision mesh and their primitives, collected before the mesh is built. */
typedef struct sketch {
    sinew_collision_object *objects;     /* [count] objects of the collision mesh, bodies first */
    sinew_object_primitives *primitives; /* [count] triangles and lone edges of each collision object */
    bool *lone; /* [count] true: vertices of the object in no triangle or edge collide as points */
    /* [count] surface mesh of each body, owned by the body's mesh; NULL: a collider, or the embedded surface collides */
    const sinew_mesh **meshes;
    int32_t **numbers; /* [count] triangles, then edges of each body, as indices of the object's vertices */
    /* [count][vertex_count] particle of each vertex of each object; -1 - i: vertex i of a rigid body's surface */
    int32_t **particles;
    int32_t count;
} sketch;

static void sketch_release(sketch *s, const sinew_allocator *allocator)
{
    for (int32_t o = 0; o < s->count; o++) {
        sinew_release(allocator, s->numbers ? s->numbers[o] : NULL);
        sinew_release(allocator, s->particles ? s->particles[o] : NULL);
    }
    void *arrays[] = {s->objects, s->primitives, s->lone, s->meshes, s->numbers, s->particles};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *s = (sketch){0};
}

static bool sketch_reserve(sketch *s, const sinew_allocator *allocator, int32_t count)
{
    const size_t n = (size_t)count;
    s->count = count;
    s->objects = sinew_allocate_zero(allocator, n, sizeof *s->objects);
    s->primitives = sinew_allocate_zero(allocator, n, sizeof *s->primitives);
    s->lone = sinew_allocate_zero(allocator, n, sizeof *s->lone);
    s->meshes = sinew_allocate_zero(allocator, n, sizeof *s->meshes);
    s->numbers = sinew_allocate_zero(allocator, n, sizeof *s->numbers);
    s->particles = sinew_allocate_zero(allocator, n, sizeof *s->particles);
    return s->objects && s->primitives && s->lone && s->meshes && s->numbers && s->particles;
}

static double own_or_common(sinew_real own, sinew_real common)
{
    return isnan(own) ? (double)common : (double)own;
}

/* ---- Surfaces of bodies ---------------------------------------------------------------------- */

/* Marks in used [vertex_count] the vertices of a surface mesh's triangles and, if `with_edges`, of its edges. Returns
 * the number of marked vertices. */
static int32_t mark_used_vertices(const sinew_mesh *mesh, bool with_edges, uint8_t *used)
{
    const int32_t *triangles = sinew_mesh_triangles(mesh), *edges = sinew_mesh_edges(mesh);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    int32_t count = 0;
    memset(used, 0, (size_t)n);
    for (int32_t k = 0; k < 3 * sinew_mesh_triangle_count(mesh); k++)
        used[triangles[k]] = 1;
    for (int32_t k = 0; with_edges && k < 2 * sinew_mesh_edge_count(mesh); k++)
        used[edges[k]] = 1;
    for (int32_t v = 0; v < n; v++)
        count += used[v];
    return count;
}

/* True for a mesh without triangles and edges: a cloud of particles, all of which collide. */
static bool mesh_is_cloud(const sinew_mesh *mesh)
{
    return sinew_mesh_triangle_count(mesh) == 0 && sinew_mesh_edge_count(mesh) == 0;
}

/* Numbers the colliding particles of a body in ascending internal order, and converts its primitives to these
 * numbers. */
static bool sketch_number_body(const sinew_contact_view *view, const sinew_contact_body *body, sketch *s, int32_t o)
{
    const sinew_allocator *allocator = view->allocator;
    const sinew_mesh *mesh = s->meshes[o];
    const int32_t n = sinew_mesh_vertex_count(mesh), triangles = sinew_mesh_triangle_count(mesh);
    const int32_t edges = triangles > 0 ? 0 : sinew_mesh_edge_count(mesh);
    uint8_t *used = sinew_allocate(allocator, (size_t)n, 1);
    int32_t *number = sinew_allocate(allocator, (size_t)body->count, sizeof *number);
    bool good = used && number;
    int32_t count = 0;
    if (good) {
        count = mark_used_vertices(mesh, triangles == 0, used);
        s->lone[o] = mesh_is_cloud(mesh);
        count = s->lone[o] ? n : count;
        s->particles[o] = sinew_allocate(allocator, (size_t)count, sizeof **s->particles);
        s->numbers[o] = sinew_allocate(allocator, 3 * (size_t)triangles + 2 * (size_t)edges, sizeof **s->numbers);
        good = s->particles[o] && s->numbers[o];
    }
    if (good) {
        /* Collision vertices are in the internal order: particle start + i is mesh vertex outside[start + i] -
         * first. */
        int32_t next = 0;
        for (int32_t i = 0; i < body->count; i++) {
            const int32_t vertex = view->outside[body->start + i] - body->first;
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
        s->primitives[o] =
            (sinew_object_primitives){s->numbers[o], triangles, s->numbers[o] + 3 * (size_t)triangles, edges};
    }
    sinew_release(allocator, used);
    sinew_release(allocator, number);
    return good;
}

/* Adds a body that collides with its embedded surface (`skin`). It has no primitives; its vertices are the particles
 * that the surface is embedded in. */
static sinew_status sketch_skin(const sinew_contact_view *view, int32_t slot, sketch *s, int32_t o, sinew_error *error)
{
    const sinew_contact_body *body = &view->bodies[slot];
    if (!body->skin)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "body %d collides with its skin, and has none: give it one, or collide with its cage", slot);
    uint8_t *used = sinew_allocate_zero(view->allocator, (size_t)body->count, 1);
    s->particles[o] = sinew_allocate(view->allocator, (size_t)body->count, sizeof **s->particles);
    if (!used || !s->particles[o]) {
        sinew_release(view->allocator, used);
        return sinew_fail_memory(error, "the surface of a body");
    }
    for (int32_t k = 0; k < 4 * sinew_skin_vertex_count(body->skin); k++)
        used[view->inside[body->first + body->skin_vertices[k]] - body->start] = 1;
    s->objects[o].self = false;
    s->objects[o].skinned = true;
    for (int32_t i = 0; i < body->count; i++)
        if (used[i])
            s->particles[o][s->objects[o].vertex_count++] = body->start + i;
    sinew_release(view->allocator, used);
    return SINEW_OK;
}

/* Adds a rigid body: its four particles as frame vertices, then the vertices of its embedded surface. */
static bool sketch_rigid(const sinew_contact_view *view, const sinew_contact_body *body, sketch *s, int32_t o)
{
    const sinew_mesh *mesh = body->skin->mesh;
    const int32_t n = sinew_mesh_vertex_count(mesh), triangles = sinew_mesh_triangle_count(mesh);
    uint8_t *used = sinew_allocate(view->allocator, (size_t)n, 1);
    int32_t *number = sinew_allocate(view->allocator, (size_t)n, sizeof *number);
    s->particles[o] = sinew_allocate(view->allocator, 4 + (size_t)n, sizeof **s->particles);
    s->numbers[o] = sinew_allocate(view->allocator, 3 * (size_t)triangles, sizeof **s->numbers);
    const bool good = used && number && s->particles[o] && s->numbers[o];
    if (good) {
        int32_t next = 4;
        mark_used_vertices(mesh, false, used);
        for (int32_t k = 0; k < 4; k++)
            s->particles[o][k] = body->start + k;
        for (int32_t v = 0; v < n; v++) {
            number[v] = next;
            if (used[v])
                s->particles[o][next++] = -1 - v;
        }
        for (int32_t k = 0; k < 3 * triangles; k++)
            s->numbers[o][k] = number[sinew_mesh_triangles(mesh)[k]];
        s->objects[o].rigid = true;
        s->objects[o].self = false;
        s->objects[o].vertex_count = next;
        s->primitives[o] = (sinew_object_primitives){s->numbers[o], triangles, NULL, 0};
    }
    sinew_release(view->allocator, used);
    sinew_release(view->allocator, number);
    return good;
}

/* Adds a rigid sphere or capsule: its four particles as frame vertices, then the ends of its axis. */
static bool sketch_solid(const sinew_contact_view *view, const sinew_contact_body *body, sketch *s, int32_t o)
{
    s->particles[o] = sinew_allocate(view->allocator, 4 + 2, sizeof **s->particles);
    s->numbers[o] = sinew_allocate(view->allocator, 2, sizeof **s->numbers);
    if (!s->particles[o] || !s->numbers[o])
        return false;
    for (int32_t k = 0; k < 4; k++)
        s->particles[o][k] = body->start + k;
    for (int32_t k = 0; k < 2; k++) {
        s->particles[o][4 + k] = -1 - k;
        s->numbers[o][k] = 4 + k;
    }
    s->objects[o].rigid = true;
    s->objects[o].self = false;
    s->objects[o].radius = body->solid_radius;
    s->objects[o].vertex_count = 4 + body->solid_end_count;
    s->lone[o] = body->solid_end_count == 1;
    s->primitives[o] = (sinew_object_primitives){NULL, 0, s->numbers[o], body->solid_end_count - 1};
    return true;
}

static sinew_status sketch_body(const sinew_contact_view *view, int32_t slot, sketch *s, int32_t o, sinew_error *error)
{
    const sinew_contact_def *def = &view->contact->def;
    const sinew_contact_body *body = &view->bodies[slot];
    const sinew_body_contact *own = &body->contact;
    s->objects[o] = (sinew_collision_object){.body = slot,
                                             .collider = -1,
                                             .generation = body->generation,
                                             .mesh_version = body->mesh_version,
                                             .half_thickness = own_or_common(own->thickness, def->thickness) / 2,
                                             .friction = own_or_common(own->friction, def->friction),
                                             .restitution = own_or_common(own->restitution, def->restitution),
                                             .group = own->group,
                                             .mask = own->mask,
                                             .self = own->self && def->self};
    if (own->surface == SINEW_CONTACT_SKIN)
        return sketch_skin(view, slot, s, o, error);
    if (body->solid_radius > 0)
        return sketch_solid(view, body, s, o) ? SINEW_OK : sinew_fail_memory(error, "the surface of a body");
    if (body->rigid && body->skin)
        return sketch_rigid(view, body, s, o) ? SINEW_OK : sinew_fail_memory(error, "the surface of a body");
    s->meshes[o] = sinew_mesh_kept_surface(body->mesh, error);
    if (!s->meshes[o])
        return SINEW_ERROR_MEMORY;
    return sketch_number_body(view, body, s, o) ? SINEW_OK : sinew_fail_memory(error, "the surface of a body");
}

/* ---- Surfaces of colliders ------------------------------------------------------------------- */

static void sketch_collider(const sinew_contact_view *view, int32_t slot, sketch *s, int32_t o)
{
    const sinew_contact_def *def = &view->contact->def;
    const sinew_collider_record *r = &view->colliders[slot];
    s->objects[o] = (sinew_collision_object){.body = -1,
                                             .collider = slot,
                                             .generation = r->generation,
                                             .vertex_count = r->vertex_count,
                                             .half_thickness = own_or_common(r->thickness, def->thickness) / 2,
                                             .radius = r->radius,
                                             .friction = own_or_common(r->friction, def->friction),
                                             .restitution = own_or_common(r->restitution, def->restitution),
                                             .group = r->group,
                                             .mask = r->mask,
                                             .kinematic = true};
    s->primitives[o] = (sinew_object_primitives){r->triangles, r->triangle_count, r->edges, r->edge_count};
    s->lone[o] = r->triangle_count == 0 && r->edge_count == 0;
}

/* Time in s at which a collider's motion is evaluated at `fraction` of the step. A truncated collider starts with a
 * delay and catches up. */
static double collider_time(const sinew_contact_view *view, const sinew_collider_record *r, double fraction)
{
    return view->contact->time - r->behind + fraction * ((double)view->time_step + r->behind);
}

void sinew_contact_collider_positions(const sinew_contact_view *view, int32_t object, double fraction, sinew_real *x)
{
    const sinew_collider_record *r = &view->colliders[view->contact->mesh.objects[object].collider];
    sinew_shape_positions(r, collider_time(view, r, fraction), fraction, x);
}

void sinew_contact_plane(const sinew_contact_view *view, int32_t object, double fraction, double point[3],
                         double normal[3])
{
    const sinew_collider_record *r = &view->colliders[view->contact->mesh.objects[object].collider];
    sinew_shape_plane(r, collider_time(view, r, fraction), fraction, point, normal);
}

sinew_contact_object sinew_contact_object_of(const sinew_contact_work *c, int32_t object)
{
    const sinew_collision_object *o = &c->mesh.objects[object];
    sinew_contact_object contact_object = {.body = {.index = -1}, .collider = {.index = -1}};
    if (o->body >= 0)
        contact_object.body = (sinew_body){o->body, o->generation};
    else
        contact_object.collider = (sinew_collider){o->collider, o->generation};
    return contact_object;
}

/* ---- All collision objects ------------------------------------------------------------------ */

static bool objects_may_collide(const sinew_contact_view *view, const sinew_collision_object *a,
                                const sinew_collision_object *b)
{
    const sinew_contact_work *c = view->contact;
    if (a == b)
        return a->self;
    if ((a->kinematic && b->kinematic) || !(a->group & b->mask) || !(b->group & a->mask))
        return false;
    const sinew_collision_object *all = c->mesh.objects;
    const sinew_contact_object first = sinew_contact_object_of(view->contact, (int32_t)(a - all)),
                               second = sinew_contact_object_of(view->contact, (int32_t)(b - all));
    return !c->filter || c->filter(c->filter_context, &first, &second);
}

/* Copies the rest shape of a collider in its own frame. It does not depend on the time at which the mesh is built,
 * which a loaded state changes. */
static void copy_collider_rest(const sinew_collider_record *r, sinew_real *rest)
{
    for (int32_t v = 0; v < r->vertex_count; v++)
        memcpy(rest + 4 * (size_t)v, r->vertices + 3 * (size_t)v, 3 * sizeof *rest);
}

/* Fills weights and vertex numbers of a rigid body; frame vertices are numbered by their public particles. */
static void fill_rigid(const sinew_contact_view *view, const int32_t *particles, sinew_collision_mesh *f,
                       const sinew_collision_object *object)
{
    const sinew_contact_body *body = &view->bodies[object->body];
    for (int32_t v = 0; v < object->vertex_count; v++) {
        const size_t at = (size_t)(object->first_vertex + v);
        const int32_t vertex = -1 - particles[v];
        f->particle[at] = v < 4 ? particles[v] : -1;
        view->contact->vertex_number[at] = v < 4 ? view->outside[particles[v]] - body->first : body->count + vertex;
        for (size_t k = 0; v < 4 && k < 4; k++) {
            f->frame_weights[4 * at + k] = (size_t)v == k;
            f->rest[4 * at + k] = view->rest[4 * (size_t)particles[v] + k];
        }
        for (size_t k = 0; v >= 4 && k < 4; k++) {
            const size_t corner = 4 * (size_t)vertex + k;
            const bool solid = object->radius > 0;
            const int32_t own =
                view->inside[body->first + (solid ? (int32_t)k : body->skin_vertices[corner])] - body->start;
            f->frame_weights[4 * at + (size_t)own] =
                solid ? body->solid_weights[vertex][k] : body->skin_weights[corner];
        }
    }
}

static void fill_collision_mesh(const sinew_contact_view *view, const sketch *s, sinew_collision_mesh *f)
{
    int32_t *number = view->contact->vertex_number;
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_collision_object *object = &f->objects[o];
        sinew_real *rest = f->rest + 4 * (size_t)object->first_vertex;
        if (object->rigid) {
            fill_rigid(view, s->particles[o], f, object);
            continue;
        }
        for (int32_t v = 0; v < object->vertex_count; v++)
            number[object->first_vertex + v] =
                object->kinematic ? v : view->outside[s->particles[o][v]] - view->bodies[object->body].first;
        if (object->kinematic) {
            copy_collider_rest(&view->colliders[object->collider], rest);
            continue;
        }
        memcpy(f->particle + object->first_vertex, s->particles[o], (size_t)object->vertex_count * sizeof *f->particle);
        for (int32_t v = 0; v < object->vertex_count; v++)
            memcpy(rest + 4 * (size_t)v, view->rest + 4 * (size_t)s->particles[o][v], 4 * sizeof *rest);
    }
    sinew_collision_mesh_embed(f, f->rest);
    for (int32_t a = 0; a < f->object_count; a++)
        for (int32_t b = 0; b < f->object_count; b++)
            f->may_collide[(size_t)a * (size_t)f->object_count + (size_t)b] =
                objects_may_collide(view, &f->objects[a], &f->objects[b]);
}

/* Collects all objects of the collision mesh: bodies first, then colliders. */
static sinew_status sketch_all(const sinew_contact_view *view, sketch *s, sinew_error *error)
{
    int32_t count = 0, first = 0;
    for (int32_t b = 0; b < view->body_count; b++)
        count += view->bodies[b].mesh && view->bodies[b].contact.surface != SINEW_CONTACT_NONE;
    for (int32_t k = 0; k < view->collider_count; k++)
        count += view->colliders[k].there;
    if (!sketch_reserve(s, view->allocator, count))
        return sinew_fail_memory(error, "the collision mesh");
    int32_t o = 0;
    sinew_status status = SINEW_OK;
    for (int32_t b = 0; status == SINEW_OK && b < view->body_count; b++)
        if (view->bodies[b].mesh && view->bodies[b].contact.surface != SINEW_CONTACT_NONE)
            status = sketch_body(view, b, s, o++, error);
    for (int32_t k = 0; status == SINEW_OK && k < view->collider_count; k++)
        if (view->colliders[k].there)
            sketch_collider(view, k, s, o++);
    for (int32_t k = 0; k < count; k++) {
        s->objects[k].first_vertex = first;
        first += s->objects[k].vertex_count;
    }
    return status;
}

static bool contact_reserve_buffers(const sinew_contact_view *view, sinew_contact_work *c)
{
    const sinew_allocator *m = view->allocator;
    const size_t n = (size_t)c->mesh.vertex_count, objects = (size_t)c->mesh.object_count;
    return sinew_reserve(m, &c->x_pass_start, &c->x_pass_start_capacity, 4 * n, sizeof *c->x_pass_start) &&
           sinew_reserve(m, &c->x_predicted, &c->x_predicted_capacity, 4 * n, sizeof *c->x_predicted) &&
           sinew_reserve(m, &c->x_inertial, &c->x_inertial_capacity, 4 * n, sizeof *c->x_inertial) &&
           sinew_reserve(m, &c->x_requested, &c->x_requested_capacity, 4 * n, sizeof *c->x_requested) &&
           sinew_reserve(m, &c->truncated, &c->truncated_capacity, n, sizeof *c->truncated) &&
           sinew_reserve(m, &c->contact_counts, &c->contact_count_capacity, n, sizeof *c->contact_counts) &&
           sinew_reserve(m, &c->x_step_start, &c->x_step_start_capacity, 4 * n, sizeof *c->x_step_start) &&
           sinew_reserve(m, &c->kinematic, &c->kinematic_capacity, 4 * n, sizeof *c->kinematic) &&
           sinew_reserve(m, &c->inflation_radius, &c->inflation_radius_capacity, n, sizeof *c->inflation_radius) &&
           sinew_reserve(m, &c->vertex_number, &c->vertex_number_capacity, n, sizeof *c->vertex_number) &&
           sinew_reserve(m, &c->mean_edge, &c->mean_edge_capacity, objects, sizeof *c->mean_edge) &&
           sinew_reserve(m, &c->progress, &c->progress_capacity, objects, sizeof *c->progress) &&
           sinew_reserve(m, &c->fraction, &c->fraction_capacity, objects, sizeof *c->fraction);
}

/* Computes the mean edge length of each object at rest, of rigid spheres and capsules at least their radius; HUGE_VAL
 * for other objects without edges, which imposes no limit. */
static void measure_mean_edges(sinew_contact_work *c)
{
    const sinew_collision_mesh *f = &c->mesh;
    for (int32_t o = 0; o < f->object_count; o++) {
        c->mean_edge[o] = 0;
        c->fraction[o] = 0; /* used as the edge count of each object until the division below */
    }
    for (int32_t e = 0; e < f->edge_count; e++) {
        double square = 0;
        for (size_t k = 0; k < 3; k++) {
            const double d =
                (double)f->rest[4 * (size_t)f->edges[e][0] + k] - (double)f->rest[4 * (size_t)f->edges[e][1] + k];
            square += d * d;
        }
        c->mean_edge[f->object[f->edges[e][0]]] += sqrt(square);
        c->fraction[f->object[f->edges[e][0]]] += 1;
    }
    for (int32_t o = 0; o < f->object_count; o++) {
        const double solid = f->objects[o].rigid ? f->objects[o].radius : 0;
        c->mean_edge[o] = c->fraction[o] > 0 ? fmax(c->mean_edge[o] / c->fraction[o], solid)
                          : solid > 0        ? solid
                                             : HUGE_VAL;
        c->fraction[o] = 0;
    }
}

void sinew_contact_surfaces_release(sinew_contact_work *c, const sinew_allocator *allocator)
{
    (void)allocator;
    sinew_contact_trees_release(c);
    sinew_detector_destroy(c->detector);
    c->detector = NULL;
    sinew_collision_mesh_destroy(&c->mesh);
}

/* Lists the objects that pinned vertices follow. Pins may have changed since the collision mesh was built. */
static sinew_status find_followed(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    sinew_collision_mesh *f = &c->mesh;
    f->followed = NULL;
    if (!view->followed)
        return SINEW_OK;
    if (!sinew_reserve_spare(view->allocator, &c->vertex_followed, &c->vertex_followed_capacity, (size_t)f->moved_count,
                             sizeof *c->vertex_followed))
        return sinew_fail_memory(error, "contacts");
    for (int32_t v = 0; v < f->moved_count; v++) {
        const int32_t frame = f->objects[f->object[v]].first_vertex;
        const int32_t slot = view->followed[f->particle[f->particle[v] < 0 ? frame : v]];
        c->vertex_followed[v] = -1;
        for (int32_t o = 0; slot >= 0 && o < f->object_count; o++)
            if (f->objects[o].collider == slot)
                c->vertex_followed[v] = o;
    }
    f->followed = c->vertex_followed;
    return SINEW_OK;
}

/* Index of the object in the list of the former collision mesh; -1: it is new, or its surface may have changed. */
static int32_t former_object(const sinew_collision_object *object, const sinew_collision_mesh *former)
{
    for (int32_t o = 0; o < former->object_count && !object->rigid && !object->skinned; o++) {
        const sinew_collision_object *old = &former->objects[o];
        if (old->body == object->body && old->collider == object->collider && old->generation == object->generation &&
            old->mesh_version == object->mesh_version && !old->rigid && !old->skinned)
            return o;
    }
    return -1;
}

/* Marks the pairs of objects that did not overlap in the former collision mesh: after a body was added, only its own
 * pairs are searched for overlaps. False: out of memory. */
static bool find_parted(const sinew_contact_view *view, const sinew_collision_mesh *former)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    const size_t n = (size_t)f->object_count;
    if (!sinew_reserve_spare(view->allocator, &c->parted, &c->parted_capacity, n * n, 1))
        return false;
    for (int32_t a = 0; a < f->object_count; a++) {
        const int32_t old = former_object(&f->objects[a], former);
        for (int32_t b = 0; b < f->object_count; b++) {
            const int32_t other = old < 0 ? -1 : former_object(&f->objects[b], former);
            c->parted[(size_t)a * n + (size_t)b] = other >= 0 && sinew_may_collide(former, old, other);
        }
    }
    c->parted_known = true;
    return true;
}

static sinew_status rebuild_surfaces(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    sketch s = {0};
    if (!sinew_contact_cache_store(view))
        return sinew_fail_memory(error, "the collision mesh");
    const bool were_free = c->free_known;
    sinew_detector *former_detector = c->detector;
    sinew_contact_trees_release(c);
    c->detector = NULL;
    sinew_collision_mesh former = c->mesh;
    c->mesh = (sinew_collision_mesh){0};
    c->intersections_known = c->parted_known = false;
    /* A body that tears after a load has new surfaces. */
    c->free_known = c->free_loaded && c->shape_version == view->shape_version;
    c->free_loaded = false;
    sinew_status status = sketch_all(view, &s, error);
    if (status == SINEW_OK)
        status =
            sinew_collision_mesh_create(&c->mesh, view->allocator, s.objects, s.primitives, s.lone, s.count, error);
    if (status == SINEW_OK && !contact_reserve_buffers(view, c))
        status = sinew_fail_memory(error, "the collision mesh");
    if (status == SINEW_OK) {
        fill_collision_mesh(view, &s, &c->mesh);
        measure_mean_edges(c);
        if (!sinew_contact_build_skins(view) || (were_free && !find_parted(view, &former)))
            status = sinew_fail_memory(error, "the collision mesh");
    }
    if (status == SINEW_OK) {
        status = sinew_detector_create(&c->detector, &c->mesh, view->objective->thread_count, error);
    }
    if (status == SINEW_OK)
        sinew_detector_take_buffers(c->detector, former_detector);
    sinew_detector_destroy(former_detector);
    if (status == SINEW_OK && !sinew_contact_cache_restore(view))
        status = sinew_fail_memory(error, "the collision mesh");
    sketch_release(&s, view->allocator);
    sinew_collision_mesh_destroy(&former);
    if (status != SINEW_OK) {
        sinew_contact_surfaces_release(c, view->allocator);
        return status;
    }
    c->stale = false;
    c->shape_version = view->shape_version;
    return SINEW_OK;
}

sinew_status sinew_contact_update_surfaces(const sinew_contact_view *view, sinew_error *error)
{
    const sinew_contact_work *c = view->contact;
    sinew_status status = SINEW_OK;
    if (c->stale || c->shape_version != view->shape_version)
        status = rebuild_surfaces(view, error);
    return status == SINEW_OK ? find_followed(view, error) : status;
}

void sinew_contact_gather_bodies(const sinew_contact_work *c, const sinew_real *q, sinew_real *x)
{
    const sinew_collision_mesh *f = &c->mesh;
    for (int32_t v = 0; v < f->moved_count; v++)
        if (f->particle[v] >= 0)
            memcpy(x + 4 * (size_t)v, q + 4 * (size_t)f->particle[v], 4 * sizeof *x);
    sinew_collision_mesh_embed(f, x);
}

void sinew_contact_gather(const sinew_contact_view *view, const sinew_real *q, sinew_real *x)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    sinew_contact_gather_bodies(c, q, x);
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic)
            sinew_contact_collider_positions(view, o, c->fraction[o], x + 4 * (size_t)f->objects[o].first_vertex);
}
