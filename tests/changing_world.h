/* SPDX-License-Identifier: MIT
 *
 * changing_world.h: a world in which bodies, vertices, energies and pins are added and removed, beside a list of its
 * expected contents, from which an equal world can be built.
 */
#ifndef SINEW_CHANGING_WORLD_H
#define SINEW_CHANGING_WORLD_H

#include "make_world.h"
#include "random_cases.h"

enum {
    PLACES = 32,  /* maximum of each kind */
    ENTRIES = 512 /* maximum number of corners of one energy's elements */
};

/* An energy as it was added to the world; corners are vertices of bodies. */
typedef struct told_energy {
    bool live;
    sinew_energy id;
    sinew_energy_kind kind;
    sinew_real stiffness;
    int32_t count, n;               /* elements, corners per element */
    int32_t body[ENTRIES];          /* index of each corner's body */
    int32_t vertex[ENTRIES];        /* vertex of each corner in its body */
    sinew_real weights[8 * PLACES]; /* weights of pairs */
    sinew_real targets[3 * PLACES]; /* targets of vertices */
    int32_t off;                    /* the disabled element; -1: none */
} told_energy;

typedef struct told_pin {
    bool live;
    sinew_pin id;
    int32_t body, count, vertices[PLACES];
    sinew_real targets[3 * PLACES];
} told_pin;

typedef struct changing {
    sinew_world *world;
    sinew_world_def def;
    bool live[PLACES];
    sinew_body bodies[PLACES];
    told_energy energies[PLACES];
    told_pin pins[PLACES];
} changing;

/* ---- Bodies ---------------------------------------------------------------------------------- */

static inline int32_t body_vertices(const changing *c, int32_t place)
{
    return sinew_mesh_vertex_count(sinew_body_mesh(c->world, c->bodies[place]));
}

static inline sinew_body note_body(changing *c, sinew_body body)
{
    assert_true(body.index < PLACES && !c->live[body.index]);
    c->live[body.index] = true;
    c->bodies[body.index] = body;
    return body;
}

/* Removes energies and pins of the body alone, as the world does. */
static inline void forget_body(changing *c, int32_t place)
{
    c->live[place] = false;
    for (int i = 0; i < PLACES; i++) {
        c->energies[i].live = c->energies[i].live && c->energies[i].body[0] != place;
        c->pins[i].live = c->pins[i].live && c->pins[i].body != place;
    }
}

/* Whether the energy acts on the body and on another one. */
static inline bool joins(const told_energy *e, int32_t place)
{
    bool here = false, there = false;
    for (int32_t i = 0; e->live && i < e->count * e->n; i++) {
        here = here || e->body[i] == place;
        there = there || e->body[i] != place;
    }
    return here && there;
}

/* ---- Energies and pins ----------------------------------------------------------------------- */

/* Adds the energy to a world whose bodies are `bodies`; returns its id. */
static inline sinew_energy tell_energy(sinew_world *world, const sinew_body *bodies, const told_energy *told)
{
    int32_t elements[ENTRIES];
    sinew_energy_def def = sinew_default_energy_def(told->kind);
    const bool pairs = sinew_get_energy_info(told->kind)->stencil == SINEW_STENCIL_PAIR;
    def.parameters[0] = told->stiffness;
    for (int32_t i = 0; i < told->count * told->n; i++)
        elements[i] = told->vertex[i] + (pairs ? sinew_body_first_particle(world, bodies[told->body[i]]) : 0);
    if (!pairs)
        def.body = bodies[told->body[0]];
    def.element_count = told->count;
    def.elements = elements;
    def.weights = pairs ? told->weights : NULL;
    def.targets = told->kind == SINEW_ENERGY_POSITION ? told->targets : NULL;
    const sinew_energy energy = add_energy(world, &def);
    if (told->off >= 0)
        assert_int_equal(sinew_energy_switch(world, energy, &told->off, 1, false, NULL), SINEW_OK);
    return energy;
}

static inline void note_energy(changing *c, told_energy *told)
{
    told->id = tell_energy(c->world, c->bodies, told);
    told->live = true;
    assert_true(told->id.index < PLACES && !c->energies[told->id.index].live);
    c->energies[told->id.index] = *told;
}

static inline void note_pins(changing *c, told_pin *told)
{
    told->id = add_pins(c->world, c->bodies[told->body], told->vertices, told->count, told->targets);
    told->live = true;
    assert_true(told->id.index < PLACES && !c->pins[told->id.index].live);
    c->pins[told->id.index] = *told;
}

/* All tets or edges of a body's mesh as elements. */
static inline told_energy told_cells(const changing *c, int32_t place, sinew_energy_kind kind, double stiffness)
{
    const sinew_mesh *mesh = sinew_body_mesh(c->world, c->bodies[place]);
    const bool tets = sinew_get_energy_info(kind)->stencil == SINEW_STENCIL_TET;
    told_energy told = {.kind = kind, .stiffness = (sinew_real)stiffness, .n = tets ? 4 : 2, .off = -1};
    told.count = tets ? sinew_mesh_tet_count(mesh) : sinew_mesh_edge_count(mesh);
    const int32_t *cells = tets ? sinew_mesh_tets(mesh) : sinew_mesh_edges(mesh);
    assert_true(told.count * told.n <= ENTRIES && told.count > 0);
    for (int32_t i = 0; i < told.count * told.n; i++) {
        told.body[i] = place;
        told.vertex[i] = cells[i];
    }
    return told;
}

/* ---- An equal new world -------------------------------------------------------------------------- */

static inline void copy_body(const sinew_world *from, sinew_body body, sinew_world *to, sinew_body *made)
{
    const sinew_mesh *mesh = sinew_body_mesh(from, body);
    const int32_t n = sinew_mesh_vertex_count(mesh), first = sinew_body_first_particle(from, body);
    sinew_real *q = make_array(7 * (size_t)n, sizeof *q), *v = q + 3 * n, *m = v + 3 * n;
    sinew_world_get_positions(from, first, n, q);
    sinew_world_get_velocities(from, first, n, v);
    sinew_world_get_masses(from, first, n, m);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    def.positions = q;
    def.velocities = v;
    def.masses = m;
    *made = add_body(to, &def);
    free(q);
}

/* Builds a world from the list; bodies [PLACES] receives its ids. */
static inline sinew_world *build_afresh(const changing *c, sinew_body *bodies)
{
    sinew_world *world = make_world(&c->def);
    for (int i = 0; i < PLACES; i++)
        if (c->live[i])
            copy_body(c->world, c->bodies[i], world, &bodies[i]);
    for (int i = 0; i < PLACES; i++)
        if (c->energies[i].live)
            tell_energy(world, bodies, &c->energies[i]);
    for (int i = 0; i < PLACES; i++)
        if (c->pins[i].live)
            add_pins(world, bodies[c->pins[i].body], c->pins[i].vertices, c->pins[i].count, c->pins[i].targets);
    return world;
}

/* Positions of a body, [3 * vertex_count]; the caller frees them. */
static inline sinew_real *body_positions(const sinew_world *world, sinew_body body)
{
    const int32_t n = sinew_mesh_vertex_count(sinew_body_mesh(world, body));
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q);
    assert_int_equal(sinew_world_get_positions(world, sinew_body_first_particle(world, body), n, q), SINEW_OK);
    return q;
}

/* The largest distance between particles of the two worlds; exactly 0 if all bits agree. */
static inline double distance_between(const changing *c, const sinew_world *other, const sinew_body *bodies)
{
    double max = 0;
    for (int i = 0; i < PLACES; i++) {
        if (!c->live[i])
            continue;
        sinew_real *a = body_positions(c->world, c->bodies[i]), *b = body_positions(other, bodies[i]);
        for (int32_t k = 0; k < 3 * body_vertices(c, i); k++) {
            const double apart = fabs((double)a[k] - (double)b[k]);
            max = apart > max || isnan(apart) ? apart : max;
        }
        free(a);
        free(b);
    }
    return max;
}

#endif
