/* SPDX-License-Identifier: MIT
 *
 * impact_worlds.h: boxes and balls that hit floors, plates and each other, for the tests of restitution.
 */
#ifndef SINEW_IMPACT_WORLDS_H
#define SINEW_IMPACT_WORLDS_H

#include "contact_worlds.h"

#define IMPACT_SIZE    0.1 /* side of boxes, diameter of balls, in m */
#define IMPACT_DENSITY 1000.0

/* A world of impacts. */
typedef struct impact_case {
    sinew_solver_kind solver;
    int shape; /* cells along each side of a box; 0: a ball */
    double young, e, mu, thickness, h, gravity;
    int iterations; /* 0: the solver's own number */
    int threads;
} impact_case;

static inline impact_case impact_default(void)
{
    return (impact_case){
        .solver = SINEW_SOLVER_NEWTON, .shape = 3, .young = 1e7, .e = 1, .thickness = 1e-3, .h = 5e-3, .threads = 1};
}

static inline sinew_world *make_impact(const impact_case *k)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = k->threads;
    def.time_step = (sinew_real)k->h;
    def.gravity[1] = (sinew_real)-k->gravity;
    def.balance = true;
    def.solver = sinew_default_solver_def(k->solver);
    def.solver.iterations = k->iterations ? k->iterations : def.solver.iterations;
    sinew_world *world = make_world(&def);
    sinew_contact_def touch = sinew_default_contact_def();
    touch.thickness = (sinew_real)k->thickness;
    touch.friction = (sinew_real)k->mu;
    touch.restitution = (sinew_real)k->e;
    sinew_world_set_contact(world, &touch, &error);
    must(&error);
    return world;
}

static inline sinew_mesh *make_impact_mesh(int shape)
{
    sinew_error error = {0};
    if (shape > 0)
        return make_beam(shape, shape, shape, IMPACT_SIZE, IMPACT_SIZE, IMPACT_SIZE);
    sinew_round_def round = sinew_default_round_def();
    round.radius = (sinew_real)(IMPACT_SIZE / 2);
    round.segments = 5;
    sinew_mesh *mesh = sinew_mesh_ball(&round, &error);
    must(&error);
    return mesh;
}

/* Adds a box or a ball at `middle`, turned about z by `angle`, with a velocity. */
static inline sinew_body add_impactor(sinew_world *world, const impact_case *k, const double middle[3], double angle,
                                      const double velocity[3])
{
    sinew_mesh *mesh = make_impact_mesh(k->shape);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x), *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < n; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * (size_t)i;
        x[3 * i] = (sinew_real)(middle[0] + cos(angle) * (double)X[0] - sin(angle) * (double)X[1]);
        x[3 * i + 1] = (sinew_real)(middle[1] + sin(angle) * (double)X[0] + cos(angle) * (double)X[1]);
        x[3 * i + 2] = (sinew_real)(middle[2] + (double)X[2]);
        for (int c = 0; c < 3; c++)
            v[3 * i + c] = (sinew_real)velocity[c];
    }
    const sinew_body body = add_mesh(world, mesh, IMPACT_DENSITY, x, v);
    const bool strain = k->solver == SINEW_SOLVER_PD || k->solver == SINEW_SOLVER_PBD || k->solver == SINEW_SOLVER_XPBD;
    add_material(world, body, strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED, k->young, 0.3);
    sinew_mesh_destroy(mesh);
    free(x);
    free(v);
    return body;
}

/* Adds a plate 0.2 m thick whose upper side is at y = 0 and moves with a constant velocity. */
static inline sinew_collider add_plate(sinew_world *world, const double velocity[3])
{
    sinew_collider_def plate = sinew_default_collider_def(SINEW_SHAPE_BOX);
    sinew_key keys[2] = {{.time = 0}, {.time = 10}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    for (int c = 0; c < 3; c++) {
        keys[1].translation[c] = (sinew_real)(10 * velocity[c]);
        plate.size[c] = (sinew_real)(c == 1 ? 0.2 : 2);
    }
    plate.position[1] = (sinew_real)-0.1;
    plate.motion = &motion;
    return add_collider(world, &plate);
}

/* Momentum of a body over its mass: the velocity of its centre of mass. */
static inline void body_velocity(const sinew_world *world, sinew_body body, double v[3])
{
    const int32_t first = sinew_body_first_particle(world, body),
                  n = sinew_mesh_vertex_count(sinew_body_mesh(world, body));
    sinew_real *m = make_array((size_t)n, sizeof *m), *u = make_array(3 * (size_t)n, sizeof *u);
    assert_int_equal(sinew_world_get_masses(world, first, n, m), SINEW_OK);
    assert_int_equal(sinew_world_get_velocities(world, first, n, u), SINEW_OK);
    double mass = 0, sum[3] = {0, 0, 0};
    for (int32_t i = 0; i < n; i++) {
        mass += (double)m[i];
        for (int c = 0; c < 3; c++)
            sum[c] += (double)m[i] * (double)u[3 * i + c];
    }
    for (int c = 0; c < 3; c++)
        v[c] = sum[c] / mass;
    free(m);
    free(u);
}

static inline double total_energy(sinew_world *world)
{
    sinew_measures m;
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    return m.kinetic + m.elastic + m.potential;
}

static inline void impact_step(sinew_world *world)
{
    if (sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
        fail_msg("%s", sinew_world_error(world));
}

#endif
