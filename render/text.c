/* SPDX-License-Identifier: MIT
 *
 * text.c: draws lines of text with kerning. Glyphs have subpixel positions and are blended over the image.
 *
 * The file does not shape complex scripts, write from right to left, or search glyphs in a second font.
 */
#include "text.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct text_font {
    FT_Library library;
    FT_Face face;
};

static const char *const font_paths[] = {
    "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu/DejaVuSans.ttf",
    "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
    "/usr/share/fonts/TTF/DejaVuSans.ttf",
    "/usr/local/share/fonts/dejavu/DejaVuSans.ttf",
    "/opt/homebrew/share/fonts/DejaVuSans.ttf",
    "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
};

/* Opens the requested font face or, without a request, the first font of a fixed list that opens. */
static bool open_face(text_font *font, const char *wanted)
{
    if (wanted && *wanted)
        return FT_New_Face(font->library, wanted, 0, &font->face) == 0;
    for (size_t i = 0; i < sizeof font_paths / sizeof *font_paths; i++)
        if (FT_New_Face(font->library, font_paths[i], 0, &font->face) == 0)
            return true;
    return false;
}

text_font *text_open(char *reason, size_t size)
{
    const char *wanted = getenv("SINEW_FONT");
    text_font *font = calloc(1, sizeof *font);
    if (font && FT_Init_FreeType(&font->library) == 0) {
        if (open_face(font, wanted))
            return font;
        FT_Done_FreeType(font->library);
    }
    free(font);
    if (wanted && *wanted)
        snprintf(reason, size, "drawn without words: SINEW_FONT=%s is no font that can be read", wanted);
    else
        snprintf(reason, size, "drawn without words: there is no font; install fonts-dejavu-core or set SINEW_FONT");
    return NULL;
}

void text_close(text_font *font)
{
    if (!font)
        return;
    FT_Done_Face(font->face);
    FT_Done_FreeType(font->library);
    free(font);
}

/* Decodes the next UTF-8 character of a text and advances the pointer; a byte that begins no complete sequence gives
 * the replacement character. */
static uint32_t next_character(const char **text)
{
    const unsigned char *p = (const unsigned char *)*text;
    const int more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : p[0] >= 0xc0 ? 1 : 0;
    uint32_t code = more == 3 ? p[0] & 7u : more == 2 ? p[0] & 15u : more == 1 ? p[0] & 31u : p[0];
    bool bad = p[0] >= 0x80 && p[0] < 0xc0;
    int used = 1;
    for (; used <= more && !bad; used++) {
        bad = (p[used] & 0xc0) != 0x80;
        code = code << 6 | (p[used] & 63u);
    }
    *text += bad ? 1 : used;
    return bad ? 0xfffd : code;
}

/* ---- Lines of text ---------------------------------------------------------------------------- */

static void blend(sinew_image *image, int32_t x, int32_t y, const uint8_t rgb[3], uint8_t cover)
{
    if (x < 0 || y < 0 || x >= image->width || y >= image->height || cover == 0)
        return;
    uint8_t *at = image->pixels + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
    for (int c = 0; c < 3; c++)
        at[c] = (uint8_t)((at[c] * (255 - cover) + rgb[c] * cover + 127) / 255);
}

/* Draws the current glyph of FreeType with its origin at (x, y), in pixels. */
static void draw_glyph(text_font *font, sinew_image *image, double x, double y, const uint8_t rgb[3])
{
    FT_GlyphSlot slot = font->face->glyph;
    const double left = floor(x), top = floor(y + 0.5);
    FT_Outline_Translate(&slot->outline, (FT_Pos)((x - left) * 64), 0);
    if (FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL) != 0)
        return;
    const FT_Bitmap *map = &slot->bitmap;
    for (unsigned j = 0; j < map->rows; j++)
        for (unsigned i = 0; i < map->width; i++)
            blend(image, (int32_t)left + slot->bitmap_left + (int32_t)i, (int32_t)top - slot->bitmap_top + (int32_t)j,
                  rgb, map->buffer[(ptrdiff_t)j * map->pitch + (ptrdiff_t)i]);
}

/* Walks along the glyphs of a line and returns its width in pixels; draws the glyphs if there is an image. */
static double walk_line(text_font *font, sinew_image *image, double x, double y, double size, const uint8_t rgb[3],
                        const char *line)
{
    if (!font || !line || FT_Set_Char_Size(font->face, 0, (FT_F26Dot6)(size * 64), 72, 72) != 0)
        return 0;
    double pen = 0;
    FT_UInt before = 0;
    while (*line) {
        const FT_UInt glyph = FT_Get_Char_Index(font->face, next_character(&line));
        FT_Vector kern = {0, 0};
        if (before && FT_HAS_KERNING(font->face))
            FT_Get_Kerning(font->face, before, glyph, FT_KERNING_UNFITTED, &kern);
        pen += (double)kern.x / 64;
        before = glyph;
        if (FT_Load_Glyph(font->face, glyph, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT) != 0)
            continue;
        const double advance = (double)font->face->glyph->linearHoriAdvance / 65536;
        if (image && font->face->glyph->format == FT_GLYPH_FORMAT_OUTLINE)
            draw_glyph(font, image, x + pen, y, rgb);
        pen += advance;
    }
    return pen;
}

double text_width(text_font *font, double size, const char *line)
{
    return walk_line(font, NULL, 0, 0, size, NULL, line);
}

void text_draw(text_font *font, sinew_image *image, double x, double y, double size, const uint8_t rgb[3],
               const char *line)
{
    walk_line(font, image, x, y, size, rgb, line);
}
