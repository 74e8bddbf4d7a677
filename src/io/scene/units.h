/* SPDX-License-Identifier: MIT
 *
 * units.h: numbers with units in scene files.
 */
#ifndef SINEW_SRC_IO_SCENE_UNITS_H
#define SINEW_SRC_IO_SCENE_UNITS_H

#include <locale.h>

#include "base/base.h"

typedef enum sinew_dimension {
    SINEW_DIMENSION_NONE = 0, /* dimensionless quantity: takes no unit */
    SINEW_DIMENSION_LENGTH,
    SINEW_DIMENSION_TIME,
    SINEW_DIMENSION_MASS,
    SINEW_DIMENSION_ANGLE,
    SINEW_DIMENSION_PRESSURE,
    SINEW_DIMENSION_FORCE,
    SINEW_DIMENSION_STIFFNESS,
    SINEW_DIMENSION_SPEED,
    SINEW_DIMENSION_SPIN,
    SINEW_DIMENSION_ACCELERATION,
    SINEW_DIMENSION_RATE,
    SINEW_DIMENSION_VOLUME_DENSITY,
    SINEW_DIMENSION_AREA_DENSITY,
    SINEW_DIMENSION_LINE_DENSITY,
    SINEW_DIMENSION_MOMENT,
    SINEW_DIMENSION_RIGIDITY, /* bending or torsional rigidity of a rod, in N m2 */
    SINEW_DIMENSION_CURVATURE,
    SINEW_DIMENSION_MEMORY,
    SINEW_DIMENSION_OTHER, /* dimension of an SI unit that is not in the table of units */
    SINEW_DIMENSION_COUNT
} sinew_dimension;

typedef struct sinew_unit {
    const char *name;
    sinew_dimension dimension;
    double factor; /* value of one unit, in SI units of its dimension */
} sinew_unit;

const sinew_unit *sinew_unit_by_name(const char *name); /* returns the unit with this name; NULL: none */
/* The dimension of an SI unit as descriptors write it ("Pa", "m/s2"); "" gives NONE. */
sinew_dimension sinew_unit_dimension(const char *name);
/* name of a dimension for error messages, e.g. "a length" */
const char *sinew_dimension_name(sinew_dimension dimension);
/* Writes the names of all units of a dimension to `text`, for example "s, ms, us, min". */
void sinew_dimension_units(sinew_dimension dimension, char *text, size_t size);

/* Reads the JSON number at the start of `text` ("1.5 MPa") and returns the text after it and spaces ("MPa"); NULL if
 * there is no number. The decimal separator depends on `locale`: pass the C locale. */
const char *sinew_split_number(const char *text, locale_t locale, double *number);

#endif
