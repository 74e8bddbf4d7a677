/* SPDX-License-Identifier: MIT
 *
 * test_thickness.c: thicknesses of contact: thin ones are solved, those that do not fit a body are refused with both
 * numbers, and edges that are nearer than the offset form contacts.
 */
#include "contact_worlds.h"

/* ---- Refused thicknesses --------------------------------------------------------------------- */

/* Prepares a world with one body; returns its status, and the error's text in `text`. */
static sinew_status prepare_with(const sinew_mesh *mesh, double thickness, char text[1024])
{
    sinew_error error = {0};
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    const sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    add_springs(world, body, 100);
    set_touch(world, thickness, 0.3);
    const sinew_status status = sinew_world_prepare(world, &error);
    snprintf(text, 1024, "%s", error.text);
    sinew_world_destroy(world);
    return status;
}

/* The mesh turned about an axis through the origin, so that no extent lies along a coordinate axis. */
static sinew_mesh *turned(const sinew_mesh *mesh)
{
    sinew_error error = {0};
    const double a = 0.7, b = 0.4;
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *x = make_array(3 * (size_t)n, sizeof *x);
    for (size_t i = 0; i < (size_t)n; i++) {
        const sinew_real *p = sinew_mesh_positions(mesh) + 3 * i;
        const double u = cos(a) * (double)p[0] - sin(a) * (double)p[1],
                     v = sin(a) * (double)p[0] + cos(a) * (double)p[1];
        x[3 * i] = (sinew_real)u;
        x[3 * i + 1] = (sinew_real)(cos(b) * v - sin(b) * (double)p[2]);
        x[3 * i + 2] = (sinew_real)(sin(b) * v + cos(b) * (double)p[2]);
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = n;
    def.positions = x;
    def.tet_count = sinew_mesh_tet_count(mesh);
    def.tets = sinew_mesh_tets(mesh);
    def.triangle_count = sinew_mesh_triangle_count(mesh);
    def.triangles = sinew_mesh_triangles(mesh);
    def.edge_count = sinew_mesh_edge_count(mesh);
    def.edges = sinew_mesh_edges(mesh);
    sinew_mesh *made = sinew_mesh_create(&def, &error);
    must(&error);
    free(x);
    return made;
}

/* Just below half of `size` is accepted, just above is refused with both numbers; `name` is the size's name. */
static void check_limit(const sinew_mesh *mesh, double size, const char *name)
{
    char text[1024];
    assert_int_equal(prepare_with(mesh, 0.49 * size, text), SINEW_OK);
    assert_int_equal(prepare_with(mesh, 0.51 * size, text), SINEW_ERROR_DATA);
    assert_non_null(strstr(text, name));
    const char *of = strstr(text, name);
    char *end;
    const double told = strtod(of + strlen(name) + 2, &end);
    assert_true(fabs(told - size) < 0.01 * size);
}

static void sizes_bound_thickness(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_mesh *plate = make_beam(4, 3, 1, 0.4, 0.3, 0.02), *turned_plate = turned(plate);
    check_limit(plate, 0.02, "smallest extent");
    check_limit(turned_plate, 0.02, "smallest extent");
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = 9;
    def.vertices[1] = 4;
    def.size[0] = 1;
    def.size[1] = (sinew_real)0.2;
    sinew_mesh *cloth = sinew_mesh_cloth(&def, &error);
    must(&error);
    sinew_mesh *turned_cloth = turned(cloth);
    check_limit(cloth, 0.2, "shorter side");
    check_limit(turned_cloth, 0.2, "shorter side");
    sinew_mesh *rope = make_rope(5, (const double[]){0, 0, 0}, (const double[]){0.3, 0.4, 0});
    check_limit(rope, 0.5, "length");
    sinew_mesh *meshes[] = {plate, turned_plate, cloth, turned_cloth, rope};
    for (size_t k = 0; k < sizeof meshes / sizeof meshes[0]; k++) {
        char text[1024];
        assert_int_equal(prepare_with(meshes[k], 0, text), SINEW_ERROR_DATA);
        assert_non_null(strstr(text, "too small"));
        sinew_mesh_destroy(meshes[k]);
    }
}

/* ---- Thin offsets ---------------------------------------------------------------------------- */

/* A box that starts one thickness above the floor comes to rest on it, although k_n times the thickness is far less
 * than its weight: the multipliers take over the force that the step filter bears. */
static void thin_offsets(void **state)
{
    (void)state;
    static const sinew_solver_kind kinds[] = {SINEW_SOLVER_NEWTON, SINEW_SOLVER_PBNG, SINEW_SOLVER_QN};
    const double fractions[] = {1e-2, 1e-3, sizeof(sinew_real) == 4 ? 1e-3 : 1e-5};
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            const double size = 0.1, thickness = fractions[i] * size;
            sinew_world_def def = sinew_default_world_def();
            def.thread_count = 1;
            def.time_step = (sinew_real)0.01;
            def.solver = sinew_default_solver_def(kinds[k]);
            def.solver.iterations = 100;
            sinew_world *world = make_world(&def);
            set_touch(world, thickness, 0.5);
            add_floor(world);
            add_box(world, kinds[k], 3, size, (const double[]){0, thickness + size / 2, 0}, 1e6);
            sinew_contact_report report;
            uint32_t bits = 0;
            for (int step = 0; step < 20; step++)
                bits = sinew_world_step(world, NULL);
            assert_int_equal(sinew_world_contact_report(world, &report, NULL), SINEW_OK);
            if (bits & (SINEW_STEP_TRUNCATED | SINEW_STEP_CONTACT | SINEW_STEP_NOT_CONVERGED))
                fail_msg("%s at %g of the size: bits %x, violation %g m, %d vertices truncated",
                         sinew_get_solver_info(kinds[k])->name, fractions[i], bits, (double)report.violation,
                         (int)report.filtered_vertices);
            sinew_world_destroy(world);
        }
}

/* ---- Edges ----------------------------------------------------------------------------------- */

/* A box squeezed between the edges of two jaws: edges of its bulging sides that are nearer to the jaws' edges than the
 * offset form contacts, although their direction leaves the wedges of both edges. */
static void squeezed_edges(void **state)
{
    (void)state;
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)0.01;
    def.solver = sinew_default_solver_def(SINEW_SOLVER_NEWTON);
    sinew_world *world = make_world(&def);
    set_touch(world, 1e-3, 0.3);
    add_floor(world);
    add_box(world, SINEW_SOLVER_NEWTON, 4, 0.1, (const double[]){0, 0.051, 0}, 1e5);
    for (int side = -1; side <= 1; side += 2) {
        const sinew_key keys[3] = {{0, {0}, {0}},
                                   {(sinew_real)0.5, {(sinew_real)(-0.006 * side), 0, 0}, {0}},
                                   {(sinew_real)1.5, {(sinew_real)(-0.006 * side), (sinew_real)0.2, 0}, {0}}};
        sinew_motion motion = {3, keys, {0}};
        sinew_collider_def jaw = sinew_default_collider_def(SINEW_SHAPE_BOX);
        const double size[3] = {0.02, 0.08, 0.08}, at[3] = {0.065 * side, 0.055, 0};
        for (int c = 0; c < 3; c++) {
            jaw.size[c] = (sinew_real)size[c];
            jaw.position[c] = (sinew_real)at[c];
        }
        jaw.motion = &motion;
        add_collider(world, &jaw);
    }
    int late = 0;
    for (int step = 0; step < 90; step++)
        late += (sinew_world_step(world, NULL) & SINEW_STEP_CONTACT) != 0;
    if (late > 9)
        fail_msg("%d of 90 steps leave edges too near", late);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_bound_thickness),
        cmocka_unit_test(thin_offsets),
        cmocka_unit_test(squeezed_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
