/* SPDX-License-Identifier: MIT
 *
 * spectrum.c: Lanczos' method for S^-1 H, without rigid motions of free components. See spectrum.h.
 */
#include "solve/projective/spectrum.h"

#include <float.h>
#include <string.h>

#include "base/reduce.h"
#include "linear/krylov/block_jacobi.h"
#include "linear/krylov/pcg.h"
#include "linear/krylov/tridiagonal_eigen.h"
#include "objective/connected_components.h"

/* Number of Lanczos steps. Only the fourth root of the estimated eigenvalues is used, so this number suffices, also for
 * long beams. */
enum {
    STEPS = 24
};

/* ---- Removal of rigid motions ---------------------------------------------------------------- */

/* Rigid rotations of free connected components. Such components can rotate rigidly, which is stiff in S but costs only
 * inertia in H. No internal force rotates them, so iterations need not reduce this mode. The search is restricted to z
 * without angular momentum, C^T z = 0 with C = M (e_k x (x - centre)) for each component, by z <- z - Y (C^T Y)^-1 C^T
 * z, Y = S^-1 C. */
typedef struct turning {
    /* [particle_count] lowest particle of each particle's connected component; -1: the component is constrained */
    int32_t *component;
    /* [particle_count][4] columns of C (see the comment above) in three axes, and of Y = S^-1 C */
    sinew_real *C[3], *Y[3];
    /* [particle_count][9] (C^T Y)^-1 at the lowest particle of each free component; C and Y above */
    double *inverse;
    double *sums; /* [particle_count][4] work space: sums at the lowest particle of each component */
} turning;

static void turning_release(const sinew_objective *o, turning *t)
{
    void *arrays[] = {t->component, t->C[0], t->C[1], t->C[2], t->Y[0], t->Y[1], t->Y[2], t->inverse, t->sums};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&o->allocator, arrays[i]);
}

static bool turning_allocate(const sinew_objective *o, turning *t)
{
    const size_t n = (size_t)o->particle_count;
    bool good = true;
    for (int k = 0; k < 3; k++) {
        t->C[k] = sinew_allocate_zero(&o->allocator, 4 * n, sizeof *t->C[k]);
        t->Y[k] = sinew_allocate_zero(&o->allocator, 4 * n, sizeof *t->Y[k]);
        good = good && t->C[k] && t->Y[k];
    }
    t->component = sinew_allocate(&o->allocator, n, sizeof *t->component);
    t->inverse = sinew_allocate_zero(&o->allocator, 9 * n, sizeof *t->inverse);
    t->sums = sinew_allocate(&o->allocator, 4 * n, sizeof *t->sums);
    return good && t->component && t->inverse && t->sums;
}

/* Marks connected components with a pin or a target as constrained; in quasistatic worlds all components are. */
static void mark_constrained(const sinew_objective *o, turning *t)
{
    const size_t n = (size_t)o->particle_count;
    memset(t->sums, 0, 4 * n * sizeof *t->sums);
    for (size_t i = 0; i < n; i++)
        t->sums[4 * (size_t)t->component[i]] += o->step.pinned[i] || o->step.quasistatic ? 1 : 0;
    for (int32_t k = 0; k < o->task_count; k++) {
        const sinew_task *task = &o->tasks[k];
        for (int32_t i = 0; task->batch->ops->target_slot >= 0 && i < task->chunk->slot_count; i++)
            t->sums[4 * (size_t)t->component[task->batch->particle[task->chunk->first_slot + i]]] += 1;
    }
    for (size_t i = 0; i < n; i++)
        if (t->sums[4 * (size_t)t->component[i]] > 0)
            t->component[i] = -1;
}

/* Sums over each free component, stored at its lowest particle: t->sums = sum of m z (three numbers), sum of m. */
static void sum_components(const sinew_objective *o, const turning *t, const sinew_real *z)
{
    memset(t->sums, 0, 4 * (size_t)o->particle_count * sizeof *t->sums);
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        if (t->component[i] < 0)
            continue;
        double *sum = t->sums + 4 * (size_t)t->component[i];
        for (size_t c = 0; c < 3; c++)
            sum[c] += (double)o->step.mass[i] * (double)z[4 * i + c];
        sum[3] += (double)o->step.mass[i];
    }
}

/* Fills the angular momentum vectors C[k] = m e_k x (x - centre of the component), k = 0, 1, 2, of free components. */
static void fill_angular_momenta(const sinew_objective *o, const sinew_real *q, turning *t)
{
    sum_components(o, t, q);
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        if (t->component[i] < 0)
            continue;
        const double *sum = t->sums + 4 * (size_t)t->component[i];
        double arm[3];
        for (size_t c = 0; c < 3; c++)
            arm[c] = (double)o->step.mass[i] * ((double)q[4 * i + c] - sum[c] / sum[3]);
        for (size_t k = 0; k < 3; k++) {
            t->C[k][4 * i + (k + 1) % 3] = (sinew_real)-arm[(k + 2) % 3];
            t->C[k][4 * i + (k + 2) % 3] = (sinew_real)arm[(k + 1) % 3];
        }
    }
}

static bool turning_create(const sinew_objective *o, sinew_global *global, const sinew_real *q, turning *t)
{
    if (!turning_allocate(o, t))
        return false;
    sinew_objective_components(o, q, t->component);
    mark_constrained(o, t);
    fill_angular_momenta(o, q, t);
    for (int k = 0; k < 3; k++)
        sinew_global_solve(global, o, t->C[k], t->Y[k]);
    for (size_t i = 0; i < (size_t)o->particle_count; i++)
        for (size_t e = 0; t->component[i] >= 0 && e < 9; e++)
            for (size_t c = 0; c < 3; c++)
                t->inverse[9 * (size_t)t->component[i] + e] +=
                    (double)t->C[e / 3][4 * i + c] * (double)t->Y[e % 3][4 * i + c];
    for (size_t i = 0; i < (size_t)o->particle_count; i++)
        if (t->component[i] == (int32_t)i) {
            double *G = t->inverse + 9 * i, inverse[9] = {0};
            /* The inverse stays zero if the component has no rotation about some axis (a point, a line). */
            sinew_invert_block(G, 1e-9, inverse);
            memcpy(G, inverse, sizeof inverse);
        }
    return true;
}

/* Removes translations of free components from the vector z. The global matrix S and the Hessian H agree for
 * translations, but these are so soft compared with stiff elements that they would dominate the estimate. */
static void remove_translations(const sinew_objective *o, const turning *t, sinew_real *z)
{
    sum_components(o, t, z);
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        const double *sum = t->component[i] < 0 ? NULL : t->sums + 4 * (size_t)t->component[i];
        for (size_t c = 0; sum && c < 3; c++)
            z[4 * i + c] -= (sinew_real)(sum[c] / sum[3]);
    }
}

/* Subtracts the resultant force of each free component, distributed by mass, so that the remaining force r causes no
 * translation. */
static void remove_resultant_force(const sinew_objective *o, const turning *t, sinew_real *r)
{
    memset(t->sums, 0, 4 * (size_t)o->particle_count * sizeof *t->sums);
    for (size_t i = 0; i < (size_t)o->particle_count; i++)
        for (size_t c = 0; t->component[i] >= 0 && c < 4; c++)
            t->sums[4 * (size_t)t->component[i] + c] += c < 3 ? (double)r[4 * i + c] : (double)o->step.mass[i];
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        const double *sum = t->component[i] < 0 ? NULL : t->sums + 4 * (size_t)t->component[i];
        for (size_t c = 0; sum && c < 3; c++)
            r[4 * i + c] -= (sinew_real)(sum[c] * (double)o->step.mass[i] / sum[3]);
    }
}

static void remove_rotations(const sinew_objective *o, const turning *t, sinew_real *z)
{
    memset(t->sums, 0, 4 * (size_t)o->particle_count * sizeof *t->sums);
    for (size_t i = 0; i < (size_t)o->particle_count; i++)
        for (size_t k = 0; t->component[i] >= 0 && k < 3; k++)
            for (size_t c = 0; c < 3; c++)
                t->sums[4 * (size_t)t->component[i] + k] += (double)t->C[k][4 * i + c] * (double)z[4 * i + c];
    for (size_t i = 0; i < (size_t)o->particle_count; i++) {
        if (t->component[i] < 0)
            continue;
        const double *sum = t->sums + 4 * (size_t)t->component[i], *inverse = t->inverse + 9 * (size_t)t->component[i];
        for (size_t k = 0; k < 3; k++) {
            const double s = inverse[3 * k] * sum[0] + inverse[3 * k + 1] * sum[1] + inverse[3 * k + 2] * sum[2];
            for (size_t c = 0; c < 3; c++)
                z[4 * i + c] -= (sinew_real)(s * (double)t->Y[k][4 * i + c]);
        }
    }
}

/* ---- Lanczos iteration on S^-1 H ------------------------------------------------------------- */

typedef struct pencil {
    sinew_objective *o;
    sinew_global *global;
    const turning *t;
} pencil;

/* Preconditioner z = S^-1 r with the global matrix S, without rigid motions of free components */
static void apply_preconditioner(void *context, const sinew_real *r, sinew_real *z)
{
    const pencil *p = context;
    sinew_global_solve(p->global, p->o, r, z);
    remove_translations(p->o, p->t, z);
    remove_rotations(p->o, p->t, z);
}

static void apply_hessian(void *context, const sinew_real *x, sinew_real *Hx)
{
    sinew_objective_product(((const pencil *)context)->o, x, Hx);
}

void sinew_spectrum_noise(const sinew_objective *o, sinew_real *r)
{
    uint32_t state = 1;
    for (size_t i = 0; i < 4 * (size_t)o->particle_count; i++) {
        state = state * 1664525u + 1013904223u;
        r[i] = i % 4 == 3 || o->step.pinned[i / 4] ? 0 : (sinew_real)((double)(state >> 8) / (1 << 23) - 1);
    }
}

/* Estimates the extreme eigenvalues of S^-1 H (global matrix S, Hessian H); *spectrum stays as it is if there is no
 * mode. */
static void spectrum_run(pencil *p, sinew_pcg *pcg, sinew_real *b, sinew_spectrum *spectrum)
{
    const sinew_linear_map H = {apply_hessian, p}, inverse = {apply_preconditioner, p};
    double diagonal[STEPS], off_diagonal[STEPS];
    sinew_spectrum_noise(p->o, b);
    remove_resultant_force(p->o, p->t, b);
    const int32_t count = sinew_pcg_lanczos(pcg, H, inverse, b, (double)FLT_EPSILON, STEPS, diagonal, off_diagonal);
    const sinew_tridiagonal matrix = {count, diagonal, off_diagonal};
    if (count > 0)
        *spectrum = (sinew_spectrum){sinew_tridiagonal_eigenvalue(&matrix, 0, 0),
                                     sinew_tridiagonal_eigenvalue(&matrix, count - 1, 0)};
}

sinew_status sinew_spectrum_find(sinew_objective *o, sinew_global *global, const sinew_real *q,
                                 sinew_spectrum *spectrum, sinew_error *error)
{
    const bool had_tangents = o->tangents != NULL;
    sinew_pcg pcg = {0};
    turning t = {0};
    *spectrum = (sinew_spectrum){1, 1};
    sinew_real *b = sinew_allocate_zero(&o->allocator, 4 * (size_t)o->particle_count, sizeof *b);
    const bool good = b &&
                      sinew_pcg_create(&o->allocator, &pcg, o->particle_count, o->thread_count, NULL) == SINEW_OK &&
                      sinew_objective_need_tangents(o, NULL) == SINEW_OK && turning_create(o, global, q, &t);
    if (good) {
        sinew_objective_linearise(o, q, true);
        spectrum_run(&(pencil){o, global, &t}, &pcg, b, spectrum);
    }
    turning_release(o, &t);
    if (!had_tangents)
        sinew_objective_drop_tangents(o);
    sinew_pcg_destroy(&o->allocator, &pcg);
    sinew_release(&o->allocator, b);
    return good ? SINEW_OK : sinew_fail_memory(error, "the choice of ADMM's weight");
}
