/* SPDX-License-Identifier: MIT
 *
 * rigid_modes.c: rigid motions of the pieces of bodies (rigid_modes.h).
 */
#include <math.h>
#include <string.h>

#include "contact/rigid_modes.h"
#include "math/vec3.h"

/* Moments of inertia, and eigenvalues of the pins, below this fraction of their trace count as zero. Positions of
 * single precision have relative errors of 1e-7, which enter squared. */
#define NO_INERTIA 1e-9
#define NOT_HELD   1e-9

enum {
    EIGEN_SWEEPS = 30 /* upper limit of Jacobi sweeps, whose convergence is quadratic */
};

/* ---- Symmetric eigenvalue problem ------------------------------------------------------------ */

/* Rotates rows and columns i < k of A so that A[i][k] becomes zero. */
static void eigen_rotate(int n, double *A, double *Q, int i, int k)
{
    const double off = A[n * i + k], apart = A[n * k + k] - A[n * i + i];
    const double t = (apart < 0 ? -2 : 2) * off / (fabs(apart) + sqrt(apart * apart + 4 * off * off));
    const double c = 1 / sqrt(1 + t * t), s = t * c;
    for (int j = 0; j < n; j++) {
        const double a = A[n * j + i], b = A[n * j + k];
        A[n * j + i] = c * a - s * b;
        A[n * j + k] = s * a + c * b;
    }
    for (int j = 0; j < n; j++) {
        const double a = A[n * i + j], b = A[n * k + j], d = Q[n * i + j], e = Q[n * k + j];
        A[n * i + j] = c * a - s * b;
        A[n * k + j] = s * a + c * b;
        Q[n * i + j] = c * d - s * e;
        Q[n * k + j] = s * d + c * e;
    }
}

void sinew_symmetric_eigen(int n, double *A, double *Q)
{
    double size = 0;
    for (int i = 0; i < n * n; i++) {
        Q[i] = i % (n + 1) == 0;
        size = fmax(size, fabs(A[i]));
    }
    for (int sweep = 0; sweep < EIGEN_SWEEPS; sweep++) {
        bool rotated = false;
        for (int i = 0; i < n; i++)
            for (int k = i + 1; k < n; k++)
                if (fabs(A[n * i + k]) > 1e-17 * size) {
                    eigen_rotate(n, A, Q, i, k);
                    rotated = true;
                }
        if (!rotated)
            return;
    }
}

/* ---- Modes of a free piece ------------------------------------------------------------------- */

static bool modes_contain(const sinew_contact_view *view, const sinew_rigid_modes *m, int32_t i)
{
    return view->contact->restitution.piece[i] == m->piece;
}

/* Vector r from the centre of mass of a piece to a particle, in m. */
static void modes_particle_arm(const sinew_contact_view *view, const sinew_rigid_modes *m, int32_t i, double r[3])
{
    for (size_t k = 0; k < 3; k++)
        r[k] = (double)view->q[4 * (size_t)i + k] - m->centre[k];
}

static void mode_velocity(const sinew_rigid_mode *mode, const double r[3], double out[3])
{
    memcpy(out, mode->translation, 3 * sizeof *out);
    vec3_add_cross(mode->rotation, r, 1, out);
}

/* Finds mass and centre; returns the mass in kg. */
static double modes_find_centre(const sinew_contact_view *view, sinew_rigid_modes *m)
{
    double mass = 0, sum[3] = {0, 0, 0};
    for (int32_t i = m->first; i < m->last; i++) {
        if (!modes_contain(view, m, i))
            continue;
        mass += (double)view->mass[i];
        for (size_t k = 0; k < 3; k++)
            sum[k] += (double)view->mass[i] * (double)view->q[4 * (size_t)i + k];
    }
    for (int k = 0; k < 3; k++)
        m->centre[k] = mass > 0 ? sum[k] / mass : 0;
    return mass;
}

/* Tensor of inertia J = trace(S) I - S, S = sum m r r^T, row-major. */
static void modes_inertia(const sinew_contact_view *view, const sinew_rigid_modes *m, double J[9])
{
    double S[9] = {0};
    for (int32_t i = m->first; i < m->last; i++) {
        double r[3];
        if (!modes_contain(view, m, i))
            continue;
        modes_particle_arm(view, m, i, r);
        for (int k = 0; k < 9; k++)
            S[k] += (double)view->mass[i] * r[k / 3] * r[k % 3];
    }
    for (int k = 0; k < 9; k++)
        J[k] = (k % 4 == 0 ? S[0] + S[4] + S[8] : 0) - S[k];
}

static void modes_find_free(const sinew_contact_view *view, sinew_rigid_modes *m)
{
    const double mass = modes_find_centre(view, m);
    double J[9], axes[9];
    m->count = 0;
    if (!(mass > 0))
        return;
    modes_inertia(view, m, J);
    const double trace = J[0] + J[4] + J[8];
    sinew_symmetric_eigen(3, J, axes);
    for (int k = 0; k < 6; k++) {
        sinew_rigid_mode mode = {0};
        if (k < 3)
            mode.translation[k] = 1 / sqrt(mass);
        else if (!(J[4 * (k - 3)] > NO_INERTIA * trace))
            continue;
        for (int i = 0; k >= 3 && i < 3; i++)
            mode.rotation[i] = axes[3 * (k - 3) + i] / sqrt(J[4 * (k - 3)]);
        m->modes[m->count++] = mode;
    }
}

/* ---- Pins ------------------------------------------------------------------------------------ */

/* Projector D on the prescribed directions of a particle, row-major; false: it has none. */
static bool particle_is_held(const sinew_contact_view *view, int32_t i, double D[9])
{
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    const sinew_real *S = view->objective->step.filter ? view->objective->step.filter + 6 * (size_t)i : NULL;
    bool any = false;
    for (int k = 0; k < 9; k++) {
        const double unit = k % 4 == 0;
        D[k] = view->pinned[i] ? unit : S ? unit - (double)S[at[k]] : 0;
        any = any || D[k] != 0;
    }
    return any;
}

static double prescribed_product(const double D[9], const double a[3], const double b[3])
{
    double sum = 0;
    for (int k = 0; k < 9; k++)
        sum += a[k / 3] * D[k] * b[k % 3];
    return sum;
}

/* K = sum phi^T D phi over the particles: how the modes phi move in the prescribed directions D, [count][count];
 * false: nothing is pinned. */
static bool modes_gather_pins(const sinew_contact_view *view, const sinew_rigid_modes *m, double *K)
{
    bool any = false;
    memset(K, 0, 36 * sizeof *K);
    for (int32_t i = m->first; i < m->last; i++) {
        double D[9], r[3], field[6][3];
        if (!modes_contain(view, m, i) || !particle_is_held(view, i, D))
            continue;
        any = true;
        modes_particle_arm(view, m, i, r);
        for (int k = 0; k < m->count; k++)
            mode_velocity(&m->modes[k], r, field[k]);
        for (int k = 0; k < m->count * m->count; k++)
            K[k] += prescribed_product(D, field[k / m->count], field[k % m->count]);
    }
    return any;
}

/* Replaces the modes by the eigenvectors of K, and marks those that the pins hold (rigid_modes.h). */
static void modes_apply_pins(const sinew_contact_view *view, sinew_rigid_modes *m)
{
    const int n = m->count;
    double K[36], Q[36], trace = 0;
    const sinew_rigid_modes all = *m;
    if (!modes_gather_pins(view, m, K))
        return;
    for (int k = 0; k < n; k++)
        trace += K[(n + 1) * k];
    sinew_symmetric_eigen(n, K, Q);
    for (int k = 0; k < n; k++) {
        sinew_rigid_mode mode = {.held = K[(n + 1) * k] > NOT_HELD * trace ? K[(n + 1) * k] : 0};
        for (int j = 0; j < n; j++)
            for (int i = 0; i < 3; i++) {
                mode.translation[i] += Q[n * k + j] * all.modes[j].translation[i];
                mode.rotation[i] += Q[n * k + j] * all.modes[j].rotation[i];
            }
        m->modes[k] = mode;
    }
}

void sinew_rigid_modes_find(const sinew_contact_view *view, int32_t piece, sinew_rigid_modes *m)
{
    const sinew_contact_body *body = &view->bodies[view->contact->restitution.piece_body[piece]];
    *m = (sinew_rigid_modes){.piece = piece, .first = body->start, .last = body->start + body->count};
    modes_find_free(view, m);
    modes_apply_pins(view, m);
}

/* ---- Velocities and impulses ----------------------------------------------------------------- */

/* Adds the contribution of a particle of velocity v to the mode coordinates c. */
static void modes_add_particle(const sinew_contact_view *view, const sinew_rigid_modes *m, int32_t i, const double v[3],
                               double c[6])
{
    double r[3], D[9] = {0};
    modes_particle_arm(view, m, i, r);
    const bool held = particle_is_held(view, i, D);
    for (int k = 0; k < m->count; k++) {
        double field[3];
        mode_velocity(&m->modes[k], r, field);
        if (m->modes[k].held > 0)
            c[k] += held ? prescribed_product(D, field, v) / m->modes[k].held : 0;
        else
            c[k] += (double)view->mass[i] * vec3_dot(v, field);
    }
}

void sinew_rigid_modes_project(const sinew_contact_view *view, const sinew_rigid_modes *m, const sinew_real *v,
                               double c[6])
{
    memset(c, 0, 6 * sizeof *c);
    for (int32_t i = m->first; i < m->last; i++) {
        const sinew_real *own = v + 4 * (size_t)i;
        if (modes_contain(view, m, i))
            modes_add_particle(view, m, i, (const double[]){(double)own[0], (double)own[1], (double)own[2]}, c);
    }
}

void sinew_rigid_modes_accelerate(const sinew_contact_view *view, const sinew_rigid_modes *m, double c[6])
{
    memset(c, 0, 6 * sizeof *c);
    for (int32_t i = m->first; i < m->last; i++) {
        const sinew_real *f = view->f_ext + 4 * (size_t)i;
        double r[3], field[3];
        if (!modes_contain(view, m, i))
            continue;
        modes_particle_arm(view, m, i, r);
        for (int k = 0; k < m->count; k++) {
            mode_velocity(&m->modes[k], r, field);
            for (int a = 0; m->modes[k].held == 0 && a < 3; a++)
                c[k] += (double)f[a] * field[a];
        }
    }
}

static void mode_velocity_at(const sinew_rigid_modes *m, int k, const double point[3], double field[3])
{
    double r[3];
    vec3_sub(point, m->centre, r);
    mode_velocity(&m->modes[k], r, field);
}

void sinew_rigid_modes_add_velocity(const sinew_rigid_modes *m, const double c[6], const double point[3], double factor,
                                    double u[3])
{
    for (int k = 0; k < m->count; k++) {
        double field[3];
        mode_velocity_at(m, k, point, field);
        for (int i = 0; i < 3; i++)
            u[i] += factor * c[k] * field[i];
    }
}

void sinew_rigid_modes_add_response(const sinew_rigid_modes *m, const double point[3], double G[9])
{
    for (int k = 0; k < m->count; k++) {
        double field[3];
        mode_velocity_at(m, k, point, field);
        for (int i = 0; m->modes[k].held == 0 && i < 9; i++)
            G[i] += field[i / 3] * field[i % 3];
    }
}

void sinew_rigid_modes_push(const sinew_rigid_modes *m, const double point[3], const double p[3], double factor,
                            double c[6])
{
    for (int k = 0; k < m->count; k++) {
        double field[3];
        mode_velocity_at(m, k, point, field);
        c[k] += m->modes[k].held == 0 ? factor * vec3_dot(field, p) : 0;
    }
}

void sinew_rigid_modes_apply(const sinew_contact_view *view, const sinew_rigid_modes *m, const double c[6])
{
    for (int32_t i = m->first; i < m->last; i++) {
        double r[3], sum[3] = {0, 0, 0};
        if (!modes_contain(view, m, i) || view->pinned[i])
            continue;
        modes_particle_arm(view, m, i, r);
        for (int k = 0; k < m->count; k++) {
            double field[3];
            mode_velocity(&m->modes[k], r, field);
            for (int a = 0; a < 3; a++)
                sum[a] += c[k] * field[a];
        }
        for (size_t a = 0; a < 3; a++)
            view->v[4 * (size_t)i + a] = (sinew_real)((double)view->v[4 * (size_t)i + a] + sum[a]);
    }
}
