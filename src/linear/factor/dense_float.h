/* SPDX-License-Identifier: MIT
 *
 * dense_float.h: the dense parts of a factorisation with every operation rounded to 32 bits, to see what that does.
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_DENSE_FLOAT_H
#define SINEW_SRC_LINEAR_FACTOR_DENSE_FLOAT_H

#include "math/dense.h"

/* product and factorise alone: L is made of them, and solved with by panels (math/panel_solve.h). Numbers are doubles that
 * floats could hold; their bits are the same on every processor. */
extern const sinew_dense_kernels sinew_dense_single;

#endif
