/* SPDX-License-Identifier: MIT
 *
 * test_mesh_files.c: files written by other tools are read with their contents, and written meshes are read back whole.
 *
 * tests/data/README.md lists the command that wrote each file. Expected volumes and areas are those of the meshed
 * shapes.
 */
#include "file_limit.h"
#include "mesh_files.h"

#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef SINEW_SINGLE
#define CLOSE 3e-6
#else
#define CLOSE 1e-12
#endif

/* ---- Files of other tools ------------------------------------------------------------------ */

typedef struct sample {
    const char *path;
    int32_t vertices, tets, triangles, edges;
    double volume; /* total volume of the tetrahedra */
    double area;   /* total area of the triangles; -1: unknown */
    const char *notes;
} sample;

/* The box is 1 x 1.1 x 0.3, the prism of TetGen 1.1 x 0.7 x 0.4, the cube of Geomview 2 x 2 x 2. */
#define BOX_VOLUME   0.33
#define BOX_AREA     (2 * (1.1 + 0.3 + 0.33))
#define PRISM_VOLUME (1.1 * 0.7 * 0.4)
#define PRISM_AREA   (2 * (1.1 * 0.7 + 1.1 * 0.4 + 0.7 * 0.4))
/* A cube of hexahedra (both sides of each face) and a prism over a right triangle of legs 1, each with all its faces.
 */
#define MIXED_AREA (6 + 2 * 0.5 + 2 + 1.4142135623730951)
/* Three tetrahedra of legs 1/3, 1/7 and 1. */
#define TRIO_VOLUME (3.0 / 6 / 3 / 7)
/* A cone of height 1 and radius 0.5 over a regular hexagon: its base and six sides, sqrt(19 / 16) high. */
#define CONE_AREA (0.5 * 0.5 * 1.5 * 1.7320508075688772 + 6 * 0.25 * 1.0897247358851685)

#define MIXED_NOTES "ignored 14 points\nignored 8 hexahedra\nignored 2 prisms\ncut 28 polygons into triangles"
#define ORDER2_NOTES                                                                                                   \
    "ignored 8 points\nignored 12 second-order lines\nignored 24 second-order triangles\n"                             \
    "ignored 24 second-order tetrahedra"
#define TRIO_NOTES "ignored 1 points\nignored 1 prisms\ncut 1 polygons into triangles"

static const sample samples[] = {
    {DATA("gmsh_msh22.msh"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("gmsh_msh22_binary.msh"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("gmsh_msh41.msh"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("gmsh_msh41_binary.msh"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("gmsh.mesh"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, ""},
    {DATA("gmsh.vtk"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("gmsh_binary.vtk"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("paraview.vtu"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("paraview_zlib.vtu"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("paraview.vtk"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("paraview_ascii.vtk"), 113, 230, 222, 68, BOX_VOLUME, BOX_AREA, "ignored 8 points"},
    {DATA("gmsh_mixed_msh22.msh"), 35, 0, 60, 35, 0, MIXED_AREA, MIXED_NOTES},
    {DATA("gmsh_mixed_msh22_binary.msh"), 35, 0, 60, 35, 0, MIXED_AREA, MIXED_NOTES},
    {DATA("gmsh_mixed_msh41.msh"), 35, 0, 60, 35, 0, MIXED_AREA, MIXED_NOTES},
    {DATA("gmsh_mixed_msh41_binary.msh"), 35, 0, 60, 35, 0, MIXED_AREA, MIXED_NOTES},
    {DATA("gmsh_order2.msh"), 63, 0, 0, 0, 0, 0, ORDER2_NOTES},
    {DATA("gmsh_order2.vtk"), 63, 0, 0, 0, 0, 0, ORDER2_NOTES},
    {DATA("tetgen.node"), 86, 183, 166, 56, PRISM_VOLUME, PRISM_AREA, ""},
    {DATA("tetgen.ele"), 86, 183, 166, 56, PRISM_VOLUME, PRISM_AREA, ""},
    {DATA("tetgen_zero.node"), 30, 42, 0, 0, PRISM_VOLUME, 0, ""},
    {DATA("tetgen_order2.ele"), 129, 42, 0, 0, PRISM_VOLUME, 0,
     "read 42 second-order tetrahedra as their four corners"},
    {DATA("vtk_grid_42.vtk"), 12, 3, 3, 3, TRIO_VOLUME, -1, TRIO_NOTES},
    {DATA("vtk_grid_42_binary.vtk"), 12, 3, 3, 3, TRIO_VOLUME, -1, TRIO_NOTES},
    {DATA("vtk_grid_51.vtk"), 12, 3, 3, 3, TRIO_VOLUME, -1, TRIO_NOTES},
    {DATA("vtk_grid_51_binary.vtk"), 12, 3, 3, 3, TRIO_VOLUME, -1, TRIO_NOTES},
    {DATA("vtk_poly_42.vtk"), 12, 0, 6, 3, 0, -1, "ignored 2 points\ncut 1 polygons into triangles"},
    {DATA("vtk_poly_42_binary.vtk"), 12, 0, 6, 3, 0, -1, "ignored 2 points\ncut 1 polygons into triangles"},
    {DATA("vtk_poly_51.vtk"), 12, 0, 6, 3, 0, -1, "ignored 2 points\ncut 1 polygons into triangles"},
    {DATA("vtk_poly_51_binary.vtk"), 12, 0, 6, 3, 0, -1, "ignored 2 points\ncut 1 polygons into triangles"},
    {DATA("vtk_pieces.vtu"), 36, 9, 9, 9, 3 * TRIO_VOLUME, -1,
     "ignored 3 points\nignored 3 prisms\ncut 3 polygons into triangles"},
    {DATA("gmsh.stl"), 14, 0, 24, 0, 0, 6, "merged 58 vertices that the file repeats"},
    {DATA("gmsh_binary.stl"), 14, 0, 24, 0, 0, 6, "merged 58 vertices that the file repeats"},
    {DATA("vtk_surface_ascii.stl"), 7, 0, 10, 0, 0, CONE_AREA, "merged 23 vertices that the file repeats"},
    {DATA("vtk_surface_binary.stl"), 7, 0, 10, 0, 0, CONE_AREA, "merged 23 vertices that the file repeats"},
    {DATA("vtk_surface.obj"), 7, 0, 10, 0, 0, CONE_AREA, "cut 1 polygons into triangles"},
    {DATA("vtk_surface_ascii.ply"), 7, 0, 10, 0, 0, CONE_AREA, "cut 1 polygons into triangles"},
    {DATA("vtk_surface_binary.ply"), 7, 0, 10, 0, 0, CONE_AREA, "cut 1 polygons into triangles"},
    {DATA("vtk_surface_binary_big.ply"), 7, 0, 10, 0, 0, CONE_AREA, "cut 1 polygons into triangles"},
    {DATA("vtk_surface.gltf"), 7, 0, 10, 0, 0, CONE_AREA, ""},
    {DATA("vtk_surface_beside.gltf"), 7, 0, 10, 0, 0, CONE_AREA, ""},
    {DATA("assimp_surface.obj"), 7, 0, 10, 0, 0, CONE_AREA, "cut 1 polygons into triangles"},
    {DATA("assimp_surface.ply"), 24, 0, 10, 0, 0, CONE_AREA, "cut 1 polygons into triangles"},
    {DATA("assimp_surface.glb"), 7, 0, 10, 0, 0, CONE_AREA, ""},
    {DATA("assimp_surface.gltf"), 7, 0, 10, 0, 0, CONE_AREA, ""},
    {DATA("geomview.off"), 8, 0, 12, 1, 0, 24, "cut 6 polygons into triangles"},
    {DATA("blender.obj"), 5, 0, 2, 1, 0, 4, "cut 1 polygons into triangles"},
};

static void reads_what_tools_wrote(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const sample *s = &samples[i];
        print_message("%s\n", s->path);
        sinew_mesh *mesh = must_read(s->path);
        assert_int_equal(sinew_mesh_vertex_count(mesh), s->vertices);
        assert_int_equal(sinew_mesh_tet_count(mesh), s->tets);
        assert_int_equal(sinew_mesh_triangle_count(mesh), s->triangles);
        assert_int_equal(sinew_mesh_edge_count(mesh), s->edges);
        /* Surface formats and VTK's text store six to eleven digits. */
        assert_true(fabs(volume_of(mesh) - s->volume) < (s->tets == 3 ? 1e-7 : CLOSE));
        if (s->area >= 0)
            assert_true(fabs(area_of(mesh) - s->area) < (s->tets ? 10 * CLOSE : 3e-6));
        assert_string_equal(sinew_mesh_warnings(mesh), s->notes);
        sinew_mesh_destroy(mesh);
    }
}

/* One mesh in all formats of several tools: the same cells, and the same positions to the digits of the text. */
static void dresses_agree(void **state)
{
    (void)state;
    static const char *const dresses[] = {DATA("gmsh_msh22.msh"),    DATA("gmsh_msh22_binary.msh"),
                                          DATA("gmsh_msh41.msh"),    DATA("gmsh_msh41_binary.msh"),
                                          DATA("gmsh.mesh"),         DATA("gmsh.vtk"),
                                          DATA("gmsh_binary.vtk"),   DATA("paraview.vtu"),
                                          DATA("paraview_zlib.vtu"), DATA("paraview.vtk")};
    sinew_mesh *first = must_read(dresses[0]);
    for (size_t i = 1; i < sizeof dresses / sizeof dresses[0]; i++) {
        sinew_mesh *other = must_read(dresses[i]);
        assert_same_cells(first, other);
        assert_true(distance_between(first, other) < CLOSE);
        sinew_mesh_destroy(other);
    }
    sinew_mesh_destroy(first);
}

/* All encodings of VTK's XML writer give the same bits. */
static void xml_encodings_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"raw_32",        "raw_32_big",         "raw_32_zlib",
                                        "raw_64",        "raw_64_zlib",        "raw_64_zlib_big",
                                        "base64_32",     "base64_32_big",      "base64_32_zlib",
                                        "base64_64",     "base64_64_zlib",     "base64_64_zlib_big",
                                        "appended64_32", "appended64_32_big",  "appended64_32_zlib",
                                        "appended64_64", "appended64_64_zlib", "appended64_64_zlib_big"};
    sinew_mesh *grid = must_read(DATA("vtk_grid_51_binary.vtk"));
    assert_true(fabs(volume_of(grid) - TRIO_VOLUME) < 1e-8);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[256];
        snprintf(path, sizeof path, DATA("vtk_%s.vtu"), names[i]);
        sinew_mesh *mesh = must_read(path);
        assert_same_mesh(grid, mesh);
        assert_string_equal(sinew_mesh_warnings(mesh), TRIO_NOTES);
        sinew_mesh_destroy(mesh);
    }
    sinew_mesh *text = must_read(DATA("vtk_ascii_32.vtu"));
    assert_same_cells(grid, text);
    assert_true(distance_between(grid, text) < 1e-6);
    sinew_mesh_destroy(text);
    sinew_mesh_destroy(grid);
}

/* ---- Round trips --------------------------------------------------------------------------- */

typedef struct dress {
    const char *path;
    sinew_mesh_format format;
    bool tets; /* the format stores tets */
} dress;

static const dress dresses[] = {
    {SCRATCH("a.msh"), SINEW_MESH_BY_ENDING, true},     {SCRATCH("b.msh"), SINEW_MESH_GMSH_2_ASCII, true},
    {SCRATCH("c.msh"), SINEW_MESH_GMSH_2_BINARY, true}, {SCRATCH("d.msh"), SINEW_MESH_GMSH_4_ASCII, true},
    {SCRATCH("e.MSH"), SINEW_MESH_GMSH_4_BINARY, true}, {SCRATCH("f.vtk"), SINEW_MESH_BY_ENDING, true},
    {SCRATCH("g.vtk"), SINEW_MESH_VTK_BINARY, true},    {SCRATCH("h.vtu"), SINEW_MESH_BY_ENDING, true},
    {SCRATCH("i.vtu"), SINEW_MESH_VTU_BINARY, true},    {SCRATCH("j.mesh"), SINEW_MESH_BY_ENDING, true},
    {SCRATCH("k.node"), SINEW_MESH_BY_ENDING, true},    {SCRATCH("l.ele"), SINEW_MESH_BY_ENDING, true},
    {SCRATCH("m.obj"), SINEW_MESH_BY_ENDING, false},    {SCRATCH("n.ply"), SINEW_MESH_BY_ENDING, false},
    {SCRATCH("o.off"), SINEW_MESH_BY_ENDING, false},
};

static sinew_mesh *without_tets(const sinew_mesh *mesh)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = sinew_mesh_vertex_count(mesh);
    def.positions = sinew_mesh_positions(mesh);
    def.triangle_count = sinew_mesh_triangle_count(mesh);
    def.triangles = sinew_mesh_triangles(mesh);
    def.edge_count = sinew_mesh_edge_count(mesh);
    def.edges = sinew_mesh_edges(mesh);
    sinew_mesh *copy = sinew_mesh_create(&def, NULL);
    assert_non_null(copy);
    return copy;
}

static void comes_back(const sinew_mesh *mesh)
{
    sinew_mesh *flat = without_tets(mesh);
    for (size_t i = 0; i < sizeof dresses / sizeof dresses[0]; i++) {
        must_write(mesh, dresses[i].path, dresses[i].format);
        sinew_mesh *back = must_read(dresses[i].path);
        assert_same_mesh(dresses[i].tets ? mesh : flat, back);
        assert_string_equal(sinew_mesh_warnings(back), "");
        sinew_mesh_destroy(back);
    }
    sinew_mesh_destroy(flat);
}

static void round_trips(void **state)
{
    (void)state;
    sinew_mesh *awkward = awkward_mesh();
    comes_back(awkward);
    sinew_mesh *only_faces = without_tets(awkward);
    comes_back(only_faces);
    sinew_mesh_destroy(only_faces);
    sinew_mesh_destroy(awkward);
    sinew_mesh *real = must_read(DATA("gmsh_msh41_binary.msh"));
    comes_back(real);
    sinew_mesh_destroy(real);
}

/* STL stores single precision and no vertex numbers: triangles are read back in order, corner by corner. */
static void stl_round_trip(void **state)
{
    (void)state;
    sinew_mesh *mesh = awkward_mesh();
    must_write(mesh, SCRATCH("a.stl"), SINEW_MESH_BY_ENDING);
    sinew_mesh *back = must_read(SCRATCH("a.stl"));
    assert_int_equal(sinew_mesh_triangle_count(back), 3);
    assert_int_equal(sinew_mesh_vertex_count(back), 6); /* all but the vertex that no triangle uses */
    for (int i = 0; i < 9; i++)
        for (int axis = 0; axis < 3; axis++) {
            float wanted = (float)sinew_mesh_positions(mesh)[3 * sinew_mesh_triangles(mesh)[i] + axis];
            assert_true((float)sinew_mesh_positions(back)[3 * sinew_mesh_triangles(back)[i] + axis] == wanted);
        }
    sinew_mesh_destroy(back);
    sinew_mesh_destroy(mesh);
}

/* Corners of a large STL merge to the vertices of the sheet, while the reader's table of vertices grows several
 * times. */
static void large_stl(void **state)
{
    (void)state;
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = def.vertices[1] = 48;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    assert_non_null(mesh);
    must_write(mesh, SCRATCH("large.stl"), SINEW_MESH_BY_ENDING);
    sinew_mesh *back = must_read(SCRATCH("large.stl"));
    const int32_t corners = 3 * sinew_mesh_triangle_count(mesh);
    assert_int_equal(3 * sinew_mesh_triangle_count(back), corners);
    assert_int_equal(sinew_mesh_vertex_count(back), 48 * 48);
    for (int32_t i = 0; i < corners; i++)
        for (int axis = 0; axis < 3; axis++) {
            const float wanted = (float)sinew_mesh_positions(mesh)[3 * sinew_mesh_triangles(mesh)[i] + axis];
            assert_true((float)sinew_mesh_positions(back)[3 * sinew_mesh_triangles(back)[i] + axis] == wanted);
        }
    sinew_mesh_destroy(back);
    sinew_mesh_destroy(mesh);
}

/* A body of tetrahedra alone is written to a surface format as its boundary. */
static void boundary_of_a_body(void **state)
{
    (void)state;
    sinew_box_def def = sinew_default_box_def();
    for (int axis = 0; axis < 3; axis++)
        def.vertices[axis] = 3;
    sinew_mesh *box = sinew_mesh_box(&def, NULL);
    assert_non_null(box);
    static const char *const paths[] = {SCRATCH("box.obj"), SCRATCH("box.ply"), SCRATCH("box.stl"), SCRATCH("box.off")};
    for (int i = 0; i < 4; i++) {
        must_write(box, paths[i], SINEW_MESH_BY_ENDING);
        sinew_mesh *back = must_read(paths[i]);
        assert_int_equal(sinew_mesh_triangle_count(back), 6 * 4 * 2);
        assert_true(fabs(area_of(back) - 6) < 1e-6);
        sinew_mesh_destroy(back);
    }
    sinew_mesh_destroy(box);
}

/* Writing a mesh leaves no .face file of an earlier mesh beside the new .ele. */
static void tetgen_leaves_no_stale_faces(void **state)
{
    (void)state;
    sinew_mesh *first = awkward_mesh();
    must_write(first, SCRATCH("stale.node"), SINEW_MESH_BY_ENDING);
    sinew_mesh *second = must_read(DATA("tetgen_zero.node"));
    must_write(second, SCRATCH("stale.ele"), SINEW_MESH_BY_ENDING);
    sinew_mesh *back = must_read(SCRATCH("stale.node"));
    assert_same_mesh(second, back);
    sinew_mesh_destroy(back);
    sinew_mesh_destroy(second);
    sinew_mesh_destroy(first);
}

/* ---- Special contents ---------------------------------------------------------------------- */

static sinew_mesh *must_parse(const char *path, const char *text)
{
    store(path, text, strlen(text));
    return must_read(path);
}

/* Sparse, unordered node numbers beyond 32 bits; tags to skip; a node that no element uses. */
static void sparse_node_numbers(void **state)
{
    (void)state;
    sinew_mesh *two = must_parse(SCRATCH("sparse.msh"), "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
                                                        "$Comments\nanything $Nodes at all\n$EndComments\n"
                                                        "$Nodes\n5\n700 0 0 0\n30 1 0 0\n2000000000 0 1 0\n5 0 0 1\n"
                                                        "6 9 9 9\n$EndNodes\n"
                                                        "$Elements\n2\n1 4 3 7 8 9 700 30 2000000000 5\n"
                                                        "2 1 0 5 30\n$EndElements\n");
    static const int32_t tet[] = {0, 1, 2, 3}, edge[] = {3, 1};
    assert_int_equal(sinew_mesh_vertex_count(two), 5);
    assert_memory_equal(sinew_mesh_tets(two), tet, sizeof tet);
    assert_memory_equal(sinew_mesh_edges(two), edge, sizeof edge);
    assert_true(fabs(volume_of(two) - 1.0 / 6) < 1e-7);
    sinew_mesh_destroy(two);
    sinew_mesh *four = must_parse(SCRATCH("sparse.msh"), "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
                                                         "$Nodes\n3 4 1 900719925474099\n0 1 0 1\n12\n0 0 0\n"
                                                         "1 1 1 1\n900719925474099\n1 0 0 0.5\n"
                                                         "2 1 1 2\n8\n10\n0 1 0 0.5 0.25\n0 0 1 0.5 0.75\n$EndNodes\n"
                                                         "$Elements\n1 1 1 1\n3 1 4 1\n1 12 900719925474099 8 10\n"
                                                         "$EndElements\n");
    assert_memory_equal(sinew_mesh_tets(four), tet, sizeof tet);
    assert_true(fabs(volume_of(four) - 1.0 / 6) < 1e-7);
    sinew_mesh_destroy(four);
}

typedef struct bytes_out {
    char bytes[1024];
    size_t size;
} bytes_out;

static void put_text(bytes_out *out, const char *text)
{
    memcpy(out->bytes + out->size, text, strlen(text));
    out->size += strlen(text);
}

/* Writes a big-endian number. */
static void put_big(bytes_out *out, uint64_t value, int size)
{
    for (int i = size - 1; i >= 0; i--)
        out->bytes[out->size++] = (char)(value >> (8 * i));
}

static void put_big_real(bytes_out *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_big(out, bits, 8);
}

/* A tetrahedron in the other byte order. */
static void other_byte_order(void **state)
{
    (void)state;
    for (int version = 2; version <= 4; version += 2) {
        bytes_out out = {.size = 0};
        put_text(&out, version == 2 ? "$MeshFormat\n2.2 1 8\n" : "$MeshFormat\n4.1 1 8\n");
        put_big(&out, 1, 4);
        put_text(&out, version == 2 ? "\n$EndMeshFormat\n$Nodes\n4\n" : "\n$EndMeshFormat\n$Nodes\n");
        const uint64_t nodes[] = {1, 4, 5, 8}, block[] = {3, 1, 0};
        for (int i = 0; version == 4 && i < 4; i++)
            put_big(&out, nodes[i], 8);
        for (int i = 0; version == 4 && i < 3; i++)
            put_big(&out, block[i], 4);
        if (version == 4)
            put_big(&out, 4, 8);
        for (uint64_t i = 0; version == 4 && i < 4; i++)
            put_big(&out, 5 + i, 8);
        for (uint64_t i = 0; i < 4; i++) {
            if (version == 2)
                put_big(&out, 5 + i, 4);
            for (uint64_t axis = 0; axis < 3; axis++)
                put_big_real(&out, axis + 1 == i ? 0.5 : 0);
        }
        put_text(&out, "\n$EndNodes\n$Elements\n");
        put_text(&out, version == 2 ? "1\n" : "");
        const uint64_t two[] = {4, 1, 1, 1, 77}, four[] = {1, 1, 1, 1};
        for (int i = 0; version == 2 && i < 5; i++)
            put_big(&out, two[i], 4);
        for (int i = 0; version == 4 && i < 4; i++)
            put_big(&out, four[i], 8);
        const uint64_t header[] = {3, 1, 4};
        for (int i = 0; version == 4 && i < 3; i++)
            put_big(&out, header[i], 4);
        for (int i = 0; version == 4 && i < 2; i++)
            put_big(&out, 1, 8);
        for (uint64_t i = 0; i < 4; i++)
            put_big(&out, 5 + i, version == 2 ? 4 : 8);
        put_text(&out, "\n$EndElements\n");
        store(SCRATCH("big.msh"), out.bytes, out.size);
        sinew_mesh *mesh = must_read(SCRATCH("big.msh"));
        assert_int_equal(sinew_mesh_tet_count(mesh), 1);
        assert_true(fabs(volume_of(mesh) - 1.0 / 48) < 1e-9);
        sinew_mesh_destroy(mesh);
    }
}

/* Fields and metadata between the sections are skipped, whatever their size; data after the cells are not read. */
static void vtk_fields(void **state)
{
    (void)state;
    const char *const fields[] = {
        "",
        "FIELD FieldData 0\n",
        "FIELD FieldData 1\nnone 0 3 float\n",
        "FIELD FieldData 1\nnone 2 0 double\n",
        "FIELD FieldData 3\na 1 1 int\n7\nb 2 2 double\n1 2\n3 4\nMETADATA\nINFORMATION 0\n\nc 1 2 float\n5\n6\n",
    };
    const size_t count = sizeof fields / sizeof fields[0];
    for (size_t i = 0; i < count * count; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "# vtk DataFile Version 4.2\nt\nASCII\n%sDATASET UNSTRUCTURED_GRID\n%sPOINTS 3 float\n"
                 "0 0 0 1 0 0 0 1 0\nMETADATA\nINFORMATION 0\n\nCELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n5\n"
                 "POINT_DATA 3\nSCALARS s float\n",
                 fields[i % count], fields[i / count]);
        sinew_mesh *mesh = must_parse(SCRATCH("fields.vtk"), text);
        assert_int_equal(sinew_mesh_vertex_count(mesh), 3);
        assert_int_equal(sinew_mesh_triangle_count(mesh), 1);
        assert_true(fabs(area_of(mesh) - 0.5) < 1e-6);
        sinew_mesh_destroy(mesh);
    }
}

/* ---- gmsh, word by word ------------------------------------------------------------------------- */

/* Words of a binary file, read in the order of the format's description and not by this library. */
typedef struct word_reader {
    const char *at;
} word_reader;

static int64_t next_int(word_reader *r)
{
    int32_t word;
    memcpy(&word, r->at, sizeof word);
    r->at += sizeof word;
    return word;
}

static int64_t next_size(word_reader *r)
{
    uint64_t word;
    memcpy(&word, r->at, sizeof word);
    r->at += sizeof word;
    return (int64_t)word;
}

static word_reader after_line(const char *bytes, size_t size, const char *line)
{
    const char *at = memmem(bytes, size, line, strlen(line));
    assert_non_null(at);
    return (word_reader){at + strlen(line)};
}

/* gmsh: blocks of nodes create the entities (dimension, 1) of which the blocks of elements consist. */
static void check_binary_4(const sinew_mesh *mesh, const char *bytes, size_t size)
{
    const int64_t cells[] = {sinew_mesh_edge_count(mesh), sinew_mesh_triangle_count(mesh), sinew_mesh_tet_count(mesh)};
    const int64_t vertices = sinew_mesh_vertex_count(mesh), total = cells[0] + cells[1] + cells[2];
    word_reader nodes = after_line(bytes, size, "$Nodes\n"), elements = after_line(bytes, size, "$Elements\n");
    const int64_t head[2][4] = {{3, vertices, 1, vertices}, {3, total, 1, total}};
    for (int i = 0; i < 4; i++)
        assert_true(next_size(&nodes) == head[0][i] && next_size(&elements) == head[1][i]);
    int64_t number = 0;
    for (int64_t kind = 1; kind <= 3; kind++) {
        static const int64_t types[] = {1, 2, 4};
        assert_true(next_int(&nodes) == kind && next_int(&nodes) == 1 && next_int(&nodes) == 0);
        assert_true(next_size(&nodes) == (kind == 3 ? vertices : 0));
        assert_true(next_int(&elements) == kind && next_int(&elements) == 1);
        assert_true(next_int(&elements) == types[kind - 1] && next_size(&elements) == cells[kind - 1]);
        for (int64_t c = 0; c < cells[kind - 1]; c++) {
            assert_int_equal(next_size(&elements), ++number);
            elements.at += 8 * (kind + 1);
        }
    }
    for (int64_t v = 0; v < vertices; v++)
        assert_int_equal(next_size(&nodes), v + 1);
}

/* Cells have two tags: no physical group, entity 1. */
static void check_binary_2(const sinew_mesh *mesh, const char *bytes, size_t size)
{
    const int64_t cells[] = {sinew_mesh_edge_count(mesh), sinew_mesh_triangle_count(mesh), sinew_mesh_tet_count(mesh)};
    char line[64];
    snprintf(line, sizeof line, "$Elements\n%d\n", (int)(cells[0] + cells[1] + cells[2]));
    word_reader r = after_line(bytes, size, line);
    int64_t number = 0;
    for (int kind = 0; kind < 3; kind++) {
        static const int64_t types[] = {1, 2, 4};
        assert_true(next_int(&r) == types[kind] && next_int(&r) == cells[kind] && next_int(&r) == 2);
        for (int64_t c = 0; c < cells[kind]; c++) {
            assert_true(next_int(&r) == ++number && next_int(&r) == 0 && next_int(&r) == 1);
            r.at += 4 * (kind + 2);
        }
    }
}

/* Vertices alone: one block of nodes, and no block of elements, whose lowest number is zero. */
static void check_points_4(void)
{
    const sinew_real positions[] = {0, 0, 0, 1, 2, 3};
    const int64_t wanted[2][4] = {{1, 2, 1, 2}, {0, 0, 0, 0}};
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 2;
    def.positions = positions;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    assert_non_null(mesh);
    size_t size;
    must_write(mesh, SCRATCH("words.msh"), SINEW_MESH_GMSH_4_BINARY);
    char *bytes = load(SCRATCH("words.msh"), &size);
    word_reader nodes = after_line(bytes, size, "$Nodes\n"), elements = after_line(bytes, size, "$Elements\n");
    for (int i = 0; i < 4; i++)
        assert_true(next_size(&nodes) == wanted[0][i] && next_size(&elements) == wanted[1][i]);
    free(bytes);
    must_write(mesh, SCRATCH("words.msh"), SINEW_MESH_GMSH_4_ASCII);
    bytes = load(SCRATCH("words.msh"), &size);
    after_line(bytes, size, "$Nodes\n1 2 1 2\n1 1 0 2\n");
    after_line(bytes, size, "$Elements\n0 0 0 0\n$EndElements\n");
    free(bytes);
    sinew_mesh_destroy(mesh);
}

static void gmsh_words(void **state)
{
    (void)state;
    check_points_4();
    sinew_mesh *mesh = awkward_mesh();
    size_t size;
    must_write(mesh, SCRATCH("words.msh"), SINEW_MESH_GMSH_4_BINARY);
    char *bytes = load(SCRATCH("words.msh"), &size);
    check_binary_4(mesh, bytes, size);
    free(bytes);
    must_write(mesh, SCRATCH("words.msh"), SINEW_MESH_GMSH_2_BINARY);
    bytes = load(SCRATCH("words.msh"), &size);
    check_binary_2(mesh, bytes, size);
    free(bytes);
    sinew_mesh_destroy(mesh);
}

/* A concave L of six corners: a fan from its first corner would cover 4 m2 instead of 3 m2. */
static void concave_polygons(void **state)
{
    (void)state;
    sinew_mesh *mesh = must_parse(SCRATCH("l.obj"), "v 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nv 0 0 0\nv 2 0 0\n"
                                                    "f 1 2 3 \\\n 4 5 6\n");
    assert_int_equal(sinew_mesh_triangle_count(mesh), 4);
    assert_true(fabs(area_of(mesh) - 3) < 1e-6);
    sinew_mesh_destroy(mesh);
}

/* Every vertex of an OBJ keeps its number, used or not; indices may be negative; lines become edges. */
static void obj_order(void **state)
{
    (void)state;
    sinew_mesh *mesh =
        must_parse(SCRATCH("order.obj"), "v 9 9 9\nv 0 0 0 1 0.5 0.5 0.5\nvt 0 0\nvn 0 0 1\nv 1 0 0 # a comment\n"
                                         "f -1/1/1 -2//1 1\nv 0 1 0\nv 9 9 9\nl 5 4 2\np 1 2\ng thing\n");
    static const int32_t triangle[] = {2, 1, 0}, edges[] = {4, 3, 3, 1};
    assert_int_equal(sinew_mesh_vertex_count(mesh), 5);
    assert_memory_equal(sinew_mesh_triangles(mesh), triangle, sizeof triangle);
    assert_int_equal(sinew_mesh_edge_count(mesh), 2);
    assert_memory_equal(sinew_mesh_edges(mesh), edges, sizeof edges);
    assert_string_equal(sinew_mesh_warnings(mesh), "ignored 1 points");
    sinew_mesh_destroy(mesh);
}

/* A UTF-8 byte order mark is not part of the first word; otherwise the vertex behind it would be lost. */
static void marked_text(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
    } files[] = {
        {"marked.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"},
        {"marked.off", "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"},
        {"marked.mesh",
         "MeshVersionFormatted 1\ndimension 3\nTriangles 1 1 2 3 0\nVertices 3 0 0 0 0 1 0 0 0 0 1 0 0\nEnd\n"},
        {"marked.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\n"
                       "endfacet\nendsolid a\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[1024], text[512];
        snprintf(path, sizeof path, "%s/%s", SINEW_TEST_DIR, files[i].name);
        snprintf(text, sizeof text, "\xEF\xBB\xBF%s", files[i].text);
        sinew_mesh *mesh = must_parse(path, text);
        assert_int_equal(sinew_mesh_vertex_count(mesh), 3);
        assert_int_equal(sinew_mesh_triangle_count(mesh), 1);
        sinew_mesh_destroy(mesh);
    }
}

/* Keywords in any order and case, comments, sections to skip. */
static void medit_any_order(void **state)
{
    (void)state;
    sinew_mesh *mesh = must_parse(SCRATCH("any.mesh"), "# made by hand\nMeshVersionFormatted 1\ndimension 3\n"
                                                       "Tetrahedra 1 1 2 3 4 7 # the body\nCorners 2 1 2\n"
                                                       "EDGES\n1\n4 1 0\nHexahedra 2\n1 2 3 4 1 2 3 4 0\n"
                                                       "1 2 3 4 1 2 3 4 0\nRequiredVertices 1 3\n"
                                                       "Vertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1.0\nEnd\n");
    assert_int_equal(sinew_mesh_tet_count(mesh), 1);
    assert_int_equal(sinew_mesh_edge_count(mesh), 1);
    assert_true(fabs(volume_of(mesh) - 1.0 / 6) < 1e-7);
    assert_string_equal(sinew_mesh_warnings(mesh), "ignored 2 hexahedra");
    sinew_mesh_destroy(mesh);
}

/* Unsupported cells are counted by their names, and their numbers are not read as cells. */
static void medit_names_what_it_ignores(void **state)
{
    (void)state;
    static const struct {
        const char *keyword, *numbers, *warning;
    } sections[] = {
        {"Hexahedra", "1 2 3 4 1 2 3 4 0", "ignored 1 hexahedra"},
        {"Prisms", "1 2 3 1 2 4 0", "ignored 1 prisms"},
        {"Pentahedra", "1 2 3 1 2 4 0", "ignored 1 prisms"},
        {"Pyramids", "1 2 3 4 1 0", "ignored 1 pyramids"},
        {"EdgesP2", "1 2 3 0", "ignored 1 second-order lines"},
        {"TrianglesP2", "1 2 3 4 1 2 0", "ignored 1 second-order triangles"},
        {"TetrahedraP2", "1 2 3 4 1 2 3 4 1 2 0", "ignored 1 second-order tetrahedra"},
    };
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
        char text[512];
        snprintf(text, sizeof text,
                 "MeshVersionFormatted 1\nDimension 3\nVertices 4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n%s 1\n%s\n"
                 "Tetrahedra 1\n1 2 3 4 0\nEnd\n",
                 sections[i].keyword, sections[i].numbers);
        sinew_mesh *mesh = must_parse(SCRATCH("ignored.mesh"), text);
        assert_int_equal(sinew_mesh_tet_count(mesh), 1);
        assert_int_equal(sinew_mesh_edge_count(mesh), 0);
        assert_string_equal(sinew_mesh_warnings(mesh), sections[i].warning);
        sinew_mesh_destroy(mesh);
    }
}

/* Nodes of a glTF scene translate, rotate, scale and mirror; a mirrored triangle still faces outward. */
static void gltf_nodes(void **state)
{
    (void)state;
    sinew_mesh *mesh =
        must_parse(SCRATCH("nodes.gltf"),
                   "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
                   "\"nodes\":[{\"translation\":[10,0,0],\"rotation\":[0,0,0.7071067811865476,0.7071067811865476],"
                   "\"children\":[1,2]},{\"mesh\":0,\"scale\":[2,1,1]},"
                   "{\"mesh\":0,\"matrix\":[-1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,5,1]}],"
                   "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}},{\"mode\":2,\"attributes\":{"
                   "\"POSITION\":0}}]}],"
                   "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],"
                   "\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],"
                   "\"buffers\":[{\"byteLength\":36,\"uri\":\"data:application/octet-stream;base64,"
                   "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}]}");
    /* (0 0 0) (1 0 0) (0 1 0), scaled, rotated by a quarter about z, translated; then mirrored in x instead, at height
     * 5 */
    static const double wanted[] = {10, 0, 0, 10, 2, 0, 9, 0, 0, 10, 0, 5, 10, -1, 5, 9, 0, 5};
    static const int32_t triangles[] = {0, 1, 2, 3, 5, 4}, edges[] = {0, 1, 1, 2, 2, 0, 3, 4, 4, 5, 5, 3};
    assert_int_equal(sinew_mesh_vertex_count(mesh), 6);
    for (int i = 0; i < 18; i++)
        assert_true(fabs((double)sinew_mesh_positions(mesh)[i] - wanted[i]) < 2e-6);
    assert_int_equal(sinew_mesh_triangle_count(mesh), 2);
    assert_memory_equal(sinew_mesh_triangles(mesh), triangles, sizeof triangles);
    assert_int_equal(sinew_mesh_edge_count(mesh), 6);
    assert_memory_equal(sinew_mesh_edges(mesh), edges, sizeof edges);
    sinew_mesh_destroy(mesh);
}

/* ---- Locale and file system ---------------------------------------------------------------------- */

/* A locale with a decimal comma changes nothing. */
static void other_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE", "fr_FR.utf8"};
    const char *set = NULL;
    for (size_t i = 0; !set && i < sizeof names / sizeof names[0]; i++)
        set = setlocale(LC_ALL, names[i]);
    if (!set) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    char half[8];
    snprintf(half, sizeof half, "%.1f", 0.5);
    assert_string_equal(half, "0,5");
    sinew_mesh *mesh = awkward_mesh();
    comes_back(mesh);
    sinew_mesh_destroy(mesh);
    snprintf(half, sizeof half, "%.1f", 0.5);
    assert_string_equal(half, "0,5");
    setlocale(LC_ALL, "C");
}

static void refused_writes(void **state)
{
    (void)state;
    sinew_mesh *mesh = awkward_mesh();
    sinew_error error = {0};
    assert_int_equal(sinew_mesh_write(mesh, SCRATCH("no/such/folder/a.msh"), SINEW_MESH_BY_ENDING, &error),
                     SINEW_ERROR_FILE);
    assert_non_null(strstr(error.text, "no/such/folder/a.msh"));
    assert_int_equal(sinew_mesh_write(mesh, SCRATCH("a.xyz"), SINEW_MESH_BY_ENDING, &error), SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, ".msh"));
    assert_int_equal(sinew_mesh_write(mesh, SCRATCH("a.glb"), SINEW_MESH_BY_ENDING, &error), SINEW_ERROR_UNSUPPORTED);
    assert_int_equal(sinew_mesh_write(mesh, SCRATCH("a.vtk"), SINEW_MESH_GMSH_4_ASCII, &error),
                     SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "leave it to the ending"));
    assert_int_equal(sinew_mesh_write(NULL, SCRATCH("a.vtk"), SINEW_MESH_BY_ENDING, &error), SINEW_ERROR_USAGE);
    assert_int_equal(sinew_mesh_write(mesh, NULL, SINEW_MESH_BY_ENDING, &error), SINEW_ERROR_USAGE);
    sinew_mesh_destroy(mesh);

    sinew_rope_def def = sinew_default_rope_def();
    sinew_mesh *rope = sinew_mesh_rope(&def, NULL);
    assert_int_equal(sinew_mesh_write(rope, SCRATCH("rope.stl"), SINEW_MESH_BY_ENDING, &error),
                     SINEW_ERROR_UNSUPPORTED);
    assert_int_not_equal(access(SCRATCH("rope.stl"), F_OK), 0);
    sinew_mesh_destroy(rope);
}

/* If the second of four files cannot be written, none of them changes. */
static void all_files_or_none(void **state)
{
    (void)state;
    sinew_mesh *mesh = awkward_mesh();
    sinew_error error = {0};
    const char before[] = "as it was";
    store(SCRATCH("whole.node"), before, sizeof before);
    mkdir(SCRATCH("whole.ele.partial"), 0700);
    assert_int_equal(sinew_mesh_write(mesh, SCRATCH("whole.node"), SINEW_MESH_BY_ENDING, &error), SINEW_ERROR_FILE);
    size_t size;
    char *now = load(SCRATCH("whole.node"), &size);
    assert_int_equal(size, sizeof before);
    assert_memory_equal(now, before, sizeof before);
    free(now);
    assert_int_not_equal(access(SCRATCH("whole.node.partial"), F_OK), 0);
    assert_int_not_equal(access(SCRATCH("whole.face"), F_OK), 0);
    rmdir(SCRATCH("whole.ele.partial"));
    sinew_mesh_destroy(mesh);
}

/* If the disk is full once the first of four files is written, none of them changes. */
static void full_disk_changes_no_file(void **state)
{
    (void)state;
    /* 40 tets of the same four vertices make the second file longer than the limit, and the first shorter. */
    enum {
        TETS = 40
    };
    int32_t corners[4 * TETS];
    for (int32_t k = 0; k < 4 * TETS; k++)
        corners[k] = k % 4;
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 4;
    def.positions = (const sinew_real[]){0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    def.tet_count = TETS;
    def.tets = corners;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    assert_non_null(mesh);
    const char before[] = "as it was";
    store(SCRATCH("full.node"), before, sizeof before);
    const struct rlimit limit = limit_files(400);
    const sinew_status status = sinew_mesh_write(mesh, SCRATCH("full.node"), SINEW_MESH_BY_ENDING, &error);
    setrlimit(RLIMIT_FSIZE, &limit);
    assert_int_equal(status, SINEW_ERROR_FILE);
    assert_non_null(strstr(error.text, "full.ele"));
    size_t size;
    char *now = load(SCRATCH("full.node"), &size);
    assert_int_equal(size, sizeof before);
    assert_memory_equal(now, before, sizeof before);
    free(now);
    assert_int_not_equal(access(SCRATCH("full.node.partial"), F_OK), 0);
    assert_int_not_equal(access(SCRATCH("full.ele.partial"), F_OK), 0);
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_tools_wrote),
        cmocka_unit_test(dresses_agree),
        cmocka_unit_test(xml_encodings_agree),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(stl_round_trip),
        cmocka_unit_test(large_stl),
        cmocka_unit_test(boundary_of_a_body),
        cmocka_unit_test(tetgen_leaves_no_stale_faces),
        cmocka_unit_test(sparse_node_numbers),
        cmocka_unit_test(other_byte_order),
        cmocka_unit_test(vtk_fields),
        cmocka_unit_test(gmsh_words),
        cmocka_unit_test(concave_polygons),
        cmocka_unit_test(obj_order),
        cmocka_unit_test(marked_text),
        cmocka_unit_test(medit_any_order),
        cmocka_unit_test(medit_names_what_it_ignores),
        cmocka_unit_test(gltf_nodes),
        cmocka_unit_test(other_locale),
        cmocka_unit_test(refused_writes),
        cmocka_unit_test(all_files_or_none),
        cmocka_unit_test(full_disk_changes_no_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
