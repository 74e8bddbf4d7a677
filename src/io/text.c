/* SPDX-License-Identifier: MIT
 *
 * text.c: the cursor over a file in memory. See text.h.
 *
 * Line numbers are counted only when an error is reported.
 */
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t sinew_text_mark(const char *bytes, size_t size)
{
    static const char mark[3] = "\xEF\xBB\xBF";
    return size >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0 ? sizeof mark : 0;
}

bool sinew_text_open(sinew_text *text, const char *name, const char *bytes, size_t size, sinew_error *error)
{
    const char *begin = bytes + sinew_text_mark(bytes, size);
    *text = (sinew_text){.name = name, .begin = begin, .at = begin, .end = bytes + size, .error = error};
    text->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (text->c_locale == (locale_t)0) {
        sinew_fail_memory(error, "the C locale");
        return false;
    }
    return true;
}

void sinew_text_close(sinew_text *text)
{
    if (text->c_locale != (locale_t)0)
        freelocale(text->c_locale);
    text->c_locale = (locale_t)0;
}

static int64_t line_number_of(const sinew_text *text, const char *at)
{
    int64_t line = 1;
    for (const char *c = text->begin; c < at; c++)
        line += *c == '\n';
    return line;
}

bool sinew_text_fail(const sinew_text *text, const char *at, const char *format, ...)
{
    char reason[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (text->binary)
        sinew_fail(text->error, SINEW_ERROR_FORMAT, "%s: byte %lld: %s", text->name, (long long)(at - text->begin),
                   reason);
    else
        sinew_fail(text->error, SINEW_ERROR_FORMAT, "%s:%lld: %s", text->name, (long long)line_number_of(text, at),
                   reason);
    return false;
}

size_t sinew_text_left(const sinew_text *text)
{
    return (size_t)(text->end - text->at);
}

static bool text_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_comment(sinew_text *text)
{
    while (text->at < text->end && *text->at != '\n')
        text->at++;
}

static void skip_space(sinew_text *text)
{
    while (text->at < text->end) {
        if (text_is_space(*text->at))
            text->at++;
        else if (text->comment && *text->at == text->comment)
            skip_comment(text);
        else
            break;
    }
}

static bool take_token(sinew_text *text, sinew_token *token)
{
    const char *start = text->at;
    while (text->at < text->end && !text_is_space(*text->at) && !(text->comment && *text->at == text->comment))
        text->at++;
    *token = (sinew_token){start, (size_t)(text->at - start)};
    return token->length > 0;
}

bool sinew_text_next(sinew_text *text, sinew_token *token)
{
    skip_space(text);
    return take_token(text, token);
}

bool sinew_text_next_on_line(sinew_text *text, sinew_token *token)
{
    while (text->at < text->end && *text->at != '\n' && text_is_space(*text->at))
        text->at++;
    if (text->at < text->end && text->comment && *text->at == text->comment)
        skip_comment(text);
    if (text->at < text->end && *text->at == '\n') {
        *token = (sinew_token){text->at, 0};
        return false;
    }
    return take_token(text, token);
}

bool sinew_token_is(sinew_token token, const char *word)
{
    return strlen(word) == token.length && memcmp(token.at, word, token.length) == 0;
}

static char ascii_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool sinew_token_is_any_case(sinew_token token, const char *word)
{
    if (strlen(word) != token.length)
        return false;
    for (size_t i = 0; i < token.length; i++)
        if (ascii_lower(token.at[i]) != ascii_lower(word[i]))
            return false;
    return true;
}

void sinew_text_skip_line(sinew_text *text)
{
    const char *newline = memchr(text->at, '\n', sinew_text_left(text));
    text->at = newline ? newline + 1 : text->end;
}

/* Formats a token for an error message: its first 32 characters, unprintable ones as '?'. */
static const char *format_token(sinew_token token, char buffer[40])
{
    if (token.length == 0)
        return "the end of the file";
    size_t length = token.length < 32 ? token.length : 32;
    buffer[0] = '\'';
    for (size_t i = 0; i < length; i++) {
        char c = token.at[i];
        buffer[1 + i] = c > ' ' && c <= '~' ? c : '?';
    }
    snprintf(buffer + 1 + length, 40 - 1 - length, "%s'", length < token.length ? "..." : "");
    return buffer;
}

bool sinew_text_expect(sinew_text *text, const char *word)
{
    sinew_token token;
    char buffer[40];
    if (!sinew_text_next(text, &token) || !sinew_token_is_any_case(token, word))
        return sinew_text_fail(text, token.at, "expected %s, found %s", word, format_token(token, buffer));
    return true;
}

/* Parses digits with an optional sign; false for any other token or a magnitude of 2^63 or more. */
static bool parse_integer(sinew_token token, int64_t *value)
{
    const char *c = token.at;
    const char *end = token.at + token.length;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    if (c == end)
        return false;
    uint64_t magnitude = 0;
    for (; c < end; c++) {
        unsigned digit = (unsigned)(*c - '0');
        if (digit > 9 || magnitude > ((uint64_t)INT64_MAX - digit) / 10)
            return false;
        magnitude = magnitude * 10 + digit;
    }
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

bool sinew_token_integer(const sinew_text *text, sinew_token token, int64_t low, int64_t high, const char *what,
                         int64_t *value)
{
    char buffer[40];
    if (!parse_integer(token, value))
        return sinew_text_fail(text, token.at, "expected %s, found %s", what, format_token(token, buffer));
    if (*value >= low && *value <= high)
        return true;
    if (high == INT64_MAX)
        return sinew_text_fail(text, token.at, "%s must be at least %lld, found %lld", what, (long long)low,
                               (long long)*value);
    if (high < low)
        return sinew_text_fail(text, token.at, "%s is %lld, but there is nothing it could refer to", what,
                               (long long)*value);
    return sinew_text_fail(text, token.at, "%s must lie between %lld and %lld, found %lld", what, (long long)low,
                           (long long)high, (long long)*value);
}

bool sinew_text_integer(sinew_text *text, int64_t low, int64_t high, const char *what, int64_t *value)
{
    sinew_token token;
    sinew_text_next(text, &token);
    return sinew_token_integer(text, token, low, high, what, value);
}

/* Parses the whole token as one number in any form of strtod (exponents, inf, nan); false for any other token. */
static bool parse_real(const sinew_text *text, sinew_token token, double *value)
{
    char *stop = NULL;
    *value = token.length ? strtod_l(token.at, &stop, text->c_locale) : 0;
    return stop && stop == token.at + token.length;
}

static bool token_real(const sinew_text *text, sinew_token token, const char *what, double *value)
{
    char buffer[40];
    if (!parse_real(text, token, value))
        return sinew_text_fail(text, token.at, "expected %s, found %s", what, format_token(token, buffer));
    return true;
}

bool sinew_text_real(sinew_text *text, const char *what, double *value)
{
    sinew_token token;
    sinew_text_next(text, &token);
    return token_real(text, token, what, value);
}

bool sinew_token_coordinate(const sinew_text *text, sinew_token token, sinew_real *value)
{
    char buffer[40];
    double number;
    if (!token_real(text, token, "a coordinate", &number))
        return false;
    *value = (sinew_real)number;
    if (isfinite(*value))
        return true;
    return sinew_text_fail(text, token.at, "the coordinate %s is not a finite " SINEW_PRECISION " precision number",
                           format_token(token, buffer));
}

bool sinew_text_point(sinew_text *text, sinew_real point[3])
{
    for (int axis = 0; axis < 3; axis++) {
        sinew_token token;
        sinew_text_next(text, &token);
        if (!sinew_token_coordinate(text, token, &point[axis]))
            return false;
    }
    return true;
}

bool sinew_text_check_count(const sinew_text *text, const char *at, int64_t count, size_t bytes_each, const char *what)
{
    if (count < 0)
        return sinew_text_fail(text, at, "the number of %s is negative (%lld)", what, (long long)count);
    if ((uint64_t)count > sinew_text_left(text) / (bytes_each ? bytes_each : 1))
        return sinew_text_fail(text, at, "%lld %s are promised, but only %zu bytes follow: the file is cut short",
                               (long long)count, what, sinew_text_left(text));
    return true;
}

bool sinew_text_count(sinew_text *text, size_t bytes_each, const char *what, int64_t *count)
{
    sinew_token token;
    char buffer[40];
    sinew_text_next(text, &token);
    if (!parse_integer(token, count))
        return sinew_text_fail(text, token.at, "expected the number of %s, found %s", what,
                               format_token(token, buffer));
    return sinew_text_check_count(text, token.at, *count, bytes_each, what);
}

bool sinew_text_block(sinew_text *text, int64_t count, size_t size, const char *what, const unsigned char **block)
{
    if (count < 0 || (uint64_t)count > sinew_text_left(text) / size)
        return sinew_text_fail(text, text->at, "%lld %s of %zu bytes each are due here, but only %zu bytes follow",
                               (long long)count, what, size, sinew_text_left(text));
    *block = (const unsigned char *)text->at;
    text->at += (size_t)count * size;
    return true;
}
