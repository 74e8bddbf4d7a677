/* SPDX-License-Identifier: MIT
 *
 * test_picture.c: rendered pictures against inspected reference pictures (tests/data/pictures), the same bits for any
 * number of threads, noise within its documented bound, and refusals.
 *
 * The tolerance applies to the mean of blocks of 4 x 4 pixels, so that another rounding at an edge passes and a missing
 * body fails. The test draws a missing body, flipped normals, a wrong colour map and a lost shadow, and checks that
 * each is detected. To replace the reference pictures after an intended change, run with SINEW_RENEW_PICTURES=1
 * build/release/tests/test_picture, then inspect them.
 */
#include <png.h>
#include <unistd.h>

#include "picture_world.h"

#include "shape.h"
#include "small_world.h"

#define FOLDER SINEW_SOURCE_DIR "/tests/data/pictures"

enum {
    WIDTH = 192,
    HEIGHT = 128,
    BLOCK = 4
};

/* Bytes of a block's mean: both precisions differ by less than 0.1, other compilers and font libraries by more. */
#define TOLERANCE 8.0

/* ---- Drawing --------------------------------------------------------------------------------- */

static sinew_picture_def small_picture(void)
{
    sinew_picture_def def = sinew_default_picture_def();
    def.width = WIDTH;
    def.height = HEIGHT;
    def.thread_count = 1;
    return def;
}

/* Draws snapshots side by side with one common survey. */
static sinew_image draw_some(const sinew_picture_def *def, sinew_snapshot *const *snapshots, int32_t count)
{
    sinew_survey survey = {0};
    sinew_panel panels[8] = {{0}};
    for (int32_t i = 0; i < count; i++) {
        sinew_survey_add(&survey, snapshots[i]);
        panels[i].snapshot = snapshots[i];
    }
    sinew_image image;
    sinew_error error = {0};
    sinew_picture_draw(def, &survey, panels, count, &image, NULL, NULL, &error);
    must(&error);
    assert_string_equal(image.warnings, "");
    return image;
}

/* The largest difference of block means over all three colours, in bytes. */
static double difference(const sinew_image *a, const sinew_image *b)
{
    double worst = 0;
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    for (int32_t y = 0; y < a->height; y += BLOCK)
        for (int32_t x = 0; x < a->width; x += BLOCK)
            for (int c = 0; c < 3; c++) {
                double sum = 0;
                for (int32_t k = 0; k < BLOCK * BLOCK; k++) {
                    const size_t at = 3 * (size_t)((y + k / BLOCK) * a->width + x + k % BLOCK) + (size_t)c;
                    sum += (double)a->pixels[at] - (double)b->pixels[at];
                }
                worst = fmax(worst, fabs(sum) / (BLOCK * BLOCK));
            }
    return worst;
}

static sinew_image read_png(const char *path)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_file(&png, path));
    png.format = PNG_FORMAT_RGB;
    sinew_image image = {.width = (int32_t)png.width, .height = (int32_t)png.height};
    image.pixels = make_array(PNG_IMAGE_SIZE(png), 1);
    assert_true(png_image_finish_read(&png, NULL, image.pixels, 0, NULL));
    return image;
}

/* Compares with the reference picture of that name, or replaces it. */
static double against_golden(const sinew_image *image, const char *name)
{
    char path[512];
    sinew_error error = {0};
    snprintf(path, sizeof path, FOLDER "/%s.png", name);
    if (getenv("SINEW_RENEW_PICTURES")) {
        sinew_image_write(image, path, &error);
        must(&error);
    }
    sinew_image golden = read_png(path);
    const double worst = difference(image, &golden);
    sinew_image_free(&golden);
    return worst;
}

/* ---- Reference pictures -------------------------------------------------------------------------- */

static const struct {
    const char *name;
    sinew_colour_kind colour;
    bool cut;
} goldens[] = {
    {"bodies", SINEW_COLOUR_BODY, false},
    {"von_mises", SINEW_COLOUR_VON_MISES, false},
    {"cut_stretch", SINEW_COLOUR_STRETCH, true},
};

static sinew_snapshot_def golden_def(size_t index)
{
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.colour = goldens[index].colour;
    def.cut = goldens[index].cut;
    return def;
}

static void pictures_look_as_they_did(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        still_life s = make_still_life();
        const sinew_snapshot_def def = golden_def(i);
        sinew_snapshot *snapshot = take_snapshot(s.world, &def);
        const sinew_picture_def picture = small_picture();
        sinew_image image = draw_some(&picture, &snapshot, 1);
        const double worst = against_golden(&image, goldens[i].name);
        printf("%s: worst block differs by %.2f\n", goldens[i].name, worst);
        assert_true(worst <= TOLERANCE);
        sinew_image_free(&image);
        sinew_snapshot_destroy(snapshot);
        sinew_world_destroy(s.world);
    }
}

/* Draws a scene after `spoil` changed it; returns the difference from its reference picture. */
static double spoiled(size_t golden, void (*spoil)(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture))
{
    still_life s = make_still_life();
    const sinew_snapshot_def def = golden_def(golden);
    sinew_snapshot *whole = take_snapshot(s.world, &def);
    sinew_survey survey = {0};
    sinew_survey_add(&survey, whole);
    sinew_picture_def picture = small_picture();
    spoil(&s, NULL, &picture);
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    spoil(&s, snapshot, &picture);
    sinew_image image;
    sinew_error error = {0};
    sinew_picture_draw(&picture, &survey, &(sinew_panel){.snapshot = snapshot}, 1, &image, NULL, NULL, &error);
    must(&error);
    char path[512];
    snprintf(path, sizeof path, FOLDER "/%s.png", goldens[golden].name);
    sinew_image right = read_png(path);
    const double worst = difference(&image, &right);
    sinew_image_free(&right);
    sinew_image_free(&image);
    sinew_snapshot_destroy(snapshot);
    sinew_snapshot_destroy(whole);
    sinew_world_destroy(s.world);
    return worst;
}

static void spoil_nothing(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture)
{
    (void)s;
    (void)snapshot;
    (void)picture;
}

static void lose_rope(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture)
{
    (void)picture;
    if (!snapshot)
        assert_int_equal(sinew_world_remove_body(s->world, s->rope, NULL), SINEW_OK);
}

/* Flips smooth normals inwards. */
static void turn_normals(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture)
{
    (void)s;
    (void)picture;
    for (size_t i = 0; snapshot && i < 9 * (size_t)snapshot->shape.triangle_count; i++)
        snapshot->shape.normals[i] = -snapshot->shape.normals[i];
}

/* Flips the orientation of triangles and their normals. */
static void turn_triangles(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture)
{
    turn_normals(s, snapshot, picture);
    for (size_t t = 0; snapshot && t < (size_t)snapshot->shape.triangle_count; t++) {
        int32_t *corners = snapshot->shape.triangles + 3 * t;
        float *normals = snapshot->shape.normals + 9 * t;
        const int32_t corner = corners[1];
        corners[1] = corners[2];
        corners[2] = corner;
        for (int c = 0; c < 3; c++) {
            const float normal = normals[3 + c];
            normals[3 + c] = normals[6 + c];
            normals[6 + c] = normal;
        }
    }
}

/* Reverses the colour map. */
static void turn_colours(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture)
{
    (void)s;
    (void)picture;
    for (size_t i = 0; snapshot && i < 3 * (size_t)snapshot->shape.triangle_count; i++)
        snapshot->shape.values[i] = (float)(snapshot->low + snapshot->high) - snapshot->shape.values[i];
}

/* Halves the width of the colour range. */
static void stretch_colours(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture)
{
    (void)s;
    if (snapshot) {
        picture->low = snapshot->low;
        picture->high = 0.5 * (snapshot->low + snapshot->high);
    }
}

static void lose_ground(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture)
{
    (void)s;
    (void)snapshot;
    picture->ground = SINEW_GROUND_NONE;
}

static void faults_are_noticed(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        size_t golden;
        void (*spoil)(still_life *s, sinew_snapshot *snapshot, sinew_picture_def *picture);
    } faults[] = {{"a missing body", 0, lose_rope},        {"turned normals", 0, turn_normals},
                  {"turned triangles", 0, turn_triangles}, {"colours upside down", 1, turn_colours},
                  {"a wrong range", 1, stretch_colours},   {"no ground", 0, lose_ground},
                  {"colours of the cut", 2, turn_colours}};
    assert_true(spoiled(0, spoil_nothing) <= TOLERANCE);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const double worst = spoiled(faults[i].golden, faults[i].spoil);
        printf("%s: worst block differs by %.2f\n", faults[i].what, worst);
        assert_true(worst > 2 * TOLERANCE);
    }
}

/* ---- Threads --------------------------------------------------------------------------------- */

static uint64_t image_hash(const sinew_image *image)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < 3 * (size_t)image->width * (size_t)image->height; i++)
        hash = (hash ^ image->pixels[i]) * 1099511628211u;
    return hash;
}

static void threads_change_nothing(void **state)
{
    (void)state;
    still_life s = make_still_life();
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.colour = SINEW_COLOUR_STRETCH;
    sinew_snapshot *snapshot = take_snapshot(s.world, &def), *both[2] = {snapshot, snapshot};
    sinew_picture_def picture = small_picture();
    picture.title = "threads";
    uint64_t hashes[3];
    for (int32_t threads = 1; threads <= 3; threads++) {
        picture.thread_count = threads;
        sinew_image image = draw_some(&picture, both, 2);
        hashes[threads - 1] = image_hash(&image);
        sinew_image_free(&image);
    }
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_equal(hashes[0], hashes[2]);
    sinew_snapshot_destroy(snapshot);
    sinew_world_destroy(s.world);
}

/* ---- Noise ----------------------------------------------------------------------------------- */

/* The default picture against one of many samples: root mean square, in bytes. */
static void noise_is_bounded(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    skip();
#endif
    still_life s = make_still_life();
    const sinew_snapshot_def def = sinew_default_snapshot_def();
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    sinew_picture_def picture = small_picture();
    sinew_image quick = draw_some(&picture, &snapshot, 1);
    picture.samples = 256;
    sinew_image slow = draw_some(&picture, &snapshot, 1);
    double square = 0;
    const size_t count = 3 * (size_t)WIDTH * HEIGHT;
    for (size_t i = 0; i < count; i++)
        square += ((double)quick.pixels[i] - slow.pixels[i]) * ((double)quick.pixels[i] - slow.pixels[i]);
    printf("default against 256 samples: root mean square %.2f of 255\n", sqrt(square / (double)count));
    assert_true(sqrt(square / (double)count) < 3);
    sinew_image_free(&quick);
    sinew_image_free(&slow);
    sinew_snapshot_destroy(snapshot);
    sinew_world_destroy(s.world);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* Draws one snapshot with a def that must be refused. */
static void refuse_picture(const sinew_picture_def *def, const sinew_snapshot *snapshot, sinew_status status,
                           const char *words)
{
    sinew_survey survey = {0};
    sinew_survey_add(&survey, snapshot);
    sinew_image image;
    sinew_error error = {0};
    assert_int_equal(
        sinew_picture_draw(def, &survey, &(sinew_panel){.snapshot = snapshot}, 1, &image, NULL, NULL, &error), status);
    refused(&error, status, words);
    assert_null(strchr(error.text, '\n'));
    assert_null(image.pixels);
}

static void bad_cameras_are_refused(void **state)
{
    (void)state;
    still_life s = make_still_life();
    const sinew_snapshot_def def = sinew_default_snapshot_def();
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    sinew_picture_def away = small_picture();
    away.camera.given = true;
    away.camera.eye[2] = 5;
    away.camera.target[2] = 9;
    refuse_picture(&away, snapshot, SINEW_ERROR_DATA, "at 0 0 5, looking along 0 0 1, it sees nothing");
    refuse_picture(&away, snapshot, SINEW_ERROR_DATA, "which are between");
    away.camera.target[2] = 5;
    refuse_picture(&away, snapshot, SINEW_ERROR_DATA, "eye 0 0 5 and target are the same point");
    sinew_picture_def wide = small_picture();
    wide.camera.angle = 4;
    refuse_picture(&wide, snapshot, SINEW_ERROR_DATA, "is 4");
    sinew_picture_def huge = small_picture();
    huge.width = 1 << 20;
    refuse_picture(&huge, snapshot, SINEW_ERROR_DATA, "1048576 x 128");
    sinew_snapshot_destroy(snapshot);
    sinew_world_destroy(s.world);
}

/* A camera close to a large face sees it although all its corners are outside the picture. */
static void a_face_without_corners_is_seen(void **state)
{
    (void)state;
    still_life s = make_still_life();
    const sinew_snapshot_def def = sinew_default_snapshot_def();
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    sinew_picture_def picture = small_picture();
    picture.camera.given = true;
    const double eye[3] = {0.02, 0.5, 0.02}, target[3] = {0.021, 0.6, 0.02};
    memcpy(picture.camera.eye, eye, sizeof eye);
    memcpy(picture.camera.target, target, sizeof target);
    picture.camera.angle = 0.01;
    sinew_image image = draw_some(&picture, &snapshot, 1);
    sinew_image_free(&image);
    sinew_snapshot_destroy(snapshot);
    sinew_world_destroy(s.world);
}

static bool stop_at_once(void *context, double done)
{
    double *last = context;
    assert_true(done >= *last && done <= 1);
    *last = done;
    return done < 0.3;
}

typedef struct parts {
    double last, smallest; /* fraction at the last call, and the smallest increment after the first samples */
    int32_t count;         /* calls after the first samples, which are 0.4 of the picture */
} parts;

static bool stop_after_parts(void *context, double done)
{
    parts *p = context;
    if (p->last > 0.4 && done - p->last < p->smallest)
        p->smallest = done - p->last;
    p->count += done > 0.4;
    p->last = done;
    return p->count < 8;
}

/* Parts between calls are bounded by time and not by rows: a row with 4096 samples a pixel takes 0.3 s. */
static void many_samples_stop_within_a_row(void **state)
{
    (void)state;
    still_life s = make_still_life();
    const sinew_snapshot_def def = sinew_default_snapshot_def();
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    sinew_picture_def picture = small_picture();
    picture.samples = 4096;
    sinew_survey survey = {0};
    sinew_survey_add(&survey, snapshot);
    sinew_image image;
    sinew_error error = {0};
    parts p = {.smallest = 1};
    sinew_picture_draw(&picture, &survey, &(sinew_panel){.snapshot = snapshot}, 1, &image, stop_after_parts, &p,
                       &error);
    refused(&error, SINEW_ERROR_USAGE, "stopped");
    assert_true(p.smallest < 0.36 / picture.height);
    sinew_snapshot_destroy(snapshot);
    sinew_world_destroy(s.world);
}

static void progress_goes_up_and_may_stop(void **state)
{
    (void)state;
    still_life s = make_still_life();
    const sinew_snapshot_def def = sinew_default_snapshot_def();
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    const sinew_picture_def picture = small_picture();
    sinew_survey survey = {0};
    sinew_survey_add(&survey, snapshot);
    sinew_image image;
    sinew_error error = {0};
    double last = 0;
    sinew_picture_draw(&picture, &survey, &(sinew_panel){.snapshot = snapshot}, 1, &image, stop_at_once, &last, &error);
    refused(&error, SINEW_ERROR_USAGE, "stopped");
    assert_true(last >= 0.3 && last < 0.6);
    sinew_snapshot_destroy(snapshot);
    sinew_world_destroy(s.world);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void without_a_font_there_is_a_note(void **state)
{
    (void)state;
    still_life s = make_still_life();
    const sinew_snapshot_def def = sinew_default_snapshot_def();
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    sinew_picture_def picture = small_picture();
    picture.title = "Gr\u00f6\u00dfe \xff \u03c3";
    sinew_image with = draw_some(&picture, &snapshot, 1), without;
    sinew_survey survey = {0};
    sinew_survey_add(&survey, snapshot);
    setenv("SINEW_FONT", "/nowhere.ttf", 1);
    sinew_error error = {0};
    sinew_picture_draw(&picture, &survey, &(sinew_panel){.snapshot = snapshot}, 1, &without, NULL, NULL, &error);
    unsetenv("SINEW_FONT");
    must(&error);
    assert_non_null(strstr(without.warnings, "SINEW_FONT=/nowhere.ttf"));
    assert_true(difference(&with, &without) > TOLERANCE);
    sinew_image_free(&with);
    sinew_image_free(&without);
    sinew_snapshot_destroy(snapshot);
    sinew_world_destroy(s.world);
}

static void a_picture_is_written_whole_or_not(void **state)
{
    (void)state;
    uint8_t pixels[3 * 6] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3, 4, 5, 6, 250, 251, 252};
    const sinew_image image = {.width = 3, .height = 2, .pixels = pixels};
    sinew_error error = {0};
    assert_int_equal(sinew_image_write(&image, SINEW_TEST_DIR "/six.png", &error), SINEW_OK);
    sinew_image back = read_png(SINEW_TEST_DIR "/six.png");
    assert_int_equal(back.width, 3);
    assert_memory_equal(back.pixels, pixels, sizeof pixels);
    sinew_image_free(&back);
    sinew_image_write(&image, SINEW_TEST_DIR "/nowhere/six.png", &error);
    refused(&error, SINEW_ERROR_FILE, "nowhere/six.png");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_look_as_they_did),      cmocka_unit_test(faults_are_noticed),
        cmocka_unit_test(threads_change_nothing),         cmocka_unit_test(noise_is_bounded),
        cmocka_unit_test(bad_cameras_are_refused),        cmocka_unit_test(a_face_without_corners_is_seen),
        cmocka_unit_test(progress_goes_up_and_may_stop),  cmocka_unit_test(many_samples_stop_within_a_row),
        cmocka_unit_test(without_a_font_there_is_a_note), cmocka_unit_test(a_picture_is_written_whole_or_not),
    };
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
