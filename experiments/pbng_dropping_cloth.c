/* SPDX-License-Identifier: MIT
 *
 * pbng_dropping_cloth.c: PBNG fig 16: 20 bodies fall onto a cloth that is held at its corners; after 3.33 s one end of
 * the cloth is released, and all bodies slide into a glass box: contact between cloth and solids.
 *
 * Simple shapes of 0.2 m in place of armadillos, 1e3 Pa, 10 kg/m3; the cloth 1.5 m x 1.5 m, 10 kg/m2, 1e4 N/m, bending
 * 0.05 N m at each edge, self-contact included; steps of 4 ms, 40 iterations. The published run has 344K particles;
 * this one has fewer. Contact is `augmented`, without friction as published.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

#define STEP      0.004 /* time step of cloth and bodies, in s */
#define SIDE      1.5   /* side length of the cloth, in m */
#define HEIGHT    1.2   /* height of the cloth's corners, in m */
#define SIZE      0.2   /* diameter of a falling body, in m */
#define PITCH     0.22
#define THICKNESS 4e-3 /* contact thickness of cloth and bodies, in m */
#define LANDED    0.6  /* height in m below which the centre of a body that has left the cloth lies */

enum {
    COLUMNS = 4
};

typedef struct run {
    /* Number of bodies; vertices per body; vertices along the cloth's side; steps; step of the release; iterations per
     * step. */
    int32_t bodies, vertices, side, steps, release, iterations;
    touch_log log;
    sinew_pin corners[2]; /* pins of the cloth's end that stays and of the end that is released */
    int32_t particle_count, tet_count;
    /* Number of bodies on the cloth at the release; number of bodies in the box at the end. */
    int32_t on_cloth, in_box;
} run;

/* Adds the horizontal cloth to the world. index -1 on failure. */
static sinew_body dropping_cloth_add_cloth(sinew_world *world, const run *r, sinew_error *error)
{
    sinew_body body = {.index = -1};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = r->side;
    def.size[0] = def.size[1] = (sinew_real)SIDE;
    def.diagonals = SINEW_DIAGONALS_ALTERNATING;
    sinew_mesh *sheet = sinew_mesh_cloth(&def, error);
    const int32_t n = sheet ? sinew_mesh_vertex_count(sheet) : 0;
    sinew_real *x = malloc(3 * ((size_t)n + 1) * sizeof *x);
    for (int32_t i = 0; x && i < n; i++) {
        const sinew_real *from = sinew_mesh_positions(sheet) + 3 * (size_t)i;
        x[3 * i] = from[0] - (sinew_real)(SIDE / 2);
        x[3 * i + 1] = (sinew_real)HEIGHT;
        x[3 * i + 2] = (sinew_real)(SIDE / 2) - from[1];
    }
    sinew_mesh *level = x && sheet ? sinew_mesh_moved(sheet, x, error) : NULL;
    const touch_solid solid = {.mesh = level, .density = 10};
    if (level)
        body = touch_add_body(world, &solid, error);
    if (!touch_add_energy(world, body, SINEW_ENERGY_MEMBRANE_COROTATED, error, "young", 1e4, "poisson", 0.3,
                          "thickness", 1.0, (char *)NULL) ||
        !touch_add_energy(world, body, SINEW_ENERGY_HINGE, error, "rigidity", 0.05, "weight", 1.0, (char *)NULL))
        body.index = -1;
    free(x);
    sinew_mesh_destroy(level);
    sinew_mesh_destroy(sheet);
    return body;
}

static bool hold_corners(sinew_world *world, run *r, sinew_body cloth, sinew_error *error)
{
    const int32_t last = r->side - 1, vertices[2][2] = {{0, last * r->side}, {last, last * r->side + last}};
    for (int k = 0; k < 2; k++) {
        sinew_pin_def pin = sinew_default_pin_def();
        pin.body = cloth;
        pin.vertices = vertices[k];
        pin.vertex_count = 2;
        r->corners[k] = sinew_world_add_pins(world, &pin, error);
    }
    return r->corners[0].index >= 0 && r->corners[1].index >= 0;
}

static bool add_bodies(sinew_world *world, run *r, sinew_error *error)
{
    bool good = true;
    for (int32_t i = 0; good && i < r->bodies; i++) {
        sinew_mesh *mesh = touch_shape(i % TOUCH_SHAPES, SIZE, r->vertices, error);
        const int32_t column = i % COLUMNS, row = i / COLUMNS % 2, layer = i / (2 * COLUMNS);
        const touch_solid solid = {
            .mesh = mesh,
            .centre = {PITCH * (column - 1.5), HEIGHT + PITCH * (layer + 1), PITCH * (row - 0.5)},
            .turn = 0.4 * i,
            .young = 1e3,
            .density = 10};
        good = mesh && touch_add_solid(world, &solid, error).index >= 0;
        r->tet_count += mesh ? sinew_mesh_tet_count(mesh) : 0;
        sinew_mesh_destroy(mesh);
    }
    return good;
}

static bool dropping_cloth_add_box(sinew_world *world, sinew_error *error)
{
    sinew_collider_def box = sinew_default_collider_def(SINEW_SHAPE_BOX);
    box.hollow = true;
    box.size[0] = box.size[2] = (sinew_real)2.2;
    box.size[1] = 4;
    box.position[1] = 2;
    return sinew_world_add_collider(world, &box, error).index >= 0;
}

static sinew_world *dropping_cloth_build(run *r, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.gravity[1] = (sinew_real)-9.8;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    def.solver.iterations = r->iterations;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)THICKNESS;
    contact.friction = 0;
    if (world) {
        const sinew_body cloth = dropping_cloth_add_cloth(world, r, error);
        if (cloth.index >= 0 && hold_corners(world, r, cloth, error) && add_bodies(world, r, error) &&
            dropping_cloth_add_box(world, error) && sinew_world_set_contact(world, &contact, error) == SINEW_OK)
            return world;
    }
    sinew_world_destroy(world);
    return NULL;
}

/* Number of solids whose mean vertex position is above a height. */
static int32_t count_above(const sinew_world *world, double height)
{
    int32_t count = 0;
    for (int32_t b = 1; b < sinew_world_body_count(world); b++) {
        const sinew_body body = sinew_world_body_at(world, b);
        const int32_t n = sinew_mesh_vertex_count(sinew_body_mesh(world, body));
        sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
        double sum = 0;
        if (x)
            sinew_world_get_positions(world, sinew_body_first_particle(world, body), n, x);
        for (int32_t i = 0; x && i < n; i++)
            sum += (double)x[3 * i + 1];
        count += sum > n * height;
        free(x);
    }
    return count;
}

static bool dropping_cloth_take(const setting *s, run *r, figure *shapes, sinew_error *error)
{
    sinew_world *world = dropping_cloth_build(r, error);
    bool good = world != NULL;
    for (int32_t k = 0; good && k < r->steps; k++) {
        if (k == r->release) {
            r->on_cloth = count_above(world, LANDED);
            good = sinew_world_remove_pins(world, r->corners[1], error) == SINEW_OK;
        }
        good = good && touch_step(world, &r->log, error);
        if (s->progress)
            s->progress(s->context, k, r->steps, "pbng/dropping-cloth");
        const bool wanted =
            k == r->release / 4 || k + 1 == r->release || k + 1 == (r->release + r->steps) / 2 || k + 1 == r->steps;
        char name[48];
        snprintf(name, sizeof name, "%.2f s", (k + 1) * STEP);
        if (good && wanted)
            touch_picture(shapes, name, SINEW_SOLVER_PBNG, world, false);
    }
    if (good) {
        r->particle_count = sinew_world_particle_count(world);
        r->in_box = r->bodies - count_above(world, LANDED);
    }
    sinew_world_destroy(world);
    return good;
}

static void dropping_cloth_judge(outcome *o, const run *r)
{
    const touch_log *l = &r->log;
    claim *c = outcome_claim(o, "many collisions of cloth and solids are handled (fig 16)", "handled");
    claim_measured(c,
                   "%d steps: at most %d contacts of %d particles; too near by at most %.2g of %.2g m; %d pairs of "
                   "triangles cross at most; %d steps with tets inside out",
                   l->steps, l->contacts, l->particles, l->violation, THICKNESS, l->crossings, l->inverted);
    claim_holds(c,
                l->crossings == 0 && l->inverted == 0 ? HOLDS_YES
                : l->crossings == 0                   ? HOLDS_PARTLY
                                                      : HOLDS_NO,
                "%s",
                l->crossings > 0  ? "surfaces cross"
                : l->inverted > 0 ? "nothing crosses, but tets turn inside out for a while"
                                  : "");
    c = outcome_claim(o, "the cloth bears the bodies, and lets them fall when one end is freed", "as the figure shows");
    claim_measured(c, "%d of %d on the cloth when it was let go, %d below %.1f m at the end", r->on_cloth, r->bodies,
                   r->in_box, LANDED);
    claim_holds(c,
                r->on_cloth == r->bodies && r->in_box == r->bodies ? HOLDS_YES
                : r->on_cloth > r->bodies / 2                      ? HOLDS_PARTLY
                                                                   : HOLDS_NO,
                "%s", r->on_cloth < r->bodies ? "some slid off the sides before" : "");
    c = outcome_claim(o, "a frame of 9 steps of 40 iterations", "101.2 s, 344K particles (8 threads)");
    claim_measured(c, "%.2g s, %.1fK particles: detection %.0f %%, solver %.0f %% of it", touch_frame_seconds(l, STEP),
                   1e-3 * r->particle_count, 100 * l->detect / l->wall, 100 * l->solve / l->wall);
    claim_timed(c, "");
    outcome_number(o, l->crossings, "crossings");
    outcome_number(o, l->violation, "violation");
    outcome_number(o, l->contacts, "contacts");
    outcome_number(o, l->inverted, "inverted");
    outcome_number(o, r->on_cloth, "on_cloth");
    outcome_number(o, r->in_box, "in_box");
    outcome_number(o, touch_frame_seconds(l, STEP), "frame_seconds");
}

void experiment_dropping_cloth(const setting *s, outcome *o)
{
    run r = {.bodies = 20, .vertices = 80, .side = 33, .steps = 1125, .release = 833, .iterations = 40};
    if (s->quick)
        r = (run){.bodies = 8, .vertices = 30, .side = 13, .steps = 130, .release = 90, .iterations = 15};
    sinew_error error = {0};
    figure *shapes = outcome_figure(o, "shapes", "Bodies on a cloth that is let go at one end (fig 16)", "", "");
    shapes->span = 3;
    if (!dropping_cloth_take(s, &r, shapes, &error)) {
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
        return;
    }
    snprintf(o->setup, sizeof o->setup, "%d bodies of 1e3 Pa, %d tets in all, and a cloth of %d x %d vertices.",
             r.bodies, r.tet_count, r.side, r.side);
    dropping_cloth_judge(o, &r);
}
