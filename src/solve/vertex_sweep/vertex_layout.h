/* SPDX-License-Identifier: MIT
 *
 * vertex_layout.h: the free particles by colour, each with its elements: the layout of Gauss-Seidel over nodes (PBNG,
 * section 10).
 *
 * Nodes of one colour share no element of any energy, so all of them move in parallel: the result does not depend on
 * the number of threads. Within a colour nodes are in the order of particles; each window of SINEW_INCIDENCE_WINDOW
 * nodes is sorted by the number of elements, so that the W nodes of a group are balanced and close in space. One lane
 * is one node of a group, and the incidences of a group are contiguous: all data of an incidence except the positions
 * of the other vertices are one stream through memory. A tetrahedron is therefore stored four times, once with each
 * vertex first.
 *
 * Energies over cells of meshes are coloured together; then each fixed batch that couples arbitrary points (`couples`
 * in mesh/topology/stencil.h) in turn recolours its own vertices if necessary (section 10.1). Such a batch thus changes
 * the order of the sweep only nearby.
 *
 * Nodes of transient elements (objective/objective.h) are moved, with all their incidences, from the fixed groups,
 * where their lanes stay idle, to transient groups. In the order of transient elements, each node keeps its colour if
 * no neighbour has it, else takes the lowest free one. A sweep processes the fixed groups of a colour, then its
 * transient groups. The cost of an update is in proportion to the number of these nodes.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_H

#include "objective/objective.h"

#define SINEW_INCIDENCE_WINDOW 256
/* limit of the number of colours: more would leave too little parallel work per colour */
#define SINEW_INCIDENCE_COLOURS_MAX 256

/* The incidences of one kind of energy over all its batches, so that the cost does not depend on the number of bodies.
 * Fixed batches that couple arbitrary points are separate, as each recolours in turn. Elements are numbered over all
 * batches. */
typedef struct sinew_incidence_batch {
    const sinew_energy_ops *ops;
    int32_t source_count;
    const sinew_batch **sources; /* [source_count] batches of the objective whose elements this batch contains */
    int32_t *first_element;      /* [source_count + 1] index of each source's first element, counted over all sources */
    uint32_t *versions, *forms;  /* [source_count] version and form_version of each source when it was copied */
    int32_t incidence_count;     /* number of SIMD groups of W incidences (W: SIMD width), padding included */
    int32_t *first_incidence;    /* [group_count + 1] index of each node group's first incidence */
    int32_t *others;  /* [incidence_count][other_count][W] SINEW_POINT times each of the element's other particles */
    sinew_real *data; /* [incidence_count][incidence_data_count][W] element data of each incidence */
    int32_t *element; /* [incidence_count * W] element index of each incidence, counted over all sources; -1: padding */
    /* allocated sizes of the arrays of this struct, in bytes */
    size_t first_capacity, other_capacity, data_capacity, element_capacity;
} sinew_incidence_batch;

/* Nodes sorted by colour, in SIMD groups of W (the SIMD width), with their incidences. */
typedef struct sinew_incidence_groups {
    int32_t colour_count, group_count;
    int32_t *first_group; /* [colour_count + 1] index of each colour's first group */
    /* [group_count * W] SINEW_POINT times each node's particle index; padding repeats the group's first */
    int32_t *node;
    sinew_real *mass; /* [group_count * W] mass of each node, kg; 0: padding, or a node of the transient groups */
    int32_t batch_count, batch_limit; /* number of used and of allocated batches; unused ones keep their memory */
    sinew_incidence_batch *batches;
    /* true: the 3x3 block of some energy is no upper bound of its Hessian, so each node's step is checked */
    bool checked;
    size_t first_capacity, node_capacity, mass_capacity; /* allocated sizes of the arrays of this struct, in bytes */
} sinew_incidence_groups;

/* Batches of the objective, sorted by the incidence batch that contains them. */
typedef struct sinew_incidence_sources {
    const sinew_batch **list; /* [tasks] batches of the objective, sorted by incidence batch */
    int32_t *first_element;   /* [2 * tasks] index of the first element of each batch in `list` */
    uint32_t *versions;       /* [2 * tasks] versions, then form_versions, of the batches in `list` */
    int32_t *which;           /* [tasks] incidence batch of the batch that begins with a task, -1: no batch begins */
    /* allocated sizes of the arrays of this struct, in bytes */
    size_t list_capacity, first_capacity, version_capacity, which_capacity;
} sinew_incidence_sources;

typedef struct sinew_vertex_layout {
    const sinew_objective *objective;
    const sinew_simd_variant *simd;
    bool exact;           /* true: 3x3 Hessian blocks of nodes are exact; false: cheap upper bounds */
    int32_t inner;        /* number of steps of a node per sweep; 0 counts as 1 */
    int32_t colour_count; /* number of colours of fixed and transient groups */
    sinew_incidence_groups fixed, transient;
    sinew_incidence_sources sources; /* sources of the incidence batches of the fixed energies */
    sinew_real *weights;             /* [largest element count of an incidence batch] work space: element weights */
    size_t weight_capacity;          /* allocated size of `weights` in bytes */
    /* work space of transient_layout.c; NULL before the first transient elements */
    struct sinew_transient_layout *transient_work;
} sinew_vertex_layout;

/* Colours the nodes and lays out their incidences. Allocates; on failure nothing stays allocated. The objective must be
 * built and its masses and pins set. */
sinew_status sinew_vertex_layout_create(sinew_vertex_layout *layout, const sinew_objective *objective,
                                        const sinew_simd_variant *simd, bool exact, sinew_error *error);
/* frees the arrays of the vertex layout; accepts a zeroed struct */
void sinew_vertex_layout_destroy(sinew_vertex_layout *layout);
/* Updates the vertex layout after a change of transient elements; the result equals a new layout. Allocates only to
 * grow. */
sinew_status sinew_vertex_layout_refresh(sinew_vertex_layout *layout, sinew_error *error);

/* Copies the data of elements that have changed in the batches of the objective into the layout. */
void sinew_vertex_layout_begin(sinew_vertex_layout *layout);
/* Sweeps once over the nodes of q [particle_count][4] in the order of colours, reversed if `backward`, with `inner`
 * steps of each node; relaxation is a factor of each step. */
void sinew_vertex_layout_run(const sinew_vertex_layout *layout, double relaxation, bool backward, sinew_real *q);

#endif
