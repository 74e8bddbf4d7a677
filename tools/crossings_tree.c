/* SPDX-License-Identifier: MIT
 *
 * crossings_tree.c: finds the relevant pairs of primitives by a BVH, rebuilt for each frame.
 *
 * The search skips two nodes only if their boxes are farther apart than every distance that could still change the
 * result, so the report equals that of all pairs (`--brute` tests all pairs, and a test compares the reports).
 */
#include "crossings.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEAF = 4
};

typedef struct box {
    double low[3], high[3];
} box;

typedef struct node {
    box b;
    int first, count; /* range of `order` */
    int left, right;  /* -1: a leaf */
    int component;    /* component of all its body primitives; -1: several, -2: it has no body primitives */
    bool colliders;   /* the node has primitives of colliders */
} node;

typedef struct tree {
    frame *f;
    box *boxes; /* [primitive_count] */
    int *order; /* [primitive_count] primitives, sorted by node */
    node *nodes;
    int node_count;
} tree;

static box box_of_primitive(const mesh *m, const primitive *p)
{
    box b;
    for (int c = 0; c < 3; c++) {
        b.low[c] = INFINITY;
        b.high[c] = -INFINITY;
        for (int i = 0; i < 3 && p->v[i] >= 0; i++) {
            const double x = m->x[3 * (size_t)p->v[i] + (size_t)c];
            b.low[c] = x < b.low[c] ? x : b.low[c];
            b.high[c] = x > b.high[c] ? x : b.high[c];
        }
    }
    return b;
}

static double gap(const box *a, const box *b)
{
    double square = 0;
    for (int c = 0; c < 3; c++) {
        const double away = fmax(0, fmax(a->low[c] - b->high[c], b->low[c] - a->high[c]));
        square += away * away;
    }
    return sqrt(square);
}

static double middle(const tree *t, int primitive_index, int axis)
{
    return t->boxes[primitive_index].low[axis] + t->boxes[primitive_index].high[axis];
}

/* Reorders primitives so that position k holds the k-th one along the axis, with smaller ones before it (Hoare 1961).
 *  */
static void select_middle(const tree *t, int first, int last, int k, int axis)
{
    while (first < last) {
        const double pivot = middle(t, t->order[(first + last) / 2], axis);
        int i = first, j = last;
        while (i <= j) {
            while (middle(t, t->order[i], axis) < pivot)
                i++;
            while (middle(t, t->order[j], axis) > pivot)
                j--;
            if (i <= j) {
                const int swap = t->order[i];
                t->order[i++] = t->order[j];
                t->order[j--] = swap;
            }
        }
        if (k <= j)
            last = j;
        else if (k >= i)
            first = i;
        else
            return;
    }
}

static void describe(const tree *t, node *n)
{
    *n = (node){.first = n->first, .count = n->count, .left = -1, .right = -1, .component = -2};
    for (int c = 0; c < 3; c++) {
        n->b.low[c] = INFINITY;
        n->b.high[c] = -INFINITY;
    }
    for (int i = n->first; i < n->first + n->count; i++) {
        const box *b = &t->boxes[t->order[i]];
        for (int c = 0; c < 3; c++) {
            n->b.low[c] = fmin(n->b.low[c], b->low[c]);
            n->b.high[c] = fmax(n->b.high[c], b->high[c]);
        }
        const primitive *p = &t->f->m->primitives[t->order[i]];
        const int component = t->f->t->component[p->v[0]];
        if (p->collider >= 0)
            n->colliders = true;
        else
            n->component = n->component == -2 || n->component == component ? component : -1;
    }
}

static int build(tree *t, int first, int count)
{
    const int index = t->node_count++;
    node n = {.first = first, .count = count};
    describe(t, &n);
    if (count > LEAF) {
        int axis = 0;
        for (int c = 1; c < 3; c++)
            if (n.b.high[c] - n.b.low[c] > n.b.high[axis] - n.b.low[axis])
                axis = c;
        select_middle(t, first, first + count - 1, first + count / 2, axis);
        n.left = build(t, first, count / 2);
        n.right = build(t, first + count / 2, count - count / 2);
    }
    t->nodes[index] = n;
    return index;
}

/* Distance up to which primitives of two nodes are relevant; negative: no pair of them is. */
static double reach(const tree *t, const node *a, const node *b)
{
    double far = -1;
    const bool bodies = a->component != -2 && b->component != -2, mixed = a->component == -1 || b->component == -1;
    if (bodies && (mixed || a->component == b->component))
        far = fmax(far, search_radius_of(t->f, WITHIN));
    if (bodies && (mixed || a->component != b->component))
        far = fmax(far, search_radius_of(t->f, BETWEEN));
    if ((a->colliders && b->component != -2) || (b->colliders && a->component != -2))
        far = fmax(far, search_radius_of(t->f, AGAINST));
    /* Compensates the round-off of distances. */
    return far * (1 + 1e-12);
}

static void meet(tree *t, int a, int b)
{
    const double apart = gap(&t->boxes[a], &t->boxes[b]);
    const mesh *m = t->f->m;
    if (m->primitives[a].collider >= 0 && m->primitives[b].collider >= 0)
        return;
    if (apart <= search_radius_of(t->f, relation_of(t->f, a, b)) * (1 + 1e-12))
        judge_pair(t->f, a, b, apart == 0);
}

static void visit(tree *t, int a, int b);

/* Nearer children are visited first, because their distances exclude other nodes. */
static void visit_children(tree *t, int a, int b)
{
    const node *n = &t->nodes[a], *other = &t->nodes[b];
    const bool right_first = gap(&t->nodes[n->right].b, &other->b) < gap(&t->nodes[n->left].b, &other->b);
    visit(t, right_first ? n->right : n->left, b);
    visit(t, right_first ? n->left : n->right, b);
}

static void visit(tree *t, int a, int b)
{
    const node *n = &t->nodes[a], *other = &t->nodes[b];
    if (gap(&n->b, &other->b) > reach(t, n, other))
        return;
    if (n->left >= 0 && (n->count >= other->count || other->left < 0)) {
        visit_children(t, a, b);
    } else if (other->left >= 0) {
        visit_children(t, b, a);
    } else {
        for (int i = 0; i < n->count; i++)
            for (int j = 0; j < other->count; j++)
                meet(t, t->order[n->first + i], t->order[other->first + j]);
    }
}

static void visit_self(tree *t, int a)
{
    const node *n = &t->nodes[a];
    if (n->left >= 0) {
        visit_self(t, n->left);
        visit_self(t, n->right);
        visit(t, n->left, n->right);
        return;
    }
    for (int i = 0; i < n->count; i++)
        for (int j = i + 1; j < n->count; j++)
            meet(t, t->order[n->first + i], t->order[n->first + j]);
}

void tree_pairs(frame *f)
{
    const int count = f->m->primitive_count;
    tree t = {.f = f};
    int capacities[3] = {0};
    t.boxes = reserve(NULL, &capacities[0], count, sizeof *t.boxes);
    t.order = reserve(NULL, &capacities[1], count, sizeof *t.order);
    t.nodes = reserve(NULL, &capacities[2], 2 * count, sizeof *t.nodes);
    for (int p = 0; p < count; p++) {
        t.boxes[p] = box_of_primitive(f->m, &f->m->primitives[p]);
        t.order[p] = p;
    }
    if (count > 0)
        visit_self(&t, build(&t, 0, count));
    free(t.boxes);
    free(t.order);
    free(t.nodes);
}
