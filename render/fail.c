/* SPDX-License-Identifier: MIT
 *
 * fail.c: fills errors of render/: a status and one line of text.
 */
#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

sinew_status picture_fail(sinew_error *error, sinew_status status, const char *format, ...)
{
    if (error) {
        error->status = status;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

sinew_status picture_fail_memory(sinew_error *error, const char *what)
{
    return picture_fail(error, SINEW_ERROR_MEMORY, "out of memory for %s", what);
}
