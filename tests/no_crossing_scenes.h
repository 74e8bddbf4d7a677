/* SPDX-License-Identifier: MIT
 *
 * no_crossing_scenes.h: four scenes in which bodies meet colliders, each other and themselves, of energies that every
 * solver supports: a cloth on a sphere, a towel that is wrung, a knot that is pulled tight, jelly in a box.
 *
 * One Young's modulus E sets the stiffness of all: tets have E, cloth has E x 1 cm (N/m), rope has E x 10 cm2 (N). At E
 * = 1e3 the jelly collapses under its own weight; it must not intersect either.
 */
#ifndef SINEW_NO_CROSSING_SCENES_H
#define SINEW_NO_CROSSING_SCENES_H

#include "make_world.h"
#include "sinew/contact.h"

typedef struct tight_scene {
    const char *name;
    void (*fill)(sinew_world *world, double E);
    double thickness;    /* m */
    double drop;         /* m: distance of free fall before the first contact; 0: the body is held */
    const char *referee; /* options that describe the colliders to tools/crossings */
} tight_scene;

/* ---- Parts ------------------------------------------------------------------------------------- */

static inline void add_energy_of(sinew_world *world, sinew_body body, sinew_energy_kind kind, double stiffness)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = body;
    def.parameters[0] = (sinew_real)stiffness;
    def.damping = (sinew_real)2e-3;
    add_energy(world, &def);
}

static inline void add_collider(sinew_world *world, const sinew_collider_def *def)
{
    sinew_error error = {0};
    sinew_world_add_collider(world, def, &error);
    must(&error);
}

/* A cloth in the plane z = 0 around the origin. */
static inline sinew_mesh *make_cloth(int nx, int ny, double width, double length)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = nx;
    def.vertices[1] = ny;
    def.size[0] = (sinew_real)width;
    def.size[1] = (sinew_real)length;
    def.origin[0] = (sinew_real)(-width / 2);
    def.origin[1] = (sinew_real)(-length / 2);
    def.diagonals = SINEW_DIAGONALS_ALTERNATING;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    return mesh;
}

/* Pins vertices that move along x by `way` and rotate about x through `pivot` by `angle` within a second. */
static inline void add_moving_pins(sinew_world *world, sinew_body body, const int32_t *vertices, int32_t count,
                                   const double pivot[3], double way, double angle)
{
    sinew_error error = {0};
    const sinew_key keys[2] = {{0}, {1, {(sinew_real)way, 0, 0}, {(sinew_real)angle, 0, 0}}};
    sinew_motion motion = {.key_count = 2, .keys = keys};
    for (int c = 0; c < 3; c++)
        motion.pivot[c] = (sinew_real)pivot[c];
    sinew_pin_def def = sinew_default_pin_def();
    def.body = body;
    def.vertices = vertices;
    def.vertex_count = count;
    def.motion = &motion;
    sinew_world_add_pins(world, &def, &error);
    must(&error);
}

/* ---- Scenes ------------------------------------------------------------------------------------ */

/* A square of 0.8 m falls on a ball slightly off its centre, hangs down and folds. */
static inline void fill_cloth(sinew_world *world, double E)
{
    sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    ball.radius = (sinew_real)0.25;
    add_collider(world, &ball);
    sinew_collider_def floor = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    floor.position[1] = (sinew_real)-0.4;
    add_collider(world, &floor);
    sinew_mesh *mesh = make_cloth(21, 21, 0.8, 0.8);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int32_t i = 0; i < n; i++) {
        x[3 * i] = X[3 * i] + (sinew_real)0.02;
        x[3 * i + 1] = (sinew_real)0.35;
        x[3 * i + 2] = -X[3 * i + 1] + (sinew_real)0.01;
    }
    const sinew_body body = add_mesh(world, mesh, 0.2, x, NULL);
    add_energy_of(world, body, SINEW_ENERGY_TRIANGLE_STRAIN, 0.01 * E);
    free(x);
    sinew_mesh_destroy(mesh);
}

/* Both ends of a towel make one turn against each other and approach by 8 cm, so that its edges need not stretch. */
static inline void fill_towel(sinew_world *world, double E)
{
    sinew_mesh *mesh = make_cloth(31, 7, 1, 0.24);
    const sinew_body body = add_mesh(world, mesh, 0.4, NULL, NULL);
    add_energy_of(world, body, SINEW_ENERGY_TRIANGLE_STRAIN, 0.01 * E);
    for (int side = -1; side <= 1; side += 2) {
        int32_t held[7];
        const int32_t count = vertices_at(mesh, 0, 0.5 * side, 0.5 * side, held);
        add_moving_pins(world, body, held, count, (double[3]){0.5 * side, 0, 0}, -0.08 * side, -2 * MAKE_PI * side);
    }
    sinew_mesh_destroy(mesh);
}

/* A rope with every other vertex of the rope of the scene `knot`; its ends are pulled apart. */
static inline void fill_knot(sinew_world *world, double E)
{
    enum {
        ROPE = 76
    };
    sinew_error error = {0};
    sinew_mesh *fine = sinew_mesh_read(SINEW_SOURCE_DIR "/scenes/meshes/knot.obj", NULL, &error);
    must(&error);
    sinew_real x[3 * ROPE];
    int32_t edges[2 * ROPE];
    for (int i = 0; i < ROPE; i++) {
        memcpy(x + 3 * i, sinew_mesh_positions(fine) + 6 * (size_t)i, 3 * sizeof *x);
        edges[2 * i] = i;
        edges[2 * i + 1] = i + 1;
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = ROPE;
    def.positions = x;
    def.edge_count = ROPE - 1;
    def.edges = edges;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    const sinew_body body = add_mesh(world, mesh, 0.08, NULL, NULL);
    add_energy_of(world, body, SINEW_ENERGY_EDGE_STRAIN, 1e-3 * E);
    add_moving_pins(world, body, (int32_t[1]){0}, 1, (double[3]){0}, 0.21, 0);
    add_moving_pins(world, body, (int32_t[1]){ROPE - 1}, 1, (double[3]){0}, -0.21, 0);
    sinew_mesh_destroy(fine);
    sinew_mesh_destroy(mesh);
}

/* Four cubes of 12 cm fall into a box of 30 cm, each rotated and shifted, so that they meet at edges and corners. */
static inline void fill_jelly(sinew_world *world, double E)
{
    sinew_collider_def box = sinew_default_collider_def(SINEW_SHAPE_BOX);
    box.hollow = true;
    box.size[0] = box.size[2] = (sinew_real)0.3;
    box.size[1] = 1;
    box.position[1] = (sinew_real)0.5;
    add_collider(world, &box);
    sinew_mesh *mesh = make_beam(3, 3, 3, 0.12, 0.12, 0.12);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int k = 0; k < 4; k++) {
        const double a = 0.5 * k, b = 0.3 * k + 0.1,
                     middle[3] = {k % 2 ? 0.02 : -0.03, 0.12 + 0.22 * k, 0.015 * k - 0.02};
        for (int32_t i = 0; i < n; i++) {
            const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
            const double u = cos(a) * (double)X[0] + sin(a) * (double)X[2];
            const double w = cos(a) * (double)X[2] - sin(a) * (double)X[0], y = (double)X[1];
            x[3 * i] = (sinew_real)(middle[0] + cos(b) * u - sin(b) * y);
            x[3 * i + 1] = (sinew_real)(middle[1] + sin(b) * u + cos(b) * y);
            x[3 * i + 2] = (sinew_real)(middle[2] + w);
        }
        add_energy_of(world, add_mesh(world, mesh, 1000, x, NULL), SINEW_ENERGY_STRAIN, E);
    }
    free(x);
    sinew_mesh_destroy(mesh);
}

static const tight_scene tight_scenes[] = {
    {"cloth", fill_cloth, 4e-3, 0.09, "--sphere 0 0 0 0.25 --plane 0 -0.4 0 0 1 0"},
    {"towel", fill_towel, 4e-3, 0, ""},
    {"knot", fill_knot, 12e-3, 0, ""},
    {"jelly", fill_jelly, 2e-3, 0.05,
     "--plane 0 0 0 0 1 0 --plane -0.15 0 0 1 0 0 --plane 0.15 0 0 -1 0 0 --plane 0 0 -0.15 0 0 1 --plane 0 0 0.15 0 0 "
     "-1"},
};
enum {
    TIGHT_SCENES = sizeof tight_scenes / sizeof tight_scenes[0]
};

#endif
