/* SPDX-License-Identifier: MIT
 *
 * pbd_stiffness.c: thesis fig 5.2: after 1000 iterations of one step PBD has the beam at rest whatever the time step
 * is; QN untwists it as far as the step allows.
 */
#include <math.h>

#include "experiments.h"

enum {
    STEPS = 2,
    RUNS = 2 * STEPS
};
static const double steps[STEPS] = {1e-2, 1e-3};

/* Degrees that one end is turned against the other: of the line between two corners of each end face. */
static double twist_left(const beam *b, const sinew_real *q)
{
    const sinew_real *rest = sinew_mesh_positions(b->mesh);
    double angle[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        double sine = 0, cosine = 0;
        for (int32_t i = 0; i < b->end_count; i++) {
            const sinew_real *x = rest + 3 * (size_t)b->ends[i], *y = q + 3 * (size_t)b->ends[i];
            if ((x[0] > 0) != (side == 1))
                continue;
            cosine += (double)(x[1] * y[1] + x[2] * y[2]);
            sine += (double)(x[1] * y[2] - x[2] * y[1]);
        }
        angle[side] = atan2(sine, cosine);
    }
    /* Each end starts at less than half a turn, so that no turn is lost. */
    return (angle[1] - angle[0]) * 180 / 3.14159265358979323846;
}

void experiment_pbd_stiffness(const setting *s, outcome *o)
{
    beam_run runs[RUNS];
    double left[RUNS];
    for (int i = 0; i < RUNS; i++)
        runs[i] = (beam_run){.stiffness = 1e8,
                             .h = steps[i % STEPS],
                             .solver = i < STEPS ? SINEW_SOLVER_PBD : SINEW_SOLVER_QN,
                             .iterations = s->quick ? 300 : 1000};
    if (runs_take(s, runs, RUNS, "pbd-stiffness", o)) {
        const double start = twist_left(s->beam, s->beam->twisted[0]);
        figure *f = outcome_figure(o, "shapes", "After one step from the same twisted start (fig 5.2)", "", "");
        static const char *const names[RUNS] = {"PBD, h = 1e-2 s", "PBD, h = 1e-3 s", "QN, h = 1e-2 s",
                                                "QN, h = 1e-3 s"};
        for (int i = 0; i < RUNS; i++) {
            left[i] = twist_left(s->beam, runs[i].q);
            outcome_number(o, left[i], "twist_%s_%d", i < STEPS ? "pbd" : "qn", i % STEPS);
            figure_shape(f, names[i], runs[i].solver, runs[i].q, s->beam->vertex_count);
        }
        outcome_number(o, start, "twist_start");
        claim *c = outcome_claim(o, "PBD untwists to rest whatever h (1e-2, 1e-3 s)", "rest shape for both");
        claim_measured(c, "%.2f and %.2f degrees left of %.0f", left[0], left[1], start);
        const double most = fmax(fabs(left[0]), fabs(left[1]));
        claim_holds(c, most < 0.01 * start ? HOLDS_YES : most < 0.1 * start ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
        c = outcome_claim(o, "QN untwists further with the larger step", "depends on h");
        claim_measured(c, "%.1f degrees left with h = 1e-2 s, %.1f with 1e-3 s", left[2], left[3]);
        claim_holds(c, left[2] < left[3] - 1 ? HOLDS_YES : HOLDS_NO, "%s", "");
        f = outcome_figure(o, "elastic", "Elastic energy over the iterations", "iteration", "J");
        f->log_x = f->log_y = true;
        for (int i = 0; i < RUNS; i++)
            run_curve(f, &runs[i], names[i], i % STEPS, row_elastic, 0);
    }
    runs_release(runs, RUNS);
}
