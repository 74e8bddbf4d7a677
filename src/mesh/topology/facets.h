/* SPDX-License-Identifier: MIT
 *
 * facets.h: the faces of tetrahedra, or edges of triangles, each met once with everything that shares it.
 */
#ifndef SINEW_SRC_MESH_TOPOLOGY_FACETS_H
#define SINEW_SRC_MESH_TOPOLOGY_FACETS_H

#include "mesh/sort_pairs.h"
#include "mesh/topology.h"

/* Facet i of an element is the element without its vertex i. `vertices` are the facet's, ascending (two or three).
 * uses[n].minor is size * element + i of each element that has the facet, ascending. Facets come in no order that
 * callers may rely on beyond being the same each time. */

typedef void sinew_facet_visitor(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count);

/* Elements of size 3 or 4. Those that name a vertex twice are left out: they have no interior. */
sinew_status sinew_visit_facets(const sinew_allocator *allocator, int32_t vertex_count, const sinew_elements *elements,
                                sinew_facet_visitor *visit, void *context, sinew_error *error);

#endif
