/* SPDX-License-Identifier: MIT
 *
 * keys.c: the tables of scene keys. Parameters of energies, loads and solvers come from their descriptors.
 */
#include <string.h>

#include "io/scene/key_tables.h"
#include "mesh/topology/stencil.h"
#include "sinew/extend.h"
#include "sinew/load.h"
#include "sinew/material.h"

enum {
    NUMBER = SINEW_FORM_NUMBER,
    INTEGER = SINEW_FORM_INTEGER,
    BOOLEAN = SINEW_FORM_BOOLEAN,
    TEXT = SINEW_FORM_TEXT,
    KEYWORD = SINEW_FORM_KEYWORD,
    VECTOR = SINEW_FORM_VECTOR,
    INTEGERS = SINEW_FORM_INTEGERS,
    TEXTS = SINEW_FORM_TEXTS,
    OBJECT = SINEW_FORM_OBJECT,
    LIST = SINEW_FORM_LIST,
    SELECTION = SINEW_FORM_SELECTION
};

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

static const double largest_index = 2147483647;

static const char up_names[] = "x|y|z|-x|-y|-z";
static const char unit_names[] = "m|cm|mm|um|km|in|ft";
static const char up_meaning[] = "the file's axis that points up and becomes y; y unless given";
static const char unit_meaning[] = "length of one unit of the file; m unless given";

/* ---- Keys of transforms, motions and values in files --------------------------------------------- */

static const sinew_field values_fields[] = {
    {"file", TEXT, .meaning = "text file with one number per element of the body, relative to the scene"},
    {"paint", TEXT,
     .meaning = "a painted value: of the embedded surface, at its point nearest to each element; else of the mesh's "
                "file, the mean of each element's vertices"},
    {"image", TEXT,
     .meaning = "a picture (.pgm, .ppm, .pfm) in place of paint, read at the texture coordinates of that surface"},
    {"channel", KEYWORD, .meaning = "of the image; red unless given", .choices = SINEW_CHANNEL_NAMES},
    {"from", NUMBER, .meaning = "the parameter, in SI, where paint or image is 0; 0 unless given"},
    {"to", NUMBER, .meaning = "the parameter, in SI, where it is 1 (white); 1 unless given"},
};
static const sinew_shape values_shape = {
    .name = "values", .fields = values_fields, .field_count = COUNT(values_fields), .exactly_one = "file|paint|image"};

static const sinew_field turn_fields[] = {
    {"axis", KEYWORD | VECTOR, .meaning = "x, y, z or a direction", .choices = "x|y|z", .required = true},
    {"angle", NUMBER, .meaning = "angle of rotation about the axis", .unit = "rad", .required = true},
};
const sinew_shape sinew_turn_shape = {.name = "turn", .fields = turn_fields, .field_count = COUNT(turn_fields)};

static const sinew_field transform_fields[] = {
    {"pivot", VECTOR, .meaning = "what scale and rotation leave in place; the origin unless given", .unit = "m"},
    {"scale", NUMBER | VECTOR, .meaning = "factor, or one per axis; first of all", .minimum = 0, .maximum = 1e9,
     .open_minimum = true},
    {"rotate", VECTOR | OBJECT, .meaning = "rotation vector, or axis and angle; after the scale", .unit = "rad",
     .shape = &sinew_turn_shape},
    {"translate", VECTOR, .meaning = "displacement; last of all", .unit = "m"},
};
const sinew_shape sinew_transform_shape = {
    .name = "transform", .fields = transform_fields, .field_count = COUNT(transform_fields)};

static const sinew_field key_fields[] = {
    {"time", NUMBER, .meaning = "when; times ascend", .unit = "s", .required = true},
    {"translate", VECTOR, .meaning = "displacement at that time", .unit = "m"},
    {"rotate", VECTOR | OBJECT, .meaning = "rotation about the pivot at that time; may exceed a full turn",
     .unit = "rad", .shape = &sinew_turn_shape},
};
static const sinew_shape key_shape = {.name = "key", .fields = key_fields, .field_count = COUNT(key_fields)};

static const sinew_field motion_fields[] = {
    {"pivot", VECTOR, .meaning = "centre of the rotations; the origin unless given", .unit = "m"},
    {"keys", LIST, .meaning = "key frames, interpolated linearly and held before the first and after the last",
     .shape = &key_shape, .required = true, .count = 1},
};
const sinew_shape sinew_motion_shape = {.name = "motion", .fields = motion_fields, .field_count = COUNT(motion_fields)};

static const sinew_field follow_cache_fields[] = {
    {"file", TEXT, .meaning = "point cache (.pc2), relative to the scene", .required = true},
    {"fps", NUMBER, .meaning = "frames a second of the cache; those of the scene unless given", .unit = "1/s",
     .minimum = 0, .maximum = 1e6, .open_minimum = true},
    {"up", KEYWORD, .meaning = up_meaning, .choices = up_names},
    {"unit", KEYWORD, .meaning = unit_meaning, .choices = unit_names},
    {"transform", OBJECT, .meaning = "moves all frames, after axes and unit", .shape = &sinew_transform_shape},
};
static const sinew_shape follow_cache_shape = {
    .name = "follow_cache", .fields = follow_cache_fields, .field_count = COUNT(follow_cache_fields)};

static const sinew_field follow_fields[] = {
    {"collider", TEXT, .meaning = "name of a collider: points keep their place on it, or are at its vertices"},
    {"cache", OBJECT, .meaning = "points are at vertices of a point cache", .shape = &follow_cache_shape},
    {"vertices", INTEGERS,
     .meaning = "a vertex of the collider's mesh or of the cache for each point, in their order; of a cache, unless "
                "given, those with the points' own numbers",
     .minimum = 0, .maximum = largest_index},
};
static const sinew_shape follow_shape = {
    .name = "follow", .fields = follow_fields, .field_count = COUNT(follow_fields), .exactly_one = "collider|cache"};

/* ---- Keys of selections -------------------------------------------------------------------------- */

static const sinew_field sphere_fields[] = {
    {"centre", VECTOR, .meaning = "centre of the sphere", .unit = "m", .required = true},
    {"radius", NUMBER, .meaning = "radius of the sphere", .unit = "m", .minimum = 0, .maximum = 1e9, .required = true},
};
static const sinew_shape sphere_shape = {
    .name = "sphere", .fields = sphere_fields, .field_count = COUNT(sphere_fields)};

static const sinew_field half_space_fields[] = {
    {"point", VECTOR, .meaning = "a point of the plane", .unit = "m", .required = true},
    {"normal", VECTOR, .meaning = "points to the side that is selected", .required = true},
};
static const sinew_shape half_space_shape = {
    .name = "half_space", .fields = half_space_fields, .field_count = COUNT(half_space_fields)};

static const sinew_field paint_fields[] = {
    {"name", TEXT, .meaning = "of the painted value", .required = true},
    {"above", NUMBER, .meaning = "the least that is selected; 0.5 where neither is given"},
    {"below", NUMBER, .meaning = "the most that is selected"},
};
static const sinew_shape paint_shape = {.name = "paint", .fields = paint_fields, .field_count = COUNT(paint_fields)};

static const sinew_field selection_fields[] = {
    {"box", SINEW_FORM_BOX, .meaning = "lowest and highest corner", .unit = "m"},
    {"sphere", OBJECT, .meaning = "a ball", .shape = &sphere_shape},
    {"half_space", OBJECT, .meaning = "one side of a plane", .shape = &half_space_shape},
    {"indices", INTEGERS, .meaning = "numbers of vertices (elements in an energy), from 0", .minimum = 0,
     .maximum = largest_index},
    {"nearest", VECTOR, .meaning = "the one nearest to a point", .unit = "m"},
    {"not", SELECTION, .meaning = "all others"},
    {"and", SINEW_FORM_SELECTIONS, .meaning = "what is in every one of them", .count = 1},
    {"surface", SELECTION,
     .meaning = "selects vertices of the embedded surface, and the vertices of the body that they follow"},
    {"group", TEXT, .meaning = "in surface: the vertices of faces of a group or object"},
    {"material", TEXT, .meaning = "in surface: the vertices of faces with a material"},
    {"paint", TEXT | OBJECT, .meaning = "in surface: the vertices with a painted value of at least 0.5, or in a range",
     .shape = &paint_shape},
};
const sinew_shape sinew_selection_shape = {.name = "selection",
                                           .fields = selection_fields,
                                           .field_count = COUNT(selection_fields),
                                           .exactly_one = "box|sphere|half_space|indices|nearest|not|and|surface|"
                                                          "group|material|paint"};

/* ---- Keys of energies and solvers, from their descriptors ---------------------------------------- */

static sinew_field parameter_field(const sinew_parameter *parameter)
{
    return (sinew_field){.name = parameter->name,
                         .forms = parameter->choices ? KEYWORD : NUMBER,
                         .meaning = parameter->meaning,
                         .unit = parameter->unit,
                         .choices = parameter->choices,
                         .minimum = parameter->minimum,
                         .maximum = parameter->maximum,
                         .open_minimum = parameter->open_minimum,
                         .open_maximum = parameter->open_maximum};
}

static int32_t energy_fields(const char *word, sinew_field *fields)
{
    sinew_energy_kind kind = sinew_energy_by_name(word);
    const sinew_energy_info *info = sinew_get_energy_info(kind);
    if (kind == SINEW_ENERGY_COUNT || !info)
        return -1;
    int32_t count = 0;
    for (; count < info->parameter_count; count++) {
        fields[count] = parameter_field(&info->parameters[count]);
        if (fields[count].forms == NUMBER) {
            fields[count].forms |= OBJECT;
            fields[count].shape = &values_shape;
        }
    }
    if (sinew_get_stencil(info->stencil)->takes & SINEW_TAKES_TARGET)
        fields[count++] = (sinew_field){
            .name = "motion", .forms = OBJECT, .meaning = "moves the targets", .shape = &sinew_motion_shape};
    if (sinew_get_stencil(info->stencil)->takes & SINEW_TAKES_TARGET)
        fields[count++] = (sinew_field){
            .name = "follow", .forms = OBJECT, .meaning = "what the targets follow", .shape = &follow_shape};
    if (kind == SINEW_ENERGY_EXAMPLES)
        fields[count++] = (sinew_field){.name = "examples",
                                        .forms = SINEW_FORM_TEXTS,
                                        .meaning = "files of the same mesh in other shapes, up to three"};
    fields[count++] = (sinew_field){.name = "damping",
                                    .forms = NUMBER,
                                    .meaning = "Rayleigh: damps a motion of frequency omega by damping omega / 2 of "
                                               "critical, rigid ones not; 0 unless given",
                                    .unit = "s",
                                    .minimum = 0,
                                    .maximum = 1e6};
    if (info->capabilities & SINEW_CAN_CONSTRAINT) {
        fields[count++] =
            (sinew_field){.name = "hard",
                          .forms = BOOLEAN,
                          .meaning = "xpbd, xpbd-qs: no compliance, for all parameters; admm: projected on"};
        fields[count++] =
            (sinew_field){.name = "pbd_stiffness",
                          .forms = NUMBER,
                          .meaning = "pbd: how much of each correction is made; as the solver says unless "
                                     "given",
                          .unit = "",
                          .minimum = 0,
                          .maximum = 1,
                          .open_minimum = true};
    }
    return count;
}

/* Name of the index-th energy among the energies that do (or do not) couple two bodies. */
static const char *energy_name(int32_t index, bool couples)
{
    for (int32_t kind = 0, end = sinew_energy_kind_end(); kind < end; kind++) {
        const sinew_energy_info *info = sinew_get_energy_info((sinew_energy_kind)kind);
        if (info && sinew_get_stencil(info->stencil)->couples == couples && index-- == 0)
            return info->name;
    }
    return NULL;
}

static const char *body_energy_name(int32_t index)
{
    return energy_name(index, false);
}

static const char *coupling_energy_name(int32_t index)
{
    return energy_name(index, true);
}

static const char *solver_name(int32_t index)
{
    for (int32_t kind = 0, end = sinew_solver_kind_end(); kind < end; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        if (info && index-- == 0)
            return info->name;
    }
    return NULL;
}

static int32_t solver_fields(const char *word, sinew_field *fields)
{
    sinew_solver_kind kind = sinew_solver_by_name(word);
    if (kind == SINEW_SOLVER_COUNT)
        return -1;
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    for (int32_t i = 0; i < info->parameter_count; i++)
        fields[i] = parameter_field(&info->parameters[i]);
    return info->parameter_count;
}

/* ---- Keys of a body ------------------------------------------------------------------------------ */

static const sinew_field show_fields[] = {
    {"file", TEXT, .meaning = "surface file, relative to the scene", .required = true},
    {"up", KEYWORD, .meaning = up_meaning, .choices = up_names},
    {"unit", KEYWORD, .meaning = unit_meaning, .choices = unit_names},
};
static const sinew_shape show_shape = {.name = "show", .fields = show_fields, .field_count = COUNT(show_fields)};

static const sinew_field fill_fields[] = {
    {"cells", INTEGER, .meaning = "lattice cells along the longest side of the surface's box; 24 unless given",
     .minimum = 1, .maximum = largest_index},
    {"conform", BOOLEAN, .meaning = "boundary vertices move to the surface; false unless given"},
    {"split", BOOLEAN, .meaning = "parts that share a cell but do not touch get cells of their own; true unless given"},
};
static const sinew_shape fill_shape = {.name = "fill", .fields = fill_fields, .field_count = COUNT(fill_fields)};

static const sinew_field directors_fields[] = {
    {"offset", NUMBER, .meaning = "of the points from their edges; a quarter of the mean edge unless given",
     .unit = "m", .minimum = 0, .maximum = 1e6, .open_minimum = true},
    {"toward", VECTOR, .meaning = "where those of ropes point, as far as they can"},
};
static const sinew_shape directors_shape = {
    .name = "directors", .fields = directors_fields, .field_count = COUNT(directors_fields)};

static const sinew_field mesh_fields[] = {
    {"file", TEXT, .meaning = "mesh file, relative to the scene"},
    {"up", KEYWORD, .meaning = up_meaning, .choices = up_names},
    {"unit", KEYWORD, .meaning = unit_meaning, .choices = unit_names},
    {"fill", OBJECT, .meaning = "make a body of tets around the surface (docs/guides/meshes.md)", .shape = &fill_shape},
    {"directors", BOOLEAN | OBJECT,
     .meaning = "give every edge a point that carries its slope or frame, for shells and rods",
     .shape = &directors_shape},
    {"generator", KEYWORD, .meaning = "shape to make"},
};
const sinew_shape sinew_mesh_shape = {.name = "mesh",
                                      .fields = mesh_fields,
                                      .field_count = COUNT(mesh_fields),
                                      .exactly_one = "generator|file",
                                      .chooser = "generator",
                                      .variant_name = sinew_generator_name,
                                      .variant_fields = sinew_generator_fields};

static const sinew_field twist_fields[] = {
    {"axis", KEYWORD | VECTOR, .meaning = "x, y, z or a direction, through the middle of the body", .choices = "x|y|z",
     .required = true},
    {"angle", NUMBER, .meaning = "between both ends; grows linearly along the axis", .unit = "rad", .required = true},
};
static const sinew_shape twist_shape = {.name = "twist", .fields = twist_fields, .field_count = COUNT(twist_fields)};

static const sinew_field initial_fields[] = {
    {"positions", TEXT, .meaning = "file of positions (csv: x,y,z a line; or a mesh) in place of the rest shape"},
    {"twist", OBJECT, .meaning = "turns one end against the other", .shape = &twist_shape},
    {"transform", OBJECT, .meaning = "moves the start, after the twist; the rest shape stays",
     .shape = &sinew_transform_shape},
    {"velocity", VECTOR, .meaning = "of every vertex", .unit = "m/s"},
    {"velocities", TEXT, .meaning = "file of velocities (csv: x,y,z a line), added"},
    {"angular_velocity", VECTOR, .meaning = "about the centre of mass, added", .unit = "rad/s"},
};
static const sinew_shape initial_shape = {
    .name = "initial", .fields = initial_fields, .field_count = COUNT(initial_fields)};

static const sinew_field energy_common[] = {
    {"energy", KEYWORD, .meaning = "which one", .required = true},
    {"select", SELECTION, .meaning = "the elements whose centres (or vertices) it acts on; all unless given"},
};
static const sinew_shape energy_shape = {.name = "energy",
                                         .fields = energy_common,
                                         .field_count = COUNT(energy_common),
                                         .chooser = "energy",
                                         .variant_name = body_energy_name,
                                         .variant_fields = energy_fields};

static const sinew_field pin_fields[] = {
    {"select", SELECTION, .meaning = "the vertices that are held", .required = true},
    {"motion", OBJECT, .meaning = "how they move; they stand still unless given", .shape = &sinew_motion_shape},
    {"follow", OBJECT, .meaning = "an animated collider or cache that they follow, in place of a motion",
     .shape = &follow_shape},
    {"directions", SINEW_FORM_MATRIX,
     .meaning = "one to three directions [x, y, z] that they are held along; all unless given", .count = 1},
};
static const sinew_shape pin_shape = {.name = "pin", .fields = pin_fields, .field_count = COUNT(pin_fields)};

static const sinew_field clamp_fields[] = {
    {"select", SELECTION, .meaning = "the vertices: ends of rods, or edges of shells by both their ends",
     .required = true},
    {"tangent", VECTOR,
     .meaning = "rods: direction in which they leave the clamp; that of their first edge unless given"},
    {"motion", OBJECT, .meaning = "how it moves; it stands still unless given", .shape = &sinew_motion_shape},
};
static const sinew_shape clamp_shape = {.name = "clamp", .fields = clamp_fields, .field_count = COUNT(clamp_fields)};

static const sinew_field force_fields[] = {
    {"select", SELECTION, .meaning = "the vertices that it acts on; all unless given"},
    {"force", VECTOR, .meaning = "on each of them", .unit = "N"},
    {"total", VECTOR, .meaning = "shared equally among them", .unit = "N"},
};
static const sinew_shape force_shape = {
    .name = "force", .fields = force_fields, .field_count = COUNT(force_fields), .exactly_one = "force|total"};

static const sinew_field tear_fields[] = {
    {"strain", NUMBER, .meaning = "edges stretched by more tear; 0.5 unless given", .minimum = 0, .maximum = 1e6,
     .open_minimum = true},
    {"by", KEYWORD, .meaning = "split: the mesh opens (unless given); remove: edges and the cells that have them go",
     .choices = "split|remove"},
    {"most", INTEGER, .meaning = "edges that tear in one step, the most stretched first; 16 unless given", .minimum = 1,
     .maximum = largest_index},
};
static const sinew_shape tear_shape = {.name = "tear", .fields = tear_fields, .field_count = COUNT(tear_fields)};
/* ---- Keys of loads ------------------------------------------------------------------------------- */

static const sinew_field load_common[] = {
    {"load", KEYWORD, .meaning = "which one", .required = true},
    {"select", SELECTION, .meaning = "the triangles whose centres, or the vertices, it acts on; all unless given"},
};

enum {
    LOAD_KEY_FIELDS = 3
};

#define LOAD_KEY_SHAPE(vector, vector_unit)                                                                            \
    {                                                                                                                  \
        {"time", NUMBER, .meaning = "when; times ascend", .unit = "s", .required = true},                              \
            {vector, VECTOR, .meaning = "at that time; as the load has it unless given", .unit = vector_unit},         \
            {"factor", NUMBER, .meaning = "of the whole load at that time; 1 unless given", .minimum = -1e12,          \
             .maximum = 1e12},                                                                                         \
    }

static const sinew_field load_key_fields[SINEW_LOAD_COUNT][LOAD_KEY_FIELDS] = {
    [SINEW_LOAD_WIND] = LOAD_KEY_SHAPE("velocity", "m/s"),
    [SINEW_LOAD_TRACTION] = LOAD_KEY_SHAPE("traction", "Pa"),
    [SINEW_LOAD_COUPLE] = LOAD_KEY_SHAPE("moment", "N m"),
};
static const sinew_shape load_key_shapes[SINEW_LOAD_COUNT] = {
    [SINEW_LOAD_WIND] = {.name = "wind_key",
                         .fields = load_key_fields[SINEW_LOAD_WIND],
                         .field_count = LOAD_KEY_FIELDS},
    [SINEW_LOAD_TRACTION] = {.name = "traction_key",
                             .fields = load_key_fields[SINEW_LOAD_TRACTION],
                             .field_count = LOAD_KEY_FIELDS},
    [SINEW_LOAD_COUPLE] = {.name = "couple_key",
                           .fields = load_key_fields[SINEW_LOAD_COUPLE],
                           .field_count = LOAD_KEY_FIELDS},
};

static const char *load_name(int32_t index)
{
    return index < SINEW_LOAD_COUNT ? sinew_get_load_info((sinew_load_kind)index)->name : NULL;
}

static int32_t load_fields(const char *word, sinew_field *fields)
{
    const sinew_load_kind kind = sinew_load_by_name(word);
    const sinew_load_info *info = sinew_get_load_info(kind);
    if (!info)
        return -1;
    int32_t count = 0;
    for (; count < info->parameter_count; count++)
        fields[count] = parameter_field(&info->parameters[count]);
    fields[count] = (sinew_field){
        .name = info->vector.name, .forms = VECTOR, .meaning = info->vector.meaning, .unit = info->vector.unit};
    fields[count + 1] = (sinew_field){.name = "keys",
                                      .forms = LIST,
                                      .meaning = "how it changes, linear between keys and held before and after",
                                      .shape = &load_key_shapes[kind],
                                      .count = 1};
    return count + 2;
}

static const sinew_shape load_shape = {.name = "load",
                                       .fields = load_common,
                                       .field_count = COUNT(load_common),
                                       .chooser = "load",
                                       .variant_name = load_name,
                                       .variant_fields = load_fields};

static const sinew_field solid_fields[] = {
    {"radius", NUMBER, .meaning = "radius of the sphere or capsule, whose centre is the origin", .unit = "m",
     .minimum = 0, .maximum = 1e9, .open_minimum = true, .required = true},
    {"length", NUMBER, .meaning = "capsule along y: between the centres of its ends; a sphere unless given",
     .unit = "m", .minimum = 0, .maximum = 1e9, .open_minimum = true},
};
static const sinew_shape solid_shape = {.name = "solid", .fields = solid_fields, .field_count = COUNT(solid_fields)};

static const sinew_field body_fields[] = {
    {"name", TEXT, .meaning = "by which couplings call it"},
    {"mesh", OBJECT, .meaning = "rest shape", .shape = &sinew_mesh_shape},
    {"solid", OBJECT, .meaning = "exact sphere or capsule of a rigid body, in place of a mesh", .shape = &solid_shape},
    {"show", TEXT | OBJECT | BOOLEAN,
     .meaning = "the embedded surface, which is written in place of the body; true: the file of the mesh",
     .shape = &show_shape},
    {"transform", OBJECT, .meaning = "moves the rest shape and its embedded surface", .shape = &sinew_transform_shape},
    {"material", KEYWORD,
     .meaning = "a sheet, or a volume for tets, by name: its density and the parameters of its energies, where keys do "
                "not say otherwise",
     .choices = SINEW_MATERIAL_NAMES "|" SINEW_VOLUME_MATERIAL_NAMES},
    {"density", NUMBER, .meaning = "of tets; without tets of triangles (kg/m2); without both of edges (kg/m)",
     .unit = "kg/m3|kg/m2|kg/m", .minimum = 0, .maximum = 1e12, .open_minimum = true},
    {"mass", NUMBER, .meaning = "of the whole body, in place of the density", .unit = "kg", .minimum = 0,
     .maximum = 1e15, .open_minimum = true},
    {"masses", TEXT, .meaning = "file with one mass (kg) per vertex, in place of the density"},
    {"damping", NUMBER, .meaning = "velocities shrink by exp(-damping h) a step; 0 unless given", .unit = "1/s",
     .minimum = 0, .maximum = 1e6},
    {"velocity_filter", NUMBER,
     .meaning = "part of the velocities beside the body's rigid motion that each step takes away; 0 unless given",
     .minimum = 0, .maximum = 1},
    {"rigid", BOOLEAN,
     .meaning =
         "true: four particles with the inertia of the mesh, joined by hard distances, with its surface embedded"},
    {"initial", OBJECT, .meaning = "where it starts and how fast", .shape = &initial_shape},
    {"energies", LIST, .meaning = "what it is made of", .shape = &energy_shape},
    {"pins", LIST, .meaning = "vertices whose motion is prescribed, exactly", .shape = &pin_shape},
    {"clamp", LIST, .meaning = "vertices of shells and rods whose position and tangent are held",
     .shape = &clamp_shape},
    {"forces", LIST, .meaning = "constant forces besides gravity", .shape = &force_shape},
    {"tear", OBJECT, .meaning = "tears where it is stretched too far", .shape = &tear_shape},
    {"loads", LIST, .meaning = "wind, traction, couples", .shape = &load_shape},
    {"contact", OBJECT, .meaning = "how it touches, where that differs from the scene's contact",
     .shape = &sinew_body_contact_shape},
};
static const sinew_shape body_shape = {.name = "body",
                                       .fields = body_fields,
                                       .field_count = COUNT(body_fields),
                                       .exactly_one = "mesh|solid",
                                       .at_most_one = "density|mass|masses"};

/* ---- Keys of the scene --------------------------------------------------------------------------- */

static const sinew_field coupling_fields[] = {
    {"energy", KEYWORD, .meaning = "which one", .required = true},
    {"bodies", TEXTS, .meaning = "names of the two bodies that it joins", .count = 2, .required = true},
    {"select", SELECTION, .meaning = "vertices of the first body; all unless given"},
    {"within", NUMBER,
     .meaning = "joins each vertex of the first body to the nearest place of the second, up to this distance",
     .unit = "m", .minimum = 0, .maximum = 1e9},
    {"to", KEYWORD, .meaning = "where within joins to; the surface unless given", .choices = "surface|vertices"},
    {"pairs", SINEW_FORM_PAIRS, .meaning = "[vertex of the first, vertex of the second], ...", .minimum = 0,
     .maximum = largest_index, .count = 1},
    {"surface", BOOLEAN, .meaning = "pairs name vertices of the embedded surfaces"},
    {"normal", VECTOR, .meaning = "direction of the normal stiffness; z unless given"},
    {"at", VECTOR, .meaning = "where a joint, its limit or its motor is, in the rest shapes", .unit = "m"},
    {"axis", VECTOR, .meaning = "the axis of a joint in the rest shapes; z unless given"},
};
static const sinew_shape coupling_shape = {.name = "coupling",
                                           .fields = coupling_fields,
                                           .field_count = COUNT(coupling_fields),
                                           .exactly_one = "within|pairs|at",
                                           .chooser = "energy",
                                           .variant_name = coupling_energy_name,
                                           .variant_fields = energy_fields};

static const sinew_field solver_common[] = {
    {"name", KEYWORD, .meaning = "which one; newton unless given"},
    {"iterations", INTEGER, .meaning = "at most, per step", .minimum = 0, .maximum = 1e9},
    {"tolerance", NUMBER, .meaning = "on the relative residual; 0 runs all iterations", .minimum = 0, .maximum = 1},
    {"accuracy", NUMBER,
     .meaning = "a step is solved if no body's position error exceeds this fraction of its size; 1e-4 unless given",
     .minimum = 1e-15, .maximum = 1},
    {"time_budget", NUMBER, .meaning = "wall clock per step; 0: none", .unit = "s", .minimum = 0, .maximum = 1e6},
    {"measure", KEYWORD, .meaning = "what is found out about a step after its iterations; auto unless given",
     .choices = SINEW_MEASURE_NAMES},
    {"gap_every", INTEGER, .meaning = "with measure gap: the gap of every so many-th step; 1 unless given",
     .minimum = 1, .maximum = 1e9},
};
static const sinew_shape solver_shape = {.name = "solver",
                                         .fields = solver_common,
                                         .field_count = COUNT(solver_common),
                                         .chooser = "name",
                                         .chooser_default = "newton",
                                         .variant_name = solver_name,
                                         .variant_fields = solver_fields};

static const sinew_field camera_fields[] = {
    {"eye", VECTOR, .meaning = "where the camera stands; goes with target", .unit = "m"},
    {"target", VECTOR, .meaning = "the point in the middle of the picture", .unit = "m"},
    {"azimuth", NUMBER, .meaning = "direction of a fitted camera about y, from +z towards +x", .unit = "rad"},
    {"elevation", NUMBER, .meaning = "of a fitted camera above the horizon", .unit = "rad", .minimum = -1.57,
     .maximum = 1.57},
    {"distance", NUMBER, .meaning = "of a fitted camera: times the distance that just shows everything", .minimum = 0,
     .maximum = 1e6, .open_minimum = true},
    {"angle", NUMBER, .meaning = "field of view from top to bottom", .unit = "rad", .minimum = 0, .maximum = 3,
     .open_minimum = true},
    {"orbit", NUMBER, .meaning = "turns about the target in a film; 0 unless given", .minimum = -1e3, .maximum = 1e3},
};
static const sinew_shape camera_shape = {
    .name = "camera", .fields = camera_fields, .field_count = COUNT(camera_fields), .at_most_one = "eye|azimuth"};

static const sinew_field cut_fields[] = {
    {"point", VECTOR, .meaning = "a point of the plane", .unit = "m", .required = true},
    {"normal", VECTOR, .meaning = "points to the side that is taken away", .required = true},
};
static const sinew_shape cut_shape = {.name = "cut", .fields = cut_fields, .field_count = COUNT(cut_fields)};

static const sinew_field picture_fields[] = {
    {"colour", KEYWORD, .meaning = "what surfaces are coloured by; body unless given", .choices = SINEW_COLOUR_NAMES},
    {"ground", KEYWORD | NUMBER, .meaning = "height of the floor, or where it is; just below everything unless given",
     .unit = "m", .choices = "below|none", .minimum = -1e9, .maximum = 1e9},
    {"cut", OBJECT, .meaning = "a plane; elements on one side of it are not drawn", .shape = &cut_shape},
};
static const sinew_shape picture_shape = {
    .name = "picture", .fields = picture_fields, .field_count = COUNT(picture_fields)};

static const sinew_field scene_fields[] = {
    {"$schema", TEXT, .meaning = "for editors; ignored"},
    {"sinew", INTEGER, .meaning = "version of this format: 1", .minimum = 1, .maximum = 1, .required = true},
    {"name", TEXT, .meaning = "of the scene and its files: letters, digits, - and _; the file's own name unless given"},
    {"comment", TEXT, .meaning = "what to look for"},
    {"time_step", NUMBER, .meaning = "length of a step", .unit = "s", .minimum = 0, .maximum = 1e6,
     .open_minimum = true},
    {"frames", INTEGER, .meaning = "how many to simulate; 60 unless given", .minimum = 0, .maximum = 1e7},
    {"steps_per_frame", INTEGER, .meaning = "1 unless given", .minimum = 1, .maximum = 1e6},
    {"fps", NUMBER, .meaning = "frames a second, in place of time_step or steps_per_frame", .unit = "1/s", .minimum = 0,
     .maximum = 1e6, .open_minimum = true},
    {"quasistatic", BOOLEAN, .meaning = "each step finds the equilibrium at its time"},
    {"gravity", VECTOR, .meaning = "0, -9.81, 0 unless given", .unit = "m/s2"},
    {"load_steps", INTEGER, .meaning = "first steps over which gravity and forces grow in equal parts; 0: all at once",
     .minimum = 0, .maximum = 1e9},
    {"damping", NUMBER, .meaning = "velocities shrink by exp(-damping h) a step; 0 unless given", .unit = "1/s",
     .minimum = 0, .maximum = 1e6},
    {"balance", BOOLEAN,
     .meaning = "keeps residual and reactions of each step, for caches and programs; results do not depend on it"},
    {"threads", INTEGER, .meaning = "0: as many as the machine has", .minimum = 0, .maximum = 1024},
    {"memory_limit", NUMBER, .meaning = "the world may not hold more; 0: no limit; results do not depend on it",
     .unit = "B", .minimum = 0, .maximum = 1e15},
    {"write", KEYWORD, .meaning = "data of bodies with an embedded surface in caches; surface unless given",
     .choices = "surface|body"},
    {"solver", OBJECT, .meaning = "how steps are solved", .shape = &solver_shape},
    {"bodies", LIST, .meaning = "what is simulated", .shape = &body_shape, .required = true, .count = 1},
    {"couplings", LIST, .meaning = "energies that join two bodies", .shape = &coupling_shape},
    {"contact", BOOLEAN | OBJECT,
     .meaning = "bodies touch each other, themselves and colliders; true: with the defaults; they do not unless given",
     .shape = &sinew_contact_shape},
    {"colliders", LIST, .meaning = "what bodies cannot enter, standing or moved; needs contact",
     .shape = &sinew_collider_shape},
    {"camera", OBJECT, .meaning = "where pictures and films are seen from; fitted unless given",
     .shape = &camera_shape},
    {"picture", OBJECT, .meaning = "what pictures and films show", .shape = &picture_shape},
};
const sinew_shape sinew_scene_shape = {.name = "scene", .fields = scene_fields, .field_count = COUNT(scene_fields)};

int32_t sinew_shape_fields(const sinew_shape *shape, const char *word, sinew_field *fields)
{
    memcpy(fields, shape->fields, (size_t)shape->field_count * sizeof *fields);
    if (!word)
        word = shape->chooser_default;
    if (!shape->chooser || !word)
        return shape->field_count;
    int32_t added = shape->variant_fields(word, fields + shape->field_count);
    return added < 0 ? -1 : shape->field_count + added;
}
