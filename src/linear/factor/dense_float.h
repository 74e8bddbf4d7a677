/* SPDX-License-Identifier: MIT
 *
 * dense_float.h: the dense kernels of a factorisation (math/dense.h) with every operation rounded to 32 bits, for
 * measurements of the effect of a factor in single precision (parameter `factor` of pd).
 */
#ifndef SINEW_SRC_LINEAR_FACTOR_DENSE_FLOAT_H
#define SINEW_SRC_LINEAR_FACTOR_DENSE_FLOAT_H

#include "math/dense.h"

/* Only the kernels product and factorise are set. They compute L; solves use math/supernode_solve.h. All numbers are
 * doubles with a value that a float represents exactly; the bits are the same on every processor. */
extern const sinew_dense_kernels sinew_dense_single;

#endif
