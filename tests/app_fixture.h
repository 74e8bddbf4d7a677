/* SPDX-License-Identifier: MIT
 *
 * app_fixture.h: starts the command as a user would, in a scratch folder, and reads its output and its files.
 */
#ifndef SINEW_APP_FIXTURE_H
#define SINEW_APP_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <jansson.h>

#include "sinew/scene.h"

#define SCENES SINEW_SOURCE_DIR "/scenes"

enum {
    ARGUMENT_MAX = 32,
    TEXT_MAX = 65536
};

/* The result of one run of the program: its exit status and its output. */
typedef struct outcome {
    int status; /* exit status, or minus the number of the signal */
    char out[TEXT_MAX], err[TEXT_MAX];
} outcome;

static inline const char *scratch(const char *name)
{
    static char path[4][1024];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", SINEW_TEST_DIR, name);
    return path[turn];
}

static inline size_t read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    return length;
}

static inline void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Starts the program in the scratch folder; words are separated by single spaces. scenes is $SINEW_SCENES, NULL: unset.
 */
static inline pid_t start_with_scenes(const char *program, const char *words, rlim_t largest_file, const char *scenes)
{
    static char line[4096];
    char *argv[ARGUMENT_MAX] = {(char *)program};
    int count = 1;
    snprintf(line, sizeof line, "%s", words);
    for (char *word = strtok(line, " "); word && count < ARGUMENT_MAX - 1; word = strtok(NULL, " "))
        argv[count++] = word;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    int out = open(scratch("stdout.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(scratch("stderr.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    struct rlimit limit = {largest_file, largest_file};
    if (chdir(SINEW_TEST_DIR) != 0 || (largest_file && setrlimit(RLIMIT_FSIZE, &limit) != 0))
        _exit(99);
    if (scenes)
        setenv("SINEW_SCENES", scenes, 1);
    else
        unsetenv("SINEW_SCENES");
    execv(program, argv);
    _exit(98);
}

static inline pid_t start(const char *program, const char *words, rlim_t largest_file)
{
    return start_with_scenes(program, words, largest_file, SCENES);
}

static inline outcome finish(pid_t child)
{
    static outcome result;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    read_text(scratch("stdout.txt"), result.out, TEXT_MAX);
    read_text(scratch("stderr.txt"), result.err, TEXT_MAX);
    return result;
}

static inline outcome sinew(const char *words)
{
    return finish(start(SINEW_COMMAND, words, 0));
}

static inline void expect(const outcome *o, int status, const char *words)
{
    if (o->status != status)
        fail_msg("sinew %s: exit %d, expected %d\n%s%s", words, o->status, status, o->out, o->err);
}

static inline int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static inline off_t size_of(const char *name)
{
    struct stat facts;
    return stat(scratch(name), &facts) == 0 ? facts.st_size : -1;
}

/* The number of files of a folder whose name contains `part`. */
static inline int count_files(const char *folder, const char *part)
{
    DIR *stream = opendir(scratch(folder));
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        count += entry->d_name[0] != '.' && strstr(entry->d_name, part) != NULL;
    if (stream)
        closedir(stream);
    return count;
}

static inline void remove_files(const char *folder)
{
    DIR *stream = opendir(scratch(folder));
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", scratch(folder), entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (stream)
        closedir(stream);
}

/* ---- Comparison of two result folders ------------------------------------------------------------ */

static inline char *whole_file(const char *folder, const char *name, size_t *size)
{
    char path[2048];
    snprintf(path, sizeof path, "%s/%s", scratch(folder), name);
    FILE *file = fopen(path, "rb");
    *size = 0;
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(*size + 1, 1);
    assert_int_equal(fread(text, 1, *size, file), *size);
    fclose(file);
    return text;
}

/* Blanks one column, the seconds, in each line of a table. */
static inline void blank_seconds(char *text, int column)
{
    for (char *line = text; line && *line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
        char *at = line;
        for (int comma = 0; at && comma < column; comma++)
            at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL;
        for (; at && *at && *at != ',' && *at != '\n'; at++)
            *at = ' ';
    }
}

/* Removes repeated blanks, since the number of digits of seconds varies. */
static inline void squeeze(char *text)
{
    char *to = text;
    for (const char *c = text; *c; c++)
        if (*c != ' ')
            *to++ = *c;
    *to = '\0';
}

static inline bool same_summary(const char *one, const char *two)
{
    json_t *a = json_loads(one, 0, NULL), *b = json_loads(two, 0, NULL);
    static const char *const free_keys[] = {"seconds", "command", "threads"};
    for (int i = 0; i < 3; i++) {
        json_object_del(a, free_keys[i]);
        json_object_del(b, free_keys[i]);
    }
    bool same = a && json_equal(a, b);
    json_decref(a);
    json_decref(b);
    return same;
}

static inline bool same_file(const char *one, const char *two, const char *name)
{
    size_t size_one, size_two;
    char *a = whole_file(one, name, &size_one), *b = whole_file(two, name, &size_two);
    bool same = a && b && size_one == size_two && memcmp(a, b, size_one) == 0;
    const int column = strcmp(name, "metrics.csv") == 0 ? 3 : strcmp(name, "contact.csv") == 0 ? 21 : -1;
    if (a && b && column >= 0) {
        blank_seconds(a, column);
        blank_seconds(b, column);
        squeeze(a);
        squeeze(b);
        same = strcmp(a, b) == 0;
    } else if (a && b && strcmp(name, "summary.json") == 0) {
        same = same_summary(a, b);
    }
    free(a);
    free(b);
    return same;
}

/* True if both folders hold the same files with the same bytes, except for times; prints the first difference. */
static inline bool same_results(const char *one, const char *two)
{
    bool same = count_files(one, "") == count_files(two, "");
    if (!same)
        print_message("%s has %d files, %s has %d\n", one, count_files(one, ""), two, count_files(two, ""));
    DIR *stream = opendir(scratch(one));
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        if (entry->d_name[0] != '.' && !same_file(one, two, entry->d_name)) {
            print_message("%s is not the same in %s and %s\n", entry->d_name, one, two);
            same = false;
        }
    if (stream)
        closedir(stream);
    return same;
}

static inline void go(const char *words, int status)
{
    outcome o = sinew(words);
    expect(&o, status, words);
}

/* Asserts that standard error is one line that contains `part`. */
static inline void refuse(const char *words, const char *part)
{
    outcome o = sinew(words);
    expect(&o, 2, words);
    if (!strstr(o.err, part) || count_lines(o.err) != 1)
        fail_msg("sinew %s says %s, expected %s", words, o.err, part);
}

#endif
