/* SPDX-License-Identifier: MIT
 *
 * test_sweep_options.c: options of constraint sweeps other than their order: Chebyshev acceleration of Jacobi, XPBD's
 * dropped momentum residual, initial multipliers; and the role of masses in PBD and XPBD.
 *
 * References: a Jacobi sweep with Chebyshev's weights written out below in double, Newton's minimum, and identities
 * that hold to the bit.
 */
#include "solver_scenes.h"

#include "random_cases.h"

/* ---- A reference rope ------------------------------------------------------------------------------ */

enum {
    ROPE = 7,
    SWEEPS = 12
};

typedef struct rope {
    double q[ROPE][3], lambda[ROPE - 1], w[ROPE], alpha, rest; /* alpha is alpha / h^2 */
} rope;

/* One Jacobi sweep: all springs see the same positions and apply 1/2 of their change, as most particles have two
 * springs. */
static void jacobi_by_hand(rope *r, double relaxation)
{
    double dx[ROPE][3] = {{0}};
    for (int j = 0; j + 1 < ROPE; j++) {
        double d[3], l = 0;
        for (int c = 0; c < 3; c++) {
            d[c] = r->q[j + 1][c] - r->q[j][c];
            l += d[c] * d[c];
        }
        l = sqrt(l);
        const double W = r->w[j] + r->w[j + 1];
        const double change = relaxation / 2 * (-(l - r->rest) - r->alpha * r->lambda[j]) / (W + r->alpha);
        r->lambda[j] += change;
        for (int c = 0; c < 3; c++) {
            dx[j][c] -= r->w[j] * change * d[c] / l;
            dx[j + 1][c] += r->w[j + 1] * change * d[c] / l;
        }
    }
    for (int i = 0; i < ROPE; i++)
        for (int c = 0; c < 3; c++)
            r->q[i][c] += dx[i][c];
}

/* x^{l+1} = w (x_swept - x^{l-1}) + x^{l-1}, w = 1, 2/(2 - rho^2), 4/(4 - rho^2 w) ... (Wang 2015, (8) and (9)) */
static void chebyshev_by_hand(rope *r, double relaxation, double rho)
{
    rope last = *r, before = *r;
    double w = 1;
    for (int l = 0; l < SWEEPS; l++) {
        last = *r;
        jacobi_by_hand(r, relaxation);
        w = l == 0 ? 1 : l == 1 ? 2 / (2 - rho * rho) : 4 / (4 - rho * rho * w);
        for (int i = 0; i < ROPE; i++)
            for (int c = 0; c < 3; c++)
                r->q[i][c] = w * (r->q[i][c] - before.q[i][c]) + before.q[i][c];
        for (int j = 0; j + 1 < ROPE; j++)
            r->lambda[j] = w * (r->lambda[j] - before.lambda[j]) + before.lambda[j];
        before = last;
    }
}

typedef struct drawn_rope {
    double stiffness, density, h, relaxation, rho;
    sinew_real start[3 * ROPE], velocity[3 * ROPE];
    bool hard; /* pbd */
} drawn_rope;

static drawn_rope draw_rope(random_cases *r)
{
    drawn_rope d = {.stiffness = random_magnitude(r, 10, 1e4),
                    .density = random_magnitude(r, 0.1, 10),
                    .h = random_magnitude(r, 1e-3, 5e-2),
                    .relaxation = random_between(r, 0.3, 1.2),
                    .rho = random_between(r, 0, 0.9),
                    .hard = random_index(r, 2) == 0};
    for (int i = 0; i < 3 * ROPE; i++) {
        d.start[i] = (sinew_real)((i % 3 == 0 ? 0.2 * (i / 3) : 0) + random_between(r, -0.03, 0.03));
        d.velocity[i] = (sinew_real)random_between(r, -1, 1);
    }
    return d;
}

static sinew_world *make_drawn_rope(const drawn_rope *d, const sinew_solver_def *solver)
{
    const double from[3] = {0, 0, 0}, to[3] = {0.2 * (ROPE - 1), 0, 0};
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.time_step = (sinew_real)d->h;
    def.thread_count = 1;
    def.solver = *solver;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(ROPE, from, to);
    const sinew_body body = add_mesh(world, mesh, d->density, d->start, d->velocity);
    add_springs(world, body, d->stiffness);
    sinew_mesh_destroy(mesh);
    return world;
}

static rope rope_by_hand(const drawn_rope *d)
{
    rope r = {.rest = 0.2, .alpha = d->hard ? 0 : 1 / (d->stiffness * d->h * d->h)};
    for (int i = 0; i < ROPE; i++) {
        r.w[i] = 1 / (d->density * 0.2 * (i == 0 || i == ROPE - 1 ? 0.5 : 1));
        for (int c = 0; c < 3; c++)
            r.q[i][c] = (double)d->start[3 * i + c] + d->h * (double)d->velocity[3 * i + c];
    }
    return r;
}

static void chebyshev_is_what_it_says(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("ropes", 20, 2000);
    for (int32_t i = 0; i < r.count; i++) {
        const drawn_rope d = draw_rope(&r);
        sinew_solver_def solver = solver_of(d.hard ? SINEW_SOLVER_PBD : SINEW_SOLVER_XPBD, SWEEPS);
        set(&solver, "order", 2);
        set(&solver, "relaxation", d.relaxation);
        set(&solver, "acceleration", 1);
        set(&solver, "rho", d.rho);
        sinew_world *world = make_drawn_rope(&d, &solver);
        step_of(world);
        rope by_hand = rope_by_hand(&d);
        chebyshev_by_hand(&by_hand, d.relaxation, d.rho);
        sinew_real *q = positions_of(world);
        for (int k = 0; k < 3 * ROPE; k++)
            if (fabs((double)q[k] - by_hand.q[k / 3][k % 3]) > (IS_SINGLE ? 1e-4 : 1e-10))
                fail_msg("rope %d: %.12g and not %.12g", (int)i, (double)q[k], by_hand.q[k / 3][k % 3]);
        free(q);
        sinew_world_destroy(world);
    }
}

/* ---- Limits of accelerated sweeps ------------------------------------------------------------------ */

static sinew_solver_def xpbd_with(int iterations, const char *name, double value)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_XPBD, iterations);
    set(&def, name, value);
    return def;
}

/* Distance from the result of 4000 plain sweeps: all sweeps converge to the constraints' own equations, not to g's
 * minimum. */
static double distance_after(const scene *s, const sinew_solver_def *solver, const sinew_real *limit)
{
    sinew_world *world = build(s, solver, 1, 1);
    step_of(world);
    sinew_real *q = positions_of(world);
    const double distance = largest_difference(q, limit, 3 * sinew_world_particle_count(world));
    free(q);
    sinew_world_destroy(world);
    return distance;
}

static void chebyshev_gets_there_sooner(void **unused)
{
    (void)unused;
    const scene *s = &scenes[CLOTH_STIFF];
    sinew_solver_def plain = xpbd_with(IS_SINGLE ? 1000 : 4000, "order", 2);
    sinew_world *world = build(s, &plain, 1, 1);
    step_of(world);
    sinew_real *limit = positions_of(world);
    sinew_world_destroy(world);
    plain.iterations = 60;
    sinew_solver_def fast = plain;
    set(&fast, "acceleration", 1);
    set(&fast, "rho", 0.98);
    const double slow = distance_after(s, &plain, limit), sooner = distance_after(s, &fast, limit);
    printf("stiff cloth, 60 Jacobi sweeps: %.2e m from where they lead, with Chebyshev's weights %.2e m\n", slow,
           sooner);
    assert_true(sooner < 0.5 * slow);
    free(limit);
}

/* ---- The residual ------------------------------------------------------------------------------ */

/* On soft bodies sweeps with the residual converge to the minimum of g, which plain sweeps miss. */
static void residual_leads_to_the_minimum(void **unused)
{
    (void)unused;
    static const int which[] = {BEAM_SOFT, CLOTH_SOFT, RUBBER_SOFT, BALL_SOFT};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++)
        for (int order = 0; order < 3; order++) {
            sinew_solver_def plain = xpbd_with(order == 2 ? 600 : 150, "order", order), kept = plain;
            set(&kept, "residual", 1);
            const double without = step_error(which[i], &plain), with = step_error(which[i], &kept);
            printf("%-20s order %d: plain %.1e, with the residual %.1e\n", scenes[which[i]].name, order, without, with);
            assert_true(IS_SINGLE || fabs(with) < 1e-9);
            assert_true(IS_SINGLE || without > 1e-6);
        }
}

/* On stiff bodies sweeps with the residual do not settle: PBNG section 6 cites Chen et al. 2023. */
static void residual_is_unstable_when_stiff(void **unused)
{
    (void)unused;
    static const int which[] = {BEAM_STIFF, RUBBER_STIFF};
    for (size_t i = 0; i < sizeof which / sizeof which[0]; i++) {
        sinew_solver_def plain = xpbd_with(100, "order", 0), kept = plain;
        set(&kept, "residual", 1);
        const double without = step_error(which[i], &plain);
        sinew_world *world = build(&scenes[which[i]], &kept, 1, 1);
        sinew_step_result result;
        sinew_world_step(world, &result);
        int32_t count;
        const sinew_iteration *records = sinew_world_iterations(world, &count);
        const double best = minimum_of(which[i]), end = records[count - 1].objective;
        const double with = (end - best) / (records[0].objective - best);
        printf("%-20s plain %.1e, with the residual %.1e, bits %x\n", scenes[which[i]].name, without, with,
               result.bits);
        assert_true(result.bits & SINEW_STEP_NOT_FINITE || !(with < 10 * without));
        sinew_world_destroy(world);
    }
}

/* ---- Initial multipliers --------------------------------------------------------------------------- */

/* With lambda = -C / alpha~ every constraint's own equation holds at q_tilde, and sweeps without the residual change
 * nothing: the step ends at q_tilde for every material. With the residual they find the minimum. */
static void a_guess_needs_the_residual(void **unused)
{
    (void)unused;
    for (int order = 0; order < 3; order++) {
        sinew_solver_def guess = xpbd_with(order == 2 ? 600 : 150, "first", 1), both = guess;
        set(&guess, "order", order);
        set(&both, "order", order);
        set(&both, "residual", 1);
        sinew_world *world = build(&scenes[BALL_SOFT], &guess, 1, 1);
        sinew_real *before = positions_of(world), *after;
        step_of(world);
        after = positions_of(world);
        const double moved = largest_difference(before, after, 3 * sinew_world_particle_count(world));
        if (moved > (IS_SINGLE ? 2e-5 : 1e-12))
            fail_msg("order %d: a ball without gravity moved by %g m", order, moved);
        free(before);
        free(after);
        sinew_world_destroy(world);
        assert_true(fabs(step_error(BALL_SOFT, &both)) < (IS_SINGLE ? 1e-2 : 1e-9));
    }
}

/* ---- Masses ------------------------------------------------------------------------------------ */

static sinew_real *end_of_rope(drawn_rope d, double masses, double stiffness, sinew_solver_kind kind)
{
    sinew_solver_def solver = solver_of(kind, 10);
    d.density *= masses;
    d.stiffness *= stiffness;
    sinew_world *world = make_drawn_rope(&d, &solver);
    step_of(world);
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    return q;
}

/* All masses four times as large: PBD ends at the same bits, thesis (4.9). XPBD does with a quarter of the compliances,
 * thesis (4.30): masses enter only through alpha~ m. */
static void masses_enter_through_the_compliance(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("masses", 5, 500);
    for (int32_t i = 0; i < r.count; i++) {
        const drawn_rope d = draw_rope(&r);
        sinew_real *pbd = end_of_rope(d, 1, 1, SINEW_SOLVER_PBD), *heavy_pbd = end_of_rope(d, 4, 1, SINEW_SOLVER_PBD);
        sinew_real *xpbd = end_of_rope(d, 1, 1, SINEW_SOLVER_XPBD), *heavy = end_of_rope(d, 4, 1, SINEW_SOLVER_XPBD);
        sinew_real *stiff = end_of_rope(d, 4, 4, SINEW_SOLVER_XPBD);
        assert_memory_equal(pbd, heavy_pbd, 3 * ROPE * sizeof *pbd);
        assert_memory_equal(xpbd, stiff, 3 * ROPE * sizeof *xpbd);
        assert_memory_not_equal(xpbd, heavy, 3 * ROPE * sizeof *xpbd);
        sinew_real *all[] = {pbd, heavy_pbd, xpbd, heavy, stiff};
        for (int k = 0; k < 5; k++)
            free(all[k]);
    }
}

/* Two particles on a spring at rest fly apart with 2 v: PBD ends at the rest length for any v; a minimiser of g with
 * the same spring does not (Projective Dynamics 4.1: PBD washes out the momenta of single points). */
static double length_after(sinew_solver_kind kind, double v)
{
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
    const sinew_real velocity[6] = {(sinew_real)-v, 0, 0, (sinew_real)v, 0, 0};
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.time_step = (sinew_real)0.01;
    def.solver = solver_of(kind, 30);
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(2, from, to);
    const sinew_body body = add_mesh(world, mesh, 1, NULL, velocity);
    add_springs(world, body, 1000);
    step_of(world);
    sinew_real *q = positions_of(world);
    const double length = (double)(q[3] - q[0]);
    free(q);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
    return length;
}

static void pbd_forgets_single_momenta(void **unused)
{
    (void)unused;
    const double close = IS_SINGLE ? 1e-6 : 1e-14;
    for (double v = -3; v <= 3; v += 1.5) {
        assert_true(fabs(length_after(SINEW_SOLVER_PBD, v) - 1) < close);
        /* The step of one spring in closed form: stretch e with (m / h^2 / 2) (e - 2 v h) + k e = 0, m = 1/2 kg. */
        const double inertia = 0.5 / 2 / 1e-4, e = inertia * 2 * v * 0.01 / (inertia + 1000);
        assert_true(fabs(length_after(SINEW_SOLVER_NEWTON, v) - 1 - e) < (IS_SINGLE ? 1e-6 : 1e-12));
    }
}

/* ---- Volume alone ------------------------------------------------------------------------------ */

static sinew_world *hard_tet(const double stretch[3])
{
    static const sinew_real corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t tet[4] = {0, 1, 2, 3};
    sinew_error error = {0};
    sinew_mesh_def mesh_def = sinew_default_mesh_def();
    sinew_real start[12];
    mesh_def.positions = corners;
    mesh_def.vertex_count = 4;
    mesh_def.tets = tet;
    mesh_def.tet_count = 1;
    sinew_mesh *mesh = sinew_mesh_create(&mesh_def, &error);
    must(&error);
    for (int i = 0; i < 12; i++)
        start[i] = (sinew_real)((double)corners[i] * stretch[i % 3]);
    sinew_world_def def = sinew_default_world_def();
    def.gravity[1] = 0;
    def.solver = xpbd_with(30, "compliance", 0);
    set(&def.solver, "neo_hookean", 0);
    sinew_world *world = make_world(&def);
    add_material(world, add_mesh(world, mesh, 1000, start, NULL), SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.45);
    sinew_mesh_destroy(mesh);
    return world;
}

/* Thesis (4.33): without compliance the combined constraint is det F - 1. A tet of the right volume does not move, for
 * any stretch; another one reaches the volume. */
static void combined_without_compliance_is_volume(void **unused)
{
    (void)unused;
    static const double stretches[][3] = {{2, 0.5, 1}, {4, 0.5, 0.5}, {1.3, 1.3, 1.3}, {0.5, 1, 0.9}};
    for (int i = 0; i < 4; i++) {
        const double *s = stretches[i];
        sinew_world *world = hard_tet(s);
        sinew_real *before = positions_of(world);
        step_of(world);
        sinew_measures measures;
        sinew_world_measure(world, &measures);
        sinew_real *after = positions_of(world);
        const double moved = largest_difference(before, after, 12), close = IS_SINGLE ? 1e-5 : 1e-12;
        assert_true(fabs(measures.det_min - 1) < close);
        assert_true(i < 2 ? moved < close : moved > 0.01);
        free(before);
        free(after);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chebyshev_is_what_it_says),     cmocka_unit_test(chebyshev_gets_there_sooner),
        cmocka_unit_test(residual_leads_to_the_minimum), cmocka_unit_test(residual_is_unstable_when_stiff),
        cmocka_unit_test(a_guess_needs_the_residual),    cmocka_unit_test(masses_enter_through_the_compliance),
        cmocka_unit_test(pbd_forgets_single_momenta),    cmocka_unit_test(combined_without_compliance_is_volume),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
