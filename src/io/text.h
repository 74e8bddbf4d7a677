/* SPDX-License-Identifier: MIT
 *
 * text.h: a cursor over one file in memory, for text and for the binary parts inside it.
 *
 * A function that fails returns false and sets the error to one line: the file, the line (text) or the byte (binary),
 * and the reason. Numbers are read in the C locale. The bytes given to sinew_text_open must be followed by a 0 byte,
 * which sinew_file_read appends; no function reads further.
 */
#ifndef SINEW_SRC_IO_TEXT_H
#define SINEW_SRC_IO_TEXT_H

#include <locale.h>

#include "base/base.h"

typedef struct sinew_text {
    const char *name;   /* name of the file in error messages */
    const char *begin;  /* first byte of the text after a byte order mark */
    const char *at;     /* cursor: the next byte of the text to read */
    const char *end;    /* one past the last byte of the text; *end == 0 */
    char comment;       /* character that starts a comment, which runs to the end of its line; 0: none */
    bool binary;        /* true: error messages name bytes of the file instead of lines */
    locale_t c_locale;  /* the C locale, in which numbers have decimal points */
    sinew_error *error; /* receives the error of a failure; may be NULL */
} sinew_text;

/* One word of a text, not terminated by a 0 byte. */
typedef struct sinew_token {
    const char *at;
    size_t length;
} sinew_token;

/* Length of a byte order mark at the start of a text: 3 if the UTF-8 mark of Windows editors is present, else 0. */
size_t sinew_text_mark(const char *bytes, size_t size);

bool sinew_text_open(sinew_text *text, const char *name, const char *bytes, size_t size, sinew_error *error);
void sinew_text_close(sinew_text *text);

/* Sets the error with the line (or byte) of the position `at`; always returns false. */
bool sinew_text_fail(const sinew_text *text, const char *at, const char *format, ...) SINEW_PRINTF(3, 4);

/* Reads the next word on this or a later line; false (no error) at the end of the file. */
bool sinew_text_next(sinew_text *text, sinew_token *token);
/* Reads the next word on this line; false (no error) at the end of the line. */
bool sinew_text_next_on_line(sinew_text *text, sinew_token *token);
bool sinew_token_is(sinew_token token, const char *word); /* true if the token equals the word */
/* true: the token equals the word, ASCII letters in either case */
bool sinew_token_is_any_case(sinew_token token, const char *word);
/* Moves the cursor to the start of the text's next line. */
void sinew_text_skip_line(sinew_text *text);
/* Skips the next word; fails if it is not `word` (ASCII letters in either case). */
bool sinew_text_expect(sinew_text *text, const char *word);

/* Reads an integer in [low, high]. `what` is its name in the error, for example "a vertex index". */
bool sinew_text_integer(sinew_text *text, int64_t low, int64_t high, const char *what, int64_t *value);
bool sinew_token_integer(const sinew_text *text, sinew_token token, int64_t low, int64_t high, const char *what,
                         int64_t *value);
bool sinew_text_real(sinew_text *text, const char *what, double *value);
/* Reads a point: three finite numbers within the range of sinew_real. */
bool sinew_text_point(sinew_text *text, sinew_real point[3]);
bool sinew_token_coordinate(const sinew_text *text, sinew_token token, sinew_real *value);

/* Reads a count of items that take at least `bytes_each` bytes each. Fails if the rest of the file is too short, so
 * that a header cannot cause an allocation out of proportion to its file. */
bool sinew_text_count(sinew_text *text, size_t bytes_each, const char *what, int64_t *count);
bool sinew_text_check_count(const sinew_text *text, const char *at, int64_t count, size_t bytes_each, const char *what);

/* Skips the next `count * size` bytes and sets *block to their start; fails if fewer bytes follow. */
bool sinew_text_block(sinew_text *text, int64_t count, size_t size, const char *what, const unsigned char **block);
size_t sinew_text_left(const sinew_text *text); /* number of bytes from the cursor to the end of the text */

#endif
