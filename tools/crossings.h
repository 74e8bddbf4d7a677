/* SPDX-License-Identifier: MIT
 *
 * crossings.h: the parts of the referee `crossings`. It reads files and shares no code with the library: what it says
 * of a run is a second opinion.
 */
#ifndef CROSSINGS_H
#define CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- Surfaces (crossings_read.c, crossings_run.c) -------------------------------------------- */

typedef struct primitive {
    int v[3];     /* points; v[2] is -1 for an edge of a rope */
    int collider; /* number of its collider's name, -1: of a body */
} primitive;

typedef struct mesh {
    int point_count, primitive_count, name_count;
    int point_capacity, primitive_capacity, name_capacity;
    int body_points;       /* points behind these are of colliders */
    double *x;             /* [3 * point_count] m */
    primitive *primitives; /* [part_count] */
    char **names;          /* [name_count] of colliders */
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
    int *frames;     /* [frame_count] their numbers, ascending */
    char **files;    /* [frame_count] RUN_OBJ */
    char *cache;     /* RUN_PC2, RUN_CSV */
    FILE *file;      /* of the cache, open */
    int points;      /* in a frame of the cache */
    long *offsets;   /* [frame_count] RUN_CSV: where a frame begins */
    mesh shape;      /* cells of the cache, at any frame */
    mesh still;      /* colliders that do not move, of --mesh */
    char *colliders; /* folder of colliders_%04d.obj, NULL: none */
} run;

/* All of these end the program with a message and exit code 2 where they cannot do what they should. */
void give_up(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
char *copy_text(const char *text, size_t length_max);
void *reserve(void *block, int *capacity, int count, size_t size);
void read_obj(mesh *m, const char *path, bool collider);
void mesh_clear(mesh *m);
void mesh_free(mesh *m);
/* `paths`: a folder, OBJ files, or a cache and the OBJ of its cells. */
void run_open(run *r, int count, char *const *paths);
void run_close(run *r);
/* Bodies of frame `index`, then colliders. */
void run_frame(run *r, int index, mesh *m);

/* ---- Geometry (crossings_geometry.c) ---------------------------------------------------------- */

/* Sign of the volume of the tetrahedron a b c d; exact. */
int orient(const double *a, const double *b, const double *c, const double *d);
/* Whether the inside of an edge, without its ends, meets the inside of a triangle, without its border. */
bool edge_pierces(const double *const edge[2], const double *const triangle[3]);
/* Whether the insides of two triangles, without their borders, meet; not when they lie in one plane. */
bool triangles_cross(const double *const a[3], const double *const b[3]);
double point_segment(const double *p, const double *a, const double *b);
double point_triangle(const double *p, const double *a, const double *b, const double *c);
double segment_segment(const double *a, const double *b, const double *c, const double *d);
/* Solid angle of a triangle seen from p over 4 pi: summed over a closed surface, how often that winds about p. */
double winding(const double *p, const double *a, const double *b, const double *c);

/* ---- Colliders given by numbers (crossings_shapes.c) ------------------------------------------ */

typedef enum shape_kind {
    SHAPE_SPHERE,
    SHAPE_PLANE,
    SHAPE_BOX
} shape_kind;

typedef struct shape {
    shape_kind kind;
    double numbers[6]; /* centre, radius; point, unit normal; centre, half sizes */
} shape;

/* Distance (m) of a triangle or edge from a shape; negative: how deep it is inside. */
double shape_distance(const shape *s, const mesh *m, const primitive *p);

/* ---- Pairs (crossings_pairs.c, crossings_tree.c, crossings_ropes.c, crossings_judge.c) -------- */

typedef enum relation {
    WITHIN,  /* one connected piece */
    BETWEEN, /* two pieces */
    AGAINST, /* a piece and a collider */
    RELATION_COUNT
} relation;

typedef struct feature_pair {
    double distance; /* m */
    bool edges;      /* v[0] v[1] and v[2] v[3]; else vertex v[0], triangle v[1] v[2] v[3] */
    int v[4];
    int collider; /* -1: none is of a collider */
} feature_pair;

typedef struct result {
    long crossings[RELATION_COUNT]; /* pairs of triangles without a common vertex, triangles and edges of ropes */
    long fans;                      /* pairs of triangles with one common vertex, where one passes through the other */
    long entered;                   /* triangles and edges in shapes */
    long passed;  /* through closed surfaces since the first frame, ropes through ropes since the last */
    double depth; /* m: the deepest of `entered` */
    int first[2]; /* parts of the first crossing, -1: none */
    feature_pair nearest[RELATION_COUNT];
    double shape_nearest; /* m: smallest distance from a shape */
    double violation;     /* m: largest of thickness less distance */
    feature_pair worst;   /* where */
    bool worst_is_shape;
} result;

/* What is asked of each frame. */
typedef struct question {
    double thickness;
    bool brute;
    bool list; /* prints every crossing */
    int shape_count;
    const shape *shapes;
} question;

/* What is known of a mesh from its cells alone. */
typedef struct topology {
    int *component;     /* [point_count] the smallest point of the connected piece that a point is in */
    unsigned char *own; /* [part_count] bits 0..2: vertices, 3..5: edges that no earlier part has */
    bool *used;         /* [point_count] some part has it: points inside solids are not */
    bool *open;         /* [point_count] at places of `piece`: has an edge with other than two triangles */
} topology;

/* How strands of ropes wind about each other, kept from frame to frame (crossings_ropes.c). */
typedef struct rope_links {
    int *components; /* [piece_count] ropes */
    int component_count, component_capacity;
    double *before; /* [before_entries] links of each piece with each, in the last frame; NULL: there was none */
    size_t before_entries;
    int primitives_before;
} rope_links;

typedef struct frame {
    const mesh *m;
    const mesh *rest; /* the first frame, NULL: cells have changed since */
    const topology *t;
    const question *ask;
    rope_links *links;
    result *v;
} frame;

void topology_make(topology *t, const mesh *m);
void topology_free(topology *t);
bool same_cells(const mesh *a, const mesh *b);
void judge(frame *f);
/* One pair of parts: distances between what each owns and, where their boxes may overlap, crossings. */
void judge_pair(frame *f, int a, int b, bool overlap);
void print_crossing(const mesh *m, int a, int b);
relation relation_of(const frame *f, int a, int b);
/* Distance (m) up to which pairs of a relation still change the verdict. */
double search_radius_of(const frame *f, relation r);
void judge_links(frame *f, rope_links *links);
void links_free(rope_links *links);
/* All pairs that can change the verdict, by boxes. */
void tree_pairs(frame *f);

#endif
