/* SPDX-License-Identifier: MIT
 *
 * embedded_builder.c: collects the faces, texture coordinates, names and painted values of a file in growing arrays,
 * and builds a skin from them.
 *
 * A list of names or texture coordinates is allocated at its first entry: files of plain triangles need no memory for
 * these lists.
 */
#include "io/mesh/embedded_builder.h"

#include <math.h>
#include <string.h>

#include "mesh/mesh.h"

/* ---- Growing lists of items ---------------------------------------------------------------------- */

static bool builder_list_reserve(sinew_builder *builder, sinew_builder_list *list, int64_t count, size_t size)
{
    if (count <= list->capacity)
        return true;
    int64_t capacity = list->capacity + list->capacity / 2 + 64;
    capacity = capacity < count ? count : capacity;
    void *items = count > INT32_MAX - 1
                      ? NULL
                      : sinew_reallocate(&builder->allocator, list->items, (size_t)list->count, (size_t)capacity, size);
    if (!items) {
        sinew_fail_memory(builder->error, "the faces of a skin");
        return false;
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

static bool builder_list_push(sinew_builder *builder, sinew_builder_list *list, const void *item, size_t size)
{
    if (!builder_list_reserve(builder, list, list->count + 1, size))
        return false;
    memcpy((char *)list->items + (size_t)list->count++ * size, item, size);
    return true;
}

/* Extends a list of int32_t to `count` entries; new entries are -1. */
static bool builder_list_extend(sinew_builder *builder, sinew_builder_list *list, int64_t count)
{
    if (!builder_list_reserve(builder, list, count, sizeof(int32_t)))
        return false;
    for (; list->count < count; list->count++)
        ((int32_t *)list->items)[list->count] = -1;
    return true;
}

void sinew_skin_builder_open(sinew_embedded_builder *skin)
{
    memset(skin, 0, sizeof *skin);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++)
        skin->current[set] = -1;
}

void sinew_skin_builder_close(sinew_builder *builder, sinew_embedded_builder *skin)
{
    const sinew_allocator *allocator = &builder->allocator;
    sinew_builder_list *lists[] = {&skin->starts, &skin->corners,        &skin->corner_uvs,
                                   &skin->uvs,    &skin->triangle_faces, &skin->triangle_corners};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        sinew_release(allocator, lists[i]->items);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++) {
        sinew_names_release(allocator, &skin->names[set]);
        sinew_release(allocator, skin->face_names[set].items);
    }
    for (int i = 0; i < SINEW_ATTRIBUTES_MAX; i++)
        sinew_release(allocator, skin->values[i].items);
    sinew_names_release(allocator, &skin->attributes);
    sinew_release(allocator, skin->library);
    memset(skin, 0, sizeof *skin);
}

/* ---- Faces and triangles of the skin ------------------------------------------------------------- */

bool sinew_skin_builder_add_face(sinew_builder *builder, const int32_t *corners, int64_t count)
{
    sinew_embedded_builder *skin = builder->skin;
    if (!skin)
        return true;
    const int64_t first = skin->corners.count;
    const int32_t start = (int32_t)first;
    if (!builder_list_reserve(builder, &skin->corners, first + count, sizeof(int32_t)) ||
        !builder_list_push(builder, &skin->starts, &start, sizeof start))
        return false;
    memcpy((int32_t *)skin->corners.items + first, corners, (size_t)count * sizeof *corners);
    skin->corners.count += count;
    if (skin->coming_uvs) {
        if (!builder_list_extend(builder, &skin->corner_uvs, first) ||
            !builder_list_reserve(builder, &skin->corner_uvs, first + count, sizeof(int32_t)))
            return false;
        memcpy((int32_t *)skin->corner_uvs.items + first, skin->coming_uvs, (size_t)count * sizeof(int32_t));
        skin->corner_uvs.count = first + count;
    }
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++)
        if (skin->current[set] >= 0 &&
            (!builder_list_extend(builder, &skin->face_names[set], skin->starts.count - 1) ||
             !builder_list_push(builder, &skin->face_names[set], &skin->current[set], sizeof(int32_t))))
            return false;
    return true;
}

bool sinew_skin_builder_add_triangle(sinew_builder *builder, int64_t a, int64_t b, int64_t c)
{
    sinew_embedded_builder *skin = builder->skin;
    if (!skin)
        return true;
    const int32_t face = (int32_t)(skin->starts.count - 1), start = ((int32_t *)skin->starts.items)[face];
    const int32_t corners[3] = {(int32_t)(start + a), (int32_t)(start + b), (int32_t)(start + c)};
    /* A polygon without ears is triangulated a second time, as a fan, which overwrites its first triangles. */
    skin->triangle_faces.count = skin->triangle_corners.count = builder->cells[SINEW_BUILDER_TRIANGLE].count - 1;
    return builder_list_push(builder, &skin->triangle_faces, &face, sizeof face) &&
           builder_list_push(builder, &skin->triangle_corners, corners, sizeof corners);
}

void sinew_skin_builder_reverse_face(sinew_builder *builder, int64_t triangle)
{
    sinew_embedded_builder *skin = builder->skin;
    if (!skin)
        return;
    int32_t *corners = (int32_t *)skin->corners.items +
                       ((int32_t *)skin->starts.items)[((int32_t *)skin->triangle_faces.items)[triangle]];
    const int32_t second = corners[1];
    corners[1] = corners[2];
    corners[2] = second;
}

/* ---- Names of faces and painted values ----------------------------------------------------------- */

bool sinew_skin_builder_add_uv(sinew_builder *builder, float u, float v)
{
    const float uv[2] = {u, v};
    return !builder->skin || builder_list_push(builder, &builder->skin->uvs, uv, sizeof uv);
}

static bool too_many_names(const sinew_builder *builder, const sinew_name_list *list)
{
    if (list->count == SINEW_NAMES_MAX)
        sinew_fail(builder->error, SINEW_ERROR_DATA, "the file has more than %d groups or materials: join some",
                   SINEW_NAMES_MAX);
    else
        sinew_fail_memory(builder->error, "the names of a skin");
    return false;
}

bool sinew_skin_builder_set_name(sinew_builder *builder, sinew_skin_set set, const char *name, size_t length)
{
    if (!builder->skin)
        return true;
    sinew_name_list *list = &builder->skin->names[set];
    const int32_t index = length > 0 ? sinew_names_add(&builder->allocator, list, name, length) : -1;
    if (length > 0 && index < 0)
        return too_many_names(builder, list);
    builder->skin->current[set] = index;
    return true;
}

bool sinew_skin_builder_set_library(sinew_builder *builder, const char *name, size_t length)
{
    if (!builder->skin || builder->skin->library || length == 0)
        return true;
    char *copy = sinew_allocate(&builder->allocator, length + 1, 1);
    if (!copy) {
        sinew_fail_memory(builder->error, "the names of a skin");
        return false;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    builder->skin->library = copy;
    return true;
}

int32_t sinew_skin_builder_find_attribute(sinew_builder *builder, const char *name, size_t length, bool *good)
{
    if (!builder->skin || length == 0)
        return -1;
    sinew_name_list *list = &builder->skin->attributes;
    const int32_t index = sinew_names_add(&builder->allocator, list, name, length);
    if (index < 0) {
        sinew_fail_memory(builder->error, "the painted values of a skin");
        *good = false;
    }
    return index < SINEW_ATTRIBUTES_MAX ? index : -1;
}

bool sinew_skin_builder_set_value(sinew_builder *builder, int32_t attribute, int64_t vertex, double value)
{
    if (!builder->skin || attribute < 0)
        return true;
    sinew_builder_list *list = &builder->skin->values[attribute];
    if (!builder_list_reserve(builder, list, vertex + 1, sizeof(float)))
        return false;
    float *values = list->items;
    for (; list->count <= vertex; list->count++)
        values[list->count] = 0;
    values[vertex] = isfinite((float)value) ? (float)value : 0;
    return true;
}

/* ---- The finished skin --------------------------------------------------------------------------- */

/* Moves the items of a list to the skin; an empty list becomes NULL unless `always`. */
static bool move_list_to_skin(sinew_builder *builder, sinew_builder_list *list, bool always, void *slot)
{
    void **to = slot;
    *to = list->items;
    if (!*to && always)
        *to = sinew_allocate(&builder->allocator, 0, 1);
    *list = (sinew_builder_list){0};
    return *to || !always;
}

static bool copy_values_to_skin(sinew_builder *builder, sinew_skin *skin)
{
    sinew_embedded_builder *from = builder->skin;
    const size_t count = (size_t)skin->mesh->vertex_count;
    if (from->attributes.count == 0)
        return true;
    if (from->attributes.count > SINEW_ATTRIBUTES_MAX)
        from->attributes.count = SINEW_ATTRIBUTES_MAX;
    skin->values = sinew_allocate_zero(&builder->allocator, (size_t)from->attributes.count * count, sizeof(float));
    for (int32_t i = 0; skin->values && i < from->attributes.count; i++)
        if (from->values[i].count > 0)
            memcpy(skin->values + (size_t)i * count, from->values[i].items,
                   (size_t)from->values[i].count * sizeof(float));
    return skin->values != NULL;
}

/* Converts texture coordinates per vertex to texture coordinates per corner. */
static bool convert_uvs_to_corners(sinew_builder *builder)
{
    sinew_embedded_builder *from = builder->skin;
    if (!from->uvs_of_vertices || from->uvs.count == 0)
        return true;
    from->corner_uvs.count = 0;
    if (!builder_list_extend(builder, &from->corner_uvs, from->corners.count))
        return false;
    float *uvs = from->uvs.items;
    int32_t *corner_uvs = from->corner_uvs.items;
    for (int64_t i = 0; i < from->corners.count; i++) {
        const int32_t vertex = ((int32_t *)from->corners.items)[i];
        if (vertex < from->uvs.count && isfinite(uvs[2 * (int64_t)vertex]) && isfinite(uvs[2 * (int64_t)vertex + 1]))
            corner_uvs[i] = vertex;
    }
    for (int64_t i = 0; i < 2 * from->uvs.count; i++)
        uvs[i] = isfinite(uvs[i]) ? uvs[i] : 0;
    return true;
}

/* Appends the end of the last face to `starts`, and extends the lists of names and texture coordinates that are in use
 * to one entry per face or corner. */
static bool complete_lists(sinew_builder *builder)
{
    sinew_embedded_builder *from = builder->skin;
    const int32_t end = (int32_t)from->corners.count;
    const int64_t faces = from->starts.count;
    bool good = convert_uvs_to_corners(builder) && builder_list_push(builder, &from->starts, &end, sizeof end);
    if (good && from->corner_uvs.items)
        good = builder_list_extend(builder, &from->corner_uvs, from->corners.count);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT && good; set++)
        if (from->face_names[set].items)
            good = builder_list_extend(builder, &from->face_names[set], faces);
    return good;
}

static bool move_lists_to_skin(sinew_builder *builder, sinew_skin *skin)
{
    sinew_embedded_builder *from = builder->skin;
    skin->face_count = (int32_t)from->starts.count;
    if (!complete_lists(builder) || !copy_values_to_skin(builder, skin))
        return false;
    const bool textured = from->corner_uvs.items != NULL;
    skin->uv_count = textured ? (int32_t)from->uvs.count : 0;
    bool good = move_list_to_skin(builder, &from->starts, true, &skin->starts) &&
                move_list_to_skin(builder, &from->corners, true, &skin->corners) &&
                move_list_to_skin(builder, &from->triangle_faces, true, &skin->triangle_faces) &&
                move_list_to_skin(builder, &from->triangle_corners, true, &skin->triangle_corners);
    if (textured)
        good = good && move_list_to_skin(builder, &from->corner_uvs, true, &skin->corner_uvs) &&
               move_list_to_skin(builder, &from->uvs, true, &skin->uvs);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++) {
        move_list_to_skin(builder, &from->face_names[set], false, &skin->face_names[set]);
        skin->names[set] = from->names[set];
        from->names[set] = (sinew_name_list){0};
    }
    skin->attributes = from->attributes;
    from->attributes = (sinew_name_list){0};
    skin->library = from->library;
    from->library = NULL;
    return good;
}

/* Removes all cells of one kind from the builder and counts them as omitted: a skin has no edges and no tets. */
static void omit_cells(sinew_builder *builder, int kind, const char *plural)
{
    sinew_builder_ignore(builder, plural, builder->cells[kind].count);
    builder->cells[kind].count = 0;
    sinew_release(&builder->allocator, builder->cells[kind].indices);
    builder->cells[kind].indices = NULL;
}

/* Builds the skin of a file that has only tets from their boundary triangles. */
static sinew_skin *make_boundary_skin(sinew_builder *builder, const char *name)
{
    sinew_mesh *mesh = sinew_builder_finish(builder, name);
    sinew_skin *skin = mesh ? sinew_skin_of_mesh(mesh, builder->error) : NULL;
    sinew_mesh_destroy(mesh);
    return skin;
}

sinew_skin *sinew_skin_builder_finish(sinew_builder *builder, const char *name)
{
    if (builder->vertex_count > 0 && builder->skin->starts.count == 0 && builder->cells[SINEW_BUILDER_TET].count > 0)
        return make_boundary_skin(builder, name);
    if (builder->vertex_count > 0 && builder->skin->starts.count == 0) {
        sinew_fail(builder->error, SINEW_ERROR_FORMAT, "%s: holds %lld vertices and no faces to show", name,
                   (long long)builder->vertex_count);
        return NULL;
    }
    omit_cells(builder, SINEW_BUILDER_TET, "tetrahedra");
    omit_cells(builder, SINEW_BUILDER_EDGE, "edges");
    builder->cut_count = 0; /* a skin keeps polygons, so no warning about triangulation is due */
    sinew_skin *skin = sinew_allocate_zero(&builder->allocator, 1, sizeof *skin);
    if (!skin) {
        sinew_fail_memory(builder->error, "a skin");
        return NULL;
    }
    skin->allocator = builder->allocator;
    skin->mesh = sinew_builder_finish(builder, name);
    if (!skin->mesh || !move_lists_to_skin(builder, skin)) {
        if (skin->mesh)
            sinew_fail_memory(builder->error, "a skin");
        sinew_skin_destroy(skin);
        return NULL;
    }
    return skin;
}
