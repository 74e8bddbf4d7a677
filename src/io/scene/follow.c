/* SPDX-License-Identifier: MIT
 *
 * follow.c: reads the motion that pins and targets follow: a collider of the scene, by its name, or a point cache.
 */
#include <string.h>

#include "io/scene/reader.h"
#include "mesh/mesh.h"
#include "sinew/contact.h"

static bool find_followed_collider(sinew_reader *reader, const sinew_node *name, sinew_follow *follow)
{
    const sinew_world *world = reader->scene->world;
    const int32_t count = sinew_world_collider_count(world);
    const char **names = sinew_reader_allocate(reader, (size_t)count, sizeof *names, "names of colliders");
    if (!names)
        return false;
    int32_t named = 0;
    for (int32_t k = 0; k < count; k++) {
        const sinew_collider collider = sinew_world_collider_at(world, k);
        const char *own = sinew_collider_name(world, collider);
        if (strcmp(own, sinew_node_text(name)) == 0)
            follow->collider = collider;
        if (own[0])
            names[named++] = own;
    }
    const char *nearest = sinew_nearest_name(sinew_node_text(name), names, named);
    sinew_release(&reader->allocator, names);
    if (follow->collider.index >= 0)
        return true;
    return sinew_tree_fail(&reader->tree, name, "there is no collider \"%.60s\"%s%s%s", sinew_node_text(name),
                           nearest ? "; did you mean \""
                           : named ? ""
                                   : "; no collider has a \"name\"",
                           nearest ? nearest : "", nearest ? "\"?" : "");
}

/* Reads the frames of a point cache and applies its axes, unit and transform; the caller releases *frames. */
static bool follow_read_frames(sinew_reader *reader, const sinew_node *node, sinew_cache_reader *cache,
                               sinew_follow *follow, sinew_real **frames)
{
    const sinew_node *file = sinew_node_get(node, "file");
    const size_t each = 3 * (size_t)follow->frame_vertex_count;
    const char *up;
    double scale;
    const bool turned = sinew_reader_axes(reader, node, &up, &scale);
    if (follow->frame_count < 2)
        return sinew_tree_fail(&reader->tree, file, "has %d frames, must have at least 2", follow->frame_count);
    *frames =
        sinew_reader_allocate(reader, (size_t)follow->frame_count * each, sizeof **frames, "the frames of a cache");
    for (int32_t f = 0; *frames && f < follow->frame_count; f++) {
        sinew_real *frame = *frames + (size_t)f * each;
        if (sinew_cache_reader_frame(cache, f, frame, NULL, reader->error) != SINEW_OK ||
            (turned && sinew_orient_points(up, scale, follow->frame_vertex_count, frame, reader->error) != SINEW_OK))
            return sinew_tree_blame(&reader->tree, file);
        if (!sinew_reader_transform(reader, sinew_node_get(node, "transform"), frame, follow->frame_vertex_count))
            return false;
    }
    return *frames != NULL;
}

static bool follow_read_cache(sinew_reader *reader, const sinew_node *node, sinew_follow *follow)
{
    const sinew_node *fps = sinew_node_get(node, "fps");
    sinew_real *frames = NULL;
    sinew_cache_reader *cache = sinew_reader_open_cache(reader, sinew_node_get(node, "file"));
    if (!cache)
        return false;
    follow->frame_count = sinew_cache_reader_frame_count(cache);
    follow->frame_vertex_count = sinew_cache_reader_point_count(cache);
    follow->frame_time = (sinew_real)(1 / (fps ? sinew_node_number(fps) : reader->scene->fps));
    const bool good = follow_read_frames(reader, node, cache, follow, &frames);
    follow->frames = frames;
    sinew_cache_reader_close(cache);
    return good;
}

/* Reads, for each of `count` points, the index of the vertex that it follows; `all` is the number of vertices. */
static bool follow_read_vertices(sinew_reader *reader, const sinew_node *list, int32_t count, int32_t all,
                                 int32_t *vertices)
{
    if (sinew_node_count(list) != count)
        return sinew_tree_fail(&reader->tree, list, "has %d vertices for %d points that follow; give one for each",
                               sinew_node_count(list), count);
    int32_t i = 0;
    for (const sinew_node *entry = list->child; entry; entry = entry->next) {
        vertices[i] = sinew_node_integer(entry);
        if (vertices[i] >= all)
            return sinew_tree_fail(&reader->tree, entry, "there is no vertex %d to follow, it has %d vertices",
                                   vertices[i], all);
        i++;
    }
    return true;
}

/* Each point follows the vertex of a point cache that has the same index. */
static bool follow_same_vertices(sinew_reader *reader, const sinew_node *node, const int32_t *own, int32_t count,
                                 int32_t all, int32_t *vertices)
{
    for (int32_t i = 0; i < count; i++) {
        vertices[i] = own[i];
        if (own[i] >= all)
            return sinew_tree_fail(&reader->tree, node,
                                   "the cache has %d vertices, and no vertex %d for the point of that number", all,
                                   own[i]);
    }
    return true;
}

bool sinew_reader_follow(sinew_reader *reader, const sinew_node *node, const int32_t *vertices, int32_t count,
                         sinew_follow *follow)
{
    *follow = sinew_default_follow();
    if (!node)
        return true;
    const sinew_node *name = sinew_node_get(node, "collider"), *cache = sinew_node_get(node, "cache");
    const sinew_node *list = sinew_node_get(node, "vertices");
    if (sinew_node_get(node->parent, "motion"))
        return sinew_tree_fail(&reader->tree, node, "a motion moves these points already; leave out one of them");
    if (!(name ? find_followed_collider(reader, name, follow) : follow_read_cache(reader, cache, follow)))
        return false;
    if (name && !list)
        return true;
    int32_t *chosen = sinew_reader_allocate(reader, (size_t)count, sizeof *chosen, "followed vertices");
    follow->vertices = chosen;
    if (!chosen)
        return false;
    const int32_t all =
        name ? sinew_collider_vertex_count(reader->scene->world, follow->collider) : follow->frame_vertex_count;
    if (name && all == 0)
        return sinew_tree_fail(&reader->tree, list, "the collider \"%.60s\" is no mesh: it has no vertices to follow",
                               sinew_node_text(name));
    return list ? follow_read_vertices(reader, list, count, all, chosen)
                : follow_same_vertices(reader, cache, vertices, count, all, chosen);
}

void sinew_reader_release_follow(const sinew_reader *reader, sinew_follow *follow)
{
    sinew_release(&reader->allocator, (void *)follow->vertices);
    sinew_release(&reader->allocator, (void *)follow->frames);
    *follow = sinew_default_follow();
}
