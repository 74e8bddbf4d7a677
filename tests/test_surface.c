/* SPDX-License-Identifier: MIT
 *
 * test_surface.c: the world's surface against the surfaces of its meshes, and materials against a search of all tets.
 */
#include "failing_allocator.h"
#include "random_cases.h"
#include "small_world.h"

static sinew_surface count_surface(const sinew_world *world)
{
    sinew_error error = {0};
    sinew_surface surface = {0};
    sinew_world_surface(world, &surface, &error);
    must(&error);
    return surface;
}

/* All arrays of a world's surface; the caller frees them. */
static sinew_surface surface_of(const sinew_world *world)
{
    sinew_error error = {0};
    sinew_surface s = count_surface(world);
    s.triangles = make_array(3 * (size_t)s.triangle_count, sizeof *s.triangles);
    s.bodies = make_array((size_t)s.triangle_count, sizeof *s.bodies);
    s.materials = make_array((size_t)s.triangle_count, sizeof *s.materials);
    s.edges = make_array(2 * (size_t)s.edge_count, sizeof *s.edges);
    s.edge_bodies = make_array((size_t)s.edge_count, sizeof *s.edge_bodies);
    sinew_world_surface(world, &s, &error);
    must(&error);
    return s;
}

static void free_surface(sinew_surface *s)
{
    free(s->triangles);
    free(s->bodies);
    free(s->materials);
    free(s->edges);
    free(s->edge_bodies);
}

/* The tet of the mesh that has the three vertices; a boundary triangle has exactly one. */
static int32_t tet_behind(const sinew_mesh *mesh, const int32_t *triangle, int32_t first)
{
    const int32_t *tets = sinew_mesh_tets(mesh);
    for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        int shared = 0;
        for (int k = 0; k < 12; k++)
            shared += tets[4 * t + k / 3] + first == triangle[k % 3];
        if (shared == 3)
            return t;
    }
    return -1;
}

typedef struct parts {
    sinew_world *world;
    sinew_mesh *solid, *cloth, *rope;
    sinew_body bodies[4]; /* solid, cloth, rope, second solid */
    int8_t *material;     /* [tet_count] of the first solid: index of the energy that acts on a tet, -1: none */
    sinew_energy energies[3];
} parts;

static sinew_energy add_to_tets(parts *p, sinew_energy_kind kind, int which)
{
    const int32_t *tets = sinew_mesh_tets(p->solid);
    int32_t count = 0, *chosen = make_array(4 * (size_t)sinew_mesh_tet_count(p->solid), sizeof *chosen);
    for (int32_t t = 0; t < sinew_mesh_tet_count(p->solid); t++)
        if (p->material[t] == which)
            for (int k = 0; k < 4; k++) /* in another order than in the mesh */
                chosen[4 * count + k] = tets[4 * t + (k + which) % 4], count += k == 3;
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = p->bodies[0];
    def.elements = chosen;
    def.element_count = count;
    const sinew_energy energy = count > 0 ? add_energy(p->world, &def) : (sinew_energy){.index = -1};
    free(chosen);
    return energy;
}

/* A solid of two materials with tets without material, a cloth with springs, a rope, and a solid with two energies, of
 * which the first determines the material. */
static parts make_parts(random_cases *r, const sinew_allocator *allocator)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    sinew_cloth_def cloth = sinew_default_cloth_def();
    def.thread_count = 1;
    if (allocator)
        def.allocator = *allocator;
    parts p = {.world = make_world(&def),
               .solid = make_beam(1 + random_index(r, 3), 2, 1 + random_index(r, 2), 2, 1, 1)};
    p.cloth = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    p.rope = make_rope(5, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    const sinew_mesh *meshes[4] = {p.solid, p.cloth, p.rope, p.solid};
    for (int i = 0; i < 4; i++)
        p.bodies[i] = add_mesh(p.world, meshes[i], 100, NULL, NULL);
    p.material = make_array((size_t)sinew_mesh_tet_count(p.solid), 1);
    for (int32_t t = 0; t < sinew_mesh_tet_count(p.solid); t++)
        p.material[t] = (int8_t)(random_index(r, 3) - 1);
    p.energies[0] = add_to_tets(&p, SINEW_ENERGY_COROTATED, 0);
    p.energies[1] = add_to_tets(&p, SINEW_ENERGY_NEO_HOOKEAN, 1);
    add_springs(p.world, p.bodies[1], 10);
    add_springs(p.world, p.bodies[2], 10);
    p.energies[2] = add_material(p.world, p.bodies[3], SINEW_ENERGY_STRAIN, 1e4, 0);
    add_material(p.world, p.bodies[3], SINEW_ENERGY_COROTATED, 1e4, 0.2);
    return p;
}

static void free_parts(parts *p)
{
    sinew_world_destroy(p->world);
    sinew_mesh_destroy(p->solid);
    sinew_mesh_destroy(p->cloth);
    sinew_mesh_destroy(p->rope);
    free(p->material);
}

static bool same_id(sinew_energy a, sinew_energy b)
{
    return a.index == b.index && (a.index < 0 || a.generation == b.generation);
}

/* Checks one body's part of the surface, which starts at *at; advances *at. */
static void check_body(const parts *p, const sinew_surface *s, int which, int32_t *at, int32_t *edge)
{
    const sinew_mesh *mesh = sinew_body_mesh(p->world, p->bodies[which]);
    const int32_t first = sinew_body_first_particle(p->world, p->bodies[which]);
    sinew_mesh *own = sinew_mesh_surface(mesh, NULL);
    assert_non_null(own);
    for (int32_t i = 0; i < sinew_mesh_triangle_count(own); i++, ++*at) {
        const int32_t *triangle = s->triangles + 3 * *at;
        for (int k = 0; k < 3; k++)
            assert_int_equal(triangle[k], first + sinew_mesh_triangles(own)[3 * i + k]);
        assert_memory_equal(&s->bodies[*at], &p->bodies[which], sizeof(sinew_body));
        const int32_t tet = tet_behind(mesh, triangle, first);
        const int material = which == 0 ? p->material[tet] : which == 3 ? 2 : -1;
        assert_true(same_id(s->materials[*at], material < 0 ? (sinew_energy){.index = -1} : p->energies[material]));
    }
    for (int32_t i = 0; sinew_mesh_triangle_count(own) == 0 && i < sinew_mesh_edge_count(own); i++, ++*edge) {
        for (int k = 0; k < 2; k++)
            assert_int_equal(s->edges[2 * *edge + k], first + sinew_mesh_edges(own)[2 * i + k]);
        assert_memory_equal(&s->edge_bodies[*edge], &p->bodies[which], sizeof(sinew_body));
    }
    sinew_mesh_destroy(own);
}

static void check_surface(const parts *p, int left_out)
{
    sinew_surface s = surface_of(p->world);
    int32_t at = 0, edge = 0;
    for (int i = 0; i < 4; i++)
        if (i != left_out)
            check_body(p, &s, i, &at, &edge);
    assert_int_equal(at, s.triangle_count);
    assert_int_equal(edge, s.edge_count);
    free_surface(&s);
}

static void surfaces_and_materials(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("surface", 10, 500);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_error error = {0};
        parts p = make_parts(&r, NULL);
        check_surface(&p, -1);
        sinew_world_step(p.world, NULL); /* the surface does not depend on the state */
        check_surface(&p, -1);
        const int gone = 1 + random_index(&r, 2);
        sinew_world_remove_body(p.world, p.bodies[gone], &error);
        must(&error);
        check_surface(&p, gone);
        free_parts(&p);
    }
}

static void too_little_room_is_refused(void **unused)
{
    (void)unused;
    sinew_error error;
    scene s = make_scene(NULL);
    const sinew_surface counted = count_surface(s.world);
    int32_t triangle[3] = {7, 7, 7};
    sinew_surface surface = {.triangle_count = 1, .triangles = triangle};
    assert_int_equal(sinew_world_surface(s.world, &surface, &error), SINEW_ERROR_DATA);
    refused(&error, SINEW_ERROR_DATA, "there is room for 1");
    assert_int_equal(surface.triangle_count, counted.triangle_count);
    assert_int_equal(triangle[0], 7);
    free_scene(&s);
}

static void every_failure_of_memory_is_said(void **unused)
{
    (void)unused;
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    random_cases r = {.state = 5};
    parts p = make_parts(&r, &hooks);
    sinew_surface s = surface_of(p.world);
    const int64_t live = memory.live;
    sinew_error error = {.status = SINEW_ERROR_MEMORY};
    for (memory.fail_at = 1; error.status != SINEW_OK; memory.fail_at++) {
        memory.calls = 0;
        const sinew_status status = sinew_world_surface(p.world, &s, &error);
        assert_int_equal(status, error.status);
        assert_true(status == SINEW_OK || status == SINEW_ERROR_MEMORY);
        assert_int_equal(memory.live, live);
    }
    assert_true(memory.fail_at > 10);
    memory.fail_at = 0;
    free_surface(&s);
    free_parts(&p);
    assert_int_equal(memory.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_and_materials),
        cmocka_unit_test(too_little_room_is_refused),
        cmocka_unit_test(every_failure_of_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
