/* SPDX-License-Identifier: MIT
 *
 * global_constraints.c: evaluates energies that are a function of a sum over elements. See global_constraints.h. One
 * thread processes the tasks in sequence: a surface has few triangles compared with a body's tets, and sums stay in
 * order.
 */
#include "objective/global_constraints.h"

#include <math.h>
#include <string.h>

static bool is_global_constraint(const sinew_objective *o, int32_t t)
{
    return o->tasks[t].batch->coupled;
}

int32_t sinew_global_constraints_count(const sinew_objective *o)
{
    int32_t count = 0;
    for (int32_t t = 0; t < o->task_count; t++)
        count += is_global_constraint(o, t) && sinew_task_begins(o, t);
    return count;
}

/* Weight of a global constraint (1 / alpha if there is no potential), which all active elements share; 0 if no element
 * is active. */
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

typedef struct global_value {
    double psi;        /* energy f(C) of the global constraint C, in J */
    double multiplier; /* first derivative f'(C) of the global constraint's energy, divided by the weight */
    double curvature;  /* second derivative f''(C) of the global constraint's energy */
} global_value;

/* Energy f of a batch as a function of C, and its derivatives, from sum = weight C. Outside of the domain f is +inf and
 * has no derivatives. */
static global_value global_function(const sinew_batch *batch, double weight, double sum)
{
    const double C = weight > 0 ? sum / weight : 0;
    sinew_real data[SINEW_DATA_MAX];
    double f[3];
    if (!batch->ops->potential || !(weight > 0))
        return (global_value){0.5 * C * sum, C, weight};
    sinew_batch_element(batch, 0, data);
    if (!batch->ops->potential(data, C, f))
        return (global_value){.psi = HUGE_VAL};
    return (global_value){f[0], f[1] / weight, f[2]};
}

/* Runs one task's kernel at q in the first thread's scratch memory. Returns multiplier times weight times C, C summed
 * over the elements of the task. g: NULL, or the task's slots, to which the gradient of the returned value is written.
 */
static double evaluate_task(const sinew_objective *o, const sinew_task *task, const sinew_real *q,
                            sinew_real multiplier, sinew_real *g)
{
    const sinew_kernel kernel = {
        .groups = sinew_batch_groups(task->batch, task->chunk), .x = o->scratch, .g = g, .multiplier = multiplier};
    o->simd->slots->copy(q, task->batch->particle + task->chunk->first_slot, task->chunk->slot_count, o->scratch, g);
    return g ? task->batch->ops->gradient(&kernel) : task->batch->ops->value(&kernel);
}

/* Index after the last task of the global constraint that begins with task t. */
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
            sum += evaluate_task(o, &o->tasks[t], q, 1, NULL);
        const global_value value = global_function(o->tasks[first].batch, weight, sum);
        for (int32_t t = first; t < end; t++) {
            o->tasks[t].multiplier = (sinew_real)value.multiplier;
            o->tasks[t].psi = t == first ? value.psi : 0;
        }
    }
}

/* gradient += scale times a task's output slots, except at pinned particles */
static void add_task_slots(const sinew_objective *o, const sinew_task *task, double scale, sinew_real *gradient)
{
    const int32_t *particle = task->batch->particle + task->chunk->first_slot;
    const sinew_real *value = o->slot_values + 4 * (size_t)task->first_slot;
    for (int32_t i = 0; i < task->chunk->slot_count; i++)
        for (size_t c = 0; c < 3 && !o->step.pinned[particle[i]]; c++)
            gradient[4 * (size_t)particle[i] + c] += (sinew_real)(scale * (double)value[4 * (size_t)i + c]);
}

/* Index of the first task of a global constraint. */
static int32_t global_constraint_task(const sinew_objective *o, int32_t constraint)
{
    int32_t t = 0;
    for (int32_t seen = -1; t < o->task_count; t++) {
        seen += is_global_constraint(o, t) && sinew_task_begins(o, t);
        if (seen == constraint)
            break;
    }
    return t;
}

double sinew_global_constraint_gradient(const sinew_objective *o, int32_t constraint, const sinew_real *q,
                                        sinew_real *gradient)
{
    int32_t t = global_constraint_task(o, constraint);
    const size_t size = 4 * (size_t)o->particle_count * sizeof *gradient;
    const sinew_batch *batch = o->tasks[t].batch;
    const double weight = global_constraint_weight(batch);
    double sum = 0;
    memset(gradient, 0, size);
    for (const int32_t end = global_constraint_end(o, t); weight > 0 && t < end; t++) {
        sum += evaluate_task(o, &o->tasks[t], q, 1, o->slot_values + 4 * (size_t)o->tasks[t].first_slot);
        add_task_slots(o, &o->tasks[t], 1 / weight, gradient);
    }
    const double curvature = global_function(batch, weight, sum).curvature;
    if (!(curvature > 0))
        memset(gradient, 0, size);
    sinew_filter(o, gradient);
    return curvature;
}

double sinew_global_constraints_stiffness(const sinew_objective *o, const sinew_real *q, sinew_real *gradient)
{
    const int32_t count = sinew_global_constraints_count(o);
    double sum = 0;
    for (int32_t k = 0; k < count; k++)
        if (!o->tasks[global_constraint_task(o, k)].batch->hard) {
            const double curvature = sinew_global_constraint_gradient(o, k, q, gradient);
            double square = 0, length = 0;
            for (size_t i = 0; i < (size_t)o->particle_count; i++) {
                double own = 0;
                for (size_t c = 4 * i; c < 4 * i + 3; c++)
                    own += (double)gradient[c] * (double)gradient[c];
                square += own;
                length += sqrt(own);
            }
            sum += curvature * sqrt(square) * length;
        }
    return sum;
}
