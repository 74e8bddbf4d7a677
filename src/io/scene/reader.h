/* SPDX-License-Identifier: MIT
 *
 * reader.h: declarations that the parts of the scene reader share. All nodes have passed the check against the tables
 * of keys, so the remaining errors depend on other keys, meshes, files and the world. Functions that return false set
 * reader->error, unless their comment says otherwise.
 */
#ifndef SINEW_SRC_IO_SCENE_READER_H
#define SINEW_SRC_IO_SCENE_READER_H

#include "io/scene/key_tables.h"
#include "mesh/topology/stencil.h"
#include "sinew/scene.h"
#include "sinew/skin.h"

struct sinew_scene {
    sinew_allocator allocator;
    sinew_world *world;
    char *name, *comment, *warnings;
    int32_t frames, steps_per_frame;
    double fps; /* frame rate: frames per second of simulated time */
    bool writes_bodies;
    sinew_solver_def solver;
    sinew_real time_step;
    sinew_scene_view view;
    char colour[16]; /* copy of the text view.colour, the quantity that colours pictures */
};

typedef struct sinew_reader {
    sinew_allocator allocator;
    sinew_tree tree;
    sinew_error *error; /* receives the error of a failure; never NULL */
    const char *path;   /* path of the scene file; paths in it are relative to its folder */
    sinew_scene *scene;
} sinew_reader;

/* Allocates count * size bytes for `what`, named in the error; NULL with the error set on failure. */
void *sinew_reader_allocate(sinew_reader *reader, size_t count, size_t size, const char *what);
/* Adds a line to the warnings of the scene. */
bool sinew_reader_warn(sinew_reader *reader, const char *format, ...) SINEW_PRINTF(2, 3);

/* ---- Files that a scene names (number_files.c) --------------------------------------------------- */

/* Writes the path of the file that the node names to path[size]; a relative name starts at the folder of the scene. */
bool sinew_reader_path(sinew_reader *reader, const sinew_node *node, char *path, size_t size);
/* Reads rows * columns finite numbers from the text file that the node names; NULL on failure. */
sinew_real *sinew_reader_values(sinew_reader *reader, const sinew_node *node, int32_t rows, int32_t columns);

/* ---- Meshes and motions (mesh.c, motion.c) -------------------------------------- */

/* Returns the rest shape of a body, transformed; NULL on failure. */
sinew_mesh *sinew_reader_mesh(sinew_reader *reader, const sinew_node *body);
/* Transforms points [count][3] in place; a NULL node leaves them unchanged. */
bool sinew_reader_transform(sinew_reader *reader, const sinew_node *transform, sinew_real *points, int32_t count);
/* Reads an axis, "x", "y", "z" or a direction, as a unit vector. */
bool sinew_reader_axis(sinew_reader *reader, const sinew_node *node, sinew_real axis[3]);
/* Reads a rotation vector (rad), or an axis and an angle; a NULL node leaves the rotation unchanged. */
bool sinew_reader_rotation(sinew_reader *reader, const sinew_node *node, sinew_real rotation[3]);
/* Reads a key-framed motion. The caller releases motion->keys with the reader's allocator. */
bool sinew_reader_motion(sinew_reader *reader, const sinew_node *node, sinew_motion *motion);
/* Opens a point cache, a .pc2 file; NULL on failure (collider.c). */
sinew_cache_reader *sinew_reader_open_cache(sinew_reader *reader, const sinew_node *file);
/* Reads the motion that vertices [count] of a body follow (follow.c); a NULL node: they follow none. The colliders of
 * the scene must exist. The caller releases the follow, also on failure. */
bool sinew_reader_follow(sinew_reader *reader, const sinew_node *node, const int32_t *vertices, int32_t count,
                         sinew_follow *follow);
void sinew_reader_release_follow(const sinew_reader *reader, sinew_follow *follow);
/* Rotates a point about a pivot: point = pivot + R (point - pivot), R the matrix of the rotation vector `rotation` */
void sinew_rotate_point(const sinew_real rotation[3], const sinew_real pivot[3], sinew_real point[3]);

/* ---- Selections of points (select.c) ------------------------------------------------------------- */

typedef struct sinew_selected {
    int32_t count;
    int32_t *indices; /* [count] indices of the selected points, ascending; the caller releases them */
} sinew_selected;

/* What a selection of vertices of the embedded surface selects. */
typedef enum sinew_points_kind {
    SINEW_POINTS_VERTICES = 0, /* vertices of the body in which a selected vertex of the surface is embedded */
    SINEW_POINTS_ELEMENTS,     /* elements, if the surface vertex nearest to their centre is selected */
    SINEW_POINTS_SKIN          /* the vertices of the embedded surface themselves */
} sinew_points_kind;

/* The points from which a selection chooses: vertices, element centres, or vertices of a skin. */
typedef struct sinew_selectable {
    const sinew_real *points; /* [3 * count] coordinates of the points in m */
    int32_t count;
    const char *noun; /* name of the points in error messages: "vertices", "tets" */
    sinew_points_kind kind;
    sinew_body body;
    /* Elements whose centres are the points: their vertices [count][width]; NULL: the points themselves are
     * vertices. */
    const int32_t *cells;
    int32_t width;
    const sinew_stencil_info *stencil;
} sinew_selectable;

sinew_selectable sinew_body_points(const sinew_world *world, sinew_body body);
sinew_selectable sinew_skin_points(const sinew_skin *skin, sinew_body body);

/* Finds the points of a selection; a NULL node selects all. An empty selection is an error at the node, or at
 * `location` if the node is NULL. */
bool sinew_reader_select(sinew_reader *reader, const sinew_node *node, const sinew_node *location,
                         const sinew_selectable *points, sinew_selected *selected);

/* ---- Embedded surfaces (embedded_surface.c, select_surface.c) -------------------------------------- */

/* Reads axes and unit of a file: *up receives the axis of a file that points up, *scale the metres per unit of the
 * file. Returns false if the node has neither key; the defaults "y" and 1 are then set. */
bool sinew_reader_axes(const sinew_reader *reader, const sinew_node *node, const char **up, double *scale);
/* Embeds the surface of the key "show" in the body, or the surface file from which the body is filled. */
bool sinew_reader_show(sinew_reader *reader, const sinew_node *body_node, sinew_body body);
/* Returns the selection on the embedded surface, {"surface": ...}; NULL for any other selection. */
const sinew_node *sinew_reader_surface_selection(const sinew_node *select);
/* Returns the embedded surface of a body; NULL with an error at `node` if the body has none. */
const sinew_skin *sinew_reader_skin(sinew_reader *reader, const sinew_node *node, sinew_body body);
/* Set mask [vertex_count of the skin] to 1 for vertices of faces in a group or with a material, or for vertices whose
 * painted value is in a range, else to 0. */
bool sinew_reader_mark_name(sinew_reader *reader, const sinew_node *node, const sinew_skin *skin, sinew_skin_set set,
                            uint8_t *mask);
bool sinew_reader_mark_paint(sinew_reader *reader, const sinew_node *node, const sinew_skin *skin, uint8_t *mask);
/* Sets mask [points->count] to 1 for points of the body that represent the selected vertices of the surface. */
bool sinew_reader_mark_body_points(sinew_reader *reader, const sinew_selectable *points, const uint8_t *selected,
                                   uint8_t *mask);
/* Returns the painted values [vertex_count of the skin] with the name in `name`; NULL with an error if they do not
 * exist. */
const float *sinew_reader_painted(sinew_reader *reader, const sinew_node *name, const sinew_skin *skin);
/* Reads the file of a body's mesh as a surface with the mesh's transform; the caller destroys it. NULL with an error at
 * `location` if the mesh has no file or the file has no faces. */
sinew_skin *sinew_reader_own_skin(sinew_reader *reader, const sinew_node *location, const sinew_node *body);

/* ---- Parameters that vary over a body (parameter_map.c) ------------------------------------------ */

/* Computes a parameter for each element: from + (to - from) times the painted or image value. */
bool sinew_reader_map_values(sinew_reader *reader, const sinew_node *map, const sinew_node *body,
                             const sinew_selectable *elements, sinew_real *values);

/* ---- Bodies, energies, loads and couplings (body.c, energy.c, coupling.c) ------------------------ */

bool sinew_reader_body(sinew_reader *reader, const sinew_node *node);
bool sinew_reader_energy(sinew_reader *reader, const sinew_node *node, sinew_body body);
/* Reads a load of a body (load.c). */
bool sinew_reader_load(sinew_reader *reader, const sinew_node *node, sinew_body body);
/* Finds the cells of a stencil in the key "select" of a node, [*count][width], which the caller releases; NULL: all
 * cells. Fails at the node if the mesh has no such cells. */
bool sinew_reader_elements(sinew_reader *reader, const sinew_node *node, const char *name, sinew_stencil stencil,
                           int32_t width, sinew_body body, int32_t **elements, int32_t *count);
bool sinew_reader_coupling(sinew_reader *reader, const sinew_node *node);
/* Reads the contact settings of the scene (contact.c); called before bodies and colliders are added. */
bool sinew_reader_contact(sinew_reader *reader);
/* Adds a warning for each body that collides with its cage but is displayed as its embedded surface, with the largest
 * distance between both. Called after all bodies are added. */
bool sinew_reader_warn_of_cages(sinew_reader *reader);
/* Reads the contact settings of a body (contact.c), after its energies and skin. */
bool sinew_reader_body_contact(sinew_reader *reader, const sinew_node *node, sinew_body body);
bool sinew_reader_collider(sinew_reader *reader, const sinew_node *node);
/* Reads the keys `camera` and `picture` (camera.c). */
bool sinew_reader_view(sinew_reader *reader);
/* Reads parameters of an energy or a solver by its descriptors; missing keys leave values unchanged. */
void sinew_reader_parameters(const sinew_node *node, const sinew_parameter *parameters, int32_t count,
                             sinew_real *values);
/* Reads the keys "damping", "hard" and "pbd_stiffness" of an energy: damping and treatment by constraint solvers. */
void sinew_reader_damping_and_hardness(const sinew_node *node, sinew_energy_def *def);

#endif
