/* SPDX-License-Identifier: MIT
 *
 * test_scene_steps.c: every example scene loads and steps.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "example_scenes.h"
#include "sinew/scene.h"

static void assert_finite(sinew_world *world)
{
    const int32_t count = sinew_world_particle_count(world);
    sinew_real *q = malloc(3 * (size_t)count * sizeof *q);
    assert_non_null(q);
    assert_int_equal(sinew_world_get_positions(world, 0, count, q), SINEW_OK);
    for (int32_t i = 0; i < 3 * count; i++)
        assert_true(isfinite(q[i]));
    free(q);
}

static void load_and_step(const char *path, void *context)
{
    (void)context;
    sinew_error error;
    const char *settings[] = {"threads=1"};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    def.settings = settings;
    def.setting_count = 1;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        fail_msg("%s", error.text);
    assert_true(strlen(sinew_scene_comment(scene)) > 40);
    assert_in_range(sinew_scene_frames(scene), 1, 1000);
    /* A scene that runs a number of iterations does not promise that they are enough. */
    const uint32_t usual = sinew_scene_solver(scene).tolerance > 0 ? 0 : SINEW_STEP_NOT_CONVERGED;
    for (int i = 0; i < 2 * sinew_scene_steps_per_frame(scene); i++) {
        uint32_t bits = sinew_world_step(sinew_scene_world(scene), NULL);
        if (bits & UNWANTED & ~usual)
            fail_msg("%s: step %d has bits %u: %s", path, i, bits, sinew_world_error(sinew_scene_world(scene)));
    }
    assert_finite(sinew_scene_world(scene));
    sinew_scene_destroy(scene);
}

static void every_scene_loads_and_steps(void **state)
{
    (void)state;
    each_scene(load_and_step, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_scene_loads_and_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
