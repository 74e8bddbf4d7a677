/* SPDX-License-Identifier: MIT
 *
 * test_closest_scales.c: closest points do not depend on the unit of length: the same weights and direction, and a
 * distance in the same unit. Factors are powers of two, which do not round. A vertex over a face and an edge over an
 * edge have a direction also where the square of their distance underflows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "collide/candidates.h"
#include "random_cases.h"

#ifdef SINEW_SINGLE
#define CLOSE 1e-5
static const int exponents[] = {-24, -8, 8, 24};
#define SMALLEST -120
#else
#define CLOSE    1e-9
static const int exponents[] = {-100, -20, 20, 100};
#define SMALLEST -1000
#endif

static sinew_candidate closest_at(sinew_candidate_kind kind, const sinew_real x[16], int exponent)
{
    sinew_real scaled[16];
    sinew_candidate pair = {.kind = (uint8_t)kind, .v = {0, 1, 2, 3}};
    for (int i = 0; i < 16; i++)
        scaled[i] = (sinew_real)ldexp((double)x[i], exponent);
    sinew_candidate_closest(&pair, scaled);
    return pair;
}

static void scales_agree(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("closest points", 200, 20000);
    for (int32_t k = 0; k < r.count; k++) {
        const sinew_candidate_kind kind = k % 2 ? SINEW_CANDIDATE_EDGE_EDGE : SINEW_CANDIDATE_VERTEX_FACE;
        sinew_real x[16];
        for (int i = 0; i < 16; i++)
            x[i] = (sinew_real)(i % 4 == 3 ? 0 : random_between(&r, -1, 1));
        const sinew_candidate one = closest_at(kind, x, 0);
        for (size_t e = 0; e < sizeof exponents / sizeof exponents[0]; e++) {
            const sinew_candidate other = closest_at(kind, x, exponents[e]);
            const double distance = ldexp((double)other.distance, -exponents[e]);
            double length = 0;
            for (int a = 0; a < 4; a++)
                assert_true(fabs((double)one.w[a] - (double)other.w[a]) < CLOSE);
            for (int i = 0; i < 3; i++) {
                length += (double)other.n[i] * (double)other.n[i];
                assert_true(fabs((double)one.n[i] - (double)other.n[i]) < CLOSE / (double)one.distance);
            }
            assert_true(fabs(length - 1) < CLOSE && fabs(distance - (double)one.distance) < CLOSE);
        }
    }
}

static void small_distances_have_directions(void **state)
{
    (void)state;
    for (int exponent = SMALLEST; exponent < 0; exponent += 20)
        for (int side = -1; side < 2; side += 2) {
            const sinew_real y = (sinew_real)(side * ldexp(1, exponent));
            const sinew_real face[16] = {0.25f, y, 0.25f, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
            const sinew_real edge[16] = {-1, y, 0, 0, 1, y, 0, 0, 0, 0, -1, 0, 0, 0, 1, 0};
            for (int kind = 0; kind < 2; kind++) {
                const sinew_candidate pair = closest_at((sinew_candidate_kind)kind, kind ? edge : face, 0);
                assert_true(fabs((double)pair.n[1] - side) < CLOSE && fabs((double)pair.n[0]) < CLOSE);
                assert_true(fabs((double)pair.distance / fabs((double)y) - 1) < CLOSE);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scales_agree),
                                       cmocka_unit_test(small_distances_have_directions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
