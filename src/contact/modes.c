/* SPDX-License-Identifier: MIT
 *
 * modes.c: the table of contact modes (modes.h).
 */
#include "contact/modes.h"

/* Stiffness of the springs of the contact mode `projection`, relative to the stiffness of their particles. Chosen, not
 * measured; test_contact_modes checks both precisions. */
#define PROJECTION_STIFFNESS (sizeof(sinew_real) == 4 ? 1e2 : 1e4)

static void augmented_set_stiffness(const sinew_contact_def *def, double compliance, sinew_contact_constraint *t)
{
    t->kn = t->kt = (double)def->stiffness / compliance;
}

static void penalty_set_stiffness(const sinew_contact_def *def, double compliance, sinew_contact_constraint *t)
{
    (void)compliance;
    t->kn = (double)def->penalty;
    t->kt = (double)def->penalty_tangent;
    t->lambda = t->lagged_normal_force = 0;
}

static void half_space_set_stiffness(const sinew_contact_def *def, double compliance, sinew_contact_constraint *t)
{
    penalty_set_stiffness(def, compliance, t);
    t->kt = 0;
}

static void projection_set_stiffness(const sinew_contact_def *def, double compliance, sinew_contact_constraint *t)
{
    (void)def;
    t->kn = PROJECTION_STIFFNESS / compliance;
    t->kt = 0;
    t->offset += t->initial_penetration;
    t->initial_penetration = 0;
    t->lambda = t->lagged_normal_force = 0;
}

static const sinew_contact_mode_ops modes[SINEW_CONTACT_MODE_COUNT] = {
    [SINEW_CONTACT_AUGMENTED] = {.name = "augmented",
                                 .filtered = true,
                                 .multipliers = true,
                                 .set_stiffness = augmented_set_stiffness},
    [SINEW_CONTACT_PENALTY] = {.name = "penalty", .set_stiffness = penalty_set_stiffness},
    [SINEW_CONTACT_HALF_SPACE] = {.name = "half_space",
                                  .filtered = true,
                                  .velocity_friction = true,
                                  .set_stiffness = half_space_set_stiffness},
    [SINEW_CONTACT_PROJECTION] = {.name = "projection",
                                  .own_vertices_only = true,
                                  .set_stiffness = projection_set_stiffness,
                                  .check = sinew_projection_check,
                                  .begin = sinew_projection_begin,
                                  .filter = sinew_projection_filter,
                                  .takes = sinew_projection_takes,
                                  .spring_start = sinew_projection_spring_start,
                                  .extra_force = sinew_projection_force},
};

const sinew_contact_mode_ops *sinew_contact_mode_get(sinew_contact_mode mode)
{
    return (int)mode >= 0 && mode < SINEW_CONTACT_MODE_COUNT ? &modes[mode] : NULL;
}
