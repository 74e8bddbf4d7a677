/* SPDX-License-Identifier: MIT
 *
 * test_sweep.c: the order of coloured sweeps. Concurrent elements share no particle, every element occurs once, a sweep
 * processes it, and the bits do not depend on the number of threads: for bodies with and without domains.
 */
#include "make_world.h"

#include "solve/constraint_sweep/sweep.h"
#include "world/world.h"

static const sinew_sweep_rule coloured = {.order = SINEW_SWEEP_COLOURED};

/* A block of n^3 slightly displaced particles, with coloured XPBD sweeps. */
static sinew_world *make_block(int32_t n, sinew_energy_kind kind, int32_t threads)
{
    sinew_error error = {0};
    sinew_box_def box = sinew_default_box_def();
    for (int i = 0; i < 3; i++)
        box.vertices[i] = n;
    sinew_mesh *mesh = sinew_mesh_box(&box, &error);
    must(&error);
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_XPBD, "symmetric")] = 1;
    def.solver.iterations = 3;
    sinew_world *world = make_world(&def);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = sinew_world_add_body(world, &body, &error);
    sinew_world_add_energy(world, &energy, &error);
    must(&error);
    sinew_mesh_destroy(mesh);
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++)
        if (i % 4 != 3)
            world->q[i] += (sinew_real)(0.1 / n * ((double)(i * 2654435761u % 1000) / 1000 - 0.5));
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
    return world;
}

/* Marks the particles of the groups of one row with `mark`; none may have a mark from `min` on. */
static void mark_row(const sinew_sweep_batch *b, int32_t row, int32_t mark, int32_t min, int32_t *marks, int32_t *seen)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (size_t place = (size_t)b->first_group[row] * W; place < (size_t)b->first_group[row + 1] * W; place++) {
        if (b->element[place] < 0)
            continue;
        seen[b->element[place]]++;
        for (size_t a = 0; a < n; a++) {
            int32_t *own = &marks[b->vertex[(place / W * n + a) * W + place % W] / SINEW_POINT];
            assert_true(*own < min || (*own == mark && mark < 0));
            *own = mark;
        }
    }
}

/* The number of groups in the domains of one level. */
static int32_t level_groups(const sinew_sweep_batch *b, int32_t level)
{
    return b->first_group[b->domains.first[level + 1] * b->colour_count] -
           b->first_group[b->domains.first[level] * b->colour_count];
}

static void check_layout(int32_t n, sinew_energy_kind kind, bool is_cut)
{
    sinew_world *world = make_block(n, kind, 1);
    sinew_sweep sweep;
    sinew_error error = {0};
    assert_int_equal(sinew_sweep_create(&sweep, &world->objective, &coloured, &error), SINEW_OK);
    const sinew_sweep_batch *b = &sweep.batches[0];
    const int32_t colours = b->colour_count, levels = b->domains.level_count;
    const int32_t domains = levels > 0 ? b->domains.first[levels] : 1;
    int32_t *marks = make_array((size_t)world->particle_count, sizeof *marks);
    int32_t *seen = make_array((size_t)b->source->element_count, sizeof *seen);
    assert_int_equal(levels > 0, is_cut);
    /* Groups of one row share no particle. */
    int32_t mark = 0;
    for (int32_t row = 0; row < domains * colours; row++) {
        mark++;
        mark_row(b, row, mark, mark, marks, seen);
    }
    for (int32_t e = 0; e < b->source->element_count; e++)
        assert_int_equal(seen[e], 1);
    /* Domains of one level share no particle. */
    for (int32_t level = 0; level < levels; level++) {
        for (int32_t i = 0; i < world->particle_count; i++)
            marks[i] = -domains - 1;
        for (int32_t row = b->domains.first[level] * colours; row < b->domains.first[level + 1] * colours; row++)
            mark_row(b, row, row / colours - domains, -domains, marks, seen);
    }
    /* Nearly all elements between the halves are on one of two sides. */
    const int32_t sides = is_cut ? level_groups(b, levels - 2) : 0, rest = is_cut ? level_groups(b, levels - 1) : 0;
    assert_true(4 * sides < b->group_count && 2 * rest <= sides);
    printf("%s, %d particles: %d domains in %d levels, %d colours; of %d groups %d on the sides between the halves, "
           "%d on neither\n",
           sinew_get_energy_info(kind)->name, world->particle_count, domains, levels, colours, b->group_count, sides,
           rest);
    free(marks);
    free(seen);
    sinew_sweep_destroy(&sweep);
    sinew_world_destroy(world);
}

static void test_layout(void **state)
{
    (void)state;
    check_layout(24, SINEW_ENERGY_STRAIN, true);
    check_layout(24, SINEW_ENERGY_SPRING, true);
    check_layout(8, SINEW_ENERGY_STRAIN, false);
}

/* Takes one step with `threads` threads; returns positions and multipliers. */
static sinew_world *step_block(int32_t n, sinew_energy_kind kind, int32_t threads, sinew_real **lambda, int32_t *count)
{
    sinew_world *world = make_block(n, kind, threads);
    sinew_error error = {0};
    sinew_step_result result;
    sinew_world_step(world, &result);
    assert_int_equal(result.bits & SINEW_STEP_NOT_FINITE, 0);
    sinew_energy_multipliers(world, (sinew_energy){.index = 0}, 0, NULL, count, &error);
    *lambda = make_array((size_t)*count, sizeof **lambda);
    assert_int_equal(sinew_energy_multipliers(world, (sinew_energy){.index = 0}, *count, *lambda, count, &error),
                     SINEW_OK);
    return world;
}

static void check_threads(int32_t n, sinew_energy_kind kind)
{
    sinew_real *lambda, *other;
    int32_t count, other_count;
    sinew_world *one = step_block(n, kind, 1, &lambda, &count);
    for (int32_t i = 0; i < count; i++)
        assert_true(lambda[i] != 0); /* the sweep processed the element */
    for (int32_t threads = 2; threads <= 3; threads++) {
        sinew_world *many = step_block(n, kind, threads, &other, &other_count);
        assert_int_equal(count, other_count);
        assert_memory_equal(lambda, other, (size_t)count * sizeof *lambda);
        assert_memory_equal(one->q, many->q, 4 * (size_t)one->particle_count * sizeof *one->q);
        sinew_world_destroy(many);
        free(other);
    }
    sinew_world_destroy(one);
    free(lambda);
}

static void test_threads(void **state)
{
    (void)state;
    check_threads(24, SINEW_ENERGY_STRAIN);
    check_threads(24, SINEW_ENERGY_SPRING);
    check_threads(10, SINEW_ENERGY_STRAIN);
}

/* Adds springs to a block that are not worth a partition into domains. Returns the number of their colours. */
static int32_t check_not_cut(const int32_t (*springs)[2], int32_t count)
{
    sinew_error error = {0};
    sinew_world *worlds[2];
    for (int32_t k = 0; k < 2; k++) {
        worlds[k] = make_block(21, SINEW_ENERGY_SPRING, k + 1);
        sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_SPRING);
        energy.elements = springs[0];
        energy.element_count = count;
        sinew_world_add_energy(worlds[k], &energy, &error);
        must(&error);
        sinew_step_result result;
        sinew_world_step(worlds[k], &result);
        assert_int_equal(result.bits & SINEW_STEP_NOT_FINITE, 0);
    }
    assert_memory_equal(worlds[0]->q, worlds[1]->q, 4 * (size_t)worlds[0]->particle_count * sizeof *worlds[0]->q);
    sinew_sweep sweep;
    assert_int_equal(sinew_sweep_create(&sweep, &worlds[0]->objective, &coloured, &error), SINEW_OK);
    assert_int_equal(sweep.batch_count, 2);
    assert_true(sweep.batches[0].domains.level_count > 0);
    assert_int_equal(sweep.batches[1].domains.level_count, 0);
    const int32_t colours = sweep.batches[1].colour_count;
    sinew_sweep_destroy(&sweep);
    for (int32_t k = 0; k < 2; k++)
        sinew_world_destroy(worlds[k]);
    return colours;
}

/* One particle with springs to thousands of others: as many colours as springs. */
static void test_hub(void **state)
{
    (void)state;
    enum {
        SPRINGS = 3000
    };
    int32_t springs[SPRINGS][2];
    for (int32_t i = 0; i < SPRINGS; i++)
        memcpy(springs[i], (const int32_t[2]){5000, i}, sizeof springs[i]);
    assert_int_equal(check_not_cut((const int32_t(*)[2])springs, SPRINGS), SPRINGS);
}

/* Springs between random particles: few colours, but most lie between the halves of the body and on neither side. */
static void test_any_two(void **state)
{
    (void)state;
    enum {
        SPRINGS = 20000,
        PARTICLES = 21 * 21 * 21
    };
    static int32_t springs[SPRINGS][2];
    uint64_t bits = 1;
    for (int32_t i = 0; i < SPRINGS; i++)
        for (int32_t a = 0; a < 2; a++) {
            bits = bits * 6364136223846793005u + 1442695040888963407u;
            springs[i][a] = (int32_t)((bits >> 33) % PARTICLES);
            if (a == 1 && springs[i][1] == springs[i][0])
                springs[i][1] = (springs[i][0] + 1) % PARTICLES;
        }
    assert_in_range(check_not_cut((const int32_t(*)[2])springs, SPRINGS), 4, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_hub),
        cmocka_unit_test(test_any_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
