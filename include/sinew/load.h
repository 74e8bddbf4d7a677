/* SPDX-License-Identifier: MIT
 *
 * sinew/load.h: loads on the surface of a body or on some of its vertices: wind, traction, couples.
 *
 * A load is evaluated as forces on particles at the start of a step, from the current positions and velocities and
 * the time at the end of the step. These forces are constant during the step and part of f_ext, so every solver
 * accepts every load. Wind also uses the accelerations of the last step, which a saved state contains. A saved state
 * does not contain the loads themselves: a world that loads it must be built with the same loads
 * (sinew_world_state_check names the difference). With `load_steps` of the world, loads grow as gravity does. The work
 * of loads is in `forces` of sinew_world_balance().
 *
 * Does not: change while a step is solved. If a body rotates much in one step (end couples, normal traction), use
 * smaller steps or more quasistatic steps. For gas in a closed surface use the energy `pressure`, which follows the
 * surface during a step. docs/guides/loads.md has the formulas and their limits.
 */
#ifndef SINEW_LOAD_H
#define SINEW_LOAD_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_load {
    int32_t index; /* index of the load's slot; < 0: none */
    uint32_t generation;
} sinew_load;

typedef enum sinew_load_kind {
    SINEW_LOAD_WIND = 0, /* load on triangles: drag by the velocity of the air relative to the triangle */
    SINEW_LOAD_TRACTION, /* load on triangles: force per rest area, and pressure along the current normal */
    SINEW_LOAD_COUPLE,   /* load on vertices: a moment, by forces whose sum is zero */
    SINEW_LOAD_COUNT
} sinew_load_kind;

typedef struct sinew_load_info {
    const char *name;       /* name of the load kind in scene files, e.g. "wind" */
    const char *summary;    /* one line of description with the formula of the load */
    sinew_stencil stencil;  /* elements that the load acts on: triangles or vertices */
    sinew_parameter vector; /* name, unit and meaning of the load's `vector` */
    const sinew_parameter *parameters;
    int32_t parameter_count;
} sinew_load_info;

/* Returns the description of a load kind; NULL: out of range. */
SINEW_API const sinew_load_info *sinew_get_load_info(sinew_load_kind kind);
/* Kind of a named load; SINEW_LOAD_COUNT: unknown name. */
SINEW_API sinew_load_kind sinew_load_by_name(const char *name);
/* Index of a named parameter of a load kind; -1 if the load has no such parameter. */
SINEW_API int32_t sinew_load_parameter(sinew_load_kind kind, const char *name);

/* Key frame of a load. The load at a time is factor times vector (and factor times `pressure` of a traction). Both
 * are linear between two keys and constant before the first and after the last. Times ascend strictly. */
typedef struct sinew_load_key {
    sinew_real time;      /* time of the key frame, in s */
    sinew_real vector[3]; /* value of the load's `vector` at that time, in m/s (wind), Pa (traction) or N m (couple) */
    sinew_real factor;
} sinew_load_key;

typedef struct sinew_load_def {
    uint32_t cookie;
    sinew_load_kind kind;
    sinew_body body;
    sinew_real vector[3]; /* value of the load's vector: wind in m/s, traction in Pa, or couple in N m */
    /* Values of the load's parameters, in the order of sinew_load_info.parameters. */
    sinew_real parameters[SINEW_PARAMETER_MAX];
    int32_t key_count;          /* number of key frames; 0: the load is constant */
    const sinew_load_key *keys; /* [key_count] key frames that replace `vector`; copied */
    int32_t element_count;      /* number of `elements`; ignored if `elements` is NULL */
    const int32_t *elements;    /* [element_count * 3] vertices of triangles, or [element_count] vertices; NULL: every
                                triangle of the body (of the surface of its tets if it has no triangles), also after its
                                cells change; or every vertex */
} sinew_load_def;

SINEW_API sinew_load_def sinew_default_load_def(sinew_load_kind kind);
/* Adds a load to a body. Fails for bodies without elements of this kind, for values that are not finite or out of
 * range, and for couples that forces on the selected vertices cannot exert (all vertices on one line along the
 * moment). */
SINEW_API sinew_load sinew_world_add_load(sinew_world *world, const sinew_load_def *def, sinew_error *error);
SINEW_API sinew_status sinew_world_remove_load(sinew_world *world, sinew_load load, sinew_error *error);
/* Number of load slots, including removed loads, and the load in a slot; index -1: it was removed. Loads are removed
 * with their body. */
SINEW_API int32_t sinew_world_load_count(const sinew_world *world);
SINEW_API sinew_load sinew_world_load_at(const sinew_world *world, int32_t index);

/* Change the vector or a parameter of a load with effect from the next step. A vector replaces the key frames. */
SINEW_API sinew_status sinew_load_set_vector(sinew_world *world, sinew_load load, const sinew_real vector[3],
                                             sinew_error *error);
SINEW_API sinew_status sinew_load_set_parameter(sinew_world *world, sinew_load load, const char *name, sinew_real value,
                                                sinew_error *error);
/* Computes f [3 * count], N: the total force of all loads in the next step on particles `first` .. `first + count -
 * 1`. */
SINEW_API sinew_status sinew_world_load_forces(sinew_world *world, int32_t first, int32_t count, sinew_real *f,
                                               sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
