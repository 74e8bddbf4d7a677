/* SPDX-License-Identifier: MIT
 *
 * cache_gltf.c: <name>.glb, the moving surface as one glTF 2.0 binary file for browsers, Blender and engines.
 *
 * One mesh of the vertices that triangles or lines name. Its POSITION is the first frame x_0; frame k is morph target k
 * with displacements d_k = x_k - x_0; an animation sets the weights to the k-th unit vector at time k * frame_time and
 * blends linearly in between: x = x_0 + sum_k w_k d_k. Source: Khronos glTF 2.0 specification, 3.7 (meshes, morph
 * targets), 3.11 (animations), 4 (GLB). Y is up, as in the default gravity; nothing is turned.
 *
 * Displacements are streamed to <name>.glb.bin.partial, since the JSON with their bounds comes first in the file; close
 * puts both together. No normals are stored: the specification then asks viewers for flat shading of the moved faces.
 *
 * Known limits: 32-bit positions; the file is at most 4 GiB (the format), and n frames carry n (n - 1) weights.
 */
#include "io/cache.h"

#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <string.h>

/* Numbers of the glTF specification. */
enum {
    type_float = 5126,
    type_uint = 5125,
    target_vertices = 34962,
    target_indices = 34963,
    mode_lines = 1,
    mode_triangles = 4,
    glb_magic = 0x46546c67,
    chunk_json = 0x4e4f534a,
    chunk_bin = 0x004e4942,
    glb_header = 12,
    chunk_header = 8,
};

typedef struct own_part {
    sinew_writer side; /* positions, then displacements, frame by frame; never committed */
    sinew_writer glb;
    sinew_cache_shape shape; /* in numbers of the file's vertices */
    int32_t vertex_count;
    int32_t *particles;   /* [vertex_count] which particle a vertex is */
    float *base;          /* [3 * vertex_count] the first frame */
    unsigned char *bytes; /* [12 * vertex_count] one frame as it is in the file */
    float *bounds;        /* [6 * bounds_capacity] min and max of each frame's array */
    int32_t bounds_capacity;
} own_part;

/* ---- Sizes ------------------------------------------------------------------------------------- */

static double index_bytes(const own_part *own)
{
    return 4.0 * (3.0 * (double)own->shape.triangle_count + 2.0 * (double)own->shape.edge_count);
}

/* Bytes of the file's binary part with that many frames; double, so that nothing wraps around. */
static double binary_bytes(const own_part *own, double frames)
{
    double animation = frames > 1 ? 4.0 * frames + 4.0 * frames * (frames - 1) : 0;
    return 12.0 * own->vertex_count * frames + index_bytes(own) + animation;
}

static sinew_status check_size(const sinew_cache *cache, int32_t frames, sinew_error *error)
{
    /* A frame's accessor and its place in both target lists take less than 512 bytes of JSON. */
    double size = binary_bytes(cache->own, frames) + 512.0 * frames + 8192.0 + 2.0 * sizeof cache->stem;
    if (size <= UINT32_MAX)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                      "%s.glb: %d frames need %.1f GiB, glTF files end at 4 GiB; write fewer frames, or use pc2 or vtu",
                      cache->stem, (int)frames, size / (1024.0 * 1024.0 * 1024.0));
}

/* ---- Open -------------------------------------------------------------------------------------- */

/* Numbers the used particles from zero and renames the shape's corners. */
static sinew_status compact(const sinew_cache *cache, own_part *own, sinew_error *error)
{
    size_t count = (size_t)cache->particle_count;
    uint8_t *used = sinew_allocate(&cache->allocator, count, 1);
    int32_t *vertex = sinew_allocate(&cache->allocator, count, sizeof *vertex);
    own->particles = sinew_allocate(&cache->allocator, count, sizeof *own->particles);
    bool good = used && vertex && own->particles;
    if (good) {
        sinew_cache_shape_used(cache, &own->shape, used);
        for (int32_t i = 0; i < cache->particle_count; i++) {
            if (!used[i])
                continue;
            vertex[i] = own->vertex_count;
            own->particles[own->vertex_count++] = i;
        }
        for (int64_t i = 0; i < 3 * own->shape.triangle_count; i++)
            own->shape.triangles[i] = vertex[own->shape.triangles[i]];
        for (int64_t i = 0; i < 2 * own->shape.edge_count; i++)
            own->shape.edges[i] = vertex[own->shape.edges[i]];
    }
    sinew_release(&cache->allocator, used);
    sinew_release(&cache->allocator, vertex);
    return good ? SINEW_OK : sinew_fail_memory(error, "the vertices of a glTF cache");
}

/* RFC 3629: shortest form, no surrogates. */
static bool is_utf8(const char *text)
{
    static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int tail = *s < 0x80 ? 0 : *s >> 5 == 0x6 ? 1 : *s >> 4 == 0xe ? 2 : *s >> 3 == 0x1e ? 3 : -1;
        if (tail < 0)
            return false;
        uint32_t code = tail ? *s & (0x3fu >> tail) : *s;
        s++;
        for (int i = 0; i < tail; i++, s++) {
            if (*s >> 6 != 0x2)
                return false;
            code = code << 6 | (*s & 0x3fu);
        }
        if (code < least[tail] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
    }
    return true;
}

static sinew_status gltf_open(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    if (!is_utf8(cache->name))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: the name must be UTF-8 for glTF", cache->stem);
    sinew_status status = sinew_cache_shape_make(cache, &own->shape, error);
    if (status == SINEW_OK)
        status = compact(cache, own, error);
    if (status != SINEW_OK)
        return status;
    if (own->vertex_count == 0)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s.glb: no body has triangles, tetrahedra or edges to draw; use pc2 or csv", cache->stem);
    status = check_size(cache, cache->expected, error);
    if (status != SINEW_OK)
        return status;
    own->bounds_capacity = cache->expected > 0 ? cache->expected : 64;
    own->bounds = sinew_allocate(&cache->allocator, (size_t)own->bounds_capacity, 6 * sizeof(float));
    own->base = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 3 * sizeof(float));
    own->bytes = sinew_allocate(&cache->allocator, (size_t)own->vertex_count, 12);
    if (!own->bounds || !own->base || !own->bytes)
        return sinew_fail_memory(error, "the buffers of a glTF cache");
    return sinew_cache_create(cache, &own->side, ".glb.bin", error);
}

/* ---- Frames ------------------------------------------------------------------------------------ */

static sinew_status grow_bounds(const sinew_cache *cache, own_part *own, sinew_error *error)
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

/* Fills bytes and bounds[6] with the frame's positions (the first) or displacements (all others). */
static bool lay_out(const sinew_cache *cache, own_part *own, float *bounds)
{
    for (int axis = 0; axis < 3; axis++) {
        bounds[axis] = FLT_MAX;
        bounds[3 + axis] = -FLT_MAX;
    }
    for (size_t i = 0; i < 3 * (size_t)own->vertex_count; i++) {
        size_t axis = i % 3;
        double x = (double)cache->q[3 * (size_t)own->particles[i / 3] + axis];
        if (cache->frame_count == 0)
            own->base[i] = (float)x;
        /* Against the rounded base, so that base + displacement is as near to x as floats can be. */
        float value = cache->frame_count == 0 ? own->base[i] : (float)(x - (double)own->base[i]);
        if (!isfinite(value))
            return false;
        bounds[axis] = fminf(bounds[axis], value);
        bounds[3 + axis] = fmaxf(bounds[3 + axis], value);
        sinew_cache_store_float(own->bytes + 4 * i, value);
    }
    return true;
}

static sinew_status gltf_frame(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    sinew_status status = check_size(cache, cache->frame_count + 1, error);
    if (status == SINEW_OK)
        status = sinew_cache_check_float(cache, error);
    if (status == SINEW_OK)
        status = grow_bounds(cache, own, error);
    if (status != SINEW_OK)
        return status;
    if (!lay_out(cache, own, own->bounds + 6 * (size_t)cache->frame_count))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s.glb: frame %d moves farther than 32-bit floats hold; use csv",
                          cache->stem, (int)cache->frame_count);
    status = sinew_cache_put(&own->side, own->bytes, 12 * (size_t)own->vertex_count, error);
    return status == SINEW_OK ? sinew_cache_flush(&own->side, error) : status;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

/* Buffer views and accessors, added in the order of their bytes. The first failure sticks. */
typedef struct json_tables {
    json_t *views, *accessors;
    json_int_t size; /* bytes in all views so far */
    bool good;
} json_tables;

static int append(json_tables *tables, json_t *list, json_t *item)
{
    if (json_array_append_new(list, item) != 0)
        tables->good = false;
    return (int)json_array_size(list) - 1;
}

/* target 0: neither vertices nor indices. Returns the view's number. */
static int add_view(json_tables *tables, json_int_t size, int target)
{
    json_t *view = json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", tables->size, "byteLength", size);
    if (target && json_object_set_new(view, "target", json_integer(target)) != 0)
        tables->good = false;
    /* Several arrays of vertices share a view: then the specification wants the stride said. */
    if (target == target_vertices && json_object_set_new(view, "byteStride", json_integer(12)) != 0)
        tables->good = false;
    tables->size += size;
    return append(tables, tables->views, view);
}

static int add_indices(json_tables *tables, int64_t count)
{
    int view = add_view(tables, 4 * count, target_indices);
    return append(tables, tables->accessors,
                  json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", type_uint, "count",
                            (json_int_t)count, "type", "SCALAR"));
}

/* One accessor a frame; returns the number of the first. */
static int add_positions(json_tables *tables, const own_part *own, int frames)
{
    json_int_t frame_size = (json_int_t)12 * own->vertex_count;
    int view = add_view(tables, frame_size * frames, target_vertices);
    int first = (int)json_array_size(tables->accessors);
    for (int k = 0; k < frames; k++) {
        const float *b = own->bounds + 6 * (size_t)k;
        append(tables, tables->accessors,
               json_pack("{s:i, s:I, s:i, s:i, s:s, s:[f,f,f], s:[f,f,f]}", "bufferView", view, "byteOffset",
                         frame_size * k, "componentType", type_float, "count", (int)own->vertex_count, "type", "VEC3",
                         "min", (double)b[0], (double)b[1], (double)b[2], "max", (double)b[3], (double)b[4],
                         (double)b[5]));
    }
    return first;
}

static float time_of(const sinew_cache *cache, int frame)
{
    return (float)(frame * cache->frame_time);
}

/* The animation of all frames; its arrays go into the tables. */
static json_t *animations(const sinew_cache *cache, json_tables *tables, int frames)
{
    int view = add_view(tables, (json_int_t)4 * frames, 0);
    int times =
        append(tables, tables->accessors,
               json_pack("{s:i, s:i, s:i, s:s, s:[f], s:[f]}", "bufferView", view, "componentType", type_float, "count",
                         frames, "type", "SCALAR", "min", 0.0, "max", (double)time_of(cache, frames - 1)));
    json_int_t count = (json_int_t)frames * (frames - 1);
    view = add_view(tables, 4 * count, 0);
    int weights = append(tables, tables->accessors,
                         json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", type_float, "count",
                                   count, "type", "SCALAR"));
    return json_pack("[{s:s, s:[{s:i, s:{s:i, s:s}}], s:[{s:i, s:i, s:s}]}]", "name", "frames", "channels", "sampler",
                     0, "target", "node", 0, "path", "weights", "samplers", "input", times, "output", weights,
                     "interpolation", "LINEAR");
}

static json_t *primitive(int indices, int mode, int positions, int frames)
{
    json_t *result = json_pack("{s:{s:i}, s:i, s:i, s:i}", "attributes", "POSITION", positions, "indices", indices,
                               "mode", mode, "material", 0);
    if (frames < 2) /* the specification does not know an empty list of targets */
        return result;
    json_t *targets = json_array();
    bool good = targets != NULL;
    for (int k = 1; k < frames && good; k++)
        good = json_array_append_new(targets, json_pack("{s:i}", "POSITION", positions + k)) == 0;
    if (good && json_object_set(result, "targets", targets) == 0) {
        json_decref(targets);
        return result;
    }
    json_decref(targets);
    json_decref(result);
    return NULL;
}

/* [0] the material: seen from both sides, since cloth has two. */
static json_t *materials(void)
{
    return json_pack("[{s:s, s:b, s:{s:[f,f,f,f], s:f, s:f}}]", "name", "surface", "doubleSided", 1,
                     "pbrMetallicRoughness", "baseColorFactor", 0.75, 0.35, 0.25, 1.0, "metallicFactor", 0.0,
                     "roughnessFactor", 0.75);
}

static json_t *document(const sinew_cache *cache, json_tables *tables, int frames)
{
    const own_part *own = cache->own;
    int positions = add_positions(tables, own, frames);
    json_t *primitives = json_array();
    if (own->shape.triangle_count)
        append(tables, primitives,
               primitive(add_indices(tables, 3 * own->shape.triangle_count), mode_triangles, positions, frames));
    if (own->shape.edge_count)
        append(tables, primitives,
               primitive(add_indices(tables, 2 * own->shape.edge_count), mode_lines, positions, frames));
    json_t *animated = frames > 1 ? animations(cache, tables, frames) : NULL;
    json_t *root =
        json_pack("{s:{s:s, s:s}, s:i, s:[{s:[i]}], s:[{s:s, s:i}], s:[{s:s, s:o}], s:o}", "asset", "version", "2.0",
                  "generator", "sinew " SINEW_VERSION, "scene", 0, "scenes", "nodes", 0, "nodes", "name", cache->name,
                  "mesh", 0, "meshes", "name", cache->name, "primitives", primitives, "materials", materials());
    if (frames > 1 && json_object_set_new(root, "animations", animated) != 0)
        tables->good = false;
    if (json_object_set(root, "accessors", tables->accessors) != 0 ||
        json_object_set(root, "bufferViews", tables->views) != 0 ||
        json_object_set_new(root, "buffers", json_pack("[{s:I}]", "byteLength", tables->size)) != 0)
        tables->good = false;
    return root;
}

/* The whole JSON part; *size receives the bytes of the binary part. NULL: out of memory. */
static json_t *make_json(const sinew_cache *cache, int frames, json_int_t *size)
{
    json_tables tables = {.views = json_array(), .accessors = json_array(), .good = true};
    json_t *root = document(cache, &tables, frames);
    json_decref(tables.views);
    json_decref(tables.accessors);
    *size = tables.size;
    if (tables.good)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- Close ------------------------------------------------------------------------------------- */

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

/* All frames, out of the side file. */
static sinew_status copy_side(own_part *own, int frames, sinew_error *error)
{
    FILE *side = fopen(own->side.partial, "rb");
    if (!side)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", own->side.partial, strerror(errno));
    size_t size = 12 * (size_t)own->vertex_count;
    sinew_status status = SINEW_OK;
    for (int k = 0; k < frames && status == SINEW_OK; k++) {
        if (fread(own->bytes, 1, size, side) != size)
            status = sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read it back: %s", own->side.partial,
                                ferror(side) ? strerror(errno) : "it has become shorter");
        else
            status = sinew_cache_put(&own->glb, own->bytes, size, error);
    }
    fclose(side);
    return status;
}

/* Key k shows frame k: weight 1 on its target, 0 on the others; frame 0 is the base shape. */
static sinew_status put_animation(const sinew_cache *cache, own_part *own, int frames, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int k = 0; k < frames && status == SINEW_OK; k++)
        status = put_float(&own->glb, time_of(cache, k), error);
    for (int k = 0; k < frames && status == SINEW_OK; k++)
        for (int target = 1; target < frames && status == SINEW_OK; target++)
            status = put_float(&own->glb, target == k ? 1.0f : 0.0f, error);
    return status;
}

static sinew_status put_binary(const sinew_cache *cache, own_part *own, int frames, sinew_error *error)
{
    sinew_status status = copy_side(own, frames, error);
    if (status == SINEW_OK)
        status = put_indices(&own->glb, own->shape.triangles, 3 * own->shape.triangle_count, error);
    if (status == SINEW_OK)
        status = put_indices(&own->glb, own->shape.edges, 2 * own->shape.edge_count, error);
    if (status == SINEW_OK && frames > 1)
        status = put_animation(cache, own, frames, error);
    return status;
}

/* False with errno set. jansson cannot undo a decimal point of several bytes, so it gets a plain one. */
static bool dump(const json_t *root, FILE *stream)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    locale_t before = uselocale(plain);
    errno = ENOMEM; /* what is left when the stream itself is fine */
    bool good = json_dumpf(root, stream, JSON_COMPACT) == 0;
    int reason = errno;
    uselocale(before);
    freelocale(plain);
    errno = reason;
    return good;
}

/* File header and the JSON chunk, whose length is known once it is written; then the head of the binary chunk. */
static sinew_status put_json(own_part *own, const json_t *root, json_int_t binary_size, sinew_error *error)
{
    static const char blank[glb_header + chunk_header] = {0};
    sinew_status status = sinew_cache_put(&own->glb, blank, sizeof blank, error);
    if (status != SINEW_OK)
        return status;
    if (!dump(root, own->glb.stream))
        return sinew_fail(error, errno == ENOMEM ? SINEW_ERROR_MEMORY : SINEW_ERROR_FILE, "%s: cannot write: %s",
                          own->glb.path, strerror(errno));
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

static sinew_status gltf_close(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    sinew_status status = cache->frame_count == 0 ? gltf_frame(cache, error) : SINEW_OK;
    int frames = cache->frame_count > 0 ? (int)cache->frame_count : 1;
    if (status == SINEW_OK)
        status = sinew_cache_create(cache, &own->glb, ".glb", error);
    if (status != SINEW_OK)
        return status;
    json_int_t binary_size = 0;
    json_t *root = make_json(cache, frames, &binary_size);
    if (!root)
        return sinew_fail_memory(error, "the JSON part of a glTF cache");
    status = put_json(own, root, binary_size, error);
    json_decref(root);
    if (status == SINEW_OK)
        status = put_binary(cache, own, frames, error);
    return status == SINEW_OK ? sinew_writer_commit(&own->glb, error) : status;
}

static void gltf_drop(sinew_cache *cache)
{
    own_part *own = cache->own;
    sinew_writer_abandon(&own->side);
    sinew_writer_abandon(&own->glb);
    sinew_cache_shape_free(cache, &own->shape);
    sinew_release(&cache->allocator, own->particles);
    sinew_release(&cache->allocator, own->base);
    sinew_release(&cache->allocator, own->bytes);
    sinew_release(&cache->allocator, own->bounds);
}

const sinew_cache_ops sinew_cache_gltf = {
    .name = "gltf",
    .own_size = sizeof(own_part),
    .open = gltf_open,
    .frame = gltf_frame,
    .close = gltf_close,
    .drop = gltf_drop,
};
