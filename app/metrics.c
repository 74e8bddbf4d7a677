/* SPDX-License-Identifier: MIT
 *
 * metrics.c: metrics.csv, one row an iteration, and contact.csv, one row a step. Numbers have 17 significant digits;
 * momenta are lengths of vectors.
 */
#include <math.h>

#include "metrics.h"

double sinew_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

void sinew_metrics_head(FILE *stream)
{
    fprintf(stream, "solver,step,iteration,seconds,objective,inertia,elastic,residual,relative_error,"
                    "linear_momentum,angular_momentum\n");
}

void sinew_metrics_row(FILE *stream, const char *solver, int64_t step, const sinew_iteration *row,
                       double relative_error)
{
    fprintf(stream, "%s,%lld,%d,%.17g,%.17g,%.17g,%.17g,%.17g,", solver, (long long)step, row->iteration, row->seconds,
            row->objective, row->inertia, row->elastic, row->residual);
    if (!isnan(relative_error))
        fprintf(stream, "%.17g", relative_error);
    fprintf(stream, ",%.17g,%.17g\n", sinew_length(row->linear_momentum), sinew_length(row->angular_momentum));
}

void sinew_contact_head(FILE *stream)
{
    fprintf(stream, "step,contacts,began,ended,pairs,dropped,epochs,updates,stationarity,violation,complementarity,"
                    "cone,lag,clamped,hidden,crossings,held_back,friction_heat,restitution_work,seconds\n");
}

void sinew_contact_row(FILE *stream, int64_t step, const sinew_contact_report *r)
{
    fprintf(stream, "%lld,%d,%d,%d,%lld,%lld,%d,%d,%.17g,%.17g,%.17g,%.17g,%.17g,%d,%.17g,%d,%.17g,%.17g,%.17g,%.17g\n",
            (long long)step, r->contacts, r->began, r->ended, (long long)r->pairs, (long long)r->dropped, r->epochs,
            r->updates, r->stationarity, r->violation, r->complementarity, r->cone, r->lag, r->clamped, r->hidden,
            r->crossings, r->held_back, r->friction_heat, r->restitution_work, r->seconds);
}

void sinew_bits_text(uint32_t bits, char *text, size_t size)
{
    size_t used = 0;
    snprintf(text, size, "ok");
    for (uint32_t bit = 1; bit && used < size; bit <<= 1)
        if (bits & bit)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "|" : "", sinew_step_bit_name(bit));
}

const char *sinew_not_finite_advice(const sinew_world *world, const sinew_step_result *result)
{
    int32_t count;
    const sinew_iteration *rows = sinew_world_iterations(world, &count);
    /* Rows of single iterations begin with the guess; the result of a step that failed holds its start. */
    if ((result && isinf(result->objective)) || (count > 0 && !isfinite(rows[0].objective)))
        return "its energy is infinite where it begins, as that of a tet turned inside out in a material that forbids "
               "it (sinew info energies); begin nearer to rest, take another material, or lower time_step";
    return "lower time_step";
}
