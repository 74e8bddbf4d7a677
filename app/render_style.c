/* SPDX-License-Identifier: MIT
 *
 * render_style.c: style of a picture: the program's defaults, then the scene's keys `camera` and `picture`, then the
 * options. Angles are degrees on the command line.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "render.h"

static const char command[] = "render";
static const double degree = 3.14159265358979323846 / 180;

enum {
    SAMPLE_MAX = 65536,
    DISTANCE_MAX = 1000000 /* maximum camera distance, as in the key `distance` of scenes */
};

/* ---- Lists of numbers as option values --------------------------------------------------------- */

/* Parses the whole text as numbers separated by `mark`. Returns their count, at most `max`, or -1. */
static int style_read_list(const char *text, char mark, double *numbers, int max)
{
    int count = 0;
    for (const char *at = text; count < max; at++) {
        char *end;
        numbers[count] = strtod(at, &end);
        if (end == at || !isfinite(numbers[count]))
            return -1;
        count++;
        at = end;
        if (!*at)
            return count;
        if (*at != mark)
            return -1;
    }
    return -1;
}

/* ---- Camera of a picture ---------------------------------------------------------------------- */

typedef struct camera_names {
    bool eye, target, fitted;
} camera_names;

static bool refuse_camera(const char *word)
{
    sinew_usage_error(
        command,
        "--camera: \"%s\" is none of fit, AZIMUTH,ELEVATION[,DISTANCE] (degrees), eye=X,Y,Z, target=X,Y,Z, "
        "angle=DEGREES, orbit[=TURNS]",
        word);
    return false;
}

static bool read_direction(const char *word, sinew_camera *camera)
{
    double numbers[3];
    const int count = style_read_list(word, ',', numbers, 3);
    if (count < 2)
        return refuse_camera(word);
    if (fabs(numbers[1]) > 89.9 || (count == 3 && !(numbers[2] > 0 && numbers[2] <= DISTANCE_MAX))) {
        sinew_usage_error(command,
                          "--camera %s: the elevation must be from -89.9 to 89.9 degrees, the distance greater than 0 "
                          "and at most %d",
                          word, DISTANCE_MAX);
        return false;
    }
    camera->azimuth = numbers[0] * degree;
    camera->elevation = numbers[1] * degree;
    camera->distance = count == 3 ? numbers[2] : camera->distance;
    return true;
}

static bool read_camera_word(const char *word, sinew_style *style, camera_names *found)
{
    sinew_camera *camera = &style->picture.camera;
    double number;
    if (strcmp(word, "fit") == 0)
        return found->fitted = true;
    if (strcmp(word, "orbit") == 0) {
        style->orbit = 1;
        return true;
    }
    if (strncmp(word, "orbit=", 6) == 0)
        return sinew_read_number(command, "--camera orbit", word + 6, -1000, 1000, &style->orbit);
    if (strncmp(word, "angle=", 6) == 0) {
        const bool good = sinew_read_number(command, "--camera angle", word + 6, 0.1, 170, &number);
        camera->angle = good ? number * degree : camera->angle;
        return good;
    }
    if (strncmp(word, "eye=", 4) == 0)
        return (found->eye = style_read_list(word + 4, ',', camera->eye, 3) == 3) || refuse_camera(word);
    if (strncmp(word, "target=", 7) == 0)
        return (found->target = style_read_list(word + 7, ',', camera->target, 3) == 3) || refuse_camera(word);
    return (found->fitted = read_direction(word, camera));
}

static bool read_camera(const char *text, sinew_style *style)
{
    char words[512];
    camera_names found = {false, false, false};
    sinew_camera *camera = &style->picture.camera;
    if (!text)
        return true;
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words || !*text)
        return refuse_camera(*text ? "a text of more than 511 letters" : "");
    char *rest = words;
    for (char *word; (word = strsep(&rest, " ;"));)
        if (*word && !read_camera_word(word, style, &found))
            return false;
    if (found.eye != found.target || (found.eye && found.fitted)) {
        sinew_usage_error(command, "--camera %s: %s", text,
                          found.eye != found.target ? "eye=X,Y,Z and target=X,Y,Z go together"
                                                    : "is both fitted and placed; give a direction, or eye and target");
        return false;
    }
    if (found.eye && !(sinew_distance(camera->eye, camera->target) > 0)) {
        sinew_usage_error(command, "--camera %s: eye and target are the same point", text);
        return false;
    }
    camera->given = found.eye || (camera->given && !found.fitted);
    return true;
}

/* Places an orbiting camera at the distance from which a ball around all drawn objects fits, so that the distance is
 * the same in all directions. */
static void place_camera(const sinew_survey *survey, double aspect, sinew_camera *camera)
{
    double radius = 0;
    for (int i = 0; i < 3; i++)
        camera->target[i] = (survey->bounds[i] + survey->bounds[i + 3]) / 2;
    for (int i = 0; i < SINEW_SURVEY_EXTREMES; i++)
        radius = fmax(radius, sinew_distance(survey->extremes[i], camera->target));
    const double half = atan(tan(camera->angle / 2) * fmin(1, aspect));
    const double far = camera->distance * fmax(radius, 1e-12) / sin(half);
    camera->given = true;
    camera->eye[0] = camera->target[0] + far * cos(camera->elevation) * sin(camera->azimuth);
    camera->eye[1] = camera->target[1] + far * sin(camera->elevation);
    camera->eye[2] = camera->target[2] + far * cos(camera->elevation) * cos(camera->azimuth);
}

sinew_camera sinew_style_camera(const sinew_style *style, const sinew_survey *survey, double fraction)
{
    sinew_camera camera = style->picture.camera;
    if (style->orbit == 0)
        return camera;
    if (!camera.given)
        place_camera(survey, (double)style->picture.width / style->picture.height, &camera);
    const double turn = 360 * degree * style->orbit * fraction;
    const double x = camera.eye[0] - camera.target[0], z = camera.eye[2] - camera.target[2];
    camera.eye[0] = camera.target[0] + cos(turn) * x + sin(turn) * z;
    camera.eye[2] = camera.target[2] - sin(turn) * x + cos(turn) * z;
    return camera;
}

/* ---- Colours, cut and ground of a picture ----------------------------------------------------- */

static bool read_colour(const char *name, sinew_style *style)
{
    const char *names[SINEW_COLOUR_COUNT];
    int32_t count = 0;
    if (!name || !*name)
        return true;
    style->snapshot.colour = sinew_colour_by_name(name);
    if (style->snapshot.colour < SINEW_COLOUR_GIVEN)
        return true;
    /* The command line cannot select SINEW_COLOUR_GIVEN, whose values only a program provides. */
    for (; count < SINEW_COLOUR_GIVEN; count++)
        names[count] = sinew_colour_name((sinew_colour_kind)count);
    const char *nearest = sinew_nearest_name(name, names, count);
    if (nearest)
        sinew_usage_error(command, "--colour: unknown field \"%s\"; did you mean \"%s\"?", name, nearest);
    else
        sinew_usage_error(command, "--colour: unknown field \"%s\"; see sinew render --help", name);
    return false;
}

static bool read_range(const char *text, sinew_style *style)
{
    double numbers[2];
    if (!text)
        return true;
    if (style_read_list(text, ':', numbers, 2) != 2 || !(numbers[0] < numbers[1])) {
        sinew_usage_error(command, "--range: \"%s\" is not LOW:HIGH, two numbers, the first one lower", text);
        return false;
    }
    style->picture.low = numbers[0];
    style->picture.high = numbers[1];
    return true;
}

static bool read_ground(const char *text, sinew_style *style)
{
    double height;
    if (!text)
        return true;
    style->picture.ground = strcmp(text, "none") == 0 ? SINEW_GROUND_NONE : SINEW_GROUND_BELOW;
    if (strcmp(text, "none") == 0 || strcmp(text, "below") == 0)
        return true;
    if (style_read_list(text, ',', &height, 1) != 1 || fabs(height) > 1e9) {
        sinew_usage_error(command, "--ground: \"%s\" is neither none, below nor a height from -1e9 to 1e9 m", text);
        return false;
    }
    style->picture.ground = SINEW_GROUND_AT;
    style->picture.ground_height = height;
    return true;
}

/* Parses the option --cut: "z=0.5", "-x=0" or six numbers, a point and the normal towards the removed side. */
static bool read_cut(const char *text, sinew_style *style)
{
    sinew_snapshot_def *def = &style->snapshot;
    static const double zero[3];
    double numbers[6];
    if (!text)
        return true;
    def->cut = strcmp(text, "none") != 0;
    if (!def->cut)
        return true;
    const int sign = text[0] == '-' ? -1 : 1;
    const char *axis = text + (sign < 0);
    if (*axis >= 'x' && *axis <= 'z' && axis[1] == '=' && style_read_list(axis + 2, ',', numbers, 1) == 1) {
        for (int i = 0; i < 3; i++) {
            def->cut_point[i] = *axis - 'x' == i ? numbers[0] : 0;
            def->cut_normal[i] = *axis - 'x' == i ? sign : 0;
        }
        return true;
    }
    if (style_read_list(text, ',', numbers, 6) != 6 || !(sinew_distance(numbers + 3, zero) > 0)) {
        sinew_usage_error(command, "--cut: \"%s\" is none of none, x=M, -x=M (y, z), or X,Y,Z,NX,NY,NZ", text);
        return false;
    }
    memcpy(def->cut_point, numbers, sizeof def->cut_point);
    memcpy(def->cut_normal, numbers + 3, sizeof def->cut_normal);
    return true;
}

/* ---- Size and samples of a picture ------------------------------------------------------------ */

static bool read_counts(const sinew_arguments *a, sinew_style *style)
{
    const char *samples = sinew_option_text(a, "samples"), *threads = sinew_option_text(a, "threads");
    const char *size = sinew_option_text(a, "size");
    int64_t sample_count = style->picture.samples, thread_count = style->picture.thread_count;
    if ((size && !sinew_read_size(command, size, &style->picture.width, &style->picture.height)) ||
        (samples && !sinew_read_integer(command, "--samples", samples, 1, SAMPLE_MAX, &sample_count)) ||
        (threads && !sinew_read_integer(command, "--threads", threads, 0, 1024, &thread_count)))
        return false;
    style->picture.samples = (int32_t)sample_count;
    style->picture.thread_count = (int32_t)thread_count;
    return true;
}

/* ---- The complete style from scene and options ------------------------------------------------- */

static void take_scene(const sinew_scene *scene, sinew_style *style)
{
    const sinew_scene_view view = sinew_scene_get_view(scene);
    sinew_camera *camera = &style->picture.camera;
    camera->given = view.placed;
    memcpy(camera->eye, view.eye, sizeof camera->eye);
    memcpy(camera->target, view.target, sizeof camera->target);
    camera->azimuth = isnan(view.azimuth) ? camera->azimuth : view.azimuth;
    camera->elevation = isnan(view.elevation) ? camera->elevation : view.elevation;
    camera->distance = isnan(view.distance) ? camera->distance : view.distance;
    camera->angle = isnan(view.angle) ? camera->angle : view.angle;
    style->orbit = view.orbit;
    style->picture.ground = !view.ground                ? SINEW_GROUND_NONE
                            : isnan(view.ground_height) ? SINEW_GROUND_BELOW
                                                        : SINEW_GROUND_AT;
    style->picture.ground_height = isnan(view.ground_height) ? 0 : view.ground_height;
    style->snapshot.cut = view.cut;
    memcpy(style->snapshot.cut_point, view.cut_point, sizeof view.cut_point);
    memcpy(style->snapshot.cut_normal, view.cut_normal, sizeof view.cut_normal);
}

bool sinew_style_read(const sinew_arguments *a, const sinew_scene *scene, sinew_style *style)
{
    *style = (sinew_style){.snapshot = sinew_default_snapshot_def(), .picture = sinew_default_picture_def()};
    take_scene(scene, style);
    style->picture.title = sinew_option_text(a, "title");
    return read_colour(sinew_scene_get_view(scene).colour, style) &&
           read_colour(sinew_option_text(a, "colour"), style) && read_range(sinew_option_text(a, "range"), style) &&
           read_ground(sinew_option_text(a, "ground"), style) && read_cut(sinew_option_text(a, "cut"), style) &&
           read_camera(sinew_option_text(a, "camera"), style) && read_counts(a, style);
}
