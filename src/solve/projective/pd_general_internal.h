/* SPDX-License-Identifier: MIT
 *
 * pd_general_internal.h: declarations shared by pd_general.c and pd_general_matrix.c.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_PD_GENERAL_INTERNAL_H
#define SINEW_SRC_SOLVE_PROJECTIVE_PD_GENERAL_INTERNAL_H

#include "linear/factor/factored_system.h"
#include "objective/assembly.h"
#include "solve/projective/pd_general.h"
#include "solve/projective/element_projection.h"

typedef struct sinew_set_task {
    const sinew_energy_ops *scalar; /* scalar kernels (SIMD width one) of the task's energy */
    size_t first_wide, first_copy;  /* index of the task's first entry in weights and known; in copies */
    /* squared distance w/2 |A (x - p)|^2 to the projections p, summed over the task's elements in the last pass, in
     * J */
    double value;
} sinew_set_task;

struct sinew_pd_general {
    sinew_coordinates coordinates;
    size_t wide_count;
    sinew_set_task *tasks; /* [task_count] data of each task of the objective */
    double *weights;       /* [wide_count] weight w of each element; 0: padding, or switched off */
    double *copies; /* [wide_count][vertex_count][3] projected positions p of each element, distinct points first, m */
    uint8_t *known; /* [wide_count] 1: the element's projected copy p lies on its constraint set */
    /* [task_count][work_size] work space of each task: tangents, Hessian blocks, reduction matrices */
    sinew_real *work;
    size_t work_size;
    sinew_real *inverse; /* [particle_count] 1 / S if S is diagonal; else NULL, and `pattern` and `factor` are used */
    sinew_assembly *pattern; /* sparsity pattern of the global matrix S */
    sinew_factored_system *factor;
};

/* One element of the local step, with the input of its projection. */
typedef struct sinew_set_element {
    sinew_sqp sqp;
    int32_t vertex[SINEW_STENCIL_MAX];
    int32_t local[SINEW_STENCIL_MAX]; /* offset of each of the element's distinct points in the vectors of its chunk */
    int32_t particle[SINEW_STENCIL_MAX]; /* particle of each of the element's distinct points */
    sinew_real data[SINEW_DATA_MAX];
    sinew_real *D; /* work space: [reduced_count][vertex_count] the energy's reduction matrix D */
    double metric[SINEW_STENCIL_MAX * SINEW_STENCIL_MAX];
    double x[SINEW_SQP_CAPACITY];
} sinew_set_element;

/* Reads the element in one lane of a task, without its positions x. Returns false if the lane is padding, or the
 * element is switched off. */
bool sinew_pd_general_element(const sinew_pd_general *general, const sinew_objective *objective, int32_t task,
                              size_t lane, sinew_set_element *element);
/* Builds the global matrix S and its sparse factor, or its inverse if S is diagonal. */
sinew_status sinew_pd_general_matrix(sinew_pd_general *general, const sinew_objective *objective, sinew_error *error);

#endif
