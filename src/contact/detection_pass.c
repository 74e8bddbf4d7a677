/* SPDX-License-Identifier: MIT
 *
 * detection_pass.c: one detection pass (contact.h): predicted displacements, trust regions, candidate pairs, the
 * step filter of these pairs, and contacts as elements of the objective and the solver.
 */
#include <math.h>
#include <string.h>

#include "base/stop.h"
#include "contact/modes.h"
#include "math/vec3.h"

/* Parameters of the detection pass. The values are chosen, not measured; the filter's guarantee holds for any values
 * (test_step_filter). With these values scenes/tablecloth has at most 18 520 candidate pairs and 2.5 detections per
 * step (docs/evidence/contact.md). */
#define RADIUS_FACTOR 1.2 /* trust-region radius divided by the vertex's deviation from its predicted path */
/* Bound of trust-region radii of bodies, in mean edge lengths. Two radii are less than the distance of neighbours at
 * rest (0.6 edges in a grid of right triangles), so a smooth sheet has no candidate pairs with itself. A cloth of 5k
 * vertices on a ball has 0.2 pairs a vertex at its impact, 44 with 1.5 edges, and needs as many passes (bench_pairs).
 * After so many passes in a step the bound doubles with each pass: fast impacts on coarse meshes, whose vertices leave
 * their predicted paths by more, would use up their passes (test_restitution). */
#define RADIUS_EDGES  0.25
#define RADIUS_PASSES 2
/* Bound of deviations from the mean displacement, of the radii of colliders, and of all others, in mean edge lengths. */
#define DEVIATION_EDGES_MAX 1.5
/* Pairs become contacts if their clearance, less their predicted approach, is at most this fraction of the sum of both
 * half thicknesses. */
#define MARGIN         0.5
#define PLANE_HALVINGS 20 /* number of halvings of a plane's motion before the plane stops */

bool sinew_contact_is_filtered(const sinew_contact_work *c)
{
    return c->def.intersection_free && sinew_contact_mode_get(c->def.mode)->filtered;
}

static bool object_is_plane(const sinew_collision_object *o)
{
    return o->kinematic && o->vertex_count == 0;
}

/* ---- Predicted displacements of vertices ------------------------------------------------------ */

/* Sets the predicted positions of collision vertices. Bodies: the solver's first guess (quasistatic: q) or, in later
 * passes, its last request. Colliders: the end of their motion. */
static void gather_predicted(const sinew_contact_view *view, bool first)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    for (int32_t v = 0; v < f->moved_count; v++) {
        const sinew_real *guess = view->quasistatic ? view->q : c->guess;
        if (!first)
            memcpy(c->x_predicted + 4 * (size_t)v, c->x_requested + 4 * (size_t)v, 4 * sizeof *c->x_predicted);
        else if (f->particle[v] >= 0)
            memcpy(c->x_predicted + 4 * (size_t)v, guess + 4 * (size_t)f->particle[v], 4 * sizeof *c->x_predicted);
    }
    if (first)
        sinew_collision_mesh_embed(f, c->x_predicted);
    for (int32_t o = 0; o < f->object_count; o++)
        if (f->objects[o].kinematic)
            sinew_contact_collider_positions(view, o, 1, c->x_predicted + 4 * (size_t)f->objects[o].first_vertex);
}

/* Mean predicted displacement of an object, in m. It is 0 unless `carried`, which is set in the first detection pass of
 * a dynamic filtered step: later passes have little motion left. */
static void mean_displacement(const sinew_contact_work *c, const sinew_collision_object *object, bool carried,
                              double mean[3])
{
    const bool moves = carried && object->vertex_count > 0;
    double sum[3] = {0, 0, 0};
    for (int32_t v = object->first_vertex; moves && v < object->first_vertex + object->vertex_count; v++)
        for (size_t i = 0; i < 3; i++)
            sum[i] += (double)c->x_predicted[4 * (size_t)v + i] - (double)c->x_pass_start[4 * (size_t)v + i];
    for (size_t i = 0; i < 3; i++)
        mean[i] = moves ? sum[i] / object->vertex_count : 0;
}

/* Distance in m between the position `there` and the start position of vertex v plus `displacement`. */
static double deviation_from(const sinew_contact_work *c, int32_t v, const sinew_real *there,
                             const double displacement[3])
{
    double rest[3];
    for (size_t i = 0; i < 3; i++)
        rest[i] = (double)there[i] - (double)c->x_pass_start[4 * (size_t)v + i] - displacement[i];
    return vec3_norm(rest);
}

/* Gives all vertices of a collider its mean predicted displacement, and one trust-region radius: the ball of each
 * vertex contains its start and, up to a bound, its predicted position. */
static void set_collider_predicted(sinew_contact_work *c, int32_t o, const double mean[3])
{
    const sinew_collision_object *object = &c->mesh.objects[o];
    double max = 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
        max = fmax(max, deviation_from(c, v, c->x_predicted + 4 * (size_t)v, mean));
    const double radius = fmin(RADIUS_FACTOR * max + object->half_thickness,
                               fmax(DEVIATION_EDGES_MAX * c->mean_edge[o], object->half_thickness));
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        sinew_real *displacement = c->step_filter.predicted + 4 * (size_t)v;
        for (int i = 0; i < 3; i++)
            displacement[i] = (sinew_real)mean[i];
        displacement[3] = (sinew_real)fmax(radius, vec3_norm(mean));
    }
}

/* Sets predicted displacements of the vertices of a body and limits their distance from the mean, because one
 * unreachable request would enlarge the search for all vertices. Returns the length of the longest displacement, in
 * m. */
static double set_body_predicted(sinew_contact_work *c, int32_t o, const double mean[3])
{
    const sinew_collision_object *object = &c->mesh.objects[o];
    const double max = fmax(DEVIATION_EDGES_MAX * c->mean_edge[o], object->half_thickness);
    double longest = 0;
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        const sinew_real *requested = c->x_predicted + 4 * (size_t)v, *x = c->x_pass_start + 4 * (size_t)v;
        sinew_real *displacement = c->step_filter.predicted + 4 * (size_t)v;
        const double own = deviation_from(c, v, requested, mean), fraction = own > max ? max / own : 1;
        double d[3];
        for (int i = 0; i < 3; i++) {
            displacement[i] = (sinew_real)(mean[i] + fraction * ((double)requested[i] - (double)x[i] - mean[i]));
            d[i] = (double)displacement[i];
        }
        longest = fmax(longest, vec3_norm(d));
    }
    return longest;
}

/* Bound of trust-region radii in this pass, in mean edge lengths. */
static double radius_edges(const sinew_contact_work *c)
{
    const int32_t more = c->report.detections - RADIUS_PASSES;
    return fmin(DEVIATION_EDGES_MAX, ldexp(RADIUS_EDGES, more > 0 ? (int)fmin(more, 8) : 0));
}

/* Sets the radii of a body's trust region: RADIUS_FACTOR times the deviation of q_tilde (quasistatic: of the request)
 * from the prediction, or the longest displacement (at most RADIUS_EDGES) if this is larger, so that a vertex may stop
 * on its path; plus the half thickness; at most radius_edges(). */
static void set_body_radii(const sinew_contact_view *view, int32_t o, double longest)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_object *object = &c->mesh.objects[o];
    const double max = radius_edges(c) * c->mean_edge[o], stop_radius = fmin(longest, RADIUS_EDGES * c->mean_edge[o]);
    for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++) {
        sinew_real *displacement = c->step_filter.predicted + 4 * (size_t)v;
        const double d[3] = {(double)displacement[0], (double)displacement[1], (double)displacement[2]};
        const sinew_real *there = view->quasistatic ? c->x_predicted + 4 * (size_t)v : c->x_inertial + 4 * (size_t)v;
        const double wanted = fmax(RADIUS_FACTOR * deviation_from(c, v, there, d), stop_radius);
        displacement[3] = (sinew_real)fmin(wanted + object->half_thickness, max);
    }
}

/* True if an object may collide with no object, itself included. */
static bool object_is_isolated(const sinew_collision_mesh *f, int32_t o)
{
    for (int32_t other = 0; other < f->object_count; other++)
        if (sinew_may_collide(f, o, other))
            return false;
    return true;
}

/* A body that collides with nothing needs no trust region: infinite radii never truncate it. */
static void release_isolated_bodies(sinew_contact_work *c)
{
    for (int32_t o = 0; o < c->mesh.object_count; o++) {
        const sinew_collision_object *object = &c->mesh.objects[o];
        if (object->kinematic || !object_is_isolated(&c->mesh, o))
            continue;
        for (int32_t v = object->first_vertex; v < object->first_vertex + object->vertex_count; v++)
            c->step_filter.predicted[4 * (size_t)v + 3] = HUGE_VALF;
    }
}

/* Sets predicted displacements and trust regions (collide/filter/trust_region.h), and inflation radii of 1 + MARGIN
 * half thicknesses. */
static void set_inflation_radii(const sinew_contact_view *view, bool carried)
{
    sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    sinew_contact_gather_bodies(c, view->q_tilde, c->x_inertial);
    for (int32_t o = 0; o < f->object_count; o++) {
        double mean[3];
        mean_displacement(c, &f->objects[o], carried, mean);
        if (f->objects[o].kinematic)
            set_collider_predicted(c, o, mean);
        else
            set_body_radii(view, o, set_body_predicted(c, o, mean));
    }
    for (int32_t v = 0; v < f->vertex_count; v++)
        c->inflation_radius[v] = (sinew_real)(f->objects[f->object[v]].half_thickness * (1 + MARGIN));
    release_isolated_bodies(c);
}

sinew_candidate *sinew_contact_add_pair(const sinew_contact_view *view)
{
    sinew_candidates *pairs = &view->contact->pairs;
    if ((size_t)(pairs->count + 1) * sizeof *pairs->list > pairs->capacity_bytes) {
        const size_t more = (size_t)pairs->count + (size_t)pairs->count / 2 + 64;
        sinew_candidate *list =
            sinew_reallocate(view->allocator, pairs->list, (size_t)pairs->count, more, sizeof *list);
        if (!list)
            return NULL;
        pairs->list = list;
        pairs->capacity_bytes = more * sizeof *list;
    }
    return &pairs->list[pairs->count++];
}

/* True if vertex v, `distance` m before a plane with this normal, may become a contact or come nearer to the plane than
 * the gap (candidates.h). */
static bool plane_pair_is_listed(const sinew_contact_work *c, int32_t v, int32_t o, const double normal[3],
                                 double distance)
{
    const sinew_collision_object *plane = &c->mesh.objects[o], *body = &c->mesh.objects[c->mesh.object[v]];
    const sinew_real *displacement = c->step_filter.predicted + 4 * (size_t)v;
    double along = 0;
    for (int i = 0; i < 3; i++)
        along += normal[i] * (double)displacement[i];
    const double least = distance + fmin(0, along),
                 reach = (double)c->inflation_radius[v] + plane->half_thickness * (1 + MARGIN);
    return least <= reach || least - (double)displacement[3] <= body->half_thickness + plane->half_thickness;
}

/* Appends the candidate pairs of a plane collider with the body vertices near it. False: out of memory. */
static bool add_plane_pairs(const sinew_contact_view *view, sinew_contact_work *c, int32_t o)
{
    const sinew_collision_mesh *f = &c->mesh;
    double point[3], normal[3];
    sinew_contact_plane(view, o, c->fraction[o], point, normal);
    for (int32_t v = 0; v < f->moved_count; v++) {
        double distance = -f->objects[f->object[v]].radius;
        for (size_t i = 0; i < 3; i++)
            distance += normal[i] * ((double)c->x_pass_start[4 * (size_t)v + i] - point[i]);
        if (!sinew_vertex_may_collide(f, v, o) || sinew_is_frame_vertex(f, v) ||
            !plane_pair_is_listed(c, v, o, normal, distance))
            continue;
        sinew_candidate *p = sinew_contact_add_pair(view);
        if (!p)
            return false;
        *p = (sinew_candidate){
            .v = {v, v, v, v}, .first = v, .second = o, .w = {1}, .kind = SINEW_CANDIDATE_VERTEX_PLANE};
        for (int i = 0; i < 3; i++)
            p->n[i] = (sinew_real)normal[i];
        p->distance = (sinew_real)distance;
    }
    return true;
}

static sinew_status find_candidates(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const double began = sinew_seconds();
    const sinew_detect_input places = {
        .x = c->x_pass_start, .inflation_radius = c->inflation_radius, .predicted = c->step_filter.predicted};
    sinew_status status = sinew_detect(c->detector, &places, c->def.pair_limit, &c->pairs, error);
    for (int32_t o = 0; status == SINEW_OK && o < c->mesh.object_count; o++)
        if (object_is_plane(&c->mesh.objects[o]) && !add_plane_pairs(view, c, o))
            status = sinew_fail_memory(error, "contacts");
    if (status == SINEW_OK)
        status = sinew_contact_resolve_penetration(view, error);
    if (status == SINEW_OK)
        status = sinew_contact_drop_overlaps(view, error);
    c->report.detection_seconds += sinew_seconds() - began;
    c->report.pairs = c->pairs.count > c->report.pairs ? c->pairs.count : c->report.pairs;
    c->report.dropped += c->pairs.dropped;
    return status;
}

/* ---- Motion of colliders --------------------------------------------------------------------- */

/* True if all vertices in front of a plane that may collide with it keep at least 0.2 of their distance when the plane
 * is at `fraction` of its motion. */
static bool plane_keeps_clear(const sinew_contact_view *view, int32_t o, double fraction)
{
    const sinew_contact_work *c = view->contact;
    const sinew_collision_mesh *f = &c->mesh;
    double from[3], n_from[3], to[3], n_to[3];
    sinew_contact_plane(view, o, c->fraction[o], from, n_from);
    sinew_contact_plane(view, o, fraction, to, n_to);
    for (int32_t v = 0; v < f->moved_count; v++) {
        double before = -f->objects[f->object[v]].radius, after = before;
        for (size_t i = 0; i < 3; i++) {
            before += n_from[i] * ((double)c->x_pass_start[4 * (size_t)v + i] - from[i]);
            after += n_to[i] * ((double)c->x_pass_start[4 * (size_t)v + i] - to[i]);
        }
        if (before > 0 && after < 0.2 * before && sinew_vertex_may_collide(f, v, o) && !sinew_is_frame_vertex(f, v))
            return false;
    }
    return true;
}

static void advance_plane(const sinew_contact_view *view, int32_t o)
{
    sinew_contact_work *c = view->contact;
    double displacement = 1 - c->fraction[o];
    for (int k = 0;
         displacement > 0 && k < PLANE_HALVINGS && !plane_keeps_clear(view, o, c->fraction[o] + displacement); k++)
        displacement /= 2;
    if (sinew_contact_is_filtered(c) && displacement > 0 && !plane_keeps_clear(view, o, c->fraction[o] + displacement))
        displacement = 0;
    c->fraction[o] = sinew_contact_is_filtered(c) ? c->fraction[o] + displacement : 1;
}

static void advance_planes(const sinew_contact_view *view)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    for (int32_t o = 0; o < f->object_count; o++)
        if (object_is_plane(&f->objects[o]))
            advance_plane(view, o);
}

/* ---- One detection pass ----------------------------------------------------------------------- */

/* Lists the transient batches of the energies, then those of contacts, for the solver driver. */
static void list_transient_batches(sinew_contact_work *c)
{
    c->hooks.batch_count = c->view.transient_count;
    if (c->narrow_count > 0)
        c->view.batches[c->hooks.batch_count++] = c->batch;
    if (c->element_count > c->narrow_count)
        c->view.batches[c->hooks.batch_count++] = c->wide_batch;
}

/* Makes the contacts those of the previous pass. The work spaces stay, and the empty list gets the capacity of the
 * other, so that passes which have been taken once need no more memory. */
static bool keep_previous_contacts(sinew_contact_work *c)
{
    sinew_contact_list *now = &c->contacts, *before = &c->previous;
    const sinew_contact_list last = *before;
    before->list = now->list;
    before->count = now->count;
    before->capacity_bytes = now->capacity_bytes;
    now->list = last.list;
    now->count = 0;
    now->capacity_bytes = last.capacity_bytes;
    if (before->capacity_bytes <= now->capacity_bytes)
        return true;
    /* Exactly the capacity of the other: spare capacity would grow with every pass. */
    sinew_release(&c->mesh.allocator, now->list);
    now->list = NULL;
    return sinew_reserve(&c->mesh.allocator, &now->list, &now->capacity_bytes,
                         before->capacity_bytes / sizeof *now->list, sizeof *now->list);
}

static sinew_status find_contacts(const sinew_contact_view *view, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    const sinew_contact_rule rule = {c->x_pass_start, c->x_predicted, MARGIN};
    if (!keep_previous_contacts(c) || !sinew_contact_list_find(&c->contacts, &c->mesh, &c->pairs, &rule))
        return sinew_fail_memory(error, "contacts");
    if (sinew_stop_came())
        return SINEW_ERROR_INTERRUPTED;
    const sinew_status status = sinew_contact_add_skins(view, error);
    if (status == SINEW_OK && !sinew_contact_list_warm_start(&c->contacts, &c->previous, &c->mesh))
        return sinew_fail_memory(error, "contacts");
    return status;
}

/* Without the step filter, all colliders complete their motion of the step at once. */
static void complete_collider_motion(const sinew_contact_view *view)
{
    sinew_contact_work *c = view->contact;
    for (int32_t o = 0; o < c->mesh.object_count; o++)
        if (c->mesh.objects[o].kinematic) {
            c->fraction[o] = 1;
            sinew_contact_collider_positions(view, o, 1,
                                             c->step_filter.x_accepted + 4 * (size_t)c->mesh.objects[o].first_vertex);
        }
}

/* True for vertices of colliders and of pinned particles. A rigid body moves as a whole: one pin marks all its
 * vertices. */
static bool vertex_is_prescribed(const sinew_contact_view *view, int32_t v)
{
    const sinew_collision_mesh *f = &view->contact->mesh;
    if (v >= f->moved_count)
        return true;
    const sinew_collision_object *o = &f->objects[f->object[v]];
    if (!o->rigid)
        return view->pinned[f->particle[v]];
    bool pinned = false;
    for (int32_t k = 0; k < 4; k++)
        pinned = pinned || view->pinned[f->particle[o->first_vertex + k]];
    return pinned;
}

/* Starts a pass at x_pass_start: predicted displacements, trust regions, candidate pairs, and their step filter. */
static sinew_status pass_build_filter(const sinew_contact_view *view, bool first, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    c->report.detections++;
    c->first_pass = first;
    c->truncated_count = 0;
    c->trial_filtered = false;
    memset(c->truncated, 0, (size_t)c->mesh.vertex_count);
    advance_planes(view);
    gather_predicted(view, first);
    if (!sinew_step_filter_begin(&c->step_filter, &c->mesh))
        return sinew_fail_memory(error, "contacts");
    set_inflation_radii(view, first && !view->quasistatic && sinew_contact_is_filtered(c));
    const sinew_status status = find_candidates(view, error);
    if (sinew_stop_came())
        return SINEW_ERROR_INTERRUPTED;
    if (status == SINEW_OK && !sinew_step_filter_build(&c->step_filter, &c->mesh, c->x_pass_start, &c->pairs))
        return sinew_fail_memory(error, "contacts");
    for (int32_t v = 0; v < c->mesh.vertex_count; v++)
        c->step_filter.fixed[v] = vertex_is_prescribed(view, v);
    return status;
}

sinew_status sinew_contact_detect(const sinew_contact_view *view, bool first, sinew_error *error)
{
    sinew_contact_work *c = view->contact;
    sinew_status status = pass_build_filter(view, first, error);
    if (status != SINEW_OK)
        return status;
    if (!sinew_contact_is_filtered(c))
        complete_collider_motion(view);
    status = find_contacts(view, error);
    if (status == SINEW_OK)
        status = sinew_contact_make_elements(view, error);
    if (status == SINEW_OK)
        status = sinew_restitution_reserve(view, error);
    list_transient_batches(c);
    return status;
}

sinew_status sinew_contact_rebuild_filter(const sinew_contact_view *view, sinew_error *error)
{
    return pass_build_filter(view, false, error);
}
