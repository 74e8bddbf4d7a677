/* SPDX-License-Identifier: MIT
 *
 * fibre_strain.c: strain of tets along one direction, free between limits.
 *
 *     psi = k/2 (|F a| - s)^2,  s = |F a| clamped to [minimum, maximum],  a a unit vector of the rest shape
 *
 * psi is the squared distance of F to the matrices T with |T a| between the limits (Bouaziz et al. 2014, (16), for the
 * anisotropic sets of 5.1); the nearest is T = F + (s - |F a|) n a^T with n = F a / |F a|. Used beside strain_limit,
 * which is isotropic, it gives the direction a limits of its own. Several of these energies model several families of
 * fibres: the nearest point of the intersection of their sets has no closed form, so the energies are separate.
 *
 * F a = sum m_a x_a with m = Dm^-1 a, so a tet acts like an edge between weighted points (edge/edge.h). If |F a| = 0,
 * the direction is undefined, as for edges.
 */
#include "energy/tet/tet.h"

#define EDGE_DATA TET_MATERIAL
#include "energy/direction.h"
#include "energy/edge/edge.h"
#include "energy/limits.h"

/* Data of an element: weight and inverse rest shape L like every tet, the limits of the fibre stretch |F a|, and the
 * coefficients m in F a = sum m x of all vertices except the first. A vertex-tet incidence stores m of its node and
 * of the other vertices instead of L. */
enum {
    FIBRE_M = EDGE_GREATEST + 1,
    DATA_COUNT = FIBRE_M + 3,
    TANGENT_M = EDGE_TANGENT_COUNT,
    TANGENT_COUNT = EDGE_TANGENT_COUNT + 3,
    INCIDENCE_M = 1,
    INCIDENCE_COUNT = EDGE_GREATEST + 1
};
enum {
    STIFFNESS = 0,
    MINIMUM = 1,
    MAXIMUM = 2,
    DIRECTION = 3
}; /* indices of the parameters of the energy fibre_strain */

static const sinew_parameter parameters[] = {
    LIMITS_STIFFNESS_PARAMETER,
    LIMITS_PARAMETER("minimum", "least stretch along the direction that costs nothing; not above maximum", 1),
    LIMITS_PARAMETER("maximum", "greatest stretch along the direction that costs nothing; not below minimum", 1),
    DIRECTION_PARAMETERS,
};

static const char *fibre_strain_prepare(const sinew_element *element, sinew_real *data)
{
    double Q[9], a[3], turned[3];
    const char *refusal = limits_refusal(element, parameters, MINIMUM, MAXIMUM);
    if (!refusal)
        refusal = direction_of(element, DIRECTION, a);
    if (!refusal)
        refusal = sinew_tet_prepare(element, (double)element->parameters[STIFFNESS], data, Q);
    if (refusal)
        return refusal;
    direction_turn(Q, a, turned);
    data[EDGE_LENGTH] = element->parameters[MINIMUM];
    data[EDGE_GREATEST] = element->parameters[MAXIMUM];
    /* m = L Q^T a: weights of the tet's three edges in the fibre vector F a, a the fibre direction; L and Q as in
     * tet.h */
    for (int row = 0, at = TET_LOWER; row < 3; row++) {
        double m = 0;
        for (int i = 0; i <= row; i++, at++)
            m += (double)data[at] * turned[i];
        data[FIBRE_M + row] = (sinew_real)m;
    }
    return NULL;
}

static const int fibre_other_vertices[3] = {1, 2, 3}; /* indices of the tet's vertices except the first */

/* z = F a = sum m_a (x_a - x_0), the deformed fibre direction */
KERNEL_INLINE void fibre_gather(const sinew_real *x, const int32_t *vertex, const wide m[3], wide z[3])
{
    wide edge[3][3];
    wide_gather_edges(x, vertex, fibre_other_vertices, 3, edge);
    for (int i = 0; i < 3; i++)
        z[i] = m[0] * edge[0][i] + m[1] * edge[1][i] + m[2] * edge[2][i];
}

/* Computes the deformed fibre vectors z = F a of a group and loads m; returns |z|. */
KERNEL_INLINE wide fibre_span(const sinew_groups *groups, int32_t group, const sinew_real *x, wide m[3], wide z[3])
{
    load_wide_array(group_data(groups, group, DATA_COUNT) + FIBRE_M * SIMD_WIDTH, 3, m);
    fibre_gather(x, group_vertex(groups, group, 4), m, z);
    return wide_sqrt(dot3(z, z));
}

/* Adds to the gradient g of the vertices that of a function of the fibre vector z = F a, whose gradient by z is f. */
KERNEL_INLINE void fibre_scatter(sinew_real *g, const int32_t *vertex, const wide m[3], const wide f[3])
{
    wide force[3][3];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < 3; i++)
            force[a][i] = m[a] * f[i];
    wide_scatter_balanced(g, vertex, fibre_other_vertices, 3, (const wide(*)[3])force);
}

KERNEL_INLINE double fibre_evaluate(const sinew_kernel *kernel, bool scatter)
{
    value_sum sum = {0};
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const wide k = wide_load(data);
        wide m[3], z[3];
        const wide l = fibre_span(&kernel->groups, group, kernel->x, m, z), stretch = l - edge_target(data, true, l);
        if (scatter) {
            const wide force_density = k * stretch / wide_max(l, wide_set(WIDE_ROOT_TINY));
            for (int i = 0; i < 3; i++)
                z[i] *= force_density;
            fibre_scatter(kernel->g, group_vertex(&kernel->groups, group, 4), m, z);
        }
        value_add(&sum, k, (sinew_real)0.5 * stretch * stretch);
    }
    return value_total(&sum);
}

static double fibre_strain_value(const sinew_kernel *kernel)
{
    return fibre_evaluate(kernel, false);
}

static double fibre_strain_gradient(const sinew_kernel *kernel)
{
    return fibre_evaluate(kernel, true);
}

/* The tangent of an element is the 3x3 Hessian by z = F a, then the three weights m. */
static void fibre_strain_linearise(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        wide m[3], z[3], H[EDGE_TANGENT_COUNT];
        const wide l = fibre_span(&kernel->groups, group, kernel->x, m, z);
        edge_block(group_data(&kernel->groups, group, DATA_COUNT), true, kernel->project, l, z, H);
        store_wide_array(tangent, EDGE_TANGENT_COUNT, H);
        store_wide_array(tangent + TANGENT_M * SIMD_WIDTH, 3, m);
    }
}

static void fibre_strain_product(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        wide H[EDGE_TANGENT_COUNT], m[3], z[3], f[3];
        load_wide_array(tangent, EDGE_TANGENT_COUNT, H);
        load_wide_array(tangent + TANGENT_M * SIMD_WIDTH, 3, m);
        fibre_gather(kernel->p, vertex, m, z);
        edge_apply(H, z, f);
        fibre_scatter(kernel->g, vertex, m, f);
    }
}

static void fibre_strain_hessian(const sinew_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *tangent = group_tangent(kernel, group, TANGENT_COUNT);
        sinew_real *blocks = group_blocks(kernel, group, 10);
        wide H[EDGE_TANGENT_COUNT], m[4];
        load_wide_array(tangent, EDGE_TANGENT_COUNT, H);
        load_wide_array(tangent + TANGENT_M * SIMD_WIDTH, 3, m + 1);
        m[0] = -(m[1] + m[2] + m[3]);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++)
                for (int i = 0; i < 9; i++)
                    wide_store(blocks + (block_index(a, b) * 9 + i) * SIMD_WIDTH, m[a] * m[b] * H[edge_entry[i]]);
    }
}

static void fibre_strain_determinants(const sinew_kernel *kernel, double *smallest, double *largest, int32_t *inverted)
{
    tet_determinants(kernel, DATA_COUNT, smallest, largest, inverted);
}

/* ---- Fibres in reduced coordinates, for PD and ADMM ---------------------------------------------- */

static void fibre_strain_reduce(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        sinew_real *rows = kernel->D + (size_t)group * 4 * SIMD_WIDTH;
        wide m[3];
        load_wide_array(group_data(&kernel->groups, group, DATA_COUNT) + FIBRE_M * SIMD_WIDTH, 3, m);
        wide_store(rows, -(m[0] + m[1] + m[2]));
        store_wide_array(rows + SIMD_WIDTH, 3, m);
    }
}

static void fibre_strain_stiffness(const sinew_reduced_kernel *kernel)
{
    edge_stiffness(kernel, DATA_COUNT);
}

static void fibre_strain_project(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        wide m[3], z[3];
        const wide l = fibre_span(&kernel->groups, group, kernel->x, m, z);
        const wide force_density = wide_load(data) * edge_target(data, true, l) / wide_max(l, wide_set(WIDE_ROOT_TINY));
        for (int i = 0; i < 3; i++)
            z[i] *= force_density;
        fibre_scatter(kernel->g, group_vertex(&kernel->groups, group, 4), m, z);
    }
}

static void fibre_strain_prox(const sinew_reduced_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        wide m[3], z[3], f[3];
        fibre_span(&kernel->groups, group, kernel->x, m, z);
        edge_prox_at(kernel, group, group_data(&kernel->groups, group, DATA_COUNT), true, z, f);
        fibre_scatter(kernel->g, group_vertex(&kernel->groups, group, 4), m, f);
    }
}

/* ---- Fibre stretch as a constraint, for PBD, XPBD and KKT systems -------------------------------- */

/* Writes r times the gradient of |F a| to c, r = |F a| or its lower bound near zero; returns |F a|. *w = sum_a w_a
 * m_a^2 with inverse masses w_a. */
KERNEL_INLINE wide fibre_length_of(const sinew_real *data, constrained *c, wide *r, wide *w)
{
    wide m[4], z[3] = {wide_set(0), wide_set(0), wide_set(0)};
    load_wide_array(data + FIBRE_M * SIMD_WIDTH, 3, m + 1);
    m[0] = -(m[1] + m[2] + m[3]);
    *w = c->x[3] * m[0] * m[0];
    for (int a = 1; a < 4; a++) {
        *w += c->x[4 * a + 3] * m[a] * m[a];
        for (int i = 0; i < 3; i++)
            z[i] += m[a] * (c->x[4 * a + i] - c->x[i]);
    }
    const wide l = wide_sqrt(dot3(z, z));
    /* A fibre stretch that is not finite has no direction: the gradient is zero, and the lower limit is returned. */
    const wide_mask known = wide_le(l, wide_set(WIDE_HUGE));
    for (int i = 0; i < 12; i++)
        c->gradient[i] = wide_select(known, m[i / 3] * z[i % 3], wide_set(0));
    *r = wide_select(known, wide_max(l, wide_set(WIDE_ROOT_TINY)), wide_set(1));
    return wide_select(known, l, wide_load(data + EDGE_LENGTH * SIMD_WIDTH));
}

static void fibre_strain_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        sinew_real *lambda = group_lambda(kernel, group, 1);
        constrained c;
        wide r, w;
        constrain_gather(kernel->xw, vertex, 4, &c);
        const wide l = fibre_length_of(data, &c, &r, &w);
        const wide p = edge_constraint_target(kernel, data, true, l, w, wide_load(lambda));
        const wide C = edge_constraint(kernel->form == SINEW_FORM_ENERGY, 12, l - p, &c);
        constrain_apply(kernel, group, vertex, 4, C, r, wide_load(data), false, lambda, &c);
    }
}

static void fibre_strain_jacobian(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        wide r, w;
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        const wide l = fibre_length_of(data, &c, &r, &w);
        edge_jacobian_at(kernel, group, 4, data, true, l, r, &c);
    }
}

static void fibre_strain_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        wide m[4], z[3];
        const wide l = fibre_span(&kernel->groups, group, kernel->x, m + 1, z);
        m[0] = -(m[1] + m[2] + m[3]);
        edge_curvature_at(kernel, group, 4, group_data(&kernel->groups, group, DATA_COUNT), true, l, z, m);
    }
}

/* ---- Vertex kernel: gradient and Hessian block of one vertex ------------------------------------- */

static void fibre_strain_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                   int32_t *others)
{
    const sinew_real *m = data + FIBRE_M, first = -(m[0] + m[1] + m[2]);
    memcpy(out, data, INCIDENCE_COUNT * sizeof *out);
    out[INCIDENCE_M] = node > 0 ? m[node - 1] : first;
    for (int a = 0, k = 0; a < 4; a++)
        if (a != node) {
            out[INCIDENCE_M + 1 + k] = a > 0 ? m[a - 1] : first;
            others[k++] = particles[a];
        }
}

/* Fibre vector z = F a computed from positions relative to the incidence's node, and coefficient m of the node
 * (*own); returns |z|. */
KERNEL_INLINE wide fibre_incidence_span(const incidence *v, wide *own, wide z[3])
{
    *own = wide_load(v->data + INCIDENCE_M * SIMD_WIDTH);
    for (int i = 0; i < 3; i++)
        z[i] = wide_set(0);
    for (int a = 0; a < 3; a++) {
        const wide m = wide_load(v->data + (INCIDENCE_M + 1 + a) * SIMD_WIDTH);
        wide xa[3];
        wide_gather_point(v->q, v->others + a * SIMD_WIDTH, xa);
        for (int i = 0; i < 3; i++)
            z[i] += m * (xa[i] - v->x[i]);
    }
    return wide_sqrt(dot3(z, z));
}

/* Adds gradient and block of one vertex: gradient and block of an edge (edge.h), multiplied by m and m^2 of the
 * vertex. */
KERNEL_INLINE void fibre_add(const incidence *v, bool exact, incidence_sum *sum)
{
    wide m, z[3];
    const wide k = wide_load(v->data), l = wide_max(fibre_incidence_span(v, &m, z), wide_set(WIDE_ROOT_TINY));
    const wide p = edge_target(v->data, true, l), force_density = k * m * (l - p) / l, scale = k * m * m;
    for (int i = 0; i < 3; i++)
        sum->g[i] += force_density * z[i];
    if (!exact) {
        block_add(sum->A, scale, wide_set(0), z);
        return;
    }
    wide H[EDGE_TANGENT_COUNT];
    edge_block(v->data, true, true, l, z, H);
    for (int i = 0; i < EDGE_TANGENT_COUNT; i++)
        sum->A[i] += m * m * H[i];
}

/* Change of psi by a step of the node. The form |z'| - |z| = (|z'|^2 - |z|^2) / (|z'| + |z|) avoids cancellation for a
 * small step. */
KERNEL_INLINE wide fibre_difference(const incidence *v, const wide step[3], wide *noise)
{
    wide m, z[3];
    const wide before = fibre_incidence_span(v, &m, z), squares = m * (m * dot3(step, step) + 2 * dot3(step, z));
    const wide after = wide_sqrt(wide_max(before * before + squares, wide_set(0)));
    return edge_change(v->data, true, before, after, squares, noise);
}

static void fibre_strain_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, INCIDENCE_COUNT, fibre_add);
}

static void fibre_strain_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 3, INCIDENCE_COUNT, fibre_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_fibre_strain) = {
    .info = {.name = "fibre_strain",
             .summary = "k/2 (|F a| - s)^2 per volume, s = |F a| clamped to [minimum, maximum]",
             .stencil = SINEW_STENCIL_TET,
             .vertex_count = 4,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = EDGE_CAPABILITIES},
    .data_count = DATA_COUNT,
    .tangent_count = TANGENT_COUNT,
    .target_slot = -1,
    .prepare = fibre_strain_prepare,
    .value = fibre_strain_value,
    .gradient = fibre_strain_gradient,
    .linearise = fibre_strain_linearise,
    .product = fibre_strain_product,
    .hessian = fibre_strain_hessian,
    .determinants = fibre_strain_determinants,
    .reduced_count = 1,
    .reduce = fibre_strain_reduce,
    .stiffness = fibre_strain_stiffness,
    .local_project = fibre_strain_project,
    .local_prox = fibre_strain_prox,
    .constraint_count = 1,
    .constrain = fibre_strain_constrain,
    .jacobian = fibre_strain_jacobian,
    .curvature = fibre_strain_curvature,
    .other_count = 3,
    .incidence_data_count = INCIDENCE_COUNT,
    .incidence = fibre_strain_incidence,
    .vertex = fibre_strain_vertex,
    .vertex_change = fibre_strain_change,
    .vertex_bounds = SINEW_BOUND_CHEAP,
};
