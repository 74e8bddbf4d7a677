/* SPDX-License-Identifier: MIT
 *
 * tagged_blob.c: writes tagged sections to one block of bytes and reads them from an untrusted block.
 *
 * Every size is compared with the size of the block before it is used for reading, and nothing is allocated.
 */
#include "base/tagged_blob.h"

#include <string.h>
#include <zlib.h>

static const char section_magic[8] = {'S', 'I', 'N', 'E', 'W', 'S', 'T', '\n'};
static const uint32_t section_version = 2;
static const uint32_t section_order = 0x01020304;

enum {
    SECTION_REQUIRED = 1
};

typedef struct section_header {
    char magic[8];
    uint32_t version;
    uint32_t order;
    uint32_t real_size;
    uint32_t count;
    uint64_t size;
    uint32_t checksum;
    uint32_t zero;
} section_header;

_Static_assert(sizeof(section_header) == 40, "the header has no gaps");
_Static_assert(sizeof(sinew_section) == 32, "a row of the table has no gaps");

uint32_t sinew_checksum(uint32_t before, const void *bytes, size_t size)
{
    /* zlib's crc32_z returns its initial value for a null pointer; an empty range must leave the checksum unchanged. */
    return size ? (uint32_t)crc32_z(before, bytes, size) : before;
}

/* The CRC-32 of header and section table, computed with 0 in the header's checksum field. */
static uint32_t head_checksum(section_header header, const void *table)
{
    header.checksum = 0;
    return sinew_checksum(sinew_checksum(0, &header, sizeof header), table, header.count * sizeof(sinew_section));
}

/* ---- Writing sections of a tagged blob ------------------------------------------------------- */

void sinew_sections_begin(sinew_section_writer *writer, void *bytes, uint32_t capacity)
{
    *writer = (sinew_section_writer){.bytes = bytes, .capacity = capacity};
    writer->size = sizeof(section_header) + capacity * sizeof(sinew_section);
}

void sinew_section_begin(sinew_section_writer *writer, const char *tag, bool required, uint32_t index)
{
    writer->open = (sinew_section){.flags = required ? SECTION_REQUIRED : 0, .index = index, .offset = writer->size};
    memcpy(writer->open.tag, tag, sizeof writer->open.tag);
}

void *sinew_section_reserve(sinew_section_writer *writer, size_t size)
{
    char *target = writer->bytes ? writer->bytes + writer->size : NULL;
    writer->size += size;
    return target;
}

void sinew_section_put(sinew_section_writer *writer, const void *bytes, size_t size)
{
    char *target = sinew_section_reserve(writer, size);
    if (target && size)
        memcpy(target, bytes, size);
}

void sinew_section_end(sinew_section_writer *writer)
{
    sinew_section *section = &writer->open;
    section->size = writer->size - section->offset;
    if (writer->bytes) {
        section->checksum = sinew_checksum(0, writer->bytes + section->offset, (size_t)section->size);
        memcpy(writer->bytes + sizeof(section_header) + writer->count * sizeof *section, section, sizeof *section);
    }
    writer->count++;
}

void sinew_sections_end(sinew_section_writer *writer)
{
    section_header header = {
        .version = section_version,
        .order = section_order,
        .real_size = sizeof(sinew_real),
        .count = writer->count,
        .size = writer->size,
    };
    memcpy(header.magic, section_magic, sizeof header.magic);
    header.checksum = head_checksum(header, writer->bytes + sizeof header);
    memcpy(writer->bytes, &header, sizeof header);
}

size_t sinew_sections_size(const sinew_section_writer *counted)
{
    return counted->size + (counted->count - counted->capacity) * sizeof(sinew_section);
}

/* ---- Reading sections of a tagged blob ------------------------------------------------------- */

static sinew_section section_at(const sinew_section_reader *reader, uint32_t i)
{
    sinew_section section;
    memcpy(&section, reader->bytes + sizeof(section_header) + i * sizeof section, sizeof section);
    return section;
}

/* Checks the header from the general to the specific, so that the error names the first thing to repair: kind of file,
 * completeness, content. */
static sinew_status blob_check_header(const void *bytes, size_t size, section_header *header, sinew_error *error)
{
    if (size < sizeof section_magic || memcmp(bytes, section_magic, sizeof section_magic) != 0)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is not a sinew state");
    if (size < sizeof *header)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is cut off within its header");
    memcpy(header, bytes, sizeof *header);
    if (header->order != section_order)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "was written on a machine of the other byte order");
    if (header->version != section_version)
        return sinew_fail(error, SINEW_ERROR_FORMAT,
                          "is a state of version %u, this library reads %u; run the scene again from its start",
                          (unsigned)header->version, (unsigned)section_version);
    if (header->real_size != sizeof(sinew_real))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "was written in %s precision, this library is " SINEW_PRECISION,
                          header->real_size == sizeof(double) ? "double" : "single");
    if (size != header->size)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is %s: it has %zu bytes and should have %llu",
                          size < header->size ? "cut off" : "too long", size, (unsigned long long)header->size);
    if (header->count > (size - sizeof *header) / sizeof(sinew_section) || header->zero != 0)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: its header does not fit its size");
    if (head_checksum(*header, (const char *)bytes + sizeof *header) != header->checksum)
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the checksum of its header does not match");
    return SINEW_OK;
}

static bool blob_is_known(const char tag[4], const char *const *known, int32_t known_count)
{
    for (int32_t i = 0; i < known_count; i++)
        if (memcmp(tag, known[i], 4) == 0)
            return true;
    return false;
}

/* Section tag as text: bytes that are not printable become '?'. */
static void print_tag(const char tag[4], char text[5])
{
    for (int i = 0; i < 4; i++)
        text[i] = tag[i] >= ' ' && tag[i] <= '~' ? tag[i] : '?';
    text[4] = '\0';
}

sinew_status sinew_sections_open(sinew_section_reader *reader, const void *bytes, size_t size, const char *const *known,
                                 int32_t known_count, sinew_error *error)
{
    section_header header;
    sinew_status status = blob_check_header(bytes, size, &header, error);
    if (status != SINEW_OK)
        return status;
    *reader = (sinew_section_reader){.bytes = bytes, .count = header.count};
    uint64_t end = sizeof header + header.count * sizeof(sinew_section);
    for (uint32_t i = 0; i < header.count; i++) {
        sinew_section section = section_at(reader, i);
        char tag[5];
        print_tag(section.tag, tag);
        if (section.offset != end || section.size > size - end)
            return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: section %s does not fit", tag);
        end += section.size;
        if (sinew_checksum(0, reader->bytes + section.offset, (size_t)section.size) != section.checksum)
            return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: the checksum of section %s does not match", tag);
        if ((section.flags & SECTION_REQUIRED) && !blob_is_known(section.tag, known, known_count))
            return sinew_fail(error, SINEW_ERROR_FORMAT,
                              "has a section %s that this version does not know; use the one that wrote it", tag);
    }
    return end == size ? SINEW_OK : sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: it holds unnamed bytes");
}

const char *sinew_sections_find(sinew_section_reader *reader, const char *tag, uint32_t index, size_t *size)
{
    for (uint32_t step = 0; step < reader->count; step++) {
        uint32_t i = (reader->cursor + step) % reader->count;
        sinew_section section = section_at(reader, i);
        if (memcmp(section.tag, tag, sizeof section.tag) != 0 || section.index != index)
            continue;
        reader->cursor = i + 1;
        *size = (size_t)section.size;
        return reader->bytes + section.offset;
    }
    *size = 0;
    return NULL;
}

uint32_t sinew_sections_count(const sinew_section_reader *reader, const char *tag)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < reader->count; i++) {
        sinew_section section = section_at(reader, i);
        count += memcmp(section.tag, tag, sizeof section.tag) == 0;
    }
    return count;
}
