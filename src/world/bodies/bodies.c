/* SPDX-License-Identifier: MIT
 *
 * bodies.c: adds and removes bodies.
 *
 * In the internal order, particles follow the order of the bodies' slots. So the order of particles depends only on the
 * current bodies and their slots, not on bodies that were removed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "math/vec3.h"
#include "mesh/topology.h"
#include "world/bodies/tear.h"
#include "world/world.h"

/* ---- Definition of a body and its masses ------------------------------------------------------- */

sinew_body_def sinew_default_body_def(void)
{
    return (sinew_body_def){.cookie = SINEW_COOKIE_BODY, .density = 1000};
}

/* Volume (m^3), area (m^2) or length (m) of a mesh cell with n = 4, 3 or 2 vertices. */
static double cell_size(const sinew_real *x, const int32_t *cell, int32_t n)
{
    double e[3][3] = {{0}};
    for (int32_t a = 1; a < n; a++)
        vec3_edge(x + 3 * (size_t)cell[0], x + 3 * (size_t)cell[a], e[a - 1]);
    double cross[3];
    vec3_cross(e[0], e[1], cross);
    return n == 4 ? fabs(vec3_dot(cross, e[2])) / 6 : n == 3 ? vec3_norm(cross) / 2 : vec3_norm(e[0]);
}

/* Finds the cells that define the mass of a body: tets, else triangles, else edges. */
static void find_mass_cells(const sinew_mesh *mesh, const int32_t **cells, int32_t *count, int32_t *n)
{
    *cells = sinew_mesh_tets(mesh);
    *count = sinew_mesh_tet_count(mesh);
    *n = 4;
    if (*count == 0) {
        *cells = sinew_mesh_triangles(mesh);
        *count = sinew_mesh_triangle_count(mesh);
        *n = 3;
    }
    if (*count == 0) {
        *cells = sinew_mesh_edges(mesh);
        *count = sinew_mesh_edge_count(mesh);
        *n = 2;
    }
}

/* Fraction of a vertex's mass that moves to the director points of its edges. Directors need mass to move; the
 * fraction is small because they are off the edge and shift the centre of mass. */
#define DIRECTOR_SHARE 0.01

/* Moves mass from the ends of each edge with a director point to that point; the total is preserved. */
static sinew_status move_mass_to_directors(const sinew_world *world, const sinew_mesh *mesh, double *masses,
                                           sinew_error *error)
{
    const int32_t *directors = sinew_mesh_directors(mesh), count = sinew_mesh_director_count(mesh);
    const int32_t vertex_count = sinew_mesh_vertex_count(mesh);
    double *share = sinew_allocate_zero(&world->allocator, (size_t)vertex_count, sizeof *share);
    if (!share)
        return sinew_fail_memory(error, "a body");
    for (int32_t i = 0; i < 3 * count; i++)
        share[directors[i]] += i % 3 < 2;
    for (int32_t v = 0; v < vertex_count; v++)
        share[v] = share[v] > 0 ? DIRECTOR_SHARE * masses[v] / share[v] : 0;
    for (int32_t i = 0; i < 3 * count; i += 3)
        for (int end = 0; end < 2; end++) {
            masses[directors[i + end]] -= share[directors[i + end]];
            masses[directors[i + 2]] += share[directors[i + end]];
        }
    sinew_release(&world->allocator, share);
    return SINEW_OK;
}

/* Computes masses [vertex_count], kg: every tet (in a mesh without tets every triangle, else every edge) contributes
 * equal fractions of its filled mass to its vertices. */
static void lump_masses(const sinew_body_def *def, double *masses)
{
    const int32_t *cells;
    const sinew_real *fractions =
        sinew_mesh_fractions(def->mesh); /* filled fractions of tets; tets come before other cells in the mesh */
    int32_t count, n;
    find_mass_cells(def->mesh, &cells, &count, &n);
    memset(masses, 0, (size_t)sinew_mesh_vertex_count(def->mesh) * sizeof *masses);
    for (int32_t e = 0; e < count; e++) {
        const int32_t *cell = cells + (size_t)n * (size_t)e;
        double share = (double)def->density * cell_size(sinew_mesh_positions(def->mesh), cell, n) / n;
        share *= fractions ? (double)fractions[e] : 1;
        for (int32_t a = 0; a < n; a++)
            masses[cell[a]] += share;
    }
}

/* Computes masses [vertex_count], kg: the masses of the body definition, or from its density. */
static sinew_status find_masses(const sinew_world *world, const sinew_body_def *def, double *masses, sinew_error *error)
{
    const int32_t vertex_count = sinew_mesh_vertex_count(def->mesh);
    for (int32_t i = 0; def->masses && i < vertex_count; i++)
        masses[i] = (double)def->masses[i];
    if (!def->masses)
        lump_masses(def, masses);
    if (!def->masses && sinew_mesh_director_count(def->mesh) > 0 &&
        move_mass_to_directors(world, def->mesh, masses, error) != SINEW_OK)
        return SINEW_ERROR_MEMORY;
    for (int32_t i = 0; i < vertex_count; i++) {
        if (isfinite(masses[i]) && masses[i] > 0)
            continue;
        if (def->masses)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "the mass of vertex %d is %g kg, must be finite and greater than 0", i, masses[i]);
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "vertex %d has no mass: no cell of positive size uses it; drop it (sinew mesh fix) or give masses", i);
    }
    return SINEW_OK;
}

sinew_status sinew_points_check(const sinew_real *points, int32_t count, const char *what, sinew_error *error)
{
    for (int32_t i = 0; points && i < 3 * count; i++)
        if (!isfinite(points[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s of vertex %d is not finite", what, i / 3);
    return SINEW_OK;
}

static sinew_status check_body_def(const sinew_world *world, const sinew_body_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_BODY && def->mesh))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a body needs a world, a def made by sinew_default_body_def() and a mesh");
    int32_t count = sinew_mesh_vertex_count(def->mesh);
    if (count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "the mesh has no vertices");
    if (def->spare < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "spare is %d, must be at least 0", def->spare);
    if (count > INT32_MAX / 8 - world->number_count || def->spare > INT32_MAX / 8 - world->number_count - count)
        return sinew_fail(error, SINEW_ERROR_DATA, "the world would have more than %d particles", INT32_MAX / 8);
    if (def->name && (def->name[0] == '\0' || sinew_world_body_by_name(world, def->name).index >= 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "the name \"%.60s\" %s", def->name,
                          def->name[0] ? "is another body's" : "is empty; leave it out");
    if (def->solid.radius != 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "a solid is the shape of rigid bodies (sinew_world_add_rigid)");
    if (!def->masses && !(isfinite(def->density) && def->density > 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "density is %g, must be finite and greater than 0",
                          (double)def->density);
    sinew_status status = sinew_points_check(def->positions, count, "the position", error);
    if (status == SINEW_OK)
        status = sinew_points_check(def->velocities, count, "the velocity", error);
    return status == SINEW_OK ? sinew_body_damping_check(def, error) : status;
}

/* ---- Addition of a body ---------------------------------------------------------------------- */

static void copy_vertex_point(sinew_real *array, int32_t at, const sinew_real *points, int32_t vertex)
{
    if (points)
        memcpy(array + 4 * (size_t)at, points + 3 * (size_t)vertex, 3 * sizeof *array);
}

/* Arrays of a new body, computed before the world changes. */
typedef struct body_builder {
    double *masses; /* [vertex_count] mass of each vertex, in kg */
    int32_t *order; /* [vertex_count] vertex of the body at each index of the internal particle order */
    sinew_mesh *mesh;
    char *name; /* name of the body; NULL: it has no name */
} body_builder;

/* Writes the particles of a new body, which are zeroed; the body's record and public numbers already exist. */
static void fill_particles(sinew_world *world, const sinew_body_record *body, const sinew_body_def *def,
                           const body_builder *d)
{
    const sinew_real *rest = sinew_mesh_positions(d->mesh);
    for (int32_t i = 0; i < body->count; i++) {
        const int32_t vertex = d->order[i], at = body->start + i;
        copy_vertex_point(world->rest, at, rest, vertex);
        copy_vertex_point(world->q, at, def->positions ? def->positions : rest, vertex);
        copy_vertex_point(world->v, at, def->velocities, vertex);
        world->mass[at] = (sinew_real)d->masses[vertex];
        world->outside[at] = body->first + vertex;
        world->inside[body->first + vertex] = at;
    }
}

sinew_mesh *sinew_mesh_with_points(const sinew_world *world, const sinew_mesh *mesh, int32_t vertex_count,
                                   const sinew_real *points, sinew_error *error)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    def.allocator = world->allocator;
    def.vertex_count = vertex_count;
    def.positions = points;
    def.tet_count = sinew_mesh_tet_count(mesh);
    def.tets = sinew_mesh_tets(mesh);
    def.triangle_count = sinew_mesh_triangle_count(mesh);
    def.triangles = sinew_mesh_triangles(mesh);
    def.edge_count = sinew_mesh_edge_count(mesh);
    def.edges = sinew_mesh_edges(mesh);
    def.fractions = sinew_mesh_fractions(mesh);
    def.director_count = sinew_mesh_director_count(mesh);
    def.directors = sinew_mesh_directors(mesh);
    return sinew_mesh_create(&def, error);
}

static sinew_status body_builder_fill(const sinew_world *world, const sinew_body_def *def, body_builder *d,
                                      sinew_error *error)
{
    const int32_t count = sinew_mesh_vertex_count(def->mesh);
    d->masses = sinew_allocate(&world->allocator, (size_t)count, sizeof *d->masses);
    d->order = sinew_allocate(&world->allocator, (size_t)count, sizeof *d->order);
    const size_t length = def->name ? strlen(def->name) + 1 : 0;
    d->name = def->name ? sinew_allocate(&world->allocator, length, 1) : NULL;
    if (d->name)
        memcpy(d->name, def->name, length);
    const bool good = d->masses && d->order && (d->name || !def->name);
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "a body");
    if (status == SINEW_OK)
        status = find_masses(world, def, d->masses, error);
    if (status == SINEW_OK)
        status = sinew_hilbert_order(&world->allocator, sinew_mesh_positions(def->mesh), count, d->order, error);
    if (status == SINEW_OK) {
        d->mesh = sinew_mesh_with_points(world, def->mesh, count, sinew_mesh_positions(def->mesh), error);
        status = d->mesh ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    return status;
}

/* Internal number of the first particle of a body that is added in this slot. */
static int32_t first_particle_of_slot(const sinew_world *world, int32_t slot)
{
    int32_t start = world->particle_count;
    for (int32_t i = world->body_count - 1; i >= slot; i--)
        if (world->bodies[i].mesh)
            start = world->bodies[i].start;
    return start;
}

sinew_body sinew_world_add_body(sinew_world *world, const sinew_body_def *def, sinew_error *error)
{
    sinew_body body = {.index = -1};
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return body;
    if (check_body_def(world, def, error) != SINEW_OK)
        return body;
    const sinew_allocator *allocator = &world->allocator;
    body_builder d = {0};
    sinew_status status = body_builder_fill(world, def, &d, error);
    const int32_t slot = sinew_world_body_slot(world), count = sinew_mesh_vertex_count(def->mesh);
    const int32_t reserved = count + def->spare, first = sinew_numbers_find(world, reserved);
    if (status == SINEW_OK &&
        (!sinew_particles_reserve(world, count) ||
         !sinew_numbers_reserve(world, first + reserved - world->number_count) ||
         !sinew_grow(allocator, (void **)&world->bodies, slot, &world->body_capacity, sizeof *world->bodies)))
        status = sinew_fail_memory(error, "a body");
    if (status == SINEW_OK) {
        const sinew_body_record record = {.mesh = d.mesh,
                                          .first = first,
                                          .count = count,
                                          .reserved = reserved,
                                          .start = first_particle_of_slot(world, slot),
                                          .name = d.name,
                                          .damping = def->damping,
                                          .velocity_filter = def->velocity_filter,
                                          .contact = sinew_default_body_contact()};
        sinew_particles_insert(world, record.start, count);
        sinew_numbers_mark_spare(world, first, reserved);
        fill_particles(world, &record, def, &d);
        body = sinew_world_put_body(world, slot, record);
    } else {
        sinew_mesh_destroy(d.mesh);
        sinew_release(allocator, d.name);
    }
    sinew_release(allocator, d.masses);
    sinew_release(allocator, d.order);
    return body;
}

void sinew_body_record_destroy(const sinew_allocator *allocator, sinew_body_record *record)
{
    sinew_mesh_destroy(record->mesh);
    sinew_body_drop_skin(allocator, record);
    sinew_tear_destroy(allocator, record->tear);
    sinew_release(allocator, record->name);
    *record = (sinew_body_record){.generation = record->generation};
}

/* ---- Removal of a body ----------------------------------------------------------------------- */

/* Tests whether particles belong to a body. Returns 0: none do; 1: all do; -1: some do. */
static int particles_on_body(const sinew_body_record *body, const int32_t *particles, int32_t count)
{
    int32_t on = 0;
    for (int32_t i = 0; i < count; i++)
        on += particles[i] >= body->start && particles[i] < body->start + body->count;
    return on == 0 ? 0 : on == count ? 1 : -1;
}

int sinew_energy_acts_on(const sinew_body_record *body, const sinew_energy_record *energy)
{
    return energy->batch ? particles_on_body(body, energy->batch->particle, energy->batch->slot_count) : 0;
}

/* Fails if an energy or a pin acts on this body and on other bodies: removing the body does not remove such objects. */
static sinew_status check_not_joined(const sinew_world *world, const sinew_body_record *body, int32_t index,
                                     sinew_error *error)
{
    for (int32_t i = 0; i < world->energy_count; i++)
        if (sinew_energy_acts_on(body, &world->energies[i]) < 0)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "body %d cannot be removed: energy %d (%s) joins it to other bodies; remove that first",
                              index, i, sinew_get_energy_info(world->energies[i].kind)->name);
    for (int32_t i = 0; i < world->pin_count; i++)
        if (particles_on_body(body, world->pins[i].particles, world->pins[i].count) < 0)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "body %d cannot be removed: pins %d hold other bodies too; remove them first", index, i);
    return SINEW_OK;
}

sinew_status sinew_world_remove_body(sinew_world *world, sinew_body body, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_body_record *record = sinew_world_find_body(world, body, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    sinew_status status = check_not_joined(world, record, body.index, error);
    for (int32_t i = 0; status == SINEW_OK && i < world->energy_count; i++)
        if (sinew_energy_acts_on(record, &world->energies[i]))
            status = sinew_world_remove_energy(world, (sinew_energy){i, world->energies[i].generation}, error);
    for (int32_t i = 0; status == SINEW_OK && i < world->pin_count; i++)
        if (particles_on_body(record, world->pins[i].particles, world->pins[i].count))
            status = sinew_world_remove_pins(world, (sinew_pin){i, world->pins[i].generation}, error);
    if (status != SINEW_OK)
        return status;
    const int32_t start = record->start, count = record->count;
    sinew_loads_remove_body(world, body);
    sinew_numbers_mark_free(world, record->first, record->reserved);
    sinew_body_record_destroy(&world->allocator, record);
    sinew_world_release_slot(&world->body_hint, body.index);
    sinew_particles_erase(world, start, count);
    return SINEW_OK;
}

/* ---- Introspection of bodies ----------------------------------------------------------------- */

int32_t sinew_world_body_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->body_count : 0;
}

sinew_body sinew_world_body_at(const sinew_world *world, int32_t slot)
{
    const sinew_body none = {.index = -1};
    if (!SINEW_ASSERT(world && slot >= 0 && slot < world->body_count) || !world->bodies[slot].mesh)
        return none;
    return (sinew_body){slot, world->bodies[slot].generation};
}

const sinew_mesh *sinew_body_mesh(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    return record ? record->mesh : NULL;
}

int32_t sinew_body_first_particle(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    return record ? record->first : -1;
}

const char *sinew_body_name(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    return record && record->name ? record->name : "";
}

sinew_body sinew_world_body_by_name(const sinew_world *world, const char *name)
{
    for (int32_t i = 0; SINEW_ASSERT(world && name) && i < world->body_count; i++)
        if (world->bodies[i].name && strcmp(world->bodies[i].name, name) == 0)
            return sinew_world_body_at(world, i);
    return (sinew_body){.index = -1};
}
