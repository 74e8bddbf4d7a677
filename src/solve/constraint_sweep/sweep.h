/* SPDX-License-Identifier: MIT
 *
 * sweep.h: sweeps over constraints, each of which moves its particles: the loop of PBD and XPBD.
 *
 * Gauss-Seidel, coloured: the elements of each batch are sorted by colour (elements of one colour share no particle)
 * and copied in groups of W, with particle indices. Colours run in sequence, the groups of one colour in parallel. A
 * large body is divided into domains (thread_domains.h): first each domain processes the colours of its inner elements
 * in one thread and its caches. Then each pair of neighbouring domains processes the elements between them, each pair
 * of pairs, and so on. Threads synchronise a few times instead of at every colour, and few particles move between
 * cores: without a shared cache, synchronisation and transfer cost more than the constraints. Gauss-Seidel in mesh
 * order: one element after the other in the order of the batch, with the scalar kernels if the energy has them. Jacobi:
 * all elements use the same positions, and each applies 1/n of its change, n the largest number of elements at one of
 * its free particles. Positions and multipliers change by the same factor, so sweeps of linear constraints converge for
 * every relaxation below 2 (|sum_j g_j|^2 <= n sum_j |g_j|^2 at each particle, g_j the gradients of its constraints)
 * and keep the momentum, which a mean over each particle's elements does not. The result of each order is independent
 * of the number of threads.
 *
 * Jacobi sweeps may be extrapolated (Chebyshev; Wang 2015): positions and multipliers together, so that M (x - q_tilde)
 * = sum lambda grad C is preserved (chebyshev.c, which also restores XPBD's dropped residual).
 *
 * Transient batches (objective.h) run after the fixed batches, unless sinew_sweep_arrange() orders coupling energies.
 * Each batch has its own colours, by first fit in the order of its elements. A change lays out the transient batches
 * again, in reused memory, independently of the fixed batches.
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

/* The elements of one batch in sweep order. A class is one colour, or one colour of one domain; its elements are in
 * contiguous SIMD groups. */
typedef struct sinew_sweep_batch {
    const sinew_batch *source;
    uint32_t version, form_version; /* version and form_version of `source` when its data were copied */
    const sinew_energy_ops *ops;
    int32_t width, group_count, colour_count;
    int32_t first_phase; /* index of the batch's first phase in a coloured sweep, counted over all batches in order */
    sinew_domains domains;
    int32_t *first_group;         /* [classes + 1] index of each class's first SIMD group, by domain, then by colour */
    int32_t *vertex;              /* [group_count][vertex_count][W] SINEW_POINT times the particle of each vertex */
    sinew_real *data;             /* [group_count][data_count][W] element data, copied from `source` */
    int32_t *element;             /* [group_count * W] index of the element in the source batch; -1: padding */
    sinew_real *lambda;           /* [group_count][constraint_count][W] multipliers of the constraints */
    sinew_real *averaging_weight; /* [group_count * W] Jacobi: fraction 1/n of its change that an element applies */
    /* [group_count][constraint_count][W] lambda at the start of the last two sweeps, newest first; NULL: not kept */
    sinew_real *past[2];
    /* Work space of a global constraint (global_constraint.c), else NULL. */
    sinew_real
        *numbers;  /* [group_count][1][W] C, then [..][vertex_count][3][W] gradients, then [..][1][W] compliances */
    double *slope; /* [particle_count][4] grad C while the global constraint is projected, else zero */
    size_t first_capacity, vertex_capacity, data_capacity, element_capacity, lambda_capacity, averaging_capacity,
        numbers_capacity, slope_capacity, past_capacity[2]; /* allocated sizes of the arrays of this struct, in bytes */
} sinew_sweep_batch;

/* Work space for laying out a batch. A zeroed struct is valid. */
typedef struct sinew_sweep_work {
    int32_t *particles; /* [element_count][vertex_count] particle indices of a batch's elements */
    /* [element_count] class of each element; elements sorted by class; elements in the order of their lowest particles;
     * classes of `along` in this order, which first serves as work space with one entry per particle of the batch */
    int32_t *classes, *order, *along, *sorted;
    int32_t *first; /* [classes + 1] index of each class's first element in `order` */
    /* allocated sizes of the layout's work arrays, in bytes */
    size_t particle_bytes, class_capacity, order_capacity, along_capacity, sorted_capacity, first_capacity;
    sinew_colour_work colours;
} sinew_sweep_work;

/* Order of a sweep, and whether it keeps earlier iterates or evaluates Jacobians. */
typedef struct sinew_sweep_rule {
    sinew_sweep_order order;
    bool extrapolates; /* true: keep positions and multipliers of the last two sweeps, for extrapolation */
    bool numbers;      /* true: evaluate C and its Jacobian (SINEW_CAN_JACOBIAN), for guesses and balancing */
} sinew_sweep_rule;

typedef struct sinew_sweep {
    const sinew_objective *objective;
    sinew_sweep_order order;
    sinew_sweep_rule rule;
    int32_t fixed_count, batch_count; /* number of batches of fixed energies, which come first; number of all batches */
    int32_t batch_limit;              /* number of allocated batches; those beyond batch_count keep their memory */
    sinew_sweep_batch *batches;
    int32_t *turn; /* [batch_count] indices of the batches in the order of a sweep */
    size_t turn_capacity;
    bool arranged, couplings_first; /* true: sinew_sweep_arrange() was called; its argument `first` */
    sinew_real *xw;                 /* [particle_count][4] position in m and, as fourth number, inverse mass in 1/kg */
    sinew_real *dx;                 /* [particle_count][4] Jacobi: sums of position changes of a sweep, m; else NULL */
    int32_t *crowd;                 /* [particle_count] Jacobi: number of fixed elements at each particle; else NULL */
    sinew_sweep_work work;          /* work space for laying out the transient batches */
    /* Exponent, set by PBD: an energy of stiffness k applies the fraction 1 - (1 - k)^exponent of its corrections. 0: k
     * is ignored. */
    double stiffness_exponent;
    sinew_real relaxation; /* factor of all position changes in the current sweep: 1 except for Jacobi */
    sinew_real
        *past[2]; /* [particle_count][4] positions at the start of the last two sweeps, newest first; NULL: not kept */
    sinew_real *start;      /* [particle_count][4] positions given to sinew_sweep_begin(); NULL unless rule.numbers */
    sinew_real *balanced;   /* [particle_count][4] work space of sinew_sweep_balance(): balanced positions, m */
    sinew_real *numbers;    /* constraint values C, Jacobian and compliance of the elements of one SIMD group */
    size_t number_capacity; /* allocated size of `numbers` in bytes */
} sinew_sweep;

/* Lays out the constraints of the objective, which must be built. Allocates; on failure nothing stays allocated. */
sinew_status sinew_sweep_create(sinew_sweep *sweep, const sinew_objective *objective, const sinew_sweep_rule *rule,
                                sinew_error *error);
void sinew_sweep_destroy(sinew_sweep *sweep);
/* Updates the layout after changes of pins and transient batches; sinew_sweep_begin reads all other changes. The result
 * equals that of a newly created sweep. Allocates only to grow. */
sinew_status sinew_sweep_refresh(sinew_sweep *sweep, bool transient, bool pins, sinew_error *error);
/* Puts the batches of coupling energies (`couples` in mesh/topology/stencil.h) before, or after, all other batches,
 * also after later changes. The order among coupling energies and among the other energies is kept. */
void sinew_sweep_arrange(sinew_sweep *sweep, bool first);

/* Functions for a batch that is one global constraint: allocation of its work space (false: out of memory), and its
 * projection. */
bool sinew_sweep_global_capacity(const sinew_sweep *sweep, sinew_sweep_batch *batch);
void sinew_sweep_project_global(const sinew_sweep *sweep, const sinew_sweep_batch *batch,
                                const sinew_constrain_kernel *how);

/* Starts a sequence of sweeps at q: copies positions, masses, pins and element data, and sets all multipliers to
 * zero. */
void sinew_sweep_begin(sinew_sweep *sweep, const sinew_real *q);
/* Continues a sequence of sweeps after a change of transient batches. Multipliers of contacts become `unit` (h^2 of a
 * substep) times the forces in their data, multipliers of other transient elements zero; positions and multipliers of
 * fixed batches are kept. */
void sinew_sweep_contacts_changed(sinew_sweep *sweep, double unit);
/* One sweep over all constraints; `how` gives compliance, stiffness, damping, x_old and form; `relaxation` is a factor
 * of the changes of a Jacobi sweep. `backward` reverses the order. */
void sinew_sweep_run(sinew_sweep *sweep, const sinew_constrain_kernel *how, bool backward, double relaxation);
/* The kernel settings for the energy of a batch: `how`, but hard energies use the settings of PBD, and an energy with a
 * PBD stiffness of its own uses that. */
sinew_constrain_kernel sinew_sweep_settings_for(const sinew_sweep *sweep, const sinew_sweep_batch *batch,
                                                const sinew_constrain_kernel *how);
/* True if contacts are among the constraints. Contacts are not extrapolated, and their C and Jacobian are not
 * available. */
bool sinew_sweep_has_contacts(const sinew_sweep *sweep);
/* Stores the positions and multipliers at the start of a sweep in `past`; needs rule.extrapolates. */
void sinew_sweep_keep(sinew_sweep *sweep);
/* After a sweep: x += factor (x - x_before), where x_before is the start of the previous sweep; the same for
 * multipliers. */
void sinew_sweep_extrapolate(sinew_sweep *sweep, double factor);
/* Sets lambda = -C / alpha~ of every compliant constraint (thesis 4.1.6), alpha~ = alpha / h^2; needs rule.numbers. */
void sinew_sweep_guess(sinew_sweep *sweep, const sinew_constrain_kernel *how);
/* x = x_begin + M^-1 sum lambda grad C(x), x_begin the positions of sinew_sweep_begin() (q_tilde): with the gradients
 * at the old x, the residual of the momentum equation becomes zero. Needs rule.numbers. */
void sinew_sweep_balance(sinew_sweep *sweep, const sinew_constrain_kernel *how);
/* Copies the swept positions to q; the fourth number of each point becomes zero. */
void sinew_sweep_positions(const sinew_sweep *sweep, sinew_real *q);
/* Writes multipliers: values[element][constraint_count] = factor * lambda, in the element order of the source batch. */
void sinew_sweep_multipliers(const sinew_sweep_batch *batch, double factor, sinew_real *values);

#endif
