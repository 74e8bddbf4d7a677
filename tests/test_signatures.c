/* SPDX-License-Identifier: MIT
 *
 * test_signatures.c: a state belongs to worlds like the one that saved it. One scene has a setting of every kind; each
 * case changes one of them, and the check of a state names it, in both directions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "contact_worlds.h"
#include "saved_state.h"
#include "sinew/load.h"
#include "sinew/scene.h"
#include "world/world.h"

/* Settings that signatures leave out at their default stand at another value: cases take them back to it. */
static const char scene_text[] =
    "{\"sinew\": 1, \"time_step\": 0.01, \"damping\": 0.125, \"load_steps\": 2, \"threads\": 1,"
    "\"solver\": {\"name\": \"newton\", \"iterations\": 20, \"tolerance\": 1e-6, \"time_budget\": 5},"
    "\"contact\": {\"mode\": \"augmented\", \"thickness\": 0.01},"
    "\"colliders\": [{\"shape\": \"sphere\", \"radius\": 0.25, \"position\": [0, -5, 0], \"motion\": {\"keys\": "
    "[{\"time\": 0}, {\"time\": 1, \"translate\": [0, 1, 0]}]}}],"
    "\"bodies\": ["
    "{\"name\": \"beam\", \"mesh\": {\"generator\": \"beam\", \"cells\": [2, 1, 1], \"size\": [1, 0.5, 0.5]},"
    "\"density\": 500, \"damping\": 0.25, \"velocity_filter\": 0.125,"
    "\"energies\": [{\"energy\": \"neo_hookean\", \"young\": 2e5, \"damping\": 0.01}],"
    "\"pins\": [{\"select\": {\"indices\": [0, 1]}, \"directions\": [[1, 0, 0]]}]},"
    "{\"name\": \"cloth\", \"mesh\": {\"generator\": \"cloth\", \"vertices\": [3, 3], \"origin\": [0, 3, 0]},"
    "\"density\": 0.5, \"contact\": {\"friction\": 0.5},"
    "\"energies\": [{\"energy\": \"spring\"}], \"tear\": {\"strain\": 2},"
    "\"loads\": [{\"load\": \"wind\", \"velocity\": [1, 0, 0], \"keys\": [{\"time\": 0}, {\"time\": 1, \"factor\": "
    "2}]}]}]}";

static const struct {
    const char *setting, *name; /* the line that the check names */
} changes[] = {
    {"time_step=0.02", "time_step was 0.01, is 0.02"},
    {"quasistatic=true", "quasistatic was false, is true"},
    {"gravity=[1,-9.81,0]", "gravity.x was 0, is 1"},
    {"gravity=[0,-9.5,0]", "gravity.y"},
    {"gravity=[0,-9.81,2]", "gravity.z was 0, is 2"},
    {"damping=0.5", "damping was 0.125, is 0.5"},
    {"load_steps=3", "load_steps was 2, is 3"},
    {"solver.iterations=21", "solver.iterations was 20, is 21"},
    {"solver.tolerance=1e-5", "solver.tolerance was"},
    {"solver.time_budget=0", "solver.time_budget was 5, is 0"},
    {"solver.measure=nothing", "solver.residuals was measured, is not measured"},
    {"solver.linear=cg", "solver.linear was direct, is cg"},
    {"contact.mode=penalty", "contact.mode was augmented, is penalty"},
    {"contact.self=false", "contact.self was true, is false"},
    {"contact.intersection_free=false", "contact.intersection_free was true, is false"},
    {"contact.thickness=0.02", "contact.thickness was 0.01, is 0.02"},
    {"contact.friction=0.7", "contact.friction was 0.3, is 0.7"},
    {"contact.restitution=0.5", "contact.restitution was 0, is 0.5"},
    {"contact.stiffness=20", "contact.stiffness was 10, is 20"},
    {"contact.penalty=1e7", "contact.penalty was"},
    {"contact.penalty_tangent=1", "contact.penalty_tangent was 0, is 1"},
    {"contact.multiplier_interval=3", "contact.multiplier_interval was 0, is 3"},
    {"contact.max_detections=11", "contact.max_detections was 10, is 11"},
    {"contact.pair_limit=1000", "contact.pair_limit was 0, is 1000"},
    {"colliders.0.radius=0.5", "colliders.0 was sphere (checksum"},
    {"colliders.0.position=[0,-6,0]", "colliders.0 was sphere (checksum"},
    {"colliders.0.rotation=[1,0,0]", "colliders.0 was sphere (checksum"},
    {"colliders.0.thickness=0.5", "colliders.0 was sphere (checksum"},
    {"colliders.0.friction=0.5", "colliders.0 was sphere (checksum"},
    {"colliders.0.restitution=0.5", "colliders.0 was sphere (checksum"},
    {"colliders.0.group=2", "colliders.0 was sphere (checksum"},
    {"colliders.0.mask=2", "colliders.0 was sphere (checksum"},
    {"colliders.0.motion.keys.1.translate=[0,2,0]", "colliders.0 was sphere (checksum"},
    {"colliders.0.motion.keys.1.time=2", "colliders.0 was sphere (checksum"},
    {"colliders.0.motion.pivot=[1,0,0]", "colliders.0 was sphere (checksum"},
    {"bodies.0.mesh.cells=[2,1,2]", "bodies.0.mesh was"},
    {"bodies.0.mesh.size=[1.5,0.5,0.5]", "bodies.0.shape was checksum"},
    {"bodies.0.density=600", "bodies.0.mass was 125"},
    {"bodies.0.damping=0.5", "bodies.0.damping was 0.25, is 0.5"},
    {"bodies.0.damping=0", "bodies.0.damping"},
    {"bodies.0.velocity_filter=0.25", "bodies.0.velocity_filter was 0.125, is 0.25"},
    {"bodies.0.velocity_filter=0", "bodies.0.velocity_filter"},
    {"bodies.0.contact={\"surface\":\"none\"}", "bodies.0.contact.surface was cage, is none"},
    {"bodies.0.contact={\"self\":false}", "bodies.0.contact.self was true, is false"},
    {"bodies.0.contact={\"group\":4}", "bodies.0.contact.group was 00000001, mask ffffffff, is 00000004"},
    {"bodies.0.contact={\"mask\":4}", "bodies.0.contact.group was 00000001, mask ffffffff, is 00000001, mask 00000004"},
    {"bodies.0.contact={\"thickness\":0.5}", "bodies.0.contact.thickness was the world's, is 0.5"},
    {"bodies.1.contact.friction=0.25", "bodies.1.contact.friction was 0.5, is 0.25"},
    {"bodies.1.contact.restitution=0.25", "bodies.1.contact.restitution was the world's, is 0.25"},
    {"bodies.1.tear.strain=3", "bodies.1.tear was splits above 2, 16 a step, is splits above 3, 16 a step"},
    {"bodies.1.tear.by=remove", "bodies.1.tear was splits above 2, 16 a step, is removes above 2, 16 a step"},
    {"bodies.1.tear.most=5", "bodies.1.tear was splits above 2, 16 a step, is splits above 2, 5 a step"},
    {"bodies.0.energies.0.young=1e5", "energies.0.neo_hookean.young was 200000"},
    {"bodies.0.energies.0.poisson=0.25", "energies.0.neo_hookean.poisson was 0.45, is 0.25"},
    {"bodies.0.energies.0.matched=no", "energies.0.neo_hookean.matched was yes, is no"},
    {"bodies.0.energies.0.damping=0.02", "energies.0.neo_hookean.damping was 0.01, is 0.02"},
    {"bodies.0.energies.0.damping=0", "energies.0.neo_hookean.damping"},
    {"bodies.1.energies.0.stiffness=500", "energies.1.spring.stiffness was 1000"},
    {"bodies.1.energies.0.select={\"indices\":[0,1]}", "energies.1.spring.elements was"},
    {"bodies.0.pins.0.select={\"indices\":[0]}", "pins.0 was 2 vertices (checksum"},
    {"bodies.0.pins.0.select={\"indices\":[0,2]}", "pins.0 was 2 vertices (checksum"},
    {"bodies.0.pins.0.directions=[[0,1,0]]", "pins.0 was 2 vertices (checksum"},
    {"bodies.1.loads.0.velocity=[2,0,0]", "loads.0 was wind on body 1 (checksum"},
    {"bodies.1.loads.0.keys.1.factor=3", "loads.0 was wind on body 1 (checksum"},
    {"bodies.1.loads.0.keys.1.time=2", "loads.0 was wind on body 1 (checksum"},
    {"bodies.1.loads.0.density=2", "loads.0 was wind on body 1 (checksum"},
    {"bodies.1.loads.0.select={\"indices\":[0,1]}", "loads.0 was wind on body 1 (checksum"},
};

static sinew_scene *read_with(const char *setting)
{
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/test.json";
    def.text = scene_text;
    def.text_size = strlen(scene_text);
    def.settings = &setting;
    def.setting_count = setting != NULL;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        fail_msg("%s: %s", setting ? setting : "", error.text);
    return scene;
}

static void assert_differs(sinew_scene *scene, const saved *state, const char *setting, const char *name)
{
    sinew_error error = {0};
    const sinew_status status = sinew_world_state_check(sinew_scene_world(scene), state->bytes, state->size, &error);
    if (status != SINEW_ERROR_DATA || !strstr(error.text, name))
        fail_msg("%s: expected '%s', the check says '%s'", setting, name, error.text);
}

static void differences_are_named(void **state)
{
    (void)state;
    sinew_scene *scene = read_with(NULL);
    const saved before = save(sinew_scene_world(scene));
    assert_int_equal(sinew_world_state_check(sinew_scene_world(scene), before.bytes, before.size, NULL), SINEW_OK);
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char name[64];
        sinew_scene *other = read_with(changes[i].setting);
        const saved after = save(sinew_scene_world(other));
        assert_differs(other, &before, changes[i].setting, changes[i].name);
        /* The other way round the same line differs. */
        snprintf(name, sizeof name, "%.*s ", (int)strcspn(changes[i].name, " "), changes[i].name);
        assert_differs(scene, &after, changes[i].setting, name);
        free(after.bytes);
        sinew_scene_destroy(other);
    }
    free(before.bytes);
    sinew_scene_destroy(scene);
}

/* ---- Caches of colliders --------------------------------------------------------------------------- */

/* A mesh collider with two frames. change: 1, a coordinate of the last frame; 2, the time between frames; 3, none. */
static sinew_world *make_cached(int change)
{
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    const size_t each = 3 * (size_t)sinew_mesh_vertex_count(mesh);
    sinew_real *frames = make_array(2 * each, sizeof *frames);
    for (size_t i = 0; i < 2 * each; i++)
        frames[i] = sinew_mesh_positions(mesh)[i % each];
    frames[2 * each - 1] += (sinew_real)(change == 1 ? 0.25 : 0);
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_MESH);
    def.mesh = mesh;
    def.frames = frames;
    def.frame_count = change == 3 ? 0 : 2;
    def.frame_time = change == 2 ? 2 : 1;
    add_collider(world, &def);
    free(frames);
    sinew_mesh_destroy(mesh);
    return world;
}

static void caches_are_compared(void **state)
{
    (void)state;
    for (int change = 0; change < 4; change++) {
        sinew_error error = {0};
        sinew_world *first = make_cached(0), *second = make_cached(change);
        const saved before = save(first);
        const sinew_status status = sinew_world_state_check(second, before.bytes, before.size, &error);
        assert_int_equal(status, change == 0 ? SINEW_OK : SINEW_ERROR_DATA);
        assert_true(change == 0 || strstr(error.text, "colliders.0 was mesh (checksum"));
        free(before.bytes);
        sinew_world_destroy(first);
        sinew_world_destroy(second);
    }
}

/* ---- Names of lines -------------------------------------------------------------------------- */

enum {
    LINES_MAX = 200
};

typedef struct line_list {
    char names[LINES_MAX][96], values[LINES_MAX][96];
    int count;
} line_list;

static void list_line(void *context, const char *name, const char *value)
{
    line_list *lines = context;
    assert_true(lines->count < LINES_MAX);
    snprintf(lines->names[lines->count], sizeof lines->names[0], "%s", name);
    snprintf(lines->values[lines->count++], sizeof lines->values[0], "%s", value);
}

/* The value of the only line of this name. */
static const char *value_of(const line_list *lines, const char *name)
{
    const char *value = NULL;
    for (int i = 0; i < lines->count; i++)
        if (strcmp(lines->names[i], name) == 0) {
            assert_null(value);
            value = lines->values[i];
        }
    if (!value)
        fail_msg("no line %s", name);
    return value;
}

/* Two of everything, one of them removed. */
static void removed_things_are_named(void **state)
{
    (void)state;
    static const char *const removed[] = {"bodies.1", "energies.0", "loads.1", "colliders.1"};
    sinew_error error = {0};
    line_list *lines = make_array(1, sizeof *lines);
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    set_touch(world, 0.01, 0.25);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_body body[2];
    sinew_energy energy[2];
    sinew_load load[2];
    sinew_collider collider[2];
    for (int i = 0; i < 2; i++) {
        body[i] = add_mesh(world, mesh, 1000, NULL, NULL);
        sinew_load_def gust = sinew_default_load_def(SINEW_LOAD_WIND);
        gust.body = body[0];
        load[i] = sinew_world_add_load(world, &gust, &error);
        must(&error);
        collider[i] = add_floor(world);
    }
    for (int i = 0; i < 2; i++)
        energy[i] = add_material(world, body[0], SINEW_ENERGY_STRAIN, 1e4, 0);
    add_pins(world, body[0], (const int32_t[]){0}, 1, NULL);
    sinew_world_remove_energy(world, energy[0], &error);
    must(&error);
    sinew_world_remove_load(world, load[1], &error);
    must(&error);
    sinew_world_remove_collider(world, collider[1], &error);
    must(&error);
    sinew_world_remove_body(world, body[1], &error);
    must(&error);
    sinew_world_signature(world, list_line, lines);
    assert_string_equal(value_of(lines, "bodies"), "2");
    assert_string_equal(value_of(lines, "energies"), "2");
    for (int i = 0; i < 4; i++)
        assert_string_equal(value_of(lines, removed[i]), "removed");
    assert_string_equal(value_of(lines, "energies.1"), "strain on body 0");
    assert_memory_equal(value_of(lines, "loads.0"), "wind on body 0", 14);
    assert_memory_equal(value_of(lines, "colliders.0"), "plane", 5);
    assert_memory_equal(value_of(lines, "pins.0"), "1 vertices", 10);
    assert_string_equal(value_of(lines, "contact.friction"), "0.25");
    assert_string_equal(value_of(lines, "bodies.0.contact.friction"), "the world's");
    for (int i = 0; i < lines->count; i++)
        value_of(lines, lines->names[i]);
    free(lines);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(differences_are_named), cmocka_unit_test(caches_are_compared),
                                       cmocka_unit_test(removed_things_are_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
