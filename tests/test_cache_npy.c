/* SPDX-License-Identifier: MIT
 *
 * test_cache_npy.c: caches of NumPy arrays read back by an independent reader (npy_file.h): headers, shapes, numbers
 * against the formula, the index, skins.
 */
#include "npy_file.h"

#include <jansson.h>

#include "sinew/skin.h"

static const char *const real_type = sizeof(sinew_real) == 8 ? "<f8" : "<f4";

/* ---- Arrays ------------------------------------------------------------------------------------- */

static void check_moving(const char *folder, int frames)
{
    npy_file q = npy_read(folder, "positions"), v = npy_read(folder, "velocities"), time = npy_read(folder, "time");
    npy_expect(&q, real_type, 3, frames, particles, 3);
    npy_expect(&v, real_type, 3, frames, particles, 3);
    npy_expect(&time, "<f8", 1, frames, 0, 0);
    for (int k = 0; k < frames; k++) {
        assert_true(fabs(npy_at(&time, k) - k / 60.0) < 1e-6);
        for (int i = 0; i < 3 * particles; i++) {
            assert_true((sinew_real)npy_at(&q, 3 * particles * k + i) == q_at(k, i / 3, i % 3));
            assert_true((sinew_real)npy_at(&v, 3 * particles * k + i) == v_at(k, i / 3, i % 3));
        }
    }
    npy_free(&q);
    npy_free(&v);
    npy_free(&time);
}

static void check_cells(const char *folder)
{
    npy_file tets = npy_read(folder, "tets"), faces = npy_read(folder, "triangles"), edges = npy_read(folder, "edges");
    npy_file material = npy_read(folder, "material");
    npy_expect(&tets, "<i4", 2, 8, 4, 0);
    npy_expect(&faces, "<i4", 2, 2, 3, 0);
    npy_expect(&edges, "<i4", 2, 7, 2, 0);
    npy_expect(&material, "<i4", 1, 8, 0, 0);
    for (int i = 0; i < 16; i++) {
        assert_true(npy_at(&tets, i) == tets_inner_first[i]);
        assert_true(npy_at(&tets, 16 + i) == 12 + tets_inner_last[i]);
    }
    for (int i = 0; i < 6; i++)
        assert_true(npy_at(&faces, i) == 5 + cloth_triangles[i]);
    for (int i = 0; i < 10; i++)
        assert_true(npy_at(&edges, i) == 5 + cloth_edges[i]);
    for (int i = 0; i < 4; i++)
        assert_true(npy_at(&edges, 10 + i) == 9 + rope_edges[i]);
    for (int i = 0; i < 8; i++)
        assert_true(npy_at(&material, i) == -1); /* the world has no energies */
    npy_free(&tets);
    npy_free(&faces);
    npy_free(&edges);
    npy_free(&material);
}

/* Checks that every array of the index exists with its shape and type. */
static json_t *check_index(const char *folder, int frames)
{
    size_t size;
    char *text = slurp(folder, "run.npy.json", &size);
    json_t *root = json_loadb(text, size, 0, NULL);
    free(text);
    assert_non_null(root);
    assert_int_equal(json_integer_value(json_object_get(root, "sinew_npy")), 1);
    assert_int_equal(json_integer_value(json_object_get(root, "frames")), frames);
    assert_int_equal(json_integer_value(json_object_get(root, "particles")), particles);
    assert_true(json_real_value(json_object_get(root, "fps")) == 25);
    assert_string_equal(json_string_value(json_object_get(root, "precision")), SINEW_PRECISION);
    const json_t *arrays = json_object_get(root, "arrays");
    for (size_t i = 0; i < json_array_size(arrays); i++) {
        const json_t *entry = json_array_get(arrays, i), *shape = json_object_get(entry, "shape");
        const char *name = json_string_value(json_object_get(entry, "name"));
        char file[128];
        snprintf(file, sizeof file, "run.%s.npy", name);
        assert_string_equal(json_string_value(json_object_get(entry, "file")), file);
        assert_true(strlen(json_string_value(json_object_get(entry, "axes"))) > 0);
        npy_file array = npy_read(folder, name);
        assert_string_equal(json_string_value(json_object_get(entry, "type")), array.type);
        assert_int_equal(json_array_size(shape), array.rank);
        for (int k = 0; k < array.rank; k++)
            assert_int_equal(json_integer_value(json_array_get(shape, (size_t)k)), array.shape[k]);
        npy_free(&array);
    }
    return root;
}

static void arrays_and_index(void **state)
{
    (void)state;
    const int counts[][2] = {{0, 0}, {0, 1}, {3, 3}, {90, 2}};
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const int frames = counts[c][1];
        const char *folder = write_all(IN_SCRATCH("npy"), SINEW_CACHE_NPY, counts[c][0], frames);
        assert_listing(folder, "run.edges.npy run.material.npy run.npy.json run.positions.npy run.tets.npy "
                               "run.time.npy run.triangles.npy run.velocities.npy");
        check_moving(folder, frames);
        check_cells(folder);
        json_t *root = check_index(folder, frames);
        const json_t *bodies = json_object_get(root, "bodies");
        const int first[4] = {0, 5, 9, 12}, count[4] = {5, 4, 3, 5};
        assert_int_equal(json_array_size(bodies), 4);
        for (size_t i = 0; i < 4; i++) {
            const json_t *body = json_array_get(bodies, i);
            assert_int_equal(json_integer_value(json_object_get(body, "first")), first[i]);
            assert_int_equal(json_integer_value(json_object_get(body, "count")), count[i]);
        }
        json_decref(root);
    }
}

/* ---- Skins -------------------------------------------------------------------------------------- */

/* Positions are those of the particles; embedding weights give the positions of the skin. */
static void skins(void **state)
{
    (void)state;
    sinew_error error = {0};
    const char *folder = fresh_folder(IN_SCRATCH("npy"));
    sinew_world *world = make_world(NULL);
    for (int place = 0; place < 4; place += 3) {
        const sinew_body body = sinew_world_body_at(world, place);
        sinew_skin *skin = sinew_skin_of_mesh(sinew_body_mesh(world, body), &error);
        assert_non_null(skin);
        sinew_embedding_def ride = sinew_default_embedding_def();
        ride.skin = skin;
        assert_int_equal(sinew_body_set_skin(world, body, &ride, &error), SINEW_OK);
        sinew_skin_destroy(skin);
    }
    sinew_cache_def def = cache_def(world, folder, SINEW_CACHE_NPY);
    write_frames(world, &def, 2);
    check_moving(folder, 2);
    json_decref(check_index(folder, 2));
    npy_file vertices = npy_read(folder, "skin_vertices"), weights = npy_read(folder, "skin_weights");
    npy_file q = npy_read(folder, "positions");
    long long at = 0;
    for (int place = 0; place < 4; place += 3) {
        const sinew_body body = sinew_world_body_at(world, place);
        const int32_t count = sinew_skin_vertex_count(sinew_body_skin(world, body));
        sinew_real *expected = malloc(3 * (size_t)count * sizeof *expected);
        assert_int_equal(sinew_body_skin_positions(world, body, expected), SINEW_OK);
        for (int32_t i = 0; i < count; i++, at++)
            for (int axis = 0; axis < 3; axis++) {
                double sum = 0;
                for (int k = 0; k < 4; k++)
                    sum += npy_at(&weights, 4 * at + k) *
                           npy_at(&q, 3 * particles + 3 * (long long)npy_at(&vertices, 4 * at + k) + axis);
                assert_true(fabs(sum - (double)expected[3 * i + axis]) < 1e-5);
            }
        free(expected);
    }
    npy_expect(&vertices, "<i4", 2, at, 4, 0);
    npy_expect(&weights, real_type, 2, at, 4, 0);
    npy_free(&vertices);
    npy_free(&weights);
    npy_free(&q);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_and_index), cmocka_unit_test(skins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
