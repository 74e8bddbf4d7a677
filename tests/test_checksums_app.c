/* SPDX-License-Identifier: MIT
 *
 * test_checksums_app.c: --resume finds every changed, shortened and missing frame file. Each cache file of a run, in
 * every format, gets one byte changed at a random place, is truncated, or is removed: the resumed run ends with exit
 * status 2, names the file and changes nothing. With the file put back it ends with the bytes of an undisturbed run.
 * Runs that ended and runs that were killed are damaged in this way.
 */
#include "app_fixture.h"
#include "random_cases.h"

enum {
    NAME_LENGTH = 128,
    FILES_MAX = 64
};

static const char scene_text[] =
    "{\"sinew\": 1, \"time_step\": 0.01, \"steps_per_frame\": 2, \"frames\": 12, \"solver\": {\"name\": \"newton\", "
    "\"tolerance\": 1e-3, \"measure\": \"residual\"}, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [8, "
    "3, 3], \"size\": [3, 0.75, 0.75]}, \"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"100 kPa\", "
    "\"poisson\": 0.4}], \"pins\": [{\"select\": {\"half_space\": {\"point\": [-1.5, 0, 0], \"normal\": [-1, 0, "
    "0]}}}]}]}";

/* ---- Folders ----------------------------------------------------------------------------------- */

static bool shell(const char *words, const char *one, const char *two)
{
    char line[3000];
    snprintf(line, sizeof line, "%s '" SINEW_TEST_DIR "/%s' '" SINEW_TEST_DIR "/%s' > /dev/null", words, one, two);
    return system(line) == 0;
}

static void copy_folder(const char *from, const char *to)
{
    assert_true(shell("rm -rf", to, to) && shell("cp -a", from, to));
}

/* The step of the last checkpoint; -1: there is none. */
static long long step_of(const char *folder)
{
    char name[NAME_LENGTH];
    snprintf(name, sizeof name, "%s/summary.json", folder);
    json_t *summary = json_load_file(scratch(name), 0, NULL);
    const json_t *step = json_object_get(summary, "step");
    const long long number = step ? json_integer_value(step) : -1;
    json_decref(summary);
    return number;
}

/* Number of the frame in NAME.0012.SUFFIX, -1: not a file of a sequence. */
static int frame_of(const char *name)
{
    int frame = -1;
    return sscanf(name, "sums.%4d.", &frame) == 1 ? frame : -1;
}

/* Lists the files of the frames, and state.bin, not its unfinished successor; of a killed run the first frames of a
 * sequence only, because the last ones may be younger than its checkpoint. */
static int list_files(const char *folder, bool killed, char names[FILES_MAX][NAME_LENGTH])
{
    DIR *stream = opendir(scratch(folder));
    int count = 0;
    assert_non_null(stream);
    for (struct dirent *entry; (entry = readdir(stream)) && count < FILES_MAX;) {
        const char *name = entry->d_name;
        if (name[0] != '.' && strncmp(name, "summary.json", 12) != 0 && strncmp(name, "metrics.csv", 11) != 0 &&
            strcmp(name, "state.bin.partial") != 0 && (!killed || frame_of(name) < 3))
            snprintf(names[count++], NAME_LENGTH, "%.*s", NAME_LENGTH - 1, name);
    }
    closedir(stream);
    return count;
}

/* ---- Damage ------------------------------------------------------------------------------------ */

static const char *const ways[] = {"changed", "truncated", "removed"};

/* A place in the file. Of a killed run it is in the first quarter, which is older than its checkpoint, and not in the
 * number of samples of pc2, where 0 may become the number of frames in the file, which is allowed. */
static off_t draw_place(const char *path, bool killed, random_cases *cases)
{
    struct stat facts;
    assert_int_equal(stat(path, &facts), 0);
    const double limit = (double)facts.st_size / (killed && !strstr(path, ".obj") && !strstr(path, ".vtu") ? 4 : 1);
    off_t at = (off_t)random_between(cases, 0, limit);
    while (killed && strstr(path, ".pc2") && at >= 28 && at < 32)
        at = (off_t)random_between(cases, 0, limit);
    return at;
}

static void damage(const char *path, off_t at, int how, random_cases *cases)
{
    if (how == 1)
        assert_int_equal(truncate(path, at), 0);
    if (how == 2)
        assert_int_equal(unlink(path), 0);
    if (how != 0)
        return;
    unsigned char byte = 0;
    const int file = open(path, O_RDWR);
    assert_true(file >= 0 && pread(file, &byte, 1, at) == 1);
    byte ^= (unsigned char)(1 << random_index(cases, 8));
    assert_int_equal(pwrite(file, &byte, 1, at), 1);
    close(file);
}

/* Headers of pc2 and npy are checked when the cache is opened, after other files got their unfinished names again. */
static bool is_header(const char *name, off_t at, int how)
{
    return how == 0 && ((strstr(name, ".pc2") && at < 32) || (strstr(name, ".npy") && at < 128));
}

/* Damages one file and expects a refusal that names it and changes no file. */
static void damage_one(const char *words, const char *name, int how, bool killed, random_cases *cases)
{
    char path[1024];
    snprintf(path, sizeof path, SINEW_TEST_DIR "/damaged/%s", name);
    const off_t at = draw_place(path, killed, cases);
    damage(path, at, how, cases);
    copy_folder("damaged", "before");
    outcome o = sinew(words);
    char plain[NAME_LENGTH]; /* a missing unfinished file has its final name in the message */
    snprintf(plain, sizeof plain, "%.*s", (int)(strstr(name, ".partial") ? strstr(name, ".partial") - name : 127),
             name);
    if (o.status != 2 || !strstr(o.err, plain) || count_lines(o.err) != 1)
        fail_msg("sinew %s, %s %s at byte %lld: exit %d, %s%s", words, name, ways[how], (long long)at, o.status, o.out,
                 o.err);
    if (!is_header(name, at, how) && !shell("diff -r", "damaged", "before"))
        fail_msg("sinew %s, %s %s: other files changed", words, name, ways[how]);
    copy_folder("original", "damaged");
}

/* Damages every file of the folder "damaged", one after the other; returns their number. */
static int damage_all(const char *words, bool killed, random_cases *cases)
{
    static char names[FILES_MAX][NAME_LENGTH];
    const int count = list_files("damaged", killed, names);
    copy_folder("damaged", "original");
    for (int i = 0; i < count; i++)
        for (int how = 0; how < 3; how++)
            damage_one(words, names[i], how, killed, cases);
    return count;
}

/* ---- Runs -------------------------------------------------------------------------------------- */

/* Starts a long run and kills it after its eighth frame. */
static void run_and_kill(const char *words)
{
    assert_true(shell("rm -rf", "damaged", "before"));
    const pid_t child = start(SINEW_COMMAND, words, 0);
    for (int i = 0; i < 20000 && step_of("damaged") < 2 * 8; i++)
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    kill(child, SIGKILL);
    finish(child);
    assert_true(step_of("damaged") >= 2 * 8);
}

static void damage_ended(const char *format, random_cases *cases)
{
    char words[256];
    int count = 0;
    snprintf(words, sizeof words, "run sums.json --threads 1 --quiet --overwrite --format %s --out undisturbed",
             format);
    go(words, 0);
    for (int round = 0; round < cases->count; round++) {
        snprintf(words, sizeof words,
                 "run sums.json --threads 1 --quiet --overwrite --format %s --frames 6 --out damaged", format);
        go(words, 0);
        count = damage_all("run sums.json --threads 1 --quiet --resume damaged", false, cases);
        go("run sums.json --threads 1 --quiet --resume damaged", 0);
        assert_true(same_results("undisturbed", "damaged"));
    }
    print_message("%s, ended: %d files changed, truncated and removed, %d times: all found\n", format, count,
                  (int)cases->count);
}

static void damage_killed(const char *format, random_cases *cases)
{
    char words[256];
    int count = 0;
    for (int round = 0; round < cases->count; round++) {
        snprintf(words, sizeof words,
                 "run sums.json --threads 1 --quiet --overwrite --checkpoint 0 --format %s --frames 9000 --out damaged",
                 format);
        run_and_kill(words);
        count = damage_all("run sums.json --threads 1 --quiet --frames 9000 --resume damaged", true, cases);
    }
    print_message("%s, killed: %d files changed, truncated and removed, %d times: all found\n", format, count,
                  (int)cases->count);
}

static const char *const formats[] = {"pc2", "obj", "vtu", "gltf", "csv", "npy", "usda"};
enum {
    FORMATS = sizeof formats / sizeof formats[0]
};

static void ended_runs(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("damaged files of ended runs", 1, 10);
    write_text(scratch("sums.json"), scene_text);
    for (int i = 0; i < FORMATS; i++)
        damage_ended(formats[i], &cases);
}

static void killed_runs(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("damaged files of killed runs", 1, 10);
    write_text(scratch("sums.json"), scene_text);
    for (int i = 0; i < FORMATS; i++)
        damage_killed(formats[i], &cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ended_runs), cmocka_unit_test(killed_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
