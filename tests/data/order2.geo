// Second-order tetrahedra, triangles and lines.
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Mesh.MeshSizeMin = 5; Mesh.MeshSizeMax = 5; Mesh.MeshSizeFactor = 5;
Mesh.ElementOrder = 2;
Mesh.SaveAll = 1;
