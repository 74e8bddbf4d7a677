/* SPDX-License-Identifier: MIT
 *
 * taut.c: vibration modes of a taut chain and the growth of its amplitudes (taut.h).
 */
#include "taut.h"

#include <math.h>

/* Number of vibration modes with omega^2 below `square`: negative pivots of K - square M (Sylvester). */
static int32_t modes_below(const taut_system *s, double square)
{
    int32_t count = 0;
    double pivot = 1;
    for (int32_t i = 0; i < s->count; i++) {
        const double beside = i > 0 ? s->K_1[i - 1] - square * s->M_1[i - 1] : 0;
        pivot = s->K[i] - square * s->M[i] - beside * beside / pivot;
        count += pivot < 0;
    }
    return count;
}

double taut_mode(const taut_system *s, int32_t k)
{
    double low = 0, high = 1;
    while (modes_below(s, high) <= k && high < 1e30)
        high *= 2;
    for (int i = 0; i < 100; i++) {
        const double middle = (low + high) / 2;
        *(modes_below(s, middle) > k ? &high : &low) = middle;
    }
    return sqrt((low + high) / 2);
}

double taut_factor(double x, bool geometric)
{
    const double half = x * x / 2 - 1;
    if (geometric)
        return 1 / sqrt(1 + x * x);
    return x <= 2 ? 1 : half + sqrt(half * half - 1);
}

double taut_fit(const double *energy, int32_t steps, double min, double max)
{
    int32_t end = 0;
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    while (end < steps && energy[end + 1] > min && (end < 2 || energy[end + 1] < max))
        end++;
    for (int32_t i = end / 2; i <= end; i++) {
        n += 1;
        x += i;
        y += log(energy[i]);
        xx += (double)i * i;
        xy += i * log(energy[i]);
    }
    return n > 1 ? exp(0.5 * (n * xy - x * y) / (n * xx - x * x)) : NAN;
}
