/* SPDX-License-Identifier: MIT
 *
 * cache_vtu.c: one VTK XML unstructured grid a frame, <name>.0000.vtu and on, and <name>.pvd, which gives their times.
 *
 * All points, all cells (VTK types 10 tetra, 5 triangle, 3 line; of a skin its faces: 5 triangle, 9 quad, 7 polygon),
 * point data "velocity", cell data "body". Arrays
 * are raw appended data behind 64-bit sizes: what ParaView writes itself, exact and small. The cells do not change, so
 * their arrays are laid out once. Format: VTK file formats, kitware.github.io, "XML file formats".
 *
 * Known limits: fewer than 2^31 vertex indices over all cells (their arrays are Int32).
 */
#include "io/cache.h"

#include <string.h>

/* The arrays of a file in the order of their bytes. */
enum {
    block_points,
    block_velocity,
    block_connectivity,
    block_offsets,
    block_types,
    block_body,
    block_count
};

enum {
    pvd_head_lines = 3 /* before the first frame's */
};

typedef struct own_part {
    sinew_writer pvd;
    int64_t cell_count;
    int64_t index_count;   /* vertex indices over all cells */
    int32_t *connectivity; /* [index_count] particles */
    int32_t *offsets;      /* [cell_count] where the next cell's indices start */
    uint8_t *types;        /* [cell_count] VTK's numbers */
    int32_t *body;         /* [cell_count] */
} own_part;

static void count_cells(const sinew_cache *cache, own_part *own)
{
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_cache_body *of = &cache->bodies[i];
        if (of->body.index < 0)
            continue;
        const sinew_mesh *mesh = sinew_body_mesh(cache->world, of->body);
        int64_t tets = of->skin ? 0 : sinew_mesh_tet_count(mesh);
        int64_t triangles = of->skin ? 0 : sinew_mesh_triangle_count(mesh);
        int64_t edges = of->skin ? 0 : sinew_mesh_edge_count(mesh);
        int32_t faces = of->skin ? sinew_skin_face_count(of->skin) : 0;
        own->cell_count += tets + triangles + edges + faces;
        own->index_count += 4 * tets + 3 * triangles + 2 * edges + (of->skin ? of->skin->starts[faces] : 0);
    }
}

typedef struct cursor {
    int64_t cell, index;
} cursor;

static void add_cells(own_part *own, cursor *at, int32_t body, int32_t first, const int32_t *cells, int64_t count,
                      int corners, uint8_t type)
{
    for (int64_t c = 0; c < count; c++) {
        for (int k = 0; k < corners; k++)
            own->connectivity[at->index++] = first + cells[corners * c + k];
        own->offsets[at->cell] = (int32_t)at->index;
        own->types[at->cell] = type;
        own->body[at->cell++] = body;
    }
}

static void add_faces(own_part *own, cursor *at, int32_t body, const sinew_cache_body *of)
{
    const int32_t *starts = sinew_skin_face_starts(of->skin), *corners = sinew_skin_corners(of->skin);
    for (int32_t f = 0; f < sinew_skin_face_count(of->skin); f++) {
        const int32_t count = starts[f + 1] - starts[f];
        const uint8_t type = count == 3 ? 5 : count == 4 ? 9 : 7;
        add_cells(own, at, body, of->first_point, corners + starts[f], 1, count, type);
    }
}

static void fill_cells(const sinew_cache *cache, own_part *own)
{
    cursor at = {0};
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_cache_body *of = &cache->bodies[i];
        if (of->skin)
            add_faces(own, &at, i, of);
        if (of->body.index < 0 || of->skin)
            continue;
        const sinew_mesh *mesh = sinew_body_mesh(cache->world, of->body);
        const int32_t first = of->first_point;
        add_cells(own, &at, i, first, sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4, 10);
        add_cells(own, &at, i, first, sinew_mesh_triangles(mesh), sinew_mesh_triangle_count(mesh), 3, 5);
        add_cells(own, &at, i, first, sinew_mesh_edges(mesh), sinew_mesh_edge_count(mesh), 2, 3);
    }
}

static sinew_status make_cells(const sinew_cache *cache, own_part *own, sinew_error *error)
{
    count_cells(cache, own);
    if (own->index_count > INT32_MAX)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s: the cells have %lld corners, vtu takes 2^31 - 1; use pc2", cache->stem,
                          (long long)own->index_count);
    own->connectivity = sinew_allocate(&cache->allocator, (size_t)own->index_count, sizeof(int32_t));
    own->offsets = sinew_allocate(&cache->allocator, (size_t)own->cell_count, sizeof(int32_t));
    own->types = sinew_allocate(&cache->allocator, (size_t)own->cell_count, 1);
    own->body = sinew_allocate(&cache->allocator, (size_t)own->cell_count, sizeof(int32_t));
    if (!own->connectivity || !own->offsets || !own->types || !own->body)
        return sinew_fail_memory(error, "the cells of a VTU cache");
    fill_cells(cache, own);
    return SINEW_OK;
}

static const char *byte_order(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one ? "LittleEndian" : "BigEndian";
}

static sinew_status vtu_open(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    sinew_status status = make_cells(cache, own, error);
    if (status == SINEW_OK)
        status = sinew_cache_stream(cache, &own->pvd, ".pvd", error);
    if (status == SINEW_OK && cache->kept > 0)
        status = sinew_cache_cut_sequence(cache, "vtu", error);
    if (status == SINEW_OK && cache->kept > 0)
        return sinew_cache_cut_lines(&own->pvd, pvd_head_lines + (int64_t)cache->kept, error);
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->pvd, error,
                                   "<?xml version=\"1.0\"?>\n"
                                   "<VTKFile type=\"Collection\" version=\"0.1\" byte_order=\"%s\">\n"
                                   "<Collection>\n",
                                   byte_order());
    return status;
}

/* ---- One file ---------------------------------------------------------------------------------- */

typedef struct block {
    const void *data;
    uint64_t size; /* bytes */
} block;

static void list_blocks(const sinew_cache *cache, const own_part *own, block *blocks)
{
    size_t vectors = 3 * (size_t)cache->point_count * sizeof(sinew_real);
    size_t cells = (size_t)own->cell_count;
    blocks[block_points] = (block){cache->q, vectors};
    blocks[block_velocity] = (block){cache->v, vectors};
    blocks[block_connectivity] = (block){own->connectivity, (size_t)own->index_count * sizeof(int32_t)};
    blocks[block_offsets] = (block){own->offsets, cells * sizeof(int32_t)};
    blocks[block_types] = (block){own->types, cells};
    blocks[block_body] = (block){own->body, cells * sizeof(int32_t)};
}

/* Everything before the appended bytes. */
static sinew_status put_outline(const sinew_cache *cache, const own_part *own, sinew_writer *writer,
                                const block *blocks, sinew_error *error)
{
    unsigned long long at[block_count] = {0};
    for (int i = 1; i < block_count; i++)
        at[i] = at[i - 1] + sizeof(uint64_t) + blocks[i - 1].size;
    const char *real = sizeof(sinew_real) == sizeof(float) ? "Float32" : "Float64";
    char time[SINEW_CACHE_NUMBER];
    sinew_cache_number(time, (sinew_real)cache->time);
    return sinew_cache_print(
        writer, error,
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
        "<UnstructuredGrid>\n"
        "<FieldData>\n"
        "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%s</DataArray>\n"
        "</FieldData>\n"
        "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%lld\">\n"
        "<Points>\n"
        "<DataArray type=\"%s\" Name=\"Points\" NumberOfComponents=\"3\" format=\"appended\" offset=\"%llu\"/>\n"
        "</Points>\n"
        "<PointData Vectors=\"velocity\">\n"
        "<DataArray type=\"%s\" Name=\"velocity\" NumberOfComponents=\"3\" format=\"appended\" offset=\"%llu\"/>\n"
        "</PointData>\n"
        "<Cells>\n"
        "<DataArray type=\"Int32\" Name=\"connectivity\" format=\"appended\" offset=\"%llu\"/>\n"
        "<DataArray type=\"Int32\" Name=\"offsets\" format=\"appended\" offset=\"%llu\"/>\n"
        "<DataArray type=\"UInt8\" Name=\"types\" format=\"appended\" offset=\"%llu\"/>\n"
        "</Cells>\n"
        "<CellData Scalars=\"body\">\n"
        "<DataArray type=\"Int32\" Name=\"body\" format=\"appended\" offset=\"%llu\"/>\n"
        "</CellData>\n"
        "</Piece>\n"
        "</UnstructuredGrid>\n"
        "<AppendedData encoding=\"raw\">\n_",
        byte_order(), time, (int)cache->point_count, (long long)own->cell_count, real, at[block_points], real,
        at[block_velocity], at[block_connectivity], at[block_offsets], at[block_types], at[block_body]);
}

static sinew_status put_grid(const sinew_cache *cache, const own_part *own, sinew_writer *writer, sinew_error *error)
{
    block blocks[block_count];
    list_blocks(cache, own, blocks);
    sinew_status status = put_outline(cache, own, writer, blocks, error);
    for (int i = 0; i < block_count && status == SINEW_OK; i++) {
        status = sinew_cache_put(writer, &blocks[i].size, sizeof blocks[i].size, error);
        if (status == SINEW_OK)
            status = sinew_cache_put(writer, blocks[i].data, (size_t)blocks[i].size, error);
    }
    return status == SINEW_OK ? sinew_cache_print(writer, error, "\n</AppendedData>\n</VTKFile>\n") : status;
}

/* ---- The collection ---------------------------------------------------------------------------- */

/* Text between the quotes of an XML attribute. */
static sinew_status put_escaped(sinew_writer *writer, const char *text, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (; *text && status == SINEW_OK; text++) {
        if (strchr("&<>\"'", *text) || (unsigned char)*text < ' ')
            status = sinew_cache_print(writer, error, "&#%d;", *text);
        else
            status = sinew_cache_put(writer, text, 1, error);
    }
    return status;
}

static sinew_status put_entry(const sinew_cache *cache, sinew_writer *pvd, const char *ending, sinew_error *error)
{
    char time[SINEW_CACHE_NUMBER];
    sinew_cache_number(time, (sinew_real)cache->time);
    sinew_status status = sinew_cache_print(pvd, error, "<DataSet timestep=\"%s\" part=\"0\" file=\"", time);
    if (status == SINEW_OK)
        status = put_escaped(pvd, cache->name, error);
    if (status == SINEW_OK)
        status = sinew_cache_print(pvd, error, "%s\"/>\n", ending);
    return status == SINEW_OK ? sinew_cache_flush(pvd, error) : status;
}

static sinew_status vtu_frame(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    char ending[32];
    sinew_cache_ending(cache, cache->frame_count, "vtu", ending);
    sinew_writer writer;
    sinew_status status = sinew_cache_create(cache, &writer, ending, error);
    if (status == SINEW_OK)
        status = put_grid(cache, own, &writer, error);
    if (status == SINEW_OK)
        status = sinew_writer_commit(&writer, error);
    else
        sinew_writer_abandon(&writer);
    return status == SINEW_OK ? put_entry(cache, &own->pvd, ending, error) : status;
}

static sinew_status vtu_sync(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    sinew_status status = sinew_cache_sync_sequence(cache, "vtu", error);
    return status == SINEW_OK ? sinew_writer_sync(&own->pvd, error) : status;
}

static sinew_status vtu_close(sinew_cache *cache, sinew_error *error)
{
    own_part *own = cache->own;
    sinew_status status = sinew_cache_print(&own->pvd, error, "</Collection>\n</VTKFile>\n");
    return status == SINEW_OK ? sinew_writer_commit_durable(&own->pvd, error) : status;
}

static void vtu_drop(sinew_cache *cache)
{
    own_part *own = cache->own;
    sinew_writer_abandon(&own->pvd);
    sinew_release(&cache->allocator, own->connectivity);
    sinew_release(&cache->allocator, own->offsets);
    sinew_release(&cache->allocator, own->types);
    sinew_release(&cache->allocator, own->body);
}

const sinew_cache_ops sinew_cache_vtu = {
    .name = "vtu",
    .own_size = sizeof(own_part),
    .open = vtu_open,
    .frame = vtu_frame,
    .sync = vtu_sync,
    .close = vtu_close,
    .drop = vtu_drop,
};
