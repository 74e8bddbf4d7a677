/* SPDX-License-Identifier: MIT
 *
 * settings.h: from the command line to an open scene: options that stand for a key of the scene, --set, solvers.
 */
#ifndef SINEW_SETTINGS_H
#define SINEW_SETTINGS_H

#include "app.h"

enum {
    SINEW_SETTING_MAX = 256,
    SINEW_SETTING_MADE_MAX = 8
};

/* Settings in the order in which they hold, for sinew_scene_def. Starts zero-filled. */
typedef struct sinew_settings {
    const char *texts[SINEW_SETTING_MAX];
    int32_t count;
    char made[SINEW_SETTING_MADE_MAX][128]; /* those that other options stand for */
    int32_t made_count;
} sinew_settings;

void sinew_settings_add_text(sinew_settings *settings, const char *key, const char *value);
/* False: something was wrong and has been said on standard error. An option that is not given adds nothing. */
bool sinew_settings_add_number(sinew_settings *settings, const sinew_arguments *arguments, const char *option,
                               const char *key, bool whole);
bool sinew_settings_add_given(sinew_settings *settings, const sinew_arguments *arguments); /* all of --set */

/* The options solver, iterations, tolerance, frames and threads, as settings; then --set, which has the last word. */
bool sinew_settings_add_options(sinew_settings *settings, const sinew_arguments *arguments);

/* The solver of that name; SINEW_SOLVER_COUNT (and said, with the nearest name) when there is none. */
sinew_solver_kind sinew_read_solver(const char *command, const char *what, const char *name);
/* NULL when the scene is not there or wrong (said). */
sinew_scene *sinew_open_scene(const char *command, const char *name, const sinew_settings *settings);

#endif
