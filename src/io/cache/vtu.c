/* SPDX-License-Identifier: MIT
 *
 * vtu.c: one VTK XML unstructured grid per frame, <name>.0000.vtu and so on, and <name>.pvd, which lists their
 * times.
 *
 * A file has all points and all cells (VTK types 10 tetra, 5 triangle, 3 line; skin faces: 5 triangle, 9 quad, 7
 * polygon). Point data are "velocity" and particle fields; cell data are "body", tet fields and "material", the
 * energy of their values. Arrays are raw appended data after 64-bit sizes, as ParaView writes them: exact and small.
 * Unknown values are NaN, which ParaView shows in a separate colour. Cell arrays are rebuilt only after a tear. Format:
 * VTK file formats, kitware.github.io, "XML file formats".
 *
 * Known limits: fewer than 2^31 vertex indices over all cells (their arrays are Int32). Points and faces of a skin have
 * no values in fields: force belongs to particles, stress to tets.
 */
#include "io/cache/fields.h"

#include <math.h>
#include <string.h>

enum {
    pvd_head_lines = 3,                /* number of lines of the PVD file before the entry of the first frame */
    blocks_max = 8 + SINEW_FIELD_COUNT /* upper bound of the number of arrays of a VTU file */
};

typedef struct format_state {
    sinew_writer pvd;
    int64_t cell_count;
    int64_t index_count;   /* number of vertex indices over all cells of the VTU file */
    int32_t *connectivity; /* [index_count] point at each corner of the cells, cell by cell */
    int32_t *offsets;      /* [cell_count] end of each cell's corners in `connectivity` */
    uint8_t *types;        /* [cell_count] VTK type number of each cell */
    int32_t *body;         /* [cell_count] index in cache->bodies of each cell's body */
    sinew_cache_fields fields;
    int32_t *tet_cells; /* [fields.tet_count] index of the cell of each tet, -1: the tet is not written */
    int32_t *material;  /* [cell_count] index in the world of the energy that gives the cell's field values, -1: none */
    /* Field values by cell or point of the VTU file, [component_count * cell_count or point_count]; NULL: not written,
     * or points are particles and need no copy */
    sinew_real *values[SINEW_FIELD_COUNT];
} format_state;

static void vtu_cache_count_cells(const sinew_cache *cache, format_state *own)
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

static void vtu_cache_add_cells(format_state *own, cursor *at, int32_t body, int32_t first, const int32_t *cells,
                                int64_t count, int corners, uint8_t type)
{
    for (int64_t c = 0; c < count; c++) {
        for (int k = 0; k < corners; k++)
            own->connectivity[at->index++] = first + cells[corners * c + k];
        own->offsets[at->cell] = (int32_t)at->index;
        own->types[at->cell] = type;
        own->body[at->cell++] = body;
    }
}

static void vtu_cache_add_faces(format_state *own, cursor *at, int32_t body, const sinew_cache_body *of)
{
    const int32_t *starts = sinew_skin_face_starts(of->skin), *corners = sinew_skin_corners(of->skin);
    for (int32_t f = 0; f < sinew_skin_face_count(of->skin); f++) {
        const int32_t count = starts[f + 1] - starts[f];
        const uint8_t type = count == 3 ? 5 : count == 4 ? 9 : 7;
        vtu_cache_add_cells(own, at, body, of->first_point, corners + starts[f], 1, count, type);
    }
}

static void vtu_cache_fill_cells(const sinew_cache *cache, format_state *own)
{
    cursor at = {0};
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_cache_body *of = &cache->bodies[i];
        if (of->skin)
            vtu_cache_add_faces(own, &at, i, of);
        if (of->body.index < 0 || of->skin)
            continue;
        const sinew_mesh *mesh = sinew_body_mesh(cache->world, of->body);
        const int32_t first = of->first_point;
        vtu_cache_add_cells(own, &at, i, first, sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4, 10);
        vtu_cache_add_cells(own, &at, i, first, sinew_mesh_triangles(mesh), sinew_mesh_triangle_count(mesh), 3, 5);
        vtu_cache_add_cells(own, &at, i, first, sinew_mesh_edges(mesh), sinew_mesh_edge_count(mesh), 2, 3);
    }
}

static sinew_status make_cells(const sinew_cache *cache, format_state *own, sinew_error *error)
{
    vtu_cache_count_cells(cache, own);
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
    vtu_cache_fill_cells(cache, own);
    return SINEW_OK;
}

/* ---- Values of fields by cell and point ---------------------------------------------------------- */

/* Fills tet_cells, the cell of each tet. The tets of a body precede its other cells, in the order of fields.tets. */
static void find_tet_cells(const sinew_cache *cache, format_state *own)
{
    int64_t cell = 0;
    int32_t tet = 0;
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_cache_body *of = &cache->bodies[i];
        if (of->body.index < 0)
            continue;
        const sinew_mesh *mesh = sinew_body_mesh(cache->world, of->body);
        for (int32_t k = 0; k < sinew_mesh_tet_count(mesh); k++)
            own->tet_cells[tet++] = of->skin ? -1 : (int32_t)(cell + k);
        while (cell < own->cell_count && own->body[cell] == i)
            cell++;
    }
}

static sinew_status make_fields(const sinew_cache *cache, format_state *own, sinew_error *error)
{
    sinew_status status = sinew_cache_fields_open(cache, &own->fields, error);
    if (status != SINEW_OK)
        return status;
    bool good = true;
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)f);
        if (!own->fields.values[f] || (!info->of_elements && !cache->by_body))
            continue;
        own->values[f] =
            sinew_allocate(&cache->allocator, info->of_elements ? (size_t)own->cell_count : (size_t)cache->point_count,
                           (size_t)info->component_count * sizeof(sinew_real));
        good = good && own->values[f];
    }
    own->tet_cells = sinew_allocate(&cache->allocator, (size_t)own->fields.tet_count, sizeof(int32_t));
    own->material = sinew_allocate(&cache->allocator, (size_t)own->cell_count, sizeof(int32_t));
    if (!good || !own->tet_cells || !own->material)
        return sinew_fail_memory(error, "the fields of a VTU cache");
    find_tet_cells(cache, own);
    return SINEW_OK;
}

static void spread_field_to_cells(format_state *own, sinew_field_kind field, size_t width)
{
    for (size_t i = 0; i < width * (size_t)own->cell_count; i++)
        own->values[field][i] = (sinew_real)NAN;
    for (int32_t t = 0; t < own->fields.tet_count; t++)
        if (own->tet_cells[t] >= 0)
            memcpy(own->values[field] + width * (size_t)own->tet_cells[t],
                   own->fields.values[field] + width * (size_t)t, width * sizeof(sinew_real));
}

static void spread_field_to_points(const sinew_cache *cache, format_state *own, sinew_field_kind field, size_t width)
{
    for (size_t i = 0; i < width * (size_t)cache->point_count; i++)
        own->values[field][i] = (sinew_real)NAN;
    for (int32_t i = 0; i < cache->body_count; i++) {
        const sinew_cache_body *of = &cache->bodies[i];
        if (of->body.index >= 0 && !of->skin)
            memcpy(own->values[field] + width * (size_t)of->first_point,
                   own->fields.values[field] + width * (size_t)sinew_body_first_particle(cache->world, of->body),
                   width * (size_t)of->point_count * sizeof(sinew_real));
    }
}

static sinew_status fill_fields(const sinew_cache *cache, format_state *own, sinew_error *error)
{
    const sinew_status status = sinew_cache_fields_fill(cache, &own->fields, error);
    if (status != SINEW_OK)
        return status;
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)f);
        if (own->values[f] && info->of_elements)
            spread_field_to_cells(own, (sinew_field_kind)f, (size_t)info->component_count);
        else if (own->values[f])
            spread_field_to_points(cache, own, (sinew_field_kind)f, (size_t)info->component_count);
    }
    for (int64_t i = 0; i < own->cell_count; i++)
        own->material[i] = -1;
    for (int32_t t = 0; t < own->fields.tet_count; t++)
        if (own->tet_cells[t] >= 0)
            own->material[own->tet_cells[t]] = own->fields.material[t];
    return SINEW_OK;
}

/* ---- Opening the VTU cache ----------------------------------------------------------------------- */

static const char *byte_order(void)
{
    const uint16_t one = 1;
    return *(const uint8_t *)&one ? "LittleEndian" : "BigEndian";
}

static void free_cells_and_fields(const sinew_cache *cache, format_state *own)
{
    sinew_release(&cache->allocator, own->connectivity);
    sinew_release(&cache->allocator, own->offsets);
    sinew_release(&cache->allocator, own->types);
    sinew_release(&cache->allocator, own->body);
    sinew_cache_fields_free(cache, &own->fields);
    sinew_release(&cache->allocator, own->tet_cells);
    sinew_release(&cache->allocator, own->material);
    for (int f = 0; f < SINEW_FIELD_COUNT; f++)
        sinew_release(&cache->allocator, own->values[f]);
}

static sinew_status vtu_reshape(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    free_cells_and_fields(cache, own);
    *own = (format_state){.pvd = own->pvd};
    const sinew_status status = make_cells(cache, own, error);
    return status == SINEW_OK ? make_fields(cache, own, error) : status;
}

static sinew_status vtu_open(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = make_cells(cache, own, error);
    if (status == SINEW_OK)
        status = make_fields(cache, own, error);
    if (status == SINEW_OK)
        status = sinew_cache_open_stream(cache, &own->pvd, ".pvd", error);
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

/* ---- Writing of one VTU file --------------------------------------------------------------------- */

/* Sections of a VTU file, in file order, with the XML lines around their arrays. */
enum {
    section_points,
    section_point_data,
    section_cells,
    section_cell_data,
    section_count
};
static const char *const section_lines[section_count][2] = {
    [section_points] = {"<Points>\n", "</Points>\n"},
    [section_point_data] = {"<PointData Vectors=\"velocity\">\n", "</PointData>\n"},
    [section_cells] = {"<Cells>\n", "</Cells>\n"},
    [section_cell_data] = {"<CellData Scalars=\"body\">\n", "</CellData>\n"},
};

/* One array of a VTU file. */
typedef struct block {
    int section;
    const char *type, *name;
    int components;
    const void *data;
    uint64_t size; /* size of the VTU array in bytes */
} block;

typedef struct block_list {
    int count;
    block blocks[blocks_max];
} block_list;

/* Adds an array with one value per owner (point, cell or index) to the list; `number_size`: bytes per number. */
static void vtu_cache_add_block(block_list *list, block next, int64_t owners, size_t number_size)
{
    next.size = (uint64_t)owners * (uint64_t)next.components * number_size;
    list->blocks[list->count++] = next;
}

/* Adds the point fields or the cell fields to the list of the file's arrays. */
static void add_fields(const sinew_cache *cache, const format_state *own, block_list *list, bool of_cells)
{
    const char *real = sizeof(sinew_real) == sizeof(float) ? "Float32" : "Float64";
    bool any = false;
    for (int f = 0; f < SINEW_FIELD_COUNT; f++) {
        const sinew_field_info *info = sinew_get_field_info((sinew_field_kind)f);
        const sinew_real *data = own->values[f] ? own->values[f] : own->fields.values[f];
        if (!data || info->of_elements != of_cells)
            continue;
        any = true;
        vtu_cache_add_block(list,
                            (block){of_cells ? section_cell_data : section_point_data, real, info->name,
                                    info->component_count, data, 0},
                            of_cells ? own->cell_count : cache->point_count, sizeof(sinew_real));
    }
    if (of_cells && any)
        vtu_cache_add_block(list, (block){section_cell_data, "Int32", "material", 1, own->material, 0}, own->cell_count,
                            4);
}

/* Lists all arrays of a VTU file in the order of their bytes. */
static void list_blocks(const sinew_cache *cache, const format_state *own, block_list *list)
{
    const char *real = sizeof(sinew_real) == sizeof(float) ? "Float32" : "Float64";
    list->count = 0;
    vtu_cache_add_block(list, (block){section_points, real, "Points", 3, cache->q, 0}, cache->point_count,
                        sizeof(sinew_real));
    vtu_cache_add_block(list, (block){section_point_data, real, "velocity", 3, cache->v, 0}, cache->point_count,
                        sizeof(sinew_real));
    add_fields(cache, own, list, false);
    vtu_cache_add_block(list, (block){section_cells, "Int32", "connectivity", 1, own->connectivity, 0},
                        own->index_count, 4);
    vtu_cache_add_block(list, (block){section_cells, "Int32", "offsets", 1, own->offsets, 0}, own->cell_count, 4);
    vtu_cache_add_block(list, (block){section_cells, "UInt8", "types", 1, own->types, 0}, own->cell_count, 1);
    vtu_cache_add_block(list, (block){section_cell_data, "Int32", "body", 1, own->body, 0}, own->cell_count, 4);
    add_fields(cache, own, list, true);
}

/* Writes the XML of one section of a VTU file with the offsets of its arrays; *at counts the bytes of all arrays
 * before. */
static sinew_status vtu_put_section(sinew_writer *writer, const block_list *list, int section, unsigned long long *at,
                                    sinew_error *error)
{
    sinew_status status = sinew_cache_print(writer, error, "%s", section_lines[section][0]);
    for (int i = 0; i < list->count && status == SINEW_OK; i++) {
        const block *b = &list->blocks[i];
        if (b->section != section)
            continue;
        status = sinew_cache_print(
            writer, error,
            "<DataArray type=\"%s\" Name=\"%s\" NumberOfComponents=\"%d\" format=\"appended\" offset=\"%llu\"/>\n",
            b->type, b->name, b->components, *at);
        *at += sizeof b->size + b->size;
    }
    return status == SINEW_OK ? sinew_cache_print(writer, error, "%s", section_lines[section][1]) : status;
}

/* Writes all XML of a VTU file before the appended data. */
static sinew_status put_outline(const sinew_cache *cache, const format_state *own, sinew_writer *writer,
                                const block_list *list, sinew_error *error)
{
    char time[SINEW_CACHE_NUMBER];
    sinew_cache_format_number(time, (sinew_real)cache->time);
    sinew_status status = sinew_cache_print(
        writer, error,
        "<?xml version=\"1.0\"?>\n"
        "<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"%s\" header_type=\"UInt64\">\n"
        "<UnstructuredGrid>\n"
        "<FieldData>\n"
        "<DataArray type=\"Float64\" Name=\"TimeValue\" NumberOfTuples=\"1\" format=\"ascii\">%s</DataArray>\n"
        "</FieldData>\n"
        "<Piece NumberOfPoints=\"%d\" NumberOfCells=\"%lld\">\n",
        byte_order(), time, (int)cache->point_count, (long long)own->cell_count);
    unsigned long long at = 0;
    for (int section = 0; section < section_count && status == SINEW_OK; section++)
        status = vtu_put_section(writer, list, section, &at, error);
    return status == SINEW_OK ? sinew_cache_print(writer, error,
                                                  "</Piece>\n"
                                                  "</UnstructuredGrid>\n"
                                                  "<AppendedData encoding=\"raw\">\n_")
                              : status;
}

static sinew_status put_grid(const sinew_cache *cache, format_state *own, sinew_writer *writer, sinew_error *error)
{
    block_list list;
    sinew_status status = fill_fields(cache, own, error);
    list_blocks(cache, own, &list);
    if (status == SINEW_OK)
        status = put_outline(cache, own, writer, &list, error);
    for (int i = 0; i < list.count && status == SINEW_OK; i++) {
        status = sinew_cache_put(writer, &list.blocks[i].size, sizeof list.blocks[i].size, error);
        if (status == SINEW_OK)
            status = sinew_cache_put(writer, list.blocks[i].data, (size_t)list.blocks[i].size, error);
    }
    return status == SINEW_OK ? sinew_cache_print(writer, error, "\n</AppendedData>\n</VTKFile>\n") : status;
}

/* ---- The PVD collection of all frames ------------------------------------------------------------ */

/* Writes a text as the value of an XML attribute, with special characters escaped. */
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

static sinew_status vtu_cache_put_entry(const sinew_cache *cache, sinew_writer *pvd, const char *ending,
                                        sinew_error *error)
{
    char time[SINEW_CACHE_NUMBER];
    sinew_cache_format_number(time, (sinew_real)cache->time);
    sinew_status status = sinew_cache_print(pvd, error, "<DataSet timestep=\"%s\" part=\"0\" file=\"", time);
    if (status == SINEW_OK)
        status = put_escaped(pvd, cache->name, error);
    if (status == SINEW_OK)
        status = sinew_cache_print(pvd, error, "%s\"/>\n", ending);
    return status == SINEW_OK ? sinew_cache_flush(pvd, error) : status;
}

static sinew_status vtu_frame(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    char ending[32];
    sinew_cache_ending(cache, cache->frame_count, "vtu", ending);
    sinew_writer writer;
    sinew_status status = sinew_cache_create_file(cache, &writer, ending, error);
    if (status == SINEW_OK)
        status = put_grid(cache, own, &writer, error);
    if (status == SINEW_OK)
        status = sinew_writer_commit(&writer, error);
    else
        sinew_writer_abandon(&writer);
    return status == SINEW_OK ? vtu_cache_put_entry(cache, &own->pvd, ending, error) : status;
}

static sinew_status vtu_sync(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_cache_sync_sequence(cache, "vtu", error);
    return status == SINEW_OK ? sinew_writer_sync(&own->pvd, error) : status;
}

static sinew_status vtu_close(sinew_cache *cache, sinew_error *error)
{
    format_state *own = cache->own;
    sinew_status status = sinew_cache_print(&own->pvd, error, "</Collection>\n</VTKFile>\n");
    return status == SINEW_OK ? sinew_writer_commit_durable(&own->pvd, error) : status;
}

static void vtu_drop(sinew_cache *cache)
{
    format_state *own = cache->own;
    sinew_writer_abandon(&own->pvd);
    free_cells_and_fields(cache, own);
}

const sinew_cache_ops sinew_cache_vtu = {
    .name = "vtu",
    .own_size = sizeof(format_state),
    .open = vtu_open,
    .frame = vtu_frame,
    .reshape = vtu_reshape,
    .sync = vtu_sync,
    .close = vtu_close,
    .drop = vtu_drop,
};
