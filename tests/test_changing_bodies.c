/* SPDX-License-Identifier: MIT
 *
 * test_changing_bodies.c: bodies, vertices, energies and pins come and go in a running world. After any sequence of
 * changes its next step is that of a world that is built afresh of what is in it: bit for bit with the solvers that
 * sweep, to the solver's tolerance with those that converge. Ids of what is gone are refused by name.
 */
#include "changing_world.h"

#ifdef SINEW_SINGLE
static const double near = 2e-4; /* m: as far as steps that ended at their tolerance are apart */
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

/* The solvers of dynamic worlds; exact: the same bits are asked for. */
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

/* A live place of bodies; -1: there is none. */
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

/* A rope or a beam with an energy on its cells and, most of the time, a pin. */
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

/* Takes a body out, after the energies that join it to others, without which it does not go. */
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

/* Copies of vertices, or others that change the Hilbert order. */
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
    told_energy weak = {.kind = SINEW_ENERGY_WEAK, .stiffness = 1000, .count = 1 + random_index(r, 3), .n = 8};
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
    told_energy held = {.kind = SINEW_ENERGY_POSITION, .stiffness = 500, .count = 1 + random_index(r, 4), .n = 1};
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

/* A vertex that nobody pins yet is pinned where it is. */
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

/* ---- Against a world built afresh ------------------------------------------------------------ */

static void change_something(changing *c, random_cases *r)
{
    static void (*const changes[])(changing *, random_cases *) = {enter, leave,       grow,   grow,
                                                                  join,  hold_softly, let_go, pin_one};
    const int which = random_index(r, 8);
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

/* More than one chunk of elements, and domains of a sweep: two blocks, of which one goes, and one that grows. */
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

/* ---- Numbers --------------------------------------------------------------------------------- */

/* Three ropes of 4, 5 and 6 vertices. */
typedef struct ropes {
    sinew_world *world;
    sinew_body body[3];
    sinew_energy springs[3];
    sinew_pin pin[3];
} ropes;

static sinew_body add_rope(sinew_world *world, int32_t vertices, double y)
{
    sinew_mesh *mesh = make_rope(vertices, (const double[]){0, y, 0}, (const double[]){1, y, 0});
    sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    sinew_mesh_destroy(mesh);
    return body;
}

static ropes make_ropes(void)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    ropes s = {.world = make_world(&def)};
    for (int i = 0; i < 3; i++) {
        s.body[i] = add_rope(s.world, 4 + i, i + 1);
        s.springs[i] = add_springs(s.world, s.body[i], 1000);
        s.pin[i] = add_pins(s.world, s.body[i], (const int32_t[]){0}, 1, NULL);
    }
    return s;
}

/* Numbers of a removed body read as zero, are ignored when set, and go to the next body that fits. */
static void holes(void **state)
{
    (void)state;
    ropes s = make_ropes();
    sinew_real q[45], m[15];
    assert_int_equal(sinew_world_particle_count(s.world), 15);
    assert_int_equal(sinew_world_remove_body(s.world, s.body[1], NULL), SINEW_OK);
    assert_int_equal(sinew_world_particle_count(s.world), 15);
    assert_int_equal(sinew_world_body_count(s.world), 3);
    assert_true(sinew_world_body_at(s.world, 1).index < 0 && sinew_world_body_at(s.world, 2).index == 2);
    assert_int_equal(sinew_world_get_positions(s.world, 0, 15, q), SINEW_OK);
    assert_int_equal(sinew_world_get_masses(s.world, 0, 15, m), SINEW_OK);
    for (int i = 0; i < 15; i++) {
        const bool hole = i >= 4 && i < 9;
        assert_true(hole ? m[i] == 0 && q[3 * i + 1] == 0
                         : m[i] > 0 && fabs((double)q[3 * i + 1] - (i < 4 ? 1 : 3)) < 1e-6);
        q[3 * i + 2] = (sinew_real)i;
    }
    const uint64_t before = sinew_world_state_hash(s.world);
    assert_int_equal(sinew_world_set_positions(s.world, 4, 5, q + 12), SINEW_OK);
    assert_true(sinew_world_state_hash(s.world) == before);
    assert_int_equal(sinew_world_set_positions(s.world, 0, 15, q), SINEW_OK);
    assert_int_equal(sinew_world_get_positions(s.world, 9, 1, q), SINEW_OK);
    assert_true(q[2] == 9);
    assert_int_equal(sinew_body_first_particle(s.world, add_rope(s.world, 6, 5)), 15); /* does not fit the hole */
    const sinew_body small = add_rope(s.world, 3, 6);
    assert_int_equal(sinew_body_first_particle(s.world, small), 4);
    assert_int_equal(sinew_body_first_particle(s.world, add_rope(s.world, 2, 7)), 7);
    assert_int_equal(sinew_world_particle_count(s.world), 21);
    sinew_world_destroy(s.world);
}

/* A body that has no spare numbers behind it moves to others; the last one grows where it is. */
static void runs(void **state)
{
    (void)state;
    ropes s = make_ropes();
    sinew_vertices_def more = sinew_default_vertices_def();
    more.count = 2;
    more.copies_of = (const int32_t[]){1, 1};
    sinew_real m[20], before[6];
    sinew_world_get_masses(s.world, 9, 6, before);
    assert_int_equal(sinew_body_add_vertices(s.world, s.body[2], &more, NULL, NULL), SINEW_OK);
    assert_int_equal(sinew_body_first_particle(s.world, s.body[2]), 9);
    assert_int_equal(sinew_world_particle_count(s.world), 17);
    sinew_world_get_masses(s.world, 9, 8, m);
    assert_true(m[1] == before[1] / 3 && m[6] == m[1] && m[7] == m[1] && m[2] == before[2]);
    const int64_t version = sinew_world_shape_version(s.world);
    assert_int_equal(sinew_body_add_vertices(s.world, s.body[0], &more, NULL, NULL), SINEW_OK);
    assert_true(sinew_world_shape_version(s.world) > version);
    assert_int_equal(sinew_body_first_particle(s.world, s.body[0]), 17);
    assert_int_equal(sinew_body_add_vertices(s.world, s.body[0], &more, NULL, NULL), SINEW_OK); /* had room to spare */
    assert_int_equal(sinew_body_first_particle(s.world, s.body[0]), 17);
    assert_int_equal(sinew_mesh_vertex_count(sinew_body_mesh(s.world, s.body[0])), 8);
    assert_int_equal(sinew_body_first_particle(s.world, add_rope(s.world, 4, 7)), 0);
    sinew_world_destroy(s.world);
}

/* A rope is torn at a vertex: the mesh has other edges, and what is drawn, and springs that are added, follow. */
static void tear(void **state)
{
    (void)state;
    ropes s = make_ropes();
    sinew_vertices_def more = sinew_default_vertices_def();
    sinew_error error = {0};
    int32_t copy = -1;
    more.count = 1;
    more.copies_of = (const int32_t[]){2};
    assert_int_equal(sinew_body_add_vertices(s.world, s.body[0], &more, &copy, &error), SINEW_OK);
    assert_int_equal(copy, 4);
    sinew_mesh_def cells = sinew_default_mesh_def();
    cells.vertex_count = 5;
    cells.positions = (const sinew_real[15]){0};
    cells.edge_count = 3;
    cells.edges = (const int32_t[]){0, 1, 1, 2, 4, 3};
    sinew_mesh *mesh = sinew_mesh_create(&cells, &error);
    must(&error);
    assert_int_equal(sinew_body_set_mesh(s.world, s.body[1], mesh, &error), SINEW_OK); /* has 5 vertices, too */
    assert_int_equal(sinew_body_set_mesh(s.world, s.body[0], mesh, &error), SINEW_OK);
    assert_int_equal(sinew_body_set_mesh(s.world, s.body[2], mesh, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "the mesh has 5 vertices, body 2 has 6"));
    assert_true(sinew_mesh_positions(sinew_body_mesh(s.world, s.body[0]))[3 * 4 + 1] == 1);
    assert_int_equal(sinew_world_remove_energy(s.world, s.springs[0], &error), SINEW_OK);
    add_springs(s.world, s.body[0], 1000);
    for (int i = 0; i < 30; i++)
        sinew_world_step(s.world, NULL);
    sinew_real *q = body_positions(s.world, s.body[0]);
    const double gap = fabs((double)q[3 * 2 + 1] - (double)q[3 * 4 + 1]);
    assert_true(gap > 0.1); /* the loose end falls, the held one swings */
    free(q);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(s.world);
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void assert_says(sinew_status status, sinew_status expected, const sinew_error *error, const char *part)
{
    assert_int_equal(status, expected);
    if (!strstr(error->text, part))
        fail_msg("\"%s\" does not say \"%s\"", error->text, part);
}

static void refuse_stale(ropes *s, const char *body, const char *energy, const char *pins)
{
    sinew_error e = {0};
    const sinew_real x[3] = {0};
    int32_t count;
    sinew_vertices_def more = sinew_default_vertices_def();
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_pin_def pin = sinew_default_pin_def();
    spring.body = pin.body = s->body[1];
    pin.vertex_count = 1;
    pin.vertices = &(const int32_t){0};
    assert_says(sinew_world_remove_body(s->world, s->body[1], &e), SINEW_ERROR_USAGE, &e, body);
    assert_says(sinew_body_add_vertices(s->world, s->body[1], &more, NULL, &e), SINEW_ERROR_USAGE, &e, body);
    assert_says(sinew_body_set_mesh(s->world, s->body[1], NULL, &e), SINEW_ERROR_USAGE, &e, body);
    assert_int_equal(sinew_body_first_particle(s->world, s->body[1]), -1);
    assert_true(sinew_world_add_energy(s->world, &spring, &e).index < 0);
    assert_says(e.status, SINEW_ERROR_USAGE, &e, body);
    assert_true(sinew_world_add_pins(s->world, &pin, &e).index < 0);
    assert_says(e.status, SINEW_ERROR_USAGE, &e, body);
    assert_says(sinew_world_remove_energy(s->world, s->springs[1], &e), SINEW_ERROR_USAGE, &e, energy);
    assert_says(sinew_energy_set_targets(s->world, s->springs[1], x, &e), SINEW_ERROR_USAGE, &e, energy);
    assert_says(sinew_energy_multipliers(s->world, s->springs[1], 0, NULL, &count, &e), SINEW_ERROR_USAGE, &e, energy);
    assert_says(sinew_world_remove_pins(s->world, s->pin[1], &e), SINEW_ERROR_USAGE, &e, pins);
    assert_says(sinew_pin_set_targets(s->world, s->pin[1], x, &e), SINEW_ERROR_USAGE, &e, pins);
    assert_says(sinew_pin_set_motion(s->world, s->pin[1], NULL, &e), SINEW_ERROR_USAGE, &e, pins);
}

/* Ids of what is gone, also when something else has its place; particles that are gone. */
static void stale_ids(void **state)
{
    (void)state;
    ropes s = make_ropes();
    sinew_error error = {0};
    assert_int_equal(sinew_world_remove_body(s.world, s.body[1], NULL), SINEW_OK);
    const uint64_t before = sinew_world_state_hash(s.world);
    refuse_stale(&s, "body 1 was removed", "energy 1 (spring) was removed", "pins 1 were removed");
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.element_count = 1;
    weak.elements = (const int32_t[]){0, 1, 2, 3, 4, 5, 6, 7};
    weak.weights = (const sinew_real[]){1, 0, 0, 0, 1, 0, 0, 0};
    assert_true(sinew_world_add_energy(s.world, &weak, &error).index < 0);
    assert_says(error.status, SINEW_ERROR_DATA, &error, "entry 4 names particle 4, which is of no body");
    sinew_pin_def pin = sinew_default_pin_def();
    pin.vertex_count = 1;
    pin.vertices = (const int32_t[]){8};
    assert_true(sinew_world_add_pins(s.world, &pin, &error).index < 0);
    assert_says(error.status, SINEW_ERROR_DATA, &error, "names particle 8, which is of no body");
    assert_true(sinew_world_state_hash(s.world) == before);

    const sinew_body next = add_rope(s.world, 5, 9);
    assert_true(next.index == 1 && next.generation == 1);
    assert_int_equal(add_springs(s.world, next, 10).index, 1);
    assert_int_equal(add_pins(s.world, next, (const int32_t[]){0}, 1, NULL).index, 1);
    refuse_stale(&s, "body 1 of generation 0 was removed; the place went to generation 1",
                 "energy 1 of generation 0 was removed; the place went to generation 1 (spring)",
                 "pins 1 of generation 0 were removed");
    assert_says(sinew_world_remove_body(s.world, (sinew_body){7, 0}, &error), SINEW_ERROR_USAGE, &error,
                "there is no body 7");
    assert_says(sinew_world_remove_body(s.world, (sinew_body){1, 9}, &error), SINEW_ERROR_USAGE, &error,
                "there is no body 1 of generation 9");
    assert_says(sinew_world_remove_pins(s.world, (sinew_pin){.index = -1}, &error), SINEW_ERROR_USAGE, &error,
                "there are no pins -1");
    sinew_world_destroy(s.world);
}

static void bad_vertices(void **state)
{
    (void)state;
    ropes s = make_ropes();
    const uint64_t before = sinew_world_state_hash(s.world);
    const sinew_real nan3[3] = {0, (sinew_real)NAN, 0}, x[3] = {0}, negative = -1, one = 1;
    const struct bad {
        sinew_vertices_def def;
        const char *part;
    } cases[] = {
        {{.count = 0, .rest = x, .masses = &one}, "is 0, must be at least 1"},
        {{.count = 1, .rest = x}, "need rest positions and masses"},
        {{.count = 1, .masses = &one}, "need rest positions and masses"},
        {{.count = 1, .rest = nan3, .masses = &one}, "the rest position of vertex 0 is not finite"},
        {{.count = 1, .rest = x, .velocities = nan3, .masses = &one}, "the velocity of vertex 0 is not finite"},
        {{.count = 1, .rest = x, .masses = &negative}, "the mass of new vertex 0 is -1"},
        {{.count = 1, .copies_of = (const int32_t[]){4}}, "is a copy of vertex 4, must be in [0, 3]"},
        {{.count = INT32_MAX, .rest = x, .masses = &one}, "the world would have more than"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinew_error error = {0};
        sinew_vertices_def def = cases[i].def;
        def.cookie = sinew_default_vertices_def().cookie;
        assert_says(sinew_body_add_vertices(s.world, s.body[0], &def, NULL, &error), SINEW_ERROR_DATA, &error,
                    cases[i].part);
        assert_true(sinew_world_state_hash(s.world) == before);
    }
    sinew_error error = {0};
    assert_says(sinew_body_add_vertices(s.world, s.body[0], &cases[0].def, NULL, &error), SINEW_ERROR_USAGE, &error,
                "sinew_default_vertices_def()");
    sinew_world_destroy(s.world);
}

/* A pin's motion is set anew, and taken away: it is where the keys say at the end of a step. */
static void pin_motion(void **state)
{
    (void)state;
    ropes s = make_ropes();
    sinew_error error = {0};
    const double h = (double)sinew_default_world_def().time_step;
    const sinew_key keys[] = {{.time = 0}, {.time = 1, .translation = {0, 3, 0}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys};
    sinew_world_step(s.world, NULL);
    assert_int_equal(sinew_pin_set_motion(s.world, s.pin[0], &motion, &error), SINEW_OK);
    sinew_world_step(s.world, NULL);
    sinew_real q[3];
    sinew_world_get_positions(s.world, 0, 1, q);
    assert_true(fabs((double)q[1] - (1 + 3 * 2 * h)) < 1e-5);
    const sinew_key wrong[] = {{.time = 1}, {.time = 0}};
    assert_says(sinew_pin_set_motion(s.world, s.pin[0], &(sinew_motion){.key_count = 2, .keys = wrong}, &error),
                SINEW_ERROR_DATA, &error, "pins 0: key 1");
    assert_int_equal(sinew_pin_set_motion(s.world, s.pin[0], NULL, &error), SINEW_OK);
    sinew_world_step(s.world, NULL);
    sinew_world_get_positions(s.world, 0, 1, q);
    assert_true(q[1] == 1);
    sinew_world_destroy(s.world);
}

/* The last body goes, and another comes. */
static void empty_world(void **state)
{
    (void)state;
    ropes s = make_ropes();
    sinew_world_step(s.world, NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(sinew_world_remove_body(s.world, s.body[i], NULL), SINEW_OK);
    assert_int_equal(sinew_world_particle_count(s.world), 0);
    assert_int_equal(sinew_world_step(s.world, NULL) & SINEW_STEP_UNPREPARED, 0);
    add_springs(s.world, add_rope(s.world, 4, 1), 1000);
    assert_int_equal(sinew_world_step(s.world, NULL) & SINEW_STEP_UNPREPARED, 0);
    assert_int_equal(sinew_world_particle_count(s.world), 4);
    sinew_world_destroy(s.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_changes), cmocka_unit_test(large_bodies), cmocka_unit_test(holes),
        cmocka_unit_test(runs),           cmocka_unit_test(tear),         cmocka_unit_test(stale_ids),
        cmocka_unit_test(bad_vertices),   cmocka_unit_test(pin_motion),   cmocka_unit_test(empty_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
