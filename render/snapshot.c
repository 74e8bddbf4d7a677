/* SPDX-License-Identifier: MIT
 *
 * snapshot.c: takes the drawn shape of one state of a world, and the survey of several snapshots.
 */
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "draw_world.h"
#include "fail.h"

sinew_snapshot_def sinew_default_snapshot_def(void)
{
    return (sinew_snapshot_def){
        .colour = SINEW_COLOUR_BODY, .cut_normal = {0, 0, 1}, .pins = true, .springs = true, .crease = 0.8};
}

/* ---- Positions of a snapshot ------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Median of an array of values; the function reorders the array. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare_doubles);
    return count > 0 ? values[count / 2] : 0;
}

/* Sets `middle` to the coordinate-wise median of all finite particle positions. Returns the median distance (m) from
 * `middle`. work [particle_count] is work space. */
static double find_middle(const drawing *d, double *work, double middle[3])
{
    size_t count = 0;
    for (size_t c = 0; c < 3; c++) {
        count = 0;
        for (int32_t i = 0; i < d->particle_count; i++)
            if (d->fine[i])
                work[count++] = drawing_point(d, i)[c];
        middle[c] = median(work, count);
    }
    count = 0;
    for (int32_t i = 0; i < d->particle_count; i++)
        if (d->fine[i]) {
            const double *p = drawing_point(d, i);
            work[count++] = hypot(hypot(p[0] - middle[0], p[1] - middle[1]), p[2] - middle[2]);
        }
    return median(work, count);
}

/* Marks particle positions that can be drawn. Other positions are set to zero; no triangle uses them. */
static sinew_status sort_out(drawing *d)
{
    double *work = malloc((size_t)d->particle_count * sizeof *work + 1), middle[3], limit = 0;
    if (!work)
        return picture_fail_memory(d->error, "a snapshot");
    for (int32_t i = 0; i < d->particle_count; i++) {
        const double *p = drawing_point(d, i);
        d->fine[i] = d->body_of[i] >= 0 && fabs(p[0]) < 1e30 && fabs(p[1]) < 1e30 && fabs(p[2]) < 1e30;
    }
    limit = find_middle(d, work, middle);
    for (int32_t i = 0; i < d->body_count; i++)
        if (d->bodies[i].id.index >= 0)
            limit = fmax(limit, d->bodies[i].size);
    limit *= 1000;
    for (int32_t i = 0; i < d->particle_count; i++) {
        double *p = d->shape->points + 3 * (size_t)i;
        for (int c = 0; c < 3; c++)
            d->fine[i] = d->fine[i] && fabs(p[c] - middle[c]) <= limit;
        if (!d->fine[i])
            p[0] = p[1] = p[2] = 0;
    }
    free(work);
    return SINEW_OK;
}

/* Adds the particles of the world as the first vertices of the shape. */
static sinew_status take_positions(drawing *d)
{
    sinew_real *q = malloc(3 * (size_t)d->particle_count * sizeof *q + 1);
    shape_reserve(d->shape, d->particle_count, 0);
    sinew_status status = q && !d->shape->failed ? SINEW_OK : picture_fail_memory(d->error, "a snapshot");
    if (status == SINEW_OK)
        status = sinew_world_get_positions(d->world, 0, d->particle_count, q);
    for (size_t i = 0; i < 3 * (size_t)d->particle_count && status == SINEW_OK; i++)
        d->shape->points[i] = (double)q[i];
    d->shape->vertex_count = d->particle_count;
    free(q);
    return status == SINEW_OK ? sort_out(d) : status;
}

/* Sets the size of a body to the diagonal of its bounding box at rest, in m. */
static void measure_box(const drawing *d, drawn_body *body)
{
    const sinew_mesh *mesh = sinew_body_mesh(d->world, body->id);
    const sinew_real *rest = sinew_mesh_positions(mesh);
    double square = 0;
    for (size_t c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < (size_t)sinew_mesh_vertex_count(mesh); i++) {
            low = fmin(low, (double)rest[3 * i + c]);
            high = fmax(high, (double)rest[3 * i + c]);
        }
        square += high > low ? (high - low) * (high - low) : 0;
    }
    body->size = sqrt(square);
}

static sinew_status list_bodies(drawing *d)
{
    d->fine = calloc((size_t)d->particle_count + 1, 1);
    d->body_of = malloc(((size_t)d->particle_count + 1) * sizeof *d->body_of);
    d->bodies = calloc((size_t)d->body_count + 1, sizeof *d->bodies);
    if (!d->fine || !d->body_of || !d->bodies)
        return picture_fail_memory(d->error, "a snapshot");
    for (int32_t i = 0; i < d->particle_count; i++)
        d->body_of[i] = -1;
    for (int32_t index = 0; index < d->body_count; index++) {
        drawn_body *body = &d->bodies[index];
        body->id = sinew_world_body_at(d->world, index);
        if (body->id.index < 0)
            continue;
        body->first = sinew_body_first_particle(d->world, body->id);
        for (int32_t i = 0; i < sinew_mesh_vertex_count(sinew_body_mesh(d->world, body->id)); i++)
            d->body_of[body->first + i] = index;
        measure_box(d, body);
    }
    return SINEW_OK;
}

/* ---- Range and bounds of a snapshot ------------------------------------------------------------ */

/* Computes the bounds in m of triangles first .. last - 1 of a shape; min > max: there are none. */
static void find_bounds(const shape *s, int32_t first, int32_t last, double bounds[6])
{
    for (size_t c = 0; c < 3; c++) {
        bounds[c] = INFINITY;
        bounds[3 + c] = -INFINITY;
    }
    for (size_t i = 3 * (size_t)first; i < 3 * (size_t)last; i++)
        for (size_t c = 0; c < 3; c++) {
            const double x = s->points[3 * (size_t)s->triangles[i] + c];
            bounds[c] = fmin(bounds[c], x);
            bounds[3 + c] = fmax(bounds[3 + c], x);
        }
}

/* Sets the range of all values of a snapshot, and the range without half a percent at either end. Returns false if
 * memory is short. */
static bool snapshot_find_range(sinew_snapshot *snapshot)
{
    const shape *s = &snapshot->shape;
    double *values = malloc(3 * (size_t)s->triangle_count * sizeof *values + 1);
    size_t count = 0;
    for (size_t i = 0; i < 3 * (size_t)s->triangle_count && values; i++)
        if (isfinite(s->values[i]))
            values[count++] = (double)s->values[i];
    if (values && count > 0) {
        qsort(values, count, sizeof *values, compare_doubles);
        snapshot->valued = true;
        snapshot->lowest = values[0];
        snapshot->highest = values[count - 1];
        snapshot->low = values[count / 200];
        snapshot->high = values[count - 1 - count / 200];
    }
    const bool done = values != NULL;
    free(values);
    return done;
}

/* ---- Taking a snapshot ------------------------------------------------------------------------ */

static void name_values(sinew_snapshot *snapshot, const sinew_snapshot_def *def)
{
    const bool given = def->colour == SINEW_COLOUR_GIVEN;
    const char *label = given ? def->values_name : colour_label(def->colour),
               *unit = given ? def->values_unit : sinew_colour_unit(def->colour);
    strncpy(snapshot->label, label ? label : "", sizeof snapshot->label - 1);
    strncpy(snapshot->unit, unit ? unit : "", sizeof snapshot->unit - 1);
}

static sinew_status snapshot_take(drawing *d, sinew_snapshot *snapshot)
{
    sinew_status status = list_bodies(d);
    if (status == SINEW_OK)
        status = picture_field_take(d->world, d->def, &d->field, d->error);
    if (status == SINEW_OK)
        status = take_positions(d);
    if (status == SINEW_OK)
        status = draw_bodies(d);
    if (status == SINEW_OK)
        status = draw_marks(d);
    if (status == SINEW_OK)
        status = draw_colliders(d, snapshot);
    if (status == SINEW_OK && (snapshot->shape.failed || !snapshot_find_range(snapshot)))
        status = picture_fail_memory(d->error, "a snapshot");
    if (status == SINEW_OK) {
        double large[6];
        find_bounds(&snapshot->shape, 0, snapshot->shape.triangle_count, snapshot->bounds);
        find_bounds(&snapshot->shape, snapshot->framed, snapshot->shape.triangle_count, large);
        snapshot->beneath = large[1];
    }
    snapshot->left_out = d->left_out;
    snapshot->class_count = d->field.class_count;
    picture_field_free(&d->field);
    free(d->fine);
    free(d->body_of);
    free(d->bodies);
    return status;
}

sinew_snapshot *sinew_snapshot_take(sinew_world *world, const sinew_snapshot_def *def, sinew_error *error)
{
    if (error)
        *error = (sinew_error){0};
    if (!world || !def || (unsigned)def->colour >= SINEW_COLOUR_COUNT) {
        picture_fail(error, SINEW_ERROR_USAGE, "sinew_snapshot_take needs a world and a def with a colour kind");
        return NULL;
    }
    sinew_snapshot *snapshot = calloc(1, sizeof *snapshot);
    if (!snapshot) {
        picture_fail_memory(error, "a snapshot");
        return NULL;
    }
    snapshot->colour = def->colour;
    name_values(snapshot, def);
    drawing d = {.world = world,
                 .def = def,
                 .shape = &snapshot->shape,
                 .particle_count = sinew_world_particle_count(world),
                 .body_count = sinew_world_body_count(world),
                 .error = error};
    if (snapshot_take(&d, snapshot) == SINEW_OK)
        return snapshot;
    sinew_snapshot_destroy(snapshot);
    return NULL;
}

void sinew_snapshot_destroy(sinew_snapshot *snapshot)
{
    if (!snapshot)
        return;
    shape_free(&snapshot->shape);
    free(snapshot);
}

int64_t sinew_snapshot_left_out(const sinew_snapshot *snapshot)
{
    return snapshot ? snapshot->left_out : 0;
}

/* ---- Survey of several snapshots -------------------------------------------------------------- */

/* Direction i of the survey's extreme points: a spiral spreads the directions evenly over the sphere. */
static void survey_direction(int i, double n[3])
{
    const double y = 1 - (2 * i + 1.0) / SINEW_SURVEY_EXTREMES, radius = sqrt(1 - y * y), angle = 2.399963229728653 * i;
    n[0] = radius * cos(angle);
    n[1] = y;
    n[2] = radius * sin(angle);
}

static void survey_points(sinew_survey *survey, const shape *s, int32_t triangle_count)
{
    for (int k = 0; k < SINEW_SURVEY_EXTREMES; k++) {
        double n[3], *best = survey->extremes[k];
        survey_direction(k, n);
        double max = survey->any ? n[0] * best[0] + n[1] * best[1] + n[2] * best[2] : -INFINITY;
        for (size_t i = 0; i < 3 * (size_t)triangle_count; i++) {
            const double *p = s->points + 3 * (size_t)s->triangles[i];
            const double height = n[0] * p[0] + n[1] * p[1] + n[2] * p[2];
            if (height > max) {
                max = height;
                memcpy(best, p, sizeof survey->extremes[k]);
            }
        }
    }
}

void sinew_survey_add(sinew_survey *survey, const sinew_snapshot *snapshot)
{
    if (!survey || !snapshot || snapshot->framed == 0)
        return;
    double bounds[6];
    find_bounds(&snapshot->shape, 0, snapshot->framed, bounds);
    survey_points(survey, &snapshot->shape, snapshot->framed);
    for (size_t c = 0; c < 6; c++) {
        const double old = survey->any ? survey->bounds[c] : bounds[c];
        survey->bounds[c] = c < 3 ? fmin(old, bounds[c]) : fmax(old, bounds[c]);
    }
    survey->any = true;
    if (!snapshot->valued)
        return;
    survey->low = survey->valued ? fmin(survey->low, snapshot->low) : snapshot->low;
    survey->high = survey->valued ? fmax(survey->high, snapshot->high) : snapshot->high;
    survey->lowest = survey->valued ? fmin(survey->lowest, snapshot->lowest) : snapshot->lowest;
    survey->highest = survey->valued ? fmax(survey->highest, snapshot->highest) : snapshot->highest;
    survey->valued = true;
}
