/* SPDX-License-Identifier: MIT
 *
 * vertex_layout.h: the free particles by colour, each with its elements: the layout of Gauss-Seidel over nodes (PBNG, section
 * 10).
 *
 * Nodes of one colour share no element of any energy, so all of them may move at once: the result does not depend on
 * the number of threads. Within a colour the nodes follow the particles' order; every SINEW_VISIT_WINDOW of them are
 * sorted by how many elements they have, so that the W nodes of a group have about equally many and yet lie near each
 * other. Lanes run over the nodes of a group, and the group's visits follow each other: everything a visit reads but
 * the positions of the other vertices is one stream through memory. A tetrahedron is stored four times for that, once
 * with each of its vertices in front.
 *
 * Colours depend on the energies alone, not on when they were added: energies over tets, edges and vertices are
 * coloured together, then each energy over pairs in turn recolours its own vertices where it must (section 10.1), so
 * that a contact changes the order of the sweep only near it.
 *
 * Transient energies (objective.h) form a layer on top. Nodes that they touch are taken out of the fixed groups, whose
 * lanes they leave idle, and go with all their visits into groups of the layer. One after the other, in the order of
 * the transient elements, keeps its colour if no neighbour has it, and takes the lowest free one else. A colour moves
 * its fixed groups, then those of the layer. Making the layer anew costs in proportion to the nodes that it touches.
 */
#ifndef SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_H
#define SINEW_SRC_SOLVE_VERTEX_SWEEP_VERTEX_LAYOUT_H

#include "objective/objective.h"

#define SINEW_VISIT_WINDOW      256
#define SINEW_VISIT_COLOURS_MAX 256 /* more would leave too little to do side by side */

/* The visits of one kind of energy, over all its batches: their cost is that of their elements, however many bodies
 * share them. Fixed energies over pairs stay apart, as each in turn recolours. Elements are numbered through the
 * batches. */
typedef struct sinew_visit_batch {
    const sinew_energy_ops *ops;
    int32_t source_count;
    const sinew_batch **sources; /* [source_count] */
    int32_t *first_element;      /* [source_count + 1] of each of them */
    uint32_t *versions, *forms;  /* [source_count] version and form_version of the data that are here */
    int32_t visit_count;         /* groups of W visits, fillers included */
    int32_t *first_visit;        /* [group_count + 1] */
    int32_t *others;             /* [visit_count][other_count][W] SINEW_POINT times the particle */
    sinew_real *data;            /* [visit_count][visit_data_count][W] */
    int32_t *element;            /* [visit_count * W] its number, -1: filler */
    size_t first_room, other_room, data_room, element_room; /* bytes */
} sinew_visit_batch;

/* Nodes by colour, W a group, and their visits. */
typedef struct sinew_visit_groups {
    int32_t colour_count, group_count;
    int32_t *first_group; /* [colour_count + 1] */
    int32_t *node;    /* [group_count * W] SINEW_POINT times the particle; fillers repeat the first of their group */
    sinew_real *mass; /* [group_count * W] kg; 0: filler, or a node that the layer has */
    int32_t batch_count, batch_limit; /* batches beyond batch_count keep their memory */
    sinew_visit_batch *batches;
    bool checked;                            /* some energy's blocks are no bound: every node's step is checked */
    size_t first_room, node_room, mass_room; /* bytes */
} sinew_visit_groups;

/* The objective's batches, by the visits that they belong to. */
typedef struct sinew_visit_sources {
    const sinew_batch **list; /* [tasks] of one visit batch after the other */
    int32_t *first_element;   /* [2 * tasks] likewise */
    uint32_t *versions;       /* [2 * tasks] likewise: versions, then form_versions */
    int32_t *which;           /* [tasks] the visits of the batch that begins with a task, -1 where none begins */
    size_t list_room, first_room, version_room, which_room; /* bytes */
} sinew_visit_sources;

typedef struct sinew_visits {
    const sinew_objective *objective;
    const sinew_lane_variant *lanes;
    bool exact;           /* blocks: exact, else cheap */
    int32_t inner;        /* steps of a node before the next one has its turn; 0 and 1: one */
    int32_t colour_count; /* of fixed groups and layer */
    sinew_visit_groups fixed, layer;
    sinew_visit_sources sources;          /* of the fixed groups */
    sinew_real *weights;                  /* [elements of a batch, the most] work space */
    size_t weight_room;                   /* bytes */
    struct sinew_visit_layer *layer_work; /* transient_layout.c; NULL until there is a layer */
} sinew_visits;

/* Allocates; the objective must be built and its masses and pins set. */
sinew_status sinew_visits_create(sinew_visits *visits, const sinew_objective *objective,
                                 const sinew_lane_variant *lanes, bool exact, sinew_error *error);
void sinew_visits_destroy(sinew_visits *visits); /* zeroed is fine */
/* Takes over other transient energies: the visits are then what new ones would be. Allocates only where there is more
 * than there ever was. */
sinew_status sinew_visits_refresh(sinew_visits *visits, sinew_error *error);

/* Takes over changed numbers of elements. */
void sinew_visits_begin(sinew_visits *visits);
/* Moves every node of q [particle_count][4] once, colour after colour; relaxation is a factor of each step. */
void sinew_visits_run(const sinew_visits *visits, double relaxation, bool backward, sinew_real *q);

#endif
