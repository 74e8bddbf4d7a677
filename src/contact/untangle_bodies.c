/* SPDX-License-Identifier: MIT
 *
 * untangle_bodies.c: directions and depths of overlaps, and translations of whole bodies out of each other.
 *
 * A pair of objects a, b is free after a moved along n by
 *
 *     depth(n) = max over b of n.x  -  min over a of n.x,
 *
 * the penetration of their convex hulls. The minimal translation of convex bodies is the smallest depth over all n; it
 * is sought among the normals of faces that are crossed, cross products of crossing edges, the axes of the world and
 * the line between both centres. Bodies that are not convex need less: of two closed surfaces, the vector area of the
 * intersection contour,
 *
 *     A = 1/2 sum x_i x x_i+1  =  integral of n_a over the part of a inside b,
 *
 * is minus the gradient of their common volume by a translation of a, and the extent of the common volume along A is
 * the depth. If the contour has several loops that cancel, as where a beam passes through a body, A is not used.
 *
 * A body is translated together with all bodies that elements connect to it, which changes no elastic energy. All pairs
 * are resolved together by Gauss-Seidel passes, each pair in proportion to the inverse masses, so that centres of mass
 * stay where no pin and no collider is involved.
 */
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "contact/untangle.h"
#include "math/vec3.h"
#include "mesh/mesh.h"
#include "objective/connected_components.h"
#include "sinew/tree.h"

/* Crossings of an overlap whose directions are tried. Chosen: each costs one pass over all vertices of both objects. */
#define CROSSINGS_TRIED 16
/* The vector area of a contour is used above this fraction of the sum of its parts: a plane loop has 1, the two
 * loops of a body that passes through another have about 0. Chosen, not measured. */
#define LOOP_MIN 0.5
/* Open surfaces are translated as a whole up to this depth, in offsets and as a fraction of the smaller one's diagonal:
 * a translation of draped cloth would be much longer than its overlap. Chosen, not measured. */
#define OPEN_OFFSETS  2.0
#define OPEN_FRACTION 0.1
/* Smallest displacement in a step of a deep overlap, in sums of the offset and the fall of one step (g h^2): bodies
 * that gravity moves together still come apart. Chosen, not measured. */
#define STRIDE_MIN 2.0
#define PASSES     200  /* Gauss-Seidel passes, as in touching.c */
#define MISSED     1e-2 /* relative error of a displacement at which the passes end */

/* ---- Groups of bodies -------------------------------------------------------------------------- */

/* Gives objects of bodies that elements connect a common group. component [particle_count]: lowest particle of the
 * connected component of each particle. */
static void groups_join_connected(const sinew_contact_view *view, int32_t *component, int32_t *object_of_body)
{
    struct sinew_untangle *u = view->contact->untangle;
    const sinew_collision_mesh *f = &view->contact->mesh;
    for (int32_t b = 0; b < view->body_count; b++)
        object_of_body[b] = -1;
    for (int32_t o = 0; o < f->object_count; o++) {
        u->group[o] = o;
        if (f->objects[o].body >= 0)
            object_of_body[f->objects[o].body] = o;
    }
    /* The body of the lowest particle of a component: bodies have ascending ranges of particles. */
    for (int32_t b = 0; b < view->body_count; b++) {
        const sinew_contact_body *body = &view->bodies[b];
        for (int32_t i = body->start; body->mesh && i < body->start + body->count; i++)
            for (int32_t k = 0; component[i] < body->start && k < view->body_count; k++) {
                const sinew_contact_body *root = &view->bodies[k];
                if (!root->mesh || component[i] < root->start || component[i] >= root->start + root->count)
                    continue;
                if (object_of_body[b] < 0 || object_of_body[k] < 0)
                    continue;
                const int32_t x = sinew_find_root(u->group, object_of_body[b]),
                              y = sinew_find_root(u->group, object_of_body[k]);
                u->group[x > y ? x : y] = x > y ? y : x;
            }
    }
    for (int32_t o = 0; o < f->object_count; o++)
        u->group[o] = sinew_find_root(u->group, o);
}

static void groups_sum_masses(const sinew_contact_view *view)
{
    struct sinew_untangle *u = view->contact->untangle;
    const sinew_collision_mesh *f = &view->contact->mesh;
    for (int32_t o = 0; o < f->object_count; o++)
        u->mass[o] = 0;
    for (int32_t o = 0; o < f->object_count; o++) {
        double *mass = &u->mass[u->group[o]];
        if (f->objects[o].kinematic) {
            *mass = HUGE_VAL;
            continue;
        }
        const sinew_contact_body *body = &view->bodies[f->objects[o].body];
        for (int32_t i = body->start; i < body->start + body->count; i++)
            *mass += view->pinned[i] ? HUGE_VAL : (double)view->mass[i];
    }
}

sinew_status sinew_untangle_group(const sinew_contact_view *view, sinew_error *error)
{
    struct sinew_untangle *u = view->contact->untangle;
    const sinew_allocator *m = view->allocator;
    const size_t n = (size_t)view->contact->mesh.object_count;
    int32_t *component = sinew_allocate(m, (size_t)view->particle_count + (size_t)view->body_count, sizeof *component);
    const bool good = component && sinew_reserve(m, &u->group, &u->group_capacity, n, sizeof *u->group) &&
                      sinew_reserve(m, &u->mass, &u->mass_capacity, n, sizeof *u->mass);
    if (good) {
        sinew_objective_components(view->objective, view->q, component);
        groups_join_connected(view, component, component + view->particle_count);
        groups_sum_masses(view);
    }
    sinew_release(m, component);
    return good ? SINEW_OK : sinew_fail_memory(error, "overlapping surfaces");
}

/* ---- Hulls of objects --------------------------------------------------------------------------- */

/* The direction with the smallest depth among those tried for an overlap. */
typedef struct way_out {
    const sinew_contact_view *view;
    const sinew_overlap *overlap;
    double n[3];
    double depth; /* depth along n in m; HUGE_VAL: no direction was tried */
} way_out;

/* Range of n.x over an object, extended by its solid radius. */
static void object_range(const sinew_contact_work *c, int32_t o, const double n[3], double *low, double *high)
{
    const sinew_collision_object *object = &c->mesh.objects[o];
    *low = HUGE_VAL;
    *high = -HUGE_VAL;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        double height = 0;
        if (sinew_is_frame_vertex(&c->mesh, v))
            continue;
        for (size_t k = 0; k < 3; k++)
            height += n[k] * (double)c->x_pass_start[4 * (size_t)v + k];
        *low = fmin(*low, height - object->radius);
        *high = fmax(*high, height + object->radius);
    }
}

static void way_keep_best(way_out *w, const double n[3], double sign, double depth)
{
    if (!(depth < w->depth))
        return;
    w->depth = depth;
    for (int k = 0; k < 3; k++)
        w->n[k] = sign * n[k];
}

/* Tries a direction of any length in both senses, with the depth of the convex hulls of both objects. */
static void way_try(way_out *w, const double direction[3])
{
    const double length = vec3_norm(direction);
    if (!(length > 0) || !isfinite(length))
        return;
    const double n[3] = {direction[0] / length, direction[1] / length, direction[2] / length};
    double low[2], high[2];
    object_range(w->view->contact, w->overlap->a, n, &low[0], &high[0]);
    object_range(w->view->contact, w->overlap->b, n, &low[1], &high[1]);
    way_keep_best(w, n, 1, high[1] - low[0]);
    way_keep_best(w, n, -1, high[0] - low[1]);
}

static void object_centre(const sinew_contact_work *c, int32_t o, double centre[3])
{
    const sinew_collision_object *object = &c->mesh.objects[o];
    for (size_t k = 0; k < 3; k++) {
        centre[k] = 0;
        for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
            centre[k] += (double)c->x_pass_start[4 * (size_t)v + k] / object->vertex_count;
    }
}

/* Tries the axes of the world and the diagonals between them, and the line between both centres. */
static void way_try_axes(way_out *w)
{
    double a[3], b[3], n[3];
    for (int k = 14; k <= 26; k++) {
        const double axis[3] = {k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1};
        way_try(w, axis);
    }
    object_centre(w->view->contact, w->overlap->a, a);
    object_centre(w->view->contact, w->overlap->b, b);
    vec3_sub(a, b, n);
    way_try(w, n);
}

/* Tries the normals of crossed faces and of the faces of crossing edges, and the cross products of edges whose
 * crossings follow each other. */
static void way_try_crossings(way_out *w)
{
    const sinew_contact_work *c = w->view->contact;
    const sinew_crossing *crossings = c->untangle->tangle.crossings + w->overlap->first_crossing;
    const int32_t count = w->overlap->crossing_count, step = count > CROSSINGS_TRIED ? count / CROSSINGS_TRIED : 1;
    for (int32_t k = 0; k < count; k += step) {
        double n[3], a[3], b[3];
        const sinew_crossing *next = &crossings[(k + step) % count];
        sinew_primitive_normal(c, crossings[k].face, n);
        way_try(w, n);
        if (c->mesh.flags[crossings[k].owner] & SINEW_IS_FACE) {
            sinew_primitive_normal(c, crossings[k].owner, n);
            way_try(w, n);
        }
        vec3_edge(c->x_pass_start + 4 * (size_t)crossings[k].edge[0],
                  c->x_pass_start + 4 * (size_t)crossings[k].edge[1], a);
        vec3_edge(c->x_pass_start + 4 * (size_t)next->edge[0], c->x_pass_start + 4 * (size_t)next->edge[1], b);
        vec3_cross(a, b, n);
        if (next->edge_first != crossings[k].edge_first && vec3_norm(n) > 1e-3 * vec3_norm(a) * vec3_norm(b))
            way_try(w, n);
    }
}

/* ---- The contour of two closed surfaces ---------------------------------------------------------- */

/* Extent along n of the common volume: of the contour and of the vertices inside. */
static double contour_extent(const sinew_contact_work *c, const sinew_overlap *o, const double n[3])
{
    const sinew_tangle *t = &c->untangle->tangle;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int32_t k = o->first_crossing; k < o->first_crossing + o->crossing_count; k++) {
        const double height = vec3_dot(n, t->crossings[k].x);
        low = fmin(low, height);
        high = fmax(high, height);
    }
    for (int32_t k = o->first_inside; k < o->first_inside + o->inside_count; k++) {
        double height = 0;
        for (size_t i = 0; i < 3; i++)
            height += n[i] * (double)c->x_pass_start[4 * (size_t)t->inside[k] + i];
        low = fmin(low, height);
        high = fmax(high, height);
    }
    return high - low;
}

/* Tries the vector area A of the intersection contour of two closed surfaces (file head). */
static void way_try_contour(way_out *w)
{
    const sinew_contact_work *c = w->view->contact;
    const sinew_tangle *t = &c->untangle->tangle;
    const sinew_overlap *o = w->overlap;
    double centre[3] = {0, 0, 0}, area[3] = {0, 0, 0}, parts = 0;
    for (int32_t k = o->first_crossing; k < o->first_crossing + o->crossing_count; k++)
        for (int i = 0; i < 3; i++)
            centre[i] += t->crossings[k].x[i] / o->crossing_count;
    for (int32_t k = o->first_crossing; k < o->first_crossing + o->crossing_count; k++) {
        const sinew_crossing *p = &t->crossings[k];
        if (p->other <= k)
            continue;
        double from[3], to[3], along[3], first[3], second[3], tangent[3], part[3];
        vec3_sub(p->x, centre, from);
        vec3_sub(t->crossings[p->other].x, centre, to);
        vec3_sub(to, from, along);
        sinew_primitive_normal(c, p->edge_first ? p->owner : p->face, first);
        sinew_primitive_normal(c, p->edge_first ? p->face : p->owner, second);
        vec3_cross(first, second, tangent);
        vec3_cross(from, to, part);
        const double sign = vec3_dot(tangent, along) < 0 ? -0.5 : 0.5;
        for (int i = 0; i < 3; i++)
            area[i] += sign * part[i];
        parts += vec3_norm(part) / 2;
    }
    const double size = vec3_norm(area);
    if (!(size > LOOP_MIN * parts))
        return;
    const double n[3] = {-area[0] / size, -area[1] / size, -area[2] / size};
    way_keep_best(w, n, 1, contour_extent(c, o, n));
}

double sinew_overlap_exit(const sinew_contact_view *view, const sinew_overlap *o, int32_t v, sinew_bearing *bearing)
{
    const sinew_contact_work *c = view->contact;
    const bool first = c->mesh.object[v] == o->a;
    const int32_t other = first ? o->b : o->a;
    const sinew_real *x = c->x_pass_start + 4 * (size_t)v;
    const sinew_contact_tree *t = c->trees ? &c->trees[other] : NULL;
    if (!t || !t->tree)
        return -1;
    sinew_ray ray = {.origin = {x[0], x[1], x[2]}, .to = HUGE_VALF};
    sinew_ray_hit hit;
    sinew_tree_point nearest;
    for (int k = 0; k < 3; k++)
        ray.direction[k] = (sinew_real)(first ? o->n[k] : -o->n[k]);
    sinew_tree_nearest(t->tree, 1, x, NULL, &nearest);
    bearing->vertex = v;
    if (sinew_object_is_closed(view, o->a) && sinew_object_is_closed(view, o->b) &&
        sinew_tree_ray(t->tree, &ray, &hit)) {
        const double w[3] = {1 - (double)hit.u - (double)hit.v, (double)hit.u, (double)hit.v};
        memcpy(bearing->w, w, sizeof w);
        bearing->face = t->first_primitive + hit.cell;
        for (int k = 0; k < 3; k++)
            bearing->n[k] = (double)ray.direction[k];
        return (double)hit.t;
    }
    double n[3];
    vec3_edge(x, nearest.point, n);
    const double depth = vec3_norm(n);
    bearing->face = t->first_primitive + nearest.cell;
    for (int k = 0; k < 3; k++) {
        bearing->w[k] = (double)nearest.weights[k];
        bearing->n[k] = depth > 0 ? n[k] / depth : 0;
    }
    return depth > 0 ? depth : -1;
}

/* ---- Spheres, capsules and planes ---------------------------------------------------------------- */

static void way_out_of_plane(way_out *w)
{
    const sinew_contact_work *c = w->view->contact;
    const sinew_overlap *o = w->overlap;
    double point[3], n[3], deepest = 0;
    sinew_contact_plane(w->view, o->b, c->fraction[o->b], point, n);
    for (int32_t k = o->first_inside; k < o->first_inside + o->inside_count; k++) {
        const int32_t v = c->untangle->tangle.inside[k];
        double depth = c->mesh.objects[o->a].radius;
        for (size_t i = 0; i < 3; i++)
            depth -= n[i] * ((double)c->x_pass_start[4 * (size_t)v + i] - point[i]);
        deepest = fmax(deepest, depth);
    }
    way_keep_best(w, n, 1, deepest);
}

/* Tries the lines from the vertices of a sphere or capsule to the nearest vertices of the other object: a
 * translation along such a line separates the hulls. */
static void way_try_round(way_out *w)
{
    const sinew_contact_work *c = w->view->contact;
    const sinew_collision_object *round = &c->mesh.objects[w->overlap->b], *other = &c->mesh.objects[w->overlap->a];
    for (int32_t v = round->first_vertex; v < round->first_vertex + round->vertex_count; v++) {
        double nearest = HUGE_VAL, n[3] = {0, 0, 0};
        for (int32_t i = other->first_vertex; i < other->first_vertex + other->vertex_count; i++) {
            double d[3];
            vec3_edge(c->x_pass_start + 4 * (size_t)v, c->x_pass_start + 4 * (size_t)i, d);
            if (vec3_norm(d) >= nearest)
                continue;
            nearest = vec3_norm(d);
            memcpy(n, d, sizeof n);
        }
        way_try(w, n);
    }
}

/* ---- Order of sheets ----------------------------------------------------------------------------- */

/* Reverses the direction of two open surfaces whose depths in both senses are about equal, so that the later one
 * comes to the positive side of the earlier one, as in touching.c. All later sheets then move to the same side, so
 * three sheets do not require a cyclic order. */
static void way_order_sheets(way_out *w, double offset)
{
    const sinew_contact_work *c = w->view->contact;
    const sinew_overlap *o = w->overlap;
    const double back[3] = {-w->n[0], -w->n[1], -w->n[2]};
    double normal[3] = {0, 0, 0}, low[2], high[2];
    object_range(c, o->a, back, &low[0], &high[0]);
    object_range(c, o->b, back, &low[1], &high[1]);
    for (int32_t k = 0; k < c->mesh.primitive_count; k++) {
        double n[3];
        if (c->mesh.object[c->mesh.primitives[k][0]] != o->a || !(c->mesh.flags[k] & SINEW_IS_FACE))
            continue;
        sinew_primitive_normal(c, k, n);
        for (int i = 0; i < 3; i++)
            normal[i] += n[i];
    }
    if (!(vec3_dot(w->n, normal) > 0) || high[1] - low[0] > w->depth + offset)
        return;
    w->depth = high[1] - low[0];
    memcpy(w->n, back, sizeof back);
}

double sinew_sheets_direction(const sinew_contact_view *view, int32_t a, int32_t b, const double *tried, int32_t count,
                              double n[3])
{
    const sinew_overlap overlap = {.a = a, .b = b};
    way_out w = {.view = view, .overlap = &overlap, .depth = HUGE_VAL};
    way_try_axes(&w);
    for (int32_t k = 0; k < count; k++)
        way_try(&w, tried + 3 * (size_t)k);
    way_order_sheets(&w, sinew_overlap_offset(&view->contact->mesh, &overlap));
    memcpy(n, w.n, sizeof w.n);
    return w.depth;
}

/* ---- Choice ------------------------------------------------------------------------------------- */

static double object_diagonal(const sinew_contact_work *c, int32_t o)
{
    static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double square = 0;
    for (int k = 0; k < 3; k++) {
        double low, high;
        object_range(c, o, axes[k], &low, &high);
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

static bool overlap_is_solid(const sinew_contact_view *view, const sinew_overlap *o)
{
    const sinew_collision_object *second = &view->contact->mesh.objects[o->b];
    return sinew_object_is_closed(view, o->a) &&
           (sinew_object_is_closed(view, o->b) || second->radius > 0 || sinew_object_is_plane(second));
}

void sinew_overlap_choose_way(const sinew_contact_view *view, sinew_overlap *o)
{
    const sinew_contact_work *c = view->contact;
    const struct sinew_untangle *u = c->untangle;
    const sinew_collision_object *second = &c->mesh.objects[o->b];
    way_out w = {.view = view, .overlap = o, .depth = HUGE_VAL};
    o->way = SINEW_OVERLAP_PATCHES;
    if (o->a == o->b)
        return;
    if (sinew_object_is_plane(second)) {
        way_out_of_plane(&w);
    } else {
        way_try_axes(&w);
        way_try_crossings(&w);
        if (second->radius > 0)
            way_try_round(&w);
        if (overlap_is_solid(view, o) && o->crossing_count > 0)
            way_try_contour(&w);
        if (!sinew_object_is_closed(view, o->a) && !sinew_object_is_closed(view, o->b))
            way_order_sheets(&w, sinew_overlap_offset(&c->mesh, o));
    }
    memcpy(o->n, w.n, sizeof o->n);
    o->depth = fmax(w.depth, 0);
    const double open = fmax(OPEN_OFFSETS * sinew_overlap_offset(&c->mesh, o),
                             OPEN_FRACTION * fmin(object_diagonal(c, o->a), object_diagonal(c, o->b)));
    const bool movable = !isinf(u->mass[u->group[o->a]]) || !isinf(u->mass[u->group[o->b]]);
    if (movable && u->group[o->a] == u->group[o->b])
        o->way = SINEW_OVERLAP_JOINED;
    else if (movable && (sinew_object_is_plane(second) || overlap_is_solid(view, o) || o->depth <= open))
        o->way = SINEW_OVERLAP_WHOLE;
}

/* ---- Translations ------------------------------------------------------------------------------- */

/* Translates the groups of objects a and b so that a moves away from b along n by at least `wanted`, in m. Returns the
 * part that was missing. */
static double groups_separate(const sinew_contact_view *view, int32_t a, int32_t b, const double n[3], double wanted)
{
    struct sinew_untangle *u = view->contact->untangle;
    double *first = u->translation + 3 * (size_t)u->group[a], *second = u->translation + 3 * (size_t)u->group[b];
    const double missing = wanted - vec3_dot(n, first) + vec3_dot(n, second);
    const double mass_a = u->mass[u->group[a]], mass_b = u->mass[u->group[b]];
    if (first == second || !(missing > 0) || (isinf(mass_a) && isinf(mass_b)))
        return 0;
    const double share = isinf(mass_b) ? 1 : isinf(mass_a) ? 0 : mass_b / (mass_a + mass_b);
    for (int k = 0; k < 3; k++) {
        first[k] += share * missing * n[k];
        second[k] -= (1 - share) * missing * n[k];
    }
    return missing;
}

double sinew_overlap_stride(const sinew_contact_view *view, const sinew_overlap *o, double depth)
{
    const double offset = sinew_overlap_offset(&view->contact->mesh, o), h = view->time_step;
    const double fall = view->quasistatic ? 0 : vec3_norm(view->gravity) * h * h;
    return fmin(depth + SINEW_UNTANGLE_TARGET * offset,
                fmax(STRIDE_MIN * (offset + fall), SINEW_UNTANGLE_FRACTION * depth));
}

/* Moves groups apart whose free candidate pairs would come nearer than their offset. Returns true if all stay. */
static bool keep_free_pairs(const sinew_contact_view *view)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    bool done = true;
    for (int64_t k = 0; k < c->pairs.count; k++) {
        const sinew_candidate *p = &c->pairs.list[k];
        const int32_t a = f->object[p->v[0]],
                      b = p->kind == SINEW_CANDIDATE_VERTEX_PLANE ? p->second : f->object[p->v[3]];
        const double offset = f->objects[a].half_thickness + f->objects[b].half_thickness;
        if (p->inside || !(p->distance > 0))
            continue;
        const double n[3] = {(double)p->n[0], (double)p->n[1], (double)p->n[2]};
        done &= groups_separate(view, a, b, n, fmin(0, offset - (double)p->distance)) <= MISSED * offset;
    }
    return done;
}

bool sinew_untangle_translations(const sinew_contact_view *view, bool keep)
{
    const sinew_contact_work *c = view->contact;
    struct sinew_untangle *u = c->untangle;
    const sinew_tangle *t = &u->tangle;
    bool done = false, any = false;
    memset(u->translation, 0, 3 * (size_t)c->mesh.object_count * sizeof *u->translation);
    for (int pass = 0; pass < PASSES && !done; pass++) {
        done = true;
        for (int32_t k = 0; k < t->overlap_count; k++) {
            const sinew_overlap *o = &t->overlaps[k];
            if (o->way != SINEW_OVERLAP_WHOLE)
                continue;
            any = true;
            const double stride = sinew_overlap_stride(view, o, o->depth);
            done &= groups_separate(view, o->a, o->b, o->n, stride) <= MISSED * stride;
        }
        if (keep && any)
            done &= keep_free_pairs(view);
    }
    return any;
}
