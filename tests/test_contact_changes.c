/* SPDX-License-Identifier: MIT
 *
 * test_contact_changes.c: a contact setting that changes between two steps takes effect in the next step. A world that
 * is changed after some steps agrees with a new world that has the setting from the beginning and starts from the same
 * positions and velocities. What the change itself does is the measure: the two differ by a small part of it.
 */
#include "contact_worlds.h"

enum {
    BEFORE = 2, /* steps before the change and after it; the upper cube touches the lower one in between */
    AFTER = 8
};
#define THICKNESS 0.02
#define PART      0.25 /* of the effect of the change */

typedef struct world_case {
    sinew_world *world;
    sinew_body low, high;
    sinew_collider floor;
} world_case;

static sinew_contact_def usual_contact(void)
{
    sinew_contact_def def = sinew_default_contact_def();
    def.thickness = (sinew_real)THICKNESS;
    def.friction = (sinew_real)0.2;
    return def;
}

static void set_contact(sinew_world *world, const sinew_contact_def *def)
{
    sinew_error error = {0};
    sinew_world_set_contact(world, def, &error);
    must(&error);
}

/* Two cubes, one above the other, that slide over a floor; the upper one comes down on the lower one. */
static world_case make_case(void)
{
    static const double low[3] = {0, 0.25 + THICKNESS, 0}, high[3] = {0.07, 0.75 + 4 * THICKNESS, 0.03};
    world_case c = {.world = make_touching_world(SINEW_SOLVER_NEWTON, 1)};
    const sinew_contact_def contact = usual_contact();
    set_contact(c.world, &contact);
    c.floor = add_floor(c.world);
    c.low = add_box(c.world, SINEW_SOLVER_NEWTON, 1, 0.5, low, 1e6);
    c.high = add_box(c.world, SINEW_SOLVER_NEWTON, 1, 0.5, high, 1e6);
    const int32_t count = sinew_world_particle_count(c.world);
    sinew_real *v = make_array(3 * (size_t)count, sizeof *v);
    for (int32_t i = 0; i < count; i++) {
        v[3 * i] = i < count / 2 ? 2 : -1;
        v[3 * i + 1] = i < count / 2 ? (sinew_real)-0.5 : -1;
    }
    assert_int_equal(sinew_world_set_velocities(c.world, 0, count, v), SINEW_OK);
    free(v);
    return c;
}

/* ---- Changes -------------------------------------------------------------------------------------- */

static void change_thickness(const world_case *c)
{
    sinew_contact_def def = usual_contact();
    def.thickness *= 2;
    set_contact(c->world, &def);
}

static void change_friction(const world_case *c)
{
    sinew_contact_def def = usual_contact();
    def.friction = 2;
    set_contact(c->world, &def);
}

static void change_restitution(const world_case *c)
{
    sinew_contact_def def = usual_contact();
    def.restitution = (sinew_real)0.9;
    set_contact(c->world, &def);
}

static void turn_off(const world_case *c)
{
    sinew_contact_def def = usual_contact();
    def.on = false;
    set_contact(c->world, &def);
}

static void change_mode(const world_case *c)
{
    sinew_contact_def def = usual_contact();
    def.mode = SINEW_CONTACT_PENALTY;
    def.intersection_free = false;
    def.penalty = (sinew_real)1e4;
    set_contact(c->world, &def);
}

static void set_body(const world_case *c, sinew_body body, const sinew_body_contact *own)
{
    sinew_error error = {0};
    sinew_body_set_contact(c->world, body, own, &error);
    must(&error);
}

static void change_body_friction(const world_case *c)
{
    sinew_body_contact own = sinew_default_body_contact();
    own.friction = 5;
    set_body(c, c->low, &own);
}

static void change_body_thickness(const world_case *c)
{
    sinew_body_contact own = sinew_default_body_contact();
    own.thickness = (sinew_real)(4 * THICKNESS);
    set_body(c, c->high, &own);
}

static void change_body_restitution(const world_case *c)
{
    sinew_body_contact own = sinew_default_body_contact();
    own.restitution = 1;
    set_body(c, c->low, &own);
}

static void change_body_mask(const world_case *c)
{
    sinew_body_contact own = sinew_default_body_contact();
    own.group = 2;
    own.mask = 2;
    set_body(c, c->high, &own);
}

static void remove_body_surface(const world_case *c)
{
    sinew_body_contact own = sinew_default_body_contact();
    own.surface = SINEW_CONTACT_NONE;
    set_body(c, c->low, &own);
}

static bool bodies_alone(void *context, const sinew_contact_object *a, const sinew_contact_object *b)
{
    (void)context;
    return a->body.index >= 0 && b->body.index >= 0;
}

static void set_filter(const world_case *c)
{
    sinew_world_set_contact_filter(c->world, bodies_alone, NULL);
}

static void remove_floor(const world_case *c)
{
    sinew_error error = {0};
    sinew_world_remove_collider(c->world, c->floor, &error);
    must(&error);
}

static void add_wall(const world_case *c)
{
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_BOX);
    def.position[0] = (sinew_real)(0.5 + 0.25 + 0.09);
    def.size[1] = 4;
    add_collider(c->world, &def);
}

static const struct {
    const char *name;
    void (*change)(const world_case *c);
} changes[] = {
    {"thickness", change_thickness},
    {"friction", change_friction},
    {"restitution", change_restitution},
    {"off", turn_off},
    {"mode", change_mode},
    {"friction of a body", change_body_friction},
    {"thickness of a body", change_body_thickness},
    {"restitution of a body", change_body_restitution},
    {"mask of a body", change_body_mask},
    {"surface of a body", remove_body_surface},
    {"filter", set_filter},
    {"floor removed", remove_floor},
    {"wall added", add_wall},
};

/* ---- Comparison ----------------------------------------------------------------------------------- */

static void take_steps(sinew_world *world, int count)
{
    for (int i = 0; i < count; i++)
        sinew_world_step(world, NULL);
}

static void copy_state(const sinew_world *from, sinew_world *to)
{
    const int32_t count = sinew_world_particle_count(from);
    sinew_real *q = positions_of(from), *v = make_array(3 * (size_t)count, sizeof *v);
    assert_int_equal(sinew_world_get_velocities(from, 0, count, v), SINEW_OK);
    assert_int_equal(sinew_world_set_positions(to, 0, count, q), SINEW_OK);
    assert_int_equal(sinew_world_set_velocities(to, 0, count, v), SINEW_OK);
    free(q);
    free(v);
}

/* The largest difference of a coordinate. */
static double distance_of(const sinew_world *a, const sinew_world *b)
{
    sinew_real *p = positions_of(a), *q = positions_of(b);
    double result = 0;
    for (int32_t i = 0; i < 3 * sinew_world_particle_count(a); i++)
        result = fmax(result, fabs((double)p[i] - (double)q[i]));
    free(p);
    free(q);
    return result;
}

static void changes_take_effect(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        const world_case changed = make_case(), fresh = make_case(), kept = make_case();
        take_steps(changed.world, BEFORE);
        take_steps(kept.world, BEFORE + AFTER);
        copy_state(changed.world, fresh.world);
        changes[k].change(&changed);
        changes[k].change(&fresh);
        take_steps(changed.world, AFTER);
        take_steps(fresh.world, AFTER);
        const double effect = distance_of(changed.world, kept.world), apart = distance_of(changed.world, fresh.world);
        print_message("%-24s effect %.2e m, difference %.1e m\n", changes[k].name, effect, apart);
        assert_true(effect > 1e-3);
        assert_true(apart < PART * effect);
        sinew_world_destroy(changed.world);
        sinew_world_destroy(fresh.world);
        sinew_world_destroy(kept.world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(changes_take_effect)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
