/* SPDX-License-Identifier: MIT
 *
 * test_system_methods.c: properties of the solvers of constraint systems beyond test_systems.c: sap satisfies
 * constraints and approaches primal-dual as h shrinks; its system solved by sweeps is PBD; full and Schur systems
 * agree; redundant and contradictory constraints are named; scd's saved state; drift of kkt and dae; the same bits for
 * any number of threads.
 */
#include "spring_system.h"

#include "small_world.h"

#ifdef SINEW_SINGLE
#define SAME 1e-4
#define MET  1e-4
#else
#define SAME 1e-10
#define MET  1e-10
#endif

static sinew_solver_def solver_of(sinew_solver_kind kind)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-5 : 1e-12);
    return def;
}

static void set_word(sinew_solver_def *def, const char *name, const char *word)
{
    sinew_error error = {0};
    sinew_solver_def_set_keyword(def, name, word, &error);
    must(&error);
}

/* ---- sap ----------------------------------------------------------------------------------------- */

/* The end of one step of length h; returns false if the step reports unsatisfied constraints. */
static bool step_of(spring_system *s, sinew_solver_kind kind, double h, double *q)
{
    sinew_energy hard;
    sinew_step_result result;
    const sinew_solver_def def = solver_of(kind);
    s->h = h;
    sinew_world *world = make_system(s, &def, 1, &hard);
    const uint32_t bits = sinew_world_step(world, &result);
    assert_false(bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
    if (bits & SINEW_STEP_CONSTRAINTS)
        print_message("%s at h = %g s: violation %g m after %d iterations\n", sinew_get_solver_info(kind)->name, h,
                      result.violation, result.iterations);
    /* Constraints that are dependent only where they hold are satisfied to 1e-9. */
    const bool met = !(bits & SINEW_STEP_CONSTRAINTS);
    assert_true(!met || s->hard_count == 0 || result.violation <= (result.constraints[0] ? fmax(MET, 2e-9) : MET));
    sinew_real *at = positions_of(world);
    for (int i = 0; i < 3 * s->vertex_count; i++)
        q[i] = (double)at[i];
    free(at);
    sinew_world_destroy(world);
    return met;
}

/* Rods alone, in motion: the distance of sap from primal-dual falls with h. Nets that a long step moves too far are
 * skipped. */
static void sap_comes_nearer_to_the_referee(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("sap", 3, 60);
    int missed = 0;
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, 8 + random_index(&r, 8), 0);
        double far[3] = {0, 0, 0};
        bool met = true;
        for (int i = 0; met && i < 3; i++) {
            double a[3 * SYSTEM_VERTICES], b[3 * SYSTEM_VERTICES];
            met = step_of(&s, SINEW_SOLVER_SAP, 0.02 / (1 << 2 * i), a) &&
                  step_of(&s, SINEW_SOLVER_PRIMAL_DUAL, 0.02 / (1 << 2 * i), b);
            for (int c = 0; met && c < 3 * s.vertex_count; c++)
                far[i] = fmax(far[i], fabs(a[c] - b[c]));
        }
        missed += !met;
        if (!met)
            continue;
        print_message("sap from primal-dual at h = 0.02, 0.005, 0.00125 s: %.2e %.2e %.2e m, order %.2f\n", far[0],
                      far[1], far[2], log(far[0] / far[2]) / log(16));
        if (sizeof(sinew_real) == 8)
            assert_true(far[2] < 1e-13 || far[0] / far[2] > 16);
    }
    assert_true(missed <= 1 + r.count / 20);
}

/* One sweep over the constraints of the system, linearised at q (frozen) or at the current positions; updates q and
 * lambda [spring_count]. Soft springs have compliance alpha = 1/k: (w_0 + w_1 + alpha/h^2) dlambda = -C - alpha/h^2
 * lambda. */
static void sweep_rows(const spring_system *s, double *q, double *lambda, bool relinearise)
{
    double start[3 * SYSTEM_VERTICES];
    memcpy(start, q, sizeof start);
    for (int k = 0; k < s->spring_count; k++) {
        const system_spring *p = &s->springs[k];
        const double *at = relinearise ? q : start, alpha = p->hard ? 0 : 1 / (p->stiffness * s->h * s->h);
        double n[3], top = p->length - spring_between(at, p, n) - alpha * lambda[k], bottom = alpha;
        for (int c = 0; c < 3; c++)
            top -= n[c] * ((q[3 * p->ends[1] + c] - at[3 * p->ends[1] + c]) -
                           (q[3 * p->ends[0] + c] - at[3 * p->ends[0] + c]));
        for (int e = 0; e < 2; e++)
            bottom += s->pinned[p->ends[e]] ? 0 : 1 / s->mass[p->ends[e]];
        lambda[k] += top / bottom;
        for (int e = 0; e < 2; e++)
            for (int c = 0; c < 3 && !s->pinned[p->ends[e]]; c++)
                q[3 * p->ends[e] + c] += (e ? 1 : -1) * n[c] * top / bottom / s->mass[p->ends[e]];
    }
}

/* Distance, m, of `sweeps` iterations of a solver from as many reference sweeps over the system. */
static double off_sweeps(spring_system *s, sinew_solver_kind kind, int sweeps, bool relinearise)
{
    double q[3 * SYSTEM_VERTICES], lambda[SYSTEM_SPRINGS] = {0};
    sinew_energy hard;
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = sweeps;
    def.tolerance = 0;
    set_word(&def, "order", "mesh");
    sinew_world *world = make_system(s, &def, 1, &hard);
    for (int i = 0; i < 3 * s->vertex_count; i++)
        q[i] = s->pinned[i / 3] ? s->q[i] : system_q_tilde(s, i);
    for (int i = 0; i < sweeps; i++)
        sweep_rows(s, q, lambda, relinearise);
    sinew_world_step(world, NULL);
    sinew_real *at = positions_of(world);
    const double off = system_distance(q, at, s->vertex_count);
    free(at);
    sinew_world_destroy(world);
    return off;
}

static void a_sweep_over_the_system_is_pbd(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("sweep", 5, 100);
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, 12, 0);
        double off[2];
        for (int half = 0; half < 2; half++) {
            s.h = half ? 0.001 : 0.002;
            const double relinearise = off_sweeps(&s, SINEW_SOLVER_PBD, 1, true);
            off[half] = off_sweeps(&s, SINEW_SOLVER_PBD, 1, false);
            if (!(relinearise <= (sizeof(sinew_real) == 4 ? 1e-5 : 1e-12)))
                fail_msg("case %d: a sweep with rows linearised relinearise is %g m from PBD", k, relinearise);
        }
        print_message("frozen rows: %.2e m from PBD at h = 2 ms, %.2e m at 1 ms, order %.2f\n", off[0], off[1],
                      log2(off[0] / off[1]));
        if (sizeof(sinew_real) == 8)
            assert_true(off[0] / off[1] > 2.5);
    }
}

/* With compliance: sweeps over the compliant step-and-project system, which keep lambda, equal iterations of XPBD. */
static void sweeps_over_the_compliant_system_are_xpbd(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("compliant sweeps", 5, 100);
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, random_index(&r, 2) * 6, 12);
        const double off = off_sweeps(&s, SINEW_SOLVER_XPBD, 3, true);
        if (!(off <= (sizeof(sinew_real) == 4 ? 1e-5 : 1e-12)))
            fail_msg("case %d: three sweeps are %g m from XPBD", k, off);
    }
}

/* ---- Velocity filter ------------------------------------------------------------------------------- */

/* Soft springs step first, by linearly implicit Euler. sap then acts as on rods alone that start at the end of that
 * step: a filter on velocities. */
static void sap_filters_what_other_energies_did(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("filter", 5, 100);
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, 6, 12), soft = s, rods = s;
        double q[2][3 * SYSTEM_VERTICES], stepped[3 * SYSTEM_VERTICES];
        memmove(soft.springs, s.springs + 6, 12 * sizeof *s.springs);
        soft.hard_count = 0;
        soft.spring_count = 12;
        rods.spring_count = 6;
        step_of(&soft, SINEW_SOLVER_LINEAR_IMPLICIT, s.h, stepped);
        memset(rods.gravity, 0, sizeof rods.gravity);
        for (int i = 0; i < 3 * s.vertex_count; i++)
            rods.v[i] = (stepped[i] - s.q[i]) / s.h;
        const bool met = step_of(&s, SINEW_SOLVER_SAP, s.h, q[0]) && step_of(&rods, SINEW_SOLVER_SAP, s.h, q[1]);
        double max = 0;
        for (int i = 0; met && i < 3 * s.vertex_count; i++)
            max = fmax(max, fabs(q[0][i] - q[1][i]));
        if (!(max <= SAME))
            fail_msg("case %d: filtered %g m from what rods alone make of it", k, max);
    }
}

/* ---- kkt ----------------------------------------------------------------------------------------- */

static void full_and_schur_agree(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("schur", 6, 200);
    double max = 0;
    int stalled = 0;
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, random_index(&r, 15), 1 + random_index(&r, 25));
        sinew_real *at[2];
        bool definite = true;
        for (int schur = 0; schur < 2; schur++) {
            sinew_energy hard;
            sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_KKT);
            set_word(&def, "constraints", "all");
            set_word(&def, "matrix", "mass");
            set_word(&def, "system", schur ? "schur" : "full");
            sinew_world *world = make_system(&s, &def, 1, &hard);
            for (int step = 0; step < 3; step++) {
                const uint32_t bits = sinew_world_step(world, NULL);
                definite = definite && !(bits & SINEW_STEP_STALLED);
                assert_false(bits & SINEW_STEP_UNPREPARED);
            }
            assert_true(schur || definite);
            at[schur] = positions_of(world);
            sinew_world_destroy(world);
        }
        stalled += !definite;
        for (int i = 0; definite && i < 3 * s.vertex_count; i++)
            max = fmax(max, fabs((double)at[0][i] - (double)at[1][i]));
        free(at[0]);
        free(at[1]);
    }
    print_message("full and Schur systems differ by at most %.2e m, %d stalled\n", max, stalled);
    assert_true(max <= SAME && stalled <= 1 + r.count / 20);
}

/* The matrix A: M/h^2 alone, M/h^2 plus the Hessian of the soft springs, or M/h^2 with soft springs as compliant
 * constraints C + J dq + alpha lambda = 0, (3.26), whose elimination adds J^T J / alpha. */
enum {
    BY_MASS,
    BY_STIFFNESS,
    BY_ROWS,
    MATRICES
};

static void add_rows(const spring_system *s, int all, double *K)
{
    for (int k = s->hard_count; k < s->spring_count; k++) {
        const system_spring *p = &s->springs[k];
        double n[3];
        spring_between(s->q, p, n);
        for (int a = 0; a < 6; a++)
            for (int b = 0; b < 6; b++) {
                const int i = 3 * p->ends[a / 3] + a % 3, j = 3 * p->ends[b / 3] + b % 3;
                if (!s->pinned[i / 3] && !s->pinned[j / 3])
                    K[i * all + j] += (a / 3 == b / 3 ? 1 : -1) * p->stiffness * n[a % 3] * n[b % 3];
            }
    }
}

/* The system of thesis (3.21), dq = h v, solved densely: [A -J^T; J 0] (dq, lambda) = (M/h v + f, 0). */
static void dense_velocities(const spring_system *s, int matrix, double *q)
{
    const int n = 3 * s->vertex_count, all = n + s->hard_count;
    double *K = make_array((size_t)all * (size_t)all, sizeof *K), *b = make_array((size_t)all, sizeof *b);
    double lambda[SYSTEM_SPRINGS] = {0}, C[SYSTEM_SPRINGS];
    system_conditions(s, s->q, lambda, b, C);
    system_matrix(s, s->q, lambda, false, K);
    for (int i = 0; i < n; i++) {
        b[i] = -b[i];
        for (int j = 0; j < n && matrix != BY_STIFFNESS; j++)
            K[i * all + j] = i != j ? 0 : s->pinned[i / 3] ? 1 : s->mass[i / 3] / (s->h * s->h);
    }
    if (matrix == BY_ROWS)
        add_rows(s, all, K);
    for (int k = 0; k < s->hard_count; k++)
        b[n + k] = 0;
    dense_solve(K, all, b, all, SYSTEM_PIVOT);
    for (int i = 0; i < n; i++)
        q[i] = s->q[i] + b[i];
    free(K);
    free(b);
}

/* Distance, m, of a step of kkt from `start` to the solution of the dense system. Negative if compressed springs made A
 * indefinite and it was shifted, which the status reports. */
static double off_dense(spring_system *s, const sinew_real *start, int matrix)
{
    double q[3 * SYSTEM_VERTICES];
    sinew_energy hard;
    sinew_solver_def def = solver_of(SINEW_SOLVER_KKT);
    set_word(&def, "matrix", matrix == BY_STIFFNESS ? "stiffness" : "mass");
    set_word(&def, "constraints", matrix == BY_ROWS ? "all" : "hard");
    sinew_world *world = make_system(s, &def, 1, &hard);
    assert_int_equal(sinew_world_set_positions(world, 0, s->vertex_count, start), SINEW_OK);
    dense_velocities(s, matrix, q);
    const uint32_t bits = sinew_world_step(world, NULL);
    assert_false(bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    sinew_real *at = positions_of(world);
    const double off = system_distance(q, at, s->vertex_count);
    free(at);
    sinew_world_destroy(world);
    return bits & SINEW_STEP_INDEFINITE ? -1 : off;
}

/* Rods and springs away from their rest lengths: kkt takes the step of the dense system. */
static void velocities_are_those_of_the_system(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("velocities", 6, 200);
    double max = 0;
    int shifted = 0;
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, 1 + random_index(&r, 8), 1 + random_index(&r, 15));
        sinew_real start[3 * SYSTEM_VERTICES];
        for (int i = 0; i < 3 * s.vertex_count; i++) {
            start[i] = (sinew_real)(s.rest[i] + (s.pinned[i / 3] ? 0 : random_between(&r, -0.02, 0.02)));
            s.q[i] = (double)start[i];
        }
        for (int matrix = 0; matrix < MATRICES; matrix++) {
            const double off = off_dense(&s, start, matrix);
            max = fmax(max, off);
            shifted += off < 0;
        }
    }
    print_message("kkt and the dense system of (3.21) differ by at most %.2e m, %d shifted\n", max, shifted);
    assert_true(max <= SAME && shifted < r.count);
}

/* A pendulum: a mass on a rod that is pinned at the origin, with a sideways velocity. */
static sinew_world *pendulum(const sinew_solver_def *solver, double h)
{
    const double from[3] = {0, 0, 0}, to[3] = {0, -1, 0};
    const sinew_real v[6] = {0, 0, 0, 2, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_rope(2, from, to);
    sinew_energy_def rod = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    def.solver = *solver;
    def.time_step = (sinew_real)h;
    def.thread_count = 1;
    sinew_world *world = make_world(&def);
    rod.body = add_mesh(world, mesh, 1, NULL, v);
    rod.hard = true;
    add_energy(world, &rod);
    add_pins(world, rod.body, &(int32_t){0}, 1, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static double length_after(const sinew_solver_def *solver, double h, double seconds)
{
    sinew_world *world = pendulum(solver, h);
    for (int i = 0; i < (int)lround(seconds / h); i++)
        assert_false(sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
    sinew_real *q = positions_of(world);
    const double x = (double)q[3], y = (double)q[4], z = (double)q[5];
    free(q);
    sinew_world_destroy(world);
    return sqrt(x * x + y * y + z * z);
}

/* Constraints on accelerations drift more than constraints on velocities; positions and stabilised constraints do not
 * drift. */
static void drift_is_what_the_level_says(void **unused)
{
    (void)unused;
    const double h = 0.01, seconds = 1;
    sinew_solver_def kkt = solver_of(SINEW_SOLVER_KKT), sap = solver_of(SINEW_SOLVER_SAP);
    sinew_solver_def scd = solver_of(SINEW_SOLVER_SCD), exact = solver_of(SINEW_SOLVER_PRIMAL_DUAL);
    sinew_solver_def dae[3];
    static const char *const words[3] = {"none", "baumgarte", "projection"};
    double drift[3];
    for (int i = 0; i < 3; i++) {
        dae[i] = solver_of(SINEW_SOLVER_DAE);
        set_word(&dae[i], "stabilisation", words[i]);
        drift[i] = fabs(length_after(&dae[i], h, seconds) - 1);
    }
    const double of_kkt = fabs(length_after(&kkt, h, seconds) - 1), half = fabs(length_after(&kkt, h / 2, seconds) - 1);
    const double of_sap = fabs(length_after(&sap, h, seconds) - 1), of_scd = fabs(length_after(&scd, h, seconds) - 1);
    const double of_exact = fabs(length_after(&exact, h, seconds) - 1);
    print_message(
        "pendulum after 1 s at h = 10 ms, length less 1: kkt %.2e (5 ms: %.2e), dae none %.2e, baumgarte %.2e, "
        "projection %.2e, scd %.2e, sap %.2e, primal-dual %.2e\n",
        of_kkt, half, drift[0], drift[1], drift[2], of_scd, of_sap, of_exact);
    assert_true(of_sap <= MET && of_exact <= MET && drift[2] <= MET);
    assert_true(of_kkt > 1e-3 && half < 0.7 * of_kkt);
    assert_true(drift[1] < drift[0] && of_scd < 0.1 * of_kkt);
}

/* ---- Redundant and contradictory ------------------------------------------------------------------ */

/* Rods between given points, hard or compliant. */
static sinew_world *framework(const sinew_solver_def *solver, const double (*places)[3], int32_t count,
                              const int32_t *springs, int32_t spring_count, int32_t pinned, bool hard)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh_def shape = sinew_default_mesh_def();
    sinew_error error = {0};
    sinew_real positions[3 * 16];
    int32_t edges[2 * 16];
    for (int32_t i = 0; i < 3 * count; i++)
        positions[i] = (sinew_real)places[i / 3][i % 3];
    for (int32_t i = 0; i + 1 < count; i++) {
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
    }
    shape.positions = positions;
    shape.vertex_count = count;
    shape.edges = edges;
    shape.edge_count = count - 1;
    sinew_mesh *mesh = sinew_mesh_create(&shape, &error);
    must(&error);
    def.solver = *solver;
    def.time_step = (sinew_real)0.01;
    def.thread_count = 1;
    sinew_world *world = make_world(&def);
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    rods.body = add_mesh(world, mesh, 1, NULL, NULL);
    rods.elements = springs;
    rods.element_count = spring_count;
    rods.hard = hard;
    add_energy(world, &rods);
    if (pinned >= 0)
        add_pins(world, rods.body, &pinned, 1, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static const double square[4][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
static const int32_t square_rods[16] = {0, 1, 1, 2, 2, 3, 3, 0, 0, 2, 1, 3, 0, 1};

static int count_named(const char *text)
{
    int count = 0;
    const char *at = strstr(text, "element");
    for (at = at ? at + 7 : ""; *at; at++)
        count += at[0] == ' ' && at[1] >= '0' && at[1] <= '9';
    return count;
}

/* A planar quadrilateral with both diagonals has one redundant rod (5 suffice), a duplicate makes two. */
static void redundant_rows_are_named(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_SAP, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_KKT,
                                              SINEW_SOLVER_SCD};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        for (int32_t count = 5; count <= 7; count++) {
            const sinew_solver_def def = sinew_default_solver_def(kinds[k]);
            sinew_step_result result;
            sinew_world *world = framework(&def, square, 4, square_rods, count, -1, true);
            /* A velocity makes the step violate the constraints, so that there is something to solve. */
            const sinew_real v[3] = {1, 0.5, 0};
            sinew_world_set_velocities(world, 2, 1, v);
            const uint32_t bits = sinew_world_step(world, &result);
            assert_false(bits & (SINEW_STEP_CONTRADICTORY | SINEW_STEP_UNPREPARED));
            if (count == 5 ? result.constraints[0] != '\0'
                           : count_named(result.constraints) != count - 5 ||
                                 !strstr(result.constraints, "redundant: energy 0 (spring), element"))
                fail_msg("%s with %d rods says \"%s\"", sinew_get_solver_info(def.kind)->name, count,
                         result.constraints);
            assert_true(kinds[k] != SINEW_SOLVER_PRIMAL_DUAL || bits == 0);
            sinew_world_destroy(world);
        }
}

/* Two rods of different length between the same vertices: both are named, and no other; the state is kept. */
static void contradictory_rows_are_named(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_SAP, SINEW_SOLVER_PRIMAL_DUAL};
    for (size_t k = 0; k < 2; k++) {
        const sinew_solver_def def = sinew_default_solver_def(kinds[k]);
        sinew_step_result result;
        sinew_error error = {0};
        sinew_world *world = framework(&def, square, 4, square_rods, 7, 0, true);
        const sinew_real longer[6] = {0, 0, 0, (sinew_real)1.1, 0, 0};
        sinew_energy_set_rest(world, sinew_world_energy_at(world, 0), 6, 1, longer, &error);
        must(&error);
        sinew_energy_switch(world, sinew_world_energy_at(world, 0), &(int32_t){5}, 1, false, &error);
        must(&error);
        const uint64_t before = sinew_world_state_hash(world);
        const uint32_t bits = sinew_world_step(world, &result);
        if (!(bits & SINEW_STEP_CONTRADICTORY) ||
            strcmp(result.constraints,
                   "contradictory, take one away or make it compliant: energy 0 (spring), element 0 6") != 0)
            fail_msg("%s: bits %x, \"%s\"", sinew_get_solver_info(def.kind)->name, bits, result.constraints);
        assert_true(sinew_world_state_hash(world) == before);
        sinew_world_destroy(world);
    }
}

/* With compliance neither is an error (thesis 3.7.3): redundant rods share the force. Two rods of different lengths and
 * equal stiffness settle in the middle, some mm lower because of the hanging weight. */
static void compliance_cures_both(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_SAP, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_KKT,
                                              SINEW_SOLVER_SCD};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        sinew_solver_def def = sinew_default_solver_def(kinds[k]);
        sinew_step_result result;
        sinew_error error = {0};
        set_word(&def, "constraints", "all");
        static const int32_t twice[4] = {0, 1, 0, 1};
        sinew_world *world = framework(&def, square, 2, twice, 2, 0, false);
        const sinew_real longer[6] = {0, 0, 0, (sinew_real)1.1, 0, 0};
        const sinew_energy rods = sinew_world_energy_at(world, 0);
        sinew_energy_set_rest(world, rods, 1, 1, longer, &error);
        must(&error);
        for (int i = 0; i < 400; i++) {
            const uint32_t bits = sinew_world_step(world, &result);
            assert_false(bits & (SINEW_STEP_CONTRADICTORY | SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE));
            assert_true(result.constraints[0] == '\0');
        }
        sinew_real *q = positions_of(world);
        const double length = sqrt(pow((double)q[3], 2) + pow((double)q[4], 2) + pow((double)q[5], 2));
        print_message("%s: rods of 1 and 1.1 m, compliant: %.6f m\n", sinew_get_solver_info(def.kind)->name, length);
        assert_true(fabs(length - 1.05) < 1e-2);
        free(q);
        sinew_world_destroy(world);
    }
}

/* ---- State, threads ------------------------------------------------------------------------------- */

static void scd_goes_on_from_its_state(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("state", 1, 20);
    for (int k = 0; k < r.count; k++) {
        spring_system s = draw_system(&r, 10, 10);
        const sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_SCD);
        sinew_energy hard;
        sinew_error error = {0};
        sinew_world *first = make_system(&s, &def, 1, &hard), *second = make_system(&s, &def, 2, &hard);
        sinew_world_step(first, NULL);
        sinew_world_step(first, NULL);
        const size_t size = sinew_world_state_size(first);
        void *bytes = make_array(size, 1);
        assert_int_equal(sinew_world_state_save(first, bytes, size), SINEW_OK);
        assert_int_equal(sinew_world_state_load(second, bytes, size, &error), SINEW_OK);
        for (int i = 0; i < 3; i++) {
            sinew_world_step(first, NULL);
            sinew_world_step(second, NULL);
        }
        assert_true(sinew_world_state_hash(first) == sinew_world_state_hash(second));
        free(bytes);
        sinew_world_destroy(first);
        sinew_world_destroy(second);
    }
}

/* A hard rope long enough to be cut into chunks for several threads. */
static uint64_t rope_hash(sinew_solver_kind kind, int32_t threads)
{
    const double from[3] = {0, 0, 0}, to[3] = {sizeof(sinew_real) == 4 ? 14.0 : 10.0, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_rope(sizeof(sinew_real) == 4 ? 14000 : 10000, from, to);
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    def.solver = sinew_default_solver_def(kind);
    def.solver.iterations = 2;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    def.thread_count = threads;
    def.time_step = (sinew_real)1e-3;
    sinew_world *world = make_world(&def);
    rods.body = add_mesh(world, mesh, 1, NULL, NULL);
    rods.hard = true;
    add_energy(world, &rods);
    add_pins(world, rods.body, &(int32_t){0}, 1, NULL);
    sinew_mesh_destroy(mesh);
    sinew_world_step(world, NULL);
    sinew_world_step(world, NULL);
    const uint64_t hash = sinew_world_state_hash(world);
    sinew_world_destroy(world);
    return hash;
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_SAP, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_KKT,
                                              SINEW_SOLVER_SCD, SINEW_SOLVER_DAE};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const uint64_t one = rope_hash(kinds[k], 1);
        assert_true(rope_hash(kinds[k], 2) == one && rope_hash(kinds[k], 3) == one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sap_comes_nearer_to_the_referee),
        cmocka_unit_test(a_sweep_over_the_system_is_pbd),
        cmocka_unit_test(sweeps_over_the_compliant_system_are_xpbd),
        cmocka_unit_test(sap_filters_what_other_energies_did),
        cmocka_unit_test(full_and_schur_agree),
        cmocka_unit_test(velocities_are_those_of_the_system),
        cmocka_unit_test(drift_is_what_the_level_says),
        cmocka_unit_test(redundant_rows_are_named),
        cmocka_unit_test(contradictory_rows_are_named),
        cmocka_unit_test(compliance_cures_both),
        cmocka_unit_test(scd_goes_on_from_its_state),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
