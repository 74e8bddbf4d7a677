/* SPDX-License-Identifier: MIT
 *
 * render_film.c: films through ffmpeg, started without a shell. Raw pictures go through a pipe; messages of ffmpeg go
 * to a file, whose last line is part of the error message.
 *
 * ffmpeg has a separate process group, so Ctrl-C reaches this program only. This program then closes the pipe, and
 * ffmpeg ends the film after the last complete frame. An unfinished film has the name <path>.partial.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "render.h"

extern char **environ;

static const char command[] = "render";

enum {
    ARGUMENTS_MAX = 40
};

/* Options of ffmpeg for each kind of film, between the input and the output file. */
static const struct encoding {
    const char *kind;
    const char *arguments_of[ARGUMENTS_MAX];
} encodings[] = {
    {"mp4",
     {"-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f",
      "mp4"}},
    /* webp: every frame is encoded completely: libwebp_anim reuses blocks of earlier frames, which remain visible as
     * patches. */
    {"webp",
     {"-c:v", "libwebp", "-quality", "75", "-compression_level", "4", "-loop", "0", "-pix_fmt", "yuv420p", "-f",
      "webp"}},
};

bool sinew_film_possible(void)
{
    const char *folders = getenv("PATH");
    char path[4096];
    for (const char *at = folders; at && *at;) {
        const size_t length = strcspn(at, ":");
        snprintf(path, sizeof path, "%.*s/ffmpeg", (int)length, length ? at : ".");
        if (access(path, X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static bool film_refuse(const sinew_film *film, const char *what, int reason)
{
    sinew_usage_error(command, "%s: %s: %s", film->path, what, strerror(reason));
    return false;
}

/* Appends the arguments of a NULL-terminated list to the command line of ffmpeg. */
static int add_arguments(const char **arguments, int count, const char *const *arguments_of)
{
    while (*arguments_of && count < ARGUMENTS_MAX - 1)
        arguments[count++] = *arguments_of++;
    arguments[count] = NULL;
    return count;
}

static int start_encoder(const sinew_film *film, const char *const *arguments, int input)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child = -1;
    sigset_t plain;
    sigemptyset(&plain);
    sigaddset(&plain, SIGPIPE);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(film->log), STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, fileno(film->log), STDERR_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigdefault(&attributes, &plain);
    errno = posix_spawnp(&child, "ffmpeg", &actions, &attributes, (char *const *)(size_t)arguments, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return errno == 0 ? child : -1;
}

bool sinew_film_open(sinew_film *film, const char *path, const char *kind, int32_t width, int32_t height, double fps)
{
    char size[32], rate[32], file[2240]; /* the prefix "file:" prevents ffmpeg from interpreting '-' and ':' in paths */
    const char *arguments[ARGUMENTS_MAX];
    const struct encoding *encoding = &encodings[strcmp(kind, encodings[1].kind) == 0];
    int ends[2], count = 0;
    *film = (sinew_film){.child = -1, .pipe = -1};
    snprintf(film->path, sizeof film->path, "%s", path);
    snprintf(film->partial, sizeof film->partial, "%s.partial", path);
    snprintf(file, sizeof file, "file:%s", film->partial);
    snprintf(size, sizeof size, "%dx%d", (int)width, (int)height);
    snprintf(rate, sizeof rate, "%.9g", fps);
    count = add_arguments(arguments, count,
                          (const char *const[]){"ffmpeg", "-hide_banner", "-loglevel",  "error",     "-nostats",
                                                "-y",     "-f",           "rawvideo",   "-pix_fmt",  "rgb24",
                                                "-s",     size,           "-framerate", rate,        "-i",
                                                "-",      "-an",          "-fflags",    "+bitexact", NULL});
    count = add_arguments(arguments, count, encoding->arguments_of);
    add_arguments(arguments, count, (const char *const[]){file, NULL});
    /* SIGPIPE is ignored, so that write() reports a closed pipe. */
    signal(SIGPIPE, SIG_IGN);
    unlink(film->partial);
    film->log = tmpfile();
    if (!film->log || pipe2(ends, O_CLOEXEC) != 0)
        return film_refuse(film, "cannot begin a film", errno);
    film->child = start_encoder(film, arguments, ends[0]);
    const int reason = errno;
    close(ends[0]);
    film->pipe = ends[1];
    return film->child > 0 || film_refuse(film, "cannot start ffmpeg (package ffmpeg)", reason);
}

/* Reads the last line of ffmpeg's messages; false: there is none. */
static bool last_log_line(FILE *log, char *text, size_t size)
{
    char line[512];
    bool any = false;
    snprintf(text, size, "no word why");
    rewind(log);
    while (fgets(line, sizeof line, log)) {
        line[strcspn(line, "\r\n")] = '\0';
        if (*line)
            snprintf(text, size, "%s", line);
        any = any || *line;
    }
    return any;
}

/* Closes the input of ffmpeg and waits until ffmpeg ends. ffmpeg returns status 0 even if the disk was full before
 * the last part of the film. Its log level is "error", so a film is complete only if the log is empty. */
static bool end_encoder(sinew_film *film)
{
    int status = -1;
    if (film->pipe >= 0)
        close(film->pipe);
    film->pipe = -1;
    if (film->child <= 0)
        return false;
    while (waitpid(film->child, &status, 0) < 0 && errno == EINTR)
        continue;
    film->child = -1;
    char arguments_of[512];
    if (!last_log_line(film->log, arguments_of, sizeof arguments_of) && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    sinew_usage_error(command, "%s: ffmpeg failed: %s", film->path, arguments_of);
    return false;
}

bool sinew_film_frame(sinew_film *film, const sinew_image *image)
{
    const size_t size = 3 * (size_t)image->width * (size_t)image->height;
    for (size_t done = 0; done < size;) {
        const ssize_t count = write(film->pipe, image->pixels + done, size - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EPIPE)
            return end_encoder(film) && film_refuse(film, "ffmpeg ended early", EPIPE);
        if (count < 0)
            return film_refuse(film, "cannot write to ffmpeg", errno);
        done += (size_t)count;
    }
    return true;
}

bool sinew_film_close(sinew_film *film)
{
    if (!end_encoder(film))
        return false;
    return rename(film->partial, film->path) == 0 || film_refuse(film, "cannot write", errno);
}

void sinew_film_drop(sinew_film *film)
{
    if (film->pipe >= 0)
        close(film->pipe);
    if (film->child > 0) {
        kill(film->child, SIGTERM);
        waitpid(film->child, NULL, 0);
    }
    if (film->log)
        fclose(film->log);
    if (film->partial[0])
        unlink(film->partial);
    *film = (sinew_film){.child = -1, .pipe = -1};
}
