/* SPDX-License-Identifier: MIT
 *
 * builder.h: what a reader collects before it becomes a mesh: points, cells, and what it left out.
 *
 * Arrays grow on demand. Indices are trusted: each reader checks them where it can still name the place. Functions that
 * can fail return false with the error written (out of memory, or more than 2^31 - 1 of something).
 */
#ifndef SINEW_SRC_IO_MESH_BUILDER_H
#define SINEW_SRC_IO_MESH_BUILDER_H

#include "sinew/mesh.h"
#include "base/base.h"

/* The name of the numbers of cells that say how much of a tet is filled, in files that can carry such. */
#define SINEW_FRACTION_NAME "filled_fraction"

enum {
    SINEW_DRAFT_EDGE = 0,
    SINEW_DRAFT_TRIANGLE,
    SINEW_DRAFT_TET,
    SINEW_DRAFT_KINDS,
    SINEW_DRAFT_IGNORED_MAX = 32 /* kinds told apart in the notes; the rest share the last line */
};

typedef struct sinew_draft_cells {
    int32_t *indices; /* [(kind + 2) * capacity] */
    int64_t count;
    int64_t capacity;
} sinew_draft_cells;

typedef struct sinew_draft_ignored {
    char name[48];
    int64_t count;
} sinew_draft_ignored;

typedef struct sinew_skin_draft sinew_skin_draft; /* embedded_builder.h */

typedef struct sinew_draft {
    sinew_allocator allocator;
    sinew_error *error;    /* may be NULL */
    sinew_real *positions; /* [3 * vertex_capacity] */
    int64_t vertex_count;
    int64_t vertex_capacity;
    sinew_draft_cells cells[SINEW_DRAFT_KINDS];
    sinew_real *fractions;     /* [fraction_capacity] filled parts of the tets; NULL: the file says nothing of them */
    int64_t fraction_capacity; /* tets behind it are filled */
    sinew_draft_ignored ignored[SINEW_DRAFT_IGNORED_MAX];
    int32_t ignored_count;
    int64_t cut_count;       /* polygons cut into triangles */
    int64_t merged_count;    /* vertices merged because the format repeats them */
    int64_t shortened_count; /* second-order cells read as their corners */
    sinew_skin_draft *skin;  /* collects faces, names and values as they are; NULL: a mesh is all that is wanted */
} sinew_draft;

void sinew_draft_open(sinew_draft *draft, const sinew_allocator *allocator, sinew_error *error);
void sinew_draft_close(sinew_draft *draft);

/* Makes room for `count` more in one allocation. */
bool sinew_draft_reserve_vertices(sinew_draft *draft, int64_t count);
bool sinew_draft_reserve_cells(sinew_draft *draft, int kind, int64_t count);
/* Makes room for the corners of one cell; what was in the array is lost. */
bool sinew_draft_reserve_corners(const sinew_draft *draft, int32_t **corners, int64_t *capacity, int64_t count);
bool sinew_draft_add_vertex(sinew_draft *draft, const sinew_real point[3]);
bool sinew_draft_add_cell(sinew_draft *draft, int kind, const int32_t *indices);
/* How much of a tet that is there is filled: a finite number above 0 and at most 1, which the caller has checked. */
bool sinew_draft_set_fraction(sinew_draft *draft, int64_t tet, double fraction);
/* One or two corners make an edge (two) or nothing (one); three a triangle; more are cut by ear clipping. */
bool sinew_draft_add_polygon(sinew_draft *draft, const int32_t *corners, int64_t count);
/* count - 1 edges along the line, and one more that closes it when asked. */
bool sinew_draft_add_line(sinew_draft *draft, const int32_t *corners, int64_t count, bool closed);
/* count - 2 triangles, every second one turned so that all face one way. */
bool sinew_draft_add_strip(sinew_draft *draft, const int32_t *corners, int64_t count);
/* Counts cells that are left out under a name in the plural, e.g. "hexahedra". */
void sinew_draft_ignore(sinew_draft *draft, const char *name, int64_t count);

/* The mesh with its notes, which takes the arrays over, or NULL. Refuses a draft without vertices. */
sinew_mesh *sinew_draft_finish(sinew_draft *draft, const char *name);

#endif
