/* SPDX-License-Identifier: MIT
 *
 * report_shape.c: the final shapes side by side as small pictures. Colours show each particle's distance from the
 * reference.
 *
 * All pictures share the camera of the reference; shapes far from the reference leave the picture.
 */
#include <math.h>
#include <stdlib.h>

#include "embed.h"
#include "metrics.h"
#include "report.h"

enum {
    SAMPLES = 8, /* samples per pixel of a small picture, which is denoised */
    DECADES = 3  /* number of decades of the colour bar */
};

typedef struct gallery {
    const sinew_report *r;
    int32_t particle_count;
    double *values;   /* [particle_count] position of each particle's distance on the colour bar, 0 .. 1 */
    double low, high; /* distances at the ends of the colour bar, in m */
    sinew_survey survey;
    sinew_error error;
} gallery;

static const sinew_answer *answer_of(const gallery *g, int32_t method)
{
    return sinew_answer_of(g->r->c, g->r->c->step_count - 1, method);
}

/* ---- Colours by distance from the reference ---------------------------------------------------- */

/* Computes each particle's distance from the reference, as a position on the colour bar. */
static void measure_errors(gallery *g, const sinew_real *q)
{
    const sinew_real *reference = answer_of(g, SINEW_REFERENCE)->positions;
    for (size_t i = 0; i < (size_t)g->particle_count; i++) {
        double d[3];
        for (size_t k = 0; k < 3; k++)
            d[k] = (double)(q[3 * i + k] - reference[3 * i + k]);
        const double t = log10(fmax(sinew_length(d), g->low) / g->low) / DECADES;
        g->values[i] = fmin(1, t);
    }
}

/* Sets the colour bar: three decades up to the greatest distance, rounded up, which is at least a thousandth of the
 * body's size. */
static void set_bar(gallery *g)
{
    const sinew_comparison *c = g->r->c;
    double far = 1e-3 * c->size;
    for (int32_t i = 1; i < c->method_count; i++) {
        const sinew_answer *a = answer_of(g, i);
        if (isfinite(a->distance) && !(a->result.bits & SINEW_STEP_NOT_FINITE))
            far = fmax(far, fmin(a->distance, c->size));
    }
    double power = pow(10, floor(log10(fmax(far, 1e-30)))), rest = far / power;
    g->high = power * (rest <= 1 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
    g->low = g->high * pow(10, -DECADES);
}

static void put_bar(const gallery *g)
{
    FILE *stream = g->r->stream;
    char text[SINEW_SHORT_SIZE];
    fputs("<svg class=\"bar\" viewBox=\"0 0 570 44\" role=\"img\" aria-label=\"colour bar\">\n", stream);
    for (int i = 0; i < 48; i++) {
        uint8_t rgb[3];
        sinew_colour_ramp((i + 0.5) / 48, rgb);
        fprintf(stream, "<path fill=\"#%02x%02x%02x\" d=\"M%d 6h10.5v14h-10.5z\"/>\n", rgb[0], rgb[1], rgb[2],
                45 + 10 * i);
    }
    for (int i = 0; i <= DECADES; i++)
        fprintf(stream, "<text x=\"%d\" y=\"37\" text-anchor=\"middle\">%s%s m</text>\n", 45 + 480 * i / DECADES,
                i == 0 ? "&lt; " : "", sinew_short(g->low * pow(10, i), text));
    fputs("</svg>\n", stream);
}

/* ---- Pictures of the final shapes -------------------------------------------------------------- */

/* Takes a snapshot of a method's positions, coloured by distance; the reference has plain colours. NULL on failure. */
static sinew_snapshot *take_shape(gallery *g, int32_t method)
{
    sinew_world *world = g->r->c->world;
    const sinew_real *q = answer_of(g, method)->positions;
    sinew_snapshot_def def = sinew_default_snapshot_def();
    if (method != SINEW_REFERENCE) {
        measure_errors(g, q);
        def.colour = SINEW_COLOUR_GIVEN;
        def.values = g->values;
    }
    if (sinew_world_set_positions(world, 0, g->particle_count, q) != SINEW_OK)
        return NULL;
    return sinew_snapshot_take(world, &def, &g->error);
}

static sinew_status draw_shape(gallery *g, int32_t method, sinew_image *image)
{
    sinew_picture_def def = sinew_default_picture_def();
    sinew_snapshot *snapshot = take_shape(g, method);
    if (!snapshot)
        return SINEW_ERROR_MEMORY;
    if (method == SINEW_REFERENCE)
        sinew_survey_add(&g->survey, snapshot);
    def.width = g->r->c->picture_width;
    def.height = g->r->c->picture_height;
    def.samples = SAMPLES;
    def.legend = false;
    def.low = 0;
    def.high = 1;
    /* Camera distance factor: margin for shapes that deviate slightly from the reference. */
    def.camera.distance = 1.25;
    const sinew_panel panel = {.snapshot = snapshot};
    sinew_status status = sinew_picture_draw(&def, &g->survey, &panel, 1, image, NULL, NULL, &g->error);
    sinew_snapshot_destroy(snapshot);
    return status;
}

static void put_caption(const gallery *g, int32_t method)
{
    const sinew_comparison *c = g->r->c;
    const sinew_answer *a = answer_of(g, method);
    char text[SINEW_SHORT_SIZE];
    fputs("<figcaption>", g->r->stream);
    if (method == SINEW_REFERENCE)
        fprintf(g->r->stream, "the fastest particle moved %s m in this step", sinew_short(c->motion, text));
    else
        fprintf(g->r->stream, "at most %s m from the reference", sinew_short(a->distance, text));
    if (a->measures.inverted_count > 0)
        fprintf(g->r->stream, "; %d tets inverted", a->measures.inverted_count);
    fputs("</figcaption>\n</figure>\n", g->r->stream);
}

static bool put_shape(gallery *g, int32_t method)
{
    FILE *stream = g->r->stream;
    const char *label = g->r->c->methods[method].label;
    sinew_image image = {0};
    fprintf(stream, "<figure class=\"s%d\" data-s=\"%d\">\n<h3><span class=\"chip\"></span>%s</h3>\n", method, method,
            label);
    if (answer_of(g, method)->result.bits & SINEW_STEP_NOT_FINITE) {
        fputs("<figcaption>became non-finite: no shape</figcaption>\n</figure>\n", stream);
        return true;
    }
    const sinew_status status = draw_shape(g, method, &image);
    bool good = status == SINEW_OK || status == SINEW_ERROR_DATA;
    if (status == SINEW_OK) {
        fprintf(stream,
                "<img style=\"display:block;width:100%%;height:auto;border-radius:8px\" alt=\"shape by %s\" "
                "width=\"%d\" height=\"%d\" src=\"",
                label, image.width, image.height);
        good = sinew_put_data_uri(stream, &image);
        fputs("\">\n", stream);
    } else {
        fputs("<p class=\"soft\">has left the picture</p>\n", stream);
    }
    sinew_image_free(&image);
    put_caption(g, method);
    return good;
}

bool sinew_put_shapes(const sinew_report *r)
{
    sinew_world *world = r->c->world;
    gallery g = {.r = r, .particle_count = sinew_world_particle_count(world)};
    sinew_real *q = malloc(3 * ((size_t)g.particle_count + 1) * sizeof *q);
    g.values = malloc(((size_t)g.particle_count + 1) * sizeof *g.values);
    bool good = q && g.values && sinew_world_get_positions(world, 0, g.particle_count, q) == SINEW_OK;
    if (good) {
        set_bar(&g);
        fprintf(r->stream,
                "<section>\n<h2>Shapes at the end%s</h2>\n<p class=\"soft\">Colour: distance of each particle from "
                "where the reference has it.</p>\n",
                r->c->step_count > 1 ? " of the last step" : "");
        put_bar(&g);
        fputs("<div class=\"shapes\">\n", r->stream);
        good = put_shape(&g, SINEW_REFERENCE);
        for (int32_t k = 0; k < r->order_count && good; k++)
            good = put_shape(&g, r->order[k]);
        fputs("</div>\n</section>\n", r->stream);
        sinew_world_set_positions(world, 0, g.particle_count, q);
    }
    free(q);
    free(g.values);
    return good;
}
