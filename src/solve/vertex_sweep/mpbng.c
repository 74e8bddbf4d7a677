/* SPDX-License-Identifier: MIT
 *
 * mpbng.c: multilayer PBNG (Chen et al. 2024, section 8.2): Gauss-Seidel over nodes, on several layers of a
 * surface at once, which lets news travel across a cloth in few sweeps.
 *
 * Iteration l of k, l = 0, 1, ...:
 *
 *     scale the masses of coarse layers, what contacts bear of them, and the stiffness of bindings by
 *     kappa = sqrt(1 - l^2 / (k + r_pad)^2)
 *     coarse_sweeps sweeps over the coarsest layer by itself
 *     one sweep over all the others, coloured together
 *
 * and after the last one fine_sweeps sweeps over the finest layer, without its bindings. The layers (mpbng_layers.h) change
 * the problem while kappa > 0; errors are measured on the world's own objective, which they may raise. Nothing is kept
 * from step to step: coarse vertices begin where the vertices are that they stand for.
 *
 * The coarsest layer does not feel its bindings. The paper does not say; were it held by them, the layers could only go
 * together: where a sweep leaves 1 - s of a long wave's error on one layer alone, n bound layers leave at least 1 - n
 * s, however many sweeps the coarse ones get.
 *
 * Contacts are the world's own on the finest layer, where the guard is, and act on the coarse ones too (mpbng_contacts.h).
 * Their multipliers are renewed once a step, when the last sweeps over the finest layer are done: while layers are
 * bound, forces are not the world's.
 *
 * Known limits: layers are made of surfaces. Tets, and springs without triangles, stay on the finest layer and are
 * swept as pbng would, without acceleration.
 */
#include <math.h>
#include <string.h>

#include "solve/vertex_sweep/mpbng_layers.h"
#include "solve/parameters.h"
#include "solve/solver.h"
#include "solve/vertex_sweep/vertex_layout.h"

enum {
    LEVELS,
    R_PAD,
    COARSE_SWEEPS,
    FINE_SWEEPS,
    BINDING,
    START,
    PARAMETER_COUNT
};

static const sinew_parameter parameters[PARAMETER_COUNT] = {
    [LEVELS] = {.name = "levels",
                .unit = "",
                .minimum = 1,
                .maximum = SINEW_LAYERS_MAX,
                .preset = 3,
                .meaning = "layers at most, the finest included; each has about a quarter of the vertices below"},
    [R_PAD] = {.name = "r_pad",
               .unit = "",
               .minimum = 0,
               .maximum = 1e6,
               .preset = 0.05,
               .open_minimum = true,
               .meaning =
                   "kappa = sqrt(1 - l^2 / (iterations + r_pad)^2); raising it leaves more of the layers at the end"},
    [COARSE_SWEEPS] = {.name = "coarse_sweeps",
                       .unit = "",
                       .minimum = 0,
                       .maximum = 1000,
                       .preset = 6,
                       .meaning = "sweeps over the coarsest layer in each iteration"},
    [FINE_SWEEPS] = {.name = "fine_sweeps",
                     .unit = "",
                     .minimum = 0,
                     .maximum = 1000,
                     .preset = 7,
                     .meaning = "sweeps over the finest layer after the last iteration"},
    [BINDING] = {.name = "binding",
                 .unit = "",
                 .minimum = 0,
                 .maximum = 1e6,
                 .preset = 3,
                 .meaning = "stiffness between layers, in multiples of that of the vertex; raising it binds closer"},
    [START] = SINEW_START_PARAMETER,
};

/* Some of the particles of all layers move, all others are held. */
typedef struct part {
    sinew_objective objective; /* the layers', with pins of its own */
    uint8_t *pinned;           /* [particles of all layers] */
    sinew_visits visits;
} part;

typedef struct memory {
    sinew_layers layers;
    part coarsest, others; /* the first one is empty where there is one layer */
    sinew_visits fine;     /* of the world itself */
    int32_t iteration;
} memory;

/* ---- Prepare ----------------------------------------------------------------------------------------- */

/* Takes over what the layers' objective is now; pins are the part's own. */
static void point_part(const sinew_layers *l, part *p)
{
    p->objective = l->objective;
    p->objective.pinned = p->pinned;
}

/* Particles first .. last - 1 move. */
static sinew_status prepare_part(memory *m, part *p, int32_t first, int32_t last, sinew_error *error)
{
    const sinew_layers *l = &m->layers;
    const int32_t all = l->first[l->count];
    p->pinned = sinew_allocate(&l->world->allocator, (size_t)all, 1);
    if (!p->pinned)
        return sinew_fail_memory(error, "the solver");
    for (int32_t i = 0; i < all; i++)
        p->pinned[i] = i < first || i >= last || l->pinned[i];
    point_part(l, p);
    return sinew_visits_create(&p->visits, &p->objective, sinew_lanes(), false, error);
}

static sinew_status prepare(sinew_solve *s, sinew_error *error)
{
    const sinew_objective *o = s->objective;
    const sinew_real *parameter = s->def.parameters;
    memory *m = s->memory = sinew_allocate_zero(&o->allocator, 1, sizeof *m);
    if (!m)
        return sinew_fail_memory(error, "the solver");
    const sinew_layers *l = &m->layers;
    sinew_status status =
        sinew_layers_create(&m->layers, o, (int32_t)parameter[LEVELS], (double)parameter[BINDING], error);
    if (status == SINEW_OK && l->count > 1)
        status = prepare_part(m, &m->coarsest, l->first[l->count - 1], l->first[l->count], error);
    if (status == SINEW_OK && l->count > 1)
        status = prepare_part(m, &m->others, 0, l->first[l->count - 1], error);
    return status == SINEW_OK ? sinew_visits_create(&m->fine, o, sinew_lanes(), false, error) : status;
}

static sinew_status refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    memory *m = s->memory;
    part *parts[] = {&m->coarsest, &m->others};
    if (!(changed & SINEW_CHANGED_TRANSIENT))
        return SINEW_OK;
    sinew_status status = sinew_layers_refresh(&m->layers, error);
    for (int k = 0; status == SINEW_OK && m->layers.count > 1 && k < 2; k++) {
        point_part(&m->layers, parts[k]);
        status = sinew_visits_refresh(&parts[k]->visits, error);
    }
    return status == SINEW_OK ? sinew_visits_refresh(&m->fine, error) : status;
}

static void release(sinew_solve *s)
{
    memory *m = s->memory;
    if (!m)
        return;
    const sinew_allocator *allocator = &s->objective->allocator;
    part *parts[] = {&m->coarsest, &m->others};
    for (int k = 0; k < 2; k++) {
        sinew_visits_destroy(&parts[k]->visits);
        sinew_release(allocator, parts[k]->pinned);
    }
    sinew_visits_destroy(&m->fine);
    sinew_layers_destroy(&m->layers);
    sinew_release(allocator, m);
    s->memory = NULL;
}

/* ---- Steps ------------------------------------------------------------------------------------------- */

static void take_numbers(memory *m)
{
    sinew_visits_begin(&m->fine);
    if (m->layers.count == 1)
        return;
    sinew_visits_begin(&m->coarsest.visits);
    sinew_visits_begin(&m->others.visits);
}

static void begin(sinew_solve *s)
{
    memory *m = s->memory;
    m->iteration = 0;
    sinew_solve_start(s, (int)s->def.parameters[START]);
    take_numbers(m);
}

static void mpbng_resume(sinew_solve *s, uint32_t what)
{
    memory *m = s->memory;
    if (!(what & (SINEW_RESUME_NUMBERS | SINEW_RESUME_ELEMENTS)))
        return;
    sinew_layer_touches_number(&m->layers.touches, &m->layers);
    take_numbers(m);
}

/* The elements of one batch, in all its visits. */
static void scale_elements(const sinew_visit_groups *g, const sinew_batch *batch, size_t W, double kappa)
{
    for (int32_t i = 0; i < g->batch_count; i++) {
        const sinew_visit_batch *b = &g->batches[i];
        const size_t D = (size_t)b->ops->visit_data_count;
        int32_t k = 0;
        while (k < b->source_count && b->sources[k] != batch)
            k++;
        for (size_t place = 0; k < b->source_count && place < (size_t)b->visit_count * W; place++)
            if (b->element[place] >= b->first_element[k] && b->element[place] < b->first_element[k + 1])
                b->data[place / W * D * W + place % W] = (sinew_real)kappa;
    }
}

/* Masses of coarse nodes; nodes of mass zero only fill up groups. */
static void scale_masses(const sinew_layers *l, const sinew_visit_groups *g, size_t W, double kappa)
{
    for (size_t place = 0; place < (size_t)g->group_count * W; place++) {
        const int32_t i = g->node[place] / SINEW_POINT;
        if (g->mass[place] > 0 && i >= l->first[1])
            g->mass[place] = (sinew_real)(kappa * (double)l->mass[i]);
    }
}

static void scale_part(const memory *m, const part *p, double binding, double kappa)
{
    const sinew_visits *v = &p->visits;
    const sinew_visit_groups *both[] = {&v->fixed, &v->layer};
    const size_t W = (size_t)v->lanes->width;
    for (int i = 0; i < 2; i++) {
        scale_elements(both[i], m->layers.bindings, W, binding);
        scale_masses(&m->layers, both[i], W, kappa);
    }
    if (m->layers.touches.count > 0 && v->layer.group_count > 0)
        scale_elements(&v->layer, m->layers.touches.batch, W, kappa);
}

static void sweep_layers(sinew_solve *s, memory *m)
{
    sinew_layers *l = &m->layers;
    const size_t bytes = 4 * (size_t)l->first[1] * sizeof *s->q;
    const double part_done = m->iteration / (s->def.iterations + (double)s->def.parameters[R_PAD]);
    const double kappa = sqrt(1 - part_done * part_done);
    /* The guard may have moved the first guess, and goes on moving particles after each iteration. */
    if (m->iteration == 0) {
        sinew_layers_begin(l, s->q);
        take_numbers(m);
    }
    sinew_layers_follow(l, s->q);
    scale_part(m, &m->coarsest, 0, kappa);
    scale_part(m, &m->others, kappa, kappa);
    for (int k = 0; k < (int)s->def.parameters[COARSE_SWEEPS]; k++)
        sinew_visits_run(&m->coarsest.visits, 1, false, l->q);
    sinew_visits_run(&m->others.visits, 1, false, l->q);
    memcpy(s->q, l->q, bytes);
}

static uint32_t iterate(sinew_solve *s)
{
    memory *m = s->memory;
    if (m->layers.count > 1)
        sweep_layers(s, m);
    else
        sinew_visits_run(&m->fine, 1, false, s->q);
    m->iteration++;
    s->bound = m->layers.count > 1 && m->iteration < s->def.iterations;
    for (int k = 0; m->iteration == s->def.iterations && k < (int)s->def.parameters[FINE_SWEEPS]; k++)
        sinew_visits_run(&m->fine, 1, false, s->q);
    s->gradient_known = false;
    return 0;
}

const sinew_solver_ops sinew_solver_mpbng = {
    .info = {.name = "mpbng",
             .summary = "pbng on several layers of a surface, each coarser by about four, bound to each other",
             .parameters = parameters,
             .parameter_count = PARAMETER_COUNT,
             .default_iterations = 100,
             .needs = SINEW_CAN_VERTEX,
             .quasistatic = true},
    .prepare = prepare,
    .refreshes = SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TRANSIENT,
    .refresh = refresh,
    .release = release,
    .begin = begin,
    .iterate = iterate,
    .resume = mpbng_resume,
};
