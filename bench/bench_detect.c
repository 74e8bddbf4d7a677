/* SPDX-License-Identifier: MIT
 *
 * bench_detect.c: time of contact detection in a pile of crumpled cloths, and in one cloth with self-contact everywhere
 * or in places.
 *
 * Positions change slightly from call to call, as they do between detection passes.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "collide/candidates.h"

typedef struct scene {
    const char *name;
    int32_t cloths, side;    /* number of cloths; vertices along a side */
    double inflation_radius; /* in units of the edge length */
    double gap;              /* m between cloths, which are 1 m wide */
    double wrinkles;         /* m, height difference between neighbouring vertices */
    int folds;               /* number of folds of each cloth */
} scene;

typedef struct work {
    sinew_collision_mesh mesh;
    sinew_detector *detector;
    sinew_real *rest, *x, *inflation_radius;
    sinew_candidates pairs;
    int calls;
} work;

static void *capacity(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "bench_detect: out of memory\n");
        exit(1);
    }
    return memory;
}

/* ---- Scenes ----------------------------------------------------------------------------------- */

static void fill_triangles(int32_t side, int32_t *t)
{
    for (int32_t i = 0; i + 1 < side; i++)
        for (int32_t j = 0; j + 1 < side; j++) {
            const int32_t a = side * i + j;
            const int32_t quad[6] = {a, a + side, a + side + 1, a, a + side + 1, a + 1};
            memcpy(t, quad, sizeof quad);
            t += 6;
        }
}

/* Position of a vertex of a wavy, wrinkled sheet, folded like a letter; the cloths of a pile differ slightly. */
static void place_cloth_vertex(const scene *s, int32_t cloth, int32_t i, int32_t j, sinew_real x[4])
{
    const double u = (double)i / (s->side - 1), v = (double)j / (s->side - 1), folded = u * s->folds;
    const int layer = (int)fmin(floor(folded), s->folds - 1);
    const double fraction = folded - layer, along = layer % 2 ? 1 - fraction : fraction;
    const double height = 0.05 * sin(7 * along + 3 * v) + 0.02 * sin(23 * v - 9 * along);
    const double noise = s->wrinkles * (sin(91.7 * i + 57.1 * j + 13 * cloth) + sin(17.3 * i - 71.9 * j));
    x[0] = (sinew_real)(along / s->folds + 0.003 * sin(40 * v + cloth));
    x[1] = (sinew_real)(height + s->gap * (cloth * s->folds + layer + fraction / 3) + noise);
    x[2] = (sinew_real)(v + 0.003 * sin(40 * along - cloth));
    x[3] = 0;
}

static void make(const scene *s, work *w)
{
    const int32_t vertices = s->side * s->side, triangles = 2 * (s->side - 1) * (s->side - 1);
    sinew_collision_object *objects = capacity((size_t)s->cloths, sizeof *objects);
    sinew_object_primitives *primitives = capacity((size_t)s->cloths, sizeof *primitives);
    bool *lone = capacity((size_t)s->cloths, sizeof *lone);
    int32_t *list = capacity(3 * (size_t)triangles, sizeof *list);
    fill_triangles(s->side, list);
    for (int32_t o = 0; o < s->cloths; o++) {
        objects[o] = (sinew_collision_object){.body = o, .first_vertex = o * vertices, .vertex_count = vertices};
        primitives[o] = (sinew_object_primitives){.triangles = list, .triangle_count = triangles};
    }
    if (sinew_collision_mesh_create(&w->mesh, NULL, objects, primitives, lone, s->cloths, NULL) != SINEW_OK)
        exit(1);
    memset(w->mesh.may_collide, 1, (size_t)(s->cloths * s->cloths));
    const size_t count = (size_t)w->mesh.vertex_count;
    w->rest = capacity(4 * count, sizeof *w->rest);
    w->x = capacity(4 * count, sizeof *w->x);
    w->inflation_radius = capacity(count, sizeof *w->inflation_radius);
    for (size_t v = 0; v < count; v++) {
        const int32_t own = (int32_t)v % vertices;
        place_cloth_vertex(s, (int32_t)v / vertices, own / s->side, own % s->side, w->rest + 4 * v);
        w->inflation_radius[v] = (sinew_real)(s->inflation_radius / (s->side - 1) / 2);
    }
    free(objects);
    free(primitives);
    free(lone);
    free(list);
}

static void release(work *w)
{
    sinew_candidates_release(&w->pairs, &w->mesh.allocator);
    sinew_collision_mesh_destroy(&w->mesh);
    free(w->rest);
    free(w->x);
    free(w->inflation_radius);
}

/* ---- Timing ----------------------------------------------------------------------------------- */

static void move(work *w)
{
    const double shift = 1e-4 * sin(0.7 * w->calls++);
    for (size_t i = 0; i < 4 * (size_t)w->mesh.vertex_count; i++)
        w->x[i] = w->rest[i] + (sinew_real)(i % 4 == 3 ? 0 : shift * (double)(i % 7));
}

/* Seconds of one detection, after the positions have changed. */
static double detect_once(work *w, double (*now)(void))
{
    move(w);
    const double began = now();
    const sinew_detect_input places = {.x = w->x, .inflation_radius = w->inflation_radius};
    if (sinew_detect(w->detector, &places, 0, &w->pairs, NULL) != SINEW_OK)
        exit(1);
    return now() - began;
}

static double cross_once(work *w, double (*now)(void))
{
    move(w);
    const double began = now();
    if (sinew_detect_intersections(w->detector, w->x, NULL, 0) < 0)
        exit(1);
    return now() - began;
}

static double min(work *w, double (*once)(work *w, double (*now)(void)), double (*now)(void))
{
    double best = once(w, now);
    for (int i = 0; i < 7; i++)
        best = fmin(best, once(w, now));
    return best;
}

static void time_scene(const scene *s)
{
    work w = {0};
    make(s, &w);
    printf("%s: %d vertices, %d triangles, %s precision\n", s->name, w.mesh.vertex_count, w.mesh.primitive_count,
           SINEW_PRECISION);
    for (int32_t threads = 1; threads <= 2; threads++) {
        double (*now)(void) = threads == 1 ? bench_processor_seconds : sinew_seconds;
        const double began = sinew_seconds();
        if (sinew_detector_create(&w.detector, &w.mesh, threads, NULL) != SINEW_OK)
            exit(1);
        const double made = sinew_seconds() - began, first = detect_once(&w, now);
        const double pairs = min(&w, detect_once, now), crossings = min(&w, cross_once, now);
        int64_t faces = 0;
        while (faces < w.pairs.count && w.pairs.list[faces].kind == SINEW_CANDIDATE_VERTEX_FACE)
            faces++;
        printf(
            "  %d thread%s: %.1f ms (first %.1f, made in %.1f), crossings %.1f ms; %lld vertex-face, %lld edge-edge\n",
            threads, threads > 1 ? "s" : " ", 1e3 * pairs, 1e3 * first, 1e3 * made, 1e3 * crossings, (long long)faces,
            (long long)(w.pairs.count - faces));
        sinew_detector_destroy(w.detector);
    }
    release(&w);
}

int main(void)
{
    const scene scenes[] = {
        {"pile of cloths", 5, 221, 0.4, 0.0028, 0.00084, 2},
        {"one cloth, folded tightly", 1, 81, 0.35, 0.006, 0.001, 3},
        {"one cloth, folded loosely", 1, 81, 0.35, 0.009, 0.001, 3},
    };
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        time_scene(scenes + i);
    return 0;
}
