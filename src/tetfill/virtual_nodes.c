/* SPDX-License-Identifier: MIT
 *
 * virtual_nodes.c: builds a mesh from the components of the inside in each tet (after the virtual nodes of N. Molino,
 * Z. Bao and R. Fedkiw 2004).
 *
 * Each component gets its own copy of the tet, with its own corners at first. If components of two tets touch across a
 * common face, the three corners of the face are merged. Components touch if a segment between neighbouring samples on
 * both sides stays inside, or if one triangle bounds both. A vertex is therefore shared by all connected components
 * around it, and fingers that share cells but do not touch have separate vertices.
 *
 * Tips are removed: tets filled by less than FILL_TINY that are connected to other tets, all filled by FILL_FIRM or
 * more. A thin wall is kept, because its neighbours are as thin.
 */
#include <math.h>
#include <string.h>

#include "mesh/topology/facets.h"
#include "mesh/flaws.h"
#include "tetfill/fill.h"
#include "tetfill/sample.h"

typedef struct splitter {
    fill *f;
    int32_t tet_count; /* number of lattice tets in fill_tets that are not empty */
    int64_t *listed;   /* [tet_count] index of each non-empty tet in fill_tets */
    int32_t *corners;  /* [4 * tet_count] lattice points at the corners of the non-empty tets */
    int32_t *first;    /* [tet_count + 1] index of the first copy of each tet; one copy per component */
    int32_t copy_count;
    float *fraction; /* [copy_count] filled fraction of each copy of a tet; 0: removed */
    /* [copy_count] bit 0: the copy has a connected neighbour; bit 1: it has one that is filled by less than
     * FILL_FIRM */
    uint8_t *hangs;
    /* [4 * copy_count] union-find parent of each tet corner; merged corners have one root, the lowest */
    int32_t *same;
    int32_t *number; /* [4 * copy_count] vertex index of merged corners, stored at their root */
} splitter;

/* ---- Copies of tets, one per component of the inside --------------------------------------------- */

static sinew_status splitter_make_copies(splitter *s)
{
    const fill_tets *tets = &s->f->tets;
    const sinew_allocator *allocator = &s->f->allocator;
    int64_t copies = 0;
    for (int64_t t = 0; t < tets->count; t++) {
        s->tet_count += tets->component_count[t] > 0;
        copies += tets->component_count[t];
    }
    if (copies > INT32_MAX / 4)
        return sinew_fail(s->f->error, SINEW_ERROR_DATA,
                          "%d cells make %lld tets, more than the %d that a mesh holds; use fewer cells",
                          s->f->def->cells, (long long)copies, INT32_MAX / 4);
    s->copy_count = (int32_t)copies;
    s->listed = sinew_allocate(allocator, (size_t)s->tet_count, sizeof *s->listed);
    s->corners = sinew_allocate(allocator, 4 * (size_t)s->tet_count, sizeof *s->corners);
    s->first = sinew_allocate(allocator, (size_t)s->tet_count + 1, sizeof *s->first);
    s->fraction = sinew_allocate(allocator, (size_t)copies, sizeof *s->fraction);
    s->hangs = sinew_allocate_zero(allocator, (size_t)copies, sizeof *s->hangs);
    s->same = sinew_allocate(allocator, 4 * (size_t)copies, sizeof *s->same);
    s->number = sinew_allocate(allocator, 4 * (size_t)copies, sizeof *s->number);
    if (!s->listed || !s->corners || !s->first || !s->fraction || !s->hangs || !s->same || !s->number)
        return sinew_fail_memory(s->f->error, "the tets of a body");
    return SINEW_OK;
}

static void list_copies(splitter *s)
{
    const fill_tets *tets = &s->f->tets;
    int32_t n = 0, copy = 0;
    for (int64_t t = 0; t < tets->count; t++) {
        int64_t points[4];
        if (tets->component_count[t] == 0)
            continue;
        sinew_fill_corners(&s->f->lattice, tets->number[t], points);
        for (int i = 0; i < 4; i++)
            s->corners[4 * (size_t)n + (size_t)i] = (int32_t)points[i];
        s->listed[n] = t;
        s->first[n++] = copy;
        for (int p = 0; p < tets->component_count[t]; p++)
            s->fraction[copy++] = tets->fraction[t][p];
    }
    s->first[n] = copy;
    for (int32_t i = 0; i < 4 * s->copy_count; i++)
        s->same[i] = i;
}

static void splitter_free(splitter *s)
{
    const sinew_allocator *allocator = &s->f->allocator;
    sinew_release(allocator, s->listed);
    sinew_release(allocator, s->corners);
    sinew_release(allocator, s->first);
    sinew_release(allocator, s->fraction);
    sinew_release(allocator, s->hangs);
    sinew_release(allocator, s->same);
    sinew_release(allocator, s->number);
}

/* ---- Components that touch across a face --------------------------------------------------------- */

/* One side of a face: a tet, the face's index in the tet, and a component of the tet. */
typedef struct side {
    int32_t tet;    /* index of the tet in splitter.listed */
    int64_t listed; /* index of the tet in fill_tets */
    int face;       /* index of the tet's corner opposite to the face */
    int component;
} side;

static uint64_t samples_of(const splitter *s, const side *a)
{
    return s->f->tets.component[a->listed][a->component];
}

static int32_t splitter_point_of(const splitter *s, const side *a, int corner)
{
    return s->corners[4 * (size_t)a->tet + (size_t)corner];
}

/* turn[i] is the corner of tet b that coincides with corner i of tet a's face; -1: none. */
static void match_corners(const splitter *s, const side *a, const side *b, int turn[4])
{
    for (int i = 0; i < 4; i++) {
        turn[i] = -1;
        for (int j = 0; j < 4; j++)
            if (i != a->face && splitter_point_of(s, a, i) == splitter_point_of(s, b, j))
                turn[i] = j;
    }
}

/* Each face is divided into FILL_FACE triangles, one for each sub-tet at the face; samples are centroids of sub-tets.
 * Returns the sample of b whose sub-tet shares triangle n of a's face; -1: none. */
static int sample_behind(const fill_pattern *pattern, const side *a, const side *b, const int turn[4], int n)
{
    int8_t turned[4] = {0};
    for (int i = 0; i < 4; i++)
        if (turn[i] >= 0)
            turned[turn[i]] = pattern->face_position[a->face][n][i];
    for (int m = 0; m < FILL_FACE; m++)
        if (memcmp(pattern->face_position[b->face][m], turned, sizeof turned) == 0)
            return pattern->face[b->face][m];
    return -1;
}

static void sample_position(const splitter *s, const side *a, int sample, double x[3])
{
    const double *weights = s->f->pattern.weights[sample];
    memset(x, 0, 3 * sizeof *x);
    for (int i = 0; i < 4; i++) {
        double p[3];
        sinew_fill_point(&s->f->lattice, splitter_point_of(s, a, i), p);
        for (int c = 0; c < 3; c++)
            x[c] += weights[i] * p[c];
    }
}

static const int32_t *near_of(const splitter *s, const side *a, int64_t *count)
{
    const fill_tets *tets = &s->f->tets;
    *count = tets->first[a->listed + 1] - tets->first[a->listed];
    return tets->near + tets->first[a->listed];
}

/* Finds the crossings of a segment between two neighbouring tets with the triangles of both, each once. Both
 * triangle lists ascend. */
static void cross_both(const splitter *s, const side *a, const side *b, const double p[3], const double q[3],
                       fill_crossings *found)
{
    int64_t counts[2], i = 0, j = 0;
    const int32_t *u = near_of(s, a, &counts[0]), *v = near_of(s, b, &counts[1]);
    *found = (fill_crossings){.last = -1};
    while (i < counts[0] || j < counts[1]) {
        const int32_t t = j == counts[1] || (i < counts[0] && u[i] <= v[j]) ? u[i] : v[j];
        double at;
        const int sign = sinew_fill_pass(&s->f->surface, t, p, q, &at);
        if (sign)
            sinew_fill_put_crossing(found, at, sign, t);
        i += i < counts[0] && u[i] == t;
        j += j < counts[1] && v[j] == t;
    }
}

static bool sees_through(const splitter *s, const side *a, const side *b, int from, int to)
{
    double p[3], q[3];
    fill_crossings found;
    fill_trace trace;
    sample_position(s, a, from, p);
    sample_position(s, b, to, q);
    cross_both(s, a, b, p, q, &found);
    if (found.count < 2)
        return true;
    sinew_fill_sample_tet(s->f, a->listed, &trace);
    return sinew_fill_stays_inside(&found, trace.w[from]);
}

static bool samples_meet(const splitter *s, const side *a, const side *b)
{
    const uint64_t mine = samples_of(s, a), others = samples_of(s, b);
    int turn[4];
    match_corners(s, a, b, turn);
    for (int n = 0; n < FILL_FACE; n++) {
        const int from = s->f->pattern.face[a->face][n];
        if (!(mine >> from & 1))
            continue;
        const int to = sample_behind(&s->f->pattern, a, b, turn, n);
        if (to >= 0 && others >> to & 1 && sees_through(s, a, b, from, to))
            return true;
    }
    return false;
}

/* Whether triangle t of the surface bounds the component of side a. A component without samples counts as bounded by
 * all triangles of its tet. */
static bool triangle_bounds_component(const splitter *s, const side *a, const fill_trace *trace, int32_t t)
{
    const uint64_t component = samples_of(s, a);
    int64_t count;
    const int32_t *near = near_of(s, a, &count);
    for (int l = 0; component && l < FILL_LINKS; l++) {
        const fill_link link = s->f->pattern.links[l];
        const bool from = component >> link.from & 1, to = component >> link.to & 1;
        fill_crossings found;
        if (from == to || trace->count[l] == 0)
            continue;
        sinew_fill_cross(&s->f->surface, near, count, trace->x[from ? link.to : link.from],
                         trace->x[from ? link.from : link.to], &found);
        if (found.last == t)
            return true;
    }
    return !component;
}

/* Whether one triangle of the surface bounds the components of both sides of a face. */
static bool bounds_meet(const splitter *s, const side *a, const side *b)
{
    int64_t counts[2], i = 0, j = 0;
    const int32_t *u = near_of(s, a, &counts[0]), *v = near_of(s, b, &counts[1]);
    fill_trace traces[2];
    bool sampled = false;
    while (i < counts[0] && j < counts[1]) {
        if (u[i] == v[j]) {
            if (!sampled) {
                sinew_fill_sample_tet(s->f, a->listed, &traces[0]);
                sinew_fill_sample_tet(s->f, b->listed, &traces[1]);
                sampled = true;
            }
            if (triangle_bounds_component(s, a, &traces[0], u[i]) && triangle_bounds_component(s, b, &traces[1], u[i]))
                return true;
        }
        const bool left = u[i] <= v[j], right = v[j] <= u[i];
        i += left;
        j += right;
    }
    return false;
}

static bool is_only_component(const splitter *s, const side *a)
{
    return s->f->tets.component_count[a->listed] == 1;
}

static bool components_meet(const splitter *s, const side *a, const side *b)
{
    const bool whole = !s->f->tets.sampled[a->listed] && !s->f->tets.sampled[b->listed];
    if (whole || !s->f->def->split)
        return true;
    int64_t counts[2];
    near_of(s, a, &counts[0]);
    near_of(s, b, &counts[1]);
    const bool crowded = counts[0] > FILL_NEAR_MAX || counts[1] > FILL_NEAR_MAX;
    /* The samples do not locate a wall that none of them hits. With too many triangles, the search for a common
     * triangle is skipped. Single components then count as touching. */
    if ((crowded || !samples_of(s, a) || !samples_of(s, b)) && is_only_component(s, a) && is_only_component(s, b))
        return true;
    return samples_meet(s, a, b) || (!crowded && bounds_meet(s, a, b));
}

/* ---- Merging of corners of touching components --------------------------------------------------- */

static int32_t splitter_find_root(int32_t *same, int32_t i)
{
    while (same[i] != i)
        i = same[i] = same[same[i]];
    return i;
}

/* Merges the corners that two touching components share, and records in `hangs` how far their neighbours are filled. */
static void merge_corners(splitter *s, const side *a, const side *b)
{
    const int32_t mine = s->first[a->tet] + a->component, others = s->first[b->tet] + b->component;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (splitter_point_of(s, a, i) == splitter_point_of(s, b, j)) {
                const int32_t x = splitter_find_root(s->same, 4 * mine + i),
                              y = splitter_find_root(s->same, 4 * others + j);
                s->same[x > y ? x : y] = x < y ? x : y;
            }
    s->hangs[mine] |= (uint8_t)(1 | (s->fraction[others] < (float)FILL_FIRM) << 1);
    s->hangs[others] |= (uint8_t)(1 | (s->fraction[mine] < (float)FILL_FIRM) << 1);
}

static void join_over_face(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    splitter *s = context;
    (void)vertices;
    if (use_count != 2)
        return;
    side a = {.tet = (int32_t)(uses[0].minor / 4), .face = (int)(uses[0].minor % 4)};
    side b = {.tet = (int32_t)(uses[1].minor / 4), .face = (int)(uses[1].minor % 4)};
    a.listed = s->listed[a.tet];
    b.listed = s->listed[b.tet];
    for (a.component = 0; a.component < s->f->tets.component_count[a.listed]; a.component++)
        for (b.component = 0; b.component < s->f->tets.component_count[b.listed]; b.component++)
            if (components_meet(s, &a, &b))
                merge_corners(s, &a, &b);
}

/* Copies of a tet whose corners were all merged are one component; the first copy takes the sum of their fractions. */
static void merge_copies(splitter *s)
{
    for (int32_t n = 0; n < s->tet_count; n++) {
        int32_t left = s->first[n + 1] - s->first[n];
        for (int32_t a = s->first[n]; a < s->first[n + 1]; a++)
            for (int32_t b = a + 1; b < s->first[n + 1]; b++) {
                bool all = s->fraction[a] > 0 && s->fraction[b] > 0;
                for (int32_t i = 0; i < 4; i++)
                    all = all && splitter_find_root(s->same, 4 * a + i) == splitter_find_root(s->same, 4 * b + i);
                if (!all)
                    continue;
                s->fraction[a] = fminf(1, s->fraction[a] + s->fraction[b]);
                s->fraction[b] = 0;
                left--;
            }
        s->f->report.split_cells += left > 1;
    }
}

static void drop_tips(splitter *s)
{
    for (int32_t i = 0; i < s->copy_count; i++)
        if (s->fraction[i] < (float)FILL_TINY && s->hangs[i] == 1)
            s->fraction[i] = 0;
}

/* ---- Writing the resulting tet mesh -------------------------------------------------------------- */

/* Assigns vertex indices to merged corners in the order in which tets use them; returns the number of vertices. */
static int32_t number_vertices(splitter *s, int32_t *tet_count)
{
    int32_t count = 0;
    *tet_count = 0;
    for (int32_t i = 0; i < 4 * s->copy_count; i++)
        s->number[i] = -1;
    for (int32_t i = 0; i < s->copy_count; i++) {
        *tet_count += s->fraction[i] > 0;
        for (int32_t c = 4 * i; s->fraction[i] > 0 && c < 4 * i + 4; c++) {
            int32_t *number = &s->number[splitter_find_root(s->same, c)];
            if (*number < 0)
                *number = count++;
        }
    }
    return count;
}

static void write_tets(splitter *s, sinew_mesh *mesh, sinew_real *fractions)
{
    int32_t tet = 0;
    for (int32_t n = 0; n < s->tet_count; n++)
        for (int32_t copy = s->first[n]; copy < s->first[n + 1]; copy++) {
            if (!(s->fraction[copy] > 0))
                continue;
            for (int32_t i = 0; i < 4; i++) {
                const int32_t vertex = s->number[splitter_find_root(s->same, 4 * copy + i)];
                double x[3];
                sinew_fill_point(&s->f->lattice, s->corners[4 * (size_t)n + (size_t)i], x);
                for (size_t c = 0; c < 3; c++)
                    mesh->positions[3 * (size_t)vertex + c] = (sinew_real)x[c];
                mesh->tets[4 * (size_t)tet + (size_t)i] = vertex;
            }
            const bool thin = s->f->tets.component[s->listed[n]][0] == 0;
            s->f->report.thin_cells += thin;
            s->f->fixed[tet] = thin || s->first[n + 1] - s->first[n] > 1;
            fractions[tet++] = (sinew_real)fmax(FILL_MIN, (double)s->fraction[copy]);
        }
}

static sinew_mesh *splitter_write_mesh(splitter *s)
{
    int32_t tet_count;
    const int32_t vertex_count = number_vertices(s, &tet_count);
    if (tet_count == 0 || (!s->f->surface.closed && s->f->max < FILL_ENCLOSED)) {
        sinew_fail(s->f->error, SINEW_ERROR_DATA,
                   "nothing inside: a surface of %d triangles with %d open edges encloses nothing that %d cells find; "
                   "close it, or use more cells",
                   s->f->surface.count, s->f->report.open_edges, s->f->def->cells);
        return NULL;
    }
    sinew_mesh *mesh = sinew_mesh_allocate(&s->f->allocator, vertex_count, tet_count, 0, 0, s->f->error);
    sinew_real *fractions = sinew_allocate(&s->f->allocator, (size_t)tet_count, sizeof *fractions);
    s->f->fixed = sinew_allocate(&s->f->allocator, (size_t)tet_count, sizeof *s->f->fixed);
    const bool good = fractions && s->f->fixed;
    if (mesh && good)
        write_tets(s, mesh, fractions);
    if (mesh && (!good || sinew_mesh_set_fractions(mesh, fractions, s->f->error) != SINEW_OK)) {
        sinew_fail_memory(s->f->error, "the tets of a body");
        sinew_mesh_destroy(mesh);
        mesh = NULL;
    }
    sinew_release(&s->f->allocator, fractions);
    return mesh;
}

sinew_mesh *sinew_fill_make_mesh(fill *f)
{
    splitter s = {.f = f};
    sinew_mesh *mesh = NULL;
    sinew_status status = splitter_make_copies(&s);
    if (status == SINEW_OK) {
        list_copies(&s);
        const sinew_elements tets = {s.corners, s.tet_count, 4};
        status =
            sinew_visit_facets(&f->allocator, (int32_t)(2 * f->lattice.corners), &tets, join_over_face, &s, f->error);
    }
    if (status == SINEW_OK) {
        merge_copies(&s);
        drop_tips(&s);
        mesh = splitter_write_mesh(&s);
    }
    splitter_free(&s);
    return mesh;
}
