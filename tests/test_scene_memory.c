/* SPDX-License-Identifier: MIT
 *
 * test_scene_memory.c: each example scene is read while the allocations of the library and of jansson fail in turn: the
 * reader reports it, leaks nothing and leaves no partly built world.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_allocator.h"
#include "failing_malloc.h"
#include "sinew/scene.h"

static sinew_scene *read_scene(const char *path, const sinew_allocator *allocator, sinew_error *error)
{
    static const char *const settings[] = {"threads=1", "frames=3", "solver.iterations=4"};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    def.settings = settings;
    def.setting_count = 3;
    if (allocator)
        def.allocator = *allocator;
    return sinew_scene_read(&def, error);
}

static int list_scenes(char paths[][512], int capacity)
{
    DIR *stream = opendir(SINEW_SOURCE_DIR "/scenes");
    assert_non_null(stream);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(stream)) && count < capacity;)
        if (strstr(entry->d_name, ".json"))
            snprintf(paths[count++], 512, "%s/scenes/%s", SINEW_SOURCE_DIR, entry->d_name);
    closedir(stream);
    return count;
}

enum {
    SCENE_MAX = 64
};
static char paths[SCENE_MAX][512];

/* The next allocation to refuse: each of the first thirty, then with growing stride; nightly runs refuse every one. */
static long long next_request(long long request)
{
    const char *nightly = getenv("SINEW_NIGHTLY");
    return request + (nightly && nightly[0] == '1' ? 1 : 1 + request / 30);
}

/* Allocations through the scene's own hooks fail. */
static void test_every_hook_failure_is_said(void **state)
{
    (void)state;
    int count = list_scenes(paths, SCENE_MAX);
    assert_in_range(count, 9, SCENE_MAX);
    for (int i = 0; i < count; i++) {
        failing_allocator memory = {0};
        sinew_allocator hooks = hooks_of(&memory);
        sinew_error error;
        sinew_scene *scene = NULL;
        for (memory.fail_at = 1; !scene; memory.fail_at = next_request(memory.fail_at)) {
            memory.calls = 0;
            scene = read_scene(paths[i], &hooks, &error);
            if (!scene && error.status != SINEW_ERROR_MEMORY)
                fail_msg("%s, request %lld: %s", paths[i], (long long)memory.fail_at, error.text);
            if (!scene)
                assert_int_equal(memory.live, 0);
        }
        sinew_scene_destroy(scene);
        assert_int_equal(memory.live, 0);
        assert_true(memory.fail_at > 20);
    }
}

/* All calls of malloc fail, jansson's too. Parsing is the same for every scene, so one scene with all parts suffices.
 */
static void test_every_malloc_failure_is_said(void **state)
{
    (void)state;
    const char *path = SINEW_SOURCE_DIR "/scenes/two_blocks.json";
    sinew_error error;
    sinew_scene *scene = NULL;
    for (long long first = 1; !scene; first++) {
        long long before = atomic_load(&failing_malloc.alive);
        failing_malloc_arm(first, true);
        scene = read_scene(path, NULL, &error);
        long long fails = atomic_load(&failing_malloc.fails);
        failing_malloc_arm(0, true);
        if (scene && fails > 0) {
            /* An optional part was left out, such as the text of a warning. */
            sinew_scene_destroy(scene);
            scene = NULL;
        } else if (!scene) {
            if (error.status != SINEW_ERROR_MEMORY)
                fail_msg("allocation %lld: %s: %s", first, sinew_status_name(error.status), error.text);
        } else {
            sinew_scene_destroy(scene);
            assert_int_equal(atomic_load(&failing_malloc.alive), before);
            break;
        }
        assert_int_equal(atomic_load(&failing_malloc.alive), before);
    }
}

static void test_schema_without_memory(void **state)
{
    (void)state;
    size_t whole = sinew_scene_schema(NULL, 0), size = 0;
    for (long long first = 1; size == 0; first += 97) {
        long long before = atomic_load(&failing_malloc.alive);
        failing_malloc_arm(first, true);
        size = sinew_scene_schema(NULL, 0);
        failing_malloc_arm(0, true);
        assert_int_equal(atomic_load(&failing_malloc.alive), before);
    }
    assert_int_equal(size, whole);
}

int main(void)
{
    failing_malloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_hook_failure_is_said),
        cmocka_unit_test(test_every_malloc_failure_is_said),
        cmocka_unit_test(test_schema_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
