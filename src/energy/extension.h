/* SPDX-License-Identifier: MIT
 *
 * extension.h: energies of sinew/extend.h as entries of the registry. The kernels of a registered energy loop over the
 * elements of a batch, of any SIMD width, and call the program's functions for one element at a time.
 *
 * Operations of energies have no context: data[1] of each element holds the slot of its extension.
 */
#ifndef SINEW_SRC_ENERGY_EXTENSION_H
#define SINEW_SRC_ENERGY_EXTENSION_H

#include "energy/energy.h"
#include "sinew/extend.h"

/* Indices of the element data that precede the numbers of the extension. */
enum {
    EXTENSION_WEIGHT = 0,
    EXTENSION_SLOT = 1,
    /* tets: 1 / det of the rest edges; vertex-element incidences: index of the node in its element */
    EXTENSION_SHAPE = 2,
    EXTENSION_HEAD = 3
};
_Static_assert(EXTENSION_HEAD + SINEW_EXTENSION_DATA_MAX <= SINEW_DATA_MAX, "data of an extension fit");
_Static_assert(SINEW_EXTENSION_VERTEX_MAX <= SINEW_STENCIL_MAX, "vertices of an extension fit");

/* One element of a registered energy: its extension, data and positions, in double precision. */
typedef struct sinew_extension_view {
    const sinew_energy_extension *of;
    int32_t n; /* number of vertices of the element */
    double weight, shape;
    double data[SINEW_EXTENSION_DATA_MAX];
    double x[3 * SINEW_EXTENSION_VERTEX_MAX];
} sinew_extension_view;

/* Returns the extension registered in a slot, and sets its number of vertices. */
const sinew_energy_extension *sinew_extension_at(int slot, int32_t *vertex_count);

/* Fills the operations for batches of width one or of the width of the process, by capabilities of the extension
 * (extension_kernels.c). The caller sets info, stencil and `prepare`. */
void sinew_extension_operations(sinew_energy_ops *ops, const sinew_energy_extension *of, int32_t n, bool scalar);

/* Replaces A [n][n], symmetric, n <= 3 SINEW_EXTENSION_VERTEX_MAX, by the nearest positive semi-definite matrix. */
void sinew_extension_clamp(double *A, int n);

/* Returns NULL, or the error in the definition of an extension, e.g. "operation value is missing" (extension_check.c).
 * Errors with names or numbers are written to text [SINEW_EXTENSION_REASON_MAX]. */
const char *sinew_extension_flaw(const sinew_energy_extension *of, char *text);
/* Returns NULL, or the error in a registered name; `dashes`: it may contain '-'. Also used for solvers. */
const char *sinew_extension_name_flaw(const char *name, bool dashes);
/* Returns NULL, or the error in the parameter descriptors of an extension, written to text
 * [SINEW_EXTENSION_REASON_MAX]. `keys`: words, each between two '|', that scene files use for other purposes. */
const char *sinew_extension_parameter_flaw(const sinew_parameter *parameters, int32_t count, const char *keys,
                                           char *text);

#endif
