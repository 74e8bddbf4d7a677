/* SPDX-License-Identifier: MIT
 *
 * sinew/load.h: loads on the surface of a body, or on some of its vertices: wind, traction, couples.
 *
 * A load is turned into forces on particles when a step begins, from positions and velocities there and the time at its
 * end, and these stay as they are during the step. So every solver takes every load, and the objective is what it is
 * without: f_ext has a part more. Loads remember nothing: a state holds none of them, and whoever loads it has built
 * the world with the same ones (sinew_world_state_check names the difference). With `load_steps` of the world loads
 * grow as gravity does; their work is `forces` of sinew_world_balance().
 *
 * Does not: change while a step is solved. Where a body turns much in one step (end couples, normal traction), smaller
 * steps or more quasistatic ones follow it better; the gas in a closed surface is an energy of its own, `pressure`,
 * which does follow. docs/loads.md has the formulas and their limits.
 */
#ifndef SINEW_LOAD_H
#define SINEW_LOAD_H

#include "sinew/sinew.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sinew_load {
    int32_t index; /* < 0: none */
    uint32_t generation;
} sinew_load;

typedef enum sinew_load_kind {
    SINEW_LOAD_WIND = 0, /* triangles: drag by the air's velocity relative to theirs */
    SINEW_LOAD_TRACTION, /* triangles: force per rest area, and pressure along the normal as it is */
    SINEW_LOAD_COUPLE,   /* vertices: a moment, by forces whose sum is zero */
    SINEW_LOAD_COUNT
} sinew_load_kind;

typedef struct sinew_load_info {
    const char *name;       /* as in scene files, e.g. "wind" */
    const char *summary;    /* one line with the formula */
    sinew_stencil stencil;  /* what it acts on: triangles or vertices */
    sinew_parameter vector; /* name, unit and meaning of `vector` */
    const sinew_parameter *parameters;
    int32_t parameter_count;
} sinew_load_info;

SINEW_API const sinew_load_info *sinew_get_load_info(sinew_load_kind kind); /* NULL out of range */
SINEW_API sinew_load_kind sinew_load_by_name(const char *name);             /* SINEW_LOAD_COUNT when unknown */
/* Index of a named parameter, -1 when it has none of that name. */
SINEW_API int32_t sinew_load_parameter(sinew_load_kind kind, const char *name);

/* The load at a time is factor times vector (and factor times `pressure` of a traction), both linear between two keys
 * and held before the first and after the last. Times ascend strictly. */
typedef struct sinew_load_key {
    sinew_real time;      /* s */
    sinew_real vector[3]; /* as in the def */
    sinew_real factor;
} sinew_load_key;

typedef struct sinew_load_def {
    uint32_t cookie;
    sinew_load_kind kind;
    sinew_body body;
    sinew_real vector[3];                       /* wind: m/s; traction: Pa; couple: N m */
    sinew_real parameters[SINEW_PARAMETER_MAX]; /* as sinew_load_info says */
    int32_t key_count;                          /* 0: constant */
    const sinew_load_key *keys;                 /* [key_count], in place of `vector`; copied */
    int32_t element_count;                      /* of `elements`; ignored when that is NULL */
    const int32_t *elements; /* [element_count * 3] vertices of triangles, or [element_count] vertices; NULL: every
                                triangle of the body (of the surface of its tets when it has none), also after its
                                cells changed; every vertex */
} sinew_load_def;

SINEW_API sinew_load_def sinew_default_load_def(sinew_load_kind kind);
/* Refuses bodies without what it acts on, numbers that are not finite or out of range, and couples that forces on the
 * selected vertices cannot exert (all on one line along the moment). */
SINEW_API sinew_load sinew_world_add_load(sinew_world *world, const sinew_load_def *def, sinew_error *error);
SINEW_API sinew_status sinew_world_remove_load(sinew_world *world, sinew_load load, sinew_error *error);
/* Places of loads, those of removed ones included; which load is at one of them, index -1: it was removed. Loads go
 * with their body. */
SINEW_API int32_t sinew_world_load_count(const sinew_world *world);
SINEW_API sinew_load sinew_world_load_at(const sinew_world *world, int32_t place);
SINEW_API sinew_load_kind sinew_load_kind_of(const sinew_world *world, sinew_load load); /* COUNT: bad id */

/* From the next step on. A vector replaces the keys. */
SINEW_API sinew_status sinew_load_set_vector(sinew_world *world, sinew_load load, const sinew_real vector[3],
                                             sinew_error *error);
SINEW_API sinew_status sinew_load_set_parameter(sinew_world *world, sinew_load load, const char *name, sinew_real value,
                                                sinew_error *error);
/* N that all loads exert in the step that comes next on particles `first` .. `first + count - 1`; f [3 * count]. */
SINEW_API sinew_status sinew_world_load_forces(sinew_world *world, int32_t first, int32_t count, sinew_real *f,
                                               sinew_error *error);

#ifdef __cplusplus
}
#endif
#endif
