/* SPDX-License-Identifier: MIT
 *
 * run_checksums.c: checksums (CRC-32) of the frames of a run. A resumed run verifies the checksums before it changes a
 * file.
 *
 * Three places hold the checksums, because the files of a run are written in three ways:
 *   - The comment of state.bin has size and checksum of every cache file that grows, up to the checkpoint. The state is
 *     replaced atomically, so sizes, checksums and step always belong together.
 *   - checksums.csv has one row for each file of a sequence (obj, vtu). It grows like metrics.csv; state.bin has its
 *     checksum.
 *   - summary.json has the files that are written when the caches are closed (glb, usda, pvd, constant arrays of npy),
 *     with the step at which they were closed. Entries of another step are stale and not used: a kill between the
 *     rename of such a file and the next summary.json leaves them.
 *
 * A checkpoint reads back the bytes that were written since the last one, which are usually still in the page cache.
 * Headers that close rewrites in place (pc2, npy) are excluded; the formats check these themselves. Tables with times
 * (metrics.csv, contact.csv) have no checksum, because the state must not depend on the clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <zlib.h>

#include "run.h"

static const char command[] = "run";

/* Cache files that grow with the frames. */
static const struct growing_file {
    int format;         /* cache format to which the growing file belongs; SINEW_CACHE_COUNT: checksums.csv */
    const char *ending; /* end of the growing file's name, after the name of the scene */
    const char *final;  /* ending of the finished file that replaces this side file; NULL: not a side file */
    int64_t header;     /* number of bytes at the start that closing the cache rewrites in place */
} growing_files[SINEW_RUN_GROWING] = {
    {SINEW_CACHE_COUNT, "checksums.csv", NULL, 0},
    {SINEW_CACHE_PC2, ".pc2", NULL, 32},
    {SINEW_CACHE_PC2, ".obj", NULL, 0},
    {SINEW_CACHE_VTU, ".pvd", NULL, 0},
    {SINEW_CACHE_GLTF, ".glb.bin", ".glb", 0},
    {SINEW_CACHE_CSV, ".csv", NULL, 0},
    {SINEW_CACHE_USDA, ".usda.bin", ".usda", 0},
    {SINEW_CACHE_NPY, ".positions.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".velocities.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".time.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".force.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".residual.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".reaction.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".determinant.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".stretches.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".von_mises.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".energy.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".contact_force.npy", NULL, 128},
    {SINEW_CACHE_NPY, ".position_error.npy", NULL, 128},
};

/* Cache files that are written when a cache is closed. */
static const struct closing_file {
    sinew_cache_format format;
    const char *ending;
} closing_files[] = {
    {SINEW_CACHE_VTU, ".pvd"},
    {SINEW_CACHE_GLTF, ".glb"},
    {SINEW_CACHE_USDA, ".usda"},
    {SINEW_CACHE_NPY, ".npy.json"},
    {SINEW_CACHE_NPY, ".tets.npy"},
    {SINEW_CACHE_NPY, ".material.npy"},
    {SINEW_CACHE_NPY, ".triangles.npy"},
    {SINEW_CACHE_NPY, ".edges.npy"},
    {SINEW_CACHE_NPY, ".skin_vertices.npy"},
    {SINEW_CACHE_NPY, ".skin_weights.npy"},
};
enum {
    CLOSING_COUNT = sizeof closing_files / sizeof closing_files[0]
};

/* Cache formats with one file per frame. */
static const struct sequence {
    sinew_cache_format format;
    const char *suffix;
} sequences[] = {{SINEW_CACHE_OBJ, "obj"}, {SINEW_CACHE_VTU, "vtu"}};
enum {
    SEQUENCE_COUNT = sizeof sequences / sizeof sequences[0]
};

bool sinew_run_has_sequence(const sinew_run *r)
{
    bool any = false;
    for (int i = 0; i < SEQUENCE_COUNT; i++)
        any = any || r->wanted[sequences[i].format];
    return any;
}

/* ---- Reading of files and their checksums ------------------------------------------------------ */

static void path_of(const sinew_run *r, const char *ending, const char *tail, char *path, size_t size)
{
    snprintf(path, size, "%s/%s%s%s", r->directory, ending[0] == '.' ? sinew_scene_name(r->scene) : "", ending, tail);
}

/* Opens a regular file without following a link; -1: there is none (errno). *size receives the file's size. */
static int open_regular(const char *path, int64_t *size)
{
    struct stat facts;
    const int file = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file >= 0 && fstat(file, &facts) == 0 && S_ISREG(facts.st_mode)) {
        *size = facts.st_size;
        return file;
    }
    if (file >= 0) {
        close(file);
        errno = EINVAL;
    }
    return -1;
}

/* Updates the checksum *crc by the bytes [from, to) of a file; false: they cannot be read (errno). */
static bool add_bytes(int file, int64_t from, int64_t to, uint32_t *crc)
{
    unsigned char block[65536];
    while (from < to) {
        const size_t wanted = to - from < (int64_t)sizeof block ? (size_t)(to - from) : sizeof block;
        const ssize_t got = pread(file, block, wanted, (off_t)from);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            errno = got == 0 ? EIO : errno;
            return false;
        }
        *crc = (uint32_t)crc32_z(*crc, block, (size_t)got);
        from += got;
    }
    return true;
}

/* Computes size and checksum of a whole file; false: it cannot be read (errno). */
static bool read_whole(const char *path, sinew_run_check *check)
{
    const int file = open_regular(path, &check->size);
    check->crc = 0;
    const bool good = file >= 0 && add_bytes(file, 0, check->size, &check->crc);
    if (file >= 0)
        close(file);
    return good;
}

static bool refuse_read(const char *path)
{
    sinew_usage_error(command, "%s: cannot read it back for its checksum: %s", path, strerror(errno));
    return false;
}

/* ---- Checksums during the run ----------------------------------------------------------------- */

void sinew_run_checksums_head(FILE *stream)
{
    fprintf(stream, "step,frame,suffix,bytes,crc32\n");
}

bool sinew_run_checksum_frame(sinew_run *r)
{
    const int64_t step = sinew_world_step_count(r->world), frame = step / r->per_frame;
    for (int i = 0; i < SEQUENCE_COUNT; i++) {
        char ending[48], path[4096];
        sinew_run_check check;
        if (!r->wanted[sequences[i].format])
            continue;
        snprintf(ending, sizeof ending, ".%04lld.%s", (long long)frame, sequences[i].suffix);
        path_of(r, ending, "", path, sizeof path);
        if (!read_whole(path, &check))
            return refuse_read(path);
        fprintf(r->checksums.stream, "%lld,%lld,%s,%lld,%08lx\n", (long long)step, (long long)frame,
                sequences[i].suffix, (long long)check.size, (unsigned long)check.crc);
    }
    return true;
}

bool sinew_run_checksum_growth(sinew_run *r)
{
    for (int i = 0; i < SINEW_RUN_GROWING; i++) {
        const struct growing_file *f = &growing_files[i];
        sinew_run_check *check = &r->checks[i];
        char path[4096];
        int64_t size;
        if (f->format == SINEW_CACHE_COUNT ? !r->checksums.stream : !r->wanted[f->format])
            continue;
        path_of(r, f->ending, ".partial", path, sizeof path);
        const int file = open_regular(path, &size);
        if (file < 0 && errno == ENOENT) /* no file: the field belongs to energies that the scene does not have */
            continue;
        const bool good =
            file >= 0 && add_bytes(file, check->size > f->header ? check->size : f->header, size, &check->crc);
        if (!good)
            refuse_read(path);
        if (file >= 0)
            close(file);
        if (!good)
            return false;
        check->size = size;
    }
    return true;
}

json_t *sinew_run_checks_json(const sinew_run *r)
{
    json_t *checks = json_object();
    for (int i = 0; i < SINEW_RUN_GROWING; i++)
        if (r->checks[i].size > 0 && json_object_set_new(checks, growing_files[i].ending,
                                                         json_pack("[I, I]", (json_int_t)r->checks[i].size,
                                                                   (json_int_t)r->checks[i].crc)) != 0) {
            json_decref(checks);
            return NULL;
        }
    return checks;
}

json_t *sinew_run_closed_json(sinew_run *r)
{
    json_t *files = json_object();
    for (int i = 0; i < CLOSING_COUNT; i++) {
        char path[4096];
        sinew_run_check check;
        if (!r->wanted[closing_files[i].format])
            continue;
        path_of(r, closing_files[i].ending, "", path, sizeof path);
        if (read_whole(path, &check))
            json_object_set_new(files, closing_files[i].ending,
                                json_pack("[I, I]", (json_int_t)check.size, (json_int_t)check.crc));
    }
    return json_pack("{s:I, s:o}", "step", (json_int_t)sinew_world_step_count(r->world), "files", files);
}

/* ---- Verification of checksums ---------------------------------------------------------------- */

static bool read_check(const json_t *json, sinew_run_check *check)
{
    json_int_t size, crc;
    if (json_unpack((json_t *)json, "[I, I!]", &size, &crc) != 0 || size < 0 || crc < 0 || crc > UINT32_MAX)
        return false;
    *check = (sinew_run_check){size, (uint32_t)crc};
    return true;
}

bool sinew_run_checks_read(sinew_run *r, const json_t *checks)
{
    for (int i = 0; i < SINEW_RUN_GROWING; i++) {
        const json_t *entry = json_object_get(checks, growing_files[i].ending);
        r->checks[i] = (sinew_run_check){0};
        if (entry && !read_check(entry, &r->checks[i]))
            return false;
    }
    return true;
}

static bool refuse_file(const char *path, const char *what)
{
    sinew_usage_error(command, "%s: %s; put back the file of that run, or run again with --overwrite", path, what);
    return false;
}

/* Compares a file with its stored size and checksum; `whole`: the file has no further bytes. Prints a message if they
 * differ. */
static bool verify_file(const char *path, sinew_run_check expected, int64_t header, bool whole)
{
    int64_t size;
    uint32_t crc = 0;
    const int file = open_regular(path, &size);
    if (file < 0)
        return refuse_file(path, errno == ENOENT ? "is missing" : strerror(errno));
    char what[128] = "";
    if (size < expected.size)
        snprintf(what, sizeof what, "has %lld bytes, the run wrote %lld", (long long)size, (long long)expected.size);
    else if (whole && size > expected.size)
        snprintf(what, sizeof what, "has %lld bytes, the run wrote only %lld", (long long)size,
                 (long long)expected.size);
    else if (!add_bytes(file, header, expected.size, &crc))
        snprintf(what, sizeof what, "cannot be read: %s", strerror(errno));
    else if (crc != expected.crc)
        snprintf(what, sizeof what, "was changed since the run wrote it (checksum %08lx, not %08lx)",
                 (unsigned long)crc, (unsigned long)expected.crc);
    close(file);
    return !what[0] || refuse_file(path, what);
}

/* Size of a file in bytes; -1: there is none. */
static int64_t file_size(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

/* True if the finished file of a side file is of the state's step, so that the side file can be made from it again. */
static bool can_be_rebuilt(const sinew_run *r, const struct growing_file *f)
{
    const json_t *files = json_object_get(r->closed, "files");
    return json_integer_value(json_object_get(r->closed, "step")) == sinew_world_step_count(r->world) &&
           json_object_get(files, f->final);
}

/* Verifies a side file (a growing file that a finished file replaces). A run that went on after its end and was
 * killed may leave an incomplete side file, or one without the frames that glTF omits: the finished file then holds
 * the frames. */
static bool verify_side(sinew_run *r, int i)
{
    const struct growing_file *f = &growing_files[i];
    char path[4096], final[4096];
    path_of(r, f->ending, ".partial", path, sizeof path);
    path_of(r, f->final, "", final, sizeof final);
    const bool there = file_size(path) >= r->checks[i].size, verified = can_be_rebuilt(r, f);
    if (file_size(final) < 0 || (there && !verified))
        return verify_file(path, r->checks[i], f->header, false);
    /* The cache makes the side file again from the finished file, and refuses one that lacks kept frames. */
    r->checks[i] = (sinew_run_check){0};
    return !verified || file_size(path) < 0 || unlink(path) == 0 || refuse_file(path, strerror(errno));
}

static bool verify_growing(sinew_run *r, int i)
{
    const struct growing_file *f = &growing_files[i];
    char path[4096];
    if (r->checks[i].size == 0)
        return true;
    if (f->final)
        return verify_side(r, i);
    path_of(r, f->ending, ".partial", path, sizeof path);
    if (file_size(path) < 0)
        path_of(r, f->ending, "", path, sizeof path);
    return verify_file(path, r->checks[i], f->header, false);
}

/* Verifies the files that were written when the caches were closed, if that was at the step of the state. */
static bool verify_closed(const sinew_run *r)
{
    const json_t *files = json_object_get(r->closed, "files");
    bool good = true;
    if (json_integer_value(json_object_get(r->closed, "step")) != sinew_world_step_count(r->world))
        return true;
    for (int i = 0; i < CLOSING_COUNT && good; i++) {
        const json_t *entry = json_object_get(files, closing_files[i].ending);
        char path[4096], partial[4096];
        sinew_run_check check;
        path_of(r, closing_files[i].ending, "", path, sizeof path);
        path_of(r, closing_files[i].ending, ".partial", partial, sizeof partial);
        /* A .pvd file that a resumed run has opened again has its unfinished name. */
        if (entry && read_check(entry, &check) && (file_size(path) >= 0 || file_size(partial) < 0))
            good = verify_file(path, check, 0, true);
    }
    return good;
}

/* Verifies the files of sequences, row by row of checksums.csv, whose own checksum was verified before. */
static bool verify_sequences(const sinew_run *r)
{
    char path[4096], line[128];
    path_of(r, "checksums.csv", ".partial", path, sizeof path);
    if (file_size(path) < 0)
        path_of(r, "checksums.csv", "", path, sizeof path);
    FILE *table = sinew_run_has_sequence(r) ? fopen(path, "r") : NULL;
    bool good = true;
    while (table && good && ftello(table) < (off_t)r->checks[0].size && fgets(line, sizeof line, table)) {
        long long step, frame, bytes;
        char suffix[8], ending[48];
        unsigned long crc;
        if (sscanf(line, "%lld,%lld,%7[a-z],%lld,%lx", &step, &frame, suffix, &bytes, &crc) != 5)
            continue;
        snprintf(ending, sizeof ending, ".%04lld.%s", frame, suffix);
        path_of(r, ending, "", path, sizeof path);
        good = verify_file(path, (sinew_run_check){bytes, (uint32_t)crc}, 0, true);
    }
    if (table)
        fclose(table);
    return good;
}

bool sinew_run_verify(sinew_run *r, bool any_frame)
{
    bool foreign;
    json_t *summary = sinew_run_summary_read(r->directory, &foreign);
    json_decref(r->closed);
    r->closed = json_incref(json_object_get(summary, "closed"));
    json_decref(summary);
    if (!any_frame) { /* no frame of the run is left: the caches begin again */
        memset(r->checks, 0, sizeof r->checks);
        return true;
    }
    bool good = verify_closed(r);
    for (int i = 0; i < SINEW_RUN_GROWING && good; i++)
        good = verify_growing(r, i);
    return good && verify_sequences(r);
}
