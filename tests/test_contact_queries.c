/* SPDX-License-Identifier: MIT
 *
 * test_contact_queries.c: ray, nearest-point and box queries against brute force over all triangles and against
 * formulas, in deforming worlds with and without contact; and the list of intersections.
 */
#include "contact_worlds.h"
#include "random_cases.h"

#ifdef SINEW_SINGLE
#define CLOSE 2e-4
#else
#define CLOSE 1e-9
#endif

static double dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void minus3(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[k] - b[k];
}

static void cross3(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

/* ---- Brute force ----------------------------------------------------------------------------- */

enum {
    TRIANGLES_MAX = 4000
};

/* All triangles and their owners: bodies, then colliders. */
typedef struct soup {
    double x[TRIANGLES_MAX][3][3];
    int object[TRIANGLES_MAX];
    int count;
} soup;

static void add_soup(soup *s, const sinew_real *x, const int32_t *triangles, int32_t count, int object)
{
    for (int32_t t = 0; t < count; t++, s->count++) {
        assert_true(s->count < TRIANGLES_MAX);
        for (int a = 0; a < 3; a++)
            for (int k = 0; k < 3; k++)
                s->x[s->count][a][k] = (double)x[3 * triangles[3 * t + a] + k];
        s->object[s->count] = object;
    }
}

static void make_soup(const sinew_world *world, soup *s)
{
    s->count = 0;
    sinew_surface surface = {0};
    assert_int_equal(sinew_world_surface(world, &surface, NULL), SINEW_OK);
    surface.triangles = make_array(3 * (size_t)surface.triangle_count, sizeof *surface.triangles);
    surface.bodies = make_array((size_t)surface.triangle_count, sizeof *surface.bodies);
    assert_int_equal(sinew_world_surface(world, &surface, NULL), SINEW_OK);
    sinew_real *q = positions_of(world);
    for (int32_t t = 0; t < surface.triangle_count; t++)
        add_soup(s, q, surface.triangles + 3 * t, 1, surface.bodies[t].index);
    free(q);
    free(surface.triangles);
    free(surface.bodies);
    for (int32_t k = 0; k < sinew_world_collider_count(world); k++) {
        const sinew_collider c = sinew_world_collider_at(world, k);
        const sinew_shape_kind kind = sinew_collider_kind(world, c);
        if (c.index < 0 || (kind != SINEW_SHAPE_BOX && kind != SINEW_SHAPE_CYLINDER))
            continue;
        int32_t vertices, triangles;
        assert_int_equal(sinew_collider_surface(world, c, 1, &vertices, NULL, &triangles, NULL, NULL), SINEW_OK);
        sinew_real *x = make_array(3 * (size_t)vertices, sizeof *x);
        int32_t *corners = make_array(3 * (size_t)triangles, sizeof *corners);
        assert_int_equal(sinew_collider_surface(world, c, 1, &vertices, x, &triangles, corners, NULL), SINEW_OK);
        add_soup(s, x, corners, triangles, 1000 + k);
        free(x);
        free(corners);
    }
}

/* Moeller and Trumbore's ray-triangle test; HUGE_VAL if there is no hit. */
static double ray_triangle(double x[3][3], const double o[3], const double d[3])
{
    double e[3], f[3], p[3], t[3], q[3];
    minus3(x[1], x[0], e);
    minus3(x[2], x[0], f);
    cross3(d, f, p);
    const double det = dot3(e, p);
    minus3(o, x[0], t);
    cross3(t, e, q);
    const double u = dot3(t, p) / det, v = dot3(d, q) / det, at = dot3(f, q) / det;
    return det != 0 && u >= 0 && v >= 0 && u + v <= 1 && at >= 0 ? at : HUGE_VAL;
}

/* The distance of a point from a triangle, by its corners, edges and face. */
static double point_triangle(double x[3][3], const double p[3])
{
    double best = HUGE_VAL, n[3], e[2][3], from[3];
    for (int a = 0; a < 3; a++) {
        double edge[3], on[3];
        minus3(x[(a + 1) % 3], x[a], edge);
        minus3(p, x[a], from);
        const double s = fmin(1, fmax(0, dot3(from, edge) / dot3(edge, edge)));
        for (int k = 0; k < 3; k++)
            on[k] = from[k] - s * edge[k];
        best = fmin(best, sqrt(dot3(on, on)));
    }
    minus3(x[1], x[0], e[0]);
    minus3(x[2], x[0], e[1]);
    cross3(e[0], e[1], n);
    const double size = sqrt(dot3(n, n));
    for (int k = 0; k < 3; k++)
        n[k] /= size;
    minus3(p, x[0], from);
    const double height = dot3(from, n);
    bool within = true;
    for (int a = 0; a < 3; a++) {
        double edge[3], across[3], to[3];
        minus3(x[(a + 1) % 3], x[a], edge);
        cross3(n, edge, across);
        minus3(p, x[a], to);
        within = within && dot3(to, across) >= 0;
    }
    return within ? fmin(best, fabs(height)) : best;
}

/* ---- Worlds ------------------------------------------------------------------------------------ */

/* Two falling, deformed boxes among colliders of all shapes. */
static sinew_world *make_scene(random_cases *r, bool contact, double *turn)
{
    sinew_world *world = make_touching_world(SINEW_SOLVER_PBNG, 1);
    if (contact)
        set_touch(world, 2e-3, 0.3);
    for (int b = 0; b < 2; b++)
        add_box(world, SINEW_SOLVER_PBNG, 2, 0.3,
                (const double[]){random_between(r, -0.3, 0.3), 0.4 + 0.6 * b, random_between(r, -0.3, 0.3)}, 2e4);
    sinew_collider_def box = sinew_default_collider_def(SINEW_SHAPE_BOX);
    box.size[0] = box.size[2] = (sinew_real)0.4;
    box.size[1] = (sinew_real)0.2;
    for (int k = 0; k < 3; k++)
        box.rotation[k] = (sinew_real)random_between(r, -1, 1);
    box.position[0] = (sinew_real)0.9;
    add_collider(world, &box);
    sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    ball.radius = (sinew_real)0.2;
    ball.position[0] = (sinew_real)-0.9;
    add_collider(world, &ball);
    sinew_collider_def pill = sinew_default_collider_def(SINEW_SHAPE_CAPSULE);
    pill.radius = (sinew_real)0.1;
    pill.size[1] = (sinew_real)0.5;
    pill.rotation[2] = (sinew_real)random_between(r, -2, 2);
    *turn = (double)pill.rotation[2];
    pill.position[2] = (sinew_real)0.9;
    add_collider(world, &pill);
    add_floor(world);
    return world;
}

/* Distance of a point from a round collider's surface; 1: the sphere, 2: the capsule, rotated by `turn` about z. */
static double round_distance(const double p[3], int which, double turn)
{
    const double middle[2][3] = {{-0.9, 0, 0}, {0, 0, 0.9}};
    double from[3];
    minus3(p, middle[which - 1], from);
    const double axis[3] = {-sin(turn), cos(turn), 0};
    const double s = which == 2 ? fmin(0.25, fmax(-0.25, dot3(from, axis))) : 0;
    for (int k = 0; k < 3; k++)
        from[k] -= s * axis[k];
    return sqrt(dot3(from, from)) - (which == 1 ? 0.2 : 0.1);
}

/* The first parameter at which a ray meets a round collider, by bisection. */
static double march(const double o[3], const double d[3], int which, double turn)
{
    double last = round_distance(o, which, turn);
    for (int i = 1; i <= 4000; i++) {
        const double t = 4.0 * i / 4000;
        double p[3];
        for (int k = 0; k < 3; k++)
            p[k] = o[k] + t * d[k];
        const double now = round_distance(p, which, turn);
        if ((now > 0) != (last > 0)) {
            double low = t - 4.0 / 4000, high = t;
            for (int b = 0; b < 60; b++) {
                const double half = (low + high) / 2;
                for (int k = 0; k < 3; k++)
                    p[k] = o[k] + half * d[k];
                if ((round_distance(p, which, turn) > 0) == (last > 0))
                    low = half;
                else
                    high = half;
            }
            return low;
        }
        last = now;
    }
    return HUGE_VAL;
}

/* ---- Hits -------------------------------------------------------------------------------------- */

static int object_of(const sinew_world_hit *hit)
{
    return hit->object.body.index >= 0 ? hit->object.body.index : 1000 + hit->object.collider.index;
}

/* Whether a unit vector is a normal of the object at a point: of one of its triangles there, or the slope of the
 * distance from a round collider, or that of the floor. */
static bool is_normal_at(const soup *s, int object, const double p[3], const double n[3], double turn)
{
    double slope[3];
    for (int t = 0; t < s->count; t++) {
        double e[2][3], m[3];
        if (s->object[t] != object || point_triangle((double(*)[3])s->x[t], p) > 50 * CLOSE)
            continue;
        minus3(s->x[t][1], s->x[t][0], e[0]);
        minus3(s->x[t][2], s->x[t][0], e[1]);
        cross3(e[0], e[1], m);
        if (fabs(fabs(dot3(m, n)) - sqrt(dot3(m, m))) < 100 * CLOSE * sqrt(dot3(m, m)))
            return true;
    }
    for (int k = 0; k < 3 && (object == 1001 || object == 1002); k++) {
        double up[3] = {p[0], p[1], p[2]}, down[3] = {p[0], p[1], p[2]};
        up[k] += 1e-4;
        down[k] -= 1e-4;
        slope[k] = (round_distance(up, object - 1000, turn) - round_distance(down, object - 1000, turn)) / 2e-4;
    }
    if (object == 1001 || object == 1002)
        return fabs(fabs(dot3(slope, n)) - 1) < 1e-3;
    return object == 1003 && fabs(fabs(n[1]) - 1) < 10 * CLOSE;
}

/* The normal is of unit length, on the side that is asked from, and the surface's own; weights give the point. */
static void check_hit(const sinew_world *world, const soup *s, const sinew_world_hit *hit, const double side[3],
                      double turn)
{
    double n[3], p[3], sum[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        n[k] = (double)hit->normal[k];
        p[k] = (double)hit->point[k];
    }
    assert_true(fabs(dot3(n, n) - 1) < 10 * CLOSE);
    assert_true(dot3(n, side) >= -10 * CLOSE);
    if (!is_normal_at(s, object_of(hit), p, n, turn))
        fail_msg("(%g, %g, %g) is no normal of object %d at (%g, %g, %g)", n[0], n[1], n[2], object_of(hit), p[0], p[1],
                 p[2]);
    if (hit->object.body.index < 0)
        return;
    for (int a = 0; a < 3; a++) {
        sinew_real x[3];
        assert_int_equal(sinew_world_get_positions(world, hit->particles[a], 1, x), SINEW_OK);
        for (int k = 0; k < 3; k++)
            sum[k] += (double)hit->weights[a] * (double)x[k];
    }
    for (int k = 0; k < 3; k++)
        assert_true(fabs(sum[k] - p[k]) < 50 * CLOSE);
}

/* ---- Tests ------------------------------------------------------------------------------------- */

static void check_rays(sinew_world *world, const soup *s, random_cases *r, double turn)
{
    for (int i = 0; i < 60; i++) {
        double o[3], d[3];
        sinew_real origin[3], direction[3];
        for (int k = 0; k < 3; k++) {
            origin[k] = (sinew_real)random_between(r, -1.5, 1.5);
            direction[k] = (sinew_real)random_between(r, -1, 1);
            o[k] = (double)origin[k];
            d[k] = (double)direction[k];
        }
        double best = d[1] != 0 && -o[1] / d[1] >= 0 ? -o[1] / d[1] : HUGE_VAL;
        for (int t = 0; t < s->count; t++)
            best = fmin(best, ray_triangle((double(*)[3])s->x[t], o, d));
        for (int which = 1; which < 3; which++)
            best = fmin(best, march(o, d, which, turn));
        best = best <= 3 ? best : HUGE_VAL;
        sinew_world_hit hit;
        const bool found = sinew_world_ray(world, origin, direction, 3, &hit, NULL);
        if (found != isfinite(best) || (found && fabs((double)hit.t - best) > 20 * CLOSE))
            fail_msg("ray %d: t is %g, by hand %g", i, found ? (double)hit.t : HUGE_VAL, best);
        for (int k = 0; found && k < 3; k++)
            assert_true(fabs((double)hit.point[k] - o[k] - best * d[k]) < 50 * CLOSE);
        const double back[3] = {-d[0], -d[1], -d[2]};
        if (found)
            check_hit(world, s, &hit, back, turn);
    }
}

static void check_nearest(sinew_world *world, const soup *s, random_cases *r, double turn)
{
    for (int i = 0; i < 60; i++) {
        double p[3];
        sinew_real point[3];
        for (int k = 0; k < 3; k++) {
            point[k] = (sinew_real)random_between(r, -1.5, 1.5);
            p[k] = (double)point[k];
        }
        double best = fabs(p[1]);
        for (int t = 0; t < s->count; t++)
            best = fmin(best, point_triangle((double(*)[3])s->x[t], p));
        for (int which = 1; which < 3; which++)
            best = fmin(best, fabs(round_distance(p, which, turn)));
        const double limit = random_between(r, 0.1, 1);
        sinew_world_hit hit;
        const bool found = sinew_world_nearest(world, point, (sinew_real)limit, &hit, NULL);
        if (found != (best <= limit) || (found && fabs((double)hit.t - best) > CLOSE))
            fail_msg("point %d: the distance is %g, by hand %g", i, found ? (double)hit.t : HUGE_VAL, best);
        double to[3];
        for (int k = 0; found && k < 3; k++)
            to[k] = p[k] - (double)hit.point[k];
        if (!found)
            continue;
        assert_true(fabs(sqrt(dot3(to, to)) - best) < 10 * CLOSE);
        check_hit(world, s, &hit, to, turn);
    }
}

static void check_boxes(sinew_world *world, const soup *s, random_cases *r)
{
    for (int i = 0; i < 30; i++) {
        sinew_real low[3], high[3];
        bool met[2000] = {false};
        for (int k = 0; k < 3; k++) {
            low[k] = (sinew_real)random_between(r, -1.2, 1.2);
            high[k] = low[k] + (sinew_real)random_between(r, 0, 0.5);
        }
        for (int t = 0; t < s->count; t++) {
            bool meets = true;
            for (int k = 0; k < 3; k++)
                meets = meets && fmin(s->x[t][0][k], fmin(s->x[t][1][k], s->x[t][2][k])) <= (double)high[k] &&
                        fmax(s->x[t][0][k], fmax(s->x[t][1][k], s->x[t][2][k])) >= (double)low[k];
            met[s->object[t]] = met[s->object[t]] || meets;
        }
        met[1003] = low[1] <= 0;
        sinew_contact_object objects[16];
        int32_t count = 0;
        assert_int_equal(sinew_world_overlaps(world, low, high, 16, objects, &count, NULL), SINEW_OK);
        for (int32_t k = 0; k < count; k++) {
            const int object = objects[k].body.index >= 0 ? objects[k].body.index : 1000 + objects[k].collider.index;
            if (object != 1001 && object != 1002 && !met[object])
                fail_msg("box %d: %d is not in it", i, object);
            met[object] = false;
        }
        for (int k = 0; k < 2000; k++)
            if (met[k])
                fail_msg("box %d: %d is in it and was not found", i, k);
    }
}

static void against_brute_force(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("queries", 4, 100);
    soup *s = make_array(1, sizeof *s);
    for (int32_t i = 0; i < r.count; i++) {
        double turn;
        sinew_world *world = make_scene(&r, i % 2, &turn);
        for (int round = 0; round < 3; round++) {
            make_soup(world, s);
            check_rays(world, s, &r, turn);
            check_nearest(world, s, &r, turn);
            check_boxes(world, s, &r);
            for (int k = 0; k < 8; k++)
                sinew_world_step(world, NULL);
            if (round == 1)
                assert_int_equal(sinew_world_remove_body(world, (sinew_body){0, 0}, NULL), SINEW_OK);
        }
        sinew_world_destroy(world);
    }
    free(s);
}

/* A hit names the particles of its triangle, and its weights give the hit point. */
static void hits_are_named(void **state)
{
    (void)state;
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    add_box(world, SINEW_SOLVER_NEWTON, 1, 0.2, (const double[]){3, 0, 0}, 1e5);
    const sinew_body body = add_box(world, SINEW_SOLVER_NEWTON, 2, 0.2, (const double[]){0, 0, 0}, 1e5);
    sinew_world_hit hit;
    const sinew_real origin[3] = {(sinew_real)0.01, 2, (sinew_real)0.02}, down[3] = {0, -2, 0};
    assert_true(sinew_world_ray(world, origin, down, INFINITY, &hit, NULL));
    assert_int_equal(hit.object.body.index, body.index);
    assert_int_equal(hit.object.collider.index, -1);
    assert_true(fabs((double)hit.t - 0.95) < 1e-6 && (double)hit.normal[1] > 0.999);
    double sum[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        sinew_real x[3];
        assert_int_equal(sinew_world_get_positions(world, hit.particles[a], 1, x), SINEW_OK);
        for (int k = 0; k < 3; k++)
            sum[k] += (double)hit.weights[a] * (double)x[k];
    }
    for (int k = 0; k < 3; k++)
        assert_true(fabs(sum[k] - (double)hit.point[k]) < 1e-6);
    sinew_error error = {0};
    assert_false(sinew_world_ray(world, (const sinew_real[3]){NAN, 0, 0}, down, 1, &hit, &error));
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    assert_false(sinew_world_nearest(world, origin, -1, &hit, &error));
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    sinew_world_destroy(world);
    world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    assert_false(sinew_world_ray(world, origin, down, INFINITY, &hit, &error));
    assert_int_equal(error.status, SINEW_OK);
    assert_false(sinew_world_nearest(world, origin, INFINITY, &hit, &error));
    sinew_world_destroy(world);
}

static void crossings_are_listed(void **state)
{
    (void)state;
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    sinew_error error = {0};
    int32_t count;
    assert_int_equal(sinew_world_intersections(world, 0, NULL, &count, &error), SINEW_ERROR_UNSUPPORTED);
    set_touch(world, 2e-3, 0.3);
    const sinew_body low = add_box(world, SINEW_SOLVER_NEWTON, 1, 0.2, (const double[]){0, 0, 0}, 1e5);
    const sinew_body high = add_box(world, SINEW_SOLVER_NEWTON, 1, 0.2, (const double[]){0.05, 0.15, 0.03}, 1e5);
    assert_int_equal(sinew_world_intersections(world, 0, NULL, &count, &error), SINEW_OK);
    assert_true(count > 4);
    sinew_intersection *list = make_array((size_t)count, sizeof *list);
    const int32_t all = count;
    assert_int_equal(sinew_world_intersections(world, 1, list, &count, &error), SINEW_ERROR_DATA);
    assert_int_equal(sinew_world_intersections(world, all, list, &count, &error), SINEW_OK);
    assert_int_equal(count, all);
    for (int32_t k = 0; k < count; k++) {
        assert_int_equal(list[k].a.body.index, low.index);
        assert_int_equal(list[k].b.body.index, high.index);
        for (int a = 0; a < 3; a++)
            assert_true(list[k].particles_a[a] >= 0 && list[k].particles_a[a] < 8 && list[k].particles_b[a] >= 8);
    }
    sinew_contact_report report;
    sinew_world_step(world, NULL);
    assert_int_equal(sinew_world_contact_report(world, &report, &error), SINEW_OK);
    assert_int_equal(report.intersections_before, all);
    free(list);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_brute_force),
        cmocka_unit_test(hits_are_named),
        cmocka_unit_test(crossings_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
