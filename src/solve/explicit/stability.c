/* SPDX-License-Identifier: MIT
 *
 * stability.c: the Lanczos iteration for the highest frequency of a world. See stability.h.
 */
#include "solve/explicit/stability.h"

#include <float.h>
#include <math.h>

#include "base/reduce.h"
#include "linear/krylov/tridiagonal_eigen.h"
#include "solve/projective/spectrum.h"

enum {
    STEPS = 512,       /* largest number of Lanczos steps; clustered largest eigenvalues need several hundred */
    CHECK_INTERVAL = 8 /* Lanczos steps between two evaluations of the largest eigenvalue */
};

/* The Lanczos iteration has converged at this relative change of the largest eigenvalue over CHECK_INTERVAL steps. */
static const double converged_change = sizeof(sinew_real) == 4 ? 1e-6 : 1e-11;

typedef struct lanczos {
    sinew_objective view; /* copy of the objective without its inertia term */
    int32_t count;
    /* diagonal and off-diagonal entries of the tridiagonal matrix of the Lanczos iteration */
    double diagonal[STEPS], off_diagonal[STEPS];
    /* lower bound of all eigenvalues of the tridiagonal matrix; its largest eigenvalue at the last evaluation, 1/s^2 */
    double low, largest;
    sinew_real *root; /* [particle_count][4] diagonal of M^(-1/2): inverse square roots of masses; 0 at pins */
    /* [particle_count][4] Lanczos vectors: current, previous; work space for products */
    sinew_real *u, *before, *w, *p;
} lanczos;

/* Fills the Lanczos start vector u with pseudo-random numbers, scaled to norm 1. */
static void fill_start_vector(const lanczos *l)
{
    const int32_t n = l->view.particle_count;
    sinew_spectrum_noise(&l->view, l->u);
    const double norm = sinew_norm(l->u, n, l->view.thread_count);
    for (size_t i = 0; norm > 0 && i < 4 * (size_t)n; i++)
        l->u[i] = (sinew_real)((double)l->u[i] / norm);
}

static void fill_inverse_root_masses(const lanczos *l)
{
    for (int32_t i = 0; i < l->view.particle_count; i++)
        for (size_t c = 0; c < 3; c++)
            l->root[4 * (size_t)i + c] =
                l->view.step.pinned[i] ? 0 : (sinew_real)(1 / sqrt((double)l->view.step.mass[i]));
}

static void scale_by_root(const lanczos *l, const sinew_real *x, sinew_real *out)
{
    for (size_t i = 0; i < 4 * (size_t)l->view.particle_count; i++)
        out[i] = l->root[i] * x[i];
}

/* One Lanczos step: computes one row of the tridiagonal matrix. Returns true if more rows can follow. */
static bool lanczos_step(lanczos *l)
{
    const int32_t n = l->view.particle_count, threads = l->view.thread_count;
    const double last = l->count > 0 ? l->off_diagonal[l->count - 1] : 0;
    scale_by_root(l, l->u, l->p);
    sinew_objective_product(&l->view, l->p, l->w);
    scale_by_root(l, l->w, l->w);
    const double alpha = sinew_dot(l->u, l->w, n, threads);
    sinew_add_scaled(l->w, (sinew_real)-alpha, l->u, n, threads);
    sinew_add_scaled(l->w, (sinew_real)-last, l->before, n, threads);
    const double beta = sinew_norm(l->w, n, threads);
    l->diagonal[l->count] = alpha;
    l->off_diagonal[l->count++] = beta;
    l->low = fmin(l->low, alpha - beta - last);
    const double size = fabs(alpha) + beta + last, epsilon = sizeof(sinew_real) == 4 ? FLT_EPSILON : DBL_EPSILON;
    if (!(beta > 16 * epsilon * size))
        return false;
    sinew_real *spare = l->before;
    l->before = l->u;
    l->u = spare;
    for (size_t i = 0; i < 4 * (size_t)n; i++)
        l->u[i] = (sinew_real)((double)l->w[i] / beta);
    return l->count < STEPS;
}

static bool lanczos_has_converged(lanczos *l)
{
    const double before = l->largest;
    const sinew_tridiagonal matrix = {l->count, l->diagonal, l->off_diagonal};
    l->largest = sinew_tridiagonal_eigenvalue(&matrix, l->count - 1, l->low);
    return fabs(l->largest - before) <= converged_change * fabs(l->largest);
}

static void lanczos_run(lanczos *l)
{
    bool more = true;
    fill_inverse_root_masses(l);
    fill_start_vector(l);
    while (more) {
        more = lanczos_step(l);
        if (!more || l->count % CHECK_INTERVAL == 0)
            more &= !lanczos_has_converged(l);
    }
}

sinew_status sinew_fastest_find(const sinew_objective *o, const sinew_real *q, sinew_fastest *fastest,
                                sinew_error *error)
{
    const size_t size = 4 * (size_t)o->particle_count;
    const bool had_tangents = o->tangents != NULL;
    lanczos *l = sinew_allocate_zero(&o->allocator, 1, sizeof *l);
    *fastest = (sinew_fastest){0};
    if (!l)
        return sinew_fail_memory(error, "the fastest motion");
    l->view = *o;
    l->view.step.quasistatic = true;
    sinew_real **vectors[] = {&l->root, &l->u, &l->before, &l->w, &l->p};
    bool good = sinew_objective_need_tangents(&l->view, NULL) == SINEW_OK;
    for (size_t i = 0; i < 5; i++) {
        *vectors[i] = sinew_allocate_zero(&o->allocator, size, sizeof(sinew_real));
        good = good && *vectors[i];
    }
    if (good) {
        sinew_objective_linearise(&l->view, q, false);
        lanczos_run(l);
        *fastest = (sinew_fastest){fmax(l->largest, 0), l->count};
    }
    for (size_t i = 0; i < 5; i++)
        sinew_release(&o->allocator, *vectors[i]);
    if (!had_tangents)
        sinew_objective_drop_tangents(&l->view);
    sinew_release(&o->allocator, l);
    return good ? SINEW_OK : sinew_fail_memory(error, "the fastest motion");
}
