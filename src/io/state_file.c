/* SPDX-License-Identifier: MIT
 *
 * state_file.c: the state of a world in a file.
 *
 * 40 bytes, then the blob of sinew_world_state_save():
 *      0  char[8]  "SINEWST\n"    not text: a transfer that changes line ends shows here
 *      8  uint32   version 1
 *     12  uint32   0x01020304     the byte order of the writer
 *     16  uint32   bytes of a real: 8 double, 4 single
 *     20  uint32   CRC-32 of the blob (zlib)
 *     24  uint64   bytes of the blob
 *     32  uint64   0
 * Numbers are in the order of the machine that wrote them, as the blob's are; a file of the other order is refused.
 */
#include "io/file.h"
#include "sinew/scene.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

static const char state_magic[8] = {'S', 'I', 'N', 'E', 'W', 'S', 'T', '\n'};

typedef struct state_header {
    char magic[8];
    uint32_t version;
    uint32_t order;
    uint32_t real_size;
    uint32_t checksum;
    uint64_t size;
    uint64_t zero;
} state_header;

_Static_assert(sizeof(state_header) == 40, "the header has no gaps");

static const uint32_t state_version = 1;
static const uint32_t state_order = 0x01020304;

static state_header header_of(const void *blob, size_t size)
{
    state_header header = {
        .version = state_version,
        .order = state_order,
        .real_size = sizeof(sinew_real),
        .checksum = (uint32_t)crc32_z(0, blob, size),
        .size = size,
    };
    memcpy(header.magic, state_magic, sizeof header.magic);
    return header;
}

static sinew_status write_file(const char *path, const void *blob, size_t size, sinew_error *error)
{
    sinew_writer writer;
    sinew_status status = sinew_writer_open(&writer, path, error);
    if (status != SINEW_OK)
        return status;
    state_header header = header_of(blob, size);
    if (fwrite(&header, sizeof header, 1, writer.stream) == 1 && fwrite(blob, 1, size, writer.stream) == size)
        return sinew_writer_commit(&writer, error);
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
        status = write_file(path, blob, size, error);
    else
        sinew_fail(error, status, "%s: the world does not give its state", path);
    sinew_release(&allocator, blob);
    return status;
}

/* What a person can do something about comes first: the kind of file, then its completeness, then its content. */
static sinew_status check(const char *path, const char *file, size_t file_size, state_header *header,
                          sinew_error *error)
{
    if (file_size < sizeof state_magic || memcmp(file, state_magic, sizeof state_magic) != 0)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is not a sinew state file", path);
    if (file_size < sizeof *header)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is cut off within its header", path);
    memcpy(header, file, sizeof *header);
    if (header->order != state_order)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: was written on a machine of the other byte order", path);
    if (header->version != state_version)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is a state file of version %u, this library reads %u", path,
                          (unsigned)header->version, (unsigned)state_version);
    if (header->real_size != sizeof(sinew_real))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: was written in %s precision, this library is %s", path,
                          header->real_size == sizeof(double) ? "double" : "single", SINEW_PRECISION);
    size_t size = file_size - sizeof *header;
    if (size != header->size)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is %s: it holds %zu bytes of state and should hold %llu",
                          path, size < header->size ? "cut off" : "too long", size, (unsigned long long)header->size);
    if (crc32_z(0, (const unsigned char *)file + sizeof *header, size) != header->checksum)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "%s: is damaged: its checksum does not match", path);
    return SINEW_OK;
}

sinew_status sinew_state_read(sinew_world *world, const char *path, sinew_error *error)
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
    state_header header;
    sinew_status status = check(path, file, size, &header, error);
    if (status == SINEW_OK) {
        status = sinew_world_state_load(world, file + sizeof header, (size_t)header.size, &reason);
        if (status != SINEW_OK)
            sinew_fail(error, status, "%s: %s", path, reason.text);
    }
    sinew_release(&allocator, file);
    return status;
}
