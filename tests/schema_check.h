/* SPDX-License-Identifier: MIT
 *
 * schema_check.h: checks whether a JSON value satisfies a JSON Schema. Implements the keywords that
 * docs/reference/scene.schema.json uses, from the specification (2020-12); shares no code with the scene reader.
 */
#ifndef SINEW_SCHEMA_CHECK_H
#define SINEW_SCHEMA_CHECK_H

#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool schema_holds(json_t *root, json_t *schema, json_t *value);

static bool schema_type_is(const char *type, json_t *value)
{
    if (strcmp(type, "object") == 0)
        return json_is_object(value);
    if (strcmp(type, "array") == 0)
        return json_is_array(value);
    if (strcmp(type, "string") == 0)
        return json_is_string(value);
    if (strcmp(type, "integer") == 0)
        return json_is_integer(value);
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    return strcmp(type, "boolean") == 0 && json_is_boolean(value);
}

static bool schema_number_holds(const char *key, json_t *bound, json_t *value)
{
    double x = json_number_value(value), limit = json_number_value(bound);
    if (!json_is_number(value))
        return true;
    if (strcmp(key, "minimum") == 0)
        return x >= limit;
    if (strcmp(key, "maximum") == 0)
        return x <= limit;
    return strcmp(key, "exclusiveMinimum") == 0 ? x > limit : x < limit;
}

static int schema_count(json_t *root, json_t *list, json_t *value)
{
    int count = 0;
    size_t i;
    json_t *entry;
    json_array_foreach(list, i, entry) count += schema_holds(root, entry, value);
    return count;
}

static bool schema_members_hold(json_t *root, json_t *schema, json_t *value)
{
    json_t *properties = json_object_get(schema, "properties"), *member, *name;
    bool closed = json_is_false(json_object_get(schema, "additionalProperties"));
    const char *key;
    size_t i;
    json_object_foreach(value, key, member)
    {
        json_t *property = json_object_get(properties, key);
        if (property ? !schema_holds(root, property, member) : closed)
            return false;
    }
    json_array_foreach(json_object_get(schema, "required"), i,
                       name) if (json_is_object(value) &&
                                 !json_object_get(value, json_string_value(name))) return false;
    return true;
}

static bool schema_pattern_holds(const char *pattern, json_t *value)
{
    regex_t regex;
    if (!json_is_string(value))
        return true;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool found = regexec(&regex, json_string_value(value), 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

static bool schema_items_hold(json_t *root, json_t *items, json_t *value)
{
    size_t i;
    json_t *entry;
    json_array_foreach(value, i, entry) if (!schema_holds(root, items, entry)) return false;
    return true;
}

static bool schema_keyword_holds(json_t *root, const char *key, json_t *rule, json_t *value)
{
    if (strcmp(key, "$ref") == 0)
        return schema_holds(
            root, json_object_get(json_object_get(root, "$defs"), json_string_value(rule) + strlen("#/$defs/")), value);
    if (strcmp(key, "type") == 0)
        return schema_type_is(json_string_value(rule), value);
    if (strcmp(key, "anyOf") == 0)
        return schema_count(root, rule, value) >= 1;
    if (strcmp(key, "oneOf") == 0)
        return schema_count(root, rule, value) == 1;
    if (strcmp(key, "allOf") == 0)
        return schema_count(root, rule, value) == (int)json_array_size(rule);
    if (strcmp(key, "not") == 0)
        return !schema_holds(root, rule, value);
    if (strcmp(key, "const") == 0)
        return json_equal(rule, value);
    if (strcmp(key, "pattern") == 0)
        return schema_pattern_holds(json_string_value(rule), value);
    if (strcmp(key, "items") == 0)
        return schema_items_hold(root, rule, value);
    if (strcmp(key, "minItems") == 0)
        return !json_is_array(value) || json_array_size(value) >= (size_t)json_integer_value(rule);
    if (strcmp(key, "maxItems") == 0)
        return !json_is_array(value) || json_array_size(value) <= (size_t)json_integer_value(rule);
    if (strcmp(key, "minLength") == 0)
        return !json_is_string(value) || json_string_length(value) >= (size_t)json_integer_value(rule);
    if (strstr(key, "inimum") || strstr(key, "aximum"))
        return schema_number_holds(key, rule, value);
    if (strcmp(key, "enum") == 0) {
        size_t i;
        json_t *entry;
        json_array_foreach(rule, i, entry) if (json_equal(entry, value)) return true;
        return false;
    }
    /* Keywords that are handled with their members, or that are no rules. */
    static const char *const others[] = {"properties", "required", "additionalProperties", "description", "$schema",
                                         "$defs",      "title"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(key, others[i]) == 0)
            return true;
    fprintf(stderr, "schema_check.h does not know the keyword %s\n", key);
    return false;
}

static bool schema_holds(json_t *root, json_t *schema, json_t *value)
{
    if (json_is_boolean(schema))
        return json_is_true(schema);
    const char *key;
    json_t *rule;
    json_object_foreach(schema, key, rule) if (!schema_keyword_holds(root, key, rule, value)) return false;
    return json_is_object(schema) && schema_members_hold(root, schema, value);
}

#endif
