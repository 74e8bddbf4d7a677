/* SPDX-License-Identifier: MIT
 *
 * topology.h: adjacency, colourings that allow parallel updates of elements or vertices, and an order of points that
 * keeps neighbours near in memory. All results are deterministic functions of the input.
 *
 * Indices are in range (sinew_mesh_create() checks them). An element may contain a vertex twice.
 */
#ifndef SINEW_SRC_MESH_TOPOLOGY_H
#define SINEW_SRC_MESH_TOPOLOGY_H

#include "base/base.h"
#include "base/sort_pairs.h"

/* Elements of one kind, e.g. all tetrahedra (size 4) or all springs (size 2). */
typedef struct sinew_elements {
    const int32_t *vertices; /* [size * count] vertex indices of each element */
    int32_t count;
    int32_t size; /* number of vertices of one element, >= 1 */
} sinew_elements;

/* ---- Incidence: vertex -> elements --------------------------------------------------------- */

/* The elements at vertex v are elements[first[v]] .. elements[first[v + 1] - 1], ascending, each once. */
typedef struct sinew_incidence {
    int64_t *first;    /* [vertex_count + 1] start of each vertex's list in `elements` */
    int32_t *elements; /* [first[vertex_count]] indices of the elements at each vertex */
} sinew_incidence;

sinew_status sinew_incidence_build(sinew_incidence *incidence, const sinew_allocator *allocator, int32_t vertex_count,
                                   const sinew_elements *elements, sinew_error *error);
/* Frees the arrays of the incidence; a zeroed struct has none. */
void sinew_incidence_free(sinew_incidence *incidence, const sinew_allocator *allocator);
/* Returns the largest number of elements at one vertex. */
int64_t sinew_incidence_count_max(const sinew_incidence *incidence, int32_t vertex_count);

/* ---- Adjacency: vertex -> vertices --------------------------------------------------------- */

/* Neighbours of each vertex v: vertices that share an element of any list with v, ascending, each once, without v
 * itself. */
typedef struct sinew_adjacency {
    int64_t *first;      /* [vertex_count + 1] start of each vertex's list in `neighbours` */
    int32_t *neighbours; /* [first[vertex_count]] indices of the neighbours of each vertex */
} sinew_adjacency;

sinew_status sinew_adjacency_build(sinew_adjacency *adjacency, const sinew_allocator *allocator, int32_t vertex_count,
                                   const sinew_elements *lists, int32_t list_count, sinew_error *error);
void sinew_adjacency_free(sinew_adjacency *adjacency, const sinew_allocator *allocator);

/* Finds the unique edges (low, high) of all element lists, sorted: all pairs of vertices of an element. The caller
 * releases *edges [2 * *edge_count]. */
sinew_status sinew_unique_edges(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *lists,
                                int32_t list_count, int32_t **edges, int32_t *edge_count, sinew_error *error);

/* Finds the connected components of a mesh, numbered in the order of their lowest vertex. component [vertex_count]; -1
 * for a vertex without elements. Returns the number of components. The function allocates no memory. */
int32_t sinew_components(int32_t vertex_count, const sinew_elements *lists, int32_t list_count, int32_t *component);

/* ---- Colourings for parallel updates ------------------------------------------------------------- */

/* Colours elements so that elements of one colour share no vertex, first fit in element order. colours [count], from
 * 0. */
sinew_status sinew_colour_elements(const sinew_allocator *allocator, int32_t vertex_count,
                                   const sinew_elements *elements, int32_t *colours, int32_t *colour_count,
                                   sinew_error *error);

/* Work space of a repeated colouring, whose cost is proportional to the number of elements, not of vertices. It is
 * allocated in the first call, and grows if a later call has more elements or vertices. A zeroed struct is valid. */
typedef struct sinew_colour_work {
    uint64_t *used; /* [vertex_count] bit set of the colours of the elements at each vertex; zero between calls */
    int32_t *left;  /* [element count] indices of elements without a colour */
    size_t used_capacity, left_capacity;
} sinew_colour_work;

/* Computes the same colours as sinew_colour_elements(), with work space that the caller keeps. */
sinew_status sinew_colour_elements_again(sinew_colour_work *work, const sinew_allocator *allocator,
                                         int32_t vertex_count, const sinew_elements *elements, int32_t *colours,
                                         int32_t *colour_count, sinew_error *error);
void sinew_colour_work_release(sinew_colour_work *work, const sinew_allocator *allocator);

/* Colours vertices so that vertices of one colour share no element of any list. The vertex with the most colours
 * (of the first 64) among its neighbours is next and takes the lowest free colour: colours [vertex_count]. The number
 * of colours is at most one more than the largest number of neighbours. */
sinew_status sinew_colour_vertices(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *lists,
                                   int32_t list_count, int32_t *colours, int32_t *colour_count, sinew_error *error);

/* Updates the colours of vertices after the elements of `added` were added to the elements of `lists` (PBNG, section
 * 10.1). Only vertices of added elements are visited, in index order. A vertex keeps its colour if no neighbour has the
 * same colour, and else takes the lowest free colour. colours [vertex_count] and *colour_count hold the old colouring
 * and are updated. */
sinew_status sinew_recolour_vertices(const sinew_allocator *allocator, int32_t vertex_count,
                                     const sinew_elements *lists, int32_t list_count, const sinew_elements *added,
                                     int32_t *colours, int32_t *colour_count, sinew_error *error);

/* Sorts elements (or vertices) by colour, ascending inside a colour: elements of colour c are order[first[c]] ..
 * order[first[c + 1] - 1]. first [colour_count + 1], order [count]. */
void sinew_colour_groups(const int32_t *colours, int32_t count, int32_t colour_count, int32_t *first, int32_t *order);

/* ---- Hilbert order of points --------------------------------------------------------------------- */

/* Sorts points in space: order[i] is the point that comes i-th along a Hilbert curve through the points' bounding cube,
 * ties by index. positions [3 * count], of any scale; order [count]. */
sinew_status sinew_hilbert_order(const sinew_allocator *allocator, const sinew_real *positions, int32_t count,
                                 int32_t *order, sinew_error *error);
/* Like sinew_hilbert_order(), in the caller's memory: pairs [2 * count]; the minors of the first `count` pairs are the
 * order. */
void sinew_hilbert_pairs(const sinew_real *positions, int32_t count, sinew_pair *pairs);

#endif
