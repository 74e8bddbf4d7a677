/* SPDX-License-Identifier: MIT
 *
 * admm_penalty.h: how ADMM's weight follows what its iterations show: w^2 = c^2 k with one c for the world.
 *
 * Two numbers of an iteration are watched. The size, sqrt(w^2 |du|^2 + |dq|_S^2), is what it still moves. The ratio
 *
 *     R = sqrt(w^2 |du|^2) / sqrt(w^2 |D dq|^2)
 *
 * is that of the primal to the dual residual (Boyd et al. 2011, 3.4.1; He, Yang and Wang 2000): w^2 R is the curvature
 * that the iterations meet. Where R is far from one and the size shrinks slowly, w^2 <- w^2 R. Large R: stiff modes
 * swing; small R: soft ones crawl. A size that does not shrink at all is a cycle, which non-convex energies show when
 * the weight is below what their negative curvature asks for: the weight grows, and does not come back soon.
 *
 * R swings when modes are complex, so it is averaged over ever longer stretches, and the weight is kept between the
 * largest one that was found too small and the smallest one found too large. Both borders give way with each step, as
 * bodies move on. At most SINEW_WEIGHT_CHANGES a step but for cycles. Numbers only: no memory, no clocks, no threads.
 *
 * Known limits: one c for all energies of a world; free ropes that do not bend would take c = 1 at once.
 */
#ifndef SINEW_SRC_SOLVE_PROJECTIVE_ADMM_PENALTY_H
#define SINEW_SRC_SOLVE_PROJECTIVE_ADMM_PENALTY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SINEW_WEIGHT_CHANGES 5
#define SINEW_WEIGHT_BLOCKS  64 /* of iterations that one weight is watched for */

/* From step to step; saved with the state. */
typedef struct sinew_weight_memory {
    double c;
    double low, high;   /* c is thought to belong between them; 0 and infinity: not known */
    double firm;        /* the c that cycled: low does not fall below it */
    double rate, ratio; /* the last step's with a weight that was not changed: shrinking of the size, mean of R */
    int64_t changes;    /* since the world was prepared: each cost a factorisation */
} sinew_weight_memory;

typedef struct sinew_weight_rule {
    sinew_weight_memory memory;
    int32_t since;                          /* iterations with this weight, negative while it settles */
    int32_t blocks;                         /* whole ones among them */
    int32_t changes;                        /* of this step */
    double log_ratio;                       /* summed since `since` was 0 */
    double sizes[SINEW_WEIGHT_BLOCKS];      /* [blocks + 1] at the end of each block, first: when it began */
    double log_ratios[SINEW_WEIGHT_BLOCKS]; /* [blocks + 1] log_ratio there */
} sinew_weight_rule;

void sinew_weight_start(sinew_weight_rule *rule, double c);
/* Before a step and after each of its iterations: true when memory.c has changed, and S is to follow. */
bool sinew_weight_begin(sinew_weight_rule *rule);
bool sinew_weight_observe(sinew_weight_rule *rule, double size, double ratio);
/* What is minimised has changed between two iterations: sizes of before and after say nothing about the weight. */
void sinew_weight_disturb(sinew_weight_rule *rule);
/* After iterations that went nowhere: a larger c. */
void sinew_weight_restart(sinew_weight_rule *rule);
/* Whether a memory from outside can be gone on with. */
bool sinew_weight_sane(const sinew_weight_memory *memory);

#endif
