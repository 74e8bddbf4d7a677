/* SPDX-License-Identifier: MIT
 *
 * gltf.c: reads glTF 2.0 scenes, .gltf (JSON) and .glb (binary): the triangles and lines of every mesh of the default
 * scene, transformed by its nodes.
 *
 * Source: Khronos, "glTF 2.0 specification", sections 3.6 (buffers, accessors), 3.7 (meshes), 3.5 (nodes) and 4 (GLB).
 * The JSON is parsed by jansson. Vertices keep their order, primitive after primitive. Exporters split vertices at
 * discontinuous normals or texture coordinates; sinew_mesh_fix() merges them. gltf_attributes.c reads further data
 * of a skin. Armatures ("skins" of glTF), morph targets and all other data that does not position a vertex are not
 * read. The scene is traversed twice: the first pass checks, so that a refused file adds nothing to the builder; the
 * second fills the builder. Known limits: sparse accessors and compressed meshes (Draco, meshopt) are refused; a buffer
 * comes from the file itself, a base64 data URI or a file in the same folder, never from elsewhere.
 */
#include "io/mesh/gltf_buffers.h"

#include <math.h>
#include <string.h>

#include "io/input.h"
#include "io/mesh/embedded_builder.h"
#include "math/vec3.h"

enum {
    DEPTH_MAX = 256,
    CORNERS_FREE = 1 << 20 /* number of vertices and indices that the scene may have for any file size */
};

/* ---- Primitives of a glTF mesh ------------------------------------------------------------------- */

/* 4x4 transform of a glTF node, column-major: x' = m[0] x + m[4] y + m[8] z + m[12]. */
typedef struct gltf_matrix {
    double m[16];
} gltf_matrix;

static bool gltf_add_positions(sinew_gltf_reader *reader, const sinew_gltf_accessor *accessor,
                               const gltf_matrix *matrix)
{
    if (!reader->trial && !sinew_builder_reserve_vertices(reader->builder, accessor->count))
        return false;
    size_t size = sinew_scalar_size(accessor->type);
    for (int64_t i = 0; i < accessor->count; i++) {
        const unsigned char *bytes = accessor->bytes + (size_t)i * accessor->stride;
        double p[3];
        for (size_t axis = 0; axis < 3; axis++)
            p[axis] =
                accessor->scale * sinew_scalar_real(accessor->type, bytes + size * axis, sinew_host_is_big_endian());
        sinew_real point[3];
        for (int axis = 0; axis < 3; axis++) {
            const double *m = matrix->m + axis;
            point[axis] = (sinew_real)(m[0] * p[0] + m[4] * p[1] + m[8] * p[2] + m[12]);
            if (!isfinite(point[axis]))
                return sinew_gltf_fail(reader, "vertex %lld of a primitive is not finite", (long long)i);
        }
        if (!reader->trial)
            sinew_builder_add_vertex(reader->builder, point);
    }
    return true;
}

static bool add_triangles(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i + 2 < count; i += 3)
        if (!sinew_builder_add_cell(builder, SINEW_BUILDER_TRIANGLE, corners + i))
            return false;
    return true;
}

static bool gltf_add_fan(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    for (int64_t i = 1; i + 1 < count; i++)
        if (!sinew_builder_add_cell(builder, SINEW_BUILDER_TRIANGLE,
                                    (int32_t[]){corners[0], corners[i], corners[i + 1]}))
            return false;
    return true;
}

static bool add_segments(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i + 1 < count; i += 2)
        if (!sinew_builder_add_cell(builder, SINEW_BUILDER_EDGE, corners + i))
            return false;
    return true;
}

static bool add_loop(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    return sinew_builder_add_line(builder, corners, count, true);
}

static bool gltf_add_line(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    return sinew_builder_add_line(builder, corners, count, false);
}

static bool ignore_points(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    (void)corners;
    sinew_builder_ignore(builder, "points", count);
    return true;
}

/* Functions that add the cells of a glTF primitive, indexed by its mode. */
static bool (*const add_by_mode[])(sinew_builder *, const int32_t *, int64_t) = {
    ignore_points, add_segments, add_loop, gltf_add_line, add_triangles, sinew_builder_add_strip, gltf_add_fan};

/* Fills corners[count] (may be NULL) of a glTF primitive with `first` plus its indices; without indices, plus 0, 1, 2,
 * ... Fails for an index outside 0 .. vertex_count - 1. */
static bool gather_corners(sinew_gltf_reader *reader, const sinew_gltf_accessor *indices, int64_t first,
                           int64_t vertex_count, int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t index = i;
        if (indices)
            index = sinew_scalar_integer(indices->type, indices->bytes + (size_t)i * indices->stride,
                                         sinew_host_is_big_endian());
        if (index < 0 || index >= vertex_count)
            return sinew_gltf_fail(reader, "index %lld of a primitive is %lld, but it has %lld vertices", (long long)i,
                                   (long long)index, (long long)vertex_count);
        if (corners)
            corners[i] = (int32_t)(first + index);
    }
    return true;
}

/* Reverses the builder's triangles from `first` on if the transform mirrors, which inverts the orientation (section
 * 3.7.4). */
static void reverse_mirrored_triangles(sinew_builder *builder, const gltf_matrix *matrix, int64_t first)
{
    const double *a = matrix->m, *b = a + 4, *c = a + 8;
    const double determinant = vec3_triple(a, b, c);
    const sinew_builder_cells *triangles = &builder->cells[SINEW_BUILDER_TRIANGLE];
    for (int64_t i = first; determinant < 0 && i < triangles->count; i++) {
        int32_t *corners = triangles->indices + 3 * i, second = corners[1];
        corners[1] = corners[2];
        corners[2] = second;
        sinew_skin_builder_reverse_face(builder, i);
    }
}

/* The range of vertices that the indices of a glTF primitive refer to. */
typedef struct gltf_span {
    int64_t first; /* index in the builder of the primitive's first vertex */
    int64_t count;
} gltf_span;

static bool gltf_add_cells(sinew_gltf_reader *reader, int64_t mode, const sinew_gltf_accessor *indices, gltf_span span,
                           const gltf_matrix *matrix)
{
    int64_t count = indices ? indices->count : span.count;
    int64_t first_triangle = reader->builder->cells[SINEW_BUILDER_TRIANGLE].count;
    if (reader->trial)
        return gather_corners(reader, indices, span.first, span.count, NULL, count);
    int32_t *corners = sinew_allocate(&reader->builder->allocator, (size_t)count, sizeof *corners);
    if (!corners)
        return sinew_gltf_fail_memory(reader);
    bool good = gather_corners(reader, indices, span.first, span.count, corners, count) &&
                add_by_mode[mode](reader->builder, corners, count);
    reverse_mirrored_triangles(reader->builder, matrix, first_triangle);
    sinew_release(&reader->builder->allocator, corners);
    return good;
}

/* Vertices of the previous glTF primitive: primitives of one mesh often share their accessors. */
typedef struct gltf_shared {
    int64_t accessor;
    int64_t first;
} gltf_shared;

static bool read_primitive(sinew_gltf_reader *reader, const json_t *primitive, const gltf_matrix *matrix,
                           gltf_shared *shared)
{
    int64_t mode, position, index;
    sinew_gltf_accessor positions, indices;
    const json_t *attributes = json_object_get(primitive, "attributes");
    if (!sinew_gltf_integer(reader, primitive, "mode", 4, &mode) ||
        !sinew_gltf_integer(reader, attributes, "POSITION", -1, &position) ||
        !sinew_gltf_open_accessor(reader, position, "VEC3", 3, &positions))
        return false;
    if (mode > 6)
        return sinew_gltf_fail(reader, "a primitive has the unknown mode %lld", (long long)mode);
    bool indexed = json_object_get(primitive, "indices") != NULL;
    if (indexed && (!sinew_gltf_integer(reader, primitive, "indices", -1, &index) ||
                    !sinew_gltf_open_accessor(reader, index, "SCALAR", 1, &indices)))
        return false;
    if (indexed && !sinew_scalar_is_integer(indices.type))
        return sinew_gltf_fail(reader, "accessors[%lld] holds indices that are real numbers", (long long)index);
    reader->corner_budget -= reader->trial ? positions.count + (indexed ? indices.count : 0) : 0;
    if (reader->corner_budget < 0)
        return sinew_gltf_fail(reader, "nodes place meshes so often that the scene outgrows its file: split it");
    if (shared->accessor != position) {
        *shared = (gltf_shared){position, reader->builder->vertex_count};
        if (!gltf_add_positions(reader, &positions, matrix) ||
            !sinew_gltf_read_attributes(reader, attributes, shared->first, positions.count))
            return false;
    }
    if (!sinew_gltf_set_material_name(reader, primitive))
        return false;
    gltf_span span = {shared->first, positions.count};
    return gltf_add_cells(reader, mode, indexed ? &indices : NULL, span, matrix);
}

static bool gltf_read_mesh(sinew_gltf_reader *reader, int64_t index, const gltf_matrix *matrix)
{
    const json_t *mesh = sinew_gltf_entry(reader, "meshes", index);
    if (!mesh)
        return false;
    if (!sinew_gltf_set_group_name(reader, mesh))
        return false;
    gltf_shared shared = {-1, 0};
    const json_t *primitives = json_object_get(mesh, "primitives");
    for (size_t i = 0; i < json_array_size(primitives); i++)
        if (!read_primitive(reader, json_array_get(primitives, i), matrix, &shared))
            return false;
    return true;
}

/* ---- Nodes and their transforms ------------------------------------------------------------------ */

static const gltf_matrix identity = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};

/* Multiplies 4x4 matrices: A becomes A B. */
static void gltf_multiply(gltf_matrix *a, const gltf_matrix *b)
{
    gltf_matrix product;
    for (int column = 0; column < 4; column++)
        for (int row = 0; row < 4; row++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += a->m[4 * k + row] * b->m[4 * column + k];
            product.m[4 * column + row] = sum;
        }
    *a = product;
}

/* Reads the list of `count` numbers of a glTF node under a JSON key; leaves `numbers` unchanged if the key is
 * absent. */
static bool read_node_numbers(const sinew_gltf_reader *reader, const json_t *node, const char *key, size_t count,
                              double *numbers)
{
    const json_t *list = json_object_get(node, key);
    if (!list)
        return true;
    if (json_array_size(list) != count)
        return sinew_gltf_fail(reader, "\"%s\" of a node must be %zu numbers", key, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_number(number))
            return sinew_gltf_fail(reader, "\"%s\" of a node must be %zu numbers", key, count);
        numbers[i] = json_number_value(number);
    }
    return true;
}

/* The matrix T R S of a glTF node: translation t, rotation by the unit quaternion q (x y z w), scale s. */
static gltf_matrix compose_transform(const double t[3], const double q[4], const double s[3])
{
    double x = q[0], y = q[1], z = q[2], w = q[3];
    const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y + z * w),     2 * (x * z - y * w),
                         2 * (x * y - z * w),     1 - 2 * (x * x + z * z), 2 * (y * z + x * w),
                         2 * (x * z + y * w),     2 * (y * z - x * w),     1 - 2 * (x * x + y * y)};
    gltf_matrix matrix = identity;
    for (int column = 0; column < 3; column++)
        for (int row = 0; row < 3; row++)
            matrix.m[4 * column + row] = r[3 * column + row] * s[column];
    for (int row = 0; row < 3; row++)
        matrix.m[12 + row] = t[row];
    return matrix;
}

static bool read_local_matrix(const sinew_gltf_reader *reader, const json_t *node, gltf_matrix *matrix)
{
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    *matrix = identity;
    if (json_object_get(node, "matrix"))
        return read_node_numbers(reader, node, "matrix", 16, matrix->m);
    if (!read_node_numbers(reader, node, "translation", 3, t) || !read_node_numbers(reader, node, "rotation", 4, q) ||
        !read_node_numbers(reader, node, "scale", 3, s))
        return false;
    *matrix = compose_transform(t, q, s);
    return true;
}

static bool read_node(sinew_gltf_reader *reader, int64_t index, const gltf_matrix *parent, int depth)
{
    const json_t *node = sinew_gltf_entry(reader, "nodes", index);
    if (!node)
        return false;
    if (depth > DEPTH_MAX)
        return sinew_gltf_fail(reader, "nodes are nested deeper than %d", DEPTH_MAX);
    if (reader->visited[index] > (reader->trial ? 0 : 1))
        return sinew_gltf_fail(reader, "nodes[%lld] has two parents or is its own", (long long)index);
    reader->visited[index]++;
    gltf_matrix matrix = *parent, local;
    if (!read_local_matrix(reader, node, &local))
        return false;
    gltf_multiply(&matrix, &local);
    int64_t mesh;
    if (json_object_get(node, "mesh") &&
        (!sinew_gltf_integer(reader, node, "mesh", -1, &mesh) || !gltf_read_mesh(reader, mesh, &matrix)))
        return false;
    const json_t *children = json_object_get(node, "children");
    for (size_t i = 0; i < json_array_size(children); i++) {
        const json_t *child = json_array_get(children, i);
        if (!json_is_integer(child) || !read_node(reader, json_integer_value(child), &matrix, depth + 1))
            return json_is_integer(child)
                       ? false
                       : sinew_gltf_fail(reader, "a child of nodes[%lld] is no number", (long long)index);
    }
    return true;
}

/* Reads every node of the default scene of a glTF file; without scenes, every mesh without a transform. */
static bool read_scene(sinew_gltf_reader *reader)
{
    if (json_array_size(json_object_get(reader->root, "scenes")) == 0) {
        size_t count = json_array_size(json_object_get(reader->root, "meshes"));
        for (size_t i = 0; i < count; i++)
            if (!gltf_read_mesh(reader, (int64_t)i, &identity))
                return false;
        return true;
    }
    int64_t index;
    if (!sinew_gltf_integer(reader, reader->root, "scene", 0, &index))
        return false;
    const json_t *scene = sinew_gltf_entry(reader, "scenes", index);
    if (!scene)
        return false;
    const json_t *nodes = json_object_get(scene, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        if (!json_is_integer(node))
            return sinew_gltf_fail(reader, "a node of scenes[%lld] is no number", (long long)index);
        if (!read_node(reader, json_integer_value(node), &identity, 0))
            return false;
    }
    return true;
}

/* ---- The .gltf or .glb file ---------------------------------------------------------------------- */

static bool check_extensions(const sinew_gltf_reader *reader)
{
    static const char *const harmless[] = {"KHR_mesh_quantization", "KHR_materials_unlit", "KHR_texture_transform",
                                           "KHR_materials_clearcoat", "KHR_lights_punctual"};
    const json_t *required = json_object_get(reader->root, "extensionsRequired");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        bool known = false;
        for (size_t k = 0; name && k < sizeof harmless / sizeof harmless[0]; k++)
            known = known || strcmp(name, harmless[k]) == 0;
        if (!known)
            return sinew_gltf_fail(reader, "needs the extension %.40s, which is not read: export without it",
                                   name ? name : "?");
    }
    const char *version = json_string_value(json_object_get(json_object_get(reader->root, "asset"), "version"));
    return (version && version[0] == '2') || sinew_gltf_fail(reader, "only glTF version 2 is read");
}

static bool gltf_load_json(sinew_gltf_reader *reader, const char *text, size_t size)
{
    json_error_t trouble;
    if (sinew_json_cost(text, size, 0) > sinew_json_budget(size))
        return sinew_gltf_fail(reader, "the JSON text has too many values for its size: split the scene");
    reader->root = json_loadb(text, size, 0, &trouble);
    if (reader->root)
        return json_is_object(reader->root) || sinew_gltf_fail(reader, "the JSON text is not an object");
    if (json_error_code(&trouble) == json_error_out_of_memory)
        return sinew_gltf_fail_memory(reader);
    sinew_fail(reader->builder->error, SINEW_ERROR_FORMAT, "%s:%d: %s", reader->source->name, trouble.line,
               trouble.text);
    return false;
}

/* Reads the header (12 bytes) and the chunks of a .glb (length, type, data): JSON first, then an optional binary
 * chunk. */
static bool load_glb_chunks(sinew_gltf_reader *reader)
{
    const sinew_source *source = reader->source;
    const unsigned char *bytes = (const unsigned char *)source->bytes;
    bool swap = sinew_host_is_big_endian();
    if (source->size < 20 || sinew_scalar_integer(SINEW_SCALAR_UINT32, bytes + 4, swap) != 2)
        return sinew_gltf_fail(reader, "byte 4: only version 2 of the binary form is read");
    uint64_t json_size = (uint64_t)sinew_scalar_integer(SINEW_SCALAR_UINT32, bytes + 12, swap);
    if (memcmp(bytes + 16, "JSON", 4) != 0 || json_size > source->size - 20)
        return sinew_gltf_fail(reader, "byte 12: the JSON chunk is missing or cut short");
    uint64_t next = 20 + json_size;
    if (source->size - next >= 8 && memcmp(bytes + next + 4, "BIN", 4) == 0) {
        uint64_t size = (uint64_t)sinew_scalar_integer(SINEW_SCALAR_UINT32, bytes + next, swap);
        if (size > source->size - next - 8)
            return sinew_gltf_fail(reader, "byte %llu: the binary chunk is cut short", (unsigned long long)next);
        reader->chunk = bytes + next + 8;
        reader->chunk_size = size;
    }
    return gltf_load_json(reader, source->bytes + 20, json_size);
}

static bool read_gltf(const sinew_source *source, sinew_builder *builder)
{
    sinew_gltf_reader reader = {.source = source, .builder = builder};
    reader.corner_budget = (int64_t)source->size * SINEW_GLTF_CORNERS_PER_BYTE + CORNERS_FREE;
    bool binary = source->size >= 4 && memcmp(source->bytes, "glTF", 4) == 0;
    reader.trial = true;
    bool good = (binary ? load_glb_chunks(&reader) : gltf_load_json(&reader, source->bytes, source->size)) &&
                check_extensions(&reader) && sinew_gltf_allocate_tables(&reader) && read_scene(&reader);
    reader.trial = false;
    good = good && read_scene(&reader);
    sinew_gltf_release(&reader);
    return good;
}

const sinew_mesh_kind sinew_mesh_kind_gltf = {
    .endings = {".gltf", ".glb"},
    .surface = true,
    .read = read_gltf,
};
