/* SPDX-License-Identifier: MIT
 *
 * test_cache_reader.c: the library's cache reader: every frame of every readable format against the formula that it was
 * written from, damaged files, frame numbers out of range, and allocation failures.
 */
#include "cache_fixture.h"
#include "random_cases.h"

enum {
    FRAMES = 5,
    FIRST = 3 /* number of the first frame */
};

static const sinew_cache_format readable[] = {SINEW_CACHE_PC2, SINEW_CACHE_CSV, SINEW_CACHE_OBJ, SINEW_CACHE_VTU,
                                              SINEW_CACHE_NPY};
enum {
    READABLE = sizeof readable / sizeof readable[0]
};

static sinew_cache_reader_def reader_def(const char *folder, sinew_cache_format format)
{
    sinew_cache_reader_def def = sinew_default_cache_reader_def();
    def.directory = folder;
    def.name = "run";
    def.format = format;
    def.frame_time = (sinew_real)0.04;
    def.first_frame = FIRST;
    return def;
}

static const char *written(sinew_cache_format format, int frames)
{
    const char *folder = fresh_folder(IN_SCRATCH("cache"));
    sinew_world *world = make_world(NULL);
    sinew_cache_def def = cache_def(world, folder, format);
    def.first_frame = FIRST;
    def.frame_count = frames;
    write_frames(world, &def, frames);
    sinew_world_destroy(world);
    return folder;
}

static void assert_near(double found, double expected, double tolerance, const char *what)
{
    if (!(fabs(found - expected) <= tolerance))
        fail_msg("%s: %.17g is not %.17g within %g", what, found, expected, tolerance);
}

/* Positions to the bit (pc2: as floats); velocities to the bit in csv and npy, otherwise the difference of the formula.
 */
static void check_frame(sinew_cache_reader *reader, sinew_cache_format format, int frame)
{
    const bool exact = format == SINEW_CACHE_CSV || format == SINEW_CACHE_NPY; /* velocities are stored */
    sinew_real q[3 * particles], v[3 * particles];
    sinew_error error = {0};
    if (sinew_cache_reader_frame(reader, FIRST + frame, q, v, &error) != SINEW_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < 3 * particles; i++) {
        const int from = frame > 0 ? frame - 1 : 0;
        sinew_real expected = q_at(frame, i / 3, i % 3);
        double velocity = (double)v_at(frame, i / 3, i % 3);
        sinew_real before = q_at(from, i / 3, i % 3), after = q_at(from + 1, i / 3, i % 3);
        if (format == SINEW_CACHE_PC2) {
            expected = (sinew_real)(float)expected;
            before = (sinew_real)(float)before;
            after = (sinew_real)(float)after;
        }
        if (!exact)
            velocity = ((double)after - (double)before) / (double)(sinew_real)0.04;
        assert_near((double)q[i], (double)expected, 0, "position");
        assert_near((double)v[i], velocity, exact ? 0 : 1e-6 * (1 + fabs(velocity)), "velocity");
    }
}

static void every_frame_comes_back(void **state)
{
    (void)state;
    static const int order[] = {4, 0, 2, 1, 3, 3};
    for (int f = 0; f < READABLE; f++) {
        sinew_cache_reader_def def = reader_def(written(readable[f], FRAMES), readable[f]);
        sinew_error error = {0};
        sinew_cache_reader *reader = sinew_cache_reader_open(&def, &error);
        if (!reader)
            fail_msg("%s", error.text);
        assert_int_equal(sinew_cache_reader_frame_count(reader), FRAMES);
        assert_int_equal(sinew_cache_reader_point_count(reader), particles);
        assert_non_null(strstr(sinew_cache_reader_path(reader), "cache/run."));
        for (size_t i = 0; i < sizeof order / sizeof order[0]; i++)
            check_frame(reader, readable[f], order[i]);
        sinew_real q[3 * particles];
        char expected[64];
        for (int wrong = 0; wrong < 2; wrong++) {
            const int frame = wrong ? FIRST + FRAMES : FIRST - 1;
            snprintf(expected, sizeof expected, "frame %d of %d..%d", frame, FIRST, FIRST + FRAMES - 1);
            assert_int_equal(sinew_cache_reader_frame(reader, frame, q, NULL, &error), SINEW_ERROR_DATA);
            assert_non_null(strstr(error.text, expected));
        }
        sinew_cache_reader_close(reader);
    }
    sinew_cache_reader_close(NULL);
}

/* In a format without velocities a cache of one frame has zero velocities. */
static void one_frame_stands_still(void **state)
{
    (void)state;
    sinew_cache_reader_def def = reader_def(written(SINEW_CACHE_PC2, 1), SINEW_CACHE_PC2);
    sinew_cache_reader *reader = sinew_cache_reader_open(&def, NULL);
    sinew_real q[3 * particles], v[3 * particles];
    assert_int_equal(sinew_cache_reader_frame(reader, FIRST, q, v, NULL), SINEW_OK);
    for (int i = 0; i < 3 * particles; i++)
        assert_true(v[i] == 0);
    sinew_cache_reader_close(reader);
}

static void refuse(const sinew_cache_reader_def *def, sinew_status status, const char *part)
{
    sinew_error error = {0};
    assert_null(sinew_cache_reader_open(def, &error));
    assert_int_equal(error.status, status);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void wrong_defs(void **state)
{
    (void)state;
    const char *folder = written(SINEW_CACHE_PC2, 2);
    sinew_cache_reader_def good = reader_def(folder, SINEW_CACHE_PC2), def = good;
    refuse(NULL, SINEW_ERROR_USAGE, "sinew_default_cache_reader_def");
    def.cookie = 0;
    refuse(&def, SINEW_ERROR_USAGE, "sinew_default_cache_reader_def");
    def = good;
    def.format = SINEW_CACHE_GLTF;
    refuse(&def, SINEW_ERROR_UNSUPPORTED, "gltf is written for other programs");
    def.format = SINEW_CACHE_COUNT;
    refuse(&def, SINEW_ERROR_USAGE, "format");
    def = good;
    def.frame_time = 0;
    refuse(&def, SINEW_ERROR_DATA, "frame_time");
    def = good;
    def.name = "other";
    refuse(&def, SINEW_ERROR_FILE, "other.pc2: cannot read: No such file");
    def.format = SINEW_CACHE_OBJ;
    refuse(&def, SINEW_ERROR_FILE, "other.0003.obj");
    def.directory = "/dev";
    def.name = "null";
    def.format = SINEW_CACHE_CSV;
    refuse(&def, SINEW_ERROR_FILE, "null.csv");
}

/* A pc2 that announces more frames than it holds, and a csv with an incomplete last frame: the message has both
 * numbers. */
static void files_cut_short(void **state)
{
    (void)state;
    const char *folder = written(SINEW_CACHE_PC2, FRAMES);
    sinew_cache_reader_def def = reader_def(folder, SINEW_CACHE_PC2);
    assert_int_equal(truncate(path_of(folder, "run.pc2").text, 32 + 12 * particles * 2 + 5), 0);
    refuse(&def, SINEW_ERROR_FORMAT, "says 5 frames of 17 points and holds 2");
    assert_int_equal(truncate(path_of(folder, "run.pc2").text, 20), 0);
    refuse(&def, SINEW_ERROR_FORMAT, "has 20 bytes");
    folder = written(SINEW_CACHE_CSV, FRAMES);
    def.format = SINEW_CACHE_CSV;
    size_t size;
    char *text = slurp(folder, "run.csv", &size);
    assert_int_equal(truncate(path_of(folder, "run.csv").text, (off_t)size - 3), 0);
    refuse(&def, SINEW_ERROR_FORMAT, "its last frame has 16 points, the first has 17");
    free(text);
}

/* Files with random byte changes or cut at random positions give finite frames or one line of error. */
static void damaged_files(void **state)
{
    (void)state;
    static const char *const names[READABLE] = {"run.pc2", "run.csv", "run.0004.obj", "run.0003.vtu",
                                                "run.positions.npy"};
    random_cases r = random_cases_begin("damaged caches", 200, 10000);
    int refused = 0;
    for (int32_t i = 0; i < r.count; i++) {
        const int f = random_index(&r, READABLE);
        const char *folder = written(readable[f], 3);
        size_t size;
        char *text = slurp(folder, names[f], &size);
        for (int change = 1 + random_index(&r, 4); change > 0; change--)
            text[random_index(&r, (int)(random_index(&r, 2) ? size : size < 64 ? size : 64))] = (char)random_bits(&r);
        size = random_index(&r, 3) ? size : (size_t)random_index(&r, (int)size);
        FILE *file = fopen(path_of(folder, names[f]).text, "wb");
        assert_int_equal(fwrite(text, 1, size, file), size);
        fclose(file);
        free(text);
        sinew_error error = {0};
        sinew_cache_reader_def def = reader_def(folder, readable[f]);
        sinew_cache_reader *reader = sinew_cache_reader_open(&def, &error);
        const int32_t count = reader ? sinew_cache_reader_point_count(reader) : 0;
        sinew_real *q = calloc(3 * (size_t)count + 1, sizeof *q), *v = calloc(3 * (size_t)count + 1, sizeof *v);
        bool good = reader != NULL;
        for (int frame = 0; good && frame < sinew_cache_reader_frame_count(reader); frame++) {
            good = sinew_cache_reader_frame(reader, FIRST + frame, q, v, &error) == SINEW_OK;
            for (size_t k = 0; good && k < 3 * (size_t)count; k++)
                assert_true(isfinite(q[k]));
        }
        refused += !good;
        assert_true(good || (error.text[0] && !strchr(error.text, '\n')));
        free(q);
        free(v);
        sinew_cache_reader_close(reader);
    }
    print_message("%d of %d refused\n", refused, (int)r.count);
    assert_true(refused > r.count / 10);
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (int f = 0; f < READABLE; f++) {
        const char *folder = written(readable[f], 3);
        failing_allocator memory = {0};
        for (memory.fail_at = 1;; memory.fail_at++) {
            sinew_real q[3 * particles], v[3 * particles];
            sinew_error error = {0};
            sinew_cache_reader_def def = reader_def(folder, readable[f]);
            def.allocator = hooks_of(&memory);
            memory.calls = 0;
            sinew_cache_reader *reader = sinew_cache_reader_open(&def, &error);
            const bool good = reader && sinew_cache_reader_frame(reader, FIRST + 1, q, v, &error) == SINEW_OK;
            sinew_cache_reader_close(reader);
            assert_int_equal(memory.live, 0);
            if (good)
                break;
            assert_int_equal(error.status, SINEW_ERROR_MEMORY);
            assert_in_range(memory.fail_at, 1, 1000);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_comes_back),
        cmocka_unit_test(one_frame_stands_still),
        cmocka_unit_test(wrong_defs),
        cmocka_unit_test(files_cut_short),
        cmocka_unit_test(damaged_files),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
