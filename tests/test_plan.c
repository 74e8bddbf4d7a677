/* SPDX-License-Identifier: MIT
 *
 * test_plan.c: a batch layout keeps every element and vertex, its fans have the structure that kernels expect, and few
 * tets are outside fans. Also for lists that are no mesh: a tet twice, three tets at a face, a vertex twice in a tet.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "energy/batch_layout.h"
#include "make_world.h"

/* Indices of the vertices of a fan's tets among its points. */
static const int points_of[SINEW_FAN][4] = {{0, 1, 2, 3}, {0, 1, 2, 4}, {0, 1, 4, 5}};

static void sort_four(int32_t v[4])
{
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++)
            if (v[j] < v[i]) {
                const int32_t swap = v[i];
                v[i] = v[j];
                v[j] = swap;
            }
}

static void check_same_tets(int32_t count, const int32_t *before, const int32_t *after)
{
    for (int32_t e = 0; e < count; e++) {
        int32_t a[4], b[4];
        memcpy(a, before + 4 * e, sizeof a);
        memcpy(b, after + 4 * e, sizeof b);
        sort_four(a);
        sort_four(b);
        assert_memory_equal(a, b, sizeof a);
    }
}

/* The tets of a fan refer to common points consistently. */
static void check_fan(const int32_t *order, int32_t size, const int32_t *tets)
{
    int32_t points[SINEW_FAN + 3];
    for (int32_t k = 0; k < size; k++)
        for (int a = 0; a < 4; a++) {
            const int32_t vertex = tets[4 * order[k] + a], point = points_of[k][a];
            if (k == 0 || point == k + 3)
                points[point] = vertex;
            assert_int_equal(points[point], vertex);
        }
}

/* Lays out the tets and checks the whole layout; fans [3] receives the number of fans of each size. */
static void check_plan(int32_t count, const int32_t *tets, int32_t particle_count, int32_t fans[SINEW_FAN])
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    int32_t *planned = malloc(4 * (size_t)count * sizeof *planned), *seen = calloc((size_t)count, sizeof *seen);
    assert_true(planned && seen);
    memcpy(planned, tets, 4 * (size_t)count * sizeof *planned);
    sinew_batch_layout layout = {0};
    assert_true(sinew_batch_layout_make(&layout, &allocator, count, 4, particle_count, true, planned));
    check_same_tets(count, tets, planned);
    memset(fans, 0, SINEW_FAN * sizeof *fans);
    for (int32_t chunk = 0; chunk < layout.chunk_count; chunk++) {
        const int32_t *order = layout.order + chunk * SINEW_CHUNK_ELEMENTS, *const begin = order;
        for (int32_t size = SINEW_FAN; size >= 1; size--)
            for (int32_t i = 0; i < layout.fans[chunk][size - 1]; i++, order += size, fans[size - 1]++)
                check_fan(order, size, planned);
        assert_int_equal(order - begin, sinew_batch_layout_chunk_size(&layout, chunk));
    }
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(seen[layout.order[i]]++, 0);
    sinew_batch_layout_release(&layout, &allocator);
    free(planned);
    free(seen);
}

static void check_mesh(const char *name, sinew_mesh *mesh, double alone_max)
{
    int32_t fans[SINEW_FAN];
    const int32_t count = sinew_mesh_tet_count(mesh);
    check_plan(count, sinew_mesh_tets(mesh), sinew_mesh_vertex_count(mesh), fans);
    printf("%s, %d tets: %.1f %% in fans of three, %.1f %% of two, %.1f %% alone\n", name, count,
           300.0 * fans[2] / count, 200.0 * fans[1] / count, 100.0 * fans[0] / count);
    assert_true(fans[0] <= alone_max * count);
    sinew_mesh_destroy(mesh);
}

static void test_meshes(void **state)
{
    (void)state;
    sinew_error error;
    sinew_box_def box = sinew_default_box_def();
    for (int i = 0; i < 3; i++)
        box.vertices[i] = 24;
    check_mesh("block", sinew_mesh_box(&box, &error), 0.05);
    const sinew_round_def ball = sinew_default_round_def();
    check_mesh("ball", sinew_mesh_ball(&ball, &error), 0.08);
    check_mesh("one cell", make_beam(1, 1, 1, 1, 1, 1), 0.4);
}

/* Few particles, so that tets share faces in every way, coincide, or use a particle twice. */
static void test_any_list(void **state)
{
    (void)state;
    uint32_t random = 1;
    for (int round = 0; round < 300; round++) {
        enum {
            MOST = 4000
        };
        static int32_t tets[4 * MOST];
        const int32_t count = 1 + round * 13 % MOST, particles = 1 + round % 40;
        for (int32_t i = 0; i < 4 * count; i++) {
            random = random * 1664525u + 1013904223u;
            tets[i] = (int32_t)((random >> 8) % (uint32_t)particles);
        }
        int32_t fans[SINEW_FAN];
        check_plan(count, tets, particles, fans);
    }
}

/* Elements of other stencils keep their vertices and form no fans. */
static void test_edges(void **state)
{
    (void)state;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    int32_t edges[] = {4, 3, 0, 1, 2, 0, 3, 3};
    const int32_t same[] = {4, 3, 0, 1, 2, 0, 3, 3}, expected[] = {1, 2, 0, 3};
    sinew_batch_layout layout = {0};
    assert_true(sinew_batch_layout_make(&layout, &allocator, 4, 2, 5, false, edges));
    assert_memory_equal(edges, same, sizeof same);
    assert_memory_equal(layout.order, expected, sizeof expected);
    assert_int_equal(layout.fans[0][0], 4);
    assert_int_equal(layout.fans[0][1] + layout.fans[0][2], 0);
    sinew_batch_layout_release(&layout, &allocator);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_any_list),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
