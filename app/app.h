/* SPDX-License-Identifier: MIT
 *
 * app.h: declarations that the subcommands of `sinew` share. Each subcommand has one file; the table is in main.c. The
 * command uses include/sinew only.
 */
#ifndef SINEW_APP_H
#define SINEW_APP_H

#include "sinew/scene.h"

enum {
    SINEW_EXIT_DONE = 0,
    SINEW_EXIT_UNMET = 1,         /* exit status: the command ran, but a check failed */
    SINEW_EXIT_USAGE = 2,         /* exit status: wrong usage or bad input, with one line on standard error */
    SINEW_EXIT_NOT_FINITE = 3,    /* exit status: the simulation became non-finite */
    SINEW_EXIT_INTERRUPTED = 130, /* exit status after SIGINT: 128 + its number */
    SINEW_EXIT_TERMINATED = 143   /* exit status after SIGTERM: 128 + its number */
};

/* Functions of the subcommands: argv[0] is the subcommand's own name. They return the exit status. */
int sinew_command_run(int argc, char **argv);
int sinew_command_render(int argc, char **argv);
int sinew_command_compare(int argc, char **argv);
int sinew_command_info(int argc, char **argv);
int sinew_command_mesh(int argc, char **argv);

/* Prints "sinew COMMAND: text" as one line on standard error and returns SINEW_EXIT_USAGE. */
int sinew_usage_error(const char *command, const char *format, ...) SINEW_PRINTF(2, 3);

/* ---- Command-line options (options.c) ----------------------------------------------------------- */

/* One option of a subcommand. `--name value` and `--name=value` are the same. */
typedef struct sinew_option {
    const char *name;    /* name of the option without the leading dashes */
    const char *value;   /* placeholder for the option's value in help, e.g. "N"; NULL: a switch */
    const char *meaning; /* one line about the option for --help */
    bool repeats;        /* true: the option may be given more than once */
} sinew_option;

/* One option of a subcommand as the command line gave it. */
typedef struct sinew_given {
    int32_t count;             /* number of times that the option was given */
    const char *const *values; /* [count] values of the option, in the order of the command line */
} sinew_given;

typedef struct sinew_arguments {
    const char *command;
    const sinew_option *options; /* [option_count] options that the subcommand accepts */
    int32_t option_count;
    sinew_given *given;       /* [option_count] values that the command line gave for each option */
    const char *const *plain; /* [plain_count] arguments of the command line that are not options */
    int32_t plain_count;
    const char **memory; /* storage of the texts of `plain` and of the options' values in `given` */
} sinew_arguments;

/* Parses a command line by a table of options. Returns false, with a message on standard error, if it is wrong.
 * sinew_arguments_free releases the memory. */
bool sinew_arguments_read(sinew_arguments *arguments, const char *command, const sinew_option *options,
                          int32_t option_count, int argc, char **argv);
void sinew_arguments_free(sinew_arguments *arguments);
/* Returns the last value of the option with this name, or NULL if the option was not given. */
const char *sinew_option_text(const sinew_arguments *arguments, const char *name);
bool sinew_option_on(const sinew_arguments *arguments, const char *name);
/* Prints the table of options for --help. */
void sinew_options_print(const sinew_option *options, int32_t option_count);

/* Returns the command line with the precision of the program, each argument quoted for a shell where needed; argv[0]
 * is the subcommand. The caller frees the text. NULL: out of memory. */
char *sinew_command_line(int argc, char **argv);

/* Parses the whole text as a number in [minimum, maximum]. Returns false, with a message, for other texts. */
bool sinew_read_integer(const char *command, const char *what, const char *text, int64_t minimum, int64_t maximum,
                        int64_t *value);
bool sinew_read_number(const char *command, const char *what, const char *text, double minimum, double maximum,
                       double *value);

/* Parses "1280x720", a picture size in pixels whose buffers fit in memory. */
bool sinew_read_size(const char *command, const char *text, int32_t *width, int32_t *height);

/* ---- Scene files on disk (find.c) -------------------------------------------------------------- */

/* Finds the path of a scene from a path or from a name in one of the scene folders. Returns false if no file exists. */
bool sinew_find_scene(const char *scene, char *path, size_t size);
/* Finds a file at the given path or, for "scenes/...", in one of the scene folders. Returns false if no file exists. */
bool sinew_find_example(const char *file, char *path, size_t size);
/* Path of a scene folder by index: $SINEW_SCENES, ./scenes, share/sinew/scenes beside the program (a build tree) and
 * beside its folder (an installed program). Returns false if index is past the last folder. */
bool sinew_scene_folder(int32_t index, char *path, size_t size);
/* Writes all scene folders, separated by commas, for messages. The text is truncated to its buffer. */
void sinew_scene_folders_text(char *text, size_t size);
/* Lists the sorted names of the scenes in a folder, without their ending, and returns their number; 0 if there are
 * none. The caller frees the names. */
int32_t sinew_scene_names(const char *folder, char ***names);
void sinew_scene_names_free(char **names, int32_t count);
/* Finds the name in the scene folders that is most similar to `scene`, for "did you mean". Returns false if none is
 * similar. */
bool sinew_nearest_scene(const char *scene, char *name, size_t size);
/* Writes the folder of the running program, without a slash at the end. */
bool sinew_program_folder(char *path, size_t size);

#endif
