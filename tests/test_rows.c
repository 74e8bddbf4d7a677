/* SPDX-License-Identifier: MIT
 *
 * test_rows.c: energies as constraints in a world: the volume of a closed surface, six strains of a tet, one-sided
 * edges, and refused elements.
 *
 * References: the volume summed here, finite differences of the objective, Newton's method with each of its linear
 * solvers, and updates written out by hand.
 */
#include "failing_allocator.h"
#include "linear_methods.h"
#include "make_world.h"
#include "small_world.h"

#ifdef SINEW_SINGLE
#define NEAR   2e-4
#define SOLVED 1e-3
#else
#define NEAR   1e-9
#define SOLVED 1e-7
#endif

/* ---- A filled block -------------------------------------------------------------------------------- */

enum {
    FACTOR_PERCENT = 120,
    FILLED_VERTICES = 4 * 3 * 3
};

typedef struct filled {
    sinew_world *world;
    sinew_mesh *mesh;
    sinew_body body;
    sinew_energy volume;
} filled;

static filled make_filled(sinew_solver_kind kind, const char *parameter, double value, bool hard, bool with)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    filled f = {.mesh = make_beam(3, 2, 2, 1.5, 1, 1)};
    def.thread_count = 2;
    def.gravity[1] = 0;
    def.time_step = (sinew_real)0.05;
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_GAP;
    if (parameter)
        def.solver.parameters[sinew_solver_parameter(kind, parameter)] = (sinew_real)value;
    f.world = make_world(&def);
    f.body = add_mesh(f.world, f.mesh, 1000, NULL, NULL);
    add_material(f.world, f.body, SINEW_ENERGY_STRAIN, 2e4, 0);
    sinew_energy_def volume = sinew_default_energy_def(SINEW_ENERGY_ENCLOSED_VOLUME);
    volume.body = f.body;
    volume.hard = hard;
    volume.parameters[sinew_energy_parameter(volume.kind, "stiffness")] = 5e5;
    volume.parameters[sinew_energy_parameter(volume.kind, "pressure_factor")] = (sinew_real)(FACTOR_PERCENT / 100.0);
    if (with)
        f.volume = sinew_world_add_energy(f.world, &volume, &error);
    must(&error);
    return f;
}

static void free_filled(filled *f)
{
    sinew_world_destroy(f->world);
    sinew_mesh_destroy(f->mesh);
}

/* The volume of all tets, which their surface encloses. */
static double volume_of(const filled *f, const sinew_real *q)
{
    double sum = 0;
    const int32_t *tets = sinew_mesh_tets(f->mesh);
    for (int32_t t = 0; t < sinew_mesh_tet_count(f->mesh); t++) {
        double e[3][3];
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                e[a][c] = (double)q[3 * tets[4 * t + a + 1] + c] - (double)q[3 * tets[4 * t] + c];
        sum += (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
                e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
               6;
    }
    return fabs(sum);
}

static double volume_now(const filled *f)
{
    sinew_real *q = positions_of(f->world);
    const double volume = volume_of(f, q);
    free(q);
    return volume;
}

/* Positions with a reproducible random perturbation. */
static sinew_real *shaken(const filled *f)
{
    uint32_t state = 7;
    sinew_real *q = positions_of(f->world);
    for (int32_t i = 0; i < 3 * sinew_world_particle_count(f->world); i++)
        q[i] += (sinew_real)(0.05 * next_random(&state));
    return q;
}

static double objective_at(const filled *f, const sinew_real *q, sinew_real *gradient)
{
    double value;
    assert_int_equal(sinew_world_objective(f->world, q, &value, gradient), SINEW_OK);
    return value;
}

/* The objective contains psi = k / (2 V_0) (V - f V_0)^2, with its gradient. */
static void objective_has_the_volume(void **unused)
{
    (void)unused;
    filled f = make_filled(SINEW_SOLVER_NEWTON, NULL, 0, false, true);
    filled bare = make_filled(SINEW_SOLVER_NEWTON, NULL, 0, false, false);
    sinew_real *q = shaken(&f), *gradient = make_array(3 * (size_t)sinew_world_particle_count(f.world), sizeof *q);
    const double V = volume_of(&f, q), V0 = 1.5, C = V - FACTOR_PERCENT / 100.0 * V0;
    const double psi = 5e5 / (2 * V0) * C * C,
                 difference = objective_at(&f, q, gradient) - objective_at(&bare, q, NULL);
    if (!(fabs(difference - psi) <= 10 * NEAR * psi))
        fail_msg("the volume costs %.12g J, the objective has %.12g J", psi, difference);
    const double step = 1e-4;
    for (int32_t i = 0; sizeof(sinew_real) == 8 && i < 3 * sinew_world_particle_count(f.world); i += 5) {
        const sinew_real at = q[i];
        q[i] = at + (sinew_real)step;
        const double up = objective_at(&f, q, NULL);
        q[i] = at - (sinew_real)step;
        const double slope = (up - objective_at(&f, q, NULL)) / (2 * step);
        q[i] = at;
        if (!(fabs(slope - (double)gradient[i]) <= 1e-4 * (1 + fabs(slope))))
            fail_msg("unknown %d: gradient %.9g, differences %.9g", i, (double)gradient[i], slope);
    }
    free(q);
    free(gradient);
    free_filled(&f);
    free_filled(&bare);
}

/* Every linear solver of Newton's method includes the dense term of the Hessian: few steps, and the same end. */
static void newton_is_exact(void **unused)
{
    (void)unused;
    static const double linears[] = {0, 1, 2, 3, 5}; /* values of `linear` without gs */
    sinew_real *first = NULL;
    double worst = 0;
    for (size_t k = 0; k < sizeof linears / sizeof linears[0]; k++) {
        if (linears[k] > 2 && !linear_methods_register())
            continue; /* lu and qr need a registered linear solver */
        filled f = make_filled(SINEW_SOLVER_NEWTON, "linear", linears[k], false, true);
        const sinew_solver_info *info = sinew_get_solver_info(SINEW_SOLVER_NEWTON);
        const char *choices = info->parameters[sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear")].choices;
        sinew_step_result result;
        for (int step = 0; step < 3; step++) {
            sinew_world_step(f.world, &result);
            if (result.bits & ~(uint32_t)(SINEW_STEP_INDEFINITE | SINEW_STEP_INVERTED) || result.iterations > 40)
                fail_msg("linear number %g of %s: bits %x after %d iterations, relative residual %g: %s", linears[k],
                         choices, (unsigned)result.bits, result.iterations, result.relative_residual,
                         sinew_world_error(f.world));
            if (!(result.gap_kind == SINEW_GAP_BELOW ||
                  (result.gap_kind == SINEW_GAP_ESTIMATE && result.gap < SOLVED * fabs(result.objective))))
                fail_msg("linear number %g: the gap is %g J: %s", linears[k], result.gap, result.gap_reason);
        }
        sinew_real *q = positions_of(f.world);
        for (int32_t i = 0; first && i < 3 * sinew_world_particle_count(f.world); i++)
            worst = fmax(worst, fabs((double)q[i] - (double)first[i]));
        if (first)
            free(q);
        else
            first = q;
        free_filled(&f);
    }
    free(first);
    print_message("newton's linear solvers agree to %.1e m\n", worst);
    assert_true(worst < 1e3 * SOLVED);
}

/* Sweeps of both kinds keep a hard volume for any number of threads; a compliant one is near Newton's solution. */
static void sweeps_keep_the_volume(void **unused)
{
    (void)unused;
    static const char *const orders[] = {"coloured", "mesh", "jacobi"};
    filled exact = make_filled(SINEW_SOLVER_NEWTON, NULL, 0, false, true);
    sinew_world_step(exact.world, NULL);
    const double wanted = volume_now(&exact);
    for (int order = 0; order < 3; order++) {
        filled hard = make_filled(SINEW_SOLVER_XPBD, "order", order, true, true);
        filled soft = make_filled(SINEW_SOLVER_XPBD, "order", order, false, true);
        sinew_solver_def solver = sinew_world_solver(hard.world);
        sinew_error error = {0};
        solver.iterations = order == 2 ? 2000 : 200;
        sinew_world_set_solver(hard.world, &solver, &error);
        sinew_world_set_solver(soft.world, &solver, &error);
        must(&error);
        sinew_world_step(hard.world, NULL);
        sinew_world_step(soft.world, NULL);
        const double kept = volume_now(&hard) / (1.5 * FACTOR_PERCENT / 100.0), near = volume_now(&soft) / wanted;
        print_message("%s: hard volume off by %.1e, compliant by %.1e of newton's\n", orders[order], kept - 1,
                      near - 1);
        assert_true(fabs(kept - 1) < 2e-3 && fabs(near - 1) < 5e-3);
        free_filled(&hard);
        free_filled(&soft);
    }
    free_filled(&exact);
}

static void threads_do_not_matter(void **unused)
{
    (void)unused;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        sinew_world_def def = sinew_default_world_def();
        def.thread_count = k == 0 ? 1 : 3;
        def.solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
        sinew_mesh *mesh = make_beam(16, 6, 6, 2, 1, 1);
        sinew_world *world = make_world(&def);
        const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
        add_material(world, body, SINEW_ENERGY_GREEN_STRAIN, 1e5, 0.3);
        sinew_energy_def volume = sinew_default_energy_def(SINEW_ENERGY_ENCLOSED_VOLUME);
        volume.body = body;
        add_energy(world, &volume);
        for (int step = 0; step < 3; step++)
            sinew_world_step(world, NULL);
        hash[k] = sinew_world_state_hash(world);
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
    }
    assert_true(hash[0] == hash[1]);
}

/* Positions after a step with a compliant volume and two hard springs; free them. `constraints`: value of the solver's
 * parameter. */
static sinew_real *step_with_hard_springs(sinew_solver_kind kind, double constraints, sinew_step_result *result)
{
    filled f = make_filled(kind, "constraints", constraints, false, true);
    sinew_solver_def solver = sinew_world_solver(f.world);
    sinew_error error = {0};
    const int32_t edges[4] = {0, 1, 2, 3};
    solver.iterations = 60;
    solver.measure = SINEW_MEASURE_RESIDUAL;
    assert_int_equal(sinew_world_set_solver(f.world, &solver, &error), SINEW_OK);
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = f.body;
    spring.elements = edges;
    spring.element_count = 2;
    spring.hard = true;
    add_energy(f.world, &spring);
    sinew_world_step(f.world, result);
    sinew_real *q = positions_of(f.world);
    free_filled(&f);
    return q;
}

/* Objective and residual contain a compliant volume also if only hard energies are constraints: primal-dual reaches the
 * minimum that it reaches with all energies as constraints, and its residual is that of the objective. */
static void minima_have_the_volume(void **unused)
{
    (void)unused;
    const sinew_solver_kind kind = SINEW_SOLVER_PRIMAL_DUAL;
    sinew_step_result results[2];
    sinew_real *q[2];
    for (int hard = 0; hard < 2; hard++) {
        q[hard] = step_with_hard_springs(kind, hard, &results[hard]);
        assert_true(results[hard].objective > 100); /* J: the volume is not that of rest */
        assert_true(results[hard].iterations > 1);
        assert_true(results[hard].relative_residual < SOLVED);
    }
    assert_true(fabs(results[0].objective / results[1].objective - 1) < SOLVED);
    for (int i = 0; i < 3 * FILLED_VERTICES; i++)
        assert_true(fabs((double)(q[0][i] - q[1][i])) < SOLVED);
    free(q[0]);
    free(q[1]);
}

static void open_surfaces_and_solvers_are_refused(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_PD, SINEW_SOLVER_QN, SINEW_SOLVER_ADMM, SINEW_SOLVER_PBNG};
    filled f = make_filled(SINEW_SOLVER_NEWTON, NULL, 0, false, false);
    sinew_error error = {0};
    sinew_energy_def volume = sinew_default_energy_def(SINEW_ENERGY_ENCLOSED_VOLUME);
    const int32_t one[3] = {0, 1, 2};
    volume.body = f.body;
    volume.elements = one;
    volume.element_count = 1;
    sinew_world_add_energy(f.world, &volume, &error);
    refused(&error, SINEW_ERROR_DATA, "3 edges have one triangle");
    volume.elements = NULL;
    volume.transient = true;
    sinew_world_add_energy(f.world, &volume, &error);
    refused(&error, SINEW_ERROR_DATA, "enclosed_volume");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        char why[256];
        assert_false(sinew_solver_accepts(kinds[k], SINEW_ENERGY_ENCLOSED_VOLUME, why, sizeof why));
        assert_non_null(strstr(why, "enclosed_volume"));
    }
    free_filled(&f);
}

/* ---- Strains --------------------------------------------------------------------------------------- */

/* A flying and spinning tet with six hard strains keeps its edge lengths. */
static void hard_strains_make_a_tet_rigid(void **unused)
{
    (void)unused;
    const sinew_real points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    const int32_t tet[4] = {0, 1, 2, 3};
    sinew_error error = {0};
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    mesh_def.vertex_count = 4;
    mesh_def.positions = points;
    mesh_def.tet_count = 1;
    mesh_def.tets = tet;
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, &error);
    must(&error);
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(SINEW_SOLVER_XPBD);
    def.solver.iterations = 30;
    sinew_real v[12] = {0, 2, 0, 0, -3, 1, 1, 0, 0, -2, 0, 1};
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, v);
    sinew_energy_def strain = sinew_default_energy_def(SINEW_ENERGY_GREEN_STRAIN);
    strain.body = body;
    strain.hard = true;
    add_energy(world, &strain);
    double worst = 0;
    for (int step = 0; step < 20; step++) {
        sinew_world_step(world, NULL);
        sinew_real *q = positions_of(world);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < a; b++) {
                double length = 0, rest = 0;
                for (int c = 0; c < 3; c++) {
                    length += pow((double)q[3 * a + c] - (double)q[3 * b + c], 2);
                    rest += pow((double)points[3 * a + c] - (double)points[3 * b + c], 2);
                }
                worst = fmax(worst, fabs(sqrt(length / rest) - 1));
            }
        free(q);
    }
    print_message("edges of a rigid tet change by %.1e\n", worst);
    assert_true(worst < 100 * NEAR);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

/* ---- Edges ----------------------------------------------------------------------------------------- */

/* Two particles one metre apart, the first one pinned, and an edge between them. */
static sinew_world *make_edge(sinew_solver_kind kind, const sinew_energy_def *given, sinew_error *error)
{
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_GAP;
    def.solver.iterations = 1;
    sinew_mesh *mesh = make_rope(2, from, to);
    sinew_world *world = make_world(&def);
    sinew_energy_def edge = *given;
    edge.body = add_mesh(world, mesh, 2, NULL, NULL);
    sinew_world_add_energy(world, &edge, error);
    sinew_mesh_destroy(mesh);
    return world;
}

/* The force on the second particle at the given edge length. */
static double force_at(sinew_world *world, double length)
{
    sinew_real q[6] = {0, 0, 0, (sinew_real)length, 0, 0}, g[6], inertia[6];
    const sinew_real rest[6] = {0, 0, 0, 1, 0, 0};
    sinew_real mass[2];
    double value;
    assert_int_equal(sinew_world_objective(world, q, &value, g), SINEW_OK);
    assert_int_equal(sinew_world_get_masses(world, 0, 2, mass), SINEW_OK);
    const double h = (double)sinew_world_time_step(world);
    for (int i = 0; i < 6; i++)
        inertia[i] = (sinew_real)((double)mass[i / 3] / (h * h) * ((double)q[i] - (double)rest[i]));
    return (double)inertia[3] - (double)g[3];
}

static sinew_energy_def limited(double minimum, double maximum)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_EDGE_STRAIN);
    def.parameters[sinew_energy_parameter(def.kind, "minimum")] = (sinew_real)minimum;
    def.parameters[sinew_energy_parameter(def.kind, "maximum")] = (sinew_real)maximum;
    return def;
}

static void ropes_pull_and_struts_push(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const sinew_energy_def rope_def = limited(0, 1), strut_def = limited(1, 1e6);
    sinew_world *rope = make_edge(SINEW_SOLVER_NEWTON, &rope_def, &error);
    sinew_world *strut = make_edge(SINEW_SOLVER_NEWTON, &strut_def, &error);
    must(&error);
    const double small = sizeof(sinew_real) == 4 ? 1 : 1e-6;
    assert_true(fabs(force_at(rope, 1.5) + 500) < small && fabs(force_at(rope, 0.5)) < small);
    assert_true(fabs(force_at(strut, 0.5) - 500) < small && fabs(force_at(strut, 1.5)) < small);
    sinew_world_destroy(rope);
    sinew_world_destroy(strut);
}

/* One update of c = l/L - 1 with alpha = 1/(k L^2), k = 2 mu A/L, equals one of edge_strain with stiffness 2 mu A. */
static void strain_of_the_slides(void **unused)
{
    (void)unused;
    const double mu = 300, area = 0.7, L = 1, k = 2 * mu * area / L, alpha = 1 / (k * L * L), v = 4;
    sinew_error error = {0};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_EDGE_STRAIN);
    def.parameters[0] = (sinew_real)(2 * mu * area);
    sinew_world *world = make_edge(SINEW_SOLVER_XPBD, &def, &error);
    must(&error);
    const sinew_real velocity[6] = {0, 0, 0, (sinew_real)v, 0, 0};
    sinew_real mass[2];
    assert_int_equal(sinew_world_set_velocities(world, 0, 2, velocity), SINEW_OK);
    assert_int_equal(sinew_world_get_masses(world, 0, 2, mass), SINEW_OK);
    const double h = (double)sinew_world_time_step(world), w = 1 / (double)mass[0] + 1 / (double)mass[1];
    const double l = 1 + h * v, c = l / L - 1, lambda = -c / (w / (L * L) + alpha / (h * h));
    const double first = -lambda / L / (double)mass[0], second = l + lambda / L / (double)mass[1];
    sinew_world_step(world, NULL);
    sinew_real *q = positions_of(world);
    assert_true(fabs((double)q[0] - first) < 1e3 * CLOSE && fabs((double)q[3] - second) < 1e3 * CLOSE);
    free(q);
    sinew_world_destroy(world);
}

/* Elements that cannot be constraints are named. */
static void bad_elements_are_named(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    const int32_t edges[4] = {0, 1, 1, 1};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_EDGE_STRAIN);
    def.elements = edges;
    def.element_count = 2;
    sinew_world *world = make_edge(SINEW_SOLVER_XPBD, &def, &error);
    assert_int_equal(error.status, SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "1"));
    sinew_world_destroy(world);
    const sinew_real stiffness[2] = {1000, -1};
    const int32_t twice[4] = {0, 1, 1, 0};
    def.elements = twice;
    def.element_parameters[0] = stiffness;
    error = (sinew_error){0};
    world = make_edge(SINEW_SOLVER_XPBD, &def, &error);
    refused(&error, SINEW_ERROR_DATA, "element 1");
    sinew_world_destroy(world);
}

/* ---- Memory ---------------------------------------------------------------------------------------- */

/* Builds and steps a world with a global constraint and a roller; returns false with the reason if memory runs out. */
static bool run_with(const sinew_mesh *mesh, sinew_solver_kind kind, failing_allocator *memory, sinew_error *error)
{
    const int32_t vertex = 0;
    const sinew_real along[3] = {1, 2, 3};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = hooks_of(memory);
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_GAP;
    sinew_world *world = sinew_world_create(&def, error);
    if (!world)
        return false;
    sinew_body_def body = sinew_default_body_def();
    sinew_energy_def strain = sinew_default_energy_def(SINEW_ENERGY_GREEN_STRAIN),
                     volume = sinew_default_energy_def(SINEW_ENERGY_ENCLOSED_VOLUME);
    sinew_pin_def roller = sinew_default_pin_def();
    body.mesh = mesh;
    body.density = 1000;
    roller.body = strain.body = volume.body = sinew_world_add_body(world, &body, error);
    roller.vertices = &vertex;
    roller.vertex_count = 1;
    roller.directions = kind == SINEW_SOLVER_NEWTON ? along : NULL;
    roller.direction_count = 1;
    const bool good = strain.body.index >= 0 && sinew_world_add_energy(world, &strain, error).index >= 0 &&
                      sinew_world_add_energy(world, &volume, error).index >= 0 &&
                      sinew_world_add_pins(world, &roller, error).index >= 0 &&
                      sinew_world_prepare(world, error) == SINEW_OK;
    /* Newton's method treats a factorisation without memory as failed, and continues. */
    if (good)
        sinew_world_step(world, NULL);
    sinew_world_destroy(world);
    return good;
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_XPBD};
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        failing_allocator memory = {0};
        sinew_error error = {0};
        int64_t refusals = 0;
        for (memory.fail_at = 1; memory.fail_at <= memory.calls + 1; memory.fail_at++) {
            memory.calls = 0;
            error = (sinew_error){0};
            const bool good = run_with(mesh, kinds[k], &memory, &error);
            refusals += !good;
            assert_true(good || error.status == SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
            if (memory.calls < memory.fail_at)
                break;
        }
        assert_true(refusals > 20);
    }
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(objective_has_the_volume),      cmocka_unit_test(newton_is_exact),
        cmocka_unit_test(sweeps_keep_the_volume),        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(minima_have_the_volume),        cmocka_unit_test(open_surfaces_and_solvers_are_refused),
        cmocka_unit_test(hard_strains_make_a_tet_rigid), cmocka_unit_test(ropes_pull_and_struts_push),
        cmocka_unit_test(strain_of_the_slides),          cmocka_unit_test(bad_elements_are_named),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
