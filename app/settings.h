/* SPDX-License-Identifier: MIT
 *
 * settings.h: opens a scene with the settings of the command line: options for keys of the scene, --set, solvers.
 */
#ifndef SINEW_SETTINGS_H
#define SINEW_SETTINGS_H

#include "app.h"

enum {
    SINEW_SETTING_MAX = 256,
    SINEW_SETTING_MADE_MAX = 8
};

/* Scene settings of the command line in the order of application, for sinew_scene_def. A zeroed struct is empty. */
typedef struct sinew_settings {
    const char *texts[SINEW_SETTING_MAX];
    int32_t count;
    char made[SINEW_SETTING_MADE_MAX][128]; /* texts of settings that options other than --set give */
    int32_t made_count;
} sinew_settings;

void sinew_settings_add_text(sinew_settings *settings, const char *key, const char *value);
/* Adds the value of an option, an integer from 0 to 1e9, as a scene setting; an absent option adds nothing. This and the next functions return
 * false, with a message on standard error, on errors. */
bool sinew_settings_add_integer(sinew_settings *settings, const sinew_arguments *arguments, const char *option,
                                const char *key);
/* Adds the values of all options --set as scene settings. */
bool sinew_settings_add_given(sinew_settings *settings, const sinew_arguments *arguments);

/* Adds the options solver, iterations, tolerance, accuracy, frames and threads as settings; then --set, which overrides them. */
bool sinew_settings_add_options(sinew_settings *settings, const sinew_arguments *arguments);

/* Returns the solver of that name; SINEW_SOLVER_COUNT, with a message that names the nearest one, if there is none. */
sinew_solver_kind sinew_read_solver(const char *command, const char *what, const char *name);
/* Opens a scene with settings. NULL, with a message, if the scene does not exist or is wrong. */
sinew_scene *sinew_open_scene(const char *command, const char *name, const sinew_settings *settings);

#endif
