/* SPDX-License-Identifier: MIT
 *
 * objective.c: evaluates the objective g, its gradient and Hessian products, chunk by chunk. See objective.h.
 */
#include "objective/objective.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/phases.h"
#include "base/reduce.h"
#include "objective/global_constraints.h"

/* ---- Layout of tasks and their output slots ------------------------------------------------------ */

static size_t round_up(size_t reals)
{
    return (reals + 15) / 16 * 16; /* rounds up to a multiple of 64 bytes in single precision, of 128 in double */
}

/* Number of reals of one thread's scratch memory: a local copy of x, and one chunk's tangents and Hessian blocks. A
 * second local vector may reuse the memory of tangents and blocks. */
static size_t scratch_size_of(const sinew_batch *batch, const sinew_chunk *chunk)
{
    size_t padded_count = (size_t)chunk->group_count * (size_t)batch->width;
    size_t n = (size_t)batch->ops->info.vertex_count;
    return round_up(4 * (size_t)chunk->slot_count) + round_up(padded_count * (size_t)batch->ops->tangent_count) +
           round_up(padded_count * 9 * (n * (n + 1) / 2));
}

static size_t tangent_size_of(const sinew_batch *batch, const sinew_chunk *chunk)
{
    return round_up((size_t)chunk->group_count * (size_t)batch->width * (size_t)batch->ops->tangent_count);
}

/* Sizes of the objective's work space for the tasks of some batches. */
typedef struct layout {
    int32_t task_count, slot_count;
    size_t tangent_total, scratch_size;
} layout;

static void count_layout(layout *l, sinew_batch *const *batches, int32_t batch_count)
{
    for (int32_t b = 0; b < batch_count; b++) {
        const sinew_batch *batch = batches[b];
        l->task_count += batch->chunk_count;
        l->slot_count += batch->slot_count;
        for (int32_t c = 0; c < batch->chunk_count; c++) {
            const size_t size = scratch_size_of(batch, &batch->chunks[c]);
            l->scratch_size = size > l->scratch_size ? size : l->scratch_size;
            l->tangent_total += tangent_size_of(batch, &batch->chunks[c]);
        }
    }
}

static void objective_fill_tasks(sinew_task *tasks, int32_t slot, size_t tangent, sinew_batch *const *batches,
                                 int32_t batch_count)
{
    for (int32_t b = 0; b < batch_count; b++) {
        const sinew_batch *batch = batches[b];
        for (int32_t c = 0; c < batch->chunk_count; c++) {
            const sinew_chunk *chunk = &batch->chunks[c];
            *tasks++ = (sinew_task){
                .batch = batch, .chunk = chunk, .first_slot = slot + chunk->first_slot, .first_tangent = tangent};
            tangent += tangent_size_of(batch, chunk);
        }
        slot += batch->slot_count;
    }
}

/* Appends an output slot to a particle's list: to its first two slots, or to `more`. */
static void add_slot(sinew_objective *o, int32_t particle, int32_t slot)
{
    int32_t *two = o->slots[particle];
    if (two[0] == o->fixed_slot_count)
        two[0] = slot;
    else if (two[1] == o->fixed_slot_count)
        two[1] = slot;
    else
        memcpy(o->more[o->first_more[particle]++], (const int32_t[2]){particle, slot}, sizeof *o->more);
}

/* Counting sort of the output slots of fixed tasks by particle; the slots of one particle keep their order. */
static void fill_slots(sinew_objective *o)
{
    const int32_t n = o->particle_count;
    memset(o->first_more, 0, ((size_t)n + 1) * sizeof(int32_t));
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t t = 0; t < o->fixed_task_count; t++) {
            const sinew_task *task = &o->tasks[t];
            const int32_t *particle = task->batch->particle + task->chunk->first_slot;
            for (int32_t i = 0; i < task->chunk->slot_count; i++) {
                if (pass == 0)
                    o->first_more[particle[i] + 1]++;
                else
                    add_slot(o, particle[i], task->first_slot + i);
            }
        }
        for (int32_t i = 0; pass == 0 && i < n; i++) {
            const int32_t count = o->first_more[i + 1];
            o->slots[i][0] = o->slots[i][1] = o->fixed_slot_count;
            o->first_more[i + 1] = o->first_more[i] + (count > 2 ? count - 2 : 0);
        }
    }
    /* The second pass has advanced the start of each particle's list to that of the next particle. */
    memmove(o->first_more + 1, o->first_more, (size_t)n * sizeof(int32_t));
    o->first_more[0] = 0;
}

/* Grows the objective's work space to the given layout; tasks of fixed energies keep their contents. Returns false if
 * memory runs out. */
static bool reserve_transient(sinew_objective *o, const layout *l)
{
    const sinew_allocator *a = &o->allocator;
    const size_t tasks = (size_t)l->task_count;
    /* The number of transient elements varies, so their buffers get spare capacity. */
    bool (*make)(const sinew_allocator *, void *, size_t *, size_t, size_t) =
        l->task_count > o->fixed_task_count ? sinew_reserve_spare : sinew_reserve;
    if (!o->tasks || tasks > o->task_capacity / sizeof *o->tasks) {
        const size_t wanted = o->tasks ? tasks + tasks / 2 : tasks;
        sinew_task *grown =
            sinew_reallocate(a, o->tasks, o->tasks ? (size_t)o->fixed_task_count : 0, wanted, sizeof *o->tasks);
        if (!grown)
            return false;
        o->tasks = grown;
        o->task_capacity = wanted * sizeof *o->tasks;
    }
    return make(a, &o->slot_values, &o->slot_capacity, 4 * ((size_t)l->slot_count + 1), sizeof *o->slot_values) &&
           make(a, &o->task_values, &o->value_capacity, tasks, sizeof *o->task_values) &&
           make(a, &o->scratch, &o->scratch_capacity, (size_t)o->thread_count * l->scratch_size, sizeof *o->scratch) &&
           (!o->tangents || make(a, &o->tangents, &o->tangent_capacity, l->tangent_total, sizeof *o->tangents));
}

/* Layout of the work space for the tasks of fixed elements only. */
static layout fixed_layout(const sinew_objective *o)
{
    return (layout){o->fixed_task_count, o->fixed_slot_count, o->fixed_tangent_total, o->fixed_scratch_size};
}

static void adopt_layout(sinew_objective *o, const layout *l)
{
    o->task_count = l->task_count;
    o->tangent_total = l->tangent_total;
    o->scratch_size = l->scratch_size;
}

bool sinew_objective_has_contacts(const sinew_objective *o)
{
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        if (o->tasks[t].batch->ops->contact)
            return true;
    return false;
}

sinew_status sinew_objective_set_transient(sinew_objective *o, sinew_batch *const *batches, int32_t batch_count,
                                           sinew_error *error)
{
    layout all = fixed_layout(o);
    count_layout(&all, batches, batch_count);
    if (!reserve_transient(o, &all)) {
        all = fixed_layout(o);
        adopt_layout(o, &all);
        return sinew_fail_memory(error, "the objective's work space");
    }
    adopt_layout(o, &all);
    objective_fill_tasks(o->tasks + o->fixed_task_count, o->fixed_slot_count + 1, o->fixed_tangent_total, batches,
                         batch_count);
    memset(o->slot_values + 4 * (size_t)o->fixed_slot_count, 0, 4 * sizeof *o->slot_values);
    return SINEW_OK;
}

sinew_status sinew_objective_build(sinew_objective *o, sinew_batch *const *batches, int32_t batch_count,
                                   sinew_error *error)
{
    layout fixed = {0};
    int32_t fixed_count = 0;
    sinew_objective_clear(o);
    o->simd = sinew_simd();
    while (fixed_count < batch_count && !batches[fixed_count]->transient)
        fixed_count++;
    /* A world without energies has no list of batches to point into. */
    sinew_batch *const *const transient = batches ? batches + fixed_count : NULL;
    count_layout(&fixed, batches, fixed_count);
    o->fixed_task_count = fixed.task_count;
    o->fixed_slot_count = fixed.slot_count;
    o->fixed_tangent_total = fixed.tangent_total;
    o->fixed_scratch_size = fixed.scratch_size;
    const sinew_allocator *a = &o->allocator;
    o->slots = sinew_allocate(a, (size_t)o->particle_count, sizeof *o->slots);
    o->first_more = sinew_allocate(a, (size_t)o->particle_count + 1, sizeof *o->first_more);
    o->more = sinew_allocate(a, (size_t)o->fixed_slot_count, sizeof *o->more);
    o->chosen_tasks = sinew_allocate(a, (size_t)o->fixed_task_count, sizeof *o->chosen_tasks);
    sinew_status status = o->slots && o->first_more && o->more && o->chosen_tasks
                              ? sinew_objective_set_transient(o, transient, batch_count - fixed_count, error)
                              : sinew_fail_memory(error, "the objective's work space");
    if (status != SINEW_OK) {
        sinew_objective_clear(o);
        return status;
    }
    objective_fill_tasks(o->tasks, 0, 0, batches, fixed_count);
    fill_slots(o);
    return SINEW_OK;
}

void sinew_objective_clear(sinew_objective *o)
{
    const sinew_allocator *a = &o->allocator;
    void *arrays[] = {o->tasks,
                      o->slots,
                      o->first_more,
                      o->more,
                      o->chosen_tasks,
                      o->slot_values,
                      o->task_values,
                      o->scratch,
                      o->tangents,
                      o->constraint_gradients,
                      o->constraint_weights};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
    o->tasks = NULL;
    o->slots = NULL;
    o->first_more = NULL;
    o->more = NULL;
    o->chosen_tasks = NULL;
    o->slot_values = o->scratch = o->tangents = o->constraint_gradients = NULL;
    o->task_values = o->constraint_weights = NULL;
    o->global_constraint_count = 0;
    o->task_count = o->fixed_task_count = o->fixed_slot_count = 0;
}

/* Allocates gradients of global constraints, which are never transient elements. */
static bool reserve_constraint_gradients(sinew_objective *o)
{
    const int32_t count = sinew_global_constraints_count(o);
    if (o->constraint_gradients || count == 0)
        return true;
    o->constraint_gradients = sinew_allocate_zero(&o->allocator, 4 * (size_t)count * (size_t)o->particle_count,
                                                  sizeof *o->constraint_gradients);
    o->constraint_weights = sinew_allocate_zero(&o->allocator, (size_t)count, sizeof *o->constraint_weights);
    o->global_constraint_count = o->constraint_gradients && o->constraint_weights ? count : 0;
    return o->global_constraint_count == count;
}

sinew_status sinew_objective_need_tangents(sinew_objective *o, sinew_error *error)
{
    if (!reserve_constraint_gradients(o))
        return sinew_fail_memory(error, "the gradients of global constraints");
    if (!o->tangents &&
        !sinew_reserve(&o->allocator, &o->tangents, &o->tangent_capacity, o->tangent_total, sizeof *o->tangents))
        o->tangents = NULL;
    return o->tangents ? SINEW_OK : sinew_fail_memory(error, "the element Hessians");
}

void sinew_objective_drop_tangents(sinew_objective *o)
{
    sinew_release(&o->allocator, o->tangents);
    o->tangents = NULL;
}

/* ---- Passes over tasks (chunks of elements) ------------------------------------------------------ */

/* Copies the positions of a chunk's particles to contiguous local memory, and zeroes its slots g unless g is NULL. */
static void copy_points(const sinew_objective *o, const sinew_task *task, const sinew_real *x, sinew_real *local,
                        sinew_real *g)
{
    o->simd->slots->copy(x, task->batch->particle + task->chunk->first_slot, task->chunk->slot_count, local, g);
}

static sinew_real *scratch_at(const sinew_objective *o, int32_t thread)
{
    return o->scratch + (size_t)thread * o->scratch_size;
}

int32_t sinew_task_threads(const sinew_objective *o)
{
    return o->task_count >= SINEW_PARALLEL_TASKS ? o->thread_count : 1;
}

typedef enum operation {
    OP_VALUE,
    OP_GRADIENT,
    OP_LINEARISE,
    OP_PRODUCT
} operation;

typedef struct task_pass {
    sinew_objective *objective;
    operation what;
    const sinew_real *x; /* [particle][4] positions, or the direction p of a Hessian product H p */
    bool project;
} task_pass;

static void run_task(const task_pass *pass, int32_t thread, int32_t index)
{
    sinew_objective *o = pass->objective;
    const sinew_task *task = &o->tasks[index];
    const sinew_energy_ops *ops = task->batch->ops;
    sinew_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
    sinew_real *local = scratch_at(o, thread);
    kernel.g = o->slot_values + 4 * (size_t)task->first_slot;
    if (o->tangents)
        kernel.tangent = o->tangents + task->first_tangent;
    copy_points(o, task, pass->x, local, pass->what == OP_GRADIENT || pass->what == OP_PRODUCT ? kernel.g : NULL);
    if (o->omit_hard && task->batch->hard) {
        o->task_values[index] = 0;
        return;
    }
    if (pass->what == OP_PRODUCT) {
        kernel.p = local;
        ops->product(&kernel);
        return;
    }
    kernel.x = local;
    kernel.project = pass->project;
    kernel.multiplier = task->multiplier;
    if (pass->what == OP_VALUE && !task->batch->coupled)
        o->task_values[index] = ops->value(&kernel);
    else if (pass->what == OP_GRADIENT)
        o->task_values[index] = ops->gradient(&kernel);
    else if (pass->what == OP_LINEARISE)
        ops->linearise(&kernel);
    if (task->batch->coupled)
        o->task_values[index] = task->psi;
}

static void run_task_range(const void *context, int32_t thread, int32_t first, int32_t last)
{
    for (int32_t task = first; task < last; task++)
        run_task(context, thread, task);
}

static void run_tasks(const task_pass *pass)
{
    const sinew_objective *o = pass->objective;
    if (pass->what != OP_PRODUCT)
        sinew_global_constraints_evaluate(o, pass->x);
    sinew_tasks_for(sinew_task_threads(o), o->task_count, 1, run_task_range, pass);
}

static double sum_tasks(const sinew_objective *o)
{
    double sum = 0;
    for (int32_t task = 0; task < o->task_count; task++)
        sum += o->task_values[task];
    return sum;
}

const sinew_real *sinew_task_blocks(const sinew_objective *o, int32_t thread, const sinew_task *task,
                                    const sinew_real *q, bool project)
{
    sinew_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
    sinew_real *local = scratch_at(o, thread);
    size_t padded_count = (size_t)task->chunk->group_count * (size_t)task->batch->width;
    copy_points(o, task, q, local, NULL);
    kernel.x = local;
    kernel.tangent = local + round_up(4 * (size_t)task->chunk->slot_count);
    kernel.blocks = kernel.tangent + round_up(padded_count * (size_t)task->batch->ops->tangent_count);
    kernel.project = project;
    kernel.multiplier = task->multiplier;
    task->batch->ops->linearise(&kernel);
    task->batch->ops->hessian(&kernel);
    return kernel.blocks;
}

/* ---- Value and gradient of the objective --------------------------------------------------------- */

static sinew_slot_pass slot_pass(const sinew_objective *o, sinew_real *out)
{
    return (sinew_slot_pass){.slots = (const int32_t(*)[2])o->slots,
                             .first_more = o->first_more,
                             .more = (const int32_t(*)[2])o->more,
                             .values = o->slot_values,
                             .pinned = o->step.pinned,
                             .mass = o->step.mass,
                             .out = out};
}

/* out += the output slots of transient tasks, in the order of tasks, except at pinned particles */
static void add_transient_slots(const sinew_objective *o, sinew_real *out)
{
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const int32_t *particle = task->batch->particle + task->chunk->first_slot;
        const sinew_real *value = o->slot_values + 4 * (size_t)task->first_slot;
        for (int32_t i = 0; i < task->chunk->slot_count; i++)
            for (size_t c = 0; c < 3 && !o->step.pinned[particle[i]]; c++)
                out[4 * (size_t)particle[i] + c] += value[4 * (size_t)i + c];
    }
}

typedef struct term_context {
    const sinew_objective *objective;
    sinew_slot_pass pass;
} term_context;

/* Inertia terms of particles: sums[0] += m |q - q_tilde|^2, and gradient = slots + m/h^2 (q - q_tilde). Pinned
 * particles contribute nothing. */
static void dynamic_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const term_context *t = context;
    sums[0] += t->objective->simd->slots->inertia(&t->pass, first, last);
}

/* Load terms of particles in a quasistatic step: sums[1] -= f . q, and gradient = slots - f, f the external forces. */
static void quasistatic_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const term_context *t = context;
    sums[1] -= t->objective->simd->slots->load(&t->pass, first, last);
}

/* Adds the particles' inertia or load terms to the elastic energy, and writes the gradient unless it is NULL. Returns
 * the objective g. */
static double add_particle_terms(sinew_objective *o, const sinew_real *q, double elastic, sinew_real *gradient,
                                 sinew_terms *terms)
{
    double sums[2];
    term_context context = {o, slot_pass(o, gradient)};
    context.pass.q = q;
    context.pass.other = o->step.quasistatic ? o->step.force : o->step.q_tilde;
    context.pass.scale = 1 / (o->step.h * o->step.h);
    sinew_sum(o->step.quasistatic ? quasistatic_terms : dynamic_terms, &context, o->particle_count, 2, sums,
              o->thread_count);
    sinew_terms all = {sums[0] / (2 * o->step.h * o->step.h), elastic + sums[1]};
    if (terms)
        *terms = all;
    return all.inertia + all.elastic;
}

double sinew_objective_elastic(sinew_objective *o, const sinew_real *q)
{
    run_tasks(&(task_pass){o, .what = OP_VALUE, .x = q});
    return sum_tasks(o);
}

double sinew_objective_value(sinew_objective *o, const sinew_real *q, sinew_terms *terms)
{
    return add_particle_terms(o, q, sinew_objective_elastic(o, q), NULL, terms);
}

double sinew_objective_gradient(sinew_objective *o, const sinew_real *q, sinew_real *gradient, sinew_terms *terms)
{
    run_tasks(&(task_pass){o, .what = OP_GRADIENT, .x = q});
    const double value = add_particle_terms(o, q, sum_tasks(o), gradient, terms);
    add_transient_slots(o, gradient);
    sinew_filter(o, gradient);
    return value;
}

/* ---- Hessian products and diagonal blocks -------------------------------------------------------- */

void sinew_objective_linearise(sinew_objective *o, const sinew_real *q, bool project)
{
    run_tasks(&(task_pass){o, .what = OP_LINEARISE, .x = q, .project = project});
    for (int32_t constraint = 0; constraint < o->global_constraint_count; constraint++)
        o->constraint_weights[constraint] = sinew_global_constraint_gradient(
            o, constraint, q, o->constraint_gradients + 4 * (size_t)constraint * (size_t)o->particle_count);
}

/* out += f'' grad C (grad C . p) of every global constraint, f'' = 1 / alpha without a potential */
static void add_rank_one_terms(const sinew_objective *o, const sinew_real *p, sinew_real *out)
{
    const size_t size = 4 * (size_t)o->particle_count;
    for (int32_t constraint = 0; constraint < o->global_constraint_count; constraint++) {
        const sinew_real *slope = o->constraint_gradients + (size_t)constraint * size;
        const double along =
            o->constraint_weights[constraint] * sinew_dot(slope, p, o->particle_count, o->thread_count);
        for (size_t i = 0; i < size; i++)
            out[i] += (sinew_real)(along * (double)slope[i]);
    }
}

static void add_inertia_products(const void *context, int32_t member, int32_t first, int32_t last)
{
    const term_context *t = context;
    (void)member;
    t->objective->simd->slots->inertia(&t->pass, first, last);
}

void sinew_objective_product(sinew_objective *o, const sinew_real *p, sinew_real *out)
{
    run_tasks(&(task_pass){o, .what = OP_PRODUCT, .x = p});
    term_context context = {o, slot_pass(o, out)};
    context.pass.q = p;
    context.pass.scale = o->step.quasistatic ? 0 : 1 / (o->step.h * o->step.h);
    sinew_over_particles(o->thread_count, o->particle_count, add_inertia_products, &context);
    add_transient_slots(o, out);
    add_rank_one_terms(o, p, out);
    sinew_filter(o, out);
}

/* Adds the diagonal Hessian blocks of a chunk to its particles' sums, [particle][9], or their traces alone,
 * [particle]. Particles whose entry of `wanted` is 0 are left out; NULL: none is. */
static void add_diagonal(const sinew_task *task, const sinew_real *values, bool traces, const uint8_t *wanted,
                         double *sums)
{
    const sinew_batch *batch = task->batch;
    const size_t W = (size_t)batch->width, n = (size_t)batch->ops->info.vertex_count, B = n * (n + 1) / 2;
    const int32_t *particle = batch->particle + task->chunk->first_slot;
    const int32_t *vertex = batch->vertex + (size_t)task->chunk->first_group * n * W;
    for (size_t group = 0; group < (size_t)task->chunk->group_count; group++)
        for (size_t a = 0; a < n; a++)
            for (size_t lane = 0; lane < W; lane++) {
                const size_t at = (size_t)particle[vertex[(group * n + a) * W + lane] / SINEW_POINT];
                const sinew_real *value = values + ((group * B + a * (a + 1) / 2 + a) * 9) * W + lane;
                if (wanted && !wanted[at])
                    continue;
                if (traces)
                    sums[at] += (double)value[0] + (double)value[4 * W] + (double)value[8 * W];
                for (size_t k = 0; !traces && k < 9; k++)
                    sums[9 * at + k] += (double)value[k * W];
            }
}

/* Diagonal blocks are computed in rounds of one task per thread. Kernels run in parallel, then the results are added
 * task by task: the order of sums and the bits do not depend on threads. */
typedef struct diagonal_pass {
    const sinew_objective *objective;
    const sinew_task *tasks;
    const int32_t *chosen; /* [task_count] indices in `tasks` of the tasks of this pass; NULL: the first task_count */
    const uint8_t *wanted; /* [particle_count] 1: the particle gets a sum; NULL: all do */
    int32_t task_count;
    const sinew_real *q;
    const sinew_real **values; /* [width] Hessian blocks that the tasks of this round have computed */
    double *sums;
    int32_t width; /* number of tasks that run in one round of diagonal blocks, one per thread */
    bool project, traces;
} diagonal_pass;

static int32_t diagonal_tasks(const diagonal_pass *d, int32_t round)
{
    const int32_t left = d->task_count - round * d->width;
    return left < d->width ? left : d->width;
}

static const sinew_task *diagonal_task(const diagonal_pass *d, int32_t k)
{
    return &d->tasks[d->chosen ? d->chosen[k] : k];
}

static int32_t count_diagonal_items(const void *context, int32_t phase)
{
    return phase % 2 ? 1 : diagonal_tasks(context, phase / 2);
}

static void run_diagonal_item(const void *context, int32_t phase, int32_t item)
{
    const diagonal_pass *d = context;
    const int32_t first = phase / 2 * d->width;
    if (phase % 2 == 0)
        d->values[item] = sinew_task_blocks(d->objective, item, diagonal_task(d, first + item), d->q, d->project);
    else
        for (int32_t t = 0; t < diagonal_tasks(d, phase / 2); t++)
            add_diagonal(diagonal_task(d, first + t), d->values[t], d->traces, d->wanted, d->sums);
}

static void run_diagonals(diagonal_pass *pass)
{
    enum {
        WIDTH_MAX = 64
    };
    const sinew_real *values[WIDTH_MAX];
    const sinew_objective *o = pass->objective;
    pass->values = values;
    pass->width = o->thread_count < WIDTH_MAX ? o->thread_count : WIDTH_MAX;
    sinew_global_constraints_evaluate(o, pass->q);
    const sinew_phases work = {2 * ((pass->task_count + pass->width - 1) / pass->width), count_diagonal_items,
                               run_diagonal_item, pass};
    sinew_phases_run(&work, pass->task_count >= SINEW_PARALLEL_TASKS ? o->thread_count : 1);
}

void sinew_objective_diagonal(sinew_objective *o, const sinew_real *q, bool project, double *blocks)
{
    memset(blocks, 0, 9 * (size_t)o->particle_count * sizeof *blocks);
    run_diagonals(&(diagonal_pass){
        .objective = o, .tasks = o->tasks, .task_count = o->task_count, .q = q, .sums = blocks, .project = project});
    const double scale = o->step.quasistatic ? 0 : 1 / (o->step.h * o->step.h);
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t k = 0; k < 9; k++) {
            double *entry = &blocks[9 * (size_t)i + k], unit = k % 4 == 0 ? 1 : 0;
            *entry = o->step.pinned[i] ? unit : *entry + unit * (double)o->step.mass[i] * scale;
        }
    for (int32_t k = 0; k < o->step.constrained_count; k++)
        sinew_filter_block(o, o->step.constrained[k], o->step.constrained[k],
                           blocks + 9 * (size_t)o->step.constrained[k]);
}

/* Lists the fixed tasks with an element of a wanted particle, in o->chosen_tasks; returns their number. */
static int32_t choose_fixed_tasks(const sinew_objective *o, const uint8_t *wanted)
{
    int32_t count = 0;
    for (int32_t t = 0; t < o->fixed_task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        const int32_t *particle = task->batch->particle + task->chunk->first_slot;
        int32_t i = 0;
        while (i < task->chunk->slot_count && !wanted[particle[i]])
            i++;
        if (i < task->chunk->slot_count)
            o->chosen_tasks[count++] = t;
    }
    return count;
}

int64_t sinew_objective_fixed_diagonal(const sinew_objective *o, const sinew_real *q, const uint8_t *wanted,
                                       double *blocks)
{
    int64_t elements = 0;
    for (int32_t i = 0; i < o->particle_count; i++)
        if (wanted[i])
            memset(blocks + 9 * (size_t)i, 0, 9 * sizeof *blocks);
    const int32_t count = choose_fixed_tasks(o, wanted);
    run_diagonals(&(diagonal_pass){.objective = o,
                                   .tasks = o->tasks,
                                   .chosen = o->chosen_tasks,
                                   .wanted = wanted,
                                   .task_count = count,
                                   .q = q,
                                   .sums = blocks,
                                   .project = true});
    for (int32_t k = 0; k < count; k++)
        elements += o->tasks[o->chosen_tasks[k]].chunk->group_count;
    return elements;
}

void sinew_objective_traces(const sinew_objective *o, const sinew_real *q, bool transient, double *traces)
{
    const int32_t first = transient ? o->fixed_task_count : 0;
    run_diagonals(&(diagonal_pass){.objective = o,
                                   .tasks = o->tasks + first,
                                   .task_count = (transient ? o->task_count : o->fixed_task_count) - first,
                                   .q = q,
                                   .sums = traces,
                                   .project = true,
                                   .traces = true});
}

double sinew_objective_round_off(const sinew_objective *o, const sinew_real *q)
{
    double largest = 0;
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++)
        largest = fmax(largest, fabs((double)q[i]));
    return largest * (sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON);
}

/* ---- Local steps of projective methods ----------------------------------------------------------- */

typedef struct local_pass {
    sinew_objective *objective;
    const sinew_real *x;
    sinew_local_step *step;
    void *context; /* first argument of the local step function, given by the caller */
} local_pass;

static void run_local_steps(const void *context, int32_t thread, int32_t first, int32_t last)
{
    const local_pass *pass = context;
    sinew_objective *o = pass->objective;
    for (int32_t t = first; t < last; t++) {
        const sinew_task *task = &o->tasks[t];
        sinew_reduced_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
        sinew_real *local = scratch_at(o, thread);
        kernel.x = local;
        kernel.g = o->slot_values + 4 * (size_t)task->first_slot;
        copy_points(o, task, pass->x, local, kernel.g);
        pass->step(pass->context, t, &kernel);
    }
}

static void sum_slots(const void *context, int32_t member, int32_t first, int32_t last)
{
    const term_context *t = context;
    (void)member;
    t->objective->simd->slots->sum(&t->pass, first, last);
}

void sinew_objective_local(sinew_objective *o, const sinew_real *x, sinew_local_step *step, void *context,
                           sinew_real *out)
{
    const local_pass pass = {o, x, step, context};
    const term_context sum = {o, slot_pass(o, out)};
    sinew_tasks_for(sinew_task_threads(o), o->task_count, 1, run_local_steps, &pass);
    sinew_over_particles(o->thread_count, o->particle_count, sum_slots, &sum);
    add_transient_slots(o, out);
}

typedef struct inertia_pass {
    const sinew_objective *objective;
    double s;
    const sinew_real *q;
    sinew_real *out;
} inertia_pass;

static void add_inertia_forces(const void *context, int32_t member, int32_t first, int32_t last)
{
    const inertia_pass *pass = context;
    const sinew_objective *o = pass->objective;
    const double scale = 1 / (o->step.h * o->step.h);
    (void)member;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3 && !o->step.pinned[i]; c++, at++)
            pass->out[at] += o->step.quasistatic
                                 ? o->step.force[at]
                                 : (sinew_real)((double)o->step.mass[i] * scale *
                                                ((double)o->step.q_tilde[at] - pass->s * (double)pass->q[at]));
}

void sinew_objective_add_inertia(const sinew_objective *o, double s, const sinew_real *q, sinew_real *out)
{
    sinew_over_particles(o->thread_count, o->particle_count, add_inertia_forces, &(inertia_pass){o, s, q, out});
}

/* ---- Linear and angular momentum ----------------------------------------------------------------- */

typedef struct motion_context {
    const sinew_real *mass, *q, *v;
} motion_context;

/* Linear and angular momentum of particles first .. last - 1: sums[0..2] += m v, sums[3..5] += q x m v. */
static void momentum_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const motion_context *motion = context;
    for (int32_t i = first; i < last; i++) {
        double x[3], p[3];
        for (size_t c = 0; c < 3; c++) {
            x[c] = (double)motion->q[4 * (size_t)i + c];
            p[c] = (double)motion->mass[i] * (double)motion->v[4 * (size_t)i + c];
            sums[c] += p[c];
        }
        sums[3] += x[1] * p[2] - x[2] * p[1];
        sums[4] += x[2] * p[0] - x[0] * p[2];
        sums[5] += x[0] * p[1] - x[1] * p[0];
    }
}

void sinew_objective_momenta(const sinew_objective *o, const sinew_real *q, const sinew_real *v, double linear[3],
                             double angular[3])
{
    double sums[6];
    sinew_sum(momentum_terms, &(motion_context){o->step.mass, q, v}, o->particle_count, 6, sums, o->thread_count);
    memcpy(linear, sums, 3 * sizeof *sums);
    memcpy(angular, sums + 3, 3 * sizeof *sums);
}

/* ---- Step limit of barrier energies -------------------------------------------------------------- */

typedef struct limit_pass {
    sinew_objective *objective;
    const sinew_real *q, *d;
    double max;
} limit_pass;

static void find_step_limits(const void *context, int32_t thread, int32_t first, int32_t last)
{
    const limit_pass *pass = context;
    sinew_objective *o = pass->objective;
    for (int32_t t = first; t < last; t++) {
        const sinew_task *task = &o->tasks[t];
        o->task_values[t] = pass->max;
        if (!task->batch->ops->step_limit)
            continue;
        sinew_real *x = scratch_at(o, thread), *p = x + round_up(4 * (size_t)task->chunk->slot_count);
        const sinew_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk), .x = x, .p = p};
        copy_points(o, task, pass->q, x, NULL);
        copy_points(o, task, pass->d, p, NULL);
        o->task_values[t] = task->batch->ops->step_limit(&kernel, pass->max);
    }
}

double sinew_objective_step_limit(sinew_objective *o, const sinew_real *q, const sinew_real *d, double max)
{
    bool any = false;
    for (int32_t t = 0; t < o->task_count; t++)
        any |= o->tasks[t].batch->ops->step_limit != NULL;
    if (!any)
        return max;
    sinew_tasks_for(sinew_task_threads(o), o->task_count, 1, find_step_limits, &(limit_pass){o, q, d, max});
    for (int32_t t = 0; t < o->task_count; t++)
        max = fmin(max, o->task_values[t]);
    return max;
}

/* ---- Smallest and largest determinant of the tets ------------------------------------------------ */

void sinew_objective_determinants(sinew_objective *o, const sinew_real *q, double *smallest, double *largest,
                                  int32_t *inverted)
{
    bool any = false;
    *smallest = HUGE_VAL;
    *largest = -HUGE_VAL;
    *inverted = 0;
    for (int32_t t = 0; t < o->task_count; t++) {
        const sinew_task *task = &o->tasks[t];
        if (!task->batch->ops->determinants)
            continue;
        sinew_kernel kernel = {.groups = sinew_batch_groups(task->batch, task->chunk)};
        copy_points(o, task, q, o->scratch, NULL);
        kernel.x = o->scratch;
        double low, high;
        int32_t count;
        task->batch->ops->determinants(&kernel, &low, &high, &count);
        *smallest = fmin(*smallest, low);
        *largest = fmax(*largest, high);
        *inverted += count;
        any = true;
    }
    if (!any)
        *smallest = *largest = 1;
}
