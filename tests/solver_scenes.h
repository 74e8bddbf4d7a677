/* SPDX-License-Identifier: MIT
 *
 * solver_scenes.h: the small scenes that solvers are tested on, and Newton's minimum of each.
 *
 * A beam of 3 x 1 x 1 m twisted by a quarter turn about its axis and held at one end, a squashed ball in free space, a
 * stretched cloth of springs that hangs by two corners; soft, stiff, and quasistatic.
 */
#ifndef SINEW_SOLVER_SCENES_H
#define SINEW_SOLVER_SCENES_H

#include "make_world.h"

#ifdef SINEW_SINGLE
#define IS_SINGLE true
#else
#define IS_SINGLE false
#endif

/* ---- Scenes ---------------------------------------------------------------------------------- */

typedef enum shape {
    BEAM,
    BALL,
    CLOTH
} shape;

typedef struct scene {
    const char *name;
    shape shape;
    sinew_energy_kind kind;
    double stiffness, poisson, h; /* h = 0: quasistatic */
    sinew_allocator allocator;
} scene;

enum {
    BEAM_SOFT,
    BEAM_STIFF,
    BEAM_STILL,
    BALL_SOFT,
    BALL_STIFF,
    CLOTH_SOFT,
    CLOTH_STIFF,
    RUBBER_SOFT,
    RUBBER_STIFF,
    RUBBER_STILL,
    RUBBER_BALL,
    SCENE_COUNT
};

static const scene scenes[SCENE_COUNT] = {
    [BEAM_SOFT] = {"beam, soft", BEAM, SINEW_ENERGY_STRAIN, 1e4, 0, 1e-2, {0}},
    [BEAM_STIFF] = {"beam, stiff", BEAM, SINEW_ENERGY_STRAIN, 1e7, 0, 1e-2, {0}},
    [BEAM_STILL] = {"beam, quasistatic", BEAM, SINEW_ENERGY_STRAIN, 1e6, 0, 0, {0}},
    [BALL_SOFT] = {"ball, soft", BALL, SINEW_ENERGY_STRAIN, 1e4, 0, 1e-2, {0}},
    [BALL_STIFF] = {"ball, stiff", BALL, SINEW_ENERGY_STRAIN, 1e7, 0, 1e-2, {0}},
    [CLOTH_SOFT] = {"cloth, soft", CLOTH, SINEW_ENERGY_SPRING, 10, 0, 1e-2, {0}},
    [CLOTH_STIFF] = {"cloth, stiff", CLOTH, SINEW_ENERGY_SPRING, 1e4, 0, 1e-2, {0}},
    [RUBBER_SOFT] = {"rubber beam, soft", BEAM, SINEW_ENERGY_NEO_HOOKEAN, 1e4, 0.3, 1e-2, {0}},
    [RUBBER_STIFF] = {"rubber beam, stiff", BEAM, SINEW_ENERGY_NEO_HOOKEAN, 1e7, 0.45, 1e-2, {0}},
    [RUBBER_STILL] = {"rubber beam, quasistatic", BEAM, SINEW_ENERGY_NEO_HOOKEAN, 1e6, 0.3, 0, {0}},
    [RUBBER_BALL] = {"rubber ball", BALL, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.45, 1e-2, {0}},
};

static inline sinew_mesh *mesh_of(const scene *s, int refine)
{
    sinew_error error = {0};
    sinew_round_def ball = sinew_default_round_def();
    sinew_cloth_def cloth = sinew_default_cloth_def();
    if (s->shape == BEAM)
        return make_beam(6 * refine, 2 * refine, 2 * refine, 3, 1, 1);
    ball.segments = 4 * refine;
    cloth.vertices[0] = cloth.vertices[1] = 8 * refine;
    sinew_mesh *mesh = s->shape == BALL ? sinew_mesh_ball(&ball, &error) : sinew_mesh_cloth(&cloth, &error);
    must(&error);
    return mesh;
}

/* The initial position of a vertex. */
static inline void displace(const scene *s, const sinew_real *X, sinew_real *x)
{
    const double a = s->shape == BEAM ? (double)(X[0] + (sinew_real)1.5) / 3 * MAKE_PI / 2 : 0;
    const double scale[3] = {s->shape == BEAM ? 1 : 1.15, s->shape == BALL ? 0.7 : s->shape == CLOTH ? 1.1 : 1, 1};
    x[0] = (sinew_real)scale[0] * X[0];
    x[1] = (sinew_real)(scale[1] * (cos(a) * (double)X[1] - sin(a) * (double)X[2]));
    x[2] = (sinew_real)(scale[2] * (sin(a) * (double)X[1] + cos(a) * (double)X[2]));
}

/* Writes the fixed vertices of the scene; returns their number. */
static inline int32_t fixed_of(const scene *s, const sinew_mesh *mesh, int32_t *vertices)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    if (s->shape == BEAM)
        return vertices_at(mesh, 0, -1.5, -1.5, vertices);
    int32_t count = 0;
    for (int32_t i = 0; s->shape == CLOTH && i < sinew_mesh_vertex_count(mesh); i++)
        if (X[3 * i + 1] > 0.999 && (X[3 * i] < 1e-3 || X[3 * i] > 0.999))
            vertices[count++] = i;
    return count;
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

static inline sinew_solver_def solver_of(sinew_solver_kind kind, int iterations)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = iterations;
    def.tolerance = 0;
    def.record = SINEW_RECORD_ITERATIONS;
    return def;
}

static inline void set(sinew_solver_def *def, const char *name, double value)
{
    const int32_t at = sinew_solver_parameter(def->kind, name);
    assert_true(at >= 0);
    def->parameters[at] = (sinew_real)value;
}

static inline sinew_world *build(const scene *s, const sinew_solver_def *solver, int refine, int threads)
{
    sinew_mesh *mesh = mesh_of(s, refine);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_world_def def = sinew_default_world_def();
    sinew_real *start = make_array(3 * (size_t)n, sizeof *start);
    int32_t *fixed = make_array((size_t)n, sizeof *fixed);
    for (int32_t i = 0; i < n; i++)
        displace(s, sinew_mesh_positions(mesh) + 3 * i, start + 3 * i);
    def.allocator = s->allocator;
    def.thread_count = threads;
    def.quasistatic = s->h == 0;
    if (s->h > 0)
        def.time_step = (sinew_real)s->h;
    if (s->shape == BALL)
        def.gravity[1] = 0;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, s->shape == CLOTH ? 0.2 : 1000, start, NULL);
    if (s->kind == SINEW_ENERGY_SPRING)
        add_springs(world, body, s->stiffness);
    else
        add_material(world, body, s->kind, s->stiffness, s->poisson);
    const int32_t count = fixed_of(s, mesh, fixed);
    if (count > 0)
        add_pins(world, body, fixed, count, NULL);
    free(start);
    free(fixed);
    sinew_mesh_destroy(mesh);
    return world;
}

/* Takes a step that must be finite; returns its result. */
static inline sinew_step_result step_of(sinew_world *world)
{
    sinew_step_result result;
    const uint32_t bits = sinew_world_step(world, &result);
    if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
        fail_msg("a step ended with bits %x: %s", bits, sinew_world_error(world));
    return result;
}

/* Newton's minimum of a scene's first step; positions in *q if not NULL. */
static inline double newton_minimum(const scene *s, sinew_real **q)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, 200);
    def.tolerance = (sinew_real)(IS_SINGLE ? 1e-6 : 1e-12);
    sinew_world *world = build(s, &def, 1, 1);
    const sinew_step_result result = step_of(world);
    if (q)
        *q = positions_of(world);
    sinew_world_destroy(world);
    return result.objective;
}

static inline double largest_difference(const sinew_real *a, const sinew_real *b, int32_t count)
{
    double max = 0;
    for (int32_t i = 0; i < count; i++)
        max = fmax(max, fabs((double)a[i] - (double)b[i]));
    return max;
}

/* Newton's minimum of a scene's first step, computed once per program. */
static inline double minimum_of(int index)
{
    static double minima[SCENE_COUNT];
    if (minima[index] == 0)
        minima[index] = newton_minimum(&scenes[index], NULL);
    return minima[index];
}

/* Relative error (g - g*) / (g0 - g*) of the first step of a scene: thesis (5.5). */
static inline double step_error(int index, const sinew_solver_def *solver)
{
    sinew_world *world = build(&scenes[index], solver, 1, 1);
    const double best = minimum_of(index);
    int32_t count;
    step_of(world);
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    const double error = (records[count - 1].objective - best) / (records[0].objective - best);
    sinew_world_destroy(world);
    return error;
}

#endif
