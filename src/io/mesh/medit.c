/* SPDX-License-Identifier: MIT
 *
 * medit.c: reads and writes Medit .mesh files in ASCII.
 *
 * Source: P. Frey, "MEDIT: an interactive mesh visualization software", INRIA RT-0253 (2001), and the keyword list of
 * libmeshb. MeshVersionFormatted comes first, other keywords in any order; comments start with #. Vertices, Edges,
 * Triangles, Quadrilaterals (cut in two) and Tetrahedra are read; other known cells are counted and named in the
 * warnings; everything else (corners, ridges, normals, references) is skipped. Known limits: dimension 3 only; .meshb
 * is not read.
 */
#include "io/mesh/file_formats.h"

#include "io/text.h"

typedef struct medit_reader {
    sinew_text text;
    sinew_builder *builder;
} medit_reader;

typedef struct medit_section {
    const char *keyword;
    /* number of vertex indices per line of a section, before one reference; 0: the section is not read */
    int corners;
    const char *plural; /* plural name of a section's ignored cells in the warnings */
} medit_section;

static const medit_section sections[] = {
    {"Edges", 2, NULL},
    {"Triangles", 3, NULL},
    {"Quadrilaterals", 4, NULL},
    {"Tetrahedra", 4, NULL},
    {"Hexahedra", 0, "hexahedra"},
    {"Prisms", 0, "prisms"},
    {"Pentahedra", 0, "prisms"},
    {"Pyramids", 0, "pyramids"},
    {"EdgesP2", 0, "second-order lines"},
    {"TrianglesP2", 0, "second-order triangles"},
    {"TetrahedraP2", 0, "second-order tetrahedra"},
};
enum {
    SECTION_COUNT = sizeof sections / sizeof sections[0],
    TETRAHEDRA = 3
};

static bool is_keyword(sinew_token token)
{
    char c = token.length ? token.at[0] : '0';
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static bool read_version_and_dimension(medit_reader *reader, sinew_token token)
{
    int64_t value;
    if (sinew_token_is_any_case(token, "MeshVersionFormatted"))
        return sinew_text_integer(&reader->text, 1, 4, "the version of the format", &value);
    if (!sinew_token_is_any_case(token, "Dimension"))
        return true;
    if (!sinew_text_integer(&reader->text, 1, 3, "the dimension", &value))
        return false;
    return value == 3 ||
           sinew_text_fail(&reader->text, token.at, "the mesh has dimension %lld, only 3 is read", (long long)value);
}

static bool medit_read_vertices(medit_reader *reader)
{
    int64_t count;
    if (!sinew_text_count(&reader->text, 7, "vertices", &count) ||
        !sinew_builder_reserve_vertices(reader->builder, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        sinew_real point[3];
        double reference;
        if (!sinew_text_point(&reader->text, point) || !sinew_text_real(&reader->text, "a reference", &reference))
            return false;
        sinew_builder_add_vertex(reader->builder, point);
    }
    return true;
}

/* First pass over a Medit file: reads the vertices, wherever they are in the file, because cells refer to them. */
static bool medit_find_vertices(medit_reader *reader)
{
    sinew_token token;
    if (!sinew_text_next(&reader->text, &token) || !sinew_token_is_any_case(token, "MeshVersionFormatted"))
        return sinew_text_fail(&reader->text, token.at, "expected MeshVersionFormatted: is this a Medit ASCII file?");
    do {
        if (!read_version_and_dimension(reader, token))
            return false;
        if (sinew_token_is_any_case(token, "Vertices"))
            return medit_read_vertices(reader);
    } while (sinew_text_next(&reader->text, &token) && !sinew_token_is_any_case(token, "End"));
    return sinew_text_fail(&reader->text, reader->text.at, "the file ends without Vertices");
}

static bool medit_read_cells(medit_reader *reader, const medit_section *section, int64_t count)
{
    if (section == &sections[TETRAHEDRA] && !sinew_builder_reserve_cells(reader->builder, SINEW_BUILDER_TET, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        int32_t corners[4];
        int64_t value, reference;
        for (int k = 0; k < section->corners; k++) {
            if (!sinew_text_integer(&reader->text, 1, reader->builder->vertex_count, "a vertex index", &value))
                return false;
            corners[k] = (int32_t)(value - 1);
        }
        if (!sinew_text_integer(&reader->text, INT64_MIN, INT64_MAX, "a reference", &reference))
            return false;
        bool good = section == &sections[TETRAHEDRA]
                        ? sinew_builder_add_cell(reader->builder, SINEW_BUILDER_TET, corners)
                        : sinew_builder_add_polygon(reader->builder, corners, section->corners);
        if (!good)
            return false;
    }
    return true;
}

static bool medit_read_section(medit_reader *reader, sinew_token token)
{
    for (int i = 0; i < SECTION_COUNT; i++) {
        if (!sinew_token_is_any_case(token, sections[i].keyword))
            continue;
        int64_t count;
        if (!sinew_text_count(&reader->text, 2 * (size_t)sections[i].corners + 1, sections[i].keyword, &count))
            return false;
        if (sections[i].corners)
            return medit_read_cells(reader, &sections[i], count);
        sinew_builder_ignore(reader->builder, sections[i].plural, count);
    }
    return true;
}

static bool medit_read_file(medit_reader *reader)
{
    if (!medit_find_vertices(reader))
        return false;
    /* The second pass reads the cells and skips the numbers of ignored sections. */
    const char *first = reader->text.begin;
    reader->text.at = first;
    sinew_token token;
    while (sinew_text_next(&reader->text, &token)) {
        if (sinew_token_is_any_case(token, "End"))
            return true;
        if (is_keyword(token) && !medit_read_section(reader, token))
            return false;
    }
    return sinew_text_fail(&reader->text, reader->text.at, "the file ends without End: it may be cut short");
}

static bool read_medit(const sinew_source *source, sinew_builder *builder)
{
    medit_reader reader = {.builder = builder};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, builder->error))
        return false;
    reader.text.comment = '#';
    bool good = medit_read_file(&reader);
    sinew_text_close(&reader.text);
    return good;
}

/* ---- Writing of Medit files ---------------------------------------------------------------------- */

static void medit_print_cells(FILE *stream, const char *keyword, int64_t count, int corners, const int32_t *indices)
{
    if (count == 0)
        return;
    fprintf(stream, "%s\n%lld\n", keyword, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < corners; k++)
            fprintf(stream, "%d ", indices[i * corners + k] + 1);
        fputs("0\n", stream);
    }
}

static void print_medit(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    const sinew_real *q = sinew_mesh_positions(mesh);
    int32_t count = sinew_mesh_vertex_count(mesh);
    /* Version 2 of the Medit format has double precision. */
    fprintf(stream, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", count);
    for (int32_t i = 0; i < count; i++, q += 3)
        fprintf(stream, SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " 0\n", q[0], q[1], q[2]);
    medit_print_cells(stream, "Edges", sinew_mesh_edge_count(mesh), 2, sinew_mesh_edges(mesh));
    medit_print_cells(stream, "Triangles", sinew_mesh_triangle_count(mesh), 3, sinew_mesh_triangles(mesh));
    medit_print_cells(stream, "Tetrahedra", sinew_mesh_tet_count(mesh), 4, sinew_mesh_tets(mesh));
    fputs("End\n", stream);
}

const sinew_mesh_kind sinew_mesh_kind_medit = {
    .endings = {".mesh"},
    .read = read_medit,
    .print = {print_medit},
};
