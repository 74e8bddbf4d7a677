/* SPDX-License-Identifier: MIT
 *
 * text.h: text on an image, by FreeType.
 */
#ifndef SINEW_RENDER_TEXT_H
#define SINEW_RENDER_TEXT_H

#include "picture.h"

typedef struct text_font text_font;

/* Opens the font that $SINEW_FONT names, or the first available font of a fixed list. Returns NULL if there is none and
 * writes the reason to `reason` [size]. */
text_font *text_open(char *reason, size_t size);
void text_close(text_font *font); /* frees the font; NULL has no effect */

/* Width of one line of UTF-8 at an em size in pixels; 0 without a font. */
double text_width(text_font *font, double size, const char *line);
/* Draws one line whose baseline begins at (x, y), clipped to the image. Without a font the function does nothing. */
void text_draw(text_font *font, sinew_image *image, double x, double y, double size, const uint8_t rgb[3],
               const char *line);

#endif
