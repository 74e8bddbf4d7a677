/* SPDX-License-Identifier: MIT
 *
 * rigid_touch.c: contacts and clusters of touching pieces, and Newton's method over their rigid motions. See
 * rigid_touch.h. The function of z is that of energy/energy_contact.c, here in double for one contact at a time.
 */
#include "solve/rigid_touch.h"

#include <math.h>
#include <string.h>

#include "energy/contact.h"
#include "mesh/topology.h"
#include "objective/pieces.h"

enum {
    STEPS = 4,    /* of Newton's method, at most */
    HALVINGS = 6, /* of a step that does not lower the objective */
    CG_MOST = 60, /* iterations */
    FREEDOMS = SINEW_RIGID_FREEDOMS
};

/* Vectors of a system: gradient, unknowns; residual, direction and product of conjugate gradients. */
enum {
    G,
    X,
    R,
    D,
    Y
};

#define CG_PART    1e-2 /* of the gradient that is left by conjugate gradients */
#define STEP_PART  1e-4 /* of the first step's gain: a step that promises less is not made */
#define TURN_FLOOR 1e-9 /* of the trace, added to what resists turning: a straight rope turns about itself freely */

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool make_rooms(sinew_rigid_touches *t, size_t bodies, size_t touches)
{
    const sinew_allocator *a = &t->objective->allocator;
    return sinew_make_spare_room(a, &t->bodies, &t->bodies_room, bodies, sizeof *t->bodies) &&
           sinew_make_spare_room(a, &t->cluster, &t->cluster_room, bodies, sizeof *t->cluster) &&
           sinew_make_spare_room(a, &t->body, &t->body_room, bodies, sizeof *t->body) &&
           sinew_make_spare_room(a, &t->first_body, &t->first_body_room, bodies + 1, sizeof *t->first_body) &&
           sinew_make_spare_room(a, &t->touches, &t->touches_room, touches, sizeof *t->touches) &&
           sinew_make_spare_room(a, &t->touch, &t->touch_room, 2 * touches, sizeof *t->touch) &&
           sinew_make_spare_room(a, &t->first_touch, &t->first_touch_room, bodies + 1, sizeof *t->first_touch) &&
           sinew_make_spare_room(a, &t->particles, &t->particles_room, 4 * touches, sizeof *t->particles);
}

static bool is_contact(const sinew_objective *o, int32_t task)
{
    return o->tasks[task].batch->ops->contact && sinew_task_begins(o, task);
}

/* The contacts of a batch that a body is at, which they join to one cluster. */
static void add_batch(sinew_rigid_touches *t, const sinew_batch *batch, const int32_t *body_of)
{
    sinew_batch_list(batch, t->particles);
    for (int32_t e = 0; e < batch->element_count; e++) {
        sinew_rigid_touch *touch = &t->touches[t->touch_count];
        int32_t root = -1;
        *touch = (sinew_rigid_touch){.batch = batch, .element = e};
        for (int a = 0; a < 4; a++) {
            touch->particle[a] = t->particles[4 * (size_t)e + (size_t)a];
            touch->body[a] = body_of[touch->particle[a]];
            if (touch->body[a] < 0)
                continue;
            const int32_t own = sinew_find_root(t->cluster, touch->body[a]), other = root < 0 ? own : root;
            root = own < other ? own : other;
            t->cluster[own > other ? own : other] = root;
        }
        t->touch_count += root >= 0;
    }
}

/* Bodies and contacts by cluster; clusters are numbered by their first bodies. */
static void sort_clusters(sinew_rigid_touches *t)
{
    int32_t *number = t->body, *of_touch = t->touch + t->touch_count;
    t->cluster_count = 0;
    for (int32_t b = 0; b < t->body_count; b++) {
        const int32_t root = sinew_find_root(t->cluster, b);
        number[b] = root == b ? t->cluster_count++ : number[root];
    }
    memcpy(t->cluster, number, (size_t)t->body_count * sizeof *number);
    for (int32_t k = 0; k < t->touch_count; k++)
        for (int a = 0; a < 4; a++)
            if (t->touches[k].body[a] >= 0)
                of_touch[k] = t->cluster[t->touches[k].body[a]];
    sinew_colour_groups(t->cluster, t->body_count, t->cluster_count, t->first_body, t->body);
    sinew_colour_groups(of_touch, t->touch_count, t->cluster_count, t->first_touch, t->touch);
}

bool sinew_rigid_touches_list(sinew_rigid_touches *t, const sinew_objective *o, int32_t body_count,
                              const int32_t *body_of)
{
    size_t most = 0;
    t->objective = o;
    t->body_count = t->touch_count = t->cluster_count = 0;
    for (int32_t k = o->fixed_task_count; body_count > 0 && k < o->task_count; k++)
        most += is_contact(o, k) ? (size_t)o->tasks[k].batch->element_count : 0;
    if (body_count == 0)
        return true;
    if (!make_rooms(t, (size_t)body_count, most))
        return false;
    t->body_count = body_count;
    for (int32_t b = 0; b < body_count; b++)
        t->cluster[b] = b;
    for (int32_t k = o->fixed_task_count; k < o->task_count; k++)
        if (is_contact(o, k))
            add_batch(t, o->tasks[k].batch, body_of);
    sort_clusters(t);
    return true;
}

void sinew_rigid_touches_destroy(sinew_rigid_touches *t, const sinew_allocator *allocator)
{
    void *arrays[] = {t->bodies,     t->touches, t->cluster,     t->body,
                      t->first_body, t->touch,   t->first_touch, t->particles};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *t = (sinew_rigid_touches){0};
}

/* ---- The function of z ------------------------------------------------------------------------ */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* sum += factor a x b */
static void add_cross(const double a[3], const double b[3], double factor, double sum[3])
{
    sum[0] += factor * (a[1] * b[2] - a[2] * b[1]);
    sum[1] += factor * (a[2] * b[0] - a[0] * b[2]);
    sum[2] += factor * (a[0] * b[1] - a[1] * b[0]);
}

/* The normal force at z; u: the slip, *hold: its factor in the friction. */
static double state_of(const sinew_rigid_touch *t, const double z[3], double u[3], double *slip, double *hold)
{
    double d[3];
    for (int i = 0; i < 3; i++)
        d[i] = z[i] - t->anchor[i];
    const double along = dot(t->n, d);
    for (int i = 0; i < 3; i++)
        u[i] = d[i] - along * t->n[i];
    *slip = sqrt(dot(u, u));
    *hold = t->kt * *slip <= t->limit ? t->kt : t->limit / *slip;
    return fmax(0, t->lambda + t->kn * (t->r - dot(t->n, z)));
}

static double psi_at(const sinew_rigid_touch *t, const double z[3])
{
    double u[3], slip, hold;
    const double force = state_of(t, z, u, &slip, &hold);
    const double stuck = 0.5 * t->kt * slip * slip;
    return (force - t->lambda) * (force + t->lambda) / (2 * t->kn) +
           (t->kt * slip <= t->limit ? stuck : t->limit * (slip - 0.5 * t->limit / t->kt));
}

/* f = psi'(z) and K = psi''(z) */
static void differentiate(sinew_rigid_touch *t, double f[3])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    double u[3], slip, hold;
    const double force = state_of(t, t->z, u, &slip, &hold);
    const double active = (force > 0 ? t->kn : 0) - hold;
    const double along = t->kt * slip <= t->limit ? 0 : hold / (slip * slip);
    for (int i = 0; i < 3; i++)
        f[i] = hold * u[i] - force * t->n[i];
    for (int i = 0; i < 6; i++)
        t->K[i] = active * t->n[row[i]] * t->n[column[i]] - along * u[row[i]] * u[column[i]] + (i < 3 ? hold : 0);
}

/* ---- Systems --------------------------------------------------------------------------------- */

/* The bodies and contacts of one cluster. */
typedef struct cluster {
    const sinew_rigid_touches *all;
    const int32_t *body, *touch;
    int32_t body_count, touch_count;
    double rate; /* 1 / h^2 */
} cluster;

static sinew_rigid_body *body_at(const cluster *c, int32_t k)
{
    return &c->all->bodies[c->body[k]];
}

static sinew_rigid_touch *touch_at(const cluster *c, int32_t k)
{
    return &c->all->touches[c->touch[k]];
}

/* K of the rotation: tr(A) - (A + A^T) / 2, what resists turning by inertia, times h^2. */
static void turning_block(const double A[9], double K[9])
{
    const double trace = A[0] + A[4] + A[8];
    for (int i = 0; i < 9; i++)
        K[i] = (i % 4 == 0 ? trace * (1 + TURN_FLOOR) : 0) - (A[i] + A[i % 3 * 3 + i / 3]) / 2;
}

/* y += H_inertia d of one body */
static void add_inertia(const cluster *c, const sinew_rigid_body *b, const double d[6], double y[6])
{
    double K[9];
    turning_block(b->A, K);
    for (int i = 0; i < 3; i++) {
        y[i] += c->rate * b->mass * d[i];
        y[3 + i] += b->turns ? c->rate * (K[3 * i] * d[3] + K[3 * i + 1] * d[4] + K[3 * i + 2] * d[5]) : 0;
    }
}

/* f = K z */
static void multiply(const double K[6], const double z[3], double f[3])
{
    f[0] = K[0] * z[0] + K[3] * z[1] + K[4] * z[2];
    f[1] = K[3] * z[0] + K[1] * z[1] + K[5] * z[2];
    f[2] = K[4] * z[0] + K[5] * z[1] + K[2] * z[2];
}

/* to += J_a^T f: the force and the torque of f at place a of a contact */
static void add_wrench(const sinew_rigid_touch *t, int a, bool turns, const double f[3], double to[6])
{
    for (int i = 0; i < 3; i++)
        to[i] += t->w[a] * f[i];
    if (turns)
        add_cross(t->p[a], f, 1, to + 3);
}

/* y = H d */
static void apply(const cluster *c)
{
    for (int32_t k = 0; k < c->body_count; k++) {
        sinew_rigid_body *b = body_at(c, k);
        memset(b->v[Y], 0, sizeof b->v[Y]);
        add_inertia(c, b, b->v[D], b->v[Y]);
    }
    for (int32_t k = 0; k < c->touch_count; k++) {
        const sinew_rigid_touch *t = touch_at(c, k);
        double z[3] = {0, 0, 0}, f[3];
        for (int a = 0; a < 4; a++) {
            if (t->body[a] < 0)
                continue;
            const sinew_rigid_body *b = &c->all->bodies[t->body[a]];
            for (int i = 0; i < 3; i++)
                z[i] += t->w[a] * b->v[D][i];
            if (b->turns)
                add_cross(b->v[D] + 3, t->p[a], 1, z);
        }
        multiply(t->K, z, f);
        for (int a = 0; a < 4; a++)
            if (t->body[a] >= 0)
                add_wrench(t, a, c->all->bodies[t->body[a]].turns, f, c->all->bodies[t->body[a]].v[Y]);
    }
}

/* The columns of J of a body in a contact: how z goes with each of its six freedoms. */
static void columns_of(const sinew_rigid_touch *t, const sinew_rigid_touches *all, int32_t body, double J[6][3])
{
    memset(J, 0, FREEDOMS * sizeof *J);
    for (int a = 0; a < 4; a++)
        for (int i = 0; t->body[a] == body && i < 3; i++) {
            double axis[3] = {0, 0, 0};
            axis[i] = 1;
            J[i][i] += t->w[a];
            if (all->bodies[body].turns)
                add_cross(axis, t->p[a], 1, J[3 + i]);
        }
}

static void add_block(const sinew_rigid_touch *t, const sinew_rigid_touches *all, int32_t body, double *block)
{
    double J[6][3], f[3];
    columns_of(t, all, body, J);
    for (int i = 0; i < FREEDOMS; i++) {
        multiply(t->K, J[i], f);
        for (int k = 0; k < FREEDOMS; k++)
            block[FREEDOMS * i + k] += dot(J[k], f);
    }
}

/* Whether place a is the first of its body in the contact. */
static bool is_first(const sinew_rigid_touch *t, int a)
{
    for (int k = 0; k < a; k++)
        if (t->body[k] == t->body[a])
            return false;
    return t->body[a] >= 0;
}

/* L L^T = block, in place; a freedom without a safe pivot is left out. */
static void factor(double L[36])
{
    for (int j = 0; j < FREEDOMS; j++) {
        double pivot = L[FREEDOMS * j + j];
        const double least = 1e-12 * pivot;
        for (int k = 0; k < j; k++)
            pivot -= L[FREEDOMS * j + k] * L[FREEDOMS * j + k];
        const double root = pivot > least && pivot > 0 ? sqrt(pivot) : 0;
        L[FREEDOMS * j + j] = root;
        for (int i = j + 1; i < FREEDOMS; i++) {
            double sum = L[FREEDOMS * i + j];
            for (int k = 0; k < j; k++)
                sum -= L[FREEDOMS * i + k] * L[FREEDOMS * j + k];
            L[FREEDOMS * i + j] = root > 0 ? sum / root : 0;
        }
    }
}

/* y = (L L^T)^-1 r */
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

/* g and the blocks at the move so far, blocks factored */
static void linearise(const cluster *c)
{
    for (int32_t k = 0; k < c->body_count; k++) {
        sinew_rigid_body *b = body_at(c, k);
        const double *A = b->A, turn[3] = {A[7] - A[5], A[2] - A[6], A[3] - A[1]};
        double K[9];
        turning_block(A, K);
        memset(b->block, 0, sizeof b->block);
        for (int i = 0; i < 3; i++) {
            b->v[G][i] = -c->rate * b->mass * b->to_target[i];
            b->v[G][3 + i] = b->turns ? -c->rate * turn[i] : 0;
            b->block[FREEDOMS * i + i] = c->rate * b->mass;
            for (int j = 0; b->turns && j < 3; j++)
                b->block[FREEDOMS * (3 + i) + 3 + j] = c->rate * K[3 * i + j];
        }
    }
    for (int32_t k = 0; k < c->touch_count; k++) {
        sinew_rigid_touch *t = touch_at(c, k);
        double f[3];
        differentiate(t, f);
        for (int a = 0; a < 4; a++) {
            if (t->body[a] < 0)
                continue;
            sinew_rigid_body *b = &c->all->bodies[t->body[a]];
            add_wrench(t, a, b->turns, f, b->v[G]);
            if (is_first(t, a))
                add_block(t, c->all, t->body[a], b->block);
        }
    }
    for (int32_t k = 0; k < c->body_count; k++)
        factor(body_at(c, k)->block);
}

/* ---- Conjugate gradients --------------------------------------------------------------------- */

static double inner(const cluster *c, int first, int second)
{
    double sum = 0;
    for (int32_t k = 0; k < c->body_count; k++)
        for (int i = 0; i < FREEDOMS; i++)
            sum += body_at(c, k)->v[first][i] * body_at(c, k)->v[second][i];
    return sum;
}

/* to += factor from */
static void add(const cluster *c, int to, double factor, int from)
{
    for (int32_t k = 0; k < c->body_count; k++)
        for (int i = 0; i < FREEDOMS; i++)
            body_at(c, k)->v[to][i] += factor * body_at(c, k)->v[from][i];
}

static void clear(const cluster *c, int which)
{
    for (int32_t k = 0; k < c->body_count; k++)
        memset(body_at(c, k)->v[which], 0, sizeof body_at(c, k)->v[which]);
}

/* Y = the blocks' inverses times R */
static void precondition(const cluster *c)
{
    for (int32_t k = 0; k < c->body_count; k++)
        back_substitute(body_at(c, k)->block, body_at(c, k)->v[R], body_at(c, k)->v[Y]);
}

/* D = Y + beta D */
static void turn_direction(const cluster *c, double beta)
{
    for (int32_t k = 0; k < c->body_count; k++)
        for (int i = 0; i < FREEDOMS; i++)
            body_at(c, k)->v[D][i] = body_at(c, k)->v[Y][i] + beta * body_at(c, k)->v[D][i];
}

/* X = -H^-1 G, or about it; returns what the step is expected to gain, J. */
static double solve(const cluster *c)
{
    clear(c, X);
    clear(c, D);
    clear(c, R);
    add(c, R, -1, G);
    precondition(c);
    const double first = inner(c, R, Y);
    double now = first, beta = 0;
    for (int k = 0; k < CG_MOST && now > CG_PART * CG_PART * first; k++) {
        turn_direction(c, beta);
        apply(c);
        const double curvature = inner(c, D, Y);
        if (!(curvature > 0))
            break;
        add(c, X, now / curvature, D);
        add(c, R, -now / curvature, Y);
        precondition(c);
        beta = inner(c, R, Y) / now;
        now *= beta;
    }
    return -inner(c, G, X) / 2;
}

/* ---- Newton's method ------------------------------------------------------------------------- */

void sinew_turn_less_one(const double w[3], double turn[9])
{
    const double square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], angle = sqrt(square);
    const double s = angle > 1e-4 ? sin(angle) / angle : 1 - square / 6;
    const double half = sin(angle / 2), t = angle > 1e-4 ? 2 * half * half / square : 0.5 - square / 24;
    const double cross[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
    for (int i = 0; i < 9; i++)
        turn[i] = s * cross[i] + t * (w[i / 3] * w[i % 3] - (i % 4 == 0 ? square : 0));
}

/* to = z after the step that the bodies have tried */
static void tried_z(const sinew_rigid_touches *all, const sinew_rigid_touch *t, double to[3])
{
    memcpy(to, t->z, sizeof t->z);
    for (int a = 0; a < 4; a++)
        for (int i = 0; t->body[a] >= 0 && i < 3; i++) {
            const sinew_rigid_body *b = &all->bodies[t->body[a]];
            to[i] += t->w[a] * b->try_shift[i] + dot(b->try_turn + 3 * i, t->p[a]);
        }
}

/* J: what the objective changes by with part alpha of the step X */
static double try_step(const cluster *c, double alpha)
{
    double change = 0;
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
        change +=
            c->rate * (b->mass * (dot(b->try_shift, b->try_shift) / 2 - dot(b->try_shift, b->to_target)) - turned);
    }
    for (int32_t k = 0; k < c->touch_count; k++) {
        const sinew_rigid_touch *t = touch_at(c, k);
        double z[3];
        tried_z(c->all, t, z);
        change += psi_at(t, z) - psi_at(t, t->z);
    }
    return change;
}

/* to = to + left to, 3 x 3 */
static void turn_further(const double left[9], double to[9])
{
    double product[9];
    for (int i = 0; i < 9; i++)
        product[i] =
            left[i / 3 * 3] * to[i % 3] + left[i / 3 * 3 + 1] * to[3 + i % 3] + left[i / 3 * 3 + 2] * to[6 + i % 3];
    for (int i = 0; i < 9; i++)
        to[i] += product[i];
}

/* The step that was tried is made: sums and contacts are those of the bodies where they are then. */
static void take_step(const cluster *c)
{
    for (int32_t k = 0; k < c->touch_count; k++) {
        sinew_rigid_touch *t = touch_at(c, k);
        double z[3];
        tried_z(c->all, t, z);
        memcpy(t->z, z, sizeof z);
        for (int a = 0; a < 4; a++) {
            const double p[3] = {t->p[a][0], t->p[a][1], t->p[a][2]};
            for (int i = 0; t->body[a] >= 0 && i < 3; i++)
                t->p[a][i] += dot(c->all->bodies[t->body[a]].try_turn + 3 * i, p);
        }
    }
    for (int32_t k = 0; k < c->body_count; k++) {
        sinew_rigid_body *b = body_at(c, k);
        double more[9];
        /* A (1 + D)^T */
        for (int i = 0; i < 9; i++)
            more[i] = dot(b->A + i / 3 * 3, b->try_turn + i % 3 * 3);
        for (int i = 0; i < 9; i++)
            b->A[i] += more[i];
        turn_further(b->try_turn, b->turn);
        for (int i = 0; i < 9; i++)
            b->turn[i] += b->try_turn[i];
        for (int i = 0; i < 3; i++) {
            b->shift[i] += b->try_shift[i];
            b->to_target[i] -= b->try_shift[i];
        }
    }
}

/* A step by X or a part of it, if the objective falls. */
static bool go_down(const cluster *c)
{
    double alpha = 1;
    for (int k = 0; k <= HALVINGS; k++, alpha /= 2)
        if (try_step(c, alpha) < 0) {
            take_step(c);
            return true;
        }
    return false;
}

static void move_cluster(const cluster *c)
{
    double first = 0;
    for (int k = 0; k < STEPS; k++) {
        linearise(c);
        const double gain = solve(c);
        first = k == 0 ? gain : first;
        if (!(gain > (k == 0 ? 0 : STEP_PART * first)) || !go_down(c))
            return;
    }
}

/* ---- All clusters ---------------------------------------------------------------------------- */

/* The numbers of a contact, and where it is. */
static void gather_touch(const sinew_rigid_touches *all, sinew_rigid_touch *t, const sinew_real *q)
{
    sinew_real data[SINEW_CONTACT_DATA_COUNT];
    sinew_batch_element(t->batch, t->element, data);
    t->r = (double)data[SINEW_CONTACT_OFFSET];
    t->lambda = (double)data[SINEW_CONTACT_LAMBDA];
    t->kn = (double)data[SINEW_CONTACT_KN];
    t->kt = (double)data[SINEW_CONTACT_KT];
    t->limit = t->kt > 0 ? (double)data[SINEW_CONTACT_LIMIT] : 0;
    for (int i = 0; i < 3; i++) {
        t->n[i] = (double)data[SINEW_CONTACT_NORMAL + i];
        t->anchor[i] = (double)data[SINEW_CONTACT_ANCHOR + i];
        t->z[i] = 0;
    }
    for (int a = 0; a < 4; a++) {
        t->w[a] = (double)data[SINEW_CONTACT_WEIGHTS + a];
        for (size_t i = 0; i < 3; i++) {
            const double x = (double)q[SINEW_POINT * (size_t)t->particle[a] + i];
            t->z[i] += t->w[a] * x;
            t->p[a][i] = t->body[a] < 0 ? 0 : t->w[a] * (x - all->bodies[t->body[a]].centre[i]);
        }
    }
}

void sinew_rigid_touches_solve(const sinew_rigid_touches *t, const sinew_real *q)
{
    const double h = t->objective->h;
    for (int32_t b = 0; b < t->body_count; b++) {
        memset(t->bodies[b].turn, 0, sizeof t->bodies[b].turn);
        memset(t->bodies[b].shift, 0, sizeof t->bodies[b].shift);
    }
    for (int32_t k = 0; k < t->touch_count; k++)
        gather_touch(t, &t->touches[k], q);
    for (int32_t k = 0; k < t->cluster_count; k++) {
        const cluster c = {.all = t,
                           .body = t->body + t->first_body[k],
                           .touch = t->touch + t->first_touch[k],
                           .body_count = t->first_body[k + 1] - t->first_body[k],
                           .touch_count = t->first_touch[k + 1] - t->first_touch[k],
                           .rate = 1 / (h * h)};
        move_cluster(&c);
    }
}
