/* SPDX-License-Identifier: MIT
 *
 * elements.c: the contacts of a detection pass as elements of the contact energy (energy/edge/contact.c).
 *
 *     z = sum w x - b,   b of collider vertices:        n.(sum w x) >= r + radii + n.b
 *     k_n = factor / sum_i (w_i^2 / (H_ii + m_i/h^2)),     k_t = k_n
 *     a = P z_n - t / k_t                                  z_n: z at the start of the step
 *
 * Sums run over the body vertices of a contact, with weights w, positions x and masses m; n is its normal,
 * P = I - n n^T, r its offset, radii those of spheres and capsules, a the anchor of its friction, h the time step,
 * factor the setting `stiffness` of contact. H_ii is n.(H n) of the Hessian block H of the fixed elements at the start
 * of the step: a cloth is softer across its surface than along it. t is minus the friction on the
 * first object at the start of the step, stored as a force: the closest points of each detection have P z_n = 0, so an
 * anchor stored as a point would lose its stretch. Solvers that keep their own multipliers have a = P z_n. The
 * stiffness is that of the mode `augmented` (modes.c has others).
 *
 * A vertex of a rigid body is an affine combination of four particles, so that z is a sum over up to eight particles.
 * Contacts of more than four, and those of rigid spheres and capsules, whose tangential z has levers (levers.c), are
 * elements of a batch of their own. In dynamic steps, H_ii of rigid bodies is left out: their stiffness does not resist
 * rigid motions. Their m_i/h^2 counts RIGID_STIFFNESS times: a contact bears more than the corner that touches.
 */
#include <math.h>
#include <string.h>

#include "energy/contact_data.h"
#include "contact/modes.h"
#include "math/vec3.h"

/* Factor on the inertia of rigid bodies in k_n. A tower of ten rigid boxes tips over within 3 s with 1, moves 20 um
 * with 10, and 15 um with 100, with a tenth of the multiplier updates (docs/evidence/rigid.md). */
#define RIGID_STIFFNESS    100
#define FRICTION_UNBOUNDED 1e30 /* friction limit in N of penalty springs, which never slide */

void sinew_contact_collider_point(const sinew_contact_work *c, const sinew_contact_constraint *t, const sinew_real *x,
                                  double b[3])
{
    for (size_t i = 0; i < 3; i++)
        b[i] = 0;
    for (int a = 0; a < 4; a++)
        for (size_t i = 0; t->v[a] >= c->mesh.moved_count && i < 3; i++)
            b[i] -= (double)t->w[a] * (double)x[4 * (size_t)t->v[a] + i];
}

/* Computes b of a contact (file head), m: at the start of the step, or else at the end of the colliders' motion. For a
 * plane, b is its point at the start of the step or at its completed fraction of motion. */
static void contact_fixed_point(const sinew_contact_view *view, const sinew_contact_constraint *t, bool at_step_start,
                                double b[3])
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_object *second = &c->mesh.objects[t->second];
    double normal[3];
    if (second->kinematic && second->vertex_count == 0)
        sinew_contact_plane(view, t->second, at_step_start ? 0 : c->fraction[t->second], b, normal);
    else if (t->key >> 60 == SINEW_CONTACT_SKIN_COLLIDER)
        sinew_contact_skin_target(c, t, at_step_start ? c->x_step_start : c->x_predicted, b);
    else
        sinew_contact_collider_point(c, t, at_step_start ? c->x_step_start : c->x_predicted, b);
}

/* ---- Particles of contacts ------------------------------------------------------------------- */

/* Index of the first entry of the rigid body's four particles, which are appended if they are not listed. */
static int support_take_frame(sinew_contact_support *s, int32_t first)
{
    for (int k = 0; k < s->count; k++)
        if (s->particle[k] == first)
            return k;
    for (int k = 0; k < 4; k++) {
        s->particle[s->count] = first + k;
        s->rigid[s->count] = true;
        s->lever[s->count] = 0;
        s->weight[s->count++] = 0;
    }
    return s->count - 4;
}

sinew_contact_support sinew_contact_support_of(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    const sinew_collision_mesh *f = &c->mesh;
    sinew_contact_support s = {.count = 0};
    for (int a = 0; a < 4; a++) {
        const int32_t v = t->v[a];
        if (v >= f->moved_count)
            continue;
        if (f->particle[v] >= 0) {
            s.particle[s.count] = f->particle[v];
            s.lever[s.count] = 0;
            s.weight[s.count++] = (double)t->w[a];
            continue;
        }
        const int at = support_take_frame(&s, f->particle[f->objects[f->object[v]].first_vertex]);
        for (int k = 0; k < 4; k++)
            s.weight[at + k] += (double)t->w[a] * (double)f->frame_weights[4 * (size_t)v + (size_t)k];
    }
    for (int side = 0; sinew_contact_has_levers(c, t) && side < 2; side++) {
        const sinew_collision_object *o = &f->objects[side == 0 ? t->first : t->second];
        const int at = o->rigid ? support_take_frame(&s, f->particle[o->first_vertex]) : 0;
        for (int k = 0; o->rigid && k < 4; k++)
            s.lever[at + k] = (side == 0 ? 1 : -1) * (double)t->lever[side][k];
    }
    return s;
}

void sinew_contact_support_add(const sinew_contact_support *s, const sinew_real *q, double z[3])
{
    for (int k = 0; k < s->count; k++)
        for (size_t i = 0; i < 3; i++)
            z[i] += s->weight[k] * (double)q[4 * (size_t)s->particle[k] + i];
}

void sinew_contact_support_slide(const sinew_contact_support *s, const double n[3], const sinew_real *q, double z[3])
{
    double arm[3] = {0, 0, 0};
    for (int k = 0; k < s->count; k++)
        for (size_t i = 0; i < 3; i++)
            arm[i] += s->lever[k] * (double)q[4 * (size_t)s->particle[k] + i];
    vec3_add_across(n, arm, z);
}

void sinew_contact_vertex_position(const sinew_contact_work *c, int32_t v, const sinew_real *q, sinew_real x[4])
{
    const sinew_collision_mesh *f = &c->mesh;
    if (v >= f->moved_count || f->particle[v] >= 0) {
        memcpy(x, v < f->moved_count ? q + 4 * (size_t)f->particle[v] : c->x_predicted + 4 * (size_t)v, 4 * sizeof *x);
        return;
    }
    const sinew_real *frame = q + 4 * (size_t)f->particle[f->objects[f->object[v]].first_vertex];
    for (size_t i = 0; i < 4; i++) {
        double sum = 0;
        for (size_t k = 0; k < 4; k++)
            sum += (double)f->frame_weights[4 * (size_t)v + k] * (double)frame[4 * k + i];
        x[i] = (sinew_real)sum;
    }
}

/* ---- Stiffness of contacts ------------------------------------------------------------------- */

static double stiffness_along(const double H[9], const double n[3])
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            sum += n[i] * H[3 * i + k] * n[k];
    return fmax(sum, 0);
}

/* Computes the Hessian blocks of the particles that contacts of this pass need. Those of earlier passes stay: all are
 * of the start of the step, whose positions view->q keeps until the step ends. */
static void find_blocks(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    bool any = false;
    memset(c->block_wanted, 0, (size_t)view->particle_count);
    for (int32_t i = 0; i < c->contacts.count; i++) {
        const sinew_contact_support s = sinew_contact_support_of(c, &c->contacts.list[i]);
        for (int k = 0; k < s.count; k++) {
            const int32_t p = s.particle[k];
            if (c->block_known[p] || view->pinned[p] || (s.rigid[k] && !view->quasistatic))
                continue;
            c->block_known[p] = c->block_wanted[p] = any = true;
        }
    }
    if (any)
        c->stiffness_work += sinew_objective_fixed_diagonal(view->objective, view->q, c->block_wanted, c->blocks);
}

/* Compliance of a contact's vertices under a force between its sides, in m/N; 0: no vertex can move, or none has
 * inertia or stiffness. */
static double contact_compliance(const sinew_contact_view *view, const sinew_contact_constraint *t)
{
    const sinew_contact_work *c = view->contact;
    const double h = (double)view->time_step;
    const sinew_contact_support s = sinew_contact_support_of(c, t);
    double sum = 0;
    for (int k = 0; k < s.count; k++) {
        const int32_t p = s.particle[k];
        const double inertia = view->quasistatic ? 0 : (double)view->mass[p] / (h * h);
        const bool fixed = s.rigid[k] && !view->quasistatic;
        if (view->pinned[p])
            continue;
        const double stiffness =
            fixed ? RIGID_STIFFNESS * inertia : stiffness_along(c->blocks + 9 * (size_t)p, t->n) + inertia;
        if (stiffness > 0)
            sum += s.weight[k] * s.weight[k] / stiffness;
    }
    return sum;
}

/* ---- Parameters of contact elements --------------------------------------------------------- */

static void contact_set_anchor(const sinew_contact_view *view, sinew_contact_constraint *t)
{
    const sinew_contact_work *c = view->contact;
    const bool springs = !(view->solve->ops->info.needs & SINEW_CAN_CONSTRAINT) && t->kt > 0;
    double b[3], z[3] = {0, 0, 0}, arm[3], normal = 0;
    contact_fixed_point(view, t, true, b);
    for (size_t i = 0; i < 3; i++) {
        for (size_t a = 0; a < 4; a++)
            if (t->v[a] < c->mesh.moved_count)
                z[i] += (double)t->w[a] * (double)c->x_step_start[4 * (size_t)t->v[a] + i];
        z[i] -= b[i];
        normal += z[i] * t->n[i];
        arm[i] = 0;
    }
    sinew_contact_add_levers(c, t, c->x_step_start, 1, arm);
    vec3_add_across(t->n, arm, z);
    for (int i = 0; i < 3; i++)
        t->anchor[i] = z[i] - normal * t->n[i] - (springs ? t->tangent[i] / t->kt : 0);
}

static double contact_friction_limit(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    if (sinew_contact_mode_get(c->def.mode)->multipliers)
        return t->mu * t->lagged_normal_force;
    return t->kt > 0 ? FRICTION_UNBOUNDED : 0;
}

static double contact_spring_start(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    const sinew_contact_mode_ops *mode = sinew_contact_mode_get(c->def.mode);
    return mode->spring_start ? mode->spring_start(t) : 0;
}

/* Writes the weights of an element: those of the contact's vertices, in their places; for rigid bodies those of its
 * support, in the order of its particles, and their levers. */
static void contact_write_weights(const sinew_contact_work *c, const sinew_contact_constraint *t, bool wide,
                                  sinew_real *data)
{
    const sinew_contact_support s = sinew_contact_support_of(c, t);
    const bool own = !wide && !(s.count > 0 && s.rigid[0]);
    for (int a = 0; a < (wide ? SINEW_CONTACT_VERTICES_WIDE : SINEW_CONTACT_VERTICES); a++)
        data[a] = own ? t->v[a] < c->mesh.moved_count ? t->w[a] : 0 : a < s.count ? (sinew_real)s.weight[a] : 0;
    for (int a = 0; wide && a < SINEW_CONTACT_VERTICES_WIDE; a++)
        data[SINEW_CONTACT_VERTICES_WIDE + a] = a < s.count ? (sinew_real)s.lever[a] : 0;
}

static void contact_write_data(const sinew_contact_view *view, int32_t e)
{
    const sinew_contact_work *c = view->contact;
    const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
    sinew_real *data = sinew_contact_element_data(c, e);
    double b[3];
    contact_fixed_point(view, t, false, b);
    data[0] = 1;
    contact_write_weights(c, t, e >= c->narrow_count, data + SINEW_CONTACT_WEIGHTS);
    for (int i = 0; i < 3; i++) {
        data[SINEW_CONTACT_NORMAL + i] = (sinew_real)t->n[i];
        data[SINEW_CONTACT_ANCHOR + i] = (sinew_real)(t->anchor[i] + b[i]);
        data[SINEW_CONTACT_STICK_FORCE + i] = (sinew_real)-t->tangent[i];
    }
    data[SINEW_CONTACT_OFFSET] = (sinew_real)(t->offset + contact_spring_start(c, t) + t->radius + t->n[0] * b[0] +
                                              t->n[1] * b[1] + t->n[2] * b[2]);
    data[SINEW_CONTACT_LAMBDA] = (sinew_real)t->lambda;
    data[SINEW_CONTACT_KN] = (sinew_real)t->kn;
    data[SINEW_CONTACT_KT] = (sinew_real)t->kt;
    data[SINEW_CONTACT_LIMIT] = (sinew_real)contact_friction_limit(c, t);
    data[SINEW_CONTACT_MU] = (sinew_real)t->mu;
}

void sinew_contact_write_numbers(sinew_contact_work *c)
{
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        const bool wide = e >= c->narrow_count;
        sinew_real *data = sinew_contact_element_data(c, e);
        data[SINEW_CONTACT_LAMBDA] = (sinew_real)t->lambda;
        data[SINEW_CONTACT_LIMIT] = (sinew_real)contact_friction_limit(c, t);
        sinew_batch_set_element(wide ? c->wide_batch : c->batch, wide ? e - c->narrow_count : e, data);
    }
}

double sinew_contact_normal_force(const sinew_contact_work *c, int32_t element, const sinew_real *q, double u[3])
{
    const sinew_real *data = sinew_contact_element_data(c, element);
    const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[element]];
    const sinew_contact_support s = sinew_contact_support_of(c, t);
    double z[3] = {0, 0, 0}, height = 0, along = 0;
    sinew_contact_support_add(&s, q, z);
    sinew_contact_support_slide(&s, t->n, q, z);
    for (int i = 0; i < 3; i++) {
        u[i] = z[i] - (double)data[SINEW_CONTACT_ANCHOR + i];
        height += t->n[i] * z[i];
        along += t->n[i] * u[i];
    }
    for (int i = 0; i < 3; i++)
        u[i] -= along * t->n[i];
    return fmax(0, t->lambda + t->kn * ((double)data[SINEW_CONTACT_OFFSET] - height));
}

/* ---- Contacts with spheres and capsules ------------------------------------------------------- */

static bool contact_is_round(const sinew_contact_constraint *t)
{
    return t->radius > 0 && t->candidate_kind != SINEW_CANDIDATE_VERTEX_PLANE &&
           t->key >> 60 != SINEW_CONTACT_SKIN_COLLIDER;
}

double sinew_contact_relax_round(const sinew_contact_view *view, const sinew_real *q, bool move)
{
    sinew_contact_work *c = view->contact;
    double max = 0;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        sinew_real x[16];
        if (!contact_is_round(t))
            continue;
        for (size_t a = 0; a < 4; a++)
            sinew_contact_vertex_position(c, t->v[a], q, x + 4 * a);
        max = fmax(max, sinew_contact_relax_closest(t, x, move) / t->offset);
        if (move) {
            sinew_contact_set_levers(c, t);
            contact_set_anchor(view, t);
            contact_write_data(view, e);
        }
    }
    return max;
}

/* ---- Contact elements in their batch --------------------------------------------------------- */

static bool elements_reserve(const sinew_allocator *m, sinew_contact_work *c)
{
    const size_t n = (size_t)c->contacts.count;
    const size_t vertices = c->mesh.frame_weights ? SINEW_CONTACT_VERTICES_WIDE : SINEW_CONTACT_VERTICES;
    return sinew_reserve_spare(m, &c->element_of, &c->element_capacity, n, sizeof *c->element_of) &&
           sinew_reserve_spare(m, &c->contact_of, &c->contact_of_capacity, n, sizeof *c->contact_of) &&
           sinew_reserve_spare(m, &c->particles, &c->particle_bytes, vertices * n, sizeof *c->particles) &&
           sinew_reserve_spare(m, &c->solver_multipliers, &c->solver_multiplier_capacity, 4 * n,
                               sizeof *c->solver_multipliers) &&
           sinew_reserve_spare(m, &c->data, &c->data_capacity, SINEW_CONTACT_DATA_COUNT_OF(vertices) * n,
                               sizeof *c->data);
}

/* Lists the particles of an element; entries of vertices without a particle (collider vertices), and unused entries,
 * repeat the first particle. */
static void contact_list_particles(const sinew_contact_work *c, const sinew_contact_constraint *t, bool wide,
                                   int32_t *particles)
{
    const sinew_contact_support s = sinew_contact_support_of(c, t);
    const bool own = !wide && !s.rigid[0];
    for (int a = 0, next = 0; a < (wide ? SINEW_CONTACT_VERTICES_WIDE : SINEW_CONTACT_VERTICES); a++) {
        const bool used = own ? t->v[a] < c->mesh.moved_count : a < s.count;
        particles[a] = used ? s.particle[next++] : s.particle[0];
    }
}

sinew_real *sinew_contact_element_data(const sinew_contact_work *c, int32_t e)
{
    const size_t narrow = (size_t)(e < c->narrow_count ? e : c->narrow_count), wide = (size_t)e - narrow;
    return c->data + narrow * SINEW_CONTACT_DATA_COUNT + wide * SINEW_CONTACT_DATA_COUNT_WIDE;
}

static int32_t *contact_element_particles(const sinew_contact_work *c, int32_t e)
{
    const size_t narrow = (size_t)(e < c->narrow_count ? e : c->narrow_count), wide = (size_t)e - narrow;
    return c->particles + narrow * SINEW_CONTACT_VERTICES + wide * SINEW_CONTACT_VERTICES_WIDE;
}

/* True if the element of a contact has up to eight particles: more than four, or levers. */
static bool contact_is_wide(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    return c->mesh.frame_weights &&
           (sinew_contact_support_of(c, t).count > SINEW_CONTACT_VERTICES || sinew_contact_has_levers(c, t));
}

/* Makes the elements of all contacts that are not wide, or of those that are (`wide`). */
static void elements_fill_lists(const sinew_contact_view *view, sinew_contact_work *c, bool wide)
{
    const sinew_contact_mode_ops *mode = sinew_contact_mode_get(c->def.mode);
    for (int32_t k = 0; k < c->contacts.count; k++) {
        sinew_contact_constraint *t = &c->contacts.list[k];
        if (contact_is_wide(c, t) != wide)
            continue;
        const double compliance = mode->takes && !mode->takes(c, t) ? 0 : contact_compliance(view, t);
        c->element_of[k] = -1;
        if (!(compliance > 0))
            continue;
        const int32_t e = c->element_count++;
        c->narrow_count += !wide;
        c->element_of[k] = e;
        c->contact_of[e] = k;
        if (mode->multipliers)
            sinew_contact_limit_offset(view, t);
        mode->set_stiffness(&c->def, compliance, t);
        sinew_contact_set_levers(c, t);
        contact_set_anchor(view, t);
        contact_list_particles(c, t, wide, contact_element_particles(c, e));
        contact_write_data(view, e);
    }
}

static bool fill_batch(const sinew_contact_view *view, bool wide, sinew_batch **batch, sinew_batch_layout *layout,
                       sinew_batch_work *work)
{
    const sinew_contact_work *c = view->contact;
    const sinew_allocator *m = view->allocator;
    const sinew_energy_ops *ops = wide ? sinew_simd()->contact_wide : sinew_simd()->contact;
    const int32_t first = wide ? c->narrow_count : 0, count = wide ? c->element_count - first : c->narrow_count;
    int32_t *particles = contact_element_particles(c, first);
    if (count == 0)
        return true;
    if (!*batch) {
        *batch = sinew_batch_create(m, ops, sinew_simd()->width);
        if (!*batch)
            return false;
        (*batch)->transient = true;
    }
    return sinew_batch_layout_make(layout, m, count, ops->info.vertex_count, view->particle_count, false, particles) &&
           sinew_batch_fill(*batch, m, layout, particles, sinew_contact_element_data(c, first), view->particle_count,
                            work);
}

sinew_status sinew_contact_make_elements(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    c->element_count = c->narrow_count = 0;
    if (!elements_reserve(view->allocator, c) || !sinew_contact_clear_reductions(view))
        return sinew_fail_memory(error, "contacts");
    find_blocks(view);
    elements_fill_lists(view, c, false);
    if (c->mesh.frame_weights)
        elements_fill_lists(view, c, true);
    if (!fill_batch(view, false, &c->batch, &c->layout, &c->batch_work) ||
        !fill_batch(view, true, &c->wide_batch, &c->wide_layout, &c->wide_batch_work))
        return sinew_fail_memory(error, "contacts");
    return SINEW_OK;
}
