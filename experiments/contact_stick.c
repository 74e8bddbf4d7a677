/* SPDX-License-Identifier: MIT
 *
 * contact_stick.c: a strip clamped above stands on a floor and is pushed down by a fraction eps of its length. It
 * buckles; friction holds its lower end, which acts as a hinge. The friction that it needs is known from the elastica
 * (clamped and hinged, inextensible): mu = 0.04485, 0.10355, 0.15279, 0.23777, 0.32649 for eps = 0.01, 0.05, 0.1, 0.2,
 * 0.3.
 *
 * Bisection finds the least friction that holds; the ratio of the floor's forces under large friction is the second
 * measure. The strip is a rod, which newton, qn and pbng support. It hardly stretches, which is hard for qn and pbng:
 * they run one depth only. pbng does not solve such a rod in so few iterations without contact either. The strip lies
 * along x, the floor is across x. A brief sideways force selects the side of the buckling.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contact_scene.h"
#include "rod_cases.h"
#include "side_by_side.h"

#define THICKNESS 1e-3
/* Slip limit as a fraction of the strip's length; a larger displacement of the lower end counts as slip. */
#define SLIP    1e-4
#define DENSITY 0.01 /* mass of the strip per length in kg/m, so small that vibrations decay within some steps */
#define DAMPING 20   /* damping rate of the world, in 1/s */
#define NUDGE   0.5  /* sideways force on the strip in the first NUDGED steps, in N */
#define ALONE   2.0  /* friction coefficient large enough for all depths of the push */

enum {
    DEPTHS = 5,
    STANDS = DEPTHS + 2,
    PUSH = 120, /* number of steps of the push */
    REST = 40,
    NUDGED = 12
};
static const double depths[DEPTHS] = {0.01, 0.05, 0.1, 0.2, 0.3};
static const double needed[DEPTHS] = {0.04485, 0.10355, 0.15279, 0.23777, 0.32649};

/* One solver at one depth of the push. */
typedef struct stand {
    sinew_solver_kind kind;
    int32_t iterations, segments, halvings;
    int depth;
    /* Half width of the bisection's interval: mu within (1 - span .. 1 + span) times the exact value. */
    double span;
    double min;   /* least friction coefficient at which the strip's end does not slip */
    double ratio; /* tangential over normal force of the floor at the friction coefficient ALONE */
    int32_t open; /* number of unsolved steps of the run at the friction coefficient ALONE */
    char error[256];
} stand;

static bool make_stand(const stand *s, double mu, rod_world *r, sinew_collider *floor, sinew_error *error)
{
    const double cell = 1 / (s->segments - 0.5);
    rod_stuff stuff = rod_default_stuff();
    stuff.density = DENSITY;
    /* Bending stiffness in the second direction; a larger value restricts bending to one plane. */
    stuff.bending[1] = 20;
    stuff.time_step = 1.0 / 60;
    sinew_key keys[2] = {{.time = 0}, {.time = (sinew_real)(PUSH / 60.0)}};
    keys[1].translation[0] = (sinew_real)depths[s->depth];
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_contact_def contact = sinew_default_contact_def();
    contact.friction = (sinew_real)mu;
    contact.thickness = (sinew_real)THICKNESS;
    contact.self = false;
    sinew_solver_def solver = sinew_default_solver_def(s->kind);
    solver.measure = SINEW_MEASURE_RESIDUAL;
    solver.iterations = s->iterations;
    solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_collider_def plane = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    plane.position[0] = (sinew_real)(1 + THICKNESS);
    plane.rotation[2] = (sinew_real)(ROD_PI / 2);
    sinew_mesh *mesh = rod_line(s->segments, -0.5 * cell, 1, error);
    bool good = mesh && rod_make(mesh, &stuff, r, error) && rod_clamp(r, 0, &motion, error) &&
                sinew_world_set_solver(r->world, &solver, error) == SINEW_OK &&
                sinew_world_set_damping(r->world, DAMPING, error) == SINEW_OK &&
                sinew_world_set_contact(r->world, &contact, error) == SINEW_OK;
    if (good)
        *floor = sinew_world_add_collider(r->world, &plane, error);
    sinew_mesh_destroy(mesh);
    return good && floor->index >= 0;
}

/* Runs one push of the strip. *slip: sideways displacement of the lower end, m; *ratio: tangential over normal force
 * there. Adds unsolved steps to s->open. */
static bool stick_push(stand *s, double mu, double *slip, double *ratio, sinew_error *error)
{
    rod_world r = {0};
    sinew_collider floor = {.index = -1};
    bool good = make_stand(s, mu, &r, &floor, error);
    for (int k = 0; good && k < PUSH + REST; k++) {
        const double side[3] = {0, k < NUDGED ? NUDGE : 0, 0};
        uint32_t bits = 0;
        good = rod_pull(&r, s->segments / 2, side) && contact_step(r.world, &bits, error);
        s->open += (bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_CONTACT)) != 0;
    }
    if (good) {
        double end[3], force[3], torque[3];
        rod_point(&r, s->segments, end);
        good = sinew_collider_force(r.world, floor, force, torque, error) == SINEW_OK;
        *slip = fabs(end[1]);
        *ratio = good && force[0] > 0 ? sqrt(force[1] * force[1] + force[2] * force[2]) / force[0] : NAN;
    }
    sinew_world_destroy(r.world);
    return good;
}

static bool take_stand(void *context, int32_t i)
{
    stand *s = (stand *)context + i;
    sinew_error error = {0};
    double slip, ratio, low = (1 - s->span) * needed[s->depth], high = (1 + s->span) * needed[s->depth];
    bool good = stick_push(s, ALONE, &slip, &s->ratio, &error);
    const int32_t open = s->open;
    for (int k = 0; good && k < s->halvings; k++) {
        const double mu = 0.5 * (low + high);
        good = stick_push(s, mu, &slip, &ratio, &error);
        *(slip > SLIP ? &low : &high) = mu;
    }
    s->min = 0.5 * (low + high);
    s->open = open;
    if (!good)
        snprintf(s->error, sizeof s->error, "%.255s", error.text[0] ? error.text : "out of memory");
    return good;
}

static const char *stand_failure(void *context, int32_t i)
{
    return ((const stand *)context)[i].error;
}

static void claim_stand(outcome *o, const stand *s)
{
    char what[120], published[120];
    const double exact = needed[s->depth], off = 100 * (s->min / exact - 1), by = 100 * (s->ratio / exact - 1);
    snprintf(what, sizeof what, "%s, %d iterations, eps = %g: the least friction that holds, within 3 %%",
             contact_name(s->kind), (int)s->iterations, depths[s->depth]);
    snprintf(published, sizeof published, "%.5f (elastica)", exact);
    claim *c = outcome_claim(o, what, published);
    if (isnan(s->ratio))
        claim_measured(
            c, "%.5f (%+.2f %%); at last it does not stand on the floor; %d of %d steps say that they are not solved",
            s->min, off, (int)s->open, PUSH + REST);
    else
        claim_measured(c,
                       "%.5f (%+.2f %%); ratio of the forces where it holds %.5f (%+.2f %%); %d of %d steps say that "
                       "they are not solved",
                       s->min, off, s->ratio, by, (int)s->open, PUSH + REST);
    if (s->kind == SINEW_SOLVER_PBNG)
        claim_holds(c, NOT_JUDGED, "%s", "sweeps do not solve a rod that is so stiff, without contact either");
    else
        claim_holds(c, fabs(off) < 3 ? HOLDS_YES : HOLDS_NO, "%s",
                    fabs(off) < 3 ? "" : "the iterations end before the rod is where it belongs");
    outcome_number(o, off, "%s_%g_percent", contact_name(s->kind), depths[s->depth]);
    outcome_number(o, isnan(by) ? -100 : by, "%s_%g_ratio_percent", contact_name(s->kind), depths[s->depth]);
}

static void friction_figure(outcome *o, const stand *stands, int count)
{
    figure *f =
        outcome_figure(o, "friction", "Friction that holds the end, newton", "pushed down, of the length", "mu");
    if (!figure_series(f, "elastica", SINEW_SOLVER_PD, 0, DEPTHS) ||
        !figure_series(f, "newton", SINEW_SOLVER_NEWTON, 0, count))
        return;
    for (int i = 0; i < DEPTHS; i++) {
        f->series[0].x[i] = depths[i];
        f->series[0].y[i] = needed[i];
    }
    for (int i = 0; i < count; i++) {
        f->series[1].x[i] = depths[stands[i].depth];
        f->series[1].y[i] = stands[i].min;
    }
}

static stand stick_plan(bool quick, int i)
{
    stand s = {.kind = SINEW_SOLVER_NEWTON, .depth = i, .iterations = 400, .segments = 40, .halvings = 7, .span = 0.5};
    if (i >= DEPTHS) {
        s.kind = i == DEPTHS ? SINEW_SOLVER_QN : SINEW_SOLVER_PBNG;
        s.depth = 3;
    }
    if (quick) {
        s.depth = 1 + 2 * i;
        s.iterations = 60;
        s.segments = 24;
        s.halvings = 5;
        s.span = 0.16;
    }
    return s;
}

void experiment_stick_slip(const setting *s, outcome *o)
{
    stand stands[STANDS];
    const int count = s->quick ? 2 : STANDS;
    for (int i = 0; i < count; i++)
        stands[i] = stick_plan(s->quick, i);
    snprintf(o->setup, sizeof o->setup,
             "a rod of %d segments, 1 m, EI = 1 N m2, EA L^2/EI = %g, pushed within 2 s; bisection to %.1f %%",
             (int)stands[0].segments, ROD_STRETCH, 100 * stands[0].span * pow(0.5, stands[0].halvings));
    const side_by_side work = {take_stand, stand_failure, stands};
    if (!side_by_side_run(&work, count, true, s, "strips", o))
        return;
    for (int i = 0; i < count; i++)
        claim_stand(o, &stands[i]);
    friction_figure(o, stands, s->quick ? 2 : DEPTHS);
}
