/* SPDX-License-Identifier: MIT
 *
 * gltf_attributes.c: reads data of a skin in a glTF file besides its shape: TEXCOORD_0, COLOR_0 (as red, green, blue,
 * alpha), application-specific attributes (_NAME, one number per vertex, as NAME), names of materials and meshes.
 *
 * Source: Khronos, "glTF 2.0 specification", section 3.7.2. An array that does not fit its vertices is ignored and
 * counted in the warnings, because the surface is complete without it.
 */
#include <math.h>
#include <string.h>

#include "io/mesh/gltf_buffers.h"
#include "io/mesh/embedded_builder.h"

/* Opens an optional glTF accessor. *found is false if it is invalid or has not `count` elements, which is counted in
 * the warnings. Returns false only if memory runs out. */
static bool open_optional_accessor(sinew_gltf_reader *reader, const json_t *number, const char *shape,
                                   size_t components, int64_t count, sinew_gltf_accessor *accessor, bool *found)
{
    sinew_error *error = reader->builder->error, trouble = {0};
    reader->builder->error = &trouble;
    *found = json_is_integer(number) &&
             sinew_gltf_open_accessor(reader, json_integer_value(number), shape, components, accessor) &&
             accessor->count == count;
    reader->builder->error = error;
    if (trouble.status == SINEW_ERROR_MEMORY)
        return sinew_gltf_fail_memory(reader);
    if (!*found && !reader->trial)
        sinew_builder_ignore(reader->builder, "arrays of painted values that do not fit", 1);
    return true;
}

static double gltf_attributes_number_at(const sinew_gltf_accessor *accessor, int64_t vertex, size_t component)
{
    const unsigned char *bytes = accessor->bytes + (size_t)vertex * accessor->stride;
    return accessor->scale * sinew_scalar_real(accessor->type, bytes + component * sinew_scalar_size(accessor->type),
                                               sinew_host_is_big_endian());
}

/* Adds texture coordinates of vertices. Vertices without texture coordinates get NaN. The v axis points down in
 * glTF. */
static bool gltf_attributes_add_uvs(sinew_gltf_reader *reader, const json_t *number, int64_t first, int64_t count)
{
    sinew_gltf_accessor accessor;
    bool found;
    if (!number)
        return true;
    if (!open_optional_accessor(reader, number, "VEC2", 2, count, &accessor, &found))
        return false;
    if (reader->trial || !found)
        return true;
    reader->builder->skin->uvs_of_vertices = true;
    while (reader->builder->skin->uvs.count < first)
        if (!sinew_skin_builder_add_uv(reader->builder, NAN, NAN))
            return false;
    for (int64_t i = 0; i < count; i++)
        if (!sinew_skin_builder_add_uv(reader->builder, (float)gltf_attributes_number_at(&accessor, i, 0),
                                       (float)(1 - gltf_attributes_number_at(&accessor, i, 1))))
            return false;
    return true;
}

/* Adds component `component` of an accessor's elements as a vertex attribute of the skin. */
static bool gltf_attributes_add_values(sinew_gltf_reader *reader, const sinew_gltf_accessor *accessor, size_t component,
                                       const char *name, int64_t first)
{
    bool good = true;
    const int32_t attribute = sinew_skin_builder_find_attribute(reader->builder, name, strlen(name), &good);
    for (int64_t i = 0; i < accessor->count && good; i++)
        good = sinew_skin_builder_set_value(reader->builder, attribute, first + i,
                                            gltf_attributes_number_at(accessor, i, component));
    return good;
}

static const char *accessor_shape(const sinew_gltf_reader *reader, const json_t *number)
{
    const json_t *entry = json_array_get(json_object_get(reader->root, "accessors"),
                                         json_is_integer(number) ? (size_t)json_integer_value(number) : SIZE_MAX);
    const char *type = json_string_value(json_object_get(entry, "type"));
    return type ? type : "";
}

static bool add_colours(sinew_gltf_reader *reader, const json_t *number, int64_t first, int64_t count)
{
    static const char *const names[4] = {"red", "green", "blue", "alpha"};
    if (!number)
        return true;
    const size_t components = strcmp(accessor_shape(reader, number), "VEC4") == 0 ? 4 : 3;
    sinew_gltf_accessor accessor;
    bool found;
    if (!open_optional_accessor(reader, number, components == 4 ? "VEC4" : "VEC3", components, count, &accessor,
                                &found))
        return false;
    for (size_t c = 0; c < components && found && !reader->trial; c++)
        if (!gltf_attributes_add_values(reader, &accessor, c, names[c], first))
            return false;
    return true;
}

bool sinew_gltf_read_attributes(sinew_gltf_reader *reader, const json_t *attributes, int64_t first, int64_t count)
{
    if (!reader->builder->skin)
        return true;
    if (!gltf_attributes_add_uvs(reader, json_object_get(attributes, "TEXCOORD_0"), first, count) ||
        !add_colours(reader, json_object_get(attributes, "COLOR_0"), first, count))
        return false;
    for (void *at = json_object_iter((json_t *)attributes); at; at = json_object_iter_next((json_t *)attributes, at)) {
        const char *name = json_object_iter_key(at);
        sinew_gltf_accessor accessor;
        bool found;
        if (name[0] != '_' || !name[1] || strcmp(accessor_shape(reader, json_object_iter_value(at)), "SCALAR") != 0)
            continue;
        if (!open_optional_accessor(reader, json_object_iter_value(at), "SCALAR", 1, count, &accessor, &found) ||
            (found && !reader->trial && !gltf_attributes_add_values(reader, &accessor, 0, name + 1, first)))
            return false;
    }
    return true;
}

/* Sets the name of the following faces without control characters, because other formats write names into one line. */
static bool set_face_name(sinew_gltf_reader *reader, sinew_skin_set set, const char *name)
{
    char plain[256];
    snprintf(plain, sizeof plain, "%s", name);
    for (char *c = plain; *c; c++)
        *c = (unsigned char)*c < ' ' ? '_' : *c;
    return sinew_skin_builder_set_name(reader->builder, set, plain, strlen(plain));
}

bool sinew_gltf_set_material_name(sinew_gltf_reader *reader, const json_t *primitive)
{
    if (!reader->builder->skin || reader->trial)
        return true;
    const json_t *number = json_object_get(primitive, "material");
    const json_t *entry = json_array_get(json_object_get(reader->root, "materials"),
                                         json_is_integer(number) ? (size_t)json_integer_value(number) : SIZE_MAX);
    const char *name = json_string_value(json_object_get(entry, "name"));
    char own[32] = "";
    if (entry && !name)
        snprintf(own, sizeof own, "material_%lld", (long long)json_integer_value(number));
    return set_face_name(reader, SINEW_SKIN_MATERIAL, name ? name : own);
}

bool sinew_gltf_set_group_name(sinew_gltf_reader *reader, const json_t *mesh)
{
    if (!reader->builder->skin || reader->trial)
        return true;
    const char *name = json_string_value(json_object_get(mesh, "name"));
    return set_face_name(reader, SINEW_SKIN_GROUP, name ? name : "");
}
