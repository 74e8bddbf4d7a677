/* SPDX-License-Identifier: MIT
 *
 * test_snapshot.c: contents of a snapshot: surfaces, normals, values against the fields of the API, cuts, tubes and
 * balls; colliders; bodies with non-finite or huge coordinates; fields that a world does not have; and allocation
 * failures between world and picture.
 */
#include "failing_malloc.h"
#include "picture_world.h"

#include "colour.h"
#include "random_cases.h"
#include "shape.h"
#include "sinew/contact.h"
#include "small_world.h"

/* ---- Surfaces -------------------------------------------------------------------------------- */

/* Triangles of a snapshot without markers are those of the API's surface, at the particles' positions. */
static void surfaces_are_the_worlds(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.pins = false;
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    sinew_surface surface = {0};
    assert_int_equal(sinew_world_surface(s.world, &surface, NULL), SINEW_OK);
    assert_int_equal(snapshot->shape.triangle_count, surface.triangle_count);
    surface.triangles = make_array(3 * (size_t)surface.triangle_count, sizeof *surface.triangles);
    assert_int_equal(sinew_world_surface(s.world, &surface, NULL), SINEW_OK);
    sinew_real *q = positions_of(s.world);
    for (int32_t i = 0; i < 3 * surface.triangle_count; i++) {
        assert_int_equal(snapshot->shape.triangles[i], surface.triangles[i]);
        for (int c = 0; c < 3; c++)
            assert_true(snapshot->shape.points[3 * surface.triangles[i] + c] ==
                        (double)q[3 * surface.triangles[i] + c]);
    }
    free(q);
    free(surface.triangles);
    sinew_snapshot_destroy(snapshot);
    free_scene(&s);
}

/* A box keeps its sharp edges, and is smooth if every edge counts as smooth. */
static void creases_stay_sharp(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.pins = false;
    for (int smooth = 0; smooth < 2; smooth++) {
        def.crease = smooth ? 1.6 : 0.8;
        sinew_snapshot *snapshot = take_snapshot(s.world, &def);
        int32_t slanted = 0;
        for (int32_t i = 0; i < 3 * snapshot->shape.triangle_count; i++) {
            const float *n = snapshot->shape.normals + 3 * (size_t)i;
            assert_true(fabs((double)(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) - 1) < 1e-5);
            slanted += fabsf(n[0]) < 0.999f && fabsf(n[1]) < 0.999f && fabsf(n[2]) < 0.999f;
        }
        assert_true(smooth ? slanted == 3 * snapshot->shape.triangle_count : slanted == 0);
        sinew_snapshot_destroy(snapshot);
    }
    free_scene(&s);
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* The value of a particle in the first triangle that contains it. */
static double value_at(const sinew_snapshot *snapshot, int32_t particle)
{
    for (int32_t i = 0; i < 3 * snapshot->shape.triangle_count; i++)
        if (snapshot->shape.triangles[i] == particle)
            return (double)snapshot->shape.values[i];
    return NAN;
}

static void speeds_are_those_of_the_particles(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    hash_after(s.world, 5);
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.colour = SINEW_COLOUR_SPEED;
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    const int32_t count = sinew_world_particle_count(s.world);
    sinew_real *v = make_array(3 * (size_t)count, sizeof *v);
    assert_int_equal(sinew_world_get_velocities(s.world, 0, count, v), SINEW_OK);
    double max = 0;
    for (int32_t i = 0; i < count; i++) {
        const double speed =
            sqrt((double)(v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1] + v[3 * i + 2] * v[3 * i + 2]));
        assert_true(fabs(value_at(snapshot, i) - speed) < 1e-5 * (1 + speed));
        max = fmax(max, speed);
    }
    assert_true(fabs(snapshot->highest - max) < 1e-5 * max);
    free(v);
    sinew_snapshot_destroy(snapshot);
    free_scene(&s);
}

/* The volume-weighted mean of the tets around a particle, computed here over all elements of the energy. */
static double mean_around(sinew_world *world, sinew_energy energy, const sinew_real *values, int32_t components,
                          int32_t particle)
{
    double sum = 0, total = 0;
    for (int32_t e = 0; e < sinew_energy_element_count(world, energy); e++) {
        int32_t corners[4];
        assert_int_equal(sinew_energy_get_elements(world, energy, e, 1, corners, NULL, NULL), SINEW_OK);
        const sinew_mesh *mesh = sinew_body_mesh(world, sinew_world_body_at(world, 0));
        const int32_t first = sinew_body_first_particle(world, sinew_world_body_at(world, 0));
        double e3[3][3];
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++)
                e3[i][c] = (double)(sinew_mesh_positions(mesh)[3 * (corners[i + 1] - first) + c] -
                                    sinew_mesh_positions(mesh)[3 * (corners[0] - first) + c]);
        const double volume = fabs(e3[0][0] * (e3[1][1] * e3[2][2] - e3[1][2] * e3[2][1]) -
                                   e3[0][1] * (e3[1][0] * e3[2][2] - e3[1][2] * e3[2][0]) +
                                   e3[0][2] * (e3[1][0] * e3[2][1] - e3[1][1] * e3[2][0]));
        for (int i = 0; i < 4; i++)
            if (corners[i] == particle) {
                sum += volume * (double)values[components * e];
                total += volume;
            }
    }
    return sum / total;
}

static void element_fields_are_means_by_volume(void **state)
{
    (void)state;
    static const struct {
        sinew_colour_kind colour;
        sinew_field_kind field;
        int32_t components;
    } cases[] = {{SINEW_COLOUR_VON_MISES, SINEW_FIELD_VON_MISES, 1},
                 {SINEW_COLOUR_STRETCH, SINEW_FIELD_STRETCHES, 3},
                 {SINEW_COLOUR_ENERGY, SINEW_FIELD_ENERGY, 1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        still_life s = make_still_life();
        sinew_snapshot_def def = sinew_default_snapshot_def();
        def.colour = cases[k].colour;
        sinew_snapshot *snapshot = take_snapshot(s.world, &def);
        const int32_t elements = sinew_energy_element_count(s.world, s.material), capacity = 3 * elements;
        sinew_real *values = make_array((size_t)capacity, sizeof *values);
        int32_t count = 0;
        assert_int_equal(sinew_energy_field(s.world, s.material, cases[k].field, capacity, values, &count, NULL),
                         SINEW_OK);
        for (int32_t i = 0; i < 12; i++) {
            const int32_t particle = sinew_body_first_particle(s.world, s.beam) + 13 * i;
            const double seen = value_at(snapshot, particle);
            if (isnan(seen))
                continue; /* an interior particle */
            const double mean = mean_around(s.world, s.material, values, cases[k].components, particle);
            assert_true(fabs(seen - mean) <= 1e-4 * fabs(mean));
        }
        /* Cloth and rope do not have this value. */
        assert_true(isnan(value_at(snapshot, sinew_body_first_particle(s.world, s.cloth))));
        free(values);
        sinew_snapshot_destroy(snapshot);
        sinew_world_destroy(s.world);
    }
}

static void given_values_are_taken(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    double values[64];
    for (int i = 0; i < 64; i++)
        values[i] = 3 * i - 5;
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.colour = SINEW_COLOUR_GIVEN;
    def.values = values;
    def.values_name = "distance";
    def.values_unit = "m";
    sinew_snapshot *snapshot = take_snapshot(s.world, &def);
    assert_true(value_at(snapshot, 7) == 16);
    assert_string_equal(snapshot->label, "distance");
    assert_string_equal(snapshot->unit, "m");
    sinew_snapshot_destroy(snapshot);
    free_scene(&s);
}

/* ---- Cuts and marks -------------------------------------------------------------------------- */

/* After cuts by random planes the remaining surface is closed: every edge has two triangles of opposite directions. */
static void what_a_cut_leaves_is_closed(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("cuts", 12, 400);
    for (int32_t k = 0; k < r.count; k++) {
        scene s = make_scene(NULL);
        sinew_snapshot_def def = sinew_default_snapshot_def();
        def.cut = true;
        def.pins = false;
        for (int c = 0; c < 3; c++) {
            def.cut_normal[c] = random_between(&r, -1, 1);
            def.cut_point[c] = random_between(&r, -0.5, 0.5);
        }
        sinew_snapshot *snapshot = take_snapshot(s.world, &def);
        int balance[64][64] = {{0}};
        for (int32_t i = 0; i < 3 * snapshot->shape.triangle_count; i++) {
            const int32_t *t = snapshot->shape.triangles, a = t[i], b = t[i / 3 * 3 + (i + 1) % 3];
            assert_true(a < 64 && b < 64);
            balance[a][b]++;
            balance[b][a]--;
        }
        for (int i = 0; i < 64 * 64; i++)
            assert_int_equal(balance[i / 64][i % 64], 0);
        sinew_snapshot_destroy(snapshot);
        free_scene(&s);
    }
}

static void pins_and_pairs_are_drawn(void **state)
{
    (void)state;
    still_life s = make_still_life();
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.pins = def.springs = false;
    sinew_snapshot *bare = take_snapshot(s.world, &def);
    def.pins = true;
    sinew_snapshot *pinned = take_snapshot(s.world, &def);
    def.springs = true;
    sinew_snapshot *joined = take_snapshot(s.world, &def);
    /* 16 pins of 320 triangles; one tube of 24 sides with two balls. */
    assert_int_equal(pinned->shape.triangle_count - bare->shape.triangle_count, 16 * 320);
    assert_int_equal(joined->shape.triangle_count - pinned->shape.triangle_count, 48 + 2 * 320);
    sinew_snapshot_destroy(bare);
    sinew_snapshot_destroy(pinned);
    sinew_snapshot_destroy(joined);
    sinew_world_destroy(s.world);
}

/* Balls and tubes are round to 2 % and their normals point outwards. */
static void balls_and_tubes_are_round(void **state)
{
    (void)state;
    shape made = {0};
    const double centre[3] = {1, 2, 3}, end[3] = {1, 5, 3};
    const int32_t paint = shape_add_paint(&made, (shape_paint){0});
    shape_add_ball(&made, centre, 0.5, 7, 2, paint);
    const int32_t ball = made.triangle_count;
    shape_add_tube(&made, centre, end, 0.5, 1, 2, 2, paint);
    for (int32_t i = 0; i < 3 * made.triangle_count; i++) {
        const double *p = made.points + 3 * (size_t)made.triangles[i];
        const float *n = made.normals + 3 * (size_t)i;
        const bool tube = i >= 3 * ball;
        const double x = p[0] - 1, y = tube ? 0 : p[1] - 2, z = p[2] - 3;
        assert_true(fabs(sqrt(x * x + y * y + z * z) - 0.5) < 1e-6);
        assert_true(fabs((double)n[0] - x / 0.5) + fabs((double)n[1] - y / 0.5) + fabs((double)n[2] - z / 0.5) < 1e-5);
        assert_true(made.values[i] == (tube ? (p[1] > 3 ? 2 : 1) : 7));
    }
    shape_free(&made);
}

/* ---- Colour map ------------------------------------------------------------------------------ */

static void the_ramp_is_even(void **state)
{
    (void)state;
    double last = -1;
    for (int i = 0; i <= 100; i++) {
        uint8_t rgb[3];
        sinew_colour_ramp(i / 100.0, rgb);
        const double light =
            0.2126 * pow(rgb[0] / 255.0, 2.2) + 0.7152 * pow(rgb[1] / 255.0, 2.2) + 0.0722 * pow(rgb[2] / 255.0, 2.2);
        const double lightness = 116 * cbrt(light) - 16;
        assert_true(lightness > last);
        /* The lightness of viridis rises from 15 to 90 in equal steps. */
        assert_true(fabs(lightness - (15 + 0.76 * i)) < 5);
        last = lightness;
    }
    for (int kind = 0; kind < SINEW_COLOUR_COUNT; kind++)
        assert_int_equal(sinew_colour_by_name(sinew_colour_name((sinew_colour_kind)kind)), kind);
    assert_int_equal(sinew_colour_by_name("stress"), SINEW_COLOUR_COUNT);
}

/* ---- Bad worlds ------------------------------------------------------------------------------ */

static void refuse_snapshot(sinew_world *world, sinew_colour_kind colour, const char *words)
{
    sinew_error error = {0};
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.colour = colour;
    assert_null(sinew_snapshot_take(world, &def, &error));
    refused(&error, SINEW_ERROR_UNSUPPORTED, words);
}

static void missing_fields_are_named(void **state)
{
    (void)state;
    still_life s = make_still_life();
    refuse_snapshot(s.world, SINEW_COLOUR_CLASS, "class: newton has no colour classes");
    refuse_snapshot(s.world, SINEW_COLOUR_RESIDUAL, "residual");
    assert_int_equal(sinew_world_remove_energy(s.world, s.material, NULL), SINEW_OK);
    refuse_snapshot(s.world, SINEW_COLOUR_VON_MISES,
                    "von_mises: the world has 4 energies, none of them over tetrahedra");
    sinew_world_destroy(s.world);
}

/* Some vertices of a cloth have coordinates that no picture can show: the rest is drawn. */
static void blown_up_bodies_are_drawn_in_part(void **state)
{
    (void)state;
    static const double bad[] = {1e38, 1e20, -1e9};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        still_life s = make_still_life();
        const int32_t first = sinew_body_first_particle(s.world, s.cloth);
        sinew_real far[6] = {(sinew_real)bad[k], 0, 0, 0, (sinew_real)bad[k], 1};
        assert_int_equal(sinew_world_set_positions(s.world, first + 100, 2, far), SINEW_OK);
        const sinew_snapshot_def def = sinew_default_snapshot_def();
        sinew_snapshot *snapshot = take_snapshot(s.world, &def);
        assert_true(sinew_snapshot_left_out(snapshot) >= 8 && sinew_snapshot_left_out(snapshot) <= 12);
        for (int c = 0; c < 6; c++)
            assert_true(fabs(snapshot->bounds[c]) < 10);
        sinew_snapshot_destroy(snapshot);
        sinew_world_destroy(s.world);
    }
}

/* ---- Colliders ------------------------------------------------------------------------------- */

static void add_collider(sinew_world *world, const sinew_collider_def *def)
{
    sinew_error error = {0};
    assert_true(sinew_world_add_collider(world, def, &error).index >= 0);
}

/* The number of triangles that one collider adds to a picture, and how many of them the camera should frame. */
static void drawn(sinew_collider_def def, int32_t *triangles, int32_t *framed, sinew_snapshot **kept)
{
    scene s = make_scene(NULL);
    const sinew_snapshot_def look = sinew_default_snapshot_def();
    sinew_snapshot *bare = take_snapshot(s.world, &look);
    add_collider(s.world, &def);
    *kept = take_snapshot(s.world, &look);
    assert_int_equal(bare->framed, bare->shape.triangle_count);
    *triangles = (*kept)->shape.triangle_count - bare->shape.triangle_count;
    *framed = (*kept)->framed - bare->framed;
    sinew_snapshot_destroy(bare);
    free_scene(&s);
}

static void colliders_are_drawn(void **state)
{
    (void)state;
    int32_t triangles, framed;
    sinew_snapshot *snapshot;
    sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_BOX);
    drawn(def, &triangles, &framed, &snapshot);
    assert_int_equal(triangles, 12);
    assert_int_equal(framed, 12);
    sinew_snapshot_destroy(snapshot);
    /* A hollow box is drawn open: the bottom and thin edges. */
    def.hollow = true;
    drawn(def, &triangles, &framed, &snapshot);
    double area = 0;
    const shape *made = &snapshot->shape;
    for (int32_t t = made->triangle_count - triangles; t < made->triangle_count; t++) {
        const double *p[3];
        double e[2][3], square = 0;
        for (int i = 0; i < 3; i++)
            p[i] = made->points + 3 * (size_t)made->triangles[3 * t + i];
        for (int c = 0; c < 3; c++) {
            e[0][c] = p[1][c] - p[0][c];
            e[1][c] = p[2][c] - p[0][c];
        }
        for (int c = 0; c < 3; c++) {
            const double x = e[0][(c + 1) % 3] * e[1][(c + 2) % 3] - e[0][(c + 2) % 3] * e[1][(c + 1) % 3];
            square += x * x;
        }
        area += sqrt(square) / 2;
    }
    assert_true(area > 1 && area < 2);
    sinew_snapshot_destroy(snapshot);
    /* A collider much larger than the bodies does not move the camera back. */
    def.hollow = false;
    def.size[0] = def.size[2] = 1000;
    drawn(def, &triangles, &framed, &snapshot);
    assert_int_equal(triangles, 12);
    assert_int_equal(framed, 0);
    sinew_survey survey = {0};
    sinew_survey_add(&survey, snapshot);
    assert_true(survey.bounds[3] - survey.bounds[0] < 10);
    assert_true(snapshot->bounds[3] - snapshot->bounds[0] >= 1000 && snapshot->beneath == -0.5);
    sinew_snapshot_destroy(snapshot);
}

static void planes_are_the_ground(void **state)
{
    (void)state;
    static const struct {
        double angle;
        int32_t triangles;
        bool floored;
    } cases[] = {{0, 0, true}, {0.3, 2, false}, {1.57, 0, false}, {3.1, 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int32_t triangles, framed;
        sinew_snapshot *snapshot;
        sinew_collider_def def = sinew_default_collider_def(SINEW_SHAPE_PLANE);
        def.position[1] = -2;
        def.rotation[0] = (sinew_real)cases[i].angle;
        drawn(def, &triangles, &framed, &snapshot);
        assert_int_equal(triangles, cases[i].triangles);
        assert_int_equal(framed, 0);
        assert_int_equal(snapshot->floored, cases[i].floored);
        assert_true(!cases[i].floored || snapshot->floor == -2);
        sinew_snapshot_destroy(snapshot);
    }
}

/* ---- Memory ---------------------------------------------------------------------------------- */

/* Makes a snapshot and a tiny picture; returns SINEW_OK or the error. */
static sinew_status try_picture(sinew_world *world)
{
    sinew_snapshot_def def = sinew_default_snapshot_def();
    def.colour = SINEW_COLOUR_ENERGY;
    def.cut = true;
    sinew_error error = {0};
    sinew_snapshot *snapshot = sinew_snapshot_take(world, &def, &error);
    if (!snapshot)
        return error.status;
    sinew_survey survey = {0};
    sinew_survey_add(&survey, snapshot);
    sinew_picture_def picture = sinew_default_picture_def();
    picture.width = picture.height = 16;
    picture.samples = 1;
    picture.thread_count = 1;
    sinew_image image;
    const sinew_status status =
        sinew_picture_draw(&picture, &survey, &(sinew_panel){.snapshot = snapshot}, 1, &image, NULL, NULL, &error);
    assert_int_equal(status, error.status);
    unsigned char *bytes = NULL;
    size_t size = 0;
    const sinew_status encoded = status == SINEW_OK ? sinew_image_encode(&image, &bytes, &size, &error) : status;
    free(bytes);
    sinew_image_free(&image);
    sinew_snapshot_destroy(snapshot);
    return encoded;
}

static void memory_that_runs_out_is_survived(void **state)
{
    (void)state;
    scene s = make_scene(NULL);
    sinew_collider_def colliders[3] = {sinew_default_collider_def(SINEW_SHAPE_BOX),
                                       sinew_default_collider_def(SINEW_SHAPE_SPHERE),
                                       sinew_default_collider_def(SINEW_SHAPE_PLANE)};
    colliders[0].hollow = true;
    colliders[2].rotation[0] = (sinew_real)0.25;
    for (int i = 0; i < 3; i++)
        add_collider(s.world, &colliders[i]);
    assert_int_equal(try_picture(s.world), SINEW_OK);
    for (int only = 0; only < 2; only++) {
        long long number = 1, refusals = 0;
        for (;; number++) {
            const long long before = atomic_load(&failing_malloc.alive);
            failing_malloc_arm(number, only);
            const sinew_status status = try_picture(s.world);
            const bool failed = atomic_load(&failing_malloc.fails) > 0;
            failing_malloc_arm(0, false);
            assert_true(status == SINEW_OK || status == SINEW_ERROR_MEMORY);
            assert_true(atomic_load(&failing_malloc.alive) <= before);
            refusals += status == SINEW_ERROR_MEMORY;
            if (!failed)
                break;
        }
        printf("%lld allocations, %lld of them refused with a word\n", number - 1, refusals);
        assert_true(refusals > 20);
    }
    free_scene(&s);
}

int main(void)
{
    failing_malloc_install();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surfaces_are_the_worlds),
        cmocka_unit_test(creases_stay_sharp),
        cmocka_unit_test(speeds_are_those_of_the_particles),
        cmocka_unit_test(element_fields_are_means_by_volume),
        cmocka_unit_test(given_values_are_taken),
        cmocka_unit_test(what_a_cut_leaves_is_closed),
        cmocka_unit_test(pins_and_pairs_are_drawn),
        cmocka_unit_test(balls_and_tubes_are_round),
        cmocka_unit_test(the_ramp_is_even),
        cmocka_unit_test(missing_fields_are_named),
        cmocka_unit_test(blown_up_bodies_are_drawn_in_part),
        cmocka_unit_test(colliders_are_drawn),
        cmocka_unit_test(planes_are_the_ground),
        cmocka_unit_test(memory_that_runs_out_is_survived),
    };
    return cmocka_run_group_tests(tests, install_hook, remove_hook);
}
