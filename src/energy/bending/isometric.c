/* SPDX-License-Identifier: MIT
 *
 * isometric.c: isometric quadratic bending on hinges (Bergou et al., A Quadratic Bending Model for Inextensible
 * Surfaces, 2006).
 *
 *     z = sum_a c_a x_a,  c_w = 1/h_w for the wings, -(1 - t_w)/h_w and -t_w/h_w at the ends of the edge
 *     psi = k/2 (|z| - L)^2,  k = D |e|^2 / A_e
 * with heights h_w and the positions t_w of their feet on the edge, both of the rest shape (|e| c_a are the sums of
 * cotangents of the paper). z is the sum of the unit vectors across the edge. Its length is 2 sin(theta/2) while
 * triangles keep their shape: for small angles psi is that of the hinge energy with the same D. A flat rest shape, the
 * case of the paper, has L = 0 and a constant Hessian. A curved rest shape determines |z|, but not the sign of the
 * fold, which may snap to its mirror image. With slack, L is the value nearest to |z| between the lengths 2
 * sin(theta/2) of two angles: the hinge is free between them (PD 5.4, strain limiting for bending). Stretch across the
 * edge also costs energy, so this energy is for cloth that hardly stretches.
 */
enum {
    VERTEX_COUNT = 4
};

#include "energy/bending/hinge_geometry.h"
#include "energy/plate_parameters.h"
#include "energy/edge/length_element.h"

static const sinew_parameter parameters[] = {PLATE_LENGTH_PARAMETERS("the hinge", "rad", "the angle")};

/* The length |z| = 2 sin(theta/2) of a hinge that is bent by `more` beyond the angle at which |z| is the rest length
 * L; theta is clamped between flat and folded. */
static double slack_length(double L, double more)
{
    const double theta = 2 * asin(fmin(L / 2, 1)) + more;
    return more == 0 ? L : 2 * sin(fmin(fmax(theta, 0), M_PI) / 2);
}

static const char *isometric_prepare(const sinew_element *element, sinew_real *data)
{
    hinge_rest r;
    const char *flaw = hinge_measure(element->rest, &r);
    if (flaw)
        return flaw;
    data[0] = (sinew_real)((double)element->parameters[PLATE_LENGTH_RIGIDITY] * hinge_area_weight(&r));
    const double L = element->parameters[PLATE_LENGTH_REST] > 0 ? 0 : length_rest_length(r.coefficient, element->rest);
    data[LENGTH_MIN] = (sinew_real)slack_length(L, -(double)element->parameters[PLATE_LENGTH_SLACK_BELOW]);
    data[LENGTH_GREATEST] = (sinew_real)slack_length(L, (double)element->parameters[PLATE_LENGTH_SLACK_ABOVE]);
    for (int a = 0; a < VERTEX_COUNT; a++)
        data[LENGTH_FIRST + a] = (sinew_real)r.coefficient[a];
    return NULL;
}

const sinew_energy_ops SINEW_SIMD_SYMBOL(sinew_energy_isometric) = {
    .info = {.name = "isometric",
             .summary = "D/2 |e|^2/A (|sum_a c_a x_a| - L)^2, quadratic where the rest shape is flat",
             .stencil = SINEW_STENCIL_HINGE,
             .vertex_count = VERTEX_COUNT,
             .parameters = parameters,
             .parameter_count = sizeof parameters / sizeof parameters[0],
             .capabilities = LENGTH_CAPABILITIES},
    LENGTH_OPS,
    .prepare = isometric_prepare,
};
