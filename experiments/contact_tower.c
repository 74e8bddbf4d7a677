/* SPDX-License-Identifier: MIT
 *
 * contact_tower.c: a stack of soft boxes comes to rest and stays there; jitter and creep are the usual faults of
 * contact solvers.
 *
 * Neighbouring boxes are shifted sideways, so that vertices lie within faces and edges cross. They start a thickness
 * apart and settle with damping. Then damping ends, and each step measures the kinetic energy and the displacement of
 * every box. A box's weight times its length is the unit of energy.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_scene.h"
#include "side_by_side.h"

#define LENGTH    0.2 /* side length of a box of the tower, in m */
#define THICKNESS 1e-3
#define SHIFT     0.013 /* sideways offset of neighbouring boxes, in m */
#define DAMPING   10    /* damping rate while the boxes settle, in 1/s */

enum {
    BOXES_MAX = 10,
    SAMPLES = 100, /* number of points of the energy curve */
    QUICK_ITERATIONS = 20
};

typedef struct tower {
    sinew_solver_kind kind;
    double young; /* Young's modulus of the boxes, in Pa */
    /* Cells per side of a box; iterations per step (0: the solver's default); number of boxes; settling steps; measured
     * steps. */
    int32_t cells, iterations, boxes, settling, steps;
    /* Largest kinetic energy in the second half of the run, over m g L of a box. */
    double energy;
    double way;              /* largest displacement of a box's centre since the boxes settled, over the side length */
    double creep;            /* displacement of a box's centre over the second half of the run, over the side length */
    int32_t open;            /* number of unsolved steps, by status bits */
    double samples[SAMPLES]; /* [sample] kinetic energy of the tower over m g L of a box */
    char error[256];
} tower;

typedef struct positions {
    double centre[BOXES_MAX][3];
} positions;

static bool tower_build(const tower *t, sinew_world *world, sinew_body *bodies, sinew_error *error)
{
    for (int32_t k = 0; k < t->boxes; k++) {
        const contact_box box = {.cells = {t->cells, t->cells, t->cells},
                                 .size = {LENGTH, LENGTH, LENGTH},
                                 .centre = {k % 2 ? SHIFT : -SHIFT, LENGTH / 2 + THICKNESS + k * (LENGTH + THICKNESS),
                                            k % 3 ? 0.5 * SHIFT : -SHIFT},
                                 .young = t->young};
        bodies[k] = contact_add_box(world, &box, error);
        if (bodies[k].index < 0)
            return false;
    }
    return contact_add_floor(world, error).index >= 0;
}

/* Computes the centres of the boxes, and the total kinetic energy (J). */
static bool tower_measure(const tower *t, const sinew_world *world, const sinew_body *bodies, positions *p,
                          double *energy)
{
    bool good = true;
    *energy = 0;
    for (int32_t k = 0; good && k < t->boxes; k++) {
        double own;
        good = contact_centre(world, bodies[k], p->centre[k], &own);
        *energy += own;
    }
    return good;
}

static double tower_farthest(const tower *t, const positions *a, const positions *b)
{
    double max = 0;
    for (int32_t k = 0; k < t->boxes; k++) {
        const double *p = a->centre[k], *q = b->centre[k];
        max = fmax(max, sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2)));
    }
    return max;
}

static bool tower_watch(tower *t, sinew_world *world, const sinew_body *bodies, sinew_error *error)
{
    const double unit = 1000 * pow(LENGTH, 4) * CONTACT_G;
    positions settled, middle = {0}, now;
    double energy;
    bool good = tower_measure(t, world, bodies, &settled, &energy);
    for (int32_t k = 0; good && k < t->steps; k++) {
        uint32_t bits;
        good = contact_step(world, &bits, error) && tower_measure(t, world, bodies, &now, &energy);
        if (!good)
            break;
        t->open += (bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_TRUNCATED)) != 0;
        t->samples[(int64_t)k * SAMPLES / t->steps] = energy / unit;
        t->energy = 2 * k >= t->steps ? fmax(t->energy, energy / unit) : 0;
        t->way = fmax(t->way, tower_farthest(t, &settled, &now) / LENGTH);
        if (k == t->steps / 2)
            middle = now;
    }
    if (good)
        t->creep = tower_farthest(t, &middle, &now) / LENGTH;
    return good;
}

static bool take_tower(void *context, int32_t i)
{
    tower *t = (tower *)context + i;
    sinew_error error = {0};
    sinew_body bodies[BOXES_MAX];
    const contact_world_def def = {
        .kind = t->kind, .iterations = t->iterations, .friction = 0.5, .thickness = THICKNESS};
    sinew_world *world = contact_world(&def, &error);
    bool good =
        world && tower_build(t, world, bodies, &error) && sinew_world_set_damping(world, DAMPING, &error) == SINEW_OK;
    for (int32_t k = 0; good && k < t->settling; k++)
        good = contact_step(world, NULL, &error);
    good = good && sinew_world_set_damping(world, 0, &error) == SINEW_OK && tower_watch(t, world, bodies, &error);
    if (!good)
        snprintf(t->error, sizeof t->error, "%.255s", error.text[0] ? error.text : "out of memory");
    sinew_world_destroy(world);
    return good;
}

static const char *tower_failure(void *context, int32_t i)
{
    return ((const tower *)context)[i].error;
}

static void claim_tower(outcome *o, const tower *t)
{
    const bool single = sizeof(sinew_real) == 4;
    const bool node = t->kind == SINEW_SOLVER_PBNG,
               printed = t->kind == SINEW_SOLVER_XPBD || t->kind == SINEW_SOLVER_PBD;
    const double max = single || node ? 1e-6 : 1e-10, far = single ? 1e-3 : 1e-6;
    const bool stands = t->way < 0.1, still = stands && t->energy < max, stays = stands && t->creep < far;
    char what[120], published[120];
    snprintf(what, sizeof what, "%s: %d boxes at rest, %d steps", contact_name(t->kind), (int)t->boxes, (int)t->steps);
    snprintf(published, sizeof published, "energy below %.0e m g L, creep below %.0e L", max, far);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "energy %.1e, creep %.1e in the second half (%.1e since damping ended); %d steps not solved",
                   t->energy, t->creep, t->way, (int)t->open);
    claim_holds(c,
                still && stays                          ? HOLDS_YES
                : still || stays || (printed && stands) ? HOLDS_PARTLY
                                                        : HOLDS_NO,
                "%s",
                !stands          ? "it fell"
                : still && stays ? ""
                                 : "what iterations leave undone in a step pushes in the next");
    outcome_number(o, t->energy, "%s_energy", contact_name(t->kind));
    outcome_number(o, t->creep, "%s_creep", contact_name(t->kind));
    outcome_number(o, t->way, "%s_way", contact_name(t->kind));
    outcome_number(o, t->open, "%s_open", contact_name(t->kind));
}

static void tower_energy_figure(outcome *o, const tower *towers)
{
    figure *f = outcome_figure(o, "energy", "Kinetic energy after damping has ended", "steps", "m g L of a box");
    f->log_y = true;
    for (int k = 0; k < CONTACT_SOLVERS; k++) {
        if (!figure_series(f, contact_name(towers[k].kind), towers[k].kind, 0, SAMPLES))
            return;
        for (int i = 0; i < SAMPLES; i++) {
            f->series[k].x[i] = (i + 1.0) * towers[k].steps / SAMPLES;
            f->series[k].y[i] = fmax(towers[k].samples[i], 1e-40);
        }
    }
}

void experiment_tower(const setting *s, outcome *o)
{
    tower towers[CONTACT_SOLVERS];
    for (int k = 0; k < CONTACT_SOLVERS; k++)
        towers[k] = (tower){.kind = contact_solvers[k],
                            .iterations = s->quick ? QUICK_ITERATIONS : 0,
                            /* Young's modulus in Pa; 2 m of boxes buckle under their weight below 3e6 Pa */
                            .young = s->quick ? 1e6 : 1e7,
                            /* Number of cells per side, coarse for speed: the mesh does not affect rest. */
                            .cells = s->quick ? 2 : 1,
                            .boxes = s->quick ? 4 : BOXES_MAX,
                            .settling = s->quick ? 90 : 600,
                            .steps = s->quick ? 300 : 10000};
    snprintf(
        o->setup, sizeof o->setup,
        "%d cubes of 0.2 m, 8 kg, %d^3 cells, %g Pa, shifted by %g m; mu = 0.5, h = 1/60 s, each solver's own number "
        "of iterations",
        (int)towers[0].boxes, (int)towers[0].cells, towers[0].young, 2 * SHIFT);
    const side_by_side work = {take_tower, tower_failure, towers};
    if (!side_by_side_run(&work, CONTACT_SOLVERS, true, s, "towers", o))
        return;
    for (int k = 0; k < CONTACT_SOLVERS; k++)
        claim_tower(o, &towers[k]);
    tower_energy_figure(o, towers);
}
