/* SPDX-License-Identifier: MIT
 *
 * geometric_stiffness.c: geometric stiffness, -sum_i lambda_i d2C_i, restricted so that the matrix stays definite.
 *
 * An edge of length l under the tension T has the stiffness T / l against lateral motion. Under compression this
 * stiffness is negative (buckling), and the matrix need not be definite within the constraints. So the stiffness is
 * left out for edges under compression. Edges of a rigid body keep it: compression and tension balance, and the
 * stiffness of the edges under tension alone would resist rotation.
 *
 * The stiffness matters for convergence. Hard edges in a nearly straight chain between two pins are nearly dependent:
 * sigma, the smallest singular value of their J, is about their bend angle at a vertex. Without the stiffness the
 * cheapest motion that shortens the edges is a zigzag of single vertices of size |C| / sigma, which lengthens them at
 * second order; iterations do not converge. With the stiffness a zigzag costs T / l, for fine meshes a thousand times
 * the inertia m / h^2 of a vertex of mass m, and the chain moves as a whole.
 */
#include <string.h>

#include "solve/kkt/kkt_common.h"

/* True if a constraint set is the six edges of a rigid body: six edges between four particles, or fewer if some are
 * pinned. */
static bool is_rigid_body_set(const sinew_constraints *c, const sinew_constraint_set *set)
{
    const int32_t *particles = sinew_constraint_particles(c, set, 0);
    int32_t known[4], count = 0;
    if (set->element_count != 6)
        return false;
    for (int32_t i = 0; i < 12; i++) {
        int32_t k = 0;
        while (k < count && known[k] != particles[i])
            k++;
        if (k == 4)
            return false;
        if (k == count)
            known[count++] = particles[i];
    }
    return true;
}

static void leave_out_compression(const sinew_constraints *c, const sinew_constraint_set *set)
{
    for (int32_t e = 0; e < set->element_count; e++) {
        /* Three 3x3 blocks of an edge's sum lambda d2C, for the vertex pairs 00, 10, 11; the trace of the first is
         * positive under compression. */
        double *block = c->blocks + set->block_at + 27 * (size_t)e;
        if (block[0] + block[4] + block[8] > 0)
            memset(block, 0, 27 * sizeof *block);
    }
}

void sinew_kkt_second_derivatives(sinew_kkt *r, const sinew_real *q, bool definite)
{
    sinew_constraints_evaluate_second(r->constraints, q, r->lambda);
    for (int32_t t = 0; t < r->constraints->set_count && definite; t++) {
        const sinew_constraint_set *set = &r->constraints->sets[t];
        if (set->curved && set->vertex_count == 2 && !is_rigid_body_set(r->constraints, set))
            leave_out_compression(r->constraints, set);
    }
}
