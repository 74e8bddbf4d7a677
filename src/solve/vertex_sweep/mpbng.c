/* SPDX-License-Identifier: MIT
 *
 * mpbng.c: multilayer PBNG (Chen et al. 2024, section 8.2): Gauss-Seidel over nodes, on several layers of a surface, so
 * that corrections cross a cloth in few sweeps.
 *
 * Iteration l of k, l = 0, 1, ...:
 *
 *     scale the masses of coarse layers, their contact forces, and the stiffness of bindings by
 *     kappa = sqrt(1 - l^2 / (k + r_pad)^2)
 *     coarse_sweeps sweeps over the coarsest layer by itself
 *     one sweep over all other layers, coloured together
 *
 * and after the last iteration fine_sweeps sweeps over the finest layer, without its bindings. The layers
 * (mpbng_layers.h) change the problem while kappa > 0; errors are measured on the world's own objective, which
 * iterations may increase. No state is kept between steps: coarse vertices start at the positions of their fine
 * vertices.
 *
 * Bindings do not act on the coarsest layer, which the paper leaves open. Otherwise layers could move only together: if
 * a sweep of one layer multiplies a low-frequency error by 1 - s, n bound layers multiply it by 1 - n s at best, for
 * any number of coarse sweeps.
 *
 * The finest layer has the world's contacts and the step filter; coarse layers have copies of the contacts
 * (mpbng_contacts.h). Multipliers are updated once per step, after the last sweeps over the finest layer: while layers
 * are bound, contact forces differ from the world's.
 *
 * Known limits: only surfaces have layers. Tets, and springs without triangles, stay on the finest layer and are swept
 * as pbng would, without acceleration.
 */
#include <math.h>
#include <string.h>

#include "base/stop.h"
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
                .expert = true,
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
                       .expert = true,
                       .unit = "",
                       .minimum = 0,
                       .maximum = 1000,
                       .preset = 6,
                       .meaning = "sweeps over the coarsest layer in each iteration"},
    [FINE_SWEEPS] = {.name = "fine_sweeps",
                     .expert = true,
                     .unit = "",
                     .minimum = 0,
                     .maximum = 1000,
                     .preset = 7,
                     .meaning = "sweeps over the finest layer after the last iteration"},
    [BINDING] = {.name = "binding",
                 .expert = true,
                 .unit = "",
                 .minimum = 0,
                 .maximum = 1e6,
                 .preset = 3,
                 .meaning = "stiffness between layers, in multiples of that of the vertex; raising it binds closer"},
    [START] = SINEW_START_PARAMETER,
};

/* Subproblem in which a subset of the particles of all layers moves; all others are pinned. */
typedef struct subsystem {
    sinew_objective objective; /* objective over all layers, with this subsystem's pins */
    uint8_t *pinned;           /* [particles of all layers] 1: the particle is a pin, or outside of the subsystem */
    sinew_vertex_layout layout;
} subsystem;

typedef struct memory {
    sinew_layers layers;
    subsystem coarsest, others; /* subsystems of the coarsest and of all other layers; empty if there is one layer */
    sinew_vertex_layout fine;   /* vertex layout of the world itself (layer 0) */
    int32_t iteration;
} memory;

/* ---- Preparation of layers and subsystems ------------------------------------------------------------ */

/* Copies the objective of all layers to a subsystem, with the subsystem's pins. */
static void set_subsystem_objective(const sinew_layers *l, subsystem *p)
{
    p->objective = l->objective;
    p->objective.step.pinned = p->pinned;
}

/* Prepares a subsystem in which particles first .. last - 1 move. */
static sinew_status prepare_subsystem(memory *m, subsystem *p, int32_t first, int32_t last, sinew_error *error)
{
    const sinew_layers *l = &m->layers;
    const int32_t all = l->first[l->count];
    p->pinned = sinew_allocate(&l->world->allocator, (size_t)all, 1);
    if (!p->pinned)
        return sinew_fail_memory(error, "the solver");
    for (int32_t i = 0; i < all; i++)
        p->pinned[i] = i < first || i >= last || l->pinned[i];
    set_subsystem_objective(l, p);
    return sinew_vertex_layout_create(&p->layout, &p->objective, sinew_simd(), false, error);
}

static sinew_status mpbng_prepare(sinew_solve *s, sinew_error *error)
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
        status = prepare_subsystem(m, &m->coarsest, l->first[l->count - 1], l->first[l->count], error);
    if (status == SINEW_OK && l->count > 1)
        status = prepare_subsystem(m, &m->others, 0, l->first[l->count - 1], error);
    return status == SINEW_OK ? sinew_vertex_layout_create(&m->fine, o, sinew_simd(), false, error) : status;
}

static sinew_status mpbng_refresh(sinew_solve *s, uint32_t changed, sinew_error *error)
{
    memory *m = s->memory;
    subsystem *subsystems[] = {&m->coarsest, &m->others};
    if (!(changed & SINEW_CHANGED_TRANSIENT))
        return SINEW_OK;
    sinew_status status = sinew_layers_refresh(&m->layers, error);
    for (int k = 0; status == SINEW_OK && m->layers.count > 1 && k < 2; k++) {
        set_subsystem_objective(&m->layers, subsystems[k]);
        status = sinew_vertex_layout_refresh(&subsystems[k]->layout, error);
    }
    return status == SINEW_OK ? sinew_vertex_layout_refresh(&m->fine, error) : status;
}

static void mpbng_release(sinew_solve *s)
{
    memory *m = s->memory;
    if (!m)
        return;
    const sinew_allocator *allocator = &s->objective->allocator;
    subsystem *subsystems[] = {&m->coarsest, &m->others};
    for (int k = 0; k < 2; k++) {
        sinew_vertex_layout_destroy(&subsystems[k]->layout);
        sinew_release(allocator, subsystems[k]->pinned);
    }
    sinew_vertex_layout_destroy(&m->fine);
    sinew_layers_destroy(&m->layers);
    sinew_release(allocator, m);
    s->memory = NULL;
}

/* ---- Sweeps over the layers in a step ---------------------------------------------------------------- */

static void mpbng_update_layouts(memory *m)
{
    sinew_vertex_layout_begin(&m->fine);
    if (m->layers.count == 1)
        return;
    sinew_vertex_layout_begin(&m->coarsest.layout);
    sinew_vertex_layout_begin(&m->others.layout);
}

static void mpbng_begin(sinew_solve *s)
{
    memory *m = s->memory;
    m->iteration = 0;
    sinew_solve_start(s, (int)s->def.parameters[START]);
    mpbng_update_layouts(m);
}

static void mpbng_contacts_changed(sinew_solve *s, uint32_t what)
{
    memory *m = s->memory;
    if (!(what & (SINEW_UPDATE_NUMBERS | SINEW_UPDATE_ELEMENTS)))
        return;
    sinew_layer_contacts_update_data(&m->layers.contacts, &m->layers);
    mpbng_update_layouts(m);
}

/* Sets the weights of all elements of a batch to kappa, in all their incidences with nodes. */
static void scale_elements(const sinew_incidence_groups *g, const sinew_batch *batch, size_t W, double kappa)
{
    for (int32_t i = 0; i < g->batch_count; i++) {
        const sinew_incidence_batch *b = &g->batches[i];
        const size_t D = (size_t)b->ops->incidence_data_count;
        int32_t k = 0;
        while (k < b->source_count && b->sources[k] != batch)
            k++;
        for (size_t padded_index = 0; k < b->source_count && padded_index < (size_t)b->incidence_count * W;
             padded_index++)
            if (b->element[padded_index] >= b->first_element[k] && b->element[padded_index] < b->first_element[k + 1])
                b->data[padded_index / W * D * W + padded_index % W] = (sinew_real)kappa;
    }
}

/* Scales the masses of nodes of coarse layers by kappa. Mass zero: padding, or a node of the transient groups. */
static void scale_masses(const sinew_layers *l, const sinew_incidence_groups *g, size_t W, double kappa)
{
    for (size_t padded_index = 0; padded_index < (size_t)g->group_count * W; padded_index++) {
        const int32_t i = g->node[padded_index] / SINEW_POINT;
        if (g->mass[padded_index] > 0 && i >= l->first[1])
            g->mass[padded_index] = (sinew_real)(kappa * (double)l->mass[i]);
    }
}

static void scale_subsystem(const memory *m, const subsystem *p, double binding, double kappa)
{
    const sinew_vertex_layout *v = &p->layout;
    const sinew_incidence_groups *both[] = {&v->fixed, &v->transient};
    const size_t W = (size_t)v->simd->width;
    for (int i = 0; i < 2; i++) {
        scale_elements(both[i], m->layers.bindings, W, binding);
        scale_masses(&m->layers, both[i], W, kappa);
    }
    if (m->layers.contacts.count > 0 && v->transient.group_count > 0)
        scale_elements(&v->transient, m->layers.contacts.batch, W, kappa);
}

static void sweep_layers(sinew_solve *s, memory *m)
{
    sinew_layers *l = &m->layers;
    const size_t bytes = 4 * (size_t)l->first[1] * sizeof *s->q;
    const double fraction_done = m->iteration / (s->def.iterations + (double)s->def.parameters[R_PAD]);
    const double kappa = sqrt(1 - fraction_done * fraction_done);
    /* The layers start here, not in mpbng_begin(): the step filter may have moved the first guess. */
    if (m->iteration == 0) {
        sinew_layers_begin(l, s->q);
        mpbng_update_layouts(m);
    }
    sinew_layers_follow(l, s->q);
    scale_subsystem(m, &m->coarsest, 0, kappa);
    scale_subsystem(m, &m->others, kappa, kappa);
    for (int k = 0; k < (int)s->def.parameters[COARSE_SWEEPS] && !sinew_stop_came(); k++)
        sinew_vertex_layout_run(&m->coarsest.layout, 1, false, l->q);
    sinew_vertex_layout_run(&m->others.layout, 1, false, l->q);
    memcpy(s->q, l->q, bytes);
}

static uint32_t mpbng_iterate(sinew_solve *s)
{
    memory *m = s->memory;
    if (m->layers.count > 1)
        sweep_layers(s, m);
    else
        sinew_vertex_layout_run(&m->fine, 1, false, s->q);
    m->iteration++;
    s->in_subproblem = m->layers.count > 1 && m->iteration < s->def.iterations;
    const int fine_sweeps = m->iteration == s->def.iterations ? (int)s->def.parameters[FINE_SWEEPS] : 0;
    for (int k = 0; k < fine_sweeps && !sinew_stop_came(); k++)
        sinew_vertex_layout_run(&m->fine, 1, false, s->q);
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
    .prepare = mpbng_prepare,
    .refreshes = SINEW_CHANGED_SWITCHED | SINEW_CHANGED_TRANSIENT,
    .refresh = mpbng_refresh,
    .release = mpbng_release,
    .work = {.gradients = 3},
    .begin = mpbng_begin,
    .iterate = mpbng_iterate,
    .contacts_changed = mpbng_contacts_changed,
};
