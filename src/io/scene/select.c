/* SPDX-License-Identifier: MIT
 *
 * select.c: selects points by position, by number, or by the embedded surface of their body, combined by lists (or),
 * "and" and "not". Each selection writes a mask of one byte per point; nested selections have their own masks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/scene/reader.h"

typedef struct selector {
    sinew_reader *reader;
    const sinew_selectable *from;
    const sinew_real *points; /* [3 * count] coordinates of the points to select from, in m */
    int32_t count;
    int32_t *scratch; /* [count] work space for indices of points */
} selector;

static bool selector_evaluate(selector *s, const sinew_node *node, uint8_t *mask);

static bool mark_region(selector *s, const sinew_region *region, uint8_t *mask)
{
    int32_t found = sinew_region_select(region, s->points, s->count, s->scratch, s->count);
    memset(mask, 0, (size_t)s->count);
    for (int32_t i = 0; i < found; i++)
        mask[s->scratch[i]] = 1;
    return true;
}

static bool mark_box(selector *s, const sinew_node *node, uint8_t *mask)
{
    sinew_region region = {.kind = SINEW_REGION_BOX};
    sinew_node_vector(node->child, region.a);
    sinew_node_vector(node->child->next, region.b);
    for (int axis = 0; axis < 3; axis++)
        if (region.a[axis] > region.b[axis])
            return sinew_tree_fail(&s->reader->tree, node, "its first corner must be the lowest: %c runs from %g to %g",
                                   "xyz"[axis], (double)region.a[axis], (double)region.b[axis]);
    return mark_region(s, &region, mask);
}

static bool mark_sphere(selector *s, const sinew_node *node, uint8_t *mask)
{
    sinew_region region = {.kind = SINEW_REGION_SPHERE};
    sinew_node_vector(sinew_node_get(node, "centre"), region.a);
    region.radius = (sinew_real)sinew_node_number(sinew_node_get(node, "radius"));
    return mark_region(s, &region, mask);
}

static bool mark_half_space(selector *s, const sinew_node *node, uint8_t *mask)
{
    sinew_region region = {.kind = SINEW_REGION_HALF_SPACE};
    sinew_node_vector(sinew_node_get(node, "point"), region.a);
    return sinew_reader_axis(s->reader, sinew_node_get(node, "normal"), region.b) && mark_region(s, &region, mask);
}

static bool mark_nearest(selector *s, const sinew_node *node, uint8_t *mask)
{
    sinew_region region = {.kind = SINEW_REGION_NEAREST};
    sinew_node_vector(node, region.a);
    return mark_region(s, &region, mask);
}

static bool mark_indices(selector *s, const sinew_node *node, uint8_t *mask)
{
    memset(mask, 0, (size_t)s->count);
    for (const sinew_node *entry = node->child; entry; entry = entry->next) {
        int32_t index = sinew_node_integer(entry);
        if (index >= s->count)
            return sinew_tree_fail(&s->reader->tree, entry, "is %d, but the body has %d %s, numbered from 0", index,
                                   s->count, s->from->noun);
        mask[index] = 1;
    }
    return true;
}

static bool mark_not(selector *s, const sinew_node *node, uint8_t *mask)
{
    if (!selector_evaluate(s, node, mask))
        return false;
    for (int32_t i = 0; i < s->count; i++)
        mask[i] = !mask[i];
    return true;
}

/* Combines the masks of the entries of a selection: any (list) or all ("and"). */
static bool mark_union_or_intersection(selector *s, const sinew_node *list, bool all, uint8_t *mask)
{
    uint8_t *row = sinew_reader_allocate(s->reader, (size_t)s->count, 1, "a selection");
    if (!row)
        return false;
    memset(mask, all, (size_t)s->count);
    bool good = true;
    for (const sinew_node *entry = list->child; entry && good; entry = entry->next) {
        good = selector_evaluate(s, entry, row);
        for (int32_t i = 0; good && i < s->count; i++)
            mask[i] = all ? mask[i] & row[i] : mask[i] | row[i];
    }
    sinew_release(&s->reader->allocator, row);
    return good;
}

static bool mark_all(selector *s, const sinew_node *list, uint8_t *mask)
{
    return mark_union_or_intersection(s, list, true, mask);
}

/* ---- Selections on the embedded surface ---------------------------------------------------------- */

/* Selects vertices of the embedded surface, then marks the points of the body that represent them. */
static bool mark_surface(selector *s, const sinew_node *node, uint8_t *mask)
{
    if (s->from->kind == SINEW_POINTS_SKIN)
        return sinew_tree_fail(&s->reader->tree, node, "is within another \"surface\" already");
    const sinew_skin *skin = sinew_reader_skin(s->reader, node, s->from->body);
    if (!skin)
        return false;
    const sinew_selectable points = sinew_skin_points(skin, s->from->body);
    const size_t size = (size_t)points.count;
    uint8_t *row = sinew_reader_allocate(s->reader, size, 1, "a selection");
    int32_t *scratch = row ? sinew_reader_allocate(s->reader, size, sizeof *scratch, "a selection") : NULL;
    selector inner = {s->reader, &points, points.points, points.count, scratch};
    const bool good =
        scratch && selector_evaluate(&inner, node, row) && sinew_reader_mark_body_points(s->reader, s->from, row, mask);
    sinew_release(&s->reader->allocator, row);
    sinew_release(&s->reader->allocator, scratch);
    return good;
}

/* The skin whose vertices are selected; NULL with an error if the points belong to the body. */
static const sinew_skin *selected_skin(selector *s, const sinew_node *node)
{
    if (s->from->kind == SINEW_POINTS_SKIN)
        return sinew_body_skin(s->reader->scene->world, s->from->body);
    sinew_tree_fail(&s->reader->tree, node, "selects on the embedded surface: write {\"surface\": {\"%s\": ...}}",
                    node->key);
    return NULL;
}

static bool mark_group(selector *s, const sinew_node *node, uint8_t *mask)
{
    const sinew_skin *skin = selected_skin(s, node);
    return skin && sinew_reader_mark_name(s->reader, node, skin, SINEW_SKIN_GROUP, mask);
}

static bool mark_material(selector *s, const sinew_node *node, uint8_t *mask)
{
    const sinew_skin *skin = selected_skin(s, node);
    return skin && sinew_reader_mark_name(s->reader, node, skin, SINEW_SKIN_MATERIAL, mask);
}

static bool mark_paint(selector *s, const sinew_node *node, uint8_t *mask)
{
    const sinew_skin *skin = selected_skin(s, node);
    return skin && sinew_reader_mark_paint(s->reader, node, skin, mask);
}

/* ---- Evaluation of a complete selection ---------------------------------------------------------- */

static bool selector_evaluate(selector *s, const sinew_node *node, uint8_t *mask)
{
    static const struct {
        const char *key;
        bool (*mark)(selector *s, const sinew_node *node, uint8_t *mask);
    } kinds[] = {{"box", mark_box},           {"sphere", mark_sphere},   {"half_space", mark_half_space},
                 {"nearest", mark_nearest},   {"indices", mark_indices}, {"not", mark_not},
                 {"and", mark_all},           {"surface", mark_surface}, {"group", mark_group},
                 {"material", mark_material}, {"paint", mark_paint}};
    if (json_is_array(node->value))
        return mark_union_or_intersection(s, node, false, mask);
    if (json_is_string(node->value)) {
        memset(mask, 1, (size_t)s->count);
        return true;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].key, node->child->key) == 0)
            return kinds[i].mark(s, node->child, mask);
    return false;
}

static bool fail_empty_selection(const selector *s, const sinew_node *location)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (size_t i = 0; i < 3 * (size_t)s->count; i++) {
        low[i % 3] = fmin(low[i % 3], s->points[i]);
        high[i % 3] = fmax(high[i % 3], s->points[i]);
    }
    char *text = json_dumps(location->value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
    sinew_tree_fail(&s->reader->tree, location,
                    "%.160s selects none of the %d %s; they lie within [%.6g, %.6g, %.6g] and [%.6g, %.6g, %.6g]",
                    text ? text : "it", s->count, s->from->noun, low[0], low[1], low[2], high[0], high[1], high[2]);
    free(text);
    return false;
}

bool sinew_reader_select(sinew_reader *reader, const sinew_node *node, const sinew_node *location,
                         const sinew_selectable *points, sinew_selected *selected)
{
    const int32_t count = points->count;
    size_t size = (size_t)count;
    uint8_t *mask = sinew_reader_allocate(reader, size, 1, "a selection");
    int32_t *indices = mask ? sinew_reader_allocate(reader, size, sizeof *indices, "a selection") : NULL;
    selector s = {reader, points, points->points, count, indices};
    *selected = (sinew_selected){.indices = indices};
    bool good = indices != NULL;
    if (good && node)
        good = selector_evaluate(&s, node, mask);
    else if (good)
        memset(mask, 1, size);
    for (int32_t i = 0; good && i < count; i++)
        if (mask[i])
            selected->indices[selected->count++] = i;
    if (good && selected->count == 0)
        good = fail_empty_selection(&s, node ? node : location);
    sinew_release(&reader->allocator, mask);
    if (!good) {
        sinew_release(&reader->allocator, indices);
        selected->indices = NULL;
    }
    return good;
}
