/* SPDX-License-Identifier: MIT
 *
 * contact_list.c: selects at most one contact per pair of features among the candidate pairs, and warm-starts a contact
 * list from the previous one. See contact_list.h.
 */
#include "collide/contact_list.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "collide/narrow_phase.h"
#include "math/vec3.h"
#include "base/sort_pairs.h"

/* Largest cosine by which a contact direction may leave the wedge (Voronoi region) of its feature. Chosen, not
 * measured. */
#define WEDGE 1e-3
/* Fraction of its depth by which a vertex inside a collider moves out per step; the full depth in one step would give
 * the vertex the speed depth / h. Chosen, not measured. */
#define OUT_FRACTION 0.2
/* Relaxation of contacts with spheres and capsules towards their closest points. Without relaxation, cloth on a ball
 * oscillated from step to step and was 0.7 of 4 mm too near (test_no_crossing). The factors lower the relaxation after
 * an overshoot and raise it otherwise; their values are chosen, not measured. */
#define RELAXATION_MAX  0.3
#define RELAXATION_MIN  0.02
#define RELAXATION_LESS 0.6
#define RELAXATION_MORE 1.6

/* ---- One contact per feature ----------------------------------------------------------------- */

/* The other feature of a pair. Features that share a vertex with the other feature form no pair with it, so they cannot
 * own the contact. Without this exception the ends of a crushed edge would have no contact. */
typedef struct other_feature {
    const int32_t *v; /* [count] vertices of the other feature of the pair */
    int count;
} other_feature;

static bool other_feature_has(const other_feature *o, int32_t v)
{
    for (int k = 0; k < o->count; k++)
        if (o->v[k] == v)
            return true;
    return false;
}

/* Corner rule of contact_list.h: true if no neighbour of vertex v is nearer to a point in direction m (unit) from v. */
static bool feature_owns_corner(const sinew_collision_mesh *f, const sinew_real *x, int32_t v, const double m[3],
                                other_feature other)
{
    double p[3], q[3];
    narrow_point(x, v, p);
    for (int32_t k = f->first_neighbour[v]; k < f->first_neighbour[v + 1]; k++) {
        if (other_feature_has(&other, f->neighbours[k]))
            continue;
        narrow_point(x, f->neighbours[k], q);
        const double d[3] = {q[0] - p[0], q[1] - p[1], q[2] - p[2]};
        if (vec3_dot(m, d) > WEDGE * vec3_norm(d))
            return false;
    }
    return true;
}

/* Side rule of contact_list.h: true if no face at the edge is nearer to a point in direction m (unit) from the edge. */
static bool feature_owns_side(const sinew_collision_mesh *f, const sinew_real *x, int32_t edge, const double m[3],
                              other_feature other)
{
    double a[3], b[3];
    narrow_point(x, f->edges[edge][0], a);
    narrow_point(x, f->edges[edge][1], b);
    const double e[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, ee = vec3_dot(e, e);
    for (int k = 0; k < 2; k++) {
        double q[3];
        if (f->opposite_vertices[edge][k] < 0 || other_feature_has(&other, f->opposite_vertices[edge][k]))
            continue;
        narrow_point(x, f->opposite_vertices[edge][k], q);
        double t[3] = {q[0] - a[0], q[1] - a[1], q[2] - a[2]};
        const double fraction = ee > 0 ? vec3_dot(t, e) / ee : 0;
        for (int c = 0; c < 3; c++)
            t[c] -= fraction * e[c];
        if (vec3_dot(m, t) > WEDGE * vec3_norm(t))
            return false;
    }
    return true;
}

static int32_t edge_between(const sinew_collision_mesh *f, int32_t primitive, int32_t a, int32_t b)
{
    for (int s = 0; s < 3; s++) {
        const int32_t e = f->sides[primitive][s];
        if (e >= 0 && ((f->edges[e][0] == a && f->edges[e][1] == b) || (f->edges[e][0] == b && f->edges[e][1] == a)))
            return e;
    }
    return -1;
}

/* Computes the contact key of a vertex-face pair; false: a neighbour of the face owns the contact. m: direction from
 * the face to the vertex. */
static bool candidate_face_key(const sinew_collision_mesh *f, const sinew_real *x, const sinew_candidate *p,
                               const double m[3], uint64_t *key)
{
    const other_feature vertex = {p->v, 1};
    int32_t corners[3];
    int count = 0;
    for (int a = 1; a < 4; a++) {
        bool again = false;
        for (int b = 0; b < count; b++)
            again = again || corners[b] == p->v[a];
        if ((double)p->w[a] != 0 && !again)
            corners[count++] = p->v[a];
    }
    if (count == 1) {
        *key = sinew_contact_key(SINEW_CONTACT_VERTEX_VERTEX, p->v[0], corners[0]);
        return feature_owns_corner(f, x, corners[0], m, vertex);
    }
    const int32_t edge = count == 2 ? edge_between(f, p->second, corners[0], corners[1]) : -1;
    *key = edge >= 0 ? sinew_contact_key(SINEW_CONTACT_VERTEX_EDGE, p->v[0], edge)
                     : sinew_contact_key(SINEW_CONTACT_VERTEX_FACE, p->v[0], p->second);
    return edge < 0 || feature_owns_side(f, x, edge, m, vertex);
}

static bool edge_is_lone(const sinew_collision_mesh *f, int32_t edge)
{
    return f->opposite_vertices[edge][0] < 0;
}

/* The key of an edge-edge pair; false: another pair owns the contact. Closest points at ends belong to vertex-face
 * pairs. Ropes have no faces, so their ends count here. Interior points nearer than the offset form a contact
 * even if m leaves the wedge of an edge: on curved surfaces no neighbouring pair may exist that owns the contact, and
 * the edges would stay too near (test_thickness). */
static bool candidate_edges_key(const sinew_collision_mesh *f, const sinew_real *x, const sinew_candidate *p,
                                const double m[3], double offset, uint64_t *key)
{
    const double back[3] = {-m[0], -m[1], -m[2]};
    const other_feature first = {p->v, 2}, second = {p->v + 2, 2};
    const bool end_1 = (double)p->w[0] == 0 || (double)p->w[1] == 0;
    const bool end_2 = (double)p->w[2] == 0 || (double)p->w[3] == 0;
    const int32_t v1 = (double)p->w[0] == 0 ? p->v[1] : p->v[0], v2 = (double)p->w[2] == 0 ? p->v[3] : p->v[2];
    *key = sinew_contact_key(SINEW_CONTACT_EDGE_EDGE, p->first, p->second);
    if (!end_1 && !end_2)
        return (double)p->distance < offset ||
               (feature_owns_side(f, x, p->first, back, second) && feature_owns_side(f, x, p->second, m, first));
    if (end_1 && end_2) {
        *key = v1 < v2 ? sinew_contact_key(SINEW_CONTACT_VERTEX_VERTEX, v1, v2)
                       : sinew_contact_key(SINEW_CONTACT_VERTEX_VERTEX, v2, v1);
        return (edge_is_lone(f, p->first) || edge_is_lone(f, p->second)) &&
               feature_owns_corner(f, x, v1, back, second) && feature_owns_corner(f, x, v2, m, first);
    }
    *key = end_1 ? sinew_contact_key(SINEW_CONTACT_VERTEX_EDGE, v1, p->second)
                 : sinew_contact_key(SINEW_CONTACT_VERTEX_EDGE, v2, p->first);
    if (!edge_is_lone(f, end_1 ? p->second : p->first))
        return false;
    return end_1 ? feature_owns_corner(f, x, v1, back, second) : feature_owns_corner(f, x, v2, m, first);
}

/* The key of a candidate pair; false: another pair owns the contact. offset: of the contact, in m. */
static bool candidate_key(const sinew_collision_mesh *f, const sinew_real *x, const sinew_candidate *p, double offset,
                          uint64_t *key)
{
    const double m[3] = {(double)p->n[0], (double)p->n[1], (double)p->n[2]};
    const bool round = f->objects[f->object[p->v[0]]].radius > 0 || f->objects[f->object[p->v[3]]].radius > 0;
    if (p->kind == SINEW_CANDIDATE_VERTEX_PLANE) {
        *key = sinew_contact_key(SINEW_CONTACT_VERTEX_PLANE, p->v[0], p->second);
        return true;
    }
    if (p->inside && !round) {
        *key = sinew_contact_key(SINEW_CONTACT_VERTEX_FACE, p->v[0], p->second);
        return true;
    }
    return p->kind == SINEW_CANDIDATE_EDGE_EDGE ? candidate_edges_key(f, x, p, m, offset, key)
                                                : candidate_face_key(f, x, p, m, key);
}

/* ---- From candidate pairs to contacts -------------------------------------------------------- */

/* Offset of a pair whose distance at rest is `rest`, in m. Within one body it is below the distance at rest, because
 * cloth may be thicker than its edges are long. Features that coincide at rest are the lips of a tear, which have the
 * full offset. */
static double candidate_offset(const sinew_collision_mesh *f, double rest, int32_t a, int32_t b)
{
    const double offset = f->objects[a].half_thickness + f->objects[b].half_thickness;
    return rest > 0 ? fmin(offset, SINEW_REST_OFFSET * rest) : offset;
}

static double candidate_rest_distance(const sinew_collision_mesh *f, const sinew_candidate *p, int32_t a, int32_t b)
{
    return a == b ? narrow_rest_distance(f, p->v, p->kind) : 0;
}

/* Approach of the closest points of a candidate pair from x to x_predicted, in m. */
static double candidate_approach(const sinew_candidate *p, const sinew_contact_rule *rule)
{
    double sum = 0;
    for (size_t a = 0; a < 4; a++)
        for (size_t c = 0; c < 3; c++) {
            const size_t at = 4 * (size_t)p->v[a] + c;
            sum -= (double)p->w[a] * (double)p->n[c] * ((double)rule->x_predicted[at] - (double)rule->x[at]);
        }
    return sum;
}

static bool contact_from_candidate(const sinew_collision_mesh *f, const sinew_candidate *p,
                                   const sinew_contact_rule *rule, sinew_contact_constraint *t)
{
    const int32_t a = f->object[p->v[0]], b = p->kind == SINEW_CANDIDATE_VERTEX_PLANE ? p->second : f->object[p->v[3]];
    const double max = f->objects[a].half_thickness + f->objects[b].half_thickness,
                 approach = fmax(0, candidate_approach(p, rule));
    if ((double)p->distance - approach > (1 + rule->margin) * max)
        return false;
    *t =
        (sinew_contact_constraint){.first = a, .second = b, .candidate_kind = p->kind, .distance = (double)p->distance};
    const double rest = candidate_rest_distance(f, p, a, b);
    t->offset = t->asked = candidate_offset(f, rest, a, b);
    if ((double)p->distance - approach > sinew_rest_reach(rest, (1 + rule->margin) * max) ||
        !candidate_key(f, rule->x, p, t->offset, &t->key))
        return false;
    memcpy(t->v, p->v, sizeof t->v);
    memcpy(t->w, p->w, sizeof t->w);
    for (int c = 0; c < 3; c++)
        t->n[c] = (double)p->n[c];
    t->radius = f->objects[a].radius + f->objects[b].radius;
    if (p->inside) {
        const double whole = t->offset;
        t->offset = p->inside == SINEW_CANDIDATE_OVERLAPS ? fmin(whole, t->distance)
                                                          : fmin(whole, (1 - OUT_FRACTION) * t->distance + whole);
        t->initial_penetration = whole - t->offset;
    }
    t->mu = sqrt(f->objects[a].friction * f->objects[b].friction);
    return true;
}

/* Sorts contacts by key. Several faces find the same side or corner, so keys repeat. The first contact of a key is
 * kept, with the largest offset, because offsets within a body depend on each face's distance at rest. */
static void contact_list_sort(sinew_contact_list *contacts, int32_t found)
{
    sinew_pair *order = contacts->work;
    for (int32_t k = 0; k < found; k++)
        order[k] = (sinew_pair){contacts->found[k].key, (uint64_t)k};
    sinew_sort_pairs(order, (size_t)found, order + found);
    contacts->count = 0;
    for (int32_t k = 0; k < found; k++)
        if (k == 0 || order[k].major != order[k - 1].major) {
            contacts->list[contacts->count++] = contacts->found[order[k].minor];
        } else {
            sinew_contact_constraint *last = &contacts->list[contacts->count - 1];
            /* an offset reduced by initial penetration holds for the weights of its own pair only */
            if (!(last->initial_penetration > 0)) {
                last->offset = fmax(last->offset, contacts->found[order[k].minor].offset);
                last->asked = fmax(last->asked, contacts->found[order[k].minor].asked);
            }
        }
}

const sinew_contact_constraint *sinew_contact_list_get(const sinew_contact_list *contacts, uint64_t key)
{
    int32_t low = 0, high = contacts->count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        low = contacts->list[middle].key < key ? middle + 1 : low;
        high = contacts->list[middle].key < key ? high : middle;
    }
    return low < contacts->count && contacts->list[low].key == key ? &contacts->list[low] : NULL;
}

bool sinew_contact_list_find(sinew_contact_list *contacts, const sinew_collision_mesh *f, const sinew_candidates *pairs,
                             const sinew_contact_rule *rule)
{
    const sinew_allocator *m = &f->allocator;
    int32_t found = 0;
    contacts->count = 0;
    if (!sinew_reserve_spare(m, &contacts->found, &contacts->found_capacity, (size_t)pairs->count + 1,
                             sizeof *contacts->found))
        return false;
    for (int64_t k = 0; k < pairs->count && !sinew_stop_came_in(k); k++)
        found += contact_from_candidate(f, &pairs->list[k], rule, &contacts->found[found]);
    if (!sinew_reserve_spare(m, &contacts->list, &contacts->capacity_bytes, (size_t)found, sizeof *contacts->list) ||
        !sinew_reserve_spare(m, &contacts->work, &contacts->work_capacity, 2 * (size_t)found, sizeof *contacts->work))
        return false;
    contact_list_sort(contacts, found);
    return true;
}

/* ---- Penetration of candidate pairs ------------------------------------------------------------- */

/* Bound of the approach of a candidate pair's features, in m: the sum of the two longest vertex displacements. */
static double candidate_longest_displacements(const sinew_candidate *p, const sinew_real *x_start,
                                              const sinew_real *x_end)
{
    double max = 0, second = 0;
    for (size_t a = 0; a < 4; a++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++)
            square += pow((double)x_end[4 * (size_t)p->v[a] + c] - (double)x_start[4 * (size_t)p->v[a] + c], 2);
        if (square > max) {
            second = max;
            max = square;
        } else {
            second = fmax(second, square);
        }
    }
    return sqrt(max) + sqrt(second);
}

/* The reduction of a pair's offset, in m: the smaller of the largest reductions at the closest points of both sides. */
static double candidate_reduction(const sinew_candidate *p, const sinew_real *reduction)
{
    const size_t split = p->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1;
    double side[2] = {0, 0};
    for (size_t a = 0; reduction && a < 4; a++)
        if ((double)p->w[a] != 0)
            side[a >= split] = fmax(side[a >= split], (double)reduction[p->v[a]]);
    return fmin(side[0], side[1]);
}

sinew_penetration sinew_candidates_penetration(const sinew_collision_mesh *f, const sinew_candidates *pairs,
                                               const sinew_real *x_start, const sinew_real *x_end,
                                               const sinew_real *reduction)
{
    sinew_penetration found = {0, 0};
    for (int64_t k = 0; k < pairs->count && !sinew_stop_came_in(k); k++) {
        sinew_candidate p = pairs->list[k];
        if (p.kind == SINEW_CANDIDATE_VERTEX_PLANE || p.inside)
            continue;
        const int32_t a = f->object[p.v[0]], b = f->object[p.v[3]];
        const double max = f->objects[a].half_thickness + f->objects[b].half_thickness;
        if ((double)p.distance - (x_end ? candidate_longest_displacements(&p, x_start, x_end) : 0) > max)
            continue;
        if (x_end)
            sinew_candidate_closest_with_radii(&p, x_end, f->objects[a].radius + f->objects[b].radius);
        if ((double)p.distance > max)
            continue;
        const double violation = candidate_offset(f, candidate_rest_distance(f, &p, a, b), a, b) -
                                 candidate_reduction(&p, reduction) - (double)p.distance;
        found.violation = fmax(found.violation, violation);
        found.fraction = fmax(found.fraction, max > 0 ? violation / max : 0);
    }
    return found;
}

/* ---- Relaxation of contacts with spheres and capsules ------------------------------------------- */

/* Sets the normal n and the distance of a contact from the two points that its weights give at x. */
static void contact_update_direction(sinew_contact_constraint *t, const sinew_real *x)
{
    double z[3] = {0, 0, 0};
    for (size_t a = 0; a < 4; a++)
        for (size_t c = 0; c < 3; c++)
            z[c] += (double)t->w[a] * (double)x[4 * a + c];
    const double length = vec3_norm(z);
    for (int c = 0; length > 0 && c < 3; c++)
        t->n[c] = z[c] / length;
    t->distance = length - t->radius;
}

/* Reduces the relaxation of a contact if the error of its normal n reversed its direction, else raises it. */
static void contact_choose_relaxation(sinew_contact_constraint *t, const sinew_real n[3])
{
    double miss[3];
    for (int c = 0; c < 3; c++)
        miss[c] = (double)n[c] - t->n[c];
    if (t->relaxation > 0)
        t->relaxation *= vec3_dot(miss, t->normal_error) < 0 ? RELAXATION_LESS : RELAXATION_MORE;
    t->relaxation = t->relaxation > 0 ? fmax(RELAXATION_MIN, fmin(t->relaxation, RELAXATION_MAX)) : RELAXATION_MAX;
    memcpy(t->normal_error, miss, sizeof miss);
}

double sinew_contact_relax_closest(sinew_contact_constraint *t, const sinew_real *x, bool go)
{
    sinew_candidate p = {.kind = t->candidate_kind};
    sinew_contact_constraint now = *t;
    /* Repeated vertices stay repeated, because they mark lone edges and lone vertices. */
    for (int a = 0; a < 4; a++)
        for (p.v[a] = 0; t->v[p.v[a]] != t->v[a];)
            p.v[a]++;
    contact_update_direction(&now, x);
    sinew_candidate_closest_with_radii(&p, x, t->radius);
    if (go) {
        contact_update_direction(t, x);
        contact_choose_relaxation(t, p.n);
        for (int a = 0; a < 4; a++)
            t->w[a] = (sinew_real)((double)t->w[a] + t->relaxation * ((double)p.w[a] - (double)t->w[a]));
        contact_update_direction(t, x);
    }
    return fmax(0, fmin(now.distance, t->offset) - (double)p.distance);
}

/* ---- Warm start from the previous list of contacts ---------------------------------------------- */

/* Rotates the friction force `from` into the tangent plane of n and preserves its length. */
static void contact_turn_friction(const double from[3], const double n[3], double to[3])
{
    const double normal = vec3_dot(from, n), size = vec3_norm(from);
    for (int c = 0; c < 3; c++)
        to[c] = from[c] - normal * n[c];
    const double now = vec3_norm(to);
    for (int c = 0; c < 3; c++)
        to[c] *= now > 0 ? size / now : 0;
}

static void contact_warm_start(sinew_contact_constraint *to, const sinew_contact_constraint *from)
{
    to->lambda = from->lambda;
    to->lagged_normal_force = from->lagged_normal_force;
    to->was_active = from->was_active;
    to->rising = from->rising;
    to->yield = from->yield;
    contact_turn_friction(from->tangent, to->n, to->tangent);
}

/* Packs the vertex and the second object of a vertex contact into one key; false: another kind of contact. */
static bool contact_side_key(const sinew_contact_constraint *t, uint64_t *side_key)
{
    *side_key = sinew_pack(t->v[0], t->second);
    return t->key >> 60 != SINEW_CONTACT_EDGE_EDGE && t->key >> 60 != SINEW_CONTACT_SKIN_COLLIDER;
}

/* Index of the first contact with this side key that is not taken, in the list [count] of unmatched contacts sorted by
 * key; -1: none. */
static int32_t find_unmatched(const sinew_pair *unmatched, int32_t count, const uint8_t *taken, uint64_t side_key)
{
    int32_t low = 0, high = count;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (unmatched[middle].major < side_key)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < count && unmatched[low].major == side_key && taken[low])
        low++;
    return low < count && unmatched[low].major == side_key ? low : -1;
}

/* Copies multipliers and friction between contacts of equal key. Lists in to->work the other contacts of the previous
 * list that have a multiplier and a vertex as first feature. Returns their number. */
static int32_t warm_start_by_key(sinew_contact_list *to, const sinew_contact_list *from)
{
    int32_t count = 0;
    for (int32_t i = 0, k = 0; k < from->count; k++) {
        while (i < to->count && to->list[i].key < from->list[k].key)
            i++;
        if (i < to->count && to->list[i].key == from->list[k].key)
            contact_warm_start(&to->list[i], &from->list[k]);
        else if (from->list[k].lambda > 0 && contact_side_key(&from->list[k], &to->work[count].major))
            to->work[count++].minor = (uint64_t)k;
    }
    return count;
}

/* Marks the contacts of two objects that have a rising contact in the previous list. Uses to->work as work space. */
static void warm_start_rising(sinew_contact_list *to, const sinew_contact_list *from)
{
    int32_t count = 0;
    for (int32_t k = 0; k < from->count; k++)
        if (from->list[k].rising > 0)
            to->work[count++] = (sinew_pair){sinew_pack(from->list[k].first, from->list[k].second), 0};
    if (count == 0)
        return;
    sinew_sort_pairs(to->work, (size_t)count, to->work + count);
    memset(to->taken, 0, (size_t)count);
    for (int32_t i = 0; i < to->count; i++) {
        sinew_contact_constraint *t = &to->list[i];
        if (!(t->rising > 0) && find_unmatched(to->work, count, to->taken, sinew_pack(t->first, t->second)) >= 0)
            t->rising = DBL_MIN;
    }
}

bool sinew_contact_list_warm_start(sinew_contact_list *to, const sinew_contact_list *from,
                                   const sinew_collision_mesh *f)
{
    const size_t max = 2 * (size_t)from->count;
    if (!sinew_reserve_spare(&f->allocator, &to->work, &to->work_capacity, max, sizeof *to->work) ||
        !sinew_reserve_spare(&f->allocator, &to->taken, &to->taken_capacity, (size_t)from->count, sizeof *to->taken))
        return false;
    const int32_t count = warm_start_by_key(to, from);
    sinew_sort_pairs(to->work, (size_t)count, to->work + count);
    memset(to->taken, 0, (size_t)count);
    for (int32_t i = 0; i < to->count && count > 0; i++) {
        uint64_t side_key;
        if (to->list[i].lambda > 0 || !contact_side_key(&to->list[i], &side_key))
            continue;
        const int32_t o = find_unmatched(to->work, count, to->taken, side_key);
        if (o < 0)
            continue;
        contact_warm_start(&to->list[i], &from->list[to->work[o].minor]);
        to->taken[o] = 1;
    }
    warm_start_rising(to, from);
    return true;
}

void sinew_contact_list_release(sinew_contact_list *contacts, const sinew_allocator *allocator)
{
    void *arrays[] = {contacts->list, contacts->found, contacts->work, contacts->taken};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *contacts = (sinew_contact_list){0};
}
