/* SPDX-License-Identifier: MIT
 *
 * embedded_builder.c: growing arrays of faces, texture coordinates, names and painted values, and the skin made of them.
 *
 * A list of names or texture coordinates stays empty until the first one comes: files of plain triangles cost little
 * more than as a mesh.
 */
#include "io/mesh/embedded_builder.h"

#include <math.h>
#include <string.h>

#include "mesh/mesh.h"

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool reserve(sinew_draft *draft, sinew_draft_list *list, int64_t count, size_t size)
{
    if (count <= list->capacity)
        return true;
    int64_t capacity = list->capacity + list->capacity / 2 + 64;
    capacity = capacity < count ? count : capacity;
    void *items = count > INT32_MAX - 1
                      ? NULL
                      : sinew_reallocate(&draft->allocator, list->items, (size_t)list->count, (size_t)capacity, size);
    if (!items) {
        sinew_fail_memory(draft->error, "the faces of a skin");
        return false;
    }
    list->items = items;
    list->capacity = capacity;
    return true;
}

static bool push(sinew_draft *draft, sinew_draft_list *list, const void *item, size_t size)
{
    if (!reserve(draft, list, list->count + 1, size))
        return false;
    memcpy((char *)list->items + (size_t)list->count++ * size, item, size);
    return true;
}

/* Fills a list of int32_t with -1 up to a count. */
static bool fill_none(sinew_draft *draft, sinew_draft_list *list, int64_t count)
{
    if (!reserve(draft, list, count, sizeof(int32_t)))
        return false;
    for (; list->count < count; list->count++)
        ((int32_t *)list->items)[list->count] = -1;
    return true;
}

void sinew_skin_draft_open(sinew_skin_draft *skin)
{
    memset(skin, 0, sizeof *skin);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++)
        skin->current[set] = -1;
}

void sinew_skin_draft_close(sinew_draft *draft, sinew_skin_draft *skin)
{
    const sinew_allocator *allocator = &draft->allocator;
    sinew_draft_list *lists[] = {&skin->starts, &skin->corners,        &skin->corner_uvs,
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

/* ---- Faces ----------------------------------------------------------------------------------- */

bool sinew_skin_draft_face(sinew_draft *draft, const int32_t *corners, int64_t count)
{
    sinew_skin_draft *skin = draft->skin;
    if (!skin)
        return true;
    const int64_t first = skin->corners.count;
    const int32_t start = (int32_t)first;
    if (!reserve(draft, &skin->corners, first + count, sizeof(int32_t)) ||
        !push(draft, &skin->starts, &start, sizeof start))
        return false;
    memcpy((int32_t *)skin->corners.items + first, corners, (size_t)count * sizeof *corners);
    skin->corners.count += count;
    if (skin->coming_uvs) {
        if (!fill_none(draft, &skin->corner_uvs, first) ||
            !reserve(draft, &skin->corner_uvs, first + count, sizeof(int32_t)))
            return false;
        memcpy((int32_t *)skin->corner_uvs.items + first, skin->coming_uvs, (size_t)count * sizeof(int32_t));
        skin->corner_uvs.count = first + count;
    }
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++)
        if (skin->current[set] >= 0 && (!fill_none(draft, &skin->face_names[set], skin->starts.count - 1) ||
                                        !push(draft, &skin->face_names[set], &skin->current[set], sizeof(int32_t))))
            return false;
    return true;
}

bool sinew_skin_draft_triangle(sinew_draft *draft, int64_t a, int64_t b, int64_t c)
{
    sinew_skin_draft *skin = draft->skin;
    if (!skin)
        return true;
    const int32_t face = (int32_t)(skin->starts.count - 1), start = ((int32_t *)skin->starts.items)[face];
    const int32_t corners[3] = {(int32_t)(start + a), (int32_t)(start + b), (int32_t)(start + c)};
    /* A polygon that could not be cut into ears is cut again: its triangles are written over. */
    skin->triangle_faces.count = skin->triangle_corners.count = draft->cells[SINEW_DRAFT_TRIANGLE].count - 1;
    return push(draft, &skin->triangle_faces, &face, sizeof face) &&
           push(draft, &skin->triangle_corners, corners, sizeof corners);
}

void sinew_skin_draft_turn(sinew_draft *draft, int64_t triangle)
{
    sinew_skin_draft *skin = draft->skin;
    if (!skin)
        return;
    int32_t *corners = (int32_t *)skin->corners.items +
                       ((int32_t *)skin->starts.items)[((int32_t *)skin->triangle_faces.items)[triangle]];
    const int32_t second = corners[1];
    corners[1] = corners[2];
    corners[2] = second;
}

/* ---- Names and values ------------------------------------------------------------------------ */

bool sinew_skin_draft_uv(sinew_draft *draft, float u, float v)
{
    const float uv[2] = {u, v};
    return !draft->skin || push(draft, &draft->skin->uvs, uv, sizeof uv);
}

static bool too_many_names(const sinew_draft *draft, const sinew_name_list *list)
{
    if (list->count == SINEW_NAMES_MAX)
        sinew_fail(draft->error, SINEW_ERROR_DATA, "the file has more than %d groups or materials: join some",
                   SINEW_NAMES_MAX);
    else
        sinew_fail_memory(draft->error, "the names of a skin");
    return false;
}

bool sinew_skin_draft_name(sinew_draft *draft, sinew_skin_set set, const char *name, size_t length)
{
    if (!draft->skin)
        return true;
    sinew_name_list *list = &draft->skin->names[set];
    const int32_t index = length > 0 ? sinew_names_add(&draft->allocator, list, name, length) : -1;
    if (length > 0 && index < 0)
        return too_many_names(draft, list);
    draft->skin->current[set] = index;
    return true;
}

bool sinew_skin_draft_library(sinew_draft *draft, const char *name, size_t length)
{
    if (!draft->skin || draft->skin->library || length == 0)
        return true;
    char *copy = sinew_allocate(&draft->allocator, length + 1, 1);
    if (!copy) {
        sinew_fail_memory(draft->error, "the names of a skin");
        return false;
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    draft->skin->library = copy;
    return true;
}

int32_t sinew_skin_draft_attribute(sinew_draft *draft, const char *name, size_t length, bool *good)
{
    if (!draft->skin || length == 0)
        return -1;
    sinew_name_list *list = &draft->skin->attributes;
    const int32_t index = sinew_names_add(&draft->allocator, list, name, length);
    if (index < 0) {
        sinew_fail_memory(draft->error, "the painted values of a skin");
        *good = false;
    }
    return index < SINEW_ATTRIBUTES_MAX ? index : -1;
}

bool sinew_skin_draft_value(sinew_draft *draft, int32_t attribute, int64_t vertex, double value)
{
    if (!draft->skin || attribute < 0)
        return true;
    sinew_draft_list *list = &draft->skin->values[attribute];
    if (!reserve(draft, list, vertex + 1, sizeof(float)))
        return false;
    float *values = list->items;
    for (; list->count <= vertex; list->count++)
        values[list->count] = 0;
    values[vertex] = isfinite((float)value) ? (float)value : 0;
    return true;
}

/* ---- The skin -------------------------------------------------------------------------------- */

/* Lets the skin have the items of a list; an empty one is NULL, except where `always`. */
static bool take_list(sinew_draft *draft, sinew_draft_list *list, bool always, void *slot)
{
    void **to = slot;
    *to = list->items;
    if (!*to && always)
        *to = sinew_allocate(&draft->allocator, 0, 1);
    *list = (sinew_draft_list){0};
    return *to || !always;
}

static bool take_values(sinew_draft *draft, sinew_skin *skin)
{
    sinew_skin_draft *from = draft->skin;
    const size_t count = (size_t)skin->mesh->vertex_count;
    if (from->attributes.count == 0)
        return true;
    if (from->attributes.count > SINEW_ATTRIBUTES_MAX)
        from->attributes.count = SINEW_ATTRIBUTES_MAX;
    skin->values = sinew_allocate_zero(&draft->allocator, (size_t)from->attributes.count * count, sizeof(float));
    for (int32_t i = 0; skin->values && i < from->attributes.count; i++)
        if (from->values[i].count > 0)
            memcpy(skin->values + (size_t)i * count, from->values[i].items,
                   (size_t)from->values[i].count * sizeof(float));
    return skin->values != NULL;
}

/* Texture coordinates that belong to vertices become those of their corners. */
static bool spread_uvs(sinew_draft *draft)
{
    sinew_skin_draft *from = draft->skin;
    if (!from->uvs_of_vertices || from->uvs.count == 0)
        return true;
    from->corner_uvs.count = 0;
    if (!fill_none(draft, &from->corner_uvs, from->corners.count))
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

/* Brings every list that has anything to its full length. */
static bool complete(sinew_draft *draft)
{
    sinew_skin_draft *from = draft->skin;
    const int32_t end = (int32_t)from->corners.count;
    const int64_t faces = from->starts.count;
    bool good = spread_uvs(draft) && push(draft, &from->starts, &end, sizeof end);
    if (good && from->corner_uvs.items)
        good = fill_none(draft, &from->corner_uvs, from->corners.count);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT && good; set++)
        if (from->face_names[set].items)
            good = fill_none(draft, &from->face_names[set], faces);
    return good;
}

static bool take_all(sinew_draft *draft, sinew_skin *skin)
{
    sinew_skin_draft *from = draft->skin;
    skin->face_count = (int32_t)from->starts.count;
    if (!complete(draft) || !take_values(draft, skin))
        return false;
    const bool textured = from->corner_uvs.items != NULL;
    skin->uv_count = textured ? (int32_t)from->uvs.count : 0;
    bool good = take_list(draft, &from->starts, true, &skin->starts) &&
                take_list(draft, &from->corners, true, &skin->corners) &&
                take_list(draft, &from->triangle_faces, true, &skin->triangle_faces) &&
                take_list(draft, &from->triangle_corners, true, &skin->triangle_corners);
    if (textured)
        good = good && take_list(draft, &from->corner_uvs, true, &skin->corner_uvs) &&
               take_list(draft, &from->uvs, true, &skin->uvs);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++) {
        take_list(draft, &from->face_names[set], false, &skin->face_names[set]);
        skin->names[set] = from->names[set];
        from->names[set] = (sinew_name_list){0};
    }
    skin->attributes = from->attributes;
    from->attributes = (sinew_name_list){0};
    skin->library = from->library;
    from->library = NULL;
    return good;
}

/* Edges and tetrahedra are no part of a skin. */
static void leave_out(sinew_draft *draft, int kind, const char *plural)
{
    sinew_draft_ignore(draft, plural, draft->cells[kind].count);
    draft->cells[kind].count = 0;
    sinew_release(&draft->allocator, draft->cells[kind].indices);
    draft->cells[kind].indices = NULL;
}

/* A file of tetrahedra alone shows their boundary. */
static sinew_skin *finish_boundary(sinew_draft *draft, const char *name)
{
    sinew_mesh *mesh = sinew_draft_finish(draft, name);
    sinew_skin *skin = mesh ? sinew_skin_of_mesh(mesh, draft->error) : NULL;
    sinew_mesh_destroy(mesh);
    return skin;
}

sinew_skin *sinew_skin_draft_finish(sinew_draft *draft, const char *name)
{
    if (draft->vertex_count > 0 && draft->skin->starts.count == 0 && draft->cells[SINEW_DRAFT_TET].count > 0)
        return finish_boundary(draft, name);
    if (draft->vertex_count > 0 && draft->skin->starts.count == 0) {
        sinew_fail(draft->error, SINEW_ERROR_FORMAT, "%s: holds %lld vertices and no faces to show", name,
                   (long long)draft->vertex_count);
        return NULL;
    }
    leave_out(draft, SINEW_DRAFT_TET, "tetrahedra");
    leave_out(draft, SINEW_DRAFT_EDGE, "edges");
    draft->cut_count = 0; /* polygons stay what they are */
    sinew_skin *skin = sinew_allocate_zero(&draft->allocator, 1, sizeof *skin);
    if (!skin) {
        sinew_fail_memory(draft->error, "a skin");
        return NULL;
    }
    skin->allocator = draft->allocator;
    skin->mesh = sinew_draft_finish(draft, name);
    if (!skin->mesh || !take_all(draft, skin)) {
        if (skin->mesh)
            sinew_fail_memory(draft->error, "a skin");
        sinew_skin_destroy(skin);
        return NULL;
    }
    return skin;
}
