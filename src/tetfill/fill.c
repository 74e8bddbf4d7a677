/* SPDX-License-Identifier: MIT
 *
 * fill.c: fills any surface with tets, in this order: the surface is cleaned and oriented; a body-centred lattice is
 * laid around it; tets that the surface intersects are sampled; components of the inside that share a tet but do not
 * touch get separate tets; boundary vertices move to the surface if requested. fill.h lists the files.
 *
 * Threads work on single tets or triangles, so the mesh does not depend on their number.
 *
 * Limits: walls thinner than a sixth of a cell are found only if one of their triangles lies in the tet. Components
 * that no sample hits, and more than FILL_COMPONENTS_MAX components in one tet, are not separated (the warnings count
 * them).
 */
#include "tetfill/fill.h"

#include <math.h>

#include "mesh/flaws.h"
#include "bvh/triangle_crossing.h"

sinew_fill_def sinew_default_fill_def(void)
{
    return (sinew_fill_def){.cookie = SINEW_COOKIE_FILL, .cells = 24, .split = true};
}

static sinew_status fill_check_def(const sinew_fill_def *def, sinew_error *error)
{
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_FILL && def->surface))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "filling needs a def made by sinew_default_fill_def() and a surface");
    if (def->cells < 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "cells is %d, must be at least 1", def->cells);
    if (def->thread_count < 0)
        return sinew_fail(error, SINEW_ERROR_DATA, "thread_count is %d, must be at least 0", def->thread_count);
    if (def->surface->triangle_count == 0)
        return sinew_fail(error, SINEW_ERROR_DATA,
                          "the mesh has no triangles (%d vertices, %d tets); filling needs a surface",
                          def->surface->vertex_count, def->surface->tet_count);
    return SINEW_OK;
}

/* ---- Warnings about the filled mesh -------------------------------------------------------------- */

/* Visitor of sinew_visit_crossings(): counts the pairs of triangles of the surface that intersect each other. */
static void count_crossing_triangles(void *context, int32_t a, int32_t b)
{
    (void)a;
    (void)b;
    ++*(int64_t *)context;
}

static sinew_status fill_make_tree(fill *f)
{
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = f->allocator;
    def.vertex_count = f->surface.vertex_count;
    def.positions = f->surface.positions;
    def.cell_count = f->surface.count;
    def.cells = f->surface.triangles;
    def.thread_count = f->thread_count;
    f->tree = sinew_tree_create(&def, f->error);
    if (!f->tree)
        return SINEW_ERROR_MEMORY;
    return sinew_visit_crossings(f->tree, &f->allocator, f->surface.positions, f->surface.triangles, f->surface.count,
                                 count_crossing_triangles, &f->report.crossings, f->error);
}

static void measure_tets(fill *f, const sinew_mesh *mesh)
{
    double sum = 0;
    f->report.quality_min = INFINITY;
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        const sinew_tet_shape shape = sinew_shape_of_tet(mesh->positions, mesh->tets + 4 * (size_t)t);
        f->report.quality_min = fmin(f->report.quality_min, shape.quality);
        sum += shape.quality;
        f->report.volume += shape.volume * (double)mesh->fractions[t];
    }
    f->report.quality_mean = sum / mesh->tet_count;
    f->report.closed = f->surface.closed && f->report.crossings == 0;
    f->report.surface_volume = f->report.closed ? fabs(f->surface.volume) : f->report.volume;
}

static sinew_status count_components(fill *f, const sinew_mesh *mesh)
{
    int32_t *component = sinew_allocate(&f->allocator, (size_t)mesh->vertex_count, sizeof *component);
    if (!component)
        return sinew_fail_memory(f->error, "the components of a body");
    const sinew_elements tets = {mesh->tets, mesh->tet_count, 4};
    f->report.components = sinew_components(mesh->vertex_count, &tets, 1, component);
    sinew_release(&f->allocator, component);
    return SINEW_OK;
}

static sinew_status write_fill_warnings(fill *f, sinew_mesh *mesh)
{
    const sinew_fill_report *r = &f->report;
    const struct {
        int64_t count;
        const char *what;
    } lines[] = {
        {r->open_edges, "open edges: what lies inside is decided by the winding number"},
        {r->crowded_edges, "edges with three triangles or more"},
        {r->flipped, "triangles that face against their neighbours"},
        {r->duplicates, "triangles that are there already"},
        {r->degenerate, "triangles without area"},
        {r->crossings, "pairs of triangles that cross"},
        {r->components > 1 ? r->components : 0, "parts that do not hang together"},
        {r->split_cells, "tets there more than once, for parts that do not touch"},
        {r->thin_cells, "tets around walls too thin for samples, in which parts are not told apart"},
        {f->capped, "tets with more parts, or triangles, than are told apart"},
    };
    sinew_status status = SINEW_OK;
    for (size_t n = 0; status == SINEW_OK && n < sizeof lines / sizeof lines[0]; n++)
        if (lines[n].count > 0)
            status = sinew_mesh_add_warning(mesh, "%lld %s", (long long)lines[n].count, lines[n].what);
    return status == SINEW_OK ? status : sinew_fail_memory(f->error, "the notes of a body");
}

/* ---- The filling from surface to tet mesh -------------------------------------------------------- */

static sinew_mesh *fill_make_body(fill *f)
{
    sinew_status status = sinew_fill_clean_surface(&f->surface, f->def->surface, &f->allocator, &f->report, f->error);
    if (status == SINEW_OK)
        status = fill_make_tree(f);
    sinew_fill_make_pattern(&f->pattern);
    if (status == SINEW_OK)
        status = sinew_fill_make_lattice(f);
    if (status == SINEW_OK)
        status = sinew_fill_sample(f);
    sinew_mesh *mesh = status == SINEW_OK ? sinew_fill_make_mesh(f) : NULL;
    if (mesh && f->def->conform)
        mesh = sinew_fill_conform(f, mesh);
    if (!mesh)
        return NULL;
    measure_tets(f, mesh);
    if (count_components(f, mesh) != SINEW_OK || write_fill_warnings(f, mesh) != SINEW_OK) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}

static void fill_free(fill *f)
{
    sinew_tree_destroy(f->tree);
    sinew_fill_surface_free(&f->surface, &f->allocator);
    sinew_release(&f->allocator, f->lattice.winding);
    sinew_release(&f->allocator, f->lattice.near);
    sinew_release(&f->allocator, f->tets.number);
    sinew_release(&f->allocator, f->tets.first);
    sinew_release(&f->allocator, f->tets.near);
    sinew_release(&f->allocator, f->tets.sampled);
    sinew_release(&f->allocator, f->tets.component);
    sinew_release(&f->allocator, f->tets.fraction);
    sinew_release(&f->allocator, f->tets.component_count);
    sinew_release(&f->allocator, f->fixed);
}

sinew_mesh *sinew_mesh_fill(const sinew_fill_def *def, sinew_fill_report *report, sinew_error *error)
{
    sinew_error_clear(error);
    if (fill_check_def(def, error) != SINEW_OK)
        return NULL;
    sinew_tasks_open();
    fill f = {.def = def, .allocator = sinew_allocator_or_system(&def->allocator), .error = error};
    f.thread_count = def->thread_count > 0 ? def->thread_count : sinew_tasks_default_count();
    sinew_mesh *mesh = fill_make_body(&f);
    if (mesh && report)
        *report = f.report;
    fill_free(&f);
    sinew_tasks_close();
    return mesh;
}
