/* SPDX-License-Identifier: MIT
 *
 * embedding.c: the embedded surface of a body: x = sum_i w_i q_i over up to four of the body's vertices, with weights
 * found once at rest (embed_point.h). Velocities use the same weights. Steps use the embedded surface only for contact
 * with colliders.
 */
#include <math.h>
#include <string.h>

#include "world/bodies/embed_point.h"
#include "world/world.h"

sinew_embedding_def sinew_default_embedding_def(void)
{
    return (sinew_embedding_def){.cookie = SINEW_COOKIE_EMBEDDING};
}

void sinew_body_drop_skin(const sinew_allocator *allocator, sinew_body_record *record)
{
    sinew_skin_destroy(record->skin);
    sinew_release(allocator, record->skin_vertices);
    sinew_release(allocator, record->skin_weights);
    record->skin = NULL;
    record->skin_vertices = NULL;
    record->skin_weights = NULL;
}

/* ---- Setting of a body's skin ----------------------------------------------------------------- */

static sinew_status check_embedding_def(const sinew_embedding_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_EMBEDDING))
        return sinew_fail(error, SINEW_ERROR_USAGE, "a skin needs a def made by sinew_default_embedding_def()");
    if (!(isfinite(def->farthest) && def->farthest >= 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "skin: farthest is %g m, must be finite and at least 0",
                          (double)def->farthest);
    if (!def->skin)
        return SINEW_OK;
    return sinew_points_check(def->positions, sinew_skin_vertex_count(def->skin), "skin: the position", error);
}

/* Embeds every skin vertex; fails for vertices that are too far from the body. */
static sinew_status find_embeddings(const sinew_embeddings *embeddings, const sinew_embedding_def *def,
                                    sinew_embedding *found, sinew_error *error)
{
    const sinew_real *points = def->positions ? def->positions : sinew_skin_positions(def->skin);
    for (int32_t i = 0; i < sinew_skin_vertex_count(def->skin); i++) {
        found[i] = sinew_embeddings_find(embeddings, points + 3 * (size_t)i);
        if (def->farthest > 0 && found[i].distance > (double)def->farthest)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "skin: vertex %d is %g m from the body, farther than %g m; move the surface to the body, "
                              "or check its unit and axes",
                              (int)i, found[i].distance, (double)def->farthest);
    }
    return sinew_embeddings_resolve(embeddings, def->skin, points, found, error);
}

static sinew_status find_weights(const sinew_embeddings *embeddings, const sinew_embedding_def *def,
                                 sinew_body_record *made, sinew_error *error)
{
    const size_t count = (size_t)sinew_skin_vertex_count(def->skin);
    sinew_embedding *found = sinew_allocate(&embeddings->allocator, count, sizeof *found);
    sinew_status status =
        found ? find_embeddings(embeddings, def, found, error) : sinew_fail_memory(error, "the weights of a skin");
    for (size_t i = 0; i < 4 * count && status == SINEW_OK; i++) {
        made->skin_vertices[i] = found[i / 4].vertices[i % 4];
        made->skin_weights[i] = (sinew_real)found[i / 4].weights[i % 4];
    }
    sinew_release(&embeddings->allocator, found);
    return status;
}

static sinew_status make_embedding(const sinew_world *world, const sinew_body_record *body,
                                   const sinew_embedding_def *def, sinew_body_record *made, sinew_error *error)
{
    const sinew_allocator *allocator = &world->allocator;
    const size_t count = (size_t)sinew_skin_vertex_count(def->skin);
    made->skin_vertices = sinew_allocate(allocator, count, 4 * sizeof *made->skin_vertices);
    made->skin_weights = sinew_allocate(allocator, count, 4 * sizeof *made->skin_weights);
    if (!made->skin_vertices || !made->skin_weights)
        return sinew_fail_memory(error, "the weights of a skin");
    sinew_error reason = {SINEW_ERROR_MEMORY, "out of memory"};
    made->skin = sinew_skin_copy(def->skin, allocator, &reason);
    if (!made->skin)
        return sinew_fail(error, reason.status, "%s", reason.text);
    sinew_embeddings embeddings;
    sinew_status status = sinew_embeddings_begin(&embeddings, body->mesh, allocator, &reason);
    if (status != SINEW_OK)
        return sinew_fail(error, status, "%s", reason.text);
    status = find_weights(&embeddings, def, made, error);
    sinew_embeddings_end(&embeddings);
    return status;
}

sinew_status sinew_body_set_skin(sinew_world *world, sinew_body body, const sinew_embedding_def *def,
                                 sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    sinew_body_record *record = sinew_world_find_body(world, body, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    sinew_status status = check_embedding_def(def, error);
    if (status != SINEW_OK)
        return status;
    sinew_body_record made = {0};
    if (def->skin)
        status = make_embedding(world, record, def, &made, error);
    if (status != SINEW_OK) {
        sinew_body_drop_skin(&world->allocator, &made);
        return status;
    }
    sinew_body_drop_skin(&world->allocator, record);
    record->skin = made.skin;
    record->skin_vertices = made.skin_vertices;
    record->skin_weights = made.skin_weights;
    world->shape_version++;
    return SINEW_OK;
}

/* ---- Introspection of a body's skin ------------------------------------------------------------ */

const sinew_skin *sinew_body_skin(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    return record ? record->skin : NULL;
}

const int32_t *sinew_body_skin_vertices(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    return record ? record->skin_vertices : NULL;
}

const sinew_real *sinew_body_skin_weights(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    return record ? record->skin_weights : NULL;
}

/* Interpolates `from` [particle_count][4] at the skin vertices: out[i] = sum over k of weight (i, k) times `from` at
 * the particle of vertex (i, k), in double. */
static sinew_status interpolate_at_skin(const sinew_world *world, sinew_body body, const sinew_real *from,
                                        sinew_real *out)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    if (!record || !SINEW_ASSERT(out))
        return SINEW_ERROR_USAGE;
    if (!record->skin)
        return SINEW_ERROR_DATA;
    for (size_t i = 0; i < (size_t)sinew_skin_vertex_count(record->skin); i++) {
        double sum[3] = {0, 0, 0};
        for (size_t k = 4 * i; k < 4 * i + 4; k++) {
            const sinew_real *x = from + 4 * (size_t)world->inside[record->first + record->skin_vertices[k]];
            for (int c = 0; c < 3; c++)
                sum[c] += (double)record->skin_weights[k] * (double)x[c];
        }
        for (size_t c = 0; c < 3; c++)
            out[3 * i + c] = (sinew_real)sum[c];
    }
    return SINEW_OK;
}

sinew_status sinew_body_skin_positions(const sinew_world *world, sinew_body body, sinew_real *q)
{
    return SINEW_ASSERT(world) ? interpolate_at_skin(world, body, world->q, q) : SINEW_ERROR_USAGE;
}

sinew_status sinew_body_skin_velocities(const sinew_world *world, sinew_body body, sinew_real *v)
{
    return SINEW_ASSERT(world) ? interpolate_at_skin(world, body, world->v, v) : SINEW_ERROR_USAGE;
}
