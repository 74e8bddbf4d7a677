/* SPDX-License-Identifier: MIT
 *
 * test_scene_generators.c: each key of a generator in a scene sets its number of the def: the mesh of a scene that
 * gives all keys is the one that the library makes from the same numbers, and each key alone changes the mesh.
 */
#include <stdlib.h>

#include "make_world.h"
#include "sinew/mesh.h"
#include "sinew/scene.h"

enum {
    KEYS_MAX = 6
};

static sinew_mesh *make_own_box(void)
{
    sinew_box_def def = sinew_default_box_def();
    memcpy(def.vertices, (int32_t[]){2, 3, 4}, sizeof def.vertices);
    memcpy(def.origin, (sinew_real[]){1, 2, 3}, sizeof def.origin);
    memcpy(def.size, (sinew_real[]){2, 3, 5}, sizeof def.size);
    return sinew_mesh_box(&def, NULL);
}

static sinew_mesh *make_own_beam(void)
{
    return make_beam(2, 3, 1, 2, 3, 5);
}

static sinew_round_def round_def(void)
{
    sinew_round_def def = sinew_default_round_def();
    def.radius = 2;
    def.inner_radius = (sinew_real)0.25;
    def.height = 3;
    def.segments = 5;
    def.layers = 2;
    def.rings = 3;
    return def;
}

static sinew_mesh *make_own_ball(void)
{
    const sinew_round_def def = round_def();
    return sinew_mesh_ball(&def, NULL);
}

static sinew_mesh *make_own_cylinder(void)
{
    const sinew_round_def def = round_def();
    return sinew_mesh_cylinder(&def, NULL);
}

static sinew_mesh *make_own_torus(void)
{
    const sinew_round_def def = round_def();
    return sinew_mesh_torus(&def, NULL);
}

static sinew_mesh *make_own_tube(void)
{
    const sinew_round_def def = round_def();
    return sinew_mesh_tube(&def, NULL);
}

static sinew_mesh *make_own_can(void)
{
    const sinew_round_def def = round_def();
    return sinew_mesh_can(&def, NULL);
}

static sinew_mesh *make_own_cloth(void)
{
    sinew_cloth_def def = sinew_default_cloth_def();
    memcpy(def.vertices, (int32_t[]){3, 4}, sizeof def.vertices);
    memcpy(def.origin, (sinew_real[]){1, 2, 3}, sizeof def.origin);
    memcpy(def.size, (sinew_real[]){2, 3}, sizeof def.size);
    def.diagonals = SINEW_DIAGONALS_ALTERNATING;
    return sinew_mesh_cloth(&def, NULL);
}

static sinew_mesh *make_own_rope(void)
{
    return make_rope(5, (const double[]){1, 2, 3}, (const double[]){4, 6, 8});
}

static sinew_coil_def coil_def(void)
{
    sinew_coil_def def = sinew_default_coil_def();
    def.radius = 2;
    def.pitch = (sinew_real)0.75;
    def.turns = 3;
    def.vertices = 11;
    return def;
}

static sinew_mesh *make_own_coil(void)
{
    const sinew_coil_def def = coil_def();
    return sinew_mesh_coil(&def, NULL);
}

static sinew_mesh *make_own_ring(void)
{
    const sinew_coil_def def = coil_def();
    return sinew_mesh_ring(&def, NULL);
}

#define ROUND_KEYS "\"radius\": 2", "\"segments\": 5"

static const struct {
    const char *name;
    sinew_mesh *(*make)(void);
    const char *keys[KEYS_MAX + 1];
} generators[] = {
    {"box", make_own_box, {"\"vertices\": [2, 3, 4]", "\"origin\": [1, 2, 3]", "\"size\": [2, 3, 5]"}},
    {"beam", make_own_beam, {"\"cells\": [2, 3, 1]", "\"size\": [2, 3, 5]"}},
    {"ball", make_own_ball, {ROUND_KEYS}},
    {"cylinder", make_own_cylinder, {ROUND_KEYS, "\"height\": 3", "\"layers\": 2"}},
    {"torus", make_own_torus, {ROUND_KEYS, "\"inner_radius\": 0.25", "\"layers\": 2"}},
    {"tube", make_own_tube, {ROUND_KEYS, "\"inner_radius\": 0.25", "\"height\": 3", "\"layers\": 2", "\"rings\": 3"}},
    {"can", make_own_can, {ROUND_KEYS, "\"height\": 3", "\"layers\": 2"}},
    {"cloth",
     make_own_cloth,
     {"\"vertices\": [3, 4]", "\"origin\": [1, 2, 3]", "\"width\": 2", "\"length\": 3",
      "\"diagonals\": \"alternating\""}},
    {"rope", make_own_rope, {"\"vertices\": 5", "\"from\": [1, 2, 3]", "\"to\": [4, 6, 8]"}},
    {"coil", make_own_coil, {"\"radius\": 2", "\"pitch\": 0.75", "\"turns\": 3", "\"vertices\": 11"}},
    {"ring", make_own_ring, {"\"radius\": 2", "\"vertices\": 11"}},
};

/* The scene with the keys of a generator except `without`, one of its keys; NULL: all. */
static sinew_scene *read_generator(size_t g, const char *without)
{
    char text[1024];
    int used = snprintf(text, sizeof text, "{\"sinew\": 1, \"bodies\": [{\"mass\": 1, \"mesh\": {\"generator\": \"%s\"",
                        generators[g].name);
    for (int k = 0; generators[g].keys[k]; k++)
        if (generators[g].keys[k] != without)
            used += snprintf(text + used, sizeof text - (size_t)used, ", %s", generators[g].keys[k]);
    snprintf(text + used, sizeof text - (size_t)used, "}}]}");
    sinew_error error = {0};
    sinew_scene_def def = sinew_default_scene_def();
    def.path = SINEW_TEST_DIR "/test.json";
    def.text = text;
    def.text_size = strlen(text);
    sinew_scene *scene = sinew_scene_read(&def, &error);
    must(&error);
    return scene;
}

static bool same_list(const void *a, const void *b, int32_t count, int32_t other, size_t size)
{
    return count == other && (count == 0 || memcmp(a, b, (size_t)count * size) == 0);
}

static bool same_mesh(const sinew_mesh *a, const sinew_mesh *b)
{
    return same_list(sinew_mesh_positions(a), sinew_mesh_positions(b), sinew_mesh_vertex_count(a),
                     sinew_mesh_vertex_count(b), 3 * sizeof(sinew_real)) &&
           same_list(sinew_mesh_tets(a), sinew_mesh_tets(b), sinew_mesh_tet_count(a), sinew_mesh_tet_count(b), 16) &&
           same_list(sinew_mesh_triangles(a), sinew_mesh_triangles(b), sinew_mesh_triangle_count(a),
                     sinew_mesh_triangle_count(b), 12) &&
           same_list(sinew_mesh_edges(a), sinew_mesh_edges(b), sinew_mesh_edge_count(a), sinew_mesh_edge_count(b), 8);
}

static void keys_set_their_numbers(void **state)
{
    (void)state;
    for (size_t g = 0; g < sizeof generators / sizeof generators[0]; g++) {
        sinew_mesh *own = generators[g].make();
        assert_non_null(own);
        for (int k = 0; k == 0 || generators[g].keys[k - 1]; k++) {
            const char *without = k > 0 ? generators[g].keys[k - 1] : NULL;
            sinew_scene *scene = read_generator(g, without);
            const sinew_mesh *mesh = sinew_body_mesh(sinew_scene_world(scene), (sinew_body){.index = 0});
            if (same_mesh(own, mesh) != !without)
                fail_msg("%s: the mesh %s %s", generators[g].name, without ? "is the same without" : "differs with",
                         without ? without : "all keys");
            sinew_scene_destroy(scene);
        }
        sinew_mesh_destroy(own);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(keys_set_their_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
