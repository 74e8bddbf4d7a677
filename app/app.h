/* SPDX-License-Identifier: MIT
 *
 * app.h: what the subcommands of `sinew` share. One file a subcommand; the table is in main.c.
 * The command uses include/sinew only.
 */
#ifndef SINEW_APP_H
#define SINEW_APP_H

#include "sinew/scene.h"

enum {
    SINEW_EXIT_DONE = 0,
    SINEW_EXIT_UNMET = 1,         /* ran, but something did not hold */
    SINEW_EXIT_USAGE = 2,         /* wrong usage or bad input: one line on standard error */
    SINEW_EXIT_NOT_FINITE = 3,    /* the simulation became non-finite */
    SINEW_EXIT_INTERRUPTED = 130, /* by SIGINT: 128 + its number */
    SINEW_EXIT_TERMINATED = 143   /* by SIGTERM */
};

/* Subcommands: argv[0] is the subcommand's own name. They return the exit status. */
int sinew_command_run(int argc, char **argv);
int sinew_command_render(int argc, char **argv);
int sinew_command_compare(int argc, char **argv);
int sinew_command_reproduce(int argc, char **argv);
int sinew_command_info(int argc, char **argv);
int sinew_command_mesh(int argc, char **argv);

/* Prints "sinew COMMAND: text" as one line on standard error and returns SINEW_EXIT_USAGE. */
int sinew_usage_error(const char *command, const char *format, ...) SINEW_PRINTF(2, 3);

/* ---- Options (options.c) -------------------------------------------------------------------- */

/* One option of a subcommand. `--name value` and `--name=value` are the same. */
typedef struct sinew_option {
    const char *name;    /* without the dashes */
    const char *value;   /* what stands for the value in help, e.g. "N"; NULL: a switch */
    const char *meaning; /* one line for --help */
    bool repeats;        /* may be given more than once */
} sinew_option;

/* One option as the command line gave it. */
typedef struct sinew_given {
    int32_t count;             /* how often it was given */
    const char *const *values; /* [count], in order */
} sinew_given;

typedef struct sinew_arguments {
    const char *command;
    const sinew_option *options; /* [option_count] */
    int32_t option_count;
    sinew_given *given;       /* [option_count] */
    const char *const *plain; /* [plain_count] arguments that are no options */
    int32_t plain_count;
    const char **memory; /* behind both */
} sinew_arguments;

/* False when the command line is wrong (already said on standard error). Release with sinew_arguments_free. */
bool sinew_arguments_read(sinew_arguments *arguments, const char *command, const sinew_option *options,
                          int32_t option_count, int argc, char **argv);
void sinew_arguments_free(sinew_arguments *arguments);
const char *sinew_option_text(const sinew_arguments *arguments, const char *name); /* last value or NULL */
bool sinew_option_on(const sinew_arguments *arguments, const char *name);
void sinew_options_print(const sinew_option *options, int32_t option_count); /* the table for --help */

/* The whole text as a number in [minimum, maximum]; false (and said) when it is none. */
bool sinew_read_integer(const char *command, const char *what, const char *text, int64_t minimum, int64_t maximum,
                        int64_t *value);
bool sinew_read_number(const char *command, const char *what, const char *text, double minimum, double maximum,
                       double *value);

/* "1280x720", pixels of a picture that memory holds. */
bool sinew_read_size(const char *command, const char *text, int32_t *width, int32_t *height);

/* ---- Scenes on disk (find.c) ---------------------------------------------------------------- */

/* The path of a scene given as a path or as a name in one of the scene folders. False when there is none. */
bool sinew_find_scene(const char *scene, char *path, size_t size);
/* Folders that hold scenes: $SINEW_SCENES, ./scenes, <prefix>/share/sinew/scenes. Fewer than index: false. */
bool sinew_scene_folder(int32_t index, char *path, size_t size);
/* names [count], sorted, of the scenes in a folder, without their ending; 0 where there are none. To be freed. */
int32_t sinew_scene_names(const char *folder, char ***names);
void sinew_scene_names_free(char **names, int32_t count);
/* For "did you mean": the name most like `scene` in the scene folders. False when none is near. */
bool sinew_nearest_scene(const char *scene, char *name, size_t size);
/* The folder of the running program, without a slash at the end. */
bool sinew_program_folder(char *path, size_t size);

#endif
