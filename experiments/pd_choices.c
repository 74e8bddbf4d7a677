/* SPDX-License-Identifier: MIT
 *
 * pd_choices.c: Projective Dynamics sections 8 and 9: lumped or consistent masses, and weights that grow until soft
 * boundaries and collisions act as hard ones.
 *
 * Masses: the lowest frequencies about rest of a bar of 1 x 0.2 x 0.2 m, pinned on the left. Boundaries: the same bar
 * starts level and falls for half a second, held by positions of growing weight, or pinned. Collisions: a cube slides
 * without friction over a floor of half spaces of growing weight, or in free flight.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contact_scene.h"
#include "modes.h"

#define YOUNG   1e6 /* Young's modulus of bar and cube, in Pa */
#define DENSITY 1000.0
#define SPEED   1.0 /* initial speed of the sliding cube, in m/s */
#define STEP    (1.0 / 60)

enum {
    MODES = 6,
    MESHES = 3,
    WEIGHTS = 5,
    STEPS = 30,
    ITERATIONS = 10 /* number of iterations per step, as in the paper */
};
/* Weights of soft boundaries and collisions, in N/m of one vertex. */
static const double weights[WEIGHTS] = {1e3, 1e5, 1e7, 1e9, 1e12};

static void pd_choices_fail(outcome *o, const sinew_error *error)
{
    snprintf(o->failure, sizeof o->failure, "%.255s", error->text[0] ? error->text : "out of memory");
}

/* Lists the vertices at the left end of a mesh about the origin, and marks the others as free. */
static int32_t left_end(const sinew_mesh *mesh, double length, int32_t *held, uint8_t *free_vertices)
{
    int32_t count = 0;
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++) {
        const bool left = (double)sinew_mesh_positions(mesh)[3 * i] < -0.499 * length;
        if (left && held)
            held[count] = i;
        if (free_vertices)
            free_vertices[i] = !left;
        count += left;
    }
    return count;
}

/* ---- Lumped and consistent masses ------------------------------------------------------------- */

/* Computes the lowest angular frequencies in rad/s of a bar that is `cells` cells thick, for both kinds of masses. */
static bool frequencies(int32_t cells, double omega[2][MODES], outcome *o)
{
    sinew_error error = {0};
    sinew_world *world = contact_world(&(contact_world_def){.kind = SINEW_SOLVER_PD, .weightless = true}, &error);
    const contact_box box = {
        .cells = {4 * cells, cells, cells}, .size = {1, 0.2, 0.2}, .young = YOUNG, .density = DENSITY};
    const sinew_body body = world ? contact_add_box(world, &box, &error) : (sinew_body){.index = -1};
    const sinew_mesh *mesh = body.index >= 0 ? sinew_body_mesh(world, body) : NULL;
    uint8_t *free_vertices = mesh ? malloc((size_t)sinew_mesh_vertex_count(mesh)) : NULL;
    bool good = free_vertices != NULL;
    if (good)
        left_end(mesh, 1, NULL, free_vertices);
    for (int k = 0; good && k < 2; k++)
        good = modes_find(world, mesh, free_vertices, DENSITY, k == 1, MODES, omega[k]);
    if (!good)
        pd_choices_fail(o, &error);
    free(free_vertices);
    sinew_world_destroy(world);
    return good;
}

static void claim_masses(const setting *s, outcome *o)
{
    char text[200];
    int used = 0;
    double first = 0, max = 0;
    figure *f = outcome_figure(o, "frequencies", "Lowest frequencies of a bar, finest mesh", "mode", "rad/s");
    for (int i = 0; i < MESHES - s->quick; i++) {
        double omega[2][MODES];
        if (!frequencies(i + 1, omega, o))
            return;
        first = omega[1][0] / omega[0][0] - 1;
        max = 0;
        for (int k = 0; k < MODES; k++)
            max = fmax(max, fabs(omega[1][k] / omega[0][k] - 1));
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%.2f and %.1f %%", i ? ", " : "", 100 * first,
                         100 * max);
        outcome_number(o, first, "mass_first_%d", i);
        outcome_number(o, max, "mass_most_%d", i);
        for (int k = 0; i == MESHES - 1 - s->quick && k < 2; k++)
            if (figure_series(f, k ? "consistent" : "lumped", SINEW_SOLVER_PD, k, MODES))
                for (int j = 0; j < MODES; j++) {
                    f->series[k].x[j] = j + 1;
                    f->series[k].y[j] = omega[k][j];
                }
    }
    claim *c = outcome_claim(o, "masses: consistent or lumped (section 8)", "without noticeable difference");
    claim_measured(c, "consistent above lumped, lowest and most of six frequencies, 1, 2, 3 cells thick: %s", text);
    claim_holds(c, fabs(first) < 0.02 ? (max < 0.05 ? HOLDS_YES : HOLDS_PARTLY) : HOLDS_NO, "%s",
                max < 0.05 ? "" : "it is the mesh that decides: the difference falls as it gets finer");
}

/* ---- Soft and hard boundaries ----------------------------------------------------------------- */

static bool hold_left(sinew_world *world, sinew_body body, double weight, sinew_error *error)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    int32_t *held = malloc((size_t)sinew_mesh_vertex_count(mesh) * sizeof *held);
    if (!held)
        return false;
    const int32_t count = left_end(mesh, 1, held, NULL);
    bool good;
    if (weight > 0) {
        sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_POSITION);
        def.body = body;
        def.elements = held;
        def.element_count = count;
        def.parameters[sinew_energy_parameter(def.kind, "stiffness")] = (sinew_real)weight;
        good = sinew_world_add_energy(world, &def, error).index >= 0;
    } else {
        sinew_pin_def def = sinew_default_pin_def();
        def.body = body;
        def.vertices = held;
        def.vertex_count = count;
        good = sinew_world_add_pins(world, &def, error).index >= 0;
    }
    free(held);
    return good;
}

/* If `good`, steps the world and computes the body's centre of mass. Destroys the world in any case. */
static bool pd_choices_finish(sinew_world *world, bool good, int32_t steps, sinew_body body, double centre[3],
                              sinew_error *error, outcome *o)
{
    for (int32_t k = 0; good && k < steps; k++)
        good = contact_step(world, NULL, error);
    good = good && contact_centre(world, body, centre, NULL);
    if (!good)
        pd_choices_fail(o, error);
    sinew_world_destroy(world);
    return good;
}

/* Computes the distance in m that the bar's centre of mass falls; weight 0: pinned. */
static bool pd_choices_fall(double weight, int32_t iterations, double *fallen, outcome *o)
{
    sinew_error error = {0};
    const contact_box box = {.cells = {8, 2, 2}, .size = {1, 0.2, 0.2}, .young = YOUNG, .density = DENSITY};
    sinew_world *world =
        contact_world(&(contact_world_def){.kind = SINEW_SOLVER_PD, .iterations = iterations, .h = STEP}, &error);
    const sinew_body body = world ? contact_add_box(world, &box, &error) : (sinew_body){.index = -1};
    double centre[3] = {0};
    bool good = body.index >= 0 && hold_left(world, body, weight, &error);
    good = pd_choices_finish(world, good, STEPS / 3, body, centre, &error, o);
    *fallen = -centre[1];
    return good;
}

static void claim_boundaries(outcome *o)
{
    double pinned, fallen[WEIGHTS];
    if (!pd_choices_fall(0, ITERATIONS, &pinned, o))
        return;
    for (int i = 0; i < WEIGHTS; i++) {
        if (!pd_choices_fall(weights[i], ITERATIONS, &fallen[i], o))
            return;
        fallen[i] /= pinned;
        outcome_number(o, fallen[i], "boundary_%d", i);
    }
    claim *c = outcome_claim(o, "soft boundaries of high weight lock (section 9)", "can result in locking artifacts");
    claim_measured(c,
                   "fall of a bar held by weights of 1e3, 1e5, 1e7, 1e9, 1e12 N/m, over that of a pinned one, %d "
                   "iterations a step: %.4f, %.4f, %.4f, %.4f, %.4f",
                   ITERATIONS, fallen[0], fallen[1], fallen[2], fallen[3], fallen[4]);
    const bool locks = fallen[WEIGHTS - 1] < 0.9;
    claim_holds(c, locks ? HOLDS_YES : HOLDS_NO, "%s",
                locks ? ""
                      : "positions are linear: the global step solves them whatever they weigh, and pins take "
                        "them out of the unknowns. Sets that turn do lock: pd/mixed");
}

/* ---- Soft and hard collisions ----------------------------------------------------------------- */

typedef struct slide {
    double way, depth; /* displacement of the cube along the floor, and depth below its rest height, in m */
} slide;

/* Slides a cube over the floor for half a second; weight 0: free flight without gravity. */
static bool slide_along(double weight, slide *r, outcome *o)
{
    sinew_error error = {0};
    const bool free_flight = weight == 0;
    const contact_box box = {.cells = {3, 3, 3},
                             .size = {0.2, 0.2, 0.2},
                             .centre = {0, free_flight ? 10 : 0.101, 0},
                             .velocity = {SPEED, 0, 0},
                             .young = YOUNG,
                             .density = DENSITY};
    sinew_world *world = contact_world(
        &(contact_world_def){
            .kind = SINEW_SOLVER_PD, .iterations = ITERATIONS, .h = STEP, .weightless = free_flight, .thickness = 1e-3},
        &error);
    const sinew_body body = world ? contact_add_box(world, &box, &error) : (sinew_body){.index = -1};
    double centre[3] = {0};
    bool good = body.index >= 0 && contact_add_floor(world, &error).index >= 0;
    if (good) {
        sinew_contact_def contact = sinew_world_contact(world);
        contact.mode = SINEW_CONTACT_HALF_SPACE;
        contact.penalty = (sinew_real)(free_flight ? 1 : weight);
        good = sinew_world_set_contact(world, &contact, &error) == SINEW_OK;
    }
    good = pd_choices_finish(world, good, STEPS, body, centre, &error, o);
    *r = (slide){centre[0], 0.1 - centre[1]};
    return good;
}

static void claim_collisions(outcome *o)
{
    slide unheld, r[WEIGHTS];
    if (!slide_along(0, &unheld, o))
        return;
    double worst = 1;
    for (int i = 0; i < WEIGHTS; i++) {
        if (!slide_along(weights[i], &r[i], o))
            return;
        worst = fmin(worst, r[i].way / unheld.way);
        outcome_number(o, r[i].way / unheld.way, "slide_%d", i);
        outcome_number(o, r[i].depth, "depth_%d", i);
    }
    claim *c = outcome_claim(o, "soft collisions of high weight lock (section 9)", "can result in locking artifacts");
    claim_measured(c,
                   "way of a cube over a smooth floor of half spaces of 1e3, 1e5, 1e7, 1e9, 1e12 N/m, over that of a "
                   "free one: %.3f, %.3f, %.3f, %.3f, %.3f",
                   r[0].way / unheld.way, r[1].way / unheld.way, r[2].way / unheld.way, r[3].way / unheld.way,
                   r[4].way / unheld.way);
    claim_holds(c, worst < 0.9 ? HOLDS_YES : HOLDS_NO, "%s",
                worst < 0.9 ? ""
                            : "contacts stand beside the factor with their normals alone; in it, as A = B = 1, they "
                              "would hold what may slide");
}

void experiment_pd_choices(const setting *s, outcome *o)
{
    snprintf(o->setup, sizeof o->setup,
             "Bars of 1 x 0.2 x 0.2 m and a cube of 0.2 m, strain of 1e6 Pa, 1000 kg/m3; pd, %d iterations.",
             ITERATIONS);
    claim_masses(s, o);
    if (!*o->failure)
        claim_boundaries(o);
    if (!*o->failure)
        claim_collisions(o);
}
