/* SPDX-License-Identifier: MIT
 *
 * queries.c: queries of the current world: rays and nearest points. overlaps.c has boxes and intersections.
 *
 * The triangles of all bodies and colliders form one BVH (sinew/tree.h). The first query builds it; later queries
 * rebuild it if bodies or colliders have changed, and refit it if positions have. Spheres, capsules and planes are
 * solved in closed form. Ropes and clouds have no triangles and are not found. Queries do not need contact to be on.
 */
#include <math.h>
#include <string.h>

#include "collide/closest.h"
#include "math/vec3.h"
#include "mesh/mesh.h"
#include "sinew/tree.h"
#include "contact/contact.h"
#include "world/world.h"
#include "world/contact_api/queries.h"

struct sinew_query_work {
    sinew_tree *tree; /* BVH of all triangles; NULL: there are no triangles */
    int64_t shape_version, collider_version, q_version;
    int32_t vertex_count, triangle_count;
    sinew_real *points;            /* [vertex_count][3] positions of particles, then of collider vertices, in m */
    int32_t *triangles;            /* [triangle_count][3] vertices of each triangle, as indices of `points` */
    sinew_contact_object *objects; /* [triangle_count] body or collider that each triangle belongs to */
};

static void query_release_arrays(const sinew_world *world, struct sinew_query_work *w)
{
    sinew_tree_destroy(w->tree);
    sinew_release(&world->allocator, w->points);
    sinew_release(&world->allocator, w->triangles);
    sinew_release(&world->allocator, w->objects);
    *w = (struct sinew_query_work){.shape_version = -1};
}

void sinew_query_release(sinew_world *world)
{
    if (!world->query)
        return;
    query_release_arrays(world, world->query);
    sinew_release(&world->allocator, world->query);
    world->query = NULL;
}

/* ---- BVH of the world's triangles -------------------------------------------------------------- */

static void query_pack_points(const sinew_world *world, const struct sinew_query_work *w)
{
    sinew_real *to = w->points;
    for (int32_t i = 0; i < world->particle_count; i++, to += 3)
        memcpy(to, world->q + 4 * (size_t)i, 3 * sizeof *to);
    for (int32_t k = 0; k < world->collider_count; k++) {
        const sinew_collider_record *r = &world->colliders[k];
        if (!r->there)
            continue;
        sinew_shape_positions_packed(r, world->time - r->behind, 0, to);
        to += 3 * (size_t)r->vertex_count;
    }
}

/* Appends `count` triangles of an object to the query BVH's list; the caller fills them. NULL: out of memory. */
static int32_t *query_add_triangles(const sinew_world *world, struct sinew_query_work *w, int32_t count,
                                    sinew_contact_object object)
{
    const size_t had = (size_t)w->triangle_count, all = had + (size_t)count;
    int32_t *triangles = sinew_reallocate(&world->allocator, w->triangles, 3 * had, 3 * all, sizeof *triangles);
    w->triangles = triangles ? triangles : w->triangles;
    sinew_contact_object *objects = sinew_reallocate(&world->allocator, w->objects, had, all, sizeof *objects);
    w->objects = objects ? objects : w->objects;
    if (!triangles || !objects)
        return NULL;
    for (size_t k = had; k < all; k++)
        objects[k] = object;
    w->triangle_count = (int32_t)all;
    return triangles + 3 * had;
}

static sinew_status query_add_body(const sinew_world *world, int32_t slot, struct sinew_query_work *w,
                                   sinew_error *error)
{
    const sinew_body_record *body = &world->bodies[slot];
    const sinew_mesh *mesh = sinew_mesh_kept_surface(body->mesh, error);
    if (!mesh)
        return SINEW_ERROR_MEMORY;
    const int32_t count = sinew_mesh_triangle_count(mesh), *corners = sinew_mesh_triangles(mesh);
    const sinew_contact_object object = {.body = {slot, body->generation}, .collider = {.index = -1}};
    int32_t *to = query_add_triangles(world, w, count, object);
    for (int32_t k = 0; to && k < 3 * count; k++)
        to[k] = world->inside[body->first + corners[k]];
    return to ? SINEW_OK : sinew_fail_memory(error, "a question about the world");
}

static sinew_status query_add_collider(const sinew_world *world, int32_t slot, struct sinew_query_work *w,
                                       sinew_error *error)
{
    const sinew_collider_record *r = &world->colliders[slot];
    const sinew_contact_object object = {.body = {.index = -1}, .collider = {slot, r->generation}};
    int32_t *to = query_add_triangles(world, w, r->triangle_count, object);
    for (int32_t k = 0; to && k < 3 * r->triangle_count; k++)
        to[k] = w->vertex_count + r->triangles[k];
    w->vertex_count += r->vertex_count;
    return to ? SINEW_OK : sinew_fail_memory(error, "a question about the world");
}

static sinew_status query_build(const sinew_world *world, struct sinew_query_work *w, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    query_release_arrays(world, w);
    w->vertex_count = world->particle_count;
    for (int32_t b = 0; status == SINEW_OK && b < world->body_count; b++)
        if (world->bodies[b].mesh)
            status = query_add_body(world, b, w, error);
    for (int32_t k = 0; status == SINEW_OK && k < world->collider_count; k++)
        if (world->colliders[k].there)
            status = query_add_collider(world, k, w, error);
    if (status != SINEW_OK)
        return status;
    w->points = sinew_allocate(&world->allocator, 3 * (size_t)w->vertex_count, sizeof *w->points);
    if (!w->points)
        return sinew_fail_memory(error, "a question about the world");
    if (w->triangle_count == 0)
        return SINEW_OK;
    query_pack_points(world, w);
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = world->allocator;
    def.vertex_count = w->vertex_count;
    def.positions = w->points;
    def.cell_count = w->triangle_count;
    def.cells = w->triangles;
    def.winding = false;
    def.thread_count = 1;
    w->tree = sinew_tree_create(&def, error);
    return w->tree ? SINEW_OK : SINEW_ERROR_MEMORY;
}

sinew_status sinew_query_update(sinew_world *world, sinew_error *error)
{
    if (!world->query)
        world->query = sinew_allocate_zero(&world->allocator, 1, sizeof *world->query);
    if (!world->query)
        return sinew_fail_memory(error, "a question about the world");
    struct sinew_query_work *w = world->query;
    sinew_status status = SINEW_OK;
    if (!w->points || w->shape_version != world->shape_version || w->collider_version != world->collider_version) {
        status = query_build(world, w, error);
    } else if (w->tree && w->q_version != world->q_version) {
        query_pack_points(world, w);
        status = sinew_tree_refit(w->tree, w->points, error);
    }
    if (status != SINEW_OK) {
        query_release_arrays(world, w);
        return status;
    }
    w->shape_version = world->shape_version;
    w->collider_version = world->collider_version;
    w->q_version = world->q_version;
    return SINEW_OK;
}

sinew_query_triangles sinew_query_triangles_of(const sinew_world *world)
{
    return (sinew_query_triangles){world->query->tree, world->query->objects};
}

/* ---- Queries of spheres and capsules ----------------------------------------------------------- */

static bool collider_is_round(const sinew_collider_record *r)
{
    return r->radius > 0;
}

double sinew_query_round_ends(const sinew_world *world, const sinew_collider_record *r, double ends[2][3])
{
    sinew_real x[6] = {0};
    sinew_shape_positions_packed(r, world->time - r->behind, 0, x);
    for (int k = 0; k < 3; k++) {
        ends[0][k] = (double)x[k];
        ends[1][k] = (double)x[r->vertex_count > 1 ? 3 + k : k];
    }
    return r->radius;
}

/* Computes the point of a sphere's centre or capsule's axis that is nearest to p. */
static void nearest_point_on_axis(double ends[2][3], const double p[3], double out[3])
{
    double along[3], from[3];
    vec3_sub(ends[1], ends[0], along);
    vec3_sub(p, ends[0], from);
    const double length = vec3_dot(along, along), s = length > 0 ? fmin(1, fmax(0, vec3_dot(from, along) / length)) : 0;
    for (int k = 0; k < 3; k++)
        out[k] = ends[0][k] + s * along[k];
}

/* Lowers *best to t if the ray point o + t d is on the surface of a sphere or capsule, within 1e-6 of the radius. */
static void try_ray_hit(double ends[2][3], double radius, const double o[3], const double d[3], double t, double *best)
{
    double p[3], axis[3], from[3];
    if (!(t >= 0) || !(t < *best))
        return;
    for (int k = 0; k < 3; k++)
        p[k] = o[k] + t * d[k];
    nearest_point_on_axis(ends, p, axis);
    vec3_sub(p, axis, from);
    if (fabs(vec3_norm(from) - radius) <= 1e-6 * radius)
        *best = t;
}

/* Tries both t with |e + t f| = radius as hits of the ray o + t d; lowers *best to the smaller valid one. */
static void try_ray_roots(double ends[2][3], double radius, const double o[3], const double d[3], const double e[3],
                          const double f[3], double *best)
{
    const double a = vec3_dot(f, f), b = vec3_dot(e, f), c = vec3_dot(e, e) - radius * radius, under = b * b - a * c;
    if (!(a > 0) || under < 0)
        return;
    try_ray_hit(ends, radius, o, d, (-b - sqrt(under)) / a, best);
    try_ray_hit(ends, radius, o, d, (-b + sqrt(under)) / a, best);
}

/* Computes the first t at which the ray o + t d hits a capsule: a sphere at an end, or the cylinder between the
 * ends. Returns `longest` without a hit. */
static double ray_capsule_time(double ends[2][3], double radius, const double o[3], const double d[3], double longest)
{
    double best = longest, along[3], e[3], across_d[3];
    for (int k = 0; k < 2; k++) {
        vec3_sub(o, ends[k], e);
        try_ray_roots(ends, radius, o, d, e, d, &best);
    }
    vec3_sub(ends[1], ends[0], along);
    vec3_sub(o, ends[0], e);
    const double length = vec3_dot(along, along);
    for (int k = 0; length > 0 && k < 3; k++)
        across_d[k] = d[k] - vec3_dot(d, along) / length * along[k];
    if (length > 0) {
        const double shift = vec3_dot(e, along) / length;
        for (int k = 0; k < 3; k++)
            e[k] -= shift * along[k];
        try_ray_roots(ends, radius, o, d, e, across_d, &best);
    }
    return best;
}

/* ---- Hits and ray queries -------------------------------------------------------------------- */

static void point_to_double(const sinew_real *from, double to[3])
{
    for (int k = 0; k < 3; k++)
        to[k] = (double)from[k];
}

/* Creates a query hit at a point, with the unit normal towards `side`. n may have any length; if it is zero, `side` is
 * the normal. */
static sinew_world_hit make_hit(sinew_contact_object object, const double point[3], const double n[3],
                                const double side[3], double t)
{
    sinew_world_hit hit = {.object = object, .particles = {-1, -1, -1}, .t = (sinew_real)t};
    const double *m = vec3_dot(n, n) > 0 ? n : side;
    const double size = vec3_norm(m), sign = vec3_dot(m, side) < 0 ? -1 : 1;
    for (int k = 0; k < 3; k++) {
        hit.point[k] = (sinew_real)point[k];
        hit.normal[k] = size > 0 ? (sinew_real)(sign * m[k] / size) : 0;
    }
    return hit;
}

static sinew_contact_object collider_object_of(const sinew_world *world, int32_t slot)
{
    return (sinew_contact_object){.body = {.index = -1}, .collider = {slot, world->colliders[slot].generation}};
}

/* Creates a query hit on a triangle; side: direction towards the origin of the ray or towards the query point. */
static sinew_world_hit make_triangle_hit(const sinew_world *world, int32_t triangle, const sinew_real weights[3],
                                         const double side[3], sinew_real t)
{
    const struct sinew_query_work *w = world->query;
    const int32_t *v = w->triangles + 3 * (size_t)triangle;
    double x[3][3], e[2][3], n[3], point[3] = {0, 0, 0};
    for (int a = 0; a < 3; a++) {
        point_to_double(w->points + 3 * (size_t)v[a], x[a]);
        for (int k = 0; k < 3; k++)
            point[k] += (double)weights[a] * x[a][k];
    }
    vec3_sub(x[1], x[0], e[0]);
    vec3_sub(x[2], x[0], e[1]);
    for (int k = 0; k < 3; k++)
        n[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
    const sinew_contact_object object = w->objects[triangle];
    sinew_world_hit hit = make_hit(object, point, n, side, (double)t);
    for (int a = 0; a < 3; a++) {
        hit.particles[a] = object.body.index >= 0 ? world->outside[v[a]] : -1;
        hit.weights[a] = weights[a];
    }
    return hit;
}

/* Lowers *best and sets *hit if the ray o + t d hits a plane collider at t < *best. */
static void ray_plane(const sinew_world *world, int32_t slot, const double o[3], const double d[3], double *best,
                      sinew_world_hit *hit)
{
    const sinew_collider_record *r = &world->colliders[slot];
    double point[3], n[3], from[3];
    sinew_shape_plane(r, world->time - r->behind, 0, point, n);
    vec3_sub(point, o, from);
    const double speed = vec3_dot(n, d), t = vec3_dot(n, from) / speed;
    if (speed == 0 || !(t >= 0) || !(t < *best))
        return;
    const double back[3] = {-d[0], -d[1], -d[2]};
    for (int k = 0; k < 3; k++)
        point[k] = o[k] + t * d[k];
    *best = t;
    *hit = make_hit(collider_object_of(world, slot), point, n, back, t);
}

static void ray_round(const sinew_world *world, int32_t slot, const double o[3], const double d[3], double *best,
                      sinew_world_hit *hit)
{
    double ends[2][3], point[3], axis[3], n[3];
    const double radius = sinew_query_round_ends(world, &world->colliders[slot], ends), back[3] = {-d[0], -d[1], -d[2]};
    const double t = ray_capsule_time(ends, radius, o, d, *best);
    if (!(t < *best))
        return;
    for (int k = 0; k < 3; k++)
        point[k] = o[k] + t * d[k];
    nearest_point_on_axis(ends, point, axis);
    vec3_sub(point, axis, n);
    *best = t;
    *hit = make_hit(collider_object_of(world, slot), point, n, back, t);
}

static bool are_finite(const sinew_real *numbers, int count)
{
    for (int k = 0; k < count; k++)
        if (!isfinite(numbers[k]))
            return false;
    return true;
}

bool sinew_world_ray(sinew_world *world, const sinew_real origin[3], const sinew_real direction[3], sinew_real longest,
                     sinew_world_hit *hit, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return false;
    if (!SINEW_ASSERT(world && origin && direction && hit)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "a ray needs a world, an origin, a direction and room for a hit");
        return false;
    }
    if (!are_finite(origin, 3) || !are_finite(direction, 3) || isnan(longest)) {
        sinew_fail(error, SINEW_ERROR_DATA, "the numbers of a ray must be finite");
        return false;
    }
    if (sinew_query_update(world, error) != SINEW_OK)
        return false;
    sinew_ray ray = {.from = 0, .to = longest};
    sinew_ray_hit first = {.cell = -1};
    double o[3], d[3], best = isinf(longest) ? HUGE_VAL : nextafter((double)longest, HUGE_VAL);
    memcpy(ray.origin, origin, sizeof ray.origin);
    memcpy(ray.direction, direction, sizeof ray.direction);
    point_to_double(origin, o);
    point_to_double(direction, d);
    bool found = world->query->tree && sinew_tree_ray(world->query->tree, &ray, &first);
    if (found) {
        const double back[3] = {-d[0], -d[1], -d[2]};
        const sinew_real weights[3] = {1 - first.u - first.v, first.u, first.v};
        *hit = make_triangle_hit(world, first.cell, weights, back, first.t);
        best = (double)first.t;
    }
    for (int32_t k = 0; k < world->collider_count; k++) {
        const sinew_collider_record *r = &world->colliders[k];
        const double before = best;
        if (r->there && r->kind == SINEW_SHAPE_PLANE)
            ray_plane(world, k, o, d, &best, hit);
        else if (r->there && collider_is_round(r))
            ray_round(world, k, o, d, &best, hit);
        found = found || best < before;
    }
    return found;
}

/* ---- Nearest-point queries --------------------------------------------------------------------- */

static void nearest_on_collider(const sinew_world *world, int32_t slot, const double p[3], double *best,
                                sinew_world_hit *hit)
{
    const sinew_collider_record *r = &world->colliders[slot];
    double point[3], n[3], side[3], ends[2][3], t;
    if (r->kind == SINEW_SHAPE_PLANE) {
        sinew_shape_plane(r, world->time - r->behind, 0, point, n);
        vec3_sub(p, point, side);
        const double height = vec3_dot(n, side);
        t = fabs(height);
        for (int k = 0; k < 3; k++)
            point[k] = p[k] - height * n[k];
    } else {
        const double radius = sinew_query_round_ends(world, r, ends);
        nearest_point_on_axis(ends, p, point);
        vec3_sub(p, point, n);
        const double from = vec3_norm(n);
        t = fabs(from - radius);
        if (from == 0)
            n[0] = 1;
        for (int k = 0; k < 3; k++)
            point[k] += radius / (from > 0 ? from : 1) * n[k];
    }
    if (!(t < *best))
        return;
    vec3_sub(p, point, side);
    *best = t;
    *hit = make_hit(collider_object_of(world, slot), point, n, vec3_dot(side, side) > 0 ? side : n, t);
}

bool sinew_world_nearest(sinew_world *world, const sinew_real point[3], sinew_real limit, sinew_world_hit *hit,
                         sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return false;
    if (!SINEW_ASSERT(world && point && hit)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "the nearest point needs a world, a point and room for a hit");
        return false;
    }
    if (!are_finite(point, 3) || !(limit >= 0)) {
        sinew_fail(error, SINEW_ERROR_DATA, "a point must be finite, and how far to look 0 or more");
        return false;
    }
    if (sinew_query_update(world, error) != SINEW_OK)
        return false;
    double p[3], best = isinf(limit) ? HUGE_VAL : nextafter((double)limit, HUGE_VAL);
    bool found = false;
    sinew_tree_point nearest = {.cell = -1};
    point_to_double(point, p);
    if (world->query->tree)
        sinew_tree_nearest(world->query->tree, 1, point, isinf(limit) ? NULL : &limit, &nearest);
    if (nearest.cell >= 0) {
        double on[3], side[3];
        point_to_double(nearest.point, on);
        vec3_sub(p, on, side);
        *hit = make_triangle_hit(world, nearest.cell, nearest.weights, side, nearest.distance);
        best = (double)nearest.distance;
        found = true;
    }
    for (int32_t k = 0; k < world->collider_count; k++) {
        const sinew_collider_record *r = &world->colliders[k];
        const double before = best;
        if (r->there && (r->kind == SINEW_SHAPE_PLANE || collider_is_round(r)))
            nearest_on_collider(world, k, p, &best, hit);
        found = found || best < before;
    }
    return found;
}
