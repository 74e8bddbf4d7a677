/* SPDX-License-Identifier: MIT
 *
 * report.c: the end of a step: forces, events, friction heat, and the report of contact. Restitution: restitution.c.
 */
#include <math.h>
#include <string.h>

#include "energy/contact_data.h"
#include "contact/modes.h"
#include "math/vec3.h"

/* Relative penetration and error of friction above which the status bit `contact` is set. Without the bit,
 * test_no_crossing allows a violation of 1.01 % of half the sum of both thicknesses. */
#define VIOLATION_MAX 1e-2
#define SLIDES        1e-6 /* friction within this fraction of its limit slides: round-off of single precision */

/* ---- Contact forces -------------------------------------------------------------------------- */

bool sinew_contact_own_forces(const sinew_contact_view *view, sinew_real *values)
{
    const sinew_solve *s = view->solve;
    const sinew_contact_work *c = view->contact;
    if (!(s->ops->info.needs & SINEW_CAN_CONSTRAINT) || !s->ops->multipliers)
        return false;
    return (c->narrow_count == 0 || s->ops->multipliers(s, c->batch, values)) &&
           (c->element_count == c->narrow_count ||
            s->ops->multipliers(s, c->wide_batch, values + 4 * (size_t)c->narrow_count));
}

/* Friction force of the contact energy at slip u: -kt u, with its length limited to `limit`, in N. */
static void contact_spring_friction(const sinew_contact_constraint *t, double limit, const double u[3],
                                    double friction[3])
{
    const double slip = vec3_norm(u), max = t->kt * slip;
    const double stiffness = max > limit && slip > 0 ? limit / slip : t->kt;
    for (int i = 0; i < 3; i++)
        friction[i] = -stiffness * u[i];
}

double sinew_contact_friction_error(const sinew_contact_constraint *t, double friction, double limit, double force)
{
    const double bound = t->mu * force;
    return friction >= (1 - SLIDES) * limit ? fabs(friction - bound) : fmax(0, friction - bound);
}

/* Adds the work of a contact on its particles over the step to the energy balance, computed from the forces of the
 * objective. */
static void contact_add_work(const sinew_contact_view *view, const sinew_contact_constraint *t)
{
    sinew_contact_work *c = view->contact;
    const sinew_contact_support s = sinew_contact_support_of(c, t);
    sinew_real x[4][4];
    double slide[3] = {0, 0, 0}, slid[3] = {0, 0, 0};
    for (int a = 0; a < 4; a++)
        sinew_contact_vertex_position(c, t->v[a], view->q, x[a]);
    sinew_contact_support_slide(&s, t->n, view->q, slide);
    sinew_contact_add_levers(c, t, c->x_step_start, 1, slid);
    for (size_t i = 0; i < 3; i++) {
        double displacement = 0;
        for (int a = 0; a < 4; a++)
            if (t->v[a] < c->mesh.moved_count)
                displacement += (double)t->w[a] * ((double)x[a][i] - (double)c->x_step_start[4 * (size_t)t->v[a] + i]);
        c->energy.normal += t->force * t->n[i] * displacement;
        c->energy.friction += t->friction[i] * (displacement + slide[i] - slid[i]);
    }
}

/* Sets normal force and friction of each contact at the end of the step, and the multipliers for the next step; adds
 * up work, heat and counts of the report. own [element_count][4] N: multipliers of the solver, or NULL. */
static void contacts_take_forces(const sinew_contact_view *view, const sinew_real *own)
{
    sinew_contact_work *c = view->contact;
    const sinew_contact_mode_ops *mode = sinew_contact_mode_get(c->def.mode);
    const bool open = c->contacts.count == 0 || sinew_contact_gate(view);
    c->energy = (sinew_contact_energy){0};
    c->friction_error = c->friction_scale = 0;
    for (int32_t k = 0; k < c->contacts.count; k++) {
        sinew_contact_constraint *t = &c->contacts.list[k];
        const int32_t e = c->element_of[k];
        double u[3];
        t->force = 0;
        memset(t->friction, 0, sizeof t->friction);
        if (e < 0)
            continue;
        const sinew_real *data = sinew_contact_element_data(c, e);
        t->force = sinew_contact_normal_force(c, e, view->q, u);
        contact_spring_friction(t, (double)data[SINEW_CONTACT_LIMIT], u, t->friction);
        contact_add_work(view, t);
        t->force += mode->extra_force ? mode->extra_force(view, t) : 0;
        for (int i = 0; own && i < 3; i++)
            t->friction[i] = (double)own[4 * (size_t)e + 1 + (size_t)i];
        t->force = own ? (double)own[4 * (size_t)e] : t->force;
        const double lag = fabs(t->mu * t->force - (double)data[SINEW_CONTACT_LIMIT]), size = vec3_norm(t->friction);
        if (mode->multipliers && !own) {
            const double limit = (double)data[SINEW_CONTACT_LIMIT];
            c->friction_error = fmax(c->friction_error, sinew_contact_friction_error(t, size, limit, t->force));
            c->friction_scale = fmax(c->friction_scale, fmax(t->force, t->lagged_normal_force));
            c->report.friction_lag = fmax(c->report.friction_lag, lag);
            c->report.cone_violation = fmax(c->report.cone_violation, size - t->mu * t->force);
        }
        const double slip = vec3_norm(u) - (own || t->kt <= 0 ? 0 : size / t->kt);
        c->report.friction_heat += size * fmax(0, slip);
        for (int i = 0; i < 3; i++)
            t->tangent[i] = own || !mode->multipliers ? 0 : -t->friction[i];
        t->lagged_normal_force = mode->multipliers ? t->force : 0;
        t->lambda = open ? t->lagged_normal_force : t->lambda;
        c->report.contacts += t->force > 0;
        c->report.began += t->force > 0 && !t->was_active;
        c->report.ended += !(t->force > 0) && t->was_active;
    }
}

/* Position of the contact point on the first object of a contact, in m. */
static void contact_point(const sinew_contact_work *c, const sinew_contact_constraint *t, const sinew_real *x,
                          double point[3])
{
    for (size_t i = 0; i < 3; i++) {
        point[i] = 0;
        for (int a = 0; a < 4; a++)
            point[i] += t->w[a] > 0 ? (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i] : 0;
    }
    sinew_contact_add_side_lever(c, t, 0, x, 1, point);
}

/* Adds to the report the angular impulse over `time` of a contact force f on the first side and -f on the second; it
 * is not zero because the contact points are apart. */
void sinew_contact_add_couple(sinew_contact_work *c, const sinew_contact_constraint *t, const sinew_real *x,
                              const double f[3], double time)
{
    double z[3] = {0, 0, 0};
    for (size_t i = 0; i < 3; i++)
        for (int a = 0; a < 4; a++)
            z[i] += (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i];
    sinew_contact_add_levers(c, t, x, 1, z);
    vec3_add_cross(z, f, time, c->report.angular_momentum_error);
}

bool sinew_contact_is_between_bodies(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    return !c->mesh.objects[t->first].kinematic && !c->mesh.objects[t->second].kinematic;
}

/* Computes forces and torques on all colliders, and adds the angular impulses of contacts between bodies to the report.
 * x [vertex_count][4] m: vertex positions at the end of the step. */
static void colliders_add_forces(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_contact_work *c = view->contact;
    const double h = (double)view->time_step;
    for (int32_t k = 0; k < view->collider_count; k++) {
        memset(view->colliders[k].force, 0, sizeof view->colliders[k].force);
        memset(view->colliders[k].torque, 0, sizeof view->colliders[k].torque);
    }
    for (int32_t k = 0; k < c->contacts.count; k++) {
        const sinew_contact_constraint *t = &c->contacts.list[k];
        const sinew_collision_object *second = &c->mesh.objects[t->second], *first = &c->mesh.objects[t->first];
        double f[3], point[3];
        for (int i = 0; i < 3; i++)
            f[i] = t->force * t->n[i] + t->friction[i];
        contact_point(c, t, x, point);
        if (sinew_contact_is_between_bodies(c, t)) {
            sinew_contact_add_couple(c, t, x, f, h);
            continue;
        }
        const bool is_second = second->kinematic;
        sinew_collider_record *r = &view->colliders[is_second ? second->collider : first->collider];
        double R[9], p[3], arm[3];
        sinew_shape_frame(r, view->time - r->behind, 0, R, p);
        for (int i = 0; i < 3; i++) {
            r->force[i] += is_second ? -f[i] : f[i];
            arm[i] = point[i] - p[i];
        }
        vec3_add_cross(arm, f, is_second ? -1 : 1, r->torque);
    }
}

/* ---- Velocity friction and restitution after the solve --------------------------------------- */

static double kinetic_energy(const sinew_contact_view *view)
{
    double sum = 0;
    for (int32_t i = 0; i < view->particle_count; i++)
        for (size_t k = 0; k < 3; k++)
            sum += (double)view->mass[i] * (double)view->v[4 * (size_t)i + k] * (double)view->v[4 * (size_t)i + k];
    return sum / 2;
}

/* Applies velocity friction and restitution after the solve of the step, and records the kinetic energy that they
 * add. */
static void change_velocities(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_contact_work *c = view->contact;
    sinew_restitution_find_losses(view, x);
    const double before = kinetic_energy(view);
    if (sinew_contact_mode_get(c->def.mode)->velocity_friction)
        sinew_contact_velocity_friction(view, x);
    sinew_contact_calm_patches(view);
    const double rubbed = kinetic_energy(view);
    sinew_restitution_apply(view, x);
    c->energy.rubbed = rubbed - before;
    c->energy.rebound = kinetic_energy(view) - rubbed;
    c->report.friction_heat += fmax(0, -c->energy.rubbed);
    c->energy.heat = c->report.friction_heat;
}

/* ---- Contact errors of the step -------------------------------------------------------------- */

static void report_violation(sinew_contact_work *c, double violation, double fraction)
{
    c->report.violation = fmax(c->report.violation, violation);
    c->too_near = c->too_near || fraction > VIOLATION_MAX;
}

/* How much less than its offset the contact of a vertex with a plane keeps, in m. */
static double plane_reduction(const sinew_contact_work *c, int32_t vertex, int32_t plane)
{
    const sinew_contact_constraint *t =
        sinew_contact_list_get(&c->contacts, sinew_contact_key(SINEW_CONTACT_VERTEX_PLANE, vertex, plane));
    return t ? t->asked - t->offset : 0;
}

/* Measures clearances between plane colliders and all body vertices that may collide with them. */
static void measure_planes(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    for (int32_t o = 0; o < f->object_count; o++) {
        double point[3], normal[3];
        if (!f->objects[o].kinematic || f->objects[o].vertex_count > 0)
            continue;
        /* end_collider_steps() has already ended the plane's motion of this step. */
        const sinew_collider_record *plane = &view->colliders[f->objects[o].collider];
        sinew_shape_plane(plane, view->time - plane->behind, 0, point, normal);
        for (int32_t v = 0; v < f->moved_count; v++) {
            const sinew_collision_object *own = &f->objects[f->object[v]];
            const double offset = own->half_thickness + f->objects[o].half_thickness;
            double violation = offset + own->radius - plane_reduction(c, v, o);
            for (size_t i = 0; i < 3; i++)
                violation -= normal[i] * ((double)x[4 * (size_t)v + i] - point[i]);
            if (violation > 0 && sinew_vertex_may_collide(f, v, o) && !sinew_is_frame_vertex(f, v))
                report_violation(c, violation, offset > 0 ? violation / offset : 0);
        }
    }
}

/* Measures clearances of surfaces at the end of the step by a separate detection, because the contacts of the step may
 * miss pairs. */
static void measure_clearance(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_contact_work *c = view->contact;
    const double began = sinew_seconds();
    const sinew_stage_start stage = sinew_time_budget_begin_stage(&view->solve->budget);
    for (int32_t v = 0; v < c->mesh.vertex_count; v++)
        c->inflation_radius[v] = (sinew_real)c->mesh.objects[c->mesh.object[v]].half_thickness;
    const sinew_detect_input places = {.x = x, .inflation_radius = c->inflation_radius};
    if (sinew_detect(c->detector, &places, 0, &c->pairs, NULL) != SINEW_OK) {
        c->pairs.count = 0;
        c->too_near = true; /* out of memory: the contact violation is unknown and counts as too large */
    }
    const sinew_penetration near = sinew_candidates_penetration(&c->mesh, &c->pairs, NULL, NULL, c->offset_reduction);
    report_violation(c, near.violation, near.fraction);
    measure_planes(view, x);
    c->report.intersections = (int32_t)sinew_detect_intersections(c->detector, x, NULL, 0);
    sinew_time_budget_end_stage(&view->solve->budget, SINEW_STAGE_CLEARANCE, stage);
    c->report.detection_seconds += sinew_seconds() - began;
    c->report.solver_update_seconds = c->hooks.seconds;
}

/* Measures complementarity of the contacts, and clearances that the detection of measure_clearance() does not
 * measure. */
static void measure_contacts(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        const sinew_contact_support s = sinew_contact_support_of(c, t);
        double z[3] = {0, 0, 0};
        sinew_contact_support_add(&s, view->q, z);
        const double height = vec3_dot(t->n, z) - (double)sinew_contact_element_data(c, e)[SINEW_CONTACT_OFFSET];
        /* The detection in measure_clearance() measures unsigned distances and ignores embedded surfaces. */
        if (t->initial_penetration > 0 || t->key >> 60 == SINEW_CONTACT_SKIN_COLLIDER)
            report_violation(c, t->initial_penetration - height,
                             (t->initial_penetration - height) / (t->offset + t->initial_penetration));
        c->report.complementarity += t->force * fabs(height);
    }
}

static void measure_truncated(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    double filtered_square = 0;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const int32_t p = f->particle[v];
        double square = 0, far = 0;
        if (p < 0)
            continue;
        for (size_t i = 0; i < 3; i++) {
            const double g = (double)view->solve->gradient[4 * (size_t)p + i];
            const double d = (double)view->q[4 * (size_t)p + i] - (double)view->q_tilde[4 * (size_t)p + i];
            square += g * g;
            far += d * d;
        }
        if (view->pinned[p])
            c->report.motion_lag = fmax(c->report.motion_lag, sqrt(far));
        if (!c->truncated[v])
            continue;
        c->report.filtered_vertices++;
        filtered_square += square;
    }
    c->report.filtered_residual = view->solve->gradient_known ? sqrt(filtered_square) : NAN;
}

/* Ends the time step of all colliders: stores the delay of truncated colliders, and reports the largest distance to
 * their prescribed positions. */
static void end_collider_steps(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_contact_work *c = view->contact;
    const double h = (double)view->time_step;
    for (int32_t o = 0; o < c->mesh.object_count; o++) {
        const sinew_collision_object *object = &c->mesh.objects[o];
        if (!object->kinematic)
            continue;
        sinew_collider_record *r = &view->colliders[object->collider];
        if (c->fraction[o] < 1 && object->vertex_count > 0) {
            sinew_contact_collider_positions(view, o, 1, c->kinematic);
            for (int32_t v = 0; v < object->vertex_count; v++) {
                double far = 0;
                for (size_t i = 0; i < 3; i++) {
                    const double d =
                        (double)c->kinematic[4 * (size_t)v + i] - (double)x[4 * (size_t)(object->first_vertex + v) + i];
                    far += d * d;
                }
                c->report.motion_lag = fmax(c->report.motion_lag, sqrt(far));
            }
        } else if (c->fraction[o] < 1) {
            double from[3], to[3], n[3];
            sinew_contact_plane(view, o, c->fraction[o], from, n);
            sinew_contact_plane(view, o, 1, to, n);
            const double d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
            c->report.motion_lag = fmax(c->report.motion_lag, vec3_norm(d));
        }
        sinew_shape_end_step(r, h, c->fraction[o]);
    }
}

/* ---- Report at the end of the step -------------------------------------------------------------- */

static uint32_t contact_step_bits(const sinew_contact_view *view)
{
    const sinew_contact_work *c = view->contact;
    const sinew_contact_report *r = &c->report;
    uint32_t bits = r->dropped > 0 ? SINEW_STEP_CONTACT_FULL : 0;
    bits |= r->filtered_vertices > 0 || r->motion_lag > 0 ? SINEW_STEP_TRUNCATED : 0;
    bits |= r->intersections > 0 || r->overlaps > 0 ? SINEW_STEP_INTERSECTING : 0;
    const bool open = c->too_near || c->friction_error > VIOLATION_MAX * c->friction_scale;
    return bits | (open ? SINEW_STEP_CONTACT : 0);
}

void sinew_contact_end(const sinew_contact_view *view, sinew_step_result *result)
{
    sinew_contact_work *c = view->contact;
    const bool measured =
        view->measure != SINEW_MEASURE_NOTHING && sinew_time_budget_allows(&view->solve->budget, SINEW_STAGE_CLEARANCE);
    const bool constrains = view->solve->ops->info.needs & SINEW_CAN_CONSTRAINT;
    sinew_real *x = c->x_predicted;
    view->solve->contact = NULL;
    view->solve->first_guess = NULL;
    contacts_take_forces(view,
                         constrains && c->element_count > 0 && sinew_contact_own_forces(view, c->solver_multipliers)
                             ? c->solver_multipliers
                             : NULL);
    if (sinew_contact_mode_get(c->def.mode)->multipliers && !view->solve->ops->corrects_forces)
        sinew_contact_follow_step(view);
    memcpy(x, c->step_filter.x_accepted, 4 * (size_t)c->mesh.vertex_count * sizeof *x);
    sinew_contact_gather_bodies(c, view->q, x);
    memcpy(c->step_filter.x_accepted, x, 4 * (size_t)c->mesh.vertex_count * sizeof *x);
    c->too_near = false;
    measure_contacts(view);
    sinew_contact_report_yields(c);
    sinew_contact_find_ended(view, x);
    measure_truncated(view);
    change_velocities(view, x);
    end_collider_steps(view, x);
    colliders_add_forces(view, x);
    sinew_restitution_add_collider_forces(view);
    if (measured) {
        measure_clearance(view, x);
    } else {
        c->report.violation = NAN;
        c->report.intersections = -1;
        c->too_near = false;
    }
    c->report.stationarity = result->residual;
    c->intersections_known = measured;
    c->free_known = c->free_known && c->report.dropped == 0;
    c->listed = true;
    c->step_start_stored = false;
    memcpy(view->v_before, c->v_step_start, 4 * (size_t)view->particle_count * sizeof *c->v_step_start);
    c->projected = c->separated = c->overlapping = false;
    result->bits |= contact_step_bits(view);
}
