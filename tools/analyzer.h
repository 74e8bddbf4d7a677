/* SPDX-License-Identifier: MIT
 *
 * analyzer.h: facts that clang's analyzer cannot derive from one file: sinew_fail() returns the status that it gets,
 * and a failed assertion is false. tools/lint includes it before every file but base.c; it is not part of any build.
 */
#include "base/base.h"

#define sinew_fail(error, status, ...) (sinew_fail(error, status, __VA_ARGS__), (status))
#define sinew_fail_memory(error, what) (sinew_fail_memory(error, what), SINEW_ERROR_MEMORY)
#undef SINEW_ASSERT
#define SINEW_ASSERT(condition) (condition)
