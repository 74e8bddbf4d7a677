/* SPDX-License-Identifier: MIT
 *
 * picture.c: composes a picture of panels, text and legend.
 */
#include "picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"
#include "layout.h"
#include "view.h"

/* Colour of the picture beside and between panels, sRGB. */
static const uint8_t paper[3] = {244, 245, 247};

sinew_picture_def sinew_default_picture_def(void)
{
    return (sinew_picture_def){.width = 1280,
                               .height = 720,
                               .camera = sinew_default_camera(),
                               .ground = SINEW_GROUND_BELOW,
                               .legend = true,
                               .sun_azimuth = -0.4,
                               .sun_elevation = 0.9};
}

/* ---- Checks of a picture definition ------------------------------------------------------------ */

static sinew_status check(const sinew_picture_def *def, const sinew_survey *survey, const sinew_panel *panels,
                          int32_t count, sinew_error *error)
{
    if (!def || !survey || !panels || count < 1)
        return picture_fail(error, SINEW_ERROR_USAGE, "sinew_picture_draw needs a def, a survey and a panel at least");
    for (int32_t i = 0; i < count; i++)
        if (!panels[i].snapshot || panels[i].snapshot->colour != panels[0].snapshot->colour)
            return picture_fail(error, SINEW_ERROR_USAGE, "panel %d has no snapshot, or one of another colour", i);
    if (def->width < 16 || def->height < 16 || def->width > 16384 || def->height > 16384)
        return picture_fail(error, SINEW_ERROR_DATA, "a picture of %d x %d pixels: each must be between 16 and 16384",
                            def->width, def->height);
    if (def->samples < 0 || def->samples > 65536)
        return picture_fail(error, SINEW_ERROR_DATA, "%d samples a pixel: must be between 0 and 65536", def->samples);
    if (!survey->any) {
        int64_t left_out = 0;
        for (int32_t i = 0; i < count; i++)
            left_out += panels[i].snapshot->left_out;
        return picture_fail(
            error, SINEW_ERROR_DATA,
            "nothing to draw: the world has no surfaces or edges that can be drawn, or a cut takes all of "
            "them away (%lld left out, as they are not finite or far away)",
            (long long)left_out);
    }
    return SINEW_OK;
}

/* True if a ray of a coarse grid hits a body: surfaces can fill the view while all their corners lie outside. */
static bool rays_meet(const stage *s, const lens *l, int32_t width, int32_t height)
{
    const vec3 eye =
        vec((float)(l->eye[0] - s->origin[0]), (float)(l->eye[1] - s->origin[1]), (float)(l->eye[2] - s->origin[2]));
    for (int i = 0; i < 32 * 32; i++) {
        double direction[3];
        stage_hit hit;
        lens_direction(l, (i % 32 + 0.5) * width / 32, (i / 32 + 0.5) * height / 32, direction);
        stage_trace(s, eye, vec_from_double(direction), &hit);
        if (hit.paint >= 0)
            return true;
    }
    return false;
}

static bool sees(const sinew_picture_def *def, const sinew_survey *survey, const sinew_panel *panels, int32_t count,
                 const lens *l, const layout *at)
{
    if (lens_sees(l, survey->extremes[0], SINEW_SURVEY_EXTREMES, at->width, at->height))
        return true;
    for (int32_t i = 0; i < count; i++) {
        const shape *drawn = &panels[i].snapshot->shape;
        for (size_t k = 0; k < 3 * (size_t)drawn->triangle_count; k++)
            if (lens_sees(l, drawn->points + 3 * (size_t)drawn->triangles[k], 1, at->width, at->height))
                return true;
        stage s;
        const bool meets = stage_make(def, survey, panels[i].snapshot, &s, NULL) == SINEW_OK &&
                           rays_meet(&s, l, at->width, at->height);
        stage_free(&s);
        if (meets)
            return true;
    }
    return false;
}

static sinew_status fail_blind(const lens *l, const sinew_survey *survey, sinew_error *error)
{
    const double *b = survey->bounds;
    return picture_fail(error, SINEW_ERROR_DATA,
                        "camera: at %.4g %.4g %.4g, looking along %.3g %.3g %.3g, it sees nothing of the bodies, which "
                        "are between %.4g %.4g %.4g and %.4g %.4g %.4g",
                        l->eye[0], l->eye[1], l->eye[2], l->forward[0], l->forward[1], l->forward[2], b[0], b[1], b[2],
                        b[3], b[4], b[5]);
}

/* ---- Range of values that the colours span ---------------------------------------------------- */

/* Determines the range of colours: the given range, or the survey's. Except for stretches, the survey's range is
 * extended to zero if its low end is positive and below half its high end. An empty range is widened. */
static void picture_find_range(const sinew_picture_def *def, const sinew_survey *survey, sinew_colour_kind colour,
                               double *low, double *high)
{
    *low = def->low;
    *high = def->high;
    if (*low < *high)
        return;
    *low = survey->low;
    *high = survey->high;
    if (colour != SINEW_COLOUR_STRETCH && *low > 0 && *low < 0.5 * *high)
        *low = 0;
    if (*low < *high)
        return;
    const double around = *low != 0 ? 0.05 * fabs(*low) : 0.5;
    *low = *low == 0 ? 0 : *low - around;
    *high += around;
}

/* ---- Drawing of the picture ------------------------------------------------------------------- */

typedef struct picture_work {
    const sinew_picture_def *def; /* picture definition with the range of colours filled in */
    const sinew_survey *survey;
    const sinew_panel *panels;
    int32_t count;
    const layout *at;
    lens eye;
    sinew_image *image;
    sinew_picture_progress *progress;
    void *context;
} picture_work;

static sinew_status draw_panel(const picture_work *w, int32_t index, sinew_error *error)
{
    const layout *at = w->at;
    const size_t x = (size_t)(at->left + index % at->columns * (at->width + at->gap)),
                 y = (size_t)(at->top + index / at->columns * (at->height + at->gap));
    stage s;
    sinew_status status = stage_make(w->def, w->survey, w->panels[index].snapshot, &s, error);
    if (status == SINEW_OK) {
        view v = {.stage = &s,
                  .lens = &w->eye,
                  .width = at->width,
                  .height = at->height,
                  .samples = w->def->samples,
                  .thread_count = w->def->thread_count,
                  .rgb = w->image->pixels + 3 * (y * (size_t)w->image->width + x),
                  .pitch = 3 * (size_t)w->image->width,
                  .done_before = (double)index / w->count,
                  .done_fraction = 1.0 / w->count,
                  .progress = w->progress,
                  .context = w->context};
        status = view_draw(&v, error);
    }
    stage_free(&s);
    return status;
}

static sinew_status start_image(const sinew_picture_def *def, sinew_image *image, sinew_error *error)
{
    const size_t count = (size_t)def->width * (size_t)def->height;
    *image = (sinew_image){.width = def->width, .height = def->height, .pixels = malloc(3 * count)};
    if (!image->pixels)
        return picture_fail(error, SINEW_ERROR_MEMORY, "out of memory for a picture of %d x %d pixels", def->width,
                            def->height);
    for (size_t i = 0; i < count; i++)
        memcpy(image->pixels + 3 * i, paper, sizeof paper);
    return SINEW_OK;
}

/* Draws panels, legend and text into the allocated image. */
static sinew_status draw_all(picture_work *w, const legend *l, text_font *font, sinew_error *error)
{
    sinew_status status = lens_make(&w->def->camera, w->survey, &w->at->frame, &w->eye, error);
    if (status == SINEW_OK && !sees(w->def, w->survey, w->panels, w->count, &w->eye, w->at))
        status = fail_blind(&w->eye, w->survey, error);
    for (int32_t i = 0; i < w->count && status == SINEW_OK; i++)
        status = draw_panel(w, i, error);
    if (status != SINEW_OK)
        return status;
    layout_names(w->at, w->def, w->panels, w->count, font, w->image);
    if (l)
        legend_draw(l, font, w->image, w->at->legend_x, w->at->legend_y, w->at->legend_height, w->at->text);
    return SINEW_OK;
}

sinew_status sinew_picture_draw(const sinew_picture_def *def, const sinew_survey *survey, const sinew_panel *panels,
                                int32_t panel_count, sinew_image *image, sinew_picture_progress *progress,
                                void *context, sinew_error *error)
{
    if (error)
        *error = (sinew_error){0};
    if (!image)
        return picture_fail(error, SINEW_ERROR_USAGE, "sinew_picture_draw needs an image to fill");
    *image = (sinew_image){0};
    sinew_status status = check(def, survey, panels, panel_count, error);
    if (status == SINEW_OK)
        status = start_image(def, image, error);
    if (status != SINEW_OK)
        return status;
    sinew_picture_def own = *def;
    const sinew_snapshot *first = panels[0].snapshot;
    picture_find_range(def, survey, first->colour, &own.low, &own.high);
    text_font *font = text_open(image->warnings, sizeof image->warnings);
    const legend made = legend_make(first, own.low, own.high, survey->highest, layout_ticks(def));
    const legend *l = def->legend && first->colour != SINEW_COLOUR_BODY ? &made : NULL;
    const layout at = layout_make(def, panels, panel_count, l, font);
    picture_work work = {.def = &own,
                         .survey = survey,
                         .panels = panels,
                         .count = panel_count,
                         .at = &at,
                         .image = image,
                         .progress = progress,
                         .context = context};
    status = draw_all(&work, l, font, error);
    text_close(font);
    if (status != SINEW_OK)
        sinew_image_free(image);
    return status;
}
