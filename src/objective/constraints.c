/* SPDX-License-Identifier: MIT
 *
 * constraints.c: evaluates energies as constraints of one system: C, J, alpha. See constraints.h.
 */
#include "objective/constraints.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/reduce.h"

/* Fraction of the gradient of a constraint that is round-off: on a box of hard tets with two pins 1e-16 was found. */
#define GRADIENT_ROUND_OFF (32 * (sizeof(sinew_real) == 4 ? (double)FLT_EPSILON : DBL_EPSILON))

/* ---- Layout of the constraints of all batches ---------------------------------------------------- */

/* Offsets, in reals, of the arrays in a chunk's scratch: the positions, one point per vertex of every element, then C,
 * J, alpha, one_sided. Second derivatives add lambda, a second J, blocks, and displacements with their base
 * coordinates. */
typedef struct chunk_capacity {
    size_t x, C, jacobian, compliance, one_sided, lambda, other, blocks, step, base, total;
} chunk_capacity;

static chunk_capacity chunk_scratch_of(const sinew_constraint_set *set, const sinew_chunk *chunk)
{
    const bool curved = set->curved;
    const size_t padded_count = (size_t)chunk->group_count * (size_t)set->batch->width;
    const size_t n = (size_t)set->vertex_count, m = (size_t)set->per_element;
    const size_t sizes[] = {4 * padded_count * n,
                            padded_count * m,
                            padded_count * 3 * n * m,
                            padded_count * m * m,
                            padded_count * m,
                            curved ? padded_count * m : 0,
                            curved ? padded_count * 3 * n * m : 0,
                            curved ? padded_count * 9 * (n * (n + 1) / 2) : 0,
                            curved ? padded_count : 0,
                            curved ? padded_count : 0};
    size_t at[11] = {0};
    for (size_t i = 0; i < 10; i++)
        at[i + 1] = at[i] + (sizes[i] + 15) / 16 * 16;
    return (chunk_capacity){at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8], at[9], at[10]};
}

/* Predicates that choose the batches used as constraints, and among these the batches that need second derivatives. */
typedef struct constraint_choice {
    sinew_batch_predicate *chosen, *curved;
    const void *context;
} constraint_choice;

static bool is_constraint_batch(const sinew_objective *o, int32_t t, const constraint_choice *choice)
{
    const sinew_batch *batch = o->tasks[t].batch;
    return batch->ops->jacobian && !batch->ops->contact && choice->chosen(choice->context, batch);
}

static sinew_constraint_set constraint_set_of(const sinew_constraints *c, const sinew_batch *batch,
                                              const constraint_choice *choice)
{
    return (sinew_constraint_set){.batch = batch,
                                  .vertex_count = batch->ops->info.vertex_count,
                                  .per_element = batch->ops->constraint_count,
                                  .element_count = batch->element_count,
                                  .first_element = c->element_count,
                                  .first_constraint = c->constraint_count,
                                  .constraint_count = batch->ops->constraint_count * (batch->ops->global_constraint
                                                                                          ? (batch->element_count > 0)
                                                                                          : batch->element_count),
                                  .hard = batch->hard,
                                  .global = batch->ops->global_constraint,
                                  .driven = batch->ops->follows_time || batch->ops->target_slot >= 0,
                                  .curved = choice->curved && choice->curved(choice->context, batch)};
}

/* Sets the array offsets of a constraint set from `total`, the end of the previous set, and advances `total`. */
static void assign_set_offsets(sinew_constraint_set *set, sinew_constraint_set *total)
{
    const size_t e = (size_t)set->element_count, n = (size_t)set->vertex_count, m = (size_t)set->per_element;
    set->particle_at = total->particle_at;
    set->jacobian_at = total->jacobian_at;
    set->compliance_at = total->compliance_at;
    set->block_at = total->block_at;
    set->value_at = total->value_at;
    total->particle_at += e * n;
    total->jacobian_at += e * m * n * 3;
    total->compliance_at += e * m * m;
    total->block_at += set->curved ? e * 9 * (n * (n + 1) / 2) : 0;
    total->value_at += e * m;
}

/* Counts constraint sets and chunks of the objective's tasks. Also writes them if the arrays are allocated. */
static void list_constraint_sets(sinew_constraints *c, const sinew_objective *o, const constraint_choice *choice,
                                 sinew_constraint_set *total)
{
    c->set_count = c->chunk_count = c->constraint_count = c->element_count = 0;
    for (int32_t t = 0; t < o->task_count; t++) {
        if (!is_constraint_batch(o, t, choice))
            continue;
        if (sinew_task_begins(o, t)) {
            sinew_constraint_set set = constraint_set_of(c, o->tasks[t].batch, choice);
            assign_set_offsets(&set, total);
            c->constraint_count += set.constraint_count;
            c->element_count += set.element_count;
            if (c->sets)
                c->sets[c->set_count] = set;
            c->set_count++;
        }
        if (c->chunks)
            c->chunks[c->chunk_count] = (sinew_constraint_chunk){c->set_count - 1, o->tasks[t].chunk};
        c->chunk_count++;
    }
}

static void constraints_list_particles(const sinew_constraints *c, const sinew_objective *o)
{
    for (int32_t s = 0; s < c->set_count; s++) {
        const sinew_constraint_set *set = &c->sets[s];
        for (int32_t e = 0; e < set->element_count; e++) {
            int32_t *particles = c->particle + set->particle_at + (size_t)e * (size_t)set->vertex_count;
            sinew_batch_particles(set->batch, e, particles);
            for (int32_t a = 0; a < set->vertex_count; a++)
                if (o->step.pinned[particles[a]])
                    particles[a] = -1;
        }
    }
}

static bool constraints_allocate_numbers(sinew_constraints *c, const sinew_constraint_set *total)
{
    const sinew_allocator *a = &c->allocator;
    size_t vertices = 0;
    for (int32_t k = 0; k < c->chunk_count; k++) {
        const sinew_constraint_set *set = &c->sets[c->chunks[k].set];
        const size_t size = chunk_scratch_of(set, c->chunks[k].chunk).total;
        const size_t count =
            (size_t)c->chunks[k].chunk->group_count * (size_t)set->batch->width * (size_t)set->vertex_count;
        c->scratch_size = size > c->scratch_size ? size : c->scratch_size;
        vertices = count > vertices ? count : vertices;
    }
    c->particle = sinew_allocate(a, total->particle_at, sizeof *c->particle);
    c->C = sinew_allocate_zero(a, (size_t)c->constraint_count, sizeof *c->C);
    c->element_C = sinew_allocate_zero(a, total->value_at, sizeof *c->element_C);
    c->one_sided = sinew_allocate_zero(a, (size_t)c->constraint_count, sizeof *c->one_sided);
    c->J = sinew_allocate_zero(a, total->jacobian_at, sizeof *c->J);
    c->alpha = sinew_allocate_zero(a, total->compliance_at, sizeof *c->alpha);
    c->blocks = sinew_allocate_zero(a, total->block_at, sizeof *c->blocks);
    c->scratch = sinew_allocate(a, (size_t)c->thread_count * c->scratch_size, sizeof *c->scratch);
    c->identity = sinew_allocate(a, vertices, sizeof *c->identity);
    for (size_t i = 0; c->identity && i < vertices; i++)
        c->identity[i] = SINEW_POINT * (int32_t)i;
    return c->particle && c->C && c->element_C && c->one_sided && c->J && c->alpha && c->blocks && c->scratch &&
           c->identity;
}

sinew_constraints *sinew_constraints_create(const sinew_objective *o, sinew_batch_predicate *chosen,
                                            const void *context, sinew_batch_predicate *curved, sinew_error *error)
{
    const constraint_choice choice = {chosen, curved, context};
    sinew_constraints *c = sinew_allocate_zero(&o->allocator, 1, sizeof *c);
    sinew_constraint_set total = {0};
    if (c) {
        c->allocator = o->allocator;
        c->thread_count = o->thread_count;
        c->form = SINEW_FORM_SPLIT;
        list_constraint_sets(c, o, &choice, &total);
        c->sets = sinew_allocate(&o->allocator, (size_t)c->set_count, sizeof *c->sets);
        c->chunks = sinew_allocate(&o->allocator, (size_t)c->chunk_count, sizeof *c->chunks);
    }
    bool good = c && c->sets && c->chunks;
    if (good) {
        total = (sinew_constraint_set){0};
        list_constraint_sets(c, o, &choice, &total);
        good = constraints_allocate_numbers(c, &total);
    }
    if (good) {
        constraints_list_particles(c, o);
        return c;
    }
    sinew_constraints_destroy(c);
    sinew_fail_memory(error, "the numbers of constraints");
    return NULL;
}

void sinew_constraints_destroy(sinew_constraints *c)
{
    if (!c)
        return;
    const sinew_allocator allocator = c->allocator;
    void *arrays[] = {c->sets, c->chunks, c->particle, c->C,       c->element_C, c->one_sided,
                      c->J,    c->alpha,  c->blocks,   c->scratch, c->identity,  c};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

/* ---- Evaluation of C, J and alpha ---------------------------------------------------------------- */

typedef struct constraint_pass {
    sinew_constraints *c;
    const sinew_real *q;
    const double *lambda; /* NULL: the pass computes C, J and alpha; else second derivatives, with multipliers lambda */
} constraint_pass;

/* Work space for one chunk, in which every vertex of every element has its own point. */
typedef struct constraint_work {
    const sinew_constraint_set *set;
    sinew_jacobian_kernel kernel;
    sinew_real *x, *lambda, *other, *step, *base;
    size_t padded_count, W;
    const int32_t *element; /* [padded_count] index in the batch of the element in each lane; -1: padding lane */
} constraint_work;

static constraint_work constraint_work_of(const constraint_pass *pass, int32_t thread, int32_t k)
{
    const sinew_constraints *c = pass->c;
    const sinew_constraint_chunk *chunk = &c->chunks[k];
    const sinew_constraint_set *set = &c->sets[chunk->set];
    const chunk_capacity capacity = chunk_scratch_of(set, chunk->chunk);
    sinew_real *scratch = c->scratch + (size_t)thread * c->scratch_size;
    const size_t W = (size_t)set->batch->width, first = (size_t)chunk->chunk->first_group;
    constraint_work w = {.set = set,
                         .x = scratch + capacity.x,
                         .lambda = scratch + capacity.lambda,
                         .other = scratch + capacity.other,
                         .step = scratch + capacity.step,
                         .base = scratch + capacity.base,
                         .W = W,
                         .padded_count = (size_t)chunk->chunk->group_count * W,
                         .element = set->batch->element + first * W};
    w.kernel = (sinew_jacobian_kernel){.groups = sinew_batch_groups(set->batch, chunk->chunk),
                                       .x = w.x,
                                       .form = set->hard ? SINEW_FORM_ROOT : c->form,
                                       .hard = set->hard,
                                       .C = scratch + capacity.C,
                                       .jacobian = scratch + capacity.jacobian,
                                       .compliance = scratch + capacity.compliance,
                                       .one_sided = set->hard ? scratch + capacity.one_sided : NULL,
                                       .lambda = w.lambda,
                                       .blocks = scratch + capacity.blocks};
    const int32_t *vertex = w.kernel.groups.vertex;
    const int32_t *particle = set->batch->particle + chunk->chunk->first_slot;
    for (size_t i = 0; i < w.padded_count * (size_t)set->vertex_count; i++)
        memcpy(w.x + 4 * i, pass->q + 4 * (size_t)particle[vertex[i] / SINEW_POINT], 4 * sizeof *w.x);
    if (w.kernel.one_sided)
        memset(w.kernel.one_sided, 0, w.padded_count * (size_t)set->per_element * sizeof *w.kernel.one_sided);
    w.kernel.groups.vertex = c->identity;
    w.kernel.groups.threes = w.kernel.groups.twos = 0;
    return w;
}

/* Number k (0 .. count - 1) of the element in SIMD lane `lane`, from an array [group][count][W]. */
static double lane_number(const constraint_work *w, const sinew_real *numbers, size_t lane, size_t k, size_t count)
{
    return (double)numbers[(lane / w->W * count + k) * w->W + lane % w->W];
}

/* Copies the gradient of constraint i to J [vertex_count][3], zero at pinned vertices, and zero at all vertices if what
 * is left is round-off of the whole gradient: e.g. the strain along an edge between two pins does not depend on the
 * other vertices. */
static void store_gradient(const constraint_work *w, size_t lane, size_t i, const int32_t *particles, double *J)
{
    const size_t n = 3 * (size_t)w->set->vertex_count;
    double all = 0, free_part = 0;
    for (size_t k = 0; k < n; k++) {
        const double d = lane_number(w, w->kernel.jacobian, lane, i * n + k, (size_t)w->set->per_element * n);
        J[k] = particles[k / 3] < 0 ? 0 : d;
        all += d * d;
        free_part += J[k] * J[k];
    }
    if (free_part <= GRADIENT_ROUND_OFF * GRADIENT_ROUND_OFF * all)
        memset(J, 0, n * sizeof *J);
}

static void store_constraint_values(const constraint_pass *pass, const constraint_work *w, size_t lane)
{
    const sinew_constraints *c = pass->c;
    const sinew_constraint_set *set = w->set;
    const size_t e = (size_t)w->element[lane], n = (size_t)set->vertex_count, m = (size_t)set->per_element;
    const int32_t *particles = sinew_constraint_particles(c, set, (int32_t)e);
    double *J = c->J + set->jacobian_at + e * m * n * 3;
    for (size_t i = 0; i < m; i++) {
        const bool always = set->batch->ops->inequalities >> i & 1;
        c->element_C[set->value_at + e * m + i] = lane_number(w, w->kernel.C, lane, i, m);
        c->one_sided[sinew_constraint_index(set, (int32_t)e, (int32_t)i)] =
            (int8_t)(always                ? 1
                     : w->kernel.one_sided ? lane_number(w, w->kernel.one_sided, lane, i, m)
                                           : 0);
        store_gradient(w, lane, i, particles, J + i * 3 * n);
        for (size_t j = 0; j < m; j++)
            c->alpha[set->compliance_at + (e * m + i) * m + j] =
                lane_number(w, w->kernel.compliance, lane, i * m + j, m * m);
    }
}

/* ---- Second derivatives of constraints ----------------------------------------------------------- */

/* Pointer to the position of vertex a of the element in SIMD lane `lane`. */
static sinew_real *lane_point(const constraint_work *w, size_t lane, size_t a)
{
    return w->x + 4 * ((lane / w->W * (size_t)w->set->vertex_count + a) * w->W + lane % w->W);
}

/* Displacement of a vertex for a difference quotient, in m: a small fraction of the element's size, or of the distance
 * from the origin if all vertices coincide. */
static double difference_step_of(const constraint_work *w, size_t lane)
{
    const double fraction = sizeof(sinew_real) == 4 ? 5e-3 : 6e-6;
    double size = 0, largest = 0;
    for (size_t a = 0; a < (size_t)w->set->vertex_count; a++)
        for (size_t i = 0; i < 3; i++) {
            const double x = (double)lane_point(w, lane, a)[i];
            size = fmax(size, fabs(x - (double)lane_point(w, lane, 0)[i]));
            largest = fmax(largest, fabs(x));
        }
    return fraction * (size > 0 ? size : largest > 0 ? largest : 1);
}

/* Adds the difference quotient of sum_i lambda_i dC_i/dx_a along coordinate c of vertex b to the Hessian blocks of one
 * element. Each of two mirror entries gets half, so that the blocks are symmetric. */
static void add_difference(const constraint_work *w, size_t lane, size_t b, size_t c, double over, double *blocks)
{
    const size_t n = (size_t)w->set->vertex_count, m = (size_t)w->set->per_element;
    for (size_t k = 0; k < 3 * n; k++) {
        const size_t a = k / 3, r = k % 3;
        double v = 0;
        for (size_t i = 0; i < m; i++)
            v += lane_number(w, w->lambda, lane, i, m) *
                 (lane_number(w, w->kernel.jacobian, lane, i * 3 * n + k, m * 3 * n) -
                  lane_number(w, w->other, lane, i * 3 * n + k, m * 3 * n));
        v *= 0.5 / over;
        if (a >= b)
            blocks[(a * (a + 1) / 2 + b) * 9 + 3 * r + c] += v;
        if (a <= b)
            blocks[(b * (b + 1) / 2 + a) * 9 + 3 * c + r] += v;
    }
}

static double *element_blocks_of(const sinew_constraints *c, const constraint_work *w, size_t lane)
{
    const size_t n = (size_t)w->set->vertex_count, size = 9 * (n * (n + 1) / 2);
    return c->blocks + w->set->block_at + (size_t)w->element[lane] * size;
}

/* Sets coordinate k of the elements in all lanes to its base value plus `sign` times its difference step. */
static void move_points(const constraint_work *w, size_t k, sinew_real sign)
{
    for (size_t lane = 0; lane < w->padded_count; lane++)
        lane_point(w, lane, k / 3)[k % 3] = w->base[lane] + sign * w->step[lane];
}

static void curve_by_differences(const sinew_constraints *c, const constraint_work *w)
{
    const size_t n = (size_t)w->set->vertex_count, size = 9 * (n * (n + 1) / 2);
    const size_t numbers = w->padded_count * 3 * n * (size_t)w->set->per_element;
    for (size_t lane = 0; lane < w->padded_count; lane++) {
        w->step[lane] = (sinew_real)difference_step_of(w, lane);
        if (w->element[lane] >= 0)
            memset(element_blocks_of(c, w, lane), 0, size * sizeof *c->blocks);
    }
    for (size_t k = 0; k < 3 * n; k++) {
        for (size_t lane = 0; lane < w->padded_count; lane++)
            w->base[lane] = lane_point(w, lane, k / 3)[k % 3];
        move_points(w, k, -1);
        w->set->batch->ops->jacobian(&w->kernel);
        memcpy(w->other, w->kernel.jacobian, numbers * sizeof *w->other);
        move_points(w, k, 1);
        w->set->batch->ops->jacobian(&w->kernel);
        for (size_t lane = 0; lane < w->padded_count; lane++) {
            const sinew_real up = w->base[lane] + w->step[lane], down = w->base[lane] - w->step[lane];
            if (w->element[lane] >= 0)
                add_difference(w, lane, k / 3, k % 3, (double)up - (double)down, element_blocks_of(c, w, lane));
        }
        move_points(w, k, 0);
    }
}

static void curve_by_energy(const sinew_constraints *c, const constraint_work *w)
{
    const size_t n = (size_t)w->set->vertex_count, size = 9 * (n * (n + 1) / 2);
    w->set->batch->ops->curvature(&w->kernel);
    for (size_t lane = 0; lane < w->padded_count; lane++)
        for (size_t k = 0; w->element[lane] >= 0 && k < size; k++)
            element_blocks_of(c, w, lane)[k] = lane_number(w, w->kernel.blocks, lane, k, size);
}

/* ---- Evaluation passes over chunks --------------------------------------------------------------- */

static void load_lambda(const constraint_pass *pass, const constraint_work *w)
{
    const size_t m = (size_t)w->set->per_element;
    for (size_t lane = 0; lane < w->padded_count; lane++)
        for (size_t i = 0; i < m; i++) {
            const int32_t e = w->element[lane];
            w->lambda[(lane / w->W * m + i) * w->W + lane % w->W] =
                e < 0 ? 0 : (sinew_real)pass->lambda[sinew_constraint_index(w->set, e, (int32_t)i)];
        }
}

static void evaluate_chunks(const void *context, int32_t thread, int32_t first, int32_t last)
{
    const constraint_pass *pass = context;
    for (int32_t k = first; k < last; k++) {
        if (pass->lambda && !pass->c->sets[pass->c->chunks[k].set].curved)
            continue;
        const constraint_work w = constraint_work_of(pass, thread, k);
        if (pass->lambda) {
            load_lambda(pass, &w);
            (w.set->batch->ops->curvature ? curve_by_energy : curve_by_differences)(pass->c, &w);
            continue;
        }
        w.set->batch->ops->jacobian(&w.kernel);
        for (size_t lane = 0; lane < w.padded_count; lane++)
            if (w.element[lane] >= 0)
                store_constraint_values(pass, &w, lane);
    }
}

static void run_constraint_pass(const constraint_pass *pass)
{
    sinew_tasks_for(pass->c->chunk_count >= SINEW_PARALLEL_TASKS ? pass->c->thread_count : 1, pass->c->chunk_count, 1,
                    evaluate_chunks, pass);
}

void sinew_constraints_evaluate(sinew_constraints *c, const sinew_real *q)
{
    run_constraint_pass(&(constraint_pass){c, q, NULL});
    memset(c->C, 0, (size_t)c->constraint_count * sizeof *c->C);
    for (int32_t s = 0; s < c->set_count; s++) {
        const sinew_constraint_set *set = &c->sets[s];
        const double *value = c->element_C + set->value_at;
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < set->per_element; i++)
                c->C[sinew_constraint_index(set, e, i)] += *value++;
    }
}

void sinew_constraints_evaluate_second(sinew_constraints *c, const sinew_real *q, const double *lambda)
{
    run_constraint_pass(&(constraint_pass){c, q, lambda});
}

/* ---- Products with the Jacobian J ---------------------------------------------------------------- */

const sinew_constraint_set *sinew_constraint_owner(const sinew_constraints *c, int32_t constraint, int32_t *element,
                                                   int32_t *i)
{
    int32_t s = 0;
    while (constraint >= c->sets[s].first_constraint + c->sets[s].constraint_count)
        s++;
    *element = (constraint - c->sets[s].first_constraint) / c->sets[s].per_element;
    *i = (constraint - c->sets[s].first_constraint) % c->sets[s].per_element;
    return &c->sets[s];
}

/* One constraint of one element: its index, its particles and its gradient J. */
typedef struct constraint_output {
    int32_t constraint, vertex_count;
    const int32_t *particles;
    const double *J; /* [vertex_count][3] gradient of the constraint by each vertex */
} constraint_output;

typedef void constraint_visitor(const constraint_output *output, void *context);

static void visit_constraints(const sinew_constraints *c, constraint_visitor *visit, void *context)
{
    for (int32_t s = 0; s < c->set_count; s++) {
        const sinew_constraint_set *set = &c->sets[s];
        for (int32_t e = 0; e < set->element_count; e++)
            for (int32_t i = 0; i < set->per_element; i++) {
                const constraint_output output = {sinew_constraint_index(set, e, i), set->vertex_count,
                                                  sinew_constraint_particles(c, set, e),
                                                  sinew_constraint_jacobian(c, set, e, i)};
                visit(&output, context);
            }
    }
}

typedef struct product_context {
    const sinew_real *d;
    const double *lambda;
    double scale;
    double *out;
} product_context;

static void constraints_add_product(const constraint_output *output, void *context)
{
    const product_context *p = context;
    for (int32_t a = 0; a < output->vertex_count; a++)
        for (int32_t k = 0; output->particles[a] >= 0 && k < 3; k++)
            p->out[output->constraint] +=
                output->J[3 * a + k] * (double)p->d[4 * (size_t)output->particles[a] + (size_t)k];
}

void sinew_constraints_product(const sinew_constraints *c, const sinew_real *d, double *out)
{
    memset(out, 0, (size_t)c->constraint_count * sizeof *out);
    visit_constraints(c, constraints_add_product, &(product_context){.d = d, .out = out});
}

static void add_constraint_force(const constraint_output *output, void *context)
{
    const product_context *p = context;
    for (int32_t a = 0; a < output->vertex_count; a++)
        for (int32_t k = 0; output->particles[a] >= 0 && k < 3; k++)
            p->out[3 * (size_t)output->particles[a] + (size_t)k] +=
                p->scale * output->J[3 * a + k] * p->lambda[output->constraint];
}

void sinew_constraints_add_force(const sinew_constraints *c, const double *lambda, double scale, double *out)
{
    visit_constraints(c, add_constraint_force, &(product_context){.lambda = lambda, .scale = scale, .out = out});
}

void sinew_constraints_apply_compliance(const sinew_constraints *c, const double *lambda, double *out)
{
    memset(out, 0, (size_t)c->constraint_count * sizeof *out);
    for (int32_t s = 0; s < c->set_count; s++) {
        const sinew_constraint_set *set = &c->sets[s];
        const int32_t m = set->per_element;
        /* All elements of a global constraint share the compliance of the first. */
        for (int32_t e = 0; e < (set->global ? set->element_count > 0 : set->element_count); e++)
            for (int32_t i = 0; i < m * m; i++)
                out[sinew_constraint_index(set, e, i / m)] += sinew_constraint_compliance(c, set, e, i / m, i % m) *
                                                              lambda[sinew_constraint_index(set, e, i % m)];
    }
}

/* Adds squared gradient entries element by element. For global constraints, whose elements share particles, the result
 * only approximates the norm. */
static void add_squared_gradient(const constraint_output *output, void *context)
{
    const product_context *p = context;
    for (int32_t k = 0; k < 3 * output->vertex_count; k++)
        p->out[output->constraint] += output->J[k] * output->J[k];
}

void sinew_constraints_norms(const sinew_constraints *c, double *out)
{
    memset(out, 0, (size_t)c->constraint_count * sizeof *out);
    visit_constraints(c, add_squared_gradient, &(product_context){.out = out});
    for (int32_t r = 0; r < c->constraint_count; r++)
        out[r] = sqrt(out[r]);
}
