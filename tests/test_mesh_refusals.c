/* SPDX-License-Identifier: MIT
 *
 * test_mesh_refusals.c: broken, truncated, malicious and missing mesh files give one line with location and reason. The
 * fuzzers' corpus and mutations of it cause no crash; every allocation may fail.
 */
#include "mesh_files.h"

#include <dirent.h>
#include <sys/stat.h>

#include "failing_allocator.h"
#include "mesh_entry.h"

/* ---- A table of bad files ------------------------------------------------------------------ */

typedef struct bad_file {
    const char *name;
    const char *text;  /* "%%%%" separates several files, see mesh_entry.h */
    const char *place; /* location at the start of the message, after the file name */
    const char *reason;
} bad_file;

#define MSH2                 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH4                 "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"
#define NODES2               MSH2 "$Nodes\n2\n1 0 0 0\n2 1 0 0\n$EndNodes\n"
#define NODES4               MSH4 "$Nodes\n1 2 1 2\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n"
#define VTK                  "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK5                 "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define POINTS2              "POINTS 2 float\n0 0 0\n1 0 0\n"
#define VTU                  "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\">\n"
#define PIECE(points, cells) "<Piece NumberOfPoints=\"" points "\" NumberOfCells=\"" cells "\">\n"
#define ARRAY(type, name, values)                                                                                      \
    "<DataArray type=\"" type "\" Name=\"" name "\" format=\"ascii\">" values "</DataArray>\n"
#define PIECE_END  "</Piece></UnstructuredGrid></VTKFile>\n"
#define PLY        "ply\nformat ascii 1.0\n"
#define XYZ        "property float x\nproperty float y\nproperty float z\n"
#define GLTF(rest) "{\"asset\":{\"version\":\"2.0\"}," rest "}"
#define GLTF_MESH                                                                                                      \
    "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"                                               \
    "\"buffers\":[{\"byteLength\":12,\"uri\":\"data:;base64,AAAAAAAAAAAAAAAA\"}],"

static const bad_file bad_files[] = {
    /* Any file */
    {"a.msh", "", "", "the file is empty"},
    {"a.xyz", "x", "", "ending '.xyz'; use one of .msh"},
    {"folder.obj/a", "x", "", "ending ''"},

    /* Gmsh */
    {"a.msh", "hello", ":1", "expected $MeshFormat, found 'hello'"},
    {"a.msh", "$MeshFormat\n4 0 8\n$EndMeshFormat\n", ":1", "version 4 is not read: save as 2.2 or 4.1"},
    {"a.msh", "$MeshFormat\nnan 0 8\n", ":1", "version nan is not read"},
    {"a.msh", "$MeshFormat\n2.2 2 8\n", ":2", "the file type (0 ASCII, 1 binary) must lie between 0 and 1, found 2"},
    {"a.msh", "$MeshFormat\n2.2 -1 8\n", ":2", "must lie between 0 and 1, found -1"},
    {"a.msh", "$MeshFormat\n2.2 1 4\n", ":1", "data of 4 bytes"},
    {"a.msh", MSH4 "$Nodes\n1 1 1 1\n4 1 0 1\n1\n0 0 0\n$EndNodes\n", ":6", "dimension 4"},
    {"a.msh", MSH4 "$Nodes\n1 1 1 1\n-1 1 0 1\n1\n0 0 0\n$EndNodes\n", ":6", "-1"},
    {"a.msh", "$MeshFormat\n2.2 1 8\nabcd\n", ": byte 20", "byte order mark is not the number 1"},
    {"a.msh", "$MeshFormat\n2.2 1 8\n", ": byte 20",
     "1 byte order mark of 4 bytes each are due here, but only 0 bytes"},
    {"a.msh", MSH2, ":4", "the file ends without $Nodes"},
    {"a.msh", NODES2, ":9", "the file ends without $Elements"},
    {"a.msh", MSH2 "$Elements\n0\n$EndElements\n", ":4", "$Elements stands before $Nodes"},
    {"a.msh", MSH2 "$Nodes\n4611686018427387904\n1 0 0 0\n", ":6",
     "4611686018427387904 nodes are promised, but only 8 bytes follow"},
    {"a.msh", MSH2 "$Nodes\n99999999999999999999\n", ":5",
     "expected the number of nodes, found '99999999999999999999'"},
    {"a.msh", MSH2 "$Nodes\n-1\n", ":5", "the number of nodes must be at least 0, found -1"},
    {"a.msh", MSH2 "$Nodes\n1\n1 0 nan 0\n$EndNodes\n", ":6", "the coordinate 'nan' is not a finite"},
    {"a.msh", MSH2 "$Nodes\n1\n1 0 1e999 0\n$EndNodes\n", ":6", "the coordinate '1e999' is not a finite"},
    {"a.msh", MSH2 "$Nodes\n1\n1 0 0,5 0\n$EndNodes\n", ":6", "expected a coordinate, found '0,5'"},
    {"a.msh", MSH2 "$Nodes\n2\n1 0 0 0\n1 1 0 0\n$EndNodes\n", ":4", "two vertices have the number 1"},
    {"a.msh", MSH2 "$Nodes\n2\n1 0 0 0\n2 1 0 0\n", ":8", "expected $EndNodes, found the end of the file"},
    {"a.msh", NODES2 "$Elements\n1\n1 1 2 0 1 1 3\n$EndElements\n", ":11",
     "refers to node 3, which $Nodes does not hold"},
    {"a.msh", NODES2 "$Elements\n1\n1 1 2 0 1 1 -2\n", ":11", "a node number must be at least 0, found -2"},
    {"a.msh", NODES2 "$Elements\n1000\n1 1 0 1 2\n", ":11", "1000 elements are promised"},
    {"a.msh", NODES2 "$Elements\n1\n1 1 4000000 1 2\n", ":12", "expected a tag, found the end of the file"},
    {"a.msh", NODES2 "$Nodes\n1\n", ":9", "a second $Nodes section"},
    {"a.msh", MSH2 "$Physical\n", ":4", "$EndPhysical is missing"},
    {"a.msh", MSH2 "stray\n", ":4", "expected a section such as $Nodes"},
    {"a.msh", MSH4 "$Nodes\n1 5 1 5\n1 1 0 2\n1\n2\n0 0 0\n1 0 0\n$EndNodes\n", ":5",
     "5 nodes are promised, but the blocks hold 2"},
    {"a.msh", MSH4 "$Nodes\n9000000000000000000 5 1 5\n", ":5", "9000000000000000000 blocks are promised"},
    {"a.msh", MSH4 "$Nodes\n1 5 1 5\n1 1 0 4611686018427387904\n", ":6", "4611686018427387904 nodes of a block"},
    {"a.msh", MSH4 "$Nodes\n1 5 1 5\n7 1 0 2\n", ":6", "dimension 7"},
    {"a.msh", NODES4 "$Elements\n1 1 1 1\n1 1 1 1\n1 1 9\n", ":15", "refers to node 9"},
    {"a.msh", NODES4 "$Elements\n1 2 1 1\n1 1 1 1\n1 1 2\n$EndElements\n", ":13",
     "2 elements are promised, but the blocks hold 1"},
    {"a.msh", NODES4 "$Elements\n1 1 1 1\n1 1 400 1\n1 1 2 3\n", ":16", "expected $EndElements, found the end"},

    /* TetGen */
    {"a.node", "0 3 0 0\n\n%%%%\n0 4 0\n", "", "holds no vertices"},
    {"a.node", "1 3 0 0\n1 0 0 0\n", "", "needs a.ele beside it"},
    {"a.node", "1 2 0 0\n1 0 0\n", ":1", "the dimension must lie between 3 and 3, found 2"},
    {"a.node", "1 3 0 0\n5 0 0 0\n", ":2", "the number of a vertex must lie between 0 and 1, found 5"},
    {"a.node", "2 3 0 0\n0 0 0 0\n2 0 0 0\n", ":3", "the number of a vertex must lie between 1 and 1, found 2"},
    {"a.node", "4611686018427387904 3\n", ":1", "4611686018427387904 vertices are promised, but only 3 bytes"},
    {"a.node", "-4 3\n", ":1", "the number of vertices is negative (-4)"},
    {"a.node", "2 3 0 0\n1 0 0 0\n2 0 0\n", ":4", "expected a coordinate, found the end of the file"},
    {"a.node", "1 3 0 0 # one\n1 inf 0 0\n", ":2", "the coordinate 'inf' is not a finite"},
    {"a.node", "1 3 0 0\n1 0 0 0\n\n%%%%\n1 4 0\n1 1 1 1 2\n", ".ele:2",
     "a vertex index must lie between 1 and 1, found 2"},
    {"a.node", "1 3 0 0\n0 0 0 0\n\n%%%%\n1 4 0\n1 0 0 0 -1\n", ".ele:2",
     "a vertex index must lie between 0 and 0, found -1"},
    {"a.node", "1 3 0 0\n0 0 0 0\n\n%%%%\n1 5 0\n1 0 0 0 0 0\n", ".ele:1", "tetrahedra of 5 nodes are not read"},
    {"a.node", "1 3 0 0\n0 0 0 0\n\n%%%%\n0 4 0\n\n%%%%\n1 0\n0 0 0 7\n", ".face:2", "a vertex index must lie"},

    /* Medit */
    {"a.mesh", "Vertices 1 0 0 0 0", ":1", "expected MeshVersionFormatted"},
    {"a.mesh", "MeshVersionFormatted 1\nDimension 2\nVertices 1 0 0 0\n", ":2", "the mesh has dimension 2, only 3"},
    {"a.mesh", "MeshVersionFormatted 0\n", ":1", "the version of the format must lie between 1 and 4, found 0"},
    {"a.mesh", "MeshVersionFormatted 5\n", ":1", "the version of the format must lie between 1 and 4, found 5"},
    {"a.mesh", "MeshVersionFormatted 9\n", ":1", "the version of the format must lie between 1 and 4, found 9"},
    {"a.mesh", "MeshVersionFormatted 1\nDimension 3\nEnd\n", ":3", "ends without Vertices"},
    {"a.mesh", "MeshVersionFormatted 1 Dimension 3\nVertices 4611686018427387904\n", ":2", "vertices are promised"},
    {"a.mesh", "MeshVersionFormatted 1 Dimension 3\nVertices 1\n0 0 0 0\nTriangles 1\n1 1 2 0\nEnd\n", ":5",
     "a vertex index must lie between 1 and 1, found 2"},
    {"a.mesh", "MeshVersionFormatted 1 Dimension 3\nVertices 1\n0 0 0 0\nTetrahedra -3\nEnd\n", ":4",
     "the number of Tetrahedra is negative (-3)"},
    {"a.mesh", "MeshVersionFormatted 1 Dimension 3\nVertices 1\n0 0 0 0\n", ":4", "ends without End"},
    {"a.mesh", "MeshVersionFormatted 1 Dimension 3\nVertices 1\n0.0 0.0\n", ":4",
     "expected a coordinate, found the end"},

    /* VTK legacy */
    {"a.vtk", "# vtk DataFile Version 9.0\nt\nASCII\n", ":1", "version 9 of the format is not read"},
    {"a.vtk", "# vtk DataFile Version 6.0\nt\nASCII\n", ":1", "version 6 of the format is not read"},
    {"a.vtk", "# vtk DataFile Version 0.9\nt\nASCII\n", ":1", "version 0.9 of the format is not read"},
    {"a.vtk", "vtk\n", ":1", "expected #, found 'vtk'"},
    {"a.vtk", "# vtk DataFile Version 3.0\nt\nEBCDIC\n", ":3", "expected ASCII or BINARY"},
    {"a.vtk", "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_GRID\n", ":4", "only UNSTRUCTURED_GRID and"},
    {"a.vtk", VTK "CELLS 1 3\n2 0 1\n", ":5", "cells stand before POINTS"},
    {"a.vtk", VTK "POINTS 4611686018427387904 double\n", ":5", "4611686018427387904 points are promised"},
    {"a.vtk", VTK "POINTS 2 quaternion\n0 0 0 1 1 1\n", ":5", "an array has an unknown type"},
    {"a.vtk", VTK POINTS2 "CELLS 1 3\n2 0 2\n", ":9", "a point index must lie between 0 and 1, found 2"},
    {"a.vtk", VTK POINTS2 "CELLS 1 3\n5 0 1\n", ":9", "the size of a cell must lie between 0 and 2, found 5"},
    {"a.vtk", VTK POINTS2 "CELLS 1 4\n2 0 1 1\nCELL_TYPES 1\n3\n", ":8", "the cells hold 3 numbers, but 4 are"},
    {"a.vtk", VTK POINTS2 "CELLS 1 3\n2 0 1\n", ":10", "ends without CELL_TYPES"},
    {"a.vtk", VTK POINTS2 "CELLS 1 3\n2 0 1\nCELL_TYPES 2\n3 3\n", ":10", "2 cell types for 1 cells"},
    {"a.vtk", VTK POINTS2 "CELLS 1 3\n2 0 1\nCELL_TYPES 1\n10\n", ":10", "cell 0 of type 10 cannot have 2 corners"},
    {"a.vtk", VTK POINTS2 "POLYGONS 1 3\n2 0 1\n", ":8", "expected POINTS, CELLS or CELL_TYPES"},
    {"a.vtk", VTK5 POINTS2 "CELLS 2 2\nOFFSETS vtktypeint64\n0 9\n", ":10",
     "an offset must lie between 0 and 2, found 9"},
    {"a.vtk", VTK5 POINTS2 "CELLS 3 2\nOFFSETS vtktypeint64\n0 2 1\n", ":8", "the offsets of cell 1 do not ascend"},
    {"a.vtk", VTK5 POINTS2 "CELLS 2 2\nOFFSETS float\n0 2\n", ":10", "OFFSETS must be of a whole type"},
    {"a.vtk", VTK POINTS2 POINTS2, ":8", "POINTS appears twice"},
    {"a.vtk", VTK POINTS2 "CELLS 1 3\n2 0 1\nCELLS 1 3\n2 0 1\n", ":10", "CELLS appears twice"},
    {"a.vtk", VTK POINTS2 "CELL_TYPES 1\n3\n", ":8", "CELL_TYPES must come once, after CELLS"},
    {"a.vtk", VTK POINTS2 "CELLS 1 3\n2 0 1\nCELL_TYPES 1\n3\nCELL_TYPES 1\n3\n", ":12",
     "CELL_TYPES must come once, after CELLS"},
    {"a.vtk", VTK "FIELD", ":5", "the file ends inside FIELD"},
    {"a.vtk", VTK "FIELD FieldData 1\nname 1 1 string\nx\n", ":5", "save the file without field data"},
    {"a.vtk", "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET POLYDATA\nPOINTS 9 double\n1234567", ": byte 60",
     "9 points are promised, but only 15 bytes follow"},

    /* VTU */
    {"a.vtu", "<html></html>", ":1", "expected <VTKFile>"},
    {"a.vtu", "<VTKFile type=\"PolyData\">", ":1", "only files of type UnstructuredGrid"},
    {"a.vtu", "<VTKFile type=\"UnstructuredGrid\" compressor=\"vtkLZ4DataCompressor\">", ":1", "not zlib"},
    {"a.vtu", VTU, ":3", "ends without a <Piece>"},
    {"a.vtu", VTU "<Piece NumberOfCells=\"0\">", ":3", "<Piece> lacks the attribute NumberOfPoints"},
    {"a.vtu", VTU PIECE("4611686018427387904", "0") PIECE_END, ":3", "4611686018427387904 points are promised"},
    {"a.vtu", VTU PIECE("-1", "0") PIECE_END, ":3", "NumberOfPoints must be at least 0, found -1"},
    {"a.vtu", VTU PIECE("1", "0") "<Points>", ":3", "a <Piece> does not end"},
    {"a.vtu", VTU PIECE("1", "0") "<Points>" ARRAY("Float64", "p", "0 0 nan") "</Points>" PIECE_END, ":3",
     "point 0 of the piece is not finite"},
    {"a.vtu", VTU PIECE("1", "0") "<Points>" ARRAY("Float64", "p", "0 0 zero") "</Points>" PIECE_END, ":4",
     "expected a number, found 'zero'"},
    {"a.vtu", VTU PIECE("1", "0") "<Points>" ARRAY("Colour", "p", "0 0 0") "</Points>" PIECE_END, ":4", "unknown type"},
    {"a.vtu",
     VTU PIECE("1", "1") "<Points>" ARRAY("Float64", "p", "0 0 0") "</Points><Cells>" ARRAY("Int32", "connectivity",
                                                                                            "0 5")
         ARRAY("Int32", "offsets", "2") ARRAY("UInt8", "types", "3") "</Cells>" PIECE_END,
     ":3", "entry 1 of the connectivity is 5, but the piece has 1 points"},
    {"a.vtu",
     VTU PIECE("1", "1") "<Points>" ARRAY("Float64", "p", "0 0 0") "</Points><Cells>" ARRAY("Int32", "connectivity",
                                                                                            "0 0")
         ARRAY("Int32", "offsets", "3") ARRAY("UInt8", "types", "3") "</Cells>" PIECE_END,
     ":3", "the offset of cell 0 is before the last or past the end"},
    {"a.vtu",
     VTU PIECE("1", "1") "<Points>" ARRAY("Float64", "p", "0 0 0") "</Points><Cells>" ARRAY(
         "Int32", "connectivity", "0 0") ARRAY("Int32", "offsets", "2") "</Cells>" PIECE_END,
     ":3", "1 cells are promised, but there are 1 offsets and 0 types"},
    {"a.vtu", VTU PIECE("1", "0") "<Points><DataArray type=\"Float32\" format=\"appended\" offset=\"0\"/></Points>",
     ":4", "the file has no <AppendedData>"},
    {"a.vtu",
     VTU PIECE("1", "0") "<Points><DataArray type=\"Float32\" format=\"appended\" offset=\"99\"/></Points></Piece>"
                         "<AppendedData encoding=\"raw\">_12345678</AppendedData>",
     ":4", "an array starts past the end of the file"},
    {"a.vtu",
     VTU PIECE("1", "0") "<Points><DataArray type=\"Float32\" format=\"appended\" offset=\"0\"/></Points></Piece>"
                         "<AppendedData encoding=\"raw\">_\xff\xff\xff\x7f....</AppendedData>",
     ":4", "promises more bytes than the appended data hold"},
    {"a.vtu",
     VTU PIECE("1", "0") "<Points><DataArray type=\"Float32\" format=\"binary\">////fwAA</DataArray></Points></Piece>",
     ":4", "an array promises more bytes than its text holds"},
    {"a.vtu",
     VTU PIECE("1", "0") "<Points><DataArray type=\"Float32\" format=\"binary\">!!!</DataArray></Points></Piece>", ":4",
     "the base64 text is broken"},
    {"a.vtu",
     "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" compressor=\"vtkZLibDataCompressor\">" PIECE(
         "1", "0") "<Points><DataArray type=\"Float32\" format=\"appended\" offset=\"0\"/></Points></Piece>"
                   "<AppendedData encoding=\"raw\">_\x01\x01\x01\x01\xff\xff\xff\x7f\x01\x01\x01\x01</AppendedData>",
     ":2", "promises more blocks than the file holds"},

    {"a.vtu",
     VTU PIECE("2", "1") "<Points>" ARRAY("Float64", "p", "0 0 0 1 0 0") "</Points><Cells>" ARRAY("Int32",
                                                                                                  "connectivity", "0 1")
         ARRAY("Int32", "offsets", "2") ARRAY("UInt8", "types", "10") "</Cells>" PIECE_END,
     ":3", "cell 0 of type 10 cannot have 2 corners"},

    /* OBJ */
    {"a.obj", "# nothing\n", ":2", "ends without a vertex"},
    {"a.obj", "v 0 0\n", ":1", "a vertex needs three coordinates"},
    {"a.obj", "v 0 0 nan\n", ":1", "'nan' is not a finite"},
    {"a.obj", "v 0 0 0\nf 1 1 2\n", ":2", "a vertex index must lie between -1 and 1, found 2"},
    {"a.obj", "v 0 0 0\nf 1 1 0\n", ":2", "a vertex index is 0"},
    {"a.obj", "v 0 0 0\nf 1 1 -2\n", ":2", "a vertex index must lie between -1 and 1, found -2"},
    {"a.obj", "v 0 0 0\nf 1 1\n", ":2", "a face needs at least 3 vertices"},
    {"a.obj", "v 0 0 0\nf 1 1 x\n", ":2", "expected a vertex index, found 'x'"},
    {"a.obj", "v 0 0 0\nl 1\n", ":2", "a line needs at least 2 vertices"},

    /* PLY */
    {"a.ply", "plx\n", ":1", "expected 'ply'"},
    {"a.ply", "ply\nformat xml 1.0\n", ":2", "the format is none of"},
    {"a.ply", "ply\nend_header\n", ":2", "the header lacks its format"},
    {"a.ply", PLY "element vertex 1\n" XYZ, ":7", "ends without end_header"},
    {"a.ply", PLY "element vertex 2000000000\n" XYZ "end_header\n0 0 0\n", ":3", "2000000000 rows of an element"},
    {"a.ply", PLY "element vertex 4611686018427387904\n", ":3", "expected 'element NAME COUNT'"},
    {"a.ply", PLY "element vertex 1\nproperty float x\nend_header\n0\n", ":3", "the element 'vertex' lacks x, y or z"},
    {"a.ply", PLY "element edge 1\nproperty int vertex2\nend_header\n0\n", ":3",
     "the element 'edge' lacks vertex1 or vertex2"},
    {"a.ply", PLY "element edge 1\nproperty int vertex1\nend_header\n0\n", ":3",
     "the element 'edge' lacks vertex1 or vertex2"},
    {"a.ply", PLY "element vertex 1\nproperty quaternion x\n", ":4", "a property has an unknown type"},
    {"a.ply", PLY "element vertex 1\n" XYZ "end_header\n0 0 inf\n", ":8", "a coordinate is not a finite number"},
    {"a.ply",
     PLY "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
         "0 0 0\n3 0 0 1\n",
     ":11", "a vertex index must lie between 0 and 0, found 1"},
    {"a.ply",
     PLY "element vertex 1\n" XYZ "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
         "0 0 0\n2000000000 0\n",
     ":10", "2000000000 entries of a list"},
    {"a.ply", PLY "element face 1\nproperty list uchar float vertex_indices\n", ":4", "given as real numbers"},
    {"a.ply", PLY "element face 1\nproperty list float int vertex_indices\n", ":4",
     "a list is counted by real numbers"},
    {"a.ply", PLY "property float x\n", ":3", "a property stands before the first element"},
    {"a.ply", PLY "element vertex 1\nproperty list uchar float x\n", ":4", "a property is a list and must not be"},
    {"a.ply", PLY "element face 1\nproperty int vertex_indices\n", ":4", "a property is not a list"},
    {"a.ply", PLY "element vertex 1\nproperty float\n", ":4", "a property lacks its name"},
    {"a.ply", PLY "surprise\n", ":3", "unknown word"},
    {"a.ply", "ply\nformat binary_little_endian 1.0\nelement vertex 2\n" XYZ "end_header\n0123456789ab", ": byte 43",
     "2 rows of an element are promised, but only 12 bytes follow"},

    /* STL */
    {"a.stl", "hello\n", ":1", "neither starts with 'solid' nor has the size of a binary STL"},
    {"a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n", ":6",
     "expected vertex, found the end"},
    {"a.stl", "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 nan\n", ":4", "'nan' is not a finite"},
    {"a.stl", "solid a\n", ":2", "ends without endsolid"},
    {"a.stl", "solid a\nendsolid a\n", "", "holds no vertices"},
    {"a.stl", "solid a\nvertex 1 2 3\n", ":2", "expected facet or endsolid"},

    /* OFF */
    {"a.off", "FOO\n", ":1", "expected OFF"},
    {"a.off", "4OFF\n1 0 0\n0 0 0 0\n", ":1", "only three-dimensional"},
    {"a.off", "OFF BINARY\n", ":1", "binary OFF files are not read"},
    {"a.off", "OFF\n4611686018427387904 0 0\n", ":2", "4611686018427387904 vertices are promised"},
    {"a.off", "OFF\n1 -1 0\n0 0 0\n", ":2", "the number of faces is negative (-1)"},
    {"a.off", "OFF\n1 1 0\n0 0 0\n3 0 0 1\n", ":4", "a vertex index must lie between 0 and 0, found 1"},
    {"a.off", "OFF\n1 1 0\n0 0 0\n3000 0 0 0\n", ":4", "3000 corners of a face are promised"},

    /* glTF */
    {"a.gltf", "{\n\"asset\": ]", ":2", "unexpected token"},
    {"a.gltf", "[1]", "", "not an object"},
    {"a.gltf", "{\"asset\":{\"version\":\"1.0\"}}", "", "only glTF version 2"},
    {"a.gltf", GLTF("\"x\":0"), "", "holds no vertices"},
    {"a.gltf", GLTF("\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]"), "", "needs the extension KHR_draco"},
    {"a.gltf", GLTF("\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"children\":[0]}]"), "", "nodes[0] has two parents"},
    {"a.gltf", GLTF("\"scenes\":[{\"nodes\":[7]}],\"nodes\":[{}]"), "", "refers to nodes[7], but there are 1"},
    {"a.gltf",
     GLTF(GLTF_MESH "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"VEC3\"}],"
                    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}]"),
     "", "accessors[0] reads 2 elements past the end"},
    {"a.gltf",
     GLTF(GLTF_MESH "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4611686018427387904,"
                    "\"type\":\"VEC3\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}]"),
     "", "accessors[0] reads 4611686018427387904 elements past the end"},
    {"a.gltf",
     GLTF(GLTF_MESH "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":-2,\"type\":\"VEC3\"}],"
                    "\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}]"),
     "", "\"count\" is missing or is not a whole number"},
    {"a.gltf",
     GLTF(GLTF_MESH "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}],"
                    "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":9223372036854775807,\"byteLength\":12}]"),
     "", "bufferViews[0] lies outside its buffer"},
    {"a.gltf",
     GLTF(GLTF_MESH "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1,\"type\":\"VEC3\","
                    "\"sparse\":{}}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}]"),
     "", "accessors[0] is sparse"},
    {"a.gltf",
     GLTF("\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
          "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}],"
          "\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}],"
          "\"buffers\":[{\"byteLength\":99,\"uri\":\"data:;base64,AAAA\"}]"),
     "", "a buffer promises 99 bytes"},
    {"a.gltf",
     GLTF("\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}],"
          "\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":1,\"type\":\"VEC3\"}],"
          "\"bufferViews\":[{\"buffer\":0,\"byteLength\":12}],"
          "\"buffers\":[{\"byteLength\":12,\"uri\":\"b%20c.bin\"}]"),
     "", "needs the file b c.bin"},
    {"a.gltf", GLTF("\"scenes\":[{\"nodes\":[\"x\"]}],\"nodes\":[{}]"), "", "a node of scenes[0] is no number"},
    {"a.gltf", GLTF("\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"matrix\":[1,2]}]"), "",
     "\"matrix\" of a node must be 16 numbers"},
    {"a.gltf", GLTF("\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"rotation\":[0,0,0]}]"), "",
     "\"rotation\" of a node must be 4 numbers"},
    {"a.gltf", GLTF("\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"scale\":[1,1,true]}]"), "",
     "\"scale\" of a node must be 3 numbers"},
    {"a.gltf", GLTF("\"scenes\":[{\"nodes\":[0]}],\"nodes\":[{\"translation\":[1,1,1,1]}]"), "",
     "\"translation\" of a node must be 3 numbers"},
    {"a.glb", "glTF", "", "only version 2 of the binary form"},
    {"a.glb", "glTF\x02\x01\x01\x01????????JSON", "", "only version 2"},
};

/* The expected start of an error: its file, and the line or byte. */
static void wanted_start(const bad_file *bad, char *start, size_t size)
{
    const char *stem_end = bad->place[0] == '.' ? strrchr(bad->name, '.') : bad->name + strlen(bad->name);
    snprintf(start, size, "%.*s%s:", (int)(stem_end - bad->name), bad->name, bad->place);
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof bad_files / sizeof bad_files[0]; i++) {
        const bad_file *bad = &bad_files[i];
        sinew_error error = {SINEW_OK, ""};
        char start[64];
        wanted_start(bad, start, sizeof start);
        sinew_mesh *mesh = mesh_entry(bad->name, bad->text, strlen(bad->text), NULL, &error);
        bool good = !mesh && error.status != SINEW_OK && strncmp(error.text, start, strlen(start)) == 0 &&
                    strstr(error.text, bad->reason) && !strchr(error.text, '\n');
        if (!good)
            print_error("row %zu: \"%s\" is not \"%s ... %s\"\n", i, mesh ? "read" : error.text, start, bad->reason);
        wrong += !good;
        sinew_mesh_destroy(mesh);
        /* The call also works without an error to write to. */
        assert_null(mesh_entry(bad->name, bad->text, strlen(bad->text), NULL, NULL));
    }
    assert_int_equal(wrong, 0);
}

/* ---- Paths --------------------------------------------------------------------------------- */

static void bad_paths_are_refused(void **state)
{
    (void)state;
    sinew_error error = {0};
    assert_null(sinew_mesh_read(SCRATCH("nothing.msh"), NULL, &error));
    assert_int_equal(error.status, SINEW_ERROR_FILE);
    assert_non_null(strstr(error.text, "nothing.msh: cannot read: No such file"));
    mkdir(SCRATCH("folder.vtu"), 0700);
    assert_null(sinew_mesh_read(SCRATCH("folder.vtu"), NULL, &error));
    assert_int_equal(error.status, SINEW_ERROR_FILE);
    assert_non_null(strstr(error.text, "folder.vtu"));
    assert_null(sinew_mesh_read(SCRATCH("a.docx"), NULL, &error));
    assert_int_equal(error.status, SINEW_ERROR_UNSUPPORTED);
    assert_null(sinew_mesh_read(NULL, NULL, &error));
    assert_int_equal(error.status, SINEW_ERROR_USAGE);
}

/* ---- Truncated and mutated files --------------------------------------------------------------- */

typedef void each_file(const char *name, const char *bytes, size_t size);

/* Calls a function for the files of a folder, sorted by name. The name passed is `as` unless that is NULL. */
static int for_files(const char *folder, const char *as, each_file *visit)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort), visited = 0;
    for (int i = 0; i < count; i++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.') {
            size_t size;
            char *bytes = load(path, &size);
            visit(as ? as : path, bytes, size);
            free(bytes);
            visited++;
        }
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return visited;
}

static const struct {
    const char *folder;
    const char *name;
} corpora[] = {
    {"mesh_gmsh", "corpus.msh"},  {"mesh_tetgen", "corpus.node"}, {"mesh_medit", "corpus.mesh"},
    {"mesh_vtk", "corpus.vtk"},   {"mesh_vtu", "corpus.vtu"},     {"mesh_obj", "corpus.obj"},
    {"mesh_ply", "corpus.ply"},   {"mesh_stl", "corpus.stl"},     {"mesh_off", "corpus.off"},
    {"mesh_gltf", "corpus.gltf"},
};
enum {
    CORPORA = sizeof corpora / sizeof corpora[0]
};

static void for_corpora(each_file *visit)
{
    for (int i = 0; i < CORPORA; i++) {
        char folder[1024];
        snprintf(folder, sizeof folder, SINEW_SOURCE_DIR "/tests/corpus/%s", corpora[i].folder);
        if (for_files(folder, corpora[i].name, visit) == 0)
            fail_msg("%s holds no files", folder);
    }
}

/* Every input gives a mesh or an error, never both (mesh_entry_fuzz() aborts otherwise). */
static void run_one(const char *name, const char *bytes, size_t size)
{
    mesh_entry_fuzz(name, bytes, size);
}

static void corpus_is_harmless(void **state)
{
    (void)state;
    for_corpora(run_one);
}

static void cut_short(const char *name, const char *bytes, size_t size)
{
    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : size / 29 + 1)
        mesh_entry_fuzz(name, bytes, cut);
}

static void cut_files_are_harmless(void **state)
{
    (void)state;
    for_corpora(cut_short);
    for_files(SINEW_SOURCE_DIR "/tests/data", NULL, cut_short);
}

/* xorshift64: the same mutations in every run. */
static uint64_t dice = 88172645463325252u;

static uint64_t roll(uint64_t sides)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice % sides;
}

static void change(char *bytes, size_t *size)
{
    static const char *const words[] = {"-1",  "0",     "4294967295", "9223372036854775807",
                                        "nan", "1e999", "\n",         "99999999"};
    size_t at = roll(*size);
    const char *word = words[roll(8)];
    size_t length = strlen(word) < *size - at ? strlen(word) : *size - at;
    switch (roll(4)) {
    case 0:
        bytes[at] = (char)roll(256);
        break;
    case 1:
        bytes[at] ^= (char)(1 << roll(8));
        break;
    case 2:
        for (size_t i = 0; i < length; i++)
            bytes[at + i] = word[i];
        break;
    default:
        memmove(bytes + at, bytes + at + length, *size - at - length);
        *size -= length < *size ? length : *size - 1;
    }
}

static void mutate(const char *name, const char *bytes, size_t size)
{
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    for (int round = 0; size > 0 && round < 300; round++) {
        size_t changed_size = size;
        memcpy(copy, bytes, size);
        for (uint64_t times = 1 + roll(6); times > 0; times--)
            change(copy, &changed_size);
        mesh_entry_fuzz(name, copy, changed_size);
    }
    free(copy);
}

static void mutations_are_harmless(void **state)
{
    (void)state;
    for_corpora(mutate);
}

/* ---- Every allocation fails in turn -------------------------------------------------------- */

static void fail_each(const char *path)
{
    failing_allocator memory = {0};
    sinew_allocator hooks = hooks_of(&memory);
    for (memory.fail_at = 1;; memory.fail_at++) {
        sinew_error error = {SINEW_OK, ""};
        memory.calls = 0;
        sinew_mesh *mesh = sinew_mesh_read(path, &hooks, &error);
        if (mesh) {
            assert_true(memory.fail_at > 4);
            sinew_mesh_destroy(mesh);
            assert_int_equal(memory.live, 0);
            return;
        }
        if (error.status != SINEW_ERROR_MEMORY)
            fail_msg("%s, allocation %lld: %s", path, (long long)memory.fail_at, error.text);
        assert_int_equal(memory.live, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const paths[] = {DATA("gmsh_mixed_msh22.msh"),
                                        DATA("gmsh_mixed_msh41_binary.msh"),
                                        DATA("tetgen_order2.node"),
                                        DATA("gmsh.mesh"),
                                        DATA("vtk_grid_51_binary.vtk"),
                                        DATA("vtk_poly_42.vtk"),
                                        DATA("vtk_raw_64_zlib_big.vtu"),
                                        DATA("vtk_base64_32_zlib.vtu"),
                                        DATA("vtk_base64_64.vtu"),
                                        DATA("vtk_pieces.vtu"),
                                        DATA("vtk_surface.obj"),
                                        DATA("vtk_surface_binary.ply"),
                                        DATA("gmsh.stl"),
                                        DATA("geomview.off"),
                                        DATA("vtk_surface.gltf"),
                                        DATA("vtk_surface_beside.gltf")};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        fail_each(paths[i]);
    static const char sparse[] = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n2\n700 0 0 0\n30 1 0 0\n$EndNodes\n"
                                 "$Elements\n1\n1 1 0 700 30\n$EndElements\n";
    store(SCRATCH("sparse.msh"), sparse, sizeof sparse - 1);
    fail_each(SCRATCH("sparse.msh"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_files_are_refused),  cmocka_unit_test(bad_paths_are_refused),
        cmocka_unit_test(corpus_is_harmless),     cmocka_unit_test(cut_files_are_harmless),
        cmocka_unit_test(mutations_are_harmless), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
