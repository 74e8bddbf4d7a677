/* SPDX-License-Identifier: MIT
 *
 * test_mpbng.c: mpbng: properties of its simplified meshes; its steps end at the minimum of the world's own problem;
 * without coarse layers it equals pbng's plain sweep bit for bit; threads do not change the bits; failing allocations
 * are reported.
 */
#include "failing_allocator.h"
#include "mesh/edit/simplify.h"
#include "pbng_worlds.h"
#include "random_cases.h"
#include "solve/vertex_sweep/mpbng_layers.h"

/* ---- Simplified meshes ---------------------------------------------------------------------------- */

/* A planar sheet of n x n vertices, with inner vertices displaced by `noise` of a cell and cells split along random
 * diagonals; `bump` bends it. */
typedef struct sheet {
    int32_t vertex_count, triangle_count;
    sinew_real *positions; /* [vertex_count][4] */
    int32_t *triangles;
    uint8_t *held;
} sheet;

static sheet make_sheet(int32_t n, double noise, double bump, random_cases *r)
{
    sheet s = {.vertex_count = n * n, .triangle_count = 2 * (n - 1) * (n - 1)};
    s.positions = make_array(4 * (size_t)s.vertex_count, sizeof *s.positions);
    s.triangles = make_array(3 * (size_t)s.triangle_count, sizeof *s.triangles);
    s.held = make_array((size_t)s.vertex_count, 1);
    for (int32_t i = 0; i < s.vertex_count; i++) {
        const bool inside = i % n > 0 && i % n < n - 1 && i / n > 0 && i / n < n - 1;
        const double x = i % n + (inside ? noise * random_between(r, -1, 1) : 0);
        const double y = i / n + (inside ? noise * random_between(r, -1, 1) : 0);
        s.positions[4 * i] = (sinew_real)x;
        s.positions[4 * i + 1] = (sinew_real)y;
        s.positions[4 * i + 2] = (sinew_real)(bump * sin(x / 3) * cos(y / 4));
    }
    for (int32_t k = 0, t = 0; k < (n - 1) * (n - 1); k++) {
        const int32_t a = k / (n - 1) * n + k % (n - 1), b = a + 1, c = a + n, d = c + 1;
        const int32_t one[6] = {a, b, d, a, d, c}, other[6] = {a, b, c, b, d, c};
        memcpy(s.triangles + 3 * t, random_index(r, 2) ? one : other, sizeof one);
        t += 2;
    }
    return s;
}

static void release_sheet(sheet *s)
{
    free(s->positions);
    free(s->triangles);
    free(s->held);
}

static void check_places(const sheet *s, const sinew_simplified *c, bool flat, int32_t *bound)
{
    *bound = 0;
    for (int32_t i = 0; i < s->vertex_count; i++) {
        double sum = 0, place[3] = {0};
        assert_true(c->owner[i] >= 0 && c->owner[i] < c->vertex_count);
        if (c->corner[i][0] < 0)
            continue;
        for (int k = 0; k < 3; k++) {
            assert_true(c->corner[i][k] < c->vertex_count);
            sum += (double)c->weight[i][k];
            for (int a = 0; a < 3; a++)
                place[a] += (double)c->weight[i][k] * (double)s->positions[4 * c->origin[c->corner[i][k]] + a];
        }
        (*bound)++;
        assert_true(fabs(sum - 1) < (IS_SINGLE ? 1e-5 : 1e-12));
        for (int a = 0; flat && a < 3; a++)
            assert_true(fabs(place[a] - (double)s->positions[4 * i + a]) < (IS_SINGLE ? 1e-4 : 1e-10));
    }
}

static void check_triangles(const sheet *s, const sinew_simplified *c, double area)
{
    double sum = 0;
    for (int32_t t = 0; t < c->triangle_count; t++) {
        const sinew_real *p[3];
        for (int k = 0; k < 3; k++)
            p[k] = s->positions + 4 * c->origin[c->triangles[3 * t + k]];
        sum += 0.5 * fabs((double)(p[1][0] - p[0][0]) * (double)(p[2][1] - p[0][1]) -
                          (double)(p[2][0] - p[0][0]) * (double)(p[1][1] - p[0][1]));
    }
    assert_true(sum > 0.9 * area && sum < 1.1 * area);
}

static void meshes_get_coarser_by_about_four(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("test_mpbng, meshes", 20, 1000);
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    double min = HUGE_VAL, max = 0, left_out = 0;
    for (int32_t k = 0; k < r.count; k++) {
        const int32_t n = 12 + random_index(&r, 40);
        const bool flat = k % 2 == 0;
        sheet s = make_sheet(n, random_between(&r, 0, 0.3), flat ? 0 : 0.3, &r);
        sinew_simplified c;
        int32_t bound;
        for (int32_t i = 0; i < 5; i++)
            s.held[random_index(&r, s.vertex_count)] = 1;
        const sinew_simplify_input input = {s.vertex_count, s.positions, s.held, s.triangle_count, s.triangles};
        assert_int_equal(sinew_simplify(&allocator, &input, &c, NULL), SINEW_OK);
        check_places(&s, &c, flat, &bound);
        check_triangles(&s, &c, (double)(n - 1) * (n - 1));
        min = fmin(min, (double)s.vertex_count / c.vertex_count);
        max = fmax(max, (double)s.vertex_count / c.vertex_count);
        left_out = fmax(left_out, 1 - (double)bound / s.vertex_count);
        sinew_simplified_release(&allocator, &c);
        release_sheet(&s);
    }
    print_message("coarser by %.2f to %.2f, at most %.1f %% of the vertices not bound\n", min, max, 100 * left_out);
    assert_true(min > 2.5 && max < 5 && left_out < 0.05);
}

/* ---- Worlds ---------------------------------------------------------------------------------------- */

/* A cloth of n x n vertices and 0.3 m with a membrane, held at two corners and slightly stretched. h = 0: quasistatic.
 */
static sinew_world *hung(int n, double h, const sinew_solver_def *solver, const sinew_allocator *allocator, int threads)
{
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    sinew_world_def def = sinew_default_world_def();
    cloth.vertices[0] = cloth.vertices[1] = n;
    cloth.size[0] = cloth.size[1] = (sinew_real)0.3;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    if (allocator)
        def.allocator = *allocator;
    def.thread_count = threads;
    def.quasistatic = h == 0;
    if (h > 0)
        def.time_step = (sinew_real)h;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_real *x = make_array(3 * (size_t)(n * n), sizeof *x);
    for (int32_t i = 0; i < 3 * n * n; i++)
        x[i] = sinew_mesh_positions(mesh)[i] * (sinew_real)(i % 3 == 1 ? 1.05 : 1);
    sinew_body body = add_mesh(world, mesh, 1, x, NULL);
    sinew_energy_def membrane = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_COROTATED);
    membrane.body = body;
    membrane.parameters[sinew_energy_parameter(membrane.kind, "young")] = (sinew_real)1e5;
    membrane.parameters[sinew_energy_parameter(membrane.kind, "thickness")] = (sinew_real)1e-2;
    add_energy(world, &membrane);
    add_pins(world, body, (const int32_t[]){n * n - n, n * n - 1}, 2, NULL);
    free(x);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_solver_def layered(int iterations, double r_pad, double fine_sweeps)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_MPBNG, iterations);
    set(&def, "r_pad", r_pad);
    set(&def, "fine_sweeps", fine_sweeps);
    return def;
}

static double end_of(int n, double h, const sinew_solver_def *solver)
{
    sinew_world *world = hung(n, h, solver, NULL, 1);
    const double objective = step_of(world).objective;
    sinew_world_destroy(world);
    return objective;
}

/* The coupling of layers decreases with kappa, and the sweeps after the last iteration solve the world's own problem.
 */
static void long_steps_end_at_the_worlds_minimum(void **unused)
{
    (void)unused;
    sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 200), none = solver_of(SINEW_SOLVER_PBNG, 0);
    newton.tolerance = (sinew_real)(IS_SINGLE ? 1e-4 : 1e-9);
    const double h = 0.01, lowest = end_of(12, h, &newton), start = end_of(12, h, &none);
    double last = HUGE_VAL;
    for (int32_t sweeps = 10; sweeps <= 1000; sweeps *= 10) {
        const sinew_solver_def def = layered(20, 0.01, sweeps);
        const double error = (end_of(12, h, &def) - lowest) / (start - lowest);
        print_message("%d sweeps after 20 iterations: relative error %.1e\n", (int)sweeps, error);
        assert_true(error < 0.5 * last);
        last = error;
    }
    assert_true(last < (IS_SINGLE ? 1e-4 : 1e-6));
}

/* Coarse layers reduce errors that a few sweeps do not. */
static void layers_beat_sweeps(void **unused)
{
    (void)unused;
    sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 200), none = solver_of(SINEW_SOLVER_PBNG, 0);
    newton.tolerance = (sinew_real)(IS_SINGLE ? 1e-4 : 1e-9);
    sinew_solver_def one = layered(13, 0.05, 7), three = one;
    set(&one, "levels", 1);
    const double h = 0.03, lowest = end_of(32, h, &newton), start = end_of(32, h, &none);
    const double alone = (end_of(32, h, &one) - lowest) / (start - lowest);
    const double with = (end_of(32, h, &three) - lowest) / (start - lowest);
    print_message("relative error after 13 iterations: %.2g on one layer, %.2g on three\n", alone, with);
    assert_true(with < 0.5 * alone);
}

static uint64_t hash_of(sinew_world *world)
{
    step_of(world);
    step_of(world);
    const uint64_t hash = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    return hash;
}

static void one_layer_is_the_plain_sweep(void **unused)
{
    (void)unused;
    sinew_solver_def one = layered(6, 0.05, 3), plain = solver_of(SINEW_SOLVER_PBNG, 9);
    set(&one, "levels", 1);
    set(&plain, "acceleration", NONE);
    set(&plain, "coarse", 0);
    assert_true(hash_of(hung(10, 0.01, &one, NULL, 1)) == hash_of(hung(10, 0.01, &plain, NULL, 1)));
    /* Tets have no coarse layers. */
    set(&one, "levels", 4);
    assert_true(hash_of(build(&scenes[RUBBER_STIFF], &one, 1, 1)) ==
                hash_of(build(&scenes[RUBBER_STIFF], &plain, 1, 1)));
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    const sinew_solver_def def = layered(3, 0.05, 2);
    const uint64_t one = hash_of(hung(64, 0.01, &def, NULL, 1));
    for (int threads = 2; threads <= 3; threads++)
        assert_true(hash_of(hung(64, 0.01, &def, NULL, threads)) == one);
}

static void failing_allocations_are_reported(void **unused)
{
    (void)unused;
    const sinew_solver_def def = layered(2, 0.05, 1);
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    for (bool done = false; !done;) {
        sinew_error error = {0};
        const int64_t next = memory.fail_at + 1;
        memory.fail_at = 0;
        sinew_world *world = hung(8, 0.01, &def, &hooks, 1);
        memory.calls = 0;
        memory.fail_at = next;
        done = sinew_world_prepare(world, &error) == SINEW_OK;
        assert_true(done || error.status == SINEW_ERROR_MEMORY);
        memory.fail_at = done ? memory.calls + 1 : 0; /* a step allocates nothing */
        if (done)
            step_of(world);
        memory.fail_at = next;
        sinew_world_destroy(world);
        assert_int_equal(memory.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meshes_get_coarser_by_about_four),
        cmocka_unit_test(long_steps_end_at_the_worlds_minimum),
        cmocka_unit_test(layers_beat_sweeps),
        cmocka_unit_test(one_layer_is_the_plain_sweep),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
