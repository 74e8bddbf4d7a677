/* SPDX-License-Identifier: MIT
 *
 * npy.c: arrays of NumPy for scripts: <name>.positions.npy [frames, particles, 3], <name>.velocities.npy,
 * <name>.time.npy [frames], one array for each field; constant arrays: <name>.tets.npy, .triangles.npy, .edges.npy,
 * <name>.material.npy and, for skins, .skin_vertices.npy and .skin_weights.npy; and <name>.npy.json, which lists
 * them (npy_index.c).
 *
 * A file is "\x93NUMPY", version 1.0, the length of the header and the header itself (a Python literal), together
 * padded to 128 bytes, then the numbers in C order, little-endian. Files grow by appending, and the number of frames in
 * the header is patched in close. Source: numpy.lib.format, "Format Version 1.0".
 */
#include "io/cache/npy.h"

#include <string.h>
#include <unistd.h>

enum {
    header_size = 128,
    magic_size = 10 /* number of bytes of an NPY file before the Python literal */
};

/* ---- Headers of NPY files ------------------------------------------------------------------------ */

/* Writes the NPY header of an array whose first dimension is `rows`. */
static void npy_format_header(const sinew_npy_array *array, int64_t rows, char header[header_size])
{
    char sizes[64];
    int length = 0;
    sizes[0] = '\0';
    for (int i = 0; i < array->rank - 1; i++)
        length += snprintf(sizes + length, sizeof sizes - (size_t)length, i ? ", %lld" : "%lld",
                           (long long)array->shape[i + 1]);
    memset(header, ' ', header_size);
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)(header_size - magic_size);
    header[9] = 0;
    length = snprintf(header + magic_size, header_size - magic_size,
                      "{'descr': '%s', 'fortran_order': False, 'shape': (%lld,%s%s), }", array->type, (long long)rows,
                      array->rank > 1 ? " " : "", sizes);
    header[magic_size + length] = ' ';
    header[header_size - 1] = '\n';
}

/* Number of bytes of one row of an array: all numbers with the same first index. */
static size_t row_size(const sinew_npy_array *array)
{
    size_t size = array->type[2] == '8' ? 8 : 4;
    for (int i = 1; i < array->rank; i++)
        size *= (size_t)array->shape[i];
    return size;
}

/* ---- Rows of an NPY array ------------------------------------------------------------------------ */

/* Appends rows to an array's file, little-endian on every machine. */
static sinew_status put_rows(sinew_npy_array *array, const void *data, size_t rows, sinew_error *error)
{
    const uint16_t one = 1;
    const size_t width = array->type[2] == '8' ? 8 : 4, size = rows * row_size(array);
    if (*(const uint8_t *)&one)
        return sinew_cache_put(&array->writer, data, size, error);
    sinew_status status = SINEW_OK;
    for (size_t i = 0; i < size && status == SINEW_OK; i += width) {
        unsigned char bytes[8];
        for (size_t k = 0; k < width; k++)
            bytes[k] = ((const unsigned char *)data)[i + width - 1 - k];
        status = sinew_cache_put(&array->writer, bytes, width, error);
    }
    return status;
}

/* Fails unless the NPY header of an array of an earlier run is that of an unfinished file, or of one finished with the
 * frames that it holds. */
static sinew_status npy_check_header(sinew_npy_array *array, sinew_error *error)
{
    char header[header_size], expected[2][header_size];
    FILE *stream = array->writer.stream;
    const int64_t size = fseeko(stream, 0, SEEK_END) == 0 ? (int64_t)ftello(stream) : 0;
    rewind(stream);
    npy_format_header(array, 0, expected[0]);
    npy_format_header(array, (size - header_size) / (int64_t)row_size(array), expected[1]);
    if (fread(header, 1, sizeof header, array->writer.stream) == sizeof header &&
        (memcmp(header, expected[0], sizeof header) == 0 || memcmp(header, expected[1], sizeof header) == 0))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_FORMAT,
                      "%s: its header is damaged, or is not of what is there now; start the run again",
                      array->writer.partial);
}

/* Truncates an array of an earlier run to the kept frames, with the header of an unfinished file. */
static sinew_status npy_resume(const sinew_cache *cache, sinew_npy_array *array, sinew_error *error)
{
    const int64_t size = header_size + cache->kept * (int64_t)row_size(array);
    char header[header_size];
    sinew_status status = npy_check_header(array, error);
    if (status == SINEW_OK)
        status = sinew_cache_cut_bytes(&array->writer, size, error);
    npy_format_header(array, 0, header);
    if (status == SINEW_OK)
        status = sinew_cache_seek(&array->writer, 0, error);
    if (status == SINEW_OK)
        status = sinew_cache_put(&array->writer, header, sizeof header, error);
    return status == SINEW_OK ? sinew_cache_seek(&array->writer, size, error) : status;
}

static sinew_status npy_open_array(const sinew_cache *cache, sinew_npy_array *array, sinew_error *error)
{
    char header[header_size], ending[64];
    snprintf(ending, sizeof ending, ".%s.npy", array->name);
    array->moves = array->data == NULL;
    sinew_status status = array->moves ? sinew_cache_open_stream(cache, &array->writer, ending, error)
                                       : sinew_cache_create_file(cache, &array->writer, ending, error);
    if (status != SINEW_OK)
        return status;
    if (array->moves && cache->kept > 0)
        return npy_resume(cache, array, error);
    npy_format_header(array, array->moves ? 0 : array->shape[0], header);
    status = sinew_cache_put(&array->writer, header, sizeof header, error);
    if (status == SINEW_OK && !array->moves)
        status = put_rows(array, array->data, (size_t)array->shape[0], error);
    return status;
}

/* ---- Choice of the arrays that are written ------------------------------------------------------- */

static sinew_npy_array *npy_add_array(sinew_npy *own, const char *name, const char *type, const char *unit,
                                      int64_t rows, int64_t columns, int64_t depth)
{
    sinew_npy_array *array = &own->arrays[own->array_count++];
    array->name = name;
    array->type = type;
    array->unit = unit;
    array->shape[0] = rows;
    array->shape[1] = columns;
    array->shape[2] = depth;
    array->rank = depth > 0 ? 3 : columns >= 0 ? 2 : 1;
    return array;
}

static void add_frame_arrays(const sinew_cache *cache, sinew_npy *own)
{
    const char *real = sizeof(sinew_real) == 8 ? "<f8" : "<f4";
    own->frame_data[own->array_count] = cache->q;
    npy_add_array(own, "positions", real, "m", 0, cache->point_count, 3);
    own->frame_data[own->array_count] = cache->v;
    npy_add_array(own, "velocities", real, "m/s", 0, cache->point_count, 3);
    own->frame_data[own->array_count] = &cache->time;
    npy_add_array(own, "time", "<f8", "s", 0, -1, 0);
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)f);
        if (!own->fields.values[f])
            continue;
        own->frame_data[own->array_count] = own->fields.values[f];
        npy_add_array(own, info->name, real, f == SINEW_FIELD_ENERGY ? "J/m3" : info->unit, 0,
                      info->of_elements ? own->fields.tet_count : cache->point_count,
                      info->component_count > 1 ? info->component_count : 0);
    }
    own->moving_count = own->array_count;
}

/* Concatenates the triangles or edges of all bodies in particle indices; NULL: memory runs out. */
static int32_t *concatenate_cells(const sinew_cache *cache, int corners, int64_t *count)
{
    int32_t *cells = NULL;
    for (int pass = 0; pass < 2; pass++) {
        *count = 0;
        for (int32_t i = 0; i < cache->body_count; i++) {
            const sinew_cache_body *of = &cache->bodies[i];
            const sinew_mesh *mesh = of->body.index >= 0 ? sinew_body_mesh(cache->world, of->body) : NULL;
            if (!mesh)
                continue;
            const int32_t *list = corners == 3 ? sinew_mesh_triangles(mesh) : sinew_mesh_edges(mesh);
            const int64_t own = corners == 3 ? sinew_mesh_triangle_count(mesh) : sinew_mesh_edge_count(mesh);
            for (int64_t k = 0; pass && k < corners * own; k++)
                cells[corners * *count + k] = of->first_point + list[k];
            *count += own;
        }
        if (pass == 0)
            cells = sinew_allocate(&cache->allocator, (size_t)*count, (size_t)corners * sizeof *cells);
        if (!cells)
            break;
    }
    return cells;
}

/* Concatenates the embeddings of all skin vertices, skin by skin, in particle indices; returns false if memory runs
 * out. */
static bool concatenate_skins(const sinew_cache *cache, sinew_npy *own)
{
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_skin *skin =
            cache->bodies[i].body.index >= 0 ? sinew_body_skin(cache->world, cache->bodies[i].body) : NULL;
        own->skin_count += skin ? sinew_skin_vertex_count(skin) : 0;
    }
    if (own->skin_count == 0)
        return true;
    own->skin_vertices = sinew_allocate(&cache->allocator, (size_t)own->skin_count, 4 * sizeof(int32_t));
    own->skin_weights = sinew_allocate(&cache->allocator, (size_t)own->skin_count, 4 * sizeof(sinew_real));
    if (!own->skin_vertices || !own->skin_weights)
        return false;
    size_t at = 0;
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_cache_body *of = &cache->bodies[i];
        const sinew_skin *skin = of->body.index >= 0 ? sinew_body_skin(cache->world, of->body) : NULL;
        const size_t count = skin ? 4 * (size_t)sinew_skin_vertex_count(skin) : 0;
        for (size_t k = 0; k < count; k++, at++) {
            own->skin_vertices[at] = of->first_point + sinew_body_skin_vertices(cache->world, of->body)[k];
            own->skin_weights[at] = sinew_body_skin_weights(cache->world, of->body)[k];
        }
    }
    return true;
}

/* Adds the arrays that are the same in all frames; they are written in close. */
static sinew_status add_constant_arrays(const sinew_cache *cache, sinew_npy *own, sinew_error *error)
{
    int64_t triangles = 0, edges = 0;
    own->triangles = concatenate_cells(cache, 3, &triangles);
    own->edges = concatenate_cells(cache, 2, &edges);
    if (!own->triangles || !own->edges || !concatenate_skins(cache, own))
        return sinew_fail_memory(error, "the cells of a npy cache");
    npy_add_array(own, "tets", "<i4", "", own->fields.tet_count, 4, 0)->data = own->fields.tets;
    npy_add_array(own, "material", "<i4", "", own->fields.tet_count, -1, 0)->data = own->fields.material;
    npy_add_array(own, "triangles", "<i4", "", triangles, 3, 0)->data = own->triangles;
    npy_add_array(own, "edges", "<i4", "", edges, 2, 0)->data = own->edges;
    if (own->skin_count > 0) {
        const char *real = sizeof(sinew_real) == 8 ? "<f8" : "<f4";
        npy_add_array(own, "skin_vertices", "<i4", "", own->skin_count, 4, 0)->data = own->skin_vertices;
        npy_add_array(own, "skin_weights", real, "", own->skin_count, 4, 0)->data = own->skin_weights;
    }
    return SINEW_OK;
}

/* ---- Operations of the cache format NPY ---------------------------------------------------------- */

static sinew_status npy_open(sinew_cache *cache, sinew_error *error)
{
    sinew_npy *own = cache->own;
    sinew_status status = sinew_npy_check_names(cache, error);
    if (status == SINEW_OK)
        status = sinew_cache_fields_open(cache, &own->fields, error);
    if (status != SINEW_OK)
        return status;
    add_frame_arrays(cache, own);
    status = add_constant_arrays(cache, own, error);
    if (status == SINEW_OK) /* the array of materials is filled even if no frame follows */
        status = sinew_cache_fields_fill(cache, &own->fields, error);
    for (int i = 0; i < own->moving_count && status == SINEW_OK; i++)
        status = npy_open_array(cache, &own->arrays[i], error);
    return status;
}

static sinew_status npy_frame(sinew_cache *cache, sinew_error *error)
{
    sinew_npy *own = cache->own;
    sinew_status status = sinew_cache_fields_fill(cache, &own->fields, error);
    for (int i = 0; i < own->moving_count && status == SINEW_OK; i++) {
        status = put_rows(&own->arrays[i], own->frame_data[i], 1, error);
        if (status == SINEW_OK)
            status = sinew_cache_flush(&own->arrays[i].writer, error);
    }
    return status;
}

static sinew_status npy_sync(sinew_cache *cache, sinew_error *error)
{
    sinew_npy *own = cache->own;
    sinew_status status = SINEW_OK;
    for (int i = 0; i < own->moving_count && status == SINEW_OK; i++)
        status = sinew_writer_sync(&own->arrays[i].writer, error);
    return status;
}

/* Patches the number of frames into the NPY headers and writes the constant arrays. */
static sinew_status finish_arrays(sinew_cache *cache, sinew_npy *own, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int i = 0; i < own->moving_count && status == SINEW_OK; i++) {
        char header[header_size];
        own->arrays[i].shape[0] = cache->frame_count;
        npy_format_header(&own->arrays[i], cache->frame_count, header);
        status = sinew_cache_seek(&own->arrays[i].writer, 0, error);
        if (status == SINEW_OK)
            status = sinew_cache_put(&own->arrays[i].writer, header, sizeof header, error);
    }
    for (int i = own->moving_count; i < own->array_count && status == SINEW_OK; i++)
        status = npy_open_array(cache, &own->arrays[i], error);
    return status;
}

/* Completes all arrays and renames them to their final names, then the index. If this fails and the cache is not
 * resumable, the renamed arrays are removed: an incomplete set is unusable. */
static sinew_status npy_close(sinew_cache *cache, sinew_error *error)
{
    sinew_npy *own = cache->own;
    sinew_status status = finish_arrays(cache, own, error);
    if (status == SINEW_OK)
        status = sinew_npy_write_index(cache, own, error);
    int named = 0;
    for (; named < own->array_count && status == SINEW_OK; named++)
        status = sinew_writer_commit_durable(&own->arrays[named].writer, error);
    if (status == SINEW_OK)
        status = sinew_writer_commit_durable(&own->index, error);
    for (int i = 0; status != SINEW_OK && !cache->resumable && i < named; i++)
        unlink(own->arrays[i].writer.path);
    return status;
}

static void npy_drop(sinew_cache *cache)
{
    sinew_npy *own = cache->own;
    for (int i = 0; i < own->array_count; i++)
        sinew_writer_abandon(&own->arrays[i].writer);
    sinew_writer_abandon(&own->index);
    sinew_cache_fields_free(cache, &own->fields);
    sinew_release(&cache->allocator, own->triangles);
    sinew_release(&cache->allocator, own->edges);
    sinew_release(&cache->allocator, own->skin_vertices);
    sinew_release(&cache->allocator, own->skin_weights);
}

const sinew_cache_ops sinew_cache_npy = {
    .name = "npy",
    .own_size = sizeof(sinew_npy),
    .bodies = true,
    .open = npy_open,
    .frame = npy_frame,
    .sync = npy_sync,
    .close = npy_close,
    .drop = npy_drop,
};
