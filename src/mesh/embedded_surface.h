/* SPDX-License-Identifier: MIT
 *
 * embedded_surface.h: the members of a sinew_skin, for code that creates skins.
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

/* Different names in the order of their first use, looked up by hash. */
typedef struct sinew_name_list {
    int32_t count, capacity;
    size_t used, text_capacity; /* bytes of `text` in use; capacity of `text` in bytes */
    char *text;                 /* [text_capacity] names one after another, each with its final 0 */
    int32_t *starts;            /* [capacity] offset of each name in the text */
    int32_t *table;             /* [table_size] hash table: index of the name + 1; 0: free entry */
    int32_t table_size;         /* a power of two, at least twice the count */
} sinew_name_list;

/* The index of a name; a new name is added. -1: out of memory or too many names. */
int32_t sinew_names_add(const sinew_allocator *allocator, sinew_name_list *list, const char *name, size_t length);
const char *sinew_names_get(const sinew_name_list *list, int32_t index);
bool sinew_names_copy(const sinew_allocator *allocator, const sinew_name_list *from, sinew_name_list *to);
void sinew_names_release(const sinew_allocator *allocator, sinew_name_list *list);

struct sinew_skin {
    sinew_allocator allocator;
    sinew_mesh *mesh; /* all vertices, and the faces cut into triangles */
    int32_t face_count, uv_count;
    int32_t *starts;           /* [face_count + 1] first corner of each face */
    int32_t *corners;          /* [starts[face_count]] vertex of each corner */
    int32_t *corner_uvs;       /* [starts[face_count]] entry of `uvs` of each corner, or NULL */
    float *uvs;                /* [2 * uv_count] texture coordinates, or NULL */
    int32_t *triangle_faces;   /* [triangle_count] face of each triangle */
    int32_t *triangle_corners; /* [3 * triangle_count] index in `corners` of each triangle corner */
    sinew_name_list names[SINEW_SKIN_SET_COUNT];
    int32_t *face_names[SINEW_SKIN_SET_COUNT]; /* [face_count] index of the name of each face, or NULL */
    sinew_name_list attributes;
    float *values; /* [attributes.count][vertex_count] values of the vertex attributes */
    char *library; /* name of the file with the materials, or NULL */
};

/* Clamps the weights of a point outside its cell: no weight is negative, and the sum is 1. */
void sinew_weights_clamp(sinew_real weights[4]);

/* Returns a copy in memory of `allocator`; NULL, with the error set, without memory. */
sinew_skin *sinew_skin_copy(const sinew_skin *skin, const sinew_allocator *allocator, sinew_error *error);

#endif
