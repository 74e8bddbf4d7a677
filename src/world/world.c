/* SPDX-License-Identifier: MIT
 *
 * world.c: worlds, their particles and bodies.
 */
#include "world/world.h"

#include <math.h>
#include <string.h>

#include "base/tasks.h"
#include "mesh/topology.h"

/* ---- World ----------------------------------------------------------------------------------- */

sinew_world_def sinew_default_world_def(void)
{
    return (sinew_world_def){.cookie = SINEW_COOKIE_WORLD,
                             .time_step = (sinew_real)(1.0 / 60),
                             .gravity = {0, (sinew_real)-9.81, 0},
                             .solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON)};
}

static sinew_status check_time_step(sinew_real h, sinew_error *error)
{
    if (isfinite(h) && h > 0)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "time_step is %g s, must be finite and greater than 0", (double)h);
}

static sinew_status check_world_def(const sinew_world_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_WORLD))
        return sinew_fail(error, SINEW_ERROR_USAGE, "the world def was not made by sinew_default_world_def()");
    sinew_status status = check_time_step(def->time_step, error);
    if (status != SINEW_OK)
        return status;
    if (!isfinite(def->gravity[0]) || !isfinite(def->gravity[1]) || !isfinite(def->gravity[2]))
        return sinew_fail(error, SINEW_ERROR_DATA, "gravity is not finite");
    if (!isfinite(def->damping) || def->damping < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "damping is %g 1/s, must be finite and at least 0",
                          (double)def->damping);
    if (def->load_steps < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "load_steps is %d, must be at least 0", def->load_steps);
    if (def->thread_count < 0 || def->thread_count > 1024)
        return sinew_fail(error, SINEW_ERROR_DATA, "thread_count is %d, must be in [0, 1024]", def->thread_count);
    return sinew_solver_check(&def->solver, error);
}

/* One array of the particles, larger. */
static bool grow_array(const sinew_world *world, void *slot, int32_t capacity, size_t size)
{
    void **array = slot;
    void *grown = sinew_reallocate(&world->allocator, *array, (size_t)world->particle_count, (size_t)capacity, size);
    if (!grown)
        return false;
    *array = grown;
    return true;
}

static bool reserve_particles(sinew_world *world, int32_t count)
{
    int32_t needed = world->particle_count + count;
    if (needed <= world->particle_capacity)
        return true;
    /* Many small bodies must not copy all that came before each time; the first gets what it needs. */
    const int32_t half = world->particle_capacity / 2;
    needed = world->particle_count > 0 && count < half ? world->particle_count + half : needed;
    const size_t point = 4 * sizeof(sinew_real);
    bool good = grow_array(world, &world->q, needed, point) && grow_array(world, &world->v, needed, point) &&
                grow_array(world, &world->force, needed, point) && grow_array(world, &world->rest, needed, point) &&
                grow_array(world, &world->q_tilde, needed, point) && grow_array(world, &world->f_ext, needed, point) &&
                grow_array(world, &world->mass, needed, sizeof(sinew_real)) &&
                grow_array(world, &world->pinned, needed, 1) &&
                grow_array(world, &world->inside, needed, sizeof(int32_t)) &&
                grow_array(world, &world->outside, needed, sizeof(int32_t));
    if (good)
        world->particle_capacity = needed;
    return good;
}

sinew_world *sinew_world_create(const sinew_world_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (check_world_def(def, error) != SINEW_OK)
        return NULL;
    sinew_allocator allocator = sinew_allocator_or_system(&def->allocator);
    sinew_world *world = sinew_allocate_zero(&allocator, 1, sizeof *world);
    if (!world) {
        sinew_fail_memory(error, "a world");
        return NULL;
    }
    sinew_tasks_open();
    world->allocator = allocator;
    world->def = *def;
    world->objective.allocator = allocator;
    world->objective.thread_count = def->thread_count ? def->thread_count : sinew_tasks_default_count();
    world->solve.objective = &world->objective;
    world->solve.def = def->solver;
    sinew_world_note_change(world, SINEW_CHANGED_ALL);
    /* Room for one, so that an empty world has its arrays too. */
    if (!reserve_particles(world, 1)) {
        sinew_fail_memory(error, "a world");
        sinew_world_destroy(world);
        return NULL;
    }
    return world;
}

void sinew_world_destroy(sinew_world *world)
{
    if (!world)
        return;
    const sinew_allocator allocator = world->allocator;
    sinew_solve_release(&world->solve);
    sinew_objective_clear(&world->objective);
    for (int32_t i = 0; i < world->energy_count; i++)
        sinew_energy_record_destroy(&allocator, &world->energies[i]);
    for (int32_t i = 0; i < world->pin_count; i++)
        sinew_pin_record_destroy(&allocator, &world->pins[i]);
    for (int32_t i = 0; i < world->body_count; i++)
        sinew_mesh_destroy(world->bodies[i].mesh);
    void *arrays[] = {world->q,    world->v,       world->force,  world->rest,    world->q_tilde, world->f_ext,
                      world->mass, world->pinned,  world->inside, world->outside, world->bodies,  world->energies,
                      world->pins, world->batches, world->note,   world};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
    sinew_tasks_close();
}

sinew_real sinew_world_time(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? (sinew_real)world->time : 0;
}

int64_t sinew_world_step_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->step_count : 0;
}

int32_t sinew_world_particle_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->particle_count : 0;
}

int32_t sinew_world_thread_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->objective.thread_count : 0;
}

int32_t sinew_world_body_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->body_count : 0;
}

sinew_status sinew_world_set_solver(sinew_world *world, const sinew_solver_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && def))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_set_solver needs a world and a def");
    sinew_status status = sinew_solver_check(def, error);
    if (status != SINEW_OK)
        return status;
    const sinew_solver_def *old = &world->def.solver;
    const bool same = old->kind == def->kind && memcmp(old->parameters, def->parameters, sizeof old->parameters) == 0;
    world->def.solver = *def;
    sinew_world_note_change(world, same ? SINEW_CHANGED_DEF : SINEW_CHANGED_DEF | SINEW_CHANGED_SOLVER);
    return SINEW_OK;
}

sinew_status sinew_world_set_time_step(sinew_world *world, sinew_real h, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_world_set_time_step needs a world");
    sinew_status status = check_time_step(h, error);
    if (status != SINEW_OK)
        return status;
    if (h != world->def.time_step)
        sinew_world_note_change(world, SINEW_CHANGED_TIME_STEP);
    world->def.time_step = h;
    return SINEW_OK;
}

void sinew_world_note_change(sinew_world *world, uint32_t changed)
{
    world->solver_changed |= changed;
    world->objective_changed |= changed & (SINEW_CHANGED_ELEMENTS | SINEW_CHANGED_TRANSIENT);
}

bool sinew_grow(const sinew_allocator *allocator, void **array, int32_t count, int32_t *capacity, size_t size)
{
    if (count < *capacity)
        return true;
    int32_t larger = *capacity < 8 ? 8 : 2 * *capacity;
    void *grown = sinew_reallocate(allocator, *array, (size_t)count, (size_t)larger, size);
    if (!grown)
        return false;
    *array = grown;
    *capacity = larger;
    return true;
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

sinew_body_def sinew_default_body_def(void)
{
    return (sinew_body_def){.cookie = SINEW_COOKIE_BODY, .density = 1000};
}

/* Volume (area, length) of one cell, in double. */
static double cell_size(const sinew_real *x, const int32_t *cell, int32_t n)
{
    double e[3][3] = {{0}};
    for (int32_t a = 1; a < n; a++)
        for (size_t c = 0; c < 3; c++)
            e[a - 1][c] = (double)x[3 * (size_t)cell[a] + c] - (double)x[3 * (size_t)cell[0] + c];
    double cross[3] = {e[0][1] * e[1][2] - e[0][2] * e[1][1], e[0][2] * e[1][0] - e[0][0] * e[1][2],
                       e[0][0] * e[1][1] - e[0][1] * e[1][0]};
    if (n == 4)
        return fabs(cross[0] * e[2][0] + cross[1] * e[2][1] + cross[2] * e[2][2]) / 6;
    if (n == 3)
        return sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]) / 2;
    return sqrt(e[0][0] * e[0][0] + e[0][1] * e[0][1] + e[0][2] * e[0][2]);
}

/* The cells that carry the mass: tets, else triangles, else edges. */
static void mass_cells(const sinew_mesh *mesh, const int32_t **cells, int32_t *count, int32_t *n)
{
    *cells = sinew_mesh_tets(mesh);
    *count = sinew_mesh_tet_count(mesh);
    *n = 4;
    if (*count == 0) {
        *cells = sinew_mesh_triangles(mesh);
        *count = sinew_mesh_triangle_count(mesh);
        *n = 3;
    }
    if (*count == 0) {
        *cells = sinew_mesh_edges(mesh);
        *count = sinew_mesh_edge_count(mesh);
        *n = 2;
    }
}

/* masses [vertex_count]: every cell gives its vertices equal shares */
static sinew_status lump_masses(const sinew_body_def *def, double *masses, sinew_error *error)
{
    const int32_t *cells;
    int32_t count, n, vertex_count = sinew_mesh_vertex_count(def->mesh);
    if (def->masses) {
        for (int32_t i = 0; i < vertex_count; i++)
            masses[i] = (double)def->masses[i];
    } else {
        mass_cells(def->mesh, &cells, &count, &n);
        memset(masses, 0, (size_t)vertex_count * sizeof *masses);
        for (int32_t e = 0; e < count; e++) {
            const int32_t *cell = cells + (size_t)n * (size_t)e;
            double share = (double)def->density * cell_size(sinew_mesh_positions(def->mesh), cell, n) / n;
            for (int32_t a = 0; a < n; a++)
                masses[cell[a]] += share;
        }
    }
    for (int32_t i = 0; i < vertex_count; i++) {
        if (isfinite(masses[i]) && masses[i] > 0)
            continue;
        if (def->masses)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "the mass of vertex %d is %g kg, must be finite and greater than 0", i, masses[i]);
        return sinew_fail(
            error, SINEW_ERROR_DATA,
            "vertex %d has no mass: no cell of positive size uses it; drop it (sinew mesh fix) or give masses", i);
    }
    return SINEW_OK;
}

static sinew_status check_points(const sinew_real *points, int32_t count, const char *what, sinew_error *error)
{
    for (int32_t i = 0; points && i < 3 * count; i++)
        if (!isfinite(points[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s of vertex %d is not finite", what, i / 3);
    return SINEW_OK;
}

static sinew_status check_body_def(const sinew_world *world, const sinew_body_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_BODY && def->mesh))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "a body needs a world, a def made by sinew_default_body_def() and a mesh");
    int32_t count = sinew_mesh_vertex_count(def->mesh);
    if (count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "the mesh has no vertices");
    if (count > INT32_MAX / 8 - world->particle_count)
        return sinew_fail(error, SINEW_ERROR_DATA, "the world would have more than %d particles", INT32_MAX / 8);
    if (!def->masses && !(isfinite(def->density) && def->density > 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "density is %g, must be finite and greater than 0",
                          (double)def->density);
    sinew_status status = check_points(def->positions, count, "the position", error);
    if (status == SINEW_OK)
        status = check_points(def->velocities, count, "the velocity", error);
    return status;
}

static void set_point(sinew_real *array, int32_t at, const sinew_real *point)
{
    for (size_t c = 0; c < 4; c++)
        array[4 * (size_t)at + c] = point && c < 3 ? point[c] : 0;
}

/* Appends the particles; order[i] is the vertex that comes i-th inside. */
static void append_particles(sinew_world *world, const sinew_body_def *def, const int32_t *order, const double *masses)
{
    const int32_t first = world->particle_count, count = sinew_mesh_vertex_count(def->mesh);
    const sinew_real *rest = sinew_mesh_positions(def->mesh);
    const sinew_real *start = def->positions ? def->positions : rest;
    for (int32_t i = 0; i < count; i++) {
        int32_t vertex = order[i], at = first + i;
        set_point(world->rest, at, rest + 3 * (size_t)vertex);
        set_point(world->q, at, start + 3 * (size_t)vertex);
        set_point(world->v, at, def->velocities ? def->velocities + 3 * (size_t)vertex : NULL);
        set_point(world->force, at, NULL);
        set_point(world->q_tilde, at, NULL);
        set_point(world->f_ext, at, NULL);
        world->mass[at] = (sinew_real)masses[vertex];
        world->pinned[at] = 0;
        world->outside[at] = first + vertex;
        world->inside[first + vertex] = at;
    }
    world->particle_count += count;
    sinew_world_note_change(world, SINEW_CHANGED_ELEMENTS);
}

static sinew_mesh *copy_mesh(const sinew_world *world, const sinew_mesh *mesh, sinew_error *error)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    def.allocator = world->allocator;
    def.vertex_count = sinew_mesh_vertex_count(mesh);
    def.positions = sinew_mesh_positions(mesh);
    def.tet_count = sinew_mesh_tet_count(mesh);
    def.tets = sinew_mesh_tets(mesh);
    def.triangle_count = sinew_mesh_triangle_count(mesh);
    def.triangles = sinew_mesh_triangles(mesh);
    def.edge_count = sinew_mesh_edge_count(mesh);
    def.edges = sinew_mesh_edges(mesh);
    return sinew_mesh_create(&def, error);
}

sinew_body sinew_world_add_body(sinew_world *world, const sinew_body_def *def, sinew_error *error)
{
    sinew_body none = {-1};
    sinew_error_clear(error);
    if (check_body_def(world, def, error) != SINEW_OK)
        return none;
    const sinew_allocator *allocator = &world->allocator;
    const int32_t count = sinew_mesh_vertex_count(def->mesh);
    double *masses = sinew_allocate(allocator, (size_t)count, sizeof *masses);
    int32_t *order = sinew_allocate(allocator, (size_t)count, sizeof *order);
    sinew_mesh *mesh = NULL;
    sinew_status status = masses && order ? SINEW_OK : sinew_fail_memory(error, "a body");
    if (status == SINEW_OK)
        status = lump_masses(def, masses, error);
    if (status == SINEW_OK)
        status = sinew_hilbert_order(allocator, sinew_mesh_positions(def->mesh), count, order, error);
    if (status == SINEW_OK) {
        mesh = copy_mesh(world, def->mesh, error);
        status = mesh ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    if (status == SINEW_OK &&
        (!reserve_particles(world, count) || !sinew_grow(allocator, (void **)&world->bodies, world->body_count,
                                                         &world->body_capacity, sizeof *world->bodies)))
        status = sinew_fail_memory(error, "a body");
    if (status == SINEW_OK) {
        world->bodies[world->body_count] = (sinew_body_record){mesh, world->particle_count, count};
        append_particles(world, def, order, masses);
    } else {
        sinew_mesh_destroy(mesh);
    }
    sinew_release(allocator, masses);
    sinew_release(allocator, order);
    return status == SINEW_OK ? (sinew_body){world->body_count++} : none;
}

static bool has_body(const sinew_world *world, sinew_body body)
{
    return world && body.index >= 0 && body.index < world->body_count;
}

const sinew_mesh *sinew_body_mesh(const sinew_world *world, sinew_body body)
{
    return SINEW_ASSERT(has_body(world, body)) ? world->bodies[body.index].mesh : NULL;
}

int32_t sinew_body_first_particle(const sinew_world *world, sinew_body body)
{
    return SINEW_ASSERT(has_body(world, body)) ? world->bodies[body.index].first : -1;
}

/* ---- Particles ------------------------------------------------------------------------------- */

sinew_status sinew_world_resolve(const sinew_world *world, sinew_body body, const int32_t *numbers, int32_t count,
                                 const char *owner, int32_t *particles, sinew_error *error)
{
    bool whole = body.index < 0;
    if (!whole && !SINEW_ASSERT(has_body(world, body)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "%s: there is no body %d", owner, body.index);
    int32_t first = whole ? 0 : world->bodies[body.index].first;
    int32_t limit = whole ? world->particle_count : world->bodies[body.index].count;
    for (int32_t i = 0; i < count; i++) {
        if (numbers[i] < 0 || numbers[i] >= limit)
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: entry %d names vertex %d, must be in [0, %d]", owner, i,
                              numbers[i], limit - 1);
        particles[i] = world->inside[first + numbers[i]];
    }
    return SINEW_OK;
}

void sinew_world_points(const sinew_real *from, const int32_t *particles, int32_t count, sinew_real *out)
{
    for (int32_t i = 0; i < count; i++)
        memcpy(out + 3 * (size_t)i, from + 4 * (size_t)particles[i], 3 * sizeof *out);
}

static bool has_range(const sinew_world *world, int32_t first, int32_t count, const void *array)
{
    return world && first >= 0 && count >= 0 && first <= world->particle_count - count && (array || count == 0);
}

static sinew_status get_points(const sinew_world *world, const sinew_real *from, int32_t first, int32_t count,
                               sinew_real *out)
{
    sinew_world_points(from, world->inside + first, count, out);
    return SINEW_OK;
}

static sinew_status set_points(sinew_world *world, sinew_real *to, int32_t first, int32_t count, const sinew_real *in)
{
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        if (!isfinite(in[i]))
            return SINEW_ERROR_DATA;
    for (int32_t i = 0; i < count; i++)
        set_point(to, world->inside[first + i], in + 3 * (size_t)i);
    return SINEW_OK;
}

sinew_status sinew_world_get_positions(const sinew_world *world, int32_t first, int32_t count, sinew_real *q)
{
    return SINEW_ASSERT(has_range(world, first, count, q)) ? get_points(world, world->q, first, count, q)
                                                           : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_set_positions(sinew_world *world, int32_t first, int32_t count, const sinew_real *q)
{
    return SINEW_ASSERT(has_range(world, first, count, q)) ? set_points(world, world->q, first, count, q)
                                                           : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_get_velocities(const sinew_world *world, int32_t first, int32_t count, sinew_real *v)
{
    return SINEW_ASSERT(has_range(world, first, count, v)) ? get_points(world, world->v, first, count, v)
                                                           : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_set_velocities(sinew_world *world, int32_t first, int32_t count, const sinew_real *v)
{
    return SINEW_ASSERT(has_range(world, first, count, v)) ? set_points(world, world->v, first, count, v)
                                                           : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_set_forces(sinew_world *world, int32_t first, int32_t count, const sinew_real *f)
{
    return SINEW_ASSERT(has_range(world, first, count, f)) ? set_points(world, world->force, first, count, f)
                                                           : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_get_masses(const sinew_world *world, int32_t first, int32_t count, sinew_real *m)
{
    if (!SINEW_ASSERT(has_range(world, first, count, m)))
        return SINEW_ERROR_USAGE;
    for (int32_t i = 0; i < count; i++)
        m[i] = world->mass[world->inside[first + i]];
    return SINEW_OK;
}
