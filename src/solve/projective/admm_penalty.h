/* SPDX-License-Identifier: MIT
 *
 * admm_penalty.h: adaptation of ADMM's weight to the observed convergence: w^2 = c^2 k with one c for the world.
 *
 * Two numbers of an iteration are monitored: the size sqrt(w^2 |du|^2 + |dq|_S^2) of its change, and the ratio
 *
 *     R = sqrt(w^2 |du|^2) / sqrt(w^2 |D dq|^2)
 *
 * of the primal to the dual residual (Boyd et al. 2011, 3.4.1; He, Yang and Wang 2000); w^2 R estimates the curvature.
 * If R is far from one and the size decreases slowly, w^2 <- w^2 R. Large R: stiff modes oscillate; small R: soft modes
 * converge slowly. A size that does not decrease indicates a cycle: the weight is too small for the negative curvature
 * of a non-convex energy. The weight then grows, and its old value becomes a firm lower limit.
 *
 * R oscillates with complex modes, so it is averaged over growing intervals. The weight stays between the largest value
 * found too small and the smallest found too large. Both limits relax with each step, as bodies move. c changes at most
 * SINEW_WEIGHT_CHANGES times per step, except after cycles and restarts. The rule allocates no memory and depends
 * neither on clocks nor on threads.
 *
 * Known limits: one c for all energies of a world; free ropes without bending would need c = 1.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_ADMM_PENALTY_H
#define SINEW_SRC_SOLVE_PROJECTIVE_ADMM_PENALTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SINEW_WEIGHT_CHANGES 5
#define SINEW_WEIGHT_BLOCKS  64 /* largest number of blocks of iterations over which one weight is monitored */

/* State of the weight rule that is kept from step to step and saved with the world. */
typedef struct sinew_weight_memory {
    double c;
    /* limits of the weight factor c: largest value found too small, smallest found too large; 0 and infinity:
     * unknown */
    double low, high;
    /* weight factor c of the last cycle, relaxed with each step: a strong decrease of c lowers `low` at most to this
     * value */
    double firm;
    /* of the last step: factor of the size of changes per iteration since the last change of the weight factor c;
     * mean of the residual ratio R, 1 if c changed */
    double rate, ratio;
    int64_t changes; /* number of changes of c since the solver was prepared; each costs a factorisation */
} sinew_weight_memory;

typedef struct sinew_weight_rule {
    sinew_weight_memory memory;
    int32_t since;    /* number of iterations with this weight; negative in the ignored iterations after a change */
    int32_t blocks;   /* number of complete blocks of iterations with this weight */
    int32_t changes;  /* number of changes of the weight factor c in this step */
    double log_ratio; /* sum of log R over the iterations since `since` was 0, R the residual ratio */
    /* [blocks + 1] size of changes at the end of each block of iterations; entry 0: at the start of the first */
    double sizes[SINEW_WEIGHT_BLOCKS];
    /* [blocks + 1] log_ratio at the end of each block of iterations; entry 0: 0 */
    double log_ratios[SINEW_WEIGHT_BLOCKS];
} sinew_weight_rule;

void sinew_weight_start(sinew_weight_rule *rule, double c);
/* Adapt the weight factor c, before a step (begin) and after each iteration (observe). Return true if c has changed, so
 * that S must be updated. */
bool sinew_weight_begin(sinew_weight_rule *rule);
bool sinew_weight_observe(sinew_weight_rule *rule, double size, double ratio);
/* Restarts the monitoring of convergence after a change of the objective: sizes before and after are not comparable. */
void sinew_weight_disturb(sinew_weight_rule *rule);
/* Triples the weight factor c after non-finite iterates; the old c becomes a firm lower limit. */
void sinew_weight_restart(sinew_weight_rule *rule);
/* True if a weight memory that was loaded from a saved state is valid. */
bool sinew_weight_sane(const sinew_weight_memory *memory);

#endif
