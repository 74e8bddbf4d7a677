/* SPDX-License-Identifier: MIT
 *
 * loads.h: records of loads (wind, traction, couple), and the table of their kinds.
 *
 * A load stores vertices of its body. Internal particle numbers are looked up when forces are computed, so a load needs
 * no update when bodies are added, removed or torn. Data that depends on rest shape, cells and masses (`layout`) is
 * recomputed when the world's shape version changes.
 */
#ifndef SINEW_SRC_WORLD_FORCES_LOADS_H
#define SINEW_SRC_WORLD_FORCES_LOADS_H

#include "sinew/load.h"
#include "world/world.h"

/* The elements (triangles or vertices) that a load currently acts on. */
typedef struct sinew_load_layout {
    int64_t shape_version; /* value of the world's shape_version when this layout was computed */
    int32_t count;
    int32_t *elements; /* [count][corners] corners of each load element, as vertices of the body */
    double *numbers;   /* [count][corners] wind: mass of the corner that belongs to the triangle, kg; [count] traction:
                          rest area, m2; couple: mass of the vertex, kg */
} sinew_load_layout;

struct sinew_load_record {
    bool live;
    sinew_load_kind kind;
    sinew_body body;
    sinew_real vector[3];
    sinew_real parameters[SINEW_PARAMETER_MAX];
    int32_t key_count;
    sinew_load_key *keys; /* [key_count] key frames of the load */
    int32_t given_count;
    int32_t *given; /* [given_count][corners] elements of the load definition; NULL: all elements of the body */
    sinew_load_layout layout;
    uint32_t generation;
};

/* Values of one load at one time. */
typedef struct sinew_load_moment {
    /* Vector: direction or value of the load, already multiplied by `factor`; factor: of the load's key frames, 1
     * without keys. */
    double vector[3], factor;
    double time; /* time at the end of the step, at which the load is evaluated, in s */
    double h;    /* time step h in s; 0: quasistatic world */
    double kept; /* fraction of each velocity that remains after the world's damping */
} sinew_load_moment;

typedef struct sinew_load_ops {
    sinew_load_info info;
    int32_t corners; /* number of vertices of one element of the load: 3 or 1 */
    /* Computes the layout's `numbers`; scratch [vertex count of the body] is work space. */
    void (*measure)(const sinew_world *world, const sinew_load_record *record, double *scratch,
                    sinew_load_layout *layout);
    bool wind; /* true: the load's forces depend on velocities and on the world's `acceleration` */
    /* Adds the load's forces in N to f [particle_count][4]. */
    void (*apply)(const sinew_world *world, const sinew_load_record *record, const sinew_load_moment *moment,
                  sinew_real *f);
    /* Returns NULL, or the reason why the load cannot act in the current world. */
    const char *(*check)(const sinew_world *world, const sinew_load_record *record, const sinew_real vector[3]);
} sinew_load_ops;

/* Returns the operations of a load kind; NULL if `kind` is out of range. */
const sinew_load_ops *sinew_load_get_ops(sinew_load_kind kind);

/* Internal number of the particle of a vertex of the load's body. */
int32_t sinew_load_particle(const sinew_world *world, const sinew_load_record *record, int32_t vertex);
/* Computes half the cross product of two edges of a triangle: its normal with the length of its area, m^2. */
void sinew_load_normal(const sinew_real *points, const int32_t particles[3], double normal[3]);

#endif
