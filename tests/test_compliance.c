/* SPDX-License-Identifier: MIT
 *
 * test_compliance.c: the constraints of a world, gathered by element. J^T alpha^-1 C equals the gradient of the
 * energies, with each element's compliance matrix; `comply`, `product` and `norms` equal sums computed here.
 */
#include "dense_solve.h"
#include "make_world.h"
#include "random_cases.h"

#include "objective/constraints.h"
#include "world/world.h"

#ifdef SINEW_SINGLE
#define CLOSE 5e-3
#else
#define CLOSE 1e-8
#endif

enum {
    CONSTRAINTS = 6 /* maximum per element */
};

static bool every_batch(const void *context, const sinew_batch *batch)
{
    (void)context;
    (void)batch;
    return true;
}

/* alpha_e^-1 C_e of all elements, [constraint_count]; the caller frees it. */
static double *pull_of(const sinew_constraints *c)
{
    double *pull = make_array((size_t)c->constraint_count, sizeof *pull);
    for (int32_t s = 0; s < c->set_count; s++)
        for (int32_t e = 0; e < c->sets[s].element_count; e++) {
            const sinew_constraint_set *set = &c->sets[s];
            const int32_t m = set->per_element;
            double alpha[CONSTRAINTS][CONSTRAINTS], p[CONSTRAINTS];
            assert_true(m <= CONSTRAINTS);
            for (int32_t i = 0; i < m; i++) {
                p[i] = c->C[sinew_constraint_index(set, e, i)];
                for (int32_t j = 0; j < m; j++)
                    alpha[i][j] = sinew_constraint_compliance(c, set, e, i, j);
            }
            dense_solve(&alpha[0][0], CONSTRAINTS, p, m, 0);
            for (int32_t i = 0; i < m; i++)
                pull[sinew_constraint_index(set, e, i)] = p[i];
        }
    return pull;
}

/* Checks alpha pull = C, J d and |J_i| against sums over each element's numbers. */
static void check_sums(random_cases *r, const sinew_constraints *c, const double *pull, int32_t particles)
{
    double *back = make_array((size_t)c->constraint_count, sizeof *back),
           *Jd = make_array((size_t)c->constraint_count, sizeof *Jd);
    double *norm = make_array((size_t)c->constraint_count, sizeof *norm);
    sinew_real *d = make_array(4 * (size_t)particles, sizeof *d);
    for (int32_t i = 0; i < 4 * particles; i++)
        d[i] = (sinew_real)random_between(r, -1, 1);
    sinew_constraints_apply_compliance(c, pull, back);
    sinew_constraints_product(c, d, Jd);
    sinew_constraints_norms(c, norm);
    for (int32_t at = 0; at < c->constraint_count; at++) {
        int32_t e, i;
        const sinew_constraint_set *set = sinew_constraint_owner(c, at, &e, &i);
        const double *J = sinew_constraint_jacobian(c, set, e, i);
        const int32_t *v = sinew_constraint_particles(c, set, e);
        double sum = 0, square = 0;
        for (int32_t k = 0; k < 3 * set->vertex_count; k++) {
            sum += v[k / 3] < 0 ? 0 : J[k] * (double)d[4 * v[k / 3] + k % 3];
            square += v[k / 3] < 0 ? 0 : J[k] * J[k];
        }
        assert_int_equal(sinew_constraint_index(set, e, i), at);
        assert_true(fabs(back[at] - c->C[at]) <= CLOSE * (1 + fabs(c->C[at])));
        assert_true(fabs(Jd[at] - sum) <= CLOSE * (1 + fabs(sum)));
        assert_true(fabs(norm[at] - sqrt(square)) <= CLOSE * (1 + sqrt(square)));
    }
    free(back);
    free(Jd);
    free(norm);
    free(d);
}

/* A box of one material, held at one end, with every vertex displaced. Quasistatic without gravity: g is the energy. */
static void gradient_case(random_cases *r, sinew_energy_kind kind)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1 + random_index(r, 2);
    def.quasistatic = true;
    def.gravity[1] = 0;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(3, 2, 2, 1.5, 1, 1);
    int32_t held[32];
    const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    add_material(world, body, kind, 1e3, 0.3);
    add_pins(world, body, held, vertices_at(mesh, 0, -0.75, -0.75, held), NULL);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *x = positions_of(world), *gradient = make_array(3 * (size_t)n, sizeof *gradient);
    for (int32_t i = 0; i < 3 * n; i++)
        x[i] += (sinew_real)random_between(r, -0.05, 0.05);
    double value, scale = 0;
    sinew_world_prepare(world, &error);
    must(&error);
    assert_int_equal(sinew_world_objective(world, x, &value, gradient), SINEW_OK);
    sinew_constraints *c = sinew_constraints_create(world->solve.objective, every_batch, NULL, NULL, &error);
    must(&error);
    sinew_real *q = make_array(4 * (size_t)n, sizeof *q);
    for (int32_t i = 0; i < 3 * n; i++)
        q[4 * world->inside[i / 3] + i % 3] = x[i];
    sinew_constraints_evaluate(c, q);
    double *pull = pull_of(c), *force = make_array(3 * (size_t)n, sizeof *force);
    sinew_constraints_add_force(c, pull, 1, force);
    for (int32_t i = 0; i < 3 * n; i++)
        scale = fmax(scale, fabs((double)gradient[i]));
    for (int32_t i = 0; i < 3 * n; i++) {
        const double found = force[3 * world->inside[i / 3] + i % 3];
        if (!(fabs(found - (double)gradient[i]) <= CLOSE * scale))
            fail_msg("%s: particle %d has %.9g N, expected %.9g N", sinew_get_energy_info(kind)->name, i / 3, found,
                     (double)gradient[i]);
    }
    assert_true(scale > 1);
    check_sums(r, c, pull, n);
    sinew_constraints_destroy(c);
    free(x);
    free(q);
    free(pull);
    free(force);
    free(gradient);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

static void constraints_pull_as_energies_do(void **state)
{
    (void)state;
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_GREEN_STRAIN, SINEW_ENERGY_NEO_HOOKEAN, SINEW_ENERGY_STRAIN,
                                              SINEW_ENERGY_COROTATED};
    random_cases r = random_cases_begin("compliance", 8, 200);
    for (int i = 0; i < r.count; i++)
        gradient_case(&r, kinds[i % 4]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(constraints_pull_as_energies_do)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
