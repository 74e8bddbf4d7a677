/* SPDX-License-Identifier: MIT
 *
 * select_surface.c: selections among the vertices of an embedded surface, and the corresponding points of the body.
 */
#include <stdlib.h>
#include <string.h>

#include "io/scene/reader.h"
#include "io/mesh/embedded_sample.h"

/* Smaller barycentric weights count as zero: a surface vertex on a face of a tet does not depend on the fourth
 * corner. */
static const double real_weight = 1e-6;

const sinew_node *sinew_reader_surface_selection(const sinew_node *select)
{
    const bool object = select && json_is_object(select->value);
    return object ? sinew_node_get(select, "surface") : NULL;
}

const sinew_skin *sinew_reader_skin(sinew_reader *reader, const sinew_node *node, sinew_body body)
{
    const sinew_skin *skin = sinew_body_skin(reader->scene->world, body);
    if (!skin)
        sinew_tree_fail(&reader->tree, node, "the body has no embedded surface: name one with \"show\"");
    return skin;
}

sinew_selectable sinew_skin_points(const sinew_skin *skin, sinew_body body)
{
    return (sinew_selectable){.points = sinew_skin_positions(skin),
                              .count = sinew_skin_vertex_count(skin),
                              .noun = "vertices of the surface",
                              .kind = SINEW_POINTS_SKIN,
                              .body = body};
}

sinew_selectable sinew_body_points(const sinew_world *world, sinew_body body)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    return (sinew_selectable){.points = sinew_mesh_positions(mesh),
                              .count = sinew_mesh_vertex_count(mesh),
                              .noun = "vertices",
                              .kind = SINEW_POINTS_VERTICES,
                              .body = body};
}

/* ---- Names of groups, materials and painted values ----------------------------------------------- */

/* True if a name of a skin's faces, or one word of several names separated by blanks, equals `word`. */
static bool has_word(const char *name, const char *word)
{
    const size_t length = strlen(word);
    if (strcmp(name, word) == 0)
        return true;
    for (const char *at = name; (at = strstr(at, word)); at++) {
        const bool begins = at == name || at[-1] == ' ' || at[-1] == '\t';
        const bool ends = at[length] == '\0' || at[length] == ' ' || at[length] == '\t';
        if (begins && ends)
            return true;
    }
    return false;
}

enum {
    LISTED_MAX = 64
};

/* Fails with a suggestion for an unknown name: no group is called "eras"; did you mean "ears"? */
static bool fail_unknown(sinew_reader *reader, const sinew_node *node, const char *what, const char *word,
                         const char *const *names, int32_t count)
{
    const char *nearest = sinew_nearest_name(word, names, count);
    if (nearest)
        return sinew_tree_fail(&reader->tree, node, "no %s of the surface is called \"%.60s\"; did you mean \"%s\"?",
                               what, word, nearest);
    if (count == 0)
        return sinew_tree_fail(&reader->tree, node, "the surface has no %ss, so none is called \"%.60s\"", what, word);
    char list[400] = "";
    size_t used = 0;
    for (int32_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%.60s", i ? ", " : "", names[i]);
    return sinew_tree_fail(&reader->tree, node, "no %s of the surface is called \"%.60s\"; known are %s", what, word,
                           list);
}

bool sinew_reader_mark_name(sinew_reader *reader, const sinew_node *node, const sinew_skin *skin, sinew_skin_set set,
                            uint8_t *mask)
{
    static const char *const nouns[SINEW_SKIN_SET_COUNT] = {"group", "material"};
    const char *word = sinew_node_text(node), *names[LISTED_MAX];
    const int32_t count = sinew_skin_name_count(skin, set), faces = sinew_skin_face_count(skin);
    const int32_t *starts = sinew_skin_face_starts(skin), *corners = sinew_skin_corners(skin);
    const int32_t *of = sinew_skin_face_names(skin, set);
    bool known = false;
    memset(mask, 0, (size_t)sinew_skin_vertex_count(skin));
    for (int32_t i = 0; i < count; i++)
        known = known || has_word(sinew_skin_name(skin, set, i), word);
    for (int32_t i = 0; i < count && i < LISTED_MAX; i++)
        names[i] = sinew_skin_name(skin, set, i);
    if (!known)
        return fail_unknown(reader, node, nouns[set], word, names, count < LISTED_MAX ? count : LISTED_MAX);
    for (int32_t f = 0; of && f < faces; f++)
        for (int32_t i = starts[f];
             of[f] >= 0 && has_word(sinew_skin_name(skin, set, of[f]), word) && i < starts[f + 1]; i++)
            mask[corners[i]] = 1;
    return true;
}

const float *sinew_reader_painted(sinew_reader *reader, const sinew_node *name, const sinew_skin *skin)
{
    const char *word = sinew_node_text(name), *names[LISTED_MAX];
    int32_t count = sinew_skin_attribute_count(skin);
    for (int32_t i = 0; i < count; i++)
        if (strcmp(sinew_skin_attribute_name(skin, i), word) == 0)
            return sinew_skin_attribute(skin, i);
    count = count < LISTED_MAX ? count : LISTED_MAX;
    for (int32_t i = 0; i < count; i++)
        names[i] = sinew_skin_attribute_name(skin, i);
    fail_unknown(reader, name, "painted value", word, names, count);
    return NULL;
}

bool sinew_reader_mark_paint(sinew_reader *reader, const sinew_node *node, const sinew_skin *skin, uint8_t *mask)
{
    const bool plain = json_is_string(node->value);
    const float *painted = sinew_reader_painted(reader, plain ? node : sinew_node_get(node, "name"), skin);
    const sinew_node *above = plain ? NULL : sinew_node_get(node, "above");
    const sinew_node *below = plain ? NULL : sinew_node_get(node, "below");
    if (!painted)
        return false;
    const double min = above ? sinew_node_number(above) : 0.5, max = below ? sinew_node_number(below) : 0;
    for (int32_t i = 0; i < sinew_skin_vertex_count(skin); i++) {
        const double value = (double)painted[i];
        mask[i] = (!(above || !below) || value >= min) && (!below || value <= max);
    }
    return true;
}

/* ---- Points of the body that represent surface vertices ------------------------------------------ */

static void mark_embedding_vertices(const sinew_world *world, sinew_body body, const uint8_t *selected, uint8_t *mask,
                                    int32_t count)
{
    const int32_t *vertices = sinew_body_skin_vertices(world, body);
    const sinew_real *weights = sinew_body_skin_weights(world, body);
    const size_t points = (size_t)sinew_skin_vertex_count(sinew_body_skin(world, body));
    memset(mask, 0, (size_t)count);
    for (size_t i = 0; i < 4 * points; i++)
        if (selected[i / 4] && ((double)weights[i] > real_weight || (double)weights[i] < -real_weight))
            mask[vertices[i]] = 1;
}

bool sinew_reader_mark_body_points(sinew_reader *reader, const sinew_selectable *points, const uint8_t *selected,
                                   uint8_t *mask)
{
    const sinew_world *world = reader->scene->world;
    if (points->kind == SINEW_POINTS_VERTICES) {
        mark_embedding_vertices(world, points->body, selected, mask, points->count);
        return true;
    }
    int32_t *nearest = sinew_reader_allocate(reader, (size_t)points->count, sizeof *nearest, "a selection");
    const bool good = nearest && sinew_skin_nearest(sinew_body_skin(world, points->body), &reader->allocator,
                                                    points->count, points->points, nearest, reader->error) == SINEW_OK;
    for (int32_t i = 0; i < points->count && good; i++)
        mask[i] = selected[nearest[i]];
    sinew_release(&reader->allocator, nearest);
    return good;
}
