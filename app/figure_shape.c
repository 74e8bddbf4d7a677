/* SPDX-License-Identifier: MIT
 *
 * figure_shape.c: bodies side by side: one picture inside the SVG of a figure.
 *
 * Shapes of an experiment are points and triangles without a world, so each shape gets a world for its picture.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "embed.h"
#include "figure_internal.h"
#include "shell.h"

enum {
    PANEL_WIDTH = 360,
    PANEL_HEIGHT = 190,
    COLUMNS = 2,
    HEAD = 34,
    SAMPLES = 8
};
/* The camera of a figure ignores bodies with a coordinate above this value (m), unless the figure sets another
 * limit. */
#define SPAN 5.8

/* Finds the triangles of a shape: its own triangles, or those of `surface` (may be NULL). Returns the number of
 * triangles. */
static int32_t surface_of(const series *s, const sinew_mesh *surface, const int32_t **triangles)
{
    *triangles = s->triangles ? s->triangles : surface ? sinew_mesh_triangles(surface) : NULL;
    return s->triangles ? s->triangle_count : surface ? sinew_mesh_triangle_count(surface) : 0;
}

/* Takes a snapshot of a shape. Returns NULL if the shape has non-finite positions or memory is short. */
static sinew_snapshot *take_series(const series *s, const sinew_mesh *surface)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    const sinew_snapshot_def view = sinew_default_snapshot_def();
    const sinew_world_def empty = sinew_default_world_def();
    def.triangle_count = surface_of(s, surface, &def.triangles);
    def.vertex_count = s->count;
    def.positions = s->body;
    for (size_t i = 0; i < 3 * (size_t)s->count; i++)
        if (!isfinite(s->body[i]))
            return NULL;
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    sinew_world *world = mesh ? sinew_world_create(&empty, NULL) : NULL;
    const bool good = world && sinew_add_shell(world, mesh, NULL).index >= 0;
    sinew_snapshot *snapshot = good ? sinew_snapshot_take(world, &view, NULL) : NULL;
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return snapshot;
}

/* True if no coordinate of a body exceeds `span` (m). A diverged body must not shrink the other bodies in the
 * figure. */
static bool is_near(const series *s, double span)
{
    for (size_t i = 0; i < 3 * (size_t)s->count; i++)
        if (!(fabs((double)s->body[i]) <= span))
            return false;
    return true;
}

static sinew_status draw_panels(const sinew_survey *survey, const sinew_panel *panels, int32_t count,
                                sinew_image *image)
{
    sinew_picture_def def = sinew_default_picture_def();
    def.width = COLUMNS * PANEL_WIDTH;
    def.height = (count + COLUMNS - 1) / COLUMNS * PANEL_HEIGHT;
    def.samples = SAMPLES;
    return sinew_picture_draw(&def, survey, panels, count, image, NULL, NULL, NULL);
}

/* Takes snapshots of all drawable bodies of a figure. The survey, which the camera is fitted to, gets the bodies
 * within the span or, if there are none, all bodies. Returns the number of snapshots. */
static int32_t figure_shape_gather(const figure *f, const sinew_mesh *surface, sinew_panel *panels,
                                   sinew_survey *survey)
{
    const double span = f->span > 0 ? f->span : SPAN;
    int32_t count = 0;
    for (int32_t i = 0; i < f->series_count; i++) {
        panels[count] = (sinew_panel){.snapshot = take_series(&f->series[i], surface), .title = f->series[i].name};
        if (panels[count].snapshot && is_near(&f->series[i], span))
            sinew_survey_add(survey, panels[count].snapshot);
        count += panels[count].snapshot != NULL;
    }
    for (int32_t i = 0; i < count && !survey->any; i++)
        sinew_survey_add(survey, panels[i].snapshot);
    return count;
}

bool sinew_put_shape_figure(FILE *stream, const figure *f, const sinew_mesh *surface)
{
    sinew_panel panels[SERIES_MAX];
    sinew_survey survey = {0};
    sinew_image image = {0};
    const int32_t count = figure_shape_gather(f, surface, panels, &survey);
    const int lines = (count + COLUMNS - 1) / COLUMNS;
    sinew_begin_figure(stream, f, COLUMNS * PANEL_WIDTH, HEAD + lines * PANEL_HEIGHT);
    const sinew_status status = count > 0 ? draw_panels(&survey, panels, count, &image) : SINEW_ERROR_DATA;
    bool good = status != SINEW_ERROR_MEMORY;
    if (status == SINEW_OK) {
        fprintf(stream, "<image y=\"%d\" width=\"%d\" height=\"%d\" href=\"", HEAD, COLUMNS * PANEL_WIDTH,
                lines * PANEL_HEIGHT);
        good = sinew_put_data_uri(stream, &image);
        fputs("\"/>\n", stream);
    }
    fputs("</svg>\n", stream);
    sinew_image_free(&image);
    for (int32_t i = 0; i < count; i++)
        sinew_snapshot_destroy((sinew_snapshot *)(size_t)panels[i].snapshot);
    return good;
}
