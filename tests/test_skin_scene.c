/* SPDX-License-Identifier: MIT
 *
 * test_skin_scene.c: embedded surfaces in scenes: the shown surface, axes and units, selections by groups, materials,
 * paint and position for pins, forces, attachments and parameters, each against the embedding weights; mistakes with
 * their line.
 */
#include "skin_fixture.h"

static sinew_scene *read_text(const char *text, sinew_error *error)
{
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/test.json";
    def.text = text;
    def.text_size = strlen(text);
    return sinew_scene_read(&def, error);
}

/* A box of 2 m around the unit cube that shows a roof, with additional keys of the body. */
static void roof_scene(char *text, size_t size, const char *more)
{
    write_text("roof.obj",
               "o house\nv 0.1 0.1 0.1 1 0 0\nv 0.9 0.1 0.1 0.25 0 0\nv 0.9 0.9 0.1 0.75 0 0\nv 0.1 0.9 0.1\n"
               "v 0.5 0.5 0.9\nusemtl tiles\nf 1 2 3 4\nusemtl glass\ng gable left\nf 1 2 5\n");
    snprintf(text, size,
             "{\"sinew\": 1, \"bodies\": [\n{\"name\": \"box\",\n"
             "\"mesh\": {\"generator\": \"box\", \"vertices\": [4, 4, 4], \"origin\": [-0.5, -0.5, -0.5], "
             "\"size\": [2, 2, 2]},\n\"show\": \"roof.obj\",\n%s\n}]}",
             more);
}

static sinew_scene *need_scene(const char *more)
{
    char text[4096];
    sinew_error error = {0};
    roof_scene(text, sizeof text, more);
    sinew_scene *scene = read_text(text, &error);
    if (!scene)
        fail_msg("%s", error.text);
    return scene;
}

/* ---- The shown surface ----------------------------------------------------------------------------- */

/* A generated mesh that is filled has no file of its surface: it shows the body, and `show` = true is refused. */
static void filled_generators(void **state)
{
    (void)state;
    static const char *const generators[] = {"box", "ball", "cylinder", "torus"};
    for (size_t i = 0; i < sizeof generators / sizeof generators[0]; i++)
        for (int show = 0; show < 3; show++) {
            char text[512];
            sinew_error error = {0};
            snprintf(text, sizeof text,
                     "{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"%s\", \"fill\": {\"cells\": 5}}%s}]}",
                     generators[i],
                     show == 0   ? ""
                     : show == 1 ? ", \"show\": false"
                                 : ", \"show\": true");
            sinew_scene *scene = read_text(text, &error);
            assert_int_equal(scene != NULL, show < 2);
            if (scene)
                assert_null(
                    sinew_body_skin(sinew_scene_world(scene), sinew_world_body_at(sinew_scene_world(scene), 0)));
            else
                assert_non_null(strstr(error.text, "the mesh has no file to show"));
            sinew_scene_destroy(scene);
        }
}

static void transform_axes_and_unit(void **state)
{
    (void)state;
    write_text("tall.obj", "v 0 0 0\nv 100 0 0\nv 0 0 100\nf 1 2 3\n");
    sinew_error error = {0};
    sinew_scene *scene =
        read_text("{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\"}, \"show\": {\"file\": \"tall.obj\", "
                  "\"up\": \"z\", \"unit\": \"cm\"}, \"transform\": {\"scale\": 2, \"translate\": [5, 0, 0]}}]}",
                  &error);
    if (!scene)
        fail_msg("%s", error.text);
    sinew_world *world = sinew_scene_world(scene);
    sinew_real q[9];
    const double expected[9] = {5, 0, 0, 7, 0, 0, 5, 2, 0};
    assert_int_equal(sinew_body_skin_positions(world, sinew_world_body_at(world, 0), q), SINEW_OK);
    for (int i = 0; i < 9; i++)
        assert_true(fabs((double)q[i] - expected[i]) < CLOSE);
    sinew_scene_destroy(scene);
}

/* Each keyword rotates its axis to y without mirroring. */
static void every_axis_turns(void **state)
{
    (void)state;
    const char *const words[] = {"x", "y", "z", "-x", "-y", "-z"};
    for (int w = 0; w < 6; w++) {
        sinew_real e[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        assert_int_equal(sinew_orient_points(words[w], 1, 3, e, NULL), SINEW_OK);
        const double sign = w < 3 ? 1 : -1;
        assert_true(e[3 * (w % 3) + 1] == sign);
        const double volume = (double)(e[0] * (e[4] * e[8] - e[5] * e[7]) - e[1] * (e[3] * e[8] - e[5] * e[6]) +
                                       e[2] * (e[3] * e[7] - e[4] * e[6]));
        assert_true(volume == 1);
    }
    sinew_error error;
    assert_int_equal(sinew_orient_points("up", 1, 0, NULL, &error), SINEW_ERROR_DATA);
    assert_int_equal(sinew_orient_points("x", 0, 0, NULL, &error), SINEW_ERROR_DATA);
}

static void filled_files_are_shown(void **state)
{
    (void)state;
    const char *format = "{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"file\": \"%s/scenes/meshes/bean.obj\", \"fill\": "
                         "{\"cells\": 5}}%s}]}";
    const char *const shows[] = {"", ", \"show\": false"};
    for (int i = 0; i < 2; i++) {
        char text[2048];
        sinew_error error = {0};
        snprintf(text, sizeof text, format, SINEW_SOURCE_DIR, shows[i]);
        sinew_scene *scene = read_text(text, &error);
        if (!scene)
            fail_msg("%s", error.text);
        sinew_world *world = sinew_scene_world(scene);
        const sinew_skin *skin = sinew_body_skin(world, sinew_world_body_at(world, 0));
        assert_true((skin != NULL) == (i == 0));
        if (skin)
            assert_int_equal(sinew_skin_vertex_count(skin), 386);
        sinew_scene_destroy(scene);
    }
}

/* ---- Selections ------------------------------------------------------------------------------ */

/* Checks that the world's pins hold exactly the vertices that carry the listed vertices of the surface. */
static void assert_pinned(const char *select, int count, const int *listed)
{
    char more[1024];
    snprintf(more, sizeof more, "\"pins\": [{\"select\": %s}]", select);
    sinew_scene *scene = need_scene(more);
    sinew_world *world = sinew_scene_world(scene);
    const sinew_body body = sinew_world_body_at(world, 0);
    const int32_t *vertices = sinew_body_skin_vertices(world, body);
    const sinew_real *weights = sinew_body_skin_weights(world, body);
    bool expected[64] = {false};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 4; k++)
            if (fabs((double)weights[4 * listed[i] + k]) > 1e-6)
                expected[vertices[4 * listed[i] + k]] = true;
    bool pinned[64] = {false};
    int32_t held[64];
    assert_int_equal(sinew_world_particle_count(world), 64);
    const int32_t held_count = sinew_world_pinned(world, 64, held);
    for (int32_t i = 0; i < held_count; i++)
        pinned[held[i]] = true;
    for (int i = 0; i < 64; i++)
        assert_int_equal(pinned[i], expected[i]);
    sinew_scene_destroy(scene);
}

static void pins_take_what_carries(void **state)
{
    (void)state;
    assert_pinned("{\"surface\": {\"group\": \"house\"}}", 4, (int[]){0, 1, 2, 3});
    assert_pinned("{\"surface\": {\"group\": \"gable\"}}", 3, (int[]){0, 1, 4});
    assert_pinned("{\"surface\": {\"group\": \"left\"}}", 3, (int[]){0, 1, 4});
    assert_pinned("{\"surface\": {\"group\": \"gable left\"}}", 3, (int[]){0, 1, 4});
    assert_pinned("{\"surface\": {\"material\": \"glass\"}}", 3, (int[]){0, 1, 4});
    assert_pinned("{\"surface\": {\"paint\": \"red\"}}", 2, (int[]){0, 2});
    assert_pinned("{\"surface\": {\"paint\": {\"name\": \"red\", \"above\": 0.2, \"below\": 0.8}}}", 2, (int[]){1, 2});
    assert_pinned("{\"surface\": {\"paint\": {\"name\": \"red\", \"below\": 0.5}}}", 3, (int[]){1, 3, 4});
    assert_pinned("{\"surface\": {\"indices\": [3]}}", 1, (int[]){3});
    assert_pinned("{\"surface\": {\"box\": [[0, 0, 0.5], [1, 1, 1]]}}", 1, (int[]){4});
    assert_pinned("{\"surface\": {\"and\": [{\"group\": \"house\"}, {\"not\": {\"material\": \"glass\"}}]}}", 2,
                  (int[]){2, 3});
    assert_pinned("[{\"surface\": {\"indices\": [0]}}, {\"surface\": {\"indices\": [2]}}]", 2, (int[]){0, 2});
}

/* The forces on the body's vertices keep the sum and the torque about the origin. */
static void forces_keep_total_and_torque(void **state)
{
    (void)state;
    sinew_scene *scene =
        need_scene("\"forces\": [{\"select\": {\"surface\": {\"group\": \"gable\"}}, \"force\": [1, 2, "
                   "-3]}, {\"select\": {\"surface\": {\"indices\": [2, 3]}}, \"total\": [0, 4, 0]}]");
    sinew_world *world = sinew_scene_world(scene);
    const sinew_real *at = sinew_skin_positions(sinew_body_skin(world, sinew_world_body_at(world, 0)));
    const double pushes[5][3] = {{1, 2, -3}, {1, 2, -3}, {0, 2, 0}, {0, 2, 0}, {1, 2, -3}};
    sinew_real f[3 * 64], q[3 * 64];
    sinew_world_get_forces(world, 0, 64, f);
    sinew_world_get_positions(world, 0, 64, q);
    double sum[6] = {0};
    for (int i = 0; i < 5; i++)
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            sum[c] += pushes[i][c];
            sum[3 + c] += (double)at[3 * i + a] * pushes[i][b] - (double)at[3 * i + b] * pushes[i][a];
        }
    for (int i = 0; i < 64; i++)
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            sum[c] -= (double)f[3 * i + c];
            sum[3 + c] -= (double)(q[3 * i + a] * f[3 * i + b] - q[3 * i + b] * f[3 * i + a]);
        }
    for (int c = 0; c < 6; c++)
        assert_true(fabs(sum[c]) < 10 * CLOSE);
    sinew_scene_destroy(scene);
}

/* Young's modulus of all tets stays within the range of the paint and nearly reaches both ends. */
static void parameters_follow_paint(void **state)
{
    (void)state;
    sinew_scene *scene = need_scene("\"energies\": [{\"energy\": \"neo_hookean\", \"young\": {\"paint\": \"red\", "
                                    "\"from\": 1000, \"to\": 3000}}]");
    sinew_world *world = sinew_scene_world(scene);
    const sinew_energy energy = sinew_world_energy_at(world, 0);
    double min = 1e9, max = 0;
    for (int32_t i = 0; i < sinew_energy_element_count(world, energy); i++) {
        sinew_real young = 0;
        assert_int_equal(sinew_energy_get_parameter(world, energy, "young", i, &young, NULL), SINEW_OK);
        min = fmin(min, (double)young);
        max = fmax(max, (double)young);
    }
    assert_true(min >= 1000 - 1e-3 && min < 1200);
    assert_true(max <= 3000 + 1e-3 && max > 2800);
    sinew_scene_destroy(scene);
}

/* Two materials by groups of the surface: each tet has one of them. */
static void materials_share_the_body(void **state)
{
    (void)state;
    sinew_scene *scene =
        need_scene("\"energies\": [{\"energy\": \"neo_hookean\", \"select\": {\"surface\": {\"group\": \"house\"}}}, "
                   "{\"energy\": \"corotated\", \"select\": {\"not\": {\"surface\": {\"group\": \"house\"}}}}]");
    sinew_world *world = sinew_scene_world(scene);
    const int32_t one = sinew_energy_element_count(world, sinew_world_energy_at(world, 0));
    const int32_t two = sinew_energy_element_count(world, sinew_world_energy_at(world, 1));
    assert_true(one > 0 && two > 0);
    assert_int_equal(one + two, sinew_mesh_tet_count(sinew_body_mesh(world, sinew_world_body_at(world, 0))));
    sinew_scene_destroy(scene);
}

/* A coupling joins the positions of surface vertices: with coincident sides its energy is zero, and moving one body by
 * d makes it k/2 d^2 per pair. */
static void attachments_go_to_weighted_places(void **state)
{
    (void)state;
    char text[4096];
    sinew_error error = {0};
    roof_scene(text, sizeof text, "\"density\": 1");
    char whole[8192];
    const char *const joins[] = {"\"select\": {\"surface\": {\"group\": \"gable\"}}, \"within\": 1e-6",
                                 "\"pairs\": [[0, 0], [1, 1], [4, 4]], \"surface\": true"};
    for (int i = 0; i < 2; i++) {
        const int length = (int)(strlen(text) - strlen("]}"));
        snprintf(
            whole, sizeof whole,
            "%.*s, {\"name\": \"copy\", \"mesh\": {\"generator\": \"ball\", \"radius\": 3}, \"show\": \"roof.obj\", "
            "\"initial\": {\"transform\": {\"translate\": [0, 0, 2]}}}], \"couplings\": [{\"energy\": \"weak\", "
            "\"bodies\": [\"box\", \"copy\"], %s, \"normal_stiffness\": 10, \"tangent_stiffness\": 10}]}",
            length, text, joins[i]);
        sinew_scene *scene = read_text(whole, &error);
        if (!scene)
            fail_msg("%s", error.text);
        sinew_measures measures;
        assert_int_equal(sinew_world_measure(sinew_scene_world(scene), &measures), SINEW_OK);
        assert_true(fabs(measures.elastic - 3 * 0.5 * 10 * 4) < 1e3 * CLOSE);
        sinew_scene_destroy(scene);
    }
}

/* ---- Mistakes -------------------------------------------------------------------------------- */

static void assert_refused(const char *more, const char *words)
{
    char text[4096];
    sinew_error error = {0};
    roof_scene(text, sizeof text, more);
    sinew_scene *scene = read_text(text, &error);
    if (scene || !strstr(error.text, words))
        fail_msg("expected \"%s\", got \"%s\"", words, scene ? "a scene" : error.text);
    assert_non_null(strstr(error.text, "test.json:"));
}

static void mistakes_name_their_line(void **state)
{
    (void)state;
    assert_refused("\"pins\": [{\"select\": {\"surface\": {\"group\": \"hose\"}}}]",
                   "no group of the surface is called \"hose\"; did you mean \"house\"?");
    assert_refused("\"pins\": [{\"select\": {\"surface\": {\"group\": \"zebra\"}}}]", "known are house, gable left");
    assert_refused("\"pins\": [{\"select\": {\"surface\": {\"material\": \"tile\"}}}]", "did you mean \"tiles\"?");
    assert_refused("\"pins\": [{\"select\": {\"surface\": {\"paint\": \"rad\"}}}]", "did you mean \"red\"?");
    assert_refused("\"pins\": [{\"select\": {\"surface\": {\"indices\": [5]}}}]", "has 5 vertices of the surface");
    assert_refused("\"pins\": [{\"select\": {\"group\": \"house\"}}]", "write {\"surface\": {\"group\": ...}}");
    assert_refused("\"pins\": [{\"select\": {\"surface\": {\"surface\": \"all\"}}}]", "within another \"surface\"");
    assert_refused("\"pins\": [{\"select\": {\"surface\": {\"paint\": {\"name\": \"red\", \"above\": 7}}}}]",
                   "selects none of the 64 vertices");
    assert_refused("\"forces\": [{\"select\": {\"surface\": {\"box\": [[5, 5, 5], [6, 6, 6]]}}, \"force\": [1, 0, 0]}]",
                   "selects none of the 5 vertices of the surface");
    assert_refused("\"energies\": [{\"energy\": \"neo_hookean\", \"young\": {\"paint\": \"stiff\"}}]",
                   "no painted value of the surface is called \"stiff\"");
    assert_refused("\"energies\": [{\"energy\": \"neo_hookean\", \"young\": {\"paint\": \"green\", \"from\": -1}}]",
                   "young");
}

static void surfaces_that_are_not_there(void **state)
{
    (void)state;
    const char *const texts[][2] = {
        {"{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\"},\n\"pins\": [{\"select\": {\"surface\": "
         "\"all\"}}]}]}",
         "test.json:2: bodies[0].pins[0].select.surface: the body has no embedded surface"},
        {"{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\"},\n\"show\": true}]}",
         "the mesh has no file to show"},
        {"{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\"},\n\"show\": \"nobody.obj\"}]}", "nobody.obj"},
        {"{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\"},\n\"show\": {\"file\": \"roof.obj\", "
         "\"unit\": \"km\"}}]}",
         "check its unit and axes"},
        {"{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\"},\n\"show\": {\"file\": \"roof.obj\", "
         "\"up\": \"w\"}}]}",
         "must be one of x, y, z, -x, -y, -z"},
    };
    roof_scene((char[4096]){0}, 4096, "");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        sinew_error error = {0};
        assert_null(read_text(texts[i][0], &error));
        if (!strstr(error.text, texts[i][1]))
            fail_msg("expected \"%s\", got \"%s\"", texts[i][1], error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filled_generators),
        cmocka_unit_test(transform_axes_and_unit),
        cmocka_unit_test(every_axis_turns),
        cmocka_unit_test(filled_files_are_shown),
        cmocka_unit_test(pins_take_what_carries),
        cmocka_unit_test(forces_keep_total_and_torque),
        cmocka_unit_test(parameters_follow_paint),
        cmocka_unit_test(materials_share_the_body),
        cmocka_unit_test(attachments_go_to_weighted_places),
        cmocka_unit_test(mistakes_name_their_line),
        cmocka_unit_test(surfaces_that_are_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
