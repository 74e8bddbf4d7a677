/* SPDX-License-Identifier: MIT
 *
 * mesh.c: reads rest shapes from a generator or a file, transforms them and, on request, fills them with tets and adds
 * directors.
 */
#include <stdio.h>
#include <string.h>

#include "io/scene/reader.h"
#include "mesh/mesh.h"

/* Limit of the estimated number of vertices of a generated mesh; larger meshes must come from files. */
static const double largest_mesh = 1e7;

typedef struct generator generator;
struct generator {
    const char *name;
    const sinew_field *fields;
    int32_t field_count;
    sinew_mesh *(*make)(const generator *self, sinew_reader *reader, const sinew_node *node);
    /* function that generates a round shape (ball, cylinder, ...); NULL: the generator makes another kind of mesh */
    sinew_mesh *(*round)(const sinew_round_def *def, sinew_error *error);
    /* function that generates a coiled rope; NULL: the generator makes another kind of mesh */
    sinew_mesh *(*coil)(const sinew_coil_def *def, sinew_error *error);
};

static void take_integers(const sinew_node *node, const char *key, int32_t *values)
{
    const sinew_node *list = sinew_node_get(node, key);
    for (const sinew_node *entry = list ? list->child : NULL; entry; entry = entry->next)
        *values++ = sinew_node_integer(entry);
}

/* Fails if a generator would make more than largest_mesh vertices; `vertices` is the estimate. */
static bool check_vertex_limit(sinew_reader *reader, const sinew_node *node, double vertices)
{
    return vertices <= largest_mesh ||
           sinew_tree_fail(&reader->tree, node, "makes about %.3g vertices; a generator makes at most %.3g", vertices,
                           largest_mesh);
}

static sinew_mesh *scene_mesh_make_box(const generator *self, sinew_reader *reader, const sinew_node *node)
{
    (void)self;
    sinew_box_def def = sinew_default_box_def();
    def.allocator = reader->allocator;
    take_integers(node, "vertices", def.vertices);
    sinew_take_vector(node, "origin", def.origin);
    sinew_take_vector(node, "size", def.size);
    double count = (double)def.vertices[0] * def.vertices[1] * def.vertices[2];
    return check_vertex_limit(reader, node, count) ? sinew_mesh_box(&def, reader->error) : NULL;
}

static sinew_mesh *make_beam(const generator *self, sinew_reader *reader, const sinew_node *node)
{
    (void)self;
    sinew_beam_def def = sinew_default_beam_def();
    def.allocator = reader->allocator;
    take_integers(node, "cells", def.cells);
    sinew_take_vector(node, "size", def.size);
    double count = (def.cells[0] + 1.0) * (def.cells[1] + 1.0) * (def.cells[2] + 1.0);
    return check_vertex_limit(reader, node, count) ? sinew_mesh_beam(&def, reader->error) : NULL;
}

static sinew_mesh *scene_mesh_make_round(const generator *self, sinew_reader *reader, const sinew_node *node)
{
    sinew_round_def def = sinew_default_round_def();
    def.allocator = reader->allocator;
    sinew_take_number(node, "radius", &def.radius);
    sinew_take_number(node, "inner_radius", &def.inner_radius);
    sinew_take_number(node, "height", &def.height);
    sinew_take_integer(node, "segments", &def.segments);
    sinew_take_integer(node, "layers", &def.layers);
    sinew_take_integer(node, "rings", &def.rings);
    /* Estimate of the vertices of a round shape: the product of its vertices around or across (n), `across` and
     * `along`. */
    double n = def.segments + 1.0, layers = def.layers + 1.0, rings = def.rings + 1.0;
    double across = self->round == sinew_mesh_tube    ? rings
                    : self->round == sinew_mesh_torus ? layers
                    : self->round == sinew_mesh_can   ? 1
                                                      : n;
    double along = self->round == sinew_mesh_ball ? n : layers;
    return check_vertex_limit(reader, node, n * across * along) ? self->round(&def, reader->error) : NULL;
}

static sinew_mesh *scene_mesh_make_cloth(const generator *self, sinew_reader *reader, const sinew_node *node)
{
    (void)self;
    sinew_cloth_def def = sinew_default_cloth_def();
    def.allocator = reader->allocator;
    take_integers(node, "vertices", def.vertices);
    sinew_take_vector(node, "origin", def.origin);
    sinew_take_number(node, "width", &def.size[0]);
    sinew_take_number(node, "length", &def.size[1]);
    const char *diagonals = sinew_node_text(sinew_node_get(node, "diagonals"));
    if (diagonals)
        def.diagonals = (sinew_diagonals)sinew_keyword_index(diagonals, "forward|backward|alternating|cross");
    double count = (double)def.vertices[0] * def.vertices[1];
    return check_vertex_limit(reader, node, count) ? sinew_mesh_cloth(&def, reader->error) : NULL;
}

static sinew_mesh *make_rope(const generator *self, sinew_reader *reader, const sinew_node *node)
{
    (void)self;
    sinew_rope_def def = sinew_default_rope_def();
    def.allocator = reader->allocator;
    sinew_take_integer(node, "vertices", &def.vertices);
    sinew_take_vector(node, "from", def.from);
    sinew_take_vector(node, "to", def.to);
    return sinew_mesh_rope(&def, reader->error);
}

static sinew_mesh *make_coiled(const generator *self, sinew_reader *reader, const sinew_node *node)
{
    sinew_coil_def def = sinew_default_coil_def();
    def.allocator = reader->allocator;
    sinew_take_number(node, "radius", &def.radius);
    sinew_take_number(node, "pitch", &def.pitch);
    sinew_take_number(node, "turns", &def.turns);
    sinew_take_integer(node, "vertices", &def.vertices);
    double count = def.vertices > 0 ? def.vertices : 24 * (double)def.turns;
    return check_vertex_limit(reader, node, count) ? self->coil(&def, reader->error) : NULL;
}

/* ---- The table of mesh generators ---------------------------------------------------------------- */

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))
#define LENGTH       .unit = "m", .minimum = 0, .maximum = 1e6, .open_minimum = true

enum {
    NUMBER = SINEW_FORM_NUMBER,
    INTEGER = SINEW_FORM_INTEGER,
    VECTOR = SINEW_FORM_VECTOR
};
enum {
    INTEGERS = SINEW_FORM_INTEGERS
};

static const sinew_field box_fields[] = {
    {"vertices", INTEGERS, .meaning = "along x, y, z; 8, 8, 8 unless given", .minimum = 2, .maximum = 10000,
     .count = 3},
    {"origin", VECTOR, .meaning = "lowest corner; the origin unless given", .unit = "m"},
    {"size", VECTOR, .meaning = "edges; 1, 1, 1 unless given", LENGTH},
};
static const sinew_field beam_fields[] = {
    {"cells", INTEGERS, .meaning = "along x, y, z; 12, 4, 4 unless given", .minimum = 1, .maximum = 10000, .count = 3},
    {"size", VECTOR, .meaning = "edges; 3, 1, 1 unless given", LENGTH},
};
static const sinew_field ball_fields[] = {
    {"radius", NUMBER, .meaning = "0.5 unless given", LENGTH},
    {"segments", INTEGER, .meaning = "cells across the diameter; 8 unless given", .minimum = 2, .maximum = 1000},
};
static const sinew_field cylinder_fields[] = {
    {"radius", NUMBER, .meaning = "0.5 unless given", LENGTH},
    {"height", NUMBER, .meaning = "along z; 1 unless given", LENGTH},
    {"segments", INTEGER, .meaning = "cells across the diameter; 8 unless given", .minimum = 2, .maximum = 1000},
    {"layers", INTEGER, .meaning = "cells along the height; 4 unless given", .minimum = 1, .maximum = 10000},
};
static const sinew_field torus_fields[] = {
    {"radius", NUMBER, .meaning = "of the centre line; 0.5 unless given", LENGTH},
    {"inner_radius", NUMBER, .meaning = "of the pipe; 0.3 of radius unless given", LENGTH},
    {"segments", INTEGER, .meaning = "cells around; 24 unless given", .minimum = 3, .maximum = 10000},
    {"layers", INTEGER, .meaning = "cells across the pipe; 4 unless given", .minimum = 1, .maximum = 1000},
};
static const sinew_field tube_fields[] = {
    {"radius", NUMBER, .meaning = "outer; 0.5 unless given", LENGTH},
    {"inner_radius", NUMBER, .meaning = "of the hole; 0.6 of radius unless given", LENGTH},
    {"height", NUMBER, .meaning = "along z; 1 unless given", LENGTH},
    {"segments", INTEGER, .meaning = "cells around; 16 unless given", .minimum = 3, .maximum = 10000},
    {"layers", INTEGER, .meaning = "cells along the height; 4 unless given", .minimum = 1, .maximum = 10000},
    {"rings", INTEGER, .meaning = "cells through the wall; 2 unless given", .minimum = 1, .maximum = 1000},
};
static const sinew_field can_fields[] = {
    {"radius", NUMBER, .meaning = "0.5 unless given", LENGTH},
    {"height", NUMBER, .meaning = "along z; 1 unless given", LENGTH},
    {"segments", INTEGER, .meaning = "cells around; 24 unless given", .minimum = 3, .maximum = 100000},
    {"layers", INTEGER, .meaning = "cells along the height; 4 unless given", .minimum = 1, .maximum = 100000},
};
static const sinew_field cloth_fields[] = {
    {"vertices", INTEGERS, .meaning = "along x, y; 16, 16 unless given", .minimum = 2, .maximum = 100000, .count = 2},
    {"origin", VECTOR, .meaning = "lowest corner; the origin unless given", .unit = "m"},
    {"width", NUMBER, .meaning = "along x; 1 unless given", LENGTH},
    {"length", NUMBER, .meaning = "along y; 1 unless given", LENGTH},
    {"diagonals", SINEW_FORM_KEYWORD, .meaning = "how cells are cut; forward unless given",
     .choices = "forward|backward|alternating|cross"},
};
static const sinew_field rope_fields[] = {
    {"vertices", INTEGER, .meaning = "16 unless given", .minimum = 2, .maximum = 1e7},
    {"from", VECTOR, .meaning = "one end; 0, 0, 0 unless given", .unit = "m"},
    {"to", VECTOR, .meaning = "other end; 1, 0, 0 unless given", .unit = "m"},
};
static const sinew_field coil_fields[] = {
    {"radius", NUMBER, .meaning = "of the helix; 0.5 unless given", LENGTH},
    {"pitch", NUMBER, .meaning = "along z, per turn; 0.2 unless given", .unit = "m", .minimum = -1e6, .maximum = 1e6},
    {"turns", NUMBER, .meaning = "5 unless given", .minimum = 0, .maximum = 1e6, .open_minimum = true},
    {"vertices", INTEGER, .meaning = "24 a turn unless given", .minimum = 2, .maximum = 1e7},
};
static const sinew_field ring_fields[] = {
    {"radius", NUMBER, .meaning = "0.5 unless given", LENGTH},
    {"vertices", INTEGER, .meaning = "24 unless given", .minimum = 3, .maximum = 1e7},
};

static const generator generators[] = {
    {"box", box_fields, COUNT(box_fields), scene_mesh_make_box, NULL, NULL},
    {"beam", beam_fields, COUNT(beam_fields), make_beam, NULL, NULL},
    {"ball", ball_fields, COUNT(ball_fields), scene_mesh_make_round, sinew_mesh_ball, NULL},
    {"cylinder", cylinder_fields, COUNT(cylinder_fields), scene_mesh_make_round, sinew_mesh_cylinder, NULL},
    {"torus", torus_fields, COUNT(torus_fields), scene_mesh_make_round, sinew_mesh_torus, NULL},
    {"tube", tube_fields, COUNT(tube_fields), scene_mesh_make_round, sinew_mesh_tube, NULL},
    {"can", can_fields, COUNT(can_fields), scene_mesh_make_round, sinew_mesh_can, NULL},
    {"cloth", cloth_fields, COUNT(cloth_fields), scene_mesh_make_cloth, NULL, NULL},
    {"rope", rope_fields, COUNT(rope_fields), make_rope, NULL, NULL},
    {"coil", coil_fields, COUNT(coil_fields), make_coiled, .coil = sinew_mesh_coil},
    {"ring", ring_fields, COUNT(ring_fields), make_coiled, .coil = sinew_mesh_ring},
};

static const generator *generator_by_name(const char *name)
{
    for (int32_t i = 0; i < COUNT(generators); i++)
        if (strcmp(generators[i].name, name) == 0)
            return &generators[i];
    return NULL;
}

const char *sinew_generator_name(int32_t index)
{
    return index < COUNT(generators) ? generators[index].name : NULL;
}

int32_t sinew_generator_fields(const char *word, sinew_field *fields)
{
    const generator *found = generator_by_name(word);
    if (!found)
        return -1;
    memcpy(fields, found->fields, (size_t)found->field_count * sizeof *fields);
    return found->field_count;
}

/* ---- Mesh files, transforms and filling ---------------------------------------------------------- */

/* Reads a mesh from a file with the axes and the unit that the keys of `node` give. */
static sinew_mesh *scene_mesh_read_mesh(sinew_reader *reader, const sinew_node *node, const sinew_node *file)
{
    char path[1024];
    const char *up;
    double scale;
    if (!sinew_reader_path(reader, file, path, sizeof path))
        return NULL;
    sinew_mesh *mesh = sinew_mesh_read(path, &reader->allocator, reader->error);
    if (mesh && sinew_reader_axes(reader, node, &up, &scale) &&
        sinew_orient_points(up, scale, mesh->vertex_count, mesh->positions, reader->error) != SINEW_OK) {
        sinew_mesh_destroy(mesh);
        mesh = NULL;
    }
    if (!mesh) {
        sinew_tree_blame(&reader->tree, file);
        return NULL;
    }
    if (*sinew_mesh_warnings(mesh) && !sinew_reader_warn(reader, "%s: %s", path, sinew_mesh_warnings(mesh))) {
        sinew_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}

/* Transforms a mesh: takes ownership of it and returns a transformed mesh, or NULL. */
static sinew_mesh *transform_mesh(sinew_reader *reader, const sinew_node *transform, sinew_mesh *mesh)
{
    int32_t count = sinew_mesh_vertex_count(mesh);
    size_t size = 3 * (size_t)count;
    sinew_real *points = sinew_reader_allocate(reader, size, sizeof *points, "a transformed mesh");
    sinew_mesh *moved = NULL;
    if (points) {
        memcpy(points, sinew_mesh_positions(mesh), size * sizeof *points);
        if (sinew_reader_transform(reader, transform, points, count)) {
            moved = sinew_mesh_moved(mesh, points, reader->error);
            if (!moved)
                sinew_tree_blame(&reader->tree, transform);
        }
    }
    sinew_release(&reader->allocator, points);
    sinew_mesh_destroy(mesh);
    return moved;
}

/* Fills a surface mesh with tets; a mesh that has tets is filled again from its boundary. */
static sinew_mesh *fill_surface(sinew_reader *reader, const sinew_node *fill, const sinew_mesh *mesh)
{
    sinew_fill_def def = sinew_default_fill_def();
    const sinew_node *conform = sinew_node_get(fill, "conform"), *split = sinew_node_get(fill, "split");
    sinew_mesh *surface = sinew_mesh_surface(mesh, reader->error), *body = NULL;
    def.allocator = reader->allocator;
    def.surface = surface;
    def.conform = conform ? json_is_true(conform->value) : def.conform;
    def.split = split ? json_is_true(split->value) : def.split;
    sinew_take_integer(fill, "cells", &def.cells);
    if (surface)
        body = sinew_mesh_fill(&def, NULL, reader->error);
    if (!body)
        sinew_tree_blame(&reader->tree, fill);
    else if (*sinew_mesh_warnings(body) && !sinew_reader_warn(reader, "fill: %s", sinew_mesh_warnings(body))) {
        sinew_mesh_destroy(body);
        body = NULL;
    }
    sinew_mesh_destroy(surface);
    return body;
}

/* Adds directors to a mesh: takes ownership of it and returns a mesh with directors, or NULL. */
static sinew_mesh *add_directors(sinew_reader *reader, const sinew_node *directors, sinew_mesh *mesh)
{
    sinew_real offset = 0, toward[3];
    const bool aimed = sinew_node_get(directors, "toward") != NULL;
    sinew_take_number(directors, "offset", &offset);
    sinew_take_vector(directors, "toward", toward);
    sinew_mesh *made = sinew_mesh_with_directors(mesh, (double)offset, aimed ? toward : NULL, reader->error);
    if (!made)
        sinew_tree_blame(&reader->tree, directors);
    sinew_mesh_destroy(mesh);
    return made;
}

sinew_mesh *sinew_reader_mesh(sinew_reader *reader, const sinew_node *body)
{
    const sinew_node *node = sinew_node_get(body, "mesh"), *file = sinew_node_get(node, "file");
    const sinew_node *transform = sinew_node_get(body, "transform");
    sinew_mesh *mesh;
    if (file) {
        mesh = scene_mesh_read_mesh(reader, node, file);
    } else {
        const generator *found = generator_by_name(sinew_node_text(sinew_node_get(node, "generator")));
        sinew_error_clear(reader->error);
        mesh = found->make(found, reader, node);
        /* The mesh generator detects errors that the tables of keys cannot, such as a hole wider than its tube. */
        if (!mesh && reader->error->status != SINEW_ERROR_FORMAT)
            sinew_tree_blame(&reader->tree, node);
    }
    if (mesh && transform)
        mesh = transform_mesh(reader, transform, mesh);
    /* The mesh is filled after the transform, so that an anisotropic scale does not distort the tets. */
    const sinew_node *fill = sinew_node_get(node, "fill"), *directors = sinew_node_get(node, "directors");
    if (mesh && fill) {
        sinew_mesh *filled = fill_surface(reader, fill, mesh);
        sinew_mesh_destroy(mesh);
        mesh = filled;
    }
    return mesh && directors && !json_is_false(directors->value) ? add_directors(reader, directors, mesh) : mesh;
}
