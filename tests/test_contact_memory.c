/* SPDX-License-Identifier: MIT
 *
 * test_contact_memory.c: allocation failures in steps with contact, in states with contact and in queries. Each
 * allocation fails in turn: the call reports it, leaks nothing, and succeeds when repeated.
 */
#include "contact_worlds.h"
#include "failing_allocator.h"

typedef struct place {
    failing_allocator memory;
    sinew_solver_kind kind;
    sinew_world *world;
    char *state;
    size_t size;
} place;

/* Hard threads around the upper box: a net whose triangles are not those of its threads. */
static void add_threads(sinew_world *world)
{
    const sinew_real x[12] = {0,
                              (sinew_real)0.37,
                              0,
                              (sinew_real)0.1,
                              (sinew_real)0.37,
                              0,
                              (sinew_real)0.1,
                              (sinew_real)0.37,
                              (sinew_real)0.1,
                              0,
                              (sinew_real)0.37,
                              (sinew_real)0.1};
    const int32_t corners[6] = {0, 2, 1, 0, 3, 2}, edges[8] = {0, 1, 1, 2, 2, 3, 3, 0};
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 4;
    def.positions = x;
    def.triangle_count = 2;
    def.triangles = corners;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    sinew_energy_def threads = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    threads.body = add_mesh(world, mesh, 1, NULL, NULL);
    threads.hard = true;
    threads.elements = edges;
    threads.element_count = 4;
    add_energy(world, &threads);
    sinew_mesh_destroy(mesh);
}

/* A floor, a box that penetrates a collider, a smaller box on top, and above it threads for solvers that keep them. */
static void make_place(place *p)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.allocator = hooks_of(&p->memory);
    def.solver = sinew_default_solver_def(p->kind);
    p->world = make_world(&def);
    sinew_contact_def touch = sinew_default_contact_def();
    sinew_error error = {0};
    touch.thickness = (sinew_real)4e-3;
    touch.restitution = (sinew_real)0.5;
    sinew_world_set_contact(p->world, &touch, &error);
    must(&error);
    add_floor(p->world);
    sinew_collider_def box = sinew_default_collider_def(SINEW_SHAPE_BOX);
    box.position[1] = (sinew_real)-0.4;
    add_collider(p->world, &box);
    add_box(p->world, SINEW_SOLVER_NEWTON, 1, 0.2, (const double[]){0, 0.15, 0}, 1e5);
    add_box(p->world, SINEW_SOLVER_NEWTON, 1, 0.1, (const double[]){0, 0.303, 0.02}, 1e5);
    if (p->kind != SINEW_SOLVER_NEWTON)
        add_threads(p->world);
}

static sinew_status take_step(place *p, sinew_error *error)
{
    const uint32_t bits = sinew_world_step(p->world, NULL);
    if (!(bits & SINEW_STEP_UNPREPARED))
        return SINEW_OK;
    snprintf(error->text, sizeof error->text, "%s", sinew_world_error(p->world));
    return error->status = strstr(error->text, "memory") ? SINEW_ERROR_MEMORY : SINEW_ERROR_DATA;
}

static sinew_status load(place *p, sinew_error *error)
{
    return sinew_world_state_load(p->world, p->state, p->size, error);
}

static sinew_status ask(place *p, sinew_error *error)
{
    sinew_world_hit hit;
    const sinew_real from[3] = {0, 2, 0}, down[3] = {0, -1, 0}, low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
    int32_t count;
    if (!sinew_world_ray(p->world, from, down, 9, &hit, error))
        return error->status;
    if (!sinew_world_nearest(p->world, from, 9, &hit, error))
        return error->status;
    if (sinew_world_overlaps(p->world, low, high, 0, NULL, &count, error) != SINEW_OK)
        return error->status;
    return sinew_world_intersections(p->world, 0, NULL, &count, error);
}

static sinew_status change(place *p, sinew_error *error)
{
    sinew_collider_def ball = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    ball.position[0] = 3;
    const sinew_collider collider = sinew_world_add_collider(p->world, &ball, error);
    if (collider.index < 0)
        return error->status;
    const sinew_status status = take_step(p, error);
    sinew_world_remove_collider(p->world, collider, NULL);
    return status;
}

/* Repeats the operation, failing one allocation after the other, until no allocation is refused. */
static void walk(place *p, const char *what, sinew_status (*operation)(place *, sinew_error *))
{
    for (p->memory.fail_at = 1;; p->memory.fail_at++) {
        sinew_error error = {0};
        p->memory.calls = 0;
        const sinew_status status = operation(p, &error);
        if (p->memory.calls < p->memory.fail_at) {
            if (status != SINEW_OK)
                fail_msg("%s: %s", what, error.text);
            break;
        }
        if (status != SINEW_OK && status != SINEW_ERROR_MEMORY)
            fail_msg("%s, allocation %d: %s: %s", what, (int)p->memory.fail_at, sinew_status_name(status), error.text);
    }
    print_message("%s: %d allocations\n", what, (int)p->memory.fail_at - 1);
    p->memory.fail_at = 0;
}

static void fail_every_allocation(sinew_solver_kind kind)
{
    place p = {.kind = kind};
    make_place(&p);
    walk(&p, "first step", take_step);
    for (int i = 0; i < 10; i++)
        walk(&p, "step", take_step);
    walk(&p, "questions", ask);
    p.size = sinew_world_state_size(p.world);
    p.state = make_array(p.size, 1);
    assert_int_equal(sinew_world_state_save(p.world, p.state, p.size), SINEW_OK);
    place fresh = {.kind = kind, .state = p.state, .size = p.size};
    make_place(&fresh);
    walk(&fresh, "load", load);
    walk(&fresh, "step after loading", take_step);
    walk(&p, "step", take_step);
    assert_true(sinew_world_state_hash(p.world) == sinew_world_state_hash(fresh.world));
    walk(&p, "change", change);
    sinew_world_destroy(p.world);
    sinew_world_destroy(fresh.world);
    assert_int_equal(p.memory.live, 0);
    assert_int_equal(fresh.memory.live, 0);
    free(p.state);
}

static void every_allocation(void **state)
{
    const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_SAP};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
        fail_every_allocation(kinds[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
