/* SPDX-License-Identifier: MIT
 *
 * input.c: opens regular files, reads them whole, and estimates the memory of parsed JSON. See file.h and input.h.
 */
#include "io/input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.h"

static const size_t largest_file = (size_t)8 << 30;

/* Opens a regular file for reading and sets *size; returns its descriptor, -1 on failure. Without O_NONBLOCK opening a
 * pipe blocks until its other end is opened; regular files ignore the flag. */
static int open_regular_file(const char *path, int flags, size_t *size, sinew_error *error)
{
    struct stat facts;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
    if (file < 0 && errno == ELOOP && flags & O_NOFOLLOW)
        sinew_fail(error, SINEW_ERROR_FILE, "%s: is a symbolic link: put the file itself there", path);
    else if (file < 0 && (errno == ENXIO || errno == ENODEV))
        sinew_fail(error, SINEW_ERROR_FILE, "%s: is not a regular file", path);
    else if (file < 0 || fstat(file, &facts) != 0)
        sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
    else if (!S_ISREG(facts.st_mode))
        sinew_fail(error, SINEW_ERROR_FILE, "%s: is not a regular file", path);
    else {
        *size = (size_t)facts.st_size;
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

/* Reads `size` bytes of a file into `text`; returns false if the file ends early or a read fails. */
static bool read_whole(int file, const char *path, char *text, size_t size, sinew_error *error)
{
    for (size_t done = 0; done < size;) {
        ssize_t count = read(file, text + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path,
                       count < 0 ? strerror(errno) : "the file became shorter meanwhile");
            return false;
        }
        done += (size_t)count;
    }
    return true;
}

static char *input_read_file(const char *path, int flags, const sinew_allocator *allocator, size_t *size,
                             sinew_error *error)
{
    int file = open_regular_file(path, flags, size, error);
    if (file < 0)
        return NULL;
    if (*size > largest_file) {
        sinew_fail(error, SINEW_ERROR_FILE, "%s: is larger than 8 GiB", path);
        close(file);
        return NULL;
    }
    char *text = sinew_allocate(allocator, *size + 1, 1);
    if (!text) {
        sinew_fail_memory(error, path);
    } else if (read_whole(file, path, text, *size, error)) {
        text[*size] = '\0';
    } else {
        sinew_release(allocator, text);
        text = NULL;
    }
    close(file);
    return text;
}

FILE *sinew_file_stream(const char *path, size_t *size, sinew_error *error)
{
    int file = open_regular_file(path, 0, size, error);
    FILE *stream = file >= 0 ? fdopen(file, "rb") : NULL;
    if (file >= 0 && !stream) {
        sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read: %s", path, strerror(errno));
        close(file);
    }
    return stream;
}

char *sinew_file_read(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error)
{
    return input_read_file(path, 0, allocator, size, error);
}

char *sinew_file_read_beside(const char *path, const sinew_allocator *allocator, size_t *size, sinew_error *error)
{
    return input_read_file(path, O_NOFOLLOW, allocator, size, error);
}

/* ---- Cost of parsed JSON ------------------------------------------------------------------------- */

/* Numbers of bytes that jansson allocates on a 64-bit machine (measured) for an object, for one of its keys, and for
 * any value. */
enum {
    OBJECT_COST = 190,
    KEY_COST = 80,
    VALUE_COST = 42
};

static const char *skip_json_string(const char *text, const char *end)
{
    for (text++; text < end && *text != '"'; text++)
        text += *text == '\\' && text + 1 < end;
    return text;
}

size_t sinew_json_cost(const char *text, size_t size, size_t extra)
{
    const size_t value = VALUE_COST + extra;
    size_t cost = value;
    for (const char *c = text, *end = text + size; c < end; c++) {
        if (*c == '"')
            c = skip_json_string(c, end);
        else if (*c == ',' || *c == '[')
            cost += value;
        else if (*c == '{')
            cost += OBJECT_COST + value;
        else if (*c == ':')
            cost += KEY_COST;
        if (c == end)
            break;
    }
    return cost;
}

size_t sinew_json_budget(size_t size)
{
    return ((size_t)32 << 20) + 20 * size;
}
