/* SPDX-License-Identifier: MIT
 *
 * test_unit_scales.c: physics does not depend on units. A world in units of mass and length that are powers of two
 * takes the same steps to the last bit, because such factors do not round; each number of a report is scaled by its
 * dimension. An absolute bound on a length, a mass or a force that is not a unit's own breaks this.
 */
#include "contact_worlds.h"

/* Factors of mass and length; time has none. Squares of powers of two: roots do not round either. */
typedef struct unit_scales {
    double mass, length;
} unit_scales;

static const unit_scales scales[] = {
    {0x1p-20, 1},
    {0x1p10, 0x1p4},
    {0x1p-8, 0x1p-6},
};
enum {
    SCALES = sizeof scales / sizeof scales[0],
    STEPS = 10
};

static double scale_of(unit_scales s, int mass, int length)
{
    return pow(s.mass, mass) * pow(s.length, length);
}

/* ---- Worlds ------------------------------------------------------------------------------------------ */

static sinew_world *make_scaled_world(sinew_solver_kind solver, unit_scales s)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0x1p-7;
    def.solver = sinew_default_solver_def(solver);
    def.solver.measure = SINEW_MEASURE_GAP;
    for (int i = 0; i < 3; i++)
        def.gravity[i] *= (sinew_real)s.length;
    return make_world(&def);
}

/* A cube of tets, two cells along each side, that moves at a given velocity. */
static void add_scaled_cube(sinew_world *world, unit_scales s, const double corner[3], const double velocity[3],
                            sinew_energy_kind kind)
{
    const double side = 0.5 * s.length;
    sinew_mesh *mesh = make_beam(2, 2, 2, side, side, side);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(6 * (size_t)count, sizeof *x), *v = x + 3 * (size_t)count;
    for (int32_t i = 0; i < 3 * count; i++) {
        x[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(s.length * corner[i % 3]);
        v[i] = (sinew_real)(s.length * velocity[i % 3]);
    }
    const sinew_body body = add_mesh(world, mesh, 1000 * scale_of(s, 1, -3), x, v);
    add_material(world, body, kind, 1e5 * scale_of(s, 1, -1), 0.3);
    sinew_mesh_destroy(mesh);
    free(x);
}

/* Two cubes that fall, slide and tilt against each other on a floor with friction. */
static sinew_world *make_pile(sinew_solver_kind solver, unit_scales s)
{
    static const double low[3] = {0, 0.03125, 0}, high[3] = {0.1875, 0.5625, 0.0625};
    static const double slow[3] = {0.5, -1, 0}, fast[3] = {-1, -1.5, 0.25};
    sinew_world *world = make_scaled_world(solver, s);
    const bool strain = solver == SINEW_SOLVER_XPBD || solver == SINEW_SOLVER_PD;
    add_scaled_cube(world, s, low, slow, strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED);
    add_scaled_cube(world, s, high, fast, strain ? SINEW_ENERGY_STRAIN : SINEW_ENERGY_COROTATED);
    set_touch(world, 0x1p-6 * s.length, 0.5);
    add_floor(world);
    return world;
}

/* ---- Comparisons -------------------------------------------------------------------------------------- */

typedef struct dimension {
    const char *name;
    size_t offset;
    int mass, length;
} dimension;

#define FIELD(type, name, mass, length)                                                                                \
    {                                                                                                                  \
#name, offsetof(type, name), mass, length                                                                      \
    }

static const dimension report_fields[] = {
    FIELD(sinew_contact_report, stationarity, 1, 1),     FIELD(sinew_contact_report, violation, 0, 1),
    FIELD(sinew_contact_report, complementarity, 1, 2),  FIELD(sinew_contact_report, cone_violation, 1, 1),
    FIELD(sinew_contact_report, friction_lag, 1, 1),     FIELD(sinew_contact_report, filtered_residual, 1, 1),
    FIELD(sinew_contact_report, motion_lag, 0, 1),       FIELD(sinew_contact_report, friction_heat, 1, 2),
    FIELD(sinew_contact_report, restitution_work, 1, 2),
};
static const dimension step_fields[] = {
    FIELD(sinew_step_result, objective, 1, 2),         FIELD(sinew_step_result, inertia, 1, 2),
    FIELD(sinew_step_result, elastic, 1, 2),           FIELD(sinew_step_result, residual, 1, 1),
    FIELD(sinew_step_result, relative_residual, 0, 0), FIELD(sinew_step_result, gap, 1, 2),
    FIELD(sinew_step_result, position_error, 0, 1),    FIELD(sinew_step_result, position_error_rms, 0, 1),
};

static void assert_scaled(const char *what, const dimension *fields, int count, const void *a, const void *b,
                          unit_scales s)
{
    for (int i = 0; i < count; i++) {
        double first, second;
        memcpy(&first, (const char *)a + fields[i].offset, sizeof first);
        memcpy(&second, (const char *)b + fields[i].offset, sizeof second);
        const double expected = first * scale_of(s, fields[i].mass, fields[i].length);
        if (second != expected && !(isnan(second) && isnan(expected)))
            fail_msg("%s, mass x %g, length x %g: %s is %.17g, expected %.17g", what, s.mass, s.length, fields[i].name,
                     second, expected);
    }
}

static void assert_same_positions(const char *what, const sinew_world *a, const sinew_world *b, unit_scales s)
{
    sinew_real *p = positions_of(a), *q = positions_of(b);
    for (int32_t i = 0; i < 3 * sinew_world_particle_count(a); i++)
        if (q[i] != p[i] * (sinew_real)s.length)
            fail_msg("%s, mass x %g, length x %g: coordinate %d is %.17g, expected %.17g", what, s.mass, s.length, i,
                     (double)q[i], (double)p[i] * s.length);
    free(p);
    free(q);
}

static void assert_same_reports(const char *what, const sinew_world *a, const sinew_world *b, unit_scales s)
{
    sinew_contact_report first, second;
    assert_int_equal(sinew_world_contact_report(a, &first, NULL), SINEW_OK);
    assert_int_equal(sinew_world_contact_report(b, &second, NULL), SINEW_OK);
    assert_scaled(what, report_fields, sizeof report_fields / sizeof report_fields[0], &first, &second, s);
    assert_int_equal(first.contacts, second.contacts);
    assert_int_equal(first.began, second.began);
    assert_int_equal(first.ended, second.ended);
    assert_int_equal(first.pairs, second.pairs);
    assert_int_equal(first.detections, second.detections);
    assert_int_equal(first.updates, second.updates);
    assert_int_equal(first.filtered_vertices, second.filtered_vertices);
}

typedef sinew_world *make_scaled(sinew_solver_kind solver, unit_scales s);

/* One step of the world in plain units, and of each of the others. */
static void compare_step(const char *what, sinew_world *a, sinew_world *const *others, bool contact)
{
    sinew_step_result first, second;
    const uint32_t bits = sinew_world_step(a, &first);
    for (int k = 0; k < SCALES; k++) {
        assert_int_equal(sinew_world_step(others[k], &second), bits);
        assert_int_equal(first.iterations, second.iterations);
        assert_same_positions(what, a, others[k], scales[k]);
        assert_scaled(what, step_fields, sizeof step_fields / sizeof step_fields[0], &first, &second, scales[k]);
        if (contact)
            assert_same_reports(what, a, others[k], scales[k]);
    }
}

static void compare(const char *what, make_scaled *make, sinew_solver_kind solver, bool contact)
{
    sinew_world *a = make(solver, (unit_scales){1, 1}), *others[SCALES];
    for (int k = 0; k < SCALES; k++)
        others[k] = make(solver, scales[k]);
    for (int i = 0; i < STEPS; i++)
        compare_step(what, a, others, contact);
    for (int k = 0; k < SCALES; k++)
        sinew_world_destroy(others[k]);
    sinew_world_destroy(a);
}

static void piles(void **state)
{
    (void)state;
    static const sinew_solver_kind solvers[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_XPBD, SINEW_SOLVER_PBNG};
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++)
        compare(sinew_get_solver_info(solvers[i])->name, make_pile, solvers[i], true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(piles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
