/* SPDX-License-Identifier: MIT
 *
 * test_solvers.c: every solver against a tightly solved Newton, against each other, and the sweeps of PBD and XPBD.
 *
 * `relative error` is thesis (5.5) on the objective of one step: (g - g*) / (g0 - g*), where g* is Newton's minimum and
 * g0 the value at the starting guess. Run with -V (ctest) for the figures of docs/reference/solvers/.
 */
#include "linear_methods.h"
#include "solver_scenes.h"

/* ---- Convergence ----------------------------------------------------------------------------- */

/* The number of iterations in which a solver reaches a relative error of 1e-6 (single: 1e-3). */
typedef struct row {
    int scene;
    sinew_solver_kind solver;
    int iterations;
} row;

#define REACHED (IS_SINGLE ? 1e-3 : 1e-6)

static const row table[] = {
    {BEAM_SOFT, SINEW_SOLVER_PD, 10},        {BEAM_SOFT, SINEW_SOLVER_QN, 10},
    {BEAM_SOFT, SINEW_SOLVER_ADMM, 10},      {BEAM_STIFF, SINEW_SOLVER_PD, 100},
    {BEAM_STIFF, SINEW_SOLVER_QN, 30},       {BEAM_STIFF, SINEW_SOLVER_ADMM, 100},
    {BEAM_STILL, SINEW_SOLVER_PD, 500},      {BEAM_STILL, SINEW_SOLVER_QN, 80},
    {BEAM_STILL, SINEW_SOLVER_ADMM, 300},    {BALL_SOFT, SINEW_SOLVER_PD, 10},
    {BALL_SOFT, SINEW_SOLVER_QN, 10},        {BALL_SOFT, SINEW_SOLVER_ADMM, 10},
    {BALL_STIFF, SINEW_SOLVER_PD, 20},       {BALL_STIFF, SINEW_SOLVER_QN, 10},
    {BALL_STIFF, SINEW_SOLVER_ADMM, 30},     {CLOTH_SOFT, SINEW_SOLVER_PD, 20},
    {CLOTH_SOFT, SINEW_SOLVER_QN, 10},       {CLOTH_SOFT, SINEW_SOLVER_ADMM, 20},
    {CLOTH_STIFF, SINEW_SOLVER_PD, 80},      {CLOTH_STIFF, SINEW_SOLVER_QN, 30},
    {CLOTH_STIFF, SINEW_SOLVER_ADMM, 80},    {RUBBER_SOFT, SINEW_SOLVER_QN, 10},
    {RUBBER_SOFT, SINEW_SOLVER_ADMM, 40},    {RUBBER_STIFF, SINEW_SOLVER_QN, 80},
    {RUBBER_STIFF, SINEW_SOLVER_ADMM, 200},  {RUBBER_STILL, SINEW_SOLVER_QN, 150},
    {RUBBER_STILL, SINEW_SOLVER_ADMM, 500},  {RUBBER_BALL, SINEW_SOLVER_QN, 20},
    {RUBBER_BALL, SINEW_SOLVER_ADMM, 50},    {BEAM_SOFT, SINEW_SOLVER_PBNG, 10},
    {BEAM_STIFF, SINEW_SOLVER_PBNG, 40},     {BEAM_STILL, SINEW_SOLVER_PBNG, 1000},
    {BALL_SOFT, SINEW_SOLVER_PBNG, 10},      {BALL_STIFF, SINEW_SOLVER_PBNG, 30},
    {CLOTH_SOFT, SINEW_SOLVER_PBNG, 20},     {CLOTH_STIFF, SINEW_SOLVER_PBNG, 400},
    {RUBBER_SOFT, SINEW_SOLVER_PBNG, 10},    {RUBBER_STIFF, SINEW_SOLVER_PBNG, 50},
    {RUBBER_STILL, SINEW_SOLVER_PBNG, 1200}, {RUBBER_BALL, SINEW_SOLVER_PBNG, 20},
};

/* Bounds of the true gap over the estimate, for every solver on every supported scene, far from the minimum (an error
 * above one is worse than the start) or near it. Solvers without own bounds use the loosest. */
#define GAP_MIN (IS_SINGLE ? 0.7 : 0.9)
#define GAP_MAX 45
static const struct {
    double max;
} gaps[SINEW_SOLVER_COUNT] = {
    [SINEW_SOLVER_NEWTON] = {8},     [SINEW_SOLVER_PD] = {6},    [SINEW_SOLVER_QN] = {25},
    [SINEW_SOLVER_ADMM] = {GAP_MAX}, [SINEW_SOLVER_XPBD] = {4},  [SINEW_SOLVER_PBD] = {20},
    [SINEW_SOLVER_XPBD_QS] = {15},   [SINEW_SOLVER_PBNG] = {25},
};

/* Iterations to a relative error of REACHED; max + 1 if `max` iterations do not suffice. */
static int32_t iterations_of(int index, sinew_solver_def def, int max)
{
    const double best = minimum_of(index);
    int32_t count, reached = max + 1;
    def.iterations = max;
    sinew_world *world = build(&scenes[index], &def, 1, 1);
    step_of(world);
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    for (int32_t k = 0; reached > max && k < count; k++)
        if (records[k].objective - best <= REACHED * (records[0].objective - best))
            reached = k;
    sinew_world_destroy(world);
    return reached;
}

static void solvers_reach_newtons_minimum(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const row *r = &table[i];
        const sinew_solver_def def = solver_of(r->solver, r->iterations);
        const double best = minimum_of(r->scene);
        sinew_world *world = build(&scenes[r->scene], &def, 1, 1);
        const sinew_step_result result = step_of(world);
        int32_t count;
        const sinew_iteration *records = sinew_world_iterations(world, &count);
        assert_int_equal(count, r->iterations + 1);
        const double error = (result.objective - best) / (records[0].objective - best);
        print_message("%-26s %-5s relative error %8.1e after %3d iterations, %g after %d\n", scenes[r->scene].name,
                      sinew_get_solver_info(r->solver)->name, error, r->iterations, REACHED,
                      iterations_of(r->scene, def, r->iterations));
        if (!(error <= REACHED))
            fail_msg("%s, %s: relative error %g after %d iterations", scenes[r->scene].name,
                     sinew_get_solver_info(r->solver)->name, error, r->iterations);
        /* Newton's result is a minimum: no solver is below it by more than round-off. */
        assert_true(error > -(IS_SINGLE ? 1e-3 : 1e-9));
        sinew_world_destroy(world);
    }
}

/* ADMM's automatic weight is not slower than PD's own weight, and faster on stiff bodies. */
static void automatic_weight_is_no_worse_than_one(void **unused)
{
    (void)unused;
    int32_t total[2] = {0, 0};
    for (int i = 0; i < SCENE_COUNT; i++) {
        int32_t needed[2];
        for (int weight = 0; weight < 2; weight++) {
            sinew_solver_def def = solver_of(SINEW_SOLVER_ADMM, 1);
            set(&def, "weight", weight);
            total[weight] += needed[weight] = iterations_of(i, def, 1000);
        }
        print_message("%-26s admm  %g after %3d iterations with its own weight, %3d with weight 1\n", scenes[i].name,
                      REACHED, needed[0], needed[1]);
        assert_true(needed[0] <= needed[1] + needed[1] / 4 + 4);
    }
    assert_true(total[0] < total[1]);
}

static bool can_take(const sinew_solver_info *solver, const scene *s)
{
    const uint32_t lacks = solver->needs & ~sinew_get_energy_info(s->kind)->capabilities;
    return lacks == 0 && (s->h == 0 ? solver->quasistatic : !solver->static_only);
}

/* The objective before newton's first iteration, J. Other solvers may record theirs later: sap after the step of the
 * soft energies. */
static double start_of(int index)
{
    const sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 1);
    int32_t count;
    sinew_world *world = build(&scenes[index], &newton, 1, 1);
    step_of(world);
    const double start = sinew_world_iterations(world, &count)[0].objective;
    sinew_world_destroy(world);
    return start;
}

/* True gap over estimate after some iterations; 0 if the gap is round-off. */
static double measure_gap(sinew_solver_def def, int index)
{
    const double best = minimum_of(index), start = start_of(index) - best;
    sinew_world *world = build(&scenes[index], &def, 1, 1);
    const sinew_step_result result = step_of(world);
    const double gap = result.objective - best;
    sinew_world_destroy(world);
    if (gap < REACHED * start)
        return 0;
    print_message("%-26s %-7s %3d iterations: error %9.2e, gap %9.2e J, %7.3f times the estimate\n", scenes[index].name,
                  sinew_get_solver_info(def.kind)->name, def.iterations, gap / start, gap, gap / result.gap);
    return gap / result.gap;
}

static void gap_estimate_has_the_size_of_the_gap(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        double min = HUGE_VAL, max = 0;
        for (int i = 0; i < SCENE_COUNT; i++)
            for (int iterations = 1; can_take(info, &scenes[i]) && iterations <= 64; iterations *= 2) {
                const double ratio = measure_gap(solver_of((sinew_solver_kind)kind, iterations), i);
                min = ratio > 0 ? fmin(min, ratio) : min;
                max = fmax(max, ratio);
            }
        print_message("%-7s true gap / estimate: %.3g to %.3g\n", info->name, min, max);
        assert_true(min >= GAP_MIN && max <= (gaps[kind].max > 0 ? gaps[kind].max : GAP_MAX));
    }
}

/* A step that ends above its start: the gap is at least the increase of g, for any slope at its end. */
static void gap_is_no_less_than_what_g_has_risen(void **unused)
{
    (void)unused;
    int risen = 0;
    double max = 0;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++)
        for (int i = 0; i < SCENE_COUNT; i++)
            for (int iterations = 1;
                 can_take(sinew_get_solver_info((sinew_solver_kind)kind), &scenes[i]) && iterations <= 64;
                 iterations *= 8) {
                const sinew_solver_def def = solver_of((sinew_solver_kind)kind, iterations);
                sinew_world *world = build(&scenes[i], &def, 1, 1);
                const sinew_step_result result = step_of(world);
                int32_t count;
                const double rise = result.objective - sinew_world_iterations(world, &count)[0].objective;
                sinew_world_destroy(world);
                if (rise <= 1e-3 * fabs(result.objective))
                    continue;
                risen++;
                max = fmax(max, rise);
                if (!(result.gap >= 0.999 * rise))
                    fail_msg("%s, %s, %d iterations: g has risen by %g J, gap %g J", scenes[i].name,
                             sinew_get_solver_info((sinew_solver_kind)kind)->name, iterations, rise, result.gap);
            }
    print_message("%d steps end above where they began, by up to %.3g J\n", risen, max);
    assert_true(risen > 0);
}

/* For every linear solver of Newton. Close to the minimum the estimate is half of Newton's decrement, which equals the
 * gap. */
static void gap_estimate_of_newton_is_close(void **unused)
{
    (void)unused;
    static const int which[] = {BEAM_STIFF, CLOTH_STIFF, RUBBER_STIFF, RUBBER_BALL};
    for (int linear = 0; linear < 6; linear++) {
        if ((linear == 3 || linear == 5) && !linear_methods_register())
            continue; /* lu and qr need a registered linear solver */
        double min = HUGE_VAL, max = 0;
        for (size_t i = 0; i < sizeof which / sizeof which[0]; i++)
            for (int iterations = 2; iterations <= 10; iterations++) {
                sinew_solver_def def = solver_of(SINEW_SOLVER_NEWTON, iterations);
                set(&def, "linear", linear);
                const double ratio = measure_gap(def, which[i]);
                min = ratio > 0 ? fmin(min, ratio) : min;
                max = fmax(max, ratio);
            }
        print_message("newton, linear %d: true gap / estimate: %.3g to %.3g\n", linear, min, max);
        assert_true(min >= 0.95 && max <= 1.5);
    }
}

/* XPBD does not converge to the minimum: upper bounds of its final relative error. */
typedef struct floor_row {
    int scene;
    sinew_solver_kind solver;
    int form; /* form of XPBD's neo_hookean */
    double error;
} floor_row;

enum {
    COMBINED,
    SPLIT,
    ROOT = 3
};
static const char *const form_names[] = {"combined", "split", "incompressible", "root"};

static const floor_row floors[] = {
    {BEAM_SOFT, SINEW_SOLVER_XPBD, ROOT, 0.0005},   {BEAM_STIFF, SINEW_SOLVER_XPBD, ROOT, 0.1},
    {BALL_SOFT, SINEW_SOLVER_XPBD, ROOT, 0.002},    {BALL_STIFF, SINEW_SOLVER_XPBD, ROOT, 0.01},
    {CLOTH_SOFT, SINEW_SOLVER_XPBD, ROOT, 0.0005},  {CLOTH_STIFF, SINEW_SOLVER_XPBD, ROOT, 0.01},
    {RUBBER_SOFT, SINEW_SOLVER_XPBD, ROOT, 0.002},  {RUBBER_SOFT, SINEW_SOLVER_XPBD, COMBINED, 0.002},
    {RUBBER_SOFT, SINEW_SOLVER_XPBD, SPLIT, 0.005}, {RUBBER_STIFF, SINEW_SOLVER_XPBD, ROOT, 1},
    {RUBBER_STIFF, SINEW_SOLVER_XPBD, COMBINED, 5}, {RUBBER_STIFF, SINEW_SOLVER_XPBD, SPLIT, 50},
    {RUBBER_BALL, SINEW_SOLVER_XPBD, ROOT, 0.5},    {RUBBER_BALL, SINEW_SOLVER_XPBD, COMBINED, 0.5},
    {RUBBER_BALL, SINEW_SOLVER_XPBD, SPLIT, 0.1},
};

static void sweeps_end_near_the_minimum(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof floors / sizeof floors[0]; i++) {
        const floor_row *r = &floors[i];
        sinew_solver_def def = solver_of(r->solver, 500);
        set(&def, "neo_hookean", r->form);
        const double best = minimum_of(r->scene);
        sinew_world *world = build(&scenes[r->scene], &def, 1, 1);
        const sinew_step_result result = step_of(world);
        int32_t count;
        const sinew_iteration *records = sinew_world_iterations(world, &count);
        const double error = (result.objective - best) / (records[0].objective - best);
        const double early = (records[20].objective - best) / (records[0].objective - best);
        print_message("%-26s %-5s %-8s relative error %9.2e after 20 iterations, %9.2e after 500\n",
                      scenes[r->scene].name, sinew_get_solver_info(r->solver)->name, form_names[r->form], early, error);
        if (!(error <= r->error))
            fail_msg("%s: relative error %g, stated %g", scenes[r->scene].name, error, r->error);
        sinew_world_destroy(world);
    }
}

/* ---- Relations between solvers --------------------------------------------------------------- */

/* Positions after some steps of a scene. */
static sinew_real *run_scene(const scene *s, const sinew_solver_def *def, int steps, int32_t *count)
{
    sinew_world *world = build(s, def, 1, 1);
    for (int k = 0; k < steps; k++)
        step_of(world);
    sinew_real *q = positions_of(world);
    *count = 3 * sinew_world_particle_count(world);
    sinew_world_destroy(world);
    return q;
}

static void must_agree(const char *what, const scene *s, const sinew_solver_def *a, const sinew_solver_def *b,
                       int steps, double tolerance)
{
    int32_t count;
    sinew_real *first = run_scene(s, a, steps, &count), *second = run_scene(s, b, steps, &count);
    const double max = largest_difference(first, second, count);
    print_message("%-34s %-20s %.1e m apart\n", what, s->name, max);
    if (!(max <= tolerance))
        fail_msg("%s, %s: %g m apart, allowed %g", what, s->name, max, tolerance);
    free(first);
    free(second);
}

static void xpbd_without_compliance_is_pbd(void **unused)
{
    (void)unused;
    static const int which[] = {BEAM_SOFT, BALL_STIFF, CLOTH_STIFF, RUBBER_SOFT};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        const sinew_solver_def pbd = solver_of(SINEW_SOLVER_PBD, 10);
        sinew_solver_def xpbd = solver_of(SINEW_SOLVER_XPBD, 10);
        set(&xpbd, "compliance", 0);
        must_agree("xpbd at zero compliance and pbd", &scenes[which[i]], &pbd, &xpbd, 3, 0);
        set(&xpbd, "compliance", 1e-12);
        if (which[i] != RUBBER_SOFT) /* its soft constraint has an offset */
            must_agree("xpbd at compliance 1e-12 and pbd", &scenes[which[i]], &pbd, &xpbd, 1, IS_SINGLE ? 1e-4 : 1e-6);
    }
}

static void pd_is_quasi_newton_with_full_steps(void **unused)
{
    (void)unused;
    static const int which[] = {BEAM_STIFF, BEAM_STILL, BALL_SOFT, CLOTH_STIFF};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        const sinew_solver_def pd = solver_of(SINEW_SOLVER_PD, 12);
        sinew_solver_def qn = solver_of(SINEW_SOLVER_QN, 12), position = pd;
        set(&qn, "window", 0);
        set(&qn, "search", 2);
        set(&position, "form", 1);
        must_agree("pd and qn with full steps", &scenes[which[i]], &pd, &qn, 1, 0);
        must_agree("increment and position form", &scenes[which[i]], &pd, &position, 1, IS_SINGLE ? 1e-2 : 1e-10);
    }
}

/* Rope of zero-length springs, a position energy and a weak constraint across: every set is one point. */
static sinew_world *affine_world(const sinew_solver_def *solver, double tangent)
{
    const double from[3] = {0, 0, 0}, to[3] = {1, 0.3, 0};
    const int32_t pair[8] = {1, 2, 3, 4, 9, 8, 7, 6}, ends[1] = {11};
    const sinew_real weights[8] = {(sinew_real)0.4, (sinew_real)0.3, (sinew_real)0.2, (sinew_real)0.1,
                                   (sinew_real)0.4, (sinew_real)0.3, (sinew_real)0.2, (sinew_real)0.1};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(12, from, to);
    sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = body;
    spring.parameters[0] = 300;
    spring.parameters[1] = 0;
    add_energy(world, &spring);
    sinew_energy_def hold = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    hold.body = body;
    hold.elements = ends;
    hold.element_count = 1;
    hold.parameters[0] = 5000;
    add_energy(world, &hold);
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.body = body;
    weak.elements = pair;
    weak.element_count = 1;
    weak.weights = weights;
    weak.parameters[0] = 800;
    weak.parameters[1] = (sinew_real)tangent;
    add_energy(world, &weak);
    const int32_t pinned[1] = {0};
    add_pins(world, body, pinned, 1, NULL);
    sinew_mesh_destroy(mesh);
    return world;
}

static void admm_on_affine_sets_is_pd(void **unused)
{
    (void)unused;
    const sinew_solver_def pd = solver_of(SINEW_SOLVER_PD, 1);
    for (int iterations = 1; iterations <= 7; iterations += 3) {
        sinew_solver_def defs[2] = {pd, solver_of(SINEW_SOLVER_ADMM, iterations)};
        sinew_real *q[2];
        defs[0].iterations = iterations;
        set(&defs[1], "weight", 1);
        for (int k = 0; k < 2; k++) {
            sinew_world *world = affine_world(&defs[k], 800);
            step_of(world);
            step_of(world);
            q[k] = positions_of(world);
            sinew_world_destroy(world);
        }
        assert_true(largest_difference(q[0], q[1], 36) <= (IS_SINGLE ? 1e-5 : 1e-13));
        free(q[0]);
        free(q[1]);
    }
}

static void must_descend(sinew_world *world, const char *name)
{
    int32_t count;
    step_of(world);
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    for (int32_t k = 1; k < count; k++)
        if (!(records[k].objective <= records[k - 1].objective + (IS_SINGLE ? 1e-5 : 1e-13) * records[0].objective))
            fail_msg("%s: the objective rises from %.17g to %.17g in iteration %d", name, records[k - 1].objective,
                     records[k].objective, k);
    assert_true(records[count - 1].objective < records[0].objective);
    sinew_world_destroy(world);
}

static void pd_never_increases_the_objective(void **unused)
{
    (void)unused;
    static const int which[] = {BEAM_SOFT, BEAM_STIFF, BALL_STIFF, CLOTH_STIFF};
    const sinew_solver_def def = solver_of(SINEW_SOLVER_PD, 40);
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++)
        must_descend(build(&scenes[which[i]], &def, 1, 1), scenes[which[i]].name);
    /* Weak constraints with two different stiffnesses are no distance: PD bounds them, and still descends. */
    must_descend(affine_world(&def, 800), "weak, isotropic");
    must_descend(affine_world(&def, 10), "weak, stiff along the normal");
    must_descend(affine_world(&def, 1e5), "weak, stiff across the normal");
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

/* A chain along gravity: its constraints are linear, so XPBD converges to Newton's minimum. */
static sinew_world *hanging_chain(const sinew_solver_def *solver, double h, double stiffness, sinew_energy *springs)
{
    const double from[3] = {0, 0, 0}, to[3] = {0, -1, 0};
    const int32_t top[1] = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)h;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(6, from, to);
    sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    const sinew_energy energy = add_springs(world, body, stiffness);
    add_pins(world, body, top, 1, NULL);
    if (springs)
        *springs = energy;
    sinew_mesh_destroy(mesh);
    return world;
}

static void every_order_has_the_same_limit_on_linear_constraints(void **unused)
{
    (void)unused;
    sinew_solver_def newton = solver_of(SINEW_SOLVER_NEWTON, 50);
    newton.tolerance = (sinew_real)(IS_SINGLE ? 1e-6 : 1e-13);
    sinew_world *world = hanging_chain(&newton, 0.05, 2000, NULL);
    step_of(world);
    sinew_real *truth = positions_of(world);
    sinew_world_destroy(world);
    for (int order = 0; order < 3; order++)
        for (int symmetric = 0; symmetric < 2; symmetric++)
            for (int relaxed = 0; relaxed < 2; relaxed++) {
                sinew_solver_def def = solver_of(SINEW_SOLVER_XPBD, 3000);
                def.record = SINEW_RECORD_NONE;
                set(&def, "order", order);
                set(&def, "symmetric", symmetric);
                set(&def, "relaxation", relaxed ? 1.9 : 1);
                world = hanging_chain(&def, 0.05, 2000, NULL);
                step_of(world);
                sinew_real *q = positions_of(world);
                const double apart = largest_difference(q, truth, 18);
                if (!(apart <= (IS_SINGLE ? 1e-5 : 1e-12)))
                    fail_msg("order %d, symmetric %d, relaxed %d: %g m from the minimum", order, symmetric, relaxed,
                             apart);
                free(q);
                sinew_world_destroy(world);
            }
    free(truth);
}

/* On a bent body the limits differ by order, but all are of the size of the stated floor. */
static void every_order_comes_near_the_minimum(void **unused)
{
    (void)unused;
    const double best = minimum_of(CLOTH_STIFF);
    for (int order = 0; order < 3; order++)
        for (int symmetric = 0; symmetric < 2; symmetric++) {
            sinew_solver_def def = solver_of(SINEW_SOLVER_XPBD, order == 2 ? 3000 : 500);
            int32_t count;
            set(&def, "order", order);
            set(&def, "symmetric", symmetric);
            sinew_world *world = build(&scenes[CLOTH_STIFF], &def, 1, 1);
            const sinew_step_result result = step_of(world);
            const sinew_iteration *records = sinew_world_iterations(world, &count);
            const double error = (result.objective - best) / (records[0].objective - best);
            print_message("%-34s %-20s relative error %.2e\n",
                          order == 0   ? "xpbd, coloured"
                          : order == 1 ? "xpbd, mesh order"
                                       : "xpbd, jacobi",
                          symmetric ? "symmetric" : "", error);
            assert_true(error <= 2e-2 && error >= -(IS_SINGLE ? 1e-3 : 1e-9));
            sinew_world_destroy(world);
        }
}

/* n substeps of one sweep each equal n steps of h/n with one iteration each. */
static void substeps_are_small_steps(void **unused)
{
    (void)unused;
    enum {
        SUBSTEPS = 8,
        STEPS = 3
    };
    static const int which[] = {BEAM_STIFF, CLOTH_SOFT, RUBBER_BALL};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        sinew_solver_def def = solver_of(SINEW_SOLVER_XPBD, SUBSTEPS);
        scene s = scenes[which[i]];
        set(&def, "substeps", SUBSTEPS);
        sinew_world *whole = build(&s, &def, 1, 1);
        s.h /= SUBSTEPS;
        def = solver_of(SINEW_SOLVER_XPBD, 1);
        sinew_world *small = build(&s, &def, 1, 1);
        for (int k = 0; k < STEPS * SUBSTEPS; k++)
            step_of(small);
        for (int k = 0; k < STEPS; k++)
            step_of(whole);
        const int32_t n = sinew_world_particle_count(whole);
        sinew_real *q[2] = {positions_of(whole), positions_of(small)}, *v[2];
        for (int k = 0; k < 2; k++) {
            v[k] = make_array(3 * (size_t)n, sizeof *v[k]);
            sinew_world_get_velocities(k ? small : whole, 0, n, v[k]);
        }
        assert_true(largest_difference(q[0], q[1], 3 * n) <= (IS_SINGLE ? 1e-4 : 1e-11));
        assert_true(largest_difference(v[0], v[1], 3 * n) <= (IS_SINGLE ? 0.2 : 1e-8));
        for (int k = 0; k < 2; k++) {
            free(q[k]);
            free(v[k]);
        }
        sinew_world_destroy(whole);
        sinew_world_destroy(small);
    }
}

static void more_substeps_than_sweeps_are_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_solver_def def = solver_of(SINEW_SOLVER_XPBD, 5);
    set(&def, "substeps", 6);
    sinew_world *world = build(&scenes[CLOTH_SOFT], &def, 1, 1);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "substeps is 6 but iterations is 5"));
    sinew_world_destroy(world);
}

/* At the end of a converged step a spring's multiplier is its force: -k (l - L). */
static void multipliers_are_forces(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_energy springs;
    sinew_real values[8];
    int32_t count;
    const sinew_solver_def def = solver_of(SINEW_SOLVER_XPBD, 500), newton = solver_of(SINEW_SOLVER_NEWTON, 5);
    sinew_world *world = hanging_chain(&def, 0.05, 2000, &springs);
    assert_int_equal(sinew_energy_multipliers(world, springs, 8, values, &count, &error), SINEW_ERROR_DATA);
    step_of(world);
    assert_int_equal(sinew_energy_multipliers(world, springs, 4, values, &count, &error), SINEW_ERROR_DATA);
    assert_int_equal(count, 5);
    assert_int_equal(sinew_energy_multipliers(world, springs, 8, values, &count, &error), SINEW_OK);
    sinew_real *q = positions_of(world);
    for (int k = 0; k < 5; k++) {
        const double length = (double)q[3 * k + 1] - (double)q[3 * k + 4];
        assert_true(fabs((double)values[k] + 2000 * (length - 0.2)) <= (IS_SINGLE ? 2e-3 : 1e-9));
        assert_true(values[k] < 0);
    }
    free(q);
    assert_int_equal(sinew_world_set_solver(world, &newton, &error), SINEW_OK);
    assert_int_equal(sinew_energy_multipliers(world, springs, 8, values, &count, &error), SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "newton has no multipliers"));
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solvers_reach_newtons_minimum),
        cmocka_unit_test(automatic_weight_is_no_worse_than_one),
        cmocka_unit_test(gap_estimate_has_the_size_of_the_gap),
        cmocka_unit_test(gap_is_no_less_than_what_g_has_risen),
        cmocka_unit_test(gap_estimate_of_newton_is_close),
        cmocka_unit_test(sweeps_end_near_the_minimum),
        cmocka_unit_test(xpbd_without_compliance_is_pbd),
        cmocka_unit_test(pd_is_quasi_newton_with_full_steps),
        cmocka_unit_test(admm_on_affine_sets_is_pd),
        cmocka_unit_test(pd_never_increases_the_objective),
        cmocka_unit_test(every_order_has_the_same_limit_on_linear_constraints),
        cmocka_unit_test(every_order_comes_near_the_minimum),
        cmocka_unit_test(substeps_are_small_steps),
        cmocka_unit_test(more_substeps_than_sweeps_are_refused),
        cmocka_unit_test(multipliers_are_forces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
