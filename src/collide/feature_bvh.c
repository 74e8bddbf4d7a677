/* SPDX-License-Identifier: MIT
 *
 * feature_bvh.c: fits boxes of features, and of the nodes above them, bottom-up.
 */
#include "collide/feature_bvh.h"

#include <math.h>
#include <string.h>

#include "base/tasks.h"
#include "mesh/topology.h"

#define AT_ONCE 512 /* number of nodes of level 0 that a thread processes per work item */

bool sinew_boxes_create(sinew_boxes *boxes, const sinew_allocator *allocator, const int32_t *vertices, int32_t width,
                        int32_t count)
{
    *boxes = (sinew_boxes){.count = count, .width = width, .vertices = vertices};
    size_t all = 0;
    int32_t nodes = count;
    do {
        nodes = (nodes + SINEW_BOXES_WIDE - 1) / SINEW_BOXES_WIDE;
        nodes = nodes > 0 ? nodes : 1;
        boxes->node_count[boxes->level_count++] = nodes;
        all += (size_t)nodes;
    } while (nodes > 1 || boxes->level_count < 2);
    boxes->members = sinew_allocate(allocator, (size_t)count, sizeof *boxes->members);
    boxes->nodes[0] = sinew_allocate(allocator, all, sizeof *boxes->nodes[0]);
    boxes->predicted[0] = sinew_allocate(allocator, all, sizeof *boxes->predicted[0]);
    boxes->shapes = sinew_allocate(allocator, (size_t)boxes->node_count[0], sizeof *boxes->shapes);
    if (!boxes->members || !boxes->nodes[0] || !boxes->predicted[0] || !boxes->shapes) {
        sinew_boxes_destroy(boxes, allocator);
        return false;
    }
    for (int32_t level = 1; level < boxes->level_count; level++) {
        boxes->nodes[level] = boxes->nodes[level - 1] + boxes->node_count[level - 1];
        boxes->predicted[level] = boxes->predicted[level - 1] + boxes->node_count[level - 1];
    }
    return true;
}

void sinew_boxes_destroy(sinew_boxes *boxes, const sinew_allocator *allocator)
{
    sinew_release(allocator, boxes->members);
    sinew_release(allocator, boxes->nodes[0]);
    sinew_release(allocator, boxes->predicted[0]);
    sinew_release(allocator, boxes->shapes);
    *boxes = (sinew_boxes){0};
}

/* ---- Hilbert order of the features -------------------------------------------------------------- */

void sinew_boxes_order(sinew_boxes *boxes, const sinew_box_frame *frame, sinew_real *middles, sinew_pair *pairs)
{
    for (int32_t n = 0; n < boxes->count; n++) {
        sinew_real *middle = middles + 3 * (size_t)n;
        for (int k = 0; k < 3; k++) {
            float sum = 0;
            for (int i = 0; i < boxes->width; i++)
                sum += frame->points[sinew_boxes_vertex(boxes, boxes->members[n], i)][k];
            middle[k] = (sinew_real)(sum / (float)boxes->width);
        }
    }
    sinew_hilbert_pairs(middles, boxes->count, pairs);
    for (int32_t n = 0; n < boxes->count; n++)
        pairs[n].major = (uint64_t)boxes->members[pairs[n].minor];
    for (int32_t n = 0; n < boxes->count; n++)
        boxes->members[n] = (int32_t)pairs[n].major;
    boxes->ordered = true;
}

/* ---- Fitting of the BVH's boxes ----------------------------------------------------------------- */

static void box_clear(sinew_box_node *node, int slot)
{
    for (int k = 0; k < 3; k++) {
        node->low[k][slot] = INFINITY;
        node->high[k][slot] = -INFINITY;
    }
    node->id[slot] = node->object[slot] = -1;
}

/* Sets the empty box of predicted displacements, for a slot without a feature. */
static void box_clear_displacements(sinew_box_displacements *predicted, int slot)
{
    for (int k = 0; k < 3; k++) {
        predicted->low[k][slot] = INFINITY;
        predicted->high[k][slot] = -INFINITY;
    }
    predicted->island[slot] = -1;
}

/* Extends the bounds of predicted displacements in a slot by another box of displacements. */
static void box_add_displacements(sinew_box_displacements *predicted, int slot, const float low[3], const float high[3])
{
    for (int k = 0; k < 3; k++) {
        predicted->low[k][slot] = low[k] < predicted->low[k][slot] ? low[k] : predicted->low[k][slot];
        predicted->high[k][slot] = high[k] > predicted->high[k][slot] ? high[k] : predicted->high[k][slot];
    }
}

static void box_put_displacements(const sinew_boxes *boxes, const sinew_collision_mesh *f, const sinew_box_frame *frame,
                                  int32_t feature, int32_t n, int slot)
{
    sinew_box_displacements *predicted = boxes->predicted[0] + n;
    box_clear_displacements(predicted, slot);
    for (int i = 0; i < boxes->width; i++) {
        const float *displacement = frame->predicted[sinew_boxes_vertex(boxes, feature, i)];
        box_add_displacements(predicted, slot, displacement, displacement);
    }
    const int32_t object = f->object[sinew_boxes_vertex(boxes, feature, 0)];
    predicted->island[slot] = frame->island ? frame->island[object] : object;
}

/* Writes the bounds of a node's predicted displacements into its slot in the level above. */
static void box_join_displacements(const sinew_box_displacements *predicted, int32_t index,
                                   sinew_box_displacements *parents)
{
    sinew_box_displacements *parent = parents + index / SINEW_BOXES_WIDE;
    const int slot = index % SINEW_BOXES_WIDE;
    box_clear_displacements(parent, slot);
    parent->island[slot] = predicted->island[0];
    for (int i = 0; i < SINEW_BOXES_WIDE; i++) {
        const float low[3] = {predicted->low[0][i], predicted->low[1][i], predicted->low[2][i]};
        const float high[3] = {predicted->high[0][i], predicted->high[1][i], predicted->high[2][i]};
        box_add_displacements(parent, slot, low, high);
        /* Only empty slots have low > high: their island does not matter. */
        if (low[0] <= high[0] && predicted->island[i] != parent->island[slot])
            parent->island[slot] = -1;
    }
}

/* Writes the corners of a feature and the upper bound of its box radius. `extent`: sum of the box sides. */
static void box_put_shape(const sinew_boxes *boxes, const sinew_box_frame *frame, int32_t feature, float extent,
                          float radius, sinew_box_shape *shape, int slot)
{
    const float *first = frame->points[sinew_boxes_vertex(boxes, feature, 0)];
    for (int k = 0; k < 3; k++) {
        shape->corner[k][slot] = first[k];
        for (int i = 1; i < 3; i++) {
            const int corner = i < boxes->width ? i : boxes->width - 1;
            const int32_t v = sinew_boxes_vertex(boxes, feature, corner);
            shape->side[i - 1][k][slot] = frame->points[v][k] - first[k];
            shape->vertices[i][slot] = v;
        }
    }
    shape->vertices[0][slot] = sinew_boxes_vertex(boxes, feature, 0);
    shape->max[slot] = radius + (float)SINEW_BOX_PAD + (float)SINEW_BOX_SLACK * (extent + radius);
}

static void box_put_feature(const sinew_boxes *boxes, const sinew_collision_mesh *f, const sinew_box_frame *frame,
                            int32_t feature, int32_t n, int slot)
{
    sinew_box_node *node = boxes->nodes[0] + n;
    sinew_box_shape *shape = boxes->shapes + n;
    float low[4], high[4];
    memcpy(low, frame->points[sinew_boxes_vertex(boxes, feature, 0)], sizeof low);
    memcpy(high, low, sizeof high);
    for (int i = 1; i < boxes->width; i++) {
        const float *p = frame->points[sinew_boxes_vertex(boxes, feature, i)];
        for (int k = 0; k < 4; k++) {
            low[k] = p[k] < low[k] ? p[k] : low[k];
            high[k] = p[k] > high[k] ? p[k] : high[k];
        }
    }
    const float extent = (high[0] - low[0]) + (high[1] - low[1]) + (high[2] - low[2]);
    box_put_shape(boxes, frame, feature, extent, high[3], shape, slot);
    for (int k = 0; k < 3; k++) {
        node->low[k][slot] = low[k] - shape->max[slot];
        node->high[k][slot] = high[k] + shape->max[slot];
    }
    node->id[slot] = feature;
    node->object[slot] = f->object[shape->vertices[0][slot]];
}

/* Clears a slot of a BVH node without a feature: its box overlaps no other box, and its corners are finite. */
static void box_clear_feature(const sinew_boxes *boxes, int32_t n, int slot)
{
    sinew_box_shape *shape = boxes->shapes + n;
    box_clear(boxes->nodes[0] + n, slot);
    for (int k = 0; k < 3; k++) {
        shape->corner[k][slot] = shape->side[0][k][slot] = shape->side[1][k][slot] = 0;
        shape->vertices[k][slot] = -1;
    }
    shape->max[slot] = 0;
}

/* Writes a node's box, highest feature index and common object into its slot in the level above. */
static void box_put_node(const sinew_box_node *node, int32_t index, sinew_box_node *parents)
{
    sinew_box_node *parent = parents + index / SINEW_BOXES_WIDE;
    const int slot = index % SINEW_BOXES_WIDE;
    int32_t id = -1, object = node->object[0];
    for (int k = 0; k < 3; k++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = 0; i < SINEW_BOXES_WIDE; i++) {
            low = node->low[k][i] < low ? node->low[k][i] : low;
            high = node->high[k][i] > high ? node->high[k][i] : high;
        }
        parent->low[k][slot] = low;
        parent->high[k][slot] = high;
    }
    for (int i = 0; i < SINEW_BOXES_WIDE; i++) {
        object = node->id[i] >= 0 && node->object[i] != object ? -1 : object;
        id = node->id[i] > id ? node->id[i] : id;
    }
    parent->id[slot] = id;
    parent->object[slot] = object;
}

typedef struct box_fitting {
    sinew_boxes *boxes;
    const sinew_collision_mesh *mesh;
    const sinew_box_frame *frame;
} box_fitting;

static void box_fit_nodes(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const box_fitting *f = context;
    const sinew_boxes *boxes = f->boxes;
    for (int32_t n = first; n < last; n++) {
        for (int slot = 0; slot < SINEW_BOXES_WIDE; slot++) {
            const int32_t at = SINEW_BOXES_WIDE * n + slot;
            if (at < boxes->count)
                box_put_feature(boxes, f->mesh, f->frame, boxes->members[at], n, slot);
            else
                box_clear_feature(boxes, n, slot);
            if (f->frame->moving && at < boxes->count)
                box_put_displacements(boxes, f->mesh, f->frame, boxes->members[at], n, slot);
            else if (f->frame->moving)
                box_clear_displacements(boxes->predicted[0] + n, slot);
        }
        box_put_node(boxes->nodes[0] + n, n, boxes->nodes[1]);
        if (f->frame->moving)
            box_join_displacements(boxes->predicted[0] + n, n, boxes->predicted[1]);
    }
}

void sinew_boxes_fit(sinew_boxes *boxes, const sinew_collision_mesh *mesh, const sinew_box_frame *frame,
                     int32_t thread_count)
{
    const box_fitting fitting = {boxes, mesh, frame};
    for (int32_t level = 1; level < boxes->level_count; level++) {
        const int32_t last = boxes->node_count[level] - 1;
        for (int slot = 0; slot < SINEW_BOXES_WIDE; slot++) {
            box_clear(boxes->nodes[level] + last, slot);
            box_clear_displacements(boxes->predicted[level] + last, slot);
        }
    }
    sinew_tasks_for(thread_count, boxes->node_count[0], AT_ONCE, box_fit_nodes, &fitting);
    for (int32_t level = 1; level + 1 < boxes->level_count; level++)
        for (int32_t n = 0; n < boxes->node_count[level]; n++) {
            box_put_node(boxes->nodes[level] + n, n, boxes->nodes[level + 1]);
            if (frame->moving)
                box_join_displacements(boxes->predicted[level] + n, n, boxes->predicted[level + 1]);
        }
}

double sinew_boxes_spread(const sinew_boxes *boxes)
{
    enum {
        STRIDE = 8 /* every STRIDE-th node of level 0 is sampled when the spread of the BVH is measured */
    };
    double nodes = 0, features = 0;
    for (int32_t n = 0; n < boxes->node_count[0]; n += STRIDE) {
        const sinew_box_node *node = boxes->nodes[0] + n, *parent = boxes->nodes[1] + n / SINEW_BOXES_WIDE;
        for (int k = 0; k < 3; k++) {
            const int slot = n % SINEW_BOXES_WIDE;
            nodes += (double)parent->high[k][slot] - (double)parent->low[k][slot];
            for (int i = 0; i < SINEW_BOXES_WIDE; i++)
                features += node->id[i] >= 0 ? (double)node->high[k][i] - (double)node->low[k][i] : 0;
        }
    }
    return features > 0 && nodes < (double)INFINITY ? nodes / features : 0;
}
