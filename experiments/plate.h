/* SPDX-License-Identifier: MIT
 *
 * plate.h: thin plates and shells as worlds: a membrane and a bending energy on any triangle mesh, their supports, and
 * the strip with known shapes under load.
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
    PLATE_SHELL = 0, /* model of a plate: shell_bending, with a slope at every edge */
    PLATE_HINGE,
    PLATE_ISOMETRIC,
    PLATE_MODELS
} plate_model;
extern const char *const plate_model_names[PLATE_MODELS];

typedef struct plate_def {
    plate_model model;
    double rigidity;   /* bending rigidity D of the plate, in N m */
    double poisson;    /* Poisson's ratio nu of the plate */
    double thickness;  /* thickness h of the plate, in m */
    double density;    /* mass of the plate per area, in kg/m2 */
    double weft_ratio; /* bending rigidity along z over that along x; 0: 1 */
    double hold;       /* parameter `hold` of shell_bending; 0: its default */
    double offset;     /* offset of director points in m; 0: the default */
    bool jump;         /* model PLATE_SHELL: adds the energy shell_jump to shell_bending */
} plate_def;

typedef struct plate {
    sinew_world *world;
    sinew_body body;
    int32_t vertex_count; /* number of vertices of the plate's mesh; its director points follow them */
    int32_t triangle_count;
    double stretch; /* membrane stiffness E h of the plate, in N/m */
} plate;

/* Creates an empty world that solves for equilibria by Newton's method, with gravity in m/s2 downwards. */
sinew_world *plate_world(double gravity, sinew_error *error);
/* Adds a plate with the rest shape of the mesh; returns false on failure. */
bool plate_add(sinew_world *world, const sinew_mesh *mesh, const plate_def *def, plate *p, sinew_error *error);
/* Lists the plate's marked vertices [vertex_count] in `list`; with `directors` also the director points of edges
 * between two of them. list [vertices and director points]. Returns the number of listed points. */
int32_t plate_list(const plate *p, const uint8_t *marked, bool directors, int32_t *list);
/* Pins the plate's marked vertices [vertex_count]; with `clamp` also the director points of edges between two of
 * them. */
bool plate_pin(const plate *p, const uint8_t *marked, bool clamp, sinew_error *error);
typedef enum plate_slide_kind {
    /* Support that allows motion across the axis: a plane of symmetry, also for director points of edges in it. */
    PLATE_IN_PLANE = 0,
    PLATE_ON_LINE /* support that allows motion along the axis: a sliding support with free slopes */
} plate_slide_kind;
/* Restricts the plate's marked vertices to the plane, or the line, through their rest positions. */
bool plate_slide(const plate *p, const uint8_t *marked, const double axis[3], plate_slide_kind kind,
                 sinew_error *error);
/* Takes at most `max` steps until one is solved. Returns the number of iterations of all steps; negative if none is
 * solved. */
int32_t plate_settle(sinew_world *world, int32_t max);

/* ---- Meshes of plates ------------------------------------------------------------------------- */

typedef enum plate_mesh_kind {
    PLATE_ALIGNED = 0,  /* mesh of squares along the sides, each cut by one diagonal */
    PLATE_TURNED,       /* mesh of the same squares rotated by 17 degrees, joined to the border */
    PLATE_UNSTRUCTURED, /* mesh of random points with a minimum distance */
    PLATE_MESHES
} plate_mesh_kind;
extern const char *const plate_mesh_names[PLATE_MESHES];

/* Creates the mesh of a rectangle from low to high, `cells` along its first side, at (u, 0, -v). `row` adds a row of
 * cells before the first, for models that need two rows of vertices for a clamp. NULL on failure. */
sinew_mesh *plate_mesh(plate_mesh_kind kind, const double low[2], const double high[2], int32_t cells, bool row,
                       uint32_t seed, sinew_error *error);
/* Creates the Delaunay triangulation of points [2 * count], placed at (u, 0, -v). */
sinew_mesh *plate_mesh_of(const double *points, int32_t count, sinew_error *error);

/* ---- Cantilever strip ------------------------------------------------------------------------- */

typedef enum strip_load {
    STRIP_WEIGHT = 0, /* load on the strip: Gamma = weight per area L^3 / D */
    STRIP_TIP,        /* load on the strip: P L^2 / D, P the force per width at the tip */
    /* Load on the strip: the tip's angle in rad; the tip moves freely, and its couple per width is the result. */
    STRIP_TURN
} strip_load;

enum {
    STRIP_LOADS = 8
};

/* Shape of the strip under one of its loads. */
typedef struct strip_shape {
    double load;        /* value of the strip's load, in the unit of its strip_load */
    double drop, reach; /* vertical drop and horizontal reach of the tip in m, averaged over its vertices */
    double angle;       /* angle of the tip in rad, at most half a turn; NAN without director points */
    double gap;         /* distance of the strip's tip from the clamp, in m */
    double couple;      /* couple per width at the tip in N (STRIP_TURN) */
} strip_shape;

/* Definition and results of a strip of length L = 1 m and D = 1 N m, clamped horizontally at x = 0, with planes of
 * symmetry at its sides. The loads form a growing sequence. */
typedef struct strip {
    plate_mesh_kind mesh;
    plate_model model;
    strip_load kind;
    int32_t count;
    /* [count] input: loads in ascending order; the other fields of the shapes are results. */
    strip_shape shapes[STRIP_LOADS];
    int32_t cells;    /* number of cells along the strip's length */
    double thickness; /* thickness of the strip relative to its length; 0: 1/200 */
    double poisson;   /* Poisson's ratio of the strip; NAN: 0.3 */
    double hold;      /* parameter `hold` of shell_bending; 0: its default */
    double offset;    /* offset of director points in m; 0: a quarter of a cell */
    uint32_t seed;    /* random seed of unstructured meshes of the strip */
    /* ---- results of a run of the strip ---- */
    int32_t iterations; /* number of iterations of Newton's method; negative: not converged */
    int32_t point_count, triangle_count;
    sinew_real *q;      /* [3 * point_count] positions at the end of the run in m, to be freed */
    int32_t *triangles; /* [3 * triangle_count] vertices of the strip's triangles, to be freed */
    char error[256];    /* error message of the run; "": no error */
} strip;

/* Runs a strip through its loads. Returns false if the strip cannot run (see `error`) or does not converge. */
bool strip_run(strip *s);
void strip_release(strip *s);

#endif
