/* SPDX-License-Identifier: MIT
 *
 * motor.c: drives a joint (joint.c) to its target at the end of each step (joint.h):
 *
 *     angle   C = r sin(theta - theta_t)      theta_t = target + speed t      theta: rotation of B about the axis
 *     slide   C = z - z_t                     z_t = target + speed t          z = P.e_3, along the axis
 *
 * psi = k/2 C^2: a servo with a torque of at most k r |C|. The torque of a hard motor has no limit. The joint should
 * stay within a quarter turn of the target, where the sine increases; half a turn away the torque is zero.
 *
 * All elements share the target, which is set at the start of each step; an energy therefore has one target.
 */
#define JOINT_CONSTRAINTS 1
#define JOINT_FIRST       5
#define DATA_COUNT        JOINT_END
#define JOINT_ONE_SIDED   false
#include "base/base.h"
#include "energy/joint/joint.h"

enum {
    MOTOR_TARGET = JOINT_PARAMETER_COUNT,
    MOTOR_SPEED,
    MOTOR_COUNT
};

enum {
    SHARED_COUNT = JOINT_FIRST /* first data of a motor: k, coefficients of f_1.e_1, f_1.e_2 and P.e_3, the constant */
};

#define MOTOR(text, about)                                                                                             \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = -1e9, .maximum = 1e9, .preset = 0, .meaning = about                       \
    }

static const sinew_parameter parameters[MOTOR_COUNT] = {
    JOINT_PARAMETERS("angle|slide", 1, "what is driven: the turn about the axis, or the way along it"),
    [MOTOR_TARGET] = MOTOR("target", "rad or m, from the rest shape, at the start of time"),
    [MOTOR_SPEED] = MOTOR("speed", "rad/s or m/s by which the target moves"),
};

static void motor_shared_data_at(const sinew_real *p, double time, sinew_real *shared)
{
    const double target = (double)p[MOTOR_TARGET] + (double)p[MOTOR_SPEED] * time;
    const bool angle = p[JOINT_TYPE] == 0;
    const double constraint[4] = {angle ? -sin(target) : 0, angle ? cos(target) : 0, angle ? 0 : 1,
                                  angle ? 0 : -target};
    shared[0] = p[JOINT_STIFFNESS];
    for (int i = 0; i < 4; i++)
        shared[1 + i] = (sinew_real)constraint[i];
}

static const char *motor_prepare(const sinew_element *element, sinew_real *data)
{
    const char *flaw = joint_prepare_vectors(element, data);
    if (!flaw)
        motor_shared_data_at(element->parameters, 0, data);
    return flaw;
}

static sinew_status motor_check_elements(const sinew_global_constraint *all, const sinew_allocator *allocator,
                                         sinew_error *error)
{
    static const int shared[] = {JOINT_TYPE, JOINT_STIFFNESS, MOTOR_TARGET, MOTOR_SPEED};
    (void)allocator;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
        if (all->by_element >> shared[i] & 1)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "motor: %s differs from joint to joint; give each its own energy",
                              parameters[shared[i]].name);
    return SINEW_OK;
}

static void motor_update_shared_data(const sinew_global_constraint *all, sinew_real *shared)
{
    motor_shared_data_at(all->parameters, all->time, shared);
}

KERNEL_INLINE wide joint_coefficients(const sinew_real *data, int i, wide *a)
{
    (void)i;
    for (int m = 0; m < PRODUCT_COUNT; m++)
        a[m] = wide_set(0);
    a[PRODUCT_F1E1] = wide_load(data + SIMD_WIDTH);
    a[PRODUCT_F1E2] = wide_load(data + 2 * SIMD_WIDTH);
    a[PRODUCT_P3] = wide_load(data + 3 * SIMD_WIDTH);
    return wide_load(data + 4 * SIMD_WIDTH);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_motor) = {
    .info = {.name = "motor", .summary = "k/2 C^2, drives a joint's angle or way to a moving target", JOINT_INFO},
    JOINT_OPS,
    .prepare = motor_prepare,
    .check_elements = motor_check_elements,
    .shared_count = SHARED_COUNT,
    .follows_time = true,
    .update_shared_data = motor_update_shared_data,
};
