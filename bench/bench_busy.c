/* SPDX-License-Identifier: MIT
 *
 * bench_busy.c: cost of threads on busy cores. The table has milliseconds of a step with one and with two threads,
 * first on the machine as it is, then with two busy processes. In both cases two threads must not be slower than 1.2
 * times one thread.
 *
 * One thread and two take turns, each long enough that the system takes cores away and returns them several times. The
 * measure of a turn is its mean, because waits for a core are rare and long. The table has medians of the turns and of
 * the ratios of successive turns, which short-lived processes disturb least.
 *
 * Usage: bench_busy [--quick] [BEGINNING OF A ROW'S NAME]. The program starts and ends its busy processes.
 */
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "block.h"

enum {
    BUSY = 2, /* number of busy processes */
    TURNS_MAX = 32,
    CUBES = 100,
};

typedef struct plan {
    int n, cube, turns; /* vertices along an edge of the block and of a cube; number of turns */
    double seconds;     /* s, duration of a turn */
} plan;

typedef struct row {
    const char *name;
    sinew_solver_kind solver;
    const char *parameter; /* solver parameter to change; NULL: none */
    int value;
    bool cubes; /* many small bodies instead of the block */
} row;

static const row rows[] = {
    {"pd", SINEW_SOLVER_PD, NULL, 0, false},
    {"qn", SINEW_SOLVER_QN, NULL, 0, false},
    {"admm", SINEW_SOLVER_ADMM, NULL, 0, false},
    {"xpbd", SINEW_SOLVER_XPBD, NULL, 0, false},
    {"pbd", SINEW_SOLVER_PBD, NULL, 0, false},
    {"pbng", SINEW_SOLVER_PBNG, NULL, 0, false},
    {"newton, cg", SINEW_SOLVER_NEWTON, "linear", 1, false},
    {"xpbd, 100 cubes", SINEW_SOLVER_XPBD, NULL, 0, true},
    {"pbng, 100 cubes", SINEW_SOLVER_PBNG, NULL, 0, true},
    {"pd, 100 cubes", SINEW_SOLVER_PD, NULL, 0, true},
};

/* ---- Busy processes -------------------------------------------------------------------------- */

/* Starts a busy process, which ends with this process, even if this process is killed. */
static pid_t start_busy(void)
{
    const pid_t parent = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned turns = 0; getppid() == parent;)
        for (int i = 0; i < 1000000; i++)
            turns++;
    _exit(0);
}

static void start_neighbours(pid_t busy[BUSY])
{
    for (int i = 0; i < BUSY; i++)
        busy[i] = start_busy();
}

static void end_neighbours(const pid_t busy[BUSY])
{
    for (int i = 0; i < BUSY; i++)
        if (busy[i] > 0) {
            kill(busy[i], SIGKILL);
            waitpid(busy[i], NULL, 0);
        }
}

/* ---- Worlds ---------------------------------------------------------------------------------- */

/* Adds cubes side by side, without contact. */
static void add_cubes(sinew_world *world, int n)
{
    sinew_error error = {0};
    for (int i = 0; i < CUBES; i++) {
        sinew_box_def box = sinew_default_box_def();
        for (int c = 0; c < 3; c++)
            box.vertices[c] = n;
        box.origin[0] = (sinew_real)(2 * (i % 10));
        box.origin[2] = (sinew_real)(2 * (i / 10));
        sinew_mesh *mesh = sinew_mesh_box(&box, &error);
        sinew_body_def body = sinew_default_body_def();
        body.mesh = mesh;
        sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
        energy.body = sinew_world_add_body(world, &body, &error);
        if (!mesh || sinew_world_add_energy(world, &energy, &error).index < 0)
            bench_give_up(&error);
        sinew_mesh_destroy(mesh);
    }
}

static sinew_world *make_world(const plan *p, const row *r, int32_t threads)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(r->solver);
    def.solver.tolerance = 0;
    def.solver.iterations = 3;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    if (r->parameter)
        def.solver.parameters[sinew_solver_parameter(r->solver, r->parameter)] = (sinew_real)r->value;
    sinew_world *world = r->cubes ? sinew_world_create(&def, &error) : bench_block(&def, p->n, SINEW_ENERGY_STRAIN);
    if (!world)
        bench_give_up(&error);
    if (r->cubes)
        add_cubes(world, p->cube);
    if (sinew_world_prepare(world, &error) != SINEW_OK)
        bench_give_up(&error);
    return world;
}

/* ---- Measures -------------------------------------------------------------------------------- */

static double turn(sinew_world *world, double budget)
{
    const double began = sinew_seconds();
    int steps = 0;
    for (; steps == 0 || sinew_seconds() - began < budget; steps++)
        sinew_world_step(world, NULL);
    return (sinew_seconds() - began) / steps;
}

typedef struct figures {
    double seconds[2]; /* s, medians of a step with one thread and with two */
    double ratio;      /* median ratio of two threads to one thread */
} figures;

static figures measure(const plan *p, sinew_world *const worlds[2])
{
    double turns[2][TURNS_MAX], ratios[TURNS_MAX];
    for (int t = 0; t < p->turns; t++) {
        for (int k = 0; k < 2; k++)
            turns[k][t] = turn(worlds[k], p->seconds);
        ratios[t] = turns[1][t] / turns[0][t];
    }
    return (figures){{bench_middle(turns[0], p->turns), bench_middle(turns[1], p->turns)},
                     bench_middle(ratios, p->turns)};
}

/* Prints a row; returns the ratio with busy processes. */
static double run_row(const plan *p, const row *r)
{
    sinew_world *const worlds[2] = {make_world(p, r, 1), make_world(p, r, 2)};
    pid_t neighbours[BUSY];
    for (int k = 0; k < 2; k++)
        turn(worlds[k], 0); /* warm-up */
    const figures quiet = measure(p, worlds);
    start_neighbours(neighbours);
    const figures busy = measure(p, worlds);
    end_neighbours(neighbours);
    printf("%-18s %9.2f %9.2f %7.2f     %9.2f %9.2f %7.2f\n", r->name, 1e3 * quiet.seconds[0], 1e3 * quiet.seconds[1],
           quiet.ratio, 1e3 * busy.seconds[0], 1e3 * busy.seconds[1], busy.ratio);
    fflush(stdout);
    for (int k = 0; k < 2; k++)
        sinew_world_destroy(worlds[k]);
    return busy.ratio;
}

int main(int argc, char **argv)
{
    const bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
    const plan p = quick ? (plan){20, 6, 15, 0.1} : (plan){32, 8, 25, 0.2};
    const char *wanted = argc > 1 + quick ? argv[1 + quick] : "";
    double worst = 0;
    printf("block of %d^3 vertices, 100 cubes of %d^3, strain, 3 iterations, " SINEW_PRECISION "; ms a step\n", p.n,
           p.cube);
    printf("%-18s %9s %9s %7s     %9s %9s %7s\n", "", "1 thread", "2", "ratio", "1, busy", "2, busy", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (strncmp(rows[i].name, wanted, strlen(wanted)) == 0)
            worst = fmax(worst, run_row(&p, &rows[i]));
    printf("two threads beside %d busy processes take at most %.2f of the time of one\n", BUSY, worst);
    return 0;
}
