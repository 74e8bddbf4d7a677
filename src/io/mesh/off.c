/* SPDX-License-Identifier: MIT
 *
 * off.c: reads and writes .off files in ASCII, as Geomview, CGAL, MeshLab and libigl write them.
 *
 * Source: Geomview manual, "OFF: Object File Format". The first word is OFF with any of the prefixes ST, C, N (extra
 * columns after the coordinates, skipped) or is missing; then the numbers of vertices, faces and edges; then one
 * line per vertex and face. Faces of two corners are edges, faces of more than three are cut into triangles. Known
 * limits: the prefixes 4 and n (other dimensions) and OFF BINARY are refused.
 */
#include "io/mesh/file_formats.h"

#include <string.h>

#include "io/text.h"

typedef struct off_reader {
    sinew_text text;
    sinew_builder *builder;
    int64_t vertex_count;
    int64_t face_count;
} off_reader;

static bool read_keyword(off_reader *reader)
{
    sinew_text *text = &reader->text;
    const char *start = text->at;
    sinew_token word;
    if (!sinew_text_next(text, &word))
        return sinew_text_fail(text, text->at, "the file ends without its counts");
    if (word.at[0] >= '0' && word.at[0] <= '9' && !sinew_token_is(word, "4OFF")) {
        text->at = start;
        return true;
    }
    if (word.length < 3 || memcmp(word.at + word.length - 3, "OFF", 3) != 0)
        return sinew_text_fail(text, word.at, "expected OFF");
    for (size_t i = 0; i + 3 < word.length; i++)
        if (!strchr("STCN", word.at[i]))
            return sinew_text_fail(text, word.at, "only three-dimensional OFF, COFF, NOFF and STOFF files are read");
    start = text->at;
    if (sinew_text_next(text, &word) && sinew_token_is(word, "BINARY"))
        return sinew_text_fail(text, word.at, "binary OFF files are not read: save as text");
    text->at = start;
    return true;
}

static bool off_read_header(off_reader *reader)
{
    int64_t edges;
    return read_keyword(reader) && sinew_text_count(&reader->text, 6, "vertices", &reader->vertex_count) &&
           sinew_text_count(&reader->text, 2, "faces", &reader->face_count) &&
           sinew_text_integer(&reader->text, INT64_MIN, INT64_MAX, "the number of edges", &edges);
}

static bool off_read_vertices(off_reader *reader)
{
    if (!sinew_builder_reserve_vertices(reader->builder, reader->vertex_count))
        return false;
    for (int64_t i = 0; i < reader->vertex_count; i++) {
        sinew_real point[3];
        if (!sinew_text_point(&reader->text, point))
            return false;
        sinew_text_skip_line(&reader->text);
        sinew_builder_add_vertex(reader->builder, point);
    }
    return true;
}

static bool off_read_face(off_reader *reader, int32_t *corners)
{
    int64_t count, index;
    if (!sinew_text_count(&reader->text, 2, "corners of a face", &count))
        return false;
    for (int64_t k = 0; k < count; k++) {
        if (!sinew_text_integer(&reader->text, 0, reader->vertex_count - 1, "a vertex index", &index))
            return false;
        corners[k] = (int32_t)index;
    }
    /* Skips the optional colours at the end of a face's line. */
    sinew_text_skip_line(&reader->text);
    return sinew_builder_add_polygon(reader->builder, corners, count);
}

/* Reads the faces of an OFF file. Each corner takes at least two bytes, so the remaining bytes limit the corners of a
 * face. */
static bool off_read_faces(off_reader *reader)
{
    const sinew_allocator *allocator = &reader->builder->allocator;
    int32_t *corners = sinew_allocate(allocator, sinew_text_left(&reader->text) / 2 + 1, sizeof *corners);
    if (!corners) {
        sinew_fail_memory(reader->builder->error, "the corners of a face");
        return false;
    }
    bool good = true;
    for (int64_t i = 0; good && i < reader->face_count; i++)
        good = off_read_face(reader, corners);
    sinew_release(allocator, corners);
    return good;
}

static bool read_off(const sinew_source *source, sinew_builder *builder)
{
    off_reader reader = {.builder = builder};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, builder->error))
        return false;
    reader.text.comment = '#';
    bool good = off_read_header(&reader) && off_read_vertices(&reader) && off_read_faces(&reader);
    sinew_text_close(&reader.text);
    return good;
}

static void print_off(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    const sinew_real *q = sinew_mesh_positions(mesh);
    int32_t triangles = sinew_mesh_triangle_count(mesh), edges = sinew_mesh_edge_count(mesh);
    fprintf(stream, "OFF\n%d %lld 0\n", sinew_mesh_vertex_count(mesh), (long long)triangles + edges);
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++, q += 3)
        fprintf(stream, SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT "\n", q[0], q[1], q[2]);
    const int32_t *t = sinew_mesh_triangles(mesh);
    for (int32_t i = 0; i < triangles; i++, t += 3)
        fprintf(stream, "3 %d %d %d\n", t[0], t[1], t[2]);
    const int32_t *e = sinew_mesh_edges(mesh);
    for (int32_t i = 0; i < edges; i++, e += 2)
        fprintf(stream, "2 %d %d\n", e[0], e[1]);
}

const sinew_mesh_kind sinew_mesh_kind_off = {
    .endings = {".off"},
    .surface = true,
    .read = read_off,
    .print = {print_off},
};
