/* SPDX-License-Identifier: MIT
 *
 * fields.h: fields of the world (sinew_world_field, sinew_energy_field) in the order of a cache's particles and
 * of the tetrahedra of its bodies, for the formats that can hold them.
 */
#ifndef SINEW_SRC_IO_CACHE_FIELDS_H
#define SINEW_SRC_IO_CACHE_FIELDS_H

#include "io/cache/cache.h"

typedef struct sinew_cache_fields {
    /* Values of each field in this frame, NULL if the field is not written: [3 * particle_count] for particles,
     * [component_count * tet_count] for tets. NaN: unknown (as before the first step), or no energy acts on the tet. */
    sinew_real *values[SINEW_FIELD_COUNT];
    int32_t tet_count; /* number of tets of all bodies, in the order of cache->bodies */
    int32_t *tets;     /* [4 * tet_count] particles of each tet, in the corner order of the meshes */
    /* [tet_count] index in the world of the first energy that acts on the tet, -1: none. Values in `values` are those
     * of this energy; the field "energy" is the sum over all energies. */
    int32_t *material;
    int32_t *starts; /* [particle_count + 1] index in `order` of the first tet whose lowest particle is p */
    /* [tet_count] tets sorted by lowest particle: those of p are order[starts[p]] to order[starts[p + 1] - 1] */
    int32_t *order;
    /* [4 * element_capacity] particles of one energy's elements; overwritten by one tet index per element */
    int32_t *corners;
    sinew_real *found; /* [3 * element_capacity] values of one field for the elements of one energy */
    int32_t element_capacity;
} sinew_cache_fields;

/* Allocates the requested fields of the cache. Fails with the name of a mandatory field that is missing. */
sinew_status sinew_cache_fields_open(const sinew_cache *cache, sinew_cache_fields *fields, sinew_error *error);
/* Fills `values` and `material` of the fields from the current state of the world. */
sinew_status sinew_cache_fields_fill(const sinew_cache *cache, sinew_cache_fields *fields, sinew_error *error);
/* frees the arrays of the fields; accepts a zeroed struct */
void sinew_cache_fields_free(const sinew_cache *cache, sinew_cache_fields *fields);

#endif
