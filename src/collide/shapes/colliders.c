/* SPDX-License-Identifier: MIT
 *
 * colliders.c: checks the defs of colliders, creates their records, and evaluates their motion.
 *
 * A vertex X in the frame of the collider is at x = R X + p. Vertices of a cache are interpolated linearly between two
 * frames, and are constant before the first and after the last. Position p_0 and rotation R_0 place the frame, then
 * keys move it, x = pivot + R_k (R_0 X + p_0 - pivot) + T:
 *
 *     R = R_k R_0,    p = pivot + R_k (p_0 - pivot) + T
 *
 * Between two poses set by the program, p moves along a straight line and R along the shortest rotation.
 */
#include "collide/shapes/primitives.h"

#include "base/tagged_blob.h"
#include "mesh/key_frames.h"

#include <math.h>
#include <string.h>

/* ---- Names and default definitions of colliders ------------------------------------------------- */

const char *sinew_shape_name(sinew_shape_kind kind)
{
    const sinew_shape_ops *ops = sinew_get_shape_ops(kind);
    return ops ? ops->name : NULL;
}

sinew_shape_kind sinew_shape_by_name(const char *name)
{
    for (int kind = 0; name && kind < SINEW_SHAPE_COUNT; kind++)
        if (strcmp(sinew_shape_name((sinew_shape_kind)kind), name) == 0)
            return (sinew_shape_kind)kind;
    return SINEW_SHAPE_COUNT;
}

sinew_collider_def sinew_default_collider_def(sinew_shape_kind kind)
{
    return (sinew_collider_def){.cookie = SINEW_COOKIE_COLLIDER,
                                .kind = kind,
                                .size = {1, 1, 1},
                                .radius = (sinew_real)0.5,
                                .segments = 64,
                                .frame_time = (sinew_real)(1.0 / 24),
                                .thickness = (sinew_real)NAN,
                                .friction = (sinew_real)NAN,
                                .restitution = (sinew_real)NAN,
                                .group = 1,
                                .mask = UINT32_MAX};
}

/* ---- Checks of a collider definition ------------------------------------------------------------ */

sinew_status sinew_contact_coefficients_check(const char *owner, sinew_real thickness, sinew_real friction,
                                              sinew_real restitution, sinew_error *error)
{
    if (!isnan(thickness) && !(thickness >= 0 && isfinite(thickness)))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: thickness is %g m, must be finite and at least 0", owner,
                          (double)thickness);
    if (!isnan(friction) && !(friction >= 0 && friction <= 10))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: friction is %g, must be 0 .. 10", owner, (double)friction);
    if (!isnan(restitution) && !(restitution >= 0 && restitution <= 1))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: restitution is %g, must be 0 .. 1", owner, (double)restitution);
    return SINEW_OK;
}

static sinew_status collider_check_lengths(const sinew_collider_def *def, const sinew_shape_ops *ops,
                                           sinew_error *error)
{
    for (int k = 0; k < 3; k++)
        if (ops->needs & (uint32_t)SINEW_SHAPE_NEEDS_X << k && !(def->size[k] > 0 && isfinite(def->size[k])))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: size along %c is %g m, must be finite and greater than 0",
                              ops->name, "xyz"[k], (double)def -> size[k]);
    if (ops->needs & SINEW_SHAPE_NEEDS_RADIUS && !(def->radius > 0 && isfinite(def->radius)))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: radius is %g m, must be finite and greater than 0", ops->name,
                          (double)def->radius);
    for (int k = 0; k < 3; k++)
        if (!isfinite(def->position[k]) || !isfinite(def->rotation[k]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: %s along %c is %g, must be finite", ops->name,
                              isfinite(def->position[k]) ? "rotation" : "position", "xyz"[k],
                              (double)(isfinite(def->position[k]) ? def->rotation[k] : def->position[k]));
    return SINEW_OK;
}

static sinew_status check_collider_def(const sinew_collider_def *def, sinew_error *error)
{
    const sinew_shape_ops *ops = def ? sinew_get_shape_ops(def->kind) : NULL;
    if (!SINEW_ASSERT(ops && def->cookie == SINEW_COOKIE_COLLIDER) || !ops)
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a collider needs a def made by sinew_default_collider_def() with a kind that there is");
    sinew_status status = collider_check_lengths(def, ops, error);
    if (status == SINEW_OK)
        status = sinew_contact_coefficients_check(ops->name, def->thickness, def->friction, def->restitution, error);
    if (status == SINEW_OK && def->motion)
        status = sinew_motion_check(def->motion, ops->name, error);
    if (status == SINEW_OK && ops->check)
        status = ops->check(def, error);
    if (status == SINEW_OK && def->frame_count != 0 && def->kind != SINEW_SHAPE_MESH)
        status = sinew_fail(error, SINEW_ERROR_DATA, "%s: frame_count is %d, must be 0: only a mesh has a cache",
                            ops->name, def->frame_count);
    return status;
}

/* ---- Records of colliders -------------------------------------------------------------------- */

static uint32_t digest_number(uint32_t digest, sinew_real number)
{
    /* All NaN values have the same digest, independent of their bits. */
    const sinew_real canonical = isnan(number) ? -1 : number;
    return sinew_checksum(digest, &canonical, sizeof canonical);
}

static uint32_t digest_shape(const sinew_collider_record *record, const sinew_collider_def *def)
{
    const size_t points = 3 * (size_t)record->vertex_count;
    const int32_t whole[4] = {(int32_t)record->kind, record->closed, (int32_t)record->group, (int32_t)record->mask};
    uint32_t digest = sinew_checksum(sinew_motion_digest(def->motion), whole, sizeof whole);
    digest = digest_number(digest, record->thickness);
    digest = digest_number(digest, record->friction);
    digest = digest_number(digest, record->restitution);
    digest = digest_number(digest, (sinew_real)record->radius);
    digest = sinew_checksum(digest, record->position, sizeof record->position);
    digest = sinew_checksum(digest, record->rotation, sizeof record->rotation);
    digest = sinew_checksum(digest, record->vertices, points * sizeof *record->vertices);
    digest = sinew_checksum(digest, record->triangles, 3 * (size_t)record->triangle_count * sizeof *record->triangles);
    if (record->frame_count == 0)
        return digest;
    digest = digest_number(digest, record->frame_time);
    return sinew_checksum(digest, record->frames, (size_t)record->frame_count * points * sizeof *record->frames);
}

static sinew_status copy_name_and_keys(sinew_collider_record *record, const sinew_allocator *allocator,
                                       const sinew_collider_def *def, sinew_error *error)
{
    const size_t name = def->name ? strlen(def->name) + 1 : 0;
    record->key_count = def->motion ? def->motion->key_count : 0;
    record->keys = sinew_allocate(allocator, (size_t)record->key_count, sizeof *record->keys);
    record->name = name ? sinew_allocate(allocator, name, 1) : NULL;
    if (!record->keys || (name && !record->name))
        return sinew_fail_memory(error, "a collider");
    if (name)
        memcpy(record->name, def->name, name);
    if (def->motion) {
        memcpy(record->keys, def->motion->keys, (size_t)record->key_count * sizeof *record->keys);
        memcpy(record->pivot, def->motion->pivot, sizeof record->pivot);
    }
    return SINEW_OK;
}

sinew_status sinew_shape_create(sinew_collider_record *record, const sinew_allocator *allocator,
                                const sinew_collider_def *def, sinew_error *error)
{
    *record = (sinew_collider_record){0};
    sinew_status status = check_collider_def(def, error);
    if (status != SINEW_OK)
        return status;
    record->kind = def->kind;
    record->closed =
        def->kind ==
        SINEW_SHAPE_PLANE; /* a plane bounds a solid half-space; the constructors of other shapes set `closed` */
    record->thickness = def->thickness;
    record->friction = def->friction;
    record->restitution = def->restitution;
    record->group = def->group;
    record->mask = def->mask;
    memcpy(record->position, def->position, sizeof record->position);
    memcpy(record->rotation, def->rotation, sizeof record->rotation);
    status = copy_name_and_keys(record, allocator, def, error);
    if (status == SINEW_OK && sinew_get_shape_ops(def->kind)->make)
        status = sinew_get_shape_ops(def->kind)->make(record, allocator, def, error);
    if (status == SINEW_OK)
        record->digest = digest_shape(record, def);
    else
        sinew_shape_destroy(record, allocator);
    return status;
}

void sinew_shape_destroy(sinew_collider_record *record, const sinew_allocator *allocator)
{
    void *arrays[] = {record->name, record->vertices, record->triangles,    record->edges,
                      record->keys, record->frames,   record->mesh_vertices};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    *record = (sinew_collider_record){.generation = record->generation, .kind = record->kind};
}

/* ---- Positions of colliders at a time ----------------------------------------------------------- */

static void placement_frame(const sinew_real position[3], const sinew_real rotation[3], double R[9], double p[3])
{
    double r[3];
    for (int c = 0; c < 3; c++) {
        r[c] = (double)rotation[c];
        p[c] = (double)position[c];
    }
    sinew_rotation_matrix(r, R);
}

static void frame_between_poses(const sinew_collider_record *record, double fraction, double R[9], double p[3])
{
    double R0[9], R1[9], p0[3], p1[3];
    placement_frame(record->pose[0], record->pose[0] + 3, R0, p0);
    placement_frame(record->pose[1], record->pose[1] + 3, R1, p1);
    sinew_rotation_between(R0, R1, fraction, R);
    for (int c = 0; c < 3; c++)
        p[c] = (1 - fraction) * p0[c] + fraction * p1[c];
}

void sinew_shape_frame(const sinew_collider_record *record, double time, double fraction, double R[9], double p[3])
{
    if (record->posed) {
        frame_between_poses(record, fraction, R, p);
        return;
    }
    if (record->key_count == 0) {
        placement_frame(record->position, record->rotation, R, p);
        return;
    }
    double R0[9], p0[3], Rk[9], rotation[3], shift[3];
    placement_frame(record->position, record->rotation, R0, p0);
    sinew_keys_at(record->keys, record->key_count, time, shift, rotation);
    sinew_rotation_matrix(rotation, Rk);
    sinew_matrix_product(Rk, R0, R);
    for (int c = 0; c < 3; c++) {
        p0[c] -= (double)record->pivot[c];
        shift[c] += (double)record->pivot[c];
    }
    sinew_rigid_apply(Rk, shift, p0, p);
}

/* Vertex arrays of two cache frames, and the interpolation parameter 0 .. 1 from the first to the second. */
typedef struct shape_now {
    const sinew_real *from, *to;
    double fraction;
} shape_now;

static shape_now cached_shape_at(const sinew_collider_record *record, double time)
{
    if (record->frame_count == 0)
        return (shape_now){record->vertices, record->vertices, 0};
    const double at = fmin(fmax(time / (double)record->frame_time, 0), record->frame_count - 1);
    const int32_t frame = (int32_t)fmin(floor(at), record->frame_count - 2);
    const sinew_real *from = record->frames + 3 * (size_t)frame * (size_t)record->vertex_count;
    return (shape_now){from, from + 3 * (size_t)record->vertex_count, at - frame};
}

void sinew_shape_some_positions(const sinew_collider_record *record, double time, double fraction, int32_t count,
                                const int32_t *vertices, double (*x)[3])
{
    const shape_now now = cached_shape_at(record, time);
    double R[9], p[3];
    sinew_shape_frame(record, time, fraction, R, p);
    for (int32_t i = 0; i < count; i++) {
        const size_t at = 3 * (size_t)vertices[i];
        double X[3];
        for (size_t c = 0; c < 3; c++)
            X[c] = (1 - now.fraction) * (double)now.from[at + c] + now.fraction * (double)now.to[at + c];
        sinew_rigid_apply(R, p, X, x[i]);
    }
}

/* Writes the vertex positions of a collider with a stride of 3 or 4 numbers; a fourth number is zero. */
static void record_positions(const sinew_collider_record *record, double time, double fraction, size_t stride,
                             sinew_real *x)
{
    const shape_now now = cached_shape_at(record, time);
    double R[9], p[3];
    sinew_shape_frame(record, time, fraction, R, p);
    for (size_t v = 0; v < (size_t)record->vertex_count; v++) {
        double X[3], y[4] = {0};
        for (size_t c = 0; c < 3; c++)
            X[c] = (1 - now.fraction) * (double)now.from[3 * v + c] + now.fraction * (double)now.to[3 * v + c];
        sinew_rigid_apply(R, p, X, y);
        for (size_t c = 0; c < stride; c++)
            x[stride * v + c] = (sinew_real)y[c];
    }
}

void sinew_shape_positions(const sinew_collider_record *record, double time, double fraction, sinew_real *x)
{
    record_positions(record, time, fraction, 4, x);
}

void sinew_shape_positions_packed(const sinew_collider_record *record, double time, double fraction, sinew_real *x)
{
    record_positions(record, time, fraction, 3, x);
}

void sinew_shape_plane(const sinew_collider_record *record, double time, double fraction, double point[3],
                       double normal[3])
{
    double R[9];
    sinew_shape_frame(record, time, fraction, R, point);
    for (int c = 0; c < 3; c++)
        normal[c] = R[3 * c + 1];
}

void sinew_shape_end_step(sinew_collider_record *record, double h, double fraction)
{
    record->behind = fraction < 1 ? (1 - fraction) * (h + record->behind) : 0;
    for (int k = 0; record->posed && k < 6; k++)
        record->pose[0][k] =
            fraction < 1
                ? (sinew_real)((1 - fraction) * (double)record->pose[0][k] + fraction * (double)record->pose[1][k])
                : record->pose[1][k];
}
