/* SPDX-License-Identifier: MIT
 *
 * linear_methods.h: LU and QR for newton and linear-implicit (sinew/linear.h), from SuiteSparse. UMFPACK and SPQR are
 * under the GPL, so the library does not contain them: the program of the experiments and tests register them.
 */
#ifndef SINEW_EXPERIMENTS_LINEAR_METHODS_H
#define SINEW_EXPERIMENTS_LINEAR_METHODS_H

#include <sinew/linear.h>
#include <stdbool.h>

extern const sinew_linear_method linear_method_lu, linear_method_qr;

/* Registers LU and QR; returns false if the program was built without UMFPACK and SPQR. */
bool linear_methods_register(void);

/* Fills *error with "what: why" for a failed linear method; returns the status. */
sinew_status linear_method_fail(sinew_error *error, sinew_status status, const char *what, const char *why);

#endif
