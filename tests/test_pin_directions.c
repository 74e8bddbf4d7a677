/* SPDX-License-Identifier: MIT
 *
 * test_pin_directions.c: pins that hold their particles along one or two directions of any frame.
 *
 * References: a bead on an inclined wire and a block on rollers in closed form, three directions against a plain pin,
 * and random frames against Newton's method on the free coordinates, with dense matrices by finite differences.
 */
#include "dense_solve.h"
#include "linear_methods.h"
#include "make_world.h"
#include "random_cases.h"
#include "small_world.h"

#include "sinew/scene.h"

#ifdef SINEW_SINGLE
#define NEAR 2e-4
#else
#define NEAR 1e-9
#endif

/* ---- Frames ---------------------------------------------------------------------------------------- */

/* Three orthonormal vectors. */
static void random_frame(random_cases *r, double frame[3][3])
{
    for (int k = 0; k < 3; k++)
        for (double length = 0; length < 0.1;) {
            for (int c = 0; c < 3; c++)
                frame[k][c] = random_between(r, -1, 1);
            for (int j = 0; j < k; j++) {
                const double along = frame[k][0] * frame[j][0] + frame[k][1] * frame[j][1] + frame[k][2] * frame[j][2];
                for (int c = 0; c < 3; c++)
                    frame[k][c] -= along * frame[j][c];
            }
            length = sqrt(frame[k][0] * frame[k][0] + frame[k][1] * frame[k][1] + frame[k][2] * frame[k][2]);
            for (int c = 0; c < 3 && length >= 0.1; c++)
                frame[k][c] /= length;
        }
}

/* Pins vertices along some directions. */
static sinew_pin hold(sinew_world *world, sinew_body body, const int32_t *vertices, int32_t count,
                      const double (*directions)[3], int32_t direction_count, const sinew_motion *motion,
                      sinew_error *error)
{
    sinew_real n[9];
    sinew_pin_def def = sinew_default_pin_def();
    for (int i = 0; i < 3 * direction_count; i++)
        n[i] = (sinew_real)directions[i / 3][i % 3];
    def.body = body;
    def.vertices = vertices;
    def.vertex_count = count;
    def.directions = n;
    def.direction_count = direction_count;
    def.motion = motion;
    return sinew_world_add_pins(world, &def, error);
}

/* ---- A bead on a wire -------------------------------------------------------------------------------- */

/* Backward Euler on a bead that gravity pulls along a wire w: s_n = h^2 (g . w) n (n + 1) / 2. The wire also moves
 * sideways and carries the bead along. */
static void bead_on_a_wire(sinew_solver_kind kind, random_cases *r)
{
    const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0}, g[3] = {0, -9.81, 0};
    const int32_t both[2] = {0, 1};
    double frame[3][3];
    random_frame(r, frame);
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    def.solver = sinew_default_solver_def(kind);
    def.solver.measure = SINEW_MEASURE_GAP;
    sinew_mesh *mesh = make_rope(2, from, to);
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 3, NULL, NULL);
    const double speed = random_between(r, -2, 2);
    sinew_key keys[2] = {{.time = 0}, {.time = 100}};
    for (int c = 0; c < 3; c++)
        keys[1].translation[c] = (sinew_real)(100 * speed * frame[0][c]);
    const sinew_motion motion = {.keys = keys, .key_count = 2};
    hold(world, body, both, 2, (const double(*)[3])frame, 2, &motion, &error);
    must(&error);
    const double h = (double)def.time_step, pull = g[0] * frame[2][0] + g[1] * frame[2][1] + g[2] * frame[2][2];
    for (int step = 1; step <= 20; step++) {
        const uint32_t bits = sinew_world_step(world, NULL);
        if (bits)
            fail_msg("step %d: bits %x: %s", step, (unsigned)bits, sinew_world_error(world));
        sinew_real *q = positions_of(world);
        const double s = h * h * pull * step * (step + 1) / 2, aside = speed * h * step;
        for (int c = 0; c < 3; c++) {
            const double wanted = s * frame[2][c] + aside * frame[0][c];
            if (!(fabs((double)q[c] - wanted) <= NEAR) || !(fabs((double)q[3 + c] - to[c] - wanted) <= NEAR))
                fail_msg("step %d, coordinate %d: %.12g and not %.12g", step, c, (double)q[c], wanted);
        }
        free(q);
    }
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

static void beads_slide_on_wires(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("beads", 4, 200);
    for (int32_t i = 0; i < r.count; i++) {
        bead_on_a_wire(SINEW_SOLVER_NEWTON, &r);
        bead_on_a_wire(SINEW_SOLVER_PBNG, &r);
        bead_on_a_wire(SINEW_SOLVER_LINEAR_IMPLICIT, &r);
    }
}

/* ---- A block on rollers ------------------------------------------------------------------------------ */

static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* A bar on rollers between a wall and a pulling plate: st_venant_kirchhoff thins to t^2 = 1 - nu (s^2 - 1) and pulls
 * with E/2 s (s^2 - 1) per rest area. */
static void block_on_rollers(sinew_solver_kind kind, const char *parameter, double value)
{
    const double E = 1e5, nu = 0.3, stretch = 1.2, size[3] = {1, 0.5, 0.5};
    int32_t side[200];
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    def.quasistatic = true;
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(kind);
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 9.9e-5 : 9e-9);
    if (kind == SINEW_SOLVER_PBNG)
        def.solver.iterations = 4000;
    if (parameter)
        def.solver.parameters[sinew_solver_parameter(kind, parameter)] = (sinew_real)value;
    if (kind == SINEW_SOLVER_NEWTON && strcmp(parameter, "preconditioner") == 0)
        def.solver.parameters[sinew_solver_parameter(kind, "linear")] = 1; /* cg */
    sinew_mesh *mesh = make_beam(4, 2, 2, size[0], size[1], size[2]);
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    add_material(world, body, SINEW_ENERGY_ST_VENANT_KIRCHHOFF, E, nu);
    for (int axis = 0; axis < 3; axis++) {
        const int32_t count = vertices_at(mesh, axis, -size[axis] / 2, -size[axis] / 2, side);
        hold(world, body, side, count, &axes[axis], 1, NULL, &error);
        must(&error);
    }
    sinew_key keys[2] = {{.time = 0}, {.time = def.time_step}};
    keys[1].translation[0] = (sinew_real)((stretch - 1) * size[0]);
    const sinew_motion motion = {.keys = keys, .key_count = 2};
    const int32_t pulled = vertices_at(mesh, 0, size[0] / 2, size[0] / 2, side);
    hold(world, body, side, pulled, &axes[0], 1, &motion, &error);
    must(&error);
    sinew_step_result result;
    sinew_world_step(world, &result);
    if (result.bits & ~(uint32_t)SINEW_STEP_INDEFINITE)
        fail_msg("%s %g: bits %x, relative residual %g: %s", parameter ? parameter : "", value, (unsigned)result.bits,
                 result.relative_residual, sinew_world_error(world));
    const double thin = sqrt(1 - nu * (stretch * stretch - 1));
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *q = positions_of(world), *force = make_array(3 * (size_t)sinew_mesh_vertex_count(mesh), sizeof *force);
    double worst = 0, sum = 0;
    for (int32_t i = 0; i < 3 * sinew_mesh_vertex_count(mesh); i++) {
        const double low = -size[i % 3] / 2;
        worst = fmax(worst, fabs((double)q[i] - (low + (i % 3 ? thin : stretch) * ((double)X[i] - low))));
    }
    assert_int_equal(sinew_world_field(world, SINEW_FIELD_REACTION, 0, sinew_mesh_vertex_count(mesh), force, &error),
                     SINEW_OK);
    for (int32_t i = 0; i < pulled; i++)
        sum += (double)force[3 * side[i]];
    const double wanted = E / 2 * stretch * (stretch * stretch - 1) * size[1] * size[2];
    print_message("rollers, %s %s %g: off by %.1e m, force by %.1e\n", sinew_get_solver_info(kind)->name,
                  parameter ? parameter : "", value, worst, sum / wanted - 1);
    assert_true(worst < 1e3 * NEAR && fabs(sum / wanted - 1) < 1e4 * NEAR);
    free(q);
    free(force);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

static void blocks_thin_on_rollers(void **unused)
{
    (void)unused;
    const sinew_solver_info *info = sinew_get_solver_info(SINEW_SOLVER_NEWTON);
    const int32_t linear = sinew_solver_parameter(SINEW_SOLVER_NEWTON, "linear");
    for (int k = 0; k <= (int)info->parameters[linear].maximum; k++)
        if ((k != 3 && k != 5) || linear_methods_register()) /* lu and qr need a registered linear solver */
            block_on_rollers(SINEW_SOLVER_NEWTON, "linear", k);
    block_on_rollers(SINEW_SOLVER_NEWTON, "preconditioner", 1);
    block_on_rollers(SINEW_SOLVER_PBNG, NULL, 0);
    block_on_rollers(SINEW_SOLVER_PBNG, "coarse", 2);
}

/* ---- Three directions are a pin ------------------------------------------------------------------------ */

/* A falling beam whose end is pinned, or held along three directions by one, two or three pins. */
static sinew_real *fall(random_cases *r, int way)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    sinew_mesh *mesh = make_beam(2, 1, 1, 2, 1, 1);
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    int32_t end[16];
    double frame[3][3];
    const int32_t count = vertices_at(mesh, 0, -1, -1, end);
    random_frame(r, frame);
    add_material(world, body, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.3);
    const double(*n)[3] = way == 1 ? axes : (const double(*)[3])frame;
    if (way == 0)
        add_pins(world, body, end, count, NULL);
    for (int k = 0; way == 1 && k < 3; k++)
        hold(world, body, end, count, &n[k], 1, NULL, &error);
    if (way == 2) {
        hold(world, body, end, count, &n[0], 2, NULL, &error);
        /* The third direction is not normal to the first two. */
        const double slant[1][3] = {{n[0][0] + n[2][0], n[0][1] + n[2][1], n[0][2] + n[2][2]}};
        hold(world, body, end, count, slant, 1, NULL, &error);
    }
    if (way == 3)
        hold(world, body, end, count, n, 3, NULL, &error);
    must(&error);
    for (int step = 0; step < 5; step++)
        assert_int_equal(sinew_world_step(world, NULL) & ~(uint32_t)SINEW_STEP_UNMEASURED, 0);
    sinew_real *q = positions_of(world);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return q;
}

static void three_directions_are_a_pin(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("three directions", 2, 50);
    for (int32_t i = 0; i < r.count; i++) {
        sinew_real *pinned = fall(&r, 0);
        for (int way = 1; way < 4; way++) {
            sinew_real *held = fall(&r, way);
            for (int k = 0; k < 36; k++)
                if (!(fabs((double)held[k] - (double)pinned[k]) <= 10 * CLOSE))
                    fail_msg("way %d, coordinate %d: %.17g and not %.17g", way, k, (double)held[k], (double)pinned[k]);
            free(held);
        }
        free(pinned);
    }
}

/* ---- Random frames against a dense elimination --------------------------------------------------------- */

enum {
    POINTS = 8,
    UNKNOWNS = 3 * POINTS
};

/* The free coordinates y: q = q_0 + N y, where N has orthonormal columns. */
typedef struct left_over {
    int count;
    double N[UNKNOWNS][UNKNOWNS]; /* [column][coordinate] */
} left_over;

static void gradient_at(sinew_world *world, const double q[UNKNOWNS], double g[UNKNOWNS])
{
    sinew_real points[UNKNOWNS], slope[UNKNOWNS];
    double value;
    for (int i = 0; i < UNKNOWNS; i++)
        points[i] = (sinew_real)q[i];
    assert_int_equal(sinew_world_objective(world, points, &value, slope), SINEW_OK);
    for (int i = 0; i < UNKNOWNS; i++)
        g[i] = (double)slope[i];
}

/* Newton's method on y, with the objective of a world without pins. */
static void minimise(sinew_world *free_world, const left_over *left, double q[UNKNOWNS])
{
    const double step = 1e-6;
    for (int k = 0; k < 12; k++) {
        double g[UNKNOWNS], M[UNKNOWNS][UNKNOWNS], b[UNKNOWNS] = {0};
        gradient_at(free_world, q, g);
        for (int j = 0; j < left->count; j++) {
            double up[UNKNOWNS], down[UNKNOWNS], above[UNKNOWNS], below[UNKNOWNS];
            for (int i = 0; i < UNKNOWNS; i++) {
                up[i] = q[i] + step * left->N[j][i];
                down[i] = q[i] - step * left->N[j][i];
                b[j] -= left->N[j][i] * g[i];
            }
            gradient_at(free_world, up, above);
            gradient_at(free_world, down, below);
            for (int l = 0; l < left->count; l++) {
                M[l][j] = 0;
                for (int i = 0; i < UNKNOWNS; i++)
                    M[l][j] += left->N[l][i] * (above[i] - below[i]) / (2 * step);
            }
        }
        dense_solve(&M[0][0], UNKNOWNS, b, left->count, 0);
        for (int j = 0; j < left->count; j++)
            for (int i = 0; i < UNKNOWNS; i++)
                q[i] += b[j] * left->N[j][i];
    }
}

static sinew_world *make_cube(sinew_solver_kind kind, const sinew_real *velocities, sinew_body *body)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    def.solver = sinew_default_solver_def(kind);
    def.solver.tolerance = (sinew_real)1e-12;
    def.solver.iterations = kind == SINEW_SOLVER_PBNG ? 2000 : 50;
    sinew_world *world = make_world(&def);
    *body = add_mesh(world, mesh, 1000, NULL, velocities);
    add_material(world, *body, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.3);
    sinew_mesh_destroy(mesh);
    return world;
}

/* Pins random directions at random vertices; the rest of each vertex's frame stays free. */
static void hold_some(random_cases *r, sinew_world *world, sinew_body body, left_over *left)
{
    sinew_error error = {0};
    for (int32_t v = 0; v < POINTS; v++) {
        double frame[3][3];
        const int held = random_index(r, 4);
        random_frame(r, frame);
        for (int k = 0; k < held && held < 3; k++) {
            double slant[1][3];
            for (int c = 0; c < 3; c++) /* the second of two directions is not normal to the first */
                slant[0][c] = frame[k][c] + (k > 0 ? 0.7 * frame[0][c] : 0);
            hold(world, body, &v, 1, (const double(*)[3])slant, 1, NULL, &error);
        }
        if (held == 3)
            add_pins(world, body, &v, 1, NULL);
        must(&error);
        for (int k = held; k < 3; k++) {
            double *column = left->N[left->count++];
            memset(column, 0, sizeof left->N[0]);
            memcpy(column + 3 * v, frame[k], sizeof frame[k]);
        }
    }
}

static void check_frames(random_cases *r, sinew_solver_kind kind)
{
    sinew_real velocities[UNKNOWNS];
    for (int i = 0; i < UNKNOWNS; i++)
        velocities[i] = (sinew_real)random_between(r, -2, 2);
    left_over left = {0};
    sinew_body body;
    sinew_world *held = make_cube(kind, velocities, &body), *nobody = make_cube(kind, velocities, &body);
    double q[UNKNOWNS];
    sinew_real *start = positions_of(nobody);
    for (int i = 0; i < UNKNOWNS; i++)
        q[i] = (double)start[i];
    hold_some(r, held, body, &left);
    minimise(nobody, &left, q);
    sinew_step_result result;
    sinew_world_step(held, &result);
    sinew_real *ended = positions_of(held);
    double worst = 0;
    for (int i = 0; i < UNKNOWNS; i++)
        worst = fmax(worst, fabs((double)ended[i] - q[i]));
    if (!(worst < 1e-7) || result.gap_kind == SINEW_GAP_UNKNOWN)
        fail_msg("%s: off by %g m; bits %x, residual %g of %g, gap %g %s", sinew_get_solver_info(kind)->name, worst,
                 (unsigned)result.bits, result.residual, result.relative_residual, result.gap, result.gap_reason);
    free(start);
    free(ended);
    sinew_world_destroy(held);
    sinew_world_destroy(nobody);
}

static void random_frames_follow_an_elimination(void **unused)
{
    (void)unused;
    if (sizeof(sinew_real) == 4)
        skip(); /* floats are too inaccurate for second differences */
    random_cases r = random_cases_begin("random frames", 4, 200);
    for (int32_t i = 0; i < r.count; i++) {
        check_frames(&r, SINEW_SOLVER_NEWTON);
        check_frames(&r, SINEW_SOLVER_PBNG);
    }
}

/* ---- Work and refusals --------------------------------------------------------------------------- */

/* Rails that move a beam sideways do work, which the balance contains. */
static void rails_do_work(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    sinew_error error = {0};
    def.balance = true;
    sinew_mesh *mesh = make_beam(2, 1, 1, 2, 1, 1);
    sinew_world *world = make_world(&def);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    int32_t end[16];
    const int32_t count = vertices_at(mesh, 0, -1, -1, end);
    add_material(world, body, SINEW_ENERGY_NEO_HOOKEAN, 1e5, 0.3);
    sinew_key keys[2] = {{.time = 0}, {.time = 1, .translation = {1, 0, 0}}};
    const sinew_motion motion = {.keys = keys, .key_count = 2};
    hold(world, body, end, count, axes, 1, &motion, &error);
    must(&error);
    for (int step = 0; step < 5; step++) {
        sinew_balance balance;
        assert_int_equal(sinew_world_step(world, NULL), 0);
        assert_int_equal(sinew_world_balance(world, &balance, &error), SINEW_OK);
        const double size = fabs(balance.kinetic[1]) + fabs(balance.elastic[1]) + fabs(balance.pins);
        assert_true(fabs(balance.unaccounted) <= 1e4 * CLOSE * size && balance.pins != 0);
    }
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

static void solvers_refuse_by_name(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        const double from[3] = {0, 0, 0}, to[3] = {1, 0, 0};
        sinew_world_def def = sinew_default_world_def();
        sinew_error error = {0};
        const int32_t vertex = 1;
        def.solver = sinew_default_solver_def((sinew_solver_kind)kind);
        def.quasistatic = info->static_only;
        sinew_mesh *mesh = make_rope(2, from, to);
        sinew_world *world = make_world(&def);
        const sinew_body body = add_mesh(world, mesh, 3, NULL, NULL);
        hold(world, body, &vertex, 1, axes, 1, NULL, &error);
        must(&error);
        const sinew_status status = sinew_world_prepare(world, &error);
        if (!info->directions && (status != SINEW_ERROR_UNSUPPORTED || !strstr(error.text, "newton") ||
                                  strncmp(error.text, info->name, strlen(info->name)) != 0))
            fail_msg("%s: %s", info->name, error.text);
        sinew_world_destroy(world);
        sinew_mesh_destroy(mesh);
    }
}

/* A scene can hold directions: particles held along x fall along y. */
static void scenes_have_directions(void **unused)
{
    (void)unused;
    static const char text[] =
        "{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [2, 1, 1]}, "
        "\"energies\": [{\"energy\": \"neo_hookean\"}], "
        "\"pins\": [{\"select\": \"all\", \"directions\": [[2, 0, 0], [0, 0, -1]]}]}]}";
    sinew_scene_def def = sinew_default_scene_def();
    sinew_error error = {0};
    def.path = "held.json";
    def.text = text;
    def.text_size = strlen(text);
    sinew_scene *read = sinew_scene_read(&def, &error);
    must(&error);
    sinew_world *world = sinew_scene_world(read);
    sinew_real *before = positions_of(world);
    assert_int_equal(sinew_world_step(world, NULL), 0);
    sinew_real *after = positions_of(world);
    const double h = (double)sinew_world_time_step(world);
    for (int32_t i = 0; i < 3 * sinew_world_particle_count(world); i++)
        assert_true(fabs((double)after[i] - (double)before[i] + (i % 3 == 1 ? 9.81 * h * h : 0)) < NEAR);
    free(before);
    free(after);
    sinew_scene_destroy(read);
}

static void bad_directions_are_refused(void **unused)
{
    (void)unused;
    static const double none[1][3] = {{0, 0, 0}}, parallel[2][3] = {{1, 1, 0}, {-2, -2, 0}};
    scene s = make_scene(NULL);
    sinew_error error = {0};
    const int32_t vertex = 11, twice[2] = {11, 11};
    hold(s.world, s.body, &vertex, 1, none, 1, NULL, &error);
    refused(&error, SINEW_ERROR_DATA, "direction 0 has no length");
    hold(s.world, s.body, &vertex, 1, parallel, 2, NULL, &error);
    refused(&error, SINEW_ERROR_DATA, "direction 1 follows");
    hold(s.world, s.body, s.held, 1, axes, 1, NULL, &error);
    refused(&error, SINEW_ERROR_DATA, "pinned already");
    hold(s.world, s.body, twice, 2, axes, 1, NULL, &error);
    refused(&error, SINEW_ERROR_DATA, "already");
    const sinew_pin held = hold(s.world, s.body, &vertex, 1, axes, 1, NULL, &error);
    must(&error);
    hold(s.world, s.body, &vertex, 1, axes, 1, NULL, &error);
    refused(&error, SINEW_ERROR_DATA, "held along direction 0 already");
    sinew_pin_def whole = sinew_default_pin_def();
    whole.body = s.body;
    whole.vertices = &vertex;
    whole.vertex_count = 1;
    sinew_world_add_pins(s.world, &whole, &error);
    refused(&error, SINEW_ERROR_DATA, "held along a direction already");
    assert_int_equal(sinew_world_step(s.world, NULL) & ~(uint32_t)SINEW_STEP_UNMEASURED, 0);
    assert_int_equal(sinew_world_remove_pins(s.world, held, &error), SINEW_OK);
    sinew_world_add_pins(s.world, &whole, &error);
    must(&error);
    assert_int_equal(sinew_world_step(s.world, NULL) & ~(uint32_t)SINEW_STEP_UNMEASURED, 0);
    free_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(beads_slide_on_wires),
        cmocka_unit_test(blocks_thin_on_rollers),
        cmocka_unit_test(three_directions_are_a_pin),
        cmocka_unit_test(random_frames_follow_an_elimination),
        cmocka_unit_test(rails_do_work),
        cmocka_unit_test(solvers_refuse_by_name),
        cmocka_unit_test(scenes_have_directions),
        cmocka_unit_test(bad_directions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
