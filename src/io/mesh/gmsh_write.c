/* SPDX-License-Identifier: MIT
 *
 * gmsh_write.c: writes Gmsh .msh files, versions 2.2 and 4.1, ASCII and binary in this machine's byte order.
 *
 * Numbers start at 1 and have no gaps. All vertices belong to one entity, and each kind of cell belongs to one
 * entity of its dimension. The optional section $Entities is omitted; gmsh then creates discrete entities.
 */
#include "io/mesh/file_formats.h"

#include <string.h>

/* One of the three kinds of cells (edges, triangles, tets) with its Gmsh type. */
typedef struct cell_kind {
    int corners;
    int type;
    int64_t count;
    const int32_t *indices;
} cell_kind;

enum {
    KINDS = 3
};

static void gmsh_write_list_kinds(const sinew_mesh *mesh, cell_kind kinds[KINDS])
{
    kinds[0] = (cell_kind){2, 1, sinew_mesh_edge_count(mesh), sinew_mesh_edges(mesh)};
    kinds[1] = (cell_kind){3, 2, sinew_mesh_triangle_count(mesh), sinew_mesh_triangles(mesh)};
    kinds[2] = (cell_kind){4, 4, sinew_mesh_tet_count(mesh), sinew_mesh_tets(mesh)};
}

static int64_t gmsh_write_cell_total(const cell_kind kinds[KINDS])
{
    return kinds[0].count + kinds[1].count + kinds[2].count;
}

static void put_int(FILE *stream, int32_t value)
{
    fwrite(&value, sizeof value, 1, stream);
}

static void put_size(FILE *stream, uint64_t value)
{
    fwrite(&value, sizeof value, 1, stream);
}

static void put_point(FILE *stream, const sinew_real *point)
{
    double xyz[3] = {point[0], point[1], point[2]};
    fwrite(xyz, sizeof xyz, 1, stream);
}

static void print_point(FILE *stream, const sinew_real *point)
{
    fprintf(stream, SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT "\n", point[0], point[1], point[2]);
}

static void gmsh_write_print_header(FILE *stream, const char *version, bool binary)
{
    fprintf(stream, "$MeshFormat\n%s %d 8\n", version, binary);
    if (binary) {
        put_int(stream, 1);
        fputc('\n', stream);
    }
    fputs("$EndMeshFormat\n", stream);
}

static void print_nodes_2(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    const sinew_real *q = sinew_mesh_positions(mesh);
    int32_t count = sinew_mesh_vertex_count(mesh);
    fprintf(stream, "$Nodes\n%d\n", count);
    for (int32_t i = 0; i < count; i++) {
        if (binary) {
            put_int(stream, i + 1);
            put_point(stream, q + 3 * (size_t)i);
        } else {
            fprintf(stream, "%d ", i + 1);
            print_point(stream, q + 3 * (size_t)i);
        }
    }
    fputs(binary ? "\n$EndNodes\n" : "$EndNodes\n", stream);
}

/* Writes one cell of version 2 with two tags, as gmsh does: the physical group (0: none) and the entity. */
static void print_cell_2(const cell_kind *kind, FILE *stream, bool binary, int64_t number, const int32_t *cell)
{
    if (binary) {
        int32_t words[7] = {(int32_t)number, 0, 1};
        for (int k = 0; k < kind->corners; k++)
            words[3 + k] = cell[k] + 1;
        fwrite(words, sizeof words[0], 3 + (size_t)kind->corners, stream);
        return;
    }
    fprintf(stream, "%lld %d 2 0 1", (long long)number, kind->type);
    for (int k = 0; k < kind->corners; k++)
        fprintf(stream, " %d", cell[k] + 1);
    fputc('\n', stream);
}

static void print_elements_2(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    cell_kind kinds[KINDS];
    gmsh_write_list_kinds(mesh, kinds);
    fprintf(stream, "$Elements\n%lld\n", (long long)gmsh_write_cell_total(kinds));
    int64_t number = 0;
    for (int i = 0; i < KINDS; i++) {
        if (binary && kinds[i].count > 0) {
            put_int(stream, kinds[i].type);
            put_int(stream, (int32_t)kinds[i].count);
            put_int(stream, 2);
        }
        for (int64_t j = 0; j < kinds[i].count; j++)
            print_cell_2(&kinds[i], stream, binary, ++number, kinds[i].indices + j * kinds[i].corners);
    }
    fputs(binary ? "\n$EndElements\n" : "$EndElements\n", stream);
}

/* Writes the header of a version 4 section: numbers of blocks and items, lowest and highest tag. */
static void print_section_header_4(FILE *stream, bool binary, const char *name, int64_t blocks, int64_t count)
{
    fprintf(stream, "$%s\n", name);
    if (binary) {
        uint64_t words[4] = {(uint64_t)blocks, (uint64_t)count, count > 0, (uint64_t)count};
        fwrite(words, sizeof words, 1, stream);
    } else {
        fprintf(stream, "%lld %lld %d %lld\n", (long long)blocks, (long long)count, count > 0, (long long)count);
    }
}

/* Writes the header of a version 4 block of nodes or elements. `kind`: parametric flag of nodes, or element type */
static void print_block_header_4(FILE *stream, bool binary, int dimension, int kind, int64_t count)
{
    if (binary) {
        put_int(stream, dimension);
        put_int(stream, 1);
        put_int(stream, kind);
        put_size(stream, (uint64_t)count);
    } else {
        fprintf(stream, "%d 1 %d %lld\n", dimension, kind, (long long)count);
    }
}

/* Writes the node blocks of version 4. gmsh creates an entity for each node block, even an empty one, and refuses cells
 * of unknown entities. So each kind of cell of the mesh has a node block; the last block holds all vertices. */
static void print_node_blocks_4(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    cell_kind kinds[KINDS];
    gmsh_write_list_kinds(mesh, kinds);
    int last = 0, blocks = 0;
    for (int i = 0; i < KINDS; i++) {
        last = kinds[i].count > 0 ? i : last;
        blocks += kinds[i].count > 0;
    }
    print_section_header_4(stream, binary, "Nodes", blocks > 0 ? blocks : 1, sinew_mesh_vertex_count(mesh));
    for (int i = 0; i < last; i++)
        if (kinds[i].count > 0)
            print_block_header_4(stream, binary, i + 1, 0, 0);
    print_block_header_4(stream, binary, last + 1, 0, sinew_mesh_vertex_count(mesh));
}

static void print_nodes_4(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    const sinew_real *q = sinew_mesh_positions(mesh);
    int32_t count = sinew_mesh_vertex_count(mesh);
    print_node_blocks_4(mesh, stream, binary);
    for (int32_t i = 0; i < count; i++) {
        if (binary)
            put_size(stream, (uint64_t)i + 1);
        else
            fprintf(stream, "%d\n", i + 1);
    }
    for (int32_t i = 0; i < count; i++) {
        if (binary)
            put_point(stream, q + 3 * (size_t)i);
        else
            print_point(stream, q + 3 * (size_t)i);
    }
    fputs(binary ? "\n$EndNodes\n" : "$EndNodes\n", stream);
}

static void print_cell_4(const cell_kind *kind, FILE *stream, bool binary, int64_t number, const int32_t *cell)
{
    if (binary) {
        uint64_t words[5] = {(uint64_t)number};
        for (int k = 0; k < kind->corners; k++)
            words[1 + k] = (uint64_t)cell[k] + 1;
        fwrite(words, sizeof words[0], 1 + (size_t)kind->corners, stream);
        return;
    }
    fprintf(stream, "%lld", (long long)number);
    for (int k = 0; k < kind->corners; k++)
        fprintf(stream, " %d", cell[k] + 1);
    fputc('\n', stream);
}

static void print_elements_4(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    cell_kind kinds[KINDS];
    gmsh_write_list_kinds(mesh, kinds);
    int blocks = 0;
    for (int i = 0; i < KINDS; i++)
        blocks += kinds[i].count > 0;
    print_section_header_4(stream, binary, "Elements", blocks, gmsh_write_cell_total(kinds));
    int64_t number = 0;
    for (int i = 0; i < KINDS; i++) {
        if (kinds[i].count > 0)
            print_block_header_4(stream, binary, i + 1, kinds[i].type, kinds[i].count);
        for (int64_t j = 0; j < kinds[i].count; j++)
            print_cell_4(&kinds[i], stream, binary, ++number, kinds[i].indices + j * kinds[i].corners);
    }
    fputs(binary ? "\n$EndElements\n" : "$EndElements\n", stream);
}

/* Writes the filled fraction of every tet as $ElementData; the section is equal in versions 2 and 4. */
static void gmsh_write_print_fractions(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    const int64_t first = (int64_t)sinew_mesh_edge_count(mesh) + sinew_mesh_triangle_count(mesh) + 1;
    fprintf(stream, "$ElementData\n1\n\"" SINEW_FRACTION_NAME "\"\n1\n0\n3\n0\n1\n%d\n", sinew_mesh_tet_count(mesh));
    for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        const double fraction = (double)sinew_mesh_fractions(mesh)[t];
        if (binary) {
            put_int(stream, (int32_t)(first + t));
            fwrite(&fraction, sizeof fraction, 1, stream);
        } else {
            fprintf(stream, "%lld " SINEW_REAL_FORMAT "\n", (long long)(first + t), (sinew_real)fraction);
        }
    }
    fputs(binary ? "\n$EndElementData\n" : "$EndElementData\n", stream);
}

void sinew_gmsh_print(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    bool binary = format == SINEW_MESH_GMSH_2_BINARY || format == SINEW_MESH_GMSH_4_BINARY;
    if (format == SINEW_MESH_GMSH_2_ASCII || format == SINEW_MESH_GMSH_2_BINARY) {
        gmsh_write_print_header(stream, "2.2", binary);
        print_nodes_2(mesh, stream, binary);
        print_elements_2(mesh, stream, binary);
    } else {
        gmsh_write_print_header(stream, "4.1", binary);
        print_nodes_4(mesh, stream, binary);
        print_elements_4(mesh, stream, binary);
    }
    if (sinew_mesh_fractions(mesh))
        gmsh_write_print_fractions(mesh, stream, binary);
}
