/* SPDX-License-Identifier: MIT
 *
 * weak.c: soft attachment of two weighted points, the weak constraint of PBNG.
 *
 *     C = sum_a w_a x_a      psi = 1/2 C^T K C      K = kn n n^T + kt (1 - n n^T)
 *     grad_a = w_a K C       H_ab = w_a w_b K
 *
 * PBNG (18), (19). The eight signed weights are the four of the first point (sum 1) and minus the four of the second. C
 * is the vector between the points, so a translation of both costs no energy. psi is quadratic, with a constant,
 * positive semi-definite Hessian. K does not rotate with the body: use the energy for one step, or with kn = kt. For
 * PD, psi is the squared distance to the origin if kn = kt; else k = max(kn, kt) bounds its curvature.
 */
#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/reduced_vector.h"
#include "energy/vertex_kernel.h"

/* Data of an attachment: scale 1, eight signed weights, the 3x3 stiffness K as 00 11 22 01 02 12, and k = max(kn,
 * kt). Tangent: eight weights, K. */
enum {
    DATA_WEIGHTS = 1,
    DATA_K = 9,
    DATA_K_MAX = 15,
    DATA_COUNT = 16,
    TANGENT_K = 8,
    TANGENT_COUNT = 14
};

/* data of a vertex-attachment incidence: scale, the node's weight, the seven other weights, 3x3 stiffness K */
enum {
    INCIDENCE_OWN = 1,
    INCIDENCE_OTHERS = 2,
    INCIDENCE_K = 9,
    INCIDENCE_DATA_COUNT = 15
};

static const sinew_parameter parameters[] = {
    {.name = "normal_stiffness",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_maximum = true,
     .meaning = "kn, force per distance along the normal"},
    {.name = "tangent_stiffness",
     .unit = "N/m",
     .minimum = 0,
     .maximum = INFINITY,
     .preset = 1000,
     .open_maximum = true,
     .meaning = "kt, force per distance across the normal"},
};

static const char *weak_prepare(const sinew_element *element, sinew_real *data)
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    const double kn = (double)element->parameters[0], kt = (double)element->parameters[1];
    data[0] = 1;
    for (int a = 0; a < 8; a++)
        data[DATA_WEIGHTS + a] = element->weights[a];
    for (int i = 0; i < 6; i++) {
        const double nn = (double)element->normal[row[i]] * (double)element->normal[column[i]];
        data[DATA_K + i] = (sinew_real)((kn - kt) * nn + (row[i] == column[i] ? kt : 0));
    }
    data[DATA_K_MAX] = (sinew_real)fmax(kn, kt);
    return NULL;
}

/* C = sum_a w_a x_a, the vector between the two attached points */
KERNEL_INLINE void separation(const sinew_real *x, const int32_t *vertex, const sinew_real *weights, wide C[3])
{
    for (int i = 0; i < 3; i++)
        C[i] = wide_set(0);
    for (int a = 0; a < 8; a++) {
        const wide w = wide_load(weights + a * SIMD_WIDTH);
        wide xa[3];
        wide_gather_point(x, vertex + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            C[i] += w * xa[i];
    }
}

/* f = K C with a symmetric 3x3 stiffness K stored as 00 11 22 01 02 12 */
KERNEL_INLINE void apply_stiffness(const sinew_real *stiffness, const wide C[3], wide f[3])
{
    wide K[6];
    load_wide_array(stiffness, 6, K);
    f[0] = K[0] * C[0] + K[3] * C[1] + K[4] * C[2];
    f[1] = K[3] * C[0] + K[1] * C[1] + K[5] * C[2];
    f[2] = K[4] * C[0] + K[5] * C[1] + K[2] * C[2];
}

/* Adds the attachment's gradient w_a f to g of each vertex a. */
KERNEL_INLINE void spread_gradient(sinew_real *g, const int32_t *vertex, const sinew_real *weights, const wide f[3])
{
    for (int a = 0; a < 8; a++) {
        const wide w = wide_load(weights + a * SIMD_WIDTH);
        const wide fa[3] = {w * f[0], w * f[1], w * f[2]};
        wide_scatter_point(g, vertex + a * SIMD_WIDTH, fa);
    }
}

static double weak_value(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide C[3], f[3];
        separation(kernel->x, group_vertex(&kernel->groups, group, 8), data + DATA_WEIGHTS * SIMD_WIDTH, C);
        apply_stiffness(data + DATA_K * SIMD_WIDTH, C, f);
        value_add(&sum, wide_load(data), wide_set((sinew_real)0.5) * (C[0] * f[0] + C[1] * f[1] + C[2] * f[2]));
    }
    return value_total(&sum);
}

static double weak_gradient(const sinew_kernel *kernel)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        const wide scale = wide_load(data);
        wide C[3], f[3];
        separation(kernel->x, vertex, data + DATA_WEIGHTS * SIMD_WIDTH, C);
        apply_stiffness(data + DATA_K * SIMD_WIDTH, C, f);
        value_add(&sum, scale, wide_set((sinew_real)0.5) * (C[0] * f[0] + C[1] * f[1] + C[2] * f[2]));
        for (int i = 0; i < 3; i++)
            f[i] *= scale;
        spread_gradient(kernel->g, vertex, data + DATA_WEIGHTS * SIMD_WIDTH, f);
    }
    return value_total(&sum);
}

static void weak_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        for (int a = 0; a < 8; a++)
            wide_store(tangent + a * SIMD_WIDTH, wide_load(data + (DATA_WEIGHTS + a) * SIMD_WIDTH));
        for (int i = 0; i < 6; i++)
            wide_store(tangent + (TANGENT_K + i) * SIMD_WIDTH,
                       wide_load(data) * wide_load(data + (DATA_K + i) * SIMD_WIDTH));
    }
}

static void weak_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        wide C[3], f[3];
        separation(kernel->p, vertex, tangent, C);
        apply_stiffness(tangent + TANGENT_K * SIMD_WIDTH, C, f);
        spread_gradient(kernel->g, vertex, tangent, f);
    }
}

static void weak_hessian(const sinew_kernel *kernel)
{
    static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, 36);
        wide w[8], K[6];
        load_wide_array(tangent, 8, w);
        load_wide_array(tangent + TANGENT_K * SIMD_WIDTH, 6, K);
        for (int a = 0; a < 8; a++)
            for (int b = 0; b <= a; b++)
                for (int i = 0; i < 9; i++)
                    wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH, w[a] * w[b] * K[entry[i]]);
    }
}

static void weak_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int a = 0; a < 8; a++)
            wide_store(kernel->D + (8 * (size_t)group + (size_t)a) * SIMD_WIDTH,
                       wide_load(group_data(&kernel->groups, group, DATA_COUNT) + (DATA_WEIGHTS + a) * SIMD_WIDTH));
}

/* Stiffness k = max(kn, kt) of PD's quadratic energy: exact if both are equal, else an upper bound
 * (energy/energy.h). */
static void weak_stiffness(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide_store(kernel->weights + group * SIMD_WIDTH, wide_load(data) * wide_load(data + DATA_K_MAX * SIMD_WIDTH));
    }
}

/* PD's projection: g += k D^T proj C, where C = D x is the vector between the two points, k proj C = k C - K C with
 * the 3x3 stiffness K, and k = max(kn, kt). */
static void weak_local_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        const wide scale = wide_load(data), k = wide_load(data + DATA_K_MAX * SIMD_WIDTH);
        wide C[3], f[3];
        separation(kernel->x, vertex, data + DATA_WEIGHTS * SIMD_WIDTH, C);
        apply_stiffness(data + DATA_K * SIMD_WIDTH, C, f);
        for (int i = 0; i < 3; i++)
            f[i] = scale * (k * C[i] - f[i]);
        spread_gradient(kernel->g, vertex, data + DATA_WEIGHTS * SIMD_WIDTH, f);
    }
}

/* ADMM's proximal map of the stiffness K: (K + w2 1) z = w2 y, solved by the cofactors of the symmetric 3x3 matrix. */
static void weak_local_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 8);
        const wide w2 = reduced_weight(kernel, group, wide_load(data));
        const wide one = wide_set(1), shift = wide_select(wide_eq(w2, wide_set(0)), one, w2);
        wide K[6], C[3], y[3], f[3];
        load_wide_array(data + DATA_K * SIMD_WIDTH, 6, K);
        separation(kernel->x, vertex, data + DATA_WEIGHTS * SIMD_WIDTH, C);
        reduced_shifted(kernel, group, C, y);
        for (int i = 0; i < 6; i++)
            K[i] = K[i] / shift + (sinew_real)(i < 3 ? 1 : 0);
        const wide c0 = K[1] * K[2] - K[5] * K[5], c3 = K[4] * K[5] - K[3] * K[2], c4 = K[3] * K[5] - K[1] * K[4];
        const wide c1 = K[0] * K[2] - K[4] * K[4], c5 = K[3] * K[4] - K[0] * K[5], c2 = K[0] * K[1] - K[3] * K[3];
        const wide det = K[0] * c0 + K[3] * c3 + K[4] * c4;
        const wide z[3] = {(c0 * y[0] + c3 * y[1] + c4 * y[2]) / det, (c3 * y[0] + c1 * y[1] + c5 * y[2]) / det,
                           (c4 * y[0] + c5 * y[1] + c2 * y[2]) / det};
        reduced_finish(kernel, group, w2, C, y, z, f);
        spread_gradient(kernel->g, vertex, data + DATA_WEIGHTS * SIMD_WIDTH, f);
    }
}

/* The attachment as one constraint: C = sqrt(c^T K c / k) with alpha = 1/k; c is the vector between the two points,
 * K the 3x3 stiffness. */
KERNEL_INLINE wide attachment_length(const sinew_real *data, bool as_energy, constrained *c, wide *r, wide *weight)
{
    const wide tiny = wide_set(WIDE_TINY), zero = wide_set(0), k = wide_load(data + DATA_K_MAX * SIMD_WIDTH);
    wide apart[3] = {zero, zero, zero}, f[3], w[8];
    load_wide_array(data + DATA_WEIGHTS * SIMD_WIDTH, 8, w);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++)
            apart[i] += w[a] * c->x[4 * a + i];
    apply_stiffness(data + DATA_K * SIMD_WIDTH, apart, f);
    for (int i = 0; i < 3; i++)
        f[i] /= wide_max(k, tiny);
    const wide twice = wide_max(apart[0] * f[0] + apart[1] * f[1] + apart[2] * f[2], zero), root = wide_sqrt(twice);
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++)
            c->gradient[3 * a + i] = w[a] * f[i];
    *weight = wide_load(data) * k;
    *r = as_energy ? wide_set(1) : wide_max(root, wide_set(WIDE_ROOT_TINY));
    return as_energy ? twice / 2 : root;
}

static void weak_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        single_constrain(kernel, group, DATA_COUNT, 8, attachment_length);
}

static void weak_jacobian(const sinew_jacobian_kernel *kernel)
{
    single_jacobian(kernel, DATA_COUNT, 8, attachment_length);
}

/* Second derivatives of the constraint C by the vector z = sum w_a x_a: (A - f f^T / C^2) / C, where A = K / k is
 * the scaled stiffness and f = A z; with SINEW_FORM_ENERGY only A. */
static void weak_curvature(const sinew_jacobian_kernel *kernel)
{
    const wide zero = wide_set(0), tiny = wide_set(WIDE_ROOT_TINY);
    const bool as_energy = kernel->form == SINEW_FORM_ENERGY;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const wide k = wide_load(data + DATA_K_MAX * SIMD_WIDTH), divisor = wide_max(k, wide_set(WIDE_TINY));
        const wide lambda = curvature_factor(kernel, group, 0, 1, wide_load(data) * k);
        wide w[8], A[6], z[3], f[3];
        load_wide_array(data + DATA_WEIGHTS * SIMD_WIDTH, 8, w);
        load_wide_array(data + DATA_K * SIMD_WIDTH, 6, A);
        separation(kernel->x, group_vertex(&kernel->groups, group, 8), data + DATA_WEIGHTS * SIMD_WIDTH, z);
        apply_stiffness(data + DATA_K * SIMD_WIDTH, z, f);
        const wide C = wide_sqrt(wide_max(dot3(z, f) / divisor, zero));
        const wide inverse = wide_select(wide_lt(tiny, C), 1 / wide_max(C, tiny), zero);
        for (int i = 0; i < 3; i++)
            f[i] *= inverse / divisor;
        for (int i = 0; i < 6; i++)
            A[i] *= (as_energy ? lambda : lambda * inverse) / divisor;
        block_add(A, zero, as_energy ? zero : -lambda * inverse, f);
        curvature_write(kernel, group, 8, w, A);
    }
}

/* Data of one vertex-attachment incidence. An attachment may contain a vertex more than once: the incidence takes the
 * sum of the vertex's weights, and repeated entries have weight zero. */
static void weak_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out, int32_t *others)
{
    double own = 0;
    for (int a = 0, k = 0; a < 8; a++) {
        const bool same = particles[a] == particles[node];
        own += same ? (double)data[DATA_WEIGHTS + a] : 0;
        if (a == node)
            continue;
        others[k] = particles[a];
        out[INCIDENCE_OTHERS + k++] = same ? 0 : data[DATA_WEIGHTS + a];
    }
    out[0] = data[0];
    out[INCIDENCE_OWN] = (sinew_real)own;
    memcpy(out + INCIDENCE_K, data + DATA_K, 6 * sizeof *out);
}

/* f = w K C, the gradient of psi at the incidence's node: w is the node's weight, K the 3x3 stiffness, C the vector
 * between the two points. Returns w. */
KERNEL_INLINE wide incidence_force(const incidence *v, wide f[3])
{
    const wide own = wide_load(v->data + INCIDENCE_OWN * SIMD_WIDTH);
    wide C[3] = {own * v->x[0], own * v->x[1], own * v->x[2]};
    for (int a = 0; a < 7; a++) {
        const wide w = wide_load(v->data + (INCIDENCE_OTHERS + a) * SIMD_WIDTH);
        wide xa[3];
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            C[i] += w * xa[i];
    }
    apply_stiffness(v->data + INCIDENCE_K * SIMD_WIDTH, C, f);
    for (int i = 0; i < 3; i++)
        f[i] *= own;
    return own;
}

/* Adds the gradient of the node and its Hessian block w^2 K, PBNG (34), with the node's weight w and the 3x3
 * stiffness K. */
KERNEL_INLINE void weak_add(const incidence *v, bool exact, incidence_sum *sum)
{
    (void)exact;
    const wide scale = wide_load(v->data);
    wide f[3], K[6];
    const wide own = incidence_force(v, f), factor = scale * own * own;
    load_wide_array(v->data + INCIDENCE_K * SIMD_WIDTH, 6, K);
    for (int i = 0; i < 3; i++)
        sum->g[i] += scale * f[i];
    for (int i = 0; i < 6; i++)
        sum->A[i] += factor * K[i];
}

KERNEL_INLINE wide weak_difference(const incidence *v, const wide step[3], wide *noise)
{
    wide f[3], along[3];
    const wide own = incidence_force(v, f), linear = dot3(f, step);
    apply_stiffness(v->data + INCIDENCE_K * SIMD_WIDTH, step, along);
    const wide square = wide_set((sinew_real)0.5) * own * own * dot3(along, step);
    *noise = 4 * WIDE_EPSILON * (wide_abs(linear) + square);
    return linear + square;
}

static void weak_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 7, INCIDENCE_DATA_COUNT, weak_add);
}

static void weak_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 7, INCIDENCE_DATA_COUNT, weak_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_weak) = {
    .info = {.name = "weak",
             .summary = "1/2 C^T K C, C the vector between two weighted points",
             .stencil = SINEW_STENCIL_PAIR,
             .vertex_count = 8,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_PROJECT | SINEW_CAN_PROX | SINEW_CAN_VERTEX |
                             SINEW_CAN_REDUCE | SINEW_CAN_JACOBIAN},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .rigid_cost = SINEW_COSTS_ROTATION,
    .prepare = weak_prepare,
    .value = weak_value,
    .gradient = weak_gradient,
    .linearise = weak_linearise,
    .product = weak_product,
    .hessian = weak_hessian,
    .reduced_count = 1,
    .reduce = weak_reduce,
    .stiffness = weak_stiffness,
    .local_project = weak_local_project,
    .local_prox = weak_local_prox,
    .constraint_count = 1,
    .constrain = weak_constrain,
    .jacobian = weak_jacobian,
    .rooted = true,
    .curvature = weak_curvature,
    .other_count = 7,
    .incidence_data_count = INCIDENCE_DATA_COUNT,
    .incidence = weak_incidence,
    .vertex = weak_vertex,
    .vertex_change = weak_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
