/* SPDX-License-Identifier: MIT
 *
 * json_tree.h: the JSON of a scene as a tree of nodes with line, key path and, for values of settings, the setting.
 * jansson parses the text; separate nodes are necessary because jansson stores no positions.
 */
#ifndef SINEW_SRC_IO_SCENE_JSON_TREE_H
#define SINEW_SRC_IO_SCENE_JSON_TREE_H

#include <jansson.h>
#include <locale.h>

#include "base/base.h"

typedef struct sinew_node {
    const json_t *value; /* type and, for scalars, content of the JSON value; members are `child` and `next` */
    double number;       /* value of a JSON number, or of the leading number of a text ("3 cm") */
    const char *unit;    /* rest of a text after its number; NULL: the text does not start with a number */
    const char *key;     /* key of an object's member; NULL in an array and at the root */
    /* text "key.path=value" of the setting that created the node; NULL: the node comes from the file */
    const char *setting;
    int32_t index;             /* index in the parent list; 0 for a member of an object */
    int32_t line;              /* line of the value in the scene file, from 1 */
    struct sinew_node *parent; /* node of the object or list that contains the value; NULL at the root */
    struct sinew_node *child;  /* node of an object's first member, or of a list's first entry */
    struct sinew_node *next;   /* node of the next member or entry of the parent */
} sinew_node;

typedef struct sinew_tree_block sinew_tree_block;

typedef struct sinew_tree {
    sinew_allocator allocator;
    const char *path; /* path of the scene file, for error messages */
    sinew_node *root;
    sinew_tree_block *blocks; /* list of the memory blocks that hold the nodes */
    sinew_error *error;       /* receives the error of a failure; never NULL */
    locale_t locale;          /* the C locale, in which numbers have decimal points */
} sinew_tree;

/* Parses the JSON text of a scene, `text` [size]. The path and the error must outlive the tree. Returns false on
 * failure; the tree is then already freed. */
bool sinew_tree_parse(sinew_tree *tree, const char *text, size_t size);
void sinew_tree_free(sinew_tree *tree);

/* Applies a setting "key.path=value" to the tree and creates missing members. The text must outlive the tree. A change
 * of solver.name drops the options that the file gives for its solver, except tolerance, accuracy, time_budget, measure
 * and gap_every. */
bool sinew_tree_set(sinew_tree *tree, const char *setting);

/* Returns the member of an object; NULL if it does not exist or `object` is NULL. */
const sinew_node *sinew_node_get(const sinew_node *object, const char *key);
int32_t sinew_node_count(const sinew_node *node); /* number of members of an object or entries of a list */
/* Type of a JSON value for error messages: "a text", "a number", ... */
const char *sinew_node_type(const sinew_node *node);
/* Writes the key path of a node: "bodies[0].energies[0].young"; "" for the root. */
void sinew_node_path(const sinew_node *node, char *text, size_t size);

/* Sets the error to "<file>:<line>: <key path>: <text>", or "--set <setting>: ..." and returns false. */
bool sinew_tree_fail(const sinew_tree *tree, const sinew_node *node, const char *format, ...) SINEW_PRINTF(3, 4);
/* Prepends the location of a node to an error that another module set, and keeps its status. Returns false. */
bool sinew_tree_blame(const sinew_tree *tree, const sinew_node *node);

#endif
