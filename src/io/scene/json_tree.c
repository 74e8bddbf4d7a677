/* SPDX-License-Identifier: MIT
 *
 * json_tree.c: parses the JSON of a scene to nodes with line numbers, applies settings, and reports errors with their
 * location.
 *
 * jansson visits members in the order of the text, so the n-th value met by a light scan of the same text is the n-th
 * node of a depth-first walk: this gives the line numbers. The line of a member is the line of its key.
 */
#include "io/scene/json_tree.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "io/input.h"
#include "io/scene/units.h"
#include "io/text.h"
#include "sinew/sinew.h"

#define SETTING_LEVELS 32 /* maximum number of levels of a setting's key path */

struct sinew_tree_block {
    sinew_tree_block *next;
    json_t *json;       /* the parsed JSON value of the block, owned */
    char *text;         /* key path of a setting, cut at its dots, owned; or NULL */
    sinew_node nodes[]; /* nodes of the JSON values in this block; their number varies */
};

/* ---- Line numbers of JSON values ----------------------------------------------------------------- */

static const char *json_tree_skip_string(const char *text, const char *end)
{
    for (text++; text < end && *text != '"'; text++)
        if (*text == '\\')
            text++;
    return text < end ? text + 1 : end;
}

static bool is_key(const char *text, const char *end)
{
    while (text < end && isspace((unsigned char)*text))
        text++;
    return text < end && *text == ':';
}

/* Counts the values of valid JSON text; if `lines` is not NULL, stores the line of each value in order. */
static size_t scan_values(const char *text, size_t size, int32_t *lines)
{
    const char *end = text + size;
    size_t count = 0;
    int32_t line = 1, key_line = 0;
    while (text < end) {
        char c = *text;
        if (c == '\n')
            line++;
        if (isspace((unsigned char)c) || strchr(",:]}", c)) {
            text++;
            continue;
        }
        const char *start = text;
        if (c == '"')
            text = json_tree_skip_string(text, end);
        else if (c == '{' || c == '[')
            text++;
        else
            while (text < end && !isspace((unsigned char)*text) && !strchr(",]}", *text))
                text++;
        if (*start == '"' && is_key(text, end)) {
            key_line = line;
            continue;
        }
        if (lines)
            lines[count] = key_line ? key_line : line;
        key_line = 0;
        count++;
    }
    return count;
}

/* ---- Nodes of the JSON tree ---------------------------------------------------------------------- */

typedef struct node_maker {
    locale_t locale;
    sinew_node *nodes;
    size_t count, used;
    const int32_t *lines; /* [count] line of each JSON value in the file; NULL for a setting */
    const char *setting;
} node_maker;

static size_t count_values(const json_t *value)
{
    size_t count = 1, i;
    const char *key;
    json_t *member;
    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, member) count += count_values(member);
    } else {
        json_array_foreach((json_t *)value, i, member) count += count_values(member);
    }
    return count;
}

static sinew_node *make_node(node_maker *maker, const json_t *value, sinew_node *parent)
{
    sinew_node *node = &maker->nodes[maker->used];
    *node = (sinew_node){.value = value, .parent = parent, .setting = maker->setting};
    node->number = json_number_value(value);
    if (json_is_string(value))
        node->unit = sinew_split_number(json_string_value(value), maker->locale, &node->number);
    node->line = maker->lines ? maker->lines[maker->used] : 0;
    maker->used++;
    sinew_node **slot = &node->child;
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_object(value)) {
        json_object_foreach((json_t *)value, key, member)
        {
            *slot = make_node(maker, member, node);
            (*slot)->key = key;
            slot = &(*slot)->next;
        }
    } else {
        json_array_foreach((json_t *)value, i, member)
        {
            *slot = make_node(maker, member, node);
            (*slot)->index = (int32_t)i;
            slot = &(*slot)->next;
        }
    }
    return node;
}

/* Adds a block of `node_count` zeroed nodes to the tree; NULL: memory runs out. Takes ownership of `json`, also on
 * failure. */
static sinew_tree_block *json_tree_add_block(sinew_tree *tree, json_t *json, size_t node_count)
{
    size_t size = sizeof(sinew_tree_block) + node_count * sizeof(sinew_node);
    sinew_tree_block *block = sinew_allocate_zero(&tree->allocator, 1, size);
    if (!block) {
        json_decref(json);
        sinew_fail_memory(tree->error, "the scene");
        return NULL;
    }
    block->json = json;
    block->next = tree->blocks;
    tree->blocks = block;
    return block;
}

static bool build_nodes(sinew_tree *tree, json_t *json, const char *text, size_t size)
{
    size_t count = scan_values(text, size, NULL);
    sinew_tree_block *block = json_tree_add_block(tree, json, count);
    int32_t *lines = block ? sinew_allocate(&tree->allocator, count, sizeof *lines) : NULL;
    if (!lines) {
        sinew_fail_memory(tree->error, "the scene");
        return false;
    }
    scan_values(text, size, lines);
    node_maker maker = {tree->locale, block->nodes, count, 0, lines, NULL};
    bool good = count_values(json) == count;
    if (good)
        tree->root = make_node(&maker, json, NULL);
    else
        sinew_fail(tree->error, SINEW_ERROR_FORMAT, "%s: cannot tell the lines of its values", tree->path);
    sinew_release(&tree->allocator, lines);
    return good;
}

/* Parses JSON text. jansson reports a failed allocation as a syntax error, so a second parse must fail too. *memory
 * becomes true if then no probe can be allocated or the error has no text. */
static json_t *json_tree_load_json(const char *text, size_t size, size_t flags, json_error_t *wrong, bool *memory)
{
    json_t *json = json_loadb(text, size, flags, wrong);
    if (!json)
        json = json_loadb(text, size, flags, wrong);
    json_t *probe = json ? NULL : json_string("probe");
    *memory = !json && (!probe || !*wrong->text);
    json_decref(probe);
    return json;
}

bool sinew_tree_parse(sinew_tree *tree, const char *text, size_t size)
{
    json_error_t wrong;
    bool memory = true;
    const size_t mark = sinew_text_mark(text, size);
    text += mark;
    size -= mark;
    if (sinew_json_cost(text, size, sizeof(sinew_node)) > sinew_json_budget(size)) {
        sinew_fail(tree->error, SINEW_ERROR_FORMAT, "%s: has too many values for its size; put lists in files",
                   tree->path);
        return false;
    }
    tree->locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    json_t *json = tree->locale ? json_tree_load_json(text, size, JSON_REJECT_DUPLICATES, &wrong, &memory) : NULL;
    bool good = json && build_nodes(tree, json, text, size);
    if (!json && memory)
        sinew_fail_memory(tree->error, "the scene");
    else if (!json)
        sinew_fail(tree->error, SINEW_ERROR_FORMAT, "%s:%d:%d: not valid JSON: %s", tree->path,
                   wrong.line > 0 ? wrong.line : 1, wrong.column > 0 ? wrong.column : 1, wrong.text);
    if (!good)
        sinew_tree_free(tree);
    return good;
}

void sinew_tree_free(sinew_tree *tree)
{
    while (tree->blocks) {
        sinew_tree_block *block = tree->blocks;
        tree->blocks = block->next;
        json_decref(block->json);
        sinew_release(&tree->allocator, block->text);
        sinew_release(&tree->allocator, block);
    }
    tree->root = NULL;
    if (tree->locale)
        freelocale(tree->locale);
    tree->locale = (locale_t)0;
}

const sinew_node *sinew_node_get(const sinew_node *object, const char *key)
{
    const sinew_node *node = object ? object->child : NULL;
    while (node && !(node->key && strcmp(node->key, key) == 0))
        node = node->next;
    return node;
}

int32_t sinew_node_count(const sinew_node *node)
{
    int32_t count = 0;
    for (const sinew_node *entry = node->child; entry; entry = entry->next)
        count++;
    return count;
}

const char *sinew_node_type(const sinew_node *node)
{
    switch (json_typeof(node->value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a text";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    default:
        return "null";
    }
}

/* ---- Settings that override JSON values ---------------------------------------------------------- */

static bool fail_setting(const sinew_tree *tree, const char *setting, const char *what)
{
    sinew_fail(tree->error, SINEW_ERROR_FORMAT, "--set %s: %s", setting, what);
    return false;
}

/* Parses the value of a setting "key.path=value": JSON, or a bare word as a text. NULL with an error on failure. */
static json_t *parse_setting_value(const sinew_tree *tree, const char *setting, const char *text)
{
    json_error_t wrong;
    bool memory;
    json_t *value = json_tree_load_json(text, strlen(text), JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &wrong, &memory);
    if (!value && !memory && (text[0] == '{' || text[0] == '[' || text[0] == '"')) {
        fail_setting(tree, setting, wrong.text);
        return NULL;
    }
    if (!value && !memory)
        value = json_string(text); /* the value is a keyword, or a number with its unit */
    if (!value)
        sinew_fail_memory(tree->error, "a setting");
    return value;
}

/* Returns the entry of an array whose index is the decimal number `name`; NULL: none. */
static sinew_node *array_entry(const sinew_node *array, const char *name)
{
    if (!*name || strspn(name, "0123456789") != strlen(name) || strlen(name) > 9)
        return NULL;
    int32_t index = 0;
    for (const char *c = name; *c; c++)
        index = 10 * index + (*c - '0');
    sinew_node *entry = array->child;
    while (entry && entry->index != index)
        entry = entry->next;
    return entry;
}

static bool make_empty_object(sinew_tree *tree, sinew_node *node)
{
    json_t *json = json_object();
    if (!json || !json_tree_add_block(tree, json, 0)) {
        sinew_fail_memory(tree->error, "a setting");
        return false;
    }
    node->value = json;
    return true;
}

/* Returns the child of `parent` for one component of a setting's key path; a missing member is created as an empty
 * object. */
static sinew_node *step_into_member(sinew_tree *tree, sinew_node *parent, const char *name, const char *setting)
{
    char path[256], what[512];
    sinew_node_path(parent, path, sizeof path);
    const char *where = *path ? path : "the scene";
    if (json_is_array(parent->value)) {
        sinew_node *entry = array_entry(parent, name);
        if (!entry) {
            snprintf(what, sizeof what, "%s has %d entries, numbered from 0; \"%s\" is not one of them", where,
                     sinew_node_count(parent), name);
            fail_setting(tree, setting, what);
        }
        return entry;
    }
    /* The value true means an empty object for keys that allow an object. */
    if (json_is_true(parent->value) && !make_empty_object(tree, parent))
        return NULL;
    if (!json_is_object(parent->value)) {
        snprintf(what, sizeof what, "%s is %s and has no part \"%s\"", where, sinew_node_type(parent), name);
        fail_setting(tree, setting, what);
        return NULL;
    }
    sinew_node *member = (sinew_node *)sinew_node_get(parent, name);
    if (member)
        return member;
    json_t *json = json_object();
    sinew_tree_block *block = json_tree_add_block(tree, json, 1);
    if (!block || !json) {
        sinew_fail_memory(tree->error, "a setting");
        return NULL;
    }
    block->nodes[0] = (sinew_node){.value = json, .key = name, .setting = setting, .parent = parent};
    sinew_node **slot = &parent->child;
    while (*slot)
        slot = &(*slot)->next;
    *slot = &block->nodes[0];
    return *slot;
}

/* Removes the options that the file gives for its solver, since another solver has other parameters and needs another
 * iteration count. Options of settings, tolerance, accuracy, time_budget, measure and gap_every stay. */
static void drop_solver_options(sinew_node *solver)
{
    sinew_node **slot = &solver->child;
    while (*slot) {
        const char *key = (*slot)->key;
        bool stays = (*slot)->setting || strcmp(key, "name") == 0 || strcmp(key, "tolerance") == 0 ||
                     strcmp(key, "accuracy") == 0 || strcmp(key, "time_budget") == 0 || strcmp(key, "measure") == 0 ||
                     strcmp(key, "gap_every") == 0;
        if (stays)
            slot = &(*slot)->next;
        else
            *slot = (*slot)->next;
    }
}

static bool names_other_solver(const sinew_tree *tree, const sinew_node *node, const json_t *value)
{
    bool is_name = node->key && strcmp(node->key, "name") == 0 && node->parent && node->parent->key &&
                   strcmp(node->parent->key, "solver") == 0 && node->parent->parent == tree->root;
    const char *now = json_string_value(node->value), *then = json_string_value(value);
    if (!now)
        now = sinew_get_solver_info(sinew_default_world_def().solver.kind)->name;
    return is_name && then && strcmp(now, then) != 0;
}

static bool replace_node(sinew_tree *tree, sinew_node *node, json_t *value, const char *setting)
{
    bool other_solver = names_other_solver(tree, node, value);
    size_t count = count_values(value);
    sinew_tree_block *block = json_tree_add_block(tree, value, count);
    if (!block)
        return false;
    node_maker maker = {tree->locale, block->nodes, count, 0, NULL, setting};
    sinew_node *fresh = make_node(&maker, value, NULL);
    node->value = fresh->value;
    node->number = fresh->number;
    node->unit = fresh->unit;
    node->child = fresh->child;
    node->setting = setting;
    for (sinew_node *child = node->child; child; child = child->next)
        child->parent = node;
    if (other_solver)
        drop_solver_options(node->parent);
    return true;
}

/* Counts the dots of a setting's key path. */
static int32_t count_levels(const char *setting, const char *equals)
{
    int32_t dots = 0;
    for (const char *c = setting; c < equals; c++)
        dots += *c == '.';
    return dots;
}

bool sinew_tree_set(sinew_tree *tree, const char *setting)
{
    const char *equals = strchr(setting, '=');
    if (!equals || equals == setting)
        return fail_setting(tree, setting, "expected KEY=VALUE, e.g. solver.iterations=20");
    if (count_levels(setting, equals) >= SETTING_LEVELS)
        return fail_setting(tree, setting, "goes deeper than any part of a scene");
    json_t *value = parse_setting_value(tree, setting, equals + 1);
    if (!value)
        return false;
    /* The block owns the setting's value until it is inserted into the tree, and owns the keys permanently. */
    size_t length = (size_t)(equals - setting);
    char *keys = sinew_allocate(&tree->allocator, length + 1, 1);
    sinew_tree_block *block = keys ? json_tree_add_block(tree, json_incref(value), 0) : NULL;
    if (!block) {
        sinew_release(&tree->allocator, keys);
        json_decref(value);
        sinew_fail_memory(tree->error, "a setting");
        return false;
    }
    memcpy(keys, setting, length);
    keys[length] = '\0';
    block->text = keys;
    sinew_node *node = tree->root;
    for (char *key = keys; key && node;) {
        char *dot = strchr(key, '.');
        if (dot)
            *dot = '\0';
        node = step_into_member(tree, node, key, setting);
        key = dot ? dot + 1 : NULL;
    }
    if (!node) {
        json_decref(value);
        return false;
    }
    return replace_node(tree, node, value, setting);
}

/* ---- Errors with their location in the scene file ------------------------------------------------ */

void sinew_node_path(const sinew_node *node, char *text, size_t size)
{
    text[0] = '\0';
    if (!node->parent)
        return;
    sinew_node_path(node->parent, text, size);
    size_t used = strlen(text);
    if (node->key)
        snprintf(text + used, size - used, "%s%s", used ? "." : "", node->key);
    else
        snprintf(text + used, size - used, "[%d]", node->index);
}

static void write_location(const sinew_tree *tree, const sinew_node *node, char *text, size_t size)
{
    if (node->setting) {
        snprintf(text, size, "--set %.200s: ", node->setting);
        return;
    }
    char path[256];
    sinew_node_path(node, path, sizeof path);
    snprintf(text, size, "%.400s:%d: %s%s", tree->path, node->line, path, *path ? ": " : "");
}

bool sinew_tree_fail(const sinew_tree *tree, const sinew_node *node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(tree->error->text, sizeof tree->error->text, format, arguments);
    va_end(arguments);
    tree->error->status = SINEW_ERROR_FORMAT;
    return sinew_tree_blame(tree, node);
}

bool sinew_tree_blame(const sinew_tree *tree, const sinew_node *node)
{
    char location[768], text[sizeof tree->error->text];
    write_location(tree, node, location, sizeof location);
    snprintf(text, sizeof text, "%s", tree->error->text);
    sinew_fail(tree->error, tree->error->status, "%s%s", location, text);
    return false;
}
