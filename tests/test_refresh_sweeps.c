/* SPDX-License-Identifier: MIT
 *
 * test_refresh_sweeps.c: changes that xpbd, pbd, xpbd-qs and pbng apply without a new preparation.
 *
 * Copies of a random world get the same random changes. The first updates its solver, the second lays out objective and
 * solver again before every step, the third does so with several threads: all give the same bits, and layouts pass a
 * brute-force check. Also: a world with a long history ends like one built in its final form; failing allocations leave
 * a usable world; changes stop allocating after a few steps.
 */
#include "failing_allocator.h"
#include "layout_checks.h"
#include "random_scene.h"

#include "solve/constraint_sweep/pbd_common.h"
#include "world/world.h"

enum {
    TWINS = 3,
    ENERGIES = 6, /* maximum number of transient energies */
    PAIRS = 12,   /* maximum number of elements per transient energy */
    CHANGES = 12  /* changes per case */
};

#ifdef SINEW_SANITIZED
#define SAMPLE 6
#else
#define SAMPLE 60
#endif

/* ---- Twins ----------------------------------------------------------------------------------- */

typedef struct transient_energy {
    bool used;
    sinew_energy_kind kind;
    sinew_energy id; /* equal in all twins */
} transient_energy;

typedef struct twins {
    sinew_world *worlds[TWINS]; /* refreshed; prepared before each step; prepared before each step with threads */
    sinew_solver_def solver;
    bool quasistatic;
    sinew_energy fixed;
    transient_energy energies[ENERGIES];
    sinew_pin pin;
    bool has_pin;
    int32_t particles;
} twins;

static void draw_parameter(random_cases *r, sinew_solver_def *def, const char *name, int choices)
{
    const int32_t p = sinew_solver_parameter(def->kind, name);
    const int there = p >= 0 ? 1 + (int)sinew_get_solver_info(def->kind)->parameters[p].maximum : 0;
    if (p >= 0)
        def->parameters[p] = (sinew_real)random_index(r, there < choices ? there : choices);
}

static sinew_solver_def draw_sweeping(random_cases *r, bool quasistatic)
{
    const sinew_solver_kind kinds[] = {SINEW_SOLVER_PBNG, SINEW_SOLVER_PBD,
                                       quasistatic ? SINEW_SOLVER_XPBD_QS : SINEW_SOLVER_XPBD};
    sinew_solver_def def = sinew_default_solver_def(kinds[random_index(r, 3)]);
    def.iterations = 3 + random_index(r, 5);
    def.tolerance = 0;
    def.measure = SINEW_MEASURE_NOTHING;
    draw_parameter(r, &def, "order", 3);
    draw_parameter(r, &def, "symmetric", 2);
    draw_parameter(r, &def, "neo_hookean", 4);
    draw_parameter(r, &def, "rule", 2);
    draw_parameter(r, &def, "constraint", 2);
    draw_parameter(r, &def, "first", 2);
    draw_parameter(r, &def, "hessian", 2);
    draw_parameter(r, &def, "acceleration", 4);
    draw_parameter(r, &def, "coarse", 2);
    draw_parameter(r, &def, "residual", 2);
    draw_parameter(r, &def, "safeguard", 2);
    if (def.kind == SINEW_SOLVER_PBD)
        def.parameters[sinew_solver_parameter(def.kind, "stiffness")] = (sinew_real)0.7;
    if (def.kind == SINEW_SOLVER_XPBD) {
        def.parameters[sinew_solver_parameter(def.kind, "substeps")] = (sinew_real)(1 + random_index(r, 3));
        def.parameters[sinew_solver_parameter(def.kind, "damping")] = (sinew_real)(random_index(r, 2) ? 1e-3 : 0);
    }
    return def;
}

static twins make_twins(random_cases *r)
{
    twins t = {0};
    drawn_scene d = draw_scene(r);
    d.cells = d.cells > 3 ? 3 : d.cells;
    t.quasistatic = d.h == 0;
    t.solver = draw_sweeping(r, t.quasistatic);
    for (int k = 0; k < TWINS; k++) {
        t.worlds[k] = drawn_world(&d, &t.solver, NULL);
        t.worlds[k]->objective.thread_count = k == 2 ? 2 + (int32_t)(d.seed % 2) : 1;
    }
    t.fixed = (sinew_energy){.index = 0, .generation = t.worlds[0]->energies[0].generation};
    t.particles = sinew_world_particle_count(t.worlds[0]);
    print_scene(&d);
    printf(" with %s\n", sinew_get_solver_info(t.solver.kind)->name);
    return t;
}

/* ---- Transient energies ---------------------------------------------------------------------- */

/* Random elements of one energy: the arrays that a def points to. */
typedef struct drawn_elements {
    int32_t elements[8 * PAIRS];
    sinew_real weights[8 * PAIRS], targets[3 * PAIRS];
} drawn_elements;

/* Draws distinct particles. */
static void draw_particles(random_cases *r, int32_t particles, int32_t count, int32_t *out)
{
    for (int32_t i = 0; i < count; i++) {
        bool again = true;
        while (again) {
            out[i] = random_index(r, particles);
            again = false;
            for (int32_t j = 0; j < i; j++)
                again |= out[j] == out[i];
        }
    }
}

static void draw_weights(random_cases *r, sinew_real *weights)
{
    for (int side = 0; side < 2; side++) {
        double w[4], sum = 0;
        for (int i = 0; i < 4; i++)
            sum += w[i] = random_between(r, 0.1, 1);
        for (int i = 0; i < 4; i++)
            weights[4 * side + i] = (sinew_real)(w[i] / sum);
    }
}

/* The vertices of one fixed element, as particles of the world. */
static void draw_fixed_element(random_cases *r, const twins *t, int32_t n, int32_t *out)
{
    const sinew_world *world = t->worlds[0];
    const sinew_energy_store *store = &world->energies[0].store;
    const int32_t e = random_index(r, store->count);
    for (int32_t a = 0; a < n; a++)
        out[a] = world->outside[store->particles[n * e + a]];
}

/* Random elements; tets, which need a volume, repeat fixed ones. */
static sinew_energy_def draw_elements(random_cases *r, const twins *t, sinew_energy_kind kind, drawn_elements *d)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    const int32_t n = sinew_get_energy_info(kind)->vertex_count;
    def.transient = true;
    def.element_count = 1 + random_index(r, PAIRS);
    for (int32_t e = 0; e < def.element_count; e++) {
        int32_t *own = d->elements + n * e;
        if (n == 4)
            draw_fixed_element(r, t, n, own);
        else
            draw_particles(r, t->particles, n, own);
        if (kind == SINEW_ENERGY_WEAK && random_index(r, 4) == 0)
            own[5] = own[1]; /* a vertex on both sides of the pair */
        draw_weights(r, d->weights + 8 * e);
        for (int c = 0; c < 3; c++)
            d->targets[3 * e + c] = (sinew_real)random_between(r, -1, 1);
    }
    def.elements = d->elements;
    if (kind == SINEW_ENERGY_WEAK)
        def.weights = d->weights;
    if (kind == SINEW_ENERGY_POSITION)
        def.targets = d->targets;
    return def;
}

static transient_energy *draw_transient(random_cases *r, twins *t, bool used)
{
    const int first = random_index(r, ENERGIES);
    for (int k = 0; k < ENERGIES; k++)
        if (t->energies[(first + k) % ENERGIES].used == used)
            return &t->energies[(first + k) % ENERGIES];
    return NULL;
}

/* ---- Changes --------------------------------------------------------------------------------- */

typedef void change(random_cases *r, twins *t);

static void add_transient(random_cases *r, twins *t)
{
    const sinew_energy_kind fixed = t->worlds[0]->energies[0].kind;
    const sinew_energy_kind kinds[] = {SINEW_ENERGY_WEAK, SINEW_ENERGY_WEAK, SINEW_ENERGY_SPRING, SINEW_ENERGY_POSITION,
                                       fixed};
    transient_energy *e = draw_transient(r, t, false);
    drawn_elements d;
    if (!e)
        return;
    *e = (transient_energy){.used = true, .kind = kinds[random_index(r, 5)]};
    const sinew_energy_def def = draw_elements(r, t, e->kind, &d);
    for (int k = 0; k < TWINS; k++)
        e->id = add_energy(t->worlds[k], &def);
}

static void remove_transient(random_cases *r, twins *t)
{
    transient_energy *e = draw_transient(r, t, true);
    sinew_error error = {0};
    for (int k = 0; e && k < TWINS; k++)
        sinew_world_remove_energy(t->worlds[k], e->id, &error);
    must(&error);
    if (e)
        e->used = false;
}

static void replace_transient(random_cases *r, twins *t)
{
    transient_energy *e = draw_transient(r, t, true);
    sinew_error error = {0};
    drawn_elements d;
    if (!e || e->kind == SINEW_ENERGY_POSITION)
        return;
    const sinew_energy_def def = draw_elements(r, t, e->kind, &d);
    for (int k = 0; k < TWINS; k++)
        assert_int_equal(sinew_energy_set_elements(t->worlds[k], e->id, &def, &error), SINEW_OK);
}

static void switch_some(random_cases *r, const twins *t, sinew_energy energy)
{
    const int32_t count = sinew_energy_element_count(t->worlds[0], energy);
    const int32_t some[] = {random_index(r, count)};
    const bool on = random_index(r, 2), all = on && random_index(r, 2);
    sinew_error error = {0};
    for (int k = 0; k < TWINS; k++)
        sinew_energy_switch(t->worlds[k], energy, all ? NULL : some, 1, on, &error);
    must(&error);
}

/* Quasistatic worlds need a support of every component. */
static void switch_fixed(random_cases *r, twins *t)
{
    if (!t->quasistatic)
        switch_some(r, t, t->fixed);
}

static void switch_transient(random_cases *r, twins *t)
{
    const transient_energy *e = draw_transient(r, t, true);
    if (e)
        switch_some(r, t, e->id);
}

static void set_first_parameter(random_cases *r, const twins *t, sinew_energy energy, sinew_energy_kind kind)
{
    const char *name = sinew_get_energy_info(kind)->parameters[0].name;
    const sinew_real value = (sinew_real)drawn_number(random_magnitude(r, 1e3, 1e6));
    sinew_error error = {0};
    for (int k = 0; k < TWINS; k++)
        sinew_energy_set_parameter(t->worlds[k], energy, name, value, &error);
    must(&error);
}

static void set_fixed_parameter(random_cases *r, twins *t)
{
    set_first_parameter(r, t, t->fixed, t->worlds[0]->energies[0].kind);
}

static void set_transient_parameter(random_cases *r, twins *t)
{
    const transient_energy *e = draw_transient(r, t, true);
    if (e)
        set_first_parameter(r, t, e->id, e->kind);
}

/* Scales the rest shape of an element. */
static void set_rest(random_cases *r, twins *t)
{
    const sinew_energy_store *store = &t->worlds[0]->energies[0].store;
    const int32_t n = t->worlds[0]->energies[0].batch->ops->info.vertex_count, e = random_index(r, store->count);
    const double growth = random_between(r, 0.9, 1.2);
    sinew_real rest[12];
    sinew_error error = {0};
    for (int32_t a = 0; a < n; a++)
        for (int32_t c = 0; c < 3; c++)
            rest[3 * a + c] = (sinew_real)(growth * (double)t->worlds[0]->rest[4 * store->particles[n * e + a] + c]);
    for (int k = 0; k < TWINS; k++)
        sinew_energy_set_rest(t->worlds[k], t->fixed, e, 1, rest, &error);
    must(&error);
}

static void set_time_step(random_cases *r, twins *t)
{
    const sinew_real h = (sinew_real)drawn_number(random_magnitude(r, 0.003, 0.03));
    sinew_error error = {0};
    for (int k = 0; k < TWINS; k++)
        sinew_world_set_time_step(t->worlds[k], h, &error);
    must(&error);
}

static void change_pins(random_cases *r, twins *t)
{
    sinew_error error = {0};
    sinew_pin_def def = sinew_default_pin_def();
    int32_t vertices[3];
    def.body = sinew_world_body_at(t->worlds[0], 0);
    def.vertices = vertices;
    def.vertex_count = 1 + random_index(r, t->particles < 6 ? 1 : 3);
    draw_particles(r, t->particles, def.vertex_count, vertices);
    for (int k = 0; k < TWINS; k++) {
        if (t->has_pin)
            sinew_world_remove_pins(t->worlds[k], t->pin, &error);
        else
            t->pin = sinew_world_add_pins(t->worlds[k], &def, &error);
    }
    /* The scene's own pins may hold the particle already. */
    if (t->has_pin || error.status == SINEW_OK)
        t->has_pin = !t->has_pin;
}

static void set_limits(random_cases *r, twins *t)
{
    sinew_error error = {0};
    t->solver.iterations = 3 + random_index(r, 5);
    t->solver.measure = random_index(r, 2) ? SINEW_MEASURE_NOTHING : SINEW_MEASURE_RESIDUAL;
    t->solver.tolerance = random_index(r, 2) ? 0 : (sinew_real)1e-3;
    for (int k = 0; k < TWINS; k++)
        sinew_world_set_solver(t->worlds[k], &t->solver, &error);
    must(&error);
}

static void move_targets(random_cases *r, twins *t)
{
    const transient_energy *e = draw_transient(r, t, true);
    sinew_error error = {0};
    sinew_real targets[3 * PAIRS];
    for (int i = 0; i < 3 * PAIRS; i++)
        targets[i] = (sinew_real)random_between(r, -1, 1);
    for (int k = 0; e && e->kind == SINEW_ENERGY_POSITION && k < TWINS; k++)
        sinew_energy_set_targets(t->worlds[k], e->id, targets, &error);
    must(&error);
}

/* Saves and loads the first twin only: its bits must not change. */
static void save_and_load(random_cases *r, twins *t)
{
    sinew_error error = {0};
    const size_t size = sinew_world_state_size(t->worlds[0]);
    void *blob = make_array(size, 1);
    (void)r;
    assert_int_equal(sinew_world_state_save(t->worlds[0], blob, size), SINEW_OK);
    sinew_world_state_load(t->worlds[0], blob, size, &error);
    must(&error);
    free(blob);
}

static change *const changes[] = {
    add_transient, add_transient, add_transient,    remove_transient,    replace_transient,   replace_transient,
    switch_fixed,  switch_fixed,  switch_transient, set_fixed_parameter, set_fixed_parameter, set_transient_parameter,
    set_rest,      set_time_step, change_pins,      set_limits,          move_targets,        save_and_load,
};

/* ---- Steps ----------------------------------------------------------------------------------- */

static bool is_sweeping(const twins *t)
{
    return t->solver.kind != SINEW_SOLVER_PBNG;
}

static void check_layout(const twins *t)
{
    const sinew_world *world = t->worlds[0];
    if (is_sweeping(t))
        assert_sweep(&((const sinew_pbd *)world->solve.memory)->sweep);
    else
        assert_incidences(world->solve.memory); /* the vertex layout is the first member of pbng's memory */
}

static void check_multipliers(const twins *t, sinew_energy energy)
{
    sinew_real values[TWINS][2 * PAIRS];
    int32_t count[TWINS];
    sinew_error error = {0};
    for (int k = 0; k < TWINS; k++)
        assert_int_equal(sinew_energy_multipliers(t->worlds[k], energy, 2 * PAIRS, values[k], &count[k], &error),
                         SINEW_OK);
    for (int k = 1; k < TWINS; k++) {
        assert_int_equal(count[k], count[0]);
        assert_memory_equal(values[k], values[0], (size_t)count[0] * sizeof values[0][0]);
    }
}

/* Steps all twins; all but the first are laid out again before. */
static void step_twins(const twins *t)
{
    const uint32_t again = SINEW_PBD_REFRESHES & ~(is_sweeping(t) ? 0u : (uint32_t)SINEW_CHANGED_PINS);
    uint32_t bits[TWINS];
    if (t->worlds[0]->solve.ops)
        assert_int_equal(again & ~(uint32_t)SINEW_CHANGED_DEF & ~t->worlds[0]->solve.ops->refreshes, 0);
    for (int k = 0; k < TWINS; k++) {
        if (k > 0)
            sinew_world_mark_changed(t->worlds[k], SINEW_CHANGED_ALL);
        bits[k] = sinew_world_step(t->worlds[k], NULL);
        if (bits[k] & SINEW_STEP_UNPREPARED)
            fail_msg("%s", sinew_world_error(t->worlds[k]));
        assert_int_equal(bits[k], bits[0]);
        assert_true(sinew_world_state_hash(t->worlds[k]) == sinew_world_state_hash(t->worlds[0]));
    }
    check_layout(t);
    for (int i = 0; is_sweeping(t) && !(bits[0] & SINEW_STEP_NOT_FINITE) && i < ENERGIES; i++)
        if (t->energies[i].used)
            check_multipliers(t, t->energies[i].id);
}

static void refreshed_is_prepared_anew(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("refreshed solvers", SAMPLE, 4000);
    for (int32_t i = 0; i < r.count; i++) {
        twins t = make_twins(&r);
        step_twins(&t);
        for (int c = 0; c < CHANGES; c++) {
            const int at_once = 1 + random_index(&r, 3);
            for (int k = 0; k < at_once; k++)
                changes[random_index(&r, sizeof changes / sizeof changes[0])](&r, &t);
            step_twins(&t);
            step_twins(&t);
        }
        for (int k = 0; k < TWINS; k++)
            sinew_world_destroy(t.worlds[k]);
    }
}

/* ---- A block with pairs ---------------------------------------------------------------------- */

enum {
    BLOCK_PAIRS = 200
};

typedef struct pair_list {
    int32_t elements[BLOCK_PAIRS][8];
    sinew_real weights[BLOCK_PAIRS][8];
} pair_list;

static void draw_pair(random_cases *r, int32_t particles, pair_list *list, int32_t i)
{
    draw_particles(r, particles, 8, list->elements[i]);
    draw_weights(r, list->weights[i]);
}

static sinew_energy_def pair_def(const pair_list *list, int32_t count)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    def.elements = list->elements[0];
    def.weights = list->weights[0];
    def.element_count = count;
    return def;
}

static sinew_world *block_world(sinew_solver_kind kind, int32_t threads, int32_t n, const sinew_allocator *allocator)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.solver = sinew_default_solver_def(kind);
    def.solver.iterations = 3;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    if (allocator)
        def.allocator = *allocator;
    sinew_mesh *mesh = make_beam(n, n, n, 1, 1, 1);
    sinew_world *world = make_world(&def);
    add_material(world, add_mesh(world, mesh, 1000, NULL, NULL), SINEW_ENERGY_STRAIN, 1e5, 0.3);
    sinew_mesh_destroy(mesh);
    return world;
}

static const sinew_solver_kind dynamic[] = {SINEW_SOLVER_XPBD, SINEW_SOLVER_PBD, SINEW_SOLVER_PBNG};

/* Adds and removes pairs for a few steps; the last ones stay in `list`. */
static sinew_energy run_history(random_cases *r, sinew_world *world, pair_list *list)
{
    sinew_error error = {0};
    sinew_energy pairs = {.index = -1};
    for (int k = 0; k < 5; k++) {
        const int32_t count = 1 + random_index(r, BLOCK_PAIRS);
        for (int32_t e = 0; e < count; e++)
            draw_pair(r, sinew_world_particle_count(world), list, e);
        const sinew_energy_def def = pair_def(list, count);
        if (pairs.index < 0)
            pairs = add_energy(world, &def);
        else
            assert_int_equal(sinew_energy_set_elements(world, pairs, &def, &error), SINEW_OK);
        sinew_world_step(world, NULL);
    }
    return pairs;
}

/* A world with a long history of pairs against one that only had the last ones. */
static void history_leaves_no_trace(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("histories", 3, 30);
    for (int32_t i = 0; i < 3 * r.count; i++) {
        pair_list list;
        sinew_world *old = block_world(dynamic[i % 3], 1 + random_index(&r, 3), 11, NULL);
        const sinew_energy pairs = run_history(&r, old, &list);
        sinew_world *young = block_world(dynamic[i % 3], 1 + random_index(&r, 3), 11, NULL);
        const sinew_energy_def def = pair_def(&list, sinew_energy_element_count(old, pairs));
        const size_t bytes = 4 * (size_t)old->particle_count * sizeof *old->q;
        add_energy(young, &def);
        memcpy(young->q, old->q, bytes);
        memcpy(young->v, old->v, bytes);
        young->time = old->time;
        young->step_count = old->step_count;
        for (int k = 0; k < 2; k++) {
            sinew_world_step(old, NULL);
            sinew_world_step(young, NULL);
            assert_true(sinew_world_state_hash(old) == sinew_world_state_hash(young));
        }
        sinew_world_destroy(old);
        sinew_world_destroy(young);
    }
}

/* Every allocation of a step after a change fails once; the world then continues with the same bits. */
static void failed_changes_leave_a_world(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("failures", 1, 1);
    for (int i = 0; i < 3; i++) {
        pair_list list;
        uint64_t right = 0;
        bool failed = true;
        for (int32_t e = 0; e < 20; e++)
            draw_pair(&r, 64, &list, e);
        for (int64_t at = 0; failed || at <= 1; at++) {
            failing_allocator memory = {0};
            const sinew_allocator hooks = hooks_of(&memory);
            sinew_world *world = block_world(dynamic[i], 1, 3, &hooks);
            const sinew_energy_def def = pair_def(&list, 20);
            sinew_world_step(world, NULL);
            add_energy(world, &def);
            memory.calls = 0;
            memory.fail_at = at;
            failed = sinew_world_step(world, NULL) & SINEW_STEP_UNPREPARED;
            assert_true(!failed || at > 0);
            memory.fail_at = 0;
            if (failed)
                sinew_world_step(world, NULL);
            sinew_world_step(world, NULL);
            right = at == 0 ? sinew_world_state_hash(world) : right;
            assert_true(sinew_world_state_hash(world) == right);
            sinew_world_destroy(world);
            assert_int_equal(memory.live, 0);
        }
    }
}

/* A few of many pairs change before every step: after some steps nothing is allocated. */
static void changes_soon_need_no_memory(void **state)
{
    (void)state;
    enum {
        STEPS = 60,
        SOON = 30
    };
    random_cases r = random_cases_begin("pairs that change", 1, 1);
    for (int i = 0; i < 3; i++) {
        failing_allocator memory = {0};
        const sinew_allocator hooks = hooks_of(&memory);
        pair_list list;
        sinew_error error = {0};
        sinew_world *world = block_world(dynamic[i], 2, 6, &hooks);
        const int32_t particles = sinew_world_particle_count(world);
        for (int32_t e = 0; e < BLOCK_PAIRS; e++)
            draw_pair(&r, particles, &list, e);
        const sinew_energy_def def = pair_def(&list, BLOCK_PAIRS);
        const sinew_energy pairs = add_energy(world, &def);
        for (int step = 0; step < STEPS; step++) {
            if (step == SOON)
                memory.calls = 0;
            for (int k = 0; k < BLOCK_PAIRS / 50; k++)
                draw_pair(&r, particles, &list, random_index(&r, BLOCK_PAIRS));
            assert_int_equal(sinew_energy_set_elements(world, pairs, &def, &error), SINEW_OK);
            assert_int_equal(sinew_world_step(world, NULL) & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE), 0);
        }
        assert_int_equal(memory.calls, 0);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refreshed_is_prepared_anew),
        cmocka_unit_test(history_leaves_no_trace),
        cmocka_unit_test(failed_changes_leave_a_world),
        cmocka_unit_test(changes_soon_need_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
