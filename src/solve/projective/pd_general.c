/* SPDX-License-Identifier: MIT
 *
 * pd_general.c: copies, metrics, weights and the local step of pd_general.h; the matrix is in pd_general_matrix.c.
 */
#include "solve/projective/pd_general.h"

#include <string.h>

#include "energy/registry.h"
#include "solve/projective/global_matrix.h"
#include "solve/projective/pd_general_internal.h"
#include "solve/parameters.h"

/* ---- Metric of one element --------------------------------------------------------------------- */

static void metric_identity(sinew_set_element *e, const sinew_objective *o)
{
    (void)o;
    for (int32_t a = 0; a < e->sqp.element.point_count; a++)
        e->metric[a * e->sqp.element.point_count + a] = 1;
}

static void metric_mean(sinew_set_element *e, const sinew_objective *o)
{
    const int32_t m = e->sqp.element.point_count;
    (void)o;
    for (int32_t i = 0; i < m * m; i++)
        e->metric[i] = (i % (m + 1) == 0) - 1.0 / m;
}

static void metric_vertex(sinew_set_element *e, const sinew_objective *o)
{
    const int32_t m = e->sqp.element.point_count;
    (void)o;
    for (int32_t a = 1; a < m; a++) {
        e->metric[0] += 1;
        e->metric[a * m + a] = 1;
        e->metric[a] = e->metric[a * m] = -1;
    }
}

static void metric_mass(sinew_set_element *e, const sinew_objective *o)
{
    for (int32_t a = 0; a < e->sqp.element.point_count; a++)
        e->metric[a * e->sqp.element.point_count + a] = (double)o->step.mass[e->particle[a]];
}

/* Metric A^T A = D^T D, D the energy's own reduction to reduced coordinates. */
static void metric_reduced(sinew_set_element *e, const sinew_objective *o)
{
    const sinew_energy_ops *ops = e->sqp.element.ops;
    const int32_t n = ops->info.vertex_count, m = e->sqp.element.point_count;
    sinew_reduced_kernel kernel = {.groups = {.count = 1, .vertex = e->vertex, .data = e->data}};
    (void)o;
    kernel.D = e->D;
    ops->reduce(&kernel);
    for (int32_t r = 0; r < ops->reduced_count; r++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                e->metric[e->vertex[a] / SINEW_POINT * m + e->vertex[b] / SINEW_POINT] +=
                    (double)e->D[r * n + a] * (double)e->D[r * n + b];
}

typedef void metric_filler(sinew_set_element *element, const sinew_objective *objective);

static void fill_metric(sinew_set_element *e, const sinew_objective *o, sinew_coordinates coordinates)
{
    static metric_filler *const free_to_move[] = {[SINEW_COORDINATES_REDUCED] = metric_reduced,
                                                  [SINEW_COORDINATES_IDENTITY] = metric_identity,
                                                  [SINEW_COORDINATES_MEAN] = metric_mean,
                                                  [SINEW_COORDINATES_VERTEX] = metric_vertex,
                                                  [SINEW_COORDINATES_MASS] = metric_mass};
    static metric_filler *const constrained[] = {[SINEW_COORDINATES_REDUCED] = metric_reduced,
                                                 [SINEW_COORDINATES_IDENTITY] = metric_identity,
                                                 [SINEW_COORDINATES_MEAN] = metric_identity,
                                                 [SINEW_COORDINATES_VERTEX] = metric_identity,
                                                 [SINEW_COORDINATES_MASS] = metric_mass};
    memset(e->metric, 0, sizeof e->metric);
    (e->sqp.element.ops->rigid_cost & SINEW_COSTS_TRANSLATION ? constrained : free_to_move)[coordinates](e, o);
}

/* Finds the distinct points of an element, because padded cells repeat vertices. */
static void find_points(sinew_set_element *e, const int32_t *local, size_t stride, const int32_t *particle)
{
    e->sqp.element.point_count = 0;
    for (int32_t a = 0; a < e->sqp.element.ops->info.vertex_count; a++) {
        const int32_t own = local[(size_t)a * stride];
        int32_t point = 0;
        while (point < e->sqp.element.point_count && e->local[point] != own)
            point++;
        e->local[point] = own;
        e->particle[point] = particle[own / SINEW_POINT];
        e->vertex[a] = SINEW_POINT * point;
        e->sqp.element.point_count += point == e->sqp.element.point_count;
    }
}

bool sinew_pd_general_element(const sinew_pd_general *s, const sinew_objective *o, int32_t t, size_t lane,
                              sinew_set_element *e)
{
    const sinew_task *task = &o->tasks[t];
    const sinew_batch *batch = task->batch;
    const size_t W = (size_t)batch->width, group = (size_t)task->chunk->first_group + lane / W, at = lane % W;
    const size_t n = (size_t)batch->ops->info.vertex_count, count = (size_t)batch->ops->data_count;
    const sinew_real *data = batch->data + group * count * W + at;
    if (batch->element[group * W + at] < 0 || data[0] == 0)
        return false;
    for (size_t i = 0; i < count; i++)
        e->data[i] = data[i * W];
    e->sqp = (sinew_sqp){.element.ops = s->tasks[t].scalar,
                         .element.data = e->data,
                         .element.vertex = e->vertex,
                         .metric = e->metric,
                         .x = e->x,
                         .element.tangent = s->work + (size_t)t * s->work_size};
    e->sqp.element.blocks = e->sqp.element.tangent + e->sqp.element.ops->tangent_count;
    e->D = e->sqp.element.blocks + 9 * n * (n + 1) / 2;
    find_points(e, batch->vertex + group * n * W + at, W, batch->particle + task->chunk->first_slot);
    fill_metric(e, o, s->coordinates);
    e->sqp.weight = s->weights ? s->weights[s->tasks[t].first_wide + lane] : 0;
    return true;
}

/* ---- Weights w of elements --------------------------------------------------------------------- */

/* Trace of the element's metric A^T A (matrix of the squared distance), without its translational part if
 * translations do not change the energy. */
static double metric_trace(const sinew_set_element *e)
{
    const int32_t m = e->sqp.element.point_count;
    double trace = 0, squares = 0, sum = 0;
    for (int32_t a = 0; a < m; a++) {
        double row = 0;
        for (int32_t b = 0; b < m; b++)
            row += e->metric[a * m + b];
        trace += e->metric[a * m + a];
        squares += row * row;
        sum += row;
    }
    const bool constrained = e->sqp.element.ops->rigid_cost & SINEW_COSTS_TRANSLATION;
    return constrained || sum <= 1e-9 * trace ? trace : trace - squares / sum;
}

/* Curvature k tr(D^T D) of the energy's own quadratic term in its reduced coordinates D x, in N/m, which sets the
 * weight of an element. */
static double reduced_curvature(sinew_set_element *e, const sinew_objective *o)
{
    sinew_set_element own = *e;
    sinew_real k = 0;
    sinew_reduced_kernel kernel = {.groups = {.count = 1, .vertex = e->vertex, .data = e->data},
                                   .weights = &k,
                                   .stretch_low = SINEW_STRETCH_LOW,
                                   .stretch_high = SINEW_STRETCH_HIGH};
    e->sqp.element.ops->stiffness(&kernel);
    own.sqp.metric = own.metric;
    fill_metric(&own, o, SINEW_COORDINATES_REDUCED);
    return (double)k * metric_trace(&own);
}

/* Curvature of an energy without reduced coordinates, at the element's rest shape: tr H^2 / tr H of its Hessian H,
 * an average over stiff directions, times the number of points, or times one less if translations do not change the
 * energy. */
static double rest_curvature(sinew_set_element *e, const sinew_objective *o)
{
    const int32_t m = e->sqp.element.point_count, size = 3 * m;
    double H[SINEW_SQP_CAPACITY * SINEW_SQP_CAPACITY], rest[SINEW_SQP_CAPACITY], trace = 0, squares = 0;
    for (int32_t i = 0; i < size; i++)
        rest[i] = (double)o->step.rest[4 * (size_t)e->particle[i / 3] + (size_t)(i % 3)];
    sinew_element_hessian(&e->sqp.element, rest, true, H);
    for (int32_t i = 0; i < size; i++) {
        trace += H[i * size + i];
        for (int32_t j = 0; j < size; j++)
            squares += H[i * size + j] * H[i * size + j];
    }
    const bool constrained = e->sqp.element.ops->rigid_cost & SINEW_COSTS_TRANSLATION;
    return trace > 0 ? squares / trace * (constrained ? m : m - 1) : 0;
}

static sinew_status pd_general_set_weights(sinew_pd_general *s, const sinew_objective *o, double *weights,
                                           sinew_error *error)
{
    sinew_set_element e;
    for (int32_t t = 0; t < o->task_count; t++)
        for (size_t lane = 0; lane < sinew_task_padded_count(&o->tasks[t]); lane++) {
            const bool on = sinew_pd_general_element(s, o, t, lane, &e);
            double *weight = &weights[s->tasks[t].first_wide + lane];
            *weight = 0;
            if (!on)
                continue;
            const double own = e.sqp.element.ops->reduce ? reduced_curvature(&e, o) : rest_curvature(&e, o);
            const double trace = metric_trace(&e);
            if (!(own > 0 && trace > 0))
                return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                                  "pd cannot weigh an element of %s: it has %s; use coordinates = reduced with sets = "
                                  "own, or newton",
                                  e.sqp.element.ops->info.name, own > 0 ? "no mass" : "no stiffness at rest");
            *weight = own / trace;
        }
    return SINEW_OK;
}

/* ---- Creation and release of copies and matrix ------------------------------------------------- */

static bool pd_general_reserve_buffers(sinew_pd_general *s, const sinew_objective *o)
{
    const sinew_allocator *allocator = &o->allocator;
    size_t padded_count = 0, copies = 0;
    s->tasks = sinew_allocate_zero(allocator, (size_t)o->task_count, sizeof *s->tasks);
    for (int32_t t = 0; s->tasks && t < o->task_count; t++) {
        const sinew_energy_ops *ops = o->tasks[t].batch->ops;
        const size_t n = (size_t)ops->info.vertex_count, own = sinew_task_padded_count(&o->tasks[t]);
        const size_t work = (size_t)ops->tangent_count + 9 * n * (n + 1) / 2 + (size_t)ops->reduced_count * n;
        s->tasks[t] = (sinew_set_task){sinew_energy_scalar(ops), padded_count, copies, 0};
        s->work_size = work > s->work_size ? work : s->work_size;
        padded_count += own;
        copies += 3 * n * own;
    }
    s->work = sinew_allocate_zero(allocator, s->work_size * (size_t)o->task_count, sizeof *s->work);
    s->copies = sinew_allocate_zero(allocator, copies, sizeof *s->copies);
    s->known = sinew_allocate_zero(allocator, padded_count, sizeof *s->known);
    s->wide_count = padded_count;
    return s->tasks && s->work && s->copies && s->known;
}

sinew_pd_general *sinew_pd_general_create(const sinew_objective *o, sinew_coordinates coordinates, sinew_error *error)
{
    sinew_pd_general *s = sinew_allocate_zero(&o->allocator, 1, sizeof *s);
    if (!s) {
        sinew_fail_memory(error, "projective dynamics");
        return NULL;
    }
    s->coordinates = coordinates;
    double *weights =
        pd_general_reserve_buffers(s, o) ? sinew_allocate(&o->allocator, s->wide_count, sizeof *weights) : NULL;
    sinew_status status =
        weights ? pd_general_set_weights(s, o, weights, error) : sinew_fail_memory(error, "projective dynamics");
    s->weights = weights;
    if (status == SINEW_OK)
        status = sinew_pd_general_matrix(s, o, error);
    if (status == SINEW_OK)
        return s;
    sinew_pd_general_destroy(s, o);
    return NULL;
}

void sinew_pd_general_destroy(sinew_pd_general *s, const sinew_objective *o)
{
    if (!s)
        return;
    void *arrays[] = {s->tasks, s->work, s->copies, s->known, s->weights, s->inverse};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
    sinew_factored_system_destroy(s->factor);
    sinew_assembly_destroy(o, s->pattern);
    sinew_release(&o->allocator, s);
}

/* ---- Local step: projection of all elements ---------------------------------------------------- */

void sinew_pd_general_begin(sinew_pd_general *s)
{
    memset(s->known, 0, s->wide_count);
}

/* Adds the force of an element towards its projected copy p: g += w A^T A (p - x), with weight w and metric A^T A. */
static void add_projection_force(const sinew_set_element *e, const double *p, sinew_real *g)
{
    const int32_t m = e->sqp.element.point_count;
    for (int32_t a = 0; a < m; a++)
        for (int32_t c = 0; c < 3; c++) {
            double sum = 0;
            for (int32_t b = 0; b < m; b++)
                sum += e->metric[a * m + b] * (p[3 * b + c] - e->x[3 * b + c]);
            g[e->local[a] + c] += (sinew_real)(e->sqp.weight * sum);
        }
}

typedef struct local_pass {
    sinew_pd_general *general;
    const sinew_objective *objective;
    bool project; /* true: project all elements; false: only elements without a projected copy */
} local_pass;

static void pd_general_local_step(void *context, int32_t t, sinew_reduced_kernel *kernel)
{
    const local_pass *pass = context;
    sinew_pd_general *s = pass->general;
    sinew_set_task *own = &s->tasks[t];
    const size_t stride = 3 * (size_t)own->scalar->info.vertex_count;
    sinew_set_element e;
    own->value = 0;
    for (size_t lane = 0; lane < sinew_task_padded_count(&pass->objective->tasks[t]); lane++) {
        if (!sinew_pd_general_element(s, pass->objective, t, lane, &e))
            continue;
        double *p = s->copies + own->first_copy + stride * lane;
        uint8_t *known = &s->known[own->first_wide + lane];
        for (int32_t i = 0; i < 3 * e.sqp.element.point_count; i++)
            e.x[i] = (double)kernel->x[e.local[i / 3] + i % 3];
        if (pass->project || !*known)
            *known = sinew_sqp_project(&e.sqp, *known, p);
        add_projection_force(&e, p, kernel->g);
        own->value += sinew_sqp_distance(&e.sqp, p);
    }
}

void sinew_pd_general_local(sinew_pd_general *s, sinew_objective *o, const sinew_real *q, sinew_real *b)
{
    local_pass pass = {s, o, true};
    sinew_objective_local(o, q, pd_general_local_step, &pass, b);
    sinew_objective_add_inertia(o, 1, q, b);
}

double sinew_pd_general_value(sinew_pd_general *s, sinew_objective *o, const sinew_real *q, sinew_real *work)
{
    local_pass pass = {s, o, false};
    double sum = 0;
    sinew_objective_local(o, q, pd_general_local_step, &pass, work);
    for (int32_t t = 0; t < o->task_count; t++)
        sum += s->tasks[t].value;
    return sum;
}
