/* SPDX-License-Identifier: MIT
 *
 * bench_gradient.c: value and gradient of the objective on the n = 32 block (32 768 vertices, 148 955 tets),
 * nanoseconds per tet for each material, at width 1 and with lanes, at one thread and at two; and, apart from memory
 * and from what is done per particle, the kernel alone on one chunk that stays in the first caches.
 *
 * Each lane variant is its own child process, since a process chooses its lanes once. One thread is timed in processor
 * time, two threads on the wall clock.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "energy/energy.h"
#include "objective/objective.h"
#include "world/world.h"

enum {
    N = 32,
    RUNS = 31,
    CHUNK_RUNS = 50,
    MATERIALS = SINEW_ENERGY_LINEAR + 1
};

typedef struct figures {
    double threads[2], kernel; /* ns per tet */
} figures;

typedef struct job {
    sinew_objective *objective;
    const sinew_real *q;
    sinew_real *gradient;
    const sinew_energy_ops *ops; /* of the kernel alone */
    const sinew_kernel *kernel;
} job;

static void run_gradient(void *context)
{
    job *j = context;
    sinew_objective_gradient(j->objective, j->q, j->gradient, NULL);
}

static void run_kernel(void *context)
{
    const sinew_kernel *kernel = ((job *)context)->kernel;
    for (int i = 0; i < CHUNK_RUNS; i++)
        ((job *)context)->ops->gradient(kernel);
}

/* A block of one material, its vertices moved a little so that nothing is at rest. */
static sinew_world *make_world(sinew_energy_kind kind, int32_t threads, sinew_error *error)
{
    sinew_box_def box = sinew_default_box_def();
    for (int i = 0; i < 3; i++)
        box.vertices[i] = N;
    sinew_mesh *mesh = sinew_mesh_box(&box, error);
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear")] = 1;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = sinew_world_add_body(world, &body, error);
    sinew_world_add_energy(world, &energy, error);
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++)
        if (i % 4 != 3)
            world->q[i] += (sinew_real)(0.003 * ((double)(i * 2654435761u % 1000) / 1000 - 0.5));
    sinew_mesh_destroy(mesh);
    return world;
}

/* The kernel of the first chunk, its points copied next to each other as a step does it. */
static double measure_kernel(const sinew_world *world)
{
    const sinew_task *task = &world->objective.tasks[0];
    const size_t points = (size_t)task->chunk->slot_count;
    sinew_kernel kernel = sinew_batch_kernel(task->batch, task->chunk);
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_real *x = sinew_allocate_zero(&allocator, 4 * points, sizeof *x);
    sinew_real *g = sinew_allocate_zero(&allocator, 4 * points, sizeof *g);
    if (!x || !g)
        exit(1);
    for (size_t i = 0; i < points; i++)
        memcpy(x + 4 * i, world->q + 4 * (size_t)task->batch->particle[(size_t)task->chunk->first_slot + i],
               4 * sizeof *x);
    kernel.x = x;
    kernel.g = g;
    job j = {.ops = task->batch->ops, .kernel = &kernel};
    const double seconds = bench_median_cpu(run_kernel, &j, RUNS);
    sinew_release(&allocator, x);
    sinew_release(&allocator, g);
    return 1e9 * seconds / (CHUNK_RUNS * (double)(task->chunk->group_count * task->batch->width));
}

static void measure(sinew_energy_kind kind, figures *f)
{
    for (int32_t threads = 1; threads <= 2; threads++) {
        sinew_error error;
        sinew_world *world = make_world(kind, threads, &error);
        if (!world || sinew_world_prepare(world, &error) != SINEW_OK) {
            fprintf(stderr, "%s\n", error.text);
            exit(1);
        }
        job j = {&world->objective, world->q, world->solve.gradient, NULL, NULL};
        double seconds = threads == 1 ? bench_median_cpu(run_gradient, &j, RUNS) : bench_median(run_gradient, &j, RUNS);
        f->threads[threads - 1] = 1e9 * seconds / (5.0 * (N - 1) * (N - 1) * (N - 1));
        if (threads == 1)
            f->kernel = measure_kernel(world);
        sinew_world_destroy(world);
    }
}

/* Measures every material with these lanes in a child. */
static void measure_variant(const char *lanes, figures results[MATERIALS])
{
    int ends[2];
    size_t size = MATERIALS * sizeof *results;
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        setenv("SINEW_LANES", lanes, 1);
        for (int kind = 0; kind < MATERIALS; kind++)
            measure((sinew_energy_kind)kind, &results[kind]);
        _exit(write(ends[1], results, size) == (ssize_t)size ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], results, size) != (ssize_t)size)
        exit(1);
    close(ends[0]);
    waitpid(child, NULL, 0);
}

int main(void)
{
    int32_t count;
    const sinew_lane_variant *const *variants = sinew_lane_variants(&count);
    figures scalar[MATERIALS], lanes[MATERIALS];
    const sinew_lane_variant *best = variants[count - 1]; /* scalar: any processor has it */
    for (int32_t i = count - 1; i >= 0; i--)
        if (variants[i]->usable())
            best = variants[i];
    measure_variant("scalar", scalar);
    measure_variant(best->name, lanes);
    printf("value + gradient, n = %d block, " SINEW_PRECISION ", ns per tet (median of %d)\n", N, RUNS);
    printf("%-20s %10s %10s %10s %10s %10s   kernel alone: %7s %7s %7s\n", "", "width 1", best->name, "ratio",
           "2 threads", "ratio", "width 1", best->name, "ratio");
    for (int kind = 0; kind < MATERIALS; kind++) {
        const figures *one = &scalar[kind], *wide = &lanes[kind];
        printf("%-20s %10.1f %10.1f %9.2fx %10.1f %9.2fx %23.1f %7.1f %6.2fx\n",
               sinew_get_energy_info((sinew_energy_kind)kind)->name, one->threads[0], wide->threads[0],
               one->threads[0] / wide->threads[0], wide->threads[1], wide->threads[0] / wide->threads[1], one->kernel,
               wide->kernel, one->kernel / wide->kernel);
    }
    return 0;
}
