/* SPDX-License-Identifier: MIT
 *
 * npy_index.c: <name>.npy.json, which describes the arrays of a NumPy cache for scripts.
 *
 *     {"sinew_npy": 1, "name": "twist", "precision": "double", "frames": 61, "first_frame": 0, "fps": 60.0,
 *      "frame_time": 0.0166.., "particles": 125,
 *      "arrays": [{"name": "positions", "file": "twist.positions.npy", "shape": [61, 125, 3], "type": "<f8",
 *                  "unit": "m", "axes": "frame,particle,xyz"}, ...],
 *      "bodies": [{"place": 0, "name": "bar", "first": 0, "count": 125, "skin_vertices": 0}, ...],
 *      "materials": [{"place": 0, "energy": "neo_hookean"}, ...]}
 */
#include "io/cache/npy.h"
#include "io/cache/json.h"

#include <string.h>

sinew_status sinew_npy_check_names(const sinew_cache *cache, sinew_error *error)
{
    if (sinew_is_utf8(cache->name))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "%s: the name must be UTF-8 for npy", cache->stem);
}

/* Names of the axes of an NPY array, one per dimension. */
static const char *axes_of(const sinew_npy_array *array)
{
    static const char *const known[][2] = {
        {"positions", "frame,particle,xyz"},
        {"velocities", "frame,particle,xyz"},
        {"time", "frame"},
        {"force", "frame,particle,xyz"},
        {"residual", "frame,particle,xyz"},
        {"reaction", "frame,particle,xyz"},
        {"determinant", "frame,tet"},
        {"stretches", "frame,tet,descending"},
        {"von_mises", "frame,tet"},
        {"energy", "frame,tet"},
        {"contact_force", "frame,particle,xyz"},
        {"position_error", "frame,particle,xyz"},
        {"tets", "tet,corner"},
        {"material", "tet"},
        {"triangles", "triangle,corner"},
        {"edges", "edge,corner"},
        {"skin_vertices", "vertex,of"},
        {"skin_weights", "vertex,of"},
    };
    _Static_assert(sizeof known / sizeof known[0] == SINEW_NPY_ARRAYS, "each array that npy.c may add has its axes");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i][0], array->name) == 0)
            return known[i][1];
    return "";
}

static json_t *array_json(const sinew_cache *cache, const sinew_npy_array *array)
{
    json_t *shape = json_array();
    for (int i = 0; i < array->rank; i++)
        if (json_array_append_new(shape, json_integer(array->shape[i])) != 0) {
            json_decref(shape);
            return NULL;
        }
    char file[sizeof cache->stem + 64];
    snprintf(file, sizeof file, "%s.%s.npy", cache->name, array->name);
    return json_pack("{s:s, s:s, s:o, s:s, s:s, s:s}", "name", array->name, "file", file, "shape", shape, "type",
                     array->type, "unit", array->unit, "axes", axes_of(array));
}

/* Describes the body cache->bodies[place] in JSON. If its name is not UTF-8, which JSON requires, bytes above 127
 * become question marks from the left until the name is valid. */
static json_t *body_json(const sinew_cache *cache, int32_t place)
{
    const sinew_cache_body *of = &cache->bodies[place];
    const sinew_skin *skin = sinew_body_skin(cache->world, of->body);
    char name[256];
    snprintf(name, sizeof name, "%s", sinew_body_name(cache->world, of->body));
    for (char *c = name; *c && !sinew_is_utf8(name); c++)
        *c = (unsigned char)*c < 0x80 ? *c : '?';
    return json_pack("{s:i, s:s, s:i, s:i, s:i}", "place", (int)place, "name", name, "first", (int)of->first_point,
                     "count", (int)of->point_count, "skin_vertices", skin ? (int)sinew_skin_vertex_count(skin) : 0);
}

/* The next three functions return lists of the JSON index: arrays, bodies, and energies on tets as materials; NULL:
 * memory runs out. */
static json_t *arrays_json(const sinew_cache *cache, const sinew_npy *own)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (int i = 0; i < own->array_count && good; i++)
        good = json_array_append_new(list, array_json(cache, &own->arrays[i])) == 0;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *bodies_json(const sinew_cache *cache)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (int32_t i = 0; i < cache->body_count && good; i++)
        if (cache->bodies[i].body.index >= 0)
            good = json_array_append_new(list, body_json(cache, i)) == 0;
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

static json_t *materials_json(const sinew_cache *cache)
{
    json_t *list = json_array();
    bool good = list != NULL;
    for (int32_t i = 0; i < sinew_world_energy_count(cache->world) && good; i++) {
        const sinew_energy energy = sinew_world_energy_at(cache->world, i);
        const sinew_energy_info *info =
            energy.index >= 0 ? sinew_get_energy_info(sinew_energy_kind_of(cache->world, energy)) : NULL;
        if (info && info->stencil == SINEW_STENCIL_TET)
            good = json_array_append_new(list, json_pack("{s:i, s:s}", "place", (int)i, "energy", info->name)) == 0;
    }
    if (good)
        return list;
    json_decref(list);
    return NULL;
}

sinew_status sinew_npy_write_index(const sinew_cache *cache, sinew_npy *own, sinew_error *error)
{
    sinew_status status = sinew_cache_create_file(cache, &own->index, ".npy.json", error);
    if (status != SINEW_OK)
        return status;
    json_t *root =
        json_pack("{s:i, s:s, s:s, s:i, s:i, s:f, s:f, s:i, s:o, s:o, s:o}", "sinew_npy", 1, "name", cache->name,
                  "precision", SINEW_PRECISION, "frames", (int)cache->frame_count, "first_frame", (int)cache->first,
                  "fps", sinew_cache_fps(cache), "frame_time", cache->frame_time, "particles", (int)cache->point_count,
                  "arrays", arrays_json(cache, own), "bodies", bodies_json(cache), "materials", materials_json(cache));
    if (!root)
        return sinew_fail_memory(error, "the index of a npy cache");
    status = sinew_cache_put_json(&own->index, root, JSON_INDENT(1), error);
    json_decref(root);
    return status == SINEW_OK ? sinew_cache_print(&own->index, error, "\n") : status;
}
