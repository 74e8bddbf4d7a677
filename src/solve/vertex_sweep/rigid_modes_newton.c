/* SPDX-License-Identifier: MIT
 *
 * rigid_modes_newton.c: Newton's method over the rigid motions of a cluster of components in contact
 * (rigid_modes_contacts.h).
 *
 * The contact energy is that of energy/edge/contact.c, evaluated in double precision for one contact at a time.
 */
#include <math.h>
#include <string.h>

#include "linear/krylov/cg.h"
#include "math/vec3.h"
#include "solve/line_search.h"
#include "solve/vertex_sweep/rigid_modes_contacts.h"

enum {
    STEPS = 4,   /* largest number of Newton steps per cluster */
    TRIALS = 7,  /* step lengths tried by the line search: the full step and six halvings, until the objective falls */
    CG_MAX = 60, /* largest number of conjugate gradient iterations per Newton step */
    FREEDOMS = SINEW_RIGID_FREEDOMS
};

/* Indices of the vectors v of a body: gradient, unknowns; residual, direction and product of conjugate gradients. */
enum {
    G,
    X,
    R,
    D,
    Y
};

#define CG_FRACTION   1e-2 /* relative residual, in the norm of the preconditioner, at which conjugate gradients stop */
#define STEP_FRACTION 1e-4 /* Newton steps end if the predicted decrease is below this fraction of the first one */
/* Fraction of the trace that is added to the rotational inertia, which is zero about the axis of a straight rope. */
#define TURN_FLOOR 1e-9

/* ---- Contact energy and its derivatives ------------------------------------------------------- */

/* State of a contact at point z: returns the normal force (N). u: slip vector (m), *slip: its length, *stick: friction
 * force per slip (N/m). */
static double contact_state(const sinew_rigid_contact *t, const double z[3], double u[3], double *slip, double *stick)
{
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = z[i] - t->anchor[i];
    const double along = vec3_dot(t->n, d);
    for (int i = 0; i < 3; i++)
        u[i] = d[i] - along * t->n[i];
    *slip = vec3_norm(u);
    *stick = t->kt * *slip <= t->limit ? t->kt : t->limit / *slip;
    return fmax(0, t->lambda + t->kn * (t->r - vec3_dot(t->n, z)));
}

static double rigid_contact_energy(const sinew_rigid_contact *t, const double z[3])
{
    double u[3], slip, stick;
    const double force = contact_state(t, z, u, &slip, &stick);
    const double stuck = 0.5 * t->kt * slip * slip;
    return (force - t->lambda) * (force + t->lambda) / (2 * t->kn) +
           (t->kt * slip <= t->limit ? stuck : t->limit * (slip - 0.5 * t->limit / t->kt));
}

/* Differentiates the contact energy at t->z: f = psi'(z) (N) and t->K = psi''(z) (N/m), or an upper bound of psi'' at
 * all z if `bounds`: an open contact may close, and a slip may turn round. Returns false if both are zero. */
static bool differentiate_contact(sinew_rigid_contact *t, bool bounds, double f[3])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double u[3], slip, stick;
    const double force = contact_state(t, t->z, u, &slip, &stick);
    const double active = (force > 0 || bounds ? t->kn : 0) - stick;
    const double along = bounds || t->kt * slip <= t->limit ? 0 : stick / (slip * slip);
    for (int i = 0; i < 3; i++)
        f[i] = stick * u[i] - force * t->n[i];
    for (int i = 0; i < 6; i++)
        t->K[i] = active * t->n[row[i]] * t->n[column[i]] - along * u[row[i]] * u[column[i]] + (i < 3 ? stick : 0);
    return force > 0 || stick > 0 || bounds;
}

/* ---- Newton system of a cluster -------------------------------------------------------------- */

/* The bodies, contacts and links of one cluster of touching bodies. */
typedef struct cluster {
    const sinew_rigid_contacts *all;
    const int32_t *body, *contact, *link;
    int32_t body_count, contact_count, link_count;
    double rate; /* 1 / h^2, h = time step */
    bool bounds; /* true: Hessians of contacts are upper bounds */
} cluster;

static sinew_rigid_body *body_at(const cluster *c, int32_t k)
{
    return &c->all->bodies[c->body[k]];
}

static sinew_rigid_contact *cluster_contact(const cluster *c, int32_t k)
{
    return &c->all->contacts[c->contact[k]];
}

static sinew_rigid_link *link_at(const cluster *c, int32_t k)
{
    return &c->all->links[c->link[k]];
}

/* f = K z for a symmetric 3x3 matrix K, stored as 00 11 22 01 02 12 */
static void rigid_newton_multiply(const double K[6], const double z[3], double f[3])
{
    f[0] = K[0] * z[0] + K[3] * z[1] + K[4] * z[2];
    f[1] = K[3] * z[0] + K[1] * z[1] + K[5] * z[2];
    f[2] = K[4] * z[0] + K[5] * z[1] + K[2] * z[2];
}

/* to = J^T f of one side of a contact with normal n: the force and the torque that f, acting at the contact point,
 * exerts on the side's body */
static void wrench_of(const sinew_rigid_side *side, const double n[3], bool turns, const double f[3], double to[6])
{
    double across[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        to[i] = side->w * f[i];
        to[3 + i] = 0;
    }
    if (!turns)
        return;
    vec3_add_cross(side->p, f, 1, to + 3);
    vec3_add_across(n, f, across);
    vec3_add_cross(side->lever, across, 1, to + 3);
}

/* Column i of J of one side of a contact: the derivative of the contact point z by degree of freedom i of the side's
 * body. */
static void rigid_newton_column_of(const sinew_rigid_side *side, const double n[3], bool turns, int i, double column[3])
{
    double axis[3] = {0, 0, 0}, arm[3] = {0, 0, 0};
    column[0] = column[1] = column[2] = 0;
    axis[i % 3] = 1;
    if (i < 3) {
        column[i] = side->w;
    } else if (turns) {
        vec3_add_cross(axis, side->p, 1, column);
        vec3_add_cross(axis, side->lever, 1, arm);
        vec3_add_across(n, arm, column);
    }
}

/* Adds the contact's 6x6 Hessian block between two bodies, (K J_a)^T J_b: K is the contact's Hessian, J the
 * derivative of the contact point by a body's move, n its normal; forces: the columns of K J_a. */
static void rigid_newton_add_block(const cluster *c, const sinew_rigid_side *side, const double n[3],
                                   double forces[6][3], double block[36])
{
    const bool turns = c->all->bodies[side->body].turns;
    for (int i = 0; i < FREEDOMS; i++) {
        double row[6];
        wrench_of(side, n, turns, forces[i], row);
        for (int k = 0; k < FREEDOMS; k++)
            block[FREEDOMS * i + k] += row[k];
    }
}

/* Gradient and 6x6 Hessian block of a body's inertia. The rotational block is tr(A) - (A + A^T) / 2 with the body's
 * moment matrix A. */
static void rigid_newton_inertia_of(const cluster *c, sinew_rigid_body *b)
{
    const double *A = b->A, turn[3] = {A[7] - A[5], A[2] - A[6], A[3] - A[1]}, trace = A[0] + A[4] + A[8];
    memset(b->block, 0, sizeof b->block);
    for (int i = 0; i < 3; i++) {
        b->v[G][i] = -c->rate * b->mass * b->to_target[i];
        b->v[G][3 + i] = b->turns ? -c->rate * turn[i] : 0;
        b->block[FREEDOMS * i + i] = c->rate * b->mass;
        for (int k = 0; b->turns && k < 3; k++)
            b->block[FREEDOMS * (3 + i) + 3 + k] =
                c->rate * ((i == k ? trace * (1 + TURN_FLOOR) : 0) - (A[3 * i + k] + A[3 * k + i]) / 2);
    }
}

/* Adds an active contact to the gradients and blocks of its bodies and links. */
static void add_contact_terms(const cluster *c, sinew_rigid_contact *t)
{
    double f[3], wrench[6], forces[6][3], column[3];
    if (!differentiate_contact(t, c->bounds, f))
        return;
    for (int32_t a = 0, link = 0; a < t->side_count; a++) {
        const sinew_rigid_side *side = &t->sides[a];
        sinew_rigid_body *b = &c->all->bodies[side->body];
        wrench_of(side, t->n, b->turns, f, wrench);
        for (int i = 0; i < FREEDOMS; i++) {
            b->v[G][i] += wrench[i];
            rigid_newton_column_of(side, t->n, b->turns, i, column);
            rigid_newton_multiply(t->K, column, forces[i]);
        }
        rigid_newton_add_block(c, side, t->n, forces, b->block);
        for (int32_t k = 0; k < a; k++)
            rigid_newton_add_block(c, &t->sides[k], t->n, forces, c->all->links[t->link[link++]].block);
    }
}

/* Overwrites a 6x6 block by its Cholesky factor L; degrees of freedom without a safe pivot are left out. */
static void factor_block(double L[36])
{
    for (int j = 0; j < FREEDOMS; j++) {
        double pivot = L[FREEDOMS * j + j];
        const double min = 1e-12 * pivot;
        for (int k = 0; k < j; k++)
            pivot -= L[FREEDOMS * j + k] * L[FREEDOMS * j + k];
        const double root = pivot > min && pivot > 0 ? sqrt(pivot) : 0;
        L[FREEDOMS * j + j] = root;
        for (int i = j + 1; i < FREEDOMS; i++) {
            double sum = L[FREEDOMS * i + j];
            for (int k = 0; k < j; k++)
                sum -= L[FREEDOMS * i + k] * L[FREEDOMS * j + k];
            L[FREEDOMS * i + j] = root > 0 ? sum / root : 0;
        }
    }
}

/* Solves a 6x6 system with its Cholesky factor L: y = (L L^T)^-1 r; degrees of freedom with a zero pivot get 0. */
static void back_substitute(const double L[36], const double r[6], double y[6])
{
    for (int i = 0; i < FREEDOMS; i++) {
        double sum = r[i];
        for (int k = 0; k < i; k++)
            sum -= L[FREEDOMS * i + k] * y[k];
        y[i] = L[FREEDOMS * i + i] > 0 ? sum / L[FREEDOMS * i + i] : 0;
    }
    for (int i = FREEDOMS - 1; i >= 0; i--) {
        double sum = y[i];
        for (int k = i + 1; k < FREEDOMS; k++)
            sum -= L[FREEDOMS * k + i] * y[k];
        y[i] = L[FREEDOMS * i + i] > 0 ? sum / L[FREEDOMS * i + i] : 0;
    }
}

/* Computes gradients and Hessian blocks of a cluster at its move so far. */
static void rigid_newton_linearise(const cluster *c)
{
    for (int32_t k = 0; k < c->body_count; k++)
        rigid_newton_inertia_of(c, body_at(c, k));
    for (int32_t k = 0; k < c->link_count; k++)
        memset(link_at(c, k)->block, 0, sizeof link_at(c, k)->block);
    for (int32_t k = 0; k < c->contact_count; k++)
        add_contact_terms(c, cluster_contact(c, k));
    for (int32_t k = 0; k < c->body_count; k++) {
        memcpy(body_at(c, k)->factor, body_at(c, k)->block, sizeof body_at(c, k)->factor);
        factor_block(body_at(c, k)->factor);
    }
}

/* Vector Y of every body = H D: the Hessian of the cluster times the direction of conjugate gradients. */
static void rigid_newton_apply(const cluster *c)
{
    for (int32_t k = 0; k < c->body_count; k++) {
        sinew_rigid_body *b = body_at(c, k);
        for (int i = 0; i < FREEDOMS; i++) {
            b->v[Y][i] = 0;
            for (int j = 0; j < FREEDOMS; j++)
                b->v[Y][i] += b->block[FREEDOMS * i + j] * b->v[D][j];
        }
    }
    for (int32_t k = 0; k < c->link_count; k++) {
        const sinew_rigid_link *link = link_at(c, k);
        sinew_rigid_body *a = &c->all->bodies[link->a], *b = &c->all->bodies[link->b];
        for (int i = 0; i < FREEDOMS; i++)
            for (int j = 0; j < FREEDOMS; j++) {
                a->v[Y][i] += link->block[FREEDOMS * i + j] * b->v[D][j];
                b->v[Y][j] += link->block[FREEDOMS * i + j] * a->v[D][i];
            }
    }
}

/* ---- Conjugate gradients over the bodies of a cluster ---------------------------------------- */

static double rigid_newton_dot(const cluster *c, int first, int second)
{
    double sum = 0;
    for (int32_t k = 0; k < c->body_count; k++)
        for (int i = 0; i < FREEDOMS; i++)
            sum += body_at(c, k)->v[first][i] * body_at(c, k)->v[second][i];
    return sum;
}

/* Adds vectors of all bodies of the cluster: to += factor from. */
static void rigid_newton_add(const cluster *c, int to, double factor, int from)
{
    for (int32_t k = 0; k < c->body_count; k++)
        for (int i = 0; i < FREEDOMS; i++)
            body_at(c, k)->v[to][i] += factor * body_at(c, k)->v[from][i];
}

static void rigid_newton_clear(const cluster *c, int which)
{
    for (int32_t k = 0; k < c->body_count; k++)
        memset(body_at(c, k)->v[which], 0, sizeof body_at(c, k)->v[which]);
}

/* Preconditions the residual R of all bodies of the cluster: Y = inverse of each body's 6x6 block times R. Returns
 * R . Y. */
static double rigid_newton_precondition(const cluster *c)
{
    for (int32_t k = 0; k < c->body_count; k++)
        back_substitute(body_at(c, k)->factor, body_at(c, k)->v[R], body_at(c, k)->v[Y]);
    return rigid_newton_dot(c, R, Y);
}

/* Y = H D for the Hessian H and direction D of a cluster; returns D . Y */
static double rigid_newton_multiply_direction(void *context)
{
    rigid_newton_apply(context);
    return rigid_newton_dot(context, D, Y);
}

static double rigid_newton_advance(void *context, double alpha)
{
    rigid_newton_add(context, X, alpha, D);
    rigid_newton_add(context, R, -alpha, Y);
    return rigid_newton_precondition(context);
}

/* New direction of conjugate gradients, of all bodies of the cluster: D = Y + beta D. */
static void rigid_newton_update_direction(void *context, double beta)
{
    const cluster *c = context;
    for (int32_t k = 0; k < c->body_count; k++)
        for (int i = 0; i < FREEDOMS; i++)
            body_at(c, k)->v[D][i] = body_at(c, k)->v[Y][i] + beta * body_at(c, k)->v[D][i];
}

/* Newton step X = -H^-1 G of a cluster by conjugate gradients; returns the predicted decrease, J. */
static double rigid_newton_solve(cluster *c)
{
    const sinew_cg_vectors vectors = {rigid_newton_multiply_direction, rigid_newton_advance,
                                      rigid_newton_update_direction, c};
    rigid_newton_clear(c, X);
    rigid_newton_clear(c, D);
    rigid_newton_clear(c, R);
    rigid_newton_add(c, R, -1, G);
    sinew_cg cg = {.rz = rigid_newton_precondition(c)};
    const double target = CG_FRACTION * CG_FRACTION * cg.rz;
    rigid_newton_update_direction(c, 0);
    for (int k = 0; k < CG_MAX && cg.rz > target; k++) {
        const double rz = cg.rz;
        if (!sinew_cg_iterate(&cg, &vectors))
            break;
        /* r . z by beta, not by the sum that advance returned: both are equal up to round-off, which stacks of contacts
         * amplify, so that the other form would give other results. */
        cg.rz = rz * cg.beta;
    }
    return -rigid_newton_dot(c, G, X) / 2;
}

/* ---- Newton's method over the rigid motions of a cluster ------------------------------------- */

void sinew_turn_less_one(const double w[3], double turn[9])
{
    const double square = vec3_dot(w, w), angle = sqrt(square);
    const double s = angle > 1e-4 ? sin(angle) / angle : 1 - square / 6;
    const double half = sin(angle / 2), t = angle > 1e-4 ? 2 * half * half / square : 0.5 - square / 24;
    const double cross[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
    for (int i = 0; i < 9; i++)
        turn[i] = s * cross[i] + t * (w[i / 3] * w[i % 3] - (i % 4 == 0 ? square : 0));
}

/* to = the contact point z after the trial move of the contact's bodies */
static void trial_contact_point(const sinew_rigid_contacts *all, const sinew_rigid_contact *t, double to[3])
{
    double arm[3] = {0, 0, 0};
    memcpy(to, t->z, sizeof t->z);
    for (int32_t k = 0; k < t->side_count; k++)
        for (int i = 0; i < 3; i++) {
            const sinew_rigid_side *side = &t->sides[k];
            const sinew_rigid_body *b = &all->bodies[side->body];
            to[i] += side->w * b->try_shift[i] + vec3_dot(b->try_turn + 3 * i, side->p);
            arm[i] += vec3_dot(b->try_turn + 3 * i, side->lever);
        }
    vec3_add_across(t->n, arm, to);
}

/* Sets the trial move of all bodies to the fraction alpha of X. *change: change of the objective, J. Returns true if
 * the objective decreases. */
static bool try_step(void *context, double alpha, double *change)
{
    const cluster *c = context;
    double sum = 0;
    for (int32_t k = 0; k < c->body_count; k++) {
        sinew_rigid_body *b = body_at(c, k);
        double w[3], turned = 0;
        for (int i = 0; i < 3; i++) {
            b->try_shift[i] = alpha * b->v[X][i];
            w[i] = alpha * b->v[X][3 + i];
        }
        sinew_turn_less_one(w, b->try_turn);
        for (int i = 0; i < 9; i++)
            turned += b->try_turn[i] * b->A[i];
        sum += c->rate *
               (b->mass * (vec3_dot(b->try_shift, b->try_shift) / 2 - vec3_dot(b->try_shift, b->to_target)) - turned);
    }
    for (int32_t k = 0; k < c->contact_count; k++) {
        const sinew_rigid_contact *t = cluster_contact(c, k);
        double z[3];
        trial_contact_point(c->all, t, z);
        sum += rigid_contact_energy(t, z) - rigid_contact_energy(t, t->z);
    }
    *change = sum;
    return sum < 0;
}

/* Applies a further rotation: to = (1 + left) to, for 3x3 matrices. */
static void compose_rotation(const double left[9], double to[9])
{
    double product[9];
    for (int i = 0; i < 9; i++)
        product[i] =
            left[i / 3 * 3] * to[i % 3] + left[i / 3 * 3 + 1] * to[3 + i % 3] + left[i / 3 * 3 + 2] * to[6 + i % 3];
    for (int i = 0; i < 9; i++)
        to[i] += product[i];
}

/* Accepts the trial move: updates the bodies' sums and the contacts to the new positions. */
static void rigid_newton_take_step(const cluster *c)
{
    for (int32_t k = 0; k < c->contact_count; k++) {
        sinew_rigid_contact *t = cluster_contact(c, k);
        double z[3];
        trial_contact_point(c->all, t, z);
        memcpy(t->z, z, sizeof z);
        for (int32_t a = 0; a < t->side_count; a++) {
            sinew_rigid_side *side = &t->sides[a];
            const sinew_rigid_side before = *side;
            for (int i = 0; i < 3; i++) {
                const double *turn = c->all->bodies[side->body].try_turn + 3 * i;
                side->p[i] += vec3_dot(turn, before.p);
                side->lever[i] += vec3_dot(turn, before.lever);
            }
        }
    }
    for (int32_t k = 0; k < c->body_count; k++) {
        sinew_rigid_body *b = body_at(c, k);
        double more[9];
        /* Updates the moment matrix: A <- A (1 + D)^T, D the trial rotation less one. */
        for (int i = 0; i < 9; i++)
            more[i] = vec3_dot(b->A + i / 3 * 3, b->try_turn + i % 3 * 3);
        for (int i = 0; i < 9; i++)
            b->A[i] += more[i];
        compose_rotation(b->try_turn, b->turn);
        for (int i = 0; i < 9; i++)
            b->turn[i] += b->try_turn[i];
        for (int i = 0; i < 3; i++) {
            b->shift[i] += b->try_shift[i];
            b->to_target[i] -= b->try_shift[i];
        }
    }
}

/* Moves the cluster by the Newton step X or a fraction of it; returns false if no fraction decreases the objective. */
static bool rigid_newton_search(cluster *c)
{
    const sinew_backtracking lengths = {.first = 1, .factor = 0.5, .trials = TRIALS};
    if (!sinew_backtrack(&lengths, try_step, c))
        return false;
    rigid_newton_take_step(c);
    return true;
}

void sinew_rigid_move_cluster(const sinew_rigid_contacts *t, int32_t k)
{
    cluster c = {.all = t,
                 .body = t->body_order.item + t->body_order.first[k],
                 .contact = t->contact_order.item + t->contact_order.first[k],
                 .link = t->link_order.item + t->link_order.first[k],
                 .body_count = t->body_order.first[k + 1] - t->body_order.first[k],
                 .contact_count = t->contact_order.first[k + 1] - t->contact_order.first[k],
                 .link_count = t->link_order.first[k + 1] - t->link_order.first[k],
                 .rate = 1 / (t->objective->step.h * t->objective->step.h)};
    double first = 0;
    for (int step = 0; step < STEPS; step++) {
        rigid_newton_linearise(&c);
        const double gain = rigid_newton_solve(&c);
        first = step == 0 ? gain : first;
        if (!(gain > (step == 0 ? 0 : STEP_FRACTION * first)))
            return;
        if (rigid_newton_search(&c))
            continue;
        /* The step closes contacts that its Hessian took for open. */
        if (c.bounds)
            return;
        c.bounds = true;
    }
}
