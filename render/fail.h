/* SPDX-License-Identifier: MIT
 *
 * fail.h: errors of render/: a status and one line of text.
 */
#ifndef SINEW_RENDER_FAIL_H
#define SINEW_RENDER_FAIL_H

#include "sinew/types.h"

/* Fills the error of a picture function (may be NULL) and returns the status. */
sinew_status picture_fail(sinew_error *error, sinew_status status, const char *format, ...) SINEW_PRINTF(3, 4);
/* Fills an error with SINEW_ERROR_MEMORY for the named object. */
sinew_status picture_fail_memory(sinew_error *error, const char *what);

#endif
