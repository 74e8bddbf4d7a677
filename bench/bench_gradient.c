/* SPDX-License-Identifier: MIT
 *
 * bench_gradient.c: value and gradient of the objective on the n = 32 block (32 768 vertices, 148 955 tets),
 * nanoseconds per tet for each material, at width 1 and with SIMD, with one thread and with two; and the kernel alone
 * on one chunk in the first-level caches, without memory traffic and work per particle.
 *
 * Each SIMD variant runs in its own child process, since a process selects its variant once. The children take turns,
 * and a ratio is the median of the ratios of the turns, so that temporary slowdowns affect both sides. One thread is
 * timed in processor time on each of two cores, two threads on the wall clock.
 *
 * Usage: bench_gradient [MATERIAL ...]
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "block.h"
#include "energy/energy.h"
#include "objective/objective.h"

enum {
    N = 32,
    RUNS = 31,
    CHUNK_RUNS = 50,
    BURST = 7, /* evaluations per turn */
    MATERIALS = SINEW_ENERGY_LINEAR + 1
};

typedef struct figures {
    double threads[2], kernel; /* ns per tet */
} figures;

/* One material in a child process. */
typedef struct subject {
    sinew_world *worlds[2]; /* worlds with one thread and with two */
    sinew_kernel kernel;    /* kernel of the first chunk */
    sinew_real *x, *g;      /* chunk-local positions and gradient */
} subject;

typedef struct job {
    sinew_objective *objective;
    const sinew_real *q;
    sinew_real *gradient;
    const sinew_energy_ops *ops; /* operations of the kernel; NULL: the whole gradient is timed */
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

/* A block of one material, its vertices displaced slightly so that no element is at rest. */
static sinew_world *make_world(sinew_energy_kind kind, int32_t threads)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.solver.parameters[sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear")] = 1;
    sinew_world *world = bench_block(&def, N, kind);
    for (size_t i = 0; i < 4 * (size_t)world->particle_count; i++)
        world->q[i] += bench_shift(N, i);
    if (sinew_world_prepare(world, &error) != SINEW_OK)
        bench_give_up(&error);
    return world;
}

static void open_kernel(subject *s)
{
    const sinew_world *world = s->worlds[0];
    const sinew_task *task = &world->objective.tasks[0];
    const size_t points = (size_t)task->chunk->slot_count;
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    s->x = sinew_allocate_zero(&allocator, 4 * points, sizeof *s->x);
    s->g = sinew_allocate_zero(&allocator, 4 * points, sizeof *s->g);
    if (!s->x || !s->g)
        exit(1);
    for (size_t i = 0; i < points; i++)
        memcpy(s->x + 4 * i, world->q + 4 * (size_t)task->batch->particle[(size_t)task->chunk->first_slot + i],
               4 * sizeof *s->x);
    s->kernel = (sinew_kernel){.groups = sinew_batch_groups(task->batch, task->chunk), .x = s->x, .g = s->g};
}

static void open_subject(subject *s, sinew_energy_kind kind)
{
    for (int i = 0; i < 2; i++)
        s->worlds[i] = make_world(kind, i + 1);
    open_kernel(s);
}

static void close_subject(subject *s)
{
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_release(&allocator, s->x);
    sinew_release(&allocator, s->g);
    for (int i = 0; i < 2; i++)
        sinew_world_destroy(s->worlds[i]);
}

/* One turn: the median of a burst of evaluations, after one warm-up evaluation. */
static figures measure(const subject *s)
{
    figures f = {0};
    for (int i = 1; i >= 0; i--) {
        sinew_world *world = s->worlds[i];
        job j = {&world->objective, world->q, world->solve.gradient, NULL, NULL};
        const double seconds =
            i == 0 ? bench_one_thread(run_gradient, &j, BURST) : bench_two_threads(run_gradient, &j, BURST);
        f.threads[i] = 1e9 * seconds / (5.0 * (N - 1) * (N - 1) * (N - 1));
    }
    const sinew_task *task = &s->worlds[0]->objective.tasks[0];
    job j = {.ops = task->batch->ops, .kernel = &s->kernel};
    int32_t elements = task->batch->element_count; /* elements of the first chunk */
    if (elements > SINEW_CHUNK_ELEMENTS)
        elements = SINEW_CHUNK_ELEMENTS;
    f.kernel = 1e9 * bench_one_thread(run_kernel, &j, 1) / (CHUNK_RUNS * (double)elements);
    return f;
}

/* ---- Children ---------------------------------------------------------------------------------- */

enum {
    TURN = -1, /* take a turn; other orders are the index of a material to open */
    LEAVE = -2
};

typedef struct child {
    int orders, answers; /* write end of the orders' pipe, read end of the answers' pipe */
    pid_t pid;
} child;

static void transfer(ssize_t done, size_t size)
{
    if (done != (ssize_t)size)
        exit(1);
}

static void serve(int orders, int answers)
{
    subject s = {0};
    for (;;) {
        int32_t order;
        transfer(read(orders, &order, sizeof order), sizeof order);
        if (order != TURN && s.x)
            close_subject(&s);
        if (order == LEAVE)
            _exit(0);
        if (order != TURN)
            open_subject(&s, (sinew_energy_kind)order);
        const figures f = order == TURN ? measure(&s) : (figures){0};
        transfer(write(answers, &f, sizeof f), sizeof f);
    }
}

static child start_child(const char *simd)
{
    int orders[2], answers[2];
    if (pipe(orders) != 0 || pipe(answers) != 0)
        exit(1);
    const pid_t pid = fork();
    if (pid == 0) {
        setenv("SINEW_SIMD", simd, 1);
        close(orders[1]);
        serve(orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    return (child){orders[1], answers[0], pid};
}

static figures ask(const child *c, int32_t order)
{
    figures f;
    transfer(write(c->orders, &order, sizeof order), sizeof order);
    transfer(read(c->answers, &f, sizeof f), sizeof f);
    return f;
}

static void end_child(const child *c)
{
    const int32_t order = LEAVE;
    transfer(write(c->orders, &order, sizeof order), sizeof order);
    waitpid(c->pid, NULL, 0);
}

/* ---- Table ------------------------------------------------------------------------------------- */

enum {
    SCALAR,
    SCALAR_KERNEL,
    WIDE,
    WIDE_KERNEL,
    WIDE_TWO,
    RATIO,
    KERNEL_RATIO,
    TWO_RATIO,
    COLUMNS
};

static void compare(const child children[2], sinew_energy_kind kind)
{
    double values[COLUMNS][RUNS], middle[COLUMNS]; /* bench_middle() sorts the values: the first is the smallest */
    for (int i = 0; i < 2; i++)
        ask(&children[i], (int32_t)kind);
    for (int run = 0; run < RUNS; run++) {
        const figures one = ask(&children[0], TURN), wide = ask(&children[1], TURN);
        values[SCALAR][run] = one.threads[0];
        values[SCALAR_KERNEL][run] = one.kernel;
        values[WIDE][run] = wide.threads[0];
        values[WIDE_KERNEL][run] = wide.kernel;
        values[WIDE_TWO][run] = wide.threads[1];
        values[RATIO][run] = one.threads[0] / wide.threads[0];
        values[KERNEL_RATIO][run] = one.kernel / wide.kernel;
        values[TWO_RATIO][run] = wide.threads[0] / wide.threads[1];
    }
    for (int i = 0; i < COLUMNS; i++)
        middle[i] = bench_middle(values[i], RUNS);
    printf("%-20s %8.1f %7.1f %6.2fx %6.2fx %10.1f %6.2fx %22.1f %7.1f %6.2fx\n", sinew_get_energy_info(kind)->name,
           middle[SCALAR], middle[WIDE], middle[RATIO], values[SCALAR][0] / values[WIDE][0], middle[WIDE_TWO],
           middle[TWO_RATIO], middle[SCALAR_KERNEL], middle[WIDE_KERNEL], middle[KERNEL_RATIO]);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    const sinew_simd_variant *best = variants[0];
    const child children[2] = {start_child("scalar"), start_child(best->name)};
    printf("value + gradient, n = %d block, " SINEW_PRECISION ", ns per tet (median of %d)\n", N, RUNS);
    printf("%-20s %8s %7s %7s %7s %10s %7s   kernel alone: %6s %7s %7s\n", "", "width 1", best->name, "ratio",
           "(least)", "2 threads", "ratio", "width 1", best->name, "ratio");
    fflush(stdout);
    for (int kind = 0; kind < MATERIALS; kind++) {
        bool wanted = argc < 2;
        for (int i = 1; i < argc; i++)
            wanted |= strcmp(argv[i], sinew_get_energy_info((sinew_energy_kind)kind)->name) == 0;
        if (wanted)
            compare(children, (sinew_energy_kind)kind);
    }
    for (int i = 0; i < 2; i++)
        end_child(&children[i]);
    return 0;
}
