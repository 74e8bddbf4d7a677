/* SPDX-License-Identifier: MIT
 *
 * green_strain.c: the six Green strains of a tet as one vector constraint with a compliance matrix.
 *
 *     C = (E_00, E_11, E_22, 2 E_01, 2 E_02, 2 E_12),  E = (F^T F - 1)/2        psi = 1/2 C^T alpha^-1 C
 *     alpha = K^-1 / V,  K = [lambda + 2 mu on the diagonal and lambda off it for the first three; mu for the others]
 *
 * psi equals st_venant_kirchhoff, but the constraints differ: that energy has one constraint, the root of psi, whose
 * gradient is undefined where it is zero. Here each strain has a multiplier, a stress times the volume. Six hard
 * strains make a tet rigid. A sweep solves for the six multipliers of an element together (XPBD (26) with matrices):
 *
 *     (A + c S^-1) dlambda = -S^-1 (K V C + c lambda + b J (x - x_old)),   A = J W J^T,  S = K V + b 1
 *
 * with c = 1/h^2 and b = beta/h. S is isotropic, so its inverse has a closed form. F belongs to a rest shape rotated by
 * Q (tet.h), so the strains are along rotated axes; K is invariant.
 *
 * Known limits: those of st_venant_kirchhoff. If most particles of an element are pinned, its hard strains are
 * dependent; redundant strains are skipped.
 */
#include "energy/tet/stvk_law.h"

#include "energy/tet/tet_curvature.h"

enum {
    STRAINS = 6
};

static const int strain_row[STRAINS] = {0, 1, 2, 0, 0, 1}, strain_column[STRAINS] = {0, 1, 2, 1, 2, 2};

/* The six Green strains C at the points in c, and their gradients g[p][3 a + i]. Returns the mask of tets with finite
 * strains; other strains are set to zero. */
KERNEL_INLINE wide_mask strains_of(const constrained *c, const wide lower[6], wide C[STRAINS], wide g[STRAINS][12])
{
    wide F[9], l[4][3];
    constrain_deformation(c, lower, F);
    tet_rest_gradients(lower, l);
    for (int p = 0; p < STRAINS; p++) {
        const int i = strain_row[p], j = strain_column[p];
        const wide product = F[i] * F[j] + F[3 + i] * F[3 + j] + F[6 + i] * F[6 + j];
        C[p] = p < 3 ? (sinew_real)0.5 * (product - 1) : product;
        for (int k = 0; k < 12; k++) {
            const wide *row = F + 3 * (k % 3), *at = l[k / 3];
            g[p][k] = p < 3 ? row[i] * at[i] : row[i] * at[j] + row[j] * at[i];
        }
    }
    const wide_mask known = wide_le(norm3(F), wide_set(WIDE_HUGE));
    for (int p = 0; wide_any(~known) && p < STRAINS; p++) {
        C[p] = wide_select(known, C[p], wide_set(0));
        for (int k = 0; k < 12; k++)
            g[p][k] = wide_select(known, g[p][k], wide_set(0));
    }
    return known;
}

/* Applies the isotropic 6x6 stiffness matrix K of a tet of volume V: y = (K V + shift 1) x, or with `inverse` (K V +
 * shift 1)^-1 x; w = mu V, r = lambda / mu. */
KERNEL_INLINE void stiffness_apply(wide w, wide r, wide shift, bool inverse, const wide x[STRAINS], wide y[STRAINS])
{
    const wide diagonal = 2 * w + shift, off_diagonal = r * w, trace = x[0] + x[1] + x[2], shear = w + shift;
    const wide factor = inverse ? -off_diagonal / (diagonal * (diagonal + 3 * off_diagonal)) : off_diagonal;
    for (int p = 0; p < STRAINS; p++) {
        const wide own = p < 3 ? diagonal : shear;
        y[p] = (inverse ? x[p] / own : x[p] * own) + (p < 3 ? factor * trace : wide_set(0));
    }
}

/* Solves the 6x6 system M d = t of one tet's strains for a semi-definite M by L D L^T, which overwrites M. Dependent
 * strains have d = 0. */
KERNEL_INLINE void strain_solve(wide M[STRAINS][STRAINS], const wide t[STRAINS], wide d[STRAINS])
{
    const wide zero = wide_set(0), one = wide_set(1);
    wide inverse[STRAINS];
    for (int j = 0; j < STRAINS; j++) {
        wide pivot = M[j][j];
        for (int k = 0; k < j; k++)
            pivot -= M[j][k] * M[j][k] * inverse[k];
        const wide_mask some = wide_lt((64 * WIDE_EPSILON) * M[j][j], pivot);
        inverse[j] = wide_select(some, 1 / wide_select(some, pivot, one), zero);
        for (int i = j + 1; i < STRAINS; i++)
            for (int k = 0; k < j; k++)
                M[i][j] -= M[i][k] * M[j][k] * inverse[k];
    }
    /* M = L D L^T is factorised: M holds L D below the diagonal. */
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

/* The lower triangle of the 6x6 matrix A = J W J^T + c S^-1 of one tet's strains. */
KERNEL_INLINE void strain_matrix(const constrained *c, const wide g[STRAINS][12], wide w, wide r, wide shift,
                                 wide compliance, wide A[STRAINS][STRAINS])
{
    for (int p = 0; p < STRAINS; p++) {
        wide unit[STRAINS], column[STRAINS];
        for (int k = 0; k < STRAINS; k++)
            unit[k] = k == p ? compliance : wide_set(0);
        stiffness_apply(w, r, shift, true, unit, column);
        for (int k = p; k < STRAINS; k++) {
            A[k][p] = column[k];
            for (int i = 0; i < 12; i++)
                A[k][p] += c->x[4 * (i / 3) + 3] * g[k][i] * g[p][i];
        }
    }
}

/* f = K V C + c lambda + b J (x - x_old): elastic, multiplier and damping terms of the six strains */
KERNEL_INLINE void strain_force(const sinew_constrain_kernel *kernel, const int32_t *vertex, const constrained *c,
                                const wide g[STRAINS][12], wide w, wide r, const wide C[STRAINS],
                                const wide lambda[STRAINS], wide f[STRAINS])
{
    stiffness_apply(w, r, wide_set(0), false, C, f);
    for (int p = 0; p < STRAINS; p++)
        f[p] += kernel->compliance * lambda[p];
    for (int a = 0; kernel->x_old && a < 4; a++) {
        wide old[3];
        wide_gather_point(kernel->x_old, vertex + a * SIMD_WIDTH, old);
        for (int i = 0; i < 3; i++)
            for (int p = 0; p < STRAINS; p++)
                f[p] += kernel->damping * (g[p][3 * a + i] * (c->x[4 * a + i] - old[i]));
    }
}

/* Projects one group of tets: solves for the six multipliers of each tet together. Elements of weight zero do not
 * change. */
KERNEL_INLINE void strain_constrain_group(const sinew_constrain_kernel *kernel, int32_t group)
{
    const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
    const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
    const wide zero = wide_set(0), one = wide_set(1), weight = wide_load(data);
    const wide_mask real = wide_lt(zero, weight);
    const wide w = wide_select(real, weight, one), r = wide_load(data + TET_MATERIAL * SIMD_WIDTH);
    const wide shift = wide_set(kernel->x_old ? kernel->damping : 0);
    const wide averaging = kernel->averaging_weight ? wide_load(kernel->averaging_weight + group * SIMD_WIDTH) : one;
    const wide scale = wide_select(real, kernel->stiffness * averaging, zero);
    wide lower[6], C[STRAINS], g[STRAINS][12], A[STRAINS][STRAINS], lambda[STRAINS], f[STRAINS], t[STRAINS], d[STRAINS];
    constrained c;
    constrain_gather(kernel->xw, vertex, 4, &c);
    load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
    load_wide_array(group_lambda(kernel, group, STRAINS), STRAINS, lambda);
    const wide_mask known = strains_of(&c, lower, C, g);
    strain_force(kernel, vertex, &c, (const wide(*)[12])g, w, r, C, lambda, f);
    stiffness_apply(w, r, shift, true, f, t);
    strain_matrix(&c, (const wide(*)[12])g, w, r, shift, wide_set(kernel->compliance), A);
    strain_solve(A, t, d);
    c.step = one;
    for (int i = 0; i < 12; i++)
        c.gradient[i] = zero;
    for (int p = 0; p < STRAINS; p++) {
        const wide change = -scale * d[p];
        lambda[p] = wide_select(known, lambda[p] + change, zero);
        for (int i = 0; i < 12; i++)
            c.gradient[i] += change * g[p][i];
    }
    store_wide_array(group_lambda(kernel, group, STRAINS), STRAINS, lambda);
    constrain_move(kernel, vertex, 4, &c);
}

static void green_strain_constrain(const sinew_constrain_kernel *kernel)
{
    if (kernel->form == SINEW_FORM_ENERGY)
        tet_constrain(kernel, DATA_COUNT, STRAINS, stress, no_offset);
    for (int32_t group = 0; kernel->form != SINEW_FORM_ENERGY && group < kernel->groups.count; group++)
        strain_constrain_group(kernel, group);
}

/* Writes value C, gradient and compliance of the constraint of Green strain p for a group of tets. */
KERNEL_INLINE void strain_write(const sinew_jacobian_kernel *kernel, int32_t group, int p, wide weight, wide r, wide C,
                                const wide g[12])
{
    const wide zero = wide_set(0), one = wide_set(1);
    const wide_mask real = wide_lt(zero, weight);
    const size_t at = (size_t)group * STRAINS + (size_t)p;
    wide unit[STRAINS], alpha[STRAINS];
    for (int k = 0; k < STRAINS; k++)
        unit[k] = k == p && !kernel->hard ? one : zero;
    stiffness_apply(wide_select(real, weight, one), r, zero, true, unit, alpha);
    wide_store(kernel->C + at * SIMD_WIDTH, wide_select(real, C, zero));
    for (size_t i = 0; i < 12; i++)
        wide_store(kernel->jacobian + (at * 12 + i) * SIMD_WIDTH, wide_select(real, g[i], zero));
    for (int k = 0; k < STRAINS; k++)
        wide_store(kernel->compliance + (at * STRAINS + (size_t)k) * SIMD_WIDTH,
                   wide_select(real, alpha[k], k == p ? one : zero));
}

static void strain_jacobian(const sinew_jacobian_kernel *kernel)
{
    if (kernel->form == SINEW_FORM_ENERGY)
        tet_jacobian(kernel, DATA_COUNT, STRAINS, stress, no_offset);
    for (int32_t group = 0; kernel->form != SINEW_FORM_ENERGY && group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        wide lower[6], C[STRAINS], g[STRAINS][12];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        strains_of(&c, lower, C, g);
        for (int p = 0; p < STRAINS; p++)
            strain_write(kernel, group, p, wide_load(data), wide_load(data + TET_MATERIAL * SIMD_WIDTH), C[p], g[p]);
    }
}

/* Factors s of the second derivatives of the six strains: their multipliers lambda; with SINEW_FORM_ENERGY lambda_0
 * times dpsi/dC = K C, the stresses of the strains C. */
KERNEL_INLINE void strain_factors(const sinew_jacobian_kernel *kernel, int32_t group, const sinew_real *data,
                                  const wide C[STRAINS], wide s[STRAINS])
{
    const bool as_energy = kernel->form == SINEW_FORM_ENERGY;
    const wide weight = wide_load(data), lambda = curvature_factor(kernel, group, 0, STRAINS, weight);
    stiffness_apply(wide_set(1), wide_load(data + TET_MATERIAL * SIMD_WIDTH), wide_set(0), false, C, s);
    for (int p = 0; p < STRAINS; p++)
        s[p] = as_energy ? lambda * s[p] : curvature_factor(kernel, group, p, STRAINS, weight);
}

/* Second derivatives of the strains. A strain is a product of columns of F: block (a, b) = l_a^T S l_b 1, S the
 * symmetric matrix of the factors. With SINEW_FORM_ENERGY the constraint is C^T K C / 2 per unit of weight, which adds
 * products of the strains' gradients. */
static void strain_curvature(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *blocks = curvature_blocks(kernel, group, 4);
        const wide zero = wide_set(0), square = kernel->form == SINEW_FORM_ENERGY
                                                    ? curvature_factor(kernel, group, 0, STRAINS, wide_load(data))
                                                    : zero;
        constrained c;
        wide lower[6], C[STRAINS], g[STRAINS][12], Kg[12][STRAINS], s[STRAINS], l[4][3];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        strains_of(&c, lower, C, g);
        strain_factors(kernel, group, data, C, s);
        tet_rest_gradients(lower, l);
        for (int i = 0; i < 12; i++) {
            const wide own[STRAINS] = {g[0][i], g[1][i], g[2][i], g[3][i], g[4][i], g[5][i]};
            stiffness_apply(square, wide_load(data + TET_MATERIAL * SIMD_WIDTH), zero, false, own, Kg[i]);
        }
        for (int a = 0; a < 4; a++)
            for (int b = 0; b <= a; b++) {
                wide turn = zero;
                for (int p = 0; p < STRAINS; p++) {
                    const int i = strain_row[p], j = strain_column[p];
                    turn += s[p] * (p < 3 ? l[a][i] * l[b][i] : l[a][i] * l[b][j] + l[a][j] * l[b][i]);
                }
                for (int k = 0; k < 9; k++) {
                    wide entry = k % 4 == 0 ? turn : zero;
                    for (int p = 0; p < STRAINS; p++)
                        entry += Kg[3 * a + k / 3][p] * g[p][3 * b + k % 3];
                    wide_store(blocks + (block_index(a, b) * 9 + k) * SIMD_WIDTH, entry);
                }
            }
    }
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_green_strain) = {
    .info = {.name = "green_strain",
             .summary = "st_venant_kirchhoff; as constraints the six strains of a tet, with a matrix of compliances",
             STVK_INFO},
    STVK_OPS,
    .constraint_count = STRAINS,
    .constrain = green_strain_constrain,
    .jacobian = strain_jacobian,
    .curvature = strain_curvature,
};
