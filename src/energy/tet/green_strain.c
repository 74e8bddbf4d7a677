/* SPDX-License-Identifier: MIT
 *
 * green_strain.c: the six Green strains of a tet as one vector constraint with a compliance matrix.
 *
 *     C = (E_00, E_11, E_22, 2 E_01, 2 E_02, 2 E_12),  E = (F^T F - 1)/2        psi = 1/2 C^T alpha^-1 C
 *     alpha = K^-1 / V,  K = [lambda + 2 mu on the diagonal and lambda beside it for the first three; mu for the rest]
 *
 * As an energy it is st_venant_kirchhoff. As constraints it is not: that energy has one, the root of psi, whose
 * direction within an element is lost where it is zero; here each strain has a multiplier, a stress times the volume.
 * Hard, the six make a tet rigid. A sweep solves for the six of an element together (XPBD (26) with matrices):
 *
 *     (A + c S^-1) dlambda = -S^-1 (K V C + c lambda + b J (x - x_old)),   A = J W J^T,  S = K V + b 1
 *
 * with c = 1/h^2 and b = beta/h; S is isotropic, so its inverse is known. F is that of a rest shape turned by Q
 * (tet.h), so the strains are those along turned axes; K does not see it.
 *
 * Known limits: as st_venant_kirchhoff. Hard strains at an element whose particles are mostly pinned depend on each
 * other; those that add nothing to the ones before are left out.
 */
#include "energy/tet/stvk_law.h"

#include "energy/tet/tet_curvature.h"

enum {
    STRAINS = 6
};

static const int strain_row[STRAINS] = {0, 1, 2, 0, 0, 1}, strain_column[STRAINS] = {0, 1, 2, 1, 2, 2};

/* The strains at the points in c, and g[p][3 a + i] their gradients. Returns where they are numbers; else all are zero,
 * as there is nothing to go by. */
KERNEL_INLINE lane_mask strains_of(const constrained *c, const lane lower[6], lane C[STRAINS], lane g[STRAINS][12])
{
    lane F[9], l[4][3];
    constrain_deformation(c, lower, F);
    tet_rest_gradients(lower, l);
    for (int p = 0; p < STRAINS; p++) {
        const int i = strain_row[p], j = strain_column[p];
        const lane product = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
        C[p] = p < 3 ? (sinew_real)0.5 * (product - 1) : product;
        for (int k = 0; k < 12; k++) {
            const lane *row = F + 3 * (k % 3), *at = l[k / 3];
            g[p][k] = p < 3 ? row[i] * at[i] : row[i] * at[j] + row[j] * at[i];
        }
    }
    const lane_mask known = lane_le(norm3(F), lane_set(LANE_HUGE));
    for (int p = 0; lane_any(~known) && p < STRAINS; p++) {
        C[p] = lane_select(known, C[p], lane_set(0));
        for (int k = 0; k < 12; k++)
            g[p][k] = lane_select(known, g[p][k], lane_set(0));
    }
    return known;
}

/* y = (K V + shift 1) x, or with `inverse` (K V + shift 1)^-1 x; w = mu V, r = lambda / mu. */
KERNEL_INLINE void stiffness_apply(lane w, lane r, lane shift, bool inverse, const lane x[STRAINS], lane y[STRAINS])
{
    const lane diagonal = 2 * w + shift, beside = r * w, trace = x[0] + x[1] + x[2], shear = w + shift;
    const lane factor = inverse ? -beside / (diagonal * (diagonal + 3 * beside)) : beside;
    for (int p = 0; p < STRAINS; p++) {
        const lane own = p < 3 ? diagonal : shear;
        y[p] = (inverse ? x[p] / own : x[p] * own) + (p < 3 ? factor * trace : lane_set(0));
    }
}

/* Solves M d = t by L D L^T, which overwrites M, semi-definite. Rows that depend on those before have no step. */
KERNEL_INLINE void strain_solve(lane M[STRAINS][STRAINS], const lane t[STRAINS], lane d[STRAINS])
{
    const lane zero = lane_set(0), one = lane_set(1);
    lane inverse[STRAINS];
    for (int j = 0; j < STRAINS; j++) {
        lane pivot = M[j][j];
        for (int k = 0; k < j; k++)
            pivot -= M[j][k] * M[j][k] * inverse[k];
        const lane_mask some = lane_lt((64 * LANE_EPSILON) * M[j][j], pivot);
        inverse[j] = lane_select(some, 1 / lane_select(some, pivot, one), zero);
        for (int i = j + 1; i < STRAINS; i++)
            for (int k = 0; k < j; k++)
                M[i][j] -= M[i][k] * M[j][k] * inverse[k];
    }
    /* M holds L D below the diagonal. */
    for (int i = 0; i < STRAINS; i++) {
        d[i] = t[i];
        for (int k = 0; k < i; k++)
            d[i] -= M[i][k] * inverse[k] * d[k];
    }
    for (int i = STRAINS - 1; i >= 0; i--) {
        for (int k = i + 1; k < STRAINS; k++)
            d[i] -= M[k][i] * d[k];
        d[i] *= inverse[i];
    }
}

/* A = J W J^T + c S^-1, the lower triangle. */
KERNEL_INLINE void strain_matrix(const constrained *c, const lane g[STRAINS][12], lane w, lane r, lane shift,
                                 lane compliance, lane A[STRAINS][STRAINS])
{
    for (int p = 0; p < STRAINS; p++) {
        lane unit[STRAINS], column[STRAINS];
        for (int k = 0; k < STRAINS; k++)
            unit[k] = k == p ? compliance : lane_set(0);
        stiffness_apply(w, r, shift, true, unit, column);
        for (int k = p; k < STRAINS; k++) {
            A[k][p] = column[k];
            for (int i = 0; i < 12; i++)
                A[k][p] += c->x[4 * (i / 3) + 3] * g[k][i] * g[p][i];
        }
    }
}

/* K V C + c lambda + b J (x - x_old) */
KERNEL_INLINE void strain_force(const sinew_constrain_kernel *kernel, const int32_t *vertex, const constrained *c,
                                const lane g[STRAINS][12], lane w, lane r, const lane C[STRAINS],
                                const lane lambda[STRAINS], lane f[STRAINS])
{
    stiffness_apply(w, r, lane_set(0), false, C, f);
    for (int p = 0; p < STRAINS; p++)
        f[p] += kernel->compliance * lambda[p];
    for (int a = 0; kernel->x_old && a < 4; a++) {
        lane old[3];
        lane_gather_point(kernel->x_old, vertex + a * LANES, old);
        for (int i = 0; i < 3; i++)
            for (int p = 0; p < STRAINS; p++)
                f[p] += kernel->damping * (g[p][3 * a + i] * (c->x[4 * a + i] - old[i]));
    }
}

/* One group: the six multipliers at once. Where the energy has no weight nothing happens. */
KERNEL_INLINE void strain_constrain_group(const sinew_constrain_kernel *kernel, int32_t group)
{
    const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
    const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
    const lane zero = lane_set(0), one = lane_set(1), weight = lane_load(data);
    const lane_mask real = lane_lt(zero, weight);
    const lane w = lane_select(real, weight, one), r = lane_load(data + TET_MATERIAL * LANES);
    const lane shift = lane_set(kernel->x_old ? kernel->damping : 0);
    const lane share = kernel->share ? lane_load(kernel->share + group * LANES) : one;
    const lane scale = lane_select(real, kernel->stiffness * share, zero);
    lane lower[6], C[STRAINS], g[STRAINS][12], A[STRAINS][STRAINS], lambda[STRAINS], f[STRAINS], t[STRAINS], d[STRAINS];
    constrained c;
    constrain_gather(kernel->xw, vertex, 4, &c);
    load_lanes(data + TET_LOWER * LANES, 6, lower);
    load_lanes(group_lambda(kernel, group, STRAINS), STRAINS, lambda);
    const lane_mask known = strains_of(&c, lower, C, g);
    strain_force(kernel, vertex, &c, (const lane(*)[12])g, w, r, C, lambda, f);
    stiffness_apply(w, r, shift, true, f, t);
    strain_matrix(&c, (const lane(*)[12])g, w, r, shift, lane_set(kernel->compliance), A);
    strain_solve(A, t, d);
    c.step = one;
    for (int i = 0; i < 12; i++)
        c.gradient[i] = zero;
    for (int p = 0; p < STRAINS; p++) {
        const lane change = -scale * d[p];
        lambda[p] = lane_select(known, lambda[p] + change, zero);
        for (int i = 0; i < 12; i++)
            c.gradient[i] += change * g[p][i];
    }
    store_lanes(group_lambda(kernel, group, STRAINS), STRAINS, lambda);
    constrain_move(kernel, vertex, 4, &c);
}

static void strain_constrain(const sinew_constrain_kernel *kernel)
{
    if (kernel->form == SINEW_FORM_ENERGY)
        tet_constrain(kernel, DATA_COUNT, STRAINS, stress, no_offset);
    for (int32_t group = 0; kernel->form != SINEW_FORM_ENERGY && group < kernel->groups.count; group++)
        strain_constrain_group(kernel, group);
}

/* Strain p of a group as numbers. */
KERNEL_INLINE void strain_write(const sinew_jacobian_kernel *kernel, int32_t group, int p, lane weight, lane r, lane C,
                                const lane g[12])
{
    const lane zero = lane_set(0), one = lane_set(1);
    const lane_mask real = lane_lt(zero, weight);
    const size_t at = (size_t)group * STRAINS + (size_t)p;
    lane unit[STRAINS], alpha[STRAINS];
    for (int k = 0; k < STRAINS; k++)
        unit[k] = k == p && !kernel->hard ? one : zero;
    stiffness_apply(lane_select(real, weight, one), r, zero, true, unit, alpha);
    lane_store(kernel->C + at * LANES, lane_select(real, C, zero));
    for (size_t i = 0; i < 12; i++)
        lane_store(kernel->jacobian + (at * 12 + i) * LANES, lane_select(real, g[i], zero));
    for (int k = 0; k < STRAINS; k++)
        lane_store(kernel->compliance + (at * STRAINS + (size_t)k) * LANES,
                   lane_select(real, alpha[k], k == p ? one : zero));
}

static void strain_jacobian(const sinew_jacobian_kernel *kernel)
{
    if (kernel->form == SINEW_FORM_ENERGY)
        tet_jacobian(kernel, DATA_COUNT, STRAINS, stress, no_offset);
    for (int32_t group = 0; kernel->form != SINEW_FORM_ENERGY && group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        lane lower[6], C[STRAINS], g[STRAINS][12];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_lanes(data + TET_LOWER * LANES, 6, lower);
        strains_of(&c, lower, C, g);
        for (int p = 0; p < STRAINS; p++)
            strain_write(kernel, group, p, lane_load(data), lane_load(data + TET_MATERIAL * LANES), C[p], g[p]);
    }
}

/* Factors of the strains: lambda, or lambda_0 times the stress, as psi has dpsi/dC = K C. */
KERNEL_INLINE void strain_factors(const sinew_jacobian_kernel *kernel, int32_t group, const sinew_real *data,
                                  const lane C[STRAINS], lane s[STRAINS])
{
    const bool whole = kernel->form == SINEW_FORM_ENERGY;
    const lane weight = lane_load(data), lambda = curvature_factor(kernel, group, 0, STRAINS, weight);
    stiffness_apply(lane_set(1), lane_load(data + TET_MATERIAL * LANES), lane_set(0), false, C, s);
    for (int p = 0; p < STRAINS; p++)
        s[p] = whole ? lambda * s[p] : curvature_factor(kernel, group, p, STRAINS, weight);
}

/* A strain is a product of columns of F: block (a, b) = l_a^T S l_b 1, S the symmetric matrix of the factors. psi
 * itself (C = psi per unit of weight) has C^T K C / 2 and with it the squares of the strains' gradients. */
static void strain_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *blocks = curvature_blocks(kernel, group, 4);
        const lane zero = lane_set(0), square = kernel->form == SINEW_FORM_ENERGY
                                                    ? curvature_factor(kernel, group, 0, STRAINS, lane_load(data))
                                                    : zero;
        constrained c;
        lane lower[6], C[STRAINS], g[STRAINS][12], Kg[12][STRAINS], s[STRAINS], l[4][3];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_lanes(data + TET_LOWER * LANES, 6, lower);
        strains_of(&c, lower, C, g);
        strain_factors(kernel, group, data, C, s);
        tet_rest_gradients(lower, l);
        for (int i = 0; i < 12; i++) {
            const lane own[STRAINS] = {g[0][i], g[1][i], g[2][i], g[3][i], g[4][i], g[5][i]};
            stiffness_apply(square, lane_load(data + TET_MATERIAL * LANES), zero, false, own, Kg[i]);
        }
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) {
                lane turn = zero;
                for (int p = 0; p < STRAINS; p++) {
                    const int i = strain_row[p], j = strain_column[p];
                    turn += s[p] * (p < 3 ? l[a][i] * l[b][i] : l[a][i] * l[b][j] + l[a][j] * l[b][i]);
                }
                for (int k = 0; k < 9; k++) {
                    lane entry = k % 4 == 0 ? turn : zero;
                    for (int p = 0; p < STRAINS; p++)
                        entry += Kg[3 * a + k / 3][p] * g[p][3 * b + k % 3];
                    lane_store(blocks + (block_index(a, b) * 9 + k) * LANES, entry);
                }
            }
    }
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_green_strain) = {
    .info = {.name = "green_strain",
             .summary = "st_venant_kirchhoff; as constraints the six strains of a tet, with a matrix of compliances",
             STVK_INFO},
    STVK_OPS,
    .constraint_count = STRAINS,
    .constrain = strain_constrain,
    .jacobian = strain_jacobian,
    .curvature = strain_curvature,
};
