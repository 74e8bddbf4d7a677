/* SPDX-License-Identifier: MIT
 *
 * fill_fractions.c: scales the tets of an energy by the filled fractions of the body's tets (sinew_mesh_fractions()).
 *
 * An element is identified by its four vertices, in any order: energies may list some of a body's tets, or all of them.
 * Elements that are not tets of their body have fraction 1.
 */
#include "mesh/topology.h"
#include "world/world.h"

static bool has_fractions(const sinew_body_record *body)
{
    return body->mesh && sinew_mesh_fractions(body->mesh);
}

static bool same_four_vertices(const int32_t tet[4], const int32_t vertices[4])
{
    int found = 0;
    for (int a = 0; a < 4; a++)
        found += tet[0] == vertices[a] || tet[1] == vertices[a] || tet[2] == vertices[a] || tet[3] == vertices[a];
    return found == 4;
}

/* Finds the vertices of an element in the numbering of the body; false: some particles belong to other bodies, or were
 * added after the mesh was set. */
static bool find_vertices_in_body(const sinew_world *world, const sinew_body_record *body, const int32_t *particles,
                                  int32_t vertices[4])
{
    const int32_t count = sinew_mesh_vertex_count(body->mesh);
    for (int a = 0; a < 4; a++) {
        vertices[a] = world->outside[particles[a]] - body->first;
        if (vertices[a] < 0 || vertices[a] >= count)
            return false;
    }
    return true;
}

static sinew_status take_fractions_from_body(sinew_energy_store *store, const sinew_world *world,
                                             const sinew_body_record *body, sinew_error *error)
{
    sinew_incidence at = {0};
    const int32_t *tets = sinew_mesh_tets(body->mesh);
    const sinew_elements elements = {tets, sinew_mesh_tet_count(body->mesh), 4};
    const sinew_status status =
        sinew_incidence_build(&at, &world->allocator, sinew_mesh_vertex_count(body->mesh), &elements, error);
    for (int32_t e = 0; status == SINEW_OK && e < store->count; e++) {
        int32_t vertices[4];
        if (!find_vertices_in_body(world, body, store->particles + 4 * (size_t)e, vertices))
            continue;
        for (int64_t i = at.first[vertices[0]]; i < at.first[vertices[0] + 1]; i++)
            if (same_four_vertices(tets + 4 * (size_t)at.elements[i], vertices)) {
                store->fractions[e] = sinew_mesh_fractions(body->mesh)[at.elements[i]];
                break;
            }
    }
    sinew_incidence_free(&at, &world->allocator);
    return status;
}

sinew_status sinew_energy_store_fractions(sinew_energy_store *store, const sinew_world *world,
                                          const sinew_energy_info *info, sinew_error *error)
{
    bool given = false;
    for (int32_t b = 0; info->stencil == SINEW_STENCIL_TET && b < world->body_count; b++)
        given = given || has_fractions(&world->bodies[b]);
    store->fractions_given = given;
    if (!given)
        return SINEW_OK;
    if (!sinew_reserve(&world->allocator, &store->fractions, &store->fraction_capacity, (size_t)store->count,
                       sizeof *store->fractions))
        return sinew_fail_memory(error, "the elements of an energy");
    for (int32_t e = 0; e < store->count; e++)
        store->fractions[e] = 1;
    sinew_status status = SINEW_OK;
    for (int32_t b = 0; status == SINEW_OK && b < world->body_count; b++)
        if (has_fractions(&world->bodies[b]))
            status = take_fractions_from_body(store, world, &world->bodies[b], error);
    return status;
}
