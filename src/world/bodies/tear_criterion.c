/* SPDX-License-Identifier: MIT
 *
 * tear_criterion.c: selects the edges of a body that tear, by their strain. See tear.h.
 */
#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "base/stop.h"
#include "math/vec3.h"
#include "mesh/mesh.h"
#include "world/bodies/tear.h"

sinew_tear_def sinew_default_tear_def(void)
{
    return (sinew_tear_def){
        .cookie = SINEW_COOKIE_TEAR, .body = {.index = -1}, .limit = (sinew_real)0.5, .split = true, .max = 16};
}

void sinew_tear_destroy(const sinew_allocator *allocator, sinew_tear *tear)
{
    if (!tear)
        return;
    sinew_release(allocator, tear->edges);
    sinew_release(allocator, tear->log);
    sinew_release(allocator, tear);
}

/* ---- Definition of a body's tearing ------------------------------------------------------------ */

/* Fails for energies whose elements can neither tear nor remain: shells and rods, whose slopes belong to edges, and
 * energies over a whole closed surface, such as gas pressure. */
static sinew_status check_energies(const sinew_world *world, const sinew_body_record *body, sinew_error *error)
{
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_energy_record *record = &world->energies[i];
        if (!record->batch || !sinew_energy_acts_on(body, record))
            continue;
        const sinew_energy_info *info = &record->batch->ops->info;
        const sinew_stencil_info *stencil_info = sinew_get_stencil(info->stencil);
        if (stencil_info->simplex_size == 0 && !stencil_info->couples && info->vertex_count > 1)
            return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                              "energy %d (%s) is on %s, which cannot tear; use energies on edges, triangles, hinges, "
                              "wheels or tets",
                              i, info->name, stencil_info->plural);
        if (record->batch->ops->check_elements && !stencil_info->couples)
            return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                              "energy %d (%s) needs a surface without holes, and a tear makes one; use the load "
                              "traction",
                              i, info->name);
    }
    return SINEW_OK;
}

static sinew_status tear_check_def(const sinew_world *world, const sinew_tear_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(world && def && def->cookie == SINEW_COOKIE_TEAR))
        return sinew_fail(error, SINEW_ERROR_USAGE, "tearing needs a world and a def made by sinew_default_tear_def()");
    if (!(def->limit > 0) || !isfinite(def->limit))
        return sinew_fail(error, SINEW_ERROR_DATA, "the strain at which a body tears is %g, must be above 0 and finite",
                          (double)def->limit);
    if (def->max < 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "%d edges may tear in a step, must be at least 1", def->max);
    const sinew_body_record *body = sinew_world_find_body(world, def->body, error);
    if (!body)
        return SINEW_ERROR_USAGE;
    if (body->skin)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "body %d has an embedded surface, which cannot tear; remove it first", def->body.index);
    if (sinew_tear_cells(body->mesh).count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "body %d has no cells that could tear", def->body.index);
    const sinew_status status = check_energies(world, body, error);
    if (status == SINEW_OK && sinew_mesh_director_count(body->mesh) > 0)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "body %d has director points, which belong to edges and cannot tear; leave them out",
                          def->body.index);
    return status;
}

sinew_status sinew_body_set_tear(sinew_world *world, const sinew_tear_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    const sinew_status status = tear_check_def(world, def, error);
    if (status != SINEW_OK)
        return status;
    sinew_body_record *body = sinew_world_find_body(world, def->body, error);
    if (!body->tear)
        body->tear = sinew_allocate_zero(&world->allocator, 1, sizeof *body->tear);
    if (!body->tear)
        return sinew_fail_memory(error, "the tears of a body");
    body->tear->def = *def;
    return SINEW_OK;
}

bool sinew_body_tears(const sinew_world *world, sinew_body body)
{
    const sinew_body_record *record = sinew_world_find_body(world, body, NULL);
    return record && record->tear;
}

sinew_status sinew_body_torn(const sinew_world *world, sinew_body body, sinew_tear_report *report, sinew_error *error)
{
    sinew_error_clear(error);
    const sinew_body_record *record = sinew_world_find_body(world, body, error);
    if (!record || !SINEW_ASSERT(report))
        return SINEW_ERROR_USAGE;
    *report = record->tear ? record->tear->report : (sinew_tear_report){0};
    return SINEW_OK;
}

/* ---- Edges over the strain limit -------------------------------------------------------------- */

typedef struct tension_edge {
    double strain;
    int32_t ends[2];
} tension_edge;

/* Sort order of edges: the most stretched first; among equals, the one with the lower vertex numbers. */
static int by_strain(const void *a, const void *b)
{
    const tension_edge *x = a, *y = b;
    if (x->strain != y->strain)
        return x->strain > y->strain ? -1 : 1;
    return x->ends[0] != y->ends[0] ? (x->ends[0] < y->ends[0] ? -1 : 1)
                                    : (x->ends[1] > y->ends[1]) - (x->ends[1] < y->ends[1]);
}

static double edge_length(const sinew_real *points, size_t stride, int32_t a, int32_t b)
{
    double d[3];
    vec3_edge(points + stride * (size_t)a, points + stride * (size_t)b, d);
    return vec3_norm(d);
}

static sinew_status tear_find_edges(const sinew_world *world, const sinew_body_record *body, sinew_error *error)
{
    sinew_elements lists[3];
    if (body->tear->edges)
        return SINEW_OK;
    sinew_mesh_elements(body->mesh, lists);
    return sinew_unique_edges(&world->allocator, body->count, lists, 3, &body->tear->edges, &body->tear->edge_count,
                              error);
}

static double tear_strain_of(const sinew_world *world, const sinew_body_record *body, const int32_t *ends)
{
    const int32_t a = world->inside[body->first + ends[0]], b = world->inside[body->first + ends[1]];
    const double rest = edge_length(sinew_mesh_positions(body->mesh), 3, ends[0], ends[1]);
    return rest > 0 ? edge_length(world->q, 4, a, b) / rest - 1 : 0;
}

/* Lists in *taut the edges over the strain limit, sorted; the caller releases the list. */
static sinew_status find_overstretched_edges(const sinew_world *world, const sinew_body_record *body,
                                             tension_edge **taut, int32_t *count, sinew_error *error)
{
    const sinew_tear *tear = body->tear;
    *count = 0;
    for (int32_t i = 0; i < tear->edge_count; i++)
        *count += tear_strain_of(world, body, tear->edges + 2 * (size_t)i) > (double)tear->def.limit;
    *taut = *count > 0 ? sinew_allocate(&world->allocator, (size_t)*count, sizeof **taut) : NULL;
    if (*count > 0 && !*taut)
        return sinew_fail_memory(error, "the edges that tear");
    for (int32_t i = 0, n = 0; i < tear->edge_count && n < *count; i++) {
        const int32_t *ends = tear->edges + 2 * (size_t)i;
        const double strain = tear_strain_of(world, body, ends);
        if (strain > (double)tear->def.limit)
            (*taut)[n++] = (tension_edge){strain, {ends[0], ends[1]}};
    }
    if (*count > 0)
        sinew_sort(*taut, (size_t)*count, sizeof **taut, by_strain);
    return SINEW_OK;
}

/* ---- Tearing operations ----------------------------------------------------------------------- */

static sinew_status remove_edges(sinew_world *world, sinew_body body, const tension_edge *taut, int32_t count,
                                 sinew_error *error)
{
    int32_t *operation = sinew_allocate(&world->allocator, SINEW_TEAR_HEAD + 2 * (size_t)count, sizeof *operation);
    if (!operation)
        return sinew_fail_memory(error, "the edges that tear");
    operation[0] = SINEW_TEAR_REMOVE;
    operation[1] = count;
    operation[2] = 0;
    for (int32_t i = 0; i < count; i++)
        memcpy(operation + SINEW_TEAR_HEAD + 2 * (size_t)i, taut[i].ends, sizeof taut[i].ends);
    const sinew_status status =
        sinew_tear_apply_log(world, body, operation, SINEW_TEAR_HEAD + 2 * (size_t)count, error);
    sinew_release(&world->allocator, operation);
    if (status == SINEW_OK)
        world->bodies[body.index].tear->report.edges += count;
    return status;
}

/* Applies a cut of the mesh and appends it to the tear log as an operation. */
static sinew_status log_and_apply_cut(sinew_world *world, sinew_body body, const sinew_cut *cut, sinew_error *error)
{
    const size_t corners = (size_t)cut->cell_count * (size_t)cut->size;
    size_t changes = 0, at = SINEW_TEAR_HEAD;
    for (size_t i = 0; i < corners; i++)
        changes += cut->cells[i] != cut->after[i];
    const size_t count = SINEW_TEAR_HEAD + (size_t)cut->copy_count + 2 * changes;
    int32_t *operation = sinew_allocate(&world->allocator, count, sizeof *operation);
    if (!operation)
        return sinew_fail_memory(error, "the edges that tear");
    operation[0] = SINEW_TEAR_SPLIT;
    operation[1] = cut->copy_count;
    operation[2] = (int32_t)changes;
    for (int32_t i = 0; i < cut->copy_count; i++)
        operation[at++] = cut->copies[i];
    for (size_t i = 0; i < corners; i++)
        if (cut->cells[i] != cut->after[i]) {
            operation[at++] = (int32_t)i;
            operation[at++] = cut->after[i];
        }
    const sinew_status status = sinew_tear_apply_log(world, body, operation, count, error);
    sinew_release(&world->allocator, operation);
    return status;
}

/* Finds a cut of the mesh at one end of a torn edge: first the end with fewer cells, because tears continue from the
 * boundary, then the other end. False: neither end can be opened. */
static bool open_edge(const sinew_world *world, const sinew_body_record *body, const tension_edge *edge,
                      const sinew_real *points, sinew_cut *cut)
{
    double direction[3];
    const int64_t *first = cut->at.first;
    const int64_t cells[2] = {first[edge->ends[0] + 1] - first[edge->ends[0]],
                              first[edge->ends[1] + 1] - first[edge->ends[1]]};
    const int begin = cells[1] < cells[0];
    bool opened = false;
    for (size_t k = 0; k < 3; k++)
        direction[k] = (double)points[3 * (size_t)edge->ends[1] + k] - (double)points[3 * (size_t)edge->ends[0] + k];
    for (int i = 0; i < 2 && !opened; i++) {
        const int32_t vertex = edge->ends[(begin + i) % 2];
        opened =
            !world->pinned[world->inside[body->first + vertex]] && sinew_cut_vertex(cut, points, vertex, direction);
    }
    return opened;
}

static sinew_status split_edges(sinew_world *world, sinew_body body, const tension_edge *taut, int32_t count,
                                sinew_error *error)
{
    const sinew_body_record *record = &world->bodies[body.index];
    const sinew_elements cells = sinew_tear_cells(record->mesh);
    sinew_tear *tear = record->tear;
    sinew_real *points = sinew_allocate(&world->allocator, 3 * (size_t)record->count, sizeof *points);
    sinew_cut cut = {.allocator = &world->allocator};
    sinew_status status = points ? sinew_cut_begin(&cut, &world->allocator, record->count, &cells, error)
                                 : sinew_fail_memory(error, "the edges that tear");
    if (status == SINEW_OK)
        sinew_world_outside_points(world, world->q, record->first, record->count, points);
    int32_t opened_count = 0;
    for (int32_t i = 0; i < count && opened_count < tear->def.max && status == SINEW_OK; i++) {
        const bool opened = open_edge(world, record, &taut[i], points, &cut);
        opened_count += opened;
        tear->report.refused += !opened;
    }
    if (status == SINEW_OK && cut.copy_count > 0)
        status = log_and_apply_cut(world, body, &cut, error);
    if (status == SINEW_OK)
        tear->report.edges += opened_count;
    sinew_cut_end(&cut);
    sinew_release(&world->allocator, points);
    return status;
}

static sinew_status tear_body(sinew_world *world, sinew_body body, sinew_error *error)
{
    const sinew_body_record *record = &world->bodies[body.index];
    tension_edge *taut = NULL;
    int32_t count = 0;
    sinew_status status = tear_find_edges(world, record, error);
    if (status == SINEW_OK)
        status = find_overstretched_edges(world, record, &taut, &count, error);
    if (status == SINEW_OK && count > 0)
        status = check_energies(world, record, error);
    if (status == SINEW_OK && count > 0 && record->tear->def.split)
        status = split_edges(world, body, taut, count, error);
    else if (status == SINEW_OK && count > 0)
        status = remove_edges(world, body, taut, count < record->tear->def.max ? count : record->tear->def.max, error);
    sinew_release(&world->allocator, taut);
    if (status == SINEW_OK && count > 0)
        record->tear->torn_step = world->step_count;
    return status;
}

sinew_status sinew_world_tear(sinew_world *world, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < world->body_count && status == SINEW_OK; i++) {
        sinew_tear *tear = world->bodies[i].mesh ? world->bodies[i].tear : NULL;
        if (tear && tear->torn_apart)
            status = sinew_fail(error, SINEW_ERROR_MEMORY,
                                "body %d was left half torn for want of memory; create the world again", i);
        else if (tear && world->step_count > 0 && tear->torn_step != world->step_count && !sinew_stop_came())
            status = tear_body(world, (sinew_body){i, world->bodies[i].generation}, error);
    }
    return status;
}
