/* SPDX-License-Identifier: MIT
 *
 * legend.c: ticks at round numbers, in a unit whose prefix keeps the numbers short.
 */
#include "legend.h"

#include <stdio.h>
#include <string.h>

#include "colour.h"

static const uint8_t ink[3] = {38, 42, 50};
static const uint8_t pale_ink[3] = {92, 98, 108};

/* ---- Numbers of the legend --------------------------------------------------------------------- */

/* Distance of legend ticks: the smallest of 1, 2 or 5 times a power of ten that divides the range into at most
 * `intervals` parts. */
static double round_step(double range, double intervals)
{
    const double min = range / intervals, power = pow(10, floor(log10(min)));
    return min <= power ? power : min <= 2 * power ? 2 * power : min <= 5 * power ? 5 * power : 10 * power;
}

static void choose_unit(legend *l, const char *unit, double largest)
{
    static const struct {
        double factor;
        const char *prefix;
    } prefixes[] = {{1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "\u00b5"}, {1e-9, "n"}};
    l->factor = 1;
    const char *prefix = "";
    if (*unit && largest > 0)
        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
            if (largest >= prefixes[i].factor || i + 1 == sizeof prefixes / sizeof *prefixes) {
                l->factor = prefixes[i].factor;
                prefix = prefixes[i].prefix;
                break;
            }
    snprintf(l->unit, sizeof l->unit, "%s%s", prefix, unit);
}

legend legend_make(const sinew_snapshot *snapshot, double low, double high, double highest, double max)
{
    legend l = {.colour = snapshot->colour, .class_count = snapshot->class_count};
    memcpy(l.label, snapshot->label, sizeof l.label);
    choose_unit(&l, snapshot->unit, fmax(fabs(low), fabs(high)));
    l.low = low / l.factor;
    l.high = high / l.factor;
    l.highest = highest / l.factor;
    l.step = round_step(l.high - l.low, fmin(fmax(max, 2), 6));
    l.digits = l.step < 1 ? (int32_t)ceil(-log10(l.step) - 1e-9) : 0;
    return l;
}

/* Formats a tick's number; very large and very small numbers have an exponent. */
static void print_tick(const legend *l, double value, char *text, size_t size)
{
    if (fabs(l->high) >= 1e6 || l->digits > 6)
        snprintf(text, size, "%.3g", value);
    else
        snprintf(text, size, "%.*f", l->digits, fabs(value) < 1e-9 * l->step ? 0 : value);
}

/* ---- Drawing of the legend -------------------------------------------------------------------- */

static void fill(sinew_image *image, int32_t x, int32_t y, int32_t width, int32_t height, const uint8_t rgb[3])
{
    for (int32_t j = y < 0 ? 0 : y; j < y + height && j < image->height; j++)
        for (int32_t i = x < 0 ? 0 : x; i < x + width && i < image->width; i++)
            memcpy(image->pixels + 3 * ((size_t)j * (size_t)image->width + (size_t)i), rgb, 3);
}

static double head_height(double size)
{
    return 3.2 * size;
}

/* Width of the legend's colour bar in pixels at a text size. */
static int32_t bar_width(double size)
{
    return (int32_t)(1.1 * size + 0.5);
}

double legend_width(const legend *l, text_font *font, double size)
{
    char text[64];
    double width = fmax(text_width(font, size, l->label), text_width(font, size, l->unit));
    if (l->colour != SINEW_COLOUR_CLASS)
        for (double tick = ceil(l->low / l->step - 1e-9) * l->step; tick <= l->high + 1e-9 * l->step; tick += l->step) {
            print_tick(l, tick, text, sizeof text);
            width = fmax(width, bar_width(size) + 0.7 * size + text_width(font, size, text));
        }
    return width;
}

static void draw_bar(const legend *l, text_font *font, sinew_image *image, double x, double y, double height,
                     double size)
{
    const int32_t left = (int32_t)x, top = (int32_t)y, wide = bar_width(size), high = (int32_t)height;
    for (int32_t j = 0; j < high; j++) {
        uint8_t rgb[3];
        sinew_colour_ramp(1 - (j + 0.5) / high, rgb);
        fill(image, left, top + j, wide, 1, rgb);
    }
    for (double tick = ceil(l->low / l->step - 1e-9) * l->step; tick <= l->high + 1e-9 * l->step; tick += l->step) {
        const double at = y + height * (1 - (tick - l->low) / (l->high - l->low));
        const int32_t thick = size >= 14 ? 2 : 1, row = (int32_t)fmin(fmax(at - thick / 2.0, y), y + height - thick);
        char text[64];
        fill(image, left + wide, row, (int32_t)(0.35 * size), thick, pale_ink);
        print_tick(l, tick, text, sizeof text);
        text_draw(font, image, x + wide + 0.6 * size, at + 0.36 * size, size, ink, text);
    }
    if (l->highest > l->high + 0.02 * (l->high - l->low)) {
        char number[32], text[64];
        print_tick(l, l->highest, number, sizeof number);
        snprintf(text, sizeof text, "peak %s", number);
        text_draw(font, image, x, y + height + 1.4 * size, 0.85 * size, pale_ink, text);
    }
}

static void draw_classes(const legend *l, text_font *font, sinew_image *image, double x, double y, double height,
                         double size)
{
    const int32_t count = l->class_count > 0 ? l->class_count : 1;
    const double pitch = fmin(1.6 * size, height / count);
    for (int32_t i = 0; i < l->class_count; i++) {
        const vec3 colour = class_colour(i);
        const uint8_t rgb[3] = {(uint8_t)(255 * srgb_from_linear(colour.x) + 0.5f),
                                (uint8_t)(255 * srgb_from_linear(colour.y) + 0.5f),
                                (uint8_t)(255 * srgb_from_linear(colour.z) + 0.5f)};
        const double at = y + pitch * i;
        fill(image, (int32_t)x, (int32_t)at, bar_width(size), (int32_t)fmax(1, pitch - fmin(3, 0.2 * pitch)), rgb);
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        if (pitch >= size || i == 0 || i + 1 == l->class_count)
            text_draw(font, image, x + bar_width(size) + 0.6 * size, at + fmin(pitch, 1.2 * size) * 0.75, size, ink,
                      text);
    }
}

void legend_draw(const legend *l, text_font *font, sinew_image *image, double x, double y, double height, double size)
{
    text_draw(font, image, x, y + size, size, ink, l->label);
    text_draw(font, image, x, y + 2.25 * size, size, pale_ink, l->unit);
    const double top = y + head_height(size) - (*l->unit ? 0 : 1.2 * size);
    (l->colour == SINEW_COLOUR_CLASS ? draw_classes : draw_bar)(l, font, image, x, top, y + height - top, size);
}
