/* SPDX-License-Identifier: MIT
 *
 * key_tables.h: tables of the keys of a scene. The reader checks a whole scene against these tables before it builds
 * anything. The JSON Schema is printed from the same tables, so reader and schema agree.
 */
#ifndef SINEW_SRC_IO_SCENE_KEY_TABLES_H
#define SINEW_SRC_IO_SCENE_KEY_TABLES_H

#include "base/spelling.h"
#include "io/scene/json_tree.h"
#include "sinew/sinew.h"

/* The forms that a key's value may take; a field may allow several. */
enum {
    SINEW_FORM_NUMBER = 1 << 0, /* a number in SI units, or a text with a unit such as "3 cm" */
    SINEW_FORM_INTEGER = 1 << 1,
    SINEW_FORM_BOOLEAN = 1 << 2,
    SINEW_FORM_TEXT = 1 << 3,
    SINEW_FORM_KEYWORD = 1 << 4,     /* a text that is one of the words in `choices` */
    SINEW_FORM_VECTOR = 1 << 5,      /* a vector [x, y, z], each entry a NUMBER */
    SINEW_FORM_INTEGERS = 1 << 6,    /* a list of `count` integers; count 0: any number of them */
    SINEW_FORM_TEXTS = 1 << 7,       /* a list of `count` texts (JSON strings) */
    SINEW_FORM_OBJECT = 1 << 8,      /* a JSON object with the keys of `shape` */
    SINEW_FORM_LIST = 1 << 9,        /* a list of JSON objects with the keys of `shape` */
    SINEW_FORM_BOX = 1 << 10,        /* two corners of a box: [[x, y, z], [x, y, z]] */
    SINEW_FORM_PAIRS = 1 << 11,      /* a list of pairs of integers: [[i, j], ...] */
    SINEW_FORM_SELECTION = 1 << 12,  /* "all", an object of the selection shape, or a list (the union of its entries) */
    SINEW_FORM_SELECTIONS = 1 << 13, /* a list of values of the form SELECTION */
    /* a matrix [[a, b, ...], ...], each entry a NUMBER; all rows have the same length */
    SINEW_FORM_MATRIX = 1 << 14
};

typedef struct sinew_field {
    const char *name;
    uint32_t forms;
    const char *meaning;
    const char *unit;                /* SI unit of the numbers, alternatives by '|'; NULL or "": dimensionless */
    const char *choices;             /* for KEYWORD: the allowed words, separated by '|' */
    const struct sinew_shape *shape; /* for OBJECT and LIST: the keys that the objects may have */
    double minimum, maximum;         /* allowed range of the field's numbers; both 0: any number */
    bool open_minimum, open_maximum; /* true: the bound itself is not allowed */
    bool required;
    int32_t count; /* INTEGERS, TEXTS: exact number; LIST, PAIRS: minimum number; MATRIX: minimum of rows and columns */
} sinew_field;

enum {
    SINEW_FIELD_MAX = 32
};

typedef struct sinew_shape {
    const char *name; /* name of the shape in the JSON Schema's $defs */
    const sinew_field *fields;
    int32_t field_count;
    const char *exactly_one; /* keys of an object, separated by '|', of which exactly one is required; or NULL */
    const char *at_most_one; /* mutually exclusive keys of an object, separated by '|', or NULL */
    /* Key whose value adds fields to the object, such as "energy", "generator", or "name" of a solver. NULL: none. */
    const char *chooser;
    const char *chooser_default; /* value of a missing chooser key; NULL: it adds no fields */
    /* name of the variant with this index, a value of the chooser key; NULL after the last */
    const char *(*variant_name)(int32_t index);
    /* Fills `fields` [SINEW_FIELD_MAX] with the fields that the chooser's value `word` adds; -1 if the value is
     * unknown. */
    int32_t (*variant_fields)(const char *word, sinew_field *fields);
} sinew_shape;

/* Quantities by which pictures may be coloured, separated by '|'. */
#define SINEW_COLOUR_NAMES "body|speed|stretch|von_mises|energy|residual|contact_force|position_error|class"

/* Channels of an image, separated by '|', in order. */
#define SINEW_CHANNEL_NAMES "red|green|blue"

extern const sinew_shape sinew_scene_shape;     /* table of keys of the scene's root object */
extern const sinew_shape sinew_selection_shape; /* table of keys of the objects of SINEW_FORM_SELECTION */
extern const sinew_shape sinew_turn_shape;      /* table of keys of a rotation by axis and angle */
extern const sinew_shape sinew_transform_shape;
extern const sinew_shape sinew_motion_shape;
extern const sinew_shape sinew_mesh_shape;
/* Contact keys (keys_contact.c) of the scene, of a body and of colliders. */
extern const sinew_shape sinew_contact_shape;
extern const sinew_shape sinew_body_contact_shape;
extern const sinew_shape sinew_collider_shape;

/* Names and keys of the mesh generators (mesh.c). */
const char *sinew_generator_name(int32_t index);
int32_t sinew_generator_fields(const char *word, sinew_field *fields);

/* Checks an object and all its members against the table of its shape; returns false with the first error. */
bool sinew_shape_check(const sinew_tree *tree, const sinew_node *node, const sinew_shape *shape);

/* Fills `fields` [SINEW_FIELD_MAX] with the keys of the shape and of its variant `word` (NULL: the default). Returns
 * their number, -1 if the word is unknown. */
int32_t sinew_shape_fields(const sinew_shape *shape, const char *word, sinew_field *fields);

/* Values of nodes that have passed the check of the tables, in SI units. */
double sinew_node_number(const sinew_node *node);
int32_t sinew_node_integer(const sinew_node *node);
const char *sinew_node_text(const sinew_node *node); /* text of a node's value; NULL if the value is not a text */
void sinew_node_vector(const sinew_node *node, sinew_real vector[3]);

/* Read a member of an object into *value; a missing member leaves the value unchanged. */
void sinew_take_integer(const sinew_node *object, const char *key, int32_t *value);
void sinew_take_number(const sinew_node *object, const char *key, sinew_real *value);
void sinew_take_vector(const sinew_node *object, const char *key, sinew_real vector[3]);
void sinew_take_boolean(const sinew_node *object, const char *key, bool *value);
void sinew_take_bits(const sinew_node *object, const char *key, uint32_t *bits);

#endif
