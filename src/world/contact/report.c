/* SPDX-License-Identifier: MIT
 *
 * report.c: what contacts bore in a step that is over: forces, events, heat, restitution, and the error row.
 */
#include <math.h>
#include <string.h>

#include "energy/contact_data.h"
#include "world/contact/contact.h"

#define FAST           2.0  /* g h: slower impacts do not rebound */
#define VIOLATION_PART 1e-2 /* of the offset that counts as touching exactly */

/* ---- Forces ---------------------------------------------------------------------------------- */

bool sinew_contact_own_forces(const sinew_world *world, sinew_real *values)
{
    const sinew_solve *s = &world->solve;
    return s->ops->info.needs & SINEW_CAN_CONSTRAINT && s->ops->multipliers &&
           s->ops->multipliers(s, world->contact->batch, values);
}

/* Friction of the energy at slip u: kt u, cut to what it bears. */
static void spring_friction(const sinew_touch *t, double limit, const double u[3], double friction[3])
{
    const double slip = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]), most = t->kt * slip;
    const double hold = most > limit && slip > 0 ? limit / slip : t->kt;
    for (int i = 0; i < 3; i++)
        friction[i] = -hold * u[i];
}

static double norm3(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* Work of a contact on the particles over the step, with the forces that the objective has. */
static void add_work(const sinew_world *world, const sinew_touch *t)
{
    sinew_contact_work *c = world->contact;
    for (size_t i = 0; i < 3; i++) {
        double way = 0;
        for (int a = 0; a < 4; a++)
            if (t->v[a] < c->features.moved_count)
                way += (double)t->w[a] * ((double)world->q[4 * (size_t)c->features.particle[t->v[a]] + i] -
                                          (double)c->begun[4 * (size_t)t->v[a] + i]);
        c->deeds.normal += t->force * t->n[i] * way;
        c->deeds.friction += t->friction[i] * way;
    }
}

static double kinetic_energy(const sinew_world *world)
{
    double sum = 0;
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t k = 0; k < 3; k++)
            sum += (double)world->mass[i] * (double)world->v[4 * (size_t)i + k] * (double)world->v[4 * (size_t)i + k];
    return sum / 2;
}

/* Force and friction of each contact; what is kept for the next step. own: multipliers of the solver, or NULL. */
static void take_forces(sinew_world *world, const sinew_real *own)
{
    sinew_contact_work *c = world->contact;
    const bool open = sinew_contact_gate(world);
    c->deeds = (sinew_contact_deeds){0};
    for (int32_t k = 0; k < c->touches.count; k++) {
        sinew_touch *t = &c->touches.list[k];
        const int32_t e = c->element[k];
        double u[3];
        t->force = 0;
        memset(t->friction, 0, sizeof t->friction);
        if (e < 0)
            continue;
        const sinew_real *data = c->data + (size_t)e * SINEW_CONTACT_DATA_COUNT;
        t->force = sinew_contact_normal_force(c, e, world->q, u);
        spring_friction(t, (double)data[SINEW_CONTACT_LIMIT], u, t->friction);
        add_work(world, t);
        t->force += sinew_contact_projected_force(world, t);
        for (int i = 0; own && i < 3; i++)
            t->friction[i] = (double)own[4 * (size_t)e + 1 + (size_t)i];
        t->force = own ? (double)own[4 * (size_t)e] : t->force;
        const double lag = fabs(t->mu * t->force - (double)data[SINEW_CONTACT_LIMIT]), size = norm3(t->friction);
        if (c->def.mode == SINEW_CONTACT_AUGMENTED && !own) {
            c->report.lag = fmax(c->report.lag, lag);
            c->report.cone = fmax(c->report.cone, size - t->mu * t->force);
        }
        const double slip = norm3(u) - (own || t->kt <= 0 ? 0 : size / t->kt);
        c->report.friction_heat += size * fmax(0, slip);
        for (int i = 0; i < 3; i++)
            t->tangent[i] = own || c->def.mode != SINEW_CONTACT_AUGMENTED ? 0 : -t->friction[i];
        t->bears = c->def.mode == SINEW_CONTACT_AUGMENTED ? t->force : 0;
        t->lambda = open ? t->bears : t->lambda;
        c->report.contacts += t->force > 0;
        c->report.began += t->force > 0 && !t->old;
        c->report.ended += !(t->force > 0) && t->old;
    }
}

/* The closest point of a contact on its first side. */
static void touch_point(const sinew_contact_work *c, const sinew_touch *t, const sinew_real *x, double point[3])
{
    (void)c;
    for (size_t i = 0; i < 3; i++) {
        point[i] = 0;
        for (int a = 0; a < 4; a++)
            point[i] += t->w[a] > 0 ? (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i] : 0;
    }
}

static void add_cross(const double a[3], const double b[3], double factor, double sum[3])
{
    sum[0] += factor * (a[1] * b[2] - a[2] * b[1]);
    sum[1] += factor * (a[2] * b[0] - a[0] * b[2]);
    sum[2] += factor * (a[0] * b[1] - a[1] * b[0]);
}

/* The couple of a force f on the first side and -f on the second, whose ends are apart, over a time. */
static void add_couple(sinew_contact_work *c, const sinew_touch *t, const sinew_real *x, const double f[3], double time)
{
    double z[3] = {0, 0, 0};
    for (size_t i = 0; i < 3; i++)
        for (int a = 0; a < 4; a++)
            z[i] += (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i];
    add_cross(z, f, time, c->report.couple);
}

static bool is_between_bodies(const sinew_contact_work *c, const sinew_touch *t)
{
    return !c->features.objects[t->first].kinematic && !c->features.objects[t->second].kinematic;
}

/* Forces and torques on colliders; couples of contacts between bodies. */
static void add_forces(sinew_world *world, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    const double h = (double)world->def.time_step;
    for (int32_t k = 0; k < world->collider_count; k++) {
        memset(world->colliders[k].force, 0, sizeof world->colliders[k].force);
        memset(world->colliders[k].torque, 0, sizeof world->colliders[k].torque);
    }
    for (int32_t k = 0; k < c->touches.count; k++) {
        const sinew_touch *t = &c->touches.list[k];
        const sinew_touch_object *second = &c->features.objects[t->second], *first = &c->features.objects[t->first];
        double f[3], point[3];
        for (int i = 0; i < 3; i++)
            f[i] = t->force * t->n[i] + t->friction[i];
        touch_point(c, t, x, point);
        if (is_between_bodies(c, t)) {
            add_couple(c, t, x, f, h);
            continue;
        }
        const bool is_second = second->kinematic;
        sinew_collider_record *r = &world->colliders[is_second ? second->collider : first->collider];
        double R[9], p[3], arm[3];
        sinew_shape_frame(r, world->time - r->behind, 0, R, p);
        for (int i = 0; i < 3; i++) {
            r->force[i] += is_second ? -f[i] : f[i];
            arm[i] = point[i] - p[i];
        }
        add_cross(arm, f, is_second ? -1 : 1, r->torque);
    }
}

/* ---- Restitution ----------------------------------------------------------------------------- */

/* Speed at which the sides of a contact part, from velocities of particles; colliders move by their way over the step.
 */
static double parting_speed(const sinew_world *world, const sinew_touch *t, const sinew_real *v, const sinew_real *x)
{
    const sinew_contact_work *c = world->contact;
    const double h = (double)world->def.time_step;
    double speed = 0;
    for (int a = 0; a < 4; a++)
        for (size_t i = 0; i < 3; i++) {
            const size_t at = 4 * (size_t)t->v[a] + i;
            const double own = t->v[a] < c->features.moved_count
                                   ? (double)v[4 * (size_t)c->features.particle[t->v[a]] + i]
                                   : ((double)x[at] - (double)c->begun[at]) / h;
            speed += (double)t->w[a] * t->n[i] * own;
        }
    return speed;
}

/* kg: 1 / sum w^2/m of the vertices that can move; 0: none. */
static double effective_mass(const sinew_world *world, const sinew_touch *t)
{
    const sinew_contact_work *c = world->contact;
    double sum = 0;
    for (int a = 0; a < 4; a++) {
        if (t->v[a] >= c->features.moved_count)
            continue;
        const int32_t p = c->features.particle[t->v[a]];
        sum += world->pinned[p] ? 0 : (double)t->w[a] * (double)t->w[a] / (double)world->mass[p];
    }
    return sum > 0 ? 1 / sum : 0;
}

static void push_apart(const sinew_world *world, const sinew_touch *t, double impulse)
{
    const sinew_contact_work *c = world->contact;
    for (int a = 0; a < 4; a++) {
        if (t->v[a] >= c->features.moved_count)
            continue;
        const int32_t p = c->features.particle[t->v[a]];
        for (size_t i = 0; !world->pinned[p] && i < 3; i++)
            world->v[4 * (size_t)p + i] += (sinew_real)(impulse * (double)t->w[a] / (double)world->mass[p] * t->n[i]);
    }
}

/* The speed of approach at the moment of touching, not when the step began: v^2 = v_n^2 + 2 a d over the clearance that
 * was left. v_old: velocities before the step. */
static double impact_speed(const sinew_world *world, const sinew_touch *t, const sinew_real *v_old, const sinew_real *x)
{
    const double *g =
        (const double[3]){(double)world->def.gravity[0], (double)world->def.gravity[1], (double)world->def.gravity[2]};
    const double before = -parting_speed(world, t, v_old, x), left = fmax(0, t->distance - t->offset);
    const double pull = -(g[0] * t->n[0] + g[1] * t->n[1] + g[2] * t->n[2]);
    return before > 0 ? sqrt(fmax(0, before * before + 2 * pull * left)) : 0;
}

/* Pairwise impulses in the order of contacts: linear momentum is kept to round-off. */
static void rebound(sinew_world *world, const sinew_real *v_old, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    const double h = (double)world->def.time_step;
    double g = 0;
    for (int i = 0; i < 3; i++)
        g += (double)world->def.gravity[i] * (double)world->def.gravity[i];
    for (int32_t k = 0; k < c->touches.count; k++) {
        const sinew_touch *t = &c->touches.list[k];
        const double e = fmax(c->features.objects[t->first].restitution, c->features.objects[t->second].restitution);
        const double mass = effective_mass(world, t);
        if (!(e > 0) || !(t->force > 0) || !(mass > 0))
            continue;
        const double came = impact_speed(world, t, v_old, x), parts = parting_speed(world, t, world->v, x);
        if (!(came > FAST * sqrt(g) * h) || parts >= e * came)
            continue;
        c->report.restitution_work += 0.5 * mass * (e * e * came * came - parts * parts);
        push_apart(world, t, mass * (e * came - parts));
        if (is_between_bodies(c, t))
            add_couple(c, t, x, t->n, mass * (e * came - parts));
    }
}

/* PD, section 6: friction changes velocities after the solve. */
static void rub(sinew_world *world, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    const double h = (double)world->def.time_step;
    for (int32_t k = 0; k < c->touches.count; k++) {
        const sinew_touch *t = &c->touches.list[k];
        const double mass = effective_mass(world, t);
        double slide[3] = {0, 0, 0}, along = 0;
        if (!(t->force > 0) || !(mass > 0) || t->mu <= 0)
            continue;
        for (size_t i = 0; i < 3; i++)
            for (int a = 0; a < 4; a++) {
                const size_t at = 4 * (size_t)t->v[a] + i;
                slide[i] += (double)t->w[a] * (t->v[a] < c->features.moved_count
                                                   ? (double)world->v[4 * (size_t)c->features.particle[t->v[a]] + i]
                                                   : ((double)x[at] - (double)c->begun[at]) / h);
            }
        for (int i = 0; i < 3; i++)
            along += slide[i] * t->n[i];
        for (int i = 0; i < 3; i++)
            slide[i] -= along * t->n[i];
        const double speed = norm3(slide), most = t->mu * t->force * h / mass;
        sinew_touch across = *t;
        for (int i = 0; i < 3; i++)
            across.n[i] = speed > 0 ? slide[i] / speed : 0;
        push_apart(world, &across, -mass * fmin(speed, most));
    }
}

/* What is done to velocities after the step, and its energy. */
static void change_velocities(sinew_world *world, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    const double before = kinetic_energy(world);
    if (c->def.mode == SINEW_CONTACT_HALF_SPACE)
        rub(world, x);
    const double rubbed = kinetic_energy(world);
    rebound(world, c->v_begun, x);
    c->deeds.rubbed = rubbed - before;
    c->deeds.rebound = kinetic_energy(world) - rubbed;
    c->report.friction_heat += fmax(0, -c->deeds.rubbed);
    c->deeds.heat = c->report.friction_heat;
}

/* ---- The error row --------------------------------------------------------------------------- */

static void note_violation(sinew_contact_work *c, double violation, double part)
{
    c->report.violation = fmax(c->report.violation, violation);
    c->too_near = c->too_near || part > VIOLATION_PART;
}

/* Clearances from planes, of all vertices that may touch them. */
static void measure_planes(sinew_world *world, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    for (int32_t o = 0; o < f->object_count; o++) {
        double point[3], normal[3];
        if (!f->objects[o].kinematic || f->objects[o].vertex_count > 0)
            continue;
        sinew_contact_plane(world, o, c->part[o], point, normal);
        for (int32_t v = 0; v < f->moved_count; v++) {
            const sinew_touch_object *own = &f->objects[f->object[v]];
            const double offset = own->half + f->objects[o].half;
            double violation = offset + own->core;
            for (size_t i = 0; i < 3; i++)
                violation -= normal[i] * ((double)x[4 * (size_t)v + i] - point[i]);
            if (violation > 0 && sinew_may_touch(f, f->object[v], o))
                note_violation(c, violation, offset > 0 ? violation / offset : 0);
        }
    }
}

/* Clearances where the step ended, from a detection of their own: the contacts of the step may have missed some. */
static void measure_clearance(sinew_world *world, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    const double began = sinew_seconds();
    for (int32_t v = 0; v < c->features.vertex_count; v++)
        c->reach[v] = (sinew_real)c->features.objects[c->features.object[v]].half;
    const sinew_detect_places places = {.x = x, .reach = c->reach};
    if (sinew_detect(c->detector, &places, 0, &c->pairs, NULL) != SINEW_OK) {
        c->pairs.count = 0;
        c->too_near = true; /* nobody knows */
    }
    const sinew_nearness near = sinew_touches_nearness(&c->features, &c->pairs, NULL, NULL);
    note_violation(c, near.violation, near.part);
    measure_planes(world, x);
    c->report.crossings = (int32_t)sinew_detect_crossings(c->detector, x, NULL, 0);
    c->report.seconds += sinew_seconds() - began;
}

/* Clearance of the contacts that bear a force where the step ended. */
static void measure_contacts(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_touch *t = &c->touches.list[c->touch_of[e]];
        const sinew_real *data = c->data + (size_t)e * SINEW_CONTACT_DATA_COUNT;
        double height = -(double)data[SINEW_CONTACT_OFFSET];
        for (size_t a = 0; a < 4; a++)
            for (size_t i = 0; t->v[a] < c->features.moved_count && i < 3; i++)
                height += t->n[i] * (double)t->w[a] * (double)world->q[4 * (size_t)c->features.particle[t->v[a]] + i];
        /* Other clearances are measured without signs, and not of skins. */
        if (t->sunk > 0 || t->key >> 60 == SINEW_TOUCH_SKIN)
            note_violation(c, t->sunk - height, (t->sunk - height) / (t->offset + t->sunk));
        c->report.complementarity += t->force * fabs(height);
    }
}

static void measure_held(sinew_world *world)
{
    sinew_contact_work *c = world->contact;
    const sinew_features *f = &c->features;
    double hidden = 0;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const int32_t p = f->particle[v];
        double square = 0, far = 0;
        for (size_t i = 0; i < 3; i++) {
            const double g = (double)world->solve.gradient[4 * (size_t)p + i];
            const double d = (double)world->q[4 * (size_t)p + i] - (double)world->q_tilde[4 * (size_t)p + i];
            square += g * g;
            far += d * d;
        }
        if (world->pinned[p])
            c->report.held_back = fmax(c->report.held_back, sqrt(far));
        if (!c->cut[v])
            continue;
        c->report.clamped++;
        hidden += square;
    }
    c->report.hidden = world->solve.gradient_known ? sqrt(hidden) : NAN;
}

/* Colliders that did not come all the way stay behind; returns the largest distance to where they should be. */
static void settle_colliders(sinew_world *world, const sinew_real *x)
{
    sinew_contact_work *c = world->contact;
    const double h = (double)world->def.time_step;
    for (int32_t o = 0; o < c->features.object_count; o++) {
        const sinew_touch_object *object = &c->features.objects[o];
        if (!object->kinematic)
            continue;
        sinew_collider_record *r = &world->colliders[object->collider];
        if (c->part[o] < 1 && object->vertex_count > 0) {
            sinew_contact_place(world, o, 1, c->kinematic);
            for (int32_t v = 0; v < object->vertex_count; v++) {
                double far = 0;
                for (size_t i = 0; i < 3; i++) {
                    const double d =
                        (double)c->kinematic[4 * (size_t)v + i] - (double)x[4 * (size_t)(object->first_vertex + v) + i];
                    far += d * d;
                }
                c->report.held_back = fmax(c->report.held_back, sqrt(far));
            }
        } else if (c->part[o] < 1) {
            double from[3], to[3], n[3];
            sinew_contact_plane(world, o, c->part[o], from, n);
            sinew_contact_plane(world, o, 1, to, n);
            const double d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
            c->report.held_back = fmax(c->report.held_back, norm3(d));
        }
        sinew_shape_settle(r, h, c->part[o]);
    }
}

/* ---- End ------------------------------------------------------------------------------------- */

static uint32_t find_bits(const sinew_world *world)
{
    const sinew_contact_work *c = world->contact;
    const sinew_contact_report *r = &c->report;
    double force = 0;
    for (int32_t k = 0; k < c->touches.count; k++)
        force = fmax(force, c->touches.list[k].force);
    uint32_t bits = r->dropped > 0 ? SINEW_STEP_CONTACT_FULL : 0;
    bits |= r->clamped > 0 || r->held_back > 0 ? SINEW_STEP_HELD_BACK : 0;
    bits |= r->crossings > 0 ? SINEW_STEP_CROSSED : 0;
    const bool open = c->too_near || r->lag > VIOLATION_PART * force || r->cone > VIOLATION_PART * force;
    return bits | (open ? SINEW_STEP_CONTACT : 0);
}

void sinew_contact_end(sinew_world *world, sinew_step_result *result)
{
    sinew_contact_work *c = world->contact;
    const bool measured = world->def.solver.measure != SINEW_MEASURE_NOTHING;
    const bool constrains = world->solve.ops->info.needs & SINEW_CAN_CONSTRAINT;
    sinew_real *x = c->wanted;
    world->solve.contact = NULL;
    world->solve.first_guess = NULL;
    take_forces(world, constrains && c->element_count > 0 && sinew_contact_own_forces(world, c->own) ? c->own : NULL);
    memcpy(x, c->guard.safe, 4 * (size_t)c->features.vertex_count * sizeof *x);
    for (int32_t v = 0; v < c->features.moved_count; v++)
        memcpy(x + 4 * (size_t)v, world->q + 4 * (size_t)c->features.particle[v], 4 * sizeof *x);
    memcpy(c->guard.safe, x, 4 * (size_t)c->features.vertex_count * sizeof *x);
    c->too_near = false;
    measure_contacts(world);
    sinew_contact_find_ended(world, x);
    measure_held(world);
    settle_colliders(world, x);
    add_forces(world, x);
    change_velocities(world, x);
    if (measured) {
        measure_clearance(world, x);
    } else {
        c->report.violation = NAN;
        c->report.crossings = -1;
        c->too_near = false;
    }
    c->report.stationarity = result->residual;
    c->crossings_known = measured;
    c->listed = true;
    c->noted_past = false;
    memcpy(world->v_before, c->v_begun, 4 * (size_t)world->particle_count * sizeof *c->v_begun);
    c->shifted = false;
    result->bits |= find_bits(world);
}
