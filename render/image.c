/* SPDX-License-Identifier: MIT
 *
 * image.c: an image as a PNG, in memory and in a file.
 */
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fail.h"
#include "picture.h"

void sinew_image_free(sinew_image *image)
{
    if (!image)
        return;
    free(image->pixels);
    *image = (sinew_image){0};
}

/* ---- Encoding as PNG --------------------------------------------------------------------------- */

typedef struct png_bytes {
    unsigned char *data;
    size_t size, capacity;
} png_bytes;

static void append(png_structp png, png_bytep data, png_size_t size)
{
    png_bytes *bytes = png_get_io_ptr(png);
    if (bytes->size + size > bytes->capacity) {
        const size_t capacity = 2 * (bytes->size + size) + 4096;
        unsigned char *larger = realloc(bytes->data, capacity);
        if (!larger)
            png_error(png, "out of memory");
        bytes->data = larger;
        bytes->capacity = capacity;
    }
    memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

/* Error callback of libpng, which would print its message; the status reports the failure instead. */
static void fail_quietly(png_structp png, png_const_charp text)
{
    (void)text;
    png_longjmp(png, 1);
}

static void ignore(png_structp png, png_const_charp text)
{
    (void)png;
    (void)text;
}

static void no_flush(png_structp png)
{
    (void)png;
}

/* Encodes an image as PNG. libpng reports errors by longjmp to this function, so no local variable may change after
 * setjmp. */
static bool encode(png_structp png, png_infop info, const sinew_image *image, png_bytes *bytes)
{
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_write_fn(png, bytes, append, no_flush);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(png, 7);
    png_write_info(png, info);
    for (size_t y = 0; y < (size_t)image->height; y++)
        png_write_row(png, image->pixels + 3 * (size_t)image->width * y);
    png_write_end(png, info);
    return true;
}

sinew_status sinew_image_encode(const sinew_image *image, unsigned char **bytes, size_t *size, sinew_error *error)
{
    if (!image || !image->pixels || !bytes || !size)
        return picture_fail(error, SINEW_ERROR_USAGE,
                            "sinew_image_encode needs an image and places for bytes and size");
    png_bytes made = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, fail_quietly, ignore);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    const bool done = info && encode(png, info, image, &made);
    png_destroy_write_struct(&png, &info);
    if (!done) {
        free(made.data);
        return picture_fail_memory(error, "a PNG");
    }
    *bytes = made.data;
    *size = made.size;
    return SINEW_OK;
}

/* ---- Writing of image files ------------------------------------------------------------------- */

/* Writes the image to a temporary file and renames it, so that the path always holds a complete picture. */
static sinew_status write_whole(const char *path, const char *temporary, const unsigned char *bytes, size_t size,
                                sinew_error *error)
{
    FILE *file = fopen(temporary, "wb");
    if (!file)
        return picture_fail(error, SINEW_ERROR_FILE, "%s: %s", path, strerror(errno));
    const bool written = fwrite(bytes, 1, size, file) == size;
    const bool closed = fclose(file) == 0;
    if (written && closed && rename(temporary, path) == 0)
        return SINEW_OK;
    const int why = errno;
    unlink(temporary);
    return picture_fail(error, SINEW_ERROR_FILE, "%s: %s", path, strerror(why));
}

sinew_status sinew_image_store(const unsigned char *bytes, size_t size, const char *path, sinew_error *error)
{
    const size_t length = strlen(path) + 8;
    char *temporary = malloc(length);
    if (!temporary)
        return picture_fail_memory(error, "the name of a picture");
    snprintf(temporary, length, "%s.part", path);
    const sinew_status status = write_whole(path, temporary, bytes, size, error);
    free(temporary);
    return status;
}

sinew_status sinew_image_write(const sinew_image *image, const char *path, sinew_error *error)
{
    if (error)
        *error = (sinew_error){0};
    if (!path)
        return picture_fail(error, SINEW_ERROR_USAGE, "sinew_image_write needs a path");
    unsigned char *bytes = NULL;
    size_t size = 0;
    sinew_status status = sinew_image_encode(image, &bytes, &size, error);
    if (status == SINEW_OK)
        status = sinew_image_store(bytes, size, path, error);
    free(bytes);
    return status;
}
