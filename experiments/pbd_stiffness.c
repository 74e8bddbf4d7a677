/* SPDX-License-Identifier: MIT
 *
 * pbd_stiffness.c: thesis fig 5.2: after 1000 iterations of one step PBD returns the beam to its rest shape at every
 * time step; QN untwists it as far as the time step allows.
 */
#include <math.h>

#include "experiments.h"

enum {
    STEPS = 2,
    RUNS = 2 * STEPS
};
static const double steps[STEPS] = {1e-2, 1e-3};

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
        const double start = beam_twist(s->beam, s->beam->twisted[0]);
        figure *f = outcome_figure(o, "shapes", "After one step from the same twisted start (fig 5.2)", "", "");
        static const char *const names[RUNS] = {"PBD, h = 1e-2 s", "PBD, h = 1e-3 s", "QN, h = 1e-2 s",
                                                "QN, h = 1e-3 s"};
        for (int i = 0; i < RUNS; i++) {
            left[i] = beam_twist(s->beam, runs[i].q);
            outcome_number(o, left[i], "twist_%s_%d", i < STEPS ? "pbd" : "qn", i % STEPS);
            figure_shape(f, names[i], runs[i].solver, runs[i].q, s->beam->vertex_count);
        }
        outcome_number(o, start, "twist_start");
        claim *c = outcome_claim(o, "PBD untwists to rest for every h (1e-2, 1e-3 s)", "rest shape for both");
        claim_measured(c, "%.2f and %.2f degrees left of %.0f", left[0], left[1], start);
        const double max = fmax(fabs(left[0]), fabs(left[1]));
        claim_holds(c, max < 0.01 * start ? HOLDS_YES : max < 0.1 * start ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
        c = outcome_claim(o, "QN untwists further with the larger step", "depends on h");
        claim_measured(c, "%.1f degrees left with h = 1e-2 s, %.1f with 1e-3 s", left[2], left[3]);
        claim_holds(c, left[2] < left[3] - 1 ? HOLDS_YES : HOLDS_NO, "%s", "");
        f = outcome_figure(o, "elastic", "Elastic energy over the iterations", "iteration", "J");
        f->log_x = f->log_y = true;
        for (int i = 0; i < RUNS; i++)
            run_curve(f, &runs[i], names[i], i % STEPS, record_elastic, 0);
    }
    runs_release(runs, RUNS);
}
