/* SPDX-License-Identifier: MIT
 *
 * embed_point.c: finds the cell of a body that embeds a point: tetrahedra in a grid, the boundary in a BVH.
 */
#include "world/bodies/embed_point.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/vec3.h"
#include "mesh/mesh.h"

/* ---- Barycentric weights in a tetrahedron ------------------------------------------------------ */

bool sinew_tet_weights(const sinew_real *positions, const int32_t tet[4], const sinew_real point[3], double weights[4])
{
    double e[3][3], p[3], longest = 0;
    const sinew_real *origin = positions + 3 * (size_t)tet[0];
    for (int c = 0; c < 3; c++)
        p[c] = (double)point[c] - (double)origin[c];
    for (int i = 0; i < 3; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            e[i][c] = (double)positions[3 * (size_t)tet[i + 1] + (size_t)c] - (double)origin[c];
            square += e[i][c] * e[i][c];
        }
        longest = fmax(longest, square);
    }
    const double volume = vec3_triple(e[0], e[1], e[2]);
    if (!(fabs(volume) > 1e-10 * longest * sqrt(longest)))
        return false;
    weights[1] = vec3_triple(p, e[1], e[2]) / volume;
    weights[2] = vec3_triple(e[0], p, e[2]) / volume;
    weights[3] = vec3_triple(e[0], e[1], p) / volume;
    weights[0] = 1 - weights[1] - weights[2] - weights[3];
    return true;
}

/* ---- Grid of boxes over the tets ------------------------------------------------------------- */

static void find_tet_bounds(const sinew_mesh *mesh, int32_t tet, double low[3], double high[3])
{
    for (int c = 0; c < 3; c++) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
        for (int i = 0; i < 4; i++) {
            const double x = (double)mesh->positions[3 * (size_t)mesh->tets[4 * (size_t)tet + (size_t)i] + (size_t)c];
            low[c] = fmin(low[c], x);
            high[c] = fmax(high[c], x);
        }
    }
}

/* Index of the grid box along one axis that contains x, clamped to the grid. */
static int32_t box_index_along(const sinew_tet_grid *grid, int axis, double x)
{
    const double at = (x - grid->low[axis]) * grid->scale[axis];
    return at <= 0 ? 0 : at >= grid->boxes[axis] ? grid->boxes[axis] - 1 : (int32_t)at;
}

/* Increments grid->starts of each grid box that a tetrahedron overlaps; `put`: also stores the tetrahedron there. */
static void visit_boxes(sinew_tet_grid *grid, const sinew_mesh *mesh, int32_t tet, bool put)
{
    double low[3], high[3];
    int32_t first[3], last[3];
    find_tet_bounds(mesh, tet, low, high);
    for (int c = 0; c < 3; c++) {
        first[c] = box_index_along(grid, c, low[c]);
        last[c] = box_index_along(grid, c, high[c]);
    }
    for (int32_t z = first[2]; z <= last[2]; z++)
        for (int32_t y = first[1]; y <= last[1]; y++)
            for (int32_t x = first[0]; x <= last[0]; x++) {
                int32_t *start = &grid->starts[x + grid->boxes[0] * (y + grid->boxes[1] * z)];
                if (put)
                    grid->members[*start] = tet;
                ++*start;
            }
}

static int64_t count_boxes_of_tet(const sinew_tet_grid *grid, const sinew_mesh *mesh, int32_t tet)
{
    double low[3], high[3];
    int64_t boxes = 1;
    find_tet_bounds(mesh, tet, low, high);
    for (int c = 0; c < 3; c++)
        boxes *= 1 + box_index_along(grid, c, high[c]) - box_index_along(grid, c, low[c]);
    return boxes;
}

/* Sets box counts and scale of a grid of tetrahedra from grid->low to `high` with boxes of at most `edge` m, but no
 * more than 1024 boxes along an axis. */
static void set_grid_size(sinew_tet_grid *grid, const double high[3], double edge)
{
    for (int c = 0; c < 3; c++) {
        const double side = high[c] - grid->low[c];
        const double count = side > 0 ? ceil(side / edge) : 1;
        grid->boxes[c] = count < 1 ? 1 : count > 1024 ? 1024 : (int32_t)count;
        grid->scale[c] = side > 0 ? grid->boxes[c] / side : 0;
    }
}

/* Sets up the grid of tetrahedra with boxes of the mean size of the tetrahedra, or larger if there would be too many
 * boxes or overlaps. Returns the total number of overlaps of tetrahedra with boxes. */
static int64_t choose_grid(sinew_tet_grid *grid, const sinew_mesh *mesh)
{
    double high[3] = {-INFINITY, -INFINITY, -INFINITY}, edges = 0;
    for (int c = 0; c < 3; c++)
        grid->low[c] = INFINITY;
    for (int32_t t = 0; t < mesh->tet_count; t++) {
        double a[3], b[3];
        find_tet_bounds(mesh, t, a, b);
        for (int c = 0; c < 3; c++) {
            grid->low[c] = fmin(grid->low[c], a[c]);
            high[c] = fmax(high[c], b[c]);
        }
        edges += fmax(b[0] - a[0], fmax(b[1] - a[1], b[2] - a[2]));
    }
    double side = fmax(high[0] - grid->low[0], fmax(high[1] - grid->low[1], high[2] - grid->low[2]));
    double edge = fmax(edges / mesh->tet_count, side / cbrt(4.0 * mesh->tet_count + 1));
    const int64_t max = 32 * (int64_t)mesh->tet_count + 1024;
    for (;;) {
        set_grid_size(grid, high, edge > 0 ? edge : 1);
        int64_t boxes = (int64_t)grid->boxes[0] * grid->boxes[1] * grid->boxes[2], total = 0;
        for (int32_t t = 0; t < mesh->tet_count && total <= max; t++)
            total += count_boxes_of_tet(grid, mesh, t);
        if ((total <= max && boxes <= max) || boxes == 1)
            return total;
        edge *= 2;
    }
}

static sinew_status make_grid(sinew_embeddings *embeddings, sinew_error *error)
{
    sinew_tet_grid *grid = &embeddings->grid;
    const sinew_mesh *mesh = embeddings->mesh;
    const int64_t total = choose_grid(grid, mesh);
    const size_t boxes = (size_t)grid->boxes[0] * (size_t)grid->boxes[1] * (size_t)grid->boxes[2];
    grid->starts = sinew_allocate_zero(&embeddings->allocator, boxes + 1, sizeof *grid->starts);
    grid->members = total <= INT32_MAX ? sinew_allocate(&embeddings->allocator, (size_t)total, sizeof(int32_t)) : NULL;
    if (!grid->starts || !grid->members)
        return sinew_fail_memory(error, "the search for the cells under a skin");
    for (int32_t t = 0; t < mesh->tet_count; t++)
        visit_boxes(grid, mesh, t, false);
    int32_t sum = 0;
    for (size_t i = 0; i < boxes; i++) {
        const int32_t count = grid->starts[i];
        grid->starts[i] = sum;
        sum += count;
    }
    for (int32_t t = 0; t < mesh->tet_count; t++)
        visit_boxes(grid, mesh, t, true);
    /* Filling has advanced the start of each grid box to the start of the next box: the shift restores the starts. */
    memmove(grid->starts + 1, grid->starts, boxes * sizeof *grid->starts);
    grid->starts[0] = 0;
    return SINEW_OK;
}

/* ---- Creation and release of embeddings -------------------------------------------------------- */

static sinew_status embed_point_make_tree(sinew_embeddings *embeddings, sinew_error *error)
{
    const sinew_mesh *shown = embeddings->surface;
    sinew_tree_def def = sinew_default_tree_def();
    def.allocator = embeddings->allocator;
    def.vertex_count = shown->vertex_count;
    def.positions = shown->positions;
    def.width = shown->triangle_count > 0 ? 3 : shown->edge_count > 0 ? 2 : 1;
    def.cell_count = def.width == 3 ? shown->triangle_count : def.width == 2 ? shown->edge_count : shown->vertex_count;
    def.cells = def.width == 3 ? shown->triangles : def.width == 2 ? shown->edges : NULL;
    def.winding = false;
    embeddings->cells = def.cells;
    embeddings->width = def.width;
    embeddings->tree = sinew_tree_create(&def, error);
    return embeddings->tree ? SINEW_OK : error ? error->status : SINEW_ERROR_MEMORY;
}

sinew_status sinew_embeddings_begin(sinew_embeddings *embeddings, const sinew_mesh *mesh,
                                    const sinew_allocator *allocator, sinew_error *error)
{
    *embeddings = (sinew_embeddings){.allocator = *allocator, .mesh = mesh};
    embeddings->surface = sinew_mesh_surface_owned(mesh, &embeddings->owners, error);
    if (!embeddings->surface)
        return error ? error->status : SINEW_ERROR_MEMORY;
    sinew_status status = embed_point_make_tree(embeddings, error);
    if (status == SINEW_OK && mesh->tet_count > 0)
        status = make_grid(embeddings, error);
    if (status != SINEW_OK)
        sinew_embeddings_end(embeddings);
    return status;
}

void sinew_embeddings_end(sinew_embeddings *embeddings)
{
    if (embeddings->surface)
        sinew_release(&embeddings->surface->allocator, embeddings->owners);
    sinew_mesh_destroy(embeddings->surface);
    sinew_tree_destroy(embeddings->tree);
    sinew_release(&embeddings->allocator, embeddings->grid.starts);
    sinew_release(&embeddings->allocator, embeddings->grid.members);
    *embeddings = (sinew_embeddings){0};
}

/* ---- Search for the cell that embeds a point --------------------------------------------------- */

static double min_weight(const double weights[4])
{
    return fmin(fmin(weights[0], weights[1]), fmin(weights[2], weights[3]));
}

static size_t box_of_point(const sinew_tet_grid *grid, const sinew_real point[3])
{
    int32_t box[3];
    for (int c = 0; c < 3; c++)
        box[c] = box_index_along(grid, c, (double)point[c]);
    return (size_t)(box[0] + grid->boxes[0] * (box[1] + grid->boxes[1] * box[2]));
}

/* Points outside a tetrahedron by less than this barycentric weight count as points on its boundary. */
static const double border = 1e-7;

int32_t sinew_embeddings_holding(const sinew_embeddings *embeddings, const sinew_real point[3], int32_t *tets,
                                 int32_t capacity)
{
    const sinew_tet_grid *grid = &embeddings->grid;
    const size_t at = box_of_point(grid, point);
    int32_t count = 0;
    for (int32_t i = grid->starts[at]; i < grid->starts[at + 1]; i++) {
        double weights[4];
        const int32_t *tet = embeddings->mesh->tets + 4 * (size_t)grid->members[i];
        if (!sinew_tet_weights(embeddings->mesh->positions, tet, point, weights) || min_weight(weights) < -border)
            continue;
        if (count < capacity)
            tets[count] = grid->members[i];
        count++;
    }
    return count;
}

static bool share_a_vertex(const int32_t a[4], const int32_t b[4])
{
    bool shared = false;
    for (int i = 0; i < 16; i++)
        shared = shared || a[i / 4] == b[i % 4];
    return shared;
}

/* True if another tetrahedron contains the point strictly, or has it on its boundary and shares no vertex with the
 * found tetrahedron. */
static bool other_tet_contains(const sinew_embeddings *embeddings, const sinew_real point[3],
                               const sinew_embedding *found)
{
    const sinew_tet_grid *grid = &embeddings->grid;
    const size_t at = box_of_point(grid, point);
    for (int32_t i = grid->starts[at]; i < grid->starts[at + 1]; i++) {
        const int32_t *tet = embeddings->mesh->tets + 4 * (size_t)grid->members[i];
        double weights[4];
        if (grid->members[i] == found->tet || !sinew_tet_weights(embeddings->mesh->positions, tet, point, weights))
            continue;
        const double depth = min_weight(weights);
        if (depth > border || (depth >= -border && !share_a_vertex(tet, found->vertices)))
            return true;
    }
    return false;
}

/* Finds the tetrahedron in which the smallest weight of the point is largest; false if no tetrahedron contains the
 * point. */
static bool embed_point_find_inside(const sinew_embeddings *embeddings, const sinew_real point[3],
                                    sinew_embedding *found)
{
    const sinew_tet_grid *grid = &embeddings->grid;
    const sinew_mesh *mesh = embeddings->mesh;
    if (mesh->tet_count == 0)
        return false;
    const size_t at = box_of_point(grid, point);
    double deepest = -1;
    for (int32_t i = grid->starts[at]; i < grid->starts[at + 1]; i++) {
        const int32_t *tet = mesh->tets + 4 * (size_t)grid->members[i];
        double weights[4];
        if (!sinew_tet_weights(mesh->positions, tet, point, weights) || min_weight(weights) < 0 ||
            min_weight(weights) <= deepest)
            continue;
        deepest = min_weight(weights);
        found->tet = grid->members[i];
        memcpy(found->vertices, tet, sizeof found->vertices);
        memcpy(found->weights, weights, sizeof found->weights);
    }
    found->distance = 0;
    found->several = deepest >= 0 && other_tet_contains(embeddings, point, found);
    return deepest >= 0;
}

sinew_embedding sinew_embeddings_find(const sinew_embeddings *embeddings, const sinew_real point[3])
{
    sinew_embedding found;
    if (embed_point_find_inside(embeddings, point, &found))
        return found;
    sinew_tree_point nearest;
    sinew_tree_nearest(embeddings->tree, 1, point, NULL, &nearest);
    found = (sinew_embedding){.distance = (double)nearest.distance, .tet = -1};
    if (embeddings->owners) {
        const int32_t *tet = embeddings->mesh->tets + 4 * (size_t)embeddings->owners[nearest.cell];
        memcpy(found.vertices, tet, sizeof found.vertices);
        found.tet = embeddings->owners[nearest.cell];
        if (sinew_tet_weights(embeddings->mesh->positions, tet, point, found.weights))
            return found;
        found.tet = -1;
    }
    for (int i = 0; i < 4; i++) {
        const int k = i < embeddings->width ? i : 0;
        found.vertices[i] =
            embeddings->cells ? embeddings->cells[embeddings->width * (int64_t)nearest.cell + k] : nearest.cell;
        found.weights[i] = i < embeddings->width ? (double)nearest.weights[i] : 0;
    }
    return found;
}
