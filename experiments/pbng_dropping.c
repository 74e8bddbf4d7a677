/* SPDX-License-Identifier: MIT
 *
 * pbng_dropping.c: PBNG fig 14 and its rows of tables 1 and 3: 40 objects of simple shapes are dropped into a glass
 * box.
 *
 * Boxes, balls, tori, cylinders and tubes of 0.3 m, 3000 Pa, 10 kg/m3, four by two in five layers inside a hollow box;
 * steps of 2 ms, 8 iterations. Two sizes: the published one, whose objects start just above each other and collide at
 * once, over a few tens of steps to measure the cost of a step; and a small one from the fall to the pile. Contact is
 * `augmented`; the small pile also runs with weak constraints of 1e4 N/m and of the published 1e8 N/m (pbng/two-blocks
 * explains the difference).
 */
#include <math.h>
#include <stdio.h>

#include "touch.h"

#define STEP      0.002 /* time step of the falling objects, in s */
#define SIZE      0.3   /* diameter of a dropped object, in m */
#define PITCH     0.31  /* distance between neighbouring objects, in m */
#define THICKNESS 4e-3  /* contact thickness of the objects, in m */

enum {
    LARGE,
    PILE,
    PENALTY_SOFT,
    PENALTY,
    RUNS,
    ITERATIONS = 8,
    COLUMNS = 4,
    DEPTH = 2,
    OBJECTS = 40,
    LOST = 1000 /* number of intersecting triangle pairs at which a run is aborted */
};
static const char *const names[RUNS] = {"augmented, published size", "augmented", "penalty, 1e4 N/m",
                                        "penalty, 1e8 N/m"};
static const char *const keys[RUNS] = {"large", "pile", "penalty_soft", "penalty"};

typedef struct run {
    int which;
    /* Minimum number of vertices per object; number of objects; number of steps. */
    int32_t vertices, objects, steps;
    double drop; /* additional initial downward speed per layer of objects, in m/s */
    touch_memory memory;
    touch_log log;
    int32_t particle_count, tet_count, colours;
    double constraint_colours; /* mean number of constraint colours of an object's tets in PBD */
    sinew_measures end;
} run;

static bool add_objects(sinew_world *world, run *r, sinew_error *error)
{
    sinew_mesh *shapes[TOUCH_SHAPES] = {NULL};
    bool good = true;
    for (int k = 0; good && k < TOUCH_SHAPES; k++)
        good = (shapes[k] = touch_shape(k, SIZE, r->vertices, error)) != NULL;
    for (int32_t i = 0; good && i < r->objects; i++) {
        const int32_t column = i % COLUMNS, row = i / COLUMNS % DEPTH, layer = i / (COLUMNS * DEPTH);
        const touch_solid solid = {.mesh = shapes[(i + layer) % TOUCH_SHAPES],
                                   .centre = {PITCH * (column - 0.5 * (COLUMNS - 1)) + 0.01 * (layer % 3),
                                              PITCH * (layer + 0.52),
                                              PITCH * (row - 0.5 * (DEPTH - 1)) + 0.01 * (layer % 2)},
                                   .velocity = {0, -r->drop * (layer + 1), 0},
                                   .turn = r->which == LARGE ? 0.1 * (i % 7) : 0.4 * i,
                                   .young = 3000,
                                   .density = 10};
        good = touch_add_solid(world, &solid, error).index >= 0;
        r->tet_count += sinew_mesh_tet_count(solid.mesh);
    }
    for (int k = 0; k < TOUCH_SHAPES; k++)
        sinew_mesh_destroy(shapes[k]);
    return good;
}

/* Adds the hollow glass box with its floor at y = 0. */
static bool dropping_add_box(sinew_world *world, sinew_error *error)
{
    sinew_collider_def box = sinew_default_collider_def(SINEW_SHAPE_BOX);
    box.hollow = true;
    box.size[0] = (sinew_real)(PITCH * COLUMNS + 0.1);
    box.size[1] = 4;
    box.size[2] = (sinew_real)(PITCH * DEPTH + 0.1);
    box.position[1] = 2;
    return sinew_world_add_collider(world, &box, error).index >= 0;
}

static sinew_world *dropping_build(run *r, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.allocator = touch_tally(&r->memory);
    def.time_step = (sinew_real)STEP;
    def.gravity[1] = (sinew_real)-9.8;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PBNG);
    def.solver.iterations = ITERATIONS;
    def.solver.tolerance = 0;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.mode = r->which >= PENALTY_SOFT ? SINEW_CONTACT_PENALTY : SINEW_CONTACT_AUGMENTED;
    contact.penalty = (sinew_real)(r->which == PENALTY ? 1e8 : 1e4);
    contact.thickness = (sinew_real)THICKNESS;
    contact.friction = 0;
    contact.self = false;
    if (world && add_objects(world, r, error) && dropping_add_box(world, error) &&
        sinew_world_set_contact(world, &contact, error) == SINEW_OK)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Mean number of PBD's constraint colours per object, without contacts. PBD numbers the colours of each body
 * separately. */
static bool count_constraint_colours(const run *like, double *mean, sinew_error *error)
{
    int32_t count = 0;
    const sinew_solver_def pbd = sinew_default_solver_def(SINEW_SOLVER_PBD);
    run r = {.which = like->which, .objects = like->objects, .vertices = like->vertices, .drop = like->drop};
    sinew_world *world = dropping_build(&r, error);
    const bool good = world && sinew_world_set_solver(world, &pbd, error) == SINEW_OK &&
                      sinew_world_prepare(world, error) == SINEW_OK &&
                      sinew_world_colours(world, &count, NULL) == SINEW_OK;
    sinew_world_destroy(world);
    *mean = (double)count / like->objects;
    return good;
}

static bool dropping_take(const setting *s, run *r, figure *shapes, sinew_error *error)
{
    sinew_world *world = dropping_build(r, error);
    bool good = world != NULL;
    for (int32_t k = 0; good && k < r->steps && r->log.crossings < LOST; k++) {
        good = touch_step(world, &r->log, error);
        if (k == 0)
            r->log = (touch_log){0}; /* resets the statistics: the first step includes set-up, so it is not counted */
        if (s->progress)
            s->progress(s->context, k, r->steps, names[r->which]);
        if (good && r->which == PILE && k == r->steps / 3)
            touch_picture(shapes, "falling", SINEW_SOLVER_PBNG, world, false);
    }
    if (good) {
        r->particle_count = sinew_world_particle_count(world);
        sinew_world_measure(world, &r->end);
        touch_picture(shapes, names[r->which], SINEW_SOLVER_PBNG, world, false);
        sinew_world_colours(world, &r->colours, NULL);
    }
    sinew_world_destroy(world);
    return good && (r->which != LARGE || count_constraint_colours(r, &r->constraint_colours, error));
}

static void dropping_claim_costs(outcome *o, const run *r)
{
    const touch_log *l = &r->log;
    const double steps = l->steps, rest = l->wall - l->solve - l->detect;
    char what[120];
    snprintf(what, sizeof what, "a frame of 17 steps, %dK particles, %dK tets", (r->particle_count + 500) / 1000,
             (r->tet_count + 500) / 1000);
    claim *c = outcome_claim(o, what, "49.8 s, 256K particles, 1069K tets (8 threads)");
    claim_measured(c,
                   "%.3g s; a step: detection %.2g s, solver %.2g s, all else %.2g s; %d contacts of %d particles at "
                   "most; %.0f bytes a tet",
                   touch_frame_seconds(l, STEP), l->detect / steps, l->solve / steps, rest / steps, l->contacts,
                   l->particles, (double)r->memory.max / r->tet_count);
    claim_timed(c, "from the mean of the steps after the first");
    c = outcome_claim(o, "recolouring is of moderate cost (section 10.1)", "1 % of a frame (muscles)");
    claim_measured(c, "%.1f %% of a step, with all else that handing contacts over to the solver takes",
                   100 * touch_recolour_share(l));
    claim_timed(c, "colours, visits and layers of new contacts");
    c = outcome_claim(o, "colours of nodes, contacts included; of constraints (table 1)", "11; 52");
    claim_measured(c, "%d where the run ended; %.3g of the tets of an object in the mean", r->colours,
                   r->constraint_colours);
    claim_holds(c, r->colours <= 11 ? HOLDS_YES : HOLDS_PARTLY, "%s",
                r->colours <= 11 ? "" : "they depend on meshes and on what touches");
    outcome_number(o, touch_frame_seconds(l, STEP), "frame_seconds");
    outcome_number(o, l->detect / steps, "detect_seconds");
    outcome_number(o, l->solve / steps, "solve_seconds");
    outcome_number(o, touch_rest_share(l), "rest_share");
    outcome_number(o, touch_recolour_share(l), "recolour_share");
    outcome_number(o, (double)r->memory.max, "bytes");
    outcome_number(o, r->colours, "colours");
    outcome_number(o, r->constraint_colours, "constraint_colours");
}

static void claim_pile(outcome *o, const run *r)
{
    const touch_log *l = &r->log;
    char what[120];
    snprintf(what, sizeof what, "%s: collisions are robustly handled", names[r->which]);
    claim *c = outcome_claim(o, what, r->which == PENALTY ? "robustly, in 8 iterations (fig 14)" : "not in the source");
    claim_measured(c,
                   "%d objects, %d tets, %d steps: at most %d contacts of %d particles, too near by at most %.2g of "
                   "%.2g m, %d pairs of triangles cross, %d steps with tets inside out",
                   r->objects, r->tet_count, l->steps, l->contacts, l->particles, l->violation, THICKNESS, l->crossings,
                   l->inverted);
    const bool apart = l->crossings == 0;
    claim_holds(c,
                apart && l->inverted == 0 ? HOLDS_YES
                : apart                   ? HOLDS_PARTLY
                                          : HOLDS_NO,
                "%s",
                apart && l->inverted == 0 ? ""
                : apart                   ? "nothing crosses, but some tets turn inside out for a while"
                        : "surfaces go through each other: no step filter, and 8 iterations do not hold them");
    outcome_number(o, l->crossings, "crossings_%s", keys[r->which]);
    outcome_number(o, l->violation, "violation_%s", keys[r->which]);
    outcome_number(o, l->contacts, "contacts_%s", keys[r->which]);
    outcome_number(o, l->inverted, "inverted_%s", keys[r->which]);
    outcome_number(o, l->residual, "residual_%s", keys[r->which]);
}

void experiment_dropping(const setting *s, outcome *o)
{
    run r[RUNS];
    sinew_error error = {0};
    bool good = true;
    figure *shapes = outcome_figure(o, "shapes", "Objects in a glass box, which is not drawn (fig 14)", "", "");
    shapes->span = 4;
    for (int i = 0; good && i < RUNS; i++) {
        r[i] = (run){.which = i, .objects = s->quick && i != LARGE ? 16 : OBJECTS, .drop = i == LARGE ? 1.2 : 0.1};
        r[i].vertices = i != LARGE ? (s->quick ? 40 : 120) : s->quick ? 120 : 6000;
        r[i].steps = i != LARGE ? (s->quick ? 120 : 600) : s->quick ? 25 : 40;
        good = dropping_take(s, &r[i], shapes, &error);
    }
    if (!good) {
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
        return;
    }
    snprintf(o->setup, sizeof o->setup, "%d objects, %d vertices, %d tets, and a pile of %d tets; 3000 Pa, 10 kg/m3.",
             r[LARGE].objects, r[LARGE].particle_count, r[LARGE].tet_count, r[PILE].tet_count);
    dropping_claim_costs(o, &r[LARGE]);
    for (int i = 0; i < RUNS; i++)
        claim_pile(o, &r[i]);
}
