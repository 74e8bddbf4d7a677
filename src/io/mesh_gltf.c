/* SPDX-License-Identifier: MIT
 *
 * mesh_gltf.c: glTF 2.0 scenes, .gltf (JSON) and .glb (binary): the triangles and lines of every mesh, placed by its
 * nodes.
 *
 * Source: Khronos, "glTF 2.0 specification", sections 3.6 (buffers, accessors), 3.7 (meshes), 3.5 (nodes) and 4 (GLB).
 * The JSON is parsed by jansson. Vertices keep their order, primitive after primitive; exporters split them where
 * normals or texture coordinates jump, and sinew_mesh_fix merges them. Skins, morph targets, materials and everything
 * else that does not place a vertex are not read. Known limits: sparse accessors and compressed meshes (Draco, meshopt)
 * are refused; a buffer comes from the file itself, a base64 data URI or a file beside.
 */
#include "io/mesh_file.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "io/mesh_base64.h"
#include "io/mesh_scalar.h"

enum {
    DEPTH_MAX = 256,
    /* Nodes may place one mesh many times. So much a byte of the file is taken for a scene, and more for an attack. */
    CORNERS_PER_BYTE = 16,
    CORNERS_FREE = 1 << 20
};

typedef struct gltf_buffer {
    const unsigned char *bytes;
    size_t size;
    char *owned;
} gltf_buffer;

typedef struct gltf_reader {
    const sinew_source *source;
    sinew_draft *draft;
    json_t *root;
    const unsigned char *chunk; /* binary chunk of a .glb, or NULL */
    size_t chunk_size;
    gltf_buffer *buffers; /* [buffer_count], opened when first used */
    size_t buffer_count;
    unsigned char *visited; /* [node_count] */
    size_t node_count;
    int64_t corner_budget;
} gltf_reader;

/* Numbers laid out in a buffer. */
typedef struct gltf_accessor {
    const unsigned char *bytes;
    size_t stride;
    int64_t count;
    sinew_scalar type;
    double scale; /* of normalized integers; 1 otherwise */
} gltf_accessor;

static bool fail(const gltf_reader *reader, const char *format, ...) SINEW_PRINTF(2, 3);

static bool fail(const gltf_reader *reader, const char *format, ...)
{
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    sinew_fail(reader->draft->error, SINEW_ERROR_FORMAT, "%s: %s", reader->source->name, reason);
    return false;
}

static bool fail_memory(const gltf_reader *reader)
{
    sinew_fail_memory(reader->draft->error, reader->source->name);
    return false;
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* A whole number of an object, at least 0; `missing` stands in for one that is not there (-1: it must be). */
static bool get_integer(const gltf_reader *reader, const json_t *object, const char *key, int64_t missing,
                        int64_t *value)
{
    const json_t *item = json_object_get(object, key);
    *value = item ? json_integer_value(item) : missing;
    if ((item && !json_is_integer(item)) || *value < 0)
        return fail(reader, "\"%s\" is missing or is not a whole number of at least 0", key);
    return true;
}

/* An entry of one of the arrays at the root, such as accessors[3]. */
static const json_t *get_entry(const gltf_reader *reader, const char *array, int64_t index)
{
    const json_t *list = json_object_get(reader->root, array);
    const json_t *entry = index >= 0 ? json_array_get(list, (size_t)index) : NULL;
    if (!json_is_object(entry)) {
        fail(reader, "refers to %s[%lld], but there are %zu", array, (long long)index, json_array_size(list));
        return NULL;
    }
    return entry;
}

/* ---- Buffers ------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* The folder of the source and the decoded URI; false when it does not fit. */
static bool path_beside(const gltf_reader *reader, const char *uri, char *path, size_t size)
{
    const char *slash = strrchr(reader->source->name, '/');
    size_t used = slash ? (size_t)(slash + 1 - reader->source->name) : 0;
    if (used >= size)
        return false;
    memcpy(path, reader->source->name, used);
    for (const char *c = uri; *c; c++) {
        if (used + 1 >= size)
            return false;
        int high = *c == '%' ? hex_digit(c[1]) : -1, low = high >= 0 ? hex_digit(c[2]) : -1;
        path[used++] = low >= 0 ? (char)(16 * high + low) : *c;
        c += low >= 0 ? 2 : 0;
    }
    path[used] = '\0';
    return true;
}

static bool open_data_uri(gltf_reader *reader, const char *uri, size_t size, gltf_buffer *buffer)
{
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return fail(reader, "a buffer has a data URI that is not base64");
    const char *at = comma + 1, *end = uri + strlen(uri);
    if (size > sinew_base64_capacity((size_t)(end - at)))
        return fail(reader, "a buffer promises %zu bytes, but its URI holds fewer", size);
    buffer->owned = sinew_allocate(&reader->draft->allocator, size, 1);
    if (!buffer->owned)
        return fail_memory(reader);
    buffer->bytes = (const unsigned char *)buffer->owned;
    buffer->size = size;
    return sinew_base64_decode(&at, end, (unsigned char *)buffer->owned, size) ||
           fail(reader, "the base64 text of a buffer is broken or cut short");
}

static bool open_file_uri(gltf_reader *reader, const char *uri, size_t size, gltf_buffer *buffer)
{
    char path[1024];
    if (strstr(uri, "://") || !path_beside(reader, uri, path, sizeof path))
        return fail(reader, "a buffer is not a file beside this one: save as .glb");
    sinew_error trouble = {SINEW_ERROR_FILE, "there are no other files"};
    if (reader->source->open)
        buffer->owned =
            reader->source->open(reader->source->context, path, &reader->draft->allocator, &buffer->size, &trouble);
    if (!buffer->owned) {
        sinew_fail(reader->draft->error, trouble.status, "%s: needs the file %s: %s", reader->source->name, path,
                   trouble.text);
        return false;
    }
    buffer->bytes = (const unsigned char *)buffer->owned;
    reader->corner_budget += (int64_t)buffer->size * CORNERS_PER_BYTE;
    return buffer->size >= size || fail(reader, "the buffer %s is %zu bytes short", path, size - buffer->size);
}

static bool open_buffer(gltf_reader *reader, int64_t index, gltf_buffer **buffer)
{
    const json_t *entry = get_entry(reader, "buffers", index);
    int64_t size;
    if (!entry || !get_integer(reader, entry, "byteLength", -1, &size))
        return false;
    *buffer = &reader->buffers[index];
    if ((*buffer)->bytes)
        return true;
    const char *uri = json_string_value(json_object_get(entry, "uri"));
    if (uri)
        return strncmp(uri, "data:", 5) == 0 ? open_data_uri(reader, uri, (size_t)size, *buffer)
                                             : open_file_uri(reader, uri, (size_t)size, *buffer);
    if (index != 0 || !reader->chunk || (uint64_t)size > reader->chunk_size)
        return fail(reader, "buffers[%lld] has no URI, and the file holds no binary chunk of its size",
                    (long long)index);
    **buffer = (gltf_buffer){reader->chunk, (size_t)size, NULL};
    return true;
}

/* ---- Accessors ----------------------------------------------------------------------------- */

static bool component_type(const gltf_reader *reader, int64_t code, bool normalized, gltf_accessor *accessor)
{
    static const struct {
        int64_t code;
        sinew_scalar type;
        double largest;
    } types[] = {{5120, SINEW_SCALAR_INT8, 127},
                 {5121, SINEW_SCALAR_UINT8, 255},
                 {5122, SINEW_SCALAR_INT16, 32767},
                 {5123, SINEW_SCALAR_UINT16, 65535},
                 {5125, SINEW_SCALAR_UINT32, 4294967295.0},
                 {5126, SINEW_SCALAR_FLOAT, 1}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].code == code) {
            accessor->type = types[i].type;
            accessor->scale = normalized ? 1 / types[i].largest : 1;
            return true;
        }
    return fail(reader, "an accessor has the unknown component type %lld", (long long)code);
}

/* The bytes of a view, checked against its buffer. */
static bool open_view(gltf_reader *reader, int64_t index, const unsigned char **bytes, int64_t *size, int64_t *stride)
{
    const json_t *view = get_entry(reader, "bufferViews", index);
    int64_t buffer_index, offset;
    gltf_buffer *buffer;
    if (!view || !get_integer(reader, view, "buffer", -1, &buffer_index) ||
        !get_integer(reader, view, "byteOffset", 0, &offset) || !get_integer(reader, view, "byteLength", -1, size) ||
        !get_integer(reader, view, "byteStride", 0, stride) || !open_buffer(reader, buffer_index, &buffer))
        return false;
    if ((uint64_t)*size > buffer->size || (uint64_t)offset > buffer->size - (uint64_t)*size)
        return fail(reader, "bufferViews[%lld] lies outside its buffer of %zu bytes", (long long)index, buffer->size);
    *bytes = buffer->bytes + offset;
    return true;
}

static bool open_accessor(gltf_reader *reader, int64_t index, const char *shape, size_t components,
                          gltf_accessor *accessor)
{
    const json_t *entry = get_entry(reader, "accessors", index);
    int64_t view, offset, code, size, stride;
    if (!entry)
        return false;
    if (json_object_get(entry, "sparse") || !json_object_get(entry, "bufferView"))
        return fail(reader, "accessors[%lld] is sparse, which is not read: export without morph targets",
                    (long long)index);
    const char *type = json_string_value(json_object_get(entry, "type"));
    if (!type || strcmp(type, shape) != 0)
        return fail(reader, "accessors[%lld] must have the type %s", (long long)index, shape);
    if (!get_integer(reader, entry, "bufferView", -1, &view) || !get_integer(reader, entry, "byteOffset", 0, &offset) ||
        !get_integer(reader, entry, "count", -1, &accessor->count) ||
        !get_integer(reader, entry, "componentType", -1, &code) ||
        !component_type(reader, code, json_is_true(json_object_get(entry, "normalized")), accessor) ||
        !open_view(reader, view, &accessor->bytes, &size, &stride))
        return false;
    int64_t element = (int64_t)(components * sinew_scalar_size(accessor->type));
    stride = stride ? stride : element;
    /* offset + stride (count - 1) + element <= size, without overflow */
    int64_t room = offset <= size ? size - offset : -1;
    if (stride < element ||
        (accessor->count > 0 && (room < element || accessor->count - 1 > (room - element) / stride)))
        return fail(reader, "accessors[%lld] reads %lld elements past the end of its view", (long long)index,
                    (long long)accessor->count);
    accessor->bytes += accessor->count > 0 ? offset : 0;
    accessor->stride = (size_t)stride;
    return true;
}

/* ---- Primitives ---------------------------------------------------------------------------- */

/* Columns first, as glTF has them: x' = m[0] x + m[4] y + m[8] z + m[12]. */
typedef struct gltf_matrix {
    double m[16];
} gltf_matrix;

static bool add_positions(gltf_reader *reader, const gltf_accessor *accessor, const gltf_matrix *matrix)
{
    if (!sinew_draft_reserve_vertices(reader->draft, accessor->count))
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
                return fail(reader, "vertex %lld of a primitive is not finite", (long long)i);
        }
        sinew_draft_add_vertex(reader->draft, point);
    }
    return true;
}

static bool add_triangles(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i + 2 < count; i += 3)
        if (!sinew_draft_add_cell(draft, SINEW_DRAFT_TRIANGLE, corners + i))
            return false;
    return true;
}

static bool add_fan(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    for (int64_t i = 1; i + 1 < count; i++)
        if (!sinew_draft_add_cell(draft, SINEW_DRAFT_TRIANGLE, (int32_t[]){corners[0], corners[i], corners[i + 1]}))
            return false;
    return true;
}

static bool add_segments(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i + 1 < count; i += 2)
        if (!sinew_draft_add_cell(draft, SINEW_DRAFT_EDGE, corners + i))
            return false;
    return true;
}

static bool add_loop(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    return sinew_draft_add_line(draft, corners, count, true);
}

static bool add_line(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    return sinew_draft_add_line(draft, corners, count, false);
}

static bool ignore_points(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    (void)corners;
    sinew_draft_ignore(draft, "points", count);
    return true;
}

/* By the mode of the primitive. */
static bool (*const add_by_mode[])(sinew_draft *, const int32_t *, int64_t) = {
    ignore_points, add_segments, add_loop, add_line, add_triangles, sinew_draft_add_strip, add_fan};

/* Fills corners[count]: the indices, or 0, 1, 2, ... where there are none, moved by the first vertex. */
static bool gather_corners(gltf_reader *reader, const gltf_accessor *indices, int64_t first, int64_t vertex_count,
                           int32_t *corners, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        int64_t index = i;
        if (indices)
            index = sinew_scalar_integer(indices->type, indices->bytes + (size_t)i * indices->stride,
                                         sinew_host_is_big_endian());
        if (index < 0 || index >= vertex_count)
            return fail(reader, "index %lld of a primitive is %lld, but it has %lld vertices", (long long)i,
                        (long long)index, (long long)vertex_count);
        corners[i] = (int32_t)(first + index);
    }
    return true;
}

static bool add_cells(gltf_reader *reader, int64_t mode, const gltf_accessor *indices, int64_t first,
                      int64_t vertex_count)
{
    int64_t count = indices ? indices->count : vertex_count;
    int32_t *corners = sinew_allocate(&reader->draft->allocator, (size_t)count, sizeof *corners);
    if (!corners)
        return fail_memory(reader);
    bool good = gather_corners(reader, indices, first, vertex_count, corners, count) &&
                add_by_mode[mode](reader->draft, corners, count);
    sinew_release(&reader->draft->allocator, corners);
    return good;
}

/* The place of the last primitive's vertices: exporters often let several primitives share them. */
typedef struct gltf_shared {
    int64_t accessor;
    int64_t first;
} gltf_shared;

static bool read_primitive(gltf_reader *reader, const json_t *primitive, const gltf_matrix *matrix, gltf_shared *shared)
{
    int64_t mode, position, index;
    gltf_accessor positions, indices;
    const json_t *attributes = json_object_get(primitive, "attributes");
    if (!get_integer(reader, primitive, "mode", 4, &mode) ||
        !get_integer(reader, attributes, "POSITION", -1, &position) ||
        !open_accessor(reader, position, "VEC3", 3, &positions))
        return false;
    if (mode > 6)
        return fail(reader, "a primitive has the unknown mode %lld", (long long)mode);
    bool indexed = json_object_get(primitive, "indices") != NULL;
    if (indexed && (!get_integer(reader, primitive, "indices", -1, &index) ||
                    !open_accessor(reader, index, "SCALAR", 1, &indices)))
        return false;
    if (indexed && !sinew_scalar_is_integer(indices.type))
        return fail(reader, "accessors[%lld] holds indices that are real numbers", (long long)index);
    reader->corner_budget -= positions.count + (indexed ? indices.count : 0);
    if (reader->corner_budget < 0)
        return fail(reader, "nodes place meshes so often that the scene outgrows its file: split it");
    if (shared->accessor != position) {
        *shared = (gltf_shared){position, reader->draft->vertex_count};
        if (!add_positions(reader, &positions, matrix))
            return false;
    }
    return add_cells(reader, mode, indexed ? &indices : NULL, shared->first, positions.count);
}

static bool read_mesh(gltf_reader *reader, int64_t index, const gltf_matrix *matrix)
{
    const json_t *mesh = get_entry(reader, "meshes", index);
    if (!mesh)
        return false;
    gltf_shared shared = {-1, 0};
    const json_t *primitives = json_object_get(mesh, "primitives");
    for (size_t i = 0; i < json_array_size(primitives); i++)
        if (!read_primitive(reader, json_array_get(primitives, i), matrix, &shared))
            return false;
    return true;
}

/* ---- Nodes --------------------------------------------------------------------------------- */

static const gltf_matrix identity = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}};

/* A = A B */
static void multiply(gltf_matrix *a, const gltf_matrix *b)
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

/* `count` numbers of a node; left as they are when the node does not give them. */
static bool get_numbers(const gltf_reader *reader, const json_t *node, const char *key, size_t count, double *numbers)
{
    const json_t *list = json_object_get(node, key);
    if (!list)
        return true;
    if (json_array_size(list) != count)
        return fail(reader, "\"%s\" of a node must be %zu numbers", key, count);
    for (size_t i = 0; i < count; i++) {
        const json_t *number = json_array_get(list, i);
        if (!json_is_number(number))
            return fail(reader, "\"%s\" of a node must be %zu numbers", key, count);
        numbers[i] = json_number_value(number);
    }
    return true;
}

/* T R S of a node, R from the unit quaternion (x y z w). */
static gltf_matrix compose(const double t[3], const double q[4], const double s[3])
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

static bool local_matrix(const gltf_reader *reader, const json_t *node, gltf_matrix *matrix)
{
    double t[3] = {0, 0, 0}, q[4] = {0, 0, 0, 1}, s[3] = {1, 1, 1};
    *matrix = identity;
    if (json_object_get(node, "matrix"))
        return get_numbers(reader, node, "matrix", 16, matrix->m);
    if (!get_numbers(reader, node, "translation", 3, t) || !get_numbers(reader, node, "rotation", 4, q) ||
        !get_numbers(reader, node, "scale", 3, s))
        return false;
    *matrix = compose(t, q, s);
    return true;
}

static bool read_node(gltf_reader *reader, int64_t index, const gltf_matrix *parent, int depth)
{
    const json_t *node = get_entry(reader, "nodes", index);
    if (!node)
        return false;
    if (depth > DEPTH_MAX)
        return fail(reader, "nodes are nested deeper than %d", DEPTH_MAX);
    if (reader->visited[index]++)
        return fail(reader, "nodes[%lld] has two parents or is its own", (long long)index);
    gltf_matrix matrix = *parent, local;
    if (!local_matrix(reader, node, &local))
        return false;
    multiply(&matrix, &local);
    int64_t mesh;
    if (json_object_get(node, "mesh") &&
        (!get_integer(reader, node, "mesh", -1, &mesh) || !read_mesh(reader, mesh, &matrix)))
        return false;
    const json_t *children = json_object_get(node, "children");
    for (size_t i = 0; i < json_array_size(children); i++) {
        const json_t *child = json_array_get(children, i);
        if (!json_is_integer(child) || !read_node(reader, json_integer_value(child), &matrix, depth + 1))
            return json_is_integer(child) ? false
                                          : fail(reader, "a child of nodes[%lld] is no number", (long long)index);
    }
    return true;
}

/* Every node of the scene that is shown first; without scenes every mesh, where it stands. */
static bool read_scene(gltf_reader *reader)
{
    if (json_array_size(json_object_get(reader->root, "scenes")) == 0) {
        size_t count = json_array_size(json_object_get(reader->root, "meshes"));
        for (size_t i = 0; i < count; i++)
            if (!read_mesh(reader, (int64_t)i, &identity))
                return false;
        return true;
    }
    int64_t index;
    if (!get_integer(reader, reader->root, "scene", 0, &index))
        return false;
    const json_t *scene = get_entry(reader, "scenes", index);
    if (!scene)
        return false;
    const json_t *nodes = json_object_get(scene, "nodes");
    for (size_t i = 0; i < json_array_size(nodes); i++) {
        const json_t *node = json_array_get(nodes, i);
        if (!json_is_integer(node))
            return fail(reader, "a node of scenes[%lld] is no number", (long long)index);
        if (!read_node(reader, json_integer_value(node), &identity, 0))
            return false;
    }
    return true;
}

/* ---- The file ------------------------------------------------------------------------------ */

static bool check_extensions(const gltf_reader *reader)
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
            return fail(reader, "needs the extension %.40s, which is not read: export without it", name ? name : "?");
    }
    const char *version = json_string_value(json_object_get(json_object_get(reader->root, "asset"), "version"));
    return (version && version[0] == '2') || fail(reader, "only glTF version 2 is read");
}

static bool load_json(gltf_reader *reader, const char *text, size_t size)
{
    json_error_t trouble;
    reader->root = json_loadb(text, size, 0, &trouble);
    if (reader->root)
        return json_is_object(reader->root) || fail(reader, "the JSON text is not an object");
    if (json_error_code(&trouble) == json_error_out_of_memory)
        return fail_memory(reader);
    sinew_fail(reader->draft->error, SINEW_ERROR_FORMAT, "%s:%d: %s", reader->source->name, trouble.line, trouble.text);
    return false;
}

/* A .glb: 12 bytes of header, then chunks of length, type and data: JSON first, then perhaps the binary one. */
static bool load_chunks(gltf_reader *reader)
{
    const sinew_source *source = reader->source;
    const unsigned char *bytes = (const unsigned char *)source->bytes;
    bool swap = sinew_host_is_big_endian();
    if (source->size < 20 || sinew_scalar_integer(SINEW_SCALAR_UINT32, bytes + 4, swap) != 2)
        return fail(reader, "byte 4: only version 2 of the binary form is read");
    uint64_t json_size = (uint64_t)sinew_scalar_integer(SINEW_SCALAR_UINT32, bytes + 12, swap);
    if (memcmp(bytes + 16, "JSON", 4) != 0 || json_size > source->size - 20)
        return fail(reader, "byte 12: the JSON chunk is missing or cut short");
    uint64_t next = 20 + json_size;
    if (source->size - next >= 8 && memcmp(bytes + next + 4, "BIN", 4) == 0) {
        uint64_t size = (uint64_t)sinew_scalar_integer(SINEW_SCALAR_UINT32, bytes + next, swap);
        if (size > source->size - next - 8)
            return fail(reader, "byte %llu: the binary chunk is cut short", (unsigned long long)next);
        reader->chunk = bytes + next + 8;
        reader->chunk_size = size;
    }
    return load_json(reader, source->bytes + 20, json_size);
}

static bool allocate_tables(gltf_reader *reader)
{
    reader->buffer_count = json_array_size(json_object_get(reader->root, "buffers"));
    reader->node_count = json_array_size(json_object_get(reader->root, "nodes"));
    reader->buffers = sinew_allocate_zero(&reader->draft->allocator, reader->buffer_count, sizeof *reader->buffers);
    reader->visited = sinew_allocate_zero(&reader->draft->allocator, reader->node_count, 1);
    return (reader->buffers && reader->visited) || fail_memory(reader);
}

static bool read_gltf(const sinew_source *source, sinew_draft *draft)
{
    gltf_reader reader = {.source = source, .draft = draft};
    reader.corner_budget = (int64_t)source->size * CORNERS_PER_BYTE + CORNERS_FREE;
    bool binary = source->size >= 4 && memcmp(source->bytes, "glTF", 4) == 0;
    bool good = (binary ? load_chunks(&reader) : load_json(&reader, source->bytes, source->size)) &&
                check_extensions(&reader) && allocate_tables(&reader) && read_scene(&reader);
    for (size_t i = 0; reader.buffers && i < reader.buffer_count; i++)
        sinew_release(&draft->allocator, reader.buffers[i].owned);
    sinew_release(&draft->allocator, reader.buffers);
    sinew_release(&draft->allocator, reader.visited);
    json_decref(reader.root);
    return good;
}

const sinew_mesh_kind sinew_mesh_kind_gltf = {
    .endings = {".gltf", ".glb"},
    .surface = true,
    .read = read_gltf,
};
