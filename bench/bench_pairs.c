/* SPDX-License-Identifier: MIT
 *
 * bench_pairs.c: candidate pairs, detection passes, time and memory of steps with contact, for scenes whose number of
 * vertices grows while the number of contacts does not.
 *
 * Each row is one phase of a scene: flight, impact, rest. Columns: candidate pairs of the largest pass of a step per
 * vertex, active contacts, detection passes a step, processor time of a step and of a step's detection per vertex, and
 * the largest memory of the world so far. One thread; the means are over the steps of the phase.
 *
 * Usage: bench_pairs [--long] [BEGINNING OF A SCENE'S NAME]
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "sinew/contact.h"
#include "sinew/scene.h"
#include "sinew/sinew.h"

#define TEXT_MAX 400000

typedef struct phase {
    const char *name;
    int steps;
} phase;

typedef struct scene {
    const char *name;
    void (*write)(char *text, int n, const char *thickness);
    int n; /* vertices along a side of a cloth, or number of boxes */
    const char *thickness;
    phase phases[3];
    bool is_long;
} scene;

/* ---- Memory ------------------------------------------------------------------------------------ */

typedef struct bench_memory {
    size_t now, most; /* bytes */
} bench_memory;

#define HEADER 64 /* bytes before each block: its size and alignment */

static void *memory_allocate(void *context, size_t size, size_t alignment)
{
    bench_memory *m = context;
    const size_t ahead = alignment > HEADER ? alignment : HEADER;
    char *block = aligned_alloc(ahead, (size + ahead + ahead - 1) / ahead * ahead);
    if (!block)
        return NULL;
    m->now += size;
    m->most = m->now > m->most ? m->now : m->most;
    ((size_t *)(void *)(block + ahead))[-1] = size;
    ((size_t *)(void *)(block + ahead))[-2] = ahead;
    return block + ahead;
}

static void memory_release(void *context, void *memory)
{
    bench_memory *m = context;
    if (!memory)
        return;
    m->now -= ((size_t *)memory)[-1];
    free((char *)memory - ((size_t *)memory)[-2]);
}

/* ---- Scenes ------------------------------------------------------------------------------------ */

static void add_text(char *text, const char *more)
{
    strncat(text, more, TEXT_MAX - strlen(text) - 1);
}

static void add_cloth(char *text, const char *name, int n, double side, const double place[3])
{
    char body[1200];
    snprintf(
        body, sizeof body,
        "{\"name\": \"%s\", \"mesh\": {\"generator\": \"cloth\", \"vertices\": [%d, %d], \"origin\": [%g, %g, 0], "
        "\"width\": %g, \"length\": %g, \"diagonals\": \"alternating\"}, \"transform\": {\"rotate\": {\"axis\": "
        "\"x\", \"angle\": \"-90 deg\"}, \"translate\": [%g, %g, %g]}, \"density\": 0.2, \"energies\": [{\"energy\": "
        "\"triangle_strain\", \"stiffness\": 1000, \"damping\": 0.002}, {\"energy\": \"isometric\", \"rigidity\": "
        "1.5e-4}]}",
        name, n, n, -side / 2, -side / 2, side, side, place[0], place[1], place[2]);
    add_text(text, body);
}

static void begin_scene(char *text, int iterations, const char *thickness)
{
    char head[400];
    snprintf(head, sizeof head,
             "{\"sinew\": 1, \"time_step\": 0.00833333333, \"damping\": 0.5, \"solver\": {\"name\": \"xpbd\", "
             "\"iterations\": %d, \"measure\": \"nothing\"}, \"contact\": {\"thickness\": \"%s\", \"friction\": 0.4}, "
             "\"bodies\": [",
             iterations, thickness);
    add_text(text, head);
}

/* scenes/cloth_on_sphere with more vertices and a solver of a fixed cost. */
static void write_cloth(char *text, int n, const char *thickness)
{
    begin_scene(text, 10, thickness);
    add_cloth(text, "cloth", n, 1.2, (const double[3]){0.03, 0.8, 0.02});
    add_text(text,
             "], \"colliders\": [{\"name\": \"ball\", \"shape\": \"sphere\", \"radius\": \"30 cm\", \"position\": [0, "
             "0.4, 0]}, {\"name\": \"floor\", \"shape\": \"plane\"}]}");
}

/* Twenty cloths above each other fall on a floor. */
static void write_layers(char *text, int n, const char *thickness)
{
    begin_scene(text, 10, thickness);
    for (int k = 0; k < 20; k++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", k);
        add_text(text, k ? ", " : "");
        add_cloth(text, name, n, 0.3, (const double[3]){0.004 * (k % 3), 0.08 + 0.004 * k, 0.003 * (k % 4)});
    }
    add_text(text, "], \"colliders\": [{\"name\": \"floor\", \"shape\": \"plane\"}]}");
}

/* Boxes of 216 vertices fall on each other. */
static void write_boxes(char *text, int n, const char *thickness)
{
    begin_scene(text, 10, thickness);
    for (int k = 0; k < n; k++) {
        char body[800];
        snprintf(body, sizeof body,
                 "%s{\"name\": \"b%d\", \"mesh\": {\"generator\": \"box\", \"vertices\": [6, 6, 6], \"size\": [0.1, "
                 "0.1, 0.1]}, "
                 "\"transform\": {\"translate\": [%g, %g, %g]}, \"density\": 1000, \"energies\": [{\"energy\": "
                 "\"neo_hookean\", \"young\": 1e5, \"poisson\": 0.3}]}",
                 k ? ", " : "", k, 0.12 * (k % 5) + 0.01 * (k / 25), 0.1 + 0.12 * (k / 25), 0.12 * (k / 5 % 5));
        add_text(text, body);
    }
    add_text(text, "], \"colliders\": [{\"name\": \"floor\", \"shape\": \"plane\"}]}");
}

static const scene scenes[] = {
    {"cloth 1k", write_cloth, 32, "4 mm", {{"flight", 12}, {"impact", 20}, {"drape", 30}}, false},
    {"cloth 5k", write_cloth, 71, "4 mm", {{"flight", 12}, {"impact", 20}, {"drape", 30}}, false},
    {"cloth 20k", write_cloth, 141, "4 mm", {{"flight", 12}, {"impact", 20}, {"drape", 10}}, false},
    {"cloth 50k", write_cloth, 224, "4 mm", {{"flight", 12}, {"impact", 12}, {"drape", 4}}, true},
    {"thin 20k", write_cloth, 141, "2 mm", {{"flight", 12}, {"impact", 20}, {"drape", 10}}, true},
    {"layers 20x30x30", write_layers, 30, "2 mm", {{"flight", 12}, {"impact", 16}, {"rest", 12}}, false},
    {"boxes 50", write_boxes, 50, "2 mm", {{"flight", 8}, {"impact", 30}, {"rest", 30}}, false},
};

/* ---- Measurement ------------------------------------------------------------------------------- */

static void must(const sinew_error *error)
{
    if (error->status == SINEW_OK)
        return;
    fprintf(stderr, "bench_pairs: %s\n", error->text);
    exit(1);
}

/* Takes the steps of one phase and prints its row. */
static void measure_phase(const scene *s, const phase *p, sinew_scene *loaded, const bench_memory *memory)
{
    sinew_error error = {0};
    sinew_world *world = sinew_scene_world(loaded);
    const double vertices = sinew_world_particle_count(world);
    double pairs = 0, contacts = 0, passes = 0, detection = 0, filtered = 0;
    const double began = bench_processor_seconds();
    for (int i = 0; i < p->steps; i++) {
        sinew_contact_report report;
        sinew_world_step(world, NULL);
        sinew_world_contact_report(world, &report, &error);
        must(&error);
        pairs += (double)report.pairs;
        contacts += report.contacts;
        passes += report.detections;
        detection += report.detection_seconds;
        filtered += report.filtered_vertices;
    }
    const double seconds = bench_processor_seconds() - began;
    printf("%-16s %-7s %9.2f %9.0f %7.1f %8.0f %10.1f %10.2f %8.0f\n", s->name, p->name, pairs / p->steps / vertices,
           contacts / p->steps, passes / p->steps, filtered / p->steps, 1e3 * seconds / p->steps,
           1e6 * detection / p->steps / vertices, (double)memory->most / 1e6);
    fflush(stdout);
}

static void measure(const scene *s)
{
    static char text[TEXT_MAX];
    sinew_error error = {0};
    bench_memory memory = {0};
    text[0] = 0;
    s->write(text, s->n, s->thickness);
    sinew_scene_def def = sinew_default_scene_def();
    def.allocator = (sinew_allocator){memory_allocate, memory_release, &memory};
    def.text = text;
    def.text_size = strlen(text);
    sinew_scene *loaded = sinew_scene_read(&def, &error);
    must(&error);
    for (int k = 0; k < 3; k++)
        measure_phase(s, &s->phases[k], loaded, &memory);
    sinew_scene_destroy(loaded);
}

int main(int argc, char **argv)
{
    const bool is_long = argc > 1 && strcmp(argv[1], "--long") == 0;
    const char *name = argc > 1 + is_long ? argv[1 + is_long] : "";
    printf("%-16s %-7s %9s %9s %7s %8s %10s %10s %8s\n", "scene", "phase", "pairs/v", "contacts", "passes", "held",
           "ms/step", "detect us/v", "MB");
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++)
        if ((is_long || !scenes[i].is_long || name[0]) && strncmp(scenes[i].name, name, strlen(name)) == 0)
            measure(&scenes[i]);
    return 0;
}
