/* SPDX-License-Identifier: MIT
 *
 * test_extremes.c: random extreme scenes: neighbouring moduli of 1e4 to 1e10 Pa, time steps of 0.1 to 0.003 s, inverted
 * tets, fast spins, few iterations. Every solver stays finite where Newton's method does. Exceptions are solvers that
 * pass through states of infinite energy and may end there after too few iterations.
 */
#include "random_cases.h"
#include "solver_scenes.h"
#include "tet_materials.h"

enum {
    STEPS = 3
};

typedef struct extreme {
    int cells[3], material, iterations;
    double E[2], nu, h, spin, thrown; /* E of the two halves; nu, h and the motion */
    bool pinned, quasistatic;
    uint64_t seed;
} extreme;

static extreme draw(random_cases *r)
{
    extreme e = {.cells = {2 + random_index(r, 4), 1 + random_index(r, 2), 1 + random_index(r, 2)},
                 .material = random_index(r, MATERIALS),
                 .iterations = (int)random_magnitude(r, 1, 101),
                 .nu = random_between(r, 0.1, 0.499),
                 .h = random_magnitude(r, 0.003, 0.1),
                 .spin = random_index(r, 2) * random_between(r, 0, 30),
                 .pinned = random_index(r, 2),
                 .seed = random_bits(r)};
    e.E[0] = random_magnitude(r, 1e4, 1e10);
    e.E[1] = random_index(r, 2) ? e.E[0] : random_magnitude(r, 1e4, 1e10);
    e.quasistatic = e.pinned && random_index(r, 4) == 0;
    /* Inverts up to half the tets; materials with a barrier are only perturbed. */
    const bool inverts = random_index(r, 2) && materials[e.material] != SINEW_ENERGY_NEO_HOOKEAN_LOG;
    e.thrown = inverts ? random_between(r, 0.3, 1) : random_between(r, 0, 0.1);
    return e;
}

static void add_half(sinew_world *world, sinew_body body, const extreme *e, const int32_t *tets, int32_t count,
                     int half)
{
    sinew_energy_def def = sinew_default_energy_def(materials[e->material]);
    def.body = body;
    def.elements = tets;
    def.element_count = count;
    def.parameters[0] = (sinew_real)e->E[half];
    if (def.kind != SINEW_ENERGY_STRAIN)
        def.parameters[1] = (sinew_real)e->nu;
    add_energy(world, &def);
}

static sinew_world *make_extreme(const extreme *e, const sinew_solver_def *solver)
{
    const double size = 0.2;
    sinew_mesh *mesh =
        make_beam(e->cells[0], e->cells[1], e->cells[2], size * e->cells[0], size * e->cells[1], size * e->cells[2]);
    const int32_t n = sinew_mesh_vertex_count(mesh), tets = sinew_mesh_tet_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
    int32_t *list = make_array((size_t)n, sizeof *list);
    random_cases r = {.state = e->seed};
    for (int32_t i = 0; i < 3 * n; i++) {
        x[i] = X[i] + (sinew_real)(size * e->thrown * random_between(&r, -1, 1));
        v[i] = (sinew_real)(e->spin * (double)(i % 3 == 0 ? -X[i + 1] : i % 3 == 1 ? X[i - 1] : 0));
    }
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)e->h;
    def.quasistatic = e->quasistatic;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, x, v);
    const int32_t *elements = sinew_mesh_tets(mesh);
    add_half(world, body, e, elements, tets / 2, 0);
    add_half(world, body, e, elements + 4 * (tets / 2), tets - tets / 2, 1);
    const double end = -size * e->cells[0] / 2;
    if (e->pinned)
        add_pins(world, body, list, vertices_at(mesh, 0, end, end, list), NULL);
    free(x);
    free(v);
    free(list);
    sinew_mesh_destroy(mesh);
    return world;
}

/* Exempt solvers: explicit integrators, which are unstable, sap, whose soft energies are integrated by one linear step,
 * and constraint sweeps, which do not descend, on a material with a barrier. */
static bool may_fail(const extreme *e, int kind)
{
    if (is_integrator(sinew_get_solver_info((sinew_solver_kind)kind)) || kind == SINEW_SOLVER_SAP)
        return true;
    return materials[e->material] == SINEW_ENERGY_NEO_HOOKEAN_LOG &&
           (kind == SINEW_SOLVER_XPBD || kind == SINEW_SOLVER_PBD || kind == SINEW_SOLVER_XPBD_QS);
}

/* The number of steps that ended non-finite; -1 if the solver does not support the scene. */
static int failures(const extreme *e, sinew_solver_kind kind)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    const uint32_t can = sinew_get_energy_info(materials[e->material])->capabilities;
    if ((info->needs & ~can) || (e->quasistatic ? !info->quasistatic : info->static_only))
        return -1;
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = kind == SINEW_SOLVER_NEWTON ? 200 : e->iterations;
    sinew_world *world = make_extreme(e, &def);
    int count = 0;
    for (int k = 0; k < STEPS; k++)
        count += (sinew_world_step(world, NULL) & SINEW_STEP_NOT_FINITE) != 0;
    sinew_world_destroy(world);
    return count;
}

static void describe(const extreme *e, int kind, int count)
{
    print_message("%s fails %d times: %s E %.1e | %.1e nu %.3f h %.4f spin %.1f thrown %.2f iterations %d pinned %d "
                  "quasistatic %d\n",
                  sinew_get_solver_info((sinew_solver_kind)kind)->name, count,
                  sinew_get_energy_info(materials[e->material])->name, e->E[0], e->E[1], e->nu, e->h, e->spin,
                  e->thrown, e->iterations, e->pinned, e->quasistatic);
}

static void nobody_fails_where_newton_does_not(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("extremes", 60, 1000);
    int runs[SINEW_SOLVER_COUNT] = {0}, failed[SINEW_SOLVER_COUNT] = {0}, wrong = 0;
    for (int32_t k = 0; k < r.count; k++) {
        const extreme e = draw(&r);
        if (failures(&e, SINEW_SOLVER_NEWTON) != 0)
            continue;
        for (int kind = 1; kind < SINEW_SOLVER_COUNT; kind++) {
            const int count = failures(&e, (sinew_solver_kind)kind);
            runs[kind] += count >= 0;
            failed[kind] += count > 0;
            wrong += count > 0 && !may_fail(&e, kind);
            if (count > 0 && !is_integrator(sinew_get_solver_info((sinew_solver_kind)kind)))
                describe(&e, kind, count);
        }
    }
    for (int kind = 1; kind < SINEW_SOLVER_COUNT; kind++)
        print_message("%-16s %d of %d scenes became non-finite\n", sinew_get_solver_info((sinew_solver_kind)kind)->name,
                      failed[kind], runs[kind]);
    assert_int_equal(wrong, 0);
    /* Some 0.6 % of the scenes fail: sweeps invert tets of neo_hookean_log, whose energy is infinite there. */
    const int max = 4 + r.count / 100;
    assert_true(failed[SINEW_SOLVER_XPBD] <= max && failed[SINEW_SOLVER_PBD] <= max);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nobody_fails_where_newton_does_not)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
