/* SPDX-License-Identifier: MIT
 *
 * sweep.h: constraints visited one after the other, each moving its particles: the loop of PBD and XPBD.
 *
 * Gauss-Seidel, coloured: the elements of each batch are sorted by colour (elements of one colour share no particle)
 * and laid out anew, W at a time, with particle numbers; the colours follow each other, the groups of one colour run
 * side by side. A large body is divided into domains (thread_domains.h): first each domain goes through the colours of the
 * elements that lie inside it, by itself, in one thread and in its caches; then each pair of neighbouring domains goes
 * so through the elements between them, each pair of pairs, and so on. So threads wait for each other a few times, not
 * at every colour, and few particles go from one core to another: with cores that share no cache both cost more than
 * the constraints. Gauss-Seidel in mesh order: one element after the other in the caller's order, with the scalar
 * kernels. Jacobi: all elements see the same positions, and each makes 1/n of its change, n the most elements at one of
 * its free particles. With positions and multipliers changed alike, the sweeps of a set of linear constraints then
 * converge for every relaxation below 2 (|sum_j g_j|^2 <= n sum_j |g_j|^2 at each particle) and keep the momentum,
 * which a mean over each particle's elements does not. None depends on the number of threads.
 *
 * Jacobi sweeps may be extrapolated (Chebyshev; Wang 2015): positions and multipliers alike, so that M (x - q_tilde) =
 * sum lambda grad C holds as well as it did. chebyshev.c; it also puts back what sweeps leave out (XPBD's residual).
 *
 * Transient batches (objective.h) have their turn after the fixed ones and colours of their own, first fit in the order
 * of their elements. They are laid out anew, in memory that is used again, without a look at the fixed ones.
 */
#ifndef SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_SWEEP_H
#define SINEW_SRC_SOLVE_CONSTRAINT_SWEEP_SWEEP_H

#include "mesh/topology.h"
#include "objective/objective.h"
#include "solve/constraint_sweep/thread_domains.h"

typedef enum sinew_sweep_order {
    SINEW_SWEEP_COLOURED = 0,
    SINEW_SWEEP_MESH,
    SINEW_SWEEP_JACOBI
} sinew_sweep_order;

/* The elements of one batch in the order of the sweep. A class is one colour, or one colour of one domain. */
typedef struct sinew_sweep_batch {
    const sinew_batch *source;
    uint32_t version, form_version; /* of the source's data that are here */
    const sinew_energy_ops *ops;
    int32_t width, group_count, colour_count;
    int32_t first_phase; /* of a coloured pass, counted over all batches in their turn */
    sinew_domains domains;
    int32_t *first_group; /* [classes + 1] by domain and by colour in it */
    int32_t *vertex;      /* [group_count][vertex_count][W] SINEW_POINT times the particle */
    sinew_real *data;     /* [group_count][data_count][W] */
    int32_t *element;     /* [group_count * W] number in the source batch's caller, -1: filler */
    sinew_real *lambda;   /* [group_count][constraint_count][W] */
    sinew_real *share;    /* [group_count * W] Jacobi: 1/n, else NULL */
    sinew_real *past[2]; /* [group_count][constraint_count][W] lambda before the last sweep and the one before it; NULL:
                            the sweep keeps none */
    /* Of an energy whose elements are one constraint (global_constraint.c), else NULL: */
    sinew_real *row; /* [group_count][1][W] C, then [..][vertex_count][3][W] gradients, then [..][1][W] compliances */
    double *slope;   /* [particle_count][4] zero, but while the row is projected */
    size_t first_room, vertex_room, data_room, element_room, lambda_room, share_room, row_room, slope_room,
        past_room[2]; /* bytes */
} sinew_sweep_batch;

/* Work space for laying out a batch. Zeroed is fine. */
typedef struct sinew_sweep_work {
    int32_t *particles;                        /* [element_count][vertex_count] */
    int32_t *classes, *order, *along, *sorted; /* [element_count], sorted also [particle_count + 1] */
    int32_t *first;                            /* [classes + 1] */
    size_t particle_room, class_room, order_room, along_room, sorted_room, first_room; /* bytes */
    sinew_colour_work colours;
} sinew_sweep_work;

/* What a sweep is to be able to do. */
typedef struct sinew_sweep_rule {
    sinew_sweep_order order;
    bool extrapolates; /* keeps what it takes to go beyond a sweep's result */
    bool numbers;      /* asks energies for their constraints as numbers (SINEW_CAN_JACOBIAN) */
} sinew_sweep_rule;

typedef struct sinew_sweep {
    const sinew_objective *objective;
    sinew_sweep_order order;
    sinew_sweep_rule rule;
    int32_t fixed_count, batch_count; /* fixed batches come first */
    int32_t batch_limit;              /* batches that there is room for; those beyond batch_count keep their memory */
    sinew_sweep_batch *batches;
    int32_t *turn; /* [batch_count] the batches in the order of a pass */
    size_t turn_room;
    bool arranged, couplings_first;
    sinew_real *xw;        /* [particle_count][4] positions and inverse masses */
    sinew_real *dx;        /* [particle_count][4] Jacobi: changes, else NULL */
    int32_t *crowd;        /* [particle_count] Jacobi: fixed elements at each particle, else NULL */
    sinew_sweep_work work; /* of the transient batches */
    /* Set by PBD: 1 - (1 - k)^exponent of an energy's own stiffness k is made of its corrections; 0: k is not asked for
     */
    double stiffness_exponent;
    sinew_real relaxation; /* of the pass at hand: 1 but for Jacobi's */
    sinew_real *past[2];   /* [particle_count][4] as of the batches; NULL: none are kept */
    sinew_real *start; /* [particle_count][4] where begin found the particles; NULL where numbers are not asked for */
    sinew_real *balanced; /* [particle_count][4] work space beside it */
    sinew_real *numbers;  /* of one group: C, its Jacobian, the compliance */
    size_t number_room;   /* bytes */
} sinew_sweep;

/* Allocates; the objective must be built. */
sinew_status sinew_sweep_create(sinew_sweep *sweep, const sinew_objective *objective, const sinew_sweep_rule *rule,
                                sinew_error *error);
void sinew_sweep_destroy(sinew_sweep *sweep);
/* Takes over other pins and other transient batches; all else is seen by begin. The sweep is then what a new one would
 * be. Allocates only where there is more than there ever was. */
sinew_status sinew_sweep_refresh(sinew_sweep *sweep, bool transient, bool pins, sinew_error *error);
/* Puts the batches that couple points anywhere before, or after, all others, now and after every change; within both
 * the order stays. */
void sinew_sweep_arrange(sinew_sweep *sweep, bool first);

/* A batch that is one constraint: its work space, and its turn. */
bool sinew_sweep_row_room(const sinew_sweep *sweep, sinew_sweep_batch *batch);
void sinew_sweep_row_project(const sinew_sweep *sweep, const sinew_sweep_batch *batch,
                             const sinew_constrain_kernel *how);

/* Takes over positions, masses, pins and the numbers of elements, and sets all multipliers to zero. */
void sinew_sweep_begin(sinew_sweep *sweep, const sinew_real *q);
/* Goes on after transient batches have changed: multipliers of contacts are `unit` times what their data say, those of
 * others zero; multipliers of fixed batches and the positions stay. */
void sinew_sweep_resume(sinew_sweep *sweep, double unit);
/* One pass over all constraints; `how` gives compliance, stiffness, damping, x_old and form; `relaxation` is a factor
 * of Jacobi's changes. `backward` reverses the order. */
void sinew_sweep_run(sinew_sweep *sweep, const sinew_constrain_kernel *how, bool backward, double relaxation);
/* `how` as the energy of a batch takes it: a hard one as PBD takes all. */
sinew_constrain_kernel sinew_sweep_manner(const sinew_sweep *sweep, const sinew_sweep_batch *batch,
                                          const sinew_constrain_kernel *how);
/* Whether contacts are among the constraints: they are neither extrapolated nor known as numbers. */
bool sinew_sweep_touches(const sinew_sweep *sweep);
/* Before a sweep: its start is kept (rule: extrapolates). */
void sinew_sweep_keep(sinew_sweep *sweep);
/* After it: x += factor (x - x_before), where x_before is the start of the sweep before this one; multipliers alike. */
void sinew_sweep_extrapolate(sinew_sweep *sweep, double factor);
/* lambda = -C / alpha~ of every compliant constraint, thesis 4.1.6 (rule: numbers). */
void sinew_sweep_guess(sinew_sweep *sweep, const sinew_constrain_kernel *how);
/* x = q_tilde + M^-1 sum lambda grad C(x): the residual of the momentum equation is gone (rule: numbers). */
void sinew_sweep_balance(sinew_sweep *sweep, const sinew_constrain_kernel *how);
/* q = the positions; the fourth numbers of q stay zero. */
void sinew_sweep_positions(const sinew_sweep *sweep, sinew_real *q);
/* values[element][constraint_count] = factor * lambda, elements as their caller numbered them. */
void sinew_sweep_multipliers(const sinew_sweep_batch *batch, double factor, sinew_real *values);

#endif
