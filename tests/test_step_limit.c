/* SPDX-License-Identifier: MIT
 *
 * test_step_limit.c: the largest step before an energy with a barrier becomes infinite: random elements and directions
 * against the determinant sampled densely along the step, whole worlds against the objective, and the line searches
 * that use the limit.
 */
#include "make_world.h"
#include "random_cases.h"

#include "energy_batch.h"
#include "solve/line_search.h"
#include "world/world.h"

#ifdef SINEW_SINGLE
#define CLOSE 1e-4
#else
#define CLOSE 1e-9
#endif

enum {
    LOOKS = 4000
};

/* ---- One element --------------------------------------------------------------------------------- */

/* The determinant of the edges of element e at x + t p, over its size at x. */
static double determinant_at(const batch *b, int e, double t)
{
    double D[9];
    for (int i = 0; i < 9; i++) {
        const int at = 3 * (i % 3 + 1) + i / 3, from = i / 3;
        D[i] = (double)*batch_at(b, b->x, e, at) - (double)*batch_at(b, b->x, e, from) +
               t * ((double)*batch_at(b, b->p, e, at) - (double)*batch_at(b, b->p, e, from));
    }
    return D[0] * (D[4] * D[8] - D[5] * D[7]) - D[1] * (D[3] * D[8] - D[5] * D[6]) + D[2] * (D[3] * D[7] - D[4] * D[6]);
}

static double limit_of(batch *b, double max)
{
    const sinew_kernel kernel = batch_kernel(b, false);
    return b->ops->step_limit(&kernel, max);
}

/* The determinant is positive before the limit and zero at it. The sign of an element's volume is that of its rest
 * shape. */
static void check_element(batch *b, double sign)
{
    const double start = sign * determinant_at(b, 0, 0), limit = limit_of(b, HUGE_VAL);
    const double end = isfinite(limit) ? limit : 1e3;
    for (int i = 0; i < LOOKS; i++) {
        const double t = end * i / LOOKS, volume = sign * determinant_at(b, 0, t);
        if (!(volume > -CLOSE * start * (1 + t * t * t)))
            fail_msg("flat at %.9g, and the limit is %.9g", t, limit);
    }
    if (isfinite(limit)) {
        /* Beyond the limit the determinant may be large: round-off is relative to the size of its terms. */
        const double scale = fabs(start) + fabs(determinant_at(b, 0, 2 * limit)) + fabs(determinant_at(b, 0, -limit));
        if (!(fabs(determinant_at(b, 0, limit)) <= 10 * CLOSE * scale))
            fail_msg("det is %g at the limit %.9g, of %g", determinant_at(b, 0, limit), limit, start);
        assert_true(limit_of(b, 2 * limit) <= limit * (1 + CLOSE) && limit_of(b, 2 * limit) >= limit * (1 - CLOSE));
        assert_true(limit_of(b, limit / 2) == limit / 2);
    } else {
        assert_true(limit_of(b, 1) == 1);
    }
}

static batch draw_batch(random_cases *r, const sinew_simd_variant *simd, const sinew_energy_ops *ops, int count,
                        double step)
{
    sample samples[BATCH_MAX];
    random_state = random_bits(r);
    for (int e = 0; e < count; e++) {
        const state s = {"drawn",
                         random_between(r, 0, 3),
                         {random_between(r, 0.3, 2), random_between(r, 0.3, 2), random_between(r, 0.3, 2)},
                         0};
        samples[e] = sample_make(&ops->info, &s);
    }
    batch b = batch_make(simd, ops, samples, count);
    for (int e = 0; e < count; e++)
        for (int i = 0; i < b.size; i++)
            *batch_at(&b, b.p, e, i) = (sinew_real)random_between(r, -step, step);
    return b;
}

static void each_energy(random_cases *r,
                        void (*check)(random_cases *, const sinew_simd_variant *, const sinew_energy_ops *))
{
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    int found = 0;
    for (int32_t v = 0; v < count; v++)
        for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
            const sinew_energy_ops *ops = variants[v]->energies[kind];
            /* An energy has a barrier if and only if it has a step limit. */
            assert_true(ops->barrier == (ops->step_limit != NULL));
            for (int32_t i = 0; ops->step_limit && is_tet(&ops->info) && i < r->count; i++, found++)
                check(r, variants[v], ops);
        }
    assert_true(found > 0);
}

static void check_single(random_cases *r, const sinew_simd_variant *simd, const sinew_energy_ops *ops)
{
    batch b = draw_batch(r, simd, ops, 1, random_magnitude(r, 1e-3, 1e3));
    check_element(&b, determinant_at(&b, 0, 0) > 0 ? 1 : -1);
    batch_free(&b);
}

static void the_first_flat_element_is_found(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("one element", 200, 20000);
    each_energy(&r, check_single);
}

/* Several elements: the minimum over all; inverted elements and padding do not count. */
static void check_several(random_cases *r, const sinew_simd_variant *simd, const sinew_energy_ops *ops)
{
    enum {
        COUNT = 7
    };
    batch b = draw_batch(r, simd, ops, COUNT, 1);
    const int inverted = random_index(r, COUNT);
    const double before = limit_of(&b, HUGE_VAL);
    for (int i = 0; i < b.size; i += 3) {
        *batch_at(&b, b.x, inverted, i) *= -1;
        *batch_at(&b, b.p, inverted, i) *= -1;
    }
    const double without = limit_of(&b, HUGE_VAL);
    double min = HUGE_VAL;
    for (int e = 0; e < COUNT; e++) {
        sinew_real kept[COUNT];
        for (int other = 0; other < COUNT; other++) {
            sinew_real *weight = &b.data[other / b.width * ops->data_count * b.width + other % b.width];
            kept[other] = *weight;
            *weight = other == e ? kept[other] : 0;
        }
        const double own = limit_of(&b, HUGE_VAL);
        assert_true(e != inverted || own == HUGE_VAL);
        min = fmin(min, own);
        for (int other = 0; other < COUNT; other++)
            b.data[other / b.width * ops->data_count * b.width + other % b.width] = kept[other];
    }
    /* Bisections from other starts end slightly apart. */
    assert_true(without >= min * (1 - CLOSE) && without <= min * (1 + CLOSE) && before <= without * (1 + CLOSE));
    memset(b.p, 0, sizeof *b.p * (size_t)(4 * b.group_count * b.width * b.vertex_count));
    assert_true(limit_of(&b, HUGE_VAL) == HUGE_VAL && limit_of(&b, 3) == 3);
    batch_free(&b);
}

static void the_least_of_all_counts(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("several elements", 50, 5000);
    each_energy(&r, check_several);
}

/* ---- A world ------------------------------------------------------------------------------------- */

static sinew_world *make_block(random_cases *r, sinew_energy_kind kind, int threads)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    sinew_mesh *mesh = make_beam(6, 4, 4, 1.5, 1, 1);
    def.thread_count = threads;
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    add_material(world, body, kind, 1e5, 0.3);
    sinew_mesh_destroy(mesh);
    for (int32_t i = 0; i < world->particle_count; i++)
        for (int c = 0; c < 3; c++)
            world->q[4 * i + c] += (sinew_real)random_between(r, -0.02, 0.02);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
    return world;
}

static sinew_real *draw_direction(random_cases *r, int32_t count)
{
    sinew_real *d = batch_array(4 * (size_t)count, sizeof *d);
    const double size = random_magnitude(r, 0.05, 5);
    for (int32_t i = 0; i < 4 * count; i++)
        d[i] = (sinew_real)(i % 4 < 3 ? random_between(r, -size, size) : 0);
    return d;
}

/* Whether the objective is finite at q + t d. */
static bool defined_at(sinew_world *world, const sinew_real *d, double t)
{
    const size_t size = 4 * (size_t)world->particle_count;
    sinew_real *q = batch_array(size, sizeof *q);
    for (size_t i = 0; i < size; i++)
        q[i] = (sinew_real)((double)world->q[i] + t * (double)d[i]);
    const bool finite = isfinite(sinew_objective_elastic(&world->objective, q));
    free(q);
    return finite;
}

static void the_objective_ends_at_its_limit(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("worlds", 10, 500);
    for (int32_t i = 0; i < r.count; i++) {
        random_cases same = r;
        sinew_world *world = make_block(&r, SINEW_ENERGY_NEO_HOOKEAN_LOG, 1);
        sinew_world *threaded = make_block(&same, SINEW_ENERGY_NEO_HOOKEAN_LOG, 3);
        sinew_real *d = draw_direction(&r, world->particle_count);
        const double limit = sinew_objective_step_limit(&world->objective, world->q, d, 1e6);
        assert_true(limit > 0 && limit < 1e6);
        assert_true(sinew_objective_step_limit(&threaded->objective, threaded->q, d, 1e6) == limit);
        assert_true(defined_at(world, d, 0.999 * limit) && !defined_at(world, d, 1.001 * limit));
        free(d);
        sinew_world_destroy(world);
        sinew_world_destroy(threaded);
    }
    sinew_world *plain = make_block(&r, SINEW_ENERGY_NEO_HOOKEAN, 1);
    sinew_real *d = draw_direction(&r, plain->particle_count);
    assert_true(sinew_objective_step_limit(&plain->objective, plain->q, d, 7) == 7);
    free(d);
    sinew_world_destroy(plain);
}

/* ---- Searches ------------------------------------------------------------------------------------ */

/* Searches along a descent direction that is far too long; returns alpha over the limit. */
static double search(random_cases *r, sinew_search *find)
{
    sinew_world *world = make_block(r, SINEW_ENERGY_NEO_HOOKEAN_LOG, 1);
    sinew_solve *s = &world->solve;
    const size_t size = 4 * (size_t)world->particle_count;
    sinew_real *d = batch_array(size, sizeof *d), *trial = batch_array(size, sizeof *d),
               *gradient = batch_array(size, sizeof *d);
    memcpy(s->q, world->q, size * sizeof *d);
    world->objective.step.q_tilde = world->q;
    s->gradient_known = false;
    sinew_solve_evaluate(s);
    for (size_t i = 0; i < size; i++)
        d[i] = -s->gradient[i];
    /* Ten times as long as the step to the barrier. */
    const double first = sinew_objective_step_limit(&world->objective, s->q, d, HUGE_VAL);
    assert_true(isfinite(first));
    for (size_t i = 0; i < size; i++)
        d[i] *= (sinew_real)(10 * first);
    const double limit = sinew_objective_step_limit(&world->objective, s->q, d, 1);
    assert_true(fabs(limit - 0.1) < 1e-3);
    const double alpha = find(s, d, trial, gradient);
    assert_true(isfinite(s->terms.elastic) && isfinite(s->residual));
    free(d);
    free(trial);
    free(gradient);
    sinew_world_destroy(world);
    return alpha / limit;
}

static void searches_stay_before_the_barrier(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("searches", 5, 200);
    for (int32_t i = 0; i < r.count; i++) {
        const double armijo = search(&r, sinew_line_search), wolfe = search(&r, sinew_line_search_wolfe);
        assert_true(armijo > 0 && armijo < 1 && wolfe > 0 && wolfe < 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_flat_element_is_found),
        cmocka_unit_test(the_least_of_all_counts),
        cmocka_unit_test(the_objective_ends_at_its_limit),
        cmocka_unit_test(searches_stay_before_the_barrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
