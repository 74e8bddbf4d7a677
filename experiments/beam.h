/* SPDX-License-Identifier: MIT
 *
 * beam.h: the twisted beam of Ledwon, "Comparison of XPBD and Projective Dynamics" (2024), chapter 5, and one implicit
 * Euler step from it by any solver, with the objective after each iteration.
 *
 * The set-up is the same in all experiments (docs/evidence/thesis.md):
 *   - a beam of 5 x 1 x 1 m along x, 30 x 6 x 6 cells of five tets (quick: 25 x 5 x 5), its ends turned against each
 *     other about x by 135 degrees each and pinned; Newton's method gives the equilibrium;
 *   - zero velocity, no gravity, so that q_tilde = q_n;
 *   - untwist: the ends are released. Twist: soft springs attach the ends to anchors rotated a little further;
 *   - strain stiffness or Young's modulus as given, Poisson's ratio 0.45, springs as stiff as the strain.
 */
#ifndef SINEW_EXPERIMENTS_BEAM_H
#define SINEW_EXPERIMENTS_BEAM_H

#include "sinew/sinew.h"

/* Returns a solver's default settings without the estimate of the optimality gap, which no claim uses. */
static inline sinew_solver_def experiment_solver(sinew_solver_kind kind)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    def.measure = SINEW_MEASURE_RESIDUAL;
    return def;
}

#define BEAM_POISSON 0.45
#define BEAM_TWIST   135.0 /* rotation of each end of the beam, in degrees */
#define BEAM_FURTHER 2.0   /* additional rotation of each anchor in the twisting experiments, in degrees */
/* Density of the beam in kg/m3. The only fitted number: with it PD's error after 40 iterations is 22.7 %, as in
 * thesis table 5.1. Found by beam_calibrate(); `sinew reproduce --calibrate` repeats the calibration. */
#define BEAM_DENSITY 353.3

/* Rest shape of the beam, and the twisted equilibria from which the runs start. */
typedef struct beam {
    sinew_mesh *mesh;
    int32_t vertex_count, end_count;
    int32_t *ends;       /* [end_count] vertices of the beam's two end faces */
    sinew_real *anchors; /* [3 * end_count] target positions of the ends in the twisting experiments, in m */
    /* [3 * vertex_count] twisted equilibria in m, of the strain and of the neo-Hookean material (matched = no). */
    sinew_real *twisted[2];
    double density; /* density of the beam, in kg/m3 */
} beam;

/* Creates the beam; `quick` makes its mesh coarser. */
sinew_status beam_create(beam *b, bool quick, sinew_error *error);
void beam_destroy(beam *b);

/* Kinds of support of the beam's ends at the anchors in the twisting experiments. */
typedef enum beam_hold {
    HOLD_SPRINGS, /* soft position springs at the ends, as published */
    HOLD_HARD,    /* position constraints without compliance at the ends: xpbd */
    HOLD_PINNED   /* ends pinned and so removed from the unknowns: every solver */
} beam_hold;

enum {
    BEAM_PARAMETERS = 3 /* maximum number of solver parameters that a run sets */
};

/* One solver on one step of the beam. The caller fills the fields above the results. */
typedef struct beam_run {
    bool neo_hookean, twist;
    double stiffness, h; /* strain stiffness or Young's modulus in Pa; time step in s */
    double poisson;      /* Poisson's ratio of the neo-Hookean material; 0: BEAM_POISSON */
    beam_hold hold;      /* kind of support of the ends in the twisting experiments */
    double hold_factor;  /* stiffness of the end springs over that of the strain; 0: 1 */
    sinew_solver_kind solver;
    int32_t iterations;
    bool unrecorded;                         /* true: the run has no iteration records, for timing */
    const char *parameters[BEAM_PARAMETERS]; /* names of the solver parameters that the run sets; NULL: none */
    double values[BEAM_PARAMETERS];
    /* ---- results of a run of the beam ---- */
    sinew_status status;
    char error[256];
    uint32_t bits;
    double seconds;
    int32_t done;             /* number of iterations done; fewer than requested if the solver stops early */
    int32_t record_count;     /* number of iteration records: 1 + iterations done */
    sinew_iteration *records; /* [record_count] iteration records; record 0: the start */
    sinew_real *q;            /* [3 * vertex_count] positions of the beam at the end of the step, in m */
} beam_run;

/* Takes the step of a beam run. Returns false on failure, with the reason in `run->error`. */
bool beam_step(const beam *b, beam_run *run);
void beam_run_release(beam_run *run);

/* Returns the objective of a run after an iteration. Past the last record it returns the last one: a solver that
 * stopped keeps its result. */
double beam_objective(const beam_run *run, int32_t iteration);

/* ---- Measures of a shape of the beam (beam_shape.c) -------------------------------------------- */

/* Number of cross sections of the beam, from left to right, including both ends. */
int32_t beam_section_count(const beam *b);
/* Computes the angles in degrees by which each cross section [beam_section_count()] is rotated about the beam's
 * axis. Angles accumulate from the first section on, so that whole turns count. */
void beam_section_angles(const beam *b, const sinew_real *q, double *angles);
/* Angle in degrees of the beam's last section relative to the first. */
double beam_twist(const beam *b, const sinew_real *q);
double beam_missed(const beam *b, const sinew_real *q); /* largest distance in m of an end vertex from its anchor */
double beam_distance(const beam *b, const sinew_real *q,
                     const sinew_real *other); /* largest distance in m of a vertex between two shapes of the beam */
/* Root mean square of det F - 1 over the tets of the beam, weighted by volume; *inverted: number of tets with det F <=
 * 0. */
double beam_volume_error(const beam *b, const sinew_real *q, int32_t *inverted);

/* Finds the density (kg/m3) at which PD's relative error after 40 iterations of table 5.1 (h = 1e-2 s, k = 1e8) is
 * `per_cent`, by bisection to a thousandth; negative if no density gives it. Does not change the beam's density. */
double beam_calibrate(beam *b, double per_cent);

#endif
