/* SPDX-License-Identifier: MIT
 *
 * neo_hookean.c: Neo-Hookean rubber without a logarithm.
 *
 *     psi = mu/2 |F|^2 + l/2 (J - 1 - mu/l)^2 - const = mu/2 (|F|^2 - 3) - mu (J - 1) + l/2 (J - 1)^2
 *     P   = mu F + (l (J - 1) - mu) cof F
 *
 * PBNG (8) after Macklin and Mueller 2021, with l = lambda + mu, which makes it linear elasticity at rest. The thesis
 * (3.15) has l = lambda; the rest shape then answers as if the Lame parameter were lambda - mu. `matched` = no selects
 * that, to reproduce the thesis; it needs poisson > 1/8, below which the rest shape is not stable.
 *
 * Defined for every F and smooth. With poisson < 0 (matched; < 1/4 not matched) an element collapsed to a point has
 * less energy than at rest, and one that gets there stays.
 */
#include "energy/tet/tet_constraint.h"
#include "energy/tet/tet_curvature.h"
#include "energy/lame.h"
#include "energy/tet/neo_hookean_law.h"
#include "energy/tet/tet_reduced.h"
#include "energy/tet/tet_vertex_kernel.h"

enum {
    DATA_COUNT = TET_MATERIAL + 1
}; /* l / mu */
enum {
    MATCHED = LAME_PARAMETER_COUNT
};
enum {
    CONSTRAINT_COUNT = 2
}; /* of the split form */

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

KERNEL_INLINE lane stress(const lane F[9], const sinew_real *material, lane P[9])
{
    return neo_hookean_stress(F, lane_load(material), P);
}

KERNEL_INLINE void curvature(const lane sigma[3], const sinew_real *material, isotropic_eigen *eigen)
{
    const lane ratio = lane_load(material);
    const lane growth = sigma[0] * sigma[1] * sigma[2] - 1;
    isotropic_volume_form(sigma, lane_set(1), ratio * growth - 1, ratio, eigen);
}

#include "energy/tet/isotropic_material.h"

/* psi + this = |F|^2/2 + l/(2 mu) (J - 1 - mu/l)^2, the sum of squares of thesis (4.32) */
KERNEL_INLINE lane neo_hookean_offset(const sinew_real *material)
{
    return (sinew_real)1.5 + (sinew_real)0.5 / lane_load(material);
}

/* C = |F| with alpha = 1/(mu V), then C = J - 1 - mu/l with alpha = 1/(l V) or hard, thesis (4.34), (4.35) */
static void neo_hookean_constrain_split(const sinew_constrain_kernel *kernel)
{
    const lane tiny = lane_set(LANE_EPSILON);
    const bool hard = kernel->form == SINEW_FORM_INCOMPRESSIBLE;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        sinew_real *lambda = group_lambda(kernel, group, CONSTRAINT_COUNT);
        const lane weight = lane_load(data), ratio = lane_load(data + TET_MATERIAL * LANES);
        constrained c;
        lane lower[6], F[9], P[9];
        constrain_gather(kernel->xw, vertex, 4, &c);
        load_lanes(data + TET_LOWER * LANES, 6, lower);
        constrain_deformation(&c, lower, F);
        const lane size = lane_sqrt(norm3(F));
        constrain_gradient(F, lower, &c);
        constrain_apply(kernel, group, vertex, 4, size, lane_max(size, tiny), weight, false, lambda, &c);
        constrain_follow(4, &c);
        constrain_deformation(&c, lower, F);
        const lane growth = cofactor3(F, P) - 1;
        constrain_gradient(P, lower, &c);
        constrain_apply(kernel, group, vertex, 4, hard ? growth : growth - 1 / ratio, lane_set(1), weight * ratio, hard,
                        lambda + LANES, &c);
    }
}

/* The same stress, and a psi whose root is as exact as psi. */
KERNEL_INLINE lane stress_near_rest(const lane F[9], const sinew_real *material, lane P[9])
{
    const lane plain = stress(F, material, P);
    return neo_hookean_near_rest(F, lane_load(material), plain);
}

/* C = J - 1: what is left of (4.32) as l grows without bound and alpha with it goes to zero, thesis (4.33). */
static void neo_hookean_constrain_volume(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const int32_t *vertex = group_vertex(&kernel->groups, group, 4);
        constrained c;
        lane lower[6], F[9], P[9];
        constrain_gather(kernel->xw, vertex, 4, &c);
        load_lanes(data + TET_LOWER * LANES, 6, lower);
        constrain_deformation(&c, lower, F);
        const lane growth = cofactor3(F, P) - 1;
        constrain_gradient(P, lower, &c);
        constrain_apply(kernel, group, vertex, 4, growth, lane_set(1), lane_load(data), true,
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
        tet_constrain(kernel, DATA_COUNT, CONSTRAINT_COUNT, stress_near_rest, no_offset);
}

/* The two of constrain_split, both at x: it moves on to where the first one leads before it takes the second. */
static void neo_hookean_jacobian_split(const sinew_jacobian_kernel *kernel)
{
    const bool hard = kernel->form == SINEW_FORM_INCOMPRESSIBLE;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        const lane weight = lane_load(data), ratio = lane_load(data + TET_MATERIAL * LANES);
        constrained c;
        lane lower[6], F[9], P[9];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_lanes(data + TET_LOWER * LANES, 6, lower);
        constrain_deformation(&c, lower, F);
        const lane size = lane_sqrt(norm3(F)), growth = cofactor3(F, P) - 1;
        constrain_gradient(F, lower, &c);
        jacobian_write(kernel, group, 0, CONSTRAINT_COUNT, 4, size, lane_max(size, lane_set(LANE_EPSILON)), weight,
                       false, &c);
        constrain_gradient(P, lower, &c);
        jacobian_write(kernel, group, 1, CONSTRAINT_COUNT, 4, hard ? growth : growth - 1 / ratio, lane_set(1),
                       weight * ratio, hard, &c);
    }
}

static void neo_hookean_jacobian_volume(const sinew_jacobian_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        constrained c;
        lane lower[6], F[9], P[9];
        constrain_gather(kernel->x, group_vertex(&kernel->groups, group, 4), 4, &c);
        load_lanes(data + TET_LOWER * LANES, 6, lower);
        constrain_deformation(&c, lower, F);
        const lane growth = cofactor3(F, P) - 1;
        constrain_gradient(P, lower, &c);
        for (int i = 0; i < CONSTRAINT_COUNT; i++)
            jacobian_write(kernel, group, i, CONSTRAINT_COUNT, 4, growth, lane_set(1),
                           i == 0 ? lane_load(data) : lane_set(0), true, &c);
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
        tet_jacobian(kernel, DATA_COUNT, CONSTRAINT_COUNT, stress_near_rest, no_offset);
}

/* C = |F| and C = J: second derivatives of the two. */
KERNEL_INLINE void curves_split(const lane F[9], const lane lambda[CONSTRAINT_COUNT], tet_second *s)
{
    const lane inverse = 1 / lane_max(lane_sqrt(norm3(F)), lane_set(LANE_EPSILON));
    s->norm = lambda[0] * inverse;
    s->volume = lambda[1];
    s->rise = -(lambda[0] * inverse) * (inverse * inverse);
    memcpy(s->P, F, sizeof s->P);
}

/* C = J - 1 alone. */
KERNEL_INLINE void curves_volume(const lane F[9], lane lambda, tet_second *s)
{
    s->volume = lambda;
    memcpy(s->P, F, sizeof s->P);
}

/* psi = |F|^2/2 + (r (J - 1) - 1) (J - 1) - ..., and its root: (d2psi - P P^T / C^2) / C */
KERNEL_INLINE void curves_joined(const lane F[9], const sinew_real *material, bool whole, lane shift, lane lambda,
                                 tet_second *s)
{
    const lane ratio = lane_load(material), zero = lane_set(0), one = lane_set(1);
    lane cofactor[9];
    const lane psi = stress_near_rest(F, material, s->P), tiny = lane_set(LANE_EPSILON * LANE_EPSILON);
    const lane root = lane_max(lane_sqrt(lane_max(2 * (psi + shift), zero)), tiny), scale = whole ? one : 1 / root;
    s->norm = lambda * scale;
    s->volume = lambda * scale * (ratio * (cofactor3(F, cofactor) - 1) - 1);
    s->swell = lambda * scale * ratio;
    s->rise = whole ? zero : -lambda * scale * (scale * scale);
}

static void neo_hookean_curvature(const sinew_jacobian_kernel *kernel)
{
    const bool split = kernel->form == SINEW_FORM_SPLIT || kernel->form == SINEW_FORM_INCOMPRESSIBLE;
    const bool combined = kernel->form == SINEW_FORM_COMBINED;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT),
                         *material = data + TET_MATERIAL * LANES;
        const lane zero = lane_set(0), weight = lane_load(data),
                   lambda[CONSTRAINT_COUNT] = {curvature_factor(kernel, group, 0, CONSTRAINT_COUNT, weight),
                                               curvature_factor(kernel, group, 1, CONSTRAINT_COUNT, weight)};
        tet_second s = {.norm = zero, .volume = zero, .swell = zero, .rise = zero};
        lane lower[6], F[9];
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

static void neo_hookean_visit(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                              int32_t *others)
{
    volume_visit(data, particles, node, false, out, others);
}

/* As one node moves psi is a quadratic, so the exact block, with 1 for 2, makes the very step to its minimum. */
KERNEL_INLINE void neo_hookean_add(const visit *v, bool exact, visit_sum *sum)
{
    const lane ratio = lane_load(v->data + VOLUME_MATERIAL * LANES);
    volume_state s;
    volume_look(v, false, &s);
    volume_add(v, &s, lane_set(1), ratio * (s.J - 1) - 1, lane_set(exact ? 1 : 2), ratio, sum);
}

KERNEL_INLINE lane neo_hookean_difference(const visit *v, const lane d[3], lane *noise)
{
    const lane ratio = lane_load(v->data + VOLUME_MATERIAL * LANES), half = lane_set((sinew_real)0.5);
    volume_state s;
    lane norm, J;
    volume_look(v, false, &s);
    volume_moved(&s, d, &norm, &J);
    const lane pressed = J * (ratio * (s.J - 1) - 1), squared = half * ratio * J * J;
    *noise = 4 * LANE_EPSILON * (lane_abs(norm) + lane_abs(pressed) + squared);
    return half * norm + pressed + squared;
}

static void neo_hookean_vertex(const sinew_vertex_kernel *kernel)
{
    visit_vertex(kernel, 3, VOLUME_DATA_COUNT, neo_hookean_add);
}

static void neo_hookean_vertex_change(const sinew_vertex_kernel *kernel)
{
    visit_change(kernel, 3, VOLUME_DATA_COUNT, neo_hookean_difference);
}

const sinew_energy_ops SINEW_LANE_SYMBOL(sinew_energy_neo_hookean) = {
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
    .visit_data_count = VOLUME_DATA_COUNT,
    .visit = neo_hookean_visit,
    .vertex_change = neo_hookean_vertex_change,
    .vertex_bounds = SINEW_BOUND_CHEAP | SINEW_BOUND_EXACT,
};
