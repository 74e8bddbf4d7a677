/* SPDX-License-Identifier: MIT
 *
 * test_minimiser_options.c: options of qn, pbng and pd from publications: the initial Hessian and the backtracking of
 * L-BFGS, steps of a node, acceleration as printed, a factor in 32 bits; and two properties of materials: sheets stay
 * in their plane, and uncorrected neo-Hookean deflates.
 *
 * References: Newton's minimum, recurrences over plain sweeps written out below, closed forms.
 */
#include "solver_scenes.h"

#define SOLVED (IS_SINGLE ? 2e-3 : 1e-9)

static sinew_real *scene_after(const scene *s, const sinew_solver_def *solver)
{
    sinew_world *world = build(s, solver, 1, 1);
    step_of(world);
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    return q;
}

static sinew_real *after(int index, const sinew_solver_def *solver)
{
    return scene_after(&scenes[index], solver);
}

static int32_t size_of(int index)
{
    sinew_mesh *mesh = mesh_of(&scenes[index], 1);
    const int32_t size = 3 * sinew_mesh_vertex_count(mesh);
    sinew_mesh_destroy(mesh);
    return size;
}

/* ---- qn ---------------------------------------------------------------------------------------- */

/* Every initial Hessian leads to the minimum; that of PD needs the fewest iterations on stiff bodies. */
static void every_first_hessian_gets_there(void **unused)
{
    (void)unused;
    static const char *const names[] = {"pd", "diagonal", "identity"};
    static const int which[] = {BEAM_SOFT, CLOTH_SOFT, RUBBER_SOFT, BEAM_STIFF};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        double few[3];
        for (int first = 0; first < 3; first++) {
            sinew_solver_def def = solver_of(SINEW_SOLVER_QN, 8);
            set(&def, "first", first);
            few[first] = step_error(which[i], &def);
            def.iterations = 600;
            const double many = step_error(which[i], &def);
            printf("%-18s first = %-8s: %.1e after 8 iterations, %.1e after 600\n", scenes[which[i]].name, names[first],
                   few[first], many);
            assert_true(fabs(many) < SOLVED);
        }
        assert_true(which[i] != BEAM_STIFF || (few[0] < few[1] && few[0] < few[2]));
    }
}

/* Thesis algorithm 8 on the first iteration, whose direction d is the result of a full step. The line search takes q0 +
 * beta^k d for the first k with sufficient decrease or, with t, for the first k with a step below t. */
static void backtracking_is_what_it_says(void **unused)
{
    (void)unused;
    static const scene hard_ball = {"ball, cubic", BALL, SINEW_ENERGY_ST_VENANT_KIRCHHOFF, 1e9, 0.3, 1e-2, {0}};
    const int size = size_of(BALL_SOFT);
    sinew_solver_def def = solver_of(SINEW_SOLVER_QN, 1);
    /* This material is soft when squashed flat: a stiffness fitted over such stretches makes full steps too long. */
    set(&def, "stretch_low", 0.001);
    set(&def, "stretch_high", 1.001);
    def.iterations = 0;
    sinew_real *start = scene_after(&hard_ball, &def);
    def.iterations = 1;
    set(&def, "search", 2);
    sinew_real *full = scene_after(&hard_ball, &def);
    set(&def, "search", 0);
    set(&def, "shrink", 0.7);
    sinew_real *shrunk = scene_after(&hard_ball, &def);
    set(&def, "least", 0.99);
    sinew_real *min = scene_after(&hard_ball, &def);
    double along = 0, at_min = 0, squared = 0;
    for (int32_t i = 0; i < size; i++) {
        const double d = (double)full[i] - (double)start[i];
        along += d * ((double)shrunk[i] - (double)start[i]);
        at_min += d * ((double)min[i] - (double)start[i]);
        squared += d * d;
    }
    const double k = log(along / squared) / log(0.7), once = log(at_min / squared) / log(0.7);
    printf("steps of 0.7^%.9g, and of 0.7^%.9g where any below 0.99 does\n", k, once);
    assert_true(k > 1.5 && fabs(k - round(k)) < (IS_SINGLE ? 1e-3 : 1e-9));
    assert_true(fabs(once - 1) < (IS_SINGLE ? 1e-3 : 1e-9));
    sinew_real *all[] = {start, full, shrunk, min};
    for (int i = 0; i < 4; i++)
        free(all[i]);
}

/* ---- pbng -------------------------------------------------------------------------------------- */

/* The exact block of neo_hookean steps exactly to a node's minimum: a second step changes nothing. The cheap block
 * stops short of it, and more steps lower the objective further. */
static void inner_steps_go_to_the_minimum(void **unused)
{
    (void)unused;
    sinew_solver_def one = solver_of(SINEW_SOLVER_PBNG, 3);
    set(&one, "acceleration", 0);
    set(&one, "coarse", 0);
    sinew_solver_def more = one;
    set(&more, "inner", 4);
    const double cheap = step_error(RUBBER_STIFF, &one), better = step_error(RUBBER_STIFF, &more);
    printf("stiff rubber, 3 sweeps: %.2e with one step a node, %.2e with four\n", cheap, better);
    assert_true(better < cheap);
    set(&one, "hessian", 1);
    set(&more, "hessian", 1);
    sinew_real *a = after(RUBBER_SOFT, &one), *b = after(RUBBER_SOFT, &more);
    const double off = largest_difference(a, b, size_of(RUBBER_SOFT));
    printf("exact block: %.1e m between one step and four\n", off);
    assert_true(off < (IS_SINGLE ? 1e-5 : 1e-10));
    free(a);
    free(b);
}

/* One plain sweep from q, in place: a quasistatic step of one iteration. */
static void plain_sweep(sinew_world *world, sinew_real *q)
{
    const int32_t n = sinew_world_particle_count(world);
    assert_int_equal(sinew_world_set_positions(world, 0, n, q), SINEW_OK);
    step_of(world);
    assert_int_equal(sinew_world_get_positions(world, 0, n, q), SINEW_OK);
}

/* PBNG 7.3 as printed, with l from 0 and x^{-1} = x^0. */
static void printed_recurrences_run_as_printed(void **unused)
{
    (void)unused;
    enum {
        SWEEPS = 12
    };
    const int size = size_of(BEAM_STILL);
    const double rho = 0.9, gamma = 1.1, omega = 1.2;
    for (int kind = 1; kind <= 3; kind += 2) { /* kinds 1 and 3: sor, chebyshev */
        sinew_solver_def plain = solver_of(SINEW_SOLVER_PBNG, 1);
        set(&plain, "acceleration", 0);
        set(&plain, "coarse", 0);
        sinew_world *world = build(&scenes[BEAM_STILL], &plain, 1, 1);
        sinew_real *x = positions_of(world), *last = positions_of(world), *before = positions_of(world);
        double w = 1;
        for (int l = 0; l < SWEEPS; l++) {
            memcpy(last, x, (size_t)size * sizeof *x);
            plain_sweep(world, x);
            w = l < 2 ? 1 : l == 2 ? 2 / (2 - rho * rho) : 4 / (4 - rho * rho * w);
            for (int i = 0; i < size; i++) {
                const double swept = (double)x[i], now = (double)last[i], old = (double)before[i];
                x[i] = (sinew_real)(kind == 1 ? omega * (swept - old) + old
                                              : w * (gamma * (swept - now) + now - old) + old);
            }
            memcpy(before, last, (size_t)size * sizeof *x);
        }
        sinew_solver_def printed = solver_of(SINEW_SOLVER_PBNG, SWEEPS);
        set(&printed, "acceleration", kind);
        set(&printed, "coarse", 0);
        set(&printed, "safeguard", 0);
        set(&printed, "rho", rho);
        set(&printed, "gamma", gamma);
        set(&printed, "omega", omega);
        sinew_real *q = after(BEAM_STILL, &printed);
        const double off = largest_difference(q, x, size);
        if (off > (IS_SINGLE ? 1e-4 : 1e-11))
            fail_msg("acceleration %d: %g m from the recurrence", kind, off);
        sinew_real *all[] = {x, last, before, q};
        for (int i = 0; i < 4; i++)
            free(all[i]);
        sinew_world_destroy(world);
    }
}

/* ---- The plane --------------------------------------------------------------------------------- */

/* PBNG is written for d = 2 and 3. A sheet in a plane needs no separate code: out-of-plane forces are zero and blocks
 * do not couple them to the others, so that 3x3 systems contain the 2x2 ones. Nodes stay in the plane to the bit. */
static void sheets_stay_in_their_plane(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 5;
    for (int turn = 0; turn < 2; turn++) {
        sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
        must(&error);
        const int32_t n = sinew_mesh_vertex_count(mesh);
        sinew_real *start = make_array(3 * (size_t)n, sizeof *start), *q[2];
        const sinew_real *X = sinew_mesh_positions(mesh);
        uint32_t random = 7;
        for (int32_t i = 0; i < 3 * n; i++)
            start[i] = i % 3 == 2 ? 0 : X[i] * (sinew_real)1.2 + (sinew_real)(0.03 * next_random(&random));
        for (int k = 0; k < 2; k++) {
            sinew_world_def def = sinew_default_world_def();
            def.time_step = (sinew_real)0.02;
            def.solver = solver_of(k ? SINEW_SOLVER_NEWTON : SINEW_SOLVER_PBNG, k ? 100 : 600);
            if (!k)
                set(&def.solver, "hessian", turn);
            sinew_world *world = make_world(&def);
            sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_MEMBRANE_COROTATED);
            energy.body = add_mesh(world, mesh, 0.2, start, NULL);
            energy.parameters[0] = 1e3;
            add_energy(world, &energy);
            for (int step = 0; step < 2; step++)
                step_of(world);
            q[k] = positions_of(world);
            sinew_world_destroy(world);
        }
        for (int32_t i = 2; i < 3 * n; i += 3)
            assert_true(q[0][i] == 0);
        const double off = largest_difference(q[0], q[1], 3 * n);
        printf("planar sheet, two steps: pbng %.1e m from newton\n", off);
        assert_true(off < (IS_SINGLE ? 1e-3 : 1e-7));
        sinew_real *all[] = {start, q[0], q[1]};
        for (int i = 0; i < 3; i++)
            free(all[i]);
        sinew_mesh_destroy(mesh);
    }
}

/* ---- pd in 32 bits ----------------------------------------------------------------------------- */

/* Displacement of the centre of mass of a free, stiff, twisted beam in a step; zero in exact arithmetic. */
static double drift(int factor, int form)
{
    sinew_mesh *mesh = make_beam(10, 2, 2, 5, 1, 1);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *start = make_array(3 * (size_t)n, sizeof *start);
    const sinew_real *X = sinew_mesh_positions(mesh);
    for (int32_t i = 0; i < n; i++) {
        const double a = (double)X[3 * i], c = cos(a), s = sin(a), y = (double)X[3 * i + 1], z = (double)X[3 * i + 2];
        start[3 * i] = X[3 * i];
        start[3 * i + 1] = (sinew_real)(c * y - s * z);
        start[3 * i + 2] = (sinew_real)(s * y + c * z);
    }
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.time_step = (sinew_real)0.1;
    def.solver = solver_of(SINEW_SOLVER_PD, 20);
    set(&def.solver, "form", form);
    set(&def.solver, "factor", factor);
    sinew_world *world = make_world(&def);
    add_material(world, add_mesh(world, mesh, 350, start, NULL), SINEW_ENERGY_STRAIN, 1e9, 0);
    sinew_measures before, end;
    sinew_world_measure(world, &before);
    step_of(world);
    sinew_world_measure(world, &end);
    double squared = 0;
    for (int c = 0; c < 3; c++)
        squared += pow(end.centre_of_mass[c] - before.centre_of_mass[c], 2);
    free(start);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
    return sqrt(squared);
}

static void a_factor_in_32_bits_drifts(void **unused)
{
    (void)unused;
    const double wide = drift(0, 1), narrow = drift(1, 1), increment = drift(1, 0);
    printf("centre of mass after 20 iterations, form = position: %.1e m with a factor in double, %.1e m in single; "
           "form = increment, single: %.1e m\n",
           wide, narrow, increment);
    assert_true(increment < 0.1 * narrow);
    assert_true(IS_SINGLE || (wide < 1e-9 && narrow > 1e-4));
}

/* ---- Neo-Hookean without its correction ---------------------------------------------------------- */

/* Thesis 3.6.3: with 1 in place of 1 + mu/lambda, psi = mu/2 (|F|^2 - 3) + lambda/2 (J - 1)^2, and rubber deflates at
 * rest. That is (3.15) plus mu (J - 1), a pressure of -mu on the surface. A free box shrinks uniformly to s +
 * (lambda/mu) (s^3 - 1) s^2 = 0. */
static void uncorrected_rubber_deflates(void **unused)
{
    (void)unused;
    const double E = 1e5, nu = 0.45, mu = E / (2 * (1 + nu)), ratio = 2 * nu / (1 - 2 * nu);
    double s = 1;
    for (int k = 0; k < 50; k++)
        s -= (s + ratio * (s * s * s - 1) * s * s) / (1 + ratio * (5 * pow(s, 4) - 2 * s));
    sinew_mesh *mesh = make_beam(2, 1, 1, 2, 1, 1);
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.time_step = 10;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.iterations = 200;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    sinew_energy_def rubber = sinew_default_energy_def(SINEW_ENERGY_NEO_HOOKEAN);
    rubber.body = body;
    rubber.parameters[0] = (sinew_real)E;
    rubber.parameters[1] = (sinew_real)nu;
    rubber.parameters[2] = 0;
    add_energy(world, &rubber);
    sinew_energy_def pressure = sinew_default_energy_def(SINEW_ENERGY_PRESSURE);
    pressure.body = body;
    pressure.parameters[0] = (sinew_real)-mu;
    add_energy(world, &pressure);
    for (int step = 0; step < 20; step++)
        step_of(world);
    sinew_measures measures;
    sinew_world_measure(world, &measures);
    printf("deflated to %.9g of the volume at rest, exactly %.9g\n", measures.det_min, s * s * s);
    assert_true(s < 0.99);
    assert_true(fabs(measures.det_min - s * s * s) < (IS_SINGLE ? 1e-3 : 1e-5));
    assert_true(fabs(measures.det_max - s * s * s) < (IS_SINGLE ? 1e-3 : 1e-5));
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_first_hessian_gets_there), cmocka_unit_test(backtracking_is_what_it_says),
        cmocka_unit_test(inner_steps_go_to_the_minimum),  cmocka_unit_test(printed_recurrences_run_as_printed),
        cmocka_unit_test(sheets_stay_in_their_plane),     cmocka_unit_test(a_factor_in_32_bits_drifts),
        cmocka_unit_test(uncorrected_rubber_deflates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
