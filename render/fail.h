/* SPDX-License-Identifier: MIT
 *
 * fail.h: how render/ says no: a status and one line.
 */
#ifndef SINEW_RENDER_FAIL_H
#define SINEW_RENDER_FAIL_H

#include "sinew/types.h"

/* Fills the error (may be NULL) and returns the status. */
sinew_status picture_fail(sinew_error *error, sinew_status status, const char *format, ...) SINEW_PRINTF(3, 4);
/* Out of memory for what is named. */
sinew_status picture_fail_memory(sinew_error *error, const char *what);

#endif
