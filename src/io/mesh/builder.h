/* SPDX-License-Identifier: MIT
 *
 * builder.h: the points, cells and counts of omitted cells that a reader of a mesh file collects.
 *
 * Arrays grow on demand. Functions that add cells do not check indices: each reader checks them, because its error can
 * name the location. Functions that can fail set the error and return false (out of memory, or more than 2^31 - 1
 * items).
 */
#ifndef SINEW_SRC_IO_MESH_BUILDER_H
#define SINEW_SRC_IO_MESH_BUILDER_H

#include "sinew/mesh.h"
#include "base/base.h"

/* Name of the cell array that holds filled fractions of tets, in files with cell arrays. */
#define SINEW_FRACTION_NAME "filled_fraction"

enum {
    SINEW_BUILDER_EDGE = 0,
    SINEW_BUILDER_TRIANGLE,
    SINEW_BUILDER_TET,
    SINEW_BUILDER_KINDS,
    /* largest number of kinds of omitted cells in the warnings; further kinds share the last warning */
    SINEW_BUILDER_IGNORED_MAX = 32
};

typedef struct sinew_builder_cells {
    int32_t *indices; /* [(kind + 2) * capacity] vertices of the cells, kind + 2 per cell */
    int64_t count;
    int64_t capacity;
} sinew_builder_cells;

typedef struct sinew_builder_ignored {
    char name[48];
    int64_t count;
} sinew_builder_ignored;

typedef struct sinew_embedded_builder sinew_embedded_builder; /* builder of a skin, defined in embedded_builder.h */

typedef struct sinew_builder {
    sinew_allocator allocator;
    sinew_error *error;    /* receives the error of a failure; may be NULL */
    sinew_real *positions; /* [3 * vertex_capacity] coordinates of the vertices, in the file's unit */
    int64_t vertex_count;
    int64_t vertex_capacity;
    sinew_builder_cells cells[SINEW_BUILDER_KINDS];
    sinew_real *fractions;     /* [fraction_capacity] filled fractions of the tets; NULL: the file has none */
    int64_t fraction_capacity; /* capacity of `fractions`; tets beyond it have fraction 1 */
    sinew_builder_ignored ignored[SINEW_BUILDER_IGNORED_MAX];
    int32_t ignored_count;
    int64_t cut_count;       /* number of polygons of the file that were cut into triangles */
    int64_t merged_count;    /* number of vertices that were merged because the file format repeats them */
    int64_t shortened_count; /* number of second-order cells that were read as their corners */
    /* builder of a skin, which also collects faces, names and values; NULL: only a mesh is requested */
    sinew_embedded_builder *skin;
} sinew_builder;

void sinew_builder_open(sinew_builder *builder, const sinew_allocator *allocator, sinew_error *error);
void sinew_builder_close(sinew_builder *builder);

/* Reserves capacity for `count` more vertices, or cells of one kind, in one allocation. */
bool sinew_builder_reserve_vertices(sinew_builder *builder, int64_t count);
bool sinew_builder_reserve_cells(sinew_builder *builder, int kind, int64_t count);
/* Reserves capacity for `count` corners of one cell in the array *corners, which the caller releases; its content is
 * lost if it grows. */
bool sinew_builder_reserve_corners(const sinew_builder *builder, int32_t **corners, int64_t *capacity, int64_t count);
bool sinew_builder_add_vertex(sinew_builder *builder, const sinew_real point[3]);
bool sinew_builder_add_cell(sinew_builder *builder, int kind, const int32_t *indices);
/* Sets the filled fraction of an added tet: finite, above 0 and at most 1. The caller has checked the value. */
bool sinew_builder_set_fraction(sinew_builder *builder, int64_t tet, double fraction);
/* Adds a polygon: fewer than two corners are counted as omitted points; two become an edge, three a triangle; larger
 * polygons are triangulated (builder.c). */
bool sinew_builder_add_polygon(sinew_builder *builder, const int32_t *corners, int64_t count);
/* Adds count - 1 edges along a polyline, and the closing edge if `closed`. */
bool sinew_builder_add_line(sinew_builder *builder, const int32_t *corners, int64_t count, bool closed);
/* Adds the count - 2 triangles of a triangle strip; every second triangle is reversed, so that all have the same
 * orientation. */
bool sinew_builder_add_strip(sinew_builder *builder, const int32_t *corners, int64_t count);
/* Counts omitted cells for the warnings under a plural name, for example "hexahedra". */
void sinew_builder_ignore(sinew_builder *builder, const char *name, int64_t count);

/* Returns the finished mesh with its warnings, which takes ownership of the builder's arrays. NULL on failure, for
 * example without vertices. */
sinew_mesh *sinew_builder_finish(sinew_builder *builder, const char *name);

#endif
