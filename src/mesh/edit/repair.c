/* SPDX-License-Identifier: MIT
 *
 * repair.c: makes a repaired copy of a mesh.
 *
 * In this order: nearby vertices are merged; cells that repeat a vertex, are flat or are duplicates are dropped;
 * inverted tetrahedra are flipped; triangles are oriented like their neighbours. Closed components face outwards
 * (positive enclosed volume), others follow the majority of their triangles. Unused vertices and all directors are
 * dropped. Repairing a repaired mesh changes nothing.
 *
 * Limits: every closed component faces outwards, even if it bounds a cavity. One-sided surfaces (Moebius strip),
 * whose twisted edges the warnings count, and faces shared by three tetrahedra are kept.
 */
#include "math/vec3.h"
#include "mesh/topology/facets.h"
#include "mesh/flaws.h"

#include <math.h>
#include <string.h>

typedef struct fixer {
    const sinew_mesh *mesh;
    int32_t *same; /* [vertex_count] index of the vertex that replaces each vertex after merging */
    /* [4 * counts[0]], [3 * counts[1]], [2 * counts[2]] vertices of the kept tets, triangles and edges, as indices
     * of the old vertices */
    int32_t *cells[3];
    int32_t counts[3];     /* numbers of kept tets, triangles and edges */
    sinew_real *fractions; /* [counts[0]] filled fractions of the kept tets; NULL: the mesh has none */
    int64_t merged;
    int64_t turned;
    int64_t degenerate[3];
    int64_t duplicate[3];
    int64_t flipped;
    int64_t twisted;
    int64_t unused;
    sinew_error *error;
} fixer;

static const int32_t sizes[3] = {4, 3, 2};

/* ---- Merging of nearby vertices ------------------------------------------------------------------ */

static sinew_status merge_vertices(fixer *f, double merge_distance)
{
    const sinew_mesh *mesh = f->mesh;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        f->same[v] = v;
    if (merge_distance < 0)
        return SINEW_OK;
    sinew_status status =
        sinew_same_vertices(&mesh->allocator, mesh->positions, mesh->vertex_count, merge_distance, f->same, f->error);
    for (int32_t v = 0; status == SINEW_OK && v < mesh->vertex_count; v++)
        f->merged += f->same[v] != v;
    return status;
}

/* ---- Dropping of degenerate and duplicate cells, flipping of inverted tets ----------------------- */

static bool is_degenerate(const fixer *f, int kind, const int32_t *cell)
{
    bool degenerate = false;
    if (kind == 0)
        return sinew_shape_of_tet(f->mesh->positions, cell).flaw == SINEW_FLAW_DEGENERATE_TET;
    if (kind == 1)
        sinew_shape_of_triangle(f->mesh->positions, cell, &degenerate);
    else
        degenerate = !(sinew_shape_of_edge(f->mesh->positions, cell) > 0);
    return degenerate;
}

static void keep_sound_cells(fixer *f, int kind, const sinew_elements *elements)
{
    size_t size = (size_t)sizes[kind];
    for (int32_t e = 0; e < elements->count; e++) {
        int32_t *kept = f->cells[kind] + (size_t)f->counts[kind] * size;
        for (size_t i = 0; i < size; i++)
            kept[i] = f->same[elements->vertices[(size_t)e * size + i]];
        if (is_degenerate(f, kind, kept)) {
            f->degenerate[kind]++;
            continue;
        }
        if (kind == 0 && f->fractions)
            f->fractions[f->counts[0]] = f->mesh->fractions[e];
        f->counts[kind]++;
    }
}

static sinew_status drop_duplicates(fixer *f, int kind)
{
    const sinew_mesh *mesh = f->mesh;
    size_t size = (size_t)sizes[kind];
    sinew_elements elements = {f->cells[kind], f->counts[kind], sizes[kind]};
    int32_t *same = sinew_allocate(&mesh->allocator, (size_t)elements.count, sizeof *same);
    if (!same)
        return sinew_fail_memory(f->error, "a repaired mesh");
    sinew_status status = sinew_same_elements(&mesh->allocator, mesh->vertex_count, &elements, same, f->error);
    int32_t kept = 0;
    for (int32_t e = 0; status == SINEW_OK && e < elements.count; e++) {
        if (same[e] != e)
            continue;
        if (kind == 0 && f->fractions)
            f->fractions[kept] = f->fractions[e];
        memmove(f->cells[kind] + (size_t)kept++ * size, f->cells[kind] + (size_t)e * size, size * sizeof(int32_t));
    }
    if (status == SINEW_OK) {
        f->duplicate[kind] = elements.count - kept;
        f->counts[kind] = kept;
    }
    sinew_release(&mesh->allocator, same);
    return status;
}

static void repair_exchange(int32_t *a, int32_t *b)
{
    int32_t swap = *a;
    *a = *b;
    *b = swap;
}

static void flip_inverted_tets(fixer *f)
{
    for (int32_t t = 0; t < f->counts[0]; t++) {
        int32_t *tet = f->cells[0] + 4 * (size_t)t;
        if (sinew_shape_of_tet(f->mesh->positions, tet).flaw != SINEW_FLAW_INVERTED_TET)
            continue;
        repair_exchange(&tet[2], &tet[3]);
        f->turned++;
    }
}

/* ---- Orientation of triangles -------------------------------------------------------------------- */

/* Six times the signed volume of the tet of a triangle and apex `eye`; its sum over a closed component does not
 * depend on the apex. */
static double volume_from_apex(const sinew_real *positions, const int32_t *triangle, const sinew_real *eye)
{
    double p[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            p[i][k] = (double)positions[3 * (size_t)triangle[i] + (size_t)k] - (double)eye[k];
    return vec3_triple(p[0], p[1], p[2]);
}

/* Flips closed components of the surface whose enclosed volume is negative after orientation. */
static void face_outwards(const fixer *f, sinew_orientation *orientation, double *volumes)
{
    const sinew_real *positions = f->mesh->positions;
    for (int32_t t = 0; t < f->counts[1]; t++) {
        const int32_t *triangle = f->cells[1] + 3 * (size_t)t;
        int32_t component = orientation->component[t];
        const sinew_real *eye = positions + 3 * (size_t)f->cells[1][3 * (size_t)component];
        double volume = volume_from_apex(positions, triangle, eye);
        volumes[component] += orientation->flip[t] ? -volume : volume;
    }
    for (int32_t t = 0; t < f->counts[1]; t++) {
        int32_t component = orientation->component[t];
        orientation->flip[t] ^= !orientation->open[component] && volumes[component] < 0;
    }
}

static sinew_status orient_triangles(fixer *f)
{
    const sinew_allocator *allocator = &f->mesh->allocator;
    sinew_orientation orientation;
    sinew_status status =
        sinew_orientation_find(&orientation, allocator, f->mesh->vertex_count, f->cells[1], f->counts[1], f->error);
    if (status != SINEW_OK)
        return status;
    double *volumes = sinew_allocate_zero(allocator, (size_t)f->counts[1], sizeof *volumes);
    if (volumes) {
        face_outwards(f, &orientation, volumes);
        for (int32_t t = 0; t < f->counts[1]; t++)
            if (orientation.flip[t]) {
                repair_exchange(&f->cells[1][3 * (size_t)t + 1], &f->cells[1][3 * (size_t)t + 2]);
                f->flipped++;
            }
        f->twisted = orientation.twisted_count;
    } else {
        status = sinew_fail_memory(f->error, "a repaired mesh");
    }
    sinew_release(allocator, volumes);
    sinew_orientation_free(&orientation, allocator);
    return status;
}

/* ---- Writing the repaired copy of the mesh ------------------------------------------------------- */

/* Sets numbers[v] to the new index of a vertex that a cell uses, -1 otherwise. Returns the number of used vertices. */
static int32_t number_used_vertices(fixer *f, int32_t *numbers)
{
    for (int32_t v = 0; v < f->mesh->vertex_count; v++)
        numbers[v] = -1;
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < (size_t)f->counts[kind] * (size_t)sizes[kind]; i++)
            numbers[f->cells[kind][i]] = 0;
    int32_t used = 0;
    for (int32_t v = 0; v < f->mesh->vertex_count; v++) {
        if (numbers[v] == 0)
            numbers[v] = used++;
        else if (f->same[v] == v)
            f->unused++;
    }
    return used;
}

static sinew_mesh *copy_used_parts(fixer *f, const int32_t *numbers, int32_t used)
{
    const sinew_mesh *mesh = f->mesh;
    sinew_mesh *copy = sinew_mesh_allocate(&mesh->allocator, used, f->counts[0], f->counts[1], f->counts[2], f->error);
    if (!copy)
        return NULL;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        if (numbers[v] >= 0)
            memcpy(copy->positions + 3 * (size_t)numbers[v], mesh->positions + 3 * (size_t)v,
                   3 * sizeof *mesh->positions);
    int32_t *cells[3] = {copy->tets, copy->triangles, copy->edges};
    for (int kind = 0; kind < 3; kind++)
        for (size_t i = 0; i < (size_t)f->counts[kind] * (size_t)sizes[kind]; i++)
            cells[kind][i] = numbers[f->cells[kind][i]];
    return copy;
}

static sinew_status write_repair_warnings(const fixer *f, sinew_mesh *copy)
{
    const struct {
        int64_t count;
        const char *what;
    } lines[] = {
        {f->merged, "vertices merged into others"},
        {f->turned, "inverted tets turned"},
        {f->degenerate[0], "degenerate tets dropped"},
        {f->degenerate[1], "degenerate triangles dropped"},
        {f->degenerate[2], "degenerate edges dropped"},
        {f->duplicate[0], "duplicate tets dropped"},
        {f->duplicate[1], "duplicate triangles dropped"},
        {f->duplicate[2], "duplicate edges dropped"},
        {f->flipped, "triangles flipped"},
        {f->twisted, "edges at which the surface has one side only: left as they are"},
        {f->mesh->director_count, "directors dropped: create them again, as edges may have changed"},
        {f->unused, "unused vertices dropped"},
    };
    sinew_status status = SINEW_OK;
    for (size_t n = 0; status == SINEW_OK && n < sizeof lines / sizeof lines[0]; n++)
        if (lines[n].count > 0)
            status = sinew_mesh_add_warning(copy, "%lld %s", (long long)lines[n].count, lines[n].what);
    if (status != SINEW_OK)
        sinew_fail_memory(f->error, "the notes of a repaired mesh");
    return status;
}

static sinew_mesh *make_repaired_copy(fixer *f, int32_t *map)
{
    const sinew_mesh *mesh = f->mesh;
    int32_t *numbers = sinew_allocate(&mesh->allocator, (size_t)mesh->vertex_count, sizeof *numbers);
    if (!numbers) {
        sinew_fail_memory(f->error, "a repaired mesh");
        return NULL;
    }
    int32_t used = number_used_vertices(f, numbers);
    sinew_mesh *copy = copy_used_parts(f, numbers, used);
    if (copy && (write_repair_warnings(f, copy) != SINEW_OK ||
                 sinew_mesh_set_fractions(copy, f->fractions, f->error) != SINEW_OK)) {
        sinew_mesh_destroy(copy);
        copy = NULL;
    }
    for (int32_t v = 0; copy && map && v < mesh->vertex_count; v++)
        map[v] = numbers[f->same[v]];
    sinew_release(&mesh->allocator, numbers);
    return copy;
}

static sinew_status repair_cells(fixer *f, double merge_distance)
{
    const sinew_mesh *mesh = f->mesh;
    sinew_elements lists[3];
    sinew_mesh_elements(mesh, lists);
    f->same = sinew_allocate(&mesh->allocator, (size_t)mesh->vertex_count, sizeof *f->same);
    bool good = f->same != NULL;
    for (int kind = 0; kind < 3; kind++) {
        size_t capacity = (size_t)lists[kind].count * (size_t)sizes[kind];
        f->cells[kind] = sinew_allocate(&mesh->allocator, capacity, sizeof(int32_t));
        good = good && f->cells[kind];
    }
    if (mesh->fractions) {
        f->fractions = sinew_allocate(&mesh->allocator, (size_t)mesh->tet_count, sizeof *f->fractions);
        good = good && f->fractions;
    }
    if (!good)
        return sinew_fail_memory(f->error, "a repaired mesh");
    sinew_status status = merge_vertices(f, merge_distance);
    for (int kind = 0; kind < 3 && status == SINEW_OK; kind++) {
        keep_sound_cells(f, kind, &lists[kind]);
        status = drop_duplicates(f, kind);
    }
    if (status != SINEW_OK)
        return status;
    flip_inverted_tets(f);
    return orient_triangles(f);
}

sinew_mesh *sinew_mesh_fix(const sinew_mesh *mesh, double merge_distance, int32_t *map, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(mesh)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "mesh: there is no mesh to fix");
        return NULL;
    }
    if (isnan(merge_distance) || merge_distance == INFINITY) {
        sinew_fail(error, SINEW_ERROR_DATA, "mesh: the merge distance is %g m; give a finite number", merge_distance);
        return NULL;
    }
    fixer f = {.mesh = mesh, .error = error};
    sinew_mesh *copy = repair_cells(&f, merge_distance) == SINEW_OK ? make_repaired_copy(&f, map) : NULL;
    sinew_release(&mesh->allocator, f.same);
    sinew_release(&mesh->allocator, f.fractions);
    for (int kind = 0; kind < 3; kind++)
        sinew_release(&mesh->allocator, f.cells[kind]);
    return copy;
}
