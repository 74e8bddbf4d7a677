/* SPDX-License-Identifier: MIT
 *
 * pd_examples.c: PD fig 8: three soft cars collide, and each takes on the shape of its example, (17), (18) and (27).
 *
 * A car is 1 m long, of cubes of five tets: a body, a cabin and four wheels, 100 kg/m3. Its example is the same mesh
 * bent upwards, twisted, or shortened like an accordion. The material is `examples` of 3e4 Pa with weights per element,
 * so that a deformation towards the example costs nothing, plus a tenth of that as plain strain, which restores the
 * car. The cars drive at each other from three sides at 3 m/s, without gravity. A second run has cars of plain strain.
 * The measure is the fraction of a car's strain that a blend of rest shape and example explains, with weights of either
 * sign per element as in (27): 1 less the squared distance to the examples over that to the rotations,
 * |F - R H(w)|^2 / |F - R|^2, at the car's largest strain. Contact uses the car's own surface, because embedded skins
 * collide only with colliders.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "touch.h"

#define STEP      (1.0 / 120) /* time step of the colliding cars, in s */
#define LENGTH    1.0         /* length of a car, in m */
#define SPEED     3.0         /* initial speed of the cars, in m/s */
#define AWAY      0.75        /* initial distance of the cars from the middle, in m */
#define STIFFNESS 3e4         /* stiffness of the energy `examples`, in Pa */
#define THICKNESS 4e-3        /* contact thickness of the cars, in m */
#define PI        3.14159265358979323846

enum {
    WITH,
    PLAIN,
    RUNS,
    CARS = 3,
    SAMPLES = 120
};
static const char *const names[RUNS] = {"examples", "strain alone"};
static const char *const shapes_of[CARS] = {"bent", "twisted", "folded"};

typedef struct run {
    int which;
    int32_t cells, steps, tet_count, vertex_count;
    touch_log log;
    double strained[CARS];        /* largest mean of |F - R|^2 over the tets of each car */
    double there[CARS];           /* fraction of `strained` that the example shapes explain, per car */
    double left;                  /* largest mean of |F - R|^2 of a car at the end of the run */
    sinew_energy energy[CARS][2]; /* energies of each car: `examples`, then `strain` */
    double curve[CARS][SAMPLES];
} run;

/* True if the cube at (x, y, z), in units of a tenth of the car's length, belongs to the car. */
static bool is_car(double x, double y, double z)
{
    const bool wheel = y < 1 && fabs(z) > 1 && ((x > 1 && x < 3) || (x > 7 && x < 9));
    const bool body = y > 1 && y < 2.5;
    const bool cabin = y > 2 && x > 2.5 && x < 7.5;
    return wheel || body || cabin;
}

/* Creates the mesh of a car: the tets of a block whose cubes belong to the car, without unused vertices. NULL on
 * failure. */
static sinew_mesh *car_mesh(int32_t cells, sinew_error *error)
{
    sinew_beam_def def = sinew_default_beam_def();
    const double unit = LENGTH / 10, cell = LENGTH / cells;
    def.cells[0] = cells;
    def.cells[1] = def.cells[2] = cells * 4 / 10;
    def.size[0] = (sinew_real)LENGTH;
    def.size[1] = def.size[2] = (sinew_real)(4 * unit);
    sinew_mesh *block = sinew_mesh_beam(&def, error), *car = NULL;
    const int32_t count = block ? sinew_mesh_tet_count(block) : 0;
    int32_t *tets = malloc(4 * ((size_t)count + 1) * sizeof *tets), kept = 0;
    for (int32_t t = 0; tets && t < count; t++) {
        const int32_t *v = sinew_mesh_tets(block) + 4 * (size_t)t;
        double middle[3] = {0};
        for (int k = 0; k < 12; k++)
            middle[k % 3] += 0.25 * (double)sinew_mesh_positions(block)[3 * v[k / 3] + k % 3];
        const double half[3] = {LENGTH / 2, 2 * unit, 2 * unit};
        for (int c = 0; c < 3; c++)
            middle[c] = (floor((middle[c] + half[c]) / cell) + 0.5) * cell / unit;
        for (int k = 0; k < 4 && is_car(middle[0], middle[1], middle[2] - 2); k++)
            tets[4 * kept + k] = v[k];
        kept += is_car(middle[0], middle[1], middle[2] - 2);
    }
    sinew_mesh_def kept_def = sinew_default_mesh_def();
    kept_def.vertex_count = block ? sinew_mesh_vertex_count(block) : 0;
    kept_def.positions = block ? sinew_mesh_positions(block) : NULL;
    kept_def.tet_count = kept;
    kept_def.tets = tets;
    sinew_mesh *loose = tets && block ? sinew_mesh_create(&kept_def, error) : NULL;
    if (loose)
        car = sinew_mesh_fix(loose, -1, NULL, error);
    sinew_mesh_destroy(loose);
    sinew_mesh_destroy(block);
    free(tets);
    return car;
}

/* Computes the position of a point of the car in its example shape. */
static void example_point(int car, const sinew_real *X, sinew_real *x)
{
    const double p[3] = {(double)X[0], (double)X[1], (double)X[2]}, angle = 1.2 * p[0] / LENGTH;
    if (car == 0) { /* first car: bent along an arc that opens upwards */
        const double radius = LENGTH / 1.2;
        x[0] = (sinew_real)((radius - p[1]) * sin(angle));
        x[1] = (sinew_real)(radius - (radius - p[1]) * cos(angle));
        x[2] = X[2];
    } else if (car == 1) { /* second car: twisted about its length */
        x[0] = X[0];
        x[1] = (sinew_real)(cos(angle) * p[1] - sin(angle) * p[2]);
        x[2] = (sinew_real)(sin(angle) * p[1] + cos(angle) * p[2]);
    } else { /* third car: shortened, in two folds */
        x[0] = (sinew_real)(0.65 * p[0]);
        x[1] = (sinew_real)(p[1] + 0.08 * cos(4 * PI * p[0] / LENGTH));
        x[2] = (sinew_real)(1.1 * p[2]);
    }
}

static sinew_real *example_of(const sinew_mesh *mesh, int car)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    for (int32_t i = 0; x && i < n; i++)
        example_point(car, sinew_mesh_positions(mesh) + 3 * (size_t)i, x + 3 * (size_t)i);
    return x;
}

/* Adds a car that drives towards the middle from one of three sides. */
static sinew_body place_car(sinew_world *world, const sinew_mesh *mesh, int car, sinew_error *error)
{
    const double side = 2 * PI * car / CARS, c = cos(side), s = sin(side);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = malloc(6 * (size_t)n * sizeof *x);
    sinew_body body = {.index = -1};
    for (int32_t i = 0; x && i < n; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        const double along = (double)X[0] + AWAY + LENGTH / 4, across = (double)X[2] + 0.07;
        sinew_real *q = x + 3 * (size_t)i, *v = x + 3 * (size_t)(n + i);
        q[0] = (sinew_real)(c * along - s * across);
        q[1] = X[1];
        q[2] = (sinew_real)(s * along + c * across);
        v[0] = (sinew_real)(-SPEED * c);
        v[1] = 0;
        v[2] = (sinew_real)(-SPEED * s);
    }
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = 100;
    def.positions = x;
    def.velocities = x ? x + 3 * (size_t)n : NULL;
    if (x)
        body = sinew_world_add_body(world, &def, error);
    free(x);
    return body;
}

/* Stiffness of a car's energies. Cars of plain strain also have `examples` of 1 Pa: too soft to act, but they measure
 * the distance to the examples. */
static double stiffness_of(const run *r, bool strain)
{
    if (strain)
        return r->which == WITH ? 0.1 * STIFFNESS : STIFFNESS;
    return r->which == WITH ? STIFFNESS : 1;
}

static bool add_material(sinew_world *world, sinew_body body, run *r, int car, const sinew_real *example,
                         sinew_error *error)
{
    bool good = true;
    for (int k = 0; good && k < 2; k++) {
        sinew_energy_def energy = sinew_default_energy_def(k ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_EXAMPLES);
        energy.body = body;
        energy.parameters[0] = (sinew_real)stiffness_of(r, k);
        energy.example_count = k ? 0 : 1;
        energy.example_vertex_count = k ? 0 : r->vertex_count;
        energy.examples[0] = k ? NULL : example;
        r->energy[car][k] = sinew_world_add_energy(world, &energy, error);
        good = r->energy[car][k].index >= 0;
    }
    return good;
}

static sinew_world *pd_examples_build(run *r, const sinew_mesh *mesh, sinew_real *const *examples, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.gravity[1] = 0;
    def.damping = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PD);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)THICKNESS;
    bool good = world && sinew_world_set_contact(world, &contact, error) == SINEW_OK;
    for (int k = 0; good && k < CARS; k++) {
        const sinew_body body = place_car(world, mesh, k, error);
        good = body.index >= 0 && add_material(world, body, r, k, examples[k], error);
    }
    if (good)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Mean over the tets of the squared distance that an energy measures: 2 psi / k. values [tet_count]: work space. */
static double pd_examples_distance_of(const run *r, sinew_world *world, int car, bool strain, sinew_real *values)
{
    int32_t count = 0;
    double sum = 0;
    if (sinew_energy_field(world, r->energy[car][strain], SINEW_FIELD_ENERGY, r->tet_count, values, &count, NULL) !=
        SINEW_OK)
        return NAN;
    for (int32_t t = 0; t < count; t++)
        sum += (double)values[t];
    return 2 * sum / stiffness_of(r, strain) / count;
}

static void pd_examples_measure(run *r, sinew_world *world, int32_t k, sinew_real *values)
{
    r->left = 0;
    for (int car = 0; car < CARS; car++) {
        const double strain = pd_examples_distance_of(r, world, car, true, values),
                     far = pd_examples_distance_of(r, world, car, false, values);
        r->curve[car][(int64_t)k * SAMPLES / r->steps] = strain > 1e-6 ? 1 - far / strain : 0;
        r->left = fmax(r->left, strain);
        if (strain <= r->strained[car])
            continue;
        r->strained[car] = strain;
        r->there[car] = 1 - far / strain;
    }
}

static bool pd_examples_take(const setting *s, run *r, const sinew_mesh *mesh, sinew_real *const *examples,
                             figure *shapes, sinew_error *error)
{
    sinew_world *world = pd_examples_build(r, mesh, examples, error);
    sinew_real *values = malloc((size_t)r->tet_count * sizeof *values);
    bool good = world && values;
    for (int32_t k = 0; good && k < r->steps; k++) {
        char name[56];
        good = touch_step(world, &r->log, error);
        if (good)
            pd_examples_measure(r, world, k, values);
        if (s->progress)
            s->progress(s->context, r->which * r->steps + k, RUNS * r->steps, "pd/examples");
        snprintf(name, sizeof name, "%s, %.2f s", names[r->which], (k + 1) * STEP);
        if (good && (k + 1 == r->steps / 4 || k + 1 == r->steps / 2 || k + 1 == r->steps))
            touch_picture(shapes, name, SINEW_SOLVER_PD, world, false);
    }
    free(values);
    sinew_world_destroy(world);
    return good;
}

static void pd_examples_judge(outcome *o, const run *r)
{
    claim *c = outcome_claim(o, "three cars collide and deform towards their examples (fig 8)", "as the figure shows");
    bool nearer = true, near = true;
    for (int k = 0; k < CARS; k++) {
        nearer = nearer && r[WITH].there[k] > r[PLAIN].there[k];
        near = near && r[WITH].there[k] > 0.75;
        outcome_number(o, r[WITH].there[k], "like_%s", shapes_of[k]);
        outcome_number(o, r[PLAIN].there[k], "plain_like_%s", shapes_of[k]);
        outcome_number(o, r[WITH].strained[k], "strain_%s", shapes_of[k]);
    }
    claim_measured(
        c,
        "part of the largest strain that examples explain: bent %.2f, twisted %.2f, folded %.2f; cars of strain "
        "alone %.2f, %.2f, %.2f",
        r[WITH].there[0], r[WITH].there[1], r[WITH].there[2], r[PLAIN].there[0], r[PLAIN].there[1], r[PLAIN].there[2]);
    claim_holds(c,
                near && nearer ? HOLDS_YES
                : nearer       ? HOLDS_PARTLY
                               : HOLDS_NO,
                "%s",
                near && nearer ? ""
                : nearer
                    ? "each follows its example more than without; what is left is what the blow asks for: weights are "
                      "free in each element and need not agree"
                    : "not all follow their examples more than cars of strain alone do");
    for (int i = 0; i < RUNS; i++) {
        char what[120];
        snprintf(what, sizeof what, "%s: collisions of cars are resolved, and they come back to their shape", names[i]);
        c = outcome_claim(o, what, "as the figure shows");
        claim_measured(c,
                       "%d contacts at most, %d pairs cross, too near by at most %.2g of %.2g m; |F - R|^2 %.2g at the "
                       "end, %.2g at most",
                       r[i].log.contacts, r[i].log.crossings, r[i].log.violation, THICKNESS, r[i].left,
                       fmax(r[i].strained[0], fmax(r[i].strained[1], r[i].strained[2])));
        claim_holds(c,
                    r[i].log.crossings == 0 && r[i].left < 0.01 ? HOLDS_YES
                    : r[i].log.crossings == 0                   ? HOLDS_PARTLY
                                                                : HOLDS_NO,
                    "%s",
                    r[i].log.crossings > 0 ? "surfaces cross"
                    : r[i].left < 0.01     ? ""
                                       : "they still swing: a deformation towards the example has little to end it");
        outcome_number(o, r[i].log.crossings, i ? "crossings_plain" : "crossings");
        outcome_number(o, r[i].left, i ? "left_plain" : "left");
    }
}

static void like_figure(outcome *o, const run *r)
{
    figure *f = outcome_figure(o, "likeness", "Part of the strain that the example explains", "s", "");
    f->distinct = true;
    for (int k = 0; k < RUNS * CARS; k++) {
        char name[56];
        snprintf(name, sizeof name, "%s, %s", shapes_of[k % CARS], names[k / CARS]);
        if (!figure_series(f, name, SINEW_SOLVER_PD, k, SAMPLES))
            return;
        for (int j = 0; j < SAMPLES; j++) {
            f->series[k].x[j] = (j + 1.0) * r[0].steps * STEP / SAMPLES;
            f->series[k].y[j] = r[k / CARS].curve[k % CARS][j];
        }
    }
}

void experiment_pd_examples(const setting *s, outcome *o)
{
    run r[RUNS];
    sinew_error error = {0};
    const int32_t cells = s->quick ? 10 : 20;
    sinew_mesh *mesh = car_mesh(cells, &error);
    sinew_real *examples[CARS] = {NULL};
    bool good = mesh != NULL;
    for (int k = 0; good && k < CARS; k++)
        good = (examples[k] = example_of(mesh, k)) != NULL;
    figure *shapes = outcome_figure(o, "shapes", "Three cars and their examples (fig 8)", "", "");
    shapes->span = 4;
    for (int i = 0; good && i < RUNS; i++) {
        r[i] = (run){.which = i, .cells = cells, .steps = s->quick ? 60 : 240};
        r[i].vertex_count = sinew_mesh_vertex_count(mesh);
        r[i].tet_count = sinew_mesh_tet_count(mesh);
        good = pd_examples_take(s, &r[i], mesh, examples, shapes, &error);
    }
    if (good) {
        snprintf(o->setup, sizeof o->setup, "Three cars of %d tets, %g Pa, %d iterations of PD a step of 1/120 s.",
                 r[0].tet_count, STIFFNESS, sinew_default_solver_def(SINEW_SOLVER_PD).iterations);
        pd_examples_judge(o, r);
        like_figure(o, r);
    } else
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text[0] ? error.text : "out of memory");
    for (int k = 0; k < CARS; k++)
        free(examples[k]);
    sinew_mesh_destroy(mesh);
}
