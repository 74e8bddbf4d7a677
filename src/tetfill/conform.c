/* SPDX-License-Identifier: MIT
 *
 * conform.c: moves boundary vertices to the surface (after the warping of F. Labelle and J. R. Shewchuk 2007).
 *
 * A vertex lies on the surface if its distance is at most FILL_SNAP cells. Tets with a vertex inside, or with a filled
 * fraction of at least FILL_STAYS, are kept. In a few passes, their vertices on or outside the surface move to its
 * nearest point, as far as every kept tet keeps a quality of FILL_WORST. Tets with a moved vertex are then sampled
 * again, because some of their volume may still lie outside. Sampled tets that were not kept before are removed if
 * their quality is below FILL_WORST or their filled fraction at most FILL_TINY.
 *
 * Vertices of duplicated tets, and of walls too thin for samples, do not move: the nearest point may belong to another
 * component.
 */
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "mesh/topology/facets.h"
#include "mesh/flaws.h"
#include "tetfill/fill.h"
#include "tetfill/sample.h"

#define FILL_SNAP  0.2  /* largest distance, in lattice cells, at which a vertex counts as on the surface */
#define FILL_STAYS 0.25 /* a tet is kept if its filled fraction is at least this */
#define FILL_WORST 0.4  /* smallest quality (1: regular) of a tet that a move of its vertex may cause */

enum {
    ROUNDS = 6,
    STEPS = 8 /* a vertex move is tried with step/STEPS of its displacement: 1, seven eighths, ... */
};

enum {
    GOES = 0,
    STAYS,
    WAITS
};

typedef struct former {
    fill *f;
    sinew_mesh *mesh;
    /* [vertex_count] 1: the vertex is inside and farther from the surface than FILL_SNAP cells, so it does not move */
    uint8_t *inside;
    sinew_tree_point *nearest; /* [vertex_count] target of each vertex: its nearest point on the surface */
    uint8_t *moves;            /* [vertex_count] 0: the vertex is fixed, 1: it moves, 2: it has reached its target */
    /* [tet_count] GOES: the tet is removed; STAYS: kept; WAITS: kept, unless samples after the moves of its vertices
     * remove it */
    uint8_t *stays;
    sinew_incidence around; /* incidence: indices of the tets at each vertex */
} former;

/* ---- Choice of the vertices that move ------------------------------------------------------------ */

static sinew_status conform_classify_vertices(former *m)
{
    const sinew_mesh *mesh = m->mesh;
    const sinew_allocator *allocator = &m->f->allocator;
    const size_t count = (size_t)mesh->vertex_count;
    sinew_real *winding = sinew_allocate(allocator, count, sizeof *winding);
    m->inside = sinew_allocate(allocator, count, sizeof *m->inside);
    m->nearest = sinew_allocate(allocator, count, sizeof *m->nearest);
    m->moves = sinew_allocate_zero(allocator, count, sizeof *m->moves);
    m->stays = sinew_allocate_zero(allocator, (size_t)mesh->tet_count, sizeof *m->stays);
    const bool good = winding && m->inside && m->nearest && m->moves && m->stays;
    if (good) {
        sinew_tree_winding(m->f->tree, mesh->vertex_count, mesh->positions, winding);
        sinew_tree_nearest(m->f->tree, mesh->vertex_count, mesh->positions, NULL, m->nearest);
        for (size_t v = 0; v < count; v++)
            m->inside[v] = fabs((double)winding[v]) > FILL_INSIDE &&
                           (double)m->nearest[v].distance > FILL_SNAP * m->f->lattice.cell;
    }
    sinew_release(allocator, winding);
    return good ? SINEW_OK : sinew_fail_memory(m->f->error, "the boundary of a body");
}

static void conform_choose_tets(former *m)
{
    const sinew_mesh *mesh = m->mesh;
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        const int32_t *tet = mesh->tets + 4 * (size_t)t;
        const bool inner = m->inside[tet[0]] || m->inside[tet[1]] || m->inside[tet[2]] || m->inside[tet[3]];
        const bool stays = inner || m->f->fixed[t] || (double)mesh->fractions[t] >= FILL_STAYS;
        m->stays[t] = stays ? STAYS : WAITS;
        for (int i = 0; stays && i < 4; i++)
            m->moves[tet[i]] |= !m->inside[tet[i]];
    }
    for (int32_t t = 0; t < mesh->tet_count; t++)
        for (int i = 0; m->f->fixed[t] && i < 4; i++)
            m->moves[mesh->tets[4 * (size_t)t + (size_t)i]] = 0;
}

/* ---- Moves of vertices to the surface ------------------------------------------------------------ */

static double worst_quality_around(const former *m, int32_t v)
{
    double worst = INFINITY;
    for (int64_t i = m->around.first[v]; i < m->around.first[v + 1]; i++) {
        const int32_t t = m->around.elements[i];
        if (m->stays[t] == STAYS)
            worst = fmin(worst, sinew_shape_of_tet(m->mesh->positions, m->mesh->tets + 4 * (size_t)t).quality);
    }
    return worst;
}

/* Moves a vertex toward its target, as far as the qualities of its tets allow. Returns true if it reaches the
 * target. */
static bool move_vertex(former *m, int32_t v)
{
    sinew_real *x = m->mesh->positions + 3 * (size_t)v, from[3];
    memcpy(from, x, sizeof from);
    for (int step = STEPS; step > 0; step--) {
        for (int c = 0; c < 3; c++) {
            const sinew_real to = m->nearest[v].point[c];
            x[c] = step == STEPS ? to : from[c] + (to - from[c]) * (sinew_real)step / STEPS;
        }
        if (worst_quality_around(m, v) >= FILL_WORST)
            return step == STEPS;
    }
    memcpy(x, from, sizeof from);
    return false;
}

static void move_boundary_vertices(former *m)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int32_t v = 0; v < m->mesh->vertex_count; v++)
            if (m->moves[v] == 1 && move_vertex(m, v))
                m->moves[v] = 2;
}

/* ---- Moves that cover volume cut off by boundary faces ------------------------------------------- */

/* Boundary faces of the kept tets. */
typedef struct hull {
    const former *m;
    const int32_t *tets; /* [4 * number of kept tets] vertices of the kept tets */
    int32_t *faces;      /* [3 * count] vertices of the boundary faces; NULL: faces are only counted */
    int64_t count;
} hull;

static void add_boundary_face(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    hull *h = context;
    (void)vertices;
    if (use_count != 1)
        return;
    const int32_t *tet = h->tets + uses[0].minor / 4 * 4, *face = sinew_tet_faces[uses[0].minor % 4];
    for (int64_t i = 0; h->faces && i < 3; i++)
        h->faces[3 * h->count + i] = tet[face[i]];
    h->count++;
}

/* Finds the boundary faces of the kept tets: *faces [3 * *count], which the caller releases. */
static sinew_status find_hull(const former *m, int32_t **faces, int64_t *count)
{
    const sinew_allocator *allocator = &m->f->allocator;
    int32_t *tets = sinew_allocate(allocator, 4 * (size_t)m->mesh->tet_count, sizeof *tets);
    if (!tets)
        return sinew_fail_memory(m->f->error, "the boundary of a body");
    sinew_elements elements = {tets, 0, 4};
    for (int32_t t = 0; t < m->mesh->tet_count; t++)
        if (m->stays[t] == STAYS)
            memcpy(tets + 4 * (size_t)elements.count++, m->mesh->tets + 4 * (size_t)t, 4 * sizeof *tets);
    hull h = {.m = m, .tets = tets};
    sinew_status status =
        sinew_visit_facets(allocator, m->mesh->vertex_count, &elements, add_boundary_face, &h, m->f->error);
    if (status == SINEW_OK) {
        h.faces = sinew_allocate(allocator, 3 * (size_t)h.count, sizeof *h.faces);
        h.count = 0;
        status = h.faces ? sinew_visit_facets(allocator, m->mesh->vertex_count, &elements, add_boundary_face, &h,
                                              m->f->error)
                         : sinew_fail_memory(m->f->error, "the boundary of a body");
    }
    sinew_release(allocator, tets);
    *faces = h.faces;
    *count = h.count;
    return status;
}

/* Buffers for BVH queries at the centroids of boundary faces, and for the displacements of vertices. */
typedef struct push {
    int32_t *faces; /* [3 * count] vertices of the boundary faces of the kept tets */
    int64_t count;
    sinew_real *middle;        /* [3 * count] centroids of the boundary faces, in m */
    sinew_real *winding;       /* [count] winding numbers of the surface at the faces' centroids */
    sinew_tree_point *nearest; /* [count] points of the surface nearest to the faces' centroids */
    /* [4 * vertex_count] per vertex: sum of its face normals, then the length of its displacement in m */
    double *out;
} push;

/* Computes a displacement of each boundary vertex: along the sum of its face normals, by the largest depth of the
 * centroids of its faces inside the surface. */
static void gather_pushes(const former *m, push *p)
{
    const sinew_real *x = m->mesh->positions;
    for (int64_t i = 0; i < 3 * p->count; i++)
        p->middle[i] = (x[3 * (size_t)p->faces[i / 3 * 3] + (size_t)(i % 3)] +
                        x[3 * (size_t)p->faces[i / 3 * 3 + 1] + (size_t)(i % 3)] +
                        x[3 * (size_t)p->faces[i / 3 * 3 + 2] + (size_t)(i % 3)]) /
                       3;
    sinew_tree_winding(m->f->tree, p->count, p->middle, p->winding);
    sinew_tree_nearest(m->f->tree, p->count, p->middle, NULL, p->nearest);
    memset(p->out, 0, 4 * (size_t)m->mesh->vertex_count * sizeof *p->out);
    for (int64_t i = 0; i < p->count; i++) {
        const int32_t *face = p->faces + 3 * i;
        const sinew_real *a = x + 3 * (size_t)face[0], *b = x + 3 * (size_t)face[1], *c = x + 3 * (size_t)face[2];
        const bool inside = fabs((double)p->winding[i]) > FILL_INSIDE;
        for (int v = 0; v < 3; v++) {
            double *out = p->out + 4 * (size_t)face[v];
            for (int k = 0; k < 3; k++) {
                const int u = (k + 1) % 3, w = (k + 2) % 3;
                out[k] += ((double)b[u] - (double)a[u]) * ((double)c[w] - (double)a[w]) -
                          ((double)b[w] - (double)a[w]) * ((double)c[u] - (double)a[u]);
            }
            out[3] = fmax(out[3], inside ? (double)p->nearest[i].distance : 0);
        }
    }
}

/* Moves boundary vertices by the displacements of gather_pushes(), as far as the qualities of their tets allow; skips
 * displacements over half a lattice cell. */
static void move_outward(former *m, const push *p)
{
    for (int32_t v = 0; v < m->mesh->vertex_count; v++) {
        const double *out = p->out + 4 * (size_t)v;
        const double length = vec3_norm(out);
        if (!m->moves[v] || !(out[3] > 0) || !(length > 0) || out[3] > 0.5 * m->f->lattice.cell)
            continue;
        for (int c = 0; c < 3; c++)
            m->nearest[v].point[c] =
                m->mesh->positions[3 * (size_t)v + (size_t)c] + (sinew_real)(out[3] * out[c] / length);
        move_vertex(m, v);
    }
}

/* Moves the corners of boundary faces outward. A face with corners on a convex surface cuts off volume: its corners
 * move outward once, by the depth of its centroid inside the surface. */
static sinew_status cover_cut_off_volume(former *m)
{
    push p = {0};
    const sinew_allocator *allocator = &m->f->allocator;
    sinew_status status = find_hull(m, &p.faces, &p.count);
    const size_t count = (size_t)p.count;
    if (status == SINEW_OK) {
        p.middle = sinew_allocate(allocator, 3 * count, sizeof *p.middle);
        p.winding = sinew_allocate(allocator, count, sizeof *p.winding);
        p.nearest = sinew_allocate(allocator, count, sizeof *p.nearest);
        p.out = sinew_allocate(allocator, 4 * (size_t)m->mesh->vertex_count, sizeof *p.out);
        if (!p.middle || !p.winding || !p.nearest || !p.out)
            status = sinew_fail_memory(m->f->error, "the boundary of a body");
    }
    if (status == SINEW_OK) {
        gather_pushes(m, &p);
        move_outward(m, &p);
    }
    sinew_release(allocator, p.faces);
    sinew_release(allocator, p.middle);
    sinew_release(allocator, p.winding);
    sinew_release(allocator, p.nearest);
    sinew_release(allocator, p.out);
    return status;
}

/* ---- Choice of the kept tets after the moves ----------------------------------------------------- */

static sinew_status find_overlapping_triangles(const former *m, const int32_t *tet, int32_t **near, int64_t *capacity,
                                               int64_t *count)
{
    sinew_real box[6];
    for (size_t c = 0; c < 3; c++) {
        box[c] = box[3 + c] = m->mesh->positions[3 * (size_t)tet[0] + c];
        for (int i = 1; i < 4; i++) {
            const sinew_real x = m->mesh->positions[3 * (size_t)tet[i] + c];
            box[c] = x < box[c] ? x : box[c];
            box[3 + c] = x > box[3 + c] ? x : box[3 + c];
        }
    }
    *count = sinew_tree_overlaps(m->f->tree, box, *near, *capacity);
    if (*count <= *capacity)
        return SINEW_OK;
    sinew_release(&m->f->allocator, *near);
    *capacity = 2 * *count;
    *near = sinew_allocate(&m->f->allocator, (size_t)*capacity, sizeof **near);
    if (!*near)
        return sinew_fail_memory(m->f->error, "the boundary of a body");
    *count = sinew_tree_overlaps(m->f->tree, box, *near, *capacity);
    return SINEW_OK;
}

/* The filled fraction of a tet from its 64 samples, relative to the winding number at the most central sample. */
static double sample_moved_tet(const former *m, const int32_t *tet, const int32_t *near, int64_t count)
{
    const fill_pattern *pattern = &m->f->pattern;
    double corners[4][3], max = 0;
    sinew_real middle[3], winding;
    fill_trace trace;
    int centre = 0, inside = 0;
    for (size_t i = 0; i < 4; i++)
        for (size_t c = 0; c < 3; c++)
            corners[i][c] = (double)m->mesh->positions[3 * (size_t)tet[i] + c];
    sinew_fill_trace(&m->f->surface, pattern, (const double(*)[3])corners, near, count, &trace);
    for (int a = 0; a < FILL_SAMPLES; a++) {
        const double *w = pattern->weights[a], min = fmin(fmin(w[0], w[1]), fmin(w[2], w[3]));
        if (min > max) {
            max = min;
            centre = a;
        }
    }
    for (int c = 0; c < 3; c++)
        middle[c] = (sinew_real)trace.x[centre][c];
    sinew_tree_winding(m->f->tree, 1, middle, &winding);
    for (int a = 0; a < FILL_SAMPLES; a++)
        inside += fabs((double)winding + trace.C[a] - trace.C[centre]) > FILL_INSIDE;
    return (double)inside / FILL_SAMPLES;
}

static bool tet_has_moved_vertex(const former *m, const int32_t *tet)
{
    return m->moves[tet[0]] || m->moves[tet[1]] || m->moves[tet[2]] || m->moves[tet[3]];
}

static sinew_status sample_moved_tets(former *m)
{
    int64_t capacity = 256, count;
    int32_t *near = sinew_allocate(&m->f->allocator, (size_t)capacity, sizeof *near);
    sinew_status status = near ? SINEW_OK : sinew_fail_memory(m->f->error, "the boundary of a body");
    for (int32_t t = 0; status == SINEW_OK && t < m->mesh->tet_count; t++) {
        const int32_t *tet = m->mesh->tets + 4 * (size_t)t;
        if (m->f->fixed[t] || !tet_has_moved_vertex(m, tet))
            continue;
        if (m->stays[t] == WAITS && sinew_shape_of_tet(m->mesh->positions, tet).quality < FILL_WORST) {
            m->stays[t] = GOES;
            continue;
        }
        status = find_overlapping_triangles(m, tet, &near, &capacity, &count);
        if (status == SINEW_OK) {
            const double filled = sample_moved_tet(m, tet, near, count);
            m->stays[t] = filled > (m->stays[t] == WAITS ? FILL_TINY : 0) ? STAYS : GOES;
            m->mesh->fractions[t] = (sinew_real)fmax(FILL_MIN, filled);
        }
    }
    sinew_release(&m->f->allocator, near);
    return status;
}

/* ---- The resulting mesh of kept tets ------------------------------------------------------------- */

/* Drops the tets that are removed (GOES), and the vertices that no remaining tet has; the order stays. numbers
 * [vertex_count] is work space for new vertex indices. */
static void pack_mesh(former *m, int32_t *numbers)
{
    sinew_mesh *mesh = m->mesh;
    int32_t tets = 0, vertices = 0;
    memset(numbers, 0, (size_t)mesh->vertex_count * sizeof *numbers);
    for (int32_t t = 0; t < mesh->tet_count; t++)
        for (int i = 0; m->stays[t] && i < 4; i++)
            numbers[mesh->tets[4 * (size_t)t + (size_t)i]] = 1;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        if (numbers[v]) {
            memmove(mesh->positions + 3 * (size_t)vertices, mesh->positions + 3 * (size_t)v,
                    3 * sizeof *mesh->positions);
            numbers[v] = vertices++;
        }
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        if (!m->stays[t])
            continue;
        for (size_t i = 0; i < 4; i++)
            mesh->tets[4 * (size_t)tets + i] = numbers[mesh->tets[4 * (size_t)t + i]];
        mesh->fractions[tets++] = mesh->fractions[t];
    }
    mesh->tet_count = tets;
    mesh->vertex_count = vertices;
}

static sinew_status conform_mesh(former *m)
{
    const sinew_elements tets = {m->mesh->tets, m->mesh->tet_count, 4};
    sinew_status status = conform_classify_vertices(m);
    if (status == SINEW_OK)
        status = sinew_incidence_build(&m->around, &m->f->allocator, m->mesh->vertex_count, &tets, m->f->error);
    if (status != SINEW_OK)
        return status;
    conform_choose_tets(m);
    move_boundary_vertices(m);
    status = cover_cut_off_volume(m);
    if (status == SINEW_OK)
        status = sample_moved_tets(m);
    int32_t *numbers = sinew_allocate(&m->f->allocator, (size_t)m->mesh->vertex_count, sizeof *numbers);
    if (status == SINEW_OK && !numbers)
        status = sinew_fail_memory(m->f->error, "the boundary of a body");
    if (status == SINEW_OK)
        pack_mesh(m, numbers);
    sinew_release(&m->f->allocator, numbers);
    return status;
}

sinew_mesh *sinew_fill_conform(fill *f, sinew_mesh *mesh)
{
    former m = {.f = f, .mesh = mesh};
    const sinew_status status = conform_mesh(&m);
    sinew_release(&f->allocator, m.inside);
    sinew_release(&f->allocator, m.nearest);
    sinew_release(&f->allocator, m.moves);
    sinew_release(&f->allocator, m.stays);
    sinew_incidence_free(&m.around, &f->allocator);
    if (status != SINEW_OK) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}
