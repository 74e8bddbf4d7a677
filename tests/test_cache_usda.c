/* SPDX-License-Identifier: MIT
 *
 * test_cache_usda.c: USD caches read back by an independent reader (usda_file.h): prims, topology, time samples of
 * positions and velocities against the formula that they were written from, unusual names, ropes as chains, skins with
 * texture coordinates, groups and materials.
 */
#include "usda_file.h"

#include <float.h>

#include "random_cases.h"
#include "sinew/skin.h"

/* ---- The fixture's world ------------------------------------------------------------------------ */

static void check_head(const usda_file *f, double first, double last, double fps)
{
    assert_string_equal(usda_get(f, "", "upAxis", "metadata")->value.word, "\"Y\"");
    assert_string_equal(usda_get(f, "", "defaultPrim", "metadata")->value.word, "\"run\"");
    assert_true(usda_get(f, "", "metersPerUnit", "metadata")->value.numbers[0] == 1);
    assert_true(usda_get(f, "", "timeCodesPerSecond", "metadata")->value.numbers[0] == fps);
    assert_true(usda_get(f, "", "framesPerSecond", "metadata")->value.numbers[0] == fps);
    assert_true(usda_get(f, "", "startTimeCode", "metadata")->value.numbers[0] == first);
    assert_true(usda_get(f, "", "endTimeCode", "metadata")->value.numbers[0] == last);
    assert_string_equal(usda_find(f, "/run", "")->prim_type, "Xform");
}

/* Checks positions, velocities and extent of a prim whose vertices are these particles. */
static void check_motion(const usda_file *f, const char *prim, const int *particle, int count, int first, int frames)
{
    const usda_attribute *points = usda_get(f, prim, "points", "point3f[]");
    const usda_attribute *velocities = usda_get(f, prim, "velocities", "vector3f[]");
    const usda_attribute *extent = usda_get(f, prim, "extent", "float3[]");
    const usda_attribute *widths = usda_find(f, prim, "widths");
    const float margin = widths ? (float)(widths->value.numbers[0] / 2) : 0;
    assert_int_equal(points->sample_count, frames);
    assert_int_equal(velocities->sample_count, frames);
    assert_int_equal(extent->sample_count, frames);
    assert_true(points->has_value && (int)points->value.count == 3 * count && points->value.tuples == count);
    for (int k = 0; k < frames; k++) {
        assert_true(points->times[k] == first + k && velocities->times[k] == first + k &&
                    extent->times[k] == first + k);
        assert_int_equal(points->samples[k].count, 3 * count);
        assert_int_equal(points->samples[k].tuples, count);
        assert_int_equal(velocities->samples[k].count, 3 * count);
        assert_int_equal(extent->samples[k].count, 6);
        for (int axis = 0; axis < 3; axis++) {
            float low = FLT_MAX, high = -FLT_MAX;
            for (int i = 0; i < count; i++) {
                const float q = (float)q_at(k, particle[i], axis), v = (float)v_at(k, particle[i], axis);
                assert_true((float)points->samples[k].numbers[3 * i + axis] == q);
                assert_true((float)velocities->samples[k].numbers[3 * i + axis] == v);
                assert_true(k > 0 || (float)points->value.numbers[3 * i + axis] == q);
                low = fminf(low, q - margin);
                high = fmaxf(high, q + margin);
            }
            assert_true((float)extent->samples[k].numbers[axis] == low);
            assert_true((float)extent->samples[k].numbers[3 + axis] == high);
        }
    }
}

static void check_integers(const usda_file *f, const char *prim, const char *name, const int *expected, int count)
{
    const usda_attribute *found = usda_get(f, prim, name, "int[]");
    assert_int_equal(found->value.count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal((int)found->value.numbers[i], expected[i]);
}

/* Four faces of three corners over all four vertices, without duplicates. */
static void check_solid(const usda_file *f, const char *prim)
{
    const int counts[4] = {3, 3, 3, 3};
    check_integers(f, prim, "faceVertexCounts", counts, 4);
    const usda_attribute *indices = usda_get(f, prim, "faceVertexIndices", "int[]");
    assert_int_equal(indices->value.count, 12);
    int left_out = 0;
    for (int face = 0; face < 4; face++) {
        int seen = 0;
        for (int c = 0; c < 3; c++)
            seen |= 1 << (int)indices->value.numbers[3 * face + c];
        left_out |= 15 & ~seen;
        assert_true(seen == 7 || seen == 11 || seen == 13 || seen == 14);
    }
    assert_int_equal(left_out, 15);
    assert_string_equal(usda_get(f, prim, "subdivisionScheme", "token")->value.word, "\"none\"");
}

static void check_file(const char *folder, int first, int frames)
{
    assert_listing(folder, "run.usda");
    usda_file f = usda_read(folder, "run.usda");
    check_head(&f, first, first + (frames ? frames - 1 : 0), 25);
    const int solid[4] = {1, 2, 3, 4}, cloth[4] = {5, 6, 7, 8}, rope[3] = {9, 10, 11}, last[4] = {12, 13, 14, 15};
    if (frames > 0) {
        check_motion(&f, "/run/body_0", solid, 4, first, frames);
        check_motion(&f, "/run/body_1", cloth, 4, first, frames);
        check_motion(&f, "/run/body_2", rope, 3, first, frames);
        check_motion(&f, "/run/body_3", last, 4, first, frames);
    }
    check_solid(&f, "/run/body_0");
    check_solid(&f, "/run/body_3");
    const int counts[2] = {3, 3}, corners[6] = {0, 1, 3, 0, 3, 2}, three = 3;
    check_integers(&f, "/run/body_1", "faceVertexCounts", counts, 2);
    check_integers(&f, "/run/body_1", "faceVertexIndices", corners, 6);
    assert_string_equal(usda_find(&f, "/run/body_2", "")->prim_type, "BasisCurves");
    assert_string_equal(usda_get(&f, "/run/body_2", "type", "token")->value.word, "\"linear\"");
    check_integers(&f, "/run/body_2", "curveVertexCounts", &three, 1);
    assert_string_equal(usda_find(&f, "/run/body_2", "widths")->interpolation, "\"constant\"");
    assert_true(fabs(usda_get(&f, "/run/body_2", "widths", "float[]")->value.numbers[0] - 0.2) < 1e-6);
    usda_free(&f);
}

static void whole_file(void **state)
{
    (void)state;
    check_file(write_all(IN_SCRATCH("usda"), SINEW_CACHE_USDA, 0, 0), 0, 0); /* no frame: the current shape */
    check_file(write_all(IN_SCRATCH("usda"), SINEW_CACHE_USDA, 0, 1), 0, 1);
    check_file(write_all(IN_SCRATCH("usda"), SINEW_CACHE_USDA, 40, 40), 0, 40);
    sinew_world *world = make_world(NULL);
    sinew_cache_def def = cache_def(world, fresh_folder(IN_SCRATCH("usda")), SINEW_CACHE_USDA);
    def.first_frame = 117; /* time codes are frame numbers */
    write_frames(world, &def, 4);
    sinew_world_destroy(world);
    check_file(IN_SCRATCH("usda"), 117, 4);
}

/* ---- Names -------------------------------------------------------------------------------------- */

static sinew_body add_named(sinew_world *world, const char *name, int vertices, const sinew_real *q, int edges,
                            const int32_t *edge)
{
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = vertices;
    def.positions = q;
    def.edge_count = edges;
    def.edges = edge;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    if (!mesh)
        fail_msg("%s", error.text);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    body.name = name;
    sinew_body added = sinew_world_add_body(world, &body, &error);
    sinew_mesh_destroy(mesh);
    assert_true(added.index >= 0);
    return added;
}

static usda_file write_and_read(sinew_world *world, const char *folder, const char *name)
{
    sinew_error error = {0};
    sinew_cache_def def = cache_def(world, fresh_folder(folder), SINEW_CACHE_USDA);
    def.name = name;
    sinew_cache *cache = sinew_cache_open(&def, &error);
    if (!cache || sinew_cache_frame(cache, &error) != SINEW_OK || sinew_cache_close(cache, &error) != SINEW_OK)
        fail_msg("%s", error.text);
    char file[128];
    snprintf(file, sizeof file, "%s.usda", name);
    return usda_read(folder, file);
}

/* Any body names give valid, distinct identifiers; the reader checks both. */
static void odd_names(void **state)
{
    (void)state;
    static const char *const names[] = {"a b", "a-b",       "a_b", "9",      "materials", "\xc3\xa9", "_",
                                        "def", "\"x\n\"{}", "x",   "body_0", "x_9",       NULL};
    sinew_world *world = empty_world(NULL);
    int count = 0;
    for (; names[count]; count++)
        add_named(world, names[count], 3, q_rope, 2, rope_edges);
    add_named(world, NULL, 3, q_rope, 2, rope_edges);
    usda_file f = write_and_read(world, IN_SCRATCH("names"), "9 odd\xe2\x82\xac \"name");
    int curves = 0;
    for (int i = 0; i < f.attribute_count; i++)
        curves += strcmp(f.attributes[i].prim_type, "BasisCurves") == 0 && !f.attributes[i].name[0];
    assert_int_equal(curves, count + 1);
    assert_non_null(usda_find(&f, "/_9_odd_____name", ""));
    assert_non_null(usda_find(&f, "/_9_odd_____name/a_b", ""));
    usda_free(&f);
    sinew_world_destroy(world);
}

/* ---- Ropes -------------------------------------------------------------------------------------- */

/* Every edge of the net is a segment of exactly one chain, and there are no other segments. */
static void check_chains(const usda_file *f, const char *prim, int edges, const int32_t *edge, const sinew_real *q)
{
    const usda_attribute *counts = usda_get(f, prim, "curveVertexCounts", "int[]");
    const usda_attribute *points = usda_get(f, prim, "points", "point3f[]");
    int *met = calloc((size_t)edges, sizeof *met), steps = 0;
    size_t at = 0;
    for (size_t c = 0; c < counts->value.count; at += (size_t)counts->value.numbers[c++])
        for (int i = 1; i < (int)counts->value.numbers[c]; i++, steps++)
            for (int e = 0; e < edges; e++) {
                const double *a = points->value.numbers + 3 * (at + (size_t)i - 1);
                const float x = (float)q[3 * edge[2 * e]], y = (float)q[3 * edge[2 * e + 1]];
                met[e] += ((float)a[0] == x && (float)a[3] == y) || ((float)a[0] == y && (float)a[3] == x);
            }
    assert_int_equal(3 * at, points->value.count);
    assert_int_equal(steps, edges);
    for (int e = 0; e < edges; e++)
        assert_int_equal(met[e], 1);
    free(met);
}

/* Nets of random edges: branches, rings and separate components. */
static void nets(void **state)
{
    (void)state;
    enum {
        VERTICES = 12
    };
    random_cases cases = random_cases_begin("nets", 20, 500);
    sinew_real q[3 * VERTICES] = {0};
    for (int i = 0; i < VERTICES; i++)
        q[3 * i] = (sinew_real)(i + 1); /* the first coordinate identifies the vertex */
    for (int32_t n = 0; n < cases.count; n++) {
        int32_t edge[2 * VERTICES * VERTICES];
        int edges = 0;
        const int one_in = 1 + random_index(&cases, 12);
        for (int a = 0; a < VERTICES; a++)
            for (int b = 0; b < a; b++)
                if (random_index(&cases, one_in) == 0 || (a == 1 && b == 0)) {
                    const bool turned = random_index(&cases, 2);
                    edge[2 * edges] = turned ? a : b;
                    edge[2 * edges++ + 1] = turned ? b : a;
                }
        sinew_world *world = empty_world(NULL);
        add_named(world, "before", 3, q_rope, 2, rope_edges);
        sinew_error error = {0};
        sinew_mesh_def def = sinew_default_mesh_def();
        def.vertex_count = VERTICES;
        def.positions = q;
        def.edge_count = edges;
        def.edges = edge;
        sinew_mesh *mesh = sinew_mesh_create(&def, &error);
        assert_non_null(mesh);
        sinew_real masses[VERTICES];
        for (int i = 0; i < VERTICES; i++)
            masses[i] = 1; /* includes vertices without an edge */
        sinew_body_def body = sinew_default_body_def();
        body.mesh = mesh;
        body.masses = masses;
        body.name = "net";
        assert_true(sinew_world_add_body(world, &body, &error).index >= 0);
        sinew_mesh_destroy(mesh);
        usda_file f = write_and_read(world, IN_SCRATCH("nets"), "run");
        check_chains(&f, "/run/net", edges, edge, q);
        check_chains(&f, "/run/before", 2, rope_edges, q_rope);
        usda_free(&f);
        sinew_world_destroy(world);
    }
}

/* ---- Skins -------------------------------------------------------------------------------------- */

static const char skin_text[] = "mtllib looks.mtl\n"
                                "v 0.1 0.1 0.1\nv 0.3 0.1 0.1\nv 0.3 0.3 0.1\nv 0.1 0.3 0.1\nv 0.2 0.2 0.3\n"
                                "v 9 9 9\n" /* an unreferenced vertex, which is kept */
                                "vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.5 0.25\n"
                                "g floor\nusemtl red paint\nf 1/1 4/4 3/3 2/2\n"
                                "g sides\nusemtl 2nd\nf 1/1 2/2 5/5\nf 2/1 3/2 5/5\n"
                                "g floor\nf 3 4 5\nusemtl red paint\nf 4/1 1/2 5/5\n";

static sinew_world *skinned_world(void)
{
    const char *path = SINEW_TEST_DIR "/skin.obj";
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(skin_text, file);
    fclose(file);
    sinew_error error = {0};
    sinew_world *world = make_world(NULL);
    sinew_skin_def def = sinew_default_skin_def();
    def.path = path;
    sinew_skin *skin = sinew_skin_read(&def, &error);
    if (!skin)
        fail_msg("%s", error.text);
    sinew_embedding_def ride = sinew_default_embedding_def();
    ride.skin = skin;
    for (int place = 0; place < 4; place += 3) /* both solids */
        if (sinew_body_set_skin(world, sinew_world_body_at(world, place), &ride, &error) != SINEW_OK)
            fail_msg("%s", error.text);
    sinew_skin_destroy(skin);
    return world;
}

/* Compares a prim with the skin that it shows, as the library reads it. */
static void check_skin(const usda_file *f, const char *prim, const sinew_world *world, sinew_body body)
{
    const sinew_skin *skin = sinew_body_skin(world, body);
    const int32_t *starts = sinew_skin_face_starts(skin), faces = sinew_skin_face_count(skin);
    const usda_attribute *counts = usda_get(f, prim, "faceVertexCounts", "int[]");
    assert_int_equal(counts->value.count, faces);
    for (int i = 0; i < faces; i++)
        assert_int_equal((int)counts->value.numbers[i], starts[i + 1] - starts[i]);
    check_integers(f, prim, "faceVertexIndices", sinew_skin_corners(skin), starts[faces]);
    int32_t uv_count;
    const float *uvs = sinew_skin_uvs(skin, &uv_count);
    const int32_t *corner_uvs = sinew_skin_corner_uvs(skin);
    const usda_attribute *st = usda_get(f, prim, "primvars:st", "texCoord2f[]");
    const usda_attribute *indices = usda_get(f, prim, "primvars:st:indices", "int[]");
    assert_string_equal(st->interpolation, "\"faceVarying\"");
    assert_int_equal(indices->value.count, starts[faces]);
    for (int i = 0; i < starts[faces]; i++) {
        const size_t at = (size_t)indices->value.numbers[i];
        assert_true(2 * at + 1 < st->value.count);
        for (size_t c = 0; c < 2; c++)
            assert_true((float)st->value.numbers[2 * at + c] ==
                        (corner_uvs[i] < 0 ? 0.0f : uvs[2 * (size_t)corner_uvs[i] + c]));
    }
    sinew_real q[3 * 6];
    assert_int_equal(sinew_skin_vertex_count(skin), 6);
    assert_int_equal(sinew_body_skin_positions(world, body, q), SINEW_OK);
    const usda_attribute *points = usda_get(f, prim, "points", "point3f[]");
    assert_int_equal(points->value.count, 18);
    for (int i = 0; i < 18; i++)
        assert_true((float)points->samples[0].numbers[i] == (float)q[i]);
}

static void check_subset(const usda_file *f, const char *prim, const char *family, const int *faces, int count,
                         const char *binding)
{
    char word[64];
    snprintf(word, sizeof word, "\"%s\"", family);
    check_integers(f, prim, "indices", faces, count);
    assert_string_equal(usda_find(f, prim, "")->prim_type, "GeomSubset");
    assert_string_equal(usda_get(f, prim, "elementType", "token")->value.word, "\"face\"");
    assert_string_equal(usda_get(f, prim, "familyName", "token")->value.word, word);
    assert_int_equal(usda_find(f, prim, "material:binding") != NULL, binding != NULL);
    if (binding)
        assert_string_equal(usda_get(f, prim, "material:binding", "rel")->value.word, binding);
}

static void skins(void **state)
{
    (void)state;
    sinew_world *world = skinned_world();
    usda_file f = write_and_read(world, IN_SCRATCH("skins"), "run");
    check_skin(&f, "/run/body_0", world, sinew_world_body_at(world, 0));
    check_skin(&f, "/run/body_3", world, sinew_world_body_at(world, 3));
    const int floor[3] = {0, 3, 4}, sides[2] = {1, 2}, red[2] = {0, 4}, second[3] = {1, 2, 3};
    check_subset(&f, "/run/body_0/floor", "group", floor, 3, NULL);
    check_subset(&f, "/run/body_3/sides", "group", sides, 2, NULL);
    check_subset(&f, "/run/body_0/red_paint", "materialBind", red, 2, "</run/materials/red_paint>");
    check_subset(&f, "/run/body_3/_2nd", "materialBind", second, 3, "</run/materials/_2nd>");
    assert_string_equal(usda_find(&f, "/run/materials/red_paint", "")->prim_type, "Material");
    assert_null(usda_find(&f, "/run/body_1", "primvars:st")); /* the cloth has no texture coordinates */
    usda_free(&f);
    sinew_world_destroy(world);
}

/* A finished file of skins can be resumed at every frame and gives the same bytes. */
static void skins_go_on(void **state)
{
    (void)state;
    enum {
        FRAMES = 5
    };
    for (int closed = 1; closed <= FRAMES; closed++) {
        static const char *const folders[2] = {IN_SCRATCH("skins_whole"), IN_SCRATCH("skins_parts")};
        for (int part = 0; part < 2; part++) {
            sinew_world *world = skinned_world();
            sinew_cache_def def = cache_def(world, fresh_folder(folders[part]), SINEW_CACHE_USDA);
            write_frames_from(world, &def, 0, part ? closed : FRAMES);
            def.kept_frames = closed;
            if (part)
                write_frames_from(world, &def, closed, FRAMES);
            sinew_world_destroy(world);
        }
        assert_same_folders(folders[0], folders[1]);
    }
}

/* Numbers outside the range of 32-bit floats and damaged finished files are refused. */
static void refusals(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_world *world = make_world(NULL);
    sinew_cache_def def = cache_def(world, fresh_folder(IN_SCRATCH("refused")), SINEW_CACHE_USDA);
#ifndef SINEW_SINGLE
    sinew_cache *cache = sinew_cache_open(&def, &error);
    assert_non_null(cache);
    const sinew_real fast[3] = {0, -1e39, 0};
    assert_int_equal(sinew_world_set_velocities(world, 7, 1, fast), SINEW_OK);
    assert_int_equal(sinew_cache_frame(cache, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "particle 7 moves at -1e+39 m/s"));
    sinew_cache_drop(cache);
#endif
    write_all(IN_SCRATCH("refused"), SINEW_CACHE_USDA, 0, 3);
    def.kept_frames = 4; /* one more frame than the file has */
    assert_null(sinew_cache_open(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "does not hold the frames"));
    assert_listing(IN_SCRATCH("refused"), "run.usda");
    def.kept_frames = 3;
    def.first_frame = 1; /* other frame numbers than those of the file */
    assert_null(sinew_cache_open(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_FORMAT);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_file), cmocka_unit_test(odd_names),   cmocka_unit_test(nets),
        cmocka_unit_test(skins),      cmocka_unit_test(skins_go_on), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
