/* SPDX-License-Identifier: MIT
 *
 * sweep.c: lays constraints out by colour and runs over them. See sweep.h.
 */
#include "solve/sweep.h"

#include <math.h>
#include <string.h>

#include "base/order.h"
#include "base/phases.h"
#include "base/reduce.h"
#include "energy/registry.h"
#include "mesh/topology.h"

#define PARALLEL_GROUPS 512 /* in all; below, one thread does them */
#define PIECE_ELEMENTS  128 /* of one colour that a thread takes at a time, at most */

/* Particles of a domain, at most: 32 KiB in single precision. Their number is a power of two; worlds with fewer than a
 * few are not cut. */
#define DOMAIN_PARTICLES 2048
#define DOMAINS_LEAST    4
#define ROW_ELEMENTS     8 /* that a row has on average, at least: no less than the widest lanes, and the same for all */

/* One in so many elements of a batch may be left to one thread. Where elements join any two particles, not neighbours
 * alone, there would be more, and nothing is cut. */
#define REST_PART 32

/* The particles of a batch's elements, counted from the lowest. */
typedef struct listed {
    int32_t *particles; /* [element_count * vertex_count] less low */
    int32_t low, span;
} listed;

/* ---- Layout ---------------------------------------------------------------------------------- */

static bool allocate_batch(const sinew_allocator *allocator, sinew_sweep_batch *b)
{
    const size_t lanes = (size_t)b->group_count * (size_t)b->width;
    b->vertex = sinew_allocate(allocator, lanes * (size_t)b->ops->info.vertex_count, sizeof *b->vertex);
    b->data = sinew_allocate(allocator, lanes * (size_t)b->ops->data_count, sizeof *b->data);
    b->element = sinew_allocate(allocator, lanes, sizeof *b->element);
    b->lambda = sinew_allocate_zero(allocator, lanes * (size_t)b->ops->constraint_count, sizeof *b->lambda);
    return b->vertex && b->data && b->element && b->lambda;
}

/* Copies the source's numbers of one element into a lane. */
static void copy_data(const sinew_sweep_batch *b, size_t place, int32_t element)
{
    const size_t W = (size_t)b->width, D = (size_t)b->ops->data_count;
    sinew_real data[SINEW_DATA_MAX];
    sinew_batch_element(b->source, element, data);
    for (size_t d = 0; d < D; d++)
        b->data[(place / W * D + d) * W + place % W] = data[d];
}

/* Domains of all levels. */
static int32_t domain_count(const sinew_sweep_batch *b)
{
    return b->first_domain[b->level_count];
}

/* Rows of elements that share no particle: the colours of each domain. */
static int32_t row_count(const sinew_sweep_batch *b)
{
    return b->level_count > 0 ? domain_count(b) * b->colour_count : b->colour_count;
}

/* Puts the elements of each row into groups. Fillers repeat the first element of their own group with weight zero:
 * that of another one might be in another thread's hands, and adding zero also writes. */
static void fill_batch(sinew_sweep_batch *b, const listed *list, const int32_t *first, const int32_t *order)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count, D = (size_t)b->ops->data_count;
    for (int32_t row = 0; row < row_count(b); row++)
        for (size_t place = (size_t)b->first_group[row] * W; place < (size_t)b->first_group[row + 1] * W; place++) {
            int32_t k = first[row] + (int32_t)(place - (size_t)b->first_group[row] * W);
            bool filler = k >= first[row + 1];
            int32_t element = order[filler ? k - (int32_t)(place % W) : k];
            for (size_t a = 0; a < n; a++)
                b->vertex[(place / W * n + a) * W + place % W] =
                    SINEW_POINT * (list->low + list->particles[(size_t)element * n + a]);
            copy_data(b, place, element);
            b->element[place] = filler ? -1 : element;
            if (filler)
                b->data[place / W * D * W + place % W] = 0;
        }
}

/* Colours of the elements: all one where the order does not need them. */
static sinew_status colour_batch(const sinew_sweep *sweep, const sinew_sweep_batch *b, const listed *list,
                                 int32_t *colours, int32_t *colour_count, sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    if (sweep->order != SINEW_SWEEP_COLOURED) {
        memset(colours, 0, (size_t)b->source->element_count * sizeof *colours);
        *colour_count = 1;
        return SINEW_OK;
    }
    sinew_elements elements = {list->particles, b->source->element_count, b->ops->info.vertex_count};
    return sinew_colour_elements(&o->allocator, list->span, &elements, colours, colour_count, error);
}

/* How a large body is cut: into domains, their pairs and so on up to the halves; and what lies between the halves into
 * two sides, which share no particle, and a rest. A side is a quarter of the one half and one of the other, as bits. */
typedef struct cut {
    int64_t particle_count, domain_count;
    int32_t low;    /* number of the batch's lowest particle */
    int32_t levels; /* up to the halves: log2 of domain_count */
    uint32_t sides[2];
} cut;

/* Quarters follow each other along a curve: which of them face each other depends on the curve. */
static const uint32_t facing[2][2] = {{1 << 0 | 1 << 3, 1 << 1 | 1 << 2}, {1 << 0 | 1 << 2, 1 << 1 | 1 << 3}};

/* The domain of one element, counted through all levels. */
static int32_t domain_of(const sinew_sweep_batch *b, const cut *c, const int32_t *particles)
{
    int32_t least = (int32_t)c->domain_count, most = 0, level = 0;
    uint32_t quarters = 0;
    for (int32_t a = 0; a < b->ops->info.vertex_count; a++) {
        const int32_t domain = (int32_t)((c->low + particles[a]) * c->domain_count / c->particle_count);
        least = domain < least ? domain : least;
        most = domain > most ? domain : most;
        quarters |= 1u << (domain >> (c->levels - 2));
    }
    while (level < c->levels && least >> level != most >> level)
        level++;
    if (level < c->levels)
        return b->first_domain[level] + (least >> level);
    if (quarters == c->sides[0] || quarters == c->sides[1])
        return b->first_domain[c->levels] + (quarters == c->sides[1]);
    return b->first_domain[c->levels + 1];
}

/* Elements between the halves that are on neither side. */
static int32_t count_rest(const sinew_sweep_batch *b, const cut *c, const int32_t *particles)
{
    int32_t rest = 0;
    for (int32_t e = 0; e < b->source->element_count; e++)
        rest += domain_of(b, c, particles + (size_t)e * (size_t)b->ops->info.vertex_count) == domain_count(b) - 1;
    return rest;
}

/* rows[e], so far the element's colour, becomes its row. */
static void cut_domains(const sinew_sweep *sweep, sinew_sweep_batch *b, const listed *list, int32_t *rows)
{
    const int32_t count = b->source->element_count, *particles = list->particles;
    cut c = {.particle_count = sweep->objective->particle_count, .domain_count = 1, .low = list->low};
    for (; c.domain_count * DOMAIN_PARTICLES < c.particle_count; c.levels++)
        c.domain_count *= 2;
    if (sweep->order != SINEW_SWEEP_COLOURED || c.domain_count < DOMAINS_LEAST)
        return;
    for (int32_t level = 0; level < c.levels; level++)
        b->first_domain[level + 1] = b->first_domain[level] + (int32_t)(c.domain_count >> level);
    b->first_domain[c.levels + 1] = b->first_domain[c.levels] + 2;
    b->first_domain[c.levels + 2] = b->first_domain[c.levels] + 3;
    /* One particle with many elements makes as many colours: the rows of most domains would be empty. */
    if ((int64_t)b->first_domain[c.levels + 2] * b->colour_count * ROW_ELEMENTS > count)
        return;
    b->level_count = c.levels + 2;
    int32_t rest[2];
    for (int i = 0; i < 2; i++) {
        memcpy(c.sides, facing[i], sizeof c.sides);
        rest[i] = count_rest(b, &c, particles);
    }
    const int better = rest[1] < rest[0];
    if ((int64_t)rest[better] * REST_PART > count) {
        b->level_count = 0;
        return;
    }
    memcpy(c.sides, facing[better], sizeof c.sides);
    for (int32_t e = 0; e < count; e++)
        rows[e] += domain_of(b, &c, particles + (size_t)e * (size_t)b->ops->info.vertex_count) * b->colour_count;
}

/* Elements by row. Inside a row their order changes nothing but what lies in the caches: along the particles, so that a
 * thread's share of each colour is about the same part of the body. */
static bool order_elements(const sinew_sweep *sweep, const sinew_sweep_batch *b, const listed *list,
                           const int32_t *rows, int32_t *first, int32_t *order)
{
    const int32_t count = b->source->element_count, limit = list->span;
    if (sweep->order != SINEW_SWEEP_COLOURED) {
        sinew_colour_groups(rows, count, row_count(b), first, order);
        return true;
    }
    const sinew_allocator *allocator = &sweep->objective->allocator;
    int32_t *along = sinew_allocate(allocator, (size_t)count, sizeof *along);
    int32_t *work = sinew_allocate(allocator, (size_t)(limit > count ? limit : count) + 1, sizeof *work);
    const bool good = along && work;
    if (good) {
        sinew_order_by_lowest(list->particles, count, b->ops->info.vertex_count, limit, work, along);
        for (int32_t i = 0; i < count; i++)
            work[i] = rows[along[i]];
        sinew_colour_groups(work, count, row_count(b), first, order);
        for (int32_t i = 0; i < count; i++)
            order[i] = along[order[i]];
    }
    sinew_release(allocator, along);
    sinew_release(allocator, work);
    return good;
}

static sinew_status build_batch(const sinew_sweep *sweep, sinew_sweep_batch *b, sinew_error *error)
{
    const sinew_allocator *allocator = &sweep->objective->allocator;
    const size_t count = (size_t)b->source->element_count, entries = count * (size_t)b->ops->info.vertex_count;
    listed list = {.particles = sinew_allocate(allocator, entries, sizeof *list.particles)};
    int32_t *rows = sinew_allocate(allocator, count, sizeof *rows);
    int32_t *order = sinew_allocate(allocator, count, sizeof *order), *first = NULL;
    sinew_status status = list.particles && rows && order ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    if (status == SINEW_OK) {
        sinew_batch_list(b->source, list.particles);
        list.low = sinew_count_from_zero(list.particles, entries, &list.span);
        status = colour_batch(sweep, b, &list, rows, &b->colour_count, error);
    }
    if (status == SINEW_OK) {
        cut_domains(sweep, b, &list, rows);
        first = sinew_allocate(allocator, (size_t)row_count(b) + 1, sizeof *first);
        b->first_group = sinew_allocate(allocator, (size_t)row_count(b) + 1, sizeof *b->first_group);
        if (!first || !b->first_group || !order_elements(sweep, b, &list, rows, first, order))
            status = sinew_fail_memory(error, "the constraints");
    }
    if (status == SINEW_OK) {
        for (int32_t r = 0; r < row_count(b); r++) {
            b->first_group[r] = b->group_count;
            b->group_count += (first[r + 1] - first[r] + b->width - 1) / b->width;
        }
        b->first_group[row_count(b)] = b->group_count;
        status = allocate_batch(allocator, b) ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    }
    if (status == SINEW_OK)
        fill_batch(b, &list, first, order);
    sinew_release(allocator, list.particles);
    sinew_release(allocator, rows);
    sinew_release(allocator, order);
    sinew_release(allocator, first);
    return status;
}

/* ---- Shares of a Jacobi sweep ---------------------------------------------------------------- */

/* crowd[i] += elements at particle i */
static void count_elements(const sinew_sweep_batch *b, int32_t *crowd)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (size_t place = 0; place < (size_t)b->group_count * W; place++)
        for (size_t a = 0; b->element[place] >= 0 && a < n; a++)
            crowd[b->vertex[(place / W * n + a) * W + place % W] / SINEW_POINT]++;
}

static void fill_shares(const sinew_sweep_batch *b, const int32_t *crowd, const uint8_t *pinned)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->info.vertex_count;
    for (size_t place = 0; place < (size_t)b->group_count * W; place++) {
        int32_t most = 1;
        for (size_t a = 0; a < n; a++) {
            int32_t particle = b->vertex[(place / W * n + a) * W + place % W] / SINEW_POINT;
            if (!pinned[particle] && crowd[particle] > most)
                most = crowd[particle];
        }
        b->share[place] = (sinew_real)1 / (sinew_real)most;
    }
}

static sinew_status share_out(sinew_sweep *sweep, sinew_error *error)
{
    const sinew_objective *o = sweep->objective;
    int32_t *crowd = sinew_allocate_zero(&o->allocator, (size_t)o->particle_count, sizeof *crowd);
    bool good = crowd != NULL;
    for (int32_t k = 0; good && k < sweep->batch_count; k++) {
        sinew_sweep_batch *b = &sweep->batches[k];
        b->share = sinew_allocate(&o->allocator, (size_t)b->group_count * (size_t)b->width, sizeof *b->share);
        good = b->share != NULL;
        count_elements(b, crowd);
    }
    for (int32_t k = 0; good && k < sweep->batch_count; k++)
        fill_shares(&sweep->batches[k], crowd, o->pinned);
    sinew_release(&o->allocator, crowd);
    return good ? SINEW_OK : sinew_fail_memory(error, "the constraints");
}

/* ---- Create ---------------------------------------------------------------------------------- */

/* Mesh order goes element by element, so it takes the kernels of width one. */
static const sinew_energy_ops *choose_ops(const sinew_batch *batch, sinew_sweep_order order, int32_t *width)
{
    const sinew_energy_ops *scalar = order == SINEW_SWEEP_MESH ? sinew_energy_scalar(batch->ops) : NULL;
    *width = scalar ? 1 : batch->width;
    return scalar ? scalar : batch->ops;
}

sinew_status sinew_sweep_create(sinew_sweep *sweep, const sinew_objective *o, sinew_sweep_order order,
                                sinew_error *error)
{
    *sweep = (sinew_sweep){.objective = o, .order = order};
    const size_t size = 4 * (size_t)o->particle_count;
    sweep->batches = sinew_allocate_zero(&o->allocator, (size_t)o->task_count, sizeof *sweep->batches);
    sweep->xw = sinew_allocate_zero(&o->allocator, size, sizeof *sweep->xw);
    if (order == SINEW_SWEEP_JACOBI)
        sweep->dx = sinew_allocate_zero(&o->allocator, size, sizeof *sweep->dx);
    bool good = sweep->batches && sweep->xw && (order != SINEW_SWEEP_JACOBI || sweep->dx);
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the constraints");
    for (int32_t t = 0; status == SINEW_OK && t < o->task_count; t++) {
        const sinew_batch *source = o->tasks[t].batch;
        if (t > 0 && source == o->tasks[t - 1].batch)
            continue;
        sinew_sweep_batch *b = &sweep->batches[sweep->batch_count++];
        b->source = source;
        b->ops = choose_ops(source, order, &b->width);
        status = build_batch(sweep, b, error);
    }
    if (status == SINEW_OK && order == SINEW_SWEEP_JACOBI)
        status = share_out(sweep, error);
    if (status != SINEW_OK)
        sinew_sweep_destroy(sweep);
    return status;
}

void sinew_sweep_destroy(sinew_sweep *sweep)
{
    if (!sweep->objective)
        return;
    const sinew_allocator *allocator = &sweep->objective->allocator;
    for (int32_t i = 0; sweep->batches && i < sweep->batch_count; i++) {
        sinew_sweep_batch *b = &sweep->batches[i];
        void *arrays[] = {b->first_group, b->vertex, b->data, b->element, b->lambda, b->share};
        for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
            sinew_release(allocator, arrays[k]);
    }
    sinew_release(allocator, sweep->batches);
    sinew_release(allocator, sweep->xw);
    sinew_release(allocator, sweep->dx);
    *sweep = (sinew_sweep){0};
}

static bool couples(const sinew_sweep_batch *b)
{
    return sinew_get_stencil(b->ops->info.stencil)->couples;
}

/* Insertion sort by whether a batch couples: there are few batches. */
void sinew_sweep_arrange(sinew_sweep *sweep, bool first)
{
    for (int32_t k = 1; k < sweep->batch_count; k++) {
        const sinew_sweep_batch moved = sweep->batches[k];
        const bool early = couples(&moved) == first;
        int32_t at = k;
        while (early && at > 0 && couples(&sweep->batches[at - 1]) != first) {
            sweep->batches[at] = sweep->batches[at - 1];
            at--;
        }
        sweep->batches[at] = moved;
    }
}

/* ---- Run ------------------------------------------------------------------------------------- */

void sinew_sweep_begin(sinew_sweep *sweep, const sinew_real *q)
{
    const sinew_objective *o = sweep->objective;
    for (int32_t i = 0; i < o->particle_count; i++) {
        memcpy(sweep->xw + 4 * (size_t)i, q + 4 * (size_t)i, 3 * sizeof *q);
        sweep->xw[4 * (size_t)i + 3] = o->pinned[i] ? 0 : 1 / o->mass[i];
    }
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        const sinew_sweep_batch *b = &sweep->batches[k];
        const size_t lanes = (size_t)b->group_count * (size_t)b->width;
        memset(b->lambda, 0, lanes * (size_t)b->ops->constraint_count * sizeof *b->lambda);
        for (size_t place = 0; b->ops->target_slot >= 0 && place < lanes; place++)
            if (b->element[place] >= 0)
                copy_data(b, place, b->element[place]);
    }
}

/* `how`, as far as the batch's energy does not say otherwise. A hard one is taken as PBD takes all. */
static sinew_constrain_kernel batch_manner(const sinew_sweep *sweep, const sinew_sweep_batch *b,
                                           const sinew_constrain_kernel *how)
{
    sinew_constrain_kernel kernel = *how;
    const double k = (double)b->source->pbd_stiffness;
    if (k > 0 && sweep->stiffness_exponent > 0)
        kernel.stiffness = (sinew_real)(1 - pow(1 - k, sweep->stiffness_exponent)) * sweep->relaxation;
    if (b->source->hard && how->compliance > 0) {
        kernel.compliance = 0;
        kernel.x_old = NULL;
        kernel.form = SINEW_FORM_ROOT;
    }
    return kernel;
}

/* Groups first .. last-1 of a batch. */
static void run_groups(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how,
                       int32_t first, int32_t last)
{
    const size_t lanes = (size_t)first * (size_t)b->width;
    sinew_constrain_kernel kernel = batch_manner(sweep, b, how);
    kernel.groups.count = last - first;
    kernel.groups.vertex = b->vertex + lanes * (size_t)b->ops->info.vertex_count;
    kernel.groups.data = b->data + lanes * (size_t)b->ops->data_count;
    kernel.lambda = b->lambda + lanes * (size_t)b->ops->constraint_count;
    kernel.xw = sweep->xw;
    kernel.dx = sweep->dx;
    kernel.apart = sweep->order != SINEW_SWEEP_MESH;
    kernel.share = b->share ? b->share + lanes : NULL;
    b->ops->constrain(&kernel);
}

/* Coloured, in the order of batches, of domains before what is between them, and of colours: what runs side by side
 * writes to different particles, so any split among threads gives the same bits. */
typedef struct sweep_pass {
    const sinew_sweep *sweep;
    const sinew_constrain_kernel *how;
    bool backward;
    int32_t phases; /* of all batches */
} sweep_pass;

/* Each level of domains or, where there are none, each colour. */
static int32_t batch_phases(const sinew_sweep_batch *b)
{
    return b->level_count > 0 ? b->level_count : b->colour_count;
}

/* The batch of a phase; phase becomes the number of its level or colour. */
static const sinew_sweep_batch *phase_batch(const sweep_pass *pass, int32_t *phase)
{
    const sinew_sweep_batch *batches = pass->sweep->batches;
    int32_t low = 0, high = pass->sweep->batch_count - 1;
    if (pass->backward)
        *phase = pass->phases - 1 - *phase;
    while (low < high) {
        const int32_t middle = low + (high - low + 1) / 2;
        if (batches[middle].first_phase <= *phase)
            low = middle;
        else
            high = middle - 1;
    }
    *phase -= batches[low].first_phase;
    return &batches[low];
}

/* Pieces of a row: as many for one thread as for the other of two, and all as large. */
static int32_t row_pieces(const sinew_sweep_batch *b, int32_t row)
{
    const int32_t groups = b->first_group[row + 1] - b->first_group[row], two = 2 * PIECE_ELEMENTS / b->width;
    const int32_t pieces = 2 * ((groups + two - 1) / two);
    return pieces < groups ? pieces : groups;
}

static int32_t count_pieces(const void *context, int32_t phase)
{
    const sinew_sweep_batch *b = phase_batch(context, &phase);
    return b->level_count > 0 ? b->first_domain[phase + 1] - b->first_domain[phase] : row_pieces(b, phase);
}

static void run_domain(const sweep_pass *pass, const sinew_sweep_batch *b, int32_t domain)
{
    for (int32_t i = 0; i < b->colour_count; i++) {
        const int32_t row = domain * b->colour_count + (pass->backward ? b->colour_count - 1 - i : i);
        run_groups(pass->sweep, b, pass->how, b->first_group[row], b->first_group[row + 1]);
    }
}

static void run_piece(const void *context, int32_t phase, int32_t piece)
{
    const sweep_pass *pass = context;
    const sinew_sweep_batch *b = phase_batch(pass, &phase);
    if (b->level_count > 0) {
        run_domain(pass, b, b->first_domain[phase] + piece);
        return;
    }
    const int32_t first = b->first_group[phase], pieces = row_pieces(b, phase);
    const int64_t groups = b->first_group[phase + 1] - first;
    run_groups(pass->sweep, b, pass->how, first + (int32_t)(groups * piece / pieces),
               first + (int32_t)(groups * (piece + 1) / pieces));
}

static void run_colours(sinew_sweep *sweep, const sinew_constrain_kernel *how, bool backward)
{
    sweep_pass pass = {sweep, how, backward, 0};
    int32_t groups = 0;
    for (int32_t k = 0; k < sweep->batch_count; k++) {
        sweep->batches[k].first_phase = pass.phases;
        pass.phases += batch_phases(&sweep->batches[k]);
        groups += sweep->batches[k].group_count;
    }
    const sinew_phases work = {pass.phases, count_pieces, run_piece, &pass};
    sinew_phases_run(&work, groups >= PARALLEL_GROUPS ? sweep->objective->thread_count : 1);
}

/* One group after the other in the order of the mesh, or all at once where changes are averaged. */
static void run_batch(const sinew_sweep *sweep, const sinew_sweep_batch *b, const sinew_constrain_kernel *how,
                      bool backward)
{
    if (!backward || sweep->order != SINEW_SWEEP_MESH) {
        run_groups(sweep, b, how, 0, b->group_count);
        return;
    }
    for (int32_t group = b->group_count - 1; group >= 0; group--)
        run_groups(sweep, b, how, group, group + 1);
}

/* x += the changes */
static void move(sinew_sweep *sweep)
{
    const size_t size = 4 * (size_t)sweep->objective->particle_count;
    for (size_t i = 0; i < size; i++)
        sweep->xw[i] += sweep->dx[i];
    memset(sweep->dx, 0, size * sizeof *sweep->dx);
}

void sinew_sweep_run(sinew_sweep *sweep, const sinew_constrain_kernel *how, bool backward, double relaxation)
{
    sinew_constrain_kernel kernel = *how;
    sweep->relaxation = sweep->dx ? (sinew_real)relaxation : 1;
    kernel.stiffness *= sweep->relaxation;
    if (sweep->order == SINEW_SWEEP_COLOURED)
        run_colours(sweep, &kernel, backward);
    else
        for (int32_t k = 0; k < sweep->batch_count; k++)
            run_batch(sweep, &sweep->batches[backward ? sweep->batch_count - 1 - k : k], &kernel, backward);
    if (sweep->dx)
        move(sweep);
}

typedef struct position_pass {
    const sinew_real *xw;
    sinew_real *q;
} position_pass;

static void position_range(const void *context, int32_t member, int32_t first, int32_t last)
{
    const position_pass *p = context;
    (void)member;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0; c < 4; c++)
            p->q[4 * (size_t)i + c] = c < 3 ? p->xw[4 * (size_t)i + c] : 0;
}

void sinew_sweep_positions(const sinew_sweep *sweep, sinew_real *q)
{
    const sinew_objective *o = sweep->objective;
    sinew_over_particles(o->thread_count, o->particle_count, position_range, &(position_pass){sweep->xw, q});
}

void sinew_sweep_multipliers(const sinew_sweep_batch *b, double factor, sinew_real *values)
{
    const size_t W = (size_t)b->width, n = (size_t)b->ops->constraint_count;
    for (size_t place = 0; place < (size_t)b->group_count * W; place++)
        for (size_t c = 0; b->element[place] >= 0 && c < n; c++)
            values[(size_t)b->element[place] * n + c] =
                (sinew_real)(factor * (double)b->lambda[(place / W * n + c) * W + place % W]);
}
