/* SPDX-License-Identifier: MIT
 *
 * trust_region.c: how far objects go on their ways in a motion. See trust_region.h.
 */
#include "collide/filter/trust_region.h"

#include <math.h>

#define HALVINGS 30 /* of sigma before what is certain is taken */

/* The left side of (1) in a motion: |e + tau a - sigma b|. */
typedef struct course_ball {
    double e[3], a[3], b[3];
    double radius;
} course_ball;

static inline __attribute__((always_inline)) course_ball ball_of(const sinew_guard *g, const sinew_features *f,
                                                                 int32_t v)
{
    const sinew_course *course = &g->courses[f->object[v]];
    course_ball ball = {.radius = (double)g->ways[4 * (size_t)v + 3]};
    for (size_t k = 0; k < 3; k++) {
        const size_t at = 4 * (size_t)v + k;
        ball.e[k] = (double)g->safe[at] - (double)g->begun[at] - course->at * (double)g->ways[at];
        ball.a[k] = (double)g->asked[at] - (double)g->safe[at];
        ball.b[k] = (course->to - course->at) * (double)g->ways[at];
    }
    return ball;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = a + t b */
static void add(const double a[3], double t, const double b[3], double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] + t * b[k];
}

/* Its square, which most questions are about: roots of all vertices would be felt. */
static double square_at(const course_ball *ball, double sigma, double tau)
{
    double z[3];
    add(ball->e, tau, ball->a, z);
    add(z, -sigma, ball->b, z);
    return dot(z, z);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* The largest t of 0 .. most with |from + t along| <= radius. There is one, but for round-off. */
static double largest_within(const double from[3], const double along[3], double radius, double most)
{
    const double a = dot(along, along), b = dot(from, along), c = dot(from, from) - radius * radius;
    if (!(a * most * most + 2 * b * most + c > 0) || !(a > 0))
        return most;
    return fmax(0, fmin(most, (sqrt(fmax(b * b - a * c, 0)) - b) / a));
}

static double tau_of(const course_ball *ball, double sigma, double most)
{
    double from[3];
    add(ball->e, -sigma, ball->b, from);
    return largest_within(from, ball->a, ball->radius, most);
}

static double sigma_of(const course_ball *ball, double tau, double most)
{
    const double back[3] = {-ball->b[0], -ball->b[1], -ball->b[2]};
    double from[3];
    add(ball->e, tau, ball->a, from);
    return largest_within(from, back, ball->radius, most);
}

/* Whether some tau goes with sigma: that of the nearest point to the ball's middle. */
static bool some_tau(const course_ball *ball, double sigma)
{
    const double square = dot(ball->a, ball->a);
    double from[3];
    add(ball->e, -sigma, ball->b, from);
    const double tau = square > 0 ? fmax(0, fmin(1, -dot(from, ball->a) / square)) : 0;
    return square_at(ball, sigma, tau) <= ball->radius * ball->radius;
}

void sinew_course_begin(sinew_guard *g, const sinew_features *f)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        const double at = f->objects[o].kinematic ? 1 : 0;
        g->courses[o] = (sinew_course){at, at, 1, false};
    }
}

/* Least squares over the vertices of an object. */
static double best_lambda(const sinew_guard *g, const sinew_touch_object *object)
{
    double over = 0, under = 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)v + k;
            const double d = (double)g->ways[at];
            over += d * ((double)g->asked[at] - (double)g->begun[at]);
            under += d * d;
        }
    return under > 0 && over > 0 ? fmin(1, over / under) : 0;
}

/* Whether every vertex of the object may have all it asks for. */
static bool is_free(const sinew_guard *g, const sinew_features *f, const sinew_touch_object *object)
{
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const course_ball ball = ball_of(g, f, v);
        if (!(square_at(&ball, 1, 1) <= ball.radius * ball.radius))
            return false;
    }
    return true;
}

/* The largest sigma that every vertex of the object can follow. */
static double largest_part(const sinew_guard *g, const sinew_features *f, const sinew_touch_object *object)
{
    double most = 1;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const course_ball ball = ball_of(g, f, v);
        if (square_at(&ball, most, 1) <= ball.radius * ball.radius || some_tau(&ball, most))
            continue;
        double good = 0, bad = most;
        for (int k = 0; k < HALVINGS; k++) {
            const double middle = (good + bad) / 2;
            if (some_tau(&ball, middle))
                good = middle;
            else
                bad = middle;
        }
        most = good;
    }
    return most;
}

void sinew_course_choose(sinew_guard *g, const sinew_features *f)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_touch_object *object = &f->objects[o];
        sinew_course *course = &g->courses[o];
        course->part = 1;
        course->to = object->kinematic ? course->at : best_lambda(g, object);
        course->free = is_free(g, f, object);
        if (!course->free && course->to != course->at)
            course->part = largest_part(g, f, object);
    }
}

double sinew_course_tau(const sinew_guard *g, const sinew_features *f, int32_t v, double most)
{
    const sinew_course *course = &g->courses[f->object[v]];
    if (course->free && course->part == 1 && most == 1)
        return 1;
    const course_ball ball = ball_of(g, f, v);
    return tau_of(&ball, course->part, most);
}

double sinew_course_way(const sinew_guard *g, const sinew_features *f, int32_t v)
{
    const course_ball ball = ball_of(g, f, v);
    const double now = dot(ball.e, ball.e), straight = larger(now, square_at(&ball, 1, 1));
    if (!g->wide)
        return sqrt(straight);
    /* Lengths are convex: the largest is at a corner. */
    const double across = larger(square_at(&ball, 0, 1), square_at(&ball, 1, 0)), most = larger(straight, across);
    const double within = ball.radius * ball.radius;
    return sqrt(larger(now, most < within ? most : within));
}

/* Gives the vertices of an object the tau that goes with its part. */
static void follow_part(sinew_guard *g, const sinew_features *f, const sinew_touch_object *object, int32_t stamp)
{
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        sinew_real *tau = &g->safe[4 * (size_t)v + 3];
        const sinew_real less = (sinew_real)sinew_course_tau(g, f, v, (double)*tau);
        if (less >= *tau)
            continue;
        *tau = less;
        g->stamp[v] = stamp;
    }
}

void sinew_course_join(sinew_guard *g, const sinew_features *f, int32_t stamp)
{
    for (int32_t o = 0; o < f->object_count; o++) {
        const sinew_touch_object *object = &f->objects[o];
        sinew_course *course = &g->courses[o];
        double part = course->part;
        if (object->kinematic || course->to == course->at)
            continue;
        for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
            if (g->stamp[v] == stamp) {
                const course_ball ball = ball_of(g, f, v);
                part = sigma_of(&ball, (double)g->safe[4 * (size_t)v + 3], part);
            }
        if (part == course->part)
            continue;
        course->part = part;
        follow_part(g, f, object, stamp);
    }
}
