/* SPDX-License-Identifier: MIT
 *
 * program.c: finds another program of the product and replaces this process by it. See program.h.
 */
#include "program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app.h"

bool sinew_take_precision(int *argc, char **argv, const char **precision)
{
    int kept = 1;
    bool options_end = false;
    *precision = NULL;
    for (int i = 1; i < *argc; i++) {
        options_end = options_end || strcmp(argv[i], "--") == 0;
        if (!options_end && strcmp(argv[i], "--precision") == 0) {
            if (i + 1 == *argc) {
                sinew_usage_error("", "--precision needs a value: single or double");
                return false;
            }
            *precision = argv[++i];
        } else if (!options_end && strncmp(argv[i], "--precision=", 12) == 0) {
            *precision = argv[i] + 12;
        } else {
            argv[kept++] = argv[i];
        }
    }
    argv[kept] = NULL;
    *argc = kept;
    if (*precision && strcmp(*precision, "single") != 0 && strcmp(*precision, "double") != 0) {
        sinew_usage_error("", "--precision: \"%s\" is neither single nor double", *precision);
        return false;
    }
    if (*precision && strcmp(*precision, SINEW_PRECISION) == 0)
        *precision = NULL;
    return true;
}

bool sinew_find_program(const char *name, char *path, size_t size)
{
    static const char *const places[] = {"", "/../libexec/sinew", "/../bin"};
    char folder[4000];
    if (!sinew_program_folder(folder, sizeof folder))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (snprintf(path, size, "%s%s/%s", folder, places[i], name) < (int)size && access(path, X_OK) == 0)
            return true;
    return false;
}

int sinew_become(const char *command, const char *name, char **argv)
{
    char path[4200];
    const bool found = sinew_find_program(name, path, sizeof path);
    if (found)
        execv(path, argv);
    return sinew_usage_error(command, "cannot start %s: %s; `make` builds it, or install it beside this program",
                             found ? path : name, found ? strerror(errno) : "it is not beside this program");
}

int sinew_end_output(int status)
{
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == SINEW_EXIT_DONE)
        return sinew_usage_error("", "cannot write to standard output: %s", strerror(errno));
    return status;
}
