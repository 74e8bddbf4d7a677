/* SPDX-License-Identifier: MIT
 *
 * surface.c: the drawable surface of a world, with public particle numbers.
 *
 * The surface of a body with tetrahedra is their boundary; other bodies show their triangles or, without triangles,
 * their edges (ropes). Springs of a cloth and edges inside a solid are not drawn. Cells are listed body by body, in
 * the order of sinew_mesh_surface().
 *
 * The material of a triangle is the first energy over the tetrahedron behind it. A tetrahedron is identified by a
 * key of its four particles: the keys behind the surface are sorted as pairs of 64-bit numbers, and every element
 * over tetrahedra is looked up.
 */
#include <string.h>

#include "mesh/mesh.h"
#include "base/sort_pairs.h"
#include "world/world.h"

/* Surface mesh of one body, for drawing. */
typedef struct shell {
    sinew_mesh *mesh;
    /* [triangle_count] tetrahedron of the body behind each surface triangle; NULL: the body has no tetrahedra */
    int32_t *owners;
} shell;

static void release_shells(const sinew_world *world, shell *shells)
{
    for (int32_t i = 0; shells && i < world->body_count; i++) {
        sinew_mesh_destroy(shells[i].mesh);
        sinew_release(&world->allocator, shells[i].owners);
    }
    sinew_release(&world->allocator, shells);
}

static int32_t drawn_edges(const shell *s)
{
    return sinew_mesh_triangle_count(s->mesh) > 0 ? 0 : sinew_mesh_edge_count(s->mesh);
}

/* Creates the surface meshes of all bodies [body_count]; a removed body has no mesh. NULL on failure. */
static shell *make_shells(const sinew_world *world, sinew_error *error)
{
    shell *shells = sinew_allocate_zero(&world->allocator, (size_t)world->body_count, sizeof *shells);
    if (!shells) {
        sinew_fail_memory(error, "the surface of a world");
        return NULL;
    }
    for (int32_t i = 0; i < world->body_count; i++) {
        if (!world->bodies[i].mesh)
            continue;
        shells[i].mesh = sinew_mesh_surface_owned(world->bodies[i].mesh, &shells[i].owners, error);
        if (!shells[i].mesh) {
            release_shells(world, shells);
            return NULL;
        }
    }
    return shells;
}

/* Sets the triangle and edge counts of the drawable surface; fails above INT32_MAX. */
static sinew_status world_surface_count_cells(const sinew_world *world, const shell *shells, sinew_surface *surface,
                                              sinew_error *error)
{
    int64_t triangles = 0, edges = 0;
    for (int32_t i = 0; i < world->body_count; i++) {
        triangles += shells[i].mesh ? sinew_mesh_triangle_count(shells[i].mesh) : 0;
        edges += shells[i].mesh ? drawn_edges(&shells[i]) : 0;
    }
    if (triangles > INT32_MAX / 3 || edges > INT32_MAX / 2)
        return sinew_fail(error, SINEW_ERROR_DATA, "the surface has %lld triangles and %lld edges, at most %d and %d",
                          (long long)triangles, (long long)edges, INT32_MAX / 3, INT32_MAX / 2);
    surface->triangle_count = (int32_t)triangles;
    surface->edge_count = (int32_t)edges;
    return SINEW_OK;
}

/* Writes to[i] = particle of vertices[i]; returns the end of the written entries. If `to` is NULL, returns NULL. */
static int32_t *world_surface_append(int32_t *to, const int32_t *vertices, int32_t count, int32_t first)
{
    for (int32_t i = 0; to && i < count; i++)
        to[i] = vertices[i] + first;
    return to ? to + count : NULL;
}

static sinew_body *repeat_body(sinew_body *to, int32_t count, sinew_body body)
{
    for (int32_t i = 0; to && i < count; i++)
        to[i] = body;
    return to ? to + count : NULL;
}

static void world_surface_fill_cells(const sinew_world *world, const shell *shells, const sinew_surface *surface)
{
    int32_t *triangles = surface->triangles, *edges = surface->edges;
    sinew_body *bodies = surface->bodies, *edge_bodies = surface->edge_bodies;
    for (int32_t i = 0; i < world->body_count; i++) {
        if (!shells[i].mesh)
            continue;
        const int32_t first = world->bodies[i].first, count = sinew_mesh_triangle_count(shells[i].mesh);
        const sinew_body body = {i, world->bodies[i].generation};
        triangles = world_surface_append(triangles, sinew_mesh_triangles(shells[i].mesh), 3 * count, first);
        edges = world_surface_append(edges, sinew_mesh_edges(shells[i].mesh), 2 * drawn_edges(&shells[i]), first);
        bodies = repeat_body(bodies, count, body);
        edge_bodies = repeat_body(edge_bodies, drawn_edges(&shells[i]), body);
    }
}

/* ---- Materials of surface triangles ------------------------------------------------------------ */

/* The tetrahedra behind the surface triangles, and their energies. */
typedef struct material_table {
    /* [count] four particles of each tetrahedron behind the surface, packed as a sort key, ascending */
    sinew_pair *keys;
    int32_t *energy; /* [count] energy that acts on the tetrahedron of each key; -1: none */
    size_t count;
} material_table;

/* Packs the four particles of a tetrahedron into one key that does not depend on their order. */
static sinew_pair make_tet_key(const int32_t particles[4])
{
    int32_t p[4];
    memcpy(p, particles, sizeof p);
    for (int i = 1; i < 4; i++)
        for (int j = i; j > 0 && p[j] < p[j - 1]; j--) {
            const int32_t swap = p[j];
            p[j] = p[j - 1];
            p[j - 1] = swap;
        }
    return (sinew_pair){sinew_pack(p[0], p[1]), sinew_pack(p[2], p[3])};
}

/* Index of a tetrahedron's key in the sorted list, the first of equal keys; -1: the key is not in the list. */
static int64_t find_tet_key(const material_table *table, sinew_pair key)
{
    size_t low = 0, high = table->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const sinew_pair *k = &table->keys[middle];
        if (k->major < key.major || (k->major == key.major && k->minor < key.minor))
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < table->count && table->keys[low].major == key.major && table->keys[low].minor == key.minor;
    return found ? (int64_t)low : -1;
}

/* Computes the key of the tetrahedron behind one surface triangle of a body. */
static sinew_pair key_of_tet_behind(const sinew_world *world, int32_t body, int32_t tet)
{
    const int32_t *vertices = sinew_mesh_tets(world->bodies[body].mesh) + 4 * (size_t)tet;
    int32_t particles[4];
    for (int a = 0; a < 4; a++)
        particles[a] = world->inside[world->bodies[body].first + vertices[a]];
    return make_tet_key(particles);
}

static void collect_keys(const sinew_world *world, const shell *shells, material_table *table)
{
    table->count = 0;
    for (int32_t i = 0; i < world->body_count; i++)
        for (int32_t k = 0; shells[i].owners && k < sinew_mesh_triangle_count(shells[i].mesh); k++)
            table->keys[table->count++] = key_of_tet_behind(world, i, shells[i].owners[k]);
}

/* Assigns the energy of each tetrahedral element to the tetrahedron's key, unless an earlier energy has claimed the
 * key. */
static void claim_keys(const sinew_world *world, int32_t energy, material_table *table)
{
    const sinew_energy_record *record = &world->energies[energy];
    if (!record->batch || !record->batch->ops->determinants)
        return;
    for (int32_t e = 0; e < record->store.count; e++) {
        const int64_t at = find_tet_key(table, make_tet_key(record->store.particles + 4 * (size_t)e));
        if (at >= 0 && table->energy[at] < 0)
            table->energy[at] = energy;
    }
}

static void fill_materials(const sinew_world *world, const shell *shells, const material_table *table,
                           sinew_energy *materials)
{
    for (int32_t i = 0; i < world->body_count; i++)
        for (int32_t k = 0; shells[i].mesh && k < sinew_mesh_triangle_count(shells[i].mesh); k++) {
            const int64_t at =
                shells[i].owners ? find_tet_key(table, key_of_tet_behind(world, i, shells[i].owners[k])) : -1;
            const int32_t energy = at >= 0 ? table->energy[at] : -1;
            *materials++ = (sinew_energy){energy, energy >= 0 ? world->energies[energy].generation : 0};
        }
}

static sinew_status find_materials(const sinew_world *world, const shell *shells, const sinew_surface *surface,
                                   sinew_error *error)
{
    const size_t count = (size_t)surface->triangle_count;
    material_table table = {.keys = sinew_allocate(&world->allocator, count, sizeof *table.keys),
                            .energy = sinew_allocate(&world->allocator, count, sizeof *table.energy)};
    sinew_pair *scratch = sinew_allocate(&world->allocator, count, sizeof *scratch);
    sinew_status status =
        table.keys && table.energy && scratch ? SINEW_OK : sinew_fail_memory(error, "the materials of a surface");
    if (status == SINEW_OK) {
        collect_keys(world, shells, &table);
        sinew_sort_pairs(table.keys, table.count, scratch);
        memset(table.energy, 0xff, count * sizeof *table.energy);
        for (int32_t i = 0; i < world->energy_count; i++)
            claim_keys(world, i, &table);
        fill_materials(world, shells, &table, surface->materials);
    }
    sinew_release(&world->allocator, table.keys);
    sinew_release(&world->allocator, table.energy);
    sinew_release(&world->allocator, scratch);
    return status;
}

/* ---- Triangles of the drawable surface --------------------------------------------------------- */

/* Fails if an array of the caller is smaller than the drawable surface needs. */
static sinew_status check_capacity(const sinew_surface *reserved, const sinew_surface *counted, sinew_error *error)
{
    const bool triangles = reserved->triangles || reserved->bodies || reserved->materials,
               edges = reserved->edges || reserved->edge_bodies;
    if ((!triangles || reserved->triangle_count >= counted->triangle_count) &&
        (!edges || reserved->edge_count >= counted->edge_count))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "the surface has %d triangles and %d edges, there is room for %d and %d",
                      counted->triangle_count, counted->edge_count, reserved->triangle_count, reserved->edge_count);
}

sinew_status sinew_world_surface(const sinew_world *world, sinew_surface *surface, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && surface))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_surface needs a world and a struct to fill");
    const sinew_surface reserved = *surface;
    shell *shells = make_shells(world, error);
    if (!shells)
        return SINEW_ERROR_MEMORY;
    sinew_status status = world_surface_count_cells(world, shells, surface, error);
    if (status == SINEW_OK)
        status = check_capacity(&reserved, surface, error);
    if (status == SINEW_OK && surface->materials)
        status = find_materials(world, shells, surface, error);
    if (status == SINEW_OK)
        world_surface_fill_cells(world, shells, surface);
    release_shells(world, shells);
    return status;
}
