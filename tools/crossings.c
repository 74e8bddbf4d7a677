/* SPDX-License-Identifier: MIT
 *
 * crossings.c: an independent check of contact. The program reads files of `sinew run` and reports, for each frame,
 * which triangles and edges intersect and the distances of the others. The program shares no code with the library: it
 * has its own readers, predicates and search, and `--brute` tests all pairs without the search.
 *
 * Exit codes: 0 no intersection, 1 intersections, 2 wrong files or options.
 */
#include "crossings.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "crossings: looks for surfaces that pass through each other, in the frames of a run\n"
    "\n"
    "  crossings [OPTIONS] FOLDER             of `sinew run --format obj` (or pc2, csv)\n"
    "  crossings [OPTIONS] FILE.obj ...       frames one by one\n"
    "  crossings [OPTIONS] FILE.pc2 FILE.obj  positions (also .csv), and cells\n"
    "\n"
    "  sinew run tablecloth --format obj --out out/cloth\n"
    "  build/release/tools/crossings out/cloth --thickness 2e-3 --plane 0 0 0  0 1 0\n"
    "\n"
    "Told of each frame: pairs of triangles that cross and share no vertex, within a piece, between pieces, against\n"
    "colliders; edges of ropes through triangles count as well. Fans: triangles with one common vertex, one of which\n"
    "passes through the other. Passed: pieces on the other side of a closed surface than in the first frame, and "
    "ropes\n"
    "that have passed through ropes since the last one (of the first 4000 edges of ropes). Then the smallest distance\n"
    "between a vertex and a triangle, or two edges, that share no vertex, and which they are.\n"
    "Touching is not crossing: the distance is 0 then. If the folder has colliders_0000.obj ..., these are colliders.\n"
    "\n"
    "  --sphere X Y Z R              a collider: what enters it is counted\n"
    "  --plane PX PY PZ NX NY NZ     solid on the side that the normal N points away from\n"
    "  --box X Y Z HX HY HZ          its centre and half sizes\n"
    "  --mesh FILE.obj               triangles that stand still\n"
    "  --thickness T                 tells the largest violation: T less the distance. In one piece no more is asked\n"
    "                                than 0.9 of the distance in the first frame\n"
    "  --frames A:B                  frames A to B only; either may be left out\n"
    "  --list                        every pair that crosses\n"
    "  --brute                       all pairs, without a search: slow, tells the same\n"
    "  --quiet                       the last line only\n"
    "\n"
    "Exit code: 0 nothing crosses, 1 something does, 2 a file or an option is not as it should be.\n";

enum {
    SHAPES_MAX = 64
};

typedef struct options {
    question ask;
    shape shapes[SHAPES_MAX];
    bool quiet;
    int first, last; /* range of frames to check */
    int path_count;
    char **paths;
} options;

/* Totals over all frames, for the last line. */
typedef struct total {
    long frames, bad_frames, crossings;
    double nearest, violation;
    int nearest_frame, violation_frame;
} total;

/* ---- Options ----------------------------------------------------------------------------------- */

static double number_after(char **arguments, int count, int at, const char *option)
{
    char *end = NULL;
    const double value = at < count ? strtod(arguments[at], &end) : 0;
    if (!end || end == arguments[at] || *end || !isfinite(value))
        give_up("%s: a number is missing or is none (--help)", option);
    return value;
}

static int add_shape(options *o, shape_kind kind, char **arguments, int count, int at)
{
    static const int numbers[] = {4, 6, 6};
    if (o->ask.shape_count == SHAPES_MAX)
        give_up("at most %d shapes", SHAPES_MAX);
    shape *s = &o->shapes[o->ask.shape_count++];
    *s = (shape){.kind = kind};
    for (int i = 0; i < numbers[kind]; i++)
        s->numbers[i] = number_after(arguments, count, at + 1 + i, arguments[at]);
    double length = 0;
    for (int c = 3; c < numbers[kind]; c++) {
        length += s->numbers[c] * s->numbers[c];
        if (kind != SHAPE_PLANE && s->numbers[c] <= 0)
            give_up("%s: sizes are positive", arguments[at]);
    }
    if (length <= 0)
        give_up("%s: the normal has no direction", arguments[at]);
    for (int c = 3; c < 6 && kind == SHAPE_PLANE; c++)
        s->numbers[c] /= sqrt(length);
    return numbers[kind];
}

static void read_frames(options *o, const char *text)
{
    char *end;
    o->first = (int)strtol(text, &end, 10);
    o->last = o->first;
    if (*end == ':')
        o->last = end[1] ? (int)strtol(end + 1, &end, 10) : INT_MAX;
    if ((*end && *end != ':') || o->first < 0 || o->last < o->first)
        give_up("--frames %s: A:B is wanted, A at most B", text);
}

/* Reads one option. Returns the number of arguments that it consumes. */
static int read_option(options *o, run *r, char **arguments, int count, int at)
{
    static const char *const shapes[] = {"--sphere", "--plane", "--box"};
    const char *name = arguments[at];
    for (int kind = 0; kind < 3; kind++)
        if (strcmp(name, shapes[kind]) == 0)
            return add_shape(o, (shape_kind)kind, arguments, count, at);
    bool *flag = strcmp(name, "--list") == 0    ? &o->ask.list
                 : strcmp(name, "--brute") == 0 ? &o->ask.brute
                 : strcmp(name, "--quiet") == 0 ? &o->quiet
                                                : NULL;
    if (flag) {
        *flag = true;
        return 0;
    }
    if (strcmp(name, "--thickness") == 0) {
        o->ask.thickness = number_after(arguments, count, at + 1, name);
        return 1;
    }
    if (strcmp(name, "--mesh") != 0 && strcmp(name, "--frames") != 0)
        give_up("%s: no such option (--help)", name);
    if (at + 1 >= count)
        give_up("%s: its value is missing (--help)", name);
    if (strcmp(name, "--frames") == 0)
        read_frames(o, arguments[at + 1]);
    else
        read_obj(&r->still, arguments[at + 1], true);
    return 1;
}

static void read_options(options *o, run *r, int count, char **arguments)
{
    *o = (options){.last = INT_MAX, .paths = arguments};
    for (int i = 1; i < count; i++) {
        if (strcmp(arguments[i], "--help") == 0) {
            fputs(help, stdout);
            exit(0);
        }
        if (strncmp(arguments[i], "--", 2) == 0)
            i += read_option(o, r, arguments, count, i);
        else
            o->paths[o->path_count++] = arguments[i];
    }
    o->ask.shapes = o->shapes;
    if (o->path_count == 0)
        give_up("name a folder or files (--help)");
}

/* ---- Output ------------------------------------------------------------------------------------- */

/* Prints point numbers, which count from 1 as in their file. */
static void print_points(const mesh *m, int count, const int *v)
{
    for (int i = 0; i < count; i++)
        printf(" %d", v[i] - (v[i] >= m->body_points ? m->body_points : 0) + 1);
}

static void print_primitive(const mesh *m, int p)
{
    const bool rope = m->primitives[p].v[2] < 0;
    printf(rope ? "edge" : "triangle");
    print_points(m, rope ? 2 : 3, m->primitives[p].v);
    if (m->primitives[p].collider >= 0)
        printf(" of %s", m->names[m->primitives[p].collider]);
}

void print_crossing(const mesh *m, int a, int b)
{
    printf("  ");
    print_primitive(m, a);
    printf(" crosses ");
    print_primitive(m, b);
    putchar('\n');
}

static void print_pair(const mesh *m, const feature_pair *pair)
{
    printf(" (%s", pair->edges ? "edge" : "vertex");
    print_points(m, pair->edges ? 2 : 1, pair->v);
    printf(pair->edges ? ", edge" : ", triangle");
    print_points(m, pair->edges ? 2 : 3, pair->v + (pair->edges ? 2 : 1));
    if (pair->collider >= 0)
        printf(", %s", m->names[pair->collider]);
    putchar(')');
}

static long all_crossings(const result *v)
{
    return v->crossings[WITHIN] + v->crossings[BETWEEN] + v->crossings[AGAINST] + v->fans + v->entered + v->passed;
}

static void print_crossings(const frame *f)
{
    const result *v = f->v;
    printf("crossings %ld", all_crossings(v));
    if (all_crossings(v) > 0)
        printf(" (within %ld, between %ld, colliders %ld, fans %ld, entered %ld, passed %ld)", v->crossings[WITHIN],
               v->crossings[BETWEEN], v->crossings[AGAINST], v->fans, v->entered, v->passed);
    if (v->entered > 0)
        printf(", deepest %.9g m", v->depth);
}

static void print_frame(const frame *f, int number)
{
    static const char *const names[] = {"within", "between", "collider"};
    const result *v = f->v;
    printf("frame %d: ", number);
    print_crossings(f);
    for (int r = 0; r < RELATION_COUNT; r++)
        if (isfinite(v->nearest[r].distance)) {
            printf("; %s %.9g m", names[r], v->nearest[r].distance);
            print_pair(f->m, &v->nearest[r]);
        }
    if (isfinite(v->shape_nearest))
        printf("; shapes %.9g m", v->shape_nearest);
    if (f->ask->thickness > 0)
        printf("; violation %.9g m", v->violation);
    if (v->violation > 0 && !v->worst_is_shape)
        print_pair(f->m, &v->worst);
    putchar('\n');
    if (v->first[0] >= 0 && !f->ask->list)
        print_crossing(f->m, v->first[0], v->first[1]);
}

static void add_up(total *t, const result *v, int number)
{
    t->frames++;
    t->bad_frames += all_crossings(v) > 0;
    t->crossings += all_crossings(v);
    double nearest = v->shape_nearest;
    for (int r = 0; r < RELATION_COUNT; r++)
        nearest = fmin(nearest, v->nearest[r].distance);
    if (nearest < t->nearest) {
        t->nearest = nearest;
        t->nearest_frame = number;
    }
    if (v->violation > t->violation) {
        t->violation = v->violation;
        t->violation_frame = number;
    }
}

static void print_total(const total *t, double thickness)
{
    printf("%ld frames, %ld with crossings, %ld in all", t->frames, t->bad_frames, t->crossings);
    if (isfinite(t->nearest))
        printf("; smallest distance %.9g m in frame %d", t->nearest, t->nearest_frame);
    if (thickness > 0 && t->violation > 0)
        printf("; largest violation of %g m: %.9g m in frame %d", thickness, t->violation, t->violation_frame);
    else if (thickness > 0)
        printf("; %g m is kept", thickness);
    putchar('\n');
}

/* ---- All frames ---------------------------------------------------------------------------------- */

static void judge_frames(run *r, const options *o, total *sum)
{
    mesh rest = {0}, now = {0};
    topology t = {0};
    rope_links links = {0};
    result v;
    run_frame(r, 0, &rest);
    topology_make(&t, &rest);
    bool first_cells = true;
    for (int i = 0; i < r->frame_count; i++) {
        if (r->frames[i] < o->first || r->frames[i] > o->last)
            continue;
        run_frame(r, i, &now);
        const bool same = same_cells(&now, &rest);
        /* If bodies tear, the topology is rebuilt for each frame. */
        if (!same || !first_cells) {
            topology_free(&t);
            topology_make(&t, &now);
        }
        first_cells = same;
        frame f = {.m = &now, .rest = same ? &rest : NULL, .t = &t, .ask = &o->ask, .links = &links, .v = &v};
        judge(&f);
        if (!o->quiet)
            print_frame(&f, r->frames[i]);
        add_up(sum, &v, r->frames[i]);
    }
    topology_free(&t);
    links_free(&links);
    mesh_free(&rest);
    mesh_free(&now);
}

int main(int count, char **arguments)
{
    run r = {0};
    options o;
    read_options(&o, &r, count, arguments);
    run_open(&r, o.path_count, o.paths);
    total sum = {.nearest = INFINITY};
    judge_frames(&r, &o, &sum);
    if (sum.frames == 0)
        give_up("no frame of those that --frames names is there");
    print_total(&sum, o.ask.thickness);
    run_close(&r);
    if (fflush(stdout) != 0)
        give_up("cannot write");
    return sum.crossings > 0 ? 1 : 0;
}
