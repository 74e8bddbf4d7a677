/* SPDX-License-Identifier: MIT
 *
 * element_projection.c: projects one element onto its zero-energy set by SQP steps. See element_projection.h.
 */
#include "solve/projective/element_projection.h"

#include <math.h>
#include <string.h>

#include "solve/line_search.h"

/* rho of each stage of the projection: factor of the energy psi in the merit w/2 |A (x - p)|^2 + rho psi, whose
 * first term is the weighted squared distance */
#ifdef SINEW_SINGLE
static const double stages[] = {1, 30, 1e3};
#define SMALL 5e-4 /* SQP steps shorter than this fraction of the element's size are round-off */
#else
static const double stages[] = {1, 1e2, 1e4, 1e6, 1e7};
#define SMALL 1e-8
#endif
enum {
    STAGES = sizeof stages / sizeof stages[0],
    STEPS = 12,      /* largest number of SQP steps of a stage */
    LAST_STEPS = 20, /* largest number of SQP steps of the last stage */
    TRIALS = 8       /* number of trial step lengths, each half of the one before */
};

double sinew_sqp_distance(const sinew_sqp *e, const double *p)
{
    const int32_t m = e->element.point_count;
    double sum = 0;
    for (int32_t a = 0; a < m; a++)
        for (int32_t b = 0; b < m; b++)
            for (int32_t c = 0; c < 3; c++)
                sum += e->metric[a * m + b] * (e->x[3 * a + c] - p[3 * a + c]) * (e->x[3 * b + c] - p[3 * b + c]);
    return 0.5 * e->weight * sum;
}

/* ---- Direction of one SQP step of a projection ------------------------------------------------- */

/* Dense Cholesky: overwrites the lower half of A by its factor and d by A^-1 d. Returns false if A is not positive
 * definite. */
static bool solve_dense(double *A, int32_t n, double *d)
{
    for (int32_t j = 0; j < n; j++) {
        const double diagonal = A[j * n + j];
        for (int32_t k = 0; k < j; k++)
            A[j * n + j] -= A[j * n + k] * A[j * n + k];
        if (!(A[j * n + j] > 1e-14 * diagonal))
            return false;
        A[j * n + j] = sqrt(A[j * n + j]);
        for (int32_t i = j + 1; i < n; i++) {
            for (int32_t k = 0; k < j; k++)
                A[i * n + j] -= A[i * n + k] * A[j * n + k];
            A[i * n + j] /= A[j * n + j];
        }
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t k = 0; k < i; k++)
            d[i] -= A[i * n + k] * d[k];
        d[i] /= A[i * n + i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = i + 1; k < n; k++)
            d[i] -= A[k * n + i] * d[k];
        d[i] /= A[i * n + i];
    }
    return true;
}

/* True if translations of the element change neither A x nor its energy. */
static bool translations_are_free(const sinew_sqp *e)
{
    const int32_t m = e->element.point_count;
    double sum = 0, trace = 0;
    for (int32_t i = 0; i < m * m; i++) {
        sum += e->metric[i];
        trace += i % (m + 1) == 0 ? e->metric[i] : 0;
    }
    return !(e->element.ops->rigid_cost & SINEW_COSTS_TRANSLATION) && sum <= 1e-6 * trace;
}

/* Mean diagonal entry of the metric w A^T A of the squared distance, in N/m. */
static double mean_weight(const sinew_sqp *e)
{
    double trace = 0;
    for (int32_t a = 0; a < e->element.point_count; a++)
        trace += e->metric[a * e->element.point_count + a];
    return e->weight * trace / e->element.point_count;
}

/* H = w A^T A + rho H: adds the metric of the squared distance to rho times the energy's Hessian; if translations
 * are free, they get a weight that keeps the matrix regular. */
static void add_metric(const sinew_sqp *e, double rho, double *H)
{
    const int32_t m = e->element.point_count, size = 3 * m;
    const double regularisation = translations_are_free(e) ? mean_weight(e) : 0;
    for (int32_t i = 0; i < size; i++)
        for (int32_t j = 0; j < size; j++) {
            H[i * size + j] *= rho;
            if (i % 3 == j % 3)
                H[i * size + j] += e->weight * e->metric[i / 3 * m + j / 3] + regularisation;
        }
}

/* Subtracts the mean over all points from d if translations of the element are free. */
static void remove_mean(const sinew_sqp *e, double *d)
{
    const int32_t coordinates = translations_are_free(e) ? 3 : 0;
    for (int32_t c = 0; c < coordinates; c++) {
        double mean = 0;
        for (int32_t a = 0; a < e->element.point_count; a++)
            mean += d[3 * a + c] / e->element.point_count;
        for (int32_t a = 0; a < e->element.point_count; a++)
            d[3 * a + c] -= mean;
    }
}

/* SQP step: d = -(w A^T A + rho H)^-1 (w A^T A (p - x) + rho grad psi), with the exact Hessian H if definite, else
 * projected */
static bool projection_find_step(const sinew_sqp *e, double rho, const double *p, double *d)
{
    const int32_t m = e->element.point_count, size = 3 * m;
    double H[SINEW_SQP_CAPACITY * SINEW_SQP_CAPACITY], right[SINEW_SQP_CAPACITY];
    sinew_element_gradient(&e->element, p, right);
    for (int32_t i = 0; i < size; i++) {
        right[i] *= -rho;
        for (int32_t b = 0; b < m; b++)
            right[i] += e->weight * e->metric[i / 3 * m + b] * (e->x[3 * b + i % 3] - p[3 * b + i % 3]);
    }
    remove_mean(e, right);
    for (int projected = 0; projected < 2; projected++) {
        sinew_element_hessian(&e->element, p, projected == 1, H);
        add_metric(e, rho, H);
        memcpy(d, right, (size_t)size * sizeof *d);
        if (solve_dense(H, size, d)) {
            remove_mean(e, d);
            return true;
        }
    }
    return false;
}

/* ---- Projection by repeated SQP steps ---------------------------------------------------------- */

static double vector_norm(const double *d, int32_t count)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        sum += d[i] * d[i];
    return sqrt(sum);
}

/* Size of the element, in m: norm of its points relative to their mean; 0 for a single point. */
static double extent_of(const sinew_sqp *e)
{
    double sum = 0;
    for (int32_t c = 0; c < 3; c++)
        for (int32_t a = 0; a < e->element.point_count; a++)
            for (int32_t b = 0; b < a; b++)
                sum += (e->x[3 * a + c] - e->x[3 * b + c]) * (e->x[3 * a + c] - e->x[3 * b + c]);
    return sqrt(sum / e->element.point_count);
}

static double projection_merit(const sinew_sqp *e, double rho, const double *p)
{
    return sinew_sqp_distance(e, p) + rho * sinew_element_value(&e->element, p);
}

typedef struct projection_trial {
    const sinew_sqp *e;
    const double *p, *d;
    /* rho: factor of the element energy in the merit function; before: merit at p; next: the trial point p + alpha d
     * of the line search */
    double rho, before, next[SINEW_SQP_CAPACITY];
} projection_trial;

static bool try_projection(void *context, double alpha, double *change)
{
    projection_trial *t = context;
    for (int32_t i = 0; i < 3 * t->e->element.point_count; i++)
        t->next[i] = t->p[i] + alpha * t->d[i];
    const double now = projection_merit(t->e, t->rho, t->next);
    *change = now - t->before;
    return now <= t->before;
}

/* p += alpha d with the first alpha = 1, 1/2, ... that does not increase the merit, else the last one */
static void projection_take_step(const sinew_sqp *e, double rho, const double *d, double *p)
{
    const sinew_backtracking lengths = {.first = 1, .factor = 0.5, .trials = TRIALS};
    projection_trial t = {.e = e, .p = p, .d = d, .rho = rho, .before = projection_merit(e, rho, p)};
    sinew_backtrack(&lengths, try_projection, &t);
    memcpy(p, t.next, 3 * (size_t)e->element.point_count * sizeof *p);
}

/* Takes full SQP steps at the last rho. Returns true if the steps become small. */
static bool projection_finish(const sinew_sqp *e, double *p)
{
    const int32_t size = 3 * e->element.point_count;
    const double extent = extent_of(e);
    double d[SINEW_SQP_CAPACITY], lengths[2] = {HUGE_VAL, HUGE_VAL};
    for (int step = 0; step < LAST_STEPS; step++) {
        if (!projection_find_step(e, stages[STAGES - 1], p, d))
            return false;
        const double length = vector_norm(d, size);
        /* SQP steps along the set and steps back to it alternate, with lengths a factor of 30 apart. */
        if (!isfinite(length) || (step > 2 && length > 10 * fmax(lengths[0], lengths[1])))
            return false;
        for (int32_t i = 0; i < size; i++)
            p[i] += d[i];
        if (length <= SMALL * extent)
            return true;
        lengths[step % 2] = length;
    }
    return false;
}

static bool projection_approach(const sinew_sqp *e, double *p)
{
    double d[SINEW_SQP_CAPACITY];
    const double extent = extent_of(e);
    memcpy(p, e->x, 3 * (size_t)e->element.point_count * sizeof *p);
    for (int stage = 0; stage < STAGES; stage++)
        for (int step = 0; step < STEPS; step++) {
            if (!projection_find_step(e, stages[stage], p, d))
                return false;
            projection_take_step(e, stages[stage], d, p);
            if (vector_norm(d, 3 * e->element.point_count) <= 1e-3 * extent)
                break;
        }
    return projection_finish(e, p);
}

/* True if p is on the constraint set up to the error of a finite rho: for such points rho psi is about 1/rho of the
 * distance term. */
static bool is_on_set(const sinew_sqp *e, const double *p)
{
    const double extent = extent_of(e), round_off = 1e2 * SMALL * SMALL * mean_weight(e) * extent * extent;
    return sinew_element_value(&e->element, p) <= 1e-2 / stages[STAGES - 1] * sinew_sqp_distance(e, p) + round_off;
}

bool sinew_sqp_project(const sinew_sqp *e, bool known, double *p)
{
    const size_t bytes = 3 * (size_t)e->element.point_count * sizeof *p;
    double next[SINEW_SQP_CAPACITY];
    memcpy(next, p, bytes);
    bool good = known && projection_finish(e, next) && is_on_set(e, next);
    good = good || (projection_approach(e, next) && is_on_set(e, next));
    if (known && (!good || sinew_sqp_distance(e, next) >= sinew_sqp_distance(e, p)))
        return true;
    /* If the projection has not converged and is no nearer to the set than x, p = x: zero force instead of a wrong
     * force. */
    const bool nearer = good || sinew_element_value(&e->element, next) < sinew_element_value(&e->element, e->x);
    memcpy(p, nearer ? next : e->x, bytes);
    return good;
}
