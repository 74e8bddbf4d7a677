/* SPDX-License-Identifier: MIT
 *
 * test_stencils.c: the table of stencils, and the cells that each stencil finds in random meshes, against a search
 * through all vertices.
 */
#include "make_world.h"
#include "random_cases.h"

#include "mesh/topology/stencil.h"
#include "small_world.h"

enum {
    VERTICES = 12,
    CELLS_MAX = 12
};

/* ---- Meshes -------------------------------------------------------------------------------------- */

typedef struct drawn {
    sinew_real positions[3 * VERTICES];
    int32_t tets[4 * CELLS_MAX], triangles[3 * CELLS_MAX], edges[2 * CELLS_MAX];
    sinew_mesh *mesh;
} drawn;

/* Draws distinct vertices, in random order. */
static void draw_cell(random_cases *r, int32_t *cell, int size)
{
    for (int a = 0; a < size; a++) {
        bool again = true;
        while (again) {
            cell[a] = random_index(r, VERTICES);
            again = false;
            for (int b = 0; b < a; b++)
                again |= cell[b] == cell[a];
        }
    }
}

static void draw_mesh(random_cases *r, int tets, int triangles, int edges, drawn *d)
{
    sinew_error error = {0};
    for (int i = 0; i < 3 * VERTICES; i++)
        d->positions[i] = (sinew_real)random_between(r, -1, 1);
    for (int i = 0; i < tets; i++)
        draw_cell(r, d->tets + 4 * i, 4);
    for (int i = 0; i < triangles; i++)
        draw_cell(r, d->triangles + 3 * i, 3);
    for (int i = 0; i < edges; i++)
        draw_cell(r, d->edges + 2 * i, 2);
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = VERTICES;
    def.positions = d->positions;
    def.tet_count = tets;
    def.tets = d->tets;
    def.triangle_count = triangles;
    def.triangles = d->triangles;
    def.edge_count = edges;
    def.edges = d->edges;
    d->mesh = sinew_mesh_create(&def, &error);
    must(&error);
}

/* Whether the two vertices share one of these cells. */
static bool together(const int32_t *cells, int count, int size, int32_t v, int32_t w)
{
    for (int i = 0; i < count; i++) {
        bool has_v = false, has_w = false;
        for (int a = 0; a < size; a++) {
            has_v |= cells[size * i + a] == v;
            has_w |= cells[size * i + a] == w;
        }
        if (has_v && has_w)
            return true;
    }
    return false;
}

static bool neighbours(const sinew_mesh *mesh, int32_t v, int32_t w)
{
    return v != w && (together(sinew_mesh_tets(mesh), sinew_mesh_tet_count(mesh), 4, v, w) ||
                      together(sinew_mesh_triangles(mesh), sinew_mesh_triangle_count(mesh), 3, v, w) ||
                      together(sinew_mesh_edges(mesh), sinew_mesh_edge_count(mesh), 2, v, w));
}

typedef struct cells {
    int32_t *vertices, count;
} cells;

static cells find(const sinew_mesh *mesh, sinew_stencil stencil, int32_t n)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_error error = {0};
    cells found = {0};
    sinew_get_stencil(stencil)->find(&allocator, mesh, n, &found.vertices, &found.count, &error);
    must(&error);
    return found;
}

static void cells_free(cells *c)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_release(&allocator, c->vertices);
}

/* ---- Cells --------------------------------------------------------------------------------------- */

static void check_own(const sinew_mesh *mesh, sinew_stencil stencil, const int32_t *own, int32_t count, int n)
{
    cells c = find(mesh, stencil, n);
    assert_int_equal(c.count, count);
    assert_true(count == 0 || memcmp(c.vertices, own, sizeof *own * (size_t)(count * n)) == 0);
    cells_free(&c);
}

static void check_edges(const sinew_mesh *mesh)
{
    cells c = find(mesh, SINEW_STENCIL_EDGE, 2);
    int expected = 0;
    for (int32_t v = 0; v < VERTICES; v++)
        for (int32_t w = v + 1; w < VERTICES; w++)
            if (neighbours(mesh, v, w)) {
                expected++;
                assert_true(together(c.vertices, c.count, 2, v, w));
            }
    assert_int_equal(c.count, expected);
    cells_free(&c);
}

static void check_rings(const sinew_mesh *mesh)
{
    cells c = find(mesh, SINEW_STENCIL_RING, SINEW_STENCIL_MAX);
    const sinew_stencil_info *row = sinew_get_stencil(SINEW_STENCIL_RING);
    int at = 0;
    for (int32_t v = 0; v < VERTICES; v++) {
        const int32_t *ring = c.vertices + SINEW_STENCIL_MAX * at;
        int size = 1;
        for (int32_t w = 0; w < VERTICES; w++)
            if (neighbours(mesh, v, w))
                assert_int_equal(ring[size++], w);
        if (size == 1)
            continue;
        assert_true(at < c.count && ring[0] == v);
        assert_int_equal(sinew_stencil_size(row, ring, SINEW_STENCIL_MAX), size);
        for (; size < SINEW_STENCIL_MAX; size++)
            assert_int_equal(ring[size], v);
        at++;
    }
    assert_int_equal(c.count, at);
    cells_free(&c);
}

/* The vertex of triangle t opposite to the edge v w; -1 if t does not have the edge. */
static int32_t opposite(const int32_t *t, int32_t v, int32_t w)
{
    for (int i = 0; i < 3; i++) {
        const int32_t a = t[i], b = t[(i + 1) % 3];
        if ((a == v && b == w) || (a == w && b == v))
            return t[(i + 2) % 3];
    }
    return -1;
}

/* The largest number of triangles at one edge. */
static int max_uses(const cells *triangles)
{
    int max = 0;
    for (int32_t v = 0; v < VERTICES; v++)
        for (int32_t w = v + 1; w < VERTICES; w++) {
            int uses = 0;
            for (int32_t t = 0; t < triangles->count; t++)
                uses += opposite(triangles->vertices + 3 * t, v, w) >= 0;
            max = uses > max ? uses : max;
        }
    return max;
}

/* An edge of more than two triangles is refused and named. */
static void check_refused(const sinew_mesh *mesh, sinew_stencil stencil, const char *words)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_error error = {0};
    cells c = {0};
    const int32_t n = sinew_get_stencil(stencil)->vertex_count;
    assert_int_equal(sinew_get_stencil(stencil)->find(&allocator, mesh, n, &c.vertices, &c.count, &error),
                     SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, words);
    cells_free(&c);
}

static void check_hinges(const cells *triangles, const sinew_mesh *mesh)
{
    if (max_uses(triangles) > 2) {
        check_refused(mesh, SINEW_STENCIL_HINGE, "triangles and a hinge joins two");
        return;
    }
    cells c = find(mesh, SINEW_STENCIL_HINGE, 4);
    int expected = 0;
    for (int32_t v = 0; v < VERTICES; v++)
        for (int32_t w = v + 1; w < VERTICES; w++) {
            int32_t far[3 * CELLS_MAX], uses = 0;
            for (int32_t t = 0; t < triangles->count; t++)
                if (opposite(triangles->vertices + 3 * t, v, w) >= 0)
                    far[uses++] = opposite(triangles->vertices + 3 * t, v, w);
            bool found = false;
            for (int32_t i = 0; i < c.count; i++) {
                const int32_t *h = c.vertices + 4 * i;
                if (h[0] != v || h[1] != w)
                    continue;
                found = true;
                assert_true(uses == 2 && ((h[2] == far[0] && h[3] == far[1]) || (h[2] == far[1] && h[3] == far[0])));
            }
            assert_true(found == (uses == 2));
            expected += found;
        }
    assert_int_equal(c.count, expected);
    cells_free(&c);
}

/* The number of triangles of vertex v that contain w and u, too. */
static int triangles_at(const cells *triangles, int32_t v, int32_t w, int32_t u)
{
    int count = 0;
    for (int32_t t = 0; t < triangles->count; t++) {
        bool has[3] = {false, w < 0, u < 0};
        for (int a = 0; a < 3; a++) {
            const int32_t p = triangles->vertices[3 * t + a];
            has[0] |= p == v;
            has[1] |= p == w;
            has[2] |= p == u;
        }
        count += has[0] && has[1] && has[2];
    }
    return count;
}

/* A wheel goes once around a vertex, through all of its triangles. Vertices without a wheel have an edge of one
 * triangle. */
static void check_wheels(const cells *triangles, const sinew_mesh *mesh)
{
    const sinew_stencil_info *row = sinew_get_stencil(SINEW_STENCIL_WHEEL);
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_error error = {0};
    cells c = {0};
    if (row->find(&allocator, mesh, SINEW_STENCIL_MAX, &c.vertices, &c.count, &error) != SINEW_OK) {
        assert_true(strstr(error.text, "sheets meet in a point") || max_uses(triangles) > 2);
        cells_free(&c);
        return;
    }
    assert_true(max_uses(triangles) <= 2);
    int at = 0;
    for (int32_t v = 0; v < VERTICES; v++) {
        const int32_t *wheel = c.vertices + SINEW_STENCIL_MAX * at;
        bool inside = triangles_at(triangles, v, -1, -1) > 0;
        for (int32_t w = 0; w < VERTICES; w++)
            inside &= w == v || triangles_at(triangles, v, w, -1) != 1;
        if (!inside)
            continue;
        assert_true(at++ < c.count && wheel[0] == v);
        const int size = sinew_stencil_size(row, wheel, SINEW_STENCIL_MAX) - 1;
        assert_int_equal(size, triangles_at(triangles, v, -1, -1));
        for (int i = 0; i < size; i++)
            assert_true(triangles_at(triangles, v, wheel[1 + i], wheel[1 + (i + 1) % size]) > 0);
    }
    assert_int_equal(c.count, at);
    cells_free(&c);
}

static void cells_are_found(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("cells of meshes", 200, 20000);
    for (int32_t i = 0; i < r.count; i++) {
        drawn d;
        const int tets = random_index(&r, 6), triangles = random_index(&r, CELLS_MAX), edges = random_index(&r, 4);
        draw_mesh(&r, tets, triangles, edges, &d);
        check_own(d.mesh, SINEW_STENCIL_TET, d.tets, tets, 4);
        if (edges > 0)
            check_own(d.mesh, SINEW_STENCIL_EDGE, d.edges, edges, 2);
        else
            check_edges(d.mesh);
        if (triangles > 0 || tets == 0)
            check_own(d.mesh, SINEW_STENCIL_TRIANGLE, d.triangles, triangles, 3);
        int32_t all[VERTICES];
        for (int32_t v = 0; v < VERTICES; v++)
            all[v] = v;
        check_own(d.mesh, SINEW_STENCIL_VERTEX, all, VERTICES, 1);
        check_rings(d.mesh);
        cells surface = find(d.mesh, SINEW_STENCIL_TRIANGLE, 3);
        if (surface.count <= 3 * CELLS_MAX)
            check_hinges(&surface, d.mesh);
        check_wheels(&surface, d.mesh);
        cells_free(&surface);
        sinew_mesh_destroy(d.mesh);
    }
}

/* A block of tets has the triangles and hinges of its surface: a closed surface has 3/2 hinges per triangle. */
static void a_block_has_a_surface(void **unused)
{
    (void)unused;
    sinew_mesh *mesh = make_beam(3, 2, 2, 3, 2, 2);
    cells triangles = find(mesh, SINEW_STENCIL_TRIANGLE, 3), hinges = find(mesh, SINEW_STENCIL_HINGE, 4);
    assert_int_equal(triangles.count, 2 * 2 * (3 * 2 + 3 * 2 + 2 * 2));
    assert_int_equal(2 * hinges.count, 3 * triangles.count);
    cells wheels = find(mesh, SINEW_STENCIL_WHEEL, SINEW_STENCIL_MAX);
    assert_int_equal(2 * (wheels.count - 2), triangles.count); /* Euler: V - 2 = F / 2 */
    cells_free(&wheels);
    cells_free(&triangles);
    cells_free(&hinges);
    sinew_mesh_destroy(mesh);
}

/* A vertex with more neighbours than a ring can hold is refused. */
static void a_large_ring_is_refused(void **unused)
{
    (void)unused;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    drawn d;
    random_cases r = random_cases_begin("a fan", 1, 1);
    sinew_error error = {0};
    cells c = {0};
    draw_mesh(&r, 0, 0, 0, &d);
    sinew_mesh_destroy(d.mesh);
    for (int i = 0; i < 6; i++) {
        d.edges[2 * i] = 3;
        d.edges[2 * i + 1] = i < 3 ? i : i + 1;
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = VERTICES;
    def.positions = d.positions;
    def.edge_count = 6;
    def.edges = d.edges;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    const sinew_stencil_info *row = sinew_get_stencil(SINEW_STENCIL_RING);
    assert_int_equal(row->find(&allocator, mesh, 7, &c.vertices, &c.count, &error), SINEW_OK);
    cells_free(&c);
    assert_int_equal(row->find(&allocator, mesh, 6, &c.vertices, &c.count, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "vertex 3 has 6 neighbours");
    cells_free(&c);
    sinew_mesh_destroy(mesh);
}

/* ---- Table --------------------------------------------------------------------------------------- */

static void rows_make_sense(void **unused)
{
    (void)unused;
    for (int i = 0; i < SINEW_STENCIL_COUNT; i++) {
        const sinew_stencil_info *row = sinew_get_stencil((sinew_stencil)i);
        assert_true(row->noun && row->plural && row->vertex_count >= 1 && row->vertex_count <= SINEW_STENCIL_MAX);
        assert_string_equal(sinew_stencil_name((sinew_stencil)i), row->plural);
        assert_true(row->find || row->couples);
        assert_true(!(row->takes & SINEW_TAKES_WEIGHTS) || row->vertex_count == 8);
    }
    assert_null(sinew_get_stencil(SINEW_STENCIL_COUNT));
    assert_null(sinew_stencil_name((sinew_stencil)-1));
}

static void strange_rows_are_refused(void **unused)
{
    (void)unused;
    static const sinew_stencil_info bad[] = {
        {.noun = "x", .vertex_count = 3},
        {.noun = "x", .plural = "xs", .vertex_count = 0},
        {.noun = "x", .plural = "xs", .vertex_count = SINEW_STENCIL_MAX + 1},
        {.noun = "x", .plural = "xs", .vertex_count = 3, .fans = true},
        {.noun = "x", .plural = "xs", .vertex_count = 3, .takes = SINEW_TAKES_WEIGHTS},
    };
    static sinew_stencil_info good[SINEW_STENCILS_FOREIGN + 1];
    sinew_error error = {0};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(sinew_stencil_register(&bad[i], &error), SINEW_STENCIL_COUNT);
        refused(&error, SINEW_ERROR_USAGE, "a stencil needs");
    }
    for (int i = 0; i <= SINEW_STENCILS_FOREIGN; i++)
        good[i] = (sinew_stencil_info){.noun = "x", .plural = "xs", .vertex_count = 1 + i};
    for (int i = 0; i < SINEW_STENCILS_FOREIGN; i++) {
        const sinew_stencil stencil = sinew_stencil_register(&good[i], &error);
        must(&error);
        assert_ptr_equal(sinew_get_stencil(stencil), &good[i]);
        assert_int_equal(sinew_stencil_register(&good[i], &error), stencil);
    }
    assert_int_equal(sinew_stencil_register(&good[SINEW_STENCILS_FOREIGN], &error), SINEW_STENCIL_COUNT);
    refused(&error, SINEW_ERROR_USAGE, "stencil x: 8 are registered already");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_found),          cmocka_unit_test(a_block_has_a_surface),
        cmocka_unit_test(a_large_ring_is_refused),  cmocka_unit_test(rows_make_sense),
        cmocka_unit_test(strange_rows_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
