/* SPDX-License-Identifier: MIT
 *
 * contact_cases.h: random steps with contact: boxes on a floor, on a ball and on each other, and cloths on a ball; and
 * the same step by Newton's method with converged multipliers.
 *
 * All drawn numbers are rounded to single precision, so that both builds draw the same scene.
 */
#ifndef SINEW_CONTACT_CASES_H
#define SINEW_CONTACT_CASES_H

#include "contact_worlds.h"
#include "recorded_step.h"

typedef enum drawn_contact {
    BOX_ON_FLOOR,
    BOX_ON_BALL,
    TWO_BOXES,
    CLOTH_ON_BALL,
    DRAWN_COUNT
} drawn_contact;

typedef struct touch_case {
    drawn_contact scene;
    sinew_solver_kind solver;
    int32_t iterations, steps, cells;
    /* size in m, Young's modulus in Pa, time step in s, friction coefficient, height above the ground in m, velocity
     * in m/s */
    double size, young, h, friction, height, speed[3];
} touch_case;

static inline touch_case draw_touch(random_cases *r)
{
    touch_case t = {.scene = (drawn_contact)random_index(r, DRAWN_COUNT),
                    .solver = touch_solvers[random_index(r, TOUCH_SOLVERS)]};
    t.iterations = (int32_t)random_magnitude(r, 2, 100);
    t.steps = random_index(r, 12);
    t.cells = 1 + random_index(r, 3);
    t.size = drawn_number(random_magnitude(r, 0.05, 0.5));
    t.young = drawn_number(random_magnitude(r, 1e4, 1e7));
    t.h = drawn_number(random_magnitude(r, 2e-3, 3e-2));
    t.friction = random_index(r, 3) ? drawn_number(random_between(r, 0.05, 0.9)) : 0;
    t.height = drawn_number(random_between(r, 0.002, 0.02));
    t.speed[0] = random_index(r, 2) ? drawn_number(random_between(r, -1, 1)) : 0;
    t.speed[1] = drawn_number(-random_magnitude(r, 1e-2, 3));
    return t;
}

static inline void print_touch(const touch_case *t)
{
    static const char *const scenes[] = {"box on floor", "box on ball", "two boxes", "cloth on ball"};
    printf("%s, %s, iterations %d, step %d, cells %d, size %.3g, young %.3g, h %.3g, mu %.2g, v %.2g %.2g",
           scenes[t->scene], sinew_get_solver_info(t->solver)->name, (int)t->iterations, (int)t->steps, (int)t->cells,
           t->size, t->young, t->h, t->friction, t->speed[0], t->speed[1]);
}

/* ---- Build ----------------------------------------------------------------------------------- */

static inline void add_ball(sinew_world *world, double radius)
{
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    def.radius = (sinew_real)radius;
    def.position[1] = (sinew_real)-radius;
    add_collider(world, &def);
}

/* The mesh of a body: a cloth in the plane z = 0 or a box; recorded positions replace its vertices. */
static inline sinew_mesh *touch_mesh(const touch_case *t, const double *rest)
{
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 4 + 3 * t->cells;
    cloth.size[0] = cloth.size[1] = (sinew_real)(2 * t->size);
    sinew_mesh *mesh = t->scene == CLOTH_ON_BALL ? sinew_mesh_cloth(&cloth, &error)
                                                 : make_beam(t->cells, t->cells, t->cells, t->size, t->size, t->size);
    must(&error);
    if (!rest)
        return mesh;
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *moved = make_array(3 * (size_t)n, sizeof *moved);
    for (int32_t i = 0; i < 3 * n; i++)
        moved[i] = (sinew_real)rest[i];
    sinew_mesh *recorded = sinew_mesh_moved(mesh, moved, &error);
    must(&error);
    sinew_mesh_destroy(mesh);
    free(moved);
    return recorded;
}

/* Adds body `index`, the second above the first. rest (may be NULL) has recorded vertices of all bodies. Returns its
 * number of vertices. */
static inline int32_t add_touching_body(sinew_world *world, const touch_case *t, int index, const double *rest)
{
    const bool cloth = t->scene == CLOTH_ON_BALL;
    const bool strain = t->solver == SINEW_SOLVER_PD || t->solver == SINEW_SOLVER_PBD || t->solver == SINEW_SOLVER_XPBD;
    const double middle[3] = {index ? 0.1 * t->size : 0, t->height + (index ? 1.55 : 0.5) * t->size, 0};
    sinew_mesh *mesh = touch_mesh(t, rest);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (int32_t i = 0; i < n; i++) {
        const sinew_real *X = sinew_mesh_positions(mesh) + 3 * i;
        for (int c = 0; c < 3; c++)
            x[3 * i + c] = X[c] + (sinew_real)middle[c];
        if (cloth) {
            x[3 * i] = X[0] - (sinew_real)t->size;
            x[3 * i + 1] = (sinew_real)t->height;
            x[3 * i + 2] = X[1] - (sinew_real)t->size;
        }
    }
    const sinew_body body = add_mesh(world, mesh, cloth ? 0.3 : 1000, x, NULL);
    if (cloth)
        add_springs(world, body, 1e-3 * t->young);
    else
        add_material(world, body, strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED, t->young, 0.3);
    sinew_mesh_destroy(mesh);
    free(x);
    return n;
}

static inline void set_speed(sinew_world *world, const touch_case *t)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < 3 * n; i++)
        v[i] = (sinew_real)t->speed[i % 3];
    sinew_world_set_velocities(world, 0, n, v);
    free(v);
}

/* The world of a case; rest (may be NULL) [3 * particle_count] replaces the rest shapes. */
static inline sinew_world *touch_world(const touch_case *t, const double *rest)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)t->h;
    def.solver = sinew_default_solver_def(t->solver);
    def.solver.iterations = t->iterations;
    def.solver.measure = SINEW_MEASURE_GAP;
    sinew_world *world = make_world(&def);
    set_touch(world, 2e-3, t->friction);
    if (t->scene == BOX_ON_BALL || t->scene == CLOTH_ON_BALL)
        add_ball(world, 0.6 * t->size);
    else
        add_floor(world);
    const int32_t n = add_touching_body(world, t, 0, rest);
    if (t->scene == TWO_BOXES)
        add_touching_body(world, t, 1, rest ? rest + 3 * (size_t)n : NULL);
    set_speed(world, t);
    return world;
}

/* ---- The step -------------------------------------------------------------------------------- */

/* Copies the contacts that the next step starts with: their multipliers and friction forces belong to the state. */
static inline void record_contacts(const sinew_world *world, recorded_step *t)
{
    const sinew_contact_work *c = world->contact;
    t->entry_count = 0;
    t->entries = make_array((size_t)(c->cached ? c->cache_count : c->contacts.count) + 1, sizeof *t->entries);
    if (c->cached) {
        t->entry_count = c->cache_count;
        memcpy(t->entries, c->cache, (size_t)c->cache_count * sizeof *t->entries);
        return;
    }
    for (int32_t k = 0; k < c->contacts.count; k++)
        if (sinew_contact_is_cacheable(&c->contacts.list[k]))
            t->entries[t->entry_count++] = sinew_contact_cache_entry_of(c, &c->contacts.list[k]);
}

/* Takes the steps of a case and records the last one. */
static inline recorded_step take_touch_steps(const touch_case *t)
{
    sinew_world *world = touch_world(t, NULL);
    recorded_step s = record_begin(world);
    sinew_step_result result = {0};
    for (int32_t i = 0; i <= t->steps; i++) {
        if (i == t->steps) {
            fetch(world, s.q, s.v);
            record_contacts(world, &s);
        }
        sinew_world_step(world, &result);
    }
    record_end(world, &result, &s);
    sinew_world_destroy(world);
    return s;
}

/* ---- The referee ------------------------------------------------------------------------------- */

static inline void load_contacts(sinew_world *world, const recorded_step *s)
{
    sinew_contact_work *c = world->contact;
    const size_t bytes = (size_t)s->entry_count * sizeof *c->cache;
    assert_true(sinew_reserve_spare(&world->allocator, &c->cache, &c->cache_capacity, (size_t)s->entry_count + 1,
                                    sizeof *c->cache));
    memcpy(c->cache, s->entries, bytes);
    c->cache_count = s->entry_count;
    c->cached = c->stale = true;
}

/* Takes the recorded step by newton, which detects contacts itself and updates multipliers after every iteration until
 * forces, multipliers and friction limits have converged. Adds its end to `truth` if they have. */
static inline void find_touch_end(const touch_case *t, const recorded_step *s, minima *truth)
{
    sinew_error error = {0};
    sinew_world *world = touch_world(t, s->rest);
    sinew_solver_def newton = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    const bool single = sizeof(sinew_real) == 4;
    newton.iterations = single ? 300 : 600;
    newton.tolerance = (sinew_real)(single ? 1e-6 : 1e-12);
    newton.measure = SINEW_MEASURE_RESIDUAL;
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)2e-3;
    contact.friction = (sinew_real)t->friction;
    contact.multiplier_interval = 1;
    assert_int_equal(sinew_world_set_solver(world, &newton, &error), SINEW_OK);
    assert_int_equal(sinew_world_set_contact(world, &contact, &error), SINEW_OK);
    put_state(world, s->q, s->v);
    load_contacts(world, s);
    sinew_step_result result;
    const uint32_t bits = sinew_world_step(world, &result);
    if ((bits & ~(uint32_t)(SINEW_STEP_INVERTED | SINEW_STEP_ROUND_OFF)) == 0) {
        double *end = make_array(3 * (size_t)s->count, sizeof *end);
        fetch(world, end, NULL);
        set_distance(truth, s, end);
        truth->count++;
        free(end);
    }
    sinew_world_destroy(world);
}

#endif
