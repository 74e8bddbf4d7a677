/* SPDX-License-Identifier: MIT
 *
 * stage.c: builds the stage (geometry, ground and sun of a panel) and intersects rays with a snapshot and the ground.
 *
 * Coarse meshes with smooth normals have dark seams at grazing sunlight: a flat triangle occludes its neighbour, which
 * the smooth surface would not. Shadow rays therefore start at a point on the curved surface, the mean of the
 * projections onto the tangent planes of the three corners (J. Hanika, Hacking the Shadow Terminator, Ray Tracing Gems
 * II, 2021).
 */
#include "stage.h"

#include <stdlib.h>

#include "colour.h"
#include "fail.h"

/* ---- Set-up of the stage ---------------------------------------------------------------------- */

void stage_free(stage *s)
{
    sinew_tree_destroy(s->tree);
    free(s->points);
    *s = (stage){0};
}

static void place_sun(const sinew_picture_def *def, stage *s)
{
    /* The tangent of the sun's radius is seven times the real one, so that shadows have soft edges. */
    const float radius = 0.035f;
    const double a = def->sun_azimuth, e = def->sun_elevation;
    s->sun = vec((float)(sin(a) * cos(e)), (float)sin(e), (float)(cos(a) * cos(e)));
    vec_frame(s->sun, &s->sun_across[0], &s->sun_across[1]);
    for (int i = 0; i < 2; i++)
        s->sun_across[i] = vec_scale(s->sun_across[i], radius);
}

static void place_ground(const sinew_picture_def *def, const sinew_survey *survey, stage *s)
{
    const sinew_snapshot *seen = s->snapshot;
    double height = seen->floored ? seen->floor : fmin(survey->bounds[1], seen->beneath) - 0.002 * (double)s->size;
    if (def->ground == SINEW_GROUND_AT)
        height = def->ground_height;
    s->ground = def->ground != SINEW_GROUND_NONE;
    s->ground_height = (float)(height - s->origin[1]);
}

static void stage_set_range(const sinew_picture_def *def, const sinew_survey *survey, stage *s)
{
    const bool own = def->low < def->high;
    const double low = own ? def->low : survey->low, high = own ? def->high : survey->high;
    s->low = (float)low;
    s->scale = high > low ? (float)(1 / (high - low)) : 0;
    for (int32_t i = 0; i <= STAGE_RAMP; i++)
        s->ramp[i] = ramp_colour((float)i / STAGE_RAMP);
}

static sinew_status make_tree(const sinew_picture_def *def, stage *s, sinew_error *error)
{
    const shape *made = &s->snapshot->shape;
    if (made->triangle_count == 0)
        return SINEW_OK;
    const size_t count = 3 * (size_t)made->vertex_count;
    s->points = malloc(count * sizeof *s->points);
    if (!s->points)
        return picture_fail_memory(error, "a picture");
    for (size_t i = 0; i < count; i++)
        s->points[i] = (sinew_real)(made->points[i] - s->origin[i % 3]);
    for (size_t c = 0; c < 3; c++) {
        s->box[c] = (float)(s->snapshot->bounds[c] - s->origin[c]) - s->nudge;
        s->box[3 + c] = (float)(s->snapshot->bounds[3 + c] - s->origin[c]) + s->nudge;
    }
    sinew_tree_def tree = sinew_default_tree_def();
    tree.vertex_count = made->vertex_count;
    tree.positions = s->points;
    tree.cell_count = made->triangle_count;
    tree.cells = made->triangles;
    tree.winding = false;
    tree.thread_count = def->thread_count;
    s->tree = sinew_tree_create(&tree, error);
    return s->tree ? SINEW_OK : error ? error->status : SINEW_ERROR_MEMORY;
}

sinew_status stage_make(const sinew_picture_def *def, const sinew_survey *survey, const sinew_snapshot *snapshot,
                        stage *s, sinew_error *error)
{
    *s = (stage){.snapshot = snapshot};
    double square = 0;
    for (int c = 0; c < 3; c++) {
        s->origin[c] = (survey->bounds[c] + survey->bounds[3 + c]) / 2;
        square += (survey->bounds[3 + c] - survey->bounds[c]) * (survey->bounds[3 + c] - survey->bounds[c]);
    }
    s->size = square > 0 ? (float)sqrt(square) : 1;
    s->nudge = 2e-5f * s->size;
    place_sun(def, s);
    place_ground(def, survey, s);
    stage_set_range(def, survey, s);
    return make_tree(def, s, error);
}

/* ---- Colours where rays hit ------------------------------------------------------------------- */

/* Interpolates the corner values of a triangle at a ray's hit; for colour classes, takes the value of the nearest
 * corner. */
static float hit_value(const stage *s, const float values[3], const float weights[3])
{
    if (s->snapshot->colour != SINEW_COLOUR_CLASS)
        return weights[0] * values[0] + weights[1] * values[1] + weights[2] * values[2];
    const int near = weights[0] >= weights[1] && weights[0] >= weights[2] ? 0 : weights[1] >= weights[2] ? 1 : 2;
    return values[near];
}

static vec3 value_colour(const stage *s, float value)
{
    if (s->snapshot->colour == SINEW_COLOUR_CLASS && value >= 0)
        return class_colour((int32_t)value);
    if (isnan(value))
        return ramp_colour(value);
    /* A range of zero width has one colour, that of the middle of the map. */
    const float position = STAGE_RAMP * (s->scale > 0 ? clamp_unit((value - s->low) * s->scale) : 0.5f);
    const int32_t step = position >= STAGE_RAMP ? STAGE_RAMP - 1 : (int32_t)position;
    return vec_mix(s->ramp[step], s->ramp[step + 1], position - (float)step);
}

static vec3 hit_colour(const stage *s, int32_t cell, const float weights[3], bool from_behind)
{
    const shape *made = &s->snapshot->shape;
    const shape_paint *paint = &made->paint[made->paints[cell]];
    vec3 colour = from_behind ? paint->back : paint->front;
    if (paint->by_value)
        colour = value_colour(s, hit_value(s, made->values + 3 * (size_t)cell, weights));
    const float edge = fminf(weights[0], fminf(weights[1], weights[2]));
    return paint->lined && edge < 0.03f ? vec_scale(colour, 0.55f) : colour;
}

/* ---- Nearest hits of rays --------------------------------------------------------------------- */

static vec3 stage_corner(const stage *s, int32_t cell, int corner)
{
    const sinew_real *p = s->points + 3 * (size_t)s->snapshot->shape.triangles[3 * (size_t)cell + (size_t)corner];
    return vec((float)p[0], (float)p[1], (float)p[2]);
}

/* Point of the curved surface over a point of a triangle, from which shadow rays start; it lies above the triangle
 * where the tangent planes do. */
static vec3 leaving_point(const stage *s, const stage_hit *hit, float side)
{
    const float weights[3] = {1 - hit->u - hit->v, hit->u, hit->v};
    vec3 leave = hit->point;
    for (int i = 0; i < 3; i++) {
        const vec3 n = vec_scale(vec_from(s->snapshot->shape.normals + 9 * (size_t)hit->cell + 3 * i), side);
        const float below = vec_dot(vec_sub(hit->point, stage_corner(s, hit->cell, i)), n);
        if (below < 0)
            leave = vec_along(leave, -below * weights[i], n);
    }
    return leave;
}

static void fill_hit(const stage *s, vec3 direction, const sinew_ray_hit *found, stage_hit *hit)
{
    const shape *made = &s->snapshot->shape;
    hit->cell = found->cell;
    hit->u = (float)found->u;
    hit->v = (float)found->v;
    const float weights[3] = {1 - hit->u - hit->v, hit->u, hit->v};
    vec3 corner[3];
    hit->point = hit->normal = vec(0, 0, 0);
    for (int i = 0; i < 3; i++) {
        corner[i] = stage_corner(s, found->cell, i);
        hit->point = vec_along(hit->point, weights[i], corner[i]);
        hit->normal = vec_along(hit->normal, weights[i], vec_from(made->normals + 9 * (size_t)found->cell + 3 * i));
    }
    hit->face = vec_unit(vec_cross(vec_sub(corner[1], corner[0]), vec_sub(corner[2], corner[0])));
    hit->normal = vec_unit(hit->normal);
    const float side = vec_dot(hit->face, direction) > 0 ? -1.0f : 1.0f;
    hit->face = vec_scale(hit->face, side);
    hit->normal = vec_scale(hit->normal, side);
    hit->leave = leaving_point(s, hit, side);
    hit->colour = hit_colour(s, found->cell, weights, side < 0);
    hit->paint = made->paints[found->cell];
    hit->t = (float)found->t;
}

/* Largest fraction, at most 1, of the displacement (du, dv) that keeps a point inside its triangle. */
static float stay_inside(float u, float v, float du, float dv)
{
    const float weights[3] = {1 - u - v, u, v}, rates[3] = {-du - dv, du, dv};
    float fraction = 1;
    for (int i = 0; i < 3; i++)
        if (weights[i] + fraction * rates[i] < 0)
            fraction = fmaxf(0, -weights[i] / rates[i]);
    return fraction;
}

stage_hit stage_moved(const stage *s, const stage_hit *at, vec3 shift)
{
    stage_hit moved = *at;
    float fraction = 1;
    if (at->paint >= 0) {
        const vec3 a = stage_corner(s, at->cell, 0), b = vec_sub(stage_corner(s, at->cell, 1), a),
                   c = vec_sub(stage_corner(s, at->cell, 2), a);
        const float bb = vec_dot(b, b), bc = vec_dot(b, c), cc = vec_dot(c, c), sb = vec_dot(shift, b),
                    sc = vec_dot(shift, c), scale = bb * cc - bc * bc;
        const float du = scale > 0 ? (cc * sb - bc * sc) / scale : 0, dv = scale > 0 ? (bb * sc - bc * sb) / scale : 0;
        fraction = stay_inside(at->u, at->v, du, dv);
        moved.u += fraction * du;
        moved.v += fraction * dv;
    }
    moved.point = vec_along(at->point, fraction, shift);
    const vec3 n = at->paint >= 0 ? vec_from(s->snapshot->shape.normals + 9 * (size_t)at->cell) : at->face;
    moved.leave = at->paint >= 0 ? leaving_point(s, &moved, vec_dot(n, at->normal) < 0 ? -1.0f : 1.0f) : moved.point;
    return moved;
}

static void fill_ground(const stage *s, vec3 origin, vec3 direction, float t, stage_hit *hit)
{
    hit->paint = STAGE_GROUND;
    hit->t = t;
    hit->point = vec_along(origin, t, direction);
    hit->point.y = s->ground_height;
    hit->leave = hit->point;
    hit->face = hit->normal = vec(0, direction.y < 0 ? 1 : -1, 0);
    hit->colour = vec(0.80f, 0.80f, 0.80f);
}

bool stage_may_hit(const stage *s, vec3 origin, vec3 direction)
{
    const float o[3] = {origin.x, origin.y, origin.z}, d[3] = {direction.x, direction.y, direction.z};
    float from = 0, to = INFINITY;
    for (int c = 0; c < 3; c++) {
        /* If the ray is parallel to a slab, 0 times infinity is NaN: the test then reports a possible hit. */
        const float scale = 1 / d[c], a = (s->box[c] - o[c]) * scale, b = (s->box[3 + c] - o[c]) * scale;
        const float near = a < b ? a : b, far = a < b ? b : a;
        from = near > from ? near : from;
        to = far < to ? far : to;
    }
    return s->tree && !(from > to);
}

void stage_trace(const stage *s, vec3 origin, vec3 direction, stage_hit *hit)
{
    const float height = s->ground_height - origin.y;
    const bool down = s->ground && height * direction.y > 0;
    const float limit = down ? height / direction.y : INFINITY;
    const sinew_ray ray = {{origin.x, origin.y, origin.z}, {direction.x, direction.y, direction.z}, 0, limit};
    sinew_ray_hit found;
    if (stage_may_hit(s, origin, direction) && sinew_tree_ray(s->tree, &ray, &found)) {
        fill_hit(s, direction, &found, hit);
    } else if (down) {
        fill_ground(s, origin, direction, limit, hit);
    } else {
        *hit = (stage_hit){.paint = STAGE_SKY, .t = INFINITY, .point = direction, .normal = vec_scale(direction, -1)};
    }
}
