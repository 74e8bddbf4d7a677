/* SPDX-License-Identifier: MIT
 *
 * pd_flag.c: PD fig 10 and section 8: a flag in extreme wind stays stable; it tears where edges exceed a strain, by
 * downdates of the factor instead of a new factorisation.
 *
 * Set-up: a flag of 1.5 m by 1 m, 0.2 kg/m2, edge strain of 500 N, pinned along one side, h = 1/30 s, 10 iterations;
 * the tearing flag has 150 N, 2 ms of damping and h = 10 ms. The time of removing edges is measured on the paper's
 * cloth of 81 x 81 vertices, one thread, processor time: the first step after the removal less a step without a change.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments.h"
#include "sinew/load.h"

#define LENGTH    1.5   /* length of the flag, in m */
#define STIFFNESS 500.0 /* stiffness of the flag's edges, in N */
#define STRAIN    0.08  /* strain at which an edge of the flag tears */

enum {
    SHOWN = 4, /* number of pictures of the tearing flag */
    SHOWN_EVERY = 50,
    CHANGES = 6, /* number of measured changes: 1, 4, 16 ... edges removed at once */
    WARM = 5     /* number of steps whose median is the time of a step without a change */
};

typedef struct flag {
    sinew_world *world;
    sinew_body body;
    sinew_energy edges;
    sinew_load wind;
} flag;

static sinew_mesh *flag_make_cloth(int32_t nx, int32_t ny, sinew_error *error)
{
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = nx;
    def.vertices[1] = ny;
    def.size[0] = (sinew_real)LENGTH;
    return sinew_mesh_cloth(&def, error);
}

/* Creates a flag pinned along x = 0, in a wind along x with a small component across. */
static bool make_flag(flag *f, const sinew_mesh *mesh, sinew_solver_kind kind, double wind, double damping,
                      sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)(1.0 / 30);
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(kind);
    def.solver.iterations = 10;
    def.solver.tolerance = 0;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    f->world = sinew_world_create(&def, error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.density = (sinew_real)0.2;
    f->body = f->world ? sinew_world_add_body(f->world, &body, error) : (sinew_body){.index = -1};
    sinew_energy_def edges = sinew_default_energy_def(SINEW_ENERGY_EDGE_STRAIN);
    edges.body = f->body;
    edges.parameters[0] = (sinew_real)STIFFNESS;
    edges.damping = (sinew_real)damping;
    f->edges = f->body.index >= 0 ? sinew_world_add_energy(f->world, &edges, error) : (sinew_energy){.index = -1};
    int32_t held[256];
    const sinew_region pole = {SINEW_REGION_HALF_SPACE, {0}, {-1, 0, 0}, 0};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = f->body;
    pin.vertices = held;
    pin.vertex_count = sinew_region_select(&pole, sinew_mesh_positions(mesh), sinew_mesh_vertex_count(mesh), held, 256);
    bool good = f->edges.index >= 0 && sinew_world_add_pins(f->world, &pin, error).index >= 0;
    sinew_load_def air = sinew_default_load_def(SINEW_LOAD_WIND);
    air.body = f->body;
    air.vector[0] = (sinew_real)(0.97 * wind);
    air.vector[2] = (sinew_real)(0.24 * wind);
    f->wind = good ? sinew_world_add_load(f->world, &air, error) : (sinew_load){.index = -1};
    return f->wind.index >= 0;
}

/* ---- The flag in extreme wind ----------------------------------------------------------------- */

/* Steps a flag in a wind of 200 m/s until a step is not finite. Returns the number of finite steps. */
static int32_t endure(const sinew_mesh *mesh, sinew_solver_kind kind, int32_t steps, double *farthest, outcome *o)
{
    sinew_error error = {0};
    flag f = {0};
    int32_t done = 0;
    if (make_flag(&f, mesh, kind, 200, 0, &error))
        while (done < steps && !(sinew_world_step(f.world, NULL) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)))
            done++;
    else
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
    const int32_t count = f.world ? sinew_world_particle_count(f.world) : 0;
    sinew_real *q = malloc((3 * (size_t)count + 1) * sizeof *q);
    if (q && count > 0)
        sinew_world_get_positions(f.world, 0, count, q);
    *farthest = 0;
    for (int32_t i = 0; q && i < count; i++)
        *farthest = fmax(
            *farthest, sqrt((double)(q[3 * i] * q[3 * i] + q[3 * i + 1] * q[3 * i + 1] + q[3 * i + 2] * q[3 * i + 2])));
    free(q);
    sinew_world_destroy(f.world);
    return done;
}

static void claim_sound(const setting *s, outcome *o)
{
    sinew_error error = {0};
    const int32_t steps = s->quick ? 200 : 10000;
    sinew_mesh *mesh = flag_make_cloth(s->quick ? 10 : 19, s->quick ? 7 : 13, &error);
    char measured[200] = "";
    bool all = true, sound = false;
    claim *c = outcome_claim(o, "pd is sound even under extreme forces: 200 m/s, h = 1/30 s", "remains stable");
    for (int kind = 0; mesh && kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        double farthest;
        /* Skips explicit integrators: they take one iteration instead of solving the step, and become unstable. */
        if (!sinew_solver_accepts((sinew_solver_kind)kind, SINEW_ENERGY_EDGE_STRAIN, NULL, 0) || info->static_only ||
            info->explicit_step || info->default_iterations == 1)
            continue;
        const int32_t done = endure(mesh, (sinew_solver_kind)kind, steps, &farthest, o);
        const size_t length = strlen(measured);
        snprintf(measured + length, sizeof measured - length, "%s%s %d (%.3g m)", length ? ", " : "", info->name, done,
                 farthest);
        all = all && done == steps;
        sound = sound || ((sinew_solver_kind)kind == SINEW_SOLVER_PD && done == steps && farthest < 2 * LENGTH);
        outcome_number(o, done, "finite_steps_%s", info->name);
        if (s->progress)
            s->progress(s->context, kind, SINEW_SOLVER_COUNT, "pd/flag");
    }
    claim_measured(c, "steps that were finite of %d (farthest vertex at the end): %s", steps, measured);
    claim_holds(c,
                sound && all ? HOLDS_YES
                : sound      ? HOLDS_PARTLY
                             : HOLDS_NO,
                "%s", all ? "" : "not every solver stays finite");
    sinew_mesh_destroy(mesh);
}

/* ---- The flag that tears ----------------------------------------------------------------------- */

static void flag_draw(const flag *f, figure *g, double time)
{
    const sinew_mesh *mesh = sinew_body_mesh(f->world, f->body);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *q = malloc(3 * (size_t)count * sizeof *q);
    char name[32];
    snprintf(name, sizeof name, "%.2f s", time);
    if (q && sinew_world_get_positions(f->world, sinew_body_first_particle(f->world, f->body), count, q) == SINEW_OK) {
        figure_shape(g, name, SINEW_SOLVER_PD, q, count);
        figure_surface(g, sinew_mesh_triangles(mesh), sinew_mesh_triangle_count(mesh));
    }
    free(q);
}

/* Creates a tearing flag, softer than the others, damped, with smaller steps and a growing wind, for the pictures. */
static bool make_tearing(flag *f, const sinew_mesh *mesh, sinew_error *error)
{
    sinew_tear_def tear = sinew_default_tear_def();
    if (!make_flag(f, mesh, SINEW_SOLVER_PD, 8, 0.002, error))
        return false;
    tear.body = f->body;
    tear.limit = (sinew_real)STRAIN;
    tear.split = false;
    tear.max = 4;
    return sinew_world_set_time_step(f->world, (sinew_real)0.01, error) == SINEW_OK &&
           sinew_energy_set_parameter(f->world, f->edges, "stiffness", 150, error) == SINEW_OK &&
           sinew_body_set_tear(f->world, &tear, error) == SINEW_OK;
}

/* Sets the wind on the tearing flag: 8 m/s for a second, then growing to 35 m/s within two seconds. */
static bool flag_blow(flag *f, double time, sinew_error *error)
{
    const double speed = 8 + 27 * fmin(fmax((time - 1) / 2, 0), 1);
    const sinew_real wind[3] = {(sinew_real)speed, 0, (sinew_real)(0.1 * speed)};
    return sinew_load_set_vector(f->world, f->wind, wind, error) == SINEW_OK;
}

static void claim_tears(const setting *s, outcome *o)
{
    sinew_error error = {0};
    flag f = {0};
    sinew_mesh *mesh = flag_make_cloth(s->quick ? 16 : 31, s->quick ? 11 : 21, &error);
    const int32_t steps = 320;
    bool good = mesh && make_tearing(&f, mesh, &error);
    figure *g = outcome_figure(o, "flag", "A flag tears in the wind (fig 10)", "", "");
    g->span = 2;
    uint32_t bits = 0;
    for (int32_t i = 1; good && i <= steps; i++) {
        good = flag_blow(&f, i * 0.01, &error);
        bits |= sinew_world_step(f.world, NULL);
        /* Draws a picture; later hardly any of the flag is left. */
        if (i % SHOWN_EVERY == 0 && i <= SHOWN * SHOWN_EVERY)
            flag_draw(&f, g, i * 0.01);
    }
    sinew_tear_report report = {0};
    if (good)
        sinew_body_torn(f.world, f.body, &report, &error);
    else
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
    const bool sound = good && !(bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
    claim *c = outcome_claim(o, "the flag tears when the wind is too strong", "edges go above a strain");
    claim_measured(c, "%d of %d edges gone after %.1f s in a wind that grew from 8 to 35 m/s, limit %.0f %%%s",
                   (int)report.edges, good ? sinew_energy_element_count(f.world, f.edges) : 0, steps * 0.01,
                   100 * STRAIN, sound ? ", every step finite" : "");
    claim_holds(c, sound && report.edges > 0 ? HOLDS_YES : HOLDS_NO, "%s", "");
    outcome_number(o, (double)report.edges, "edges_torn");
    sinew_world_destroy(f.world);
    sinew_mesh_destroy(mesh);
}

/* ---- Factor updates against new factors -------------------------------------------------------- */

static double timed_step(sinew_world *world)
{
    const clock_t began = clock();
    sinew_world_step(world, NULL);
    return (double)(clock() - began) / CLOCKS_PER_SEC;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double warm_step(sinew_world *world)
{
    double seconds[WARM];
    for (int i = 0; i < WARM; i++)
        seconds[i] = timed_step(world);
    qsort(seconds, WARM, sizeof seconds[0], by_size);
    return seconds[WARM / 2];
}

/* Largest distance in m between corresponding vertices of two flags. */
static double flag_apart(const flag *a, const flag *b)
{
    const int32_t count = sinew_world_particle_count(a->world);
    sinew_real *q = malloc(6 * (size_t)count * sizeof *q);
    double worst = q ? 0 : HUGE_VAL;
    if (q) {
        sinew_world_get_positions(a->world, 0, count, q);
        sinew_world_get_positions(b->world, 0, count, q + 3 * (size_t)count);
    }
    for (size_t i = 0; q && i < 3 * (size_t)count; i++)
        worst = fmax(worst, fabs((double)q[i] - (double)q[3 * (size_t)count + i]));
    free(q);
    return worst;
}

typedef struct change {
    int32_t edges;
    /* Processor time in s of a step with an updated factor and with a new factor, in excess of a step without a
     * change. */
    double updated, refactored;
    double difference; /* largest distance in m between the results of both steps */
} change;

/* Removes c->edges edges, spread over the cloth, from two flags: switched off in the first, deleted from the second. */
static bool measure_change(const sinew_mesh *mesh, change *c, sinew_error *error)
{
    flag a = {0}, b = {0};
    int32_t *gone = malloc((size_t)c->edges * sizeof *gone);
    bool good = gone && make_flag(&a, mesh, SINEW_SOLVER_PD, 20, 0, error) &&
                make_flag(&b, mesh, SINEW_SOLVER_PD, 20, 0, error);
    if (good) {
        const int32_t all = sinew_energy_element_count(a.world, a.edges);
        for (int32_t i = 0; i < c->edges; i++)
            gone[i] = (int32_t)((int64_t)i * all / c->edges);
        const double warm_a = warm_step(a.world), warm_b = warm_step(b.world);
        good = sinew_energy_switch(a.world, a.edges, gone, c->edges, false, error) == SINEW_OK &&
               sinew_energy_remove_elements(b.world, b.edges, gone, c->edges, error) == SINEW_OK;
        c->updated = timed_step(a.world) - warm_a;
        c->refactored = timed_step(b.world) - warm_b;
        c->difference = flag_apart(&a, &b);
    }
    sinew_world_destroy(a.world);
    sinew_world_destroy(b.world);
    free(gone);
    return good;
}

static void draw_changes(outcome *o, const change *changes)
{
    figure *f = outcome_figure(o, "changes", "Edges taken out of an 81 x 81 cloth (section 8)", "edges at once", "s");
    f->log_x = f->log_y = f->distinct = true;
    for (int which = 0; which < 2; which++) {
        if (!figure_series(f, which == 0 ? "updated" : "factorised again", SINEW_SOLVER_PD, which, CHANGES))
            return;
        for (int i = 0; i < CHANGES; i++) {
            f->series[which].x[i] = changes[i].edges;
            f->series[which].y[i] = fmax(1e-6, which == 0 ? changes[i].updated : changes[i].refactored);
        }
    }
}

static void claim_updates(const setting *s, outcome *o)
{
    sinew_error error = {0};
    sinew_mesh *mesh = flag_make_cloth(s->quick ? 21 : 81, s->quick ? 21 : 81, &error);
    change changes[CHANGES];
    double worst = 0;
    const double bound = sizeof(sinew_real) == 4 ? 1e-3 : 1e-9;
    bool good = mesh != NULL, faster = true;
    for (int i = 0; good && i < CHANGES; i++) {
        changes[i] = (change){.edges = 1 << 2 * i};
        good = measure_change(mesh, &changes[i], &error);
        worst = fmax(worst, changes[i].difference);
        faster = faster && changes[i].updated < changes[i].refactored;
        outcome_number(o, changes[i].updated, "updated_%d", changes[i].edges);
        outcome_number(o, changes[i].refactored, "refactored_%d", changes[i].edges);
    }
    sinew_mesh_destroy(mesh);
    if (!good) {
        snprintf(o->failure, sizeof o->failure, "%.255s", error.text);
        return;
    }
    draw_changes(o, changes);
    claim *same = outcome_claim(o, "dynamic constraints by updates give the same solution", "handled by rank updates");
    claim_measured(same, "updated and refactored solutions at most %.1e m apart", worst);
    claim_holds(same, worst < bound ? HOLDS_YES : HOLDS_NO, "%s", "");
    claim *time = outcome_claim(o, "updates are cheaper than a new factor", "no refactorisation");
    claim_measured(time,
                   "ms beyond a step, updated | again: 1 edge %.2f | %.1f, 16: %.2f | %.1f, 256: %.2f | %.1f, 1024: "
                   "%.2f | %.1f",
                   1e3 * changes[0].updated, 1e3 * changes[0].refactored, 1e3 * changes[2].updated,
                   1e3 * changes[2].refactored, 1e3 * changes[4].updated, 1e3 * changes[4].refactored,
                   1e3 * changes[5].updated, 1e3 * changes[5].refactored);
    claim_timed(time, faster ? "" : "with many edges at once the solver takes a new factor");
    outcome_number(o, worst, "difference");
}

void experiment_pd_flag(const setting *s, outcome *o)
{
    snprintf(o->setup, sizeof o->setup, "A flag of edge strain, %.0f N, 0.2 kg/m2, h = 1/30 s, 10 iterations.",
             STIFFNESS);
    claim_sound(s, o);
    claim_tears(s, o);
    claim_updates(s, o);
}
