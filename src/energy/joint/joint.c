/* SPDX-License-Identifier: MIT
 *
 * joint.c: a joint between two frames (joint.h). Its type selects some of six constraints:
 *
 *     constraint 0      1      2      3        4        5
 *     C          P.e_1  P.e_2  P.e_3  f_3.e_1  f_3.e_2  f_1.e_2
 *
 *     ball       x      x      x                                   rotates freely
 *     universal  x      x      x                        x          keeps e_2 and f_1 orthogonal
 *     hinge      x      x      x      x        x                   rotates about the axis
 *     cylinder   x      x             x        x                   rotates about the axis and slides along it
 *     slider     x      x             x        x        x          slides along the axis
 *     fixed      x      x      x      x        x        x
 *
 * A hard joint has no compliance; with a stiffness, each of its constraints is a spring. Constraints 3 to 5 are sines,
 * which frames rotated by half a turn satisfy, too, so a joint must not rotate that far in one step.
 */
#define JOINT_CONSTRAINTS 6
#define JOINT_FIRST       1
#define DATA_COUNT        (JOINT_END + JOINT_CONSTRAINTS)
#define JOINT_ONE_SIDED   false
#include "energy/joint/joint.h"

static const sinew_parameter parameters[] = {
    JOINT_PARAMETERS("ball|universal|hinge|cylinder|slider|fixed", 5, "which motions of the frames are free"),
};

/* Constraints of each joint type: bit i is set if the type has constraint i. */
static const unsigned joint_constraints_of_type[] = {0x07, 0x27, 0x1f, 0x1b, 0x3b, 0x3f};

static const char *joint_prepare(const sinew_element *element, sinew_real *data)
{
    const char *flaw = joint_prepare_vectors(element, data);
    for (int i = 0; !flaw && i < JOINT_CONSTRAINTS; i++)
        data[JOINT_END + i] = (sinew_real)(joint_constraints_of_type[(int)element->parameters[JOINT_TYPE]] >> i & 1);
    return flaw;
}

KERNEL_INLINE wide joint_coefficients(const sinew_real *data, int i, wide *a)
{
    for (int m = 0; m < PRODUCT_COUNT; m++)
        a[m] = m == i ? wide_load(data + (JOINT_END + i) * SIMD_WIDTH) : wide_set(0);
    return wide_set(0);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_joint) = {
    .info = {.name = "joint", .summary = "k/2 sum C_i^2, the constraints of a joint between two frames", JOINT_INFO},
    JOINT_OPS,
    .prepare = joint_prepare,
};
