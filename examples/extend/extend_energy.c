/* SPDX-License-Identifier: MIT
 *
 * extend_energy.c: an energy that the library does not have, through <sinew/extend.h>: neo-Hookean rubber with fibres
 * of one direction in it (muscle, tendon, tyres). docs/guides/extending.md walks through this file.
 *
 *     psi = mu/2 (|F|^2 - 3) - mu (J - 1) + l/2 (J - 1)^2 + k/8 (I4 - 1)^2,   l = lambda + mu,  I4 = |F a|^2
 *     P   = mu F + (l (J - 1) - mu) cof F + k/2 (I4 - 1) (F a) a^T
 *
 * per rest volume. The fibre term is the anisotropic St. Venant-Kirchhoff energy from which Kim, De Goes and Iben 2019,
 * "Anisotropic elasticity for inversion-safety and element rehabilitation", start; a is a unit vector of the rest
 * shape. With b_a = d(barycentric coordinate of vertex a)/dX, F = sum_a x_a b_a^T, and
 *
 *     d psi / dx_a = V P b_a,    d2 psi / dx_a dx_b = V (dP/dF) contracted with b_a and b_b.
 *
 * Defined for every F. Known limit: fibres resist compression like tension; real fibres buckle.
 */
#include "extend.h"

#include <math.h>

enum {
    YOUNG,
    POISSON,
    FIBRE,
    FIBRE_X,
    FIBRE_PARAMETER_COUNT = FIBRE_X + 3
};

#define FIBRE_COMPONENT(letter, value)                                                                                 \
    {                                                                                                                  \
        .name = "fibre_" letter, .unit = "", .minimum = -1e6, .maximum = 1e6, .preset = value,                         \
        .meaning = letter " of the fibres' direction in the rest shape; any length but zero"                           \
    }

static const sinew_parameter fibre_parameters[FIBRE_PARAMETER_COUNT] = {
    [YOUNG] = {.name = "young",
               .unit = "Pa",
               .minimum = 0,
               .maximum = INFINITY,
               .preset = 1e5,
               .open_minimum = true,
               .open_maximum = true,
               .meaning = "Young's modulus of the rubber; raising it stiffens"},
    [POISSON] = {.name = "poisson",
                 .unit = "",
                 .minimum = 0,
                 .maximum = 0.5,
                 .preset = 0.45,
                 .open_maximum = true,
                 .meaning = "Poisson's ratio of the rubber; raising it keeps the volume better"},
    [FIBRE] = {.name = "fibre",
               .unit = "Pa",
               .minimum = 0,
               .maximum = INFINITY,
               .preset = 1e6,
               .open_maximum = true,
               .meaning = "what the fibres add to Young's modulus along them; 0: plain rubber"},
    FIBRE_COMPONENT("x", 1),
    FIBRE_COMPONENT("y", 0),
    FIBRE_COMPONENT("z", 0),
};

/* Data of an element. */
enum {
    VOLUME,
    MU,
    RATIO,    /* l = lambda + mu */
    STRENGTH, /* k, stiffness of the fibres */
    DIRECTION,
    SHAPE = DIRECTION + 3, /* b_1, b_2, b_3 */
    FIBRE_DATA_COUNT = SHAPE + 9
};

static double fibre_determinant(const double A[9])
{
    return A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
}

/* C = d det A / dA */
static void fibre_cofactors(const double A[9], double C[9])
{
    for (int i = 0; i < 9; i++) {
        const int r = (i / 3 + 1) % 3, s = (i / 3 + 2) % 3, c = (i % 3 + 1) % 3, d = (i % 3 + 2) % 3;
        C[i] = A[3 * r + c] * A[3 * s + d] - A[3 * r + d] * A[3 * s + c];
    }
}

static const char *fibre_prepare(void *context, const sinew_extension_element *element, double *data)
{
    (void)context;
    const double *p = element->parameters, *a = p + FIBRE_X, *X = element->rest;
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    double Dm[9], C[9]; /* columns of Dm: edges at rest */
    for (int i = 0; i < 9; i++)
        Dm[i] = X[3 * (i % 3 + 1) + i / 3] - X[i / 3];
    const double det = fibre_determinant(Dm);
    if (!(length > 0))
        return "its fibres have no direction; set fibre_x, fibre_y or fibre_z";
    if (det == 0)
        return "its rest volume is zero";
    fibre_cofactors(Dm, C);
    data[VOLUME] = fabs(det) / 6;
    data[MU] = p[YOUNG] / (2 * (1 + p[POISSON]));
    data[RATIO] = data[MU] + p[YOUNG] * p[POISSON] / ((1 + p[POISSON]) * (1 - 2 * p[POISSON]));
    data[STRENGTH] = p[FIBRE];
    for (int c = 0; c < 3; c++)
        data[DIRECTION + c] = a[c] / length;
    /* Row a of Dm^-1 = C^T / det is b_(a+1). */
    for (int i = 0; i < 9; i++)
        data[SHAPE + i] = C[3 * (i % 3) + i / 3] / det;
    return NULL;
}

/* Quantities of a deformed tet that psi and its derivatives share. */
typedef struct fibre_state {
    double b[4][3]; /* F = sum_a x_a b_a^T */
    double F[9], C[9], J, Fa[3], I4;
} fibre_state;

static void fibre_deform(const double *data, const double *x, fibre_state *d)
{
    for (int c = 0; c < 3; c++) {
        for (int a = 0; a < 3; a++)
            d->b[a + 1][c] = data[SHAPE + 3 * a + c];
        d->b[0][c] = -(d->b[1][c] + d->b[2][c] + d->b[3][c]);
    }
    for (int i = 0; i < 9; i++) {
        d->F[i] = 0;
        for (int a = 0; a < 4; a++)
            d->F[i] += x[3 * a + i / 3] * d->b[a][i % 3];
    }
    fibre_cofactors(d->F, d->C);
    d->J = fibre_determinant(d->F);
    d->I4 = 0;
    for (int i = 0; i < 3; i++) {
        d->Fa[i] = 0;
        for (int j = 0; j < 3; j++)
            d->Fa[i] += d->F[3 * i + j] * data[DIRECTION + j];
        d->I4 += d->Fa[i] * d->Fa[i];
    }
}

static double fibre_value(void *context, const double *data, const double *x)
{
    (void)context;
    fibre_state d;
    double square = 0;
    fibre_deform(data, x, &d);
    for (int i = 0; i < 9; i++)
        square += d.F[i] * d.F[i];
    const double growth = d.J - 1, excess = d.I4 - 1;
    return data[VOLUME] * (data[MU] * (0.5 * (square - 3) - growth) + 0.5 * data[RATIO] * growth * growth +
                           data[STRENGTH] / 8 * excess * excess);
}

static void fibre_gradient(void *context, const double *data, const double *x, double *gradient)
{
    (void)context;
    fibre_state d;
    double P[9];
    fibre_deform(data, x, &d);
    const double pressure = data[RATIO] * (d.J - 1) - data[MU], pull = data[STRENGTH] / 2 * (d.I4 - 1);
    for (int i = 0; i < 9; i++)
        P[i] = data[MU] * d.F[i] + pressure * d.C[i] + pull * d.Fa[i / 3] * data[DIRECTION + i % 3];
    for (int i = 0; i < 12; i++) {
        gradient[i] = 0;
        for (int j = 0; j < 3; j++)
            gradient[i] += data[VOLUME] * P[3 * (i % 3) + j] * d.b[i / 3][j];
    }
}

/* (C b_a)_i: the derivative of J with respect to coordinate i of vertex a. */
static double fibre_growth(const fibre_state *d, int a, int i)
{
    return d->C[3 * i] * d->b[a][0] + d->C[3 * i + 1] * d->b[a][1] + d->C[3 * i + 2] * d->b[a][2];
}

/* Second derivative of J with respect to coordinate i of x_a and k of x_b: eps_ikm (F (b_a x b_b))_m. */
static double fibre_growth_curvature(const fibre_state *d, int a, int i, int b, int k)
{
    if (i == k)
        return 0;
    const int m = 3 - i - k;
    const double sign = (i + 1) % 3 == k ? 1 : -1, *u = d->b[a], *v = d->b[b];
    const double cross[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
    return sign * (d->F[3 * m] * cross[0] + d->F[3 * m + 1] * cross[1] + d->F[3 * m + 2] * cross[2]);
}

static void fibre_hessian(void *context, const double *data, const double *x, double *hessian)
{
    (void)context;
    const double *direction = data + DIRECTION;
    fibre_state d;
    double along[4]; /* direction . b_a: derivative of F a with respect to vertex a */
    fibre_deform(data, x, &d);
    for (int a = 0; a < 4; a++)
        along[a] = d.b[a][0] * direction[0] + d.b[a][1] * direction[1] + d.b[a][2] * direction[2];
    const double pressure = data[RATIO] * (d.J - 1) - data[MU];
    for (int row = 0; row < 12; row++)
        for (int column = 0; column < 12; column++) {
            const int a = row / 3, i = row % 3, b = column / 3, k = column % 3;
            const double bb = d.b[a][0] * d.b[b][0] + d.b[a][1] * d.b[b][1] + d.b[a][2] * d.b[b][2];
            const double fibre = (i == k ? (d.I4 - 1) / 2 : 0) + d.Fa[i] * d.Fa[k];
            hessian[12 * row + column] =
                data[VOLUME] *
                ((i == k ? data[MU] * bb : 0) + data[RATIO] * fibre_growth(&d, a, i) * fibre_growth(&d, b, k) +
                 pressure * fibre_growth_curvature(&d, a, i, b, k) + data[STRENGTH] * along[a] * along[b] * fibre);
        }
}

/* Reduced coordinates for qn: z = D x are the columns of F. */
static void fibre_reduce(void *context, const double *data, double *D)
{
    (void)context;
    for (int r = 0; r < 3; r++) {
        for (int a = 0; a < 3; a++)
            D[4 * r + a + 1] = data[SHAPE + 3 * a + r];
        D[4 * r] = -(D[4 * r + 1] + D[4 * r + 2] + D[4 * r + 3]);
    }
}

/* One stiffness for all directions: that of a stretch along the fibres at rest, which is the largest. */
static double fibre_stiffness(void *context, const double *data, double low, double high)
{
    (void)context;
    (void)low;
    (void)high;
    return data[VOLUME] * (data[MU] + data[RATIO] + data[STRENGTH]);
}

sinew_energy_extension fibre_energy(void)
{
    sinew_energy_extension e = sinew_default_energy_extension();
    e.name = "fibre";
    e.summary = "neo_hookean + k/8 (|F a|^2 - 1)^2 per volume, fibres along a";
    e.stencil = SINEW_STENCIL_TET;
    e.parameters = fibre_parameters;
    e.parameter_count = FIBRE_PARAMETER_COUNT;
    e.data_count = FIBRE_DATA_COUNT;
    e.prepare = fibre_prepare;
    e.value = fibre_value;
    e.gradient = fibre_gradient;
    e.hessian = fibre_hessian;
    e.reduced_count = 3;
    e.reduce = fibre_reduce;
    e.stiffness = fibre_stiffness;
    return e;
}
