/* SPDX-License-Identifier: MIT
 *
 * collider.c: reads one collider: its shape, a height field from the scene or an image, a mesh with a point cache,
 * position and motion.
 *
 * Known limits: point caches are PC2, and are loaded completely.
 */
#include <string.h>

#include "io/image.h"
#include "io/scene/reader.h"
#include "mesh/mesh.h"
#include "sinew/contact.h"

/* Arrays that a collider def refers to until the collider is created. */
typedef struct collider_buffers {
    sinew_real *heights, *frames;
    sinew_mesh *mesh;
    sinew_motion motion;
} collider_buffers;

static void release_collider_buffers(const sinew_reader *reader, collider_buffers *buffers)
{
    sinew_release(&reader->allocator, buffers->heights);
    sinew_release(&reader->allocator, buffers->frames);
    sinew_release(&reader->allocator, (void *)buffers->motion.keys);
    sinew_mesh_destroy(buffers->mesh);
}

/* ---- Height fields of colliders ------------------------------------------------------------------ */

static bool read_height_rows(sinew_reader *reader, const sinew_node *rows, sinew_real scale, sinew_collider_def *def,
                             sinew_real **heights)
{
    def->rows = sinew_node_count(rows);
    def->columns = sinew_node_count(rows->child);
    *heights = sinew_reader_allocate(reader, (size_t)def->rows * (size_t)def->columns, sizeof **heights, "heights");
    if (!*heights)
        return false;
    sinew_real *next = *heights;
    for (const sinew_node *row = rows->child; row; row = row->next)
        for (const sinew_node *entry = row->child; entry; entry = entry->next)
            *next++ = scale * (sinew_real)sinew_node_number(entry);
    return true;
}

static bool read_height_image(sinew_reader *reader, const sinew_node *file, sinew_real scale, sinew_collider_def *def,
                              sinew_real **heights)
{
    char path[1024];
    sinew_image image;
    if (!sinew_reader_path(reader, file, path, sizeof path))
        return false;
    if (sinew_image_read(&image, path, &reader->allocator, reader->error) != SINEW_OK)
        return sinew_tree_blame(&reader->tree, file);
    const size_t count = (size_t)image.width * (size_t)image.height;
    *heights = sinew_reader_allocate(reader, count, sizeof **heights, "heights");
    sinew_real *next = *heights;
    for (int32_t row = 0; next && row < image.height; row++)
        for (int32_t column = 0; column < image.width; column++)
            *next++ = scale * (sinew_real)sinew_image_at(&image, 0, (column + 0.5) / image.width,
                                                         1 - (row + 0.5) / image.height);
    def->columns = image.width;
    def->rows = image.height;
    sinew_release(&reader->allocator, image.bytes);
    return *heights != NULL;
}

static bool read_heights(sinew_reader *reader, const sinew_node *node, sinew_collider_def *def, sinew_real **heights)
{
    const sinew_node *rows = sinew_node_get(node, "heights"), *image = sinew_node_get(node, "image");
    sinew_real scale = 1;
    sinew_take_number(node, "scale", &scale);
    if (!rows == !image)
        return sinew_tree_fail(&reader->tree, node, "needs exactly one of heights, image");
    return rows ? read_height_rows(reader, rows, scale, def, heights)
                : read_height_image(reader, image, scale, def, heights);
}

/* ---- Point caches of colliders ------------------------------------------------------------------- */

sinew_cache_reader *sinew_reader_open_cache(sinew_reader *reader, const sinew_node *file)
{
    char path[1024];
    if (!sinew_reader_path(reader, file, path, sizeof path))
        return NULL;
    const size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 4, ".pc2") != 0) {
        sinew_tree_fail(&reader->tree, file, "is \"%.60s\", must end in .pc2", sinew_node_text(file));
        return NULL;
    }
    path[length - 4] = '\0';
    char *slash = strrchr(path, '/');
    sinew_cache_reader_def def = sinew_default_cache_reader_def();
    def.allocator = reader->allocator;
    def.format = SINEW_CACHE_PC2;
    def.directory = !slash ? "." : slash == path ? "/" : path;
    def.name = slash ? slash + 1 : path;
    if (slash)
        *slash = '\0';
    sinew_cache_reader *cache = sinew_cache_reader_open(&def, reader->error);
    if (!cache)
        sinew_tree_blame(&reader->tree, file);
    return cache;
}

/* Reads the frames of a collider's point cache and applies the axes, unit and transform of the collider's mesh to
 * them. */
static bool scene_collider_read_frames(sinew_reader *reader, const sinew_node *node, sinew_cache_reader *cache,
                                       const sinew_collider_def *def, sinew_real *frames)
{
    const sinew_node *file = sinew_node_get(sinew_node_get(node, "cache"), "file");
    const int32_t points = sinew_mesh_vertex_count(def->mesh);
    const char *up;
    double scale;
    const bool turned = sinew_reader_axes(reader, sinew_node_get(node, "mesh"), &up, &scale);
    for (int32_t f = 0; f < def->frame_count; f++) {
        sinew_real *frame = frames + 3 * (size_t)f * (size_t)points;
        if (sinew_cache_reader_frame(cache, f, frame, NULL, reader->error) != SINEW_OK ||
            (turned && sinew_orient_points(up, scale, points, frame, reader->error) != SINEW_OK))
            return sinew_tree_blame(&reader->tree, file);
        if (!sinew_reader_transform(reader, sinew_node_get(node, "transform"), frame, points))
            return false;
    }
    return true;
}

static bool read_collider_cache(sinew_reader *reader, const sinew_node *node, sinew_collider_def *def,
                                sinew_real **frames)
{
    const sinew_node *own = sinew_node_get(node, "cache"), *file = sinew_node_get(own, "file");
    const sinew_node *motion = sinew_node_get(node, "motion"), *fps = sinew_node_get(own, "fps");
    if (!own)
        return true;
    if (motion)
        return sinew_tree_fail(&reader->tree, motion, "a cache moves this mesh already; leave out one of them");
    sinew_cache_reader *cache = sinew_reader_open_cache(reader, file);
    if (!cache)
        return false;
    const int32_t points = sinew_mesh_vertex_count(def->mesh), found = sinew_cache_reader_point_count(cache);
    def->frame_count = sinew_cache_reader_frame_count(cache);
    def->frame_time = (sinew_real)(1 / (fps ? sinew_node_number(fps) : reader->scene->fps));
    bool good = true;
    if (found != points)
        good = sinew_tree_fail(&reader->tree, file, "has %d vertices, the mesh has %d", found, points);
    if (good && def->frame_count < 2)
        good = sinew_tree_fail(&reader->tree, file, "has %d frames, must have at least 2", def->frame_count);
    if (good)
        *frames = sinew_reader_allocate(reader, (size_t)def->frame_count * 3 * (size_t)points, sizeof **frames,
                                        "the frames of a cache");
    good = good && *frames && scene_collider_read_frames(reader, node, cache, def, *frames);
    sinew_cache_reader_close(cache);
    def->frames = *frames;
    return good;
}

/* ---- Creation of a collider from its object ------------------------------------------------------ */

static bool check_collider_name(sinew_reader *reader, const sinew_node *node)
{
    const sinew_node *name = sinew_node_get(node, "name");
    for (const sinew_node *other = node->parent->child; name && other != node; other = other->next) {
        const sinew_node *taken = sinew_node_get(other, "name");
        if (taken && strcmp(sinew_node_text(taken), sinew_node_text(name)) == 0)
            return sinew_tree_fail(&reader->tree, name, "colliders[%d] has the same name", other->index);
    }
    return true;
}

static bool read_collider_def(sinew_reader *reader, const sinew_node *node, sinew_collider_def *def,
                              collider_buffers *buffers)
{
    const sinew_node *motion = sinew_node_get(node, "motion");
    def->name = sinew_node_text(sinew_node_get(node, "name"));
    sinew_take_vector(node, "size", def->size);
    sinew_take_number(node, "length", &def->size[1]);
    sinew_take_number(node, "radius", &def->radius);
    sinew_take_boolean(node, "hollow", &def->hollow);
    sinew_take_integer(node, "segments", &def->segments);
    sinew_take_vector(node, "position", def->position);
    sinew_take_number(node, "thickness", &def->thickness);
    sinew_take_number(node, "friction", &def->friction);
    sinew_take_number(node, "restitution", &def->restitution);
    sinew_take_bits(node, "group", &def->group);
    sinew_take_bits(node, "mask", &def->mask);
    bool good = sinew_reader_rotation(reader, sinew_node_get(node, "rotation"), def->rotation);
    if (good && def->kind == SINEW_SHAPE_HEIGHT_FIELD)
        good = read_heights(reader, node, def, &buffers->heights);
    if (good && def->kind == SINEW_SHAPE_MESH) {
        def->mesh = buffers->mesh = sinew_reader_mesh(reader, node);
        good = buffers->mesh && read_collider_cache(reader, node, def, &buffers->frames);
    }
    if (good && motion)
        good = sinew_reader_motion(reader, motion, &buffers->motion);
    def->heights = buffers->heights;
    def->motion = motion ? &buffers->motion : NULL;
    return good;
}

bool sinew_reader_collider(sinew_reader *reader, const sinew_node *node)
{
    const sinew_node *shape = sinew_node_get(node, "shape");
    sinew_collider_def def = sinew_default_collider_def(sinew_shape_by_name(sinew_node_text(shape)));
    collider_buffers buffers = {0};
    bool good = check_collider_name(reader, node) && read_collider_def(reader, node, &def, &buffers);
    if (good && sinew_world_add_collider(reader->scene->world, &def, reader->error).index < 0)
        good = sinew_tree_blame(&reader->tree, node);
    /* A successful creation of a collider may still leave a warning about its mesh. */
    if (good && reader->error->text[0]) {
        char path[256], text[sizeof reader->error->text];
        sinew_node_path(node, path, sizeof path);
        memcpy(text, reader->error->text, sizeof text);
        sinew_error_clear(reader->error);
        good = sinew_reader_warn(reader, "%s: %s", path, text);
    }
    release_collider_buffers(reader, &buffers);
    return good;
}
