/* SPDX-License-Identifier: MIT
 *
 * drape.c: Cusick's drape test. See roof.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "roof.h"
#include "sinew/material.h"

#define DISC       0.09 /* radius of the supporting disc, in m */
#define RIM        0.15 /* radius of the fabric, in m */
#define PI         3.14159265358979323846
#define LOAD_STEPS 40  /* number of steps over which gravity grows */
#define SAMPLES    720 /* number of directions in which the radius of the fabric's shadow is sampled */

const fabric fabrics[FABRICS] = {{"silk", 0.2, 0.4}, {"wool", 0.4, 0.7}, {"denim", 0.7, 0.9}};

typedef struct cloud {
    double *points;
    int32_t count, capacity;
} cloud;

static bool drape_add(cloud *c, double u, double v)
{
    if (c->count == c->capacity)
        return false;
    c->points[2 * c->count] = u;
    c->points[2 * c->count++ + 1] = v;
    return true;
}

static bool add_ring(cloud *c, double radius, double edge)
{
    const int32_t count = (int32_t)ceil(2 * PI * radius / edge);
    bool good = true;
    for (int32_t i = 0; good && i < count; i++)
        good = drape_add(c, radius * cos(2 * PI * i / count), radius * sin(2 * PI * i / count));
    return good;
}

static double drape_next_random(uint32_t *state)
{
    *state = (uint32_t)((uint64_t)*state * 48271u % 2147483647u);
    return (double)*state / 2147483647.0;
}

static bool near(const cloud *c, double u, double v, double distance)
{
    for (int32_t i = 0; i < c->count; i++)
        if (hypot(c->points[2 * i] - u, c->points[2 * i + 1] - v) < distance)
            return true;
    return false;
}

/* Creates a mesh of the fabric's annulus outside the support: points on its borders, and random points inside. Of
 * the disc only the rim has vertices, and all of them are pinned. */
static sinew_mesh *ring_mesh(double edge, uint32_t seed, sinew_error *error)
{
    const int32_t tries = (int32_t)(60 * 4 * RIM * RIM / (edge * edge));
    cloud c = {.capacity = (int32_t)(4 * 4 * RIM * RIM / (edge * edge)) + 64};
    uint32_t state = seed % 2147483646u + 1;
    c.points = malloc(2 * (size_t)c.capacity * sizeof *c.points);
    bool good = c.points && add_ring(&c, RIM, edge) && add_ring(&c, DISC, edge) && add_ring(&c, DISC / 2, edge * 2);
    for (int32_t i = 0; good && i < tries; i++) {
        const double u = RIM * (2 * drape_next_random(&state) - 1), v = RIM * (2 * drape_next_random(&state) - 1);
        const double r = hypot(u, v);
        if (r > DISC + 0.5 * edge && r < RIM - 0.5 * edge && !near(&c, u, v, 0.74 * edge))
            good = drape_add(&c, u, v);
    }
    sinew_mesh *mesh = good ? plate_mesh_of(c.points, c.count, error) : NULL;
    free(c.points);
    return mesh;
}

static bool drape_hold(const plate *p, const sinew_mesh *mesh, sinew_error *error)
{
    uint8_t *marked = malloc((size_t)p->vertex_count);
    for (int32_t i = 0; marked && i < p->vertex_count; i++) {
        const sinew_real *x = sinew_mesh_positions(mesh) + 3 * i;
        marked[i] = hypot((double)x[0], (double)x[2]) < DISC * (1 + 1e-6);
    }
    const bool good = marked && plate_pin(p, marked, true, error);
    free(marked);
    return good;
}

/* Computes the radius of the shadow's border in each direction: the largest over all edges that cross the direction. */
static void shadow(const drape *d, double *radius)
{
    for (int32_t i = 0; i < SAMPLES; i++)
        radius[i] = DISC;
    for (int32_t e = 0; e < 3 * d->triangle_count; e++) {
        const sinew_real *a = d->q + 3 * d->triangles[e], *b = d->q + 3 * d->triangles[e % 3 == 2 ? e - 2 : e + 1];
        double from = atan2(-(double)a[2], (double)a[0]), to = atan2(-(double)b[2], (double)b[0]);
        double turn = to - from;
        turn -= 2 * PI * round(turn / (2 * PI));
        const double low = turn < 0 ? from + turn : from, high = turn < 0 ? from : from + turn;
        for (int32_t k = (int32_t)ceil(low / (2 * PI) * SAMPLES); k <= high / (2 * PI) * SAMPLES; k++) {
            const double angle = 2 * PI * k / SAMPLES, c = cos(angle), s = sin(angle);
            /* Intersection of a fabric edge with the ray of the direction, from the signed distances of both ends. */
            const double p = -(double)a[2] * c - (double)a[0] * s, q = -(double)b[2] * c - (double)b[0] * s;
            const double t = fabs(p - q) > 0 ? p / (p - q) : 0;
            const double x = (1 - t) * (double)a[0] + t * (double)b[0], y = -(1 - t) * (double)a[2] - t * (double)b[2];
            double *r = &radius[((k % SAMPLES) + SAMPLES) % SAMPLES];
            *r = fmax(*r, x * c + y * s);
        }
    }
}

static void drape_measure(drape *d)
{
    double radius[SAMPLES], area = 0;
    shadow(d, radius);
    for (int32_t i = 0; i < SAMPLES; i++)
        area += PI * radius[i] * radius[i] / SAMPLES;
    d->coefficient = (area - PI * DISC * DISC) / (PI * (RIM * RIM - DISC * DISC));
    /* Counts folds. A fold is one rise of the border through its mean radius; ripples of the mesh are too small to
     * cross the mean. */
    double mean = 0;
    for (int32_t i = 0; i < SAMPLES; i++)
        mean += radius[i] / SAMPLES;
    d->folds = 0;
    for (int32_t i = 0; i < SAMPLES; i++)
        d->folds += radius[i] < mean && radius[(i + 1) % SAMPLES] >= mean;
}

static bool drape_keep_shape(drape *d, const plate *p)
{
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    d->point_count = sinew_mesh_vertex_count(mesh);
    d->triangle_count = p->triangle_count;
    d->q = malloc(3 * (size_t)d->point_count * sizeof *d->q);
    d->triangles = malloc(3 * (size_t)d->triangle_count * sizeof *d->triangles);
    if (!d->q || !d->triangles)
        return false;
    memcpy(d->triangles, sinew_mesh_triangles(mesh), 3 * (size_t)d->triangle_count * sizeof *d->triangles);
    sinew_world_get_positions(p->world, sinew_body_first_particle(p->world, p->body), d->point_count, d->q);
    return true;
}

/* Increases gravity on the fabric in load steps, so that each equilibrium is near the last. Returns the number of
 * iterations; negative if a step does not converge. */
static int32_t drape_hang(sinew_world *world)
{
    int32_t all = 0;
    for (int32_t i = 1; all >= 0 && i <= LOAD_STEPS; i++) {
        const sinew_real down[3] = {0, (sinew_real)(-9.81 * i / LOAD_STEPS), 0};
        sinew_world_set_gravity(world, down, NULL);
        const int32_t more = plate_settle(world, 10);
        all = more < 0 ? -1 : all + more;
    }
    return all;
}

bool drape_run(drape *d)
{
    const sinew_material *m = sinew_material_by_name(d->fabric->name);
    const double D = m->rigidity[0], stretch = 2 * (1 + m->poisson) * m->shear * m->thickness;
    const plate_def def = {.rigidity = D,
                           .poisson = m->poisson,
                           .weft_ratio = m->rigidity[1] / D,
                           .thickness = sqrt(12 * (1 - m->poisson * m->poisson) * D / stretch),
                           .density = m->density};
    sinew_error error = {0};
    sinew_mesh *mesh = ring_mesh(d->edge, d->seed, &error);
    sinew_world *world = mesh ? plate_world(0, &error) : NULL;
    plate p;
    d->q = NULL;
    d->triangles = NULL;
    d->iterations = -1;
    bool good = world && plate_add(world, mesh, &def, &p, &error) && drape_hold(&p, mesh, &error);
    if (good)
        d->iterations = drape_hang(world);
    good = good && drape_keep_shape(d, &p);
    if (good)
        drape_measure(d);
    snprintf(d->error, sizeof d->error, "%.250s",
             d->iterations < 0 && !error.text[0] ? "does not converge" : error.text);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return good && d->iterations >= 0;
}

void drape_release(drape *d)
{
    free(d->q);
    free(d->triangles);
    d->q = NULL;
    d->triangles = NULL;
}
