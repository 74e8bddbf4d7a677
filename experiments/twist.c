/* SPDX-License-Identifier: MIT
 *
 * twist.c: Ledwon's thesis figs 5.12, 5.13 and tables 5.2, 5.3: soft springs turn the ends of the twisted beam further;
 * strain and springs contradict each other.
 *
 * QN and PD reach their minimum within 20 iterations (section 5.6.1) and run 100; XPBD runs 1000.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments.h"
#include "grid.h"

enum {
    QN,
    PD,
    XPBD,
    SOLVERS,
    FIGURE_STIFF = 4,  /* cell of the grid in the thesis's fig 5.12: h = 1e-1 s, k = 1e9 */
    FIGURE_RUGGED = 15 /* cell of the grid in the thesis's fig 5.13: h = 1e-2 s, k = 1e12 */
};
static const char *const names[SOLVERS] = {"QN", "PD", "XPBD"};

static beam_run twist_make_run(int32_t cell, int which, bool quick)
{
    static const sinew_solver_kind kinds[SOLVERS] = {SINEW_SOLVER_QN, SINEW_SOLVER_PD, SINEW_SOLVER_XPBD};
    return (beam_run){.twist = true,
                      .stiffness = grid_stiffness(cell),
                      .h = grid_h(cell),
                      .solver = kinds[which],
                      .iterations = which != XPBD ? 100
                                    : quick       ? 300
                                                  : 1000};
}

/* Marks of the cells of the parameter grid; -1: the cell was not run. */
typedef struct marks {
    int8_t fails[GRID_CELLS], elastic_fails[GRID_CELLS], inertia[GRID_CELLS];
    int32_t others_fail; /* number of cells in which QN or PD ends above the initial objective */
} marks;

static void mark_cell(marks *m, int32_t cell, const beam_run *runs)
{
    const sinew_iteration *x = run_last(&runs[XPBD]), *q = run_last(&runs[QN]), *start = &runs[XPBD].records[0];
    m->fails[cell] = !(x->objective < start->objective);
    m->elastic_fails[cell] = !(x->elastic < start->elastic);
    m->inertia[cell] = !(x->inertia <= q->inertia);
    m->others_fail += !(q->objective < start->objective) || !(run_last(&runs[PD])->objective < start->objective);
}

static void twist_claim_table(outcome *o, const char *what, const char *const said[GRID_STEPS], const int8_t *found,
                              const char *cause)
{
    char published[120], measured[160], text[48];
    int used = 0, said_used = 0, same = 0;
    for (int32_t step = 0; step < GRID_STEPS; step++) {
        grid_describe(found, step, text, sizeof text);
        same += strcmp(text, said[step]) == 0;
        used += snprintf(measured + used, sizeof measured - (size_t)used, "%s%s", step ? " | " : "", text);
        said_used += snprintf(published + said_used, sizeof published - (size_t)said_used, "%s%s", step ? " | " : "",
                              said[step]);
    }
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%s", measured);
    claim_holds(c, same == GRID_STEPS ? HOLDS_YES : HOLDS_PARTLY, "%s", same == GRID_STEPS ? "" : cause);
}

static void add_claims(const setting *s, outcome *o, const marks *m)
{
    static const char *const failing[GRID_STEPS] = {">= 1e7", ">= 1e8", ">= 1e10", ">= 1e12"};
    static const char *const inertial[GRID_STEPS] = {"-", "all", "all", ">= 1e7"};
    twist_claim_table(
        o, "table 5.2: stiffnesses for which XPBD ends above its start, h = 1e-1 | 1e-2 | 1e-3 | 1e-4", failing,
        m->fails,
        s->quick ? "the quick version tests every second stiffness and 300 iterations"
                 : "the threshold moves with h^2 k / density as published; where it lies depends on the mesh, on "
                   "the density and on how stiff the springs are against a tet, none of which is published");
    bool rising = true;
    int32_t before = -1;
    for (int32_t step = 0; step < GRID_STEPS; step++) {
        int32_t first = GRID_STIFFNESSES;
        for (int32_t i = GRID_STIFFNESSES - 1; i >= 0; i--)
            if (m->fails[step * GRID_STIFFNESSES + i] > 0)
                first = i;
        rising = rising && first >= before;
        before = first;
        outcome_number(o, first < GRID_STIFFNESSES ? pow(10, 5 + first) : INFINITY, "xpbd_fails_from_h1e-%d", step + 1);
    }
    claim *c = outcome_claim(o, "the threshold falls as the step grows (the text under table 5.2 says the opposite)",
                             "the table is right, the text is not");
    claim_measured(c, "%s", rising ? "larger steps fail at lower stiffness, at every step" : "not at every step");
    claim_holds(c, rising ? HOLDS_YES : HOLDS_NO, "%s", "");
    const bool alike = memcmp(m->fails, m->elastic_fails, sizeof m->fails) == 0;
    c = outcome_claim(o, "the same cells fail when only the constraint term counts", "identical");
    claim_measured(c, "%s", alike ? "identical" : "not identical");
    claim_holds(c, alike ? HOLDS_YES : HOLDS_PARTLY, "%s", alike ? "" : "cells at the threshold differ");
    twist_claim_table(
        o, "table 5.3: stiffnesses for which XPBD's inertial term is above QN's", inertial, m->inertia,
        "springs that pull the end faces move them wherever inertia allows; XPBD gives in to them more than the "
        "minimum does, at large steps too");
    c = outcome_claim(o, "QN and PD end below their start for every step and stiffness", "always");
    claim_measured(c, "%d cells above", m->others_fail);
    claim_holds(c, m->others_fail == 0 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, m->others_fail, "others_fail");
}

static void twist_claim_rugged(const setting *s, outcome *o, const beam_run *runs)
{
    const double x = beam_ruggedness(s->beam, runs[XPBD].q), q = beam_ruggedness(s->beam, runs[QN].q);
    claim *c = outcome_claim(o, "h = 1e-2 s, k = 1e12: XPBD's surface is rugged, QN's is smooth (fig 5.13)", "rugged");
    claim_measured(c, "angle between neighbouring facets: XPBD %.1f, QN %.1f, start %.1f degrees", x, q,
                   beam_ruggedness(s->beam, s->beam->twisted[0]));
    claim_holds(c, x > 1.3 * q ? HOLDS_YES : x > q ? HOLDS_PARTLY : HOLDS_NO, "%s", "");
    figure *f = outcome_figure(o, "shapes", "Twisted further, h = 1e-2 s, k = 1e12 (fig 5.13)", "", "");
    figure_shape(f, "XPBD, 1000 iterations", SINEW_SOLVER_XPBD, runs[XPBD].q, s->beam->vertex_count);
    figure_shape(f, "QN", SINEW_SOLVER_QN, runs[QN].q, s->beam->vertex_count);
}

static void twist_add_curves(outcome *o, const char *name, const char *title, const beam_run *runs)
{
    figure *f = outcome_figure(o, name, title, "iteration", "g, J");
    f->log_x = true;
    for (int i = 0; i < SOLVERS; i++)
        run_curve(f, &runs[i], names[i], 0, record_objective, 0);
}

void experiment_twist(const setting *s, outcome *o)
{
    beam_run runs[GRID_CELLS * SOLVERS];
    int32_t cells[GRID_CELLS], count = 0;
    for (int32_t cell = 0; cell < GRID_CELLS; cell++) {
        if (!grid_wanted(cell, s->quick) && cell != FIGURE_STIFF)
            continue;
        for (int i = 0; i < SOLVERS; i++)
            runs[SOLVERS * count + i] = twist_make_run(cell, i, s->quick);
        cells[count++] = cell;
    }
    if (runs_take(s, runs, SOLVERS * count, "twist", o)) {
        marks m;
        memset(&m, -1, sizeof m);
        m.others_fail = 0;
        for (int32_t i = 0; i < count; i++)
            mark_cell(&m, cells[i], &runs[SOLVERS * i]);
        for (int32_t i = 0; i < count; i++)
            if (cells[i] == FIGURE_STIFF)
                twist_add_curves(o, "objective", "Twisted further, h = 1e-1 s, k = 1e9 (fig 5.12)", &runs[SOLVERS * i]);
        add_claims(s, o, &m);
        for (int32_t i = 0; i < count; i++)
            if (cells[i] == FIGURE_RUGGED)
                twist_claim_rugged(s, o, &runs[SOLVERS * i]);
    }
    runs_release(runs, SOLVERS * count);
}
