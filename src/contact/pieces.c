/* SPDX-License-Identifier: MIT
 *
 * pieces.c: finds the pieces of bodies, the connected components of their meshes (restitution.h). A body that is torn
 * apart, or whose mesh has several components, has a rigid motion for each of them.
 *
 * Known limit: cells count, not energies; elements that are switched off still connect their vertices.
 */
#include "contact/contact.h"
#include "objective/connected_components.h"

static bool pieces_reserve(const sinew_contact_view *view, sinew_restitution *r)
{
    const sinew_allocator *m = view->allocator;
    const size_t n = (size_t)view->particle_count;
    return sinew_reserve(m, &r->piece, &r->piece_capacity, n, sizeof *r->piece) &&
           sinew_reserve(m, &r->piece_root, &r->piece_root_capacity, n, sizeof *r->piece_root) &&
           sinew_reserve(m, &r->piece_body, &r->piece_body_capacity, n, sizeof *r->piece_body) &&
           sinew_reserve(m, &r->piece_vertex, &r->piece_vertex_capacity, n, sizeof *r->piece_vertex);
}

/* Joins the particles of each cell of a body. cells [count * size]: vertices of the mesh. */
static void pieces_join(const sinew_contact_view *view, const sinew_contact_body *body, const int32_t *cells,
                        int32_t count, int32_t size)
{
    int32_t *root = view->contact->restitution.piece_root;
    for (int32_t k = 0; k < count; k++) {
        const int32_t a = sinew_find_root(root, view->inside[body->first + cells[size * k]]);
        for (int32_t i = 1; i < size; i++)
            root[sinew_find_root(root, view->inside[body->first + cells[size * k + i]])] = a;
    }
}

/* Numbers the pieces (connected components) of a body in the order of their lowest vertices. */
static void pieces_number(const sinew_contact_view *view, int32_t slot)
{
    sinew_restitution *r = &view->contact->restitution;
    const sinew_contact_body *body = &view->bodies[slot];
    for (int32_t i = body->start; i < body->start + body->count; i++)
        r->piece[i] = -1;
    for (int32_t vertex = 0; vertex < body->count; vertex++) {
        const int32_t particle = view->inside[body->first + vertex], root = sinew_find_root(r->piece_root, particle);
        if (r->piece[root] < 0) {
            r->piece_body[r->piece_count] = slot;
            r->piece_vertex[r->piece_count] = vertex;
            r->piece[root] = r->piece_count++;
        }
        r->piece[particle] = r->piece[root];
    }
}

bool sinew_contact_find_pieces(const sinew_contact_view *view)
{
    sinew_restitution *r = &view->contact->restitution;
    if (r->pieces_known && r->shape_version == view->shape_version)
        return true;
    r->pieces_known = false;
    if (!pieces_reserve(view, r))
        return false;
    r->piece_count = 0;
    for (int32_t b = 0; b < view->body_count; b++) {
        const sinew_contact_body *body = &view->bodies[b];
        const sinew_mesh *mesh = body->mesh;
        if (!mesh)
            continue;
        for (int32_t i = body->start; i < body->start + body->count; i++)
            r->piece_root[i] = i;
        pieces_join(view, body, sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4);
        pieces_join(view, body, sinew_mesh_triangles(mesh), sinew_mesh_triangle_count(mesh), 3);
        pieces_join(view, body, sinew_mesh_edges(mesh), sinew_mesh_edge_count(mesh), 2);
        pieces_number(view, b);
    }
    r->pieces_known = true;
    r->shape_version = view->shape_version;
    return true;
}
