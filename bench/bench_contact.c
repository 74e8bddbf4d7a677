/* SPDX-License-Identifier: MIT
 *
 * bench_contact.c: steps per second with contact, beside Bullet's deformable world on the same meshes, time step and
 * stiffness: soft boxes that fall on a floor and on each other, and a cloth that falls on a sphere.
 *
 * Both take the same steps from the same start, by turns, one thread each, in processor time. Beside the speed stands
 * how deep vertices are inside the floor, the sphere or another box: the deepest of each step, its mean over all steps.
 * Ours are 0 by the guard; a faster code that lets bodies through each other would be no peer.
 */
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "contact_peer.h"
#include "sinew/contact.h"
#include "sinew/sinew.h"

enum {
    STEPS = 120,
    BOXES = 4,
    CELLS = 4, /* along a side of a box */
    CLOTH = 31 /* vertices along a side */
};
#define H         (1.0 / 120)
#define BOX       0.2 /* m */
#define DENSITY   1000.0
#define THICKNESS 2e-3

static void must(const sinew_error *error)
{
    if (error->status == SINEW_OK)
        return;
    fprintf(stderr, "bench_contact: %s\n", error->text);
    exit(1);
}

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* Boxes above each other, each a little aside. */
static bench_touching make_boxes(sinew_real *positions, sinew_mesh **mesh)
{
    sinew_error error = {0};
    sinew_beam_def def = sinew_default_beam_def();
    for (int c = 0; c < 3; c++) {
        def.cells[c] = CELLS;
        def.size[c] = (sinew_real)BOX;
    }
    *mesh = sinew_mesh_beam(&def, &error);
    must(&error);
    const int32_t n = sinew_mesh_vertex_count(*mesh);
    for (int k = 0; k < BOXES; k++)
        for (int32_t i = 0; i < 3 * n; i++) {
            const double move[3] = {0.02 * (k % 2), BOX / 2 + 0.01 + (BOX + 0.02) * k, 0.01 * k};
            positions[3 * n * k + i] = (sinew_real)((double)sinew_mesh_positions(*mesh)[i] + move[i % 3]);
        }
    return (bench_touching){*mesh, BOXES, positions, DENSITY * BOX * BOX * BOX, 1e5, 0.3, 0, 0.5, H, THICKNESS, 0};
}

static bench_touching make_cloth(sinew_real *positions, sinew_mesh **mesh)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    for (int c = 0; c < 2; c++) {
        def.vertices[c] = CLOTH;
        def.size[c] = 1;
        def.origin[c] = (sinew_real)-0.5;
    }
    *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    for (int32_t i = 0; i < sinew_mesh_vertex_count(*mesh); i++) {
        const sinew_real *X = sinew_mesh_positions(*mesh) + 3 * (size_t)i;
        positions[3 * i] = X[0] + (sinew_real)0.01;
        positions[3 * i + 1] = (sinew_real)0.32;
        positions[3 * i + 2] = -X[1];
    }
    return (bench_touching){*mesh, 1, positions, 0.2, 0, 0, 100, 0.5, H, THICKNESS, 0.3};
}

/* ---- Ours ------------------------------------------------------------------------------------ */

static void add_bodies(sinew_world *world, const bench_touching *scene)
{
    sinew_error error = {0};
    const size_t n = (size_t)sinew_mesh_vertex_count(scene->mesh);
    const bool tets = sinew_mesh_tet_count(scene->mesh) > 0;
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_real *masses = sinew_allocate(&allocator, n, sizeof *masses);
    for (size_t i = 0; masses && i < n; i++)
        masses[i] = (sinew_real)(scene->mass / (double)n);
    for (int32_t k = 0; k < scene->body_count; k++) {
        sinew_body_def def = sinew_default_body_def();
        def.mesh = scene->mesh;
        def.masses = masses;
        def.positions = scene->positions + 3 * n * (size_t)k;
        sinew_energy_def energy = sinew_default_energy_def(tets ? SINEW_ENERGY_NEO_HOOKEAN : SINEW_ENERGY_SPRING);
        energy.body = sinew_world_add_body(world, &def, &error);
        must(&error);
        energy.parameters[0] = (sinew_real)(tets ? scene->young : scene->spring);
        if (tets)
            energy.parameters[1] = (sinew_real)scene->poisson;
        sinew_world_add_energy(world, &energy, &error);
        must(&error);
    }
    sinew_release(&allocator, masses);
}

static sinew_world *make_world(const bench_touching *scene, sinew_solver_kind solver, int32_t iterations)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)scene->h;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = iterations;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = sinew_world_create(&def, &error);
    must(&error);
    add_bodies(world, scene);
    sinew_collider_def collider =
        sinew_default_collider_def(scene->radius > 0 ? SINEW_SHAPE_SPHERE : SINEW_SHAPE_PLANE);
    collider.radius = scene->radius > 0 ? (sinew_real)scene->radius : collider.radius;
    sinew_world_add_collider(world, &collider, &error);
    must(&error);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)scene->thickness;
    contact.friction = (sinew_real)scene->friction;
    sinew_world_set_contact(world, &contact, &error);
    must(&error);
    return world;
}

/* ---- Depths ---------------------------------------------------------------------------------- */

static double volume_of(const double *a, const double *b, const double *c, const double *d)
{
    double e[3][3];
    for (int i = 0; i < 3; i++) {
        e[0][i] = b[i] - a[i];
        e[1][i] = c[i] - a[i];
        e[2][i] = d[i] - a[i];
    }
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static double area_of(const double *a, const double *b, const double *c) /* twice the area */
{
    const double u[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, v[3] = {c[0] - a[0], c[1] - a[1], c[2] - a[2]};
    return sqrt(pow(u[1] * v[2] - u[2] * v[1], 2) + pow(u[2] * v[0] - u[0] * v[2], 2) +
                pow(u[0] * v[1] - u[1] * v[0], 2));
}

/* m: how far x is from the nearest face of a tet that it is in; 0: it is not. */
static double depth_in_tet(const double *x, const double *const p[4])
{
    double depth = HUGE_VAL;
    for (int a = 0; a < 4; a++) {
        const double *q[4] = {p[0], p[1], p[2], p[3]};
        q[a] = x;
        const double volume = volume_of(q[0], q[1], q[2], q[3]);
        depth = fmin(depth, volume / area_of(p[(a + 1) % 4], p[(a + 2) % 4], p[(a + 3) % 4]));
    }
    return fmax(depth, 0);
}

static double depth_in_bodies(const bench_touching *scene, const double *x)
{
    const int32_t n = sinew_mesh_vertex_count(scene->mesh), tets = sinew_mesh_tet_count(scene->mesh);
    double most = 0;
    for (int32_t i = 0; i < n * scene->body_count; i++)
        for (int32_t t = 0; t < tets * scene->body_count; t++) {
            if (i / n == t / tets)
                continue;
            const int32_t *v = sinew_mesh_tets(scene->mesh) + 4 * (size_t)(t % tets);
            const double *p[4];
            for (int a = 0; a < 4; a++)
                p[a] = x + 3 * (size_t)(v[a] + n * (t / tets));
            if (fabs(p[0][1] - x[3 * i + 1]) < BOX)
                most = fmax(most, depth_in_tet(x + 3 * (size_t)i, p));
        }
    return most;
}

/* m: the deepest vertex in what it should not be in. */
static double depth_of(const bench_touching *scene, const double *x)
{
    const int32_t count = scene->body_count * sinew_mesh_vertex_count(scene->mesh);
    double most = depth_in_bodies(scene, x);
    for (int32_t i = 0; i < count; i++) {
        const double *p = x + 3 * (size_t)i;
        const double depth = scene->radius > 0 ? scene->radius - sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) : -p[1];
        most = fmax(most, depth);
    }
    return most;
}

/* ---- Rows ------------------------------------------------------------------------------------ */

typedef struct row {
    double seconds; /* of all steps */
    double depth;   /* m: mean over the steps */
    double height;  /* m: mean of all vertices at the end */
} row;

static void take_positions(row *r, const bench_touching *scene, const double *x)
{
    const int32_t count = scene->body_count * sinew_mesh_vertex_count(scene->mesh);
    r->depth += depth_of(scene, x) / STEPS;
    r->height = 0;
    for (int32_t i = 0; i < count; i++)
        r->height += x[3 * i + 1] / count;
}

static row run_peer(const bench_touching *scene, double *x)
{
    row r = {0};
    void *own = bench_bullet(scene);
    for (int i = 0; own && i < STEPS; i++) {
        const double began = bench_processor_seconds();
        bench_bullet_step(own);
        r.seconds += bench_processor_seconds() - began;
        bench_bullet_positions(own, x);
        take_positions(&r, scene, x);
    }
    if (own)
        bench_bullet_destroy(own);
    return r;
}

static row run_ours(const bench_touching *scene, sinew_solver_kind solver, int32_t iterations, double *x, sinew_real *q)
{
    row r = {0};
    sinew_world *world = make_world(scene, solver, iterations);
    const int32_t count = sinew_world_particle_count(world);
    for (int i = 0; i < STEPS; i++) {
        const double began = bench_processor_seconds();
        sinew_world_step(world, NULL);
        r.seconds += bench_processor_seconds() - began;
        sinew_world_get_positions(world, 0, count, q);
        for (int32_t k = 0; k < 3 * count; k++)
            x[k] = (double)q[k];
        take_positions(&r, scene, x);
    }
    sinew_world_destroy(world);
    return r;
}

static void print_row(const char *name, const row *r, const row *peer)
{
    printf("%-24s %9.1f steps/s   mean depth %8.3f mm   mean height %.3f m", name, STEPS / r->seconds, 1e3 * r->depth,
           r->height);
    if (peer && peer->seconds > 0)
        printf("   %6.2f of Bullet's speed", peer->seconds / r->seconds);
    printf("\n");
    fflush(stdout);
}

static void compare(const char *name, const bench_touching *scene, double *x, sinew_real *q)
{
    static const struct {
        const char *name;
        sinew_solver_kind solver;
        int32_t iterations;
    } ours[] = {{"pbng, 5 iterations", SINEW_SOLVER_PBNG, 5},
                {"pbng, 20 iterations", SINEW_SOLVER_PBNG, 20},
                {"xpbd, 5 iterations", SINEW_SOLVER_XPBD, 5},
                {"xpbd, 20 iterations", SINEW_SOLVER_XPBD, 20}};
    printf("%s: %d vertices, %d tets, %d steps of 1/%.0f s\n", name,
           scene->body_count * sinew_mesh_vertex_count(scene->mesh),
           scene->body_count * sinew_mesh_tet_count(scene->mesh), STEPS, 1 / scene->h);
    const row peer = run_peer(scene, x);
    if (peer.seconds > 0)
        print_row("Bullet, deformable", &peer, NULL);
    else
        printf("Bullet is left out: install libbullet-dev\n");
    for (size_t k = 0; k < sizeof ours / sizeof ours[0]; k++) {
        const row r = run_ours(scene, ours[k].solver, ours[k].iterations, x, q);
        print_row(ours[k].name, &r, &peer);
    }
}

int main(void)
{
    enum {
        MOST = 3 * CLOTH * CLOTH
    };
    static sinew_real start[MOST], q[MOST];
    static double x[MOST];
    sinew_mesh *mesh;
    bench_touching scene = make_boxes(start, &mesh);
    compare("boxes on a floor", &scene, x, q);
    sinew_mesh_destroy(mesh);
    scene = make_cloth(start, &mesh);
    compare("cloth on a sphere", &scene, x, q);
    sinew_mesh_destroy(mesh);
    return 0;
}
