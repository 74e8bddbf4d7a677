/* SPDX-License-Identifier: MIT
 *
 * parameter.c: checks the range of parameters of energies and solvers. See parameter.h.
 */
#include "energy/parameter.h"

#include <math.h>

sinew_status sinew_parameter_check(const sinew_parameter *parameter, double value, const char *owner,
                                   sinew_error *error)
{
    bool above = parameter->open_minimum ? value > parameter->minimum : value >= parameter->minimum;
    bool below = parameter->open_maximum ? value < parameter->maximum : value <= parameter->maximum;
    if (parameter->choices && value != floor(value))
        above = false;
    if (above && below && isfinite(value))
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_DATA, "%s: %s is %g%s%s, must be in %c%g, %g%c", owner, parameter->name, value,
                      parameter->unit[0] ? " " : "", parameter->unit, parameter->open_minimum ? '(' : '[',
                      parameter->minimum, parameter->maximum, parameter->open_maximum ? ')' : ']');
}
