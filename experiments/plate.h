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
    double hold;       /* parameter of shell_bending; 0: its default */
    double offset;     /* m, of director points; 0: the default */
    bool jump;         /* PLATE_SHELL: shell_jump beside shell_bending */
} plate_def;

typedef struct plate {
    sinew_world *world;
    sinew_body body;
    int32_t vertex_count; /* vertices of the mesh; its director points follow them */
    int32_t triangle_count;
    double stretch; /* E h, N/m */
} plate;

/* An empty world that solves for equilibria by Newton's method, with gravity in m/s2 downwards. */
sinew_world *plate_world(double gravity, sinew_error *error);
/* Adds a plate with this rest shape; returns false on failure. */
bool plate_add(sinew_world *world, const sinew_mesh *mesh, const plate_def *def, plate *p, sinew_error *error);
/* Writes the marked vertices [vertex_count] to list; with `directors` also the director points of edges between two of
 * them. list [vertices and director points]. Returns their number. */
int32_t plate_list(const plate *p, const uint8_t *marked, bool directors, int32_t *list);
/* Pins the marked vertices [vertex_count]; with `clamp` also the director points of edges between two of them. */
bool plate_pin(const plate *p, const uint8_t *marked, bool clamp, sinew_error *error);
typedef enum plate_slide_kind {
    PLATE_IN_PLANE = 0, /* motion across the axis: a plane of symmetry, also for director points of edges in it */
    PLATE_ON_LINE       /* motion along the axis: a sliding support with free slopes */
} plate_slide_kind;
/* Restricts the marked vertices to the plane, or the line, through their rest positions. */
bool plate_slide(const plate *p, const uint8_t *marked, const double axis[3], plate_slide_kind kind,
                 sinew_error *error);
/* Takes at most `max` steps until one is solved. Returns the iterations of all steps; negative if none is solved. */
int32_t plate_settle(sinew_world *world, int32_t max);

/* ---- Meshes ----------------------------------------------------------------------------------- */

typedef enum plate_mesh_kind {
    PLATE_ALIGNED = 0,  /* squares along the sides, each cut by one diagonal */
    PLATE_TURNED,       /* the same squares turned by 17 degrees, joined to the border */
    PLATE_UNSTRUCTURED, /* random points with a minimum distance */
    PLATE_MESHES
} plate_mesh_kind;
extern const char *const plate_mesh_names[PLATE_MESHES];

/* A rectangle from low to high, `cells` along its first side, at (u, 0, -v). `row` adds a row of cells before the
 * first, for models that need two rows of vertices for a clamp. NULL on failure. */
sinew_mesh *plate_mesh(plate_mesh_kind kind, const double low[2], const double high[2], int32_t cells, bool row,
                       uint32_t seed, sinew_error *error);
/* Delaunay triangulation of points [2 * count], at (u, 0, -v). */
sinew_mesh *plate_mesh_of(const double *points, int32_t count, sinew_error *error);

/* ---- Strip ------------------------------------------------------------------------------------ */

typedef enum strip_load {
    STRIP_WEIGHT = 0, /* load: Gamma = weight per area L^3 / D */
    STRIP_TIP,        /* load: P L^2 / D, P the force per width at the tip */
    STRIP_TURN        /* load: the tip's angle, rad; the tip moves freely, and its couple per width is the result */
} strip_load;

enum {
    STRIP_LOADS = 8
};

/* The strip under one of its loads. */
typedef struct strip_shape {
    double load;        /* value of the load, in the unit of its strip_load */
    double drop, reach; /* m, drop and reach of the tip, averaged over its vertices */
    double angle;       /* rad, of the tip, at most half a turn; NAN without director points */
    double gap;         /* m, distance of the tip from the clamp */
    double couple;      /* N, couple per width at the tip (STRIP_TURN) */
} strip_shape;

/* A strip of length L = 1 m and D = 1 N m, clamped horizontally at x = 0, with planes of symmetry at its sides. The
 * loads form a growing sequence. */
typedef struct strip {
    plate_mesh_kind mesh;
    plate_model model;
    strip_load kind;
    int32_t count;
    strip_shape shapes[STRIP_LOADS]; /* [count] loads in ascending order are input; the other fields are results */
    int32_t cells;                   /* along the length */
    double thickness;                /* thickness over length; 0: 1/200 */
    double poisson;                  /* NAN: 0.3 */
    double hold;                     /* parameter of shell_bending; 0: its default */
    double offset;                   /* m, of director points; 0: a quarter of a cell */
    uint32_t seed;                   /* random seed of unstructured meshes */
    /* ---- results ---- */
    int32_t iterations; /* iterations of Newton's method; negative: not converged */
    int32_t point_count, triangle_count;
    sinew_real *q;      /* [3 * point_count] positions at the end, to be freed */
    int32_t *triangles; /* [3 * triangle_count], to be freed */
    char error[256];    /* "": no error */
} strip;

/* Returns false if the strip cannot run (see `error`) or does not converge. */
bool strip_run(strip *s);
void strip_release(strip *s);

#endif
