/* SPDX-License-Identifier: MIT
 *
 * base64.c: decodes base64: four characters of six bits give three bytes; '=' pads the last group.
 */
#include "io/mesh/base64.h"

/* The six bits that a base64 character encodes, or -1 for a character outside the alphabet. */
static int sextet(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Reads the next group of four base64 characters; returns its number of bytes (1 to 3), or 0 if the group is
 * invalid. */
static int take_group(const char **at, const char *end, uint32_t *group)
{
    int digits = 0, padding = 0;
    *group = 0;
    while (digits + padding < 4) {
        if (*at == end)
            return 0;
        char c = *(*at)++;
        if (is_blank(c))
            continue;
        int bits = c == '=' ? 0 : sextet(c);
        if (bits < 0 || (padding > 0 && c != '='))
            return 0;
        *group = *group << 6 | (uint32_t)bits;
        padding += c == '=';
        digits += c != '=';
    }
    return padding > 2 ? 0 : 3 - padding;
}

int sinew_base64_group(const char **at, const char *end, unsigned char out[3])
{
    uint32_t group;
    int count = take_group(at, end, &group);
    for (int k = 0; k < count; k++)
        out[k] = (unsigned char)(group >> (16 - 8 * k));
    return count;
}

size_t sinew_base64_capacity(size_t length)
{
    return length / 4 * 3;
}

bool sinew_base64_decode(const char **at, const char *end, unsigned char *out, size_t size)
{
    size_t done = 0;
    while (done < size) {
        unsigned char bytes[3];
        int count = sinew_base64_group(at, end, bytes);
        for (int k = 0; k < count && done < size; k++)
            out[done++] = bytes[k];
        /* Padding ends the encoded data, so the missing bytes do not follow. */
        if (count < 3 && done < size)
            return false;
    }
    return true;
}
