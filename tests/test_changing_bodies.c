/* SPDX-License-Identifier: MIT
 *
 * test_changing_bodies.c: bodies, vertices, energies and pins are added to and removed from a running world. After any
 * sequence of changes the next step equals that of a new world with the same contents: bit for bit for sweeping
 * solvers, to the solver's tolerance for converging ones.
 */
#include "changing_world.h"

#ifdef SINEW_SINGLE
static const double near = 2e-4; /* m: distance of two steps that the solver tolerance allows */
static const double tolerance = 1e-5;
#else
static const double near = 1e-8;
static const double tolerance = 1e-12;
#endif

#ifdef SINEW_SANITIZED
enum {
    SAMPLE = 21,
    CHANGES = 12
};
#else
enum {
    SAMPLE = 210,
    CHANGES = 30
};
#endif

/* The solvers of dynamic worlds; exact: both worlds must have the same bits. */
static const struct solver_case {
    sinew_solver_kind kind;
    bool exact;
    int32_t iterations;
} solvers[] = {{SINEW_SOLVER_XPBD, true, 10},   {SINEW_SOLVER_PBD, true, 10},     {SINEW_SOLVER_PBNG, true, 10},
               {SINEW_SOLVER_PD, false, 4000},  {SINEW_SOLVER_NEWTON, false, 60}, {SINEW_SOLVER_QN, false, 4000},
               {SINEW_SOLVER_ADMM, false, 4000}};
enum {
    SOLVERS = sizeof solvers / sizeof solvers[0]
};

static sinew_world_def world_def(const struct solver_case *solver)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0.01;
    def.solver = sinew_default_solver_def(solver->kind);
    def.solver.iterations = solver->iterations;
    def.solver.tolerance = solver->exact ? 0 : (sinew_real)tolerance;
    def.solver.measure = solver->exact ? SINEW_MEASURE_NOTHING : SINEW_MEASURE_RESIDUAL;
    return def;
}

static bool takes(const changing *c, sinew_energy_kind kind)
{
    return sinew_solver_accepts(c->def.solver.kind, kind, NULL, 0);
}

/* ---- Random parts ---------------------------------------------------------------------------- */

/* A random live body index; -1 if there is none. */
static int32_t some_body(const changing *c, random_cases *r)
{
    int32_t places[PLACES], count = 0;
    for (int i = 0; i < PLACES; i++)
        if (c->live[i])
            places[count++] = i;
    return count ? places[random_index(r, count)] : -1;
}

static int32_t body_total(const changing *c)
{
    int32_t count = 0;
    for (int i = 0; i < PLACES; i++)
        count += c->live[i];
    return count;
}

static sinew_energy_kind some_material(const changing *c, random_cases *r)
{
    sinew_energy_kind kinds[SINEW_ENERGY_COUNT];
    int count = 0;
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
        if (sinew_get_energy_info((sinew_energy_kind)kind)->stencil == SINEW_STENCIL_TET &&
            takes(c, (sinew_energy_kind)kind))
            kinds[count++] = (sinew_energy_kind)kind;
    return count ? kinds[random_index(r, count)] : SINEW_ENERGY_COUNT;
}

/* Adds a rope or a beam with an energy on its cells and, mostly, a pin. */
static void enter(changing *c, random_cases *r)
{
    const sinew_energy_kind material = random_index(r, 2) ? some_material(c, r) : SINEW_ENERGY_COUNT;
    const double from[3] = {random_between(r, -2, 2), random_between(r, -2, 2), random_between(r, -2, 2)};
    const double to[3] = {from[0] + 1, from[1] + random_between(r, -1, 1), from[2] + random_between(r, -1, 1)};
    sinew_mesh *mesh = material == SINEW_ENERGY_COUNT ? make_rope(3 + random_index(r, 6), from, to)
                                                      : make_beam(1 + random_index(r, 3), 1, 1, 2, 1, 1);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.density = 500;
    def.spare = random_index(r, 3);
    const int32_t place = note_body(c, add_body(c->world, &def)).index;
    told_energy cells = told_cells(c, place, material == SINEW_ENERGY_COUNT ? SINEW_ENERGY_SPRING : material,
                                   random_magnitude(r, 1e4, 1e5));
    note_energy(c, &cells);
    if (random_index(r, 4)) {
        told_pin pin = {.body = place, .count = 1};
        memcpy(pin.targets, sinew_mesh_positions(mesh), 3 * sizeof pin.targets[0]);
        note_pins(c, &pin);
    }
    sinew_mesh_destroy(mesh);
}

/* Removes the energies that join a body to others, which would block its removal, then the body. */
static void leave(changing *c, random_cases *r)
{
    const int32_t place = some_body(c, r);
    sinew_error error = {0};
    if (place < 0)
        return;
    const uint64_t before = sinew_world_state_hash(c->world);
    for (int i = 0; i < PLACES; i++) {
        if (!joins(&c->energies[i], place))
            continue;
        assert_int_equal(sinew_world_remove_body(c->world, c->bodies[place], &error), SINEW_ERROR_DATA);
        assert_non_null(strstr(error.text, sinew_get_energy_info(c->energies[i].kind)->name));
        assert_true(sinew_world_state_hash(c->world) == before);
        assert_int_equal(sinew_world_remove_energy(c->world, c->energies[i].id, &error), SINEW_OK);
        c->energies[i].live = false;
    }
    int32_t firsts[PLACES];
    for (int i = 0; i < PLACES; i++)
        firsts[i] = c->live[i] ? sinew_body_first_particle(c->world, c->bodies[i]) : -1;
    assert_int_equal(sinew_world_remove_body(c->world, c->bodies[place], &error), SINEW_OK);
    assert_null(sinew_body_mesh(c->world, c->bodies[place]));
    forget_body(c, place);
    for (int i = 0; i < PLACES; i++)
        assert_true(!c->live[i] || sinew_body_first_particle(c->world, c->bodies[i]) == firsts[i]);
}

/* Adds copies of vertices, or vertices that change the Hilbert order. */
static void grow(changing *c, random_cases *r)
{
    const int32_t place = some_body(c, r);
    if (place < 0 || body_vertices(c, place) > 24)
        return;
    const bool copies = random_index(r, 2);
    const int32_t had = body_vertices(c, place);
    int32_t count = 1 + random_index(r, 3), of[3], first_new = -1;
    sinew_real rest[9], masses[3];
    for (int32_t i = 0; i < 3; i++) {
        of[i] = random_index(r, had);
        masses[i] = (sinew_real)random_between(r, 0.5, 2);
        for (int k = 0; k < 3; k++)
            rest[3 * i + k] = (sinew_real)random_between(r, -3, 3);
    }
    sinew_vertices_def def = sinew_default_vertices_def();
    def.count = count;
    def.copies_of = copies ? of : NULL;
    def.rest = copies ? NULL : rest;
    def.masses = copies && random_index(r, 2) ? NULL : masses;
    sinew_real *q = body_positions(c->world, c->bodies[place]);
    sinew_error error = {0};
    sinew_body_add_vertices(c->world, c->bodies[place], &def, &first_new, &error);
    must(&error);
    assert_true(first_new == had && body_vertices(c, place) == had + count);
    sinew_real *now = body_positions(c->world, c->bodies[place]);
    assert_memory_equal(q, now, 3 * (size_t)had * sizeof *q);
    for (int32_t i = 0; i < count; i++)
        assert_memory_equal(now + 3 * (had + i), copies ? q + 3 * of[i] : rest + 3 * i, 3 * sizeof *now);
    free(q);
    free(now);
}

static void join(changing *c, random_cases *r)
{
    const int32_t a = some_body(c, r), b = some_body(c, r);
    if (a < 0 || !takes(c, SINEW_ENERGY_WEAK))
        return;
    told_energy weak = {
        .kind = SINEW_ENERGY_WEAK, .stiffness = 1000, .count = 1 + random_index(r, 3), .n = 8, .off = -1};
    for (int32_t i = 0; i < 8 * weak.count; i++) {
        weak.body[i] = i % 8 < 4 ? a : b;
        weak.vertex[i] = random_index(r, body_vertices(c, weak.body[i]));
        weak.weights[i] = (sinew_real)0.25;
    }
    note_energy(c, &weak);
}

static void hold_softly(changing *c, random_cases *r)
{
    const int32_t place = some_body(c, r);
    if (place < 0 || !takes(c, SINEW_ENERGY_POSITION))
        return;
    told_energy held = {
        .kind = SINEW_ENERGY_POSITION, .stiffness = 500, .count = 1 + random_index(r, 4), .n = 1, .off = -1};
    for (int32_t i = 0; i < held.count; i++) {
        held.body[i] = place;
        held.vertex[i] = random_index(r, body_vertices(c, place));
        for (int k = 0; k < 3; k++)
            held.targets[3 * i + k] = (sinew_real)random_between(r, -2, 2);
    }
    note_energy(c, &held);
}

static void let_go(changing *c, random_cases *r)
{
    const int e = random_index(r, PLACES), p = random_index(r, 4);
    if (c->energies[e].live)
        assert_int_equal(sinew_world_remove_energy(c->world, c->energies[e].id, NULL), SINEW_OK);
    c->energies[e].live = false;
    if (c->pins[p].live)
        assert_int_equal(sinew_world_remove_pins(c->world, c->pins[p].id, NULL), SINEW_OK);
    c->pins[p].live = false;
}

/* Changes the stiffness, or disables one element and enables the others. */
static void set_energy(changing *c, random_cases *r)
{
    told_energy *e = &c->energies[random_index(r, PLACES)];
    if (!e->live)
        return;
    if (random_index(r, 2)) {
        e->stiffness *= (sinew_real)random_between(r, 0.5, 2);
        const char *name = sinew_get_energy_info(e->kind)->parameters[0].name;
        assert_int_equal(sinew_energy_set_parameter(c->world, e->id, name, e->stiffness, NULL), SINEW_OK);
        return;
    }
    if (e->off >= 0)
        assert_int_equal(sinew_energy_switch(c->world, e->id, &e->off, 1, true, NULL), SINEW_OK);
    e->off = random_index(r, e->count + 1) - 1;
    if (e->off >= 0)
        assert_int_equal(sinew_energy_switch(c->world, e->id, &e->off, 1, false, NULL), SINEW_OK);
}

static void drag_pin(changing *c, random_cases *r)
{
    told_pin *pin = &c->pins[random_index(r, 4)];
    if (!pin->live)
        return;
    pin->targets[random_index(r, 3)] += (sinew_real)0.01;
    assert_int_equal(sinew_pin_set_targets(c->world, pin->id, pin->targets, NULL), SINEW_OK);
}

/* Pins a vertex without a pin at its position. */
static void pin_one(changing *c, random_cases *r)
{
    told_pin pin = {.body = some_body(c, r), .count = 1};
    if (pin.body < 0)
        return;
    pin.vertices[0] = random_index(r, body_vertices(c, pin.body));
    for (int i = 0; i < PLACES; i++)
        if (c->pins[i].live && c->pins[i].body == pin.body && c->pins[i].vertices[0] == pin.vertices[0])
            return;
    sinew_real *q = body_positions(c->world, c->bodies[pin.body]);
    memcpy(pin.targets, q + 3 * pin.vertices[0], 3 * sizeof *q);
    free(q);
    note_pins(c, &pin);
}

/* ---- Against a newly built world ---------------------------------------------------------------- */

static void change_something(changing *c, random_cases *r)
{
    static void (*const changes[])(changing *, random_cases *) = {
        enter, leave, grow, grow, join, hold_softly, let_go, pin_one, set_energy, set_energy, drag_pin};
    const int which = random_index(r, 11);
    if (body_total(c) < 2)
        enter(c, r);
    else if (which == 0 && body_total(c) >= 5)
        leave(c, r);
    else
        changes[which](c, r);
}

static void compare_next_step(changing *c, const struct solver_case *solver)
{
    sinew_body bodies[PLACES];
    sinew_step_result a, b;
    sinew_world *fresh = build_afresh(c, bodies);
    sinew_world_step(c->world, &a);
    sinew_world_step(fresh, &b);
    assert_int_equal(a.bits & SINEW_STEP_UNPREPARED, 0);
    const double apart = distance_between(c, fresh, bodies);
    if (!(apart <= (solver->exact ? 0 : near)))
        fail_msg("%s: %g m apart (residuals %g and %g, after %d and %d iterations)",
                 sinew_get_solver_info(solver->kind)->name, apart, a.residual, b.residual, a.iterations, b.iterations);
    sinew_world_destroy(fresh);
}

static void random_changes(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("changing bodies", SAMPLE, 7000);
    for (int32_t i = 0; i < r.count; i++) {
        const struct solver_case *solver = &solvers[i % SOLVERS];
        static changing c;
        c = (changing){.def = world_def(solver)};
        c.world = make_world(&c.def);
        enter(&c, &r);
        for (int k = 0; k < CHANGES; k++) {
            change_something(&c, &r);
            if (random_index(&r, 3) == 0)
                compare_next_step(&c, solver);
        }
        compare_next_step(&c, solver);
        sinew_world_destroy(c.world);
    }
}

/* Bodies with more than one chunk of elements and several domains of a sweep: one block is removed, another grows. */
static void large_bodies(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_beam(10, 6, 6, 2, 1, 1);
    for (int i = 0; i < 3; i++)
        for (int copies = 0; copies < 2; copies++) {
            sinew_world_def def = world_def(&solvers[i]);
            sinew_world *world = make_world(&def);
            sinew_body a = add_mesh(world, mesh, 1000, NULL, NULL), b = add_mesh(world, mesh, 900, NULL, NULL);
            add_material(world, a, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.3);
            add_material(world, b, SINEW_ENERGY_NEO_HOOKEAN, 2e5, 0.3);
            sinew_world_step(world, NULL);
            assert_int_equal(sinew_world_remove_body(world, a, NULL), SINEW_OK);
            sinew_vertices_def more = sinew_default_vertices_def();
            more.count = 2;
            more.copies_of = copies ? (const int32_t[]){17, 18} : NULL;
            more.rest = copies ? NULL : (const sinew_real[]){5, 5, 5, -5, 1, 2};
            more.masses = (const sinew_real[]){1, 2};
            assert_int_equal(sinew_body_add_vertices(world, b, &more, NULL, NULL), SINEW_OK);
            sinew_body_def again = sinew_default_body_def();
            again.mesh = mesh;
            sinew_body third = add_body(world, &again), built[2];
            assert_true(third.index == 0 && third.generation == 1 && sinew_body_first_particle(world, third) == 0);
            add_material(world, third, SINEW_ENERGY_NEO_HOOKEAN, 3e5, 0.3);

            sinew_world *fresh = make_world(&def);
            copy_body(world, third, fresh, &built[0]);
            copy_body(world, b, fresh, &built[1]);
            add_material(fresh, built[0], SINEW_ENERGY_NEO_HOOKEAN, 3e5, 0.3);
            add_material(fresh, built[1], SINEW_ENERGY_NEO_HOOKEAN, 2e5, 0.3);
            sinew_world_step(world, NULL);
            sinew_world_step(fresh, NULL);
            sinew_real *p = body_positions(world, b), *q = body_positions(fresh, built[1]);
            assert_memory_equal(p, q, 3 * (size_t)(sinew_mesh_vertex_count(mesh) + 2) * sizeof *p);
            free(p);
            free(q);
            sinew_world_destroy(world);
            sinew_world_destroy(fresh);
        }
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_changes), cmocka_unit_test(large_bodies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
