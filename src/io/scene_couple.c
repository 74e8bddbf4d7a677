/* SPDX-License-Identifier: MIT
 *
 * scene_couple.c: energies between two bodies. Vertices of the first are joined to listed vertices of the second, or
 * each to the nearest place of the second within a distance: on its surface (triangles; without them edges; without
 * both vertices) or at a vertex. A place is up to four vertices with weights.
 *
 * Distances are those of the rest shapes. The search tries every pair, with a box around each cell first: fine for
 * scenes up to some ten thousand vertices. The nearest point of a triangle follows C. Ericson, Real-Time Collision
 * Detection (2005), 5.1.5, which walks its Voronoi regions.
 */
#include <math.h>
#include <string.h>

#include "io/scene_reader.h"
#include "mesh/stencil.h"

/* A place on a body. */
typedef struct place {
    int32_t vertices[4];
    double weights[4];
    double distance; /* squared */
} place;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void subtract(const sinew_real *a, const sinew_real *b, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = (double)a[k] - (double)b[k];
}

static void set_weights(double weights[3], double a, double b, double c)
{
    weights[0] = a;
    weights[1] = b;
    weights[2] = c;
}

/* Weights of the point of the segment ab nearest to p. */
static void nearest_on_edge(const sinew_real *p, const sinew_real *a, const sinew_real *b, double weights[3])
{
    double ab[3], ap[3];
    subtract(b, a, ab);
    subtract(p, a, ap);
    double length = dot(ab, ab);
    double t = length > 0 ? fmin(fmax(dot(ap, ab) / length, 0), 1) : 0;
    set_weights(weights, 1 - t, t, 0);
}

/* Weights of the point of the triangle abc nearest to p. */
static void nearest_on_triangle(const sinew_real *p, const sinew_real *a, const sinew_real *b, const sinew_real *c,
                                double weights[3])
{
    double ab[3], ac[3], ap[3], bp[3], cp[3];
    subtract(b, a, ab);
    subtract(c, a, ac);
    subtract(p, a, ap);
    subtract(p, b, bp);
    subtract(p, c, cp);
    double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp), d6 = dot(ac, cp);
    double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
    if (d1 <= 0 && d2 <= 0) {
        set_weights(weights, 1, 0, 0);
    } else if (d3 >= 0 && d4 <= d3) {
        set_weights(weights, 0, 1, 0);
    } else if (d6 >= 0 && d5 <= d6) {
        set_weights(weights, 0, 0, 1);
    } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        set_weights(weights, 1 - d1 / (d1 - d3), d1 / (d1 - d3), 0);
    } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        set_weights(weights, 1 - d2 / (d2 - d6), 0, d2 / (d2 - d6));
    } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        set_weights(weights, 0, 1 - t, t);
    } else {
        double sum = va + vb + vc;
        set_weights(weights, va / sum, vb / sum, vc / sum);
    }
}

/* ---- The nearest place ---------------------------------------------------------------------- */

/* What is searched: cells of `width` vertices of one body. */
typedef struct target {
    const sinew_real *positions;
    const int32_t *cells; /* NULL: the vertices */
    int32_t count, width;
    sinew_mesh *surface; /* owned, may be NULL */
} target;

static bool view_target(sinew_reader *reader, const sinew_mesh *mesh, bool vertices, target *t)
{
    *t = (target){sinew_mesh_positions(mesh), NULL, sinew_mesh_vertex_count(mesh), 1, NULL};
    if (vertices)
        return true;
    t->surface = sinew_mesh_surface(mesh, reader->error);
    if (!t->surface)
        return false;
    if (sinew_mesh_triangle_count(t->surface) > 0) {
        t->cells = sinew_mesh_triangles(t->surface);
        t->count = sinew_mesh_triangle_count(t->surface);
        t->width = 3;
    } else if (sinew_mesh_edge_count(mesh) > 0) {
        t->cells = sinew_mesh_edges(mesh);
        t->count = sinew_mesh_edge_count(mesh);
        t->width = 2;
    }
    return true;
}

/* Squared distance from p to the box around a cell: never more than to the cell. */
static double box_distance(const target *t, const int32_t *cell, const sinew_real *p)
{
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int32_t corner = 0; corner < t->width; corner++) {
            double x = t->positions[3 * (size_t)cell[corner] + (size_t)k];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        double gap = fmax(fmax(low - p[k], p[k] - high), 0);
        sum += gap * gap;
    }
    return sum;
}

static void place_on_cell(const target *t, const int32_t *cell, const sinew_real *p, place *result)
{
    const sinew_real *corner[3];
    for (int32_t i = 0; i < 3; i++)
        corner[i] = t->positions + 3 * (size_t)cell[i < t->width ? i : 0];
    *result = (place){.weights = {1}};
    if (t->width == 3)
        nearest_on_triangle(p, corner[0], corner[1], corner[2], result->weights);
    else if (t->width == 2)
        nearest_on_edge(p, corner[0], corner[1], result->weights);
    for (int32_t i = 0; i < 4; i++)
        result->vertices[i] = cell[i < t->width ? i : 0];
    for (int k = 0; k < 3; k++) {
        double x = -(double)p[k];
        for (int i = 0; i < t->width; i++)
            x += result->weights[i] * corner[i][k];
        result->distance += x * x;
    }
}

static place nearest_place(const target *t, const sinew_real *p)
{
    place best = {.distance = INFINITY};
    for (int32_t i = 0; i < t->count; i++) {
        const int32_t *cell = t->cells ? t->cells + (size_t)i * (size_t)t->width : &i;
        if (box_distance(t, cell, p) >= best.distance)
            continue;
        place found;
        place_on_cell(t, cell, p, &found);
        if (found.distance < best.distance)
            best = found;
    }
    return best;
}

/* ---- Pairs ---------------------------------------------------------------------------------- */

typedef struct pair_list {
    int32_t count, capacity;
    int32_t *elements;   /* [8 * capacity] particles of the world */
    sinew_real *weights; /* [8 * capacity] */
} pair_list;

static bool make_pairs(sinew_reader *reader, pair_list *pairs, int32_t capacity)
{
    pairs->capacity = capacity;
    pairs->elements = sinew_reader_allocate(reader, 8 * (size_t)capacity, sizeof *pairs->elements, "couplings");
    pairs->weights = pairs->elements
                         ? sinew_reader_allocate(reader, 8 * (size_t)capacity, sizeof *pairs->weights, "couplings")
                         : NULL;
    return pairs->weights != NULL;
}

/* Joins a particle to a place; `first` is the second body's first particle. */
static void add_pair(pair_list *pairs, int32_t particle, int32_t first, const place *to)
{
    int32_t *elements = pairs->elements + 8 * (size_t)pairs->count;
    sinew_real *weights = pairs->weights + 8 * (size_t)pairs->count;
    for (int i = 0; i < 4; i++) {
        elements[i] = particle;
        weights[i] = i == 0;
        elements[4 + i] = first + to->vertices[i];
        weights[4 + i] = (sinew_real)to->weights[i];
    }
    pairs->count++;
}

static bool list_pairs(sinew_reader *reader, const sinew_node *list, const sinew_body bodies[2], pair_list *pairs)
{
    const sinew_world *world = reader->scene->world;
    if (!make_pairs(reader, pairs, sinew_node_count(list)))
        return false;
    for (const sinew_node *entry = list->child; entry; entry = entry->next) {
        int32_t index[2] = {sinew_node_integer(entry->child), sinew_node_integer(entry->child->next)};
        for (int side = 0; side < 2; side++) {
            int32_t count = sinew_mesh_vertex_count(sinew_body_mesh(world, bodies[side]));
            if (index[side] >= count)
                return sinew_tree_fail(&reader->tree, entry, "%d is no vertex of a body with %d vertices", index[side],
                                       count);
        }
        int32_t vertex = index[1];
        place to = {.vertices = {vertex, vertex, vertex, vertex}, .weights = {1}};
        add_pair(pairs, sinew_body_first_particle(world, bodies[0]) + index[0],
                 sinew_body_first_particle(world, bodies[1]), &to);
    }
    return true;
}

static bool find_pairs(sinew_reader *reader, const sinew_node *node, const sinew_body bodies[2], pair_list *pairs)
{
    const sinew_world *world = reader->scene->world;
    const sinew_node *within = sinew_node_get(node, "within"), *to = sinew_node_get(node, "to");
    const sinew_mesh *mesh = sinew_body_mesh(world, bodies[0]);
    const sinew_real *points = sinew_mesh_positions(mesh);
    double reach = sinew_node_number(within), nearest = INFINITY;
    /* Distances of points that touch are round-off. */
    double slack = sizeof(sinew_real) == sizeof(float) ? 1e-5 : 1e-9;
    sinew_selected from = {0};
    target t = {0};
    bool good = sinew_reader_select(reader, sinew_node_get(node, "select"), node, points, sinew_mesh_vertex_count(mesh),
                                    "vertices", &from) &&
                view_target(reader, sinew_body_mesh(world, bodies[1]), to && sinew_node_text(to)[0] == 'v', &t) &&
                make_pairs(reader, pairs, from.count);
    for (int32_t i = 0; good && i < from.count; i++) {
        place found = nearest_place(&t, points + 3 * (size_t)from.indices[i]);
        nearest = fmin(nearest, sqrt(found.distance));
        if (sqrt(found.distance) <= reach + slack)
            add_pair(pairs, sinew_body_first_particle(world, bodies[0]) + from.indices[i],
                     sinew_body_first_particle(world, bodies[1]), &found);
    }
    if (good && pairs->count == 0)
        good = sinew_tree_fail(&reader->tree, within, "joins nothing: the nearest pair is %g m apart", nearest);
    sinew_mesh_destroy(t.surface);
    sinew_release(&reader->allocator, from.indices);
    return good;
}

/* ---- Coupling ------------------------------------------------------------------------------- */

static bool find_body(sinew_reader *reader, const sinew_node *name, sinew_body *body)
{
    const json_t *found = json_object_get(reader->bodies, sinew_node_text(name));
    if (found) {
        *body = (sinew_body){.index = (int32_t)json_integer_value(found)};
        return true;
    }
    const char *names[64], *candidate;
    json_t *unused;
    int32_t count = 0;
    json_object_foreach(reader->bodies, candidate, unused)
    {
        if (count < 64)
            names[count++] = candidate;
    }
    const char *nearest = sinew_nearest_name(sinew_node_text(name), names, count);
    return sinew_tree_fail(&reader->tree, name, "no body has the name \"%.60s\"%s%s%s", sinew_node_text(name),
                           nearest ? "; did you mean \"" : "; give one of them that name", nearest ? nearest : "",
                           nearest ? "\"?" : "");
}

static bool add_coupling(sinew_reader *reader, const sinew_node *node, const sinew_energy_info *info,
                         sinew_energy_kind kind, const pair_list *pairs)
{
    const sinew_node *direction = sinew_node_get(node, "normal");
    sinew_real axis[3], *normals = NULL;
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.transient = false; /* what a scene couples stays coupled */
    if (direction) {
        if (!sinew_reader_axis(reader, direction, axis))
            return false;
        normals = sinew_reader_allocate(reader, 3 * (size_t)pairs->count, sizeof *normals, "normals");
        if (!normals)
            return false;
        for (size_t i = 0; i < 3 * (size_t)pairs->count; i++)
            normals[i] = axis[i % 3];
    }
    def.body.index = -1;
    def.element_count = pairs->count;
    def.elements = pairs->elements;
    def.weights = pairs->weights;
    def.normals = normals;
    sinew_reader_parameters(node, info->parameters, info->parameter_count, def.parameters);
    bool good = sinew_world_add_energy(reader->scene->world, &def, reader->error).index >= 0;
    sinew_release(&reader->allocator, normals);
    return good || sinew_tree_blame(&reader->tree, node);
}

bool sinew_reader_coupling(sinew_reader *reader, const sinew_node *node)
{
    const sinew_node *word = sinew_node_get(node, "energy"), *names = sinew_node_get(node, "bodies");
    const sinew_node *listed = sinew_node_get(node, "pairs");
    sinew_energy_kind kind = sinew_energy_by_name(sinew_node_text(word));
    const sinew_energy_info *info = sinew_get_energy_info(kind);
    sinew_body bodies[2];
    if (!sinew_get_stencil(info->stencil)->couples)
        return sinew_tree_fail(&reader->tree, word, "%s acts within one body: put it in \"energies\" of the body",
                               info->name);
    if (!find_body(reader, names->child, &bodies[0]) || !find_body(reader, names->child->next, &bodies[1]))
        return false;
    pair_list pairs = {0};
    bool good = (listed ? list_pairs(reader, listed, bodies, &pairs) : find_pairs(reader, node, bodies, &pairs)) &&
                add_coupling(reader, node, info, kind, &pairs);
    sinew_release(&reader->allocator, pairs.elements);
    sinew_release(&reader->allocator, pairs.weights);
    return good;
}
