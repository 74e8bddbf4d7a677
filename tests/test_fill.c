/* SPDX-License-Identifier: MIT
 *
 * test_fill.c: bodies filled from surfaces: volumes, equal results for surfaces with flaws, separate components, thin
 * walls, filled fractions in copies, files and worlds, refusals, threads, allocation failures.
 */
#include <unistd.h>

#include "failing_allocator.h"
#include "fill_cases.h"
#include "bvh/triangle_crossing.h"
#include "tetfill/fill.h"

static sinew_mesh *fill_with(const sinew_mesh *surface, int cells, bool conform, bool split, int threads,
                             sinew_fill_report *report)
{
    sinew_error error = {0};
    sinew_fill_def def = sinew_default_fill_def();
    def.surface = surface;
    def.cells = cells;
    def.conform = conform;
    def.split = split;
    def.thread_count = threads;
    sinew_mesh *body = sinew_mesh_fill(&def, report, &error);
    must(&error);
    return body;
}

static void assert_same_mesh(const sinew_mesh *a, const sinew_mesh *b)
{
    const size_t vertices = 3 * (size_t)sinew_mesh_vertex_count(a), tets = (size_t)sinew_mesh_tet_count(a);
    assert_int_equal(sinew_mesh_vertex_count(a), sinew_mesh_vertex_count(b));
    assert_int_equal(sinew_mesh_tet_count(a), sinew_mesh_tet_count(b));
    assert_memory_equal(sinew_mesh_positions(a), sinew_mesh_positions(b), vertices * sizeof(sinew_real));
    assert_memory_equal(sinew_mesh_tets(a), sinew_mesh_tets(b), 4 * tets * sizeof(int32_t));
    assert_non_null(sinew_mesh_fractions(b));
    assert_memory_equal(sinew_mesh_fractions(a), sinew_mesh_fractions(b), tets * sizeof(sinew_real));
}

static sinew_mesh *round_surface(sinew_mesh *(*make)(const sinew_round_def *, sinew_error *), int segments)
{
    sinew_error error = {0};
    sinew_round_def def = sinew_default_round_def();
    def.segments = segments;
    sinew_mesh *mesh = make(&def, &error), *surface = mesh ? sinew_mesh_surface(mesh, &error) : NULL;
    must(&error);
    sinew_mesh_destroy(mesh);
    return surface;
}

/* A surface of boxes, each given by two opposite corners. */
static sinew_mesh *boxes(const double (*corners)[6], int count)
{
    soup s = {0};
    for (int i = 0; i < count; i++) {
        sinew_error error = {0};
        sinew_box_def def = sinew_default_box_def();
        for (int c = 0; c < 3; c++) {
            def.vertices[c] = 2;
            def.size[c] = (sinew_real)(corners[i][3 + c] - corners[i][c]);
        }
        sinew_mesh *box = sinew_mesh_box(&def, &error);
        must(&error);
        soup_add(&s, box, corners[i]);
        sinew_mesh_destroy(box);
    }
    sinew_mesh *mesh = soup_mesh(&s);
    soup_free(&s);
    return mesh;
}

/* ---- What is inside ----------------------------------------------------------------------------- */

static void round_bodies_hold_their_volume(void **unused)
{
    (void)unused;
    sinew_mesh *(*const makers[])(const sinew_round_def *, sinew_error *) = {sinew_mesh_ball, sinew_mesh_torus,
                                                                             sinew_mesh_tube};
    for (int i = 0; i < 3; i++)
        for (int conform = 0; conform < 2; conform++) {
            sinew_fill_report report;
            sinew_mesh *surface = round_surface(makers[i], 24);
            sinew_mesh *body = fill_with(surface, 16, conform, true, 0, &report);
            assert_true(report.closed && report.components == 1 && report.crossings == 0);
            assert_true(fabs(report.volume / report.surface_volume - 1) < 0.02);
            assert_true(conform ? report.quality_min >= 0.399 : report.quality_min > 0.929);
            sinew_mesh_destroy(body);
            sinew_mesh_destroy(surface);
        }
}

/* A box whose faces lie on lattice planes is filled exactly, by whole tets. */
static void a_box_that_fits_the_lattice_is_whole(void **unused)
{
    (void)unused;
    sinew_fill_report report;
    sinew_mesh *surface = boxes((const double[][6]){{0, 0, 0, 2, 1, 1}}, 1);
    sinew_mesh *body = fill_with(surface, 8, true, true, 0, &report);
    assert_true(fabs(report.volume - 2) < 1e-4);
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(surface);
}

/* Surfaces with all triangles flipped, some flipped, duplicated triangles or duplicated vertices give the same body. */
static void odd_surfaces_give_the_same_body(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("odd surfaces", 3, 20);
    for (int32_t n = 0; n < r.count; n++) {
        soup s = {0};
        const double shift[3] = {random_between(&r, -1, 1), random_between(&r, -1, 1), random_between(&r, -1, 1)};
        sinew_mesh *ball = round_surface(n % 2 ? sinew_mesh_ball : sinew_mesh_torus, 12);
        soup_add(&s, ball, shift);
        sinew_mesh *plain = soup_mesh(&s);
        for (int32_t t = 0; t < s.count; t++)
            if (n == 0 || random_index(&r, 3) == 0) {
                int32_t swap = s.triangles[3 * t];
                s.triangles[3 * t] = s.triangles[3 * t + 1];
                s.triangles[3 * t + 1] = swap;
            }
        double_some(&s, &r);
        sinew_mesh *odd = soup_mesh(&s);
        sinew_mesh *a = fill_with(plain, 7, false, true, 1, NULL), *b = fill_with(odd, 7, false, true, 2, NULL);
        assert_same_mesh(a, b);
        sinew_mesh_destroy(a);
        sinew_mesh_destroy(b);
        sinew_mesh_destroy(plain);
        sinew_mesh_destroy(odd);
        sinew_mesh_destroy(ball);
        soup_free(&s);
    }
}

static void a_cavity_stays_empty(void **unused)
{
    (void)unused;
    soup s = {0};
    sinew_fill_report report;
    sinew_mesh *box = boxes((const double[][6]){{0, 0, 0, 3, 3, 3}, {1, 1, 1, 2, 2, 2}}, 2);
    soup_add(&s, box, (const double[3]){0, 0, 0});
    for (int32_t t = s.count / 2; t < s.count; t++) {
        int32_t swap = s.triangles[3 * t];
        s.triangles[3 * t] = s.triangles[3 * t + 1];
        s.triangles[3 * t + 1] = swap;
    }
    sinew_mesh *hollow = soup_mesh(&s), *body = fill_with(hollow, 9, false, true, 0, &report);
    assert_true(fabs(report.volume - 26) < 0.3);
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(hollow);
    sinew_mesh_destroy(box);
    soup_free(&s);
}

/* ---- Components and walls -------------------------------------------------------------------------- */

/* The gap is less than a quarter of a cell. Across a wider one both boxes may end in tips of tets below FILL_TINY, which
 * are removed, and then nothing connects the boxes even where lattice cells are shared. */
static void near_parts_have_tets_of_their_own(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("near parts", 3, 30);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_fill_report report;
        const double gap = random_between(&r, 0.005, 0.03), at = random_between(&r, 0.3, 0.6);
        const double corners[2][6] = {{0, 0, 0, 1, at, 1}, {0, at + gap, 0, 1, 1, 1}};
        sinew_mesh *two = boxes(corners, 2);
        sinew_mesh *apart = fill_with(two, 8, n % 2, true, 0, &report);
        assert_int_equal(report.components, 2);
        sinew_mesh *together = fill_with(two, 8, false, false, 0, &report);
        assert_int_equal(report.components, 1);
        assert_int_equal(report.split_cells, 0);
        sinew_mesh_destroy(apart);
        sinew_mesh_destroy(together);
        sinew_mesh_destroy(two);
    }
}

/* A wall much thinner than a cell, beside a block, is kept, connected and in full length. */
static void thin_walls_stay(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("thin walls", 3, 30);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_fill_report report;
        const double thick = random_magnitude(&r, 1e-3, 0.05), at = random_between(&r, 0, 0.5);
        sinew_mesh *wall = boxes((const double[][6]){{0, at, 0, 1, at + thick, 1}}, 1);
        sinew_mesh *body = fill_with(wall, 6, false, true, 0, &report);
        const sinew_real *x = sinew_mesh_positions(body);
        double low = 1, high = 0;
        for (int32_t v = 0; v < sinew_mesh_vertex_count(body); v++) {
            low = fmin(low, (double)x[3 * v]);
            high = fmax(high, (double)x[3 * v]);
        }
        assert_int_equal(report.components, 1);
        assert_true(low <= 0.001 && high >= 0.999);
        assert_true(report.volume > 0.4 * thick && report.volume < 2 * thick);
        sinew_mesh_destroy(body);
        sinew_mesh_destroy(wall);
    }
}

/* ---- Fractions ------------------------------------------------------------------------------------ */

static void copies_keep_fractions(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_mesh *surface = round_surface(sinew_mesh_ball, 8), *body = fill_with(surface, 5, false, true, 0, NULL);
    sinew_mesh *moved = sinew_mesh_moved(body, sinew_mesh_positions(body), &error);
    sinew_mesh *fixed = sinew_mesh_fix(body, -1, NULL, &error);
    must(&error);
    assert_same_mesh(body, moved);
    assert_same_mesh(body, fixed);
    sinew_mesh_destroy(moved);
    sinew_mesh_destroy(fixed);
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(surface);
}

static void files_carry_fractions(void **unused)
{
    (void)unused;
    static const struct {
        const char *ending;
        sinew_mesh_format format;
    } kinds[] = {{"vtu", SINEW_MESH_BY_ENDING},    {"vtu", SINEW_MESH_VTU_BINARY},
                 {"msh", SINEW_MESH_GMSH_2_ASCII}, {"msh", SINEW_MESH_GMSH_2_BINARY},
                 {"msh", SINEW_MESH_GMSH_4_ASCII}, {"msh", SINEW_MESH_GMSH_4_BINARY}};
    sinew_mesh *surface = round_surface(sinew_mesh_ball, 8), *body = fill_with(surface, 5, true, true, 0, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        sinew_error error = {0};
        char path[64];
        snprintf(path, sizeof path, "test_fill_%d.%s", (int)getpid(), kinds[i].ending);
        assert_int_equal(sinew_mesh_write(body, path, kinds[i].format, &error), SINEW_OK);
        sinew_mesh *read = sinew_mesh_read(path, NULL, &error);
        must(&error);
        assert_same_mesh(body, read);
        sinew_mesh_destroy(read);
        remove(path);
    }
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(surface);
}

static void fractions_out_of_range_are_refused(void **unused)
{
    (void)unused;
    static const sinew_real wrong[] = {0, -1, (sinew_real)1.5, NAN};
    const sinew_real x[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t tet[4] = {0, 1, 2, 3};
    for (int i = 0; i < 4; i++) {
        sinew_error error = {0};
        sinew_mesh_def def = sinew_default_mesh_def();
        def.vertex_count = 4;
        def.positions = x;
        def.tet_count = 1;
        def.tets = tet;
        def.fractions = &wrong[i];
        assert_null(sinew_mesh_create(&def, &error));
        assert_int_equal(error.status, SINEW_ERROR_DATA);
    }
}

/* A world of the body, stretched by a tenth along x. */
static sinew_world *stretched_world(const sinew_mesh *body, sinew_energy *energy, const int32_t *tets, int32_t count)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_energy_def material = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    sinew_world *world = make_world(&def);
    const int32_t vertices = sinew_mesh_vertex_count(body);
    sinew_real *q = make_array(3 * (size_t)vertices, sizeof *q);
    for (int32_t i = 0; i < 3 * vertices; i++)
        q[i] = sinew_mesh_positions(body)[i] * (sinew_real)(i % 3 == 0 ? 1.1 : 1);
    material.body = add_mesh(world, body, 1000, q, NULL);
    material.elements = tets;
    material.element_count = count;
    *energy = add_energy(world, &material);
    free(q);
    return world;
}

/* Mass and energy are scaled by the filled fraction; densities per volume are those of the material. */
static void worlds_count_what_is_filled(void **unused)
{
    (void)unused;
    sinew_fill_report report;
    sinew_error error = {0};
    sinew_energy energy;
    sinew_measures measures;
    const double slack = sizeof(sinew_real) == 4 ? 1e-3 : 1e-9;
    sinew_mesh *surface = round_surface(sinew_mesh_ball, 10), *body = fill_with(surface, 6, false, true, 0, &report);
    sinew_world *world = stretched_world(body, &energy, NULL, 0);
    assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
    assert_true(fabs(measures.mass / (1000 * report.volume) - 1) < slack);
    int32_t count = 0;
    sinew_real *density = make_array((size_t)sinew_mesh_tet_count(body), sizeof *density);
    assert_int_equal(
        sinew_energy_field(world, energy, SINEW_FIELD_ENERGY, sinew_mesh_tet_count(body), density, &count, &error),
        SINEW_OK);
    for (int32_t t = 0; t < count; t++)
        assert_true(fabs((double)density[t] / (double)density[0] - 1) < 100 * slack);
    assert_true(fabs(measures.elastic / ((double)density[0] * report.volume) - 1) < 100 * slack);
    free(density);
    sinew_world_destroy(world);
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(surface);
}

/* Energies that list the body's tets explicitly, with permuted corners, get the same filled fractions. */
static void listed_tets_have_their_fractions(void **unused)
{
    (void)unused;
    sinew_energy energies[2];
    sinew_mesh *surface = round_surface(sinew_mesh_ball, 10), *body = fill_with(surface, 6, false, true, 0, NULL);
    const int32_t count = sinew_mesh_tet_count(body);
    int32_t *tets = make_array(4 * (size_t)count, sizeof *tets);
    for (int32_t t = 0; t < count; t++)
        for (int i = 0; i < 4; i++)
            tets[4 * t + i] = sinew_mesh_tets(body)[4 * (count - 1 - t) + (i + 2) % 4];
    sinew_world *worlds[2] = {stretched_world(body, &energies[0], NULL, 0),
                              stretched_world(body, &energies[1], tets, count)};
    sinew_measures m[2];
    for (int w = 0; w < 2; w++)
        assert_int_equal(sinew_world_measure(worlds[w], &m[w]), SINEW_OK);
    assert_true(fabs(m[0].elastic / m[1].elastic - 1) < (sizeof(sinew_real) == 4 ? 1e-4 : 1e-12));
    for (int w = 0; w < 2; w++)
        sinew_world_destroy(worlds[w]);
    free(tets);
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(surface);
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

static void assert_refused(const sinew_mesh *surface, int cells, const char *word)
{
    sinew_error error = {0};
    sinew_fill_def def = sinew_default_fill_def();
    def.surface = surface;
    def.cells = cells;
    assert_null(sinew_mesh_fill(&def, NULL, &error));
    if (!strstr(error.text, word))
        fail_msg("expected \"%s\" in: %s", word, error.text);
    assert_null(strchr(error.text, '\n'));
}

/* Areas of such a surface are NaN or zero. */
static void assert_length_refused(const sinew_mesh *surface, double scale)
{
    sinew_error error = {0};
    sinew_real *far = make_array(3 * (size_t)sinew_mesh_vertex_count(surface), sizeof *far);
    for (int32_t i = 0; i < 3 * sinew_mesh_vertex_count(surface); i++)
        far[i] = (sinew_real)(scale * (double)sinew_mesh_positions(surface)[i]);
    sinew_mesh *scaled = sinew_mesh_moved(surface, far, &error);
    must(&error);
    assert_refused(scaled, 8, "must be from 1e-12 to 1e+12 m");
    sinew_mesh_destroy(scaled);
    free(far);
}

static void what_cannot_be_filled_is_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    sinew_rope_def rope = sinew_default_rope_def();
    sinew_mesh *sheet = sinew_mesh_cloth(&cloth, &error), *line = sinew_mesh_rope(&rope, &error);
    sinew_mesh *ball = round_surface(sinew_mesh_ball, 8);
    must(&error);
    assert_refused(line, 8, "no triangles");
    assert_refused(sheet, 8, "flat");
    assert_refused(ball, 0, "cells is 0");
    assert_refused(ball, -3, "cells is -3");
    assert_refused(ball, 1000000, "2147483647");
    assert_refused(ball, INT32_MAX, "2147483647");
    assert_refused(ball, 1000, "MB");
    assert_length_refused(ball, 1e30);
    assert_length_refused(ball, 1e-20);
    sinew_real *bent = make_array(3 * (size_t)sinew_mesh_vertex_count(sheet), sizeof *bent);
    for (int32_t v = 0; v < sinew_mesh_vertex_count(sheet); v++) {
        memcpy(bent + 3 * v, sinew_mesh_positions(sheet) + 3 * v, 3 * sizeof *bent);
        bent[3 * v + 2] = (sinew_real)0.01 * bent[3 * v];
    }
    bent[2] = (sinew_real)0.02;
    sinew_mesh *nearly = sinew_mesh_moved(sheet, bent, &error);
    must(&error);
    assert_refused(nearly, 8, "nothing inside");
    free(bent);
    sinew_mesh_destroy(nearly);
    sinew_mesh_destroy(sheet);
    sinew_mesh_destroy(line);
    sinew_mesh_destroy(ball);
}

/* ---- Threads and memory --------------------------------------------------------------------------- */

static void threads_give_the_same_bits(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("threads", 4, 40);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_error error = {0};
        sinew_mesh *surface = damaged_surface(&r), *bodies[3];
        sinew_fill_def def = sinew_default_fill_def();
        def.surface = surface;
        def.cells = 4 + random_index(&r, 6);
        def.conform = n % 2;
        for (int i = 0; i < 3; i++) {
            def.thread_count = 1 + i;
            bodies[i] = sinew_mesh_fill(&def, NULL, &error);
            assert_int_equal(!bodies[i], !bodies[0]);
            if (bodies[i])
                assert_same_mesh(bodies[0], bodies[i]);
        }
        for (int i = 0; i < 3; i++)
            sinew_mesh_destroy(bodies[i]);
        sinew_mesh_destroy(surface);
    }
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    const double corners[2][6] = {{0, 0, 0, 1, 0.5, 1}, {0, 0.53, 0, 1, 1, 1}};
    sinew_mesh *two = boxes(corners, 2);
    for (memory.fail_at = 1;; memory.fail_at++) {
        sinew_error error = {0};
        sinew_fill_def def = sinew_default_fill_def();
        def.allocator = hooks_of(&memory);
        def.surface = two;
        def.cells = 3;
        def.conform = true;
        def.thread_count = 2;
        memory.calls = 0;
        sinew_mesh *body = sinew_mesh_fill(&def, NULL, &error);
        if (body) {
            sinew_mesh_destroy(body);
            assert_int_equal(memory.live, 0);
            break;
        }
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
        assert_int_equal(memory.live, 0);
    }
    assert_true(memory.fail_at > 20);
    sinew_mesh_destroy(two);
}

/* ---- Intersecting triangles ------------------------------------------------------------------------ */

/* Reference: the intervals in which each triangle cuts the common line of both planes. */
static bool cross_by_intervals(const double t[2][3][3])
{
    double d[2][3], n[2][3], line[3], span[2][2];
    for (int k = 0; k < 2; k++) {
        double u[3], v[3];
        for (int c = 0; c < 3; c++) {
            u[c] = t[k][1][c] - t[k][0][c];
            v[c] = t[k][2][c] - t[k][0][c];
        }
        for (int c = 0; c < 3; c++)
            n[k][c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
    }
    for (int c = 0; c < 3; c++)
        line[c] = n[0][(c + 1) % 3] * n[1][(c + 2) % 3] - n[0][(c + 2) % 3] * n[1][(c + 1) % 3];
    for (int k = 0; k < 2; k++) {
        int found = 0;
        for (int i = 0; i < 3; i++) {
            d[k][i] = 0;
            for (int c = 0; c < 3; c++)
                d[k][i] += n[1 - k][c] * (t[k][i][c] - t[1 - k][0][c]);
        }
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3;
            if (d[k][i] * d[k][j] >= 0 || found == 2)
                continue;
            const double s = d[k][i] / (d[k][i] - d[k][j]);
            span[k][found] = 0;
            for (int c = 0; c < 3; c++)
                span[k][found] += line[c] * (t[k][i][c] + s * (t[k][j][c] - t[k][i][c]));
            found++;
        }
        if (found < 2)
            return false;
    }
    return fmax(fmin(span[0][0], span[0][1]), fmin(span[1][0], span[1][1])) <
           fmin(fmax(span[0][0], span[0][1]), fmax(span[1][0], span[1][1]));
}

static void crossings_are_found(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("crossings", 20000, 1000000);
    int crossing = 0, different = 0;
    for (int32_t n = 0; n < r.count; n++) {
        sinew_real x[18];
        double t[2][3][3];
        for (int i = 0; i < 18; i++) {
            x[i] = (sinew_real)random_between(&r, -1, 1);
            t[i / 9][i / 3 % 3][i % 3] = (double)x[i];
        }
        const bool found = sinew_triangles_cross(x, (const int32_t[3]){0, 1, 2}, (const int32_t[3]){3, 4, 5});
        crossing += found;
        different += found != cross_by_intervals((const double(*)[3][3])t);
        /* Triangles that share an edge do not intersect. */
        assert_false(sinew_triangles_cross(x, (const int32_t[3]){0, 1, 2}, (const int32_t[3]){2, 1, 3}));
    }
    assert_true(crossing > r.count / 20);
    assert_true(different <= (sizeof(sinew_real) == 4 ? r.count / 1000 : 0));
}

static void check_names_crossing_triangles(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_mesh_report report;
    const double corners[2][6] = {{0, 0, 0, 1, 1, 1}, {0.5, 0.25, 0.3, 1.5, 0.75, 0.8}};
    sinew_mesh *apart = boxes(corners, 1), *through = boxes(corners, 2);
    assert_true(sinew_mesh_check(apart, &report, NULL, 0, &error) >= 0);
    assert_int_equal(report.counts[SINEW_FLAW_CROSSING_TRIANGLE], 0);
    assert_true(sinew_mesh_check(through, &report, NULL, 0, &error) > 0);
    assert_true(report.counts[SINEW_FLAW_CROSSING_TRIANGLE] >= 8);
    sinew_mesh_destroy(apart);
    sinew_mesh_destroy(through);
}

/* Crossings in random order, many of them at equal positions: the list holds the first ones of a stable sort. */
static void the_first_crossings_are_stored(void **state)
{
    (void)state;
    enum {
        MANY = 40
    };
    random_cases r = random_cases_begin("crossings", 200, 20000);
    for (int n = 0; n < r.count; n++) {
        const int count = 1 + random_index(&r, MANY), places = 2 + random_index(&r, 100);
        double at[MANY];
        int order[MANY], sum = 0;
        fill_crossings found = {.last = -1};
        for (int i = 0; i < count; i++) {
            at[i] = random_index(&r, places) / (double)places;
            const int sign = i % 3 ? 1 : -1;
            sum += sign;
            sinew_fill_put_crossing(&found, at[i], sign, i);
            int k = i;
            for (; k > 0 && at[order[k - 1]] > at[i]; k--)
                order[k] = order[k - 1];
            order[k] = i;
        }
        assert_int_equal(found.count, count);
        assert_int_equal(found.sum, sum);
        assert_int_equal(found.last, order[count - 1]);
        for (int i = 0; i < count && i < FILL_CROSSINGS; i++) {
            assert_true(found.at[i] == at[order[i]]);
            assert_int_equal(found.sign[i], order[i] % 3 ? 1 : -1);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_bodies_hold_their_volume),
        cmocka_unit_test(a_box_that_fits_the_lattice_is_whole),
        cmocka_unit_test(odd_surfaces_give_the_same_body),
        cmocka_unit_test(a_cavity_stays_empty),
        cmocka_unit_test(near_parts_have_tets_of_their_own),
        cmocka_unit_test(thin_walls_stay),
        cmocka_unit_test(copies_keep_fractions),
        cmocka_unit_test(files_carry_fractions),
        cmocka_unit_test(fractions_out_of_range_are_refused),
        cmocka_unit_test(worlds_count_what_is_filled),
        cmocka_unit_test(listed_tets_have_their_fractions),
        cmocka_unit_test(what_cannot_be_filled_is_refused),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(crossings_are_found),
        cmocka_unit_test(the_first_crossings_are_stored),
        cmocka_unit_test(check_names_crossing_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
