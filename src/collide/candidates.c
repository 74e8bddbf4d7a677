/* SPDX-License-Identifier: MIT
 *
 * candidates.c: finds the candidate pairs of collision detection.
 *
 *     positions -> points relative to an origin -> boxes of vertices, edges, primitives (refitted; reordered if spread)
 *               -> searches: vertices in primitives, edges in edges -> hits -> offsets in the list -> closest points
 *
 * Features of bodies and features of colliders are in separate lists: boxes of colliders at rest are not refitted,
 * and no search tests two colliders against each other. All hits of a feature come from one chunk. So counting the
 * hits gives each feature its offset in the list, and chunks fill the list in parallel.
 */
#include "collide/candidates.h"

#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "base/tasks.h"
#include "collide/narrow_phase.h"
#include "collide/broad_phase_search.h"

enum {
    /* Indices of the BVHs of vertices, edges and primitives: for each kind of feature first the BVH of bodies, then
     * that of colliders. */
    VERTICES = 0,
    EDGES = 2,
    PRIMITIVES = 4,
    LIST_COUNT = 6
};

/* Features are reordered along the Hilbert curve if the BVH's spread grows by this factor; chosen, not measured. */
#define WORSE_ORDER 1.6
#define AT_ONCE     4096
/* Coordinates above this value in m, or NaN, do not extend the frame of the boxes; pairs of such vertices may be
 * missed. */
#define FARTHEST 1e30

struct sinew_detector {
    const sinew_collision_mesh *mesh;
    sinew_allocator allocator;
    int32_t thread_count;
    const sinew_search_kernel *kernel;
    sinew_box_frame frame;
    /* True: the BVHs of colliders were last fitted to boxes that include predicted displacements. */
    bool had_predicted;
    /* bound along each axis of the distance of all points from the origin of the frame, in m; 0: no frame yet */
    double size;
    sinew_boxes lists[LIST_COUNT];
    int32_t *rank;    /* [primitive_count] index of each primitive in the list sorted by vertex numbers */
    int32_t *by_rank; /* [primitive_count] inverse of `rank`: primitive at each index of the sorted list */
    /* [the larger of vertex_count + edge_count and primitive_count] index in the list of pairs of the first hit of
     * each vertex, then of each edge; or of each primitive */
    int64_t *offsets;
    sinew_search_run pairs, intersections;
    sinew_real *middles; /* [3 * count] work space of the Hilbert order: centres of the features */
    sinew_pair *order;
    size_t middles_capacity, order_capacity;
};

/* ---- Creation of the detector ----------------------------------------------------------------- */

/* Lists the vertices first .. last - 1 that belong to a primitive, ascending; if `members` is NULL, only counts them.
 * owned [vertex_count] is work space. Returns the number of vertices. */
static int32_t detector_owned_vertices(const sinew_collision_mesh *f, int32_t first, int32_t last, uint8_t *owned,
                                       int32_t *members)
{
    int32_t count = 0;
    memset(owned, 0, (size_t)f->vertex_count);
    for (int32_t primitive = 0; primitive < f->primitive_count; primitive++)
        for (int i = 0; i < 3; i++)
            owned[f->primitives[primitive][i]] = 1;
    for (int32_t v = first; v < last; v++)
        if (owned[v]) {
            if (members)
                members[count] = v;
            count++;
        }
    return count;
}

static bool detector_make_vertices(sinew_detector *d, uint8_t *owned)
{
    const sinew_collision_mesh *f = d->mesh;
    for (int still = 0; still < 2; still++) {
        const int32_t first = still ? f->moved_count : 0, last = still ? f->vertex_count : f->moved_count;
        sinew_boxes *list = d->lists + VERTICES + still;
        const int32_t count = detector_owned_vertices(f, first, last, owned, NULL);
        if (!sinew_boxes_create(list, &d->allocator, NULL, 1, count))
            return false;
        detector_owned_vertices(f, first, last, owned, list->members);
    }
    return true;
}

/* Creates the BVHs of one kind of feature: one of body features, which come first, and one of collider features. */
static bool detector_make_list(sinew_detector *d, int list, const int32_t *vertices, int32_t width, int32_t count)
{
    int32_t moved = 0;
    while (moved < count && vertices[(size_t)moved * (size_t)width] < d->mesh->moved_count)
        moved++;
    for (int still = 0; still < 2; still++) {
        sinew_boxes *boxes = d->lists + list + still;
        const int32_t first = still ? moved : 0;
        if (!sinew_boxes_create(boxes, &d->allocator, vertices, width, still ? count - moved : moved))
            return false;
        for (int32_t n = 0; n < boxes->count; n++)
            boxes->members[n] = first + n;
    }
    return true;
}

/* Ranks primitives in the order of their vertices; among equals, by index. A sort key cannot hold four numbers, so a
 * stable sort by the last vertex precedes the sort by the other two. */
static bool detector_rank_primitives(sinew_detector *d)
{
    const sinew_collision_mesh *f = d->mesh;
    const size_t count = (size_t)f->primitive_count;
    d->rank = sinew_allocate(&d->allocator, count, sizeof *d->rank);
    d->by_rank = sinew_allocate(&d->allocator, count, sizeof *d->by_rank);
    sinew_pair *pairs = sinew_allocate(&d->allocator, 2 * count, sizeof *pairs);
    if (!d->rank || !d->by_rank || !pairs) {
        sinew_release(&d->allocator, pairs);
        return false;
    }
    for (size_t c = 0; c < count; c++)
        pairs[c] = (sinew_pair){(uint64_t)f->primitives[c][2], c};
    sinew_sort_pairs(pairs, count, pairs + count);
    for (size_t n = 0; n < count; n++)
        d->by_rank[n] = (int32_t)pairs[n].minor;
    for (size_t n = 0; n < count; n++) {
        const int32_t *primitive = f->primitives[d->by_rank[n]];
        pairs[n] = (sinew_pair){sinew_pack(primitive[0], primitive[1]), sinew_pack((int32_t)n, d->by_rank[n])};
    }
    sinew_sort_pairs(pairs, count, pairs + count);
    for (size_t n = 0; n < count; n++) {
        d->by_rank[n] = (int32_t)(pairs[n].minor & UINT32_MAX);
        d->rank[d->by_rank[n]] = (int32_t)n;
    }
    sinew_release(&d->allocator, pairs);
    return true;
}

/* Sets the BVHs that each broad-phase search compares. Vertices of colliders are searched among primitives of bodies
 * only. */
static bool detector_make_searches(sinew_detector *d)
{
    const sinew_boxes *l = d->lists;
    const sinew_search common = {.mesh = d->mesh, .rank = d->rank};
    sinew_search *s = d->pairs.searches;
    s[0] = s[1] = s[2] = d->intersections.searches[0] = common;
    s[0].kind = s[1].kind = SINEW_SEARCH_FACES;
    s[2].kind = SINEW_SEARCH_EDGES;
    d->intersections.searches[0].kind = SINEW_SEARCH_INTERSECTIONS;
    const int own[3] = {VERTICES, VERTICES + 1, EDGES}, target[3] = {PRIMITIVES, PRIMITIVES, EDGES};
    for (int i = 0; i < 3; i++) {
        s[i].own = l + own[i];
        s[i].targets[0] = l + target[i];
        s[i].targets[1] = l + target[i] + 1;
        s[i].target_count = i == 1 ? 1 : 2;
    }
    d->intersections.searches[0].own = d->intersections.searches[0].targets[0] = l + PRIMITIVES;
    d->intersections.searches[0].targets[1] = l + PRIMITIVES + 1;
    d->intersections.searches[0].target_count = 2;
    d->pairs.search_count = 3;
    d->intersections.search_count = 1;
    return sinew_search_run_create(&d->pairs, &d->allocator) &&
           sinew_search_run_create(&d->intersections, &d->allocator);
}

static bool detector_make(sinew_detector *d)
{
    const sinew_collision_mesh *f = d->mesh;
    const size_t vertices = (size_t)f->vertex_count, owners = vertices + (size_t)f->edge_count;
    const size_t offset_count = owners > (size_t)f->primitive_count ? owners : (size_t)f->primitive_count;
    uint8_t *owned = sinew_allocate(&d->allocator, vertices, sizeof *owned);
    d->frame.points = sinew_allocate_zero(&d->allocator, vertices, sizeof *d->frame.points);
    d->frame.predicted = sinew_allocate_zero(&d->allocator, vertices, sizeof *d->frame.predicted);
    d->offsets = sinew_allocate(&d->allocator, offset_count, sizeof *d->offsets);
    const bool made = owned && d->frame.points && d->frame.predicted && d->offsets &&
                      detector_make_vertices(d, owned) && detector_make_list(d, EDGES, f->edges[0], 2, f->edge_count) &&
                      detector_make_list(d, PRIMITIVES, f->primitives[0], 3, f->primitive_count) &&
                      detector_rank_primitives(d) && detector_make_searches(d);
    sinew_release(&d->allocator, owned);
    return made;
}

sinew_status sinew_detector_create(sinew_detector **detector, const sinew_collision_mesh *mesh, int32_t thread_count,
                                   sinew_error *error)
{
    *detector = sinew_allocate_zero(&mesh->allocator, 1, sizeof **detector);
    if (!*detector)
        return sinew_fail_memory(error, "the search for contacts");
    sinew_detector *d = *detector;
    d->mesh = mesh;
    d->allocator = mesh->allocator;
    d->thread_count = thread_count;
    d->kernel = sinew_search_kernel_chosen();
    if (detector_make(d))
        return SINEW_OK;
    sinew_detector_destroy(d);
    *detector = NULL;
    return sinew_fail_memory(error, "the search for contacts");
}

static void run_take_buffers(sinew_search_run *run, sinew_search_run *former)
{
    run->entries = former->entries;
    run->more = former->more;
    run->entries_capacity = former->entries_capacity;
    run->more_capacity = former->more_capacity;
    former->entries = former->more = NULL;
}

void sinew_detector_take_buffers(sinew_detector *detector, sinew_detector *former)
{
    if (!former)
        return;
    run_take_buffers(&detector->pairs, &former->pairs);
    run_take_buffers(&detector->intersections, &former->intersections);
}

void sinew_detector_destroy(sinew_detector *detector)
{
    if (!detector)
        return;
    sinew_detector *d = detector;
    const sinew_allocator allocator = d->allocator;
    for (int i = 0; i < LIST_COUNT; i++)
        sinew_boxes_destroy(d->lists + i, &allocator);
    sinew_search_run_destroy(&d->pairs, &allocator);
    sinew_search_run_destroy(&d->intersections, &allocator);
    void *const blocks[] = {d->frame.points, d->frame.predicted, d->rank,  d->by_rank,
                            d->offsets,      d->middles,         d->order, d};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        sinew_release(&allocator, blocks[i]);
}

/* ---- Boxes of features at the current positions ------------------------------------------------ */

typedef struct point_filling {
    sinew_detector *d;
    /* Input of the detection; input->inflation_radius NULL: all inflation radii are zero. */
    const sinew_detect_input *input;
} point_filling;

/* Box radius of a vertex, in m (sinew_box_frame), without its solid radius. Vertices with infinite radii of trust
 * regions collide with nothing. */
static double input_box_radius(const sinew_collision_mesh *f, const sinew_detect_input *input, int32_t v)
{
    const double near = input->inflation_radius ? (double)input->inflation_radius[v] : 0;
    if (!input->predicted)
        return near;
    const double far = (double)input->predicted[4 * (size_t)v + 3] + f->objects[f->object[v]].half_thickness;
    return far > near && far < FARTHEST ? far : near;
}

/* Length in m of the predicted displacement of one vertex. */
static double displacement_length(const sinew_real *displacement)
{
    return sqrt((double)displacement[0] * (double)displacement[0] + (double)displacement[1] * (double)displacement[1] +
                (double)displacement[2] * (double)displacement[2]);
}

/* Half the largest extent of all positions along an axis, including inflation radii and predicted displacements, in
 * m. Sets middle to the centre of the positions. */
static double input_half_extent(const sinew_detector *d, const sinew_detect_input *input, double middle[3])
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, max = 0, half = 0;
    for (int32_t o = 0; o < d->mesh->object_count; o++)
        max = fmax(max, d->mesh->objects[o].radius);
    const double radii = max;
    for (int32_t v = 0; v < d->mesh->vertex_count; v++) {
        const double displacement = input->predicted ? displacement_length(input->predicted + 4 * (size_t)v) : 0;
        const double r = displacement + input_box_radius(d->mesh, input, v);
        max = r + radii > max && r < FARTHEST ? r + radii : max;
        for (int k = 0; k < 3; k++) {
            const double at = (double)input->x[4 * (size_t)v + (size_t)k];
            low[k] = at < low[k] && at > -FARTHEST ? at : low[k];
            high[k] = at > high[k] && at < FARTHEST ? at : high[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        middle[k] = low[k] <= high[k] ? low[k] / 2 + high[k] / 2 : 0;
        half = low[k] <= high[k] ? fmax(half, high[k] / 2 - low[k] / 2) : half;
    }
    return half + max;
}

/* Keeps origin and scale of the box frame while all points are within the bound and fill at least 1/32 of it, so
 * that boxes at rest stay valid. Returns true if the frame changed. */
static bool detector_set_frame(sinew_detector *d, const sinew_detect_input *input)
{
    double middle[3], shift = 0;
    const double half = input_half_extent(d, input, middle);
    for (int k = 0; k < 3; k++)
        shift = fmax(shift, fabs(middle[k] - d->frame.origin[k]));
    if (d->size > 0 && half + shift <= d->size && half >= d->size / 32)
        return false;
    int exponent;
    frexp(2 * half > 1e-30 ? 2 * half : 1e-30, &exponent);
    d->size = ldexp(1, exponent);
    d->frame.scale = ldexp(1, -exponent);
    for (int k = 0; k < 3; k++)
        d->frame.origin[k] = middle[k];
    return true;
}

static void frame_point(const point_filling *f, int32_t v, float point[4])
{
    const sinew_detector *d = f->d;
    for (int k = 0; k < 3; k++)
        point[k] = (float)(((double)f->input->x[4 * (size_t)v + (size_t)k] - d->frame.origin[k]) * d->frame.scale);
    const double radius = input_box_radius(d->mesh, f->input, v);
    point[3] = (float)((radius + d->mesh->objects[d->mesh->object[v]].radius) * d->frame.scale);
}

static void frame_displacement(const point_filling *f, int32_t v, float displacement[3])
{
    const sinew_real *own = f->input->predicted + 4 * (size_t)v;
    for (int k = 0; k < 3; k++)
        displacement[k] = (float)((double)own[k] * f->d->frame.scale);
}

static void frame_fill_points(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const point_filling *f = context;
    for (int32_t v = first; v < last; v++) {
        frame_point(f, v, f->d->frame.points[v]);
        if (f->input->predicted)
            frame_displacement(f, v, f->d->frame.predicted[v]);
    }
}

/* True if the boxes of collider features must be refitted. Searches for intersections accept larger boxes, so they
 * keep the inflation radii of the last search for pairs. */
static bool colliders_have_changed(const point_filling *f)
{
    const sinew_collision_mesh *mesh = f->d->mesh;
    for (int32_t v = mesh->moved_count; v < mesh->vertex_count; v++) {
        const float *old = f->d->frame.points[v];
        float point[4], displacement[3] = {0};
        frame_point(f, v, point);
        if (memcmp(point, old, 3 * sizeof point[0]) != 0 || point[3] > old[3] ||
            (f->input->inflation_radius && point[3] < old[3]))
            return true;
        if (f->input->predicted)
            frame_displacement(f, v, displacement);
        if (f->input->predicted && memcmp(displacement, f->d->frame.predicted[v], sizeof displacement) != 0)
            return true;
    }
    return false;
}

static bool detector_fit_list(sinew_detector *d, sinew_boxes *list)
{
    if (list->ordered) {
        sinew_boxes_fit(list, d->mesh, &d->frame, d->thread_count);
        if (sinew_boxes_spread(list) <= WORSE_ORDER * list->spread)
            return true;
    }
    const size_t count = (size_t)list->count;
    if (!sinew_reserve(&d->allocator, &d->middles, &d->middles_capacity, 3 * count, sizeof *d->middles) ||
        !sinew_reserve(&d->allocator, &d->order, &d->order_capacity, 2 * count, sizeof *d->order))
        return false;
    sinew_boxes_order(list, &d->frame, d->middles, d->order);
    sinew_boxes_fit(list, d->mesh, &d->frame, d->thread_count);
    list->spread = sinew_boxes_spread(list);
    return true;
}

/* Fits the boxes of all features to the input. False: out of memory; the next call then refits all boxes. */
static bool detector_fit_lists(sinew_detector *d, const sinew_detect_input *input)
{
    const point_filling filling = {d, input};
    const sinew_collision_mesh *f = d->mesh;
    const bool first_predicted = input->predicted && !d->had_predicted;
    const bool all = detector_set_frame(d, input) || colliders_have_changed(&filling) || first_predicted;
    d->frame.moving = input->predicted;
    d->frame.island = input->island;
    d->had_predicted = all ? input->predicted != NULL : d->had_predicted;
    sinew_tasks_for(d->thread_count, all ? f->vertex_count : f->moved_count, AT_ONCE, frame_fill_points, &filling);
    for (int i = 0; i < LIST_COUNT; i++)
        if ((all || i % 2 == 0) && !detector_fit_list(d, d->lists + i)) {
            d->size = 0;
            return false;
        }
    return true;
}

/* ---- Offsets in the list of pairs --------------------------------------------------------------- */

typedef struct list_filling {
    sinew_detector *d;
    const sinew_search_run *run;
    const sinew_real *x;
    int64_t count; /* capacity of the list of pairs: hits at higher offsets are dropped */
    sinew_candidate *pairs;
    int32_t (*primitives)[2];
    /* Stop flag of the calling thread (base/stop.h); NULL: the list of pairs is always completed. */
    const atomic_bool *stop;
} list_filling;

/* Offsets in the list of pairs, per feature that a chunk searches with: vertex, edge or primitive. */
static int64_t *chunk_offsets(const list_filling *f, const sinew_search_chunk *chunk)
{
    const bool edges = f->run->searches[chunk->search].kind == SINEW_SEARCH_EDGES;
    return f->d->offsets + (edges ? f->d->mesh->vertex_count : 0);
}

static void list_count_chunks(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const list_filling *f = context;
    for (int32_t i = first; i < last; i++) {
        const sinew_search_chunk *chunk = f->run->chunks + i;
        int64_t *offsets = chunk_offsets(f, chunk);
        for (int64_t n = 0; n < chunk->found.count; n++)
            offsets[sinew_search_feature(f->run, chunk, chunk->found.entries[n])]++;
    }
}

/* Counts the hits of each of `count` features and turns the counts into offsets. Returns the number of hits. */
static int64_t list_offsets(const list_filling *f, size_t count)
{
    int64_t sum = 0, *offsets = f->d->offsets;
    memset(offsets, 0, count * sizeof offsets[0]);
    sinew_tasks_for(f->d->thread_count, f->run->chunk_count, 1, list_count_chunks, f);
    for (size_t i = 0; i < count; i++) {
        const int64_t own = offsets[i];
        offsets[i] = sum;
        sum += own;
    }
    return sum;
}

/* ---- List of candidate pairs ------------------------------------------------------------------ */

/* Up to four candidate pairs whose closest points are computed together. */
typedef struct pair_batch {
    const list_filling *filling;
    int count;
    sinew_candidate *pairs[4];
    double radii[4];
} pair_batch;

static void pair_batch_finish(pair_batch *b)
{
    if (b->count == 0)
        return;
    for (int i = b->count; i < 4; i++) {
        b->pairs[i] = b->pairs[b->count - 1];
        b->radii[i] = b->radii[b->count - 1];
    }
    b->filling->d->kernel->closest(b->pairs, b->filling->x, b->radii);
    b->count = 0;
}

static void list_fill_candidate(pair_batch *b, sinew_search_kind kind, int32_t first, int32_t key,
                                sinew_candidate *pair)
{
    const sinew_detector *d = b->filling->d;
    const sinew_collision_mesh *mesh = d->mesh;
    memset(pair, 0, sizeof *pair);
    pair->first = first;
    if (kind == SINEW_SEARCH_EDGES) {
        pair->kind = SINEW_CANDIDATE_EDGE_EDGE;
        pair->second = key;
        memcpy(pair->v, mesh->edges[first], 2 * sizeof pair->v[0]);
        memcpy(pair->v + 2, mesh->edges[key], 2 * sizeof pair->v[0]);
    } else {
        pair->kind = SINEW_CANDIDATE_VERTEX_FACE;
        pair->second = d->by_rank[key];
        pair->v[0] = first;
        memcpy(pair->v + 1, mesh->primitives[pair->second], 3 * sizeof pair->v[0]);
    }
    const double radii = narrow_radii(mesh, pair->v[0], pair->v[2]);
    if (pair->v[2] == pair->v[3]) {
        sinew_candidate_closest_with_radii(pair, b->filling->x, radii);
        return;
    }
    b->radii[b->count] = radii;
    b->pairs[b->count++] = pair;
    if (b->count == 4)
        pair_batch_finish(b);
}

static void list_fill_chunk(const list_filling *f, const sinew_search_chunk *chunk)
{
    const sinew_search_kind kind = f->run->searches[chunk->search].kind;
    int64_t *offsets = chunk_offsets(f, chunk);
    pair_batch batch = {.filling = f};
    for (int64_t n = 0; n < chunk->found.count; n++) {
        const uint64_t entry = chunk->found.entries[n];
        const int32_t own = sinew_search_feature(f->run, chunk, entry), key = (int32_t)(entry & UINT32_MAX);
        const int64_t at = offsets[own]++;
        if (at >= f->count)
            continue;
        if (kind == SINEW_SEARCH_INTERSECTIONS) {
            f->primitives[at][0] = own;
            f->primitives[at][1] = key;
        } else {
            list_fill_candidate(&batch, kind, own, key, f->pairs + at);
        }
    }
    pair_batch_finish(&batch);
}

static void list_fill_chunks(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const list_filling *f = context;
    for (int32_t i = first; i < last && !sinew_stop_is_set(f->stop); i++)
        list_fill_chunk(f, f->run->chunks + i);
}

/* Fits the boxes of features and runs the broad-phase searches. False: out of memory, or stopped. */
static bool detector_run_searches(sinew_detector *d, sinew_search_run *run, const sinew_detect_input *input)
{
    for (int i = 0; i < run->search_count; i++)
        run->searches[i].input = *input;
    return detector_fit_lists(d, input) && sinew_search_run_all(run, d->kernel, &d->allocator, d->thread_count);
}

sinew_status sinew_detect(sinew_detector *detector, const sinew_detect_input *input, int64_t limit,
                          sinew_candidates *pairs, sinew_error *error)
{
    sinew_detector *d = detector;
    list_filling filling = {.d = d, .run = &d->pairs, .x = input->x, .stop = sinew_stop_flag()};
    pairs->count = pairs->dropped = 0;
    if (!detector_run_searches(d, &d->pairs, input))
        return sinew_fail_memory(error, "the search for contacts");
    const int64_t all = list_offsets(&filling, (size_t)d->mesh->vertex_count + (size_t)d->mesh->edge_count);
    filling.count = limit > 0 && limit < all ? limit : all;
    if (!sinew_reserve_spare(&d->allocator, &pairs->list, &pairs->capacity_bytes, (size_t)filling.count,
                             sizeof *pairs->list))
        return sinew_fail_memory(error, "the list of contacts");
    filling.pairs = pairs->list;
    sinew_tasks_for(d->thread_count, d->pairs.chunk_count, 1, list_fill_chunks, &filling);
    if (sinew_stop_came())
        return SINEW_ERROR_INTERRUPTED;
    pairs->count = filling.count;
    pairs->dropped = all - filling.count;
    return SINEW_OK;
}

void sinew_candidates_release(sinew_candidates *pairs, const sinew_allocator *allocator)
{
    sinew_release(allocator, pairs->list);
    *pairs = (sinew_candidates){0};
}

/* ---- Intersecting primitives ------------------------------------------------------------------ */

int64_t sinew_detect_intersections(sinew_detector *detector, const sinew_real *x, int32_t (*primitives)[2],
                                   int64_t capacity)
{
    sinew_detector *d = detector;
    list_filling filling = {.d = d, .run = &d->intersections, .x = x, .primitives = primitives, .count = capacity};
    if (!detector_run_searches(d, &d->intersections, &(sinew_detect_input){.x = x}))
        return -1;
    const int64_t all = list_offsets(&filling, (size_t)d->mesh->primitive_count);
    if (capacity > 0)
        sinew_tasks_for(d->thread_count, d->intersections.chunk_count, 1, list_fill_chunks, &filling);
    return all;
}
