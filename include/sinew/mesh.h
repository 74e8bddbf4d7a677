/* SPDX-License-Identifier: MIT
 *
 * sinew/mesh.h: meshes: generators, readers, checks, repair, filling, writers.
 *
 * A mesh is immutable: vertices with rest positions (m) and any mix of tetrahedra, triangles and edges
 * over them. Indices are zero-based 32-bit. A tetrahedron (a b c d) is oriented when
 * (b-a) x (c-a) . (d-a) > 0; a surface triangle when its normal points out of the body.
 *
 * Does not: hold higher-order or hexahedral cells, attributes, materials or texture coordinates.
 */
#ifndef SINEW_MESH_H
#define SINEW_MESH_H

#include "sinew/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_mesh sinew_mesh;

typedef struct sinew_mesh_def {
    uint32_t cookie; /* identifies the struct; set by sinew_default_mesh_def() */
    sinew_allocator allocator;
    int32_t vertex_count;
    const sinew_real *positions; /* [3 * vertex_count] rest coordinates of the vertices in m; copied */
    int32_t tet_count;
    const int32_t *tets; /* [4 * tet_count] vertices of each tet, copied; NULL if tet_count is 0 */
    int32_t triangle_count;
    const int32_t *triangles; /* [3 * triangle_count] vertices of each triangle, copied; NULL if triangle_count is 0 */
    int32_t edge_count;
    const int32_t *edges;        /* [2 * edge_count] vertices of each edge, copied; NULL if edge_count is 0 */
    const sinew_real *fractions; /* [tet_count] filled fraction of each tet, in (0, 1]; NULL (default): 1 */
    int32_t director_count;
    /* [3 * director_count] vertices a b p of each director: the edge a b and its director point, the vertex p. */
    const int32_t *directors;
} sinew_mesh_def;

SINEW_API sinew_mesh_def sinew_default_mesh_def(void);

/* Creates a mesh from copies of the arrays. Fails for indices out of range and non-finite positions; accepts bad
 * shapes (see sinew_mesh_check). NULL on failure. Destroy accepts NULL. */
SINEW_API sinew_mesh *sinew_mesh_create(const sinew_mesh_def *def, sinew_error *error);
SINEW_API void sinew_mesh_destroy(sinew_mesh *mesh);

/* Counts and views of a mesh's arrays, valid until the mesh is destroyed. */
SINEW_API int32_t sinew_mesh_vertex_count(const sinew_mesh *mesh);
SINEW_API int32_t sinew_mesh_tet_count(const sinew_mesh *mesh);
SINEW_API int32_t sinew_mesh_triangle_count(const sinew_mesh *mesh);
SINEW_API int32_t sinew_mesh_edge_count(const sinew_mesh *mesh);
SINEW_API int32_t sinew_mesh_director_count(const sinew_mesh *mesh);
/* Returns [3 * vertex_count] rest coordinates in m. */
SINEW_API const sinew_real *sinew_mesh_positions(const sinew_mesh *mesh);
SINEW_API const int32_t *sinew_mesh_tets(const sinew_mesh *mesh); /* returns [4 * tet_count] vertices of each tet */
/* Returns [3 * triangle_count] vertices of each triangle of the mesh. */
SINEW_API const int32_t *sinew_mesh_triangles(const sinew_mesh *mesh);
SINEW_API const int32_t *sinew_mesh_edges(const sinew_mesh *mesh); /* returns [2 * edge_count] vertices of each edge */
/* Returns [3 * director_count] vertices of each director of the mesh: the two ends of an edge and its director
 * point. */
SINEW_API const int32_t *sinew_mesh_directors(const sinew_mesh *mesh);
/* Returns warnings of a mesh reader about ignored or repaired data, one line each ("": none). */
SINEW_API const char *sinew_mesh_warnings(const sinew_mesh *mesh);

/* Creates a mesh of the same vertices whose triangles are the boundary of the tetrahedra (outward), or the mesh's own
 * triangles if it has no tetrahedra; its edges are the mesh's own edges. */
SINEW_API sinew_mesh *sinew_mesh_surface(const sinew_mesh *mesh, sinew_error *error);
/* Creates a mesh of the same vertices whose only cells are the unique edges of all cells, sorted (low, high). */
SINEW_API sinew_mesh *sinew_mesh_skeleton(const sinew_mesh *mesh, sinew_error *error);
/* Creates a copy of a mesh with other positions [3 * vertex_count], m. */
SINEW_API sinew_mesh *sinew_mesh_moved(const sinew_mesh *mesh, const sinew_real *positions, sinew_error *error);
/* Creates a copy of a mesh with a director point for every edge of its triangles, or for its own edges if it has no
 * triangles. Each director point is a vertex that is appended to the mesh, at the middle of the edge plus `offset`
 * (m; 0: a quarter of the mean edge length) along a unit vector perpendicular to the edge. Shells: the mean of the
 * normals at the edge. Ropes: the component of `toward` (NULL: of an axis) perpendicular to the first edge of each
 * connected component, transported along the rope without twist. Energies of shells and rods read the slope or the
 * frame of an edge from its director point; to clamp an edge, pin its ends and its director point. Fails for
 * triangles without area, edges of more than two triangles, and a mesh that has directors. */
SINEW_API sinew_mesh *sinew_mesh_with_directors(const sinew_mesh *mesh, double offset, const sinew_real *toward,
                                                sinew_error *error);

/* ---- Mesh generators ------------------------------------------------------------------------- */

/* Tet mesh of a box with nx x ny x nz vertices with five tetrahedra per cell, whose parity alternates from cell to
 * cell so that faces match. (nx-1)(ny-1)(nz-1)*5 tets: n = 32 gives 32 768 vertices and 148 955 tets. Corner at
 * `origin`, edges along the axes. Each n is at least 2. */
typedef struct sinew_box_def {
    uint32_t cookie;
    sinew_allocator allocator;
    int32_t vertices[3];  /* number of vertices of the box along x, y, z; default 8 8 8 */
    sinew_real origin[3]; /* lowest corner of the box in m, default 0 */
    sinew_real size[3];   /* side lengths of the box in m, > 0, default 1 */
} sinew_box_def;
SINEW_API sinew_box_def sinew_default_box_def(void);
SINEW_API sinew_mesh *sinew_mesh_box(const sinew_box_def *def, sinew_error *error);

/* Tet mesh of a beam along x, centred on the x axis: `cells` boxes of five tets along x, y, z. */
typedef struct sinew_beam_def {
    uint32_t cookie;
    sinew_allocator allocator;
    int32_t cells[3];   /* number of cells of the beam along x, y, z, five tets each; default 12 4 4 */
    sinew_real size[3]; /* side lengths of the beam in m, default 3 1 1 */
} sinew_beam_def;
SINEW_API sinew_beam_def sinew_default_beam_def(void);
SINEW_API sinew_mesh *sinew_mesh_beam(const sinew_beam_def *def, sinew_error *error);

/* Round bodies, all centred on the origin, axis along z, filled with tetrahedra. `segments` is the number of cells
 * across a diameter (ball, cylinder) or around a circle (torus, tube); the source of each generator states its exact
 * counts. */
typedef struct sinew_round_def {
    uint32_t cookie;
    sinew_allocator allocator;
    /* Outer radius in m of ball, cylinder and tube; torus: radius of the centre line. Default 0.5. */
    sinew_real radius;
    /* Inner radius in m, < radius. Tube: radius of the hole; torus: radius of the pipe. Default 0: 0.6 (tube) or 0.3
     * (torus) of the radius. */
    sinew_real inner_radius;
    sinew_real height; /* height in m of cylinder and tube, along z. Default 1 */
    /* Number of cells across or around: >= 2 (ball, cylinder), >= 3 (torus, tube). Default 0: 8, 8, 24, 16, which give
     * cells about as long as wide with the other defaults. */
    int32_t segments;
    /* Number of cells along the height (cylinder, tube) or across the pipe (torus), >= 1. Default 4. */
    int32_t layers;
    int32_t rings; /* tube only: number of cells through the wall. Default 2 */
} sinew_round_def;
SINEW_API sinew_round_def sinew_default_round_def(void);
SINEW_API sinew_mesh *sinew_mesh_ball(const sinew_round_def *def, sinew_error *error);
SINEW_API sinew_mesh *sinew_mesh_cylinder(const sinew_round_def *def, sinew_error *error);
SINEW_API sinew_mesh *sinew_mesh_torus(const sinew_round_def *def, sinew_error *error);
SINEW_API sinew_mesh *sinew_mesh_tube(const sinew_round_def *def, sinew_error *error);
/* Creates the side of a can: a surface of triangles, open at both ends, with `segments` cells around (default 24) and
 * `layers` cells up. */
SINEW_API sinew_mesh *sinew_mesh_can(const sinew_round_def *def, sinew_error *error);

typedef enum sinew_diagonals {
    SINEW_DIAGONALS_FORWARD = 0, /* every grid cell of the cloth is cut from (i, j) to (i+1, j+1) */
    SINEW_DIAGONALS_BACKWARD,    /* every grid cell of the cloth is cut from (i+1, j) to (i, j+1) */
    SINEW_DIAGONALS_ALTERNATING, /* grid cells of the cloth are cut forward or backward by the parity of i + j */
    SINEW_DIAGONALS_CROSS        /* cloth cells have edges along both diagonals (triangles as with FORWARD) */
} sinew_diagonals;

/* Mesh of a cloth rectangle of nx x ny vertices in the plane z = 0 from `origin`: 2(nx-1)(ny-1) triangles; edges
 * along both axes plus the chosen diagonals (81 x 81, one diagonal: 19 360 edges). */
typedef struct sinew_cloth_def {
    uint32_t cookie;
    sinew_allocator allocator;
    int32_t vertices[2];  /* number of vertices of the cloth along x and y, each >= 2, default 16 16 */
    sinew_real origin[3]; /* corner of the cloth with the lowest x and y, in m */
    sinew_real size[2];   /* side lengths of the cloth in m, default 1 1 */
    sinew_diagonals diagonals;
} sinew_cloth_def;
SINEW_API sinew_cloth_def sinew_default_cloth_def(void);
SINEW_API sinew_mesh *sinew_mesh_cloth(const sinew_cloth_def *def, sinew_error *error);

/* Mesh of a rope: `vertices` points in a straight line from `from` to `to`, joined by vertices-1 edges. */
typedef struct sinew_rope_def {
    uint32_t cookie;
    sinew_allocator allocator;
    int32_t vertices;   /* number of vertices of the rope, >= 2, default 16 */
    sinew_real from[3]; /* first end of the rope in m, default 0 0 0 */
    sinew_real to[3];   /* second end of the rope in m, default 1 0 0 */
} sinew_rope_def;
SINEW_API sinew_rope_def sinew_default_rope_def(void);
SINEW_API sinew_mesh *sinew_mesh_rope(const sinew_rope_def *def, sinew_error *error);

/* Mesh of a coil: a helix of `vertices` points around the z axis from (radius, 0, 0) upwards, anticlockwise seen
 * from above, joined by vertices-1 edges. Ring: `vertices` points on the circle z = 0, joined by as many edges to a
 * closed loop. */
typedef struct sinew_coil_def {
    uint32_t cookie;
    sinew_allocator allocator;
    sinew_real radius; /* radius of the helix or circle in m, > 0, default 0.5 */
    sinew_real pitch;  /* coil: rise along z per turn in m, any sign, default 0.2 */
    sinew_real turns;  /* coil: number of turns, > 0, default 5 */
    /* Number of vertices: coil >= 2, ring >= 3. Default 0: 24 per turn of the coil, or around the ring. */
    int32_t vertices;
} sinew_coil_def;
SINEW_API sinew_coil_def sinew_default_coil_def(void);
SINEW_API sinew_mesh *sinew_mesh_coil(const sinew_coil_def *def, sinew_error *error);
SINEW_API sinew_mesh *sinew_mesh_ring(const sinew_coil_def *def, sinew_error *error);

/* ---- Check and repair of meshes ---------------------------------------------------------------- */

typedef enum sinew_flaw_kind {
    SINEW_FLAW_INVERTED_TET = 0, /* tet with negative volume: two of its vertices are swapped */
    /* Tet with a volume below 1e-10 times its longest edge cubed, or with a repeated vertex. */
    SINEW_FLAW_DEGENERATE_TET,
    SINEW_FLAW_SLIVER_TET, /* tet with a quality (sinew_mesh_report) below 0.1 that is not degenerate */
    /* Triangle with an area below 1e-10 times its longest edge squared, or with a repeated vertex. */
    SINEW_FLAW_DEGENERATE_TRIANGLE,
    SINEW_FLAW_DEGENERATE_EDGE,   /* edge whose two ends are one vertex or coincide */
    SINEW_FLAW_DUPLICATE_VERTEX,  /* vertex at the same position as a lower-numbered vertex */
    SINEW_FLAW_UNUSED_VERTEX,     /* vertex that no cell of the mesh uses */
    SINEW_FLAW_DUPLICATE_CELL,    /* cell with the same vertices as a lower-numbered cell of its kind */
    SINEW_FLAW_NON_MANIFOLD_FACE, /* face shared by three or more tetrahedra */
    SINEW_FLAW_NON_MANIFOLD_EDGE, /* edge shared by three or more triangles */
    SINEW_FLAW_FLIPPED_TRIANGLE,  /* triangle oriented against a neighbour */
    SINEW_FLAW_CROSSING_TRIANGLE, /* triangle that intersects another one: an edge of one passes through the other */
    SINEW_FLAW_COUNT
} sinew_flaw_kind;

typedef struct sinew_flaw {
    sinew_flaw_kind kind;
    int32_t element; /* index of the defective tet, triangle, edge or vertex */
    /* The other element of the defect (duplicate of, flipped against, next that shares the face or edge, first that it
     * intersects), or -1. */
    int32_t other;
    /* Size of the defect. Tets: volume in m3 (inverted, degenerate) or quality (sliver); triangle: area in m2; edge:
     * length in m; duplicate cell: its number of vertices (4 tet, 3 triangle, 2 edge; tets come first); non-manifold
     * face or edge: number of cells that share it; else 0. */
    double measure;
} sinew_flaw;

typedef struct sinew_mesh_report {
    int32_t counts[SINEW_FLAW_COUNT];
    double volume; /* sum of the signed tet volumes in m3, each times its filled fraction */
    double area;   /* total area of the mesh's triangles, in m2 */
    double length; /* total length of the mesh's edges, in m */
    /* Quality of the worst tet: 6 sqrt(2) volume / (rms edge)^3, 1 for the regular tet; 0: no tets. */
    double quality_min;
    double quality_mean;
    double bounds[6];            /* bounding box of the mesh in m: min x y z, max x y z */
    int32_t component_count;     /* number of connected components of the used vertices */
    int32_t boundary_edge_count; /* number of edges with exactly one triangle: 0 for a closed surface */
    bool closed_surface;         /* true: the triangles (or the boundary of the tets) form a closed surface */
} sinew_mesh_report;

/* Checks the whole mesh without changing it. Writes at most `flaw_capacity` flaws (tets first, in order of kind, then
 * element) and returns their total number; flaws may be NULL. Negative on failure. */
SINEW_API int64_t sinew_mesh_check(const sinew_mesh *mesh, sinew_mesh_report *report, sinew_flaw *flaws,
                                   int64_t flaw_capacity, sinew_error *error);
SINEW_API const char *sinew_flaw_name(sinew_flaw_kind kind); /* name of a defect, e.g. "inverted tet" */

/* Creates a repaired copy of a mesh: flips inverted tets, orients triangles consistently (outward if closed), merges
 * vertices at most `merge_distance` apart (m; 0: coincident; negative: none) into the lowest-numbered, and drops
 * degenerate and duplicate cells, directors and unused vertices. Slivers are kept. `map` (may be NULL)
 * [vertex_count] receives the new index of each old vertex or -1. The copy's warnings list the repairs. */
SINEW_API sinew_mesh *sinew_mesh_fix(const sinew_mesh *mesh, double merge_distance, int32_t *map, sinew_error *error);

/* ---- Filling a surface with tets -------------------------------------------------------------- */

/* Fills any surface with the tets of a body-centred cubic lattice that overlap the inside. The generalised winding
 * number defines the inside, so the surface may be open, self-intersecting, doubled, partly flipped or in several
 * components. */
typedef struct sinew_fill_def {
    uint32_t cookie;
    sinew_allocator allocator;
    const sinew_mesh *surface; /* triangle mesh whose inside is filled */
    int32_t cells;             /* lattice cells along the longest side of the surface's bounds, >= 1. Default 24 */
    bool conform; /* true: boundary vertices move to the surface, and tets outside are removed. Default false */
    /* True (default): components of the surface that share a lattice cell but do not touch get separate copies of it */
    bool split;
    int32_t thread_count; /* number of threads; 0 (default): all; the mesh does not depend on it */
} sinew_fill_def;

typedef struct sinew_fill_report {
    double cell;        /* side length of a lattice cell, in m */
    double quality_min; /* quality of the worst tet of the filled body, as in sinew_mesh_report */
    double quality_mean;
    double volume; /* volume in m3 of the tets, each times its filled fraction */
    /* Volume in m3 that a closed surface without self-intersections encloses; else the sampled volume. */
    double surface_volume;
    bool closed;         /* true: surface_volume is exact; false: it is sampled */
    int32_t components;  /* number of connected components of the filled body */
    int32_t split_cells; /* number of tets duplicated for components that do not touch */
    /* Number of tets around walls too thin for samples: components in one such tet are not separated. */
    int32_t thin_cells;
    int32_t open_edges;    /* number of surface edges with one triangle */
    int32_t crowded_edges; /* number of surface edges with three or more triangles */
    int32_t flipped;       /* number of surface triangles oriented against a neighbour */
    int32_t duplicates;    /* number of repeated surface triangles */
    int32_t degenerate;    /* number of surface triangles without area */
    int64_t crossings;     /* number of intersecting pairs of surface triangles */
} sinew_fill_report;

SINEW_API sinew_fill_def sinew_default_fill_def(void);
/* Fills a surface with tets. NULL on failure: no triangles, a flat surface, an empty inside, or more tets than
 * memory or 32 bits allow (the error has both numbers). report may be NULL. The mesh's warnings list defects of the
 * surface. */
SINEW_API sinew_mesh *sinew_mesh_fill(const sinew_fill_def *def, sinew_fill_report *report, sinew_error *error);
/* Returns [tet_count] filled fractions of the tets, each in (0, 1], by which masses and energies of a body are
 * scaled. NULL: all tets are full. */
SINEW_API const sinew_real *sinew_mesh_fractions(const sinew_mesh *mesh);

/* ---- Inertia of rigid shapes ----------------------------------------------------------------- */

/* Moments of the volume inside tets or a closed surface, with uniform density. */
typedef struct sinew_inertia {
    double volume;    /* volume of the shape, in m3 */
    double centre[3]; /* centroid of the shape's volume, in m */
    /* m5: second moment S, the integral of (x - centre) (x - centre)^T; inertia tensor per density: trace(S) 1 - S */
    double second[9];
} sinew_inertia;

/* Computes the inertia of a mesh. Fails for inverted and open surfaces; the error has the number of open edges. */
SINEW_API sinew_status sinew_mesh_inertia(const sinew_mesh *mesh, sinew_inertia *inertia, sinew_error *error);
/* Creates one tet with the mass, centre and inertia of the mesh if each vertex has a quarter of the mass. NULL on
 * failure. */
SINEW_API sinew_mesh *sinew_mesh_frame(const sinew_mesh *mesh, sinew_error *error);

/* A solid sphere or capsule: all points within `radius` (m) of the segment between both ends (m). Equal ends: a
 * sphere. */
typedef struct sinew_solid {
    sinew_real radius;
    sinew_real ends[2][3];
} sinew_solid;

/* Computes the inertia of a solid whose radius is greater than 0. */
SINEW_API void sinew_solid_inertia(const sinew_solid *solid, sinew_inertia *inertia);

/* ---- Selection of vertices by regions ---------------------------------------------------------- */

typedef enum sinew_region_kind {
    SINEW_REGION_BOX = 0,    /* box: points with a <= x <= b, component by component */
    SINEW_REGION_SPHERE,     /* sphere: points with |x - a| <= radius */
    SINEW_REGION_HALF_SPACE, /* half-space: points with (x - a) . b >= 0 */
    SINEW_REGION_NEAREST     /* the one point nearest to a; among equals, the lowest index */
} sinew_region_kind;

typedef struct sinew_region {
    sinew_region_kind kind;
    sinew_real a[3];
    sinew_real b[3];
    sinew_real radius;
} sinew_region;

/* Selects points of a region: writes the indices of the points inside, ascending, at most `capacity`, and returns
 * their total number. `indices` may be NULL to count. Borders of boxes and spheres are widened by 1e-9 (single:
 * 1e-5) of the size of the region, so that points intended to lie on them are inside. */
SINEW_API int32_t sinew_region_select(const sinew_region *region, const sinew_real *positions, int32_t count,
                                      int32_t *indices, int32_t capacity);

/* ---- Mesh files -------------------------------------------------------------------------------- */

/* Reads a mesh from a file. The ending of the path selects the format: .msh (Gmsh 2.2 and 4.1, ASCII and binary),
 * .node/.ele (TetGen: either name reads both files), .mesh (Medit ASCII), .vtk (legacy, ASCII and binary), .vtu
 * (ASCII, base64 and raw appended), .obj .ply .stl .off .gltf .glb (surfaces). Cells of other kinds are ignored and
 * named in the warnings. The error of a failed read names the path and, for text, the line. */
SINEW_API sinew_mesh *sinew_mesh_read(const char *path, const sinew_allocator *allocator, sinew_error *error);

/* Rotates points [3 * count] of a file whose vertical axis is `up` ("x" "y" "z" "-x" "-y" "-z"; NULL: y) so that it
 * becomes y, without mirroring, and multiplies them by `scale` (m for one unit of the file). "y" and 1 change nothing.
 * Fails for other words, a scale that is not positive and finite, and points that overflow; points may then be
 * partly changed. */
SINEW_API sinew_status sinew_orient_points(const char *up, double scale, int32_t count, sinew_real *points,
                                           sinew_error *error);

typedef enum sinew_mesh_format {
    /* The file's ending selects the format; Gmsh: 4.1 ASCII; VTK: legacy ASCII; VTU: ASCII. */
    SINEW_MESH_BY_ENDING = 0,
    SINEW_MESH_GMSH_2_ASCII,
    SINEW_MESH_GMSH_2_BINARY,
    SINEW_MESH_GMSH_4_ASCII,
    SINEW_MESH_GMSH_4_BINARY,
    SINEW_MESH_VTK_BINARY,
    SINEW_MESH_VTU_BINARY
} sinew_mesh_format;

/* Writes a mesh to a temporary file in the same folder and renames it: a failed write leaves an existing file
 * unchanged and creates no file. Text formats have 17 (single: 9) significant digits. */
SINEW_API sinew_status sinew_mesh_write(const sinew_mesh *mesh, const char *path, sinew_mesh_format format,
                                        sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
