/* SPDX-License-Identifier: MIT
 *
 * coupling.c: reads energies between two bodies. Vertices of the first, or of its embedded surface, are joined to
 * listed vertices of the second, or each to the nearest point of the second within a distance
 * (sinew_world_attach_within). Joints connect the tets of both bodies that are nearest to a point. Positions and
 * distances are those of the rest shapes.
 */
#include <math.h>

#include "io/scene/reader.h"
#include "mesh/embedded_surface.h"
#include "mesh/topology/stencil.h"

/* ---- Couplings of listed vertex pairs ------------------------------------------------------------ */

/* Sets elements[4] (particles) and weights[4] of one side of a listed pair of vertices: a vertex of the body has weight
 * 1 in the first entry; a vertex of the embedded surface has its embedding. */
static void put_pair_side(const sinew_world *world, sinew_body body, int32_t vertex, bool surface, int32_t *elements,
                          sinew_real *weights)
{
    const int32_t first = sinew_body_first_particle(world, body);
    for (size_t i = 0; i < 4; i++) {
        const size_t at = 4 * (size_t)vertex + i;
        elements[i] = first + (surface ? sinew_body_skin_vertices(world, body)[at] : vertex);
        weights[i] = surface ? sinew_body_skin_weights(world, body)[at] : (sinew_real)(i == 0);
    }
    if (surface)
        sinew_weights_clamp(weights);
}

static bool read_pair(sinew_reader *reader, const sinew_node *entry, const sinew_body bodies[2], bool surface,
                      int32_t *elements, sinew_real *weights)
{
    const sinew_world *world = reader->scene->world;
    const sinew_node *number = entry->child;
    for (int side = 0; side < 2; side++, number = number->next) {
        const int32_t vertex = sinew_node_integer(number);
        const sinew_skin *skin = surface ? sinew_body_skin(world, bodies[side]) : NULL;
        const int32_t count =
            skin ? sinew_skin_vertex_count(skin) : sinew_mesh_vertex_count(sinew_body_mesh(world, bodies[side]));
        if (vertex >= count)
            return sinew_tree_fail(&reader->tree, entry, "%d is no vertex of a %s with %d vertices", vertex,
                                   skin ? "surface" : "body", count);
        put_pair_side(world, bodies[side], vertex, skin != NULL, elements + 4 * (size_t)side,
                      weights + 4 * (size_t)side);
    }
    return true;
}

/* Repeats the direction as the normal of `count` vertex pairs; the caller releases *normals, which stays NULL for a
 * zero direction. */
static bool repeat_normal(sinew_reader *reader, const sinew_real axis[3], size_t count, sinew_real **normals)
{
    if (axis[0] == 0 && axis[1] == 0 && axis[2] == 0)
        return true;
    *normals = sinew_reader_allocate(reader, 3 * count, sizeof **normals, "normals");
    for (size_t i = 0; *normals && i < 3 * count; i++)
        (*normals)[i] = axis[i % 3];
    return *normals != NULL;
}

static bool couple_listed_pairs(sinew_reader *reader, const sinew_node *node, const sinew_body bodies[2],
                                const sinew_real axis[3], sinew_energy_def *def)
{
    const sinew_node *list = sinew_node_get(node, "pairs");
    const size_t count = (size_t)sinew_node_count(list);
    int32_t *elements = sinew_reader_allocate(reader, 8 * count, sizeof *elements, "couplings");
    sinew_real *weights = elements ? sinew_reader_allocate(reader, 8 * count, sizeof *weights, "couplings") : NULL;
    sinew_real *normals = NULL;
    const sinew_node *surface = sinew_node_get(node, "surface");
    const bool of_surfaces = surface && json_is_true(surface->value);
    bool good = weights && repeat_normal(reader, axis, count, &normals);
    if (good && of_surfaces && !sinew_body_skin(reader->scene->world, bodies[0]) &&
        !sinew_body_skin(reader->scene->world, bodies[1]))
        good = sinew_reader_skin(reader, surface, bodies[0]) != NULL;
    size_t at = 0;
    for (const sinew_node *entry = list->child; good && entry; entry = entry->next, at += 8)
        good = read_pair(reader, entry, bodies, of_surfaces, elements + at, weights + at);
    if (good) {
        def->body.index = -1;
        def->element_count = (int32_t)count;
        def->elements = elements;
        def->weights = weights;
        def->normals = normals;
        good = sinew_world_add_energy(reader->scene->world, def, reader->error).index >= 0 ||
               sinew_tree_blame(&reader->tree, node);
    }
    sinew_release(&reader->allocator, elements);
    sinew_release(&reader->allocator, weights);
    sinew_release(&reader->allocator, normals);
    return good;
}

/* ---- Couplings within a distance ----------------------------------------------------------------- */

static bool couple_within_distance(sinew_reader *reader, const sinew_node *node, const sinew_body bodies[2],
                                   const sinew_real axis[3], const sinew_energy_def *energy)
{
    sinew_world *world = reader->scene->world;
    const sinew_node *within = sinew_node_get(node, "within"), *to = sinew_node_get(node, "to");
    const sinew_node *select = sinew_node_get(node, "select"), *surface = sinew_reader_surface_selection(select);
    const sinew_skin *skin = surface ? sinew_reader_skin(reader, surface, bodies[0]) : NULL;
    if (surface && !skin)
        return false;
    const sinew_selectable points = skin ? sinew_skin_points(skin, bodies[0]) : sinew_body_points(world, bodies[0]);
    sinew_selected from = {0};
    if (!sinew_reader_select(reader, surface ? surface : select, node, &points, &from))
        return false;
    sinew_attach_def def = sinew_default_attach_def();
    def.from_skin = skin != NULL;
    def.from = bodies[0];
    def.to = bodies[1];
    def.vertices = from.indices;
    def.vertex_count = from.count;
    def.distance = sinew_node_number(within);
    def.to_vertices = to && sinew_node_text(to)[0] == 'v';
    for (int c = 0; c < 3; c++)
        def.normal[c] = axis[c];
    def.energy = *energy;
    const bool good = sinew_world_attach_within(world, &def, reader->error).index >= 0;
    sinew_release(&reader->allocator, from.indices);
    return good || sinew_tree_blame(&reader->tree, reader->error->status == SINEW_ERROR_DATA ? within : node);
}

/* ---- Joints between two bodies ------------------------------------------------------------------- */

/* frame[4] receives the particles that a joint at `at` (m, rest shape) follows: the corners of the body's tet with the
 * nearest centre. Fails if the body has no tets. */
static bool find_joint_tet(sinew_reader *reader, const sinew_node *node, sinew_body body, const sinew_real at[3],
                           int32_t frame[4])
{
    const sinew_world *world = reader->scene->world;
    const sinew_mesh *mesh = sinew_body_mesh(world, body);
    const int32_t *tets = sinew_mesh_tets(mesh), first = sinew_body_first_particle(world, body);
    const sinew_real *x = sinew_mesh_positions(mesh);
    double nearest = INFINITY;
    for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        double distance = 0;
        for (int i = 0; i < 3; i++) {
            double off = -4 * (double)at[i];
            for (int a = 0; a < 4; a++)
                off += (double)x[3 * (size_t)tets[4 * (size_t)t + (size_t)a] + (size_t)i];
            distance += off * off;
        }
        for (int a = 0; distance < nearest && a < 4; a++)
            frame[a] = first + tets[4 * (size_t)t + (size_t)a];
        nearest = fmin(nearest, distance);
    }
    return nearest < INFINITY ||
           sinew_tree_fail(&reader->tree, node, "\"%.60s\" has no tets, and a joint moves with one; make it rigid",
                           sinew_body_name(world, body));
}

static bool add_joint(sinew_reader *reader, const sinew_node *node, const sinew_body bodies[2], sinew_energy_def *def)
{
    const sinew_node *at = sinew_node_get(node, "at"), *axis = sinew_node_get(node, "axis");
    int32_t elements[8];
    sinew_real point[3], direction[3] = {0, 0, 1};
    sinew_node_vector(at, point);
    if ((axis && !sinew_reader_axis(reader, axis, direction)) ||
        !find_joint_tet(reader, node, bodies[0], point, elements) ||
        !find_joint_tet(reader, node, bodies[1], point, elements + 4))
        return false;
    static const char *const names[6] = {"point_x", "point_y", "point_z", "axis_x", "axis_y", "axis_z"};
    for (int i = 0; i < 6; i++)
        def->parameters[sinew_energy_parameter(def->kind, names[i])] = i < 3 ? point[i] : direction[i - 3];
    def->body.index = -1;
    def->element_count = 1;
    def->elements = elements;
    return sinew_world_add_energy(reader->scene->world, def, reader->error).index >= 0 ||
           sinew_tree_blame(&reader->tree, node);
}

/* ---- Creation of a coupling from its object ------------------------------------------------------ */

static bool find_body(sinew_reader *reader, const sinew_node *name, sinew_body *body)
{
    const sinew_world *world = reader->scene->world;
    *body = sinew_world_body_by_name(world, sinew_node_text(name));
    if (body->index >= 0)
        return true;
    const char *names[64];
    int32_t count = 0;
    for (int32_t i = 0; i < sinew_world_body_count(world) && count < 64; i++) {
        names[count] = sinew_body_name(world, sinew_world_body_at(world, i));
        count += names[count][0] != '\0';
    }
    const char *nearest = sinew_nearest_name(sinew_node_text(name), names, count);
    return sinew_tree_fail(&reader->tree, name, "no body has the name \"%.60s\"%s%s%s", sinew_node_text(name),
                           nearest ? "; did you mean \"" : "; give one of them that name", nearest ? nearest : "",
                           nearest ? "\"?" : "");
}

bool sinew_reader_coupling(sinew_reader *reader, const sinew_node *node)
{
    const sinew_node *word = sinew_node_get(node, "energy"), *names = sinew_node_get(node, "bodies");
    const sinew_node *direction = sinew_node_get(node, "normal");
    sinew_energy_def def = sinew_default_energy_def(sinew_energy_by_name(sinew_node_text(word)));
    def.transient = false; /* couplings of a scene file are permanent elements, not transient ones */
    const sinew_energy_info *info = sinew_get_energy_info(def.kind);
    sinew_real axis[3] = {0, 0, 0};
    sinew_body bodies[2];
    if (!sinew_get_stencil(info->stencil)->couples)
        return sinew_tree_fail(&reader->tree, word, "%s acts within one body: put it in \"energies\" of the body",
                               info->name);
    if (!find_body(reader, names->child, &bodies[0]) || !find_body(reader, names->child->next, &bodies[1]) ||
        (direction && !sinew_reader_axis(reader, direction, axis)))
        return false;
    sinew_reader_parameters(node, info->parameters, info->parameter_count, def.parameters);
    sinew_reader_damping_and_hardness(node, &def);
    const bool weighs = (sinew_get_stencil(info->stencil)->takes & SINEW_TAKES_WEIGHTS) != 0;
    const sinew_node *at = sinew_node_get(node, "at");
    if (weighs == (at != NULL))
        return sinew_tree_fail(&reader->tree, at ? at : node,
                               weighs ? "%s has no place of its own: \"within\" or \"pairs\" say what it joins"
                                      : "%s needs the key \"at\": where the joint is",
                               info->name);
    return at                              ? add_joint(reader, node, bodies, &def)
           : sinew_node_get(node, "pairs") ? couple_listed_pairs(reader, node, bodies, axis, &def)
                                           : couple_within_distance(reader, node, bodies, axis, &def);
}
