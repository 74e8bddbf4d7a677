/* SPDX-License-Identifier: MIT
 *
 * random_scene.h: random scenes: mesh, material, motion, time step and solver are drawn from a seed.
 *
 * All numbers are rounded to single precision, so that both builds draw the same scene.
 */
#ifndef SINEW_RANDOM_SCENE_H
#define SINEW_RANDOM_SCENE_H

#include "make_world.h"
#include "random_cases.h"
#include "sinew/scene.h"

typedef enum drawn_mesh {
    DRAWN_BEAM,
    DRAWN_BOX,
    DRAWN_BALL,
    DRAWN_CYLINDER,
    DRAWN_TORUS,
    DRAWN_TUBE,
    DRAWN_BRACKET, /* an unstructured mesh by Gmsh */
    DRAWN_CLOTH,
    DRAWN_ROPE,
    DRAWN_MESH_COUNT
} drawn_mesh;

typedef struct drawn_scene {
    drawn_mesh mesh;
    int32_t cells;
    double size, roughness; /* m; fraction of a cell by which rest vertices are displaced */
    sinew_energy_kind energy;
    double stiffness, poisson, contrast; /* contrast: factor of the stiffness in the half x > middle */
    double h;                            /* s; 0: quasistatic */
    double spin[3], push[3];             /* rad/s, m/s */
    double squeeze;                      /* initial length along x over the rest length; < 0: inverted */
    double noise;                        /* fraction of a cell by which initial positions are displaced */
    bool pinned;
    sinew_solver_kind solver;
    int32_t iterations, steps;
    bool balance;  /* the world keeps the energy balance of its steps; never drawn */
    uint64_t seed; /* seed of the displacements */
} drawn_scene;

static inline double drawn_number(double x)
{
    return (double)(float)x;
}

static inline bool drawn_is_solid(const drawn_scene *d)
{
    return d->mesh < DRAWN_CLOTH;
}

/* A solver that supports the scene's energy and mode, and minimises the objective. */
static inline sinew_solver_kind draw_solver(random_cases *r, const drawn_scene *d)
{
    for (;;) {
        const sinew_solver_kind kind = (sinew_solver_kind)random_index(r, SINEW_SOLVER_COUNT);
        const sinew_solver_info *info = sinew_get_solver_info(kind);
        if (!info->explicit_step && sinew_solver_accepts(kind, d->energy, NULL, 0) &&
            (d->h > 0 ? !info->static_only : info->quasistatic))
            return kind;
    }
}

static inline drawn_scene draw_scene(random_cases *r)
{
    static const sinew_energy_kind solids[] = {
        SINEW_ENERGY_STRAIN,          SINEW_ENERGY_COROTATED,          SINEW_ENERGY_NEO_HOOKEAN,
        SINEW_ENERGY_NEO_HOOKEAN_LOG, SINEW_ENERGY_STABLE_NEO_HOOKEAN, SINEW_ENERGY_ST_VENANT_KIRCHHOFF,
        SINEW_ENERGY_LINEAR};
    drawn_scene d = {.mesh = (drawn_mesh)random_index(r, DRAWN_MESH_COUNT), .contrast = 1, .squeeze = 1};
    const bool solid = drawn_is_solid(&d);
    d.cells = 1 + random_index(r, 4);
    d.size = drawn_number(random_magnitude(r, 0.1, 2));
    d.roughness = random_index(r, 2) ? drawn_number(random_between(r, 0, 0.12)) : 0;
    d.energy = solid ? solids[random_index(r, 7)] : SINEW_ENERGY_SPRING;
    d.stiffness =
        drawn_number(solid ? random_magnitude(r, 1e4, 1e8) : random_magnitude(r, 1e2, random_index(r, 4) ? 1e6 : 1e12));
    d.poisson = drawn_number(random_index(r, 3) ? random_between(r, 0.1, 0.49) : 0.5 - random_magnitude(r, 1e-3, 1e-1));
    if (random_index(r, 4) == 0)
        d.contrast = drawn_number(random_magnitude(r, 1, 1e6));
    d.h = random_index(r, 5) ? drawn_number(random_magnitude(r, 0.003, 0.1)) : 0;
    for (int c = 0; c < 3; c++) {
        d.spin[c] = random_index(r, 3) ? 0 : drawn_number(random_between(r, -10, 10));
        d.push[c] = random_index(r, 3) ? 0 : drawn_number(random_between(r, -2, 2));
    }
    if (random_index(r, 3) == 0)
        d.squeeze = drawn_number(random_between(r, 0.6, 1.6));
    if (random_index(r, 4) == 0)
        d.noise = drawn_number(random_between(r, 0, 0.3));
    if (solid && d.energy != SINEW_ENERGY_NEO_HOOKEAN_LOG && random_index(r, 10) == 0)
        d.squeeze = drawn_number(random_between(r, -1, 0));
    d.pinned = d.h == 0 || random_index(r, 2);
    d.solver = draw_solver(r, &d);
    d.iterations = (int32_t)random_magnitude(r, 1, 301);
    d.steps = 1 + random_index(r, 3);
    d.seed = random_bits(r);
    return d;
}

static inline const char *drawn_mesh_name(drawn_mesh mesh)
{
    static const char *const names[DRAWN_MESH_COUNT] = {"beam", "box",     "ball",  "cylinder", "torus",
                                                        "tube", "bracket", "cloth", "rope"};
    return names[mesh];
}

static inline void print_scene(const drawn_scene *d)
{
    printf(
        "%s %d cells %.3g m rough %.2g %s k %.3g nu %.4g contrast %.3g h %.3g spin %.2g %.2g %.2g push %.2g %.2g %.2g "
        "squeeze %.2g noise %.2g %s %s:iterations=%d steps %d",
        drawn_mesh_name(d->mesh), (int)d->cells, d->size, d->roughness, sinew_get_energy_info(d->energy)->name,
        d->stiffness, d->poisson, d->contrast, d->h, d->spin[0], d->spin[1], d->spin[2], d->push[0], d->push[1],
        d->push[2], d->squeeze, d->noise, d->pinned ? "pinned" : "free", sinew_get_solver_info(d->solver)->name,
        (int)d->iterations, (int)d->steps);
}

/* ---- Build ----------------------------------------------------------------------------------- */

static inline sinew_mesh *generate_round(const drawn_scene *d, sinew_error *error)
{
    sinew_round_def def = sinew_default_round_def();
    def.radius = (sinew_real)(d->size / 2);
    def.height = (sinew_real)d->size;
    def.segments = d->mesh == DRAWN_BALL || d->mesh == DRAWN_CYLINDER ? d->cells + 2 : 2 * d->cells + 6;
    def.layers = d->mesh == DRAWN_TORUS ? 2 : d->cells + 1;
    def.rings = 1;
    return d->mesh == DRAWN_BALL       ? sinew_mesh_ball(&def, error)
           : d->mesh == DRAWN_CYLINDER ? sinew_mesh_cylinder(&def, error)
           : d->mesh == DRAWN_TORUS    ? sinew_mesh_torus(&def, error)
                                       : sinew_mesh_tube(&def, error);
}

static inline sinew_mesh *generate_mesh(const drawn_scene *d)
{
    sinew_error error = {0};
    const double s = d->size;
    sinew_mesh *mesh = NULL;
    sinew_cloth_def cloth = sinew_default_cloth_def();
    if (d->mesh == DRAWN_BEAM) {
        mesh = make_beam(4 * d->cells, d->cells, d->cells, s, s / 4, s / 4);
    } else if (d->mesh == DRAWN_BOX) {
        mesh = make_beam(d->cells + 1, d->cells + 1, d->cells + 1, s, s, s);
    } else if (d->mesh == DRAWN_BRACKET) {
        mesh = sinew_mesh_read(SINEW_SOURCE_DIR "/scenes/meshes/bracket.msh", NULL, &error);
    } else if (d->mesh == DRAWN_CLOTH) {
        cloth.vertices[0] = cloth.vertices[1] = 3 * d->cells + 2;
        cloth.size[0] = cloth.size[1] = (sinew_real)s;
        cloth.diagonals = (sinew_diagonals)(d->seed % 4);
        mesh = sinew_mesh_cloth(&cloth, &error);
    } else if (d->mesh == DRAWN_ROPE) {
        mesh = make_rope(6 * d->cells + 2, (double[]){0, 0, 0}, (double[]){s, 0, 0});
    } else {
        mesh = generate_round(d, &error);
    }
    must(&error);
    return mesh;
}

/* Approximate side of a cell: the cube root of the volume per vertex, or the length of an edge. */
static inline double cell_of(const drawn_scene *d, const sinew_real *X, int32_t count)
{
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, volume = 1;
    for (int32_t i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], (double)X[i]);
        high[i % 3] = fmax(high[i % 3], (double)X[i]);
    }
    if (!drawn_is_solid(d))
        return d->size / (d->mesh == DRAWN_ROPE ? 6 * d->cells + 1 : 3 * d->cells + 1);
    for (int c = 0; c < 3; c++)
        volume *= high[c] - low[c];
    return cbrt(volume / count);
}

/* The rest shape with displaced and rounded vertices; recorded positions replace it. */
static inline sinew_mesh *drawn_rest(const drawn_scene *d, const double *positions)
{
    sinew_error error = {0};
    sinew_mesh *plain = generate_mesh(d);
    const int32_t n = sinew_mesh_vertex_count(plain);
    const sinew_real *X = sinew_mesh_positions(plain);
    sinew_real *moved = malloc(3 * (size_t)n * sizeof *moved);
    random_cases r = {.state = d->seed};
    const double reach = d->roughness * cell_of(d, X, n);
    for (int32_t i = 0; i < 3 * n; i++) {
        const double there = (double)X[i] + random_between(&r, -reach, reach);
        moved[i] = (sinew_real)(positions ? positions[i] : drawn_number(there));
    }
    sinew_mesh *mesh = sinew_mesh_moved(plain, moved, &error);
    must(&error);
    free(moved);
    sinew_mesh_destroy(plain);
    return mesh;
}

/* Initial positions and velocities: squeezed along x, displaced, spinning about the origin. */
static inline void drawn_start(const drawn_scene *d, const sinew_mesh *mesh, sinew_real *x, sinew_real *v)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    random_cases r = {.state = d->seed ^ 1};
    const double reach = d->noise * cell_of(d, X, n);
    for (int32_t i = 0; i < n; i++) {
        double p[3];
        for (int c = 0; c < 3; c++) {
            p[c] = (double)X[3 * i + c] * (c == 0 ? d->squeeze : 1) + random_between(&r, -reach, reach);
            x[3 * i + c] = (sinew_real)drawn_number(p[c]);
        }
        for (int c = 0; c < 3; c++)
            v[3 * i + c] = (sinew_real)drawn_number(d->push[c] + d->spin[(c + 1) % 3] * p[(c + 2) % 3] -
                                                    d->spin[(c + 2) % 3] * p[(c + 1) % 3]);
    }
}

/* The stiffness of an element, by the first of its vertices. */
static inline double drawn_stiffness(const drawn_scene *d, const sinew_mesh *mesh, int32_t vertex)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    double middle = 0;
    for (int32_t i = 0; i < n && d->contrast > 1; i++)
        middle += (double)X[3 * i] / n;
    return drawn_number(d->stiffness * ((double)X[3 * vertex] > middle ? d->contrast : 1));
}

static inline void add_drawn_energy(const drawn_scene *d, sinew_world *world, sinew_body body, const sinew_mesh *mesh)
{
    sinew_energy_def def = sinew_default_energy_def(d->energy);
    const bool solid = drawn_is_solid(d);
    const char *name = d->energy == SINEW_ENERGY_STRAIN || !solid ? "stiffness" : "young";
    const int32_t which = sinew_energy_parameter(d->energy, name),
                  poisson = sinew_energy_parameter(d->energy, "poisson");
    const int32_t size = solid ? 4 : 2;
    const int32_t *cells = solid ? sinew_mesh_tets(mesh) : sinew_mesh_edges(mesh);
    const int32_t count = solid ? sinew_mesh_tet_count(mesh) : sinew_mesh_edge_count(mesh);
    sinew_real *values = malloc((size_t)count * sizeof *values);
    for (int32_t i = 0; i < count; i++)
        values[i] = (sinew_real)drawn_stiffness(d, mesh, cells[size * i]);
    def.body = body;
    def.elements = cells;
    def.element_count = count;
    def.element_parameters[which] = values;
    if (poisson >= 0)
        def.parameters[poisson] = (sinew_real)d->poisson;
    add_energy(world, &def);
    free(values);
}

/* Pins the vertices in the first tenth along x, or a rope's first one. */
static inline void pin_start(sinew_world *world, sinew_body body, const sinew_mesh *mesh)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real low = X[0], high = X[0];
    for (int32_t i = 0; i < n; i++) {
        low = X[3 * i] < low ? X[3 * i] : low;
        high = X[3 * i] > high ? X[3 * i] : high;
    }
    int32_t count = 0, *held = malloc((size_t)n * sizeof *held);
    for (int32_t i = 0; i < n; i++)
        if (X[3 * i] <= low + (high - low) * (sinew_real)0.12)
            held[count++] = i;
    sinew_error error = {0};
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = body;
    pins.vertices = held;
    pins.vertex_count = count;
    sinew_world_add_pins(world, &pins, &error);
    must(&error);
    free(held);
}

/* The world of a scene with a solver; rest (may be NULL) [3 * vertex_count] replaces the drawn rest shape. */
static inline sinew_world *drawn_world(const drawn_scene *d, const sinew_solver_def *solver, const double *rest)
{
    sinew_mesh *mesh = drawn_rest(d, rest);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x), *v = malloc(3 * (size_t)n * sizeof *v);
    drawn_start(d, mesh, x, v);
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = d->h == 0;
    if (d->h > 0)
        def.time_step = (sinew_real)d->h;
    def.thread_count = 1;
    def.balance = d->balance;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, drawn_is_solid(d) ? 1000 : d->mesh == DRAWN_CLOTH ? 0.5 : 0.1, x, v);
    add_drawn_energy(d, world, body, mesh);
    if (d->pinned)
        pin_start(world, body, mesh);
    free(x);
    free(v);
    sinew_mesh_destroy(mesh);
    return world;
}

#endif
