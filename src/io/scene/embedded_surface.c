/* SPDX-License-Identifier: MIT
 *
 * embedded_surface.c: reads the embedded surface of a body ("show"), and the axes and unit of files.
 */
#include <math.h>

#include "io/scene/reader.h"
#include "io/scene/units.h"
#include "mesh/mesh.h"
#include "mesh/embedded_surface.h"

bool sinew_reader_axes(const sinew_reader *reader, const sinew_node *node, const char **up, double *scale)
{
    const sinew_node *axis = sinew_node_get(node, "up"), *unit = sinew_node_get(node, "unit");
    (void)reader;
    *up = axis ? sinew_node_text(axis) : "y";
    *scale = unit ? sinew_unit_by_name(sinew_node_text(unit))->factor : 1;
    return axis || unit;
}

/* Reads a skin from a file, applies the axes, the unit and the transform, and, if `warn`, adds its warnings to the
 * scene's. NULL on failure. */
static sinew_skin *read_skin(sinew_reader *reader, const sinew_node *file, const sinew_node *axes,
                             const sinew_node *transform, bool warn)
{
    char path[1024];
    if (!sinew_reader_path(reader, file, path, sizeof path))
        return NULL;
    sinew_skin_def def = sinew_default_skin_def();
    def.allocator = reader->allocator;
    def.path = path;
    sinew_reader_axes(reader, axes, &def.up, &def.scale);
    sinew_skin *skin = sinew_skin_read(&def, reader->error);
    if (!skin) {
        sinew_tree_blame(&reader->tree, file);
        return NULL;
    }
    const bool warned =
        !warn || !*sinew_skin_warnings(skin) || sinew_reader_warn(reader, "%s: %s", path, sinew_skin_warnings(skin));
    if (warned && sinew_reader_transform(reader, transform, skin->mesh->positions, skin->mesh->vertex_count))
        return skin;
    sinew_skin_destroy(skin);
    return NULL;
}

sinew_skin *sinew_reader_own_skin(sinew_reader *reader, const sinew_node *location, const sinew_node *body)
{
    const sinew_node *mesh = sinew_node_get(body, "mesh"), *file = sinew_node_get(mesh, "file");
    if (!file || sinew_node_get(mesh, "fill")) {
        sinew_tree_fail(&reader->tree, location, "the body has no embedded surface: name one with \"show\"%s",
                        file ? "" : ", or read the mesh from a file");
        return NULL;
    }
    return read_skin(reader, file, mesh, sinew_node_get(body, "transform"), false);
}

/* The diagonal of the bounding box of a body's mesh, in m. A surface that is farther from the body is refused: its unit
 * or its axes are probably wrong. */
static double mesh_diagonal(const sinew_mesh *mesh)
{
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < (size_t)mesh->vertex_count; i++) {
            low = fmin(low, (double)mesh->positions[3 * i + c]);
            high = fmax(high, (double)mesh->positions[3 * i + c]);
        }
        sum += (high - low) * (high - low);
    }
    return sqrt(sum);
}

bool sinew_reader_show(sinew_reader *reader, const sinew_node *body_node, sinew_body body)
{
    const sinew_node *show = sinew_node_get(body_node, "show"), *mesh = sinew_node_get(body_node, "mesh");
    /* Without the key "show", only a body that is filled from a surface file has an embedded surface: this file. */
    const bool filled = sinew_node_get(mesh, "fill") && sinew_node_get(mesh, "file");
    if (show ? json_is_false(show->value) : !filled)
        return true;
    const bool own = !show || json_is_true(show->value);
    const sinew_node *axes = own ? mesh : show;
    const sinew_node *file = !own && json_is_string(show->value) ? show : sinew_node_get(axes, "file");
    if (!file)
        return sinew_tree_fail(&reader->tree, show, "the mesh has no file to show: name one");
    sinew_skin *skin = read_skin(reader, file, axes, sinew_node_get(body_node, "transform"), true);
    if (!skin)
        return false;
    sinew_embedding_def def = sinew_default_embedding_def();
    def.skin = skin;
    def.farthest = (sinew_real)mesh_diagonal(sinew_body_mesh(reader->scene->world, body));
    const bool good = sinew_body_set_skin(reader->scene->world, body, &def, reader->error) == SINEW_OK;
    sinew_skin_destroy(skin);
    return good || sinew_tree_blame(&reader->tree, file);
}
