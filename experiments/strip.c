/* SPDX-License-Identifier: MIT
 *
 * strip.c: the strip of plate.h under its own weight, a load at its tip or a couple at its end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plate.h"

#define GRAVITY 10.0 /* m/s2; the density follows from the load */

static double width_of(const strip *s)
{
    return s->width > 0 ? s->width : 0.25;
}

/* marks the vertices whose rest coordinate on the axis is `at`, or with `below` at most that. */
static void mark(const plate *p, int axis, double at, bool below, uint8_t *marked)
{
    const sinew_real *x = sinew_mesh_positions(sinew_body_mesh(p->world, p->body));
    for (int32_t i = 0; i < p->vertex_count; i++) {
        const double d = (double)x[3 * i + axis] - at;
        marked[i] = fabs(d) < 1e-5 || (below && d < 0);
    }
}

static bool hold_strip(const strip *s, const plate *p, uint8_t *marked, sinew_error *error)
{
    const double normal[3] = {0, 0, 1}, width = width_of(s);
    mark(p, 0, 0, true, marked);
    bool good = plate_pin(p, marked, true, error);
    for (int side = 0; good && side < 2; side++) {
        const double point[3] = {0, 0, side ? -width : 0};
        mark(p, 2, point[2], false, marked);
        good = plate_slide(p, marked, point, normal, true, error);
    }
    return good;
}

/* A load P at the tip: each of its edges gives half of its part to either end. */
static bool pull_tip(const strip *s, const plate *p, const uint8_t *tip)
{
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    const int32_t first = sinew_body_first_particle(p->world, p->body), *t = sinew_mesh_triangles(mesh);
    const sinew_real *x = sinew_mesh_positions(mesh);
    sinew_real *f = calloc(3 * (size_t)p->vertex_count, sizeof *f);
    for (int32_t i = 0; f && i < 3 * p->triangle_count; i++) {
        const int32_t a = t[i], b = t[i % 3 == 2 ? i - 2 : i + 1];
        if (!tip[a] || !tip[b])
            continue;
        const double share = s->load * fabs((double)x[3 * a + 2] - (double)x[3 * b + 2]) / 2;
        f[3 * a + 1] -= (sinew_real)share;
        f[3 * b + 1] -= (sinew_real)share;
    }
    const bool good = f && sinew_world_set_forces(p->world, first, p->vertex_count, f) == SINEW_OK;
    free(f);
    return good;
}

static void measure(strip *s, const plate *p, const uint8_t *tip)
{
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    double sum[3] = {0}, turn[2] = {0};
    int32_t count = 0;
    for (int32_t i = 0; i < p->vertex_count; i++)
        for (int k = 0; tip[i] && k < 3; k++) {
            sum[k] += (double)s->q[3 * i + k];
            count += k == 0;
        }
    for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++) {
        const int32_t *d = sinew_mesh_directors(mesh) + 3 * i;
        for (int k = 0; tip[d[0]] && tip[d[1]] && k < 2; k++)
            turn[k] += (double)s->q[3 * d[2] + k] - ((double)s->q[3 * d[0] + k] + (double)s->q[3 * d[1] + k]) / 2;
    }
    s->reach = sum[0] / count;
    s->drop = -sum[1] / count;
    s->gap = hypot(s->reach, s->drop);
    s->angle = s->model == PLATE_SHELL ? atan2(fabs(turn[0]), turn[1]) : NAN;
}

static bool keep_shape(strip *s, const plate *p)
{
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    s->point_count = sinew_mesh_vertex_count(mesh);
    s->triangle_count = p->triangle_count;
    s->q = malloc(3 * (size_t)s->point_count * sizeof *s->q);
    s->triangles = malloc(3 * (size_t)s->triangle_count * sizeof *s->triangles);
    if (!s->q || !s->triangles)
        return false;
    memcpy(s->triangles, sinew_mesh_triangles(mesh), 3 * (size_t)s->triangle_count * sizeof *s->triangles);
    sinew_world_get_positions(p->world, sinew_body_first_particle(p->world, p->body), s->point_count, s->q);
    return true;
}

/* A sheet that hardly stretches goes to its equilibrium by way of shapes that hardly stretch: some load at a time. */
static int32_t steps_of(const strip *s)
{
    if (s->load_steps > 0)
        return s->load_steps;
    return s->kind == STRIP_COUPLE ? 60 : 4 + (int32_t)(s->load / 2);
}

static bool load_and_settle(strip *s, const plate *p, uint8_t *marked)
{
    const int32_t steps = steps_of(s);
    mark(p, 0, 1, false, marked);
    if (s->kind == STRIP_TIP && !pull_tip(s, p, marked))
        return false;
    s->iterations = plate_settle(p->world, steps, steps + 20, 0);
    if (!keep_shape(s, p))
        return false;
    measure(s, p, marked);
    return s->iterations >= 0;
}

static bool run(strip *s, sinew_error *error)
{
    const double low[2] = {0, 0}, high[2] = {1, width_of(s)};
    plate_def def = {.model = s->model,
                     .rigidity = 1,
                     .poisson = isnan(s->poisson) ? 0.3 : s->poisson,
                     .thickness = s->thickness > 0 ? s->thickness : 1 / 200.0,
                     .density = s->kind == STRIP_WEIGHT ? s->load / GRAVITY : 1,
                     .hold = s->hold,
                     .offset = s->offset};
    sinew_mesh *mesh = plate_mesh(s->mesh, low, high, s->cells, s->model != PLATE_SHELL, s->seed, error);
    sinew_world *world = mesh ? plate_world(s->kind == STRIP_WEIGHT ? GRAVITY : 0, steps_of(s), error) : NULL;
    plate p;
    uint8_t *marked = mesh ? malloc((size_t)sinew_mesh_vertex_count(mesh)) : NULL;
    const bool good = world && marked && plate_add(world, mesh, &def, &p, error) && hold_strip(s, &p, marked, error) &&
                      load_and_settle(s, &p, marked);
    free(marked);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return good;
}

bool strip_run(strip *s)
{
    sinew_error error = {0};
    s->error[0] = '\0';
    s->iterations = 0;
    s->q = NULL;
    s->triangles = NULL;
    const bool good = run(s, &error);
    if (!good)
        snprintf(s->error, sizeof s->error, "%s",
                 error.text[0]       ? error.text
                 : s->iterations < 0 ? "Newton's method does not converge"
                                     : "out of memory");
    return good;
}

void strip_release(strip *s)
{
    free(s->q);
    free(s->triangles);
    s->q = NULL;
    s->triangles = NULL;
}
