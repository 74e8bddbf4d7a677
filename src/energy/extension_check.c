/* SPDX-License-Identifier: MIT
 *
 * extension_check.c: checks the definition of an energy extension, and the consistency of its functions.
 *
 * Derivatives are compared with central differences of fourth order,
 * f'(x) = (8 (f(x+s) - f(x-s)) - (f(x+2s) - f(x-2s))) / (12 s), whose error is s^4 f''''' / 30 and round-off / s.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "energy/extension.h"
#include "energy/parameter.h"

enum {
    VERTEX_MAX = SINEW_EXTENSION_VERTEX_MAX,
    ROW_MAX = SINEW_EXTENSION_ROW_MAX,
    SIDE_MAX = 3 * VERTEX_MAX
};

/* ---- Checks of a definition before registration -------------------------------------------------- */

/* Formats the reason of a refusal into text [SINEW_EXTENSION_REASON_MAX] and returns text. */
static const char *write_flaw(char *text, const char *format, ...) SINEW_PRINTF(2, 3);
static const char *write_flaw(char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, SINEW_EXTENSION_REASON_MAX, format, arguments);
    va_end(arguments);
    return text;
}

const char *sinew_extension_name_flaw(const char *name, bool dashes)
{
    if (!name || !name[0])
        return "its name is missing";
    if (strlen(name) > 40)
        return "its name is longer than 40 characters";
    if (strspn(name, dashes ? "abcdefghijklmnopqrstuvwxyz0123456789_-" : "abcdefghijklmnopqrstuvwxyz0123456789_") !=
        strlen(name))
        return dashes ? "its name has other characters than lower-case letters, digits, '_' and '-'"
                      : "its name has other characters than lower-case letters, digits and '_'";
    return NULL;
}

/* Returns NULL, or the text that a count of the extension is out of its range. */
static const char *count_flaw(const char *name, int32_t count, int32_t minimum, int32_t maximum, char *text)
{
    if (count >= minimum && count <= maximum)
        return NULL;
    return write_flaw(text, "%s is %d, must be in [%d, %d]", name, (int)count, (int)minimum, (int)maximum);
}

/* Whether a word without '|' is in the list `keys`, in which each key stands between two '|'. */
static bool is_key(const char *word, const char *keys)
{
    const size_t length = strlen(word);
    for (const char *at = strstr(keys, word); at && length > 0; at = strstr(at + 1, word))
        if (at[-1] == '|' && at[length] == '|')
            return true;
    return false;
}

/* Returns NULL, or the reason why descriptor i of the extension's parameters is refused. */
static const char *one_parameter_flaw(const sinew_parameter *parameters, int32_t i, const char *keys, char *text)
{
    const sinew_parameter *p = &parameters[i];
    sinew_error error;
    if (!p->name || !p->name[0])
        return write_flaw(text, "parameter %d has no name", (int)i);
    if (strspn(p->name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(p->name))
        return write_flaw(text, "parameter '%s' has other characters in its name than letters, digits, '_' and '-'",
                          p->name);
    if (!p->unit || !p->meaning)
        return write_flaw(text, "parameter '%s' has no %s", p->name, p->unit ? "meaning" : "unit");
    if (is_key(p->name, keys))
        return write_flaw(text, "parameter '%s' has the name of a key that scene files have for other purposes",
                          p->name);
    for (int32_t k = 0; k < i; k++)
        if (strcmp(parameters[k].name, p->name) == 0)
            return write_flaw(text, "parameters %d and %d are both named '%s'", (int)k, (int)i, p->name);
    return sinew_parameter_check(p, p->preset, "default value", &error) != SINEW_OK ? write_flaw(text, "%s", error.text)
                                                                                    : NULL;
}

const char *sinew_extension_parameter_flaw(const sinew_parameter *parameters, int32_t count, const char *keys,
                                           char *text)
{
    const char *flaw = count_flaw("parameter_count", count, 0, SINEW_PARAMETER_MAX, text);
    if (!flaw && count > 0 && !parameters)
        flaw = "its parameters are missing";
    for (int32_t i = 0; !flaw && i < count; i++)
        flaw = one_parameter_flaw(parameters, i, keys, text);
    return flaw;
}

static const char *required_flaw(const sinew_energy_extension *of)
{
    if (!of->prepare)
        return "operation prepare is missing";
    if (!of->value)
        return "operation value is missing";
    if (!of->gradient)
        return "operation gradient is missing";
    return of->hessian ? NULL : "operation hessian is missing";
}

static const char *optional_flaw(const sinew_energy_extension *of, char *text)
{
    if (of->constraint && count_flaw("constraint_count", of->constraint_count, 1, ROW_MAX, text))
        return text;
    if (!of->constraint && of->constraint_count != 0)
        return "operation constraint is missing, and constraint_count is not 0";
    if (of->reduce && !of->stiffness)
        return "operation stiffness is missing, which reduce needs";
    if (of->stiffness && !of->reduce)
        return "operation reduce is missing, which stiffness needs";
    if (of->project && !of->reduce)
        return "operations reduce and stiffness are missing, which project needs";
    if (of->reduce && count_flaw("reduced_count", of->reduced_count, 1, ROW_MAX, text))
        return text;
    return !of->reduce && of->reduced_count != 0 ? "operation reduce is missing, and reduced_count is not 0" : NULL;
}

static const char *stencil_flaw(const sinew_energy_extension *of, char *text)
{
    const sinew_stencil_info *stencil = sinew_get_stencil(of->stencil);
    if (of->stencil == SINEW_STENCIL_COUNT)
        return count_flaw("vertex_count", of->vertex_count, 1, VERTEX_MAX, text);
    if (!stencil || (unsigned)of->stencil > SINEW_STENCIL_COUNT)
        return "its stencil is not known";
    if (stencil->padded)
        return "cells of its stencil differ in size; list elements with SINEW_STENCIL_COUNT";
    if (of->vertex_count == 0 || of->vertex_count == stencil->vertex_count)
        return NULL;
    return write_flaw(text, "vertex_count is %d, must be 0 or that of its stencil, %d", (int)of->vertex_count,
                      (int)stencil->vertex_count);
}

/* Keys of energies in scene files, for energies of one body and between bodies (io/scene/keys.c); parameters may not
 * use them. */
static const char energy_keys[] =
    "|energy|select|damping|hard|pbd_stiffness|motion|examples|bodies|within|to|pairs|surface|normal|at|axis|";

const char *sinew_extension_flaw(const sinew_energy_extension *of, char *text)
{
    if (!of || of->cookie != SINEW_EXTENSION_COOKIE)
        return "it was not made by sinew_default_energy_extension()";
    if (of->size != sizeof *of)
        return "it was compiled with another version of sinew/extend.h than the library";
    const char *flaw = sinew_extension_name_flaw(of->name, false);
    if (!flaw && !of->summary)
        flaw = "its summary is missing";
    if (!flaw)
        flaw = stencil_flaw(of, text);
    if (!flaw)
        flaw = sinew_extension_parameter_flaw(of->parameters, of->parameter_count, energy_keys, text);
    if (!flaw)
        flaw = count_flaw("data_count", of->data_count, 0, SINEW_EXTENSION_DATA_MAX, text);
    if (!flaw)
        flaw = required_flaw(of);
    return flaw ? flaw : optional_flaw(of, text);
}

/* ---- Consistency of an extension's functions ----------------------------------------------------- */

typedef struct extension_check {
    const sinew_energy_extension *of;
    int n;
    double step; /* step of the difference quotients in positions, in m */
    double data[SINEW_EXTENSION_DATA_MAX];
    double x[SIDE_MAX];
} extension_check;

/* A function of the element's positions x that writes several numbers to `out`. */
typedef void check_function(const extension_check *check, const double *x, double *out);

static void check_value(const extension_check *check, const double *x, double *out)
{
    out[0] = check->of->value(check->of->context, check->data, x);
}

static void check_gradient(const extension_check *check, const double *x, double *out)
{
    check->of->gradient(check->of->context, check->data, x, out);
}

static void check_constraint_values(const extension_check *check, const double *x, double *out)
{
    double gradient[ROW_MAX * SIDE_MAX], alpha[ROW_MAX];
    check->of->constraint(check->of->context, check->data, x, out, gradient, alpha);
}

/* slopes [count] = derivatives of a function's outputs by coordinate i, from central differences. */
static void check_slopes(const extension_check *check, check_function *function, int count, int i, double *slopes)
{
    static const double places[4] = {1, -1, 2, -2}, factors[4] = {8, -8, -1, 1};
    double x[SIDE_MAX], out[SIDE_MAX];
    memset(slopes, 0, (size_t)count * sizeof *slopes);
    for (int k = 0; k < 4; k++) {
        memcpy(x, check->x, sizeof x);
        x[i] += places[k] * check->step;
        function(check, x, out);
        for (int r = 0; r < count; r++)
            slopes[r] += factors[k] * out[r] / (12 * check->step);
    }
}

/* Largest difference between the given derivatives [r][i] and difference quotients of output r, over the largest entry;
 * NaN if a difference is not finite. */
static double check_derivative(const extension_check *check, check_function *function, int count, const double *given)
{
    const int side = 3 * check->n;
    double largest = 0, error = 0, slopes[SIDE_MAX];
    for (int i = 0; i < side; i++) {
        check_slopes(check, function, count, i, slopes);
        for (int r = 0; r < count; r++) {
            const double difference = fabs(given[r * side + i] - slopes[r]);
            if (!isfinite(difference))
                return NAN;
            error = fmax(error, difference);
            largest = fmax(largest, fmax(fabs(given[r * side + i]), fabs(slopes[r])));
        }
    }
    return largest > 0 ? error / largest : 0;
}

static double element_extent(const double *x, int n)
{
    double size = 0;
    for (int i = 0; i < 3 * n; i++)
        size = fmax(size, fabs(x[i] - x[i % 3]));
    return size > 0 ? size : 1;
}

static double largest_magnitude(const double *x, int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(x[i]));
    return largest;
}

/* Relative difference between psi from the extension's constraints and psi from `value`, both minus their values at
 * rest. */
static double check_constraint_energy(const extension_check *check, const double *rest)
{
    const double *at[2] = {check->x, rest};
    double psi[2] = {0, 0}, value[2], C[ROW_MAX], gradient[ROW_MAX * SIDE_MAX], alpha[ROW_MAX];
    for (int k = 0; k < 2; k++) {
        check->of->constraint(check->of->context, check->data, at[k], C, gradient, alpha);
        for (int i = 0; i < check->of->constraint_count; i++)
            psi[k] += C[i] * C[i] / (2 * alpha[i]);
        value[k] = check->of->value(check->of->context, check->data, at[k]);
    }
    const double scale = fmax(fabs(value[0] - value[1]), fabs(psi[0] - psi[1]));
    return scale > 0 ? fabs(psi[0] - psi[1] - value[0] + value[1]) / scale : 0;
}

static void check_constraint(const extension_check *check, const double *rest, sinew_extension_report *report)
{
    double C[ROW_MAX], gradient[ROW_MAX * SIDE_MAX], alpha[ROW_MAX];
    if (!check->of->constraint)
        return;
    check->of->constraint(check->of->context, check->data, check->x, C, gradient, alpha);
    report->constraint = check_constraint_energy(check, rest);
    report->jacobian = check_derivative(check, check_constraint_values, check->of->constraint_count, gradient);
}

/* Measures net force and net moment of an element: both vanish if the energy is invariant under translation and
 * rotation. */
static void check_rigid(const extension_check *check, const double *g, sinew_extension_report *report)
{
    const double force = largest_magnitude(g, 3 * check->n), size = element_extent(check->x, check->n);
    double net[3] = {0}, moment[3] = {0};
    for (int a = 0; a < check->n; a++)
        for (int c = 0; c < 3; c++) {
            const int u = (c + 1) % 3, v = (c + 2) % 3;
            net[c] += g[3 * a + c];
            moment[c] +=
                (check->x[3 * a + u] - check->x[u]) * g[3 * a + v] - (check->x[3 * a + v] - check->x[v]) * g[3 * a + u];
        }
    if (force > 0 && !check->of->costs_translation)
        report->translation = largest_magnitude(net, 3) / force;
    if (force > 0 && !check->of->costs_rotation)
        report->rotation = largest_magnitude(moment, 3) / (force * size);
}

static void check_derivatives(const extension_check *check, const double *rest, sinew_extension_report *report)
{
    const int side = 3 * check->n;
    double g[SIDE_MAX], H[SIDE_MAX * SIDE_MAX], rest_g[SIDE_MAX], rest_H[SIDE_MAX * SIDE_MAX];
    check_gradient(check, check->x, g);
    check->of->hessian(check->of->context, check->data, check->x, H);
    report->gradient = check_derivative(check, check_value, 1, g);
    report->hessian = check_derivative(check, check_gradient, side, H);
    const double largest = largest_magnitude(H, side * side);
    for (int i = 0; i < side * side && largest > 0; i++)
        report->symmetry = fmax(report->symmetry, fabs(H[i] - H[(i % side) * side + i / side]) / largest);
    check_rigid(check, g, report);
    check_gradient(check, rest, rest_g);
    check->of->hessian(check->of->context, check->data, rest, rest_H);
    const double stiffness = largest_magnitude(rest_H, side * side) * element_extent(rest, check->n);
    report->rest_gradient = stiffness > 0 ? largest_magnitude(rest_g, side) / stiffness : 0;
}

/* Refuses parameter values that no world passes to `prepare`. NULL: defaults, which sinew_extension_flaw() has
 * checked. */
static sinew_status check_given_parameters(const sinew_energy_extension *of, const double *parameters,
                                           sinew_error *error)
{
    char owner[64];
    snprintf(owner, sizeof owner, "energy '%s'", of->name);
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; parameters && status == SINEW_OK && i < of->parameter_count; i++)
        status = sinew_parameter_check(&of->parameters[i], parameters[i], owner, error);
    return status;
}

/* Calls the extension's `prepare` for one element; returns NULL or its refusal. */
static const char *check_prepare(extension_check *check, const double *parameters, const double *rest, char *reason)
{
    static const double weights[8] = {1, 0, 0, 0, -1, 0, 0, 0}, normal[3] = {0, 0, 1};
    double values[SINEW_PARAMETER_MAX];
    for (int32_t i = 0; i < check->of->parameter_count; i++)
        values[i] = parameters ? parameters[i] : check->of->parameters[i].preset;
    const bool pair = check->of->stencil == SINEW_STENCIL_PAIR;
    const sinew_extension_element element = {.vertex_count = check->n,
                                             .rest = rest,
                                             .parameters = values,
                                             .weights = pair ? weights : NULL,
                                             .normal = pair ? normal : NULL,
                                             .reason = reason};
    /* The refusal points to a text of the extension or to the buffer `reason`, never into `element`. */
    // cppcheck-suppress returnDanglingLifetime
    return check->of->prepare(check->of->context, &element, check->data);
}

sinew_status sinew_check_energy_extension(const sinew_energy_extension *extension, const double *parameters,
                                          const double *rest, const double *x, sinew_extension_report *report,
                                          sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(rest && x && report))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_check_energy_extension: rest, x or report is NULL");
    memset(report, 0, sizeof *report);
    char reason[SINEW_EXTENSION_REASON_MAX] = "";
    const char *flaw = sinew_extension_flaw(extension, reason);
    if (flaw)
        return sinew_fail(
            error, SINEW_ERROR_USAGE, "energy '%s': %s",
            extension && extension->cookie == SINEW_EXTENSION_COOKIE && extension->name ? extension->name : "", flaw);
    const sinew_status status = check_given_parameters(extension, parameters, error);
    if (status != SINEW_OK)
        return status;
    extension_check check = {.of = extension,
                             .n = extension->stencil == SINEW_STENCIL_COUNT
                                      ? extension->vertex_count
                                      : sinew_get_stencil(extension->stencil)->vertex_count};
    const char *refusal = check_prepare(&check, parameters, rest, reason);
    if (refusal)
        return sinew_fail(error, SINEW_ERROR_DATA, "energy '%s': the element is refused: %s", extension->name, refusal);
    memcpy(check.x, x, (size_t)(3 * check.n) * sizeof *x);
    check.step = 2e-4 * element_extent(rest, check.n);
    check_derivatives(&check, rest, report);
    check_constraint(&check, rest, report);
    if (!isfinite(report->gradient) || !isfinite(report->hessian))
        return sinew_fail(error, SINEW_ERROR_DATA, "energy '%s': psi or a derivative is not finite near x",
                          extension->name);
    return SINEW_OK;
}
