/* SPDX-License-Identifier: MIT
 *
 * fields.h: fields of the world (sinew_world_field, sinew_energy_field) in the order of a cache's particles and
 * of the tetrahedra of its bodies, for the formats that can hold them.
 */
#ifndef SINEW_SRC_IO_CACHE_FIELDS_H
#define SINEW_SRC_IO_CACHE_FIELDS_H

#include "io/cache/cache.h"

typedef struct sinew_cache_fields {
    /* Numbers of each field of this frame, NULL where it is not written: [3 * particle_count], or of tetrahedra
     * [component_count * tet_count]. Not a number: unknown, as before the first step, or no energy acts on the tet. */
    sinew_real *values[SINEW_FIELD_COUNT];
    int32_t tet_count; /* of all bodies, in the order of their places */
    int32_t *tets;     /* [4 * tet_count] particles, as the meshes have them */
    int32_t *material; /* [tet_count] place of the first energy that acts on the tet, -1: none. Values are of this
                          energy, but "energy" is the sum over all */
    int32_t *starts;   /* [particle_count + 1] tets by their lowest particle: those of p are .. */
    int32_t *order;    /* [tet_count] .. order[starts[p]] to order[starts[p + 1] - 1] */
    int32_t *corners;  /* [4 * element_room] of the elements of one energy */
    sinew_real *found; /* [3 * element_room] their values */
    int32_t element_capacity;
} sinew_cache_fields;

/* Allocates the requested fields of the cache. Refuses a missing mandatory field by name. */
sinew_status sinew_cache_fields_open(const sinew_cache *cache, sinew_cache_fields *fields, sinew_error *error);
/* Fills all arrays from the current state of the world. */
sinew_status sinew_cache_fields_fill(const sinew_cache *cache, sinew_cache_fields *fields, sinew_error *error);
void sinew_cache_fields_free(const sinew_cache *cache, sinew_cache_fields *fields); /* zeroed is fine */

#endif
