/* SPDX-License-Identifier: MIT
 *
 * rigid_frames.c: makes rigid bodies rigid at the end of a step of solvers that are filtered late (xpbd, pbd).
 *
 *     q_a <- c + R (X_a - C),    R = rotation nearest to sum_a m_a (q_a - c) (X_a - C)^T                    (1)
 *
 * c and C are the centres of mass of the four particles at q and at rest. Few sweeps leave distances wrong. (1) is the
 * rigid position nearest to q in the norm of the masses (Mueller et al. 2005, shape matching): the displacements,
 * weighted by mass, have no resultant and no moment. The step filter then truncates them, so that no candidate pair
 * crosses.
 *
 * Bodies with pinned particles stay as they are.
 */
#include <math.h>

#include "contact/contact.h"
#include "math/small/decompose_batch.h"

/* The four particles of a rigid body: masses m, their sum, positions x now and at rest relative to their centres of
 * mass, and the centre now. */
typedef struct rigid_frame {
    double m[4], total, x[4][3], rest[4][3], centre[3];
} rigid_frame;

static bool frame_read_particles(const sinew_contact_view *view, const sinew_real *q, int32_t first, rigid_frame *f)
{
    double rest[3] = {0, 0, 0};
    *f = (rigid_frame){.total = 0};
    for (size_t a = 0; a < 4; a++) {
        const size_t p = (size_t)first + a;
        if (view->pinned[p])
            return false;
        f->m[a] = (double)view->mass[p];
        f->total += f->m[a];
        for (size_t i = 0; i < 3; i++) {
            f->centre[i] += f->m[a] * (double)q[4 * p + i];
            rest[i] += f->m[a] * (double)view->rest[4 * p + i];
        }
    }
    for (size_t i = 0; i < 3; i++) {
        f->centre[i] /= f->total;
        for (size_t a = 0; a < 4; a++) {
            f->x[a][i] = (double)q[4 * ((size_t)first + a) + i] - f->centre[i];
            f->rest[a][i] = (double)view->rest[4 * ((size_t)first + a) + i] - rest[i] / f->total;
        }
    }
    return true;
}

/* Rotation R of equation (1) of the file head, row-major; the moments are divided by their largest entry, which does
 * not change R. */
static void frame_rotation(const rigid_frame *f, double R[9])
{
    int32_t count;
    const sinew_decompose_batch *scalar = sinew_decompose_variants(&count)[count - 1];
    _Alignas(SINEW_ALIGNMENT) sinew_real A[9], turned[9];
    double moments[9] = {0}, max = 0;
    for (size_t a = 0; a < 4; a++)
        for (size_t i = 0; i < 9; i++)
            moments[i] += f->m[a] * f->x[a][i / 3] * f->rest[a][i % 3];
    for (size_t i = 0; i < 9; i++)
        max = fabs(moments[i]) > max ? fabs(moments[i]) : max;
    for (size_t i = 0; i < 9; i++)
        A[i] = max > 0 ? (sinew_real)(moments[i] / max) : i % 4 == 0;
    scalar->polar3(1, A, turned);
    for (size_t i = 0; i < 9; i++)
        R[i] = (double)turned[i];
}

void sinew_contact_straighten_rigid(const sinew_contact_view *view, sinew_real *q)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    for (int32_t o = 0; o < f->object_count; o++) {
        const int32_t first = f->objects[o].rigid ? f->particle[f->objects[o].first_vertex] : 0;
        rigid_frame frame;
        double R[9];
        if (!f->objects[o].rigid || !frame_read_particles(view, q, first, &frame))
            continue;
        frame_rotation(&frame, R);
        for (size_t a = 0; a < 4; a++)
            for (size_t i = 0; i < 3; i++)
                q[4 * ((size_t)first + a) + i] =
                    (sinew_real)(frame.centre[i] + R[3 * i] * frame.rest[a][0] + R[3 * i + 1] * frame.rest[a][1] +
                                 R[3 * i + 2] * frame.rest[a][2]);
    }
}
