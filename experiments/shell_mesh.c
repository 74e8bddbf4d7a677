/* SPDX-License-Identifier: MIT
 *
 * shell_mesh.c: closed surfaces of triangles. See shell_mesh.h.
 */
#include "shell_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

void shell_free(shell *s)
{
    free(s->points);
    free(s->triangles);
    *s = (shell){0};
}

static bool shell_capacity(shell *s, int32_t vertices, int32_t triangles)
{
    s->points = calloc(3 * (size_t)vertices, sizeof *s->points);
    s->triangles = calloc(3 * (size_t)triangles, sizeof *s->triangles);
    if (!s->points || !s->triangles)
        shell_free(s);
    return s->points != NULL;
}

static void add_point(shell *s, double x, double y, double z)
{
    const double at[3] = {x, y, z};
    for (int c = 0; c < 3; c++)
        s->points[3 * s->vertex_count + c] = (sinew_real)at[c];
    s->vertex_count++;
}

static void shell_mesh_add_triangle(shell *s, int32_t a, int32_t b, int32_t c)
{
    const int32_t corners[3] = {a, b, c};
    memcpy(s->triangles + 3 * (size_t)s->triangle_count++, corners, sizeof corners);
}

int32_t shell_disc_vertex(int32_t meridians, int32_t rings, int32_t side, int32_t j, int32_t i)
{
    i %= meridians;
    if (j == 0)
        return side;
    return 2 + (j == rings ? 2 * (rings - 1) : 2 * (j - 1) + side) * meridians + i;
}

/* Creates two flat discs of radius 1, joined at the rim, normals outwards. */
bool shell_discs(int32_t meridians, int32_t rings, shell *s)
{
    *s = (shell){0};
    if (!shell_capacity(s, 2 + meridians * (2 * rings - 1), 2 * meridians * (2 * rings - 1)))
        return false;
    add_point(s, 0, 0, 0);
    add_point(s, 0, 0, 0);
    for (int32_t j = 1; j <= rings; j++)
        for (int32_t side = 0; side < (j == rings ? 1 : 2); side++)
            for (int32_t i = 0; i < meridians; i++) {
                const double angle = 2 * pi * i / meridians, r = (double)j / rings;
                add_point(s, r * cos(angle), r * sin(angle), 0);
            }
    for (int32_t side = 0; side < 2; side++)
        for (int32_t j = 0; j < rings; j++)
            for (int32_t i = 0; i < meridians; i++) {
                const int32_t a = shell_disc_vertex(meridians, rings, side, j, i);
                const int32_t b = shell_disc_vertex(meridians, rings, side, j + 1, i);
                const int32_t c = shell_disc_vertex(meridians, rings, side, j + 1, i + 1);
                const int32_t d = shell_disc_vertex(meridians, rings, side, j, i + 1);
                shell_mesh_add_triangle(s, a, side ? c : b, side ? b : c);
                if (j > 0)
                    shell_mesh_add_triangle(s, a, side ? d : c, side ? c : d);
            }
    return true;
}

/* Vertex at the middle of an edge, projected onto the unit sphere; both triangles of the edge get the same vertex. */
static int32_t middle(shell *s, int32_t (*known)[3], int32_t *known_count, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;
    for (int32_t i = *known_count - 1; i >= 0; i--)
        if (known[i][0] == low && known[i][1] == high)
            return known[i][2];
    double x[3], length = 0;
    for (int c = 0; c < 3; c++) {
        x[c] = (double)s->points[3 * a + c] + (double)s->points[3 * b + c];
        length += x[c] * x[c];
    }
    length = sqrt(length);
    const int32_t entry[3] = {low, high, s->vertex_count};
    memcpy(known[(*known_count)++], entry, sizeof entry);
    add_point(s, x[0] / length, x[1] / length, x[2] / length);
    return s->vertex_count - 1;
}

/* Splits each triangle of the sphere into four. */
static bool refine(shell *s)
{
    const int32_t edges = s->triangle_count * 3 / 2;
    int32_t(*known)[3] = malloc((size_t)edges * sizeof *known), known_count = 0;
    shell fine = {0};
    const bool good = known && shell_capacity(&fine, s->vertex_count + edges, 4 * s->triangle_count);
    if (good) {
        memcpy(fine.points, s->points, 3 * (size_t)s->vertex_count * sizeof *s->points);
        fine.vertex_count = s->vertex_count;
        for (int32_t t = 0; t < s->triangle_count; t++) {
            const int32_t *v = s->triangles + 3 * (size_t)t;
            int32_t m[3];
            for (int k = 0; k < 3; k++)
                m[k] = middle(&fine, known, &known_count, v[k], v[(k + 1) % 3]);
            for (int k = 0; k < 3; k++)
                shell_mesh_add_triangle(&fine, v[k], m[k], m[(k + 2) % 3]);
            shell_mesh_add_triangle(&fine, m[0], m[1], m[2]);
        }
        shell_free(s);
        *s = fine;
    }
    free(known);
    return good;
}

/* Creates the unit sphere: a refined icosahedron. */
bool shell_sphere(int32_t level, shell *s)
{
    static const int8_t faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                        {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                        {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                        {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double t = (1 + sqrt(5)) / 2, n = sqrt(1 + t * t), u = 1 / n, w = t / n;
    *s = (shell){0};
    bool good = shell_capacity(s, 12, 20);
    for (int k = 0; good && k < 3; k++)
        for (int i = 0; i < 4; i++) {
            const double a = (i % 2 ? 1 : -1) * u, b = (i < 2 ? 1 : -1) * w;
            add_point(s, k == 0 ? a : k == 1 ? 0 : b, k == 0 ? b : k == 1 ? a : 0, k == 0 ? 0 : k == 1 ? b : a);
        }
    for (int f = 0; good && f < 20; f++)
        shell_mesh_add_triangle(s, faces[f][0], faces[f][1], faces[f][2]);
    for (int32_t i = 0; good && i < level; i++)
        good = refine(s);
    return good;
}

double shell_volume(const shell *s, const sinew_real *q)
{
    double sum = 0;
    for (int32_t t = 0; t < s->triangle_count; t++) {
        const sinew_real *x[3];
        for (int k = 0; k < 3; k++)
            x[k] = q + 3 * (size_t)s->triangles[3 * t + k];
        for (int c = 0; c < 3; c++) {
            const int a = (c + 1) % 3, b = (c + 2) % 3;
            sum += (double)x[0][c] * ((double)x[1][a] * (double)x[2][b] - (double)x[1][b] * (double)x[2][a]);
        }
    }
    return sum / 6;
}
