/* SPDX-License-Identifier: MIT
 *
 * stencil.h: the table of stencils: the vertices that an element of an energy consists of, and its properties. Code
 * reads properties from this table instead of comparing stencils.
 *
 * To add a stencil, add a value to sinew_stencil and an entry to stencil.c. A program that includes internal headers
 * may also register its own entry with sinew_stencil_register().
 */
#ifndef SINEW_SRC_MESH_TOPOLOGY_STENCIL_H
#define SINEW_SRC_MESH_TOPOLOGY_STENCIL_H

#include "base/base.h"
#include "sinew/mesh.h"
#include "sinew/sinew.h"

#define SINEW_STENCIL_MAX      16 /* largest number of vertices of an element of any stencil */
#define SINEW_STENCILS_FOREIGN 8  /* largest number of stencils that programs may register */

/* Data of an element besides its vertices and parameters (sinew_energy_def). */
enum {
    SINEW_TAKES_WEIGHTS = 1 << 0,
    SINEW_TAKES_NORMAL = 1 << 1,
    SINEW_TAKES_TARGET = 1 << 2
};

/* Finds all cells of a stencil in a mesh: *cells [*count * n], which the caller releases; *count may be 0. n is the
 * energy's vertex_count, which may be less than the stencil's if cells differ in size. */
typedef sinew_status sinew_cell_finder(const sinew_allocator *allocator, const sinew_mesh *mesh, int32_t n,
                                       int32_t **cells, int32_t *count, sinew_error *error);

typedef struct sinew_stencil_info {
    const char *noun, *plural; /* name of a cell for error messages, singular and plural */
    int32_t vertex_count;      /* number of vertices of a cell; the maximum if cells differ in size (`padded`) */
    /* bits SINEW_TAKES_...: data that an element takes besides its vertices and parameters */
    uint32_t takes;
    bool padded; /* true: unused vertices at the end of a cell repeat its first vertex */
    /* true: tets are joined to fans (energy/batch_layout.h), which permutes their vertices */
    bool fans;
    /* true: an element joins arbitrary points of one or two bodies, not neighbours of a mesh */
    bool couples;
    bool is_surface; /* true: the cells are triangles of a surface */
    /* true: elements are added and removed while a world runs, unless their def states otherwise */
    bool transient;
    sinew_cell_finder *find; /* function that finds the stencil's cells in a mesh; NULL: elements must be given */
    /* Simplices of an element: cells of the mesh, or faces and edges of cells, by vertex indices in the element.
     * Cutting a mesh separates elements along them. */
    /* number of simplices and of vertices per simplex; both 0: no cut changes the element; tearing refuses rings,
     * shells, rods */
    int32_t simplex_count, simplex_size;
    /* [simplex_count] vertex indices of each simplex; NULL and simplex_size 3: triangles around vertex 0 */
    const int8_t (*simplices)[4];
} sinew_stencil_info;

/* Returns the entry of a stencil in the table; NULL if the stencil is out of range. */
const sinew_stencil_info *sinew_get_stencil(sinew_stencil stencil);
/* Registers a stencil until the process ends; the struct must live as long. Registering the same struct again
 * returns the same value. Returns SINEW_STENCIL_COUNT and sets an error if the struct is invalid or the table is
 * full. Thread-safe. */
sinew_stencil sinew_stencil_register(const sinew_stencil_info *stencil_info, sinew_error *error);

/* Writes the vertices of simplex number `simplex` of an element of n vertices; returns their number, 0: no such
 * simplex. */
int32_t sinew_stencil_simplex(const sinew_stencil_info *stencil_info, const int32_t *element, int32_t n,
                              int32_t simplex, int32_t vertices[4]);

/* Number of vertices of a cell without the padding that repeats its first vertex; n if the stencil is not padded. */
int32_t sinew_stencil_size(const sinew_stencil_info *stencil_info, const int32_t *cell, int32_t n);

#endif
