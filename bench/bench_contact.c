/* SPDX-License-Identifier: MIT
 *
 * bench_contact.c: steps per second with contact, compared with Bullet's deformable world on the same meshes, masses,
 * energies and time step: soft boxes that fall on a floor and on each other, and a cloth that falls on a sphere.
 *
 * Both take the same steps from the same start, one thread each, in processor time. Every fifth state of both is
 * evaluated by the same code: the largest depth of a vertex inside the floor, the sphere or another box, and the
 * distance of shapes from those of a tightly solved newton. Each solver of the library gets the fewest iterations that
 * keep both at or below Bullet's. Bullet is validated first: a box must fall freely like implicit Euler, and a hanging
 * box must sag like newton's.
 *
 * Usage: bench_contact [FILE]; rows are also written to a CSV file.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "contact_peer.h"
#include "contact_reference.h"
#include "sinew/contact.h"
#include "sinew/sinew.h"

enum {
    STEPS = 120,
    EVERY = 5, /* number of steps between evaluated states */
    DETECTIONS = STEPS / EVERY,
    BOXES = 2,
    CELLS = 6,  /* cells along a side of a box */
    CLOTH = 41, /* vertices along a side of the cloth */
    TURNS = 2   /* repetitions of each row; the fastest counts */
};
#define H         (1.0 / 120)
#define BOX       0.2 /* m */
#define DENSITY   1000.0
#define THICKNESS 2e-3
#define GRAVITY   9.81
#define DAMPING   0.01 /* s: damping of Bullet's explicit steps, which need more than h/2 */

static void must(const sinew_error *error)
{
    if (error->status == SINEW_OK)
        return;
    fprintf(stderr, "bench_contact: %s\n", error->text);
    exit(1);
}

static void *capacity(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (memory)
        return memory;
    fprintf(stderr, "bench_contact: out of memory\n");
    exit(1);
}

static size_t numbers(const bench_touching *scene)
{
    return 3 * (size_t)sinew_mesh_vertex_count(scene->mesh) * (size_t)scene->body_count;
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* Boxes above each other, with small sideways offsets. */
static bench_touching make_boxes(int32_t count)
{
    sinew_error error = {0};
    sinew_beam_def def = sinew_default_beam_def();
    for (int c = 0; c < 3; c++) {
        def.cells[c] = CELLS;
        def.size[c] = (sinew_real)BOX;
    }
    sinew_mesh *mesh = sinew_mesh_beam(&def, &error);
    must(&error);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *positions = capacity(3 * (size_t)n * (size_t)count, sizeof *positions);
    double low = HUGE_VAL;
    for (int32_t i = 0; i < n; i++)
        low = fmin(low, (double)sinew_mesh_positions(mesh)[3 * i + 1]);
    for (int32_t k = 0; k < count; k++)
        for (int32_t i = 0; i < 3 * n; i++) {
            const double move[3] = {0.02 * (k % 2), 0.01 - low + (BOX + 0.01) * k, 0.01 * k};
            positions[3 * n * k + i] = (sinew_real)((double)sinew_mesh_positions(mesh)[i] + move[i % 3]);
        }
    return (bench_touching){.mesh = mesh,
                            .body_count = count,
                            .positions = positions,
                            .mass = DENSITY * BOX * BOX * BOX,
                            .young = 1e5,
                            .poisson = 0.3,
                            .friction = 0.5,
                            .h = H,
                            .thickness = THICKNESS};
}

static bench_touching make_cloth(void)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    for (int c = 0; c < 2; c++) {
        def.vertices[c] = CLOTH;
        def.size[c] = 1;
        def.origin[c] = (sinew_real)-0.5;
    }
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    sinew_real *positions = capacity(3 * (size_t)sinew_mesh_vertex_count(mesh), sizeof *positions);
    for (int32_t i = 0; i < sinew_mesh_vertex_count(mesh); i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        positions[3 * i] = X[0] + (sinew_real)0.01;
        positions[3 * i + 1] = (sinew_real)0.31;
        positions[3 * i + 2] = -X[1];
    }
    return (bench_touching){.mesh = mesh,
                            .body_count = 1,
                            .positions = positions,
                            .mass = 0.2,
                            .spring = 100,
                            .damping = DAMPING,
                            .friction = 0.5,
                            .h = H,
                            .thickness = THICKNESS,
                            .radius = 0.3};
}

static void release_scene(bench_touching *scene)
{
    free((void *)scene->positions);
    sinew_mesh_destroy((sinew_mesh *)scene->mesh);
}

/* ---- The library ----------------------------------------------------------------------------- */

/* Pins the vertices at the highest point of the first body. */
static void hold(sinew_world *world, const bench_touching *scene, sinew_body body)
{
    sinew_error error = {0};
    const int32_t n = sinew_mesh_vertex_count(scene->mesh);
    int32_t *vertices = capacity((size_t)n, sizeof *vertices);
    sinew_real top = scene->positions[1];
    sinew_pin_def pin = sinew_default_pin_def();
    for (int32_t i = 0; i < n; i++)
        top = scene->positions[3 * i + 1] > top ? scene->positions[3 * i + 1] : top;
    for (int32_t i = 0; i < n; i++)
        if (scene->positions[3 * i + 1] >= top)
            vertices[pin.vertex_count++] = i;
    pin.body = body;
    pin.vertices = vertices;
    sinew_world_add_pins(world, &pin, &error);
    must(&error);
    free(vertices);
}

static void add_bodies(sinew_world *world, const bench_touching *scene)
{
    sinew_error error = {0};
    const size_t n = (size_t)sinew_mesh_vertex_count(scene->mesh);
    const bool tets = sinew_mesh_tet_count(scene->mesh) > 0;
    sinew_real *masses = capacity(n, sizeof *masses);
    for (size_t i = 0; i < n; i++)
        masses[i] = (sinew_real)(scene->mass / (double)n);
    for (int32_t k = 0; k < scene->body_count; k++) {
        sinew_body_def def = sinew_default_body_def();
        def.mesh = scene->mesh;
        def.masses = masses;
        def.positions = scene->positions + 3 * n * (size_t)k;
        sinew_energy_def energy =
            sinew_default_energy_def(tets ? SINEW_ENERGY_STABLE_NEO_HOOKEAN : SINEW_ENERGY_SPRING);
        energy.body = sinew_world_add_body(world, &def, &error);
        must(&error);
        energy.parameters[0] = (sinew_real)(tets ? scene->young : scene->spring);
        if (tets)
            energy.parameters[1] = (sinew_real)scene->poisson;
        energy.damping = (sinew_real)scene->damping;
        sinew_world_add_energy(world, &energy, &error);
        must(&error);
        if (scene->hangs && k == 0)
            hold(world, scene, energy.body);
    }
    free(masses);
}

static void add_contact(sinew_world *world, const bench_touching *scene, bool filtered)
{
    sinew_error error = {0};
    sinew_collider_def collider =
        sinew_default_collider_def(scene->radius > 0 ? SINEW_SHAPE_SPHERE : SINEW_SHAPE_PLANE);
    collider.radius = scene->radius > 0 ? (sinew_real)scene->radius : collider.radius;
    sinew_world_add_collider(world, &collider, &error);
    must(&error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.self = false; /* Bullet's bodies have no self-contact either */
    contact.intersection_free = filtered;
    contact.thickness = (sinew_real)scene->thickness;
    contact.friction = (sinew_real)scene->friction;
    sinew_world_set_contact(world, &contact, &error);
    must(&error);
}

static sinew_world *make_world(const bench_touching *scene, const sinew_solver_def *solver, bool filtered)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)scene->h;
    def.gravity[1] = (sinew_real)-GRAVITY;
    def.solver = *solver;
    sinew_world *world = sinew_world_create(&def, &error);
    must(&error);
    add_bodies(world, scene);
    if (scene->radius >= 0)
        add_contact(world, scene, filtered);
    return world;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct row {
    double seconds; /* s, all steps */
    double depth;   /* m, depth of the deepest vertex, averaged over the evaluated states */
    double deepest; /* m, largest depth over the evaluated states */
    double shape;   /* m, root mean square distance from the reference's shapes, averaged over the states */
} row;

/* Evaluates a state. With is_reference it also becomes the reference state of this index. */
static void detection(row *r, const bench_touching *scene, int index, const double *x, double *reference,
                      bool is_reference)
{
    double *own = reference + numbers(scene) * (size_t)index;
    if (is_reference)
        memcpy(own, x, numbers(scene) * sizeof *own);
    const double depth = reference_depth(scene, x);
    r->depth += depth / DETECTIONS;
    r->deepest = fmax(r->deepest, depth);
    r->shape += reference_shape(scene, x, own) / DETECTIONS;
}

static row run_peer(const bench_touching *scene, double *reference)
{
    row r = {0};
    double *x = capacity(numbers(scene), sizeof *x);
    void *own = bench_bullet(scene);
    for (int i = 0; own && i < STEPS; i++) {
        const double began = bench_processor_seconds();
        bench_bullet_step(own);
        r.seconds += bench_processor_seconds() - began;
        if (i % EVERY != EVERY - 1)
            continue;
        bench_bullet_positions(own, x);
        detection(&r, scene, i / EVERY, x, reference, false);
    }
    if (own)
        bench_bullet_destroy(own);
    free(x);
    return r;
}

static void get_positions(const sinew_world *world, const bench_touching *scene, double *x)
{
    sinew_real *q = capacity(numbers(scene), sizeof *q);
    sinew_world_get_positions(world, 0, (int32_t)(numbers(scene) / 3), q);
    for (size_t i = 0; i < numbers(scene); i++)
        x[i] = (double)q[i];
    free(q);
}

static row run_ours(const bench_touching *scene, const sinew_solver_def *solver, bool filtered, double *reference,
                    bool is_reference)
{
    row r = {0};
    double *x = capacity(numbers(scene), sizeof *x);
    sinew_world *world = make_world(scene, solver, filtered);
    for (int i = 0; i < STEPS; i++) {
        const double began = bench_processor_seconds();
        sinew_world_step(world, NULL);
        r.seconds += bench_processor_seconds() - began;
        if (i % EVERY != EVERY - 1)
            continue;
        get_positions(world, scene, x);
        detection(&r, scene, i / EVERY, x, reference, is_reference);
    }
    sinew_world_destroy(world);
    free(x);
    return r;
}

static sinew_solver_def tight_newton(void)
{
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.iterations = 15;
    def.tolerance = (sinew_real)(sizeof(sinew_real) == sizeof(float) ? 1e-3 : 1e-6);
    def.measure = SINEW_MEASURE_RESIDUAL;
    return def;
}

/* ---- Validation of Bullet -------------------------------------------------------------------- */

static double mean_height(const bench_touching *scene, const double *x)
{
    double sum = 0;
    for (size_t i = 0; i < numbers(scene); i += 3)
        sum += x[i + 1];
    return 3 * sum / (double)numbers(scene);
}

/* m: descent of the mean of all vertices after a run; of Bullet, or of the library if a solver is given. */
static double fall(const bench_touching *scene, const sinew_solver_def *solver)
{
    double *x = capacity(numbers(scene), sizeof *x), start = 0;
    for (size_t i = 0; i < numbers(scene); i += 3)
        start += 3 * (double)scene->positions[i + 1] / (double)numbers(scene);
    if (solver) {
        sinew_world *world = make_world(scene, solver, true);
        for (int i = 0; i < STEPS; i++)
            sinew_world_step(world, NULL);
        get_positions(world, scene, x);
        sinew_world_destroy(world);
    } else {
        void *own = bench_bullet(scene);
        for (int i = 0; i < STEPS; i++)
            bench_bullet_step(own);
        bench_bullet_positions(own, x);
        bench_bullet_destroy(own);
    }
    const double end = mean_height(scene, x);
    free(x);
    return start - end;
}

static void check_peer(void)
{
    const sinew_solver_def newton = tight_newton();
    bench_touching scene = make_boxes(1);
    scene.radius = -1;
    printf("Bullet alone: a box falls %.4f m in %d steps (implicit Euler: %.4f m)", fall(&scene, NULL), STEPS,
           GRAVITY * H * H * STEPS * (STEPS + 1) / 2);
    scene.hangs = true;
    printf("; one that hangs sags by %.3f mm (newton: %.3f mm)\n", 1e3 * fall(&scene, NULL),
           1e3 * fall(&scene, &newton));
    release_scene(&scene);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static double max_shape(const bench_touching *scene) /* m */
{
    return scene->radius > 0 ? 0.05 : 0.01 * BOX;
}

static void print_row(FILE *csv, const char *scene, const char *name, int32_t iterations, const row *r, const row *peer)
{
    const double speed = STEPS / r->seconds, gain = peer->seconds / r->seconds;
    char title[64];
    snprintf(title, sizeof title, iterations > 0 ? "%s, %d iterations" : "%s", name, iterations);
    printf("  %-29s %8.1f steps/s  deepest vertex: mean %7.4f mm, most %7.4f mm  shapes off by %7.3f mm", title, speed,
           1e3 * r->depth, 1e3 * r->deepest, 1e3 * r->shape);
    if (peer->seconds > 0)
        printf("  %6.2f x Bullet", gain);
    printf("\n");
    fflush(stdout);
    if (csv)
        fprintf(csv, "%s,%s,%s,%d,%.6g,%.6g,%.6g,%.6g,%.6g\n", scene, SINEW_PRECISION, name, iterations, speed,
                r->depth, r->deepest, r->shape, gain);
}

/* True if depths and shape distances are at most Bullet's; the limits are 2 mm for boxes and 50 mm for cloth. */
static bool holds_beside(const bench_touching *scene, const row *r, const row *peer)
{
    return r->depth <= peer->depth && r->shape <= fmin(peer->shape, max_shape(scene));
}

/* The fewest iterations, with or without the step filter (Bullet has none), that reach Bullet's depths and shapes. */
static void search(FILE *csv, const char *scene_name, const bench_touching *scene, sinew_solver_kind kind,
                   bool filtered, const row *peer, double *reference)
{
    static const int32_t counts[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48};
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.measure = SINEW_MEASURE_NOTHING;
    char name[32];
    snprintf(name, sizeof name, "%s%s", sinew_get_solver_info(kind)->name, filtered ? "" : " unfiltered");
    row r = {0};
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
        def.iterations = counts[k];
        r = run_ours(scene, &def, filtered, reference, false);
        if (!holds_beside(scene, &r, peer))
            continue;
        for (int turn = 1; turn < TURNS; turn++)
            r.seconds = fmin(r.seconds, run_ours(scene, &def, filtered, reference, false).seconds);
        print_row(csv, scene_name, name, counts[k], &r, peer);
        return;
    }
    printf("  %-29s not as good as Bullet with %d iterations: depth %.4f mm, shapes off by %.3f mm\n", name,
           def.iterations, 1e3 * r.depth, 1e3 * r.shape);
}

static void compare(FILE *csv, const char *name, bench_touching *scene)
{
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBNG, SINEW_SOLVER_QN};
    printf("%s: %d vertices, %d tets, %d steps of 1/%.0f s, %s precision (Bullet: 32-bit), one thread\n", name,
           (int)(numbers(scene) / 3), scene->body_count * sinew_mesh_tet_count(scene->mesh), STEPS, 1 / scene->h,
           SINEW_PRECISION);
    double *reference = capacity(numbers(scene) * DETECTIONS, sizeof *reference);
    const sinew_solver_def newton = tight_newton();
    run_ours(scene, &newton, true, reference, true);
    row peer = run_peer(scene, reference);
    for (int turn = 1; turn < TURNS; turn++)
        peer.seconds = fmin(peer.seconds, run_peer(scene, reference).seconds);
    print_row(csv, name, "Bullet", 0, &peer, &peer);
    if (!(peer.shape <= 10 * max_shape(scene)))
        printf("  (Bullet's bodies lose their shapes here: its speed says nothing)\n");
    for (int filtered = 1; filtered >= 0; filtered--)
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
            search(csv, name, scene, kinds[k], filtered, &peer, reference);
    free(reference);
    release_scene(scene);
}

int main(int argc, char **argv)
{
    bench_touching scene = make_boxes(1);
    void *peer = bench_bullet(&scene);
    if (!peer) {
        printf("bench_contact: Bullet is not there to compare with: install libbullet-dev\n");
        release_scene(&scene);
        return 0;
    }
    bench_bullet_destroy(peer);
    FILE *csv = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (csv)
        fprintf(csv, "scene,precision,code,iterations,steps_per_second,mean_depth,most_depth,shape,times_bullet\n");
    check_peer();
    compare(csv, "one box on a floor", &scene);
    scene = make_boxes(BOXES);
    scene.damping = DAMPING;
    compare(csv, "two boxes on each other", &scene);
    scene = make_cloth();
    compare(csv, "cloth on a sphere", &scene);
    if (csv)
        fclose(csv);
    return 0;
}
