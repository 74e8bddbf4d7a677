/* SPDX-License-Identifier: MIT
 *
 * test_changing_world.c: thousands of random changes of a running world, against newly built worlds.
 *
 * The test keeps a list of the world's contents. After every few changes a second world is built from the list alone,
 * with bodies in the order of their indices and with the same positions and velocities. Both worlds take a step:
 * sweeping solvers give the same bits, the others the same converged result. Invalid calls are mixed in; they must be
 * refused and change nothing.
 */
#include "make_world.h"
#include "random_cases.h"

enum {
    BODIES = 4,
    ENERGIES = 10,
    PINS = 4,
    ELEMENTS_MAX = 1024, /* elements of one energy */
    PAIRS_MAX = 24,
    CORNERS = 8
};

#ifdef SINEW_SANITIZED
#define SAMPLE 200
#else
#define SAMPLE 600
#endif

typedef struct listed_body {
    bool used;
    sinew_mesh *mesh;
    sinew_body id;
} listed_body;

/* One corner of a pair: a vertex of a body. */
typedef struct corner {
    int32_t body, vertex;
} corner;

typedef struct listed_energy {
    bool used, transient;
    sinew_energy_kind kind;
    int32_t body; /* body of the energy; -1: pairs of several bodies */
    int32_t count;
    double parameters[2];
    bool by_element; /* the first parameter varies per element */
    sinew_real each[ELEMENTS_MAX];
    corner corners[PAIRS_MAX][CORNERS];
    sinew_real weights[PAIRS_MAX][CORNERS];
    uint8_t off[ELEMENTS_MAX];
    sinew_real targets[3 * ELEMENTS_MAX]; /* targets of position energies */
    double growth;                        /* scale of the elements' own rest shapes; 0: rest shape of the body */
    sinew_energy id;
} listed_energy;

typedef struct listed_pin {
    bool used;
    int32_t body, vertex;
    sinew_real target[3];
    sinew_pin id;
} listed_pin;

typedef struct listed_world {
    listed_body bodies[BODIES];
    listed_energy energies[ENERGIES];
    listed_pin pins[PINS];
    sinew_world_def def;
} listed_world;

/* ---- Solvers --------------------------------------------------------------------------------- */

static bool sweeps(sinew_solver_kind kind)
{
    return kind == SINEW_SOLVER_XPBD || kind == SINEW_SOLVER_PBD || kind == SINEW_SOLVER_PBNG;
}

static sinew_solver_def draw_solver_def(random_cases *r)
{
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PD,   SINEW_SOLVER_QN,
                                              SINEW_SOLVER_ADMM,   SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD,
                                              SINEW_SOLVER_PBNG};
    sinew_solver_def def = sinew_default_solver_def(kinds[random_index(r, 7)]);
    def.measure = random_index(r, 4) ? SINEW_MEASURE_RESIDUAL : SINEW_MEASURE_GAP;
    def.iterations = sweeps(def.kind) ? 1 + random_index(r, 20) : 3000;
    def.tolerance = sizeof(sinew_real) == 4 ? (sinew_real)1e-6 : (sinew_real)1e-11;
    def.accuracy = sizeof(sinew_real) == 4 ? (sinew_real)1e-4 : (sinew_real)1e-10;
    if (def.kind == SINEW_SOLVER_NEWTON)
        def.parameters[sinew_solver_parameter(def.kind, "linear")] = (sinew_real)random_index(r, 2);
    if (def.kind == SINEW_SOLVER_XPBD || def.kind == SINEW_SOLVER_PBD)
        def.parameters[sinew_solver_parameter(def.kind, "order")] = (sinew_real)random_index(r, 3);
    return def;
}

/* ---- From the list to a world ------------------------------------------------------------------- */

static sinew_body put_body(sinew_world *world, const listed_body *b)
{
    sinew_error error = {0};
    sinew_body_def def = sinew_default_body_def();
    def.mesh = b->mesh;
    const sinew_body id = sinew_world_add_body(world, &def, &error);
    must(&error);
    return id;
}

/* The def of an energy in a world whose bodies have the given ids. `elements` [PAIRS_MAX * CORNERS] is work space. */
static sinew_energy_def energy_def(const sinew_world *world, const sinew_body *ids, const listed_energy *e,
                                   int32_t *elements)
{
    sinew_energy_def def = sinew_default_energy_def(e->kind);
    def.transient = e->transient;
    for (int p = 0; p < 2; p++)
        def.parameters[p] = (sinew_real)e->parameters[p];
    if (e->by_element)
        def.element_parameters[0] = e->each;
    if (e->kind == SINEW_ENERGY_POSITION)
        def.targets = e->targets;
    if (e->body >= 0) {
        def.body = ids[e->body];
        return def;
    }
    for (int32_t i = 0; i < e->count; i++)
        for (int c = 0; c < CORNERS; c++) {
            const corner *at = &e->corners[i][c];
            elements[CORNERS * i + c] = sinew_body_first_particle(world, ids[at->body]) + at->vertex;
        }
    def.element_count = e->count;
    def.elements = elements;
    def.weights = &e->weights[0][0];
    return def;
}

/* Scales the rest shapes of an energy's elements by a factor, element by element. */
static void grow_rest(sinew_world *world, const listed_world *l, const listed_energy *e, sinew_energy id)
{
    sinew_error error = {0};
    const sinew_mesh *mesh = l->bodies[e->body].mesh;
    const bool solid = e->kind == SINEW_ENERGY_STRAIN;
    const int32_t n = solid ? 4 : 2;
    sinew_mesh *edges = solid || sinew_mesh_edge_count(mesh) > 0 ? NULL : sinew_mesh_skeleton(mesh, &error);
    const int32_t *cells = solid ? sinew_mesh_tets(mesh) : sinew_mesh_edges(edges ? edges : mesh);
    const sinew_real *x = sinew_mesh_positions(mesh);
    sinew_real *rest = malloc(3 * (size_t)n * (size_t)e->count * sizeof *rest);
    for (int32_t i = 0; i < e->count * n; i++)
        for (int c = 0; c < 3; c++)
            rest[3 * i + c] = (sinew_real)(e->growth * (double)x[3 * cells[i] + c]);
    sinew_energy_set_rest(world, id, 0, e->count, rest, &error);
    must(&error);
    free(rest);
    sinew_mesh_destroy(edges);
}

static void switch_elements(sinew_world *world, const listed_energy *e, sinew_energy id, bool on)
{
    sinew_error error = {0};
    int32_t list[ELEMENTS_MAX], count = 0;
    for (int32_t i = 0; i < e->count; i++)
        if (e->off[i] == !on)
            list[count++] = i;
    sinew_energy_switch(world, id, list, count, on, &error);
    must(&error);
}

static sinew_energy put_energy(sinew_world *world, const listed_world *l, const sinew_body *ids, listed_energy *e)
{
    sinew_error error = {0};
    int32_t elements[PAIRS_MAX * CORNERS];
    const sinew_energy_def def = energy_def(world, ids, e, elements);
    const sinew_energy id = sinew_world_add_energy(world, &def, &error);
    must(&error);
    e->count = sinew_energy_element_count(world, id);
    assert_true(e->count <= ELEMENTS_MAX);
    if (e->growth > 0)
        grow_rest(world, l, e, id);
    return id;
}

static sinew_pin put_pin(sinew_world *world, const sinew_body *ids, const listed_pin *p)
{
    sinew_error error = {0};
    sinew_pin_def def = sinew_default_pin_def();
    def.body = ids[p->body];
    def.vertex_count = 1;
    def.vertices = &p->vertex;
    def.targets = p->target;
    const sinew_pin id = sinew_world_add_pins(world, &def, &error);
    must(&error);
    return id;
}

/* Positions and velocities of all bodies, one after the other by body index. */
static int32_t body_state(const sinew_world *world, const listed_world *l, const sinew_body *ids, sinew_real *q,
                          sinew_real *v)
{
    int32_t at = 0;
    for (int b = 0; b < BODIES; b++) {
        if (!l->bodies[b].used)
            continue;
        const int32_t first = sinew_body_first_particle(world, ids[b]), n = sinew_mesh_vertex_count(l->bodies[b].mesh);
        sinew_world_get_positions(world, first, n, q + 3 * at);
        sinew_world_get_velocities(world, first, n, v + 3 * at);
        at += n;
    }
    return at;
}

static void set_body_state(sinew_world *world, const listed_world *l, const sinew_body *ids, const sinew_real *q,
                           const sinew_real *v)
{
    int32_t at = 0;
    for (int b = 0; b < BODIES; b++) {
        if (!l->bodies[b].used)
            continue;
        const int32_t first = sinew_body_first_particle(world, ids[b]), n = sinew_mesh_vertex_count(l->bodies[b].mesh);
        sinew_world_set_positions(world, first, n, q + 3 * at);
        sinew_world_set_velocities(world, first, n, v + 3 * at);
        at += n;
    }
}

/* Builds a world with the contents of the list and the state q, v. */
static sinew_world *build_fresh(listed_world *l, const sinew_real *q, const sinew_real *v, sinew_body *ids)
{
    sinew_world *world = make_world(&l->def);
    for (int b = 0; b < BODIES; b++)
        if (l->bodies[b].used)
            ids[b] = put_body(world, &l->bodies[b]);
    set_body_state(world, l, ids, q, v);
    for (int e = 0; e < ENERGIES; e++)
        if (l->energies[e].used) {
            const sinew_energy id = put_energy(world, l, ids, &l->energies[e]);
            switch_elements(world, &l->energies[e], id, false);
        }
    for (int p = 0; p < PINS; p++)
        if (l->pins[p].used)
            put_pin(world, ids, &l->pins[p]);
    return world;
}

/* ---- Random contents ----------------------------------------------------------------------------- */

static sinew_mesh *draw_mesh(random_cases *r)
{
    const double from[3] = {0, 0, 0}, to[3] = {1, 0.2, 0};
    if (random_index(r, 3) == 0)
        return make_rope(3 + random_index(r, 8), from, to);
    return make_beam(1 + random_index(r, 3), 1 + random_index(r, 2), 1 + random_index(r, 2), 1, 0.5, 0.4);
}

static int32_t draw_body(random_cases *r, const listed_world *l)
{
    int32_t chosen = -1, seen = 0;
    for (int b = 0; b < BODIES; b++)
        if (l->bodies[b].used && random_index(r, ++seen) == 0)
            chosen = b;
    return chosen;
}

static corner draw_corner(random_cases *r, const listed_world *l, int32_t body)
{
    return (corner){body, random_index(r, sinew_mesh_vertex_count(l->bodies[body].mesh))};
}

static void draw_pairs(random_cases *r, const listed_world *l, listed_energy *e)
{
    e->count = 1 + random_index(r, PAIRS_MAX);
    memset(e->off, 0, sizeof e->off);
    for (int32_t i = 0; i < e->count; i++)
        for (int side = 0; side < 2; side++) {
            const int32_t body = draw_body(r, l);
            const double share = random_between(r, 0, 1);
            for (int c = 0; c < 4; c++) {
                e->corners[i][4 * side + c] = draw_corner(r, l, body);
                e->weights[i][4 * side + c] = (sinew_real)(c == 0 ? share : c == 1 ? 1 - share : 0);
            }
        }
}

static double draw_stiffness(random_cases *r)
{
    return (double)(float)random_magnitude(r, 1e3, 1e5);
}

static void draw_energy(random_cases *r, const listed_world *l, listed_energy *e)
{
    *e = (listed_energy){.used = true, .body = draw_body(r, l)};
    const bool solid = sinew_mesh_tet_count(l->bodies[e->body].mesh) > 0;
    const int which = random_index(r, 4);
    e->kind = which == 0   ? SINEW_ENERGY_POSITION
              : which == 1 ? SINEW_ENERGY_WEAK
              : solid      ? SINEW_ENERGY_STRAIN
                           : SINEW_ENERGY_SPRING;
    e->parameters[0] = draw_stiffness(r);
    e->parameters[1] = e->kind == SINEW_ENERGY_WEAK ? draw_stiffness(r) : 0;
    e->transient = random_index(r, e->kind == SINEW_ENERGY_WEAK ? 4 : 16) != 0;
    if (e->kind != SINEW_ENERGY_WEAK)
        e->transient = !e->transient;
    else {
        e->body = -1;
        draw_pairs(r, l, e);
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

static int free_body(const listed_world *l)
{
    for (int b = 0; b < BODIES; b++)
        if (!l->bodies[b].used)
            return b;
    return -1;
}

static void change_add_body(random_cases *r, sinew_world *world, listed_world *l, sinew_body *ids)
{
    const int b = free_body(l);
    if (b < 0)
        return;
    l->bodies[b] = (listed_body){.used = true, .mesh = draw_mesh(r)};
    ids[b] = l->bodies[b].id = put_body(world, &l->bodies[b]);
    assert_int_equal(ids[b].index, b);
}

static bool touches(const listed_energy *e, int32_t body)
{
    bool touched = e->used && e->body == body;
    for (int32_t i = 0; e->used && e->body < 0 && i < e->count; i++)
        for (int c = 0; c < CORNERS; c++)
            touched |= e->corners[i][c].body == body;
    return touched;
}

static void remove_energy(sinew_world *world, listed_energy *e)
{
    sinew_error error = {0};
    const sinew_energy stale = e->id;
    sinew_world_remove_energy(world, stale, &error);
    must(&error);
    assert_int_not_equal(sinew_world_remove_energy(world, stale, &error), SINEW_OK);
    assert_non_null(strstr(error.text, "removed"));
    e->used = false;
}

static void change_remove_body(random_cases *r, sinew_world *world, listed_world *l, const sinew_body *ids)
{
    sinew_error error = {0};
    const int32_t b = draw_body(r, l);
    int left = 0;
    for (int k = 0; k < BODIES; k++)
        left += l->bodies[k].used;
    if (left < 2)
        return;
    for (int e = 0; e < ENERGIES; e++)
        if (touches(&l->energies[e], b))
            remove_energy(world, &l->energies[e]);
    for (int p = 0; p < PINS; p++)
        if (l->pins[p].used && l->pins[p].body == b) {
            sinew_world_remove_pins(world, l->pins[p].id, &error);
            must(&error);
            l->pins[p].used = false;
        }
    sinew_world_remove_body(world, ids[b], &error);
    must(&error);
    assert_int_not_equal(sinew_world_remove_body(world, ids[b], &error), SINEW_OK);
    sinew_mesh_destroy(l->bodies[b].mesh);
    l->bodies[b].used = false;
}

static void change_add_energy(random_cases *r, sinew_world *world, listed_world *l, const sinew_body *ids)
{
    for (int e = 0; e < ENERGIES; e++)
        if (!l->energies[e].used) {
            draw_energy(r, l, &l->energies[e]);
            if (l->energies[e].kind == SINEW_ENERGY_POSITION)
                sinew_world_get_positions(world, sinew_body_first_particle(world, ids[l->energies[e].body]),
                                          sinew_mesh_vertex_count(l->bodies[l->energies[e].body].mesh),
                                          l->energies[e].targets);
            l->energies[e].id = put_energy(world, l, ids, &l->energies[e]);
            assert_int_equal(l->energies[e].id.index, e);
            return;
        }
}

static listed_energy *draw_used_energy(random_cases *r, listed_world *l)
{
    listed_energy *chosen = NULL;
    int seen = 0;
    for (int e = 0; e < ENERGIES; e++)
        if (l->energies[e].used && random_index(r, ++seen) == 0)
            chosen = &l->energies[e];
    return chosen;
}

static void change_elements(random_cases *r, sinew_world *world, listed_world *l, const sinew_body *ids,
                            listed_energy *e)
{
    sinew_error error = {0};
    int32_t elements[PAIRS_MAX * CORNERS];
    if (e->body >= 0)
        return;
    draw_pairs(r, l, e);
    const sinew_energy_def def = energy_def(world, ids, e, elements);
    e->by_element = false;
    sinew_energy_def plain = def;
    plain.element_parameters[0] = NULL;
    sinew_energy_set_elements(world, e->id, &plain, &error);
    must(&error);
}

/* Removes some pairs and appends others. */
static void change_pairs(random_cases *r, sinew_world *world, listed_world *l, const sinew_body *ids, listed_energy *e)
{
    sinew_error error = {0};
    int32_t elements[PAIRS_MAX * CORNERS], gone[PAIRS_MAX], gone_count = 0, left = 0, first = -1;
    if (e->body >= 0)
        return;
    for (int32_t i = 0; i < e->count; i++) {
        if (left + (e->count - i) > 1 && random_index(r, 3) == 0) {
            gone[gone_count++] = i;
            continue;
        }
        memmove(e->corners[left], e->corners[i], sizeof e->corners[i]);
        memmove(e->weights[left], e->weights[i], sizeof e->weights[i]);
        e->each[left] = e->each[i];
        e->off[left++] = e->off[i];
    }
    sinew_energy_remove_elements(world, e->id, gone, gone_count, &error);
    must(&error);
    listed_energy more = *e;
    draw_pairs(r, l, &more);
    more.count = more.count < PAIRS_MAX - left ? more.count : PAIRS_MAX - left;
    more.by_element = false;
    e->count = left;
    if (more.count == 0)
        return;
    const sinew_energy_def def = energy_def(world, ids, &more, elements);
    sinew_energy_add_elements(world, e->id, &def, &first, &error);
    must(&error);
    assert_int_equal(first, left);
    for (int32_t i = 0; i < more.count; i++, e->count++) {
        memcpy(e->corners[e->count], more.corners[i], sizeof more.corners[i]);
        memcpy(e->weights[e->count], more.weights[i], sizeof more.weights[i]);
        e->each[e->count] = (sinew_real)e->parameters[0];
        e->off[e->count] = 0;
    }
}

static void change_switches(random_cases *r, sinew_world *world, listed_energy *e)
{
    const bool all_on = random_index(r, 3) == 0;
    for (int32_t i = 0; i < e->count; i++)
        e->off[i] = !all_on && random_index(r, 6) == 0;
    switch_elements(world, e, e->id, true);
    switch_elements(world, e, e->id, false);
}

static void change_parameter(random_cases *r, sinew_world *world, listed_energy *e)
{
    sinew_error error = {0};
    const char *name = sinew_get_energy_info(e->kind)->parameters[0].name;
    e->by_element = random_index(r, 2) == 0;
    e->parameters[0] = e->by_element ? e->parameters[0] : draw_stiffness(r);
    for (int32_t i = 0; i < e->count; i++)
        e->each[i] = (sinew_real)draw_stiffness(r);
    if (e->by_element)
        sinew_energy_set_element_parameters(world, e->id, name, e->each, &error);
    else
        sinew_energy_set_parameter(world, e->id, name, (sinew_real)e->parameters[0], &error);
    must(&error);
}

static void change_rest(random_cases *r, sinew_world *world, const listed_world *l, listed_energy *e)
{
    if (e->kind != SINEW_ENERGY_STRAIN && e->kind != SINEW_ENERGY_SPRING)
        return;
    e->growth = (double)(float)random_between(r, 0.8, 1.25);
    grow_rest(world, l, e, e->id);
}

static void change_pins(random_cases *r, sinew_world *world, listed_world *l, const sinew_body *ids)
{
    sinew_error error = {0};
    listed_pin *p = &l->pins[random_index(r, PINS)];
    if (p->used) {
        sinew_world_remove_pins(world, p->id, &error);
        must(&error);
        p->used = false;
        return;
    }
    const int32_t body = draw_body(r, l);
    const corner at = draw_corner(r, l, body);
    for (int k = 0; k < PINS; k++)
        if (l->pins[k].used && l->pins[k].body == at.body && l->pins[k].vertex == at.vertex)
            return;
    *p = (listed_pin){.used = true, .body = at.body, .vertex = at.vertex};
    sinew_world_get_positions(world, sinew_body_first_particle(world, ids[at.body]) + at.vertex, 1, p->target);
    p->id = put_pin(world, ids, p);
}

static void change_limits(random_cases *r, sinew_world *world, listed_world *l)
{
    sinew_error error = {0};
    if (random_index(r, 2)) {
        l->def.time_step = (sinew_real)random_between(r, 0.005, 0.05);
        sinew_world_set_time_step(world, l->def.time_step, &error);
    } else {
        const sinew_solver_def drawn = draw_solver_def(r);
        if (random_index(r, 2))
            l->def.solver = drawn;
        else if (sweeps(l->def.solver.kind))
            l->def.solver.iterations = 1 + random_index(r, 20);
        sinew_world_set_solver(world, &l->def.solver, &error);
    }
    must(&error);
}

/* Invalid calls, each for another reason, must be refused and leave the world unchanged. */
static void bad_calls(random_cases *r, sinew_world *world, listed_world *l)
{
    sinew_error error = {0};
    const uint64_t before = sinew_world_state_hash(world);
    listed_energy *e = draw_used_energy(r, l);
    const int32_t twice[2] = {0, 0}, beyond[1] = {e ? e->count : 0};
    if (!e)
        return;
    assert_int_equal(sinew_energy_switch(world, e->id, twice, 2, false, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "twice"));
    assert_int_equal(sinew_energy_switch(world, e->id, beyond, 1, false, &error), SINEW_ERROR_DATA);
    assert_int_equal(sinew_energy_switch(world, e->id, twice, -1, false, &error), SINEW_ERROR_DATA);
    assert_int_not_equal(sinew_energy_set_parameter(world, e->id, "no_such", 1, &error), SINEW_OK);
    assert_non_null(strstr(error.text, "no_such"));
    const char *name = sinew_get_energy_info(e->kind)->parameters[0].name;
    assert_int_equal(sinew_energy_set_parameter(world, e->id, name, (sinew_real)-1, &error), SINEW_ERROR_DATA);
    assert_int_equal(sinew_energy_get_parameter(world, e->id, name, 0, NULL, &error), SINEW_ERROR_USAGE);
    assert_non_null(strstr(error.text, "room"));
    sinew_energy_def other = sinew_default_energy_def(SINEW_ENERGY_LINEAR);
    other.body = l->bodies[0].id;
    assert_int_not_equal(sinew_energy_set_elements(world, e->id, &other, &error), SINEW_OK);
    const sinew_energy wrong = {e->id.index, e->id.generation + 1};
    assert_int_not_equal(sinew_energy_switch(world, wrong, NULL, 0, true, &error), SINEW_OK);
    assert_true(before == sinew_world_state_hash(world));
}

static void change(random_cases *r, sinew_world *world, listed_world *l, sinew_body *ids)
{
    const int which = random_index(r, 16);
    listed_energy *e = draw_used_energy(r, l);
    if (which == 0)
        change_add_body(r, world, l, ids);
    else if (which == 1)
        change_remove_body(r, world, l, ids);
    else if (which <= 4)
        change_add_energy(r, world, l, ids);
    else if (which == 15)
        bad_calls(r, world, l);
    else if (which == 14)
        change_limits(r, world, l);
    else if (which == 13)
        change_pins(r, world, l, ids);
    else if (!e)
        return;
    else if (which <= 6)
        remove_energy(world, e);
    else if (which == 7)
        change_pairs(r, world, l, ids, e);
    else if (which == 8)
        change_elements(r, world, l, ids, e);
    else if (which <= 10)
        change_switches(r, world, e);
    else if (which == 11)
        change_parameter(r, world, e);
    else
        change_rest(r, world, l, e);
}

/* ---- Compare --------------------------------------------------------------------------------- */

typedef struct tally {
    int32_t steps, compared, unsolved;
    int32_t valleys; /* steps that ended in another minimum of the same objective */
    double worst;    /* m */
} tally;

static double distance(const sinew_real *a, const sinew_real *b, int32_t count)
{
    double max = 0;
    for (int32_t i = 0; i < 3 * count; i++)
        max = fmax(max, fabs((double)a[i] - (double)b[i]));
    return max;
}

enum {
    POINTS = 3 * 256 * BODIES
};

/* |grad g| at q over |grad g| at the start q_n, in a world built from the list; bodies one after the other. */
static double fresh_residual(listed_world *l, const sinew_real *q_n, const sinew_real *v_n, const sinew_real *q)
{
    static sinew_real gradient[POINTS];
    sinew_body ids[BODIES];
    sinew_world *world = build_fresh(l, q_n, v_n, ids);
    const int32_t count = sinew_world_particle_count(world);
    double value, sums[2] = {0, 0};
    for (int which = 0; which < 2; which++) {
        assert_int_equal(sinew_world_objective(world, which ? q : q_n, &value, gradient), SINEW_OK);
        for (int32_t i = 0; i < 3 * count; i++)
            sums[which] += (double)gradient[i] * (double)gradient[i];
    }
    sinew_world_destroy(world);
    return sqrt(sums[1] / sums[0]);
}

/* Converged steps agree, or end in two local minima of one objective: compressed springs may buckle to either side. */
static void compare_converged(listed_world *l, const sinew_real *q_n, const sinew_real *v_n, const sinew_real *q,
                              const sinew_real *q_fresh, int32_t count, tally *t)
{
    const bool single = sizeof(sinew_real) == 4;
    const double allowed = single ? 2e-3 : 1e-8, apart = distance(q, q_fresh, count);
    t->compared++;
    if (apart <= allowed) {
        t->worst = fmax(t->worst, apart);
        return;
    }
    const double left = fresh_residual(l, q_n, v_n, q);
    if (!(left < (single ? 1e-3 : 1e-7)))
        fail_msg("%s: converged steps of a changed world and of a fresh one differ by %g m, and the former's residual "
                 "in the latter is %g of the start's (step %d)",
                 sinew_get_solver_info(l->def.solver.kind)->name, apart, left, t->steps);
    t->valleys++;
}

/* Takes a step of the running world and of a new world from the same state, and compares both. */
static void compare_step(sinew_world *world, listed_world *l, const sinew_body *ids, tally *t)
{
    static sinew_real q_n[POINTS], v_n[POINTS], q[POINTS], v[POINTS], q_fresh[POINTS], v_fresh[POINTS];
    const sinew_solver_kind kind = l->def.solver.kind;
    sinew_body fresh_ids[BODIES];
    assert_true(3 * body_state(world, l, ids, q_n, v_n) <= POINTS);
    sinew_world *fresh = build_fresh(l, q_n, v_n, fresh_ids);
    const uint32_t bits = sinew_world_step(world, NULL), fresh_bits = sinew_world_step(fresh, NULL);
    if ((bits | fresh_bits) & SINEW_STEP_UNPREPARED)
        fail_msg("unprepared: %s | %s", sinew_world_error(world), sinew_world_error(fresh));
    const int32_t count = body_state(world, l, ids, q, v);
    body_state(fresh, l, fresh_ids, q_fresh, v_fresh);
    sinew_world_destroy(fresh);
    t->steps++;
    if (!sweeps(kind)) {
        if ((bits | fresh_bits) & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_STALLED | SINEW_STEP_NOT_FINITE))
            t->unsolved++;
        else
            compare_converged(l, q_n, v_n, q, q_fresh, count, t);
        return;
    }
    if (memcmp(q, q_fresh, 3 * (size_t)count * sizeof *q) != 0 || bits != fresh_bits)
        fail_msg("%s: a changed world and a fresh one differ by %g m (step %d)", sinew_get_solver_info(kind)->name,
                 distance(q, q_fresh, count), t->steps);
    t->compared++;
}

/* Bodies that have flown far away test nothing; they are set back to rest. */
static void calm(sinew_world *world, const listed_world *l, const sinew_body *ids)
{
    for (int b = 0; b < BODIES; b++) {
        if (!l->bodies[b].used)
            continue;
        const int32_t n = sinew_mesh_vertex_count(l->bodies[b].mesh), first = sinew_body_first_particle(world, ids[b]);
        sinew_real *zero = calloc(3 * (size_t)n, sizeof *zero);
        sinew_world_set_positions(world, first, n, sinew_mesh_positions(l->bodies[b].mesh));
        sinew_world_set_velocities(world, first, n, zero);
        free(zero);
    }
}

static void test_random_changes(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("changes", SAMPLE, 10000);
    listed_world *l = calloc(1, sizeof *l);
    sinew_body ids[BODIES];
    tally t = {0};
    l->def = sinew_default_world_def();
    l->def.solver = draw_solver_def(&r);
    l->def.thread_count = 1 + random_index(&r, 2);
    sinew_world *world = make_world(&l->def);
    change_add_body(&r, world, l, ids);
    change_add_energy(&r, world, l, ids);
    for (int32_t i = 0; i < r.count; i++) {
        change(&r, world, l, ids);
        if (random_index(&r, 3) == 0)
            compare_step(world, l, ids, &t);
        if (random_index(&r, 40) == 0)
            calm(world, l, ids);
    }
    printf("%d changes, %d steps compared of %d, %d not converged, %d in another valley, worst distance %.2g m\n",
           r.count, t.compared, t.steps, t.unsolved, t.valleys, t.worst);
    assert_true(t.compared * 2 > t.steps && t.valleys * 10 < t.steps);
    sinew_world_destroy(world);
    for (int b = 0; b < BODIES; b++)
        if (l->bodies[b].used)
            sinew_mesh_destroy(l->bodies[b].mesh);
    free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
