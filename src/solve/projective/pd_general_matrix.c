/* SPDX-License-Identifier: MIT
 *
 * pd_general_matrix.c: S = M/h^2 + sum w A^T A of pd_general.h over the free particles: an inverse diagonal if A is
 * diagonal, else a prefactored sparse matrix.
 */
#include <string.h>

#include "solve/projective/global_matrix.h"
#include "solve/projective/pd_general_internal.h"

static double pd_general_inertia_of(const sinew_objective *o, int32_t particle)
{
    return o->step.quasistatic ? 0 : (double)o->step.mass[particle] / (o->step.h * o->step.h);
}

/* ---- Diagonal form of the global matrix S ------------------------------------------------------ */

static sinew_status make_diagonal_matrix(sinew_pd_general *s, const sinew_objective *o, sinew_error *error)
{
    double *sums = sinew_allocate_zero(&o->allocator, (size_t)o->particle_count, sizeof *sums);
    s->inverse = sinew_allocate_zero(&o->allocator, (size_t)o->particle_count, sizeof *s->inverse);
    sinew_set_element e;
    for (int32_t t = 0; sums && s->inverse && t < o->task_count; t++)
        for (size_t lane = 0; lane < sinew_task_padded_count(&o->tasks[t]); lane++)
            if (sinew_pd_general_element(s, o, t, lane, &e))
                for (int32_t a = 0; a < e.sqp.element.point_count; a++)
                    sums[e.particle[a]] += e.sqp.weight * e.metric[a * (e.sqp.element.point_count + 1)];
    for (int32_t i = 0; sums && s->inverse && i < o->particle_count; i++) {
        const double sum = sums[i] + pd_general_inertia_of(o, i);
        s->inverse[i] = (sinew_real)(o->step.pinned[i] || sum <= 0 ? 0 : 1 / sum);
    }
    sinew_release(&o->allocator, sums);
    return sums && s->inverse ? SINEW_OK : sinew_fail_memory(error, "projective dynamics");
}

/* ---- Sparse form of the global matrix S -------------------------------------------------------- */

/* Adds the weighted metric w A^T A of one element to the local entries of the pattern of the global matrix S. */
static void pd_general_add_element(const sinew_pd_general *s, const sinew_objective *o, int32_t t, size_t lane,
                                   const sinew_set_element *e, double *locals)
{
    const size_t W = (size_t)o->tasks[t].batch->width, n = (size_t)e->sqp.element.ops->info.vertex_count;
    const int32_t m = e->sqp.element.point_count;
    const int32_t *map = s->pattern->map + s->pattern->task_map[t] + lane / W * (n * (n + 1) / 2) * W + lane % W;
    bool seen[SINEW_STENCIL_MAX * SINEW_STENCIL_MAX] = {false};
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++, map += W) {
            const int32_t i = e->vertex[a] / SINEW_POINT, j = e->vertex[b] / SINEW_POINT;
            if (*map >= 0 && !seen[i * m + j])
                locals[*map / 2] += e->sqp.weight * e->metric[i * m + j];
            seen[i * m + j] = seen[j * m + i] = true;
        }
}

static void fill_values(const sinew_pd_general *s, const sinew_objective *o, double *locals, double *values)
{
    const sinew_assembly *as = s->pattern;
    sinew_set_element e;
    for (int32_t t = 0; t < o->task_count; t++)
        for (size_t lane = 0; lane < sinew_task_padded_count(&o->tasks[t]); lane++)
            if (sinew_pd_general_element(s, o, t, lane, &e))
                pd_general_add_element(s, o, t, lane, &e, locals);
    for (int32_t k = 0; k < as->column[as->free_count]; k++) {
        values[k] = 0;
        for (int32_t l = as->first_local[k]; l < as->first_local[k + 1]; l++)
            values[k] += locals[as->locals[l]];
    }
    for (int32_t j = 0; j < as->free_count; j++)
        values[as->column[j]] += pd_general_inertia_of(o, as->particle[j]);
}

static sinew_status pd_general_factorise(sinew_pd_general *s, const sinew_objective *o, const double *values,
                                         size_t *column, sinew_error *error)
{
    const sinew_assembly *as = s->pattern;
    const sinew_factored_system_kernels kernels = {.supernodes = sinew_simd()->supernodes,
                                                   .dense = sinew_simd()->dense};
    sinew_error local = {0};
    sinew_real *positions = sinew_assembly_rest_positions(as, o);
    if (!positions)
        return sinew_fail_memory(error, "the elimination order");
    for (int32_t j = 0; j <= as->free_count; j++)
        column[j] = (size_t)as->column[j];
    s->factor = sinew_factored_system_create(&o->allocator, &kernels, o->thread_count, as->free_count, column, as->row,
                                             values, positions, &local);
    sinew_release(&o->allocator, positions);
    return s->factor ? SINEW_OK : sinew_fail(error, local.status, "%s", local.text);
}

static sinew_status make_sparse_matrix(sinew_pd_general *s, const sinew_objective *o, sinew_error *error)
{
    s->pattern = sinew_assembly_create(o, o->task_count, NULL, error);
    if (!s->pattern)
        return SINEW_ERROR_MEMORY;
    const size_t n = (size_t)s->pattern->free_count, entries = (size_t)s->pattern->column[n];
    sinew_assembly_drop_values(o, s->pattern);
    double *locals = sinew_allocate_zero(&o->allocator, (size_t)s->pattern->local_count, sizeof *locals);
    double *values = sinew_allocate(&o->allocator, entries, sizeof *values);
    size_t *column = sinew_allocate(&o->allocator, n + 1, sizeof *column);
    sinew_status status = locals && values && column ? SINEW_OK : sinew_fail_memory(error, "projective dynamics");
    if (status == SINEW_OK) {
        fill_values(s, o, locals, values);
        status = pd_general_factorise(s, o, values, column, error);
    }
    sinew_release(&o->allocator, locals);
    sinew_release(&o->allocator, values);
    sinew_release(&o->allocator, column);
    return status;
}

sinew_status sinew_pd_general_matrix(sinew_pd_general *s, const sinew_objective *o, sinew_error *error)
{
    const bool diagonal = s->coordinates == SINEW_COORDINATES_IDENTITY || s->coordinates == SINEW_COORDINATES_MASS;
    return diagonal ? make_diagonal_matrix(s, o, error) : make_sparse_matrix(s, o, error);
}

void sinew_pd_general_solve(const sinew_pd_general *s, const sinew_objective *o, const sinew_real *b, sinew_real *x)
{
    if (!s->inverse)
        sinew_factored_system_solve(s->factor, s->pattern->particle, b, x);
    for (int32_t i = 0; i < o->particle_count; i++)
        for (size_t c = 0; c < 4; c++) {
            const size_t at = 4 * (size_t)i + c;
            x[at] = o->step.pinned[i] ? 0 : s->inverse ? s->inverse[i] * b[at] : x[at];
        }
}
