/* SPDX-License-Identifier: MIT
 *
 * field.h: values at particles and in tets that set the colours of surfaces.
 */
#ifndef SINEW_RENDER_FIELD_H
#define SINEW_RENDER_FIELD_H

#include "picture.h"

typedef struct picture_field {
    /* [particle_count] value of each particle, NaN: no value; NULL: bodies have their own colours */
    float *at_particle;
    float *at_tet;       /* [tets of all bodies] values of fields of elements, else NULL */
    int64_t *first_tet;  /* [body_count] index of each body's first tet */
    int32_t class_count; /* number of classes of SINEW_COLOUR_CLASS */
} picture_field;

/* Computes the values of a zeroed field. The caller frees the field after a failure too. */
sinew_status picture_field_take(sinew_world *world, const sinew_snapshot_def *def, picture_field *field,
                                sinew_error *error);
void picture_field_free(picture_field *field);

#endif
