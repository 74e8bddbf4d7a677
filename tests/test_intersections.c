/* SPDX-License-Identifier: MIT
 *
 * test_intersections.c: intersection tests of primitives against integer arithmetic on a lattice; spheres and capsules
 * against distances.
 */
#include "detect_cases.h"

typedef int64_t exact[3];

static void exact_cross(const exact a, const exact b, exact out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static int64_t exact_dot(const exact a, const exact b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void exact_minus(const exact a, const exact b, exact out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[k] - b[k];
}

/* Whether the point where p q meets the plane of t, scaled by a common denominator, lies inside all three sides. */
static bool exact_passes(const exact p, const exact q, exact t[3])
{
    exact e[2], n, from_p, from_q, at;
    exact_minus(t[1], t[0], e[0]);
    exact_minus(t[2], t[0], e[1]);
    exact_cross(e[0], e[1], n);
    exact_minus(p, t[0], from_p);
    exact_minus(q, t[0], from_q);
    int64_t over = exact_dot(n, from_p), under = exact_dot(n, from_q);
    if ((over > 0) == (under > 0) || over == 0 || under == 0)
        return false;
    over = llabs(over);
    under = llabs(under);
    for (int k = 0; k < 3; k++)
        at[k] = p[k] * under + q[k] * over; /* divided by under + over */
    for (int i = 0; i < 3; i++) {
        exact side, out, inward;
        exact_minus(t[(i + 1) % 3], t[i], side);
        for (int k = 0; k < 3; k++)
            out[k] = at[k] - (over + under) * t[i][k];
        exact_cross(n, side, inward);
        if (exact_dot(inward, out) <= 0)
            return false;
    }
    return true;
}

/* Positions lie on a lattice: volumes are integers, and many are zero. */
static bool exact_intersection(const detect_case *c, const int32_t *a, const int32_t *b, double step)
{
    exact p[3], q[3];
    for (int i = 0; i < 9; i++) {
        p[i / 3][i % 3] = (int64_t)((double)c->x[4 * a[i / 3] + i % 3] / step);
        q[i / 3][i % 3] = (int64_t)((double)c->x[4 * b[i / 3] + i % 3] / step);
    }
    for (int i = 0; i < 3; i++)
        if (exact_passes(p[i], p[(i + 1) % 3], q) || exact_passes(q[i], q[(i + 1) % 3], p))
            return true;
    return false;
}

/* The smallest distance of any two features of the primitives. */
static double cell_distance(const detect_case *c, const int32_t *a, const int32_t *b)
{
    real min = (real)HUGE_VALL;
    for (int i = 0; i < 3; i++) {
        min = referee_lower(
            min, referee_distance((const int32_t[]){a[i], b[0], b[1], b[2]}, SINEW_CANDIDATE_VERTEX_FACE, c->x));
        min = referee_lower(
            min, referee_distance((const int32_t[]){b[i], a[0], a[1], a[2]}, SINEW_CANDIDATE_VERTEX_FACE, c->x));
        for (int j = 0; j < 3; j++) {
            const int32_t v[4] = {a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]};
            min = referee_lower(min, referee_distance(v, SINEW_CANDIDATE_EDGE_EDGE, c->x));
        }
    }
    return (double)min;
}

static bool expected_intersection(const detect_case *c, int32_t i, int32_t j, double step, bool *doubtful)
{
    const sinew_collision_mesh *f = &c->mesh;
    const int32_t *a = f->primitives[i], *b = f->primitives[j];
    const int32_t object = f->object[a[0]], other = f->object[b[0]];
    *doubtful = false;
    if (!sinew_may_collide(f, object, other) || (f->objects[object].kinematic && f->objects[other].kinematic))
        return false;
    for (int k = 0; k < 3; k++)
        if (has_vertex(b, a[k]))
            return false;
    if (exact_intersection(c, a, b, step))
        return true;
    const double radii = f->objects[object].radius + f->objects[other].radius;
    const double over = radii > 0 ? cell_distance(c, a, b) - radii : 1;
    *doubtful = fabs(over) <= CASE_ROUND_OFF * c->size;
    return over < 0;
}

static void check_intersections(const detect_case *c, double step)
{
    const sinew_collision_mesh *f = &c->mesh;
    const int64_t capacity = (int64_t)f->primitive_count * f->primitive_count / 2 + 1;
    int32_t(*primitives)[2] = calloc((size_t)capacity, sizeof *primitives), some[3][2] = {{-7, -7}, {-7, -7}, {-7, -7}};
    assert_non_null(primitives);
    sinew_detector *detector = case_detector(c, 2);
    const int64_t count = sinew_detect_intersections(detector, c->x, primitives, capacity);
    int64_t at = 0;
    for (int32_t i = 0; i < f->primitive_count; i++)
        for (int32_t j = i + 1; j < f->primitive_count; j++) {
            bool doubtful;
            const bool wanted = expected_intersection(c, i, j, step, &doubtful);
            const bool found = at < count && primitives[at][0] == i && primitives[at][1] == j;
            assert_true(doubtful || found == wanted);
            at += found;
        }
    assert_int_equal(at, count);
    assert_int_equal(sinew_detect_intersections(detector, c->x, some, 2), count);
    for (int i = 0; i < 3; i++)
        assert_int_equal(some[i][1], i < count && i < 2 ? primitives[i][1] : -7);
    assert_int_equal(sinew_detect_intersections(detector, c->x, NULL, 0), count);
    sinew_detector_destroy(detector);
    free(primitives);
}

static void test_intersections(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("crossings", 60, 1000);
    for (int32_t n = 0; n < r.count; n++) {
        detect_case *c = detect_case_make(&r);
        const double step = ldexp(1, random_index(&r, 41) - 20);
        const int across = 2 + random_index(&r, 16);
        for (int32_t v = 0; v < c->mesh.vertex_count; v++)
            for (int k = 0; k < 3; k++)
                c->x[4 * v + k] = (sinew_real)(step * (random_index(&r, across) - across / 2));
        for (int32_t o = 0; o < c->object_count; o++)
            c->mesh.objects[o].radius = c->objects[o].radius * step * across / 2;
        c->size = step * across;
        check_intersections(c, step);
        detect_case_release(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_intersections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
