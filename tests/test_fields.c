/* SPDX-License-Identifier: MIT
 *
 * test_fields.c: fields against formulas independent of the kernels: stresses from finite differences of the published
 * energy densities, closed forms of stretch and shear, weights that pins carry, momenta before and after.
 */
#define REFERENCE_REAL long double
#include "random_scene.h"
#include "reference_material.h"
#include "small_world.h"
#include "tet_materials.h"

#ifdef SINEW_SINGLE
#define RELATIVE 5e-4
#define SUMMED   2e-5
#define SOLVED   2e-4
#else
#define RELATIVE 1e-8
#define SUMMED   1e-12
#define SOLVED   1e-7
#endif

static void near(double found, double expected, double scale, const char *what)
{
    if (!(fabs(found - expected) <= RELATIVE * scale))
        fail_msg("%s: %.12g, expected %.12g", what, found, expected);
}

/* Values of a field of elements; the caller frees them. */
static sinew_real *field_of(sinew_world *world, sinew_energy energy, sinew_field_kind field, int32_t *count)
{
    sinew_error error = {0};
    assert_int_equal(sinew_energy_field(world, energy, field, 0, NULL, count, &error), SINEW_ERROR_DATA);
    sinew_real *values = make_array((size_t)*count, sizeof *values);
    sinew_energy_field(world, energy, field, *count, values, count, &error);
    must(&error);
    return values;
}

static sinew_real *particle_field(sinew_world *world, sinew_field_kind field)
{
    sinew_error error = {0};
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *values = make_array(3 * (size_t)n, sizeof *values);
    sinew_world_field(world, field, 0, n, values, &error);
    must(&error);
    return values;
}

/* ---- One deformation everywhere --------------------------------------------------------------- */

static const double young = 2e5, poisson = 0.3;

/* A box of tets, all of which are deformed by F. */
static sinew_world *deformed(sinew_energy_kind kind, const double F[9], sinew_energy *energy)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(2, 1, 1, 1, 0.5, 0.75);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int32_t i = 0; i < 3 * n; i++)
        for (int k = 0; k < 3; k++)
            x[i] += (sinew_real)(F[3 * (i % 3) + k] * (double)X[i - i % 3 + k]);
    const sinew_body body = add_mesh(world, mesh, 1000, x, NULL);
    *energy = add_material(world, body, kind, young, poisson);
    free(x);
    sinew_mesh_destroy(mesh);
    return world;
}

/* psi by the published formula, and the von Mises stress of P F^T / J with P by central differences of psi. */
static double reference_stress(sinew_energy_kind kind, const double F[9], double *psi)
{
    long double A[9], P[9], sigma[9] = {0}, unused[9], sum = 0;
    const long double step = 1e-5L;
    for (int i = 0; i < 9; i++)
        A[i] = F[i];
    *psi = (double)reference_material(kind, young, poisson, A, unused);
    for (int i = 0; i < 9; i++) {
        A[i] = F[i] + step;
        const long double above = reference_material(kind, young, poisson, A, unused);
        A[i] = F[i] - step;
        P[i] = (above - reference_material(kind, young, poisson, A, unused)) / (2 * step);
        A[i] = F[i];
    }
    const long double J = reference_det(A);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) {
                sigma[3 * i + j] += P[3 * i + k] * A[3 * j + k] / (2 * J);
                sigma[3 * j + i] += P[3 * i + k] * A[3 * j + k] / (2 * J);
            }
    for (int i = 0; i < 3; i++) {
        const long double apart = sigma[4 * i] - sigma[4 * ((i + 1) % 3)], shear = sigma[3 * i + (i + 1) % 3];
        sum += apart * apart / 2 + 3 * shear * shear;
    }
    return (double)sqrtl(sum);
}

/* Invariants of the stretches against those of F. */
static void check_stretches(const sinew_real *s, const double F[9])
{
    long double A[9], C[9];
    for (int i = 0; i < 9; i++)
        A[i] = F[i];
    reference_cofactor(A, C);
    const double a = (double)s[0], b = (double)s[1], c = (double)s[2];
    assert_true(a >= b && b >= fabs(c));
    near(a * b * c, (double)reference_det(A), 1, "product of stretches");
    near(a * a + b * b + c * c, (double)reference_norm2(A), 3, "their squares");
    near(a * a * b * b + b * b * c * c + c * c * a * a, (double)reference_norm2(C), 3, "their products");
}

static void check_deformation(sinew_energy_kind kind, const double F[9])
{
    int32_t count;
    double psi;
    sinew_energy energy;
    sinew_world *world = deformed(kind, F, &energy);
    const double stress = reference_stress(kind, F, &psi);
    static const sinew_field_kind fields[] = {SINEW_FIELD_DETERMINANT, SINEW_FIELD_STRETCHES, SINEW_FIELD_VON_MISES,
                                              SINEW_FIELD_ENERGY};
    long double A[9];
    for (int i = 0; i < 9; i++)
        A[i] = F[i];
    for (int f = 0; f < 4; f++) {
        sinew_real *values = field_of(world, energy, fields[f], &count);
        const int32_t tets = sinew_energy_element_count(world, energy);
        assert_int_equal(count, tets * sinew_get_field_info(fields[f])->component_count);
        for (int32_t e = 0; e < tets; e++) {
            if (f == 0)
                near((double)values[e], (double)reference_det(A), 1, "det F");
            else if (f == 1)
                check_stretches(values + 3 * e, F);
            else if (f == 2)
                near((double)values[e], stress, fmax(stress, 0.01 * young), sinew_get_energy_info(kind)->name);
            else
                near((double)values[e], psi, fmax(psi, 0.01 * young), sinew_get_energy_info(kind)->name);
        }
        free(values);
    }
    sinew_world_destroy(world);
}

static void every_material_has_the_stress_of_its_energy(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("fields", 40, 4000);
    for (int m = 0; m < MATERIALS; m++) {
        const double stretch[9] = {1.3, 0, 0, 0, 0.9, 0, 0, 0, 0.9}, shear[9] = {1, 0.4, 0, 0, 1, 0, 0, 0, 1};
        check_deformation(materials[m], stretch);
        check_deformation(materials[m], shear);
    }
    for (int32_t i = 0; i < r.count; i++) {
        double F[9];
        for (int k = 0; k < 9; k++)
            F[k] = (k % 4 == 0) + random_between(&r, -0.3, 0.3);
        const double t = random_between(&r, 0, 6.3), c = cos(t), s = sin(t);
        for (int k = 0; k < 3; k++) {
            const double a = F[k], b = F[3 + k];
            F[k] = c * a - s * b;
            F[3 + k] = s * a + c * b;
        }
        check_deformation(materials[random_index(&r, MATERIALS)], F);
    }
}

/* Closed forms of the neo-Hookean energy: sigma = mu/J (B - 1) + pressure, B = F F^T. */
static void rubber_by_hand(void **unused)
{
    (void)unused;
    const double mu = young / (2 * (1 + poisson)), a = 1.3, b = 0.9, g = 0.4;
    const double stretch[9] = {a, 0, 0, 0, b, 0, 0, 0, b}, shear[9] = {1, g, 0, 0, 1, 0, 0, 0, 1};
    const double stress[2] = {mu * (a * a - b * b) / (a * b * b), mu * sqrt(3 * g * g + g * g * g * g)};
    const double max[2] = {a, sqrt(1 + g * g / 4) + g / 2}, min[2] = {b, sqrt(1 + g * g / 4) - g / 2};
    for (int i = 0; i < 2; i++) {
        int32_t count;
        sinew_energy energy;
        sinew_world *world = deformed(SINEW_ENERGY_NEO_HOOKEAN, i ? shear : stretch, &energy);
        sinew_real *mises = field_of(world, energy, SINEW_FIELD_VON_MISES, &count);
        sinew_real *stretches = field_of(world, energy, SINEW_FIELD_STRETCHES, &count);
        near((double)mises[0], stress[i], stress[i], "von Mises");
        near((double)stretches[0], max[i], 1, "largest stretch");
        near((double)stretches[2], min[i], 1, "smallest stretch");
        free(mises);
        free(stretches);
        sinew_world_destroy(world);
    }
}

/* ---- Sums -------------------------------------------------------------------------------------- */

static double tet_volume(const sinew_mesh *mesh, int32_t e)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    const int32_t *t = sinew_mesh_tets(mesh) + 4 * e;
    long double D[9];
    for (int i = 0; i < 9; i++)
        D[i] = (long double)X[3 * t[i % 3 + 1] + i / 3] - (long double)X[3 * t[0] + i / 3];
    return fabs((double)reference_det(D)) / 6;
}

static void densities_sum_to_the_elastic_energy(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("densities", 40, 2000);
    for (int32_t i = 0; i < r.count; i++) {
        drawn_scene d = draw_scene(&r);
        d.noise = drawn_number(random_between(&r, 0.1, 0.25));
        d.squeeze = fabs(d.squeeze) < 0.5 ? 1 : fabs(d.squeeze);
        const sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
        sinew_world *world = drawn_world(&d, &solver, NULL);
        const sinew_mesh *mesh = sinew_body_mesh(world, sinew_world_body_at(world, 0));
        sinew_measures measures;
        int32_t count;
        assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
        sinew_real *values = field_of(world, (sinew_energy){0, 0}, SINEW_FIELD_ENERGY, &count);
        double sum = 0, size = 0;
        for (int32_t e = 0; e < count; e++) {
            const double energy = (double)values[e] * (drawn_is_solid(&d) ? tet_volume(mesh, e) : 1);
            sum += energy;
            size += fabs(energy);
        }
        if (isfinite(measures.elastic) && !(fabs(sum - measures.elastic) <= SUMMED * size)) {
            print_scene(&d);
            fail_msg(": densities sum to %.17g J, not to %.17g J", sum, measures.elastic);
        }
        free(values);
        sinew_world_destroy(world);
    }
}

/* ---- Pins -------------------------------------------------------------------------------------- */

static void sum_of(const sinew_real *values, int32_t n, double sum[3])
{
    sum[0] = sum[1] = sum[2] = 0;
    for (int32_t i = 0; i < 3 * n; i++)
        sum[i % 3] += (double)values[i];
}

static void pins_carry_the_weight(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.quasistatic = true;
    def.solver.iterations = 100;
    scene s = make_scene(&def);
    const int32_t n = sinew_world_particle_count(s.world);
    sinew_measures measures;
    double sum[3];
    assert_false(sinew_world_step(s.world, NULL) & ~(uint32_t)SINEW_STEP_INVERTED);
    assert_int_equal(sinew_world_measure(s.world, &measures), SINEW_OK);
    sinew_real *reaction = particle_field(s.world, SINEW_FIELD_REACTION);
    sinew_real *force = particle_field(s.world, SINEW_FIELD_FORCE);
    sinew_real *residual = particle_field(s.world, SINEW_FIELD_RESIDUAL);
    const double weight = measures.mass * 9.81;
    sum_of(reaction, n, sum);
    assert_true(fabs(sum[1] - weight) < SOLVED * weight && fabs(sum[0]) + fabs(sum[2]) < SOLVED * weight);
    for (int32_t i = 0; i < 3 * n; i++)
        assert_true(force[i] == -(reaction[i] + residual[i]) && (reaction[i] == 0 || residual[i] == 0));
    free(reaction);
    free(force);
    free(residual);
    free_scene(&s);
}

/* Internal forces sum to zero: pins and residual give the change of momentum less the weight. Excluded are solvers
 * whose final velocity is not the one that moved the positions, such as explicit Euler. */
static void pins_and_residual_change_the_momentum(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        sinew_world_def def = sinew_default_world_def();
        def.thread_count = 1;
        def.balance = true;
        def.damping = 2;
        def.solver = sinew_default_solver_def((sinew_solver_kind)kind);
        def.solver.iterations = 12;
        if (sinew_get_solver_info(def.solver.kind)->static_only || kind == SINEW_SOLVER_EXPLICIT_EULER ||
            !sinew_solver_accepts(def.solver.kind, SINEW_ENERGY_NEO_HOOKEAN, NULL, 0))
            continue;
        scene s = make_scene(&def);
        const int32_t n = sinew_world_particle_count(s.world);
        const double h = (double)def.time_step, kept = exp(-2 * h);
        for (int step = 0; step < 3; step++) {
            sinew_measures before, after;
            double pins[3], rest[3];
            assert_int_equal(sinew_world_measure(s.world, &before), SINEW_OK);
            sinew_step_result result;
            sinew_world_step(s.world, &result);
            sinew_real *reaction = particle_field(s.world, SINEW_FIELD_REACTION);
            sinew_real *residual = particle_field(s.world, SINEW_FIELD_RESIDUAL);
            assert_int_equal(sinew_world_measure(s.world, &after), SINEW_OK);
            sum_of(reaction, n, pins);
            sum_of(residual, n, rest);
            double norm = 0;
            for (int32_t i = 0; i < 3 * n; i++)
                norm += (double)residual[i] * (double)residual[i];
            assert_true(fabs(sqrt(norm) - result.residual) <= 1e-6 * result.residual);
            for (int c = 0; c < 3; c++) {
                const double push = (after.linear_momentum[c] - kept * before.linear_momentum[c]) / h -
                                    (c == 1 ? -9.81 * before.mass : 0);
                if (!(fabs(pins[c] + rest[c] - push) < 100 * SOLVED * before.mass))
                    fail_msg("%s: pins push %g and the residual %g N, needed %g",
                             sinew_get_solver_info(def.solver.kind)->name, pins[c], rest[c], push);
            }
            free(reaction);
            free(residual);
        }
        free_scene(&s);
    }
}

/* The residual equals the gradient of the step's objective, evaluated in a world that has not taken the step. */
static void residual_is_the_gradient_of_the_step(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.balance = true;
    def.solver.iterations = 1;
    scene a = make_scene(&def), b = make_scene(&def);
    const int32_t n = sinew_world_particle_count(a.world);
    sinew_real *gradient = make_array(3 * (size_t)n, sizeof *gradient);
    double value;
    sinew_world_step(a.world, NULL);
    sinew_real *q = positions_of(a.world), *residual = particle_field(a.world, SINEW_FIELD_RESIDUAL);
    assert_int_equal(sinew_world_objective(b.world, q, &value, gradient), SINEW_OK);
    assert_memory_equal(gradient, residual, 3 * (size_t)n * sizeof *gradient);
    free(gradient);
    free(q);
    free(residual);
    free_scene(&a);
    free_scene(&b);
}

/* ---- Changes and refusals ---------------------------------------------------------------------- */

static void rest_shapes_and_switches_count(void **unused)
{
    (void)unused;
    const double F[9] = {1.2, 0, 0, 0, 1.2, 0, 0, 0, 1.2};
    sinew_error error = {0};
    sinew_energy energy, inverted[64];
    int32_t count, elements[64];
    sinew_world *world = deformed(SINEW_ENERGY_COROTATED, F, &energy);
    const sinew_mesh *mesh = sinew_body_mesh(world, sinew_world_body_at(world, 0));
    sinew_real rest[12];
    for (int k = 0; k < 12; k++)
        rest[k] = 2 * sinew_mesh_positions(mesh)[3 * sinew_mesh_tets(mesh)[k / 3] + k % 3];
    sinew_energy_set_rest(world, energy, 0, 1, rest, &error);
    must(&error);
    const int32_t off = 1;
    sinew_energy_switch(world, energy, &off, 1, false, &error);
    must(&error);
    sinew_real *det = field_of(world, energy, SINEW_FIELD_DETERMINANT, &count);
    near((double)det[0], 0.216, 1, "det F of a tet that has grown");
    near((double)det[2], 1.728, 1, "det F");
    sinew_real *density = field_of(world, energy, SINEW_FIELD_ENERGY, &count);
    assert_true(density[1] == 0 && density[2] > 0);
    for (int k = 0; k < 12; k += 3)
        rest[k] = -rest[k]; /* a mirrored rest shape inverts the tet */
    sinew_energy_set_rest(world, energy, 0, 1, rest, &error);
    must(&error);
    assert_int_equal(sinew_world_inverted(world, 64, inverted, elements), 1);
    assert_int_equal(elements[0], 0);
    free(det);
    free(density);
    sinew_world_destroy(world);
}

static void fields_that_do_not_apply_are_refused(void **unused)
{
    (void)unused;
    sinew_error error;
    sinew_real values[3];
    int32_t count;
    scene s = make_scene(NULL);
    sinew_world_field(s.world, SINEW_FIELD_VON_MISES, 0, 1, values, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "von_mises is a field of elements");
    sinew_world_field(s.world, SINEW_FIELD_REACTION, 0, 1, values, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "balance = true");
    sinew_energy_field(s.world, s.energy, SINEW_FIELD_FORCE, 3, values, &count, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "force is a field of particles");
    sinew_energy_field(s.world, s.energy, SINEW_FIELD_ENERGY, 3, values, &count, &error);
    refused(&error, SINEW_ERROR_DATA, "there is room for 3");
    assert_int_equal(count, sinew_energy_element_count(s.world, s.energy));
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    def.body = s.body;
    const sinew_energy springs = add_energy(s.world, &def);
    sinew_energy_field(s.world, springs, SINEW_FIELD_STRETCHES, 3, values, &count, &error);
    refused(&error, SINEW_ERROR_UNSUPPORTED, "spring has only the field energy");
    assertions = 0;
    sinew_world_remove_energy(s.world, springs, &error);
    sinew_energy_field(s.world, springs, SINEW_FIELD_ENERGY, 3, values, &count, &error);
    refused(&error, SINEW_ERROR_USAGE, "removed");
    sinew_world_field(s.world, SINEW_FIELD_FORCE, sinew_world_particle_count(s.world), 1, values, &error);
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
    assert_int_equal(assertions, 2);
    assert_int_equal(sinew_field_by_name("von_mises"), SINEW_FIELD_VON_MISES);
    assert_int_equal(sinew_field_by_name("stress"), SINEW_FIELD_COUNT);
    assert_null(sinew_get_field_info(SINEW_FIELD_COUNT));
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_material_has_the_stress_of_its_energy),
        cmocka_unit_test(rubber_by_hand),
        cmocka_unit_test(densities_sum_to_the_elastic_energy),
        cmocka_unit_test(pins_carry_the_weight),
        cmocka_unit_test(pins_and_residual_change_the_momentum),
        cmocka_unit_test(residual_is_the_gradient_of_the_step),
        cmocka_unit_test(rest_shapes_and_switches_count),
        cmocka_unit_test_setup_teardown(fields_that_do_not_apply_are_refused, install_hook, remove_hook),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
