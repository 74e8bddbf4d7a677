/* SPDX-License-Identifier: MIT
 *
 * validate.c: checks a tree of nodes against the tables of keys: types, ranges, units, names. Errors name their
 * location and what is expected there.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/scene/key_tables.h"
#include "io/scene/units.h"
#include "sinew/scene.h"

/* ---- Unknown names and keys ---------------------------------------------------------------------- */

/* Writes the choices a|b|c as "a, b, c". */
static void write_choices(const char *choices, char *text, size_t size)
{
    size_t used = 0;
    for (const char *c = choices; *c && used + 3 < size; c++) {
        if (*c == '|')
            text[used++] = ',';
        text[used++] = *c == '|' ? ' ' : *c;
    }
    text[used] = '\0';
}

/* Fails with: <what> "word"; did you mean "x"? Without a similar name, the message lists the valid names. */
static bool fail_unknown_name(const sinew_tree *tree, const sinew_node *node, const char *what, const char *word,
                              const char *where, const char *const *names, int32_t count)
{
    const char *nearest = sinew_nearest_name(word, names, count);
    if (nearest)
        return sinew_tree_fail(tree, node, "%s \"%.60s\"%s; did you mean \"%s\"?", what, word, where, nearest);
    char list[512] = "";
    size_t used = 0;
    for (int32_t i = 0; i < count && used < sizeof list; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
    return sinew_tree_fail(tree, node, "%s \"%.60s\"%s; known are %s", what, word, where, list);
}

/* ---- Checks of numbers and their units ----------------------------------------------------------- */

/* Writes the quantity that a field expects, for example "a pressure (Pa, kPa, MPa, GPa)". */
static void write_expected_quantity(const char *units, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const char *unit = units; unit && used < size;) {
        char name[32], list[160];
        size_t length = strcspn(unit, "|");
        snprintf(name, sizeof name, "%.*s", (int)length, unit);
        sinew_dimension dimension = sinew_unit_dimension(name);
        sinew_dimension_units(dimension, list, sizeof list);
        if (dimension == SINEW_DIMENSION_OTHER)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " or " : "", name);
        else
            used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", used ? " or " : "",
                                     sinew_dimension_name(dimension), list);
        unit = unit[length] ? unit + length + 1 : NULL;
    }
}

static bool unit_fits(const char *name, const char *units)
{
    sinew_dimension dimension = sinew_unit_dimension(name);
    if (dimension == SINEW_DIMENSION_OTHER)
        return sinew_keyword_index(name, units) >= 0;
    for (const char *unit = units; unit;) {
        char one[32];
        size_t length = strcspn(unit, "|");
        snprintf(one, sizeof one, "%.*s", (int)length, unit);
        if (sinew_unit_dimension(one) == dimension)
            return true;
        unit = unit[length] ? unit + length + 1 : NULL;
    }
    return false;
}

static bool check_unit(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    const char *text = json_string_value(node->value), *name = node->unit;
    char expected[256];
    if (!field->unit || !*field->unit)
        return sinew_tree_fail(tree, node, "must be a plain number, not the text \"%.60s\"", text);
    write_expected_quantity(field->unit, expected, sizeof expected);
    if (!name)
        return sinew_tree_fail(tree, node, "\"%.60s\" is not a number with its unit; expected %s", text, expected);
    if (!isfinite(node->number))
        return sinew_tree_fail(tree, node, "\"%.60s\" is too large for a number", text);
    if (!*name)
        return sinew_tree_fail(
            tree, node, "\"%.60s\" has no unit: leave the quotes away for SI, or add one; expected %s", text, expected);
    if (unit_fits(name, field->unit))
        return true;
    const sinew_unit *unit = sinew_unit_by_name(name);
    if (!unit)
        return sinew_tree_fail(tree, node, "unknown unit \"%.60s\"; expected %s", name, expected);
    return sinew_tree_fail(tree, node, "unit \"%s\" is %s, expected %s", name, sinew_dimension_name(unit->dimension),
                           expected);
}

/* Writes the range of a field's number, for example "> 0 and < 0.5". */
static void write_range(const sinew_field *field, char *text, size_t size)
{
    char low[40] = "", high[40] = "";
    if (isfinite(field->minimum))
        snprintf(low, sizeof low, "%s %g", field->open_minimum ? ">" : ">=", field->minimum);
    if (isfinite(field->maximum))
        snprintf(high, sizeof high, "%s %.10g", field->open_maximum ? "<" : "<=", field->maximum);
    snprintf(text, size, "%s%s%s", low, *low && *high ? " and " : "", high);
}

static bool check_range(const sinew_tree *tree, const sinew_node *node, const sinew_field *field, double value)
{
    bool unlimited = field->minimum == 0 && field->maximum == 0;
    bool low = field->open_minimum ? value > field->minimum : value >= field->minimum;
    bool high = field->open_maximum ? value < field->maximum : value <= field->maximum;
    if (unlimited || (low && high))
        return true;
    char range[100], unit[16];
    write_range(field, range, sizeof range);
    snprintf(unit, sizeof unit, "%.*s", field->unit ? (int)strcspn(field->unit, "|") : 0,
             field->unit ? field->unit : "");
    return sinew_tree_fail(tree, node, "is %.9g%s%s, must be %s%s%s", value, *unit ? " " : "", unit, range,
                           *unit ? " " : "", unit);
}

static bool check_number(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (json_is_string(node->value) && !check_unit(tree, node, field))
        return false;
    double value = sinew_node_number(node);
    /* The range is checked after rounding to sinew_real, the type that the library computes with. */
    sinew_real real = (sinew_real)value;
    if (!isfinite(real))
        return sinew_tree_fail(tree, node, "is %g, too large for a number in %s precision", value, SINEW_PRECISION);
    return check_range(tree, node, field, (double)real);
}

static bool check_integer(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (!json_is_integer(node->value))
        return sinew_tree_fail(tree, node, "must be a whole number, not %s",
                               json_is_real(node->value) ? "a fraction" : sinew_node_type(node));
    return check_range(tree, node, field, (double)json_integer_value(node->value));
}

/* ---- Checks of lists and selections -------------------------------------------------------------- */

static bool check_vector(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    int32_t count = sinew_node_count(node);
    if (count != 3)
        return sinew_tree_fail(tree, node, "must be a list of 3 numbers, not of %d", count);
    for (const sinew_node *entry = node->child; entry; entry = entry->next) {
        if (!json_is_number(entry->value) && !json_is_string(entry->value))
            return sinew_tree_fail(tree, entry, "must be a number, not %s", sinew_node_type(entry));
        if (!check_number(tree, entry, field))
            return false;
    }
    return true;
}

static bool check_length(const sinew_tree *tree, const sinew_node *node, int32_t count, const char *what)
{
    int32_t found = json_is_array(node->value) ? sinew_node_count(node) : -1;
    if (found < 0)
        return sinew_tree_fail(tree, node, "must be a list of %d %s, not %s", count, what, sinew_node_type(node));
    if (count && found != count)
        return sinew_tree_fail(tree, node, "must be a list of %d %s, not of %d", count, what, found);
    return true;
}

static bool check_integers(const sinew_tree *tree, const sinew_node *node, const sinew_field *field, int32_t count)
{
    if (!check_length(tree, node, count, "whole numbers"))
        return false;
    for (const sinew_node *entry = node->child; entry; entry = entry->next)
        if (!check_integer(tree, entry, field))
            return false;
    return true;
}

static bool check_texts(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (!check_length(tree, node, field->count, "texts"))
        return false;
    for (const sinew_node *entry = node->child; entry; entry = entry->next)
        if (!json_is_string(entry->value))
            return sinew_tree_fail(tree, entry, "must be a text, not %s", sinew_node_type(entry));
    return true;
}

static bool check_box(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (!check_length(tree, node, 2, "corners [x, y, z]"))
        return false;
    for (const sinew_node *entry = node->child; entry; entry = entry->next) {
        if (!json_is_array(entry->value))
            return sinew_tree_fail(tree, entry, "must be a corner [x, y, z], not %s", sinew_node_type(entry));
        if (!check_vector(tree, entry, field))
            return false;
    }
    return true;
}

static bool validate_check_count(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    int32_t count = sinew_node_count(node);
    return count >= field->count || sinew_tree_fail(tree, node, "is empty; it needs at least %d", field->count);
}

static bool check_pairs(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (!validate_check_count(tree, node, field))
        return false;
    for (const sinew_node *entry = node->child; entry; entry = entry->next)
        if (!check_integers(tree, entry, field, 2))
            return false;
    return true;
}

static bool check_rows(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (!validate_check_count(tree, node, field))
        return false;
    const int32_t first = json_is_array(node->child->value) ? sinew_node_count(node->child) : -1;
    for (const sinew_node *row = node->child; row; row = row->next) {
        const int32_t count = json_is_array(row->value) ? sinew_node_count(row) : -1;
        if (count < 0)
            return sinew_tree_fail(tree, row, "must be a row of numbers, not %s", sinew_node_type(row));
        if (count < field->count || count != first)
            return sinew_tree_fail(tree, row, "has %d numbers, the first row %d; all need the same, at least %d", count,
                                   first, field->count);
        for (const sinew_node *entry = row->child; entry; entry = entry->next) {
            if (!json_is_number(entry->value) && !json_is_string(entry->value))
                return sinew_tree_fail(tree, entry, "must be a number, not %s", sinew_node_type(entry));
            if (!check_number(tree, entry, field))
                return false;
        }
    }
    return true;
}

static bool check_list(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (!validate_check_count(tree, node, field))
        return false;
    for (const sinew_node *entry = node->child; entry; entry = entry->next)
        if (!sinew_shape_check(tree, entry, field->shape))
            return false;
    return true;
}

/* Limits the nesting of selections, because each level needs memory for a mask. */
enum {
    SELECTION_DEPTH = 16
};

static bool check_selection(const sinew_tree *tree, const sinew_node *node)
{
    int32_t depth = 0;
    for (const sinew_node *up = node; up; up = up->parent)
        depth++;
    if (depth > 2 * SELECTION_DEPTH)
        return sinew_tree_fail(tree, node, "selections are nested too deeply; at most %d levels", SELECTION_DEPTH);
    if (json_is_object(node->value))
        return sinew_shape_check(tree, node, &sinew_selection_shape);
    if (json_is_array(node->value)) {
        if (!node->child)
            return sinew_tree_fail(tree, node, "is an empty list of selections");
        for (const sinew_node *entry = node->child; entry; entry = entry->next)
            if (!check_selection(tree, entry))
                return false;
        return true;
    }
    const char *word = json_string_value(node->value);
    if (word && strcmp(word, "all") == 0)
        return true;
    return sinew_tree_fail(tree, node,
                           "must be \"all\", an object such as {\"box\": [[0, 0, 0], [1, 1, 1]]}, or a list "
                           "of selections");
}

/* ---- Values by their form, and objects with their keys ------------------------------------------- */

static bool validate_fail_type(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    static const char *const names[] = {"a number",
                                        "a whole number",
                                        "true or false",
                                        "a text",
                                        "a word",
                                        "[x, y, z]",
                                        "a list of integers",
                                        "a list of texts",
                                        "an object",
                                        "a list",
                                        "two corners [[x, y, z], [x, y, z]]",
                                        "a list of pairs [i, j]",
                                        "a selection",
                                        "a list of selections",
                                        "rows of numbers [[a, b, ...], ...]"};
    char expected[256] = "";
    size_t used = 0;
    for (int form = 0; form < (int)(sizeof names / sizeof names[0]); form++)
        if (field->forms & (1u << form))
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s%s", used ? " or " : "", names[form]);
    return sinew_tree_fail(tree, node, "must be %s, not %s", expected, sinew_node_type(node));
}

static bool check_string(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    const char *text = json_string_value(node->value);
    /* If a field allows words and numbers, a text that starts with a number is a number with its unit. */
    if (field->forms & SINEW_FORM_KEYWORD && !(field->forms & SINEW_FORM_NUMBER && node->unit)) {
        char list[256];
        /* A chooser key has no choices in the table: the check of its shape validates its word. */
        if (!field->choices || sinew_keyword_index(text, field->choices) >= 0)
            return true;
        write_choices(field->choices, list, sizeof list);
        return sinew_tree_fail(tree, node, "is \"%.60s\", must be one of %s", text, list);
    }
    if (field->forms & SINEW_FORM_TEXT)
        return *text ? true : sinew_tree_fail(tree, node, "is an empty text");
    if (field->forms & SINEW_FORM_NUMBER)
        return check_number(tree, node, field);
    return validate_fail_type(tree, node, field);
}

static bool check_array(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (field->forms & SINEW_FORM_VECTOR)
        return check_vector(tree, node, field);
    if (field->forms & SINEW_FORM_INTEGERS)
        return check_integers(tree, node, field, field->count);
    if (field->forms & SINEW_FORM_TEXTS)
        return check_texts(tree, node, field);
    if (field->forms & SINEW_FORM_LIST)
        return check_list(tree, node, field);
    if (field->forms & SINEW_FORM_BOX)
        return check_box(tree, node, field);
    if (field->forms & SINEW_FORM_PAIRS)
        return check_pairs(tree, node, field);
    if (field->forms & SINEW_FORM_SELECTIONS)
        return check_selection(tree, node);
    if (field->forms & SINEW_FORM_MATRIX)
        return check_rows(tree, node, field);
    return validate_fail_type(tree, node, field);
}

static bool check_value(const sinew_tree *tree, const sinew_node *node, const sinew_field *field)
{
    if (field->forms & SINEW_FORM_SELECTION)
        return check_selection(tree, node);
    switch (json_typeof(node->value)) {
    case JSON_STRING:
        return check_string(tree, node, field);
    case JSON_ARRAY:
        return check_array(tree, node, field);
    case JSON_OBJECT:
        if (field->forms & SINEW_FORM_OBJECT)
            return sinew_shape_check(tree, node, field->shape);
        break;
    case JSON_INTEGER:
    case JSON_REAL:
        if (field->forms & SINEW_FORM_INTEGER)
            return check_integer(tree, node, field);
        if (field->forms & SINEW_FORM_NUMBER)
            return check_number(tree, node, field);
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        if (field->forms & SINEW_FORM_BOOLEAN)
            return true;
        break;
    default:
        break;
    }
    return validate_fail_type(tree, node, field);
}

static int32_t variant_names(const sinew_shape *shape, const char **names, int32_t capacity)
{
    int32_t count = 0;
    while (count < capacity && (names[count] = shape->variant_name(count)))
        count++;
    return count;
}

/* Finds the word that selects the variant of an object; false with an error if it is invalid. */
static bool find_chosen_word(const sinew_tree *tree, const sinew_node *node, const sinew_shape *shape,
                             const char **word)
{
    *word = NULL;
    const sinew_node *chooser = shape->chooser ? sinew_node_get(node, shape->chooser) : NULL;
    if (!chooser)
        return true;
    *word = json_string_value(chooser->value);
    if (!*word)
        return sinew_tree_fail(tree, chooser, "must be a word, not %s", sinew_node_type(chooser));
    sinew_field unused[SINEW_FIELD_MAX];
    if (shape->variant_fields(*word, unused) >= 0)
        return true;
    const char *names[64];
    int32_t count = variant_names(shape, names, 64);
    char what[64];
    snprintf(what, sizeof what, "unknown %s", strcmp(shape->chooser, "name") == 0 ? shape->name : shape->chooser);
    return fail_unknown_name(tree, chooser, what, *word, "", names, count);
}

static bool fail_unknown_key(const sinew_tree *tree, const sinew_node *node, const sinew_field *fields, int32_t count)
{
    const char *names[SINEW_FIELD_MAX];
    for (int32_t i = 0; i < count; i++)
        names[i] = fields[i].name;
    char path[256], where[300];
    sinew_node_path(node->parent, path, sizeof path);
    snprintf(where, sizeof where, " in %s", *path ? path : "the scene");
    return fail_unknown_name(tree, node, "unknown key", node->key, where, names, count);
}

/* Counts the keys of the list a|b|c that the object has. */
static int32_t count_keys(const sinew_node *node, const char *keys)
{
    int32_t count = 0;
    for (const sinew_node *member = node->child; member; member = member->next)
        count += sinew_keyword_index(member->key, keys) >= 0;
    return count;
}

static bool check_exclusive_keys(const sinew_tree *tree, const sinew_node *node, const sinew_shape *shape)
{
    char list[256];
    if (shape->exactly_one && count_keys(node, shape->exactly_one) != 1) {
        write_choices(shape->exactly_one, list, sizeof list);
        return sinew_tree_fail(tree, node, "needs exactly one of %s", list);
    }
    if (shape->at_most_one && count_keys(node, shape->at_most_one) > 1) {
        write_choices(shape->at_most_one, list, sizeof list);
        return sinew_tree_fail(tree, node, "takes only one of %s", list);
    }
    return true;
}

bool sinew_shape_check(const sinew_tree *tree, const sinew_node *node, const sinew_shape *shape)
{
    if (!json_is_object(node->value))
        return sinew_tree_fail(tree, node, "must be an object, not %s", sinew_node_type(node));
    const char *word;
    sinew_field fields[SINEW_FIELD_MAX];
    if (!find_chosen_word(tree, node, shape, &word))
        return false;
    int32_t count = sinew_shape_fields(shape, word, fields);
    for (const sinew_node *member = node->child; member; member = member->next) {
        int32_t i = 0;
        while (i < count && strcmp(fields[i].name, member->key) != 0)
            i++;
        if (i == count)
            return fail_unknown_key(tree, member, fields, count);
        if (!check_value(tree, member, &fields[i]))
            return false;
    }
    for (int32_t i = 0; i < count; i++)
        if (fields[i].required && !sinew_node_get(node, fields[i].name))
            return sinew_tree_fail(tree, node, "needs the key \"%s\": %s", fields[i].name, fields[i].meaning);
    return check_exclusive_keys(tree, node, shape);
}

/* ---- Values of checked nodes --------------------------------------------------------------------- */

double sinew_node_number(const sinew_node *node)
{
    const sinew_unit *unit = node->unit ? sinew_unit_by_name(node->unit) : NULL;
    return unit ? node->number * unit->factor : node->number;
}

int32_t sinew_node_integer(const sinew_node *node)
{
    return (int32_t)json_integer_value(node->value);
}

const char *sinew_node_text(const sinew_node *node)
{
    return node ? json_string_value(node->value) : NULL;
}

void sinew_node_vector(const sinew_node *node, sinew_real vector[3])
{
    const sinew_node *entry = node->child;
    for (int axis = 0; axis < 3; axis++, entry = entry->next)
        vector[axis] = (sinew_real)sinew_node_number(entry);
}

void sinew_take_integer(const sinew_node *object, const char *key, int32_t *value)
{
    const sinew_node *member = sinew_node_get(object, key);
    if (member)
        *value = sinew_node_integer(member);
}

void sinew_take_number(const sinew_node *object, const char *key, sinew_real *value)
{
    const sinew_node *member = sinew_node_get(object, key);
    if (member)
        *value = (sinew_real)sinew_node_number(member);
}

void sinew_take_vector(const sinew_node *object, const char *key, sinew_real vector[3])
{
    const sinew_node *member = sinew_node_get(object, key);
    if (member)
        sinew_node_vector(member, vector);
}

void sinew_take_boolean(const sinew_node *object, const char *key, bool *value)
{
    const sinew_node *member = sinew_node_get(object, key);
    if (member)
        *value = json_is_true(member->value);
}

void sinew_take_bits(const sinew_node *object, const char *key, uint32_t *bits)
{
    const sinew_node *member = sinew_node_get(object, key);
    if (member)
        *bits = (uint32_t)json_integer_value(member->value);
}
