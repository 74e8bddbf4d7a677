/* SPDX-License-Identifier: MIT
 *
 * feature_bvh.h: boxes around features of one kind, in nodes of eight, and nodes of nodes above them.
 *
 * Features stand along a Hilbert curve through their middles when the list was last ordered; eight in a row are a node,
 * eight nodes in a row are a node of the next level, and so on to one root. So there are no links, positions may change
 * and only the boxes with them, and surfaces that move as a whole keep a good order for long.
 *
 * Boxes are floats around an origin in the scene's middle, in units in which the scene's size is 1/2 .. 1, grown by the
 * reach of the features, their cores and the round-off of all of this: two features that are near have boxes that meet.
 * Beside the boxes lie the features' corners, likewise, for a look that tells most pairs that are surely near or far
 * from those that have to be measured in double; and, where vertices have ways (candidates.h), boxes of these, as the reach
 * between two nodes depends on how their ways differ.
 */
#ifndef SINEW_SRC_COLLIDE_FEATURE_BVH_H
#define SINEW_SRC_COLLIDE_FEATURE_BVH_H

#include "collide/collision_mesh.h"
#include "mesh/sort_pairs.h"

#define SINEW_BOXES_WIDE   8
#define SINEW_BOXES_LEVELS 11                       /* 8^11 > 2^31 */
#define SINEW_BOXES_STACK  (8 * SINEW_BOXES_LEVELS) /* of each node on a path at most 8 children wait */

typedef struct sinew_box_node {
    _Alignas(32) float low[3][SINEW_BOXES_WIDE];
    float high[3][SINEW_BOXES_WIDE];
    int32_t id[SINEW_BOXES_WIDE];     /* level 0: the feature; above: the highest one below; -1: none */
    int32_t object[SINEW_BOXES_WIDE]; /* the feature's; above: that of all below, -1 where they differ */
} sinew_box_node;

/* The ways of a node's features: of their vertices, in units of boxes. */
typedef struct sinew_box_ways {
    _Alignas(32) float low[3][SINEW_BOXES_WIDE];
    float high[3][SINEW_BOXES_WIDE];
    float longest[SINEW_BOXES_WIDE];
} sinew_box_ways;

/* The corners of the features of a node of level 0. With numbers from floats and what is computed of them, distances
 * are known to within most - sure, which are reach and core from above and from below. */
typedef struct sinew_box_shape {
    _Alignas(32) float corner[3][SINEW_BOXES_WIDE]; /* the first */
    float side[2][3][SINEW_BOXES_WIDE];             /* from it to the others, where there are any */
    float most[SINEW_BOXES_WIDE], sure[SINEW_BOXES_WIDE];
    int32_t vertices[3][SINEW_BOXES_WIDE]; /* the last one repeated; -1: no feature */
} sinew_box_shape;

#define SINEW_BOX_PAD   0x1p-22 /* more than four times the round-off of a coordinate */
#define SINEW_BOX_SLACK 0x1p-18 /* of lengths: more than the round-off of distances that are computed of them */

/* Where vertices are, for boxes. */
typedef struct sinew_box_frame {
    double origin[3];
    double scale;       /* a power of two, from metres to units of boxes */
    float (*points)[4]; /* [vertex_count] (x - origin) scale; (reach + core) scale */
    float (*ways)[4];   /* [vertex_count] way scale; its length, likewise */
    bool moving;        /* there are ways */
} sinew_box_frame;

typedef struct sinew_boxes {
    int32_t count;
    int32_t width;                          /* vertices of a feature: 1 .. 3 */
    const int32_t *vertices;                /* [..][width] of features; NULL: a feature is its vertex */
    int32_t *members;                       /* [count] features, in order; the caller fills it before the first order */
    int32_t level_count;                    /* >= 2 */
    int32_t node_count[SINEW_BOXES_LEVELS]; /* level 0: ceil(count / 8) */
    sinew_box_node *nodes[SINEW_BOXES_LEVELS];
    sinew_box_ways *ways[SINEW_BOXES_LEVELS]; /* of nodes, where there are ways */
    sinew_box_shape *shapes;                  /* [node_count[0]] */
    bool ordered;
    double spread; /* of nodes beside their features, when ordered */
} sinew_boxes;

/* Room for `count` members, which the caller fills. False without memory: nothing is held. */
bool sinew_boxes_create(sinew_boxes *boxes, const sinew_allocator *allocator, const int32_t *vertices, int32_t width,
                        int32_t count);
void sinew_boxes_destroy(sinew_boxes *boxes, const sinew_allocator *allocator); /* zeroed is fine */
/* Puts members along the curve. middles [3 * count] and pairs [2 * count] are overwritten. */
void sinew_boxes_order(sinew_boxes *boxes, const sinew_box_frame *frame, sinew_real *middles, sinew_pair *pairs);
/* Boxes of all levels where vertices are now. */
void sinew_boxes_fit(sinew_boxes *boxes, const sinew_features *features, const sinew_box_frame *frame,
                     int32_t thread_count);
/* How wide nodes are beside their features: grows as the order goes bad. */
double sinew_boxes_spread(const sinew_boxes *boxes);

static inline int32_t sinew_boxes_vertex(const sinew_boxes *boxes, int32_t feature, int i)
{
    return boxes->vertices ? boxes->vertices[(size_t)feature * (size_t)boxes->width + (size_t)i] : feature;
}

#endif
