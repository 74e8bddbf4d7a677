/* SPDX-License-Identifier: MIT
 *
 * vtu_write.c: writes VTK XML unstructured grids, ASCII or with raw appended data in this machine's byte order.
 *
 * Cells are written as edges, triangles, then tetrahedra, each in the order of the mesh.
 */
#include "io/mesh/file_formats.h"

#include "io/mesh/scalars.h"
#include "io/mesh/vtk_cells.h"

typedef struct cell_kind {
    int64_t count;
    int corners;
    unsigned char type;
    const int32_t *indices;
} cell_kind;

enum {
    KINDS = 3
};

static void vtu_write_list_kinds(const sinew_mesh *mesh, cell_kind kinds[KINDS])
{
    kinds[0] = (cell_kind){sinew_mesh_edge_count(mesh), 2, SINEW_VTK_LINE, sinew_mesh_edges(mesh)};
    kinds[1] = (cell_kind){sinew_mesh_triangle_count(mesh), 3, SINEW_VTK_TRIANGLE, sinew_mesh_triangles(mesh)};
    kinds[2] = (cell_kind){sinew_mesh_tet_count(mesh), 4, SINEW_VTK_TETRA, sinew_mesh_tets(mesh)};
}

static int64_t vtu_write_cell_total(const sinew_mesh *mesh)
{
    return (int64_t)sinew_mesh_edge_count(mesh) + sinew_mesh_triangle_count(mesh) + sinew_mesh_tet_count(mesh);
}

/* ---- The arrays of a VTU file -------------------------------------------------------------------- */

static void vtu_write_print_points(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    const sinew_real *q = sinew_mesh_positions(mesh);
    size_t count = (size_t)sinew_mesh_vertex_count(mesh);
    if (binary) {
        fwrite(q, 3 * sizeof *q, count, stream);
        return;
    }
    for (size_t i = 0; i < count; i++, q += 3)
        fprintf(stream, SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT "\n", q[0], q[1], q[2]);
}

static void print_connectivity(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    cell_kind kinds[KINDS];
    vtu_write_list_kinds(mesh, kinds);
    for (int i = 0; i < KINDS; i++) {
        int64_t total = kinds[i].count * kinds[i].corners;
        if (binary && total > 0)
            fwrite(kinds[i].indices, sizeof *kinds[i].indices, (size_t)total, stream);
        for (int64_t j = 0; !binary && j < total; j++)
            fprintf(stream, "%d%c", kinds[i].indices[j], (j + 1) % kinds[i].corners ? ' ' : '\n');
    }
}

static void print_offsets(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    cell_kind kinds[KINDS];
    vtu_write_list_kinds(mesh, kinds);
    int64_t end = 0;
    for (int i = 0; i < KINDS; i++)
        for (int64_t j = 0; j < kinds[i].count; j++) {
            end += kinds[i].corners;
            if (binary)
                fwrite(&end, sizeof end, 1, stream);
            else
                fprintf(stream, "%lld\n", (long long)end);
        }
}

static void print_types(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    cell_kind kinds[KINDS];
    vtu_write_list_kinds(mesh, kinds);
    for (int i = 0; i < KINDS; i++)
        for (int64_t j = 0; j < kinds[i].count; j++) {
            if (binary)
                fputc(kinds[i].type, stream);
            else
                fprintf(stream, "%d\n", kinds[i].type);
        }
}

/* Writes one filled fraction per cell, as the VTU format requires: 1 for edges and triangles. */
static void vtu_write_print_fractions(const sinew_mesh *mesh, FILE *stream, bool binary)
{
    const int64_t others = (int64_t)sinew_mesh_edge_count(mesh) + sinew_mesh_triangle_count(mesh);
    for (int64_t i = 0; i < vtu_write_cell_total(mesh); i++) {
        const sinew_real fraction = i < others ? 1 : sinew_mesh_fractions(mesh)[i - others];
        if (binary)
            fwrite(&fraction, sizeof fraction, 1, stream);
        else
            fprintf(stream, SINEW_REAL_FORMAT "\n", fraction);
    }
}

static uint64_t points_size(const sinew_mesh *mesh)
{
    return 3 * sizeof(sinew_real) * (uint64_t)sinew_mesh_vertex_count(mesh);
}

static uint64_t connectivity_size(const sinew_mesh *mesh)
{
    return 8 * (uint64_t)sinew_mesh_edge_count(mesh) + 12 * (uint64_t)sinew_mesh_triangle_count(mesh) +
           16 * (uint64_t)sinew_mesh_tet_count(mesh);
}

static uint64_t offsets_size(const sinew_mesh *mesh)
{
    return 8 * (uint64_t)vtu_write_cell_total(mesh);
}

static uint64_t fractions_size(const sinew_mesh *mesh)
{
    return sizeof(sinew_real) * (uint64_t)vtu_write_cell_total(mesh);
}

static uint64_t types_size(const sinew_mesh *mesh)
{
    return (uint64_t)vtu_write_cell_total(mesh);
}

/* ---- Header, arrays and end of the VTU file ------------------------------------------------------ */

typedef struct vtu_array {
    const char *before; /* XML text before the array; `after` is the text after it */
    const char *after;
    const char *attributes;
    uint64_t (*size)(const sinew_mesh *mesh); /* size in bytes of the array in binary form */
    void (*print)(const sinew_mesh *mesh, FILE *stream, bool binary);
} vtu_array;

#ifdef SINEW_SINGLE
#define REAL_TYPE "Float32"
#else
#define REAL_TYPE "Float64"
#endif

static const vtu_array arrays[] = {
    {"<Points>\n", "</Points>\n", "type=\"" REAL_TYPE "\" Name=\"Points\" NumberOfComponents=\"3\"", points_size,
     vtu_write_print_points},
    {"<Cells>\n", "", "type=\"Int32\" Name=\"connectivity\"", connectivity_size, print_connectivity},
    {"", "", "type=\"Int64\" Name=\"offsets\"", offsets_size, print_offsets},
    {"", "</Cells>\n", "type=\"UInt8\" Name=\"types\"", types_size, print_types},
    {"<CellData>\n", "</CellData>\n", "type=\"" REAL_TYPE "\" Name=\"" SINEW_FRACTION_NAME "\"", fractions_size,
     vtu_write_print_fractions},
};

/* Number of arrays in the VTU file; the last one, the filled fractions, is optional. */
static int array_count(const sinew_mesh *mesh)
{
    return (int)(sizeof arrays / sizeof arrays[0]) - (sinew_mesh_fractions(mesh) ? 0 : 1);
}

static void vtu_write_print_header(const sinew_mesh *mesh, FILE *stream)
{
    fprintf(stream,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%lld\">\n",
            sinew_host_is_big_endian() ? "BigEndian" : "LittleEndian", sinew_mesh_vertex_count(mesh),
            (long long)vtu_write_cell_total(mesh));
}

/* Writes the appended data; each array is preceded by its size in bytes. */
static void print_appended(const sinew_mesh *mesh, FILE *stream)
{
    fputs("<AppendedData encoding=\"raw\">\n_", stream);
    for (int i = 0; i < array_count(mesh); i++) {
        uint64_t size = arrays[i].size(mesh);
        fwrite(&size, sizeof size, 1, stream);
        arrays[i].print(mesh, stream, true);
    }
    fputs("\n</AppendedData>\n", stream);
}

void sinew_vtu_print(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    bool binary = format == SINEW_MESH_VTU_BINARY;
    uint64_t offset = 0;
    vtu_write_print_header(mesh, stream);
    for (int i = 0; i < array_count(mesh); i++) {
        fprintf(stream, "%s<DataArray %s ", arrays[i].before, arrays[i].attributes);
        if (binary) {
            fprintf(stream, "format=\"appended\" offset=\"%llu\"/>\n", (unsigned long long)offset);
            offset += sizeof(uint64_t) + arrays[i].size(mesh);
        } else {
            fputs("format=\"ascii\">\n", stream);
            arrays[i].print(mesh, stream, false);
            fputs("</DataArray>\n", stream);
        }
        fputs(arrays[i].after, stream);
    }
    fputs("</Piece>\n</UnstructuredGrid>\n", stream);
    if (binary)
        print_appended(mesh, stream);
    fputs("</VTKFile>\n", stream);
}
