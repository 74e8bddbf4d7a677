/* SPDX-License-Identifier: MIT
 *
 * dense_single.h: the dense parts of a factorisation with every operation rounded to 32 bits, to see what that does.
 */
#ifndef SINEW_DENSE_SINGLE_H
#define SINEW_DENSE_SINGLE_H

#include "math/dense.h"

/* product and factorise alone: L is made of them, and solved with by panels (math/panel.h). Numbers are doubles that
 * floats could hold; their bits are the same on every processor. */
extern const sinew_dense_kernels sinew_dense_single;

#endif
