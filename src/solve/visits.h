/* SPDX-License-Identifier: MIT
 *
 * visits.h: the free particles by colour, each with its elements: the layout of Gauss-Seidel over nodes (PBNG, section
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
 */
#ifndef SINEW_VISITS_H
#define SINEW_VISITS_H

#include "objective/objective.h"

#define SINEW_VISIT_WINDOW      256
#define SINEW_VISIT_COLOURS_MAX 256 /* more would leave too little to do side by side */

/* The visits of one kind of energy, over all its batches: their cost is that of their elements, however many bodies
 * share them. Energies over pairs stay apart, as each in turn recolours. Elements are numbered through the batches. */
typedef struct sinew_visit_batch {
    const sinew_energy_ops *ops;
    int32_t source_count;
    const sinew_batch **sources; /* [source_count] */
    int32_t *first_element;      /* [source_count + 1] of each of them */
    int32_t visit_count;         /* groups of W visits, fillers included */
    int32_t *first_visit;        /* [group_count + 1] */
    int32_t *others;             /* [visit_count][other_count][W] SINEW_POINT times the particle */
    sinew_real *data;            /* [visit_count][visit_data_count][W] */
    int32_t *element;            /* [visit_count * W] its number, -1: filler; NULL where data never change */
} sinew_visit_batch;

typedef struct sinew_visits {
    const sinew_objective *objective;
    const sinew_lane_variant *lanes;
    int32_t colour_count, group_count;
    int32_t *first_group; /* [colour_count + 1] */
    int32_t *node;    /* [group_count * W] SINEW_POINT times the particle; fillers repeat the first of their group */
    sinew_real *mass; /* [group_count * W] kg; 0: filler */
    int32_t batch_count;
    sinew_visit_batch *batches;
    const sinew_batch **sources; /* of all batches, one after the other */
    int32_t *first_elements;     /* likewise */
    bool exact;                  /* blocks: exact, else cheap */
    bool checked;                /* some energy's blocks are no bound: every node's step is checked */
} sinew_visits;

/* Allocates; the objective must be built and its masses and pins set. */
sinew_status sinew_visits_create(sinew_visits *visits, const sinew_objective *objective,
                                 const sinew_lane_variant *lanes, bool exact, sinew_error *error);
void sinew_visits_destroy(sinew_visits *visits); /* zeroed is fine */

/* Takes over new targets. */
void sinew_visits_begin(sinew_visits *visits);
/* Moves every node of q [particle_count][4] once, colour after colour; relaxation is a factor of each step. */
void sinew_visits_run(const sinew_visits *visits, double relaxation, bool backward, sinew_real *q);

#endif
