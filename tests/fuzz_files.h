/* SPDX-License-Identifier: MIT
 *
 * fuzz_files.h: a scratch folder in TMPDIR for fuzzers whose target reads files; tools/fuzz sets TMPDIR and removes it.
 */
#ifndef SINEW_FUZZ_FILES_H
#define SINEW_FUZZ_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct fuzz_folder {
    char path[128];
} fuzz_folder;

/* Returns the same folder in every call. */
static inline const fuzz_folder *fuzz_scratch(void)
{
    static fuzz_folder folder;
    if (folder.path[0])
        return &folder;
    const char *base = getenv("TMPDIR");
    int length = snprintf(folder.path, sizeof folder.path, "%s/sinew_fuzz_XXXXXX", base ? base : "/tmp");
    if (length >= (int)sizeof folder.path || !mkdtemp(folder.path))
        abort();
    return &folder;
}

typedef struct fuzz_path {
    char text[160];
} fuzz_path;

static inline fuzz_path fuzz_in_scratch(const char *name)
{
    fuzz_path path;
    if (snprintf(path.text, sizeof path.text, "%s/%s", fuzz_scratch()->path, name) >= (int)sizeof path.text)
        abort();
    return path;
}

static inline void fuzz_store(const char *name, const void *bytes, size_t size)
{
    FILE *stream = fopen(fuzz_in_scratch(name).text, "wb");
    if (!stream || (size && fwrite(bytes, 1, size, stream) != size) || fclose(stream) != 0)
        abort();
}

#endif
