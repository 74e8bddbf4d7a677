/* SPDX-License-Identifier: MIT
 *
 * pd_bar.c: an unstructured bar of tets with given numbers of vertices and tets (pd_scenes.h).
 *
 * A lattice becomes irregular in three ways: its vertices move; new vertices in the middle of tets split them (one more
 * vertex, three more tets); and two tets that share a face are flipped to the three around the line between their
 * opposite vertices (one more tet). All volumes stay positive and the mesh stays conforming.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pd_scenes.h"

typedef struct bar {
    int32_t vertex_count, tet_count;
    double *x;     /* [vertex capacity][3] vertex positions of the bar, in m */
    int32_t *tets; /* [tet capacity][4] vertices of the bar's tets */
    uint32_t random;
    double min; /* smallest admissible volume of a tet after a flip, in m3 */
} bar;

/* A face of a tet, its vertices in ascending order. */
typedef struct face {
    int32_t vertex[3], tet;
    int32_t other; /* index of the second tet with this face */
} face;

/* Pseudo-random index in 0 .. count - 1, platform-independent (Park and Miller 1988). */
static int32_t next_index(bar *b, int32_t count)
{
    b->random = (uint32_t)((uint64_t)b->random * 48271u % 2147483647u);
    return (int32_t)(b->random % (uint32_t)count);
}

static double volume(const bar *b, const int32_t t[4])
{
    double e[3][3];
    for (int i = 0; i < 9; i++)
        e[i / 3][i % 3] = b->x[3 * t[1 + i / 3] + i % 3] - b->x[3 * t[0] + i % 3];
    return (e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
            e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* ---- New and moved vertices ------------------------------------------------------------------- */

/* Moves each vertex of the bar at random by up to a quarter of a cell; surface vertices move within the surface. */
static void move_vertices(bar *b, const double half[3], const int32_t cells[3])
{
    for (int32_t i = 0; i < 3 * b->vertex_count; i++) {
        const double random = 2.0 * next_index(b, 1000001) / 1000000 - 1, cell = 2 * half[i % 3] / cells[i % 3];
        if (fabs(b->x[i]) < half[i % 3] - 1e-6)
            b->x[i] += 0.25 * cell * random;
    }
}

/* Puts a new vertex into the middle of a tet, which becomes four tets. */
static void split_tet(bar *b, int32_t tet)
{
    const int32_t middle = b->vertex_count++;
    int32_t whole[4];
    memcpy(whole, b->tets + 4 * tet, sizeof whole);
    for (int c = 0; c < 3; c++)
        b->x[3 * middle + c] =
            (b->x[3 * whole[0] + c] + b->x[3 * whole[1] + c] + b->x[3 * whole[2] + c] + b->x[3 * whole[3] + c]) / 4;
    for (int k = 0; k < 4; k++) {
        int32_t *child = b->tets + 4 * (k == 0 ? tet : b->tet_count++);
        memcpy(child, whole, sizeof whole);
        child[k] = middle;
    }
}

/* ---- Flips of two tets to three --------------------------------------------------------------- */

static int pd_bar_by_vertices(const void *a, const void *b)
{
    const face *x = a, *y = b;
    for (int i = 0; i < 3; i++)
        if (x->vertex[i] != y->vertex[i])
            return x->vertex[i] < y->vertex[i] ? -1 : 1;
    return (x->tet > y->tet) - (x->tet < y->tet);
}

static void pd_bar_sort_three(int32_t v[3])
{
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (v[k] < v[i]) {
                const int32_t kept = v[i];
                v[i] = v[k];
                v[k] = kept;
            }
}

/* Lists the faces that two tets share, one entry per pair, in a random order. Returns the number of faces. */
static int32_t shared_faces(bar *b, face *faces)
{
    for (int32_t i = 0; i < 4 * b->tet_count; i++) {
        faces[i].tet = i / 4;
        for (int k = 0, at = 0; k < 4; k++)
            if (k != i % 4)
                faces[i].vertex[at++] = b->tets[i / 4 * 4 + k];
        pd_bar_sort_three(faces[i].vertex);
    }
    qsort(faces, 4 * (size_t)b->tet_count, sizeof *faces, pd_bar_by_vertices);
    int32_t count = 0;
    for (int32_t i = 0; i + 1 < 4 * b->tet_count; i++)
        if (memcmp(faces[i].vertex, faces[i + 1].vertex, sizeof faces[i].vertex) == 0)
            faces[count++] =
                (face){{faces[i].vertex[0], faces[i].vertex[1], faces[i].vertex[2]}, faces[i].tet, faces[i + 1].tet};
    for (int32_t i = count - 1; i > 0; i--) {
        const int32_t other = next_index(b, i + 1);
        const face kept = faces[i];
        faces[i] = faces[other];
        faces[other] = kept;
    }
    return count;
}

static int32_t opposite(const bar *b, int32_t tet, const int32_t f[3])
{
    const int32_t *t = b->tets + 4 * tet;
    int32_t sum = t[0] + t[1] + t[2] + t[3];
    return sum - f[0] - f[1] - f[2];
}

/* 2-3 flip: replaces two tets by three. Returns false, without a change, if a new tet would be too small. */
static bool exchange(bar *b, const face *f, int32_t other)
{
    const int32_t top = opposite(b, f->tet, f->vertex), bottom = opposite(b, other, f->vertex);
    int32_t three[3][4];
    int sign = 0;
    for (int k = 0; k < 3; k++) {
        const int32_t own[4] = {f->vertex[k], f->vertex[(k + 1) % 3], top, bottom};
        memcpy(three[k], own, sizeof own);
        const double size = volume(b, own);
        if (fabs(size) < b->min || (k > 0 && (size > 0) != (sign > 0)))
            return false;
        sign = size > 0 ? 1 : -1;
    }
    for (int k = 0; k < 3; k++) {
        int32_t *child = b->tets + 4 * (k == 0 ? f->tet : k == 1 ? other : b->tet_count++);
        memcpy(child, three[k], sizeof three[k]);
        if (sign < 0) {
            child[0] = three[k][1];
            child[1] = three[k][0];
        }
    }
    return true;
}

/* Flips tets until the bar has `wanted` tets; returns false if no further flip is possible. */
static bool exchange_tets(bar *b, int32_t wanted, face *faces, uint8_t *used)
{
    for (int pass = 0; pass < 50 && b->tet_count < wanted; pass++) {
        const int32_t before = b->tet_count, count = shared_faces(b, faces);
        memset(used, 0, (size_t)wanted + 1);
        for (int32_t i = 0; i < count && b->tet_count < wanted; i++) {
            const int32_t other = faces[i].other;
            if (used[faces[i].tet] || used[other] || !exchange(b, &faces[i], other))
                continue;
            used[faces[i].tet] = used[other] = used[b->tet_count - 1] = 1;
        }
        if (b->tet_count == before)
            return false;
    }
    return b->tet_count == wanted;
}

/* ---- The irregular bar ------------------------------------------------------------------------ */

static bool make_irregular(bar *b, const double half[3], const int32_t cells[3], int32_t vertices, int32_t tets)
{
    face *faces = malloc(4 * (size_t)tets * sizeof *faces);
    uint8_t *used = calloc((size_t)tets + 1, 1);
    bool good = faces && used;
    move_vertices(b, half, cells);
    b->min = 8 * half[0] * half[1] * half[2] / tets * 0.08;
    while (good && b->vertex_count < vertices)
        split_tet(b, next_index(b, b->tet_count));
    good = good && exchange_tets(b, tets, faces, used);
    free(faces);
    free(used);
    return good;
}

static sinew_mesh *mesh_of(const bar *b, sinew_error *error)
{
    sinew_mesh_def def = sinew_default_mesh_def();
    sinew_real *x = malloc(3 * (size_t)b->vertex_count * sizeof *x);
    for (int32_t i = 0; x && i < 3 * b->vertex_count; i++)
        x[i] = (sinew_real)b->x[i];
    def.positions = x;
    def.vertex_count = b->vertex_count;
    def.tets = b->tets;
    def.tet_count = b->tet_count;
    sinew_mesh *mesh = x ? sinew_mesh_create(&def, error) : NULL;
    free(x);
    return mesh;
}

sinew_mesh *pd_bar_mesh(bool large, bool quick, sinew_error *error)
{
    const int32_t cells[3] = {quick ? 12 : large ? 78 : 88, large ? 4 : 3, large ? 5 : 3};
    const double half[3] = {(quick ? 0.5 : large ? 2 : 3) / 2.0, (large ? 0.2 : 0.25) / 2, 0.125};
    sinew_beam_def def = sinew_default_beam_def();
    for (int c = 0; c < 3; c++) {
        def.cells[c] = cells[c];
        def.size[c] = (sinew_real)(2 * half[c]);
    }
    sinew_mesh *lattice = sinew_mesh_beam(&def, error), *mesh = NULL;
    if (!lattice)
        return NULL;
    bar b = {.vertex_count = sinew_mesh_vertex_count(lattice), .tet_count = sinew_mesh_tet_count(lattice), .random = 7};
    const int32_t vertices = quick   ? b.vertex_count + 3
                             : large ? 2387
                                     : 1430,
                  tets = quick   ? b.tet_count + 20
                         : large ? 8406
                                 : 4099;
    b.x = malloc(3 * (size_t)vertices * sizeof *b.x);
    b.tets = malloc(4 * (size_t)tets * sizeof *b.tets);
    if (b.x && b.tets) {
        for (int32_t i = 0; i < 3 * b.vertex_count; i++)
            b.x[i] = (double)sinew_mesh_positions(lattice)[i];
        memcpy(b.tets, sinew_mesh_tets(lattice), 4 * (size_t)b.tet_count * sizeof *b.tets);
        mesh = make_irregular(&b, half, cells, vertices, tets) ? mesh_of(&b, error) : NULL;
    }
    free(b.x);
    free(b.tets);
    sinew_mesh_destroy(lattice);
    return mesh;
}
