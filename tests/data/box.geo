// A box and a rod: tetrahedra, triangles, lines and points in several entities, node numbers with gaps after the
// renumbering is switched off.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1.1, 0.3};
Mesh.MeshSizeMax = 0.6;
Mesh.MeshSizeExtendFromBoundary = 0;
Physical Volume("body", 7) = {1};
Physical Surface("floor", 8) = {5};
Mesh.SaveAll = 1;
