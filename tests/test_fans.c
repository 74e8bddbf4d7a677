/* SPDX-License-Identifier: MIT
 *
 * test_fans.c: kernels that process tets in fans (energy/batch_layout.h) agree with the same kernels on single tets:
 * value, gradient, product and local steps of every material, on chunks with fans of three, two and one tets.
 */
#include "make_world.h"

#include "energy/batch.h"
#include "world/world.h"

#ifdef SINEW_SINGLE
#define TOLERANCE 2e-6
#else
#define TOLERANCE 4e-15
#endif

enum {
    VALUE,
    GRADIENT,
    PRODUCT,
    PROJECT,
    PROX,
    OPERATION_COUNT
};

/* The results of one operation on one chunk. */
typedef struct outcome {
    double value;
    sinew_real *g, *u; /* [4 * points], [9 * padded_count] */
} outcome;

static sinew_world *make_block(sinew_energy_kind kind)
{
    sinew_error error = {0};
    sinew_box_def box = sinew_default_box_def();
    for (int i = 0; i < 3; i++)
        box.vertices[i] = 11;
    sinew_mesh *mesh = sinew_mesh_box(&box, &error);
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    sinew_world *world = make_world(&def);
    add_material(world, add_mesh(world, mesh, 1000, NULL, NULL), kind, 1, 0.3);
    sinew_mesh_destroy(mesh);
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++)
        if (i % 4 != 3)
            world->q[i] += (sinew_real)(0.01 * ((double)(i * 2654435761u % 1000) / 1000 - 0.5));
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
    return world;
}

static void *array_of(size_t count)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    void *array = sinew_allocate_zero(&allocator, count, sizeof(sinew_real));
    assert_non_null(array);
    return array;
}

static void release(void *array)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_release(&allocator, array);
}

/* Runs one operation, with fans or without. */
static outcome run(const sinew_task *task, int operation, bool fans, const sinew_real *x, sinew_real *tangent,
                   sinew_real *weights)
{
    const sinew_energy_ops *ops = task->batch->ops;
    const size_t padded_count = (size_t)task->chunk->group_count * (size_t)task->batch->width;
    outcome out = {0, array_of(4 * (size_t)task->chunk->slot_count), array_of(9 * padded_count)};
    sinew_groups groups = sinew_batch_groups(task->batch, task->chunk);
    if (!fans)
        groups.threes = groups.twos = 0;
    const sinew_kernel kernel = {.groups = groups, .x = x, .p = x, .g = out.g, .tangent = tangent, .project = true};
    const sinew_reduced_kernel reduced = {
        .groups = groups, .x = x, .g = out.g, .weights = weights, .u = out.u, .stretch_low = 0.5, .stretch_high = 1.5};
    if (operation == VALUE)
        out.value = ops->value(&kernel);
    if (operation == GRADIENT)
        out.value = ops->gradient(&kernel);
    if (operation == PRODUCT) {
        ops->linearise(&kernel);
        ops->product(&kernel);
    }
    if (operation == PROJECT && ops->local_project)
        ops->local_project(&reduced);
    if (operation == PROX && ops->local_prox) {
        ops->stiffness(&reduced);
        ops->local_prox(&reduced);
    }
    return out;
}

/* The largest difference of two arrays over the largest number in them. */
static double difference(const sinew_real *a, const sinew_real *b, size_t count)
{
    double largest = 0, apart = 0;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)b[i]));
        apart = fmax(apart, fabs((double)a[i] - (double)b[i]));
    }
    return largest > 0 ? apart / largest : apart;
}

static double check_task(const sinew_world *world, const sinew_task *task, int operation)
{
    const size_t points = (size_t)task->chunk->slot_count;
    const size_t padded_count = (size_t)task->chunk->group_count * (size_t)task->batch->width;
    sinew_real *x = array_of(4 * points), *weights = array_of(padded_count);
    sinew_real *tangent = array_of(padded_count * (size_t)task->batch->ops->tangent_count);
    world->objective.simd->slots->copy(world->q, task->batch->particle + task->chunk->first_slot,
                                       task->chunk->slot_count, x, NULL);
    outcome fans = run(task, operation, true, x, tangent, weights);
    outcome alone = run(task, operation, false, x, tangent, weights);
    double apart = fabs(fans.value - alone.value) / fmax(fabs(alone.value), 1e-30);
    apart = fmax(apart, difference(fans.g, alone.g, 4 * points));
    apart = fmax(apart, difference(fans.u, alone.u, 9 * padded_count));
    for (size_t i = 3; i < 4 * points; i += 4)
        assert_true(fans.g[i] == 0);
    void *arrays[] = {x, weights, tangent, fans.g, fans.u, alone.g, alone.u};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        release(arrays[i]);
    return apart;
}

static void test_fans(void **state)
{
    (void)state;
    for (int kind = 0; kind <= SINEW_ENERGY_LINEAR; kind++) {
        sinew_world *world = make_block((sinew_energy_kind)kind);
        const sinew_objective *o = &world->objective;
        double worst = 0;
        int32_t groups[SINEW_FAN] = {0};
        for (int32_t t = 0; t < o->task_count; t++) {
            for (int size = 0; size < SINEW_FAN; size++)
                groups[size] += o->tasks[t].chunk->fan_groups[size];
            for (int operation = 0; operation < OPERATION_COUNT; operation++)
                worst = fmax(worst, check_task(world, &o->tasks[t], operation));
        }
        printf("%s, %s: %d groups in fans of three, %d of two, %d alone: %.1e apart\n",
               sinew_get_energy_info((sinew_energy_kind)kind)->name, o->simd->name, groups[2], groups[1], groups[0],
               worst);
        assert_true(groups[0] > 0 && groups[1] > 0 && groups[2] > 0);
        assert_true(worst <= TOLERANCE);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_fans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
