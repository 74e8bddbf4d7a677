// Hexahedra, prisms, quadrilaterals, triangles, lines and points side by side.
SetFactory("Built-in");
Point(1) = {0, 0, 0, 1}; Point(2) = {1, 0, 0, 1}; Point(3) = {1, 1, 0, 1}; Point(4) = {0, 1, 0, 1};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Transfinite Surface {1} = {1, 2, 3, 4}; Transfinite Curve {1:4} = 3; Recombine Surface {1};
hex[] = Extrude {0, 0, 1} { Surface{1}; Layers{2}; Recombine; };
Point(120) = {3, 0, 0, 1}; Point(121) = {4, 0, 0, 1}; Point(122) = {3, 1, 0, 1};
Line(120) = {120, 121}; Line(121) = {121, 122}; Line(122) = {122, 120};
Curve Loop(120) = {120, 121, 122}; Plane Surface(120) = {120};
prism[] = Extrude {0, 0, 1} { Surface{120}; Layers{1}; Recombine; };
Mesh.SaveAll = 1;
