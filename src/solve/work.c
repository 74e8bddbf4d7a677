/* SPDX-License-Identifier: MIT
 *
 * work.c: cost model of Newton iterations, and the work of a step. See work.h.
 *
 * Work of an element of k vertices is counted per k^2. Measured on blocks of tets with 4^3 to 20^3 vertices, in double
 * with AVX2 on one core, where a multiply-add of a large factorisation took 0.028 ns:
 *
 *     gradient 12 ns, product 8 ns, tangents 130 ns, assembled Hessian 250 ns per tet
 *     factorisation 0.028 ns per multiply-add and 2.3 ns per entry of L; solve 0.4 to 0.9 ns per entry
 */
#include "solve/work.h"

#include <math.h>

#include "solve/solver.h"

/* Multiply-adds per element of k vertices, divided by k^2. */
#define GRADIENT 27.0
#define PRODUCT  18.0
#define TANGENTS 290.0
#define HESSIAN  560.0
#define FACTOR   80.0 /* multiply-adds per entry of the Cholesky factor L, beyond those of the factorisation */
#define SOLVE    20.0 /* multiply-adds of one solve per entry of the Cholesky factor L */

/* Sum of k^2 over all elements of k vertices, plus 1 for each particle, which has inertia. */
static double count_elements(const sinew_objective *o)
{
    double sum = o->particle_count;
    for (int32_t t = 0; t < o->task_count; t++)
        if (sinew_task_begins(o, t)) {
            const sinew_batch *batch = o->tasks[t].batch;
            sum += (double)batch->element_count * pow(batch->ops->info.vertex_count, 2);
        }
    return sum;
}

/* Size of a Cholesky factor of a solid: entries n^(4/3) and cost n^2 of nested dissection (George 1973), with the
 * constants of blocks of 8^3 to 20^3 vertices. */
static sinew_factor_size solid_size(int32_t particles)
{
    const double n = particles;
    return (sinew_factor_size){.cost = 50 * n * n, .entries = 40 * n * cbrt(n)};
}

sinew_work_model sinew_work_model_of(const sinew_objective *o, const sinew_factor_size *size)
{
    const double elements = count_elements(o);
    const sinew_factor_size known = size->cost > 0 ? *size : solid_size(o->particle_count);
    sinew_work_model m = {.gradient = GRADIENT * elements,
                          .product = PRODUCT * elements,
                          .tangents = TANGENTS * elements,
                          .hessian = HESSIAN * elements,
                          .factor = known.cost + FACTOR * known.entries,
                          .solve = SOLVE * known.entries};
    m.newton = m.gradient + m.hessian + m.factor + m.solve;
    return m;
}

double sinew_solve_work(const sinew_solve *s)
{
    const sinew_work_model m = sinew_work_model_of(s->objective, &s->history.factor_size);
    const sinew_iteration_work w = s->ops->step_work ? s->ops->step_work(s) : s->ops->work;
    const bool none = w.gradients == 0 && w.solves == 0 && w.newtons == 0;
    const double iteration = (none ? 1 : w.gradients) * m.gradient + w.solves * m.solve + w.newtons * m.newton;
    return s->iterations * iteration / m.newton;
}
