/* SPDX-License-Identifier: MIT
 *
 * shell_mesh.h: closed surfaces of triangles for experiments with balloons: a sphere, and two discs that share their
 * rim.
 */
#ifndef SINEW_EXPERIMENTS_SHELL_MESH_H
#define SINEW_EXPERIMENTS_SHELL_MESH_H

#include "experiments.h"

typedef struct shell {
    int32_t vertex_count, triangle_count;
    sinew_real *points;
    int32_t *triangles;
} shell;

/* Creates two flat discs of radius 1, joined at the rim, normals outwards; false: out of memory. */
bool shell_discs(int32_t meridians, int32_t rings, shell *s);
/* Index of the discs' vertex at ring j (1 is the innermost, 0 the centre) at meridian i of the upper (side 0) or
 * lower disc; the rim is shared. */
int32_t shell_disc_vertex(int32_t meridians, int32_t rings, int32_t side, int32_t j, int32_t i);
/* Creates the unit sphere: an icosahedron, refined `level` times, with 10 * 4^level + 2 vertices; false: out of
 * memory. */
bool shell_sphere(int32_t level, shell *s);
double shell_volume(const shell *s, const sinew_real *q); /* volume in m3 enclosed by the shell with vertices at q */
void shell_free(shell *s);

#endif
