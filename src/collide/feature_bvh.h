/* SPDX-License-Identifier: MIT
 *
 * feature_bvh.h: an implicit BVH of width 8 over features of one kind.
 *
 * Features are sorted along a Hilbert curve through their centres. Eight consecutive features form a node, eight
 * consecutive nodes form a node of the next level, up to one root. Nodes have no pointers: new positions change only
 * boxes, and the order stays good while a surface moves as a whole.
 *
 * Boxes are floats relative to an origin. When the frame is set, the origin is the scene's centre and the scale makes
 * the scene's size 1/2 .. 1; the frame is kept while the scene stays within it (candidates.c). Boxes are extended by
 * box radii and all round-off, so two features within their inflation radii have boxes that overlap.
 * Nodes of level 0 also store the corners of their features in the same units, for conservative distance bounds
 * (distance_bounds.h) that replace most distances in double. If vertices have predicted displacements (candidates.h),
 * nodes also store boxes of displacements: the approach of two nodes along an axis follows from both.
 */
#ifndef SINEW_SRC_COLLIDE_FEATURE_BVH_H
#define SINEW_SRC_COLLIDE_FEATURE_BVH_H

#include "collide/collision_mesh.h"
#include "base/sort_pairs.h"

#define SINEW_BOXES_WIDE   8
#define SINEW_BOXES_LEVELS 11 /* maximum number of levels of nodes with 8 children: 8^11 > 2^31 features */
/* Capacity of the traversal stack: at most 8 children per node on a path are pending. */
#define SINEW_BOXES_STACK (8 * SINEW_BOXES_LEVELS)

typedef struct sinew_box_node {
    _Alignas(32) float low[3][SINEW_BOXES_WIDE];
    float high[3][SINEW_BOXES_WIDE];
    /* Level 0: index of the feature; above: highest feature index of the subtree; -1: empty slot. */
    int32_t id[SINEW_BOXES_WIDE];
    int32_t
        /* Object of the feature; higher levels: object of all features in the subtree, -1: several. */
        object[SINEW_BOXES_WIDE];
} sinew_box_node;

/* Predicted displacements of the vertices of a node's features, in units of boxes: component-wise bounds. */
typedef struct sinew_box_displacements {
    _Alignas(32) float low[3][SINEW_BOXES_WIDE];
    float high[3][SINEW_BOXES_WIDE];
    int32_t island[SINEW_BOXES_WIDE]; /* island of all features (sinew_detect_input), -1: several, or none */
} sinew_box_displacements;

/* Corners of the features of a node of level 0. `max` is an upper bound of the box radius, which covers the round-off
 * of distances computed from these floats. */
typedef struct sinew_box_shape {
    _Alignas(32) float corner[3][SINEW_BOXES_WIDE]; /* first vertex of each feature, in units of boxes */
    float side[2][3][SINEW_BOXES_WIDE]; /* vectors from the first vertex of each feature to its second and third */
    float max[SINEW_BOXES_WIDE];
    int32_t vertices[3][SINEW_BOXES_WIDE]; /* vertices of each feature, the last one repeated; -1: no feature */
} sinew_box_shape;

#define SINEW_BOX_PAD 0x1p-22 /* round-off margin in units of boxes: over four times that of a coordinate */
/* Round-off margin of distances computed from floats, relative to lengths: more than their round-off. */
#define SINEW_BOX_SLACK 0x1p-18

/* Frame of the boxes: positions of vertices in units of boxes, relative to the origin. */
typedef struct sinew_box_frame {
    double origin[3];
    double scale; /* units of boxes per metre, a power of two */
    /* [vertex_count] (x - origin) scale; fourth number, the box radius: (solid radius + the larger of inflation radius
     * and, with predicted displacements, trust-region radius + half thickness) scale */
    float (*points)[4];
    float (*predicted)[3]; /* [vertex_count] predicted displacement times scale */
    bool moving;           /* true: `predicted` is set, and nodes have boxes of displacements */
    const int32_t *island; /* [object_count] as in sinew_detect_input */
} sinew_box_frame;

typedef struct sinew_boxes {
    int32_t count;
    int32_t width;           /* number of vertices of each feature of the BVH: 1 .. 3 */
    const int32_t *vertices; /* [feature count][width] vertices of each feature; NULL: the features are vertices */
    int32_t *members;        /* [count] features in Hilbert order; filled by the caller before the first ordering */
    int32_t level_count;     /* number of levels of the BVH, >= 2 */
    int32_t node_count[SINEW_BOXES_LEVELS]; /* number of nodes of each level; level 0: ceil(count / 8) */
    sinew_box_node *nodes[SINEW_BOXES_LEVELS];
    /* [node_count[l]] for each level l: bounds of the predicted displacements in nodes; set if `moving` of
     * sinew_box_frame is true */
    sinew_box_displacements *predicted[SINEW_BOXES_LEVELS];
    sinew_box_shape *shapes; /* [node_count[0]] corners of the features in each node of level 0 */
    bool ordered;
    double spread; /* value of sinew_boxes_spread() after the last Hilbert ordering */
} sinew_boxes;

/* Creates a BVH of features: allocates `count` members, which the caller fills. False: out of memory, and nothing stays
 * allocated. */
bool sinew_boxes_create(sinew_boxes *boxes, const sinew_allocator *allocator, const int32_t *vertices, int32_t width,
                        int32_t count);
/* Frees the arrays of the BVH; accepts a zeroed struct. */
void sinew_boxes_destroy(sinew_boxes *boxes, const sinew_allocator *allocator);
/* Sorts the features `members` along the Hilbert curve. middles [3 * count] and pairs [2 * count] are work space. */
void sinew_boxes_order(sinew_boxes *boxes, const sinew_box_frame *frame, sinew_real *middles, sinew_pair *pairs);
/* Fits the boxes of all levels of the BVH to the positions in the frame. */
void sinew_boxes_fit(sinew_boxes *boxes, const sinew_collision_mesh *mesh, const sinew_box_frame *frame,
                     int32_t thread_count);
/* Spread of the BVH: extent of nodes over the extent of their features; the ratio grows as the Hilbert order
 * degrades. */
double sinew_boxes_spread(const sinew_boxes *boxes);

static inline int32_t sinew_boxes_vertex(const sinew_boxes *boxes, int32_t feature, int i)
{
    return boxes->vertices ? boxes->vertices[(size_t)feature * (size_t)boxes->width + (size_t)i] : feature;
}

#endif
