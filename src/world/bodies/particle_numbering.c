/* SPDX-License-Identifier: MIT
 *
 * particle_numbering.c: the arrays of the particles, and their internal (inside) and public (outside) numbers.
 *
 * Inside numbers are compact and follow the bodies' slots. Outside numbers are stable for the caller: the vertices
 * of a body are one run of outside numbers, which does not change when other bodies are added or removed. So outside
 * numbers have holes. The next body that fits reuses the lowest free run. A run may have spare numbers after its
 * vertices.
 */
#include <math.h>
#include <string.h>

#include "world/world.h"

/* ---- Capacity of the arrays over particles --------------------------------------------------- */

enum {
    POINT_ARRAYS = 8,
    OPTIONAL_ARRAYS = 2 /* number of arrays at the end of the list that may be NULL */
};

/* Lists the arrays with four reals per particle and returns their number; v_before exists only in worlds with
 * contact, `acceleration` only in worlds with wind. */
static int list_point_arrays(sinew_world *world, sinew_real **arrays[POINT_ARRAYS])
{
    sinew_real **const all[POINT_ARRAYS] = {&world->q,       &world->v,     &world->force,    &world->rest,
                                            &world->q_tilde, &world->f_ext, &world->v_before, &world->acceleration};
    int count = 0;
    for (int a = 0; a < POINT_ARRAYS; a++)
        if (*all[a] || a < POINT_ARRAYS - OPTIONAL_ARRAYS)
            arrays[count++] = all[a];
    return count;
}

/* Grows the array of particles at `slot` to a capacity; false: out of memory. */
static bool grow_array(sinew_world *world, void *slot, int32_t used, int32_t capacity, size_t size)
{
    void **array = slot;
    /* A moved array invalidates the caller's pointers to it, even if another array cannot grow and no particle is
     * added. */
    world->shape_version++;
    void *grown = sinew_reallocate(&world->allocator, *array, (size_t)used, (size_t)capacity, size);
    if (!grown)
        return false;
    *array = grown;
    return true;
}

/* Capacities of particle arrays grow geometrically, so that many small bodies do not copy all earlier bodies each
 * time. The first body gets its exact size. */
static int32_t larger_capacity(int32_t used, int32_t more, int32_t capacity)
{
    const int32_t half = capacity / 2;
    return used > 0 && more < half ? used + half : used + more;
}

bool sinew_particles_reserve(sinew_world *world, int32_t count)
{
    const int32_t used = world->particle_count;
    if (used + count <= world->particle_capacity)
        return true;
    const int32_t needed = larger_capacity(used, count, world->particle_capacity);
    sinew_real **arrays[POINT_ARRAYS];
    const int array_count = list_point_arrays(world, arrays);
    bool good = true;
    for (int a = 0; good && a < array_count; a++)
        good = grow_array(world, arrays[a], used, needed, 4 * sizeof(sinew_real));
    /* Every step overwrites the arrays of load forces: only their length matters. */
    sinew_real **const rewritten[] = {&world->load_force, &world->wind_start};
    for (int a = 0; good && a < 2; a++)
        good = !*rewritten[a] || grow_array(world, rewritten[a], used, needed, 4 * sizeof(sinew_real));
    good = good && grow_array(world, &world->mass, used, needed, sizeof(sinew_real)) &&
           grow_array(world, &world->pinned, used, needed, 1) &&
           grow_array(world, &world->outside, used, needed, sizeof(int32_t));
    if (good)
        world->particle_capacity = needed;
    return good;
}

bool sinew_numbers_reserve(sinew_world *world, int32_t count)
{
    const int32_t used = world->number_count;
    if (used + count <= world->number_capacity)
        return true;
    const int32_t needed = larger_capacity(used, count, world->number_capacity);
    const bool good = grow_array(world, &world->inside, used, needed, sizeof(int32_t));
    if (good)
        world->number_capacity = needed;
    return good;
}

/* ---- Public (outside) numbers of particles ---------------------------------------------------- */

int32_t sinew_numbers_find(const sinew_world *world, int32_t count)
{
    if (world->hole_count < count)
        return world->number_count;
    int32_t first = 0;
    for (int32_t i = 0; i < world->number_count && i - first < count; i++)
        if (world->inside[i] != SINEW_NUMBER_FREE)
            first = i + 1;
    /* The last public number is in use, so a free run never extends to the end. */
    return first;
}

bool sinew_numbers_are_free(const sinew_world *world, int32_t first, int32_t count)
{
    for (int32_t i = first; i < first + count && i < world->number_count; i++)
        if (world->inside[i] != SINEW_NUMBER_FREE)
            return false;
    return true;
}

void sinew_numbers_mark_spare(sinew_world *world, int32_t first, int32_t count)
{
    const int32_t end = first + count;
    for (int32_t i = world->number_count; i < end; i++)
        world->inside[i] = SINEW_NUMBER_FREE;
    const int32_t old = world->number_count;
    world->number_count = end > old ? end : old;
    for (int32_t i = first; i < end; i++)
        world->inside[i] = SINEW_NUMBER_SPARE;
    world->hole_count -= (old < end ? old : end) - (first < old ? first : old);
}

void sinew_numbers_mark_free(sinew_world *world, int32_t first, int32_t count)
{
    for (int32_t i = first; i < first + count; i++)
        world->inside[i] = SINEW_NUMBER_FREE;
    world->hole_count += count;
    while (world->number_count > 0 && world->inside[world->number_count - 1] == SINEW_NUMBER_FREE) {
        world->number_count--;
        world->hole_count--;
    }
}

/* ---- Internal (inside) numbers of particles --------------------------------------------------- */

static void shift_list(int32_t *particles, int32_t count, int32_t at, int32_t by)
{
    for (int32_t i = 0; i < count; i++)
        particles[i] += particles[i] >= at ? by : 0;
}

/* Shifts by `by` all stored internal particle numbers from `at` on. Orders by particle are preserved. */
static void shift_numbers(sinew_world *world, int32_t at, int32_t by)
{
    /* Appending particles needs no shift, so that many appended bodies cost linear time. */
    if (at == world->particle_count)
        return;
    shift_list(world->inside, world->number_count, at, by);
    for (int32_t i = 0; i < world->body_count; i++)
        world->bodies[i].start += world->bodies[i].mesh && world->bodies[i].start >= at ? by : 0;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_energy_record *record = &world->energies[i];
        if (!record->batch)
            continue;
        shift_list(record->batch->particle, record->batch->slot_count, at, by);
        shift_list(record->store.particles, record->store.count * record->batch->ops->info.vertex_count, at, by);
    }
    for (int32_t i = 0; i < world->pin_count; i++)
        shift_list(world->pins[i].particles, world->pins[i].count, at, by);
}

/* Moves the entries of all arrays over particles from index `from` on to index `to`. */
static void move_particle_entries(sinew_world *world, int32_t from, int32_t to)
{
    const size_t rest = (size_t)(world->particle_count - from), a = (size_t)from, b = (size_t)to;
    sinew_real **arrays[POINT_ARRAYS];
    const int array_count = list_point_arrays(world, arrays);
    for (int i = 0; i < array_count; i++)
        memmove(*arrays[i] + 4 * b, *arrays[i] + 4 * a, 4 * rest * sizeof(sinew_real));
    memmove(world->mass + b, world->mass + a, rest * sizeof *world->mass);
    memmove(world->pinned + b, world->pinned + a, rest);
    memmove(world->outside + b, world->outside + a, rest * sizeof *world->outside);
}

/* Marks the solver and the objective as changed: layouts, colours and factors depend on internal particle numbers and
 * elements. */
static void mark_particles_changed(sinew_world *world)
{
    world->shape_version++;
    sinew_world_mark_changed(world, SINEW_CHANGED_ELEMENTS);
}

void sinew_particles_insert(sinew_world *world, int32_t at, int32_t count)
{
    move_particle_entries(world, at, at + count);
    shift_numbers(world, at, count);
    sinew_real **arrays[POINT_ARRAYS];
    const int array_count = list_point_arrays(world, arrays);
    for (int i = 0; i < array_count; i++)
        memset(*arrays[i] + 4 * (size_t)at, 0, 4 * (size_t)count * sizeof(sinew_real));
    memset(world->pinned + at, 0, (size_t)count);
    world->particle_count += count;
    mark_particles_changed(world);
}

void sinew_particles_erase(sinew_world *world, int32_t at, int32_t count)
{
    move_particle_entries(world, at + count, at);
    shift_numbers(world, at + count, -count);
    world->particle_count -= count;
    mark_particles_changed(world);
}

static void permute_list(int32_t *particles, int32_t count, int32_t start, int32_t limit, const int32_t *to)
{
    for (int32_t i = 0; i < count; i++)
        if (particles[i] >= start && particles[i] < start + limit)
            particles[i] = start + to[particles[i] - start];
}

/* Permutes the entries of an array over particles, `size` bytes each: new entry i is old entry from[i]. */
static void permute_entries(void *array, size_t size, int32_t count, const int32_t *from, void *scratch)
{
    for (int32_t i = 0; i < count; i++)
        memcpy((char *)scratch + (size_t)i * size, (char *)array + (size_t)from[i] * size, size);
    memcpy(array, scratch, (size_t)count * size);
}

void sinew_particles_permute(sinew_world *world, int32_t start, int32_t count, const int32_t *from, const int32_t *to,
                             sinew_real *scratch)
{
    sinew_real **arrays[POINT_ARRAYS];
    const int array_count = list_point_arrays(world, arrays);
    for (int i = 0; i < array_count; i++)
        permute_entries(*arrays[i] + 4 * (size_t)start, 4 * sizeof(sinew_real), count, from, scratch);
    permute_entries(world->mass + start, sizeof *world->mass, count, from, scratch);
    permute_entries(world->pinned + start, 1, count, from, scratch);
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_energy_record *record = &world->energies[i];
        if (!record->batch)
            continue;
        const int32_t entries = record->store.count * record->batch->ops->info.vertex_count;
        permute_list(record->batch->particle, record->batch->slot_count, start, count, to);
        permute_list(record->store.particles, entries, start, count, to);
    }
    for (int32_t i = 0; i < world->pin_count; i++)
        permute_list(world->pins[i].particles, world->pins[i].count, start, count, to);
}

/* ---- Access to particles by public numbers --------------------------------------------------- */

int32_t sinew_world_particle_count(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->number_count : 0;
}

int64_t sinew_world_shape_version(const sinew_world *world)
{
    return SINEW_ASSERT(world) ? world->shape_version : 0;
}

sinew_status sinew_world_resolve(const sinew_world *world, sinew_body body, const int32_t *numbers, int32_t count,
                                 const char *owner, int32_t *particles, sinew_error *error)
{
    const sinew_body_record *record = NULL;
    if (body.index >= 0) {
        record = sinew_world_find_body(world, body, error);
        if (!record)
            return SINEW_ERROR_USAGE;
    }
    const int32_t first = record ? record->first : 0, limit = record ? record->count : world->number_count;
    for (int32_t i = 0; i < count; i++) {
        if (numbers[i] < 0 || numbers[i] >= limit)
            return sinew_fail(error, SINEW_ERROR_DATA, "%s: entry %d names vertex %d, must be in [0, %d]", owner, i,
                              numbers[i], limit - 1);
        particles[i] = world->inside[first + numbers[i]];
        if (particles[i] < 0)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "%s: entry %d names particle %d, which is of no body: the one it was of was removed, or "
                              "moved to other numbers",
                              owner, i, numbers[i]);
    }
    return SINEW_OK;
}

void sinew_world_points(const sinew_real *from, const int32_t *particles, int32_t count, sinew_real *out)
{
    for (int32_t i = 0; i < count; i++)
        memcpy(out + 3 * (size_t)i, from + 4 * (size_t)particles[i], 3 * sizeof *out);
}

void sinew_world_outside_points(const sinew_world *world, const sinew_real *from, int32_t first, int32_t count,
                                sinew_real *out)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t at = world->inside[first + i];
        for (size_t c = 0; c < 3; c++)
            out[3 * (size_t)i + c] = at < 0 ? 0 : from[4 * (size_t)at + c];
    }
}

bool sinew_world_has_range(const sinew_world *world, int32_t first, int32_t count, const void *array)
{
    return world && first >= 0 && count >= 0 && first <= world->number_count - count && (array || count == 0);
}

static sinew_status get_points(const sinew_world *world, const sinew_real *from, int32_t first, int32_t count,
                               sinew_real *out)
{
    sinew_world_outside_points(world, from, first, count, out);
    return SINEW_OK;
}

static sinew_status set_points(sinew_world *world, sinew_real *to, int32_t first, int32_t count, const sinew_real *in)
{
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        if (!isfinite(in[i]))
            return SINEW_ERROR_DATA;
    for (int32_t i = 0; i < count; i++)
        if (world->inside[first + i] >= 0)
            memcpy(to + 4 * (size_t)world->inside[first + i], in + 3 * (size_t)i, 3 * sizeof *in);
    return SINEW_OK;
}

sinew_status sinew_world_get_positions(const sinew_world *world, int32_t first, int32_t count, sinew_real *q)
{
    return SINEW_ASSERT(sinew_world_has_range(world, first, count, q)) ? get_points(world, world->q, first, count, q)
                                                                       : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_set_positions(sinew_world *world, int32_t first, int32_t count, const sinew_real *q)
{
    if (!SINEW_ASSERT(sinew_world_has_range(world, first, count, q)))
        return SINEW_ERROR_USAGE;
    if (!sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    sinew_contact_moved(world);
    sinew_contact_forget_impacts(world, first, count);
    return set_points(world, world->q, first, count, q);
}

sinew_status sinew_world_get_velocities(const sinew_world *world, int32_t first, int32_t count, sinew_real *v)
{
    return SINEW_ASSERT(sinew_world_has_range(world, first, count, v)) ? get_points(world, world->v, first, count, v)
                                                                       : SINEW_ERROR_USAGE;
}

sinew_status sinew_world_set_velocities(sinew_world *world, int32_t first, int32_t count, const sinew_real *v)
{
    if (!SINEW_ASSERT(sinew_world_has_range(world, first, count, v)) ||
        !sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    return set_points(world, world->v, first, count, v);
}

sinew_status sinew_world_set_forces(sinew_world *world, int32_t first, int32_t count, const sinew_real *f)
{
    if (!SINEW_ASSERT(sinew_world_has_range(world, first, count, f)) ||
        !sinew_world_may_change(world, __func__, &world->error))
        return SINEW_ERROR_USAGE;
    return set_points(world, world->force, first, count, f);
}

sinew_status sinew_world_get_masses(const sinew_world *world, int32_t first, int32_t count, sinew_real *m)
{
    if (!SINEW_ASSERT(sinew_world_has_range(world, first, count, m)))
        return SINEW_ERROR_USAGE;
    for (int32_t i = 0; i < count; i++)
        m[i] = world->inside[first + i] < 0 ? 0 : world->mass[world->inside[first + i]];
    return SINEW_OK;
}
