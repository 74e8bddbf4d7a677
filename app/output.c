/* SPDX-License-Identifier: MIT
 *
 * output.c: result files that appear whole or not at all, and the folders that hold them.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "output.h"

bool sinew_output_open(sinew_output *o, const char *command, const char *directory, const char *name)
{
    *o = (sinew_output){.command = command};
    snprintf(o->path, sizeof o->path, "%s/%s", directory, name);
    snprintf(o->partial, sizeof o->partial, "%s.partial", o->path);
    o->stream = fopen(o->partial, "w");
    if (!o->stream)
        sinew_usage_error(command, "%s: cannot write: %s", o->path, strerror(errno));
    return o->stream != NULL;
}

bool sinew_output_close(sinew_output *o)
{
    bool good = !ferror(o->stream);
    good = fflush(o->stream) == 0 && good;
    int reason = errno;
    good = fclose(o->stream) == 0 && good;
    o->stream = NULL;
    if (good && rename(o->partial, o->path) == 0)
        return true;
    sinew_usage_error(o->command, "%s: cannot write: %s", o->path, strerror(good ? errno : reason));
    unlink(o->partial);
    return false;
}

void sinew_output_drop(sinew_output *o)
{
    if (!o->stream)
        return;
    fclose(o->stream);
    o->stream = NULL;
    unlink(o->partial);
}

bool sinew_make_folders(const char *command, const char *path)
{
    char part[2048];
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part || !*path) {
        sinew_usage_error(command, "--out: the path is empty or too long");
        return false;
    }
    for (char *c = part + 1;; c++) {
        char kept = *c;
        if (kept != '/' && kept != '\0')
            continue;
        *c = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            sinew_usage_error(command, "%s: cannot make this folder: %s", part, strerror(errno));
            return false;
        }
        if (!kept)
            return true;
        *c = kept;
    }
}

bool sinew_prepare_folder(const char *command, const char *path)
{
    sinew_output probe;
    bool good = sinew_make_folders(command, path) && sinew_output_open(&probe, command, path, "report.html");
    if (good)
        sinew_output_drop(&probe);
    return good;
}
