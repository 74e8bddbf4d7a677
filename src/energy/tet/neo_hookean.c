/* SPDX-License-Identifier: MIT
 *
 * neo_hookean.c: Neo-Hookean rubber without a logarithm.
 *
 *     psi = mu/2 |F|^2 + l/2 (J - 1 - mu/l)^2 - const = mu/2 (|F|^2 - 3) - mu (J - 1) + l/2 (J - 1)^2
 *     P   = mu F + (l (J - 1) - mu) cof F
 *
 * PBNG (8) after Macklin and Mueller 2021, with l = lambda + mu, which makes psi linear elasticity at rest. The thesis
 * (3.15) has l = lambda; the rest shape then has the Lame parameter lambda - mu. `matched` = no selects the form of the
 * thesis; it needs poisson > 1/8, below which the rest shape is not stable.
 *
 * psi is smooth and defined for every F. With poisson < 0 (matched; < 1/4 not matched) an element collapsed to a point
 * has less energy than at rest, and stays collapsed.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/tet/tet_curvature.h"
#include "energy/lame.h"
#include "energy/tet/neo_hookean_law.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* the only material constant in data: l / mu, l the factor of (J - 1)^2 / 2 in psi */
enum {
    MATCHED = LAME_PARAMETER_COUNT
};
enum {
    CONSTRAINT_COUNT = 2
}; /* number of constraints per tet in the split form */

static const sinew_parameter parameters[] = {
    LAME_YOUNG_PARAMETER,
    LAME_POISSON_PARAMETER,
    {.name = "matched",
     .unit = "",
     .choices = "no|yes",
     .minimum = 0,
     .maximum = 1,
     .preset = 1,
     .meaning = "yes: young and poisson as in linear elasticity; no: the plain lambda of thesis (3.15)"},
};

static const char *neo_hookean_prepare(const sinew_element *element, sinew_real *data)
{
    const double ratio = lame_ratio(element->parameters);
    const bool matched = element->parameters[MATCHED] > 0;
    if (!matched && 3 * ratio <= 1)
        return "matched = no needs poisson > 0.125, below which the rest shape is unstable; raise it or set matched";
    data[TET_MATERIAL] = (sinew_real)(matched ? ratio + 1 : ratio);
    return sinew_tet_prepare(element, lame_mu(element->parameters), data, NULL);
}

KERNEL_INLINE wide stress(const wide F[9], const sinew_real *material, wide P[9])
{
    return neo_hookean_stress(F, wide_load(material), P);
}

KERNEL_INLINE void curvature(const wide sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const wide ratio = wide_load(material);
    const wide growth = sigma[0] * sigma[1] * sigma[2] - 1;
    isotropic_volume_form(sigma, wide_set(1), ratio * growth - 1, ratio, eigen);
}

#include "energy/tet/isotropic_material.h"

/* The constant for which psi + constant = |F|^2/2 + l/(2 mu) (J - 1 - mu/l)^2 with J = det F: the sum of squares of
 * thesis (4.32). */
KERNEL_INLINE wide neo_hookean_offset(const sinew_real *material)
{
    return (sinew_real)1.5 + (sinew_real)0.5 / wide_load(material);
}

/* Projects the two constraints of the split form: C = |F| with alpha = 1/(mu V), then C = J - 1 - mu/l with alpha =
 * 1/(l V) or the hard C = J - 1, thesis (4.34), (4.35). J = det F, V is the rest volume. */
static void neo_hookean_constrain_split(const sinew_constrain_kernel *kernel)
{
    const wide tiny = wide_set(WIDE_EPSILON);
    const bool hard = kernel->form == SINEW_FORM_INCOMPRESSIBLE;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        sinew_real *lambda = group_lambda(kernel, group, CONSTRAINT_COUNT);
        const wide weight = wide_load(data), ratio = wide_load(data + TET_MATERIAL * SIMD_WIDTH);
        constrained c;
        wide lower[6], F[9], P[9];
        constrain_gather(kernel->xw, vertex, 4, &c);
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        constrain_deformation(&c, lower, F);
        const wide size = wide_sqrt(norm3(F));
        constrain_gradient(F, lower, &c);
        constrain_apply(kernel, group, vertex, 4, size, wide_max(size, tiny), weight, false, lambda, &c);
        constrain_follow(4, &c);
        constrain_deformation(&c, lower, F);
        const wide growth = cofactor3(F, P) - 1;
        constrain_gradient(P, lower, &c);
        constrain_apply(kernel, group, vertex, 4, hard ? growth : growth - 1 / ratio, wide_set(1), weight * ratio, hard,
                        lambda + SIMD_WIDTH, &c);
    }
}

/* The stress of neo_hookean, with psi computed without cancellation, so that the root of psi is as accurate as psi. */
KERNEL_INLINE wide neo_hookean_stress_near_rest(const wide F[9], const sinew_real *material, wide P[9])
{
    const wide plain = stress(F, material, P);
    return neo_hookean_near_rest(F, wide_load(material), plain);
}

/* Projects the constraint C = J - 1: the limit of thesis (4.32) for l to infinity and alpha to zero, thesis (4.33). */
static void neo_hookean_constrain_volume(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        constrained c;
        wide lower[6], F[9], P[9];
        constrain_gather(kernel->xw, vertex, 4, &c);
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        constrain_deformation(&c, lower, F);
        const wide growth = cofactor3(F, P) - 1;
        constrain_gradient(P, lower, &c);
        constrain_apply(kernel, group, vertex, 4, growth, wide_set(1), wide_load(data), true,
                        group_lambda(kernel, group, CONSTRAINT_COUNT), &c);
    }
}

static void neo_hookean_constrain(const sinew_constrain_kernel *kernel)
{
    if (kernel->form == SINEW_FORM_COMBINED && !(kernel->compliance > 0))
        neo_hookean_constrain_volume(kernel);
    else if (kernel->form == SINEW_FORM_SPLIT || kernel->form == SINEW_FORM_INCOMPRESSIBLE)
        neo_hookean_constrain_split(kernel);
    else if (kernel->form == SINEW_FORM_COMBINED)
        tet_constrain(kernel, DATA_COUNT, CONSTRAINT_COUNT, stress, neo_hookean_offset);
    else
        tet_constrain(kernel, DATA_COUNT, CONSTRAINT_COUNT, neo_hookean_stress_near_rest, no_offset);
}

/* The two constraints of neo_hookean_constrain_split(), both at x. The sweep evaluates the second one after the
 * first has moved x. */
static void neo_hookean_jacobian_split(const sinew_jacobian_kernel *kernel)
{
    const bool hard = kernel->form == SINEW_FORM_INCOMPRESSIBLE;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const wide weight = wide_load(data), ratio = wide_load(data + TET_MATERIAL * SIMD_WIDTH);
        constrained c;
        wide lower[6], F[9], P[9];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        constrain_deformation(&c, lower, F);
        const wide size = wide_sqrt(norm3(F)), growth = cofactor3(F, P) - 1;
        constrain_gradient(F, lower, &c);
        jacobian_write(kernel, group, 0, CONSTRAINT_COUNT, 4, size, wide_max(size, wide_set(WIDE_EPSILON)), weight,
                       false, &c);
        constrain_gradient(P, lower, &c);
        jacobian_write(kernel, group, 1, CONSTRAINT_COUNT, 4, hard ? growth : growth - 1 / ratio, wide_set(1),
                       weight * ratio, hard, &c);
    }
}

static void neo_hookean_jacobian_volume(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        wide lower[6], F[9], P[9];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_wide_array(data + TET_LOWER * SIMD_WIDTH, 6, lower);
        constrain_deformation(&c, lower, F);
        const wide growth = cofactor3(F, P) - 1;
        constrain_gradient(P, lower, &c);
        for (int i = 0; i < CONSTRAINT_COUNT; i++)
            jacobian_write(kernel, group, i, CONSTRAINT_COUNT, 4, growth, wide_set(1),
                           i == 0 ? wide_load(data) : wide_set(0), true, &c);
    }
}

static void neo_hookean_jacobian(const sinew_jacobian_kernel *kernel)
{
    if (kernel->form == SINEW_FORM_COMBINED && kernel->hard)
        neo_hookean_jacobian_volume(kernel);
    else if (kernel->form == SINEW_FORM_SPLIT || kernel->form == SINEW_FORM_INCOMPRESSIBLE)
        neo_hookean_jacobian_split(kernel);
    else if (kernel->form == SINEW_FORM_COMBINED)
        tet_jacobian(kernel, DATA_COUNT, CONSTRAINT_COUNT, stress, neo_hookean_offset);
    else
        tet_jacobian(kernel, DATA_COUNT, CONSTRAINT_COUNT, neo_hookean_stress_near_rest, no_offset);
}

/* Second derivatives of the split form's constraints C = |F| and C = J - 1 - mu/l, J = det F, times their
 * multipliers. */
KERNEL_INLINE void curves_split(const wide F[9], const wide lambda[CONSTRAINT_COUNT], tet_second *s)
{
    const wide inverse = 1 / wide_max(wide_sqrt(norm3(F)), wide_set(WIDE_EPSILON));
    s->norm = lambda[0] * inverse;
    s->volume = lambda[1];
    s->rise = -(lambda[0] * inverse) * (inverse * inverse);
    memcpy(s->P, F, sizeof s->P);
}

/* Second derivatives of the constraint C = J - 1 alone, times its multiplier. */
KERNEL_INLINE void curves_volume(const wide F[9], wide lambda, tet_second *s)
{
    s->volume = lambda;
    memcpy(s->P, F, sizeof s->P);
}

/* lambda times the second derivatives of psi (neo_hookean_law.h) plus `shift`, or of the root C of twice this sum:
 * (d2psi - P P^T / C^2) / C */
KERNEL_INLINE void curves_joined(const wide F[9], const sinew_real *material, bool as_energy, wide shift, wide lambda,
                                 tet_second *s)
{
    const wide ratio = wide_load(material), zero = wide_set(0), one = wide_set(1);
    wide cofactor[9];
    const wide psi = neo_hookean_stress_near_rest(F, material, s->P), tiny = wide_set(WIDE_EPSILON * WIDE_EPSILON);
    const wide root = wide_max(wide_sqrt(wide_max(2 * (psi + shift), zero)), tiny), scale = as_energy ? one : 1 / root;
    s->norm = lambda * scale;
    s->volume = lambda * scale * (ratio * (cofactor3(F, cofactor) - 1) - 1);
    s->swell = lambda * scale * ratio;
    s->rise = as_energy ? zero : -lambda * scale * (scale * scale);
}

static void neo_hookean_curvature(const sinew_jacobian_kernel *kernel)
{
    const bool split = kernel->form == SINEW_FORM_SPLIT || kernel->form == SINEW_FORM_INCOMPRESSIBLE;
    const bool combined = kernel->form == SINEW_FORM_COMBINED;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT),
                         *material = data + TET_MATERIAL * SIMD_WIDTH;
        const wide zero = wide_set(0), weight = wide_load(data),
                   lambda[CONSTRAINT_COUNT] = {curvature_factor(kernel, group, 0, CONSTRAINT_COUNT, weight),
                                               curvature_factor(kernel, group, 1, CONSTRAINT_COUNT, weight)};
        tet_second s = {.norm = zero, .volume = zero, .swell = zero, .rise = zero};
        wide lower[6], F[9];
        tet_deformation(kernel->x, group_vertex(&kernel->groups, group, 4), data, lower, F);
        if (split)
            curves_split(F, lambda, &s);
        else if (combined && kernel->hard)
            curves_volume(F, lambda[0], &s);
        else
            curves_joined(F, material, kernel->form == SINEW_FORM_ENERGY,
                          combined ? neo_hookean_offset(material) : zero, lambda[0], &s);
        tet_curvature_write(kernel, group, F, lower, &s);
    }
}

static void neo_hookean_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                  int32_t *others)
{
    volume_incidence(data, particles, node, false, out, others);
}

/* Adds gradient and block of one vertex. psi is quadratic in one vertex, so a Newton step with the exact block (factor
 * 1 of |b|^2, not 2) reaches its minimum. */
KERNEL_INLINE void neo_hookean_add(const incidence *v, bool exact, incidence_sum *sum)
{
    const wide ratio = wide_load(v->data + VOLUME_MATERIAL * SIMD_WIDTH);
    volume_state s;
    volume_geometry(v, false, &s);
    volume_add(v, &s, wide_set(1), ratio * (s.J - 1) - 1, wide_set(exact ? 1 : 2), ratio, sum);
}

KERNEL_INLINE wide neo_hookean_difference(const incidence *v, const wide d[3], wide *noise)
{
    const wide ratio = wide_load(v->data + VOLUME_MATERIAL * SIMD_WIDTH), half = wide_set((sinew_real)0.5);
    volume_state s;
    wide norm, J;
    volume_geometry(v, false, &s);
    volume_changes(&s, d, &norm, &J);
    const wide pressed = J * (ratio * (s.J - 1) - 1), squared = half * ratio * J * J;
    *noise = 4 * WIDE_EPSILON * (wide_abs(norm) + wide_abs(pressed) + squared);
    return half * norm + pressed + squared;
}

static void neo_hookean_vertex(const sinew_vertex_kernel *kernel)
{
    incidence_vertex(kernel, 3, VOLUME_DATA_COUNT, neo_hookean_add);
}

static void neo_hookean_vertex_change(const sinew_vertex_kernel *kernel)
{
    incidence_change(kernel, 3, VOLUME_DATA_COUNT, neo_hookean_difference);
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_neo_hookean) = {
    .info = {.name = "neo_hookean",
             .summary = "mu/2 (|F|^2 - 3) - mu (J - 1) + (lambda + mu)/2 (J - 1)^2 per volume",
             TET_MATERIAL_INFO,
             .capabilities = TET_MATERIAL_CAPABILITIES},
    TET_MATERIAL_OPS,
    .prepare = neo_hookean_prepare,
    .vertex = neo_hookean_vertex,
    ISOTROPIC_MATERIAL_OPS,
    .constraint_count = CONSTRAINT_COUNT,
    .constrain = neo_hookean_constrain,
    .jacobian = neo_hookean_jacobian,
    .rooted = true,
    .curvature = neo_hookean_curvature,
    .incidence_data_count = VOLUME_DATA_COUNT,
    .incidence = neo_hookean_incidence,
    .vertex_change = neo_hookean_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
