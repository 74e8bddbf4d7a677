/* SPDX-License-Identifier: MIT
 *
 * test_foreign_energy.c: a stencil and energies outside the library (foreign_energies.h) are registered and run in
 * every solver that supports them: steps against newton's, derivatives against finite differences, refusals by name.
 */
#include "random_cases.h"
#include "small_world.h"

#include "energy_batch.h"
#include "foreign_energies.h"

#ifdef SINEW_SINGLE
#define NEAR 5e-4 /* m, of a rope of 1 m */
#else
#define NEAR 1e-6
#endif

typedef enum foreign_name {
    BEND,
    LEAN,
    FOLD,
    GROUND,
    FOREIGN_COUNT
} foreign_name;

static sinew_energy_ops wide[FOREIGN_COUNT], scalar[FOREIGN_COUNT];
static sinew_foreign_energy foreign[FOREIGN_COUNT];
static sinew_energy_kind kinds[FOREIGN_COUNT];

static int register_all(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const sinew_stencil corner = sinew_stencil_register(&corner_row, &error);
    must(&error);
    const sinew_energy_ops own[FOREIGN_COUNT] = {BEND_OPS(corner, ), LEAN_OPS(corner, ), FOLD_OPS(corner, ),
                                                 GROUND_OPS()};
    const sinew_energy_ops one[FOREIGN_COUNT] = {BEND_OPS(corner, _one), LEAN_OPS(corner, _one), FOLD_OPS(corner, _one),
                                                 GROUND_OPS(_one)};
    memcpy(wide, own, sizeof wide);
    memcpy(scalar, one, sizeof scalar);
    for (int i = 0; i < FOREIGN_COUNT; i++) {
        foreign[i] = (sinew_foreign_energy){&wide[i], &scalar[i]};
        kinds[i] = sinew_energy_register(&foreign[i], &error);
        must(&error);
    }
    return 0;
}

static void they_are_known(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    for (int i = 0; i < FOREIGN_COUNT; i++) {
        assert_true((int)kinds[i] > SINEW_ENERGY_COUNT);
        assert_ptr_equal(sinew_energy_get_ops(kinds[i]), &wide[i]);
        assert_int_equal(sinew_energy_by_name(wide[i].info.name), kinds[i]);
        assert_int_equal(sinew_energy_parameter(kinds[i], "stiffness"), 0);
        assert_ptr_equal(sinew_energy_scalar(&wide[i]), &scalar[i]);
        assert_int_equal(sinew_energy_register(&foreign[i], &error), kinds[i]);
    }
    assert_null(sinew_energy_get_ops((sinew_energy_kind)(SINEW_ENERGY_COUNT + 1 + FOREIGN_COUNT)));
    assert_int_equal(sinew_energy_by_name("nothing"), SINEW_ENERGY_COUNT);
}

/* Energies that break the contract are refused, each with its reason. */
static void flaws_are_refused(void **unused)
{
    (void)unused;
    sinew_energy_ops bad[6];
    static const char *const why[6] = {"required",          "capabilities", "reduced_count",
                                       "incidence, vertex", "vertex_count", "of that name"};
    for (int i = 0; i < 6; i++) {
        bad[i] = wide[BEND];
        bad[i].info.name = i < 5 ? "bad" : "spring";
    }
    bad[0].product = NULL;
    bad[1].info.capabilities &= ~(uint32_t)SINEW_CAN_PROX;
    bad[2].stiffness = NULL;
    bad[3].vertex_change = NULL;
    bad[4].info.vertex_count = 4;
    for (int i = 0; i < 6; i++) {
        sinew_error error = {0};
        const sinew_foreign_energy energy = {&bad[i], &bad[i]};
        assert_int_equal(sinew_energy_register(&energy, &error), SINEW_ENERGY_COUNT);
        refused(&error, SINEW_ERROR_USAGE, why[i]);
    }
}

/* ---- Derivatives --------------------------------------------------------------------------------- */

enum {
    ELEMENTS = 5
};

static batch draw_batch(random_cases *r, const sinew_energy_ops *ops, int width)
{
    sample samples[ELEMENTS];
    const sinew_simd_variant simd = {.width = width};
    random_state = random_bits(r);
    for (int e = 0; e < ELEMENTS; e++)
        samples[e] = sample_make(&ops->info, &states[1]);
    return batch_make(&simd, ops, samples, ELEMENTS);
}

/* Central differences of `value` and `gradient`; doubles only. */
static void check_differences(batch *b)
{
    const double step = 1e-5;
    double H[SIZE_MAX3 * SIZE_MAX3];
    batch_linearise(b, false);
    for (int e = 0; e < b->count; e++) {
        batch_hessian(b, e, H);
        if (b->ops->inequalities && fabs((double)*batch_at(b, b->x, e, 1)) < 1e-3) /* near a kink of the gradient */
            continue;
        for (int i = 0; i < b->size; i++) {
            double value[2], slope[2][SIZE_MAX3];
            for (int side = 0; side < 2; side++) {
                *batch_at(b, b->x, e, i) += (sinew_real)(side ? -2 * step : step);
                value[side] = batch_gradient(b);
                assert_true(fabs(value[side] - batch_value(b)) <= 1e-12 * (1 + fabs(value[side])));
                for (int j = 0; j < b->size; j++)
                    slope[side][j] = (double)*batch_at(b, b->g, e, j);
            }
            *batch_at(b, b->x, e, i) += (sinew_real)step;
            batch_gradient(b);
            const double gradient = (double)*batch_at(b, b->g, e, i);
            assert_true(fabs((value[0] - value[1]) / (2 * step) - gradient) <= 1e-6 * (1 + fabs(gradient)));
            for (int j = 0; j < b->size; j++) {
                const double entry = H[j * b->size + i];
                assert_true(fabs((slope[0][j] - slope[1][j]) / (2 * step) - entry) <= 1e-6 * (1 + fabs(entry)));
            }
        }
    }
}

static void check_product(batch *b)
{
    double H[SIZE_MAX3 * SIZE_MAX3], Hp[SIZE_MAX3 * SIZE_MAX3];
    batch_linearise(b, false);
    for (int e = 0; e < b->count; e++) {
        batch_hessian(b, e, H);
        batch_product(b, e, Hp);
        for (int i = 0; i < b->size * b->size; i++)
            assert_true(fabs(H[i] - Hp[i]) <= (sizeof(sinew_real) == 4 ? 1e-4 : 1e-11) * (1 + fabs(H[i])));
    }
}

static void derivatives_agree(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("derivatives", 10, 1000);
    for (int32_t i = 0; i < r.count; i++)
        for (int k = 0; k < 2 * FOREIGN_COUNT; k++) {
            batch b = draw_batch(&r, k % 2 ? &scalar[k / 2] : &wide[k / 2], k % 2 ? 1 : sinew_simd_width());
            check_product(&b);
            if (sizeof(sinew_real) == 8)
                check_differences(&b);
            batch_free(&b);
        }
}

/* ---- Steps --------------------------------------------------------------------------------------- */

enum {
    VERTICES = 10
};

/* A deformed rope of corners, held by two vertices at each end. */
static sinew_world *make_corners(sinew_energy_kind kind, const sinew_solver_def *solver, bool quasistatic)
{
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
    sinew_real positions[3 * VERTICES];
    uint32_t seed = 7;
    sinew_mesh *mesh = make_rope(VERTICES, from, to);
    for (int i = 0; i < 3 * VERTICES; i++)
        positions[i] = sinew_mesh_positions(mesh)[i] +
                       (sinew_real)(i < 6 || i >= 3 * (VERTICES - 2) ? 0 : 0.05 * next_random(&seed));
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = quasistatic;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 0.5, positions, NULL);
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = body;
    energy.parameters[0] = 500;
    add_energy(world, &energy);
    add_pins(world, body, (const int32_t[]){0, 1, VERTICES - 2, VERTICES - 1}, 4, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_solver_def solver_of(sinew_solver_kind kind, int32_t iterations)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = iterations;
    return def;
}

/* The positions after one step. */
static sinew_real *step_of(sinew_energy_kind energy, const sinew_solver_def *solver, bool quasistatic,
                           sinew_step_result *result)
{
    sinew_world *world = make_corners(energy, solver, quasistatic);
    sinew_world_step(world, result);
    if (result->bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
        fail_msg("%s: bits %u, %s", sinew_get_solver_info(solver->kind)->name, result->bits, sinew_world_error(world));
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    return q;
}

static void check_step(foreign_name name, const sinew_solver_def *solver, bool quasistatic)
{
    const sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 100);
    sinew_step_result best, result;
    sinew_real *reference = step_of(kinds[name], &newton, quasistatic, &best);
    sinew_real *q = step_of(kinds[name], solver, quasistatic, &result);
    const sinew_solver_info *info = sinew_get_solver_info(solver->kind);
    double apart = 0;
    for (int i = 0; i < 3 * VERTICES; i++)
        apart = fmax(apart, fabs((double)q[i] - (double)reference[i]));
    if (!(apart <= NEAR))
        fail_msg("%s in %s: %g m from newton's step after %d iterations", wide[name].info.name, info->name, apart,
                 result.iterations);
    /* The gap is reported for every set of missing operations. */
    assert_true(result.gap_kind == SINEW_GAP_ESTIMATE || result.gap_kind == SINEW_GAP_BELOW);
    free(reference);
    free(q);
}

/* PBD does not converge to an energy's minimum: the test checks that it straightens the rope. */
static void check_pbd(foreign_name name)
{
    const sinew_solver_def pbd = solver_of(SINEW_SOLVER_PBD, 20000);
    sinew_step_result result;
    sinew_real *q = step_of(kinds[name], &pbd, false, &result);
    for (int i = 1; i + 1 < VERTICES; i++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs((double)(q[3 * (i - 1) + c] - 2 * q[3 * i + c] + q[3 * (i + 1) + c])) <= NEAR);
    free(q);
}

static void check_solver(foreign_name name, sinew_solver_kind kind)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    const int32_t order = sinew_solver_parameter(kind, "order");
    /* Integrators and sap do not converge to this step: test_integrators.c and test_systems.c cover them. */
    if (is_integrator(info) || kind == SINEW_SOLVER_SAP)
        return;
    if (kind == SINEW_SOLVER_PBD) {
        check_pbd(name);
        return;
    }
    for (int choice = 0; choice < (order >= 0 ? 3 : 1); choice++) { /* orders: coloured, mesh, Jacobi */
        sinew_solver_def solver = solver_of(kind, info->static_only ? 200000 : 20000);
        if (order >= 0)
            solver.parameters[order] = (sinew_real)choice;
        if (info->static_only) /* pseudo-time ends at an equilibrium only if its sweeps converge */
            solver.parameters[sinew_solver_parameter(kind, "sweeps")] = 200;
        check_step(name, &solver, info->static_only);
    }
}

/* The reason names energy and solver, and a solver that supports the energy; a world refuses with the same message. */
static void check_refusal(foreign_name name, sinew_solver_kind kind, const char *why)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    char begin[128];
    snprintf(begin, sizeof begin, "%s cannot take %s: it ", info->name, wide[name].info.name);
    assert_memory_equal(why, begin, strlen(begin));
    assert_non_null(strstr(why, "newton"));
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(kind);
    def.quasistatic = info->static_only;
    sinew_world *world = make_world(&def);
    sinew_error error = {0};
    sinew_energy_def energy = sinew_default_energy_def(kinds[name]);
    energy.elements = (const int32_t[]){0, 1, 2};
    energy.element_count = 1;
    assert_true(sinew_world_add_energy(world, &energy, &error).index < 0);
    refused(&error, SINEW_ERROR_UNSUPPORTED, begin);
    sinew_world_destroy(world);
}

/* `expected`: bits of the solvers with requirements that support the energy; solvers without requirements support all.
 */
static void check_everywhere(foreign_name name, uint32_t expected)
{
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
        expected |= sinew_get_solver_info((sinew_solver_kind)kind)->needs == 0 ? 1u << kind : 0;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        char why[512] = "";
        const bool takes = sinew_solver_accepts((sinew_solver_kind)kind, kinds[name], why, sizeof why);
        assert_true(takes == (expected >> kind & 1));
        if (takes) {
            check_solver(name, (sinew_solver_kind)kind);
            continue;
        }
        check_refusal(name, (sinew_solver_kind)kind, why);
    }
}

static void all_slots_run_everywhere(void **unused)
{
    (void)unused;
    check_everywhere(BEND, (1u << SINEW_SOLVER_COUNT) - 1);
}

static void without_reduced_coordinates(void **unused)
{
    (void)unused;
    check_everywhere(LEAN, 1u << SINEW_SOLVER_NEWTON | 1u << SINEW_SOLVER_XPBD | 1u << SINEW_SOLVER_PBD |
                               1u << SINEW_SOLVER_XPBD_QS | 1u << SINEW_SOLVER_PBNG | 1u << SINEW_SOLVER_MPBNG);
}

static void required_slots_alone(void **unused)
{
    (void)unused;
    check_everywhere(FOLD, 1u << SINEW_SOLVER_NEWTON);
}

/* ---- A constraint system from C, J and alpha ----------------------------------------------------- */

/* Particles fall through the ground. With C, J and alpha of the operation, (w J J^T + alpha / h^2) lambda = -C where
 * that pushes, as the ground is an inequality; newton on the energy finds the same positions. */
static void an_inequality_from_its_numbers(void **unused)
{
    (void)unused;
    const sinew_simd_variant *simd = sinew_simd();
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    sinew_world *world = make_world(&def);
    const double from[3] = {0, 0.5, 0}, to[3] = {1, -0.7, 0}, h = (double)def.time_step;
    sinew_mesh *mesh = make_rope(BATCH_MAX, from, to);
    const sinew_body body = add_mesh(world, mesh, 3, NULL, NULL);
    sinew_energy_def energy = sinew_default_energy_def(kinds[GROUND]);
    energy.body = body;
    add_energy(world, &energy);
    sinew_real *start = positions_of(world);
    sinew_world_step(world, NULL);
    sinew_real *q = positions_of(world);
    sample samples[BATCH_MAX];
    for (int e = 0; e < BATCH_MAX; e++) {
        samples[e] = sample_make(&wide[GROUND].info, &states[0]);
        samples[e].parameters[0] = wide[GROUND].info.parameters[0].preset;
        for (int c = 0; c < 3; c++)
            samples[e].x[c] = (double)start[3 * e + c];
    }
    batch b = batch_make(simd, &wide[GROUND], samples, BATCH_MAX);
    sinew_real C[BATCH_MAX], J[3 * BATCH_MAX], alpha[BATCH_MAX];
    const sinew_jacobian_kernel kernel = {.groups = {.count = b.group_count, .vertex = b.vertex, .data = b.data},
                                          .x = b.x,
                                          .C = C,
                                          .jacobian = J,
                                          .compliance = alpha};
    wide[GROUND].jacobian(&kernel);
    for (int e = 0; e < BATCH_MAX; e++) {
        const double mass = 3 * 1.5620499351813308 / (BATCH_MAX - 1) * (e % (BATCH_MAX - 1) == 0 ? 0.5 : 1),
                     w = 1 / mass;
        const double lambda = -(double)C[e] / (w + (double)alpha[e] / (h * h));
        const double y = (double)start[3 * e + 1] + w * ((wide[GROUND].inequalities & 1) ? fmax(lambda, 0) : lambda);
        assert_true(fabs(y - (double)q[3 * e + 1]) <= NEAR);
        assert_true(start[3 * e + 1] > 0 || q[3 * e + 1] > start[3 * e + 1]);
    }
    batch_free(&b);
    free(start);
    free(q);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_known),
        cmocka_unit_test(flaws_are_refused),
        cmocka_unit_test(derivatives_agree),
        cmocka_unit_test(all_slots_run_everywhere),
        cmocka_unit_test(without_reduced_coordinates),
        cmocka_unit_test(required_slots_alone),
        cmocka_unit_test(an_inequality_from_its_numbers),
    };
    return cmocka_run_group_tests(tests, register_all, NULL);
}
