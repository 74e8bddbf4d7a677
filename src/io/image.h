/* SPDX-License-Identifier: MIT
 *
 * image.h: pictures that hold numbers, such as a map of stiffness: PGM and PPM (P5, P6, 8 or 16 bits a sample, from 0
 * to 1) and PFM (Pf, PF, floats as they are). These formats need no other package, and ImageMagick and most painting
 * programs write them.
 */
#ifndef SINEW_SRC_IO_IMAGE_H
#define SINEW_SRC_IO_IMAGE_H

#include "base/base.h"

typedef struct sinew_image {
    int32_t width, height, channels; /* 1: grey, 3: red, green, blue */
    int32_t depth;                   /* bytes a sample: 1, 2, or 4 of a float */
    double max;                      /* the sample that means 1 */
    bool little_endian, upwards;     /* upwards: the first row of the file is the lowest */
    const unsigned char *pixels;     /* [height][width][channels] samples, within bytes */
    char *bytes;                     /* the file; to be released */
} sinew_image;

/* Refuses another format, a size that is not what the file holds, and a float that is not finite, by name. */
sinew_status sinew_image_read(sinew_image *image, const char *path, const sinew_allocator *allocator,
                              sinew_error *error);
/* Bilinear interpolation between pixel centres; u to the right, v up, both from 0 to 1 over the picture. Border values
 * extend outwards. A grey picture has equal channels. */
double sinew_image_at(const sinew_image *image, int32_t channel, double u, double v);

#endif
