/* SPDX-License-Identifier: MIT
 *
 * stencil.h: what an energy's elements are made of: one row a stencil. Whoever needs to know what a stencil means looks
 * it up here, and nothing compares stencils.
 *
 * Adding one: a value in sinew_stencil, a row in stencil.c. A program that includes internal headers may also register
 * a row of its own (sinew_stencil_register).
 */
#ifndef SINEW_SRC_MESH_TOPOLOGY_STENCIL_H
#define SINEW_SRC_MESH_TOPOLOGY_STENCIL_H

#include "base/base.h"
#include "sinew/mesh.h"
#include "sinew/sinew.h"

#define SINEW_STENCIL_MAX      16 /* vertices of an element, at most */
#define SINEW_STENCILS_FOREIGN 8  /* rows that may be registered */

/* Numbers that an element takes beside its vertices and parameters (sinew_energy_def). */
enum {
    SINEW_TAKES_WEIGHTS = 1 << 0,
    SINEW_TAKES_NORMAL = 1 << 1,
    SINEW_TAKES_TARGET = 1 << 2
};

/* *cells [*count * n], to be released by the caller: the vertices of every such cell of the mesh, none where it has
 * none. n is the energy's vertex_count, which may be less than the row's where cells differ in size. */
typedef sinew_status sinew_cell_finder(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                       int32_t **cells, int32_t *count, sinew_error *error);

typedef struct sinew_stencil_info {
    const char *noun, *plural; /* of a cell, for messages */
    int32_t vertex_count;      /* of a cell; the most where cells differ in size (`padded`) */
    uint32_t takes;            /* SINEW_TAKES_... */
    bool padded;               /* unused places at the end of a cell repeat its first vertex */
    bool fans;               /* tets: joined to fans (energy/batch_layout.h), for which their vertices change places */
    bool couples;            /* joins points wherever they are, of one body or two, not neighbours in a mesh */
    bool is_surface;         /* its cells are the triangles of a surface */
    bool transient;          /* its energies come and go, unless their def says otherwise */
    sinew_cell_finder *find; /* NULL: no mesh has such cells, elements must be given */
    /* Where an element hangs together: its parts are cells of the mesh, or faces and edges of cells, by their places in
     * the element. A mesh that is cut takes them apart. */
    int32_t simplex_count, simplex_size; /* none: it joins points that are no neighbours, and stays as it is */
    const int8_t (*simplices)[4];        /* [part_count] places; NULL with part_size 3: the triangles around place 0 */
} sinew_stencil_info;

/* NULL out of range. */
const sinew_stencil_info *sinew_get_stencil(sinew_stencil stencil);
/* Makes a row known until the process ends; it must live as long. The same row again has the same number.
 * SINEW_STENCIL_COUNT and an error when the row makes no sense or there is no place left. Any thread may call it. */
sinew_stencil sinew_stencil_register(const sinew_stencil_info *stencil_info, sinew_error *error);

/* The vertices of part number `part` of an element of n vertices; returns how many, 0 when there is no such part. */
int32_t sinew_stencil_simplex(const sinew_stencil_info *stencil_info, const int32_t *element, int32_t n,
                              int32_t simplex, int32_t vertices[4]);

/* Vertices of a cell without the places at its end that repeat its first; n where the stencil is not padded. */
int32_t sinew_stencil_size(const sinew_stencil_info *stencil_info, const int32_t *cell, int32_t n);

#endif
