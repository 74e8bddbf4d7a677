/* SPDX-License-Identifier: MIT
 *
 * test_yield.c: contacts without room: a sheet between two pads that are nearer than the thickness allows. Offsets yield
 * to what fits and the report says so; the sheet rests without gaining speed; a loaded state continues with the same
 * bits on another number of threads; and offsets are whole again when the pads open.
 */
#include "contact_worlds.h"
#include "random_cases.h"
#include "saved_state.h"

enum {
    CLOSED = 10, /* number of steps after which the pads stand still */
    CALM = 60,   /* number of steps after which the sheet rests */
    OPENS = 160, /* number of steps after which the pads begin to open */
    STEPS = 175
};
#define TIME_STEP 0.01

/* A sheet in the plane z = 0 that hangs between two pads, which close to `gap` (m). */
typedef struct squeezed_case {
    double thickness, gap, friction, stiffness;
    int vertices;
} squeezed_case;

static void add_pad(sinew_world *world, const squeezed_case *s, double side)
{
    const double depth = 0.02, open = 1.2 * s->thickness;
    const sinew_real closed = (sinew_real)(side * (s->gap / 2 - open));
    const sinew_key keys[4] = {{.time = 0},
                               {.time = (sinew_real)(CLOSED / 2 * TIME_STEP), .translation = {0, 0, closed}},
                               {.time = (sinew_real)(OPENS * TIME_STEP), .translation = {0, 0, closed}},
                               {.time = (sinew_real)((OPENS + 5) * TIME_STEP)}};
    const sinew_motion motion = {.key_count = 4, .keys = keys};
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_BOX);
    def.size[0] = def.size[1] = (sinew_real)0.2;
    def.size[2] = (sinew_real)depth;
    def.position[2] = (sinew_real)(side * (open + depth / 2));
    def.motion = &motion;
    add_collider(world, &def);
}

static sinew_world *make_squeezed(const squeezed_case *s, int threads)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = threads;
    def.time_step = (sinew_real)TIME_STEP;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    def.solver.iterations = 100;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-5 : 1e-8); /* rest to 1e-6 m/s */
    sinew_world *world = make_world(&def);
    set_touch(world, s->thickness, s->friction);
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = cloth.vertices[1] = s->vertices;
    cloth.size[0] = cloth.size[1] = (sinew_real)0.1;
    for (int i = 0; i < 2; i++)
        cloth.origin[i] = (sinew_real)-0.05;
    sinew_mesh *mesh = sinew_mesh_cloth(&cloth, &error);
    must(&error);
    const sinew_body body = add_mesh(world, mesh, 0.2, NULL, NULL);
    sinew_mesh_destroy(mesh);
    add_springs(world, body, s->stiffness);
    add_pad(world, s, 1);
    add_pad(world, s, -1);
    return world;
}

static double fastest(const sinew_world *world)
{
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *v = make_array(3 * (size_t)n, sizeof *v);
    assert_int_equal(sinew_world_get_velocities(world, 0, n, v), SINEW_OK);
    double max = 0;
    for (int32_t i = 0; i < 3 * n; i++)
        max = fmax(max, fabs((double)v[i]));
    free(v);
    return max;
}

static sinew_contact_report report_of(const sinew_world *world)
{
    sinew_contact_report report;
    assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
    return report;
}

static void check_resumed(const squeezed_case *s, const sinew_world *world, const saved *state)
{
    sinew_error error = {0};
    sinew_world *other = make_squeezed(s, 2);
    assert_int_equal(sinew_world_state_load(other, state->bytes, state->size, &error), SINEW_OK);
    for (int step = CALM; step < STEPS; step++)
        sinew_world_step(other, NULL);
    sinew_real *a = positions_of(world), *b = positions_of(other);
    assert_memory_equal(a, b, 3 * (size_t)sinew_world_particle_count(world) * sizeof *a);
    free(a);
    free(b);
    sinew_world_destroy(other);
}

/* Checks the step that ended last while the pads stand still. */
static void check_squeezed(const squeezed_case *s, const sinew_world *world, uint32_t bits, int step)
{
    const sinew_contact_report r = report_of(world);
    const double missing = s->thickness - s->gap / 2, speed = fastest(world),
                 round = sizeof(sinew_real) == 4 ? 2e-4 : 1e-6;
    if (r.yielded == 0 || r.yield_depth < 0.98 * missing || r.yield_depth > s->thickness)
        fail_msg("step %d: %d contacts yielded by %g m, of %g m that are missing", step, r.yielded, r.yield_depth,
                 missing);
    if (bits & (SINEW_STEP_CONTACT | SINEW_STEP_INTERSECTING | SINEW_STEP_TRUNCATED))
        fail_msg("step %d: bits %x, violation %g m", step, bits, r.violation);
    if (speed > round)
        fail_msg("step %d: the sheet moves at %g m/s", step, speed);
}

static void squeezed_sheets(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("test_yield", 3, 60);
    for (int32_t i = 0; i < r.count; i++) {
        squeezed_case s = {.thickness = random_between(&r, 1e-3, 4e-3)};
        s.gap = random_between(&r, 0.5, 1.9) * s.thickness;
        s.friction = random_between(&r, 0.3, 0.8);
        s.stiffness = random_magnitude(&r, 100, 1000);
        s.vertices = 4 + random_index(&r, 4);
        print_message("thickness %g gap %g friction %g stiffness %g vertices %d\n", s.thickness, s.gap, s.friction,
                      s.stiffness, s.vertices);
        sinew_world *world = make_squeezed(&s, 1);
        saved middle = {0};
        for (int step = 0; step < STEPS; step++) {
            if (step == CALM)
                middle = save(world);
            const uint32_t bits = sinew_world_step(world, NULL);
            if (step >= CALM && step < OPENS)
                check_squeezed(&s, world, bits, step);
        }
        assert_int_equal(report_of(world).yielded, 0);
        check_resumed(&s, world, &middle);
        free(middle.bytes);
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(squeezed_sheets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
