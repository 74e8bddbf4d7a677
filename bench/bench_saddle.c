/* SPDX-License-Identifier: MIT
 *
 * bench_saddle.c: saddle-point systems of constraints (solve/kkt/saddle_system.h) by the library's L D L^T and by
 * MUMPS, which pivots: processor time of analysis, factorisation and one solution, entries of the factors, and the
 * residual, computed by the same code on the same scaled matrix. Scenes: an inextensible cloth that hangs by two
 * corners, a rope, and a block whose energies are constraints. A second table has cliques of rods in a plane with a
 * known number of redundant rods, and the numbers that both codes detect. The first test is MUMPS's behaviour on
 * signals and lack of memory.
 *
 * Usage: bench_saddle [LARGEST]; vertices along the side of the largest cloth, 81 by default.
 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "block.h"
#include "saddle_peer.h"
#include "solve/kkt/kkt_common.h"

enum {
    RUNS = 3,
    STEPS = 10, /* steps in which a scene leaves its rest shape */
    LINKS = 10000,
    BLOCK = 12, /* vertices along a side of the block */
    FRAMES = 300,
    CORNERS = 6, /* vertices of a clique */
    RODS = CORNERS * (CORNERS - 1) / 2
};

/* ---- Scenes ---------------------------------------------------------------------------------- */

static sinew_world *make_world(bool all_rows)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(SINEW_SOLVER_SAP);
    if (sinew_solver_def_set_keyword(&def.solver, "constraints", all_rows ? "all" : "hard", &error) != SINEW_OK ||
        sinew_solver_def_set_keyword(&def.solver, "geometric", "off", &error) != SINEW_OK)
        bench_give_up(&error);
    def.solver.iterations = 5;
    def.thread_count = 1;
    sinew_world *world = sinew_world_create(&def, &error);
    if (!world)
        bench_give_up(&error);
    return world;
}

/* A body with hard springs along `edges`, or along the mesh's own edges if NULL, pinned at some vertices. */
static sinew_world *hang(sinew_mesh *mesh, const int32_t *edges, int32_t edge_count, const int32_t *pins, int32_t count)
{
    sinew_error error = {0};
    sinew_world *world = make_world(false);
    sinew_body_def body = sinew_default_body_def();
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_pin_def held = sinew_default_pin_def();
    if (!mesh)
        bench_give_up(&(sinew_error){.text = "no mesh"});
    body.mesh = mesh;
    rods.body = held.body = sinew_world_add_body(world, &body, &error);
    rods.elements = edges;
    rods.element_count = edge_count;
    rods.hard = true;
    held.vertices = pins;
    held.vertex_count = count;
    if (sinew_world_add_energy(world, &rods, &error).index < 0 ||
        (count > 0 && sinew_world_add_pins(world, &held, &error).index < 0))
        bench_give_up(&error);
    sinew_mesh_destroy(mesh);
    return world;
}

/* A cloth with hard warp and weft, held at two corners. */
static sinew_world *make_cloth(int32_t n)
{
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = n;
    int32_t *edges = malloc(4 * (size_t)n * (size_t)n * sizeof *edges), count = 0;
    const int32_t corners[2] = {0, n - 1};
    for (int32_t i = 0; edges && i < n * n; i++)
        for (int way = 0; way < 2; way++)
            if (way ? i / n + 1 < n : i % n + 1 < n) {
                edges[2 * count] = i;
                edges[2 * count++ + 1] = i + (way ? n : 1);
            }
    sinew_world *world = hang(sinew_mesh_cloth(&def, NULL), edges, count, corners, 2);
    free(edges);
    return world;
}

static sinew_world *make_rope(void)
{
    sinew_rope_def def = sinew_default_rope_def();
    const int32_t end = 0;
    def.vertices = LINKS + 1;
    def.to[0] = 100;
    return hang(sinew_mesh_rope(&def, NULL), NULL, 0, &end, 1);
}

static sinew_world *make_block(void)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(SINEW_SOLVER_SAP);
    if (sinew_solver_def_set_keyword(&def.solver, "constraints", "all", &error) != SINEW_OK)
        bench_give_up(&error);
    def.solver.iterations = 5;
    def.thread_count = 1;
    return bench_block(&def, BLOCK, SINEW_ENERGY_NEO_HOOKEAN);
}

/* ---- One matrix ------------------------------------------------------------------------------ */

/* The saddle-point system of a world's last step, assembled again. */
typedef struct system {
    sinew_world *world;
    sinew_kkt *kkt;
    sinew_saddle *saddle;
    bench_matrix matrix;
    double *b, *x; /* [count] */
    void *peer;
} system_of;

static bench_factors seen; /* result of the last call of MUMPS */

static void analyse_ours(void *context)
{
    system_of *s = context;
    sinew_error error = {0};
    sinew_saddle_destroy(s->saddle);
    s->saddle = sinew_saddle_create(&s->kkt->rest, s->kkt->constraints, SINEW_SADDLE_MASSES, &error);
    if (!s->saddle)
        bench_give_up(&error);
}

static void factorise_ours(void *context)
{
    const system_of *s = context;
    if (!sinew_saddle_factorise(s->saddle, 0))
        fprintf(stderr, "bench_saddle: not factorised\n");
}

static void solve_ours(void *context)
{
    const system_of *s = context;
    sinew_ldl_solve(s->saddle->ldl, s->b, s->x, 8);
}

static void analyse_peer(void *context)
{
    seen = bench_mumps_analyse(((system_of *)context)->peer);
}

static void factorise_peer(void *context)
{
    seen = bench_mumps_factorise(((system_of *)context)->peer);
}

static void solve_peer(void *context)
{
    const system_of *s = context;
    bench_mumps_solve(s->peer, s->b, s->x);
}

/* Takes some steps and assembles the matrix in the form that is factorised. Takes ownership of the world. */
static system_of begin_system(sinew_world *world, int steps, double null)
{
    system_of s = {.world = world};
    for (int k = 0; k < steps; k++)
        sinew_world_step(world, NULL);
    s.kkt = world->solve.memory;
    if (!s.kkt)
        bench_give_up(&(sinew_error){.text = "bench_saddle: the world was not prepared"});
    analyse_ours(&s);
    sinew_kkt_evaluate(s.kkt, world->solve.q);
    sinew_saddle_assemble(s.saddle, &(sinew_saddle_fill){.q = world->solve.q});
    factorise_ours(&s);
    s.matrix = (bench_matrix){s.saddle->count, s.saddle->column, s.saddle->row, s.saddle->scaled};
    s.b = malloc((size_t)s.matrix.count * sizeof *s.b);
    s.x = malloc((size_t)s.matrix.count * sizeof *s.x);
    for (int32_t k = 0; s.b && s.x && k < s.matrix.count; k++)
        s.b[k] = (double)((uint32_t)k * 2654435761u % 1000) / 500 - 1;
    s.peer = bench_mumps(&s.matrix, null);
    return s;
}

static void end_system(system_of *s)
{
    bench_mumps_destroy(s->peer);
    sinew_saddle_destroy(s->saddle);
    sinew_world_destroy(s->world);
    free(s->b);
    free(s->x);
}

/* max |b - A x| over max |b|, over the unknowns that the library's factors keep. */
static double residual_of(const system_of *s)
{
    const bench_matrix *m = &s->matrix;
    double max = 0, size = 0;
    double *left = malloc((size_t)m->count * sizeof *left);
    memcpy(left, s->b, (size_t)m->count * sizeof *left);
    for (int32_t j = 0; j < m->count; j++)
        for (size_t k = m->column[j]; k < m->column[j + 1]; k++) {
            left[m->row[k]] -= m->values[k] * s->x[j];
            left[j] -= m->row[k] != j ? m->values[k] * s->x[m->row[k]] : 0;
        }
    for (int32_t j = 0; j < m->count; j++) {
        max = fmax(max, sinew_ldl_dropped(s->saddle->ldl, j) ? 0 : fabs(left[j]));
        size = fmax(size, fabs(s->b[j]));
    }
    free(left);
    return max / size;
}

/* ---- Times ----------------------------------------------------------------------------------- */

static void time_peer(system_of *s)
{
    const double analysis = bench_median_cpu(analyse_peer, s, 1);
    const double factorisation = bench_median_cpu(factorise_peer, s, RUNS);
    const bench_factors factors = seen;
    const double solution = bench_median_cpu(solve_peer, s, RUNS);
    printf("%-36s | MUMPS%8.1f %8.2f %8.3f %9.0f %4d %8.1e  put off %d, room %d %%, status %d\n", "", 1e3 * analysis,
           1e3 * factorisation, 1e3 * solution, factors.size, factors.null_pivots, residual_of(s), factors.delayed,
           factors.capacity, factors.status);
}

static void compare(const char *name, sinew_world *world, int steps)
{
    system_of s = begin_system(world, steps, 0);
    printf("%-18s %8d %8zu | ours ", name, s.matrix.count, s.matrix.column[s.matrix.count]);
    const double analysis = bench_median_cpu(analyse_ours, &s, 1);
    /* The analysis reallocates the arrays, so the matrix is assembled again. */
    sinew_saddle_assemble(s.saddle, &(sinew_saddle_fill){.q = world->solve.q});
    const double factorisation = bench_median_cpu(factorise_ours, &s, RUNS);
    s.matrix = (bench_matrix){s.saddle->count, s.saddle->column, s.saddle->row, s.saddle->scaled};
    const double solution = bench_median_cpu(solve_ours, &s, RUNS);
    printf("%8.1f %8.2f %8.3f %9zu %4d %8.1e\n", 1e3 * analysis, 1e3 * factorisation, 1e3 * solution,
           sinew_ldl_size(s.saddle->ldl), s.saddle->inertia.dropped, residual_of(&s));
    bench_mumps_destroy(s.peer);
    s.peer = bench_mumps(&s.matrix, 0);
    if (s.peer)
        time_peer(&s);
    end_system(&s);
}

/* ---- Redundant rods -------------------------------------------------------------------------- */

/* A clique of rods in a random plane: 2 n - 3 of its rods are independent. */
static sinew_world *make_clique(uint32_t *state)
{
    sinew_mesh_def shape = sinew_default_mesh_def();
    sinew_real positions[3 * CORNERS];
    int32_t edges[2 * RODS], count = 0;
    double number[2 * CORNERS + 6];
    for (int k = 0; k < 2 * CORNERS + 6; k++) {
        *state = *state * 1664525u + 1013904223u;
        number[k] = (double)*state / 2147483648.0 - 1;
    }
    for (int i = 0; i < CORNERS; i++)
        for (int c = 0; c < 3; c++)
            positions[3 * i + c] =
                (sinew_real)(number[2 * i] * number[2 * CORNERS + c] + number[2 * i + 1] * number[2 * CORNERS + 3 + c]);
    for (int32_t a = 0; a < CORNERS; a++)
        for (int32_t b = 0; b < a; b++) {
            edges[2 * count] = a;
            edges[2 * count++ + 1] = b;
        }
    shape.positions = positions;
    shape.vertex_count = CORNERS;
    shape.edges = edges;
    shape.edge_count = count;
    return hang(sinew_mesh_create(&shape, NULL), edges, count, NULL, 0);
}

static void count_redundant(double null)
{
    uint32_t state = 1;
    int ours = 0, peers = 0, frames = 0, wrong[2] = {0};
    const int truth = RODS - (2 * CORNERS - 3);
    for (; frames < FRAMES; frames++) {
        sinew_world *world = make_clique(&state);
        system_of s = begin_system(world, 1, null);
        ours += s.saddle->inertia.dropped;
        wrong[0] += s.saddle->inertia.dropped != truth;
        if (s.peer) {
            analyse_peer(&s);
            factorise_peer(&s);
            peers += seen.null_pivots;
            wrong[1] += seen.null_pivots != truth;
        }
        end_system(&s);
    }
    printf("%d planar cliques of %d rods, %d redundant in all: ours finds %d (%d frames with another count), MUMPS %d "
           "(%d) "
           "with CNTL(3) = %g\n",
           frames, RODS, frames * truth, ours, wrong[0], peers, wrong[1], null);
}

/* ---- Signals and memory ---------------------------------------------------------------------- */

static int count_threads(void)
{
    int threads = 0;
    char line[128];
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Threads: %d", &threads);
    if (file)
        fclose(file);
    return threads;
}

static int count_handlers(void)
{
    int count = 0;
    for (int k = 1; k < 32; k++) {
        struct sigaction now;
        count += sigaction(k, NULL, &now) == 0 && now.sa_handler != SIG_DFL;
    }
    return count;
}

/* Factorises in a child process that may allocate `megabytes` more than it holds; prints the outcome. */
static void starve(system_of *s, int megabytes)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        long pages = 0;
        FILE *file = fopen("/proc/self/statm", "r");
        if (!file || fscanf(file, "%ld", &pages) != 1)
            _exit(99);
        const rlim_t max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)megabytes << 20);
        setrlimit(RLIMIT_AS, &(struct rlimit){max, max});
        malloc_trim(0);
        alarm(60);
        analyse_peer(s);
        if (seen.status >= 0)
            factorise_peer(s);
        _exit(seen.status < 0 ? -seen.status : 0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child)
        return;
    if (WIFSIGNALED(status))
        printf("  %4d MB more: ended by signal %d\n", megabytes, WTERMSIG(status));
    else
        printf("  %4d MB more: status %d\n", megabytes, -WEXITSTATUS(status));
}

/* Tests MUMPS on signals and lack of memory. This test runs first, because the heap then has no free blocks. */
static void watch_manners(int32_t n)
{
    const int threads = count_threads(), handlers = count_handlers();
    system_of s = begin_system(make_cloth(n), STEPS, 0);
    if (!s.peer) {
        printf("MUMPS is not installed (libmumps-seq-dev)\n\n");
        end_system(&s);
        return;
    }
    printf("MUMPS, cloth %d, with so much memory beyond what the process has:\n", n);
    for (int megabytes = 1; megabytes <= 256; megabytes *= 4)
        starve(&s, megabytes);
    analyse_peer(&s);
    factorise_peer(&s);
    printf("threads of the process as it began: %d; signals with handlers %d, after a factorisation %d\n\n", threads,
           handlers, count_handlers());
    end_system(&s);
}

int main(int count, char **words)
{
    const int32_t largest = count > 1 ? (int32_t)atoi(words[1]) : 81;
    watch_manners(largest);
    printf("processor time in ms; b - A x over b, where rows were kept\n");
    printf("%-18s %8s %8s | %-5s %8s %8s %8s %9s %4s %8s\n", "system", "unknowns", "numbers", "", "analyse",
           "factorise", "solve", "factors", "null", "residual");
    for (int32_t n = 21; n <= largest; n = 2 * n - 1) {
        char name[32];
        snprintf(name, sizeof name, "cloth %d", n);
        compare(name, make_cloth(n), STEPS);
    }
    compare("rope 10000", make_rope(), 2);
    compare("block 12, rows all", make_block(), 2);
    printf("\n");
    for (double null = 0; null<1e-4; null = null> 0 ? 100 * null : 1e-13)
        count_redundant(null);
    return 0;
}
