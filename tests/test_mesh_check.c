/* SPDX-License-Identifier: MIT
 *
 * test_mesh_check.c: every flaw is planted at a known element and must be found there and nowhere else. Fixing removes
 * all flaws, reports its changes, and changes nothing the second time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "mesh/flaws.h"
#include "mesh/mesh.h"

#ifdef SINEW_SINGLE
#define CLOSE 1e-5
#else
#define CLOSE 1e-12
#endif

static sinew_mesh *box_mesh(int32_t n)
{
    sinew_box_def def = sinew_default_box_def();
    for (int k = 0; k < 3; k++)
        def.vertices[k] = n;
    return sinew_mesh_box(&def, NULL);
}

/* The closed surface of a ball. Its inner vertices are unused. */
static sinew_mesh *ball_surface(void)
{
    sinew_round_def def = sinew_default_round_def();
    def.segments = 4;
    sinew_mesh *ball = sinew_mesh_ball(&def, NULL);
    sinew_mesh *surface = sinew_mesh_surface(ball, NULL);
    sinew_mesh_destroy(ball);
    return surface;
}

static void exchange(int32_t *a, int32_t *b)
{
    int32_t swap = *a;
    *a = *b;
    *b = swap;
}

/* A copy of a mesh whose arrays have capacity for a few more cells, to plant flaws in. */
static sinew_mesh *with_capacity(const sinew_mesh *from, int32_t vertices, int32_t tets, int32_t triangles,
                                 int32_t edges)
{
    sinew_mesh *mesh = sinew_mesh_allocate(NULL, from->vertex_count + vertices, from->tet_count + tets,
                                           from->triangle_count + triangles, from->edge_count + edges, NULL);
    memcpy(mesh->positions, from->positions, 3 * (size_t)from->vertex_count * sizeof *mesh->positions);
    memcpy(mesh->tets, from->tets, 4 * (size_t)from->tet_count * sizeof(int32_t));
    memcpy(mesh->triangles, from->triangles, 3 * (size_t)from->triangle_count * sizeof(int32_t));
    memcpy(mesh->edges, from->edges, 2 * (size_t)from->edge_count * sizeof(int32_t));
    return mesh;
}

static void set_point(sinew_mesh *mesh, int32_t v, double x, double y, double z)
{
    mesh->positions[3 * (size_t)v] = (sinew_real)x;
    mesh->positions[3 * (size_t)v + 1] = (sinew_real)y;
    mesh->positions[3 * (size_t)v + 2] = (sinew_real)z;
}

static int64_t check(const sinew_mesh *mesh, sinew_mesh_report *report, sinew_flaw *flaws, int64_t capacity)
{
    sinew_error error;
    int64_t count = sinew_mesh_check(mesh, report, flaws, capacity, &error);
    assert_true(count >= 0);
    int64_t sum = 0;
    for (int kind = 0; kind < SINEW_FLAW_COUNT; kind++)
        sum += report->counts[kind];
    assert_int_equal(sum, count);
    return count;
}

/* Checks that the mesh has exactly one flaw, of this kind at this element. */
static void assert_only(const sinew_mesh *mesh, sinew_flaw_kind kind, int32_t element, int32_t other)
{
    sinew_mesh_report report;
    sinew_flaw flaws[8];
    int64_t count = check(mesh, &report, flaws, 8);
    for (int64_t n = 0; n < count && n < 8 && count != 1; n++)
        print_error("%s %d (%d)\n", sinew_flaw_name(flaws[n].kind), flaws[n].element, flaws[n].other);
    assert_int_equal(count, 1);
    assert_int_equal(flaws[0].kind, kind);
    assert_int_equal(flaws[0].element, element);
    assert_int_equal(flaws[0].other, other);
}

static bool same_mesh(const sinew_mesh *a, const sinew_mesh *b)
{
    return a->vertex_count == b->vertex_count && a->tet_count == b->tet_count &&
           a->triangle_count == b->triangle_count && a->edge_count == b->edge_count &&
           memcmp(a->positions, b->positions, 3 * (size_t)a->vertex_count * sizeof *a->positions) == 0 &&
           memcmp(a->tets, b->tets, 4 * (size_t)a->tet_count * sizeof(int32_t)) == 0 &&
           memcmp(a->triangles, b->triangles, 3 * (size_t)a->triangle_count * sizeof(int32_t)) == 0 &&
           memcmp(a->edges, b->edges, 2 * (size_t)a->edge_count * sizeof(int32_t)) == 0;
}

/* Fixes the mesh, checks that no flaw is left and that a second fix changes nothing; returns the fixed mesh. */
static sinew_mesh *fixed(const sinew_mesh *mesh, double merge_distance, const char *note)
{
    sinew_error error;
    sinew_mesh *once = sinew_mesh_fix(mesh, merge_distance, NULL, &error);
    assert_non_null(once);
    if (!strstr(sinew_mesh_warnings(once), note))
        fail_msg("the notes \"%s\" do not say \"%s\"", sinew_mesh_warnings(once), note);
    sinew_mesh_report report;
    assert_int_equal(check(once, &report, NULL, 0), 0);
    sinew_mesh *twice = sinew_mesh_fix(once, merge_distance, NULL, &error);
    assert_true(same_mesh(once, twice));
    assert_string_equal(sinew_mesh_warnings(twice), "");
    sinew_mesh_destroy(twice);
    return once;
}

static double enclosed_volume(const sinew_mesh *mesh)
{
    double sum = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const sinew_real *p = mesh->positions + 3 * (size_t)mesh->triangles[3 * t];
        const sinew_real *q = mesh->positions + 3 * (size_t)mesh->triangles[3 * t + 1];
        const sinew_real *r = mesh->positions + 3 * (size_t)mesh->triangles[3 * t + 2];
        sum += (double)(p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) +
                        p[2] * (q[0] * r[1] - q[1] * r[0])) /
               6;
    }
    return sum;
}

/* ---- Sound meshes ---------------------------------------------------------------------------- */

static void sound_meshes_have_no_flaws(void **state)
{
    (void)state;
    sinew_mesh_report report;
    sinew_mesh *box = box_mesh(5);
    assert_int_equal(check(box, &report, NULL, 0), 0);
    assert_true(fabs(report.volume - 1) < CLOSE);
    assert_true(report.area == 0 && report.length == 0);
    assert_true(fabs(report.quality_min - sqrt(2) / pow(1.5, 1.5)) < 10 * CLOSE);
    assert_true(fabs(report.quality_mean - (1 + 4 * sqrt(2) / pow(1.5, 1.5)) / 5) < 10 * CLOSE);
    for (int k = 0; k < 6; k++)
        assert_true(report.bounds[k] == (k < 3 ? 0 : 1));
    assert_int_equal(report.component_count, 1);
    assert_true(report.closed_surface);
    assert_int_equal(report.boundary_edge_count, 0);
    sinew_mesh *same = fixed(box, 0, "");
    assert_true(same_mesh(box, same));
    sinew_mesh_destroy(same);
    sinew_mesh_destroy(box);

    sinew_cloth_def def = sinew_default_cloth_def();
    sinew_mesh *cloth = sinew_mesh_cloth(&def, NULL);
    assert_int_equal(check(cloth, &report, NULL, 0), 0);
    assert_true(fabs(report.area - 1) < 10 * CLOSE);
    assert_true(fabs(report.length - (32 + 15 * sqrt(2))) < 1000 * CLOSE);
    assert_int_equal(report.boundary_edge_count, 60);
    assert_false(report.closed_surface);
    assert_true(report.quality_min == 0);
    sinew_mesh_destroy(cloth);
}

static void pieces_are_counted(void **state)
{
    (void)state;
    sinew_mesh *box = box_mesh(3);
    sinew_mesh *two = with_capacity(box, 27, box->tet_count, 0, 0);
    for (int32_t v = 0; v < 27; v++)
        set_point(two, 27 + v, (double)box->positions[3 * v] + 2, (double)box->positions[3 * v + 1],
                  (double)box->positions[3 * v + 2]);
    for (int32_t i = 0; i < 4 * box->tet_count; i++)
        two->tets[4 * box->tet_count + i] = box->tets[i] + 27;
    sinew_mesh_report report;
    assert_int_equal(check(two, &report, NULL, 0), 0);
    assert_int_equal(report.component_count, 2);
    assert_true(report.bounds[3] == 3);
    sinew_mesh_destroy(two);
    sinew_mesh_destroy(box);
}

/* The same shape scaled by 1e12 or 1e-12 has the same flaws. */
static void shape_does_not_depend_on_size(void **state)
{
    (void)state;
#ifdef SINEW_SINGLE
    const double scales[] = {1e-30, 1e-12, 1e12, 1e30};
#else
    const double scales[] = {1e-200, 1e-12, 1e12, 1e150, 1e200};
#endif
    const double apex[3] = {1, 0.02, 1e-11}; /* fine, sliver, degenerate */
    const sinew_flaw_kind expected[3] = {SINEW_FLAW_COUNT, SINEW_FLAW_SLIVER_TET, SINEW_FLAW_DEGENERATE_TET};
    const int32_t tet[4] = {0, 1, 2, 3};
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++)
        for (int a = 0; a < 3; a++) {
            sinew_real x[12] = {0};
            x[3] = x[7] = (sinew_real)scales[s];
            x[11] = (sinew_real)(scales[s] * apex[a]);
            assert_int_equal(sinew_shape_of_tet(x, tet).flaw, expected[a]);
        }
    /* The regular tetrahedron has quality 1. */
    const sinew_real regular[12] = {1, 1, 1, -1, 1, -1, 1, -1, -1, -1, -1, 1};
    assert_true(fabs(sinew_shape_of_tet(regular, tet).quality - 1) < CLOSE);
    assert_true(fabs(sinew_shape_of_tet(regular, tet).volume - 8.0 / 3) < CLOSE);
}

/* ---- One flaw at a time ---------------------------------------------------------------------- */

static void inverted_tet_is_found_and_turned(void **state)
{
    (void)state;
    sinew_mesh *mesh = box_mesh(4);
    exchange(&mesh->tets[4 * 17], &mesh->tets[4 * 17 + 3]);
    assert_only(mesh, SINEW_FLAW_INVERTED_TET, 17, -1);
    sinew_flaw flaw;
    sinew_mesh_check(mesh, NULL, &flaw, 1, NULL);
    assert_true(flaw.measure < -1.0 / 27 / 7 && flaw.measure > -1.0 / 27 / 2);
    sinew_mesh *good = fixed(mesh, -1, "1 inverted tets turned");
    assert_int_equal(good->tet_count, mesh->tet_count);
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
}

static void degenerate_tets_are_found_and_dropped(void **state)
{
    (void)state;
    sinew_mesh *box = box_mesh(3);
    sinew_mesh *mesh = with_capacity(box, 0, 2, 0, 0);
    const int32_t flat[8] = {0, 1, 3, 4, 5, 5, 13, 14}; /* four vertices in a plane; one vertex listed twice */
    memcpy(mesh->tets + 4 * box->tet_count, flat, sizeof flat);
    sinew_mesh_report report;
    sinew_flaw flaws[8];
    int64_t count = check(mesh, &report, flaws, 8);
    assert_int_equal(report.counts[SINEW_FLAW_DEGENERATE_TET], 2);
    assert_int_equal(flaws[0].element, box->tet_count);
    assert_int_equal(flaws[1].element, box->tet_count + 1);
    assert_in_range(count, 2, 3);
    sinew_mesh *good = fixed(mesh, -1, "2 degenerate tets dropped");
    assert_true(same_mesh(good, box));
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(box);
}

static void sliver_is_found_and_stays(void **state)
{
    (void)state;
    sinew_mesh_def def = sinew_default_mesh_def();
    const sinew_real positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, (sinew_real)0.3, (sinew_real)0.3, (sinew_real)0.01};
    const int32_t tets[] = {0, 1, 2, 3};
    def.vertex_count = 4;
    def.positions = positions;
    def.tet_count = 1;
    def.tets = tets;
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    assert_only(mesh, SINEW_FLAW_SLIVER_TET, 0, -1);
    sinew_mesh_report report;
    sinew_flaw flaw;
    check(mesh, &report, &flaw, 1);
    assert_true(flaw.measure > 0 && flaw.measure < SINEW_SLIVER);
    assert_true(flaw.measure == report.quality_min);
    sinew_mesh *same = sinew_mesh_fix(mesh, 0, NULL, NULL);
    assert_true(same_mesh(mesh, same));
    sinew_mesh_destroy(same);
    sinew_mesh_destroy(mesh);
}

static void degenerate_triangle_and_edge(void **state)
{
    (void)state;
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = 4;
    sinew_mesh *cloth = sinew_mesh_cloth(&def, NULL);
    sinew_mesh *mesh = with_capacity(cloth, 0, 0, 1, 0);
    const int32_t twice_named[3] = {5, 5, 6};
    memcpy(mesh->triangles + 3 * cloth->triangle_count, twice_named, sizeof twice_named);
    assert_only(mesh, SINEW_FLAW_DEGENERATE_TRIANGLE, cloth->triangle_count, -1);
    sinew_mesh *good = fixed(mesh, -1, "1 degenerate triangles dropped");
    assert_true(same_mesh(good, cloth));
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);

    mesh = with_capacity(cloth, 0, 0, 0, 1);
    mesh->edges[2 * cloth->edge_count] = mesh->edges[2 * cloth->edge_count + 1] = 9;
    assert_only(mesh, SINEW_FLAW_DEGENERATE_EDGE, cloth->edge_count, -1);
    good = fixed(mesh, -1, "1 degenerate edges dropped");
    assert_true(same_mesh(good, cloth));
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(cloth);
}

static void duplicate_vertex_is_found_and_merged(void **state)
{
    (void)state;
    sinew_mesh *box = box_mesh(3);
    sinew_mesh *mesh = with_capacity(box, 1, 0, 0, 0);
    /* Vertex 27 has the position of vertex 13 and replaces it in one tetrahedron. -0 equals 0. */
    set_point(mesh, 27, 0.5, 0.5, 0.5);
    int32_t at = 0;
    while (mesh->tets[at] != 13)
        at++;
    mesh->tets[at] = 27;
    assert_only(mesh, SINEW_FLAW_DUPLICATE_VERTEX, 27, 13);
    int32_t map[28];
    sinew_mesh *good = sinew_mesh_fix(mesh, 0, map, NULL);
    assert_true(same_mesh(good, box));
    assert_string_equal(sinew_mesh_warnings(good), "1 vertices merged into others");
    for (int32_t v = 0; v < 28; v++)
        assert_int_equal(map[v], v == 27 ? 13 : v);
    sinew_mesh_destroy(good);
    /* A negative merge distance keeps duplicates. */
    good = sinew_mesh_fix(mesh, -1, NULL, NULL);
    assert_true(same_mesh(good, mesh));
    sinew_mesh_destroy(good);
    mesh->tets[at] = 13;
    set_point(mesh, 27, -0.0, 0, -0.0);
    sinew_mesh_report report;
    sinew_flaw flaws[2];
    assert_int_equal(check(mesh, &report, flaws, 2), 2);
    assert_int_equal(flaws[0].kind, SINEW_FLAW_DUPLICATE_VERTEX);
    assert_int_equal(flaws[0].other, 0);
    assert_int_equal(flaws[1].kind, SINEW_FLAW_UNUSED_VERTEX);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(box);
}

static void unused_vertex_is_found_and_dropped(void **state)
{
    (void)state;
    sinew_mesh *box = box_mesh(3);
    sinew_mesh *mesh = with_capacity(box, 1, 0, 0, 0);
    /* Moves the unused vertex to the front, so that all others are renumbered. */
    set_point(mesh, 0, 7, 7, 7);
    memcpy(mesh->positions + 3, box->positions, 81 * sizeof *box->positions);
    for (int32_t i = 0; i < 4 * mesh->tet_count; i++)
        mesh->tets[i]++;
    assert_only(mesh, SINEW_FLAW_UNUSED_VERTEX, 0, -1);
    int32_t map[28];
    sinew_mesh *good = sinew_mesh_fix(mesh, -1, map, NULL);
    assert_true(same_mesh(good, box));
    assert_string_equal(sinew_mesh_warnings(good), "1 unused vertices dropped");
    for (int32_t v = 0; v < 28; v++)
        assert_int_equal(map[v], v - 1);
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(box);
}

static void duplicate_cells_are_found_and_dropped(void **state)
{
    (void)state;
    sinew_cloth_def def = sinew_default_cloth_def();
    sinew_mesh *cloth = sinew_mesh_cloth(&def, NULL);
    sinew_mesh *mesh = with_capacity(cloth, 0, 0, 0, 1);
    /* Duplicates edge 30 in the other direction. */
    mesh->edges[2 * cloth->edge_count] = mesh->edges[61];
    mesh->edges[2 * cloth->edge_count + 1] = mesh->edges[60];
    assert_only(mesh, SINEW_FLAW_DUPLICATE_CELL, cloth->edge_count, 30);
    sinew_flaw flaw;
    sinew_mesh_check(mesh, NULL, &flaw, 1, NULL);
    assert_true(flaw.measure == 2);
    sinew_mesh *good = fixed(mesh, 0, "1 duplicate edges dropped");
    assert_true(same_mesh(good, cloth));
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(cloth);

    sinew_mesh *box = box_mesh(3);
    mesh = with_capacity(box, 0, 1, 0, 0);
    /* Duplicates a boundary tet with three vertices rotated cyclically, which keeps the volume. */
    const int32_t again[4] = {box->tets[4 * 7 + 1], box->tets[4 * 7 + 2], box->tets[4 * 7], box->tets[4 * 7 + 3]};
    memcpy(mesh->tets + 4 * box->tet_count, again, sizeof again);
    sinew_mesh_report report;
    sinew_flaw flaws[8];
    check(mesh, &report, flaws, 8);
    assert_int_equal(report.counts[SINEW_FLAW_DUPLICATE_CELL], 1);
    assert_int_equal(flaws[0].kind, SINEW_FLAW_DUPLICATE_CELL);
    assert_int_equal(flaws[0].element, box->tet_count);
    assert_int_equal(flaws[0].other, 7);
    assert_true(flaws[0].measure == 4);
    good = fixed(mesh, 0, "1 duplicate tets dropped");
    assert_true(same_mesh(good, box));
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(box);
}

/* Three tetrahedra on one face; the third overlaps the second, but each is valid by itself. */
static void non_manifold_face_is_found(void **state)
{
    (void)state;
    sinew_mesh_def def = sinew_default_mesh_def();
    const sinew_real positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1, 0, 0, 1, (sinew_real)0.4, (sinew_real)0.4, 1};
    const int32_t tets[] = {0, 2, 1, 3, 0, 1, 2, 4, 1, 2, 0, 5};
    def.vertex_count = 6;
    def.positions = positions;
    def.tet_count = 3;
    def.tets = tets;
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    assert_only(mesh, SINEW_FLAW_NON_MANIFOLD_FACE, 0, 1);
    sinew_flaw flaw;
    sinew_mesh_report report;
    check(mesh, &report, &flaw, 1);
    assert_true(flaw.measure == 3);
    /* Nine outer faces, three at the common face, whose edges are used three times each. */
    assert_false(report.closed_surface);
    sinew_mesh_destroy(mesh);
}

static void non_manifold_edge_is_found(void **state)
{
    (void)state;
    sinew_mesh_def def = sinew_default_mesh_def();
    const sinew_real positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0};
    const int32_t triangles[] = {0, 1, 2, 1, 0, 3, 1, 0, 4};
    def.vertex_count = 5;
    def.positions = positions;
    def.triangle_count = 3;
    def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    assert_only(mesh, SINEW_FLAW_NON_MANIFOLD_EDGE, 0, 1);
    sinew_mesh_report report;
    check(mesh, &report, NULL, 0);
    assert_int_equal(report.boundary_edge_count, 6);
    sinew_mesh_destroy(mesh);
}

/* ---- Orientation ----------------------------------------------------------------------------- */

static void flipped_triangle_is_found_and_turned(void **state)
{
    (void)state;
    sinew_cloth_def def = sinew_default_cloth_def();
    sinew_mesh *cloth = sinew_mesh_cloth(&def, NULL);
    sinew_mesh *mesh = with_capacity(cloth, 0, 0, 0, 0);
    exchange(&mesh->triangles[3 * 101], &mesh->triangles[3 * 101 + 1]);
    sinew_flaw flaw;
    sinew_mesh_report report;
    assert_int_equal(check(mesh, &report, &flaw, 1), 1);
    assert_int_equal(flaw.kind, SINEW_FLAW_FLIPPED_TRIANGLE);
    assert_int_equal(flaw.element, 101);
    assert_int_equal(flaw.other, 98); /* its neighbour with the lowest index, in the cell before */
    sinew_mesh *good = fixed(mesh, 0, "1 triangles flipped");
    sinew_mesh_destroy(good);
    /* The first triangle may be the flipped one: the majority defines the orientation. */
    exchange(&mesh->triangles[3 * 101], &mesh->triangles[3 * 101 + 1]);
    exchange(&mesh->triangles[1], &mesh->triangles[2]);
    assert_only(mesh, SINEW_FLAW_FLIPPED_TRIANGLE, 0, 1);
    good = fixed(mesh, 0, "1 triangles flipped");
    assert_true(same_mesh(good, cloth));
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(cloth);
}

static void closed_surface_faces_outwards(void **state)
{
    (void)state;
    sinew_mesh *surface = ball_surface();
    double volume = enclosed_volume(surface);
    assert_true(volume > 0.4);
    /* All triangles but three are inside out: the fix must flip the majority. */
    for (int32_t t = 0; t < surface->triangle_count; t++)
        if (t != 4 && t != 50 && t != 51)
            exchange(&surface->triangles[3 * t + 1], &surface->triangles[3 * t + 2]);
    sinew_mesh_report report;
    sinew_flaw flaws[512];
    assert_true(check(surface, &report, flaws, 512) <= 512);
    assert_true(report.closed_surface);
    assert_int_equal(report.counts[SINEW_FLAW_FLIPPED_TRIANGLE], 3);
    int32_t found[3], n = 0;
    for (int64_t i = 0; i < 512 && n < 3; i++)
        if (flaws[i].kind == SINEW_FLAW_FLIPPED_TRIANGLE)
            found[n++] = flaws[i].element;
    const int32_t planted[3] = {4, 50, 51};
    assert_memory_equal(found, planted, sizeof planted);
    sinew_mesh *good = fixed(surface, -1, "triangles flipped");
    assert_true(fabs(enclosed_volume(good) - volume) < 10 * CLOSE);
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(surface);
}

/* A Moebius strip of eight quads: at one edge no flip helps; the edge is reported and kept. */
static void one_sided_surface_is_named(void **state)
{
    (void)state;
    sinew_mesh *mesh = sinew_mesh_allocate(NULL, 16, 0, 16, 0, NULL);
    for (int32_t i = 0; i < 8; i++) {
        double angle = 2 * 3.14159265358979 * i / 8;
        for (int side = 0; side < 2; side++) {
            double r = 1 + (side ? 0.3 : -0.3) * cos(angle / 2);
            set_point(mesh, 2 * i + side, r * cos(angle), r * sin(angle), (side ? 0.3 : -0.3) * sin(angle / 2));
        }
        int32_t a = 2 * i, b = 2 * i + 1, c = i < 7 ? 2 * i + 2 : 1, d = i < 7 ? 2 * i + 3 : 0;
        const int32_t both[6] = {a, b, d, a, d, c};
        memcpy(mesh->triangles + 6 * i, both, sizeof both);
    }
    sinew_mesh_report report;
    sinew_flaw flaws[16];
    assert_true(check(mesh, &report, flaws, 16) >= 1);
    assert_true(report.counts[SINEW_FLAW_FLIPPED_TRIANGLE] >= 1);
    sinew_mesh *once = sinew_mesh_fix(mesh, 0, NULL, NULL), *twice = sinew_mesh_fix(once, 0, NULL, NULL);
    assert_non_null(strstr(sinew_mesh_warnings(once), "one side only"));
    assert_true(same_mesh(once, twice));
    sinew_mesh_destroy(once);
    sinew_mesh_destroy(twice);
    sinew_mesh_destroy(mesh);
}

/* ---- Merging at a distance ------------------------------------------------------------------- */

/* Reference: each vertex against all kept vertices, one after the other. */
static void merging_agrees_with_brute_force(void **state)
{
    (void)state;
    sinew_allocator hooks = sinew_allocator_or_system(NULL);
    enum {
        COUNT = 500
    };
    sinew_real positions[3 * COUNT];
    uint32_t seed = 3;
    for (int i = 0; i < 3 * COUNT; i++) {
        seed = seed * 1664525u + 1013904223u;
        positions[i] = (sinew_real)(seed >> 8) / (sinew_real)(1 << 24) - (sinew_real)0.5;
    }
    const double distances[] = {0, 1e-300, 1e-9, 0.01, 0.1, 0.3, 5};
    for (size_t d = 0; d < sizeof distances / sizeof distances[0]; d++) {
        int32_t same[COUNT];
        assert_int_equal(sinew_same_vertices(&hooks, positions, COUNT, distances[d], same, NULL), SINEW_OK);
        for (int32_t v = 0; v < COUNT; v++) {
            int32_t expected = v;
            for (int32_t w = v - 1; w >= 0; w--) {
                const int32_t edge[2] = {w, v};
                if (same[w] == w && sinew_shape_of_edge(positions, edge) <= distances[d])
                    expected = w;
            }
            assert_int_equal(same[v], expected);
        }
    }
}

/* Triangles without shared vertices, as in an STL file, become one surface. */
static void loose_triangles_are_sewn_together(void **state)
{
    (void)state;
    sinew_mesh *surface = ball_surface();
    int32_t count = surface->triangle_count;
    sinew_mesh *loose = sinew_mesh_allocate(NULL, 3 * count, 0, count, 0, NULL);
    for (int32_t i = 0; i < 3 * count; i++) {
        const sinew_real *p = surface->positions + 3 * (size_t)surface->triangles[i];
        set_point(loose, i, (double)p[0] + 1e-4 * (i % 3), (double)p[1], (double)p[2]);
        loose->triangles[i] = i;
    }
    sinew_mesh_report report;
    check(loose, &report, NULL, 0);
    assert_int_equal(report.component_count, count);
    assert_false(report.closed_surface);
    sinew_mesh *sewn = fixed(loose, 1e-3, "vertices merged into others");
    check(sewn, &report, NULL, 0);
    assert_int_equal(report.component_count, 1);
    assert_true(report.closed_surface);
    assert_int_equal(sewn->vertex_count, 2 + count / 2); /* V - E + F = 2 */
    sinew_mesh_destroy(sewn);
    sinew_mesh_destroy(loose);
    sinew_mesh_destroy(surface);
}

static void merging_everything_leaves_nothing(void **state)
{
    (void)state;
    sinew_mesh *box = box_mesh(3);
    int32_t map[27];
    sinew_mesh *nothing = sinew_mesh_fix(box, 10, map, NULL);
    assert_int_equal(nothing->vertex_count + nothing->tet_count, 0);
    for (int32_t v = 0; v < 27; v++)
        assert_int_equal(map[v], -1);
    sinew_mesh_report report;
    assert_int_equal(check(nothing, &report, NULL, 0), 0);
    assert_false(report.closed_surface);
    sinew_mesh_destroy(nothing);
    sinew_error error;
    assert_null(sinew_mesh_fix(box, NAN, NULL, &error));
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    sinew_mesh_destroy(box);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* A mesh with all kinds of flaws. They are listed by kind, then by element; a short array gets the first ones. */
static sinew_mesh *ruined_mesh(const sinew_allocator *allocator, sinew_error *error)
{
    sinew_mesh *mesh = sinew_mesh_allocate(allocator, 12, 5, 4, 3, error);
    if (!mesh)
        return NULL;
    const double points[12][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0},        {0, 0, -1}, {0, 0, 1}, {0.4, 0.4, 1},
                                  {5, 5, 5}, {1, 0, 0}, {0.3, 0.3, 0.01}, {0, -1, 0}, {2, 2, 0}, {3, 1, 0}};
    const int32_t tets[20] = {0, 1, 2, 3, 0, 1, 2, 4, 1, 2, 0, 5, 0, 1, 2, 2, 0, 1, 2, 8};
    const int32_t triangles[12] = {10, 11, 9, 10, 11, 2, 10, 2, 11, 9, 9, 9}, edges[6] = {1, 7, 4, 5, 5, 4};
    for (int32_t v = 0; v < 12; v++)
        set_point(mesh, v, points[v][0], points[v][1], points[v][2]);
    memcpy(mesh->tets, tets, sizeof tets);
    memcpy(mesh->triangles, triangles, sizeof triangles);
    memcpy(mesh->edges, edges, sizeof edges);
    return mesh;
}

static void flaws_come_in_order(void **state)
{
    (void)state;
    sinew_mesh *mesh = ruined_mesh(NULL, NULL);
    sinew_mesh_report report;
    sinew_flaw all[64], few[4];
    int64_t count = check(mesh, &report, all, 64);
    assert_in_range(count, 9, 64);
    for (int64_t n = 1; n < count; n++)
        assert_true(all[n].kind > all[n - 1].kind ||
                    (all[n].kind == all[n - 1].kind &&
                     (all[n].element > all[n - 1].element || all[n].kind == SINEW_FLAW_DUPLICATE_CELL ||
                      all[n].kind == SINEW_FLAW_NON_MANIFOLD_FACE)));
    const sinew_flaw_kind present[] = {SINEW_FLAW_INVERTED_TET,      SINEW_FLAW_DEGENERATE_TET,
                                       SINEW_FLAW_SLIVER_TET,        SINEW_FLAW_DEGENERATE_TRIANGLE,
                                       SINEW_FLAW_DEGENERATE_EDGE,   SINEW_FLAW_DUPLICATE_VERTEX,
                                       SINEW_FLAW_UNUSED_VERTEX,     SINEW_FLAW_DUPLICATE_CELL,
                                       SINEW_FLAW_NON_MANIFOLD_FACE, SINEW_FLAW_NON_MANIFOLD_EDGE};
    for (size_t k = 0; k < sizeof present / sizeof present[0]; k++)
        assert_true(report.counts[present[k]] >= 1);
    few[3].element = -99;
    assert_int_equal(sinew_mesh_check(mesh, NULL, few, 3, NULL), count);
    for (int n = 0; n < 3; n++)
        assert_true(few[n].kind == all[n].kind && few[n].element == all[n].element && few[n].other == all[n].other &&
                    few[n].measure == all[n].measure);
    assert_int_equal(few[3].element, -99);
    sinew_mesh_destroy(mesh);
}

static void names_and_mistakes(void **state)
{
    (void)state;
    for (int kind = 0; kind < SINEW_FLAW_COUNT; kind++)
        assert_true(strlen(sinew_flaw_name((sinew_flaw_kind)kind)) > 5);
    assert_string_equal(sinew_flaw_name(SINEW_FLAW_INVERTED_TET), "inverted tet");
    assert_string_equal(sinew_flaw_name((sinew_flaw_kind)-1), "unknown flaw");
    sinew_error error;
    assert_true(sinew_mesh_check(NULL, NULL, NULL, 0, &error) < 0);
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
    assert_null(sinew_mesh_fix(NULL, 0, NULL, &error));
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int which = 0; which < 3; which++) {
        failing_allocator memory = {0};
        sinew_allocator hooks = hooks_of(&memory);
        bool done = false;
        for (memory.fail_at = 1; !done; memory.fail_at++) {
            memory.calls = 0;
            sinew_error error = {0};
            sinew_mesh *mesh = which < 2 ? ruined_mesh(&hooks, &error) : NULL, *good = NULL;
            if (which == 2) {
                sinew_box_def def = sinew_default_box_def();
                def.allocator = hooks;
                mesh = sinew_mesh_box(&def, &error);
            }
            if (mesh && which == 1)
                done = (good = sinew_mesh_fix(mesh, 0, NULL, &error)) != NULL;
            else if (mesh)
                done = sinew_mesh_check(mesh, NULL, NULL, 0, &error) >= 0;
            sinew_mesh_destroy(good);
            sinew_mesh_destroy(mesh);
            assert_int_equal(memory.live, 0);
            assert_int_equal(error.status, done ? SINEW_OK : SINEW_ERROR_MEMORY);
        }
        assert_true(memory.fail_at > 15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sound_meshes_have_no_flaws),
        cmocka_unit_test(pieces_are_counted),
        cmocka_unit_test(shape_does_not_depend_on_size),
        cmocka_unit_test(inverted_tet_is_found_and_turned),
        cmocka_unit_test(degenerate_tets_are_found_and_dropped),
        cmocka_unit_test(sliver_is_found_and_stays),
        cmocka_unit_test(degenerate_triangle_and_edge),
        cmocka_unit_test(duplicate_vertex_is_found_and_merged),
        cmocka_unit_test(unused_vertex_is_found_and_dropped),
        cmocka_unit_test(duplicate_cells_are_found_and_dropped),
        cmocka_unit_test(non_manifold_face_is_found),
        cmocka_unit_test(non_manifold_edge_is_found),
        cmocka_unit_test(flipped_triangle_is_found_and_turned),
        cmocka_unit_test(closed_surface_faces_outwards),
        cmocka_unit_test(one_sided_surface_is_named),
        cmocka_unit_test(merging_agrees_with_brute_force),
        cmocka_unit_test(loose_triangles_are_sewn_together),
        cmocka_unit_test(merging_everything_leaves_nothing),
        cmocka_unit_test(flaws_come_in_order),
        cmocka_unit_test(names_and_mistakes),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
