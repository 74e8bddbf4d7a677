/* SPDX-License-Identifier: MIT
 *
 * plate.h: thin plates and shells as worlds: a membrane and a bending energy on any triangle mesh, what
 * holds them, and the strip whose shapes under load are known.
 *
 * A plate of thickness h, Young's modulus E and Poisson's ratio nu has the rigidity D = E h^3 / (12 (1 - nu^2)). Here
 * D, nu and h are given and E follows, so that stretch is as stiff as it is in a plate of that thickness. y points up.
 */
#ifndef SINEW_EXPERIMENTS_PLATE_H
#define SINEW_EXPERIMENTS_PLATE_H

#include <stdbool.h>

#include "sinew/mesh.h"
#include "sinew/sinew.h"

typedef enum plate_model {
    PLATE_SHELL = 0, /* shell_bending: a slope at every edge */
    PLATE_HINGE,
    PLATE_ISOMETRIC,
    PLATE_MODELS
} plate_model;
extern const char *const plate_model_names[PLATE_MODELS];

typedef struct plate_def {
    plate_model model;
    double rigidity;   /* D, N m */
    double poisson;    /* nu */
    double thickness;  /* h, m */
    double density;    /* kg/m2 */
    double weft_ratio; /* rigidity along z over that along x; 0: 1 */
    double hold;       /* of shell_bending; 0: its default */
    double offset;     /* m, of director points; 0: their default */
} plate_def;

typedef struct plate {
    sinew_world *world;
    sinew_body body;
    int32_t vertex_count; /* of the mesh without director points, which come behind them */
    int32_t triangle_count;
    double stretch; /* E h, N/m */
} plate;

/* A world of no bodies that finds equilibria by Newton's method, with gravity in m/s2 downwards. */
sinew_world *plate_world(double gravity, sinew_error *error);
/* Adds a plate of this rest shape. */
bool plate_add(sinew_world *world, const sinew_mesh *mesh, const plate_def *def, plate *p, sinew_error *error);
/* Writes the vertices that are marked [vertex_count], and the director points of edges between two of them if wanted,
 * into list [vertices and director points]; returns how many. */
int32_t plate_list(const plate *p, const uint8_t *marked, bool directors, int32_t *list);
/* Pins the vertices that are marked [vertex_count], and with `clamp` the directors of edges between two of them. */
bool plate_pin(const plate *p, const uint8_t *marked, bool clamp, sinew_error *error);
typedef enum plate_slide_kind {
    PLATE_IN_PLANE = 0, /* across the axis: a plane of symmetry, also for director points of edges that lie in it */
    PLATE_ON_LINE       /* along the axis: a support that slides; slopes are free */
} plate_slide_kind;
/* Vertices that are marked may move in the plane, or on the line, through where they are at rest. */
bool plate_slide(const plate *p, const uint8_t *marked, const double axis[3], plate_slide_kind kind,
                 sinew_error *error);
/* Takes steps, at most `most`, until one is solved. Returns the iterations of all, negative when none is. */
int32_t plate_settle(sinew_world *world, int32_t max);

/* ---- Meshes ----------------------------------------------------------------------------------- */

typedef enum plate_mesh_kind {
    PLATE_ALIGNED = 0,  /* squares along the sides, each cut by one diagonal */
    PLATE_TURNED,       /* the same turned by 17 degrees, joined to the border */
    PLATE_UNSTRUCTURED, /* points at random, no two near each other */
    PLATE_MESHES
} plate_mesh_kind;
extern const char *const plate_mesh_names[PLATE_MESHES];

/* A rectangle from low to high, `cells` along its first side, at (u, 0, -v); with `row` one more row of cells before
 * the first, for models that need two rows of vertices to be clamped. NULL on failure. */
sinew_mesh *plate_mesh(plate_mesh_kind kind, const double low[2], const double high[2], int32_t cells, bool row,
                       uint32_t seed, sinew_error *error);
/* Delaunay's triangles of points [2 * count], at (u, 0, -v). */
sinew_mesh *plate_mesh_of(const double *points, int32_t count, sinew_error *error);

/* ---- Strip ------------------------------------------------------------------------------------ */

typedef enum strip_load {
    STRIP_WEIGHT = 0, /* Gamma = weight per area L^3 / D */
    STRIP_TIP,        /* P L^2 / D, P the force per width at the tip */
    STRIP_TURN        /* rad: the tip's angle, free to go where it wants; the couple per width is found */
} strip_load;

enum {
    STRIP_LOADS = 8
};

/* The strip under one of its loads. */
typedef struct strip_shape {
    double load;        /* index of a load, as in strip_load */
    double drop, reach; /* m, of the tip: means over its vertices */
    double angle;       /* rad, of the tip, up to half a turn; NAN without director points */
    double gap;         /* m, from the tip to the clamp */
    double couple;      /* N, per width, that turns the tip (STRIP_TURN) */
} strip_shape;

/* A strip of length L = 1 m and D = 1 N m, clamped horizontally at x = 0, its sides planes of symmetry, under loads
 * that grow from one to the next. */
typedef struct strip {
    plate_mesh_kind mesh;
    plate_model model;
    strip_load kind;
    int32_t count;
    strip_shape shapes[STRIP_LOADS]; /* [count], their loads ascending; the rest is found */
    int32_t cells;                   /* along the length */
    double thickness;                /* of the length; 0: 1/200 */
    double poisson;                  /* NAN: 0.3 */
    double hold;                     /* of shell_bending; 0: its default */
    double offset;                   /* of director points, m; 0: a quarter of a cell */
    uint32_t seed;                   /* of unstructured meshes */
    /* ---- results ---- */
    int32_t iterations; /* of Newton's method; negative: not converged */
    int32_t point_count, triangle_count;
    sinew_real *q;      /* [3 * point_count] at the end, to be freed */
    int32_t *triangles; /* [3 * triangle_count], to be freed */
    char error[256];    /* "": it could be run */
} strip;

/* False where it cannot be run (`error`) or does not converge. */
bool strip_run(strip *s);
void strip_release(strip *s);

#endif
