/* SPDX-License-Identifier: MIT
 *
 * fill.h: declarations that the files of the filling share (fill.c describes the algorithm).
 *
 *     clean_surface.c   the surface without what is there twice or has no area, turned to face one way
 *     lattice.c   numbers of lattice points and tets, which tets the surface passes through, winding numbers
 *     sample.c    64 samples of such a tet: how much of it is inside, and in how many parts
 *     virtual_nodes.c     parts that do not touch get tets of their own; the mesh
 *     conform.c   boundary vertices move to the surface
 */
#ifndef SINEW_SRC_TETFILL_FILL_H
#define SINEW_SRC_TETFILL_FILL_H

#include "base/tasks.h"
#include "mesh/mesh.h"
#include "mesh/sort_pairs.h"
#include "sinew/tree.h"

enum {
    FILL_SAMPLES = 64,       /* of a tet: the centres of its 4^3 equal parts */
    FILL_LINKS = 96,         /* pairs of parts of a tet that share a face */
    FILL_FACE = 16,          /* parts that touch a face of the tet */
    FILL_COMPONENTS_MAX = 4, /* of the inside that are told apart in one tet */
    FILL_NEAR_MAX = 256,     /* triangles of a tet in which parts are told apart: the work grows with their square */
    FILL_BLOCK = 64          /* tets that a thread takes at once */
};

/* Inside is where the absolute winding number is above this. */
#define FILL_INSIDE 0.5
/* An open surface encloses a volume if the winding number exceeds this value somewhere. Beside a slightly bent sheet
 * the winding number is just above a half. */
#define FILL_ENCLOSED 0.6
/* Rays search for walls that are thinner than this fraction of a cell; thicker walls contain samples. */
#define FILL_THIN 0.35
/* A tet with a smaller filled fraction is removed if all its neighbours are filled more than FILL_FIRM. */
#define FILL_TINY 0.02
#define FILL_FIRM 0.1
/* The smallest filled fraction that a tet is given. */
#define FILL_MIN (1.0 / 1024)

/* ---- The surface ---------------------------------------------------------------------------- */

typedef struct fill_surface {
    int32_t vertex_count;
    const sinew_real *positions; /* [3 * vertex_count] the caller's */
    int32_t *triangles;          /* [3 * count] of vertices in different places, with area, once, facing one way */
    int32_t count;
    double box[6]; /* min x y z, max x y z of the triangles */
    double volume; /* m3, signed, enclosed where it is closed */
    double area;   /* m2 */
    bool closed;   /* every edge is used by an even number of triangles */
} fill_surface;

sinew_status sinew_fill_surface(fill_surface *surface, const sinew_mesh *mesh, const sinew_allocator *allocator,
                                sinew_fill_report *report, sinew_error *error);
void sinew_fill_surface_free(fill_surface *surface, const sinew_allocator *allocator);

/* ---- How a tet is cut into parts ------------------------------------------------------------ */

/* Two parts of a tet that share a face; `from` = -1 - i means vertex i of the tet. */
typedef struct fill_link {
    int8_t from, to;
} fill_link;

typedef struct fill_pattern {
    double weights[FILL_SAMPLES][4];       /* of the centres of the parts */
    fill_link links[FILL_LINKS + 4];       /* the last four: a vertex and the part at it */
    int8_t face[4][FILL_FACE];             /* parts at the face opposite to vertex i ... */
    int8_t face_position[4][FILL_FACE][4]; /* ... and where: twelve times the weights of the centre there */
    int8_t link_of[FILL_SAMPLES][4];       /* links of a part, -1: none */
} fill_pattern;

void sinew_fill_pattern(fill_pattern *pattern);

/* ---- The lattice ---------------------------------------------------------------------------- */

/* Points: corners of cubic cells, and their centres. Point 2 p is the corner, 2 p + 1 the centre of the cell with its
 * lowest corner there, p = (k (n1 + 1) + j) (n0 + 1) + i. */
typedef struct fill_lattice {
    double origin[3];
    double cell;     /* m */
    int64_t n[3];    /* cells, a layer around the surface's box included */
    int64_t corners; /* points are twice as many */
    float *winding;  /* [2 * corners] */
    uint8_t *near;   /* [2 * corners] 1: a corner of a tet that the surface passes through */
} fill_lattice;

/* A tet that is inside or partly so: lattice tets ascending, crossed ones with their triangles. */
typedef struct fill_tets {
    int64_t count;
    uint64_t *number;                           /* [count] of the lattice tet */
    int64_t *first;                             /* [count + 1] triangles of tet t: near[first[t]] .. */
    int32_t *near;                              /* [first[count]] */
    uint8_t *sampled;                           /* [count] 1: the inside may end in it */
    uint64_t (*component)[FILL_COMPONENTS_MAX]; /* [count] samples of each part */
    float (*fraction)[FILL_COMPONENTS_MAX];     /* [count] */
    uint8_t *component_count;                   /* [count] 0: nothing inside */
} fill_tets;

void sinew_fill_point(const fill_lattice *lattice, int64_t point, double x[3]);
/* The four points of a tet, positively oriented. */
void sinew_fill_corners(const fill_lattice *lattice, uint64_t tet, int64_t points[4]);

/* ---- All together --------------------------------------------------------------------------- */

typedef struct fill {
    const sinew_fill_def *def;
    sinew_allocator allocator;
    sinew_error *error;
    int32_t thread_count;
    sinew_fill_report report;
    double max;     /* largest absolute winding number of a sample, 1 where tets are inside as a whole */
    int64_t capped; /* tets with more parts than are told apart */
    fill_surface surface;
    sinew_tree *tree;
    fill_pattern pattern;
    fill_lattice lattice;
    fill_tets tets;
    uint8_t *fixed; /* [tet_count of the mesh] 1: one of several copies, or a wall without samples */
} fill;

sinew_status sinew_fill_lattice(fill *f);
sinew_status sinew_fill_sample(fill *f);
sinew_mesh *sinew_fill_mesh(fill *f);
/* Moves boundary vertices to the surface where the tets stay well shaped. Takes ownership of the mesh. */
sinew_mesh *sinew_fill_conform(fill *f, sinew_mesh *mesh);

/* ---- Crossings of one segment (segment_triangle.c) ------------------------------------------------ */

/* The triangles that a segment crosses, in order. */
typedef struct fill_crossings {
    int32_t count; /* all of them ... */
    int32_t sum;   /* ... and their signs: +1 where it leaves by the front of a triangle */
    double at[16]; /* [count, at most 16] ascending, along the segment 0 .. 1 */
    int8_t sign[16];
    int32_t last; /* the triangle passed last, -1: none */
} fill_crossings;

/* Tests if the segment from p to q crosses triangle t: 0, or +1 from its back to its front, -1 the other way. */
int sinew_fill_pass(const fill_surface *surface, int32_t t, const double p[3], const double q[3], double *at);
/* Inserts one crossing; crossings at equal positions keep the order of insertion. */
void sinew_fill_put_crossing(fill_crossings *found, double at, int sign, int32_t t);
void sinew_fill_cross(const fill_surface *surface, const int32_t *triangles, int64_t count, const double p[3],
                      const double q[3], fill_crossings *found);
/* True if the whole segment is inside; the argument is the winding number at its start. */
bool sinew_fill_stays_inside(const fill_crossings *found, double winding);

#endif
