/* SPDX-License-Identifier: MIT
 *
 * embedded_surface.h: the members of a sinew_skin, an embedded surface, for code that creates skins.
 *
 * The creating code fills a zeroed struct whose allocator is set; afterwards the skin is constant. Arrays without data
 * in the file are NULL.
 */
#ifndef SINEW_SRC_MESH_EMBEDDED_SURFACE_H
#define SINEW_SRC_MESH_EMBEDDED_SURFACE_H

#include "base/base.h"
#include "sinew/skin.h"

enum {
    SINEW_NAMES_MAX = 1 << 16 /* largest number of different names of one kind; a file with more is refused */
};

/* A list of different names in the order of their first use, looked up by hash. */
typedef struct sinew_name_list {
    int32_t count, capacity;
    size_t used, text_capacity; /* number of bytes of `text` in use; capacity of `text` in bytes */
    char *text;                 /* [text_capacity] all names one after another, each with its final 0 */
    int32_t *starts;            /* [capacity] offset in `text` of each name */
    int32_t *table;             /* [table_size] hash table: index of the name + 1; 0: free entry */
    /* number of entries of the hash table: a power of two, at least twice the number of names */
    int32_t table_size;
} sinew_name_list;

/* Returns the index of a name in the list; a new name is added. -1: memory runs out or there are too many names. */
int32_t sinew_names_add(const sinew_allocator *allocator, sinew_name_list *list, const char *name, size_t length);
const char *sinew_names_get(const sinew_name_list *list, int32_t index);
bool sinew_names_copy(const sinew_allocator *allocator, const sinew_name_list *from, sinew_name_list *to);
void sinew_names_release(const sinew_allocator *allocator, sinew_name_list *list);

struct sinew_skin {
    sinew_allocator allocator;
    sinew_mesh *mesh; /* all vertices of the skin, and its faces cut into triangles */
    int32_t face_count, uv_count;
    int32_t *starts;           /* [face_count + 1] index in `corners` of the first corner of each face */
    int32_t *corners;          /* [starts[face_count]] index of the vertex at each corner */
    int32_t *corner_uvs;       /* [starts[face_count]] index in `uvs` of each corner's texture coordinates, or NULL */
    float *uvs;                /* [2 * uv_count] texture coordinates u, v, or NULL */
    int32_t *triangle_faces;   /* [triangle_count] index of the face that each triangle is part of */
    int32_t *triangle_corners; /* [3 * triangle_count] index in `corners` of each triangle corner */
    sinew_name_list names[SINEW_SKIN_SET_COUNT];
    /* [face_count] index of each face's name in each set of names, or NULL */
    int32_t *face_names[SINEW_SKIN_SET_COUNT];
    sinew_name_list attributes;
    float *values; /* [attributes.count][vertex_count] values of the skin's vertex attributes */
    char *library; /* name of the file that defines the materials, or NULL */
};

/* Clamps the barycentric weights of a point outside its cell: no weight is negative, and the sum is 1. */
void sinew_weights_clamp(sinew_real weights[4]);

/* Returns a copy of the skin in memory of `allocator`; NULL, with the error set, if memory runs out. */
sinew_skin *sinew_skin_copy(const sinew_skin *skin, const sinew_allocator *allocator, sinew_error *error);

#endif
