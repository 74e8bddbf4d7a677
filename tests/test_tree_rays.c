/* SPDX-License-Identifier: MIT
 *
 * test_tree_rays.c: the first hit and any hit of rays against brute force with the same leaf function; rays from inside
 * closed surfaces, which must all hit; and degenerate triangles.
 */
#include <math.h>

#undef SINEW_SIMD_WIDTH
#undef SINEW_SIMD_SUFFIX
#define SINEW_SIMD_WIDTH  1
#define SINEW_SIMD_SUFFIX test
#include "bvh/leaf_ray.h"
#include "tree_cases.h"

/* ---- Brute force ------------------------------------------------------------------------------ */

static leaf_hit cell_hit(const sinew_tree *tree, int32_t cell, const sinew_ray_query *q)
{
    sinew_real x[9];
    for (int i = 0; i < 9; i++)
        x[i] = (sinew_real)((double)sinew_tree_corner(tree, cell, i / 3)[i % 3] * tree->scale);
    return leaf_ray(q, x);
}

static sinew_ray_hit brute_ray(const sinew_tree *tree, const sinew_ray *ray)
{
    sinew_ray_query q;
    int exponent;
    sinew_ray_hit hit = {.cell = -1};
    if (!sinew_ray_query_set(tree, ray, &q, &exponent))
        return hit;
    for (int32_t i = 0; i < tree->cell_count; i++) {
        const leaf_hit h = cell_hit(tree, i, &q);
        if (h.hit && (hit.cell < 0 || h.t < q.to)) {
            q.to = h.t;
            hit = (sinew_ray_hit){i, (sinew_real)ldexp((double)h.t, -exponent), h.u, h.v};
        }
    }
    return hit;
}

/* ---- Rays ------------------------------------------------------------------------------------- */

/* A ray towards a primitive or in a random direction; sometimes along axes, in planes, from a primitive, with extreme
 * lengths and limits. */
static sinew_ray draw_ray(random_cases *r, const tree_case *c)
{
    sinew_ray ray = {.from = 0, .to = INFINITY};
    sinew_real target[3];
    double x[3];
    case_point(r, c, ray.origin);
    case_point_on(r, c, x);
    for (int k = 0; k < 3; k++)
        target[k] = (sinew_real)x[k];
    const double length = random_index(r, 3) ? 1 : random_magnitude(r, 1e-3, 1e3);
    for (int k = 0; k < 3; k++)
        ray.direction[k] = (sinew_real)(length * ((double)target[k] - (double)ray.origin[k]));
    const int how = random_index(r, 6);
    if (how == 0)
        for (int k = 0; k < 3; k++)
            ray.direction[k] = (sinew_real)case_normal(r);
    if (how == 1)
        ray.direction[random_index(r, 3)] = 0;
    if (how == 2)
        for (int k = 0, axis = random_index(r, 3); k < 3; k++)
            ray.direction[k] = (sinew_real)(k == axis ? random_index(r, 2) * 2 - 1 : 0);
    if (random_index(r, 4) == 0)
        ray.from = (sinew_real)random_between(r, -2, 1);
    if (random_index(r, 16) == 0)
        ray.from = -INFINITY;
    if (random_index(r, 4) == 0)
        ray.to = (sinew_real)random_between(r, 0, 2);
    return ray;
}

static bool same_hit(const sinew_ray_hit *a, const sinew_ray_hit *b)
{
    return a->cell == b->cell && a->t == b->t && a->u == b->u && a->v == b->v;
}

static void check_ray(const sinew_tree *tree, const sinew_ray *ray, int kind, int64_t *hits)
{
    const sinew_ray_hit wanted = brute_ray(tree, ray);
    int32_t count;
    const sinew_tree_kernel *const *kernels = sinew_tree_kernels(&count);
    for (int32_t i = 0; i < count; i++) {
        ((sinew_tree *)tree)->kernel = kernels[i];
        sinew_ray_hit hit;
        const bool found = sinew_tree_ray(tree, ray, &hit), any = sinew_tree_ray_any(tree, ray);
        if (found != (wanted.cell >= 0) || any != found || !same_hit(&hit, &wanted))
            fail_msg("%s, kind %d of %d cells: cell %d at %.9g, brute force %d at %.9g; any %d", kernels[i]->name, kind,
                     tree->cell_count, hit.cell, (double)hit.t, wanted.cell, (double)wanted.t, any);
    }
    *hits += wanted.cell >= 0;
}

static void test_brute_force(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("rays", 40, 400);
#else
    random_cases r = random_cases_begin("rays", 1000, 20000);
#endif
    int64_t rays = 0, hits = 0;
    for (int32_t n = 0; n < r.count; n++) {
        const int kind = n % CASE_KINDS;
        tree_case c = case_make(&r, kind, 3, n % 50 ? 60 : 2000);
        sinew_tree *tree = case_tree(&c);
        for (int i = 0; i < 50; i++, rays++) {
            const sinew_ray ray = draw_ray(&r, &c);
            check_ray(tree, &ray, kind, &hits);
        }
        sinew_tree_destroy(tree);
        case_release(&c);
    }
    printf("%lld rays, %lld hits\n", (long long)rays, (long long)hits);
    assert_true(hits > rays / 4 && hits < rays);
}

/* ---- Watertight ------------------------------------------------------------------------------- */

/* A box of n x n x n whose sides are divided into irregular triangles with slivers: closed, corners shared by index. */
static tree_case make_closed(random_cases *r, int32_t n)
{
    tree_case c = {.width = 3, .size = 1, .vertex_count = 6 * (n + 1) * (n + 1), .cell_count = 12 * n * n};
    double ticks[3][64];
    c.positions = malloc(3 * (size_t)c.vertex_count * sizeof *c.positions);
    c.cells = malloc(3 * (size_t)c.cell_count * sizeof *c.cells);
    assert_true(c.positions && c.cells && n < 64);
    for (int k = 0; k < 3; k++)
        for (int32_t i = 0; i <= n; i++)
            ticks[k][i] = i == 0   ? -1
                          : i == n ? 1
                                   : ticks[k][i - 1] + (1 - ticks[k][i - 1]) * random_between(r, 0, 0.3);
    int32_t *cell = c.cells;
    for (int32_t side = 0; side < 6; side++)
        for (int32_t i = 0; i <= n; i++)
            for (int32_t j = 0; j <= n; j++) {
                const int a = side / 2, b = (a + 1) % 3, d = (a + 2) % 3;
                const int32_t at = (side * (n + 1) + i) * (n + 1) + j;
                double x[3];
                x[a] = side % 2 ? 1 : -1;
                x[b] = ticks[b][i];
                x[d] = ticks[d][j];
                case_set(&c, at, x[0], x[1], x[2]);
                if (i == n || j == n)
                    continue;
                const int32_t quad[6] = {at, at + n + 1, at + n + 2, at, at + n + 2, at + 1};
                memcpy(cell, quad, sizeof quad);
                cell += 6;
            }
    return c;
}

/* No ray leaves a closed surface: through corners and along edges, with a random rotation and translation. */
static void test_watertight(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("watertight", 10, 100);
#else
    random_cases r = random_cases_begin("watertight", 100, 5000);
#endif
    for (int32_t n = 0; n < r.count; n++) {
        tree_case c = make_closed(&r, 2 + random_index(&r, 12));
        const double turn = random_between(&r, 0, 6.3), size = random_magnitude(&r, 1e-3, 1e3);
        const double s = sin(turn), t = cos(turn);
        for (int32_t i = 0; i < c.vertex_count && n % 3; i++) {
            sinew_real *x = c.positions + 3 * (size_t)i;
            const double y[3] = {(double)x[0], (double)x[1], (double)x[2]};
            x[0] = (sinew_real)(size * (t * y[0] - s * y[1]));
            x[1] = (sinew_real)(size * (s * y[0] + t * y[1]));
            x[2] = (sinew_real)(size * (y[2] + 0.3 * y[0]));
        }
        sinew_tree *tree = case_tree(&c);
        for (int i = 0; i < 400; i++) {
            double x[3];
            sinew_ray ray = {.from = 0, .to = INFINITY};
            sinew_ray_hit hit;
            case_point_on(&r, &c, x);
            for (int k = 0; k < 3; k++) { /* the centre is inside for any rotation */
                ray.origin[k] = (sinew_real)(random_index(&r, 2) ? 0 : 0.2 * x[k]);
                ray.direction[k] = (sinew_real)x[k] - ray.origin[k];
            }
            if (!sinew_tree_ray(tree, &ray, &hit) || !sinew_tree_ray_any(tree, &ray))
                fail_msg("a ray left a closed surface of %d triangles", c.cell_count);
        }
        sinew_tree_destroy(tree);
        case_release(&c);
    }
}

/* Triangles that are lines or points are never hit and do not hide others. */
static void test_degenerate(void **state)
{
    (void)state;
    const sinew_real positions[12] = {0, 0, 1, 1, 0, 1, 0, 1, 1, 0.5f, 0.5f, 1};
    const int32_t cells[12] = {0, 0, 0, 0, 1, 1, 1, 2, 3, 0, 1, 2};
    sinew_tree_def def = sinew_default_tree_def();
    def.vertex_count = 4;
    def.positions = positions;
    def.cell_count = 4;
    def.cells = cells;
    sinew_tree *tree = sinew_tree_create(&def, NULL);
    assert_non_null(tree);
    const sinew_real targets[4][2] = {{0, 0}, {0.5f, 0}, {0.5f, 0.5f}, {0.25f, 0.25f}};
    for (int i = 0; i < 4; i++) {
        const sinew_ray ray = {{targets[i][0], targets[i][1], 0}, {0, 0, 2}, 0, INFINITY};
        sinew_ray_hit hit;
        assert_true(sinew_tree_ray(tree, &ray, &hit));
        assert_int_equal(hit.cell, 3);
        assert_true(hit.t == (sinew_real)0.5);
        assert_true(fabs((double)hit.u - (double)targets[i][0]) < 1e-6);
        assert_true(fabs((double)hit.v - (double)targets[i][1]) < 1e-6);
    }
    sinew_tree_destroy(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
        cmocka_unit_test(test_watertight),
        cmocka_unit_test(test_degenerate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
