/* SPDX-License-Identifier: MIT
 *
 * untangle.c: the part of a step that frees overlapping surfaces, see untangle.h: positions move before the first
 * detection pass, through the step filter, so that pairs which do not overlap stay free.
 *
 * Until a pair of objects is free, its candidate pairs have no direction: they are dropped from the pass. Overlapping
 * solids keep contacts (bearings) at vertices inside or at crossings, along the direction out of each other. Bearings
 * carry weight and resist sinking; their offset is the present distance, so they do no work on bodies that rest.
 * Limits: docs/guides/contact.md.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "contact/untangle.h"
#include "math/vec3.h"

/* Trials of a translation that the step filter truncates: the first HALVINGS halve the fractions of all groups, the
 * others set those of truncated groups to 0. Chosen, not measured. */
#define TRIALS      8
#define HALVINGS    5
#define MARKED      1 /* bits of `marked`: the vertex belongs to a primitive that intersects */
#define MARK_INSIDE 2 /* the vertex is inside a closed object */

enum {
    APART_WHOLE = 1, /* values of `apart`: all candidate pairs of two objects are dropped */
    APART_MARKED = 2 /* candidate pairs of marked features are dropped */
};

void sinew_contact_untangle_release(sinew_contact_work *c, const sinew_allocator *m)
{
    struct sinew_untangle *u = c->untangle;
    if (!u)
        return;
    sinew_tangle_release(&u->tangle, m);
    void *arrays[] = {u->apart, u->marked, u->group, u->mass, u->shift, u->translation, u};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(m, arrays[k]);
    c->untangle = NULL;
}

static bool untangle_reserve(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const sinew_allocator *m = view->allocator;
    const size_t objects = (size_t)c->mesh.object_count, n = (size_t)c->mesh.vertex_count;
    if (!c->untangle)
        c->untangle = sinew_allocate_zero(m, 1, sizeof *c->untangle);
    struct sinew_untangle *u = c->untangle;
    return u && sinew_reserve(m, &u->apart, &u->apart_capacity, objects * objects, 1) &&
           sinew_reserve(m, &u->marked, &u->marked_capacity, n, 1) &&
           sinew_reserve(m, &u->shift, &u->shift_capacity, 3 * n, sizeof *u->shift) &&
           sinew_reserve(m, &u->translation, &u->translation_capacity, 3 * objects, sizeof *u->translation);
}

/* ---- Candidate pairs between overlapping objects: dropped, or kept at their distance --------- */

/* Sets `apart` and `marked` from the overlaps: they select the candidate pairs that a detection pass drops. */
static void untangle_mark_dropped(const sinew_contact_view *view)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    struct sinew_untangle *u = c->untangle;
    const sinew_tangle *t = &u->tangle;
    const size_t n = (size_t)f->object_count;
    memset(u->apart, 0, n * n);
    memset(u->marked, 0, (size_t)f->vertex_count);
    for (int32_t k = 0; k < t->overlap_count; k++) {
        const sinew_overlap *o = &t->overlaps[k];
        const uint8_t how = o->way == SINEW_OVERLAP_WHOLE     ? APART_WHOLE
                            : o->way == SINEW_OVERLAP_PATCHES ? APART_MARKED
                                                              : 0;
        u->apart[(size_t)o->a * n + (size_t)o->b] = u->apart[(size_t)o->b * n + (size_t)o->a] = how;
        for (int32_t i = 0; how == APART_MARKED && i < o->crossing_count; i++) {
            const sinew_crossing *p = &t->crossings[o->first_crossing + i];
            for (int j = 0; j < 3; j++) {
                u->marked[f->primitives[p->owner][j]] |= MARKED;
                u->marked[f->primitives[p->face][j]] |= MARKED;
            }
        }
        for (int32_t i = 0; how == APART_MARKED && i < o->inside_count; i++)
            u->marked[t->inside[o->first_inside + i]] |= MARK_INSIDE;
    }
}

/* True if the distance of the pair is signed: to a plane, a sphere or a capsule. */
static bool candidate_is_signed(const sinew_contact_work *c, const sinew_candidate *p)
{
    return p->kind == SINEW_CANDIDATE_VERTEX_PLANE || c->mesh.objects[c->mesh.object[p->v[0]]].radius > 0 ||
           c->mesh.objects[c->mesh.object[p->v[3]]].radius > 0;
}

/* True if an overlap leaves a candidate pair without a separating direction. Pairs with planes, spheres and capsules
 * have signed distances, and so always a direction. */
static bool candidate_is_dropped(const sinew_contact_work *c, const sinew_candidate *p)
{
    const sinew_collision_mesh *f = &c->mesh;
    const struct sinew_untangle *u = c->untangle;
    if (p->kind == SINEW_CANDIDATE_VERTEX_PLANE)
        return false;
    const int32_t a = f->object[p->v[0]], b = f->object[p->v[3]];
    const uint8_t how = u->apart[(size_t)a * (size_t)f->object_count + (size_t)b];
    if (how != APART_MARKED)
        return how == APART_WHOLE && !(f->objects[a].radius > 0) && !(f->objects[b].radius > 0);
    uint8_t first = 0, second = 0;
    for (int i = 0; i < 4; i++)
        *(i < (p->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1) ? &first : &second) |= u->marked[p->v[i]];
    return (first & second & MARKED) || ((first | second) & MARK_INSIDE);
}

/* The bearing at one crossing: the end of the crossing edge that is deeper in the other object, and the crossed
 * point of the face. */
static void bearing_of_crossing(const sinew_contact_work *c, const sinew_overlap *o, const sinew_crossing *crossing,
                                sinew_bearing *bearing)
{
    double height[2] = {0, 0};
    for (size_t k = 0; k < 3; k++) {
        bearing->n[k] = crossing->edge_first ? o->n[k] : -o->n[k];
        bearing->w[k] = crossing->w[k];
        for (int e = 0; e < 2; e++)
            height[e] += bearing->n[k] * (double)c->x_pass_start[4 * (size_t)crossing->edge[e] + k];
    }
    bearing->vertex = crossing->edge[height[1] < height[0]];
    bearing->face = crossing->face;
}

/* Lists the bearings of all overlaps at x_pass_start: vertices inside, or crossings where there are none. False: out of
 * memory. */
static bool list_bearings(const sinew_contact_view *view)
{
    const sinew_contact_work *c = view->contact;
    sinew_tangle *t = &c->untangle->tangle;
    t->bearing_count = 0;
    if (!sinew_reserve_spare(view->allocator, &t->bearings, &t->bearing_capacity,
                             (size_t)t->crossing_count + (size_t)t->inside_count + 1, sizeof *t->bearings))
        return false;
    for (int32_t k = 0; k < t->overlap_count; k++) {
        const sinew_overlap *o = &t->overlaps[k];
        const int32_t before = t->bearing_count;
        const bool solids = sinew_object_is_closed(view, o->a) && sinew_object_is_closed(view, o->b);
        if (o->way == SINEW_OVERLAP_JOINED || c->mesh.objects[o->b].vertex_count == 0)
            continue;
        for (int32_t i = 0; i < o->inside_count; i++)
            t->bearing_count +=
                sinew_overlap_exit(view, o, t->inside[o->first_inside + i], &t->bearings[t->bearing_count]) > 0;
        if ((o->way != SINEW_OVERLAP_WHOLE && !solids) || o->a == o->b || t->bearing_count > before)
            continue;
        for (int32_t i = 0; i < o->crossing_count; i++)
            bearing_of_crossing(c, o, &t->crossings[o->first_crossing + i], &t->bearings[t->bearing_count++]);
    }
    return true;
}

/* Appends the candidate pair of a bearing, at its distance at the start of the step. */
static bool add_bearing_pair(const sinew_contact_view *view, const sinew_bearing *b)
{
    const sinew_contact_work *c = view->contact;
    const int32_t *face = c->mesh.primitives[b->face];
    double distance = 0;
    for (size_t k = 0; k < 3; k++) {
        distance += b->n[k] * (double)c->x_step_start[4 * (size_t)b->vertex + k];
        for (int i = 0; i < 3; i++)
            distance -= b->n[k] * b->w[i] * (double)c->x_step_start[4 * (size_t)face[i] + k];
    }
    sinew_candidate *p = sinew_contact_add_pair(view);
    if (!p)
        return false;
    *p = (sinew_candidate){.v = {b->vertex, face[0], face[1], face[2]},
                           .first = b->vertex,
                           .second = b->face,
                           .w = {1},
                           .kind = SINEW_CANDIDATE_VERTEX_FACE,
                           .distance = (sinew_real)distance,
                           .inside = SINEW_CANDIDATE_OVERLAPS};
    for (int k = 0; k < 3; k++) {
        p->w[1 + k] = (sinew_real)-b->w[k];
        p->n[k] = (sinew_real)b->n[k];
    }
    return true;
}

/* Makes an overlapping pair with a plane, a sphere or a capsule keep its distance. For a plane, all passes use the
 * distance at the start of the step: an iterate that is not converged may be above the plane. */
static void signed_pair_keep_distance(const sinew_contact_work *c, sinew_candidate *p)
{
    p->inside = SINEW_CANDIDATE_OVERLAPS;
    if (p->kind != SINEW_CANDIDATE_VERTEX_PLANE)
        return;
    double distance = (double)p->distance;
    for (size_t k = 0; k < 3; k++) {
        const size_t at = 4 * (size_t)p->v[0] + k;
        distance += (double)p->n[k] * ((double)c->x_step_start[at] - (double)c->x_pass_start[at]);
    }
    p->distance = (sinew_real)fmin(distance, 0);
}

sinew_status sinew_contact_drop_overlaps(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    if (!c->overlapping)
        return SINEW_OK;
    const sinew_tangle *t = &c->untangle->tangle;
    int64_t kept = 0;
    for (int64_t k = 0; k < c->pairs.count; k++) {
        sinew_candidate *p = &c->pairs.list[k];
        if (candidate_is_dropped(c, p))
            continue;
        if (!(p->distance > 0) && !p->inside && candidate_is_signed(c, p))
            signed_pair_keep_distance(c, p);
        c->pairs.list[kept++] = *p;
    }
    c->pairs.count = kept;
    for (int32_t k = 0; k < t->bearing_count; k++)
        if (!add_bearing_pair(view, &t->bearings[k]))
            return sinew_fail_memory(error, "overlapping surfaces");
    return SINEW_OK;
}

/* ---- Motion ------------------------------------------------------------------------------------ */

static void move_particle(const sinew_contact_view *view, int32_t p, const double d[3])
{
    const sinew_contact_work *c = view->contact;
    for (size_t k = 0; k < 3; k++) {
        const size_t at = 4 * (size_t)p + k;
        view->q[at] = (sinew_real)((double)view->q[at] + d[k]);
        view->q_tilde[at] = (sinew_real)((double)view->q_tilde[at] + d[k]);
        c->guess[at] = (sinew_real)((double)c->guess[at] + d[k]);
    }
}

/* Displacement of a vertex by untangling, in m; `whole`: the translation of its group of bodies times the group's
 * fraction, else the shift of the vertex alone. */
static void vertex_displacement(const sinew_contact_work *c, int32_t v, bool whole, double d[3])
{
    const struct sinew_untangle *u = c->untangle;
    const int32_t group = u->group[c->mesh.object[v]];
    for (size_t k = 0; k < 3; k++)
        d[k] = whole ? c->progress[group] * u->translation[3 * (size_t)group + k] : u->shift[3 * (size_t)v + k];
}

/* Computes requested [vertex_count][4] m: the displaced positions; colliders stand still. */
static void request_motion(const sinew_contact_view *view, bool whole, sinew_real *requested)
{
    const sinew_contact_work *c = view->contact;
    memcpy(requested, c->x_pass_start, 4 * (size_t)c->mesh.vertex_count * sizeof *requested);
    for (int32_t v = 0; v < c->mesh.moved_count; v++) {
        double d[3];
        vertex_displacement(c, v, whole, d);
        for (size_t k = 0; k < 3; k++)
            requested[4 * (size_t)v + k] = (sinew_real)((double)c->x_pass_start[4 * (size_t)v + k] + d[k]);
    }
}

/* Runs a detection pass for an untangling motion from x_pass_start. The report does not count it among the passes of
 * the step. */
static sinew_status motion_detect(const sinew_contact_view *view, bool whole, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const int32_t detections = c->report.detections;
    request_motion(view, whole, c->x_requested);
    const sinew_status status = sinew_contact_rebuild_filter(view, error);
    c->report.detections = detections;
    for (int32_t o = 0; o < c->mesh.object_count; o++)
        c->fraction[o] = 0;
    return status;
}

/* Halves the fractions of all groups if a vertex is truncated: under a common fraction, pairs that all translations
 * keep apart stay apart. The last trials set the fractions of groups with truncated vertices to zero instead. True:
 * no vertex is truncated. */
static bool reduce_fractions(const sinew_contact_view *view, int trial)
{
    const sinew_contact_work *c = view->contact;
    bool whole = true;
    for (int32_t v = 0; v < c->mesh.moved_count; v++) {
        const int32_t group = c->untangle->group[c->mesh.object[v]];
        if (!c->step_filter.truncated[v] || c->progress[group] == 0)
            continue;
        whole = false;
        c->progress[group] = trial < HALVINGS ? c->progress[group] : 0;
    }
    for (int32_t o = 0; o < c->mesh.object_count && !whole && trial < HALVINGS; o++)
        c->progress[o] /= 2;
    return whole;
}

/* Translates groups as far as the step filter allows. *moved: some body moved. */
static sinew_status move_groups(const sinew_contact_view *view, bool *moved, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const struct sinew_untangle *u = c->untangle;
    *moved = false;
    for (int32_t o = 0; o < c->mesh.object_count; o++)
        c->progress[o] = 1;
    if (!sinew_untangle_translations(view, false))
        return SINEW_OK;
    /* The first pass may translate further bodies, which its pairs push along; the second pass detects their pairs. */
    for (int pass = 0; pass < 2; pass++) {
        const sinew_status status = motion_detect(view, true, error);
        if (status != SINEW_OK)
            return status;
        sinew_untangle_translations(view, true);
    }
    bool admissible = false;
    for (int trial = 0; trial < TRIALS && !admissible; trial++) {
        request_motion(view, true, c->step_filter.x_requested);
        sinew_step_filter_limit(&c->step_filter, &c->mesh, view->objective->thread_count);
        admissible = reduce_fractions(view, trial);
    }
    for (int32_t o = 0; admissible && o < c->mesh.object_count; o++) {
        const int32_t group = u->group[o];
        double d[3];
        for (size_t k = 0; k < 3; k++)
            d[k] = c->progress[group] * u->translation[3 * (size_t)group + k];
        if (c->mesh.objects[o].kinematic || isinf(u->mass[group]) || vec3_norm(d) == 0)
            continue;
        const sinew_contact_body *body = &view->bodies[c->mesh.objects[o].body];
        for (int32_t i = body->start; i < body->start + body->count; i++)
            move_particle(view, i, d);
        *moved = true;
    }
    return SINEW_OK;
}

/* Moves the vertices of patches as far as the step filter allows. */
static sinew_status move_patches(const sinew_contact_view *view, bool *moved, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    sinew_status status = sinew_untangle_patches(view, moved, error);
    if (status != SINEW_OK || !*moved)
        return status;
    status = motion_detect(view, false, error);
    if (status != SINEW_OK)
        return status;
    c->patched = true;
    request_motion(view, false, c->step_filter.x_requested);
    sinew_step_filter_limit(&c->step_filter, &c->mesh, view->objective->thread_count);
    for (int32_t v = 0; v < c->mesh.moved_count; v++) {
        const int32_t p = c->mesh.particle[v];
        sinew_real x[3];
        double d[3];
        if (p < 0 || c->mesh.objects[c->mesh.object[v]].rigid)
            continue;
        sinew_step_filter_position(&c->step_filter, v, x);
        for (size_t k = 0; k < 3; k++)
            d[k] = (double)x[k] - (double)view->q[4 * (size_t)p + k];
        if (!view->pinned[p] && vec3_norm(d) > 0)
            move_particle(view, p, d);
    }
    return SINEW_OK;
}

/* ---- Untangling at the start of a step ---------------------------------------------------------- */

static void gather_start(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    sinew_contact_gather(view, view->q, c->x_step_start);
    memcpy(c->x_pass_start, c->x_step_start, 4 * (size_t)c->mesh.vertex_count * sizeof *c->x_pass_start);
}

/* Finds the overlaps of the current positions, and sets `overlapping` and `free_known`. */
static sinew_status untangle_find_overlaps(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    gather_start(view);
    const sinew_status status = sinew_tangle_find(view, error);
    if (status != SINEW_OK)
        return status;
    const sinew_tangle *t = &c->untangle->tangle;
    c->overlapping = false;
    for (int32_t k = 0; k < t->overlap_count; k++)
        c->overlapping = c->overlapping || t->overlaps[k].way != SINEW_OVERLAP_JOINED;
    c->free_known = t->overlap_count == 0;
    if (!c->overlapping)
        return SINEW_OK;
    untangle_mark_dropped(view);
    return list_bearings(view) ? SINEW_OK : sinew_fail_memory(error, "overlapping surfaces");
}

static void report_overlaps(sinew_contact_work *c)
{
    const sinew_tangle *t = &c->untangle->tangle;
    c->report.overlaps = t->overlap_count;
    c->report.overlap_depth = 0;
    for (int32_t k = 0; k < t->overlap_count; k++)
        c->report.overlap_depth = fmax(c->report.overlap_depth, t->overlaps[k].depth);
}

/* Finds overlaps after the collision mesh was rebuilt: first of pairs that were not free before. If there are none,
 * all pairs are free. */
static sinew_status untangle_find_new(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const size_t count = (size_t)c->mesh.object_count * (size_t)c->mesh.object_count;
    uint8_t *may_collide = c->mesh.may_collide;
    for (size_t k = 0; k < count; k++) {
        c->parted[k] &= may_collide[k];
        may_collide[k] ^= c->parted[k];
    }
    const sinew_status status = untangle_find_overlaps(view, error);
    for (size_t k = 0; k < count; k++)
        may_collide[k] |= c->parted[k];
    return status == SINEW_OK && !c->free_known ? untangle_find_overlaps(view, error) : status;
}

sinew_status sinew_contact_untangle(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const bool new_only = c->parted_known;
    bool moved = false;
    c->overlapping = c->untangled = c->patched = c->parted_known = false;
    if (c->free_known || !c->def.untangle || !sinew_contact_is_filtered(c))
        return SINEW_OK;
    if (!untangle_reserve(view))
        return sinew_fail_memory(error, "overlapping surfaces");
    sinew_status status = new_only ? untangle_find_new(view, error) : untangle_find_overlaps(view, error);
    if (status != SINEW_OK)
        return status;
    if (c->report.intersections_before < 0 && view->measure != SINEW_MEASURE_NOTHING)
        c->report.intersections_before = c->untangle->tangle.pair_count;
    report_overlaps(c);
    if (!c->overlapping)
        return status;
    c->untangled = true;
    if (!sinew_contact_store_positions(view))
        return sinew_fail_memory(error, "overlapping surfaces");
    status = move_groups(view, &moved, error);
    if (status == SINEW_OK && moved)
        status = untangle_find_overlaps(view, error);
    if (status == SINEW_OK && c->overlapping)
        status = move_patches(view, &moved, error);
    if (status == SINEW_OK && moved)
        status = untangle_find_overlaps(view, error);
    report_overlaps(c);
    return status;
}
