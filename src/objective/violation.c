/* SPDX-License-Identifier: MIT
 *
 * violation.c: the largest |C| of hard energies, computed group by group by the energies' `jacobian` operation. See
 * violation.h.
 */
#include "objective/violation.h"

#include <math.h>

enum {
    CONSTRAINTS_MAX = 8,
    WIDTH_MAX = 16
};

bool sinew_objective_is_hard(const sinew_objective *o)
{
    for (int32_t t = 0; t < o->task_count; t++)
        if (o->tasks[t].batch->hard)
            return true;
    return false;
}

/* The largest |C| (inequalities: -C) of the hard constraints of one chunk at points x; the sum of C if the chunk
 * belongs to a global constraint. */
static double task_violation(const sinew_task *task, const sinew_real *x)
{
    const sinew_energy_ops *ops = task->batch->ops;
    const size_t W = (size_t)task->batch->width, m = (size_t)ops->constraint_count;
    const size_t n = (size_t)ops->info.vertex_count, D = (size_t)ops->data_count;
    const sinew_groups groups = sinew_batch_groups(task->batch, task->chunk);
    _Alignas(SINEW_ALIGNMENT) sinew_real C[CONSTRAINTS_MAX * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real alpha[CONSTRAINTS_MAX * CONSTRAINTS_MAX * WIDTH_MAX];
    _Alignas(SINEW_ALIGNMENT) sinew_real jacobian[CONSTRAINTS_MAX * 3 * SINEW_STENCIL_MAX * WIDTH_MAX];
    double max = 0;
    if (!ops->jacobian || m > CONSTRAINTS_MAX || W > WIDTH_MAX)
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
            max = ops->global_constraint ? max + (double)C[i] : fmax(max, open);
        }
    }
    return max;
}

static void measure_violation(void *context, int32_t t, sinew_reduced_kernel *kernel)
{
    sinew_objective *o = context;
    o->task_values[t] = o->tasks[t].batch->hard ? task_violation(&o->tasks[t], kernel->x) : 0;
}

double sinew_objective_violation(sinew_objective *o, const sinew_real *q, sinew_real *work)
{
    double max = 0, own = 0;
    if (!sinew_objective_is_hard(o))
        return 0;
    sinew_objective_local(o, q, measure_violation, o, work);
    for (int32_t t = 0; t < o->task_count; t++) {
        const bool whole = o->tasks[t].batch->ops->global_constraint;
        own = whole && !sinew_task_begins(o, t) ? own + o->task_values[t] : o->task_values[t];
        const bool ends = !whole || t + 1 == o->task_count || sinew_task_begins(o, t + 1);
        max = isnan(max) || isnan(own) ? NAN : ends ? fmax(max, fabs(own)) : max;
    }
    return max;
}
