/* SPDX-License-Identifier: MIT
 *
 * vtu_arrays.c: decodes the arrays of a VTK XML file.
 *
 * Source: "VTK file formats" (the VTK user's guide) and vtkXMLWriter. Layout of a plain array: [bytes] data.
 * Compressed: [blocks] [size of a block] [size of the last, 0: full] [compressed size of each] data. A run is text that
 * is encoded by itself in base64 and ends with its own padding: a plain array is one run; a compressed array has two,
 * the header and the data. Only the header of a compressed array is allocated with a size from the file, which contains
 * it. Deflate compresses by at most 1032 to 1 (zlib's technical notes), which bounds the claimed sizes.
 */
#include "io/mesh/vtu_arrays.h"

#include <string.h>
#include <zlib.h>

#include "io/mesh/base64.h"

enum {
    DEFLATE_RATIO_MAX = 1032,
    CHUNK_SIZE = 8192, /* bytes decoded at a time; a multiple of the size of every number type */
    PACKED_SIZE = 4096
};

/* Source of an array's encoded bytes. A base64 group gives three bytes, so up to two are buffered for the next call. */
typedef struct byte_source {
    const char *at;
    const char *end;
    bool base64;
    bool run_ended; /* true: base64 padding has ended the run of bytes */
    unsigned char spare[3];
    int spare_count;
} byte_source;

/* The sizes in the header of a zlib-compressed array. */
typedef struct packed_layout {
    unsigned char *header; /* [3 + blocks] words of the array's header, owned */
    int64_t blocks;
    int64_t block_size; /* number of uncompressed bytes of every block but the last */
    int64_t last_size;  /* number of uncompressed bytes of the last block */
    size_t packed_size; /* number of compressed bytes of all blocks of the array */
    size_t size;        /* number of uncompressed bytes of all blocks of the array */
} packed_layout;

struct sinew_vtu_stream {
    sinew_allocator allocator;
    const sinew_vtu_array *array;
    sinew_vtu_coding coding;
    sinew_text text; /* cursor at the next number of a text array; also receives errors */
    byte_source source;
    size_t left;         /* number of bytes of the array that are not yet in the decoded chunk */
    size_t used, filled; /* numbers of bytes of the decoded chunk that are read, and that are valid */
    unsigned char chunk[CHUNK_SIZE];
    /* The following members serve zlib-compressed arrays. */
    packed_layout layout;
    z_stream zlib;
    bool zlib_open;
    int64_t block;      /* index of the current compressed block */
    size_t block_left;  /* number of uncompressed bytes of the current block that are not yet read */
    size_t packed_left; /* number of compressed bytes of the current block that zlib has not yet received */
    unsigned char packed[PACKED_SIZE];
};

static bool vtu_array_fail(const sinew_text *text, const sinew_vtu_array *array, const char *reason)
{
    return sinew_text_fail(text, array->location, "%s", reason);
}

static bool fail_memory(const sinew_text *text)
{
    sinew_fail_memory(text->error, "an array of the file");
    return false;
}

/* ---- Encoded bytes of an array, raw or base64 ---------------------------------------------------- */

/* Upper bound of the number of bytes that the source can still return. */
static size_t bytes_left(const byte_source *source)
{
    size_t length = (size_t)(source->end - source->at);
    return source->base64 ? sinew_base64_capacity(length) + (size_t)source->spare_count : length;
}

static bool take_base64(byte_source *source, unsigned char *out, size_t size)
{
    for (size_t done = 0; done < size;) {
        if (source->spare_count == 0) {
            int count = source->run_ended ? 0 : sinew_base64_group(&source->at, source->end, source->spare);
            if (count == 0)
                return false;
            source->run_ended = count < 3;
            source->spare_count = count;
        }
        size_t count = (size_t)source->spare_count < size - done ? (size_t)source->spare_count : size - done;
        memcpy(out + done, source->spare, count);
        source->spare_count -= (int)count;
        memmove(source->spare, source->spare + count, (size_t)source->spare_count);
        done += count;
    }
    return true;
}

static bool take_bytes(byte_source *source, unsigned char *out, size_t size)
{
    if (source->base64)
        return take_base64(source, out, size);
    if (size > (size_t)(source->end - source->at))
        return false;
    memcpy(out, source->at, size);
    source->at += size;
    return true;
}

/* Starts a new base64 run, which shares no bits with the previous run. */
static void vtu_array_next_run(byte_source *source)
{
    source->spare_count = 0;
    source->run_ended = false;
}

static int64_t header_word(const sinew_vtu_coding *coding, const unsigned char *header, int64_t i)
{
    return sinew_scalar_integer(coding->header_type, header + (size_t)i * sinew_scalar_size(coding->header_type),
                                coding->swap);
}

static byte_source vtu_array_source_of(const sinew_vtu_array *array)
{
    return (byte_source){.at = array->at, .end = array->end, .base64 = array->form == SINEW_VTU_BASE64};
}

/* ---- Headers of arrays with their sizes ---------------------------------------------------------- */

static bool read_plain_header(const sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                              byte_source *source, size_t *size)
{
    unsigned char header[8];
    if (!take_bytes(source, header, sinew_scalar_size(coding->header_type)))
        return vtu_array_fail(text, array,
                              source->base64 ? "an array lacks its byte count: the base64 text is broken or cut short"
                                             : "an array starts past the end of the appended data");
    int64_t promised = header_word(coding, header, 0);
    if (promised < 0 || (uint64_t)promised > bytes_left(source))
        return vtu_array_fail(text, array,
                              source->base64
                                  ? "an array promises more bytes than its text holds"
                                  : "an array promises more bytes than the appended data hold: the file is cut short");
    *size = (size_t)promised;
    return true;
}

/* Sums the block sizes of a compressed array; fails if they are inconsistent or exceed deflate's maximum ratio. */
static bool check_layout(const sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                         packed_layout *layout, size_t left)
{
    for (int64_t i = 0; i < layout->blocks; i++) {
        int64_t packed = header_word(coding, layout->header, 3 + i);
        int64_t unpacked = i + 1 < layout->blocks ? layout->block_size : layout->last_size;
        if (packed < 0 || (uint64_t)packed > left - layout->packed_size)
            return vtu_array_fail(text, array,
                                  "a compressed array promises more bytes than the file holds: it is cut short");
        if (unpacked < 0 || unpacked / DEFLATE_RATIO_MAX > packed)
            return vtu_array_fail(text, array, "a compressed array promises more than its bytes can unpack to");
        layout->packed_size += (size_t)packed;
        layout->size += (size_t)unpacked;
    }
    return true;
}

/* Reads the header of a compressed array into *layout. The caller releases layout->header, also after a failure. */
static bool read_layout(const sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                        const sinew_allocator *allocator, byte_source *source, packed_layout *layout)
{
    size_t word = sinew_scalar_size(coding->header_type);
    unsigned char first[24];
    byte_source peek = *source;
    *layout = (packed_layout){0};
    /* A compressed array without blocks has a header of one word or three. */
    if (!take_bytes(&peek, first, word))
        return vtu_array_fail(text, array, "a compressed array lacks its header");
    layout->blocks = header_word(coding, first, 0);
    if (layout->blocks == 0)
        return true;
    if (layout->blocks < 0 || (uint64_t)layout->blocks > bytes_left(source) / word ||
        !take_bytes(&peek, first + word, 2 * word))
        return vtu_array_fail(text, array, "a compressed array promises more blocks than the file holds");
    layout->block_size = header_word(coding, first, 1);
    layout->last_size = header_word(coding, first, 2);
    if (layout->last_size == 0)
        layout->last_size = layout->block_size;
    size_t header_size = (size_t)(3 + layout->blocks) * word;
    layout->header = sinew_allocate(allocator, header_size, 1);
    if (!layout->header)
        return fail_memory(text);
    if (!take_bytes(source, layout->header, header_size))
        return vtu_array_fail(text, array, "the header of a compressed array is broken or cut short");
    vtu_array_next_run(source);
    return check_layout(array, text, coding, layout, bytes_left(source));
}

/* Counts the words (numbers) of a text array between start and end. */
static int64_t count_words(const char *start, const char *end)
{
    int64_t words = 0;
    bool inside = false;
    for (const char *c = start; c < end; c++) {
        bool space = *c == ' ' || (*c >= '\t' && *c <= '\r');
        words += !space && !inside;
        inside = !space;
    }
    return words;
}

bool sinew_vtu_measure(sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                       const sinew_allocator *allocator)
{
    size_t size = 0;
    byte_source source = vtu_array_source_of(array);
    if (array->form == SINEW_VTU_TEXT) {
        array->count = count_words(array->at, array->end);
        return true;
    }
    if (coding->compressed) {
        packed_layout layout;
        bool good = read_layout(array, text, coding, allocator, &source, &layout);
        size = layout.size;
        sinew_release(allocator, layout.header);
        if (!good)
            return false;
    } else if (!read_plain_header(array, text, coding, &source, &size)) {
        return false;
    }
    size_t each = sinew_scalar_size(array->type);
    array->count = (int64_t)(size / each);
    return size % each == 0 || vtu_array_fail(text, array, "an array does not hold a whole number of values");
}

/* ---- Decompression of arrays by zlib ------------------------------------------------------------- */

static void *zlib_allocate(void *allocator, unsigned count, unsigned size)
{
    return sinew_allocate(allocator, count, size);
}

static void zlib_release(void *allocator, void *memory)
{
    sinew_release(allocator, memory);
}

static bool fail_block(const sinew_vtu_stream *stream, int status)
{
    if (status != Z_MEM_ERROR)
        return vtu_array_fail(&stream->text, stream->array, "a compressed block of an array is damaged");
    sinew_fail_memory(stream->text.error, "unpacking an array");
    return false;
}

static bool open_zlib(sinew_vtu_stream *stream)
{
    stream->zlib = (z_stream){.zalloc = zlib_allocate, .zfree = zlib_release, .opaque = &stream->allocator};
    stream->zlib_open = inflateInit(&stream->zlib) == Z_OK;
    return stream->zlib_open || fail_block(stream, Z_MEM_ERROR);
}

/* Sets the sizes of the current compressed block. */
static void start_block(sinew_vtu_stream *stream)
{
    const packed_layout *layout = &stream->layout;
    bool last = stream->block + 1 == layout->blocks;
    stream->block_left = (size_t)(last ? layout->last_size : layout->block_size);
    stream->packed_left = (size_t)header_word(&stream->coding, layout->header, 3 + stream->block);
    stream->zlib.avail_in = 0;
}

static bool feed_zlib(sinew_vtu_stream *stream)
{
    if (stream->zlib.avail_in > 0 || stream->packed_left == 0)
        return true;
    size_t size = stream->packed_left < PACKED_SIZE ? stream->packed_left : PACKED_SIZE;
    if (!take_bytes(&stream->source, stream->packed, size))
        return vtu_array_fail(&stream->text, stream->array, "the base64 text of an array is broken or cut short");
    stream->packed_left -= size;
    stream->zlib.next_in = stream->packed;
    stream->zlib.avail_in = (unsigned)size;
    return true;
}

/* Decompresses `size` bytes of the current block. Size 0 checks the end of the block, which must have no data left. */
static bool inflate_bytes(sinew_vtu_stream *stream, unsigned char *out, size_t size)
{
    unsigned char beyond;
    stream->zlib.next_out = size ? out : &beyond;
    stream->zlib.avail_out = size ? (unsigned)size : 1;
    for (;;) {
        if (!feed_zlib(stream))
            return false;
        bool last = stream->packed_left == 0;
        int status = inflate(&stream->zlib, Z_NO_FLUSH);
        if (size == 0 && status == Z_STREAM_END && stream->zlib.avail_out == 1 && last)
            return true;
        if (size > 0 && stream->zlib.avail_out == 0 && (status == Z_OK || status == Z_STREAM_END))
            return true;
        /* Z_BUF_ERROR: zlib needs more input; it is an error only after the last input. */
        bool hungry = (status == Z_OK || status == Z_BUF_ERROR) && stream->zlib.avail_out > 0 && !last;
        if (!hungry || stream->zlib.avail_in > 0)
            return fail_block(stream, status);
    }
}

static bool end_block(sinew_vtu_stream *stream)
{
    if (!inflate_bytes(stream, NULL, 0))
        return false;
    inflateReset(&stream->zlib);
    if (++stream->block < stream->layout.blocks)
        start_block(stream);
    return true;
}

static bool take_unpacked(sinew_vtu_stream *stream, unsigned char *out, size_t size)
{
    while (size > 0) {
        size_t count = size < stream->block_left ? size : stream->block_left;
        if (count > 0 && !inflate_bytes(stream, out, count))
            return false;
        stream->block_left -= count;
        out += count;
        size -= count;
        if (stream->block_left == 0 && !end_block(stream))
            return false;
    }
    return true;
}

/* ---- Streams of an array's numbers --------------------------------------------------------------- */

/* Moves the stream to the array's first number, past its header. */
static bool skip_to_first_number(sinew_vtu_stream *stream)
{
    const sinew_vtu_array *array = stream->array;
    if (array->form == SINEW_VTU_NONE)
        return true;
    if (array->form == SINEW_VTU_TEXT) {
        stream->text.at = array->at;
        stream->text.end = array->end;
        return true;
    }
    if (!stream->coding.compressed)
        return read_plain_header(array, &stream->text, &stream->coding, &stream->source, &stream->left);
    if (!read_layout(array, &stream->text, &stream->coding, &stream->allocator, &stream->source, &stream->layout) ||
        !open_zlib(stream))
        return false;
    stream->left = stream->layout.size;
    if (stream->layout.blocks > 0)
        start_block(stream);
    return true;
}

sinew_vtu_stream *sinew_vtu_open(const sinew_vtu_array *array, const sinew_text *text, const sinew_vtu_coding *coding,
                                 const sinew_allocator *allocator)
{
    sinew_vtu_stream *stream = sinew_allocate_zero(allocator, 1, sizeof *stream);
    if (!stream) {
        fail_memory(text);
        return NULL;
    }
    stream->allocator = *allocator;
    stream->array = array;
    stream->coding = *coding;
    stream->text = *text;
    stream->source = vtu_array_source_of(array);
    if (skip_to_first_number(stream))
        return stream;
    sinew_vtu_close(stream);
    return NULL;
}

void sinew_vtu_close(sinew_vtu_stream *stream)
{
    if (!stream)
        return;
    if (stream->zlib_open)
        inflateEnd(&stream->zlib);
    const sinew_allocator allocator = stream->allocator;
    sinew_release(&allocator, stream->layout.header);
    sinew_release(&allocator, stream);
}

static bool vtu_array_refill(sinew_vtu_stream *stream)
{
    size_t size = stream->left < CHUNK_SIZE ? stream->left : CHUNK_SIZE;
    if (size == 0)
        return vtu_array_fail(&stream->text, stream->array, "an array ends too early");
    bool good = stream->coding.compressed ? take_unpacked(stream, stream->chunk, size)
                                          : take_bytes(&stream->source, stream->chunk, size) ||
                                                vtu_array_fail(&stream->text, stream->array,
                                                               "the base64 text of an array is broken or cut short");
    stream->left -= size;
    stream->used = 0;
    stream->filled = size;
    return good;
}

static const unsigned char *next_bytes(sinew_vtu_stream *stream)
{
    if (stream->used == stream->filled && !vtu_array_refill(stream))
        return NULL;
    const unsigned char *bytes = stream->chunk + stream->used;
    stream->used += sinew_scalar_size(stream->array->type);
    return bytes;
}

bool sinew_vtu_next_real(sinew_vtu_stream *stream, double *value)
{
    sinew_scalar type = stream->array->type;
    if (stream->array->form != SINEW_VTU_TEXT) {
        const unsigned char *bytes = next_bytes(stream);
        *value = bytes ? sinew_scalar_real(type, bytes, stream->coding.swap) : 0;
        return bytes != NULL;
    }
    int64_t whole;
    if (!sinew_scalar_is_integer(type))
        return sinew_text_real(&stream->text, "a number", value);
    if (!sinew_text_integer(&stream->text, INT64_MIN, INT64_MAX, "a whole number", &whole))
        return false;
    *value = (double)whole;
    return true;
}

bool sinew_vtu_next_integer(sinew_vtu_stream *stream, int64_t *value)
{
    sinew_scalar type = stream->array->type;
    if (stream->array->form != SINEW_VTU_TEXT) {
        const unsigned char *bytes = next_bytes(stream);
        *value = bytes ? sinew_scalar_integer(type, bytes, stream->coding.swap) : -1;
        return bytes != NULL;
    }
    double real;
    if (sinew_scalar_is_integer(type))
        return sinew_text_integer(&stream->text, INT64_MIN, INT64_MAX, "a whole number", value);
    *value = -1;
    return sinew_text_real(&stream->text, "a number", &real);
}
