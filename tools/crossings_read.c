/* SPDX-License-Identifier: MIT
 *
 * crossings_read.c: surfaces from OBJ files: v, f (polygons are cut into fans), l and, in files of colliders, o. Other
 * lines are ignored. A damaged file ends the program with a message of file, line and defect.
 */
#include "crossings.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void give_up(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("crossings: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

void *reserve(void *block, int *capacity, int count, size_t size)
{
    if (count < *capacity)
        return block;
    if (count > INT_MAX / 2 - 16)
        give_up("too many points or triangles");
    const int wanted = 2 * count + 16;
    void *larger = realloc(block, (size_t)wanted * size);
    if (!larger)
        give_up("out of memory");
    *capacity = wanted;
    return larger;
}

char *copy_text(const char *text, size_t length_max)
{
    char *copy = strndup(text, length_max);
    if (!copy)
        give_up("out of memory");
    return copy;
}

void mesh_clear(mesh *m)
{
    for (int i = 0; i < m->name_count; i++)
        free(m->names[i]);
    m->point_count = m->primitive_count = m->name_count = m->body_points = 0;
}

void mesh_free(mesh *m)
{
    mesh_clear(m);
    free(m->x);
    free(m->primitives);
    free(m->names);
    *m = (mesh){0};
}

typedef struct reading {
    mesh *m;
    const char *path;
    long line;
    int first; /* index in the mesh of the file's first point */
    bool collider;
} reading;

static void read_point(reading *r, char *text)
{
    mesh *m = r->m;
    m->x = reserve(m->x, &m->point_capacity, 3 * m->point_count + 3, sizeof *m->x);
    for (int c = 0; c < 3; c++) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text)
            give_up("%s:%ld: a vertex needs three numbers", r->path, r->line);
        if (!isfinite(value) || fabs(value) > 1e90)
            give_up("%s:%ld: a coordinate is not finite or above 1e90", r->path, r->line);
        m->x[3 * (size_t)m->point_count + (size_t)c] = value;
        text = end;
    }
    m->point_count++;
}

/* Index of the next corner of a face or line, -1 at its end. Numbers after a slash are texture and normal, which are
 * ignored. */
static int read_corner(reading *r, char **text)
{
    while (**text == ' ' || **text == '\t')
        ++*text;
    if (**text == '\0' || **text == '\r' || **text == '\n' || **text == '#')
        return -1;
    char *end;
    errno = 0;
    const long number = strtol(*text, &end, 10);
    const int count = r->m->point_count - r->first;
    if (end == *text || errno != 0 || (*end && !strchr(" \t\r\n/", *end)))
        give_up("%s:%ld: \"%.20s\" is not the number of a vertex", r->path, r->line, *text);
    if (number == 0 || number > count || number < -(long)count)
        give_up("%s:%ld: vertex %ld is not among the %d before it", r->path, r->line, number, count);
    *text = end + strcspn(end, " \t\r\n");
    return r->first + (int)(number > 0 ? number - 1 : count + number);
}

static void add_primitive(reading *r, int a, int b, int c)
{
    mesh *m = r->m;
    m->primitives = reserve(m->primitives, &m->primitive_capacity, m->primitive_count + 1, sizeof *m->primitives);
    m->primitives[m->primitive_count++] = (primitive){{a, b, c}, r->collider ? m->name_count - 1 : -1};
}

static void add_name(reading *r, const char *text)
{
    mesh *m = r->m;
    m->names = reserve(m->names, &m->name_capacity, m->name_count + 1, sizeof *m->names);
    m->names[m->name_count++] = copy_text(text, strcspn(text, "\r\n"));
}

static void read_cell(reading *r, char *text, bool face)
{
    const int first = read_corner(r, &text);
    int last = read_corner(r, &text), corners = 2;
    if (last < 0)
        give_up("%s:%ld: a %s needs %s vertices", r->path, r->line, face ? "face" : "line", face ? "three" : "two");
    if (!face)
        add_primitive(r, first, last, -1);
    for (int next; (next = read_corner(r, &text)) >= 0; last = next, corners++)
        add_primitive(r, face ? first : last, face ? last : next, face ? next : -1);
    if (face && corners < 3)
        give_up("%s:%ld: a face needs three vertices", r->path, r->line);
}

static void read_line(reading *r, char *text)
{
    text += strspn(text, " \t");
    const char next = text[0] ? text[1] : '\0';
    if (next != ' ' && next != '\t')
        return;
    if (text[0] == 'v')
        read_point(r, text + 1);
    else if (text[0] == 'f' || text[0] == 'l')
        read_cell(r, text + 1, text[0] == 'f');
    else if (text[0] == 'o' && r->collider)
        add_name(r, text + 2);
}

void read_obj(mesh *m, const char *path, bool collider)
{
    FILE *file = fopen(path, "r");
    if (!file)
        give_up("%s: %s", path, strerror(errno));
    reading r = {.m = m, .path = path, .first = m->point_count, .collider = collider};
    if (collider) {
        const char *slash = strrchr(path, '/');
        add_name(&r, slash ? slash + 1 : path);
    }
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, file) >= 0) {
        r.line++;
        read_line(&r, line);
    }
    const bool bad = ferror(file) != 0;
    free(line);
    fclose(file);
    if (bad)
        give_up("%s: cannot be read", path);
    if (m->point_count == r.first && !collider)
        give_up("%s: holds no vertices", path);
}
