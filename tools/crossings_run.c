/* SPDX-License-Identifier: MIT
 *
 * crossings_run.c: the frames of a run: a sequence of OBJ files, or the cells of one OBJ with positions from PC2 or
 * CSV.
 *
 * The OBJ beside a PC2 has lines from points inside solids to a neighbour. Components distinguish such lines from
 * ropes: a component with a triangle has no ropes. Limits: PC2 has 32 bits, so surfaces closer than 1e-7 of their
 * coordinates may intersect in the file but not in the run.
 */
#include "crossings.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char *join(const char *folder, const char *name)
{
    const size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    if (!path)
        give_up("out of memory");
    snprintf(path, size, "%s/%s", folder, name);
    return path;
}

/* Path of NAME.obj beside NAME.pc2 or NAME.csv. */
static char *cells_beside(const char *cache)
{
    const int stem = (int)strlen(cache) - 3;
    char *path = malloc((size_t)stem + 4);
    if (!path)
        give_up("out of memory");
    snprintf(path, (size_t)stem + 4, "%.*sobj", stem, cache);
    return path;
}

static bool ends_in(const char *text, const char *end)
{
    const size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* The number before the ending of NAME.0012.obj, -1: there is none. */
static int number_of(const char *path)
{
    const char *end = path + strlen(path) - 4;
    if (!ends_in(path, ".obj"))
        return -1;
    const char *digit = end;
    while (digit > path && isdigit((unsigned char)digit[-1]))
        digit--;
    return digit < end && end - digit < 10 && digit > path && digit[-1] == '.' ? atoi(digit) : -1;
}

static void add_frame(run *r, int number, char *file, long offset)
{
    int capacities[2] = {r->frame_capacity, r->frame_capacity};
    r->files = reserve(r->files, &capacities[0], r->frame_count + 1, sizeof *r->files);
    r->offsets = reserve(r->offsets, &capacities[1], r->frame_count + 1, sizeof *r->offsets);
    r->frames = reserve(r->frames, &r->frame_capacity, r->frame_count + 1, sizeof *r->frames);
    r->frames[r->frame_count] = number;
    r->offsets[r->frame_count] = offset;
    r->files[r->frame_count++] = file;
}

static void sort_frames(run *r)
{
    for (int i = 1; i < r->frame_count; i++)
        for (int j = i; j > 0 && r->frames[j - 1] > r->frames[j]; j--) {
            const int number = r->frames[j];
            char *file = r->files[j];
            r->frames[j] = r->frames[j - 1];
            r->files[j] = r->files[j - 1];
            r->frames[j - 1] = number;
            r->files[j - 1] = file;
        }
}

/* ---- Caches ------------------------------------------------------------------------------------ */

static void open_cache(run *r, const char *path, const char *cells)
{
    r->kind = ends_in(path, ".pc2") ? RUN_PC2 : RUN_CSV;
    r->cache = copy_text(path, SIZE_MAX);
    r->file = fopen(path, "rb");
    if (!r->file)
        give_up("%s: %s", path, strerror(errno));
    read_obj(&r->shape, cells, false);
    r->shape.body_points = r->shape.point_count;
    topology t;
    topology_make(&t, &r->shape);
    bool *solid = calloc((size_t)r->shape.point_count, sizeof *solid);
    if (!solid)
        give_up("out of memory");
    for (int p = 0; p < r->shape.primitive_count; p++)
        if (r->shape.primitives[p].v[2] >= 0)
            solid[t.component[r->shape.primitives[p].v[0]]] = true;
    int kept = 0;
    for (int p = 0; p < r->shape.primitive_count; p++)
        if (r->shape.primitives[p].v[2] >= 0 || !solid[t.component[r->shape.primitives[p].v[0]]])
            r->shape.primitives[kept++] = r->shape.primitives[p];
    r->shape.primitive_count = kept;
    free(solid);
    topology_free(&t);
}

static void open_pc2(run *r)
{
    unsigned char head[32];
    int32_t numbers[5];
    if (fread(head, 1, sizeof head, r->file) != sizeof head || memcmp(head, "POINTCACHE2", 12) != 0)
        give_up("%s: is not a Point Cache 2 file", r->cache);
    memcpy(numbers, head + 12, sizeof numbers);
    r->points = numbers[1];
    const int samples = numbers[4];
    if (r->points != r->shape.point_count)
        give_up("%s: has %d points, its OBJ %d", r->cache, r->points, r->shape.point_count);
    fseek(r->file, 0, SEEK_END);
    if (samples < 1 || (ftell(r->file) - 32) / 12 / r->points < samples)
        give_up("%s: is shorter than its %d frames", r->cache, samples);
    for (int i = 0; i < samples; i++)
        add_frame(r, i, NULL, 32 + 12L * r->points * i);
}

static void open_csv(run *r)
{
    char *line = NULL;
    size_t capacity = 0;
    int last = -1;
    long offset = 0;
    if (getline(&line, &capacity, r->file) < 0 || strncmp(line, "frame,time,particle,x,y,z", 25) != 0)
        give_up("%s: does not begin with frame,time,particle,x,y,z", r->cache);
    for (offset = ftell(r->file); getline(&line, &capacity, r->file) >= 0; offset = ftell(r->file)) {
        const int number = atoi(line);
        if (number != last)
            add_frame(r, number, NULL, offset);
        last = number;
    }
    free(line);
    if (r->frame_count == 0)
        give_up("%s: holds no frames", r->cache);
}

static void read_pc2(run *r, int index, double *x)
{
    fseek(r->file, r->offsets[index], SEEK_SET);
    for (int i = 0; i < 3 * r->points; i++) {
        float value;
        if (fread(&value, sizeof value, 1, r->file) != 1)
            give_up("%s: ends within frame %d", r->cache, r->frames[index]);
        x[i] = (double)value;
    }
}

static void read_csv(run *r, int index, double *x)
{
    const int points = r->shape.point_count;
    char *line = NULL;
    size_t capacity = 0;
    fseek(r->file, r->offsets[index], SEEK_SET);
    for (int i = 0; i < points; i++) {
        int number, particle;
        double time, p[3];
        if (getline(&line, &capacity, r->file) < 0 ||
            sscanf(line, "%d,%lf,%d,%lf,%lf,%lf", &number, &time, &particle, &p[0], &p[1], &p[2]) != 6 ||
            number != r->frames[index] || particle < 0 || particle >= points)
            give_up("%s: frame %d has not the %d points of its OBJ, or a line is damaged", r->cache, r->frames[index],
                    points);
        memcpy(x + 3 * (size_t)particle, p, sizeof p);
    }
    free(line);
}

/* ---- Folders ----------------------------------------------------------------------------------- */

typedef struct folder {
    char *pc2, *csv, *colliders;
    int sequence;
} folder;

static void check_frames(run *r, const char *path, folder *found)
{
    DIR *open = opendir(path);
    if (!open)
        give_up("%s: %s", path, strerror(errno));
    for (const struct dirent *entry; (entry = readdir(open));) {
        const char *name = entry->d_name;
        if (strncmp(name, "colliders_", 10) == 0)
            found->colliders = found->colliders ? found->colliders : copy_text(path, SIZE_MAX);
        else if (number_of(name) >= 0)
            add_frame(r, number_of(name), join(path, name), 0);
        else if (ends_in(name, ".pc2"))
            found->pc2 = found->pc2 ? found->pc2 : join(path, name);
        else if (ends_in(name, ".csv") && strcmp(name, "metrics.csv") != 0)
            found->csv = found->csv ? found->csv : join(path, name);
    }
    closedir(open);
}

static void open_folder(run *r, const char *path)
{
    folder found = {0};
    check_frames(r, path, &found);
    r->colliders = found.colliders;
    sort_frames(r);
    for (int i = 1; i < r->frame_count; i++)
        if (r->frames[i] == r->frames[i - 1])
            give_up("%s: has several runs: name the files of one", path);
    if (r->frame_count == 0) {
        const char *cache = found.pc2 ? found.pc2 : found.csv;
        if (!cache)
            give_up("%s: holds no NAME.0000.obj, no .pc2 and no .csv of positions (run with --format obj)", path);
        char *cells = cells_beside(cache);
        open_cache(r, cache, cells);
        free(cells);
    }
    free(found.pc2);
    free(found.csv);
}

void run_open(run *r, int count, char *const *paths)
{
    struct stat about;
    if (stat(paths[0], &about) == 0 && S_ISDIR(about.st_mode)) {
        if (count > 1)
            give_up("one folder at a time");
        open_folder(r, paths[0]);
    } else if (ends_in(paths[0], ".pc2") || ends_in(paths[0], ".csv")) {
        if (count != 2)
            give_up("%s: name the OBJ of its cells behind it", paths[0]);
        open_cache(r, paths[0], paths[1]);
    } else {
        for (int i = 0; i < count; i++)
            add_frame(r, i, copy_text(paths[i], SIZE_MAX), 0);
    }
    if (r->kind == RUN_PC2)
        open_pc2(r);
    if (r->kind == RUN_CSV)
        open_csv(r);
}

void run_close(run *r)
{
    for (int i = 0; i < r->frame_count; i++)
        free(r->files[i]);
    free(r->files);
    free(r->frames);
    free(r->offsets);
    free(r->cache);
    free(r->colliders);
    if (r->file)
        fclose(r->file);
    mesh_free(&r->shape);
    mesh_free(&r->still);
    *r = (run){0};
}

/* ---- One frame --------------------------------------------------------------------------------- */

static void append(mesh *m, const mesh *more)
{
    const int first = m->point_count, names = m->name_count;
    m->x = reserve(m->x, &m->point_capacity, 3 * (first + more->point_count), sizeof *m->x);
    if (more->point_count > 0)
        memcpy(m->x + 3 * (size_t)first, more->x, 3 * (size_t)more->point_count * sizeof *m->x);
    m->point_count += more->point_count;
    m->primitives = reserve(m->primitives, &m->primitive_capacity, m->primitive_count + more->primitive_count,
                            sizeof *m->primitives);
    for (int p = 0; p < more->primitive_count; p++) {
        primitive moved = more->primitives[p];
        for (int i = 0; i < 3; i++)
            moved.v[i] += moved.v[i] < 0 ? 0 : first;
        moved.collider += moved.collider < 0 ? 0 : names;
        m->primitives[m->primitive_count++] = moved;
    }
    m->names = reserve(m->names, &m->name_capacity, names + more->name_count, sizeof *m->names);
    for (int i = 0; i < more->name_count; i++)
        m->names[m->name_count++] = copy_text(more->names[i], SIZE_MAX);
}

static void read_colliders(const run *r, int number, mesh *m)
{
    char name[40];
    snprintf(name, sizeof name, "colliders_%04d.obj", number);
    char *path = join(r->colliders, name);
    read_obj(m, path, true);
    free(path);
}

void run_frame(run *r, int index, mesh *m)
{
    mesh_clear(m);
    if (r->kind == RUN_OBJ) {
        read_obj(m, r->files[index], false);
    } else {
        append(m, &r->shape);
        (r->kind == RUN_PC2 ? read_pc2 : read_csv)(r, index, m->x);
        for (int i = 0; i < 3 * m->point_count; i++)
            if (!isfinite(m->x[i]))
                give_up("%s: frame %d, point %d is not finite", r->cache, r->frames[index], i / 3);
    }
    m->body_points = m->point_count;
    append(m, &r->still);
    if (r->colliders)
        read_colliders(r, r->frames[index], m);
}
