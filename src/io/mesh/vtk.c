/* SPDX-License-Identifier: MIT
 *
 * vtk.c: reads and writes VTK legacy files, ASCII and binary, versions 1 to 5.1: UNSTRUCTURED_GRID and POLYDATA.
 *
 * Source: "VTK file formats" (the VTK user's guide) and, for version 5, vtkDataWriter. Binary numbers are big-endian.
 * Reading stops at the first CELL_DATA or POINT_DATA; FIELD and METADATA before it are skipped. Known limits: other
 * datasets, and fields of strings before the points, are refused; `long` has 8 bytes.
 */
#include "io/mesh/file_formats.h"

#include <math.h>
#include <string.h>

#include "io/mesh/scalars.h"
#include "io/mesh/vtk_cells.h"
#include "io/text.h"

typedef struct vtk_reader {
    sinew_text text;
    sinew_builder *builder;
    sinew_vtk_cells cells; /* cells read from the section CELLS, kept until CELL_TYPES gives their types */
    bool binary;
    bool swap;
    bool version_5;
    bool polydata;
    bool has_points;
    bool has_cells;
    bool has_types;
} vtk_reader;

/* ---- Single numbers and counts of a VTK file ----------------------------------------------------- */

static sinew_scalar vtk_type_named(sinew_token token)
{
    static const struct {
        const char *name;
        sinew_scalar type;
    } names[] = {
        {"char", SINEW_SCALAR_INT8},
        {"signed_char", SINEW_SCALAR_INT8},
        {"unsigned_char", SINEW_SCALAR_UINT8},
        {"short", SINEW_SCALAR_INT16},
        {"unsigned_short", SINEW_SCALAR_UINT16},
        {"int", SINEW_SCALAR_INT32},
        {"unsigned_int", SINEW_SCALAR_UINT32},
        {"vtkidtype", SINEW_SCALAR_INT32},
        {"long", SINEW_SCALAR_INT64},
        {"unsigned_long", SINEW_SCALAR_UINT64},
        {"vtktypeint64", SINEW_SCALAR_INT64},
        {"vtktypeuint64", SINEW_SCALAR_UINT64},
        {"float", SINEW_SCALAR_FLOAT},
        {"double", SINEW_SCALAR_DOUBLE},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (sinew_token_is_any_case(token, names[i].name))
            return names[i].type;
    return SINEW_SCALAR_NONE;
}

static bool vtk_read_type(vtk_reader *reader, sinew_scalar *type)
{
    sinew_token token;
    sinew_text_next_on_line(&reader->text, &token);
    *type = vtk_type_named(token);
    return *type != SINEW_SCALAR_NONE ||
           sinew_text_fail(&reader->text, token.at, "an array has an unknown type, or none");
}

static bool vtk_take_integer(vtk_reader *reader, sinew_scalar type, int64_t low, int64_t high, const char *what,
                             int64_t *value)
{
    if (!reader->binary)
        return sinew_text_integer(&reader->text, low, high, what, value);
    const char *at = reader->text.at;
    const unsigned char *bytes;
    if (!sinew_text_block(&reader->text, 1, sinew_scalar_size(type), what, &bytes))
        return false;
    *value = sinew_scalar_integer(type, bytes, reader->swap);
    return (*value >= low && *value <= high) ||
           sinew_text_fail(&reader->text, at, "%s must lie between %lld and %lld, found %lld", what, (long long)low,
                           (long long)high, (long long)*value);
}

/* Reads a count of items with `words` numbers of `type` each; fails if the rest of the file is too short. */
static bool read_count(vtk_reader *reader, size_t words, sinew_scalar type, const char *what, int64_t *count)
{
    return sinew_text_count(&reader->text, words * (reader->binary ? sinew_scalar_size(type) : 2), what, count);
}

/* ---- The section POINTS of a VTK file ------------------------------------------------------------ */

static bool vtk_take_point(vtk_reader *reader, sinew_scalar type, sinew_real point[3])
{
    if (!reader->binary)
        return sinew_text_point(&reader->text, point);
    const char *at = reader->text.at;
    const unsigned char *bytes;
    size_t size = sinew_scalar_size(type);
    if (!sinew_text_block(&reader->text, 3, size, "coordinates", &bytes))
        return false;
    for (int axis = 0; axis < 3; axis++) {
        point[axis] = (sinew_real)sinew_scalar_real(type, bytes + size * (size_t)axis, reader->swap);
        if (!isfinite(point[axis]))
            return sinew_text_fail(&reader->text, at, "a coordinate is not a finite number");
    }
    return true;
}

static bool read_points(vtk_reader *reader)
{
    int64_t count;
    sinew_scalar type;
    const char *at = reader->text.at;
    if (reader->has_points)
        return sinew_text_fail(&reader->text, at, "POINTS appears twice");
    /* The number type follows the count of points, so the count is first checked for the smallest type. */
    if (!read_count(reader, 3, SINEW_SCALAR_INT8, "points", &count) || !vtk_read_type(reader, &type))
        return false;
    sinew_text_skip_line(&reader->text);
    size_t size = reader->binary ? 3 * sinew_scalar_size(type) : 5;
    if (!sinew_text_check_count(&reader->text, at, count, size, "points") ||
        !sinew_builder_reserve_vertices(reader->builder, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        sinew_real point[3];
        if (!vtk_take_point(reader, type, point))
            return false;
        sinew_builder_add_vertex(reader->builder, point);
    }
    reader->has_points = true;
    return true;
}

/* ---- Cells and cell types of a VTK file ---------------------------------------------------------- */

static bool vtk_take_corners(vtk_reader *reader, sinew_scalar type, int64_t count, int32_t *corners)
{
    for (int64_t k = 0; k < count; k++) {
        int64_t index;
        if (!vtk_take_integer(reader, type, 0, reader->builder->vertex_count - 1, "a point index", &index))
            return false;
        corners[k] = (int32_t)index;
    }
    return true;
}

/* Reads cells of versions before 5: number of cells, number of integers; then size and corners of each cell. */
static bool read_cells_old(vtk_reader *reader, sinew_vtk_cells *cells)
{
    int64_t count, total, size;
    const char *at = reader->text.at;
    if (!read_count(reader, 1, SINEW_SCALAR_INT32, "cells", &count) ||
        !read_count(reader, 1, SINEW_SCALAR_INT32, "numbers", &total))
        return false;
    if (total < count)
        return sinew_text_fail(&reader->text, at, "%lld cells cannot be told by %lld numbers", (long long)count,
                               (long long)total);
    sinew_text_skip_line(&reader->text);
    if (!sinew_vtk_cells_allocate(cells, count, total - count, reader->builder))
        return false;
    int64_t used = 0;
    for (int64_t i = 0; i < count; i++) {
        cells->starts[i] = used;
        if (!vtk_take_integer(reader, SINEW_SCALAR_INT32, 0, cells->corner_count - used, "the size of a cell", &size) ||
            !vtk_take_corners(reader, SINEW_SCALAR_INT32, size, cells->corners + used))
            return false;
        used += size;
    }
    cells->starts[count] = used;
    return used == cells->corner_count ||
           sinew_text_fail(&reader->text, at, "the cells hold %lld numbers, but %lld are promised",
                           (long long)used + count, (long long)total);
}

/* Reads a line with the keyword and the number type of the VTK array that follows. */
static bool read_array_header(vtk_reader *reader, const char *word, sinew_scalar *type)
{
    if (!sinew_text_expect(&reader->text, word) || !vtk_read_type(reader, type))
        return false;
    sinew_text_skip_line(&reader->text);
    return sinew_scalar_is_integer(*type) ||
           sinew_text_fail(&reader->text, reader->text.at, "%s must be of a whole type", word);
}

/* Reads cells of version 5: offsets (one per cell, and the end), then the connectivity (vertex indices). */
static bool read_cells_5(vtk_reader *reader, sinew_vtk_cells *cells)
{
    int64_t starts, corner_count;
    sinew_scalar type;
    const char *at = reader->text.at;
    if (!read_count(reader, 1, SINEW_SCALAR_INT8, "offsets", &starts) ||
        !read_count(reader, 1, SINEW_SCALAR_INT8, "corners", &corner_count))
        return false;
    sinew_text_skip_line(&reader->text);
    if (!sinew_vtk_cells_allocate(cells, starts > 0 ? starts - 1 : 0, corner_count, reader->builder) ||
        !read_array_header(reader, "OFFSETS", &type))
        return false;
    cells->starts[0] = 0;
    for (int64_t i = 0; i < starts; i++)
        if (!vtk_take_integer(reader, type, 0, corner_count, "an offset", &cells->starts[i]))
            return false;
    if (sinew_vtk_cells_broken(cells) >= 0)
        return sinew_text_fail(&reader->text, at, "the offsets of cell %lld do not ascend",
                               (long long)sinew_vtk_cells_broken(cells));
    return read_array_header(reader, "CONNECTIVITY", &type) &&
           vtk_take_corners(reader, type, corner_count, cells->corners);
}

static bool vtk_read_cells(vtk_reader *reader, sinew_vtk_cells *cells)
{
    if (!reader->has_points)
        return sinew_text_fail(&reader->text, reader->text.at, "cells stand before POINTS");
    return reader->version_5 ? read_cells_5(reader, cells) : read_cells_old(reader, cells);
}

static bool vtk_add_cell(vtk_reader *reader, const sinew_vtk_cells *cells, int64_t i, int64_t type, const char *at)
{
    int64_t size = cells->starts[i + 1] - cells->starts[i];
    sinew_vtk_add_result added = sinew_vtk_add_cell(reader->builder, type, cells->corners + cells->starts[i], size);
    if (added == SINEW_VTK_WRONG_SIZE)
        return sinew_text_fail(&reader->text, at, "cell %lld of type %lld cannot have %lld corners", (long long)i,
                               (long long)type, (long long)size);
    return added == SINEW_VTK_ADDED;
}

/* Reads one section of POLYDATA, whose cells all have the VTK cell type `type`. */
static bool read_poly_cells(vtk_reader *reader, int64_t type)
{
    sinew_vtk_cells cells = {0};
    const char *at = reader->text.at;
    bool good = vtk_read_cells(reader, &cells);
    for (int64_t i = 0; good && i < cells.count; i++)
        good = vtk_add_cell(reader, &cells, i, type, at);
    sinew_vtk_cells_release(&cells, reader->builder);
    return good;
}

static bool read_grid_cells(vtk_reader *reader)
{
    if (reader->has_cells)
        return sinew_text_fail(&reader->text, reader->text.at, "CELLS appears twice");
    reader->has_cells = true;
    return vtk_read_cells(reader, &reader->cells);
}

static bool read_cell_types(vtk_reader *reader)
{
    int64_t count, type;
    const char *at = reader->text.at;
    if (!reader->has_cells || reader->has_types)
        return sinew_text_fail(&reader->text, at, "CELL_TYPES must come once, after CELLS");
    if (!read_count(reader, 1, SINEW_SCALAR_INT32, "cell types", &count))
        return false;
    if (count != reader->cells.count)
        return sinew_text_fail(&reader->text, at, "%lld cell types for %lld cells", (long long)count,
                               (long long)reader->cells.count);
    sinew_text_skip_line(&reader->text);
    for (int64_t i = 0; i < count; i++)
        if (!vtk_take_integer(reader, SINEW_SCALAR_INT32, 0, INT32_MAX, "a cell type", &type) ||
            !vtk_add_cell(reader, &reader->cells, i, type, at))
            return false;
    reader->has_types = true;
    return true;
}

/* ---- Skipped sections of a VTK file -------------------------------------------------------------- */

static bool skip_array(vtk_reader *reader)
{
    sinew_token name;
    sinew_scalar type;
    int64_t components, tuples;
    const unsigned char *block;
    const char *at = reader->text.at;
    if (!sinew_text_next(&reader->text, &name) ||
        !sinew_text_integer(&reader->text, 0, INT32_MAX, "the number of components", &components) ||
        !sinew_text_integer(&reader->text, 0, INT32_MAX, "the number of tuples", &tuples) ||
        !vtk_read_type(reader, &type))
        return sinew_text_fail(&reader->text, at,
                               "expected 'NAME COMPONENTS TUPLES TYPE' of a field of numbers; "
                               "save the file without field data");
    sinew_text_skip_line(&reader->text);
    if (reader->binary)
        return sinew_text_block(&reader->text, components * tuples, sinew_scalar_size(type), "field values", &block);
    for (int64_t i = 0; i < components * tuples; i++)
        if (!sinew_text_next(&reader->text, &name))
            return sinew_text_fail(&reader->text, reader->text.end, "the file ends inside a field");
    return true;
}

/* Skips the metadata lines up to an empty line, after POINTS or after an array of a field. */
static void skip_metadata(vtk_reader *reader)
{
    sinew_token token;
    do
        sinew_text_skip_line(&reader->text);
    while (sinew_text_next_on_line(&reader->text, &token));
}

static bool skip_field(vtk_reader *reader)
{
    sinew_token word;
    int64_t count;
    if (!sinew_text_next(&reader->text, &word))
        return sinew_text_fail(&reader->text, reader->text.end, "the file ends inside FIELD");
    if (!sinew_text_count(&reader->text, 8, "arrays", &count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (!skip_array(reader))
            return false;
        const char *start = reader->text.at;
        if (sinew_text_next(&reader->text, &word) && sinew_token_is(word, "METADATA"))
            skip_metadata(reader);
        else
            reader->text.at = start;
    }
    return true;
}

/* ---- Header and dataset of a VTK file ------------------------------------------------------------ */

static bool vtk_read_section(vtk_reader *reader, sinew_token word)
{
    static const struct {
        const char *name;
        int64_t type;
    } poly[] = {{"VERTICES", SINEW_VTK_VERTEX},
                {"LINES", SINEW_VTK_POLY_LINE},
                {"POLYGONS", SINEW_VTK_POLYGON},
                {"TRIANGLE_STRIPS", SINEW_VTK_STRIP}};
    if (sinew_token_is_any_case(word, "POINTS"))
        return read_points(reader);
    if (sinew_token_is_any_case(word, "FIELD"))
        return skip_field(reader);
    if (sinew_token_is_any_case(word, "METADATA")) {
        skip_metadata(reader);
        return true;
    }
    if (!reader->polydata && sinew_token_is_any_case(word, "CELLS"))
        return read_grid_cells(reader);
    if (!reader->polydata && sinew_token_is_any_case(word, "CELL_TYPES"))
        return read_cell_types(reader);
    for (size_t i = 0; reader->polydata && i < sizeof poly / sizeof poly[0]; i++)
        if (sinew_token_is_any_case(word, poly[i].name))
            return read_poly_cells(reader, poly[i].type);
    return sinew_text_fail(&reader->text, word.at, "expected POINTS, %s",
                           reader->polydata ? "LINES, POLYGONS or TRIANGLE_STRIPS" : "CELLS or CELL_TYPES");
}

static bool vtk_read_header(vtk_reader *reader)
{
    sinew_text *text = &reader->text;
    sinew_token word;
    double version;
    const char *start = text->at;
    if (!sinew_text_expect(text, "#") || !sinew_text_expect(text, "vtk") || !sinew_text_expect(text, "DataFile") ||
        !sinew_text_expect(text, "Version") || !sinew_text_real(text, "the version of the format", &version))
        return false;
    if (!(version >= 1 && version < 6))
        return sinew_text_fail(text, start, "version %g of the format is not read, only 1 to 5.1", version);
    reader->version_5 = version >= 5;
    sinew_text_skip_line(text);
    sinew_text_skip_line(text); /* skips the VTK file's title, its second line */
    if (!sinew_text_next(text, &word))
        return sinew_text_fail(text, text->end, "the file ends without ASCII or BINARY");
    reader->binary = sinew_token_is_any_case(word, "BINARY");
    if (!reader->binary && !sinew_token_is_any_case(word, "ASCII"))
        return sinew_text_fail(text, word.at, "expected ASCII or BINARY");
    reader->swap = !sinew_host_is_big_endian();
    return true;
}

static bool read_dataset(vtk_reader *reader)
{
    sinew_text *text = &reader->text;
    sinew_token word;
    sinew_text_next(text, &word);
    /* Old VTK files may have fields before the dataset. */
    if (sinew_token_is_any_case(word, "FIELD")) {
        if (!skip_field(reader))
            return false;
        sinew_text_next(text, &word);
    }
    if (!sinew_token_is_any_case(word, "DATASET") || !sinew_text_next(text, &word))
        return sinew_text_fail(text, word.at, "expected DATASET");
    reader->polydata = sinew_token_is_any_case(word, "POLYDATA");
    if (!reader->polydata && !sinew_token_is_any_case(word, "UNSTRUCTURED_GRID"))
        return sinew_text_fail(text, word.at, "only UNSTRUCTURED_GRID and POLYDATA are read");
    reader->text.binary = reader->binary;
    return true;
}

static bool vtk_read_file(vtk_reader *reader)
{
    if (!vtk_read_header(reader) || !read_dataset(reader))
        return false;
    sinew_token word;
    while (sinew_text_next(&reader->text, &word)) {
        if (sinew_token_is_any_case(word, "CELL_DATA") || sinew_token_is_any_case(word, "POINT_DATA"))
            break;
        if (!vtk_read_section(reader, word))
            return false;
    }
    if (!reader->has_points)
        return sinew_text_fail(&reader->text, reader->text.at, "the file ends without POINTS");
    if (reader->has_cells && !reader->has_types)
        return sinew_text_fail(&reader->text, reader->text.at, "the file ends without CELL_TYPES");
    return true;
}

static bool read_vtk(const sinew_source *source, sinew_builder *builder)
{
    vtk_reader reader = {.builder = builder};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, builder->error))
        return false;
    bool good = vtk_read_file(&reader);
    sinew_vtk_cells_release(&reader.cells, builder);
    sinew_text_close(&reader.text);
    return good;
}

/* ---- Writing of VTK files ------------------------------------------------------------------------ */

static void put_big_endian(FILE *stream, const void *value, size_t size)
{
    unsigned char bytes[8];
    memcpy(bytes, value, size);
    for (size_t i = 0; !sinew_host_is_big_endian() && i < size / 2; i++) {
        unsigned char low = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = low;
    }
    fwrite(bytes, 1, size, stream);
}

static void print_integer(FILE *stream, bool binary, int32_t value, char after)
{
    if (binary)
        put_big_endian(stream, &value, sizeof value);
    else
        fprintf(stream, "%d%c", value, after);
}

static void vtk_print_points(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    const sinew_real *q = sinew_mesh_positions(mesh);
    fprintf(stream, "POINTS %d %s\n", sinew_mesh_vertex_count(mesh), sizeof *q == 8 ? "double" : "float");
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++, q += 3) {
        if (!binary)
            fprintf(stream, SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT "\n", q[0], q[1], q[2]);
        for (int axis = 0; binary && axis < 3; axis++)
            put_big_endian(stream, &q[axis], sizeof q[axis]);
    }
}

static void print_vtk(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    bool binary = format == SINEW_MESH_VTK_BINARY;
    const struct {
        int64_t count;
        int corners, type;
        const int32_t *indices;
    } kinds[] = {{sinew_mesh_edge_count(mesh), 2, SINEW_VTK_LINE, sinew_mesh_edges(mesh)},
                 {sinew_mesh_triangle_count(mesh), 3, SINEW_VTK_TRIANGLE, sinew_mesh_triangles(mesh)},
                 {sinew_mesh_tet_count(mesh), 4, SINEW_VTK_TETRA, sinew_mesh_tets(mesh)}};
    int64_t count = kinds[0].count + kinds[1].count + kinds[2].count;
    int64_t total = 3 * kinds[0].count + 4 * kinds[1].count + 5 * kinds[2].count;
    fprintf(stream, "# vtk DataFile Version 3.0\nsinew\n%s\nDATASET UNSTRUCTURED_GRID\n", binary ? "BINARY" : "ASCII");
    vtk_print_points(mesh, stream, binary);
    fprintf(stream, "\nCELLS %lld %lld\n", (long long)count, (long long)total);
    for (int i = 0; i < 3; i++)
        for (int64_t j = 0; j < kinds[i].count; j++) {
            print_integer(stream, binary, kinds[i].corners, ' ');
            for (int k = 0; k < kinds[i].corners; k++)
                print_integer(stream, binary, kinds[i].indices[j * kinds[i].corners + k],
                              k + 1 < kinds[i].corners ? ' ' : '\n');
        }
    fprintf(stream, "\nCELL_TYPES %lld\n", (long long)count);
    for (int i = 0; i < 3; i++)
        for (int64_t j = 0; j < kinds[i].count; j++)
            print_integer(stream, binary, kinds[i].type, '\n');
}

const sinew_mesh_kind sinew_mesh_kind_vtk = {
    .endings = {".vtk"},
    .variants = 1u << SINEW_MESH_VTK_BINARY,
    .read = read_vtk,
    .print = {print_vtk},
};
