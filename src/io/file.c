/* SPDX-License-Identifier: MIT
 *
 * file.c: writes files completely or not at all; input.c reads files.
 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static sinew_status fail_writing(const char *path, int reason, sinew_error *error)
{
    return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write: %s", path, strerror(reason));
}

static sinew_status set_writer_paths(sinew_writer *writer, const char *path, sinew_error *error)
{
    writer->stream = NULL;
    writer->keep = false;
    if (strlen(path) >= sizeof writer->path)
        return sinew_fail(error, SINEW_ERROR_FILE, "%.60s...: the path is longer than %zu characters", path,
                          sizeof writer->path - 1);
    snprintf(writer->path, sizeof writer->path, "%s", path);
    snprintf(writer->partial, sizeof writer->partial, "%s.partial", path);
    return SINEW_OK;
}

/* Opens writer->stream on the descriptor `file`, which is closed on failure. -1: the file could not be opened, and the
 * reason in errno is reported. */
static sinew_status file_open_stream(sinew_writer *writer, int file, const char *mode, sinew_error *error)
{
    writer->stream = file >= 0 ? fdopen(file, mode) : NULL;
    if (writer->stream)
        return SINEW_OK;
    int reason = errno;
    if (file >= 0)
        close(file);
    return fail_writing(writer->path, reason, error);
}

sinew_status sinew_writer_open(sinew_writer *writer, const char *path, sinew_error *error)
{
    sinew_status status = set_writer_paths(writer, path, error);
    if (status != SINEW_OK)
        return status;
    /* Removes the partial file that a killed program left. If the path is a symbolic link, only the link is removed. */
    unlink(writer->partial);
    int file = open(writer->partial, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    status = file_open_stream(writer, file, "wb", error);
    if (status != SINEW_OK && file >= 0)
        unlink(writer->partial);
    return status;
}

sinew_status sinew_writer_reopen(sinew_writer *writer, const char *path, sinew_error *error)
{
    sinew_status status = set_writer_paths(writer, path, error);
    if (status != SINEW_OK)
        return status;
    int file = open(writer->partial, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 && errno == ENOENT && rename(writer->path, writer->partial) == 0)
        file = open(writer->partial, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0 && errno == ENOENT)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: is no longer there to go on with; start the run again",
                          writer->path);
    struct stat facts;
    if (file >= 0 && (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode))) {
        close(file);
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: is not a regular file", writer->partial);
    }
    return file_open_stream(writer, file, "r+b", error);
}

sinew_status sinew_writer_cut(sinew_writer *writer, int64_t size, sinew_error *error)
{
    if (fflush(writer->stream) == 0 && ftruncate(fileno(writer->stream), (off_t)size) == 0 &&
        fseeko(writer->stream, (off_t)size, SEEK_SET) == 0)
        return SINEW_OK;
    return fail_writing(writer->path, errno, error);
}

sinew_status sinew_writer_sync(sinew_writer *writer, sinew_error *error)
{
    if (!ferror(writer->stream) && fflush(writer->stream) == 0 && fsync(fileno(writer->stream)) == 0)
        return SINEW_OK;
    return fail_writing(writer->path, errno, error);
}

sinew_status sinew_writer_flush(sinew_writer *writer, sinew_error *error)
{
    if (!ferror(writer->stream) && fflush(writer->stream) == 0)
        return SINEW_OK;
    return fail_writing(writer->path, errno, error);
}

sinew_status sinew_writer_commit(sinew_writer *writer, sinew_error *error)
{
    bool good = !ferror(writer->stream);
    /* A full disk may become visible only when the last buffered bytes are written. */
    good = fflush(writer->stream) == 0 && good;
    int reason = errno;
    good = fclose(writer->stream) == 0 && good;
    writer->stream = NULL;
    if (good) {
        good = rename(writer->partial, writer->path) == 0;
        reason = errno;
    }
    if (good)
        return SINEW_OK;
    if (!writer->keep)
        unlink(writer->partial);
    return fail_writing(writer->path, reason, error);
}

sinew_status sinew_writer_commit_durable(sinew_writer *writer, sinew_error *error)
{
    sinew_status status = sinew_writer_sync(writer, error);
    if (status != SINEW_OK) {
        sinew_writer_abandon(writer);
        return status;
    }
    status = sinew_writer_commit(writer, error);
    return status == SINEW_OK ? sinew_folder_sync(writer->path, error) : status;
}

void sinew_writer_abandon(sinew_writer *writer)
{
    if (!writer->stream)
        return;
    fclose(writer->stream);
    writer->stream = NULL;
    if (!writer->keep)
        unlink(writer->partial);
}

static sinew_status sync_path(const char *path, int flags, sinew_error *error)
{
    int file = open(path, flags | O_RDONLY | O_CLOEXEC);
    /* EINVAL is no failure: some file systems do not support fsync */
    bool good = file >= 0 && (fsync(file) == 0 || errno == EINVAL);
    int reason = errno;
    if (file >= 0)
        close(file);
    return good ? SINEW_OK : fail_writing(path, reason, error);
}

sinew_status sinew_file_sync(const char *path, sinew_error *error)
{
    return sync_path(path, O_NONBLOCK | O_NOFOLLOW, error);
}

sinew_status sinew_folder_sync(const char *path, sinew_error *error)
{
    char folder[sizeof((sinew_writer *)0)->path];
    const char *slash = strrchr(path, '/');
    int length = slash == path ? 1 : slash ? (int)(slash - path) : 1;
    snprintf(folder, sizeof folder, "%.*s", length, slash ? path : ".");
    return sync_path(folder, O_DIRECTORY, error);
}
