/* SPDX-License-Identifier: MIT
 *
 * modes.c: dense eigenproblem of a small body. See modes.h.
 */
#include "modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct eigenproblem {
    int32_t n;              /* number of free coordinates */
    int32_t *of_coordinate; /* [3 * vertex_count] index of each free coordinate; -1: pinned */
    /* [n * n] stiffness and mass matrix; k is overwritten by its lower Cholesky factor. */
    double *k, *m;
    double *modes; /* [count * n] vibration modes found so far */
} eigenproblem;

enum {
    SWEEPS = 200
};

/* ---- Stiffness and mass matrices -------------------------------------------------------------- */

static bool forces_at(sinew_world *world, int32_t count, const sinew_real *q, sinew_real *f)
{
    return sinew_world_set_positions(world, 0, count, q) == SINEW_OK &&
           sinew_world_field(world, SINEW_FIELD_FORCE, 0, count, f, NULL) == SINEW_OK;
}

/* Computes the stiffness matrix, column by column from differences of forces, symmetrised. */
static bool fill_stiffness(eigenproblem *e, sinew_world *world, int32_t vertices, double length)
{
    const size_t size = 3 * (size_t)vertices;
    const sinew_real d = (sinew_real)((sizeof(sinew_real) == 4 ? 1e-3 : 1e-6) * length);
    sinew_real *q = malloc(3 * size * sizeof *q), *up = q + size, *down = up + size;
    bool good = q != NULL;
    if (good)
        sinew_world_get_positions(world, 0, vertices, q);
    for (size_t i = 0; good && i < size; i++) {
        const int32_t column = e->of_coordinate[i];
        if (column < 0)
            continue;
        const sinew_real before = q[i];
        q[i] = before + d;
        good = forces_at(world, vertices, q, up);
        q[i] = before - d;
        good = good && forces_at(world, vertices, q, down);
        q[i] = before;
        for (size_t j = 0; good && j < size; j++)
            if (e->of_coordinate[j] >= 0) {
                const double entry = -((double)up[j] - (double)down[j]) / (4 * (double)d);
                e->k[(size_t)e->of_coordinate[j] * (size_t)e->n + (size_t)column] += entry;
                e->k[(size_t)column * (size_t)e->n + (size_t)e->of_coordinate[j]] += entry;
            }
    }
    good = good && sinew_world_set_positions(world, 0, vertices, q) == SINEW_OK;
    free(q);
    return good;
}

static void fill_masses(eigenproblem *e, const sinew_mesh *mesh, double density, bool consistent)
{
    const int32_t *t = sinew_mesh_tets(mesh);
    for (int32_t k = 0; k < sinew_mesh_tet_count(mesh); k++, t += 4) {
        const double mass = density * fabs(tet_volume(sinew_mesh_positions(mesh), t));
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int c = 0; c < 3; c++) {
                    const int32_t i = e->of_coordinate[3 * t[a] + c], j = e->of_coordinate[3 * t[b] + c];
                    const double factor = consistent ? (a == b ? 0.1 : 0.05) : a == b ? 0.25 : 0;
                    if (i >= 0 && j >= 0)
                        e->m[(size_t)i * (size_t)e->n + (size_t)j] += mass * factor;
                }
    }
}

/* ---- Vibration modes -------------------------------------------------------------------------- */

/* Cholesky factorisation K = L L^T of the stiffness matrix, in place; returns false if K is not positive definite. */
static bool modes_factorise(double *k, int32_t n)
{
    for (int32_t j = 0; j < n; j++) {
        double *row = k + (size_t)j * (size_t)n;
        for (int32_t i = 0; i <= j; i++) {
            const double *other = k + (size_t)i * (size_t)n;
            double sum = row[i];
            for (int32_t l = 0; l < i; l++)
                sum -= row[l] * other[l];
            if (i == j && !(sum > 0))
                return false;
            row[i] = i == j ? sqrt(sum) : sum / other[i];
        }
    }
    return true;
}

static void modes_solve(const double *k, int32_t n, double *x)
{
    for (int32_t i = 0; i < n; i++) {
        for (int32_t l = 0; l < i; l++)
            x[i] -= k[(size_t)i * (size_t)n + (size_t)l] * x[l];
        x[i] /= k[(size_t)i * (size_t)n + (size_t)i];
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        x[i] /= k[(size_t)i * (size_t)n + (size_t)i];
        for (int32_t l = 0; l < i; l++)
            x[l] -= k[(size_t)i * (size_t)n + (size_t)l] * x[i];
    }
}

static void modes_weigh(const eigenproblem *e, const double *x, double *y)
{
    for (int32_t i = 0; i < e->n; i++) {
        y[i] = 0;
        for (int32_t j = 0; j < e->n; j++)
            y[i] += e->m[(size_t)i * (size_t)e->n + (size_t)j] * x[j];
    }
}

static double modes_dot(const double *x, const double *y, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Computes the frequency of mode `which` by inverse iteration, M-orthogonal to all earlier modes; mx is work space for
 * M x. */
static double next_mode(const eigenproblem *e, int32_t which, double *mx)
{
    double *x = e->modes + (size_t)which * (size_t)e->n, square = 0;
    for (int32_t i = 0; i < e->n; i++)
        x[i] = cos(1.7 * (which + 1) * (i + 1));
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        modes_weigh(e, x, mx);
        for (int32_t k = 0; k < which; k++) {
            const double *found = e->modes + (size_t)k * (size_t)e->n, along = modes_dot(found, mx, e->n);
            for (int32_t i = 0; i < e->n; i++)
                x[i] -= along * found[i];
        }
        modes_weigh(e, x, mx);
        const double norm = sqrt(modes_dot(x, mx, e->n));
        for (int32_t i = 0; i < e->n; i++) {
            x[i] /= norm;
            mx[i] /= norm;
        }
        if (sweep == SWEEPS - 1)
            break;
        /* For a vibration mode x, x^T M K^-1 M x is 1 / omega^2. */
        memcpy(x, mx, (size_t)e->n * sizeof *x);
        modes_solve(e->k, e->n, x);
        square = 1 / modes_dot(x, mx, e->n);
    }
    return sqrt(square);
}

bool modes_find(sinew_world *world, const sinew_mesh *mesh, const uint8_t *free_vertices, double density,
                bool consistent, int32_t count, double *omega)
{
    const int32_t vertices = sinew_mesh_vertex_count(mesh);
    eigenproblem e = {.of_coordinate = malloc(3 * (size_t)vertices * sizeof(int32_t))};
    for (int32_t i = 0; e.of_coordinate && i < 3 * vertices; i++)
        e.of_coordinate[i] = free_vertices[i / 3] ? e.n++ : -1;
    const size_t n = (size_t)e.n;
    e.k = calloc(n * n, sizeof *e.k);
    e.m = calloc(n * n, sizeof *e.m);
    e.modes = calloc(((size_t)count + 1) * n, sizeof *e.modes);
    bool good = e.of_coordinate && e.k && e.m && e.modes && fill_stiffness(&e, world, vertices, 1);
    if (good) {
        fill_masses(&e, mesh, density, consistent);
        good = modes_factorise(e.k, e.n);
    }
    for (int32_t k = 0; good && k < count; k++)
        omega[k] = next_mode(&e, k, e.modes + (size_t)count * n);
    free(e.of_coordinate);
    free(e.k);
    free(e.m);
    free(e.modes);
    return good;
}
