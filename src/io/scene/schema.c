/* SPDX-License-Identifier: MIT
 *
 * schema.c: prints the tables of keys as a JSON Schema (2020-12), docs/reference/scene.schema.json.
 *
 * Each shape becomes one definition. A shape with a chooser becomes "anyOf" its variants, each with the chooser's word
 * as a constant. The schema cannot check conditions that depend on meshes and files: empty selections, indices out
 * of range, missing files.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene/key_tables.h"
#include "io/scene/units.h"
#include "sinew/scene.h"

/* The JSON Schema under construction. `failed` is set if memory runs out; the caller then discards the incomplete
 * schema. */
typedef struct schema {
    json_t *definitions;
    bool failed;
} schema;

static void schema_put(schema *s, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        s->failed = true;
}

static void schema_add(schema *s, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value) != 0)
        s->failed = true;
}

static json_t *reference_schema(const char *name)
{
    return json_pack("{s: s+}", "$ref", "#/$defs/", name);
}

static void put_bound(schema *s, json_t *object, bool open, const char *closed_key, const char *open_key, double bound)
{
    bool whole = bound == floor(bound) && fabs(bound) < 9e15;
    if (isfinite(bound))
        schema_put(s, object, open ? open_key : closed_key, whole ? json_integer((json_int_t)bound) : json_real(bound));
}

static json_t *number_schema(schema *s, const sinew_field *field, const char *type)
{
    json_t *object = json_pack("{s: s}", "type", type);
    if (field->minimum != 0 || field->maximum != 0) {
        put_bound(s, object, field->open_minimum, "minimum", "exclusiveMinimum", field->minimum);
        put_bound(s, object, field->open_maximum, "maximum", "exclusiveMaximum", field->maximum);
    }
    return object;
}

/* JSON Schema of a text with a unit, for example "3 cm". */
static json_t *unit_schema(const char *units)
{
    char pattern[512];
    size_t used = (size_t)snprintf(pattern, sizeof pattern, "^-?[0-9]+([.][0-9]+)?([eE][+-]?[0-9]+)? *(");
    for (const char *unit = units; unit && used < sizeof pattern;) {
        char name[32], list[160];
        size_t length = strcspn(unit, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, unit);
        sinew_dimension_units(sinew_unit_dimension(name), list, sizeof list);
        /* ", " separates the units of a dimension, and a unit may contain a space: "N m". */
        for (const char *c = *list ? list : name; *c && used + 2 < sizeof pattern; c += *c == ',' ? 2 : 1)
            pattern[used++] = *c == ',' ? '|' : *c;
        unit = unit[length] ? unit + length + 1 : NULL;
        if (unit)
            pattern[used++] = '|';
    }
    snprintf(pattern + used, sizeof pattern - used, ")$");
    return json_pack("{s: s, s: s}", "type", "string", "pattern", pattern);
}

/* JSON Schema of a number or, if it has a unit, of a number or a text. */
static json_t *scalar_schema(schema *s, const sinew_field *field)
{
    json_t *number = number_schema(s, field, "number");
    if (!field->unit || !*field->unit)
        return number;
    return json_pack("{s: [o, o]}", "anyOf", number, unit_schema(field->unit));
}

static json_t *list_schema(schema *s, json_t *items, int32_t minimum, int32_t maximum)
{
    json_t *object = json_pack("{s: s, s: o}", "type", "array", "items", items);
    if (minimum > 0)
        schema_put(s, object, "minItems", json_integer(minimum));
    if (maximum > 0)
        schema_put(s, object, "maxItems", json_integer(maximum));
    return object;
}

static json_t *names_schema(schema *s, const char *choices)
{
    json_t *words = json_array();
    while (choices) {
        size_t length = strcspn(choices, "|");
        schema_add(s, words, json_stringn(choices, length));
        choices = choices[length] ? choices + length + 1 : NULL;
    }
    return json_pack("{s: o}", "enum", words);
}

static void define_shape(schema *s, const sinew_shape *shape);

static json_t *form_schema(schema *s, const sinew_field *field, uint32_t form)
{
    switch (form) {
    case SINEW_FORM_NUMBER:
        return scalar_schema(s, field);
    case SINEW_FORM_INTEGER:
        return number_schema(s, field, "integer");
    case SINEW_FORM_BOOLEAN:
        return json_pack("{s: s}", "type", "boolean");
    case SINEW_FORM_TEXT:
        return json_pack("{s: s, s: i}", "type", "string", "minLength", 1);
    case SINEW_FORM_KEYWORD:
        return field->choices ? names_schema(s, field->choices) : json_pack("{s: s}", "type", "string");
    case SINEW_FORM_VECTOR:
        return list_schema(s, scalar_schema(s, field), 3, 3);
    case SINEW_FORM_INTEGERS:
        return list_schema(s, number_schema(s, field, "integer"), field->count, field->count);
    case SINEW_FORM_TEXTS:
        return list_schema(s, json_pack("{s: s}", "type", "string"), field->count, field->count);
    case SINEW_FORM_OBJECT:
        define_shape(s, field->shape);
        return reference_schema(field->shape->name);
    case SINEW_FORM_LIST:
        define_shape(s, field->shape);
        return list_schema(s, reference_schema(field->shape->name), field->count, 0);
    case SINEW_FORM_BOX:
        return list_schema(s, list_schema(s, scalar_schema(s, field), 3, 3), 2, 2);
    case SINEW_FORM_PAIRS:
        return list_schema(s, list_schema(s, number_schema(s, field, "integer"), 2, 2), field->count, 0);
    case SINEW_FORM_SELECTION:
        return reference_schema("selection");
    case SINEW_FORM_SELECTIONS:
        return list_schema(s, reference_schema("selection"), 1, 0);
    default: /* the only other form is SINEW_FORM_MATRIX */
        return list_schema(s, list_schema(s, scalar_schema(s, field), field->count, 0), field->count, 0);
    }
}

static json_t *field_schema(schema *s, const sinew_field *field)
{
    json_t *forms = json_array();
    for (uint32_t form = 1; form <= SINEW_FORM_MATRIX; form <<= 1)
        if (field->forms & form)
            schema_add(s, forms, form_schema(s, field, form));
    json_t *object;
    if (json_array_size(forms) == 1)
        object = json_incref(json_array_get(forms, 0));
    else
        object = json_pack("{s: O}", "anyOf", forms);
    json_decref(forms);
    schema_put(s, object, "description", json_string(field->meaning));
    return object;
}

/* JSON Schema list [{"required": [a]}, ...] for the keys a|b|c, as value of "oneOf". */
static json_t *exactly_one_schema(schema *s, const char *keys)
{
    json_t *list = json_array();
    while (keys) {
        size_t length = strcspn(keys, "|");
        schema_add(s, list, json_pack("{s: [s#]}", "required", keys, (int)length));
        keys = keys[length] ? keys + length + 1 : NULL;
    }
    return list;
}

/* List of JSON Schemas, as value of "allOf", that forbid any two of the keys a|b|c together. */
static json_t *at_most_one_schema(schema *s, const char *keys)
{
    json_t *list = json_array();
    for (const char *a = keys; a;) {
        size_t length = strcspn(a, "|");
        const char *rest = a[length] ? a + length + 1 : NULL;
        for (const char *b = rest; b;) {
            size_t other = strcspn(b, "|");
            schema_add(s, list, json_pack("{s: {s: [s#, s#]}}", "not", "required", a, (int)length, b, (int)other));
            b = b[other] ? b + other + 1 : NULL;
        }
        a = rest;
    }
    return list;
}

/* JSON Schema of an object with the fields of one variant; `constant` is the required value of the chooser key. */
static json_t *object_schema(schema *s, const sinew_shape *shape, const char *word, const char *constant)
{
    sinew_field fields[SINEW_FIELD_MAX];
    int32_t count = sinew_shape_fields(shape, word, fields);
    json_t *properties = json_object(), *required = json_array();
    for (int32_t i = 0; i < count; i++) {
        bool chooses = shape->chooser && strcmp(fields[i].name, shape->chooser) == 0;
        if (chooses && !constant)
            continue;
        schema_put(s, properties, fields[i].name,
                   chooses ? json_pack("{s: s}", "const", constant) : field_schema(s, &fields[i]));
        if (fields[i].required || (chooses && !shape->chooser_default))
            schema_add(s, required, json_string(fields[i].name));
    }
    json_t *object =
        json_pack("{s: s, s: o, s: b}", "type", "object", "properties", properties, "additionalProperties", 0);
    if (json_array_size(required) > 0)
        schema_put(s, object, "required", json_incref(required));
    json_decref(required);
    if (shape->exactly_one)
        schema_put(s, object, "oneOf", exactly_one_schema(s, shape->exactly_one));
    if (shape->at_most_one)
        schema_put(s, object, "allOf", at_most_one_schema(s, shape->at_most_one));
    return object;
}

/* One object schema per value of the chooser key. A solver without a name is the default solver; a mesh without a
 * generator is a file. */
static json_t *variants_schema(schema *s, const sinew_shape *shape)
{
    json_t *list = json_array();
    for (int32_t i = 0; shape->variant_name(i); i++) {
        const char *word = shape->variant_name(i);
        json_t *object = object_schema(s, shape, word, word);
        bool is_default = shape->chooser_default && strcmp(word, shape->chooser_default) == 0;
        if (shape->chooser_default && !is_default)
            schema_put(s, object, "required", json_pack("[s]", shape->chooser));
        schema_add(s, list, object);
    }
    if (shape->exactly_one && sinew_keyword_index(shape->chooser, shape->exactly_one) >= 0)
        schema_add(s, list, object_schema(s, shape, NULL, NULL));
    return json_pack("{s: o}", "anyOf", list);
}

static json_t *selection_schema(schema *s)
{
    json_t *object = object_schema(s, &sinew_selection_shape, NULL, NULL);
    return json_pack("{s: [{s: s}, o, o]}", "anyOf", "const", "all", object,
                     list_schema(s, reference_schema("selection"), 1, 0));
}

static void define_shape(schema *s, const sinew_shape *shape)
{
    if (json_object_get(s->definitions, shape->name))
        return;
    /* The placeholder definition ends the recursion of shapes that contain themselves. */
    schema_put(s, s->definitions, shape->name, json_true());
    json_t *object;
    if (shape == &sinew_selection_shape)
        object = selection_schema(s);
    else
        object = shape->chooser ? variants_schema(s, shape) : object_schema(s, shape, NULL, NULL);
    schema_put(s, s->definitions, shape->name, object);
}

size_t sinew_scene_schema(char *text, size_t size)
{
    if (!SINEW_ASSERT(text || size == 0))
        return 0;
    schema s = {.definitions = json_object()};
    define_shape(&s, &sinew_selection_shape);
    json_t *root = json_pack("{s: s, s: s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                             "A sinew scene, format 1");
    json_t *scene = object_schema(&s, &sinew_scene_shape, NULL, NULL);
    s.failed = json_object_update(root, scene) != 0 || s.failed;
    json_decref(scene);
    schema_put(&s, root, "$defs", s.definitions);
    char *dump = s.failed ? NULL : json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
    json_decref(root);
    size_t length = dump ? strlen(dump) + 1 : 0;
    if (dump && size > 0)
        snprintf(text, size, "%s\n", dump);
    free(dump);
    return length;
}
