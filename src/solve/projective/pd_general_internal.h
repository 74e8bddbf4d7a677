/* SPDX-License-Identifier: MIT
 *
 * pd_general_internal.h: what the files of pd_general.h share.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_PD_GENERAL_INTERNAL_H
#define SINEW_SRC_SOLVE_PROJECTIVE_PD_GENERAL_INTERNAL_H

#include "linear/factor/prefactor.h"
#include "objective/assembly.h"
#include "solve/projective/pd_general.h"
#include "solve/projective/element_projection.h"

typedef struct sinew_set_task {
    const sinew_energy_ops *scalar; /* its energy, one element at a time */
    size_t first_lane, first_copy;
    double value; /* J: w/2 |A (x - p)|^2 of its elements, at the last pass */
} sinew_set_task;

struct sinew_sets {
    sinew_coordinates coordinates;
    size_t lane_count;
    sinew_set_task *tasks; /* [task_count] of the objective */
    double *weights;       /* [lane_count] w; 0 where nothing is */
    double *copies;        /* [lane][vertex_count][3] p, points that differ first */
    uint8_t *known;        /* [lane_count] p is on the set */
    sinew_real *work;      /* [task_count][work_size] */
    size_t work_size;
    sinew_real *inverse;     /* [particle_count] 1 / S where S is diagonal; NULL where it is not: */
    sinew_assembly *pattern; /* of S */
    sinew_prefactor *factor;
};

/* An element as the projection wants it. */
typedef struct sinew_set_element {
    sinew_sqp sqp;
    int32_t vertex[SINEW_STENCIL_MAX];
    int32_t local[SINEW_STENCIL_MAX];    /* where each point begins in its chunk's vectors */
    int32_t particle[SINEW_STENCIL_MAX]; /* of each point */
    sinew_real data[SINEW_DATA_MAX];
    sinew_real *rows; /* work space: [row_count][vertex_count] */
    double metric[SINEW_STENCIL_MAX * SINEW_STENCIL_MAX];
    double x[SINEW_SQP_ROOM];
} sinew_set_element;

/* The element in a lane of a task, but for x. False where there is none, or one that is switched off. */
bool sinew_sets_element(const sinew_sets *sets, const sinew_objective *objective, int32_t task, size_t lane,
                        sinew_set_element *element);
/* Makes S, and what solves with it. */
sinew_status sinew_sets_matrix(sinew_sets *sets, const sinew_objective *objective, sinew_error *error);

#endif
