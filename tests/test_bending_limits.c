/* SPDX-License-Identifier: MIT
 *
 * test_bending_limits.c: bending that is free between limits (slack_below, slack_above of isometric and mean_curvature;
 * PD 5.4). References: value from angles and curvatures computed here, derivatives by finite differences, projection
 * and prox against points of the set, solvers on a sheet against Newton, and a flap that falls against its limit.
 */
#include "bending_plate.h"

#ifdef SINEW_SINGLE
#define STEP  4e-3
#define CLOSE 2e-2
#define NEAR  2e-4
#else
#define STEP  1e-5
#define CLOSE 1e-6
#define NEAR  1e-9
#endif

enum {
    SHEET = 6, /* vertices along a side */
    TRIES = 200
};

static const sinew_energy_kind kinds[2] = {SINEW_ENERGY_ISOMETRIC, SINEW_ENERGY_MEAN_CURVATURE};

/* ---- One element --------------------------------------------------------------------------------- */

/* An element with slack, its current reduced coordinates z and the limits of |z|. */
typedef struct limited {
    const sinew_energy_ops *ops;
    sample s;
    batch b;
    double c[SINEW_STENCIL_MAX], z[3], k, min, greatest;
} limited;

static double length_of(const double z[3])
{
    return sqrt(dot(z, z));
}

static void find_limits(limited *l, sinew_energy_kind kind, const double slack[2])
{
    double rest[3] = {0};
    for (int i = 0; i < 3 * l->ops->info.vertex_count; i++) {
        l->z[i % 3] += l->c[i / 3] * (double)*batch_at(&l->b, l->b.x, 0, i);
        rest[i % 3] += l->c[i / 3] * l->s.rest[i];
    }
    const double L = length_of(rest), angle = 2 * asin(fmin(L / 2, 1));
    const bool hinge = kind == SINEW_ENERGY_ISOMETRIC;
    l->min = hinge ? 2 * sin(fmax(angle - slack[0], 0) / 2) : fmax(L - slack[0], 0);
    l->greatest = hinge ? 2 * sin(fmin(angle + slack[1], MAKE_PI) / 2) : L + slack[1];
}

static limited limited_make(random_cases *r, sinew_energy_kind kind)
{
    static const double reach[2] = {1.5, 4}; /* range of the drawn limits: rad for isometric, 1/m for mean_curvature */
    const state drawn = {.name = "drawn", .angle = 1, .sigma = {1.1, 0.9, 0.8}, .noise = 0.3};
    _Alignas(64) sinew_real D[SINEW_STENCIL_MAX * 16], weights[16];
    limited l = {.ops = ops_of(kind)};
    random_state = random_bits(r);
    l.s = sample_make(&l.ops->info, &drawn);
    const double max = reach[kind == SINEW_ENERGY_MEAN_CURVATURE];
    const double slack[2] = {random_between(r, 0, max), random_between(r, 0, max)};
    l.s.parameters[sinew_energy_parameter(kind, "slack_below")] = slack[0];
    l.s.parameters[sinew_energy_parameter(kind, "slack_above")] = slack[1];
    l.b = batch_make(best_lanes(), l.ops, &l.s, 1);
    const sinew_reduced_kernel kernel = {
        .groups = {.count = 1, .vertex = l.b.vertex, .data = l.b.data}, .x = l.b.x, .D = D, .weights = weights};
    l.ops->reduce(&kernel);
    l.ops->stiffness(&kernel);
    l.k = (double)weights[0];
    for (int a = 0; a < l.ops->info.vertex_count; a++)
        l.c[a] = (double)D[a * l.b.width];
    find_limits(&l, kind, slack);
    return l;
}

static double psi_of(const limited *l, const double z[3])
{
    const double n = length_of(z), off = n - fmin(fmax(n, l->min), l->greatest);
    return 0.5 * l->k * off * off;
}

static void values_are_those_of_the_distance(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("limits", TRIES, 20000);
    int inside = 0;
    for (int32_t i = 0; i < r.count; i++) {
        limited l = limited_make(&r, kinds[i % 2]);
        const double value = batch_value(&l.b), wanted = psi_of(&l, l.z), scale = l.k * (1 + dot(l.z, l.z));
        assert_true(fabs(value - wanted) <= NEAR * scale);
        inside += wanted == 0;
        batch_free(&l.b);
    }
    printf("%d of %d between their limits\n", inside, (int)r.count);
    assert_true(inside > r.count / 20 && inside < r.count - r.count / 20);
}

/* Checks gradient and Hessian; skips states so near a limit that a finite difference would cross it. */
static void check_derivatives(limited *l)
{
    static double H[SIZE_MAX3 * SIZE_MAX3];
    double up[SIZE_MAX3], gradient[SIZE_MAX3], scale = 0;
    const double n = length_of(l->z), edge = 100 * STEP * (1 + n);
    if (fabs(n - l->min) < edge || fabs(n - l->greatest) < edge || n < edge)
        return;
    batch_gradient(&l->b);
    for (int i = 0; i < l->b.size; i++)
        gradient[i] = (double)*batch_at(&l->b, l->b.g, 0, i);
    batch_linearise(&l->b, false);
    batch_hessian(&l->b, 0, H);
    for (int i = 0; i < l->b.size; i++)
        scale = fmax(scale, l->k * l->c[i / 3] * l->c[i / 3] * (1 + n));
    for (int j = 0; j < l->b.size; j++) {
        sinew_real *x = batch_at(&l->b, l->b.x, 0, j), before = *x;
        *x = before + (sinew_real)STEP;
        const double above = (double)*x, value = batch_gradient(&l->b);
        for (int i = 0; i < l->b.size; i++)
            up[i] = (double)*batch_at(&l->b, l->b.g, 0, i);
        *x = before - (sinew_real)STEP;
        const double over = above - (double)*x, other = batch_gradient(&l->b);
        assert_true(fabs((value - other) / over - gradient[j]) <= CLOSE * scale);
        for (int i = 0; i < l->b.size; i++)
            assert_true(fabs((up[i] - (double)*batch_at(&l->b, l->b.g, 0, i)) / over - H[i * l->b.size + j]) <=
                        CLOSE * scale);
        *x = before;
    }
}

static void derivatives_are_those_of_the_value(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("derivatives", TRIES, 20000);
    for (int32_t i = 0; i < r.count; i++) {
        limited l = limited_make(&r, kinds[i % 2]);
        check_derivatives(&l);
        batch_free(&l.b);
    }
}

/* A flat element with slack has no stiffness at its start. */
static void flat_ones_begin_free(void **unused)
{
    (void)unused;
    static double H[SIZE_MAX3 * SIZE_MAX3];
    const sinew_energy_ops *ops = ops_of(SINEW_ENERGY_ISOMETRIC);
    sample s = {.rest = {0, 0, 0, 1, 0, 0, 0.5, 1, 0, 0.5, -1, 0}};
    memcpy(s.x, s.rest, sizeof s.x);
    s.parameters[0] = 1;
    for (int slack = 0; slack < 2; slack++) {
        double max = 0;
        s.parameters[sinew_energy_parameter(SINEW_ENERGY_ISOMETRIC, "slack_above")] = 0.5 * slack;
        batch b = batch_make(best_lanes(), ops, &s, 1);
        batch_linearise(&b, false);
        batch_hessian(&b, 0, H);
        for (int i = 0; i < b.size * b.size; i++)
            max = fmax(max, fabs(H[i]));
        assert_true(slack ? max == 0 : max > 0.1);
        batch_free(&b);
    }
}

/* ---- Projection and prox -------------------------------------------------------------------------- */

/* A random member of the set: a vector whose length is between the limits. */
static void draw_member(random_cases *r, const limited *l, double p[3])
{
    double n = 0;
    while (n < 0.1) {
        for (int i = 0; i < 3; i++)
            p[i] = random_between(r, -1, 1);
        n = length_of(p);
    }
    const double wanted = random_between(r, l->min, l->greatest) / n;
    for (int i = 0; i < 3; i++)
        p[i] *= wanted;
}

static void check_projection(random_cases *r, limited *l)
{
    double p[3] = {0}, square = 0, apart = 0, scale = dot(l->z, l->z) + l->greatest * l->greatest;
    memset(l->b.g, 0, sizeof *l->b.g * (size_t)(4 * l->b.width * l->b.vertex_count));
    l->ops->local_project(&(sinew_reduced_kernel){
        .groups = {.count = 1, .vertex = l->b.vertex, .data = l->b.data}, .x = l->b.x, .g = l->b.g});
    for (int i = 0; i < l->b.size; i++) {
        square += i % 3 ? 0 : l->c[i / 3] * l->c[i / 3];
        p[i % 3] += l->c[i / 3] * (double)*batch_at(&l->b, l->b.g, 0, i) / l->k;
    }
    for (int i = 0; i < 3; i++) {
        p[i] /= square;
        apart += (p[i] - l->z[i]) * (p[i] - l->z[i]);
    }
    const double n = length_of(p), slip = 10 * NEAR * sqrt(scale);
    assert_true(n >= l->min - slip && n <= l->greatest + slip);
    for (int k = 0; k < 20; k++) {
        double other[3], off = 0;
        draw_member(r, l, other);
        for (int i = 0; i < 3; i++)
            off += (other[i] - l->z[i]) * (other[i] - l->z[i]);
        assert_true(apart <= off + 10 * NEAR * scale);
    }
}

/* z = prox(y) has a lower psi(z) + w^2/2 |z - y|^2 than its neighbours. */
static void check_prox(random_cases *r, limited *l)
{
    _Alignas(64) sinew_real weights[16], u[3 * 16];
    double y[3], z[3], own = 0;
    const double w2 = l->k * random_magnitude(r, 0.01, 100);
    for (int i = 0; i < 3 * l->b.width; i++)
        u[i] = (sinew_real)random_between(r, -1, 1);
    for (int i = 0; i < l->b.width; i++)
        weights[i] = (sinew_real)w2;
    for (int i = 0; i < 3; i++)
        y[i] = l->z[i] + (double)u[i * l->b.width];
    l->ops->local_prox(&(sinew_reduced_kernel){.groups = {.count = 1, .vertex = l->b.vertex, .data = l->b.data},
                                               .x = l->b.x,
                                               .g = l->b.g,
                                               .weights = weights,
                                               .u = u});
    const double size = length_of(y) + l->greatest;
    for (int trial = 0; trial < 50; trial++) {
        double off = 0;
        for (int i = 0; i < 3; i++) {
            z[i] = y[i] - (double)u[i * l->b.width] +
                   (trial ? size * random_magnitude(r, 1e-4, 1) * random_between(r, -1, 1) : 0);
            off += (z[i] - y[i]) * (z[i] - y[i]);
        }
        const double value = psi_of(l, z) + 0.5 * w2 * off;
        own = trial ? own : value;
        assert_true(own <= value + 10 * NEAR * (l->k + w2) * size * size);
    }
}

static void local_steps_are_nearest_and_lowest(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("local steps", TRIES, 20000);
    for (int32_t i = 0; i < r.count; i++) {
        limited l = limited_make(&r, kinds[i % 2]);
        check_projection(&r, &l);
        check_prox(&r, &l);
        batch_free(&l.b);
    }
}

/* ---- Solvers --------------------------------------------------------------------------------------- */

/* One step of a sheet that is clamped along a side; half of its elements reach their limit. */
static double step_sheet(sinew_energy_kind kind, double slack, sinew_solver_kind solver, int32_t iterations,
                         sinew_real *q)
{
    sinew_body sheet;
    sinew_world *world = make_sheet(SHEET, solver, iterations, &sheet);
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = sheet;
    energy.parameters[0] = (sinew_real)0.02;
    energy.parameters[sinew_energy_parameter(kind, "slack_above")] = (sinew_real)slack;
    add_energy(world, &energy);
    sinew_step_result result;
    sinew_world_step(world, &result);
    sinew_world_get_positions(world, 0, SHEET * SHEET, q);
    sinew_world_destroy(world);
    return result.objective;
}

/* Inside the limits the energy is flat and the minimum may not be unique: solvers are compared by the objective. */
static void solvers_agree(void **unused)
{
    (void)unused;
    const sinew_solver_kind solvers[] = {SINEW_SOLVER_QN, SINEW_SOLVER_PD, SINEW_SOLVER_ADMM, SINEW_SOLVER_PBNG};
    const double slack[2] = {0.02, 0.1};
    for (int k = 0; k < 2; k++) {
        sinew_real q[3 * SHEET * SHEET];
        const double start = step_sheet(kinds[k], slack[k], SINEW_SOLVER_NEWTON, 0, q);
        const double truth = step_sheet(kinds[k], slack[k], SINEW_SOLVER_NEWTON, 60, q);
        const double stiff = step_sheet(kinds[k], 0, SINEW_SOLVER_NEWTON, 60, q);
        assert_true(truth < stiff);
        for (size_t s = 0; s < sizeof solvers / sizeof solvers[0]; s++) {
            const double found = step_sheet(kinds[k], slack[k], solvers[s], 600, q);
            const double above = (found - truth) / (start - truth);
            printf("    %-14s by %-5s %.1e above Newton, part of the way\n", sinew_get_energy_info(kinds[k])->name,
                   sinew_get_solver_info(solvers[s])->name, above);
            assert_true(fabs(above) <= (solvers[s] == SINEW_SOLVER_PD ? 1e-3 : 1e-5) + 100 * NEAR);
        }
    }
}

/* ---- A flap ------------------------------------------------------------------------------------------ */

/* Two triangles of 1 m share an edge; one is pinned, the other falls about the edge. Returns the final angle and the
 * largest angle during the motion. */
static double drop_flap(sinew_solver_kind solver, bool hard, double limit, double *max)
{
    static const sinew_real positions[] = {0, 0, 0, 1, 0, 0, 0.5, 1, 0, 0.5, -1, 0};
    static const int32_t triangles[] = {0, 1, 2, 1, 0, 3}, pinned[] = {0, 1, 2};
    const sinew_real masses[] = {1, 1, 1, 1};
    sinew_error error = {0};
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    mesh_def.vertex_count = 4;
    mesh_def.positions = positions;
    mesh_def.triangle_count = 2;
    mesh_def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, &error);
    must(&error);
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.01;
    def.gravity[1] = 0;
    def.gravity[2] = (sinew_real)-9.81;
    def.damping = 5;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = hard ? 50 : 400;
    sinew_world *world = make_world(&def);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = masses;
    const sinew_body flap = add_body(world, &body);
    add_springs(world, flap, 1e4);
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_ISOMETRIC);
    energy.body = flap;
    energy.hard = hard;
    energy.parameters[0] = 5e3;
    energy.parameters[sinew_energy_parameter(energy.kind, "slack_above")] = (sinew_real)limit;
    add_energy(world, &energy);
    add_pins(world, flap, pinned, 3, NULL);
    double angle = 0;
    *max = 0;
    for (int step = 0; step < 250; step++) {
        sinew_real q[3];
        sinew_world_step(world, NULL);
        sinew_world_get_positions(world, 3, 1, q);
        angle = atan2(-(double)q[2], -(double)q[1]);
        *max = fmax(*max, angle);
    }
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return angle;
}

/* The flap turns freely to the limit and rests there; without slack it hardly bends. */
static void a_flap_rests_at_its_limit(void **unused)
{
    (void)unused;
    const struct {
        sinew_solver_kind solver;
        bool hard;
    } ways[] = {{SINEW_SOLVER_NEWTON, false}, {SINEW_SOLVER_PD, false},   {SINEW_SOLVER_QN, false},
                {SINEW_SOLVER_ADMM, false},   {SINEW_SOLVER_PBNG, false}, {SINEW_SOLVER_XPBD, false},
                {SINEW_SOLVER_PBD, true},     {SINEW_SOLVER_XPBD, true},  {SINEW_SOLVER_PRIMAL_DUAL, true},
                {SINEW_SOLVER_SAP, true}};
    const double limit = 0.6;
    double max;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const double angle = drop_flap(ways[i].solver, ways[i].hard, limit, &max);
        printf("    %-11s %s: limit %.2f rad, rests at %.5f, at most %.5f\n",
               sinew_get_solver_info(ways[i].solver)->name, ways[i].hard ? "hard" : "soft", limit, angle, max);
        assert_true(fabs(angle - limit) < 0.01 && max < limit + 0.03);
    }
    assert_true(fabs(drop_flap(SINEW_SOLVER_NEWTON, false, 0, &max)) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_those_of_the_distance),
                                       cmocka_unit_test(derivatives_are_those_of_the_value),
                                       cmocka_unit_test(flat_ones_begin_free),
                                       cmocka_unit_test(local_steps_are_nearest_and_lowest),
                                       cmocka_unit_test(solvers_agree),
                                       cmocka_unit_test(a_flap_rests_at_its_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
