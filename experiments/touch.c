/* SPDX-License-Identifier: MIT
 *
 * touch.c: solids, steps and pictures of the published contact experiments (touch.h).
 */
#include "touch.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HEADER = 64 /* number of bytes before a block of memory that store its size; at least the library's alignment */
};

/* ---- Bodies in contact ------------------------------------------------------------------------ */

/* Rotates a rest position X of a solid about k = (1, 1, 1) / sqrt(3), then translates it: x = c X + s (k x X) + (1 -
 * c) (k . X) k + centre. */
static void touch_place_point(const touch_solid *solid, const sinew_real *X, sinew_real *x)
{
    const double k = 1 / sqrt(3.0), c = cos(solid->turn), s = sin(solid->turn);
    const double p[3] = {(double)X[0], (double)X[1], (double)X[2]}, along = k * (p[0] + p[1] + p[2]);
    for (int i = 0; i < 3; i++) {
        const double across = k * (p[(i + 2) % 3] - p[(i + 1) % 3]);
        x[i] = (sinew_real)(c * p[i] + s * across + (1 - c) * along * k + solid->centre[i]);
    }
}

sinew_body touch_add_body(sinew_world *world, const touch_solid *solid, sinew_error *error)
{
    const int32_t n = sinew_mesh_vertex_count(solid->mesh);
    sinew_body body = {.index = -1};
    sinew_real *x = malloc(6 * (size_t)n * sizeof *x);
    if (!x)
        return body;
    for (int32_t i = 0; i < n; i++) {
        touch_place_point(solid, sinew_mesh_positions(solid->mesh) + 3 * (size_t)i, x + 3 * (size_t)i);
        for (int c = 0; c < 3; c++)
            x[3 * (size_t)(n + i) + (size_t)c] = (sinew_real)solid->velocity[c];
    }
    sinew_body_def def = sinew_default_body_def();
    def.mesh = solid->mesh;
    def.density = (sinew_real)solid->density;
    def.positions = x;
    def.velocities = x + 3 * (size_t)n;
    body = sinew_world_add_body(world, &def, error);
    free(x);
    return body;
}

bool touch_add_energy(sinew_world *world, sinew_body body, sinew_energy_kind kind, sinew_error *error, ...)
{
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = body;
    bool good = body.index >= 0;
    va_list rest;
    va_start(rest, error);
    for (const char *name = va_arg(rest, char *); good && name; name = va_arg(rest, char *))
        good = sinew_energy_def_set(&energy, name, va_arg(rest, double), error) == SINEW_OK;
    va_end(rest);
    return good && sinew_world_add_energy(world, &energy, error).index >= 0;
}

sinew_body touch_add_solid(sinew_world *world, const touch_solid *solid, sinew_error *error)
{
    sinew_body body = touch_add_body(world, solid, error);
    if (!touch_add_energy(world, body, SINEW_ENERGY_COROTATED, error, "young", solid->young, "poisson", 0.3,
                          (char *)NULL))
        body.index = -1;
    return body;
}

sinew_pin touch_hold(sinew_world *world, sinew_body body, int axis, double at, int side, const sinew_motion *motion,
                     sinew_error *error)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_region beyond = {.kind = SINEW_REGION_HALF_SPACE};
    beyond.a[axis] = (sinew_real)(at - 1e-4 * side);
    beyond.b[axis] = (sinew_real)side;
    int32_t *held = malloc((size_t)count * sizeof *held);
    sinew_pin pin = {.index = -1};
    if (!held)
        return pin;
    sinew_pin_def def = sinew_default_pin_def();
    def.body = body;
    def.vertices = held;
    def.vertex_count = sinew_region_select(&beyond, sinew_mesh_positions(mesh), count, held, count);
    def.motion = motion;
    pin = sinew_world_add_pins(world, &def, error);
    free(held);
    return pin;
}

/* ---- Shapes of solids ------------------------------------------------------------------------- */

/* Creates one of the simple shapes with `cells` cells across; NULL on failure. */
static sinew_mesh *make_shape(int kind, double size, int32_t cells, sinew_error *error)
{
    sinew_round_def round = sinew_default_round_def();
    sinew_beam_def box = sinew_default_beam_def();
    for (int c = 0; c < 3; c++) {
        box.cells[c] = cells;
        box.size[c] = (sinew_real)(0.57 * size);
    }
    round.radius = (sinew_real)(kind == 1 ? 0.5 * size : 0.4 * size);
    round.height = (sinew_real)(0.58 * size);
    round.segments = cells;
    round.layers = cells;
    if (kind == 0)
        return sinew_mesh_beam(&box, error);
    if (kind == 1)
        return sinew_mesh_ball(&round, error);
    if (kind == 3)
        return sinew_mesh_cylinder(&round, error);
    round.segments = 4 * cells;
    if (kind == 2) {
        round.radius = (sinew_real)(0.34 * size);
        round.inner_radius = (sinew_real)(0.16 * size);
        return sinew_mesh_torus(&round, error);
    }
    round.inner_radius = (sinew_real)(0.2 * size);
    round.layers = cells + cells / 2;
    round.rings = (cells + 1) / 2;
    return sinew_mesh_tube(&round, error);
}

sinew_mesh *touch_shape(int kind, double size, int32_t vertices, sinew_error *error)
{
    for (int32_t cells = 2;; cells++) {
        sinew_mesh *mesh = make_shape(kind, size, cells, error);
        if (!mesh || sinew_mesh_vertex_count(mesh) >= vertices)
            return mesh;
        sinew_mesh_destroy(mesh);
    }
}

/* ---- Steps with statistics -------------------------------------------------------------------- */

static double wall_seconds(void)
{
    struct timespec now;
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Number of particles in contact; 0 if out of memory. Adds the normal forces of all contacts to *force, N. */
static int32_t count_particles(const sinew_world *world, int32_t contact_count, double *force)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_contact *list = malloc(((size_t)contact_count + 1) * sizeof *list);
    uint8_t *seen = calloc((size_t)n + 1, 1);
    int32_t count = 0, found = 0;
    if (list && seen && sinew_world_contacts(world, contact_count, list, &count, NULL) == SINEW_OK)
        for (int32_t k = 0; k < count; k++) {
            *force += list[k].event != SINEW_CONTACT_ENDED ? list[k].force : 0;
            for (int a = 0; list[k].event != SINEW_CONTACT_ENDED && a < 4; a++) {
                const int32_t p = list[k].particles[a];
                if (p < 0 || list[k].weights[a] == 0 || seen[p])
                    continue;
                seen[p] = 1;
                found++;
            }
        }
    free(list);
    free(seen);
    return found;
}

static void write_row(touch_log *all, const sinew_world *world, const sinew_step_result *result, double wall)
{
    const sinew_contact_report *r = &all->last;
    all->force = 0;
    const int32_t particles = count_particles(world, r->contacts + r->ended, &all->force);
    all->steps++;
    all->wall += wall;
    all->solve += result->seconds;
    all->detect += r->detection_seconds;
    all->recolour += r->solver_update_seconds;
    all->contacts = r->contacts > all->contacts ? r->contacts : all->contacts;
    all->particles = particles > all->particles ? particles : all->particles;
    all->violation = fmax(all->violation, r->violation);
    all->crossings = r->intersections > all->crossings ? r->intersections : all->crossings;
    all->residual = fmax(all->residual, result->residual);
    all->inverted += (result->bits & SINEW_STEP_INVERTED) != 0;
    all->detections = r->detections > all->detections ? r->detections : all->detections;
    all->result = *result;
}

bool touch_step(sinew_world *world, touch_log *all, sinew_error *error)
{
    sinew_step_result result;
    const double began = wall_seconds();
    const uint32_t bits = sinew_world_step(world, &result);
    const double wall = wall_seconds() - began;
    if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE)) {
        snprintf(error->text, sizeof error->text, "%s",
                 bits & SINEW_STEP_UNPREPARED ? sinew_world_error(world) : "a step became non-finite");
        return false;
    }
    if (sinew_world_contact_report(world, &all->last, error) != SINEW_OK)
        return false;
    write_row(all, world, &result, wall);
    return true;
}

double touch_frame_seconds(const touch_log *all, double h)
{
    return all->steps > 0 ? all->wall / all->steps * ceil(TOUCH_FRAME / h - 1e-6) : NAN;
}

double touch_rest_share(const touch_log *all)
{
    return fmax(0, 1 - (all->solve + all->detect) / all->wall);
}

double touch_recolour_share(const touch_log *all)
{
    return all->recolour / all->wall;
}

/* ---- Pictures of the world -------------------------------------------------------------------- */

static bool is_drawn(const sinew_world *world, sinew_collider collider)
{
    const sinew_shape_kind kind = sinew_collider_kind(world, collider);
    return kind != SINEW_SHAPE_PLANE && kind != SINEW_SHAPE_COUNT &&
           (kind != SINEW_SHAPE_BOX || sinew_collider_closed(world, collider));
}

/* Writes points and triangles of all bodies, then of colliders, for a picture. Without arrays it only counts them. */
static bool touch_gather(const sinew_world *world, bool colliders, int32_t *n, sinew_real *x, int32_t *triangle_count,
                         int32_t *triangles)
{
    sinew_surface surface = {.triangle_count = triangles ? *triangle_count : 0, .triangles = triangles};
    *n = sinew_world_particle_count(world);
    bool good = sinew_world_surface(world, &surface, NULL) == SINEW_OK;
    if (x)
        sinew_world_get_positions(world, 0, *n, x);
    *triangle_count = surface.triangle_count;
    for (int32_t k = 0; good && colliders && k < sinew_world_collider_count(world); k++) {
        const sinew_collider collider = sinew_world_collider_at(world, k);
        if (!is_drawn(world, collider))
            continue;
        int32_t points, sides;
        int32_t *own = triangles ? triangles + 3 * (size_t)*triangle_count : NULL;
        good = sinew_collider_surface(world, collider, 1, &points, x ? x + 3 * (size_t)*n : NULL, &sides, own, NULL) ==
               SINEW_OK;
        for (int32_t i = 0; good && own && i < 3 * sides; i++)
            own[i] += *n;
        *n += points;
        *triangle_count += sides;
    }
    return good;
}

void touch_picture(figure *f, const char *name, sinew_solver_kind kind, const sinew_world *world, bool colliders)
{
    int32_t n, sides;
    if (!touch_gather(world, colliders, &n, NULL, &sides, NULL))
        return;
    sinew_real *x = malloc(3 * ((size_t)n + 1) * sizeof *x);
    int32_t *triangles = malloc(3 * ((size_t)sides + 1) * sizeof *triangles);
    if (x && triangles && touch_gather(world, colliders, &n, x, &sides, triangles)) {
        figure_shape(f, name, kind, x, n);
        figure_surface(f, triangles, sides);
    }
    free(x);
    free(triangles);
}

/* ---- Memory statistics ------------------------------------------------------------------------ */

static void *touch_tally_allocate(void *context, size_t size, size_t alignment)
{
    touch_memory *memory = context;
    char *block = alignment <= HEADER ? aligned_alloc(HEADER, (size + 2 * HEADER - 1) / HEADER * HEADER) : NULL;
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    memory->held += size;
    memory->max = memory->held > memory->max ? memory->held : memory->max;
    return block + HEADER;
}

static void touch_tally_release(void *context, void *given)
{
    touch_memory *memory = context;
    size_t size;
    char *block = (char *)given - HEADER;
    memcpy(&size, block, sizeof size);
    memory->held -= size;
    free(block);
}

sinew_allocator touch_tally(touch_memory *memory)
{
    return (sinew_allocator){touch_tally_allocate, touch_tally_release, memory};
}
