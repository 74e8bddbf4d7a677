/* SPDX-License-Identifier: MIT
 *
 * runs.c: many steps of the beam side by side, and what is read off their iterations.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments.h"

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

double row_objective(const sinew_iteration *row)
{
    return row->objective;
}

double row_inertia(const sinew_iteration *row)
{
    return row->inertia;
}

double row_elastic(const sinew_iteration *row)
{
    return row->elastic;
}

double row_linear(const sinew_iteration *row)
{
    return length3(row->linear_momentum);
}

double row_angular(const sinew_iteration *row)
{
    return length3(row->angular_momentum);
}

bool runs_take(const setting *s, beam_run *runs, int32_t count, const char *note, outcome *o)
{
    int32_t done = 0;
    bool good = true;
#pragma omp parallel for schedule(dynamic, 1)
    for (int32_t i = 0; i < count; i++) {
        bool taken = beam_step(s->beam, &runs[i]);
#pragma omp critical(sinew_experiment_progress)
        {
            if (!taken && good)
                snprintf(o->failure, sizeof o->failure, "%.255s", runs[i].error[0] ? runs[i].error : "out of memory");
            good = good && taken;
            done++;
            if (s->progress)
                s->progress(s->context, done, count, note);
        }
    }
    return good;
}

void runs_release(beam_run *runs, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        beam_run_release(&runs[i]);
}

double runs_lowest(const beam_run *runs, int32_t count)
{
    double lowest = HUGE_VAL;
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < runs[i].row_count; j++)
            if (runs[i].rows[j].objective < lowest)
                lowest = runs[i].rows[j].objective;
    return lowest;
}

double run_error(const beam_run *run, int32_t iteration, double lowest)
{
    double first = beam_objective(run, 0);
    return 100 * (beam_objective(run, iteration) - lowest) / (first - lowest);
}

int32_t run_settled(const beam_run *run, double per_cent, double lowest)
{
    int32_t i = run->row_count;
    while (i > 0 && run_error(run, i - 1, lowest) <= per_cent)
        i--;
    return i < run->row_count ? i : -1;
}

void run_curve(figure *f, const beam_run *run, const char *name, int32_t variant, row_value *value, int32_t most)
{
    int32_t count = most > 0 && most < run->row_count ? most : run->row_count;
    if (!figure_series(f, name, run->solver, variant, count))
        return;
    series *s = &f->series[f->series_count - 1];
    for (int32_t i = 0; i < count; i++) {
        s->x[i] = run->rows[i].iteration;
        s->y[i] = value(&run->rows[i]);
    }
}

/* u - mean of the neighbours' u, over the edges of the mesh, root mean square, against that of u. */
double run_roughness(const beam *b, const beam_run *run)
{
    const int32_t *tets = sinew_mesh_tets(b->mesh), n = b->vertex_count;
    const sinew_real *start = b->twisted[run->neo_hookean];
    double *mean = calloc(4 * (size_t)n, sizeof *mean), rough = 0, size = 0;
    if (!mean || !run->q) {
        free(mean);
        return NAN;
    }
    for (int32_t t = 0; t < 4 * sinew_mesh_tet_count(b->mesh); t++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t i = tets[t], j = tets[t - t % 4 + k];
            if (i == j)
                continue;
            for (int c = 0; c < 3; c++)
                mean[4 * i + c] += (double)run->q[3 * j + c] - (double)start[3 * j + c];
            mean[4 * i + 3] += 1;
        }
    for (int32_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            double u = (double)run->q[3 * i + c] - (double)start[3 * i + c];
            double off = u - mean[4 * i + c] / mean[4 * i + 3];
            rough += off * off;
            size += u * u;
        }
    free(mean);
    return sqrt(rough / size);
}
