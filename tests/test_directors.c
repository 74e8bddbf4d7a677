/* SPDX-License-Identifier: MIT
 *
 * test_directors.c: director points: their positions, the cells that contain them, their masses, their treatment in
 * copies of a mesh, and refusals. References: differences of positions, and searches through all cells.
 */
#include "failing_allocator.h"
#include "make_world.h"
#include "random_cases.h"
#include "small_world.h"

#include "mesh/topology/stencil.h"

#ifdef SINEW_SINGLE
#define NEAR 2e-4
#else
#define NEAR 1e-10
#endif

static sinew_mesh *with_directors(const sinew_mesh *mesh, double offset, const sinew_real *toward)
{
    sinew_error error = {0};
    sinew_mesh *made = sinew_mesh_with_directors(mesh, offset, toward, &error);
    must(&error);
    return made;
}

static sinew_mesh *make_cloth(int32_t n, sinew_diagonals diagonals)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = n;
    def.diagonals = diagonals;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    return mesh;
}

/* Moves every point at random by at most `max`. */
static sinew_mesh *crumpled(random_cases *r, sinew_mesh *mesh, double max)
{
    sinew_error error = {0};
    const int32_t count = 3 * sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array((size_t)count, sizeof *x);
    for (int32_t i = 0; i < count; i++)
        x[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)random_between(r, -max, max);
    sinew_mesh *moved = sinew_mesh_moved(mesh, x, &error);
    must(&error);
    free(x);
    sinew_mesh_destroy(mesh);
    return moved;
}

/* r = p - (x_a + x_b) / 2 and e = x_b - x_a of a director */
static void measure(const sinew_mesh *mesh, int32_t i, double r[3], double e[3])
{
    const int32_t *director = sinew_mesh_directors(mesh) + 3 * i;
    const sinew_real *x = sinew_mesh_positions(mesh);
    for (int k = 0; k < 3; k++) {
        const double a = (double)x[3 * director[0] + k], b = (double)x[3 * director[1] + k];
        r[k] = (double)x[3 * director[2] + k] - (a + b) / 2;
        e[k] = b - a;
    }
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void check_places(const sinew_mesh *mesh, double offset)
{
    for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++) {
        double r[3], e[3];
        measure(mesh, i, r, e);
        assert_float_equal(sqrt(dot(r, r)), offset, NEAR);
        assert_float_equal(dot(r, e), 0, NEAR);
    }
}

static sinew_status find(const sinew_mesh *mesh, sinew_stencil stencil, int32_t **cells, int32_t *count,
                         sinew_error *error)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    const sinew_stencil_info *row = sinew_get_stencil(stencil);
    *cells = NULL;
    sinew_error_clear(error);
    return row->find(&allocator, mesh, row->vertex_count, cells, count, error);
}

static void drop(int32_t *cells)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_release(&allocator, cells);
}

/* Whether p is the director point of the edge a b. */
static bool is_director(const sinew_mesh *mesh, int32_t a, int32_t b, int32_t p)
{
    for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++) {
        const int32_t *d = sinew_mesh_directors(mesh) + 3 * i;
        if (d[2] == p)
            return (d[0] == a && d[1] == b) || (d[0] == b && d[1] == a);
    }
    return false;
}

/* ---- Shells --------------------------------------------------------------------------------------- */

static bool is_triangle(const sinew_mesh *mesh, int32_t a, int32_t b, int32_t c)
{
    for (int32_t i = 0; i < sinew_mesh_triangle_count(mesh); i++) {
        const int32_t *t = sinew_mesh_triangles(mesh) + 3 * i;
        int found = 0;
        for (int k = 0; k < 3; k++)
            found += t[k] == a || t[k] == b || t[k] == c;
        if (found == 3)
            return true;
    }
    return false;
}

/* Each inner edge of a sheet has one pair: two triangles and the directors of their other edges. */
static void check_shell_pairs(const sinew_mesh *mesh)
{
    static const int edges[4][2] = {{1, 2}, {2, 0}, {0, 3}, {3, 1}};
    sinew_error error;
    int32_t *cells, count;
    assert_int_equal(find(mesh, SINEW_STENCIL_SHELL_PAIR, &cells, &count, &error), SINEW_OK);
    /* 3 T = 2 inner + outer edges, and all edges have a director. */
    assert_int_equal(count, 3 * sinew_mesh_triangle_count(mesh) - sinew_mesh_director_count(mesh));
    for (int32_t c = 0; c < count; c++) {
        const int32_t *cell = cells + 8 * c;
        assert_true(cell[2] != cell[3] && is_triangle(mesh, cell[0], cell[1], cell[2]) &&
                    is_triangle(mesh, cell[0], cell[1], cell[3]));
        for (int k = 0; k < 4; k++)
            assert_true(is_director(mesh, cell[edges[k][0]], cell[edges[k][1]], cell[4 + k]));
    }
    drop(cells);
}

/* Randomly crumpled cloth: every edge has one director, at its distance and perpendicular, half-way between both
 * normals. */
static void shells_have_normals(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("directors of shells", 20, 2000);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_error error;
        const int32_t n = 2 + random_index(&r, 5);
        const double offset = random_between(&r, 0.01, 1);
        sinew_mesh *plain = crumpled(&r, make_cloth(n, (sinew_diagonals)random_index(&r, 3)), 0.2 / n);
        sinew_mesh *mesh = with_directors(plain, offset, NULL);
        assert_int_equal(sinew_mesh_director_count(mesh), sinew_mesh_edge_count(plain));
        assert_int_equal(sinew_mesh_vertex_count(mesh), n * n + sinew_mesh_edge_count(plain));
        check_places(mesh, offset);
        int32_t *cells, count;
        assert_int_equal(find(mesh, SINEW_STENCIL_SHELL, &cells, &count, &error), SINEW_OK);
        assert_int_equal(count, sinew_mesh_triangle_count(mesh));
        for (int32_t c = 0; c < count; c++) {
            const int32_t *cell = cells + 6 * c;
            assert_memory_equal(cell, sinew_mesh_triangles(mesh) + 3 * c, 3 * sizeof *cell);
            for (int k = 0; k < 3; k++)
                assert_true(is_director(mesh, cell[(k + 1) % 3], cell[(k + 2) % 3], cell[3 + k]));
        }
        drop(cells);
        check_shell_pairs(mesh);
        assert_int_equal(find(mesh, SINEW_STENCIL_DIRECTOR, &cells, &count, &error), SINEW_OK);
        assert_int_equal(count, sinew_mesh_director_count(mesh));
        assert_memory_equal(cells, sinew_mesh_directors(mesh), (size_t)(3 * count) * sizeof *cells);
        drop(cells);
        sinew_mesh_destroy(mesh);
        sinew_mesh_destroy(plain);
    }
}

/* The director bisects the angle between two triangles, also if one of them is flipped. */
static void a_fold_is_halved(void **unused)
{
    (void)unused;
    for (int turned = 0; turned < 2; turned++) {
        sinew_error error;
        const sinew_real x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
        const int32_t triangles[6] = {0, 1, 2, turned ? 0 : 1, turned ? 1 : 0, 3};
        sinew_mesh_def def = sinew_default_mesh_def();
        def.vertex_count = 4;
        def.positions = x;
        def.triangle_count = 2;
        def.triangles = triangles;
        sinew_mesh *plain = sinew_mesh_create(&def, &error), *mesh = with_directors(plain, 1, NULL);
        for (int32_t i = 0; i < sinew_mesh_director_count(mesh); i++) {
            const int32_t *director = sinew_mesh_directors(mesh) + 3 * i;
            double r[3], e[3];
            measure(mesh, i, r, e);
            if (director[0] == 0 && director[1] == 1) {
                assert_float_equal(r[1], sqrt(0.5), NEAR);
                assert_float_equal(r[2], sqrt(0.5), NEAR);
            }
        }
        sinew_mesh_destroy(mesh);
        sinew_mesh_destroy(plain);
    }
}

/* ---- Rods ----------------------------------------------------------------------------------------- */

/* A random walk: directors are perpendicular to the edges, and the smallest rotation between edges maps each to the
 * next. */
static void rods_carry_their_frame(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("directors of rods", 50, 5000);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_error error;
        const double from[3] = {0}, to[3] = {1, 0, 0};
        const int32_t n = 2 + random_index(&r, 20);
        sinew_mesh *plain = crumpled(&r, make_rope(n, from, to), 0.3 / n), *mesh = with_directors(plain, 0.5, NULL);
        assert_int_equal(sinew_mesh_director_count(mesh), n - 1);
        check_places(mesh, 0.5);
        int32_t *cells, count;
        assert_int_equal(find(mesh, SINEW_STENCIL_ROD, &cells, &count, &error), SINEW_OK);
        assert_int_equal(count, n - 2);
        for (int32_t c = 0; c < count; c++) {
            const int32_t *cell = cells + 5 * c;
            assert_true(cell[0] == c && cell[1] == c + 1 && cell[2] == c + 2);
            assert_true(is_director(mesh, c, c + 1, cell[3]) && is_director(mesh, c + 1, c + 2, cell[4]));
            double d[2][3], e[2][3];
            for (int k = 0; k < 2; k++)
                measure(mesh, c + k, d[k], e[k]);
            /* Parallel transport keeps the component along the axis e0 x e1 and the component in the plane of both
             * edges. */
            const double axis[3] = {e[0][1] * e[1][2] - e[0][2] * e[1][1], e[0][2] * e[1][0] - e[0][0] * e[1][2],
                                    e[0][0] * e[1][1] - e[0][1] * e[1][0]};
            assert_float_equal(dot(axis, d[0]), dot(axis, d[1]), NEAR);
        }
        drop(cells);
        sinew_mesh_destroy(mesh);
        sinew_mesh_destroy(plain);
    }
}

static void a_direction_may_be_asked_for(void **unused)
{
    (void)unused;
    const double from[3] = {0}, to[3] = {1, 0, 0};
    const sinew_real toward[3] = {5, 3, 4};
    double r[3], e[3];
    sinew_mesh *plain = make_rope(3, from, to), *mesh = with_directors(plain, 0, toward);
    measure(mesh, 1, r, e);
    assert_float_equal(r[1], 0.25 * 0.5 * 0.6, NEAR);
    assert_float_equal(r[2], 0.25 * 0.5 * 0.8, NEAR);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(plain);
}

/* ---- Worlds and copies ---------------------------------------------------------------------------- */

static void masses_are_kept(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *plain = make_cloth(4, SINEW_DIAGONALS_FORWARD), *mesh = with_directors(plain, 0.1, NULL);
    sinew_world *world = make_world(&def);
    add_mesh(world, mesh, 3, NULL, NULL);
    const int32_t count = sinew_world_particle_count(world);
    sinew_real *masses = make_array((size_t)count, sizeof *masses);
    sinew_world_get_masses(world, 0, count, masses);
    double all = 0, own = 0;
    for (int32_t i = 0; i < count; i++) {
        assert_true(masses[i] > 0);
        all += (double)masses[i];
        own += i < 16 ? (double)masses[i] : 0;
    }
    assert_float_equal(all, 3, 1e-6);
    assert_float_equal(own, 0.99 * 3, 1e-6);
    free(masses);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(plain);
}

static void copies_make_sense(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_mesh_report report;
    sinew_mesh *plain = make_cloth(3, SINEW_DIAGONALS_FORWARD), *mesh = with_directors(plain, 0.1, NULL);
    assert_true(sinew_mesh_check(mesh, &report, NULL, 0, &error) == 0);
    assert_int_equal(report.component_count, 1);
    sinew_mesh *surface = sinew_mesh_surface(mesh, &error), *fixed = sinew_mesh_fix(mesh, 0, NULL, &error);
    assert_int_equal(sinew_mesh_director_count(surface), sinew_mesh_director_count(mesh));
    assert_int_equal(sinew_mesh_director_count(fixed), 0);
    assert_int_equal(sinew_mesh_vertex_count(fixed), 9);
    assert_non_null(strstr(sinew_mesh_warnings(fixed), "16 directors dropped"));
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(fixed);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(plain);
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

static void refuse_mesh(const int32_t *triangles, int32_t count, double offset, const char *words)
{
    sinew_error error = {0};
    const sinew_real x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 5;
    def.positions = x;
    def.triangle_count = count;
    def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    assert_null(sinew_mesh_with_directors(mesh, offset, NULL, &error));
    refused(&error, SINEW_ERROR_DATA, words);
    sinew_mesh_destroy(mesh);
}

static void bad_meshes_are_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const int32_t crowded[9] = {0, 1, 2, 0, 1, 3, 1, 0, 3}, flat[6] = {0, 1, 2, 0, 1, 4};
    refuse_mesh(crowded, 3, 0.1, "the edge (0, 1) is shared by 3 triangles");
    refuse_mesh(flat, 2, 0.1, "triangle 1 has no area");
    refuse_mesh(flat, 1, -1, "the offset is -1 m");
    refuse_mesh(flat, 1, NAN, "the offset is nan m");
    refuse_mesh(NULL, 0, 0.1, "neither triangles nor edges");
    sinew_mesh *plain = make_cloth(2, SINEW_DIAGONALS_FORWARD), *mesh = with_directors(plain, 0.1, NULL);
    assert_null(sinew_mesh_with_directors(mesh, 0.1, NULL, &error));
    refused(&error, SINEW_ERROR_DATA, "has 5 already");
    int32_t *cells, count;
    static const sinew_stencil stencils[4] = {SINEW_STENCIL_SHELL, SINEW_STENCIL_ROD, SINEW_STENCIL_DIRECTOR,
                                              SINEW_STENCIL_SHELL_PAIR};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(find(plain, stencils[i], &cells, &count, &error), SINEW_ERROR_DATA);
        refused(&error, SINEW_ERROR_DATA, "no directors; sinew_mesh_with_directors()");
        drop(cells);
    }
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(plain);
}

/* Invalid directors of the caller are refused. */
static void bad_directors_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        int32_t directors[6], count;
        const char *words;
    } bad[] = {
        {{0, 1, 5}, 1, "director 0 refers to vertex 5"},
        {{0, 0, 3}, 1, "director 0 is (0, 0, 3)"},
        {{0, 1, 2}, 1, "director 0 has the point 2, which a cell"},
        {{0, 1, 3, 1, 2, 3}, 2, "director 1 has the point 3"},
    };
    const sinew_real x[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0};
    const int32_t triangle[3] = {0, 1, 2};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        sinew_error error = {0};
        sinew_mesh_def def = sinew_default_mesh_def();
        def.vertex_count = 5;
        def.positions = x;
        def.triangle_count = 1;
        def.triangles = triangle;
        def.director_count = bad[i].count;
        def.directors = bad[i].directors;
        assert_null(sinew_mesh_create(&def, &error));
        refused(&error, SINEW_ERROR_DATA, bad[i].words);
    }
    /* One edge of the triangle has no director. */
    sinew_error error = {0};
    const int32_t one[3] = {0, 1, 3};
    int32_t *cells, count;
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 5;
    def.positions = x;
    def.triangle_count = 1;
    def.triangles = triangle;
    def.director_count = 1;
    def.directors = one;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    assert_int_equal(find(mesh, SINEW_STENCIL_SHELL, &cells, &count, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "triangle 0: its edge (1, 2) has no director");
    drop(cells);
    sinew_mesh_destroy(mesh);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    const double from[3] = {0}, to[3] = {1, 0, 0};
    for (int shell = 0; shell < 2; shell++) {
        sinew_mesh *plain = shell ? make_cloth(3, SINEW_DIAGONALS_FORWARD) : make_rope(5, from, to);
        failing_allocator memory = {0};
        sinew_error error = {0};
        sinew_mesh_def def = sinew_default_mesh_def();
        def.allocator = hooks_of(&memory);
        def.vertex_count = sinew_mesh_vertex_count(plain);
        def.positions = sinew_mesh_positions(plain);
        def.triangle_count = sinew_mesh_triangle_count(plain);
        def.triangles = sinew_mesh_triangles(plain);
        def.edge_count = sinew_mesh_edge_count(plain);
        def.edges = sinew_mesh_edges(plain);
        sinew_mesh *hooked = sinew_mesh_create(&def, &error), *made = NULL;
        must(&error);
        const int live = (int)memory.live;
        for (memory.fail_at = 1; !made; memory.fail_at++) {
            memory.calls = 0;
            made = sinew_mesh_with_directors(hooked, 0, NULL, &error);
            if (made)
                break;
            assert_int_equal(error.status, SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, live);
        }
        assert_true(memory.fail_at > 5);
        sinew_mesh_destroy(made);
        sinew_mesh_destroy(hooked);
        assert_int_equal(memory.live, 0);
        sinew_mesh_destroy(plain);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shells_have_normals),       cmocka_unit_test(a_fold_is_halved),
        cmocka_unit_test(rods_carry_their_frame),    cmocka_unit_test(a_direction_may_be_asked_for),
        cmocka_unit_test(masses_are_kept),           cmocka_unit_test(copies_make_sense),
        cmocka_unit_test(bad_meshes_are_refused),    cmocka_unit_test(bad_directors_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
