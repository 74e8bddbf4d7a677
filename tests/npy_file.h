/* SPDX-License-Identifier: MIT
 *
 * npy_file.h: a small reader of .npy files for tests, written from the description in numpy.lib.format.
 */
#ifndef SINEW_NPY_FILE_H
#define SINEW_NPY_FILE_H

#include "cache_fixture.h"

typedef struct npy_file {
    char *text;
    char type[4];
    int rank;
    long long shape[3];
    const unsigned char *data;
} npy_file;

static inline long long npy_count(const npy_file *f)
{
    long long count = 1;
    for (int i = 0; i < f->rank; i++)
        count *= f->shape[i];
    return count;
}

static inline npy_file npy_read(const char *folder, const char *name)
{
    npy_file f = {0};
    size_t size;
    char path[128];
    snprintf(path, sizeof path, "run.%s.npy", name);
    f.text = slurp(folder, path, &size);
    const unsigned char *bytes = (const unsigned char *)f.text;
    assert_true(size >= 10);
    assert_memory_equal(f.text, "\x93NUMPY\x01\x00", 8);
    const size_t header = bytes[8] | (size_t)bytes[9] << 8;
    assert_int_equal((10 + header) % 64, 0); /* numbers are aligned */
    assert_true(size >= 10 + header && f.text[10 + header - 1] == '\n');
    char literal[512];
    snprintf(literal, sizeof literal, "%.*s", (int)header, f.text + 10);
    int end = 0;
    assert_int_equal(sscanf(literal, "{'descr': '%3[<fi48]', 'fortran_order': False, 'shape': (%n", f.type, &end), 1);
    assert_true(end > 0);
    const char *at = literal + end;
    for (char *after; *at != ')'; at = after + strspn(after, ", ")) {
        assert_true(f.rank < 3);
        f.shape[f.rank++] = strtoll(at, &after, 10);
        assert_true(after > at && (*after == ',' || *after == ')'));
        assert_true(f.rank > 1 || *after == ','); /* (3,) is a tuple, (3) is not */
    }
    assert_int_equal(strncmp(at, "), }", 4), 0);
    assert_int_equal(strspn(at + 4, " \n"), strlen(at + 4));
    f.data = bytes + 10 + header;
    assert_int_equal(size - 10 - header, npy_count(&f) * (f.type[2] - '0'));
    return f;
}

/* The number at a flat index, for every type. */
static inline double npy_at(const npy_file *f, long long index)
{
    const int width = f->type[2] - '0';
    uint64_t bits = 0;
    for (int k = 0; k < width; k++)
        bits |= (uint64_t)f->data[index * width + k] << 8 * k;
    const uint32_t low = (uint32_t)bits;
    double wide;
    float narrow;
    int32_t whole;
    memcpy(&wide, &bits, sizeof wide);
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&whole, &low, sizeof whole);
    return f->type[1] == 'i' ? (double)whole : width == 8 ? wide : (double)narrow;
}

static inline void npy_free(npy_file *f)
{
    free(f->text);
}

static inline void npy_expect(const npy_file *f, const char *type, int rank, long long a, long long b, long long c)
{
    const long long shape[3] = {a, b, c};
    assert_string_equal(f->type, type);
    assert_int_equal(f->rank, rank);
    for (int i = 0; i < rank; i++)
        assert_int_equal(f->shape[i], shape[i]);
}

#endif
