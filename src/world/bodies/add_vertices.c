/* SPDX-License-Identifier: MIT
 *
 * add_vertices.c: appends vertices to a body in a running world, and replaces the cells of its mesh.
 *
 * The body's particles are sorted along the Hilbert curve of the extended rest shape, as in a world that is built with
 * this body. Copies of vertices coincide with their originals and follow them in that order: elements keep their
 * layout and only their particle numbers change. Other vertices may change the order of existing vertices; the
 * elements are then laid out again. If memory is short, the previous order is restored.
 */
#include <math.h>
#include <string.h>

#include "mesh/topology.h"
#include "world/world.h"

sinew_vertices_def sinew_default_vertices_def(void)
{
    return (sinew_vertices_def){.cookie = SINEW_COOKIE_POINTS};
}

/* ---- Checks of a definition of new vertices ---------------------------------------------------- */

static sinew_status add_vertices_check_def(const sinew_world *world, const sinew_vertices_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_POINTS))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "vertices need a world and a def made by sinew_default_vertices_def()");
    if (def->count < 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "the number of vertices to add is %d, must be at least 1",
                          def->count);
    if (!def->copies_of && (!def->rest || !def->masses))
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "vertices that are no copies of others need rest positions and masses");
    if (def->count > (INT32_MAX / 8 - world->number_count) / 4)
        return sinew_fail(error, SINEW_ERROR_DATA, "the world would have more than %d particles", INT32_MAX / 8);
    return SINEW_OK;
}

static sinew_status check_new_vertices(const sinew_vertices_def *def, const sinew_body_record *body, sinew_error *error)
{
    sinew_status status = sinew_points_check(def->rest, def->count, "the rest position", error);
    if (status == SINEW_OK)
        status = sinew_points_check(def->positions, def->count, "the position", error);
    if (status == SINEW_OK)
        status = sinew_points_check(def->velocities, def->count, "the velocity", error);
    for (int32_t i = 0; status == SINEW_OK && i < def->count; i++) {
        if (def->copies_of && (def->copies_of[i] < 0 || def->copies_of[i] >= body->count))
            status = sinew_fail(error, SINEW_ERROR_DATA, "new vertex %d is a copy of vertex %d, must be in [0, %d]", i,
                                def->copies_of[i], body->count - 1);
        else if (def->masses && !(isfinite(def->masses[i]) && def->masses[i] > 0))
            status =
                sinew_fail(error, SINEW_ERROR_DATA, "the mass of new vertex %d is %g kg, must be finite and above 0", i,
                           (double)def->masses[i]);
    }
    return status;
}

/* ---- Mesh and numbers of the extended body --------------------------------------------------- */

/* Arrays of the extended body, computed before the world changes. */
typedef struct extension {
    int32_t old_count, count;
    sinew_mesh *mesh;
    int32_t *order;      /* [count] vertex of the body at each index of the internal particle order */
    int32_t *from, *to;  /* [count] from: old index of the i-th vertex in the new order; to: the inverse map */
    int32_t *shares;     /* [old_count] number of copies of each vertex, which share the vertex's mass */
    sinew_real *scratch; /* [count][4] work space for permuting arrays of particles */
    /* First public number of the extended body's particles, and how many public numbers are reserved. */
    int32_t first, reserved;
    bool in_turn; /* true: the new order keeps existing vertices in their relative order */
} extension;

static void extension_release(const sinew_world *world, extension *e)
{
    sinew_release(&world->allocator, e->order);
    sinew_release(&world->allocator, e->from);
    sinew_release(&world->allocator, e->to);
    sinew_release(&world->allocator, e->shares);
    sinew_release(&world->allocator, e->scratch);
}

/* Creates the body's mesh with the new vertices and unchanged cells. */
static sinew_mesh *extended_mesh(const sinew_world *world, const sinew_mesh *old, const sinew_vertices_def *def,
                                 sinew_error *error)
{
    const int32_t had = sinew_mesh_vertex_count(old);
    const sinew_real *before = sinew_mesh_positions(old);
    sinew_real *rest = sinew_allocate(&world->allocator, 3 * (size_t)(had + def->count), sizeof *rest);
    if (!rest) {
        sinew_fail_memory(error, "vertices of a body");
        return NULL;
    }
    memcpy(rest, before, 3 * (size_t)had * sizeof *rest);
    for (size_t i = 0; i < (size_t)def->count; i++)
        memcpy(rest + 3 * ((size_t)had + i), def->rest ? def->rest + 3 * i : before + 3 * (size_t)def->copies_of[i],
               3 * sizeof *rest);
    sinew_mesh *mesh = sinew_mesh_with_points(world, old, had + def->count, rest, error);
    sinew_release(&world->allocator, rest);
    return mesh;
}

/* Sets `from`, `to` and `in_turn` of the extension: the permutation of the body's particles from the old order, with
 * the new particles after the old ones, to the new order. */
static void find_particle_permutation(const sinew_world *world, const sinew_body_record *body, extension *e)
{
    int32_t last = -1;
    e->in_turn = true;
    for (int32_t i = 0; i < e->count; i++) {
        const int32_t vertex = e->order[i];
        e->from[i] = vertex < e->old_count ? world->inside[body->first + vertex] - body->start : vertex;
        e->to[e->from[i]] = i;
        if (vertex >= e->old_count)
            continue;
        e->in_turn = e->in_turn && e->from[i] > last;
        last = e->from[i];
    }
}

/* Finds a run of public particle numbers for the extended body: the run of the body, this run extended by free numbers
 * after it, or another free run. */
static void find_number_run(const sinew_world *world, const sinew_body_record *body, extension *e)
{
    e->first = body->first;
    e->reserved = body->reserved > e->count ? body->reserved : e->count;
    if (sinew_numbers_are_free(world, body->first + body->reserved, e->reserved - body->reserved))
        return;
    e->reserved = e->count + e->count / 2;
    e->first = sinew_numbers_find(world, e->reserved);
}

static sinew_status extension_build(sinew_world *world, const sinew_body_record *body, const sinew_vertices_def *def,
                                    extension *e, sinew_error *error)
{
    const sinew_allocator *allocator = &world->allocator;
    const size_t count = (size_t)(body->count + def->count);
    *e = (extension){.old_count = body->count, .count = (int32_t)count};
    e->order = sinew_allocate(allocator, count, sizeof *e->order);
    e->from = sinew_allocate(allocator, count, sizeof *e->from);
    e->to = sinew_allocate(allocator, count, sizeof *e->to);
    e->shares = sinew_allocate_zero(allocator, (size_t)body->count, sizeof *e->shares);
    e->scratch = sinew_allocate(allocator, 4 * count, sizeof *e->scratch);
    if (!e->order || !e->from || !e->to || !e->shares || !e->scratch)
        return sinew_fail_memory(error, "vertices of a body");
    e->mesh = extended_mesh(world, body->mesh, def, error);
    if (!e->mesh)
        return SINEW_ERROR_MEMORY;
    sinew_status status = sinew_hilbert_order(allocator, sinew_mesh_positions(e->mesh), e->count, e->order, error);
    if (status != SINEW_OK)
        return status;
    find_particle_permutation(world, body, e);
    find_number_run(world, body, e);
    if (!sinew_particles_reserve(world, def->count) ||
        !sinew_numbers_reserve(world, e->first + e->reserved - world->number_count))
        return sinew_fail_memory(error, "vertices of a body");
    return SINEW_OK;
}

/* ---- Insertion of vertices into the world ----------------------------------------------------- */

/* Sets the position or velocity of a new particle in `array`: the given value, else the value of the original, else
 * zero (the entry is already zero). */
static void set_new_point(sinew_real *array, int32_t at, const sinew_real *given, int32_t original)
{
    if (given)
        memcpy(array + 4 * (size_t)at, given, 3 * sizeof *array);
    else if (original >= 0)
        memcpy(array + 4 * (size_t)at, array + 4 * (size_t)original, 3 * sizeof *array);
}

/* Writes the new particles, whose entries are zero, after the body's old particles. add_vertices_share_masses() sets
 * masses that the def does not give. */
static void append_vertices(sinew_world *world, const sinew_body_record *body, const sinew_vertices_def *def,
                            const extension *e)
{
    const sinew_real *rest = sinew_mesh_positions(e->mesh) + 3 * (size_t)e->old_count;
    for (int32_t i = 0; i < def->count; i++) {
        const int32_t at = body->start + e->old_count + i;
        const int32_t original = def->copies_of ? world->inside[body->first + def->copies_of[i]] : -1;
        const sinew_real *given = def->positions ? def->positions : def->copies_of ? NULL : rest;
        set_new_point(world->rest, at, rest + 3 * (size_t)i, -1);
        set_new_point(world->q, at, given ? given + 3 * (size_t)i : NULL, original);
        set_new_point(world->v, at, def->velocities ? def->velocities + 3 * (size_t)i : NULL, original);
        world->mass[at] = def->masses ? def->masses[i] : 0;
    }
}

/* Divides the mass of a vertex equally among the vertex and its copies. Called last, so that no failure has to undo the
 * masses. */
static void add_vertices_share_masses(sinew_world *world, const sinew_body_record *body, const sinew_vertices_def *def,
                                      extension *e)
{
    if (def->masses)
        return;
    for (int32_t i = 0; i < def->count; i++)
        e->shares[def->copies_of[i]]++;
    for (int32_t v = 0; v < e->old_count; v++)
        if (e->shares[v] > 0)
            world->mass[world->inside[body->first + v]] /= (sinew_real)(e->shares[v] + 1);
    for (int32_t i = 0; i < def->count; i++)
        world->mass[world->inside[body->first + e->old_count + i]] =
            world->mass[world->inside[body->first + def->copies_of[i]]];
}

/* Assigns the run of public numbers to the body, whose particles are already in their internal order. */
static void assign_number_run(sinew_world *world, sinew_body_record *body, const extension *e)
{
    if (e->first == body->first) {
        sinew_numbers_mark_spare(world, body->first + body->reserved, e->reserved - body->reserved);
    } else {
        sinew_numbers_mark_spare(world, e->first, e->reserved);
        sinew_numbers_mark_free(world, body->first, body->reserved);
    }
    body->first = e->first;
    body->reserved = e->reserved;
    body->count = e->count;
    for (int32_t i = 0; i < e->count; i++) {
        world->outside[body->start + i] = body->first + e->order[i];
        world->inside[body->first + e->order[i]] = body->start + i;
    }
}

/* Rebuilds the batches of the body's energies if the order of particles changed. If memory is short, no batch
 * changes. */
static sinew_status rebuild_reordered_energies(sinew_world *world, const sinew_body_record *body, const extension *e,
                                               sinew_error *error)
{
    const sinew_body_record whole = {.start = body->start, .count = e->count};
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; !e->in_turn && i < world->energy_count && status == SINEW_OK; i++)
        if (sinew_energy_acts_on(&whole, &world->energies[i]))
            status = sinew_energy_build_next(world, &world->energies[i], error);
    for (int32_t i = 0; !e->in_turn && i < world->energy_count; i++)
        if (sinew_energy_acts_on(&whole, &world->energies[i]))
            (status == SINEW_OK ? sinew_energy_take_next : sinew_energy_drop_next)(world, &world->energies[i]);
    return status;
}

sinew_status sinew_body_add_vertices(sinew_world *world, sinew_body body, const sinew_vertices_def *def,
                                     int32_t *first_vertex, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_body_record *record = sinew_world_find_body(world, body, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    sinew_status status = add_vertices_check_def(world, def, error);
    if (status == SINEW_OK)
        status = check_new_vertices(def, record, error);
    if (status != SINEW_OK)
        return status;
    extension e;
    status = extension_build(world, record, def, &e, error);
    if (status == SINEW_OK) {
        const int64_t version = world->shape_version;
        const int32_t end = record->start + record->count;
        sinew_particles_insert(world, end, def->count);
        append_vertices(world, record, def, &e);
        sinew_particles_permute(world, record->start, e.count, e.from, e.to, e.scratch);
        status = rebuild_reordered_energies(world, record, &e, error);
        if (status != SINEW_OK) {
            sinew_particles_permute(world, record->start, e.count, e.to, e.from, e.scratch);
            sinew_particles_erase(world, end, def->count);
            world->shape_version = version;
        }
    }
    if (status == SINEW_OK) {
        assign_number_run(world, record, &e);
        add_vertices_share_masses(world, record, def, &e);
        sinew_mesh_destroy(record->mesh);
        record->mesh = e.mesh;
        record->mesh_version++;
        if (first_vertex)
            *first_vertex = e.old_count;
    } else {
        sinew_mesh_destroy(e.mesh);
    }
    extension_release(world, &e);
    return status;
}

/* ---- Change of a body's cells ------------------------------------------------------------------ */

sinew_status sinew_body_set_mesh(sinew_world *world, sinew_body body, const sinew_mesh *mesh, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_body_record *record = sinew_world_find_body(world, body, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(mesh))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_body_set_mesh needs a mesh");
    if (sinew_mesh_vertex_count(mesh) != record->count)
        return sinew_fail(error, SINEW_ERROR_DATA, "the mesh has %d vertices, body %d has %d; add vertices first",
                          sinew_mesh_vertex_count(mesh), body.index, record->count);
    sinew_mesh *made = sinew_mesh_with_points(world, mesh, record->count, sinew_mesh_positions(record->mesh), error);
    if (!made)
        return error ? error->status : SINEW_ERROR_MEMORY;
    sinew_mesh_destroy(record->mesh);
    record->mesh = made;
    record->mesh_version++;
    world->shape_version++;
    return SINEW_OK;
}
