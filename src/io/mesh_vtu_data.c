/* SPDX-License-Identifier: MIT
 *
 * mesh_vtu_data.c: decodes one array of a VTK XML file.
 *
 * Source: "VTK file formats" (the VTK user's guide) and vtkXMLWriter. Plain: [bytes] data. Compressed: [blocks] [size
 * of a block] [size of the last, 0: full] [compressed size of each] data. In base64 a plain array is one run, a
 * compressed one two: the header, padded by itself, then the data. Nothing is allocated for a size that the bytes at
 * hand cannot hold: deflate shrinks by at most 1032 to 1 (zlib's technical notes).
 */
#include "io/mesh_vtu_data.h"

#include <string.h>
#include <zlib.h>

#include "io/mesh_base64.h"

enum {
    DEFLATE_RATIO_MAX = 1032
};

/* Where encoded bytes come from. */
typedef struct byte_span {
    const char *at;
    const char *end;
} byte_span;

typedef struct vtu_decoder {
    const sinew_text *text;
    const char *place;
    const sinew_vtu_coding *coding;
    const sinew_allocator *allocator;
} vtu_decoder;

void sinew_vtu_array_release(sinew_vtu_array *array, const sinew_allocator *allocator)
{
    sinew_release(allocator, array->owned);
    *array = (sinew_vtu_array){0};
}

double sinew_vtu_real(const sinew_vtu_array *array, int64_t i)
{
    return sinew_scalar_real(array->type, array->bytes + (size_t)i * sinew_scalar_size(array->type), array->swap);
}

int64_t sinew_vtu_integer(const sinew_vtu_array *array, int64_t i)
{
    return sinew_scalar_integer(array->type, array->bytes + (size_t)i * sinew_scalar_size(array->type), array->swap);
}

static void *allocate_bytes(const vtu_decoder *decoder, size_t size)
{
    void *bytes = sinew_allocate(decoder->allocator, size, 1);
    if (!bytes)
        sinew_fail_memory(decoder->text->error, "an array of the file");
    return bytes;
}

static bool fail(const vtu_decoder *decoder, const char *reason)
{
    return sinew_text_fail(decoder->text, decoder->place, "%s", reason);
}

/* ---- Text ---------------------------------------------------------------------------------- */

/* Puts one number behind the others; there is room. */
static bool take_number(sinew_text *text, sinew_vtu_array *array)
{
    unsigned char *slot = (unsigned char *)array->owned + 8 * (size_t)array->count++;
    if (array->type == SINEW_SCALAR_DOUBLE) {
        double number;
        if (!sinew_text_real(text, "a number", &number))
            return false;
        memcpy(slot, &number, sizeof number);
    } else {
        int64_t number;
        if (!sinew_text_integer(text, INT64_MIN, INT64_MAX, "a whole number", &number))
            return false;
        memcpy(slot, &number, sizeof number);
    }
    return true;
}

/* Words between start and end. */
static size_t count_words(const char *start, const char *end)
{
    size_t words = 0;
    bool inside = false;
    for (const char *c = start; c < end; c++) {
        bool space = *c == ' ' || (*c >= '\t' && *c <= '\r');
        words += !space && !inside;
        inside = !space;
    }
    return words;
}

bool sinew_vtu_read_text(sinew_text *text, const char *end, sinew_scalar type, const sinew_allocator *allocator,
                         sinew_vtu_array *array)
{
    const char *start = text->at, *file_end = text->end;
    size_t count = count_words(start, end);
    *array = (sinew_vtu_array){.type = sinew_scalar_is_integer(type) ? SINEW_SCALAR_INT64 : SINEW_SCALAR_DOUBLE};
    array->owned = sinew_allocate(allocator, count, 8);
    if (!array->owned) {
        sinew_fail_memory(text->error, "an array of the file");
        return false;
    }
    array->bytes = array->owned;
    text->end = end;
    bool good = true;
    while (good && (size_t)array->count < count)
        good = take_number(text, array);
    text->at = start;
    text->end = file_end;
    if (!good)
        sinew_vtu_array_release(array, allocator);
    return good;
}

/* ---- Bytes, raw or base64 ------------------------------------------------------------------ */

/* Most bytes that the span can still give. */
static size_t bytes_left(byte_span span, bool base64)
{
    size_t length = (size_t)(span.end - span.at);
    return base64 ? sinew_base64_capacity(length) : length;
}

static bool take_bytes(byte_span *span, bool base64, unsigned char *out, size_t size)
{
    if (base64)
        return sinew_base64_decode(&span->at, span->end, out, size);
    if (size > (size_t)(span->end - span->at))
        return false;
    memcpy(out, span->at, size);
    span->at += size;
    return true;
}

static int64_t header_word(const vtu_decoder *decoder, const unsigned char *header, int64_t i)
{
    sinew_scalar type = decoder->coding->header_type;
    return sinew_scalar_integer(type, header + (size_t)i * sinew_scalar_size(type), decoder->coding->swap);
}

static bool set_count(const vtu_decoder *decoder, sinew_vtu_array *array, size_t size)
{
    size_t each = sinew_scalar_size(array->type);
    array->count = (int64_t)(size / each);
    return size % each == 0 || fail(decoder, "an array does not hold a whole number of values");
}

/* ---- Not compressed ------------------------------------------------------------------------ */

/* A base64 run holds the header and the data together; the data start where the header ends, on no group border. */
static bool read_plain_base64(const vtu_decoder *decoder, byte_span span, sinew_vtu_array *array)
{
    size_t header_size = sinew_scalar_size(decoder->coding->header_type);
    unsigned char header[8];
    byte_span peek = span;
    if (!sinew_base64_decode(&peek.at, peek.end, header, header_size))
        return fail(decoder, "an array lacks its byte count: the base64 text is broken or cut short");
    int64_t size = header_word(decoder, header, 0);
    if (size < 0 || (uint64_t)size > bytes_left(span, true))
        return fail(decoder, "an array promises more bytes than its text holds");
    array->owned = allocate_bytes(decoder, header_size + (size_t)size);
    if (!array->owned)
        return false;
    if (!sinew_base64_decode(&span.at, span.end, array->owned, header_size + (size_t)size))
        return fail(decoder, "the base64 text of an array is broken or cut short");
    array->bytes = (unsigned char *)array->owned + header_size;
    return set_count(decoder, array, (size_t)size);
}

/* Raw bytes stay where they are. */
static bool read_plain_raw(const vtu_decoder *decoder, byte_span span, sinew_vtu_array *array)
{
    size_t header_size = sinew_scalar_size(decoder->coding->header_type);
    unsigned char header[8];
    if (!take_bytes(&span, false, header, header_size))
        return fail(decoder, "an array starts past the end of the appended data");
    int64_t size = header_word(decoder, header, 0);
    if (size < 0 || (uint64_t)size > bytes_left(span, false))
        return fail(decoder, "an array promises more bytes than the appended data hold: the file is cut short");
    array->bytes = (const unsigned char *)span.at;
    return set_count(decoder, array, (size_t)size);
}

/* ---- Compressed ---------------------------------------------------------------------------- */

static void *zlib_allocate(void *allocator, unsigned count, unsigned size)
{
    return sinew_allocate(allocator, count, size);
}

static void zlib_release(void *allocator, void *memory)
{
    sinew_release(allocator, memory);
}

/* True when the block unpacks to exactly `size` bytes. */
static bool unpack_block(const vtu_decoder *decoder, const unsigned char *packed, size_t packed_size,
                         unsigned char *out, size_t size)
{
    sinew_allocator allocator = *decoder->allocator;
    z_stream stream = {.zalloc = zlib_allocate, .zfree = zlib_release, .opaque = &allocator};
    if (packed_size > UINT32_MAX || size > UINT32_MAX)
        return fail(decoder, "a compressed block is larger than 4 GiB");
    int status = inflateInit(&stream);
    if (status != Z_OK) {
        sinew_fail_memory(decoder->text->error, "unpacking an array");
        return false;
    }
    stream.next_in = (unsigned char *)packed;
    stream.avail_in = (unsigned)packed_size;
    stream.next_out = out;
    stream.avail_out = (unsigned)size;
    status = inflate(&stream, Z_FINISH);
    bool whole = status == Z_STREAM_END && stream.avail_out == 0;
    inflateEnd(&stream);
    if (status == Z_MEM_ERROR) {
        sinew_fail_memory(decoder->text->error, "unpacking an array");
        return false;
    }
    return whole || fail(decoder, "a compressed block of an array is damaged");
}

/* The sizes in the header of a compressed array. */
typedef struct packed_layout {
    unsigned char *header; /* [3 + blocks] words, owned */
    int64_t blocks;
    int64_t block_size; /* unpacked, all but the last */
    int64_t last_size;  /* unpacked, of the last */
    size_t packed_size;
    size_t size; /* unpacked, of all */
} packed_layout;

/* Adds up the sizes, refusing what cannot be. */
static bool check_layout(const vtu_decoder *decoder, packed_layout *layout, size_t left)
{
    for (int64_t i = 0; i < layout->blocks; i++) {
        int64_t packed = header_word(decoder, layout->header, 3 + i);
        int64_t unpacked = i + 1 < layout->blocks ? layout->block_size : layout->last_size;
        if (packed < 0 || (uint64_t)packed > left - layout->packed_size)
            return fail(decoder, "a compressed array promises more bytes than the file holds: it is cut short");
        if (unpacked < 0 || unpacked / DEFLATE_RATIO_MAX > packed)
            return fail(decoder, "a compressed array promises more than its bytes can unpack to");
        layout->packed_size += (size_t)packed;
        layout->size += (size_t)unpacked;
    }
    return true;
}

static bool read_layout(const vtu_decoder *decoder, byte_span *span, bool base64, packed_layout *layout)
{
    size_t word = sinew_scalar_size(decoder->coding->header_type);
    unsigned char first[24];
    byte_span peek = *span;
    *layout = (packed_layout){0};
    /* No blocks at all is one word, or three. */
    if (!take_bytes(&peek, base64, first, word))
        return fail(decoder, "a compressed array lacks its header");
    layout->blocks = header_word(decoder, first, 0);
    if (layout->blocks == 0)
        return true;
    peek = *span;
    if (layout->blocks < 0 || (uint64_t)layout->blocks > bytes_left(peek, base64) / word ||
        !take_bytes(&peek, base64, first, 3 * word))
        return fail(decoder, "a compressed array promises more blocks than the file holds");
    layout->block_size = header_word(decoder, first, 1);
    layout->last_size = header_word(decoder, first, 2);
    if (layout->last_size == 0)
        layout->last_size = layout->block_size;
    size_t header_size = (size_t)(3 + layout->blocks) * word;
    layout->header = allocate_bytes(decoder, header_size);
    if (!layout->header)
        return false;
    if (!take_bytes(span, base64, layout->header, header_size))
        return fail(decoder, "the header of a compressed array is broken or cut short");
    return check_layout(decoder, layout, bytes_left(*span, base64));
}

static bool unpack_blocks(const vtu_decoder *decoder, const packed_layout *layout, const unsigned char *packed,
                          unsigned char *out)
{
    for (int64_t i = 0; i < layout->blocks; i++) {
        size_t packed_size = (size_t)header_word(decoder, layout->header, 3 + i);
        size_t size = (size_t)(i + 1 < layout->blocks ? layout->block_size : layout->last_size);
        if (!unpack_block(decoder, packed, packed_size, out, size))
            return false;
        packed += packed_size;
        out += size;
    }
    return true;
}

static bool unpack_array(const vtu_decoder *decoder, byte_span span, bool base64, const packed_layout *layout,
                         sinew_vtu_array *array)
{
    unsigned char *copy = NULL;
    const unsigned char *packed = (const unsigned char *)span.at;
    if (base64) {
        packed = copy = allocate_bytes(decoder, layout->packed_size);
        if (!copy)
            return false;
    }
    bool good = !base64 || sinew_base64_decode(&span.at, span.end, copy, layout->packed_size) ||
                fail(decoder, "the base64 text of an array is broken or cut short");
    if (good) {
        array->owned = allocate_bytes(decoder, layout->size);
        array->bytes = array->owned;
        good = array->owned && unpack_blocks(decoder, layout, packed, array->owned) &&
               set_count(decoder, array, layout->size);
    }
    sinew_release(decoder->allocator, copy);
    return good;
}

static bool read_packed(const vtu_decoder *decoder, byte_span span, bool base64, sinew_vtu_array *array)
{
    packed_layout layout;
    bool good = read_layout(decoder, &span, base64, &layout);
    if (good && layout.blocks > 0)
        good = unpack_array(decoder, span, base64, &layout, array);
    sinew_release(decoder->allocator, layout.header);
    return good;
}

/* ---- Entry points -------------------------------------------------------------------------- */

bool sinew_vtu_read_base64(const sinew_text *text, const char *end, const char *place, const sinew_vtu_coding *coding,
                           sinew_scalar type, const sinew_allocator *allocator, sinew_vtu_array *array)
{
    vtu_decoder decoder = {text, place, coding, allocator};
    byte_span span = {text->at, end};
    *array = (sinew_vtu_array){.type = type, .swap = coding->swap};
    bool good =
        coding->compressed ? read_packed(&decoder, span, true, array) : read_plain_base64(&decoder, span, array);
    if (!good)
        sinew_vtu_array_release(array, allocator);
    return good;
}

bool sinew_vtu_read_raw(const sinew_text *text, const char *end, const char *place, const sinew_vtu_coding *coding,
                        sinew_scalar type, const sinew_allocator *allocator, sinew_vtu_array *array)
{
    vtu_decoder decoder = {text, place, coding, allocator};
    byte_span span = {text->at, end};
    *array = (sinew_vtu_array){.type = type, .swap = coding->swap};
    bool good = coding->compressed ? read_packed(&decoder, span, false, array) : read_plain_raw(&decoder, span, array);
    if (!good)
        sinew_vtu_array_release(array, allocator);
    return good;
}
