/* SPDX-License-Identifier: MIT
 *
 * test_contact_events.c: contact events (begin, stay, end), also when a body is moved out of reach at once; clearances;
 * contact forces on particles.
 */
#include "contact_worlds.h"

enum {
    MOST = 256
};

static int32_t list_contacts(const sinew_world *world, sinew_contact *contacts)
{
    sinew_error error = {0};
    int32_t count;
    sinew_world_contacts(world, MOST, contacts, &count, &error);
    must(&error);
    return count;
}

static int32_t count_event(const sinew_contact *contacts, int32_t count, sinew_contact_event event)
{
    int32_t n = 0;
    for (int32_t k = 0; k < count; k++)
        n += contacts[k].event == event;
    return n;
}

static sinew_world *make_resting(sinew_solver_kind solver, bool box)
{
    sinew_world *world = make_touching_world(solver, 1);
    set_touch(world, 2e-3, 0.4);
    if (box) {
        sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_BOX);
        def.position[1] = (sinew_real)0.5;
        add_collider(world, &def);
    } else {
        sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
        def.position[1] = 1;
        add_collider(world, &def);
    }
    add_box(world, solver, 2, 0.2, (const double[]){0, 1.1021, 0}, 1e6);
    return world;
}

/* The counts of the report equal those of the list in every step; contacts of a body that is moved away end. */
static void begin_stay_end(bool box)
{
    sinew_world *world = make_resting(SINEW_SOLVER_NEWTON, box);
    sinew_contact contacts[MOST];
    sinew_contact_report report;
    int32_t before = 0, began = 0, ended = 0;
    for (int i = 0; i < 60; i++) {
        if (i == 40) {
            const int32_t n = sinew_world_particle_count(world);
            sinew_real *q = positions_of(world);
            for (int32_t k = 0; k < n; k++)
                q[3 * k + 1] += 3;
            assert_int_equal(sinew_world_set_positions(world, 0, n, q), SINEW_OK);
            free(q);
        }
        sinew_world_step(world, NULL);
        const int32_t count = list_contacts(world, contacts);
        assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
        assert_int_equal(report.began, count_event(contacts, count, SINEW_CONTACT_BEGAN));
        assert_int_equal(report.ended, count_event(contacts, count, SINEW_CONTACT_ENDED));
        assert_int_equal(report.contacts, count - report.ended);
        assert_int_equal(report.contacts, before + report.began - report.ended);
        began += report.began;
        ended += report.ended;
        if (i == 39)
            assert_true(report.contacts >= 4);
        if (i == 40)
            assert_true(report.contacts == 0 && report.ended == before && before >= 4);
        for (int32_t k = 0; k < count; k++) {
            assert_true((contacts[k].event == SINEW_CONTACT_ENDED) == !(contacts[k].force > 0));
            assert_true((double)contacts[k].normal[1] > 0.99);
            assert_int_equal(contacts[k].b.collider.index, 0);
            if (i > 20 && i < 40)
                assert_true(fabs((double)contacts[k].clearance) < 1e-4);
            if (i == 40)
                assert_true(fabs((double)contacts[k].clearance - 3) < 0.1 && (double)contacts[k].point[1] > 3);
        }
        before = report.contacts;
    }
    assert_true(began >= 4 && began == ended);
    sinew_world_destroy(world);
}

static void events(void **state)
{
    (void)state;
    begin_stay_end(false);
    begin_stay_end(true);
}

/* The forces on particles sum to minus the force on the collider, and to the weight of the resting body. */
static void forces_of_particles(void **state)
{
    (void)state;
    for (int s = 0; s < TOUCH_SOLVERS; s++)
        for (int box = 0; box < 2; box++) {
            sinew_world *world = make_resting(touch_solvers[s], box);
            sinew_error error = {0};
            const int32_t n = sinew_world_particle_count(world);
            sinew_real *f = make_array(3 * (size_t)n, sizeof *f), *m = make_array((size_t)n, sizeof *m);
            assert_int_equal(sinew_world_field(world, SINEW_FIELD_CONTACT_FORCE, 0, n, f, &error), SINEW_ERROR_DATA);
            for (int i = 0; i < 60; i++)
                sinew_world_step(world, NULL);
            assert_int_equal(sinew_world_field(world, SINEW_FIELD_CONTACT_FORCE, 0, n, f, &error), SINEW_OK);
            double sum[3] = {0, 0, 0}, force[3], weight = 0;
            assert_int_equal(sinew_world_get_masses(world, 0, n, m), SINEW_OK);
            for (int32_t i = 0; i < n; i++) {
                weight += 9.81 * (double)m[i];
                for (int k = 0; k < 3; k++)
                    sum[k] += (double)f[3 * i + k];
            }
            assert_int_equal(sinew_collider_force(world, sinew_world_collider_at(world, 0), force, NULL, NULL),
                             SINEW_OK);
            for (int k = 0; k < 3; k++)
                assert_true(fabs(sum[k] + force[k]) < 1e-4 * weight);
            if (touch_solvers[s] == SINEW_SOLVER_NEWTON && fabs(sum[1] - weight) > 1e-2 * weight)
                fail_msg("a weight of %g N rests on %g N", weight, sum[1]);
            free(f);
            free(m);
            sinew_world_destroy(world);
        }
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    sinew_error error = {0};
    sinew_real none[3];
    assert_int_equal(sinew_world_field(world, SINEW_FIELD_CONTACT_FORCE, 0, 0, none, &error), SINEW_ERROR_UNSUPPORTED);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events),
        cmocka_unit_test(forces_of_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
