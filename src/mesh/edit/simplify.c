/* SPDX-License-Identifier: MIT
 *
 * simplify.c: vertex clustering of a triangle mesh, and the embedding of its vertices. See simplify.h.
 */
#include "mesh/edit/simplify.h"

#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "base/sort_pairs.h"
#include "mesh/topology/facets.h"
#include "mesh/topology.h"

/* a boundary vertex is a corner if |sum of the unit vectors along its two boundary edges| exceeds this: turn over 45
 * degrees */
#define TURN 0.77
/* coarse triangles are dropped if their area over the square of the longest side is below this ratio */
#define SLIVER 1e-3
/* smallest barycentric weight: a fine vertex farther outside a coarse triangle is not bound to it */
#define OUTSIDE (-0.5)

/* Ranks of vertices for the choice of kept vertices; vertices of higher rank are chosen first. */
enum {
    UNUSED,
    INNER,
    BORDER,
    CORNER
};

typedef struct work {
    const sinew_simplify_input *input;
    sinew_adjacency adjacency;
    uint8_t *rank;      /* [vertex_count] rank of each vertex: UNUSED, INNER, BORDER or CORNER */
    double (*along)[3]; /* [vertex_count] sum of the unit vectors along the boundary edges at each vertex */
    /* [vertex_count] number of boundary edges at each vertex; reused for the index of its coarse vertex */
    int32_t *borders;
    int32_t *first;  /* [coarse vertices + 1] index in `around` of the first triangle of each coarse vertex */
    int32_t *around; /* [first[coarse vertices]] indices of the coarse triangles at each coarse vertex */
} work;

static const sinew_real *position_of(const work *w, int32_t vertex)
{
    return w->input->positions + 4 * (size_t)vertex;
}

static double simplify_distance(const work *w, int32_t i, int32_t j)
{
    double d[3];
    vec3_edge(position_of(w, j), position_of(w, i), d);
    return vec3_norm(d);
}

/* ---- Choice of the kept vertices ----------------------------------------------------------------- */

static void mark_border(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    work *w = context;
    (void)uses;
    if (use_count == 2)
        return;
    const double length = fmax(simplify_distance(w, vertices[0], vertices[1]), 1e-300);
    for (int k = 0; k < 2; k++) {
        const int32_t own = vertices[k], other = vertices[1 - k];
        w->borders[own]++;
        for (size_t c = 0; c < 3; c++)
            w->along[own][c] += ((double)position_of(w, other)[c] - (double)position_of(w, own)[c]) / length;
    }
}

static uint8_t vertex_rank(const work *w, int32_t i)
{
    const double *a = w->along[i];
    if (w->adjacency.first[i + 1] == w->adjacency.first[i])
        return UNUSED;
    if (w->input->held[i])
        return CORNER;
    if (w->borders[i] == 0)
        return INNER;
    return w->borders[i] != 2 || vec3_norm(a) > TURN ? CORNER : BORDER;
}

static bool has_kept_neighbour(const work *w, const int32_t *owner, int32_t i)
{
    for (int64_t k = w->adjacency.first[i]; k < w->adjacency.first[i + 1]; k++)
        if (owner[w->adjacency.neighbours[k]] >= 0)
            return true;
    return false;
}

/* Chooses the kept vertices of the fine mesh: owner[i] becomes i for kept vertices, else -1. */
static void choose_kept_vertices(const work *w, int32_t *owner)
{
    const int32_t n = w->input->vertex_count;
    memset(owner, 0xff, (size_t)n * sizeof *owner);
    for (int rank = CORNER; rank > UNUSED; rank--)
        for (int32_t i = 0; i < n; i++)
            if (w->rank[i] == rank && !has_kept_neighbour(w, owner, i))
                owner[i] = i;
}

/* Returns the nearest kept neighbour of vertex i. If i lies on the boundary, kept neighbours on the boundary come
 * first. */
static int32_t nearest_kept_neighbour(const work *w, const int32_t *owner, int32_t i)
{
    int32_t best = -1;
    for (int64_t k = w->adjacency.first[i]; k < w->adjacency.first[i + 1]; k++) {
        const int32_t j = w->adjacency.neighbours[k];
        if (owner[j] != j)
            continue;
        const bool on = w->rank[i] >= BORDER && w->rank[j] >= BORDER;
        const bool best_on = best >= 0 && w->rank[i] >= BORDER && w->rank[best] >= BORDER;
        if (best < 0 || (on && !best_on) ||
            (on == best_on && simplify_distance(w, i, j) < simplify_distance(w, i, best)))
            best = j;
    }
    return best;
}

/* Numbers the kept vertices of the fine mesh and assigns every other vertex to a kept one. */
static void assign_to_kept_vertices(const work *w, sinew_simplified *s)
{
    const int32_t n = w->input->vertex_count;
    choose_kept_vertices(w, s->owner);
    s->vertex_count = 0;
    for (int32_t i = 0; i < n; i++)
        if (s->owner[i] == i)
            s->origin[s->vertex_count++] = i;
    /* Assigned vertices are encoded as -2 - index, so that they are not mistaken for kept vertices. */
    for (int32_t i = 0; i < n; i++)
        if (s->owner[i] == -1 && w->rank[i] != UNUSED)
            s->owner[i] = -2 - nearest_kept_neighbour(w, s->owner, i);
    for (int32_t i = 0; i < n; i++)
        if (s->owner[i] < -1)
            s->owner[i] = -2 - s->owner[i];
    for (int32_t i = 0, k = 0; i < n; i++)
        if (k < s->vertex_count && s->origin[k] == i)
            w->borders[i] = k++;
    for (int32_t i = 0; i < n; i++)
        s->owner[i] = s->owner[i] >= 0 ? w->borders[s->owner[i]] : -1;
}

/* ---- Triangles of the coarse mesh ---------------------------------------------------------------- */

static void simplify_sort_three(int32_t v[3])
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < 2; k++)
            if (v[k] > v[k + 1]) {
                const int32_t swapped = v[k];
                v[k] = v[k + 1];
                v[k + 1] = swapped;
            }
}

static void simplify_edges_of(const work *w, const int32_t corner[3], double a[3], double b[3])
{
    for (size_t c = 0; c < 3; c++) {
        a[c] = (double)position_of(w, corner[1])[c] - (double)position_of(w, corner[0])[c];
        b[c] = (double)position_of(w, corner[2])[c] - (double)position_of(w, corner[0])[c];
    }
}

static bool is_sliver(const work *w, const sinew_simplified *s, const int32_t t[3])
{
    const int32_t corner[3] = {s->origin[t[0]], s->origin[t[1]], s->origin[t[2]]};
    double a[3], b[3];
    simplify_edges_of(w, corner, a, b);
    const double aa = vec3_dot(a, a), bb = vec3_dot(b, b), ab = vec3_dot(a, b),
                 longest = fmax(fmax(aa, bb), aa + bb - 2 * ab);
    return !(sqrt(fmax(aa * bb - ab * ab, 0)) / 2 > SLIVER * longest);
}

/* Makes the coarse triangles and keeps the first of several with the same vertices. Sort keys of triangles: sorted
 * vertices, then the triangle's index. */
static bool make_triangles(const sinew_allocator *allocator, const work *w, sinew_simplified *s)
{
    const int32_t *fine = w->input->triangles;
    const size_t capacity = (size_t)w->input->triangle_count;
    sinew_pair *list = sinew_allocate(allocator, 2 * capacity, sizeof *list);
    size_t count = 0;
    for (int32_t t = 0; list && t < w->input->triangle_count; t++) {
        int32_t v[3];
        for (int k = 0; k < 3; k++)
            v[k] = s->owner[fine[3 * (size_t)t + (size_t)k]];
        simplify_sort_three(v);
        if (v[0] >= 0 && v[0] != v[1] && v[1] != v[2])
            list[count++] = (sinew_pair){sinew_pack(v[0], v[1]), sinew_pack(v[2], t)};
    }
    if (list)
        sinew_sort_pairs(list, count, list + capacity);
    for (size_t k = 0; list && k < count; k++) {
        int32_t *out = s->triangles + 3 * (size_t)s->triangle_count;
        if (k > 0 && list[k].major == list[k - 1].major && list[k].minor >> 32 == list[k - 1].minor >> 32)
            continue;
        for (size_t i = 0; i < 3; i++)
            out[i] = s->owner[fine[3 * (size_t)(uint32_t)list[k].minor + i]];
        s->triangle_count += !is_sliver(w, s, out);
    }
    sinew_release(allocator, list);
    return list != NULL;
}

/* ---- Embedding of the fine vertices in the coarse mesh ------------------------------------------- */

static void list_triangles_around(work *w, const sinew_simplified *s)
{
    memset(w->first, 0, ((size_t)s->vertex_count + 1) * sizeof *w->first);
    for (int32_t k = 0; k < 3 * s->triangle_count; k++)
        w->first[s->triangles[k] + 1]++;
    for (int32_t v = 0; v < s->vertex_count; v++)
        w->first[v + 1] += w->first[v];
    for (int32_t k = 3 * s->triangle_count - 1; k >= 0; k--)
        w->around[--w->first[s->triangles[k] + 1]] = k / 3;
    /* Filling has moved first[v + 1] from the end to the start of the list of coarse vertex v; the shift restores
     * first. */
    memmove(w->first, w->first + 1, (size_t)s->vertex_count * sizeof *w->first);
    w->first[s->vertex_count] = 3 * s->triangle_count;
}

/* Barycentric coordinates, in a coarse triangle, of the point of its plane nearest to fine vertex i. */
static void barycentric_weights(const work *w, const sinew_simplified *s, int32_t triangle, int32_t i, double out[3])
{
    const int32_t *t = s->triangles + 3 * (size_t)triangle;
    const int32_t corner[3] = {s->origin[t[0]], s->origin[t[1]], s->origin[t[2]]};
    double a[3], b[3], p[3];
    simplify_edges_of(w, corner, a, b);
    for (size_t c = 0; c < 3; c++)
        p[c] = (double)position_of(w, i)[c] - (double)position_of(w, corner[0])[c];
    const double aa = vec3_dot(a, a), bb = vec3_dot(b, b), ab = vec3_dot(a, b), pa = vec3_dot(p, a),
                 pb = vec3_dot(p, b);
    const double determinant = aa * bb - ab * ab;
    out[1] = (pa * bb - pb * ab) / determinant;
    out[2] = (pb * aa - pa * ab) / determinant;
    out[0] = 1 - out[1] - out[2];
}

/* Embeds fine vertex i in that triangle around its owner in which its lowest barycentric weight is largest, if this
 * weight exceeds OUTSIDE. */
static void embed_vertex(const work *w, sinew_simplified *s, int32_t i)
{
    const int32_t owner = s->owner[i];
    double best = OUTSIDE;
    s->corner[i][0] = -1;
    if (owner >= 0 && s->origin[owner] == i) {
        for (int k = 0; k < 3; k++) {
            s->corner[i][k] = owner;
            s->weight[i][k] = k == 0 ? 1 : 0;
        }
        return;
    }
    for (int32_t k = owner >= 0 ? w->first[owner] : 0; owner >= 0 && k < w->first[owner + 1]; k++) {
        double weights[3];
        barycentric_weights(w, s, w->around[k], i, weights);
        const double min = fmin(weights[0], fmin(weights[1], weights[2]));
        if (!(min > best + 1e-9))
            continue;
        best = min;
        for (int c = 0; c < 3; c++) {
            s->corner[i][c] = s->triangles[3 * w->around[k] + c];
            s->weight[i][c] = (sinew_real)weights[c];
        }
    }
}

/* ---- Simplification as a whole ------------------------------------------------------------------- */

static bool simplify_reserve(const sinew_allocator *allocator, work *w, sinew_simplified *s)
{
    const size_t n = (size_t)w->input->vertex_count, m = (size_t)w->input->triangle_count;
    w->rank = sinew_allocate(allocator, n, sizeof *w->rank);
    w->along = sinew_allocate_zero(allocator, n, sizeof *w->along);
    w->borders = sinew_allocate_zero(allocator, n, sizeof *w->borders);
    w->first = sinew_allocate(allocator, n + 1, sizeof *w->first);
    w->around = sinew_allocate(allocator, 3 * m, sizeof *w->around);
    s->origin = sinew_allocate(allocator, n, sizeof *s->origin);
    s->owner = sinew_allocate(allocator, n, sizeof *s->owner);
    s->corner = sinew_allocate(allocator, n, sizeof *s->corner);
    s->weight = sinew_allocate_zero(allocator, n, sizeof *s->weight);
    s->triangles = sinew_allocate(allocator, 3 * m, sizeof *s->triangles);
    return w->rank && w->along && w->borders && w->first && w->around && s->origin && s->owner && s->corner &&
           s->weight && s->triangles;
}

static void simplify_release_work(const sinew_allocator *allocator, work *w)
{
    void *arrays[] = {w->rank, w->along, w->borders, w->first, w->around};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    sinew_adjacency_free(&w->adjacency, allocator);
}

sinew_status sinew_simplify(const sinew_allocator *allocator, const sinew_simplify_input *input, sinew_simplified *s,
                            sinew_error *error)
{
    const sinew_elements elements = {input->triangles, input->triangle_count, 3};
    work w = {.input = input};
    *s = (sinew_simplified){0};
    sinew_status status = sinew_adjacency_build(&w.adjacency, allocator, input->vertex_count, &elements, 1, error);
    if (status != SINEW_OK)
        return status;
    if (!simplify_reserve(allocator, &w, s))
        status = sinew_fail_memory(error, "a coarser mesh");
    if (status == SINEW_OK)
        status = sinew_visit_facets(allocator, input->vertex_count, &elements, mark_border, &w, error);
    for (int32_t i = 0; status == SINEW_OK && i < input->vertex_count; i++)
        w.rank[i] = vertex_rank(&w, i);
    if (status == SINEW_OK) {
        assign_to_kept_vertices(&w, s);
        if (!make_triangles(allocator, &w, s))
            status = sinew_fail_memory(error, "a coarser mesh");
    }
    if (status == SINEW_OK) {
        list_triangles_around(&w, s);
        for (int32_t i = 0; i < input->vertex_count; i++)
            embed_vertex(&w, s, i);
    }
    simplify_release_work(allocator, &w);
    if (status != SINEW_OK)
        sinew_simplified_release(allocator, s);
    return status;
}

void sinew_simplified_release(const sinew_allocator *allocator, sinew_simplified *s)
{
    void *arrays[] = {s->origin, s->owner, s->corner, s->weight, s->triangles};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(allocator, arrays[i]);
    *s = (sinew_simplified){0};
}
