/* SPDX-License-Identifier: MIT
 *
 * elements.c: the contacts of an epoch as elements of the contact energy (energy/edge/contact.c).
 *
 *     z = sum w x - b,   b what colliders' vertices add:   n.(sum w x) >= r + cores + n.b
 *     k_n = factor / sum_a (w_a^2 / (H_aa + m_a/h^2)),     k_t = k_n
 *     a = P z_n - t / k_t                                  z_n with the places where the step began
 *
 * H_aa is n.(H n) of the fixed elements' block where the step began: a cloth gives way across itself more easily than
 * along. t is friction when the step began, kept as a
 * force: closest points make P z_n = 0 in each detection, and an anchor kept as a point would lose its stretch.
 */
#include <math.h>
#include <string.h>

#include "energy/contact_data.h"
#include "world/contact/contact.h"

#define HARD      (sizeof(sinew_real) == 4 ? 1e2 : 1e4) /* times as stiff as what it touches: springs of projection */
#define UNBOUNDED 1e30                                  /* N: friction of penalty springs, which never slide */

void sinew_contact_fixed_part(const sinew_contact_work *c, const sinew_touch *t, const sinew_real *x, double b[3])
{
    for (size_t i = 0; i < 3; i++)
        b[i] = 0;
    for (int a = 0; a < 4; a++)
        for (size_t i = 0; t->v[a] >= c->features.moved_count && i < 3; i++)
            b[i] -= (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i];
}

/* b of a contact, a plane's point included; part: of the way of colliders, x: of all vertices then. */
static void fixed_point(const sinew_world *world, const sinew_touch *t, bool begun, double b[3])
{
    const sinew_contact_work *c = world->contact;
    const sinew_touch_object *second = &c->features.objects[t->second];
    double normal[3];
    if (second->kinematic && second->vertex_count == 0)
        sinew_contact_plane(world, t->second, begun ? 0 : c->part[t->second], b, normal);
    else if (t->key >> 60 == SINEW_TOUCH_SKIN)
        sinew_contact_skin_place(c, t, begun ? c->begun : c->wanted, b);
    else
        sinew_contact_fixed_part(c, t, begun ? c->begun : c->wanted, b);
}

/* ---- Stiffness ------------------------------------------------------------------------------- */

static double along_normal(const double H[9], const double n[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum += n[i] * H[3 * i + k] * n[k];
    return fmax(sum, 0);
}

/* m/N: how far the vertices of a contact give, together, for a force between its sides; 0: nothing of it can move. */
static double give_of(const sinew_world *world, const sinew_touch *t)
{
    const sinew_contact_work *c = world->contact;
    const double h = (double)world->def.time_step;
    double sum = 0;
    for (int a = 0; a < 4; a++) {
        if (t->v[a] >= c->features.moved_count || (double)t->w[a] == 0)
            continue;
        const int32_t p = c->features.particle[t->v[a]];
        const double inertia = world->def.quasistatic ? 0 : (double)world->mass[p] / (h * h);
        const double stiffness = along_normal(c->blocks + 9 * (size_t)p, t->n) + inertia;
        if (!world->pinned[p] && stiffness > 0)
            sum += (double)t->w[a] * (double)t->w[a] / stiffness;
    }
    return sum;
}

static void set_stiffness(const sinew_world *world, sinew_touch *t, double give)
{
    const sinew_contact_def *def = &world->contact->def;
    t->kn = t->kt = (double)def->stiffness / give;
    if (def->mode == SINEW_CONTACT_AUGMENTED)
        return;
    if (def->mode == SINEW_CONTACT_PROJECTION) {
        t->kn = HARD / give;
        t->offset += t->sunk;
        t->sunk = 0;
    } else {
        t->kn = (double)def->penalty;
    }
    t->kt = def->mode == SINEW_CONTACT_PENALTY ? (double)def->penalty_tangent : 0;
    t->lambda = t->bears = 0;
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static void set_anchor(const sinew_world *world, sinew_touch *t)
{
    const sinew_contact_work *c = world->contact;
    const bool springs = !(world->solve.ops->info.needs & SINEW_CAN_CONSTRAINT) && t->kt > 0;
    double b[3], z[3] = {0, 0, 0}, normal = 0;
    fixed_point(world, t, true, b);
    for (size_t i = 0; i < 3; i++) {
        for (size_t a = 0; a < 4; a++)
            if (t->v[a] < c->features.moved_count)
                z[i] += (double)t->w[a] * (double)c->begun[4 * (size_t)t->v[a] + i];
        z[i] -= b[i];
        normal += z[i] * t->n[i];
    }
    for (int i = 0; i < 3; i++)
        t->anchor[i] = z[i] - normal * t->n[i] - (springs ? t->tangent[i] / t->kt : 0);
}

static double limit_of(const sinew_contact_work *c, const sinew_touch *t)
{
    if (c->def.mode == SINEW_CONTACT_AUGMENTED)
        return t->mu * t->bears;
    return t->kt > 0 ? UNBOUNDED : 0;
}

static void write_data(const sinew_world *world, const sinew_touch *t, sinew_real *data)
{
    const sinew_contact_work *c = world->contact;
    double b[3];
    fixed_point(world, t, false, b);
    data[0] = 1;
    for (int a = 0; a < 4; a++)
        data[SINEW_CONTACT_WEIGHTS + a] = t->v[a] < c->features.moved_count ? t->w[a] : 0;
    for (int i = 0; i < 3; i++) {
        data[SINEW_CONTACT_NORMAL + i] = (sinew_real)t->n[i];
        data[SINEW_CONTACT_ANCHOR + i] = (sinew_real)(t->anchor[i] + b[i]);
        data[SINEW_CONTACT_HELD + i] = (sinew_real)-t->tangent[i];
    }
    data[SINEW_CONTACT_OFFSET] = (sinew_real)(t->offset + sinew_contact_spare(c, t) + t->core + t->n[0] * b[0] +
                                              t->n[1] * b[1] + t->n[2] * b[2]);
    data[SINEW_CONTACT_LAMBDA] = (sinew_real)t->lambda;
    data[SINEW_CONTACT_KN] = (sinew_real)t->kn;
    data[SINEW_CONTACT_KT] = (sinew_real)t->kt;
    data[SINEW_CONTACT_LIMIT] = (sinew_real)limit_of(c, t);
    data[SINEW_CONTACT_MU] = (sinew_real)t->mu;
}

void sinew_contact_write_numbers(sinew_contact_work *c)
{
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_touch *t = &c->touches.list[c->touch_of[e]];
        sinew_real *data = c->data + (size_t)e * SINEW_CONTACT_DATA_COUNT;
        data[SINEW_CONTACT_LAMBDA] = (sinew_real)t->lambda;
        data[SINEW_CONTACT_LIMIT] = (sinew_real)limit_of(c, t);
        sinew_batch_set_element(c->batch, e, data);
    }
}

double sinew_contact_normal_force(const sinew_contact_work *c, int32_t element, const sinew_real *q, double u[3])
{
    const sinew_real *data = c->data + (size_t)element * SINEW_CONTACT_DATA_COUNT;
    const sinew_touch *t = &c->touches.list[c->touch_of[element]];
    double z[3] = {0, 0, 0}, height = 0, along = 0;
    for (size_t a = 0; a < 4; a++)
        for (size_t i = 0; t->v[a] < c->features.moved_count && i < 3; i++)
            z[i] += (double)t->w[a] * (double)q[4 * (size_t)c->features.particle[t->v[a]] + i];
    for (int i = 0; i < 3; i++) {
        u[i] = z[i] - (double)data[SINEW_CONTACT_ANCHOR + i];
        height += t->n[i] * z[i];
        along += t->n[i] * u[i];
    }
    for (int i = 0; i < 3; i++)
        u[i] -= along * t->n[i];
    return fmax(0, t->lambda + t->kn * ((double)data[SINEW_CONTACT_OFFSET] - height));
}

/* ---- Round things ---------------------------------------------------------------------------- */

static bool is_round(const sinew_touch *t)
{
    return t->core > 0 && t->pair != SINEW_PAIR_PLANE && t->key >> 60 != SINEW_TOUCH_SKIN;
}

double sinew_contact_follow(sinew_world *world, const sinew_real *q, bool go)
{
    sinew_contact_work *c = world->contact;
    double most = 0;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_touch *t = &c->touches.list[c->touch_of[e]];
        sinew_real x[16];
        if (!is_round(t))
            continue;
        for (size_t a = 0; a < 4; a++)
            memcpy(x + 4 * a,
                   t->v[a] < c->features.moved_count ? q + 4 * (size_t)c->features.particle[t->v[a]]
                                                     : c->wanted + 4 * (size_t)t->v[a],
                   4 * sizeof *x);
        most = fmax(most, sinew_touch_follow(t, x, go) / t->offset);
        if (go) {
            set_anchor(world, t);
            write_data(world, t, c->data + (size_t)e * SINEW_CONTACT_DATA_COUNT);
        }
    }
    return most;
}

/* ---- Elements -------------------------------------------------------------------------------- */

static bool make_lists(const sinew_allocator *m, sinew_contact_work *c)
{
    const size_t n = (size_t)c->touches.count;
    return sinew_make_spare_room(m, &c->element, &c->element_room, n, sizeof *c->element) &&
           sinew_make_spare_room(m, &c->touch_of, &c->touch_room, n, sizeof *c->touch_of) &&
           sinew_make_spare_room(m, &c->particles, &c->particle_room, 4 * n, sizeof *c->particles) &&
           sinew_make_spare_room(m, &c->own, &c->own_room, 4 * n, sizeof *c->own) &&
           sinew_make_spare_room(m, &c->data, &c->data_room, SINEW_CONTACT_DATA_COUNT * n, sizeof *c->data);
}

/* Particles of a contact; places without one repeat the first. */
static void list_particles(const sinew_contact_work *c, const sinew_touch *t, int32_t *particles)
{
    int32_t some = -1;
    for (int a = 0; a < 4; a++)
        if (t->v[a] < c->features.moved_count && some < 0)
            some = c->features.particle[t->v[a]];
    for (int a = 0; a < 4; a++)
        particles[a] = t->v[a] < c->features.moved_count ? c->features.particle[t->v[a]] : some;
}

static void fill_lists(sinew_world *world, sinew_contact_work *c)
{
    c->element_count = 0;
    for (int32_t k = 0; k < c->touches.count; k++) {
        sinew_touch *t = &c->touches.list[k];
        const bool left_out = c->def.mode == SINEW_CONTACT_PROJECTION && !sinew_contact_is_held(c, t);
        const double give = left_out ? 0 : give_of(world, t);
        c->element[k] = -1;
        if (!(give > 0))
            continue;
        const int32_t e = c->element_count++;
        c->element[k] = e;
        c->touch_of[e] = k;
        set_stiffness(world, t, give);
        set_anchor(world, t);
        list_particles(c, t, c->particles + 4 * (size_t)e);
        write_data(world, t, c->data + (size_t)e * SINEW_CONTACT_DATA_COUNT);
    }
}

static bool fill_batch(const sinew_world *world, sinew_contact_work *c)
{
    const sinew_allocator *m = &world->allocator;
    if (!c->batch) {
        c->batch = sinew_batch_create(m, sinew_lanes()->contact, sinew_lanes()->width);
        if (!c->batch)
            return false;
        c->batch->transient = true;
    }
    return sinew_plan_make(&c->plan, m, c->element_count, SINEW_CONTACT_VERTICES, world->particle_count, false,
                           c->particles) &&
           sinew_batch_fill(c->batch, m, &c->plan, c->particles, c->data, world->particle_count, &c->batch_work);
}

sinew_status sinew_contact_make_elements(sinew_world *world, sinew_error *error)
{
    sinew_contact_work *c = world->contact;
    c->element_count = 0;
    if (!make_lists(&world->allocator, c))
        return sinew_fail_memory(error, "contacts");
    fill_lists(world, c);
    if (c->element_count > 0 && !fill_batch(world, c))
        return sinew_fail_memory(error, "contacts");
    return SINEW_OK;
}
