/* SPDX-License-Identifier: MIT
 *
 * pbng_two_blocks.c: PBNG fig 13: two blocks, one face of each clamped, are driven towards each other: transient weak
 * constraints.
 *
 * Cubes of 1 m and n^3 vertices, 1e3 Pa, 10 kg/m3, without gravity, shifted sideways so that no vertex meets another.
 * The clamped faces move by 0.25 m each within 0.25 s, which compresses the blocks by 0.3 m, and then stop. Steps of
 * 2 ms, 8 iterations, k_n = 1e8 N/m and k_t = 0 as published. For comparison: 1e4 N/m; `augmented` contact, which has
 * no stiffness to choose and a step filter; and Newton's method with the published numbers on coarser blocks. The paper
 * does not give the distance at which constraints start: surfaces have a thickness of 1 cm here, a seventh of a cell. A
 * run ends when surfaces intersect.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

#define STEP   0.002 /* time step of the colliding blocks, in s */
#define GAP    0.2   /* initial distance between the blocks, in m */
#define DRIVEN 0.25  /* displacement of each clamped face, in m */
#define DRIVE  0.25  /* duration of the displacement of the clamped faces, in s */
#define SHIFT  0.017 /* sideways offset of the blocks, in m */

#define THICKNESS 1e-2 /* contact thickness of the blocks, in m */

enum {
    PENALTY,
    SOFT,
    AUGMENTED,
    NEWTON,
    MODES,
    ITERATIONS = 8,
    SAMPLES = 125,
    LOST = 100 /* number of intersecting triangle pairs at which a run is aborted */
};
static const char *const names[MODES] = {"penalty, 1e8 N/m", "penalty, 1e4 N/m", "augmented",
                                         "Newton, penalty, 1e8 N/m"};
static const char *const keys[MODES] = {"penalty", "soft", "augmented", "newton"};

typedef struct run {
    int mode;
    int32_t n, steps, particle_count, tet_count;
    touch_log log;
    double samples[2][SAMPLES]; /* [0]: contact violation in m, [1]: number of particles in contact, over time */
    sinew_measures end;
} run;

static bool two_blocks_add_block(sinew_world *world, const run *r, int side, sinew_error *error)
{
    sinew_box_def box = sinew_default_box_def();
    for (int c = 0; c < 3; c++) {
        box.vertices[c] = r->n;
        box.origin[c] = (sinew_real)-0.5;
    }
    sinew_mesh *mesh = sinew_mesh_box(&box, error);
    if (!mesh)
        return false;
    const touch_solid solid = {
        .mesh = mesh, .centre = {side * (0.5 + GAP / 2), side * SHIFT, side * SHIFT / 2}, .young = 1e3, .density = 10};
    const sinew_body body = touch_add_solid(world, &solid, error);
    sinew_mesh_destroy(mesh);
    const sinew_key path[2] = {{.time = 0}, {.time = (sinew_real)DRIVE, .translation = {(sinew_real)(-side * DRIVEN)}}};
    const sinew_motion motion = {.key_count = 2, .keys = path};
    return body.index >= 0 && touch_hold(world, body, 0, 0.5 * side, side, &motion, error).index >= 0;
}

static sinew_world *two_blocks_build(const run *r, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.thread_count = 1;
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(r->mode == NEWTON ? SINEW_SOLVER_NEWTON : SINEW_SOLVER_PBNG);
    if (r->mode != NEWTON) {
        def.solver.iterations = ITERATIONS;
        def.solver.tolerance = 0;
    }
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = r->mode == AUGMENTED ? SINEW_CONTACT_AUGMENTED : SINEW_CONTACT_PENALTY;
    contact.penalty = (sinew_real)(r->mode == SOFT ? 1e4 : 1e8);
    contact.thickness = (sinew_real)THICKNESS;
    contact.friction = 0;
    if (world && two_blocks_add_block(world, r, -1, error) && two_blocks_add_block(world, r, 1, error) &&
        sinew_world_set_contact(world, &contact, error) == SINEW_OK)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

static void read_world(run *r, sinew_world *world)
{
    r->particle_count = sinew_world_particle_count(world);
    r->tet_count = 2 * sinew_mesh_tet_count(sinew_body_mesh(world, sinew_world_body_at(world, 0)));
    sinew_world_measure(world, &r->end);
}

static bool two_blocks_take(const setting *s, run *r, figure *shapes, sinew_error *error)
{
    sinew_world *world = two_blocks_build(r, error);
    bool good = world != NULL;
    for (int32_t k = 0; good && r->log.crossings < LOST && k < r->steps; k++) {
        const int32_t at = (int32_t)((int64_t)k * SAMPLES / r->steps);
        good = touch_step(world, &r->log, error);
        r->samples[0][at] = r->log.last.violation;
        r->samples[1][at] = r->log.last.contacts;

        if (s->progress && k % 10 == 0)
            s->progress(s->context, r->mode * r->steps + k, MODES * r->steps, names[r->mode]);
    }
    if (good) {
        read_world(r, world);
        touch_picture(shapes, names[r->mode], r->mode == NEWTON ? SINEW_SOLVER_NEWTON : SINEW_SOLVER_PBNG, world,
                      false);
    }
    sinew_world_destroy(world);
    return good;
}

static void claim_resolved(outcome *o, const run *r)
{
    const touch_log *l = &r->log;
    char what[120];
    snprintf(what, sizeof what, "%s: weak constraints resolve the collision", names[r->mode]);
    claim *c = outcome_claim(o, what, r->mode != PENALTY ? "not in the source" : "resolved; red where built (fig 13)");
    claim_measured(c,
                   "%d contacts of %d particles at most; too near by at most %.2g of %.2g m; %d pairs of triangles "
                   "cross at most, %s; %d steps of %d with tets inside out",
                   l->contacts, l->particles, l->violation, THICKNESS, l->crossings,
                   l->crossings >= LOST ? "where it was ended" : "to the end", l->inverted, l->steps);
    const bool apart = l->crossings == 0 && l->inverted == 0, near = l->violation < THICKNESS;
    claim_holds(c,
                apart && near ? HOLDS_YES
                : apart       ? HOLDS_PARTLY
                              : HOLDS_NO,
                "%s",
                apart && near      ? ""
                : l->crossings > 0 ? "sweeps do not solve the step: nodes lag behind their neighbours, tets turn over, "
                                     "vertices come to the wrong side"
                : l->inverted > 0  ? "blocks are kept apart, but tets turn inside out"
                                   : "nothing crosses, but surfaces are nearer than their thickness");
    outcome_number(o, l->contacts, "contacts_%s", keys[r->mode]);
    outcome_number(o, l->particles, "particles_%s", keys[r->mode]);
    outcome_number(o, l->violation, "violation_%s", keys[r->mode]);
    outcome_number(o, l->crossings, "crossings_%s", keys[r->mode]);
    outcome_number(o, l->inverted, "inverted_%s", keys[r->mode]);
}

static void claim_solved(outcome *o, const run *r)
{
    double relative[MODES];
    for (int i = 0; i < MODES; i++) {
        relative[i] = r[i].log.result.residual / fmax(r[i].log.force, 1e-300);
        outcome_number(o, relative[i], "residual_share_%s", keys[i]);
        outcome_number(o, r[i].log.force, "force_%s", keys[i]);
    }
    claim *c = outcome_claim(o, "8 iterations a step suffice", "136 iterations a frame of 17 steps (table 3)");
    claim_measured(c,
                   "residual of the last step beside the force between the blocks: %.2g of %.3g N penalty, %.2g of "
                   "%.3g N at 1e4 N/m, %.2g of %.3g N augmented; Newton %.2g of %.3g N",
                   relative[PENALTY], r[PENALTY].log.force, relative[SOFT], r[SOFT].log.force, relative[AUGMENTED],
                   r[AUGMENTED].log.force, relative[NEWTON], r[NEWTON].log.force);
    claim_holds(c,
                relative[PENALTY] < 1e-2     ? HOLDS_YES
                : relative[AUGMENTED] < 0.05 ? HOLDS_PARTLY
                                             : HOLDS_NO,
                "%s", relative[PENALTY] < 1e-2 ? "" : "not at 1e8 N/m, 1e5 times what the blocks' own nodes have");
}

static void two_blocks_claim_cost(outcome *o, const run *r)
{
    claim *c = outcome_claim(o, "time of a frame of 17 steps, 8 iterations each", "1.63 s (8 threads)");
    claim_measured(
        c, "%.2g s penalty, %.2g s augmented (%.3g and %.3g ms a step), one thread; detection %.0f %% and %.0f %%",
        touch_frame_seconds(&r[PENALTY].log, STEP), touch_frame_seconds(&r[AUGMENTED].log, STEP),
        1e3 * r[PENALTY].log.wall / r[PENALTY].log.steps, 1e3 * r[AUGMENTED].log.wall / r[AUGMENTED].log.steps,
        100 * r[PENALTY].log.detect / r[PENALTY].log.wall, 100 * r[AUGMENTED].log.detect / r[AUGMENTED].log.wall);
    claim_timed(c, "");
    c = outcome_claim(o, "recolouring is of moderate cost (section 10.1)", "1 % of a frame (muscles)");
    claim_measured(c, "%.1f %% of a step", 100 * touch_recolour_share(&r[PENALTY].log));
    claim_timed(c, "colours, visits and layers of new contacts");
    for (int i = 0; i < MODES; i++) {
        outcome_number(o, 1e3 * r[i].log.wall / r[i].log.steps, "ms_%s", keys[i]);
        outcome_number(o, touch_rest_share(&r[i].log), "rest_%s", keys[i]);
    }
}

static void curves(outcome *o, const run *r)
{
    static const char *const titles[2] = {"How much nearer than their thickness surfaces are",
                                          "Contacts that bear a force"};
    for (int k = 0; k < 2; k++) {
        figure *f = outcome_figure(o, k ? "contacts" : "violation", titles[k], "s", k ? "contacts" : "m");
        f->distinct = true;
        for (int i = 0; i < MODES; i++) {
            if (!figure_series(f, names[i], SINEW_SOLVER_PBNG, i, SAMPLES))
                return;
            for (int j = 0; j < SAMPLES; j++) {
                f->series[i].x[j] = (j + 1.0) * r[i].steps * STEP / SAMPLES;
                f->series[i].y[j] = r[i].samples[k][j];
            }
        }
    }
}

void experiment_two_blocks(const setting *s, outcome *o)
{
    run r[MODES];
    sinew_error error = {0};
    bool good = true;
    figure *shapes = outcome_figure(o, "shapes", "After the last step (fig 13)", "", "");
    shapes->span = 2;
    for (int i = 0; good && i < MODES; i++) {
        r[i] = (run){.mode = i, .n = s->quick ? 5 : i == NEWTON ? 8 : 16, .steps = s->quick ? 140 : 250};
        good = two_blocks_take(s, &r[i], shapes, &error);
    }
    if (good) {
        snprintf(o->setup, sizeof o->setup, "Two blocks, %d vertices, %d tets, 1e3 Pa, 10 kg/m3, %d steps of %g s.",
                 r[0].particle_count, r[0].tet_count, r[0].steps, STEP);
        for (int i = 0; i < MODES; i++)
            claim_resolved(o, &r[i]);
        claim_solved(o, r);
        two_blocks_claim_cost(o, r);
        curves(o, r);
    } else
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
}
