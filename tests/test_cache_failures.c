/* SPDX-License-Identifier: MIT
 *
 * test_cache_failures.c: refusals of caches. A full disk, a file name that is in use and a failed allocation leave no
 * half-written file and no leaked memory.
 */
#include "cache_fixture.h"
#include "failing_malloc.h"

#include <signal.h>
#include <sys/resource.h>

/* ---- Refusals ---------------------------------------------------------------------------------- */

static void refuse(const sinew_cache_def *def, sinew_status status, const char *part)
{
    sinew_error error = {0};
    assert_null(sinew_cache_open(def, &error));
    assert_int_equal(error.status, status);
    if (!strstr(error.text, part))
        fail_msg("\"%s\" does not say \"%s\"", error.text, part);
}

static void wrong_defs(void **state)
{
    (void)state;
    const char *folder = fresh_folder(IN_SCRATCH("wrong"));
    sinew_world *world = make_world(NULL);
    refuse(NULL, SINEW_ERROR_USAGE, "sinew_default_cache_def");
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        sinew_cache_def good = cache_def(world, folder, (sinew_cache_format)f);
        sinew_cache_def def = good;
        def.cookie = 0;
        refuse(&def, SINEW_ERROR_USAGE, "sinew_default_cache_def");
        def = good;
        def.world = NULL;
        refuse(&def, SINEW_ERROR_USAGE, "world");
        def = good;
        def.name = "";
        refuse(&def, SINEW_ERROR_DATA, "file name");
        def.name = "a/b";
        refuse(&def, SINEW_ERROR_DATA, "a/b");
        def = good;
        def.frame_time = 0;
        refuse(&def, SINEW_ERROR_DATA, "frame_time");
        def = good;
        def.frame_count = -1;
        refuse(&def, SINEW_ERROR_DATA, "frame_count");
        def = good;
        def.directory = IN_SCRATCH("wrong/nowhere");
        refuse(&def, SINEW_ERROR_FILE, "nowhere: cannot write a cache there: No such file");
        def.directory = "/dev/null";
        refuse(&def, SINEW_ERROR_FILE, "/dev/null: cannot write a cache there: is not a directory");
    }
    sinew_cache_def def = cache_def(world, folder, SINEW_CACHE_COUNT);
    refuse(&def, SINEW_ERROR_USAGE, "format");
    sinew_world *empty = empty_world(NULL);
    def = cache_def(empty, folder, SINEW_CACHE_PC2);
    refuse(&def, SINEW_ERROR_DATA, "no particles");
    sinew_world_destroy(empty);
    sinew_world_destroy(world);
    assert_int_equal(sinew_cache_frame(NULL, NULL), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_cache_close(NULL, NULL), SINEW_ERROR_USAGE);
    assert_listing(folder, "");
}

/* A body added after opening does not fit the arrays. */
static void grown_world(void **state)
{
    (void)state;
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        const char *folder = fresh_folder(IN_SCRATCH("grown"));
        sinew_world *world = make_world(NULL);
        sinew_error error = {0};
        sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
        sinew_cache *cache = sinew_cache_open(&def, &error);
        assert_non_null(cache);
        add_body(world, 3, q_rope, 0, NULL, 0, NULL, 2, rope_edges);
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_ERROR_DATA);
        assert_non_null(strstr(error.text, "20 particles"));
        assert_listing(folder, "");
        /* Every later call reports the first failure. */
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_ERROR_DATA);
        assert_int_equal(sinew_cache_close(cache, &error), SINEW_ERROR_DATA);
        assert_non_null(strstr(error.text, "20 particles"));
        sinew_world_destroy(world);
    }
}

/* Writes a whole cache with a file size limit of `largest` bytes. */
static sinew_status write_limited(const sinew_cache_def *def, rlim_t largest, int frames, sinew_error *error)
{
    struct rlimit before = limit_files(largest);
    sinew_cache *cache = sinew_cache_open(def, error);
    sinew_status status = cache ? SINEW_OK : error->status;
    for (int k = 0; k < frames && status == SINEW_OK; k++)
        status = sinew_cache_frame(cache, error);
    sinew_status closed = cache ? sinew_cache_close(cache, error) : status;
    setrlimit(RLIMIT_FSIZE, &before);
    assert_true(status == SINEW_OK || closed == status);
    return closed;
}

/* The disk is full at any byte of any file: no unfinished file is left, and the message names file and reason. */
static void full_disk(void **state)
{
    (void)state;
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        sinew_status status = SINEW_ERROR_FILE;
        bool sequence = f == SINEW_CACHE_OBJ || f == SINEW_CACHE_VTU;
        for (rlim_t largest = 0; status != SINEW_OK; largest += largest / 16 + 13) {
            const char *folder = fresh_folder(IN_SCRATCH("full"));
            sinew_world *world = make_world(NULL);
            sinew_error error = {0};
            sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
            status = write_limited(&def, largest, 5, &error);
            sinew_world_destroy(world);
            if (status == SINEW_OK)
                break;
            assert_int_equal(status, SINEW_ERROR_FILE);
            assert_non_null(strstr(error.text, "full/run."));
            assert_non_null(strstr(error.text, "File too large"));
            if (!sequence)
                assert_listing(folder, "");
        }
    }
}

/* Frames that a resumable cache wrote before the disk was full are kept; once there is space, the cache resumes. */
static void full_disk_and_on(void **state)
{
    (void)state;
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        const char *whole = write_all(IN_SCRATCH("roomy"), (sinew_cache_format)f, 6, 6);
        const char *folder = fresh_folder(IN_SCRATCH("cramped"));
        sinew_world *world = make_world(NULL);
        sinew_error error = {0};
        sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
        def.frame_count = 6;
        def.resumable = true;
        sinew_cache *cache = sinew_cache_open(&def, &error);
        for (int k = 0; k < 3; k++) {
            if (k)
                sinew_world_step(world, NULL);
            set_state(world, k);
            assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        }
        assert_int_equal(sinew_cache_sync(cache, &error), SINEW_OK);
        struct rlimit before = limit_files(100);
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_ERROR_FILE);
        assert_int_equal(sinew_cache_sync(cache, &error), SINEW_ERROR_FILE);
        setrlimit(RLIMIT_FSIZE, &before);
        sinew_cache_drop(cache);
        def.kept_frames = 3;
        write_frames_from(world, &def, 3, 6);
        assert_same_folders(whole, folder);
        sinew_world_destroy(world);
    }
}

/* A cache that was closed, dropped, or dropped with later frames can be resumed at any frame and gives the same bytes.
 */
static void going_on(void **state)
{
    (void)state;
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        const char *whole = write_all(IN_SCRATCH("straight"), (sinew_cache_format)f, 6, 6);
        for (int kept = 1; kept <= 6; kept++)
            for (int closed = 0; closed < 2; closed++) {
                const char *folder = fresh_folder(IN_SCRATCH("stopped"));
                sinew_world *world = make_world(NULL);
                sinew_error error = {0};
                sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
                def.frame_count = 6;
                def.resumable = true;
                sinew_cache *cache = sinew_cache_open(&def, &error);
                sinew_world *later = make_world(NULL);
                for (int k = 0; k < (kept < 5 ? kept + 2 : kept); k++) {
                    if (k)
                        sinew_world_step(world, NULL);
                    if (k && k < kept)
                        sinew_world_step(later, NULL);
                    set_state(world, k);
                    assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
                }
                if (closed)
                    assert_int_equal(sinew_cache_close(cache, &error), SINEW_OK);
                else
                    sinew_cache_drop(cache);
                def.world = later;
                def.kept_frames = kept;
                write_frames_from(later, &def, kept, 6);
                assert_same_folders(whole, folder);
                sinew_world_destroy(world);
                sinew_world_destroy(later);
            }
        /* Files without the kept frames are refused and not changed. */
        sinew_world *world = make_world(NULL);
        sinew_error error = {0};
        const char *folder = fresh_folder(IN_SCRATCH("missing"));
        sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
        def.kept_frames = 3;
        assert_null(sinew_cache_open(&def, &error));
        assert_listing(folder, "");
        sinew_world_destroy(world);
    }
}

/* A folder has the name of the output file: the final rename fails. */
static void taken_name(void **state)
{
    (void)state;
    const struct {
        sinew_cache_format format;
        const char *file;
    } cases[] = {
        {SINEW_CACHE_PC2, "run.pc2"},       {SINEW_CACHE_PC2, "run.obj"},      {SINEW_CACHE_GLTF, "run.glb"},
        {SINEW_CACHE_CSV, "run.csv"},       {SINEW_CACHE_USDA, "run.usda"},    {SINEW_CACHE_NPY, "run.positions.npy"},
        {SINEW_CACHE_NPY, "run.edges.npy"}, {SINEW_CACHE_NPY, "run.npy.json"}, {SINEW_CACHE_VTU, "run.pvd"}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        const char *folder = fresh_folder(IN_SCRATCH("taken"));
        assert_int_equal(mkdir(path_of(folder, cases[c].file).text, 0777), 0);
        sinew_world *world = make_world(NULL);
        sinew_error error = {0};
        sinew_cache_def def = cache_def(world, folder, cases[c].format);
        sinew_cache *cache = sinew_cache_open(&def, &error);
        assert_non_null(cache);
        if (cases[c].format != SINEW_CACHE_VTU)
            assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        assert_int_equal(sinew_cache_close(cache, &error), SINEW_ERROR_FILE);
        assert_non_null(strstr(error.text, cases[c].file));
        assert_listing(folder, cases[c].file);
        sinew_world_destroy(world);
    }
}

/* The old file is kept until the new one is complete. */
static void keeps_old(void **state)
{
    (void)state;
    const char *folder = write_all(IN_SCRATCH("old"), SINEW_CACHE_CSV, 0, 2);
    size_t size;
    char *before = slurp(folder, "run.csv", &size);
    sinew_world *world = make_world(NULL);
    sinew_cache_def def = cache_def(world, folder, SINEW_CACHE_CSV);
    sinew_cache *cache = sinew_cache_open(&def, NULL);
    assert_non_null(cache);
    assert_int_equal(sinew_cache_frame(cache, NULL), SINEW_OK);
    sinew_cache_drop(cache);
    sinew_world_destroy(world);
    size_t size_after;
    char *after = slurp(folder, "run.csv", &size_after);
    assert_int_equal(size_after, size);
    assert_memory_equal(after, before, size);
    free(before);
    free(after);
    assert_listing(folder, "run.csv");
}

/* ---- Memory ------------------------------------------------------------------------------------ */

/* Writes a whole cache, in which an allocation may fail. Returns true on success. */
static bool goes_through(const sinew_cache_def *def, int frames)
{
    sinew_error error = {0};
    sinew_cache *cache = sinew_cache_open(def, &error);
    if (!cache) {
        assert_int_equal(error.status, SINEW_ERROR_MEMORY);
        assert_true(error.text[0] != '\0');
        return false;
    }
    sinew_status status = SINEW_OK;
    for (int k = 0; k < frames && status == SINEW_OK; k++)
        status = sinew_cache_frame(cache, &error);
    sinew_status closed = sinew_cache_close(cache, &error);
    assert_true(status == SINEW_OK || closed == status);
    assert_true(closed == SINEW_OK || closed == SINEW_ERROR_MEMORY);
    return closed == SINEW_OK;
}

static void failing_memory(void **state)
{
    (void)state;
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        /* The world's own allocator fails too: it allocates surfaces. */
        failing_allocator memory = {0};
        sinew_world *world = make_world(&memory);
        int64_t before = memory.live;
        bool done = false;
        int64_t n = 0;
        while (!done) {
            assert_true(++n < 1000);
            const char *folder = fresh_folder(IN_SCRATCH("memory"));
            sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
            def.allocator = hooks_of(&memory);
            memory.fail_at = memory.calls + n;
            done = goes_through(&def, 70); /* more than glTF's initial capacity */
            memory.fail_at = 0;
            assert_int_equal(memory.live, before);
            if (!done)
                assert_listing(folder, "");
        }
        assert_true(n > 3);
        sinew_world_destroy(world);
        assert_int_equal(memory.live, 0);
    }
}

/* Allocations of jansson fail too. */
static void failing_system(void **state)
{
    (void)state;
    failing_malloc_install();
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        sinew_world *world = make_world(NULL);
        long long before = failing_malloc.alive;
        bool done = false;
        for (int n = 1; !done; n++) {
            assert_true(n < 2000);
            const char *folder = fresh_folder(IN_SCRATCH("system"));
            sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
            failing_malloc_arm(n, true);
            done = goes_through(&def, 3);
            bool refused = failing_malloc.fails > 0;
            failing_malloc_arm(0, true);
            assert_true(done != refused);
            assert_int_equal(failing_malloc.alive, before);
            if (!done)
                assert_listing(folder, "");
        }
        sinew_world_destroy(world);
    }
}

static void frames_do_not_allocate(void **state)
{
    (void)state;
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        const char *folder = fresh_folder(IN_SCRATCH("steady"));
        sinew_world *world = make_world(NULL);
        failing_allocator memory = {0};
        sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
        def.allocator = hooks_of(&memory);
        def.frame_count = 5;
        sinew_cache *cache = sinew_cache_open(&def, NULL);
        assert_non_null(cache);
        int64_t calls = memory.calls;
        for (int k = 0; k < 5; k++)
            assert_int_equal(sinew_cache_frame(cache, NULL), SINEW_OK);
        assert_int_equal(memory.calls, calls);
        assert_int_equal(sinew_cache_close(cache, NULL), SINEW_OK);
        assert_int_equal(memory.live, 0);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_defs),     cmocka_unit_test(grown_world),
        cmocka_unit_test(full_disk),      cmocka_unit_test(full_disk_and_on),
        cmocka_unit_test(going_on),       cmocka_unit_test(taken_name),
        cmocka_unit_test(keeps_old),      cmocka_unit_test(failing_memory),
        cmocka_unit_test(failing_system), cmocka_unit_test(frames_do_not_allocate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
