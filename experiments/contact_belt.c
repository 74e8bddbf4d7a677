/* SPDX-License-Identifier: MIT
 *
 * contact_belt.c: a rope over half of a fixed cylinder. While it slips, the ratio of its two tensions is e^(mu pi)
 * (Euler 1769, Eytelwein 1808), for any radius.
 *
 * The rope is a chain of springs without weight. A spring holds its left end; a pin draws its right end down slowly.
 * First the rope sticks and stretches, then it slips, and both tensions rise in proportion. Tensions are those of the
 * outermost springs. A chain of n sides has ((1 + mu t) / (1 - mu t))^n, t = tan(pi / 2n), which is e^(mu pi) to 1e-4.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contact_scene.h"
#include "side_by_side.h"

#define PI        3.14159265358979323846
#define RADIUS    0.1 /* radius of the cylinder, in m */
#define THICKNESS 1e-3
#define EA        2000.0 /* axial stiffness of the rope, force over strain, in N */
#define HOLD      200.0  /* stiffness of the spring at the rope's left end, in N/m */
#define PULL      0.04   /* total displacement of the rope's right end, in m */
#define LOAD      0.1    /* mass of the rope per length, in kg/m */
#define DAMPING   5.0    /* damping rate of the world, in 1/s */

enum {
    SIDES = 32,   /* number of springs along the half turn of the rope */
    STRAIGHT = 8, /* number of springs of each straight end of the rope */
    POINTS = SIDES + 2 * STRAIGHT + 1,
    FRICTIONS = 2
};
static const double frictions[FRICTIONS] = {0.2, 0.4};

typedef struct belt {
    sinew_solver_kind kind;
    double mu;
    int32_t iterations, steps;
    double *low, *high; /* [steps] tensions of the left and of the right end of the rope, in N */
    char error[256];
} belt;

/* Computes point i of the rope: up on the left, over the cylinder, down on the right. */
static void rope_point(int i, sinew_real x[3])
{
    const double R = RADIUS + THICKNESS, side = PI * R / SIDES, angle = PI - PI * (i - STRAIGHT) / SIDES;
    const int below = i < STRAIGHT ? STRAIGHT - i : i > STRAIGHT + SIDES ? i - STRAIGHT - SIDES : 0;
    const double on = below ? (i < STRAIGHT ? PI : 0) : angle;
    x[0] = (sinew_real)(R * cos(on));
    x[1] = (sinew_real)(R * sin(on) - side * below);
    x[2] = 0;
}

static sinew_mesh *rope_mesh(sinew_error *error)
{
    sinew_real x[3 * POINTS];
    int32_t edges[2 * (POINTS - 1)];
    for (int i = 0; i < POINTS; i++)
        rope_point(i, x + 3 * i);
    for (int i = 0; i + 1 < POINTS; i++) {
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = POINTS;
    def.positions = x;
    def.edge_count = POINTS - 1;
    def.edges = edges;
    return sinew_mesh_create(&def, error);
}

static double belt_edge_stiffness(void)
{
    return EA / (PI * (RADIUS + THICKNESS) / SIDES);
}

/* Adds the rope, its springs, the spring at its left end and the pin that moves its right end. */
static bool add_rope(const belt *b, sinew_world *world, sinew_error *error)
{
    const int32_t ends[2] = {0, POINTS - 1};
    const double time = b->steps * (double)sinew_world_time_step(world);
    sinew_key keys[2] = {{.time = 0}, {.time = (sinew_real)time, .translation = {0, (sinew_real)-PULL, 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_mesh *mesh = rope_mesh(error);
    if (!mesh)
        return false;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = (sinew_real)LOAD;
    const sinew_body body = sinew_world_add_body(world, &def, error);
    sinew_mesh_destroy(mesh);
    sinew_energy_def springs = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    springs.body = body;
    springs.parameters[0] = (sinew_real)belt_edge_stiffness();
    sinew_energy_def hold = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    hold.body = body;
    hold.elements = &ends[0];
    hold.element_count = 1;
    hold.parameters[0] = (sinew_real)HOLD;
    sinew_pin_def pull = sinew_default_pin_def();
    pull.body = body;
    pull.vertices = &ends[1];
    pull.vertex_count = 1;
    pull.motion = &motion;
    return body.index >= 0 && sinew_world_add_energy(world, &springs, error).index >= 0 &&
           sinew_world_add_energy(world, &hold, error).index >= 0 &&
           sinew_world_add_pins(world, &pull, error).index >= 0;
}

/* Adds the cylinder as a capsule; the rope is near the straight part of the capsule only. */
static bool add_cylinder(sinew_world *world, sinew_error *error)
{
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_CAPSULE);
    def.radius = (sinew_real)RADIUS;
    def.size[1] = (sinew_real)0.1;
    def.rotation[0] = (sinew_real)(PI / 2);
    return sinew_world_add_collider(world, &def, error).index >= 0;
}

/* Tension in N of the rope's spring between points i and i + 1. */
static double tension(const sinew_world *world, int i)
{
    sinew_real now[6], rest[6];
    double length[2] = {0};
    sinew_world_get_positions(world, i, 2, now);
    rope_point(i, rest);
    rope_point(i + 1, rest + 3);
    for (int c = 0; c < 3; c++) {
        length[0] += pow((double)rest[3 + c] - (double)rest[c], 2);
        length[1] += pow((double)now[3 + c] - (double)now[c], 2);
    }
    return belt_edge_stiffness() * (sqrt(length[1]) - sqrt(length[0]));
}

static bool take_belt(void *context, int32_t i)
{
    belt *b = (belt *)context + i;
    sinew_error error = {0};
    const contact_world_def def = {
        .kind = b->kind, .iterations = b->iterations, .friction = b->mu, .thickness = THICKNESS, .weightless = true};
    sinew_world *world = contact_world(&def, &error);
    b->low = calloc(2 * (size_t)b->steps, sizeof *b->low);
    b->high = b->low ? b->low + b->steps : NULL;
    bool good = world && b->low && add_cylinder(world, &error) && add_rope(b, world, &error) &&
                sinew_world_set_damping(world, (sinew_real)DAMPING, &error) == SINEW_OK;
    for (int32_t k = 0; good && k < b->steps; k++) {
        good = contact_step(world, NULL, &error);
        b->low[k] = tension(world, 0);
        b->high[k] = tension(world, POINTS - 2);
    }
    if (!good)
        snprintf(b->error, sizeof b->error, "%.255s", error.text[0] ? error.text : "out of memory");
    sinew_world_destroy(world);
    return good;
}

static const char *belt_failure(void *context, int32_t i)
{
    return ((const belt *)context)[i].error;
}

/* Ratio of the mean tensions of both ends over the last third of the run, when the rope slips. */
static double ratio_of(const belt *b)
{
    double low = 0, high = 0;
    for (int32_t k = 2 * b->steps / 3; k < b->steps; k++) {
        low += b->low[k];
        high += b->high[k];
    }
    return high / low;
}

static void claim_belt(outcome *o, const belt *b)
{
    char what[120], published[120];
    const bool printed = b->kind == SINEW_SOLVER_XPBD || b->kind == SINEW_SOLVER_PBD;
    const double exact = exp(b->mu * PI), found = ratio_of(b), off = 100 * (found / exact - 1);
    snprintf(what, sizeof what, "%s, %d iterations, mu = %.1f: ratio of the tensions while it slips, within 3 %%",
             contact_name(b->kind), (int)b->iterations, b->mu);
    snprintf(published, sizeof published, "e^(mu pi) = %.4f", exact);
    claim *c = outcome_claim(o, what, published);
    claim_measured(c, "%.4f (%+.2f %%): %.2f N and %.2f N at last", found, off, b->high[b->steps - 1],
                   b->low[b->steps - 1]);
    const bool good = fabs(off) < 3;
    claim_holds(c,
                good      ? HOLDS_YES
                : printed ? HOLDS_PARTLY
                          : HOLDS_NO,
                "%s", good ? "" : "the iterations end before tensions have spread along the rope");
    outcome_number(o, off, "%s_%g_percent", contact_name(b->kind), b->mu);
}

static void ratio_figure(outcome *o, const belt *belts)
{
    figure *f = outcome_figure(o, "tensions", "Ratio of the tensions, mu = 0.4", "m drawn", "tension right over left");
    for (int k = 0; k < CONTACT_SOLVERS; k++) {
        const belt *b = &belts[FRICTIONS * k + 1];
        const int32_t first = b->steps / 6;
        if (!figure_series(f, contact_name(b->kind), b->kind, 0, b->steps - first))
            return;
        for (int32_t i = first; i < b->steps; i++) {
            f->series[k].x[i - first] = PULL * (i + 1) / b->steps;
            f->series[k].y[i - first] = fmin(10, fmax(0, b->high[i] / fmax(b->low[i], 1e-3)));
        }
    }
}

/* Number of iterations of a step; admm and pbng need more than the other solvers. */
static int32_t enough(bool quick, sinew_solver_kind kind)
{
    const bool slow = kind == SINEW_SOLVER_ADMM || kind == SINEW_SOLVER_PBNG;
    return quick && !slow ? 60 : 400;
}

void experiment_belt(const setting *s, outcome *o)
{
    belt belts[CONTACT_SOLVERS * FRICTIONS];
    for (int i = 0; i < CONTACT_SOLVERS * FRICTIONS; i++)
        belts[i] = (belt){.kind = contact_solvers[i / FRICTIONS],
                          .mu = frictions[i % FRICTIONS],
                          .iterations = enough(s->quick, contact_solvers[i / FRICTIONS]),
                          .steps = s->quick ? 120 : 600};
    snprintf(o->setup, sizeof o->setup, "a rope of %d springs, EA = %g N, over a cylinder of %g m, %d of them touch",
             POINTS - 1, EA, RADIUS, SIDES);
    const side_by_side work = {take_belt, belt_failure, belts};
    if (side_by_side_run(&work, CONTACT_SOLVERS * FRICTIONS, true, s, "belts", o)) {
        for (int i = 0; i < CONTACT_SOLVERS * FRICTIONS; i++)
            claim_belt(o, &belts[i]);
        ratio_figure(o, belts);
    }
    for (int i = 0; i < CONTACT_SOLVERS * FRICTIONS; i++)
        free(belts[i].low);
}
