/* SPDX-License-Identifier: MIT
 *
 * test_systems_tets.c: systems of compliant constraints (`constraints` = all), of tets and springs, against the dense
 * matrix assembled and solved here.
 *
 *     [ M/h^2  J^T   ] [ dq ]   [ M/h^2 (q_tilde - q) ]      tets: C = V^1/2 |F - R|, alpha = 1/k
 *     [ J     -alpha ] [ -y ] = [ -C                  ]      springs: C = l - L, alpha = 1/k, or 0 where hard
 *
 * at q = q_n (kkt; scd without geometric stiffness) or at q = q_tilde (an iteration of sap). dq does not depend on the
 * scale of C: C/c with alpha/c^2 is the same energy.
 */
#include "failing_malloc.h"
#include "spring_system.h"

enum {
    TETS = 40,
    ROWS = TETS + SYSTEM_SPRINGS,
    UNKNOWNS = 3 * SYSTEM_VERTICES + ROWS
};

#ifdef SINEW_SINGLE
#define NEAR  2e-5 /* m */
#define FORCE 2e-3 /* relative to the largest multiplier */
#else
#define NEAR  1e-10
#define FORCE 1e-7
#endif

typedef struct tet_system {
    spring_system springs;
    int32_t tet_count, tets[4 * TETS];
    double stiffness; /* Pa */
} tet_system;

/* ---- Constraints ------------------------------------------------------------------------------------- */

static void inverse3(const double A[9], double B[9])
{
    double det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
            B[3 * j + i] = A[3 * a + c] * A[3 * b + d] - A[3 * a + d] * A[3 * b + c];
        }
    for (int j = 0; j < 3; j++)
        det += A[j] * B[3 * j];
    for (int i = 0; i < 9; i++)
        B[i] /= det;
}

/* The rotation of F by Newton's method, R <- (R + R^-T) / 2. */
static void rotation_of(const double F[9], double R[9])
{
    memcpy(R, F, 9 * sizeof *R);
    for (int k = 0; k < 60; k++) {
        double B[9];
        inverse3(R, B);
        for (int i = 0; i < 9; i++)
            R[i] = 0.5 * (R[i] + B[3 * (i % 3) + i / 3]);
    }
}

/* Edges of a tet from its first vertex, as columns. */
static void edges_of(const double *q, const int32_t *tet, double D[9])
{
    for (int i = 0; i < 9; i++)
        D[i] = q[3 * tet[1 + i % 3] + i / 3] - q[3 * tet[0] + i / 3];
}

static double tet_row(const tet_system *s, const double *q, const int32_t *tet, double *J)
{
    double rest[9], B[9], D[9], F[9] = {0}, R[9], P[9], sum = 0, volume = 0;
    edges_of(s->springs.rest, tet, rest);
    edges_of(q, tet, D);
    inverse3(rest, B);
    for (int i = 0; i < 27; i++)
        F[i / 3] += D[3 * (i / 9) + i % 3] * B[3 * (i % 3) + i / 3 % 3];
    rotation_of(F, R);
    for (int i = 0; i < 9; i++)
        sum += (F[i] - R[i]) * (F[i] - R[i]);
    for (int j = 0; j < 3; j++)
        volume += rest[j] *
                  (rest[3 + (j + 1) % 3] * rest[6 + (j + 2) % 3] - rest[3 + (j + 2) % 3] * rest[6 + (j + 1) % 3]) / 6;
    const double root = sqrt(fabs(volume)), length = sqrt(sum);
    for (int i = 0; i < 9; i++)
        P[i] = root * (F[i] - R[i]) / length;
    for (int i = 0; i < 27; i++) {
        const int c = i / 9, a = i / 3 % 3, k = i % 3;
        J[3 * tet[1 + a] + c] += P[3 * c + k] * B[3 * a + k];
        J[3 * tet[0] + c] -= P[3 * c + k] * B[3 * a + k];
    }
    return root * length;
}

static double spring_row(const system_spring *p, const double *q, double *J)
{
    double n[3];
    const double l = spring_between(q, p, n);
    for (int c = 0; c < 3; c++) {
        J[3 * p->ends[1] + c] += n[c];
        J[3 * p->ends[0] + c] -= n[c];
    }
    return l - p->length;
}

/* ---- The dense system ---------------------------------------------------------------------------- */

/* x [3 vertex_count + rows]: dq and -y of all constraints linearised at q, tets first. */
static void solve_system(const tet_system *s, const double *q, double *x)
{
    const spring_system *p = &s->springs;
    const int n = 3 * p->vertex_count, rows = s->tet_count + p->spring_count, all = n + rows;
    double *A = make_array((size_t)(all * all), sizeof *A);
    for (int i = 0; i < n; i++) {
        A[i * all + i] = p->pinned[i / 3] ? 1 : p->mass[i / 3] / (p->h * p->h);
        x[i] = p->pinned[i / 3] ? 0 : A[i * all + i] * (system_q_tilde(p, i) - q[i]);
    }
    for (int r = 0; r < rows; r++) {
        double J[3 * SYSTEM_VERTICES] = {0};
        const system_spring *spring = &p->springs[r < s->tet_count ? 0 : r - s->tet_count];
        x[n + r] = -(r < s->tet_count ? tet_row(s, q, s->tets + 4 * r, J) : spring_row(spring, q, J));
        A[(n + r) * all + n + r] = r < s->tet_count ? -1 / s->stiffness : spring->hard ? 0 : -1 / spring->stiffness;
        for (int i = 0; i < n; i++)
            if (!p->pinned[i / 3])
                A[i * all + n + r] = A[(n + r) * all + i] = J[i];
    }
    assert_int_equal(dense_solve(A, all, x, all, SYSTEM_PIVOT), all);
    free(A);
}

/* ---- Worlds --------------------------------------------------------------------------------------- */

/* A beam of tets with a few springs across it, randomly deformed. */
static tet_system draw_tets(random_cases *r, int32_t hard)
{
    tet_system s = {.springs = draw_system(r, hard, 12), .stiffness = random_magnitude(r, 1e3, 1e6)};
    sinew_mesh *mesh = make_beam(2, 2, 1, 1, 0.8, 0.5);
    s.tet_count = sinew_mesh_tet_count(mesh);
    assert_true(s.tet_count <= TETS);
    memcpy(s.tets, sinew_mesh_tets(mesh), 4 * (size_t)s.tet_count * sizeof *s.tets);
    for (int i = 0; i < 3 * s.springs.vertex_count; i++)
        s.springs.q[i] =
            (double)(sinew_real)(s.springs.rest[i] + (s.springs.pinned[i / 3] ? 0 : random_between(r, -0.04, 0.04)));
    sinew_mesh_destroy(mesh);
    return s;
}

static sinew_world *make_tets(tet_system *s, const sinew_solver_def *def, sinew_energy *hard, sinew_energy *tets)
{
    sinew_world *world = make_system(&s->springs, def, 1, hard);
    sinew_real q[3 * SYSTEM_VERTICES];
    sinew_energy_def strain = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    strain.body = (sinew_body){.index = -1};
    strain.elements = s->tets;
    strain.element_count = s->tet_count;
    strain.parameters[0] = (sinew_real)s->stiffness;
    *tets = add_energy(world, &strain);
    for (int i = 0; i < 3 * s->springs.vertex_count; i++)
        q[i] = (sinew_real)s->springs.q[i];
    sinew_world_set_positions(world, 0, s->springs.vertex_count, q);
    return world;
}

static void set_words(sinew_solver_def *def, const char *const *words)
{
    sinew_error error = {0};
    for (; *words; words += 2)
        sinew_solver_def_set_keyword(def, words[0], words[1], &error);
    must(&error);
}

/* ---- Tests ---------------------------------------------------------------------------------------- */

/* A step of one system, from q_n or from q_tilde. */
static void compare_step(random_cases *r, sinew_solver_kind kind, const char *const *words, bool ahead,
                         int32_t hard_count, double *worst)
{
    tet_system s = draw_tets(r, hard_count);
    sinew_solver_def def = sinew_default_solver_def(kind);
    sinew_energy hard, tets;
    double q[3 * SYSTEM_VERTICES], x[UNKNOWNS];
    def.iterations = 1;
    def.tolerance = 0;
    set_words(&def, words);
    sinew_world *world = make_tets(&s, &def, &hard, &tets);
    const spring_system *p = &s.springs;
    for (int i = 0; i < 3 * p->vertex_count; i++)
        q[i] = ahead && !p->pinned[i / 3] ? system_q_tilde(p, i) : p->q[i];
    solve_system(&s, q, x);
    for (int i = 0; i < 3 * p->vertex_count; i++)
        q[i] += x[i];
    assert_false(sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_STALLED | SINEW_STEP_NOT_FINITE));
    sinew_real *at = positions_of(world);
    worst[0] = fmax(worst[0], system_distance(q, at, p->vertex_count));
    if (hard_count > 0) {
        double lambda[SYSTEM_SPRINGS], max = 0;
        system_multipliers(world, hard, lambda);
        for (int k = 0; k < hard_count; k++)
            max = fmax(max, fabs(x[3 * p->vertex_count + s.tet_count + k]));
        for (int k = 0; k < hard_count; k++)
            worst[1] = fmax(worst[1], fabs(lambda[k] + x[3 * p->vertex_count + s.tet_count + k]) / max);
    }
    free(at);
    sinew_world_destroy(world);
}

static void systems_are_the_dense_ones(void **unused)
{
    (void)unused;
    static const struct way {
        const char *name;
        sinew_solver_kind kind;
        const char *words[7];
        bool ahead;
        int32_t hard; /* number of hard springs, for which kkt has another right-hand side */
    } ways[] = {
        {"kkt", SINEW_SOLVER_KKT, {"constraints", "all", "matrix", "mass"}, false, 0},
        {"kkt, schur", SINEW_SOLVER_KKT, {"constraints", "all", "matrix", "mass", "system", "schur"}, false, 0},
        {"scd", SINEW_SOLVER_SCD, {"constraints", "all", "geometric", "off"}, false, 6},
        {"sap", SINEW_SOLVER_SAP, {"constraints", "all"}, true, 6},
    };
    random_cases r = random_cases_begin("tets", 5, 200);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        double worst[2] = {0};
        for (int k = 0; k < r.count; k++)
            compare_step(&r, ways[w].kind, ways[w].words, ways[w].ahead, ways[w].hard, worst);
        print_message("%s: %.1e m from the dense solution, multipliers by %.1e\n", ways[w].name, worst[0], worst[1]);
        assert_true(worst[0] <= NEAR && worst[1] <= FORCE);
    }
}

/* After warm-up a step of every solver of systems, on tets and hard springs, allocates nothing: supernodes,
 * permutations and refinement keep their buffers. */
static void steps_take_no_memory(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_SAP, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_KKT,
                                              SINEW_SOLVER_SCD, SINEW_SOLVER_DAE};
    for (size_t k = 0; k < 2 * sizeof kinds / sizeof kinds[0]; k++) {
        random_cases r = {.state = 11 + k};
        tet_system s = draw_tets(&r, 6);
        sinew_solver_def def = sinew_default_solver_def(kinds[k / 2]);
        sinew_energy hard, tets;
        if (kinds[k / 2] != SINEW_SOLVER_DAE)
            set_words(&def, (const char *const[]){"constraints", k % 2 ? "all" : "hard", NULL});
        sinew_world *world = make_tets(&s, &def, &hard, &tets);
        sinew_world_step(world, NULL);
        sinew_world_step(world, NULL);
        failing_malloc_arm(0, false);
        sinew_world_step(world, NULL);
        assert_int_equal(atomic_load(&failing_malloc.asked), 0);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    failing_malloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(systems_are_the_dense_ones),
        cmocka_unit_test(steps_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
