/* SPDX-License-Identifier: MIT
 *
 * gltf.c: <name>.glb, the moving surface as one glTF 2.0 binary file for browsers, Blender and engines.
 *
 * One mesh, of the vertices and materials of gltf_vertices.c. Its POSITION is the first frame x_0; frame k is
 * morph target k with displacements d_k = x_k - x_0; an animation sets the weights to the k-th unit vector at time k *
 * frame_time and blends linearly in between: x = x_0 + sum_k w_k d_k. Source: Khronos glTF 2.0 specification, 3.7
 * (meshes, morph targets), 3.11 (animations), 4 (GLB). Y is up, as in the default gravity; coordinates are not
 * rotated.
 *
 * Displacements are streamed to <name>.glb.bin.partial, since the JSON with their bounds comes first in the file; close
 * puts both together. A resumed cache reads the kept frames from the side file, or from the finished file. Targets
 * also store changes of normals: with the normals of the first frame alone, a rotated body would be lit from the
 * wrong side.
 *
 * Viewers support few targets, so of many frames every 2nd, 4th, 8th .. is stored. The strides are powers of two: a
 * cache that resumes after a finished file then needs only frames of this file, and writes the same bytes as an
 * uninterrupted run. A side file rebuilt from a finished file has bytes of 0xff (NaN) for the omitted frames.
 *
 * Known limits: 32-bit positions; the file is at most 4 GiB (the format), and n frames carry n (n - 1) weights.
 */
#include "io/cache/gltf.h"
#include "io/cache/json.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Size of the GLB file ------------------------------------------------------------------------ */

/* Number of bytes of the arrays that are equal in all frames: indices and texture coordinates. */
static double frame_independent_bytes(const sinew_gltf *own)
{
    return 4.0 * (3.0 * (double)own->shape.triangle_count + 2.0 * (double)own->shape.edge_count) +
           (own->uvs ? 8.0 * own->vertex_count : 0);
}

/* Number of bytes of the file's binary chunk with `frames` frames; a double cannot overflow here. */
static double binary_chunk_bytes(const sinew_gltf *own, double frames)
{
    double animation = frames > 1 ? 4.0 * frames + 4.0 * frames * (frames - 1) : 0;
    /* number of arrays per frame: positions and normals, or positions alone */
    const double arrays = own->shape.triangle_count > 0 ? 2 : 1;
    return 12.0 * own->vertex_count * arrays * frames + frame_independent_bytes(own) + animation;
}

int32_t sinew_cache_morph_stride(int32_t frame_count, int32_t max)
{
    int32_t stride = 1;
    while (max > 0 && stride <= INT32_MAX / 2 && (frame_count + (int64_t)stride - 1) / stride > max)
        stride *= 2;
    return stride;
}

/* Number of frames that the file stores if the run wrote `frames` frames. */
static int32_t frames_in_file(const sinew_cache *cache, int32_t frames)
{
    const int32_t every = sinew_cache_morph_stride(frames, cache->morph_frames);
    return (int32_t)((frames + (int64_t)every - 1) / every);
}

/* Fails if the GLB file of a run of `run_frames` frames would exceed the 4 GiB of the format. */
static sinew_status check_file_size(const sinew_cache *cache, int32_t run_frames, sinew_error *error)
{
    const sinew_gltf *own = cache->own;
    const int32_t frames = frames_in_file(cache, run_frames);
    const sinew_name_list *names = &own->shape.names[SINEW_SKIN_MATERIAL];
    /* Upper bounds of the JSON: 768 bytes for both accessors of a frame, 64 for its entry in the target list of a
     * primitive, 512 for a material and its primitive; an escaped name has six bytes per character. */
    double size = binary_chunk_bytes(own, frames) + 768.0 * frames + 8192.0 + 2.0 * sizeof cache->stem +
                  64.0 * frames * own->primitive_count + 512.0 * own->primitive_count + 6.0 * (double)names->used;
    if (size <= UINT32_MAX)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "%s.glb: %d frames need %.1f GiB, glTF files end at 4 GiB; write fewer frames, or use pc2 or vtu",
                      cache->stem, (int)frames, size / (1024.0 * 1024.0 * 1024.0));
}

/* ---- Resuming a GLB cache ------------------------------------------------------------------------ */

static void extend_bounds(float *bounds, size_t axis, float value)
{
    bounds[axis] = fminf(bounds[axis], value);
    bounds[3 + axis] = fmaxf(bounds[3 + axis], value);
}

static void clear_bounds(float *bounds)
{
    for (int axis = 0; axis < 3; axis++) {
        bounds[axis] = FLT_MAX;
        bounds[3 + axis] = -FLT_MAX;
    }
}

/* True for a frame that a finished file omits: its first four bytes are 0xff, which no finite float has. */
static bool is_omitted_frame(const unsigned char *bytes)
{
    return sinew_cache_load32(bytes) == UINT32_MAX;
}

/* Computes the bounds of frame k from its bytes in own->bytes, and own->base if k = 0; false if a number is not
 * finite. */
static bool find_frame_bounds(sinew_gltf *own, int32_t k)
{
    float *bounds = own->bounds + 6 * (size_t)k;
    clear_bounds(bounds);
    if (k > 0 && is_omitted_frame(own->bytes)) {
        bounds[0] = NAN;
        return true;
    }
    for (size_t i = 0; i < 3 * (size_t)own->vertex_count; i++) {
        const float value = sinew_cache_load_float(own->bytes + 4 * i);
        if (!isfinite(value))
            return false;
        if (k == 0)
            own->base[i] = value;
        extend_bounds(bounds, i % 3, value);
    }
    return true;
}

/* Reads the frames of an earlier run and sets base and bounds; `stream` holds every `every`-th frame. `copy` (may be
 * NULL) receives all frames, omitted ones as bytes of 0xff. */
static sinew_status read_kept_frames(sinew_cache *cache, FILE *stream, int32_t every, const char *path,
                                     sinew_writer *copy, sinew_error *error)
{
    sinew_gltf *own = cache->own;
    const size_t size = 12 * (size_t)own->vertex_count;
    sinew_status status = SINEW_OK;
    for (int32_t k = 0; k < cache->kept && status == SINEW_OK; k++) {
        memset(own->bytes, 0xff, size);
        if (k % every == 0 && fread(own->bytes, 1, size, stream) != size)
            return sinew_fail(error, SINEW_ERROR_FORMAT,
                              "%s: does not hold the frames to go on from; start the run again", path);
        if (!find_frame_bounds(own, k))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is damaged; start the run again", path);
        if (copy)
            status = sinew_cache_put(copy, own->bytes, size, error);
    }
    return status;
}

/* True if a killed run left a side file that holds the kept frames. */
static bool gltf_side_file_has_kept_frames(const sinew_cache *cache)
{
    const sinew_gltf *own = cache->own;
    char path[sizeof cache->stem + 40];
    struct stat facts;
    snprintf(path, sizeof path, "%s.glb.bin.partial", cache->stem);
    return lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
           (double)facts.st_size >= 12.0 * own->vertex_count * (double)cache->kept;
}

/* Moves the file position to the data of the binary chunk of a finished GLB file. Returns the stride of its frames, 0:
 * the file is damaged.
 */
static int32_t find_frames(FILE *glb)
{
    unsigned char head[glb_header + chunk_header];
    if (fread(head, 1, sizeof head, glb) != sizeof head || sinew_cache_load32(head) != glb_magic ||
        sinew_cache_load32(head + 16) != chunk_json)
        return 0;
    const off_t binary = (off_t)sizeof head + sinew_cache_load32(head + 12) + chunk_header;
    json_t *root = json_loadf(glb, JSON_DISABLE_EOF_CHECK, NULL);
    const json_t *extras = json_object_get(json_object_get(root, "asset"), "extras");
    const json_int_t every = json_integer_value(json_object_get(extras, "every"));
    json_decref(root);
    return every >= 1 && every <= INT32_MAX && fseeko(glb, binary, SEEK_SET) == 0 ? (int32_t)every : 0;
}

/* Rebuilds the side file from a finished GLB file, whose frames are at the start of its binary chunk. */
static sinew_status rebuild_side_file_from_glb(sinew_cache *cache, sinew_error *error)
{
    sinew_gltf *own = cache->own;
    char path[sizeof cache->stem + 40];
    snprintf(path, sizeof path, "%s.glb", cache->stem);
    sinew_status status = sinew_cache_create_file(cache, &own->side, ".glb.bin", error);
    int file = status == SINEW_OK ? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
    FILE *glb = file >= 0 ? fdopen(file, "rb") : NULL;
    if (status == SINEW_OK && !glb)
        status = sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
    const int32_t every = status == SINEW_OK ? find_frames(glb) : 0;
    if (status == SINEW_OK && every == 0)
        status = sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is damaged; start the run again", path);
    if (status == SINEW_OK)
        status = read_kept_frames(cache, glb, every, path, &own->side, error);
    if (glb)
        fclose(glb);
    else if (file >= 0)
        close(file);
    return status == SINEW_OK ? sinew_writer_sync(&own->side, error) : status;
}

static sinew_status gltf_cache_resume(sinew_cache *cache, sinew_error *error)
{
    sinew_gltf *own = cache->own;
    if (!gltf_side_file_has_kept_frames(cache)) {
        sinew_status status = rebuild_side_file_from_glb(cache, error);
        own->side.keep = status == SINEW_OK;
        return status;
    }
    sinew_status status = sinew_cache_open_stream(cache, &own->side, ".glb.bin", error);
    if (status == SINEW_OK)
        status = read_kept_frames(cache, own->side.stream, 1, own->side.partial, NULL, error);
    return status == SINEW_OK ? sinew_cache_cut_bytes(&own->side, 12 * (int64_t)own->vertex_count * cache->kept, error)
                              : status;
}

static sinew_status gltf_open(sinew_cache *cache, sinew_error *error)
{
    sinew_gltf *own = cache->own;
    if (!sinew_is_utf8(cache->name))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: the name must be UTF-8 for glTF", cache->stem);
    sinew_status status = sinew_cache_shape_make(cache, &own->shape, error);
    if (status == SINEW_OK)
        status = sinew_gltf_choose_vertices(cache, own, error);
    if (status != SINEW_OK)
        return status;
    if (own->vertex_count == 0)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s.glb: no body has triangles, tetrahedra or edges to draw; use pc2 or csv", cache->stem);
    status = check_file_size(cache, cache->expected, error);
    if (status != SINEW_OK)
        return status;
    own->bounds_capacity = cache->expected > 0 ? cache->expected : 64;
    if (own->bounds_capacity < cache->kept)
        own->bounds_capacity = cache->kept;
    own->bounds = sinew_allocate(&cache->allocator, (size_t)own->bounds_capacity, 6 * sizeof(float));
    own->base = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 3 * sizeof(float));
    own->bytes = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 12);
    own->moved = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 3 * sizeof(float));
    own->normals = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 3 * sizeof(float));
    own->base_normals = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 3 * sizeof(float));
    if (!own->bounds || !own->base || !own->bytes || !own->moved || !own->normals || !own->base_normals)
        return sinew_fail_memory(error, "the buffers of a glTF cache");
    return cache->kept > 0 ? gltf_cache_resume(cache, error)
                           : sinew_cache_open_stream(cache, &own->side, ".glb.bin", error);
}

/* ---- Writing of frames to the side file ---------------------------------------------------------- */

static sinew_status grow_bounds(const sinew_cache *cache, sinew_gltf *own, sinew_error *error)
{
    if (cache->frame_count < own->bounds_capacity)
        return SINEW_OK;
    int32_t capacity = own->bounds_capacity > INT32_MAX / 2 ? INT32_MAX : 2 * own->bounds_capacity;
    float *bounds = sinew_reallocate(&cache->allocator, own->bounds, (size_t)own->bounds_capacity, (size_t)capacity,
                                     6 * sizeof(float));
    if (!bounds)
        return sinew_fail_memory(error, "the bounds of a glTF cache");
    own->bounds = bounds;
    own->bounds_capacity = capacity;
    return SINEW_OK;
}

/* Fills own->bytes and bounds[6] with the positions of the first frame or the displacements of a later frame. Returns
 * false if a value is beyond the range of 32-bit floats. */
static bool gltf_lay_out_frame(const sinew_cache *cache, sinew_gltf *own, float *bounds)
{
    clear_bounds(bounds);
    for (size_t i = 0; i < 3 * (size_t)own->vertex_count; i++) {
        size_t axis = i % 3;
        double x = (double)cache->q[3 * (size_t)own->points[i / 3] + axis];
        if (cache->frame_count == 0)
            own->base[i] = (float)x;
        /* The displacement is relative to the positions of the first frame rounded to 32 bits, so that this rounding
         * does not shift later frames. */
        float value = cache->frame_count == 0 ? own->base[i] : (float)(x - (double)own->base[i]);
        if (!isfinite(value))
            return false;
        extend_bounds(bounds, axis, value);
        sinew_cache_store_float(own->bytes + 4 * i, value);
    }
    return true;
}

static sinew_status gltf_frame(sinew_cache *cache, sinew_error *error)
{
    sinew_gltf *own = cache->own;
    sinew_status status = check_file_size(cache, cache->frame_count + 1, error);
    if (status == SINEW_OK)
        status = sinew_cache_check_float(cache, error);
    if (status == SINEW_OK)
        status = grow_bounds(cache, own, error);
    if (status != SINEW_OK)
        return status;
    if (!gltf_lay_out_frame(cache, own, own->bounds + 6 * (size_t)cache->frame_count))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s.glb: frame %d moves farther than 32-bit floats hold; use csv",
                          cache->stem, (int)cache->frame_count);
    status = sinew_cache_put(&own->side, own->bytes, 12 * (size_t)own->vertex_count, error);
    return status == SINEW_OK ? sinew_cache_flush(&own->side, error) : status;
}

/* ---- Completion of the GLB file ------------------------------------------------------------------ */

static sinew_status put32(sinew_writer *writer, uint32_t value, sinew_error *error)
{
    unsigned char bytes[4];
    sinew_cache_store32(bytes, value);
    return sinew_cache_put(writer, bytes, sizeof bytes, error);
}

static sinew_status put_float(sinew_writer *writer, float value, sinew_error *error)
{
    unsigned char bytes[4];
    sinew_cache_store_float(bytes, value);
    return sinew_cache_put(writer, bytes, sizeof bytes, error);
}

static sinew_status put_indices(sinew_writer *writer, const int32_t *indices, int64_t count, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int64_t i = 0; i < count && status == SINEW_OK; i++)
        status = put32(writer, (uint32_t)indices[i], error);
    return status;
}

/* Reads frame number `frame` of the GLB file from the side file into own->bytes. */
static sinew_status read_back_frame(sinew_gltf *own, FILE *side, int frame, sinew_error *error)
{
    const size_t size = 12 * (size_t)own->vertex_count;
    if (fseeko(side, (off_t)size * own->every * frame, SEEK_SET) != 0 || fread(own->bytes, 1, size, side) != size)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read it back: %s", own->side.partial,
                          ferror(side) ? strerror(errno) : "it has become shorter");
    return SINEW_OK;
}

static sinew_status put_positions(sinew_gltf *own, FILE *side, int frames, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int k = 0; k < frames && status == SINEW_OK; k++) {
        status = read_back_frame(own, side, k, error);
        if (status == SINEW_OK)
            status = sinew_cache_put(&own->glb, own->bytes, 12 * (size_t)own->vertex_count, error);
    }
    return status;
}

/* Writes the normals of the first frame, then the differences of the other frames' normals from them, to the GLB
 * file. */
static sinew_status put_normals(sinew_gltf *own, FILE *side, int frames, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int k = 0; k < frames && status == SINEW_OK; k++) {
        status = read_back_frame(own, side, k, error);
        float *normals = k == 0 ? own->base_normals : own->normals;
        for (size_t i = 0; i < 3 * (size_t)own->vertex_count; i++)
            own->moved[i] = sinew_cache_load_float(own->bytes + 4 * i) + (k == 0 ? 0 : own->base[i]);
        sinew_gltf_compute_normals(own, own->moved, normals);
        for (size_t i = 0; i < 3 * (size_t)own->vertex_count; i++)
            sinew_cache_store_float(own->bytes + 4 * i, normals[i] - (k == 0 ? 0 : own->base_normals[i]));
        if (status == SINEW_OK)
            status = sinew_cache_put(&own->glb, own->bytes, 12 * (size_t)own->vertex_count, error);
    }
    return status;
}

/* Writes the times and the morph weights of all key frames. Key frame k has weight 1 on morph target k and 0 on the
 * others; key frame 0 is the base shape, with all weights 0. */
static sinew_status put_animation(const sinew_cache *cache, sinew_gltf *own, int frames, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int k = 0; k < frames && status == SINEW_OK; k++)
        status = put_float(&own->glb, sinew_gltf_time(cache, k), error);
    for (int k = 0; k < frames && status == SINEW_OK; k++)
        for (int target = 1; target < frames && status == SINEW_OK; target++)
            status = put_float(&own->glb, target == k ? 1.0f : 0.0f, error);
    return status;
}

static sinew_status put_binary(const sinew_cache *cache, sinew_gltf *own, int frames, sinew_error *error)
{
    FILE *side = fopen(own->side.partial, "rb");
    if (!side)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", own->side.partial, strerror(errno));
    sinew_status status = put_positions(own, side, frames, error);
    for (int64_t i = 0; own->uvs && i < 2 * (int64_t)own->vertex_count && status == SINEW_OK; i++)
        status = put_float(&own->glb, own->uvs[i], error);
    if (status == SINEW_OK && own->shape.triangle_count > 0)
        status = put_normals(own, side, frames, error);
    fclose(side);
    if (status == SINEW_OK)
        status = put_indices(&own->glb, own->shape.triangles, 3 * own->shape.triangle_count, error);
    if (status == SINEW_OK)
        status = put_indices(&own->glb, own->shape.edges, 2 * own->shape.edge_count, error);
    if (status == SINEW_OK && frames > 1)
        status = put_animation(cache, own, frames, error);
    return status;
}

/* Writes the GLB header, the JSON chunk and the header of the binary chunk. The JSON length is patched after
 * writing. */
static sinew_status put_json(sinew_gltf *own, const json_t *root, json_int_t binary_size, sinew_error *error)
{
    static const char blank[glb_header + chunk_header] = {0};
    sinew_status status = sinew_cache_put(&own->glb, blank, sizeof blank, error);
    if (status != SINEW_OK)
        return status;
    status = sinew_cache_put_json(&own->glb, root, JSON_COMPACT, error);
    if (status != SINEW_OK)
        return status;
    int64_t end = ftello(own->glb.stream);
    int64_t padding = (4 - end % 4) % 4;
    status = sinew_cache_put(&own->glb, "   ", (size_t)padding, error);
    end += padding;
    int64_t total = end + chunk_header + binary_size;
    if (status == SINEW_OK && total > UINT32_MAX)
        status = sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s: is larger than glTF's 4 GiB; use pc2 or vtu",
                            own->glb.path);
    uint32_t head[] = {glb_magic, 2, (uint32_t)total, (uint32_t)(end - (int64_t)sizeof blank), chunk_json};
    if (status == SINEW_OK)
        status = sinew_cache_seek(&own->glb, 0, error);
    for (size_t i = 0; i < sizeof head / sizeof head[0] && status == SINEW_OK; i++)
        status = put32(&own->glb, head[i], error);
    if (status == SINEW_OK)
        status = sinew_cache_seek(&own->glb, end, error);
    if (status == SINEW_OK)
        status = put32(&own->glb, (uint32_t)binary_size, error);
    return status == SINEW_OK ? put32(&own->glb, chunk_bin, error) : status;
}

/* Fails if a finished GLB file omits frames that the new stride needs. */
static sinew_status check_no_frame_omitted(const sinew_cache *cache, const sinew_gltf *own, int frames,
                                           sinew_error *error)
{
    for (int64_t k = 0; k < frames; k++)
        if (isnan(own->bounds[6 * own->every * k]))
            return sinew_fail(error, SINEW_ERROR_FORMAT,
                              "%s.glb: frame %lld was left out when the file was finished before; go on with the same "
                              "morph_frames and not fewer frames, or start the run again",
                              cache->stem, (long long)own->every * k);
    return SINEW_OK;
}

static sinew_status gltf_close(sinew_cache *cache, sinew_error *error)
{
    sinew_gltf *own = cache->own;
    sinew_status status = cache->frame_count == 0 ? gltf_frame(cache, error) : SINEW_OK;
    const int32_t came = cache->frame_count > 0 ? cache->frame_count : 1, frames = frames_in_file(cache, came);
    own->every = sinew_cache_morph_stride(came, cache->morph_frames);
    if (status == SINEW_OK)
        status = check_no_frame_omitted(cache, own, frames, error);
    if (status == SINEW_OK)
        status = sinew_cache_create_file(cache, &own->glb, ".glb", error);
    if (status != SINEW_OK)
        return status;
    json_int_t binary_size = 0;
    json_t *root = sinew_gltf_make_json(cache, frames, &binary_size);
    if (!root)
        return sinew_fail_memory(error, "the JSON part of a glTF cache");
    status = put_json(own, root, binary_size, error);
    json_decref(root);
    if (status == SINEW_OK)
        status = put_binary(cache, own, frames, error);
    if (status == SINEW_OK)
        status = sinew_writer_commit_durable(&own->glb, error);
    if (status == SINEW_OK)
        own->side.keep = false; /* the finished GLB file holds the frames, so the side file is removed */
    return status;
}

static sinew_status gltf_sync(sinew_cache *cache, sinew_error *error)
{
    sinew_gltf *own = cache->own;
    return sinew_writer_sync(&own->side, error);
}

static void gltf_drop(sinew_cache *cache)
{
    sinew_gltf *own = cache->own;
    sinew_writer_abandon(&own->side);
    sinew_writer_abandon(&own->glb);
    sinew_cache_shape_free(cache, &own->shape);
    sinew_release(&cache->allocator, own->points);
    sinew_release(&cache->allocator, own->uvs);
    sinew_release(&cache->allocator, own->primitive_starts);
    sinew_release(&cache->allocator, own->base);
    sinew_release(&cache->allocator, own->bytes);
    sinew_release(&cache->allocator, own->bounds);
    sinew_release(&cache->allocator, own->groups);
    sinew_release(&cache->allocator, own->sums);
    sinew_release(&cache->allocator, own->moved);
    sinew_release(&cache->allocator, own->normals);
    sinew_release(&cache->allocator, own->base_normals);
}

const sinew_cache_ops sinew_cache_gltf = {
    .name = "gltf",
    .own_size = sizeof(sinew_gltf),
    .open = gltf_open,
    .frame = gltf_frame,
    .sync = gltf_sync,
    .close = gltf_close,
    .drop = gltf_drop,
};
