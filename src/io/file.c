/* SPDX-License-Identifier: MIT
 *
 * file.c: whole files in, whole files out.
 */
#include "io/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

sinew_status sinew_writer_open(sinew_writer *writer, const char *path, sinew_error *error)
{
    writer->stream = NULL;
    if (strlen(path) >= sizeof writer->path)
        return sinew_fail(error, SINEW_ERROR_FILE, "%.60s...: the path is longer than %zu characters", path,
                          sizeof writer->path - 1);
    snprintf(writer->path, sizeof writer->path, "%s", path);
    snprintf(writer->partial, sizeof writer->partial, "%s.partial", path);
    writer->stream = fopen(writer->partial, "wb");
    if (!writer->stream)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write: %s", path, strerror(errno));
    return SINEW_OK;
}

sinew_status sinew_writer_commit(sinew_writer *writer, sinew_error *error)
{
    bool good = !ferror(writer->stream);
    /* A full disk may show only when the last bytes leave the buffers. */
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
    unlink(writer->partial);
    return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write: %s", writer->path, strerror(reason));
}

void sinew_writer_abandon(sinew_writer *writer)
{
    if (!writer->stream)
        return;
    fclose(writer->stream);
    writer->stream = NULL;
    unlink(writer->partial);
}

static sinew_status stream_size(FILE *stream, const char *path, size_t *size, sinew_error *error)
{
    struct stat facts;
    if (fstat(fileno(stream), &facts) != 0)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: is not a regular file", path);
    if (facts.st_size > (off_t)8 << 30)
        return sinew_fail(error, SINEW_ERROR_FILE, "%s: is larger than 8 GiB", path);
    *size = (size_t)facts.st_size;
    return SINEW_OK;
}

char *sinew_file_read(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
        return NULL;
    }
    char *text = NULL;
    if (stream_size(stream, path, size, error) == SINEW_OK) {
        text = sinew_allocate(allocator, *size + 1, 1);
        if (!text) {
            sinew_fail_memory(error, path);
        } else if (fread(text, 1, *size, stream) != *size) {
            sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
            sinew_release(allocator, text);
            text = NULL;
        } else {
            text[*size] = '\0';
        }
    }
    fclose(stream);
    return text;
}
