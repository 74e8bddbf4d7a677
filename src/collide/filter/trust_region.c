/* SPDX-License-Identifier: MIT
 *
 * trust_region.c: chooses the progress of objects along their predicted displacements. See trust_region.h.
 */
#include "collide/filter/trust_region.h"

#include <math.h>

#include "collide/closest.h"
#include "math/vec3.h"

#define HALVINGS 30 /* number of bisections of the fraction sigma, to an accuracy of 1e-9 */

/* The left side of (1) in trust_region.h, for one vertex in a motion: |e + tau a - sigma b|, in m. */
typedef struct trust_ball {
    double e[3], a[3], b[3];
    double radius;
} trust_ball;

static inline __attribute__((always_inline)) trust_ball trust_ball_of(const sinew_step_filter *g,
                                                                      const sinew_collision_mesh *f, int32_t v)
{
    const sinew_trust_region *region = &g->trust_regions[f->object[v]];
    trust_ball ball = {.radius = (double)g->predicted[4 * (size_t)v + 3]};
    for (size_t k = 0; k < 3; k++) {
        const size_t at = 4 * (size_t)v + k;
        ball.e[k] =
            (double)g->x_accepted[at] - (double)g->x_pass_start[at] - region->progress * (double)g->predicted[at];
        ball.a[k] = (double)g->x_requested[at] - (double)g->x_accepted[at];
        ball.b[k] = (region->target - region->progress) * (double)g->predicted[at];
    }
    return ball;
}

static void add_scaled3(const double a[3], double t, const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] + t * b[k];
}

/* Square of the left side of (1) in trust_region.h, m^2; comparing squares avoids a square root per vertex. */
static double trust_ball_square(const trust_ball *ball, double sigma, double tau)
{
    double z[3];
    add_scaled3(ball->e, tau, ball->a, z);
    add_scaled3(z, -sigma, ball->b, z);
    return vec3_dot(z, z);
}

static double trust_larger(double a, double b)
{
    return a > b ? a : b;
}

/* Largest t in 0 .. max with |from + t along| <= radius. Such a t exists, except for round-off. */
static double largest_step_within(const double from[3], const double along[3], double radius, double max)
{
    const double a = vec3_dot(along, along), b = vec3_dot(from, along), c = vec3_dot(from, from) - radius * radius;
    if (!(a * max * max + 2 * b * max + c > 0) || !(a > 0))
        return max;
    return fmax(0, fmin(max, (sqrt(fmax(b * b - a * c, 0)) - b) / a));
}

static double trust_ball_tau(const trust_ball *ball, double sigma, double max)
{
    double from[3];
    add_scaled3(ball->e, -sigma, ball->b, from);
    return largest_step_within(from, ball->a, ball->radius, max);
}

static double trust_ball_sigma(const trust_ball *ball, double tau, double max)
{
    const double back[3] = {-ball->b[0], -ball->b[1], -ball->b[2]};
    double from[3];
    add_scaled3(ball->e, tau, ball->a, from);
    return largest_step_within(from, back, ball->radius, max);
}

/* True if some step fraction tau is admissible with sigma: tests the tau whose point is nearest to the ball's
 * centre. */
static bool trust_ball_has_tau(const trust_ball *ball, double sigma)
{
    const double square = vec3_dot(ball->a, ball->a);
    double from[3];
    add_scaled3(ball->e, -sigma, ball->b, from);
    const double tau = square > 0 ? fmax(0, fmin(1, -vec3_dot(from, ball->a) / square)) : 0;
    return trust_ball_square(ball, sigma, tau) <= ball->radius * ball->radius;
}

void sinew_trust_region_begin(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        const double at = f->objects[o].kinematic ? 1 : 0;
        g->trust_regions[o] = (sinew_trust_region){.progress = at, .target = at, .fraction = 1};
    }
}

/* Adds the vertices of an object to the least squares for the progress lambda that fits x_requested best. */
static void region_add_squares(const sinew_step_filter *g, const sinew_collision_object *object,
                               sinew_trust_region *region)
{
    double over = 0, under = 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)v + k;
            const double d = (double)g->predicted[at];
            over += d * ((double)g->x_requested[at] - (double)g->x_pass_start[at]);
            under += d * d;
        }
    region->over += over;
    region->under += under;
}

/* True if the full step, sigma = tau = 1, keeps every vertex of the object in its trust region. */
static bool region_is_unrestricted(const sinew_step_filter *g, const sinew_collision_mesh *f,
                                   const sinew_collision_object *object)
{
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const trust_ball ball = trust_ball_of(g, f, v);
        if (!(trust_ball_square(&ball, 1, 1) <= ball.radius * ball.radius))
            return false;
    }
    return true;
}

/* Largest fraction sigma, at most `max`, that is admissible for every vertex of the object, with some tau. */
static double largest_fraction(const sinew_step_filter *g, const sinew_collision_mesh *f,
                               const sinew_collision_object *object, double max)
{
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const trust_ball ball = trust_ball_of(g, f, v);
        if (trust_ball_square(&ball, max, 1) <= ball.radius * ball.radius || trust_ball_has_tau(&ball, max))
            continue;
        double good = 0, bad = max;
        for (int k = 0; k < HALVINGS; k++) {
            const double middle = (good + bad) / 2;
            if (trust_ball_has_tau(&ball, middle))
                good = middle;
            else
                bad = middle;
        }
        max = good;
    }
    return max;
}

/* Sets `target` of all objects: the best lambda of their islands. */
static void regions_choose_target(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    for (int32_t o = 0; o < f->object_count; o++)
        g->trust_regions[o].over = g->trust_regions[o].under = 0;
    for (int32_t o = 0; o < f->object_count; o++)
        if (!f->objects[o].kinematic)
            region_add_squares(g, &f->objects[o], &g->trust_regions[g->island[o]]);
    for (int32_t o = 0; o < f->object_count; o++) {
        const double over = g->trust_regions[g->island[o]].over, under = g->trust_regions[g->island[o]].under;
        g->trust_regions[o].target = f->objects[o].kinematic ? g->trust_regions[o].progress
                                     : under > 0 && over > 0 ? fmin(1, over / under)
                                                             : 0;
    }
}

void sinew_trust_region_choose(sinew_step_filter *g, const sinew_collision_mesh *f)
{
    sinew_trust_region *regions = g->trust_regions;
    regions_choose_target(g, f);
    for (int32_t o = 0; o < f->object_count; o++) {
        regions[o].fraction = regions[o].least = 1;
        regions[o].unrestricted = region_is_unrestricted(g, f, &f->objects[o]);
        regions[g->island[o]].unrestricted = regions[g->island[o]].unrestricted && regions[o].unrestricted;
    }
    for (int32_t o = 0; o < f->object_count; o++) {
        sinew_trust_region *island = &regions[g->island[o]];
        if (!f->objects[o].rigid && !island->unrestricted && regions[o].target != regions[o].progress)
            island->least = largest_fraction(g, f, &f->objects[o], island->least);
    }
    for (int32_t o = 0; o < f->object_count; o++) {
        regions[o].fraction = regions[g->island[o]].least;
        regions[o].unrestricted = regions[g->island[o]].unrestricted;
    }
}

double sinew_trust_region_tau(const sinew_step_filter *g, const sinew_collision_mesh *f, int32_t v, double max)
{
    const sinew_trust_region *region = &g->trust_regions[f->object[v]];
    if (region->unrestricted && region->fraction == 1 && max == 1)
        return 1;
    const trust_ball ball = trust_ball_of(g, f, v);
    if (f->objects[f->object[v]].rigid) {
        double along[3];
        add_scaled3(ball.a, -1, ball.b, along);
        return largest_step_within(ball.e, along, ball.radius, max);
    }
    return trust_ball_tau(&ball, region->fraction, max);
}

double sinew_trust_region_deviation(const sinew_step_filter *g, const sinew_collision_mesh *f, int32_t v)
{
    const trust_ball ball = trust_ball_of(g, f, v);
    const double now = vec3_dot(ball.e, ball.e), straight = trust_larger(now, trust_ball_square(&ball, 1, 1));
    if (!g->partial)
        return sqrt(straight);
    /* A norm is convex, so its maximum over sigma and tau is at a corner of their range. */
    const double across = trust_larger(trust_ball_square(&ball, 0, 1), trust_ball_square(&ball, 1, 0)),
                 max = trust_larger(straight, across);
    const double within = ball.radius * ball.radius;
    return sqrt(trust_larger(now, max < within ? max : within));
}

/* Reduces the step fraction tau of an object's vertices to the largest value that its fraction sigma allows, and stamps
 * changed vertices. */
static void region_truncate_vertices(sinew_step_filter *g, const sinew_collision_mesh *f,
                                     const sinew_collision_object *object, int32_t stamp)
{
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        sinew_real *tau = &g->x_accepted[4 * (size_t)v + 3];
        const sinew_real less = (sinew_real)sinew_trust_region_tau(g, f, v, (double)*tau);
        if (less >= *tau)
            continue;
        *tau = less;
        g->stamp[v] = stamp;
    }
}

/* Largest sigma, at most `max`, that fits the reduced tau of the object's vertices with this stamp. */
static double region_stamped_fraction(const sinew_step_filter *g, const sinew_collision_mesh *f,
                                      const sinew_collision_object *object, int32_t stamp, double max)
{
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
        if (g->stamp[v] == stamp) {
            const trust_ball ball = trust_ball_of(g, f, v);
            max = trust_ball_sigma(&ball, (double)g->x_accepted[4 * (size_t)v + 3], max);
        }
    return max;
}

void sinew_trust_region_restrict(sinew_step_filter *g, const sinew_collision_mesh *f, int32_t stamp)
{
    sinew_trust_region *regions = g->trust_regions;
    for (int32_t o = 0; o < f->object_count; o++)
        regions[o].least = regions[o].fraction;
    for (int32_t o = 0; o < f->object_count; o++) {
        sinew_trust_region *island = &regions[g->island[o]];
        if (!f->objects[o].kinematic && !f->objects[o].rigid && regions[o].target != regions[o].progress)
            island->least = region_stamped_fraction(g, f, &f->objects[o], stamp, island->least);
    }
    for (int32_t o = 0; o < f->object_count; o++) {
        const double least = regions[g->island[o]].least;
        if (least == regions[o].fraction)
            continue;
        regions[o].fraction = least;
        region_truncate_vertices(g, f, &f->objects[o], stamp);
    }
}
