/* SPDX-License-Identifier: MIT
 *
 * world_case.h: random worlds and changes of them. A case can be built in its final form, reached by a change while the
 * world runs, or built with all elements in the factor instead of beside it.
 */
#ifndef SINEW_WORLD_CASE_H
#define SINEW_WORLD_CASE_H

#include "random_scene.h"
#include "solve/projective/global_system.h"
#include "world/world.h"

/* ---- Random worlds --------------------------------------------------------------------------------- */

enum {
    PAIRS_MAX = 1030
};

/* All contents of a world; a change leads to another case of the same mesh. */
typedef struct world_case {
    drawn_scene scene;
    double softer; /* factor of the stiffness */
    int32_t pair_count;
    double pair_stiffness;
    uint64_t pair_seed, off_seed;
    int32_t off_count; /* number of disabled elements, drawn at random */
    int32_t extra_pin; /* an additional pinned vertex, -1: none */
} world_case;

static inline world_case draw_case(random_cases *r, sinew_solver_kind kind)
{
    world_case c = {.scene = draw_scene(r), .softer = 1, .pair_seed = random_bits(r), .extra_pin = -1};
    drawn_scene *d = &c.scene;
    while (d->mesh == DRAWN_BRACKET || !sinew_solver_accepts(kind, d->energy, NULL, 0) ||
           d->energy == SINEW_ENERGY_NEO_HOOKEAN_LOG || d->energy == SINEW_ENERGY_ST_VENANT_KIRCHHOFF)
        *d = draw_scene(r);
    d->cells = 1 + random_index(r, 2);
    d->contrast = 1;
    d->poisson = drawn_number(random_between(r, 0.1, 0.4));
    d->stiffness = drawn_number(drawn_is_solid(d) ? random_magnitude(r, 1e4, 1e6) : random_magnitude(r, 1e2, 1e4));
    d->h = drawn_number(random_magnitude(r, 0.005, 0.02));
    d->squeeze = 1;
    d->noise = drawn_number(random_between(r, 0, 0.05));
    c.pair_stiffness = drawn_number(random_magnitude(r, 1e-3, 1) * d->stiffness * (drawn_is_solid(d) ? d->size : 1));
    c.off_seed = random_bits(r);
    return c;
}

static const char *stiffness_name(const world_case *c)
{
    return c->scene.energy == SINEW_ENERGY_STRAIN || !drawn_is_solid(&c->scene) ? "stiffness" : "young";
}

/* Draws the disabled elements. */
static inline bool *draw_off(const world_case *c, int32_t count)
{
    bool *off = calloc((size_t)count, sizeof *off);
    random_cases r = {.state = c->off_seed};
    for (int32_t k = 0; k < c->off_count; k++)
        off[random_index(&r, count)] = true;
    off[0] = false; /* an energy needs at least one element */
    return off;
}

/* Weak pairs between random points that are near each other. */
static inline sinew_energy_def draw_pairs(const world_case *c, const sinew_mesh *mesh, int32_t *elements,
                                          sinew_real *weights)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    random_cases r = {.state = c->pair_seed};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    for (int32_t i = 0; i < c->pair_count; i++)
        for (int point = 0; point < 2; point++) {
            const int32_t first = point ? elements[8 * i] + 1 + random_index(&r, 5) : random_index(&r, n);
            double sum = 0, w[4];
            for (int a = 0; a < 4; a++) {
                elements[8 * i + 4 * point + a] = (first + a) % n;
                sum += w[a] = a > 0 && random_index(&r, 2) ? 0 : drawn_number(random_between(&r, 0.1, 1));
            }
            for (int a = 0; a < 4; a++)
                weights[8 * i + 4 * point + a] = (sinew_real)(w[a] / sum);
        }
    def.body.index = -1;
    def.elements = elements;
    def.weights = weights;
    def.element_count = c->pair_count;
    /* The total stiffness does not depend on the number of pairs. */
    def.parameters[0] = def.parameters[1] = (sinew_real)(c->pair_stiffness / (1 + c->pair_count));
    return def;
}

typedef struct built {
    sinew_world *world;
    sinew_body body;
    sinew_energy material, pairs;
    bool has_pairs;
    sinew_pin pin;
    bool has_pin;
    sinew_mesh *mesh;
    int32_t *elements; /* elements of the pairs */
    sinew_real *weights;
} built;

static inline void add_pairs(built *b, const world_case *c, bool fixed)
{
    sinew_energy_def def = draw_pairs(c, b->mesh, b->elements, b->weights);
    def.transient = !fixed;
    b->has_pairs = c->pair_count > 0;
    if (b->has_pairs)
        b->pairs = add_energy(b->world, &def);
}

/* Adds the material to all cells, or to the enabled ones only. */
static inline void add_cells(built *b, const world_case *c, bool merged)
{
    const bool solid = drawn_is_solid(&c->scene);
    const int32_t size = solid ? 4 : 2, count = solid ? sinew_mesh_tet_count(b->mesh) : sinew_mesh_edge_count(b->mesh);
    const int32_t *cells = solid ? sinew_mesh_tets(b->mesh) : sinew_mesh_edges(b->mesh);
    sinew_energy_def def = sinew_default_energy_def(c->scene.energy);
    int32_t *kept = malloc((size_t)(count * size) * sizeof *kept), used = 0;
    bool *off = draw_off(c, count);
    for (int32_t e = 0; e < count; e++)
        if (!merged || !off[e])
            memcpy(kept + size * used++, cells + size * e, (size_t)size * sizeof *kept);
    def.body = b->body;
    def.elements = kept;
    def.element_count = used;
    def.parameters[sinew_energy_parameter(def.kind, stiffness_name(c))] = (sinew_real)(c->softer * c->scene.stiffness);
    if (sinew_energy_parameter(def.kind, "poisson") >= 0)
        def.parameters[sinew_energy_parameter(def.kind, "poisson")] = (sinew_real)c->scene.poisson;
    b->material = add_energy(b->world, &def);
    free(kept);
    free(off);
}

/* Disables exactly the cells of the case. */
static inline void switch_cells(built *b, const world_case *c)
{
    sinew_error error = {0};
    const int32_t count = sinew_energy_element_count(b->world, b->material);
    bool *off = draw_off(c, count);
    for (int32_t e = 0; e < count; e++)
        if (sinew_energy_is_on(b->world, b->material, e) == off[e])
            sinew_energy_switch(b->world, b->material, &e, 1, !off[e], &error);
    must(&error);
    free(off);
}

static inline void set_pin(built *b, const world_case *c)
{
    sinew_error error = {0};
    if (b->has_pin)
        sinew_world_remove_pins(b->world, b->pin, &error);
    must(&error);
    b->has_pin = c->extra_pin >= 0;
    if (b->has_pin)
        b->pin = add_pins(b->world, b->body, &c->extra_pin, 1, NULL);
}

/* merged: pairs are fixed and disabled cells left out, so that all elements are in the factor. */
static inline built build_case(const world_case *c, const sinew_solver_def *solver, const sinew_allocator *memory,
                               bool merged)
{
    const drawn_scene *d = &c->scene;
    built b = {.mesh = drawn_rest(d, NULL)};
    const size_t n = (size_t)sinew_mesh_vertex_count(b.mesh);
    sinew_real *x = malloc(3 * n * sizeof *x), *v = malloc(3 * n * sizeof *v);
    drawn_start(d, b.mesh, x, v);
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)d->h;
    def.thread_count = 1;
    def.solver = *solver;
    if (memory)
        def.allocator = *memory;
    b.world = make_world(&def);
    b.elements = malloc(8 * PAIRS_MAX * sizeof *b.elements);
    b.weights = malloc(8 * PAIRS_MAX * sizeof *b.weights);
    b.body = add_mesh(b.world, b.mesh, drawn_is_solid(d) ? 1000 : 1, x, v);
    add_cells(&b, c, merged);
    if (!merged)
        switch_cells(&b, c);
    add_pairs(&b, c, merged);
    free(x);
    free(v);
    return b;
}

static inline void free_built(built *b)
{
    sinew_world_destroy(b->world);
    sinew_mesh_destroy(b->mesh);
    free(b->elements);
    free(b->weights);
}

/* ---- Changes --------------------------------------------------------------------------------- */

typedef enum change {
    CHANGE_ITERATIONS,
    CHANGE_DATA,
    CHANGE_SWITCHED,
    CHANGE_ON_AGAIN,
    CHANGE_TIME_STEP,
    CHANGE_PINS,
    CHANGE_MORE_PAIRS,
    CHANGE_FEWER_PAIRS,
    CHANGE_OTHER_PAIRS,
    CHANGE_MANY_PAIRS,
    CHANGE_ALL, /* several of the changes above */
    CHANGE_COUNT
} change;

/* The number of low-rank terms that counts as few for the factor of the case. */
static inline int32_t few_rows(const world_case *c)
{
    const sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_QN);
    const sinew_global_rule rule = {.weight_assignment = {1, 1, 1}};
    sinew_error error = {0};
    sinew_global global;
    built b = build_case(c, &solver, NULL, false);
    set_pin(&b, c);
    sinew_world_prepare(b.world, &error);
    must(&error);
    sinew_global_create(&global, &b.world->objective, &rule, &error);
    must(&error);
    const int32_t few = global.few;
    sinew_global_destroy(&global, &b.world->objective);
    free_built(&b);
    return few;
}

/* The case before a change is the drawn one; returns the case after it. */
static inline world_case change_case(random_cases *r, change what, world_case *before)
{
    const bool all = what == CHANGE_ALL;
    before->pair_count = what == CHANGE_MORE_PAIRS ? 0 : random_index(r, 40);
    before->off_count = what == CHANGE_SWITCHED ? 0 : random_index(r, 4);
    world_case after = *before;
    if (what == CHANGE_DATA || all)
        after.softer = drawn_number(random_magnitude(r, 0.3, 3));
    if (what == CHANGE_SWITCHED || all)
        after.off_count = 1 + random_index(r, 20);
    if (what == CHANGE_ON_AGAIN)
        after.off_count = 0;
    if (what == CHANGE_TIME_STEP || all)
        after.scene.h = drawn_number(before->scene.h * random_between(r, 0.5, 1.5));
    if (what == CHANGE_PINS || all)
        after.extra_pin = random_index(r, 8);
    if (what == CHANGE_MORE_PAIRS || all)
        after.pair_count = 1 + random_index(r, 100);
    if (what == CHANGE_FEWER_PAIRS)
        after.pair_count = before->pair_count / 2;
    if (what == CHANGE_OTHER_PAIRS || all)
        after.pair_seed = random_bits(r);
    if (what == CHANGE_MANY_PAIRS)
        after.pair_count = few_rows(before) - 2 + random_index(r, 4);
    return after;
}

static inline void change_pairs(built *b, const world_case *before, const world_case *after)
{
    sinew_error error = {0};
    if (before->pair_count == after->pair_count && before->pair_seed == after->pair_seed)
        return;
    if (b->has_pairs && after->pair_count > 0) {
        const sinew_energy_def def = draw_pairs(after, b->mesh, b->elements, b->weights);
        sinew_energy_set_elements(b->world, b->pairs, &def, &error);
        must(&error);
        return;
    }
    if (b->has_pairs)
        sinew_world_remove_energy(b->world, b->pairs, &error);
    must(&error);
    add_pairs(b, after, false);
}

/* Changes the running world from one case to the other. */
static inline void apply_change(built *b, const world_case *before, const world_case *after)
{
    sinew_error error = {0};
    if (after->softer != before->softer)
        sinew_energy_set_parameter(b->world, b->material, stiffness_name(after),
                                   (sinew_real)(after->softer * after->scene.stiffness), &error);
    if (after->scene.h != before->scene.h)
        sinew_world_set_time_step(b->world, (sinew_real)after->scene.h, &error);
    must(&error);
    if (after->off_count != before->off_count)
        switch_cells(b, after);
    if (after->extra_pin != before->extra_pin)
        set_pin(b, after);
    change_pairs(b, before, after);
}

/* Copies positions and velocities; pins hold particles at their positions when they are created. */
static inline void copy_state(const built *from, built *to, const world_case *c)
{
    const int32_t n = sinew_world_particle_count(from->world);
    sinew_real *x = malloc(3 * (size_t)n * sizeof *x);
    sinew_world_get_positions(from->world, 0, n, x);
    assert_int_equal(sinew_world_set_positions(to->world, 0, n, x), SINEW_OK);
    sinew_world_get_velocities(from->world, 0, n, x);
    assert_int_equal(sinew_world_set_velocities(to->world, 0, n, x), SINEW_OK);
    set_pin(to, c);
    free(x);
}

static inline double largest_difference(const built *a, const built *b)
{
    const int32_t n = sinew_world_particle_count(a->world);
    sinew_real *x = positions_of(a->world), *y = positions_of(b->world);
    double max = 0;
    for (int32_t i = 0; i < 3 * n; i++)
        max = fmax(max, fabs((double)x[i] - (double)y[i]));
    free(x);
    free(y);
    return max;
}

static inline sinew_solver_def solver_of(sinew_solver_kind kind, int32_t iterations, bool position)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.iterations = iterations;
    def.tolerance = 0;
    def.measure = SINEW_MEASURE_RESIDUAL;
    if (kind == SINEW_SOLVER_PD && position)
        def.parameters[sinew_solver_parameter(kind, "form")] = 1;
    return def;
}

static const sinew_solver_kind kinds[] = {SINEW_SOLVER_PD, SINEW_SOLVER_QN, SINEW_SOLVER_ADMM};

#endif
