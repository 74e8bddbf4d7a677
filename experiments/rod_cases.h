/* SPDX-License-Identifier: MIT
 *
 * rod_cases.h: rods with solutions in closed form or from the elastica, each as a small world that is built, loaded and
 * measured. For `sinew reproduce thin/rods` and for tests/test_rods.c.
 *
 * By default a rod has length 1 m and EI = 1 N m^2 and hardly stretches (EA L^2 / EI = ROD_STRETCH); y points up. A
 * clamp pins an edge with both ends and its director point; the middle of the edge is the position of the clamp,
 * because the bending of a discrete rod is at its vertices. Quasistatic by Newton's method. A case that fails returns
 * NAN or false and sets its error.
 */
#ifndef SINEW_EXPERIMENTS_ROD_CASES_H
#define SINEW_EXPERIMENTS_ROD_CASES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sinew/mesh.h"
#include "sinew/sinew.h"

#define ROD_PI      3.14159265358979323846
#define ROD_STRETCH (sizeof(sinew_real) == 4 ? 1e4 : 1e6) /* stretching over bending stiffness of a rod, EA L^2 / EI */
#define ROD_GRAVITY 10.0

/* Material of a rod, and solver settings. */
typedef struct rod_stuff {
    double stretching; /* stretching stiffness EA of the rod, in N */
    /* Bending stiffness EI in the direction of the directors and across; torsional stiffness GJ; in N m^2. */
    double bending[2], twisting;
    double density;   /* mass of the rod per length, in kg/m */
    double gravity;   /* acceleration of gravity in m/s2, downwards */
    bool straight;    /* true: the rest shape is straight regardless of the mesh */
    double twist;     /* twist of the rod at rest, in rad/m */
    double toward[3]; /* direction of the rod's directors */
    double time_step; /* time step in s; 0: quasistatic */
    int32_t load_steps;
} rod_stuff;

typedef struct rod_world {
    sinew_world *world;
    sinew_body body;
    int32_t edge_count, vertex_count; /* counts of the rod's mesh; director points follow its vertices, one per edge */
} rod_world;

static inline rod_stuff rod_default_stuff(void)
{
    return (rod_stuff){
        .stretching = ROD_STRETCH, .bending = {1, 1}, .twisting = 1, .density = 1e-6, .toward = {0, 1, 0}};
}

static inline bool rod_add_energy(const rod_world *r, sinew_energy_kind kind, const char *const *names,
                                  const double *values, int count, sinew_error *error)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = r->body;
    for (int i = 0; i < count; i++)
        if (sinew_energy_def_set(&def, names[i], values[i], error) != SINEW_OK)
            return false;
    return sinew_world_add_energy(r->world, &def, error).index >= 0;
}

static inline bool rod_add_energies(const rod_world *r, const rod_stuff *s, sinew_error *error)
{
    static const char *const names[] = {"bending_1", "bending_2", "twisting", "rest", "twist"}, *const k = "stiffness",
                             *const rigidity = "rigidity";
    const double values[] = {s->bending[0], s->bending[1], s->twisting, s->straight, s->twist};
    return rod_add_energy(r, SINEW_ENERGY_EDGE_STRAIN, &k, &s->stretching, 1, error) &&
           rod_add_energy(r, SINEW_ENERGY_ROD, names, values, 5, error) &&
           rod_add_energy(r, SINEW_ENERGY_DIRECTOR, &rigidity, &s->twisting, 1, error);
}

static inline sinew_world *rod_make_world(const rod_stuff *s, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = !(s->time_step > 0);
    def.time_step = (sinew_real)(s->time_step > 0 ? s->time_step : 1);
    def.gravity[1] = (sinew_real)-s->gravity;
    def.load_steps = s->load_steps;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.iterations = 400;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-5 : 1e-10);
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    return sinew_world_create(&def, error);
}

/* Creates a world with a rod of this mesh, which has edges only. Returns false on failure; destroy the world in both
 * cases. */
static inline bool rod_make(const sinew_mesh *mesh, const rod_stuff *s, rod_world *r, sinew_error *error)
{
    const sinew_real toward[3] = {(sinew_real)s->toward[0], (sinew_real)s->toward[1], (sinew_real)s->toward[2]};
    *r = (rod_world){.edge_count = sinew_mesh_edge_count(mesh), .vertex_count = sinew_mesh_vertex_count(mesh)};
    sinew_mesh *framed = sinew_mesh_with_directors(mesh, 0, toward, error);
    r->world = framed ? rod_make_world(s, error) : NULL;
    bool good = r->world != NULL;
    if (good) {
        sinew_body_def body = sinew_default_body_def();
        body.mesh = framed;
        body.density = (sinew_real)s->density;
        r->body = sinew_world_add_body(r->world, &body, error);
        good = r->body.index >= 0 && rod_add_energies(r, s, error);
    }
    sinew_mesh_destroy(framed);
    return good;
}

/* Clamps the rod: pins edge e with both ends and its director point. */
static inline bool rod_clamp(const rod_world *r, int32_t e, const sinew_motion *motion, sinew_error *error)
{
    const int32_t *edge = sinew_mesh_edges(sinew_body_mesh(r->world, r->body)) + 2 * e;
    const int32_t vertices[3] = {edge[0], edge[1], r->vertex_count + e};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = r->body;
    pin.vertices = vertices;
    pin.vertex_count = 3;
    pin.motion = motion;
    return sinew_world_add_pins(r->world, &pin, error).index >= 0;
}

/* Takes at least `steps` steps of the rod until one is solved; returns false if 40 more are not enough. */
static inline bool rod_settle(const rod_world *r, int32_t steps)
{
    /* Status bits that count as solved. In single precision a solve ends when forces are round-off, and the solver
     * cannot always detect this end. */
    const uint32_t fine = sizeof(sinew_real) == 4 ? SINEW_STEP_ROUND_OFF | SINEW_STEP_STALLED : SINEW_STEP_ROUND_OFF;
    for (int32_t i = 0; i < steps + 40; i++)
        if ((sinew_world_step(r->world, NULL) & ~fine) == 0 && i + 1 >= steps)
            return true;
    return false;
}

static inline void rod_point(const rod_world *r, int32_t vertex, double x[3])
{
    sinew_real q[3];
    sinew_world_get_positions(r->world, sinew_body_first_particle(r->world, r->body) + vertex, 1, q);
    for (int k = 0; k < 3; k++)
        x[k] = (double)q[k];
}

static inline bool rod_pull(const rod_world *r, int32_t vertex, const double force[3])
{
    const sinew_real f[3] = {(sinew_real)force[0], (sinew_real)force[1], (sinew_real)force[2]};
    return sinew_world_set_forces(r->world, sinew_body_first_particle(r->world, r->body) + vertex, 1, f) == SINEW_OK;
}

static inline sinew_mesh *rod_line(int32_t segments, double from, double to, sinew_error *error)
{
    sinew_rope_def def = sinew_default_rope_def();
    def.vertices = segments + 1;
    def.from[0] = (sinew_real)from;
    def.to[0] = (sinew_real)to;
    return sinew_mesh_rope(&def, error);
}

/* ---- Cantilever rod --------------------------------------------------------------------------- */

/* Bends a rod along x from its clamp at 0 to its tip at 1, under `force` at the tip and its own weight. end[0]
 * receives the position of the last vertex but one, end[1] that of the tip. */
static inline bool rod_cantilever(int32_t segments, const rod_stuff *s, const double force[3], double end[2][3],
                                  sinew_error *error)
{
    const double cell = 1 / (segments - 0.5);
    sinew_mesh *mesh = rod_line(segments, -0.5 * cell, 1, error);
    rod_world r = {0};
    const bool good = mesh && rod_make(mesh, s, &r, error) && rod_clamp(&r, 0, NULL, error) &&
                      rod_pull(&r, segments, force) && rod_settle(&r, s->load_steps);
    for (int i = 0; i < 2 && good; i++)
        rod_point(&r, segments - 1 + i, end[i]);
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
    return good;
}

/* Bends a cantilever under its own weight, Gamma = weight per length L^3 / EI. Returns drop over reach; *angle:
 * degrees at the tip. */
static inline double rod_drop_over_reach(int32_t segments, double gamma, double *angle, sinew_error *error)
{
    rod_stuff s = rod_default_stuff();
    double end[2][3];
    s.gravity = ROD_GRAVITY;
    s.density = gamma / ROD_GRAVITY;
    s.load_steps = 4 + (int32_t)(gamma / 4);
    if (!rod_cantilever(segments, &s, (double[]){0, 0, 0}, end, error))
        return NAN;
    *angle = 180 / ROD_PI * atan2(end[0][1] - end[1][1], end[1][0] - end[0][0]);
    return -end[1][1] / end[1][0];
}

/* Bends a cantilever under a tip load P L^2 / EI; *w and *u: downward and backward displacement of the tip, over L. */
static inline bool rod_tip_load(int32_t segments, double load, double *w, double *u, sinew_error *error)
{
    rod_stuff s = rod_default_stuff();
    double end[2][3];
    s.load_steps = 4 + (int32_t)load;
    if (!rod_cantilever(segments, &s, (double[]){0, -load, 0}, end, error))
        return false;
    *w = -end[1][1];
    *u = 1 - end[1][0];
    return true;
}

/* ---- Lateral buckling of a strip --------------------------------------------------------------- */

#define ROD_EDGEWISE 1e4  /* bending stiffness of the strip in the vertical direction over that sideways */
#define ROD_NUDGE    1e-5 /* sideways force in N, above the round-off of the other forces with 80 segments */

/* Loads a strip that is clamped edgewise under `load`, its own weight q L^3 or a tip load P L^2, over sqrt(EI GJ),
 * EI = 1. Returns the sideways displacement of the tip per unit of the small sideways force `nudge`. */
static inline double rod_sideways(int32_t segments, double twisting, bool weight, double load, double nudge,
                                  sinew_error *error)
{
    rod_stuff s = rod_default_stuff();
    const double newtons = load * sqrt(twisting);
    double end[2][3];
    s.bending[0] = ROD_EDGEWISE;
    s.twisting = twisting;
    s.load_steps = 2;
    if (weight) {
        s.gravity = ROD_GRAVITY;
        s.density = newtons / ROD_GRAVITY;
    }
    const double force[3] = {0, weight ? 0 : -newtons, nudge};
    return rod_cantilever(segments, &s, force, end, error) ? end[1][2] / nudge : NAN;
}

/* Finds the lateral buckling load by bisection between two loads. Below it the tip's sideways displacement is
 * proportional to the small force; above it the displacement exceeds a hundredth of the length. */
static inline double rod_buckling_load(int32_t segments, double twisting, bool weight, double low, double high,
                                       sinew_error *error)
{
    while (high - low > 2e-3 * high) {
        const double load = 0.5 * (low + high), way = rod_sideways(segments, twisting, weight, load, ROD_NUDGE, error);
        if (isnan(way))
            return NAN;
        *(fabs(way) * ROD_NUDGE > 0.01 ? &high : &low) = load;
    }
    return 0.5 * (low + high);
}

/* ---- Twisted ring of a rod -------------------------------------------------------------------- */

/* Moves every point of the rod by up to `size` (m) in each direction, deterministically. */
static inline void rod_shake(const rod_world *r, double size)
{
    const int32_t first = sinew_body_first_particle(r->world, r->body), count = r->vertex_count + r->edge_count;
    uint64_t bits = 1;
    for (int32_t i = 0; i < count; i++) {
        sinew_real q[3];
        sinew_world_get_positions(r->world, first + i, 1, q);
        for (int k = 0; k < 3; k++) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            q[k] += (sinew_real)(size * ((double)(bits >> 11) / 4503599627370496.0 - 1));
        }
        sinew_world_set_positions(r->world, first + i, 1, q);
    }
}

/* Runs a straight rod with `turns` times 2 pi of twist, closed to a ring of radius 1, perturbed and released.
 * Returns the fraction of its energy that it loses; only round-off if the plane ring is stable. */
static inline double rod_ring_loss(int32_t segments, double twisting, double turns, sinew_error *error)
{
    rod_stuff s = rod_default_stuff();
    rod_world r = {0};
    sinew_measures before = {0}, after = {.elastic = INFINITY};
    sinew_coil_def def = sinew_default_coil_def();
    def.radius = 1;
    def.vertices = segments;
    s.twisting = twisting;
    s.straight = true;
    s.twist = turns;
    s.time_step = 1;
    s.density = 1e-3;
    s.toward[1] = 0;
    s.toward[2] = 1;
    sinew_mesh *mesh = sinew_mesh_ring(&def, error);
    bool good = mesh && rod_make(mesh, &s, &r, error) && sinew_world_measure(r.world, &before) == SINEW_OK;
    if (good) {
        rod_shake(&r, 1e-3);
        for (int i = 0; i < 20 && good && after.elastic > 0.999 * before.elastic; i++)
            good = (sinew_world_step(r.world, NULL) & SINEW_STEP_NOT_FINITE) == 0 &&
                   sinew_world_measure(r.world, &after) == SINEW_OK;
    }
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
    return good ? 1 - after.elastic / before.elastic : NAN;
}

/* ---- Spring coil of a rod --------------------------------------------------------------------- */

/* Stretches a coil of radius 1 with clamped ends by `way` (m). Returns the stiffness 2 U / way^2 over GJ / (2 pi R^3
 * n). */
static inline double rod_coil_stiffness(double turns, int32_t per_turn, double pitch, double way, sinew_error *error)
{
    rod_stuff s = rod_default_stuff();
    rod_world r = {0};
    sinew_measures measures = {0};
    sinew_coil_def def = sinew_default_coil_def();
    def.radius = 1;
    def.pitch = (sinew_real)pitch;
    def.turns = (sinew_real)turns;
    def.vertices = (int32_t)(turns * per_turn) + 1;
    s.twisting = 1 / 1.3; /* torsional stiffness of a round wire with nu = 0.3: GJ = EI / (1 + nu) */
    s.toward[1] = 0;
    s.toward[2] = 1;
    s.load_steps = 1;
    const sinew_key key = {.time = 0, .translation = {0, 0, (sinew_real)way}};
    const sinew_motion motion = {.key_count = 1, .keys = &key};
    sinew_mesh *mesh = sinew_mesh_coil(&def, error);
    const bool good = mesh && rod_make(mesh, &s, &r, error) && rod_clamp(&r, 0, NULL, error) &&
                      rod_clamp(&r, r.edge_count - 1, &motion, error) && rod_settle(&r, 1) &&
                      sinew_world_measure(r.world, &measures) == SINEW_OK;
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
    return good ? 2 * measures.elastic / (way * way) / (s.twisting / (2 * ROD_PI * turns)) : NAN;
}

/* ---- Catenary of a hanging rope ---------------------------------------------------------------- */

/* Hangs a rope of length 1.5 m between pins 1 m apart, without bending or twist. *sag: its sag, m; *force: horizontal
 * force over weight per length, m. */
static inline bool rod_catenary(int32_t segments, double *sag, double *force, sinew_error *error)
{
    const double length = 1.5, depth = sqrt(0.25 * (length * length - 1));
    rod_stuff s = rod_default_stuff();
    s.gravity = ROD_GRAVITY;
    sinew_mesh *mesh = rod_line(segments, 0, length, error);
    rod_world r = {.vertex_count = segments + 1, .edge_count = segments};
    sinew_real *start = malloc(3 * (size_t)(segments + 1) * sizeof *start), pull[3] = {0};
    for (int32_t i = 0; start && i <= segments; i++) {
        const double fraction = (double)i / segments;
        start[3 * i] = (sinew_real)fraction;
        start[3 * i + 1] = (sinew_real)(-2 * depth * fmin(fraction, 1 - fraction));
        start[3 * i + 2] = 0;
    }
    r.world = mesh && start ? rod_make_world(&s, error) : NULL;
    bool good = r.world != NULL;
    if (good) {
        static const char *const name = "stiffness";
        /* Stretching stiffness of the rope, as large as round-off allows. */
        const double stiffness = (sizeof(sinew_real) == 4 ? 1e3 : 1e5) * ROD_GRAVITY;
        const int32_t ends[2] = {0, segments};
        sinew_body_def body = sinew_default_body_def();
        sinew_pin_def pin = sinew_default_pin_def();
        body.mesh = mesh;
        body.density = 1;
        body.positions = start;
        r.body = pin.body = sinew_world_add_body(r.world, &body, error);
        pin.vertices = ends;
        pin.vertex_count = 2;
        good = r.body.index >= 0 && rod_add_energy(&r, SINEW_ENERGY_EDGE_STRAIN, &name, &stiffness, 1, error) &&
               sinew_world_add_pins(r.world, &pin, error).index >= 0 && rod_settle(&r, 1) &&
               sinew_world_field(r.world, SINEW_FIELD_FORCE, 0, 1, pull, error) == SINEW_OK;
    }
    if (good) {
        double lowest[3];
        rod_point(&r, segments / 2, lowest);
        *sag = -lowest[1];
        *force = fabs((double)pull[0]) / ROD_GRAVITY;
    }
    free(start);
    sinew_world_destroy(r.world);
    sinew_mesh_destroy(mesh);
    return good;
}

#endif
