/* SPDX-License-Identifier: MIT
 *
 * test_tree_winding.c: winding numbers against the sum over all triangles and against the known values of closed
 * surfaces, holes, duplicates and flips.
 */
#include <math.h>

#include "bvh/tree.h"
#include "tree_cases.h"

#define BOUND 5e-3 /* error of the expansion */
#define PI    3.14159265358979323846

/* The solid angle of a triangle as the area of its image on the sphere: the sum of its angles less pi (Girard), signed
 * by its orientation. */
static double sphere_angle(const tree_case *c, int32_t cell, const sinew_real p[3])
{
    long double u[3][3], n[3][3];
    for (int i = 0; i < 3; i++) {
        long double length = 0;
        for (int k = 0; k < 3; k++) {
            u[i][k] = (long double)c->positions[3 * (size_t)c->cells[3 * cell + i] + (size_t)k] - (long double)p[k];
            length = hypotl(length, u[i][k]);
        }
        for (int k = 0; k < 3; k++)
            u[i][k] /= length;
    }
    long double sign = 0, sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            n[i][k] = u[i][(k + 1) % 3] * u[(i + 1) % 3][(k + 2) % 3] - u[i][(k + 2) % 3] * u[(i + 1) % 3][(k + 1) % 3];
    for (int k = 0; k < 3; k++)
        sign += n[0][k] * u[2][k];
    for (int i = 0; i < 3; i++) { /* angles between the planes through the edges */
        long double along = 0, across = 0;
        const long double *a = n[i], *b = n[(i + 1) % 3];
        for (int k = 0; k < 3; k++) {
            const long double w = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            along -= a[k] * b[k];
            across = hypotl(across, w);
        }
        sum += atan2l(across, along);
    }
    return fabsl(sign) < 1e-14L ? 0 : (double)((sign > 0 ? 1 : -1) * (sum - PI));
}

/* A bumpy ball of rings and slices, oriented outward. */
static tree_case make_ball(int32_t rings, int32_t slices, double bumps, double size, const double offset[3])
{
    tree_case c = {.width = 3, .vertex_count = rings * slices + 2, .cell_count = 2 * rings * slices, .size = size};
    memcpy(c.offset, offset, sizeof c.offset);
    c.positions = malloc(3 * (size_t)c.vertex_count * sizeof *c.positions);
    c.cells = malloc(3 * (size_t)c.cell_count * sizeof *c.cells);
    assert_true(c.positions && c.cells);
    const int32_t top = rings * slices, bottom = top + 1;
    case_set(&c, top, 0, 0, 1);
    case_set(&c, bottom, 0, 0, -1);
    int32_t *cell = c.cells;
    for (int32_t i = 0; i < rings; i++)
        for (int32_t j = 0; j < slices; j++) {
            const double fall = PI * (i + 1) / (rings + 1), turn = 2 * PI * j / slices;
            const double radius = 1 + bumps * sin(7 * turn) * sin(6 * fall) * sin(fall);
            case_set(&c, i * slices + j, radius * sin(fall) * cos(turn), radius * sin(fall) * sin(turn),
                     radius * cos(fall));
            const int32_t a = i * slices + j, b = i * slices + (j + 1) % slices;
            const bool last = i + 1 == rings; /* the last ring also makes the fan around the top */
            const int32_t below_a = last ? bottom : a + slices, below_b = last ? bottom : b + slices;
            const int32_t fan[6] = {
                a, below_a, b, last ? top : b, last ? j : below_a, last ? (j + 1) % slices : below_b};
            memcpy(cell, fan, sizeof fan);
            cell += 6;
        }
    return c;
}

static void print_errors(const char *what, double worst, double sum, int64_t count)
{
    printf("%s: %lld points, worst error %.2g, mean %.2g\n", what, (long long)count, worst, sum / (double)count);
}

static void test_exact_sum(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("winding", 24, 1500);
    double worst = 0, sum = 0;
    int64_t points = 0;
    for (int32_t n = 0; n < r.count; n++) {
        tree_case c = case_make(&r, n % 3 == 0 ? CASE_SOUP : n % 3 == 1 ? CASE_SHARED : CASE_LARGE, 3, 2000);
        sinew_tree *tree = case_tree(&c);
        for (int i = 0; i < 20; i++) {
            sinew_real p[3], w;
            double exact = 0, solid = 0;
            for (int k = 0; k < 3; k++)
                p[k] = (sinew_real)(c.offset[k] + c.size * random_between(&r, -2, 2));
            for (int32_t cell = 0; cell < c.cell_count; cell++) {
                const double angle = sphere_angle(&c, cell, p) / (4 * PI);
                exact += angle;
                solid += fabs(angle);
            }
            sinew_tree_winding(tree, 1, p, &w);
            /* Solid angles of a soup cancel: errors are relative to the sum of their absolute values. */
            const double error = fabs((double)w - exact) / fmax(1, solid);
            if (!(error < BOUND))
                fail_msg("winding number %.6g of %d triangles, must be %.6g", (double)w, c.cell_count, exact);
            worst = fmax(worst, error);
            sum += error;
            points++;
        }
        sinew_tree_destroy(tree);
        case_release(&c);
    }
    print_errors("soups", worst, sum, points);
}

/* The winding number is 1 inside and 0 outside. */
static void test_ball(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("balls", 12, 400);
    double worst = 0, sum = 0;
    int64_t points = 0;
    for (int32_t n = 0; n < r.count; n++) {
        const double size = random_magnitude(&r, 1e-6, 1e6);
        const double offset[3] = {size * random_between(&r, -10, 10), 0, size * random_between(&r, -10, 10)};
        tree_case c = make_ball(20 + random_index(&r, 60), 20 + random_index(&r, 60), 0.2, size, offset);
        sinew_tree *tree = case_tree(&c);
        for (int i = 0; i < 200; i++, points++) {
            sinew_real p[3], w;
            double x[3], length = 0;
            for (int k = 0; k < 3; k++) {
                x[k] = case_normal(&r);
                length += x[k] * x[k];
            }
            const bool inside = random_index(&r, 2) == 0;
            const double radius = inside ? random_between(&r, 0, 0.7) : random_between(&r, 1.25, 4);
            for (int k = 0; k < 3; k++)
                p[k] = (sinew_real)(offset[k] + size * radius * x[k] / sqrt(length));
            sinew_tree_winding(tree, 1, p, &w);
            const double error = fabs((double)w - inside);
            worst = fmax(worst, error);
            sum += error;
            if (!(error < BOUND))
                fail_msg("winding number %.6g, must be %d", (double)w, inside);
        }
        sinew_tree_destroy(tree);
        case_release(&c);
    }
    print_errors("balls", worst, sum, points);
}

/* A duplicated surface has winding number 2, a flipped one -1, and a surface with a hole still separates inside from
 * outside. */
static void test_damaged_ball(void **state)
{
    (void)state;
    const double offset[3] = {0, 0, 0};
    tree_case c = make_ball(40, 40, 0.1, 1, offset);
    const sinew_real points[6] = {0.1f, 0.2f, -0.3f, 1.5f, 0.2f, 0.1f};
    const size_t size = 3 * (size_t)c.cell_count * sizeof *c.cells;
    sinew_real w[2];
    int32_t *twice = malloc(2 * size);
    assert_non_null(twice);
    memcpy(twice, c.cells, size);
    memcpy(twice + 3 * c.cell_count, c.cells, size);
    free(c.cells);
    c.cells = twice;
    for (int32_t n = 0; n < 3; n++) { /* closed and duplicated; flipped; without its lower rings */
        sinew_tree_def def = case_def(&c);
        def.cell_count = n == 0 ? 2 * c.cell_count : n == 1 ? c.cell_count : c.cell_count * 9 / 10 - 40;
        for (int32_t i = 0; i < 2 * c.cell_count && n > 0; i++) { /* flips all triangles, and flips them back */
            const int32_t swap = c.cells[3 * i];
            c.cells[3 * i] = c.cells[3 * i + 1];
            c.cells[3 * i + 1] = swap;
        }
        sinew_tree *tree = sinew_tree_create(&def, NULL);
        assert_non_null(tree);
        sinew_tree_winding(tree, 2, points, w);
        sinew_tree_destroy(tree);
        const double inside = n == 0 ? 2 : n == 1 ? -1 : 1, slack = n == 2 ? 0.4 : BOUND;
        assert_true(fabs((double)w[0] - inside) < slack);
        assert_true(fabs((double)w[1]) < slack);
    }
    case_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact_sum),
        cmocka_unit_test(test_ball),
        cmocka_unit_test(test_damaged_ball),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
