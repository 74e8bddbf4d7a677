/* SPDX-License-Identifier: MIT
 *
 * analyzer.h: what clang's analyzer cannot see from within one file: that a failure returns the status it was given,
 * and that a failed assertion is false. Included before every file but base.c by tools/lint; not part of any build.
 */
#include "base/base.h"

#define sinew_fail(error, status, ...) (sinew_fail(error, status, __VA_ARGS__), (status))
#define sinew_fail_memory(error, what) (sinew_fail_memory(error, what), SINEW_ERROR_MEMORY)
#undef SINEW_ASSERT
#define SINEW_ASSERT(condition) (condition)
