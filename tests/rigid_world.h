/* SPDX-License-Identifier: MIT
 *
 * rigid_world.h: worlds of rigid bodies that several tests build.
 */
#ifndef SINEW_RIGID_WORLD_H
#define SINEW_RIGID_WORLD_H

#include "make_world.h"
#include "random_cases.h"

static inline sinew_world *make_rigid_world(double h, const char *solver, double gravity)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    def.gravity[1] = (sinew_real)-gravity;
    def.thread_count = 1;
    def.solver = sinew_default_solver_def(sinew_solver_by_name(solver));
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_error error;
    sinew_world *world = sinew_world_create(&def, &error);
    assert_non_null(world);
    return world;
}

static inline sinew_body add_rigid(sinew_world *world, sinew_mesh *shape, double density)
{
    sinew_error error;
    sinew_body_def def = sinew_default_body_def();
    def.mesh = shape;
    def.density = (sinew_real)density;
    const sinew_body body = sinew_world_add_rigid(world, &def, &error);
    if (body.index < 0)
        fail_msg("%s", error.text);
    return body;
}

/* ---- An arm on a post --------------------------------------------------------------------------- */

/* A fixed post and an arm of 1 m by 0.1 m by 0.1 m along x, both rigid, joined at the origin. */
typedef struct rigid_arm {
    sinew_world *world;
    int32_t frames[8]; /* particles of the post, then of the arm */
    double axis[3];    /* unit vector */
} rigid_arm;

/* Adds a hard joint, limit or motor between post and arm at the origin. Parameters: names and values, then NULL. */
static inline sinew_energy add_to_arm(rigid_arm *a, sinew_energy_kind kind, const char *const *names,
                                      const double *values, sinew_error *error)
{
    static const char *const axis_names[3] = {"axis_x", "axis_y", "axis_z"};
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body.index = -1;
    def.element_count = 1;
    def.elements = a->frames;
    def.hard = true;
    for (int c = 0; c < 3; c++)
        def.parameters[sinew_energy_parameter(kind, axis_names[c])] = (sinew_real)a->axis[c];
    for (int i = 0; names[i]; i++)
        def.parameters[sinew_energy_parameter(kind, names[i])] = (sinew_real)values[i];
    return sinew_world_add_energy(a->world, &def, error);
}

enum {
    ARM_HINGE = 2, /* types of the joint */
    ARM_SLIDER = 4
};

/* Builds the world of def with an arm whose joint, hard, has the given type and axis. */
static inline rigid_arm make_arm(const sinew_world_def *def, const double axis[3], int type)
{
    rigid_arm a = {.world = make_world(def), .axis = {axis[0], axis[1], axis[2]}};
    sinew_error error = {0};
    sinew_mesh *post = make_beam(1, 1, 1, 0.1, 0.1, 0.1), *middle = make_beam(1, 1, 1, 1, 0.1, 0.1);
    sinew_real x[24];
    assert_int_equal(sinew_mesh_vertex_count(middle), 8);
    for (int i = 0; i < 24; i++)
        x[i] = sinew_mesh_positions(middle)[i] + (i % 3 == 0 ? (sinew_real)0.5 : 0);
    sinew_mesh *arm = sinew_mesh_moved(middle, x, &error);
    must(&error);
    const sinew_body still = add_rigid(a.world, post, 1000), moving = add_rigid(a.world, arm, 1000);
    add_pins(a.world, still, (const int32_t[4]){0, 1, 2, 3}, 4, NULL);
    for (int i = 0; i < 4; i++) {
        a.frames[i] = sinew_body_first_particle(a.world, still) + i;
        a.frames[4 + i] = sinew_body_first_particle(a.world, moving) + i;
    }
    add_to_arm(&a, SINEW_ENERGY_JOINT, (const char *const[]){"type", NULL}, (const double[]){type}, &error);
    must(&error);
    sinew_mesh_destroy(post);
    sinew_mesh_destroy(middle);
    sinew_mesh_destroy(arm);
    return a;
}

/* rad: rotation about the axis that takes the arm's particles from `before` [4][3] to the current ones. */
static inline double arm_angle(const rigid_arm *a, const sinew_real before[12])
{
    sinew_real now[12];
    const double *n = a->axis;
    double sine = 0, cosine = 0;
    assert_int_equal(sinew_world_get_positions(a->world, a->frames[4], 4, now), SINEW_OK);
    for (size_t p = 0; p < 12; p += 3) {
        double u[3], w[3], along[2] = {0, 0};
        for (size_t c = 0; c < 3; c++) {
            u[c] = (double)before[p + c];
            w[c] = (double)now[p + c];
            along[0] += u[c] * n[c];
            along[1] += w[c] * n[c];
        }
        for (int c = 0; c < 3; c++) {
            const int i = (c + 1) % 3, j = (c + 2) % 3;
            sine += n[c] * (u[i] * w[j] - u[j] * w[i]);
            cosine += u[c] * w[c];
        }
        cosine -= along[0] * along[1];
    }
    return atan2(sine, cosine);
}

/* m: mean displacement of the arm's particles along the axis, from `before` [4][3] to the current positions. */
static inline double arm_slide(const rigid_arm *a, const sinew_real before[12])
{
    sinew_real now[12];
    double sum = 0;
    assert_int_equal(sinew_world_get_positions(a->world, a->frames[4], 4, now), SINEW_OK);
    for (int i = 0; i < 12; i++)
        sum += a->axis[i % 3] * ((double)now[i] - (double)before[i]) / 4;
    return sum;
}

static inline void random_direction(random_cases *r, double n[3])
{
    double length = 0;
    while (!(length > 0.01 && length <= 1)) {
        length = 0;
        for (int i = 0; i < 3; i++) {
            n[i] = random_between(r, -1, 1);
            length += n[i] * n[i];
        }
    }
    for (int i = 0; i < 3; i++)
        n[i] /= sqrt(length);
}

#endif
