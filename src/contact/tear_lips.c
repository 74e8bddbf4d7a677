/* SPDX-License-Identifier: MIT
 *
 * tear_lips.c: parts the lips of a tear in a solid. See tear_lips.h.
 *
 * A tear duplicates vertices of faces between cells, so new faces coincide in pairs of opposite normals, the lips. Each
 * duplicated vertex is retracted into its own side: by d with
 *
 *     N.d <= -gap / 2        for the outward normals N of all lips at the vertex
 *
 * Then both lips of a pair are apart by the gap at each free vertex that they do not share, unless the normals there
 * nearly cancel (MARGIN_MIN), and by linear interpolation between. The copies of a vertex in several tears need no
 * common direction. Where each pair of copies chose its own direction, lips of 4 in 100 random tears crossed
 * (test_touching).
 *
 * d is along -p, with p the point of the convex hull of the normals that is nearest to the origin.
 */
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "contact/tear_lips.h"
#include "contact/untangle.h"
#include "math/vec3.h"

#define LIPS_MAX   64   /* lips at one vertex; further ones are ignored */
#define PASSES     100  /* iterations for the nearest point */
#define COINCIDE   1e-5 /* round-off of closest points: of distances in mean edges, and of weights */
#define MARGIN_MIN 0.1  /* smallest |p|: flatter cones move by at most gap / (2 MARGIN_MIN) */

/* True if two faces have the same corners at rest: copies of vertices have the same rest positions. */
static bool faces_coincide(const sinew_collision_mesh *f, const int32_t a[3], const int32_t b[3])
{
    for (int i = 0; i < 3; i++) {
        bool found = false;
        for (int k = 0; k < 3; k++)
            found = found || a[i] == b[k] ||
                    memcmp(f->rest + 4 * (size_t)a[i], f->rest + 4 * (size_t)b[k], 3 * sizeof *f->rest) == 0;
        if (!found)
            return false;
    }
    return true;
}

static bool face_has_vertex(const int32_t face[3], int32_t v)
{
    return face[0] == v || face[1] == v || face[2] == v;
}

static void lip_normal(const sinew_contact_work *c, const int32_t face[3], double n[3])
{
    const sinew_real *x = c->x_pass_start;
    double a[3], b[3];
    vec3_edge(x + 4 * (size_t)face[0], x + 4 * (size_t)face[1], a);
    vec3_edge(x + 4 * (size_t)face[0], x + 4 * (size_t)face[2], b);
    vec3_cross(a, b, n);
    const double length = vec3_norm(n);
    for (int k = 0; k < 3; k++)
        n[k] = length > 0 ? n[k] / length : 0;
}

/* Collects the normals of the lips at vertex v whose other lip does not contain v. Returns their number. */
static int lips_of_vertex(const sinew_contact_work *c, const sinew_vertex_faces *incident, int32_t v,
                          double normals[LIPS_MAX][3])
{
    const sinew_collision_mesh *f = &c->mesh;
    const sinew_collision_object *o = &f->objects[f->object[v]];
    int count = 0;
    for (int32_t i = incident->first[v]; i < incident->first[v + 1] && count < LIPS_MAX; i++) {
        const int32_t *face = f->primitives[incident->faces[i]];
        bool lip = false;
        for (int32_t u = o->first_vertex; u < o->first_vertex + o->vertex_count && !lip; u++) {
            if (u == v || memcmp(f->rest + 4 * (size_t)u, f->rest + 4 * (size_t)v, 3 * sizeof *f->rest) != 0)
                continue;
            for (int32_t j = incident->first[u]; j < incident->first[u + 1] && !lip; j++) {
                const int32_t *other = f->primitives[incident->faces[j]];
                lip = !face_has_vertex(other, v) && faces_coincide(f, face, other);
            }
        }
        if (lip)
            lip_normal(c, face, normals[count++]);
    }
    return count;
}

/* The point p of the convex hull of the normals that is nearest to the origin, by Frank-Wolfe steps. */
static void nearest_hull_point(double normals[LIPS_MAX][3], int count, double p[3])
{
    memcpy(p, normals[0], 3 * sizeof *p);
    for (int pass = 0; pass < PASSES; pass++) {
        int best = 0;
        for (int i = 1; i < count; i++)
            best = vec3_dot(normals[i], p) < vec3_dot(normals[best], p) ? i : best;
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = normals[best][k] - p[k];
        const double square = vec3_dot(d, d), along = -vec3_dot(d, p);
        if (!(along > 1e-6) || !(square > 0))
            return;
        for (int k = 0; k < 3; k++)
            p[k] += fmin(1, along / square) * d[k];
    }
}

static bool candidate_is_of_lips(const sinew_contact_view *view, const sinew_candidate *p)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    if (p->kind == SINEW_CANDIDATE_VERTEX_PLANE || f->object[p->v[0]] != f->object[p->v[3]] ||
        f->objects[f->object[p->v[0]]].rigid || !sinew_object_is_closed(view, f->object[p->v[0]]))
        return false;
    sinew_candidate rest = *p;
    sinew_candidate_closest(&rest, f->rest);
    return (double)rest.distance <= COINCIDE * view->contact->mean_edge[f->object[p->v[0]]];
}

/* True if vertex `a` of the pair carries its closest point. */
static bool vertex_carries_closest_point(const sinew_candidate *p, int a)
{
    return fabs((double)p->w[a]) > COINCIDE;
}

static void retract_vertex(const sinew_contact_view *view, const sinew_vertex_faces *incident, int32_t v, double gap,
                           double *shift, uint8_t *parted)
{
    double normals[LIPS_MAX][3], p[3];
    const int32_t particle = view->contact->mesh.particle[v];
    const int count = lips_of_vertex(view->contact, incident, v, normals);
    if (count == 0)
        return;
    parted[v] = 1;
    nearest_hull_point(normals, count, p);
    const double margin = vec3_norm(p);
    for (size_t k = 0; margin > 0 && !view->pinned[particle] && k < 3; k++)
        shift[3 * (size_t)v + k] = -p[k] / margin * gap / 2 / fmax(margin, MARGIN_MIN);
}

void sinew_tear_lips_part(const sinew_contact_view *view, const sinew_vertex_faces *incident, double fraction,
                          double *shift, uint8_t *parted)
{
    const sinew_contact_work *c = view->contact;
    for (int64_t i = 0; i < c->pairs.count; i++) {
        const sinew_candidate *p = &c->pairs.list[i];
        if (!sinew_contact_pair_touches(c, p) || !candidate_is_of_lips(view, p))
            continue;
        const double gap = fraction * 2 * c->mesh.objects[c->mesh.object[p->v[0]]].half_thickness;
        for (int a = 0; a < 4; a++)
            if (vertex_carries_closest_point(p, a) && !parted[p->v[a]])
                retract_vertex(view, incident, p->v[a], gap, shift, parted);
    }
}

bool sinew_tear_lips_are_parted(const sinew_contact_view *view, const sinew_candidate *p, const uint8_t *parted)
{
    if (!candidate_is_of_lips(view, p))
        return false;
    for (int a = 0; a < 4; a++)
        if (vertex_carries_closest_point(p, a) && parted[p->v[a]])
            return true;
    return false;
}
