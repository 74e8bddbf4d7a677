/* SPDX-License-Identifier: MIT
 *
 * image.c: reads PGM, PPM and PFM files and interpolates their values.
 *
 * The file stays in memory unchanged; sinew_image_at() converts the samples that it interpolates.
 */
#include "io/image.h"

#include <math.h>
#include <string.h>

#include "io/file.h"
#include "io/text.h"

enum {
    SIDE_MAX = 32768,
    SAMPLE_MAX = 65535
};

typedef struct image_format {
    const char *magic;
    int32_t channels;
    bool floats;
} image_format;

static const image_format formats[] = {{"P5", 1, false}, {"P6", 3, false}, {"Pf", 1, true}, {"PF", 3, true}};

static double sample_at(const sinew_image *image, size_t index)
{
    const unsigned char *p = image->pixels + index * (size_t)image->depth;
    uint32_t bits = 0;
    for (int32_t i = 0; i < image->depth; i++)
        bits = bits << 8 | p[image->little_endian ? image->depth - 1 - i : i];
    if (image->depth < 4)
        return bits / image->max;
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* Reads the header of an image file: format, width, height, and the largest sample value (PGM, PPM) or the byte order
 * (PFM). */
static bool read_head(sinew_image *image, sinew_text *text)
{
    sinew_token magic = {0};
    int64_t width, height, max = 1;
    double scale = 1;
    const image_format *format = NULL;
    if (sinew_text_next(text, &magic))
        for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
            format = sinew_token_is(magic, formats[i].magic) ? &formats[i] : format;
    if (!format)
        return sinew_text_fail(text, text->begin,
                               "is not a picture of numbers: PGM (P5), PPM (P6) and PFM (Pf, PF) are read; convert it, "
                               "as with \"convert x.png x.ppm\"");
    if (!sinew_text_integer(text, 1, SIDE_MAX, "the width", &width) ||
        !sinew_text_integer(text, 1, SIDE_MAX, "the height", &height) ||
        !(format->floats ? sinew_text_real(text, "the scale", &scale)
                         : sinew_text_integer(text, 1, SAMPLE_MAX, "the largest sample", &max)))
        return false;
    image->width = (int32_t)width;
    image->height = (int32_t)height;
    image->channels = format->channels;
    image->depth = format->floats ? 4 : max > 255 ? 2 : 1;
    image->max = (double)max;
    image->little_endian = format->floats && scale < 0;
    image->upwards = format->floats;
    return true;
}

static bool read_pixels(sinew_image *image, const sinew_text *text)
{
    const size_t count = (size_t)image->width * (size_t)image->height * (size_t)image->channels;
    const size_t needs = count * (size_t)image->depth;
    /* One character separates the header of an image file from its pixels. */
    const size_t has = text->end > text->at ? (size_t)(text->end - text->at) - 1 : 0;
    if (has < needs)
        return sinew_text_fail(text, text->at, "has %zu bytes of pixels, %d x %d pixels need %zu", has, image->width,
                               image->height, needs);
    image->pixels = (const unsigned char *)text->at + 1;
    for (size_t i = 0; image->depth == 4 && i < count; i++)
        if (!isfinite(sample_at(image, i)))
            return sinew_text_fail(text, text->at, "number %zu of the picture is not finite", i);
    return true;
}

sinew_status sinew_image_read(sinew_image *image, const char *path, const sinew_allocator *allocator,
                              sinew_error *error)
{
    size_t size;
    *image = (sinew_image){0};
    image->bytes = sinew_file_read(path, allocator, &size, error);
    if (!image->bytes)
        return error->status;
    sinew_text text;
    bool good = sinew_text_open(&text, path, image->bytes, size, error);
    if (good) {
        text.comment = '#';
        good = read_head(image, &text) && read_pixels(image, &text);
        sinew_text_close(&text);
    }
    if (good)
        return SINEW_OK;
    sinew_release(allocator, image->bytes);
    image->bytes = NULL;
    return error->status;
}

static double pixel_at(const sinew_image *image, int32_t channel, int32_t x, int32_t y)
{
    x = x < 0 ? 0 : x < image->width ? x : image->width - 1;
    y = y < 0 ? 0 : y < image->height ? y : image->height - 1;
    const size_t row = (size_t)(image->upwards ? y : image->height - 1 - y);
    const size_t pixel = row * (size_t)image->width + (size_t)x;
    return sample_at(image, pixel * (size_t)image->channels + (size_t)(image->channels > 1 ? channel : 0));
}

double sinew_image_at(const sinew_image *image, int32_t channel, double u, double v)
{
    /* Clamps the sampling position to the image before the conversion to integers, which could overflow. */
    const double x = fmin(fmax(u, 0), 1) * image->width - 0.5, y = fmin(fmax(v, 0), 1) * image->height - 0.5;
    const int32_t left = (int32_t)floor(x), low = (int32_t)floor(y);
    const double s = x - left, t = y - low;
    const double below = (1 - s) * pixel_at(image, channel, left, low) + s * pixel_at(image, channel, left + 1, low);
    const double above =
        (1 - s) * pixel_at(image, channel, left, low + 1) + s * pixel_at(image, channel, left + 1, low + 1);
    return (1 - t) * below + t * above;
}
