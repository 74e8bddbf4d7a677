/* SPDX-License-Identifier: MIT
 *
 * restitution.c: restitution of solids, rigid bodies and colliders, by impulses on their rigid motions.
 *
 * An impact lasts several steps: vertices touch one after another, the body is compressed and vibrates. Implicit Euler
 * damps the vibration, so that little of the energy returns by itself. The impulse therefore acts when the impact ends.
 * For each pair of pieces (pieces.c), or of a piece and a collider, with force-weighted normal N and point P of its
 * contacts, u the relative velocity of the rigid motions at P and G its response to impulses (rigid_modes.h), a the
 * relative acceleration by external forces along -N, d the clearance at detection, e the coefficient of restitution, mu
 * that of friction:
 *
 *     begin   contacts bear force, and the approach v = -N.u at the start of the step exceeds 2 g h and 0.02 of its
 *             change in the step:
 *             approach = sqrt(v^2 + 2 a d),  budget = 0
 *     go on   budget += energy lost in the step (energy_budget.c); N and P are force-weighted means over the impact,
 *             and P moves with the centres of mass, so that its arms are those of the impulse so far
 *     end     |change of N.u in the step| <= max(2 g h, 0.02 of the largest change) and N.u >= -that, or no force;
 *             where N.u < e approach:
 *                 stick   p from u + G p = e approach N
 *                 slide   p = j (N - mu T), j from N.(u + G p) = e approach, where p is outside of the cone; T is
 *                         the unit vector of the tangential part of u
 *             p is scaled until p.u + p.G p / 2 <= budget, and acts on both rigid motions
 *
 * An impulse between two free bodies changes neither their linear nor their angular momentum, because both sides act at
 * one point. Impacts that end in the same step are solved by Gauss-Seidel passes. Impacts of one island of touching
 * bodies share their budgets. Saved states include impacts in progress.
 *
 * Known limits: in a row of touching bodies, impacts of pairs follow each other and do not happen at once. Impacts of
 * one piece with itself do not rebound.
 */
#include <math.h>
#include <string.h>

#include "contact/modes.h"
#include "contact/rigid_modes.h"
#include "math/vec3.h"

/* An impact has ended when the separation speed changes by less than this fraction of its largest change in a step.
 * Stiff boxes and balls end within three steps, soft ones when they part (test_restitution). */
#define CALM 0.02
/* Tolerance of the Gauss-Seidel passes over impacts that end in the same step: error of a separation speed as a
 * fraction of the approach speed. Chosen, not measured. */
#define SOLVED 1e-9

enum {
    SOLVE_PASSES = 64
};

/* Fields of which a node stores the coordinates in its rigid modes: velocity at the start of the step, velocity now,
 * change by impulses, external acceleration. */
enum {
    BEFORE,
    NOW,
    CHANGE,
    PULL,
    COORDINATES
};

/* A piece or a collider in an impact. */
typedef struct impact_node {
    int32_t id; /* index of a piece; for a collider the number of pieces plus its object of the collision mesh */
    sinew_rigid_modes modes;  /* rigid motions of a piece; none for a collider */
    double c[COORDINATES][6]; /* [BEFORE .. PULL] coordinates of velocities and accelerations in the modes */
} impact_node;

/* A pair of pieces, or of a piece and a collider, with contacts in this step or an impact in progress. */
typedef struct impact_pair {
    int32_t id[2];     /* ids of both nodes (impact_node), in ascending order */
    int32_t node[2];   /* indices of both nodes in the list of nodes */
    int32_t object[2]; /* objects of both nodes in the collision mesh */
    double mu;
    double force, clearance; /* normal force in N; force-weighted clearance at detection, in m */
    /* force-weighted sums over contacts, then their means; meanings as in sinew_impact */
    double normal[3], point[3], drive[3];
    double impulse[3];  /* impulse of restitution on the first node, in N s */
    bool active, ended; /* active: an impact is in progress; ended: it ends in this step */
    sinew_impact impact;
} impact_pair;

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* Particle of a vertex of the collision mesh; for the surface of a rigid body one of its four particles, which are
 * of the same piece. */
static int32_t vertex_particle(const sinew_contact_work *c, int32_t v)
{
    const sinew_collision_mesh *f = &c->mesh;
    return f->particle[f->particle[v] >= 0 ? v : f->objects[f->object[v]].first_vertex];
}

/* Id (impact_node) of one side of a contact: the side with positive weights if `first`, else the other. */
static int32_t contact_node(const sinew_contact_work *c, const sinew_contact_constraint *t, bool first)
{
    const sinew_restitution *r = &c->restitution;
    for (int a = 0; a < 4; a++)
        if (first ? t->w[a] > 0 : t->w[a] < 0)
            return t->v[a] < c->mesh.moved_count ? r->piece[vertex_particle(c, t->v[a])]
                                                 : r->piece_count + c->mesh.object[t->v[a]];
    return r->piece_count + (first ? t->first : t->second);
}

/* True if restitution acts on the rigid motion of an object: a collider, or a body of tets. */
static bool object_is_solid(const sinew_contact_view *view, int32_t object)
{
    const sinew_collision_object *o = &view->contact->mesh.objects[object];
    return o->kinematic || sinew_mesh_tet_count(view->bodies[o->body].mesh) > 0;
}

bool sinew_contact_is_at_body_level(const sinew_contact_view *view, const sinew_contact_constraint *t)
{
    return sinew_contact_mode_get(view->contact->def.mode)->multipliers && object_is_solid(view, t->first) &&
           object_is_solid(view, t->second);
}

static double pair_restitution(const sinew_contact_work *c, const int32_t object[2])
{
    return fmax(c->mesh.objects[object[0]].restitution, c->mesh.objects[object[1]].restitution);
}

/* Key of the pair of nodes that a contact belongs to; false: restitution does not act on rigid motions of this pair. */
static bool contact_pair_key(const sinew_contact_view *view, const sinew_contact_constraint *t, uint64_t *key)
{
    const sinew_contact_work *c = view->contact;
    const int32_t object[2] = {t->first, t->second};
    if (!(pair_restitution(c, object) > 0) || !sinew_contact_is_at_body_level(view, t))
        return false;
    const int32_t a = contact_node(c, t, true), b = contact_node(c, t, false);
    *key = sinew_pack(a < b ? a : b, a < b ? b : a);
    return a != b;
}

/* Finds ids and objects of both nodes of an impact; false: an object no longer exists or has no restitution of rigid
 * motions. */
static bool impact_find_nodes(const sinew_contact_view *view, const sinew_impact *impact, int32_t id[2],
                              int32_t object[2])
{
    const sinew_contact_work *c = view->contact;
    const sinew_restitution *r = &c->restitution;
    for (int s = 0; s < 2; s++) {
        const bool collider = impact->vertex[s] < 0;
        object[s] = sinew_contact_find_object(&c->mesh, collider, impact->slot[s], impact->generation[s]);
        if (object[s] < 0)
            return false;
        id[s] = r->piece_count + object[s];
        if (collider)
            continue;
        const sinew_contact_body *body = &view->bodies[impact->slot[s]];
        if (impact->vertex[s] >= body->count)
            return false;
        id[s] = r->piece[view->inside[body->first + impact->vertex[s]]];
    }
    return id[0] < id[1] && pair_restitution(c, object) > 0 && object_is_solid(view, object[0]) &&
           object_is_solid(view, object[1]);
}

/* Lists impacts and contacts (all, or those with a force) in `order`, sorted by pair: the minor key is the contact,
 * or the number of contacts plus the impact. Returns the number of entries. */
static int32_t impacts_sort_by_pair(const sinew_contact_view *view, bool with_force)
{
    const sinew_contact_work *c = view->contact;
    sinew_restitution *r = &view->contact->restitution;
    uint64_t key;
    int32_t count = 0;
    for (int32_t k = 0; k < c->contacts.count; k++)
        if ((c->contacts.list[k].force > 0 || !with_force) && contact_pair_key(view, &c->contacts.list[k], &key))
            r->order[count++] = (sinew_pair){key, (uint64_t)k};
    for (int32_t k = 0; k < r->impact_count; k++) {
        int32_t id[2], object[2];
        if (impact_find_nodes(view, &r->impacts[k], id, object))
            r->order[count++] = (sinew_pair){sinew_pack(id[0], id[1]), (uint64_t)c->contacts.count + (uint64_t)k};
    }
    sinew_sort_pairs(r->order, (size_t)count, r->order + count);
    return count;
}

bool sinew_restitution_reserve_impacts(sinew_restitution *r, const sinew_allocator *allocator, size_t count)
{
    if (count * sizeof *r->impacts <= r->impact_capacity)
        return true;
    sinew_impact *impacts = sinew_reallocate(allocator, r->impacts, (size_t)r->impact_count, count, sizeof *r->impacts);
    r->impacts = impacts ? impacts : r->impacts;
    r->impact_capacity = impacts ? count * sizeof *r->impacts : r->impact_capacity;
    return impacts;
}

/* Allocates for the pairs of this detection pass: the end of the step, where impulses act, must not fail. */
sinew_status sinew_restitution_reserve(const sinew_contact_view *view, sinew_error *error)
{
    const sinew_allocator *m = view->allocator;
    sinew_restitution *r = &view->contact->restitution;
    const size_t n = (size_t)view->contact->contacts.count + (size_t)r->impact_count;
    if (!r->on)
        return SINEW_OK;
    if (!sinew_reserve_spare(m, &r->order, &r->order_capacity, 4 * n, sizeof *r->order))
        return sinew_fail_memory(error, "restitution");
    const int32_t count = impacts_sort_by_pair(view, false);
    size_t pairs = 0;
    for (int32_t k = 0; k < count; k++)
        pairs += k == 0 || r->order[k].major != r->order[k - 1].major;
    if (!sinew_reserve_spare(m, &r->pairs, &r->pair_capacity, pairs, sizeof *r->pairs) ||
        !sinew_reserve_spare(m, &r->nodes, &r->node_capacity, 2 * pairs, sizeof *r->nodes) ||
        !sinew_restitution_reserve_impacts(r, m, pairs))
        return sinew_fail_memory(error, "restitution");
    return SINEW_OK;
}

static void pair_add_contact(const sinew_contact_view *view, const sinew_contact_constraint *t, const sinew_real *x,
                             impact_pair *pair)
{
    const sinew_contact_work *c = view->contact;
    const double h = (double)view->time_step, f = t->force;
    const bool swapped = contact_node(c, t, true) != pair->id[0];
    double body[3], collider[3], weights = 0, point[3] = {0, 0, 0};
    sinew_contact_displacements(view, t, x, body, collider);
    for (int a = 0; a < 4; a++) {
        weights += fabs((double)t->w[a]);
        for (size_t i = 0; i < 3; i++)
            point[i] += fabs((double)t->w[a]) * (double)x[4 * (size_t)t->v[a] + i];
    }
    for (int side = 0; side < 2; side++)
        sinew_contact_add_side_lever(c, t, side, x, 1, point);
    for (int i = 0; i < 3; i++) {
        pair->normal[i] += (swapped ? -f : f) * t->n[i];
        pair->point[i] += f * point[i] / weights;
        pair->drive[i] += (swapped ? f : -f) * collider[i] / h;
    }
    pair->clearance += f * fmax(0, t->distance - t->offset);
    pair->force += f;
    pair->mu = t->mu;
    pair->object[swapped ? 1 : 0] = t->first;
    pair->object[swapped ? 0 : 1] = t->second;
}

static void pair_set_impact(const sinew_contact_view *view, const sinew_impact *impact, impact_pair *pair)
{
    const sinew_collision_object *objects = view->contact->mesh.objects;
    impact_find_nodes(view, impact, pair->id, pair->object);
    pair->mu = sqrt(objects[pair->object[0]].friction * objects[pair->object[1]].friction);
    pair->active = true;
    pair->impact = *impact;
}

static void pair_average_contacts(impact_pair *pair)
{
    const double size = vec3_norm(pair->normal);
    if (!(pair->force > 0))
        return;
    for (int i = 0; i < 3; i++) {
        pair->normal[i] = size > 0 ? pair->normal[i] / size : 0;
        pair->point[i] /= pair->force;
        pair->drive[i] /= pair->force;
    }
    pair->clearance /= pair->force;
}

/* Builds the list of pairs from contacts with a force and from impacts in progress. */
static void impacts_make_pairs(const sinew_contact_view *view, const sinew_real *x)
{
    const sinew_contact_work *c = view->contact;
    sinew_restitution *r = &view->contact->restitution;
    const int32_t count = impacts_sort_by_pair(view, true);
    for (int32_t k = 0; k < count; k++) {
        const uint64_t key = r->order[k].major;
        const int32_t entry = (int32_t)r->order[k].minor;
        if (k == 0 || key != r->order[k - 1].major)
            r->pairs[r->pair_count++] = (impact_pair){.id = {(int32_t)(key >> 32), (int32_t)(key & UINT32_MAX)}};
        impact_pair *pair = &r->pairs[r->pair_count - 1];
        if (entry < c->contacts.count)
            pair_add_contact(view, &c->contacts.list[entry], x, pair);
        else
            pair_set_impact(view, &r->impacts[entry - c->contacts.count], pair);
    }
    for (int32_t k = 0; k < r->pair_count; k++)
        pair_average_contacts(&r->pairs[k]);
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static void node_find_motion(const sinew_contact_view *view, impact_node *node)
{
    const sinew_contact_work *c = view->contact;
    node->modes = (sinew_rigid_modes){.piece = -1};
    if (node->id >= c->restitution.piece_count)
        return;
    sinew_rigid_modes_find(view, node->id, &node->modes);
    sinew_rigid_modes_project(view, &node->modes, c->v_step_start, node->c[BEFORE]);
    sinew_rigid_modes_project(view, &node->modes, view->v, node->c[NOW]);
    sinew_rigid_modes_accelerate(view, &node->modes, node->c[PULL]);
}

/* Builds the list of nodes (pieces and colliders) of all pairs, sorted by id. */
static void impacts_make_nodes(const sinew_contact_view *view)
{
    sinew_restitution *r = &view->contact->restitution;
    const int32_t ids = 2 * r->pair_count;
    for (int32_t k = 0; k < ids; k++)
        r->order[k] = (sinew_pair){(uint64_t)r->pairs[k / 2].id[k % 2], (uint64_t)k};
    sinew_sort_pairs(r->order, (size_t)ids, r->order + ids);
    r->node_count = 0;
    for (int32_t k = 0; k < ids; k++) {
        if (k == 0 || r->order[k].major != r->order[k - 1].major) {
            impact_node *node = &r->nodes[r->node_count++];
            *node = (impact_node){.id = (int32_t)r->order[k].major};
            node_find_motion(view, node);
        }
        r->pairs[r->order[k].minor / 2].node[r->order[k].minor % 2] = r->node_count - 1;
    }
}

/* Relative velocity (m/s) of a pair's rigid motions at a point, or for PULL their relative acceleration (m/s^2). */
static void pair_velocity(const sinew_restitution *r, const impact_pair *pair, int which, const double point[3],
                          const double drive[3], double u[3])
{
    const impact_node *a = &r->nodes[pair->node[0]], *b = &r->nodes[pair->node[1]];
    for (int i = 0; i < 3; i++)
        u[i] = b->modes.piece < 0 && which != PULL ? -drive[i] : 0;
    sinew_rigid_modes_add_velocity(&a->modes, a->c[which], point, 1, u);
    sinew_rigid_modes_add_velocity(&b->modes, b->c[which], point, -1, u);
}

/* ---- Begin and end of impacts ---------------------------------------------------------------- */

static double rebound_speed_min(const sinew_contact_view *view)
{
    return SINEW_REBOUND_SPEED * vec3_norm(view->gravity) * (double)view->time_step;
}

static void impact_store_objects(const sinew_contact_work *c, const impact_pair *pair, sinew_impact *impact)
{
    for (int s = 0; s < 2; s++) {
        const sinew_collision_object *o = &c->mesh.objects[pair->object[s]];
        impact->slot[s] = o->kinematic ? o->collider : o->body;
        impact->generation[s] = o->generation;
        impact->vertex[s] = o->kinematic ? -1 : c->restitution.piece_vertex[pair->id[s]];
    }
}

/* Averages normal and point of the contacts of this step into those of the impact. */
static void impact_add_contacts(const impact_pair *pair, sinew_impact *impact)
{
    double n[3];
    if (!(pair->force > 0))
        return;
    impact->force += pair->force;
    const double part = pair->force / impact->force;
    for (int i = 0; i < 3; i++) {
        n[i] = (1 - part) * impact->normal[i] + part * pair->normal[i];
        impact->point[i] += part * (pair->point[i] - impact->point[i]);
    }
    const double size = vec3_norm(n);
    for (int i = 0; size > 0 && i < 3; i++)
        impact->normal[i] = n[i] / size;
    memcpy(impact->drive, pair->drive, sizeof impact->drive);
}

/* Begins the impact of a pair whose objects approach each other fast enough. */
static void pair_begin_impact(const sinew_contact_view *view, impact_pair *pair)
{
    const sinew_restitution *r = &view->contact->restitution;
    double before[3], now[3], pull[3];
    pair_velocity(r, pair, BEFORE, pair->point, pair->drive, before);
    pair_velocity(r, pair, NOW, pair->point, pair->drive, now);
    pair_velocity(r, pair, PULL, pair->point, pair->drive, pull);
    const double v = -vec3_dot(before, pair->normal), a = -vec3_dot(pull, pair->normal);
    const double change = fabs(vec3_dot(now, pair->normal) + v);
    /* Bodies that rest against each other and are pushed by a third one have an approach of round-off size. */
    if (!(pair->force > 0) || !(v > fmax(rebound_speed_min(view), CALM * change)))
        return;
    sinew_impact impact = {.approach = sqrt(fmax(0, v * v + 2 * a * pair->clearance)), .largest_change = change};
    impact_store_objects(view->contact, pair, &impact);
    impact_add_contacts(pair, &impact);
    pair->active = true;
    pair->impact = impact;
}

/* Moves the point of an impact with the centre of mass of the body, between two bodies with the mean of both
 * centres. */
static void impact_move_point(const sinew_contact_view *view, const impact_pair *pair, sinew_impact *impact)
{
    const sinew_restitution *r = &view->contact->restitution;
    const impact_node *a = &r->nodes[pair->node[0]], *b = &r->nodes[pair->node[1]];
    const double part = b->modes.piece < 0 ? 1 : 0.5;
    double u[3] = {0, 0, 0};
    sinew_rigid_modes_add_velocity(&a->modes, a->c[NOW], a->modes.centre, part, u);
    sinew_rigid_modes_add_velocity(&b->modes, b->c[NOW], b->modes.centre, 1 - part, u);
    for (int i = 0; i < 3; i++)
        impact->point[i] += (double)view->time_step * u[i];
}

/* Updates the impact of a pair by one step, and decides whether it ends. */
static void pair_follow_impact(const sinew_contact_view *view, impact_pair *pair)
{
    const sinew_restitution *r = &view->contact->restitution;
    sinew_impact *impact = &pair->impact;
    double before[3], now[3];
    impact_move_point(view, pair, impact);
    impact_add_contacts(pair, impact);
    pair_velocity(r, pair, BEFORE, impact->point, impact->drive, before);
    pair_velocity(r, pair, NOW, impact->point, impact->drive, now);
    const double speed = vec3_dot(now, impact->normal), change = fabs(speed - vec3_dot(before, impact->normal));
    impact->largest_change = fmax(impact->largest_change, change);
    /* A third body may push the two together during the impact, which raises their speed of approach. */
    impact->approach = fmax(impact->approach, -vec3_dot(before, impact->normal));
    const double calm = fmax(rebound_speed_min(view), CALM * impact->largest_change);
    pair->ended = !(pair->force > 0) || (change <= calm && speed >= -calm);
    /* Objects that still approach each other without a contact force meet next at another point, which is a new
     * impact; this one ends without an impulse. */
    if (!(pair->force > 0) && speed < -calm)
        impact->approach = 0;
}

/* ---- Budgets --------------------------------------------------------------------------------- */

/* Body at the root of a pair's island. The first node is always a piece, because two colliders do not collide. */
static int32_t pair_island(const sinew_restitution *r, const impact_pair *pair)
{
    return r->island[r->piece_body[pair->id[0]]];
}

/* Counts the impacts of each island into `square`: all, or those that do not end in this step. */
static void impacts_count_per_island(const sinew_contact_view *view, bool all)
{
    sinew_restitution *r = &view->contact->restitution;
    memset(r->square, 0, (size_t)view->body_count * sizeof *r->square);
    for (int32_t k = 0; k < r->pair_count; k++)
        r->square[pair_island(r, &r->pairs[k])] += r->pairs[k].active && (all || !r->pairs[k].ended);
}

/* Divides the energy that each island lost in the step among the budgets of its impacts, and sums the budgets of
 * each island in `linear`. */
static void impacts_add_losses(const sinew_contact_view *view)
{
    sinew_restitution *r = &view->contact->restitution;
    impacts_count_per_island(view, true);
    memset(r->linear, 0, (size_t)view->body_count * sizeof *r->linear);
    for (int32_t k = 0; k < r->pair_count; k++) {
        const int32_t root = pair_island(r, &r->pairs[k]);
        if (!r->pairs[k].active)
            continue;
        r->pairs[k].impact.budget += r->loss[root] / r->square[root];
        r->linear[root] += r->pairs[k].impact.budget;
    }
}

/* Where an impact has ended, divides the remaining budget of its island among the impacts that go on. */
static void impacts_share_remaining_budget(const sinew_contact_view *view)
{
    sinew_restitution *r = &view->contact->restitution;
    memset(r->loss, 0, (size_t)view->body_count * sizeof *r->loss);
    for (int32_t k = 0; k < r->pair_count; k++)
        r->loss[pair_island(r, &r->pairs[k])] += r->pairs[k].ended;
    impacts_count_per_island(view, false);
    for (int32_t k = 0; k < r->pair_count; k++) {
        const int32_t root = pair_island(r, &r->pairs[k]);
        if (r->pairs[k].active && !r->pairs[k].ended && r->loss[root] > 0)
            r->pairs[k].impact.budget = r->linear[root] / r->square[root];
    }
}

/* ---- Impulses -------------------------------------------------------------------------------- */

/* p = G^+ b with the pseudo-inverse of the symmetric response G to impulses: pins may leave directions without a
 * response. */
static void solve_response(const double G[9], const double b[3], double p[3])
{
    double A[9], Q[9];
    memcpy(A, G, sizeof A);
    sinew_symmetric_eigen(3, A, Q);
    const double trace = A[0] + A[4] + A[8];
    memset(p, 0, 3 * sizeof *p);
    for (int k = 0; k < 3; k++) {
        const double along = vec3_dot(Q + 3 * (size_t)k, b);
        for (int i = 0; A[4 * k] > 1e-9 * trace && i < 3; i++)
            p[i] += along / A[4 * k] * Q[3 * k + i];
    }
}

static void matrix_times(const double G[9], const double p[3], double out[3])
{
    for (size_t i = 0; i < 3; i++)
        out[i] = vec3_dot(G + 3 * i, p);
}

/* Finds the impulse p that gives the relative velocity u the normal part `target`: by sticking friction; by sliding
 * friction if p exceeds Coulomb's cone; without friction if that has no response along n. False: no impulse changes
 * the normal velocity. */
static bool find_impulse(const double G[9], const double n[3], const double u[3], double mu, double target, double p[3])
{
    double goal[3], across[3], out[3];
    const double along = vec3_dot(u, n);
    for (int i = 0; i < 3; i++) {
        goal[i] = target * n[i] - u[i];
        across[i] = u[i] - along * n[i];
    }
    solve_response(G, goal, p);
    const double normal = vec3_dot(p, n), slip = vec3_norm(across);
    for (int i = 0; i < 3; i++)
        out[i] = p[i] - normal * n[i];
    if (normal > 0 && vec3_norm(out) <= mu * normal)
        return true;
    for (int attempt = 0; attempt < 2; attempt++) {
        for (int i = 0; i < 3; i++)
            p[i] = n[i] - (attempt == 0 && slip > 0 ? mu * across[i] / slip : 0);
        matrix_times(G, p, out);
        const double response = vec3_dot(out, n);
        for (int i = 0; response > 0 && i < 3; i++)
            p[i] *= (target - along) / response;
        if (response > 0)
            return true;
    }
    return false;
}

/* Applies the impulse of an impact that ends, limited by the budget of its island. True: the impulse changed the
 * velocity by a noticeable part of the approach. */
static bool pair_rebound(const sinew_contact_view *view, impact_pair *pair)
{
    sinew_contact_work *c = view->contact;
    sinew_restitution *r = &c->restitution;
    const sinew_impact *impact = &pair->impact;
    impact_node *a = &r->nodes[pair->node[0]], *b = &r->nodes[pair->node[1]];
    double *budget = &r->linear[pair_island(r, pair)], u[3], G[9] = {0}, p[3], Gp[3];
    const double target = pair_restitution(c, pair->object) * impact->approach;
    pair_velocity(r, pair, NOW, impact->point, impact->drive, u);
    const double speed = vec3_dot(u, impact->normal), missing = target - speed;
    /* If another impulse drives the objects together faster than they approached, the next step begins a new impact
     * for them. */
    if (!(impact->approach > 0) || !(missing > SOLVED * impact->approach) || -speed > impact->approach)
        return false;
    sinew_rigid_modes_add_response(&a->modes, impact->point, G);
    sinew_rigid_modes_add_response(&b->modes, impact->point, G);
    if (!find_impulse(G, impact->normal, u, pair->mu, target, p))
        return false;
    matrix_times(G, p, Gp);
    const double linear = vec3_dot(p, u), square = vec3_dot(p, Gp) / 2, s = sinew_budget_scale(linear, square, *budget);
    *budget -= s * (linear + s * square);
    c->report.restitution_work += s * (linear + s * square);
    for (int which = NOW; which <= CHANGE; which++) {
        sinew_rigid_modes_push(&a->modes, impact->point, p, s, a->c[which]);
        sinew_rigid_modes_push(&b->modes, impact->point, p, -s, b->c[which]);
    }
    for (int i = 0; i < 3; i++)
        pair->impulse[i] += s * p[i];
    return s * missing > SOLVED * impact->approach;
}

static void impacts_rebound(const sinew_contact_view *view)
{
    sinew_restitution *r = &view->contact->restitution;
    bool changed = true;
    for (int pass = 0; changed && pass < SOLVE_PASSES; pass++) {
        changed = false;
        for (int32_t k = 0; k < r->pair_count; k++)
            if (r->pairs[k].ended)
                changed |= pair_rebound(view, &r->pairs[k]);
    }
    for (int32_t k = 0; k < r->node_count; k++)
        if (r->nodes[k].modes.piece >= 0)
            sinew_rigid_modes_apply(view, &r->nodes[k].modes, r->nodes[k].c[CHANGE]);
}

/* Keeps the impacts that do not end in this step; the next step continues them. */
static void impacts_keep(sinew_restitution *r)
{
    r->impact_count = 0;
    for (int32_t k = 0; k < r->pair_count; k++)
        if (r->pairs[k].active && !r->pairs[k].ended)
            r->impacts[r->impact_count++] = r->pairs[k].impact;
}

/* ---- Restitution in a step ------------------------------------------------------------------- */

sinew_status sinew_restitution_prepare(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    sinew_restitution *r = &c->restitution;
    r->on = false;
    for (int32_t o = 0; !view->quasistatic && o < c->mesh.object_count; o++)
        r->on = r->on || c->mesh.objects[o].restitution > 0;
    if (r->on && (!sinew_contact_find_pieces(view) || !sinew_budget_reserve(view)))
        return sinew_fail_memory(error, "restitution");
    return SINEW_OK;
}

void sinew_restitution_begin(const sinew_contact_view *view)
{
    if (view->contact->restitution.on)
        sinew_budget_begin(view);
}

void sinew_restitution_find_losses(const sinew_contact_view *view, const sinew_real *x)
{
    if (view->contact->restitution.on)
        sinew_budget_find_losses(view, x);
}

void sinew_restitution_apply(const sinew_contact_view *view, const sinew_real *x)
{
    sinew_restitution *r = &view->contact->restitution;
    r->pair_count = r->node_count = 0;
    if (!r->on) {
        r->impact_count = 0;
        return;
    }
    sinew_contact_vertex_restitution(view, x);
    impacts_make_pairs(view, x);
    impacts_make_nodes(view);
    for (int32_t k = 0; k < r->pair_count; k++)
        if (r->pairs[k].active)
            pair_follow_impact(view, &r->pairs[k]);
        else
            pair_begin_impact(view, &r->pairs[k]);
    impacts_add_losses(view);
    impacts_rebound(view);
    impacts_share_remaining_budget(view);
    impacts_keep(r);
}

void sinew_restitution_add_collider_forces(const sinew_contact_view *view)
{
    const sinew_restitution *r = &view->contact->restitution;
    for (int32_t k = 0; k < r->pair_count; k++) {
        const impact_pair *pair = &r->pairs[k];
        const int32_t slot = view->contact->mesh.objects[pair->object[1]].collider;
        double R[9], p[3], arm[3];
        if (slot < 0 || !pair->ended)
            continue;
        sinew_collider_record *collider = &view->colliders[slot];
        sinew_shape_frame(collider, view->time - collider->behind, 0, R, p);
        vec3_sub(pair->impact.point, p, arm);
        vec3_add_cross(arm, pair->impulse, -1 / (double)view->time_step, collider->torque);
        for (int i = 0; i < 3; i++)
            collider->force[i] -= pair->impulse[i] / (double)view->time_step;
    }
}

void sinew_restitution_release(sinew_restitution *r, const sinew_allocator *allocator)
{
    void *arrays[] = {r->impacts, r->piece,  r->piece_root, r->piece_body, r->piece_vertex, r->q_start, r->energy,
                      r->loss,    r->linear, r->square,     r->island,     r->pairs,        r->nodes,   r->order};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        sinew_release(allocator, arrays[k]);
    *r = (sinew_restitution){0};
}
