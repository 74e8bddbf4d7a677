/* SPDX-License-Identifier: MIT
 *
 * test_skin_files.c: skins read from files and written back: faces, texture coordinates, groups, materials and painted
 * values as stored in the file; caches of a world with a skin, whose OBJ and glTF are read again; damaged files;
 * memory.
 */
#include "skin_fixture.h"

#include "cache_fixture.h"
#include "io/mesh/embedded_read.h"
#include "mesh/embedded_surface.h"
#include "mesh_entry.h"
#include "random_cases.h"

/* ---- Reading ----------------------------------------------------------------------------------- */

static void obj_is_what_the_file_says(void **state)
{
    (void)state;
    sinew_skin *skin = roof_skin();
    const int32_t starts[] = {0, 4, 7, 12}, corners[] = {0, 1, 2, 3, 0, 1, 4, 5, 1, 2, 4, 0};
    const int32_t uvs[] = {0, 1, 2, 3, 4, 0, -1, 4, -1, 1, 1, 0};
    assert_int_equal(sinew_skin_vertex_count(skin), 7);
    assert_int_equal(sinew_skin_face_count(skin), 3);
    assert_memory_equal(sinew_skin_face_starts(skin), starts, sizeof starts);
    assert_memory_equal(sinew_skin_corners(skin), corners, sizeof corners);
    assert_memory_equal(sinew_skin_corner_uvs(skin), uvs, sizeof uvs);
    int32_t uv_count;
    assert_true(sinew_skin_uvs(skin, &uv_count)[9] == 0.25f && uv_count == 5);
    assert_int_equal(sinew_skin_name_count(skin, SINEW_SKIN_GROUP), 2);
    assert_string_equal(sinew_skin_name(skin, SINEW_SKIN_GROUP, 1), "gable left");
    assert_memory_equal(sinew_skin_face_names(skin, SINEW_SKIN_GROUP), ((int32_t[]){0, 1, 1}), 12);
    assert_string_equal(sinew_skin_name(skin, SINEW_SKIN_MATERIAL, 0), "tiles");
    assert_memory_equal(sinew_skin_face_names(skin, SINEW_SKIN_MATERIAL), ((int32_t[]){0, 0, 1}), 12);
    assert_string_equal(sinew_skin_material_library(skin), "roof.mtl");
    assert_int_equal(sinew_skin_attribute_count(skin), 3);
    assert_string_equal(sinew_skin_attribute_name(skin, 0), "red");
    assert_memory_equal(sinew_skin_attribute(skin, 0), ((float[]){1, 0.5f, 0, 0, 0, 0, 0}), 28);
    assert_string_equal(sinew_skin_warnings(skin), "");
    sinew_skin_destroy(skin);
}

/* The corners of every triangle are corners of its face, in the corner list and in vertex numbers. A face of n corners
 * has n - 2 triangles. */
static void check_triangles(const sinew_skin *skin)
{
    const sinew_mesh *mesh = sinew_skin_mesh(skin);
    const int32_t *starts = sinew_skin_face_starts(skin), *corners = sinew_skin_corners(skin);
    const int32_t *faces = sinew_skin_triangle_faces(skin), *entries = sinew_skin_triangle_corners(skin);
    int32_t expected = 0;
    for (int32_t f = 0; f < sinew_skin_face_count(skin); f++)
        expected += starts[f + 1] - starts[f] - 2;
    assert_int_equal(sinew_mesh_triangle_count(mesh), expected);
    for (int32_t i = 0; i < 3 * expected; i++) {
        const int32_t face = faces[i / 3];
        assert_true(entries[i] >= starts[face] && entries[i] < starts[face + 1]);
        assert_int_equal(corners[entries[i]], sinew_mesh_triangles(mesh)[i]);
        assert_true(i < 3 || face == faces[i / 3 - 1] || face == faces[i / 3 - 1] + 1);
    }
}

static void triangles_belong_to_faces(void **state)
{
    (void)state;
    sinew_skin *roof = roof_skin(), *bean = need_skin(SINEW_SOURCE_DIR "/scenes/meshes/bean.obj");
    check_triangles(roof);
    check_triangles(bean);
    assert_int_equal(sinew_skin_face_count(bean), 384);
    sinew_mesh_report report;
    assert_true(sinew_mesh_check(sinew_skin_mesh(bean), &report, NULL, 0, NULL) >= 0 && report.closed_surface);
    /* A self-intersecting polygon is split as a fan after ear clipping fails. */
    write_text("star.obj", "v 0 0 0\nv 1 1 0\nv 1 0 0\nv 0 1 0\nv 0.5 3 0\nv 0.4 0.5 0\nf 1 2 3 4 5 6\nf 1 2 3\n");
    sinew_skin *star = need_skin("star.obj");
    check_triangles(star);
    sinew_skin_destroy(roof);
    sinew_skin_destroy(bean);
    sinew_skin_destroy(star);
}

/* ---- Random files ------------------------------------------------------------------------------ */

enum {
    FACES_MAX = 400,
    NAMES_MAX = 5
};

/* The contents of a random OBJ file, recorded while it is written. */
typedef struct random_obj {
    int32_t face_count, starts[FACES_MAX + 1], corners[4 * FACES_MAX], uvs[4 * FACES_MAX], groups[FACES_MAX];
    int32_t uv_count;
} random_obj;

/* Faces of a strip of two rows of vertices, triangles and quadrilaterals. Texture coordinates begin with face uv_from,
 * groups with face group_from, as lists of the reader begin late. */
static void write_random_obj(FILE *file, random_obj *o, random_cases *r)
{
    const int32_t uv_from = random_index(r, FACES_MAX), group_from = random_index(r, FACES_MAX);
    int32_t names[NAMES_MAX], named = 0, group = -1;
    memset(names, -1, sizeof names);
    o->face_count = FACES_MAX / 2 + random_index(r, FACES_MAX / 2);
    o->uv_count = 1 + random_index(r, FACES_MAX);
    for (int32_t i = 0; i < 2 * (o->face_count + 1); i++)
        fprintf(file, "v %d %d 0\n", i / 2, i % 2);
    for (int32_t i = 0; i < o->uv_count; i++)
        fprintf(file, "vt %g %g\n", i / 512.0, 1 - i / 512.0);
    for (int32_t f = 0; f < o->face_count; f++) {
        const int32_t quad[4] = {2 * f, 2 * f + 2, 2 * f + 3, 2 * f + 1}, count = 3 + random_index(r, 2);
        if (f >= group_from && (f == group_from || random_index(r, 20) == 0)) {
            const int name = random_index(r, NAMES_MAX);
            fprintf(file, "g part%d\n", name);
            group = names[name] < 0 ? (names[name] = named++) : names[name];
        }
        o->groups[f] = group;
        o->starts[f + 1] = o->starts[f] + count;
        fprintf(file, "f");
        for (int32_t k = 0; k < count; k++) {
            const int32_t at = o->starts[f] + k;
            o->corners[at] = quad[k];
            o->uvs[at] = f >= uv_from ? random_index(r, o->uv_count) : -1;
            fprintf(file, o->uvs[at] < 0 ? " %d" : " %d/%d", quad[k] + 1, o->uvs[at] + 1);
        }
        fprintf(file, "\n");
    }
}

static void random_obj_files(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("random OBJ files", 12, 500);
    static random_obj o;
    for (int32_t i = 0; i < r.count; i++) {
        FILE *file = fopen(SINEW_TEST_DIR "/random.obj", "w");
        assert_non_null(file);
        write_random_obj(file, &o, &r);
        assert_int_equal(fclose(file), 0);
        sinew_skin *skin = need_skin("random.obj");
        const size_t corner_bytes = sizeof(int32_t) * (size_t)o.starts[o.face_count];
        assert_int_equal(sinew_skin_face_count(skin), o.face_count);
        assert_memory_equal(sinew_skin_face_starts(skin), o.starts, sizeof(int32_t) * (size_t)(o.face_count + 1));
        assert_memory_equal(sinew_skin_corners(skin), o.corners, corner_bytes);
        if (o.uvs[o.starts[o.face_count] - 1] >= 0)
            assert_memory_equal(sinew_skin_corner_uvs(skin), o.uvs, corner_bytes);
        if (o.groups[o.face_count - 1] >= 0)
            assert_memory_equal(sinew_skin_face_names(skin, SINEW_SKIN_GROUP), o.groups,
                                sizeof(int32_t) * (size_t)o.face_count);
        check_triangles(skin);
        sinew_skin_destroy(skin);
    }
}

static void ply_has_painted_values(void **state)
{
    (void)state;
    write_text("paint.ply", "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty "
                            "float z\nproperty uchar red\nproperty float quality\nelement face 1\nproperty list uchar "
                            "int vertex_indices\nend_header\n0 0 0 255 2.5\n1 0 0 51 3\n1 1 0 0 nan\n0 1 0 0 -1\n4 0 1 "
                            "2 3\n");
    sinew_skin *skin = need_skin("paint.ply");
    assert_int_equal(sinew_skin_attribute_count(skin), 2);
    assert_true(sinew_skin_attribute(skin, 0)[0] == 1 && fabsf(sinew_skin_attribute(skin, 0)[1] - 0.2f) < 1e-6f);
    assert_memory_equal(sinew_skin_attribute(skin, 1), ((float[]){2.5f, 3, 0, -1}), 16);
    assert_int_equal(sinew_skin_face_starts(skin)[1], 4);
    sinew_skin_destroy(skin);
}

enum {
    VALUES_KEPT = 64
};

/* A triangle with `count` values per vertex: value i of vertex v is i + v. */
static void write_many_values(int count)
{
    float numbers[9 + VALUES_KEPT + 8] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    for (int i = 9; i < 9 + count + 3; i++)
        numbers[i] = (float)(i - 9);
    FILE *file = fopen(SINEW_TEST_DIR "/many.bin", "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(numbers, sizeof numbers, 1, file), 1);
    fclose(file);
    file = fopen(SINEW_TEST_DIR "/many.gltf", "w");
    assert_non_null(file);
    fprintf(file, "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":%d,\"uri\":\"many.bin\"}],",
            (int)sizeof numbers);
    fprintf(file, "\"bufferViews\":[{\"buffer\":0,\"byteLength\":%d}],\"accessors\":[", (int)sizeof numbers);
    fprintf(file, "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}");
    for (int i = 0; i < count; i++)
        fprintf(file, ",{\"bufferView\":0,\"byteOffset\":%d,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\"}",
                36 + 4 * i);
    fprintf(file, "],\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0");
    for (int i = 0; i < count; i++)
        fprintf(file, ",\"_V%d\":%d", i, i + 1);
    fprintf(file, "}}]}]}");
    fclose(file);
}

/* The first 64 values of a vertex are kept, under their names. */
static void gltf_with_many_values(void **state)
{
    (void)state;
    for (int count = VALUES_KEPT - 1; count <= VALUES_KEPT + 3; count++) {
        write_many_values(count);
        sinew_skin *skin = need_skin("many.gltf");
        const int kept = count < VALUES_KEPT ? count : VALUES_KEPT;
        assert_int_equal(sinew_skin_attribute_count(skin), kept);
        for (int i = 0; i < kept; i++) {
            char name[32];
            snprintf(name, sizeof name, "V%d", i);
            assert_string_equal(sinew_skin_attribute_name(skin, i), name);
            for (int v = 0; v < 3; v++)
                assert_true(sinew_skin_attribute(skin, i)[v] == (float)(i + v));
        }
        sinew_skin_destroy(skin);
    }
}

static void gltf_has_painted_values(void **state)
{
    (void)state;
    sinew_skin *skin = need_skin(SINEW_SOURCE_DIR "/tests/data/painted.gltf");
    const char *const names[] = {"red", "green", "blue", "alpha", "STIFF"};
    assert_int_equal(sinew_skin_attribute_count(skin), 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(sinew_skin_attribute_name(skin, i), names[i]);
    assert_true(fabsf(sinew_skin_attribute(skin, 0)[3] - 0.2f) < 1e-6f);
    assert_memory_equal(sinew_skin_attribute(skin, 4), ((float[]){0, 0.5f, 1, 2}), 16);
    assert_string_equal(sinew_skin_name(skin, SINEW_SKIN_GROUP, 0), "house");
    assert_string_equal(sinew_skin_name(skin, SINEW_SKIN_MATERIAL, 0), "tiles");
    /* v increases upwards. */
    assert_memory_equal(sinew_skin_uvs(skin, NULL), ((float[]){0, 0, 1, 0, 1, 1, 0, 1}), 32);
    assert_memory_equal(sinew_skin_corner_uvs(skin), sinew_skin_corners(skin), 6 * sizeof(int32_t));
    sinew_skin_destroy(skin);
}

static void oddities(void **state)
{
    (void)state;
    sinew_error error = {0};
    write_text("odd.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nf 1/7 2/x 3/1\nl 1 2\n");
    sinew_skin *skin = need_skin("odd.obj");
    assert_non_null(strstr(sinew_skin_warnings(skin), "ignored 2 texture coordinates that are not there"));
    assert_memory_equal(sinew_skin_corner_uvs(skin), ((int32_t[]){-1, -1, 0}), 12);
    sinew_skin_destroy(skin);
    write_text("lines.obj", "v 0 0 0\nv 1 0 0\nl 1 2\n");
    assert_null(read_skin("lines.obj", NULL, &error));
    assert_non_null(strstr(error.text, "lines.obj: holds 2 vertices and no faces to show"));
    FILE *file = fopen(SINEW_TEST_DIR "/many.obj", "w");
    fprintf(file, "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    for (int i = 0; i < 70000; i++)
        fprintf(file, "g %d\n", i);
    fclose(file);
    assert_null(read_skin("many.obj", NULL, &error));
    assert_non_null(strstr(error.text, "more than 65536 groups or materials"));
}

static void allocations_that_fail(void **state)
{
    (void)state;
    sinew_skin_destroy(roof_skin());
    failing_allocator memory = {0};
    const sinew_allocator hooks = hooks_of(&memory);
    sinew_skin *skin = NULL;
    for (memory.fail_at = 1; !skin; memory.fail_at++) {
        sinew_error error = {0};
        memory.calls = 0;
        skin = read_skin("roof.obj", &hooks, &error);
        if (!skin) {
            assert_int_equal(error.status, SINEW_ERROR_MEMORY);
            assert_int_equal(memory.live, 0);
        }
    }
    assert_true(memory.fail_at > 15);
    sinew_skin_destroy(skin);
    assert_int_equal(memory.live, 0);
}

/* ---- Damage ------------------------------------------------------------------------------------ */

/* Every skin read from any file has indices in range and consistent sizes. */
static void check_skin(const sinew_skin *skin)
{
    const int32_t count = sinew_skin_vertex_count(skin), faces = sinew_skin_face_count(skin);
    const int32_t *starts = sinew_skin_face_starts(skin), *uvs = sinew_skin_corner_uvs(skin);
    int32_t uv_count;
    sinew_skin_uvs(skin, &uv_count);
    for (int32_t f = 0; f < faces; f++)
        assert_true(starts[f + 1] >= starts[f] + 3);
    for (int32_t i = 0; i < starts[faces]; i++) {
        assert_true(sinew_skin_corners(skin)[i] >= 0 && sinew_skin_corners(skin)[i] < count);
        assert_true(!uvs || (uvs[i] >= -1 && uvs[i] < uv_count));
    }
    for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++)
        for (int32_t f = 0; sinew_skin_face_names(skin, (sinew_skin_set)set) && f < faces; f++)
            assert_true(sinew_skin_face_names(skin, (sinew_skin_set)set)[f] <
                        sinew_skin_name_count(skin, (sinew_skin_set)set));
    check_triangles(skin);
}

static void damaged(const char *name, const char *bytes, size_t size, random_cases *r)
{
    char *copy = malloc(size + 1);
    for (int32_t n = 0; n < r->count; n++) {
        memcpy(copy, bytes, size);
        const int changes = 1 + random_index(r, 6);
        for (int i = 0; i < changes; i++)
            copy[random_index(r, (int)size)] = (char)("0123456789/-+. \nvftgo{}[],\"\xff"[random_index(r, 28)]);
        const size_t cut = random_index(r, 4) == 0 ? (size_t)random_index(r, (int)size) : size;
        copy[cut] = '\0';
        sinew_error error = {SINEW_OK, ""};
        mesh_entry_parts none = {.count = 0};
        const sinew_source source = {name, copy, cut, mesh_entry_open, &none};
        sinew_skin *skin = sinew_skin_parse(&source, NULL, &error);
        assert_true((skin != NULL) == (error.text[0] == '\0'));
        if (skin)
            check_skin(skin);
        sinew_skin_destroy(skin);
    }
    free(copy);
}

static void damaged_files_give_skins_or_reasons(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("damaged skins", 500, 100000);
    damaged("roof.obj", roof_obj, strlen(roof_obj), &r);
    size_t size;
    char *glb = slurp(SINEW_SOURCE_DIR "/tests/data", "painted.gltf", &size);
    damaged("painted.gltf", glb, size, &r);
    free(glb);
}

/* ---- Caches ------------------------------------------------------------------------------------ */

/* A box that shows the roof, and a cloth without a skin behind it. */
static sinew_world *shown_world(void)
{
    sinew_error error = {0};
    sinew_body body;
    sinew_box_def box = sinew_default_box_def();
    box.vertices[0] = box.vertices[1] = box.vertices[2] = 3;
    sinew_world *world = world_of(sinew_mesh_box(&box, &error), NULL, &body);
    add_body(world, 4, q_cloth, 0, NULL, 2, cloth_triangles, 5, cloth_edges);
    sinew_skin *roof = roof_skin();
    assert_int_equal(put_skin(world, body, roof, &error), SINEW_OK);
    sinew_skin_destroy(roof);
    return world;
}

static void move_world(sinew_world *world, int frame)
{
    sinew_real q[3 * 31];
    sinew_world_get_positions(world, 0, 31, q);
    for (int i = 0; i < 3 * 31; i++)
        q[i] += frame ? (sinew_real)(0.01 * sin(i + frame)) : 0;
    assert_int_equal(sinew_world_set_positions(world, 0, 31, q), SINEW_OK);
}

/* Writes two frames; also stores the points of the skin and of the cloth in the last frame. */
static const char *write_shown(const char *folder, sinew_cache_format format, bool bodies, sinew_real *points)
{
    fresh_folder(folder);
    sinew_error error = {0};
    sinew_world *world = shown_world();
    sinew_cache_def def = cache_def(world, folder, format);
    def.bodies = bodies;
    sinew_cache *cache = sinew_cache_open(&def, &error);
    if (!cache)
        fail_msg("%s", error.text);
    for (int k = 0; k < 2; k++) {
        move_world(world, k);
        if (sinew_cache_frame(cache, &error) != SINEW_OK)
            fail_msg("%s", error.text);
    }
    if (sinew_cache_close(cache, &error) != SINEW_OK)
        fail_msg("%s", error.text);
    if (points) {
        sinew_body_skin_positions(world, sinew_world_body_at(world, 0), points);
        sinew_world_get_positions(world, 27, 4, points + 21);
    }
    sinew_world_destroy(world);
    return folder;
}

static void obj_comes_back(void **state)
{
    (void)state;
    sinew_real points[33];
    const char *folder = write_shown(IN_SCRATCH("obj"), SINEW_CACHE_OBJ, false, points);
    sinew_skin *roof = roof_skin(), *back = need_skin(path_of(folder, "run.0001.obj").text);
    assert_int_equal(sinew_skin_vertex_count(back), 11);
    assert_memory_equal(sinew_skin_positions(back), points, sizeof points);
    assert_int_equal(sinew_skin_face_count(back), 5);
    assert_memory_equal(sinew_skin_face_starts(back), sinew_skin_face_starts(roof), 4 * sizeof(int32_t));
    assert_memory_equal(sinew_skin_corners(back), sinew_skin_corners(roof), 12 * sizeof(int32_t));
    assert_memory_equal(sinew_skin_corner_uvs(back), sinew_skin_corner_uvs(roof), 12 * sizeof(int32_t));
    assert_memory_equal(sinew_skin_uvs(back, NULL), sinew_skin_uvs(roof, NULL), 10 * sizeof(float));
    assert_string_equal(sinew_skin_material_library(back), "roof.mtl");
    for (int f = 0; f < 3; f++)
        for (int set = 0; set < SINEW_SKIN_SET_COUNT; set++) {
            const sinew_skin_set s = (sinew_skin_set)set;
            assert_string_equal(sinew_skin_name(back, s, sinew_skin_face_names(back, s)[f]),
                                sinew_skin_name(roof, s, sinew_skin_face_names(roof, s)[f]));
        }
    assert_string_equal(sinew_skin_name(back, SINEW_SKIN_MATERIAL, sinew_skin_face_names(back, SINEW_SKIN_MATERIAL)[4]),
                        "default");
    sinew_skin_destroy(roof);
    sinew_skin_destroy(back);
}

/* The first vertices of a glTF cache are the skin's; copies have the position of one of them and another texture
 * coordinate. */
static void gltf_comes_back(void **state)
{
    (void)state;
    const char *folder = write_shown(IN_SCRATCH("glb"), SINEW_CACHE_GLTF, false, NULL);
    sinew_skin *roof = roof_skin(), *back = need_skin(path_of(folder, "run.glb").text);
    const sinew_real *q = sinew_skin_positions(back), *mine = sinew_skin_positions(roof);
    assert_true(sinew_skin_vertex_count(back) > 11);
    for (int i = 0; i < 21; i++)
        assert_true(fabs((double)(q[i] - mine[i])) < 1e-6 * (1 + fabs((double)mine[i])));
    const int32_t *corners = sinew_mesh_triangles(sinew_skin_mesh(back));
    const int32_t *of = sinew_skin_triangle_faces(back), *name = sinew_skin_face_names(back, SINEW_SKIN_MATERIAL);
    int32_t seen[3] = {0};
    for (int32_t t = 0; t < sinew_mesh_triangle_count(sinew_skin_mesh(back)); t++) {
        const char *material = sinew_skin_name(back, SINEW_SKIN_MATERIAL, name[of[t]]);
        seen[strcmp(material, "tiles") == 0 ? 0 : strcmp(material, "glass") == 0 ? 1 : 2]++;
    }
    assert_int_equal(sinew_mesh_triangle_count(sinew_skin_mesh(back)), 8);
    assert_true(seen[0] == 3 && seen[1] == 3 && seen[2] == 2);
    /* The second triangle of the quad ends in its corner at (0, 1). */
    int32_t uv_count;
    const float *uvs = sinew_skin_uvs(back, &uv_count);
    assert_true(uv_count > 0);
    const int32_t uv = sinew_skin_corner_uvs(back)[5];
    assert_int_equal(corners[5], 3);
    assert_true(fabsf(uvs[2 * uv]) < 1e-6f && fabsf(uvs[2 * uv + 1] - 1) < 1e-6f);
    sinew_skin_destroy(roof);
    sinew_skin_destroy(back);
}

static void pc2_and_csv_have_her_vertices(void **state)
{
    (void)state;
    sinew_real points[33];
    size_t size;
    char *pc2 = slurp(write_shown(IN_SCRATCH("pc2"), SINEW_CACHE_PC2, false, points), "run.pc2", &size);
    assert_int_equal(size, 32 + 2 * 12 * 11);
    for (size_t i = 0; i < 33; i++) {
        float x;
        memcpy(&x, pc2 + 32 + 12 * 11 + 4 * i, sizeof x);
        assert_true(x == (float)points[i]);
    }
    free(pc2);
    sinew_skin *shape = need_skin(path_of(IN_SCRATCH("pc2"), "run.obj").text);
    assert_int_equal(sinew_skin_vertex_count(shape), 11);
    /* The vertex without a face has an edge, so that importers keep it. */
    assert_non_null(strstr(sinew_skin_warnings(shape), "ignored 1 edges"));
    sinew_skin_destroy(shape);
    char *csv = slurp(write_shown(IN_SCRATCH("csv"), SINEW_CACHE_CSV, false, NULL), "run.csv", &size);
    int rows = 0;
    for (const char *c = csv; *c; c++)
        rows += *c == '\n';
    assert_int_equal(rows, 1 + 2 * 11);
    free(csv);
}

static void bodies_themselves_when_asked(void **state)
{
    (void)state;
    size_t size;
    char *pc2 = slurp(write_shown(IN_SCRATCH("body"), SINEW_CACHE_PC2, true, NULL), "run.pc2", &size);
    assert_int_equal(size, 32 + 2 * 12 * 31);
    free(pc2);
}

static void vtu_has_polygons(void **state)
{
    (void)state;
    const char *folder = write_shown(IN_SCRATCH("vtu"), SINEW_CACHE_VTU, false, NULL);
    sinew_skin *roof = roof_skin(), *back = need_skin(path_of(folder, "run.0001.vtu").text);
    assert_int_equal(sinew_skin_vertex_count(back), 11);
    assert_int_equal(sinew_skin_face_count(back), 5);
    assert_memory_equal(sinew_skin_corners(back), sinew_skin_corners(roof), 12 * sizeof(int32_t));
    sinew_skin_destroy(roof);
    sinew_skin_destroy(back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(obj_is_what_the_file_says),
        cmocka_unit_test(triangles_belong_to_faces),
        cmocka_unit_test(random_obj_files),
        cmocka_unit_test(ply_has_painted_values),
        cmocka_unit_test(gltf_with_many_values),
        cmocka_unit_test(gltf_has_painted_values),
        cmocka_unit_test(oddities),
        cmocka_unit_test(allocations_that_fail),
        cmocka_unit_test(damaged_files_give_skins_or_reasons),
        cmocka_unit_test(obj_comes_back),
        cmocka_unit_test(gltf_comes_back),
        cmocka_unit_test(pc2_and_csv_have_her_vertices),
        cmocka_unit_test(bodies_themselves_when_asked),
        cmocka_unit_test(vtu_has_polygons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
