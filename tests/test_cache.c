/* SPDX-License-Identifier: MIT
 *
 * test_cache.c: every cache format read back by a second, independent reader.
 */
#include "cache_fixture.h"

#include <float.h>
#include <jansson.h>
#include <locale.h>

/* ---- OBJ --------------------------------------------------------------------------------------- */

typedef struct obj_file {
    int vertices, faces, lines;
    double q[3 * particles];
    int face[3 * 64], line[2 * 64];
} obj_file;

static obj_file read_obj(const char *folder, const char *name)
{
    obj_file obj = {0};
    size_t size;
    char *text = slurp(folder, name, &size);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (line[0] == 'v') {
            assert_true(obj.vertices < particles);
            double *q = &obj.q[3 * obj.vertices++];
            assert_int_equal(sscanf(line, "v %lf %lf %lf", &q[0], &q[1], &q[2]), 3);
        } else if (line[0] == 'f') {
            int *f = &obj.face[3 * obj.faces++];
            assert_int_equal(sscanf(line, "f %d %d %d", &f[0], &f[1], &f[2]), 3);
        } else if (line[0] == 'l') {
            int *l = &obj.line[2 * obj.lines++];
            assert_int_equal(sscanf(line, "l %d %d", &l[0], &l[1]), 2);
        } else {
            assert_int_equal(line[0], '#');
        }
    }
    free(text);
    return obj;
}

/* Each outer face of a tetrahedron (o, x, y, z) occurs once, counter-clockwise seen from outside. */
static void assert_solid_faces(const int *faces, int o)
{
    const int expected[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    for (int e = 0; e < 4; e++) {
        int found = 0;
        for (int f = 0; f < 4; f++)
            for (int turn = 0; turn < 3; turn++) {
                bool same = true;
                for (int k = 0; k < 3; k++)
                    same = same && faces[3 * f + (k + turn) % 3] == o + expected[e][k];
                found += same;
            }
        assert_int_equal(found, 1);
    }
}

/* Faces of solid, cloth and solid in this order; vertex numbers start at zero. */
static void assert_faces(const int *faces)
{
    assert_solid_faces(faces, 1);
    const int cloth[6] = {5, 6, 8, 5, 8, 7};
    assert_memory_equal(faces + 12, cloth, sizeof cloth);
    assert_solid_faces(faces + 18, 12);
}

static void assert_obj(const obj_file *obj, int frame)
{
    assert_int_equal(obj->vertices, particles);
    for (int i = 0; i < 3 * particles; i++)
        assert_true((sinew_real)obj->q[i] == q_at(frame, i / 3, i % 3));
    assert_int_equal(obj->faces, triangles);
    int faces[3 * triangles];
    for (int i = 0; i < 3 * triangles; i++)
        faces[i] = obj->face[i] - 1;
    assert_faces(faces);
    const int rope[4] = {10, 11, 11, 12};
    assert_memory_equal(obj->line, rope, sizeof rope);
}

static void obj_sequence(void **state)
{
    (void)state;
    const char *folder = write_all(IN_SCRATCH("obj"), SINEW_CACHE_OBJ, 0, 3);
    assert_listing(folder, "run.0000.obj run.0001.obj run.0002.obj");
    for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "run.%04d.obj", k);
        obj_file obj = read_obj(folder, name);
        assert_obj(&obj, k);
        assert_int_equal(obj.lines, lines);
    }
}

/* ---- PC2 --------------------------------------------------------------------------------------- */

static uint32_t le32(const char *bytes)
{
    const unsigned char *b = (const unsigned char *)bytes;
    return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static float le_float(const char *bytes)
{
    uint32_t bits = le32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void check_pc2(const char *folder, int frames)
{
    assert_listing(folder, "run.obj run.pc2");
    size_t size;
    char *file = slurp(folder, "run.pc2", &size);
    assert_int_equal(size, 32 + 12 * particles * frames);
    assert_memory_equal(file, "POINTCACHE2\0", 12);
    assert_int_equal(le32(file + 12), 1);
    assert_int_equal(le32(file + 16), particles);
    assert_true(le_float(file + 20) == 0.0f && le_float(file + 24) == 1.0f);
    assert_int_equal(le32(file + 28), frames);
    for (int k = 0; k < frames; k++)
        for (int i = 0; i < 3 * particles; i++)
            assert_true(le_float(file + 32 + 4 * (3 * particles * k + i)) == (float)q_at(k, i / 3, i % 3));
    free(file);

    obj_file obj = read_obj(folder, "run.obj");
    assert_obj(&obj, 0);
    /* Blender drops unreferenced vertices: a line to a neighbour keeps each of the two interior particles. */
    assert_int_equal(obj.lines, lines + 2);
    assert_int_equal(obj.line[4], inner_first + 1);
    assert_in_range(obj.line[5], 2, 5);
    assert_int_equal(obj.line[6], inner_last + 1);
    assert_in_range(obj.line[7], 13, 16);
}

static void pc2_file(void **state)
{
    (void)state;
    check_pc2(write_all(IN_SCRATCH("pc2"), SINEW_CACHE_PC2, 0, 3), 3);  /* number of frames unknown at opening */
    check_pc2(write_all(IN_SCRATCH("pc2"), SINEW_CACHE_PC2, 3, 3), 3);  /* number of frames known */
    check_pc2(write_all(IN_SCRATCH("pc2"), SINEW_CACHE_PC2, 90, 2), 2); /* announced number of frames wrong */
    check_pc2(write_all(IN_SCRATCH("pc2"), SINEW_CACHE_PC2, 1, 4), 4);
}

/* ---- VTU --------------------------------------------------------------------------------------- */

/* The bytes of a named appended array; its size is checked against `size`. */
static const char *vtu_block(const char *file, const char *name, const char *type, size_t size)
{
    char pattern[128];
    snprintf(pattern, sizeof pattern, "type=\"%s\" Name=\"%s\"", type, name);
    const char *tag = strstr(file, pattern);
    assert_non_null(tag);
    size_t offset = strtoul(strstr(tag, "offset=\"") + 8, NULL, 10);
    const char *data =
        strstr(file, "<AppendedData encoding=\"raw\">\n_") + strlen("<AppendedData encoding=\"raw\">\n_");
    uint64_t stored;
    memcpy(&stored, data + offset, sizeof stored);
    assert_int_equal(stored, size);
    return data + offset + sizeof stored;
}

static void check_vtu(const char *folder, const char *name, int frame)
{
    size_t size;
    char *file = slurp(folder, name, &size);
    const char *real = sizeof(sinew_real) == 8 ? "Float64" : "Float32";
    const sinew_real *q = (const void *)vtu_block(file, "Points", real, 3 * particles * sizeof(sinew_real));
    const sinew_real *v = (const void *)vtu_block(file, "velocity", real, 3 * particles * sizeof(sinew_real));
    for (int i = 0; i < 3 * particles; i++) {
        sinew_real x, y;
        memcpy(&x, &q[i], sizeof x);
        memcpy(&y, &v[i], sizeof y);
        assert_true(x == q_at(frame, i / 3, i % 3) && y == v_at(frame, i / 3, i % 3));
    }
    /* Cells: 4 tets, 2 triangles, 5 edges of the cloth, 2 of the rope, 4 tets. */
    enum {
        cells = 17,
        corners = 16 + 6 + 10 + 4 + 16
    };
    const char *types = vtu_block(file, "types", "UInt8", cells);
    const char *body = vtu_block(file, "body", "Int32", 4 * cells);
    const char *offsets = vtu_block(file, "offsets", "Int32", 4 * cells);
    const char *connectivity = vtu_block(file, "connectivity", "Int32", 4 * corners);
    const int type[cells] = {10, 10, 10, 10, 5, 5, 3, 3, 3, 3, 3, 3, 3, 10, 10, 10, 10};
    const int owner[cells] = {0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3};
    int end = 0;
    for (int c = 0; c < cells; c++) {
        assert_int_equal(types[c], type[c]);
        end += type[c] == 10 ? 4 : type[c] == 5 ? 3 : 2;
        assert_int_equal(le32(body + 4 * c), owner[c]);
        assert_int_equal(le32(offsets + 4 * c), end);
    }
    for (int i = 0; i < 16; i++) {
        assert_int_equal(le32(connectivity + 4 * i), tets_inner_first[i]);
        assert_int_equal(le32(connectivity + 4 * (36 + i)), 12 + tets_inner_last[i]);
    }
    assert_int_equal(le32(connectivity + 4 * 34), 10); /* second edge of the rope */
    assert_int_equal(le32(connectivity + 4 * 35), 11);
    free(file);
}

/* The library's own readers find the cells of the world. */
static sinew_mesh *read_mesh(const char *folder, const char *name)
{
    sinew_error error = {0};
    sinew_mesh *mesh = sinew_mesh_read(path_of(folder, name).text, NULL, &error);
    if (!mesh)
        fail_msg("%s", error.text);
    return mesh;
}

static void read_back(void **state)
{
    (void)state;
    sinew_mesh *mesh = read_mesh(write_all(IN_SCRATCH("back"), SINEW_CACHE_VTU, 0, 2), "run.0001.vtu");
    assert_int_equal(sinew_mesh_vertex_count(mesh), particles);
    assert_int_equal(sinew_mesh_tet_count(mesh), 8);
    assert_int_equal(sinew_mesh_triangle_count(mesh), 2);
    assert_int_equal(sinew_mesh_edge_count(mesh), 7);
    for (int i = 0; i < 3 * particles; i++)
        assert_true(sinew_mesh_positions(mesh)[i] == q_at(1, i / 3, i % 3));
    for (int i = 0; i < 16; i++) {
        assert_int_equal(sinew_mesh_tets(mesh)[i], tets_inner_first[i]);
        assert_int_equal(sinew_mesh_tets(mesh)[16 + i], 12 + tets_inner_last[i]);
    }
    for (int i = 0; i < 10; i++)
        assert_int_equal(sinew_mesh_edges(mesh)[i], 5 + cloth_edges[i]);
    sinew_mesh_destroy(mesh);

    mesh = read_mesh(write_all(IN_SCRATCH("back"), SINEW_CACHE_OBJ, 0, 2), "run.0001.obj");
    assert_int_equal(sinew_mesh_triangle_count(mesh), triangles);
    sinew_mesh_destroy(mesh);
    mesh = read_mesh(write_all(IN_SCRATCH("back"), SINEW_CACHE_GLTF, 0, 2), "run.glb");
    assert_int_equal(sinew_mesh_triangle_count(mesh), triangles);
    sinew_mesh_destroy(mesh);
}

static void vtu_sequence(void **state)
{
    (void)state;
    const char *folder = write_all(IN_SCRATCH("vtu"), SINEW_CACHE_VTU, 0, 3);
    assert_listing(folder, "run.0000.vtu run.0001.vtu run.0002.vtu run.pvd");
    size_t size;
    char *pvd = slurp(folder, "run.pvd", &size);
    char *at = pvd;
    for (int k = 0; k < 3; k++) {
        char name[32];
        snprintf(name, sizeof name, "run.%04d.vtu", k);
        check_vtu(folder, name, k);
        at = strstr(at, "timestep=\"");
        assert_non_null(at);
        at += strlen("timestep=\"");
        assert_true(fabs(strtod(at, NULL) - k / 60.0) < 1e-6);
        char file[64];
        snprintf(file, sizeof file, "file=\"%s\"", name);
        assert_true(strncmp(strstr(at, "file="), file, strlen(file)) == 0);
    }
    assert_null(strstr(at, "timestep"));
    assert_non_null(strstr(at, "</VTKFile>"));
    free(pvd);
}

/* ---- glTF -------------------------------------------------------------------------------------- */

typedef struct glb_file {
    char *bytes;
    json_t *root;
    const char *binary;
    size_t binary_size;
} glb_file;

static glb_file read_glb(const char *folder)
{
    assert_listing(folder, "run.glb");
    glb_file glb = {0};
    size_t size;
    glb.bytes = slurp(folder, "run.glb", &size);
    assert_memory_equal(glb.bytes, "glTF", 4);
    assert_int_equal(le32(glb.bytes + 4), 2);
    assert_int_equal(le32(glb.bytes + 8), size);
    size_t json_size = le32(glb.bytes + 12);
    assert_int_equal(json_size % 4, 0);
    assert_memory_equal(glb.bytes + 16, "JSON", 4);
    json_error_t problem;
    glb.root = json_loadb(glb.bytes + 20, json_size, 0, &problem);
    if (!glb.root)
        fail_msg("%s", problem.text);
    glb.binary_size = le32(glb.bytes + 20 + json_size);
    assert_memory_equal(glb.bytes + 24 + json_size, "BIN\0", 4);
    glb.binary = glb.bytes + 28 + json_size;
    assert_int_equal(size, 28 + json_size + glb.binary_size);
    json_t *buffer = json_array_get(json_object_get(glb.root, "buffers"), 0);
    assert_int_equal(json_integer_value(json_object_get(buffer, "byteLength")), glb.binary_size);
    return glb;
}

static void free_glb(glb_file *glb)
{
    json_decref(glb->root);
    free(glb->bytes);
}

static int64_t number(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

/* Returns the start of an accessor's values after checking its index, count and type. */
static const char *accessor(const glb_file *glb, int64_t index, int64_t count, const char *type, int64_t component)
{
    const json_t *a = json_array_get(json_object_get(glb->root, "accessors"), (size_t)index);
    assert_non_null(a);
    assert_int_equal(number(a, "count"), count);
    assert_string_equal(json_string_value(json_object_get(a, "type")), type);
    assert_int_equal(number(a, "componentType"), component);
    const json_t *view = json_array_get(json_object_get(glb->root, "bufferViews"), (size_t)number(a, "bufferView"));
    assert_non_null(view);
    int64_t width = strcmp(type, "VEC3") == 0 ? 12 : 4;
    int64_t offset = number(a, "byteOffset");
    assert_true(offset + count * width <= number(view, "byteLength"));
    offset += number(view, "byteOffset");
    assert_true(number(view, "byteOffset") + number(view, "byteLength") <= (int64_t)glb->binary_size);
    assert_int_equal(offset % 4, 0);
    return glb->binary + offset;
}

enum {
    glb_points = particles - 2,        /* all but the two interior particles, in order; copies for sharp edges follow */
    glb_vertices = glb_points + 2 * 8, /* every edge of a tetrahedron is sharp: three vertices per corner */
};

/* Maps each vertex of the file to its particle; copies are matched by their position in the first frame. */
static void find_particles(const char *base, int *particle)
{
    for (int i = 0; i < glb_vertices; i++) {
        particle[i] = i < glb_points ? i + 1 : -1;
        for (int p = 1; i >= glb_points && p <= glb_points; p++) {
            bool same = true;
            for (int axis = 0; axis < 3; axis++)
                same = same && le_float(base + 4 * (3 * i + axis)) == (float)q_at(0, p, axis);
            particle[i] = same ? p : particle[i];
        }
        assert_true(particle[i] > 0);
    }
}

/* POSITION of frame k against the formula; min and max against the values. */
static void check_positions(const glb_file *glb, int64_t index, int k, const int *particle, const char *base)
{
    const char *data = accessor(glb, index, glb_vertices, "VEC3", 5126);
    const json_t *a = json_array_get(json_object_get(glb->root, "accessors"), (size_t)index);
    for (int axis = 0; axis < 3; axis++) {
        float low = FLT_MAX, high = -FLT_MAX;
        for (int i = 0; i < glb_vertices; i++) {
            float value = le_float(data + 4 * (3 * i + axis));
            float x = (float)q_at(k, particle[i], axis);
            if (base) /* base + displacement differs by one rounding at most */
                assert_true(fabsf(le_float(base + 4 * (3 * i + axis)) + value - x) <=
                            4 * FLT_EPSILON * fabsf(x) + 5e-7f);
            else
                assert_true(value == x);
            low = fminf(low, value);
            high = fmaxf(high, value);
        }
        assert_true(json_real_value(json_array_get(json_object_get(a, "min"), (size_t)axis)) == (double)low);
        assert_true(json_real_value(json_array_get(json_object_get(a, "max"), (size_t)axis)) == (double)high);
    }
}

/* The normal of a triangle of particles in frame k, by the formula; unit length, or twice the area if `weighted`. */
static void face_normal(int k, const int *corner, bool weighted, double normal[3])
{
    double u[3], v[3];
    for (int axis = 0; axis < 3; axis++) {
        const double origin = (double)(float)q_at(k, corner[0], axis);
        u[axis] = (double)(float)q_at(k, corner[1], axis) - origin;
        v[axis] = (double)(float)q_at(k, corner[2], axis) - origin;
    }
    for (int axis = 0; axis < 3; axis++)
        normal[axis] = u[(axis + 1) % 3] * v[(axis + 2) % 3] - u[(axis + 2) % 3] * v[(axis + 1) % 3];
    const double length = weighted ? 1 : sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int axis = 0; axis < 3; axis++)
        normal[axis] /= length;
}

/* Corners of tetrahedra have the normal of their face. The two triangles of the cloth are coplanar at rest and share
 * normals at shared particles. */
static void expected_normal(int k, const int *faces, int face, int corner, double normal[3])
{
    face_normal(k, faces + 3 * face, false, normal);
    const int particle = faces[3 * face + corner];
    if (face != 4 && face != 5)
        return;
    double sum[3] = {0};
    for (int f = 4; f < 6; f++)
        for (int c = 0; c < 3; c++)
            if (faces[3 * f + c] == particle) {
                double one[3];
                face_normal(k, faces + 3 * f, true, one);
                for (int axis = 0; axis < 3; axis++)
                    sum[axis] += one[axis];
            }
    const double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    for (int axis = 0; axis < 3; axis++)
        normal[axis] = sum[axis] / length;
}

/* Checks NORMAL of every corner in frame k; `data` is relative to the first frame `base` if there is one. */
static void check_normals(const char *data, const char *base, int k, const char *index, const int *particle)
{
    int faces[3 * triangles];
    for (int i = 0; i < 3 * triangles; i++)
        faces[i] = particle[le32(index + 4 * i)];
    for (int i = 0; i < 3 * triangles; i++) {
        double normal[3];
        const size_t vertex = le32(index + 4 * i);
        expected_normal(k, faces, i / 3, i % 3, normal);
        for (size_t axis = 0; axis < 3; axis++) {
            double found = (double)le_float(data + 4 * (3 * vertex + axis));
            found += base ? (double)le_float(base + 4 * (3 * vertex + axis)) : 0;
            assert_true(fabs(found - normal[axis]) < 2e-4);
        }
    }
}

static void check_animation(const glb_file *glb, int frames, int every)
{
    const json_t *animation = json_array_get(json_object_get(glb->root, "animations"), 0);
    const json_t *sampler = json_array_get(json_object_get(animation, "samplers"), 0);
    const json_t *channel = json_array_get(json_object_get(animation, "channels"), 0);
    assert_string_equal(json_string_value(json_object_get(sampler, "interpolation")), "LINEAR");
    assert_string_equal(json_string_value(json_object_get(json_object_get(channel, "target"), "path")), "weights");
    const char *times = accessor(glb, number(sampler, "input"), frames, "SCALAR", 5126);
    const char *weights = accessor(glb, number(sampler, "output"), (int64_t)frames * (frames - 1), "SCALAR", 5126);
    for (int k = 0; k < frames; k++) {
        assert_true(fabs((double)le_float(times + 4 * k) - 0.04 * k * every) < 1e-6 * every);
        for (int t = 0; t < frames - 1; t++)
            assert_true(le_float(weights + 4 * (k * (frames - 1) + t)) == (t + 1 == k ? 1.0f : 0.0f));
    }
}

/* Checks a file with `frames` frames, which holds every `every`-th written frame. */
static void check_glb_every(const char *folder, int frames, int every)
{
    glb_file glb = read_glb(folder);
    const json_t *mesh = json_array_get(json_object_get(glb.root, "meshes"), 0);
    const json_t *primitives = json_object_get(mesh, "primitives");
    assert_int_equal(json_array_size(primitives), 2);
    const char *index = accessor(&glb, number(json_array_get(primitives, 0), "indices"), 3 * triangles, "SCALAR", 5125);
    int particle[glb_vertices];
    for (size_t p = 0; p < 2; p++) {
        const json_t *primitive = json_array_get(primitives, p), *attributes = json_object_get(primitive, "attributes");
        assert_int_equal(number(primitive, "mode"), p == 0 ? 4 : 1);
        const char *base = accessor(&glb, number(attributes, "POSITION"), glb_vertices, "VEC3", 5126);
        find_particles(base, particle);
        check_positions(&glb, number(attributes, "POSITION"), 0, particle, NULL);
        assert_int_equal(json_object_get(attributes, "NORMAL") != NULL, p == 0);
        const char *normals = p ? NULL : accessor(&glb, number(attributes, "NORMAL"), glb_vertices, "VEC3", 5126);
        if (normals)
            check_normals(normals, NULL, 0, index, particle);
        const json_t *targets = json_object_get(primitive, "targets");
        assert_int_equal(json_array_size(targets), frames - 1);
        assert_true(frames > 1 || !targets);
        for (int k = 1; k < frames; k++) {
            const json_t *target = json_array_get(targets, (size_t)k - 1);
            check_positions(&glb, number(target, "POSITION"), every * k, particle, base);
            assert_int_equal(json_object_get(target, "NORMAL") != NULL, p == 0);
            if (normals)
                check_normals(accessor(&glb, number(target, "NORMAL"), glb_vertices, "VEC3", 5126), normals, every * k,
                              index, particle);
        }
    }
    int faces[3 * triangles];
    for (int i = 0; i < 3 * triangles; i++)
        faces[i] = particle[le32(index + 4 * i)];
    assert_faces(faces);
    index = accessor(&glb, number(json_array_get(primitives, 1), "indices"), 2 * lines, "SCALAR", 5125);
    const int rope[4] = {9, 10, 10, 11};
    for (int i = 0; i < 4; i++)
        assert_int_equal(particle[le32(index + 4 * i)], rope[i]);
    if (frames > 1)
        check_animation(&glb, frames, every);
    else
        assert_null(json_object_get(glb.root, "animations"));
    free_glb(&glb);
}

static void check_glb(const char *folder, int frames)
{
    check_glb_every(folder, frames, 1);
}

static void write_morphs(const char *folder, int frames, int max)
{
    sinew_world *world = make_world(NULL);
    set_state(world, 0);
    sinew_cache_def def = cache_def(world, fresh_folder(folder), SINEW_CACHE_GLTF);
    def.morph_frames = max;
    write_frames(world, &def, frames);
    sinew_world_destroy(world);
}

static void gltf_file(void **state)
{
    (void)state;
    check_glb(write_all(IN_SCRATCH("gltf"), SINEW_CACHE_GLTF, 0, 5), 5);
    check_glb(write_all(IN_SCRATCH("gltf"), SINEW_CACHE_GLTF, 2, 2), 2);
    write_morphs(IN_SCRATCH("gltf"), 150, 0);
    check_glb(IN_SCRATCH("gltf"), 150); /* enough frames for the list of bounds to grow twice */
}

/* With more frames than the limit, the file holds every second, fourth ... frame, always with the first. */
static void gltf_morphs(void **state)
{
    (void)state;
    const struct {
        int frames, max, every, kept;
    } cases[] = {{120, 120, 1, 120}, {121, 120, 2, 61}, {9, 4, 4, 3}, {8, 4, 2, 4}, {9, 1, 16, 1}, {9, 0, 1, 9}};
    assert_int_equal(sinew_default_cache_def().morph_frames, 120);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(sinew_cache_morph_stride(cases[i].frames, cases[i].max), cases[i].every);
        write_morphs(IN_SCRATCH("morphs"), cases[i].frames, cases[i].max);
        check_glb_every(IN_SCRATCH("morphs"), cases[i].kept, cases[i].every);
    }
    assert_int_equal(sinew_cache_morph_stride(INT32_MAX, 1), 1 << 30);
    assert_int_equal(sinew_cache_morph_stride(0, 1), 1);
}

/* A file closed with fewer frames, and a smaller stride, can be resumed: it lacks no frame that the longer file needs.
 */
static void gltf_morphs_go_on(void **state)
{
    (void)state;
    for (int closed = 1; closed <= 30; closed += 1 + closed / 3) {
        write_morphs(IN_SCRATCH("straight"), 30, 7);
        write_morphs(IN_SCRATCH("halves"), closed, 7);
        sinew_world *world = make_world(NULL);
        for (int k = 1; k < closed; k++)
            sinew_world_step(world, NULL);
        sinew_cache_def def = cache_def(world, IN_SCRATCH("halves"), SINEW_CACHE_GLTF);
        def.morph_frames = 7;
        def.kept_frames = closed;
        write_frames_from(world, &def, closed, 30);
        assert_same_folders(IN_SCRATCH("straight"), IN_SCRATCH("halves"));
        sinew_world_destroy(world);
    }
    /* With another limit the file lacks frames; the refusal names the missing frame. */
    write_morphs(IN_SCRATCH("halves"), 9, 4);
    sinew_world *world = make_world(NULL);
    sinew_error error = {0};
    sinew_cache_def def = cache_def(world, IN_SCRATCH("halves"), SINEW_CACHE_GLTF);
    def.kept_frames = 9;
    sinew_cache *cache = sinew_cache_open(&def, &error);
    assert_non_null(cache);
    assert_int_equal(sinew_cache_close(cache, &error), SINEW_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "frame 1 was left out"));
    sinew_world_destroy(world);
}

static void gltf_limits(void **state)
{
    (void)state;
    const char *folder = fresh_folder(IN_SCRATCH("limits"));
    sinew_world *world = make_world(NULL);
    sinew_error error = {0};
    sinew_cache_def def = cache_def(world, folder, SINEW_CACHE_GLTF);
    def.frame_count = 100000; /* needs 10^10 morph weights */
    def.morph_frames = 0;
    assert_null(sinew_cache_open(&def, &error));
    assert_int_equal(error.status, SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "4 GiB"));
    def.frame_count = 0;
    /* Invalid UTF-8: a lone byte, a lead byte without its tail, '/' in two bytes, a surrogate, beyond Unicode. */
    const char *bad[] = {"\xff", "a\xc3", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        def.name = bad[i];
        assert_null(sinew_cache_open(&def, &error));
        assert_int_equal(error.status, SINEW_ERROR_DATA);
    }
    def.name = "r\xc3\xbc\xe2\x82\xac\xf0\x9f\x8e\x88"; /* characters of two, three and four bytes */
    sinew_cache *cache = sinew_cache_open(&def, &error);
    assert_non_null(cache);
    sinew_cache_drop(cache);
    sinew_world_destroy(world);
    assert_listing(folder, "");
}

/* ---- CSV --------------------------------------------------------------------------------------- */

static void check_csv(const char *folder, int frames)
{
    assert_listing(folder, "run.csv");
    size_t size;
    char *text = slurp(folder, "run.csv", &size);
    char *line = strtok(text, "\n");
    assert_string_equal(line, "frame,time,particle,x,y,z,vx,vy,vz");
    for (int k = 0; k < frames; k++)
        for (int i = 0; i < particles; i++) {
            line = strtok(NULL, "\n");
            assert_non_null(line);
            int frame, particle;
            double time, q[3], v[3];
            assert_int_equal(sscanf(line, "%d,%lf,%d,%lf,%lf,%lf,%lf,%lf,%lf", &frame, &time, &particle, &q[0], &q[1],
                                    &q[2], &v[0], &v[1], &v[2]),
                             9);
            assert_int_equal(frame, k);
            assert_int_equal(particle, i);
            assert_true(fabs(time - k / 60.0) < 1e-6);
            for (int axis = 0; axis < 3; axis++) {
                assert_true((sinew_real)q[axis] == q_at(k, i, axis));
                assert_true((sinew_real)v[axis] == v_at(k, i, axis));
            }
        }
    assert_null(strtok(NULL, "\n"));
    free(text);
}

static void csv_file(void **state)
{
    (void)state;
    check_csv(write_all(IN_SCRATCH("csv"), SINEW_CACHE_CSV, 0, 4), 4);
}

/* Numbers are written with a point under locales with a decimal comma; skipped if no such locale is installed. */
static void commas(void **state)
{
    (void)state;
    const char *names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8", "ps_AF.UTF-8", "ps_AF"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!setlocale(LC_NUMERIC, names[i]))
            continue;
        found = true;
        const char *csv = write_all(IN_SCRATCH("commas"), SINEW_CACHE_CSV, 0, 2);
        setlocale(LC_NUMERIC, "C");
        check_csv(csv, 2);
        setlocale(LC_NUMERIC, names[i]);
        const char *glb = write_all(IN_SCRATCH("commas"), SINEW_CACHE_GLTF, 0, 2);
        setlocale(LC_NUMERIC, "C");
        check_glb(glb, 2);
    }
    if (!found)
        skip();
}

/* ---- Every format ------------------------------------------------------------------------------ */

static void names(void **state)
{
    (void)state;
    const char *expected[SINEW_CACHE_COUNT] = {"pc2", "obj", "vtu", "gltf", "csv", "npy", "usda"};
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        assert_string_equal(sinew_cache_format_name((sinew_cache_format)f), expected[f]);
        assert_int_equal(sinew_cache_format_by_name(expected[f]), f);
    }
    assert_int_equal(sinew_cache_format_by_name("abc"), SINEW_CACHE_COUNT);
    assert_int_equal(sinew_cache_format_by_name(NULL), SINEW_CACHE_COUNT);
    assert_string_equal(sinew_cache_format_name(SINEW_CACHE_COUNT), "unknown");
}

static void few_frames(void **state)
{
    (void)state;
    check_pc2(write_all(IN_SCRATCH("few"), SINEW_CACHE_PC2, 0, 0), 0);
    check_pc2(write_all(IN_SCRATCH("few"), SINEW_CACHE_PC2, 0, 1), 1);
    check_glb(write_all(IN_SCRATCH("few"), SINEW_CACHE_GLTF, 0, 0), 1); /* no frame: the file holds the current shape */
    check_glb(write_all(IN_SCRATCH("few"), SINEW_CACHE_GLTF, 0, 1), 1);
    check_csv(write_all(IN_SCRATCH("few"), SINEW_CACHE_CSV, 0, 0), 0);
    check_csv(write_all(IN_SCRATCH("few"), SINEW_CACHE_CSV, 0, 1), 1);
    assert_listing(write_all(IN_SCRATCH("few"), SINEW_CACHE_OBJ, 0, 0), "");
    const char *folder = write_all(IN_SCRATCH("few"), SINEW_CACHE_VTU, 0, 0);
    assert_listing(folder, "run.pvd");
    folder = write_all(IN_SCRATCH("few"), SINEW_CACHE_VTU, 0, 1);
    assert_listing(folder, "run.0000.vtu run.pvd");
    check_vtu(folder, "run.0000.vtu", 0);
}

static void dropped(void **state)
{
    (void)state;
    const char *left[SINEW_CACHE_COUNT] = {"", "run.0000.obj", "run.0000.vtu", "", "", "", ""};
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        const char *folder = fresh_folder(IN_SCRATCH("dropped"));
        sinew_world *world = make_world(NULL);
        sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
        sinew_cache *cache = sinew_cache_open(&def, NULL);
        assert_non_null(cache);
        assert_int_equal(sinew_cache_frame(cache, NULL), SINEW_OK);
        sinew_cache_drop(cache);
        assert_listing(folder, left[f]);
        sinew_world_destroy(world);
    }
    sinew_cache_drop(NULL);
}

static void many_bodies(void **state)
{
    (void)state;
    enum {
        ropes = 300
    };
    const char *folder = fresh_folder(IN_SCRATCH("many"));
    sinew_world *world = empty_world(NULL);
    for (int i = 0; i < ropes; i++)
        add_body(world, 3, q_rope, 0, NULL, 0, NULL, 2, rope_edges);
    for (int f = 0; f < SINEW_CACHE_COUNT; f++) {
        sinew_error error = {0};
        sinew_cache_def def = cache_def(world, folder, (sinew_cache_format)f);
        sinew_cache *cache = sinew_cache_open(&def, &error);
        assert_non_null(cache);
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        assert_int_equal(sinew_cache_close(cache, &error), SINEW_OK);
    }
    sinew_world_destroy(world);
    size_t size;
    char *obj = slurp(folder, "run.0001.obj", &size);
    assert_non_null(strstr(obj, "\nl 898 899\nl 899 900\n"));
    assert_null(strstr(obj, "\nf "));
    free(obj);
    char *pc2 = slurp(folder, "run.pc2", &size);
    assert_int_equal(size, 32 + 2 * 12 * 3 * ropes);
    free(pc2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),        cmocka_unit_test(pc2_file),
        cmocka_unit_test(obj_sequence), cmocka_unit_test(vtu_sequence),
        cmocka_unit_test(read_back),    cmocka_unit_test(gltf_file),
        cmocka_unit_test(gltf_morphs),  cmocka_unit_test(gltf_morphs_go_on),
        cmocka_unit_test(gltf_limits),  cmocka_unit_test(csv_file),
        cmocka_unit_test(commas),       cmocka_unit_test(few_frames),
        cmocka_unit_test(dropped),      cmocka_unit_test(many_bodies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
