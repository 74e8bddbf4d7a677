/* SPDX-License-Identifier: MIT
 *
 * test_generators.c: every mesh generator: exact counts, conforming and positively oriented cells, volume, shape of the
 * surface, and refusal of invalid parameters. Conformity is checked by brute force, independent of the library.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "mesh/mesh.h"

#define PI 3.14159265358979323846
#ifdef SINEW_SINGLE
#define EXACT 2e-6
#else
#define EXACT 1e-13
#endif

/* ---- Independent measures ---------------------------------------------------------------------- */

/* The volume of a tet by the divergence theorem over its faces. */
static double volume_of(const sinew_mesh *mesh, int32_t t)
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const sinew_real *o = mesh->positions + 3 * (size_t)mesh->tets[4 * (size_t)t];
    double sum = 0;
    for (int f = 0; f < 4; f++) {
        double p[3][3];
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[i][k] =
                    (double)mesh->positions[3 * (size_t)mesh->tets[4 * (size_t)t + (size_t)faces[f][i]] + (size_t)k] -
                    (double)o[k];
        sum += p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) - p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
               p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
    }
    return sum / 6;
}

static double total_volume(const sinew_mesh *mesh)
{
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_count; t++)
        sum += volume_of(mesh, t);
    return sum;
}

static double quality_of(const sinew_mesh *mesh, int32_t t)
{
    double sum = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < i; j++)
            for (int k = 0; k < 3; k++) {
                double d = (double)mesh->positions[3 * (size_t)mesh->tets[4 * (size_t)t + (size_t)i] + (size_t)k] -
                           (double)mesh->positions[3 * (size_t)mesh->tets[4 * (size_t)t + (size_t)j] + (size_t)k];
                sum += d * d;
            }
    return 6 * sqrt(2) * volume_of(mesh, t) / pow(sum / 6, 1.5);
}

static double worst_quality(const sinew_mesh *mesh)
{
    double worst = INFINITY;
    for (int32_t t = 0; t < mesh->tet_count; t++)
        worst = fmin(worst, quality_of(mesh, t));
    return worst;
}

typedef struct face {
    int32_t v[3];
    int sign; /* sign of the permutation that sorts the face */
} face;

static int compare_faces(const void *left, const void *right)
{
    return memcmp(((const face *)left)->v, ((const face *)right)->v, sizeof((face *)0)->v);
}

static face sorted_face(int32_t a, int32_t b, int32_t c)
{
    face f = {{a, b, c}, 1};
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++)
            if (f.v[i] > f.v[i + 1]) {
                int32_t swap = f.v[i];
                f.v[i] = f.v[i + 1];
                f.v[i + 1] = swap;
                f.sign = -f.sign;
            }
    return f;
}

/* Every face belongs to one tet, or with opposite orientations to two. Returns the number of faces with one tet. */
static int32_t assert_conforming(const sinew_mesh *mesh)
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    size_t count = 4 * (size_t)mesh->tet_count;
    face *all = malloc(count * sizeof *all);
    for (size_t n = 0; n < count; n++) {
        const int32_t *tet = mesh->tets + n / 4 * 4;
        const int *f = faces[n % 4];
        all[n] = sorted_face(tet[f[0]], tet[f[1]], tet[f[2]]);
    }
    qsort(all, count, sizeof *all, compare_faces);
    int32_t single = 0;
    for (size_t begin = 0, end; begin < count; begin = end) {
        for (end = begin + 1; end < count && compare_faces(&all[begin], &all[end]) == 0;)
            end++;
        assert_in_range(end - begin, 1, 2);
        if (end - begin == 2)
            assert_int_equal(all[begin].sign + all[begin + 1].sign, 0);
        else
            single++;
    }
    free(all);
    return single;
}

/* V - E + F of the surface; every edge must have two triangles that traverse it in opposite directions. */
static int32_t surface_euler(const sinew_mesh *mesh)
{
    sinew_mesh *surface = sinew_mesh_surface(mesh, NULL);
    assert_non_null(surface);
    assert_int_equal(surface->triangle_count, assert_conforming(mesh));
    size_t count = 3 * (size_t)surface->triangle_count;
    face *all = malloc(count * sizeof *all);
    bool *used = calloc((size_t)surface->vertex_count, sizeof *used);
    for (size_t n = 0; n < count; n++) {
        const int32_t *triangle = surface->triangles + n / 3 * 3;
        all[n] = sorted_face(-1, triangle[n % 3], triangle[(n + 1) % 3]);
        used[triangle[n % 3]] = true;
    }
    qsort(all, count, sizeof *all, compare_faces);
    for (size_t n = 0; n < count; n += 2) {
        assert_int_equal(compare_faces(&all[n], &all[n + 1]), 0);
        assert_int_equal(all[n].sign + all[n + 1].sign, 0);
        assert_true(n + 2 == count || compare_faces(&all[n], &all[n + 2]) != 0);
    }
    int32_t vertices = 0;
    for (int32_t v = 0; v < surface->vertex_count; v++)
        vertices += used[v];
    int32_t euler = vertices - (int32_t)(count / 2) + surface->triangle_count;
    free(all);
    free(used);
    sinew_mesh_destroy(surface);
    return euler;
}

static void assert_sound(const sinew_mesh *mesh, double quality, int32_t euler)
{
    assert_non_null(mesh);
    for (int32_t t = 0; t < mesh->tet_count; t++)
        assert_true(volume_of(mesh, t) > 0);
    double worst = worst_quality(mesh);
    if (worst < quality)
        print_error("worst quality %.4f, %.4f is promised\n", worst, quality);
    assert_true(worst >= quality);
    assert_int_equal(surface_euler(mesh), euler);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void box_has_exact_counts(void **state)
{
    (void)state;
    sinew_box_def def = sinew_default_box_def();
    for (int k = 0; k < 3; k++)
        def.vertices[k] = 32;
    sinew_mesh *mesh = sinew_mesh_box(&def, NULL);
    assert_int_equal(sinew_mesh_vertex_count(mesh), 32768);
    assert_int_equal(sinew_mesh_tet_count(mesh), 148955);
    assert_int_equal(sinew_mesh_triangle_count(mesh), 0);
    assert_int_equal(sinew_mesh_edge_count(mesh), 0);
    sinew_mesh *surface = sinew_mesh_surface(mesh, NULL);
    assert_int_equal(sinew_mesh_triangle_count(surface), 6 * 31 * 31 * 2);
    sinew_mesh *skeleton = sinew_mesh_skeleton(mesh, NULL);
    /* Edges along the axes, and one diagonal in every face of a cell. */
    assert_int_equal(sinew_mesh_edge_count(skeleton), 3 * 32 * 32 * 31 + 3 * 32 * 31 * 31);
    sinew_mesh_destroy(skeleton);
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(mesh);
}

static void boxes_are_sound(void **state)
{
    (void)state;
    const int32_t counts[][3] = {{2, 2, 2}, {3, 3, 3}, {2, 3, 4}, {5, 4, 3}, {6, 6, 6}};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        sinew_box_def def = sinew_default_box_def();
        for (int k = 0; k < 3; k++) {
            def.vertices[k] = counts[c][k];
            def.origin[k] = (sinew_real)(0.3 * k - 1.7);
            def.size[k] = (sinew_real)(0.1 * (counts[c][k] - 1));
        }
        sinew_mesh *mesh = sinew_mesh_box(&def, NULL);
        assert_sound(mesh, 0.76, 2);
        double volume = (double)def.size[0] * (double)def.size[1] * (double)def.size[2];
        assert_true(fabs(total_volume(mesh) - volume) < EXACT * volume * 4);
        /* The last vertex equals the far corner to the bit. */
        for (int k = 0; k < 3; k++)
            assert_true(mesh->positions[3 * (size_t)mesh->vertex_count - 3 + (size_t)k] ==
                        (sinew_real)((double)def.origin[k] + (double)def.size[k]));
        sinew_mesh_destroy(mesh);
    }
}

static void beam_is_centred_and_exact(void **state)
{
    (void)state;
    sinew_beam_def def = sinew_default_beam_def();
    sinew_mesh *mesh = sinew_mesh_beam(&def, NULL);
    assert_int_equal(sinew_mesh_vertex_count(mesh), 13 * 5 * 5);
    assert_int_equal(sinew_mesh_tet_count(mesh), 12 * 4 * 4 * 5);
    assert_sound(mesh, 0.76, 2);
    assert_true(fabs(total_volume(mesh) - 3) < 3 * EXACT);
    double centre[3] = {0};
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        centre[i % 3] += (double)mesh->positions[i];
    for (int k = 0; k < 3; k++)
        assert_true(fabs(centre[k]) < EXACT * 100);
    sinew_mesh_destroy(mesh);
}

/* ---- Round bodies ---------------------------------------------------------------------------- */

typedef sinew_mesh *round_maker(const sinew_round_def *def, sinew_error *error);

static double ball_volume(const sinew_round_def *def)
{
    return 4.0 / 3 * PI * pow((double)def->radius, 3);
}

static double cylinder_volume(const sinew_round_def *def)
{
    return PI * pow((double)def->radius, 2) * (double)def->height;
}

static double torus_volume(const sinew_round_def *def)
{
    return 2 * PI * PI * (double)def->radius * pow(0.3 * (double)def->radius, 2);
}

static double tube_volume(const sinew_round_def *def)
{
    return PI * (1 - 0.36) * pow((double)def->radius, 2) * (double)def->height;
}

static const struct round_case {
    round_maker *make;
    double (*volume)(const sinew_round_def *def);
    int32_t euler;
    double quality;   /* minimum, for cells about as long as wide */
    int32_t cells[3]; /* segments, layers, rings of the coarsest body; doubled at each refinement */
} round_cases[] = {
    {sinew_mesh_ball, ball_volume, 2, 0.3, {4, 1, 1}},
    {sinew_mesh_cylinder, cylinder_volume, 2, 0.3, {4, 4, 1}},
    {sinew_mesh_torus, torus_volume, 0, 0.3, {12, 2, 1}},
    {sinew_mesh_tube, tube_volume, 0, 0.3, {12, 4, 1}},
};

static sinew_round_def round_def(const struct round_case *c, int32_t refinement)
{
    sinew_round_def def = sinew_default_round_def();
    def.segments = c->cells[0] * refinement;
    def.layers = c->cells[1] * refinement;
    def.rings = c->cells[2] * refinement;
    return def;
}

static void round_bodies_are_sound(void **state)
{
    (void)state;
    sinew_round_def defaults = sinew_default_round_def();
    for (int c = 0; c < 4; c++) {
        sinew_mesh *mesh = round_cases[c].make(&defaults, NULL);
        assert_sound(mesh, 0.3, round_cases[c].euler);
        sinew_mesh_destroy(mesh);
    }
    for (size_t n = 0; n < sizeof round_cases / sizeof round_cases[0]; n++)
        for (int32_t refinement = 1; refinement <= 3; refinement++) {
            sinew_round_def def = round_def(&round_cases[n], refinement);
            sinew_mesh *mesh = round_cases[n].make(&def, NULL);
            assert_sound(mesh, round_cases[n].quality, round_cases[n].euler);
            sinew_mesh_destroy(mesh);
        }
}

/* Halving the cells divides the volume deficit by four; the volume is too small since the body is inscribed. */
static void round_volumes_converge_at_second_order(void **state)
{
    (void)state;
    for (size_t n = 0; n < sizeof round_cases / sizeof round_cases[0]; n++) {
        double errors[3];
        for (int level = 0; level < 3; level++) {
            sinew_round_def def = round_def(&round_cases[n], 1 << level);
            sinew_mesh *mesh = round_cases[n].make(&def, NULL);
            errors[level] = 1 - total_volume(mesh) / round_cases[n].volume(&def);
            sinew_mesh_destroy(mesh);
        }
        assert_true(errors[2] > 0);
        for (int level = 0; level < 2; level++) {
            double order = log2(errors[level] / errors[level + 1]);
            assert_true(order > 1.8 && order < 2.3);
        }
    }
}

static void round_bodies_have_exact_counts(void **state)
{
    (void)state;
    sinew_round_def def = sinew_default_round_def();
    for (int32_t n = 3; n <= 7; n++)
        for (int32_t l = 1; l <= 3; l++) {
            def.segments = n;
            def.layers = l;
            def.rings = l + 1;
            int32_t e = n + n % 2, p = l + l % 2;
            const int32_t expected[4][2] = {{(e + 1) * (e + 1) * (e + 1), 6 * e * e * e},
                                            {(e + 1) * (e + 1) * (l + 1), 6 * e * e * l},
                                            {(p + 1) * (p + 1) * n, 6 * p * p * n},
                                            {n * (def.rings + 1) * (l + 1), 6 * n * def.rings * l}};
            for (int c = 0; c < 4; c++) {
                sinew_mesh *mesh = round_cases[c].make(&def, NULL);
                assert_int_equal(sinew_mesh_vertex_count(mesh), expected[c][0]);
                assert_int_equal(sinew_mesh_tet_count(mesh), expected[c][1]);
                /* Odd counts close up too; such flat cells have a poor quality but are valid. */
                assert_sound(mesh, 0, round_cases[c].euler);
                sinew_mesh_destroy(mesh);
            }
        }
}

/* The distance of a boundary vertex from the exact surface, by its implicit equation. */
static double off_surface(int kind, const sinew_round_def *def, const double x[3])
{
    double R = (double)def->radius, rho = hypot(x[0], x[1]), half = (double)def->height / 2;
    if (kind == 0)
        return fabs(sqrt(rho * rho + x[2] * x[2]) - R);
    if (kind == 1)
        return fmin(fabs(rho - R), fabs(fabs(x[2]) - half));
    if (kind == 2)
        return fabs(hypot(rho - R, x[2]) - 0.3 * R);
    return fmin(fmin(fabs(rho - R), fabs(rho - 0.6 * R)), fabs(fabs(x[2]) - half));
}

static void round_surfaces_lie_on_the_true_surface(void **state)
{
    (void)state;
    sinew_round_def def = sinew_default_round_def();
    for (int c = 0; c < 4; c++) {
        sinew_mesh *mesh = round_cases[c].make(&def, NULL);
        sinew_mesh *surface = sinew_mesh_surface(mesh, NULL);
        for (size_t i = 0; i < 3 * (size_t)surface->triangle_count; i++) {
            const sinew_real *p = surface->positions + 3 * (size_t)surface->triangles[i];
            const double x[3] = {(double)p[0], (double)p[1], (double)p[2]};
            assert_true(off_surface(c, &def, x) < EXACT);
        }
        sinew_mesh_destroy(surface);
        sinew_mesh_destroy(mesh);
    }
}

/* ---- Cloth and rope -------------------------------------------------------------------------- */

static void cloth_has_exact_counts(void **state)
{
    (void)state;
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = 81;
    for (int d = 0; d <= SINEW_DIAGONALS_CROSS; d++) {
        def.diagonals = (sinew_diagonals)d;
        sinew_mesh *mesh = sinew_mesh_cloth(&def, NULL);
        assert_int_equal(sinew_mesh_vertex_count(mesh), 6561);
        assert_int_equal(sinew_mesh_triangle_count(mesh), 12800);
        assert_int_equal(sinew_mesh_edge_count(mesh), d == SINEW_DIAGONALS_CROSS ? 19360 + 6400 : 19360);
        sinew_mesh_destroy(mesh);
    }
}

/* Whether the mesh has the edge a b. */
static bool has_edge(const sinew_mesh *mesh, int32_t a, int32_t b)
{
    for (int32_t e = 0; e < mesh->edge_count; e++) {
        const int32_t *edge = mesh->edges + 2 * (size_t)e;
        if ((edge[0] == a && edge[1] == b) || (edge[0] == b && edge[1] == a))
            return true;
    }
    return false;
}

static void cloth_cuts_the_chosen_diagonals(void **state)
{
    (void)state;
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = 4;
    def.vertices[1] = 5;
    for (int d = 0; d <= SINEW_DIAGONALS_CROSS; d++) {
        def.diagonals = (sinew_diagonals)d;
        sinew_mesh *mesh = sinew_mesh_cloth(&def, NULL);
        for (int32_t j = 0; j < 4; j++)
            for (int32_t i = 0; i < 3; i++) {
                bool even = (i + j) % 2 == 0;
                bool forward = d == SINEW_DIAGONALS_FORWARD || d == SINEW_DIAGONALS_CROSS ||
                               (d == SINEW_DIAGONALS_ALTERNATING && even);
                bool backward = d == SINEW_DIAGONALS_BACKWARD || d == SINEW_DIAGONALS_CROSS ||
                                (d == SINEW_DIAGONALS_ALTERNATING && !even);
                assert_int_equal(has_edge(mesh, i + 4 * j, i + 1 + 4 * (j + 1)), forward);
                assert_int_equal(has_edge(mesh, i + 1 + 4 * j, i + 4 * (j + 1)), backward);
            }
        sinew_mesh_destroy(mesh);
    }
}

/* Triangles face up, the area is exact, and with one diagonal the edges are those of the triangles. */
static void cloth_triangles_match_its_edges(void **state)
{
    (void)state;
    sinew_cloth_def def = sinew_default_cloth_def();
    def.size[0] = 2;
    def.size[1] = 3;
    for (int d = 0; d < SINEW_DIAGONALS_CROSS; d++) {
        def.diagonals = (sinew_diagonals)d;
        sinew_mesh *mesh = sinew_mesh_cloth(&def, NULL);
        double area = 0;
        for (int32_t t = 0; t < mesh->triangle_count; t++) {
            const int32_t *v = mesh->triangles + 3 * (size_t)t;
            const sinew_real *a = mesh->positions + 3 * v[0], *b = mesh->positions + 3 * v[1];
            const sinew_real *c = mesh->positions + 3 * v[2];
            double twice =
                (double)(b[0] - a[0]) * (double)(c[1] - a[1]) - (double)(b[1] - a[1]) * (double)(c[0] - a[0]);
            assert_true(twice > 0);
            area += twice / 2;
            for (int i = 0; i < 3; i++)
                assert_true(has_edge(mesh, v[i], v[(i + 1) % 3]));
        }
        assert_true(fabs(area - 6) < 60 * EXACT);
        sinew_mesh *skeleton = sinew_mesh_skeleton(mesh, NULL);
        assert_int_equal(skeleton->edge_count, mesh->edge_count);
        sinew_mesh_destroy(skeleton);
        sinew_mesh_destroy(mesh);
    }
}

static void rope_is_straight_and_even(void **state)
{
    (void)state;
    sinew_rope_def def = sinew_default_rope_def();
    def.vertices = 11;
    const sinew_real from[3] = {1, 2, 3}, to[3] = {(sinew_real)-0.3, 4, (sinew_real)0.7};
    memcpy(def.from, from, sizeof from);
    memcpy(def.to, to, sizeof to);
    sinew_mesh *mesh = sinew_mesh_rope(&def, NULL);
    assert_int_equal(sinew_mesh_edge_count(mesh), 10);
    double length = 0, direct = 0;
    for (int k = 0; k < 3; k++)
        direct += pow((double)to[k] - (double)from[k], 2);
    for (int32_t e = 0; e < 10; e++) {
        double squared = 0;
        assert_int_equal(mesh->edges[2 * e], e);
        assert_int_equal(mesh->edges[2 * e + 1], e + 1);
        for (int k = 0; k < 3; k++)
            squared += pow((double)mesh->positions[3 * e + 3 + k] - (double)mesh->positions[3 * e + k], 2);
        assert_true(fabs(sqrt(squared) - sqrt(direct) / 10) < 10 * EXACT);
        length += sqrt(squared);
    }
    assert_true(fabs(length - sqrt(direct)) < 20 * EXACT);
    assert_memory_equal(mesh->positions, from, sizeof from);
    assert_memory_equal(mesh->positions + 30, to, sizeof to);
    sinew_mesh_destroy(mesh);
}

static double edge_length(const sinew_mesh *mesh, int32_t e)
{
    const sinew_real *a = mesh->positions + 3 * mesh->edges[2 * e], *b = mesh->positions + 3 * mesh->edges[2 * e + 1];
    double squared = 0;
    for (int k = 0; k < 3; k++)
        squared += pow((double)a[k] - (double)b[k], 2);
    return sqrt(squared);
}

/* All vertices lie on a cylinder, edges have equal lengths that sum to the helix, and both ends are exact. */
static void coils_and_rings_are_even(void **state)
{
    (void)state;
    sinew_coil_def def = sinew_default_coil_def();
    def.turns = (sinew_real)2.5;
    def.vertices = 401;
    sinew_mesh *coil = sinew_mesh_coil(&def, NULL), *ring = sinew_mesh_ring(&def, NULL);
    assert_int_equal(coil->edge_count, 400);
    assert_int_equal(ring->edge_count, 401);
    assert_int_equal(ring->edges[2 * 400 + 1], 0);
    double length = 0;
    for (int32_t i = 0; i < 401; i++) {
        assert_true(fabs(hypot((double)coil->positions[3 * i], (double)coil->positions[3 * i + 1]) - 0.5) < 10 * EXACT);
        assert_true(fabs(hypot((double)ring->positions[3 * i], (double)ring->positions[3 * i + 1]) - 0.5) < 10 * EXACT);
        assert_true(ring->positions[3 * i + 2] == 0);
        assert_true(fabs(edge_length(ring, i) - edge_length(ring, 0)) < 10 * EXACT);
        length += i < 400 ? edge_length(coil, i) : 0;
    }
    assert_true(fabs(length / (2.5 * hypot(acos(-1), 0.2)) - 1) < 1e-4);
    assert_true(fabs((double)coil->positions[3 * 400] + 0.5) < 10 * EXACT);
    assert_true(fabs((double)coil->positions[3 * 400 + 2] - 0.5) < 10 * EXACT);
    sinew_mesh_destroy(coil);
    sinew_mesh_destroy(ring);
    def.vertices = 0;
    coil = sinew_mesh_coil(&def, NULL);
    ring = sinew_mesh_ring(&def, NULL);
    assert_int_equal(coil->vertex_count, 61);
    assert_int_equal(ring->vertex_count, 24);
    sinew_mesh_destroy(coil);
    sinew_mesh_destroy(ring);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

#define ASSERT_REFUSED(call, wanted, part)                                                                             \
    do {                                                                                                               \
        sinew_error error = {0};                                                                                       \
        assert_null(call);                                                                                             \
        assert_int_equal(error.status, wanted);                                                                        \
        if (!strstr(error.text, part))                                                                                 \
            fail_msg("\"%s\" does not say \"%s\"", error.text, part);                                                  \
    } while (0)

static void nonsense_is_refused(void **state)
{
    (void)state;
    sinew_box_def garbage = {0};
    ASSERT_REFUSED(sinew_mesh_box(&garbage, &error), SINEW_ERROR_USAGE, "sinew_default_box_def");
    ASSERT_REFUSED(sinew_mesh_box(NULL, &error), SINEW_ERROR_USAGE, "sinew_default_box_def");

    sinew_box_def box = sinew_default_box_def();
    box.vertices[1] = 1;
    ASSERT_REFUSED(sinew_mesh_box(&box, &error), SINEW_ERROR_DATA, "1 vertices along y");
    box = sinew_default_box_def();
    box.size[2] = 0;
    ASSERT_REFUSED(sinew_mesh_box(&box, &error), SINEW_ERROR_DATA, "size along z");
    box.size[2] = NAN;
    ASSERT_REFUSED(sinew_mesh_box(&box, &error), SINEW_ERROR_DATA, "size along z");
    box = sinew_default_box_def();
    box.origin[0] = INFINITY;
    ASSERT_REFUSED(sinew_mesh_box(&box, &error), SINEW_ERROR_DATA, "origin along x");
    /* Counts beyond memory, also beyond 64 bits. */
    box = sinew_default_box_def();
    for (int k = 0; k < 3; k++)
        box.vertices[k] = INT32_MAX;
    ASSERT_REFUSED(sinew_mesh_box(&box, &error), SINEW_ERROR_DATA, "vertices are more than");

    sinew_beam_def beam = sinew_default_beam_def();
    beam.cells[0] = 0;
    ASSERT_REFUSED(sinew_mesh_beam(&beam, &error), SINEW_ERROR_DATA, "0 cells along x");
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = -4;
    ASSERT_REFUSED(sinew_mesh_cloth(&cloth, &error), SINEW_ERROR_DATA, "-4 vertices along x");
    cloth = sinew_default_cloth_def();
    cloth.diagonals = (sinew_diagonals)9;
    ASSERT_REFUSED(sinew_mesh_cloth(&cloth, &error), SINEW_ERROR_DATA, "number 9");
    sinew_rope_def rope = sinew_default_rope_def();
    rope.to[0] = 0;
    ASSERT_REFUSED(sinew_mesh_rope(&rope, &error), SINEW_ERROR_DATA, "two different points");
    rope = sinew_default_rope_def();
    rope.vertices = 1;
    ASSERT_REFUSED(sinew_mesh_rope(&rope, &error), SINEW_ERROR_DATA, "at least 2");
}

static void coiled_nonsense_is_refused(void **state)
{
    (void)state;
    sinew_coil_def coil = {0};
    ASSERT_REFUSED(sinew_mesh_coil(&coil, &error), SINEW_ERROR_USAGE, "sinew_default_coil_def");
    ASSERT_REFUSED(sinew_mesh_ring(NULL, &error), SINEW_ERROR_USAGE, "sinew_default_coil_def");
    coil = sinew_default_coil_def();
    coil.radius = 0;
    ASSERT_REFUSED(sinew_mesh_ring(&coil, &error), SINEW_ERROR_DATA, "ring: the radius is 0 m");
    coil = sinew_default_coil_def();
    coil.turns = -1;
    ASSERT_REFUSED(sinew_mesh_coil(&coil, &error), SINEW_ERROR_DATA, "-1 turns");
    coil.turns = (sinew_real)1e9;
    ASSERT_REFUSED(sinew_mesh_coil(&coil, &error), SINEW_ERROR_DATA, "32-bit");
    coil = sinew_default_coil_def();
    coil.pitch = NAN;
    ASSERT_REFUSED(sinew_mesh_coil(&coil, &error), SINEW_ERROR_DATA, "the pitch is");
    coil = sinew_default_coil_def();
    coil.vertices = 2;
    ASSERT_REFUSED(sinew_mesh_ring(&coil, &error), SINEW_ERROR_DATA, "at least 3");
    coil.vertices = 1;
    ASSERT_REFUSED(sinew_mesh_coil(&coil, &error), SINEW_ERROR_DATA, "at least 2");
}

static void round_nonsense_is_refused(void **state)
{
    (void)state;
    for (int c = 0; c < 4; c++) {
        sinew_round_def def = sinew_default_round_def();
        def.radius = -1;
        ASSERT_REFUSED(round_cases[c].make(&def, &error), SINEW_ERROR_DATA, "radius is -1 m");
        def = sinew_default_round_def();
        def.segments = 1;
        ASSERT_REFUSED(round_cases[c].make(&def, &error), SINEW_ERROR_DATA, "segments is 1");
        def.segments = INT32_MAX;
        ASSERT_REFUSED(round_cases[c].make(&def, &error), SINEW_ERROR_DATA, "segments is 2147483647");
        ASSERT_REFUSED(round_cases[c].make(NULL, &error), SINEW_ERROR_USAGE, "sinew_default_round_def");
    }
    for (int c = 1; c < 4; c++) {
        sinew_round_def def = sinew_default_round_def();
        def.layers = 0;
        ASSERT_REFUSED(round_cases[c].make(&def, &error), SINEW_ERROR_DATA, "layers is 0");
    }
    for (int c = 2; c < 4; c++) {
        sinew_round_def def = sinew_default_round_def();
        def.inner_radius = (sinew_real)0.5;
        ASSERT_REFUSED(round_cases[c].make(&def, &error), SINEW_ERROR_DATA, "must be less than radius");
        def.inner_radius = (sinew_real)-0.5;
        ASSERT_REFUSED(round_cases[c].make(&def, &error), SINEW_ERROR_DATA, "inner_radius is -0.5");
    }
    sinew_round_def tube = sinew_default_round_def();
    tube.rings = 0;
    ASSERT_REFUSED(sinew_mesh_tube(&tube, &error), SINEW_ERROR_DATA, "rings is 0");
    sinew_round_def cylinder = sinew_default_round_def();
    cylinder.height = 0;
    ASSERT_REFUSED(sinew_mesh_cylinder(&cylinder, &error), SINEW_ERROR_DATA, "height is 0");
    ASSERT_REFUSED(sinew_mesh_can(&cylinder, &error), SINEW_ERROR_DATA, "height 0 m");
    ASSERT_REFUSED(sinew_mesh_can(NULL, &error), SINEW_ERROR_USAGE, "sinew_default_round_def");
    sinew_round_def can = sinew_default_round_def();
    can.segments = 2;
    ASSERT_REFUSED(sinew_mesh_can(&can, &error), SINEW_ERROR_DATA, "2 segments around");
    can.segments = 0;
    can.layers = 0;
    ASSERT_REFUSED(sinew_mesh_can(&can, &error), SINEW_ERROR_DATA, "0 layers");
    can.segments = INT32_MAX;
    can.layers = 3;
    ASSERT_REFUSED(sinew_mesh_can(&can, &error), SINEW_ERROR_DATA, "");
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void *little_memory(void *context, size_t size, size_t alignment)
{
    (void)context;
    return size > 1 << 20 ? NULL : aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void free_little(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* The largest values of every field of a def, alone and combined, are refused by count or for lack of memory. */
static void greatest_numbers_are_refused(void **state)
{
    (void)state;
    const sinew_allocator little = {little_memory, free_little, NULL};
    const int32_t max = INT32_MAX;
    for (unsigned mask = 1; mask < 8; mask++) {
        sinew_box_def box = sinew_default_box_def();
        sinew_beam_def beam = sinew_default_beam_def();
        sinew_cloth_def cloth = sinew_default_cloth_def();
        sinew_round_def round = sinew_default_round_def();
        sinew_rope_def rope = sinew_default_rope_def();
        sinew_mesh *mesh = NULL;
        box.allocator = beam.allocator = cloth.allocator = round.allocator = rope.allocator = little;
        for (int k = 0; k < 3; k++) {
            box.vertices[k] = mask >> k & 1 ? max : 2;
            beam.cells[k] = mask >> k & 1 ? max : 1;
            if (k < 2)
                cloth.vertices[k] = mask >> k & 1 ? max : 2;
        }
        round.segments = mask & 1 ? max - 1 : 4;
        round.layers = mask & 2 ? max - 1 : 4;
        round.rings = mask & 4 ? max - 1 : 4;
        rope.vertices = max - (int32_t)mask + 1;
        mesh = mesh ? mesh : sinew_mesh_box(&box, NULL);
        mesh = mesh ? mesh : sinew_mesh_beam(&beam, NULL);
        mesh = mesh ? mesh : sinew_mesh_rope(&rope, NULL);
        for (int diagonals = 0; diagonals <= SINEW_DIAGONALS_CROSS && mask & 3; diagonals++) {
            cloth.diagonals = (sinew_diagonals)diagonals;
            mesh = mesh ? mesh : sinew_mesh_cloth(&cloth, NULL);
        }
        assert_null(mesh);
        assert_null(sinew_mesh_tube(&round, NULL));
        assert_true((mask & 1) == 0 || !sinew_mesh_ball(&round, NULL));
        assert_true((mask & 3) == 0 || (!sinew_mesh_cylinder(&round, NULL) && !sinew_mesh_torus(&round, NULL)));
    }
}

static sinew_mesh *make_any(int which, sinew_allocator hooks, sinew_error *error)
{
    sinew_box_def box = sinew_default_box_def();
    sinew_beam_def beam = sinew_default_beam_def();
    sinew_round_def round = sinew_default_round_def();
    sinew_cloth_def cloth = sinew_default_cloth_def();
    sinew_rope_def rope = sinew_default_rope_def();
    sinew_coil_def coil = sinew_default_coil_def();
    box.allocator = beam.allocator = round.allocator = cloth.allocator = rope.allocator = coil.allocator = hooks;
    switch (which) {
    case 0:
        return sinew_mesh_box(&box, error);
    case 1:
        return sinew_mesh_beam(&beam, error);
    case 2:
        return sinew_mesh_cloth(&cloth, error);
    case 3:
        return sinew_mesh_rope(&rope, error);
    case 4:
        return sinew_mesh_ring(&coil, error);
    default:
        return round_cases[which - 5].make(&round, error);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (int which = 0; which < 9; which++) {
        failing_allocator memory = {0};
        for (memory.fail_at = 1;; memory.fail_at++) {
            memory.calls = 0;
            sinew_error error = {0};
            sinew_mesh *mesh = make_any(which, hooks_of(&memory), &error);
            if (mesh) {
                assert_true(memory.fail_at > 4);
                sinew_mesh_destroy(mesh);
                assert_int_equal(memory.live, 0);
                break;
            }
            assert_int_equal(error.status, SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_has_exact_counts),
        cmocka_unit_test(boxes_are_sound),
        cmocka_unit_test(beam_is_centred_and_exact),
        cmocka_unit_test(round_bodies_are_sound),
        cmocka_unit_test(round_volumes_converge_at_second_order),
        cmocka_unit_test(round_bodies_have_exact_counts),
        cmocka_unit_test(round_surfaces_lie_on_the_true_surface),
        cmocka_unit_test(cloth_has_exact_counts),
        cmocka_unit_test(cloth_cuts_the_chosen_diagonals),
        cmocka_unit_test(cloth_triangles_match_its_edges),
        cmocka_unit_test(rope_is_straight_and_even),
        cmocka_unit_test(coils_and_rings_are_even),
        cmocka_unit_test(coiled_nonsense_is_refused),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(round_nonsense_is_refused),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(greatest_numbers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
