/* SPDX-License-Identifier: MIT
 *
 * violation.c: the largest |C| of hard energies, found group by group as PBD would see them. See violation.h.
 */
#include "objective/violation.h"

#include <math.h>

enum {
    CONSTRAINTS_MOST = 8,
    WIDTH_MOST = 16
};

bool sinew_objective_is_hard(const sinew_objective *o)
{
    for (int32_t t = 0; t < o->task_count; t++)
        if (o->tasks[t].batch->hard)
            return true;
    return false;
}

/* The largest |C| of one chunk, whose points are in x, or, where elements are one constraint, the sum of C. */
static double task_violation(const sinew_task *task, const sinew_real *x)
{
    const sinew_energy_ops *ops = task->batch->ops;
    const size_t W = (size_t)task->batch->width, m = (size_t)ops->constraint_count;
    const size_t n = (size_t)ops->info.vertex_count, D = (size_t)ops->data_count;
    const sinew_groups groups = sinew_batch_groups(task->batch, task->chunk);
    _Alignas(SINEW_ALIGNMENT) sinew_real C[CONSTRAINTS_MOST * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real alpha[CONSTRAINTS_MOST * CONSTRAINTS_MOST * WIDTH_MOST];
    _Alignas(SINEW_ALIGNMENT) sinew_real jacobian[CONSTRAINTS_MOST * 3 * SINEW_STENCIL_MAX * WIDTH_MOST];
    double most = 0;
    if (!ops->jacobian || m > CONSTRAINTS_MOST || W > WIDTH_MOST)
        return NAN;
    for (size_t group = 0; group < (size_t)groups.count; group++) {
        const sinew_jacobian_kernel kernel = {
            .groups = {.count = 1, .vertex = groups.vertex + group * n * W, .data = groups.data + group * D * W},
            .x = x,
            .hard = true,
            .C = C,
            .jacobian = jacobian,
            .compliance = alpha};
        ops->jacobian(&kernel);
        for (size_t i = 0; i < m * W; i++) {
            const bool one_sided = ops->inequalities >> i / W & 1;
            const double open = one_sided ? fmax(-(double)C[i], 0) : fabs((double)C[i]);
            most = ops->whole_row ? most + (double)C[i] : fmax(most, open);
        }
    }
    return most;
}

static void look(void *context, int32_t t, sinew_reduced_kernel *kernel)
{
    sinew_objective *o = context;
    o->task_values[t] = o->tasks[t].batch->hard ? task_violation(&o->tasks[t], kernel->x) : 0;
}

double sinew_objective_violation(sinew_objective *o, const sinew_real *q, sinew_real *work)
{
    double most = 0, own = 0;
    if (!sinew_objective_is_hard(o))
        return 0;
    sinew_objective_local(o, q, look, o, work);
    for (int32_t t = 0; t < o->task_count; t++) {
        const bool whole = o->tasks[t].batch->ops->whole_row;
        own = whole && !sinew_task_begins(o, t) ? own + o->task_values[t] : o->task_values[t];
        const bool ends = !whole || t + 1 == o->task_count || sinew_task_begins(o, t + 1);
        most = isnan(most) || isnan(own) ? NAN : ends ? fmax(most, fabs(own)) : most;
    }
    return most;
}
