/* SPDX-License-Identifier: MIT
 *
 * sample.h: the 64 samples of one tet, and the number of surface crossings between them.
 */
#ifndef SINEW_SRC_TETFILL_SAMPLE_H
#define SINEW_SRC_TETFILL_SAMPLE_H

#include "tetfill/fill.h"

typedef struct fill_trace {
    double x[FILL_SAMPLES + 4][3]; /* positions of the samples, then of the tet's corners, in m */
    int32_t sum[FILL_LINKS + 4];   /* sum of the signs of the surface crossings of each link */
    int32_t count[FILL_LINKS + 4]; /* number of crossings of each link with the surface */
    /* change of the winding number from the tet's first corner to each sample and corner */
    int32_t C[FILL_SAMPLES + 4];
    double w[FILL_SAMPLES]; /* winding number of the surface at each sample */
} fill_trace;

/* Work space of one thread that samples tets. */
typedef struct fill_scratch {
    fill *f;
    int32_t *patch;   /* [largest number of triangles of a tet] patch of each triangle (union-find) */
    uint64_t *bounds; /* [largest number of triangles of a tet] bit set of the components that each patch bounds */
    int64_t capped;   /* number of tets with more components or triangles than are separated */
    double max;       /* largest absolute winding number of a sample found by this thread */
} fill_scratch;

/* Sets x, sum, count and C of the trace: sample positions of the tet, and crossings of their links with the
 * triangles near [count]. */
void sinew_fill_trace(const fill_surface *surface, const fill_pattern *pattern, const double tet[4][3],
                      const int32_t *near, int64_t count, fill_trace *trace);
/* Computes the samples of tet number t of fill_tets with their winding numbers; returns the bit set of samples
 * inside. */
uint64_t sinew_fill_sample_tet(const fill *f, int64_t t, fill_trace *trace);
/* Six times the signed volume of the tet of triangle t and point p: positive in front of the triangle
 * (segment_triangle.c). */
double sinew_fill_height(const fill_surface *surface, int32_t t, const double p[3]);

#endif
