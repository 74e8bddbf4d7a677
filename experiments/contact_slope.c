/* SPDX-License-Identifier: MIT
 *
 * contact_slope.c: a soft block on a slope. By Coulomb's law it sticks below tan theta = mu and slides above it, with
 * the acceleration g (sin theta - mu cos theta).
 *
 * The floor stays flat and gravity turns. The block settles with damping for a second (--quick: half a second). Then
 * gravity turns to its angle in the same time, slowly, so that no impact makes the block slip. The steps after that are
 * judged: the acceleration is that of the parabola through the centre of mass.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contact_scene.h"
#include "side_by_side.h"

#define MU        0.5
#define LENGTH    0.2 /* side length of the block, in m */
#define STEP      (1.0 / 60)
#define THICKNESS 1e-3

enum {
    SECOND = 60, /* number of steps per second */
    CASES = 4,
    /* Number of cells along each side of the block in long runs; sticking does not depend on the mesh. */
    LONG_CELLS = 2,
    CONVERGED = 400, /* number of iterations that admm and pbng need to slide */
    CONVERGED_QUICK = 100
};
/* Kinds of runs on the slope, which determine its angle and the measure at its end. */
typedef enum slope_case {
    CASE_HOLD = 0,
    CASE_SLIDE,
    CASE_FALL, /* run with a slope well above the critical angle */
    /* Run with a slope just below the critical angle, many steps and the solver's default iterations. */
    CASE_LONG
} slope_case;

typedef struct slide {
    sinew_solver_kind kind;
    slope_case what;
    int32_t cells, iterations, settling, steps;
    double ratio; /* slope over friction coefficient, tan theta / mu */
    int32_t open; /* number of unsolved steps, by status bits */
    double *path; /* [steps + 1] displacement of the block along the slope in m, since gravity stopped turning */
    char error[256];
} slide;

static void turn_gravity(sinew_world *world, double angle)
{
    const sinew_real g[3] = {(sinew_real)(CONTACT_G * sin(angle)), (sinew_real)(-CONTACT_G * cos(angle)), 0};
    sinew_world_set_gravity(world, g, NULL);
}

/* Lets the block settle with damping, then rotates gravity to the angle of the slope. */
static bool slope_approach(sinew_world *world, double angle, int32_t steps, sinew_error *error)
{
    bool good = sinew_world_set_damping(world, 10, error) == SINEW_OK;
    for (int k = 0; good && k < steps; k++)
        good = contact_step(world, NULL, error);
    for (int k = 1; good && k <= steps; k++) {
        turn_gravity(world, angle * k / steps);
        good = contact_step(world, NULL, error);
    }
    return good && sinew_world_set_damping(world, 0, error) == SINEW_OK;
}

static bool slope_watch(slide *r, sinew_world *world, sinew_body body, sinew_error *error)
{
    double centre[3], start = 0;
    bool good = true;
    for (int32_t k = 0; good && k <= r->steps; k++) {
        uint32_t bits = 0;
        good = (k == 0 || contact_step(world, &bits, error)) && contact_centre(world, body, centre, NULL);
        start = k == 0 ? centre[0] : start;
        r->path[k] = centre[0] - start;
        r->open += (bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_CONTACT)) != 0;
    }
    return good;
}

static bool take_slide(void *context, int32_t i)
{
    slide *r = (slide *)context + i;
    sinew_error error = {0};
    const contact_world_def def = {
        .kind = r->kind, .iterations = r->iterations, .friction = MU, .thickness = THICKNESS, .h = STEP};
    const contact_box box = {.cells = {r->cells, r->cells, r->cells},
                             .size = {LENGTH, LENGTH, LENGTH},
                             .centre = {0, LENGTH / 2 + THICKNESS, 0},
                             .young = 1e6};
    sinew_world *world = contact_world(&def, &error);
    r->path = calloc((size_t)r->steps + 1, sizeof *r->path);
    bool good = world && r->path;
    const sinew_body body = good ? contact_add_box(world, &box, &error) : (sinew_body){.index = -1};
    good = good && body.index >= 0 && contact_add_floor(world, &error).index >= 0;
    good =
        good && slope_approach(world, atan(MU * r->ratio), r->settling, &error) && slope_watch(r, world, body, &error);
    if (!good)
        snprintf(r->error, sizeof r->error, "%.255s", error.text[0] ? error.text : "out of memory");
    sinew_world_destroy(world);
    return good;
}

static const char *slide_failure(void *context, int32_t i)
{
    return ((const slide *)context)[i].error;
}

static double exact_acceleration(double ratio)
{
    const double angle = atan(MU * ratio);
    return CONTACT_G * (sin(angle) - MU * cos(angle));
}

/* Acceleration in m/s2 of the least-squares parabola through the block's path, by discrete Legendre polynomials. */
static double fitted_acceleration(const slide *r)
{
    const double n = r->steps, T = n * STEP;
    double above = 0, below = 0;
    for (int32_t k = 0; k <= r->steps; k++) {
        /* Discrete Legendre polynomial of degree 2, orthogonal to 1 and s over the steps. */
        const double s = 2 * k / n - 1, p = s * s - (n + 2) / (3 * n);
        above += p * r->path[k];
        below += p * p;
    }
    return 8 * above / (below * T * T);
}

/* ---- Claims about sticking and sliding --------------------------------------------------------- */

static const char *slow(sinew_solver_kind kind)
{
    return kind == SINEW_SOLVER_XPBD || kind == SINEW_SOLVER_PBD
               ? "sweeps over constraints end before friction and weight balance"
               : "the iterations end before friction and weight balance";
}

static claim_result slope_result(const slide *r, bool good)
{
    const bool printed = r->kind == SINEW_SOLVER_XPBD || r->kind == SINEW_SOLVER_PBD;
    return good ? HOLDS_YES : printed ? HOLDS_PARTLY : HOLDS_NO;
}

static void claim_angle(outcome *o, const slide *hold, const slide *sliding)
{
    char what[120], published[120];
    const double T = sliding->steps * STEP, a = exact_acceleration(sliding->ratio), far = a * T * T / 2;
    const double held = hold->path[hold->steps], slid = sliding->path[sliding->steps];
    snprintf(what, sizeof what, "%s, %d iterations: holds at tan = %.2f mu, slides at %.2f mu",
             contact_name(hold->kind), hold->iterations, hold->ratio, sliding->ratio);
    snprintf(published, sizeof published, "0 and at least %.1f mm in %g s", 1e3 * far, T);
    claim *c = outcome_claim(o, what, published);
    const bool good = fabs(held) < 1e-3 * LENGTH && slid > 0.8 * far;
    claim_measured(c, "%.2g mm and %.1f mm", 1e3 * held, 1e3 * slid);
    claim_holds(c, slope_result(hold, good), "%s", good ? "" : slow(hold->kind));
    outcome_number(o, held / LENGTH, "%s_held", contact_name(hold->kind));
    outcome_number(o, slid / far, "%s_slid", contact_name(hold->kind));
}

static void claim_fall(outcome *o, const slide *r)
{
    char what[120], published[120];
    const double exact = exact_acceleration(r->ratio), found = fitted_acceleration(r), off = 100 * (found / exact - 1);
    snprintf(what, sizeof what, "%s, %d iterations: acceleration at tan = %.2f mu, within 1 %%", contact_name(r->kind),
             r->iterations, r->ratio);
    snprintf(published, sizeof published, "%.5f m/s2", exact);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%.5f m/s2 (%+.2f %%)", found, off);
    claim_holds(c, slope_result(r, fabs(off) < 1), "%s", fabs(off) < 1 ? "" : slow(r->kind));
    outcome_number(o, off, "%s_acceleration_percent", contact_name(r->kind));
}

static void claim_long(outcome *o, const slide *r)
{
    char what[120];
    const double drift = fabs(r->path[r->steps] - r->path[SECOND]) / LENGTH;
    snprintf(what, sizeof what, "%s, its own iterations: drift in %d steps at tan = %.2f mu, after the first second",
             contact_name(r->kind), (int)r->steps, r->ratio);
    claim *c = outcome_claim(o, what, "none: below 1e-6 of the length");
    claim_measured(c, "%.1e of the length; %.1e in the first second; %d steps say that they are not solved", drift,
                   fabs(r->path[SECOND]) / LENGTH, (int)r->open);
    claim_holds(c, slope_result(r, drift < 1e-6), "%s", drift < 1e-6 ? "" : slow(r->kind));
    outcome_number(o, drift, "%s_drift", contact_name(r->kind));
}

static void slide_figure(outcome *o, const slide *slides)
{
    figure *f = outcome_figure(o, "slide", "The block at tan = 1.5 mu after gravity has turned", "s", "m");
    for (int k = 0; k < CONTACT_SOLVERS; k++) {
        const slide *r = &slides[CASES * k + CASE_FALL];
        if (!figure_series(f, contact_name(r->kind), r->kind, 0, r->steps + 1))
            return;
        for (int32_t i = 0; i <= r->steps; i++) {
            f->series[k].x[i] = i * STEP;
            f->series[k].y[i] = r->path[i];
        }
    }
}

/* ---- Runs of the block on the slope ------------------------------------------------------------ */

static slide slope_plan(bool quick, sinew_solver_kind kind, slope_case what)
{
    const double edge = kind == SINEW_SOLVER_PBNG ? 0.03 : 0.01;
    const double ratios[CASES] = {1 - edge, 1 + edge, 1.5, 1 - edge};
    slide r = {.kind = kind, .what = what, .cells = quick ? 2 : 4, .ratio = ratios[what]};
    const bool slow_starter = kind == SINEW_SOLVER_ADMM || kind == SINEW_SOLVER_PBNG;
    r.iterations = quick && !slow_starter ? CONVERGED_QUICK : CONVERGED;
    r.settling = quick ? SECOND / 2 : SECOND;
    r.steps = what == CASE_FALL ? SECOND / 2 : quick ? SECOND / 2 : SECOND;
    if (what == CASE_LONG) {
        r.cells = LONG_CELLS;
        r.iterations = sinew_get_solver_info(kind)->default_iterations;
        r.steps = quick ? 300 : 10000;
    }
    return r;
}

void experiment_slope(const setting *s, outcome *o)
{
    slide slides[CONTACT_SOLVERS * CASES];
    const side_by_side work = {take_slide, slide_failure, slides};
    for (int i = 0; i < CONTACT_SOLVERS * CASES; i++)
        slides[i] = slope_plan(s->quick, contact_solvers[i / CASES], (slope_case)(i % CASES));
    snprintf(o->setup, sizeof o->setup,
             "a cube of 0.2 m, %d^3 cells (%d^3 in long runs), 1e6 Pa, 8 kg; mu = 0.5, h = 1/60 s",
             (int)slides[0].cells, (int)LONG_CELLS);
    if (side_by_side_run(&work, CONTACT_SOLVERS * CASES, true, s, "slopes", o)) {
        for (int k = 0; k < CONTACT_SOLVERS; k++)
            claim_angle(o, &slides[CASES * k + CASE_HOLD], &slides[CASES * k + CASE_SLIDE]);
        for (int k = 0; k < CONTACT_SOLVERS; k++)
            claim_fall(o, &slides[CASES * k + CASE_FALL]);
        for (int k = 0; k < CONTACT_SOLVERS; k++)
            claim_long(o, &slides[CASES * k + CASE_LONG]);
        slide_figure(o, slides);
    }
    for (int i = 0; i < CONTACT_SOLVERS * CASES; i++)
        free(slides[i].path);
}
