/* SPDX-License-Identifier: MIT
 *
 * number_files.c: reads numbers in text files: separated by commas, semicolons or spaces; '#' starts a comment; a
 * first line that starts with a word is a header. The decimal sign is a point in every locale.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "io/scene/reader.h"
#include "io/text.h"

bool sinew_reader_path(sinew_reader *reader, const sinew_node *node, char *path, size_t size)
{
    const char *name = sinew_node_text(node);
    const char *slash = strrchr(reader->path, '/');
    int folder = slash && name[0] != '/' ? (int)(slash + 1 - reader->path) : 0;
    int length = snprintf(path, size, "%.*s%s", folder, reader->path, name);
    if (length < 0 || (size_t)length >= size)
        return sinew_tree_fail(&reader->tree, node, "the path is longer than %zu characters", size - 1);
    return true;
}

static const char *skip_separators(const char *text, int32_t *line)
{
    for (;; text++) {
        if (*text == '#')
            text += strcspn(text, "\n");
        if (*text == '\n')
            ++*line;
        else if (!*text || !(isspace((unsigned char)*text) || *text == ',' || *text == ';'))
            return text;
    }
}

static const char *skip_header_line(const char *text, locale_t locale, int32_t *line)
{
    char *end;
    strtod_l(text, &end, locale);
    if (end > text || !isalpha((unsigned char)*text))
        return text;
    text += strcspn(text, "\n");
    return skip_separators(text, line);
}

/* Fills values [count] with the numbers of a text file; sets the error and returns false if the text has fewer or more
 * numbers, or other words. */
static bool parse_values(sinew_reader *reader, const char *path, const char *text, sinew_real *values, size_t count)
{
    int32_t line = 1;
    text = skip_header_line(skip_separators(text, &line), reader->tree.locale, &line);
    for (size_t found = 0;; found++) {
        if (!*text && found == count)
            return true;
        if (!*text) {
            sinew_fail(reader->error, SINEW_ERROR_FORMAT, "%s: has %zu numbers, needs %zu", path, found, count);
            return false;
        }
        if (found == count) {
            sinew_fail(reader->error, SINEW_ERROR_FORMAT, "%s:%d: has more than the %zu numbers it needs", path, line,
                       count);
            return false;
        }
        char *end;
        double number = strtod_l(text, &end, reader->tree.locale);
        bool ends = !*end || isspace((unsigned char)*end) || strchr(",;#", *end);
        if (end == text || !ends || !isfinite((sinew_real)number)) {
            sinew_fail(reader->error, SINEW_ERROR_FORMAT, "%s:%d: \"%.*s\" is not a finite number", path, line,
                       (int)(strcspn(text, ",; \t\r\n") % 40), text);
            return false;
        }
        values[found] = (sinew_real)number;
        text = skip_separators(end, &line);
    }
}

sinew_real *sinew_reader_values(sinew_reader *reader, const sinew_node *node, int32_t rows, int32_t columns)
{
    char path[1024];
    size_t size, count = (size_t)rows * (size_t)columns;
    if (!sinew_reader_path(reader, node, path, sizeof path))
        return NULL;
    char *text = sinew_file_read(path, &reader->allocator, &size, reader->error);
    if (!text) {
        sinew_tree_blame(&reader->tree, node);
        return NULL;
    }
    sinew_real *values = sinew_reader_allocate(reader, count, sizeof *values, "a file of numbers");
    if (values && !parse_values(reader, path, text + sinew_text_mark(text, size), values, count)) {
        sinew_tree_blame(&reader->tree, node);
        sinew_release(&reader->allocator, values);
        values = NULL;
    }
    sinew_release(&reader->allocator, text);
    return values;
}
