/* SPDX-License-Identifier: MIT
 *
 * figure_shape.c: bodies side by side as SVG: the triangles that face the viewer, from far to near, shaded by their
 * slope.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figure_parts.h"

enum {
    PANEL_WIDTH = 360,
    PANEL_HEIGHT = 150,
    COLUMNS = 2,
    HEAD = 34
};
#define SPAN 5.8 /* m across a panel unless the figure says otherwise */

typedef struct facet {
    double depth, shade;
    double x[3], y[3];
} facet;

/* Seen from the side and a little above. */
static void project(const sinew_real *q, double p[3])
{
    const double turn = 0.42, tilt = 0.38;
    const double x = (double)q[0], y = (double)q[1], z = (double)q[2];
    const double u = cos(turn) * x - sin(turn) * z, w = sin(turn) * x + cos(turn) * z;
    p[0] = u;
    p[1] = cos(tilt) * y - sin(tilt) * w;
    p[2] = sin(tilt) * y + cos(tilt) * w;
}

/* False when it looks away. */
static bool make_facet(const sinew_real *body, const int32_t *t, double scale, double x, double y, facet *f)
{
    double p[3][3];
    for (int i = 0; i < 3; i++)
        project(body + 3 * (size_t)t[i], p[i]);
    double a[3], b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = p[1][i] - p[0][i];
        b[i] = p[2][i] - p[0][i];
    }
    const double n[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
    if (!(n[2] > 0) || !isfinite(length))
        return false;
    f->depth = p[0][2] + p[1][2] + p[2][2];
    f->shade = fmax(0, (0.35 * n[0] + 0.55 * n[1] + 0.76 * n[2]) / length);
    for (int i = 0; i < 3; i++) {
        /* A body that has blown up ends at the border of the picture. */
        f->x[i] = fmin(fmax(x + scale * p[i][0], -999), 9999);
        f->y[i] = fmin(fmax(y - scale * p[i][1], -999), 9999);
    }
    return true;
}

static int by_depth(const void *a, const void *b)
{
    const double x = ((const facet *)a)->depth, y = ((const facet *)b)->depth;
    return (x > y) - (x < y);
}

static void put_body(FILE *stream, const facet *facets, int32_t count, const char *colour)
{
    unsigned red = 0, green = 0, blue = 0;
    sscanf(colour, "#%2x%2x%2x", &red, &green, &blue);
    for (int32_t i = 0; i < count; i++) {
        const facet *f = &facets[i];
        const double light = 0.45 + 0.7 * f->shade;
        char shaded[8];
        snprintf(shaded, sizeof shaded, "#%02x%02x%02x", (unsigned)fmin(255, red * light) & 255,
                 (unsigned)fmin(255, green * light) & 255, (unsigned)fmin(255, blue * light) & 255);
        fprintf(stream, "<path fill=\"%s\" stroke=\"%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\"/>\n", shaded, shaded,
                f->x[0], f->y[0], f->x[1], f->y[1], f->x[2], f->y[2]);
    }
}

/* The triangles of a shape: its own, or the beam's. */
static int32_t surface_of(const series *s, const sinew_mesh *surface, const int32_t **triangles)
{
    *triangles = s->triangles ? s->triangles : surface ? sinew_mesh_triangles(surface) : NULL;
    return s->triangles ? s->triangle_count : surface ? sinew_mesh_triangle_count(surface) : 0;
}

bool sinew_put_shape_figure(FILE *stream, const figure *f, const sinew_mesh *surface)
{
    const int lines = (f->series_count + COLUMNS - 1) / COLUMNS;
    const double scale = PANEL_WIDTH / (f->span > 0 ? f->span : SPAN);
    const int32_t *t;
    int32_t most = 0;
    for (int32_t i = 0; i < f->series_count; i++)
        most = surface_of(&f->series[i], surface, &t) > most ? surface_of(&f->series[i], surface, &t) : most;
    facet *facets = malloc(((size_t)most + 1) * sizeof *facets);
    if (!facets)
        return false;
    sinew_begin_figure(stream, f, COLUMNS * PANEL_WIDTH, HEAD + lines * PANEL_HEIGHT);
    for (int32_t i = 0; i < f->series_count; i++) {
        const double left = i % COLUMNS * PANEL_WIDTH, top = HEAD + (double)(i / COLUMNS) * PANEL_HEIGHT;
        const int32_t triangles = surface_of(&f->series[i], surface, &t);
        int32_t count = 0;
        for (int32_t k = 0; k < triangles; k++)
            count += make_facet(f->series[i].body, t + 3 * (size_t)k, scale, PANEL_WIDTH / 2, PANEL_HEIGHT / 2 + 8,
                                &facets[count]);
        qsort(facets, (size_t)count, sizeof *facets, by_depth);
        fprintf(stream, "<svg x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" stroke-width=\".6\">\n", left, top,
                PANEL_WIDTH, PANEL_HEIGHT);
        put_body(stream, facets, count, sinew_figure_colour(f, i));
        fputs("<text class=\"sf-t\" x=\"14\" y=\"16\">", stream);
        sinew_put_escaped(stream, f->series[i].name);
        fputs("</text></svg>\n", stream);
    }
    fputs("</svg>\n", stream);
    free(facets);
    return true;
}
