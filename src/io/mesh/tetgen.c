/* SPDX-License-Identifier: MIT
 *
 * tetgen.c: reads and writes TetGen's .node (vertices), .ele (tetrahedra), .face (triangles) and .edge (edges).
 *
 * Source: Hang Si, "TetGen: a Delaunay-based quality tetrahedral mesh generator", user's manual, chapter "File
 * formats". For any of these endings, .node and .ele are read, and .face and .edge if they exist. The number of the
 * first vertex shows whether numbering starts at 0 or 1. Attributes and markers are skipped; the first four nodes of
 * ten-node tetrahedra are read. Known limit: regions and markers, which could distinguish materials, are lost.
 */
#include "io/mesh/file_formats.h"

#include <string.h>
#include <strings.h>

#include "io/text.h"

typedef struct tetgen_reader {
    sinew_builder *builder;
    int64_t first; /* number of the first vertex in the files: 0 or 1 */
} tetgen_reader;

/* ---- Reading of the .node file ------------------------------------------------------------------- */

static bool tetgen_read_nodes(tetgen_reader *reader, sinew_text *text)
{
    int64_t count, dimension, unused, number;
    if (!sinew_text_count(text, 8, "vertices", &count) ||
        !sinew_text_integer(text, 3, 3, "the dimension", &dimension) ||
        !sinew_builder_reserve_vertices(reader->builder, count))
        return false;
    sinew_token rest;
    /* The .node header's counts of attributes and markers are optional; the rest of each line is skipped. */
    while (sinew_text_next_on_line(text, &rest))
        if (!sinew_token_integer(text, rest, 0, INT32_MAX, "a number of attributes", &unused))
            return false;
    for (int64_t i = 0; i < count; i++) {
        sinew_real point[3];
        int64_t low = i == 0 ? 0 : reader->first + i;
        if (!sinew_text_integer(text, low, i == 0 ? 1 : low, "the number of a vertex", &number) ||
            !sinew_text_point(text, point))
            return false;
        if (i == 0)
            reader->first = number;
        sinew_text_skip_line(text);
        sinew_builder_add_vertex(reader->builder, point);
    }
    return true;
}

/* ---- Reading of the .ele, .face and .edge files -------------------------------------------------- */

static bool tetgen_read_corners(tetgen_reader *reader, sinew_text *text, int count, int32_t *corners)
{
    for (int k = 0; k < count; k++) {
        int64_t index;
        if (!sinew_text_integer(text, reader->first, reader->first + reader->builder->vertex_count - 1,
                                "a vertex index", &index))
            return false;
        corners[k] = (int32_t)(index - reader->first);
    }
    return true;
}

/* Reads the cells of an .ele, .face or .edge file. A line has the number of the cell, its corners, and optional
 * attributes that are skipped. */
static bool tetgen_read_cells(tetgen_reader *reader, sinew_text *text, int kind, int64_t count)
{
    if (!sinew_builder_reserve_cells(reader->builder, kind, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t number;
        int32_t corners[4];
        if (!sinew_text_integer(text, 0, INT64_MAX, "the number of a cell", &number) ||
            !tetgen_read_corners(reader, text, kind + 2, corners))
            return false;
        sinew_text_skip_line(text);
        sinew_builder_add_cell(reader->builder, kind, corners);
    }
    return true;
}

static bool read_tets(tetgen_reader *reader, sinew_text *text)
{
    int64_t count, nodes;
    if (!sinew_text_count(text, 10, "tetrahedra", &count) ||
        !sinew_text_integer(text, 4, 10, "the number of nodes of a tetrahedron", &nodes))
        return false;
    if (nodes != 4 && nodes != 10)
        return sinew_text_fail(text, text->at, "tetrahedra of %lld nodes are not read, only of 4 or 10",
                               (long long)nodes);
    sinew_text_skip_line(text);
    reader->builder->shortened_count = nodes == 10 ? count : 0;
    return tetgen_read_cells(reader, text, SINEW_BUILDER_TET, count);
}

static bool tetgen_read_faces(tetgen_reader *reader, sinew_text *text)
{
    int64_t count;
    if (!sinew_text_count(text, 8, "triangles", &count))
        return false;
    sinew_text_skip_line(text);
    return tetgen_read_cells(reader, text, SINEW_BUILDER_TRIANGLE, count);
}

static bool read_edges(tetgen_reader *reader, sinew_text *text)
{
    int64_t count;
    if (!sinew_text_count(text, 6, "edges", &count))
        return false;
    sinew_text_skip_line(text);
    return tetgen_read_cells(reader, text, SINEW_BUILDER_EDGE, count);
}

/* ---- Reading of all TetGen files of a mesh ------------------------------------------------------- */

typedef bool tetgen_read_lines(tetgen_reader *reader, sinew_text *text);

static bool read_from_memory(tetgen_reader *reader, const char *name, const char *bytes, size_t size,
                             tetgen_read_lines *read)
{
    sinew_text text;
    if (!sinew_text_open(&text, name, bytes, size, reader->builder->error))
        return false;
    text.comment = '#';
    bool good = read(reader, &text);
    sinew_text_close(&text);
    return good;
}

static bool fail_missing(const sinew_source *source, const char *path, const sinew_error *trouble, sinew_error *error)
{
    if (trouble->status == SINEW_ERROR_FILE)
        sinew_fail(error, SINEW_ERROR_FILE, "%s: needs %s beside it: %s", source->name, path, trouble->text);
    else
        sinew_fail(error, trouble->status, "%s", trouble->text);
    return false;
}

/* Reads the given TetGen file or its sibling with another ending; a missing optional file is not an error. */
static bool tetgen_read_file(tetgen_reader *reader, const sinew_source *source, const char *ending, bool optional,
                             tetgen_read_lines *read)
{
    char path[1024];
    if (!sinew_path_with_ending(source->name, ending, path, sizeof path)) {
        sinew_fail(reader->builder->error, SINEW_ERROR_FILE, "%.60s...: the path is too long", source->name);
        return false;
    }
    if (strlen(path) == strlen(source->name) && strcasecmp(path, source->name) == 0)
        return read_from_memory(reader, source->name, source->bytes, source->size, read);
    sinew_error trouble = {SINEW_ERROR_FILE, "there are no other files"};
    size_t size = 0;
    char *bytes = NULL;
    if (source->open)
        bytes = source->open(source->context, path, false, &reader->builder->allocator, &size, &trouble);
    if (!bytes)
        return (optional && trouble.status == SINEW_ERROR_FILE) ||
               fail_missing(source, path, &trouble, reader->builder->error);
    bool good = read_from_memory(reader, path, bytes, size, read);
    sinew_release(&reader->builder->allocator, bytes);
    return good;
}

static bool read_tetgen(const sinew_source *source, sinew_builder *builder)
{
    tetgen_reader reader = {.builder = builder};
    return tetgen_read_file(&reader, source, ".node", false, tetgen_read_nodes) &&
           tetgen_read_file(&reader, source, ".ele", false, read_tets) &&
           tetgen_read_file(&reader, source, ".face", true, tetgen_read_faces) &&
           tetgen_read_file(&reader, source, ".edge", true, read_edges);
}

/* ---- Writing of TetGen files --------------------------------------------------------------------- */

static void print_nodes(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    const sinew_real *q = sinew_mesh_positions(mesh);
    int32_t count = sinew_mesh_vertex_count(mesh);
    fprintf(stream, "%d 3 0 0\n", count);
    for (int32_t i = 0; i < count; i++, q += 3)
        fprintf(stream, "%d " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT "\n", i, q[0], q[1], q[2]);
}

static void tetgen_print_cells(FILE *stream, int64_t count, int corners, const int32_t *indices)
{
    for (int64_t i = 0; i < count; i++) {
        fprintf(stream, "%lld", (long long)i);
        for (int k = 0; k < corners; k++)
            fprintf(stream, " %d", indices[i * corners + k]);
        fputc('\n', stream);
    }
}

static void print_tets(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    fprintf(stream, "%d 4 0\n", sinew_mesh_tet_count(mesh));
    tetgen_print_cells(stream, sinew_mesh_tet_count(mesh), 4, sinew_mesh_tets(mesh));
}

static void print_faces(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    fprintf(stream, "%d 0\n", sinew_mesh_triangle_count(mesh));
    tetgen_print_cells(stream, sinew_mesh_triangle_count(mesh), 3, sinew_mesh_triangles(mesh));
}

static void print_edges(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    fprintf(stream, "%d 0\n", sinew_mesh_edge_count(mesh));
    tetgen_print_cells(stream, sinew_mesh_edge_count(mesh), 2, sinew_mesh_edges(mesh));
}

/* The TetGen format. All four files are always written: a stale .face file would be read with a new .ele file. */
const sinew_mesh_kind sinew_mesh_kind_tetgen = {
    .endings = {".node", ".ele", ".face", ".edge"},
    .read = read_tetgen,
    .print = {print_nodes, print_tets, print_faces, print_edges},
    .several_files = true,
};
