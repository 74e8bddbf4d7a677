/* SPDX-License-Identifier: MIT
 *
 * world_energies.c: from an energy def to a batch in the world.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/order.h"
#include "base/sections.h"
#include "energy/parameter.h"
#include "world/world.h"

sinew_energy_def sinew_default_energy_def(sinew_energy_kind kind)
{
    const sinew_energy_info *info = sinew_get_energy_info(kind);
    sinew_energy_def def = {.cookie = SINEW_COOKIE_ENERGY, .kind = kind, .body = {.index = -1}};
    for (int32_t i = 0; info && i < info->parameter_count; i++)
        def.parameters[i] = (sinew_real)info->parameters[i].preset;
    return def;
}

void sinew_energy_record_destroy(const sinew_allocator *allocator, sinew_energy_record *record)
{
    sinew_batch_destroy(allocator, record->batch);
    sinew_guide_destroy(&record->targets, allocator);
    record->batch = NULL;
}

/* ---- Checks ---------------------------------------------------------------------------------- */

static sinew_status check_parameters(const sinew_energy_def *def, int32_t element_count, sinew_error *error)
{
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    for (int32_t p = 0; p < info->parameter_count; p++) {
        const sinew_real *own = def->element_parameters[p];
        char owner[64];
        for (int32_t e = 0; e < (own ? element_count : 1); e++) {
            double value = (double)(own ? own[e] : def->parameters[p]);
            if (own)
                snprintf(owner, sizeof owner, "%s, element %d", info->name, e);
            sinew_status status = sinew_parameter_check(&info->parameters[p], value, own ? owner : info->name, error);
            if (status != SINEW_OK)
                return status;
        }
    }
    return SINEW_OK;
}

static sinew_status check_energy_def(const sinew_world *world, const sinew_energy_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_ENERGY))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "an energy needs a world and a def made by sinew_default_energy_def()");
    const sinew_energy_info *info = sinew_get_energy_info(def->kind);
    if (!SINEW_ASSERT(info))
        return sinew_fail(error, SINEW_ERROR_USAGE, "there is no energy number %d", (int)def->kind);
    if (def->elements && def->element_count < 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: element_count is %d, must be at least 1", info->name,
                          def->element_count);
    if (!def->elements && def->body.index < 0)
        return sinew_fail(error, SINEW_ERROR_USAGE, "%s: needs a body or a list of elements", info->name);
    if (def->body.index >= 0 && !sinew_world_find_body(world, def->body, error))
        return SINEW_ERROR_USAGE;
    if (info->stencil == SINEW_STENCIL_PAIR && (!def->elements || !def->weights))
        return sinew_fail(error, SINEW_ERROR_USAGE, "%s: needs elements and weights", info->name);
    char why[sizeof error->text];
    if (!sinew_solver_accepts(world->def.solver.kind, def->kind, why, sizeof why))
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s", why);
    return SINEW_OK;
}

/* ---- Elements -------------------------------------------------------------------------------- */

/* Work space while an energy is added. */
typedef struct draft {
    int32_t count, n;   /* elements, vertices of one */
    int32_t *numbers;   /* [count * n] numbers of vertices, when made here */
    int32_t *particles; /* [count * n] inside numbers, tets as the plan has them */
    int32_t span;       /* from the lowest of them to the highest */
    sinew_plan plan;
    sinew_real *data;    /* [count * data_count] */
    sinew_real *targets; /* [count * 3] (VERTEX) */
} draft;

static void draft_release(const sinew_allocator *allocator, draft *d)
{
    sinew_release(allocator, d->numbers);
    sinew_release(allocator, d->particles);
    sinew_release(allocator, d->data);
    sinew_release(allocator, d->targets);
    sinew_plan_release(&d->plan, allocator);
}

/* The body's own cells that fit the stencil, copied into d->numbers. */
static sinew_status default_elements(const sinew_world *world, const sinew_energy_def *def, sinew_stencil stencil,
                                     draft *d, sinew_error *error)
{
    const sinew_mesh *mesh = sinew_body_mesh(world, def->body);
    sinew_mesh *skeleton = NULL;
    const int32_t *cells = NULL;
    if (stencil == SINEW_STENCIL_TET) {
        d->count = sinew_mesh_tet_count(mesh);
        cells = sinew_mesh_tets(mesh);
    } else if (stencil == SINEW_STENCIL_EDGE) {
        if (sinew_mesh_edge_count(mesh) == 0) {
            skeleton = sinew_mesh_skeleton(mesh, error);
            if (!skeleton)
                return SINEW_ERROR_MEMORY;
        }
        d->count = sinew_mesh_edge_count(skeleton ? skeleton : mesh);
        cells = sinew_mesh_edges(skeleton ? skeleton : mesh);
    } else {
        d->count = sinew_mesh_vertex_count(mesh);
    }
    size_t entries = (size_t)d->count * (size_t)d->n;
    d->numbers = sinew_allocate(&world->allocator, entries, sizeof *d->numbers);
    for (size_t i = 0; d->numbers && i < entries; i++)
        d->numbers[i] = cells ? cells[i] : (int32_t)i;
    sinew_mesh_destroy(skeleton);
    if (!d->numbers)
        return sinew_fail_memory(error, "the elements of an energy");
    if (d->count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: body %d has no %s", sinew_get_energy_info(def->kind)->name,
                          def->body.index, stencil == SINEW_STENCIL_TET ? "tetrahedra" : "edges");
    return SINEW_OK;
}

/* signed weights of C = sum w0 x0 - sum w1 x1; a vertex on both sides is merged into its first place */
static sinew_status pair_weights(const sinew_energy_def *def, int32_t e, const int32_t *particles, sinew_real w[8],
                                 sinew_error *error)
{
    const char *name = sinew_get_energy_info(def->kind)->name;
    double sums[2] = {0, 0};
    for (int i = 0; i < 8; i++) {
        w[i] = def->weights[8 * (size_t)e + (size_t)i];
        if (!(isfinite(w[i]) && w[i] >= 0))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s, element %d: weight %d is %g, must be at least 0", name, e,
                              i, (double)w[i]);
        sums[i / 4] += (double)w[i];
    }
    const double slack = sizeof(sinew_real) == 4 ? 1e-5 : 1e-9;
    for (int side = 0; side < 2; side++)
        if (fabs(sums[side] - 1) > slack)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s, element %d: the weights of its %s point sum to %.9g, not to 1", name, e,
                              side ? "second" : "first", sums[side]);
    for (int i = 4; i < 8; i++)
        w[i] = -w[i];
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            if (particles[i] == particles[j]) {
                w[j] += w[i];
                w[i] = 0;
            }
    return SINEW_OK;
}

static sinew_status unit_normal(const sinew_energy_def *def, int32_t e, sinew_real normal[3], sinew_error *error)
{
    const sinew_real z[3] = {0, 0, 1};
    const sinew_real *given = def->normals ? def->normals + 3 * (size_t)e : z;
    double length = sqrt((double)given[0] * (double)given[0] + (double)given[1] * (double)given[1] +
                         (double)given[2] * (double)given[2]);
    if (!(length > 0 && isfinite(length)))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s, element %d: its normal has no direction",
                          sinew_get_energy_info(def->kind)->name, e);
    for (int c = 0; c < 3; c++)
        normal[c] = (sinew_real)((double)given[c] / length);
    return SINEW_OK;
}

static sinew_status prepare_element(const sinew_world *world, const sinew_energy_def *def, const draft *d, int32_t e,
                                    sinew_error *error)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(def->kind);
    const int32_t *particles = d->particles + (size_t)e * (size_t)d->n;
    sinew_real rest[3 * SINEW_STENCIL_MAX], parameters[SINEW_PARAMETER_MAX], weights[8], normal[3];
    sinew_status status = SINEW_OK;
    sinew_world_points(world->rest, particles, d->n, rest);
    for (int32_t p = 0; p < ops->info.parameter_count; p++)
        parameters[p] = def->element_parameters[p] ? def->element_parameters[p][e] : def->parameters[p];
    sinew_element element = {.rest = rest, .parameters = parameters};
    if (ops->info.stencil == SINEW_STENCIL_PAIR) {
        status = pair_weights(def, e, particles, weights, error);
        if (status == SINEW_OK)
            status = unit_normal(def, e, normal, error);
        element.weights = weights;
        element.normal = normal;
    }
    if (d->targets)
        element.target = d->targets + 3 * (size_t)e;
    if (status != SINEW_OK)
        return status;
    const char *why = ops->prepare(&element, d->data + (size_t)e * (size_t)ops->data_count);
    if (why)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s, element %d: %s; see sinew mesh check", ops->info.name, e, why);
    return SINEW_OK;
}

static sinew_status draft_targets(const sinew_world *world, const sinew_energy_def *def, draft *d, sinew_error *error)
{
    d->targets = sinew_allocate(&world->allocator, 3 * (size_t)d->count, sizeof *d->targets);
    if (!d->targets)
        return sinew_fail_memory(error, "the targets of an energy");
    if (!def->targets) {
        sinew_world_points(world->q, d->particles, d->count, d->targets);
        return SINEW_OK;
    }
    for (int32_t i = 0; i < 3 * d->count; i++) {
        if (!isfinite(def->targets[i]))
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: target %d is not finite",
                              sinew_get_energy_info(def->kind)->name, i / 3);
        d->targets[i] = def->targets[i];
    }
    return SINEW_OK;
}

static bool plan_elements(const sinew_world *world, const sinew_energy_ops *ops, draft *d)
{
    const size_t entries = (size_t)d->count * (size_t)d->n;
    const int32_t low = sinew_count_from_zero(d->particles, entries, &d->span);
    bool good = sinew_plan_create(&d->plan, &world->allocator, d->count, d->n, d->span,
                                  ops->info.stencil == SINEW_STENCIL_TET, d->particles);
    sinew_count_from(d->particles, entries, low);
    return good;
}

static sinew_batch *create_batch(const sinew_world *world, const sinew_energy_ops *ops, draft *d)
{
    const int32_t low = sinew_count_from_zero(d->particles, (size_t)d->count * (size_t)d->n, &d->span);
    sinew_batch *batch =
        sinew_batch_create(&world->allocator, ops, sinew_lanes_width(), &d->plan, d->particles, d->data, d->span);
    if (batch)
        sinew_count_from(batch->particle, (size_t)batch->slot_count, low);
    return batch;
}

/* Everything about the elements but their batch. */
static sinew_status draft_elements(const sinew_world *world, const sinew_energy_def *def, draft *d, sinew_error *error)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(def->kind);
    sinew_status status = SINEW_OK;
    d->n = ops->info.vertex_count;
    d->count = def->element_count;
    if (!def->elements)
        status = default_elements(world, def, ops->info.stencil, d, error);
    if (status == SINEW_OK && d->count > INT32_MAX / (32 * d->n))
        status =
            sinew_fail(error, SINEW_ERROR_DATA, "%s: more than %d elements", ops->info.name, INT32_MAX / (32 * d->n));
    if (status == SINEW_OK)
        status = check_parameters(def, d->count, error);
    if (status != SINEW_OK)
        return status;
    d->particles = sinew_allocate(&world->allocator, (size_t)d->count * (size_t)d->n, sizeof *d->particles);
    d->data = sinew_allocate(&world->allocator, (size_t)d->count * (size_t)ops->data_count, sizeof *d->data);
    if (!d->particles || !d->data)
        return sinew_fail_memory(error, "the elements of an energy");
    status = sinew_world_resolve(world, def->body, def->elements ? def->elements : d->numbers, d->count * d->n,
                                 ops->info.name, d->particles, error);
    if (status == SINEW_OK && !plan_elements(world, ops, d))
        status = sinew_fail_memory(error, "the order of an energy's elements");
    if (status == SINEW_OK && ops->target_slot >= 0)
        status = draft_targets(world, def, d, error);
    for (int32_t e = 0; status == SINEW_OK && e < d->count; e++)
        status = prepare_element(world, def, d, e, error);
    return status;
}

/* The energy as the signature of a state describes it. */
static sinew_energy_origin origin_of(const sinew_energy_def *def, const draft *d)
{
    const size_t count = (size_t)d->count;
    sinew_energy_origin origin = {.body = def->body.index, .digest = sinew_motion_digest(def->motion)};
    memcpy(origin.parameters, def->parameters, sizeof origin.parameters);
    origin.digest = sinew_checksum(origin.digest, def->elements ? def->elements : d->numbers,
                                   count * (size_t)d->n * sizeof(int32_t));
    for (int32_t p = 0; p < sinew_get_energy_info(def->kind)->parameter_count; p++)
        if (def->element_parameters[p]) {
            origin.by_element |= 1u << p;
            origin.digest = sinew_checksum(origin.digest, def->element_parameters[p], count * sizeof(sinew_real));
        }
    if (def->weights)
        origin.digest = sinew_checksum(origin.digest, def->weights, 8 * count * sizeof(sinew_real));
    if (def->normals)
        origin.digest = sinew_checksum(origin.digest, def->normals, 3 * count * sizeof(sinew_real));
    return origin;
}

/* ---- Add, change, remove --------------------------------------------------------------------- */

/* Room for the record and for its place among the live batches. */
static bool reserve_energy(sinew_world *world)
{
    int32_t capacity = world->energy_capacity;
    if (sinew_world_energy_place(world) < world->energy_count)
        return true;
    if (!sinew_grow(&world->allocator, (void **)&world->energies, world->energy_count, &capacity,
                    sizeof *world->energies))
        return false;
    if (capacity != world->energy_capacity || !world->batches) {
        sinew_batch **batches = sinew_allocate(&world->allocator, (size_t)capacity, sizeof(sinew_batch *));
        world->energy_capacity = batches ? capacity : world->energy_count;
        if (!batches)
            return false;
        sinew_release(&world->allocator, world->batches);
        world->batches = batches;
        world->objective_ready = world->solver_ready = false;
    }
    return true;
}

sinew_energy sinew_world_add_energy(sinew_world *world, const sinew_energy_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (check_energy_def(world, def, error) != SINEW_OK)
        return (sinew_energy){.index = -1};
    const sinew_energy_ops *ops = sinew_energy_get_ops(def->kind);
    draft d = {0};
    sinew_energy_record record = {.kind = def->kind};
    sinew_status status = draft_elements(world, def, &d, error);
    if (status == SINEW_OK && d.targets)
        status = sinew_guide_create(&record.targets, &world->allocator, d.count, d.targets, def->motion, ops->info.name,
                                    error);
    if (status == SINEW_OK) {
        record.batch = create_batch(world, ops, &d);
        if (!record.batch || !reserve_energy(world))
            status = sinew_fail_memory(error, "the elements of an energy");
    }
    if (status == SINEW_OK)
        record.origin = origin_of(def, &d);
    draft_release(&world->allocator, &d);
    if (status != SINEW_OK) {
        sinew_energy_record_destroy(&world->allocator, &record);
        return (sinew_energy){.index = -1};
    }
    world->objective_ready = world->solver_ready = false;
    return sinew_world_put_energy(world, sinew_world_energy_place(world), record);
}

sinew_status sinew_energy_set_targets(sinew_world *world, sinew_energy energy, const sinew_real *targets,
                                      sinew_error *error)
{
    sinew_error_clear(error);
    sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    const char *name = sinew_get_energy_info(record->kind)->name;
    if (!SINEW_ASSERT(targets && record->targets.count > 0))
        return sinew_fail(error, SINEW_ERROR_USAGE, "energy %d (%s): %s", energy.index, name,
                          targets ? "has no targets" : "no targets are given");
    char owner[64];
    snprintf(owner, sizeof owner, "energy %d (%s)", energy.index, name);
    return sinew_guide_replace(&record->targets, targets, owner, error);
}

sinew_status sinew_energy_multipliers(const sinew_world *world, sinew_energy energy, int32_t capacity,
                                      sinew_real *values, int32_t *count, sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    if (!SINEW_ASSERT(count && (values || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_energy_multipliers needs a count and room for the values");
    const sinew_batch *batch = record->batch;
    const char *solver = sinew_get_solver_info(world->def.solver.kind)->name;
    *count = 0;
    if (!sinew_solver_get_ops(world->def.solver.kind)->multipliers)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s has no multipliers; use xpbd or pbd", solver);
    if (!world->solver_ready || world->step_count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s has no multipliers before its first step; take one", solver);
    *count = batch->element_count * batch->ops->constraint_count;
    if (capacity < *count)
        return sinew_fail(error, SINEW_ERROR_DATA, "there are %d multipliers and room for %d", *count, capacity);
    world->solve.ops->multipliers(&world->solve, batch, values);
    return SINEW_OK;
}

sinew_status sinew_world_remove_energy(sinew_world *world, sinew_energy energy, sinew_error *error)
{
    sinew_error_clear(error);
    sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    /* The objective borrows batches: it goes first. */
    sinew_solve_release(&world->solve);
    sinew_objective_clear(&world->objective);
    sinew_energy_record_destroy(&world->allocator, record);
    world->objective_ready = world->solver_ready = false;
    return SINEW_OK;
}
