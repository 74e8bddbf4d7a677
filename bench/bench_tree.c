/* SPDX-License-Identifier: MIT
 *
 * bench_tree.c: construction and queries of a BVH of 500 000 triangles, with one thread and with two, compared with
 * Embree if its package (libembree-dev) is installed. Embree computes in single precision, also with one ray per query.
 *
 * Two sets of triangles: a bumpy ball, and a soup of small triangles anywhere in a cube. Queries: rays from a camera
 * (coherent), rays between random points on a sphere around all triangles (incoherent), any hit of these rays, closest
 * points of points near the triangles and of points anywhere, winding numbers. One thread is timed in processor time,
 * two on the wall clock; both take turns with Embree, and the smallest time of REPEATS counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "sinew/tree.h"
#include "tree_peer.h"

enum {
    TRIANGLES = 500000,
    QUESTIONS = 40000,
    BLOCK = 256,
    REPEATS = 3
};

typedef struct model {
    const char *name;
    int32_t vertex_count, cell_count;
    sinew_real *positions;
    float *floats; /* the positions in single precision, for Embree */
    int32_t *cells;
} model;

typedef struct questions {
    float *origins, *directions; /* [3 * QUESTIONS] */
    sinew_real *points;          /* origins, in sinew's precision */
    sinew_tree_point *nearest;
    sinew_real *windings;
} questions;

typedef struct bench_case {
    const sinew_tree *tree;
    const tree_peer *peer;
    const questions *ask;
    int32_t threads;
    double check[64]; /* a sum of each thread's results, so that the compiler keeps the queries */
} bench_case;

static double uniform(void)
{
    return 2.0 * rand() / RAND_MAX - 1.0;
}

static void *capacity(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) {
        fprintf(stderr, "bench_tree: out of memory\n");
        exit(1);
    }
    return memory;
}

/* ---- Meshes ------------------------------------------------------------------------------------ */

static model make_model(const char *name, int32_t vertices, int32_t cells)
{
    return (model){name,
                   vertices,
                   cells,
                   capacity(3 * (size_t)vertices, sizeof(sinew_real)),
                   capacity(3 * (size_t)vertices, sizeof(float)),
                   capacity(3 * (size_t)cells, sizeof(int32_t))};
}

/* The sides of a cube, each a grid, projected onto a ball with bumps. */
static model make_ball(void)
{
    const int32_t n = 204, side = (n + 1) * (n + 1);
    model m = make_model("bumpy ball", 6 * side, 6 * 2 * n * n);
    int32_t *cell = m.cells;
    for (int32_t face = 0; face < 6; face++)
        for (int32_t i = 0; i <= n; i++)
            for (int32_t j = 0; j <= n; j++) {
                const int axis = face / 2, flip = face % 2 ? -1 : 1;
                double x[3];
                x[axis] = flip;
                x[(axis + 1) % 3] = 2.0 * i / n - 1;
                x[(axis + 2) % 3] = flip * (2.0 * j / n - 1);
                const double length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
                const double radius = 1 + 0.03 * sin(20 * x[0] / length) * sin(23 * x[1] / length) * sin(17 * x[2]);
                const int32_t at = face * side + i * (n + 1) + j;
                for (int k = 0; k < 3; k++)
                    m.positions[3 * at + k] = (sinew_real)(radius * x[k] / length);
                if (i == n || j == n)
                    continue;
                const int32_t quad[6] = {at, at + n + 1, at + n + 2, at, at + n + 2, at + 1};
                memcpy(cell, quad, sizeof quad);
                cell += 6;
            }
    return m;
}

static model make_soup(void)
{
    model m = make_model("soup", 3 * TRIANGLES, TRIANGLES);
    for (int32_t i = 0; i < TRIANGLES; i++) {
        const double at[3] = {uniform(), uniform(), uniform()};
        for (int32_t c = 0; c < 9; c++)
            m.positions[9 * (size_t)i + (size_t)c] = (sinew_real)(at[c % 3] + 0.01 * uniform());
        for (int32_t c = 0; c < 3; c++)
            m.cells[3 * i + c] = 3 * i + c;
    }
    return m;
}

/* ---- Queries ----------------------------------------------------------------------------------- */

static void on_sphere(double radius, float x[3])
{
    double p[3], length;
    do {
        for (int k = 0; k < 3; k++)
            p[k] = uniform();
        length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    } while (length > 1 || length < 0.01);
    for (int k = 0; k < 3; k++)
        x[k] = (float)(radius * p[k] / length);
}

static void ask_camera(const model *m, int32_t i, float origin[3], float direction[3])
{
    (void)m;
    const int32_t width = 400;
    origin[0] = origin[1] = 0;
    origin[2] = 3;
    direction[0] = (float)(0.9 * (i % width - width / 2) / width);
    direction[1] = (float)(0.9 * (i / width - QUESTIONS / width / 2) / width);
    direction[2] = -1;
}

static void ask_anywhere(const model *m, int32_t i, float origin[3], float direction[3])
{
    (void)m;
    (void)i;
    float target[3];
    on_sphere(2, origin);
    on_sphere(0.8, target);
    for (int k = 0; k < 3; k++)
        direction[k] = target[k] - origin[k];
}

static void ask_near(const model *m, int32_t i, float origin[3], float direction[3])
{
    (void)i;
    const int32_t vertex = (int32_t)((double)rand() / ((double)RAND_MAX + 1) * m->vertex_count);
    for (int k = 0; k < 3; k++) {
        origin[k] = (float)m->positions[3 * (size_t)vertex + (size_t)k] + (float)(0.01 * uniform());
        direction[k] = 0;
    }
}

static void ask_far(const model *m, int32_t i, float origin[3], float direction[3])
{
    (void)m;
    (void)i;
    for (int k = 0; k < 3; k++) {
        origin[k] = (float)(2 * uniform());
        direction[k] = 0;
    }
}

typedef void ask_one(const model *m, int32_t i, float origin[3], float direction[3]);

static void fill_questions(const model *m, ask_one *one, questions *q)
{
    srand(7);
    for (int32_t i = 0; i < QUESTIONS; i++) {
        one(m, i, q->origins + 3 * i, q->directions + 3 * i);
        for (int k = 0; k < 3; k++)
            q->points[3 * i + k] = (sinew_real)q->origins[3 * i + k];
    }
}

/* ---- Results ----------------------------------------------------------------------------------- */

static sinew_ray ray_of(const questions *q, int64_t i)
{
    sinew_ray ray = {.from = 0, .to = INFINITY};
    for (int k = 0; k < 3; k++) {
        ray.origin[k] = q->points[3 * i + k];
        ray.direction[k] = (sinew_real)q->directions[3 * i + k];
    }
    return ray;
}

static void run_rays(void *context, int32_t member, int64_t first, int64_t last)
{
    bench_case *b = context;
    for (int64_t i = first; i < last; i++) {
        const sinew_ray ray = ray_of(b->ask, i);
        sinew_ray_hit hit;
        if (sinew_tree_ray(b->tree, &ray, &hit))
            b->check[member] += (double)hit.t;
    }
}

static void run_any(void *context, int32_t member, int64_t first, int64_t last)
{
    bench_case *b = context;
    for (int64_t i = first; i < last; i++) {
        const sinew_ray ray = ray_of(b->ask, i);
        b->check[member] += sinew_tree_ray_any(b->tree, &ray);
    }
}

static void run_nearest(void *context, int32_t member, int64_t first, int64_t last)
{
    bench_case *b = context;
    for (int64_t i = first; i < last; i += 32) {
        const int64_t count = last - i < 32 ? last - i : 32;
        sinew_tree_nearest(b->tree, count, b->ask->points + 3 * i, NULL, b->ask->nearest + i);
        for (int64_t j = i; j < i + count; j++)
            b->check[member] += (double)b->ask->nearest[j].distance;
    }
}

static void run_winding(void *context, int32_t member, int64_t first, int64_t last)
{
    bench_case *b = context;
    for (int64_t i = first; i < last; i += 32) {
        const int64_t count = last - i < 32 ? last - i : 32;
        sinew_tree_winding(b->tree, count, b->ask->points + 3 * i, b->ask->windings + i);
        for (int64_t j = i; j < i + count; j++)
            b->check[member] += (double)b->ask->windings[j];
    }
}

static void run_peer_rays(void *context, int32_t member, int64_t first, int64_t last)
{
    bench_case *b = context;
    for (int64_t i = first; i < last; i++) {
        float t;
        if (tree_peer_ray(b->peer, b->ask->origins + 3 * i, b->ask->directions + 3 * i, &t) >= 0)
            b->check[member] += (double)t;
    }
}

static void run_peer_any(void *context, int32_t member, int64_t first, int64_t last)
{
    bench_case *b = context;
    for (int64_t i = first; i < last; i++)
        b->check[member] += tree_peer_any(b->peer, b->ask->origins + 3 * i, b->ask->directions + 3 * i);
}

static void run_peer_nearest(void *context, int32_t member, int64_t first, int64_t last)
{
    bench_case *b = context;
    for (int64_t i = first; i < last; i++) {
        float distance;
        tree_peer_nearest(b->peer, b->ask->origins + 3 * i, &distance);
        b->check[member] += (double)distance;
    }
}

/* ---- Timing ------------------------------------------------------------------------------------ */

typedef struct row {
    const char *name;
    ask_one *ask;
    sinew_range_call *run, *peer; /* peer NULL: Embree has no such query */
} row;

static const row rows[] = {
    {"rays, coherent", ask_camera, run_rays, run_peer_rays},
    {"rays, incoherent", ask_anywhere, run_rays, run_peer_rays},
    {"any hit, incoherent", ask_anywhere, run_any, run_peer_any},
    {"nearest, near", ask_near, run_nearest, run_peer_nearest},
    {"nearest, far", ask_far, run_nearest, run_peer_nearest},
    {"winding number", ask_far, run_winding, NULL},
};

/* Seconds of all queries, and the sum of their results. */
static double time_once(bench_case *b, sinew_range_call *run, double *check)
{
    double (*now)(void) = b->threads == 1 ? bench_processor_seconds : sinew_seconds;
    memset(b->check, 0, sizeof b->check);
    const double began = now();
    sinew_run_range(b->threads, QUESTIONS, BLOCK, run, b);
    const double seconds = now() - began;
    *check = 0;
    for (int i = 0; i < 64; i++)
        *check += b->check[i];
    return seconds;
}

static void time_row(bench_case *b, const row *r)
{
    double own = HUGE_VAL, peer = HUGE_VAL, check = 0, peer_check = 0;
    for (int i = 0; i <= REPEATS; i++) {
        const double seconds = time_once(b, r->run, &check);
        const double other = r->peer && b->peer ? time_once(b, r->peer, &peer_check) : HUGE_VAL;
        own = i ? fmin(own, seconds) : own; /* the first run is a warm-up */
        peer = i ? fmin(peer, other) : peer;
    }
    printf("  %-20s %d thread%s %8.3f M/s", r->name, b->threads, b->threads > 1 ? "s" : " ", 1e-6 * QUESTIONS / own);
    if (isfinite(peer))
        printf("   Embree %8.3f M/s   ratio %.2f   (sums of answers differ by %.1e)", 1e-6 * QUESTIONS / peer,
               peer / own, fabs(check / peer_check - 1));
    printf("\n");
    fflush(stdout);
}

static sinew_tree *build(const model *m, int32_t threads)
{
    sinew_tree_def def = sinew_default_tree_def();
    def.vertex_count = m->vertex_count;
    def.positions = m->positions;
    def.cell_count = m->cell_count;
    def.cells = m->cells;
    def.thread_count = threads;
    sinew_error error;
    sinew_tree *tree = sinew_tree_create(&def, &error);
    if (!tree) {
        fprintf(stderr, "bench_tree: %s\n", error.text);
        exit(1);
    }
    return tree;
}

static void time_building(const model *m, int32_t threads)
{
    double own = HUGE_VAL, refit = HUGE_VAL, peer = HUGE_VAL;
    double (*now)(void) = threads == 1 ? bench_processor_seconds : sinew_seconds;
    for (int i = 0; i < REPEATS; i++) {
        double began = now();
        sinew_tree *tree = build(m, threads);
        own = fmin(own, now() - began);
        began = now();
        sinew_tree_refit(tree, m->positions, NULL);
        refit = fmin(refit, now() - began);
        sinew_tree_destroy(tree);
        began = sinew_seconds(); /* Embree builds on its own threads */
        tree_peer *other = tree_peer_create(threads, m->vertex_count, m->floats, m->cell_count, m->cells);
        if (other) {
            peer = fmin(peer, sinew_seconds() - began);
            tree_peer_destroy(other);
        }
    }
    printf("  %-20s %d thread%s %8.3f s, refit %.3f s", "build", threads, threads > 1 ? "s" : " ", own, refit);
    if (isfinite(peer))
        printf("   Embree %.3f s", peer);
    printf("\n");
    fflush(stdout);
}

static void bench_model(const model *m, const questions *q)
{
    for (int32_t i = 0; i < 3 * m->vertex_count; i++)
        m->floats[i] = (float)m->positions[i];
    printf("%s, %d triangles, %s precision\n", m->name, m->cell_count, SINEW_PRECISION);
    for (int32_t threads = 1; threads <= 2; threads++)
        time_building(m, threads);
    bench_case b = {.tree = build(m, 2), .ask = q};
    tree_peer *peer = tree_peer_create(1, m->vertex_count, m->floats, m->cell_count, m->cells);
    b.peer = peer;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        questions filled = *q;
        fill_questions(m, rows[i].ask, &filled);
        for (b.threads = 1; b.threads <= 2; b.threads++)
            time_row(&b, &rows[i]);
    }
    if (peer)
        tree_peer_destroy(peer);
    sinew_tree_destroy((sinew_tree *)b.tree);
}

int main(void)
{
    const questions q = {capacity(3 * QUESTIONS, sizeof(float)), capacity(3 * QUESTIONS, sizeof(float)),
                         capacity(3 * QUESTIONS, sizeof(sinew_real)), capacity(QUESTIONS, sizeof(sinew_tree_point)),
                         capacity(QUESTIONS, sizeof(sinew_real))};
    model models[2] = {make_ball(), make_soup()};
    for (int i = 0; i < 2; i++) {
        bench_model(&models[i], &q);
        free(models[i].positions);
        free(models[i].floats);
        free(models[i].cells);
    }
    free(q.origins);
    free(q.directions);
    free(q.points);
    free(q.nearest);
    free(q.windings);
    return 0;
}
