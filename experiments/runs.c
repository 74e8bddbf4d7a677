/* SPDX-License-Identifier: MIT
 *
 * runs.c: many runs of the beam in parallel, and measures of their iteration records.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments.h"
#include "side_by_side.h"

double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double record_objective(const sinew_iteration *record)
{
    return record->objective;
}

double record_inertia(const sinew_iteration *record)
{
    return record->inertia;
}

double record_elastic(const sinew_iteration *record)
{
    return record->elastic;
}

double record_residual(const sinew_iteration *record)
{
    return record->residual;
}

double record_linear(const sinew_iteration *record)
{
    return length3(record->linear_momentum);
}

double record_angular(const sinew_iteration *record)
{
    return length3(record->angular_momentum);
}

typedef struct run_series {
    const setting *s;
    beam_run *runs;
} run_series;

static bool take_run(void *context, int32_t i)
{
    const run_series *r = context;
    return beam_step(r->s->beam, &r->runs[i]);
}

static const char *run_failure(void *context, int32_t i)
{
    const run_series *r = context;
    return r->runs[i].error[0] ? r->runs[i].error : "out of memory";
}

bool runs_take(const setting *s, beam_run *runs, int32_t count, const char *label, outcome *o)
{
    return side_by_side_run(&(side_by_side){take_run, run_failure, &(run_series){s, runs}}, count, true, s, label, o);
}

void runs_release(beam_run *runs, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        beam_run_release(&runs[i]);
}

double runs_lowest(const beam_run *runs, int32_t count)
{
    double lowest = HUGE_VAL;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < runs[i].record_count; j++)
            if (isfinite(runs[i].records[j].objective) && runs[i].records[j].objective < lowest)
                lowest = runs[i].records[j].objective;
    return lowest;
}

double run_error(const beam_run *run, int32_t iteration, double lowest)
{
    double first = beam_objective(run, 0);
    return 100 * (beam_objective(run, iteration) - lowest) / (first - lowest);
}

int32_t run_settled(const beam_run *run, double per_cent, double lowest)
{
    int32_t i = run->record_count;
    while (i > 0 && run_error(run, i - 1, lowest) <= per_cent)
        i--;
    return i < run->record_count ? i : -1;
}

const sinew_iteration *run_last(const beam_run *run)
{
    return &run->records[run->record_count - 1];
}

void run_curve(figure *f, const beam_run *run, const char *name, int32_t variant, record_value *value, int32_t max)
{
    int32_t count = max > 0 && max < run->record_count ? max : run->record_count;
    if (!figure_series(f, name, run->solver, variant, count))
        return;
    series *s = &f->series[f->series_count - 1];
    for (int32_t i = 0; i < count; i++) {
        s->x[i] = run->records[i].iteration;
        s->y[i] = value(&run->records[i]);
    }
}

void run_curve_timed(figure *f, const beam_run *run, const char *name, int32_t variant, double each, int32_t max)
{
    const int32_t before = f->series_count;
    run_curve(f, run, name, variant, record_objective, max);
    if (f->series_count == before)
        return;
    series *s = &f->series[before];
    for (int32_t i = 0; i < s->count; i++)
        s->x[i] *= each;
}

double tet_volume(const sinew_real *q, const int32_t *tet)
{
    double e[3][3];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            e[k][c] = (double)q[3 * tet[k + 1] + c] - (double)q[3 * tet[0] + c];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* ---- Ruggedness of the beam's surface ---------------------------------------------------------- */

/* Edge of a triangle of the beam's surface. */
typedef struct side {
    int32_t low, high, triangle;
} side;

static int runs_by_vertices(const void *a, const void *b)
{
    const side *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->triangle > y->triangle) - (x->triangle < y->triangle);
}

static void unit_normal(const sinew_real *q, const int32_t *t, double n[3])
{
    double a[3], b[3];
    for (int c = 0; c < 3; c++) {
        a[c] = (double)q[3 * t[1] + c] - (double)q[3 * t[0] + c];
        b[c] = (double)q[3 * t[2] + c] - (double)q[3 * t[0] + c];
    }
    n[0] = a[1] * b[2] - a[2] * b[1];
    n[1] = a[2] * b[0] - a[0] * b[2];
    n[2] = a[0] * b[1] - a[1] * b[0];
    const double length = length3(n);
    for (int c = 0; c < 3; c++)
        n[c] /= length > 0 ? length : 1;
}

static double runs_angle_between(const sinew_real *q, const int32_t *s, const int32_t *t)
{
    double n[3], m[3];
    unit_normal(q, s, n);
    unit_normal(q, t, m);
    return acos(fmin(1, fmax(-1, n[0] * m[0] + n[1] * m[1] + n[2] * m[2]))) * 180 / 3.14159265358979323846;
}

/* Root mean square angle (degrees) over the edges between triangles that are coplanar at rest; `sides` are sorted. */
static double mean_angle(const sinew_real *q, const sinew_real *rest, const int32_t *triangles, const side *sides,
                         int32_t count)
{
    double sum = 0;
    int32_t edges = 0;
    for (int32_t i = 0; i + 1 < count; i++) {
        const int32_t *s = triangles + 3 * sides[i].triangle, *t = triangles + 3 * sides[i + 1].triangle;
        if (sides[i].low != sides[i + 1].low || sides[i].high != sides[i + 1].high ||
            runs_angle_between(rest, s, t) > 1)
            continue;
        const double angle = runs_angle_between(q, s, t);
        sum += angle * angle;
        edges++;
    }
    return edges > 0 ? sqrt(sum / edges) : NAN;
}

double beam_ruggedness(const beam *b, const sinew_real *q)
{
    sinew_mesh *surface = sinew_mesh_surface(b->mesh, NULL);
    const int32_t count = surface ? 3 * sinew_mesh_triangle_count(surface) : 0;
    side *sides = malloc(((size_t)count + 1) * sizeof *sides);
    double angle = NAN;
    if (q && sides && count > 0) {
        const int32_t *t = sinew_mesh_triangles(surface);
        for (int32_t i = 0; i < count; i++) {
            const int32_t u = t[i], v = t[i - i % 3 + (i + 1) % 3];
            sides[i] = (side){u < v ? u : v, u < v ? v : u, i / 3};
        }
        qsort(sides, (size_t)count, sizeof *sides, runs_by_vertices);
        angle = mean_angle(q, sinew_mesh_positions(b->mesh), t, sides, count);
    }
    free(sides);
    sinew_mesh_destroy(surface);
    return angle;
}
