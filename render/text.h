/* SPDX-License-Identifier: MIT
 *
 * text.h: words on an image, by FreeType.
 */
#ifndef SINEW_RENDER_TEXT_H
#define SINEW_RENDER_TEXT_H

#include "picture.h"

typedef struct text_font text_font;

/* The font that $SINEW_FONT names, or the first of the usual ones that is there. NULL: none, and the reason is written
 * to `reason` [size]. */
text_font *text_open(char *reason, size_t size);
void text_close(text_font *font); /* NULL is fine */

/* Pixels that one line of UTF-8 takes at a size (pixels an em); 0 without a font. */
double text_width(text_font *font, double size, const char *line);
/* Draws one line, its baseline beginning at (x, y); what is outside the image is cut off. Without a font: nothing. */
void text_draw(text_font *font, sinew_image *image, double x, double y, double size, const uint8_t rgb[3],
               const char *line);

#endif
