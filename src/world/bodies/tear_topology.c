/* SPDX-License-Identifier: MIT
 *
 * tear_topology.c: applies a tear to particles, cells and elements of a world. See tear.h.
 *
 * An element consists of simplices (mesh/topology/stencil.h). In a split each simplex follows the cells that contain
 * it: an edge between two triangles that separate becomes two edges; a hinge whose triangles separate is removed.
 * Remaining elements keep their numbers. The second of two edges is appended with the parameters of the first.
 */
#include <string.h>

#include "mesh/mesh.h"
#include "world/bodies/tear.h"

enum {
    MAPS_MAX = 64 /* capacity of the list of vertices of all images of one simplex after a cut */
};

sinew_elements sinew_tear_cells(const sinew_mesh *mesh)
{
    sinew_elements lists[3];
    sinew_mesh_elements(mesh, lists);
    return lists[0].count > 0 ? lists[0] : lists[1].count > 0 ? lists[1] : lists[2];
}

/* ---- Rewritten lists of elements --------------------------------------------------------------- */

/* List of elements after a tear: for each element, its number before the tear and its vertices. */
typedef struct new_list {
    const sinew_allocator *allocator;
    int32_t n, count;
    int32_t *from;     /* [count] number of each element in the list before the tear */
    int32_t *vertices; /* [count][n] vertices of each element after the tear */
    int32_t reserved;  /* number of elements for which `from` and `vertices` have memory */
} new_list;

static void new_list_release(new_list *list)
{
    sinew_release(list->allocator, list->from);
    sinew_release(list->allocator, list->vertices);
}

static bool new_list_grow(new_list *list)
{
    const size_t n = (size_t)list->n, count = (size_t)list->count, reserved = 2 * count + 16;
    int32_t *from = sinew_reallocate(list->allocator, list->from, count, reserved, sizeof *from);
    list->from = from ? from : list->from;
    int32_t *vertices =
        from ? sinew_reallocate(list->allocator, list->vertices, count * n, reserved * n, sizeof *vertices) : NULL;
    list->vertices = vertices ? vertices : list->vertices;
    list->reserved = vertices ? (int32_t)reserved : list->reserved;
    return vertices != NULL;
}

static bool new_list_add(new_list *list, int32_t from, const int32_t *vertices)
{
    const size_t n = (size_t)list->n;
    if (list->count == list->reserved && !new_list_grow(list))
        return false;
    list->from[list->count] = from;
    memcpy(list->vertices + (size_t)list->count * n, vertices, n * sizeof *vertices);
    list->count++;
    return true;
}

/* Maps an element of several simplices through a cut; false if its simplices separate, or if a simplex belongs to no
 * cell. */
static bool map_simplices(const sinew_cut *cut, const sinew_stencil_info *stencil_info, int32_t *element, int32_t n)
{
    int32_t simplex[4], to[SINEW_STENCIL_MAX], maps[MAPS_MAX];
    for (int32_t i = 0; i < n; i++)
        to[i] = -1;
    for (int32_t p = 0, size; (size = sinew_stencil_simplex(stencil_info, element, n, p, simplex)) > 0; p++) {
        if (sinew_cut_map(cut, simplex, size, maps, MAPS_MAX / size) != 1)
            return false;
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < size; k++) {
                if (element[i] != simplex[k])
                    continue;
                if (to[i] >= 0 && to[i] != maps[k])
                    return false;
                to[i] = maps[k];
            }
    }
    for (int32_t i = 0; i < n; i++)
        element[i] = to[i] >= 0 ? to[i] : element[i];
    return true;
}

/* Rewrites a list of elements of one stencil, [count][n] after a cut; moved[vertex] is 1 if the vertex got a copy.
 * Copies of duplicated edges and faces are last. False: out of memory. */
static bool map_elements(const sinew_cut *cut, const sinew_stencil_info *stencil_info, const int32_t *elements,
                         int32_t count, const uint8_t *moved, new_list *list)
{
    bool good = true;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t e = 0; e < count && good; e++) {
            int32_t element[SINEW_STENCIL_MAX], maps[MAPS_MAX], map_count = 1;
            bool touched = false;
            memcpy(element, elements + (size_t)e * (size_t)list->n, (size_t)list->n * sizeof *element);
            for (int32_t i = 0; i < list->n; i++)
                touched = touched || moved[element[i]];
            memcpy(maps, element, (size_t)list->n * sizeof *element);
            /* An element that belongs to no cell is unchanged by a cut. */
            if (touched && stencil_info->simplex_count == 1)
                map_count = sinew_cut_map(cut, element, list->n, maps, MAPS_MAX / list->n);
            else if (touched && pass == 0 && !map_simplices(cut, stencil_info, element, list->n))
                continue;
            const bool one = stencil_info->simplex_count == 1 && map_count > 0;
            for (int32_t w = pass; w < (pass == 0 ? 1 : map_count) && good; w++)
                good = new_list_add(list, e, one ? maps + (size_t)w * (size_t)list->n : element);
        }
    return good;
}

/* ---- Splits of vertices by a cut --------------------------------------------------------------- */

/* Rewrites the cells of one kind of a mesh after a cut. */
static sinew_status map_cells(const sinew_cut *cut, const sinew_elements *cells, sinew_stencil stencil,
                              const uint8_t *moved, new_list *list, sinew_error *error)
{
    *list = (new_list){.allocator = cut->allocator, .n = cells->size};
    return map_elements(cut, sinew_get_stencil(stencil), cells->vertices, cells->count, moved, list)
               ? SINEW_OK
               : sinew_fail_memory(error, "the cells of a body that tears");
}

/* Builds the body's mesh after a cut; the body already has the new vertices. */
static sinew_status split_mesh(sinew_world *world, sinew_body body, const sinew_cut *cut, const uint8_t *moved,
                               sinew_error *error)
{
    const sinew_mesh *mesh = world->bodies[body.index].mesh;
    static const sinew_stencil stencils[3] = {SINEW_STENCIL_TET, SINEW_STENCIL_TRIANGLE, SINEW_STENCIL_EDGE};
    sinew_elements lists[3];
    new_list made[3] = {{0}};
    sinew_status status = SINEW_OK;
    sinew_mesh_elements(mesh, lists);
    for (int i = 0; i < 3; i++) {
        made[i] = (new_list){.allocator = cut->allocator, .n = lists[i].size};
        if (status == SINEW_OK)
            status = map_cells(cut, &lists[i], stencils[i], moved, &made[i], error);
    }
    sinew_mesh_def def = sinew_default_mesh_def();
    def.allocator = world->allocator;
    def.vertex_count = sinew_mesh_vertex_count(mesh);
    def.positions = sinew_mesh_positions(mesh);
    def.tets = made[0].vertices;
    def.tet_count = made[0].count;
    def.triangles = made[1].vertices;
    def.triangle_count = made[1].count;
    def.edges = made[2].vertices;
    def.edge_count = made[2].count;
    def.fractions = sinew_mesh_fractions(mesh);
    sinew_mesh *split = status == SINEW_OK ? sinew_mesh_create(&def, error) : NULL;
    if (status == SINEW_OK)
        status = split ? sinew_body_set_mesh(world, body, split, error) : SINEW_ERROR_MEMORY;
    sinew_mesh_destroy(split);
    for (int i = 0; i < 3; i++)
        new_list_release(&made[i]);
    return status;
}

/* Converts the particles of an energy's elements, all of this body, to vertices of the body in vertices [count]. */
static void element_vertices_in_body(const sinew_world *world, const sinew_body_record *body,
                                     const sinew_energy_record *record, size_t count, int32_t *vertices)
{
    for (size_t i = 0; i < count; i++) {
        const int32_t inside = record->store.particles[i];
        vertices[i] = world->outside[inside] - body->first;
    }
}

static sinew_status split_energy(sinew_world *world, sinew_body body, int32_t energy, const sinew_cut *cut,
                                 const uint8_t *moved, sinew_error *error)
{
    const sinew_body_record *record = &world->bodies[body.index];
    sinew_energy_record *elements = &world->energies[energy];
    const sinew_energy_info *info = &elements->batch->ops->info;
    const size_t numbers = (size_t)elements->store.count * (size_t)info->vertex_count;
    int32_t *vertices = sinew_allocate(&world->allocator, numbers, sizeof *vertices);
    new_list list = {.allocator = &world->allocator, .n = info->vertex_count};
    if (vertices)
        element_vertices_in_body(world, record, elements, numbers, vertices);
    const bool made =
        vertices && map_elements(cut, sinew_get_stencil(info->stencil), vertices, elements->store.count, moved, &list);
    sinew_status status = made ? SINEW_OK : sinew_fail_memory(error, "the elements of a body that tears");
    bool same = made && list.count == elements->store.count;
    for (size_t i = 0; same && i < numbers; i++)
        same = list.vertices[i] == vertices[i];
    for (size_t i = 0; made && i < (size_t)list.count * (size_t)list.n; i++)
        list.vertices[i] = world->inside[record->first + list.vertices[i]];
    if (made && list.count == 0)
        status = sinew_energy_switch(world, (sinew_energy){energy, elements->generation}, NULL, 0, false, error);
    else if (made && !same)
        status = sinew_energy_reselect(world, elements, list.from, list.count, list.vertices, error);
    sinew_release(&world->allocator, vertices);
    new_list_release(&list);
    return status;
}

/* Updates particles, cells and elements after a cut. A failure after the first change, for lack of memory, leaves the
 * body partly torn. */
static sinew_status apply_cut_to_body(sinew_world *world, sinew_body body, const sinew_cut *cut, const uint8_t *moved,
                                      sinew_error *error)
{
    sinew_vertices_def more = sinew_default_vertices_def();
    more.count = cut->copy_count;
    more.copies_of = cut->copies;
    sinew_status status = sinew_body_add_vertices(world, body, &more, NULL, error);
    if (status != SINEW_OK)
        return status;
    status = split_mesh(world, body, cut, moved, error);
    for (int32_t i = 0; i < world->energy_count && status == SINEW_OK; i++) {
        const sinew_energy_record *record = &world->energies[i];
        if (record->batch && sinew_get_stencil(record->batch->ops->info.stencil)->simplex_size > 0 &&
            sinew_energy_acts_on(&world->bodies[body.index], record) == 1)
            status = split_energy(world, body, i, cut, moved, error);
    }
    world->bodies[body.index].tear->torn_apart = status != SINEW_OK;
    return status;
}

static sinew_status apply_split_operation(sinew_world *world, sinew_body body, const int32_t *operation,
                                          sinew_error *error)
{
    const sinew_body_record *record = &world->bodies[body.index];
    const sinew_elements cells = sinew_tear_cells(record->mesh);
    const int32_t copies = operation[1], changes = operation[2];
    const int32_t *copy = operation + SINEW_TEAR_HEAD, *change = copy + copies;
    sinew_cut cut;
    uint8_t *moved = sinew_allocate_zero(&world->allocator, (size_t)(record->count + copies), sizeof *moved);
    sinew_status status = sinew_cut_begin(&cut, &world->allocator, record->count, &cells, error);
    if (status == SINEW_OK && !moved)
        status = sinew_fail_memory(error, "a cut through a mesh");
    if (status == SINEW_OK) {
        memcpy(cut.copies, copy, (size_t)copies * sizeof *copy);
        cut.copy_count = copies;
        for (int32_t i = 0; i < copies; i++)
            moved[copy[i]] = 1;
        for (int32_t i = 0; i < changes; i++)
            cut.after[change[2 * i]] = change[2 * i + 1];
        status = apply_cut_to_body(world, body, &cut, moved, error);
    }
    sinew_cut_end(&cut);
    sinew_release(&world->allocator, moved);
    if (status == SINEW_OK)
        world->bodies[body.index].tear->report.vertices += copies;
    return status;
}

/* ---- Removal of cells at torn edges ------------------------------------------------------------ */

/* True if a list of vertices contains both ends of one of the torn edges. */
static bool has_edge(const int32_t *vertices, int32_t count, const int32_t *edges, int32_t edge_count)
{
    for (int32_t e = 0; e < edge_count; e++) {
        int ends = 0;
        for (int32_t i = 0; i < count; i++)
            ends += vertices[i] == edges[2 * e] || vertices[i] == edges[2 * e + 1];
        if (ends >= 2)
            return true;
    }
    return false;
}

static bool element_has_edge(const sinew_stencil_info *stencil_info, const int32_t *element, int32_t n,
                             const int32_t *edges, int32_t edge_count)
{
    int32_t simplex[4];
    for (int32_t p = 0, size; (size = sinew_stencil_simplex(stencil_info, element, n, p, simplex)) > 0; p++)
        if (has_edge(simplex, size, edges, edge_count))
            return true;
    return false;
}

static sinew_status remove_from_energy(sinew_world *world, sinew_body body, int32_t energy, const int32_t *edges,
                                       int32_t edge_count, const uint8_t *moved, sinew_error *error)
{
    const sinew_body_record *record = &world->bodies[body.index];
    const sinew_energy_record *elements = &world->energies[energy];
    const sinew_energy_info *info = &elements->batch->ops->info;
    const int32_t n = info->vertex_count;
    int32_t *off = sinew_allocate(&world->allocator, (size_t)elements->store.count, sizeof *off), count = 0;
    if (!off)
        return sinew_fail_memory(error, "the elements of a body that tears");
    for (int32_t e = 0; e < elements->store.count; e++) {
        int32_t vertices[SINEW_STENCIL_MAX], touched = 0;
        for (int32_t i = 0; i < n; i++) {
            vertices[i] = world->outside[elements->store.particles[(size_t)e * (size_t)n + (size_t)i]] - record->first;
            touched += moved[vertices[i]];
        }
        if (touched >= 2 && element_has_edge(sinew_get_stencil(info->stencil), vertices, n, edges, edge_count))
            off[count++] = e;
    }
    const sinew_energy id = {energy, elements->generation};
    const sinew_status status = count > 0 ? sinew_energy_switch(world, id, off, count, false, error) : SINEW_OK;
    sinew_release(&world->allocator, off);
    return status;
}

/* Cells of a mesh that contain none of the torn edges. */
typedef struct kept_cells {
    int32_t *vertices[3]; /* vertices of the kept tets [0], triangles [1] and edges [2] */
    int32_t counts[3];
    sinew_real *fractions; /* [counts[0]] filled fractions of the kept tets; NULL: the mesh has no fractions */
} kept_cells;

static void kept_cells_release(kept_cells *kept, const sinew_allocator *allocator)
{
    for (int i = 0; i < 3; i++)
        sinew_release(allocator, kept->vertices[i]);
    sinew_release(allocator, kept->fractions);
}

/* Selects the cells of a mesh that contain none of the torn edges; false: out of memory. */
static bool kept_cells_select(kept_cells *kept, const sinew_allocator *allocator, const sinew_mesh *mesh,
                              const int32_t *edges, int32_t edge_count)
{
    sinew_elements lists[3];
    const sinew_real *fractions = sinew_mesh_fractions(mesh);
    sinew_mesh_elements(mesh, lists);
    if (fractions)
        kept->fractions = sinew_allocate(allocator, (size_t)lists[0].count, sizeof *kept->fractions);
    bool good = !fractions || kept->fractions;
    for (int i = 0; i < 3 && good; i++) {
        const size_t size = (size_t)lists[i].size;
        kept->vertices[i] = sinew_allocate(allocator, (size_t)lists[i].count * size, sizeof *kept->vertices[i]);
        good = kept->vertices[i];
        for (int32_t c = 0; good && c < lists[i].count; c++) {
            const int32_t *cell = lists[i].vertices + (size_t)c * size;
            if (has_edge(cell, lists[i].size, edges, edge_count))
                continue;
            if (i == 0 && fractions)
                kept->fractions[kept->counts[0]] = fractions[c];
            memcpy(kept->vertices[i] + size * (size_t)kept->counts[i]++, cell, size * sizeof *cell);
        }
    }
    return good;
}

/* Rebuilds the body's mesh without the cells that contain one of the torn edges. */
static sinew_status remove_from_mesh(sinew_world *world, sinew_body body, const int32_t *edges, int32_t edge_count,
                                     sinew_error *error)
{
    const sinew_mesh *mesh = world->bodies[body.index].mesh;
    kept_cells kept = {0};
    const bool good = kept_cells_select(&kept, &world->allocator, mesh, edges, edge_count);
    sinew_mesh_def def = sinew_default_mesh_def();
    def.allocator = world->allocator;
    def.vertex_count = sinew_mesh_vertex_count(mesh);
    def.positions = sinew_mesh_positions(mesh);
    def.tets = kept.vertices[0];
    def.tet_count = kept.counts[0];
    def.triangles = kept.vertices[1];
    def.triangle_count = kept.counts[1];
    def.edges = kept.vertices[2];
    def.edge_count = kept.counts[2];
    def.fractions = kept.fractions;
    sinew_mesh *left = good ? sinew_mesh_create(&def, error) : NULL;
    sinew_status status = good ? SINEW_OK : sinew_fail_memory(error, "the cells of a body that tears");
    if (good)
        status = left ? sinew_body_set_mesh(world, body, left, error) : SINEW_ERROR_MEMORY;
    sinew_mesh_destroy(left);
    kept_cells_release(&kept, &world->allocator);
    return status;
}

static sinew_status apply_remove_operation(sinew_world *world, sinew_body body, const int32_t *operation,
                                           sinew_error *error)
{
    const int32_t edge_count = operation[1], *edges = operation + SINEW_TEAR_HEAD;
    const sinew_body_record *record = &world->bodies[body.index];
    uint8_t *moved = sinew_allocate_zero(&world->allocator, (size_t)record->count, sizeof *moved);
    if (!moved)
        return sinew_fail_memory(error, "the edges that tear");
    for (int32_t i = 0; i < 2 * edge_count; i++)
        moved[edges[i]] = 1;
    sinew_status status = remove_from_mesh(world, body, edges, edge_count, error);
    const bool begun = status == SINEW_OK;
    for (int32_t i = 0; i < world->energy_count && status == SINEW_OK; i++) {
        const sinew_energy_record *energy = &world->energies[i];
        if (energy->batch && sinew_get_stencil(energy->batch->ops->info.stencil)->simplex_size > 0 &&
            sinew_energy_acts_on(&world->bodies[body.index], energy) == 1)
            status = remove_from_energy(world, body, i, edges, edge_count, moved, error);
    }
    world->bodies[body.index].tear->torn_apart = begun && status != SINEW_OK;
    sinew_release(&world->allocator, moved);
    return status;
}

/* ---- Logs of tearing operations --------------------------------------------------------------- */

/* Length, in integers, of the operation at the start of a tear log; 0: not a valid operation. */
static size_t operation_size(const int32_t *log, size_t count)
{
    if (count < SINEW_TEAR_HEAD || log[1] < 1 || log[2] < 0)
        return 0;
    const size_t size = log[0] == SINEW_TEAR_SPLIT    ? (size_t)log[1] + 2 * (size_t)log[2]
                        : log[0] == SINEW_TEAR_REMOVE ? 2 * (size_t)log[1]
                                                      : SIZE_MAX / 2;
    return size <= count - SINEW_TEAR_HEAD ? SINEW_TEAR_HEAD + size : 0;
}

static bool all_in_range(const int32_t *numbers, size_t count, size_t stride, int64_t end)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i * stride] < 0 || numbers[i * stride] >= end)
            return false;
    return true;
}

bool sinew_tear_log_is_sound(const sinew_mesh *mesh, const int32_t *log, size_t count)
{
    const sinew_elements cells = sinew_tear_cells(mesh);
    const int64_t corners = (int64_t)cells.count * cells.size;
    int64_t vertices = mesh->vertex_count;
    for (size_t at = 0, size; at < count; at += size) {
        const int32_t *operation = log + at, *list = operation + SINEW_TEAR_HEAD;
        size = operation_size(operation, count - at);
        if (size == 0)
            return false;
        const size_t first = (size_t)operation[1], second = (size_t)operation[2];
        const bool split = operation[0] == SINEW_TEAR_SPLIT;
        if ((split && operation[1] > corners) || !all_in_range(list, split ? first : 2 * first, 1, vertices) ||
            (split && (!all_in_range(list + first, second, 2, corners) ||
                       !all_in_range(list + first + 1, second, 2, vertices + operation[1]))))
            return false;
        vertices += split ? operation[1] : 0;
    }
    return true;
}

int64_t sinew_tear_log_copies(const int32_t *log, size_t count)
{
    int64_t copies = 0;
    for (size_t at = 0, size; at < count && (size = operation_size(log + at, count - at)) > 0; at += size)
        copies += log[at] == SINEW_TEAR_SPLIT ? log[at + 1] : 0;
    return copies;
}

sinew_status sinew_tear_apply_log(sinew_world *world, sinew_body body, const int32_t *log, size_t count,
                                  sinew_error *error)
{
    sinew_tear *tear = world->bodies[body.index].tear;
    sinew_status status = SINEW_OK;
    if (tear->log_count + count > tear->log_capacity) {
        const size_t reserved = 2 * (tear->log_count + count);
        int32_t *grown = sinew_reallocate(&world->allocator, tear->log, tear->log_count, reserved, sizeof *grown);
        if (!grown)
            return sinew_fail_memory(error, "the tears of a body");
        tear->log = grown;
        tear->log_capacity = reserved;
    }
    if (!sinew_world_keep_signature(world))
        return sinew_fail_memory(error, "the tears of a body");
    for (size_t at = 0, size; at < count && status == SINEW_OK; at += size) {
        size = operation_size(log + at, count - at);
        status = log[at] == SINEW_TEAR_SPLIT ? apply_split_operation(world, body, log + at, error)
                                             : apply_remove_operation(world, body, log + at, error);
        if (status != SINEW_OK)
            break;
        memcpy(tear->log + tear->log_count, log + at, size * sizeof *log);
        tear->log_count += size;
        sinew_release(&world->allocator, tear->edges);
        tear->edges = NULL;
    }
    return status;
}
