/* SPDX-License-Identifier: MIT
 *
 * test_places.c: the bodies, vertices and tets that status bits come from, and the remedies that `sinew run` names.
 *
 * References: the field of residuals of a world with a balance, determinants from signed volumes, intersecting pairs
 * that are placed by hand, and runs with and without the remedy.
 */
#include "contact_worlds.h"
#include "random_cases.h"

#include "sinew/scene.h"

/* Residuals of the solver and of the field are summed in another order; single precision: differences of forces. */
#ifdef SINEW_SINGLE
#define NEAR 0.05
#else
#define NEAR 1e-7
#endif

/* Two boxes in free fall, distorted and of random stiffness. */
static sinew_world *two_boxes(random_cases *r, sinew_body bodies[2])
{
    sinew_world_def def = sinew_default_world_def();
    def.balance = true;
    def.solver.iterations = 1;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = make_world(&def);
    for (int b = 0; b < 2; b++) {
        sinew_mesh *mesh = make_beam(3, 1, 1, 0.3, 0.1, 0.1);
        const int32_t count = sinew_mesh_vertex_count(mesh);
        sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
        for (int32_t i = 0; i < 3 * count; i++)
            x[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)(random_between(r, -0.02, 0.02) + (i % 3 == 1 ? b : 0));
        bodies[b] = add_mesh(world, mesh, 1000, x, NULL);
        add_material(world, bodies[b], SINEW_ENERGY_COROTATED, random_magnitude(r, 1e3, 1e6), 0.3);
        sinew_mesh_destroy(mesh);
        free(x);
    }
    return world;
}

static double length_of(const sinew_real *v)
{
    return sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
}

/* The worst vertex of each body, and the order of bodies, are those of the field of residuals. */
static void test_residuals(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("places of residuals", 20, 400);
    for (int32_t n = 0; n < r.count; n++) {
        sinew_body bodies[2];
        sinew_error error = {0};
        sinew_world *world = two_boxes(&r, bodies);
        sinew_world_step(world, NULL);
        const int32_t count = sinew_world_particle_count(world);
        sinew_real *g = make_array(3 * (size_t)count, sizeof *g);
        assert_int_equal(sinew_world_field(world, SINEW_FIELD_RESIDUAL, 0, count, g, &error), SINEW_OK);
        double worst[2] = {0, 0};
        for (int32_t i = 0; i < count; i++) {
            const int b = i >= sinew_body_first_particle(world, bodies[1]);
            worst[b] = fmax(worst[b], length_of(g + 3 * i));
        }
        sinew_step_place places[2];
        const int32_t found = sinew_world_step_places(world, SINEW_STEP_NOT_CONVERGED, 2, places);
        const double larger = fmax(worst[0], worst[1]), smaller = fmin(worst[0], worst[1]);
        if (fabs(smaller - 0.1 * larger) > NEAR * larger)
            assert_int_equal(found, smaller > 0.1 * larger ? 2 : 1);
        assert_true(found == 1 || places[0].value >= places[1].value);
        assert_true(fabs(places[0].value - larger) <= NEAR * larger);
        for (int32_t k = 0; k < found; k++) {
            const double own = worst[places[k].body.index];
            const int32_t particle = sinew_body_first_particle(world, places[k].body) + places[k].vertex;
            assert_true(fabs(places[k].value - own) <= NEAR * larger);
            assert_true(fabs(length_of(g + 3 * particle) - own) <= NEAR * larger);
            assert_int_equal(places[k].element, -1);
        }
        free(g);
        sinew_world_destroy(world);
    }
}

static double signed_volume(const sinew_real *x, const int32_t *tet)
{
    double e[3][3];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            e[a][c] = (double)x[3 * tet[a + 1] + c] - (double)x[3 * tet[0] + c];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

/* The worst tet has the smallest ratio of signed volumes. */
static void test_inverted(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("places of inverted tets", 20, 400);
    int inverted = 0;
    for (int32_t n = 0; n < r.count; n++) {
        sinew_body bodies[2];
        sinew_world *world = two_boxes(&r, bodies);
        const int32_t count = sinew_world_particle_count(world);
        sinew_real *q = make_array(3 * (size_t)count, sizeof *q);
        for (int32_t i = 0; i < 3 * count; i++)
            q[i] = (sinew_real)random_between(&r, -0.2, 0.2);
        sinew_world_set_positions(world, 0, count, q);
        const sinew_mesh *mesh = sinew_body_mesh(world, bodies[0]);
        double smallest = 0;
        bool any = false;
        for (int b = 0; b < 2; b++)
            for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++) {
                const int32_t *corners = sinew_mesh_tets(mesh) + 4 * t;
                const double det = signed_volume(q + 3 * sinew_body_first_particle(world, bodies[b]), corners) /
                                   signed_volume(sinew_mesh_positions(mesh), corners);
                any = any || det <= 0;
                smallest = fmin(smallest, det);
            }
        sinew_step_place place;
        const int32_t found = sinew_world_step_places(world, SINEW_STEP_INVERTED, 1, &place);
        assert_true((found > 0) == any);
        if (found > 0) {
            inverted++;
            const int32_t *corners = sinew_mesh_tets(mesh) + 4 * place.element;
            const sinew_real *own = q + 3 * sinew_body_first_particle(world, place.body);
            const double det = signed_volume(own, corners) / signed_volume(sinew_mesh_positions(mesh), corners);
            assert_int_equal(place.energy.index, place.body.index);
            assert_true(fabs(place.value - smallest) <= 1e-4 * fabs(smallest));
            assert_true(fabs(det - smallest) <= 1e-4 * fabs(smallest));
        }
        free(q);
        sinew_world_destroy(world);
    }
    assert_true(inverted > 0);
}

/* Two crossing boxes intersect; a third one does not. */
static void test_intersecting(void **state)
{
    (void)state;
    sinew_world *world = make_touching_world(SINEW_SOLVER_NEWTON, 1);
    const double middle[3][3] = {{0, 0, 0}, {0.05, 0.03, 0.02}, {3, 0, 0}};
    for (int b = 0; b < 3; b++)
        add_box(world, SINEW_SOLVER_NEWTON, 1, 0.1, middle[b], 1e5);
    set_touch(world, 1e-3, 0.3);
    const uint32_t bits = sinew_world_step(world, NULL);
    assert_true(bits & SINEW_STEP_INTERSECTING);
    sinew_step_place places[3];
    assert_int_equal(sinew_world_step_places(world, SINEW_STEP_INTERSECTING, 3, places), 2);
    assert_true(places[0].body.index + places[1].body.index == 1 && places[0].value >= 1);
    assert_int_equal(sinew_world_step_places(world, SINEW_STEP_EXPLICIT, 3, places), 0);
    assert_string_equal(sinew_step_place_unit(SINEW_STEP_INTERSECTING), "pairs");
    assert_string_equal(sinew_step_place_unit(SINEW_STEP_EXPLICIT), "");
    sinew_world_destroy(world);
}

/* Steps with a bit in a drop of a soft ball on a plane. */
static void count_drop(int iterations, double h, int counts[2])
{
    char text[800];
    snprintf(
        text, sizeof text,
        "{\"sinew\": 1, \"time_step\": %g, \"solver\": {\"name\": \"newton\", \"iterations\": %d, \"measure\": "
        "\"residual\"}, \"contact\": {\"thickness\": \"3 mm\", \"friction\": 0.4}, \"bodies\": [{\"name\": \"jelly\","
        " \"mesh\": {\"generator\": \"ball\", \"radius\": 0.1, \"segments\": 6}, \"density\": 1000,"
        " \"transform\": {\"translate\": [0, 0.3, 0]},"
        " \"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"15 kPa\", \"poisson\": 0.45}]}],"
        " \"colliders\": [{\"shape\": \"plane\"}]}",
        h, iterations);
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.text = text;
    def.text_size = strlen(text);
    sinew_scene *scene = sinew_scene_read(&def, &error);
    must(&error);
    counts[0] = counts[1] = 0;
    for (int step = 0; step < 0.4 / h; step++) {
        const uint32_t bits = sinew_world_step(sinew_scene_world(scene), NULL);
        sinew_step_place place;
        counts[0] += (bits & SINEW_STEP_NOT_CONVERGED) != 0;
        counts[1] += (bits & SINEW_STEP_CONTACT) != 0;
        if (bits & SINEW_STEP_NOT_CONVERGED)
            assert_int_equal(sinew_world_step_places(sinew_scene_world(scene), SINEW_STEP_NOT_CONVERGED, 1, &place), 1);
    }
    sinew_scene_destroy(scene);
}

/* The remedy that `sinew run` names for not_converged and contact, four times the iterations, helps; half the time step
 * with the same iterations leaves at least as many such steps. */
static void test_remedy(void **state)
{
    (void)state;
    int few[2], many[2], shorter[2];
    count_drop(8, 0.01, few);
    count_drop(32, 0.01, many);
    count_drop(8, 0.005, shorter);
    printf("not_converged %d, contact %d; four times the iterations: %d, %d; half the step: %d, %d\n", few[0], few[1],
           many[0], many[1], shorter[0], shorter[1]);
    assert_true(few[0] >= 5 && 2 * many[0] < few[0]);
    /* In single precision three of four such steps stay open: the touchdown, whose forces are near round-off. */
    assert_true(few[1] == 0 || (sizeof(sinew_real) == sizeof(float) ? many[1] < few[1] : 2 * many[1] < few[1]));
    assert_true(2 * shorter[0] > few[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_residuals),
        cmocka_unit_test(test_inverted),
        cmocka_unit_test(test_intersecting),
        cmocka_unit_test(test_remedy),
    };
    return cmocka_run_group_tests_name("places", tests, NULL, NULL);
}
