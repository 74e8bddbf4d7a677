/* SPDX-License-Identifier: MIT
 *
 * facets.h: visits each face of tetrahedra, or edge of triangles, once, with all elements that share it.
 */
#ifndef SINEW_SRC_MESH_TOPOLOGY_FACETS_H
#define SINEW_SRC_MESH_TOPOLOGY_FACETS_H

#include "base/sort_pairs.h"
#include "mesh/topology.h"

/* Function called for each facet. Facet i of an element is the element without its vertex i. `vertices` are the two or
 * three vertices of the facet, ascending. uses[n].minor is size * element + i of each element that has the facet,
 * ascending. The order of the facets is deterministic but otherwise unspecified. */
typedef void sinew_facet_visitor(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count);

/* Calls `visit` for each facet of the elements, which have 3 or 4 vertices. Elements that contain a vertex twice are
 * skipped: they have no interior. */
sinew_status sinew_visit_facets(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *elements,
                                sinew_facet_visitor *visit, void *context, sinew_error *error);

#endif
