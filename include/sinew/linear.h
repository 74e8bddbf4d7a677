/* SPDX-License-Identifier: MIT
 *
 * sinew/linear.h: direct solvers of indefinite linear systems that a program adds to the library.
 *
 * The option `linear` of `newton` and `linear-implicit` accepts lu and qr. The library contains neither, because the
 * known implementations are under the GPL. A program that links one registers it with this header; sinew-reproduce
 * registers UMFPACK and SPQR (experiments/linear/). Without registration, a world whose solver is set to lu or qr
 * cannot step.
 */
#ifndef SINEW_LINEAR_H
#define SINEW_LINEAR_H

#include "sinew/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Factorisation of a symmetric, possibly indefinite, sparse matrix A [n][n], n > 0. All operations are required. An
 * operation that fails fills *error (never NULL) and returns its status; SINEW_ERROR_NUMERIC: A is singular. */
typedef struct sinew_linear_method {
    const char *name; /* name of the linear method: "lu" or "qr" */
    /* Analyses the pattern of A. Both triangles are given by columns: column [n + 1], row [column[n]] ascending in
     * each column; both arrays are valid until destroy. Returns the factors, NULL on failure. */
    void *(*create)(int64_t n, const int64_t *column, const int64_t *row, sinew_error *error);
    /* Factorises A with the entries value [column[n]], which are unchanged until the next factorise or destroy. Called
     * again for new values. */
    sinew_status (*factorise)(void *factors, const double *value, sinew_error *error);
    /* Solves A x = b, with b [n] and x [n]; the arrays do not overlap. */
    sinew_status (*solve)(void *factors, const double *b, double *x, sinew_error *error);
    void (*destroy)(void *factors);
} sinew_linear_method;

/* Registers a direct linear solver. The library keeps the pointer until the process ends. A later method of the same
 * name replaces it for worlds that are prepared afterwards. May be called from any thread. SINEW_ERROR_USAGE: the
 * name is not lu or qr, or an operation is missing. */
SINEW_API sinew_status sinew_linear_method_register(const sinew_linear_method *method, sinew_error *error);

#ifdef __cplusplus
}
#endif

#endif
