/* SPDX-License-Identifier: MIT
 *
 * fuzz_files.h: a scratch folder for fuzzers whose subject wants files, in TMPDIR; tools/fuzz sets it and removes it.
 */
#ifndef SINEW_FUZZ_FILES_H
#define SINEW_FUZZ_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct fuzz_folder {
    char path[128];
} fuzz_folder;

static inline fuzz_folder fuzz_folder_make(void)
{
    const char *base = getenv("TMPDIR");
    fuzz_folder folder;
    int length = snprintf(folder.path, sizeof folder.path, "%s/sinew_fuzz_XXXXXX", base ? base : "/tmp");
    if (length >= (int)sizeof folder.path || !mkdtemp(folder.path))
        abort();
    return folder;
}

typedef struct fuzz_path {
    char text[160];
} fuzz_path;

static inline fuzz_path fuzz_in(const fuzz_folder *folder, const char *name)
{
    fuzz_path path;
    if (snprintf(path.text, sizeof path.text, "%s/%s", folder->path, name) >= (int)sizeof path.text)
        abort();
    return path;
}

static inline void fuzz_store(const fuzz_folder *folder, const char *name, const void *bytes, size_t size)
{
    FILE *stream = fopen(fuzz_in(folder, name).text, "wb");
    if (!stream || (size && fwrite(bytes, 1, size, stream) != size) || fclose(stream) != 0)
        abort();
}

#endif
