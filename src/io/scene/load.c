/* SPDX-License-Identifier: MIT
 *
 * load.c: reads a load of one body. The descriptor of the load gives its parameters and its stencil.
 */
#include <string.h>

#include "io/scene/reader.h"
#include "mesh/topology/stencil.h"
#include "sinew/load.h"

/* Reads the key frames of a load, which the caller releases. A key frame without the vector takes the load's vector;
 * without a factor it takes 1. */
static bool read_load_keys(sinew_reader *reader, const sinew_node *list, const char *vector, sinew_load_def *def,
                           sinew_load_key **keys)
{
    if (!list)
        return true;
    const int32_t count = sinew_node_count(list);
    *keys = sinew_reader_allocate(reader, (size_t)count, sizeof **keys, "key frames");
    if (!*keys)
        return false;
    int32_t i = 0;
    for (const sinew_node *entry = list->child; entry; entry = entry->next, i++) {
        const sinew_node *own = sinew_node_get(entry, vector), *factor = sinew_node_get(entry, "factor");
        sinew_load_key *key = &(*keys)[i];
        *key = (sinew_load_key){.time = (sinew_real)sinew_node_number(sinew_node_get(entry, "time")),
                                .factor = factor ? (sinew_real)sinew_node_number(factor) : 1};
        memcpy(key->vector, def->vector, sizeof key->vector);
        if (own)
            sinew_node_vector(own, key->vector);
        if (i > 0 && key->time <= key[-1].time)
            return sinew_tree_fail(&reader->tree, entry, "times must ascend: %g s comes after %g s", (double)key->time,
                                   (double)key[-1].time);
    }
    def->keys = *keys;
    def->key_count = count;
    return true;
}

bool sinew_reader_load(sinew_reader *reader, const sinew_node *node, sinew_body body)
{
    const sinew_load_kind kind = sinew_load_by_name(sinew_node_text(sinew_node_get(node, "load")));
    const sinew_load_info *info = sinew_get_load_info(kind);
    const sinew_node *vector = sinew_node_get(node, info->vector.name);
    const int32_t width = sinew_get_stencil(info->stencil)->vertex_count;
    sinew_load_def def = sinew_default_load_def(kind);
    sinew_load_key *keys = NULL;
    int32_t *elements = NULL;
    def.body = body;
    sinew_reader_parameters(node, info->parameters, info->parameter_count, def.parameters);
    if (vector)
        sinew_node_vector(vector, def.vector);
    bool good =
        read_load_keys(reader, sinew_node_get(node, "keys"), info->vector.name, &def, &keys) &&
        sinew_reader_elements(reader, node, info->name, info->stencil, width, body, &elements, &def.element_count);
    def.elements = elements;
    if (good && sinew_world_add_load(reader->scene->world, &def, reader->error).index < 0)
        good = sinew_tree_blame(&reader->tree, node);
    sinew_release(&reader->allocator, keys);
    sinew_release(&reader->allocator, elements);
    return good;
}
