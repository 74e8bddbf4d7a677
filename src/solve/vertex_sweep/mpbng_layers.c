/* SPDX-License-Identifier: MIT
 *
 * mpbng_layers.c: builds the layers of multilayer PBNG, their energies and bindings. See mpbng_layers.h.
 */
#include "solve/vertex_sweep/mpbng_layers.h"

#include <string.h>

#include "mesh/mesh.h"
#include "mesh/edit/simplify.h"

enum {
    VERTICES_MIN = 12, /* smallest number of vertices of a coarse layer */
    BOUND = 8          /* number of vertices of a weak constraint that binds two layers */
};
#define SHRINKS 0.7 /* largest ratio of the vertex counts of a layer and the finer layer below it */

/* ---- Triangles of the world's surfaces ----------------------------------------------------------- */

/* The triangles of one layer, in the layer's own vertex numbering, from which the next coarser layer is built. */
typedef struct surface {
    int32_t vertex_count, triangle_count;
    int32_t *triangles;
} surface;

/* Lists the triangles of all energies on triangles, with repetitions if several energies share them. Returns false if
 * out of memory. */
static bool find_triangles(const sinew_objective *o, surface *out)
{
    int32_t count = 0;
    for (int32_t t = 0; t < o->fixed_task_count; t++)
        if (sinew_task_begins(o, t) && sinew_get_stencil(o->tasks[t].batch->ops->info.stencil)->is_surface)
            count += o->tasks[t].batch->element_count;
    *out = (surface){.vertex_count = o->particle_count};
    out->triangles = sinew_allocate(&o->allocator, 3 * (size_t)count, sizeof *out->triangles);
    for (int32_t t = 0; out->triangles && t < o->fixed_task_count; t++) {
        const sinew_batch *batch = o->tasks[t].batch;
        if (!sinew_task_begins(o, t) || !sinew_get_stencil(batch->ops->info.stencil)->is_surface)
            continue;
        sinew_batch_list_particles(batch, out->triangles + 3 * (size_t)out->triangle_count);
        out->triangle_count += batch->element_count;
    }
    return out->triangles != NULL;
}

/* ---- Vertices of a coarse layer ------------------------------------------------------------------ */

static bool grow_vertex_arrays(sinew_layers *l, int32_t count)
{
    const sinew_allocator *a = &l->world->allocator;
    const size_t old = (size_t)l->first[l->count], all = (size_t)count;
    int32_t *fine = sinew_reallocate(a, l->fine, old, all, sizeof *fine);
    l->fine = fine ? fine : l->fine;
    int32_t *owner = sinew_reallocate(a, l->owner, old, all, sizeof *owner);
    l->owner = owner ? owner : l->owner;
    sinew_real *rest = sinew_reallocate(a, l->rest, 4 * old, 4 * all, sizeof *rest);
    l->rest = rest ? rest : l->rest;
    sinew_real *mass = sinew_reallocate(a, l->mass, old, all, sizeof *mass);
    l->mass = mass ? mass : l->mass;
    uint8_t *pinned = sinew_reallocate(a, l->pinned, old, all, sizeof *pinned);
    l->pinned = pinned ? pinned : l->pinned;
    return fine && owner && rest && mass && pinned;
}

static void layers_set_vertex(sinew_layers *l, int32_t i, int32_t fine)
{
    const sinew_objective *o = l->world;
    l->fine[i] = fine;
    l->owner[i] = -1;
    memcpy(l->rest + 4 * (size_t)i, o->step.rest + 4 * (size_t)fine, 4 * sizeof *l->rest);
    l->pinned[i] = o->step.pinned[fine];
    l->mass[i] = 0;
}

static bool add_world_layer(sinew_layers *l)
{
    const int32_t n = l->world->particle_count;
    if (!grow_vertex_arrays(l, n))
        return false;
    for (int32_t i = 0; i < n; i++) {
        layers_set_vertex(l, i, i);
        l->mass[i] = l->world->step.mass[i];
    }
    l->count = 1;
    l->first[1] = n;
    return true;
}

/* ---- Energies of a coarse layer -------------------------------------------------------------------- */

typedef struct elements {
    int32_t count;
    int32_t *particles; /* [count][vertex_count] particles of each element of the layer */
    sinew_real *data;   /* [count][data_count] data of each element of the layer */
} elements;

static bool add_batch(sinew_layers *l, const sinew_energy_ops *ops, elements *e)
{
    const sinew_allocator *a = &l->world->allocator;
    const size_t count = (size_t)l->batch_count;
    sinew_batch_layout layout = {0};
    sinew_batch_work work = {0};
    sinew_batch **grown = sinew_reallocate(a, l->batches, count, count + 1, sizeof *grown);
    sinew_batch *batch = sinew_batch_create(a, ops, l->world->simd->width);
    l->batches = grown ? grown : l->batches;
    bool good = grown && batch;
    if (good)
        l->batches[l->batch_count++] = batch;
    else
        sinew_batch_destroy(a, batch);
    good = good &&
           sinew_batch_layout_make(&layout, a, e->count, ops->info.vertex_count, l->first[l->count],
                                   sinew_get_stencil(ops->info.stencil)->fans, e->particles) &&
           sinew_batch_fill(batch, a, &layout, e->particles, e->data, l->first[l->count], &work);
    sinew_batch_layout_release(&layout, a);
    sinew_batch_work_release(&work, a);
    return good;
}

static bool allocate_elements(const sinew_allocator *a, const sinew_energy_ops *ops, int32_t count, elements *e)
{
    e->count = 0;
    e->particles = sinew_allocate(a, (size_t)count * (size_t)ops->info.vertex_count, sizeof *e->particles);
    e->data = sinew_allocate(a, (size_t)count * (size_t)ops->data_count, sizeof *e->data);
    return e->particles && e->data;
}

static void release_elements(const sinew_allocator *a, elements *e)
{
    sinew_release(a, e->particles);
    sinew_release(a, e->data);
}

/* Returns one element of the batch at each particle of the world, [particle_count]; -1: none. NULL: out of memory. */
static int32_t *elements_at_particles(const sinew_objective *o, const sinew_batch *batch)
{
    int32_t *at = sinew_allocate(&o->allocator, (size_t)o->particle_count, sizeof *at);
    for (int32_t i = 0; at && i < o->particle_count; i++)
        at[i] = -1;
    for (int32_t e = batch->element_count - 1; at && e >= 0; e--) {
        int32_t particles[SINEW_STENCIL_MAX];
        sinew_batch_particles(batch, e, particles);
        for (int32_t a = 0; a < batch->ops->info.vertex_count; a++)
            at[particles[a]] = e;
    }
    return at;
}

/* Adds an element of the batch's energy on a mesh cell of the coarsest layer, unless the batch has no element at some
 * vertex or its energy refuses the shape. */
static void layers_add_element(const sinew_layers *l, const sinew_batch *batch, const int32_t *element_at,
                               const int32_t *cell, elements *e)
{
    const size_t n = (size_t)batch->ops->info.vertex_count;
    const sinew_stencil_info *stencil_info = sinew_get_stencil(batch->ops->info.stencil);
    int32_t *own = e->particles + (size_t)e->count * n;
    sinew_real rest[3 * SINEW_STENCIL_MAX], parameters[SINEW_PARAMETER_MAX];
    for (size_t a = 0; a < n; a++) {
        own[a] = l->first[l->count - 1] + cell[a];
        if (element_at[l->fine[own[a]]] < 0)
            return;
        memcpy(rest + 3 * a, l->rest + 4 * (size_t)own[a], 3 * sizeof *rest);
    }
    batch->parameters_of(batch->origin, element_at[l->fine[own[0]]], parameters);
    const sinew_element element = {
        .vertex_count = sinew_stencil_size(stencil_info, cell, (int32_t)n), .rest = rest, .parameters = parameters};
    if (!batch->ops->prepare(&element, e->data + (size_t)e->count * (size_t)batch->ops->data_count))
        e->count++;
}

/* Copies the energy of a batch to the newest layer, which is the coarsest. */
static sinew_status copy_energy(sinew_layers *l, const sinew_batch *batch, const sinew_mesh *mesh, sinew_error *error)
{
    const sinew_allocator *a = &l->world->allocator;
    const sinew_energy_ops *ops = batch->ops;
    int32_t *cells = NULL, cell_count = 0;
    elements e = {0};
    sinew_status status =
        sinew_get_stencil(ops->info.stencil)->find(a, mesh, ops->info.vertex_count, &cells, &cell_count, error);
    if (status != SINEW_OK && status != SINEW_ERROR_MEMORY) {
        /* The coarser mesh has no such cells (e.g. a ring of too many vertices): the energy stays on layer 0. */
        sinew_error_clear(error);
        return SINEW_OK;
    }
    int32_t *element_at = status == SINEW_OK ? elements_at_particles(l->world, batch) : NULL;
    bool good = element_at && allocate_elements(a, ops, cell_count, &e);
    for (int32_t k = 0; good && k < cell_count; k++)
        layers_add_element(l, batch, element_at, cells + (size_t)k * (size_t)ops->info.vertex_count, &e);
    if (good && e.count > 0)
        good = add_batch(l, ops, &e);
    if (status == SINEW_OK && !good)
        status = sinew_fail_memory(error, "the layers");
    release_elements(a, &e);
    sinew_release(a, element_at);
    sinew_release(a, cells);
    return status;
}

/* True if an energy can be copied to coarse layers. Energies that couple all their elements, such as the pressure of a
 * gas, cannot: they would include the elements of the coarse layers. */
static bool has_coarse_form(const sinew_batch *batch)
{
    const sinew_stencil_info *stencil_info = sinew_get_stencil(batch->ops->info.stencil);
    return batch->parameters_of && stencil_info->find && stencil_info->takes == 0 && !stencil_info->fans &&
           !batch->ops->check_elements && !batch->ops->update_shared_data;
}

static sinew_status copy_energies(sinew_layers *l, const sinew_simplified *s, sinew_error *error)
{
    const sinew_objective *o = l->world;
    sinew_mesh_def def = sinew_default_mesh_def();
    sinew_real *positions = sinew_allocate(&o->allocator, 3 * (size_t)s->vertex_count, sizeof *positions);
    if (!positions)
        return sinew_fail_memory(error, "the layers");
    for (int32_t i = 0; i < s->vertex_count; i++)
        memcpy(positions + 3 * (size_t)i, l->rest + 4 * (size_t)(l->first[l->count - 1] + i), 3 * sizeof *positions);
    def.allocator = o->allocator;
    def.vertex_count = s->vertex_count;
    def.positions = positions;
    def.triangle_count = s->triangle_count;
    def.triangles = s->triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, error);
    sinew_status status = mesh ? SINEW_OK : SINEW_ERROR_MEMORY;
    for (int32_t t = 0; status == SINEW_OK && t < o->fixed_task_count; t++)
        if (sinew_task_begins(o, t) && has_coarse_form(o->tasks[t].batch))
            status = copy_energy(l, o->tasks[t].batch, mesh, error);
    sinew_mesh_destroy(mesh);
    sinew_release(&o->allocator, positions);
    return status;
}

/* ---- Weak bindings between the vertices of two layers ---------------------------------------------- */

/* Adds weak constraints that bind the vertices of the second coarsest of the layers so far to the coarsest. Their
 * stiffness is 1 here; set_binding_stiffness() sets the final one, which depends on all energies. */
static void add_bindings(const sinew_layers *l, const sinew_simplified *s, elements *e)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(SINEW_ENERGY_WEAK);
    const int32_t below = l->first[l->count - 2], above = l->first[l->count - 1];
    const sinew_real parameters[2] = {1, 1}, normal[3] = {0, 0, 1};
    for (int32_t i = 0; i < above - below; i++) {
        int32_t *own = e->particles + (size_t)e->count * BOUND;
        sinew_real weights[BOUND] = {1};
        if (s->corner[i][0] < 0 || l->pinned[below + i])
            continue;
        for (int k = 0; k < 4; k++) {
            own[k] = below + i;
            own[4 + k] = above + s->corner[i][k < 3 ? k : 2];
            weights[4 + k] = k < 3 ? -s->weight[i][k] : 0;
        }
        ops->prepare(
            &(sinew_element){.vertex_count = BOUND, .parameters = parameters, .weights = weights, .normal = normal},
            e->data + (size_t)e->count * (size_t)ops->data_count);
        e->count++;
    }
}

/* ---- Creation of coarser layers -------------------------------------------------------------------- */

static sinew_status add_vertices(sinew_layers *l, const sinew_simplified *s, sinew_error *error)
{
    const int32_t below = l->first[l->count - 1], above = l->first[l->count];
    if (!grow_vertex_arrays(l, above + s->vertex_count))
        return sinew_fail_memory(error, "the layers");
    for (int32_t i = 0; i < s->vertex_count; i++)
        layers_set_vertex(l, above + i, l->fine[below + s->origin[i]]);
    for (int32_t i = 0; i < above - below; i++)
        if (s->owner[i] >= 0) {
            l->owner[below + i] = above + s->owner[i];
            l->mass[above + s->owner[i]] += l->mass[below + i];
        }
    l->count++;
    l->first[l->count] = above + s->vertex_count;
    return SINEW_OK;
}

/* Adds a layer above the coarsest so far. own: the triangles of the coarsest layer; on return those of the new layer.
 * *added is false if a further layer is not worthwhile. */
static sinew_status add_layer(sinew_layers *l, surface *own, elements *bindings, bool *added, sinew_error *error)
{
    const sinew_allocator *a = &l->world->allocator;
    const int32_t below = l->first[l->count - 1];
    const sinew_simplify_input input = {own->vertex_count, l->rest + 4 * (size_t)below, l->pinned + below,
                                        own->triangle_count, own->triangles};
    sinew_simplified s;
    int32_t used = 0;
    sinew_status status = sinew_simplify(a, &input, &s, error);
    if (status != SINEW_OK)
        return status;
    for (int32_t i = 0; i < own->vertex_count; i++)
        used += s.owner[i] >= 0;
    *added = s.triangle_count > 0 && s.vertex_count >= VERTICES_MIN && s.vertex_count <= SHRINKS * used;
    if (*added) {
        status = add_vertices(l, &s, error);
        if (status == SINEW_OK)
            status = copy_energies(l, &s, error);
        if (status == SINEW_OK)
            add_bindings(l, &s, bindings);
        sinew_release(a, own->triangles);
        *own = (surface){s.vertex_count, s.triangle_count, s.triangles};
        s.triangles = NULL;
    }
    sinew_simplified_release(a, &s);
    return status;
}

static sinew_status add_layers(sinew_layers *l, int32_t max, elements *bindings, sinew_error *error)
{
    surface own;
    bool added = find_triangles(l->world, &own) && own.triangle_count > 0;
    sinew_status status = own.triangles ? SINEW_OK : sinew_fail_memory(error, "the layers");
    while (status == SINEW_OK && added && l->count < max)
        status = add_layer(l, &own, bindings, &added, error);
    sinew_release(&l->world->allocator, own.triangles);
    return status;
}

/* ---- Objective of all layers ------------------------------------------------------------------------- */

/* Builds the objective of the fixed energies of all layers: the world's own, then those of coarse layers. */
static sinew_status build_objective(sinew_layers *l, sinew_error *error)
{
    const sinew_objective *o = l->world;
    const size_t capacity = (size_t)o->fixed_task_count + (size_t)l->batch_count;
    sinew_batch **list = sinew_allocate(&o->allocator, capacity, sizeof *list);
    int32_t count = 0;
    if (!list)
        return sinew_fail_memory(error, "the layers");
    for (int32_t t = 0; t < o->fixed_task_count; t++)
        if (sinew_task_begins(o, t))
            list[count++] = (sinew_batch *)o->tasks[t].batch;
    for (int32_t b = 0; b < l->batch_count; b++)
        list[count++] = l->batches[b];
    const sinew_status status = sinew_objective_build(&l->objective, list, count, error);
    sinew_release(&o->allocator, list);
    return status;
}

sinew_status sinew_layers_refresh(sinew_layers *l, sinew_error *error)
{
    const sinew_objective *o = l->world;
    const size_t max = (size_t)(o->task_count - o->fixed_task_count) + 1;
    int32_t count = 0;
    if (!sinew_layer_contacts_make(&l->contacts, l) ||
        !sinew_reserve_spare(&o->allocator, &l->transient, &l->transient_capacity, max, sizeof *l->transient))
        return sinew_fail_memory(error, "the layers");
    for (int32_t t = o->fixed_task_count; t < o->task_count; t++)
        if (sinew_task_begins(o, t))
            l->transient[count++] = (sinew_batch *)o->tasks[t].batch;
    if (l->contacts.count > 0)
        l->transient[count++] = l->contacts.batch;
    return sinew_objective_set_transient(&l->objective, l->transient, count, error);
}

/* Sets the stiffness of bindings: `binding` times the stiffness of the bound vertex, a third of the trace of its
 * elastic and inertial block. */
static sinew_status set_binding_stiffness(sinew_layers *l, double binding, elements *e, sinew_error *error)
{
    const sinew_objective *o = l->world;
    const sinew_energy_ops *ops = sinew_energy_get_ops(SINEW_ENERGY_WEAK);
    const size_t D = (size_t)ops->data_count;
    double *traces = sinew_allocate_zero(&o->allocator, (size_t)l->first[l->count], sizeof *traces);
    if (!traces)
        return sinew_fail_memory(error, "the layers");
    sinew_objective_traces(&l->objective, l->rest, false, traces);
    for (int32_t k = 0; k < e->count; k++) {
        const int32_t i = e->particles[(size_t)k * BOUND];
        const double own = traces[i] / 3 + (o->step.quasistatic ? 0 : (double)l->mass[i] / (o->step.h * o->step.h));
        sinew_real weights[BOUND];
        const sinew_real stiffness[2] = {(sinew_real)(binding * own), (sinew_real)(binding * own)};
        const sinew_real normal[3] = {0, 0, 1};
        /* The eight vertex weights of a binding are entries 1 to 8 of its element data. */
        memcpy(weights, e->data + (size_t)k * D + 1, sizeof weights);
        ops->prepare(
            &(sinew_element){.vertex_count = BOUND, .parameters = stiffness, .weights = weights, .normal = normal},
            e->data + (size_t)k * D);
    }
    sinew_release(&o->allocator, traces);
    return SINEW_OK;
}

static void set_objective_inputs(sinew_layers *l)
{
    const sinew_objective *o = l->world;
    l->objective.allocator = o->allocator;
    l->objective.thread_count = o->thread_count;
    l->objective.particle_count = l->first[l->count];
    l->objective.step.rest = l->rest;
    l->objective.step.mass = l->mass;
    l->objective.step.pinned = l->pinned;
    l->objective.step.q_tilde = l->q_tilde;
    l->objective.step.force = l->force;
    l->objective.step.quasistatic = o->step.quasistatic;
    l->objective.step.h = o->step.h;
}

static sinew_status layers_finish(sinew_layers *l, double binding, elements *bindings, sinew_error *error)
{
    const sinew_allocator *a = &l->world->allocator;
    const size_t size = 4 * (size_t)l->first[l->count];
    l->q = sinew_allocate_zero(a, size, sizeof *l->q);
    l->q_tilde = sinew_allocate_zero(a, size, sizeof *l->q_tilde);
    l->force = sinew_allocate_zero(a, size, sizeof *l->force);
    l->x_iteration_start = sinew_allocate_zero(a, 4 * (size_t)l->first[1], sizeof *l->x_iteration_start);
    if (!l->q || !l->q_tilde || !l->force || !l->x_iteration_start)
        return sinew_fail_memory(error, "the layers");
    set_objective_inputs(l);
    sinew_status status = build_objective(l, error);
    if (status != SINEW_OK || bindings->count == 0)
        return status;
    status = set_binding_stiffness(l, binding, bindings, error);
    if (status == SINEW_OK && !add_batch(l, sinew_energy_get_ops(SINEW_ENERGY_WEAK), bindings))
        status = sinew_fail_memory(error, "the layers");
    if (status != SINEW_OK)
        return status;
    l->bindings = l->batches[l->batch_count - 1];
    return build_objective(l, error);
}

sinew_status sinew_layers_create(sinew_layers *l, const sinew_objective *world, int32_t count, double binding,
                                 sinew_error *error)
{
    elements bindings = {0};
    *l = (sinew_layers){.world = world};
    /* Capacity for the bindings: every vertex is bound once, and with SHRINKS all layers together have less than four
     * times the world's vertices. */
    bool good = add_world_layer(l) && allocate_elements(&world->allocator, sinew_energy_get_ops(SINEW_ENERGY_WEAK),
                                                        4 * world->particle_count, &bindings);
    sinew_status status = good ? add_layers(l, count, &bindings, error) : sinew_fail_memory(error, "the layers");
    if (status == SINEW_OK)
        status = layers_finish(l, binding, &bindings, error);
    if (status == SINEW_OK)
        status = sinew_layers_refresh(l, error);
    release_elements(&world->allocator, &bindings);
    return status;
}

void sinew_layers_destroy(sinew_layers *l)
{
    if (!l->world)
        return;
    const sinew_allocator *a = &l->world->allocator;
    if (l->objective.tasks)
        sinew_objective_clear(&l->objective);
    for (int32_t b = 0; b < l->batch_count; b++)
        sinew_batch_destroy(a, l->batches[b]);
    sinew_layer_contacts_destroy(&l->contacts, a);
    void *arrays[] = {l->fine,   l->owner,   l->rest,     l->q, l->q_tilde, l->force, l->mass, l->x_iteration_start,
                      l->pinned, l->batches, l->transient};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
    *l = (sinew_layers){0};
}

/* ---- Positions and forces of the layers in a step ---------------------------------------------------- */

void sinew_layers_begin(sinew_layers *l, const sinew_real *q)
{
    const sinew_objective *o = l->world;
    const int32_t all = l->first[l->count];
    memset(l->force, 0, 4 * (size_t)all * sizeof *l->force);
    memcpy(l->x_iteration_start, q, 4 * (size_t)l->first[1] * sizeof *q);
    for (int32_t i = 0; i < all; i++) {
        const size_t own = 4 * (size_t)i, from = 4 * (size_t)l->fine[i];
        memcpy(l->q + own, q + from, 4 * sizeof *q);
        memcpy(l->q_tilde + own, o->step.q_tilde + from, 4 * sizeof *q);
        for (size_t c = 0; c < 3; c++) {
            l->force[own + c] += i < l->first[1] ? o->step.force[from + c] : 0;
            if (l->owner[i] >= 0)
                l->force[4 * (size_t)l->owner[i] + c] += l->force[own + c];
        }
    }
    sinew_layer_contacts_update_data(&l->contacts, l);
}

void sinew_layers_follow(sinew_layers *l, const sinew_real *q)
{
    memcpy(l->q, q, 4 * (size_t)l->first[1] * sizeof *q);
    for (int32_t i = l->first[1]; i < l->first[l->count]; i++)
        if (l->pinned[i])
            memcpy(l->q + 4 * (size_t)i, q + 4 * (size_t)l->fine[i], 4 * sizeof *q);
}
