/* SPDX-License-Identifier: MIT
 *
 * separator.h: a weighted graph cut into two sides by a set of its vertices, and the moves that make this set lighter.
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_SEPARATOR_H
#define SINEW_SRC_LINEAR_ORDERING_SEPARATOR_H

#include "base/base.h"

enum {
    SINEW_BETWEEN = 2 /* the side of the separator's vertices */
};

/* A graph whose vertices stand for one or more rows of a matrix. */
typedef struct sinew_weighted {
    int32_t count, total; /* vertices; sum of their weights */
    size_t *first;        /* [count + 1] into other and edge */
    int32_t *other;       /* neighbours of each vertex */
    int32_t *edge;        /* how many edges of the matrix each one stands for */
    int32_t *weight;      /* [count] rows of each vertex: what the sides are balanced by */
    int32_t *price;       /* [count] what a vertex costs in the separator */
    int32_t *coarse;      /* [count] the vertex of the next coarser graph that it is part of */
    double *point;        /* [count][3] mean place of its rows, m */
    uint8_t *side;        /* [count] 0, 1 or SINEW_BETWEEN */
} sinew_weighted;

/* Work space for graphs of up to so many vertices as it was made for. */
typedef struct sinew_separator {
    sinew_weighted *graph;     /* at work */
    int32_t size[3];           /* weight of each side */
    int64_t price;             /* of the separator */
    int32_t limit;             /* most weight that a side may have */
    uint8_t *locked;           /* [count] moved in this pass */
    int32_t heap_count, *heap; /* [2 count] moves (vertex << 1 | side), the best on top */
    int32_t *place;            /* [2 count] of a move in the heap, -1: not in it */
    int32_t *gain;             /* [2 count] weight that a move takes out of the separator, net */
    int32_t log_count, *log;   /* [4 count] vertex << 2 | side before, of each change in this pass */
} sinew_separator;

bool sinew_separator_create(const sinew_allocator *allocator, sinew_separator *s, size_t count);
void sinew_separator_destroy(const sinew_allocator *allocator, sinew_separator *s);

/* Makes a separator of the vertices at the border of two sides (0, 1) that has none yet. */
void sinew_separator_between(sinew_separator *s, sinew_weighted *graph);
/* Makes the separator that the sides of the graph describe lighter. */
void sinew_separator_refine(sinew_separator *s, sinew_weighted *graph);
/* Takes the sides as they are; returns the cost. */
double sinew_separator_measure(sinew_separator *s, sinew_weighted *graph);
/* To compare separators of one graph: the price, more where the sides differ; HUGE_VAL when a side is empty. */
double sinew_separator_cost(const sinew_separator *s);

#endif
