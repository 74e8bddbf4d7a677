/* SPDX-License-Identifier: MIT
 *
 * test_contact_energy.c: the contact energy of four and of eight particles (src/energy/edge/contact_kernel.h) in every
 * SIMD variant against the formula of its head, written out again in double: value, gradient and Hessian by finite
 * differences of that formula, the proximal map against a search, the block of one vertex against the whole Hessian,
 * and the hard constraint.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include <math.h>

#include "energy/contact_data.h"
#include "random_cases.h"

#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define CLOSE 2e-4
#else
#define CLOSE 1e-7
#endif

enum {
    CASES = 9,
    WIDE = SINEW_CONTACT_VERTICES_WIDE
};

static int vertices; /* of the energy under test: 4 or 8 */
static bool levers;  /* true: contacts of 8 vertices have levers */

typedef struct contact_case {
    double w[WIDE], d[WIDE], n[3], r, lambda, kn, kt, limit, anchor[3], mu, x[3 * WIDE];
} contact_case;

/* z = sum (w_a + d_a P) x_a */
static void relative_position(const contact_case *c, const double *x, double z[3])
{
    double arm[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        z[i] = 0;
        for (int a = 0; a < vertices; a++) {
            z[i] += c->w[a] * x[3 * a + i];
            arm[i] += c->d[a] * x[3 * a + i];
        }
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            z[i] += ((i == k) - c->n[i] * c->n[k]) * arm[k];
}

/* psi as in the head of contact.c */
static double reference(const contact_case *c, const double *x)
{
    double z[3], along = 0, drift = 0, slip = 0;
    relative_position(c, x, z);
    for (int i = 0; i < 3; i++) {
        along += c->n[i] * z[i];
        drift += c->n[i] * (z[i] - c->anchor[i]);
    }
    for (int i = 0; i < 3; i++)
        slip += pow(z[i] - c->anchor[i] - drift * c->n[i], 2);
    slip = sqrt(slip);
    const double force = fmax(0, c->lambda + c->kn * (c->r - along));
    const double normal = (force * force - c->lambda * c->lambda) / (2 * c->kn);
    return normal + (c->kt * slip <= c->limit ? c->kt / 2 * slip * slip : c->limit * (slip - c->limit / (2 * c->kt)));
}

static double reference_slope(const contact_case *c, const double *x, int k)
{
    double moved[3 * WIDE];
    const double step = 1e-5;
    memcpy(moved, x, 3 * (size_t)vertices * sizeof *moved);
    moved[k] = x[k] + step;
    const double up = reference(c, moved);
    moved[k] = x[k] - step;
    return (up - reference(c, moved)) / (2 * step);
}

/* Sliding and sticking, closed and open contacts; vertices on one side or on both. */
static contact_case draw_case(random_cases *random)
{
    contact_case c = {.kn = random_between(random, 1, 20), .kt = random_between(random, 1, 20)};
    const double t = random_between(random, 0, 1), u = random_between(random, 0, 1);
    const bool edges = random_index(random, 2);
    const double w[2][4] = {{1, -t * u, -t * (1 - u), t - 1}, {t, 1 - t, -u, u - 1}};
    double length = 0;
    memcpy(c.w, w[edges], sizeof w[edges]);
    for (int a = 0; vertices > 4 && a < vertices;
         a++) /* points of rigid bodies: weights of either sign, sums 1 and -1 */
        c.w[a] =
            a % 4 < 3 ? random_between(random, -0.7, 0.7) : (a < 4 ? 1 : -1) - c.w[a - 1] - c.w[a - 2] - c.w[a - 3];
    for (int a = 0; levers && vertices > 4 && a < vertices; a++)
        c.d[a] = a % 4 < 3 ? random_between(random, -1, 1) : -c.d[a - 1] - c.d[a - 2] - c.d[a - 3];
    for (int i = 0; i < 3; i++) {
        c.n[i] = random_between(random, -1, 1);
        c.anchor[i] = random_between(random, -1, 1);
        length += c.n[i] * c.n[i];
    }
    for (int i = 0; i < 3; i++)
        c.n[i] /= sqrt(length);
    for (int k = 0; k < 3 * vertices; k++)
        c.x[k] = random_between(random, -1, 1);
    c.r = random_between(random, -1, 1);
    c.lambda = random_index(random, 2) ? random_between(random, 0, 5) : 0;
    c.limit = random_between(random, 0, 20);
    c.mu = random_between(random, 0, 1);
    return c;
}

static batch make_batch(const sinew_simd_variant *simd, const contact_case *cases)
{
    sample samples[CASES] = {0};
    for (int e = 0; e < CASES; e++)
        memcpy(samples[e].x, cases[e].x, sizeof cases[e].x);
    batch b = batch_make(simd, vertices > 4 ? simd->contact_wide : simd->contact, samples, CASES);
    for (int e = 0; e < CASES; e++) {
        const contact_case *c = &cases[e];
        const int count = SINEW_CONTACT_DATA_COUNT_OF(vertices);
        double data[SINEW_CONTACT_DATA_COUNT_WIDE] = {1};
        memcpy(data + SINEW_CONTACT_WEIGHTS, c->w, (size_t)vertices * sizeof *c->w);
        if (vertices > SINEW_CONTACT_VERTICES)
            memcpy(data + SINEW_CONTACT_WEIGHTS + vertices, c->d, (size_t)vertices * sizeof *c->d);
        memcpy(data + SINEW_CONTACT_NORMAL, c->n, sizeof c->n);
        memcpy(data + SINEW_CONTACT_ANCHOR, c->anchor, sizeof c->anchor);
        data[SINEW_CONTACT_OFFSET] = c->r;
        data[SINEW_CONTACT_LAMBDA] = c->lambda;
        data[SINEW_CONTACT_KN] = c->kn;
        data[SINEW_CONTACT_KT] = c->kt;
        data[SINEW_CONTACT_LIMIT] = c->limit;
        data[SINEW_CONTACT_MU] = c->mu;
        for (int i = 0; i < count; i++)
            b.data[(e / b.width * count + i) * b.width + e % b.width] = (sinew_real)data[i];
    }
    return b;
}

/* Near a kink (contact opens, friction slips) there is no second derivative to compare with. */
static bool is_smooth(const contact_case *c)
{
    for (int k = 0; k < 3 * vertices; k++) {
        double left[3 * WIDE], right[3 * WIDE];
        memcpy(left, c->x, sizeof left);
        memcpy(right, c->x, sizeof right);
        left[k] -= 2e-3;
        right[k] += 2e-3;
        for (int j = 0; j < 3 * vertices; j++) {
            const double middle = reference_slope(c, c->x, j);
            const double bend = reference_slope(c, left, j) + reference_slope(c, right, j) - 2 * middle;
            if (fabs(bend) > 2e-3)
                return false;
        }
    }
    return true;
}

static void check_derivatives(batch *b, const contact_case *cases)
{
    double sum = 0;
    for (int e = 0; e < CASES; e++)
        sum += reference(&cases[e], cases[e].x);
    assert_true(fabs(batch_gradient(b) - sum) < CLOSE * (1 + fabs(sum)));
    assert_true(fabs(batch_value(b) - sum) < CLOSE * (1 + fabs(sum)));
    batch_linearise(b, true);
    for (int e = 0; e < CASES; e++)
        for (int k = 0; k < 3 * vertices; k++) {
            const double exact = reference_slope(&cases[e], cases[e].x, k);
            assert_true(fabs((double)b->g[4 * (vertices * e + k / 3) + k % 3] - exact) <
                        1e-5 + CLOSE * 100 * fabs(exact));
        }
}

/* Block (a, a) of element e, from its lower triangle of blocks. */
static double block_entry(const batch *b, int e, int a, int i, int j)
{
    const int index = a * (a + 1) / 2 + a;
    return (double)
        b->blocks[((e / b->width * (vertices * (vertices + 1) / 2) + index) * 9 + 3 * i + j) * b->width + e % b->width];
}

static void check_blocks(batch *b, const contact_case *cases)
{
    const double step = 1e-3;
    for (int e = 0; e < CASES; e++)
        for (int k = 0; is_smooth(&cases[e]) && k < 3 * vertices; k++) {
            double up[3 * WIDE], down[3 * WIDE];
            memcpy(up, cases[e].x, sizeof up);
            memcpy(down, cases[e].x, sizeof down);
            up[k] += step;
            down[k] -= step;
            for (int i = 0; i < 3; i++) {
                const int own = k / 3 * 3 + i;
                const double here = reference_slope(&cases[e], cases[e].x, own);
                const double right = (reference_slope(&cases[e], up, own) - here) / step;
                const double left = (here - reference_slope(&cases[e], down, own)) / step;
                /* A kink below the threshold of is_smooth() may lie between both one-sided slopes. */
                const double slope = (left + right) / 2, known = fabs(left - right) / 2;
                assert_true(fabs(block_entry(b, e, k / 3, i, k % 3) - slope) < 2e-2 * (1 + fabs(slope)) + known);
            }
        }
}

/* `product` and `hessian` are the same symmetric matrix. */
static void check_product(batch *b)
{
    static double H[SIZE_MAX3 * SIZE_MAX3], K[SIZE_MAX3 * SIZE_MAX3];
    batch_linearise(b, true);
    for (int e = 0; e < CASES; e++) {
        batch_hessian(b, e, H);
        batch_product(b, e, K);
        for (int i = 0; i < b->size * b->size; i++)
            assert_true(fabs(H[i] - K[i]) < CLOSE * (1 + fabs(H[i])));
    }
}

/* Gradient, block and change of the energy of node a alone, of one incidence per element. */
static void check_vertices(batch *b, const contact_case *cases)
{
    const int W = b->width, lanes = b->group_count * W, own = b->ops->incidence_data_count, n = vertices;
    static const int entry[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    int32_t *first = batch_array((size_t)b->group_count + 1, sizeof *first),
            *node = batch_array((size_t)lanes, sizeof *node),
            *others = batch_array((size_t)((n - 1) * lanes), sizeof *others);
    sinew_real *data = batch_array((size_t)(own * lanes), sizeof *data),
               *sum = batch_array((size_t)(SINEW_VERTEX_SUM * lanes), sizeof *sum),
               *step = batch_array((size_t)(3 * lanes), sizeof *step),
               *change = batch_array((size_t)(2 * lanes), sizeof *change);
    const sinew_vertex_kernel kernel = {b->group_count, first, node, others, data, b->x, true, sum, step, change};
    for (int g = 0; g <= b->group_count; g++)
        first[g] = g;
    for (int a = 0; a < n; a++) {
        memset(sum, 0, (size_t)(SINEW_VERTEX_SUM * lanes) * sizeof *sum);
        memset(change, 0, (size_t)(2 * lanes) * sizeof *change);
        for (int e = 0; e < lanes; e++) {
            const int from = e < CASES ? e : 0, g = e / W, l = e % W;
            sinew_real element[SINEW_CONTACT_DATA_COUNT_WIDE], out[64];
            int32_t particles[WIDE], rest[WIDE];
            for (int i = 0; i < b->ops->data_count; i++)
                element[i] = b->data[(from / W * b->ops->data_count + i) * W + from % W];
            for (int i = 0; i < n; i++)
                particles[i] = from * n + i;
            b->ops->incidence(element, particles, a, out, rest);
            node[e] = SINEW_POINT * (from * n + a);
            for (int i = 0; i < own; i++)
                data[(g * own + i) * W + l] = out[i];
            for (int i = 0; i < n - 1; i++)
                others[(g * (n - 1) + i) * W + l] = SINEW_POINT * rest[i];
            for (int i = 0; i < 3; i++)
                step[(g * 3 + i) * W + l] = (sinew_real)(0.1 * (i + 1));
        }
        b->ops->vertex(&kernel);
        b->ops->vertex_change(&kernel);
        for (int e = 0; e < CASES; e++) {
            const sinew_real *found = sum + e / W * SINEW_VERTEX_SUM * W + e % W;
            double moved[3 * WIDE];
            memcpy(moved, cases[e].x, sizeof moved);
            for (int i = 0; i < 3; i++) {
                const double exact = reference_slope(&cases[e], cases[e].x, 3 * a + i);
                assert_true(fabs((double)found[i * W] - exact) < 1e-5 + CLOSE * 100 * fabs(exact));
                moved[3 * a + i] += 0.1 * (i + 1);
            }
            for (int k = 0; k < 6; k++) {
                const double exact = block_entry(b, e, a, entry[k][0], entry[k][1]);
                assert_true(fabs((double)found[(3 + k) * W] - exact) < 100 * CLOSE * (1 + fabs(exact)));
            }
            const double before = reference(&cases[e], cases[e].x), after = reference(&cases[e], moved);
            assert_true(fabs((double)change[e / W * 2 * W + e % W] - (after - before)) <
                        100 * CLOSE * (1 + fabs(after) + fabs(before)));
        }
    }
    void *const arrays[] = {first, node, others, data, sum, step, change};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
}

/* Reduced coordinates z = D x, of contacts without levers: D has the weights, k the larger stiffness, and local_project adds D^T (k z - psi'). */
static void check_reduced(batch *b, const contact_case *cases)
{
    const int lanes = b->group_count * b->width;
    sinew_real *D = batch_array((size_t)(vertices * lanes), sizeof *D), *k = batch_array((size_t)lanes, sizeof *k);
    sinew_reduced_kernel kernel = {.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                   .x = b->x,
                                   .g = b->g,
                                   .D = D,
                                   .weights = k};
    b->ops->reduce(&kernel);
    b->ops->stiffness(&kernel);
    batch_gradient(b); /* D^T psi' stays in g */
    b->ops->local_project(&kernel);
    for (int e = 0; e < CASES; e++) {
        const contact_case *c = &cases[e];
        const double stiffness = (double)k[e];
        assert_true(fabs(stiffness - fmax(c->kn, c->kt)) < CLOSE * stiffness);
        for (int a = 0; a < vertices; a++) {
            assert_true(fabs((double)D[(e / b->width * vertices + a) * b->width + e % b->width] - c->w[a]) < CLOSE);
            for (int i = 0; i < 3; i++) {
                double z = 0;
                for (int j = 0; j < vertices; j++)
                    z += c->w[j] * c->x[3 * j + i];
                const double expected = stiffness * c->w[a] * z;
                assert_true(fabs((double)*batch_at(b, b->g, e, 3 * a + i) - expected) < 100 * CLOSE);
            }
        }
    }
    free(D);
    free(k);
}

static void all_derivatives(void **unused)
{
    (void)unused;
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    random_cases random = random_cases_begin("derivatives", 20, 2000);
    for (int round = 0; round < random.count; round++) {
        contact_case cases[CASES];
        vertices = round % 2 ? WIDE : SINEW_CONTACT_VERTICES;
        levers = round % 4 == 3;
        for (int e = 0; e < CASES; e++)
            cases[e] = draw_case(&random);
        for (int32_t v = 0; v < count; v++) {
            batch b = make_batch(variants[v], cases);
            check_derivatives(&b, cases);
            check_blocks(&b, cases);
            check_product(&b);
            if (!levers)
                check_reduced(&b, cases);
            check_vertices(&b, cases);
            batch_free(&b);
        }
    }
}

/* ---- Proximal map ------------------------------------------------------------------------------- */

/* psi(z) + w2/2 |z - y|^2 as a function of z; one vertex of weight 1 makes z its position. */
static double prox_objective(const contact_case *c, double w2, const double y[3], const double z[3])
{
    double x[3 * WIDE] = {0}, sum = 0;
    contact_case alone = *c;
    memset(alone.w, 0, sizeof alone.w);
    memset(alone.d, 0, sizeof alone.d);
    alone.w[0] = 1;
    for (int i = 0; i < 3; i++) {
        x[i] = z[i];
        sum += w2 / 2 * (z[i] - y[i]) * (z[i] - y[i]);
    }
    return reference(&alone, x) + sum;
}

static void check_prox(batch *b, const contact_case *cases, random_cases *random)
{
    const double w2 = random_magnitude(random, 0.1, 100);
    const int simd = b->group_count * b->width;
    sinew_real *weights = batch_array((size_t)simd, sizeof *weights), *u = batch_array(3 * (size_t)simd, sizeof *u);
    for (int k = 0; k < simd; k++)
        weights[k] = (sinew_real)w2;
    const sinew_reduced_kernel kernel = {.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                         .x = b->x,
                                         .g = b->g,
                                         .weights = weights,
                                         .u = u};
    b->ops->local_prox(&kernel);
    for (int e = 0; e < CASES; e++) {
        double y[3], z[3];
        relative_position(&cases[e], cases[e].x, y);
        for (int i = 0; i < 3; i++) {
            z[i] = y[i] - (double)u[(e / b->width * 3 + i) * b->width + e % b->width]; /* u = y - z from u = 0 */
        }
        const double found = prox_objective(&cases[e], w2, y, z);
        for (int k = 0; k < 200; k++) {
            double other[3];
            const double size = random_magnitude(random, 1e-4, 1);
            for (int i = 0; i < 3; i++)
                other[i] = z[i] + size * random_between(random, -1, 1);
            assert_true(prox_objective(&cases[e], w2, y, other) >= found - 10 * CLOSE * (1 + fabs(found)));
        }
    }
    free(weights);
    free(u);
}

/* ---- Hard constraint ---------------------------------------------------------------------------- */

/* After one contact update its normal constraint holds, and friction is within the cone. */
static void check_constraint(batch *b, const contact_case *cases)
{
    const int simd = b->group_count * b->width;
    sinew_real *lambda = batch_array(4 * (size_t)simd, sizeof *lambda);
    for (int k = 0; k < vertices * simd; k++)
        b->x[4 * k + 3] = 1; /* inverse masses */
    const sinew_constrain_kernel kernel = {.groups = {.count = b->group_count, .vertex = b->vertex, .data = b->data},
                                           .xw = b->x,
                                           .lambda = lambda,
                                           .stiffness = 1};
    b->ops->constrain(&kernel);
    for (int e = 0; e < CASES; e++) {
        const contact_case *c = &cases[e];
        const sinew_real *own = lambda + e / b->width * 4 * b->width + e % b->width;
        const double normal = (double)own[0];
        double along = 0, friction = 0;
        for (int i = 0; i < 3; i++) {
            friction += pow((double)own[(1 + i) * b->width], 2);
            for (int a = 0; a < vertices; a++)
                along += c->n[i] * c->w[a] * (double)b->x[4 * (vertices * e + a) + i];
        }
        assert_true(normal >= 0);
        assert_true(along >= c->r - 10 * CLOSE);
        assert_true(sqrt(friction) <= c->mu * normal * (1 + 10 * CLOSE) + 10 * CLOSE);
    }
    free(lambda);
}

static void proximal_maps_and_constraints(void **unused)
{
    (void)unused;
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    random_cases random = random_cases_begin("proximal maps", 20, 2000);
    for (int round = 0; round < random.count; round++) {
        contact_case cases[CASES];
        vertices = round % 2 ? WIDE : SINEW_CONTACT_VERTICES;
        levers = round % 4 == 3;
        for (int e = 0; e < CASES; e++)
            cases[e] = draw_case(&random);
        for (int32_t v = 0; v < count; v++) {
            batch b = make_batch(variants[v], cases);
            check_prox(&b, cases, &random);
            check_constraint(&b, cases);
            batch_free(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_derivatives),
                                       cmocka_unit_test(proximal_maps_and_constraints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
