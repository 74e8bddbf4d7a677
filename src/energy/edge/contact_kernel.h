/* SPDX-License-Identifier: MIT
 *
 * contact_kernel.h: the energy of one contact: unilateral normal constraint and Coulomb friction between two surfaces.
 * Loops over elements take the number n of vertices of a contact, a constant of contact.c and of contact_wide.c.
 *
 *     z = sum_a w_a x_a                                           weights: positive on one side, negative on the other
 *     normal    psi_n = (max(0, lambda + kn (r - n.z))^2 - lambda^2) / (2 kn)       augmented Lagrangian
 *     friction  u = P (z - a),  P = 1 - n n^T
 *               phi   = kt/2 |u|^2              while kt |u| <= L        sticks
 *                     = L (|u| - L / (2 kt))    else                     slides
 *
 * r is the offset, lambda (N) the multiplier, L (N) the friction limit, mu times the lagged normal force, and a the
 * anchor. The world updates lambda, L and a between iterations (src/contact/step.c). A collider has no vertices here:
 * its position enters r and a. While sliding, the Hessian is exact, L/|u| (P - u u^T / |u|^2): with L/|u| P alone, slip
 * grows by a fixed fraction in each iteration. All blocks are semi-definite. For PD, k = max(kn, kt) bounds the
 * curvature (energy.h).
 *
 * As a constraint (XPBD, PBD) the contact is hard: n.z >= r with a multiplier >= 0, and tangential multipliers toward
 * u = 0 of at most mu times the normal multiplier. kn, kt and L are not used, and lambda only warm-starts the
 * multiplier.
 *
 * Contacts of rigid spheres and capsules have levers d_a, with sum d_a = 0, on their n = 8 vertices. The normal force
 * acts on the axis, with the weights w_a; friction acts on the surface, with the weights w_a + d_a:
 *
 *     z = sum_a (w_a + d_a P) x_a,        gradient by x_a: (w_a + d_a P) psi'(z)
 *
 * sum d_a x_a is the vector from the axis to the point that touches, so that friction has a torque and the normal force
 * has none. psi'' has no entries between n and the tangents, so that blocks need d_a only with P psi'' P. PD and ADMM,
 * which refuse rigid bodies, do without levers.
 *
 * The table of energies does not list this energy: only detection creates its elements (src/contact/elements.c).
 */
#ifndef SINEW_SRC_ENERGY_EDGE_CONTACT_KERNEL_H
#define SINEW_SRC_ENERGY_EDGE_CONTACT_KERNEL_H

#include "energy/constrain.h"
#include "energy/contact_data.h"
#include "energy/reduced_vector.h"
#include "energy/vertex_kernel.h"

enum {
    WIDEST = SINEW_CONTACT_VERTICES_WIDE,
    /* data of a vertex-contact incidence: scale, weight of the node, the contact's data from normal to anchor, then the
     * weights of the other vertices */
    CONTACT_INCIDENCE_OWN = 1,
    CONTACT_INCIDENCE_NORMAL = 2,
    CONTACT_INCIDENCE_OTHERS = CONTACT_INCIDENCE_NORMAL + SINEW_CONTACT_SHAPE_COUNT
};

/* Numbers of an incidence, and of the tangent of an element. With levers an incidence ends with that of the node and
 * those of the other vertices, and a tangent with levers and normal. */
#define CONTACT_HAS_LEVERS(n)           ((n) > SINEW_CONTACT_VERTICES)
#define CONTACT_INCIDENCE_DATA_COUNT(n) (CONTACT_INCIDENCE_OTHERS + (n)-1 + (CONTACT_HAS_LEVERS(n) ? (n) : 0))
#define CONTACT_TANGENT_COUNT(n)        (SINEW_CONTACT_TANGENT_WEIGHTS + (n) + (CONTACT_HAS_LEVERS(n) ? (n) + 3 : 0))
#define CONTACT_TANGENT_NORMAL(n)       (SINEW_CONTACT_TANGENT_WEIGHTS + 2 * (n))

KERNEL_INLINE const char *contact_prepare(sinew_real *data, int n)
{
    memset(data, 0, (size_t)SINEW_CONTACT_DATA_COUNT_OF(n) * sizeof *data);
    return NULL;
}

/* ---- Contact energy as a function of z ----------------------------------------------------------- */

/* The parameters of a contact, in the order of its data from SINEW_CONTACT_NORMAL on. */
typedef struct contact_parameters {
    wide n[3], r, lambda, kn, kt, limit, anchor[3];
} contact_parameters;

KERNEL_INLINE contact_parameters contact_load(const sinew_real *shape)
{
    contact_parameters t;
    load_wide_array(shape, 3, t.n);
    t.r = wide_load(shape + 3 * SIMD_WIDTH);
    t.lambda = wide_load(shape + 4 * SIMD_WIDTH);
    t.kn = wide_load(shape + 5 * SIMD_WIDTH);
    t.kt = wide_load(shape + 6 * SIMD_WIDTH);
    t.limit = wide_load(shape + 7 * SIMD_WIDTH);
    load_wide_array(shape + 8 * SIMD_WIDTH, 3, t.anchor);
    return t;
}

/* The state of one contact per SIMD lane at the relative position z: normal force, and slip with its length. */
typedef struct contact_state {
    wide force;      /* normal force max(0, lambda + kn (r - n.z)), in N */
    wide u[3], slip; /* slip vector and its length in m; slip >= WIDE_ROOT_TINY */
    wide_mask sticks;
} contact_state;

KERNEL_INLINE contact_state contact_state_at(const contact_parameters *t, const wide z[3])
{
    contact_state s;
    wide d[3];
    s.force = wide_max(wide_set(0), t->lambda + t->kn * (t->r - dot3(t->n, z)));
    for (int i = 0; i < 3; i++)
        d[i] = z[i] - t->anchor[i];
    const wide along = dot3(t->n, d);
    for (int i = 0; i < 3; i++)
        s.u[i] = d[i] - along * t->n[i];
    s.slip = wide_max(wide_sqrt(dot3(s.u, s.u)), wide_set(WIDE_ROOT_TINY));
    s.sticks = wide_le(t->kt * s.slip, t->limit);
    return s;
}

/* Friction force over slip length in N/m: kt while sticking, limit / |u| while sliding. */
KERNEL_INLINE wide contact_tangent_stiffness(const contact_parameters *t, const contact_state *s)
{
    return wide_select(s->sticks, t->kt, t->limit / s->slip);
}

KERNEL_INLINE wide contact_positive(wide k)
{
    return wide_max(k, wide_set(WIDE_TINY));
}

KERNEL_INLINE wide contact_psi(const contact_parameters *t, const contact_state *s)
{
    const wide half = wide_set((sinew_real)0.5);
    const wide normal = half * (s->force - t->lambda) * ((s->force + t->lambda) / contact_positive(t->kn));
    const wide stuck = half * t->kt * s->slip * s->slip;
    const wide slid = t->limit * (s->slip - half * t->limit / contact_positive(t->kt));
    return normal + wide_select(s->sticks, stuck, slid);
}

/* f = psi'(z), the gradient of the contact energy by the relative position z */
KERNEL_INLINE void contact_force(const contact_parameters *t, const contact_state *s, wide f[3])
{
    const wide tangent_stiffness = contact_tangent_stiffness(t, s);
    for (int i = 0; i < 3; i++)
        f[i] = tangent_stiffness * s->u[i] - s->force * t->n[i];
}

/* Hessian K = psi''(z) of a contact: (active) kn n n^T + k (1 - n n^T) - (slides) k u u^T / |u|^2, with the normal
 * n, the slip u and k = friction force over slip. */
KERNEL_INLINE void contact_block(const contact_parameters *t, const contact_state *s, wide K[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const wide zero = wide_set(0), tangent_stiffness = contact_tangent_stiffness(t, s);
    const wide active = wide_select(wide_lt(zero, s->force), t->kn, zero) - tangent_stiffness;
    const wide along = wide_select(s->sticks, zero, tangent_stiffness / (s->slip * s->slip));
    for (int i = 0; i < 6; i++)
        K[i] = active * t->n[row[i]] * t->n[column[i]] - along * s->u[row[i]] * s->u[column[i]] +
               (row[i] == column[i] ? tangent_stiffness : zero);
}

/* ---- Contact elements: energy, gradient, Hessian ------------------------------------------------- */

/* to += factor P d, P = 1 - n n^T */
KERNEL_INLINE void contact_add_across(const wide normal[3], const wide d[3], wide factor, wide to[3])
{
    const wide along = dot3(normal, d);
    for (int i = 0; i < 3; i++)
        to[i] += factor * (d[i] - along * normal[i]);
}

/* weights: of the vertices, then their levers if n is 8 */
KERNEL_INLINE void contact_gather_z(const sinew_real *x, const int32_t *vertex, const sinew_real *weights,
                                    const wide normal[3], int n, wide z[3])
{
    wide arm[3] = {wide_set(0), wide_set(0), wide_set(0)};
    for (int i = 0; i < 3; i++)
        z[i] = wide_set(0);
    for (int a = 0; a < n; a++) {
        const wide w = wide_load(weights + a * SIMD_WIDTH);
        wide xa[3];
        wide_gather_point(x, vertex + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            z[i] += w * xa[i];
        for (int i = 0; CONTACT_HAS_LEVERS(n) && i < 3; i++)
            arm[i] += wide_load(weights + (n + a) * SIMD_WIDTH) * xa[i];
    }
    if (CONTACT_HAS_LEVERS(n))
        contact_add_across(normal, arm, wide_set(1), z);
}

/* Adds the contact's gradient (w_a + d_a P) f to g of each vertex a. */
KERNEL_INLINE void contact_spread(sinew_real *g, const int32_t *vertex, const sinew_real *weights, const wide normal[3],
                                  int n, const wide f[3])
{
    for (int a = 0; a < n; a++) {
        const wide w = wide_load(weights + a * SIMD_WIDTH);
        wide fa[3] = {w * f[0], w * f[1], w * f[2]};
        if (CONTACT_HAS_LEVERS(n))
            contact_add_across(normal, f, wide_load(weights + (n + a) * SIMD_WIDTH), fa);
        wide_scatter_point(g, vertex + a * SIMD_WIDTH, fa);
    }
}

KERNEL_INLINE contact_state contact_element_state(const sinew_groups *groups, const sinew_real *x, int32_t group, int n,
                                                  contact_parameters *t)
{
    const sinew_real *data = group_data(groups, group, SINEW_CONTACT_DATA_COUNT_OF(n));
    wide z[3];
    *t = contact_load(data + SINEW_CONTACT_NORMAL * SIMD_WIDTH);
    contact_gather_z(x, group_vertex(groups, group, n), data + SINEW_CONTACT_WEIGHTS * SIMD_WIDTH, t->n, n, z);
    return contact_state_at(t, z);
}

KERNEL_INLINE double contact_value(const sinew_kernel *kernel, int n)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        contact_parameters t;
        const contact_state s = contact_element_state(&kernel->groups, kernel->x, group, n, &t);
        value_add(&sum, wide_load(group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n))),
                  contact_psi(&t, &s));
    }
    return value_total(&sum);
}

KERNEL_INLINE double contact_gradient(const sinew_kernel *kernel, int n)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n));
        const wide scale = wide_load(data);
        contact_parameters t;
        wide f[3];
        const contact_state s = contact_element_state(&kernel->groups, kernel->x, group, n, &t);
        value_add(&sum, scale, contact_psi(&t, &s));
        contact_force(&t, &s, f);
        for (int i = 0; i < 3; i++)
            f[i] *= scale;
        contact_spread(kernel->g, group_vertex(&kernel->groups, group, n), data + SINEW_CONTACT_WEIGHTS * SIMD_WIDTH,
                       t.n, n, f);
    }
    return value_total(&sum);
}

KERNEL_INLINE void contact_linearise(const sinew_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n));
        sinew_real *tangent = group_tangent(kernel, group, CONTACT_TANGENT_COUNT(n));
        contact_parameters t;
        wide K[6];
        const contact_state s = contact_element_state(&kernel->groups, kernel->x, group, n, &t);
        contact_block(&t, &s, K);
        if (CONTACT_HAS_LEVERS(n))
            store_wide_array(tangent + CONTACT_TANGENT_NORMAL(n) * SIMD_WIDTH, 3, t.n);
        for (int a = 0; a < (CONTACT_HAS_LEVERS(n) ? 2 * n : n); a++)
            wide_store(tangent + (SINEW_CONTACT_TANGENT_WEIGHTS + a) * SIMD_WIDTH,
                       wide_load(data + (SINEW_CONTACT_WEIGHTS + a) * SIMD_WIDTH));
        for (int i = 0; i < 6; i++)
            wide_store(tangent + i * SIMD_WIDTH, wide_load(data) * K[i]);
    }
}

/* f = K z with a symmetric 3x3 matrix K stored as 00 11 22 01 02 12 */
KERNEL_INLINE void contact_multiply_block(const wide K[6], const wide z[3], wide f[3])
{
    f[0] = K[0] * z[0] + K[3] * z[1] + K[4] * z[2];
    f[1] = K[3] * z[0] + K[1] * z[1] + K[5] * z[2];
    f[2] = K[4] * z[0] + K[5] * z[1] + K[2] * z[2];
}

KERNEL_INLINE void contact_product(const sinew_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, CONTACT_TANGENT_COUNT(n));
        const int32_t *vertex = group_vertex(&kernel->groups, group, n);
        wide z[3], f[3], K[6], normal[3] = {wide_set(0), wide_set(0), wide_set(0)};
        if (CONTACT_HAS_LEVERS(n))
            load_wide_array(tangent + CONTACT_TANGENT_NORMAL(n) * SIMD_WIDTH, 3, normal);
        contact_gather_z(kernel->p, vertex, tangent + SINEW_CONTACT_TANGENT_WEIGHTS * SIMD_WIDTH, normal, n, z);
        load_wide_array(tangent, 6, K);
        contact_multiply_block(K, z, f);
        contact_spread(kernel->g, vertex, tangent + SINEW_CONTACT_TANGENT_WEIGHTS * SIMD_WIDTH, normal, n, f);
    }
}

/* across = P K P of a Hessian K of contact_block() */
KERNEL_INLINE void contact_block_across(const wide K[6], const wide normal[3], wide across[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    wide f[3];
    contact_multiply_block(K, normal, f);
    const wide along = dot3(normal, f);
    for (int i = 0; i < 6; i++)
        across[i] = K[i] - along * normal[row[i]] * normal[column[i]];
}

KERNEL_INLINE void contact_hessian(const sinew_kernel *kernel, int n)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, CONTACT_TANGENT_COUNT(n));
        sinew_real *blocks = group_blocks(kernel, group, n * (n + 1) / 2);
        wide w[WIDEST], d[WIDEST], K[6], across[6], normal[3];
        load_wide_array(tangent + SINEW_CONTACT_TANGENT_WEIGHTS * SIMD_WIDTH, n, w);
        load_wide_array(tangent, 6, K);
        if (CONTACT_HAS_LEVERS(n)) {
            load_wide_array(tangent + (SINEW_CONTACT_TANGENT_WEIGHTS + n) * SIMD_WIDTH, n, d);
            load_wide_array(tangent + CONTACT_TANGENT_NORMAL(n) * SIMD_WIDTH, 3, normal);
            contact_block_across(K, normal, across);
        }
        for (int a = 0; a < n; a++)
            for (int b = 0; b <= a; b++)
                for (int i = 0; i < 9; i++) {
                    wide block = w[a] * w[b] * K[entry[i]];
                    if (CONTACT_HAS_LEVERS(n))
                        block += (w[a] * d[b] + d[a] * w[b] + d[a] * d[b]) * across[entry[i]];
                    wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH, block);
                }
    }
}

/* ---- Contacts in reduced coordinates, for PD and ADMM -------------------------------------------- */

KERNEL_INLINE void contact_reduce(const sinew_reduced_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < n; a++)
            wide_store(kernel->D + ((size_t)n * (size_t)group + (size_t)a) * SIMD_WIDTH,
                       wide_load(group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n)) +
                                 (SINEW_CONTACT_WEIGHTS + a) * SIMD_WIDTH));
}

KERNEL_INLINE void contact_stiffness(const sinew_reduced_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n));
        const wide k =
            wide_max(wide_load(data + SINEW_CONTACT_KN * SIMD_WIDTH), wide_load(data + SINEW_CONTACT_KT * SIMD_WIDTH));
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(data) * k);
    }
}

/* PD's projection: g += k D^T proj z with k proj z = k z - psi'(z) */
KERNEL_INLINE void contact_local_project(const sinew_reduced_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n));
        const int32_t *vertex = group_vertex(&kernel->groups, group, n);
        const wide scale = wide_load(data);
        contact_parameters t;
        wide z[3], f[3];
        const contact_state s = contact_element_state(&kernel->groups, kernel->x, group, n, &t);
        contact_gather_z(kernel->x, vertex, data + SINEW_CONTACT_WEIGHTS * SIMD_WIDTH, t.n, n, z);
        contact_force(&t, &s, f);
        for (int i = 0; i < 3; i++)
            f[i] = scale * (wide_max(t.kn, t.kt) * z[i] - f[i]);
        contact_spread(kernel->g, vertex, data + SINEW_CONTACT_WEIGHTS * SIMD_WIDTH, t.n, n, f);
    }
}

/* z = argmin psi(z) + w2/2 |z - y|^2: first along the normal, then in the tangent plane, where the minimum lies
 * between the anchor a and y. With y_u = P (y - a), friction is kt w2 |y_u| / (kt + w2) if that is at most L; else z is
 * nearer to the anchor than y by L/w2. */
KERNEL_INLINE void contact_prox(const contact_parameters *t, wide w2, const wide y[3], wide z[3])
{
    const contact_state s = contact_state_at(t, y);
    const wide along = dot3(t->n, y), bottom = contact_positive(w2 + t->kn);
    const wide_mask active = wide_lt(wide_set(0), s.force);
    const wide normal = wide_select(active, (w2 * along + t->lambda + t->kn * t->r) / bottom, along);
    const wide fraction = w2 / contact_positive(w2 + t->kt);
    const wide_mask sticks = wide_le(t->kt * fraction * s.slip, t->limit);
    const wide left = wide_select(sticks, fraction, 1 - t->limit / contact_positive(w2 * s.slip));
    const wide anchored = dot3(t->n, t->anchor);
    for (int i = 0; i < 3; i++)
        z[i] = (normal - anchored) * t->n[i] + t->anchor[i] + left * s.u[i];
}

KERNEL_INLINE void contact_local_prox(const sinew_reduced_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n));
        const int32_t *vertex = group_vertex(&kernel->groups, group, n);
        const wide w2 = reduced_weight(kernel, group, wide_load(data));
        const contact_parameters t = contact_load(data + SINEW_CONTACT_NORMAL * SIMD_WIDTH);
        wide C[3], y[3], z[3], f[3];
        contact_gather_z(kernel->x, vertex, data + SINEW_CONTACT_WEIGHTS * SIMD_WIDTH, t.n, n, C);
        reduced_shifted(kernel, group, C, y);
        contact_prox(&t, w2, y, z);
        reduced_finish(kernel, group, w2, C, y, z, f);
        contact_spread(kernel->g, vertex, data + SINEW_CONTACT_WEIGHTS * SIMD_WIDTH, t.n, n, f);
    }
}

/* ---- Contacts as hard constraints, for PBD and XPBD ---------------------------------------------- */

/* Moves each vertex a by w_a / m_a times `move`: in kernel->dx if it is not NULL, else in kernel->xw. Also updates
 * c->x. */
KERNEL_INLINE void contact_push(const sinew_constrain_kernel *kernel, const int32_t *vertex, const wide *w, int n,
                                const wide move[3], constrained *c)
{
    sinew_real *to = kernel->dx ? kernel->dx : kernel->xw;
    for (int a = 0; a < n; a++) {
        const wide factor = w[a] * c->x[4 * a + 3];
        wide dx[3];
        for (int i = 0; i < 3; i++) {
            dx[i] = factor * move[i];
            c->x[4 * a + i] += dx[i];
        }
        wide_scatter_point(to, vertex + a * SIMD_WIDTH, dx);
    }
}

KERNEL_INLINE void contact_constrained_z(const wide *w, int n, const constrained *c, wide z[3])
{
    for (int i = 0; i < 3; i++) {
        z[i] = wide_set(0);
        for (int a = 0; a < n; a++)
            z[i] += w[a] * c->x[4 * a + i];
    }
}

/* averaging / sum_a (w_a^2 / m_a); 0: no vertex can move, or the element is switched off */
KERNEL_INLINE wide contact_inverse(const wide *w, int n, const constrained *c, wide scale, wide averaging)
{
    const wide zero = wide_set(0), one = wide_set(1);
    wide mass = zero;
    for (int a = 0; a < n; a++)
        mass += w[a] * w[a] * c->x[4 * a + 3];
    const wide_mask acts = wide_lt(zero, scale) & wide_lt(zero, mass);
    return wide_select(acts, averaging / wide_select(acts, mass, one), zero);
}

/* Projects the normal constraint of one contact per SIMD lane, then friction with the new normal multiplier. lambda
 * of a contact: one normal, three tangential numbers. Friction moves the vertices by their weights with levers: its
 * displacements are tangential, so that P is the identity. */
KERNEL_INLINE void contact_constrain_group(const sinew_constrain_kernel *kernel, int32_t group, const sinew_real *data,
                                           int n)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, n);
    const wide zero = wide_set(0), one = wide_set(1), mu = wide_load(data + SINEW_CONTACT_MU * SIMD_WIDTH);
    const wide averaging = kernel->averaging_weight ? wide_load(kernel->averaging_weight + group * SIMD_WIDTH) : one;
    const contact_parameters t = contact_load(data + SINEW_CONTACT_NORMAL * SIMD_WIDTH);
    sinew_real *memory = group_lambda(kernel, group, 4);
    wide w[WIDEST], z[3], move[3], stick[3];
    constrained c;
    constrain_gather(kernel->xw, vertex, n, &c);
    load_wide_array(data + SINEW_CONTACT_WEIGHTS * SIMD_WIDTH, n, w);
    wide inverse = contact_inverse(w, n, &c, wide_load(data), averaging);
    contact_constrained_z(w, n, &c, z);
    const wide before = wide_load(memory);
    const wide after = wide_max(zero, before + (t.r - dot3(t.n, z)) * inverse);
    for (int i = 0; i < 3; i++)
        move[i] = (after - before) * t.n[i];
    wide_store(memory, after);
    contact_push(kernel, vertex, w, n, move, &c);
    if (CONTACT_HAS_LEVERS(n)) {
        for (int a = 0; a < n; a++)
            w[a] += wide_load(data + (SINEW_CONTACT_WEIGHTS + n + a) * SIMD_WIDTH);
        inverse = contact_inverse(w, n, &c, wide_load(data), averaging);
    }
    contact_constrained_z(w, n, &c, z);
    const contact_state s = contact_state_at(&t, z);
    load_wide_array(memory + SIMD_WIDTH, 3, stick);
    wide wanted[3];
    for (int i = 0; i < 3; i++)
        wanted[i] = stick[i] - s.u[i] * inverse;
    const wide size = wide_max(wide_sqrt(dot3(wanted, wanted)), wide_set(WIDE_ROOT_TINY));
    const wide fraction = wide_min(one, mu * after / size);
    for (int i = 0; i < 3; i++) {
        move[i] = fraction * wanted[i] - stick[i];
        stick[i] = fraction * wanted[i];
    }
    store_wide_array(memory + SIMD_WIDTH, 3, stick);
    contact_push(kernel, vertex, w, n, move, &c);
}

KERNEL_INLINE void contact_constrain(const sinew_constrain_kernel *kernel, int n)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        contact_constrain_group(kernel, group, group_data(&kernel->groups, group, SINEW_CONTACT_DATA_COUNT_OF(n)), n);
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex in contact -------------------------- */

/* Data of one vertex-contact incidence. A contact of fewer than n vertices repeats its first vertex: the incidence
 * takes the sum of the vertex's weights, and repeated entries have weight zero. */
KERNEL_INLINE void contact_incidence(const sinew_real *data, const int32_t *particles, int node, int n, sinew_real *out,
                                     int32_t *others)
{
    double own = 0, lever = 0;
    for (int a = 0, k = 0; a < n; a++) {
        const bool same = particles[a] == particles[node];
        own += same ? (double)data[SINEW_CONTACT_WEIGHTS + a] : 0;
        lever += same && CONTACT_HAS_LEVERS(n) ? (double)data[SINEW_CONTACT_WEIGHTS + n + a] : 0;
        if (a == node)
            continue;
        others[k] = particles[a];
        out[CONTACT_INCIDENCE_OTHERS + k++] = same ? 0 : data[SINEW_CONTACT_WEIGHTS + a];
        if (CONTACT_HAS_LEVERS(n))
            out[CONTACT_INCIDENCE_OTHERS + n - 1 + k] = same ? 0 : data[SINEW_CONTACT_WEIGHTS + n + a];
    }
    if (CONTACT_HAS_LEVERS(n))
        out[CONTACT_INCIDENCE_OTHERS + n - 1] = (sinew_real)lever;
    out[0] = data[0];
    out[CONTACT_INCIDENCE_OWN] = (sinew_real)own;
    memcpy(out + CONTACT_INCIDENCE_NORMAL, data + SINEW_CONTACT_NORMAL, SINEW_CONTACT_SHAPE_COUNT * sizeof *out);
}

/* Relative position z of each contact, with the incidence's node at v->x; returns the weight of the node and sets its
 * lever. */
KERNEL_INLINE wide contact_incidence_z(const incidence *v, const wide normal[3], int n, wide z[3], wide *lever)
{
    const sinew_real *levers = v->data + (CONTACT_INCIDENCE_OTHERS + n - 1) * SIMD_WIDTH;
    const wide own = wide_load(v->data + CONTACT_INCIDENCE_OWN * SIMD_WIDTH);
    wide arm[3];
    *lever = CONTACT_HAS_LEVERS(n) ? wide_load(levers) : wide_set(0);
    for (int i = 0; i < 3; i++) {
        z[i] = own * v->x[i];
        arm[i] = *lever * v->x[i];
    }
    for (int a = 0; a < n - 1; a++) {
        const wide w = wide_load(v->data + (CONTACT_INCIDENCE_OTHERS + a) * SIMD_WIDTH);
        wide xa[3];
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            z[i] += w * xa[i];
        for (int i = 0; CONTACT_HAS_LEVERS(n) && i < 3; i++)
            arm[i] += wide_load(levers + (1 + a) * SIMD_WIDTH) * xa[i];
    }
    if (CONTACT_HAS_LEVERS(n))
        contact_add_across(normal, arm, wide_set(1), z);
    return own;
}

KERNEL_INLINE void contact_add(const incidence *v, int n, incidence_sum *sum)
{
    const wide scale = wide_load(v->data);
    const contact_parameters t = contact_load(v->data + CONTACT_INCIDENCE_NORMAL * SIMD_WIDTH);
    wide z[3], f[3], K[6], across[6], lever;
    const wide own = contact_incidence_z(v, t.n, n, z, &lever), factor = scale * own * own;
    const contact_state s = contact_state_at(&t, z);
    contact_force(&t, &s, f);
    contact_block(&t, &s, K);
    for (int i = 0; i < 3; i++)
        sum->g[i] += scale * own * f[i];
    for (int i = 0; i < 6; i++)
        sum->A[i] += factor * K[i];
    if (!CONTACT_HAS_LEVERS(n))
        return;
    contact_add_across(t.n, f, scale * lever, sum->g);
    contact_block_across(K, t.n, across);
    for (int i = 0; i < 6; i++)
        sum->A[i] += scale * (2 * own + lever) * lever * across[i];
}

KERNEL_INLINE wide contact_difference(const incidence *v, int n, const wide step[3], wide *noise)
{
    const contact_parameters t = contact_load(v->data + CONTACT_INCIDENCE_NORMAL * SIMD_WIDTH);
    wide z[3], lever;
    const wide own = contact_incidence_z(v, t.n, n, z, &lever);
    const contact_state before = contact_state_at(&t, z);
    for (int i = 0; i < 3; i++)
        z[i] += own * step[i];
    if (CONTACT_HAS_LEVERS(n))
        contact_add_across(t.n, step, lever, z);
    const contact_state after = contact_state_at(&t, z);
    const wide first = contact_psi(&t, &before), second = contact_psi(&t, &after);
    *noise = 8 * WIDE_EPSILON * (wide_abs(first) + wide_abs(second));
    return second - first;
}

#endif
