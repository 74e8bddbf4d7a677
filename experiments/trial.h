/* SPDX-License-Identifier: MIT
 *
 * trial.h: a scene of Chen et al., "Position-Based Nonlinear Gauss-Seidel for Quasistatic Hyperelasticity" (2024), by
 * any solver, frame after frame, with the residual, the inverted tets and the processor time of each frame.
 *
 * The set-up is the same in all experiments (docs/evidence/pbng.md). Poisson's ratio 0.3, a frame is 1/30 s, gravity,
 * if any, is 9.8 m/s2 downwards:
 *   - block: a cube of 1 m, n^3 vertices, five tets a cell, 1e5 Pa, 10 kg/m3, quasistatic, no gravity; both ends are
 *     clamped, pressed together by 0.2 m within 16 frames, then drawn apart to 1.5 m within 24 more while each turns by
 *     90 degrees;
 *   - bar: the block's scene with 8 n x n x n vertices and cells as large as those of a block of n;
 *   - falling: a cube of 1 m and 1e3 Pa, 10 kg/m3, clamped on the left, with inertia;
 *   - cantilever: 1 x 0.5 x 0.5 m in 2 n x n x n cells, 1e3 Pa, 10 kg/m3, clamped on the left, quasistatic;
 *   - hanging: two cubes of 0.5 m and n^3 vertices, 1e3 Pa, 10 kg/m3, the upper held at its top, the lower 0.1 m below
 *     it and bound to it by weak constraints of 1e8 N/m and zero length; quasistatic;
 *   - cloth: a square of `size` and n^2 vertices, initially horizontal, 10 kg/m2, 1000 N/m, held at two corners, steps
 *     of 5 ms;
 *   - muscles: four bars of 1.2 x 0.2 x 0.2 m side by side, 4 n x n x n vertices, 1e5 Pa, 1000 kg/m3, bound to each
 *     other where they touch by weak constraints of 1e8 N/m; all are held on the left, two on the right, where they are
 *     drawn out by 0.3 m and turned by 45 degrees within 10 frames; quasistatic, with gravity.
 */
#ifndef SINEW_EXPERIMENTS_TRIAL_H
#define SINEW_EXPERIMENTS_TRIAL_H

#include "experiments.h"

#define FRAME       (1.0 / 30) /* duration of a frame, in s */
#define HANGING_GAP 0.1        /* initial distance between the two hanging blocks, in m */

typedef struct trial trial;
/* Creates the world of a scene and records its weak constraints in `bonds`. Returns NULL on failure. */
typedef sinew_world *scene_builder(trial *t, sinew_error *error);

/* One solver on one scene. The caller fills the fields above the results. */
struct trial {
    scene_builder *build;
    int32_t n;
    const void *scene;          /* parameters of the scene builder, or NULL */
    sinew_energy_kind material; /* material of the block and the bar; the other scenes are corotated */
    double speed;               /* factor on the speed of the block's ends; 0: 1 */
    double bond;                /* stiffness of weak constraints in N/m; 0: 1e8 */
    double size;                /* side length of the cloth, in m */
    bool six;                   /* true: block and bar have six tets a cell; false: five */
    bool loose;                 /* true: hanging blocks and muscles have no weak constraints */
    sinew_solver_def solver;
    int32_t frames;
    int32_t warm_up;           /* number of initial frames by a tightly converged Newton, not recorded */
    sinew_allocator allocator; /* allocator of the trial's world; zero: the system's */
    bool side_by_side;         /* true: the trial may run in parallel with others; its time is not reported */
    /* ---- results of a trial ---- */
    char error[256];
    int32_t particle_count, tet_count, triangle_count;
    int32_t bond_count;
    int32_t *bonds;     /* [2 * bond_count] pairs of particles bound by weak constraints */
    int32_t *triangles; /* [3 * triangle_count] vertices of the triangles of all bodies' surfaces */
    /* [3 * particle_count] positions in m before the first frame and after the last. */
    sinew_real *rest, *q;
    double *residual;     /* [frames] residual at the end of each frame, in N */
    double *relative;     /* [frames] residual at the end of each frame relative to that at its start */
    double *seconds;      /* [frames] processor time of each frame, in s */
    int32_t *inverted;    /* [frames] number of inverted tets at the end of each frame */
    int32_t lost;         /* number of frames that are not finite; the world keeps the state before such a frame */
    int32_t record_count; /* number of iteration records of the last frame, if the solver records */
    sinew_iteration *records;
};

scene_builder scene_block, scene_bar, scene_falling, scene_cantilever, scene_hanging, scene_muscles, scene_cloth;

/* Returns solver settings with tolerance 0 and parameters by name: pairs of name and value, NULL at the end. */
sinew_solver_def trial_solver(sinew_solver_kind kind, int32_t iterations, ...);

/* Takes all frames of all trials; returns false, with the error in the outcome, if one fails. Progress counts
 * trials. */
bool trials_take(const setting *s, trial *trials, int32_t count, const char *label, outcome *o);
void trials_release(trial *trials, int32_t count);

double trial_seconds(const trial *t); /* median processor time over the frames of a trial, in s */
/* Geometric mean of the residuals over the frames; infinite if a frame was not finite. */
double trial_residual(const trial *t);
int32_t trial_inverted(const trial *t); /* largest number of inverted tets in one frame of a trial */
/* Largest distance in m of a particle from its position in `truth`. */
double trial_distance(const trial *t, const trial *truth);
double trial_gap(const trial *t); /* largest distance in m between bound particles at the end of a trial */
/* Measures the cost of a trial's frame without iterations and of each iteration, in s of processor time, from the
 * fastest of three frames. */
bool trial_cost(const setting *s, const trial *t, double *fixed, double *each, outcome *o);
/* Sets the number of iterations of a trial, at least one, that fit into the time of a frame of `other`. Both costs
 * are measured now, in the same way, so that the load of the machine affects both. */
bool trial_fit(const setting *s, trial *t, const trial *other, outcome *o);

/* Adds a trial to a figure as a curve over its frames (values [frames]), or over the iterations of its last frame. */
void trial_curve(figure *f, const trial *t, const char *name, int32_t variant, const double *values);
void trial_records(figure *f, const trial *t, const char *name, int32_t variant, record_value *value);
void trial_shape(figure *f, const trial *t, const char *name, const sinew_real *q);

#endif
