/* SPDX-License-Identifier: MIT
 *
 * test_attach.c: attachments by distance against a brute-force search, which projects points on triangles and on their
 * three sides. The energy of an attachment equals k/2 times the sum of squared distances.
 */
#include "failing_allocator.h"
#include "random_cases.h"
#include "small_world.h"

#ifdef SINEW_SINGLE
#define RELATIVE 1e-3
#else
#define RELATIVE 1e-9
#endif

static const double stiffness = 700;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double to_segment(const double p[3], const double a[3], const double b[3])
{
    double ab[3], ap[3], sum = 0;
    for (int c = 0; c < 3; c++) {
        ab[c] = b[c] - a[c];
        ap[c] = p[c] - a[c];
    }
    const double t = fmin(1, fmax(0, dot(ap, ab) / dot(ab, ab)));
    for (int c = 0; c < 3; c++)
        sum += (ap[c] - t * ab[c]) * (ap[c] - t * ab[c]);
    return sqrt(sum);
}

/* Distance to the plane if the projection of p lies inside the triangle, else to the nearest side. */
static double to_triangle(const double p[3], double v[3][3])
{
    double n[3], e[3][3], best = HUGE_VAL;
    for (int k = 0; k < 3; k++) {
        for (int c = 0; c < 3; c++)
            e[k][c] = v[(k + 1) % 3][c] - v[k][c];
        best = fmin(best, to_segment(p, v[k], v[(k + 1) % 3]));
    }
    for (int c = 0; c < 3; c++)
        n[c] = e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        double side[3], to[3];
        for (int c = 0; c < 3; c++) {
            side[c] = n[(c + 1) % 3] * e[k][(c + 2) % 3] - n[(c + 2) % 3] * e[k][(c + 1) % 3];
            to[c] = p[c] - v[k][c];
        }
        inside = inside && dot(side, to) >= 0;
    }
    const double to[3] = {p[0] - v[0][0], p[1] - v[0][1], p[2] - v[0][2]};
    return inside ? fabs(dot(to, n)) / sqrt(dot(n, n)) : best;
}

static double distance_to(const sinew_real *point, const sinew_mesh *mesh, const sinew_real *x, bool vertices)
{
    const double p[3] = {(double)point[0], (double)point[1], (double)point[2]};
    double best = HUGE_VAL;
    if (vertices) {
        for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++) {
            const double d[3] = {p[0] - (double)x[3 * i], p[1] - (double)x[3 * i + 1], p[2] - (double)x[3 * i + 2]};
            best = fmin(best, sqrt(dot(d, d)));
        }
        return best;
    }
    sinew_mesh *surface = sinew_mesh_surface(mesh, NULL);
    for (int32_t t = 0; t < sinew_mesh_triangle_count(surface); t++) {
        double v[3][3];
        for (int k = 0; k < 9; k++)
            v[k / 3][k % 3] = (double)x[3 * sinew_mesh_triangles(surface)[3 * t + k / 3] + k % 3];
        best = fmin(best, to_triangle(p, v));
    }
    sinew_mesh_destroy(surface);
    return best;
}

typedef struct pair {
    sinew_world *world;
    sinew_mesh *mesh;
    sinew_body from, to;
    sinew_real *x; /* [vertex_count] initial positions of `to` */
    sinew_real *y; /* initial positions of `from` */
} pair;

/* Two boxes whose initial positions differ from their rest shapes. */
static pair make_pair(random_cases *r, const sinew_allocator *allocator)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    if (allocator)
        def.allocator = *allocator;
    pair p = {.world = make_world(&def), .mesh = make_beam(2, 2, 1, 1, 1, 0.5)};
    const int32_t n = sinew_mesh_vertex_count(p.mesh);
    p.x = make_array(3 * (size_t)n, sizeof *p.x);
    p.y = make_array(3 * (size_t)n, sizeof *p.y);
    for (int32_t i = 0; i < 3 * n; i++) {
        p.x[i] = sinew_mesh_positions(p.mesh)[i] + (sinew_real)random_between(r, -0.1, 0.1);
        p.y[i] = sinew_mesh_positions(p.mesh)[i] + (sinew_real)((i % 3 == 0) * 0.9 + random_between(r, -0.1, 0.1));
    }
    p.from = add_mesh(p.world, p.mesh, 1000, p.y, NULL);
    p.to = add_mesh(p.world, p.mesh, 1000, p.x, NULL);
    return p;
}

static void free_pair(pair *p)
{
    sinew_world_destroy(p->world);
    sinew_mesh_destroy(p->mesh);
    free(p->x);
    free(p->y);
}

static sinew_attach_def attach_def(const pair *p)
{
    sinew_attach_def def = sinew_default_attach_def();
    def.from = p->from;
    def.to = p->to;
    def.energy.parameters[0] = def.energy.parameters[1] = (sinew_real)stiffness;
    return def;
}

static void what_is_near_is_joined(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("attach", 60, 5000);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_error error = {0};
        pair p = make_pair(&r, NULL);
        sinew_attach_def def = attach_def(&p);
        def.now = true;
        def.to_vertices = random_index(&r, 2);
        def.distance = random_between(&r, 0.05, 0.8);
        const int32_t n = sinew_mesh_vertex_count(p.mesh);
        double expected = 0;
        int32_t joined = 0;
        for (int32_t v = 0; v < n; v++) {
            const double d = distance_to(p.y + 3 * v, p.mesh, p.x, def.to_vertices);
            expected += d <= def.distance ? stiffness / 2 * d * d : 0;
            joined += d <= def.distance;
        }
        const sinew_energy energy = sinew_world_attach_within(p.world, &def, &error);
        if (joined == 0) {
            assert_int_equal(energy.index, -1);
            refused(&error, SINEW_ERROR_DATA, "joins nothing: the nearest pair is");
        } else {
            sinew_measures measures;
            must(&error);
            assert_int_equal(sinew_energy_element_count(p.world, energy), joined);
            assert_int_equal(sinew_world_measure(p.world, &measures), SINEW_OK);
            if (!(fabs(measures.elastic - expected) <= RELATIVE * expected))
                fail_msg("%.12g J, expected %.12g", measures.elastic, expected);
        }
        free_pair(&p);
    }
}

/* Two equal bodies with coincident rest shapes: every vertex matches its copy, at any current distance. */
static void rest_shapes_and_chosen_vertices(void **unused)
{
    (void)unused;
    random_cases r = {.state = 3};
    sinew_error error = {0};
    pair p = make_pair(&r, NULL);
    sinew_attach_def def = attach_def(&p);
    const int32_t some[3] = {4, 0, 7};
    sinew_energy energy = sinew_world_attach_within(p.world, &def, &error);
    must(&error);
    assert_int_equal(sinew_energy_element_count(p.world, energy), sinew_mesh_vertex_count(p.mesh));
    sinew_world_remove_energy(p.world, energy, &error);
    def.vertices = some;
    def.vertex_count = 3;
    def.normal[0] = 2;
    def.energy.parameters[1] = 0;
    energy = sinew_world_attach_within(p.world, &def, &error);
    must(&error);
    double expected = 0;
    for (int i = 0; i < 3; i++) {
        const double d = (double)p.y[3 * some[i]] - (double)p.x[3 * some[i]];
        expected += stiffness / 2 * d * d;
    }
    sinew_measures measures;
    assert_int_equal(sinew_world_measure(p.world, &measures), SINEW_OK);
    assert_true(fabs(measures.elastic - expected) <= RELATIVE * expected);
    assert_false(sinew_world_step(p.world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    free_pair(&p);
}

static void wrong_defs_are_refused(void **unused)
{
    (void)unused;
    random_cases r = {.state = 4};
    sinew_error error;
    pair p = make_pair(&r, NULL);
    const int32_t wrong = 1000;
    sinew_attach_def def = attach_def(&p);
    def.distance = -1;
    sinew_world_attach_within(p.world, &def, &error);
    refused(&error, SINEW_ERROR_DATA, "distance is -1 m");
    def = attach_def(&p);
    def.vertices = &wrong;
    def.vertex_count = 1;
    sinew_world_attach_within(p.world, &def, &error);
    refused(&error, SINEW_ERROR_DATA, "entry 0 names vertex 1000");
    def = attach_def(&p);
    def.energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_world_attach_within(p.world, &def, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "spring is no energy over pairs");
    def = attach_def(&p);
    def.energy.parameters[0] = -1;
    sinew_world_attach_within(p.world, &def, &error);
    refused(&error, SINEW_ERROR_DATA, "normal_stiffness is -1");
    assertions = 0;
    def = attach_def(&p);
    sinew_world_remove_body(p.world, p.to, &error);
    sinew_world_attach_within(p.world, &def, &error);
    refused(&error, SINEW_ERROR_USAGE, "body 1 was removed");
    def.cookie = 0;
    sinew_world_attach_within(p.world, &def, &error);
    refused(&error, SINEW_ERROR_USAGE, "sinew_default_attach_def()");
    assert_int_equal(assertions, 2);
    free_pair(&p);
}

static void every_failure_of_memory_is_said(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    random_cases r = {.state = 6};
    pair p = make_pair(&r, &hooks);
    sinew_attach_def def = attach_def(&p);
    def.now = true;
    def.distance = 1;
    def.normal[1] = 1;
    sinew_error error;
    int32_t refusals = 0;
    for (memory.fail_at = 1;; memory.fail_at++, refusals++) {
        memory.calls = 0;
        if (sinew_world_attach_within(p.world, &def, &error).index >= 0)
            break;
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
    }
    assert_true(refusals > 5);
    memory.fail_at = 0;
    free_pair(&p);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_near_is_joined),
        cmocka_unit_test(rest_shapes_and_chosen_vertices),
        cmocka_unit_test_setup_teardown(wrong_defs_are_refused, install_hook, remove_hook),
        cmocka_unit_test(every_failure_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
