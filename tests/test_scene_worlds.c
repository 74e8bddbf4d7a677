/* SPDX-License-Identifier: MIT
 *
 * test_scene_worlds.c: a scene is the world that its text describes. Each case has a body's keys as text and the same
 * body made by calls of the library; both worlds take the same steps, bit for bit, and differ from the plain body.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "make_world.h"
#include "sinew/load.h"
#include "sinew/material.h"
#include "sinew/mesh.h"
#include "sinew/scene.h"

enum {
    STEPS = 4
};
#define TIME_STEP 0.015625

typedef struct built {
    sinew_world *world;
    sinew_mesh *mesh;
    sinew_body body;
} built;

/* ---- The same body twice --------------------------------------------------------------------------- */

static sinew_scene *read_case(const char *mesh, const char *keys, const char *solver)
{
    static char text[4096];
    snprintf(text, sizeof text,
             "{\"sinew\": 1, \"time_step\": %.17g, \"threads\": 1, \"solver\": %s, \"bodies\": [{\"mesh\": %s%s}]}",
             TIME_STEP, solver, mesh, keys);
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/test.json";
    def.text = text;
    def.text_size = strlen(text);
    sinew_scene *scene = sinew_scene_read(&def, &error);
    must(&error);
    return scene;
}

static sinew_world *empty_world(void)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)TIME_STEP;
    def.thread_count = 1;
    return make_world(&def);
}

#define CLOTH "{\"generator\": \"cloth\", \"vertices\": [4, 4]}"
#define BEAM  "{\"generator\": \"beam\", \"cells\": [2, 1, 1], \"size\": [1, 0.5, 0.5]}"

static built build_cloth(double density)
{
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = 4;
    built b = {.world = empty_world(), .mesh = sinew_mesh_cloth(&cloth, &error)};
    must(&error);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = b.mesh;
    def.density = (sinew_real)density;
    b.body = add_body(b.world, &def);
    return b;
}

static built build_beam(void)
{
    built b = {.world = empty_world(), .mesh = make_beam(2, 1, 1, 1, 0.5, 0.5)};
    sinew_body_def def = sinew_default_body_def();
    def.mesh = b.mesh;
    b.body = add_body(b.world, &def);
    return b;
}

static void add_own_energy(const built *b, sinew_energy_kind kind)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = b->body;
    add_energy(b->world, &def);
}

/* ---- Cases ------------------------------------------------------------------------------------------- */

static built plain_cloth(void)
{
    const built b = build_cloth(0.5);
    add_own_energy(&b, SINEW_ENERGY_SPRING);
    return b;
}

static built pinned_cloth(void)
{
    const built b = plain_cloth();
    const int32_t corners[] = {0, 3};
    add_pins(b.world, b.body, corners, 2, NULL);
    return b;
}

static built plain_beam(void)
{
    const built b = build_beam();
    add_own_energy(&b, SINEW_ENERGY_COROTATED);
    return b;
}

static void add_load(const built *b, sinew_load_def *def)
{
    sinew_error error = {0};
    def->body = b->body;
    sinew_world_add_load(b->world, def, &error);
    must(&error);
}

static built gusts(void)
{
    const built b = plain_cloth();
    sinew_load_def def = sinew_default_load_def(SINEW_LOAD_WIND);
    const sinew_load_key keys[] = {
        {0, {1, 2, 3}, 1}, {(sinew_real)0.03, {4, 5, 6}, (sinew_real)0.5}, {(sinew_real)0.06, {1, 2, 3}, 2}};
    memcpy(def.vector, keys[0].vector, sizeof def.vector);
    def.keys = keys;
    def.key_count = 3;
    add_load(&b, &def);
    return b;
}

static built pull(void)
{
    const built b = plain_cloth();
    sinew_load_def def = sinew_default_load_def(SINEW_LOAD_TRACTION);
    def.vector[2] = 300;
    def.parameters[sinew_load_parameter(SINEW_LOAD_TRACTION, "pressure")] = 200;
    add_load(&b, &def);
    return b;
}

static built turn(void)
{
    const built b = plain_beam();
    sinew_load_def def = sinew_default_load_def(SINEW_LOAD_COUPLE);
    const sinew_load_key keys[] = {{0, {50, 0, 0}, 1}, {(sinew_real)0.05, {0, 60, 0}, 1}};
    def.keys = keys;
    def.key_count = 2;
    add_load(&b, &def);
    return b;
}

static built torn(bool split)
{
    sinew_error error = {0};
    const built b = pinned_cloth();
    sinew_tear_def def = sinew_default_tear_def();
    def.body = b.body;
    def.limit = (sinew_real)0.001;
    def.split = split;
    def.max = 3;
    sinew_body_set_tear(b.world, &def, &error);
    must(&error);
    return b;
}

static built torn_open(void)
{
    return torn(true);
}

static built torn_off(void)
{
    return torn(false);
}

static built led(void)
{
    const built b = plain_cloth();
    const int32_t vertices[] = {0, 5};
    const sinew_key keys[] = {{.time = 0}, {.time = (sinew_real)0.05, .translation = {1, 2, 3}, .rotation = {0, 0, 1}}};
    const sinew_motion motion = {.key_count = 2, .keys = keys, .pivot = {(sinew_real)0.5, 0, 0}};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    def.body = b.body;
    def.elements = vertices;
    def.element_count = 2;
    def.parameters[0] = 5000;
    def.motion = &motion;
    add_energy(b.world, &def);
    return b;
}

static built cotton(void)
{
    const sinew_material *material = sinew_material_by_name("cotton");
    assert_non_null(material);
    const built b = build_cloth(material->density);
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_ORTHOTROPIC);
    assert_int_equal(sinew_energy_def_set_material(&def, "cotton", NULL), SINEW_OK);
    def.body = b.body;
    add_energy(b.world, &def);
    const int32_t corner[] = {0, 3};
    add_pins(b.world, b.body, corner, 2, NULL);
    return b;
}

/* Positions of the beam of build_beam(), made k-th by k-th wider. */
static void example_shape(const sinew_mesh *mesh, int k, sinew_real *x)
{
    for (int32_t i = 0; i < 3 * sinew_mesh_vertex_count(mesh); i++)
        x[i] = sinew_mesh_positions(mesh)[i] * (i % 3 == k ? (sinew_real)1.5 : 1);
}

static void write_example(const sinew_mesh *mesh, int k, const char *path)
{
    sinew_error error = {0};
    sinew_real *x = make_array(3 * (size_t)sinew_mesh_vertex_count(mesh), sizeof *x);
    example_shape(mesh, k, x);
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = sinew_mesh_vertex_count(mesh);
    def.positions = x;
    def.tet_count = sinew_mesh_tet_count(mesh);
    def.tets = sinew_mesh_tets(mesh);
    sinew_mesh *shape = sinew_mesh_create(&def, &error);
    must(&error);
    assert_int_equal(sinew_mesh_write(shape, path, SINEW_MESH_BY_ENDING, &error), SINEW_OK);
    sinew_mesh_destroy(shape);
    free(x);
}

static built by_example(void)
{
    const built b = build_beam();
    sinew_real *x[2];
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_EXAMPLES);
    for (int k = 0; k < 2; k++) {
        x[k] = make_array(3 * (size_t)sinew_mesh_vertex_count(b.mesh), sizeof *x[k]);
        example_shape(b.mesh, k, x[k]);
        def.examples[k] = x[k];
    }
    write_example(b.mesh, 0, SINEW_TEST_DIR "/wide0.msh");
    write_example(b.mesh, 1, SINEW_TEST_DIR "/wide1.msh");
    def.body = b.body;
    def.example_count = 2;
    def.example_vertex_count = sinew_mesh_vertex_count(b.mesh);
    def.parameters[1] = 1; /* weights are given */
    def.parameters[2] = (sinew_real)0.25;
    def.parameters[3] = (sinew_real)0.5;
    add_energy(b.world, &def);
    free(x[0]);
    free(x[1]);
    return b;
}

#define SPRINGS ", \"density\": 0.5, \"energies\": [{\"energy\": \"spring\"}]"
#define SOFT    ", \"energies\": [{\"energy\": \"corotated\"}]"
#define PINS    ", \"pins\": [{\"select\": {\"indices\": [0, 3]}}]"

static const struct {
    const char *name, *mesh, *keys;
    built (*build)(void);
    built (*plain)(void); /* the body without what the case is about */
} cases[] = {
    {"gusts", CLOTH,
     SPRINGS ", \"loads\": [{\"load\": \"wind\", \"velocity\": [1, 2, 3], \"keys\": [{\"time\": 0}, {\"time\": 0.03, "
             "\"velocity\": [4, 5, 6], \"factor\": 0.5}, {\"time\": 0.06, \"factor\": 2}]}]",
     gusts, plain_cloth},
    {"traction", CLOTH, SPRINGS ", \"loads\": [{\"load\": \"traction\", \"traction\": [0, 0, 300], \"pressure\": 200}]",
     pull, plain_cloth},
    {"couple", BEAM,
     SOFT ", \"loads\": [{\"load\": \"couple\", \"moment\": [50, 0, 0], \"keys\": [{\"time\": 0}, {\"time\": 0.05, "
          "\"moment\": [0, 60, 0]}]}]",
     turn, plain_beam},
    {"tear, split", CLOTH, SPRINGS PINS ", \"tear\": {\"strain\": 0.001, \"most\": 3}", torn_open, pinned_cloth},
    {"tear, remove", CLOTH, SPRINGS PINS ", \"tear\": {\"strain\": 0.001, \"by\": \"remove\", \"most\": 3}", torn_off,
     pinned_cloth},
    {"targets that move", CLOTH,
     ", \"density\": 0.5, \"energies\": [{\"energy\": \"spring\"}, {\"energy\": \"position\", \"stiffness\": 5000, "
     "\"select\": "
     "{\"indices\": [0, 5]}, \"motion\": {\"pivot\": [0.5, 0, 0], \"keys\": [{\"time\": 0}, {\"time\": 0.05, "
     "\"translate\": [1, 2, 3], \"rotate\": [0, 0, 1]}]}}]",
     led, plain_cloth},
    {"material", CLOTH, ", \"material\": \"cotton\", \"energies\": [{\"energy\": \"orthotropic\"}]" PINS, cotton,
     pinned_cloth},
    {"examples", BEAM,
     ", \"energies\": [{\"energy\": \"examples\", \"examples\": [\"wide0.msh\", \"wide1.msh\"], \"weights\": "
     "\"given\", \"weight_1\": 0.25, \"weight_2\": 0.5}]",
     by_example, plain_beam},
};

/* The largest difference of a coordinate, over the particles that both have. */
static double difference_of(const sinew_world *a, const sinew_world *b)
{
    const int32_t m = sinew_world_particle_count(a), n = sinew_world_particle_count(b);
    sinew_real *p = positions_of(a), *q = positions_of(b);
    double result = 0;
    for (int32_t i = 0; i < 3 * (m < n ? m : n); i++)
        result = fmax(result, fabs((double)p[i] - (double)q[i]));
    free(p);
    free(q);
    return result;
}

static void release(built b)
{
    sinew_world_destroy(b.world);
    sinew_mesh_destroy(b.mesh);
}

static void scenes_are_their_worlds(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        const built ours = cases[k].build(), plain = cases[k].plain();
        sinew_scene *scene = read_case(cases[k].mesh, cases[k].keys, "{\"name\": \"newton\"}");
        sinew_world *theirs = sinew_scene_world(scene);
        for (int i = 0; i < STEPS; i++) {
            const uint32_t bits = sinew_world_step(ours.world, NULL);
            assert_int_equal(sinew_world_step(theirs, NULL), bits);
            assert_int_equal(bits & SINEW_STEP_UNPREPARED, 0);
            sinew_world_step(plain.world, NULL);
        }
        assert_int_equal(sinew_world_particle_count(ours.world), sinew_world_particle_count(theirs));
        print_message("%-18s differs by %g m, the plain body by %.2g m\n", cases[k].name,
                      difference_of(ours.world, theirs), difference_of(plain.world, theirs));
        assert_true(difference_of(ours.world, theirs) == 0);
        assert_true(difference_of(plain.world, theirs) > 1e-4);
        sinew_scene_destroy(scene);
        release(ours);
        release(plain);
    }
}

/* Keys of the solver that no step shows. */
static void solver_keys(void **state)
{
    (void)state;
    sinew_scene *scene =
        read_case(BEAM, SOFT,
                  "{\"name\": \"newton\", \"iterations\": 7, \"tolerance\": 0.25, \"time_budget\": 2.5, "
                  "\"measure\": \"residual\", \"gap_every\": 3}");
    const sinew_solver_def def = sinew_scene_solver(scene);
    assert_int_equal(def.iterations, 7);
    assert_true(def.tolerance == (sinew_real)0.25 && def.time_budget == 2.5);
    assert_int_equal(def.measure, SINEW_MEASURE_RESIDUAL);
    assert_int_equal(def.gap_every, 3);
    sinew_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_are_their_worlds), cmocka_unit_test(solver_keys)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
