/* SPDX-License-Identifier: MIT
 *
 * gltf_buffers.c: opens glTF buffers (of the file itself, base64 data URIs, files in the same folder), views and
 * accessors.
 *
 * Source: Khronos, "glTF 2.0 specification", section 3.6.
 */
#include "io/mesh/gltf_buffers.h"

#include <string.h>

#include "io/mesh/base64.h"

bool sinew_gltf_fail(const sinew_gltf_reader *reader, const char *format, ...)
{
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    sinew_fail(reader->builder->error, SINEW_ERROR_FORMAT, "%s: %s", reader->source->name, reason);
    return false;
}

bool sinew_gltf_fail_memory(const sinew_gltf_reader *reader)
{
    sinew_fail_memory(reader->builder->error, reader->source->name);
    return false;
}

/* ---- Members of the glTF file's JSON ------------------------------------------------------------- */

bool sinew_gltf_integer(const sinew_gltf_reader *reader, const json_t *object, const char *key, int64_t missing,
                        int64_t *value)
{
    const json_t *item = json_object_get(object, key);
    *value = item ? json_integer_value(item) : missing;
    if ((item && !json_is_integer(item)) || *value < 0)
        return sinew_gltf_fail(reader, "\"%s\" is missing or is not a whole number of at least 0", key);
    return true;
}

const json_t *sinew_gltf_entry(const sinew_gltf_reader *reader, const char *array, int64_t index)
{
    const json_t *list = json_object_get(reader->root, array);
    const json_t *entry = index >= 0 ? json_array_get(list, (size_t)index) : NULL;
    if (!json_is_object(entry)) {
        sinew_gltf_fail(reader, "refers to %s[%lld], but there are %zu", array, (long long)index,
                        json_array_size(list));
        return NULL;
    }
    return entry;
}

/* ---- glTF buffers and their files ---------------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Decodes percent escapes such as %20 of a URI to a file name; false if the name does not fit or has a character that
 * file names cannot have. */
static bool decode_file_name(const char *uri, char *name, size_t size)
{
    size_t used = 0;
    for (const char *c = uri; *c; c++) {
        int high = *c == '%' ? hex_digit(c[1]) : -1, low = high >= 0 ? hex_digit(c[2]) : -1;
        char decoded = low >= 0 ? (char)(16 * high + low) : *c;
        if (used + 1 >= size || decoded == '\0' || decoded == '/' || decoded == '\\')
            return false;
        name[used++] = decoded;
        c += low >= 0 ? 2 : 0;
    }
    name[used] = '\0';
    return used > 0 && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Joins the folder of the glTF file and the decoded name of a buffer's file; the name must not leave this folder. */
static bool path_beside(const sinew_gltf_reader *reader, const char *uri, char *path, size_t size)
{
    char name[256];
    const char *slash = strrchr(reader->source->name, '/');
    int folder = slash ? (int)(slash + 1 - reader->source->name) : 0;
    if (!decode_file_name(uri, name, sizeof name))
        return false;
    int length = snprintf(path, size, "%.*s%s", folder, reader->source->name, name);
    return length >= 0 && (size_t)length < size;
}

static bool open_data_uri(sinew_gltf_reader *reader, const char *uri, size_t size, sinew_gltf_buffer *buffer)
{
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || memcmp(comma - 7, ";base64", 7) != 0)
        return sinew_gltf_fail(reader, "a buffer has a data URI that is not base64");
    const char *at = comma + 1, *end = uri + strlen(uri);
    if (size > sinew_base64_capacity((size_t)(end - at)))
        return sinew_gltf_fail(reader, "a buffer promises %zu bytes, but its URI holds fewer", size);
    buffer->owned = sinew_allocate(&reader->builder->allocator, size, 1);
    if (!buffer->owned)
        return sinew_gltf_fail_memory(reader);
    buffer->bytes = (const unsigned char *)buffer->owned;
    buffer->size = size;
    return sinew_base64_decode(&at, end, (unsigned char *)buffer->owned, size) ||
           sinew_gltf_fail(reader, "the base64 text of a buffer is broken or cut short");
}

/* Returns the buffer that was read from this path, or NULL. */
static const sinew_gltf_buffer *find_buffer_of_file(const sinew_gltf_reader *reader, const char *path)
{
    const sinew_gltf_buffer *found = reader->last_read;
    while (found && strcmp(found->path, path) != 0)
        found = found->read_before;
    return found;
}

static bool read_buffer_file(sinew_gltf_reader *reader, const char *path, sinew_gltf_buffer *buffer)
{
    const sinew_allocator *allocator = &reader->builder->allocator;
    sinew_error trouble = {SINEW_ERROR_FILE, "there are no other files"};
    if (reader->source->open)
        buffer->owned = reader->source->open(reader->source->context, path, true, allocator, &buffer->size, &trouble);
    if (!buffer->owned) {
        sinew_fail(reader->builder->error, trouble.status, "%s: needs the file %s: %s", reader->source->name, path,
                   trouble.text);
        return false;
    }
    buffer->path = sinew_allocate(allocator, strlen(path) + 1, 1);
    if (!buffer->path)
        return sinew_gltf_fail_memory(reader);
    strcpy(buffer->path, path);
    buffer->bytes = (const unsigned char *)buffer->owned;
    buffer->read_before = reader->last_read;
    reader->last_read = buffer;
    reader->corner_budget += (int64_t)buffer->size * SINEW_GLTF_CORNERS_PER_BYTE;
    return true;
}

/* Opens a buffer that is a file; a file that several buffers refer to is read once. */
static bool open_file_uri(sinew_gltf_reader *reader, const char *uri, size_t size, sinew_gltf_buffer *buffer)
{
    char path[1024];
    if (!path_beside(reader, uri, path, sizeof path))
        return sinew_gltf_fail(reader, "the buffer \"%.80s\" is not the name of a file beside this one: save as .glb",
                               uri);
    const sinew_gltf_buffer *found = find_buffer_of_file(reader, path);
    if (found)
        *buffer = (sinew_gltf_buffer){.bytes = found->bytes, .size = found->size};
    else if (!read_buffer_file(reader, path, buffer))
        return false;
    return buffer->size >= size ||
           sinew_gltf_fail(reader, "the buffer %s is %zu bytes short", path, size - buffer->size);
}

static bool open_buffer(sinew_gltf_reader *reader, int64_t index, sinew_gltf_buffer **buffer)
{
    const json_t *entry = sinew_gltf_entry(reader, "buffers", index);
    int64_t size;
    if (!entry || !sinew_gltf_integer(reader, entry, "byteLength", -1, &size))
        return false;
    *buffer = &reader->buffers[index];
    if ((*buffer)->bytes)
        return true;
    const char *uri = json_string_value(json_object_get(entry, "uri"));
    if (uri)
        return strncmp(uri, "data:", 5) == 0 ? open_data_uri(reader, uri, (size_t)size, *buffer)
                                             : open_file_uri(reader, uri, (size_t)size, *buffer);
    if (index != 0 || !reader->chunk || (uint64_t)size > reader->chunk_size)
        return sinew_gltf_fail(reader, "buffers[%lld] has no URI, and the file holds no binary chunk of its size",
                               (long long)index);
    **buffer = (sinew_gltf_buffer){.bytes = reader->chunk, .size = (size_t)size};
    return true;
}

/* ---- glTF accessors and buffer views ------------------------------------------------------------- */

static bool read_component_type(const sinew_gltf_reader *reader, int64_t code, bool normalized,
                                sinew_gltf_accessor *accessor)
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
    return sinew_gltf_fail(reader, "an accessor has the unknown component type %lld", (long long)code);
}

/* Finds the bytes of a glTF buffer view, checked against the size of its buffer. */
static bool open_view(sinew_gltf_reader *reader, int64_t index, const unsigned char **bytes, int64_t *size,
                      int64_t *stride)
{
    const json_t *view = sinew_gltf_entry(reader, "bufferViews", index);
    int64_t buffer_index, offset;
    sinew_gltf_buffer *buffer;
    if (!view || !sinew_gltf_integer(reader, view, "buffer", -1, &buffer_index) ||
        !sinew_gltf_integer(reader, view, "byteOffset", 0, &offset) ||
        !sinew_gltf_integer(reader, view, "byteLength", -1, size) ||
        !sinew_gltf_integer(reader, view, "byteStride", 0, stride) || !open_buffer(reader, buffer_index, &buffer))
        return false;
    if ((uint64_t)*size > buffer->size || (uint64_t)offset > buffer->size - (uint64_t)*size)
        return sinew_gltf_fail(reader, "bufferViews[%lld] lies outside its buffer of %zu bytes", (long long)index,
                               buffer->size);
    *bytes = buffer->bytes + offset;
    return true;
}

bool sinew_gltf_open_accessor(sinew_gltf_reader *reader, int64_t index, const char *shape, size_t components,
                              sinew_gltf_accessor *accessor)
{
    const json_t *entry = sinew_gltf_entry(reader, "accessors", index);
    int64_t view, offset, code, size, stride;
    if (!entry)
        return false;
    if (json_object_get(entry, "sparse") || !json_object_get(entry, "bufferView"))
        return sinew_gltf_fail(reader, "accessors[%lld] is sparse, which is not read: export without morph targets",
                               (long long)index);
    const char *type = json_string_value(json_object_get(entry, "type"));
    if (!type || strcmp(type, shape) != 0)
        return sinew_gltf_fail(reader, "accessors[%lld] must have the type %s", (long long)index, shape);
    if (!sinew_gltf_integer(reader, entry, "bufferView", -1, &view) ||
        !sinew_gltf_integer(reader, entry, "byteOffset", 0, &offset) ||
        !sinew_gltf_integer(reader, entry, "count", -1, &accessor->count) ||
        !sinew_gltf_integer(reader, entry, "componentType", -1, &code) ||
        !read_component_type(reader, code, json_is_true(json_object_get(entry, "normalized")), accessor) ||
        !open_view(reader, view, &accessor->bytes, &size, &stride))
        return false;
    int64_t element = (int64_t)(components * sinew_scalar_size(accessor->type));
    stride = stride ? stride : element;
    /* condition for all elements to lie within the buffer view: offset + stride (count - 1) + element <= size, without
     * overflow */
    int64_t capacity = offset <= size ? size - offset : -1;
    if (stride < element ||
        (accessor->count > 0 && (capacity < element || accessor->count - 1 > (capacity - element) / stride)))
        return sinew_gltf_fail(reader, "accessors[%lld] reads %lld elements past the end of its view", (long long)index,
                               (long long)accessor->count);
    accessor->bytes += accessor->count > 0 ? offset : 0;
    accessor->stride = (size_t)stride;
    return true;
}

/* ---- Creation and release of the glTF reader's tables -------------------------------------------- */

bool sinew_gltf_allocate_tables(sinew_gltf_reader *reader)
{
    reader->buffer_count = json_array_size(json_object_get(reader->root, "buffers"));
    reader->node_count = json_array_size(json_object_get(reader->root, "nodes"));
    reader->buffers = sinew_allocate_zero(&reader->builder->allocator, reader->buffer_count, sizeof *reader->buffers);
    reader->visited = sinew_allocate_zero(&reader->builder->allocator, reader->node_count, 1);
    return (reader->buffers && reader->visited) || sinew_gltf_fail_memory(reader);
}

void sinew_gltf_release(sinew_gltf_reader *reader)
{
    const sinew_allocator *allocator = &reader->builder->allocator;
    for (size_t i = 0; reader->buffers && i < reader->buffer_count; i++) {
        sinew_release(allocator, reader->buffers[i].owned);
        sinew_release(allocator, reader->buffers[i].path);
    }
    sinew_release(allocator, reader->buffers);
    sinew_release(allocator, reader->visited);
    json_decref(reader->root);
}
