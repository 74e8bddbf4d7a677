/* SPDX-License-Identifier: MIT
 *
 * test_taut.c: nearly dependent hard edges, almost straight between pins: nets and ropes of random size and weight that
 * start flat, pinned at two corners that approach or stay, loaded across by gravity. sap and primal-dual meet every
 * constraint in every step; forces of primal-dual balance, by sums computed here.
 */
#include "make_world.h"
#include "random_cases.h"

enum {
    SIDE_MAX = 25,
    VERTICES_MAX = SIDE_MAX * SIDE_MAX,
    EDGES_MAX = 2 * VERTICES_MAX,
    STEPS = 15
};

#define STEP (1.0 / 60) /* s */

/* Single precision resolves lengths to 1e-7 of the net. */
#ifdef SINEW_SINGLE
#define TOLERANCE 2e-5
#define BALANCE   5e-2
#else
#define TOLERANCE 1e-6
#define BALANCE   2e-6
#endif

typedef struct net {
    int32_t columns, rows, edge_count;
    int32_t edges[2 * EDGES_MAX];
    sinew_real X[3 * VERTICES_MAX], mass[VERTICES_MAX];
    double length[2];  /* m of weft and warp */
    double gravity[3]; /* m/s2 */
    double nearer;     /* m by which the second corner approaches the first in a step */
} net;

static void draw_net(random_cases *r, net *s)
{
    *s = (net){.columns = 6 + random_index(r, SIDE_MAX - 5), .rows = 1 + random_index(r, SIDE_MAX)};
    s->length[0] = 1.0 / (s->columns - 1);
    s->length[1] = s->length[0] * random_between(r, 0.5, 2);
    s->nearer = random_index(r, 3) ? random_between(r, 1e-4, 2e-3) : 0;
    for (int c = 0; c < 3; c++)
        s->gravity[c] = c == 2 ? -9.81 : random_between(r, -2, 2);
    const double weight = random_magnitude(r, 1e-4, 1e-2);
    for (int32_t i = 0; i < s->columns * s->rows; i++) {
        const int32_t at[2] = {i % s->columns, i / s->columns};
        s->mass[i] = (sinew_real)(weight * random_between(r, 0.5, 2));
        for (int c = 0; c < 2; c++) {
            s->X[3 * i + c] = (sinew_real)(at[c] * s->length[c]);
            if (at[c] + 1 < (c ? s->rows : s->columns)) {
                s->edges[2 * s->edge_count] = i;
                s->edges[2 * s->edge_count++ + 1] = i + (c ? s->columns : 1);
            }
        }
    }
}

static sinew_world *make_net(const net *s, sinew_solver_kind kind, sinew_energy *energy, sinew_pin *pins)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh_def shape = sinew_default_mesh_def();
    sinew_body_def body = sinew_default_body_def();
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_error error = {0};
    shape.vertex_count = s->columns * s->rows;
    shape.positions = s->X;
    shape.edge_count = s->edge_count;
    shape.edges = s->edges;
    def.time_step = (sinew_real)STEP;
    def.thread_count = 1;
    for (int c = 0; c < 3; c++)
        def.gravity[c] = (sinew_real)s->gravity[c];
    def.solver = sinew_default_solver_def(kind);
    def.solver.tolerance = (sinew_real)TOLERANCE;
    def.solver.iterations = 300;
    sinew_mesh *mesh = sinew_mesh_create(&shape, &error);
    must(&error);
    sinew_world *world = make_world(&def);
    body.mesh = mesh;
    body.masses = s->mass;
    rods.body = sinew_world_add_body(world, &body, &error);
    must(&error);
    rods.hard = true;
    *energy = add_energy(world, &rods);
    *pins = add_pins(world, rods.body, (int32_t[2]){0, s->columns - 1}, 2, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

/* ---- Checks -------------------------------------------------------------------------------------- */

static double edge_of(const net *s, const sinew_real *q, int32_t e, double along[3])
{
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        along[c] = (double)q[3 * s->edges[2 * e + 1] + c] - (double)q[3 * s->edges[2 * e] + c];
        sum += along[c] * along[c];
    }
    return sqrt(sum);
}

/* The largest violation of an edge in its natural scale: |J| times the diagonal of the rest shape's box. */
static double max_open(const net *s, const sinew_real *q)
{
    double max = 0, along[3];
    for (int32_t e = 0; e < s->edge_count; e++) {
        const int32_t apart = s->edges[2 * e + 1] - s->edges[2 * e];
        max = fmax(max, fabs(edge_of(s, q, e, along) - s->length[apart != 1]));
    }
    const double sides[2] = {(s->columns - 1) * s->length[0], (s->rows - 1) * s->length[1]};
    return max / (sqrt(2) * hypot(sides[0], sides[1]));
}

/* |M (q - q_tilde) / h^2 - J^T lambda| of the free vertices, relative to the larger of the norm of the single edge
 * forces and that of the forces at the start. */
static double unbalanced(const net *s, const sinew_real *q, const double *q_tilde, const sinew_real *lambda,
                         double start)
{
    static double force[3 * VERTICES_MAX];
    const int32_t count = s->columns * s->rows;
    double sum = 0, pulls = 0, along[3];
    for (int32_t i = 0; i < 3 * count; i++)
        force[i] = (double)s->mass[i / 3] * ((double)q[i] - q_tilde[i]) / (STEP * STEP);
    for (int32_t e = 0; e < s->edge_count; e++) {
        const double l = edge_of(s, q, e, along), pull = (double)lambda[e];
        pulls += 2 * pull * pull;
        for (int c = 0; c < 3; c++) {
            force[3 * s->edges[2 * e + 1] + c] -= pull * along[c] / l;
            force[3 * s->edges[2 * e] + c] += pull * along[c] / l;
        }
    }
    for (int32_t i = 0; i < 3 * count; i++)
        sum += i / 3 == 0 || i / 3 == s->columns - 1 ? 0 : force[i] * force[i];
    return sqrt(sum) / fmax(sqrt(pulls), start);
}

typedef struct tally {
    int steps, open, unsolved;
    int straight;     /* unsolved steps between fixed corners */
    double max, left; /* largest constraint and force errors of steps that report success */
    double iterations;
} tally;

/* Takes one step, in which the second corner approaches. */
static void take_step(const net *s, sinew_world *world, sinew_energy energy, sinew_pin pins, int k, tally *t)
{
    static sinew_real q[3 * VERTICES_MAX], v[3 * VERTICES_MAX], lambda[EDGES_MAX];
    static double q_tilde[3 * VERTICES_MAX];
    const int32_t count = s->columns * s->rows;
    const sinew_real to[6] = {0, 0, 0, (sinew_real)(1 - (k + 1) * s->nearer), 0, 0};
    sinew_step_result result;
    sinew_error error = {0};
    int32_t given;
    sinew_pin_set_targets(world, pins, to, &error);
    must(&error);
    sinew_world_get_positions(world, 0, count, q);
    sinew_world_get_velocities(world, 0, count, v);
    double start = 0;
    for (int32_t i = 0; i < 3 * count; i++) {
        q_tilde[i] = (double)q[i] + STEP * (double)v[i] + STEP * STEP * s->gravity[i % 3];
        start += pow((double)s->mass[i / 3] * (q_tilde[i] - (double)q[i]) / (STEP * STEP), 2);
    }
    const uint32_t bits = sinew_world_step(world, &result);
    sinew_world_get_positions(world, 0, count, q);
    sinew_energy_multipliers(world, energy, EDGES_MAX, lambda, &given, &error);
    must(&error);
    t->steps++;
    t->iterations += result.iterations;
    t->open += (bits & ~(uint32_t)SINEW_STEP_NOT_CONVERGED) != 0;
    t->unsolved += bits != 0;
    t->straight += bits != 0 && s->nearer == 0;
    if (!(bits & ~(uint32_t)SINEW_STEP_NOT_CONVERGED))
        t->max = fmax(t->max, max_open(s, q));
    if (bits == 0)
        t->left = fmax(t->left, unbalanced(s, q, q_tilde, lambda, sqrt(start)));
}

static tally run_nets(const char *name, sinew_solver_kind kind, uint64_t seed, int32_t count)
{
    static net s;
    random_cases r = {.state = seed};
    tally t = {0};
    for (int32_t k = 0; k < count; k++) {
        sinew_energy energy;
        sinew_pin pins;
        draw_net(&r, &s);
        sinew_world *world = make_net(&s, kind, &energy, &pins);
        for (int i = 0; i < STEPS; i++)
            take_step(&s, world, energy, pins, i, &t);
        sinew_world_destroy(world);
    }
    print_message(
        "%s: %d steps of %.1f iterations, %d not met, %d not solved (%d straight); off by %.2g, forces %.2g\n", name,
        t.steps, t.iterations / t.steps, t.open, t.unsolved, t.straight, t.max, t.left);
    return t;
}

static void taut_edges_are_met(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("taut nets", 6, 150);
    const tally sap = run_nets("sap", SINEW_SOLVER_SAP, r.state, r.count);
    const tally exact = run_nets("primal-dual", SINEW_SOLVER_PRIMAL_DUAL, r.state, r.count);
    assert_true(sap.max <= TOLERANCE && exact.max <= TOLERANCE);
    assert_true(exact.left <= BALANCE);
    assert_int_equal(sap.open, 0);
    assert_int_equal(exact.open, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(taut_edges_are_met)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
