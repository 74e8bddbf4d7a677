/* SPDX-License-Identifier: MIT
 *
 * extension_kernels.c: builds operations over batches (energy.h) from functions of one element (sinew/extend.h).
 *
 * Each loop is written for any width W and wrapped twice, for the width of the process and for width one. Elements of
 * weight zero (fillers, and elements that are switched off) are not evaluated, except by `reduce`. The tangent is the
 * lower triangle of the Hessian, row by row; if projected, of the nearest semi-definite matrix. The one-vertex
 * operations evaluate the whole element.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "energy/extension.h"

enum {
    VERTEX_MAX = SINEW_EXTENSION_VERTEX_MAX,
    ROW_MAX = SINEW_EXTENSION_ROW_MAX,
    SIDE_MAX = 3 * VERTEX_MAX
};

/* Index of number i of the element in lane `lane` of SIMD group `group`, for arrays of n numbers per element. */
static size_t lane_at(int W, int32_t group, int n, int i, int lane)
{
    return ((size_t)group * (size_t)n + (size_t)i) * (size_t)W + (size_t)lane;
}

/* Index of entry (i, j) of a symmetric matrix whose lower triangle is stored row by row. */
static int triangle_at(int i, int j)
{
    return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

/* ---- Reading and writing one element ------------------------------------------------------------- */

/* Reads the data of an element; the extension and its counts are those of the first element in `data`. Returns false
 * if the weight is zero. */
static bool view_data(const sinew_real *data, int W, int32_t group, int lane, sinew_extension_view *e)
{
    e->of = sinew_extension_at((int)data[EXTENSION_SLOT * W], &e->n);
    const int count = EXTENSION_HEAD + e->of->data_count;
    e->weight = (double)data[lane_at(W, group, count, EXTENSION_WEIGHT, lane)];
    e->shape = (double)data[lane_at(W, group, count, EXTENSION_SHAPE, lane)];
    for (int i = 0; i < e->of->data_count; i++)
        e->data[i] = (double)data[lane_at(W, group, count, EXTENSION_HEAD + i, lane)];
    return e->weight != 0;
}

static void view_points(const sinew_groups *groups, const sinew_real *from, int W, int32_t group, int lane, int32_t n,
                        double *points)
{
    for (int a = 0; a < n; a++)
        for (int c = 0; c < 3; c++)
            points[3 * a + c] = (double)from[groups->vertex[lane_at(W, group, n, a, lane)] + c];
}

/* Reads data and vertex positions x of an element. Returns false if the weight is zero. */
static bool view_element(const sinew_groups *groups, const sinew_real *x, int W, int32_t group, int lane,
                         sinew_extension_view *e)
{
    const bool real = view_data(groups->data, W, group, lane, e);
    if (real)
        view_points(groups, x, W, group, lane, e->n, e->x);
    return real;
}

/* Adds scale f, f [n][3], to the gradient g of the element's n vertices. */
static void add_forces(const sinew_groups *groups, sinew_real *g, int W, int32_t group, int lane, int32_t n,
                       double scale, const double *f)
{
    for (int a = 0; a < n; a++)
        for (int c = 0; c < 3; c++)
            g[groups->vertex[lane_at(W, group, n, a, lane)] + c] += (sinew_real)(scale * f[3 * a + c]);
}

/* ---- Value, gradient and Hessian of registered energies ------------------------------------------ */

static double value_and_gradient_any(const sinew_kernel *kernel, int W, bool gradient)
{
    double sum = 0, f[SIDE_MAX];
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            if (!view_element(&kernel->groups, kernel->x, W, group, lane, &e))
                continue;
            sum += e.weight * e.of->value(e.of->context, e.data, e.x);
            if (!gradient)
                continue;
            e.of->gradient(e.of->context, e.data, e.x, f);
            add_forces(&kernel->groups, kernel->g, W, group, lane, e.n, e.weight, f);
        }
    return sum;
}

static double value_any(const sinew_kernel *kernel, int W)
{
    return value_and_gradient_any(kernel, W, false);
}

static double gradient_any(const sinew_kernel *kernel, int W)
{
    return value_and_gradient_any(kernel, W, true);
}

static void linearise_any(const sinew_kernel *kernel, int W)
{
    double H[SIDE_MAX * SIDE_MAX];
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const bool real = view_element(&kernel->groups, kernel->x, W, group, lane, &e);
            const int side = 3 * e.n, count = side * (side + 1) / 2;
            if (real)
                e.of->hessian(e.of->context, e.data, e.x, H);
            if (real && kernel->project)
                sinew_extension_clamp(H, side);
            for (int i = 0; i < side; i++)
                for (int j = 0; j <= i; j++)
                    kernel->tangent[lane_at(W, group, count, triangle_at(i, j), lane)] =
                        (sinew_real)(real ? e.weight * H[i * side + j] : 0);
        }
}

static void product_any(const sinew_kernel *kernel, int W)
{
    double f[SIDE_MAX];
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            if (!view_element(&kernel->groups, kernel->p, W, group, lane, &e))
                continue;
            const int side = 3 * e.n, count = side * (side + 1) / 2;
            for (int i = 0; i < side; i++) {
                f[i] = 0;
                for (int j = 0; j < side; j++)
                    f[i] += (double)kernel->tangent[lane_at(W, group, count, triangle_at(i, j), lane)] * e.x[j];
            }
            add_forces(&kernel->groups, kernel->g, W, group, lane, e.n, 1, f);
        }
}

static void hessian_any(const sinew_kernel *kernel, int W)
{
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            view_data(kernel->groups.data, W, group, lane, &e);
            const int side = 3 * e.n, count = side * (side + 1) / 2, blocks = e.n * (e.n + 1) / 2;
            for (int a = 0, block = 0; a < e.n; a++)
                for (int b = 0; b <= a; b++, block++)
                    for (int k = 0; k < 9; k++)
                        kernel->blocks[lane_at(W, group, 9 * blocks, 9 * block + k, lane)] =
                            kernel->tangent[lane_at(W, group, count, triangle_at(3 * a + k / 3, 3 * b + k % 3), lane)];
        }
}

static void determinants_any(const sinew_kernel *kernel, int W, double *smallest, double *largest, int32_t *inverted)
{
    sinew_extension_view e;
    *smallest = INFINITY;
    *largest = -INFINITY;
    *inverted = 0;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            double D[9];
            if (!view_element(&kernel->groups, kernel->x, W, group, lane, &e))
                continue;
            for (int i = 0; i < 9; i++)
                D[i] = e.x[3 * (i / 3 + 1) + i % 3] - e.x[i % 3];
            const double det = e.shape * (D[0] * (D[4] * D[8] - D[5] * D[7]) - D[1] * (D[3] * D[8] - D[5] * D[6]) +
                                          D[2] * (D[3] * D[7] - D[4] * D[6]));
            *smallest = fmin(*smallest, det);
            *largest = fmax(*largest, det);
            *inverted += !(det > 0);
        }
}

/* ---- Vertex kernels: an element as a function of one vertex -------------------------------------- */

static void extension_incidence(const sinew_real *data, const int32_t *particles, int node, sinew_real *out,
                                int32_t *others)
{
    int32_t n;
    const sinew_energy_extension *of = sinew_extension_at((int)data[EXTENSION_SLOT], &n);
    memcpy(out, data, (size_t)(EXTENSION_HEAD + of->data_count) * sizeof *out);
    out[EXTENSION_SHAPE] = (sinew_real)node;
    for (int a = 0, o = 0; a < n; a++)
        if (a != node)
            others[o++] = particles[a];
}

/* Reads the element of a vertex-element incidence with its points in order. Returns the node's index in the element;
 * -1: weight zero. */
static int view_incidence(const sinew_vertex_kernel *kernel, int W, int32_t group, int32_t k, int lane,
                          sinew_extension_view *e)
{
    if (!view_data(kernel->data, W, k, lane, e))
        return -1;
    const int node = (int)e->shape;
    for (int a = 0, o = 0; a < e->n; a++) {
        const int32_t at = a == node ? kernel->node[lane_at(W, group, 1, 0, lane)]
                                     : kernel->others[lane_at(W, k, e->n - 1, o++, lane)];
        for (int c = 0; c < 3; c++)
            e->x[3 * a + c] = (double)kernel->x[at + c];
    }
    return node;
}

static void add_vertex(const sinew_vertex_kernel *kernel, int W, int32_t group, int lane, int node,
                       const sinew_extension_view *e)
{
    static const int places[6] = {0, 4, 8, 1, 2, 5};
    double g[SIDE_MAX], H[SIDE_MAX * SIDE_MAX], A[9];
    const int side = 3 * e->n;
    e->of->gradient(e->of->context, e->data, e->x, g);
    e->of->hessian(e->of->context, e->data, e->x, H);
    for (int k = 0; k < 9; k++)
        A[k] = H[(3 * node + k / 3) * side + 3 * node + k % 3];
    sinew_extension_clamp(A, 3);
    for (int c = 0; c < 3; c++)
        kernel->sum[lane_at(W, group, SINEW_VERTEX_SUM, c, lane)] += (sinew_real)(e->weight * g[3 * node + c]);
    for (int i = 0; i < 6; i++)
        kernel->sum[lane_at(W, group, SINEW_VERTEX_SUM, 3 + i, lane)] += (sinew_real)(e->weight * A[places[i]]);
}

static void vertex_any(const sinew_vertex_kernel *kernel, int W)
{
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->group_count; group++)
        for (int32_t k = kernel->first_incidence[group]; k < kernel->first_incidence[group + 1]; k++)
            for (int lane = 0; lane < W; lane++) {
                const int node = view_incidence(kernel, W, group, k, lane, &e);
                if (node >= 0)
                    add_vertex(kernel, W, group, lane, node, &e);
            }
}

/* Magnitude of the terms of psi in J: second derivatives by the node times the squared size of the element. Near rest,
 * psi of a material is a small difference of such terms and has their round-off. */
static double vertex_scale(const sinew_extension_view *e, int node)
{
    double H[SIDE_MAX * SIDE_MAX], trace = 0, size = 0;
    const int side = 3 * e->n;
    e->of->hessian(e->of->context, e->data, e->x, H);
    for (int c = 0; c < 3; c++)
        trace += fabs(H[(3 * node + c) * side + 3 * node + c]);
    for (int i = 0; i < side; i++)
        size = fmax(size, fabs(e->x[i] - e->x[3 * node + i % 3]));
    return trace * size * size;
}

static void vertex_change_any(const sinew_vertex_kernel *kernel, int W)
{
    const double epsilon = sizeof(sinew_real) == sizeof(float) ? (double)FLT_EPSILON : DBL_EPSILON;
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->group_count; group++)
        for (int32_t k = kernel->first_incidence[group]; k < kernel->first_incidence[group + 1]; k++)
            for (int lane = 0; lane < W; lane++) {
                const int node = view_incidence(kernel, W, group, k, lane, &e);
                if (node < 0)
                    continue;
                const double before = e.of->value(e.of->context, e.data, e.x), scale = vertex_scale(&e, node);
                for (int c = 0; c < 3; c++)
                    e.x[3 * node + c] += (double)kernel->step[lane_at(W, group, 3, c, lane)];
                const double after = e.of->value(e.of->context, e.data, e.x);
                kernel->change[lane_at(W, group, 2, 0, lane)] += (sinew_real)(e.weight * (after - before));
                kernel->change[lane_at(W, group, 2, 1, lane)] +=
                    (sinew_real)(16 * epsilon * e.weight * (scale + fabs(before) + fabs(after)));
            }
}

/* ---- Registered energies as constraints, for PBD, XPBD and KKT systems --------------------------- */

typedef struct constraint_numbers {
    double C[ROW_MAX], gradient[ROW_MAX * SIDE_MAX], alpha[ROW_MAX];
} constraint_numbers;

/* Evaluates the constraints of an element at e->x, with compliances alpha of the whole element. For SINEW_FORM_ENERGY,
 * C becomes C^2 / 2 = alpha psi. */
static void evaluate_constraints(const sinew_extension_view *e, int32_t form, constraint_numbers *numbers)
{
    const int side = 3 * e->n;
    e->of->constraint(e->of->context, e->data, e->x, numbers->C, numbers->gradient, numbers->alpha);
    for (int i = 0; i < e->of->constraint_count; i++) {
        numbers->alpha[i] /= e->weight;
        for (int k = 0; k < side && form == SINEW_FORM_ENERGY; k++)
            numbers->gradient[i * side + k] *= numbers->C[i];
        if (form == SINEW_FORM_ENERGY)
            numbers->C[i] *= 0.5 * numbers->C[i];
    }
}

/* Change dlambda of the multiplier of constraint i before averaging and PBD's stiffness (constrain.h): with gamma =
 * alpha beta / h, (-C - alpha~ lambda - gamma grad C . (x - x_old)) / ((1 + gamma) sum w |grad C|^2 + alpha~) */
static double constraint_dlambda(const sinew_constrain_kernel *kernel, int W, int32_t group, int lane,
                                 const sinew_extension_view *e, const constraint_numbers *numbers, int i, double lambda)
{
    const double *g = numbers->gradient + (ptrdiff_t)i * 3 * e->n;
    const double alpha = numbers->alpha[i], tilde = (double)kernel->compliance * alpha;
    const double gamma = kernel->x_old ? (double)kernel->damping * alpha : 0;
    double sum = 0, motion = 0;
    for (int a = 0; a < e->n; a++) {
        const int32_t at = kernel->groups.vertex[lane_at(W, group, e->n, a, lane)];
        for (int c = 0; c < 3; c++) {
            sum += (double)kernel->xw[at + 3] * g[3 * a + c] * g[3 * a + c];
            motion += kernel->x_old ? g[3 * a + c] * (e->x[3 * a + c] - (double)kernel->x_old[at + c]) : 0;
        }
    }
    const double bottom = (1 + gamma) * sum + tilde;
    return bottom > 0 ? (-numbers->C[i] - tilde * lambda - gamma * motion) / bottom : 0;
}

/* Projects the constraints of one element in turn, each at the positions that the previous one has set. */
static void constrain_element(const sinew_constrain_kernel *kernel, int W, int32_t group, int lane,
                              sinew_extension_view *e)
{
    constraint_numbers numbers;
    sinew_real *x = kernel->dx ? kernel->dx : kernel->xw;
    const double factor =
        (double)kernel->stiffness *
        (kernel->averaging_weight ? (double)kernel->averaging_weight[lane_at(W, group, 1, 0, lane)] : 1);
    for (int i = 0; i < e->of->constraint_count; i++) {
        sinew_real *lambda = &kernel->lambda[lane_at(W, group, e->of->constraint_count, i, lane)];
        evaluate_constraints(e, kernel->form, &numbers);
        const double step = factor * constraint_dlambda(kernel, W, group, lane, e, &numbers, i, (double)*lambda);
        *lambda = (sinew_real)((double)*lambda + step);
        for (int a = 0; a < e->n; a++) {
            const int32_t at = kernel->groups.vertex[lane_at(W, group, e->n, a, lane)];
            const double w = (double)kernel->xw[at + 3];
            for (int c = 0; c < 3; c++) {
                const double change = w * numbers.gradient[i * 3 * e->n + 3 * a + c] * step;
                e->x[3 * a + c] += change;
                x[at + c] += (sinew_real)change;
            }
        }
    }
}

static void constrain_any(const sinew_constrain_kernel *kernel, int W)
{
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++)
            if (view_element(&kernel->groups, kernel->xw, W, group, lane, &e))
                constrain_element(kernel, W, group, lane, &e);
}

static void jacobian_any(const sinew_jacobian_kernel *kernel, int W)
{
    sinew_extension_view e;
    constraint_numbers numbers;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const bool real = view_element(&kernel->groups, kernel->x, W, group, lane, &e);
            const int m = e.of->constraint_count, side = 3 * e.n;
            if (real)
                evaluate_constraints(&e, kernel->form, &numbers);
            for (int i = 0; i < m; i++)
                kernel->C[lane_at(W, group, m, i, lane)] = (sinew_real)(real ? numbers.C[i] : 0);
            for (int i = 0; i < m * side; i++)
                kernel->jacobian[lane_at(W, group, m * side, i, lane)] = (sinew_real)(real ? numbers.gradient[i] : 0);
            for (int i = 0; i < m * m; i++)
                kernel->compliance[lane_at(W, group, m * m, i, lane)] =
                    (sinew_real)(i / m != i % m ? 0
                                 : !real        ? 1
                                 : kernel->hard ? 0
                                                : numbers.alpha[i / m]);
        }
}

/* ---- Registered energies in reduced coordinates, for PD and ADMM --------------------------------- */

/* z = D x: reduced coordinates [reduced_count][3] of one element, D its reduction matrix */
static void reduced_coordinates(const sinew_extension_view *e, const double *D, double *z)
{
    for (int i = 0; i < 3 * e->of->reduced_count; i++) {
        z[i] = 0;
        for (int a = 0; a < e->n; a++)
            z[i] += D[(i / 3) * e->n + a] * e->x[3 * a + i % 3];
    }
}

/* Adds to g D^T y for one element: y [reduced_count][3] in reduced coordinates, D the element's reduction matrix. */
static void spread_reduced(const sinew_reduced_kernel *kernel, int W, int32_t group, int lane,
                           const sinew_extension_view *e, const double *D, const double *y)
{
    double f[SIDE_MAX];
    for (int i = 0; i < 3 * e->n; i++) {
        f[i] = 0;
        for (int r = 0; r < e->of->reduced_count; r++)
            f[i] += D[r * e->n + i / 3] * y[3 * r + i % 3];
    }
    add_forces(&kernel->groups, kernel->g, W, group, lane, e->n, 1, f);
}

static void reduce_any(const sinew_reduced_kernel *kernel, int W)
{
    double D[ROW_MAX * VERTEX_MAX];
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            view_data(kernel->groups.data, W, group, lane, &e);
            const int count = e.of->reduced_count * e.n;
            e.of->reduce(e.of->context, e.data, D);
            for (int i = 0; i < count; i++)
                kernel->D[lane_at(W, group, count, i, lane)] = (sinew_real)D[i];
        }
}

static void stiffness_any(const sinew_reduced_kernel *kernel, int W)
{
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            const bool real = view_data(kernel->groups.data, W, group, lane, &e);
            kernel->weights[lane_at(W, group, 1, 0, lane)] =
                (sinew_real)(real ? e.weight * e.of->stiffness(e.of->context, e.data, kernel->stretch_low,
                                                               kernel->stretch_high)
                                  : 0);
        }
}

static void project_any(const sinew_reduced_kernel *kernel, int W)
{
    double D[ROW_MAX * VERTEX_MAX], z[3 * ROW_MAX], nearest[3 * ROW_MAX];
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            if (!view_element(&kernel->groups, kernel->x, W, group, lane, &e))
                continue;
            const double k = e.weight * e.of->stiffness(e.of->context, e.data, 1, 1);
            e.of->reduce(e.of->context, e.data, D);
            reduced_coordinates(&e, D, z);
            e.of->project(e.of->context, e.data, z, nearest);
            for (int i = 0; i < 3 * e.of->reduced_count; i++)
                nearest[i] *= k;
            spread_reduced(kernel, W, group, lane, &e, D, nearest);
        }
}

/* ADMM's proximal map: the proximal point of k/2 |z - nearest(z)|^2 at v lies between v and nearest(v): z = (k nearest
 * + w^2 v) / (k + w^2).
 */
static void prox_any(const sinew_reduced_kernel *kernel, int W)
{
    double D[ROW_MAX * VERTEX_MAX], Dx[3 * ROW_MAX], v[3 * ROW_MAX], nearest[3 * ROW_MAX];
    sinew_extension_view e;
    for (int32_t group = 0; group < kernel->groups.count; group++)
        for (int lane = 0; lane < W; lane++) {
            if (!view_element(&kernel->groups, kernel->x, W, group, lane, &e))
                continue;
            const int count = 3 * e.of->reduced_count;
            const double k = e.weight * e.of->stiffness(e.of->context, e.data, 1, 1);
            const double w2 = (double)kernel->weights[lane_at(W, group, 1, 0, lane)];
            e.of->reduce(e.of->context, e.data, D);
            reduced_coordinates(&e, D, Dx);
            for (int i = 0; i < count; i++)
                v[i] = Dx[i] + (double)kernel->u[lane_at(W, group, count, i, lane)];
            e.of->project(e.of->context, e.data, v, nearest);
            for (int i = 0; i < count; i++) {
                const double z = (k * nearest[i] + w2 * v[i]) / (k + w2), u = v[i] - z;
                kernel->u[lane_at(W, group, count, i, lane)] = (sinew_real)u;
                nearest[i] = w2 * (z - u - Dx[i]);
            }
            spread_reduced(kernel, W, group, lane, &e, D, nearest);
        }
}

/* ---- Tables of operations of registered energies ------------------------------------------------- */

/* Defines `name_wide` and `name_one`, which call name_any with the width of the process and with width one. */
#define SUM(name)                                                                                                      \
    static double name##_wide(const sinew_kernel *kernel)                                                              \
    {                                                                                                                  \
        return name##_any(kernel, sinew_simd_width());                                                                 \
    }                                                                                                                  \
    static double name##_one(const sinew_kernel *kernel)                                                               \
    {                                                                                                                  \
        return name##_any(kernel, 1);                                                                                  \
    }
#define WORK(name, kernel_type)                                                                                        \
    static void name##_wide(const kernel_type *kernel)                                                                 \
    {                                                                                                                  \
        name##_any(kernel, sinew_simd_width());                                                                        \
    }                                                                                                                  \
    static void name##_one(const kernel_type *kernel)                                                                  \
    {                                                                                                                  \
        name##_any(kernel, 1);                                                                                         \
    }

SUM(value)
SUM(gradient)
WORK(linearise, sinew_kernel)
WORK(product, sinew_kernel)
WORK(hessian, sinew_kernel)
WORK(vertex, sinew_vertex_kernel)
WORK(vertex_change, sinew_vertex_kernel)
WORK(constrain, sinew_constrain_kernel)
WORK(jacobian, sinew_jacobian_kernel)
WORK(reduce, sinew_reduced_kernel)
WORK(stiffness, sinew_reduced_kernel)
WORK(project, sinew_reduced_kernel)
WORK(prox, sinew_reduced_kernel)

static void determinants_wide(const sinew_kernel *kernel, double *smallest, double *largest, int32_t *inverted)
{
    determinants_any(kernel, sinew_simd_width(), smallest, largest, inverted);
}

static void determinants_one(const sinew_kernel *kernel, double *smallest, double *largest, int32_t *inverted)
{
    determinants_any(kernel, 1, smallest, largest, inverted);
}

static void set_required_operations(sinew_energy_ops *ops, int32_t n, bool scalar)
{
    ops->tangent_count = 3 * n * (3 * n + 1) / 2;
    ops->value = scalar ? value_one : value_wide;
    ops->gradient = scalar ? gradient_one : gradient_wide;
    ops->linearise = scalar ? linearise_one : linearise_wide;
    ops->product = scalar ? product_one : product_wide;
    ops->hessian = scalar ? hessian_one : hessian_wide;
    ops->other_count = n - 1;
    ops->incidence_data_count = ops->data_count;
    ops->incidence = extension_incidence;
    ops->vertex = scalar ? vertex_one : vertex_wide;
    ops->vertex_change = scalar ? vertex_change_one : vertex_change_wide;
}

void sinew_extension_operations(sinew_energy_ops *ops, const sinew_energy_extension *of, int32_t n, bool scalar)
{
    set_required_operations(ops, n, scalar);
    if (of->stencil == SINEW_STENCIL_TET)
        ops->determinants = scalar ? determinants_one : determinants_wide;
    if (of->constraint) {
        ops->constraint_count = of->constraint_count;
        ops->rooted = of->rooted;
        ops->constrain = scalar ? constrain_one : constrain_wide;
        ops->jacobian = scalar ? jacobian_one : jacobian_wide;
    }
    if (of->reduce) {
        ops->reduced_count = of->reduced_count;
        ops->reduce = scalar ? reduce_one : reduce_wide;
        ops->stiffness = scalar ? stiffness_one : stiffness_wide;
    }
    if (of->project) {
        ops->local_project = scalar ? project_one : project_wide;
        ops->local_prox = scalar ? prox_one : prox_wide;
    }
}
