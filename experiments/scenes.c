/* SPDX-License-Identifier: MIT
 *
 * scenes.c: the scenes of trial.h as worlds.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trial.h"

#define POISSON 0.3
#define BOND    1e8 /* stiffness of weak constraints, in N/m */
#define QUARTER (3.14159265358979323846 / 2)

/* ---- Parts of the scenes ---------------------------------------------------------------------- */

static sinew_world *scenes_new_world(trial *t, bool quasistatic, bool gravity, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)FRAME;
    def.quasistatic = quasistatic;
    def.thread_count = 1;
    def.allocator = t->allocator;
    def.gravity[1] = (sinew_real)(gravity ? -9.8 : 0);
    def.solver = t->solver;
    return sinew_world_create(&def, error);
}

/* Creates a mesh of the same vertices with six tets a cell instead of five. Each tet follows one of the six edge
 * paths between opposite corners of the cell. NULL on failure. */
static sinew_mesh *cut_in_six(const sinew_mesh *box, const int32_t vertices[3], sinew_error *error)
{
    static const int orders[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int32_t stride[3] = {1, vertices[0], vertices[0] * vertices[1]};
    const size_t cells = (size_t)(vertices[0] - 1) * (size_t)(vertices[1] - 1) * (size_t)(vertices[2] - 1);
    int32_t *tets = malloc(24 * cells * sizeof *tets), *t = tets;
    for (int32_t i = 0; tets && i < sinew_mesh_vertex_count(box); i++) {
        if (i % vertices[0] == vertices[0] - 1 || i / stride[1] % vertices[1] == vertices[1] - 1 ||
            i / stride[2] == vertices[2] - 1)
            continue;
        for (int k = 0; k < 6; k++, t += 4) {
            t[0] = i;
            for (int c = 0; c < 3; c++)
                t[c + 1] = t[c] + stride[orders[k][c]];
            /* Swaps two vertices of a tet, because odd permutations invert it. */
            if (k > 2) {
                const int32_t swapped = t[1];
                t[1] = t[2];
                t[2] = swapped;
            }
        }
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = sinew_mesh_vertex_count(box);
    def.positions = sinew_mesh_positions(box);
    def.tet_count = (int32_t)(6 * cells);
    def.tets = tets;
    sinew_mesh *mesh = tets ? sinew_mesh_create(&def, error) : NULL;
    free(tets);
    return mesh;
}

/* Adds a box with the given numbers of vertices about `centre` (m); index -1 on failure. */
static sinew_body scenes_add_box(sinew_world *world, bool six, const int32_t vertices[3], const double size[3],
                                 const double centre[3], sinew_energy_kind kind, double young, double density,
                                 sinew_error *error)
{
    sinew_body body = {.index = -1};
    sinew_box_def box = sinew_default_box_def();
    for (int c = 0; c < 3; c++) {
        box.vertices[c] = vertices[c];
        box.size[c] = (sinew_real)size[c];
        box.origin[c] = (sinew_real)(centre[c] - size[c] / 2);
    }
    sinew_mesh *mesh = sinew_mesh_box(&box, error);
    if (mesh && six) {
        sinew_mesh *finer = cut_in_six(mesh, vertices, error);
        sinew_mesh_destroy(mesh);
        mesh = finer;
    }
    if (!mesh)
        return body;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = (sinew_real)density;
    body = sinew_world_add_body(world, &def, error);
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = body;
    energy.parameters[sinew_energy_parameter(kind, "young")] = (sinew_real)young;
    energy.parameters[sinew_energy_parameter(kind, "poisson")] = (sinew_real)POISSON;
    if (body.index >= 0 && sinew_world_add_energy(world, &energy, error).index < 0)
        body.index = -1;
    sinew_mesh_destroy(mesh);
    return body;
}

/* Pins the vertices of a body beyond a plane across an axis; side -1 or 1 selects the half-space. */
static bool scenes_hold(sinew_world *world, sinew_body body, int axis, double at, int side, const sinew_motion *motion,
                        sinew_error *error)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_region beyond = {.kind = SINEW_REGION_HALF_SPACE};
    beyond.a[axis] = (sinew_real)(at - 1e-4 * side);
    beyond.b[axis] = (sinew_real)side;
    int32_t *held = malloc((size_t)count * sizeof *held);
    if (!held)
        return false;
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = body;
    pin.vertices = held;
    pin.vertex_count = sinew_region_select(&beyond, sinew_mesh_positions(mesh), count, held, count);
    pin.motion = motion;
    const bool good = sinew_world_add_pins(world, &pin, error).index >= 0;
    free(held);
    return good;
}

/* Records the bound pairs of particles of the trial: the first particle of each weighted point. */
static bool keep_bonds(trial *t, const int32_t *pairs, int32_t count)
{
    int32_t *grown = realloc(t->bonds, 2 * ((size_t)t->bond_count + (size_t)count) * sizeof *grown);
    if (!grown)
        return false;
    t->bonds = grown;
    for (int32_t i = 0; i < 2 * count; i++)
        grown[2 * t->bond_count + i] = pairs[4 * i];
    t->bond_count += count;
    return true;
}

/* Binds each vertex of `one` to the vertex of `other` at the same rest position plus `gap` along y, with equal
 * stiffness in all directions. */
static bool bind(trial *t, sinew_world *world, sinew_body one, sinew_body other, double gap, sinew_error *error)
{
    const sinew_mesh *m = sinew_body_mesh(world, one), *n = sinew_body_mesh(world, other);
    const int32_t count = sinew_mesh_vertex_count(m), first = sinew_body_first_particle(world, one),
                  second = sinew_body_first_particle(world, other);
    int32_t *pairs = calloc(8 * (size_t)count, sizeof *pairs), found = 0;
    sinew_real *weights = calloc(8 * (size_t)count, sizeof *weights);
    for (int32_t i = 0; pairs && weights && i < count; i++) {
        sinew_region here = {.kind = SINEW_REGION_SPHERE, .radius = (sinew_real)1e-4};
        memcpy(here.a, sinew_mesh_positions(m) + 3 * i, sizeof here.a);
        here.a[1] += (sinew_real)gap;
        int32_t partner;
        if (sinew_region_select(&here, sinew_mesh_positions(n), sinew_mesh_vertex_count(n), &partner, 1) == 0)
            continue;
        for (int k = 0; k < 4; k++) {
            pairs[8 * found + k] = first + i;
            pairs[8 * found + 4 + k] = second + partner;
        }
        weights[8 * found] = weights[8 * found + 4] = 1;
        found++;
    }
    const double bond = t->bond > 0 ? t->bond : BOND;
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = pairs;
    weak.weights = weights;
    weak.element_count = found;
    weak.parameters[sinew_energy_parameter(SINEW_ENERGY_WEAK, "normal_stiffness")] = (sinew_real)bond;
    weak.parameters[sinew_energy_parameter(SINEW_ENERGY_WEAK, "tangent_stiffness")] = (sinew_real)bond;
    const bool good = pairs && weights && found > 0 && keep_bonds(t, pairs, found) &&
                      sinew_world_add_energy(world, &weak, error).index >= 0;
    free(pairs);
    free(weights);
    return good;
}

static sinew_world *scenes_finished(sinew_world *world, bool good)
{
    if (good)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* ---- Stretched and twisted block -------------------------------------------------------------- */

/* Creates the world of a box of `length` (m) along x that is compressed by a fifth, then drawn out to one and a half
 * while its ends rotate. */
static sinew_world *stretched(trial *t, const int32_t vertices[3], double length, sinew_error *error)
{
    const double size[3] = {length, 1, 1}, centre[3] = {0, 0, 0};
    sinew_world *world = scenes_new_world(t, true, false, error);
    if (!world)
        return NULL;
    const sinew_body body = scenes_add_box(world, t->six, vertices, size, centre, t->material, 1e5, 10, error);
    bool good = body.index >= 0;
    const double frame = FRAME / (t->speed > 0 ? t->speed : 1);
    for (int side = -1; good && side <= 1; side += 2) {
        const sinew_real in = (sinew_real)(-side * length / 10), out = (sinew_real)(side * length / 4);
        const sinew_key keys[3] = {
            {.time = 0},
            {.time = (sinew_real)(16 * frame), .translation = {in}},
            {.time = (sinew_real)(40 * frame), .translation = {out}, .rotation = {(sinew_real)(side * QUARTER)}}};
        const sinew_motion motion = {.key_count = 3, .keys = keys};
        good = scenes_hold(world, body, 0, side * length / 2, side, &motion, error);
    }
    return scenes_finished(world, good);
}

sinew_world *scene_block(trial *t, sinew_error *error)
{
    return stretched(t, (int32_t[3]){t->n, t->n, t->n}, 1, error);
}

sinew_world *scene_bar(trial *t, sinew_error *error)
{
    return stretched(t, (int32_t[3]){8 * t->n, t->n, t->n}, (8.0 * t->n - 1) / (t->n - 1), error);
}

/* ---- Blocks under gravity --------------------------------------------------------------------- */

/* Creates the world of a box clamped on the left. */
static sinew_world *scenes_clamped(trial *t, const int32_t vertices[3], const double size[3], bool quasistatic,
                                   sinew_error *error)
{
    const double centre[3] = {0, 0, 0};
    sinew_world *world = scenes_new_world(t, quasistatic, true, error);
    if (!world)
        return NULL;
    const sinew_body body =
        scenes_add_box(world, false, vertices, size, centre, SINEW_ENERGY_COROTATED, 1e3, 10, error);
    return scenes_finished(world, body.index >= 0 && scenes_hold(world, body, 0, -size[0] / 2, -1, NULL, error));
}

sinew_world *scene_falling(trial *t, sinew_error *error)
{
    return scenes_clamped(t, (int32_t[3]){t->n, t->n, t->n}, (double[3]){1, 1, 1}, false, error);
}

sinew_world *scene_cantilever(trial *t, sinew_error *error)
{
    const int32_t vertices[3] = {2 * t->n + 1, t->n + 1, t->n + 1};
    return scenes_clamped(t, vertices, (double[3]){1, 0.5, 0.5}, true, error);
}

sinew_world *scene_hanging(trial *t, sinew_error *error)
{
    const int32_t vertices[3] = {t->n, t->n, t->n};
    const double size[3] = {0.5, 0.5, 0.5}, above[3] = {0, 0.25, 0}, below[3] = {0, -0.25 - HANGING_GAP, 0};
    /* Without its bonds the lower block has no equilibrium; a world with inertia can still be prepared. */
    sinew_world *world = scenes_new_world(t, !t->loose, true, error);
    if (!world)
        return NULL;
    const sinew_body upper =
        scenes_add_box(world, false, vertices, size, above, SINEW_ENERGY_COROTATED, 1e3, 10, error);
    const sinew_body lower =
        scenes_add_box(world, false, vertices, size, below, SINEW_ENERGY_COROTATED, 1e3, 10, error);
    return scenes_finished(world, upper.index >= 0 && lower.index >= 0 &&
                                      scenes_hold(world, upper, 1, 0.5, 1, NULL, error) &&
                                      (t->loose || bind(t, world, lower, upper, HANGING_GAP, error)));
}

/* ---- Muscles bound to each other -------------------------------------------------------------- */

static bool hold_muscle(sinew_world *world, sinew_body muscle, bool drawn, sinew_error *error)
{
    const sinew_key keys[2] = {
        {.time = 0},
        {.time = (sinew_real)(10 * FRAME), .translation = {(sinew_real)0.3}, .rotation = {(sinew_real)(QUARTER / 2)}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    return scenes_hold(world, muscle, 0, -0.6, -1, NULL, error) &&
           (!drawn || scenes_hold(world, muscle, 0, 0.6, 1, &motion, error));
}

/* Creates the world of two by two bars; bars on one diagonal are pinned at both ends, the others on the left only. */
sinew_world *scene_muscles(trial *t, sinew_error *error)
{
    const int32_t vertices[3] = {4 * t->n, t->n, t->n};
    const double size[3] = {1.2, 0.2, 0.2};
    sinew_world *world = scenes_new_world(t, true, true, error);
    sinew_body muscle[4];
    bool good = world != NULL;
    for (int i = 0; good && i < 4; i++) {
        const double centre[3] = {0, i / 2 ? 0.1 : -0.1, i % 2 ? 0.1 : -0.1};
        muscle[i] = scenes_add_box(world, false, vertices, size, centre, SINEW_ENERGY_COROTATED, 1e5, 1000, error);
        good = muscle[i].index >= 0 && hold_muscle(world, muscle[i], i == 0 || i == 3, error);
    }
    for (int i = 0; good && !t->loose && i < 4; i++)
        for (int k = i + 1; good && k < 4; k++)
            good = i + k == 3 || bind(t, world, muscle[i], muscle[k], 0, error);
    return scenes_finished(world, good);
}

/* ---- Hanging cloth ---------------------------------------------------------------------------- */

/* Adds the cloth with its membrane energy; index -1 on failure. */
static sinew_body scenes_add_sheet(sinew_world *world, const trial *t, sinew_error *error)
{
    sinew_body body = {.index = -1};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    for (int c = 0; c < 2; c++) {
        cloth.vertices[c] = t->n;
        cloth.size[c] = (sinew_real)t->size;
    }
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, error);
    if (!mesh)
        return body;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = 10;
    body = sinew_world_add_body(world, &def, error);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_COROTATED);
    energy.body = body;
    energy.parameters[sinew_energy_parameter(energy.kind, "young")] = 1000;
    energy.parameters[sinew_energy_parameter(energy.kind, "poisson")] = (sinew_real)POISSON;
    energy.parameters[sinew_energy_parameter(energy.kind, "thickness")] = 1;
    if (body.index >= 0 && sinew_world_add_energy(world, &energy, error).index < 0)
        body.index = -1;
    sinew_mesh_destroy(mesh);
    return body;
}

sinew_world *scene_cloth(trial *t, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.005;
    def.thread_count = 1;
    def.allocator = t->allocator;
    def.gravity[1] = 0;
    def.gravity[2] = (sinew_real)-9.8; /* gravity along -z, because the generated cloth lies in the plane of x and y */
    def.solver = t->solver;
    sinew_world *world = sinew_world_create(&def, error);
    if (!world)
        return NULL;
    const int32_t held[2] = {0, t->n - 1};
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = scenes_add_sheet(world, t, error);
    pin.vertices = held;
    pin.vertex_count = 2;
    if (pin.body.index >= 0 && sinew_world_add_pins(world, &pin, error).index >= 0)
        return world;
    sinew_world_destroy(world);
    return NULL;
}
