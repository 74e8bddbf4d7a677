/* SPDX-License-Identifier: MIT
 *
 * beam_shape.c: measures of a shape of the beam: its twist by section and its volume error. See beam.h.
 *
 * A section is a plane of vertices of equal x at rest. Its angle is that of the rotation about x that takes the rest
 * positions x to the current ones y best: atan2(sum x2 y3 - x3 y2, sum x2 y2 + x3 y3). The rest positions of a section
 * sum up to zero, so a translation of the section does not change its angle. Neighbouring sections are less than half
 * a turn apart, so angles accumulate without ambiguity.
 */
#include <math.h>
#include <stdlib.h>

#include "experiments.h"

#define DEGREE (180 / 3.14159265358979323846)

/* Number of cross sections of the beam. Every section, also each end face, has end_count / 2 vertices. */
int32_t beam_section_count(const beam *b)
{
    return 2 * b->vertex_count / b->end_count;
}

/* Angle in degrees by which one cross section of the beam is rotated, in (-180, 180]. */
static double section_angle(const beam *b, const sinew_real *q, int32_t section)
{
    const sinew_real *rest = sinew_mesh_positions(b->mesh);
    const double first = (double)rest[3 * b->ends[0]], half = fabs(first),
                 spacing = 2 * half / (beam_section_count(b) - 1);
    double sine = 0, cosine = 0;
    for (int32_t i = 0; i < b->vertex_count; i++) {
        const sinew_real *x = rest + 3 * (size_t)i, *y = q + 3 * (size_t)i;
        if (lround(((double)x[0] + half) / spacing) != section)
            continue;
        cosine += (double)x[1] * (double)y[1] + (double)x[2] * (double)y[2];
        sine += (double)x[1] * (double)y[2] - (double)x[2] * (double)y[1];
    }
    return atan2(sine, cosine) * DEGREE;
}

void beam_section_angles(const beam *b, const sinew_real *q, double *angles)
{
    for (int32_t k = 0; k < beam_section_count(b); k++) {
        angles[k] = section_angle(b, q, k);
        if (k > 0)
            angles[k] = angles[k - 1] + remainder(angles[k] - angles[k - 1], 360);
    }
}

double beam_twist(const beam *b, const sinew_real *q)
{
    const int32_t count = beam_section_count(b);
    double *angles = malloc((size_t)count * sizeof *angles), twist = NAN;
    if (q && angles) {
        beam_section_angles(b, q, angles);
        twist = angles[count - 1] - angles[0];
    }
    free(angles);
    return twist;
}

static double square_apart(const sinew_real *x, const sinew_real *y)
{
    double square = 0;
    for (int c = 0; c < 3; c++) {
        const double d = (double)x[c] - (double)y[c];
        square += d * d;
    }
    return square;
}

double beam_missed(const beam *b, const sinew_real *q)
{
    double farthest = 0;
    for (int32_t i = 0; i < b->end_count; i++)
        farthest = fmax(farthest, square_apart(q + 3 * (size_t)b->ends[i], b->anchors + 3 * (size_t)i));
    return sqrt(farthest);
}

double beam_distance(const beam *b, const sinew_real *q, const sinew_real *other)
{
    double farthest = 0;
    for (int32_t i = 0; i < b->vertex_count; i++)
        farthest = fmax(farthest, square_apart(q + 3 * (size_t)i, other + 3 * (size_t)i));
    return sqrt(farthest);
}

double beam_volume_error(const beam *b, const sinew_real *q, int32_t *inverted)
{
    const sinew_real *rest = sinew_mesh_positions(b->mesh);
    const int32_t *tets = sinew_mesh_tets(b->mesh);
    double sum = 0, whole = 0;
    *inverted = 0;
    for (int32_t i = 0; i < sinew_mesh_tet_count(b->mesh); i++) {
        const double before = tet_volume(rest, tets + 4 * (size_t)i), now = tet_volume(q, tets + 4 * (size_t)i);
        const double off = now / before - 1;
        *inverted += now / before <= 0;
        sum += before * off * off;
        whole += before;
    }
    return sqrt(sum / whole);
}
