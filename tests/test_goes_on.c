/* SPDX-License-Identifier: MIT
 *
 * test_goes_on.c: scenes that tools/random-scenes found. A state goes on in a new world with the bits of the world that
 * saved it: positions, measures and recorded iterations; no result depends on what new memory holds; explosions leave
 * finite states.
 */
#include <math.h>
#include <string.h>

#include "saved_state.h"
#include "sinew/contact.h"
#include "sinew/scene.h"

enum {
    BEFORE = 2, /* a state is saved after the first step, and after so many */
    STEPS = 5
};

typedef struct found_scene {
    const char *name, *text;
} found_scene;

/* A gas, whose pressure is that of the volume when a step begins; a motor, whose target moves; rigid bodies, whose
 * multipliers no state holds; contact without the step filter, beside a collider that moves, also without a sweep; a body
 * that first tears in the step after the load, whose lips are to be parted; contacts that end before the state is saved,
 * after which sap solves without them. */
static const found_scene scenes[] = {
    {"gas, newton", "{\"sinew\": 1, \"solver\": {\"name\": \"newton\"}, \"bodies\": [{\"mesh\": {\"generator\": "
                    "\"ball\", \"segments\": 3}, \"initial\": {\"velocity\": [1, 2, 0]}, \"energies\": [{\"energy\": "
                    "\"strain\"}, {\"energy\": \"pressure\", \"gas\": \"ideal\"}]}]}"},
    {"gas, mpbng", "{\"sinew\": 1, \"solver\": {\"name\": \"mpbng\", \"iterations\": 10}, \"bodies\": [{\"mesh\": "
                   "{\"generator\": \"tube\", \"segments\": 8, \"rings\": 1}, \"energies\": [{\"energy\": "
                   "\"pressure\"}]}]}"},
    {"motor, newton",
     "{\"sinew\": 1, \"solver\": {\"name\": \"newton\"}, \"bodies\": ["
     "{\"name\": \"a\", \"mesh\": {\"generator\": \"beam\", \"cells\": [2, 1, 1]}, \"energies\": [{\"energy\": "
     "\"strain\"}]}, {\"name\": \"b\", \"mesh\": {\"generator\": \"beam\", \"cells\": [2, 1, 1]}, \"transform\": "
     "{\"translate\": [0, 1.1, 0]}, \"energies\": [{\"energy\": \"strain\"}]}], \"couplings\": [{\"energy\": "
     "\"motor\", \"bodies\": [\"a\", \"b\"], \"at\": [0, 0.55, 0], \"axis\": [0, 1, 0], \"speed\": 2}]}"},
    {"rigid, kkt", "{\"sinew\": 1, \"solver\": {\"name\": \"kkt\"}, \"bodies\": [{\"rigid\": true, \"mesh\": "
                   "{\"generator\": \"box\", \"vertices\": [2, 2, 2], \"size\": [0.2, 0.1, 0.3]}, \"initial\": "
                   "{\"angular_velocity\": [1, 2, 3]}}]}"},
    {"rigid, sap", "{\"sinew\": 1, \"solver\": {\"name\": \"sap\"}, \"bodies\": [{\"rigid\": true, \"mesh\": "
                   "{\"generator\": \"box\", \"vertices\": [2, 2, 2], \"size\": [0.2, 0.1, 0.3]}, \"initial\": "
                   "{\"angular_velocity\": [1, 2, 3]}}]}"},
    {"penalty, pbd",
     "{\"sinew\": 1, \"solver\": {\"name\": \"pbd\"}, \"bodies\": [{\"mesh\": {\"generator\": \"box\", \"vertices\": "
     "[3, 3, 3], \"size\": [0.5, 0.5, 0.5]}, \"initial\": {\"velocity\": [0.5, -2, 0]}, \"energies\": [{\"energy\": "
     "\"strain\"}]}], \"contact\": {\"thickness\": 0.01, \"mode\": \"penalty\"}, \"colliders\": [{\"shape\": "
     "\"height_field\", \"size\": [3, 1, 3], \"position\": [0, -0.01, 0], \"heights\": [[0, -0.1, 0], [-0.1, 0, "
     "0.0]], \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 0.05, \"translate\": [0.2, 0.02, 0.1], \"rotate\": "
     "[0, 0.3, 0]}]}}]}"},
    {"projection, pbng",
     "{\"sinew\": 1, \"time_step\": 0.001, \"gravity\": [-29.34, 10.16, 9.29], \"solver\": {\"name\": "
     "\"pbng\", \"iterations\": 12, \"tolerance\": 0}, \"bodies\": [{\"mesh\": {\"generator\": \"cloth\", "
     "\"vertices\": [7, 3], \"width\": 0.913, \"length\": 0.9064, \"origin\": [-0.4565, -0.4532, 0], "
     "\"diagonals\": \"backward\"}, \"transform\": {\"rotate\": {\"axis\": \"z\", \"angle\": 1.73}}, "
     "\"density\": 0.03213, \"initial\": {\"velocity\": [0, -4.947, 0]}, \"energies\": [{\"energy\": "
     "\"spring\", \"stiffness\": 136, \"rest_scale\": 0.02}]}], \"contact\": {\"thickness\": 0.001, "
     "\"mode\": \"projection\"}, \"colliders\": [{\"shape\": \"box\", \"size\": [6.09, 6.09, 6.09], "
     "\"position\": [0, 2.518, 0], \"hollow\": true, \"motion\": {\"pivot\": [0, -0.5275, 0], \"keys\": "
     "[{\"time\": 0}, {\"time\": 0.003142, \"rotate\": [0.02601, 0.09424, -0.4421]}]}}]}"},
    {"penalty, xpbd-qs",
     "{\"sinew\": 1, \"quasistatic\": true, \"time_step\": 0.02, \"solver\": {\"name\": \"xpbd-qs\", "
     "\"iterations\": 0}, \"bodies\": [{\"mesh\": {\"generator\": \"box\", \"vertices\": [3, 3, 3], \"size\": [0.5, "
     "0.5, 0.5]}, \"pins\": [{\"select\": {\"half_space\": {\"point\": [0, 0.4, 0], \"normal\": [0, 1, 0]}}}], "
     "\"energies\": [{\"energy\": \"strain\"}]}], \"contact\": {\"thickness\": 0.01, \"mode\": \"penalty\"}, "
     "\"colliders\": [{\"shape\": \"height_field\", \"size\": [3, 1, 3], \"position\": [0, -0.005, 0], "
     "\"heights\": [[0, 0, 0], [0, 0, 0]], \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 0.05, \"translate\": "
     "[0.2, 0, 0.1]}]}}]}"},
    {"tear, newton",
     "{\"sinew\": 1, \"time_step\": 0.001, \"bodies\": [{\"mesh\": {\"generator\": \"torus\", \"inner_radius\": "
     "0.07825, \"segments\": 6, \"layers\": 2}, \"transform\": {\"rotate\": {\"axis\": \"x\", \"angle\": "
     "1.399}}, \"tear\": {}}], \"contact\": {}, \"colliders\": [{\"shape\": \"box\", \"size\": [2, 0.2, 2], "
     "\"position\": [0, -0.294, 0], \"motion\": {\"keys\": [{\"time\": 0}, {\"time\": 0.001586, \"translate\": "
     "[0.09257, 0.06588, -0.0998], \"rotate\": [-0.603, -0.01835, 0.7791]}]}}]}"},
    {"contacts that end, sap",
     "{\"sinew\": 1, \"solver\": {\"name\": \"sap\"}, \"bodies\": [{\"mesh\": {\"generator\": \"ball\", "
     "\"segments\": 3}, \"energies\": [{\"energy\": \"triangle_strain\", \"minimum\": 0.9001, \"maximum\": "
     "1.467}], \"mass\": 1.444, \"initial\": {\"velocity\": [-0.2664, -0.9436, -0.02642]}, \"forces\": "
     "[{\"select\": [{\"half_space\": {\"point\": [0.3936, 0.0, 0], \"normal\": [1, 0, 0]}}], \"total\": "
     "[-3.857, 4.381, -2.539]}]}, {\"mesh\": {\"generator\": \"ball\"}, \"transform\": {\"translate\": [0, "
     "0.9575, 0]}}], \"contact\": {}}"},
};

/* New memory holds the byte *context. */
static void *patterned_allocate(void *context, size_t size, size_t alignment)
{
    const size_t whole = (size + alignment - 1) / alignment * alignment;
    void *block = aligned_alloc(alignment, whole);
    if (block)
        memset(block, *(const int *)context, whole);
    return block;
}

static void patterned_release(void *context, void *block)
{
    (void)context;
    free(block);
}

static sinew_scene *read_scene(const found_scene *found, int *pattern)
{
    static const char *const settings[] = {"threads=1"};
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.allocator = (sinew_allocator){patterned_allocate, patterned_release, pattern};
    def.text = found->text;
    def.text_size = strlen(found->text);
    def.settings = settings;
    def.setting_count = 1;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    must(&error);
    sinew_solver_def solver = sinew_scene_solver(scene);
    solver.record = SINEW_RECORD_ITERATIONS;
    assert_int_equal(sinew_world_set_solver(sinew_scene_world(scene), &solver, &error), SINEW_OK);
    return scene;
}

/* FNV-1a of all bytes of the state, forces of contacts included. */
static uint64_t hash_state(const sinew_world *world)
{
    uint64_t hash = 0xcbf29ce484222325u;
    saved state = save(world);
    for (size_t i = 0; i < state.size; i++)
        hash = (hash ^ (unsigned char)state.bytes[i]) * 0x100000001b3u;
    free(state.bytes);
    return hash;
}

/* What a step tells, without its times. */
typedef struct told {
    uint32_t bits;
    int32_t iterations;
    double residual, relative_residual, gap, first_residual;
    uint64_t hash;
    int64_t pairs; /* candidate pairs of contact; 0 without */
} told;

static told take_step(sinew_world *world)
{
    sinew_step_result result = {0};
    told t = {.bits = sinew_world_step(world, &result)};
    int32_t count;
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    assert_true(count > 0);
    t.iterations = result.iterations;
    t.residual = result.residual;
    t.relative_residual = result.relative_residual;
    t.gap = result.gap;
    t.first_residual = records[0].residual;
    t.hash = hash_state(world);
    sinew_contact_report report = {0};
    if (sinew_world_contact_report(world, &report, NULL) == SINEW_OK)
        t.pairs = (int64_t)report.pairs;
    return t;
}

static void assert_same(const found_scene *found, int step, const told *a, const told *b)
{
    if (a->bits != b->bits || a->iterations != b->iterations || a->hash != b->hash || a->pairs != b->pairs ||
        memcmp(&a->residual, &b->residual, 4 * sizeof a->residual) != 0)
        fail_msg("%s, step %d: residual %.17g (relative %.17g, at the start %.17g), gap %.17g; not %.17g (%.17g, "
                 "%.17g), %.17g",
                 found->name, step, b->residual, b->relative_residual, b->first_residual, b->gap, a->residual,
                 a->relative_residual, a->first_residual, a->gap);
}

static void scene_goes_on(const found_scene *found, int before)
{
    int zeros = 0, ones = 0xff;
    sinew_scene *whole = read_scene(found, &zeros), *other = read_scene(found, &ones);
    sinew_scene *resumed = read_scene(found, &zeros);
    for (int step = 0; step < STEPS; step++) {
        if (step == before) {
            sinew_error error = {0};
            saved state = save(sinew_scene_world(whole));
            sinew_world_state_load(sinew_scene_world(resumed), state.bytes, state.size, &error);
            must(&error);
            free(state.bytes);
        }
        const told a = take_step(sinew_scene_world(whole)), b = take_step(sinew_scene_world(other));
        assert_same(found, step, &a, &b);
        if (step >= before) {
            const told c = take_step(sinew_scene_world(resumed));
            assert_same(found, step, &a, &c);
        }
    }
    sinew_scene_destroy(whole);
    sinew_scene_destroy(other);
    sinew_scene_destroy(resumed);
}

static void found_scenes_go_on(void **unused)
{
    (void)unused;
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++)
        for (int before = 1; before <= BEFORE; before++)
            scene_goes_on(&scenes[k], before);
}

/* A stiff bar whose explicit steps explode, damped in two ways. */
static const char explosion[] =
    "{\"sinew\": 1, \"time_step\": 0.1, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [2, 1, 1]}, "
    "\"initial\": {\"velocity\": [0, 1, 0], \"angular_velocity\": [5, 2, 1]}, \"energies\": [{\"energy\": "
    "\"st_venant_kirchhoff\", \"young\": 1e9}]}]}";

static bool state_is_finite(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *x = make_array(6 * (size_t)n, sizeof *x);
    bool finite = true;
    assert_int_equal(sinew_world_get_positions(world, 0, n, x), SINEW_OK);
    assert_int_equal(sinew_world_get_velocities(world, 0, n, x + 3 * (size_t)n), SINEW_OK);
    for (int32_t i = 0; i < 6 * n; i++)
        finite = finite && isfinite(x[i]);
    free(x);
    return finite;
}

static sinew_scene *read_explosion(const char *solver, const char *damping)
{
    char setting[64];
    const char *const settings[] = {setting, "solver.measure=nothing", damping};
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    snprintf(setting, sizeof setting, "solver.name=%s", solver);
    def.text = explosion;
    def.text_size = strlen(explosion);
    def.settings = settings;
    def.setting_count = 3;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    must(&error);
    return scene;
}

/* The step that would end with a velocity that is not finite says so and keeps the state before it. */
static void explosions_keep_finite_states(void **unused)
{
    (void)unused;
    static const char *const solvers[] = {"explicit-euler", "symplectic-euler", "dae", "kkt", "linear-implicit"};
    static const char *const dampings[] = {"bodies.0.damping=4", "bodies.0.velocity_filter=0.5"};
    for (int k = 0; k < 10; k++) {
        sinew_scene *scene = read_explosion(solvers[k / 2], dampings[k % 2]);
        uint32_t bits = 0;
        for (int step = 0; step < 300 && !(bits & SINEW_STEP_NOT_FINITE); step++) {
            bits = sinew_world_step(sinew_scene_world(scene), NULL);
            if (!state_is_finite(sinew_scene_world(scene)))
                fail_msg("%s, %s, step %d: bits %x and a state that is not finite", solvers[k / 2], dampings[k % 2],
                         step, (unsigned)bits);
        }
        if (k < 4)
            assert_true(bits & SINEW_STEP_NOT_FINITE);
        sinew_scene_destroy(scene);
    }
}

/* A can that `remove` tears empty keeps its load, which then acts on nothing. */
static void loads_outlive_their_triangles(void **unused)
{
    (void)unused;
    static const found_scene torn = {
        "torn", "{\"sinew\": 1, \"solver\": {\"name\": \"pbng\", \"iterations\": 0}, \"bodies\": [{\"mesh\": "
                "{\"generator\": \"can\", \"segments\": 6, \"layers\": 2}, "
                "\"density\": 0.1, \"initial\": {\"transform\": {\"scale\": 2}}, \"energies\": [{\"energy\": "
                "\"edge_strain\"}], \"loads\": [{\"load\": \"traction\", \"traction\": [0, 300, 0]}, {\"load\": "
                "\"wind\", \"velocity\": [3, 0, 0]}], \"tear\": {\"strain\": 0.02, \"by\": \"remove\", \"most\": "
                "100}}]}"};
    int zeros = 0;
    sinew_scene *scene = read_scene(&torn, &zeros);
    for (int step = 0; step < 6; step++)
        assert_false(sinew_world_step(sinew_scene_world(scene), NULL) & SINEW_STEP_UNPREPARED);
    sinew_scene_destroy(scene);
}

static int64_t refused_tears(sinew_scene *scene)
{
    sinew_tear_report report;
    assert_int_equal(sinew_body_torn(sinew_scene_world(scene), sinew_scene_body(scene, "rope"), &report, NULL),
                     SINEW_OK);
    return report.refused;
}

/* An edge of one cell cannot open, and each step counts it. A state holds the count also before the first tear. */
static void refused_tears_go_on(void **unused)
{
    (void)unused;
    static const found_scene taut = {
        "taut", "{\"sinew\": 1, \"solver\": {\"name\": \"newton\"}, \"bodies\": [{\"name\": \"rope\", "
                "\"mesh\": {\"generator\": \"rope\", \"vertices\": 2}, \"density\": 0.1, \"initial\": {\"transform\": "
                "{\"scale\": 3}}, \"energies\": [{\"energy\": \"edge_strain\", \"stiffness\": 1e-6}], "
                "\"tear\": {\"strain\": 0.02}}]}"};
    int zeros = 0;
    sinew_error error = {0};
    sinew_scene *whole = read_scene(&taut, &zeros), *resumed = read_scene(&taut, &zeros);
    const saved fresh = save(sinew_scene_world(whole));
    for (int step = 0; step < 3; step++)
        sinew_world_step(sinew_scene_world(whole), NULL);
    assert_int_equal(refused_tears(whole), 2);
    const saved state = save(sinew_scene_world(whole));
    sinew_world_state_load(sinew_scene_world(resumed), state.bytes, state.size, &error);
    must(&error);
    assert_int_equal(refused_tears(resumed), 2);
    sinew_world_state_load(sinew_scene_world(resumed), fresh.bytes, fresh.size, &error);
    must(&error);
    assert_int_equal(refused_tears(resumed), 0);
    free(state.bytes);
    free(fresh.bytes);
    sinew_scene_destroy(whole);
    sinew_scene_destroy(resumed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(found_scenes_go_on),
        cmocka_unit_test(explosions_keep_finite_states),
        cmocka_unit_test(loads_outlive_their_triangles),
        cmocka_unit_test(refused_tears_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
