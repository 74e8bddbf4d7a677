/* SPDX-License-Identifier: MIT
 *
 * attach.c: joins vertices of one body to the nearest points of another, by an energy over pairs.
 *
 * A vertex is paired with the nearest point of the other body (bvh/nearest_on_body.h) within the distance. The pair has
 * the vertex with weight 1 on one side and the vertices of the point with their weights on the other. A skin vertex has
 * its embedding weights. A point on a skin is embedded in the cell that contains it at rest (embed_point.h).
 */
#include <math.h>

#include "bvh/nearest_on_body.h"
#include "world/bodies/embed_point.h"
#include "world/world.h"

sinew_attach_def sinew_default_attach_def(void)
{
    return (sinew_attach_def){.cookie = SINEW_COOKIE_ATTACH,
                              .from = {.index = -1},
                              .to = {.index = -1},
                              .energy = sinew_default_energy_def(SINEW_ENERGY_WEAK)};
}

typedef struct pair_list {
    int32_t count;
    /* [8 * pair capacity] particles of the world that each attached pair involves, 8 per pair */
    int32_t *elements;
    sinew_real *weights; /* [8 * pair capacity] interpolation weights of the particles in `elements` */
    sinew_real *normals; /* [3 * pair capacity] normals of the attached pairs; NULL: normals of the energy */
} pair_list;

static void release_pairs(const sinew_allocator *allocator, pair_list *pairs)
{
    sinew_release(allocator, pairs->elements);
    sinew_release(allocator, pairs->weights);
    sinew_release(allocator, pairs->normals);
}

static bool has_normal(const sinew_attach_def *def)
{
    return def->normal[0] != 0 || def->normal[1] != 0 || def->normal[2] != 0;
}

static sinew_status allocate_pairs(const sinew_world *world, const sinew_attach_def *def, int32_t capacity,
                                   pair_list *pairs, sinew_error *error)
{
    const size_t size = (size_t)capacity;
    pairs->elements = sinew_allocate(&world->allocator, 8 * size, sizeof *pairs->elements);
    pairs->weights = sinew_allocate(&world->allocator, 8 * size, sizeof *pairs->weights);
    if (has_normal(def)) {
        pairs->normals = sinew_allocate(&world->allocator, 3 * size, sizeof *pairs->normals);
        for (size_t i = 0; pairs->normals && i < 3 * size; i++)
            pairs->normals[i] = def->normal[i % 3];
    }
    const bool good = pairs->elements && pairs->weights && (pairs->normals || !has_normal(def));
    return good ? SINEW_OK : sinew_fail_memory(error, "the pairs of an attachment");
}

/* Describes a vertex as a surface point: weight 1, or the embedding weights of a skin vertex. */
static sinew_surface_point surface_point_of(const sinew_body_record *body, int32_t vertex, bool of_skin)
{
    sinew_surface_point point = {.weights = {1}};
    for (size_t i = 0; i < 4; i++) {
        const size_t at = 4 * (size_t)vertex + i;
        point.vertices[i] = of_skin ? body->skin_vertices[at] : vertex;
        if (of_skin)
            point.weights[i] = (double)body->skin_weights[at];
    }
    return point;
}

/* Appends a pair of surface points to the attachment. Points outside a cell of a soft body move to its boundary, so
 * that no weight is negative; the four particles of a rigid body define its whole surface, which lies outside their
 * tet. */
static void attach_add_pair(pair_list *pairs, const sinew_body_record *const bodies[2],
                            const sinew_surface_point *const sides[2])
{
    for (size_t side = 0; side < 2; side++) {
        int32_t *elements = pairs->elements + 8 * (size_t)pairs->count + 4 * side;
        sinew_real *weights = pairs->weights + 8 * (size_t)pairs->count + 4 * side;
        bool outside = false;
        for (int i = 0; i < 4; i++) {
            elements[i] = bodies[side]->first + sides[side]->vertices[i];
            weights[i] = (sinew_real)sides[side]->weights[i];
            outside = outside || weights[i] < 0;
        }
        if (outside && !bodies[side]->rigid)
            sinew_weights_clamp(weights);
    }
    pairs->count++;
}

/* ---- Check of an attachment definition --------------------------------------------------------- */

/* Number of vertices of the first body, or of its skin, that may be attached. */
static int32_t attachable_vertex_count(const sinew_attach_def *def, const sinew_body_record *from)
{
    return def->from_skin ? sinew_skin_vertex_count(from->skin) : from->count;
}

static sinew_status attach_check_def(const sinew_world *world, const sinew_attach_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_ATTACH && def->energy.cookie == SINEW_COOKIE_ENERGY))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "an attachment needs a world and a def made by sinew_default_attach_def()");
    const sinew_body_record *from = sinew_world_find_body(world, def->from, error);
    if (!from || !sinew_world_find_body(world, def->to, error))
        return SINEW_ERROR_USAGE;
    const sinew_energy_info *info = sinew_get_energy_info(def->energy.kind);
    if (!info || !sinew_get_stencil(info->stencil)->couples)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "attach: %s is no energy over pairs; use weak",
                          info ? info->name : "the energy");
    if (!(isfinite(def->distance) && def->distance >= 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "attach: distance is %g m, must be finite and at least 0",
                          def->distance);
    if (def->from_skin && !from->skin)
        return sinew_fail(error, SINEW_ERROR_DATA, "attach: body %d has no skin whose vertices could be joined",
                          def->from.index);
    const int32_t count = attachable_vertex_count(def, from);
    for (int32_t i = 0; def->vertices && i < def->vertex_count; i++)
        if (def->vertices[i] < 0 || def->vertices[i] >= count)
            return sinew_fail(error, SINEW_ERROR_DATA, "attach: entry %d names vertex %d, must be in [0, %d]", i,
                              def->vertices[i], count - 1);
    return SINEW_OK;
}

/* ---- Attachment of bodies -------------------------------------------------------------------- */

/* Returns positions [count][3], m, of the vertices of a body or of its skin: at rest, or current (`now`) in *own,
 * which the caller releases. NULL: out of memory. */
static const sinew_real *body_or_skin_points(const sinew_world *world, sinew_body id, bool skin, bool now,
                                             sinew_real **own)
{
    const sinew_body_record *body = &world->bodies[id.index];
    const size_t count = (size_t)(skin ? sinew_skin_vertex_count(body->skin) : body->count);
    if (!now)
        return skin ? sinew_skin_positions(body->skin) : sinew_mesh_positions(body->mesh);
    *own = sinew_allocate(&world->allocator, 3 * count, sizeof **own);
    if (*own && skin)
        sinew_body_skin_positions(world, id, *own);
    else if (*own)
        sinew_world_outside_points(world, world->q, body->first, body->count, *own);
    return *own;
}

/* Points on the surface of the second body that the first is attached to. */
typedef struct targets {
    sinew_body_search search;
    sinew_embeddings embeddings; /* embeddings of surface points of a skin in the cells of its body */
    /* [3 * vertices of the skin] rest positions of the second body's skin, in m; NULL: points lie on the body itself */
    const sinew_real *at_rest;
} targets;

static sinew_status begin_targets(const sinew_world *world, const sinew_attach_def *def, const sinew_body_record *to,
                                  const sinew_real *target_points, targets *t, sinew_error *error)
{
    const bool skin = to->skin && !def->to_vertices;
    const sinew_mesh *mesh = skin ? sinew_skin_mesh(to->skin) : to->mesh;
    sinew_status status = sinew_body_search_begin(&t->search, mesh, target_points, def->to_vertices, error);
    if (status == SINEW_OK && skin) {
        status = sinew_embeddings_begin(&t->embeddings, to->mesh, &world->allocator, error);
        t->at_rest = sinew_skin_positions(to->skin);
    }
    return status;
}

static void end_targets(targets *t)
{
    sinew_body_search_end(&t->search);
    sinew_embeddings_end(&t->embeddings);
}

/* Finds the nearest point of the second body, as vertices of the body with weights. */
static sinew_surface_point find_nearest_target(const targets *t, const sinew_real *point)
{
    sinew_surface_point found = sinew_body_search_nearest(&t->search, point);
    if (!t->at_rest)
        return found;
    sinew_real rest[3];
    for (size_t c = 0; c < 3; c++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += found.weights[k] * (double)t->at_rest[3 * (size_t)found.vertices[k] + c];
        rest[c] = (sinew_real)sum;
    }
    const sinew_embedding embedding = sinew_embeddings_find(&t->embeddings, rest);
    for (int k = 0; k < 4; k++) {
        found.vertices[k] = embedding.vertices[k];
        found.weights[k] = embedding.weights[k];
    }
    return found;
}

static sinew_status find_pairs(const sinew_attach_def *def, const sinew_body_record *from, const sinew_real *points,
                               const sinew_body_record *to, const targets *t, pair_list *pairs, sinew_error *error)
{
    /* Extends the distance limit by this length, in m: distances of coincident points are not zero but round-off. */
    const double slack = sizeof(sinew_real) == sizeof(float) ? 1e-5 : 1e-9;
    const int32_t count = def->vertices ? def->vertex_count : attachable_vertex_count(def, from);
    const sinew_body_record *const bodies[2] = {from, to};
    double nearest = INFINITY;
    for (int32_t i = 0; i < count; i++) {
        const int32_t vertex = def->vertices ? def->vertices[i] : i;
        const sinew_surface_point found = find_nearest_target(t, points + 3 * (size_t)vertex);
        const sinew_surface_point joined = surface_point_of(from, vertex, def->from_skin);
        nearest = fmin(nearest, sqrt(found.distance2));
        if (sqrt(found.distance2) <= def->distance + slack)
            attach_add_pair(pairs, bodies, (const sinew_surface_point *const[]){&joined, &found});
    }
    if (pairs->count > 0)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "joins nothing: the nearest pair is %g m apart", nearest);
}

sinew_energy sinew_world_attach_within(sinew_world *world, const sinew_attach_def *def, sinew_error *error)
{
    sinew_energy energy = {.index = -1};
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return energy;
    if (attach_check_def(world, def, error) != SINEW_OK)
        return energy;
    const sinew_body_record *from = &world->bodies[def->from.index], *to = &world->bodies[def->to.index];
    sinew_real *own[2] = {NULL, NULL};
    const sinew_real *points = body_or_skin_points(world, def->from, def->from_skin, def->now, &own[0]);
    const sinew_real *target_points =
        body_or_skin_points(world, def->to, to->skin && !def->to_vertices, def->now, &own[1]);
    targets t = {0};
    pair_list pairs = {0};
    sinew_status status = points && target_points ? SINEW_OK : sinew_fail_memory(error, "an attachment");
    if (status == SINEW_OK)
        status = begin_targets(world, def, to, target_points, &t, error);
    if (status == SINEW_OK)
        status = allocate_pairs(world, def, def->vertices ? def->vertex_count : attachable_vertex_count(def, from),
                                &pairs, error);
    if (status == SINEW_OK)
        status = find_pairs(def, from, points, to, &t, &pairs, error);
    if (status == SINEW_OK) {
        sinew_energy_def joined = def->energy;
        joined.body = (sinew_body){.index = -1};
        joined.element_count = pairs.count;
        joined.elements = pairs.elements;
        joined.weights = pairs.weights;
        joined.normals = pairs.normals;
        energy = sinew_world_add_energy(world, &joined, error);
    }
    end_targets(&t);
    release_pairs(&world->allocator, &pairs);
    sinew_release(&world->allocator, own[0]);
    sinew_release(&world->allocator, own[1]);
    return energy;
}
