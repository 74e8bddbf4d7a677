/* SPDX-License-Identifier: MIT
 *
 * clamps.c: clamps of rods and shells: positions and tangents that are fixed exactly at vertices.
 *
 * Shells: the vertices and the director points of the edges between two of them are pinned: the slope of an edge is
 * that of its director, so the clamp is on the edge.
 *
 * Rods: strains are at vertices, and the frame of an edge is that at its middle. A clamp at the end x_1 of the edge
 * x_1 x_2 with director point p_1 adds two pinned points to the body, the end x_0 and the director point p_0 of a
 * segment before x_1, and an element (x_0 x_1 x_2 p_0 p_1) to the rod energy. The strain of this element extends over
 * half of the edge, from x_1 to its middle. The added segment therefore has almost no length in the element's rest
 * shape: L = (l_0 + l_1) / 2 -> l_1 / 2. Errors fall with the square of the edge length.
 *
 * Limits: a rod is clamped at its ends only, where it has one edge.
 */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "world/world.h"

#define CLAMP_LENGTH 1e-6 /* rest length of the segment that a clamp adds, relative to the length of the rod's edge */
#define CLAMP_MASS   1e-3 /* mass of a point that a clamp adds, relative to the mass of the edge's director point */

sinew_clamp_def sinew_default_clamp_def(void)
{
    return (sinew_clamp_def){.cookie = SINEW_COOKIE_CLAMP, .body = {.index = -1}};
}

/* Points that a clamp pins, as vertex numbers of the body. */
typedef struct clamped {
    int32_t *list; /* [count] vertices that the clamp pins */
    int32_t count, end_count;
    struct rod_end *ends; /* [end_count] clamped ends of rods; NULL: the body is a shell */
} clamped;

/* A clamped end of a rod, vertex v, with its edge to the vertex `next` and the edge's director point p. `last`: the
 * edge is directed towards v. */
typedef struct rod_end {
    int32_t v, next, p;
    bool last;
} rod_end;

static void clamped_release(const sinew_world *world, clamped *c)
{
    sinew_release(&world->allocator, c->list);
    sinew_release(&world->allocator, c->ends);
}

/* ---- Clamped edges of shells -------------------------------------------------------------------- */

/* Adds to the clamp the marked vertices that are no director points, and the director points of edges between two of
 * these vertices. */
static sinew_status clamp_shell_edges(const sinew_mesh *mesh, uint8_t *marked, clamped *c, sinew_error *error)
{
    const int32_t *directors = sinew_mesh_directors(mesh), vertex_count = sinew_mesh_vertex_count(mesh);
    bool any = false;
    for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++)
        marked[directors[3 * i + 2]] = 0;
    for (int32_t i = 0; i < vertex_count; i++)
        if (marked[i])
            c->list[c->count++] = i;
    for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++)
        if (marked[directors[3 * i]] && marked[directors[3 * i + 1]]) {
            c->list[c->count++] = directors[3 * i + 2];
            any = true;
        }
    return any ? SINEW_OK
               : sinew_fail(error, SINEW_ERROR_DATA,
                            "clamp: no edge joins two of the vertices, so there is no tangent to hold; pins hold "
                            "single vertices");
}

/* ---- Clamped ends of rods ----------------------------------------------------------------------- */

/* Finds the edge at each marked end of a rod. Marked points without edges are ignored: director points and points of
 * other clamps, which selections by position contain. */
static sinew_status clamp_find_ends(const sinew_mesh *mesh, const uint8_t *marked, clamped *c, sinew_error *error)
{
    const int32_t *directors = sinew_mesh_directors(mesh);
    for (int32_t v = 0; v < sinew_mesh_vertex_count(mesh); v++) {
        int32_t uses = 0;
        rod_end end = {.v = v};
        for (int32_t i = 0; marked[v] && i < sinew_mesh_director_count(mesh); i++) {
            const int32_t *d = directors + 3 * i;
            if (d[0] != v && d[1] != v)
                continue;
            uses++;
            end.last = d[1] == v;
            end.next = end.last ? d[0] : d[1];
            end.p = d[2];
        }
        if (uses > 1)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "clamp: vertex %d has %d edges; a rod is clamped at an end, which has one edge", v, uses);
        if (uses == 1) {
            c->list[c->count++] = v;
            c->ends[c->end_count++] = end;
        }
    }
    return c->end_count > 0 ? SINEW_OK
                            : sinew_fail(error, SINEW_ERROR_DATA, "clamp: none of the vertices is the end of a rod");
}

/* Rotates the vector x by the smallest rotation from the unit vector t to the unit vector u. */
static void rotate_between(const double t[3], const double u[3], double x[3])
{
    double axis[3], turned[3];
    const double c = vec3_dot(t, u);
    vec3_cross(t, u, axis);
    if (c < -1 + 1e-9) { /* t and u are opposite: half a turn about any axis perpendicular to t */
        const double side[3] = {fabs(t[0]) < 0.6, fabs(t[0]) >= 0.6, 0};
        vec3_cross(t, side, axis);
        const double across = 2 * vec3_dot(axis, x) / vec3_dot(axis, axis);
        for (int k = 0; k < 3; k++)
            x[k] = across * axis[k] - x[k];
        return;
    }
    vec3_cross(axis, x, turned);
    const double along = vec3_dot(axis, x) / (1 + c);
    for (int k = 0; k < 3; k++)
        x[k] = c * x[k] + turned[k] + along * axis[k];
}

/* Computes the edge vector e from the rod's end v, and the director's vector r from the middle of the edge, of
 * positions x[3 * vertex]. */
static void edge_and_director_of(const rod_end *end, const sinew_real *x, double e[3], double r[3])
{
    for (int k = 0; k < 3; k++) {
        const double v = (double)x[3 * (size_t)end->v + (size_t)k];
        e[k] = (double)x[3 * (size_t)end->next + (size_t)k] - v;
        r[k] = (double)x[3 * (size_t)end->p + (size_t)k] - v - e[k] / 2;
    }
}

/* Computes the positions of the added end and director point of a clamp: those of the edge, moved by the edge and
 * turned towards the tangent. False if the edge or the tangent has no direction. */
static bool place_added_points(const rod_end *end, const sinew_real *x, const sinew_real *tangent, sinew_real *out)
{
    double e[3], r[3], t[3], u[3];
    edge_and_director_of(end, x, e, r);
    const double length = vec3_norm(e);
    for (int k = 0; k < 3; k++) {
        t[k] = e[k] / length;
        u[k] = tangent ? (double)tangent[k] : t[k];
    }
    const double size = vec3_norm(u);
    if (!(length > 0) || !(size > 0) || !isfinite(size))
        return false;
    for (int k = 0; k < 3; k++)
        u[k] /= size;
    rotate_between(t, u, e);
    rotate_between(t, u, r);
    for (int k = 0; k < 3; k++) {
        const double v = (double)x[3 * (size_t)end->v + (size_t)k];
        out[k] = (sinew_real)(v - e[k]);
        out[3 + k] = (sinew_real)(v - e[k] / 2 + r[k]);
    }
    return true;
}

/* Computes the rod element of a clamp and its rest shape: v at the origin, the added segment along the edge. */
static void make_clamp_element(const rod_end *end, int32_t added, const sinew_real *rest, int32_t cell[5],
                               sinew_real shape[15])
{
    double e[3], r[3];
    edge_and_director_of(end, rest, e, r);
    const int32_t points[5] = {added, end->v, end->next, added + 1, end->p};
    for (int a = 0; a < 5; a++) {
        /* A rod element follows the direction of its edges: at the last vertex of a rod the added segment comes
         * second. */
        const int at = !end->last ? a : a < 3 ? 2 - a : 7 - a;
        cell[at] = points[a];
        for (int k = 0; k < 3; k++) {
            const double from[5] = {-CLAMP_LENGTH * e[k], 0, e[k], -CLAMP_LENGTH * e[k] / 2 + r[k], e[k] / 2 + r[k]};
            shape[3 * at + k] = (sinew_real)from[a];
        }
    }
}

/* Number of an element of the rod energy that contains this particle, a director point; -1: none. */
static int32_t find_rod_element(const sinew_energy_record *energy, int32_t particle)
{
    if (!energy->batch || energy->kind != SINEW_ENERGY_ROD)
        return -1;
    for (int32_t i = 0; i < energy->store.count; i++)
        for (size_t a = 3; a < 5; a++)
            if (energy->store.particles[5 * (size_t)i + a] == particle)
                return i;
    return -1;
}

/* Fails if a rod's end or its director point cannot be clamped. */
static sinew_status clamp_check_end(const sinew_world *world, const sinew_body_record *body, const rod_end *end,
                                    sinew_error *error)
{
    const int32_t particle = world->inside[body->first + end->p];
    bool bends = false;
    for (int32_t i = 0; i < world->energy_count && !bends; i++)
        bends = find_rod_element(&world->energies[i], particle) >= 0;
    if (!bends)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "clamp: no energy of kind rod acts on the edge (%d, %d); add it before the clamp", end->v,
                          end->next);
    if (world->pinned[world->inside[body->first + end->v]])
        return sinew_fail(error, SINEW_ERROR_DATA, "clamp: vertex %d is pinned already", end->v);
    return SINEW_OK;
}

/* Appends the element of a clamp to every rod energy on the edge of this end, with the parameters of the neighbouring
 * element. */
static sinew_status add_clamp_elements(sinew_world *world, const sinew_clamp_def *def, const rod_end *end,
                                       int32_t added, sinew_error *error)
{
    const sinew_body_record *body = &world->bodies[def->body.index];
    const int32_t particle = world->inside[body->first + end->p];
    sinew_status status = SINEW_OK;
    int32_t cell[5];
    sinew_real shape[15];
    make_clamp_element(end, added, sinew_mesh_positions(body->mesh), cell, shape);
    for (int32_t i = 0; i < world->energy_count && status == SINEW_OK; i++) {
        const int32_t neighbour = find_rod_element(&world->energies[i], particle);
        if (neighbour < 0)
            continue;
        const sinew_energy id = {.index = i, .generation = world->energies[i].generation};
        const sinew_energy_store *store = &world->energies[i].store;
        sinew_energy_def more = sinew_default_energy_def(SINEW_ENERGY_ROD);
        int32_t first;
        more.body = def->body;
        more.elements = cell;
        more.element_count = 1;
        for (int p = 0; p < SINEW_PARAMETER_MAX; p++)
            more.parameters[p] = store->by_element >> p & 1 ? store->each[p][neighbour] : store->parameters[p];
        status = sinew_energy_add_elements(world, id, &more, &first, error);
        if (status == SINEW_OK)
            status = sinew_energy_set_rest(world, id, first, 1, shape, error);
    }
    return status;
}

/* Adds the two points of every clamped rod end to the body, and to the list of vertices that the clamp pins. */
static sinew_status clamp_add_points(sinew_world *world, const sinew_clamp_def *def, clamped *c, int32_t *first,
                                     sinew_error *error)
{
    const sinew_body_record *body = &world->bodies[def->body.index];
    const size_t count = 2 * (size_t)c->end_count, all = (size_t)body->count;
    sinew_real *rest = sinew_allocate(&world->allocator, 7 * count + 3 * all, sizeof *rest);
    if (!rest)
        return sinew_fail_memory(error, "a clamp");
    sinew_real *now = rest + 3 * count, *masses = now + 3 * count, *q = masses + count;
    sinew_status status = sinew_world_get_positions(world, body->first, body->count, q);
    for (int32_t i = 0; i < c->end_count && status == SINEW_OK; i++) {
        const rod_end *end = &c->ends[i];
        const sinew_real mass = (sinew_real)CLAMP_MASS * world->mass[world->inside[body->first + end->p]];
        place_added_points(end, sinew_mesh_positions(body->mesh), NULL, rest + 6 * (size_t)i);
        if (!place_added_points(end, q, def->tangent, now + 6 * (size_t)i))
            status = sinew_fail(error, SINEW_ERROR_DATA, "clamp: the tangent at vertex %d has no direction", end->v);
        masses[2 * i] = masses[2 * i + 1] = mass;
    }
    sinew_vertices_def more = sinew_default_vertices_def();
    more.count = (int32_t)count;
    more.rest = rest;
    more.positions = now;
    more.masses = masses;
    if (status == SINEW_OK)
        status = sinew_body_add_vertices(world, def->body, &more, first, error);
    sinew_release(&world->allocator, rest);
    for (size_t i = 0; i < count && status == SINEW_OK; i++)
        c->list[c->count++] = *first + (int32_t)i;
    return status;
}

/* ---- Clamping of a body ------------------------------------------------------------------------- */

/* Marks the vertices of the clamp definition in marked [vertex count of the body]. */
static sinew_status mark_clamped_vertices(const sinew_body_record *body, const sinew_clamp_def *def, uint8_t *marked,
                                          sinew_error *error)
{
    for (int32_t i = 0; i < def->vertex_count; i++) {
        if (def->vertices[i] < 0 || def->vertices[i] >= body->count)
            return sinew_fail(error, SINEW_ERROR_DATA, "clamp: vertex %d is not in [0, %d]", def->vertices[i],
                              body->count - 1);
        marked[def->vertices[i]] = 1;
    }
    return SINEW_OK;
}

/* Finds the vertices that the clamp pins, without changing the world. */
static sinew_status find_clamped_vertices(const sinew_world *world, const sinew_body_record *body,
                                          const sinew_clamp_def *def, clamped *c, sinew_error *error)
{
    const bool shell = sinew_mesh_triangle_count(body->mesh) > 0;
    if (sinew_mesh_director_count(body->mesh) == 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "clamp: the mesh has no directors, which carry the tangents of shells and rods; "
                          "sinew_mesh_with_directors() (\"directors\": true in a scene's mesh) makes them");
    if (shell && def->tangent)
        return sinew_fail(error, SINEW_ERROR_DATA, "clamp: a tangent is for rods; the body is a shell");
    uint8_t *marked = sinew_allocate_zero(&world->allocator, (size_t)body->count, sizeof *marked);
    c->list = sinew_allocate(&world->allocator, (size_t)body->count + 2 * (size_t)def->vertex_count, sizeof *c->list);
    c->ends = shell ? NULL : sinew_allocate(&world->allocator, (size_t)def->vertex_count, sizeof *c->ends);
    sinew_status status = marked && c->list && (shell || c->ends) ? SINEW_OK : sinew_fail_memory(error, "a clamp");
    if (status == SINEW_OK)
        status = mark_clamped_vertices(body, def, marked, error);
    if (status == SINEW_OK)
        status =
            shell ? clamp_shell_edges(body->mesh, marked, c, error) : clamp_find_ends(body->mesh, marked, c, error);
    for (int32_t i = 0; i < c->end_count && status == SINEW_OK; i++)
        status = clamp_check_end(world, body, &c->ends[i], error);
    sinew_release(&world->allocator, marked);
    return status;
}

sinew_pin sinew_world_add_clamp(sinew_world *world, const sinew_clamp_def *def, sinew_error *error)
{
    sinew_pin pin = {.index = -1};
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return pin;
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_CLAMP)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "a clamp needs a world and a def made by sinew_default_clamp_def()");
        return pin;
    }
    const sinew_body_record *body = sinew_world_find_body(world, def->body, error);
    if (!body)
        return pin;
    if (def->vertex_count < 1 || !def->vertices) {
        sinew_fail(error, SINEW_ERROR_DATA, "clamp: the list of vertices is empty");
        return pin;
    }
    clamped c = {0};
    int32_t first = 0;
    sinew_status status = find_clamped_vertices(world, body, def, &c, error);
    if (status == SINEW_OK && c.ends)
        status = clamp_add_points(world, def, &c, &first, error);
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = def->body;
    pins.vertices = c.list;
    pins.vertex_count = c.count;
    pins.motion = def->motion;
    if (status == SINEW_OK)
        pin = sinew_world_add_pins(world, &pins, error);
    for (int32_t i = 0; i < c.end_count && pin.index >= 0 && status == SINEW_OK; i++)
        status = add_clamp_elements(world, def, &c.ends[i], first + 2 * i, error);
    clamped_release(world, &c);
    return status == SINEW_OK ? pin : (sinew_pin){.index = -1};
}

/* ---- Removal of a clamp ------------------------------------------------------------------------- */

/* Removes the elements of rod energies at a point that a clamp added. */
static sinew_status remove_clamp_elements(sinew_world *world, int32_t particle, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < world->energy_count && status == SINEW_OK; i++) {
        const sinew_energy id = {.index = i, .generation = world->energies[i].generation};
        int32_t element;
        while (status == SINEW_OK && (element = find_rod_element(&world->energies[i], particle)) >= 0)
            status = sinew_energy_remove_elements(world, id, &element, 1, error);
    }
    return status;
}

/* Lists the points that a clamp added: points of a pin without edges that are no director points, as vertices of the
 * body; returns their number. */
static int32_t list_added_points(const sinew_world *world, const sinew_body_record *body, const sinew_pin_record *pin,
                                 int32_t *added)
{
    const int32_t *directors = sinew_mesh_directors(body->mesh);
    const int32_t entries = 3 * sinew_mesh_director_count(body->mesh);
    int32_t count = 0;
    for (int32_t i = 0; i < pin->count; i++) {
        const int32_t vertex = world->outside[pin->particles[i]] - body->first;
        int32_t at = 0;
        while (at < entries && directors[at] != vertex)
            at++;
        if (at == entries)
            added[count++] = vertex;
    }
    return count;
}

sinew_status sinew_world_remove_clamp(sinew_world *world, sinew_pin clamp, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    const sinew_pin_record *pin = sinew_world_find_pin(world, clamp, error);
    const sinew_body_record *body = pin ? sinew_world_find_body(world, pin->body, error) : NULL;
    if (!body)
        return SINEW_ERROR_USAGE;
    sinew_pin_def kept = sinew_default_pin_def();
    int32_t *added = sinew_allocate(&world->allocator, (size_t)pin->count, sizeof *added);
    if (!added)
        return sinew_fail_memory(error, "a clamp");
    kept.body = pin->body;
    kept.vertices = added;
    kept.vertex_count = list_added_points(world, body, pin, added);
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < kept.vertex_count && status == SINEW_OK; i++)
        status = remove_clamp_elements(world, world->inside[body->first + added[i]], error);
    if (status == SINEW_OK)
        status = sinew_world_remove_pins(world, clamp, error);
    if (status == SINEW_OK && kept.vertex_count > 0 && sinew_world_add_pins(world, &kept, error).index < 0)
        status = SINEW_ERROR_MEMORY;
    sinew_release(&world->allocator, added);
    return status;
}
