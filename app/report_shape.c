/* SPDX-License-Identifier: MIT
 *
 * report_shape.c: the final shapes side by side: surfaces from two directions as flat-shaded inline SVG, coloured by
 * the distance from where the reference has each particle.
 *
 * A depth buffer finds the triangles that are seen; only those are drawn, the farther ones first. The buffer is made
 * coarser until at most 4000 are left, and the lines around them as wide as its cells, which closes the gaps.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "report.h"

enum {
    WIDTH = 4000, /* units of a picture: coordinates are whole numbers */
    HEIGHT = 3000,
    GRID = 640, /* cells across, of the finest depth buffer */
    MOST = 4000,
    DECADES = 3, /* of the colour bar */
    FAR = 1000000
};

/* The surface of a world as it is drawn: indices are particles. */
typedef struct surface {
    int32_t (*triangles)[3];
    int32_t triangle_count;
    int32_t (*edges)[2]; /* of bodies without triangles */
    int32_t edge_count;
} surface;

typedef struct item {
    float depth;
    int32_t index;
} item;

typedef struct canvas {
    const sinew_report *r;
    surface s;
    int32_t particle_count;
    double (*points)[3]; /* [particle_count] in the picture: right, down, towards the eye */
    float *error;        /* [particle_count] 0 .. 1 along the colour bar */
    float *depth;        /* [GRID * GRID * 3 / 4] */
    int32_t *owner;      /* triangle that is seen in a cell, or -1 */
    uint8_t *seen;       /* [triangle_count] */
    item *items;         /* [triangle_count or edge_count] */
    double low, high;    /* m: ends of the colour bar */
    double rotation[2][3][3], middle[2][3], scale[2];
} canvas;

/* ---- Surface -------------------------------------------------------------------------------- */

/* The world's surface with room for one more of each, so that no array is of size zero. */
static bool find_surface(surface *s, const sinew_world *world)
{
    sinew_surface found = {0};
    if (sinew_world_surface(world, &found, NULL) != SINEW_OK)
        return false;
    s->triangles = malloc(((size_t)found.triangle_count + 1) * sizeof *s->triangles);
    s->edges = malloc(((size_t)found.edge_count + 1) * sizeof *s->edges);
    s->triangle_count = found.triangle_count;
    s->edge_count = found.edge_count;
    if (!s->triangles || !s->edges)
        return false;
    found.triangles = s->triangles[0];
    found.edges = s->edges[0];
    return sinew_world_surface(world, &found, NULL) == SINEW_OK;
}

static bool gather(canvas *v)
{
    const sinew_world *world = v->r->c->world;
    if (!find_surface(&v->s, world))
        return false;
    size_t most = (size_t)(v->s.triangle_count > v->s.edge_count ? v->s.triangle_count : v->s.edge_count) + 1;
    size_t points = (size_t)v->particle_count + 1, cells = GRID * GRID * 3 / 4;
    v->points = malloc(points * sizeof *v->points);
    v->error = malloc(points * sizeof *v->error);
    v->depth = malloc(cells * sizeof *v->depth);
    v->owner = malloc(cells * sizeof *v->owner);
    v->seen = malloc(most);
    v->items = malloc(most * sizeof *v->items);
    return v->points && v->error && v->depth && v->owner && v->seen && v->items;
}

static void release(canvas *v)
{
    free(v->s.triangles);
    free(v->s.edges);
    free(v->points);
    free(v->error);
    free(v->depth);
    free(v->owner);
    free(v->seen);
    free(v->items);
}

/* ---- Views ---------------------------------------------------------------------------------- */

/* Looks along -z after a turn about y (azimuth) and a nod about x (elevation); y is up. */
static void set_rotation(double R[3][3], double azimuth, double elevation)
{
    const double degree = 3.14159265358979323846 / 180;
    double ca = cos(azimuth * degree), sa = sin(azimuth * degree);
    double ce = cos(elevation * degree), se = sin(elevation * degree);
    double turned[3][3] = {{ca, 0, sa}, {-se * -sa, ce, -se * ca}, {ce * -sa, se, ce * ca}};
    memcpy(R, turned, sizeof turned);
}

static void rotate(double R[3][3], const sinew_real *q, double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = R[i][0] * (double)q[0] + R[i][1] * (double)q[1] + R[i][2] * (double)q[2];
}

static void widen(canvas *v, int view, const sinew_real *q, double low[3], double high[3])
{
    for (int32_t i = 0; i < v->particle_count; i++) {
        double x[3];
        rotate(v->rotation[view], q + 3 * (size_t)i, x);
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], x[k]);
            high[k] = fmax(high[k], x[k]);
        }
    }
}

/* One scale for everyone: the reference fills the picture, with room for those that stray a little. */
static void fit(canvas *v, int view)
{
    const sinew_comparison *c = v->r->c;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    widen(v, view, sinew_answer_of(c, c->step_count - 1, SINEW_REFERENCE)->positions, low, high);
    double all_low[3], all_high[3], span = fmax(1e-30, fmax(high[0] - low[0], high[1] - low[1]));
    memcpy(all_low, low, sizeof low);
    memcpy(all_high, high, sizeof high);
    for (int32_t i = 1; i < c->contender_count; i++)
        widen(v, view, sinew_answer_of(c, c->step_count - 1, i)->positions, all_low, all_high);
    for (int k = 0; k < 3; k++) {
        low[k] = fmax(all_low[k], low[k] - 0.2 * span);
        high[k] = fmin(all_high[k], high[k] + 0.2 * span);
        v->middle[view][k] = (low[k] + high[k]) / 2;
    }
    v->scale[view] =
        0.94 * fmin(WIDTH / fmax(high[0] - low[0], 0.1 * span), HEIGHT / fmax(high[1] - low[1], 0.1 * span));
}

static void project(canvas *v, int view, const sinew_real *q)
{
    for (int32_t i = 0; i < v->particle_count; i++) {
        double x[3], *p = v->points[i];
        rotate(v->rotation[view], q + 3 * (size_t)i, x);
        p[0] = 0.5 * WIDTH + v->scale[view] * (x[0] - v->middle[view][0]);
        p[1] = 0.5 * HEIGHT - v->scale[view] * (x[1] - v->middle[view][1]);
        p[2] = v->scale[view] * (x[2] - v->middle[view][2]);
        /* Points that have flown off stay numbers that a page can hold. */
        for (int k = 0; k < 3; k++)
            p[k] = fmin(FAR, fmax(-FAR, p[k]));
    }
}

/* ---- What is seen --------------------------------------------------------------------------- */

static void claim(canvas *v, int grid, int column, int line, double depth, int32_t triangle)
{
    if (column < 0 || line < 0 || column >= grid || line >= grid * 3 / 4)
        return;
    size_t cell = (size_t)line * (size_t)grid + (size_t)column;
    if (v->owner[cell] < 0 || (float)depth > v->depth[cell]) {
        v->owner[cell] = triangle;
        v->depth[cell] = (float)depth;
    }
}

static double cross(const double a[3], const double b[3], double x, double y)
{
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}

/* Claims the cells whose middles lie in the triangle, or that of its own middle when it is smaller than a cell. */
static void cover(canvas *v, int grid, int32_t triangle)
{
    const int32_t *t = v->s.triangles[triangle];
    const double *a = v->points[t[0]], *b = v->points[t[1]], *c = v->points[t[2]];
    const int lines = grid * 3 / 4;
    const double cell = (double)WIDTH / grid, area = cross(a, b, c[0], c[1]);
    double x = (a[0] + b[0] + c[0]) / 3, y = (a[1] + b[1] + c[1]) / 3, z = (a[2] + b[2] + c[2]) / 3;
    claim(v, grid, (int)floor(x / cell), (int)floor(y / cell), z, triangle);
    int left = (int)fmax(0, floor(fmin(a[0], fmin(b[0], c[0])) / cell));
    int right = (int)fmin(grid - 1, floor(fmax(a[0], fmax(b[0], c[0])) / cell));
    int top = (int)fmax(0, floor(fmin(a[1], fmin(b[1], c[1])) / cell));
    int bottom = (int)fmin(lines - 1, floor(fmax(a[1], fmax(b[1], c[1])) / cell));
    for (int line = top; fabs(area) > 0 && line <= bottom; line++)
        for (int column = left; column <= right; column++) {
            x = (column + 0.5) * cell;
            y = (line + 0.5) * cell;
            double u = cross(b, c, x, y) / area, w = cross(c, a, x, y) / area;
            if (u >= 0 && w >= 0 && u + w <= 1)
                claim(v, grid, column, line, u * a[2] + w * b[2] + (1 - u - w) * c[2], triangle);
        }
}

static int by_depth(const void *a, const void *b)
{
    const item *x = a, *y = b;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Fills items with the triangles to draw, the farthest first, and returns how many; *cell is the width of a cell. */
static int32_t find_seen(canvas *v, double *cell)
{
    int32_t count = MOST + 1;
    for (int grid = GRID; count > MOST; grid /= 2) {
        int cells = grid * (grid * 3 / 4);
        for (int i = 0; i < cells; i++)
            v->owner[i] = -1;
        for (int32_t t = 0; t < v->s.triangle_count; t++)
            cover(v, grid, t);
        memset(v->seen, 0, (size_t)v->s.triangle_count + 1);
        for (int i = 0; i < cells; i++)
            if (v->owner[i] >= 0)
                v->seen[v->owner[i]] = 1;
        count = 0;
        for (int32_t t = 0; t < v->s.triangle_count; t++)
            if (v->seen[t]) {
                const int32_t *p = v->s.triangles[t];
                v->items[count++] = (item){(float)(v->points[p[0]][2] + v->points[p[1]][2] + v->points[p[2]][2]), t};
            }
        *cell = (double)WIDTH / grid;
    }
    qsort(v->items, (size_t)count, sizeof *v->items, by_depth);
    return count;
}

/* ---- Colours -------------------------------------------------------------------------------- */

/* Blue where it is right, through pale to red where it is far off. */
static void ramp(double t, double rgb[3])
{
    static const double stops[5][3] = {{58, 104, 174}, {104, 171, 199}, {238, 226, 178}, {236, 146, 72}, {183, 40, 46}};
    double place = 4 * fmin(1, fmax(0, t));
    int low = place >= 4 ? 3 : (int)place;
    for (int k = 0; k < 3; k++)
        rgb[k] = stops[low][k] + (place - low) * (stops[low + 1][k] - stops[low][k]);
}

static void colour_of(const canvas *v, const int32_t *t, int corners, bool plain, double shade, char text[8])
{
    double rgb[3] = {150, 158, 168}, mean = 0;
    for (int k = 0; k < corners; k++)
        mean += (double)v->error[t[k]] / corners;
    /* Few tones let neighbours share a path. */
    if (!plain)
        ramp(round(24 * mean) / 24, rgb);
    shade = round(28 * shade) / 28;
    snprintf(text, 8, "#%02x%02x%02x", (unsigned)fmin(255, rgb[0] * shade), (unsigned)fmin(255, rgb[1] * shade),
             (unsigned)fmin(255, rgb[2] * shade));
}

/* Light from above the eye's left shoulder; both sides of a sheet are lit. */
static double shade_of(const canvas *v, const int32_t *t)
{
    static const double light[3] = {-0.40, -0.57, 0.72};
    const double *a = v->points[t[0]], *b = v->points[t[1]], *c = v->points[t[2]];
    double u[3], w[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        w[k] = c[k] - a[k];
    }
    double n[3] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
    double length = sinew_length(n);
    double facing = length > 0 ? fabs(n[0] * light[0] + n[1] * light[1] + n[2] * light[2]) / length : 1;
    return 0.5 + 0.56 * facing;
}

/* How far each particle is from the reference, along the colour bar. */
static void measure_errors(canvas *v, const sinew_real *q, const sinew_real *reference)
{
    for (int32_t i = 0; i < v->particle_count; i++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = (double)(q[3 * (size_t)i + (size_t)k] - reference[3 * (size_t)i + (size_t)k]);
        double far = sinew_length(d);
        v->error[i] = (float)(log10(fmax(far, v->low) / v->low) / log10(v->high / v->low));
    }
}

/* Three decades up to the greatest distance, rounded up, which is at least a thousandth of the body. */
static void set_bar(canvas *v)
{
    const sinew_comparison *c = v->r->c;
    double far = 1e-3 * c->size;
    for (int32_t i = 1; i < c->contender_count; i++) {
        const sinew_answer *a = sinew_answer_of(c, c->step_count - 1, i);
        if (isfinite(a->distance) && !(a->result.bits & SINEW_STEP_NOT_FINITE))
            far = fmax(far, fmin(a->distance, c->size));
    }
    double power = pow(10, floor(log10(fmax(far, 1e-30)))), rest = far / power;
    v->high = power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
    v->low = v->high * pow(10, -DECADES);
}

/* ---- Pictures ------------------------------------------------------------------------------- */

static void put_point(FILE *stream, char mark, const double p[3], const double from[3])
{
    long x = lround(p[0]) - (from ? lround(from[0]) : 0), y = lround(p[1]) - (from ? lround(from[1]) : 0);
    fprintf(stream, y < 0 ? "%c%ld%ld" : "%c%ld %ld", mark, x, y);
}

/* Neighbours in the order of drawing that have one colour share a path. */
static void begin_path(FILE *stream, char colour[8], const char next[8])
{
    if (strcmp(colour, next) == 0)
        return;
    fprintf(stream, "%s<path color=\"%s\" d=\"", *colour ? "\"/>\n" : "", next);
    memcpy(colour, next, 8);
}

static void put_triangles(canvas *v, bool plain)
{
    FILE *stream = v->r->stream;
    double cell;
    char colour[8] = "", next[8];
    int32_t count = find_seen(v, &cell);
    fprintf(stream, "<g style=\"stroke-width:%.0f\">\n", fmax(14, cell > 10 ? 1.2 * cell : 0));
    for (int32_t i = 0; i < count; i++) {
        const int32_t *t = v->s.triangles[v->items[i].index];
        colour_of(v, t, 3, plain, shade_of(v, t), next);
        begin_path(stream, colour, next);
        put_point(stream, 'M', v->points[t[0]], NULL);
        put_point(stream, 'l', v->points[t[1]], v->points[t[0]]);
        put_point(stream, 'l', v->points[t[2]], v->points[t[1]]);
        fputc('z', stream);
    }
    fputs(*colour ? "\"/>\n</g>\n" : "</g>\n", stream);
}

/* Ropes: every so-manieth edge when there are too many to be told apart. */
static void put_edges(canvas *v, bool plain)
{
    FILE *stream = v->r->stream;
    char colour[8] = "", next[8];
    int32_t stride = 1 + v->s.edge_count / MOST;
    fputs("<g style=\"stroke-width:56;fill:none;stroke-linecap:round\">\n", stream);
    for (int32_t i = 0; i < v->s.edge_count; i += stride) {
        const int32_t *t = v->s.edges[i];
        colour_of(v, t, 2, plain, 0.95, next);
        begin_path(stream, colour, next);
        put_point(stream, 'M', v->points[t[0]], NULL);
        put_point(stream, 'l', v->points[t[1]], v->points[t[0]]);
    }
    fputs(*colour ? "\"/>\n</g>\n" : "</g>\n", stream);
}

static void put_shape(canvas *v, int32_t contender)
{
    const sinew_comparison *c = v->r->c;
    FILE *stream = v->r->stream;
    const sinew_answer *a = sinew_answer_of(c, c->step_count - 1, contender);
    bool plain = contender == SINEW_REFERENCE;
    char text[SINEW_SHORT_SIZE];
    fprintf(stream, "<figure class=\"s%d\" data-s=\"%d\">\n<h3><span class=\"chip\"></span>%s</h3>\n", contender,
            contender, c->contenders[contender].label);
    if (a->result.bits & SINEW_STEP_NOT_FINITE) {
        fputs("<figcaption>became non-finite: no shape</figcaption>\n</figure>\n", stream);
        return;
    }
    measure_errors(v, a->positions, sinew_answer_of(c, c->step_count - 1, SINEW_REFERENCE)->positions);
    fputs("<div class=\"views\">\n", stream);
    for (int view = 0; view < 2; view++) {
        project(v, view, a->positions);
        fprintf(stream, "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"shape by %s, view %d\">\n", WIDTH, HEIGHT,
                c->contenders[contender].label, view + 1);
        put_edges(v, plain);
        put_triangles(v, plain);
        fputs("</svg>\n", stream);
    }
    fputs("</div>\n<figcaption>", stream);
    if (plain)
        fprintf(stream, "the fastest particle moved %s m in this step", sinew_short(c->motion, text));
    else
        fprintf(stream, "at most %s m from the reference", sinew_short(a->distance, text));
    if (a->measures.inverted_count > 0)
        fprintf(stream, "; %d tets inverted", a->measures.inverted_count);
    fputs("</figcaption>\n</figure>\n", stream);
}

static void put_bar(const canvas *v)
{
    FILE *stream = v->r->stream;
    char text[SINEW_SHORT_SIZE];
    fputs("<svg class=\"bar\" viewBox=\"0 0 570 44\" role=\"img\" aria-label=\"colour bar\">\n", stream);
    for (int i = 0; i < 48; i++) {
        double rgb[3];
        ramp((i + 0.5) / 48, rgb);
        fprintf(stream, "<path fill=\"#%02x%02x%02x\" d=\"M%d 6h10.5v14h-10.5z\"/>\n", (unsigned)rgb[0],
                (unsigned)rgb[1], (unsigned)rgb[2], 45 + 10 * i);
    }
    for (int i = 0; i <= DECADES; i++)
        fprintf(stream, "<text x=\"%d\" y=\"37\" text-anchor=\"middle\">%s%s m</text>\n", 45 + 480 * i / DECADES,
                i == 0 ? "&lt; " : "", sinew_short(v->low * pow(10, i), text));
    fputs("</svg>\n", stream);
}

bool sinew_put_shapes(const sinew_report *r)
{
    canvas v = {.r = r, .particle_count = sinew_world_particle_count(r->c->world)};
    bool good = gather(&v);
    if (good) {
        set_rotation(v.rotation[0], 32, 24);
        set_rotation(v.rotation[1], 74, 12);
        fit(&v, 0);
        fit(&v, 1);
        set_bar(&v);
        fprintf(r->stream,
                "<section>\n<h2>Shapes at the end%s</h2>\n<p class=\"soft\">Two views each; colour: distance "
                "of each particle from where the reference has it.</p>\n",
                r->c->step_count > 1 ? " of the last step" : "");
        put_bar(&v);
        fputs("<div class=\"shapes\">\n", r->stream);
        put_shape(&v, SINEW_REFERENCE);
        for (int32_t k = 0; k < r->order_count; k++)
            put_shape(&v, r->order[k]);
        fputs("</div>\n</section>\n", r->stream);
    }
    release(&v);
    return good;
}
