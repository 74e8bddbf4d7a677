/* SPDX-License-Identifier: MIT
 *
 * test_scene.c: the scene reader. Every kind of mistake is refused with its line and the right form. Selections,
 * starts, forces, couplings and materials equal independent computations from the text. The published schema equals the
 * reader's own and accepts the same scenes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "io/file.h"
#include "io/scene/reader.h"
#include "io/scene/units.h"
#include "example_scenes.h"
#include "schema_check.h"

#ifdef SINEW_SINGLE
#define EXACT 2e-5
#else
#define EXACT 1e-12
#endif

static sinew_scene *parse_with(const char *text, const char *const *settings, int32_t count, sinew_error *error)
{
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/test.json";
    def.settings = settings;
    def.setting_count = count;
    def.text = text;
    def.text_size = strlen(text);
    return sinew_scene_read(&def, error);
}

static sinew_scene *parse(const char *text)
{
    sinew_error error;
    sinew_scene *scene = parse_with(text, NULL, 0, &error);
    if (!scene)
        fail_msg("%s", error.text);
    return scene;
}

static void write_file(const char *name, const char *text)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", SINEW_TEST_DIR, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static sinew_measures measure(sinew_scene *scene)
{
    sinew_measures measures;
    assert_int_equal(sinew_world_measure(sinew_scene_world(scene), &measures), SINEW_OK);
    return measures;
}

/* All positions; the caller frees them. */
static sinew_real *positions_of(sinew_scene *scene, int32_t *count)
{
    sinew_world *world = sinew_scene_world(scene);
    *count = sinew_world_particle_count(world);
    sinew_real *q = malloc(3 * (size_t)*count * sizeof *q);
    assert_int_equal(sinew_world_get_positions(world, 0, *count, q), SINEW_OK);
    return q;
}

/* By the comment of the scene the free end sinks by density g L^2 / (2 young). */
static void test_hanging_bar_sinks_as_it_says(void **state)
{
    (void)state;
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_SOURCE_DIR "/scenes/hanging_bar.json";
    sinew_scene *scene = sinew_scene_read(&def, NULL);
    assert_non_null(scene);
    sinew_world_step(sinew_scene_world(scene), NULL);
    const sinew_real *rest = sinew_mesh_positions(sinew_body_mesh(sinew_scene_world(scene), (sinew_body){.index = 0}));
    int32_t count, free_end = 0;
    sinew_real *q = positions_of(scene, &count);
    double sunk = 0;
    for (int32_t i = 0; i < count; i++)
        if (rest[3 * i + 1] < -0.999) {
            sunk += (double)rest[3 * i + 1] - (double)q[3 * i + 1];
            free_end++;
        }
    assert_int_equal(free_end, 16);
    double expected = 1000 * 9.81 / (2 * 2e6);
    assert_true(fabs(sunk / free_end - expected) < 0.05 * expected);
    free(q);
    sinew_scene_destroy(scene);
}

/* ---- Invalid scenes -------------------------------------------------------------------------------- */

#define HEAD "{\n\"sinew\": 1,\n"
#define MESH "\"mesh\": {\"generator\": \"box\", \"vertices\": [3, 3, 3]}"
#define BODY HEAD "\"bodies\": [{\n" MESH ",\n"
#define TAIL "\n}]}"

/* In a scene that begins with BODY the case's own text starts on line 5. `by_schema`: the schema refuses it too. */
static const struct wrong {
    const char *text, *place, *fragment;
    bool by_schema;
} wrongs[] = {
    /* JSON syntax */
    {"", ":1:", "not valid JSON", false},
    {"{\n\"sinew\": 1,\n\"time_step\": NaN}", ":3:", "not valid JSON", false},
    {"{\n\"sinew\": 1,\n\"time_step\": Infinity}", ":3:", "not valid JSON", false},
    {"{\n\"sinew\": 1,\n\"time_step\": 1e999}", ":3:", "real number overflow", false},
    {"{\n\"sinew\": 1,\n\"frames\": 99999999999999999999}", ":3:", "too big integer", false},
    {"{\n\"sinew\": 1,\n\"sinew\": 1}", ":3:", "duplicate object key", false},
    {"{\n\"sinew\": 1,\n\"bodies\": [\n", ":4:", "not valid JSON", false},
    {"[]", ":1: ", "must be an object, not a list", true},
    /* the scene */
    {"{}", ":1: ", "needs the key \"sinew\"", true},
    {"{\n\"sinew\": 2, \"bodies\": []}", ":2: sinew: ", "is 2, must be >= 1 and <= 1", true},
    {"{\n\"sinew\": \"1\"}", ":2: sinew: ", "must be a whole number, not a text", true},
    {HEAD "\"bodies\": []}", ":3: bodies: ", "is empty; it needs at least 1", true},
    {HEAD "\"bodies\": {}}", ":3: bodies: ", "must be a list, not an object", true},
    {HEAD "\"bodis\": []}", ":3: bodis: ", "unknown key \"bodis\" in the scene; did you mean \"bodies\"?", true},
    {HEAD "\"zzz\": 1}", ":3: zzz: ", "known are", true},
    {HEAD "\"name\": \"a/b\", \"bodies\": [{\n" MESH "}]}", ":3: name: ", "letters, digits", false},
    {HEAD "\"name\": \"\"}", ":3: name: ", "empty text", true},
    {HEAD "\"time_step\": 0}", ":3: time_step: ", "is 0 s, must be > 0 and <= 1000000 s", true},
    {HEAD "\"time_step\": \"20 kg\"}", ":3: time_step: ", "unit \"kg\" is a mass, expected a time (s, ms, us, min)",
     true},
    {HEAD "\"time_step\": \"20 furlong\"}", ":3: time_step: ", "unknown unit \"furlong\"; expected a time", true},
    {HEAD "\"time_step\": \"20\"}", ":3: time_step: ", "has no unit", true},
    {HEAD "\"time_step\": \"soon\"}", ":3: time_step: ", "is not a number with its unit", true},
    {HEAD "\"time_step\": null}", ":3: time_step: ", "must be a number, not null", true},
    {HEAD "\"frames\": 1.5}", ":3: frames: ", "must be a whole number, not a fraction", true},
    {HEAD "\"frames\": -1}", ":3: frames: ", "is -1, must be >= 0", true},
    {HEAD "\"gravity\": [0, 1]}", ":3: gravity: ", "must be a list of 3 numbers, not of 2", true},
    {HEAD "\"gravity\": [0, 1,\ntrue]}", ":4: gravity[2]: ", "must be a number, not true or false", true},
    {HEAD "\"gravity\": -9.81}", ":3: gravity: ", "must be [x, y, z], not a number", true},
    {HEAD "\"damping\": -1}", ":3: damping: ", "is -1 1/s, must be >= 0", true},
    {HEAD "\"quasistatic\": 1}", ":3: quasistatic: ", "must be true or false, not a number", true},
    {HEAD "\"solver\": {\"name\": \"newtn\"}}",
     ":3: solver.name: ", "unknown solver \"newtn\"; did you mean \"newton\"?", true},
    {HEAD "\"solver\": {\"iterations\": -3}}", ":3: solver.iterations: ", "must be >= 0", true},
    {HEAD "\"solver\": {\"tolerance\": \"1 m\"}}", ":3: solver.tolerance: ", "must be a plain number", true},
    {HEAD "\"solver\": {\"itertions\": 3}}", ":3: solver.itertions: ", "did you mean \"iterations\"?", true},
    /* meshes */
    {HEAD "\"bodies\": [{}]}", ":3: bodies[0]: ", "needs exactly one of mesh, solid", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {}}]}", ":4: bodies[0].mesh: ", "needs exactly one of generator, file", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"bok\"}}]}",
     ":4: bodies[0].mesh.generator: ", "unknown generator \"bok\"; did you mean \"box\"?", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"box\", \"cells\": [1, 1, 1]}}]}",
     ":4: bodies[0].mesh.cells: ", "unknown key \"cells\" in bodies[0].mesh", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"box\", \"vertices\": [1, 3, 3]}}]}",
     ":4: bodies[0].mesh.vertices[0]: ", "is 1, must be >= 2", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"box\", \"vertices\": [9999, 9999, 9999]}}]}",
     ":4: bodies[0].mesh: ", "makes about 1e+12 vertices; a generator makes at most 1e+07", false},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"ball\", \"segments\": 1000}}]}",
     ":4: bodies[0].mesh: ", "a generator makes at most", false},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"tube\", \"inner_radius\": 2}}]}", ":4: bodies[0].mesh: ", "",
     false},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"ball\", \"radius\": -1}}]}",
     ":4: bodies[0].mesh.radius: ", "is -1 m, must be > 0", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"file\": \"nowhere.msh\"}}]}", ":4: bodies[0].mesh.file: ", "nowhere.msh",
     false},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"file\": \"a.msh\", \"generator\": \"box\"}}]}",
     ":4: bodies[0].mesh: ", "needs exactly one of generator, file", true},
    /* solids */
    {HEAD "\"bodies\": [{\n\"solid\": {}}]}", ":4: bodies[0].solid: ", "needs the key \"radius\"", true},
    {HEAD "\"bodies\": [{\n\"solid\": {\"radius\": 0}}]}", ":4: bodies[0].solid.radius: ", "is 0 m, must be > 0", true},
    {HEAD "\"bodies\": [{\n\"solid\": {\"radius\": 1, \"length\": -1}}]}",
     ":4: bodies[0].solid.length: ", "is -1 m, must be > 0", true},
    {HEAD "\"bodies\": [{\n\"solid\": {\"radius\": 1}}]}", ":4: bodies[0].solid: ", "shape of a rigid body", false},
    {HEAD "\"bodies\": [{\"rigid\": true, \"solid\": {\"radius\": 1},\n\"transform\": {\"scale\": 2}}]}",
     ":4: bodies[0].transform.scale: ", "does not scale a solid", false},
    {HEAD "\"bodies\": [{\"rigid\": true, \"solid\": {\"radius\": 1},\n\"show\": true}]}",
     ":4: bodies[0].show: ", "has no file to show", false},
    {HEAD "\"bodies\": [{\n" MESH ", \"solid\": {\"radius\": 1}}]}", ":3: bodies[0]: ", "exactly one of mesh, solid",
     true},
    {BODY "\"transform\": {\"scale\": 0}" TAIL, ":5: bodies[0].transform.scale: ", "must be > 0", true},
    {BODY "\"transform\": {\"scale\": [1, -1, 1]}" TAIL, ":5: bodies[0].transform.scale[1]: ", "must be > 0", true},
    {BODY "\"transform\": {\"rotate\": {\"axis\": [0, 0, 0], \"angle\": 1}}" TAIL,
     ":5: bodies[0].transform.rotate.axis: ", "must be a direction", false},
    {BODY "\"transform\": {\"rotate\": {\"axis\": \"w\", \"angle\": 1}}" TAIL,
     ":5: bodies[0].transform.rotate.axis: ", "is \"w\", must be one of x, y, z", true},
    {BODY "\"transform\": {\"rotate\": [0, 0, \"30 m\"]}" TAIL,
     ":5: bodies[0].transform.rotate[2]: ", "unit \"m\" is a length, expected an angle (rad, deg, turn)", true},
    /* mass and start */
    {BODY "\"density\": -1" TAIL, ":5: bodies[0].density: ", "is -1 kg/m3, must be > 0", true},
    {BODY "\"mass\": 0" TAIL, ":5: bodies[0].mass: ", "is 0 kg, must be > 0", true},
    {BODY "\"mass\": 1, \"density\": 1" TAIL, ":3: bodies[0]: ", "takes only one of density, mass, masses", true},
    {BODY "\"density\": \"200 g/m2\"" TAIL, ":5: bodies[0].density: ",
     "unit \"g/m2\" is a density by area, but this mesh needs a density by volume (kg/m3, g/cm3)", false},
    {BODY "\"density\": \"1 m\"" TAIL, ":5: bodies[0].density: ", "unit \"m\" is a length, expected a density", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"cloth\"}}]}",
     ":3: bodies[0]: ", "needs the key \"density\" (kg/m2)", false},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"rope\"}}]}",
     ":3: bodies[0]: ", "needs the key \"density\" (kg/m)", false},
    {BODY "\"masses\": \"few.csv\"" TAIL, ":5: bodies[0].masses: ", "few.csv: has 2 numbers, needs 27", false},
    {BODY "\"masses\": \"word.csv\"" TAIL, ":5: bodies[0].masses: ", "word.csv:2: \"x\" is not a finite number", false},
    {BODY "\"masses\": \"nan.csv\"" TAIL, ":5: bodies[0].masses: ", "nan.csv:1: ", false},
    {BODY "\"masses\": \"many.csv\"" TAIL, ":5: bodies[0].masses: ", "has more than the 27 numbers it needs", false},
    {BODY "\"masses\": \"negative.csv\"" TAIL, ":3: bodies[0]: ", "mass", false},
    {BODY "\"initial\": {\"positions\": \"none.csv\"}" TAIL, ":5: bodies[0].initial.positions: ", "cannot read", false},
    {BODY "\"initial\": {\"twist\": {\"axis\": \"x\"}}" TAIL,
     ":5: bodies[0].initial.twist: ", "needs the key \"angle\"", true},
    {BODY "\"initial\": {\"velocity\": [0, 0, \"1 m\"]}" TAIL,
     ":5: bodies[0].initial.velocity[2]: ", "expected a speed (m/s", true},
    /* energies */
    {BODY "\"energies\": [{\"energy\": \"neo_hookean\",\n\"yuong\": 1}]" TAIL, ":6: bodies[0].energies[0].yuong: ",
     "unknown key \"yuong\" in bodies[0].energies[0]; did you mean \"young\"?", true},
    {BODY "\"energies\": [{\"energy\": \"neo_hokean\"}]" TAIL,
     ":5: bodies[0].energies[0].energy: ", "unknown energy \"neo_hokean\"; did you mean \"neo_hookean\"?", true},
    {BODY "\"energies\": [{}]" TAIL, ":5: bodies[0].energies[0]: ", "needs the key \"energy\"", true},
    {BODY "\"energies\": [{\"energy\": 3}]" TAIL, ":5: bodies[0].energies[0].energy: ", "must be a word, not a number",
     true},
    {BODY "\"energies\": [{\"energy\": \"neo_hookean\", \"young\": -5}]" TAIL,
     ":5: bodies[0].energies[0].young: ", "is -5 Pa, must be > 0 Pa", true},
    {BODY "\"energies\": [{\"energy\": \"neo_hookean\", \"poisson\": 0.5}]" TAIL,
     ":5: bodies[0].energies[0].poisson: ", "is 0.5, must be ", true},
    {BODY "\"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"3 cm\"}]" TAIL,
     ":5: bodies[0].energies[0].young: ", "unit \"cm\" is a length, expected a pressure (Pa, kPa, MPa, GPa)", true},
    {BODY "\"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"1e300 GPa\"}]" TAIL,
     ":5: bodies[0].energies[0].young: ", "too large", false},
    {BODY "\"energies\": [{\"energy\": \"neo_hookean\", \"young\": {\"file\": \"few.csv\"}}]" TAIL,
     ":5: bodies[0].energies[0].young.file: ", "few.csv: has 2 numbers, needs 40", false},
    {BODY "\"energies\": [{\"energy\": \"weak\"}]" TAIL,
     ":5: bodies[0].energies[0].energy: ", "joins two bodies: put it in \"couplings\"", true},
    {HEAD "\"bodies\": [{\n\"mesh\": {\"generator\": \"rope\"}, \"density\": 1,\n\"energies\": [{\"energy\": "
          "\"neo_hookean\"}]}]}",
     ":5: bodies[0].energies[0]: ", "neo_hookean acts on tets and the mesh has none", false},
    {BODY "\"energies\": [{\"energy\": \"neo_hookean\", \"motion\": {}}]" TAIL,
     ":5: bodies[0].energies[0].motion: ", "unknown key \"motion\"", true},
    /* selections, pins, forces */
    {BODY "\"pins\": [{}]" TAIL, ":5: bodies[0].pins[0]: ", "needs the key \"select\"", true},
    {BODY "\"pins\": [{\"select\": \"all\", \"directions\": [[1, 0]]}]" TAIL,
     ":5: bodies[0].pins[0].directions[0]: ", "three numbers each", false},
    {BODY "\"pins\": [{\"select\": \"all\", \"directions\": [[0, 0, 0]]}]" TAIL,
     ":5: bodies[0].pins[0]: ", "direction 0 has no length", false},
    {BODY "\"pins\": [{\"select\": \"all\", \"directions\": [[1, 0, 0, 0]]}]" TAIL,
     ":5: bodies[0].pins[0].directions[0]: ", "three numbers each", false},
    {BODY "\"pins\": [{\"select\": {\"box\": [[5, 5, 5], [6, 6, 6]]}}]" TAIL, ":5: bodies[0].pins[0].select: ",
     "{\"box\":[[5,5,5],[6,6,6]]} selects none of the 27 vertices; they lie within [0, 0, 0] and [1, 1, 1]", false},
    {BODY "\"pins\": [{\"select\": {\"box\": [[1, 0, 0], [0, 1, 1]]}}]" TAIL,
     ":5: bodies[0].pins[0].select.box: ", "x runs from 1 to 0", false},
    {BODY "\"pins\": [{\"select\": {\"box\": [[1, 0, 0]]}}]" TAIL,
     ":5: bodies[0].pins[0].select.box: ", "must be a list of 2 corners [x, y, z], not of 1", true},
    {BODY "\"pins\": [{\"select\": {\"indices\": [0,\n27]}}]" TAIL,
     ":6: bodies[0].pins[0].select.indices[1]: ", "is 27, but the body has 27 vertices, numbered from 0", false},
    {BODY "\"pins\": [{\"select\": {\"indices\": [-1]}}]" TAIL,
     ":5: bodies[0].pins[0].select.indices[0]: ", "is -1, must be >= 0", true},
    {BODY "\"pins\": [{\"select\": {\"indices\": []}}]" TAIL, ":5: bodies[0].pins[0].select: ", "selects none", false},
    {BODY "\"pins\": [{\"select\": {\"not\": \"all\"}}]" TAIL, ":5: bodies[0].pins[0].select: ", "selects none", false},
    {BODY "\"pins\": [{\"select\": \"some\"}]" TAIL, ":5: bodies[0].pins[0].select: ", "must be \"all\", an object",
     true},
    {BODY "\"pins\": [{\"select\": []}]" TAIL, ":5: bodies[0].pins[0].select: ", "empty list", true},
    {BODY "\"pins\": [{\"select\": {\"box\": [[0,0,0],[1,1,1]], \"nearest\": [0,0,0]}}]" TAIL,
     ":5: bodies[0].pins[0].select: ", "needs exactly one of box, sphere", true},
    {BODY "\"pins\": [{\"select\": {\"half_space\": {\"point\": [0,0,0], \"normal\": [0,0,0]}}}]" TAIL,
     ":5: bodies[0].pins[0].select.half_space.normal: ", "must be a direction", false},
    {BODY "\"pins\": [{\"select\": \"all\"}, {\"select\": \"all\"}]" TAIL, ":5: bodies[0].pins[1]: ", "", false},
    {BODY "\"pins\": [{\"select\": \"all\", \"motion\": {\"keys\": []}}]" TAIL,
     ":5: bodies[0].pins[0].motion.keys: ", "is empty", true},
    {BODY "\"pins\": [{\"select\": \"all\", \"motion\": {\"keys\": [{\"time\": 1},\n{\"time\": 1}]}}]" TAIL,
     ":6: bodies[0].pins[0].motion.keys[1]: ", "times must ascend: 1 s comes after 1 s", false},
    {BODY "\"forces\": [{\"force\": [0, 0, 0], \"total\": [0, 0, 0]}]" TAIL,
     ":5: bodies[0].forces[0]: ", "needs exactly one of force, total", true},
    /* couplings */
    {BODY "\"name\": \"a\"}], \"couplings\": [{\"energy\": \"weak\", \"within\": 1,\n\"bodies\": [\"a\", \"b\"]}]}",
     ":6: couplings[0].bodies[1]: ", "no body has the name \"b\"; did you mean \"a\"?", false},
    {BODY "\"name\": \"a\"}], \"couplings\": [{\"energy\": \"spring\", \"within\": 1, \"bodies\": [\"a\", \"a\"]}]}",
     ":5: couplings[0].energy: ", "acts within one body", true},
    {BODY
     "\"name\": \"a\"}], \"couplings\": [{\"energy\": \"weak\", \"pairs\": [[0, 27]], \"bodies\": [\"a\", \"a\"]}]}",
     ":5: couplings[0].pairs[0]: ", "27 is no vertex of a body with 27 vertices", false},
    {BODY "\"name\": \"a\"}, {\n" MESH ", \"name\": \"a\"" TAIL, ":6: bodies[1].name: ", "bodies[0] has the same name",
     false},
    {BODY "\"name\": \"a\"}, {\n" MESH
          ", \"name\": \"b\", \"transform\": {\"translate\": [3, 0, 0]}}],\n\"couplings\": "
          "[{\"energy\": \"weak\", \"within\": 1, \"bodies\": [\"a\", \"b\"]}]}",
     ":7: couplings[0].within: ", "joins nothing: the nearest pair is 2 m apart", false},
};
enum {
    WRONG_COUNT = sizeof wrongs / sizeof wrongs[0]
};

static void write_wrong_files(void)
{
    write_file("few.csv", "1, 2\n");
    write_file("word.csv", "1 2 3\nx\n");
    write_file("nan.csv", "nan\n");
    char many[400] = "mass\n";
    for (int i = 0; i < 28; i++)
        strcat(many, "1\n");
    write_file("many.csv", many);
    char negative[400] = "# kg\n-1";
    for (int i = 0; i < 26; i++)
        strcat(negative, ";1");
    write_file("negative.csv", negative);
}

static void test_wrong_scenes_name_place_and_remedy(void **state)
{
    (void)state;
    write_wrong_files();
    for (int i = 0; i < WRONG_COUNT; i++) {
        sinew_error error = {0};
        sinew_scene *scene = parse_with(wrongs[i].text, NULL, 0, &error);
        if (scene)
            fail_msg("accepted:\n%s", wrongs[i].text);
        char place[512];
        snprintf(place, sizeof place, "%s/test.json%s", SINEW_TEST_DIR, wrongs[i].place);
        if (strncmp(error.text, place, strlen(place)) != 0 || !strstr(error.text, wrongs[i].fragment))
            fail_msg("%s\nsays      %s\nexpected  %s ... %s", wrongs[i].text, error.text, place, wrongs[i].fragment);
        assert_null(strchr(error.text, '\n'));
    }
}

#ifdef SINEW_SINGLE
static void test_numbers_beyond_single_are_refused(void **state)
{
    (void)state;
    sinew_error error;
    assert_null(parse_with(BODY "\"density\": 1e-60" TAIL, NULL, 0, &error));
    assert_non_null(strstr(error.text, "is 0 kg/m3, must be > 0"));
    assert_null(parse_with(HEAD "\"gravity\": [0, 1e60, 0]}", NULL, 0, &error));
    assert_non_null(strstr(error.text, "too large for a number in single precision"));
}
#endif

/* ---- Settings -------------------------------------------------------------------------------- */

static const char plain_scene[] = BODY "\"density\": 500,\n\"energies\": [{\"energy\": \"neo_hookean\"}],\n"
                                       "\"pins\": [{\"select\": {\"nearest\": [0, 0, 0]}}]" TAIL;

static void test_settings_replace_and_add(void **state)
{
    (void)state;
    const char *settings[] = {"bodies.0.density=1 g/cm3",
                              "solver.iterations=7",
                              "frames=12",
                              "name=other",
                              "gravity=[0, 0, \"-3 m/s2\"]",
                              "bodies.0.energies.0.young=2 MPa"};
    sinew_error error;
    sinew_scene *scene = parse_with(plain_scene, settings, 6, &error);
    if (!scene)
        fail_msg("%s", error.text);
    assert_int_equal(sinew_scene_solver(scene).iterations, 7);
    assert_int_equal(sinew_scene_frames(scene), 12);
    assert_string_equal(sinew_scene_name(scene), "other");
    assert_true(fabs(measure(scene).mass - 1000) < 1000 * EXACT);
    /* The same scene, written out. */
    sinew_scene *second =
        parse("{\"sinew\": 1, \"gravity\": [0, 0, -3], \"solver\": {\"iterations\": 7}, \"bodies\": [{" MESH
              ", \"density\": 1000, \"energies\": [{\"energy\": \"neo_hookean\", \"young\": 2000000}], \"pins\": "
              "[{\"select\":"
              "{\"indices\": [0]}}]}]}");
    for (int i = 0; i < 3; i++) {
        sinew_world_step(sinew_scene_world(scene), NULL);
        sinew_world_step(sinew_scene_world(second), NULL);
    }
    assert_true(sinew_world_state_hash(sinew_scene_world(scene)) == sinew_world_state_hash(sinew_scene_world(second)));
    sinew_scene_destroy(scene);
    sinew_scene_destroy(second);
}

static void test_another_solver_starts_from_its_presets(void **state)
{
    (void)state;
    const char *text = HEAD "\"solver\": {\"iterations\": 3, \"tolerance\": 0.25},\n\"bodies\": [{\n" MESH "}]}";
    const char *same[] = {"solver.name=newton"};
    sinew_scene *scene = parse_with(text, same, 1, NULL);
    assert_non_null(scene);
    assert_int_equal(sinew_scene_solver(scene).iterations, 3);
    assert_true(sinew_scene_solver(scene).tolerance == (sinew_real)0.25);
    sinew_scene_destroy(scene);
}

static void test_wrong_settings(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *fragment;
    } cases[] = {
        {"frames", "expected KEY=VALUE"},
        {"=1", "expected KEY=VALUE"},
        {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f.g=1", "goes deeper than any part of a scene"},
        {"a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q.r.s.t.u.v.w.x.y.z.a.b.c.d.e.f=1", "unknown key \"a\""},
        {"a_key_of_more_letters_than_keys_are_allowed=1", "unknown key"},
        {"frames=1..................................2", "--set frames=1.."},
        {"frmes=1", "--set frmes=1: unknown key \"frmes\" in the scene; did you mean \"frames\"?"},
        {"bodies.0.densty=1", "did you mean \"density\"?"},
        {"bodies.3.density=1", "bodies has 1 entries, numbered from 0; \"3\" is not one of them"},
        {"bodies.x.density=1", "\"x\" is not one of them"},
        {"sinew.x=1", "sinew is a number and has no part \"x\""},
        {"bodies.0.density=-2", "--set bodies.0.density=-2: is -2 kg/m3, must be > 0"},
        {"bodies.0.density=NaN", "is not a number with its unit"},
        {"bodies.0.density=1e999", "too large"},
        {"bodies.0.density=", "is not a number with its unit"},
        {"gravity=[0, 1", "--set gravity=[0, 1: "},
        {"bodies.0.mesh={\"generator\": \"bax\"}", "unknown generator \"bax\"; did you mean \"box\"?"},
        {"solver.name=nwton", "unknown solver \"nwton\"; did you mean \"newton\"?"},
        {"..=1", "unknown key"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sinew_error error = {0};
        assert_null(parse_with(plain_scene, &cases[i].setting, 1, &error));
        if (strncmp(error.text, "--set ", 6) != 0 || !strstr(error.text, cases[i].fragment))
            fail_msg("%s says %s, expected %s", cases[i].setting, error.text, cases[i].fragment);
    }
}

/* ---- Built worlds ---------------------------------------------------------------------------------- */

/* Pinned vertices stay exactly; all others fall. */
static void check_held(const char *select, bool (*inside)(const sinew_real *x, int32_t index))
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\", \"vertices\": [4, 5, 3]}, \"pins\": "
             "[{\"select\": %s}]}]}",
             select);
    sinew_scene *scene = parse(text);
    int32_t count;
    sinew_real *before = positions_of(scene, &count);
    sinew_world_step(sinew_scene_world(scene), NULL);
    sinew_real *after = positions_of(scene, &count);
    for (int32_t i = 0; i < count; i++)
        if ((after[3 * i + 1] == before[3 * i + 1]) != inside(before + 3 * i, i))
            fail_msg("%s: vertex %d at %g %g %g", select, i, (double)before[3 * i], (double)before[3 * i + 1],
                     (double)before[3 * i + 2]);
    free(before);
    free(after);
    sinew_scene_destroy(scene);
}

static bool in_low_box(const sinew_real *x, int32_t i)
{
    (void)i;
    return x[0] < 0.4 && x[1] < 0.6;
}
static bool in_ball(const sinew_real *x, int32_t i)
{
    (void)i;
    return x[0] * x[0] + x[1] * x[1] + x[2] * x[2] < 0.6 * 0.6;
}
static bool above(const sinew_real *x, int32_t i)
{
    (void)i;
    return x[0] + x[1] >= 1.1;
}
static bool listed(const sinew_real *x, int32_t i)
{
    (void)x;
    return i == 3 || i == 17 || i == 59;
}
static bool corner(const sinew_real *x, int32_t i)
{
    (void)i;
    return x[0] > 0.9 && x[1] > 0.9 && x[2] > 0.9;
}
static bool not_ball(const sinew_real *x, int32_t i)
{
    return !in_ball(x, i);
}
static bool ball_or_listed(const sinew_real *x, int32_t i)
{
    return in_ball(x, i) || listed(x, i);
}
static bool box_and_not_ball(const sinew_real *x, int32_t i)
{
    return in_low_box(x, i) && !in_ball(x, i);
}
static bool everything(const sinew_real *x, int32_t i)
{
    (void)x;
    (void)i;
    return true;
}

static void test_selections(void **state)
{
    (void)state;
    check_held("\"all\"", everything);
    check_held("{\"box\": [[0, 0, 0], [0.4, 0.6, 1]]}", in_low_box);
    check_held("{\"sphere\": {\"centre\": [0, 0, 0], \"radius\": \"60 cm\"}}", in_ball);
    check_held("{\"half_space\": {\"point\": [1.1, 0, 0], \"normal\": [2, 2, 0]}}", above);
    check_held("{\"indices\": [17, 3, 59, 3]}", listed);
    check_held("{\"nearest\": [2, 3, 4]}", corner);
    check_held("{\"not\": {\"sphere\": {\"centre\": [0, 0, 0], \"radius\": 0.6}}}", not_ball);
    check_held("[{\"sphere\": {\"centre\": [0, 0, 0], \"radius\": 0.6}}, {\"indices\": [3, 17, 59]}]", ball_or_listed);
    check_held("{\"and\": [{\"box\": [[0, 0, 0], [0.4, 0.6, 1]]}, {\"not\": {\"sphere\": {\"centre\": [0, 0, 0], "
               "\"radius\": 0.6}}}]}",
               box_and_not_ball);
}

static void test_transform_and_twist(void **state)
{
    (void)state;
    sinew_scene *scene = parse(
        "{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"beam\"}, \"transform\": {\"pivot\": [1, 0, 0], "
        "\"scale\": [2, 1, 1], \"rotate\": {\"axis\": \"z\", \"angle\": \"0.25 turn\"}, \"translate\": [0, 0, 5]}},"
        "{\"mesh\": {\"generator\": \"beam\"}, \"initial\": {\"twist\": {\"axis\": \"x\", \"angle\": \"180 deg\"},"
        "\"transform\": {\"translate\": [0, 3, 0]}}}]}");
    int32_t count;
    sinew_real *q = positions_of(scene, &count);
    sinew_beam_def beam = sinew_default_beam_def();
    sinew_mesh *mesh = sinew_mesh_beam(&beam, NULL);
    const sinew_real *rest = sinew_mesh_positions(mesh);
    int32_t half = count / 2;
    assert_int_equal(half, sinew_mesh_vertex_count(mesh));
    for (int32_t i = 0; i < half; i++) {
        /* A quarter turn about z maps (x, y) to (-y, x). */
        double x = rest[3 * i], y = rest[3 * i + 1], z = rest[3 * i + 2];
        assert_true(fabs(q[3 * i] - (1 - y)) < EXACT);
        assert_true(fabs(q[3 * i + 1] - 2 * (x - 1)) < 10 * EXACT);
        assert_true(fabs(q[3 * i + 2] - (z + 5)) < 10 * EXACT);
        double a = 3.14159265358979323846 * (x + 1.5) / 3;
        const sinew_real *twisted = q + 3 * (half + i);
        assert_true(fabs(twisted[0] - x) < EXACT);
        assert_true(fabs(twisted[1] - (y * cos(a) - z * sin(a) + 3)) < 10 * EXACT);
        assert_true(fabs(twisted[2] - (y * sin(a) + z * cos(a))) < 10 * EXACT);
    }
    /* The rest shape of the second body is not twisted. */
    const sinew_mesh *kept = sinew_body_mesh(sinew_scene_world(scene), (sinew_body){.index = 1});
    assert_memory_equal(sinew_mesh_positions(kept), rest, 3 * (size_t)half * sizeof *rest);
    sinew_mesh_destroy(mesh);
    free(q);
    sinew_scene_destroy(scene);
}

#define MARK "\xEF\xBB\xBF"

static void test_positions_and_velocities_from_files(void **state)
{
    (void)state;
    /* A UTF-8 byte order mark is accepted before a heading and before a number. */
    write_file("start.csv", MARK "x,y,z\n0,0,0\n0,0,2 # stretched\n");
    write_file("speeds.csv", "1 0 0\n0 1 0\n");
    write_file("masses.csv", MARK "2; 3");
    sinew_scene *scene =
        parse(MARK "{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"rope\", \"vertices\": 2}, "
                   "\"masses\": \"masses.csv\", \"initial\": {\"positions\": \"start.csv\", \"velocities\": "
                   "\"speeds.csv\", \"velocity\": [0, 0, \"36 km/h\"]}}]}");
    int32_t count;
    sinew_real *q = positions_of(scene, &count), v[6];
    assert_int_equal(count, 2);
    assert_true(q[5] == 2 && q[3] == 0);
    sinew_world_get_velocities(sinew_scene_world(scene), 0, 2, v);
    assert_true(v[0] == 1 && v[4] == 1 && fabs(v[2] - 10) < EXACT && fabs(v[5] - 10) < EXACT);
    assert_true(fabs(measure(scene).mass - 5) < EXACT);
    free(q);
    sinew_scene_destroy(scene);
}

static void test_mass_is_spread(void **state)
{
    (void)state;
    static const char *const meshes[] = {"\"generator\": \"ball\"", "\"generator\": \"cloth\"",
                                         "\"generator\": \"rope\", \"to\": [0, 2, 0]"};
    for (int i = 0; i < 3; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"sinew\": 1, \"bodies\": [{\"mesh\": {%s}, \"mass\": \"700 g\"}]}", meshes[i]);
        sinew_scene *scene = parse(text);
        assert_true(fabs(measure(scene).mass - 0.7) < 0.7 * 10 * EXACT);
        sinew_scene_destroy(scene);
    }
}

/* A free body: a step changes its momentum by h times the sum of forces. */
static void test_forces_add_up(void **state)
{
    (void)state;
    sinew_scene *scene = parse(
        "{\"sinew\": 1, \"time_step\": 0.125, \"gravity\": [0, -8, 0], \"bodies\": [{" MESH ", \"mass\": 2, "
        "\"forces\": [{\"total\": [3, 0, 0], \"select\": {\"half_space\": {\"point\": [1, 0, 0], \"normal\": [1, 0, "
        "0]}}}, {\"force\": [0, 0, 1]}, {\"force\": [0, 0, \"1 kN\"], \"select\": {\"indices\": [4]}}]}]}");
    sinew_world_step(sinew_scene_world(scene), NULL);
    sinew_measures m = measure(scene);
    assert_true(fabs(m.linear_momentum[0] - 0.125 * 3) < 100 * EXACT);
    assert_true(fabs(m.linear_momentum[1] - 0.125 * -16) < 100 * EXACT);
    assert_true(fabs(m.linear_momentum[2] - 0.125 * 1027) < 1000 * EXACT);
    sinew_scene_destroy(scene);
}

static void test_spin_has_no_momentum(void **state)
{
    (void)state;
    sinew_scene *scene = parse("{\"sinew\": 1, \"bodies\": [{" MESH ", \"transform\": {\"translate\": [4, 5, 6]}, "
                               "\"initial\": {\"angular_velocity\": [0, 0, \"180 deg/s\"]}}]}");
    sinew_measures m = measure(scene);
    for (int k = 0; k < 3; k++)
        assert_true(fabs(m.linear_momentum[k]) < 1000 * 10 * EXACT);
    /* Kinetic energy of a spin: w L / 2, and L along z only. */
    double w = 3.14159265358979323846;
    assert_true(fabs(m.kinetic - 0.5 * w * m.angular_momentum[2]) < m.kinetic * 100 * EXACT);
    assert_true(m.kinetic > 100);
    sinew_scene_destroy(scene);
}

/* Two unit boxes 1 mm apart: every vertex of one face is joined to a point 1 mm away. */
static void test_couplings_join_what_is_near(void **state)
{
    (void)state;
    static const char *const joins[] = {"\"within\": \"2 mm\"", "\"within\": \"2 mm\", \"to\": \"vertices\"",
                                        "\"pairs\": [[6, 0], [7, 1], [8, 2]]"};
    static const int counts[] = {25, 9, 3};
    for (int i = 0; i < 3; i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "{\"sinew\": 1, \"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"box\", \"vertices\": [%s]}}, "
            "{\"name\": \"b\", \"mesh\": {\"generator\": \"box\", \"vertices\": [3, 3, 3], \"origin\": [0, 1.001, "
            "0]}}], \"couplings\": [{\"energy\": \"weak\", \"bodies\": [\"a\", \"b\"], %s, \"normal\": [0, 1, 0], "
            "\"normal_stiffness\": 3000, \"tangent_stiffness\": 0}]}",
            i == 0 ? "5, 5, 5" : "3, 3, 3", joins[i]);
        sinew_scene *scene = parse(text);
        double expected = counts[i] * 0.5 * 3000 * 0.001 * 0.001;
        double tolerance = sizeof(sinew_real) == sizeof(float) ? 1e-3 : 1e-9;
        if (fabs(measure(scene).elastic - expected) > expected * tolerance)
            fail_msg("%s: %g J, expected %g", joins[i], measure(scene).elastic, expected);
        sinew_scene_destroy(scene);
    }
}

/* Per-element values from a file against the same values as two energies on complementary selections. */
static void test_element_values_from_a_file(void **state)
{
    (void)state;
    char values[4096] = "";
    sinew_box_def box = sinew_default_box_def();
    for (int k = 0; k < 3; k++)
        box.vertices[k] = 3;
    sinew_mesh *mesh = sinew_mesh_box(&box, NULL);
    const sinew_real *x = sinew_mesh_positions(mesh);
    for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        double y = 0;
        for (int c = 0; c < 4; c++)
            y += x[3 * sinew_mesh_tets(mesh)[4 * t + c] + 1] / 4;
        strcat(values, y > 0.5 ? "3e5\n" : "1e4\n");
    }
    sinew_mesh_destroy(mesh);
    write_file("young.csv", values);
    static const char *const energies[] = {
        "{\"energy\": \"corotated\", \"young\": {\"file\": \"young.csv\"}}",
        "{\"energy\": \"corotated\", \"young\": 3e5, \"select\": {\"half_space\": {\"point\": [0, 0.5, 0], \"normal\": "
        "[0, 1, 0]}}}, {\"energy\": \"corotated\", \"young\": {\"file\": \"young.csv\"}, \"select\": {\"not\": "
        "{\"half_space\": {\"point\": [0, 0.5, 0], \"normal\": [0, 1, 0]}}}}"};
    double elastic[2];
    for (int i = 0; i < 2; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{\"sinew\": 1, \"bodies\": [{" MESH ", \"initial\": {\"transform\": {\"scale\": [1.1, 0.9, 1]}}, "
                 "\"energies\": [%s]}]}",
                 energies[i]);
        sinew_scene *scene = parse(text);
        elastic[i] = measure(scene).elastic;
        sinew_scene_destroy(scene);
    }
    assert_true(elastic[0] > 100);
    assert_true(fabs(elastic[0] - elastic[1]) < elastic[0] * 100 * EXACT);
}

/* ---- Words ----------------------------------------------------------------------------------- */

/* A scene in memory needs no file; its optional path is the base of mesh paths. */
static void test_text_in_memory(void **state)
{
    (void)state;
    static const char text[] = "{\"sinew\": 1,\n\"bodies\": [{\"name\": \"a\", \"mesh\": {\"generator\": \"box\"}},\n"
                               "{\"name\": \"b\", \"mesh\": {\"file\": \"memory.obj\"}, \"density\": 1}]} and more";
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    write_file("memory.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
    def.text = text;
    def.text_size = strlen(text) - strlen(" and more");
    assert_null(sinew_scene_read(&def, &error));
    assert_non_null(strstr(error.text, "scene:3: bodies[1].mesh.file: "));
    def.path = SINEW_TEST_DIR "/nowhere.json";
    sinew_scene *scene = sinew_scene_read(&def, &error);
    if (!scene)
        fail_msg("%s", error.text);
    assert_string_equal(sinew_scene_name(scene), "nowhere");
    assert_int_equal(sinew_scene_body(scene, "a").index, 0);
    assert_int_equal(sinew_scene_body(scene, "b").index, 1);
    assert_int_equal(sinew_scene_body(scene, "c").index, -1);
    assert_string_equal(sinew_body_name(sinew_scene_world(scene), sinew_scene_body(scene, "b")), "b");
    sinew_scene_destroy(scene);
    def.text_size = strlen(text);
    assert_null(sinew_scene_read(&def, &error));
    assert_non_null(strstr(error.text, "nowhere.json:3:"));
    def.path = NULL;
    def.text = "{\"sinew\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\"}}]}";
    def.text_size = strlen(def.text);
    scene = sinew_scene_read(&def, NULL);
    assert_string_equal(sinew_scene_name(scene), "scene");
    sinew_scene_destroy(scene);
    def.text_size = 0;
    assert_null(sinew_scene_read(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_FORMAT);
}

static void test_nearest_name(void **state)
{
    (void)state;
    const char *names[] = {"young", "poisson", "density", "x"};
    assert_string_equal(sinew_nearest_name("yuong", names, 4), "young");
    assert_string_equal(sinew_nearest_name("youngs", names, 4), "young");
    assert_string_equal(sinew_nearest_name("densty", names, 4), "density");
    assert_null(sinew_nearest_name("gravity", names, 4));
    assert_null(sinew_nearest_name("anything", names, 0));
}

static void test_units(void **state)
{
    (void)state;
    assert_true(sinew_unit_by_name("MPa")->factor == 1e6);
    assert_int_equal(sinew_unit_dimension("N/m"), SINEW_DIMENSION_STIFFNESS);
    assert_int_equal(sinew_unit_dimension(""), SINEW_DIMENSION_NONE);
    assert_int_equal(sinew_unit_dimension("parsec"), SINEW_DIMENSION_OTHER);
    /* Every unit that a descriptor uses is in the table of units, so that scenes may use it. */
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_info *info = sinew_get_energy_info((sinew_energy_kind)kind);
        for (int32_t i = 0; i < info->parameter_count; i++)
            if (sinew_unit_dimension(info->parameters[i].unit) == SINEW_DIMENSION_OTHER)
                fail_msg("%s.%s is in %s", info->name, info->parameters[i].name, info->parameters[i].unit);
    }
}

/* ---- Schema ---------------------------------------------------------------------------------- */

static json_t *read_schema(void)
{
    json_error_t error;
    json_t *schema = json_load_file(SINEW_SOURCE_DIR "/docs/reference/scene.schema.json", 0, &error);
    if (!schema)
        fail_msg("docs/reference/scene.schema.json:%d: %s", error.line, error.text);
    return schema;
}

/* The published schema may differ from the reader's in wording. */
static void strip_descriptions(json_t *value)
{
    const char *key;
    json_t *member;
    size_t i;
    if (json_is_string(json_object_get(value, "description")))
        json_object_del(value, "description");
    json_object_foreach(value, key, member) strip_descriptions(member);
    json_array_foreach(value, i, member) strip_descriptions(member);
}

static void test_published_schema_is_the_readers(void **state)
{
    (void)state;
    size_t size = sinew_scene_schema(NULL, 0);
    char *text = malloc(size + 1);
    assert_int_equal(sinew_scene_schema(text, size + 1), size);
    assert_int_equal(strlen(text), size);
    json_t *ours = json_loads(text, 0, NULL), *published = read_schema();
    strip_descriptions(ours);
    strip_descriptions(published);
    if (!json_equal(ours, published))
        fail_msg(
            "docs/reference/scene.schema.json is out of date: sinew info schema > docs/reference/scene.schema.json");
    json_decref(ours);
    json_decref(published);
    free(text);
}

static void count_misuse(const char *condition, const char *file, int line, void *context)
{
    (void)condition;
    (void)file;
    (void)line;
    ++*(int *)context;
}

static void test_schema_without_capacity(void **state)
{
    (void)state;
    int misuses = 0;
    sinew_set_assert_handler(count_misuse, &misuses);
    assert_int_equal(sinew_scene_schema(NULL, 10), 0);
    sinew_set_assert_handler(NULL, NULL);
    assert_int_equal(misuses, 1);
    char little[10];
    assert_true(sinew_scene_schema(little, sizeof little) > sizeof little);
    assert_int_equal(strlen(little), sizeof little - 1);
}

static void check_schema(const char *path, void *context)
{
    json_t *schema = context, *scene = json_load_file(path, 0, NULL);
    if (!schema_holds(schema, schema, scene))
        fail_msg("%s does not satisfy docs/reference/scene.schema.json", path);
    json_decref(scene);
}

static void test_schema_tells_right_from_wrong(void **state)
{
    (void)state;
    json_t *schema = read_schema();
    each_scene(check_schema, schema);
    for (int i = 0; i < WRONG_COUNT; i++) {
        json_t *scene = json_loads(wrongs[i].text, JSON_DECODE_ANY, NULL);
        if (scene && wrongs[i].by_schema && schema_holds(schema, schema, scene))
            fail_msg("the schema accepts\n%s", wrongs[i].text);
        json_decref(scene);
    }
    json_decref(schema);
}

/* ---- Documentation --------------------------------------------------------------------------- */

static char *read_page(void)
{
    sinew_allocator system = sinew_allocator_or_system(NULL);
    size_t size;
    char *page = sinew_file_read(SINEW_SOURCE_DIR "/docs/reference/scene.md", &system, &size, NULL);
    assert_non_null(page);
    return page;
}

static void test_page_example_loads_and_steps(void **state)
{
    (void)state;
    char *page = read_page();
    char *begin = strstr(page, "```json\n"), *end = begin ? strstr(begin + 8, "```") : NULL;
    assert_non_null(end);
    *end = '\0';
    sinew_scene *scene = parse(begin + 8);
    assert_string_equal(sinew_scene_name(scene), "example");
    for (int i = 0; i < 4; i++)
        assert_int_equal(sinew_world_step(sinew_scene_world(scene), NULL) & UNWANTED, 0);
    sinew_scene_destroy(scene);
    free(page);
}

/* Every key of a shape, except those from descriptors, is in the page. */
static void check_documented(const char *page, const sinew_shape *shape)
{
    for (int32_t i = 0; i < shape->field_count; i++) {
        char key[64], quoted[64];
        snprintf(key, sizeof key, "`%s`", shape->fields[i].name);
        snprintf(quoted, sizeof quoted, "\"%s\"", shape->fields[i].name);
        if (!strstr(page, key) && !strstr(page, quoted))
            fail_msg("docs/reference/scene.md does not name %s of a %s", key, shape->name);
        if (shape->fields[i].shape)
            check_documented(page, shape->fields[i].shape);
    }
}

static void test_page_names_every_key(void **state)
{
    (void)state;
    char *page = read_page();
    check_documented(page, &sinew_scene_shape);
    check_documented(page, &sinew_selection_shape);
    for (int32_t i = 0; sinew_generator_name(i); i++) {
        sinew_field fields[SINEW_FIELD_MAX];
        int32_t count = sinew_generator_fields(sinew_generator_name(i), fields);
        check_documented(page, &(sinew_shape){.name = sinew_generator_name(i), .fields = fields, .field_count = count});
    }
    free(page);
}

/* ---- Use ------------------------------------------------------------------------------------- */

static void test_usage_errors(void **state)
{
    (void)state;
    sinew_error error;
    sinew_scene_def def = sinew_default_scene_def();
    assert_null(sinew_scene_read(NULL, &error));
    assert_null(sinew_scene_read(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
    def.path = SINEW_TEST_DIR;
    assert_null(sinew_scene_read(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_FILE);
    def.path = SINEW_TEST_DIR "/nowhere.json";
    assert_null(sinew_scene_read(&def, NULL));
    sinew_scene_destroy(NULL);
    assert_string_equal(sinew_scene_name(NULL), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hanging_bar_sinks_as_it_says),
        cmocka_unit_test(test_wrong_scenes_name_place_and_remedy),
#ifdef SINEW_SINGLE
        cmocka_unit_test(test_numbers_beyond_single_are_refused),
#endif
        cmocka_unit_test(test_settings_replace_and_add),
        cmocka_unit_test(test_another_solver_starts_from_its_presets),
        cmocka_unit_test(test_wrong_settings),
        cmocka_unit_test(test_selections),
        cmocka_unit_test(test_transform_and_twist),
        cmocka_unit_test(test_positions_and_velocities_from_files),
        cmocka_unit_test(test_mass_is_spread),
        cmocka_unit_test(test_forces_add_up),
        cmocka_unit_test(test_spin_has_no_momentum),
        cmocka_unit_test(test_couplings_join_what_is_near),
        cmocka_unit_test(test_element_values_from_a_file),
        cmocka_unit_test(test_text_in_memory),
        cmocka_unit_test(test_nearest_name),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_published_schema_is_the_readers),
        cmocka_unit_test(test_schema_without_capacity),
        cmocka_unit_test(test_schema_tells_right_from_wrong),
        cmocka_unit_test(test_page_example_loads_and_steps),
        cmocka_unit_test(test_page_names_every_key),
        cmocka_unit_test(test_usage_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
