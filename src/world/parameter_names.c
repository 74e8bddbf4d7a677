/* SPDX-License-Identifier: MIT
 *
 * parameter_names.c: sets numbers and keywords of energy and solver definitions by the names that scene files use.
 *
 * The order of a def's parameters is internal; a program that sets them by index breaks when the table grows. The
 * error for an unknown name suggests the most similar name; an invalid value gives the same error as in the world.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/spelling.h"
#include "energy/parameter.h"
#include "world/world.h"

enum {
    NAME_MAX_COUNT = SINEW_PARAMETER_MAX + 8
};

/* List of parameter descriptors, with the name of their energy or solver. */
typedef struct name_list {
    const char *owner, *topic; /* name of the energy or solver; topic under which `sinew info` describes it */
    const sinew_parameter *entries[NAME_MAX_COUNT];
    int32_t count;
} name_list;

static void parameter_add_names(name_list *list, const sinew_parameter *parameters, int32_t count)
{
    for (int32_t i = 0; i < count && list->count < NAME_MAX_COUNT; i++)
        list->entries[list->count++] = &parameters[i];
}

/* Index of a parameter name in the list; -1, with an error, if the name is unknown. */
static int32_t find_name(const name_list *list, const char *name, sinew_error *error)
{
    const char *names[NAME_MAX_COUNT];
    for (int32_t i = 0; i < list->count; i++) {
        names[i] = list->entries[i]->name;
        if (strcmp(names[i], name) == 0)
            return i;
    }
    const char *nearest = sinew_nearest_name(name, names, list->count);
    if (nearest)
        sinew_fail(error, SINEW_ERROR_DATA, "%s has no parameter \"%.60s\"; did you mean \"%s\"?", list->owner, name,
                   nearest);
    else
        sinew_fail(error, SINEW_ERROR_DATA, "%s has no parameter \"%.60s\"; see sinew info %s", list->owner, name,
                   list->topic);
    return -1;
}

/* Index of a parameter name that accepts `value`; -1, with an error, for an unknown name or a value out of range. */
static int32_t find_number(const name_list *list, const char *name, double value, sinew_error *error)
{
    const int32_t at = find_name(list, name, error);
    if (at < 0 || sinew_parameter_check(list->entries[at], value, list->owner, error) != SINEW_OK)
        return -1;
    /* The parameter value is checked again after rounding to sinew_real, which may turn it into zero or infinity. */
    if (sinew_parameter_check(list->entries[at], (double)(sinew_real)value, list->owner, error) != SINEW_OK)
        return -1;
    return at;
}

/* Index of a parameter that takes keywords, and in *index that of the keyword `word`; -1, with an error, if there is
 * none. */
static int32_t find_keyword(const name_list *list, const char *name, const char *word, int32_t *index,
                            sinew_error *error)
{
    const int32_t at = find_name(list, name, error);
    if (at < 0)
        return -1;
    const char *choices = list->entries[at]->choices;
    *index = choices ? sinew_keyword_index(word, choices) : -1;
    if (*index >= 0)
        return at;
    if (choices)
        sinew_fail(error, SINEW_ERROR_DATA, "%s: %s is \"%.60s\", must be one of %s", list->owner, name, word, choices);
    else
        sinew_fail(error, SINEW_ERROR_DATA, "%s: %s is a number%s%s, not the word \"%.60s\"", list->owner, name,
                   list->entries[at]->unit[0] ? " in " : "", list->entries[at]->unit, word);
    return -1;
}

/* ---- Setting parameters of energies by name -------------------------------------------------- */

static bool energy_names(const sinew_energy_def *def, const char *name, name_list *list, sinew_error *error)
{
    sinew_error_clear(error);
    *list = (name_list){0};
    const sinew_energy_info *info = def ? sinew_get_energy_info(def->kind) : NULL;
    if (!SINEW_ASSERT(info && def->cookie == SINEW_COOKIE_ENERGY && name)) {
        sinew_fail(error, SINEW_ERROR_USAGE,
                   "setting a parameter needs a def made by sinew_default_energy_def() and "
                   "the parameter's name");
        return false;
    }
    list->owner = info->name;
    list->topic = "energies";
    parameter_add_names(list, info->parameters, info->parameter_count);
    return true;
}

sinew_status sinew_energy_def_set(sinew_energy_def *def, const char *name, double value, sinew_error *error)
{
    name_list list;
    if (!energy_names(def, name, &list, error))
        return SINEW_ERROR_USAGE;
    const int32_t at = find_number(&list, name, value, error);
    if (at < 0)
        return SINEW_ERROR_DATA;
    def->parameters[at] = (sinew_real)value;
    return SINEW_OK;
}

sinew_status sinew_energy_def_set_keyword(sinew_energy_def *def, const char *name, const char *word, sinew_error *error)
{
    name_list list;
    int32_t index;
    if (!SINEW_ASSERT(word) || !energy_names(def, name, &list, error))
        return word ? SINEW_ERROR_USAGE : sinew_fail(error, SINEW_ERROR_USAGE, "there is no word");
    const int32_t at = find_keyword(&list, name, word, &index, error);
    if (at < 0)
        return SINEW_ERROR_DATA;
    def->parameters[at] = (sinew_real)index;
    return SINEW_OK;
}

/* ---- Setting parameters of solvers by name --------------------------------------------------- */

/* Settings that every solver has besides its parameters. sinew_solver_check() checks ranges. */
enum {
    MEMBER_ITERATIONS,
    MEMBER_TOLERANCE,
    MEMBER_ACCURACY,
    MEMBER_TIME_BUDGET,
    MEMBER_MEASURE,
    MEMBER_GAP_EVERY,
    MEMBER_RECORD,
    MEMBER_COUNT
};

static const sinew_parameter members[MEMBER_COUNT] = {
    [MEMBER_ITERATIONS] = {.name = "iterations", .unit = "", .maximum = INT32_MAX},
    [MEMBER_TOLERANCE] = {.name = "tolerance", .unit = "", .maximum = HUGE_VAL},
    [MEMBER_ACCURACY] = {.name = "accuracy", .unit = "", .minimum = 1e-15, .maximum = 1},
    [MEMBER_TIME_BUDGET] = {.name = "time_budget", .unit = "s", .maximum = HUGE_VAL},
    [MEMBER_MEASURE] = {.name = "measure", .unit = "", .choices = SINEW_MEASURE_NAMES, .maximum = SINEW_MEASURE_AUTO},
    [MEMBER_GAP_EVERY] = {.name = "gap_every", .unit = "", .minimum = 1, .maximum = INT32_MAX},
    [MEMBER_RECORD] = {.name = "record", .unit = "", .choices = SINEW_RECORD_NAMES, .maximum = SINEW_RECORD_STEP},
};

static bool solver_names(const sinew_solver_def *def, const char *name, name_list *list, sinew_error *error)
{
    sinew_error_clear(error);
    *list = (name_list){0};
    const sinew_solver_info *info = def ? sinew_get_solver_info(def->kind) : NULL;
    if (!SINEW_ASSERT(info && def->cookie == SINEW_COOKIE_SOLVER && name)) {
        sinew_fail(error, SINEW_ERROR_USAGE,
                   "setting a parameter needs a def made by sinew_default_solver_def() and "
                   "the parameter's name");
        return false;
    }
    list->owner = info->name;
    list->topic = "solvers";
    parameter_add_names(list, members, MEMBER_COUNT);
    parameter_add_names(list, info->parameters, info->parameter_count);
    return true;
}

/* Writes the value to the solver setting or parameter at an index of the name list. */
static void store_setting(sinew_solver_def *def, int32_t at, double value)
{
    if (at >= MEMBER_COUNT)
        def->parameters[at - MEMBER_COUNT] = (sinew_real)value;
    else if (at == MEMBER_ITERATIONS)
        def->iterations = (int32_t)value;
    else if (at == MEMBER_TOLERANCE)
        def->tolerance = (sinew_real)value;
    else if (at == MEMBER_ACCURACY)
        def->accuracy = (sinew_real)value;
    else if (at == MEMBER_TIME_BUDGET)
        def->time_budget = value;
    else if (at == MEMBER_MEASURE)
        def->measure = (sinew_measure)value;
    else if (at == MEMBER_GAP_EVERY)
        def->gap_every = (int32_t)value;
    else
        def->record = (sinew_record)value;
}

static bool is_whole_where_needed(int32_t at, double value)
{
    return (at != MEMBER_ITERATIONS && at != MEMBER_GAP_EVERY) || value == floor(value);
}

sinew_status sinew_solver_def_set(sinew_solver_def *def, const char *name, double value, sinew_error *error)
{
    name_list list;
    if (!solver_names(def, name, &list, error))
        return SINEW_ERROR_USAGE;
    const int32_t at = find_number(&list, name, value, error);
    if (at < 0)
        return SINEW_ERROR_DATA;
    if (!is_whole_where_needed(at, value))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: %s is %g, must be a whole number", list.owner, name, value);
    sinew_solver_def changed = *def;
    store_setting(&changed, at, value);
    const sinew_status status = sinew_solver_check(&changed, error);
    if (status == SINEW_OK)
        *def = changed;
    return status;
}

sinew_status sinew_solver_def_set_keyword(sinew_solver_def *def, const char *name, const char *word, sinew_error *error)
{
    name_list list;
    int32_t index;
    if (!SINEW_ASSERT(word) || !solver_names(def, name, &list, error))
        return word ? SINEW_ERROR_USAGE : sinew_fail(error, SINEW_ERROR_USAGE, "there is no word");
    const int32_t at = find_keyword(&list, name, word, &index, error);
    if (at < 0)
        return SINEW_ERROR_DATA;
    store_setting(def, at, index);
    return SINEW_OK;
}
