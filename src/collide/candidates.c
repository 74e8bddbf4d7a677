/* SPDX-License-Identifier: MIT
 *
 * candidates.c: pairs of near features.
 *
 *     positions -> points around an origin -> boxes of vertices, edges, cells (fitted; ordered anew where they spread)
 *               -> searches: vertices in cells, edges in edges -> findings -> places in the list -> closest points
 *
 * Features that move and those of colliders have lists of their own: colliders that stand still are not fitted again,
 * and nothing looks for pairs of two of them. Findings of a feature all come from one chunk, so that counting them
 * gives each its place in the list, and chunks fill the list side by side.
 */
#include "collide/candidates.h"

#include <math.h>
#include <string.h>

#include "base/tasks.h"
#include "collide/reach_test.h"
#include "collide/broad_phase_search.h"

enum {
    VERTICES = 0, /* each first those that move, then those of colliders */
    EDGES = 2,
    CELLS = 4,
    LIST_COUNT = 6
};

#define WORSE_ORDER 1.6 /* spread of nodes, over that when they were ordered, from which on they are ordered anew */
#define AT_ONCE     4096
#define FARTHEST    1e30 /* m: what is beyond, or not a number, touches nothing */

struct sinew_detector {
    const sinew_features *features;
    sinew_allocator allocator;
    int32_t thread_count;
    const sinew_search_kernel *kernel;
    sinew_box_frame frame;
    bool had_ways; /* boxes of colliders were last fitted with ways */
    double size;   /* of the frame: no point is farther from the origin; 0: none yet */
    sinew_boxes lists[LIST_COUNT];
    int32_t *rank;    /* [cell_count] of cells in the order of their vertices */
    int32_t *by_rank; /* [cell_count] its inverse */
    int64_t *begins;  /* places in the list: of vertices, then of edges; or of cells */
    sinew_search_run pairs, crossings;
    sinew_real *middles; /* of an order */
    sinew_pair *order;
    size_t middles_room, order_room;
};

/* ---- Making ----------------------------------------------------------------------------------- */

/* Vertices that have a cell, in ascending order; only those from `first` to `last`. Counts without an array. */
static int32_t owned_vertices(const sinew_features *f, int32_t first, int32_t last, uint8_t *owned, int32_t *members)
{
    int32_t count = 0;
    memset(owned, 0, (size_t)f->vertex_count);
    for (int32_t cell = 0; cell < f->cell_count; cell++)
        for (int i = 0; i < 3; i++)
            owned[f->cells[cell][i]] = 1;
    for (int32_t v = first; v < last; v++)
        if (owned[v]) {
            if (members)
                members[count] = v;
            count++;
        }
    return count;
}

static bool make_vertices(sinew_detector *d, uint8_t *owned)
{
    const sinew_features *f = d->features;
    for (int still = 0; still < 2; still++) {
        const int32_t first = still ? f->moved_count : 0, last = still ? f->vertex_count : f->moved_count;
        sinew_boxes *list = d->lists + VERTICES + still;
        const int32_t count = owned_vertices(f, first, last, owned, NULL);
        if (!sinew_boxes_create(list, &d->allocator, NULL, 1, count))
            return false;
        owned_vertices(f, first, last, owned, list->members);
    }
    return true;
}

/* Features of which the first ones move: two lists, one after the other. */
static bool make_list(sinew_detector *d, int list, const int32_t *vertices, int32_t width, int32_t count)
{
    int32_t moved = 0;
    while (moved < count && vertices[(size_t)moved * (size_t)width] < d->features->moved_count)
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

/* Ranks of cells in the order of their vertices; of two with the same, the lower first. Four numbers a cell do not fit
 * a pair, so cells are sorted by the last vertex first; the order of equals is kept. */
static bool rank_cells(sinew_detector *d)
{
    const sinew_features *f = d->features;
    const size_t count = (size_t)f->cell_count;
    d->rank = sinew_allocate(&d->allocator, count, sizeof *d->rank);
    d->by_rank = sinew_allocate(&d->allocator, count, sizeof *d->by_rank);
    sinew_pair *pairs = sinew_allocate(&d->allocator, 2 * count, sizeof *pairs);
    if (!d->rank || !d->by_rank || !pairs) {
        sinew_release(&d->allocator, pairs);
        return false;
    }
    for (size_t c = 0; c < count; c++)
        pairs[c] = (sinew_pair){(uint64_t)f->cells[c][2], c};
    sinew_sort_pairs(pairs, count, pairs + count);
    for (size_t n = 0; n < count; n++)
        d->by_rank[n] = (int32_t)pairs[n].minor;
    for (size_t n = 0; n < count; n++) {
        const int32_t *cell = f->cells[d->by_rank[n]];
        pairs[n] = (sinew_pair){sinew_pack(cell[0], cell[1]), sinew_pack((int32_t)n, d->by_rank[n])};
    }
    sinew_sort_pairs(pairs, count, pairs + count);
    for (size_t n = 0; n < count; n++) {
        d->by_rank[n] = (int32_t)(pairs[n].minor & UINT32_MAX);
        d->rank[d->by_rank[n]] = (int32_t)n;
    }
    sinew_release(&d->allocator, pairs);
    return true;
}

/* What is looked for in what. Colliders' vertices look into what moves only. */
static bool make_searches(sinew_detector *d)
{
    const sinew_boxes *l = d->lists;
    const sinew_search common = {.features = d->features, .rank = d->rank};
    sinew_search *s = d->pairs.searches;
    s[0] = s[1] = s[2] = d->crossings.searches[0] = common;
    s[0].kind = s[1].kind = SINEW_SEARCH_FACES;
    s[2].kind = SINEW_SEARCH_EDGES;
    d->crossings.searches[0].kind = SINEW_SEARCH_CROSSINGS;
    const int own[3] = {VERTICES, VERTICES + 1, EDGES}, target[3] = {CELLS, CELLS, EDGES};
    for (int i = 0; i < 3; i++) {
        s[i].own = l + own[i];
        s[i].targets[0] = l + target[i];
        s[i].targets[1] = l + target[i] + 1;
        s[i].target_count = i == 1 ? 1 : 2;
    }
    d->crossings.searches[0].own = d->crossings.searches[0].targets[0] = l + CELLS;
    d->crossings.searches[0].targets[1] = l + CELLS + 1;
    d->crossings.searches[0].target_count = 2;
    d->pairs.search_count = 3;
    d->crossings.search_count = 1;
    return sinew_search_run_create(&d->pairs, &d->allocator) && sinew_search_run_create(&d->crossings, &d->allocator);
}

static bool make_detector(sinew_detector *d)
{
    const sinew_features *f = d->features;
    const size_t vertices = (size_t)f->vertex_count, features = vertices + (size_t)f->edge_count;
    const size_t places = features > (size_t)f->cell_count ? features : (size_t)f->cell_count;
    uint8_t *owned = sinew_allocate(&d->allocator, vertices, sizeof *owned);
    d->frame.points = sinew_allocate_zero(&d->allocator, vertices, sizeof *d->frame.points);
    d->frame.ways = sinew_allocate_zero(&d->allocator, vertices, sizeof *d->frame.ways);
    d->begins = sinew_allocate(&d->allocator, places, sizeof *d->begins);
    const bool made = owned && d->frame.points && d->frame.ways && d->begins && make_vertices(d, owned) &&
                      make_list(d, EDGES, f->edges[0], 2, f->edge_count) &&
                      make_list(d, CELLS, f->cells[0], 3, f->cell_count) && rank_cells(d) && make_searches(d);
    sinew_release(&d->allocator, owned);
    return made;
}

sinew_status sinew_detector_create(sinew_detector **detector, const sinew_features *features, int32_t thread_count,
                                   sinew_error *error)
{
    *detector = sinew_allocate_zero(&features->allocator, 1, sizeof **detector);
    if (!*detector)
        return sinew_fail_memory(error, "the search for contacts");
    sinew_detector *d = *detector;
    d->features = features;
    d->allocator = features->allocator;
    d->thread_count = thread_count;
    d->kernel = sinew_search_kernel_chosen();
    if (make_detector(d))
        return SINEW_OK;
    sinew_detector_destroy(d);
    *detector = NULL;
    return sinew_fail_memory(error, "the search for contacts");
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
    sinew_search_run_destroy(&d->crossings, &allocator);
    void *const blocks[] = {d->frame.points, d->frame.ways, d->rank, d->by_rank, d->begins, d->middles, d->order, d};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        sinew_release(&allocator, blocks[i]);
}

/* ---- Boxes of where things are now ------------------------------------------------------------- */

typedef struct point_filling {
    sinew_detector *d;
    const sinew_detect_places *places; /* reach NULL: none */
} point_filling;

/* m */
static double way_length(const sinew_real *way)
{
    return sqrt((double)way[0] * (double)way[0] + (double)way[1] * (double)way[1] + (double)way[2] * (double)way[2]);
}

/* Half the extent of all positions around their middle, reach included. */
static double half_extent(const sinew_detector *d, const sinew_detect_places *places, double middle[3])
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, most = 0, half = 0;
    for (int32_t o = 0; o < d->features->object_count; o++)
        most = fmax(most, d->features->objects[o].core);
    const double cores = most;
    for (int32_t v = 0; v < d->features->vertex_count; v++) {
        const double way = places->ways ? way_length(places->ways + 4 * (size_t)v) : 0;
        const double r = way + (places->reach ? (double)places->reach[v] : 0);
        most = r + cores > most && r < FARTHEST ? r + cores : most;
        for (int k = 0; k < 3; k++) {
            const double at = (double)places->x[4 * (size_t)v + (size_t)k];
            low[k] = at < low[k] && at > -FARTHEST ? at : low[k];
            high[k] = at > high[k] && at < FARTHEST ? at : high[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        middle[k] = low[k] <= high[k] ? low[k] / 2 + high[k] / 2 : 0;
        half = low[k] <= high[k] ? fmax(half, high[k] / 2 - low[k] / 2) : half;
    }
    return half + most;
}

/* Keeps the origin as long as it serves, so that boxes of what does not move stay right. True: it is new. */
static bool set_frame(sinew_detector *d, const sinew_detect_places *places)
{
    double middle[3], shift = 0;
    const double half = half_extent(d, places, middle);
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

static void point_of(const point_filling *f, int32_t v, float point[4])
{
    const sinew_detector *d = f->d;
    for (int k = 0; k < 3; k++)
        point[k] = (float)(((double)f->places->x[4 * (size_t)v + (size_t)k] - d->frame.origin[k]) * d->frame.scale);
    const double reach = f->places->reach ? (double)f->places->reach[v] : 0;
    point[3] = (float)((reach + d->features->objects[d->features->object[v]].core) * d->frame.scale);
}

static void way_of(const point_filling *f, int32_t v, float way[4])
{
    const sinew_real *own = f->places->ways + 4 * (size_t)v;
    for (int k = 0; k < 3; k++)
        way[k] = (float)((double)own[k] * f->d->frame.scale);
    way[3] = (float)(way_length(own) * f->d->frame.scale);
}

static void fill_points(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const point_filling *f = context;
    for (int32_t v = first; v < last; v++) {
        point_of(f, v, f->d->frame.points[v]);
        if (f->places->ways)
            way_of(f, v, f->d->frame.ways[v]);
    }
}

/* Whether boxes of colliders are not what they should be. Crossings do with larger ones: reaches stay from the last
 * pairs.
 */
static bool has_changed(const point_filling *f)
{
    const sinew_features *features = f->d->features;
    for (int32_t v = features->moved_count; v < features->vertex_count; v++) {
        const float *old = f->d->frame.points[v];
        float point[4], way[4] = {0};
        point_of(f, v, point);
        if (memcmp(point, old, 3 * sizeof point[0]) != 0 || point[3] > old[3] ||
            (f->places->reach && point[3] < old[3]))
            return true;
        if (f->places->ways)
            way_of(f, v, way);
        if (f->places->ways && memcmp(way, f->d->frame.ways[v], sizeof way) != 0)
            return true;
    }
    return false;
}

static bool fit_list(sinew_detector *d, sinew_boxes *list)
{
    if (list->ordered) {
        sinew_boxes_fit(list, d->features, &d->frame, d->thread_count);
        if (sinew_boxes_spread(list) <= WORSE_ORDER * list->spread)
            return true;
    }
    const size_t count = (size_t)list->count;
    if (!sinew_make_room(&d->allocator, &d->middles, &d->middles_room, 3 * count, sizeof *d->middles) ||
        !sinew_make_room(&d->allocator, &d->order, &d->order_room, 2 * count, sizeof *d->order))
        return false;
    sinew_boxes_order(list, &d->frame, d->middles, d->order);
    sinew_boxes_fit(list, d->features, &d->frame, d->thread_count);
    list->spread = sinew_boxes_spread(list);
    return true;
}

/* Boxes where things are now. False: no memory; then all are fitted anew the next time. */
static bool fit_lists(sinew_detector *d, const sinew_detect_places *places)
{
    const point_filling filling = {d, places};
    const sinew_features *f = d->features;
    const bool first_ways = places->ways && !d->had_ways;
    const bool all = set_frame(d, places) || has_changed(&filling) || first_ways;
    d->frame.moving = places->ways;
    d->had_ways = all ? places->ways != NULL : d->had_ways;
    sinew_tasks_for(d->thread_count, all ? f->vertex_count : f->moved_count, AT_ONCE, fill_points, &filling);
    for (int i = 0; i < LIST_COUNT; i++)
        if ((all || i % 2 == 0) && !fit_list(d, d->lists + i)) {
            d->size = 0;
            return false;
        }
    return true;
}

/* ---- Places in a list ------------------------------------------------------------------------- */

typedef struct list_filling {
    sinew_detector *d;
    const sinew_search_run *run;
    const sinew_real *x;
    int64_t count; /* those beyond are dropped */
    sinew_touch_pair *pairs;
    int32_t (*cells)[2];
} list_filling;

/* Where the features of a chunk begin among vertices and edges, or among cells. */
static int64_t *begins_of(const list_filling *f, const sinew_search_chunk *chunk)
{
    const bool edges = f->run->searches[chunk->search].kind == SINEW_SEARCH_EDGES;
    return f->d->begins + (edges ? f->d->features->vertex_count : 0);
}

static void count_chunks(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const list_filling *f = context;
    for (int32_t i = first; i < last; i++) {
        const sinew_search_chunk *chunk = f->run->chunks + i;
        int64_t *begins = begins_of(f, chunk);
        for (int64_t n = 0; n < chunk->found.count; n++)
            begins[sinew_search_feature(f->run, chunk, chunk->found.entries[n])]++;
    }
}

/* Findings of each of `count` features are counted, and the counts become places. Returns how many there are. */
static int64_t make_places(const list_filling *f, size_t count)
{
    int64_t sum = 0, *begins = f->d->begins;
    memset(begins, 0, count * sizeof begins[0]);
    sinew_tasks_for(f->d->thread_count, f->run->chunk_count, 1, count_chunks, f);
    for (size_t i = 0; i < count; i++) {
        const int64_t own = begins[i];
        begins[i] = sum;
        sum += own;
    }
    return sum;
}

/* ---- Pairs ------------------------------------------------------------------------------------ */

/* Pairs whose closest points are computed together. */
typedef struct pair_batch {
    const list_filling *filling;
    int count;
    sinew_touch_pair *pairs[4];
    double cores[4];
} pair_batch;

static void finish_batch(pair_batch *b)
{
    if (b->count == 0)
        return;
    for (int i = b->count; i < 4; i++) {
        b->pairs[i] = b->pairs[b->count - 1];
        b->cores[i] = b->cores[b->count - 1];
    }
    b->filling->d->kernel->closest(b->pairs, b->filling->x, b->cores);
    b->count = 0;
}

static void fill_pair(pair_batch *b, sinew_search_kind kind, int32_t first, int32_t key, sinew_touch_pair *pair)
{
    const sinew_detector *d = b->filling->d;
    const sinew_features *features = d->features;
    memset(pair, 0, sizeof *pair);
    pair->first = first;
    if (kind == SINEW_SEARCH_EDGES) {
        pair->kind = SINEW_PAIR_EDGES;
        pair->second = key;
        memcpy(pair->v, features->edges[first], 2 * sizeof pair->v[0]);
        memcpy(pair->v + 2, features->edges[key], 2 * sizeof pair->v[0]);
    } else {
        pair->kind = SINEW_PAIR_FACE;
        pair->second = d->by_rank[key];
        pair->v[0] = first;
        memcpy(pair->v + 1, features->cells[pair->second], 3 * sizeof pair->v[0]);
    }
    const double cores = near_cores(features, pair->v[0], pair->v[2]);
    if (pair->v[2] == pair->v[3]) {
        sinew_pair_closest_less(pair, b->filling->x, cores);
        return;
    }
    b->cores[b->count] = cores;
    b->pairs[b->count++] = pair;
    if (b->count == 4)
        finish_batch(b);
}

static void fill_chunk(const list_filling *f, const sinew_search_chunk *chunk)
{
    const sinew_search_kind kind = f->run->searches[chunk->search].kind;
    int64_t *begins = begins_of(f, chunk);
    pair_batch batch = {.filling = f};
    for (int64_t n = 0; n < chunk->found.count; n++) {
        const uint64_t entry = chunk->found.entries[n];
        const int32_t own = sinew_search_feature(f->run, chunk, entry), key = (int32_t)(entry & UINT32_MAX);
        const int64_t at = begins[own]++;
        if (at >= f->count)
            continue;
        if (kind == SINEW_SEARCH_CROSSINGS) {
            f->cells[at][0] = own;
            f->cells[at][1] = key;
        } else {
            fill_pair(&batch, kind, own, key, f->pairs + at);
        }
    }
    finish_batch(&batch);
}

static void fill_chunks(const void *context, int32_t member, int32_t first, int32_t last)
{
    (void)member;
    const list_filling *f = context;
    for (int32_t i = first; i < last; i++)
        fill_chunk(f, f->run->chunks + i);
}

/* Finds what the run looks for at x. False without memory. */
static bool run_searches(sinew_detector *d, sinew_search_run *run, const sinew_detect_places *places)
{
    for (int i = 0; i < run->search_count; i++) {
        run->searches[i].x = places->x;
        run->searches[i].reach = places->reach;
        run->searches[i].ways = places->ways;
    }
    return fit_lists(d, places) && sinew_search_run_all(run, d->kernel, &d->allocator, d->thread_count);
}

sinew_status sinew_detect(sinew_detector *detector, const sinew_detect_places *places, int64_t limit,
                          sinew_touch_pairs *pairs, sinew_error *error)
{
    sinew_detector *d = detector;
    list_filling filling = {.d = d, .run = &d->pairs, .x = places->x};
    pairs->count = pairs->dropped = 0;
    if (!run_searches(d, &d->pairs, places))
        return sinew_fail_memory(error, "the search for contacts");
    const int64_t all = make_places(&filling, (size_t)d->features->vertex_count + (size_t)d->features->edge_count);
    filling.count = limit > 0 && limit < all ? limit : all;
    if (!sinew_make_spare_room(&d->allocator, &pairs->list, &pairs->room, (size_t)filling.count, sizeof *pairs->list))
        return sinew_fail_memory(error, "the list of contacts");
    filling.pairs = pairs->list;
    sinew_tasks_for(d->thread_count, d->pairs.chunk_count, 1, fill_chunks, &filling);
    pairs->count = filling.count;
    pairs->dropped = all - filling.count;
    return SINEW_OK;
}

void sinew_touch_pairs_release(sinew_touch_pairs *pairs, const sinew_allocator *allocator)
{
    sinew_release(allocator, pairs->list);
    *pairs = (sinew_touch_pairs){0};
}

/* ---- Crossings -------------------------------------------------------------------------------- */

int64_t sinew_detect_crossings(sinew_detector *detector, const sinew_real *x, int32_t (*cells)[2], int64_t capacity)
{
    sinew_detector *d = detector;
    list_filling filling = {.d = d, .run = &d->crossings, .x = x, .cells = cells, .count = capacity};
    if (!run_searches(d, &d->crossings, &(sinew_detect_places){.x = x}))
        return -1;
    const int64_t all = make_places(&filling, (size_t)d->features->cell_count);
    if (capacity > 0)
        sinew_tasks_for(d->thread_count, d->crossings.chunk_count, 1, fill_chunks, &filling);
    return all;
}
