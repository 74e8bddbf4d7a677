/* SPDX-License-Identifier: MIT
 *
 * keys_contact.c: the tables of contact and collider keys. Each collider shape has its own keys, so that a box with
 * a radius is an error.
 */
#include <string.h>

#include "io/scene/key_tables.h"
#include "sinew/contact.h"

enum {
    NUMBER = SINEW_FORM_NUMBER,
    INTEGER = SINEW_FORM_INTEGER,
    BOOLEAN = SINEW_FORM_BOOLEAN,
    TEXT = SINEW_FORM_TEXT,
    KEYWORD = SINEW_FORM_KEYWORD,
    VECTOR = SINEW_FORM_VECTOR,
    OBJECT = SINEW_FORM_OBJECT
};

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))
#define LENGTH       .unit = "m", .minimum = 0, .maximum = 1e6, .open_minimum = true

/* Keys that the scene, bodies and colliders share; bodies and colliders default to the value of the scene. GROUP and
 * MASK are keys of bodies and colliders only. */
#define THICKNESS(text)                                                                                                \
    {                                                                                                                  \
        "thickness", NUMBER, .meaning = (text), .unit = "m", .minimum = 0, .maximum = 1e3                              \
    }
#define FRICTION(text)                                                                                                 \
    {                                                                                                                  \
        "friction", NUMBER, .meaning = (text), .minimum = 0, .maximum = 10                                             \
    }
#define RESTITUTION(text)                                                                                              \
    {                                                                                                                  \
        "restitution", NUMBER, .meaning = (text), .minimum = 0, .maximum = 1                                           \
    }
#define GROUP                                                                                                          \
    {                                                                                                                  \
        "group", INTEGER, .meaning = "bits of the groups it is in; 1 unless given", .minimum = 0,                      \
                          .maximum = 4294967295.0                                                                      \
    }
#define MASK                                                                                                           \
    {                                                                                                                  \
        "mask", INTEGER, .meaning = "bits of the groups it collides with; all unless given", .minimum = 0,             \
                         .maximum = 4294967295.0                                                                       \
    }

/* ---- Keys of contact settings -------------------------------------------------------------------- */

static const sinew_field contact_fields[] = {
    {"mode", KEYWORD, .meaning = "contact model; augmented unless given", .choices = SINEW_CONTACT_MODE_NAMES},
    THICKNESS("surfaces keep apart by half the sum of theirs; 1 mm unless given"),
    FRICTION("Coulomb's coefficient; of two the root of the product; 0.3 unless given"),
    RESTITUTION("speed of separation over speed of approach; of two the larger; 0 unless given"),
    {"self", BOOLEAN, .meaning = "self-collision of bodies; true unless given"},
    {"intersection_free", BOOLEAN,
     .meaning = "surfaces do not intersect, at any number of iterations; true unless given"},
    {"untangle", BOOLEAN, .meaning = "surfaces that overlap are moved apart, a part in each step; true unless given"},
    {"stiffness", NUMBER, .meaning = "augmented: in units of the stiffness of bodies at the contact; 10 unless given",
     .minimum = 0.1, .maximum = 1e4},
    {"penalty", NUMBER, .meaning = "penalty, half_space: normal stiffness; 1e8 unless given", .unit = "N/m",
     .minimum = 0, .maximum = 1e15, .open_minimum = true},
    {"penalty_tangent", NUMBER, .meaning = "penalty: tangential stiffness; 0 unless given", .unit = "N/m", .minimum = 0,
     .maximum = 1e15},
    {"multiplier_interval", INTEGER,
     .meaning = "iterations between two multiplier updates; 0, unless given: as suits the solver", .minimum = 0,
     .maximum = 1e6},
    {"max_detections", INTEGER, .meaning = "detection passes in a step; 10 unless given", .minimum = 1,
     .maximum = 1000},
    {"pair_limit", INTEGER, .meaning = "candidate pairs that are kept; 0, unless given: all", .minimum = 0,
     .maximum = 1e15},
};
const sinew_shape sinew_contact_shape = {
    .name = "contact", .fields = contact_fields, .field_count = COUNT(contact_fields)};

static const char own_number[] = "its own; the scene's unless given";

static const sinew_field body_contact_fields[] = {
    {"surface", KEYWORD, .meaning = "collision surface: its own surface, its embedded surface, none; cage unless given",
     .choices = SINEW_CONTACT_SURFACE_NAMES},
    THICKNESS(own_number),
    FRICTION(own_number),
    RESTITUTION(own_number),
    {"self", BOOLEAN, .meaning = "self-collision, if the scene has it on; true unless given"},
    GROUP,
    MASK,
};
const sinew_shape sinew_body_contact_shape = {
    .name = "body_contact", .fields = body_contact_fields, .field_count = COUNT(body_contact_fields)};

/* ---- Keys of colliders --------------------------------------------------------------------------- */

static const sinew_field cache_fields[] = {
    {"file", TEXT, .meaning = "point cache (.pc2) of the mesh's vertices, relative to the scene", .required = true},
    {"fps", NUMBER, .meaning = "frames a second of the cache; those of the scene unless given", .unit = "1/s",
     .minimum = 0, .maximum = 1e6, .open_minimum = true},
};
static const sinew_shape cache_shape = {
    .name = "collider_cache", .fields = cache_fields, .field_count = COUNT(cache_fields)};

static const sinew_field collider_common[] = {
    {"name", TEXT, .meaning = "of the collider, for programs"},
    {"shape", KEYWORD, .meaning = "what it is", .required = true},
    {"position", VECTOR, .meaning = "where its own frame begins; the origin unless given", .unit = "m"},
    {"rotation", VECTOR | OBJECT, .meaning = "rotation vector, or axis and angle, of its own frame about its beginning",
     .unit = "rad", .shape = &sinew_turn_shape},
    {"motion", OBJECT, .meaning = "how it moves from there; it stands still unless given",
     .shape = &sinew_motion_shape},
    THICKNESS(own_number),
    FRICTION(own_number),
    RESTITUTION(own_number),
    GROUP,
    MASK,
};

static const sinew_field box_fields[] = {
    {"size", VECTOR, .meaning = "edges; 1, 1, 1 unless given", LENGTH},
    {"hollow", BOOLEAN, .meaning = "walls alone, which collide on both sides; false unless given"},
};
static const sinew_field sphere_fields[] = {
    {"radius", NUMBER, .meaning = "0.5 unless given", LENGTH},
};
static const sinew_field capsule_fields[] = {
    {"radius", NUMBER, .meaning = "0.5 unless given", LENGTH},
    {"length", NUMBER, .meaning = "between the centres of its ends, along y; 1 unless given", LENGTH},
};
static const sinew_field cylinder_fields[] = {
    {"radius", NUMBER, .meaning = "of the circle, which lies inside the prism; 0.5 unless given", LENGTH},
    {"length", NUMBER, .meaning = "along y; 1 unless given", LENGTH},
    {"segments", INTEGER, .meaning = "sides of the prism; 64 unless given", .minimum = 3, .maximum = 4096},
};
static const sinew_field height_fields[] = {
    {"size", VECTOR, .meaning = "it lies over the first times the third, around its beginning; 1, 1, 1 unless given",
     LENGTH},
    {"heights", SINEW_FORM_MATRIX, .meaning = "along y: rows along z, each with numbers along x", .unit = "m",
     .count = 2},
    {"image", TEXT,
     .meaning = "heights as a picture (.pgm, .ppm: red, .pfm), one a pixel, its upper edge at the lowest z"},
    {"scale", NUMBER, .meaning = "height of white; of heights a factor; 1 unless given", .minimum = -1e6,
     .maximum = 1e6},
};
static const sinew_field mesh_fields[] = {
    {"mesh", OBJECT, .meaning = "its triangles, or the boundary of its tets", .shape = &sinew_mesh_shape,
     .required = true},
    {"transform", OBJECT, .meaning = "moves and scales the mesh itself, in its own frame",
     .shape = &sinew_transform_shape},
    {"cache", OBJECT, .meaning = "moves its vertices, in place of a motion", .shape = &cache_shape},
};

/* The keys that each collider shape adds, in the order of sinew_shape_kind. */
static const struct {
    const sinew_field *fields;
    int32_t count;
} own_fields[SINEW_SHAPE_COUNT] = {
    [SINEW_SHAPE_BOX] = {box_fields, COUNT(box_fields)},
    [SINEW_SHAPE_SPHERE] = {sphere_fields, COUNT(sphere_fields)},
    [SINEW_SHAPE_CAPSULE] = {capsule_fields, COUNT(capsule_fields)},
    [SINEW_SHAPE_CYLINDER] = {cylinder_fields, COUNT(cylinder_fields)},
    [SINEW_SHAPE_HEIGHT_FIELD] = {height_fields, COUNT(height_fields)},
    [SINEW_SHAPE_MESH] = {mesh_fields, COUNT(mesh_fields)},
};

static const char *shape_name(int32_t index)
{
    return sinew_shape_name((sinew_shape_kind)index);
}

static int32_t shape_fields(const char *word, sinew_field *fields)
{
    const sinew_shape_kind kind = sinew_shape_by_name(word);
    if (kind == SINEW_SHAPE_COUNT)
        return -1;
    for (int32_t i = 0; i < own_fields[kind].count; i++)
        fields[i] = own_fields[kind].fields[i];
    return own_fields[kind].count;
}

const sinew_shape sinew_collider_shape = {.name = "collider",
                                          .fields = collider_common,
                                          .field_count = COUNT(collider_common),
                                          .chooser = "shape",
                                          .variant_name = shape_name,
                                          .variant_fields = shape_fields};
