/* SPDX-License-Identifier: MIT
 *
 * strip.c: the strip of plate.h under its own weight, a load at its tip or a couple at its end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plate.h"

#define GRAVITY 10.0 /* acceleration of gravity in m/s2 at the load Gamma = 1 */

#define WIDTH     0.25 /* width of the strip relative to its length */
#define STILL     1e-7 /* motion in m below which a strip under a couple counts as at rest */
#define INCREMENT 2.0  /* largest increment of the strip's load; a tenth of it, in rad, for an angle */

/* Marks the strip's vertices whose rest coordinate on the axis is `at`, or with `below` at most `at`. */
static void strip_mark(const plate *p, int axis, double at, bool below, uint8_t *marked)
{
    const sinew_real *x = sinew_mesh_positions(sinew_body_mesh(p->world, p->body));
    for (int32_t i = 0; i < p->vertex_count; i++) {
        const double d = (double)x[3 * i + axis] - at;
        marked[i] = fabs(d) < 1e-5 || (below && d < 0);
    }
}

static bool hold_strip(const plate *p, uint8_t *marked, sinew_error *error)
{
    const double across[3] = {0, 0, 1};
    strip_mark(p, 0, 0, true, marked);
    bool good = plate_pin(p, marked, true, error);
    for (int side = 0; good && side < 2; side++) {
        strip_mark(p, 2, side ? -WIDTH : 0, false, marked);
        good = plate_slide(p, marked, across, PLATE_IN_PLANE, error);
    }
    return good;
}

/* The strip with its supports while it is being loaded. */
typedef struct loading {
    plate plate;
    uint8_t *tip;  /* [vertex_count] 1: the vertex belongs to the strip's tip */
    double offset; /* offset of the strip's director points, in m */
    sinew_pin arm; /* pins of the two points of the arm that applies a couple */
    int32_t first_arm;
} loading;

/* Sets gravity on the strip: at GRAVITY the density gives Gamma = 1. */
static bool set_weight(const loading *l, double load, sinew_error *error)
{
    const sinew_real down[3] = {0, (sinew_real)(-GRAVITY * load), 0};
    return sinew_world_set_gravity(l->plate.world, down, error) == SINEW_OK;
}

/* Sets a force at the strip's tip: half of each tip edge's force acts on either end of the edge. */
static bool set_tip(const loading *l, double load, sinew_error *error)
{
    const plate *p = &l->plate;
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    const int32_t first = sinew_body_first_particle(p->world, p->body), *t = sinew_mesh_triangles(mesh);
    const sinew_real *x = sinew_mesh_positions(mesh);
    (void)error;
    sinew_real *f = calloc(3 * (size_t)p->vertex_count, sizeof *f);
    for (int32_t i = 0; f && i < 3 * p->triangle_count; i++) {
        const int32_t a = t[i], b = t[i % 3 == 2 ? i - 2 : i + 1];
        if (!l->tip[a] || !l->tip[b])
            continue;
        const double share = load * fabs((double)x[3 * a + 2] - (double)x[3 * b + 2]) / 2;
        f[3 * a + 1] -= (sinew_real)share;
        f[3 * b + 1] -= (sinew_real)share;
    }
    const bool good = f && sinew_world_set_forces(p->world, first, p->vertex_count, f) == SINEW_OK;
    free(f);
    return good;
}

/* Adds two pinned points O and T whose difference is the arm. bind_arm() then keeps r = p - (x_a + x_b)/2 equal to T -
 * O on each edge of the tip. Its weak constraints bind (p + O)/2 to (x_a + x_b)/4 + T/2. The couple is the result. */
static bool add_arm(loading *l, sinew_error *error)
{
    static const sinew_real masses[2] = {1, 1};
    static const int32_t both[2] = {0, 1};
    const sinew_real arm[6] = {0, 0, 0, 0, (sinew_real)l->offset, 0};
    sinew_mesh_def shape = sinew_default_mesh_def();
    shape.vertex_count = 2;
    shape.positions = arm;
    sinew_mesh *mesh = sinew_mesh_create(&shape, error);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.masses = masses;
    const sinew_body body = mesh ? sinew_world_add_body(l->plate.world, &def, error) : (sinew_body){.index = -1};
    sinew_mesh_destroy(mesh);
    sinew_pin_def pin = sinew_default_pin_def();
    pin.body = body;
    pin.vertices = both;
    pin.vertex_count = 2;
    if (body.index < 0)
        return false;
    l->arm = sinew_world_add_pins(l->plate.world, &pin, error);
    l->first_arm = sinew_body_first_particle(l->plate.world, body);
    return l->arm.index >= 0;
}

static bool bind_arm(const loading *l, sinew_error *error)
{
    const plate *p = &l->plate;
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    const int32_t first = sinew_body_first_particle(p->world, p->body), max = sinew_mesh_director_count(mesh);
    int32_t *pairs = malloc(8 * (size_t)max * sizeof *pairs), count = 0;
    sinew_real *weights = malloc(8 * (size_t)max * sizeof *weights);
    for (int32_t i = 0; pairs && weights && i < max; i++) {
        const int32_t *d = sinew_mesh_directors(mesh) + 3 * i, O = l->first_arm, T = O + 1;
        if (!l->tip[d[0]] || !l->tip[d[1]])
            continue;
        const int32_t own[8] = {first + d[2], O, O, O, first + d[0], first + d[1], T, T};
        const sinew_real share[8] = {(sinew_real)0.5,  (sinew_real)0.5, 0, 0, (sinew_real)0.25,
                                     (sinew_real)0.25, (sinew_real)0.5, 0};
        memcpy(pairs + 8 * count, own, sizeof own);
        memcpy(weights + 8 * count++, share, sizeof share);
    }
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body.index = -1;
    weak.elements = pairs;
    weak.element_count = count;
    weak.weights = weights;
    weak.transient = false;
    weak.parameters[0] = weak.parameters[1] = (sinew_real)(10 * p->stretch);
    const bool good = pairs && weights && sinew_world_add_energy(p->world, &weak, error).index >= 0;
    free(pairs);
    free(weights);
    return good;
}

static bool set_turn(const loading *l, double load, sinew_error *error)
{
    const sinew_real targets[6] = {0, 0, 0, (sinew_real)(l->offset * sin(load)), (sinew_real)(l->offset * cos(load)),
                                   0};
    return sinew_pin_set_targets(l->plate.world, l->arm, targets, error) == SINEW_OK;
}

/* Couple per width at the tip: the forces of the weak constraints on the director points of the tip, times the arm. */
static double couple_of(const loading *l, const sinew_real *q, double angle)
{
    const sinew_mesh *mesh = sinew_body_mesh(l->plate.world, l->plate.body);
    const double arm[2] = {l->offset * sin(angle), l->offset * cos(angle)};
    double sum = 0;
    for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++) {
        const int32_t *d = sinew_mesh_directors(mesh) + 3 * i;
        double C[2];
        if (!l->tip[d[0]] || !l->tip[d[1]])
            continue;
        for (int k = 0; k < 2; k++)
            C[k] = 0.5 * ((double)q[3 * d[2] + k] - ((double)q[3 * d[0] + k] + (double)q[3 * d[1] + k]) / 2 - arm[k]);
        sum += 0.5 * 10 * l->plate.stretch * (arm[0] * C[1] - arm[1] * C[0]);
    }
    return sum / WIDTH;
}

static void strip_measure(const loading *l, const sinew_real *q, strip_shape *shape)
{
    const sinew_mesh *mesh = sinew_body_mesh(l->plate.world, l->plate.body);
    double sum[2] = {0}, turn[2] = {0};
    int32_t count = 0;
    for (int32_t i = 0; i < l->plate.vertex_count; i++) {
        count += l->tip[i];
        for (int k = 0; l->tip[i] && k < 2; k++)
            sum[k] += (double)q[3 * i + k];
    }
    for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++) {
        const int32_t *d = sinew_mesh_directors(mesh) + 3 * i;
        for (int k = 0; l->tip[d[0]] && l->tip[d[1]] && k < 2; k++)
            turn[k] += (double)q[3 * d[2] + k] - ((double)q[3 * d[0] + k] + (double)q[3 * d[1] + k]) / 2;
    }
    shape->reach = sum[0] / count;
    shape->drop = -sum[1] / count;
    shape->gap = hypot(shape->reach, shape->drop);
    shape->angle = sinew_mesh_director_count(mesh) > 0 ? fabs(atan2(turn[0], turn[1])) : NAN;
}

static bool strip_keep_shape(strip *s, const plate *p)
{
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->body);
    s->point_count = sinew_mesh_vertex_count(mesh);
    s->triangle_count = p->triangle_count;
    s->q = malloc(3 * (size_t)s->point_count * sizeof *s->q);
    s->triangles = malloc(3 * (size_t)s->triangle_count * sizeof *s->triangles);
    if (s->triangles)
        memcpy(s->triangles, sinew_mesh_triangles(mesh), 3 * (size_t)s->triangle_count * sizeof *s->triangles);
    return s->q && s->triangles;
}

/* Changes the strip's load in increments, so that a nearly inextensible sheet passes through nearly unstretched
 * shapes. */
static bool strip_grow(strip *s, const loading *l, double from, double to, sinew_error *error)
{
    static bool (*const set[])(const loading *l, double load, sinew_error *error) = {set_weight, set_tip, set_turn};
    const int32_t increments = 1 + (int32_t)((to - from) / (s->kind == STRIP_TURN ? INCREMENT / 10 : INCREMENT));
    for (int32_t i = 1; i <= increments; i++) {
        const int32_t more =
            set[s->kind](l, from + (to - from) * i / increments, error) ? plate_settle(l->plate.world, 40) : -1;
        s->iterations = more < 0 ? -1 : s->iterations + more;
        if (more < 0)
            return false;
    }
    return true;
}

static bool load_strip(strip *s, loading *l, sinew_error *error)
{
    const plate *p = &l->plate;
    bool good = strip_keep_shape(s, p);
    strip_mark(p, 0, 1, false, l->tip);
    if (good && s->kind == STRIP_TURN)
        good = s->model == PLATE_SHELL && add_arm(l, error) && bind_arm(l, error);
    for (int32_t i = 0; good && i < s->count; i++) {
        good = strip_grow(s, l, i > 0 ? s->shapes[i - 1].load : 0, s->shapes[i].load, error);
        sinew_world_get_positions(p->world, sinew_body_first_particle(p->world, p->body), s->point_count, s->q);
        strip_measure(l, s->q, &s->shapes[i]);
        s->shapes[i].couple = s->kind == STRIP_TURN ? couple_of(l, s->q, s->shapes[i].load) : 0;
    }
    return good;
}

static bool strip_follow(strip *s, sinew_error *error)
{
    const double low[2] = {0, 0}, high[2] = {1, WIDTH};
    const plate_def def = {.model = s->model,
                           .rigidity = 1,
                           .poisson = isnan(s->poisson) ? 0.3 : s->poisson,
                           .thickness = s->thickness > 0 ? s->thickness : 1 / 200.0,
                           .density = 1 / GRAVITY,
                           .hold = s->hold,
                           .offset = s->offset > 0 ? s->offset : 0.25 / s->cells};
    sinew_mesh *mesh = plate_mesh(s->mesh, low, high, s->cells, s->model != PLATE_SHELL, s->seed, error);
    sinew_world *world = mesh ? plate_world(0, error) : NULL;
    loading l = {.offset = def.offset, .tip = mesh ? malloc((size_t)sinew_mesh_vertex_count(mesh)) : NULL};
    const bool good = world && l.tip && plate_add(world, mesh, &def, &l.plate, error) &&
                      hold_strip(&l.plate, l.tip, error) && load_strip(s, &l, error);
    free(l.tip);
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
    const bool good = strip_follow(s, &error);
    if (!good)
        snprintf(s->error, sizeof s->error, "%.250s",
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
