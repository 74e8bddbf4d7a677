/* SPDX-License-Identifier: MIT
 *
 * image.h: images of numbers, such as a stiffness map: PGM and PPM (P5, P6, 8 or 16 bits per sample, scaled to 0 ..
 * 1) and PFM (Pf, PF, unscaled floats). Reading these formats needs no library, and ImageMagick writes them.
 */
#ifndef SINEW_SRC_IO_IMAGE_H
#define SINEW_SRC_IO_IMAGE_H

#include "base/base.h"

typedef struct sinew_image {
    int32_t width, height, channels; /* channels: numbers per pixel, 1 for grey, 3 for red, green, blue */
    int32_t depth;                   /* bytes per number of the file: 1 or 2 for integers, 4 for floats */
    double max;                      /* integer value of the image file that is scaled to 1.0 */
    bool little_endian, upwards;     /* upwards: the first row of the image file is the bottom row */
    const unsigned char *pixels;     /* [height][width][channels] numbers of the image; points into `bytes` */
    char *bytes;                     /* content of the image file; the caller releases it after use */
} sinew_image;

/* Reads a PGM, PPM or PFM file. Fails with a message for an unknown format, a file that is too short for its width and
 * height, or a float that is not finite. */
sinew_status sinew_image_read(sinew_image *image, const char *path, const sinew_allocator *allocator,
                              sinew_error *error);
/* Value of an image by bilinear interpolation between pixel centres, scaled so that `max` becomes 1 (floats: unscaled).
 * u points to the right, v up, both from 0 to 1 over the picture. Values of the outermost pixels extend outwards. A
 * grey picture has equal channels. */
double sinew_image_at(const sinew_image *image, int32_t channel, double u, double v);

#endif
