/* SPDX-License-Identifier: MIT
 *
 * batch_layout.c: sorts the elements of a batch and joins tets that share faces to fans. See batch_layout.h.
 *
 * Fans are built greedily: the tet with the fewest free neighbours is joined with its neighbour that has the fewest
 * free neighbours, and with a neighbour of either. A tet is free while it is in no fan.
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
typedef struct chunk_builder {
    int32_t count;
    int32_t tet[SINEW_CHUNK_ELEMENTS][4];
    /* [tet of the chunk][face] 4 * neighbour tet + its vertex opposite to the common face, or NONE */
    int32_t neighbour[SINEW_CHUNK_ELEMENTS][4];
    /* hash table of tet faces: 4 * tet + opposite vertex; NONE: empty entry */
    int32_t table[TABLE];
    /* [tet of the chunk] number of neighbours that are not in a fan; NONE: the tet is in a fan */
    int32_t left[SINEW_CHUNK_ELEMENTS];
    /* lists of tets by number of neighbours that are not in a fan; entries may be out of date */
    int32_t queue[5][SINEW_CHUNK_ELEMENTS];
    int32_t queued[5];
    /* [tet of the chunk] indices of the tets of each fan, stored at its lowest tet; NONE: unused */
    int32_t fan[SINEW_CHUNK_ELEMENTS][SINEW_FAN];
    int32_t order[SINEW_CHUNK_ELEMENTS]; /* element indices of the chunk's tets in the order of the layout */
} chunk_builder;

/* ---- Face neighbours of the tets of a chunk ------------------------------------------------------ */

static void sort_two(int32_t *low, int32_t *high)
{
    const int32_t min = *low < *high ? *low : *high;
    *high = *low < *high ? *high : *low;
    *low = min;
}

/* The three vertices of a tet opposite to `vertex`, ascending. */
static void tet_face(const int32_t tet[4], int vertex, int32_t face[3])
{
    for (int i = 0; i < 3; i++)
        face[i] = tet[i + (i >= vertex)];
    sort_two(&face[0], &face[1]);
    sort_two(&face[1], &face[2]);
    sort_two(&face[0], &face[1]);
}

static uint32_t hash_face(const int32_t face[3])
{
    uint32_t hash = 0;
    for (int i = 0; i < 3; i++)
        hash = (hash ^ (uint32_t)face[i]) * 2654435761u;
    return hash >> 8;
}

/* Finds the neighbour across a face. If more than two tets share the face, only the first two become neighbours. */
static void link_face_neighbours(chunk_builder *d, int32_t side)
{
    int32_t face[3], other[3];
    tet_face(d->tet[side / 4], side % 4, face);
    for (uint32_t slot = hash_face(face) % TABLE;; slot = (slot + 1) % TABLE) {
        const int32_t found = d->table[slot];
        if (found == NONE) {
            d->table[slot] = side;
            return;
        }
        tet_face(d->tet[found / 4], found % 4, other);
        if (memcmp(face, other, sizeof face) != 0 || found / 4 == side / 4)
            continue;
        if (d->neighbour[found / 4][found % 4] == NONE) {
            d->neighbour[found / 4][found % 4] = side;
            d->neighbour[side / 4][side % 4] = found;
        }
        return;
    }
}

static void find_neighbours(chunk_builder *d)
{
    memset(d->table, 0xff, sizeof d->table);
    memset(d->neighbour, 0xff, sizeof d->neighbour);
    for (int32_t side = 0; side < 4 * d->count; side++)
        link_face_neighbours(d, side);
}

/* ---- Greedy construction of fans of tets --------------------------------------------------------- */

static void enqueue_tet(chunk_builder *d, int32_t tet)
{
    d->queue[d->left[tet]][d->queued[d->left[tet]]++] = tet;
}

/* The tet with the fewest free neighbours that is in no fan yet; NONE: all tets are in fans. */
static int32_t dequeue_tet(chunk_builder *d)
{
    for (int32_t left = 0; left <= 4; left++)
        while (d->queued[left] > 0) {
            const int32_t tet = d->queue[left][--d->queued[left]];
            if (d->left[tet] == left)
                return tet;
        }
    return NONE;
}

/* The side (opposite vertex) of `tet` whose free neighbour has the fewest free neighbours itself; NONE: no free
 * neighbour. */
static int32_t best_free_side(const chunk_builder *d, int32_t tet)
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

static void take_tet(chunk_builder *d, int32_t tet)
{
    d->left[tet] = NONE;
    for (int i = 0; i < 4; i++) {
        const int32_t side = d->neighbour[tet][i];
        if (side == NONE || d->left[side / 4] == NONE)
            continue;
        d->left[side / 4]--;
        enqueue_tet(d, side / 4);
    }
}

/* Permutes the vertices of a fan to the scheme of batch_layout.h. B is the middle tet; A and C are its neighbours
 * opposite to B's vertices p and r. r is NONE in a fan of two, where the choice of vertices 0 and 1 is free. */
static void reorder_fan(chunk_builder *d, int32_t middle, int32_t p, int32_t r)
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

/* Makes a fan of tet `first`, its neighbour with the fewest free neighbours, and a neighbour of either, if they
 * exist, and stores the fan at its lowest tet. */
static void make_fan(chunk_builder *d, int32_t first)
{
    int32_t fan[SINEW_FAN] = {first, NONE, NONE};
    take_tet(d, first);
    const int32_t side = best_free_side(d, first);
    if (side != NONE) {
        const int32_t beyond = d->neighbour[first][side];
        fan[1] = beyond / 4;
        take_tet(d, fan[1]);
        /* The third tet is a neighbour of the second. Without one, it is a neighbour of the first, which is then the
         * middle tet. */
        int32_t middle = fan[1], p = beyond % 4, r = best_free_side(d, middle);
        if (r == NONE) {
            const int32_t other = best_free_side(d, first);
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
            take_tet(d, fan[2]);
        }
        reorder_fan(d, middle, p, r);
    }
    int32_t lowest = fan[0];
    for (int i = 1; i < SINEW_FAN && fan[i] != NONE; i++)
        lowest = fan[i] < lowest ? fan[i] : lowest;
    memcpy(d->fan[lowest], fan, sizeof fan);
}

/* Assigns every tet of the chunk to a fan, tets with the fewest free neighbours first. */
static void make_fans(chunk_builder *d)
{
    memset(d->queued, 0, sizeof d->queued);
    memset(d->fan, 0xff, sizeof d->fan);
    for (int32_t t = 0; t < d->count; t++) {
        d->left[t] = 0;
        for (int i = 0; i < 4; i++)
            d->left[t] += d->neighbour[t][i] != NONE;
    }
    for (int32_t t = d->count - 1; t >= 0; t--)
        enqueue_tet(d, t);
    for (int32_t t = dequeue_tet(d); t != NONE; t = dequeue_tet(d))
        make_fan(d, t);
}

static int32_t fan_size(const int32_t fan[SINEW_FAN])
{
    int32_t size = 0;
    while (size < SINEW_FAN && fan[size] != NONE)
        size++;
    return size;
}

/* ---- Layout of all chunks ------------------------------------------------------------------------ */

/* Joins the tets of a chunk, order[0..count-1], to fans: reorders `order`, permutes the vertices of tets in `particles`
 * and adds the numbers of fans of 1, 2 and 3 tets to `fans`. */
static void layout_chunk(chunk_builder *d, int32_t *order, int32_t *particles, int32_t fans[SINEW_FAN])
{
    for (int32_t t = 0; t < d->count; t++)
        memcpy(d->tet[t], particles + 4 * (size_t)order[t], sizeof d->tet[t]);
    find_neighbours(d);
    make_fans(d);
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

int32_t sinew_batch_layout_chunk_size(const sinew_batch_layout *layout, int32_t chunk)
{
    const int32_t rest = layout->element_count - chunk * SINEW_CHUNK_ELEMENTS;
    return rest < SINEW_CHUNK_ELEMENTS ? rest : SINEW_CHUNK_ELEMENTS;
}

static bool batch_layout_reserve_buffers(sinew_batch_layout *layout, const sinew_allocator *allocator,
                                         int32_t particle_count)
{
    return sinew_reserve(allocator, &layout->order, &layout->order_capacity, (size_t)layout->element_count,
                         sizeof *layout->order) &&
           sinew_reserve(allocator, &layout->fans, &layout->fan_capacity, (size_t)layout->chunk_count,
                         sizeof *layout->fans) &&
           sinew_reserve_spare(allocator, &layout->work, &layout->work_capacity, (size_t)particle_count + 1,
                               sizeof *layout->work);
}

bool sinew_batch_layout_make(sinew_batch_layout *layout, const sinew_allocator *allocator, int32_t element_count,
                             int32_t n, int32_t particle_count, bool tets, int32_t *particles)
{
    layout->element_count = element_count;
    layout->chunk_count = (element_count + SINEW_CHUNK_ELEMENTS - 1) / SINEW_CHUNK_ELEMENTS;
    chunk_builder *builder = tets ? sinew_allocate(allocator, 1, sizeof *builder) : NULL;
    const bool good = batch_layout_reserve_buffers(layout, allocator, particle_count) && (builder || !tets);
    if (good) {
        memset(layout->fans, 0, (size_t)layout->chunk_count * sizeof *layout->fans);
        sinew_order_by_lowest(particles, element_count, n, particle_count, layout->work, layout->order);
    }
    for (int32_t chunk = 0; good && chunk < layout->chunk_count; chunk++) {
        const int32_t count = sinew_batch_layout_chunk_size(layout, chunk);
        if (tets) {
            builder->count = count;
            layout_chunk(builder, layout->order + chunk * SINEW_CHUNK_ELEMENTS, particles, layout->fans[chunk]);
        } else {
            layout->fans[chunk][0] = count;
        }
    }
    sinew_release(allocator, builder);
    return good;
}

void sinew_batch_layout_release(sinew_batch_layout *layout, const sinew_allocator *allocator)
{
    sinew_release(allocator, layout->order);
    sinew_release(allocator, layout->fans);
    sinew_release(allocator, layout->work);
    *layout = (sinew_batch_layout){0};
}
