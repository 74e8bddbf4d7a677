/* SPDX-License-Identifier: MIT
 *
 * damping.c: damping of velocities by bodies and energies after a step. Positions stay, so every solver can be damped
 * and the objective does not change.
 *
 * Energies, stiffness-proportional: one step of implicit Euler of M dv/dt = -sum_j beta_j K_j v,
 *
 *     (M + h B) d = -h B (v - rigid part of v),   v += d,    B = sum_j beta_j K_j(q) over energies with damping beta_j
 *
 * with K_j at the end of the step, projected to semi-definite, and d zero at pins; solved by conjugate gradients. A
 * mode of frequency omega loses energy at the rate beta omega^2 if h is small, and is not reversed for any h. In a
 * stressed body K (omega x q) is not zero. So the rigid motion of each body is first removed from v, and also from d if
 * no particle of the body is pinned. This preserves rigid motions, and momenta of free bodies.
 *
 * Bodies: velocities shrink by exp(-damping h); then v += k (rigid part - v), the filter of Mueller et al. 2007 (3.5).
 *
 * Known limits: joined bodies are treated separately, so energies between two bodies only damp their deformation.
 * Products with B run on one thread.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "linear/krylov/pcg.h"
#include "objective/chunk_derivatives.h"
#include "world/inertia.h"
#include "world/world.h"

struct sinew_damping_work {
    int32_t count; /* number of particles for which the arrays of damping have memory */
    /* [count][4] right-hand side of the damping system, kg m/s; its solution, the velocity change d, m/s */
    sinew_real *rhs, *d;
    sinew_real *scratch; /* [count][4] particle velocities without rigid motions, in m/s */
    /* second derivatives of the elements of all energies with damping, chunk by chunk, in N/m */
    sinew_real *tangents;
    sinew_real *local; /* work space: two vectors [4] over the particles of the largest chunk of elements */
    size_t tangent_capacity, local_capacity;
    sinew_pcg pcg;
};

/* ---- Checks and memory of damping -------------------------------------------------------------- */

sinew_status sinew_energy_damping_check(const sinew_energy_def *def, sinew_error *error)
{
    const sinew_energy_ops *ops = sinew_energy_get_ops(def->kind);
    if (!(isfinite(def->damping) && def->damping >= 0))
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: damping is %g s, must be finite and at least 0", ops->info.name,
                          (double)def->damping);
    if (def->damping > 0 && ops->load)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s: a load has no damping; give it to the energies of its body",
                          ops->info.name);
    return SINEW_OK;
}

sinew_status sinew_body_damping_check(const sinew_body_def *def, sinew_error *error)
{
    const sinew_status status = sinew_damping_check(def->damping, error);
    if (status != SINEW_OK || (def->velocity_filter >= 0 && def->velocity_filter <= 1))
        return status;
    return sinew_fail(error, SINEW_ERROR_DATA, "velocity_filter is %g, must be in [0, 1]",
                      (double)def->velocity_filter);
}

static bool is_damped(const sinew_energy_record *record)
{
    return record->batch && record->damping > 0;
}

/* Number of reals of a chunk's element tangents, rounded up to whole cache lines. */
static size_t chunk_tangent_size(const sinew_batch *batch, const sinew_chunk *chunk)
{
    return (sinew_chunk_tangent_count(batch, chunk) + 15) / 16 * 16;
}

static size_t chunk_point_size(const sinew_chunk *chunk)
{
    return (4 * (size_t)chunk->slot_count + 15) / 16 * 16;
}

static bool damping_make_arrays(sinew_world *world, struct sinew_damping_work *w)
{
    const sinew_allocator *a = &world->allocator;
    const size_t n = 4 * (size_t)world->particle_count;
    sinew_real **arrays[] = {&w->rhs, &w->d, &w->scratch};
    bool good = true;
    w->count = 0;
    sinew_pcg_destroy(a, &w->pcg);
    for (int i = 0; i < 3; i++) {
        sinew_release(a, *arrays[i]);
        *arrays[i] = sinew_allocate_zero(a, n, sizeof **arrays[i]);
        good = good && *arrays[i];
    }
    good = good && sinew_pcg_create(a, &w->pcg, world->particle_count, world->objective.thread_count, NULL) == SINEW_OK;
    w->count = good ? world->particle_count : 0;
    return good;
}

sinew_status sinew_damping_prepare(sinew_world *world, sinew_error *error)
{
    size_t tangents = 0, local = 0;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_batch *batch = is_damped(&world->energies[i]) ? world->energies[i].batch : NULL;
        for (int32_t c = 0; batch && c < batch->chunk_count; c++) {
            const size_t points = 2 * chunk_point_size(&batch->chunks[c]);
            tangents += chunk_tangent_size(batch, &batch->chunks[c]);
            local = points > local ? points : local;
        }
    }
    if (tangents == 0)
        return SINEW_OK;
    if (!world->damping)
        world->damping = sinew_allocate_zero(&world->allocator, 1, sizeof *world->damping);
    struct sinew_damping_work *w = world->damping;
    const sinew_allocator *a = &world->allocator;
    if (w && (w->count == world->particle_count || damping_make_arrays(world, w)) &&
        sinew_reserve(a, &w->tangents, &w->tangent_capacity, tangents, sizeof *w->tangents) &&
        sinew_reserve(a, &w->local, &w->local_capacity, local, sizeof *w->local))
        return SINEW_OK;
    sinew_damping_release(world);
    return sinew_fail_memory(error, "damping");
}

void sinew_damping_release(sinew_world *world)
{
    struct sinew_damping_work *w = world->damping;
    if (!w)
        return;
    const sinew_allocator *a = &world->allocator;
    void *arrays[] = {w->rhs, w->d, w->scratch, w->tangents, w->local};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(a, arrays[i]);
    sinew_pcg_destroy(a, &w->pcg);
    sinew_release(a, w);
    world->damping = NULL;
}

/* ---- Rigid motion of a body -------------------------------------------------------------------- */

/* Rigid motion of a body: v + omega x (q - centre) is the one nearest to the velocities of a body, in the metric of its
 * masses. */
typedef struct rigid_motion {
    double centre[3], v[3], omega[3];
} rigid_motion;

static rigid_motion nearest_rigid_motion(const sinew_world *world, const sinew_body_record *body, const sinew_real *v)
{
    rigid_motion m = {0};
    double mass = 0, spread[9] = {0}, spin[3] = {0};
    for (int32_t i = body->start; i < body->start + body->count; i++) {
        mass += (double)world->mass[i];
        for (size_t c = 0; c < 3; c++) {
            m.centre[c] += (double)world->mass[i] * (double)world->q[4 * (size_t)i + c];
            m.v[c] += (double)world->mass[i] * (double)v[4 * (size_t)i + c];
        }
    }
    for (int c = 0; c < 3; c++) {
        m.centre[c] /= mass;
        m.v[c] /= mass;
    }
    for (int32_t i = body->start; i < body->start + body->count; i++) {
        double r[3], u[3];
        for (size_t c = 0; c < 3; c++) {
            r[c] = (double)world->q[4 * (size_t)i + c] - m.centre[c];
            u[c] = (double)v[4 * (size_t)i + c] - m.v[c];
        }
        for (int c = 0; c < 9; c++)
            spread[c] += (double)world->mass[i] * r[c / 3] * r[c % 3];
        for (int c = 0; c < 3; c++)
            spin[c] += (double)world->mass[i] * (r[(c + 1) % 3] * u[(c + 2) % 3] - r[(c + 2) % 3] * u[(c + 1) % 3]);
    }
    sinew_inertia_solve(spread, spin, m.omega);
    return m;
}

/* Computes out = keep v + take times the rigid motion, at the particles of a body, including pinned ones; out may be
 * v. */
static void damping_blend(const sinew_world *world, const sinew_body_record *body, const rigid_motion *m, double keep,
                          double take, const sinew_real *v, sinew_real *out)
{
    for (int32_t i = body->start; i < body->start + body->count; i++) {
        double r[3];
        for (size_t c = 0; c < 3; c++)
            r[c] = (double)world->q[4 * (size_t)i + c] - m->centre[c];
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            const double rigid = m->v[c] + m->omega[a] * r[b] - m->omega[b] * r[a];
            const size_t at = 4 * (size_t)i + (size_t)c;
            out[at] = (sinew_real)(keep * (double)v[at] + take * rigid);
        }
    }
}

static bool has_pins(const sinew_world *world, const sinew_body_record *body)
{
    for (int32_t i = body->start; i < body->start + body->count; i++)
        if (world->pinned[i])
            return true;
    return false;
}

/* ---- Damping by energies --------------------------------------------------------------------- */

static void linearise_damped_elements(const sinew_world *world, const struct sinew_damping_work *w)
{
    sinew_real *tangent = w->tangents;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_batch *batch = is_damped(&world->energies[i]) ? world->energies[i].batch : NULL;
        for (int32_t c = 0; batch && c < batch->chunk_count; c++) {
            const sinew_chunk *chunk = &batch->chunks[c];
            sinew_chunk_gather(batch, chunk, world->q, w->local);
            sinew_chunk_linearise(batch, chunk, w->local, tangent);
            tangent += chunk_tangent_size(batch, chunk);
        }
    }
}

/* Adds to out the product s B p of the damping matrix B with a vector p over particles. */
static void damping_add_product(const sinew_world *world, double s, const sinew_real *p, sinew_real *out)
{
    const struct sinew_damping_work *w = world->damping;
    sinew_real *tangent = w->tangents;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_batch *batch = is_damped(&world->energies[i]) ? world->energies[i].batch : NULL;
        const sinew_real factor = (sinew_real)(batch ? s * (double)world->energies[i].damping : 0);
        for (int32_t c = 0; batch && c < batch->chunk_count; c++) {
            const sinew_chunk *chunk = &batch->chunks[c];
            sinew_real *g = w->local + chunk_point_size(chunk);
            sinew_chunk_gather(batch, chunk, p, w->local);
            memset(g, 0, chunk_point_size(chunk) * sizeof *g);
            sinew_chunk_product(batch, chunk, tangent, w->local, g);
            for (int32_t k = 0; k < chunk->slot_count; k++)
                for (size_t x = 0, to = 4 * (size_t)batch->particle[chunk->first_slot + k]; x < 4; x++)
                    out[to + x] += factor * g[4 * (size_t)k + x];
            tangent += chunk_tangent_size(batch, chunk);
        }
    }
}

static void clear_pins(const sinew_world *world, sinew_real *x)
{
    for (int32_t i = 0; i < world->particle_count; i++)
        if (world->pinned[i])
            memset(x + 4 * (size_t)i, 0, 4 * sizeof *x);
}

/* Computes out = (M + h B) x, the product with the matrix of the damping system: masses M, damping matrix B. */
static void damping_multiply(void *context, const sinew_real *x, sinew_real *out)
{
    const sinew_world *world = context;
    for (int32_t i = 0; i < world->particle_count; i++)
        for (size_t c = 4 * (size_t)i, last = c + 4; c < last; c++)
            out[c] = world->mass[i] * x[c];
    damping_add_product(world, (double)world->def.time_step, x, out);
    clear_pins(world, out);
}

/* Computes out = M^-1 x with the masses M, the preconditioner of the damping system. */
static void damping_divide(void *context, const sinew_real *x, sinew_real *out)
{
    const sinew_world *world = context;
    for (int32_t i = 0; i < world->particle_count; i++) {
        const sinew_real inverse = 1 / world->mass[i];
        for (size_t c = 4 * (size_t)i, last = c + 4; c < last; c++)
            out[c] = inverse * x[c];
    }
}

enum {
    MAX_ITERATIONS = 500
};
/* Relative residual at which the conjugate gradients of the damping system stop. Momenta of free bodies do not depend
 * on it, because the rigid motion of d is removed. */
#define TOLERANCE (sizeof(sinew_real) == 4 ? 1e-4 : 1e-9)

static void damp_energies(sinew_world *world)
{
    const struct sinew_damping_work *w = world->damping;
    const size_t n = 4 * (size_t)world->particle_count;
    linearise_damped_elements(world, w);
    for (int32_t b = 0; b < world->body_count; b++) {
        const sinew_body_record *body = &world->bodies[b];
        if (!body->mesh)
            continue;
        const rigid_motion m = nearest_rigid_motion(world, body, world->v);
        damping_blend(world, body, &m, 1, -1, world->v, w->scratch);
    }
    memset(w->rhs, 0, n * sizeof *w->rhs);
    damping_add_product(world, -(double)world->def.time_step, w->scratch, w->rhs);
    clear_pins(world, w->rhs);
    const sinew_linear_map A = {damping_multiply, world}, P = {damping_divide, world};
    struct sinew_damping_work *work = world->damping;
    sinew_pcg_solve(&work->pcg, A, P, w->rhs, w->d, TOLERANCE, MAX_ITERATIONS);
    for (int32_t b = 0; b < world->body_count; b++) {
        const sinew_body_record *body = &world->bodies[b];
        if (!body->mesh || has_pins(world, body))
            continue;
        const rigid_motion m = nearest_rigid_motion(world, body, w->d);
        damping_blend(world, body, &m, 1, -1, w->d, w->d);
    }
    for (size_t i = 0; i < n; i++)
        world->v[i] += w->d[i];
}

/* ---- Damping of bodies ----------------------------------------------------------------------- */

/* Damps the velocities of a body, except at pins, where velocities are prescribed. */
static void damp_body(sinew_world *world, const sinew_body_record *body)
{
    const double left = exp(-(double)body->damping * (double)world->def.time_step);
    const double k = (double)body->velocity_filter;
    const rigid_motion m = k > 0 ? nearest_rigid_motion(world, body, world->v) : (rigid_motion){0};
    for (int32_t i = body->start; i < body->start + body->count; i++) {
        const sinew_body_record one = {.start = i, .count = 1};
        if (!world->pinned[i])
            damping_blend(world, &one, &m, left * (1 - k), left * k, world->v, world->v);
    }
}

static void kinetic_terms(const void *context, int32_t first, int32_t last, double *sums)
{
    const sinew_world *world = context;
    for (int32_t i = first; i < last; i++)
        for (size_t c = 0, at = 4 * (size_t)i; c < 3; c++, at++)
            sums[0] += (double)world->mass[i] * (double)world->v[at] * (double)world->v[at] / 2;
}

static double sum_kinetic_energy(const sinew_world *world)
{
    double sum;
    sinew_sum(kinetic_terms, world, world->particle_count, 1, &sum, world->objective.thread_count);
    return sum;
}

void sinew_damping_apply(sinew_world *world)
{
    bool energies = false, bodies = false;
    world->damping_loss = 0;
    for (int32_t i = 0; i < world->energy_count; i++)
        energies = energies || is_damped(&world->energies[i]);
    for (int32_t b = 0; b < world->body_count; b++)
        bodies =
            bodies || (world->bodies[b].mesh && (world->bodies[b].damping > 0 || world->bodies[b].velocity_filter > 0));
    if (world->def.quasistatic || (!energies && !bodies))
        return;
    const double before = sum_kinetic_energy(world);
    if (!isfinite(before))
        return; /* damping is skipped after an explosion: products of its positions and velocities are not finite */
    if (energies)
        damp_energies(world);
    for (int32_t b = 0; b < world->body_count; b++)
        if (world->bodies[b].mesh && (world->bodies[b].damping > 0 || world->bodies[b].velocity_filter > 0))
            damp_body(world, &world->bodies[b]);
    world->damping_loss = before - sum_kinetic_energy(world);
}
