/* SPDX-License-Identifier: MIT
 *
 * mesh_files.h: helpers of the tests of mesh files: reading files, comparing meshes, and an independent measure of
 * them.
 */
#ifndef SINEW_TEST_MESH_FILES_H
#define SINEW_TEST_MESH_FILES_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sinew/mesh.h"

#define DATA(name)    SINEW_SOURCE_DIR "/tests/data/" name
#define SCRATCH(name) SINEW_TEST_DIR "/" name

static inline char *load(const char *path, size_t *size)
{
    FILE *stream = fopen(path, "rb");
    if (!stream)
        fail_msg("cannot open %s", path);
    char *bytes = malloc(1 << 22);
    assert_non_null(bytes);
    *size = fread(bytes, 1, 1 << 22, stream);
    fclose(stream);
    return bytes;
}

static inline void store(const char *path, const void *bytes, size_t size)
{
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    assert_int_equal(fwrite(bytes, 1, size, stream), size);
    assert_int_equal(fclose(stream), 0);
}

static inline sinew_mesh *must_read(const char *path)
{
    sinew_error error = {0};
    sinew_mesh *mesh = sinew_mesh_read(path, NULL, &error);
    if (!mesh)
        fail_msg("%s", error.text);
    assert_string_equal(error.text, "");
    return mesh;
}

static inline void must_write(const sinew_mesh *mesh, const char *path, sinew_mesh_format format)
{
    sinew_error error = {0};
    if (sinew_mesh_write(mesh, path, format, &error) != SINEW_OK)
        fail_msg("%s", error.text);
}

/* Sum of the signed volumes of the tetrahedra, by the divergence theorem over their faces: x over each face. */
static inline double volume_of(const sinew_mesh *mesh)
{
    static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    const sinew_real *q = sinew_mesh_positions(mesh);
    const int32_t *tets = sinew_mesh_tets(mesh);
    double volume = 0;
    for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++)
        for (int f = 0; f < 4; f++) {
            const sinew_real *p[3];
            for (int k = 0; k < 3; k++)
                p[k] = q + 3 * (size_t)tets[4 * (size_t)t + (size_t)faces[f][k]];
            double area_x = ((double)p[1][1] - p[0][1]) * ((double)p[2][2] - p[0][2]) -
                            ((double)p[1][2] - p[0][2]) * ((double)p[2][1] - p[0][1]);
            volume += area_x / 2 * ((double)p[0][0] + p[1][0] + p[2][0]) / 3;
        }
    return volume;
}

/* Sum of the areas of the triangles, each by Heron's formula in Kahan's stable form. */
static inline double area_of(const sinew_mesh *mesh)
{
    const sinew_real *q = sinew_mesh_positions(mesh);
    const int32_t *triangles = sinew_mesh_triangles(mesh);
    double area = 0;
    for (int32_t t = 0; t < sinew_mesh_triangle_count(mesh); t++) {
        double sides[3];
        for (int k = 0; k < 3; k++) {
            const sinew_real *a = q + 3 * (size_t)triangles[3 * t + k],
                             *b = q + 3 * (size_t)triangles[3 * t + (k + 1) % 3];
            sides[k] = sqrt(pow((double)a[0] - b[0], 2) + pow((double)a[1] - b[1], 2) + pow((double)a[2] - b[2], 2));
        }
        for (int pass = 0; pass < 2; pass++)
            for (int k = 0; k < 2; k++)
                if (sides[k] < sides[k + 1]) {
                    double low = sides[k];
                    sides[k] = sides[k + 1];
                    sides[k + 1] = low;
                }
        double a = sides[0], b = sides[1], c = sides[2];
        double product = (a + (b + c)) * (c - (a - b)) * (c + (a - b)) * (a + (b - c));
        area += product > 0 ? sqrt(product) / 4 : 0;
    }
    return area;
}

static inline void assert_same_cells(const sinew_mesh *a, const sinew_mesh *b)
{
    assert_int_equal(sinew_mesh_vertex_count(a), sinew_mesh_vertex_count(b));
    assert_int_equal(sinew_mesh_tet_count(a), sinew_mesh_tet_count(b));
    assert_int_equal(sinew_mesh_triangle_count(a), sinew_mesh_triangle_count(b));
    assert_int_equal(sinew_mesh_edge_count(a), sinew_mesh_edge_count(b));
    assert_memory_equal(sinew_mesh_tets(a), sinew_mesh_tets(b), 16 * (size_t)sinew_mesh_tet_count(a));
    assert_memory_equal(sinew_mesh_triangles(a), sinew_mesh_triangles(b), 12 * (size_t)sinew_mesh_triangle_count(a));
    assert_memory_equal(sinew_mesh_edges(a), sinew_mesh_edges(b), 8 * (size_t)sinew_mesh_edge_count(a));
}

/* Largest difference of a coordinate. */
static inline double distance_between(const sinew_mesh *a, const sinew_mesh *b)
{
    double largest = 0;
    for (size_t i = 0; i < 3 * (size_t)sinew_mesh_vertex_count(a); i++)
        largest = fmax(largest, fabs((double)sinew_mesh_positions(a)[i] - sinew_mesh_positions(b)[i]));
    return largest;
}

static inline void assert_same_mesh(const sinew_mesh *a, const sinew_mesh *b)
{
    assert_same_cells(a, b);
    assert_memory_equal(sinew_mesh_positions(a), sinew_mesh_positions(b),
                        3 * sizeof(sinew_real) * (size_t)sinew_mesh_vertex_count(a));
}

/* Two tetrahedra, three triangles, two edges and an unused vertex, with coordinates that have no short decimal form. */
static inline sinew_mesh *awkward_mesh(void)
{
    sinew_real positions[3 * 7];
    for (int i = 0; i < 21; i++)
        positions[i] = (sinew_real)(sin(1 + 7 * i) * pow(10, i % 11 - 5));
    positions[0] = (sinew_real)-0.0;
    static const int32_t tets[] = {0, 1, 2, 3, 4, 1, 2, 3}, triangles[] = {0, 1, 2, 3, 2, 1, 4, 5, 0},
                         edges[] = {0, 5, 4, 2};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 7;
    def.positions = positions;
    def.tet_count = 2;
    def.tets = tets;
    def.triangle_count = 3;
    def.triangles = triangles;
    def.edge_count = 2;
    def.edges = edges;
    sinew_mesh *mesh = sinew_mesh_create(&def, NULL);
    assert_non_null(mesh);
    return mesh;
}

#endif
