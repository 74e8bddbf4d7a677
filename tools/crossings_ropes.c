/* SPDX-License-Identifier: MIT
 *
 * crossings_ropes.c: ropes that have passed through ropes between two frames. No single frame shows such a passage, but
 * Gauss's linking integral does:
 *
 *     G = 1/(4 pi) sum_ij Omega_ij,   Omega_ij the solid angle of directions from which two segments appear crossed
 *
 * G changes continuously while ropes move, and by 1 when two strands pass through each other, in one rope or two. Omega
 * is that of Klenin and Langowski, 2000, method 1a. A change by more than a half from one frame to the next counts.
 * Limits: strands that move by more than their length in one frame are missed, and so are two passages that cancel. A
 * coil that unwinds by half a turn in one frame counts as a passage. The time grows with the square of the edges.
 */
#include "crossings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unit normal of the plane of two vectors; false: the vectors are parallel. */
static bool unit_normal(const double a[3], const double b[3], double n[3])
{
    double square = 0;
    for (int c = 0; c < 3; c++) {
        n[c] = a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3];
        square += n[c] * n[c];
    }
    for (int c = 0; c < 3 && square > 0; c++)
        n[c] /= sqrt(square);
    return square > 0;
}

static double angle_between(const double a[3], const double b[3])
{
    const double product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    return asin(fmin(1, fmax(-1, product)));
}

/* Omega / (4 pi) of the segments p and q. */
static double linking(const double *const p[2], const double *const q[2])
{
    double r[4][3], n[4][3];
    for (int c = 0; c < 3; c++) {
        r[0][c] = q[0][c] - p[0][c];
        r[1][c] = q[1][c] - p[0][c];
        r[2][c] = q[1][c] - p[1][c];
        r[3][c] = q[0][c] - p[1][c];
    }
    for (int i = 0; i < 4; i++)
        if (!unit_normal(r[i], r[(i + 1) % 4], n[i]))
            return 0;
    double sum = 0;
    for (int i = 0; i < 4; i++)
        sum += angle_between(n[i], n[(i + 1) % 4]);
    return orient(p[0], p[1], q[0], q[1]) * fabs(sum) / (4 * acos(-1.0));
}

static int number_of_component(rope_links *links, int component)
{
    for (int i = 0; i < links->component_count; i++)
        if (links->components[i] == component)
            return i;
    links->components =
        reserve(links->components, &links->component_capacity, links->component_count + 1, sizeof *links->components);
    links->components[links->component_count] = component;
    return links->component_count++;
}

static void add_links(const frame *f, int count, const int *edges, const int *number, int components, double *now)
{
    const mesh *m = f->m;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            const int *a = m->primitives[edges[i]].v, *b = m->primitives[edges[j]].v;
            if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1])
                continue;
            const double *p[2] = {m->x + 3 * (size_t)a[0], m->x + 3 * (size_t)a[1]};
            const double *q[2] = {m->x + 3 * (size_t)b[0], m->x + 3 * (size_t)b[1]};
            now[number[i] * components + number[j]] += linking(p, q);
        }
}

/* Lists the edges of ropes and the number of the component of each in links->edges and links->numbers. Returns the number
 * of edges. */
static int list_edges(const frame *f, rope_links *links)
{
    int count = 0;
    links->component_count = 0;
    for (int p = 0; p < f->m->primitive_count; p++)
        if (f->m->primitives[p].v[2] < 0 && f->m->primitives[p].collider < 0) {
            links->edges = reserve(links->edges, &links->edge_capacity, count + 1, sizeof *links->edges);
            links->numbers = reserve(links->numbers, &links->number_capacity, count + 1, sizeof *links->numbers);
            links->edges[count] = p;
            links->numbers[count++] = number_of_component(links, f->t->component[f->m->primitives[p].v[0]]);
        }
    return count;
}

void links_free(rope_links *links)
{
    free(links->components);
    free(links->before);
    free(links->edges);
    free(links->numbers);
    *links = (rope_links){0};
}

void judge_links(frame *f, rope_links *links)
{
    const int count = list_edges(f, links);
    const size_t entries = (size_t)links->component_count * (size_t)links->component_count;
    double *now = calloc(entries + 1, sizeof *now);
    if (!now)
        give_up("out of memory");
    add_links(f, count, links->edges, links->numbers, links->component_count, now);
    /* Tearing changes the components of ropes, so frames before and after it are not compared. */
    const bool same =
        links->before && links->primitives_before == f->m->primitive_count && links->before_entries == entries;
    for (size_t i = 0; i < entries && same; i++)
        f->v->passed += lround(fabs(now[i] - links->before[i]));
    free(links->before);
    links->before = now;
    links->before_entries = entries;
    links->primitives_before = f->m->primitive_count;
}
