/* SPDX-License-Identifier: MIT
 *
 * contact_rebound.c: impacts against closed-form results: a particle rebounds to e^2 of its height, two free bodies
 * keep their linear momentum, and their angular momentum changes by the amount of implicit Euler and the printed
 * couples.
 *
 *     L' = L + h sum m v' x v + couples        v' the velocity of the step, v the one before
 *
 * since m (v' - v) = h f(x') and x' = x + h v'. Elastic forces have no net couple. A contact force acts along the
 * normal of the last detection pass; it has a couple if this normal is not parallel to the line between its two ends.
 * Implicit Euler falls v h / 2 below the parabola at the end of a flight, so the time step is short.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contact_scene.h"
#include "side_by_side.h"

#define HEIGHT    1.0  /* height of the particle's fall, in m */
#define FALL_STEP 1e-4 /* time step of the falling particle, in s */
#define HIT_STEP  1e-3
#define THICKNESS 1e-3

enum {
    BOUNCES = 4,
    FALL_STEPS = 10000,
    HIT_STEPS = 60,
    HIT_ITERATIONS = 400,
    /* Maximum number of detection passes, enough that no vertex is truncated at the end of a step. */
    HIT_DETECTIONS = 1000
};
static const double restitutions[BOUNCES] = {0.2, 0.5, 0.8, 1};

/* ---- Rebound of a particle -------------------------------------------------------------------- */

typedef struct drop {
    sinew_solver_kind kind;
    double restitution, height; /* coefficient of restitution; height of the first rebound as a fraction of the fall */
    char error[256];
} drop;

static sinew_body add_particle(sinew_world *world, double height, sinew_error *error)
{
    const sinew_real position[3] = {0, (sinew_real)height, 0}, mass = 1;
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 1;
    def.positions = position;
    sinew_body body = {.index = -1};
    sinew_mesh *mesh = sinew_mesh_create(&def, error);
    if (!mesh)
        return body;
    sinew_body_def particle = sinew_default_body_def();
    particle.mesh = mesh;
    particle.masses = &mass;
    body = sinew_world_add_body(world, &particle, error);
    sinew_mesh_destroy(mesh);
    return body;
}

/* Steps the world until the particle falls again after its rebound. */
static bool bounce(drop *d, sinew_world *world, sinew_error *error)
{
    bool rises = false;
    for (int k = 0; k < FALL_STEPS; k++) {
        sinew_real x[3], v[3];
        if (!contact_step(world, NULL, error))
            return false;
        sinew_world_get_positions(world, 0, 1, x);
        sinew_world_get_velocities(world, 0, 1, v);
        if (rises && v[1] < 0)
            return true;
        rises = rises || v[1] > 0;
        d->height = rises ? ((double)x[1] - THICKNESS) / HEIGHT : 0;
    }
    return true;
}

static bool take_drop(void *context, int32_t i)
{
    drop *d = (drop *)context + i;
    sinew_error error = {0};
    const contact_world_def def = {
        .kind = d->kind, .h = FALL_STEP, .restitution = d->restitution, .thickness = THICKNESS};
    sinew_world *world = contact_world(&def, &error);
    const bool good = world && add_particle(world, HEIGHT + THICKNESS, &error).index >= 0 &&
                      contact_add_floor(world, &error).index >= 0 && bounce(d, world, &error);
    if (!good)
        snprintf(d->error, sizeof d->error, "%.255s", error.text[0] ? error.text : "out of memory");
    sinew_world_destroy(world);
    return good;
}

static const char *drop_failure(void *context, int32_t i)
{
    return ((const drop *)context)[i].error;
}

/* Adds one claim for each coefficient of restitution, with all solvers side by side. */
static void rebound_claim_bounce(outcome *o, const drop *drops, int solvers, int b)
{
    char what[120], published[120], text[240] = "";
    const double exact = restitutions[b] * restitutions[b];
    double worst = 0;
    for (int k = 0; k < solvers; k++) {
        const double off = 100 * (drops[BOUNCES * k + b].height / exact - 1);
        const size_t length = strlen(text);
        worst = fmax(worst, fabs(off));
        snprintf(text + length, sizeof text - length, "%s%s %+.2f %%", k ? ", " : "", contact_name(contact_solvers[k]),
                 off);
    }
    snprintf(what, sizeof what, "a particle with e = %.1f rebounds, within 1 %%", restitutions[b]);
    snprintf(published, sizeof published, "e^2 = %.2f of the height", exact);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%s", text);
    claim_holds(c, worst < 1 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, worst, "rebound_%g_percent", restitutions[b]);
}

/* ---- Impact of two bodies --------------------------------------------------------------------- */

typedef struct hit {
    sinew_solver_kind kind;
    double restitution;
    /* Largest unexplained change of linear and angular momentum in a step, over sum m |v| and over sum m |x||v|. */
    double linear, angular;
    int32_t bore, open; /* number of steps with contact; number of unsolved ones among them, which are not judged */
    char error[256];
} hit;

/* State of all particles of the two bodies. */
typedef struct snapshot {
    int32_t count;
    /* Positions [3 * count] in m, velocities [3 * count] in m/s, masses [count] in kg. */
    sinew_real *x, *v, *m;
} snapshot;

static bool take_snapshot(const sinew_world *world, snapshot *s)
{
    s->count = sinew_world_particle_count(world);
    const size_t n = (size_t)s->count;
    if (!s->x)
        s->x = malloc(7 * n * sizeof *s->x);
    if (!s->x)
        return false;
    s->v = s->x + 3 * n;
    s->m = s->v + 3 * n;
    sinew_world_get_positions(world, 0, s->count, s->x);
    sinew_world_get_velocities(world, 0, s->count, s->v);
    return sinew_world_get_masses(world, 0, s->count, s->m) == SINEW_OK;
}

static void rebound_add_cross(const sinew_real *a, const sinew_real *b, double factor, double sum[3])
{
    for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        sum[c] += factor * ((double)a[d] * (double)b[e] - (double)a[e] * (double)b[d]);
    }
}

/* Subtracts from the change of momenta in a step the part that forces and couples explain. Stores the largest
 * remainder, as fractions of both momenta. */
static void compare(hit *r, const snapshot *was, const snapshot *is, const double couple[3])
{
    double linear[3] = {0}, angular[3] = {-couple[0], -couple[1], -couple[2]}, size[2] = {0};
    for (size_t i = 0; i < (size_t)is->count; i++) {
        const double m = (double)is->m[i];
        const sinew_real *x = is->x + 3 * i, *v = is->v + 3 * i, *x0 = was->x + 3 * i, *v0 = was->v + 3 * i;
        double speed = 0, far = 0;
        /* Displacement h v' of a particle, taken from positions because restitution changes v after the step. */
        sinew_real way[3];
        for (int c = 0; c < 3; c++) {
            linear[c] += m * ((double)v[c] - (double)v0[c]);
            speed += (double)v0[c] * (double)v0[c];
            far += (double)x0[c] * (double)x0[c];
            way[c] = x[c] - x0[c];
        }
        size[0] += m * sqrt(speed);
        size[1] += m * sqrt(speed * far);
        rebound_add_cross(x, v, m, angular);
        rebound_add_cross(x0, v0, -m, angular);
        rebound_add_cross(way, v0, -m, angular);
    }
    r->linear = fmax(r->linear, length3(linear) / size[0]);
    r->angular = fmax(r->angular, length3(angular) / size[1]);
}

static bool rebound_watch(hit *r, sinew_world *world, sinew_error *error)
{
    snapshot was = {0}, is = {0};
    bool good = true;
    for (int k = 0; good && k < HIT_STEPS; k++) {
        sinew_contact_report report;
        uint32_t bits;
        good = take_snapshot(world, &was) && contact_step(world, &bits, error) && take_snapshot(world, &is) &&
               sinew_world_contact_report(world, &report, error) == SINEW_OK;
        if (!good)
            break;
        r->bore += report.contacts > 0;
        const bool open = bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_TRUNCATED);
        r->open += open;
        if (!open)
            compare(r, &was, &is, report.angular_momentum_error);
    }
    free(was.x);
    free(is.x);
    return good;
}

static bool take_hit(void *context, int32_t i)
{
    hit *r = (hit *)context + i;
    sinew_error error = {0};
    const contact_world_def def = {.kind = r->kind,
                                   .iterations = HIT_ITERATIONS,
                                   .h = HIT_STEP,
                                   .tolerance = sizeof(sinew_real) == 4 ? 0 : 1e-11,
                                   .friction = 0.4,
                                   .restitution = r->restitution,
                                   .thickness = THICKNESS,
                                   .detections = HIT_DETECTIONS,
                                   .weightless = true};
    const contact_box left = {
        .cells = {2, 2, 2}, .size = {0.2, 0.2, 0.2}, .centre = {-0.11, 0, 0}, .velocity = {2, 0, 0}, .young = 1e5};
    const contact_box right = {.cells = {2, 2, 2},
                               .size = {0.2, 0.2, 0.2},
                               .centre = {0.13, 0.07, 0.03},
                               .velocity = {-1, 0, 0.2},
                               .turn = {0.2, 0.1},
                               .young = 1e5};
    sinew_world *world = contact_world(&def, &error);
    const bool good = world && contact_add_box(world, &left, &error).index >= 0 &&
                      contact_add_box(world, &right, &error).index >= 0 && rebound_watch(r, world, &error);
    if (!good)
        snprintf(r->error, sizeof r->error, "%.255s", error.text[0] ? error.text : "out of memory");
    sinew_world_destroy(world);
    return good;
}

static const char *hit_failure(void *context, int32_t i)
{
    return ((const hit *)context)[i].error;
}

static void claim_hit(outcome *o, const hit *r)
{
    const bool single = sizeof(sinew_real) == 4;
    const double min = single ? 1e-5 : 1e-10, turning = single ? 1e-4 : 1e-8;
    const bool kept = r->linear < min && r->angular < turning;
    char what[120];
    snprintf(what, sizeof what, "two cubes collide, %s%s: linear; angular momentum in solved steps",
             contact_name(r->kind), r->restitution > 0 ? ", e = 0.5" : "");
    claim *c = outcome_claim(o, what, single ? "kept to 1e-5; to 1e-4" : "kept to 1e-10; to 1e-8");
    claim_measured(c, "%.1e; %.1e; %d steps bore a force; %d of %d are not solved, and say so", r->linear, r->angular,
                   (int)r->bore, (int)r->open, HIT_STEPS);
    claim_holds(c,
                !kept || r->bore == 0   ? HOLDS_NO
                : 2 * r->open > r->bore ? HOLDS_PARTLY
                                        : HOLDS_YES,
                "%s", 2 * r->open > r->bore ? "iterations end before most steps are solved" : "");
    outcome_number(o, r->linear, "%s_linear%s", contact_name(r->kind), r->restitution > 0 ? "_e" : "");
    outcome_number(o, r->open, "%s_open%s", contact_name(r->kind), r->restitution > 0 ? "_e" : "");
    outcome_number(o, r->angular, "%s_angular%s", contact_name(r->kind), r->restitution > 0 ? "_e" : "");
}

/* ---- Runs and figures of the impacts ---------------------------------------------------------- */

static void bounce_figure(outcome *o, const drop *drops, int solvers)
{
    figure *f = outcome_figure(o, "rebound", "Height of the rebound", "coefficient of restitution", "part of the fall");
    for (int k = 0; k < solvers; k++) {
        if (!figure_series(f, contact_name(contact_solvers[k]), contact_solvers[k], 0, BOUNCES))
            return;
        for (int b = 0; b < BOUNCES; b++) {
            f->series[k].x[b] = restitutions[b];
            f->series[k].y[b] = drops[BOUNCES * k + b].height;
        }
    }
}

void experiment_rebound(const setting *s, outcome *o)
{
    drop drops[CONTACT_SOLVERS * BOUNCES];
    hit hits[2 * CONTACT_SOLVERS] = {0};
    const int32_t solvers = s->quick ? 1 : CONTACT_SOLVERS, hit_count = s->quick ? 2 : 2 * CONTACT_SOLVERS;
    for (int i = 0; i < CONTACT_SOLVERS * BOUNCES; i++)
        drops[i] = (drop){.kind = contact_solvers[i / BOUNCES], .restitution = restitutions[i % BOUNCES]};
    for (int i = 0; i < 2 * CONTACT_SOLVERS; i++)
        hits[i] = (hit){.kind = contact_solvers[i / 2], .restitution = 0.5 * (i % 2)};
    snprintf(o->setup, sizeof o->setup,
             "a particle from 1 m, h = %g s; cubes of 0.2 m, 8 kg, 1e5 Pa at 3 m/s, mu = 0.4, h = %g s, %d iterations",
             FALL_STEP, HIT_STEP, HIT_ITERATIONS);
    const side_by_side fall = {take_drop, drop_failure, drops}, meet = {take_hit, hit_failure, hits};
    if (!side_by_side_run(&fall, solvers * BOUNCES, true, s, "particles", o) ||
        !side_by_side_run(&meet, hit_count, true, s, "collisions", o))
        return;
    for (int b = 0; b < BOUNCES; b++)
        rebound_claim_bounce(o, drops, solvers, b);
    for (int i = 0; i < hit_count; i++)
        claim_hit(o, &hits[i]);
    bounce_figure(o, drops, solvers);
}
