/* SPDX-License-Identifier: MIT
 *
 * crossings.h: declarations that the files of `crossings` share. The program reads files and shares no code with the
 * library, so that its report on a run is independent.
 */
#ifndef CROSSINGS_H
#define CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- Surfaces (crossings_read.c, crossings_run.c) -------------------------------------------- */

typedef struct primitive {
    int v[3];     /* point indices; v[2] is -1 for an edge of a rope */
    int collider; /* index of the collider's name, -1: part of a body */
} primitive;

typedef struct mesh {
    int point_count, primitive_count, name_count;
    int point_capacity, primitive_capacity, name_capacity;
    int body_points;       /* points with larger indices belong to colliders */
    double *x;             /* [3 * point_count] m */
    primitive *primitives; /* [primitive_count] triangles and edges of ropes */
    char **names;          /* [name_count] names of colliders */
} mesh;

/* One run: its frames in one of three formats, and its colliders. */
typedef enum run_kind {
    RUN_OBJ,
    RUN_PC2,
    RUN_CSV
} run_kind;

typedef struct run {
    run_kind kind;
    int frame_count, frame_capacity;
    int *frames;     /* [frame_count] frame numbers, ascending */
    char **files;    /* [frame_count] paths; RUN_OBJ only */
    char *cache;     /* path of the cache; RUN_PC2, RUN_CSV */
    FILE *file;      /* the open cache */
    int points;      /* number of points in a frame of the cache */
    long *offsets;   /* [frame_count] file position of each frame; RUN_CSV only */
    mesh shape;      /* cells of the cache, the same in all frames */
    mesh still;      /* static colliders of --mesh */
    char *colliders; /* folder of colliders_%04d.obj, NULL: none */
} run;

/* On failure each of these functions ends the program with a message and exit code 2. */
void give_up(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
char *copy_text(const char *text, size_t length_max);
void *reserve(void *block, int *capacity, int count, size_t size);
void read_obj(mesh *m, const char *path, bool collider);
void mesh_clear(mesh *m);
void mesh_free(mesh *m);
/* Opens a run; `paths`: a folder, OBJ files, or a cache and the OBJ of its cells. */
void run_open(run *r, int count, char *const *paths);
void run_close(run *r);
/* Reads the bodies of frame `index`, then the colliders. */
void run_frame(run *r, int index, mesh *m);

/* ---- Geometry (crossings_geometry.c) ---------------------------------------------------------- */

/* Sign of the volume of the tetrahedron a b c d, computed exactly. */
int orient(const double *a, const double *b, const double *c, const double *d);
/* True if the interior of an edge, without its ends, intersects the interior of a triangle, without its border. */
bool edge_pierces(const double *const edge[2], const double *const triangle[3]);
/* True if the interiors of two triangles, without their borders, intersect; false for coplanar triangles. */
bool triangles_cross(const double *const a[3], const double *const b[3]);
double point_segment(const double *p, const double *a, const double *b);
double point_triangle(const double *p, const double *a, const double *b, const double *c);
double segment_segment(const double *a, const double *b, const double *c, const double *d);
/* Solid angle of a triangle seen from p over 4 pi; the sum over a closed surface is its winding number about p. */
double winding(const double *p, const double *a, const double *b, const double *c);

/* ---- Analytic colliders (crossings_shapes.c) --------------------------------------------------- */

typedef enum shape_kind {
    SHAPE_SPHERE,
    SHAPE_PLANE,
    SHAPE_BOX
} shape_kind;

typedef struct shape {
    shape_kind kind;
    double numbers[6]; /* sphere: centre, radius; plane: point, unit normal; box: centre, half sizes */
} shape;

/* Distance (m) of a triangle or edge from a shape; negative: minus its depth inside. */
double shape_distance(const shape *s, const mesh *m, const primitive *p);

/* ---- Pairs (crossings_pairs.c, crossings_tree.c, crossings_ropes.c, crossings_judge.c) -------- */

typedef enum relation {
    WITHIN,  /* one connected component */
    BETWEEN, /* two components */
    AGAINST, /* a component and a collider */
    RELATION_COUNT
} relation;

typedef struct feature_pair {
    double distance; /* m */
    bool edges;      /* edges v[0] v[1] and v[2] v[3]; false: vertex v[0] and triangle v[1] v[2] v[3] */
    int v[4];
    int collider; /* index of the collider's name, -1: no feature belongs to a collider */
} feature_pair;

typedef struct result {
    long crossings[RELATION_COUNT]; /* intersections without a common vertex, also of triangles with rope edges */
    long fans;                      /* pairs of triangles with one common vertex that intersect */
    long entered;                   /* triangles and edges inside shapes */
    long passed;  /* passages through closed surfaces since the first frame, of ropes through ropes since the last */
    double depth; /* m, largest depth of `entered` */
    int first[2]; /* primitives of the first intersection, -1: none */
    feature_pair nearest[RELATION_COUNT];
    double shape_nearest; /* m: smallest distance from a shape */
    double violation;     /* m, largest thickness less distance */
    feature_pair worst;   /* the pair with the largest violation */
    bool worst_is_shape;
} result;

/* Options of the check of each frame. */
typedef struct question {
    double thickness;
    bool brute;
    bool list; /* prints every intersection */
    int shape_count;
    const shape *shapes;
} question;

/* Connectivity of a mesh, from its cells alone. */
typedef struct topology {
    int *component;     /* [point_count] smallest point index of the point's connected component */
    unsigned char *own; /* [primitive_count] bits 0..2: vertices, 3..5: edges that no earlier primitive has */
    bool *used;         /* [point_count] a primitive has the point; false for points inside solids */
    bool *open;         /* [point_count] true at the index of a component with an edge of one or three triangles */
} topology;

/* Linking numbers of ropes, kept from frame to frame (crossings_ropes.c). */
typedef struct rope_links {
    int *components; /* [component_count] components that are ropes */
    int component_count, component_capacity;
    int *edges;   /* [edge_capacity] primitives of this frame that are edges of ropes */
    int *numbers; /* [number_capacity] number of each edge's component, an index into components */
    int edge_capacity, number_capacity;
    double *before; /* [before_entries] linking of each pair of ropes in the last frame; NULL: no last frame */
    size_t before_entries;
    int primitives_before;
} rope_links;

typedef struct frame {
    const mesh *m;
    const mesh *rest; /* the first frame; NULL: cells have changed since then */
    const topology *t;
    const question *ask;
    rope_links *links;
    result *v;
} frame;

void topology_make(topology *t, const mesh *m);
void topology_free(topology *t);
bool same_cells(const mesh *a, const mesh *b);
void judge(frame *f);
/* Checks one pair of primitives: distances between the features that each owns and, if `overlap`, intersections. */
void judge_pair(frame *f, int a, int b, bool overlap);
void print_crossing(const mesh *m, int a, int b);
relation relation_of(const frame *f, int a, int b);
/* Distance (m) up to which pairs of a relation can still change the result. */
double search_radius_of(const frame *f, relation r);
void judge_links(frame *f, rope_links *links);
void links_free(rope_links *links);
/* Checks all pairs that can change the result, found by a BVH. */
void tree_pairs(frame *f);

#endif
