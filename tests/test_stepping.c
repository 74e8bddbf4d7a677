/* SPDX-License-Identifier: MIT
 *
 * test_stepping.c: callbacks of a step may read the world and may not change it.
 *
 * A contact filter tries every call that changes a world. Each is refused, and the error names the call. The state
 * after the steps has the same bits as that of a world whose filter calls nothing.
 */
#include "contact_worlds.h"
#include "sinew/hard.h"
#include "sinew/load.h"
#include "sinew/skin.h"
#include "contact/contact.h"
#include "world/world.h"

enum {
    STEPS = 4
};

typedef struct disturbance {
    sinew_world *world;
    sinew_body body;
    sinew_energy energy;
    sinew_collider floor;
    sinew_pin pin;
    sinew_load load;
    int call; /* index into changes */
    int tries, refusals;
    sinew_error error; /* of the last refusal */
} disturbance;

/* ---- Calls --------------------------------------------------------------------------------------- */

static bool try_step_again(disturbance *d)
{
    const uint32_t bits = sinew_world_step(d->world, NULL);
    snprintf(d->error.text, sizeof d->error.text, "%s", sinew_world_error(d->world));
    return bits == SINEW_STEP_UNPREPARED;
}

static bool try_remove_body(disturbance *d)
{
    return sinew_world_remove_body(d->world, d->body, &d->error) != SINEW_OK;
}

static bool try_add_body(disturbance *d)
{
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    const sinew_body body = sinew_world_add_body(d->world, &def, &d->error);
    sinew_mesh_destroy(mesh);
    return body.index < 0;
}

static bool try_add_rigid(disturbance *d)
{
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_body_def def = sinew_default_body_def();
    def.mesh = mesh;
    const sinew_body body = sinew_world_add_rigid(d->world, &def, &d->error);
    sinew_mesh_destroy(mesh);
    return body.index < 0;
}

static bool try_set_contact(disturbance *d)
{
    sinew_contact_def def = sinew_default_contact_def();
    def.on = false;
    return sinew_world_set_contact(d->world, &def, &d->error) != SINEW_OK;
}

static bool try_set_body_contact(disturbance *d)
{
    sinew_body_contact contact = sinew_default_body_contact();
    contact.surface = SINEW_CONTACT_NONE;
    return sinew_body_set_contact(d->world, d->body, &contact, &d->error) != SINEW_OK;
}

static bool try_set_solver(disturbance *d)
{
    const sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_ADMM);
    return sinew_world_set_solver(d->world, &def, &d->error) != SINEW_OK;
}

static bool try_set_time_step(disturbance *d)
{
    return sinew_world_set_time_step(d->world, (sinew_real)0.5, &d->error) != SINEW_OK;
}

static bool try_set_gravity(disturbance *d)
{
    const sinew_real up[3] = {0, 1, 0};
    return sinew_world_set_gravity(d->world, up, &d->error) != SINEW_OK;
}

static bool try_set_damping(disturbance *d)
{
    return sinew_world_set_damping(d->world, 1, &d->error) != SINEW_OK;
}

static bool try_add_sphere(disturbance *d)
{
    const sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_SPHERE);
    return sinew_world_add_collider(d->world, &def, &d->error).index < 0;
}

static bool try_remove_floor(disturbance *d)
{
    return sinew_world_remove_collider(d->world, d->floor, &d->error) != SINEW_OK;
}

static bool try_pose_floor(disturbance *d)
{
    const sinew_real position[3] = {0, -1, 0}, rotation[3] = {0, 0, 0};
    return sinew_collider_set_pose(d->world, d->floor, position, rotation, &d->error) != SINEW_OK;
}

static bool try_add_energy(disturbance *d)
{
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    def.body = d->body;
    return sinew_world_add_energy(d->world, &def, &d->error).index < 0;
}

static bool try_remove_energy(disturbance *d)
{
    return sinew_world_remove_energy(d->world, d->energy, &d->error) != SINEW_OK;
}

static bool try_set_parameter(disturbance *d)
{
    return sinew_energy_set_parameter(d->world, d->energy, "young", 1, &d->error) != SINEW_OK;
}

static bool try_switch_elements(disturbance *d)
{
    return sinew_energy_switch(d->world, d->energy, NULL, 0, false, &d->error) != SINEW_OK;
}

static bool try_set_tear(disturbance *d)
{
    sinew_tear_def def = sinew_default_tear_def();
    def.body = d->body;
    return sinew_body_set_tear(d->world, &def, &d->error) != SINEW_OK;
}

static bool try_add_pins(disturbance *d)
{
    const int32_t vertex = 0;
    sinew_pin_def def = sinew_default_pin_def();
    def.body = d->body;
    def.vertices = &vertex;
    def.vertex_count = 1;
    return sinew_world_add_pins(d->world, &def, &d->error).index < 0;
}

static bool try_remove_pins(disturbance *d)
{
    return sinew_world_remove_pins(d->world, d->pin, &d->error) != SINEW_OK;
}

static bool try_move_pins(disturbance *d)
{
    const sinew_real target[3] = {0, 9, 0};
    return sinew_pin_set_targets(d->world, d->pin, target, &d->error) != SINEW_OK;
}

static bool try_add_load(disturbance *d)
{
    sinew_load_def def = sinew_default_load_def(SINEW_LOAD_WIND);
    def.body = d->body;
    return sinew_world_add_load(d->world, &def, &d->error).index < 0;
}

static bool try_remove_load(disturbance *d)
{
    return sinew_world_remove_load(d->world, d->load, &d->error) != SINEW_OK;
}

static bool try_cast_ray(disturbance *d)
{
    const sinew_real origin[3] = {0, 9, 0}, down[3] = {0, -1, 0};
    sinew_world_hit hit;
    return !sinew_world_ray(d->world, origin, down, 100, &hit, &d->error);
}

static bool try_find_intersections(disturbance *d)
{
    int32_t count;
    return sinew_world_intersections(d->world, 0, NULL, &count, &d->error) != SINEW_OK;
}

static bool try_load_state(disturbance *d)
{
    const char blob[64] = "";
    return sinew_world_state_load(d->world, blob, sizeof blob, &d->error) != SINEW_OK;
}

static bool try_prepare(disturbance *d)
{
    return sinew_world_prepare(d->world, &d->error) != SINEW_OK;
}

static bool own_text(disturbance *d, bool refused)
{
    snprintf(d->error.text, sizeof d->error.text, "%s", sinew_world_error(d->world));
    return refused;
}

static bool try_set_positions(disturbance *d)
{
    const sinew_real x[3] = {0, 7, 0};
    return own_text(d, sinew_world_set_positions(d->world, 0, 1, x) != SINEW_OK);
}

static bool try_set_velocities(disturbance *d)
{
    const sinew_real x[3] = {0, 7, 0};
    return own_text(d, sinew_world_set_velocities(d->world, 0, 1, x) != SINEW_OK);
}

static bool try_set_forces(disturbance *d)
{
    const sinew_real x[3] = {0, 7, 0};
    return own_text(d, sinew_world_set_forces(d->world, 0, 1, x) != SINEW_OK);
}

static bool try_measure(disturbance *d)
{
    sinew_measures measures;
    return own_text(d, sinew_world_measure(d->world, &measures) != SINEW_OK);
}

static bool try_violation(disturbance *d)
{
    return own_text(d, isnan(sinew_world_violation(d->world)));
}

static bool try_set_filter(disturbance *d)
{
    sinew_world_set_contact_filter(d->world, NULL, NULL);
    return own_text(d, true);
}

static const struct {
    const char *name;
    bool (*attempt)(disturbance *d); /* true: refused, with d->error */
} changes[] = {{"sinew_world_step", try_step_again},
               {"sinew_world_remove_body", try_remove_body},
               {"sinew_world_add_body", try_add_body},
               {"sinew_world_add_rigid", try_add_rigid},
               {"sinew_world_set_contact", try_set_contact},
               {"sinew_body_set_contact", try_set_body_contact},
               {"sinew_world_set_contact_filter", try_set_filter},
               {"sinew_world_set_solver", try_set_solver},
               {"sinew_world_set_time_step", try_set_time_step},
               {"sinew_world_set_gravity", try_set_gravity},
               {"sinew_world_set_damping", try_set_damping},
               {"sinew_world_add_collider", try_add_sphere},
               {"sinew_world_remove_collider", try_remove_floor},
               {"sinew_collider_set_pose", try_pose_floor},
               {"sinew_world_add_energy", try_add_energy},
               {"sinew_world_remove_energy", try_remove_energy},
               {"sinew_energy_set_parameter", try_set_parameter},
               {"sinew_energy_switch", try_switch_elements},
               {"sinew_body_set_tear", try_set_tear},
               {"sinew_world_add_pins", try_add_pins},
               {"sinew_world_remove_pins", try_remove_pins},
               {"sinew_pin_set_targets", try_move_pins},
               {"sinew_world_add_load", try_add_load},
               {"sinew_world_remove_load", try_remove_load},
               {"sinew_world_ray", try_cast_ray},
               {"sinew_world_intersections", try_find_intersections},
               {"sinew_world_state_load", try_load_state},
               {"sinew_world_prepare", try_prepare},
               {"sinew_world_set_positions", try_set_positions},
               {"sinew_world_set_velocities", try_set_velocities},
               {"sinew_world_set_forces", try_set_forces},
               {"sinew_world_measure", try_measure},
               {"sinew_world_violation", try_violation}};
enum {
    CHANGES = sizeof changes / sizeof changes[0]
};

/* ---- Test ---------------------------------------------------------------------------------------- */

/* Contact filters may run in any thread of the world; these worlds have one. */
static bool disturb(void *context, const sinew_contact_object *a, const sinew_contact_object *b)
{
    disturbance *d = context;
    (void)a;
    (void)b;
    if (d->call < 0)
        return true;
    d->tries++;
    memset(&d->error, 0, sizeof d->error);
    const bool refused = changes[d->call].attempt(d);
    d->refusals += refused && strstr(d->error.text, changes[d->call].name) != NULL;
    return true;
}

/* Hash of the state after some steps of two boxes above each other on a floor, one of which is pinned at a corner. */
static uint64_t run_disturbed(disturbance *d, sinew_solver_kind solver)
{
    const double low[3] = {0, 0.101, 0}, high[3] = {0.01, 0.304, 0};
    const int32_t vertex = 0;
    sinew_error error = {0};
    d->world = make_touching_world(solver, 1);
    set_touch(d->world, 2e-3, 0.3);
    d->floor = add_floor(d->world);
    add_box(d->world, solver, 1, 0.2, low, 1e5);
    d->body = add_box(d->world, solver, 1, 0.2, high, 1e5);
    d->energy = sinew_world_energy_at(d->world, 0);
    sinew_pin_def pins = sinew_default_pin_def();
    pins.body = d->body;
    pins.vertices = &vertex;
    pins.vertex_count = 1;
    d->pin = sinew_world_add_pins(d->world, &pins, &error);
    must(&error);
    sinew_world_set_contact_filter(d->world, disturb, d);
    for (int i = 0; i < STEPS; i++)
        sinew_world_step(d->world, NULL);
    const uint64_t hash = sinew_world_state_hash(d->world);
    sinew_world_destroy(d->world);
    return hash;
}

static void test_changes_are_refused(void **state)
{
    (void)state;
    for (int s = 0; s < TOUCH_SOLVERS; s += 2) {
        disturbance calm = {.call = -1};
        const uint64_t wanted = run_disturbed(&calm, touch_solvers[s]);
        for (int call = 0; call < CHANGES; call++) {
            disturbance d = {.call = call};
            const uint64_t hash = run_disturbed(&d, touch_solvers[s]);
            if (d.tries == 0 || d.refusals != d.tries || hash != wanted)
                printf("  %s: %d tries, %d refused by name, \"%s\"\n", changes[call].name, d.tries, d.refusals,
                       d.error.text);
            assert_true(d.tries > 0);
            assert_int_equal(d.refusals, d.tries);
            assert_true(hash == wanted);
        }
    }
}

/* ---- Interruption -------------------------------------------------------------------------------- */

/* A filter that tries a change and interrupts the step at a chosen call. */
typedef struct interruption {
    disturbance d;
    int calls, at;
} interruption;

static bool disturb_and_interrupt(void *context, const sinew_contact_object *a, const sinew_contact_object *b)
{
    interruption *i = context;
    const bool now = ++i->calls == i->at;
    if (now)
        sinew_world_interrupt(i->d.world);
    return i->at == 0 || disturb(&i->d, a, b);
}

/* Changes are refused in a step that is being interrupted, and accepted when it has ended; the steps that follow have
 * the bits of an undisturbed run. */
static void test_interrupted_steps_are_guarded(void **state)
{
    (void)state;
    const sinew_real gravity[3] = {0, (sinew_real)-9.81, 0};
    const double low[3] = {0, 0.101, 0}, high[3] = {0.01, 0.304, 0};
    uint64_t wanted = 0;
    int ended = 0;
    for (int call = -1; call < CHANGES; call++) {
        sinew_error error = {0};
        interruption i = {.d = {.call = call}};
        sinew_world *world = i.d.world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
        set_touch(world, 2e-3, 0.3);
        i.d.floor = add_floor(world);
        add_box(world, SINEW_SOLVER_NEWTON, 1, 0.2, low, 1e5);
        i.d.body = add_box(world, SINEW_SOLVER_NEWTON, 1, 0.2, high, 1e5);
        i.d.energy = sinew_world_energy_at(world, 0);
        i.d.pin = add_pins(world, i.d.body, (const int32_t[]){0}, 1, NULL);
        sinew_world_set_contact_filter(world, disturb_and_interrupt, &i);
        for (int step = 0; step < STEPS; step++) {
            const uint64_t before = sinew_world_state_hash(world);
            i.calls = 0;
            i.at = call >= 0 ? 1 + step : 0;
            if (i.at && sinew_world_step(world, NULL) & SINEW_STEP_INTERRUPTED) {
                ended++;
                assert_true(sinew_world_state_hash(world) == before);
                assert_int_equal(sinew_world_step_count(world), step);
                assert_int_equal(sinew_world_set_gravity(world, gravity, &error), SINEW_OK);
                i.at = 0;
                sinew_world_step(world, NULL);
            } else if (!i.at) {
                sinew_world_step(world, NULL);
            }
            assert_int_equal(sinew_world_step_count(world), step + 1);
        }
        assert_int_equal(i.d.refusals, i.d.tries);
        if (call < 0)
            wanted = sinew_world_state_hash(world);
        assert_true(sinew_world_state_hash(world) == wanted);
        sinew_world_destroy(world);
    }
    assert_true(ended >= CHANGES);
}

/* A refused filter allocates nothing and marks no surface stale. A filter alone leaves contact off. */
static void test_refused_filter_changes_nothing(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    sinew_contact_release(world);
    world->stepping = true;
    sinew_world_set_contact_filter(world, disturb, NULL);
    assert_null(world->contact);
    world->stepping = false;
    sinew_world_set_contact_filter(world, disturb, NULL);
    sinew_contact_def def = sinew_world_contact(world);
    assert_false(def.on);
    assert_int_equal(sinew_world_set_contact(world, &def, &error), SINEW_OK);
    world->contact->stale = false;
    world->stepping = true;
    sinew_world_set_contact_filter(world, NULL, NULL);
    assert_false(world->contact->stale);
    assert_true(world->contact->filter == disturb);
    world->stepping = false;
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_changes_are_refused),
                                       cmocka_unit_test(test_interrupted_steps_are_guarded),
                                       cmocka_unit_test(test_refused_filter_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
