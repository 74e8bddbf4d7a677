/* SPDX-License-Identifier: MIT
 *
 * render.c: `sinew render SCENE|FOLDER`: a picture, numbered pictures or a film of a scene, or of the cache of a run.
 *
 * The command has three stages. Frames: a scene is simulated and a snapshot of each frame is kept; for a folder, the
 * cache is read. Survey: camera and colour range are computed once for all frames and panels. Drawing: frames are drawn
 * in order.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "render.h"
#include "signals.h"

static const char command[] = "render";

static const sinew_option options[] = {
    {"frame", "N|A:B", "one frame (the last one unless given), or a film of frames A to B", false},
    {"size", "WxH", "pixels, 1280x720 unless given; for mp4 rounded up to even numbers", false},
    {"samples", "N", "paths of light a pixel; as many as it takes to look finished unless given", false},
    {"colour", "FIELD",
     "body, speed, stretch, von_mises, energy, residual, contact_force, position_error or class; body unless given",
     false},
    {"range", "LOW:HIGH", "values of the ends of the colour bar; those that occur unless given", false},
    {"camera", "WORDS", "where it is seen from, see below; as the scene says or fitted unless given", false},
    {"cut", "PLANE", "takes away what lies beyond: z=0.5, -z=0.5 (the other side), X,Y,Z,NX,NY,NZ, none", false},
    {"ground", "HEIGHT", "of the floor in m, or below (everything), or none", false},
    {"title", "TEXT", "in the picture, top left", false},
    {"solvers", "LIST", "by commas, as in sinew compare: panels side by side, with iterations and gap", false},
    {"fps", "N", "frames a second of a film; real time, at most 60, unless given", false},
    {"out", "FILE", "X.png, X.mp4 or X.webp; out/<scene>.png (or .mp4) unless given", false},
    {"solver", "S", "another solver than the scene's; see sinew info solvers", false},
    {"iterations", "N", "at most, per step", false},
    {"tolerance", "R", "on the relative residual; 0 runs all iterations", false},
    {"frames", "N", "how many the scene has", false},
    {"set", "KEY=VALUE", "in place of what the scene says, e.g. bodies.0.energies.0.young=1e6", true},
    {"threads", "N", "0: as many as the machine has; pictures do not depend on it", false},
    {"quiet", NULL, "says nothing unless something is wrong", false},
    {"help", NULL, "this text", false},
};
enum {
    OPTION_COUNT = sizeof options / sizeof options[0],
    FPS_MAX = 60
};

static int render_print_help(void)
{
    printf(
        "usage: sinew render SCENE|FOLDER [OPTION ...]\n\n"
        "Draws a scene, which is simulated for it, or a run that lies in a folder, whose cache is played: a picture,\n"
        "or a film (through the program ffmpeg). Needs neither a display nor a graphics card.\n\n");
    sinew_options_print(options, OPTION_COUNT);
    printf("  --precision P          single or double\n\n"
           "--camera takes words, separated by spaces or semicolons:\n"
           "  fit                              from the front right, far enough to see everything in all frames\n"
           "  AZIMUTH,ELEVATION[,DISTANCE]     from there, in degrees; distance 1 just fits, 1.15 unless given\n"
           "  eye=X,Y,Z target=X,Y,Z           from a place to a place, in m; y is up\n"
           "  angle=DEGREES                    field of view from top to bottom\n"
           "  orbit[=TURNS]                    once round (or TURNS times) while the film runs\n\n"
           "Example: sinew render twist --out twist.png\n"
           "         sinew render twist --colour von_mises --frame 0:100 --out twist.mp4\n"
           "         sinew render twist --camera \"30,20 orbit\" --size 640x360 --out twist.webp\n"
           "         sinew render beam --cut z=0 --colour stretch --frame 20\n"
           "         sinew render untwist --solvers newton,pd,xpbd:iterations=20 --frame 5 --out three.png\n"
           "         sinew run twist --out out/a && sinew render out/a --frame 10:20 --out a.png\n"
           "                                          writes a.0010.png to a.0020.png\n\n"
           "Exit status: 0 done; 1 ffmpeg is missing (the frames stay as PNG files) or failed; 2 wrong usage or bad\n"
           "input; 3 the simulation became non-finite; 130 interrupted, 143 terminated (whole frames stay).\n");
    return SINEW_EXIT_DONE;
}

/* ---- Output file of `sinew render` ------------------------------------------------------------ */

typedef struct target {
    char path[2048];
    char stem[2048];  /* output path without its ending, for numbered pictures */
    const char *kind; /* kind of the output file: "png", "mp4" or "webp" */
    bool numbered;    /* true: the output is one picture per frame, <stem>.0012.png */
    bool no_encoder;  /* true: numbered pictures replace a film, because ffmpeg is missing */
    double fps;
} target;

static bool take_ending(target *t)
{
    static const char *const kinds[] = {"png", "mp4", "webp"};
    const char *dot = strrchr(t->path, '.');
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (dot && dot > t->path && dot[-1] != '/' && strcmp(dot + 1, kinds[i]) == 0) {
            t->kind = kinds[i];
            snprintf(t->stem, sizeof t->stem, "%.*s", (int)(dot - t->path), t->path);
            return true;
        }
    sinew_usage_error(command, "--out %s: its ending is none of .png, .mp4, .webp", t->path);
    return false;
}

/* Determines the path of the output; without --out it lies in the folder `out`, with all other results. */
static bool name_target(const sinew_render *r, bool film, target *t)
{
    const char *out = sinew_option_text(&r->arguments, "out");
    *t = (target){.kind = "png"};
    const int length =
        out ? snprintf(t->path, sizeof t->path, "%s", out)
            : snprintf(t->path, sizeof t->path, "out/%s.%s", sinew_scene_name(r->scene), film ? "mp4" : "png");
    if (length <= 0 || length >= (int)sizeof t->path - 32) {
        sinew_usage_error(command, "--out: the path is empty or too long");
        return false;
    }
    return (out || sinew_make_folders(command, "out")) && take_ending(t);
}

static bool check_folder(const target *t)
{
    char folder[2048];
    struct stat facts;
    const char *slash = strrchr(t->path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - t->path) + (slash == t->path) : 1,
             slash ? t->path : ".");
    if (stat(folder, &facts) != 0 || !S_ISDIR(facts.st_mode) || access(folder, W_OK | X_OK) != 0) {
        sinew_usage_error(command, "--out %s: cannot write into the folder %s: %s", t->path, folder,
                          stat(folder, &facts) != 0 ? strerror(errno)
                          : S_ISDIR(facts.st_mode)  ? strerror(EACCES)
                                                    : "it is no folder");
        return false;
    }
    return true;
}

/* True if an existing file may be replaced: it is empty or has the signature of a picture or film. */
static bool may_replace(const char *path)
{
    struct stat facts;
    unsigned char head[12] = {0};
    if (lstat(path, &facts) != 0)
        return true;
    FILE *file = S_ISREG(facts.st_mode) ? fopen(path, "rb") : NULL;
    const bool empty = file && fread(head, 1, sizeof head, file) == 0;
    if (file)
        fclose(file);
    if (empty || memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0 || memcmp(head + 4, "ftyp", 4) == 0 ||
        (memcmp(head, "RIFF", 4) == 0 && memcmp(head + 8, "WEBP", 4) == 0))
        return true;
    sinew_usage_error(command, "--out %s: is there already and is no picture; remove it, or give another --out", path);
    return false;
}

static void name_frame(const target *t, int64_t frame, char *path, size_t size)
{
    if (t->numbered)
        snprintf(path, size, "%s.%04lld.png", t->stem, (long long)frame);
    else
        snprintf(path, size, "%s", t->path);
}

static bool check_files(const sinew_render *r, const target *t)
{
    char path[2100];
    bool good = check_folder(t) && (t->numbered || may_replace(t->path));
    for (int64_t frame = r->first; frame <= r->last && good && t->numbered; frame++) {
        name_frame(t, frame, path, sizeof path);
        good = may_replace(path);
    }
    return good;
}

/* ---- Selected frames of the film ---------------------------------------------------------------- */

/* Parses the value of --frames, "12" or "3:12". Returns false, with a message, for other texts. */
static bool read_frames(const char *text, int64_t *first, int64_t *last, bool *range)
{
    char *end;
    *first = *last = strtoll(text, &end, 10);
    *range = end > text && *end == ':';
    const char *second = end + 1;
    if (*range)
        *last = strtoll(second, &end, 10);
    if (end == text || *end || (*range && end == second) || *first < 0 || *last < *first) {
        sinew_usage_error(command, "--frame: \"%s\" is neither a frame N nor frames A:B with A not behind B", text);
        return false;
    }
    return true;
}

static bool choose_frames(sinew_render *r, target *t)
{
    const char *text = sinew_option_text(&r->arguments, "frame"), *out = sinew_option_text(&r->arguments, "out");
    const size_t length = out ? strlen(out) : 0;
    bool range = false;
    /* True: the colour field is a result of steps, which frame 0 does not have. */
    const bool stepped = sinew_colour_is_of_steps(r->style.snapshot.colour);
    const bool film = length > 4 && strcmp(out + length - 4, ".png") != 0;
    r->first = film ? r->lowest + (stepped && r->lowest < r->highest) : r->highest;
    r->last = r->highest;
    if (text && !read_frames(text, &r->first, &r->last, &range))
        return false;
    if (r->first < r->lowest || r->last > r->highest) {
        sinew_usage_error(command, "--frame %s: frame %lld of %lld..%lld", text ? text : "",
                          (long long)(r->first < r->lowest ? r->first : r->last), (long long)r->lowest,
                          (long long)r->highest);
        return false;
    }
    if (!name_target(r, range, t))
        return false;
    t->numbered = range && strcmp(t->kind, "png") == 0;
    return true;
}

static bool choose_fps(const sinew_render *r, target *t)
{
    const char *fps = sinew_option_text(&r->arguments, "fps");
    t->fps = fmin(FPS_MAX, 1 / r->frame_time);
    /* Film encoders represent times by integers and refuse slower films. */
    t->fps = fmax(t->fps, 0.1);
    return !fps || sinew_read_number(command, "--fps", fps, 0.1, 1000, &t->fps);
}

/* Prepares the output. Films need the encoder ffmpeg; without it the frames are written as pictures. */
static bool prepare_target(sinew_render *r, target *t)
{
    if (!choose_frames(r, t) || !choose_fps(r, t))
        return false;
    if (strcmp(t->kind, "png") != 0 && !sinew_film_possible())
        t->no_encoder = t->numbered = true;
    if (strcmp(t->kind, "mp4") == 0) {
        r->style.picture.width += r->style.picture.width & 1;
        r->style.picture.height += r->style.picture.height & 1;
    }
    if (!check_files(r, t))
        return false;
    if (t->no_encoder)
        sinew_usage_error(command,
                          "%s: the program ffmpeg is not there (package ffmpeg): frames stay as %s.%04lld.png and on",
                          t->path, t->stem, (long long)r->first);
    return true;
}

/* ---- Drawing and encoding of frames ------------------------------------------------------------ */

typedef struct drawing {
    sinew_render *r;
    sinew_progress progress;
    int64_t done; /* number of frames that are already drawn */
    char warnings[256];
} drawing;

static bool while_drawing(void *context, double done)
{
    drawing *d = context;
    const int64_t frames = d->r->last - d->r->first + 1;
    if (frames == 1)
        sinew_progress_show(&d->progress, (int64_t)(100 * done), "drawing, per cent");
    else
        sinew_progress_show(&d->progress, d->done, "frames drawn");
    return !sinew_signal_came();
}

/* Draws one frame with all its panels. Returns false after an error (with a message) or a signal. */
static bool draw_frame(drawing *d, int64_t frame, sinew_image *image)
{
    sinew_render *r = d->r;
    sinew_panel panels[SINEW_PANEL_MAX] = {{0}};
    sinew_picture_def def = r->style.picture;
    sinew_snapshot *taken = r->shots ? NULL : sinew_render_take(r, frame);
    if (!r->shots && !taken)
        return false;
    for (int32_t i = 0; i < r->panel_count; i++) {
        const sinew_shot *shot = r->shots ? &r->shots[(frame - r->first) * r->panel_count + i] : NULL;
        panels[i].snapshot = shot ? shot->snapshot : taken;
        panels[i].title = r->methods[i].label[0] ? r->methods[i].label : NULL;
        panels[i].caption = shot && shot->caption[0] ? shot->caption : NULL;
    }
    const int64_t frames = r->last - r->first + 1;
    def.camera = sinew_style_camera(&r->style, &r->survey, (double)(frame - r->first) / (double)frames);
    const sinew_status status =
        sinew_picture_draw(&def, &r->survey, panels, r->panel_count, image, while_drawing, d, &r->error);
    sinew_snapshot_destroy(taken);
    if (status == SINEW_OK)
        memcpy(d->warnings, image->warnings, sizeof d->warnings);
    else if (!sinew_signal_came())
        sinew_usage_error(command, "%s: frame %lld: %s", sinew_scene_name(r->scene), (long long)frame, r->error.text);
    return status == SINEW_OK;
}

/* Compression takes 0.2 s for two million pixels, and no file is open: a signal ends the program at once. Returns false
 * after an error or a signal that came before. */
static bool encode_frame(drawing *d, const sinew_image *image, unsigned char **bytes, size_t *size)
{
    sinew_status status = SINEW_OK;
    sinew_signals_defer(false);
    const bool stopped = sinew_signal_came() != 0;
    if (!stopped)
        status = sinew_image_encode(image, bytes, size, &d->r->error);
    sinew_signals_defer(true);
    return status == SINEW_OK && !stopped;
}

static bool put_frame(drawing *d, const target *t, sinew_film *film, int64_t frame, const sinew_image *image)
{
    char path[2100];
    if (film)
        return sinew_film_frame(film, image);
    name_frame(t, frame, path, sizeof path);
    unsigned char *bytes = NULL;
    size_t size = 0;
    const bool good =
        encode_frame(d, image, &bytes, &size) && sinew_image_store(bytes, size, path, &d->r->error) == SINEW_OK;
    free(bytes);
    if (!good && !sinew_signal_came())
        sinew_usage_error(command, "%s", d->r->error.text);
    return good;
}

static int draw_frames(drawing *d, const target *t, sinew_film *film)
{
    sinew_render *r = d->r;
    for (int64_t frame = r->first; frame <= r->last; frame++) {
        sinew_image image = {0};
        bool good = draw_frame(d, frame, &image), written = good && put_frame(d, t, film, frame, &image);
        sinew_image_free(&image);
        if (!good || (!written && !film && sinew_signal_came()))
            return sinew_signal_came() ? sinew_signal_status() : SINEW_EXIT_USAGE;
        if (!written)
            return film ? SINEW_EXIT_UNMET : SINEW_EXIT_USAGE;
        d->done++;
        sinew_progress_show(&d->progress, r->first == r->last ? 100 : d->done, "");
    }
    return SINEW_EXIT_DONE;
}

/* Draws all frames into a film. A signal ends the film after its last complete frame. */
static int draw_film(drawing *d, const target *t)
{
    sinew_film film;
    const sinew_picture_def *picture = &d->r->style.picture;
    int status = SINEW_EXIT_UNMET;
    if (sinew_film_open(&film, t->path, t->kind, picture->width, picture->height, t->fps)) {
        status = draw_frames(d, t, &film);
        const bool whole = status != SINEW_EXIT_USAGE && status != SINEW_EXIT_UNMET && d->done > 0;
        if (whole && !sinew_film_close(&film))
            status = SINEW_EXIT_UNMET;
    }
    sinew_film_drop(&film);
    return status;
}

static void render_print_summary(const drawing *d, const target *t, double simulating, double seconds)
{
    const sinew_render *r = d->r;
    char first[2100], last[2100];
    name_frame(t, r->first, first, sizeof first);
    name_frame(t, r->first + d->done - 1, last, sizeof last);
    printf("%s%s%s: ", first, d->done > 1 && t->numbered ? " to " : "", d->done > 1 && t->numbered ? last : "");
    if (r->first == r->last)
        printf("frame %lld of %s", (long long)r->first, sinew_scene_name(r->scene));
    else
        printf("%lld frames of %s", (long long)d->done, sinew_scene_name(r->scene));
    printf(", %dx%d", r->style.picture.width, r->style.picture.height);
    if (r->first != r->last && !t->numbered && strcmp(t->kind, "png") != 0)
        printf(", %.3g frames a second (%.2g of real time)", t->fps, t->fps * r->frame_time);
    if (r->style.picture.samples > 0)
        printf(", %d sample%s a pixel", r->style.picture.samples, r->style.picture.samples == 1 ? "" : "s");
    printf(", %.3g s (%.3g s for the frames, %.3g s drawing)%s%s\n", simulating + seconds, simulating, seconds,
           d->warnings[0] ? "; " : "", d->warnings);
}

static int render_draw(sinew_render *r, const target *t, double simulating)
{
    drawing d = {.r = r};
    const int64_t frames = r->last - r->first + 1;
    sinew_signals_defer(true);
    sinew_progress_start(&d.progress, frames == 1 ? 100 : frames, r->quiet);
    const bool film = strcmp(t->kind, "png") != 0 && !t->no_encoder;
    int status = film ? draw_film(&d, t) : draw_frames(&d, t, NULL);
    const double seconds = sinew_progress_end(&d.progress);
    sinew_signals_defer(false);
    if (d.done > 0 && !r->quiet && status != SINEW_EXIT_USAGE && status != SINEW_EXIT_UNMET)
        render_print_summary(&d, t, simulating, seconds);
    return status == SINEW_EXIT_DONE && t->no_encoder ? SINEW_EXIT_UNMET : status;
}

/* ---- The command `sinew render` ---------------------------------------------------------------- */

static int render(sinew_render *r)
{
    const char *source = r->arguments.plain[0];
    const double began = sinew_run_clock();
    const bool folder = sinew_is_run_folder(source);
    target t;
    if (!(folder ? sinew_render_open_folder(r, source) : sinew_render_open_scene(r, source)) || !prepare_target(r, &t))
        return SINEW_EXIT_USAGE;
    if (!r->quiet && *sinew_scene_warnings(r->scene))
        fprintf(stderr, "%s\n", sinew_scene_warnings(r->scene));
    int status = SINEW_EXIT_DONE;
    if (!folder)
        status = sinew_render_simulate(r);
    else if (!sinew_render_survey_folder(r))
        status = SINEW_EXIT_USAGE;
    /* Frames before a non-finite step are drawn, because they show the cause. */
    if (status != SINEW_EXIT_DONE && (status != SINEW_EXIT_NOT_FINITE || r->last < r->first))
        return status;
    const int drawn = render_draw(r, &t, sinew_run_clock() - began);
    return drawn == SINEW_EXIT_DONE ? status : drawn;
}

int sinew_command_render(int argc, char **argv)
{
    sinew_render r = {0};
    sinew_watch_signals();
    if (!sinew_arguments_read(&r.arguments, command, options, OPTION_COUNT, argc, argv))
        return SINEW_EXIT_USAGE;
    int status;
    r.quiet = sinew_option_on(&r.arguments, "quiet");
    if (sinew_option_on(&r.arguments, "help"))
        status = render_print_help();
    else if (r.arguments.plain_count != 1)
        status = sinew_usage_error(command, r.arguments.plain_count == 0
                                                ? "needs a scene or the folder of a run; see sinew render --help"
                                                : "takes one scene or folder; see sinew render --help");
    else
        status = render(&r);
    sinew_render_free_sources(&r);
    sinew_arguments_free(&r.arguments);
    return status;
}
