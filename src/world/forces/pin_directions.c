/* SPDX-License-Identifier: MIT
 *
 * pin_directions.c: pins that constrain their particles along one or two directions only (Baraff and Witkin 1998, 5.1).
 *
 * A particle constrained along n_1, n_2 .. by one or several pins has the filter S = 1 - (projection on their span) and
 * the conditions n_k . x = n_k . t_k, with t_k the target of its pin. The conditions are satisfied one after
 * another: with S before direction k,
 *
 *     x += a_k n_k . (t_k - x),   a_k = S n_k / (n_k . S n_k),   S -= S n_k (S n_k)^T / (n_k . S n_k)
 *
 * which leaves earlier conditions satisfied, because S n_k is normal to them. Directions of different pins need not be
 * orthogonal; a direction that (nearly) depends on earlier directions is an error when its pins are added. A
 * particle constrained along three directions is pinned.
 */
#include <math.h>

#include "math/vec3.h"
#include "world/world.h"

/* A pinned direction depends on earlier ones if its squared length after filtering is below this value. */
#define FOLLOWS 1e-10

/* Index of each entry of a symmetric 3x3 matrix, row by row, in its six numbers xx, yy, zz, xy, xz, yz. */
static const int entry[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

static void set_unit_filter(double S[6])
{
    for (int k = 0; k < 6; k++)
        S[k] = k < 3;
}

/* Computes a = S n for the symmetric 3x3 filter S of a particle; returns n . S n. */
static double filter_direction(const double S[6], const double n[3], double a[3])
{
    double rest = 0;
    for (int r = 0; r < 3; r++) {
        a[r] = S[entry[3 * r]] * n[0] + S[entry[3 * r + 1]] * n[1] + S[entry[3 * r + 2]] * n[2];
        rest += n[r] * a[r];
    }
    return rest;
}

/* Removes a pinned direction n from the filter S; false if n depends on earlier directions. along: NULL, or receives
 * a_k. */
static bool remove_direction(double S[6], const double n[3], double along[3])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double a[3];
    const double rest = filter_direction(S, n, a);
    if (!(rest > FOLLOWS))
        return false;
    for (int k = 0; k < 6; k++)
        S[k] -= a[row[k]] * a[column[k]] / rest;
    for (int c = 0; along && c < 3; c++)
        along[c] = a[c] / rest;
    return true;
}

/* ---- Directions of a pin definition ------------------------------------------------------------ */

sinew_status sinew_pin_take_directions(const sinew_pin_def *def, sinew_pin_record *record, sinew_error *error)
{
    double S[6];
    record->direction_count = 3;
    if (!def->directions)
        return SINEW_OK;
    if (def->direction_count < 1 || def->direction_count > 3)
        return sinew_fail(error, SINEW_ERROR_DATA, "pins: %d directions are given, must be 1, 2 or 3",
                          def->direction_count);
    set_unit_filter(S);
    for (int k = 0; k < def->direction_count; k++) {
        double n[3], length = 0, along[3];
        for (int c = 0; c < 3; c++) {
            n[c] = (double)def->directions[3 * k + c];
            length += n[c] * n[c];
        }
        if (!(length > 0) || !isfinite(length))
            return sinew_fail(error, SINEW_ERROR_DATA, "pins: direction %d has no length, or is not finite", k);
        for (int c = 0; c < 3; c++)
            n[c] /= sqrt(length);
        if (!remove_direction(S, n, along))
            return sinew_fail(error, SINEW_ERROR_DATA, "pins: direction %d follows from those before it; leave it out",
                              k);
        /* Only the span of a pin's directions matters, so orthonormal vectors replace them. */
        const double size = vec3_norm(along);
        for (int c = 0; c < 3; c++)
            record->directions[k][c] = along[c] / size;
    }
    record->direction_count = def->direction_count;
    return SINEW_OK;
}

bool sinew_pin_is_partial(const sinew_pin_record *pin)
{
    return pin->count > 0 && pin->direction_count < 3;
}

/* Computes the filter S of a particle from all pins of the world. */
static void find_filter_of_particle(const sinew_world *world, int32_t particle, double S[6])
{
    set_unit_filter(S);
    for (int32_t p = 0; p < world->pin_count; p++) {
        const sinew_pin_record *pin = &world->pins[p];
        for (int32_t i = 0; sinew_pin_is_partial(pin) && i < pin->count; i++)
            for (int k = 0; pin->particles[i] == particle && k < pin->direction_count; k++)
                remove_direction(S, pin->directions[k], NULL);
    }
}

sinew_status sinew_pin_check_directions(const sinew_world *world, const sinew_pin_def *def,
                                        const sinew_pin_record *record, sinew_error *error)
{
    for (int32_t i = 0; i < record->count; i++) {
        double S[6];
        find_filter_of_particle(world, record->particles[i], S);
        if (record->direction_count == 3 && S[0] + S[1] + S[2] < 2.5)
            return sinew_fail(error, SINEW_ERROR_DATA,
                              "pins: vertex %d is held along a direction already; remove those pins first",
                              def->vertices[i]);
        for (int k = 0; record->direction_count < 3 && k < record->direction_count; k++)
            if (!remove_direction(S, record->directions[k], NULL))
                return sinew_fail(error, SINEW_ERROR_DATA, "pins: vertex %d is held along direction %d already",
                                  def->vertices[i], k);
    }
    return SINEW_OK;
}

/* ---- Filters S of all particles ---------------------------------------------------------------- */

static bool reserve_pin_buffers(sinew_world *world)
{
    const sinew_allocator *a = &world->allocator;
    const size_t n = (size_t)world->particle_count;
    bool good = sinew_reserve(a, &world->filter, &world->filter_capacity, 6 * n, sizeof *world->filter) &&
                sinew_reserve(a, &world->constrained_particles, &world->constrained_capacity, n,
                              sizeof *world->constrained_particles);
    for (int32_t p = 0; good && p < world->pin_count; p++) {
        sinew_pin_record *pin = &world->pins[p];
        if (sinew_pin_is_partial(pin))
            good = sinew_reserve(a, &pin->along, &pin->along_capacity,
                                 3 * (size_t)pin->count * (size_t)pin->direction_count, sizeof *pin->along);
    }
    return good;
}

/* Computes the filters S of all particles (world->filter), the vectors a_k of all partial pins, and world->pinned of
 * their particles. */
static void find_filters(sinew_world *world)
{
    for (size_t i = 0; i < 6 * (size_t)world->particle_count; i++)
        world->filter[i] = i % 6 < 3;
    for (int32_t p = 0; p < world->pin_count; p++) {
        sinew_pin_record *pin = &world->pins[p];
        double *along = pin->along;
        for (int32_t i = 0; sinew_pin_is_partial(pin) && i < pin->count; i++) {
            sinew_real *to = world->filter + 6 * (size_t)pin->particles[i];
            double S[6];
            for (int k = 0; k < 6; k++)
                S[k] = (double)to[k];
            for (int k = 0; k < pin->direction_count; k++, along += 3)
                remove_direction(S, pin->directions[k], along);
            for (int k = 0; k < 6; k++)
                to[k] = (sinew_real)S[k];
            world->pinned[pin->particles[i]] = S[0] + S[1] + S[2] < 0.5;
        }
    }
}

sinew_status sinew_world_find_constrained(sinew_world *world, sinew_error *error)
{
    bool any = false;
    world->constrained_count = 0;
    for (int32_t p = 0; p < world->pin_count; p++)
        any |= sinew_pin_is_partial(&world->pins[p]);
    if (!any)
        return SINEW_OK;
    if (!reserve_pin_buffers(world))
        return sinew_fail_memory(error, "pins");
    find_filters(world);
    for (int32_t i = 0; i < world->particle_count; i++) {
        const sinew_real *S = world->filter + 6 * (size_t)i;
        if (!world->pinned[i] && S[0] + S[1] + S[2] < (sinew_real)2.5)
            world->constrained_particles[world->constrained_count++] = i;
    }
    return SINEW_OK;
}

void sinew_pin_move_to_targets(const sinew_pin_record *pin, sinew_real *q)
{
    const double *along = pin->along;
    for (int32_t i = 0; i < pin->count; i++) {
        sinew_real *x = q + 4 * (size_t)pin->particles[i];
        const sinew_real *t = pin->trajectory.current + 3 * (size_t)i;
        for (int k = 0; k < pin->direction_count; k++, along += 3) {
            double off = 0;
            for (int c = 0; c < 3; c++)
                off += pin->directions[k][c] * ((double)t[c] - (double)x[c]);
            for (int c = 0; c < 3; c++)
                x[c] = (sinew_real)((double)x[c] + along[c] * off);
        }
    }
}

void sinew_world_release_constrained(sinew_world *world)
{
    sinew_release(&world->allocator, world->filter);
    sinew_release(&world->allocator, world->constrained_particles);
    world->filter = NULL;
    world->constrained_particles = NULL;
    world->constrained_count = 0;
}

void sinew_world_split_force(const sinew_world *world, int32_t particle, const double r[3], double free[3],
                             double constrained[3])
{
    for (int c = 0; c < 3; c++)
        free[c] = world->pinned[particle] ? 0 : r[c];
    if (!world->pinned[particle] && world->constrained_count > 0) {
        double S[6];
        for (int k = 0; k < 6; k++)
            S[k] = (double)world->filter[6 * (size_t)particle + (size_t)k];
        filter_direction(S, r, free);
    }
    for (int c = 0; c < 3; c++)
        constrained[c] = r[c] - free[c];
}
