/* SPDX-License-Identifier: MIT
 *
 * step.c: contact within a step: the step filter, multiplier updates, and further detection passes. See contact.h and
 * docs/guides/contact.md.
 *
 * Gradient-based solvers update multipliers only when the residual is at most 5 % of the sum of external forces,
 * except for contacts with a vertex that the step filter truncated. If they were updated sooner, k_n times a transient
 * penetration would become a force far larger than the weight and throw stacks apart.
 * Vertex sweeps have no such gate: their residual falls slowly, and stacks would sink. The lagged normal force of
 * friction is updated in every multiplier update. While the iterate belongs to an auxiliary problem (mpbng's bound
 * layers), neither is updated, because its forces are not the forces of the world.
 */
#include <math.h>
#include <string.h>

#include "base/reduce.h"
#include "contact/modes.h"
#include "math/vec3.h"

/* Multiplier updates wait until the residual is at most this fraction of the sum of external forces, or of the
 * residual's scale if there are none. Chosen: on scenes/soft_tower with newton the gate has no effect (violation 41 um
 * with and without it, 2206 and 2215 updates). */
#define RESIDUAL_GATE 0.05
/* Multiplier updates: maximum per step, iterations between two updates, and iterations that must remain for another
 * update, because an update without iterations to solve it worsens the step. Chosen, not measured. */
#define UPDATES_MAX            200
#define UPDATE_INTERVAL_NEWTON 4
#define UPDATE_INTERVAL_SWEEPS 4
#define UPDATE_ITERATIONS_MIN  3
/* Multipliers have converged if their change, relative to offsets and forces, is below this factor times the tolerance,
 * and at most CONVERGED_MAX. Chosen, not measured. */
#define CONVERGED_FACTOR 1e4
#define CONVERGED_MAX    1e-3
/* Updates stop after this number of consecutive convergence tests whose change is equal to within IDLE_CHANGE: forces
 * of redundant contacts drift, for example under a cloth on a sphere (test_contact_solvers). Chosen, not measured. */
#define IDLE_UPDATES_MAX 16
#define IDLE_CHANGE      0.01
/* The step filter has truncated many vertices if their count exceeds this fraction of all vertices of bodies, and
 * this number. Chosen, not measured. */
#define TRUNCATED_FRACTION 0.01
#define TRUNCATED_FEW      3
/* Iterations between two detection passes while many vertices are truncated, and the factor on this interval while few
 * are truncated. Chosen, not measured. */
#define DETECT_INTERVAL_NEWTON 2
#define DETECT_INTERVAL_SWEEPS 5
#define DETECT_FEW_FACTOR      3
/* A slide of a contact by this fraction of the offset causes a detection pass, in the first SLIDE_DETECTIONS passes of
 * a step. Chosen, not measured. */
#define SLIDE_MAX        0.5
#define SLIDE_DETECTIONS 4
/* A solved step is detected again if pairs penetrate by more than this fraction of the thickness: 1e-2 sets the bit
 * `contact` (report.c), which test_no_crossing checks. Each further pass requires a value below MISSED_GAIN times that
 * of the last pass. After the fraction MISSED_TIME of the iterations too few remain: 0.3 left the bit in 40 steps of
 * scenes/towel, 0.8 in 14. Constraint systems need more iterations after a pass: 0.8 stretched a cloth of hard edges on
 * a ball by 3 % (test_contact_hard). */
#define MISSED_MIN         8e-3
#define MISSED_GAIN        0.5
#define MISSED_TIME        0.8
#define MISSED_TIME_SYSTEM 0.3
/* A multiplier update that changes a force or a clearance by more than this fraction requires another iteration, also
 * if the residual is still below the tolerance: else scenes/knot sets the bit `contact`, at 1e-2, in half of its
 * steps. */
#define CHANGE_MAX 8e-3
/* Maximum number of reductions of a truncated collider's motion in one filtering; the last one stops the collider.
 * Chosen, not measured. */
#define COLLIDER_TRIALS 4

/* ---- Properties of solvers --------------------------------------------------------------------- */

static bool solver_follows_gradient(const sinew_solve *s)
{
    return !(s->ops->info.needs & (SINEW_CAN_CONSTRAINT | SINEW_CAN_VERTEX));
}

/* True if multipliers may take over the force that the step filter bears. Beside hard constraints they may not: the
 * residual of a truncated vertex is then a force of its constraints, too (an inextensible cloth on a ball by
 * primal-dual: 19 of 120 steps did not converge where multipliers did, 4 where they did not). */
static bool solver_takes_filtered_forces(const sinew_solve *s)
{
    return s->ops->corrects_forces && !s->has_hard;
}

static bool has_multiplier_updates(const sinew_contact_view *view)
{
    return sinew_contact_mode_get(view->contact->def.mode)->multipliers &&
           !(view->solve->ops->info.needs & SINEW_CAN_CONSTRAINT);
}

/* ---- Step filter ----------------------------------------------------------------------------- */

/* Requests q for free particles, and the positions at the end of the step for pinned particles and colliders. */
static void request_positions(const sinew_contact_view *view, const sinew_real *q)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const int32_t p = f->particle[v];
        if (p >= 0)
            memcpy(c->step_filter.x_requested + 4 * (size_t)v, (view->pinned[p] ? view->q_tilde : q) + 4 * (size_t)p,
                   4 * sizeof *c->step_filter.x_requested);
    }
    sinew_collision_mesh_embed(f, c->step_filter.x_requested);
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic)
            sinew_contact_collider_positions(view, o, 1,
                                             c->step_filter.x_requested + 4 * (size_t)f->objects[o].first_vertex);
}

static double collider_tau(const sinew_contact_work *c, int32_t o)
{
    const sinew_collision_object *object = &c->mesh.objects[o];
    return object->vertex_count > 0 ? (double)c->step_filter.x_accepted[4 * (size_t)object->first_vertex + 3] : 1;
}

/* Reduces the requested motion of truncated colliders to a fraction, because a rotating collider does not move along
 * the straight lines of the filter; `last`: to the motion completed so far. progress [object_count]: fractions of the
 * last request. Returns true if a fraction was reduced. */
static bool request_shorter_motion(const sinew_contact_view *view, double *progress, bool last)
{
    sinew_contact_work *c = view->contact;
    bool any = false;
    for (int32_t o = 0; o < c->mesh.object_count; o++) {
        const sinew_collision_object *object = &c->mesh.objects[o];
        const double tau = collider_tau(c, o);
        if (!object->kinematic || object->vertex_count == 0 || tau >= 1)
            continue;
        progress[o] = last ? c->fraction[o] : c->fraction[o] + tau * (progress[o] - c->fraction[o]);
        sinew_contact_collider_positions(view, o, progress[o],
                                         c->step_filter.x_requested + 4 * (size_t)object->first_vertex);
        any = true;
    }
    return any;
}

/* Computes tau of all vertices: the fraction of its requested displacement that a vertex may take. Colliders stay on
 * their prescribed motion, at progress [object_count]. Returns the number of truncated vertices. */
static int32_t filter_compute_fractions(const sinew_contact_view *view, double *progress)
{
    sinew_contact_work *c = view->contact;
    int32_t truncated = 0;
    for (int32_t o = 0; o < c->mesh.object_count; o++)
        progress[o] = 1;
    for (int k = 0; k <= COLLIDER_TRIALS; k++) {
        truncated = sinew_step_filter_limit(&c->step_filter, &c->mesh, view->objective->thread_count);
        if (!request_shorter_motion(view, progress, k + 1 == COLLIDER_TRIALS))
            break;
    }
    return truncated;
}

/* Without the step filter, vertices are accepted at q (pinned ones at q_tilde), and the next detection pass starts
 * there. */
static void accept_positions(const sinew_contact_view *view, const sinew_real *q)
{
    sinew_contact_work *c = view->contact;
    for (int32_t v = 0; v < c->mesh.moved_count; v++) {
        const int32_t p = c->mesh.particle[v];
        if (p < 0)
            continue;
        const sinew_real *x = (view->pinned[p] ? view->q_tilde : q) + 4 * (size_t)p;
        memcpy(c->x_requested + 4 * (size_t)v, x, 4 * sizeof *c->x_requested);
        memcpy(c->step_filter.x_accepted + 4 * (size_t)v, x, 3 * sizeof *c->step_filter.x_accepted);
    }
    sinew_collision_mesh_embed(&c->mesh, c->x_requested);
    sinew_collision_mesh_embed(&c->mesh, c->step_filter.x_accepted);
}

/* Truncates the displacement of the iterate q [particle_count][4] so that no candidate pair crosses; without the step
 * filter, accepts q. `late`: writes only pins to q, for solvers that are filtered at the end of the step. True: q was
 * changed. */
static bool filter_iterate(const sinew_contact_view *view, sinew_real *q, bool late)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    bool changed = false;
    if (!sinew_contact_is_filtered(c)) {
        accept_positions(view, q);
        return false;
    }
    request_positions(view, q);
    if (!c->trial_filtered)
        memcpy(c->x_requested, c->step_filter.x_requested, 4 * (size_t)f->moved_count * sizeof *c->x_requested);
    filter_compute_fractions(view, c->progress);
    c->truncated_count = 0;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const int32_t p = f->particle[v];
        sinew_real position[3];
        const bool is_truncated = c->step_filter.truncated[v];
        c->truncated[v] = is_truncated || (c->trial_filtered && c->truncated[v]);
        c->truncated_count += c->truncated[v];
        sinew_step_filter_position(&c->step_filter, v, position);
        memcpy(c->step_filter.x_accepted + 4 * (size_t)v, position, sizeof position);
        if (p < 0 || (late && !view->pinned[p]))
            continue;
        changed = changed || memcmp(q + 4 * (size_t)p, position, sizeof position) != 0;
        memcpy(q + 4 * (size_t)p, position, sizeof position);
    }
    sinew_collision_mesh_embed(f, c->step_filter.x_accepted);
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic && f->objects[o].vertex_count > 0 && collider_tau(c, o) >= 1) {
            c->fraction[o] = c->progress[o];
            sinew_contact_collider_positions(view, o, c->fraction[o],
                                             c->step_filter.x_accepted + 4 * (size_t)f->objects[o].first_vertex);
        }
    sinew_step_filter_commit(&c->step_filter, f);
    c->trial_filtered = false;
    c->hooks.truncated = c->truncated_count > 0;
    return changed;
}

/* Truncates the trial positions of a line search as filter_iterate() would, and stores which vertices were
 * truncated. */
static void filter_trial_hook(void *context, sinew_real *trial)
{
    const sinew_contact_view *view = context;
    sinew_contact_work *c = view->contact;
    if (!sinew_contact_is_filtered(c))
        return;
    request_positions(view, trial);
    memcpy(c->x_requested, c->step_filter.x_requested, 4 * (size_t)c->mesh.moved_count * sizeof *c->x_requested);
    filter_compute_fractions(view, c->progress);
    for (int32_t v = 0; v < c->mesh.moved_count; v++) {
        const int32_t p = c->mesh.particle[v];
        c->truncated[v] = c->step_filter.truncated[v];
        if (c->truncated[v] && p >= 0 && !view->pinned[p])
            sinew_step_filter_position(&c->step_filter, v, trial + 4 * (size_t)p);
    }
    c->trial_filtered = true;
}

static bool filter_iterate_hook(void *context, sinew_solve *s)
{
    const sinew_contact_view *view = context;
    const sinew_contact_mode_ops *mode = sinew_contact_mode_get(view->contact->def.mode);
    if (mode->filter) {
        const bool changed = mode->filter(view, s->q);
        accept_positions(view, s->q);
        return changed;
    }
    return filter_iterate(view, s->q, s->ops->filtered_late);
}

/* ---- Multiplier updates ---------------------------------------------------------------------- */

bool sinew_contact_gate(const sinew_contact_view *view)
{
    const double gate = view->contact->residual_gate;
    sinew_solve *s = view->solve;
    if (!solver_follows_gradient(s))
        return true;
    sinew_solve_evaluate(s);
    const double residual = s->ops->contact_residual ? s->ops->contact_residual(s) : s->residual;
    return residual <= (gate > 0 ? gate : RESIDUAL_GATE * s->scale);
}

/* True if a multiplier update at q needs another iteration: it changes a normal force by more than CHANGE_MAX of k_n
 * times the offset, or friction misses Coulomb's law by more than CHANGE_MAX of the largest force. */
static bool change_needs_iteration(const sinew_contact_work *c, const sinew_real *q)
{
    double force_max = 0, friction_error = 0, violation = 0;
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        double u[3];
        const double force = sinew_contact_normal_force(c, e, q, u), limit = t->mu * t->lagged_normal_force;
        force_max = fmax(force_max, fmax(force, t->lagged_normal_force));
        friction_error =
            fmax(friction_error, sinew_contact_friction_error(t, fmin(t->kt * vec3_norm(u), limit), limit, force));
        violation = fmax(violation, fabs(force - t->lambda) / (t->kn * t->offset));
    }
    return violation > CHANGE_MAX || friction_error > CHANGE_MAX * force_max;
}

/* Relative change that a multiplier update would make: of normal forces over kn times the offset, and of lagged normal
 * forces over the largest normal force. */
static double multiplier_change_fraction(const sinew_contact_work *c, const sinew_real *q)
{
    double force_max = 0, friction_change = 0, offset_change = 0;
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        double u[3];
        const double force = sinew_contact_normal_force(c, e, q, u);
        force_max = fmax(force_max, force);
        friction_change = fmax(friction_change, t->mu > 0 ? fabs(force - t->lagged_normal_force) : 0);
        offset_change = fmax(offset_change, fabs(force - t->lambda) / (t->kn * t->offset));
    }
    return fmax(offset_change, friction_change > 0 ? friction_change / force_max : 0);
}

/* True if another multiplier update is unnecessary: contacts with spheres and capsules are at their closest points, and
 * multipliers have converged. Forces of redundant contacts may drift for many updates; only small tolerances wait for
 * them. */
static bool multipliers_converged(const sinew_contact_view *view, const sinew_solve *s)
{
    sinew_contact_work *c = view->contact;
    const double tolerance = (double)s->def.tolerance > 0 ? (double)s->def.tolerance : SINEW_DEFAULT_TOLERANCE;
    const double max = fmin(CONVERGED_FACTOR * tolerance, CONVERGED_MAX),
                 fraction = multiplier_change_fraction(c, s->q);
    c->idle_updates = fabs(fraction - c->multiplier_change) < IDLE_CHANGE * fraction ? c->idle_updates + 1 : 0;
    c->multiplier_change = fraction;
    const bool idle = c->idle_updates >= IDLE_UPDATES_MAX && max >= CONVERGED_MAX;
    return (fraction <= max || idle) && sinew_contact_relax_round(view, s->q, false) <= max;
}

/* True if the step filter truncated a vertex of the contact in the last iteration. The filter ignores vertices inside
 * a collider. */
static bool contact_is_truncated(const sinew_contact_work *c, const sinew_contact_constraint *t)
{
    for (int a = 0; a < 4; a++)
        if ((double)t->w[a] != 0 && c->truncated[t->v[a]] && !(t->initial_penetration > 0))
            return true;
    return false;
}

/* Vertex at which the contacts of a vertex are counted: those of a rigid body share its first one. */
static int32_t counted_vertex(const sinew_contact_work *c, int32_t v)
{
    const sinew_collision_object *o = &c->mesh.objects[c->mesh.object[v]];
    return o->rigid ? o->first_vertex : v;
}

/* Counts the contacts of each vertex that have a truncated vertex, into contact_counts. */
static void count_truncated_contacts(sinew_contact_work *c)
{
    memset(c->contact_counts, 0, (size_t)c->mesh.vertex_count * sizeof *c->contact_counts);
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        for (int a = 0; a < 4 && contact_is_truncated(c, t); a++)
            c->contact_counts[counted_vertex(c, t->v[a])] += (double)t->w[a] != 0;
    }
}

/* Normal force that the step filter bears in place of a contact, in N: the residual of its vertices along n, as the
 * least-squares multiplier of this contact, divided by the number of truncated contacts that share a vertex. It is at
 * most k_n times the truncated approach: residuals of iterates that are far from equilibrium have other causes. */
static double contact_filtered_force(const sinew_contact_view *view, const sinew_contact_constraint *t)
{
    const sinew_contact_work *c = view->contact;
    const sinew_contact_support s = sinew_contact_support_of(c, t);
    double along = 0, square = 0, approach = 0;
    int32_t sharing = 1;
    for (int k = 0; k < s.count; k++) {
        /* The gradient at a particle of a rigid body is mostly the force that keeps the body rigid, not that of
         * contacts. */
        if (s.rigid[k])
            return 0;
        const sinew_real *gradient = view->solve->gradient + 4 * (size_t)s.particle[k];
        if (view->pinned[s.particle[k]])
            continue;
        for (size_t i = 0; i < 3; i++)
            along += s.weight[k] * (double)gradient[i] * t->n[i];
        square += s.weight[k] * s.weight[k];
    }
    for (int a = 0; a < 4; a++) {
        if (t->v[a] >= c->mesh.moved_count || (double)t->w[a] == 0 || c->step_filter.fixed[t->v[a]])
            continue;
        for (size_t i = 0; i < 3; i++) {
            const size_t at = 4 * (size_t)t->v[a] + i;
            approach -=
                (double)t->w[a] * t->n[i] * ((double)c->x_requested[at] - (double)c->step_filter.x_accepted[at]);
        }
        const int32_t count = c->contact_counts[counted_vertex(c, t->v[a])];
        sharing = count > sharing ? count : sharing;
    }
    return square > 0 ? fmax(0, fmin(along / square / sharing, t->kn * approach)) : 0;
}

/* Adds the force that the step filter bears to the multipliers of contacts with a truncated vertex. An update by k_n
 * times the penetration cannot find it: the filter bounds the penetration by the offset, and k_n times a thin offset
 * is far less than the weight (test_thickness). The gate does not apply, because the residual of such a vertex does
 * not fall. For solvers that correct wrong forces slowly, and beside hard constraints, multipliers are set to the
 * normal forces without the filter's force: with it, steps would end with forces that throw bodies apart
 * (test_contact_state with pd). Returns true if a multiplier changed. */
static bool take_filtered_forces(const sinew_contact_view *view, sinew_solve *s)
{
    sinew_contact_work *c = view->contact;
    const bool whole = solver_takes_filtered_forces(s);
    bool any = false;
    if (c->truncated_count == 0 || c->element_count == 0)
        return false;
    if (whole)
        sinew_solve_evaluate(s);
    count_truncated_contacts(c);
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        double u[3];
        if (!contact_is_truncated(c, t))
            continue;
        const double force = sinew_contact_normal_force(c, e, s->q, u) + (whole ? contact_filtered_force(view, t) : 0);
        any = any || force != t->lambda;
        t->lambda = t->lagged_normal_force = force;
    }
    return any;
}

/* Sets lagged normal forces to the current normal forces; if the gate is open, also sets the multipliers. Contacts with
 * a truncated vertex have theirs from take_filtered_forces(). `settled`: contacts are near equilibrium, so that those
 * without room yield; false for solvers that correct forces slowly, whose violations do not fall for many updates. */
static void set_multipliers(const sinew_contact_view *view, sinew_solve *s, bool open, bool settled)
{
    sinew_contact_work *c = view->contact;
    const bool filtered = take_filtered_forces(view, s);
    c->backed_known = false;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        double u[3];
        if (filtered && contact_is_truncated(c, t))
            continue;
        const double force = sinew_contact_normal_force(c, e, s->q, u);
        t->lagged_normal_force = open && settled ? sinew_contact_follow_yield(view, e, force, s->q) : force;
        if (open)
            t->lambda = t->lagged_normal_force;
    }
    sinew_contact_write_numbers(c);
    c->report.updates++;
}

static int32_t update_interval(const sinew_contact_view *view)
{
    const sinew_contact_def *def = &view->contact->def;
    return def->multiplier_interval > 0           ? def->multiplier_interval
           : solver_follows_gradient(view->solve) ? UPDATE_INTERVAL_NEWTON
                                                  : UPDATE_INTERVAL_SWEEPS;
}

static uint32_t update_multipliers(const sinew_contact_view *view, sinew_solve *s, int32_t iteration, bool solved)
{
    sinew_contact_work *c = view->contact;
    if (!has_multiplier_updates(view) || s->in_subproblem || c->element_count == 0 || c->report.updates >= UPDATES_MAX)
        return 0;
    /* If no iteration followed the last multiplier update, that update changed nothing above the tolerance and was not
     * large. */
    if (solved ? iteration == c->last_update
               : iteration - fmax(c->last_update, c->detection_iteration) < update_interval(view))
        return 0;
    /* A multiplier update that the remaining iterations cannot solve would worsen the step. */
    if (solved && (s->def.iterations - iteration < UPDATE_ITERATIONS_MIN || multipliers_converged(view, s)))
        return 0;
    const bool open = sinew_contact_gate(view);
    /* Not in single precision: there, iterations after large updates move the work of contacts under a lifted block
     * from 4 % above that of gravity to 6 % below it (test_contact_balance). */
    const bool large = sizeof(sinew_real) > 4 && change_needs_iteration(c, s->q);
    set_multipliers(view, s, open, s->ops->corrects_forces && (solved || solver_follows_gradient(s)));
    if (sinew_contact_relax_round(view, s->q, true) > 0)
        sinew_contact_write_numbers(c);
    c->last_update = iteration;
    return SINEW_UPDATE_NUMBERS | (large ? SINEW_UPDATE_ITERATE : 0);
}

/* ---- Further detection passes ---------------------------------------------------------------- */

/* True if the sides of some active contact have slid along each other, so that its direction may have changed. The
 * normal of a plane does not depend on the point, so planes are skipped. */
static bool contacts_have_slid(const sinew_contact_work *c, const sinew_real *q)
{
    for (int32_t e = 0; e < c->element_count; e++) {
        const sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        double u[3], slid[3] = {0, 0, 0}, along = 0, square = 0;
        if (c->mesh.objects[t->second].vertex_count == 0 || !(sinew_contact_normal_force(c, e, q, u) > 0))
            continue;
        for (size_t i = 0; i < 3; i++) {
            for (int a = 0; a < 4; a++)
                slid[i] += (double)t->w[a] * ((double)c->step_filter.x_accepted[4 * (size_t)t->v[a] + i] -
                                              (double)c->step_filter.x_pass_start[4 * (size_t)t->v[a] + i]);
            along += slid[i] * t->n[i];
        }
        for (int i = 0; i < 3; i++)
            square += pow(slid[i] - along * t->n[i], 2);
        if (square > SLIDE_MAX * SLIDE_MAX * t->offset * t->offset)
            return true;
    }
    return false;
}

static bool collider_is_truncated(const sinew_contact_work *c)
{
    for (int32_t o = 0; o < c->mesh.object_count; o++)
        if (c->mesh.objects[o].kinematic && c->fraction[o] < 1)
            return true;
    return false;
}

/* True if another detection pass is due. Vertices or colliders that were truncated need one once the step is solved, or
 * they would stay suspended; before that, after an interval that is short if many vertices were truncated. Active
 * contacts that have slid need one after the same interval. */
static bool detection_is_due(const sinew_contact_view *view, int32_t iteration, bool solved)
{
    const sinew_contact_work *c = view->contact;
    const bool many = c->truncated_count > fmax(TRUNCATED_FRACTION * c->mesh.moved_count, TRUNCATED_FEW);
    const int32_t wait = (solver_follows_gradient(view->solve) ? DETECT_INTERVAL_NEWTON : DETECT_INTERVAL_SWEEPS) *
                         (many ? 1 : DETECT_FEW_FACTOR);
    if (c->report.detections >= c->def.max_detections)
        return false;
    if (c->report.detections < SLIDE_DETECTIONS && (iteration == 0 || iteration - c->detection_iteration >= wait) &&
        contacts_have_slid(c, view->solve->q))
        return true;
    return (solved || iteration - c->detection_iteration >= wait) &&
           (c->truncated_count > 0 || collider_is_truncated(c));
}

/* True if a further detection pass fits into the time budget of the step. */
static bool budget_allows_detection(const sinew_contact_view *view)
{
    return sinew_time_budget_allows(&view->solve->budget, SINEW_STAGE_DETECTION);
}

/* Keeps the multipliers of a solver that owns its multipliers (XPBD): its positions already include these impulses, and
 * only the same constraint can undo them. */
static void adopt_solver_multipliers(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    if (c->element_count == 0 || !sinew_contact_own_forces(view, c->solver_multipliers))
        return;
    for (int32_t e = 0; e < c->element_count; e++) {
        sinew_contact_constraint *t = &c->contacts.list[c->contact_of[e]];
        t->lambda = (double)c->solver_multipliers[4 * (size_t)e];
        for (size_t i = 0; i < 3; i++)
            t->tangent[i] = -(double)c->solver_multipliers[4 * (size_t)e + 1 + i];
    }
}

static uint32_t redetect(const sinew_contact_view *view, sinew_solve *s, int32_t iteration)
{
    sinew_contact_work *c = view->contact;
    adopt_solver_multipliers(view);
    if (has_multiplier_updates(view) && !s->in_subproblem && solver_takes_filtered_forces(s))
        take_filtered_forces(view, s);
    memcpy(c->x_pass_start, c->step_filter.x_accepted, 4 * (size_t)c->mesh.vertex_count * sizeof *c->x_pass_start);
    for (int32_t i = 0; i < view->particle_count; i++)
        if (view->pinned[i])
            memcpy(s->q + 4 * (size_t)i, view->q_tilde + 4 * (size_t)i, 3 * sizeof *s->q);
    if (sinew_contact_detect(view, false, view->error) != SINEW_OK)
        return SINEW_UPDATE_FAILED;
    c->detection_iteration = iteration;
    filter_iterate(view, s->q, s->ops->filtered_late);
    return SINEW_UPDATE_ELEMENTS | SINEW_UPDATE_POSITIONS;
}

/* True if penetration by pairs without a contact justifies another detection pass. A contact acts at one point along
 * one direction; after rotation or sliding, other candidate pairs may penetrate although the contacts are solved.
 * With the step filter, pairs that are not candidates stay farther apart than their gap (candidates.h). */
static bool missed_needs_detection(sinew_contact_work *c, const sinew_solve *s, int32_t iteration)
{
    if (c->report.detections >= c->def.max_detections || s->in_subproblem ||
        iteration > (s->ops->kkt ? MISSED_TIME_SYSTEM : MISSED_TIME) * s->def.iterations)
        return false;
    const double missed = sinew_candidates_penetration(&c->mesh, &c->pairs, c->step_filter.x_pass_start,
                                                       c->step_filter.x_accepted, c->offset_reduction)
                              .fraction;
    const bool worth = missed > MISSED_MIN && missed < MISSED_GAIN * c->redetect_penetration;
    c->redetect_penetration = worth ? missed : c->redetect_penetration;
    return worth;
}

static uint32_t update_hook(void *context, sinew_solve *s, int32_t iteration, bool solved)
{
    const sinew_contact_view *view = context;
    if (detection_is_due(view, iteration, solved) && budget_allows_detection(view)) {
        const uint32_t what = redetect(view, s, iteration);
        if (what)
            return what;
    }
    const uint32_t what = update_multipliers(view, s, iteration, solved);
    const bool converged = !what && solved && has_multiplier_updates(view);
    const bool again =
        converged && missed_needs_detection(view->contact, s, iteration) && budget_allows_detection(view);
    return again ? redetect(view, s, iteration) : what;
}

/* Moves truncated vertices of a solver that is filtered late towards its last request. They may have left their trust
 * regions in empty space, and sweeps end before another pass is due: one pass whose prediction is the request lets them
 * reach it, unless a candidate pair or the new trust region limits them. Contacts do not change: the solver has
 * ended. */
static void complete_truncated_motion(const sinew_contact_view *view, sinew_solve *s)
{
    sinew_contact_work *c = view->contact;
    if (!sinew_contact_is_filtered(c) || c->truncated_count == 0 || c->report.detections >= c->def.max_detections ||
        !budget_allows_detection(view))
        return;
    const sinew_stage_start stage = sinew_time_budget_begin_stage(&s->budget);
    memcpy(c->x_pass_start, c->step_filter.x_accepted, 4 * (size_t)c->mesh.vertex_count * sizeof *c->x_pass_start);
    const sinew_status status = sinew_contact_rebuild_filter(view, NULL);
    sinew_time_budget_end_stage(&s->budget, SINEW_STAGE_DETECTION, stage);
    if (status != SINEW_OK)
        return;
    for (int32_t v = 0; v < c->mesh.moved_count; v++)
        if (c->mesh.particle[v] >= 0)
            memcpy(s->q + 4 * (size_t)c->mesh.particle[v], c->x_requested + 4 * (size_t)v, 3 * sizeof *s->q);
    filter_iterate(view, s->q, false);
}

static void filter_end_hook(void *context, sinew_solve *s)
{
    const sinew_contact_view *view = context;
    if (!s->ops->filtered_late)
        return;
    sinew_contact_straighten_rigid(view, s->q);
    filter_iterate(view, s->q, false);
    complete_truncated_motion(view, s);
}

/* ---- Contact at the start of the step --------------------------------------------------------- */

/* Sets the initial guess of solvers that start from inertia: x + h v + h^2 a, with the fraction of the external
 * acceleration that changed the velocity in the last step. From q_tilde, resting bodies would start inside their
 * support; from q_n, falling bodies would lag. If no contact was active in the last step, the guess is q_tilde. */
static void set_first_guess(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    const double h = (double)view->time_step;
    bool touched = false;
    for (int32_t k = 0; k < c->contacts.count; k++)
        touched |= c->contacts.list[k].was_active;
    for (int32_t i = 0; i < view->particle_count; i++) {
        double square = 0, along = 0;
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)i + k;
            const double push = (double)view->f_ext[at] / (double)view->mass[i];
            square += push * push;
            along += push * ((double)view->v[at] - (double)view->v_before[at]) / h;
        }
        const bool known = touched && view->v_before[4 * (size_t)i + 3] > 0;
        const double fraction = !known ? 1 : square > 0 ? fmax(0, fmin(1, along / square)) : 0;
        for (size_t k = 0; k < 3; k++) {
            const size_t at = 4 * (size_t)i + k;
            const double push = h * h * (double)view->f_ext[at] / (double)view->mass[i];
            c->guess[at] = (sinew_real)((double)view->q_tilde[at] - (view->pinned[i] ? 0 : (1 - fraction) * push));
        }
        c->guess[4 * (size_t)i + 3] = 0;
    }
}

static double external_force_size(const sinew_contact_view *view)
{
    double sum[3] = {0, 0, 0};
    for (int32_t i = 0; i < view->particle_count; i++)
        for (size_t k = 0; !view->pinned[i] && k < 3; k++)
            sum[k] += fabs((double)view->f_ext[4 * (size_t)i + k]);
    return vec3_norm(sum);
}

static bool reserve_step_vectors(const sinew_contact_view *view, sinew_contact_work *c)
{
    const sinew_allocator *m = view->allocator;
    const size_t size = 4 * (size_t)view->particle_count;
    return sinew_reserve(m, &c->v_step_start, &c->v_capacity, size, sizeof *c->v_step_start) &&
           sinew_reserve(m, &c->guess, &c->guess_capacity, size, sizeof *c->guess) &&
           sinew_reserve(m, &c->blocks, &c->block_capacity, 9 * (size_t)view->particle_count, sizeof *c->blocks) &&
           sinew_reserve(m, &c->block_known, &c->block_known_capacity, (size_t)view->particle_count, 1) &&
           sinew_reserve(m, &c->block_wanted, &c->block_wanted_capacity, (size_t)view->particle_count, 1);
}

static void store_start_velocities(const sinew_contact_view *view)
{
    sinew_real *v = view->contact->v_step_start;
    memcpy(v, view->v, 4 * (size_t)view->particle_count * sizeof *v);
    for (int32_t i = 0; i < view->particle_count; i++)
        v[4 * (size_t)i + 3] = 1;
}

/* Collects the positions at the start of the step, where the first pass starts. */
static void gather_step_start(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    sinew_contact_gather(view, view->q, c->x_step_start);
    memcpy(c->x_pass_start, c->x_step_start, 4 * (size_t)c->mesh.vertex_count * sizeof *c->x_pass_start);
}

/* The first detection pass, after overlapping surfaces were moved apart. If surfaces touch, they are separated, and the
 * pass is repeated. */
static sinew_status detect_first(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    bool moved = false;
    c->separated = false;
    sinew_status status = sinew_contact_untangle(view, error);
    if (status != SINEW_OK)
        return status;
    gather_step_start(view);
    status = sinew_contact_detect(view, true, error);
    if (status == SINEW_OK && sinew_contact_is_filtered(c))
        status = sinew_contact_separate_touching(view, &moved, error);
    if (status != SINEW_OK || !moved)
        return status;
    /* Layers that touch on both sides may have no common solution: the next step looks for overlaps. */
    c->free_known = false;
    gather_step_start(view);
    return sinew_contact_detect(view, true, error);
}

sinew_status sinew_contact_begin(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    c->time = view->time;
    const sinew_contact_mode_ops *mode = sinew_contact_mode_get(c->def.mode);
    sinew_status status = sinew_contact_update_surfaces(view, error);
    if (status == SINEW_OK)
        status = sinew_restitution_prepare(view, error);
    if (status != SINEW_OK)
        return status;
    if (!reserve_step_vectors(view, c) || !sinew_contact_store_previous(view))
        return sinew_fail_memory(error, "contacts");
    const int32_t intersections = c->intersections_known ? c->report.intersections : -1;
    c->report = (sinew_contact_report){.intersections_before = intersections};
    c->intersections_known = false;
    c->detection_iteration = 0;
    c->last_update = -1;
    c->redetect_penetration = c->multiplier_change = HUGE_VAL;
    c->idle_updates = 0;
    c->residual_gate = RESIDUAL_GATE * external_force_size(view);
    c->view = *view;
    c->hooks = (sinew_contact_hooks){.context = &c->view,
                                     .limit = filter_trial_hook,
                                     .filter = filter_iterate_hook,
                                     .update = update_hook,
                                     .finish = filter_end_hook,
                                     .settle_begin = sinew_contact_settle_begin,
                                     .settle_update = sinew_contact_settle_update,
                                     .settle_end = sinew_contact_settle_end,
                                     .batches = view->batches,
                                     .error = view->error};
    view->solve->contact = &c->hooks;
    memset(c->block_known, 0, (size_t)view->particle_count);
    c->stiffness_work = 0;
    set_first_guess(view);
    store_start_velocities(view);
    for (int32_t o = 0; o < c->mesh.object_count; o++)
        c->fraction[o] = 0;
    status = detect_first(view, error);
    if (status == SINEW_OK && c->report.intersections_before < 0 && view->measure != SINEW_MEASURE_NOTHING &&
        sinew_time_budget_allows(&view->solve->budget, SINEW_STAGE_CLEARANCE))
        c->report.intersections_before = (int32_t)sinew_detect_intersections(c->detector, c->x_step_start, NULL, 0);
    /* Without contact elements, the step starts as in a world without contact. */
    view->solve->first_guess = status == SINEW_OK && c->element_count > 0 ? c->guess : NULL;
    if (status == SINEW_OK && mode->begin)
        status = mode->begin(view, error);
    if (status == SINEW_OK)
        sinew_restitution_begin(view);
    return status;
}

void sinew_contact_abandon(const sinew_contact_view *view)
{
    sinew_contact_projection_undo(view);
    sinew_contact_undo_separation(view);
    view->contact->free_known = false;
    sinew_contact_restore_previous(view);
    view->solve->contact = NULL;
    view->solve->first_guess = NULL;
}
