/* SPDX-License-Identifier: MIT
 *
 * bending_meshes.h: surfaces of test_bending.c: a flat periodic mesh and a sphere, with their cells.
 */
#ifndef SINEW_BENDING_MESHES_H
#define SINEW_BENDING_MESHES_H

#include "make_world.h"
#include "random_cases.h"

#include "mesh/mesh.h"
#include "mesh/topology/stencil.h"

static inline void cross(const double a[3], const double b[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

typedef struct cells {
    int32_t *vertices, count;
} cells;

static inline cells find(const sinew_mesh *mesh, sinew_stencil stencil, int32_t n)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_error error = {0};
    cells found = {0};
    sinew_get_stencil(stencil)->find(&allocator, mesh, n, &found.vertices, &found.count, &error);
    must(&error);
    return found;
}

static inline void cells_free(cells *c)
{
    const sinew_allocator allocator = sinew_allocator_or_system(NULL);
    sinew_release(&allocator, c->vertices);
}

/* A flat periodic mesh: P x P vertices, repeated three by three times. */
enum {
    PERIOD = 8,
    ACROSS = 3 * PERIOD + 1,
    PATCH = ACROSS * ACROSS
};

typedef struct patch {
    const char *name;
    double skew, height; /* lattice: (1, 0) and (skew, height) */
    bool jack;           /* diagonals alternate from cell to cell */
    double noise;        /* displacement of vertices */
} patch;

static inline sinew_mesh *make_patch(const patch *p, random_cases *r)
{
    static sinew_real x[3 * PATCH];
    static int32_t triangles[3 * 2 * PATCH];
    double shift[PERIOD * PERIOD][2];
    sinew_error error = {0};
    int count = 0;
    for (int i = 0; i < PERIOD * PERIOD; i++)
        for (int c = 0; c < 2; c++)
            shift[i][c] = random_between(r, -p->noise, p->noise);
    for (int v = 0; v < PATCH; v++) {
        const int i = v % ACROSS, j = v / ACROSS, cell = i % PERIOD + PERIOD * (j % PERIOD);
        x[3 * v] = (sinew_real)(i + p->skew * j + shift[cell][0]);
        x[3 * v + 1] = (sinew_real)(p->height * j + shift[cell][1]);
        x[3 * v + 2] = 0;
        if (i + 1 == ACROSS || j + 1 == ACROSS)
            continue;
        const bool falling = p->jack && (i + j) % 2;
        const int a = v, b = v + 1, c = v + ACROSS, d = v + ACROSS + 1;
        const int32_t two[6] = {a, b, falling ? d : c, falling ? a : b, d, c};
        memcpy(triangles + 3 * count, two, sizeof two);
        count += 2;
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = PATCH;
    def.positions = x;
    def.triangle_count = count;
    def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    return mesh;
}

/* An octahedron with faces divided into n x n, projected to the unit sphere. */
static inline sinew_mesh *make_sphere(int n)
{
    static const double corner[6][3] = {{1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    const int rows = 2 * n + 1, total = rows * rows;
    int32_t *number = malloc(sizeof *number * (size_t)(8 * total)), *t = malloc(sizeof *t * (size_t)(24 * n * n));
    sinew_real *x = malloc(sizeof *x * (size_t)(24 * total));
    int count = 0, vertices = 0;
    sinew_error error = {0};
    for (int face = 0; face < 8; face++) {
        const double *A = corner[face % 4], *B = corner[(face + 1) % 4], *C = corner[face < 4 ? 4 : 5];
        for (int i = 0; i <= n; i++)
            for (int j = 0; i + j <= n; j++) {
                double p[3], length;
                for (int c = 0; c < 3; c++)
                    p[c] = (A[c] * (n - i - j) + B[c] * i + C[c] * j) / n;
                length = sqrt(dot(p, p));
                int found = 0;
                for (found = 0; found < vertices; found++) {
                    double off = 0;
                    for (int c = 0; c < 3; c++)
                        off += fabs((double)x[3 * found + c] - p[c] / length);
                    if (off < 1e-4)
                        break;
                }
                for (int c = 0; c < 3; c++)
                    x[3 * found + c] = (sinew_real)(p[c] / length);
                vertices += found == vertices;
                number[face * total + i * rows + j] = found;
            }
        for (int i = 0; i < n; i++)
            for (int j = 0; i + j < n; j++) {
                const int32_t *at = number + face * total + i * rows + j;
                const int32_t two[6] = {at[0], at[rows], at[1], at[rows], at[rows + 1], at[1]};
                const int more = i + j + 2 <= n ? 2 : 1;
                memcpy(t + 3 * count, two, sizeof *two * (size_t)(3 * more));
                count += more;
            }
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = vertices;
    def.positions = x;
    def.triangle_count = count;
    def.triangles = t;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    free(number);
    free(t);
    free(x);
    return mesh;
}

#endif
