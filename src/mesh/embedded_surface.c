/* SPDX-License-Identifier: MIT
 *
 * embedded_surface.c: the skin object (an embedded surface): creation from a mesh, copy, access, destruction.
 * io/mesh/embedded_read.c reads skins from files.
 */
#include "mesh/embedded_surface.h"

#include <string.h>

#include "mesh/mesh.h"

void sinew_skin_destroy(sinew_skin *skin)
{
    if (!skin)
        return;
    const sinew_allocator allocator = skin->allocator;
    sinew_mesh_destroy(skin->mesh);
    sinew_release(&allocator, skin->starts);
    sinew_release(&allocator, skin->corners);
    sinew_release(&allocator, skin->corner_uvs);
    sinew_release(&allocator, skin->uvs);
    sinew_release(&allocator, skin->triangle_faces);
    sinew_release(&allocator, skin->triangle_corners);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++) {
        sinew_names_release(&allocator, &skin->names[set]);
        sinew_release(&allocator, skin->face_names[set]);
    }
    sinew_names_release(&allocator, &skin->attributes);
    sinew_release(&allocator, skin->values);
    sinew_release(&allocator, skin->library);
    sinew_release(&allocator, skin);
}

/* ---- Skin of a mesh's triangles ------------------------------------------------------------------ */

/* Makes every triangle of the skin's mesh a face of the skin. */
static bool skin_make_faces(sinew_skin *skin)
{
    const size_t count = (size_t)skin->mesh->triangle_count;
    skin->face_count = skin->mesh->triangle_count;
    skin->starts = sinew_allocate(&skin->allocator, count + 1, sizeof *skin->starts);
    skin->corners = sinew_allocate(&skin->allocator, 3 * count, sizeof *skin->corners);
    skin->triangle_faces = sinew_allocate(&skin->allocator, count, sizeof *skin->triangle_faces);
    skin->triangle_corners = sinew_allocate(&skin->allocator, 3 * count, sizeof *skin->triangle_corners);
    if (!skin->starts || !skin->corners || !skin->triangle_faces || !skin->triangle_corners)
        return false;
    memcpy(skin->corners, skin->mesh->triangles, 3 * count * sizeof *skin->corners);
    for (size_t i = 0; i <= count; i++)
        skin->starts[i] = (int32_t)(3 * i);
    for (size_t i = 0; i < count; i++)
        skin->triangle_faces[i] = (int32_t)i;
    for (size_t i = 0; i < 3 * count; i++)
        skin->triangle_corners[i] = (int32_t)i;
    return true;
}

sinew_skin *sinew_skin_of_mesh(const sinew_mesh *mesh, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(mesh)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "sinew_skin_of_mesh: the mesh is NULL");
        return NULL;
    }
    sinew_skin *skin = sinew_allocate_zero(&mesh->allocator, 1, sizeof *skin);
    if (!skin) {
        sinew_fail_memory(error, "a skin");
        return NULL;
    }
    skin->allocator = mesh->allocator;
    skin->mesh = sinew_mesh_surface(mesh, error);
    if (!skin->mesh) {
        sinew_skin_destroy(skin);
        return NULL;
    }
    if (skin->mesh->triangle_count > INT32_MAX / 3 || !skin_make_faces(skin)) {
        sinew_skin_destroy(skin);
        sinew_fail_memory(error, "the faces of a skin");
        return NULL;
    }
    return skin;
}

/* ---- Copy of a skin ------------------------------------------------------------------------------ */

/* Copies an array of a skin; NULL is copied as NULL. Returns false if memory runs out. */
static bool skin_copy_array(const sinew_allocator *allocator, const void *from, size_t count, size_t size, void *slot)
{
    void **to = slot;
    *to = from ? sinew_allocate(allocator, count, size) : NULL;
    if (*to)
        memcpy(*to, from, count * size);
    return *to || !from;
}

static bool skin_copy_arrays(const sinew_skin *from, sinew_skin *to)
{
    const sinew_allocator *allocator = &to->allocator;
    const size_t faces = (size_t)from->face_count, corners = (size_t)from->starts[faces];
    const size_t triangles = (size_t)from->mesh->triangle_count;
    const size_t values = (size_t)from->attributes.count * (size_t)from->mesh->vertex_count;
    bool good =
        skin_copy_array(allocator, from->starts, faces + 1, sizeof(int32_t), &to->starts) &&
        skin_copy_array(allocator, from->corners, corners, sizeof(int32_t), &to->corners) &&
        skin_copy_array(allocator, from->corner_uvs, corners, sizeof(int32_t), &to->corner_uvs) &&
        skin_copy_array(allocator, from->uvs, (size_t)from->uv_count, 2 * sizeof(float), &to->uvs) &&
        skin_copy_array(allocator, from->triangle_faces, triangles, sizeof(int32_t), &to->triangle_faces) &&
        skin_copy_array(allocator, from->triangle_corners, triangles, 3 * sizeof(int32_t), &to->triangle_corners) &&
        skin_copy_array(allocator, from->values, values, sizeof(float), &to->values) &&
        skin_copy_array(allocator, from->library, from->library ? strlen(from->library) + 1 : 0, 1, &to->library) &&
        sinew_names_copy(allocator, &from->attributes, &to->attributes);
    for (int set = 0; set < SINEW_SKIN_SET_COUNT && good; set++)
        good = skin_copy_array(allocator, from->face_names[set], faces, sizeof(int32_t), &to->face_names[set]) &&
               sinew_names_copy(allocator, &from->names[set], &to->names[set]);
    return good;
}

sinew_skin *sinew_skin_copy(const sinew_skin *skin, const sinew_allocator *allocator, sinew_error *error)
{
    sinew_skin *copy = sinew_allocate_zero(allocator, 1, sizeof *copy);
    if (!copy) {
        sinew_fail_memory(error, "a skin");
        return NULL;
    }
    copy->allocator = *allocator;
    copy->face_count = skin->face_count;
    copy->uv_count = skin->uv_count;
    sinew_mesh_def def = sinew_default_mesh_def();
    def.allocator = *allocator;
    def.vertex_count = skin->mesh->vertex_count;
    def.positions = skin->mesh->positions;
    def.triangle_count = skin->mesh->triangle_count;
    def.triangles = skin->mesh->triangles;
    copy->mesh = sinew_mesh_create(&def, error);
    if (!copy->mesh || !skin_copy_arrays(skin, copy)) {
        if (copy->mesh)
            sinew_fail_memory(error, "a skin");
        sinew_skin_destroy(copy);
        return NULL;
    }
    return copy;
}

void sinew_weights_clamp(sinew_real weights[4])
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += weights[i] > 0 ? (double)weights[i] : 0;
    for (int i = 0; i < 4; i++)
        weights[i] = weights[i] > 0 ? (sinew_real)((double)weights[i] / sum) : 0;
}

/* ---- Access to a skin's data --------------------------------------------------------------------- */

int32_t sinew_skin_vertex_count(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->mesh->vertex_count : 0;
}

const sinew_real *sinew_skin_positions(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->mesh->positions : NULL;
}

int32_t sinew_skin_face_count(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->face_count : 0;
}

const int32_t *sinew_skin_face_starts(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->starts : NULL;
}

const int32_t *sinew_skin_corners(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->corners : NULL;
}

const float *sinew_skin_uvs(const sinew_skin *skin, int32_t *count)
{
    const bool good = SINEW_ASSERT(skin);
    if (count)
        *count = good ? skin->uv_count : 0;
    return good ? skin->uvs : NULL;
}

const int32_t *sinew_skin_corner_uvs(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->corner_uvs : NULL;
}

int32_t sinew_skin_name_count(const sinew_skin *skin, sinew_skin_set set)
{
    return SINEW_ASSERT(skin && set < SINEW_SKIN_SET_COUNT) ? skin->names[set].count : 0;
}

const char *sinew_skin_name(const sinew_skin *skin, sinew_skin_set set, int32_t index)
{
    const bool good = SINEW_ASSERT(skin && set < SINEW_SKIN_SET_COUNT && index >= 0 && index < skin->names[set].count);
    return good ? sinew_names_get(&skin->names[set], index) : "";
}

const int32_t *sinew_skin_face_names(const sinew_skin *skin, sinew_skin_set set)
{
    return SINEW_ASSERT(skin && set < SINEW_SKIN_SET_COUNT) ? skin->face_names[set] : NULL;
}

int32_t sinew_skin_attribute_count(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->attributes.count : 0;
}

const char *sinew_skin_attribute_name(const sinew_skin *skin, int32_t index)
{
    const bool good = SINEW_ASSERT(skin && index >= 0 && index < skin->attributes.count);
    return good ? sinew_names_get(&skin->attributes, index) : "";
}

const float *sinew_skin_attribute(const sinew_skin *skin, int32_t index)
{
    if (!SINEW_ASSERT(skin && index >= 0 && index < skin->attributes.count))
        return NULL;
    return skin->values + (size_t)index * (size_t)skin->mesh->vertex_count;
}

const char *sinew_skin_material_library(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) && skin->library ? skin->library : "";
}

const sinew_mesh *sinew_skin_mesh(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->mesh : NULL;
}

const int32_t *sinew_skin_triangle_faces(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->triangle_faces : NULL;
}

const int32_t *sinew_skin_triangle_corners(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? skin->triangle_corners : NULL;
}

const char *sinew_skin_warnings(const sinew_skin *skin)
{
    return SINEW_ASSERT(skin) ? sinew_mesh_warnings(skin->mesh) : "";
}
