/* SPDX-License-Identifier: MIT
 *
 * test_tree_rays.c: the first hit and any hit of rays against brute force over the same leaf function, that function
 * against exact cases, and rays against closed surfaces, which none must leave.
 */
#include <math.h>

#define SINEW_LANE_WIDTH  1
#define SINEW_LANE_SUFFIX test
#include "tree/leaf_ray.h"
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

/* Towards a cell or anywhere; now and then along axes, in planes, from a cell, of odd lengths and limits. */
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
        if (!kernels[i]->usable())
            continue;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
