/* SPDX-License-Identifier: MIT
 *
 * shell.h: bodies without energies, so that points and triangles of any origin can be drawn.
 */
#ifndef SINEW_SHELL_H
#define SINEW_SHELL_H

#include "sinew/sinew.h"

/* Adds a body of the mesh's vertices and cells to a world that is not stepped. Index -1 on failure. */
sinew_body sinew_add_shell(sinew_world *world, const sinew_mesh *mesh, sinew_error *error);

#endif
