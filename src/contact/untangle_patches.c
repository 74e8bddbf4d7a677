/* SPDX-License-Identifier: MIT
 *
 * untangle_patches.c: moves vertices of surfaces that no translation of a whole body frees: cloth that passes through
 * cloth, an object that intersects itself, bodies with pins.
 *
 * Crossings whose primitives share vertices on both sides form a patch. A shallow patch is separated by the plane, of
 * normal n, that both sides overlap least,
 *
 *     depth(n) = max over the second side of n.x  -  min over the first side of n.x,
 *
 * with n among the normals of its faces: vertices beyond the plane move onto it. A deep patch follows the gradient of
 * the length of its contour (Volino and Magnenat-Thalmann 2006, "Resolving surface collisions through intersection
 * contour minimization", equation 3): for an edge of direction E through a face of normal N, with R the unit direction
 * of the contour into the surface of the edge, a displacement of the edge relative to the face changes the length by
 *
 *     G = -R + 2 (R.E)/(N.E) N,        summed over the patch, because single gradients point in all directions.
 *
 * Vertices inside a closed object move towards the nearest point of its surface. Two closed objects that cannot be
 * translated are parted by the plane in the middle of their common volume.
 */
#include <math.h>
#include <string.h>

#include "contact/untangle.h"
#include "math/vec3.h"

/* A patch is shallow up to this depth, in offsets. Chosen: the planes of deeper patches would fold the surface. */
#define SHALLOW 2.0
/* Displacement of a deep patch in one step, in offsets, and at most this fraction of the mean edge. Chosen, not
 * measured. */
#define STRIDE       0.5
#define STRIDE_EDGES 0.1
/* Smallest |N.E| of unit vectors in the gradient: an edge parallel to the face has no bound. */
#define SLANT_MIN 0.1
/* Crossings of two objects up to which patches are found: the search takes quadratic time. */
#define PATCH_CROSSINGS 3000
#define NORMALS_TRIED   12 /* crossings of a patch whose normals are tried */

enum {
    SIDE_FIRST = 1,
    SIDE_SECOND = 2
};

typedef struct patch_work {
    const sinew_contact_view *view;
    const sinew_overlap *overlap;
    const sinew_crossing *crossings; /* [count] crossings of the overlap */
    int32_t count;
    int32_t *patch; /* [count] number of the patch of each crossing */
    uint8_t *flip;  /* [count] 1: the first primitive of the crossing is on the second side of its patch */
    int32_t *queue; /* [count] work space */
    uint8_t *side;  /* [vertex_count] bits SIDE_... of the vertices of the current patch */
    double offset;  /* contact offset of the two objects, in m */
} patch_work;

/* ---- Patches ------------------------------------------------------------------------------------ */

/* Primitive of a crossing on one side of its patch. */
static int32_t crossing_primitive(const patch_work *w, int32_t k, bool second)
{
    const sinew_crossing *p = &w->crossings[k];
    return p->edge_first == (second == (bool)w->flip[k]) ? p->owner : p->face;
}

static bool primitives_meet(const sinew_collision_mesh *f, int32_t p, int32_t q)
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            if (f->primitives[p][i] == f->primitives[q][k])
                return true;
    return false;
}

/* True if crossings i and k continue each other on one contour: on each side of the patch, their primitives share a
 * vertex. */
static bool crossings_meet(const patch_work *w, int32_t i, int32_t k)
{
    const sinew_collision_mesh *f = &w->view->contact->mesh;
    return primitives_meet(f, crossing_primitive(w, i, false), crossing_primitive(w, k, false)) &&
           primitives_meet(f, crossing_primitive(w, i, true), crossing_primitive(w, k, true));
}

/* Assigns each crossing of the overlap to a patch; returns the number of patches. */
static int32_t find_patches(patch_work *w)
{
    const bool self = w->overlap->a == w->overlap->b, whole = w->count > PATCH_CROSSINGS;
    int32_t patches = 0;
    for (int32_t k = 0; k < w->count; k++) {
        w->patch[k] = whole ? 0 : -1;
        w->flip[k] = 0;
    }
    for (int32_t start = 0; start < w->count && !whole; start++) {
        if (w->patch[start] >= 0)
            continue;
        int32_t head = 0, tail = 0;
        w->patch[start] = patches;
        w->queue[tail++] = start;
        while (head < tail) {
            const int32_t i = w->queue[head++];
            for (int32_t k = start + 1; k < w->count; k++) {
                if (w->patch[k] >= 0)
                    continue;
                bool meets = crossings_meet(w, i, k);
                if (!meets && self) {
                    w->flip[k] = 1;
                    meets = crossings_meet(w, i, k);
                    w->flip[k] = meets;
                }
                if (!meets)
                    continue;
                w->patch[k] = patches;
                w->queue[tail++] = k;
            }
        }
        patches++;
    }
    return whole ? 1 : patches;
}

/* Sets or clears the side bits of the vertices of a patch. */
static void mark_sides(patch_work *w, int32_t patch, bool set)
{
    const sinew_collision_mesh *f = &w->view->contact->mesh;
    for (int32_t k = 0; k < w->count; k++)
        for (int i = 0; w->patch[k] == patch && i < 6; i++) {
            uint8_t *side = &w->side[f->primitives[crossing_primitive(w, k, i >= 3)][i % 3]];
            *side = set ? (uint8_t)(*side | (i < 3 ? SIDE_FIRST : SIDE_SECOND)) : 0;
        }
}

/* ---- Shallow patches ---------------------------------------------------------------------------- */

static double vertex_height(const sinew_contact_work *c, int32_t v, const double n[3])
{
    double height = 0;
    for (size_t k = 0; k < 3; k++)
        height += n[k] * (double)c->x_pass_start[4 * (size_t)v + k];
    return height;
}

static bool vertex_is_fixed(const sinew_contact_view *view, int32_t v)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    return v >= f->moved_count || f->particle[v] < 0 || view->pinned[f->particle[v]];
}

/* Heights along n that bound both sides of a patch. */
typedef struct patch_range {
    double low, high;             /* lowest vertex of the first side, highest of the second */
    double low_fixed, high_fixed; /* `low` and `high` over the vertices that cannot move */
} patch_range;

static patch_range patch_range_along(const patch_work *w, int32_t patch, const double n[3])
{
    const sinew_contact_work *c = w->view->contact;
    patch_range r = {HUGE_VAL, -HUGE_VAL, HUGE_VAL, -HUGE_VAL};
    for (int32_t k = 0; k < w->count; k++)
        for (int i = 0; w->patch[k] == patch && i < 6; i++) {
            const int32_t v = c->mesh.primitives[crossing_primitive(w, k, i >= 3)][i % 3];
            const double height = vertex_height(c, v, n);
            const bool fixed = vertex_is_fixed(w->view, v);
            if (w->side[v] == SIDE_FIRST) {
                r.low = fmin(r.low, height);
                r.low_fixed = fixed ? fmin(r.low_fixed, height) : r.low_fixed;
            } else if (w->side[v] == SIDE_SECOND) {
                r.high = fmax(r.high, height);
                r.high_fixed = fixed ? fmax(r.high_fixed, height) : r.high_fixed;
            }
        }
    return r;
}

static void patch_try_plane(const patch_work *w, int32_t patch, const double direction[3], double n[3], double *depth)
{
    const double length = vec3_norm(direction);
    if (!(length > 0))
        return;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double m[3] = {sign * direction[0] / length, sign * direction[1] / length, sign * direction[2] / length};
        const patch_range r = patch_range_along(w, patch, m);
        /* Vertices that cannot move must already be on their own side of the plane. */
        if (!(r.high - r.low < *depth) || !(r.high_fixed < r.low_fixed))
            continue;
        *depth = r.high - r.low;
        memcpy(n, m, sizeof m);
    }
}

/* Finds the plane that both sides of a patch overlap least. Returns the depth, HUGE_VAL: there is none. */
static double patch_find_plane(const patch_work *w, int32_t patch, double n[3])
{
    double depth = HUGE_VAL, sum[2][3] = {{0}};
    int32_t members = 0, number = 0;
    for (int32_t k = 0; k < w->count; k++)
        members += w->patch[k] == patch;
    const int32_t step = members > NORMALS_TRIED ? members / NORMALS_TRIED : 1;
    for (int32_t k = 0; k < w->count; k++) {
        if (w->patch[k] != patch)
            continue;
        for (int s = 0; s < 2; s++) {
            double m[3];
            sinew_primitive_normal(w->view->contact, crossing_primitive(w, k, s), m);
            /* The normals of a sheet have no outward sign: each is added with the sign that agrees with the sum so
             * far. */
            const double sign = vec3_dot(m, sum[s]) < 0 ? -1 : 1;
            for (int i = 0; i < 3; i++)
                sum[s][i] += sign * m[i];
            if (number % step == 0)
                patch_try_plane(w, patch, m, n, &depth);
        }
        number++;
    }
    patch_try_plane(w, patch, sum[0], n, &depth);
    patch_try_plane(w, patch, sum[1], n, &depth);
    return depth;
}

static void shift_vertex(const sinew_contact_view *view, int32_t v, const double n[3], double distance)
{
    double *shift = view->contact->untangle->shift + 3 * (size_t)v;
    if (vertex_is_fixed(view, v))
        return;
    /* A vertex of several patches takes the longest displacement. */
    for (int k = 0; fabs(distance) > vec3_norm(shift) && k < 3; k++)
        shift[k] = distance * n[k];
}

/* Moves the vertices of a patch onto their sides of the plane. */
static void part_patch(const patch_work *w, int32_t patch, const double n[3], double depth)
{
    const sinew_contact_work *c = w->view->contact;
    const patch_range r = patch_range_along(w, patch, n);
    const double gap = SINEW_UNTANGLE_TARGET * w->offset, limit = fmax(w->offset, SINEW_UNTANGLE_FRACTION * depth);
    double middle = (r.low + r.high) / 2;
    middle = fmax(middle, r.high_fixed + gap / 2);
    middle = fmin(middle, r.low_fixed - gap / 2);
    for (int32_t k = 0; k < w->count; k++)
        for (int i = 0; w->patch[k] == patch && i < 6; i++) {
            const int32_t v = c->mesh.primitives[crossing_primitive(w, k, i >= 3)][i % 3];
            const double above = vertex_height(c, v, n) - middle;
            if (w->side[v] == SIDE_FIRST && above < gap / 2)
                shift_vertex(w->view, v, n, fmin(gap / 2 - above, limit));
            else if (w->side[v] == SIDE_SECOND && above > -gap / 2)
                shift_vertex(w->view, v, n, fmax(-gap / 2 - above, -limit));
        }
}

/* ---- Deep patches ------------------------------------------------------------------------------- */

/* Adds the gradient of the contour length by a displacement of the first side at one crossing. */
static void add_contour_gradient(const patch_work *w, int32_t k, double gradient[3])
{
    const sinew_contact_work *c = w->view->contact;
    const sinew_crossing *p = &w->crossings[k];
    double R[3], E[3], N[3];
    if (p->other < 0)
        return;
    vec3_sub(c->untangle->tangle.crossings[p->other].x, p->x, R);
    vec3_edge(c->x_pass_start + 4 * (size_t)p->edge[0], c->x_pass_start + 4 * (size_t)p->edge[1], E);
    sinew_primitive_normal(c, p->face, N);
    const double r = vec3_norm(R), e = vec3_norm(E), n = vec3_norm(N);
    if (!(r > 0) || !(e > 0) || !(n > 0))
        return;
    double slant = vec3_dot(N, E) / (n * e);
    slant = fabs(slant) < SLANT_MIN ? (slant < 0 ? -SLANT_MIN : SLANT_MIN) : slant;
    const double factor = 2 * vec3_dot(R, E) / (r * e) / slant;
    const double sign = p->edge_first == !w->flip[k] ? 1 : -1;
    for (int i = 0; i < 3; i++)
        gradient[i] += sign * (-R[i] / r + factor * N[i] / n);
}

static void patch_follow_gradient(const patch_work *w, int32_t patch)
{
    const sinew_contact_work *c = w->view->contact;
    double gradient[3] = {0, 0, 0};
    for (int32_t k = 0; k < w->count; k++)
        if (w->patch[k] == patch)
            add_contour_gradient(w, k, gradient);
    const double size = vec3_norm(gradient);
    if (!(size > 0))
        return;
    const double edge = fmin(c->mean_edge[w->overlap->a], c->mean_edge[w->overlap->b]);
    const double stride = fmin(fmax(STRIDE * w->offset, 0), STRIDE_EDGES * edge);
    const double n[3] = {-gradient[0] / size, -gradient[1] / size, -gradient[2] / size};
    bool fixed[2] = {false, false};
    for (int32_t v = 0; v < c->mesh.vertex_count; v++)
        for (int s = 0; s < 2; s++)
            fixed[s] = fixed[s] || (w->side[v] == s + 1 && vertex_is_fixed(w->view, v));
    const double share = fixed[0] == fixed[1] ? 0.5 : fixed[0] ? 0 : 1;
    for (int32_t v = 0; v < c->mesh.moved_count; v++) {
        if (w->side[v] == SIDE_FIRST)
            shift_vertex(w->view, v, n, share * stride);
        else if (w->side[v] == SIDE_SECOND)
            shift_vertex(w->view, v, n, -(1 - share) * stride);
    }
}

/* ---- Vertices inside closed objects -------------------------------------------------------------- */

/* Moves a vertex that is inside a closed object towards the surface by one stride, which vertex and face share if
 * both can move. */
static void push_vertex_out(const patch_work *w, int32_t v)
{
    const sinew_contact_work *c = w->view->contact;
    sinew_bearing bearing;
    const double depth = sinew_overlap_exit(w->view, w->overlap, v, &bearing);
    if (depth < 0)
        return;
    bool fixed = true;
    for (int k = 0; k < 3; k++)
        fixed = fixed && vertex_is_fixed(w->view, c->mesh.primitives[bearing.face][k]);
    const double stride = sinew_overlap_stride(w->view, w->overlap, depth), share = fixed                         ? 1
                                                                                    : vertex_is_fixed(w->view, v) ? 0
                                                                                                                  : 0.5;
    shift_vertex(w->view, v, bearing.n, share * stride);
    for (int k = 0; k < 3; k++)
        shift_vertex(w->view, c->mesh.primitives[bearing.face][k], bearing.n, -(1 - share) * stride);
}

/* ---- Two closed objects that cannot be translated ------------------------------------------------ */

/* Moves vertices of two closed objects onto the plane in the middle of their common volume, by at most one stride:
 * those inside the other object, and those of crossing primitives within that volume. */
static void part_closed_objects(const patch_work *w)
{
    const sinew_contact_work *c = w->view->contact;
    const sinew_overlap *o = w->overlap;
    const sinew_tangle *t = &c->untangle->tangle;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int32_t k = 0; k < w->count; k++) {
        low = fmin(low, vec3_dot(o->n, w->crossings[k].x));
        high = fmax(high, vec3_dot(o->n, w->crossings[k].x));
    }
    for (int32_t k = o->first_inside; k < o->first_inside + o->inside_count; k++) {
        low = fmin(low, vertex_height(c, t->inside[k], o->n));
        high = fmax(high, vertex_height(c, t->inside[k], o->n));
    }
    const double gap = SINEW_UNTANGLE_TARGET * w->offset, middle = (low + high) / 2,
                 stride = sinew_overlap_stride(w->view, o, high - low);
    for (int32_t k = 0; k < 6 * w->count + o->inside_count; k++) {
        const sinew_crossing *p = &w->crossings[k < 6 * w->count ? k / 6 : 0];
        const int32_t v = k < 6 * w->count ? c->mesh.primitives[k % 6 < 3 ? p->owner : p->face][k % 3]
                                           : t->inside[o->first_inside + k - 6 * w->count];
        const double height = vertex_height(c, v, o->n);
        if (c->mesh.object[v] == o->a && height < middle + gap / 2 && height > low - gap)
            shift_vertex(w->view, v, o->n, fmin(middle + gap / 2 - height, stride));
        else if (c->mesh.object[v] == o->b && height > middle - gap / 2 && height < high + gap)
            shift_vertex(w->view, v, o->n, fmax(middle - gap / 2 - height, -stride));
    }
}

/* ---- All patches -------------------------------------------------------------------------------- */

static bool patch_allocate(patch_work *w, const sinew_allocator *m, int32_t vertex_count, size_t count)
{
    w->patch = sinew_allocate(m, count + 1, sizeof *w->patch);
    w->flip = sinew_allocate(m, count + 1, sizeof *w->flip);
    w->queue = sinew_allocate(m, count + 1, sizeof *w->queue);
    w->side = sinew_allocate_zero(m, (size_t)vertex_count + 1, sizeof *w->side);
    return w->patch && w->flip && w->queue && w->side;
}

static void patch_release(patch_work *w, const sinew_allocator *m)
{
    sinew_release(m, w->patch);
    sinew_release(m, w->flip);
    sinew_release(m, w->queue);
    sinew_release(m, w->side);
}

static void displace_overlap(patch_work *w)
{
    const sinew_tangle *t = &w->view->contact->untangle->tangle;
    const sinew_overlap *o = w->overlap;
    if (o->a != o->b && sinew_object_is_closed(w->view, o->a) && sinew_object_is_closed(w->view, o->b)) {
        part_closed_objects(w);
        return;
    }
    const int32_t patches = find_patches(w);
    for (int32_t patch = 0; patch < patches; patch++) {
        double n[3];
        mark_sides(w, patch, true);
        const double depth = patch_find_plane(w, patch, n);
        if (depth <= SHALLOW * w->offset)
            part_patch(w, patch, n, depth);
        else if (o->inside_count == 0)
            patch_follow_gradient(w, patch);
        mark_sides(w, patch, false);
    }
    for (int32_t k = o->first_inside; k < o->first_inside + o->inside_count; k++)
        push_vertex_out(w, t->inside[k]);
}

sinew_status sinew_untangle_patches(const sinew_contact_view *view, bool *moves, sinew_error *error)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    const sinew_tangle *t = &c->untangle->tangle;
    memset(c->untangle->shift, 0, 3 * (size_t)f->moved_count * sizeof *c->untangle->shift);
    *moves = false;
    for (int32_t k = 0; k < t->overlap_count; k++) {
        const sinew_overlap *o = &t->overlaps[k];
        if (o->way != SINEW_OVERLAP_PATCHES)
            continue;
        patch_work w = {.view = view,
                        .overlap = o,
                        .crossings = t->crossings + o->first_crossing,
                        .count = o->crossing_count,
                        .offset = sinew_overlap_offset(f, o)};
        const bool good = patch_allocate(&w, view->allocator, f->vertex_count, (size_t)o->crossing_count);
        if (good)
            displace_overlap(&w);
        patch_release(&w, view->allocator);
        if (!good)
            return sinew_fail_memory(error, "overlapping surfaces");
        *moves = true;
    }
    return SINEW_OK;
}
