/* SPDX-License-Identifier: MIT
 *
 * test_scene_leaks.c: a scene that is read and destroyed gives back every block of its allocator: every example scene,
 * and one with couplings, selections and loads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "example_scenes.h"
#include "failing_allocator.h"
#include "sinew/scene.h"

static void assert_no_leak(sinew_scene_def *def, const char *name)
{
    failing_allocator memory = {0};
    sinew_error error = {0};
    def->allocator = hooks_of(&memory);
    sinew_scene *scene = sinew_scene_read(def, &error);
    if (!scene)
        fail_msg("%s", error.text);
    assert_true(memory.live > 0);
    sinew_scene_destroy(scene);
    if (memory.live != 0)
        fail_msg("%s: %lld blocks are not released", name, (long long)memory.live);
}

static void read_example(const char *path, void *context)
{
    (void)context;
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    assert_no_leak(&def, path);
}

static void every_scene(void **state)
{
    (void)state;
    each_scene(read_example, NULL);
}

static const char text[] =
    "{\"sinew\": 1, \"bodies\": ["
    "{\"name\": \"a\", \"mesh\": {\"generator\": \"box\", \"vertices\": [3, 3, 3]}, \"energies\": [{\"energy\": "
    "\"corotated\", \"select\": {\"box\": [[-1, -1, -1], [2, 0.6, 2]]}}], \"pins\": [{\"select\": {\"and\": [{\"not\": "
    "{\"indices\": [1]}}, {\"half_space\": {\"point\": [0, 0.9, 0], \"normal\": [0, 1, 0]}}]}}], \"forces\": "
    "[{\"select\": {\"nearest\": [0, 0, 0]}, \"force\": [1, 0, 0]}]},"
    "{\"name\": \"b\", \"mesh\": {\"generator\": \"cloth\", \"vertices\": [3, 3], \"origin\": [0, 0, 1.01]}, "
    "\"density\": 1, \"energies\": [{\"energy\": \"spring\", \"select\": {\"indices\": [0, 1]}}], \"loads\": "
    "[{\"load\": \"wind\", \"velocity\": [1, 0, 0], \"select\": {\"indices\": [0]}, \"keys\": [{\"time\": 0}]}]}],"
    "\"couplings\": [{\"energy\": \"weak\", \"bodies\": [\"b\", \"a\"], \"within\": 0.1, \"select\": {\"indices\": [0, "
    "1, 2]}}, {\"energy\": \"weak\", \"bodies\": [\"a\", \"b\"], \"pairs\": [[26, 8], [25, 7]]}]}";

static void one_with_everything(void **state)
{
    (void)state;
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/test.json";
    def.text = text;
    def.text_size = strlen(text);
    assert_no_leak(&def, "the scene with couplings");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scene), cmocka_unit_test(one_with_everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
