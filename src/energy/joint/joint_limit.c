/* SPDX-License-Identifier: MIT
 *
 * joint_limit.c: limits of a joint (joint.c), as two inequalities C >= 0 (joint.h):
 *
 *     angle   C_0 = r sin(theta - low)    C_1 = r sin(high - theta)      theta: rotation of B about the axis from rest
 *     slide   C_0 = z - low               C_1 = high - z                 z = P.e_3, along the axis
 *
 * psi = k/2 sum min(C_i, 0)^2. Sines are unique only within half a turn. The range from low to high must therefore be
 * smaller, and a joint must not cross the opposite side in one step.
 */
#define JOINT_CONSTRAINTS 2
#define JOINT_FIRST       1
#define DATA_COUNT        (JOINT_END + 4 * JOINT_CONSTRAINTS)
#define JOINT_ONE_SIDED   true
#include "energy/joint/joint.h"
#include "energy/limits.h"

enum {
    LIMIT_LOW = JOINT_PARAMETER_COUNT,
    LIMIT_HIGH,
    LIMIT_COUNT
};

#define LIMIT(text, value, about)                                                                                      \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = -1e9, .maximum = 1e9, .preset = value, .meaning = about                   \
    }

static const sinew_parameter parameters[LIMIT_COUNT] = {
    JOINT_PARAMETERS("angle|slide", 1, "what is limited: the turn about the axis, or the way along it"),
    [LIMIT_LOW] = LIMIT("low", -0.5, "rad or m, from the rest shape; at most `high`"),
    [LIMIT_HIGH] = LIMIT("high", 0.5, "rad or m, from the rest shape; at least `low`"),
};

/* Fills the data of a joint limit: for each constraint the coefficients of f_1.e_1, f_1.e_2 and P.e_3, then the
 * constant. */
static const char *joint_limit_prepare(const sinew_element *element, sinew_real *data)
{
    const double low = (double)element->parameters[LIMIT_LOW], high = (double)element->parameters[LIMIT_HIGH];
    const char *flaw = joint_prepare_vectors(element, data);
    flaw = flaw ? flaw : limits_refusal(element, parameters, LIMIT_LOW, LIMIT_HIGH);
    if (!flaw && element->parameters[JOINT_TYPE] == 0 && !(high - low < 3.1))
        return "its limits are 3.1 rad apart or more, and sines cannot tell its sides there; bring them nearer";
    const bool angle = element->parameters[JOINT_TYPE] == 0;
    const double constraints[2][4] = {
        {angle ? -sin(low) : 0, angle ? cos(low) : 0, angle ? 0 : 1, angle ? 0 : -low},
        {angle ? sin(high) : 0, angle ? -cos(high) : 0, angle ? 0 : -1, angle ? 0 : high}};
    for (int i = 0; !flaw && i < 8; i++)
        data[JOINT_END + i] = (sinew_real)constraints[i / 4][i % 4];
    return flaw;
}

KERNEL_INLINE wide joint_coefficients(const sinew_real *data, int i, wide *a)
{
    const sinew_real *constraint = data + (JOINT_END + 4 * i) * SIMD_WIDTH;
    for (int m = 0; m < PRODUCT_COUNT; m++)
        a[m] = wide_set(0);
    a[PRODUCT_F1E1] = wide_load(constraint);
    a[PRODUCT_F1E2] = wide_load(constraint + SIMD_WIDTH);
    a[PRODUCT_P3] = wide_load(constraint + 2 * SIMD_WIDTH);
    return wide_load(constraint + 3 * SIMD_WIDTH);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_joint_limit) = {
    .info = {.name = "joint_limit",
             .summary = "k/2 sum min(C_i, 0)^2, two one-sided constraints that limit a joint's angle or way",
             JOINT_INFO},
    JOINT_OPS,
    .prepare = joint_limit_prepare,
    .inequalities = 3,
};
