/* SPDX-License-Identifier: MIT
 *
 * file_formats.h: one table per mesh file format, and the reading of a mesh from memory.
 *
 * Adding a format is one file mesh_<name>.c with its table, and one line in file_formats.c.
 */
#ifndef SINEW_SRC_IO_MESH_FILE_FORMATS_H
#define SINEW_SRC_IO_MESH_FILE_FORMATS_H

#include <stdio.h>

#include "io/mesh/builder.h"
#include "sinew/mesh.h"

#ifdef SINEW_SINGLE
#define SINEW_REAL_FORMAT "%.9g"
#else
#define SINEW_REAL_FORMAT "%.17g"
#endif

/* Reads another file of a mesh, as sinew_file_read does: a 0 byte follows the data; NULL on failure. `named`: the mesh
 * file itself contains the name, so symbolic links are refused. */
typedef char *sinew_source_open(void *context, const char *path, bool named, const sinew_allocator *allocator,
                                size_t *size, sinew_error *error);

/* One file in memory. */
typedef struct sinew_source {
    const char *name;  /* its path: the ending chooses the format, errors show it */
    const char *bytes; /* [size], and a 0 byte after it */
    size_t size;
    sinew_source_open *open; /* NULL: there are no other files */
    void *context;
} sinew_source;

/* Writes one file of a mesh; errors of the stream stick and show when it is committed. */
typedef void sinew_mesh_print(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format);

enum {
    SINEW_MESH_ENDINGS = 4
};

typedef struct sinew_mesh_kind {
    const char *endings[SINEW_MESH_ENDINGS]; /* lower case, with the dot */
    unsigned variants;                       /* bits 1 << sinew_mesh_format that a caller may ask for by name */
    bool surface; /* holds no tetrahedra: a mesh with tetrahedra and no triangles is written as its boundary */
    bool (*read)(const sinew_source *source, sinew_builder *builder);
    /* One file for each ending that has a printer: the first under the path itself when the format is one file. */
    sinew_mesh_print *print[SINEW_MESH_ENDINGS];
    bool several_files;  /* each ending is a file of its own, and all are written */
    bool only_triangles; /* and those in single precision: STL */
} sinew_mesh_kind;

extern const sinew_mesh_kind sinew_mesh_kind_gmsh;
extern const sinew_mesh_kind sinew_mesh_kind_tetgen;
extern const sinew_mesh_kind sinew_mesh_kind_medit;
extern const sinew_mesh_kind sinew_mesh_kind_vtk;
extern const sinew_mesh_kind sinew_mesh_kind_vtu;
extern const sinew_mesh_kind sinew_mesh_kind_obj;
extern const sinew_mesh_kind sinew_mesh_kind_ply;
extern const sinew_mesh_kind sinew_mesh_kind_stl;
extern const sinew_mesh_kind sinew_mesh_kind_off;
extern const sinew_mesh_kind sinew_mesh_kind_gltf;

/* Printers in separate files. */
sinew_mesh_print sinew_gmsh_print;
sinew_mesh_print sinew_vtu_print;

/* Fills an opened draft from the source; the ending selects the format. */
bool sinew_source_builder(const sinew_source *source, sinew_builder *builder);
/* The file at a path, to be released, as a source with its siblings; false, with the error set, on failure. */
bool sinew_source_read(const char *path, const sinew_allocator *allocator, sinew_source *source, char **bytes,
                       sinew_error *error);

/* Reads a mesh from memory. NULL on failure. */
sinew_mesh *sinew_mesh_parse(const sinew_source *source, const sinew_allocator *allocator, sinew_error *error);

/* The path with its ending replaced; false when it does not fit. */
bool sinew_path_with_ending(const char *path, const char *ending, char *buffer, size_t size);

#endif
