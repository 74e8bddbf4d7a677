/* SPDX-License-Identifier: MIT
 *
 * test_ids.c: ids and particle numbers of bodies, energies and pins that are added and removed; refusals by name.
 */
#include "changing_world.h"

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

/* Particles of a removed body read as zero, ignore writes, and are reused by the next body that fits. */
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
    assert_int_equal(sinew_body_first_particle(s.world, add_rope(s.world, 6, 5)), 15); /* larger than the hole */
    const sinew_body small = add_rope(s.world, 3, 6);
    assert_int_equal(sinew_body_first_particle(s.world, small), 4);
    assert_int_equal(sinew_body_first_particle(s.world, add_rope(s.world, 2, 7)), 7);
    assert_int_equal(sinew_world_particle_count(s.world), 21);
    sinew_world_destroy(s.world);
}

/* A body without spare particle numbers behind it is renumbered; the last body grows in place. */
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
    assert_int_equal(sinew_body_add_vertices(s.world, s.body[0], &more, NULL, NULL), SINEW_OK); /* spare capacity */
    assert_int_equal(sinew_body_first_particle(s.world, s.body[0]), 17);
    assert_int_equal(sinew_mesh_vertex_count(sinew_body_mesh(s.world, s.body[0])), 8);
    assert_int_equal(sinew_body_first_particle(s.world, add_rope(s.world, 4, 7)), 0);
    sinew_world_destroy(s.world);
}

/* A rope is torn at a vertex: the mesh has other edges, and the drawn surface and later springs follow. */
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
    assert_int_equal(sinew_body_set_mesh(s.world, s.body[1], mesh, &error), SINEW_OK); /* also 5 vertices */
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

/* Ids of removed objects are refused, also if their index is reused, as are removed particles. */
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

/* A pin's motion can be replaced and removed: the pin is at its key frames at the end of each step. */
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

/* The last body is removed, and another one added. */
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
        cmocka_unit_test(holes),       cmocka_unit_test(runs),         cmocka_unit_test(tear),
        cmocka_unit_test(stale_ids),   cmocka_unit_test(bad_vertices), cmocka_unit_test(pin_motion),
        cmocka_unit_test(empty_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
