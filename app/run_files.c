/* SPDX-License-Identifier: MIT
 *
 * run_files.c: the folder of a run: ownership of its files, checkpoints, continuation.
 *
 * The order of writes lets a run survive a kill at any moment. summary.json comes first and lists every later file, so
 * that another run knows which files it may remove. Then the caches, metrics.csv, contact.csv and checksums.csv grow
 * under the names *.partial. A checkpoint flushes these to the disk, then state.bin; the number of its step determines
 * its frames and rows, and its comment has their checksums (run_checksums.c). At the end come a checkpoint, the final
 * names of the files, and "finished" in summary.json. A continued run truncates all files to the checkpoint.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "metrics.h"
#include "run.h"

static const char command[] = "run";

static bool run_files_fail(const sinew_run *r)
{
    sinew_usage_error(command, "%s", r->error.text);
    return false;
}

/* ---- Files of a run -------------------------------------------------------------------------- */

enum {
    SINEW_ENDINGS_MAX = 20
};

/* Files of a cache format: endings of single files, after the scene's name; suffix of a sequence with one file per
 * frame, NULL: no sequence. */
static const struct format_files {
    const char *endings[SINEW_ENDINGS_MAX]; /* file name endings of the cache format; the list ends with NULL */
    const char *sequence;
} format_files[SINEW_CACHE_COUNT] = {
    [SINEW_CACHE_PC2] = {{".pc2", ".obj"}, NULL},
    [SINEW_CACHE_OBJ] = {{NULL}, "obj"},
    [SINEW_CACHE_VTU] = {{".pvd"}, "vtu"},
    [SINEW_CACHE_GLTF] = {{".glb"}, NULL},
    [SINEW_CACHE_CSV] = {{".csv"}, NULL},
    [SINEW_CACHE_USDA] = {{".usda"}, NULL},
    [SINEW_CACHE_NPY] = {{".npy.json", ".positions.npy", ".velocities.npy", ".time.npy", ".force.npy", ".residual.npy",
                          ".reaction.npy", ".determinant.npy", ".stretches.npy", ".von_mises.npy", ".energy.npy",
                          ".contact_force.npy", ".position_error.npy", ".tets.npy", ".material.npy", ".triangles.npy",
                          ".edges.npy", ".skin_vertices.npy", ".skin_weights.npy"},
                         NULL},
};

static bool file_exists(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return access(path, F_OK) == 0;
}

/* Appends the files of a cache format to the array `files`; `existing` omits single files without their final name. */
static void list_format(const sinew_run *r, const struct format_files *format, bool existing, json_t *files)
{
    const char *name = sinew_scene_name(r->scene);
    for (int i = 0; format->endings[i]; i++) {
        json_t *file = json_sprintf("%s%s", name, format->endings[i]);
        if (!existing || file_exists(r->directory, json_string_value(file)))
            json_array_append(files, file);
        json_decref(file);
    }
    if (format->sequence)
        json_array_append_new(files, json_pack("{s:s, s:s, s:I, s:I}", "name", name, "suffix", format->sequence, "from",
                                               (json_int_t)r->first_frame, "to", (json_int_t)r->frames));
}

json_t *sinew_run_manifest(const sinew_run *r, bool existing)
{
    json_t *files = json_pack("[s, s, s]", "summary.json", "state.bin", "metrics.csv");
    if (sinew_run_has_contact(r))
        json_array_append_new(files, json_string("contact.csv"));
    if (sinew_run_has_sequence(r))
        json_array_append_new(files, json_string("checksums.csv"));
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        if (r->wanted[format])
            list_format(r, &format_files[format], existing, files);
    return files;
}

/* True if summary.json of a run can list this file. Files of other kinds are kept, even if a summary.json lists
 * them. */
static bool may_be_listed(const char *text)
{
    static const char *const always[] = {"summary.json", "state.bin", "metrics.csv", "contact.csv", "checksums.csv"};
    const size_t length = strlen(text);
    for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
        if (strcmp(text, always[i]) == 0)
            return true;
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        for (int i = 0; format_files[format].endings[i]; i++) {
            const char *ending = format_files[format].endings[i];
            if (length > strlen(ending) && strcmp(text + length - strlen(ending), ending) == 0)
                return true;
        }
    return false;
}

static bool may_be_sequence(const char *suffix)
{
    bool may = false;
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        may = may || (format_files[format].sequence && strcmp(format_files[format].sequence, suffix) == 0);
    return may;
}

/* True if `name` is the frame file NAME.0012.SUFFIX of a sequence; with `any`, for any frame number. */
static bool is_frame(const json_t *sequence, const char *name, size_t length, bool any)
{
    const char *stem, *suffix;
    json_int_t from, to;
    if (json_unpack((json_t *)sequence, "{s:s, s:s, s:I, s:I}", "name", &stem, "suffix", &suffix, "from", &from, "to",
                    &to) != 0 ||
        !may_be_sequence(suffix))
        return false;
    const size_t head = strlen(stem), tail = strlen(suffix);
    if (length < head + tail + 6 || strncmp(name, stem, head) != 0 || name[head] != '.' ||
        name[length - tail - 1] != '.' || strncmp(name + length - tail, suffix, tail) != 0)
        return false;
    const char *digits = name + head + 1;
    const size_t count = length - head - tail - 2;
    if (strspn(digits, "0123456789") != count || count < 4 || count > 10 || (count > 4 && digits[0] == '0'))
        return false;
    const long long number = strtoll(digits, NULL, 10);
    return any || (number >= from && number <= to);
}

/* True if a file in the folder is one of the listed files, finished or not. */
static bool is_listed(const json_t *files, const char *name, bool any)
{
    size_t length = strlen(name);
    if (length > 8 && strcmp(name + length - 8, ".partial") == 0)
        length -= 8;
    /* Temporary frames of a .glb or .usda file, which is written at the end. */
    if (name[length] && ((length > 8 && strncmp(name + length - 8, ".glb.bin", 8) == 0) ||
                         (length > 9 && strncmp(name + length - 9, ".usda.bin", 9) == 0)))
        length -= 4;
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        const char *text = json_string_value(file);
        const bool same = text && strlen(text) == length && strncmp(text, name, length) == 0;
        if (text ? same && may_be_listed(text) : is_frame(file, name, length, any))
            return true;
    }
    return false;
}

/* Finds the path of a listed file of a run in the folder; "" if there is none. */
static void find_listed(const char *directory, const json_t *files, char *path, size_t size)
{
    DIR *stream = opendir(directory);
    path[0] = '\0';
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        /* A run that is killed before its first file leaves only an unfinished summary, which does not count. */
        if (is_listed(files, entry->d_name, true) && strcmp(entry->d_name, "summary.json.partial") != 0)
            snprintf(path, size, "%s/%s", directory, entry->d_name);
    if (stream)
        closedir(stream);
}

/* Removes the listed files of the folder, and summary.json last, because it contains the list. */
static bool remove_listed(const char *directory, const json_t *files, bool any)
{
    DIR *stream = opendir(directory);
    bool good = true;
    for (struct dirent *entry; stream && good && (entry = readdir(stream));) {
        if (!is_listed(files, entry->d_name, any) || strcmp(entry->d_name, "summary.json") == 0)
            continue;
        good = unlinkat(dirfd(stream), entry->d_name, 0) == 0 || errno == ENOENT;
        if (!good)
            sinew_usage_error(command, "%s/%s: cannot remove: %s", directory, entry->d_name, strerror(errno));
    }
    if (stream && good)
        unlinkat(dirfd(stream), "summary.json", 0);
    if (stream)
        closedir(stream);
    return good;
}

/* ---- Checks of the folder before the start ----------------------------------------------------- */

static bool has_state(const char *directory)
{
    char path[2200];
    snprintf(path, sizeof path, "%s/state.bin", directory);
    return access(path, F_OK) == 0;
}

/* True if a run stopped before its first checkpoint, so that the folder has no results to protect. */
static bool never_began(const char *directory, const json_t *summary)
{
    return strcmp(sinew_run_summary_text(summary, "status"), "starting") == 0 && !has_state(directory);
}

bool sinew_run_check_folder(const sinew_run *r)
{
    const bool overwrite = sinew_option_on(&r->arguments, "overwrite");
    const char *name = sinew_scene_name(r->scene);
    bool foreign;
    if (r->wanted[SINEW_CACHE_CSV] &&
        (strcmp(name, "metrics") == 0 || strcmp(name, "contact") == 0 || strcmp(name, "checksums") == 0)) {
        sinew_usage_error(command,
                          "--format csv: %s.csv is another file of a run; give the scene another name: "
                          "--set name=NAME",
                          name);
        return false;
    }
    if (r->goes_on)
        return true;
    json_t *summary = sinew_run_summary_read(r->directory, &foreign);
    bool good = true;
    if (foreign) {
        sinew_usage_error(command, "%s/summary.json: is not of a run; give another --out", r->directory);
        good = false;
    } else if (summary && !overwrite && !never_began(r->directory, summary)) {
        sinew_usage_error(command,
                          "%s/summary.json: a run of %s lies there (%s); --resume %s goes on with it, --overwrite "
                          "replaces it, or give another --out",
                          r->directory, sinew_run_summary_text(summary, "scene"),
                          sinew_run_summary_text(summary, "status"), r->directory);
        good = false;
    } else if (!summary && !overwrite) {
        char path[2400];
        json_t *files = sinew_run_manifest(r, false);
        find_listed(r->directory, files, path, sizeof path);
        json_decref(files);
        if (path[0])
            sinew_usage_error(command, "%s: is there already; --overwrite replaces it, or give another --out", path);
        good = !path[0];
    }
    json_decref(summary);
    return good;
}

/* Removes exactly the files of the earlier run in the folder; without that run's list, the files that this run
 * writes. */
static bool clear_folder(const sinew_run *r)
{
    bool foreign;
    json_t *summary = sinew_run_summary_read(r->directory, &foreign);
    json_t *own = summary ? NULL : sinew_run_manifest(r, false);
    bool good = remove_listed(r->directory, summary ? json_object_get(summary, "files") : own, summary == NULL);
    json_decref(summary);
    json_decref(own);
    return good;
}

/* Locks the run folder, because only one process may write to it. The system releases the lock when the process
 * ends. */
static bool lock_folder(sinew_run *r)
{
    r->folder = open(r->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->folder >= 0 && flock(r->folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        sinew_usage_error(command, "%s: another run is writing there; wait for it, or give another --out",
                          r->directory);
        return false;
    }
    return true;
}

/* ---- Progress of a running process ------------------------------------------------------------- */

/* True if a process has locked the folder; *known is false if the system does not list its locks. The list is read
 * because an attempt to lock the folder could stop a run that starts at this moment. */
static bool folder_is_locked(const char *directory, bool *known)
{
    struct stat facts;
    char line[256];
    bool locked = false;
    FILE *locks = stat(directory, &facts) == 0 ? fopen("/proc/locks", "r") : NULL;
    *known = locks != NULL;
    while (locks && !locked && fgets(line, sizeof line, locks)) {
        unsigned major, minor;
        unsigned long long inode;
        locked = sscanf(line, "%*d: FLOCK %*s WRITE %*d %x:%x:%llu", &major, &minor, &inode) == 3 &&
                 inode == (unsigned long long)facts.st_ino && makedev(major, minor) == facts.st_dev;
    }
    if (locks)
        fclose(locks);
    return locked;
}

/* Number of the step in the last complete row of metrics.csv.partial; 0: there is none. */
static int64_t step_of_metrics(const char *directory)
{
    char path[2200], block[4097];
    snprintf(path, sizeof path, "%s/metrics.csv.partial", directory);
    FILE *stream = fopen(path, "r");
    if (!stream)
        return 0;
    if (fseeko(stream, -(off_t)(sizeof block - 1), SEEK_END) != 0)
        rewind(stream);
    block[fread(block, 1, sizeof block - 1, stream)] = '\0';
    fclose(stream);
    char *end = strrchr(block, '\n');
    if (!end)
        return 0;
    *end = '\0';
    const char *row = strrchr(block, '\n'), *comma = row ? strchr(row, ',') : NULL;
    return comma ? strtoll(comma + 1, NULL, 10) : 0;
}

void sinew_run_progress_text(const char *directory, const json_t *summary, char *text, size_t size)
{
    bool known;
    const bool locked = folder_is_locked(directory, &known);
    int64_t step = json_integer_value(json_object_get(summary, "step"));
    const int64_t end = json_integer_value(json_object_get(summary, "last_frame")) *
                        json_integer_value(json_object_get(summary, "steps_per_frame"));
    const int64_t latest = locked || !known ? step_of_metrics(directory) : 0;
    step = latest > step ? latest : step;
    snprintf(text, size, "%s, step %lld of %lld",
             locked  ? "running"
             : known ? "killed (or running on another machine)"
                     : "running, or killed",
             (long long)step, (long long)end);
}

/* ---- Opening of the files ---------------------------------------------------------------------- */

/* Number of frames in this folder up to the step of the state. */
static int64_t frames_so_far(const sinew_run *r)
{
    const int64_t count = sinew_world_step_count(r->world) / r->per_frame - r->first_frame + 1;
    return r->goes_on && count > 0 ? count : 0;
}

static bool open_caches(sinew_run *r)
{
    for (int format = 0; format < SINEW_CACHE_COUNT; format++) {
        if (!r->wanted[format])
            continue;
        sinew_cache_def def = sinew_default_cache_def();
        def.world = r->world;
        def.directory = r->directory;
        def.name = sinew_scene_name(r->scene);
        def.format = (sinew_cache_format)format;
        def.frame_count = (int32_t)(r->frames - r->first_frame + 1);
        def.frame_time = sinew_scene_time_step(r->scene) * (sinew_real)r->per_frame;
        def.first_frame = (int32_t)r->first_frame;
        def.kept_frames = (int32_t)frames_so_far(r);
        def.resumable = true;
        def.fields = r->fields;
        def.fields_if_any = r->fields_if_any;
        def.morph_frames = r->morph_frames;
        def.bodies = sinew_scene_writes_bodies(r->scene);
        r->caches[format] = sinew_cache_open(&def, &r->error);
        if (!r->caches[format])
            return run_files_fail(r);
    }
    return true;
}

/* Truncates a table (metrics.csv or contact.csv) after the last complete row of a step in the state; the step is in the
 * first or second column. */
static bool cut_rows(const sinew_run *r, const sinew_output *table, bool second)
{
    FILE *stream = table->stream;
    const int64_t last = sinew_world_step_count(r->world);
    char *line = NULL;
    size_t capacity = 0;
    off_t end = 0;
    bool head = true;
    for (ssize_t length; (length = getline(&line, &capacity, stream)) > 0 && line[length - 1] == '\n'; head = false) {
        const char *comma = strchr(line, ',');
        if (!head && (!comma || strtoll(second ? comma + 1 : line, NULL, 10) > last))
            break;
        end += length;
    }
    free(line);
    if (end > 0 && fseeko(stream, end, SEEK_SET) == 0 && ftruncate(fileno(stream), end) == 0)
        return true;
    sinew_usage_error(command, "%s: cannot go on with it; start the run again", table->partial);
    return false;
}

static bool open_metrics(sinew_run *r)
{
    if (r->goes_on)
        return sinew_output_reopen(&r->metrics, command, r->directory, "metrics.csv") && cut_rows(r, &r->metrics, true);
    if (!sinew_output_open(&r->metrics, command, r->directory, "metrics.csv"))
        return false;
    sinew_metrics_head(r->metrics.stream);
    return true;
}

bool sinew_run_has_contact(const sinew_run *r)
{
    return sinew_world_contact(r->world).on;
}

static bool open_contact(sinew_run *r)
{
    if (!sinew_run_has_contact(r))
        return true;
    if (r->goes_on)
        return sinew_output_reopen(&r->contact, command, r->directory, "contact.csv") &&
               cut_rows(r, &r->contact, false);
    if (!sinew_output_open(&r->contact, command, r->directory, "contact.csv"))
        return false;
    sinew_contact_head(r->contact.stream);
    return true;
}

static bool open_checksums(sinew_run *r)
{
    if (!sinew_run_has_sequence(r))
        return true;
    if (r->goes_on)
        return sinew_output_reopen(&r->checksums, command, r->directory, "checksums.csv") &&
               cut_rows(r, &r->checksums, false);
    if (!sinew_output_open(&r->checksums, command, r->directory, "checksums.csv"))
        return false;
    sinew_run_checksums_head(r->checksums.stream);
    return true;
}

/* Reads the times of earlier processes, which are stored in summary.json only. */
static void take_seconds(sinew_run *r)
{
    bool foreign;
    json_t *summary = sinew_run_summary_read(r->directory, &foreign);
    if (summary && json_unpack(json_object_get(summary, "seconds"), "{s:F, s:F, s:F}", "wall", &r->seconds, "solver",
                               &r->solver_seconds, "gap", &r->gap_seconds) != 0)
        r->seconds = r->solver_seconds = r->gap_seconds = 0;
    json_decref(summary);
}

bool sinew_run_verify_frames(sinew_run *r)
{
    return sinew_run_verify(r, frames_so_far(r) > 0);
}

bool sinew_run_open_files(sinew_run *r)
{
    if (!sinew_make_folders(command, r->directory) || !lock_folder(r) || !sinew_run_check_folder(r))
        return false;
    r->kept = r->goes_on;
    if (r->goes_on && !sinew_run_verify_frames(r))
        return false;
    if (r->goes_on)
        take_seconds(r);
    else if (!clear_folder(r))
        return false;
    if (!sinew_run_summary_write(r, r->goes_on ? "running" : "starting") || !open_metrics(r) || !open_contact(r) ||
        !open_checksums(r) || !open_caches(r))
        return false;
    if (r->goes_on)
        return true;
    const bool at_frame = sinew_world_step_count(r->world) % r->per_frame == 0;
    return (!at_frame || sinew_run_write_frame(r)) && sinew_run_checkpoint(r);
}

/* ---- Writing during the run ------------------------------------------------------------------- */

bool sinew_run_write_frame(sinew_run *r)
{
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        if (r->caches[format] && sinew_cache_frame(r->caches[format], &r->error) != SINEW_OK)
            return run_files_fail(r);
    /* Flushes metrics.csv, because `sinew info run` and `sinew render` show the frames and steps of a running
     * process. */
    fflush(r->metrics.stream);
    return sinew_run_checksum_frame(r);
}

void sinew_run_write_metrics(const sinew_run *r, int64_t step, const sinew_step_result *result)
{
    int32_t count;
    const sinew_iteration *records = sinew_world_iterations(r->world, &count);
    const char *solver = sinew_get_solver_info(sinew_scene_solver(r->scene).kind)->name;
    for (int32_t i = 0; i < count; i++)
        sinew_metrics_record(r->metrics.stream, solver, step, &records[i], NAN, i == count - 1 ? result : NULL);
}

void sinew_run_write_contact(const sinew_run *r, int64_t step)
{
    sinew_contact_report report;
    sinew_error error;
    if (r->contact.stream && sinew_world_contact_report(r->world, &report, &error) == SINEW_OK)
        sinew_contact_record(r->contact.stream, step, &report);
}

/* Writes to the state's comment the data about the folder's files with which a later process can continue them. */
static bool write_run_comment(sinew_run *r)
{
    json_t *comment = json_pack("{s:i, s:b, s:I, s:o, s:o}", "sinew_run", 1, "record", (int)r->record, "first_frame",
                                (json_int_t)r->first_frame, "steps", sinew_run_statistics_json(&r->statistics),
                                "checks", sinew_run_checks_json(r));
    if (comment && sinew_run_has_contact(r))
        json_object_set_new(comment, "contact", json_true());
    char *text = comment && sinew_run_add_to_state_comment(r, comment) ? json_dumps(comment, JSON_COMPACT) : NULL;
    bool good = text && sinew_world_set_comment(r->world, text) == SINEW_OK;
    free(text);
    json_decref(comment);
    if (!good)
        sinew_usage_error(command, "out of memory");
    return good;
}

bool sinew_run_refuse_resume(const char *path, const char *text)
{
    sinew_usage_error(command, "--resume %s: the run there %s", path, text);
    return false;
}

/* Reads the state's comment. Formats, and the meaning of a row of metrics.csv, cannot change between two parts of one
 * run. */
bool sinew_run_read_state_comment(sinew_run *r, const json_t *comment, const char *path)
{
    json_int_t first;
    int record;
    json_t *formats, *steps, *checks;
    if (json_unpack((json_t *)comment, "{s:o, s:b, s:I, s:o, s:o}", "formats", &formats, "record", &record,
                    "first_frame", &first, "steps", &steps, "checks", &checks) != 0 ||
        !sinew_run_statistics_read(&r->statistics, steps) || !sinew_run_checks_read(r, checks) || first < 0 ||
        first > r->frames) {
        sinew_usage_error(command, "--resume %s: does not say how far the files beside it are; give another --out",
                          path);
        return false;
    }
    if (!sinew_run_match_formats(r, comment, path))
        return false;
    if (r->record != (bool)record)
        return sinew_run_refuse_resume(path, record
                                                 ? "was begun with --record; give it again, or another --out"
                                                 : "was begun without --record; leave it out, or give another --out");
    if (sinew_run_has_contact(r) != json_is_true(json_object_get(comment, "contact")))
        return sinew_run_refuse_resume(path, sinew_run_has_contact(r) ? "was begun without contact; give another --out"
                                                                      : "was begun with contact; give another --out");
    r->first_frame = first;
    return true;
}

bool sinew_run_checkpoint(sinew_run *r)
{
    char path[2200];
    snprintf(path, sizeof path, "%s/state.bin", r->directory);
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        if (r->caches[format] && sinew_cache_sync(r->caches[format], &r->error) != SINEW_OK)
            return run_files_fail(r);
    if (!sinew_output_sync(&r->metrics) || (r->contact.stream && !sinew_output_sync(&r->contact)) ||
        (r->checksums.stream && !sinew_output_sync(&r->checksums)) || !sinew_run_checksum_growth(r) ||
        !write_run_comment(r))
        return false;
    if (sinew_state_write(r->world, path, &r->error) != SINEW_OK)
        return run_files_fail(r);
    r->kept = true;
    return sinew_run_summary_write(r, "running");
}

/* ---- End of a run's files --------------------------------------------------------------------- */

bool sinew_run_close_files(sinew_run *r)
{
    bool good = true;
    for (int format = 0; format < SINEW_CACHE_COUNT && good; format++) {
        if (r->caches[format])
            good = sinew_cache_close(r->caches[format], &r->error) == SINEW_OK || run_files_fail(r);
        r->caches[format] = NULL;
    }
    good = good && sinew_output_sync(&r->metrics) && sinew_output_close(&r->metrics);
    if (r->contact.stream)
        good = good && sinew_output_sync(&r->contact) && sinew_output_close(&r->contact);
    if (r->checksums.stream)
        good = good && sinew_output_sync(&r->checksums) && sinew_output_close(&r->checksums);
    if (good) {
        json_decref(r->closed);
        r->closed = sinew_run_closed_json(r);
    }
    return good;
}

void sinew_run_free_files(sinew_run *r)
{
    const bool begun = r->metrics.path[0] != '\0';
    for (int format = 0; format < SINEW_CACHE_COUNT; format++)
        sinew_cache_drop(r->caches[format]);
    sinew_output_leave(&r->metrics);
    sinew_output_leave(&r->contact);
    sinew_output_leave(&r->checksums);
    json_decref(r->closed);
    if (begun && !r->kept)
        clear_folder(r);
    if (r->folder >= 0)
        close(r->folder);
}
