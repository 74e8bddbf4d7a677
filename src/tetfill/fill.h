/* SPDX-License-Identifier: MIT
 *
 * fill.h: declarations that the files of the filling share (fill.c describes the algorithm).
 *
 *     clean_surface.c  the surface without duplicates and triangles without area, consistently oriented
 *     lattice.c        indices of lattice points and tets, the tets that the surface intersects, winding numbers
 *     sample.c         64 samples of such a tet: its filled fraction, and the components of the inside within it
 *     virtual_nodes.c  separate tets for components that do not touch; the mesh
 *     conform.c        boundary vertices move to the surface
 */
#ifndef SINEW_SRC_TETFILL_FILL_H
#define SINEW_SRC_TETFILL_FILL_H

#include "base/tasks.h"
#include "mesh/mesh.h"
#include "base/sort_pairs.h"
#include "sinew/tree.h"

enum {
    FILL_SAMPLES = 64,       /* number of samples of a tet: the centroids of its 4^3 sub-tets of equal volume */
    FILL_LINKS = 96,         /* number of pairs of sub-tets of a tet that share a face */
    FILL_FACE = 16,          /* number of sub-tets at one face of a tet */
    FILL_COMPONENTS_MAX = 4, /* largest number of components of the inside that are separated in one tet */
    /* largest number of triangles in a tet whose components are separated: the work is quadratic */
    FILL_NEAR_MAX = 256,
    FILL_BLOCK = 64 /* number of lattice tets, or of surface triangles, that a thread takes at once */
};

/* A point is inside the surface if its absolute winding number is above this value. */
#define FILL_INSIDE 0.5
/* An open surface encloses a volume if the winding number exceeds this value somewhere. Beside a slightly bent sheet
 * the winding number is just above a half. */
#define FILL_ENCLOSED 0.6
/* Rays search for walls of the inside that are thinner than this fraction of a cell; thicker walls contain samples. */
#define FILL_THIN 0.35
/* A tet whose filled fraction is below FILL_TINY is removed if it is connected to other tets and all of these are
 * filled by the fraction FILL_FIRM or more. */
#define FILL_TINY 0.02
#define FILL_FIRM 0.1
/* Lower bound of the filled fraction of a tet. */
#define FILL_MIN (1.0 / 1024)

/* ---- The cleaned surface ------------------------------------------------------------------------- */

typedef struct fill_surface {
    int32_t vertex_count;
    const sinew_real *positions; /* [3 * vertex_count] vertex coordinates of the surface, owned by the caller */
    /* [3 * count] vertices of the triangles, without degenerate ones and duplicates, consistently oriented */
    int32_t *triangles;
    int32_t count;
    double box[6]; /* bounding box of the triangles in m: min x y z, max x y z */
    /* signed volume that the surface encloses, in m3, > 0 if its normals point out; a formal sum for open surfaces */
    double volume;
    double area; /* sum of the areas of all given triangles, in m2 */
    bool closed; /* true: every edge is used by an even number of triangles */
} fill_surface;

/* Cleans the surface of the mesh (clean_surface.c), and counts its defects in the report. */
sinew_status sinew_fill_clean_surface(fill_surface *surface, const sinew_mesh *mesh, const sinew_allocator *allocator,
                                      sinew_fill_report *report, sinew_error *error);
void sinew_fill_surface_free(fill_surface *surface, const sinew_allocator *allocator);

/* ---- Subdivision of a tet into 64 sub-tets ------------------------------------------------------- */

/* A link: two sub-tets of a tet that share a face, or, with `from` = -1 - i, vertex i of the tet and the sub-tet at
 * it. */
typedef struct fill_link {
    int8_t from, to;
} fill_link;

typedef struct fill_pattern {
    double weights[FILL_SAMPLES][4]; /* barycentric weights, in the tet, of the centroids of the sub-tets */
    /* pairs of neighbouring sub-tets; the last four: a vertex of the tet and the sub-tet at it */
    fill_link links[FILL_LINKS + 4];
    int8_t face[4][FILL_FACE]; /* indices of the sub-tets at the tet's face opposite to vertex i */
    /* 12 times the barycentric weights, in the tet, of the centroid of the triangle that sub-tet face[i][n] has in the
     * tet's face opposite to vertex i */
    int8_t face_position[4][FILL_FACE][4];
    /* indices in `links` of the links (shared faces) of each sub-tet; -1: none */
    int8_t link_of[FILL_SAMPLES][4];
} fill_pattern;

void sinew_fill_make_pattern(fill_pattern *pattern);

/* ---- The body-centred lattice -------------------------------------------------------------------- */

/* Lattice points are the corners and the centres of cubic cells. Point 2 p is a corner, point 2 p + 1 the centre of the
 * cell above that corner, with p = (k (n1 + 1) + j) (n0 + 1) + i. */
typedef struct fill_lattice {
    double origin[3];
    double cell;     /* edge length of a lattice cell, in m */
    int64_t n[3];    /* number of lattice cells along each axis, including a layer around the surface's bounding box */
    int64_t corners; /* number of cell corners; the lattice has twice as many points */
    float *winding;  /* [2 * corners] winding number at each lattice point */
    uint8_t *near;   /* [2 * corners] 1: the lattice point is a corner of a tet that the surface intersects */
} fill_lattice;

/* Lattice tets that are inside or partly inside the surface, ascending; tets that the surface intersects have a list of
 * triangles. */
typedef struct fill_tets {
    int64_t count;
    uint64_t *number; /* [count] number of each tet in the lattice, 12 per cell */
    int64_t *first;   /* [count + 1] index in `near` of each tet's first triangle */
    int32_t *near;    /* [first[count]] indices of the triangles that intersect each tet */
    /* [count] 1: the tet may be only partly inside (the surface intersects it or a corner is outside) and is sampled */
    uint8_t *sampled;
    /* [count] per tet and component of the inside: bit set of its samples */
    uint64_t (*component)[FILL_COMPONENTS_MAX];
    /* [count] per tet and component of the inside: filled fraction of the tet */
    float (*fraction)[FILL_COMPONENTS_MAX];
    /* [count] number of components of the inside in each tet; 0: nothing of the tet is inside */
    uint8_t *component_count;
} fill_tets;

void sinew_fill_point(const fill_lattice *lattice, int64_t point, double x[3]);
/* Returns the four lattice points of a tet, positively oriented. */
void sinew_fill_corners(const fill_lattice *lattice, uint64_t tet, int64_t points[4]);

/* ---- State of the complete filling --------------------------------------------------------------- */

typedef struct fill {
    const sinew_fill_def *def;
    sinew_allocator allocator;
    sinew_error *error;
    int32_t thread_count;
    sinew_fill_report report;
    double max;     /* largest absolute winding number of a sample; at least 1 if any tet lies entirely inside */
    int64_t capped; /* number of tets with more components or triangles than are separated */
    fill_surface surface;
    sinew_tree *tree;
    fill_pattern pattern;
    fill_lattice lattice;
    fill_tets tets;
    /* [tet_count of the mesh] 1: vertices of the tet do not move: it is a duplicate, or contains a wall without
     * samples */
    uint8_t *fixed;
} fill;

sinew_status sinew_fill_make_lattice(fill *f);
sinew_status sinew_fill_sample(fill *f);
sinew_mesh *sinew_fill_make_mesh(fill *f);
/* Moves boundary vertices of the mesh to the surface as far as the tets stay well shaped. Takes ownership of the
 * mesh. */
sinew_mesh *sinew_fill_conform(fill *f, sinew_mesh *mesh);

/* ---- Crossings of one segment with the surface (segment_triangle.c) ------------------------------ */

enum {
    FILL_CROSSINGS = 16 /* largest number of stored crossings of a segment */
};

/* The intersections of a segment with triangles; the first FILL_CROSSINGS of them in order along the segment. */
typedef struct fill_crossings {
    int32_t count; /* number of all crossings of the segment */
    /* sum of the signs of all crossings: +1 if the segment passes from the back of a triangle to its front, else -1 */
    int32_t sum;
    /* [min(count, FILL_CROSSINGS)] parameters of the crossings along the segment, 0 .. 1, ascending */
    double at[FILL_CROSSINGS];
    int8_t sign[FILL_CROSSINGS];
    int32_t last;   /* index of the triangle crossed last along the segment; -1: none */
    double last_at; /* parameter along the segment, 0 .. 1, of the last crossing */
} fill_crossings;

/* Tests whether the segment from p to q crosses triangle t: 0: no, +1: from its back to its front, -1: from its
 * front to its back. */
int sinew_fill_pass(const fill_surface *surface, int32_t t, const double p[3], const double q[3], double *at);
/* Inserts one crossing of a segment; crossings at equal parameters keep the order of insertion. */
void sinew_fill_put_crossing(fill_crossings *found, double at, int sign, int32_t t);
void sinew_fill_cross(const fill_surface *surface, const int32_t *triangles, int64_t count, const double p[3],
                      const double q[3], fill_crossings *found);
/* True if a segment that starts inside, at a point with winding number `winding`, stays inside. */
bool sinew_fill_stays_inside(const fill_crossings *found, double winding);

#endif
