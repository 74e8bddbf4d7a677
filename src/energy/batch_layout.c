/* SPDX-License-Identifier: MIT
 *
 * batch_layout.c: the order of elements, and tets joined to fans. See batch_layout.h.
 *
 * Fans are chosen greedily: whoever has the fewest neighbours left goes first and takes the neighbour, and that one's
 * neighbour, with the fewest left. So few remain alone.
 */
#include "energy/batch_layout.h"

#include <string.h>

#include "base/counting_sort.h"

enum {
    FACES = 4 * SINEW_CHUNK_ELEMENTS,
    TABLE = 2 * FACES,
    NONE = -1
};

/* Work space for the tets of one chunk, numbered from 0 in the order of the chunk. */
typedef struct chunk_draft {
    int32_t count;
    int32_t tet[SINEW_CHUNK_ELEMENTS][4];
    int32_t neighbour[SINEW_CHUNK_ELEMENTS][4]; /* beyond the face opposite to a vertex: 4 tet + vertex there, NONE */
    int32_t table[TABLE];                       /* by the hash of a face: 4 tet + vertex, NONE */
    int32_t left[SINEW_CHUNK_ELEMENTS];         /* neighbours that are not in a fan; NONE: is itself in one */
    int32_t queue[5][SINEW_CHUNK_ELEMENTS];     /* by neighbours left; entries may be out of date */
    int32_t queued[5];
    int32_t fan[SINEW_CHUNK_ELEMENTS][SINEW_FAN]; /* at a fan's lowest tet: its tets in turn, NONE behind them */
    int32_t order[SINEW_CHUNK_ELEMENTS];          /* of the chunk in the plan */
} chunk_draft;

/* ---- Neighbours -------------------------------------------------------------------------------- */

static void swap_down(int32_t *low, int32_t *high)
{
    const int32_t least = *low < *high ? *low : *high;
    *high = *low < *high ? *high : *low;
    *low = least;
}

/* The three vertices opposite to one, ascending. */
static void face_of(const int32_t tet[4], int vertex, int32_t face[3])
{
    for (int i = 0; i < 3; i++)
        face[i] = tet[i + (i >= vertex)];
    swap_down(&face[0], &face[1]);
    swap_down(&face[1], &face[2]);
    swap_down(&face[0], &face[1]);
}

static uint32_t hash_face(const int32_t face[3])
{
    uint32_t hash = 0;
    for (int i = 0; i < 3; i++)
        hash = (hash ^ (uint32_t)face[i]) * 2654435761u;
    return hash >> 8;
}

/* Joins faces two by two; a third tet at a face finds nobody. */
static void join_face(chunk_draft *d, int32_t side)
{
    int32_t face[3], other[3];
    face_of(d->tet[side / 4], side % 4, face);
    for (uint32_t slot = hash_face(face) % TABLE;; slot = (slot + 1) % TABLE) {
        const int32_t found = d->table[slot];
        if (found == NONE) {
            d->table[slot] = side;
            return;
        }
        face_of(d->tet[found / 4], found % 4, other);
        if (memcmp(face, other, sizeof face) != 0 || found / 4 == side / 4)
            continue;
        if (d->neighbour[found / 4][found % 4] == NONE) {
            d->neighbour[found / 4][found % 4] = side;
            d->neighbour[side / 4][side % 4] = found;
        }
        return;
    }
}

static void find_neighbours(chunk_draft *d)
{
    memset(d->table, 0xff, sizeof d->table);
    memset(d->neighbour, 0xff, sizeof d->neighbour);
    for (int32_t side = 0; side < 4 * d->count; side++)
        join_face(d, side);
}

/* ---- Fans -------------------------------------------------------------------------------------- */

static void enqueue(chunk_draft *d, int32_t tet)
{
    d->queue[d->left[tet]][d->queued[d->left[tet]]++] = tet;
}

/* The next tet that is in no fan, with the fewest neighbours left; NONE. */
static int32_t dequeue(chunk_draft *d)
{
    for (int32_t left = 0; left <= 4; left++)
        while (d->queued[left] > 0) {
            const int32_t tet = d->queue[left][--d->queued[left]];
            if (d->left[tet] == left)
                return tet;
        }
    return NONE;
}

/* The vertex of `tet` beyond whose opposite face the neighbour with the fewest left is; NONE. */
static int32_t best_side(const chunk_draft *d, int32_t tet)
{
    int32_t best = NONE, fewest = 5;
    for (int32_t i = 0; i < 4; i++) {
        const int32_t other = d->neighbour[tet][i] / 4;
        if (d->neighbour[tet][i] == NONE || d->left[other] == NONE || d->left[other] >= fewest)
            continue;
        fewest = d->left[other];
        best = i;
    }
    return best;
}

static void take(chunk_draft *d, int32_t tet)
{
    d->left[tet] = NONE;
    for (int i = 0; i < 4; i++) {
        const int32_t side = d->neighbour[tet][i];
        if (side == NONE || d->left[side / 4] == NONE)
            continue;
        d->left[side / 4]--;
        enqueue(d, side / 4);
    }
}

/* Reorders the vertices of a fan as batch_layout.h has them: of its middle tet B, and of the tets beyond B's vertices p (A) and
 * r (C). r is NONE in a fan of two, whose vertices 0 and 1 are any. */
static void reorder_fan(chunk_draft *d, int32_t middle, int32_t p, int32_t r)
{
    const int32_t two = r != NONE ? r : (p + 1) % 4;
    const int32_t sides[2] = {d->neighbour[middle][p], r != NONE ? d->neighbour[middle][r] : NONE};
    int32_t edge[2], found = 0;
    for (int32_t i = 0; i < 4; i++)
        if (i != p && i != two)
            edge[found++] = d->tet[middle][i];
    const int32_t B[4] = {edge[0], edge[1], d->tet[middle][two], d->tet[middle][p]};
    const int32_t A[4] = {edge[0], edge[1], B[2], d->tet[sides[0] / 4][sides[0] % 4]};
    memcpy(d->tet[sides[0] / 4], A, sizeof A);
    if (r != NONE) {
        const int32_t C[4] = {edge[0], edge[1], B[3], d->tet[sides[1] / 4][sides[1] % 4]};
        memcpy(d->tet[sides[1] / 4], C, sizeof C);
    }
    memcpy(d->tet[middle], B, sizeof B);
}

/* Makes a fan of tet `first`, the neighbour with the fewest neighbours left, and one beyond either of the two, as far
 * as there are such; notes it at its lowest tet. */
static void join_fan(chunk_draft *d, int32_t first)
{
    int32_t fan[SINEW_FAN] = {first, NONE, NONE};
    take(d, first);
    const int32_t side = best_side(d, first);
    if (side != NONE) {
        const int32_t beyond = d->neighbour[first][side];
        fan[1] = beyond / 4;
        take(d, fan[1]);
        /* Behind the second, or else the first is in the middle. */
        int32_t middle = fan[1], p = beyond % 4, r = best_side(d, middle);
        if (r == NONE) {
            const int32_t other = best_side(d, first);
            if (other != NONE) {
                middle = first;
                p = side;
                r = other;
                fan[0] = fan[1];
                fan[1] = first;
            }
        }
        if (r != NONE) {
            fan[2] = d->neighbour[middle][r] / 4;
            take(d, fan[2]);
        }
        reorder_fan(d, middle, p, r);
    }
    int32_t lowest = fan[0];
    for (int i = 1; i < SINEW_FAN && fan[i] != NONE; i++)
        lowest = fan[i] < lowest ? fan[i] : lowest;
    memcpy(d->fan[lowest], fan, sizeof fan);
}

/* Every tet of the chunk into a fan, those with the fewest neighbours first. */
static void join_fans(chunk_draft *d)
{
    memset(d->queued, 0, sizeof d->queued);
    memset(d->fan, 0xff, sizeof d->fan);
    for (int32_t t = 0; t < d->count; t++) {
        d->left[t] = 0;
        for (int i = 0; i < 4; i++)
            d->left[t] += d->neighbour[t][i] != NONE;
    }
    for (int32_t t = d->count - 1; t >= 0; t--)
        enqueue(d, t);
    for (int32_t t = dequeue(d); t != NONE; t = dequeue(d))
        join_fan(d, t);
}

static int32_t fan_size(const int32_t fan[SINEW_FAN])
{
    int32_t size = 0;
    while (size < SINEW_FAN && fan[size] != NONE)
        size++;
    return size;
}

/* ---- Plan -------------------------------------------------------------------------------------- */

/* The tets of a chunk, whose elements are order[0..count-1], as fans. */
static void plan_chunk(chunk_draft *d, int32_t *order, int32_t *particles, int32_t fans[SINEW_FAN])
{
    for (int32_t t = 0; t < d->count; t++)
        memcpy(d->tet[t], particles + 4 * (size_t)order[t], sizeof d->tet[t]);
    find_neighbours(d);
    join_fans(d);
    for (int32_t t = 0; t < d->count; t++)
        memcpy(particles + 4 * (size_t)order[t], d->tet[t], sizeof d->tet[t]);
    int32_t placed = 0;
    for (int32_t size = SINEW_FAN; size >= 1; size--)
        for (int32_t t = 0; t < d->count; t++) {
            if (fan_size(d->fan[t]) != size)
                continue;
            fans[size - 1]++;
            for (int32_t i = 0; i < size; i++)
                d->order[placed++] = order[d->fan[t][i]];
        }
    memcpy(order, d->order, (size_t)d->count * sizeof *order);
}

int32_t sinew_plan_chunk(const sinew_plan *plan, int32_t chunk)
{
    const int32_t rest = plan->element_count - chunk * SINEW_CHUNK_ELEMENTS;
    return rest < SINEW_CHUNK_ELEMENTS ? rest : SINEW_CHUNK_ELEMENTS;
}

static bool make_room(sinew_plan *plan, const sinew_allocator *allocator, int32_t particle_count)
{
    return sinew_make_room(allocator, &plan->order, &plan->order_room, (size_t)plan->element_count,
                           sizeof *plan->order) &&
           sinew_make_room(allocator, &plan->fans, &plan->fan_room, (size_t)plan->chunk_count, sizeof *plan->fans) &&
           sinew_make_spare_room(allocator, &plan->work, &plan->work_room, (size_t)particle_count + 1,
                                 sizeof *plan->work);
}

bool sinew_plan_make(sinew_plan *plan, const sinew_allocator *allocator, int32_t element_count, int32_t n,
                     int32_t particle_count, bool tets, int32_t *particles)
{
    plan->element_count = element_count;
    plan->chunk_count = (element_count + SINEW_CHUNK_ELEMENTS - 1) / SINEW_CHUNK_ELEMENTS;
    chunk_draft *draft = tets ? sinew_allocate(allocator, 1, sizeof *draft) : NULL;
    const bool good = make_room(plan, allocator, particle_count) && (draft || !tets);
    if (good) {
        memset(plan->fans, 0, (size_t)plan->chunk_count * sizeof *plan->fans);
        sinew_order_by_lowest(particles, element_count, n, particle_count, plan->work, plan->order);
    }
    for (int32_t chunk = 0; good && chunk < plan->chunk_count; chunk++) {
        const int32_t count = sinew_plan_chunk(plan, chunk);
        if (tets) {
            draft->count = count;
            plan_chunk(draft, plan->order + chunk * SINEW_CHUNK_ELEMENTS, particles, plan->fans[chunk]);
        } else {
            plan->fans[chunk][0] = count;
        }
    }
    sinew_release(allocator, draft);
    return good;
}

void sinew_plan_release(sinew_plan *plan, const sinew_allocator *allocator)
{
    sinew_release(allocator, plan->order);
    sinew_release(allocator, plan->fans);
    sinew_release(allocator, plan->work);
    *plan = (sinew_plan){0};
}
