/* SPDX-License-Identifier: MIT
 *
 * json.c: writes JSON in cache files, independent of the locale.
 */
#include "io/cache/json.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

/* Checks UTF-8 by RFC 3629: shortest form, no surrogates. */
bool sinew_is_utf8(const char *text)
{
    static const uint32_t min[4] = {0, 0x80, 0x800, 0x10000};
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        int tail = *s < 0x80 ? 0 : *s >> 5 == 0x6 ? 1 : *s >> 4 == 0xe ? 2 : *s >> 3 == 0x1e ? 3 : -1;
        if (tail < 0)
            return false;
        uint32_t code = tail ? *s & (0x3fu >> tail) : *s;
        s++;
        for (int i = 0; i < tail; i++, s++) {
            if (*s >> 6 != 0x2)
                return false;
            code = code << 6 | (*s & 0x3fu);
        }
        if (code < min[tail] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
    }
    return true;
}

/* Writes JSON to a stream. Returns false and sets errno on failure. jansson cannot replace a decimal point of several
 * bytes, so the C locale is set. */
static bool dump_json(const json_t *root, size_t flags, FILE *stream)
{
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
    if (!plain)
        return false;
    locale_t before = uselocale(plain);
    errno = ENOMEM; /* if the stream has no error, the only other cause of a failed dump is memory */
    bool good = json_dumpf(root, stream, flags) == 0;
    int reason = errno;
    uselocale(before);
    freelocale(plain);
    errno = reason;
    return good;
}

sinew_status sinew_cache_put_json(sinew_writer *writer, const json_t *root, size_t flags, sinew_error *error)
{
    if (dump_json(root, flags, writer->stream))
        return SINEW_OK;
    return sinew_fail(error, errno == ENOMEM ? SINEW_ERROR_MEMORY : SINEW_ERROR_FILE, "%s: cannot write: %s",
                      writer->path, strerror(errno));
}
