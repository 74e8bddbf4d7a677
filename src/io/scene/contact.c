/* SPDX-License-Identifier: MIT
 *
 * contact.c: reads the contact settings: the key "contact" of the scene and of a body.
 */
#include "io/scene/cage_distance.h"
#include "io/scene/reader.h"
#include "sinew/contact.h"
#include "sinew/skin.h"

static bool refuse_without_contact(sinew_reader *reader, const sinew_node *node)
{
    return sinew_tree_fail(&reader->tree, node,
                           "nothing touches in this scene: add \"contact\": true, or false where that is meant");
}

bool sinew_reader_contact(sinew_reader *reader)
{
    const sinew_node *root = reader->tree.root, *node = sinew_node_get(root, "contact");
    const sinew_node *colliders = sinew_node_get(root, "colliders");
    if (!node && colliders)
        return refuse_without_contact(reader, colliders);
    if (!node || json_is_false(node->value))
        return true;
    const sinew_node *mode = sinew_node_get(node, "mode"), *limit = sinew_node_get(node, "pair_limit");
    sinew_contact_def def = sinew_default_contact_def();
    if (mode)
        def.mode = (sinew_contact_mode)sinew_keyword_index(sinew_node_text(mode), SINEW_CONTACT_MODE_NAMES);
    sinew_take_boolean(node, "self", &def.self);
    sinew_take_boolean(node, "intersection_free", &def.intersection_free);
    sinew_take_boolean(node, "untangle", &def.untangle);
    sinew_take_number(node, "thickness", &def.thickness);
    sinew_take_number(node, "friction", &def.friction);
    sinew_take_number(node, "restitution", &def.restitution);
    sinew_take_number(node, "stiffness", &def.stiffness);
    sinew_take_number(node, "penalty", &def.penalty);
    sinew_take_number(node, "penalty_tangent", &def.penalty_tangent);
    sinew_take_integer(node, "multiplier_interval", &def.multiplier_interval);
    sinew_take_integer(node, "max_detections", &def.max_detections);
    if (limit)
        def.pair_limit = (int64_t)json_integer_value(limit->value);
    return sinew_world_set_contact(reader->scene->world, &def, reader->error) == SINEW_OK ||
           sinew_tree_blame(&reader->tree, node);
}

bool sinew_reader_body_contact(sinew_reader *reader, const sinew_node *node, sinew_body body)
{
    if (!node)
        return true;
    if (!sinew_node_get(reader->tree.root, "contact"))
        return refuse_without_contact(reader, node);
    const sinew_node *surface = sinew_node_get(node, "surface");
    sinew_body_contact contact = sinew_default_body_contact();
    if (surface)
        contact.surface =
            (sinew_contact_surface)sinew_keyword_index(sinew_node_text(surface), SINEW_CONTACT_SURFACE_NAMES);
    sinew_take_number(node, "thickness", &contact.thickness);
    sinew_take_number(node, "friction", &contact.friction);
    sinew_take_number(node, "restitution", &contact.restitution);
    sinew_take_boolean(node, "self", &contact.self);
    sinew_take_bits(node, "group", &contact.group);
    sinew_take_bits(node, "mask", &contact.mask);
    return sinew_body_set_contact(reader->scene->world, body, &contact, reader->error) == SINEW_OK ||
           sinew_tree_blame(&reader->tree, node);
}

bool sinew_reader_warn_of_cages(sinew_reader *reader)
{
    const sinew_world *world = reader->scene->world;
    const sinew_node *entry = sinew_node_get(reader->tree.root, "bodies")->child;
    for (int32_t k = 0; sinew_world_contact(world).on && k < sinew_world_body_count(world); k++) {
        const sinew_body body = sinew_world_body_at(world, k);
        const sinew_node *rigid = entry ? sinew_node_get(entry, "rigid") : NULL;
        entry = entry ? entry->next : NULL;
        if (body.index < 0 || (rigid && json_is_true(rigid->value)) || !sinew_body_skin(world, body) ||
            sinew_body_get_contact(world, body).surface != SINEW_CONTACT_CAGE)
            continue;
        const double far = sinew_cage_distance(world, body, &reader->allocator, reader->error);
        if (reader->error->status != SINEW_OK)
            return false;
        const char *name = sinew_body_name(world, body);
        if (far > 0 &&
            !sinew_reader_warn(reader,
                               "bodies[%d]%s%s: touches with its cage, up to %.3g m from the surface that is "
                               "shown (contact.surface = skin touches with that)",
                               (int)k, name && *name ? " " : "", name ? name : "", far))
            return false;
    }
    return true;
}
