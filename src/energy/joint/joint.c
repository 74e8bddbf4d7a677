/* SPDX-License-Identifier: MIT
 *
 * joint.c: a joint between two frames (joint.h): some of six rows, by its type.
 *
 *     row        0      1      2      3        4        5
 *     C          P.e_1  P.e_2  P.e_3  f_3.e_1  f_3.e_2  f_1.e_2
 *
 *     ball       x      x      x                                   all rotations are free
 *     universal  x      x      x                        x          e_2 and f_1 stay across each other
 *     hinge      x      x      x      x        x                   turns about the axis
 *     cylinder   x      x             x        x                   and slides along it
 *     slider     x      x             x        x        x          slides along the axis
 *     fixed      x      x      x      x        x        x
 *
 * Hard, in a system of constraints, it holds exactly; with a stiffness it is six springs. Rows 3 to 5 are sines: frames
 * that have turned by half a turn satisfy them, too, so a joint must not be thrown that far in one step.
 */
#define JOINT_ROWS       6
#define JOINT_FIRST      1
#define JOINT_DATA_COUNT (JOINT_END + JOINT_ROWS)
#define JOINT_ONE_SIDED  false
#include "energy/joint/joint.h"

static const sinew_parameter parameters[] = {
    JOINT_PARAMETERS("ball|universal|hinge|cylinder|slider|fixed", 5, "which motions of the frames are free"),
};

/* Bit i: the type has row i. */
static const unsigned rows_of_type[] = {0x07, 0x27, 0x1f, 0x1b, 0x3b, 0x3f};

static const char *prepare(const sinew_element *element, sinew_real *data)
{
    const char *flaw = joint_prepare_vectors(element, data);
    for (int i = 0; !flaw && i < JOINT_ROWS; i++)
        data[JOINT_END + i] = (sinew_real)(rows_of_type[(int)element->parameters[JOINT_TYPE]] >> i & 1);
    return flaw;
}

KERNEL_INLINE lane joint_row_of(const sinew_real *data, int i, lane *a)
{
    for (int m = 0; m < PRODUCT_COUNT; m++)
        a[m] = m == i ? lane_load(data + (JOINT_END + i) * LANES) : lane_set(0);
    return lane_set(0);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_joint) = {
    .info = {.name = "joint", .summary = "k/2 sum C_i^2, the rows of a joint between two frames", JOINT_INFO},
    JOINT_OPS,
    .prepare = prepare,
};
