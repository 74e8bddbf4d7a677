/* SPDX-License-Identifier: MIT
 *
 * build.c: builds the batch of an energy from its store: orders, prepares and lays out the elements.
 */
#include <math.h>
#include <string.h>

#include "base/counting_sort.h"
#include "world/world.h"

/* ---- Preparation of one element ---------------------------------------------------------------- */

/* True if a particle (internal number) belongs to a rigid body. */
static bool particle_is_rigid(const sinew_world *world, int32_t particle)
{
    for (int32_t b = 0; b < world->body_count; b++) {
        const sinew_body_record *body = &world->bodies[b];
        if (body->rigid && particle >= body->start && particle < body->start + body->count)
            return true;
    }
    return false;
}

/* Computes the signed weights of a pair element with C = sum w0 x0 - sum w1 x1; a repeated vertex is merged into its
 * first entry. Negative weights are valid only for rigid bodies, whose surface lies outside the tet of their
 * particles. */
static sinew_status signed_pair_weights(const sinew_world *world, const char *name, const sinew_real *given, int32_t e,
                                        const int32_t *particles, sinew_real w[8], sinew_error *error)
{
    double sums[2] = {0, 0};
    for (int i = 0; i < 8; i++) {
        w[i] = given[8 * (size_t)e + (size_t)i];
        if (!(isfinite(w[i]) && (w[i] >= 0 || particle_is_rigid(world, particles[i]))))
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

static sinew_status element_build_unit_normal(const char *name, const sinew_real *normals, int32_t e,
                                              sinew_real normal[3], sinew_error *error)
{
    const sinew_real z[3] = {0, 0, 1};
    const sinew_real *given = normals ? normals + 3 * (size_t)e : z;
    double length = sqrt((double)given[0] * (double)given[0] + (double)given[1] * (double)given[1] +
                         (double)given[2] * (double)given[2]);
    if (!(length > 0 && isfinite(length)))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s, element %d: its normal has no direction", name, e);
    for (int c = 0; c < 3; c++)
        normal[c] = (sinew_real)((double)given[c] / length);
    return SINEW_OK;
}

/* Computes rest positions [n][3], m, of an element with vertices `particles`, in the order of the layout: from the
 * bodies, or from the store if rest_given. */
static void rest_shape(const sinew_world *world, const sinew_energy_store *store, int32_t n, int32_t e,
                       const int32_t *particles, sinew_real *rest)
{
    sinew_world_points(world->rest, particles, n, rest);
    const int32_t *given = store->particles + (size_t)e * (size_t)n;
    for (int32_t a = 0; store->rest_given && a < n; a++)
        for (int32_t b = 0; b < n; b++)
            if (given[b] == particles[a])
                memcpy(rest + 3 * (size_t)a, store->rest + 3 * ((size_t)e * (size_t)n + (size_t)b), 3 * sizeof *rest);
}

void sinew_energy_rest(const sinew_world *world, const sinew_energy_record *record, int32_t element, sinew_real *rest)
{
    int32_t particles[SINEW_STENCIL_MAX];
    sinew_batch_particles(record->batch, element, particles);
    rest_shape(world, &record->store, record->batch->ops->info.vertex_count, element, particles, rest);
}

/* Fails with the reason `why` for which an energy refuses an element. A reason without a remedy (no semicolon)
 * concerns a flat or inverted shape, so the error refers to the mesh check, which lists these. */
static sinew_status fail_element(const sinew_energy_ops *ops, int32_t e, const char *why, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_DATA, "%s, element %d: %s%s", ops->info.name, e, why,
                      strchr(why, ';') ? "" : "; see sinew mesh check");
}

static void element_parameters(const sinew_energy_ops *ops, const sinew_energy_store *store, int32_t e,
                               sinew_real *parameters)
{
    for (int32_t p = 0; p < ops->info.parameter_count; p++)
        parameters[p] = store->by_element >> p & 1 ? store->each[p][e] : store->parameters[p];
}

void sinew_energy_parameters(const void *origin, int32_t element, sinew_real *parameters)
{
    const sinew_energy_record *record = origin;
    element_parameters(record->batch->ops, &record->store, element, parameters);
}

/* Computes data [data_count], the kernel data of an element with vertices `particles`, in the order of the layout. */
static sinew_status prepare_element(const sinew_world *world, const sinew_energy_ops *ops,
                                    const sinew_energy_store *store, int32_t e, const int32_t *particles,
                                    const sinew_real *target, sinew_real *data, sinew_error *error)
{
    sinew_real rest[3 * SINEW_STENCIL_MAX], parameters[SINEW_PARAMETER_MAX], weights[8], normal[3];
    char reason[SINEW_REASON_MAX];
    sinew_status status = SINEW_OK;
    rest_shape(world, store, ops->info.vertex_count, e, particles, rest);
    element_parameters(ops, store, e, parameters);
    const sinew_stencil_info *stencil_info = sinew_get_stencil(ops->info.stencil);
    sinew_element element = {.vertex_count = sinew_stencil_size(stencil_info, particles, ops->info.vertex_count),
                             .rest = rest,
                             .parameters = parameters,
                             .target = target,
                             .reason = reason,
                             .examples =
                                 store->examples_given ? store->examples + 6 * SINEW_EXAMPLE_MAX * (size_t)e : NULL,
                             .fraction = store->fractions_given ? &store->fractions[e] : NULL,
                             .size = ops->keeps_size ? &store->size[e] : NULL};
    if (stencil_info->takes & SINEW_TAKES_WEIGHTS) {
        status = signed_pair_weights(world, ops->info.name, store->weights, e, particles, weights, error);
        element.weights = weights;
    }
    if (status == SINEW_OK && stencil_info->takes & SINEW_TAKES_NORMAL) {
        status =
            element_build_unit_normal(ops->info.name, store->normals_given ? store->normals : NULL, e, normal, error);
        element.normal = normal;
    }
    if (status != SINEW_OK)
        return status;
    const char *why = ops->prepare(&element, data);
    return why ? fail_element(ops, e, why, error) : SINEW_OK;
}

sinew_status sinew_energy_prepare_again(const sinew_world *world, sinew_energy_record *record, int32_t e,
                                        sinew_error *error)
{
    int32_t particles[SINEW_STENCIL_MAX];
    sinew_real data[SINEW_DATA_MAX];
    const sinew_real *target = record->targets.count > 0 ? record->targets.current + 3 * (size_t)e : NULL;
    sinew_batch_particles(record->batch, e, particles);
    const sinew_status status =
        prepare_element(world, record->batch->ops, &record->store, e, particles, target, data, error);
    if (status == SINEW_OK)
        sinew_batch_set_element(record->batch, e, data);
    return status;
}

/* Applies new parameters to the prepared data of an element; the size of its rest shape is kept. */
static sinew_status reparametrise_element(sinew_energy_record *record, int32_t e, sinew_error *error)
{
    const sinew_energy_ops *ops = record->batch->ops;
    sinew_real parameters[SINEW_PARAMETER_MAX], data[SINEW_DATA_MAX];
    element_parameters(ops, &record->store, e, parameters);
    sinew_batch_element(record->batch, e, data);
    char reason[SINEW_REASON_MAX];
    const sinew_element element = {
        .parameters = parameters, .reason = reason, .size = &record->store.size[e], .rest_known = true};
    const char *why = ops->prepare(&element, data);
    if (why)
        return fail_element(ops, e, why, error);
    sinew_batch_set_element(record->batch, e, data);
    return SINEW_OK;
}

/* Checks all elements of an energy together, and sets whether the energy's parameters couple them. */
static sinew_status check_elements_together(const sinew_world *world, const sinew_energy_store *store,
                                            sinew_batch *batch, sinew_error *error)
{
    const sinew_energy_ops *ops = batch->ops;
    const sinew_global_constraint all = sinew_energy_all_elements(world, store);
    const sinew_status status = ops->check_elements ? ops->check_elements(&all, &world->allocator, error) : SINEW_OK;
    if (status == SINEW_OK)
        batch->coupled = ops->global_constraint || (ops->couples && ops->couples(store->parameters));
    return status;
}

sinew_status sinew_energy_reparametrise(const sinew_world *world, sinew_energy_record *record, sinew_error *error)
{
    const sinew_batch *batch = record->batch;
    sinew_status status =
        batch->ops->couples ? check_elements_together(world, &record->store, record->batch, error) : SINEW_OK;
    for (int32_t slot = 0; status == SINEW_OK && slot < batch->group_count * batch->width; slot++) {
        const int32_t e = batch->element[slot];
        if (e >= 0)
            status = batch->ops->keeps_size ? reparametrise_element(record, e, error)
                                            : sinew_energy_prepare_again(world, record, e, error);
    }
    return status;
}

/* ---- Batch of all elements --------------------------------------------------------------------- */

void sinew_energy_work_release(sinew_energy_work *work, const sinew_allocator *allocator)
{
    sinew_release(allocator, work->particles);
    sinew_release(allocator, work->data);
    sinew_batch_layout_release(&work->layout, allocator);
    sinew_batch_work_release(&work->batch, allocator);
    *work = (sinew_energy_work){0};
}

sinew_global_constraint sinew_energy_all_elements(const sinew_world *world, const sinew_energy_store *store)
{
    return (sinew_global_constraint){.count = store->count,
                                     .particles = store->particles,
                                     .q = world->q,
                                     .rest = world->rest,
                                     .parameters = store->parameters,
                                     .by_element = store->by_element};
}

static sinew_status element_build_fill_batch(const sinew_world *world, const sinew_energy_store *store,
                                             const sinew_real *targets, sinew_energy_work *work, sinew_batch *batch,
                                             sinew_error *error)
{
    const sinew_energy_ops *ops = batch->ops;
    const size_t n = (size_t)ops->info.vertex_count, entries = (size_t)store->count * n;
    const sinew_allocator *allocator = &world->allocator;
    int32_t span;
    memcpy(work->particles, store->particles, entries * sizeof *work->particles);
    const int32_t low = sinew_shift_indices_to_zero(work->particles, entries, &span);
    bool good = sinew_batch_layout_make(&work->layout, allocator, store->count, ops->info.vertex_count, span,
                                        sinew_get_stencil(ops->info.stencil)->fans, work->particles);
    sinew_shift_indices(work->particles, entries, low);
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the order of an energy's elements");
    for (int32_t e = 0; status == SINEW_OK && e < store->count; e++)
        status = prepare_element(world, ops, store, e, work->particles + (size_t)e * n,
                                 targets ? targets + 3 * (size_t)e : NULL,
                                 work->data + (size_t)e * (size_t)ops->data_count, error);
    if (status != SINEW_OK)
        return status;
    sinew_shift_indices(work->particles, entries, -low);
    if (!sinew_batch_fill(batch, allocator, &work->layout, work->particles, work->data, span, &work->batch))
        return sinew_fail_memory(error, "the elements of an energy");
    sinew_shift_indices(batch->particle, (size_t)batch->slot_count, low);
    return SINEW_OK;
}

sinew_status sinew_energy_build(const sinew_world *world, sinew_energy_kind kind, sinew_energy_store *store,
                                const sinew_real *targets, sinew_energy_work *work, sinew_batch *batch,
                                sinew_error *error)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(kind);
    const size_t count = (size_t)store->count;
    if (!sinew_reserve(&world->allocator, &work->particles, &work->particle_bytes,
                       count * (size_t)ops->info.vertex_count, sizeof *work->particles) ||
        !sinew_reserve(&world->allocator, &work->data, &work->data_capacity, count * (size_t)ops->data_count,
                       sizeof *work->data) ||
        (ops->keeps_size &&
         !sinew_reserve(&world->allocator, &store->size, &store->size_capacity, count, sizeof *store->size)))
        return sinew_fail_memory(error, "the elements of an energy");
    const sinew_status status = check_elements_together(world, store, batch, error);
    if (status != SINEW_OK)
        return status;
    return element_build_fill_batch(world, store, targets, work, batch, error);
}
