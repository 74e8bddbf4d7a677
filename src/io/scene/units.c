/* SPDX-License-Identifier: MIT
 *
 * units.c: the table of units, and the parser of numbers with units.
 */
#include "io/scene/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Units of scene files. The SI unit of each dimension is first; names are unique over the table. */
static const sinew_unit units[] = {
    {"m", SINEW_DIMENSION_LENGTH, 1},
    {"cm", SINEW_DIMENSION_LENGTH, 1e-2},
    {"mm", SINEW_DIMENSION_LENGTH, 1e-3},
    {"um", SINEW_DIMENSION_LENGTH, 1e-6},
    {"km", SINEW_DIMENSION_LENGTH, 1e3},
    {"in", SINEW_DIMENSION_LENGTH, 0.0254},
    {"ft", SINEW_DIMENSION_LENGTH, 0.3048},
    {"s", SINEW_DIMENSION_TIME, 1},
    {"ms", SINEW_DIMENSION_TIME, 1e-3},
    {"us", SINEW_DIMENSION_TIME, 1e-6},
    {"min", SINEW_DIMENSION_TIME, 60},
    {"kg", SINEW_DIMENSION_MASS, 1},
    {"g", SINEW_DIMENSION_MASS, 1e-3},
    {"mg", SINEW_DIMENSION_MASS, 1e-6},
    {"t", SINEW_DIMENSION_MASS, 1e3},
    {"rad", SINEW_DIMENSION_ANGLE, 1},
    {"deg", SINEW_DIMENSION_ANGLE, 3.14159265358979323846 / 180},
    {"turn", SINEW_DIMENSION_ANGLE, 2 * 3.14159265358979323846},
    {"Pa", SINEW_DIMENSION_PRESSURE, 1},
    {"kPa", SINEW_DIMENSION_PRESSURE, 1e3},
    {"MPa", SINEW_DIMENSION_PRESSURE, 1e6},
    {"GPa", SINEW_DIMENSION_PRESSURE, 1e9},
    {"N", SINEW_DIMENSION_FORCE, 1},
    {"mN", SINEW_DIMENSION_FORCE, 1e-3},
    {"kN", SINEW_DIMENSION_FORCE, 1e3},
    {"N/m", SINEW_DIMENSION_STIFFNESS, 1},
    {"kN/m", SINEW_DIMENSION_STIFFNESS, 1e3},
    {"N/cm", SINEW_DIMENSION_STIFFNESS, 1e2},
    {"N/mm", SINEW_DIMENSION_STIFFNESS, 1e3},
    {"m/s", SINEW_DIMENSION_SPEED, 1},
    {"cm/s", SINEW_DIMENSION_SPEED, 1e-2},
    {"mm/s", SINEW_DIMENSION_SPEED, 1e-3},
    {"km/h", SINEW_DIMENSION_SPEED, 1 / 3.6},
    {"rad/s", SINEW_DIMENSION_SPIN, 1},
    {"deg/s", SINEW_DIMENSION_SPIN, 3.14159265358979323846 / 180},
    {"m/s2", SINEW_DIMENSION_ACCELERATION, 1},
    {"cm/s2", SINEW_DIMENSION_ACCELERATION, 1e-2},
    {"1/s", SINEW_DIMENSION_RATE, 1},
    {"kg/m3", SINEW_DIMENSION_VOLUME_DENSITY, 1},
    {"g/cm3", SINEW_DIMENSION_VOLUME_DENSITY, 1e3},
    {"kg/m2", SINEW_DIMENSION_AREA_DENSITY, 1},
    {"g/m2", SINEW_DIMENSION_AREA_DENSITY, 1e-3},
    {"kg/m", SINEW_DIMENSION_LINE_DENSITY, 1},
    {"g/m", SINEW_DIMENSION_LINE_DENSITY, 1e-3},
    {"N m", SINEW_DIMENSION_MOMENT, 1},
    {"mN m", SINEW_DIMENSION_MOMENT, 1e-3},
    {"kN m", SINEW_DIMENSION_MOMENT, 1e3},
    {"N m2", SINEW_DIMENSION_RIGIDITY, 1},
    {"N cm2", SINEW_DIMENSION_RIGIDITY, 1e-4},
    {"N mm2", SINEW_DIMENSION_RIGIDITY, 1e-6},
    {"kN m2", SINEW_DIMENSION_RIGIDITY, 1e3},
    {"1/m", SINEW_DIMENSION_CURVATURE, 1},
    {"1/cm", SINEW_DIMENSION_CURVATURE, 1e2},
    {"1/mm", SINEW_DIMENSION_CURVATURE, 1e3},
    {"B", SINEW_DIMENSION_MEMORY, 1},
    {"kB", SINEW_DIMENSION_MEMORY, 1e3},
    {"MB", SINEW_DIMENSION_MEMORY, 1e6},
    {"GB", SINEW_DIMENSION_MEMORY, 1e9},
    {"MiB", SINEW_DIMENSION_MEMORY, 1048576},
    {"GiB", SINEW_DIMENSION_MEMORY, 1073741824},
};
enum {
    UNIT_COUNT = sizeof units / sizeof units[0]
};

const sinew_unit *sinew_unit_by_name(const char *name)
{
    for (int i = 0; i < UNIT_COUNT; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

sinew_dimension sinew_unit_dimension(const char *name)
{
    if (!name || !*name)
        return SINEW_DIMENSION_NONE;
    const sinew_unit *unit = sinew_unit_by_name(name);
    return unit ? unit->dimension : SINEW_DIMENSION_OTHER;
}

const char *sinew_dimension_name(sinew_dimension dimension)
{
    static const char *const names[SINEW_DIMENSION_COUNT] = {"a pure number",
                                                             "a length",
                                                             "a time",
                                                             "a mass",
                                                             "an angle",
                                                             "a pressure",
                                                             "a force",
                                                             "a stiffness",
                                                             "a speed",
                                                             "an angular speed",
                                                             "an acceleration",
                                                             "a rate",
                                                             "a density by volume",
                                                             "a density by area",
                                                             "a density by length",
                                                             "a moment",
                                                             "a rigidity of a rod",
                                                             "a curvature",
                                                             "a number of bytes",
                                                             "something else"};
    return (unsigned)dimension < SINEW_DIMENSION_COUNT ? names[dimension] : names[SINEW_DIMENSION_OTHER];
}

void sinew_dimension_units(sinew_dimension dimension, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < UNIT_COUNT && used < size; i++)
        if (units[i].dimension == dimension)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", units[i].name);
}

static const char *skip_digits(const char *text)
{
    return text + strspn(text, "0123456789");
}

const char *sinew_split_number(const char *text, locale_t locale, double *number)
{
    const char *digits = text + (*text == '-'), *end = skip_digits(digits);
    if (end == digits)
        return NULL;
    if (*end == '.' && skip_digits(end + 1) > end + 1)
        end = skip_digits(end + 1);
    const char *exponent = end + 1;
    if (*end == 'e' || *end == 'E') {
        exponent += *exponent == '-' || *exponent == '+';
        if (skip_digits(exponent) > exponent)
            end = skip_digits(exponent);
    }
    char *stop;
    *number = strtod_l(text, &stop, locale);
    if (stop != end)
        return NULL; /* strtod accepts more forms of numbers (0x1p3) than JSON */
    return end + strspn(end, " ");
}
