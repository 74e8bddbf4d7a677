/* SPDX-License-Identifier: MIT
 *
 * pd_scenes.c: the cloth and the bar of pd_scenes.h as worlds.
 */
#include "pd_scenes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static sinew_world *pd_scenes_new_world(const trial *t, const pd_scene *scene, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)FRAME;
    def.thread_count = 1;
    def.allocator = t->allocator;
    def.gravity[1] = (sinew_real)(scene->weightless ? 0 : -9.8);
    def.damping = (sinew_real)scene->damping;
    def.solver = t->solver;
    return sinew_world_create(&def, error);
}

static bool pd_scenes_add_energy(sinew_world *world, sinew_body body, sinew_energy_kind kind, double stiffness,
                                 sinew_error *error)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = body;
    def.parameters[sinew_energy_parameter(kind, "stiffness")] = (sinew_real)stiffness;
    return sinew_world_add_energy(world, &def, error).index >= 0;
}

static bool hold_vertices(sinew_world *world, sinew_body body, const int32_t *vertices, int32_t count,
                          const sinew_motion *motion, sinew_error *error)
{
    sinew_pin_def def = sinew_default_pin_def();
    def.body = body;
    def.vertices = vertices;
    def.vertex_count = count;
    def.motion = motion;
    return sinew_world_add_pins(world, &def, error).index >= 0;
}

static sinew_world *pd_scenes_finished(sinew_world *world, bool good)
{
    if (good)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* ---- The cloth of Projective Dynamics ---------------------------------------------------------- */

static sinew_mesh *pd_scenes_cloth_mesh(int32_t n, sinew_error *error)
{
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = n;
    return sinew_mesh_cloth(&def, error);
}

/* Pseudo-random number in [-1, 1], platform-independent (Park and Miller 1988). */
static double pd_scenes_next_random(uint32_t *state)
{
    *state = (uint32_t)((uint64_t)*state * 48271u % 2147483647u);
    return 2.0 * (double)*state / 2147483647.0 - 1.0;
}

/* Computes the initial positions and velocities of the cloth's vertices. */
static void start_cloth(const pd_scene *scene, const sinew_mesh *mesh, sinew_real *x, sinew_real *v)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    uint32_t random = 12345;
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++) {
        const double size = 1 + scene->stretch, across = size * (double)X[3 * i],
                     along = size * (1 - (double)X[3 * i + 1]);
        x[3 * i] = (sinew_real)across;
        x[3 * i + 1] = (sinew_real)(scene->level ? 0 : -along);
        x[3 * i + 2] = (sinew_real)(scene->level ? along : 0);
        for (int c = 0; c < 3; c++)
            v[3 * i + c] = (sinew_real)(c < 2 ? scene->jolt * pd_scenes_next_random(&random) : 0);
    }
}

static bool hold_cloth(const pd_scene *scene, sinew_world *world, sinew_body body, int32_t n, sinew_error *error)
{
    int32_t *held = malloc((size_t)n * sizeof *held);
    const bool edge = scene->hold == HOLD_EDGE;
    for (int32_t i = 0; held && i < n; i++)
        held[i] = n * (n - 1) + i;
    if (held && !edge)
        held[1] = held[n - 1];
    const bool good =
        held && (scene->hold == HOLD_NOTHING || hold_vertices(world, body, held, edge ? n : 2, NULL, error));
    free(held);
    return good;
}

sinew_world *scene_pd_cloth(trial *t, sinew_error *error)
{
    const pd_scene *scene = t->scene;
    sinew_mesh *mesh = pd_scenes_cloth_mesh(t->n, error);
    sinew_world *world = mesh ? pd_scenes_new_world(t, scene, error) : NULL;
    sinew_real *x = malloc(6 * (size_t)t->n * (size_t)t->n * sizeof *x);
    sinew_body body = {.index = -1};
    if (world && x) {
        start_cloth(scene, mesh, x, x + 3 * (size_t)t->n * (size_t)t->n);
        sinew_body_def def = sinew_default_body_def();
        def.mesh = mesh;
        def.density = (sinew_real)0.2;
        def.positions = x;
        def.velocities = x + 3 * (size_t)t->n * (size_t)t->n;
        body = sinew_world_add_body(world, &def, error);
    }
    const bool good = body.index >= 0 &&
                      pd_scenes_add_energy(world, body, SINEW_ENERGY_EDGE_STRAIN, scene->stiffness, error) &&
                      hold_cloth(scene, world, body, t->n, error);
    free(x);
    sinew_mesh_destroy(mesh);
    return pd_scenes_finished(world, good);
}

pd_strain pd_cloth_strain(int32_t n, const sinew_real *q)
{
    pd_strain strain = {NAN, NAN};
    sinew_mesh *mesh = pd_scenes_cloth_mesh(n, NULL);
    if (!mesh)
        return strain;
    const int32_t count = sinew_mesh_edge_count(mesh), *edges = sinew_mesh_edges(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    double sum = 0, squares = 0;
    for (int32_t i = 0; i < count; i++) {
        double length[2] = {0, 0};
        for (int c = 0; c < 3; c++) {
            const double now = (double)q[3 * edges[2 * i + 1] + c] - (double)q[3 * edges[2 * i] + c],
                         rest = (double)X[3 * edges[2 * i + 1] + c] - (double)X[3 * edges[2 * i] + c];
            length[0] += now * now;
            length[1] += rest * rest;
        }
        const double own = sqrt(length[0] / length[1]) - 1;
        sum += own;
        squares += own * own;
    }
    strain = (pd_strain){sum / count, sqrt(squares / count)};
    sinew_mesh_destroy(mesh);
    return strain;
}

/* ---- The bar of Projective Dynamics ------------------------------------------------------------ */

static bool hold_end(sinew_world *world, sinew_body body, int side, const sinew_motion *motion, sinew_error *error)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    int32_t *held = malloc((size_t)count * sizeof *held), found = 0;
    double end = 0;
    for (int32_t i = 0; i < count; i++)
        end = fmax(end, side * (double)X[3 * i]);
    for (int32_t i = 0; held && i < count; i++)
        if (side * (double)X[3 * i] > end - 1e-6)
            held[found++] = i;
    const bool good = held && hold_vertices(world, body, held, found, motion, error);
    free(held);
    return good;
}

sinew_world *scene_pd_bar(trial *t, sinew_error *error)
{
    const pd_scene *scene = t->scene;
    sinew_mesh *mesh = pd_bar_mesh(scene->large, t->n > 0, error);
    sinew_world *world = mesh ? pd_scenes_new_world(t, scene, error) : NULL;
    sinew_body body = {.index = -1};
    if (world) {
        sinew_body_def def = sinew_default_body_def();
        def.mesh = mesh;
        def.density = 1000;
        body = sinew_world_add_body(world, &def, error);
    }
    enum {
        TURN_FRAMES = 64 /* number of frames in which the bar's end rotates */
    };
    const double angle = scene->turn * TURN_FRAMES * 3.14159265358979323846 / 180;
    const sinew_key keys[2] = {{.time = 0},
                               {.time = (sinew_real)(TURN_FRAMES * FRAME), .rotation = {(sinew_real)angle}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    const bool good = body.index >= 0 &&
                      pd_scenes_add_energy(world, body, SINEW_ENERGY_STRAIN, scene->stiffness, error) &&
                      hold_end(world, body, -1, NULL, error) &&
                      (scene->hold != HOLD_BOTH || hold_end(world, body, 1, &motion, error));
    sinew_mesh_destroy(mesh);
    return pd_scenes_finished(world, good);
}
