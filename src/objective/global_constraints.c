/* SPDX-License-Identifier: MIT
 *
 * global_constraints.c: see global_constraints.h. One thread processes the tasks in sequence: a surface has few
 * triangles compared with a body's tets, and sums stay in order.
 */
#include "objective/global_constraints.h"

#include <string.h>

static bool is_global_constraint(const sinew_objective *o, int32_t t)
{
    return o->tasks[t].batch->ops->global_constraint;
}

int32_t sinew_global_constraints_count(const sinew_objective *o)
{
    int32_t count = 0;
    for (int32_t t = 0; t < o->task_count; t++)
        count += is_global_constraint(o, t) && sinew_task_begins(o, t);
    return count;
}

/* Weight 1 / alpha of a global constraint, which all active elements share; 0 if no element is active. */
static double global_constraint_weight(const sinew_batch *batch)
{
    const size_t W = (size_t)batch->width, D = (size_t)batch->ops->data_count;
    double max = 0;
    for (size_t group = 0; group < (size_t)batch->group_count; group++)
        for (size_t lane = 0; lane < W; lane++) {
            const double weight = (double)batch->data[group * D * W + lane];
            max = weight > max ? weight : max;
        }
    return max;
}

/* Runs one task's kernel at q in the first thread's scratch. Returns multiplier C / alpha, C summed over the elements
 * of the task. g: NULL, or the task's slots, to which the gradient of the returned value is written.
 */
static double run_contribution(const sinew_objective *o, const sinew_task *task, const sinew_real *q,
                               sinew_real multiplier, sinew_real *g)
{
    const sinew_kernel kernel = {
        .groups = sinew_batch_groups(task->batch, task->chunk), .x = o->scratch, .g = g, .multiplier = multiplier};
    o->simd->slots->copy(q, task->batch->particle + task->chunk->first_slot, task->chunk->slot_count, o->scratch, g);
    return g ? task->batch->ops->gradient(&kernel) : task->batch->ops->value(&kernel);
}

/* Index after the last task of the constraint that begins with task t. */
static int32_t global_constraint_end(const sinew_objective *o, int32_t t)
{
    const sinew_batch *batch = o->tasks[t].batch;
    while (t < o->task_count && o->tasks[t].batch == batch)
        t++;
    return t;
}

void sinew_global_constraints_evaluate(const sinew_objective *o, const sinew_real *q)
{
    for (int32_t first = 0, end; first < o->task_count; first = end) {
        end = global_constraint_end(o, first);
        if (!is_global_constraint(o, first))
            continue;
        const double weight = global_constraint_weight(o->tasks[first].batch);
        double sum = 0;
        for (int32_t t = first; t < end; t++)
            sum += run_contribution(o, &o->tasks[t], q, 1, NULL);
        const double C = weight > 0 ? sum / weight : 0;
        for (int32_t t = first; t < end; t++) {
            o->tasks[t].multiplier = (sinew_real)C;
            o->tasks[t].psi = t == first ? 0.5 * C * sum : 0;
        }
    }
}

/* gradient += scale times the slots of a task, except at pins */
static void add_slots(const sinew_objective *o, const sinew_task *task, double scale, sinew_real *gradient)
{
    const int32_t *particle = task->batch->particle + task->chunk->first_slot;
    const sinew_real *value = o->slot_values + 4 * (size_t)task->first_slot;
    for (int32_t i = 0; i < task->chunk->slot_count; i++)
        for (size_t c = 0; c < 3 && !o->step.pinned[particle[i]]; c++)
            gradient[4 * (size_t)particle[i] + c] += (sinew_real)(scale * (double)value[4 * (size_t)i + c]);
}

double sinew_global_constraint_gradient(const sinew_objective *o, int32_t constraint, const sinew_real *q,
                                        sinew_real *gradient)
{
    int32_t t = 0;
    for (int32_t seen = -1; t < o->task_count; t++) {
        seen += is_global_constraint(o, t) && sinew_task_begins(o, t);
        if (seen == constraint)
            break;
    }
    memset(gradient, 0, 4 * (size_t)o->particle_count * sizeof *gradient);
    const double weight = global_constraint_weight(o->tasks[t].batch);
    for (const int32_t end = global_constraint_end(o, t); weight > 0 && t < end; t++) {
        run_contribution(o, &o->tasks[t], q, 1, o->slot_values + 4 * (size_t)o->tasks[t].first_slot);
        add_slots(o, &o->tasks[t], 1 / weight, gradient);
    }
    sinew_filter(o, gradient);
    return weight;
}
