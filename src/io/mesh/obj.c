/* SPDX-License-Identifier: MIT
 *
 * obj.c: reads and writes Wavefront .obj files: vertices (v), faces (f) and lines (l).
 *
 * Source: Wavefront Advanced Visualizer manual, appendix B1 "Object files". All vertices keep their order, including
 * unused ones, because point caches refer to them by index. Faces of more than three corners are triangulated. A
 * skin also gets texture coordinates (vt), vertex colours, groups (g, o), materials (usemtl) and the name of their
 * file (mtllib). Normals are skipped; points and free-form curves and surfaces are counted in the warnings. Known
 * limits: a face may refer only to earlier vertices, as the format requires.
 */
#include "io/mesh/file_formats.h"

#include <math.h>
#include <string.h>

#include "io/mesh/embedded_builder.h"
#include "io/text.h"

typedef struct obj_reader {
    sinew_text text;
    sinew_builder *builder;
    int32_t *corners; /* [2 * capacity] corners of the current face: vertices; from `capacity` on, uv indices or -1 */
    int64_t count;
    int64_t capacity;
    bool textured;     /* true: some corner of the current face has a texture coordinate */
    int64_t wrong_uvs; /* number of invalid references to texture coordinates, for the warnings */
} obj_reader;

/* Reads the next word of an OBJ line; a backslash at the end continues the line. */
static bool next_word(obj_reader *reader, sinew_token *token)
{
    while (sinew_text_next_on_line(&reader->text, token)) {
        if (!sinew_token_is(*token, "\\"))
            return true;
        sinew_text_skip_line(&reader->text);
    }
    return false;
}

static void skip_line(obj_reader *reader)
{
    sinew_token token;
    while (next_word(reader, &token))
        continue;
}

/* Reads the numbers after the coordinates of a vertex (red, green and blue, preceded by a weight if there are four) as
 * painted values of the skin. */
static bool obj_read_colour(obj_reader *reader)
{
    static const char *const names[3] = {"red", "green", "blue"};
    sinew_real numbers[4];
    int count = 0;
    sinew_token token;
    while (count < 4 && next_word(reader, &token))
        if (!sinew_token_coordinate(&reader->text, token, &numbers[count++]))
            return false;
    skip_line(reader);
    bool good = true;
    for (int i = 0; i < 3 && count >= 3 && good; i++) {
        const int32_t attribute = sinew_skin_builder_find_attribute(reader->builder, names[i], strlen(names[i]), &good);
        good = good && sinew_skin_builder_set_value(reader->builder, attribute, reader->builder->vertex_count - 1,
                                                    (double)numbers[count - 3 + i]);
    }
    return good;
}

static bool read_vertex(obj_reader *reader)
{
    sinew_real point[3];
    for (int axis = 0; axis < 3; axis++) {
        sinew_token token;
        if (!next_word(reader, &token))
            return sinew_text_fail(&reader->text, token.at, "a vertex needs three coordinates");
        if (!sinew_token_coordinate(&reader->text, token, &point[axis]))
            return false;
    }
    return sinew_builder_add_vertex(reader->builder, point) &&
           (reader->builder->skin ? obj_read_colour(reader) : (skip_line(reader), true));
}

/* Reads a texture coordinate (vt): u and the optional v. */
static bool read_uv(obj_reader *reader)
{
    sinew_real uv[2] = {0, 0};
    sinew_token token;
    for (int i = 0; i < 2 && next_word(reader, &token); i++)
        if (!sinew_token_coordinate(&reader->text, token, &uv[i]))
            return false;
    skip_line(reader);
    const float u = (float)uv[0], v = (float)uv[1];
    return sinew_skin_builder_add_uv(reader->builder, isfinite(u) ? u : 0, isfinite(v) ? v : 0);
}

/* Returns the text from the next word of an OBJ line to its last word, as one name; empty if no word follows. */
static sinew_token read_name(obj_reader *reader)
{
    sinew_token token, name = {reader->text.at, 0};
    if (next_word(reader, &name))
        while (next_word(reader, &token))
            name.length = (size_t)(token.at + token.length - name.at);
    return name;
}

static bool read_group(obj_reader *reader)
{
    const sinew_token name = read_name(reader);
    return sinew_skin_builder_set_name(reader->builder, SINEW_SKIN_GROUP, name.at, name.length);
}

static bool read_material(obj_reader *reader)
{
    const sinew_token name = read_name(reader);
    return sinew_skin_builder_set_name(reader->builder, SINEW_SKIN_MATERIAL, name.at, name.length);
}

static bool read_library(obj_reader *reader)
{
    const sinew_token name = read_name(reader);
    return sinew_skin_builder_set_library(reader->builder, name.at, name.length);
}

static bool push_corner(obj_reader *reader, int32_t vertex, int32_t uv)
{
    if (reader->count == reader->capacity) {
        int64_t capacity = 2 * reader->capacity + 16;
        int32_t *grown = sinew_allocate(&reader->builder->allocator, 2 * (size_t)capacity, sizeof *grown);
        if (!grown) {
            sinew_fail_memory(reader->builder->error, "the corners of a face");
            return false;
        }
        for (int64_t i = 0; i < reader->count; i++) {
            grown[i] = reader->corners[i];
            grown[capacity + i] = reader->corners[reader->capacity + i];
        }
        sinew_release(&reader->builder->allocator, reader->corners);
        reader->corners = grown;
        reader->capacity = capacity;
    }
    reader->corners[reader->capacity + reader->count] = uv;
    reader->corners[reader->count++] = vertex;
    reader->textured = reader->textured || uv >= 0;
    return true;
}

/* Index of the texture coordinate of a face corner ("1" of "7/1/3"), -1: none. An invalid reference is counted in the
 * warnings. */
static int32_t corner_uv(obj_reader *reader, sinew_token token, size_t vertex_length)
{
    if (!reader->builder->skin || vertex_length + 1 >= token.length || token.at[vertex_length + 1] == '/')
        return -1;
    sinew_token number = {token.at + vertex_length + 1, 0};
    while (vertex_length + 1 + number.length < token.length && number.at[number.length] != '/')
        number.length++;
    const int64_t count = reader->builder->skin->uvs.count;
    int64_t index = 0;
    sinew_text quiet = reader->text;
    quiet.error = NULL;
    if (!sinew_token_integer(&quiet, number, -count, count, "a texture coordinate", &index) || index == 0) {
        reader->wrong_uvs++;
        return -1;
    }
    return (int32_t)(index < 0 ? count + index : index - 1);
}

/* Reads a face corner "7", "7/1", "7//3" or "7/1/3"; negative indices count back from the latest vertex. */
static bool read_corner(obj_reader *reader, sinew_token token)
{
    int64_t index, count = reader->builder->vertex_count;
    sinew_token number = {token.at, 0};
    while (number.length < token.length && token.at[number.length] != '/')
        number.length++;
    if (!sinew_token_integer(&reader->text, number, -count, count, "a vertex index", &index))
        return false;
    if (index == 0)
        return sinew_text_fail(&reader->text, token.at, "a vertex index is 0, but they count from 1");
    return push_corner(reader, (int32_t)(index < 0 ? count + index : index - 1),
                       corner_uv(reader, token, number.length));
}

static bool obj_read_corners(obj_reader *reader, const char *at, int64_t min, const char *what)
{
    sinew_token token;
    reader->count = 0;
    reader->textured = false;
    while (next_word(reader, &token))
        if (!read_corner(reader, token))
            return false;
    return reader->count >= min ||
           sinew_text_fail(&reader->text, at, "a %s needs at least %lld vertices", what, (long long)min);
}

static bool obj_read_face(obj_reader *reader, const char *at)
{
    if (!obj_read_corners(reader, at, 3, "face"))
        return false;
    sinew_embedded_builder *skin = reader->builder->skin;
    if (skin)
        skin->coming_uvs = reader->textured ? reader->corners + reader->capacity : NULL;
    const bool good = sinew_builder_add_polygon(reader->builder, reader->corners, reader->count);
    if (skin)
        skin->coming_uvs = NULL;
    return good;
}

static bool read_obj_line(obj_reader *reader, sinew_token keyword)
{
    static const struct {
        const char *keyword;
        bool (*read)(obj_reader *reader);
    } of_skins[] = {
        {"vt", read_uv}, {"g", read_group}, {"o", read_group}, {"usemtl", read_material}, {"mtllib", read_library}};
    if (sinew_token_is(keyword, "v"))
        return read_vertex(reader);
    if (sinew_token_is(keyword, "f"))
        return obj_read_face(reader, keyword.at);
    if (sinew_token_is(keyword, "l"))
        return obj_read_corners(reader, keyword.at, 2, "line") &&
               sinew_builder_add_line(reader->builder, reader->corners, reader->count, false);
    for (size_t i = 0; reader->builder->skin && i < sizeof of_skins / sizeof of_skins[0]; i++)
        if (sinew_token_is(keyword, of_skins[i].keyword))
            return of_skins[i].read(reader);
    if (sinew_token_is(keyword, "p"))
        sinew_builder_ignore(reader->builder, "points", 1);
    if (sinew_token_is(keyword, "curv") || sinew_token_is(keyword, "surf"))
        sinew_builder_ignore(reader->builder, "free-form curves or surfaces", 1);
    skip_line(reader);
    return true;
}

static bool read_obj(const sinew_source *source, sinew_builder *builder)
{
    obj_reader reader = {.builder = builder};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, builder->error))
        return false;
    reader.text.comment = '#';
    bool good = true;
    sinew_token keyword;
    while (good && sinew_text_next(&reader.text, &keyword))
        good = read_obj_line(&reader, keyword);
    if (good && builder->vertex_count == 0)
        good = sinew_text_fail(&reader.text, reader.text.end, "the file ends without a vertex ('v x y z')");
    sinew_builder_ignore(builder, "texture coordinates that are not there", reader.wrong_uvs);
    sinew_release(&builder->allocator, reader.corners);
    sinew_text_close(&reader.text);
    return good;
}

static void print_obj(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format)
{
    (void)format;
    const sinew_real *q = sinew_mesh_positions(mesh);
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++, q += 3)
        fprintf(stream, "v " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT " " SINEW_REAL_FORMAT "\n", q[0], q[1], q[2]);
    const int32_t *t = sinew_mesh_triangles(mesh);
    for (int32_t i = 0; i < sinew_mesh_triangle_count(mesh); i++, t += 3)
        fprintf(stream, "f %d %d %d\n", t[0] + 1, t[1] + 1, t[2] + 1);
    const int32_t *e = sinew_mesh_edges(mesh);
    for (int32_t i = 0; i < sinew_mesh_edge_count(mesh); i++, e += 2)
        fprintf(stream, "l %d %d\n", e[0] + 1, e[1] + 1);
}

const sinew_mesh_kind sinew_mesh_kind_obj = {
    .endings = {".obj"},
    .surface = true,
    .read = read_obj,
    .print = {print_obj},
};
