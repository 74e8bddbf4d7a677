/* SPDX-License-Identifier: MIT
 *
 * vtu.c: reads VTK XML unstructured grids (.vtu): arrays as text, base64 or appended (raw or base64), zlib or not.
 *
 * Source: "VTK file formats" (the VTK user's guide). A small scanner reads tags and attributes, because files with
 * raw appended data are not well-formed XML, which XML libraries refuse. All pieces are concatenated to one
 * mesh. Point and cell data are not read, except filled fractions of tets. The file is read twice: the first pass
 * checks, so that a refused file adds nothing to the builder; the second fills the builder. Known limits: arrays may
 * hold at most 1 MiB plus 32 times the bytes of the file (zlib compresses regular meshes by about 8; a factor of a
 * thousand is an attack); compressors other than zlib are refused; entities (&amp;) in attributes are not decoded (only
 * array names could contain them).
 */
#include "io/mesh/file_formats.h"

#include <math.h>
#include <string.h>

#include "io/mesh/vtk_cells.h"
#include "io/mesh/vtu_arrays.h"
#include "io/text.h"

typedef struct xml_tag {
    sinew_token name;
    const char *at;    /* position of the XML tag's '<' in the file */
    sinew_token inner; /* text of the XML tag's attributes */
    bool closes;       /* true: the XML tag is a closing tag, </name> */
    bool empty;        /* true: the XML tag is an empty element, <name/> */
} xml_tag;

enum {
    BYTES_PER_BYTE = 32,     /* largest number of decoded array bytes per byte of the file */
    BYTES_FREE = 1024 * 1024 /* number of decoded array bytes that are allowed for any file size */
};

typedef struct vtu_reader {
    sinew_text text; /* XML text of the file up to the appended data */
    sinew_builder *builder;
    bool trial;          /* true in the first pass, which checks the file and adds nothing to the builder */
    int64_t byte_budget; /* number of bytes that arrays may still decode to, in the first pass */
    int32_t *corners;    /* [corner_capacity] vertex indices of the current cell */
    int64_t corner_capacity;
    sinew_vtu_coding coding;
    const char *appended;     /* first byte of the appended data, or NULL */
    const char *appended_end; /* one past the last byte of the appended data */
    bool appended_base64;
} vtu_reader;

/* The arrays of one <Piece> of a VTU file. */
typedef struct vtu_piece {
    const char *at;
    int64_t point_count;
    int64_t cell_count;
    sinew_vtu_array points;
    sinew_vtu_array connectivity;
    sinew_vtu_array offsets;
    sinew_vtu_array types;
    sinew_vtu_array fractions; /* filled fractions of the piece's tets; the file may lack them */
} vtu_piece;

/* ---- Scanner of the VTU file's XML tags ---------------------------------------------------------- */

static bool vtu_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Skips the XML text past `mark` ("-->" or "?>"); to the end of the text if it is missing. */
static void skip_past(sinew_text *text, const char *mark)
{
    const char *found = memmem(text->at, sinew_text_left(text), mark, strlen(mark));
    text->at = found ? found + strlen(mark) : text->end;
}

/* End of an XML tag: the next '>' outside quotes, or NULL. */
static const char *tag_end(const char *at, const char *end)
{
    char quote = 0;
    for (; at < end; at++) {
        if (quote)
            quote = *at == quote ? 0 : quote;
        else if (*at == '"' || *at == '\'')
            quote = *at;
        else if (*at == '>')
            return at;
    }
    return NULL;
}

static void split_tag(const char *at, const char *close, xml_tag *tag)
{
    const char *c = at + 1;
    *tag = (xml_tag){.at = at, .closes = *c == '/', .empty = close[-1] == '/'};
    c += tag->closes;
    tag->name.at = c;
    while (c < close && !vtu_is_space(*c) && *c != '/')
        c++;
    tag->name.length = (size_t)(c - tag->name.at);
    tag->inner = (sinew_token){c, (size_t)(close - c)};
}

/* Finds the next XML element tag, skipping comments, declarations and instructions; false (no error) at the end. */
static bool next_tag(vtu_reader *reader, xml_tag *tag)
{
    sinew_text *text = &reader->text;
    for (;;) {
        const char *at = memchr(text->at, '<', sinew_text_left(text));
        if (!at || text->end - at < 3)
            return false;
        text->at = at;
        if (memcmp(at, "<?", 2) == 0) {
            skip_past(text, "?>");
        } else if (text->end - at >= 4 && memcmp(at, "<!--", 4) == 0) {
            skip_past(text, "-->");
        } else {
            const char *close = tag_end(at, text->end);
            if (!close)
                return false;
            text->at = close + 1;
            if (at[1] == '!')
                continue;
            split_tag(at, close, tag);
            return true;
        }
    }
}

/* Finds the value of an XML attribute without its quotes; false if the tag does not have it. */
static bool find_attribute(const xml_tag *tag, const char *name, sinew_token *value)
{
    const char *c = tag->inner.at, *end = tag->inner.at + tag->inner.length;
    while (c < end) {
        while (c < end && (vtu_is_space(*c) || *c == '/'))
            c++;
        sinew_token key = {c, 0};
        while (c < end && *c != '=' && !vtu_is_space(*c))
            c++;
        key.length = (size_t)(c - key.at);
        while (c < end && *c != '"' && *c != '\'')
            c++;
        if (c == end)
            return false;
        const char *close = memchr(c + 1, *c, (size_t)(end - c - 1));
        if (!close)
            return false;
        *value = (sinew_token){c + 1, (size_t)(close - c - 1)};
        if (sinew_token_is(key, name))
            return true;
        c = close + 1;
    }
    return false;
}

static bool attribute_is(const xml_tag *tag, const char *name, const char *wanted)
{
    sinew_token value;
    return find_attribute(tag, name, &value) && sinew_token_is_any_case(value, wanted);
}

static bool attribute_count(const vtu_reader *reader, const xml_tag *tag, const char *name, int64_t *count)
{
    sinew_token value;
    *count = 0;
    if (!find_attribute(tag, name, &value))
        return sinew_text_fail(&reader->text, tag->at, "<%.*s> lacks the attribute %s",
                               tag->name.length < 32 ? (int)tag->name.length : 32, tag->name.at, name);
    return sinew_token_integer(&reader->text, value, 0, INT64_MAX, name, count);
}

/* ---- The root element and the appended data of a VTU file ---------------------------------------- */

static bool read_root(vtu_reader *reader)
{
    xml_tag tag;
    sinew_text *text = &reader->text;
    if (!next_tag(reader, &tag) || !sinew_token_is(tag.name, "VTKFile"))
        return sinew_text_fail(text, text->begin, "expected <VTKFile>: is this a VTK XML file?");
    if (!attribute_is(&tag, "type", "UnstructuredGrid"))
        return sinew_text_fail(text, tag.at, "only files of type UnstructuredGrid are read");
    bool big = attribute_is(&tag, "byte_order", "BigEndian");
    sinew_token value;
    reader->coding.swap = big != sinew_host_is_big_endian();
    reader->coding.header_type =
        attribute_is(&tag, "header_type", "UInt64") ? SINEW_SCALAR_UINT64 : SINEW_SCALAR_UINT32;
    reader->coding.compressed = find_attribute(&tag, "compressor", &value) && value.length > 0;
    if (reader->coding.compressed && !sinew_token_is(value, "vtkZLibDataCompressor"))
        return sinew_text_fail(text, tag.at, "the compressor is not zlib: save with zlib or without compression");
    return true;
}

/* Ends the XML text where the appended data start, because these may contain any bytes. */
static bool find_appended(vtu_reader *reader)
{
    static const char opening[] = "<AppendedData";
    sinew_text *text = &reader->text;
    const char *file_end = text->end;
    const char *start = memmem(text->begin, (size_t)(file_end - text->begin), opening, sizeof opening - 1);
    if (!start)
        return true;
    const char *close = tag_end(start, file_end);
    if (!close)
        return sinew_text_fail(text, start, "the tag <AppendedData> does not end");
    xml_tag tag;
    split_tag(start, close, &tag);
    reader->appended_base64 = attribute_is(&tag, "encoding", "base64");
    if (!reader->appended_base64 && !attribute_is(&tag, "encoding", "raw"))
        return sinew_text_fail(text, start, "appended data must have the encoding raw or base64");
    const char *data = close + 1;
    while (data < file_end && vtu_is_space(*data))
        data++;
    if (data == file_end || *data != '_')
        return sinew_text_fail(text, start, "appended data must start with an underscore");
    reader->appended = data + 1;
    reader->appended_end = file_end;
    text->end = start;
    return true;
}

/* ---- Locations of a VTU file's arrays ------------------------------------------------------------ */

static sinew_scalar vtu_type_named(sinew_token token)
{
    static const char *const names[] = {
        [SINEW_SCALAR_INT8] = "Int8",     [SINEW_SCALAR_UINT8] = "UInt8",   [SINEW_SCALAR_INT16] = "Int16",
        [SINEW_SCALAR_UINT16] = "UInt16", [SINEW_SCALAR_INT32] = "Int32",   [SINEW_SCALAR_UINT32] = "UInt32",
        [SINEW_SCALAR_INT64] = "Int64",   [SINEW_SCALAR_UINT64] = "UInt64", [SINEW_SCALAR_FLOAT] = "Float32",
        [SINEW_SCALAR_DOUBLE] = "Float64"};
    for (int i = SINEW_SCALAR_INT8; i <= SINEW_SCALAR_DOUBLE; i++)
        if (sinew_token_is(token, names[i]))
            return (sinew_scalar)i;
    return SINEW_SCALAR_NONE;
}

static bool find_appended_array(vtu_reader *reader, const xml_tag *tag, sinew_vtu_array *array)
{
    int64_t offset;
    if (!reader->appended)
        return sinew_text_fail(&reader->text, tag->at, "an array is appended, but the file has no <AppendedData>");
    if (!attribute_count(reader, tag, "offset", &offset))
        return false;
    if (offset > reader->appended_end - reader->appended)
        return sinew_text_fail(&reader->text, tag->at, "an array starts past the end of the file: it is cut short");
    array->form = reader->appended_base64 ? SINEW_VTU_BASE64 : SINEW_VTU_RAW;
    array->at = reader->appended + offset;
    array->end = reader->appended_end;
    return true;
}

static bool find_inline_array(vtu_reader *reader, const xml_tag *tag, sinew_vtu_array *array)
{
    sinew_text *text = &reader->text;
    array->at = text->at;
    array->end = memchr(text->at, '<', sinew_text_left(text));
    if (!array->end)
        return sinew_text_fail(text, tag->at, "an array does not end: the file is cut short");
    array->form = attribute_is(tag, "format", "binary")  ? SINEW_VTU_BASE64
                  : attribute_is(tag, "format", "ascii") ? SINEW_VTU_TEXT
                                                         : SINEW_VTU_NONE;
    return array->form != SINEW_VTU_NONE ||
           sinew_text_fail(text, tag->at, "an array must have the format ascii, binary or appended");
}

/* Fills *array with the location in the file, encoding and number of values of one DataArray. Fails if the piece
 * already has this array, or if all arrays together decode to too many bytes. */
static bool find_array(vtu_reader *reader, const xml_tag *tag, sinew_vtu_array *array)
{
    sinew_text *text = &reader->text;
    if (array->location)
        return sinew_text_fail(text, tag->at, "a piece has this array twice");
    sinew_token name;
    *array = (sinew_vtu_array){.location = tag->at};
    array->type = find_attribute(tag, "type", &name) ? vtu_type_named(name) : SINEW_SCALAR_NONE;
    if (array->type == SINEW_SCALAR_NONE)
        return sinew_text_fail(text, tag->at, "an array has an unknown type, or none");
    bool appended = attribute_is(tag, "format", "appended");
    if (!appended && tag->empty)
        return true;
    if (!(appended ? find_appended_array : find_inline_array)(reader, tag, array) ||
        !sinew_vtu_measure(array, text, &reader->coding, &reader->builder->allocator))
        return false;
    /* Limits the decoded size of all arrays: arrays may be compressed, and pieces may share appended arrays. */
    int64_t size = (int64_t)sinew_scalar_size(array->type);
    if (reader->trial && array->count > reader->byte_budget / size)
        return sinew_text_fail(text, tag->at, "the arrays unpack to more than %d times the file: save it as raw data",
                               BYTES_PER_BYTE);
    reader->byte_budget -= reader->trial ? array->count * size : 0;
    return true;
}

/* ---- Points and cells of a VTU piece ------------------------------------------------------------- */

static sinew_vtu_array *array_named(vtu_piece *piece, const xml_tag *tag)
{
    if (attribute_is(tag, "Name", "connectivity"))
        return &piece->connectivity;
    if (attribute_is(tag, "Name", "offsets"))
        return &piece->offsets;
    if (attribute_is(tag, "Name", "types"))
        return &piece->types;
    return NULL;
}

static bool read_piece_arrays(vtu_reader *reader, vtu_piece *piece)
{
    xml_tag tag;
    bool in_points = false, in_cells = false, in_data = false;
    while (next_tag(reader, &tag)) {
        if (sinew_token_is(tag.name, "Piece"))
            return tag.closes || sinew_text_fail(&reader->text, tag.at, "a <Piece> inside a <Piece>");
        if (sinew_token_is(tag.name, "Points"))
            in_points = !tag.closes && !tag.empty;
        else if (sinew_token_is(tag.name, "Cells"))
            in_cells = !tag.closes && !tag.empty;
        else if (sinew_token_is(tag.name, "CellData"))
            in_data = !tag.closes && !tag.empty;
        if (!sinew_token_is(tag.name, "DataArray") || tag.closes)
            continue;
        sinew_vtu_array *array = in_points ? &piece->points : in_cells ? array_named(piece, &tag) : NULL;
        if (in_data && attribute_is(&tag, "Name", SINEW_FRACTION_NAME))
            array = &piece->fractions;
        if (array && !find_array(reader, &tag, array))
            return false;
    }
    return sinew_text_fail(&reader->text, piece->at, "a <Piece> does not end: the file is cut short");
}

static sinew_vtu_stream *vtu_open_array(const vtu_reader *reader, const sinew_vtu_array *array)
{
    return sinew_vtu_open(array, &reader->text, &reader->coding, &reader->builder->allocator);
}

static bool vtu_take_point(sinew_vtu_stream *points, sinew_real point[3])
{
    for (int axis = 0; axis < 3; axis++) {
        double coordinate;
        if (!sinew_vtu_next_real(points, &coordinate))
            return false;
        point[axis] = (sinew_real)coordinate;
    }
    return true;
}

static bool vtu_add_points(vtu_reader *reader, const vtu_piece *piece)
{
    if (piece->points.count % 3 != 0 || piece->points.count / 3 != piece->point_count)
        return sinew_text_fail(&reader->text, piece->at, "%lld points are promised, but their array holds %lld numbers",
                               (long long)piece->point_count, (long long)piece->points.count);
    if (!reader->trial && !sinew_builder_reserve_vertices(reader->builder, piece->point_count))
        return false;
    sinew_vtu_stream *points = vtu_open_array(reader, &piece->points);
    bool good = points != NULL;
    for (int64_t i = 0; good && i < piece->point_count; i++) {
        sinew_real point[3];
        good = vtu_take_point(points, point);
        if (good && (!isfinite(point[0]) || !isfinite(point[1]) || !isfinite(point[2])))
            good = sinew_text_fail(&reader->text, piece->at, "point %lld of the piece is not finite", (long long)i);
        if (good && !reader->trial)
            sinew_builder_add_vertex(reader->builder, point);
    }
    sinew_vtu_close(points);
    return good;
}

/* Streams over the cell arrays of a piece; all are at the same cell. */
typedef struct cell_streams {
    sinew_vtu_stream *connectivity, *offsets, *types;
    sinew_vtu_stream *fractions; /* filled fractions of the piece's tets; NULL: the file has none */
    int64_t start;               /* number of connectivity entries (vertex indices) read so far */
} cell_streams;

/* Reads `count` vertex indices of the connectivity; the first pass checks them, the second stores them in
 * reader->corners. */
static bool vtu_take_corners(vtu_reader *reader, const vtu_piece *piece, cell_streams *streams, int64_t base,
                             int64_t count)
{
    if (!reader->trial &&
        !sinew_builder_reserve_corners(reader->builder, &reader->corners, &reader->corner_capacity, count))
        return false;
    for (int64_t i = 0; i < count; i++, streams->start++) {
        int64_t index;
        if (!sinew_vtu_next_integer(streams->connectivity, &index))
            return false;
        if (index < 0 || index >= piece->point_count)
            return sinew_text_fail(&reader->text, piece->at,
                                   "entry %lld of the connectivity is %lld, but the piece has %lld points",
                                   (long long)streams->start, (long long)index, (long long)piece->point_count);
        if (!reader->trial)
            reader->corners[i] = (int32_t)(base + index);
    }
    return true;
}

/* Reads the filled fraction of cell i of the piece and stores it if the cell is a tet. `tets`: number of tets in the
 * builder before this cell was added */
static bool vtu_take_fraction(vtu_reader *reader, const vtu_piece *piece, cell_streams *streams, int64_t type,
                              int64_t tets, int64_t i)
{
    double fraction;
    if (!streams->fractions)
        return true;
    if (!sinew_vtu_next_real(streams->fractions, &fraction))
        return false;
    if (type == SINEW_VTK_TETRA && !(fraction > 0 && fraction <= 1))
        return sinew_text_fail(&reader->text, piece->at,
                               SINEW_FRACTION_NAME " of cell %lld is %g; it must be above 0 and at most 1",
                               (long long)i, fraction);
    return reader->trial || reader->builder->cells[SINEW_BUILDER_TET].count == tets ||
           sinew_builder_set_fraction(reader->builder, tets, fraction);
}

static bool vtu_add_cell(vtu_reader *reader, const vtu_piece *piece, cell_streams *streams, int64_t base, int64_t i)
{
    int64_t type, end;
    if (!sinew_vtu_next_integer(streams->types, &type) || !sinew_vtu_next_integer(streams->offsets, &end))
        return false;
    if (end < streams->start || end > piece->connectivity.count)
        return sinew_text_fail(&reader->text, piece->at, "the offset of cell %lld is before the last or past the end",
                               (long long)i);
    int64_t size = end - streams->start, tets = reader->builder->cells[SINEW_BUILDER_TET].count;
    if (!sinew_vtk_size_fits(type, size))
        return sinew_text_fail(&reader->text, piece->at, "cell %lld of type %lld cannot have %lld corners",
                               (long long)i, (long long)type, (long long)size);
    return vtu_take_corners(reader, piece, streams, base, size) &&
           (reader->trial || sinew_vtk_add_cell(reader->builder, type, reader->corners, size) == SINEW_VTK_ADDED) &&
           vtu_take_fraction(reader, piece, streams, type, tets, i);
}

static bool vtu_add_cells(vtu_reader *reader, const vtu_piece *piece, int64_t base)
{
    if (piece->offsets.count != piece->cell_count || piece->types.count != piece->cell_count)
        return sinew_text_fail(
            &reader->text, piece->at, "%lld cells are promised, but there are %lld offsets and %lld types",
            (long long)piece->cell_count, (long long)piece->offsets.count, (long long)piece->types.count);
    if (piece->fractions.location && piece->fractions.count != piece->cell_count)
        return sinew_text_fail(&reader->text, piece->at, "%lld cells are promised, but there are %lld fractions",
                               (long long)piece->cell_count, (long long)piece->fractions.count);
    cell_streams streams = {0};
    bool good = (streams.connectivity = vtu_open_array(reader, &piece->connectivity)) &&
                (streams.offsets = vtu_open_array(reader, &piece->offsets)) &&
                (streams.types = vtu_open_array(reader, &piece->types)) &&
                (!piece->fractions.location || (streams.fractions = vtu_open_array(reader, &piece->fractions)));
    for (int64_t i = 0; good && i < piece->cell_count; i++)
        good = vtu_add_cell(reader, piece, &streams, base, i);
    sinew_vtu_close(streams.connectivity);
    sinew_vtu_close(streams.offsets);
    sinew_vtu_close(streams.types);
    sinew_vtu_close(streams.fractions);
    return good;
}

static bool read_piece(vtu_reader *reader, const xml_tag *tag)
{
    vtu_piece piece = {.at = tag->at};
    int64_t base = reader->builder->vertex_count;
    if (!attribute_count(reader, tag, "NumberOfPoints", &piece.point_count) ||
        !attribute_count(reader, tag, "NumberOfCells", &piece.cell_count))
        return false;
    return (tag->empty || read_piece_arrays(reader, &piece)) && vtu_add_points(reader, &piece) &&
           vtu_add_cells(reader, &piece, base);
}

static bool read_pieces(vtu_reader *reader)
{
    xml_tag tag;
    bool found = false;
    while (next_tag(reader, &tag)) {
        if (!sinew_token_is(tag.name, "Piece") || tag.closes)
            continue;
        found = true;
        if (!read_piece(reader, &tag))
            return false;
    }
    return found || sinew_text_fail(&reader->text, reader->text.end, "the file ends without a <Piece>");
}

static bool read_vtu(const sinew_source *source, sinew_builder *builder)
{
    vtu_reader reader = {.builder = builder};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, builder->error))
        return false;
    reader.byte_budget = (int64_t)source->size * BYTES_PER_BYTE + BYTES_FREE;
    bool good = find_appended(&reader) && read_root(&reader);
    const char *pieces = reader.text.at;
    reader.trial = true;
    good = good && read_pieces(&reader);
    reader.trial = false;
    reader.text.at = pieces;
    good = good && read_pieces(&reader);
    sinew_release(&builder->allocator, reader.corners);
    sinew_text_close(&reader.text);
    return good;
}

const sinew_mesh_kind sinew_mesh_kind_vtu = {
    .endings = {".vtu"},
    .variants = 1u << SINEW_MESH_VTU_BINARY,
    .read = read_vtu,
    .print = {sinew_vtu_print},
};
