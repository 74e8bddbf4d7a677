/* SPDX-License-Identifier: MIT
 *
 * test_expansion.c: `expansion` of kkt, which chooses the Jacobian of a step's constraints by second derivatives
 * (phi+), against a pendulum solved by hand. Also the order in h of the constraint error after a step: of a pendulum,
 * of random spinning bodies whose elements have one constraint or six, and of a rope on a moving pin.
 *
 * A spinning body keeps its shape, so C = 0 and J v = 0 at the start. After a step along the tangent, C is h^2/2 v^T
 * d2C v for `first`, minus that for `end` and O(h^3) for `midpoint`.
 */
#include <string.h>

#include "make_world.h"
#include "random_cases.h"

#ifdef SINEW_SINGLE
#define SAME  1e-6
#define STEP  4e-2 /* s; bodies turn once in some seconds */
#define NEAR  0.7  /* tolerance of a measured order */
#define SMALL 0.2  /* fraction of the |C| of `first` below which a |C| is too small, or round-off, to show its order */
#define SEEN  1e-4 /* smallest |C| of `first` that makes a comparison meaningful */
#else
#define SAME  1e-13
#define STEP  1e-3
#define NEAR  0.15
#define SMALL 1e-3
#define SEEN  1e-9
#endif

enum {
    FIRST,
    MIDPOINT,
    END,
    EXPANSIONS
};
static const char *const words[EXPANSIONS] = {"first", "midpoint", "end"};
static const double part[EXPANSIONS] = {0, 0.5, 1};

static sinew_world *make_kkt(int expansion, double h, double gravity)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)h;
    def.gravity[1] = (sinew_real)-gravity;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_KKT);
    sinew_solver_def_set_keyword(&def.solver, "expansion", words[expansion], &error);
    must(&error);
    return make_world(&def);
}

static void add_rows(sinew_world *world, sinew_body body, sinew_energy_kind kind, bool hard)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.body = body;
    def.hard = hard;
    add_energy(world, &def);
}

static sinew_body add_masses(sinew_world *world, const sinew_mesh *mesh, const sinew_real *velocities)
{
    static const sinew_real masses[] = {1, 2, 3, 1};
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.masses = masses;
    body.velocities = velocities;
    return add_body(world, &body);
}

/* ---- Closed form ---------------------------------------------------------------------------------- */

/* l = 1 m along x, v = (0, v, 0): J = (1, s h v); v+ is v - h g without its component along J. */
static void a_pendulum_follows_the_equation(void **unused)
{
    (void)unused;
    const double h = 0.02, v = 1.5, g = 9.81;
    sinew_mesh *mesh = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    for (int k = 0; k < EXPANSIONS; k++) {
        const sinew_real velocities[6] = {0, 0, 0, 0, (sinew_real)v, 0};
        sinew_world *world = make_kkt(k, h, g);
        const sinew_body body = add_masses(world, mesh, velocities);
        add_rows(world, body, SINEW_ENERGY_SPRING, true);
        add_pins(world, body, &(int32_t){0}, 1, NULL);
        const double J = part[k] * h * v, free = v - h * g, along = J * free / (1 + J * J);
        sinew_real q[3];
        sinew_world_step(world, NULL);
        sinew_world_get_positions(world, 1, 1, q);
        assert_true(fabs((double)q[0] - (1 - h * along)) < SAME);
        assert_true(fabs((double)q[1] - h * (free - J * along)) < SAME);
        sinew_world_destroy(world);
    }
    sinew_mesh_destroy(mesh);
}

/* The whole step of a compliant constraint: C + h J v+ = -alpha lambda with C = 0.2 m at the start, k = 1000 N/m. */
static void a_compliant_row_follows_the_equation(void **unused)
{
    (void)unused;
    const double h = 0.02, v = 1.5, k = 1000, C = 0.2;
    sinew_mesh *mesh = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    for (int i = 0; i < EXPANSIONS; i++) {
        const sinew_real velocities[6] = {0, 0, 0, 0, (sinew_real)v, 0}, start[3] = {(sinew_real)(1 + C), 0, 0};
        sinew_error error = {0};
        sinew_world *world = make_kkt(i, h, 0);
        sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_KKT);
        sinew_solver_def_set_keyword(&solver, "expansion", words[i], &error);
        sinew_solver_def_set_keyword(&solver, "constraints", "all", &error);
        assert_int_equal(sinew_world_set_solver(world, &solver, &error), SINEW_OK);
        const sinew_body body = add_masses(world, mesh, velocities);
        add_rows(world, body, SINEW_ENERGY_SPRING, false);
        add_pins(world, body, &(int32_t){0}, 1, NULL);
        sinew_world_set_positions(world, 1, 1, start);
        /* m = 2 kg; v+ = v + h J^T lambda / m */
        const double J = part[i] * h * v / (1 + C);
        const double lambda = -(C + h * J * v) / (1 / k + h * h * (1 + J * J) / 2);
        sinew_real q[3];
        sinew_world_step(world, NULL);
        sinew_world_get_positions(world, 1, 1, q);
        assert_true(fabs((double)q[0] - (1 + C + h * h * lambda / 2)) < SAME);
        assert_true(fabs((double)q[1] - h * (v + h * J * lambda / 2)) < SAME);
        sinew_world_destroy(world);
    }
    sinew_mesh_destroy(mesh);
}

/* ---- Orders --------------------------------------------------------------------------------------- */

/* Two or three points on a rope, two triangles that share an edge, a tet. */
typedef struct drawn_body {
    const char *name;
    sinew_energy_kind kind;
    int32_t edge_count, triangle_count, tet_count;
} drawn_body;
static const drawn_body bodies[] = {
    {"rope", SINEW_ENERGY_SPRING, 3, 0, 0},
    {"hinge", SINEW_ENERGY_HINGE, 0, 2, 0},
    {"tet of six strains", SINEW_ENERGY_GREEN_STRAIN, 0, 0, 1},
};

typedef struct drawn_case {
    const drawn_body *body;
    sinew_real q[12], v[12], pin[3]; /* pin: velocity of vertex 0, m/s */
    double gravity;
} drawn_case;

static drawn_case draw_case(random_cases *r, const drawn_body *body)
{
    static const double corners[12] = {0, 0, 0, 1, 0, 0, 0.3, 1, 0, 0.4, -0.5, 0.8};
    drawn_case c = {.body = body, .gravity = random_between(r, 5, 10)};
    double turn[3];
    for (int i = 0; i < 3; i++)
        turn[i] = random_between(r, 0.5, 1.5) * (random_index(r, 2) ? 1 : -1);
    for (int i = 0; i < 12; i++)
        c.q[i] = (sinew_real)(corners[i] + random_between(r, -0.1, 0.1));
    for (int i = 0; i < 12; i += 3)
        for (int k = 0; k < 3; k++)
            c.v[i + k] = (sinew_real)(turn[(k + 1) % 3] * (double)(c.q[i + (k + 2) % 3] - c.q[(k + 2) % 3]) -
                                      turn[(k + 2) % 3] * (double)(c.q[i + (k + 1) % 3] - c.q[(k + 1) % 3]));
    return c;
}

/* Largest |C| after one step. With a moving pin all vertices start at its velocity, so that J v = 0 holds as well. */
static double violation_after(const drawn_case *c, int expansion, double h, bool moving)
{
    static const int32_t edges[] = {0, 1, 1, 2, 2, 3}, triangles[] = {0, 1, 2, 1, 0, 3}, tet[] = {0, 1, 2, 3};
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 4;
    def.positions = c->q;
    def.edge_count = c->body->edge_count;
    def.edges = edges;
    def.triangle_count = c->body->triangle_count;
    def.triangles = triangles;
    def.tet_count = c->body->tet_count;
    def.tets = tet;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    sinew_real velocities[12], target[3];
    for (int i = 0; i < 12; i++)
        velocities[i] = c->v[i] + (moving ? c->pin[i % 3] : 0);
    sinew_world *world = make_kkt(expansion, h, c->gravity);
    const sinew_body body = add_masses(world, mesh, velocities);
    add_rows(world, body, c->body->kind, true);
    if (moving) {
        const sinew_pin pin = add_pins(world, body, &(int32_t){0}, 1, NULL);
        for (int i = 0; i < 3; i++)
            target[i] = (sinew_real)((double)c->q[i] + h * (double)c->pin[i]);
        sinew_pin_set_targets(world, pin, target, &error);
        must(&error);
    }
    sinew_step_result result;
    sinew_world_step(world, &result);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return result.violation;
}

static void check_orders(const drawn_case *c, bool moving)
{
    double order[EXPANSIONS], at[EXPANSIONS];
    for (int k = 0; k < EXPANSIONS; k++) {
        at[k] = violation_after(c, k, STEP, moving);
        order[k] = log2(at[k] / violation_after(c, k, STEP / 2, moving));
    }
    printf("%s%s, |C| after a step of %g s, and its order: first %.2e, %.2f; midpoint %.2e, %.2f; end %.2e, %.2f\n",
           c->body->name, moving ? " on a pin that moves" : "", STEP, at[FIRST], order[FIRST], at[MIDPOINT],
           order[MIDPOINT], at[END], order[END]);
    if (at[FIRST] < SEEN)
        return;
    assert_true(at[MIDPOINT] < SMALL * at[FIRST] || order[MIDPOINT] > 3 - NEAR);
    if (!moving) {
        assert_true(fabs(order[FIRST] - 2) < NEAR && fabs(order[END] - 2) < NEAR);
        assert_true(fabs(at[END] / at[FIRST] - 1) < NEAR && at[MIDPOINT] < 0.2 * at[FIRST]);
    }
}

static void bodies_that_spin(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("expansion", 3, 60);
    for (int32_t i = 0; i < r.count; i++)
        for (size_t k = 0; k < sizeof bodies / sizeof bodies[0]; k++) {
            drawn_case c = draw_case(&r, &bodies[k]);
            check_orders(&c, false);
        }
}

/* The motion of pins enters C exactly, so the errors of `first` and `end` differ in size here. */
static void pins_that_move(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("expansion, pins", 3, 60);
    for (int32_t i = 0; i < r.count; i++) {
        drawn_case c = draw_case(&r, &bodies[0]);
        for (int k = 0; k < 3; k++)
            c.pin[k] = (sinew_real)random_between(&r, -1, 1);
        check_orders(&c, true);
    }
}

static void servin_is_refused(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_KKT);
    sinew_solver_def_set_keyword(&solver, "expansion", "end", &error);
    sinew_solver_def_set_keyword(&solver, "stepper", "servin", &error);
    sinew_world_def def = sinew_default_world_def();
    def.solver = solver;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_rope(2, (double[]){0, 0, 0}, (double[]){1, 0, 0});
    add_rows(world, add_masses(world, mesh, NULL), SINEW_ENERGY_SPRING, true);
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "expansion = first"));
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pendulum_follows_the_equation), cmocka_unit_test(a_compliant_row_follows_the_equation),
        cmocka_unit_test(bodies_that_spin), cmocka_unit_test(pins_that_move), cmocka_unit_test(servin_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
