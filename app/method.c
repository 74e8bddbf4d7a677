/* SPDX-License-Identifier: MIT
 *
 * method.c: parses the methods of --solvers: "xpbd", "admm:weight=0.5", "newton:linear=cg:iterations=20".
 *
 * Options are the solver's parameters (`sinew info solvers`), `iterations` and `tolerance`.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "compare.h"
#include "settings.h"

enum {
    NAME_MAX_LENGTH = 64,
    OPTION_MAX = SINEW_PARAMETER_MAX + 2
};

static bool method_unknown_option(const char *command, const sinew_solver_info *info, const char *name)
{
    const char *names[OPTION_MAX] = {"iterations", "tolerance"};
    int32_t count = 2;
    for (int32_t i = 0; i < info->parameter_count; i++)
        names[count++] = info->parameters[i].name;
    const char *nearest = sinew_nearest_name(name, names, count);
    if (nearest)
        sinew_usage_error(command, "--solvers: %s has no option \"%s\"; did you mean \"%s\"?", info->name, name,
                          nearest);
    else
        sinew_usage_error(command, "--solvers: %s has no option \"%s\"; see sinew info solvers", info->name, name);
    return false;
}

/* Index of a keyword in a list "a|b|c" of choices; -1: it is not there. */
static int32_t choice_index(const char *choices, const char *word)
{
    size_t length = strlen(word);
    int32_t index = 0;
    for (const char *c = choices; c; index++) {
        size_t choice_length = strcspn(c, "|");
        if (choice_length == length && strncmp(c, word, length) == 0)
            return index;
        c = c[choice_length] ? c + choice_length + 1 : NULL;
    }
    return -1;
}

static bool read_parameter(const char *command, const char *what, const sinew_parameter *p, const char *value,
                           sinew_real *number)
{
    if (p->choices) {
        int32_t index = choice_index(p->choices, value);
        if (index < 0)
            sinew_usage_error(command, "%s: \"%s\" is none of %s", what, value, p->choices);
        *number = (sinew_real)index;
        return index >= 0;
    }
    char *end;
    double read = strtod(value, &end);
    bool low = p->open_minimum ? read > p->minimum : read >= p->minimum;
    bool high = p->open_maximum ? read < p->maximum : read <= p->maximum;
    if (end == value || *end || !isfinite(read) || !low || !high) {
        sinew_usage_error(command, "%s: \"%s\" is not a number %s %g and %s %g", what, value,
                          p->open_minimum ? ">" : ">=", p->minimum, p->open_maximum ? "<" : "<=", p->maximum);
        return false;
    }
    *number = (sinew_real)read;
    return true;
}

static bool method_take_option(const char *command, sinew_method *c, char *text)
{
    const sinew_solver_info *info = sinew_get_solver_info(c->def.kind);
    char *value = strchr(text, '=');
    if (!value) {
        sinew_usage_error(command, "--solvers: %s:%s: expected OPTION=VALUE", info->name, text);
        return false;
    }
    *value++ = '\0';
    char what[2 * NAME_MAX_LENGTH + 16];
    snprintf(what, sizeof what, "--solvers: %s:%s", info->name, text);
    if (strcmp(text, "iterations") == 0) {
        int64_t count;
        c->own_iterations = sinew_read_integer(command, what, value, 0, 1000000, &count);
        c->def.iterations = c->own_iterations ? (int32_t)count : 0;
        return c->own_iterations;
    }
    if (strcmp(text, "tolerance") == 0) {
        double number;
        c->own_tolerance = sinew_read_number(command, what, value, 0, 1, &number);
        c->def.tolerance = c->own_tolerance ? (sinew_real)number : 0;
        return c->own_tolerance;
    }
    int32_t index = sinew_solver_parameter(c->def.kind, text);
    if (index < 0)
        return method_unknown_option(command, info, text);
    return read_parameter(command, what, &info->parameters[index], value, &c->def.parameters[index]);
}

bool sinew_method_read(const char *command, const char *word, size_t length, sinew_method *c)
{
    static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-:;=";
    *c = (sinew_method){0};
    if (length == 0 || length >= SINEW_LABEL_MAX) {
        sinew_usage_error(command, "--solvers: %s; give names by commas, e.g. newton,xpbd,admm:weight=0.5",
                          length ? "a word is too long" : "a word is empty");
        return false;
    }
    snprintf(c->label, sizeof c->label, "%.*s", (int)length, word);
    if (strspn(c->label, fine) != length) {
        sinew_usage_error(command, "--solvers: \"%s\": words are made of letters, digits and _ . + - : ; =", c->label);
        return false;
    }
    for (char *mark = c->label; (mark = strchr(mark, ';'));)
        *mark = ':';
    char text[SINEW_LABEL_MAX];
    snprintf(text, sizeof text, "%s", c->label);
    char *rest = strchr(text, ':');
    if (rest)
        *rest++ = '\0';
    sinew_solver_kind kind = sinew_read_solver(command, "--solvers", text);
    if (kind == SINEW_SOLVER_COUNT)
        return false;
    c->def = sinew_default_solver_def(kind);
    while (rest) {
        char *next = strchr(rest, ':');
        if (next)
            *next++ = '\0';
        if (!method_take_option(command, c, rest))
            return false;
        rest = next;
    }
    return true;
}
