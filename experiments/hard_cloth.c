/* SPDX-License-Identifier: MIT
 *
 * hard_cloth.c: the inextensible cloth as a world, and its run (hard_cloth.h).
 */
#include "hard_cloth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define STEP     (1.0 / 60) /* time step of the cloth, in s */
#define DENSITY  0.2        /* mass of the cloth per area, in kg/m2 */
#define SHEAR    0.5        /* stiffness of a diagonal spring, which resists shear, in N/m */
#define RIGIDITY 1e-6       /* bending rigidity of the cloth, in N m */

enum {
    MOVING = 60 /* number of steps in which the corners approach each other */
};

/* ---- The world of the cloth ------------------------------------------------------------------- */

static sinew_mesh *hard_cloth_cloth_mesh(int32_t n, sinew_error *error)
{
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = n;
    return sinew_mesh_cloth(&def, error);
}

/* Lists the 2 n (n - 1) edges of warp and weft of the cloth. */
static int32_t list_threads(int32_t n, int32_t *edges)
{
    int32_t count = 0;
    for (int32_t i = 0; i < n * n; i++)
        for (int direction = 0; direction < 2; direction++)
            if (direction ? i / n + 1 < n : i % n + 1 < n) {
                edges[2 * count] = i;
                edges[2 * count++ + 1] = i + (direction ? n : 1);
            }
    return count;
}

/* Lists both diagonals of every cell of the cloth: 2 (n - 1)^2 edges. */
static int32_t list_diagonals(int32_t n, int32_t *edges)
{
    int32_t count = 0;
    for (int32_t i = 0; i + n < n * n; i++)
        for (int direction = 0; direction < 2 && i % n + 1 < n; direction++) {
            edges[2 * count] = direction ? i + 1 : i;
            edges[2 * count++ + 1] = direction ? i + n : i + n + 1;
        }
    return count;
}

static bool hard_cloth_add_energies(sinew_world *world, const hard_cloth *c, sinew_body body, int32_t *edges,
                                    sinew_error *error)
{
    sinew_energy_def threads = sinew_default_energy_def(SINEW_ENERGY_SPRING), shear = threads;
    sinew_energy_def bending = sinew_default_energy_def(SINEW_ENERGY_ISOMETRIC);
    threads.body = shear.body = bending.body = body;
    threads.elements = shear.elements = edges;
    threads.element_count = list_threads(c->n, edges);
    threads.hard = true;
    bool good = sinew_world_add_energy(world, &threads, error).index >= 0;
    shear.element_count = list_diagonals(c->n, edges);
    return good && sinew_energy_def_set(&shear, "stiffness", SHEAR, error) == SINEW_OK &&
           sinew_energy_def_set(&bending, "rigidity", RIGIDITY, error) == SINEW_OK &&
           sinew_world_add_energy(world, &shear, error).index >= 0 &&
           sinew_world_add_energy(world, &bending, error).index >= 0;
}

static bool fill_world(sinew_world *world, const hard_cloth *c, sinew_pin *pins, sinew_error *error)
{
    sinew_mesh *mesh = hard_cloth_cloth_mesh(c->n, error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.density = (sinew_real)DENSITY;
    sinew_pin_def held = sinew_default_pin_def();
    const int32_t corners[2] = {0, c->n - 1};
    held.vertices = corners;
    held.vertex_count = 2;
    held.body = mesh ? sinew_world_add_body(world, &body, error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(mesh);
    int32_t *edges = malloc(4 * (size_t)(c->n * c->n) * sizeof *edges);
    bool good = held.body.index >= 0 && edges && hard_cloth_add_energies(world, c, held.body, edges, error);
    if (good)
        *pins = sinew_world_add_pins(world, &held, error);
    free(edges);
    const int32_t count = c->n * c->n;
    return good && pins->index >= 0 &&
           (!c->from || (sinew_world_set_positions(world, 0, count, c->from->q) == SINEW_OK &&
                         sinew_world_set_velocities(world, 0, count, c->from->v) == SINEW_OK));
}

static sinew_world *hard_cloth_make_cloth(const hard_cloth *c, sinew_pin *pins, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)STEP;
    def.gravity[0] = def.gravity[1] = 0;
    def.gravity[2] = (sinew_real)-9.81;
    def.thread_count = 1;
    def.solver = c->solver;
    sinew_world *world = sinew_world_create(&def, error);
    if (!world || fill_world(world, c, pins, error))
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* ---- The run of the cloth ---------------------------------------------------------------------- */

static double largest_stretch(const sinew_real *q, const int32_t *edges, int32_t count, double length)
{
    double max = 0;
    for (int32_t e = 0; e < count; e++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += pow((double)q[3 * edges[2 * e] + k] - (double)q[3 * edges[2 * e + 1] + k], 2);
        const double stretch = fabs(sqrt(sum) / length - 1);
        max = stretch <= max ? max : stretch;
    }
    return max;
}

/* Sets the target positions of the cloth's pinned corners for the next step. */
static bool move_corners(sinew_world *world, const hard_cloth *c, sinew_pin pins, int32_t step, sinew_error *error)
{
    const double fraction = fmin(1, (step + 1.0) / MOVING), by = 0.5 * c->nearer * fraction;
    const sinew_real to[6] = {(sinew_real)by, 0, 0, (sinew_real)(1 - by), 0, 0};
    return c->nearer == 0 || sinew_pin_set_targets(world, pins, to, error) == SINEW_OK;
}

static bool take_steps(hard_cloth *c, sinew_world *world, sinew_pin pins, const int32_t *edges, int32_t count,
                       sinew_error *error)
{
    const uint32_t usual = SINEW_STEP_NOT_CONVERGED;
    clock_t ticks = 0;
    for (int32_t k = 0; k < c->steps; k++) {
        sinew_step_result result;
        if (!move_corners(world, c, pins, c->from ? c->from->steps + k : k, error))
            return false;
        const clock_t before = clock();
        const uint32_t bits = sinew_world_step(world, &result);
        ticks += k > 0 || c->steps == 1 ? clock() - before : 0;
        c->taken++;
        c->bits |= bits;
        c->unsolved += (bits & ~usual) != 0;
        c->iterations += (double)result.iterations / c->steps;
        sinew_world_get_positions(world, 0, c->n * c->n, c->q);
        c->stretch[k] = largest_stretch(c->q, edges, count, 1.0 / (c->n - 1));
        c->max = c->stretch[k] <= c->max ? c->max : c->stretch[k];
        if (bits & SINEW_STEP_NOT_FINITE)
            break;
    }
    sinew_world_get_velocities(world, 0, c->n * c->n, c->v);
    c->seconds = (double)ticks / CLOCKS_PER_SEC / (c->taken > 1 ? c->taken - 1 : 1);
    return true;
}

bool hard_cloth_run(hard_cloth *c, sinew_error *error)
{
    sinew_pin pins = {.index = -1};
    const size_t n = (size_t)c->n;
    int32_t *edges = malloc(4 * n * n * sizeof *edges);
    c->q = malloc(3 * n * n * sizeof *c->q);
    c->v = malloc(3 * n * n * sizeof *c->v);
    c->stretch = calloc((size_t)c->steps, sizeof *c->stretch);
    sinew_world *world = edges && c->q && c->v && c->stretch ? hard_cloth_make_cloth(c, &pins, error) : NULL;
    const bool good = world && take_steps(c, world, pins, edges, list_threads(c->n, edges), error);
    sinew_world_destroy(world);
    free(edges);
    return good;
}

void hard_cloth_release(hard_cloth *c)
{
    free(c->q);
    free(c->v);
    free(c->stretch);
    c->q = c->v = NULL;
    c->stretch = NULL;
}
