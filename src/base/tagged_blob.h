/* SPDX-License-Identifier: MIT
 *
 * tagged_blob.h: a block of tagged sections, each with its size and checksum, which may come from an untrusted source.
 *
 *      0  char[8]  "SINEWST\n"    the line break detects transfers that convert line ends
 *      8  uint32   version 2
 *     12  uint32   0x01020304     the byte order of the writer
 *     16  uint32   bytes of a real: 8 double, 4 single
 *     20  uint32   number of sections
 *     24  uint64   size of the block in bytes
 *     32  uint32   CRC-32 of header and table, this field being 0
 *     36  uint32   0
 *     40           the table, 32 bytes a section:
 *                  char[4] tag, uint32 flags (1: a reader that does not know the tag must refuse), uint32 index,
 *                  uint32 CRC-32 of the content, uint64 offset from the start, uint64 bytes
 *     ...          the contents, in the order of the table and without gaps
 * Numbers have the byte order of the writer.
 */
#ifndef SINEW_SRC_BASE_TAGGED_BLOB_H
#define SINEW_SRC_BASE_TAGGED_BLOB_H

#include "base/base.h"

typedef struct sinew_section {
    char tag[4];
    uint32_t flags;
    uint32_t index; /* distinguishes sections with the same tag, e.g. one per body */
    uint32_t checksum;
    uint64_t offset, size;
} sinew_section;

/* CRC-32 of `bytes`, continued from the CRC-32 `before` of the preceding bytes (0 at the start). */
uint32_t sinew_checksum(uint32_t before, const void *bytes, size_t size);

/* ---- Writing: once with bytes NULL to count sections and bytes, then again into a block of that size ------------ */

typedef struct sinew_section_writer {
    char *bytes;        /* the block being written; NULL: sections and bytes are only counted */
    uint32_t capacity;  /* capacity of the section table, in sections */
    uint32_t count;     /* number of sections written so far */
    size_t size;        /* bytes of header, section table and contents so far */
    sinew_section open; /* table entry of the section that is being written */
} sinew_section_writer;

/* Begins a block with a table of `capacity` sections; bytes NULL: sections and bytes are only counted. */
void sinew_sections_begin(sinew_section_writer *writer, void *bytes, uint32_t capacity);
/* Begins a section with a tag of four letters; `required`: a reader that does not know the tag must refuse the
 * block. */
void sinew_section_begin(sinew_section_writer *writer, const char *tag, bool required, uint32_t index);
void sinew_section_put(sinew_section_writer *writer, const void *bytes, size_t size);
/* Reserves `size` bytes in the open section and returns their address; NULL while sizes are only counted. */
void *sinew_section_reserve(sinew_section_writer *writer, size_t size);
void sinew_section_end(sinew_section_writer *writer);
/* writes the header of the block; sinew_section_end() has filled the table */
void sinew_sections_end(sinew_section_writer *writer);
/* Size of the whole block in bytes, from a writer that has counted all sections (bytes NULL). */
size_t sinew_sections_size(const sinew_section_writer *counted);

/* ---- Reading sections of a tagged blob ------------------------------------------------------------------------ */

typedef struct sinew_section_reader {
    const char *bytes;
    uint32_t count;
    uint32_t cursor; /* table index at which the next search for a section begins */
} sinew_section_reader;

/* Checks header, section table and checksums, but does not interpret contents. `known` [known_count]: known tags of
 * four letters. */
sinew_status sinew_sections_open(sinew_section_reader *reader, const void *bytes, size_t size, const char *const *known,
                                 int32_t known_count, sinew_error *error);
/* Returns the content of a section and its *size in bytes; NULL: no such section. A search begins behind the section
 * that the last one found, so searches in the order of writing take one step. */
const char *sinew_sections_find(sinew_section_reader *reader, const char *tag, uint32_t index, size_t *size);
uint32_t sinew_sections_count(const sinew_section_reader *reader, const char *tag);

#endif
