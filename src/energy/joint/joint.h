/* SPDX-License-Identifier: MIT
 *
 * joint.h: constraints between two frames A and B of four vertices each, for joints, their limits and motors. Rigid
 * bodies have such frames (world/bodies/rigid.c); a tet of a soft body is one, too.
 *
 * A point of a frame is a weighted sum of its vertices with weights of sum one; a direction has weights of sum zero.
 * Both are computed in the rest shape. The vectors of a joint, and the products of two vectors in constraints:
 *
 *     P = p_B - p_A                the joint's point, in B minus in A
 *     e_1 e_2 e_3, f_1 f_3         directions of A and of B that agree at rest, e_3 the axis; f times the arm r
 *     P.e_1  P.e_2  P.e_3          distance of the points in A's directions, m
 *     f_3.e_1  f_3.e_2  f_1.e_2    r times the sines of B's rotation; f_1.e_1 a cosine
 *
 *     C_i = sum_m a_im (u_m . w_m) + c_i        psi = k/2 sum_i C_i^2, one-sided constraints: only where C_i < 0
 *     grad_a C_i = sum_m a_im (cu_a w + cw_a u)          H_ab = sum_m a_im (cu_a cw_b + cw_a cu_b) 1
 *
 * with cu_a the weight of vertex a in u. The arm r is the root mean square distance of the vertices from the centroids
 * of their frames, so that all C are lengths with a common k. Second derivatives of C are constant.
 *
 * This header is a template: the file of an energy includes it once, after defining JOINT_CONSTRAINTS, JOINT_FIRST
 * (index of the vectors in its data), DATA_COUNT and JOINT_ONE_SIDED, and defines the function joint_coefficients().
 */
#ifndef SINEW_SRC_ENERGY_JOINT_JOINT_H
#define SINEW_SRC_ENERGY_JOINT_JOINT_H

#include "energy/constrain.h"
#include "energy/curvature.h"
#include "energy/dense_element.h"

enum {
    POINTS = 8,
    JOINT_SIZE = 3 * POINTS,
    /* Indices in data of the weights of the joint's point in frames A and B. The last three vertices of a frame have
     * stored weights; the weight of the first follows from the sum. */
    JOINT_ANCHOR_A = JOINT_FIRST,
    JOINT_ANCHOR_B = JOINT_ANCHOR_A + 3,
    JOINT_AXES = JOINT_ANCHOR_B + 3, /* index in data of the weights of the axes e_1 e_2 e_3 f_1 f_3 */
    JOINT_AXIS_COUNT = 5,
    JOINT_END = JOINT_AXES + 3 * JOINT_AXIS_COUNT
};

enum {
    VECTOR_P,
    VECTOR_E1,
    VECTOR_E2,
    VECTOR_E3,
    VECTOR_F1,
    VECTOR_F3,
    VECTOR_COUNT
};

enum {
    PRODUCT_P1,
    PRODUCT_P2,
    PRODUCT_P3,
    PRODUCT_F3E1,
    PRODUCT_F3E2,
    PRODUCT_F1E2,
    PRODUCT_F1E1,
    PRODUCT_COUNT
};

static const int joint_product[PRODUCT_COUNT][2] = {
    {VECTOR_P, VECTOR_E1},  {VECTOR_P, VECTOR_E2},  {VECTOR_P, VECTOR_E3},  {VECTOR_F3, VECTOR_E1},
    {VECTOR_F3, VECTOR_E2}, {VECTOR_F1, VECTOR_E2}, {VECTOR_F1, VECTOR_E1},
};

/* Writes the coefficients a [PRODUCT_COUNT] of joint constraint C_i and returns its constant c_i. */
KERNEL_INLINE wide joint_coefficients(const sinew_real *data, int i, wide *a);

/* ---- Rest shape of a joint's frames -------------------------------------------------------------- */

/* The first parameters of every joint energy (joint, limit, motor). */
enum {
    JOINT_TYPE,
    JOINT_STIFFNESS,
    JOINT_POINT,
    JOINT_AXIS = JOINT_POINT + 3,
    JOINT_PARAMETER_COUNT = JOINT_AXIS + 3
};

#define JOINT_COORDINATE(text, about, value)                                                                           \
    {                                                                                                                  \
        .name = text, .unit = "m", .minimum = -1e9, .maximum = 1e9, .preset = value, .meaning = about                  \
    }
#define JOINT_DIRECTION(text, value)                                                                                   \
    {                                                                                                                  \
        .name = text, .unit = "", .minimum = -1e9, .maximum = 1e9, .preset = value,                                    \
        .meaning = "the joint's axis in the rest shape, of any length"                                                 \
    }
#define JOINT_PARAMETERS(types, max, about)                                                                            \
    [JOINT_TYPE] = {.name = "type", .unit = "", .choices = types, .maximum = max, .meaning = about},                   \
    [JOINT_STIFFNESS] = {.name = "stiffness",                                                                          \
                         .unit = "N/m",                                                                                \
                         .minimum = 0,                                                                                 \
                         .maximum = INFINITY,                                                                          \
                         .preset = 1e6,                                                                                \
                         .open_maximum = true,                                                                         \
                         .meaning = "k, force per distance; of no matter where the energy is hard"},                   \
    [JOINT_POINT] = JOINT_COORDINATE("point_x", "where the joint is in the rest shape", 0),                            \
    [JOINT_POINT + 1] = JOINT_COORDINATE("point_y", "where the joint is in the rest shape", 0),                        \
    [JOINT_POINT + 2] = JOINT_COORDINATE("point_z", "where the joint is in the rest shape", 0),                        \
    [JOINT_AXIS] = JOINT_DIRECTION("axis_x", 0), [JOINT_AXIS + 1] = JOINT_DIRECTION("axis_y", 0),                      \
    [JOINT_AXIS + 2] = JOINT_DIRECTION("axis_z", 1)

static inline double joint_determinant(const double M[9])
{
    return M[0] * (M[4] * M[8] - M[5] * M[7]) - M[1] * (M[3] * M[8] - M[5] * M[6]) + M[2] * (M[3] * M[7] - M[4] * M[6]);
}

/* A frame at rest: its first vertex, and the inverse of the matrix of edges from that vertex to the other three. */
typedef struct joint_frame {
    double origin[3], inverse[9];
    double spread; /* sum of squared distances of a frame's four vertices from their centroid, in m2 */
} joint_frame;

/* Measures the frame of vertices x [4][3]. Returns false if the vertices are coplanar or nearly so. */
static inline bool joint_measure(const sinew_real *x, joint_frame *f)
{
    double M[9], middle[3] = {0, 0, 0};
    f->spread = 0;
    for (int i = 0; i < 12; i++)
        middle[i % 3] += (double)x[i] / 4;
    for (int i = 0; i < 12; i++)
        f->spread += ((double)x[i] - middle[i % 3]) * ((double)x[i] - middle[i % 3]);
    for (int i = 0; i < 3; i++) {
        f->origin[i] = (double)x[i];
        for (int a = 0; a < 3; a++)
            M[3 * i + a] = (double)x[3 * (a + 1) + i] - (double)x[i];
    }
    const double determinant = joint_determinant(M);
    if (!(fabs(determinant) > 1e-9 * f->spread * sqrt(f->spread)))
        return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            f->inverse[3 * i + j] = (M[3 * a + c] * M[3 * b + d] - M[3 * a + d] * M[3 * b + c]) / determinant;
        }
    return true;
}

/* data [3] = weights of a frame's last three vertices in the vector v, times `scale`. */
static inline void joint_weight_of(const joint_frame *f, const double v[3], double scale, sinew_real *data)
{
    for (int i = 0; i < 3; i++)
        data[i] = (sinew_real)(scale * (f->inverse[3 * i] * v[0] + f->inverse[3 * i + 1] * v[1] +
                                        f->inverse[3 * i + 2] * v[2]));
}

/* e [3][3]: two unit directions perpendicular to the joint's axis, then the axis. Returns false if the axis is zero or
 * not finite. */
static inline bool joint_directions(const sinew_real *axis, double e[3][3])
{
    double length = 0;
    for (int i = 0; i < 3; i++)
        length += (double)axis[i] * (double)axis[i];
    if (!(length > 0) || !isfinite(length))
        return false;
    for (int i = 0; i < 3; i++)
        e[2][i] = (double)axis[i] / sqrt(length);
    int min = 0;
    for (int i = 1; i < 3; i++)
        min = fabs(e[2][i]) < fabs(e[2][min]) ? i : min;
    const double across = sqrt(1 - e[2][min] * e[2][min]);
    for (int i = 0; i < 3; i++)
        e[0][i] = ((i == min) - e[2][min] * e[2][i]) / across;
    for (int i = 0; i < 3; i++)
        e[1][i] = e[2][(i + 1) % 3] * e[0][(i + 2) % 3] - e[2][(i + 2) % 3] * e[0][(i + 1) % 3];
    return true;
}

/* Fills the weight and the vectors of a joint in its data. Returns NULL, or a reason to refuse the joint. */
static inline const char *joint_prepare_vectors(const sinew_element *element, sinew_real *data)
{
    const sinew_real *p = element->parameters;
    joint_frame f[2];
    double e[3][3], way[3];
    for (int j = 0; j < 2; j++)
        if (!joint_measure(element->rest + 12 * (size_t)j, &f[j]))
            return j == 0 ? "the four vertices of its first frame lie in a plane at rest"
                          : "the four vertices of its second frame lie in a plane at rest";
    if (!joint_directions(p + JOINT_AXIS, e))
        return "its axis has no length; give a direction";
    const double arm = sqrt((f[0].spread + f[1].spread) / POINTS);
    data[0] = p[JOINT_STIFFNESS];
    for (int j = 0; j < 2; j++) {
        for (int i = 0; i < 3; i++)
            way[i] = (double)p[JOINT_POINT + i] - f[j].origin[i];
        joint_weight_of(&f[j], way, 1, data + (j == 0 ? JOINT_ANCHOR_A : JOINT_ANCHOR_B));
    }
    for (int k = 0; k < 3; k++)
        joint_weight_of(&f[0], e[k], 1, data + JOINT_AXES + 3 * k);
    joint_weight_of(&f[1], e[0], arm, data + JOINT_AXES + 9);
    joint_weight_of(&f[1], e[2], arm, data + JOINT_AXES + 12);
    return NULL;
}

/* ---- Vectors and constraints of the deformed joint ----------------------------------------------- */

typedef struct joint_now {
    wide vector[VECTOR_COUNT][3];
    wide weight[VECTOR_COUNT][POINTS];
} joint_now;

/* Loads the weights of a frame's four vertices; the first weight follows from the sum of all. */
KERNEL_INLINE void joint_load(const sinew_real *data, wide sum, wide sign, wide weight[4])
{
    weight[0] = sign * sum;
    for (int a = 0; a < 3; a++) {
        weight[a + 1] = sign * wide_load(data + a * SIMD_WIDTH);
        weight[0] -= weight[a + 1];
    }
}

KERNEL_INLINE void joint_geometry(const wide *x, const sinew_real *data, joint_now *s)
{
    const wide zero = wide_set(0), one = wide_set(1);
    for (int v = 0; v < VECTOR_COUNT; v++)
        for (int a = 0; a < POINTS; a++)
            s->weight[v][a] = zero;
    joint_load(data + JOINT_ANCHOR_A * SIMD_WIDTH, one, -one, s->weight[VECTOR_P]);
    joint_load(data + JOINT_ANCHOR_B * SIMD_WIDTH, one, one, s->weight[VECTOR_P] + 4);
    for (int k = 0; k < JOINT_AXIS_COUNT; k++)
        joint_load(data + (JOINT_AXES + 3 * k) * SIMD_WIDTH, zero, one, s->weight[VECTOR_E1 + k] + (k < 3 ? 0 : 4));
    for (int v = 0; v < VECTOR_COUNT; v++)
        for (int i = 0; i < 3; i++) {
            s->vector[v][i] = zero;
            for (int a = 0; a < POINTS; a++)
                s->vector[v][i] += s->weight[v][a] * x[3 * a + i];
        }
}

/* Returns the value C of joint constraint i; writes its coefficients to a and, unless g is NULL, its gradient to g. */
KERNEL_INLINE wide joint_evaluate(const joint_now *s, const sinew_real *data, int i, wide a[PRODUCT_COUNT], wide *g)
{
    wide C = joint_coefficients(data, i, a);
    for (int k = 0; g && k < JOINT_SIZE; k++)
        g[k] = wide_set(0);
    for (int m = 0; m < PRODUCT_COUNT; m++) {
        const int u = joint_product[m][0], w = joint_product[m][1];
        C += a[m] * dot3(s->vector[u], s->vector[w]);
        for (int k = 0; g && k < JOINT_SIZE; k++)
            g[k] += a[m] * (s->weight[u][k / 3] * s->vector[w][k % 3] + s->weight[w][k / 3] * s->vector[u][k % 3]);
    }
    return C;
}

/* Value C of a joint constraint, or zero where a one-sided one is inactive (C > 0). */
KERNEL_INLINE wide joint_active_value(wide C)
{
    return JOINT_ONE_SIDED ? wide_min(C, wide_set(0)) : C;
}

/* ---- Energy, gradient and Hessian of a joint ----------------------------------------------------- */

KERNEL_INLINE wide element_first(const wide *x, const sinew_real *data, wide *g)
{
    joint_now s;
    wide psi = wide_set(0), slope[JOINT_SIZE] = {0}, a[PRODUCT_COUNT];
    joint_geometry(x, data, &s);
    for (int k = 0; g && k < JOINT_SIZE; k++)
        g[k] = wide_set(0);
    for (int i = 0; i < JOINT_CONSTRAINTS; i++) {
        const wide C = joint_active_value(joint_evaluate(&s, data, i, a, g ? slope : NULL));
        psi += (sinew_real)0.5 * C * C;
        for (int k = 0; g && k < JOINT_SIZE; k++)
            g[k] += C * slope[k];
    }
    return psi;
}

/* Second derivative of a joint constraint C by vertices p and q: the factor of the identity in their 3x3 block. */
KERNEL_INLINE wide joint_second_derivative(const joint_now *s, const wide a[PRODUCT_COUNT], int p, int q)
{
    wide sum = wide_set(0);
    for (int m = 0; m < PRODUCT_COUNT; m++) {
        const int u = joint_product[m][0], w = joint_product[m][1];
        sum += a[m] * (s->weight[u][p] * s->weight[w][q] + s->weight[w][p] * s->weight[u][q]);
    }
    return sum;
}

static void element_second(const wide *x, const sinew_real *data, wide *H)
{
    joint_now s;
    wide slope[JOINT_SIZE], a[PRODUCT_COUNT];
    joint_geometry(x, data, &s);
    for (int k = 0; k < DENSE_COUNT(POINTS); k++)
        H[k] = wide_set(0);
    for (int i = 0; i < JOINT_CONSTRAINTS; i++) {
        const wide C = joint_evaluate(&s, data, i, a, slope);
        const wide on = JOINT_ONE_SIDED ? wide_select(wide_lt(C, wide_set(0)), wide_set(1), wide_set(0)) : wide_set(1);
        for (int p = 0; p < POINTS; p++)
            for (int q = 0; q <= p; q++) {
                const wide bend = on * C * joint_second_derivative(&s, a, p, q);
                for (int k = 0; k < 9; k++)
                    if (3 * p + k / 3 >= 3 * q + k % 3)
                        H[dense_at(3 * p + k / 3, 3 * q + k % 3)] +=
                            on * slope[3 * p + k / 3] * slope[3 * q + k % 3] + (k / 3 == k % 3 ? bend : wide_set(0));
            }
    }
}

#include "energy/dense_energy.h"

/* ---- Joints as constraints, for PBD, XPBD and KKT systems ---------------------------------------- */

/* Joint constraint i at the points in c. `all`: inactive one-sided constraints keep their weight. */
KERNEL_INLINE wide joint_constraint(const sinew_real *data, int i, bool all, bool as_energy, constrained *c,
                                    wide *weight)
{
    const wide zero = wide_set(0);
    joint_now s;
    wide x[JOINT_SIZE], a[PRODUCT_COUNT], used = zero;
    for (int k = 0; k < JOINT_SIZE; k++)
        x[k] = c->x[4 * (k / 3) + k % 3];
    joint_geometry(x, data, &s);
    const wide C = joint_evaluate(&s, data, i, a, c->gradient);
    for (int m = 0; m < PRODUCT_COUNT; m++)
        used = wide_max(used, wide_abs(a[m]));
    const wide_mask idle = wide_le(used, zero), past = wide_le(zero, C);
    *weight = wide_select(JOINT_ONE_SIDED && !all ? idle | past : idle, zero, wide_load(data));
    const wide acting = joint_active_value(C);
    for (int k = 0; as_energy && k < JOINT_SIZE; k++)
        c->gradient[k] *= acting;
    return as_energy ? (sinew_real)0.5 * acting * acting : C;
}

KERNEL_INLINE wide joint_sweep_constraint(const sinew_real *data, int i, bool as_energy, constrained *c, wide *weight)
{
    return joint_constraint(data, i, false, as_energy, c, weight);
}

KERNEL_INLINE wide joint_jacobian_constraint(const sinew_real *data, int i, bool as_energy, constrained *c,
                                             wide *weight)
{
    return joint_constraint(data, i, true, as_energy, c, weight);
}

static void joint_constrain(const sinew_constrain_kernel *kernel)
{
    for (int32_t group = 0; group < kernel->groups.count; group++)
        several_constrain(kernel, group, DATA_COUNT, POINTS, JOINT_CONSTRAINTS, joint_sweep_constraint);
}

static void joint_jacobian(const sinew_jacobian_kernel *kernel)
{
    several_jacobian(kernel, DATA_COUNT, POINTS, JOINT_CONSTRAINTS, joint_jacobian_constraint);
}

/* Adds to B lambda times the 3x3 block (p, q), row-major, of the second derivatives of joint constraint i;
 * `as_energy`: of C^2 / 2, C its value. */
KERNEL_INLINE void joint_curve(const joint_now *s, const sinew_real *data, int i, bool as_energy, wide lambda, int p,
                               int q, wide B[9])
{
    wide a[PRODUCT_COUNT], slope[JOINT_SIZE];
    const wide C = joint_evaluate(s, data, i, a, slope);
    const wide_mask off = JOINT_ONE_SIDED && as_energy ? wide_le(wide_set(0), C) : wide_lt(C, C);
    const wide factor = wide_select(off, wide_set(0), lambda), bend = joint_second_derivative(s, a, p, q);
    for (int k = 0; k < 9; k++) {
        const wide square = as_energy ? slope[3 * p + k / 3] * slope[3 * q + k % 3] : wide_set(0);
        B[k] += factor * (square + (k % 4 == 0 ? (as_energy ? C * bend : bend) : wide_set(0)));
    }
}

static void joint_curvature(const sinew_jacobian_kernel *kernel)
{
    const bool as_energy = kernel->form == SINEW_FORM_ENERGY;
    for (int32_t group = 0; group < kernel->groups.count; group++) {
        const sinew_real *data = group_data(&kernel->groups, group, DATA_COUNT);
        sinew_real *blocks = curvature_blocks(kernel, group, POINTS);
        wide x[JOINT_SIZE];
        joint_now s;
        dense_gather(kernel->x, group_vertex(&kernel->groups, group, POINTS), POINTS, x);
        joint_geometry(x, data, &s);
        for (int p = 0; p < POINTS; p++)
            for (int q = 0; q <= p; q++) {
                wide B[9] = {0};
                for (int i = 0; i < JOINT_CONSTRAINTS; i++)
                    joint_curve(&s, data, i, as_energy,
                                curvature_factor(kernel, group, i, JOINT_CONSTRAINTS, wide_load(data)), p, q, B);
                store_wide_array(blocks + block_index(p, q) * 9 * SIMD_WIDTH, 9, B);
            }
    }
}

#define JOINT_INFO                                                                                                     \
    .stencil = SINEW_STENCIL_FRAMES, .vertex_count = POINTS, .parameters = parameters,                                 \
    .parameter_count = sizeof parameters / sizeof parameters[0],                                                       \
    .capabilities = SINEW_CAN_CONSTRAINT | SINEW_CAN_JACOBIAN

#define JOINT_OPS                                                                                                      \
    DENSE_OPS, .constraint_count = JOINT_CONSTRAINTS, .constrain = joint_constrain, .jacobian = joint_jacobian,        \
               .curvature = joint_curvature

#endif
