/* SPDX-License-Identifier: MIT
 *
 * stl.c: reads .stl files, ASCII and binary, and writes binary ones.
 *
 * Source: 3D Systems, "StereoLithography interface specification" (1988): 80 bytes, a count, and per triangle a normal,
 * three corners in single precision and two bytes. Corners with equal coordinates become one vertex, in the order of
 * first appearance. A file is binary if its size matches its triangle count, else ASCII if it starts with `solid`.
 * Coordinates are written in single precision. Known limit: normals are not read.
 */
#include "io/mesh/file_formats.h"

#include <math.h>
#include <string.h>

#include "io/mesh/scalars.h"
#include "io/text.h"
#include "math/vec3.h"

enum {
    HEADER_SIZE = 84,
    TRIANGLE_SIZE = 50
};

/* Hash table of vertices by position: open addressing, power-of-two size, at most half full. */
typedef struct vertex_table {
    int32_t *slots; /* [size] vertex index in each hash table entry, -1: free entry */
    size_t size;
} vertex_table;

typedef struct stl_reader {
    sinew_text text;
    sinew_builder *builder;
    vertex_table table;
    int64_t corner_count;
} stl_reader;

/* ---- Merging of vertices with equal coordinates -------------------------------------------------- */

/* Hashes the three coordinates of a vertex with the constants of SplitMix64; adding 0 turns -0 into 0. */
static size_t hash_position(const sinew_real point[3])
{
    uint64_t hash = 0;
    for (int axis = 0; axis < 3; axis++) {
        double number = (double)point[axis] + 0.0;
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        hash = (hash ^ bits) + 0x9e3779b97f4a7c15u;
        hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9u;
        hash = (hash ^ hash >> 27) * 0x94d049bb133111ebu;
        hash ^= hash >> 31;
    }
    return (size_t)hash;
}

static bool positions_coincide(const sinew_real *a, const sinew_real *b)
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* Hash table entry of the vertex at this position, or the free entry for it. */
static int32_t *stl_find_slot(const stl_reader *reader, const sinew_real point[3])
{
    const vertex_table *table = &reader->table;
    for (size_t i = hash_position(point);; i++) {
        int32_t *slot = &table->slots[i & (table->size - 1)];
        if (*slot < 0 || positions_coincide(reader->builder->positions + 3 * (int64_t)*slot, point))
            return slot;
    }
}

static bool stl_grow_table(stl_reader *reader)
{
    vertex_table *table = &reader->table;
    if (2 * (size_t)reader->builder->vertex_count < table->size)
        return true;
    size_t size = table->size ? 2 * table->size : 1024;
    int32_t *slots = sinew_allocate(&reader->builder->allocator, size, sizeof *slots);
    if (!slots) {
        sinew_fail_memory(reader->builder->error, "merging vertices");
        return false;
    }
    memset(slots, 0xff, size * sizeof *slots);
    sinew_release(&reader->builder->allocator, table->slots);
    *table = (vertex_table){slots, size};
    for (int32_t i = 0; i < reader->builder->vertex_count; i++)
        *stl_find_slot(reader, reader->builder->positions + 3 * (int64_t)i) = i;
    return true;
}

static bool merge_vertex(stl_reader *reader, const sinew_real point[3], int32_t *vertex)
{
    if (!stl_grow_table(reader))
        return false;
    int32_t *slot = stl_find_slot(reader, point);
    if (*slot < 0) {
        *slot = (int32_t)reader->builder->vertex_count;
        if (!sinew_builder_add_vertex(reader->builder, point))
            return false;
    }
    reader->corner_count++;
    *vertex = *slot;
    return true;
}

/* ---- Binary STL files ---------------------------------------------------------------------------- */

static bool has_binary_size(const sinew_source *source)
{
    if (source->size < HEADER_SIZE)
        return false;
    const unsigned char *count = (const unsigned char *)source->bytes + 80;
    uint64_t triangles = (uint64_t)sinew_scalar_integer(SINEW_SCALAR_UINT32, count, sinew_host_is_big_endian());
    return source->size == HEADER_SIZE + TRIANGLE_SIZE * triangles;
}

static bool read_binary_triangle(stl_reader *reader)
{
    const char *at = reader->text.at;
    const unsigned char *bytes;
    int32_t corners[3];
    if (!sinew_text_block(&reader->text, 1, TRIANGLE_SIZE, "triangle", &bytes))
        return false;
    for (int k = 0; k < 3; k++) {
        sinew_real point[3];
        for (int axis = 0; axis < 3; axis++) {
            const unsigned char *source = bytes + 12 + 12 * k + 4 * axis;
            point[axis] = (sinew_real)sinew_scalar_real(SINEW_SCALAR_FLOAT, source, sinew_host_is_big_endian());
            if (!isfinite(point[axis]))
                return sinew_text_fail(&reader->text, at, "a triangle has a coordinate that is not a finite number");
        }
        if (!merge_vertex(reader, point, &corners[k]))
            return false;
    }
    return sinew_builder_add_cell(reader->builder, SINEW_BUILDER_TRIANGLE, corners);
}

static bool read_binary(stl_reader *reader)
{
    reader->text.binary = true;
    reader->text.at += HEADER_SIZE;
    while (reader->text.at < reader->text.end)
        if (!read_binary_triangle(reader))
            return false;
    return true;
}

/* ---- ASCII STL files ----------------------------------------------------------------------------- */

static bool read_facet(stl_reader *reader)
{
    sinew_text *text = &reader->text;
    int32_t corners[3];
    double normal;
    if (!sinew_text_expect(text, "normal"))
        return false;
    for (int axis = 0; axis < 3; axis++)
        if (!sinew_text_real(text, "a component of the normal", &normal))
            return false;
    if (!sinew_text_expect(text, "outer") || !sinew_text_expect(text, "loop"))
        return false;
    for (int k = 0; k < 3; k++) {
        sinew_real point[3];
        if (!sinew_text_expect(text, "vertex") || !sinew_text_point(text, point) ||
            !merge_vertex(reader, point, &corners[k]))
            return false;
    }
    return sinew_text_expect(text, "endloop") && sinew_text_expect(text, "endfacet") &&
           sinew_builder_add_cell(reader->builder, SINEW_BUILDER_TRIANGLE, corners);
}

/* Reads one or more solids of an ASCII file; the rest of the line after `solid` and `endsolid` is a name. */
static bool read_ascii(stl_reader *reader)
{
    sinew_token word;
    bool inside = false;
    while (sinew_text_next(&reader->text, &word)) {
        bool opens = sinew_token_is_any_case(word, "solid"), closes = sinew_token_is_any_case(word, "endsolid");
        if ((opens && !inside) || (closes && inside)) {
            inside = opens;
            sinew_text_skip_line(&reader->text);
        } else if (!inside || !sinew_token_is_any_case(word, "facet")) {
            return sinew_text_fail(&reader->text, word.at, "expected %s", inside ? "facet or endsolid" : "solid");
        } else if (!read_facet(reader)) {
            return false;
        }
    }
    return !inside || sinew_text_fail(&reader->text, reader->text.end, "the file ends without endsolid");
}

static bool read_ascii_or_binary(stl_reader *reader, const sinew_source *source)
{
    if (has_binary_size(source)) {
        /* a binary STL file starts at its first byte: it has no byte order mark to skip */
        reader->text.at = reader->text.begin = source->bytes;
        return read_binary(reader);
    }
    sinew_token word;
    if (sinew_text_next(&reader->text, &word) && sinew_token_is_any_case(word, "solid")) {
        reader->text.at = reader->text.begin;
        return read_ascii(reader);
    }
    return sinew_text_fail(&reader->text, reader->text.begin,
                           "neither starts with 'solid' nor has the size of a binary STL file: it may be cut short");
}

static bool read_stl(const sinew_source *source, sinew_builder *builder)
{
    stl_reader reader = {.builder = builder};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, builder->error))
        return false;
    bool good = read_ascii_or_binary(&reader, source);
    builder->merged_count = reader.corner_count - builder->vertex_count;
    sinew_release(&builder->allocator, reader.table.slots);
    sinew_text_close(&reader.text);
    return good;
}

/* ---- Writing of STL files ------------------------------------------------------------------------ */

static void put_little_endian(FILE *stream, uint32_t value)
{
    const unsigned char bytes[4] = {(unsigned char)value, (unsigned char)(value >> 8), (unsigned char)(value >> 16),
                                    (unsigned char)(value >> 24)};
    fwrite(bytes, sizeof bytes, 1, stream);
}

static void put_floats(FILE *stream, const double point[3])
{
    for (int axis = 0; axis < 3; axis++) {
        float number = (float)point[axis];
        uint32_t bits;
        memcpy(&bits, &number, sizeof bits);
        put_little_endian(stream, bits);
    }
}

/* Unit normal of a triangle; zero for a triangle without area. */
static void facet_normal(const sinew_real *a, const sinew_real *b, const sinew_real *c, double normal[3])
{
    double u[3], v[3];
    vec3_edge(a, b, u);
    vec3_edge(a, c, v);
    vec3_cross(u, v, normal);
    const double length = vec3_norm(normal);
    for (int axis = 0; axis < 3; axis++)
        normal[axis] = length > 0 && isfinite(length) ? normal[axis] / length : 0;
}

static void print_stl(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    char header[81];
    snprintf(header, sizeof header, "%-80s", "sinew");
    fwrite(header, 80, 1, stream);
    put_little_endian(stream, (uint32_t)sinew_mesh_triangle_count(mesh));
    const sinew_real *q = sinew_mesh_positions(mesh);
    const int32_t *t = sinew_mesh_triangles(mesh);
    for (int32_t i = 0; i < sinew_mesh_triangle_count(mesh); i++, t += 3) {
        double normal[3];
        facet_normal(q + 3 * (size_t)t[0], q + 3 * (size_t)t[1], q + 3 * (size_t)t[2], normal);
        put_floats(stream, normal);
        for (int k = 0; k < 3; k++) {
            const sinew_real *p = q + 3 * (size_t)t[k];
            put_floats(stream, (double[]){p[0], p[1], p[2]});
        }
        fwrite("\0", 2, 1, stream);
    }
}

const sinew_mesh_kind sinew_mesh_kind_stl = {
    .endings = {".stl"},
    .surface = true,
    .read = read_stl,
    .print = {print_stl},
    .only_triangles = true,
};
