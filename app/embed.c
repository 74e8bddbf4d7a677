/* SPDX-License-Identifier: MIT
 *
 * embed.c: pictures inside HTML pages: PNG as base64 (RFC 4648) in a data URI (RFC 2397).
 */
#include <stdlib.h>

#include "embed.h"

static void put_base64(FILE *stream, const unsigned char *bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const size_t left = size - i;
        const uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                               (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        fputc(letters[group >> 18], stream);
        fputc(letters[group >> 12 & 63], stream);
        fputc(left > 1 ? letters[group >> 6 & 63] : '=', stream);
        fputc(left > 2 ? letters[group & 63] : '=', stream);
    }
}

bool sinew_put_data_uri(FILE *stream, const sinew_image *image)
{
    unsigned char *bytes;
    size_t size;
    if (sinew_image_encode(image, &bytes, &size, NULL) != SINEW_OK)
        return false;
    fputs("data:image/png;base64,", stream);
    put_base64(stream, bytes, size);
    free(bytes);
    return true;
}
