/* SPDX-License-Identifier: MIT
 *
 * ply.c: reads and writes .ply files; reads ASCII and binary in either byte order.
 *
 * Source: G. Turk, "The PLY polygon file format" (1994). The header names elements and their properties in any order;
 * x, y, z of `vertex`, the list vertex_indices (or vertex_index) of `face` and vertex1, vertex2 of `edge` are read,
 * everything else is skipped. A skin also gets the other numbers of `vertex` as painted values; byte colours are
 * scaled to 0 .. 1. Faces of more than three corners are triangulated. The writer writes ASCII, with edges if the
 * mesh has edges. Known limits: `vertex` must come before `face` and `edge`; at most 16 elements, 64 properties each.
 */
#include "io/mesh/file_formats.h"

#include <math.h>
#include <string.h>

#include "io/mesh/scalars.h"
#include "io/mesh/embedded_builder.h"
#include "io/text.h"

enum {
    ELEMENTS_MAX = 16,
    PROPERTIES_MAX = 64
};

/* The meaning of a PLY property to the reader. */
typedef enum ply_role {
    ROLE_NONE = 0,
    ROLE_X,
    ROLE_Y,
    ROLE_Z,
    ROLE_CORNERS,
    ROLE_FIRST,
    ROLE_SECOND
} ply_role;

typedef struct ply_property {
    sinew_scalar count_type; /* type of a list property's length; NONE: the property is not a list */
    sinew_scalar type;
    ply_role role;
    int32_t attribute; /* index of the skin's attribute that the property sets; -1: none */
    double scale;      /* factor from the property's number to the value of the skin's attribute */
} ply_property;

typedef enum ply_meaning {
    MEANS_NOTHING = 0,
    MEANS_VERTEX,
    MEANS_FACE,
    MEANS_EDGE
} ply_meaning;

typedef struct ply_element {
    char name[32];
    ply_meaning meaning;
    int64_t count;
    const char *at; /* start of the element's line in the PLY header */
    int property_count;
    ply_property properties[PROPERTIES_MAX];
} ply_element;

typedef struct ply_reader {
    sinew_text text;
    sinew_builder *builder;
    bool binary;
    bool swap;
    int element_count;
    int32_t *corners; /* [corner_capacity] vertex indices of the current face */
    int64_t corner_capacity;
    ply_element elements[ELEMENTS_MAX];
} ply_reader;

/* Values that were read from one row of a PLY element. */
typedef struct ply_row {
    double values[3];     /* coordinates x, y, z of a vertex */
    int64_t ends[2];      /* indices of the vertices at both ends of an edge */
    int64_t corner_count; /* number of corners of a face in ply_reader.corners; 0: no list was read */
} ply_row;

/* ---- The PLY header ------------------------------------------------------------------------------ */

static sinew_scalar ply_type_named(sinew_token token)
{
    static const struct {
        const char *name;
        sinew_scalar type;
    } names[] = {
        {"char", SINEW_SCALAR_INT8},      {"int8", SINEW_SCALAR_INT8},     {"uchar", SINEW_SCALAR_UINT8},
        {"uint8", SINEW_SCALAR_UINT8},    {"short", SINEW_SCALAR_INT16},   {"int16", SINEW_SCALAR_INT16},
        {"ushort", SINEW_SCALAR_UINT16},  {"uint16", SINEW_SCALAR_UINT16}, {"int", SINEW_SCALAR_INT32},
        {"int32", SINEW_SCALAR_INT32},    {"uint", SINEW_SCALAR_UINT32},   {"uint32", SINEW_SCALAR_UINT32},
        {"float", SINEW_SCALAR_FLOAT},    {"float32", SINEW_SCALAR_FLOAT}, {"double", SINEW_SCALAR_DOUBLE},
        {"float64", SINEW_SCALAR_DOUBLE},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (sinew_token_is(token, names[i].name))
            return names[i].type;
    return SINEW_SCALAR_NONE;
}

static ply_role role_named(ply_meaning meaning, sinew_token token)
{
    static const struct {
        ply_meaning meaning;
        const char *name;
        ply_role role;
    } roles[] = {
        {MEANS_VERTEX, "x", ROLE_X},
        {MEANS_VERTEX, "y", ROLE_Y},
        {MEANS_VERTEX, "z", ROLE_Z},
        {MEANS_FACE, "vertex_indices", ROLE_CORNERS},
        {MEANS_FACE, "vertex_index", ROLE_CORNERS},
        {MEANS_EDGE, "vertex1", ROLE_FIRST},
        {MEANS_EDGE, "vertex2", ROLE_SECOND},
    };
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (roles[i].meaning == meaning && sinew_token_is(token, roles[i].name))
            return roles[i].role;
    return ROLE_NONE;
}

static bool ply_read_type(ply_reader *reader, sinew_scalar *type)
{
    sinew_token token;
    sinew_text_next_on_line(&reader->text, &token);
    *type = ply_type_named(token);
    return *type != SINEW_SCALAR_NONE || sinew_text_fail(&reader->text, token.at, "a property has an unknown type");
}

static bool is_colour(sinew_token name)
{
    return sinew_token_is(name, "red") || sinew_token_is(name, "green") || sinew_token_is(name, "blue") ||
           sinew_token_is(name, "alpha");
}

static bool read_property(ply_reader *reader)
{
    sinew_text *text = &reader->text;
    if (reader->element_count == 0)
        return sinew_text_fail(text, text->at, "a property stands before the first element");
    ply_element *element = &reader->elements[reader->element_count - 1];
    if (element->property_count == PROPERTIES_MAX)
        return sinew_text_fail(text, text->at, "an element has more than %d properties", PROPERTIES_MAX);
    ply_property *property = &element->properties[element->property_count++];
    *property = (ply_property){SINEW_SCALAR_NONE, SINEW_SCALAR_NONE, ROLE_NONE, -1, 1};
    sinew_token token;
    const char *start = text->at;
    bool list = sinew_text_next_on_line(text, &token) && sinew_token_is(token, "list");
    if (!list)
        text->at = start;
    else if (!ply_read_type(reader, &property->count_type))
        return false;
    if (!ply_read_type(reader, &property->type))
        return false;
    if (list && !sinew_scalar_is_integer(property->count_type))
        return sinew_text_fail(text, start, "a list is counted by real numbers");
    if (!sinew_text_next_on_line(text, &token))
        return sinew_text_fail(text, token.at, "a property lacks its name");
    property->role = role_named(element->meaning, token);
    if (property->role != ROLE_NONE && list != (property->role == ROLE_CORNERS))
        return sinew_text_fail(text, start, "a property is %s", list ? "a list and must not be" : "not a list");
    if (property->role >= ROLE_CORNERS && !sinew_scalar_is_integer(property->type))
        return sinew_text_fail(text, start, "vertex indices are given as real numbers");
    bool good = true;
    if (element->meaning == MEANS_VERTEX && property->role == ROLE_NONE && !list)
        property->attribute = sinew_skin_builder_find_attribute(reader->builder, token.at, token.length, &good);
    if (property->type == SINEW_SCALAR_UINT8 && is_colour(token))
        property->scale = 1.0 / 255;
    return good;
}

static bool read_element(ply_reader *reader)
{
    sinew_text *text = &reader->text;
    if (reader->element_count == ELEMENTS_MAX)
        return sinew_text_fail(text, text->at, "more than %d elements", ELEMENTS_MAX);
    ply_element *element = &reader->elements[reader->element_count];
    sinew_token name;
    element->at = text->at;
    if (!sinew_text_next_on_line(text, &name) ||
        !sinew_text_integer(text, 0, INT32_MAX, "the number of elements", &element->count))
        return sinew_text_fail(text, element->at, "expected 'element NAME COUNT'");
    snprintf(element->name, sizeof element->name, "%.*s", name.length < 31 ? (int)name.length : 31, name.at);
    element->meaning = sinew_token_is(name, "vertex") ? MEANS_VERTEX
                       : sinew_token_is(name, "face") ? MEANS_FACE
                       : sinew_token_is(name, "edge") ? MEANS_EDGE
                                                      : MEANS_NOTHING;
    element->property_count = 0;
    reader->element_count++;
    return true;
}

static bool ply_read_format(ply_reader *reader)
{
    sinew_token token;
    sinew_text_next_on_line(&reader->text, &token);
    reader->binary = !sinew_token_is(token, "ascii");
    bool big = sinew_token_is(token, "binary_big_endian");
    reader->swap = big != sinew_host_is_big_endian();
    return !reader->binary || big || sinew_token_is(token, "binary_little_endian") ||
           sinew_text_fail(&reader->text, token.at,
                           "the format is none of ascii, binary_little_endian and "
                           "binary_big_endian");
}

static bool ply_read_header(ply_reader *reader)
{
    sinew_text *text = &reader->text;
    sinew_token token;
    bool has_format = false;
    if (!sinew_text_next(text, &token) || !sinew_token_is(token, "ply"))
        return sinew_text_fail(text, token.at, "expected 'ply'");
    while (sinew_text_next(text, &token)) {
        bool good = true;
        if (sinew_token_is(token, "end_header")) {
            sinew_text_skip_line(text);
            return has_format || sinew_text_fail(text, token.at, "the header lacks its format");
        }
        if (sinew_token_is(token, "format"))
            good = has_format = ply_read_format(reader);
        else if (sinew_token_is(token, "element"))
            good = read_element(reader);
        else if (sinew_token_is(token, "property"))
            good = read_property(reader);
        else if (!sinew_token_is(token, "comment") && !sinew_token_is(token, "obj_info"))
            return sinew_text_fail(text, token.at, "the header has a line that starts with an unknown word");
        if (!good)
            return false;
        sinew_text_skip_line(text);
    }
    return sinew_text_fail(text, text->end, "the file ends without end_header");
}

/* ---- Rows of PLY elements ------------------------------------------------------------------------ */

static bool ply_take_integer(ply_reader *reader, sinew_scalar type, int64_t low, int64_t high, const char *what,
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

static bool take_real(ply_reader *reader, sinew_scalar type, double *value)
{
    if (!reader->binary)
        return sinew_text_real(&reader->text, "a number", value);
    const unsigned char *bytes;
    if (!sinew_text_block(&reader->text, 1, sinew_scalar_size(type), "numbers", &bytes))
        return false;
    *value = sinew_scalar_real(type, bytes, reader->swap);
    return true;
}

static bool ply_take_list(ply_reader *reader, const ply_property *property, ply_row *row)
{
    int64_t count, index;
    double skipped;
    const char *at = reader->text.at;
    size_t each = reader->binary ? sinew_scalar_size(property->type) : 2;
    if (!ply_take_integer(reader, property->count_type, 0, INT32_MAX, "the length of a list", &count) ||
        !sinew_text_check_count(&reader->text, at, count, each, "entries of a list"))
        return false;
    bool wanted = property->role == ROLE_CORNERS;
    if (wanted && !sinew_builder_reserve_corners(reader->builder, &reader->corners, &reader->corner_capacity, count))
        return false;
    for (int64_t i = 0; i < count; i++) {
        if (!wanted && !take_real(reader, property->type, &skipped))
            return false;
        if (!wanted)
            continue;
        if (!ply_take_integer(reader, property->type, 0, reader->builder->vertex_count - 1, "a vertex index", &index))
            return false;
        reader->corners[i] = (int32_t)index;
    }
    if (wanted)
        row->corner_count = count;
    return true;
}

static bool take_property(ply_reader *reader, const ply_property *property, ply_row *row)
{
    double skipped;
    if (property->count_type != SINEW_SCALAR_NONE)
        return ply_take_list(reader, property, row);
    if (property->role == ROLE_FIRST || property->role == ROLE_SECOND)
        return ply_take_integer(reader, property->type, 0, reader->builder->vertex_count - 1, "a vertex index",
                                &row->ends[property->role - ROLE_FIRST]);
    bool wanted = property->role != ROLE_NONE;
    /* The vertex is added after the last property of its row, so its index is the current count. */
    return take_real(reader, property->type, wanted ? &row->values[property->role - ROLE_X] : &skipped) &&
           (wanted || sinew_skin_builder_set_value(reader->builder, property->attribute, reader->builder->vertex_count,
                                                   property->scale * skipped));
}

static bool add_vertex(ply_reader *reader, const char *at, const ply_row *row)
{
    sinew_real point[3];
    for (int axis = 0; axis < 3; axis++) {
        point[axis] = (sinew_real)row->values[axis];
        if (!isfinite(point[axis]))
            return sinew_text_fail(&reader->text, at, "a coordinate is not a finite number");
    }
    return sinew_builder_add_vertex(reader->builder, point);
}

static bool ply_read_row(ply_reader *reader, const ply_element *element)
{
    ply_row row = {.corner_count = 0};
    const char *at = reader->text.at;
    for (int i = 0; i < element->property_count; i++)
        if (!take_property(reader, &element->properties[i], &row))
            return false;
    if (element->meaning == MEANS_VERTEX)
        return add_vertex(reader, at, &row);
    if (element->meaning == MEANS_FACE)
        return sinew_builder_add_polygon(reader->builder, reader->corners, row.corner_count);
    if (element->meaning == MEANS_EDGE)
        return sinew_builder_add_cell(reader->builder, SINEW_BUILDER_EDGE,
                                      (int32_t[]){(int32_t)row.ends[0], (int32_t)row.ends[1]});
    return true;
}

/* Fails if a PLY element that the reader uses lacks a mandatory property, or if the file is too short for its rows. */
static bool check_element(ply_reader *reader, const ply_element *element)
{
    static const unsigned needed[] = {
        [MEANS_NOTHING] = 0,
        [MEANS_VERTEX] = 1u << ROLE_X | 1u << ROLE_Y | 1u << ROLE_Z,
        [MEANS_FACE] = 1u << ROLE_CORNERS,
        [MEANS_EDGE] = 1u << ROLE_FIRST | 1u << ROLE_SECOND,
    };
    unsigned present = 0;
    size_t min = 0;
    for (int i = 0; i < element->property_count; i++) {
        const ply_property *property = &element->properties[i];
        present |= 1u << property->role;
        bool list = property->count_type != SINEW_SCALAR_NONE;
        min += !reader->binary ? 2 : sinew_scalar_size(list ? property->count_type : property->type);
    }
    if ((present & needed[element->meaning]) != needed[element->meaning])
        return sinew_text_fail(&reader->text, element->at, "the element '%s' lacks %s", element->name,
                               element->meaning == MEANS_VERTEX ? "x, y or z"
                               : element->meaning == MEANS_FACE ? "vertex_indices"
                                                                : "vertex1 or vertex2");
    /* The last number of a text file may lack its separator. */
    return element->count <= 1 ||
           sinew_text_check_count(&reader->text, element->at, element->count, min, "rows of an element");
}

static bool ply_read_elements(ply_reader *reader)
{
    for (int e = 0; e < reader->element_count; e++) {
        const ply_element *element = &reader->elements[e];
        if (!check_element(reader, element))
            return false;
        if (element->property_count == 0)
            continue;
        if (element->meaning == MEANS_NOTHING)
            sinew_builder_ignore(reader->builder, element->name, element->count);
        if (element->meaning == MEANS_VERTEX && !sinew_builder_reserve_vertices(reader->builder, element->count))
            return false;
        for (int64_t i = 0; i < element->count; i++)
            if (!ply_read_row(reader, element))
                return false;
    }
    return true;
}

static bool read_ply(const sinew_source *source, sinew_builder *builder)
{
    /* The reader struct takes about 26 kB, more than a small stack of a host program's thread may have left. */
    ply_reader *reader = sinew_allocate_zero(&builder->allocator, 1, sizeof *reader);
    if (!reader) {
        sinew_fail_memory(builder->error, "the header");
        return false;
    }
    reader->builder = builder;
    bool good = sinew_text_open(&reader->text, source->name, source->bytes, source->size, builder->error);
    if (good) {
        good = ply_read_header(reader);
        reader->text.binary = reader->binary;
        good = good && ply_read_elements(reader);
        sinew_text_close(&reader->text);
    }
    sinew_release(&builder->allocator, reader->corners);
    sinew_release(&builder->allocator, reader);
    return good;
}

/* ---- Writing of PLY files ------------------------------------------------------------------------ */

static void print_ply(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    const char *real = sizeof(sinew_real) == 8 ? "double" : "float";
    fprintf(stream,
            "ply\nformat ascii 1.0\nelement vertex %d\nproperty %s x\nproperty %s y\nproperty %s z\n"
            "element face %d\nproperty list uchar int vertex_indices\n",
            sinew_mesh_vertex_count(mesh), real, real, real, sinew_mesh_triangle_count(mesh));
    if (sinew_mesh_edge_count(mesh) > 0)
        fprintf(stream, "element edge %d\nproperty int vertex1\nproperty int vertex2\n", sinew_mesh_edge_count(mesh));
    fputs("end_header\n", stream);
    const sinew_real *q = sinew_mesh_positions(mesh);
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++, q += 3)
        fprintf(stream, SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT "\n", q[0], q[1], q[2]);
    const int32_t *t = sinew_mesh_triangles(mesh);
    for (int32_t i = 0; i < sinew_mesh_triangle_count(mesh); i++, t += 3)
        fprintf(stream, "3 %d %d %d\n", t[0], t[1], t[2]);
    const int32_t *e = sinew_mesh_edges(mesh);
    for (int32_t i = 0; i < sinew_mesh_edge_count(mesh); i++, e += 2)
        fprintf(stream, "%d %d\n", e[0], e[1]);
}

const sinew_mesh_kind sinew_mesh_kind_ply = {
    .endings = {".ply"},
    .surface = true,
    .read = read_ply,
    .print = {print_ply},
};
