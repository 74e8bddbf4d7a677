/* SPDX-License-Identifier: MIT
 *
 * contact.c: two surfaces that keep apart, and stick where they touch: one contact.
 *
 *     z = sum_a w_a x_a                                           weights + on one side, - on the other
 *     normal    psi_n = (max(0, lambda + kn (r - n.z))^2 - lambda^2) / (2 kn)       augmented Lagrangian
 *     friction  u = P (z - a),  P = 1 - n n^T
 *               phi   = kt/2 |u|^2              while kt |u| <= L        sticks
 *                     = L (|u| - L / (2 kt))    else                     slides
 *
 * r is the offset, lambda (N) the multiplier, L = mu lambda+ (N) what friction can bear, a the anchor; the solver's
 * owner renews them between iterations (src/world/contact_forces.c). A side that is not a body's (a collider) has no
 * vertices: where it is enters r and a. Of the second derivatives the block while sliding is the true one, L/|u|
 * (P - u u^T / |u|^2): with L/|u| P slip grows by a part of itself each iteration. All blocks are semi-definite. PD
 * takes it as bounded by k = max(kn, kt) (energy.h).
 *
 * As a constraint (XPBD, PBD) it is hard: n.z >= r with a multiplier >= 0, and tangent multipliers of at most mu times
 * it towards u = 0; kn, kt, lambda and L play no part.
 *
 * Not in the table of energies: elements come from detection alone (src/contact).
 */
#include "energy/constrain.h"
#include "energy/contact_data.h"
#include "energy/reduced_rows.h"
#include "energy/vertex_kernel.h"

enum {
    VERTICES = SINEW_CONTACT_VERTICES,
    DATA_COUNT = SINEW_CONTACT_DATA_COUNT,
    TANGENT_K = VERTICES, /* weights, then K as 00 11 22 01 02 12 */
    TANGENT_COUNT = VERTICES + 6,
    /* data of a visit: scale, the node's weight, those of the others, then the contact's from its normal to its anchor
     */
    VISIT_OWN = 1,
    VISIT_OTHERS = 2,
    VISIT_NORMAL = VISIT_OTHERS + VERTICES - 1,
    VISIT_DATA_COUNT = VISIT_NORMAL + SINEW_CONTACT_SHAPE_COUNT
};

static const char *contact_prepare(const sinew_element *element, sinew_real *data)
{
    (void)element;
    memset(data, 0, DATA_COUNT * sizeof *data);
    return NULL;
}

/* ---- The function of z ------------------------------------------------------------------------ */

/* A contact as its energy needs it, from SINEW_CONTACT_NORMAL on. */
typedef struct touch {
    lane n[3], r, lambda, kn, kt, limit, anchor[3];
} touch;

KERNEL_INLINE touch touch_load(const sinew_real *shape)
{
    touch t;
    load_lanes(shape, 3, t.n);
    t.r = lane_load(shape + 3 * LANES);
    t.lambda = lane_load(shape + 4 * LANES);
    t.kn = lane_load(shape + 5 * LANES);
    t.kt = lane_load(shape + 6 * LANES);
    t.limit = lane_load(shape + 7 * LANES);
    load_lanes(shape + 8 * LANES, 3, t.anchor);
    return t;
}

/* What z means: the normal force, and the slip with its length. */
typedef struct touch_state {
    lane force;      /* max(0, lambda + kn (r - n.z)) */
    lane u[3], slip; /* slip >= LANE_ROOT_TINY */
    lane_mask sticks;
} touch_state;

KERNEL_INLINE touch_state touch_at(const touch *t, const lane z[3])
{
    touch_state s;
    lane d[3];
    s.force = lane_max(lane_set(0), t->lambda + t->kn * (t->r - dot3(t->n, z)));
    for (int i = 0; i < 3; i++)
        d[i] = z[i] - t->anchor[i];
    const lane along = dot3(t->n, d);
    for (int i = 0; i < 3; i++)
        s.u[i] = d[i] - along * t->n[i];
    s.slip = lane_max(lane_sqrt(dot3(s.u, s.u)), lane_set(LANE_ROOT_TINY));
    s.sticks = lane_le(t->kt * s.slip, t->limit);
    return s;
}

/* The factor of u in the friction: kt, or L/|u|. */
KERNEL_INLINE lane touch_hold(const touch *t, const touch_state *s)
{
    return lane_select(s->sticks, t->kt, t->limit / s->slip);
}

KERNEL_INLINE lane positive(lane k)
{
    return lane_max(k, lane_set(LANE_TINY));
}

KERNEL_INLINE lane touch_psi(const touch *t, const touch_state *s)
{
    const lane half = lane_set((sinew_real)0.5);
    const lane normal = half * (s->force - t->lambda) * ((s->force + t->lambda) / positive(t->kn));
    const lane stuck = half * t->kt * s->slip * s->slip;
    const lane slid = t->limit * (s->slip - half * t->limit / positive(t->kt));
    return normal + lane_select(s->sticks, stuck, slid);
}

/* f = psi'(z) */
KERNEL_INLINE void touch_force(const touch *t, const touch_state *s, lane f[3])
{
    const lane hold = touch_hold(t, s);
    for (int i = 0; i < 3; i++)
        f[i] = hold * s->u[i] - s->force * t->n[i];
}

/* K = psi''(z): active kn n n^T + hold (1 - n n^T) - (slides) hold u u^T / |u|^2 */
KERNEL_INLINE void touch_block(const touch *t, const touch_state *s, lane K[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const lane zero = lane_set(0), hold = touch_hold(t, s);
    const lane active = lane_select(lane_lt(zero, s->force), t->kn, zero) - hold;
    const lane along = lane_select(s->sticks, zero, hold / (s->slip * s->slip));
    for (int i = 0; i < 6; i++)
        K[i] = active * t->n[row[i]] * t->n[column[i]] - along * s->u[row[i]] * s->u[column[i]] +
               (row[i] == column[i] ? hold : zero);
}

/* ---- Elements --------------------------------------------------------------------------------- */

KERNEL_INLINE void gather_z(const sinew_real *x, const int32_t *vertex, const sinew_real *weights, lane z[3])
{
    for (int i = 0; i < 3; i++)
        z[i] = lane_set(0);
    for (int a = 0; a < VERTICES; a++) {
        const lane w = lane_load(weights + a * LANES);
        lane xa[3];
        lane_gather_point(x, vertex + a * LANES, xa);
        for (int i = 0; i < 3; i++)
            z[i] += w * xa[i];
    }
}

/* g_a += w_a f */
KERNEL_INLINE void spread(sinew_real *g, const int32_t *vertex, const sinew_real *weights, const lane f[3])
{
    for (int a = 0; a < VERTICES; a++) {
        const lane w = lane_load(weights + a * LANES);
        const lane fa[3] = {w * f[0], w * f[1], w * f[2]};
        lane_scatter_point(g, vertex + a * LANES, fa);
    }
}

KERNEL_INLINE touch_state element_state(const sinew_groups *groups, const sinew_real *x, int32_t group, touch *t)
{
    const sinew_real *data = group_data(groups, group, DATA_COUNT);
    lane z[3];
    *t = touch_load(data + SINEW_CONTACT_NORMAL * LANES);
    gather_z(x, group_vertex(groups, group, VERTICES), data + SINEW_CONTACT_WEIGHTS * LANES, z);
    return touch_at(t, z);
}

static double contact_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        touch t;
        const touch_state s = element_state(&kernel->groups, kernel->x, group, &t);
        value_add(&sum, lane_load(group_data(&kernel->groups, group, DATA_COUNT)), touch_psi(&t, &s));
    }
    return value_total(&sum);
}

static double contact_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const lane scale = lane_load(data);
        touch t;
        lane f[3];
        const touch_state s = element_state(&kernel->groups, kernel->x, group, &t);
        value_add(&sum, scale, touch_psi(&t, &s));
        touch_force(&t, &s, f);
        for (int i = 0; i < 3; i++)
            f[i] *= scale;
        spread(kernel->g, group_vertex(&kernel->groups, group, VERTICES), data + SINEW_CONTACT_WEIGHTS * LANES, f);
    }
    return value_total(&sum);
}

static void contact_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        touch t;
        lane K[6];
        const touch_state s = element_state(&kernel->groups, kernel->x, group, &t);
        touch_block(&t, &s, K);
        for (int a = 0; a < VERTICES; a++)
            lane_store(tangent + a * LANES, lane_load(data + (SINEW_CONTACT_WEIGHTS + a) * LANES));
        for (int i = 0; i < 6; i++)
            lane_store(tangent + (TANGENT_K + i) * LANES, lane_load(data) * K[i]);
    }
}

/* f = K z, K from six numbers */
KERNEL_INLINE void multiply_block(const lane K[6], const lane z[3], lane f[3])
{
    f[0] = K[0] * z[0] + K[3] * z[1] + K[4] * z[2];
    f[1] = K[3] * z[0] + K[1] * z[1] + K[5] * z[2];
    f[2] = K[4] * z[0] + K[5] * z[1] + K[2] * z[2];
}

static void contact_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTICES);
        lane z[3], f[3], K[6];
        gather_z(kernel->p, vertex, tangent, z);
        load_lanes(tangent + TANGENT_K * LANES, 6, K);
        multiply_block(K, z, f);
        spread(kernel->g, vertex, tangent, f);
    }
}

static void contact_hessian(const sinew_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, VERTICES * (VERTICES + 1) / 2);
        lane w[VERTICES], K[6];
        load_lanes(tangent, VERTICES, w);
        load_lanes(tangent + TANGENT_K * LANES, 6, K);
        for (int a = 0; a < VERTICES; a++)
            for (int b = 0; b <= a; b++)
                for (int i = 0; i < 9; i++)
                    lane_store(blocks + (block_index(a, b) * 9 + i) * LANES, w[a] * w[b] * K[entry[i]]);
    }
}

/* ---- Reduced coordinates ----------------------------------------------------------------------- */

static void contact_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < VERTICES; a++)
            lane_store(kernel->rows + (VERTICES * (size_t)group + (size_t)a) * LANES,
                       lane_load(group_data(&kernel->groups, group, DATA_COUNT) + (SINEW_CONTACT_WEIGHTS + a) * LANES));
}

static void contact_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const lane k = lane_max(lane_load(data + SINEW_CONTACT_KN * LANES), lane_load(data + SINEW_CONTACT_KT * LANES));
        lane_store(kernel->weights + group * LANES, lane_load(data) * k);
    }
}

/* g += D^T (k z - psi'(z)) */
static void contact_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTICES);
        const lane scale = lane_load(data);
        touch t;
        lane z[3], f[3];
        const touch_state s = element_state(&kernel->groups, kernel->x, group, &t);
        gather_z(kernel->x, vertex, data + SINEW_CONTACT_WEIGHTS * LANES, z);
        touch_force(&t, &s, f);
        for (int i = 0; i < 3; i++)
            f[i] = scale * (lane_max(t.kn, t.kt) * z[i] - f[i]);
        spread(kernel->g, vertex, data + SINEW_CONTACT_WEIGHTS * LANES, f);
    }
}

/* argmin psi(z) + w2/2 |z - y|^2: along the normal, then across it, where the minimum lies on the way from the anchor
 * to y: kt |u| = kt w2 |y_u| / (kt + w2) while that is at most L, else L/w2 nearer to the anchor than y. */
KERNEL_INLINE void touch_prox(const touch *t, lane w2, const lane y[3], lane z[3])
{
    const touch_state s = touch_at(t, y);
    const lane along = dot3(t->n, y), bottom = positive(w2 + t->kn);
    const lane_mask active = lane_lt(lane_set(0), s.force);
    const lane normal = lane_select(active, (w2 * along + t->lambda + t->kn * t->r) / bottom, along);
    const lane part = w2 / positive(w2 + t->kt);
    const lane_mask sticks = lane_le(t->kt * part * s.slip, t->limit);
    const lane left = lane_select(sticks, part, 1 - t->limit / positive(w2 * s.slip));
    const lane anchored = dot3(t->n, t->anchor);
    for (int i = 0; i < 3; i++)
        z[i] = (normal - anchored) * t->n[i] + t->anchor[i] + left * s.u[i];
}

static void contact_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, VERTICES);
        const lane w2 = row_weight(kernel, group, lane_load(data));
        const touch t = touch_load(data + SINEW_CONTACT_NORMAL * LANES);
        lane C[3], y[3], z[3], f[3];
        gather_z(kernel->x, vertex, data + SINEW_CONTACT_WEIGHTS * LANES, C);
        row_shifted(kernel, group, C, y);
        touch_prox(&t, w2, y, z);
        row_finish(kernel, group, w2, C, y, z, f);
        spread(kernel->g, vertex, data + SINEW_CONTACT_WEIGHTS * LANES, f);
    }
}

/* ---- As a hard constraint ---------------------------------------------------------------------- */

/* x_a += w_a / m_a move */
KERNEL_INLINE void push(const sinew_constrain_kernel *kernel, const int32_t *vertex, const lane w[VERTICES],
                        const lane move[3], constrained *c)
{
    sinew_real *to = kernel->dx ? kernel->dx : kernel->xw;
    for (int a = 0; a < VERTICES; a++) {
        const lane factor = w[a] * c->x[4 * a + 3];
        lane dx[3];
        for (int i = 0; i < 3; i++) {
            dx[i] = factor * move[i];
            c->x[4 * a + i] += dx[i];
        }
        lane_scatter_point(to, vertex + a * LANES, dx);
    }
}

KERNEL_INLINE void constrained_z(const lane w[VERTICES], const constrained *c, lane z[3])
{
    for (int i = 0; i < 3; i++) {
        z[i] = lane_set(0);
        for (int a = 0; a < VERTICES; a++)
            z[i] += w[a] * c->x[4 * a + i];
    }
}

/* The normal first, then friction with what the normal now bears. lambda: normal, then three of the tangent. */
KERNEL_INLINE void constrain_touch(const sinew_constrain_kernel *kernel, int32_t group, const sinew_real *data)
{
    const int32_t *vertex = group_vertex(&kernel->groups, group, VERTICES);
    const lane zero = lane_set(0), one = lane_set(1), mu = lane_load(data + SINEW_CONTACT_MU * LANES);
    const lane share = kernel->share ? lane_load(kernel->share + group * LANES) : one;
    const touch t = touch_load(data + SINEW_CONTACT_NORMAL * LANES);
    sinew_real *memory = group_lambda(kernel, group, 4);
    lane w[VERTICES], z[3], move[3], mass = zero, held[3];
    constrained c;
    constrain_gather(kernel->xw, vertex, VERTICES, &c);
    load_lanes(data + SINEW_CONTACT_WEIGHTS * LANES, VERTICES, w);
    for (int a = 0; a < VERTICES; a++)
        mass += w[a] * w[a] * c.x[4 * a + 3];
    const lane_mask acts = lane_lt(zero, lane_load(data)) & lane_lt(zero, mass);
    const lane inverse = lane_select(acts, share / lane_select(acts, mass, one), zero);
    constrained_z(w, &c, z);
    const lane before = lane_load(memory);
    const lane after = lane_max(zero, before + (t.r - dot3(t.n, z)) * inverse);
    for (int i = 0; i < 3; i++)
        move[i] = (after - before) * t.n[i];
    lane_store(memory, after);
    push(kernel, vertex, w, move, &c);
    constrained_z(w, &c, z);
    const touch_state s = touch_at(&t, z);
    load_lanes(memory + LANES, 3, held);
    lane wanted[3];
    for (int i = 0; i < 3; i++)
        wanted[i] = held[i] - s.u[i] * inverse;
    const lane size = lane_max(lane_sqrt(dot3(wanted, wanted)), lane_set(LANE_ROOT_TINY));
    const lane part = lane_min(one, mu * after / size);
    for (int i = 0; i < 3; i++) {
        move[i] = part * wanted[i] - held[i];
        held[i] = part * wanted[i];
    }
    store_lanes(memory + LANES, 3, held);
    push(kernel, vertex, w, move, &c);
}

static void contact_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        constrain_touch(kernel, group, group_data(&kernel->groups, group, DATA_COUNT));
}

/* ---- One vertex ---------------------------------------------------------------------------------- */

/* A contact repeats its first vertex where it has fewer than four: its weight is the sum, its other places have none.
 */
static void contact_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    double own = 0;
    for (int a = 0, k = 0; a < VERTICES; a++) {
        const bool same = particles[a] == particles[node];
        own += same ? (double)data[SINEW_CONTACT_WEIGHTS + a] : 0;
        if (a == node)
            continue;
        others[k] = particles[a];
        out[VISIT_OTHERS + k++] = same ? 0 : data[SINEW_CONTACT_WEIGHTS + a];
    }
    out[0] = data[0];
    out[VISIT_OWN] = (sinew_real)own;
    memcpy(out + VISIT_NORMAL, data + SINEW_CONTACT_NORMAL, SINEW_CONTACT_SHAPE_COUNT * sizeof *out);
}

/* z with the node at v->x; returns the node's weight */
KERNEL_INLINE lane visit_z(const visit *v, lane z[3])
{
    const lane own = lane_load(v->data + VISIT_OWN * LANES);
    for (int i = 0; i < 3; i++)
        z[i] = own * v->x[i];
    for (int a = 0; a < VERTICES - 1; a++) {
        const lane w = lane_load(v->data + (VISIT_OTHERS + a) * LANES);
        lane xa[3];
        lane_gather_point(v->q, v->others + a * LANES, xa);
        for (int i = 0; i < 3; i++)
            z[i] += w * xa[i];
    }
    return own;
}

KERNEL_INLINE void contact_add(const visit *v, bool exact, visit_sum *sum)
{
    (void)exact;
    const lane scale = lane_load(v->data);
    const touch t = touch_load(v->data + VISIT_NORMAL * LANES);
    lane z[3], f[3], K[6];
    const lane own = visit_z(v, z), factor = scale * own * own;
    const touch_state s = touch_at(&t, z);
    touch_force(&t, &s, f);
    touch_block(&t, &s, K);
    for (int i = 0; i < 3; i++)
        sum->g[i] += scale * own * f[i];
    for (int i = 0; i < 6; i++)
        sum->A[i] += factor * K[i];
}

KERNEL_INLINE lane contact_difference(const visit *v, const lane step[3], lane *noise)
{
    const touch t = touch_load(v->data + VISIT_NORMAL * LANES);
    lane z[3];
    const lane own = visit_z(v, z);
    const touch_state before = touch_at(&t, z);
    for (int i = 0; i < 3; i++)
        z[i] += own * step[i];
    const touch_state after = touch_at(&t, z);
    const lane first = touch_psi(&t, &before), second = touch_psi(&t, &after);
    *noise = 8 * LANE_EPSILON * (lane_abs(first) + lane_abs(second));
    return second - first;
}

static void contact_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, VERTICES - 1, VISIT_DATA_COUNT, contact_add);
}

static void contact_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, VERTICES - 1, VISIT_DATA_COUNT, contact_difference);
}

extern const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_contact);
const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_contact) = {
    .info = {.name = "contact",
             .summary = "surfaces that keep apart and stick where they touch",
             .stencil = SINEW_STENCIL_PAIR,
             .vertex_count = VERTICES,
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                             SINEW_CAN_REDUCE},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .rigid_cost = SINEW_COSTS_TRANSLATION | SINEW_COSTS_ROTATION,
    .contact = true,
    .prepare = contact_prepare,
    .value = contact_value,
    .gradient = contact_gradient,
    .linearise = contact_linearise,
    .product = contact_product,
    .hessian = contact_hessian,
    .row_count = 1,
    .reduce = contact_reduce,
    .stiffness = contact_stiffness,
    .local_project = contact_local_project,
    .local_prox = contact_local_prox,
    .constraint_count = 4,
    .constrain = contact_constrain,
    .other_count = VERTICES - 1,
    .visit_data_count = VISIT_DATA_COUNT,
    .visit = contact_visit,
    .vertex = contact_vertex,
    .vertex_change = contact_vertex_change,
};
