/* SPDX-License-Identifier: MIT
 *
 * gap.c: see gap.h.
 */
#include "solve/gap.h"

#include <math.h>

#include "base/reduce.h"
#include "linear/pcg.h"
#include "objective/assembly.h"
#include "solve/global_step.h"
#include "solve/shared_parameters.h"

/* More iterations, or closer, and the estimate hardly changes: the curvature along z makes up for a rough z. */
#define CG_ITERATIONS 16
#define CG_TOLERANCE  0.01

/* The part of z over which the gradient is looked at. Small where g is far from quadratic, yet no smaller than
 * round-off wants it. */
#define REACH 0.1

/* S by rows over all particles, rows of pins empty: (S x)_i = sum_i x_i + sum_k S_ik (x_k - x_i), k the others, so that
 * what stiffness is rounded to does not drown inertia, which is all that holds a body as a whole. Single precision: S
 * is a model itself, and a product costs what reading it costs. All NULL where the solver has a matrix. */
typedef struct matrix {
    int32_t particle_count, thread_count;
    size_t *first;    /* [particle_count + 1] */
    int32_t *other;   /* [first[particle_count]] */
    float *value;     /* [first[particle_count]] */
    double *sum;      /* [particle_count] of each row */
    double *diagonal; /* [particle_count] 0 at pins */
} matrix;

typedef struct sinew_gap {
    matrix S;
    sinew_pcg pcg;
    sinew_real *x, *gradient; /* [particle_count][4] a point on the line, and there; of pcg's where it is in use */
} sinew_gap;

/* ---- The matrix ------------------------------------------------------------------------------ */

/* Both halves of S from the lower one, counted in the first pass and written in the second. */
static void fill_rows(matrix *m, const sinew_global_matrix *from)
{
    const sinew_assembly *as = from->pattern;
    for (int32_t j = 0; j < as->free_count; j++) {
        const int32_t pj = as->particle[j];
        m->diagonal[pj] = from->value[as->column[j]];
        m->sum[pj] += m->other ? from->value[as->column[j]] : 0;
        for (int32_t k = as->column[j] + 1; k < as->column[j + 1]; k++) {
            const int32_t ends[2] = {pj, as->particle[as->row[k]]};
            for (int e = 0; e < 2; e++) {
                const size_t at = m->first[ends[e]]++;
                if (m->other) {
                    m->other[at] = ends[1 - e];
                    m->value[at] = (float)from->value[k];
                    m->sum[ends[e]] += from->value[k];
                }
            }
        }
    }
}

/* Turns the counts that a pass left in `first` into the starts of the rows, and the ends that it left into them. */
static void counts_to_starts(matrix *m)
{
    size_t sum = 0;
    for (int32_t i = 0; i <= m->particle_count; i++) {
        const size_t count = m->first[i];
        m->first[i] = sum;
        sum += count;
    }
}

static void ends_to_starts(matrix *m)
{
    for (int32_t i = m->particle_count; i > 0; i--)
        m->first[i] = m->first[i - 1];
    m->first[0] = 0;
}

static bool make_rows(const sinew_objective *o, matrix *m, const sinew_global_matrix *from)
{
    fill_rows(m, from);
    counts_to_starts(m);
    const size_t entries = m->first[m->particle_count];
    m->other = sinew_allocate(&o->allocator, entries, sizeof *m->other);
    m->value = sinew_allocate(&o->allocator, entries, sizeof *m->value);
    if (!m->other || !m->value)
        return false;
    fill_rows(m, from);
    ends_to_starts(m);
    return true;
}

static sinew_status make_matrix(const sinew_objective *o, matrix *m, const sinew_real *weights, sinew_error *error)
{
    const size_t n = (size_t)o->particle_count;
    sinew_global_matrix from;
    m->particle_count = o->particle_count;
    m->thread_count = o->thread_count;
    m->first = sinew_allocate_zero(&o->allocator, n + 1, sizeof *m->first);
    m->sum = sinew_allocate_zero(&o->allocator, n, sizeof *m->sum);
    m->diagonal = sinew_allocate_zero(&o->allocator, n, sizeof *m->diagonal);
    if (!m->first || !m->sum || !m->diagonal)
        return sinew_fail_memory(error, "the estimate of the gap");
    sinew_status status = sinew_global_assemble(&from, o, weights, error);
    if (status == SINEW_OK && !make_rows(o, m, &from))
        status = sinew_fail_memory(error, "the estimate of the gap");
    sinew_global_matrix_release(&from, o);
    return status;
}

/* ---- Create ---------------------------------------------------------------------------------- */

static sinew_status create_with_matrix(const sinew_objective *o, sinew_gap *gap, sinew_error *error)
{
    sinew_real *weights = sinew_allocate(&o->allocator, sinew_global_weight_count(o), sizeof *weights);
    if (!weights)
        return sinew_fail_memory(error, "the estimate of the gap");
    sinew_global_stiffness(o, SINEW_STRETCH_LOW, SINEW_STRETCH_HIGH, weights);
    sinew_status status = make_matrix(o, &gap->S, weights, error);
    sinew_release(&o->allocator, weights);
    if (status == SINEW_OK)
        status = sinew_pcg_create(&o->allocator, &gap->pcg, o->particle_count, o->thread_count, error);
    gap->x = gap->pcg.r;
    gap->gradient = gap->pcg.z;
    return status;
}

static sinew_status create_without(const sinew_objective *o, sinew_gap *gap, sinew_error *error)
{
    const size_t size = 4 * (size_t)o->particle_count;
    gap->x = sinew_allocate_zero(&o->allocator, size, sizeof *gap->x);
    gap->gradient = sinew_allocate_zero(&o->allocator, size, sizeof *gap->gradient);
    return gap->x && gap->gradient ? SINEW_OK : sinew_fail_memory(error, "the estimate of the gap");
}

sinew_status sinew_gap_create(sinew_solve *s, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    s->gap = sinew_allocate_zero(&o->allocator, 1, sizeof *s->gap);
    if (!s->gap)
        return sinew_fail_memory(error, "the estimate of the gap");
    return (s->ops->precondition ? create_without : create_with_matrix)(o, s->gap, error);
}

void sinew_gap_destroy(sinew_solve *s)
{
    const sinew_allocator *allocator = &s->objective->allocator;
    sinew_gap *gap = s->gap;
    if (!gap)
        return;
    if (!gap->pcg.r) {
        sinew_release(allocator, gap->x);
        sinew_release(allocator, gap->gradient);
    }
    sinew_pcg_destroy(allocator, &gap->pcg);
    void *arrays[] = {gap->S.first, gap->S.other, gap->S.value, gap->S.sum, gap->S.diagonal, gap};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    s->gap = NULL;
}

/* ---- Estimate -------------------------------------------------------------------------------- */

/* A point and its unused number in registers of 16 bytes, which every processor of the kind has. */
enum {
    PARTS = 4 * sizeof(sinew_real) / 16
};
typedef sinew_real part __attribute__((vector_size(16), may_alias));

typedef struct matrix_pass {
    const matrix *m;
    const sinew_real *x;
    sinew_real *out;
} matrix_pass;

static void multiply_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const matrix *m = ((const matrix_pass *)context)->m;
    const sinew_real *x = ((const matrix_pass *)context)->x;
    (void)member;
    for (int32_t i = first; i < last; i++) {
        const part *own = (const part *)(x + 4 * (size_t)i);
        part sum[PARTS], *out = (part *)(((const matrix_pass *)context)->out + 4 * (size_t)i);
        for (size_t c = 0; c < PARTS; c++)
            sum[c] = (sinew_real)m->sum[i] * own[c];
        for (size_t k = m->first[i]; k < m->first[i + 1]; k++) {
            const part *there = (const part *)(x + 4 * (size_t)m->other[k]);
            for (size_t c = 0; c < PARTS; c++)
                sum[c] += (sinew_real)m->value[k] * (there[c] - own[c]);
        }
        for (size_t c = 0; c < PARTS; c++)
            out[c] = sum[c];
    }
}

static void multiply(void *context, const sinew_real *x, sinew_real *Sx)
{
    const matrix *m = context;
    sinew_over_particles(m->thread_count, m->particle_count, multiply_range, &(matrix_pass){m, x, Sx});
}

static void divide_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const matrix_pass *p = context;
    (void)member;
    for (int32_t i = first; i < last; i++) {
        const sinew_real inverse = (sinew_real)(p->m->diagonal[i] > 0 ? 1 / p->m->diagonal[i] : 0);
        for (size_t c = 0; c < 3; c++)
            p->out[4 * (size_t)i + c] = inverse * p->x[4 * (size_t)i + c];
    }
}

static void divide(void *context, const sinew_real *r, sinew_real *z)
{
    const matrix *m = context;
    sinew_over_particles(m->thread_count, m->particle_count, divide_range, &(matrix_pass){m, r, z});
}

/* z = about S^-1 gradient */
static bool sweeping_direction(sinew_solve *s, sinew_real *z)
{
    sinew_gap *gap = s->gap;
    sinew_pcg_solve(&gap->pcg, (sinew_linear_map){multiply, &gap->S}, (sinew_linear_map){divide, &gap->S}, s->gradient,
                    z, CG_TOLERANCE, CG_ITERATIONS);
    return true;
}

/* z . H z, from the gradient a little way along -z; `slope` is that at q. */
static double curvature_along(sinew_solve *s, const sinew_real *z, double slope)
{
    sinew_objective *o = s->objective;
    const sinew_gap *gap = s->gap;
    sinew_combine(gap->x, s->q, (sinew_real)-REACH, z, o->particle_count, o->thread_count);
    sinew_objective_gradient(o, gap->x, gap->gradient, NULL);
    return (slope - sinew_dot(gap->gradient, z, o->particle_count, o->thread_count)) / REACH;
}

/* What the best step along -z would gain. */
static double gain_along_line(sinew_solve *s)
{
    sinew_objective *o = s->objective;
    sinew_real *z = s->velocity;
    if (!(s->ops->precondition ? s->ops->precondition : sweeping_direction)(s, z))
        return HUGE_VAL;
    const double slope = sinew_dot(s->gradient, z, o->particle_count, o->thread_count);
    if (slope == 0)
        return 0;
    const double curvature = curvature_along(s, z, slope);
    /* Where g does not bend upwards, or not by more than round-off, A has to stand for H. */
    if (curvature > s->noise * sinew_norm(z, o->particle_count, o->thread_count) / REACH && isfinite(curvature))
        return 0.5 * slope * slope / curvature;
    return slope > 0 ? 0.5 * slope : HUGE_VAL;
}

double sinew_gap_estimate(sinew_solve *s)
{
    const double risen = s->terms.inertia + s->terms.elastic - s->start_value;
    return fmax(gain_along_line(s), risen > s->value_noise ? risen : 0);
}
