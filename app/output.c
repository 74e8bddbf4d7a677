/* SPDX-License-Identifier: MIT
 *
 * output.c: result files that are written completely or not at all, and their folders.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app.h"
#include "output.h"

static void name_output(sinew_output *o, const char *command, const char *directory, const char *name)
{
    *o = (sinew_output){.command = command};
    snprintf(o->path, sizeof o->path, "%s/%s", directory, name);
    snprintf(o->partial, sizeof o->partial, "%s.partial", o->path);
}

static bool output_refuse(const sinew_output *o, int reason)
{
    sinew_usage_error(o->command, "%s: cannot write: %s", o->path, strerror(reason));
    return false;
}

/* Takes ownership of an open file descriptor as the output's stream; a descriptor of -1 reports errno. */
static bool open_stream(sinew_output *o, int file, const char *mode)
{
    o->stream = file >= 0 ? fdopen(file, mode) : NULL;
    if (o->stream)
        return true;
    int reason = errno;
    if (file >= 0)
        close(file);
    return output_refuse(o, reason);
}

bool sinew_output_open(sinew_output *o, const char *command, const char *directory, const char *name)
{
    name_output(o, command, directory, name);
    /* Removes the temporary file that a killed program left; a link is removed without following it. */
    unlink(o->partial);
    return open_stream(o, open(o->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666), "w");
}

bool sinew_output_reopen(sinew_output *o, const char *command, const char *directory, const char *name)
{
    const int flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct stat facts;
    name_output(o, command, directory, name);
    int file = open(o->partial, flags);
    if (file < 0 && errno == ENOENT && rename(o->path, o->partial) == 0)
        file = open(o->partial, flags);
    if (file < 0 && errno == ENOENT) {
        sinew_usage_error(command, "%s: is no longer there to go on with; start the run again", o->path);
        return false;
    }
    if (file >= 0 && (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))) {
        close(file);
        file = -1;
        errno = EINVAL;
    }
    return open_stream(o, file, "r+");
}

bool sinew_output_sync(sinew_output *o)
{
    if (!ferror(o->stream) && fflush(o->stream) == 0 && fsync(fileno(o->stream)) == 0)
        return true;
    return output_refuse(o, errno);
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
    output_refuse(o, good ? errno : reason);
    unlink(o->partial);
    return false;
}

void sinew_output_leave(sinew_output *o)
{
    if (o->stream)
        fclose(o->stream);
    o->stream = NULL;
}

void sinew_output_drop(sinew_output *o)
{
    if (!o->stream)
        return;
    sinew_output_leave(o);
    unlink(o->partial);
}

bool sinew_make_folders(const char *command, const char *path)
{
    char prefix[2048];
    if (snprintf(prefix, sizeof prefix, "%s", path) >= (int)sizeof prefix || !*path) {
        sinew_usage_error(command, "--out: the path is empty or too long");
        return false;
    }
    for (char *c = prefix + 1;; c++) {
        char kept = *c;
        if (kept != '/' && kept != '\0')
            continue;
        *c = '\0';
        if (mkdir(prefix, 0777) != 0 && errno != EEXIST) {
            sinew_usage_error(command, "%s: cannot make this folder: %s", prefix, strerror(errno));
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

FILE *sinew_open_plain(const char *path)
{
    struct stat facts;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool plain = file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_size < 64 << 20;
    FILE *stream = plain ? fdopen(file, "r") : NULL;
    if (file >= 0 && !stream)
        close(file);
    return stream;
}

json_t *sinew_read_summary(const char *directory, bool *found)
{
    char path[2200];
    struct stat facts;
    snprintf(path, sizeof path, "%s/summary.json", directory);
    *found = lstat(path, &facts) == 0 && !S_ISLNK(facts.st_mode);
    FILE *stream = sinew_open_plain(path);
    json_t *summary = stream ? json_loadf(stream, 0, NULL) : NULL;
    if (stream)
        fclose(stream);
    return summary;
}
