/* SPDX-License-Identifier: MIT
 *
 * metrics.c: metrics.csv with one row per iteration, or one per step in `sinew run` without --record, and contact.csv
 * with one row per step. Numbers have 17 significant digits; momenta are norms of vectors.
 */
#include <math.h>

#include "metrics.h"

double sinew_length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double sinew_distance(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sinew_length(d);
}

void sinew_metrics_head(FILE *stream)
{
    fprintf(stream, "solver,step,iteration,seconds,objective,inertia,elastic,residual,relative_error,"
                    "linear_momentum,angular_momentum,gap,position_error,status\n");
}

void sinew_metrics_record(FILE *stream, const char *solver, int64_t step, const sinew_iteration *record,
                          double relative_error, const sinew_step_result *result)
{
    char bits[256];
    fprintf(stream, "%s,%lld,%d,%.17g,%.17g,%.17g,%.17g,%.17g,", solver, (long long)step, record->iteration,
            record->seconds, record->objective, record->inertia, record->elastic, record->residual);
    if (!isnan(relative_error))
        fprintf(stream, "%.17g", relative_error);
    fprintf(stream, ",%.17g,%.17g,", sinew_length(record->linear_momentum), sinew_length(record->angular_momentum));
    if (result && isfinite(result->gap))
        fprintf(stream, "%.17g", result->gap);
    fprintf(stream, ",");
    if (result && isfinite(result->position_error))
        fprintf(stream, "%.17g", result->position_error);
    sinew_bits_text(result ? result->bits : 0, bits, sizeof bits);
    fprintf(stream, ",%s\n", result ? bits : "");
}

void sinew_contact_head(FILE *stream)
{
    fprintf(stream, "step,contacts,began,ended,pairs,dropped,detections,updates,stationarity,violation,yielded,"
                    "yield_depth,complementarity,"
                    "cone_violation,friction_lag,filtered_vertices,filtered_residual,intersections,motion_lag,friction_"
                    "heat,restitution_work,detection_seconds\n");
}

void sinew_contact_record(FILE *stream, int64_t step, const sinew_contact_report *r)
{
    fprintf(
        stream,
        "%lld,%d,%d,%d,%lld,%lld,%d,%d,%.17g,%.17g,%d,%.17g,%.17g,%.17g,%.17g,%d,%.17g,%d,%.17g,%.17g,%.17g,%.17g\n",
        (long long)step, r->contacts, r->began, r->ended, (long long)r->pairs, (long long)r->dropped, r->detections,
        r->updates, r->stationarity, r->violation, r->yielded, r->yield_depth, r->complementarity, r->cone_violation,
        r->friction_lag, r->filtered_vertices, r->filtered_residual, r->intersections, r->motion_lag, r->friction_heat,
        r->restitution_work, r->detection_seconds);
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
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    /* The first iteration record is the initial guess; the result of a failed step holds the values at its start. */
    if ((result && isinf(result->objective)) || (count > 0 && !isfinite(records[0].objective)))
        return "its energy is infinite where it begins, as that of a tet turned inside out in a material that forbids "
               "it (sinew info energies); begin nearer to rest, take another material, or lower time_step";
    return "lower time_step";
}
