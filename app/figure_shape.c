/* SPDX-License-Identifier: MIT
 *
 * figure_shape.c: bodies side by side: one picture inside the SVG of a figure.
 *
 * Shapes of an experiment are points and triangles without a world; each gets one of its own, of a body that weighs
 * something and does nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "embed.h"
#include "figure_parts.h"

enum {
    PANEL_WIDTH = 360,
    PANEL_HEIGHT = 190,
    COLUMNS = 2,
    HEAD = 34,
    FINENESS = 2, /* pixels for each unit of the figure */
    SAMPLES = 24
};
#define SPAN 5.8 /* m across a panel unless the figure says otherwise */

/* The triangles of a shape: its own, or the beam's. */
static int32_t surface_of(const series *s, const sinew_mesh *surface, const int32_t **triangles)
{
    *triangles = s->triangles ? s->triangles : surface ? sinew_mesh_triangles(surface) : NULL;
    return s->triangles ? s->triangle_count : surface ? sinew_mesh_triangle_count(surface) : 0;
}

static sinew_world *make_world(const sinew_mesh *mesh, int32_t count)
{
    sinew_world_def world_def = sinew_default_world_def();
    sinew_body_def body = sinew_default_body_def();
    sinew_real *masses = malloc((size_t)count * sizeof *masses);
    sinew_world *world = masses ? sinew_world_create(&world_def, NULL) : NULL;
    /* By number, as triangles of a body that has blown up may have no area. */
    for (int32_t i = 0; masses && i < count; i++)
        masses[i] = 1;
    body.mesh = mesh;
    body.masses = masses;
    if (world && sinew_world_add_body(world, &body, NULL).index < 0) {
        sinew_world_destroy(world);
        world = NULL;
    }
    free(masses);
    return world;
}

/* NULL: the body cannot be drawn, as it has become non-finite, or memory is short. */
static sinew_snapshot *take_series(const series *s, const sinew_mesh *surface)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    const sinew_snapshot_def look = sinew_default_snapshot_def();
    def.triangle_count = surface_of(s, surface, &def.triangles);
    def.vertex_count = s->count;
    def.positions = s->body;
    for (size_t i = 0; i < 3 * (size_t)s->count; i++)
        if (!isfinite(s->body[i]))
            return NULL;
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    sinew_world *world = mesh ? make_world(mesh, s->count) : NULL;
    sinew_snapshot *snapshot = world ? sinew_snapshot_take(world, &look, NULL) : NULL;
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return snapshot;
}

/* From the side and a little above, so that `span` m around the origin fill the width of a panel. */
static sinew_camera look_at(double span)
{
    const double azimuth = 0.42, elevation = 0.38;
    sinew_camera camera = sinew_default_camera();
    const double far = span * PANEL_HEIGHT / PANEL_WIDTH / 2 / tan(camera.angle / 2);
    camera.given = true;
    camera.eye[0] = far * cos(elevation) * sin(azimuth);
    camera.eye[1] = far * sin(elevation);
    camera.eye[2] = far * cos(elevation) * cos(azimuth);
    return camera;
}

static sinew_status draw_panels(const figure *f, const sinew_panel *panels, int32_t count, sinew_image *image)
{
    sinew_survey survey = {0};
    sinew_picture_def def = sinew_default_picture_def();
    const int lines = (count + COLUMNS - 1) / COLUMNS;
    for (int32_t i = 0; i < count; i++)
        sinew_survey_add(&survey, panels[i].snapshot);
    def.width = FINENESS * COLUMNS * PANEL_WIDTH;
    def.height = FINENESS * lines * PANEL_HEIGHT;
    def.samples = SAMPLES;
    def.ground = SINEW_GROUND_NONE;
    def.camera = look_at(f->span > 0 ? f->span : SPAN);
    return sinew_picture_draw(&def, &survey, panels, count, image, NULL, NULL, NULL);
}

bool sinew_put_shape_figure(FILE *stream, const figure *f, const sinew_mesh *surface)
{
    sinew_panel panels[SERIES_MAX];
    sinew_image image = {0};
    int32_t count = 0;
    for (int32_t i = 0; i < f->series_count; i++) {
        panels[count] = (sinew_panel){.snapshot = take_series(&f->series[i], surface), .title = f->series[i].name};
        count += panels[count].snapshot != NULL;
    }
    const int lines = (count + COLUMNS - 1) / COLUMNS;
    sinew_begin_figure(stream, f, COLUMNS * PANEL_WIDTH, HEAD + lines * PANEL_HEIGHT);
    const sinew_status status = count > 0 ? draw_panels(f, panels, count, &image) : SINEW_ERROR_DATA;
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
