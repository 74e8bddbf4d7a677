/* SPDX-License-Identifier: MIT
 *
 * contact_scenes.h: five small scenes with contact and friction, of energies that every solver supports.
 *
 * Gravity is tilted instead of the planes. Bodies start slightly above the surface that they fall on.
 */
#ifndef SINEW_CONTACT_SCENES_H
#define SINEW_CONTACT_SCENES_H

#include "make_world.h"
#include "sinew/contact.h"

typedef struct contact_scene {
    const char *name;
    void (*fill)(sinew_world *world);
    double slope; /* tangent of gravity's tilt */
    double size;  /* m: size of a body */
    int warm;     /* steps of newton until bodies are in motion and in contact */
} contact_scene;

#define CONTACT_MU 0.5

static inline void add_collider(sinew_world *world, const sinew_collider_def *def)
{
    sinew_error error = {0};
    sinew_world_add_collider(world, def, &error);
    must(&error);
}

static inline void add_floor(sinew_world *world)
{
    const sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
    add_collider(world, &def);
}

/* A body of a mesh translated by `by` and rotated about y by an angle. */
static inline sinew_body add_moved(sinew_world *world, const sinew_mesh *mesh, double density, const double by[3],
                                   double angle)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (size_t i = 0; i < (size_t)n; i++) {
        const double a = (double)X[3 * i], b = (double)X[3 * i + 2];
        x[3 * i] = (sinew_real)(cos(angle) * a + sin(angle) * b + by[0]);
        x[3 * i + 1] = (sinew_real)((double)X[3 * i + 1] + by[1]);
        x[3 * i + 2] = (sinew_real)(cos(angle) * b - sin(angle) * a + by[2]);
    }
    const sinew_body body = add_mesh(world, mesh, density, x, NULL);
    free(x);
    return body;
}

static inline void add_soft_box(sinew_world *world, int cells, double height, double angle)
{
    const double size = 0.1 * cells;
    sinew_mesh *mesh = make_beam(cells, cells, cells, size, size, size);
    const sinew_body body = add_moved(world, mesh, 1000, (double[3]){0, height + size / 2, 0}, angle);
    add_material(world, body, SINEW_ENERGY_STRAIN, 1e5, 0);
    sinew_mesh_destroy(mesh);
}

static inline void fill_box(sinew_world *world)
{
    add_floor(world);
    add_soft_box(world, 2, 1.2e-3, 0);
}

static inline void fill_stack(sinew_world *world)
{
    add_floor(world);
    add_soft_box(world, 2, 1.2e-3, 0);
    add_soft_box(world, 1, 0.2 + 2.4e-3, 0.3);
}

/* A patch that is stiff enough to stay on its sphere, slightly off centre. */
static inline void fill_patch(sinew_world *world)
{
    sinew_error error = {0};
    sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    ball.radius = (sinew_real)0.3;
    ball.position[1] = (sinew_real)-0.3;
    add_collider(world, &ball);
    sinew_cloth_def def = sinew_default_cloth_def();
    for (int c = 0; c < 2; c++) {
        def.vertices[c] = 7;
        def.size[c] = (sinew_real)0.2;
    }
    sinew_mesh *flat = sinew_mesh_cloth(&def, &error);
    must(&error);
    const int32_t n = sinew_mesh_vertex_count(flat);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (size_t i = 0; i < (size_t)n; i++) {
        x[3 * i] = sinew_mesh_positions(flat)[3 * i] - (sinew_real)0.09;
        x[3 * i + 1] = (sinew_real)1.5e-3;
        x[3 * i + 2] = (sinew_real)0.08 - sinew_mesh_positions(flat)[3 * i + 1];
    }
    const sinew_body body = add_mesh(world, flat, 0.5, x, NULL);
    sinew_energy_def strain = sinew_default_energy_def(SINEW_ENERGY_TRIANGLE_STRAIN);
    strain.body = body;
    strain.parameters[0] = 100;
    add_energy(world, &strain);
    free(x);
    sinew_mesh_destroy(flat);
}

/* A rope hangs between its pinned ends, another falls across it. */
static inline void fill_ropes(sinew_world *world)
{
    static const int32_t ends[2] = {0, 10};
    sinew_mesh *low = make_rope(11, (double[3]){-0.2, 0, 0.003}, (double[3]){0.2, 0, 0.003});
    sinew_mesh *high = make_rope(12, (double[3]){0.007, 1.5e-3, -0.15}, (double[3]){-0.005, 1.5e-3, 0.17});
    const sinew_body below = add_mesh(world, low, 0.05, NULL, NULL), above = add_mesh(world, high, 0.05, NULL, NULL);
    add_springs(world, below, 200);
    add_springs(world, above, 200);
    add_pins(world, below, ends, 2, NULL);
    sinew_mesh_destroy(low);
    sinew_mesh_destroy(high);
}

static const contact_scene contact_scenes[] = {
    {"box_sticks", fill_box, 0.8 * CONTACT_MU, 0.2, 8}, {"box_slides", fill_box, 1.5 * CONTACT_MU, 0.2, 8},
    {"stack", fill_stack, 0.5 * CONTACT_MU, 0.2, 12},   {"cloth_on_sphere", fill_patch, 0.1, 0.2, 10},
    {"crossing_ropes", fill_ropes, 0.2, 0.4, 25},
};
enum {
    CONTACT_SCENES = sizeof contact_scenes / sizeof contact_scenes[0]
};

static inline sinew_world *make_contact_world_in(const contact_scene *scene, const sinew_solver_def *solver,
                                                 sinew_allocator allocator)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.allocator = allocator;
    const double angle = atan(scene->slope);
    def.solver = *solver;
    def.gravity[0] = (sinew_real)(9.81 * sin(angle));
    def.gravity[1] = (sinew_real)(-9.81 * cos(angle));
    def.gravity[2] = 0;
    sinew_world *world = make_world(&def);
    scene->fill(world);
    sinew_contact_def contact = sinew_default_contact_def();
    contact.friction = (sinew_real)CONTACT_MU;
    sinew_world_set_contact(world, &contact, &error);
    must(&error);
    return world;
}

static inline sinew_world *make_contact_world(const contact_scene *scene, const sinew_solver_def *solver)
{
    return make_contact_world_in(scene, solver, (sinew_allocator){0});
}

#endif
