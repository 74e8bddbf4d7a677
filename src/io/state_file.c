/* SPDX-License-Identifier: MIT
 *
 * state_file.c: saves and loads the state of a world: the block of sinew_world_state_save(), which has a signature
 * and a checksum.
 *
 * The file is flushed to the disk before it is renamed, so that neither a kill nor a power failure leaves an
 * incomplete file under its final name.
 */
#include "io/file.h"
#include "sinew/scene.h"

#include <errno.h>
#include <string.h>

static sinew_status write_state_file(const char *path, const void *blob, size_t size, sinew_error *error)
{
    sinew_writer writer;
    sinew_status status = sinew_writer_open(&writer, path, error);
    if (status != SINEW_OK)
        return status;
    if (fwrite(blob, 1, size, writer.stream) == size)
        return sinew_writer_commit_durable(&writer, error);
    status = sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot write: %s", path, strerror(errno));
    sinew_writer_abandon(&writer);
    return status;
}

sinew_status sinew_state_write(const sinew_world *world, const char *path, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && path))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_state_write: world and path must be given");
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    size_t size = sinew_world_state_size(world);
    void *blob = sinew_allocate(&allocator, size, 1);
    if (!blob)
        return sinew_fail_memory(error, path);
    sinew_status status = sinew_world_state_save(world, blob, size);
    if (status == SINEW_OK)
        status = write_state_file(path, blob, size, error);
    else
        sinew_fail(error, status, "%s: the world does not give its state", path);
    sinew_release(&allocator, blob);
    return status;
}

/* `forced`: loads without sinew_world_state_check() */
static sinew_status load_state_file(sinew_world *world, const char *path, bool forced, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(world && path))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_state_read: world and path must be given");
    sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_error reason = {.status = SINEW_ERROR_FILE};
    size_t size = 0;
    char *file = sinew_file_read(path, &allocator, &size, &reason);
    if (!file)
        return sinew_fail(error, reason.status, "%s", reason.text);
    sinew_status status = forced ? SINEW_OK : sinew_world_state_check(world, file, size, &reason);
    if (status == SINEW_OK)
        status = sinew_world_state_load(world, file, size, &reason);
    if (status != SINEW_OK)
        sinew_fail(error, status, "%s: %s", path, reason.text);
    sinew_release(&allocator, file);
    return status;
}

sinew_status sinew_state_read(sinew_world *world, const char *path, sinew_error *error)
{
    return load_state_file(world, path, false, error);
}

sinew_status sinew_state_read_forced(sinew_world *world, const char *path, sinew_error *error)
{
    return load_state_file(world, path, true, error);
}
