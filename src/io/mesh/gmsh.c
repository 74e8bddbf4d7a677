/* SPDX-License-Identifier: MIT
 *
 * gmsh.c: reads Gmsh .msh files, versions 2.0 to 2.2 and 4.1, ASCII and binary in either byte order.
 *
 * Source: the Gmsh reference manual, chapter "Gmsh file formats" (MSH 4.1, and MSH 2 in "Legacy formats").
 * $MeshFormat, $Nodes, $Elements and a following $ElementData with filled fractions of tets are read; other sections
 * are skipped. Two-node lines, three-node triangles, four-node quadrilaterals (cut in two) and four-node tetrahedra
 * are read; all other cells are counted and named in the warnings. Known limits: $Nodes must come before $Elements;
 * binary files hold 8-byte reals; versions 1, 3 and 4.0 are refused.
 */
#include "io/mesh/file_formats.h"

#include <math.h>
#include <string.h>

#include "io/mesh/scalars.h"
#include "io/mesh/vertex_tags.h"
#include "io/text.h"

typedef struct gmsh_reader {
    sinew_text text;
    sinew_builder *builder;
    sinew_tags tags; /* the file's numbers of its nodes */
    bool binary;
    bool swap; /* true: the byte order of the file is not this machine's */
    bool version_4;
    bool has_nodes;
    bool has_fractions; /* true: the file contains the name of filled fractions, so tet numbers are stored */
    sinew_tags tets;    /* the file's numbers of its tets, for filled fractions */
} gmsh_reader;

/* ---- Element types of Gmsh ----------------------------------------------------------------------- */

typedef struct element_type {
    int node_count;
    const char *plural;
} element_type;

/* Element types by Gmsh's type number: number of nodes and plural name; node count 0: unknown type. */
static const element_type element_types[] = {
    [1] = {2, "lines"},
    [2] = {3, "triangles"},
    [3] = {4, "quadrilaterals"},
    [4] = {4, "tetrahedra"},
    [5] = {8, "hexahedra"},
    [6] = {6, "prisms"},
    [7] = {5, "pyramids"},
    [8] = {3, "second-order lines"},
    [9] = {6, "second-order triangles"},
    [10] = {9, "second-order quadrilaterals"},
    [11] = {10, "second-order tetrahedra"},
    [12] = {27, "second-order hexahedra"},
    [13] = {18, "second-order prisms"},
    [14] = {14, "second-order pyramids"},
    [15] = {1, "points"},
    [16] = {8, "second-order quadrilaterals"},
    [17] = {20, "second-order hexahedra"},
    [18] = {15, "second-order prisms"},
    [19] = {13, "second-order pyramids"},
    [20] = {9, "third-order triangles"},
    [21] = {10, "third-order triangles"},
    [22] = {12, "fourth-order triangles"},
    [23] = {15, "fourth-order triangles"},
    [24] = {15, "fifth-order triangles"},
    [25] = {21, "fifth-order triangles"},
    [26] = {4, "third-order lines"},
    [27] = {5, "fourth-order lines"},
    [28] = {6, "fifth-order lines"},
    [29] = {20, "third-order tetrahedra"},
    [30] = {35, "fourth-order tetrahedra"},
    [31] = {56, "fifth-order tetrahedra"},
    [92] = {64, "third-order hexahedra"},
    [93] = {125, "fourth-order hexahedra"},
};
enum {
    TYPE_COUNT = sizeof element_types / sizeof element_types[0],
    CORNERS_MAX = 4
};

static int node_count_of(int64_t type)
{
    return type >= 0 && type < TYPE_COUNT ? element_types[type].node_count : 0;
}

static void ignore_type(gmsh_reader *reader, int64_t type, int64_t count)
{
    char name[48];
    snprintf(name, sizeof name, "cells of Gmsh type %lld", (long long)type);
    sinew_builder_ignore(reader->builder, node_count_of(type) ? element_types[type].plural : name, count);
}

/* ---- Single numbers, in text or in binary -------------------------------------------------------- */

/* Skips one number of a binary file and sets *bytes to its first byte. */
static bool take_binary(gmsh_reader *reader, sinew_scalar type, const char *what, const unsigned char **bytes)
{
    return sinew_text_block(&reader->text, 1, sinew_scalar_size(type), what, bytes);
}

/* Reads an integer of at least `low` from text or binary: 4 bytes (int) or 8 bytes (size_t) in a binary file. */
static bool gmsh_take_integer(gmsh_reader *reader, sinew_scalar type, int64_t low, const char *what, int64_t *value)
{
    if (!reader->binary)
        return sinew_text_integer(&reader->text, low, INT64_MAX, what, value);
    const char *at = reader->text.at;
    const unsigned char *bytes;
    if (!take_binary(reader, type, what, &bytes))
        return false;
    *value = sinew_scalar_integer(type, bytes, reader->swap);
    return *value >= low || sinew_text_fail(&reader->text, at, "%s must be at least %lld", what, (long long)low);
}

static bool gmsh_take_size(gmsh_reader *reader, const char *what, int64_t *value)
{
    return gmsh_take_integer(reader, SINEW_SCALAR_UINT64, 0, what, value);
}

static bool take_int(gmsh_reader *reader, int64_t low, const char *what, int64_t *value)
{
    return gmsh_take_integer(reader, SINEW_SCALAR_INT32, low, what, value);
}

/* Fails if the rest of the file is too short for `count` items of `words` numbers, each of at least 2 bytes in text and
 * `size` bytes in binary. */
static bool gmsh_check_count(gmsh_reader *reader, int64_t count, int words, int size, const char *what)
{
    size_t each = (size_t)words * (reader->binary ? (size_t)size : 2);
    /* The last number of a text file may lack its separator. */
    return count == 1 || sinew_text_check_count(&reader->text, reader->text.at, count, each, what);
}

static bool gmsh_take_point(gmsh_reader *reader, sinew_real point[3])
{
    if (!reader->binary)
        return sinew_text_point(&reader->text, point);
    const char *at = reader->text.at;
    const unsigned char *bytes;
    if (!sinew_text_block(&reader->text, 3, 8, "coordinates", &bytes))
        return false;
    for (int axis = 0; axis < 3; axis++) {
        point[axis] = (sinew_real)sinew_scalar_real(SINEW_SCALAR_DOUBLE, bytes + 8 * axis, reader->swap);
        if (!isfinite(point[axis]))
            return sinew_text_fail(&reader->text, at, "a coordinate is not a finite number");
    }
    return true;
}

/* ---- The section $Nodes -------------------------------------------------------------------------- */

static bool reserve_nodes(gmsh_reader *reader, int64_t count)
{
    return sinew_tags_reserve(&reader->tags, count, reader->builder->error) == SINEW_OK &&
           sinew_builder_reserve_vertices(reader->builder, count);
}

static bool read_nodes_2(gmsh_reader *reader)
{
    int64_t count;
    if (!sinew_text_integer(&reader->text, 0, INT64_MAX, "the number of nodes", &count))
        return false;
    sinew_text_skip_line(&reader->text);
    if (!gmsh_check_count(reader, count, 4, 7, "nodes") || !reserve_nodes(reader, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t tag;
        sinew_real point[3];
        if (!take_int(reader, 0, "a node number", &tag) || !gmsh_take_point(reader, point))
            return false;
        sinew_tags_add(&reader->tags, tag);
        sinew_builder_add_vertex(reader->builder, point);
    }
    return true;
}

/* Reads a node block of version 4: the tags of its nodes, then their coordinates and parametric coordinates. */
static bool read_node_block(gmsh_reader *reader)
{
    int64_t dimension, entity, parametric, count;
    if (!take_int(reader, 0, "the dimension of an entity", &dimension) ||
        !take_int(reader, INT32_MIN, "the number of an entity", &entity) ||
        !take_int(reader, 0, "the parametric flag", &parametric) ||
        !gmsh_take_size(reader, "the number of nodes of a block", &count))
        return false;
    if (dimension > 3 || parametric > 1)
        return sinew_text_fail(&reader->text, reader->text.at, "a block of nodes has dimension %lld and flag %lld",
                               (long long)dimension, (long long)parametric);
    if (!gmsh_check_count(reader, count, 4, 8, "nodes of a block") || !reserve_nodes(reader, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        int64_t tag;
        if (!gmsh_take_size(reader, "a node number", &tag))
            return false;
        sinew_tags_add(&reader->tags, tag);
    }
    int64_t extra = parametric ? dimension : 0;
    for (int64_t i = 0; i < count; i++) {
        sinew_real point[3];
        if (!gmsh_take_point(reader, point))
            return false;
        for (int64_t k = 0; k < extra; k++) {
            double parameter;
            const unsigned char *skipped;
            if (reader->binary ? !take_binary(reader, SINEW_SCALAR_DOUBLE, "parameter", &skipped)
                               : !sinew_text_real(&reader->text, "a parameter", &parameter))
                return false;
        }
        sinew_builder_add_vertex(reader->builder, point);
    }
    return true;
}

/* Reads the header of $Nodes or $Elements of version 4: numbers of blocks and items, lowest and highest tag. */
static bool read_header_4(gmsh_reader *reader, const char *what, int64_t *blocks, int64_t *count)
{
    int64_t unused;
    return gmsh_take_size(reader, "the number of blocks", blocks) && gmsh_take_size(reader, what, count) &&
           gmsh_take_size(reader, "the lowest number", &unused) &&
           gmsh_take_size(reader, "the highest number", &unused) && gmsh_check_count(reader, *blocks, 4, 5, "blocks");
}

static bool read_nodes_4(gmsh_reader *reader)
{
    int64_t blocks, count;
    const char *at = reader->text.at;
    if (!read_header_4(reader, "the number of nodes", &blocks, &count))
        return false;
    for (int64_t i = 0; i < blocks; i++)
        if (!read_node_block(reader))
            return false;
    if (reader->builder->vertex_count != count)
        return sinew_text_fail(&reader->text, at, "%lld nodes are promised, but the blocks hold %lld", (long long)count,
                               (long long)reader->builder->vertex_count);
    return true;
}

/* Reads $Nodes and builds the lookup of node numbers. `at`: start of the section, for error messages. */
static bool gmsh_read_nodes(gmsh_reader *reader, const char *at)
{
    if (reader->has_nodes)
        return sinew_text_fail(&reader->text, at, "a second $Nodes section: save one mesh per file");
    if (!(reader->version_4 ? read_nodes_4(reader) : read_nodes_2(reader)))
        return false;
    reader->has_nodes = true;
    sinew_error trouble;
    sinew_status status = sinew_tags_index(&reader->tags, &trouble);
    if (status == SINEW_ERROR_FORMAT)
        return sinew_text_fail(&reader->text, at, "in $Nodes %s", trouble.text);
    if (status != SINEW_OK)
        sinew_fail(reader->builder->error, status, "%s", trouble.text);
    return status == SINEW_OK;
}

/* ---- The section $Elements ----------------------------------------------------------------------- */

static bool gmsh_take_corners(gmsh_reader *reader, sinew_scalar type, int count, int32_t *corners)
{
    for (int i = 0; i < count; i++) {
        int64_t tag;
        if (!gmsh_take_integer(reader, type, 0, "a node number", &tag))
            return false;
        const char *end = reader->text.at;
        corners[i] = sinew_tags_find(&reader->tags, tag);
        if (corners[i] < 0)
            return sinew_text_fail(&reader->text, end, "an element refers to node %lld, which $Nodes does not hold",
                                   (long long)tag);
    }
    return true;
}

static bool element_type_is_read(int64_t type)
{
    return type >= 1 && type <= 4;
}

static bool gmsh_add_element(gmsh_reader *reader, int64_t number, int64_t type, const int32_t *corners)
{
    static const int kinds[] = {[1] = SINEW_BUILDER_EDGE, [2] = SINEW_BUILDER_TRIANGLE, [4] = SINEW_BUILDER_TET};
    if (type == 4 && reader->has_fractions) {
        if (sinew_tags_reserve(&reader->tets, 1, reader->builder->error) != SINEW_OK)
            return false;
        sinew_tags_add(&reader->tets, number);
    }
    if (type == 3)
        return sinew_builder_add_polygon(reader->builder, corners, 4);
    return sinew_builder_add_cell(reader->builder, kinds[type], corners);
}

static bool reserve_elements(gmsh_reader *reader, int64_t type, int64_t count)
{
    return type != 4 || sinew_builder_reserve_cells(reader->builder, SINEW_BUILDER_TET, count);
}

/* Reads an element of a version 2 text file: number, type, number of tags, tags, nodes. */
static bool read_element_line(gmsh_reader *reader)
{
    int64_t number, type, tag_count, tag;
    if (!take_int(reader, 0, "an element number", &number) || !take_int(reader, 0, "an element type", &type) ||
        !take_int(reader, 0, "the number of tags", &tag_count))
        return false;
    if (!element_type_is_read(type)) {
        ignore_type(reader, type, 1);
        sinew_text_skip_line(&reader->text);
        return true;
    }
    int32_t corners[CORNERS_MAX];
    for (int64_t i = 0; i < tag_count; i++)
        if (!take_int(reader, INT64_MIN, "a tag", &tag))
            return false;
    return gmsh_take_corners(reader, SINEW_SCALAR_INT32, node_count_of(type), corners) &&
           gmsh_add_element(reader, number, type, corners);
}

static bool gmsh_fail_type(gmsh_reader *reader, const char *at, int64_t type)
{
    return sinew_text_fail(&reader->text, at,
                           "element type %lld is not known, so its size is not: save the mesh as ASCII",
                           (long long)type);
}

/* Reads a block of elements of a version 2 binary file: type, number of elements, number of tags; then number, tags and
 * nodes of each. */
static bool read_binary_block_2(gmsh_reader *reader, int64_t left, int64_t *count)
{
    const char *at = reader->text.at;
    int64_t type, tag_count;
    if (!take_int(reader, 0, "an element type", &type) || !take_int(reader, 1, "the size of a block", count) ||
        !take_int(reader, 0, "the number of tags", &tag_count))
        return false;
    if (node_count_of(type) == 0)
        return gmsh_fail_type(reader, at, type);
    if (*count > left)
        return sinew_text_fail(&reader->text, at, "a block of %lld elements where %lld are left", (long long)*count,
                               (long long)left);
    size_t size = 4 * (size_t)(1 + tag_count + node_count_of(type));
    const unsigned char *block;
    if (!element_type_is_read(type)) {
        ignore_type(reader, type, *count);
        return sinew_text_block(&reader->text, *count, size, "elements", &block);
    }
    if (!sinew_text_check_count(&reader->text, at, *count, size, "elements") || !reserve_elements(reader, type, *count))
        return false;
    for (int64_t i = 0; i < *count; i++) {
        int32_t corners[CORNERS_MAX];
        if (!sinew_text_block(&reader->text, 1 + tag_count, 4, "tags", &block))
            return false;
        const int64_t given = sinew_scalar_integer(SINEW_SCALAR_INT32, block, reader->swap);
        const int64_t number = given < 0 ? 0 : given;
        if (!gmsh_take_corners(reader, SINEW_SCALAR_INT32, node_count_of(type), corners) ||
            !gmsh_add_element(reader, number, type, corners))
            return false;
    }
    return true;
}

static bool read_elements_2(gmsh_reader *reader)
{
    int64_t count, done;
    if (!sinew_text_integer(&reader->text, 0, INT64_MAX, "the number of elements", &count))
        return false;
    sinew_text_skip_line(&reader->text);
    if (!gmsh_check_count(reader, count, 4, 2, "elements"))
        return false;
    for (int64_t i = 0; i < count; i += done) {
        done = 1;
        if (reader->binary ? !read_binary_block_2(reader, count - i, &done) : !read_element_line(reader))
            return false;
    }
    return true;
}

/* Reads an element block of version 4: dimension, entity, type, number of elements; then number and nodes of each. */
static bool read_element_block(gmsh_reader *reader, int64_t *count)
{
    int64_t dimension, entity, type, number;
    if (!take_int(reader, 0, "the dimension of an entity", &dimension) ||
        !take_int(reader, INT32_MIN, "the number of an entity", &entity) ||
        !take_int(reader, 0, "an element type", &type) ||
        !gmsh_take_size(reader, "the number of elements of a block", count))
        return false;
    int nodes = node_count_of(type);
    if (!gmsh_check_count(reader, *count, 1 + nodes, 8, "elements of a block") ||
        !reserve_elements(reader, type, *count))
        return false;
    if (reader->binary && nodes == 0)
        return gmsh_fail_type(reader, reader->text.at, type);
    const unsigned char *block;
    if (!element_type_is_read(type)) {
        ignore_type(reader, type, *count);
        if (reader->binary)
            return sinew_text_block(&reader->text, *count, 8 * (size_t)(1 + nodes), "elements", &block);
        /* One more line break than elements is skipped: the first ends the header of the block. */
        for (int64_t i = 0; i <= *count; i++)
            sinew_text_skip_line(&reader->text);
        return true;
    }
    for (int64_t i = 0; i < *count; i++) {
        int32_t corners[CORNERS_MAX];
        if (!gmsh_take_size(reader, "an element number", &number) ||
            !gmsh_take_corners(reader, SINEW_SCALAR_UINT64, nodes, corners) ||
            !gmsh_add_element(reader, number, type, corners))
            return false;
    }
    return true;
}

static bool read_elements_4(gmsh_reader *reader)
{
    int64_t blocks, promised, count, total = 0;
    const char *at = reader->text.at;
    if (!read_header_4(reader, "the number of elements", &blocks, &promised))
        return false;
    for (int64_t i = 0; i < blocks; i++) {
        if (!read_element_block(reader, &count))
            return false;
        total += count;
    }
    if (total != promised)
        return sinew_text_fail(&reader->text, at, "%lld elements are promised, but the blocks hold %lld",
                               (long long)promised, (long long)total);
    return true;
}

static bool gmsh_read_elements(gmsh_reader *reader, const char *at)
{
    if (!reader->has_nodes)
        return sinew_text_fail(&reader->text, at, "$Elements stands before $Nodes: open and save the file with gmsh");
    return reader->version_4 ? read_elements_4(reader) : read_elements_2(reader);
}

/* ---- Filled fractions of tets -------------------------------------------------------------------- */

/* Reads the header of $ElementData after its name: counted lists of reals and integers. The third integer is the number
 * of values. */
static bool read_element_data_header(gmsh_reader *reader, int64_t *count)
{
    sinew_text *text = &reader->text;
    sinew_token token;
    int64_t reals, integers, skipped;
    double real;
    if (!sinew_text_integer(text, 0, 1, "the number of reals", &reals) ||
        (reals && !sinew_text_real(text, "a time", &real)) ||
        !sinew_text_integer(text, 3, 4, "the number of integers", &integers) ||
        !sinew_text_integer(text, INT32_MIN, INT32_MAX, "a time step", &skipped) ||
        !sinew_text_integer(text, 1, 1, "the number of components", &skipped) ||
        !sinew_text_integer(text, 0, INT32_MAX, "the number of fractions", count))
        return false;
    if (integers == 4)
        sinew_text_next_on_line(text, &token);
    sinew_text_skip_line(text);
    return gmsh_check_count(reader, *count, 2, 6, "fractions");
}

static bool gmsh_take_fraction(gmsh_reader *reader)
{
    const char *at = reader->text.at;
    int64_t number;
    double fraction;
    const unsigned char *bytes;
    if (!take_int(reader, 0, "an element number", &number))
        return false;
    if (!reader->binary) {
        if (!sinew_text_real(&reader->text, "a fraction", &fraction))
            return false;
    } else {
        if (!take_binary(reader, SINEW_SCALAR_DOUBLE, "a fraction", &bytes))
            return false;
        fraction = sinew_scalar_real(SINEW_SCALAR_DOUBLE, bytes, reader->swap);
    }
    const int32_t tet = sinew_tags_find(&reader->tets, number);
    if (tet >= 0 && !((sinew_real)fraction > 0 && (sinew_real)fraction <= 1))
        return sinew_text_fail(&reader->text, at, "%g of element %lld is filled; it must be above 0 and at most 1",
                               fraction, (long long)number);
    return tet < 0 || sinew_builder_set_fraction(reader->builder, tet, fraction);
}

/* Searches the sections after $Elements for the tets' filled fractions and stores them in the builder. */
static bool read_fractions(gmsh_reader *reader)
{
    static const char opening[] = "$ElementData\n1\n\"" SINEW_FRACTION_NAME "\"";
    sinew_text *text = &reader->text;
    sinew_error trouble;
    int64_t count;
    const char *found = memmem(text->at, sinew_text_left(text), opening, sizeof opening - 1);
    if (!found)
        return true;
    const sinew_status status = sinew_tags_index(&reader->tets, &trouble);
    if (status == SINEW_ERROR_FORMAT)
        return sinew_text_fail(text, text->at, "in $Elements %s", trouble.text);
    if (status != SINEW_OK)
        return sinew_fail(reader->builder->error, status, "%s", trouble.text) == SINEW_OK;
    text->at = found + sizeof opening - 1;
    bool good = read_element_data_header(reader, &count);
    for (int64_t i = 0; good && i < count; i++)
        good = gmsh_take_fraction(reader);
    return good;
}

/* ---- Sections of the Gmsh file ------------------------------------------------------------------- */

/* Reads the integer 1 after the format line of a binary file; sets reader->swap if it is in the other byte order. */
static bool read_byte_order(gmsh_reader *reader)
{
    const char *at = reader->text.at;
    const unsigned char *bytes;
    reader->text.binary = true;
    if (!sinew_text_block(&reader->text, 1, 4, "byte order mark", &bytes))
        return false;
    reader->swap = sinew_scalar_integer(SINEW_SCALAR_INT32, bytes, false) != 1;
    if (reader->swap && sinew_scalar_integer(SINEW_SCALAR_INT32, bytes, true) != 1)
        return sinew_text_fail(&reader->text, at, "the byte order mark is not the number 1");
    return true;
}

static bool gmsh_read_format(gmsh_reader *reader)
{
    double version;
    int64_t type, size;
    const char *at = reader->text.at;
    if (!sinew_text_expect(&reader->text, "$MeshFormat") ||
        !sinew_text_real(&reader->text, "the version of the format", &version) ||
        !sinew_text_integer(&reader->text, 0, 1, "the file type (0 ASCII, 1 binary)", &type) ||
        !sinew_text_integer(&reader->text, 1, 64, "the data size", &size))
        return false;
    reader->version_4 = version == 4.1;
    if (!reader->version_4 && !(version >= 2 && version <= 2.2))
        return sinew_text_fail(&reader->text, at,
                               "format version %g is not read: save as 2.2 or 4.1 (gmsh -save -format msh41)", version);
    reader->binary = type == 1;
    if (reader->binary && size != 8)
        return sinew_text_fail(&reader->text, at, "a binary file with data of %lld bytes is not read, only 8",
                               (long long)size);
    sinew_text_skip_line(&reader->text);
    if (reader->binary && !read_byte_order(reader))
        return false;
    return sinew_text_expect(&reader->text, "$EndMeshFormat");
}

/* Skips to the end of a section, after $EndName; the content of the section is arbitrary. */
static bool skip_section(gmsh_reader *reader, sinew_token name)
{
    char closing[64];
    if (name.length < 2 || name.at[0] != '$' || name.length > sizeof closing - 8)
        return sinew_text_fail(&reader->text, name.at, "expected a section such as $Nodes");
    snprintf(closing, sizeof closing, "$End%.*s", (int)name.length - 1, name.at + 1);
    const char *found = memmem(reader->text.at, sinew_text_left(&reader->text), closing, strlen(closing));
    if (!found)
        return sinew_text_fail(&reader->text, name.at, "%s is missing: the file is cut short", closing);
    reader->text.at = found + strlen(closing);
    return true;
}

static bool read_sections(gmsh_reader *reader)
{
    if (!gmsh_read_format(reader))
        return false;
    sinew_token name;
    while (sinew_text_next(&reader->text, &name)) {
        if (sinew_token_is(name, "$Nodes")) {
            sinew_text_skip_line(&reader->text);
            if (!gmsh_read_nodes(reader, name.at) || !sinew_text_expect(&reader->text, "$EndNodes"))
                return false;
        } else if (sinew_token_is(name, "$Elements")) {
            sinew_text_skip_line(&reader->text);
            return gmsh_read_elements(reader, name.at) && sinew_text_expect(&reader->text, "$EndElements") &&
                   (!reader->has_fractions || read_fractions(reader));
        } else if (!skip_section(reader, name)) {
            return false;
        }
    }
    return sinew_text_fail(&reader->text, reader->text.end, "the file ends without %s",
                           reader->has_nodes ? "$Elements" : "$Nodes");
}

static bool read_gmsh(const sinew_source *source, sinew_builder *builder)
{
    gmsh_reader reader = {.builder = builder};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, builder->error))
        return false;
    static const char name[] = "\"" SINEW_FRACTION_NAME "\"";
    reader.has_fractions = memmem(source->bytes, source->size, name, sizeof name - 1) != NULL;
    sinew_tags_open(&reader.tags, &builder->allocator);
    sinew_tags_open(&reader.tets, &builder->allocator);
    bool good = read_sections(&reader);
    sinew_tags_close(&reader.tags);
    sinew_tags_close(&reader.tets);
    sinew_text_close(&reader.text);
    return good;
}

const sinew_mesh_kind sinew_mesh_kind_gmsh = {
    .endings = {".msh"},
    .variants = 1u << SINEW_MESH_GMSH_2_ASCII | 1u << SINEW_MESH_GMSH_2_BINARY | 1u << SINEW_MESH_GMSH_4_ASCII |
                1u << SINEW_MESH_GMSH_4_BINARY,
    .read = read_gmsh,
    .print = {sinew_gmsh_print},
};
