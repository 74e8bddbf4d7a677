/* SPDX-License-Identifier: MIT
 *
 * energy.c: reads an energy of one body. The descriptor of the energy gives its stencil and its parameters.
 */
#include "io/scene/reader.h"
#include "sinew/material.h"

void sinew_reader_parameters(const sinew_node *node, const sinew_parameter *parameters, int32_t count,
                             sinew_real *values)
{
    for (int32_t i = 0; i < count; i++) {
        const sinew_node *member = sinew_node_get(node, parameters[i].name);
        if (!member || json_is_object(member->value))
            continue;
        if (parameters[i].choices)
            values[i] = (sinew_real)sinew_keyword_index(sinew_node_text(member), parameters[i].choices);
        else
            values[i] = (sinew_real)sinew_node_number(member);
    }
}

void sinew_reader_damping_and_hardness(const sinew_node *node, sinew_energy_def *def)
{
    const sinew_node *hard = sinew_node_get(node, "hard"), *stiffness = sinew_node_get(node, "pbd_stiffness");
    const sinew_node *damping = sinew_node_get(node, "damping");
    def->hard = hard && json_is_true(hard->value);
    if (damping)
        def->damping = (sinew_real)sinew_node_number(damping);
    if (stiffness)
        def->pbd_stiffness = (sinew_real)sinew_node_number(stiffness);
}

/* The cells of a body's mesh that an energy may act on. */
typedef struct cell_view {
    const sinew_stencil_info *stencil;
    int32_t count, width;
    int32_t *cells; /* [count * width] vertex indices of the cells, owned */
} cell_view;

/* Finds all cells of a stencil in the mesh; the caller releases view->cells. Fails with the location `node` if the mesh
 * has none. */
static bool find_cells_of_stencil(sinew_reader *reader, const sinew_node *node, const char *name, sinew_stencil stencil,
                                  int32_t width, const sinew_mesh *mesh, cell_view *view)
{
    *view = (cell_view){.stencil = sinew_get_stencil(stencil), .width = width};
    if (view->stencil->find(&reader->allocator, mesh, width, &view->cells, &view->count, reader->error) != SINEW_OK)
        return sinew_tree_blame(&reader->tree, node);
    return view->count > 0 ||
           sinew_tree_fail(&reader->tree, node, "%s acts on %s and the mesh has none", name, view->stencil->plural);
}

/* Computes the centres of all elements of an energy, which the caller releases; returns false if memory runs out. */
static bool find_centres(sinew_reader *reader, const sinew_mesh *mesh, sinew_body body, const cell_view *view,
                         sinew_selectable *points, sinew_real **centres)
{
    const sinew_real *positions = sinew_mesh_positions(mesh);
    *centres = sinew_reader_allocate(reader, 3 * (size_t)view->count, sizeof **centres, "element centres");
    for (int32_t i = 0; *centres && i < view->count; i++) {
        const int32_t *cell = view->cells + (size_t)i * (size_t)view->width;
        const int32_t size = sinew_stencil_size(view->stencil, cell, view->width);
        for (int k = 0; k < 3; k++) {
            sinew_real sum = 0;
            for (int32_t corner = 0; corner < size; corner++)
                sum += positions[3 * (size_t)cell[corner] + (size_t)k];
            (*centres)[3 * (size_t)i + (size_t)k] = sum / (sinew_real)size;
        }
    }
    /* An energy over vertices acts on the vertices that the selected surface vertices are embedded in, as pins do. */
    *points = (sinew_selectable){.points = *centres,
                                 .count = view->count,
                                 .noun = view->stencil->plural,
                                 .kind = view->width == 1 ? SINEW_POINTS_VERTICES : SINEW_POINTS_ELEMENTS,
                                 .body = body,
                                 .cells = view->cells,
                                 .width = view->width,
                                 .stencil = view->stencil};
    return *centres != NULL;
}

/* Reads an energy's parameters per element from a file, paint or an image; keeps the values of the selected elements in
 * order. */
static bool read_element_values(sinew_reader *reader, const sinew_node *node, const sinew_energy_info *info,
                                const sinew_selectable *centres, const sinew_selected *selected, sinew_energy_def *def,
                                sinew_real **values)
{
    for (int32_t i = 0; i < info->parameter_count; i++) {
        const sinew_node *member = sinew_node_get(node, info->parameters[i].name);
        if (!member || !json_is_object(member->value))
            continue;
        const sinew_node *file = sinew_node_get(member, "file");
        values[i] = file ? sinew_reader_values(reader, file, centres->count, 1)
                         : sinew_reader_allocate(reader, (size_t)centres->count, sizeof *values[i], "parameters");
        /* The parent of an energy's node is the list of energies, and the parent of the list is the body. */
        if (!values[i] || (!file && !sinew_reader_map_values(reader, member, node->parent->parent, centres, values[i])))
            return false;
        /* Indices of selected elements ascend, so no value is overwritten before it is read. */
        for (int32_t j = 0; selected->indices && j < selected->count; j++)
            values[i][j] = values[i][selected->indices[j]];
        def->element_parameters[i] = values[i];
    }
    return true;
}

/* Selects the elements of the key "select" (without it all, and selected->indices is NULL) and reads their
 * parameters. */
static bool choose_elements(sinew_reader *reader, const sinew_node *node, const sinew_energy_info *info,
                            const sinew_mesh *mesh, const cell_view *view, sinew_selected *selected,
                            sinew_energy_def *def, sinew_real **values)
{
    const sinew_node *select = sinew_node_get(node, "select");
    sinew_selectable points;
    sinew_real *centres;
    *selected = (sinew_selected){.count = view->count};
    const bool good = find_centres(reader, mesh, def->body, view, &points, &centres) &&
                      (!select || sinew_reader_select(reader, select, select, &points, selected)) &&
                      read_element_values(reader, node, info, &points, selected, def, values);
    sinew_release(&reader->allocator, centres);
    return good;
}

/* Copies the vertices of the selected elements to *elements, which the caller releases; NULL: all elements. */
static bool copy_selected_elements(sinew_reader *reader, const cell_view *view, const sinew_selected *selected,
                                   int32_t **elements)
{
    *elements = NULL;
    if (!selected->indices)
        return true;
    size_t width = (size_t)view->width;
    *elements = sinew_reader_allocate(reader, (size_t)selected->count * width, sizeof **elements, "elements");
    for (size_t i = 0; *elements && i < (size_t)selected->count; i++)
        for (size_t corner = 0; corner < width; corner++) {
            size_t index = (size_t)selected->indices[i];
            (*elements)[i * width + corner] = view->cells[index * width + corner];
        }
    return *elements != NULL;
}

bool sinew_reader_elements(sinew_reader *reader, const sinew_node *node, const char *name, sinew_stencil stencil,
                           int32_t width, sinew_body body, int32_t **elements, int32_t *count)
{
    const sinew_mesh *mesh = sinew_body_mesh(reader->scene->world, body);
    const sinew_node *select = sinew_node_get(node, "select");
    sinew_selectable points;
    sinew_selected selected = {0};
    sinew_real *centres = NULL;
    cell_view view = {0};
    *elements = NULL;
    const bool good = find_cells_of_stencil(reader, node, name, stencil, width, mesh, &view) &&
                      (!select || (find_centres(reader, mesh, body, &view, &points, &centres) &&
                                   sinew_reader_select(reader, select, select, &points, &selected))) &&
                      copy_selected_elements(reader, &view, &selected, elements);
    *count = selected.count;
    sinew_release(&reader->allocator, centres);
    sinew_release(&reader->allocator, selected.indices);
    sinew_release(&reader->allocator, view.cells);
    return good;
}

/* Reads the shapes of the key "examples"; the caller destroys their meshes. The world rejects shapes with another
 * number of vertices. */
static bool read_examples(sinew_reader *reader, const sinew_node *node, sinew_mesh **shapes, sinew_energy_def *def)
{
    const sinew_node *list = sinew_node_get(node, "examples");
    if (list && sinew_node_count(list) > SINEW_EXAMPLE_MAX)
        return sinew_tree_fail(&reader->tree, list, "has %d entries, at most %d can be taken", sinew_node_count(list),
                               SINEW_EXAMPLE_MAX);
    for (const sinew_node *file = list ? list->child : NULL; file; file = file->next) {
        const int32_t k = def->example_count++;
        char path[1024];
        if (!sinew_reader_path(reader, file, path, sizeof path))
            return false;
        shapes[k] = sinew_mesh_read(path, &reader->allocator, reader->error);
        if (!shapes[k])
            return sinew_tree_blame(&reader->tree, file);
        const int32_t count = sinew_mesh_vertex_count(shapes[k]);
        if (k > 0 && count != def->example_vertex_count)
            return sinew_tree_fail(&reader->tree, file, "has %d vertices and the first example %d", count,
                                   def->example_vertex_count);
        def->example_vertex_count = count;
        def->examples[k] = sinew_mesh_positions(shapes[k]);
    }
    return true;
}

static bool scene_energy_add_energy(sinew_reader *reader, const sinew_node *node, const sinew_energy_info *info,
                                    sinew_energy_def *def)
{
    const sinew_mesh *mesh = sinew_body_mesh(reader->scene->world, def->body);
    const sinew_node *moves = sinew_node_get(node, "motion");
    sinew_real *values[SINEW_PARAMETER_MAX] = {0};
    sinew_selected selected = {0};
    const sinew_node *follows = sinew_node_get(node, "follow");
    sinew_motion motion = {0};
    sinew_follow follow = sinew_default_follow();
    sinew_mesh *shapes[SINEW_EXAMPLE_MAX] = {0};
    int32_t *elements = NULL;
    cell_view view = {0};
    bool good = find_cells_of_stencil(reader, node, info->name, info->stencil, info->vertex_count, mesh, &view);
    good = good && choose_elements(reader, node, info, mesh, &view, &selected, def, values) &&
           copy_selected_elements(reader, &view, &selected, &elements) && read_examples(reader, node, shapes, def) &&
           sinew_reader_follow(reader, follows, elements ? elements : view.cells, selected.count, &follow) &&
           (!moves || sinew_reader_motion(reader, moves, &motion));
    if (good) {
        def->follow = follows ? &follow : NULL;
        def->elements = elements;
        def->element_count = selected.count;
        def->motion = moves ? &motion : NULL;
        if (sinew_world_add_energy(reader->scene->world, def, reader->error).index < 0)
            good = sinew_tree_blame(&reader->tree, node);
    }
    for (int i = 0; i < SINEW_PARAMETER_MAX; i++)
        sinew_release(&reader->allocator, values[i]);
    for (int k = 0; k < SINEW_EXAMPLE_MAX; k++)
        sinew_mesh_destroy(shapes[k]);
    sinew_reader_release_follow(reader, &follow);
    sinew_release(&reader->allocator, (void *)motion.keys);
    sinew_release(&reader->allocator, selected.indices);
    sinew_release(&reader->allocator, elements);
    sinew_release(&reader->allocator, view.cells);
    return good;
}

/* Warns of an energy on tets that takes nothing from the body's material and whose stiffness no key gives. */
static bool warn_unused_material(sinew_reader *reader, const sinew_node *node, const sinew_node *material,
                                 const sinew_energy_info *info)
{
    const int32_t stiffness = sinew_energy_parameter(sinew_energy_by_name(info->name), "stiffness");
    if (info->stencil != SINEW_STENCIL_TET || stiffness < 0 || sinew_node_get(node, "stiffness"))
        return true;
    char path[256];
    sinew_node_path(node, path, sizeof path);
    return sinew_reader_warn(reader, "%s: %s has no young and takes nothing of %s: its stiffness is the default, %g Pa",
                             path, info->name, sinew_node_text(material), info->parameters[stiffness].preset);
}

bool sinew_reader_energy(sinew_reader *reader, const sinew_node *node, sinew_body body)
{
    const sinew_node *word = sinew_node_get(node, "energy");
    sinew_energy_kind kind = sinew_energy_by_name(sinew_node_text(word));
    const sinew_energy_info *info = sinew_get_energy_info(kind);
    if (sinew_get_stencil(info->stencil)->couples)
        return sinew_tree_fail(&reader->tree, word, "%s joins two bodies: put it in \"couplings\" of the scene",
                               info->name);
    sinew_energy_def def = sinew_default_energy_def(kind);
    def.transient = false; /* elements of a scene file's energies are permanent, not transient */
    def.body = body;
    /* The parent node of the energy list is the body. An energy without parameters of the material ignores it. */
    const sinew_node *material = sinew_node_get(node->parent->parent, "material");
    if (material && sinew_energy_def_set_material(&def, sinew_node_text(material), NULL) != SINEW_OK &&
        !warn_unused_material(reader, node, material, info))
        return false;
    sinew_reader_parameters(node, info->parameters, info->parameter_count, def.parameters);
    sinew_reader_damping_and_hardness(node, &def);
    return scene_energy_add_energy(reader, node, info, &def);
}
