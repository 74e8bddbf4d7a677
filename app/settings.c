/* SPDX-License-Identifier: MIT
 *
 * settings.c: opens a scene with the settings of the command line.
 */
#include <stdio.h>
#include <string.h>

#include <sinew/extend.h>

#include "settings.h"

void sinew_settings_add_text(sinew_settings *s, const char *key, const char *value)
{
    char *made = s->made[s->made_count++];
    snprintf(made, sizeof s->made[0], "%s=%s", key, value);
    s->texts[s->count++] = made;
}

/* Adds an option whose number is from minimum to 1 as a setting of the scene; no effect if the option is not given. */
static bool settings_add_fraction(sinew_settings *s, const sinew_arguments *arguments, const char *option,
                                  const char *key, double minimum)
{
    const char *text = sinew_option_text(arguments, option);
    char what[32], value[64];
    double number;
    if (!text)
        return true;
    snprintf(what, sizeof what, "--%s", option);
    if (!sinew_read_number(arguments->command, what, text, minimum, 1, &number))
        return false;
    snprintf(value, sizeof value, "%.17g", number);
    sinew_settings_add_text(s, key, value);
    return true;
}

bool sinew_settings_add_integer(sinew_settings *s, const sinew_arguments *arguments, const char *option,
                                const char *key)
{
    const char *text = sinew_option_text(arguments, option);
    char what[32], value[64];
    int64_t integer;
    if (!text)
        return true;
    snprintf(what, sizeof what, "--%s", option);
    if (!sinew_read_integer(arguments->command, what, text, 0, 1000000000, &integer))
        return false;
    snprintf(value, sizeof value, "%lld", (long long)integer);
    sinew_settings_add_text(s, key, value);
    return true;
}

/* Adds --memory SIZE as the scene's setting memory_limit, a number with a unit. */
static bool sinew_settings_add_memory(sinew_settings *s, const sinew_arguments *arguments)
{
    const char *text = sinew_option_text(arguments, "memory");
    if (text && (strlen(text) > 40 || text[strspn(text, "0123456789.eE+- kMGiB")] || !text[0])) {
        sinew_usage_error(arguments->command, "--memory: \"%.40s\" is no size; e.g. 500MB or 2GiB", text);
        return false;
    }
    if (text)
        sinew_settings_add_text(s, "memory_limit", text);
    return true;
}

bool sinew_settings_add_given(sinew_settings *s, const sinew_arguments *arguments)
{
    for (int32_t i = 0; i < arguments->option_count; i++)
        for (int32_t k = 0; strcmp(arguments->options[i].name, "set") == 0 && k < arguments->given[i].count; k++) {
            if (s->count == SINEW_SETTING_MAX) {
                sinew_usage_error(arguments->command, "--set: at most %d settings; put them into the scene",
                                  SINEW_SETTING_MAX - SINEW_SETTING_MADE_MAX);
                return false;
            }
            s->texts[s->count++] = arguments->given[i].values[k];
        }
    return true;
}

sinew_solver_kind sinew_read_solver(const char *command, const char *what, const char *name)
{
    sinew_solver_kind kind = sinew_solver_by_name(name);
    if (kind != SINEW_SOLVER_COUNT)
        return kind;
    const char *names[SINEW_SOLVER_COUNT + SINEW_REGISTERED_SOLVER_MAX];
    int32_t count = 0;
    for (int i = 0; i < sinew_solver_kind_end(); i++)
        if (sinew_get_solver_info((sinew_solver_kind)i))
            names[count++] = sinew_get_solver_info((sinew_solver_kind)i)->name;
    const char *nearest = sinew_nearest_name(name, names, count);
    if (nearest)
        sinew_usage_error(command, "%s: unknown solver \"%s\"; did you mean \"%s\"?", what, name, nearest);
    else
        sinew_usage_error(command, "%s: unknown solver \"%s\"; see sinew info solvers", what, name);
    return SINEW_SOLVER_COUNT;
}

bool sinew_settings_add_options(sinew_settings *s, const sinew_arguments *arguments)
{
    const char *solver = sinew_option_text(arguments, "solver");
    if (solver && sinew_read_solver(arguments->command, "--solver", solver) == SINEW_SOLVER_COUNT)
        return false;
    if (solver)
        sinew_settings_add_text(s, "solver.name", solver);
    return sinew_settings_add_integer(s, arguments, "iterations", "solver.iterations") &&
           settings_add_fraction(s, arguments, "tolerance", "solver.tolerance", 0) &&
           settings_add_fraction(s, arguments, "accuracy", "solver.accuracy", 1e-15) &&
           sinew_settings_add_integer(s, arguments, "frames", "frames") &&
           sinew_settings_add_integer(s, arguments, "threads", "threads") && sinew_settings_add_memory(s, arguments) &&
           sinew_settings_add_given(s, arguments);
}

static void report_missing_scene(const char *command, const char *name)
{
    char near[256], folders[4096];
    sinew_scene_folders_text(folders, sizeof folders);
    if (sinew_nearest_scene(name, near, sizeof near))
        sinew_usage_error(command, "%s: no such scene; did you mean \"%s\"? Looked for the file and in %s", name, near,
                          folders);
    else
        sinew_usage_error(command,
                          "%s: no such scene; give a file, or a name that `sinew info scenes` lists. Looked for the "
                          "file and in %s",
                          name, folders);
}

sinew_scene *sinew_open_scene(const char *command, const char *name, const sinew_settings *settings)
{
    char path[4096];
    if (!sinew_find_scene(name, path, sizeof path)) {
        report_missing_scene(command, name);
        return NULL;
    }
    sinew_error error;
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    def.settings = settings->texts;
    def.setting_count = settings->count;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        sinew_usage_error(command, "%s", error.text);
    return scene;
}
