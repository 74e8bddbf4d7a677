/* SPDX-License-Identifier: MIT
 *
 * modes.h: the table of contact modes: stiffness and multipliers of contacts, filter of the iterates, friction.
 *
 *     augmented    multipliers, lagged Coulomb friction, step filter                  docs/guides/contact.md
 *     penalty      springs of given stiffness, tangential springs                     PBNG (18), (19)
 *     half_space   springs, friction on velocities after the step, step filter        PD, section 6
 *     projection   vertices are projected onto colliders (projection_mode.c)          PBNG 7.2
 */
#ifndef SINEW_SRC_CONTACT_MODES_H
#define SINEW_SRC_CONTACT_MODES_H

#include "contact/contact.h"

typedef struct sinew_contact_mode_ops {
    const char *name;       /* name of the contact mode in scene files */
    bool filtered;          /* true: the contact mode uses the intersection-free step filter */
    bool multipliers;       /* true: contacts of the mode have multipliers and lagged friction */
    bool own_vertices_only; /* true: rigid bodies and bodies that collide with their skin are refused */
    bool velocity_friction; /* true: the mode applies friction to velocities after the solve of the step */
    /* Sets kn and kt of a contact whose particles have this compliance (m/N); in modes without multipliers, also sets
     * its multipliers to zero. */
    void (*set_stiffness)(const sinew_contact_def *def, double compliance, sinew_contact_constraint *contact);
    /* Optional: fails for solvers that do not support the contact mode. */
    sinew_status (*check)(const sinew_solver_ops *ops, sinew_error *error);
    /* Optional: changes positions at the start of the step after its contacts are found. */
    sinew_status (*begin)(const sinew_contact_view *view, sinew_error *error);
    /* Optional: filters the iterate q in place of the step filter. Returns true if q was changed. */
    bool (*filter)(const sinew_contact_view *view, sinew_real *q);
    /* Optional: true if a contact may become an element of the objective; NULL: each may. */
    bool (*takes)(const sinew_contact_work *c, const sinew_contact_constraint *contact);
    /* Optional: distance in m above the offset at which the spring of a contact starts to act; NULL: 0. */
    double (*spring_start)(const sinew_contact_constraint *contact);
    /* Optional: force in N of a contact at the end of the step in addition to its spring; NULL: 0. */
    double (*extra_force)(const sinew_contact_view *view, const sinew_contact_constraint *contact);
} sinew_contact_mode_ops;

/* Returns NULL for an unknown contact mode. */
const sinew_contact_mode_ops *sinew_contact_mode_get(sinew_contact_mode mode);

/* Operations of the contact mode `projection` (projection_mode.c). */
sinew_status sinew_projection_check(const sinew_solver_ops *ops, sinew_error *error);
sinew_status sinew_projection_begin(const sinew_contact_view *view, sinew_error *error);
bool sinew_projection_filter(const sinew_contact_view *view, sinew_real *q);
bool sinew_projection_takes(const sinew_contact_work *c, const sinew_contact_constraint *contact);
double sinew_projection_spring_start(const sinew_contact_constraint *contact);
double sinew_projection_force(const sinew_contact_view *view, const sinew_contact_constraint *contact);

#endif
