/* SPDX-License-Identifier: MIT
 *
 * test_formats_app.c: output options of `sinew run` as a user meets them: fields, glTF frames, fps; messages for
 * unknown words; a resumed run continues its output with the same options.
 */
#include "app_fixture.h"
#include "sinew/scene.h"

/* Whether a file of the scratch folder contains the text. */
static bool holds(const char *path, const char *part)
{
    size_t size;
    char name[256];
    snprintf(name, sizeof name, "%s", path);
    char *slash = strrchr(name, '/');
    *slash = '\0';
    char *text = whole_file(name, slash + 1, &size);
    const bool found = memmem(text, size, part, strlen(part)) != NULL;
    free(text);
    return found;
}

static void test_wrong_words(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"--format usd", "--format: unknown format \"usd\"; did you mean \"usda\"?"},
        {"--format abacus", "known are pc2, obj, vtu, gltf, csv, npy, usda, none"},
        {"--format vtu --fields von_mise", "--fields: unknown field \"von_mise\"; did you mean \"von_mises\"?"},
        {"--format vtu --fields xxxxxxxxxx", "known are force, residual, reaction, determinant"},
        {"--format pc2 --fields force", "--fields: only vtu and npy hold fields"},
        {"--format gltf --morphs -1", "--morphs: \"-1\" is not a whole number"},
        {"--set fps=30", "a frame of 1/30 s is 1.66667 steps of time_step 0.02 s, not 2"},
        {"--set fps=0", "fps"},
    };
    remove_files("wrong");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[256];
        snprintf(words, sizeof words, "run twist --threads 1 --frames 1 --out wrong %s", cases[i][0]);
        refuse(words, cases[i][1]);
    }
    refuse("run swinging_rope --threads 1 --frames 1 --out wrong --format vtu --fields stretches",
           "the world does not have the field stretches: no energy of it acts on tets");
    assert_int_equal(count_files("wrong", ""), 0);
}

/* A resumed run with any fields equals an uninterrupted one; options need not be repeated. */
static void test_fields_go_on(void **state)
{
    (void)state;
    static const char *const choices[] = {"", "--fields none", "--fields all", "--fields reaction,stretches"};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        char words[256];
        remove_files("straight");
        remove_files("parts");
        snprintf(words, sizeof words, "run twist --threads 1 --frames 4 --format vtu,npy --out straight %s",
                 choices[i]);
        go(words, 0);
        snprintf(words, sizeof words, "run twist --threads 1 --frames 2 --format vtu,npy --out parts %s", choices[i]);
        go(words, 0);
        go("run twist --threads 1 --frames 4 --resume parts", 0);
        assert_true(same_results("straight", "parts"));
        assert_int_equal(holds("straight/twist.0002.vtu", "von_mises"), i == 0 || i == 2);
        assert_int_equal(holds("straight/twist.0002.vtu", "reaction"), i >= 2);
        assert_int_equal(size_of("straight/twist.von_mises.npy") > 0, i == 0 || i == 2);
    }
    refuse("run twist --threads 1 --frames 6 --resume parts --fields all", "has other fields; leave out --fields");
    refuse("run twist --threads 1 --frames 6 --resume parts --morphs 7", "has another --morphs; leave it out");
    go("run twist --threads 1 --frames 5 --resume parts --fields reaction,stretches", 0);
    /* A new run in the folder removes all arrays. */
    go("run twist --threads 1 --frames 1 --format csv --out parts --overwrite", 0);
    assert_int_equal(count_files("parts", ".npy"), 0);
}

static void test_morphs(void **state)
{
    (void)state;
    remove_files("morphs");
    outcome o = sinew("run twist --threads 1 --frames 9 --format gltf --morphs 4 --out morphs");
    expect(&o, 0, "run twist");
    assert_non_null(strstr(o.out, "twist.glb (browser, Blender) with every 4th of 10 frames, as viewers take few"));
    assert_true(holds("morphs/twist.glb", "\"every\":4"));
    o = sinew("run twist --threads 1 --frames 9 --format gltf --out morphs --overwrite");
    expect(&o, 0, "run twist");
    assert_null(strstr(o.out, "every"));
    assert_true(holds("morphs/twist.glb", "\"every\":1"));
}

static void test_fps(void **state)
{
    (void)state;
    remove_files("film");
    go("run two_blocks --threads 1 --frames 2 --format usda,npy --out film --set fps=25 --set steps_per_frame=4 --set "
       "time_step=0.01",
       0);
    assert_true(holds("film/two_blocks.usda", "timeCodesPerSecond = 25\n"));
    assert_true(holds("film/two_blocks.npy.json", "\"fps\": 25.0"));
    assert_true(holds("film/summary.json", "\"fps\": 25.0"));
    assert_true(holds("film/summary.json", "\"steps_per_frame\": 4"));
}

/* `sinew info formats` has a line per format, and `sinew info run` lists the existing files. */
static void test_info(void **state)
{
    (void)state;
    outcome o = sinew("info formats");
    expect(&o, 0, "info formats");
    for (int i = 0; i < SINEW_CACHE_COUNT; i++) {
        char line[32];
        snprintf(line, sizeof line, "\n  %s ", sinew_cache_format_name((sinew_cache_format)i));
        assert_non_null(strstr(o.out, line));
    }
    for (int i = 0; i < SINEW_FIELD_COUNT; i++)
        assert_non_null(strstr(o.out, sinew_get_field_info((sinew_field_kind)i)->name));
    go("run swinging_rope --threads 1 --frames 1 --format npy --out named --overwrite", 0);
    o = sinew("info run named");
    expect(&o, 0, "info run");
    assert_non_null(strstr(o.out, "swinging_rope.positions.npy"));
    assert_null(strstr(o.out, "von_mises"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_words), cmocka_unit_test(test_fields_go_on),
                                       cmocka_unit_test(test_morphs), cmocka_unit_test(test_fps),
                                       cmocka_unit_test(test_info)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
