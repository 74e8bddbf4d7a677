/* SPDX-License-Identifier: MIT
 *
 * test_mesh_cells.c: every type of cell that Gmsh, VTK and glTF files may hold. Cells that the library does not
 * simulate are skipped by their number of nodes, which this file has from the formulas of Lagrange elements, and are
 * counted by name.
 */
#include "mesh_files.h"

#define NODE_COUNT 130

static const char *const orders[] = {"", "", "second-order ", "third-order ", "fourth-order ", "fifth-order "};

typedef enum cell_shape {
    POINT,
    LINE,
    TRIANGLE,
    QUADRILATERAL,
    TET,
    HEXAHEDRON,
    PRISM,
    PYRAMID
} cell_shape;

static const char *const plurals[] = {"points",     "lines",     "triangles", "quadrilaterals",
                                      "tetrahedra", "hexahedra", "prisms",    "pyramids"};

typedef struct cell_type {
    int number; /* in files */
    cell_shape shape;
    int order;
    bool hollow; /* serendipity: nodes on edges alone */
} cell_type;

/* Gmsh reference manual, "MSH file format". */
static const cell_type gmsh_types[] = {
    {1, LINE, 1, false},          {2, TRIANGLE, 1, false},
    {3, QUADRILATERAL, 1, false}, {4, TET, 1, false},
    {5, HEXAHEDRON, 1, false},    {6, PRISM, 1, false},
    {7, PYRAMID, 1, false},       {8, LINE, 2, false},
    {9, TRIANGLE, 2, false},      {10, QUADRILATERAL, 2, false},
    {11, TET, 2, false},          {12, HEXAHEDRON, 2, false},
    {13, PRISM, 2, false},        {14, PYRAMID, 2, false},
    {15, POINT, 1, false},        {16, QUADRILATERAL, 2, true},
    {18, PRISM, 2, true},         {17, HEXAHEDRON, 2, true},
    {19, PYRAMID, 2, true},       {20, TRIANGLE, 3, true},
    {21, TRIANGLE, 3, false},     {22, TRIANGLE, 4, true},
    {23, TRIANGLE, 4, false},     {24, TRIANGLE, 5, true},
    {25, TRIANGLE, 5, false},     {26, LINE, 3, false},
    {27, LINE, 4, false},         {28, LINE, 5, false},
    {29, TET, 3, false},          {30, TET, 4, false},
    {31, TET, 5, false},          {92, HEXAHEDRON, 3, false},
    {93, HEXAHEDRON, 4, false},
};

/* Nodes of a Lagrange element of order p, or of its serendipity form: corners and p - 1 nodes an edge. */
static int node_count(const cell_type *t)
{
    static const int corners[] = {1, 2, 3, 4, 4, 8, 6, 5}, edges[] = {0, 1, 3, 4, 6, 12, 9, 8};
    const int p = t->order;
    if (t->hollow)
        return corners[t->shape] + (p - 1) * edges[t->shape];
    switch (t->shape) {
    case LINE:
        return p + 1;
    case TRIANGLE:
        return (p + 1) * (p + 2) / 2;
    case QUADRILATERAL:
        return (p + 1) * (p + 1);
    case TET:
        return (p + 1) * (p + 2) * (p + 3) / 6;
    case HEXAHEDRON:
        return (p + 1) * (p + 1) * (p + 1);
    case PRISM:
        return (p + 1) * (p + 1) * (p + 2) / 2;
    case PYRAMID:
        return (p + 1) * (p + 2) * (2 * p + 3) / 6;
    default:
        return 1;
    }
}

/* ---- Files of one cell and a tetrahedron behind it ------------------------------------------------- */

typedef struct buffer {
    char bytes[1 << 14];
    size_t size;
} buffer;

static void put(buffer *b, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    b->size += (size_t)vsnprintf(b->bytes + b->size, sizeof b->bytes - b->size, format, list);
    va_end(list);
    assert_true(b->size < sizeof b->bytes);
}

static void put_bytes(buffer *b, const void *bytes, size_t size)
{
    assert_true(b->size + size < sizeof b->bytes);
    memcpy(b->bytes + b->size, bytes, size);
    b->size += size;
}

static void put_integer(buffer *b, int32_t value)
{
    put_bytes(b, &value, sizeof value);
}

/* Points on a parabola in space: no four of them in a plane. */
static void place(int i, double x[3])
{
    x[0] = i;
    x[1] = 0.01 * i * i;
    x[2] = 0.0001 * i * i * i;
}

static void put_gmsh_text(buffer *b, int type, int count)
{
    put(b, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", NODE_COUNT);
    for (int i = 0; i < NODE_COUNT; i++) {
        double x[3];
        place(i, x);
        put(b, "%d %.17g %.17g %.17g\n", i + 1, x[0], x[1], x[2]);
    }
    put(b, "$EndNodes\n$Elements\n2\n1 %d 2 7 7", type);
    for (int i = 0; i < count; i++)
        put(b, " %d", i + 1);
    put(b, "\n2 4 1 9 11 12 13 14\n$EndElements\n");
}

static void put_gmsh_binary(buffer *b, int type, int count)
{
    put(b, "$MeshFormat\n2.2 1 8\n");
    put_integer(b, 1);
    put(b, "\n$EndMeshFormat\n$Nodes\n%d\n", NODE_COUNT);
    for (int i = 0; i < NODE_COUNT; i++) {
        double x[3];
        place(i, x);
        put_integer(b, i + 1);
        put_bytes(b, x, sizeof x);
    }
    put(b, "\n$EndNodes\n$Elements\n2\n");
    const int32_t head[] = {type, 1, 2, 1, 7, 7}, tet[] = {4, 1, 1, 2, 9, 11, 12, 13, 14};
    put_bytes(b, head, sizeof head);
    for (int i = 0; i < count; i++)
        put_integer(b, i + 1);
    put_bytes(b, tet, sizeof tet);
    put(b, "\n$EndElements\n");
}

/* The tetrahedron is the last cell, whatever stands before it. */
static void assert_last_tet(const sinew_mesh *mesh)
{
    const int32_t count = sinew_mesh_tet_count(mesh);
    assert_true(count > 0);
    const int32_t *tet = sinew_mesh_tets(mesh) + 4 * (size_t)(count - 1);
    bool found[4] = {false};
    for (int a = 0; a < 4; a++) {
        assert_in_range(tet[a], 10, 13);
        found[tet[a] - 10] = true;
    }
    assert_true(found[0] && found[1] && found[2] && found[3]);
}

static void check_gmsh(const cell_type *type, void write(buffer *, int, int))
{
    static buffer b;
    b.size = 0;
    write(&b, type->number, node_count(type));
    store(SCRATCH("cells.msh"), b.bytes, b.size);
    sinew_mesh *mesh = must_read(SCRATCH("cells.msh"));
    char expected[128];
    const bool kept = type->order == 1 && type->shape >= LINE && type->shape <= TET;
    snprintf(expected, sizeof expected, "ignored 1 %s%s", orders[type->order], plurals[type->shape]);
    if (kept)
        snprintf(expected, sizeof expected, "%s", type->shape == QUADRILATERAL ? "cut 1 polygons into triangles" : "");
    assert_string_equal(sinew_mesh_warnings(mesh), expected);
    assert_int_equal(sinew_mesh_vertex_count(mesh), NODE_COUNT);
    assert_int_equal(sinew_mesh_edge_count(mesh), kept && type->shape == LINE);
    assert_int_equal(sinew_mesh_triangle_count(mesh), !kept                          ? 0
                                                      : type->shape == TRIANGLE      ? 1
                                                      : type->shape == QUADRILATERAL ? 2
                                                                                     : 0);
    assert_int_equal(sinew_mesh_tet_count(mesh), kept && type->shape == TET ? 2 : 1);
    assert_last_tet(mesh);
    sinew_mesh_destroy(mesh);
}

static void gmsh_types_have_their_nodes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gmsh_types / sizeof gmsh_types[0]; i++) {
        check_gmsh(&gmsh_types[i], put_gmsh_text);
        check_gmsh(&gmsh_types[i], put_gmsh_binary);
    }
}

/* ---- VTK --------------------------------------------------------------------------------------------- */

/* The VTK User's Guide, "VTK File Formats": cells that the reader skips, with the name that it counts them by. */
static const struct {
    int number, corners;
    const char *plural;
} vtk_skipped[] = {
    {1, 1, "points"},
    {2, 5, "clouds of points"},
    {11, 8, "voxels"},
    {12, 8, "hexahedra"},
    {13, 6, "prisms"},
    {14, 5, "pyramids"},
    {15, 10, "pentagonal prisms"},
    {16, 12, "hexagonal prisms"},
    {21, 3, "second-order lines"},
    {22, 6, "second-order triangles"},
    {23, 8, "second-order quadrilaterals"},
    {24, 10, "second-order tetrahedra"},
    {25, 20, "second-order hexahedra"},
    {26, 15, "second-order prisms"},
    {27, 13, "second-order pyramids"},
    {28, 9, "second-order quadrilaterals"},
    {29, 27, "second-order hexahedra"},
    {42, 20, "polyhedra"},
};

/* Cells that become edges, triangles or tetrahedra: one of each, and how many of the sizes 1 to 7 are refused. */
static const struct {
    int number, corners, edges, triangles, tets;
    bool any_size;
} vtk_kept[] = {
    {3, 2, 1, 0, 0, false}, {4, 5, 4, 0, 0, true},  {5, 3, 0, 1, 0, false}, {6, 6, 0, 4, 0, true},
    {7, 5, 0, 3, 0, true},  {8, 4, 0, 2, 0, false}, {9, 4, 0, 2, 0, false}, {10, 4, 0, 0, 1, false},
};

static void write_vtk(int type, int corners)
{
    static buffer b;
    b.size = 0;
    put(&b, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n", NODE_COUNT);
    for (int i = 0; i < NODE_COUNT; i++) {
        double x[3];
        place(i, x);
        put(&b, "%.17g %.17g %.17g\n", x[0], x[1], x[2]);
    }
    put(&b, "CELLS 2 %d\n%d", corners + 6, corners);
    for (int i = 0; i < corners; i++)
        put(&b, " %d", i);
    put(&b, "\n4 10 11 12 13\nCELL_TYPES 2\n%d\n10\n", type);
    store(SCRATCH("cells.vtk"), b.bytes, b.size);
}

static void vtk_types_are_counted_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vtk_skipped / sizeof vtk_skipped[0]; i++) {
        char expected[128];
        write_vtk(vtk_skipped[i].number, vtk_skipped[i].corners);
        sinew_mesh *mesh = must_read(SCRATCH("cells.vtk"));
        snprintf(expected, sizeof expected, "ignored 1 %s", vtk_skipped[i].plural);
        assert_string_equal(sinew_mesh_warnings(mesh), expected);
        assert_int_equal(sinew_mesh_tet_count(mesh), 1);
        assert_last_tet(mesh);
        sinew_mesh_destroy(mesh);
    }
}

static void vtk_types_become_cells(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof vtk_kept / sizeof vtk_kept[0]; i++) {
        write_vtk(vtk_kept[i].number, vtk_kept[i].corners);
        sinew_mesh *mesh = must_read(SCRATCH("cells.vtk"));
        assert_int_equal(sinew_mesh_edge_count(mesh), vtk_kept[i].edges);
        assert_int_equal(sinew_mesh_triangle_count(mesh), vtk_kept[i].triangles);
        assert_int_equal(sinew_mesh_tet_count(mesh), vtk_kept[i].tets + 1);
        assert_last_tet(mesh);
        sinew_mesh_destroy(mesh);
        for (int wrong = 1; wrong < 8 && !vtk_kept[i].any_size; wrong++) {
            char expected[128];
            sinew_error error = {0};
            if (wrong == vtk_kept[i].corners)
                continue;
            write_vtk(vtk_kept[i].number, wrong);
            assert_null(sinew_mesh_read(SCRATCH("cells.vtk"), NULL, &error));
            snprintf(expected, sizeof expected, "cell 0 of type %d cannot have %d corners", vtk_kept[i].number, wrong);
            assert_non_null(strstr(error.text, expected));
        }
    }
}

/* A type that VTK does not have is skipped by its size and counted by its number; so it is in Gmsh's format 4.1. */
static void unknown_types_are_counted_by_number(void **state)
{
    (void)state;
    write_vtk(77, 6);
    sinew_mesh *mesh = must_read(SCRATCH("cells.vtk"));
    assert_non_null(strstr(sinew_mesh_warnings(mesh), "77"));
    assert_last_tet(mesh);
    sinew_mesh_destroy(mesh);
}

/* ---- glTF -------------------------------------------------------------------------------------------- */

enum {
    GLTF_MAX = 6
};

/* Primitives without indices of the first `count` of six vertices, in each mode (glTF 2.0, 3.7.2.1). */
static const struct {
    int mode, count, edge_count, triangle_count;
    int32_t edges[GLTF_MAX][2], triangles[GLTF_MAX][3];
    const char *notes;
} gltf_modes[] = {
    {0, 6, 0, 0, .notes = "ignored 6 points"},
    {1, 6, 3, 0, .edges = {{0, 1}, {2, 3}, {4, 5}}, .notes = ""},
    {2, 6, 6, 0, .edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}, .notes = ""},
    {2, 3, 3, 0, .edges = {{0, 1}, {1, 2}, {2, 0}}, .notes = ""},
    {2, 2, 1, 0, .edges = {{0, 1}}, .notes = ""},
    {3, 6, 5, 0, .edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, .notes = ""},
    {4, 6, 0, 2, .triangles = {{0, 1, 2}, {3, 4, 5}}, .notes = ""},
    {5, 6, 0, 4, .triangles = {{0, 1, 2}, {1, 3, 2}, {2, 3, 4}, {3, 5, 4}}, .notes = ""},
    {6, 6, 0, 4, .triangles = {{1, 2, 0}, {2, 3, 0}, {3, 4, 0}, {4, 5, 0}}, .notes = ""},
};

static void write_gltf(int mode, int count)
{
    static buffer b;
    float x[3 * GLTF_MAX];
    for (int i = 0; i < 3 * GLTF_MAX; i++) {
        double p[3];
        place(i / 3, p);
        x[i] = (float)p[i % 3];
    }
    store(SCRATCH("modes.bin"), x, sizeof x);
    b.size = 0;
    put(&b,
        "{\"asset\": {\"version\": \"2.0\"}, \"buffers\": [{\"byteLength\": %zu, \"uri\": \"modes.bin\"}], "
        "\"bufferViews\": [{\"buffer\": 0, \"byteLength\": %zu}], \"accessors\": [{\"bufferView\": 0, "
        "\"componentType\": 5126, \"count\": %d, \"type\": \"VEC3\", \"min\": [0, 0, 0], \"max\": [9, 9, 9]}], "
        "\"meshes\": [{\"primitives\": [{\"mode\": %d, \"attributes\": {\"POSITION\": 0}}]}], "
        "\"nodes\": [{\"mesh\": 0}], \"scenes\": [{\"nodes\": [0]}], \"scene\": 0}",
        sizeof x, sizeof x, count, mode);
    store(SCRATCH("modes.gltf"), b.bytes, b.size);
}

/* Whether a triangle is another one, which may begin with any of its corners. */
static bool same_turn(const int32_t *a, const int32_t *b)
{
    for (int k = 0; k < 3; k++)
        if (a[0] == b[k] && a[1] == b[(k + 1) % 3] && a[2] == b[(k + 2) % 3])
            return true;
    return false;
}

static void gltf_modes_become_cells(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof gltf_modes / sizeof gltf_modes[0]; i++) {
        write_gltf(gltf_modes[i].mode, gltf_modes[i].count);
        sinew_mesh *mesh = must_read(SCRATCH("modes.gltf"));
        assert_int_equal(sinew_mesh_vertex_count(mesh), gltf_modes[i].count);
        assert_int_equal(sinew_mesh_edge_count(mesh), gltf_modes[i].edge_count);
        assert_int_equal(sinew_mesh_triangle_count(mesh), gltf_modes[i].triangle_count);
        assert_string_equal(sinew_mesh_warnings(mesh), gltf_modes[i].notes);
        for (int k = 0; k < gltf_modes[i].edge_count; k++)
            assert_memory_equal(sinew_mesh_edges(mesh) + 2 * k, gltf_modes[i].edges[k], 8);
        for (int k = 0; k < gltf_modes[i].triangle_count; k++)
            assert_true(same_turn(sinew_mesh_triangles(mesh) + 3 * k, gltf_modes[i].triangles[k]));
        sinew_mesh_destroy(mesh);
    }
    sinew_error error = {0};
    write_gltf(7, 6);
    assert_null(sinew_mesh_read(SCRATCH("modes.gltf"), NULL, &error));
    assert_non_null(strstr(error.text, "a primitive has the unknown mode 7"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gmsh_types_have_their_nodes), cmocka_unit_test(vtk_types_are_counted_by_name),
        cmocka_unit_test(vtk_types_become_cells),      cmocka_unit_test(unknown_types_are_counted_by_number),
        cmocka_unit_test(gltf_modes_become_cells),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
