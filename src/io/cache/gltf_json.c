/* SPDX-License-Identifier: MIT
 *
 * gltf_json.c: the JSON part of a glTF cache: buffer views, accessors, mesh, material and animation.
 *
 * Source: Khronos glTF 2.0 specification, 3.6 (accessors), 3.7 (meshes, morph targets), 3.11 (animations).
 */
#include "io/cache/gltf.h"
#include "io/cache/json.h"

/* glTF buffer views and accessors, added in the order of their bytes. */
typedef struct json_tables {
    json_t *views, *accessors;
    json_int_t size; /* number of bytes of all buffer views so far */
    bool good;       /* false: a function failed for lack of memory, and the document is discarded at its end */
} json_tables;

static int gltf_json_append(json_tables *tables, json_t *list, json_t *item)
{
    if (json_array_append_new(list, item) != 0)
        tables->good = false;
    return (int)json_array_size(list) - 1;
}

/* Adds a glTF buffer view. target 0: neither vertices nor indices; stride: bytes per vertex. Returns the index of the
 * view. */
static int add_strided_view(json_tables *tables, json_int_t size, int target, int stride)
{
    json_t *view = json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", tables->size, "byteLength", size);
    if (target && json_object_set_new(view, "target", json_integer(target)) != 0)
        tables->good = false;
    /* The glTF specification requires a stride for buffer views that several vertex arrays share. */
    if (target == target_vertices && json_object_set_new(view, "byteStride", json_integer(stride)) != 0)
        tables->good = false;
    tables->size += size;
    return gltf_json_append(tables, tables->views, view);
}

static int add_view(json_tables *tables, json_int_t size, int target)
{
    return add_strided_view(tables, size, target, 12);
}

static int add_indices(json_tables *tables, int64_t count)
{
    int view = add_view(tables, 4 * count, target_indices);
    return gltf_json_append(tables, tables->accessors,
                            json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", type_uint, "count",
                                      (json_int_t)count, "type", "SCALAR"));
}

/* Adds one accessor of positions per frame; returns the index of the first accessor. */
static int gltf_json_add_positions(json_tables *tables, const sinew_gltf *own, int frames)
{
    json_int_t frame_size = (json_int_t)12 * own->vertex_count;
    int view = add_view(tables, frame_size * frames, target_vertices);
    int first = (int)json_array_size(tables->accessors);
    for (int k = 0; k < frames; k++) {
        const float *b = own->bounds + 6 * (size_t)own->every * (size_t)k;
        gltf_json_append(tables, tables->accessors,
                         json_pack("{s:i, s:I, s:i, s:i, s:s, s:[f,f,f], s:[f,f,f]}", "bufferView", view, "byteOffset",
                                   frame_size * k, "componentType", type_float, "count", (int)own->vertex_count, "type",
                                   "VEC3", "min", (double)b[0], (double)b[1], (double)b[2], "max", (double)b[3],
                                   (double)b[4], (double)b[5]));
    }
    return first;
}

/* Adds accessors of the first frame's normals, then of their changes; returns the index of the first accessor, -1: no
 * normals. */
static int add_normals(json_tables *tables, const sinew_gltf *own, int frames)
{
    const json_int_t frame_size = (json_int_t)12 * own->vertex_count;
    if (own->shape.triangle_count == 0)
        return -1;
    const int view = add_view(tables, frame_size * frames, target_vertices);
    const int first = (int)json_array_size(tables->accessors);
    for (int k = 0; k < frames; k++)
        gltf_json_append(tables, tables->accessors,
                         json_pack("{s:i, s:I, s:i, s:i, s:s}", "bufferView", view, "byteOffset", frame_size * k,
                                   "componentType", type_float, "count", (int)own->vertex_count, "type", "VEC3"));
    return first;
}

/* Adds the accessor of the texture coordinates and returns its index, -1: no texture coordinates. */
static int gltf_json_add_uvs(json_tables *tables, const sinew_gltf *own)
{
    if (!own->uvs)
        return -1;
    int view = add_strided_view(tables, (json_int_t)8 * own->vertex_count, target_vertices, 8);
    return gltf_json_append(tables, tables->accessors,
                            json_pack("{s:i, s:i, s:i, s:s}", "bufferView", view, "componentType", type_float, "count",
                                      (int)own->vertex_count, "type", "VEC2"));
}

float sinew_gltf_time(const sinew_cache *cache, int frame)
{
    const sinew_gltf *own = cache->own;
    return (float)(frame * own->every * cache->frame_time);
}

/* The glTF animation over all frames; adds its arrays to the tables. */
static json_t *make_animations(const sinew_cache *cache, json_tables *tables, int frames)
{
    int view = add_view(tables, (json_int_t)4 * frames, 0);
    int times = gltf_json_append(tables, tables->accessors,
                                 json_pack("{s:i, s:i, s:i, s:s, s:[f], s:[f]}", "bufferView", view, "componentType",
                                           type_float, "count", frames, "type", "SCALAR", "min", 0.0, "max",
                                           (double)sinew_gltf_time(cache, frames - 1)));
    json_int_t count = (json_int_t)frames * (frames - 1);
    view = add_view(tables, 4 * count, 0);
    int weights = gltf_json_append(tables, tables->accessors,
                                   json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", type_float,
                                             "count", count, "type", "SCALAR"));
    return json_pack("[{s:s, s:[{s:i, s:{s:i, s:s}}], s:[{s:i, s:i, s:s}]}]", "name", "frames", "channels", "sampler",
                     0, "target", "node", 0, "path", "weights", "samplers", "input", times, "output", weights,
                     "interpolation", "LINEAR");
}

/* Indices of the accessors that all primitives of the mesh share. */
typedef struct vertex_arrays {
    int positions; /* accessor of the first frame's positions; accessors of later frames follow */
    int normals;   /* accessor of the first frame's normals; accessors of later frames follow; -1: none */
    int uvs;       /* accessor of the texture coordinates; -1: none */
    int frames;
} vertex_arrays;

/* glTF morph target k: displacements and changes of normals relative to the first frame. Lines have no normals. */
static json_t *make_target(const vertex_arrays *arrays, int k, bool triangles)
{
    if (triangles)
        return json_pack("{s:i, s:i}", "POSITION", arrays->positions + k, "NORMAL", arrays->normals + k);
    return json_pack("{s:i}", "POSITION", arrays->positions + k);
}

static json_t *make_primitive(const vertex_arrays *arrays, int indices, int mode, int material_index)
{
    const bool triangles = mode == mode_triangles;
    json_t *attributes = make_target(arrays, 0, triangles);
    if (arrays->uvs >= 0 && triangles &&
        json_object_set_new(attributes, "TEXCOORD_0", json_integer(arrays->uvs)) != 0) {
        json_decref(attributes);
        return NULL;
    }
    json_t *result = json_pack("{s:o, s:i, s:i, s:i}", "attributes", attributes, "indices", indices, "mode", mode,
                               "material", material_index);
    if (arrays->frames < 2) /* the glTF specification does not allow an empty list of morph targets */
        return result;
    json_t *targets = json_array();
    bool good = targets != NULL;
    for (int k = 1; k < arrays->frames && good; k++)
        good = json_array_append_new(targets, make_target(arrays, k, triangles)) == 0;
    if (good && json_object_set(result, "targets", targets) == 0) {
        json_decref(targets);
        return result;
    }
    json_decref(targets);
    json_decref(result);
    return NULL;
}

/* Materials are double-sided because both sides of a cloth are visible. */
static json_t *make_material(const char *name, double red, double green, double blue)
{
    return json_pack("{s:s, s:b, s:{s:[f,f,f,f], s:f, s:f}}", "name", name, "doubleSided", 1, "pbrMetallicRoughness",
                     "baseColorFactor", red, green, blue, 1.0, "metallicFactor", 0.0, "roughnessFactor", 0.75);
}

/* A grey glTF material. If the name is not UTF-8, which JSON requires, its bytes above 127 become question marks. */
static json_t *make_named_material(const char *name)
{
    json_t *made = make_material(name, 0.8, 0.8, 0.8);
    if (made || sinew_is_utf8(name))
        return made;
    char plain[256];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *c = plain; *c; c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    return make_material(plain, 0.8, 0.8, 0.8);
}

/* One glTF material per name, in the order of the names, then one for faces without a name. */
static json_t *make_materials(json_tables *tables, const sinew_gltf *own)
{
    const sinew_name_list *names = &own->shape.names[SINEW_SKIN_MATERIAL];
    json_t *list = json_array();
    for (int32_t i = 0; i < names->count; i++)
        gltf_json_append(tables, list, make_named_material(sinew_names_get(names, i)));
    gltf_json_append(tables, list, make_material("surface", 0.75, 0.35, 0.25));
    return list;
}

/* One glTF primitive per material that has triangles, and one for the lines. */
static json_t *make_primitives(json_tables *tables, const sinew_gltf *own, const vertex_arrays *arrays)
{
    json_t *primitives = json_array();
    for (int32_t i = 0; i < own->primitive_count; i++) {
        const int64_t count = own->primitive_starts[i + 1] - own->primitive_starts[i];
        if (count > 0)
            gltf_json_append(tables, primitives,
                             make_primitive(arrays, add_indices(tables, 3 * count), mode_triangles, i));
    }
    if (own->shape.edge_count)
        gltf_json_append(tables, primitives,
                         make_primitive(arrays, add_indices(tables, 2 * own->shape.edge_count), mode_lines,
                                        own->primitive_count - 1));
    return primitives;
}

static json_t *make_document(const sinew_cache *cache, json_tables *tables, int frames)
{
    const sinew_gltf *own = cache->own;
    vertex_arrays arrays = {.frames = frames, .positions = gltf_json_add_positions(tables, own, frames)};
    arrays.uvs = gltf_json_add_uvs(tables, own);
    arrays.normals = add_normals(tables, own, frames);
    json_t *primitives = make_primitives(tables, own, &arrays);
    json_t *animated = frames > 1 ? make_animations(cache, tables, frames) : NULL;
    json_t *root = json_pack("{s:{s:s, s:s, s:{s:i}}, s:i, s:[{s:[i]}], s:[{s:s, s:i}], s:[{s:s, s:o}], s:o}", "asset",
                             "version", "2.0", "generator", "sinew " SINEW_VERSION, "extras", "every", (int)own->every,
                             "scene", 0, "scenes", "nodes", 0, "nodes", "name", cache->name, "mesh", 0, "meshes",
                             "name", cache->name, "primitives", primitives, "materials", make_materials(tables, own));
    if (frames > 1 && json_object_set_new(root, "animations", animated) != 0)
        tables->good = false;
    if (json_object_set(root, "accessors", tables->accessors) != 0 ||
        json_object_set(root, "bufferViews", tables->views) != 0 ||
        json_object_set_new(root, "buffers", json_pack("[{s:I}]", "byteLength", tables->size)) != 0)
        tables->good = false;
    return root;
}

json_t *sinew_gltf_make_json(const sinew_cache *cache, int frames, json_int_t *size)
{
    json_tables tables = {.views = json_array(), .accessors = json_array(), .good = true};
    json_t *root = make_document(cache, &tables, frames);
    json_decref(tables.views);
    json_decref(tables.accessors);
    *size = tables.size;
    if (tables.good)
        return root;
    json_decref(root);
    return NULL;
}
