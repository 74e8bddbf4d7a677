/* SPDX-License-Identifier: MIT
 *
 * recorded_step.h: a step of a random scene (random_scene.h), its reported errors, and the minima of its objective by
 * independent methods, for tests of the reported errors.
 *
 * For springs the minimum comes from a Newton's method in long double (spring_referee.h); for solids, from the
 * library's Newton and quasi-Newton methods in double, run to convergence on the step's objective. If g has several
 * local minima, both may end in different ones. The single build writes its steps to a file, and the double build of
 * the same program finds their minima with its smaller round-off.
 */
#ifndef SINEW_RECORDED_STEP_H
#define SINEW_RECORDED_STEP_H

#include "random_scene.h"
#include "spring_referee.h"
#include "contact/contact.h"
#include "world/world.h"

/* One step: its start, its end and its reported results. Arrays [3 * count] in the order of the caller's vertices. */
typedef struct recorded_step {
    int32_t count, body_count, inverted, single; /* all bodies have the same number of vertices */
    uint32_t bits;
    int32_t kind, steps, position_kind;
    double position_error; /* m */
    char reason[100], position_reason[100];
    double gap, objective, noise, milliseconds, gap_milliseconds;
    double *rest, *q, *v, *end;
    sinew_contact_cache_entry *entries; /* [entry_count] contacts at the start of the step */
    int32_t entry_count;
} recorded_step;

static inline void recorded_free(recorded_step *t)
{
    free(t->rest);
    free(t->q);
    free(t->v);
    free(t->end);
    free(t->entries);
    *t = (recorded_step){0};
}

/* ---- The step -------------------------------------------------------------------------------- */

static inline void widen(const sinew_real *from, double *to, int32_t count)
{
    for (int32_t i = 0; i < 3 * count; i++)
        to[i] = (double)from[i];
}

static inline void fetch(sinew_world *world, double *q, double *v)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    sinew_world_get_positions(world, 0, n, x);
    widen(x, q, n);
    if (v) {
        sinew_world_get_velocities(world, 0, n, x);
        widen(x, v, n);
    }
    free(x);
}

/* A record of the world's next steps, with its rest shape. */
static inline recorded_step record_begin(const sinew_world *world)
{
    recorded_step t = {.count = sinew_world_particle_count(world),
                       .body_count = sinew_world_body_count(world),
                       .single = sizeof(sinew_real) == 4};
    double **arrays[] = {&t.rest, &t.q, &t.v, &t.end};
    for (int i = 0; i < 4; i++)
        *arrays[i] = malloc(3 * (size_t)t.count * sizeof(double));
    for (int32_t i = 0; i < t.body_count; i++) {
        const int32_t each = t.count / t.body_count;
        const sinew_body body = sinew_world_body_at(world, i);
        assert_int_equal(sinew_body_first_particle(world, body), i * each);
        widen(sinew_mesh_positions(sinew_body_mesh(world, body)), t.rest + 3 * (size_t)(i * each), each);
    }
    return t;
}

static inline void record_end(sinew_world *world, const sinew_step_result *result, recorded_step *t)
{
    fetch(world, t->end, NULL);
    sinew_measures measures;
    sinew_world_measure(world, &measures);
    t->inverted = measures.inverted_count;
    t->bits = result->bits;
    t->kind = (int32_t)result->gap_kind;
    t->gap = result->gap;
    t->position_kind = (int32_t)result->position_error_kind;
    t->position_error = result->position_error;
    t->objective = result->objective;
    snprintf(t->reason, sizeof t->reason, "%s",
             result->bits & SINEW_STEP_UNPREPARED ? sinew_world_error(world) : result->gap_reason);
    snprintf(t->position_reason, sizeof t->position_reason, "%s", result->position_error_reason);
    t->steps = result->gap_steps;
    t->noise = world->solve.value_noise;
    t->milliseconds = 1e3 * result->seconds;
    t->gap_milliseconds = 1e3 * result->gap_seconds;
}

static inline recorded_step take_steps(const drawn_scene *d)
{
    sinew_solver_def solver = sinew_default_solver_def(d->solver);
    solver.measure = SINEW_MEASURE_GAP;
    solver.iterations = d->iterations;
    solver.tolerance = 0;
    sinew_world *world = drawn_world(d, &solver, NULL);
    recorded_step t = record_begin(world);
    sinew_step_result result = {0};
    for (int32_t i = 0; i < d->steps; i++) {
        fetch(world, t.q, t.v);
        if (sinew_world_step(world, &result) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
            break;
    }
    record_end(world, &result, &t);
    sinew_world_destroy(world);
    return t;
}

/* ---- Reference minima -------------------------------------------------------------------------- */

#define REFEREES 3
typedef struct minima {
    double gap[REFEREES];      /* optimality gap of the step's end above each minimum found, in J */
    double distance[REFEREES]; /* largest distance of a particle from its position at each minimum, in m */
    /* largest distance over the diagonal of the particle's body at rest, at each minimum */
    double relative[REFEREES];
    int count;
    double fall;  /* decrease of g from the start of the step to the lowest minimum, in J */
    double noise; /* round-off of the step's g in J, measured as its difference from the reference */
} minima;

static inline void add_minimum(minima *t, const recorded_step *step, double start, double end, double minimum)
{
    t->noise = step->single ? 2 * fabs(step->objective - end) : step->noise;
    t->gap[t->count++] = end - minimum;
    t->fall = fmax(t->fall, fmax(start, end) - minimum);
}

static inline double distance_of(const double *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* The diagonal of the bounding box of a body at rest. */
static inline double recorded_size(const recorded_step *t, int32_t body)
{
    const int32_t each = t->count / t->body_count;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    for (int32_t i = 3 * body * each; i < 3 * (body + 1) * each; i++) {
        low[i % 3] = fmin(low[i % 3], t->rest[i]);
        high[i % 3] = fmax(high[i % 3], t->rest[i]);
    }
    return distance_of(low, high);
}

/* Sets the distances between the end of the step and the next minimum q [3 * count]. */
static inline void set_distance(minima *truth, const recorded_step *t, const double *q)
{
    double *distance = &truth->distance[truth->count], *relative = &truth->relative[truth->count];
    const int32_t each = t->count / t->body_count;
    *distance = *relative = 0;
    for (int32_t body = 0; body < t->body_count; body++) {
        double max = 0;
        for (int32_t i = body * each; i < (body + 1) * each; i++)
            max = fmax(max, distance_of(q + 3 * (size_t)i, t->end + 3 * (size_t)i));
        *distance = fmax(*distance, max);
        *relative = fmax(*relative, max / recorded_size(t, body));
    }
}

static inline void put_state(sinew_world *world, const double *q, const double *v)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] = (sinew_real)q[i];
    sinew_world_set_positions(world, 0, n, x);
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] = (sinew_real)v[i];
    sinew_world_set_velocities(world, 0, n, x);
    free(x);
}

/* A world whose next step has the objective of the recorded step. */
static inline sinew_world *case_world(const drawn_scene *d, const recorded_step *t, sinew_solver_kind kind)
{
    sinew_error error = {0};
    sinew_solver_def solver = sinew_default_solver_def(kind);
    solver.iterations = kind == SINEW_SOLVER_QN ? 20000 : 1000;
    solver.tolerance = (sinew_real)1e-13;
    solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = drawn_world(d, &solver, t->rest);
    put_state(world, t->q, t->v);
    sinew_world_prepare(world, &error);
    must(&error);
    sinew_world_predict(world);
    return world;
}

static inline double objective_at(sinew_world *world, const double *q)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] = (sinew_real)q[i];
    double value;
    sinew_world_objective(world, x, &value, NULL);
    free(x);
    return value;
}

/* Runs a solver on the step's objective from the end of the step until its residual vanishes. */
static inline void solve_from_end(const drawn_scene *d, const recorded_step *t, sinew_solver_kind kind, minima *truth)
{
    sinew_world *world = case_world(d, t, kind);
    const double start = objective_at(world, t->q), end = objective_at(world, t->end);
    sinew_world_predict(world);
    sinew_solve *s = &world->solve;
    for (int32_t i = 0; i < t->count; i++)
        for (int c = 0; c < 3; c++)
            s->q[4 * (size_t)world->inside[i] + (size_t)c] = (sinew_real)t->end[3 * i + c];
    s->q_start = world->q;
    s->step = 1;
    /* By default quasi-Newton starts at the inertial position. */
    if (kind == SINEW_SOLVER_QN)
        s->def.parameters[sinew_solver_parameter(kind, "start")] = 1;
    sinew_step_result result;
    sinew_solve_run(s, &result);
    double *found = malloc(3 * (size_t)t->count * sizeof *found);
    for (int32_t i = 0; i < 3 * t->count; i++)
        found[i] = (double)s->q[4 * (size_t)world->inside[i / 3] + (size_t)(i % 3)];
    set_distance(truth, t, found);
    free(found);
    if (result.residual <= 1e-9 * s->scale || result.residual <= s->noise)
        add_minimum(truth, t, start, end, result.objective);
    sinew_world_destroy(world);
}

static inline void widen_inside(const sinew_world *world, const sinew_real *from, wide *to)
{
    for (int32_t i = 0; i < world->particle_count; i++)
        for (int c = 0; c < 3; c++)
            to[3 * i + c] = (wide)from[4 * (size_t)world->inside[i] + (size_t)c];
}

/* Solves the step of springs independently: only masses and pins come from the world. */
static inline void solve_springs(const drawn_scene *d, const recorded_step *t, minima *truth)
{
    sinew_world *world = case_world(d, t, SINEW_SOLVER_NEWTON);
    const sinew_mesh *mesh = sinew_body_mesh(world, (sinew_body){.index = 0});
    const int32_t n = t->count, edges = sinew_mesh_edge_count(mesh);
    const int32_t *edge = sinew_mesh_edges(mesh);
    double *k = malloc((size_t)edges * sizeof *k), *L = malloc((size_t)edges * sizeof *L);
    double *m = malloc((size_t)n * sizeof *m);
    uint8_t *held = malloc((size_t)n);
    wide *q_tilde = malloc(3 * (size_t)n * sizeof *q_tilde), *q = malloc(3 * (size_t)n * sizeof *q);
    for (int32_t e = 0; e < edges; e++) {
        wide square = 0;
        for (int c = 0; c < 3; c++)
            square += powl((wide)t->rest[3 * edge[2 * e] + c] - t->rest[3 * edge[2 * e + 1] + c], 2);
        L[e] = (double)sqrtl(square);
        k[e] = drawn_stiffness(d, mesh, edge[2 * e]);
    }
    for (int32_t i = 0; i < n; i++) {
        m[i] = (double)world->mass[world->inside[i]];
        held[i] = world->pinned[world->inside[i]];
    }
    springs s = {.n = n,
                 .edge_count = edges,
                 .edges = edge,
                 .k = k,
                 .L = L,
                 .m = m,
                 .held = held,
                 .q_tilde = q_tilde,
                 .h = d->h,
                 .gravity = {0, (double)world->def.gravity[1], 0}};
    widen_inside(world, world->q_tilde, q_tilde);
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] = t->q[i];
    const wide start = springs_value(&s, q);
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] = t->end[i];
    const wide end = springs_value(&s, q);
    bool solved;
    const wide minimum = springs_minimise(&s, q, &solved);
    double *found = malloc(3 * (size_t)n * sizeof *found);
    for (int32_t i = 0; i < 3 * n; i++)
        found[i] = (double)q[i];
    set_distance(truth, t, found);
    free(found);
    if (solved)
        add_minimum(truth, t, (double)start, (double)end, (double)minimum);
    free(k);
    free(L);
    free(m);
    free(held);
    free(q_tilde);
    free(q);
    sinew_world_destroy(world);
}

/* Adds the minimum that one of the REFEREES methods finds from the end of the step, if it converges. */
static inline void find_minimum(const drawn_scene *d, const recorded_step *t, int referee, minima *truth)
{
    if (!drawn_is_solid(d) && referee == 0)
        solve_springs(d, t, truth);
    else
        solve_from_end(d, t, referee == 1 ? SINEW_SOLVER_QN : SINEW_SOLVER_NEWTON, truth);
}

/* Whether the step ended farther from each minimum than three times the default accuracy. */
static inline bool is_far(const minima *truth)
{
    double nearest = HUGE_VAL;
    for (int i = 0; i < truth->count; i++)
        nearest = fmin(nearest, truth->relative[i]);
    return nearest > 3e-4;
}

/* ---- Steps of the single build ----------------------------------------------------------------- */

/* Two builds of this program on one machine write and read the file. */
static inline bool pass(FILE *file, bool writing, void *data, size_t size)
{
    if (writing)
        return fwrite(data, 1, size, file) == size;
    return fread(data, 1, size, file) == size;
}

static inline bool pass_case(FILE *file, bool writing, recorded_step *t)
{
    double **arrays[] = {&t->rest, &t->q, &t->v, &t->end};
    recorded_step plain = *t;
    plain.rest = plain.q = plain.v = plain.end = NULL;
    plain.entries = NULL;
    if (!pass(file, writing, &plain, sizeof plain))
        return false;
    const size_t size = 3 * (size_t)plain.count * sizeof(double);
    for (int i = 0; i < 4; i++) {
        if (!writing)
            *arrays[i] = malloc(size);
        if (!pass(file, writing, *arrays[i], size))
            return false;
    }
    const size_t bytes = (size_t)plain.entry_count * sizeof *t->entries;
    if (!writing)
        t->entries = malloc(bytes + 1);
    if (!pass(file, writing, t->entries, bytes))
        return false;
    plain.rest = t->rest;
    plain.q = t->q;
    plain.v = t->v;
    plain.end = t->end;
    plain.entries = t->entries;
    *t = plain;
    return true;
}

#endif
