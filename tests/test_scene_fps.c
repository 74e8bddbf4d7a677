/* SPDX-License-Identifier: MIT
 *
 * test_scene_fps.c: fps, time_step and steps_per_frame of a scene: two determine the third, three must agree, and
 * contradictions are refused with both numbers.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "random_cases.h"
#include "sinew/scene.h"

#ifdef SINEW_SINGLE
static const double exact = 2e-7;
#else
static const double exact = 1e-15;
#endif

/* A rope with the given time keys. */
static sinew_scene *scene_of(const char *times, sinew_error *error)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"sinew\": 1, %s \"bodies\": [{\"mesh\": {\"generator\": \"rope\", \"vertices\": 3}, \"mass\": 1, "
             "\"energies\": "
             "[{\"energy\": \"spring\"}]}]}",
             times);
    sinew_scene_def def = sinew_default_scene_def();
    def.text = text;
    def.text_size = strlen(text);
    return sinew_scene_read(&def, error);
}

static void expect(const char *times, double fps, double h, int steps)
{
    sinew_error error = {0};
    sinew_scene *scene = scene_of(times, &error);
    if (!scene)
        fail_msg("%s: %s", times, error.text);
    if (fabs(sinew_scene_fps(scene) / fps - 1) > exact || fabs((double)sinew_scene_time_step(scene) / h - 1) > exact ||
        sinew_scene_steps_per_frame(scene) != steps)
        fail_msg("%s: %.17g fps, %.17g s, %d steps", times, sinew_scene_fps(scene),
                 (double)sinew_scene_time_step(scene), (int)sinew_scene_steps_per_frame(scene));
    assert_true(sinew_world_time_step(sinew_scene_world(scene)) == sinew_scene_time_step(scene));
    sinew_scene_destroy(scene);
}

static void refuse(const char *times, const char *part)
{
    sinew_error error = {0};
    assert_null(scene_of(times, &error));
    if (!strstr(error.text, part) || strchr(error.text, '\n'))
        fail_msg("%s: \"%s\" does not say \"%s\"", times, error.text, part);
}

static void test_two_give_the_third(void **state)
{
    (void)state;
    expect("", 60, 1.0 / 60, 1);
    expect("\"steps_per_frame\": 3,", 20, 1.0 / 60, 3);
    expect("\"time_step\": 0.01, \"steps_per_frame\": 4,", 25, 0.01, 4);
    expect("\"fps\": 25, \"steps_per_frame\": 4,", 25, 0.01, 4);
    expect("\"fps\": 25, \"time_step\": 0.01,", 25, 0.01, 4);
    expect("\"fps\": 25, \"time_step\": \"10 ms\", \"steps_per_frame\": 4,", 25, 0.01, 4);
    expect("\"fps\": 23.976, \"steps_per_frame\": 2,", 23.976, 1 / (2 * 23.976), 2);
}

/* Given alone, fps makes the step at most the default one. */
static void test_alone(void **state)
{
    (void)state;
    expect("\"fps\": 60,", 60, 1.0 / 60, 1);
    expect("\"fps\": 30,", 30, 1.0 / 60, 2);
    expect("\"fps\": 25,", 25, 1.0 / 75, 3);
    expect("\"fps\": 24,", 24, 1.0 / 72, 3);
    expect("\"fps\": 120,", 120, 1.0 / 120, 1);
    expect("\"fps\": 0.5,", 0.5, 1.0 / 60, 120);
}

static void test_contradictions(void **state)
{
    (void)state;
    refuse("\"fps\": 25, \"time_step\": 0.03,", "1/25 s is 1.33333 steps of time_step 0.03 s, not 1; leave out "
                                                "time_step, or make it 0.04 s");
    refuse("\"fps\": 25, \"time_step\": 0.01, \"steps_per_frame\": 3,", "is 4 steps of time_step 0.01 s, not "
                                                                        "steps_per_frame 3;");
    refuse("\"fps\": 60, \"time_step\": 0.0167,", "is 0.998004 steps of time_step 0.0167 s, not 1;");
    refuse("\"fps\": 1e-5, \"time_step\": 1e-9,", "not 1e+06;");
    refuse("\"fps\": 0,", "fps");
    refuse("\"fps\": -25,", "fps");
    refuse("\"fps\": \"fast\",", "fps");
}

/* A random rate and number of steps, given in all four combinations of keys. */
static void test_any_rate(void **state)
{
    (void)state;
    random_cases cases = random_cases_begin("fps", 50, 5000);
    for (int32_t i = 0; i < cases.count; i++) {
        char times[200];
        const double fps = random_magnitude(&cases, 0.1, 1000);
        const int steps = 1 + random_index(&cases, 40);
        const double h = 1 / (fps * steps);
        snprintf(times, sizeof times, "\"fps\": %.17g, \"steps_per_frame\": %d,", fps, steps);
        expect(times, fps, h, steps);
        snprintf(times, sizeof times, "\"fps\": %.17g, \"time_step\": %.17g,", fps, h);
        expect(times, fps, h, steps);
        snprintf(times, sizeof times, "\"fps\": %.17g, \"time_step\": %.17g, \"steps_per_frame\": %d,", fps, h, steps);
        expect(times, fps, h, steps);
        snprintf(times, sizeof times, "\"fps\": %.17g, \"time_step\": %.17g, \"steps_per_frame\": %d,", fps, h,
                 steps + 1);
        refuse(times, "fps: a frame of 1/");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_give_the_third), cmocka_unit_test(test_alone),
                                       cmocka_unit_test(test_contradictions), cmocka_unit_test(test_any_rate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
