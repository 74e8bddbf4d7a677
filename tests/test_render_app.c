/* SPDX-License-Identifier: MIT
 *
 * test_render_app.c: `sinew render` as a user meets it: pictures of scenes and of runs, films, refusals, and the files
 * left after an interruption. Pictures are tiny; test_picture.c checks their contents.
 */
#include <png.h>

#include "app_fixture.h"

#define SMALL "--size 64x48 --samples 4 --quiet "

typedef struct pixels {
    int width, height;
    unsigned char *rgb; /* [3 * width * height] */
} pixels;

static pixels read_png(const char *name)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, scratch(name)))
        fail_msg("%s: %s", name, image.message);
    image.format = PNG_FORMAT_RGB;
    pixels p = {(int)image.width, (int)image.height, malloc(PNG_IMAGE_SIZE(image))};
    if (!png_image_finish_read(&image, NULL, p.rgb, 0, NULL))
        fail_msg("%s: %s", name, image.message);
    return p;
}

/* Mean difference of two pictures of one size, 0 .. 255. */
static double difference(const char *one, const char *two)
{
    pixels a = read_png(one), b = read_png(two);
    double sum = 0;
    assert_true(a.width == b.width && a.height == b.height);
    for (int i = 0; i < 3 * a.width * a.height; i++)
        sum += abs(a.rgb[i] - b.rgb[i]);
    sum /= 3.0 * a.width * a.height;
    free(a.rgb);
    free(b.rgb);
    return sum;
}

static outcome render(const char *words, int status)
{
    char line[1024];
    snprintf(line, sizeof line, "render %s", words);
    outcome o = sinew(line);
    expect(&o, status, line);
    return o;
}

static bool has_ffmpeg(void)
{
    static const char *const places[] = {"/usr/bin/ffprobe", "/usr/local/bin/ffprobe"};
    if (access(places[0], X_OK) == 0 || access(places[1], X_OK) == 0)
        return true;
    print_message("ffmpeg is not installed: films are not tested\n");
    return false;
}

/* ---- Pictures ---------------------------------------------------------------------------------- */

static void one_picture_of_a_scene(void **state)
{
    (void)state;
    outcome o = render("twist --size 64x48 --samples 4 --frame 5 --out twist.png", 0);
    assert_string_equal(o.err, "");
    assert_int_equal(count_lines(o.out), 1);
    assert_non_null(strstr(o.out, "twist.png: frame 5 of twist, 64x48, 4 samples a pixel, "));
    pixels p = read_png("twist.png");
    assert_true(p.width == 64 && p.height == 48);
    free(p.rgb);
    assert_int_equal(size_of("twist.png.partial"), -1);
    /* By default the last frame is rendered, in the folder out. */
    render("twist " SMALL "--frames 3", 0);
    render("twist " SMALL "--frame 3 --out third.png", 0);
    assert_true(same_file("out", ".", "twist.png") == false);
    assert_true(difference("out/twist.png", "third.png") == 0);
    o = render("--help", 0);
    static const char *const said[] = {"usage: sinew render", "--camera", "orbit", "Example:", "Exit status"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        assert_non_null(strstr(o.out, said[i]));
}

static void bytes_do_not_depend_on_threads(void **state)
{
    (void)state;
    render("twist " SMALL "--frame 4 --colour von_mises --threads 1 --out one.png", 0);
    render("twist " SMALL "--frame 4 --colour von_mises --threads 2 --out two.png", 0);
    render("twist " SMALL "--frame 4 --colour von_mises --threads 2 --out three.png", 0);
    size_t sizes[3];
    char *one = whole_file(".", "one.png", &sizes[0]), *two = whole_file(".", "two.png", &sizes[1]);
    char *three = whole_file(".", "three.png", &sizes[2]);
    assert_true(sizes[0] > 0 && sizes[0] == sizes[1] && sizes[0] == sizes[2]);
    assert_memory_equal(one, two, sizes[0]);
    assert_memory_equal(one, three, sizes[0]);
    free(one);
    free(two);
    free(three);
}

/* Each option makes another picture than the one without it. */
static void options_change_the_picture(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "--colour speed",
        "--colour stretch",
        "--colour von_mises",
        "--colour energy",
        "--colour residual",
        "--solver pbng --colour class",
        "--camera 120,40",
        "--camera 34.4,17.2,2",
        "--camera eye=3,1,4;target=0,0,0",
        "--camera angle=20",
        "--cut x=0",
        "--cut 0,0,0,-1,0,0",
        "--ground none",
        "--ground -3",
        "--title Twist",
        "--frame 3",
        "--set bodies.0.pins=[]",
        "--solvers newton,xpbd",
    };
    render("twist " SMALL "--frames 8 --out plain.png", 0);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char words[256];
        snprintf(words, sizeof words, "twist " SMALL "--frames 8 %s --out changed.png", changes[i]);
        render(words, 0);
        if (!(difference("plain.png", "changed.png") > 0.05))
            fail_msg("%s changes nothing", changes[i]);
    }
    render("twist " SMALL "--frames 8 --colour speed --range 0:1 --out low.png", 0);
    render("twist " SMALL "--frames 8 --colour speed --range 0:100 --out high.png", 0);
    assert_true(difference("low.png", "high.png") > 0.05);
    /* These options state the defaults. */
    render("twist " SMALL "--frames 8 --camera fit --ground below --cut none --colour body --out same.png", 0);
    assert_true(difference("plain.png", "same.png") == 0);
}

static void scenes_say_how_they_look(void **state)
{
    (void)state;
    render("twist " SMALL "--frame 2 --camera 90,10 --colour speed --out option.png", 0);
    outcome o = render("twist " SMALL "--frame 2 --set camera.azimuth=1.5707963267948966 "
                       "--set camera.elevation=0.17453292519943295 --set picture.colour=speed --out key.png",
                       0);
    assert_string_equal(o.err, "");
    assert_true(difference("option.png", "key.png") < 0.5);
    render("twist " SMALL "--frame 2 --set picture.colour=speed --set picture.ground=none "
           "--set camera.azimuth=2 --camera 34.377468,17.188734 --colour body --ground below --out back.png",
           0);
    render("twist " SMALL "--frame 2 --out front.png", 0);
    assert_true(difference("back.png", "front.png") < 0.5);
}

/* ---- Runs -------------------------------------------------------------------------------------- */

/* Caches of every readable format give the picture of the scene. */
static void caches_give_the_picture_of_the_scene(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        double tolerance;
    } formats[] = {{"npy", 0}, {"csv", 0}, {"vtu", 0}, {"obj", 0}, {"pc2", 0.5}};
    render("twist " SMALL "--frame 3 --frames 6 --colour speed --range 0:2 --camera 20,20 --out scene.png", 0);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char words[256];
        remove_files("played");
        snprintf(words, sizeof words, "run twist --frames 6 --out played --quiet --format %s --overwrite",
                 formats[i].format);
        outcome o = sinew(words);
        expect(&o, 0, words);
        o = render("played " SMALL "--frame 3 --colour speed --range 0:2 --camera 20,20 --out played.png", 0);
        assert_string_equal(o.err, "");
        const double apart = difference("scene.png", "played.png");
        if (!(apart <= formats[i].tolerance + 0.02))
            fail_msg("%s: the picture is %g off", formats[i].format, apart);
    }
}

static void rewrite(const char *path, const char *from, const char *to)
{
    static char text[TEXT_MAX], changed[2 * TEXT_MAX];
    read_text(scratch(path), text, sizeof text);
    char *at = strstr(text, from);
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    write_text(scratch(path), changed);
}

static void refused(const char *words, const char *part)
{
    outcome o = render(words, 2);
    if (!strstr(o.err, part) || count_lines(o.err) != 1)
        fail_msg("%s: \"%s\" does not say \"%s\" in one line", words, o.err, part);
    assert_string_equal(o.out, "");
}

static void caches_that_do_not_fit(void **state)
{
    (void)state;
    char text[TEXT_MAX];
    remove_files("fits");
    read_text(SCENES "/twist.json", text, sizeof text);
    write_text(scratch("own.json"), text);
    outcome o = sinew("run own.json --frames 3 --out fits --quiet --overwrite");
    expect(&o, 0, "run own.json");
    render("fits " SMALL "--out fits.png", 0);
    refused("fits " SMALL "--frame 80 --out fits.png", "frame 80 of 0..3");
    refused("fits " SMALL "--frame 2:9 --out fits.png", "frame 9 of 0..3");
    refused("fits " SMALL "--colour residual --out fits.png", "render the scene");
    refused("fits " SMALL "--solvers newton,xpbd --out fits.png", "is played as it is; render the scene instead");
    refused("fits " SMALL "--set frames=9 --out fits.png", "is played as it is");
    /* The scene now has another number of particles than its run. */
    rewrite("own.json", "\"bodies\": [",
            "\"bodies\": [{\"mesh\": {\"generator\": \"rope\", \"vertices\": 7}, \"density\": 1},");
    outcome changed = render("fits " SMALL "--out fits.png", 2);
    assert_non_null(strstr(changed.err, "points a frame, the scene own has "));
    assert_int_equal(unlink(scratch("own.json")), 0);
    refused("fits " SMALL "--out fits.png", "own.json is not there any more");
    rewrite("fits/summary.json", "\"precision\": \"" SINEW_PRECISION "\"", "\"precision\": \"sixfold\"");
    refused("fits " SMALL "--out fits.png", "is a run in sixfold precision, this program has " SINEW_PRECISION);
    rewrite("fits/summary.json", "\"origin\"", "\"earlier\"");
    refused("fits " SMALL "--out fits.png", "does not say which file its scene was");
    remove_files("empty");
    mkdir(scratch("empty"), 0777);
    refused("empty " SMALL "--out fits.png", "is a folder without a run's summary.json");
    remove_files("bare");
    o = sinew("run twist --frames 1 --out bare --quiet --format gltf --overwrite");
    expect(&o, 0, "run --format gltf");
    refused("bare " SMALL "--out fits.png", "holds no finished cache twist.npy, .csv, .vtu, .obj or .pc2");
}

/* The cache of an embedded surface is shown in every format; it has no fields of the body. */
static void caches_of_riding_surfaces(void **state)
{
    (void)state;
    static const char *const formats[] = {"csv", "pc2"};
    for (int i = 0; i < 2; i++) {
        char words[256];
        snprintf(words, sizeof words,
                 "run jelly --frames 1 --set solver.measure=residual --out ridden%d --quiet --format %s --overwrite", i,
                 formats[i]);
        outcome o = sinew(words);
        if (o.status != 0 && o.status != 1)
            expect(&o, 0, words);
        snprintf(words, sizeof words, "ridden%d " SMALL "--camera 20,20 --colour speed --range 0:1 --out ridden%d.png",
                 i, i);
        render(words, 0);
        snprintf(words, sizeof words, "ridden%d.png", i);
        const double apart = difference("ridden0.png", words);
        if (!(apart < 0.5))
            fail_msg("%s: the picture is %g off", formats[i], apart);
    }
    refused("ridden0 " SMALL "--colour von_mises --out ridden.png", "holds the embedded surfaces");
    outcome o =
        sinew("run jelly --frames 1 --set solver.measure=residual --out ridden4 --quiet --format npy --overwrite");
    if (o.status != 0 && o.status != 1)
        expect(&o, 0, "run jelly --format npy");
    render("ridden4 " SMALL "--colour von_mises --out ridden.png", 0);
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

static void wrong_command_lines(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", "needs a scene or the folder of a run"},
        {"twist torus", "takes one scene"},
        {"no_such_scene", "no such scene"},
        {"twist --colours speed", "did you mean --colour?"},
        {"twist --colour von_mies", "did you mean \"von_mises\"?"},
        {"twist --colour given", "unknown field \"given\""},
        {"twist --size 0x48", "\"0x48\" is not WIDTHxHEIGHT, both from 16 to 16384"},
        {"twist --size 1x1", "\"1x1\" is not WIDTHxHEIGHT, both from 16 to 16384"},
        {"twist --size 64", "is not WIDTHxHEIGHT"},
        {"twist --size 99999x99999", "both from 16 to 16384"},
        {"twist --size 32000x32000", "both from 16 to 16384"},
        {"twist --samples 0", "is not a whole number from 1"},
        {"twist --frame 101:100", "neither a frame N nor frames A:B"},
        {"twist --frame x", "neither a frame N nor frames A:B"},
        {"twist --frame 5000", "frame 5000 of 0.."},
        {"twist --range 2:1", "is not LOW:HIGH"},
        {"twist --camera sideways", "\"sideways\" is none of fit"},
        {"twist --camera eye=0,0,1", "go together"},
        {"twist --camera eye=0,0,1;target=0,0,1", "the same point"},
        {"twist --camera 10,95", "elevation must be from -89.9 to 89.9"},
        {"twist --camera 10,20,1e300", "greater than 0 and at most 1000000"},
        {"twist --camera eye=0,0,1;target=0,0,0;10,20", "both fitted and placed"},
        {"twist --frame 1 --camera eye=1000,0,0;target=2000,0,0", "sees nothing"},
        {"twist --cut w=1", "none of none, x=M"},
        {"twist --frame 1 --camera eye=1e150,0,0;target=0,0,0", "within 1e9 m"},
        {"twist --ground 1e300", "a height from -1e9 to 1e9 m"},
        {"twist --ground soft", "neither none, below nor a height"},
        {"twist --fps 0", "is not a number from 0.1"},
        {"twist --out nowhere/x.png", "nowhere: No such file or directory"},
        {"twist --out x.gif", "none of .png, .mp4, .webp"},
        {"twist --out .png", "none of .png, .mp4, .webp"},
        {"twist --solvers newton,nwton", "did you mean \"newton\"?"},
        {"twist --solvers newton --solver pd", "exclude each other"},
        {"twist --solvers pd", "pd cannot take neo_hookean"},
        {"twist --colour residual --frame 0", "no step was taken"},
        {"swinging_rope --colour von_mises --frame 1", "von_mises"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[256];
        const bool out = strstr(cases[i][0], "--out"), size = strstr(cases[i][0], "--size");
        snprintf(words, sizeof words, "%s%s%s", cases[i][0], size || !cases[i][0][0] ? "" : " --size 64x48",
                 out || !cases[i][0][0] ? "" : " --out wrong.png");
        refused(words, cases[i][1]);
        assert_int_equal(size_of("wrong.png"), -1);
    }
}

static void other_files_stay(void **state)
{
    (void)state;
    write_text(scratch("letter.png"), "Dear reader,\n");
    refused("twist " SMALL "--frame 1 --out letter.png", "is there already and is no picture");
    assert_int_equal(size_of("letter.png"), 13);
    write_text(scratch("many.0002.png"), "Dear reader,\n");
    refused("twist " SMALL "--frame 0:3 --out many.png", "many.0002.png: is there already and is no picture");
    assert_int_equal(size_of("many.0000.png"), -1);
    /* An empty file and an earlier picture are replaced. */
    write_text(scratch("again.png"), "");
    render("twist " SMALL "--frame 1 --out again.png", 0);
    render("twist " SMALL "--frame 2 --out again.png", 0);
    unlink(scratch("many.0002.png"));
    remove_files("kept");
    mkdir(scratch("kept"), 0777);
    refused("twist " SMALL "--frame 1 --out kept", "none of .png");
}

/* ---- Films ------------------------------------------------------------------------------------- */

/* A film's size, pixel format and frame count by ffprobe; "" if it cannot be read. */
static void probe(const char *name, char *text, size_t size)
{
    char line[2048];
    text[0] = '\0';
    snprintf(line, sizeof line,
             "ffprobe -v error -count_frames -show_entries "
             "stream=codec_name,width,height,pix_fmt,duration,nb_read_frames -of default=noprint_wrappers=1 '%s'",
             scratch(name));
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    const size_t length = fread(text, 1, size - 1, pipe);
    text[length] = '\0';
    pclose(pipe);
}

static void assert_probed(const char *name, const char *const *parts)
{
    char text[1024];
    probe(name, text, sizeof text);
    for (; *parts; parts++)
        if (!strstr(text, *parts))
            fail_msg("%s: \"%s\" is not in:\n%s", name, *parts, text);
}

static void film_as_mp4(void **state)
{
    (void)state;
    if (!has_ffmpeg())
        return;
    /* Odd sizes become even; 50 frames per second are real time here. */
    outcome o = render("twist --size 63x47 --samples 4 --frames 4 --out film.mp4", 0);
    assert_non_null(strstr(o.out, "film.mp4: 5 frames of twist, 64x48, 50 frames a second (1 of real time)"));
    assert_int_equal(count_lines(o.out), 1);
    assert_string_equal(o.err, "");
    assert_probed("film.mp4", (const char *const[]){"codec_name=h264", "width=64", "height=48", "pix_fmt=yuv420p",
                                                    "duration=0.1000", "nb_read_frames=5", NULL});
    assert_int_equal(size_of("film.mp4.partial"), -1);
    /* The index precedes the pictures, so that a browser can start playing. */
    size_t size;
    char *bytes = whole_file(".", "film.mp4", &size);
    char *index = memmem(bytes, size, "moov", 4), *data = memmem(bytes, size, "mdat", 4);
    assert_true(index && data && index < data);
    free(bytes);
    render("twist " SMALL "--frame 1:3 --fps 10 --camera orbit=0.5;10,10 --out film.mp4", 0);
    assert_probed("film.mp4", (const char *const[]){"duration=0.3000", "nb_read_frames=3", NULL});
    /* An orbiting camera shows other sides. */
    render("twist " SMALL "--set gravity=[0,0,0] --frame 0:1 --camera orbit --out round.png", 0);
    assert_true(difference("round.0000.png", "round.0001.png") > 0.5);
}

static void film_as_webp(void **state)
{
    (void)state;
    if (!has_ffmpeg())
        return;
    render("twist " SMALL "--frames 4 --out film.webp", 0);
    size_t size;
    char *bytes = whole_file(".", "film.webp", &size);
    assert_true(size > 30 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBPVP8X", 8) == 0);
    /* Width and height less one, three bytes each. */
    assert_int_equal((unsigned char)bytes[24], 63);
    assert_int_equal((unsigned char)bytes[27], 47);
    int frames = 0;
    for (size_t at = 12; at + 8 <= size;) {
        const unsigned char *s = (unsigned char *)bytes + at + 4;
        frames += memcmp(bytes + at, "ANMF", 4) == 0;
        at += 8 + (((size_t)s[0] | (size_t)s[1] << 8 | (size_t)s[2] << 16 | (size_t)s[3] << 24) + 1) / 2 * 2;
    }
    free(bytes);
    assert_int_equal(frames, 5);
}

static void numbered_pictures(void **state)
{
    (void)state;
    outcome o = render("twist --size 64x48 --samples 4 --frame 3:5 --out row.png", 0);
    assert_non_null(strstr(o.out, "row.0003.png to row.0005.png: 3 frames of twist"));
    assert_int_equal(count_files(".", "row."), 3);
    render("twist " SMALL "--frame 4 --out alone.png", 0);
    /* Frames of a film share one camera, so a single frame may be framed differently. */
    pixels p = read_png("row.0004.png");
    assert_true(p.width == 64 && p.height == 48);
    free(p.rgb);
}

/* Sets the PATH of the command for the next calls. */
static void set_path(const char *path)
{
    static char *before;
    if (!before)
        before = strdup(getenv("PATH"));
    setenv("PATH", path ? path : before, 1);
}

static void without_ffmpeg_frames_stay(void **state)
{
    (void)state;
    set_path("/nowhere");
    outcome o = render("twist " SMALL "--frames 2 --out lost.mp4", 1);
    set_path(NULL);
    assert_non_null(strstr(o.err, "(package ffmpeg): frames stay as lost.0000.png"));
    assert_int_equal(count_lines(o.err), 1);
    assert_int_equal(count_files(".", "lost."), 3);
    free(read_png("lost.0002.png").rgb);
}

/* Replaces ffmpeg by a script: the film is refused with the script's last line, and no file is left. */
static void assert_quoted(const char *script, const char *words)
{
    mkdir(scratch("fake"), 0777);
    write_text(scratch("fake/ffmpeg"), script);
    assert_int_equal(chmod(scratch("fake/ffmpeg"), 0755), 0);
    set_path(scratch("fake"));
    outcome o = render("twist " SMALL "--frames 2 --out failed.mp4", 1);
    set_path(NULL);
    assert_non_null(strstr(o.err, words));
    assert_int_equal(count_lines(o.err), 1);
    assert_int_equal(count_files(".", "failed."), 0);
}

static void failing_ffmpeg_is_quoted(void **state)
{
    (void)state;
    assert_quoted("#!/bin/sh\necho first >&2\necho 'no such codec today' >&2\nexit 3\n",
                  "failed.mp4: ffmpeg failed: no such codec today");
    /* As ffmpeg on a full disk: half a film, a message, and status 0. */
    assert_quoted("#!/bin/sh\n/bin/cat > /dev/null\nfor last; do :; done\necho half > \"${last#file:}\"\n"
                  "echo 'Error closing file: No space left on device' >&2\nexit 0\n",
                  "failed.mp4: ffmpeg failed: Error closing file: No space left on device");
}

/* ---- Interruptions --------------------------------------------------------------------------------- */

/* Waits until a file is there, at most a minute. */
static void wait_for(const char *name)
{
    for (int i = 0; i < 6000 && size_of(name) < 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    if (size_of(name) < 0)
        fail_msg("%s never came", name);
}

static void stopped_pictures_are_whole(void **state)
{
    (void)state;
    static const struct {
        int signal, status;
    } stops[] = {{SIGINT, 130}, {SIGTERM, 143}};
    for (int i = 0; i < 2; i++) {
        pid_t child = start(SINEW_COMMAND, "render twist --size 80x60 --samples 16 --frame 0:100 --out stop.png", 0);
        wait_for("stop.0001.png");
        kill(child, stops[i].signal);
        outcome o = finish(child);
        expect(&o, stops[i].status, "render, stopped");
        const int count = count_files(".", "stop.");
        assert_in_range(count, 2, 100);
        for (int frame = 0; frame < count; frame++) {
            char name[32];
            snprintf(name, sizeof name, "stop.%04d.png", frame);
            free(read_png(name).rgb);
            unlink(scratch(name));
        }
    }
}

static void stopped_films_are_whole(void **state)
{
    (void)state;
    char text[1024];
    if (!has_ffmpeg())
        return;
    pid_t child = start(SINEW_COMMAND, "render twist --size 80x60 --samples 16 --frame 0:100 --out stop.mp4", 0);
    wait_for("stop.mp4.partial");
    /* The encoder opens its file with the first picture; wait for some more. */
    nanosleep(&(struct timespec){.tv_nsec = 300000000}, NULL);
    kill(child, SIGINT);
    outcome o = finish(child);
    expect(&o, 130, "render, stopped");
    probe("stop.mp4", text, sizeof text);
    const char *frames = strstr(text, "nb_read_frames=");
    assert_non_null(frames);
    assert_in_range(atoi(frames + strlen("nb_read_frames=")), 1, 100);
    assert_int_equal(size_of("stop.mp4.partial"), -1);
}

/* ---- Solvers ----------------------------------------------------------------------------------- */

static void solvers_side_by_side(void **state)
{
    (void)state;
    outcome o =
        render("twist --size 192x64 --samples 4 --frame 3 --solvers newton,xpbd:iterations=2,pbng --out three.png", 0);
    assert_string_equal(o.err, "");
    assert_non_null(strstr(o.out, "three.png: frame 3 of twist"));
    pixels p = read_png("three.png");
    assert_true(p.width == 192 && p.height == 64);
    free(p.rgb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_picture_of_a_scene),
        cmocka_unit_test(bytes_do_not_depend_on_threads),
        cmocka_unit_test(options_change_the_picture),
        cmocka_unit_test(scenes_say_how_they_look),
        cmocka_unit_test(caches_give_the_picture_of_the_scene),
        cmocka_unit_test(caches_that_do_not_fit),
        cmocka_unit_test(caches_of_riding_surfaces),
        cmocka_unit_test(wrong_command_lines),
        cmocka_unit_test(other_files_stay),
        cmocka_unit_test(film_as_mp4),
        cmocka_unit_test(film_as_webp),
        cmocka_unit_test(numbered_pictures),
        cmocka_unit_test(without_ffmpeg_frames_stay),
        cmocka_unit_test(failing_ffmpeg_is_quoted),
        cmocka_unit_test(stopped_pictures_are_whole),
        cmocka_unit_test(stopped_films_are_whole),
        cmocka_unit_test(solvers_side_by_side),
    };
    remove_files(".");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
