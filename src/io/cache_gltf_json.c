/* SPDX-License-Identifier: MIT
 *
 * cache_gltf_json.c: the JSON part of a glTF cache: buffer views, accessors, mesh, material and animation.
 *
 * Source: Khronos glTF 2.0 specification, 3.6 (accessors), 3.7 (meshes, morph targets), 3.11 (animations).
 */
#include "io/cache_gltf.h"

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
static int add_positions(json_tables *tables, const sinew_gltf *own, int frames)
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

float sinew_gltf_time(const sinew_cache *cache, int frame)
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
                         frames, "type", "SCALAR", "min", 0.0, "max", (double)sinew_gltf_time(cache, frames - 1)));
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
    const sinew_gltf *own = cache->own;
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

json_t *sinew_gltf_json(const sinew_cache *cache, int frames, json_int_t *size)
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
