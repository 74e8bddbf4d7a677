/* SPDX-License-Identifier: MIT
 *
 * test_scene_view.c: the keys `camera` and `picture` of scenes: their values, refused values, and the names of colours,
 * which must equal those of pictures.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "io/scene/key_tables.h"
#include "picture.h"
#include "sinew/scene.h"

static sinew_scene *read_scene(const char *keys, sinew_error *error)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"sinew\": 1, %s\n\"bodies\": [{\"mesh\": {\"generator\": \"rope\"}, \"density\": 1,"
             " \"energies\": [{\"energy\": \"spring\"}]}]}",
             keys);
    sinew_scene_def def = sinew_default_scene_def();
    def.text = text;
    def.text_size = strlen(text);
    return sinew_scene_read(&def, error);
}

static sinew_scene_view view_of(sinew_scene **scene, const char *keys)
{
    sinew_error error = {0};
    *scene = read_scene(keys, &error);
    if (!*scene)
        fail_msg("%s", error.text);
    return sinew_scene_get_view(*scene);
}

static void a_scene_that_says_nothing(void **state)
{
    (void)state;
    sinew_scene *scene;
    const sinew_scene_view view = view_of(&scene, "");
    assert_false(view.placed || view.cut);
    assert_true(view.ground);
    assert_true(isnan(view.azimuth) && isnan(view.elevation) && isnan(view.distance) && isnan(view.angle));
    assert_true(isnan(view.ground_height) && view.orbit == 0);
    assert_string_equal(view.colour, "");
    sinew_scene_destroy(scene);
}

static void everything_is_taken(void **state)
{
    (void)state;
    sinew_scene *scene;
    sinew_scene_view view =
        view_of(&scene, "\"camera\": {\"eye\": [1, \"20 cm\", 3], \"target\": [0, 0.5, 0], "
                        "\"angle\": \"30 deg\", \"orbit\": 2},\n\"picture\": {\"colour\": \"speed\", "
                        "\"ground\": \"-5 cm\", \"cut\": {\"point\": [0, 0, 1], \"normal\": [0, 0, "
                        "2]}},");
    assert_true(view.placed && view.cut && view.ground);
    assert_true(fabs(view.eye[1] - 0.2) < 1e-6 && view.target[1] == 0.5 && view.orbit == 2);
    assert_true(fabs(view.angle - 0.5235988) < 1e-6);
    assert_true(fabs(view.ground_height + 0.05) < 1e-6 && view.cut_normal[2] == 2 && view.cut_point[2] == 1);
    assert_string_equal(view.colour, "speed");
    sinew_scene_destroy(scene);
    view = view_of(&scene, "\"camera\": {\"azimuth\": \"90 deg\", \"elevation\": 0.25, \"distance\": 2},\n"
                           "\"picture\": {\"ground\": \"none\"},");
    assert_false(view.placed || view.ground);
    assert_true(fabs(view.azimuth - 1.5707963) < 1e-6 && view.elevation == 0.25 && view.distance == 2);
    sinew_scene_destroy(scene);
    view = view_of(&scene, "\"picture\": {\"ground\": \"below\"},");
    assert_true(view.ground && isnan(view.ground_height));
    sinew_scene_destroy(scene);
}

static void refusals_name_the_place(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"\"camera\": {\"eye\": [0, 0, 1]},", "camera.eye: eye and target go together; give target too"},
        {"\"camera\": {\"target\": [0, 0, 1]},", "camera.target: eye and target go together; give eye too"},
        {"\"camera\": {\"eye\": [0, 0, 1], \"target\": [0, 0, 1]},", "the same point as target"},
        {"\"camera\": {\"eye\": [0, 0, 1], \"azimuth\": 1},", "azimuth"},
        {"\"camera\": {\"eye\": [0, 0, 1], \"target\": [0, 0, 0], \"distance\": 1},", "of a fitted camera"},
        {"\"camera\": {\"angle\": 4},", "camera.angle"},
        {"\"camera\": {\"elevation\": 2},", "camera.elevation"},
        {"\"picture\": {\"colour\": \"sped\"},", "speed"},
        {"\"picture\": {\"ground\": \"nowhere\"},", "picture.ground"},
        {"\"picture\": {\"cut\": {\"point\": [0, 0, 0], \"normal\": [0, 0, 0]}},", "picture.cut.normal: is zero"},
        {"\"picture\": {\"cut\": {\"point\": [0, 0, 0]}},", "normal"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinew_error error = {0};
        sinew_scene *scene = read_scene(cases[i][0], &error);
        if (scene || !strstr(error.text, cases[i][1]) || strchr(error.text, '\n'))
            fail_msg("%s: \"%s\" does not say \"%s\"", cases[i][0], scene ? "taken" : error.text, cases[i][1]);
    }
}

/* Scenes may use exactly the colour names of pictures, except the one whose values only a program can give. */
static void words_are_those_of_pictures(void **state)
{
    (void)state;
    char words[256] = "";
    for (int kind = 0; kind < SINEW_COLOUR_GIVEN; kind++) {
        strcat(words, kind ? "|" : "");
        strcat(words, sinew_colour_name((sinew_colour_kind)kind));
    }
    assert_string_equal(words, SINEW_COLOUR_NAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scene_that_says_nothing),
        cmocka_unit_test(everything_is_taken),
        cmocka_unit_test(refusals_name_the_place),
        cmocka_unit_test(words_are_those_of_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
