/* SPDX-License-Identifier: MIT
 *
 * linear_methods.c: registers LU and QR with the library (linear_methods.h). SINEW_WITH_LU_QR is defined where UMFPACK
 * and SPQR are installed.
 */
#include "linear_methods.h"

#include <stdio.h>

sinew_status linear_method_fail(sinew_error *error, sinew_status status, const char *what, const char *why)
{
    error->status = status;
    snprintf(error->text, sizeof error->text, "%s: %s", what, why);
    return status;
}

bool linear_methods_register(void)
{
#ifdef SINEW_WITH_LU_QR
    return sinew_linear_method_register(&linear_method_lu, NULL) == SINEW_OK &&
           sinew_linear_method_register(&linear_method_qr, NULL) == SINEW_OK;
#else
    return false;
#endif
}
