/* SPDX-License-Identifier: MIT
 *
 * options.c: parses command lines by a table of options. An error is one line, which names the nearest option.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app.h"

int sinew_usage_error(const char *command, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    /* Replaces line breaks in the error message: it must be one line, even if a path or value contains line breaks. */
    for (char *c = text; *c; c++)
        if (*c == '\n' || *c == '\r')
            *c = ' ';
    fprintf(stderr, "sinew%s%s: %s\n", *command ? " " : "", command, text);
    return SINEW_EXIT_USAGE;
}

static bool options_unknown_option(const char *command, const sinew_option *options, int32_t count, const char *name)
{
    enum {
        OPTIONS_MAX = 64
    };
    const char *names[OPTIONS_MAX];
    int32_t known = 0;
    for (int32_t i = 0; i < count && known < OPTIONS_MAX; i++)
        names[known++] = options[i].name;
    const char *similar = sinew_nearest_name(name, names, known);
    if (similar)
        sinew_usage_error(command, "unknown option --%s; did you mean --%s?", name, similar);
    else
        sinew_usage_error(command, "unknown option --%s; see sinew %s --help", name, command);
    return false;
}

/* Index of the option that `text` ("name" or "name=value") names, or -1. */
static int32_t option_index(const sinew_option *options, int32_t count, const char *text)
{
    size_t length = strcspn(text, "=");
    for (int32_t i = 0; i < count; i++)
        if (strlen(options[i].name) == length && strncmp(options[i].name, text, length) == 0)
            return i;
    return -1;
}

/* Parses the option at argv[*position]; its value goes to `value` (the name itself for a switch). */
static bool options_take_option(const sinew_arguments *a, int argc, char **argv, int *position, int32_t *index,
                                const char **value)
{
    const char *text = argv[*position] + 2;
    const char *equals = strchr(text, '=');
    *index = option_index(a->options, a->option_count, text);
    if (*index < 0) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "="), text);
        return options_unknown_option(a->command, a->options, a->option_count, name);
    }
    const sinew_option *option = &a->options[*index];
    if (!option->value) {
        *value = option->name;
        if (equals)
            sinew_usage_error(a->command, "--%s takes no value", option->name);
        return !equals;
    }
    if (equals) {
        *value = equals + 1;
    } else if (*position + 1 < argc) {
        *value = argv[++*position];
    } else {
        sinew_usage_error(a->command, "--%s needs a value: --%s %s", option->name, option->name, option->value);
        return false;
    }
    if (a->given[*index].count > 0 && !option->repeats) {
        sinew_usage_error(a->command, "--%s is given twice", option->name);
        return false;
    }
    return true;
}

bool sinew_arguments_read(sinew_arguments *a, const char *command, const sinew_option *options, int32_t option_count,
                          int argc, char **argv)
{
    *a = (sinew_arguments){.command = command, .options = options, .option_count = option_count};
    /* Each option, and the list of plain arguments, has a separate run of at most argc texts in `memory`. */
    a->memory = calloc((size_t)(option_count + 1) * (size_t)(argc + 1), sizeof *a->memory);
    a->given = calloc((size_t)option_count + 1, sizeof *a->given);
    if (!a->memory || !a->given) {
        sinew_usage_error(command, "out of memory");
        sinew_arguments_free(a);
        return false;
    }
    const char **plain = a->memory + (size_t)option_count * (size_t)(argc + 1);
    a->plain = plain;
    bool options_end = false;
    for (int i = 1; i < argc; i++) {
        if (!options_end && strcmp(argv[i], "--") == 0) {
            options_end = true;
        } else if (!options_end && strncmp(argv[i], "--", 2) == 0) {
            int32_t index;
            const char *value;
            if (!options_take_option(a, argc, argv, &i, &index, &value)) {
                sinew_arguments_free(a);
                return false;
            }
            const char **values = a->memory + (size_t)index * (size_t)(argc + 1);
            a->given[index].values = values;
            values[a->given[index].count++] = value;
        } else if (!options_end && argv[i][0] == '-' && argv[i][1] != '\0') {
            sinew_usage_error(command, "unknown option %s; options begin with two dashes, see sinew %s --help", argv[i],
                              command);
            sinew_arguments_free(a);
            return false;
        } else {
            plain[a->plain_count++] = argv[i];
        }
    }
    return true;
}

void sinew_arguments_free(sinew_arguments *a)
{
    free(a->memory);
    free(a->given);
    a->memory = NULL;
    a->given = NULL;
}

const char *sinew_option_text(const sinew_arguments *a, const char *name)
{
    int32_t index = option_index(a->options, a->option_count, name);
    return index >= 0 && a->given[index].count > 0 ? a->given[index].values[a->given[index].count - 1] : NULL;
}

bool sinew_option_on(const sinew_arguments *a, const char *name)
{
    return sinew_option_text(a, name) != NULL;
}

void sinew_options_print(const sinew_option *options, int32_t option_count)
{
    for (int32_t i = 0; i < option_count; i++) {
        char head[64];
        snprintf(head, sizeof head, "--%s %s", options[i].name, options[i].value ? options[i].value : "");
        printf("  %-22s %s\n", head, options[i].meaning);
    }
}

/* Writes one argument of a command line to `text`, quoted for a shell where needed. Returns the end of the text. A
 * quote ' ends the quoted part, is escaped, and begins the next: '\'', three characters more. */
static char *options_quote(const char *word, char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-:=,%@";
    if (*word && strspn(word, plain) == strlen(word)) {
        strcpy(text, word);
        return text + strlen(text);
    }
    *text++ = '\'';
    for (; *word; word++)
        text += sprintf(text, *word == '\'' ? "'\\'%c" : "%c", *word);
    strcpy(text, "'");
    return text + 1;
}

char *sinew_command_line(int argc, char **argv)
{
    static const char precision[] = " --precision single";
    size_t size = sizeof "sinew" + sizeof precision;
    for (int i = 0; i < argc; i++)
        size += 4 * strlen(argv[i]) + 3;
    char *line = malloc(size);
    if (!line)
        return NULL;
    strcpy(line, "sinew");
    char *end = line + strlen(line);
    /* The program has already removed --precision from argv. A "--" ends the options. */
    bool missing = sizeof(sinew_real) == 4;
    for (int i = 0; i <= argc; i++) {
        if (missing && (i == argc || strcmp(argv[i], "--") == 0)) {
            end = strcpy(end, precision) + strlen(precision);
            missing = false;
        }
        if (i == argc)
            break;
        *end++ = ' ';
        end = options_quote(argv[i], end);
    }
    return line;
}

bool sinew_read_integer(const char *command, const char *what, const char *text, int64_t minimum, int64_t maximum,
                        int64_t *value)
{
    char *end;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || number < minimum || number > maximum) {
        sinew_usage_error(command, "%s: \"%s\" is not a whole number from %lld to %lld", what, text, (long long)minimum,
                          (long long)maximum);
        return false;
    }
    *value = number;
    return true;
}

bool sinew_read_number(const char *command, const char *what, const char *text, double minimum, double maximum,
                       double *value)
{
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !isfinite(number) || number < minimum || number > maximum) {
        sinew_usage_error(command, "%s: \"%s\" is not a number from %g to %g", what, text, minimum, maximum);
        return false;
    }
    *value = number;
    return true;
}

bool sinew_read_size(const char *command, const char *text, int32_t *width, int32_t *height)
{
    /* Limits of the sides of a picture in pixels (render/picture.c), checked here before a scene is simulated. */
    enum {
        SIDE_MIN = 16,
        SIDE_MAX = 16384
    };
    /* Approximate bytes per pixel for drawing a picture: light, normals, depths and their copies during denoising. */
    const double pixel_cost = 160;
    long long w, h;
    char end;
    if (sscanf(text, "%lldx%lld%c", &w, &h, &end) != 2 || w < SIDE_MIN || h < SIDE_MIN || w > SIDE_MAX ||
        h > SIDE_MAX) {
        sinew_usage_error(command, "--size: \"%s\" is not WIDTHxHEIGHT, both from %d to %d pixels", text, SIDE_MIN,
                          SIDE_MAX);
        return false;
    }
    const double needed = pixel_cost * (double)w * (double)h;
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (needed > 0.7 * memory) {
        sinew_usage_error(command, "--size %s: drawing takes about %.1f GB and the machine has %.1f GB; lower it", text,
                          needed / 1e9, memory / 1e9);
        return false;
    }
    *width = (int32_t)w;
    *height = (int32_t)h;
    return true;
}
