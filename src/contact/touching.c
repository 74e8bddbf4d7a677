/* SPDX-License-Identifier: MIT
 *
 * touching.c: separates surfaces that touch or coincide at the start of a step.
 *
 * A pair at distance zero has no direction, so it could neither be filtered nor pushed apart. Bodies that start face to
 * face, coincident cloths and the lips of a tear are such pairs. For each pair nearer than half the floor of the step
 * filter one side is chosen: the direction n, from the second to the first feature, that separates the one-rings of
 * both features best:
 *
 *     score(n) = min over the first ring of n.x  -  max over the second ring of n.x
 *
 * Candidates are the normals of the faces at the second feature, the negated normals of the faces at the first, and
 * for two edges the cross product of both, each with both signs. Directions out of closed surfaces win ties; of two
 * open surfaces, the later object lies on the positive side of the earlier.
 *
 * Lips of a tear in a solid are retracted into their own sides (tear_lips.c), without a choice.
 *
 * The pairs are then separated to TARGET of their offset along n. First whole bodies are translated, which does not
 * deform them, and near pairs that do not touch keep their distance, or the target if they are farther apart. Pairs that
 * remain (self-contact, pinned bodies) move their vertices. q, q_tilde and the first guess move alike, so velocities do
 * not change. Afterwards the step filter keeps the pairs apart, and their offsets grow
 * slowly (offset_limits.c).
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "contact/tear_lips.h"
#include "contact/untangle.h"
#include "math/vec3.h"

#define TARGET 2e-2 /* distance after the separation, as a fraction of the offset: twice the floor of the step filter */
#define ULPS   64   /* smallest floor, in machine epsilons of the largest coordinate (step_filter.c) */
#define TIE    1e-3 /* scores that differ by less than this fraction of the mean edge are equal; chosen, not measured */
#define PASSES 200  /* Gauss-Seidel passes over the pairs: a row of 20 bodies needs about 100 */
#define NEAR   20   /* distance of near pairs at most, in targets: a row of 20 bodies moves its ends so far */
#define MISSED                                                                                                         \
    1e-2 /* error of the target distance at which the passes end, as a fraction of the target; chosen, not measured */

/* A pair to separate: its candidate, the chosen direction, and the target distance. */
typedef struct touching_pair {
    const sinew_candidate *candidate;
    double n[3];
    double distance; /* signed distance along n before the separation, less both radii, in m */
    double target;   /* distance after the separation, in m */
} touching_pair;

typedef struct touching_work {
    sinew_vertex_faces incident;
    touching_pair *pairs; /* [count + near_count] pairs that touch, then near pairs */
    int32_t count, near_count;
    double *translation; /* [object_count][3] translation of each body, in m */
    double *shift;       /* [moved_count][3] displacement of each vertex beyond its body's translation, in m */
    uint8_t *anchored;   /* [object_count] 1: the object cannot be translated: a collider, or it has a pin */
    uint8_t *parted;     /* [vertex_count] 1: a lip of a tear, parted by tear_lips.c */
} touching_work;

/* ---- Features -------------------------------------------------------------------------------- */

static bool faces_at_vertices(const sinew_contact_view *view, sinew_vertex_faces *incident)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    incident->first = sinew_allocate_zero(view->allocator, (size_t)f->vertex_count + 2, sizeof *incident->first);
    incident->faces = sinew_allocate(view->allocator, 3 * (size_t)f->primitive_count + 1, sizeof *incident->faces);
    if (!incident->first || !incident->faces)
        return false;
    int32_t *next = incident->first + 1;
    for (int32_t k = 0; k < 3 * f->primitive_count; k++)
        if (f->flags[k / 3] & SINEW_IS_FACE)
            next[f->primitives[k / 3][k % 3] + 1]++;
    for (int32_t v = 0; v < f->vertex_count; v++)
        next[v + 1] += next[v];
    for (int32_t k = 0; k < 3 * f->primitive_count; k++)
        if (f->flags[k / 3] & SINEW_IS_FACE)
            incident->faces[next[f->primitives[k / 3][k % 3]]++] = k / 3;
    return true;
}

/* The vertices of one side of a pair that carry its closest point. */
typedef struct closest_feature {
    int32_t v[3];
    int count;
} closest_feature;

static closest_feature closest_feature_of(const sinew_candidate *p, bool second)
{
    const int split = p->kind == SINEW_CANDIDATE_EDGE_EDGE ? 2 : 1;
    closest_feature feature = {.count = 0};
    for (int a = second ? split : 0; a < (second ? 4 : split); a++) {
        bool again = (double)p->w[a] == 0;
        for (int k = 0; k < feature.count; k++)
            again = again || feature.v[k] == p->v[a];
        if (!again)
            feature.v[feature.count++] = p->v[a];
    }
    return feature;
}

static bool face_contains_vertex(const int32_t face[3], int32_t v)
{
    return face[0] == v || face[1] == v || face[2] == v;
}

/* True if the face contains all vertices of the feature. */
static bool face_contains(const int32_t face[3], const closest_feature *feature)
{
    for (int k = 0; k < feature->count; k++)
        if (!face_contains_vertex(face, feature->v[k]))
            return false;
    return true;
}

/* The extreme height along n of the ring of a feature: its vertices and those of all faces that contain it, except
 * vertices of faces at the first vertex of `other`: the lips of a tear share the vertices of its front. sign 1:
 * minimum, -1: maximum. */
static double ring_extreme(const sinew_contact_work *c, const sinew_vertex_faces *incident,
                           const closest_feature *feature, const closest_feature *other, const double n[3], double sign)
{
    const sinew_collision_mesh *f = &c->mesh;
    double extreme = HUGE_VAL;
    for (int k = 0; k < feature->count; k++) {
        const double x[3] = {(double)c->x_pass_start[4 * (size_t)feature->v[k]],
                             (double)c->x_pass_start[4 * (size_t)feature->v[k] + 1],
                             (double)c->x_pass_start[4 * (size_t)feature->v[k] + 2]};
        extreme = fmin(extreme, sign * vec3_dot(n, x));
    }
    for (int32_t i = incident->first[feature->v[0]]; i < incident->first[feature->v[0] + 1]; i++) {
        const int32_t *face = f->primitives[incident->faces[i]];
        if (!face_contains(face, feature))
            continue;
        for (int k = 0; k < 3; k++) {
            bool shared = false;
            for (int32_t j = incident->first[other->v[0]]; j < incident->first[other->v[0] + 1]; j++)
                shared = shared || face_contains_vertex(f->primitives[incident->faces[j]], face[k]);
            if (shared)
                continue;
            const double x[3] = {(double)c->x_pass_start[4 * (size_t)face[k]],
                                 (double)c->x_pass_start[4 * (size_t)face[k] + 1],
                                 (double)c->x_pass_start[4 * (size_t)face[k] + 2]};
            extreme = fmin(extreme, sign * vec3_dot(n, x));
        }
    }
    return sign * extreme;
}

/* ---- Choice of the side ---------------------------------------------------------------------- */

/* Ranks of candidate directions, which decide between equal scores: out of a closed surface, by the order of two
 * open surfaces, any other. */
enum {
    RANK_CLOSED = 2,
    RANK_ORDER = 1,
    RANK_OTHER = 0
};

typedef struct side_choice {
    const sinew_contact_work *c;
    const sinew_vertex_faces *incident;
    closest_feature side[2];
    double tie; /* difference below which scores are equal, in m */
    double score;
    int rank; /* rank of the best direction so far; -1: no direction was tried */
    double n[3];
} side_choice;

static void side_try(side_choice *s, const double n[3], int rank)
{
    const double score = ring_extreme(s->c, s->incident, &s->side[0], &s->side[1], n, 1) -
                         ring_extreme(s->c, s->incident, &s->side[1], &s->side[0], n, -1);
    const bool better = s->rank < 0 || score > s->score + s->tie || (score > s->score - s->tie && rank > s->rank);
    if (!better)
        return;
    s->score = score;
    s->rank = rank;
    memcpy(s->n, n, sizeof s->n);
}

/* The normal of a face at the start of the pass, of length twice its area. */
static void face_normal(const sinew_contact_work *c, const int32_t face[3], double n[3])
{
    const sinew_real *x = c->x_pass_start;
    double a[3], b[3];
    vec3_edge(x + 4 * (size_t)face[0], x + 4 * (size_t)face[1], a);
    vec3_edge(x + 4 * (size_t)face[0], x + 4 * (size_t)face[2], b);
    vec3_cross(a, b, n);
}

/* Tries the sum of the face normals at the second feature less that at the first, for closed surfaces. Faces with
 * equal normals on both sides cancel, such as the outer surface beside a tear. */
static void side_try_difference(const sinew_contact_work *c, side_choice *s)
{
    double sum[3] = {0, 0, 0};
    for (int side = 0; side < 2; side++) {
        const closest_feature *feature = &s->side[side];
        for (int32_t i = s->incident->first[feature->v[0]]; i < s->incident->first[feature->v[0] + 1]; i++) {
            const int32_t *face = c->mesh.primitives[s->incident->faces[i]];
            double n[3];
            if (!face_contains(face, feature))
                continue;
            face_normal(c, face, n);
            for (int k = 0; k < 3; k++)
                sum[k] += side ? n[k] : -n[k];
        }
    }
    const double length = vec3_norm(sum);
    for (int k = 0; length > 0 && k < 3; k++)
        sum[k] /= length;
    if (length > 0)
        side_try(s, sum, RANK_CLOSED);
}

/* Tries the normals of the faces that contain a feature. side 1: the second feature, whose outward normals point to the
 * first. `closed`: the surface of the feature is closed, so only its outward normals count; `ordered`: normals of an
 * open surface put the later object on the positive side of the earlier one. */
static void side_try_normals(const sinew_contact_view *view, side_choice *s, int side, bool closed, bool ordered)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    const closest_feature *feature = &s->side[side];
    for (int32_t i = s->incident->first[feature->v[0]]; i < s->incident->first[feature->v[0] + 1]; i++) {
        const int32_t *face = f->primitives[s->incident->faces[i]];
        double n[3], back[3];
        if (!face_contains(face, feature))
            continue;
        face_normal(view->contact, face, n);
        const double length = vec3_norm(n);
        if (!(length > 0))
            continue;
        for (int k = 0; k < 3; k++) {
            n[k] *= (side ? 1 : -1) / length;
            back[k] = -n[k];
        }
        side_try(s, n, closed ? RANK_CLOSED : ordered ? RANK_ORDER : RANK_OTHER);
        if (!closed)
            side_try(s, back, RANK_OTHER);
    }
}

static void side_try_cross(const sinew_contact_work *c, side_choice *s, const sinew_candidate *p)
{
    double a[3], b[3], n[3];
    vec3_edge(c->x_pass_start + 4 * (size_t)p->v[0], c->x_pass_start + 4 * (size_t)p->v[1], a);
    vec3_edge(c->x_pass_start + 4 * (size_t)p->v[2], c->x_pass_start + 4 * (size_t)p->v[3], b);
    vec3_cross(a, b, n);
    const double length = vec3_norm(n);
    if (!(length > 1e-6 * vec3_norm(a) * vec3_norm(b)))
        return;
    for (int sign = -1; sign <= 1; sign += 2) {
        const double m[3] = {sign * n[0] / length, sign * n[1] / length, sign * n[2] / length};
        side_try(s, m, RANK_OTHER);
    }
}

/* Chooses the direction n in which a touching pair is separated (file head); n of the candidate pair if neither
 * feature has faces. */
static void choose_side(const sinew_contact_view *view, const touching_work *w, const sinew_candidate *p, double n[3])
{
    const sinew_contact_work *c = view->contact;
    const int32_t a = c->mesh.object[p->v[0]], b = c->mesh.object[p->v[3]];
    const double edge = fmin(c->mean_edge[a], c->mean_edge[b]);
    side_choice s = {.c = c,
                     .incident = &w->incident,
                     .side = {closest_feature_of(p, false), closest_feature_of(p, true)},
                     .tie = isfinite(edge) ? TIE * edge : 0,
                     .rank = -1};
    const bool closed_a = sinew_object_is_closed(view, a), closed_b = sinew_object_is_closed(view, b);
    if (closed_a && closed_b)
        side_try_difference(c, &s);
    side_try_normals(view, &s, 1, closed_b, !closed_a && a >= b);
    side_try_normals(view, &s, 0, closed_a, !closed_b && a < b);
    if (p->kind == SINEW_CANDIDATE_EDGE_EDGE)
        side_try_cross(c, &s, p);
    for (int k = 0; k < 3; k++)
        n[k] = s.rank < 0 ? (double)p->n[k] : s.n[k];
}

/* ---- Pairs that touch ------------------------------------------------------------------------ */

static double pair_offset(const sinew_collision_mesh *f, const sinew_candidate *p)
{
    const int32_t second = p->kind == SINEW_CANDIDATE_VERTEX_PLANE ? p->second : f->object[p->v[3]];
    return f->objects[f->object[p->v[0]]].half_thickness + f->objects[second].half_thickness;
}

/* The smallest distance that the step filter resolves, in m. */
static double pair_resolution(const sinew_contact_work *c, const sinew_candidate *p)
{
    const double epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    double largest = 0;
    for (int a = 0; a < 4; a++)
        for (size_t k = 0; k < 3; k++)
            largest = fmax(largest, fabs((double)c->x_pass_start[4 * (size_t)p->v[a] + k]));
    return ULPS * epsilon * largest;
}

bool sinew_contact_pair_touches(const sinew_contact_work *c, const sinew_candidate *p)
{
    const double limit = fmax(SINEW_CONTACT_TOUCHING * pair_offset(&c->mesh, p), pair_resolution(c, p) / 2);
    return !p->inside && fabs((double)p->distance) < limit;
}

/* Signed distance of the closest points along n, less both radii, in m. */
static double signed_distance(const sinew_contact_work *c, const sinew_candidate *p, const double n[3])
{
    double sum = 0;
    for (int a = 0; a < 4; a++)
        for (size_t k = 0; k < 3; k++)
            sum += (double)p->w[a] * n[k] * (double)c->x_pass_start[4 * (size_t)p->v[a] + k];
    return sum - c->mesh.objects[c->mesh.object[p->v[0]]].radius - c->mesh.objects[c->mesh.object[p->v[3]]].radius;
}

static void list_touching(const sinew_contact_view *view, touching_work *w)
{
    const sinew_contact_work *c = view->contact;
    w->count = 0;
    for (int64_t k = 0; k < c->pairs.count; k++) {
        const sinew_candidate *p = &c->pairs.list[k];
        if (!sinew_contact_pair_touches(c, p) || sinew_tear_lips_are_parted(view, p, w->parted))
            continue;
        touching_pair *t = &w->pairs[w->count++];
        t->candidate = p;
        t->target = fmax(TARGET * pair_offset(&c->mesh, p), 2 * pair_resolution(c, p));
        if (p->kind == SINEW_CANDIDATE_VERTEX_PLANE) {
            for (int i = 0; i < 3; i++)
                t->n[i] = (double)p->n[i];
            t->distance = (double)p->distance;
        } else {
            choose_side(view, w, p, t->n);
            t->distance = signed_distance(c, p, t->n);
        }
    }
}

/* True if a pair that does not touch is so near that a separation may cross it. Pairs of two open surfaces are left
 * out: where sheets cross, near pairs have opposite directions. */
static bool pair_is_near(const sinew_contact_view *view, const sinew_candidate *p)
{
    const sinew_contact_work *c = view->contact;
    const double target = TARGET * pair_offset(&c->mesh, p);
    if (p->kind != SINEW_CANDIDATE_VERTEX_PLANE && !sinew_object_is_closed(view, c->mesh.object[p->v[0]]) &&
        !sinew_object_is_closed(view, c->mesh.object[p->v[3]]))
        return false;
    return !sinew_contact_pair_touches(c, p) && !p->inside && p->distance > 0 && (double)p->distance < NEAR * target;
}

/* Appends near pairs: their directions are those of the candidates, along which they are apart. */
static void list_near(const sinew_contact_view *view, touching_work *w)
{
    const sinew_contact_work *c = view->contact;
    w->near_count = 0;
    for (int64_t k = 0; k < c->pairs.count; k++) {
        const sinew_candidate *p = &c->pairs.list[k];
        if (!pair_is_near(view, p))
            continue;
        touching_pair *t = &w->pairs[w->count + w->near_count++];
        t->candidate = p;
        t->distance = (double)p->distance;
        t->target = fmin(t->distance, TARGET * pair_offset(&c->mesh, p));
        for (int i = 0; i < 3; i++)
            t->n[i] = (double)p->n[i];
    }
}

/* ---- Sheets ---------------------------------------------------------------------------------- */

#define SHEET_NORMALS 32 /* number of pairs of two sheets whose directions are tried, which bounds the cost */
#define SHEET_DEPTH                                                                                                    \
    2.0 /* largest overlap, in offsets, at which two sheets are separated as a whole; chosen, not measured */

/* Object of one side of a pair that touches; -1: that side is a plane. */
static int32_t touching_object(const sinew_collision_mesh *f, const touching_pair *t, bool second)
{
    if (second && t->candidate->kind == SINEW_CANDIDATE_VERTEX_PLANE)
        return -1;
    return f->object[t->candidate->v[second ? 3 : 0]];
}

/* Gives all pairs of two sheets the same direction, if a translation along it separates the sheets. Without it,
 * pairs of sheets that nearly coincide would choose opposite sides, and three layers could choose a cyclic order.
 * first: index of the first pair of these objects. */
static void align_sheets(const sinew_contact_view *view, touching_work *w, int32_t first)
{
    const sinew_contact_work *c = view->contact;
    const int32_t a = touching_object(&c->mesh, &w->pairs[first], false),
                  b = touching_object(&c->mesh, &w->pairs[first], true);
    double tried[SHEET_NORMALS][3], n[3];
    int32_t count = 0;
    for (int32_t k = first; k < w->count && count < SHEET_NORMALS; k++)
        if (touching_object(&c->mesh, &w->pairs[k], false) == a && touching_object(&c->mesh, &w->pairs[k], true) == b)
            memcpy(tried[count++], w->pairs[k].n, sizeof w->pairs[k].n);
    const double depth = sinew_sheets_direction(view, a, b, tried[0], count, n);
    if (depth > SHEET_DEPTH * pair_offset(&c->mesh, w->pairs[first].candidate))
        return;
    for (int32_t k = 0; k < w->count; k++) {
        touching_pair *t = &w->pairs[k];
        const int32_t x = touching_object(&c->mesh, t, false), y = touching_object(&c->mesh, t, true);
        if ((x != a || y != b) && (x != b || y != a))
            continue;
        for (int i = 0; i < 3; i++)
            t->n[i] = x == a ? n[i] : -n[i];
        /* Sheets that cross at coincident vertices touch there but overlap next to them, so the pair counts as
         * overlapping by `depth`. */
        t->distance = fmin(signed_distance(c, t->candidate, t->n), -depth);
    }
}

/* Gives the pairs of each two open surfaces a common direction, where align_sheets() finds one. */
static void align_all_sheets(const sinew_contact_view *view, touching_work *w)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    for (int32_t k = 0; k < w->count; k++) {
        const int32_t a = touching_object(f, &w->pairs[k], false), b = touching_object(f, &w->pairs[k], true);
        bool seen = b < 0 || a >= b || f->objects[a].vertex_count == 0 || f->objects[b].vertex_count == 0 ||
                    sinew_object_is_closed(view, a) || sinew_object_is_closed(view, b);
        for (int32_t i = 0; i < k && !seen; i++)
            seen = touching_object(f, &w->pairs[i], false) == a && touching_object(f, &w->pairs[i], true) == b;
        if (!seen)
            align_sheets(view, w, k);
    }
}

/* ---- Separation ------------------------------------------------------------------------------ */

static bool vertex_is_fixed(const sinew_contact_view *view, int32_t v)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    return v >= f->moved_count || f->particle[v] < 0 || view->pinned[f->particle[v]];
}

/* Distance of a pair along its n after translations and shifts, in m. */
static double separated_distance(const sinew_contact_work *c, const touching_work *w, const touching_pair *t)
{
    double distance = t->distance;
    for (int a = 0; a < 4; a++) {
        const int32_t v = t->candidate->v[a];
        if (v >= c->mesh.moved_count)
            continue;
        const double *translation = w->translation + 3 * (size_t)c->mesh.object[v];
        distance +=
            (double)t->candidate->w[a] * (vec3_dot(t->n, translation) + vec3_dot(t->n, w->shift + 3 * (size_t)v));
    }
    return distance;
}

/* Translates the two bodies of a pair apart by its missing distance. */
static void translate_bodies(const sinew_contact_work *c, touching_work *w, const touching_pair *t, double missing)
{
    const sinew_candidate *p = t->candidate;
    const bool plane = p->kind == SINEW_CANDIDATE_VERTEX_PLANE;
    const int32_t a = c->mesh.object[p->v[0]], b = plane ? p->second : c->mesh.object[p->v[3]];
    const bool moves_a = !w->anchored[a], moves_b = !w->anchored[b];
    if (a == b || !(moves_a || moves_b))
        return;
    const double half = moves_a && moves_b ? missing / 2 : missing;
    for (size_t k = 0; k < 3; k++) {
        w->translation[3 * (size_t)a + k] += moves_a ? half * t->n[k] : 0;
        w->translation[3 * (size_t)b + k] -= moves_b ? half * t->n[k] : 0;
    }
}

/* Moves the free vertices of a pair apart by its missing distance, in proportion to their weights. */
static void shift_vertices(const sinew_contact_view *view, touching_work *w, const touching_pair *t, double missing)
{
    const sinew_candidate *p = t->candidate;
    double square = 0;
    for (int a = 0; a < 4; a++)
        square += vertex_is_fixed(view, p->v[a]) ? 0 : (double)p->w[a] * (double)p->w[a];
    for (int a = 0; square > 0 && a < 4; a++)
        for (size_t k = 0; !vertex_is_fixed(view, p->v[a]) && k < 3; k++)
            w->shift[3 * (size_t)p->v[a] + k] += missing * (double)p->w[a] / square * t->n[k];
}

/* Gauss-Seidel passes over the pairs; `whole`: of body translations, else of vertex shifts. True: all pairs reach their
 * targets. */
static bool separate_pairs(const sinew_contact_view *view, touching_work *w, bool whole)
{
    bool done = false;
    const int32_t count = w->count + (whole ? w->near_count : 0);
    for (int pass = 0; pass < PASSES && !done; pass++) {
        done = true;
        for (int32_t i = 0; i < count; i++) {
            const touching_pair *t = &w->pairs[i];
            const double missing = t->target - separated_distance(view->contact, w, t);
            if (!(missing > MISSED * t->target))
                continue;
            done = false;
            if (whole)
                translate_bodies(view->contact, w, t, missing);
            else
                shift_vertices(view, w, t, missing);
        }
    }
    return done;
}

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

static void apply_separation(const sinew_contact_view *view, const touching_work *w)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    for (int32_t o = 0; o < f->object_count; o++) {
        const double *translation = w->translation + 3 * (size_t)o;
        if (f->objects[o].kinematic || vec3_norm(translation) == 0)
            continue;
        const sinew_contact_body *body = &view->bodies[f->objects[o].body];
        for (int32_t i = body->start; i < body->start + body->count; i++)
            move_particle(view, i, translation);
    }
    for (int32_t v = 0; v < f->moved_count; v++)
        if (vec3_norm(w->shift + 3 * (size_t)v) > 0)
            move_particle(view, f->particle[v], w->shift + 3 * (size_t)v);
}

static void mark_anchored(const sinew_contact_view *view, touching_work *w)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    for (int32_t o = 0; o < f->object_count; o++) {
        w->anchored[o] = f->objects[o].kinematic;
        if (w->anchored[o])
            continue;
        const sinew_contact_body *body = &view->bodies[f->objects[o].body];
        for (int32_t i = body->start; i < body->start + body->count; i++)
            w->anchored[o] |= view->pinned[i];
    }
}

static bool touching_allocate(const sinew_contact_view *view, touching_work *w, int64_t count)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    w->pairs = sinew_allocate(view->allocator, (size_t)count, sizeof *w->pairs);
    w->translation = sinew_allocate_zero(view->allocator, 3 * (size_t)f->object_count, sizeof *w->translation);
    w->shift = sinew_allocate_zero(view->allocator, 3 * (size_t)f->moved_count + 1, sizeof *w->shift);
    w->anchored = sinew_allocate_zero(view->allocator, (size_t)f->object_count, sizeof *w->anchored);
    w->parted = sinew_allocate_zero(view->allocator, (size_t)f->vertex_count, sizeof *w->parted);
    return w->pairs && w->translation && w->shift && w->anchored && w->parted && faces_at_vertices(view, &w->incident);
}

static void touching_release(const sinew_contact_view *view, touching_work *w)
{
    void *arrays[] = {w->pairs, w->translation, w->shift, w->anchored, w->parted, w->incident.first, w->incident.faces};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(view->allocator, arrays[k]);
}

bool sinew_contact_store_positions(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const size_t n = 4 * (size_t)view->particle_count;
    if (c->separated)
        return true;
    if (!sinew_reserve(view->allocator, &c->x_unprojected_start, &c->x_unprojected_start_capacity, n,
                       sizeof *c->x_unprojected_start))
        return false;
    memcpy(c->x_unprojected_start, view->q, n * sizeof *view->q);
    c->separated = true;
    return true;
}

void sinew_contact_undo_separation(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    if (c->separated)
        memcpy(view->q, c->x_unprojected_start, 4 * (size_t)view->particle_count * sizeof *view->q);
    c->separated = false;
}

sinew_status sinew_contact_separate_touching(const sinew_contact_view *view, bool *moved, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    int64_t count = 0, near_count = 0;
    for (int64_t k = 0; k < c->pairs.count; k++) {
        count += sinew_contact_pair_touches(c, &c->pairs.list[k]);
        near_count += pair_is_near(view, &c->pairs.list[k]);
    }
    *moved = false;
    if (count == 0)
        return SINEW_OK;
    touching_work w = {0};
    const bool good = touching_allocate(view, &w, count + near_count) && sinew_contact_store_positions(view);
    if (good) {
        mark_anchored(view, &w);
        sinew_tear_lips_part(view, &w.incident, TARGET, w.shift, w.parted);
        list_touching(view, &w);
        list_near(view, &w);
        align_all_sheets(view, &w);
        if (!separate_pairs(view, &w, true))
            separate_pairs(view, &w, false);
        apply_separation(view, &w);
        *moved = true;
    }
    touching_release(view, &w);
    return good ? SINEW_OK : sinew_fail_memory(error, "touching surfaces");
}
