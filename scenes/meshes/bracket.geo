// The shape behind bracket.msh: gmsh -3 -format msh41 -o bracket.msh bracket.geo
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 0.3, 0.08, 0.12};
Box(2) = {0, 0, 0, 0.08, 0.3, 0.12};
BooleanUnion(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Cylinder(4) = {0.22, -0.1, 0.06, 0, 0.3, 0, 0.03};
BooleanDifference(5) = { Volume{3}; Delete; }{ Volume{4}; Delete; };
Mesh.MeshSizeMin = 0.05;
Mesh.MeshSizeMax = 0.06;
Mesh.Optimize = 1;
Mesh.SaveAll = 0;
Physical Volume("bracket") = {5};
