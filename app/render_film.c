/* SPDX-License-Identifier: MIT
 *
 * render_film.c: films through ffmpeg, started without a shell: raw pictures go down a pipe, its words go to a file
 * whose last line is quoted when it fails.
 *
 * ffmpeg has a process group of its own, so that Ctrl-C reaches this program alone: it then closes the pipe, and ffmpeg
 * ends the film behind the last whole frame. The film lies under <path>.partial until it is finished.
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
    WORD_MAX = 40
};

/* The options of ffmpeg for each kind of film, which stand between the input and the file. */
static const struct encoding {
    const char *kind;
    const char *words[WORD_MAX];
} encodings[] = {
    {"mp4",
     {"-c:v", "libx264", "-preset", "medium", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f",
      "mp4"}},
    /* Every frame whole: libwebp_anim keeps blocks of the frames before, which stay behind as patches. */
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

static bool refuse(const sinew_film *film, const char *what, int reason)
{
    sinew_usage_error(command, "%s: %s: %s", film->path, what, strerror(reason));
    return false;
}

/* Adds the words of a NULL-terminated list. */
static int add_words(const char **arguments, int count, const char *const *words)
{
    while (*words && count < WORD_MAX - 1)
        arguments[count++] = *words++;
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
    char size[32], rate[32], file[2240]; /* the protocol's name keeps '-' and ':' in paths from being read as others */
    const char *arguments[WORD_MAX];
    const struct encoding *encoding = &encodings[strcmp(kind, encodings[1].kind) == 0];
    int ends[2], count = 0;
    *film = (sinew_film){.child = -1, .pipe = -1};
    snprintf(film->path, sizeof film->path, "%s", path);
    snprintf(film->partial, sizeof film->partial, "%s.partial", path);
    snprintf(file, sizeof file, "file:%s", film->partial);
    snprintf(size, sizeof size, "%dx%d", (int)width, (int)height);
    snprintf(rate, sizeof rate, "%.9g", fps);
    count = add_words(arguments, count,
                      (const char *const[]){"ffmpeg", "-hide_banner", "-loglevel",  "error",     "-nostats",
                                            "-y",     "-f",           "rawvideo",   "-pix_fmt",  "rgb24",
                                            "-s",     size,           "-framerate", rate,        "-i",
                                            "-",      "-an",          "-fflags",    "+bitexact", NULL});
    count = add_words(arguments, count, encoding->words);
    add_words(arguments, count, (const char *const[]){file, NULL});
    /* A reader that is gone is told by write(), not by a signal. */
    signal(SIGPIPE, SIG_IGN);
    unlink(film->partial);
    film->log = tmpfile();
    if (!film->log || pipe2(ends, O_CLOEXEC) != 0)
        return refuse(film, "cannot begin a film", errno);
    film->child = start_encoder(film, arguments, ends[0]);
    const int reason = errno;
    close(ends[0]);
    film->pipe = ends[1];
    return film->child > 0 || refuse(film, "cannot start ffmpeg (package ffmpeg)", reason);
}

/* The last line that ffmpeg wrote; false: none. */
static bool last_words(FILE *log, char *text, size_t size)
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

/* Ends ffmpeg's input and waits for it. It is told to speak of errors alone, and ends with status 0 even where the disk
 * was full before the film's last part was written: a film is whole when there is no word. */
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
    char words[512];
    if (!last_words(film->log, words, sizeof words) && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    sinew_usage_error(command, "%s: ffmpeg failed: %s", film->path, words);
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
            return end_encoder(film) && refuse(film, "ffmpeg ended early", EPIPE);
        if (count < 0)
            return refuse(film, "cannot write to ffmpeg", errno);
        done += (size_t)count;
    }
    return true;
}

bool sinew_film_close(sinew_film *film)
{
    if (!end_encoder(film))
        return false;
    return rename(film->partial, film->path) == 0 || refuse(film, "cannot write", errno);
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
