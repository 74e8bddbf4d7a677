/* SPDX-License-Identifier: MIT
 *
 * work.h: the work of solvers and of estimates, counted from sizes and iterations and never by clocks, so that
 * decisions by work are the same on every run and machine.
 *
 * A cost model counts in multiply-adds of a Cholesky factorisation. sinew_solve_work() counts in Newton iterations of
 * the same world: gradient, exact Hessian, factorisation and one solve. The constants in work.c were measured on one
 * core, on blocks of 4^3 to 20^3 vertices; ratios between solvers are right within a factor of about 2.
 */
#ifndef SINEW_SRC_SOLVE_WORK_H
#define SINEW_SRC_SOLVE_WORK_H

#include "objective/objective.h"

/* Work of one iteration of a solver: the sum of three parts, each a multiple of a known cost. */
typedef struct sinew_iteration_work {
    double gradients; /* part of the work that is counted in evaluations of the objective's gradient */
    double solves;    /* part of the work that is counted in solves with the Hessian's factor */
    double newtons;   /* part of the work that is counted in whole Newton iterations */
} sinew_iteration_work;

/* Size of a Cholesky factor L of the Hessian; cost 0: the size is unknown. */
typedef struct sinew_factor_size {
    double cost;    /* multiply-adds of the factorisation: the sum of squares of the column counts of the factor L */
    double entries; /* number of entries of the Cholesky factor L */
} sinew_factor_size;

/* Cost of each part of a Newton iteration, in multiply-adds. */
typedef struct sinew_work_model {
    double gradient; /* multiply-adds of one evaluation of the objective g and its gradient */
    double tangents; /* multiply-adds of the second derivatives of all elements, for products without a matrix */
    double product;  /* multiply-adds of one product of the Hessian with a vector */
    double hessian;  /* multiply-adds of the assembly of the sparse Hessian from the elements */
    /* multiply-adds of the Cholesky factorisation of the assembled Hessian */
    double factor;
    double solve;  /* multiply-adds of one solve with the Cholesky factor of the Hessian */
    double newton; /* multiply-adds of a whole Newton iteration: gradient + hessian + factor + solve */
} sinew_work_model;

/* Cost model of a world's Newton iteration. An unknown factor size is replaced by that of a solid of as many
 * particles. */
sinew_work_model sinew_work_model_of(const sinew_objective *objective, const sinew_factor_size *size);

#endif
