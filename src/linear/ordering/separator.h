/* SPDX-License-Identifier: MIT
 *
 * separator.h: a weighted graph with a vertex separator between two sides, and moves that make the separator
 * lighter.
 */
#ifndef SINEW_SRC_LINEAR_ORDERING_SEPARATOR_H
#define SINEW_SRC_LINEAR_ORDERING_SEPARATOR_H

#include "base/base.h"

enum {
    SINEW_BETWEEN = 2 /* value of `side` for vertices of the separator */
};

/* A graph whose vertices each stand for one or more rows of a matrix. */
typedef struct sinew_weighted {
    int32_t count, total; /* number of vertices; sum of all vertex weights */
    size_t *first;        /* [count + 1] index of each vertex's first edge in other and edge */
    int32_t *other;       /* [first[count]] vertex at the other end of each edge */
    int32_t *edge;        /* [first[count]] number of matrix entries that each edge stands for */
    int32_t *weight;      /* [count] number of matrix rows of each vertex; balances the sides */
    int32_t *price;       /* [count] cost of each vertex if it is in the separator */
    int32_t *coarse;      /* [count] vertex of the next coarser graph that contains each vertex */
    double *point;        /* [count][3] mean position of the matrix rows of each vertex, m */
    uint8_t *side;        /* [count] side of each vertex: 0, 1 or SINEW_BETWEEN (in the separator) */
} sinew_weighted;

/* Work space for the refinement of a separator, for graphs of up to `count` vertices of sinew_separator_create(). */
typedef struct sinew_separator {
    sinew_weighted *graph;     /* graph whose separator is refined; borrowed */
    int32_t size[3];           /* total weight of side 0, of side 1 and of the separator */
    int64_t price;             /* sum of the prices of the separator's vertices */
    int32_t limit;             /* largest total weight that a side may have */
    uint8_t *locked;           /* [count] 1: the vertex has left the separator in this pass */
    int32_t heap_count, *heap; /* [2 count] moves (vertex << 1 | side), the best on top */
    int32_t *heap_index;       /* [2 count] index of each move in the heap, -1: not in the heap */
    int32_t *gain; /* [2 count] decrease of the separator's price by each move, negative if the price grows */
    /* number of entries of the undo log of this pass; [4 count] its entries: vertex << 2 | previous side */
    int32_t log_count, *log;
} sinew_separator;

bool sinew_separator_create(const sinew_allocator *allocator, sinew_separator *s, size_t count);
void sinew_separator_destroy(const sinew_allocator *allocator, sinew_separator *s);

/* Creates a separator between the sides 0 and 1: the vertices of one side that have a neighbour on the other. The side
 * whose separator has the lower price is taken. */
void sinew_separator_between(sinew_separator *s, sinew_weighted *graph);
/* Makes the separator lighter by moving vertices in and out of it. The sides of the graph are input and output. */
void sinew_separator_refine(sinew_separator *s, sinew_weighted *graph);
/* Measures weights and price of the graph's current sides without changing them; returns the cost. */
double sinew_separator_measure(sinew_separator *s, sinew_weighted *graph);
/* Cost for comparing separators of one graph: price (1 + imbalance of the sides' weights); HUGE_VAL if a side is
 * empty. */
double sinew_separator_cost(const sinew_separator *s);

#endif
