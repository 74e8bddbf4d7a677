/* SPDX-License-Identifier: MIT
 *
 * sweep.h: constraints visited one after the other, each moving its particles: the loop of PBD and XPBD.
 *
 * Gauss-Seidel, coloured: the elements of each batch are sorted by colour (elements of one colour share no particle)
 * and laid out anew, W at a time, with particle numbers; the colours follow each other, the groups of one colour run
 * side by side. A large body is cut into domains, runs of particles in their order, which is one in space: first each
 * domain goes through the colours of the elements that lie inside it, by itself, in one thread and in its caches; then
 * each pair of neighbouring domains goes so through the elements between them, each pair of pairs, and so on. What lies
 * between the two halves of the body comes last: in two parts that share no particle, then the few elements that are in
 * neither. So threads wait for each other a few times, not at every colour, and few particles go from one core to
 * another: with cores that share no cache both cost more than the constraints. Gauss-Seidel in mesh order: one element
 * after the other in the caller's order, with the scalar kernels. Jacobi: all elements see the same positions, and each
 * makes 1/n of its change, n the most elements at one of its free particles. With positions and multipliers changed
 * alike, the sweeps of a set of linear constraints then converge for every relaxation below 2 (|sum_j g_j|^2 <= n sum_j
 * |g_j|^2 at each particle) and keep the momentum, which a mean over each particle's elements does not. None depends on
 * the number of threads.
 */
#ifndef SINEW_SWEEP_H
#define SINEW_SWEEP_H

#include "objective/objective.h"

typedef enum sinew_sweep_order {
    SINEW_SWEEP_COLOURED = 0,
    SINEW_SWEEP_MESH,
    SINEW_SWEEP_JACOBI
} sinew_sweep_order;

#define SINEW_SWEEP_LEVELS 24 /* at most: there are fewer than 2^31 particles */

/* The elements of one batch in the order of the sweep. */
typedef struct sinew_sweep_batch {
    const sinew_batch *source;
    const sinew_energy_ops *ops;
    int32_t width, group_count, colour_count;
    int32_t first_phase;  /* of a coloured pass, counted over all batches */
    int32_t level_count;  /* 0: not cut */
    int32_t *first_group; /* [domains of all levels * colour_count + 1] by domain and by colour in it; not cut:
                             [colour_count + 1] */
    /* The first domain of each level, and the end. A level has half as many as the one before; after the halves there
     * are two levels for what lies between them, one of two domains and one of one. */
    int32_t first_domain[SINEW_SWEEP_LEVELS + 1];
    int32_t *vertex;    /* [group_count][vertex_count][W] SINEW_POINT times the particle */
    sinew_real *data;   /* [group_count][data_count][W] */
    int32_t *element;   /* [group_count * W] number in the source batch's caller, -1: filler */
    sinew_real *lambda; /* [group_count][constraint_count][W] */
    sinew_real *share;  /* [group_count * W] Jacobi: 1/n, else NULL */
} sinew_sweep_batch;

typedef struct sinew_sweep {
    const sinew_objective *objective;
    sinew_sweep_order order;
    int32_t batch_count;
    sinew_sweep_batch *batches;
    sinew_real *xw; /* [particle_count][4] positions and inverse masses */
    sinew_real *dx; /* [particle_count][4] Jacobi: changes, else NULL */
    /* Set by PBD: 1 - (1 - k)^exponent of an energy's own stiffness k is made of its corrections; 0: k is not asked for
     */
    double stiffness_exponent;
    sinew_real relaxation; /* of the pass at hand: 1 but for Jacobi's */
} sinew_sweep;

/* Allocates; the objective must be built. */
sinew_status sinew_sweep_create(sinew_sweep *sweep, const sinew_objective *objective, sinew_sweep_order order,
                                sinew_error *error);
void sinew_sweep_destroy(sinew_sweep *sweep);
/* Puts the batches that couple points anywhere before, or after, all others; within both the order stays. */
void sinew_sweep_arrange(sinew_sweep *sweep, bool first);

/* Takes over positions, masses, pins and targets, and sets all multipliers to zero. */
void sinew_sweep_begin(sinew_sweep *sweep, const sinew_real *q);
/* One pass over all constraints; `how` gives compliance, stiffness, damping, x_old and form; `relaxation` is a factor
 * of Jacobi's changes. `backward` reverses the order. */
void sinew_sweep_run(sinew_sweep *sweep, const sinew_constrain_kernel *how, bool backward, double relaxation);
/* q = the positions; the fourth numbers of q stay zero. */
void sinew_sweep_positions(const sinew_sweep *sweep, sinew_real *q);
/* values[element][constraint_count] = factor * lambda, elements as their caller numbered them. */
void sinew_sweep_multipliers(const sinew_sweep_batch *batch, double factor, sinew_real *values);

#endif
