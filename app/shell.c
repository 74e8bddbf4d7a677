/* SPDX-License-Identifier: MIT
 *
 * shell.c: adds bodies without energies to a world, for drawing only.
 */
#include <stdlib.h>

#include "shell.h"

sinew_body sinew_add_shell(sinew_world *world, const sinew_mesh *mesh, sinew_error *error)
{
    const int32_t count = sinew_mesh_vertex_count(mesh);
    sinew_body_def def = sinew_default_body_def();
    sinew_real *masses = malloc(((size_t)count + 1) * sizeof *masses);
    /* Each vertex has a given mass, because triangles of a diverged shape may have no area to derive masses from. */
    for (int32_t i = 0; masses && i < count; i++)
        masses[i] = 1;
    def.mesh = mesh;
    def.masses = masses;
    const sinew_body body = masses ? sinew_world_add_body(world, &def, error) : (sinew_body){.index = -1};
    free(masses);
    return body;
}
