/* SPDX-License-Identifier: MIT
 *
 * mesh_entry.h: passes one block of bytes to one mesh reader, from memory; shared by the fuzzers and the replay of
 * their corpus.
 *
 * A format of several files (.node .ele .face .edge; .gltf and its buffer) is one block, with its files separated by
 * lines "%%%%": the first part is the main file, the others follow in the order of the endings below.
 */
#ifndef SINEW_MESH_ENTRY_H
#define SINEW_MESH_ENTRY_H

#include <stdlib.h>
#include <string.h>

#include "io/mesh/file_formats.h"

enum {
    MESH_ENTRY_PARTS = 4
};

typedef struct mesh_entry_parts {
    const char *bytes[MESH_ENTRY_PARTS];
    size_t sizes[MESH_ENTRY_PARTS];
    int count;
} mesh_entry_parts;

static inline void mesh_entry_split(const char *bytes, size_t size, mesh_entry_parts *parts)
{
    static const char mark[] = "\n%%%%\n";
    const char *end = bytes + size;
    parts->count = 0;
    while (parts->count < MESH_ENTRY_PARTS) {
        const char *cut = memmem(bytes, (size_t)(end - bytes), mark, sizeof mark - 1);
        const char *stop = cut ? cut : end;
        parts->bytes[parts->count] = bytes;
        parts->sizes[parts->count++] = (size_t)(stop - bytes);
        if (!cut)
            return;
        bytes = cut + sizeof mark - 1;
    }
}

/* The part for a path, by its ending; a buffer of any other name is the second part. */
static inline char *mesh_entry_open(void *context, const char *path, bool named, const sinew_allocator *allocator,
                                    size_t *size, sinew_error *error)
{
    (void)named;
    static const char *const endings[MESH_ENTRY_PARTS] = {".node", ".ele", ".face", ".edge"};
    const mesh_entry_parts *parts = context;
    const char *dot = strrchr(path, '.');
    int which = 1;
    for (int i = 0; dot && i < MESH_ENTRY_PARTS; i++)
        which = strcmp(dot, endings[i]) == 0 ? i : which;
    if (which >= parts->count) {
        sinew_fail(error, SINEW_ERROR_FILE, "%s: not there", path);
        return NULL;
    }
    char *copy = sinew_allocate(allocator, parts->sizes[which] + 1, 1);
    if (!copy) {
        sinew_fail_memory(error, path);
        return NULL;
    }
    memcpy(copy, parts->bytes[which], parts->sizes[which]);
    copy[parts->sizes[which]] = '\0';
    *size = parts->sizes[which];
    return copy;
}

/* Reads a mesh; returns NULL with the error on failure. The bytes need no terminating 0. */
static inline sinew_mesh *mesh_entry(const char *name, const void *bytes, size_t size, const sinew_allocator *allocator,
                                     sinew_error *error)
{
    mesh_entry_parts parts;
    mesh_entry_split(bytes, size, &parts);
    /* A block of exact size lets a sanitizer detect the first byte read past the 0. */
    char *copy = malloc(parts.sizes[0] + 1);
    if (!copy)
        abort();
    if (parts.sizes[0])
        memcpy(copy, parts.bytes[0], parts.sizes[0]);
    copy[parts.sizes[0]] = '\0';
    sinew_source source = {name, copy, parts.sizes[0], mesh_entry_open, &parts};
    sinew_mesh *mesh = sinew_mesh_parse(&source, allocator, error);
    free(copy);
    return mesh;
}

/* For fuzzers: aborts unless reading gives either a mesh or an error with a text. */
static inline int mesh_entry_fuzz(const char *name, const void *bytes, size_t size)
{
    sinew_error error = {SINEW_OK, ""};
    sinew_mesh *mesh = mesh_entry(name, bytes, size, NULL, &error);
    if ((mesh != NULL) == (error.text[0] != '\0'))
        abort();
    sinew_mesh_destroy(mesh);
    return 0;
}

#endif
