/* SPDX-License-Identifier: MIT
 *
 * mesh_obj.c: Wavefront .obj: vertices (v), faces (f) and lines (l).
 *
 * Source: Wavefront Advanced Visualizer manual, appendix B1 "Object files". Vertices keep their order, used or not,
 * because caches of moving points refer to them by number; faces of more than three corners are cut into triangles.
 * Texture coordinates, normals, groups and materials are skipped; points and free-form curves and surfaces are counted
 * in the notes. Known limits: a face may refer only to vertices that stand before it, as the format asks.
 */
#include "io/mesh_file.h"

#include "io/text.h"

typedef struct obj_reader {
    sinew_text text;
    sinew_draft *draft;
    int32_t *corners; /* [capacity] of the face at hand */
    int64_t count;
    int64_t capacity;
} obj_reader;

/* A word of the line; a backslash at its end joins the next line to it. */
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
    skip_line(reader);
    return sinew_draft_add_vertex(reader->draft, point);
}

static bool push_corner(obj_reader *reader, int32_t corner)
{
    if (reader->count == reader->capacity) {
        int64_t capacity = 2 * reader->capacity + 16;
        int32_t *grown = sinew_reallocate(&reader->draft->allocator, reader->corners, (size_t)reader->count,
                                          (size_t)capacity, sizeof *grown);
        if (!grown) {
            sinew_fail_memory(reader->draft->error, "the corners of a face");
            return false;
        }
        reader->corners = grown;
        reader->capacity = capacity;
    }
    reader->corners[reader->count++] = corner;
    return true;
}

/* "7", "7/1", "7//3" or "7/1/3"; negative numbers count back from the newest vertex. */
static bool read_corner(obj_reader *reader, sinew_token token)
{
    int64_t index, count = reader->draft->vertex_count;
    sinew_token number = {token.at, 0};
    while (number.length < token.length && token.at[number.length] != '/')
        number.length++;
    if (!sinew_token_integer(&reader->text, number, -count, count, "a vertex index", &index))
        return false;
    if (index == 0)
        return sinew_text_fail(&reader->text, token.at, "a vertex index is 0, but they count from 1");
    return push_corner(reader, (int32_t)(index < 0 ? count + index : index - 1));
}

static bool read_corners(obj_reader *reader, const char *at, int64_t least, const char *what)
{
    sinew_token token;
    reader->count = 0;
    while (next_word(reader, &token))
        if (!read_corner(reader, token))
            return false;
    return reader->count >= least ||
           sinew_text_fail(&reader->text, at, "a %s needs at least %lld vertices", what, (long long)least);
}

static bool read_line(obj_reader *reader, sinew_token keyword)
{
    if (sinew_token_is(keyword, "v"))
        return read_vertex(reader);
    if (sinew_token_is(keyword, "f"))
        return read_corners(reader, keyword.at, 3, "face") &&
               sinew_draft_add_polygon(reader->draft, reader->corners, reader->count);
    if (sinew_token_is(keyword, "l"))
        return read_corners(reader, keyword.at, 2, "line") &&
               sinew_draft_add_line(reader->draft, reader->corners, reader->count, false);
    if (sinew_token_is(keyword, "p"))
        sinew_draft_ignore(reader->draft, "points", 1);
    if (sinew_token_is(keyword, "curv") || sinew_token_is(keyword, "surf"))
        sinew_draft_ignore(reader->draft, "free-form curves or surfaces", 1);
    skip_line(reader);
    return true;
}

static bool read_obj(const sinew_source *source, sinew_draft *draft)
{
    obj_reader reader = {.draft = draft};
    if (!sinew_text_open(&reader.text, source->name, source->bytes, source->size, draft->error))
        return false;
    reader.text.comment = '#';
    bool good = true;
    sinew_token keyword;
    while (good && sinew_text_next(&reader.text, &keyword))
        good = read_line(&reader, keyword);
    if (good && draft->vertex_count == 0)
        good = sinew_text_fail(&reader.text, reader.text.end, "the file ends without a vertex ('v x y z')");
    sinew_release(&draft->allocator, reader.corners);
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
