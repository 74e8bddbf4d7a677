/* SPDX-License-Identifier: MIT
 *
 * fuzz_mesh_cycle.c: libFuzzer feeds a mesh through read, check, fix, write and read. The first bytes select the
 * format, so that the corpora of all readers serve (mesh_entry.h).
 *
 * Invariants: check returns a result for every mesh. A fixed mesh has none of the flaws that fix cures, and fixing it
 * again changes nothing. A written mesh is read back with the same bits in every format that can store it.
 */
#include <string.h>

#include "fuzz_files.h"
#include "fuzz_memory.h"
#include "mesh_entry.h"

static void fail(const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s\n", what, detail);
    abort();
}

static bool same_array(const void *a, const void *b, size_t size)
{
    return size == 0 || memcmp(a, b, size) == 0;
}

static bool same_mesh(const sinew_mesh *a, const sinew_mesh *b, bool tets)
{
    const size_t vertices = (size_t)sinew_mesh_vertex_count(a), triangles = (size_t)sinew_mesh_triangle_count(a);
    const size_t edges = (size_t)sinew_mesh_edge_count(a), tet_count = tets ? (size_t)sinew_mesh_tet_count(a) : 0;
    return vertices == (size_t)sinew_mesh_vertex_count(b) && triangles == (size_t)sinew_mesh_triangle_count(b) &&
           edges == (size_t)sinew_mesh_edge_count(b) && tet_count == (size_t)sinew_mesh_tet_count(b) &&
           same_array(sinew_mesh_positions(a), sinew_mesh_positions(b), 3 * vertices * sizeof(sinew_real)) &&
           same_array(sinew_mesh_tets(a), sinew_mesh_tets(b), 4 * tet_count * sizeof(int32_t)) &&
           same_array(sinew_mesh_triangles(a), sinew_mesh_triangles(b), 3 * triangles * sizeof(int32_t)) &&
           same_array(sinew_mesh_edges(a), sinew_mesh_edges(b), 2 * edges * sizeof(int32_t));
}

/* ---- Write and read ------------------------------------------------------------------------ */

typedef struct way {
    const char *name;
    sinew_mesh_format format;
    bool surface; /* the format stores no tets */
} way;

static const way ways[] = {
    {"a.msh", SINEW_MESH_GMSH_2_ASCII, false}, {"a.msh", SINEW_MESH_GMSH_2_BINARY, false},
    {"a.msh", SINEW_MESH_GMSH_4_ASCII, false}, {"a.msh", SINEW_MESH_GMSH_4_BINARY, false},
    {"a.node", SINEW_MESH_BY_ENDING, false},   {"a.mesh", SINEW_MESH_BY_ENDING, false},
    {"a.vtk", SINEW_MESH_BY_ENDING, false},    {"a.vtk", SINEW_MESH_VTK_BINARY, false},
    {"a.vtu", SINEW_MESH_BY_ENDING, false},    {"a.vtu", SINEW_MESH_VTU_BINARY, false},
    {"a.obj", SINEW_MESH_BY_ENDING, true},     {"a.ply", SINEW_MESH_BY_ENDING, true},
    {"a.off", SINEW_MESH_BY_ENDING, true},
};

static void write_and_read(const sinew_mesh *mesh, const way *w)
{
    sinew_error error = {SINEW_OK, ""};
    fuzz_path path = fuzz_in_scratch(w->name);
    if (sinew_mesh_write(mesh, path.text, w->format, &error) != SINEW_OK)
        fail(w->name, error.text);
    sinew_mesh *back = sinew_mesh_read(path.text, NULL, &error);
    if (!back)
        fail(w->name, error.text);
    /* Surface formats store the boundary of a mesh that has tets and no triangles. */
    bool boundary = w->surface && sinew_mesh_tet_count(mesh) > 0 && sinew_mesh_triangle_count(mesh) == 0;
    sinew_mesh *surface = boundary ? sinew_mesh_surface(mesh, NULL) : NULL;
    if (!same_mesh(surface ? surface : mesh, back, !w->surface))
        fail(w->name, "another mesh comes back");
    sinew_mesh_destroy(surface);
    sinew_mesh_destroy(back);
}

/* STL stores single precision and no vertex numbers: the test compares triangles corner by corner. */
static void write_and_read_stl(const sinew_mesh *mesh)
{
    fuzz_path path = fuzz_in_scratch("a.stl");
    if (sinew_mesh_triangle_count(mesh) == 0 ||
        sinew_mesh_write(mesh, path.text, SINEW_MESH_BY_ENDING, NULL) != SINEW_OK)
        return;
    sinew_mesh *back = sinew_mesh_read(path.text, NULL, NULL);
    if (!back || sinew_mesh_triangle_count(back) != sinew_mesh_triangle_count(mesh))
        fail("a.stl", "other triangles come back");
    for (size_t i = 0; i < 9 * (size_t)sinew_mesh_triangle_count(mesh); i++) {
        size_t wanted = 3 * (size_t)sinew_mesh_triangles(mesh)[i / 3] + i % 3;
        size_t found = 3 * (size_t)sinew_mesh_triangles(back)[i / 3] + i % 3;
        if ((float)sinew_mesh_positions(mesh)[wanted] != (float)sinew_mesh_positions(back)[found])
            fail("a.stl", "a corner moved");
    }
    sinew_mesh_destroy(back);
}

/* ---- Check and fix ------------------------------------------------------------------------- */

static void check_fixed(const sinew_mesh *fixed)
{
    static const sinew_flaw_kind cured[] = {SINEW_FLAW_INVERTED_TET,        SINEW_FLAW_DEGENERATE_TET,
                                            SINEW_FLAW_DEGENERATE_TRIANGLE, SINEW_FLAW_DEGENERATE_EDGE,
                                            SINEW_FLAW_DUPLICATE_VERTEX,    SINEW_FLAW_UNUSED_VERTEX,
                                            SINEW_FLAW_DUPLICATE_CELL};
    sinew_mesh_report report;
    if (sinew_mesh_check(fixed, &report, NULL, 0, NULL) < 0)
        fail("check", "no answer for a fixed mesh");
    for (size_t i = 0; i < sizeof cured / sizeof cured[0]; i++)
        if (report.counts[cured[i]] > 0)
            fail("fix left", sinew_flaw_name(cured[i]));
    bool one_sided = strstr(sinew_mesh_warnings(fixed), "one side only") != NULL;
    if (report.counts[SINEW_FLAW_FLIPPED_TRIANGLE] > 0 && !one_sided)
        fail("fix left", sinew_flaw_name(SINEW_FLAW_FLIPPED_TRIANGLE));
}

static void check_and_fix(const sinew_mesh *mesh)
{
    sinew_error error = {SINEW_OK, ""};
    if (sinew_mesh_check(mesh, NULL, NULL, 0, &error) < 0)
        fail("check", error.text);
    sinew_mesh *fixed = sinew_mesh_fix(mesh, 0, NULL, &error);
    if (!fixed)
        fail("fix", error.text);
    check_fixed(fixed);
    sinew_mesh *again = sinew_mesh_fix(fixed, 0, NULL, &error);
    if (!again || !same_mesh(fixed, again, true))
        fail("fix", "a fixed mesh is changed again");
    sinew_mesh_destroy(again);
    sinew_mesh_destroy(fixed);
}

/* Recognises a format by the first bytes of its files; OBJ, which has no such mark, is the default. */
static const char *name_for(const uint8_t *data, size_t size)
{
    static const char *const marks[][2] = {{"$", "f.msh"},   {"M", "f.mesh"},    {"#", "f.vtk"},
                                           {"<", "f.vtu"},   {"ply", "f.ply"},   {"solid", "f.stl"},
                                           {"OFF", "f.off"}, {"glTF", "f.gltf"}, {"{", "f.gltf"}};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (size > strlen(marks[i][0]) && memcmp(data, marks[i][0], strlen(marks[i][0])) == 0)
            return marks[i][1];
    return size > 0 && data[0] >= '0' && data[0] <= '9' ? "f.node" : "f.obj";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t left;
    sinew_allocator memory = fuzz_memory(&left);
    sinew_mesh *mesh = mesh_entry(name_for(data, size), data, size, &memory, NULL);
    left = FUZZ_LARGEST_SUM;
    if (mesh && sinew_mesh_vertex_count(mesh) <= 300) {
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
            write_and_read(mesh, &ways[i]);
        write_and_read_stl(mesh);
        check_and_fix(mesh);
    }
    sinew_mesh_destroy(mesh);
    return 0;
}
