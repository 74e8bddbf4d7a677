/* SPDX-License-Identifier: MIT
 *
 * test_mesh.c: the mesh object, its surface and skeleton, topology, colours, the Hilbert order and selections, each
 * against a slower independent computation.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "mesh/mesh.h"
#include "base/sort_pairs.h"
#include "mesh/topology.h"

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static sinew_mesh *box_mesh(int32_t nx, int32_t ny, int32_t nz)
{
    sinew_box_def def = sinew_default_box_def();
    def.vertices[0] = nx;
    def.vertices[1] = ny;
    def.vertices[2] = nz;
    return sinew_mesh_box(&def, NULL);
}

/* Two tetrahedra with a common face, a lone triangle, an edge, and an unused vertex. */
static const sinew_real mixed_positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1,
                                             1, 2, 0, 0, 2, 1, 0, 2, 0, 1, 9, 9, 9};
static const int32_t mixed_tets[] = {0, 1, 2, 3, 1, 2, 3, 4};
static const int32_t mixed_triangles[] = {5, 6, 7};
static const int32_t mixed_edges[] = {7, 0};

static sinew_mesh_def mixed_def(void)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 9;
    def.positions = mixed_positions;
    def.tet_count = 2;
    def.tets = mixed_tets;
    def.triangle_count = 1;
    def.triangles = mixed_triangles;
    def.edge_count = 1;
    def.edges = mixed_edges;
    return def;
}

/* ---- The object ------------------------------------------------------------------------------ */

static void mesh_is_a_copy(void **state)
{
    (void)state;
    sinew_mesh_def def = mixed_def();
    sinew_error error;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    assert_non_null(mesh);
    assert_int_equal(error.status, SINEW_OK);
    assert_int_equal(sinew_mesh_vertex_count(mesh), 9);
    assert_int_equal(sinew_mesh_tet_count(mesh), 2);
    assert_int_equal(sinew_mesh_triangle_count(mesh), 1);
    assert_int_equal(sinew_mesh_edge_count(mesh), 1);
    assert_ptr_not_equal(sinew_mesh_positions(mesh), mixed_positions);
    assert_memory_equal(sinew_mesh_positions(mesh), mixed_positions, sizeof mixed_positions);
    assert_memory_equal(sinew_mesh_tets(mesh), mixed_tets, sizeof mixed_tets);
    assert_memory_equal(sinew_mesh_triangles(mesh), mixed_triangles, sizeof mixed_triangles);
    assert_memory_equal(sinew_mesh_edges(mesh), mixed_edges, sizeof mixed_edges);
    assert_string_equal(sinew_mesh_warnings(mesh), "");
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(NULL);
}

static void empty_mesh_is_fine(void **state)
{
    (void)state;
    sinew_mesh_def def = sinew_default_mesh_def();
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    assert_non_null(mesh);
    sinew_mesh *surface = sinew_mesh_surface(mesh, NULL);
    sinew_mesh *skeleton = sinew_mesh_skeleton(mesh, NULL);
    assert_int_equal(sinew_mesh_triangle_count(surface), 0);
    assert_int_equal(sinew_mesh_edge_count(skeleton), 0);
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(skeleton);
    sinew_mesh_destroy(mesh);
}

static void count_assertion(const char *condition, const char *file, int line, void *context)
{
    (void)condition;
    (void)file;
    (void)line;
    ++*(int *)context;
}

static void callers_mistakes_are_safe(void **state)
{
    (void)state;
    int asserted = 0;
    sinew_set_assert_handler(count_assertion, &asserted);
    sinew_error error;
    sinew_mesh_def garbage = {0};
    assert_null(sinew_mesh_create(&garbage, &error));
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
    assert_null(sinew_mesh_create(NULL, &error));
    sinew_mesh_def def = mixed_def();
    def.tets = NULL;
    assert_null(sinew_mesh_create(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
    assert_null(sinew_mesh_surface(NULL, &error));
    assert_null(sinew_mesh_skeleton(NULL, &error));
    assert_null(sinew_mesh_moved(NULL, NULL, &error));
    assert_int_equal(sinew_mesh_vertex_count(NULL), 0);
    assert_null(sinew_mesh_positions(NULL));
    assert_string_equal(sinew_mesh_warnings(NULL), "");
    assert_int_equal(sinew_region_select(NULL, NULL, 0, NULL, 0), 0);
    assert_int_equal(asserted, 10);
    sinew_set_assert_handler(NULL, NULL);
}

static void bad_data_is_named(void **state)
{
    (void)state;
    sinew_error error;
    sinew_mesh_def def = mixed_def();
    const int32_t tets[] = {0, 1, 2, 3, 1, 2, 9, 4};
    def.tets = tets;
    assert_null(sinew_mesh_create(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "tet 1 refers to vertex 9"));

    def = mixed_def();
    const int32_t edges[] = {7, -1};
    def.edges = edges;
    assert_null(sinew_mesh_create(&def, &error));
    assert_non_null(strstr(error.text, "edge 0 refers to vertex -1"));

    def = mixed_def();
    sinew_real positions[27];
    memcpy(positions, mixed_positions, sizeof positions);
    positions[13] = NAN;
    def.positions = positions;
    assert_null(sinew_mesh_create(&def, &error));
    assert_non_null(strstr(error.text, "vertex 4 has y = "));

    def = mixed_def();
    def.triangle_count = -5;
    assert_null(sinew_mesh_create(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "negative"));
}

static void notes_gather_line_by_line(void **state)
{
    (void)state;
    sinew_mesh_def def = mixed_def();
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    assert_int_equal(sinew_mesh_add_warning(mesh, "%d quads ignored", 12), SINEW_OK);
    assert_string_equal(sinew_mesh_warnings(mesh), "12 quads ignored");
    assert_int_equal(sinew_mesh_add_warning(mesh, "%s", "done"), SINEW_OK);
    assert_string_equal(sinew_mesh_warnings(mesh), "12 quads ignored\ndone");
    sinew_mesh_destroy(mesh);
}

static void moved_mesh_keeps_its_cells(void **state)
{
    (void)state;
    sinew_mesh *mesh = box_mesh(3, 4, 5);
    size_t count = 3 * (size_t)mesh->vertex_count;
    sinew_real *positions = malloc(count * sizeof *positions);
    for (size_t i = 0; i < count; i++)
        positions[i] = 2 * mesh->positions[i] + 1;
    sinew_mesh *moved = sinew_mesh_moved(mesh, positions, NULL);
    assert_memory_equal(moved->positions, positions, count * sizeof *positions);
    assert_memory_equal(moved->tets, mesh->tets, 4 * (size_t)mesh->tet_count * sizeof *mesh->tets);
    positions[5] = INFINITY;
    sinew_error error;
    assert_null(sinew_mesh_moved(mesh, positions, &error));
    assert_non_null(strstr(error.text, "vertex 1 has z"));
    sinew_mesh_destroy(moved);
    sinew_mesh_destroy(mesh);
    free(positions);
}

/* ---- Surface and skeleton -------------------------------------------------------------------- */

static void surface_of_two_tets(void **state)
{
    (void)state;
    sinew_mesh_def def = mixed_def();
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    sinew_mesh *surface = sinew_mesh_surface(mesh, NULL);
    /* Eight faces, one of them shared by both tets; the mesh's own triangles and tets are dropped, its edges kept. */
    assert_int_equal(surface->triangle_count, 6);
    assert_int_equal(surface->tet_count, 0);
    assert_int_equal(surface->edge_count, 1);
    assert_int_equal(surface->vertex_count, 9);
    double centre[3] = {0.4, 0.4, 0.4}; /* inside the convex pair */
    for (int32_t t = 0; t < 6; t++) {
        const int32_t *v = surface->triangles + 3 * t;
        assert_false(v[0] + v[1] + v[2] == 6 && v[0] != 0 && v[1] != 0 && v[2] != 0);
        double e[3][3];
        for (int k = 0; k < 3; k++) {
            double a = (double)mixed_positions[3 * v[0] + k];
            e[0][k] = (double)mixed_positions[3 * v[1] + k] - a;
            e[1][k] = (double)mixed_positions[3 * v[2] + k] - a;
            e[2][k] = a - centre[k];
        }
        double outward = e[2][0] * (e[0][1] * e[1][2] - e[0][2] * e[1][1]) +
                         e[2][1] * (e[0][2] * e[1][0] - e[0][0] * e[1][2]) +
                         e[2][2] * (e[0][0] * e[1][1] - e[0][1] * e[1][0]);
        assert_true(outward > 0);
    }
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(mesh);
}

static void surface_without_tets_is_its_triangles(void **state)
{
    (void)state;
    sinew_cloth_def def = sinew_default_cloth_def();
    sinew_mesh *mesh = sinew_mesh_cloth(&def, NULL);
    sinew_mesh *surface = sinew_mesh_surface(mesh, NULL);
    assert_int_equal(surface->triangle_count, mesh->triangle_count);
    assert_memory_equal(surface->triangles, mesh->triangles, 3 * (size_t)mesh->triangle_count * sizeof(int32_t));
    assert_int_equal(surface->edge_count, mesh->edge_count);
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(mesh);
}

/* The surface faces outward also if two vertices of a boundary tet are exchanged. */
static void surface_of_inverted_tet_points_out(void **state)
{
    (void)state;
    sinew_mesh *good = box_mesh(3, 3, 3);
    sinew_mesh *bad = box_mesh(3, 3, 3);
    for (int32_t t = 0; t < bad->tet_count; t += 3) {
        int32_t swap = bad->tets[4 * t];
        bad->tets[4 * t] = bad->tets[4 * t + 1];
        bad->tets[4 * t + 1] = swap;
    }
    sinew_mesh *a = sinew_mesh_surface(good, NULL), *b = sinew_mesh_surface(bad, NULL);
    assert_int_equal(a->triangle_count, b->triangle_count);
    double enclosed[2] = {0};
    for (int which = 0; which < 2; which++) {
        const sinew_mesh *s = which ? b : a;
        for (int32_t t = 0; t < s->triangle_count; t++) {
            const sinew_real *p = s->positions + 3 * s->triangles[3 * t],
                             *q = s->positions + 3 * s->triangles[3 * t + 1];
            const sinew_real *r = s->positions + 3 * s->triangles[3 * t + 2];
            enclosed[which] += (double)(p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) +
                                        p[2] * (q[0] * r[1] - q[1] * r[0])) /
                               6;
        }
        assert_true(fabs(enclosed[which] - 1) < 1e-5);
    }
    sinew_mesh_destroy(a);
    sinew_mesh_destroy(b);
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(bad);
}

static void skeleton_matches_a_table_of_pairs(void **state)
{
    (void)state;
    sinew_mesh_def def = mixed_def();
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    sinew_mesh *skeleton = sinew_mesh_skeleton(mesh, NULL);
    bool joined[9][9] = {{false}};
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                joined[mixed_tets[4 * t + i]][mixed_tets[4 * t + j]] = true;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            joined[mixed_triangles[i]][mixed_triangles[j]] = true;
    joined[0][7] = joined[7][0] = true;
    int32_t n = 0;
    for (int a = 0; a < 9; a++)
        for (int b = a + 1; b < 9; b++)
            if (joined[a][b]) {
                assert_true(n < skeleton->edge_count);
                assert_int_equal(skeleton->edges[2 * n], a);
                assert_int_equal(skeleton->edges[2 * n + 1], b);
                n++;
            }
    assert_int_equal(n, skeleton->edge_count);
    assert_int_equal(skeleton->tet_count + skeleton->triangle_count, 0);
    sinew_mesh_destroy(skeleton);
    sinew_mesh_destroy(mesh);
}

/* ---- Topology -------------------------------------------------------------------------------- */

static void incidence_lists_each_element_once(void **state)
{
    (void)state;
    sinew_allocator hooks = sinew_allocator_or_system(NULL);
    sinew_mesh *mesh = box_mesh(3, 3, 4);
    mesh->tets[5] = mesh->tets[4]; /* a degenerate tet, which lists a vertex twice */
    sinew_elements tets = {mesh->tets, mesh->tet_count, 4};
    sinew_incidence incidence;
    assert_int_equal(sinew_incidence_build(&incidence, &hooks, mesh->vertex_count, &tets, NULL), SINEW_OK);
    for (int32_t v = 0; v < mesh->vertex_count; v++) {
        int64_t at = incidence.first[v];
        for (int32_t t = 0; t < mesh->tet_count; t++) {
            const int32_t *w = mesh->tets + 4 * t;
            if (w[0] == v || w[1] == v || w[2] == v || w[3] == v)
                assert_int_equal(incidence.elements[at++], t);
        }
        assert_int_equal(at, incidence.first[v + 1]);
    }
    sinew_incidence_free(&incidence, &hooks);
    sinew_mesh_destroy(mesh);
}

static void components_are_numbered_by_lowest_vertex(void **state)
{
    (void)state;
    /* Components {1, 4, 6}, {2, 3}, {5, 7}; 0 and 8 are unused. */
    const int32_t triangles[] = {6, 4, 1}, edges[] = {3, 2, 7, 5};
    const sinew_elements lists[] = {{triangles, 1, 3}, {edges, 2, 2}};
    int32_t component[9];
    const int32_t expected[9] = {-1, 0, 1, 1, 0, 2, 0, 2, -1};
    assert_int_equal(sinew_components(9, lists, 2, component), 3);
    assert_memory_equal(component, expected, sizeof expected);
}

/* A long chain listed from its far end is the worst case of union-find trees. */
static void components_join_a_long_chain(void **state)
{
    (void)state;
    enum {
        COUNT = 100000
    };
    int32_t *edges = malloc(2 * (COUNT - 1) * sizeof *edges), *component = malloc(COUNT * sizeof *component);
    for (int32_t i = 0; i < COUNT - 1; i++) {
        edges[2 * i] = COUNT - 1 - i;
        edges[2 * i + 1] = COUNT - 2 - i;
    }
    const sinew_elements list = {edges, COUNT - 1, 2};
    assert_int_equal(sinew_components(COUNT, &list, 1, component), 1);
    for (int32_t i = 0; i < COUNT; i++)
        assert_int_equal(component[i], 0);
    free(edges);
    free(component);
}

/* First fit by definition: the lowest colour that no earlier element with a common vertex has. */
static void element_colours_are_first_fit(void **state)
{
    (void)state;
    sinew_allocator hooks = sinew_allocator_or_system(NULL);
    sinew_mesh *mesh = box_mesh(4, 4, 4);
    sinew_elements tets = {mesh->tets, mesh->tet_count, 4};
    int32_t *colours = malloc((size_t)mesh->tet_count * sizeof *colours), count = 0, largest = 0;
    assert_int_equal(sinew_colour_elements(&hooks, mesh->vertex_count, &tets, colours, &count, NULL), SINEW_OK);
    for (int32_t e = 0; e < mesh->tet_count; e++) {
        uint64_t taken = 0;
        for (int32_t f = 0; f < e; f++)
            for (int n = 0; n < 16; n++)
                if (mesh->tets[4 * e + n / 4] == mesh->tets[4 * f + n % 4])
                    taken |= (uint64_t)1 << colours[f];
        int32_t expected = 0;
        while (taken >> expected & 1)
            expected++;
        assert_int_equal(colours[e], expected);
        largest = expected > largest ? expected : largest;
    }
    assert_int_equal(count, largest + 1);
    free(colours);
    sinew_mesh_destroy(mesh);
}

/* A hub with 200 spokes needs 200 colours: more than one word of 64 bits. */
static void many_colours_are_possible(void **state)
{
    (void)state;
    sinew_allocator hooks = sinew_allocator_or_system(NULL);
    int32_t edges[400], colours[200], count = 0;
    for (int32_t e = 0; e < 200; e++) {
        edges[2 * e] = 0;
        edges[2 * e + 1] = e + 1;
    }
    const sinew_elements list = {edges, 200, 2};
    assert_int_equal(sinew_colour_elements(&hooks, 201, &list, colours, &count, NULL), SINEW_OK);
    assert_int_equal(count, 200);
    for (int32_t e = 0; e < 200; e++)
        assert_int_equal(colours[e], e);
    int32_t vertex_colours[201];
    assert_int_equal(sinew_colour_vertices(&hooks, 201, &list, 1, vertex_colours, &count, NULL), SINEW_OK);
    assert_int_equal(count, 2);
}

static void vertex_colours_share_no_element(void **state)
{
    (void)state;
    sinew_allocator hooks = sinew_allocator_or_system(NULL);
    sinew_mesh *mesh = box_mesh(5, 6, 7);
    /* Springs across the box in addition to the tets. */
    int32_t springs[40];
    uint32_t seed = 7;
    for (int i = 0; i < 40; i++)
        springs[i] = (int32_t)(next_random(&seed) % (uint32_t)mesh->vertex_count);
    const sinew_elements lists[] = {{mesh->tets, mesh->tet_count, 4}, {springs, 20, 2}};
    int32_t *colours = malloc((size_t)mesh->vertex_count * sizeof *colours), count = 0;
    assert_int_equal(sinew_colour_vertices(&hooks, mesh->vertex_count, lists, 2, colours, &count, NULL), SINEW_OK);
    for (int l = 0; l < 2; l++)
        for (int32_t e = 0; e < lists[l].count; e++)
            for (int32_t i = 0; i < lists[l].size; i++)
                for (int32_t j = 0; j < i; j++) {
                    int32_t a = lists[l].vertices[e * lists[l].size + i], b = lists[l].vertices[e * lists[l].size + j];
                    assert_true(a == b || colours[a] != colours[b]);
                }
    assert_in_range(count, 4, 8);

    int32_t *first = malloc(((size_t)count + 1) * sizeof *first);
    int32_t *order = malloc((size_t)mesh->vertex_count * sizeof *order);
    sinew_colour_groups(colours, mesh->vertex_count, count, first, order);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[count], mesh->vertex_count);
    for (int32_t c = 0; c < count; c++)
        for (int32_t n = first[c]; n < first[c + 1]; n++) {
            assert_int_equal(colours[order[n]], c);
            assert_true(n == first[c] || order[n] > order[n - 1]);
        }
    free(first);
    free(order);
    free(colours);
    sinew_mesh_destroy(mesh);
}

/* ---- Sorting and the Hilbert order ----------------------------------------------------------- */

static int compare_pairs(const void *left, const void *right)
{
    const sinew_pair *a = left, *b = right;
    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    return a->minor < b->minor ? -1 : a->minor > b->minor;
}

static void sort_agrees_with_qsort(void **state)
{
    (void)state;
    const size_t counts[] = {0, 1, 2, 15, 16, 17, 31, 32, 33, 100, 1000, 4097};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        size_t n = counts[c];
        sinew_pair *a = malloc((2 * n + 1) * sizeof *a), *b = malloc((n + 1) * sizeof *b);
        uint32_t seed = (uint32_t)n;
        for (size_t i = 0; i < n; i++)
            a[i] = b[i] = (sinew_pair){next_random(&seed) % (n / 2 + 1) * 0x100000001u, i};
        sinew_sort_pairs(a, n, a + n);
        qsort(b, n, sizeof *b, compare_pairs);
        assert_memory_equal(a, b, n * sizeof *a);
        free(a);
        free(b);
    }
}

/* On a full 2^k grid consecutive cells of a Hilbert curve are adjacent: every step has length one. */
static void hilbert_steps_have_length_one(void **state)
{
    (void)state;
    sinew_allocator hooks = sinew_allocator_or_system(NULL);
    for (int k = 0; k < 3; k++) {
        const sinew_real scale = (const sinew_real[]){1, (sinew_real)1e-30, (sinew_real)1e30}[k];
        enum {
            N = 16,
            COUNT = N * N * N
        };
        sinew_real *positions = malloc(3 * COUNT * sizeof *positions);
        int32_t *order = malloc(COUNT * sizeof *order);
        for (int32_t i = 0; i < COUNT; i++) {
            /* The 16 points along an edge fall one by one into its 16 coarsest cells. */
            positions[3 * i] = scale * (sinew_real)(i % N);
            positions[3 * i + 1] = scale * (sinew_real)(i / N % N);
            positions[3 * i + 2] = scale * (sinew_real)(i / N / N);
        }
        assert_int_equal(sinew_hilbert_order(&hooks, positions, COUNT, order, NULL), SINEW_OK);
        bool *seen = calloc(COUNT, sizeof *seen);
        for (int32_t i = 0; i < COUNT; i++) {
            assert_false(seen[order[i]]);
            seen[order[i]] = true;
            if (i == 0)
                continue;
            int32_t a = order[i - 1], b = order[i];
            int32_t step = abs(a % N - b % N) + abs(a / N % N - b / N % N) + abs(a / N / N - b / N / N);
            assert_int_equal(step, 1);
        }
        free(seen);
        free(order);
        free(positions);
    }
}

static void hilbert_order_keeps_ties_and_extremes(void **state)
{
    (void)state;
    sinew_allocator hooks = sinew_allocator_or_system(NULL);
    int32_t order[6];
    const sinew_real one_place[18] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    assert_int_equal(sinew_hilbert_order(&hooks, one_place, 6, order, NULL), SINEW_OK);
    for (int32_t i = 0; i < 6; i++)
        assert_int_equal(order[i], i);
#ifdef SINEW_SINGLE
    const sinew_real huge = 3e38f;
#else
    const sinew_real huge = 1.7e308;
#endif
    /* The extent overflows; the order still follows the line. */
    const sinew_real line[18] = {huge, 0, 0, -huge, 0, 0, 0, 0, 0, huge / 2, 0, 0, -huge / 2, 0, 0, huge, 0, 0};
    assert_int_equal(sinew_hilbert_order(&hooks, line, 6, order, NULL), SINEW_OK);
    assert_int_equal(order[0] == 1 ? order[5] : order[0], order[0] == 1 ? 5 : 0);
    assert_true(order[2] == 2 || order[3] == 2);
    assert_int_equal(sinew_hilbert_order(&hooks, NULL, 0, NULL, NULL), SINEW_OK);
}

/* ---- Selections ------------------------------------------------------------------------------ */

static void regions_select_what_they_say(void **state)
{
    (void)state;
    sinew_mesh *mesh = box_mesh(11, 11, 11);
    const sinew_real *x = mesh->positions;
    int32_t indices[1331];

    /* 0.1 * 3 is not 0.3: points on the border are still selected. */
    sinew_region box = {.kind = SINEW_REGION_BOX, .b = {(sinew_real)0.3, (sinew_real)0.3, (sinew_real)0.3}};
    assert_int_equal(sinew_region_select(&box, x, 1331, indices, 1331), 4 * 4 * 4);
    for (int n = 1; n < 64; n++)
        assert_true(indices[n] > indices[n - 1]);
    assert_int_equal(sinew_region_select(&box, x, 1331, NULL, 0), 64);
    indices[3] = -7;
    assert_int_equal(sinew_region_select(&box, x, 1331, indices, 3), 64);
    assert_int_equal(indices[3], -7);

    sinew_region flat = {.kind = SINEW_REGION_BOX, .a = {(sinew_real)0.7, 0, 0}, .b = {(sinew_real)0.7, 1, 1}};
    assert_int_equal(sinew_region_select(&flat, x, 1331, NULL, 0), 121);

    sinew_region sphere = {.kind = SINEW_REGION_SPHERE,
                           .a = {(sinew_real)0.5, (sinew_real)0.5, (sinew_real)0.5},
                           .radius = (sinew_real)0.3};
    int32_t inside = 0;
    for (int i = -5; i <= 5; i++)
        for (int j = -5; j <= 5; j++)
            for (int k = -5; k <= 5; k++)
                inside += i * i + j * j + k * k <= 9;
    assert_int_equal(sinew_region_select(&sphere, x, 1331, NULL, 0), inside);
    sphere.radius = -1;
    assert_int_equal(sinew_region_select(&sphere, x, 1331, NULL, 0), 0);

    sinew_region half = {.kind = SINEW_REGION_HALF_SPACE, .a = {1, 0, 0}, .b = {1, 0, 0}};
    assert_int_equal(sinew_region_select(&half, x, 1331, NULL, 0), 121);

    sinew_region nearest = {.kind = SINEW_REGION_NEAREST, .a = {(sinew_real)0.52, (sinew_real)0.48, 2}};
    assert_int_equal(sinew_region_select(&nearest, x, 1331, indices, 1331), 1);
    assert_int_equal(indices[0], 5 + 11 * (5 + 11 * 10));
    const sinew_real twins[] = {1, 0, 0, -1, 0, 0};
    sinew_region between = {.kind = SINEW_REGION_NEAREST};
    assert_int_equal(sinew_region_select(&between, twins, 2, indices, 1), 1);
    assert_int_equal(indices[0], 0);
    assert_int_equal(sinew_region_select(&between, twins, 0, indices, 1), 0);
    sinew_mesh_destroy(mesh);
}

/* The selection of the header's hello world. */
static void beam_end_is_selected(void **state)
{
    (void)state;
    sinew_beam_def def = sinew_default_beam_def();
    sinew_mesh *mesh = sinew_mesh_beam(&def, NULL);
    sinew_region end = {SINEW_REGION_HALF_SPACE, {(sinew_real)-1.5, 0, 0}, {-1, 0, 0}, 0};
    assert_int_equal(sinew_region_select(&end, mesh->positions, mesh->vertex_count, NULL, 0), 25);
    sinew_mesh_destroy(mesh);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static sinew_mesh *derive(int which, const sinew_mesh_def *def, sinew_error *error)
{
    sinew_mesh *mesh = sinew_mesh_create(def, error), *result = NULL;
    if (mesh && which == 0)
        result = sinew_mesh_surface(mesh, error);
    if (mesh && which == 1)
        result = sinew_mesh_skeleton(mesh, error);
    if (mesh && which == 2)
        result = sinew_mesh_moved(mesh, def->positions, error);
    if (mesh && which == 3 && sinew_mesh_add_warning(mesh, "note") == SINEW_OK) {
        result = mesh;
        mesh = NULL;
    } else if (mesh && which == 3) {
        error->status = SINEW_ERROR_MEMORY;
    }
    sinew_mesh_destroy(mesh);
    return result;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        failing_allocator memory = {0};
        sinew_mesh_def def = mixed_def();
        def.allocator = hooks_of(&memory);
        for (memory.fail_at = 1;; memory.fail_at++) {
            memory.calls = 0;
            sinew_error error = {0};
            sinew_mesh *mesh = derive(which, &def, &error);
            if (mesh) {
                sinew_mesh_destroy(mesh);
                assert_int_equal(memory.live, 0);
                break;
            }
            assert_int_equal(error.status, SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
        assert_true(memory.fail_at > 5);
    }
}

static void topology_allocations_may_fail(void **state)
{
    (void)state;
    sinew_mesh *mesh = box_mesh(3, 3, 3);
    sinew_elements tets = {mesh->tets, mesh->tet_count, 4};
    int32_t numbers[64], count;
    const int32_t pair[2] = {0, 26};
    const sinew_elements added = {pair, 1, 2};
    for (int which = 0; which < 4; which++) {
        failing_allocator memory = {0};
        sinew_allocator hooks = hooks_of(&memory);
        sinew_status status = SINEW_ERROR_MEMORY;
        memset(numbers, 0, sizeof numbers);
        for (memory.fail_at = 1; status != SINEW_OK; memory.fail_at++) {
            memory.calls = 0;
            sinew_error error = {0};
            if (which == 0)
                status = sinew_colour_elements(&hooks, 27, &tets, numbers, &count, &error);
            else if (which == 1)
                status = sinew_colour_vertices(&hooks, 27, &tets, 1, numbers, &count, &error);
            else if (which == 2)
                status = sinew_recolour_vertices(&hooks, 27, &tets, 1, &added, numbers, &count, &error);
            else
                status = sinew_hilbert_order(&hooks, mesh->positions, 27, numbers, &error);
            assert_int_equal(error.status, status);
            assert_true(status == SINEW_OK || status == SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
        assert_true(memory.fail_at > 2);
    }
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mesh_is_a_copy),
        cmocka_unit_test(empty_mesh_is_fine),
        cmocka_unit_test(callers_mistakes_are_safe),
        cmocka_unit_test(bad_data_is_named),
        cmocka_unit_test(notes_gather_line_by_line),
        cmocka_unit_test(moved_mesh_keeps_its_cells),
        cmocka_unit_test(surface_of_two_tets),
        cmocka_unit_test(surface_without_tets_is_its_triangles),
        cmocka_unit_test(surface_of_inverted_tet_points_out),
        cmocka_unit_test(skeleton_matches_a_table_of_pairs),
        cmocka_unit_test(incidence_lists_each_element_once),
        cmocka_unit_test(components_are_numbered_by_lowest_vertex),
        cmocka_unit_test(components_join_a_long_chain),
        cmocka_unit_test(element_colours_are_first_fit),
        cmocka_unit_test(many_colours_are_possible),
        cmocka_unit_test(vertex_colours_share_no_element),
        cmocka_unit_test(sort_agrees_with_qsort),
        cmocka_unit_test(hilbert_steps_have_length_one),
        cmocka_unit_test(hilbert_order_keeps_ties_and_extremes),
        cmocka_unit_test(regions_select_what_they_say),
        cmocka_unit_test(beam_end_is_selected),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(topology_allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
