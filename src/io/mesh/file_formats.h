/* SPDX-License-Identifier: MIT
 *
 * file_formats.h: one table per mesh file format, and the reading of a mesh from memory.
 *
 * A new format needs one file with its table in this folder, the declaration of the table below, and an entry in
 * file_formats.c.
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

/* Function that reads another file of a mesh, as sinew_file_read does: a 0 byte follows the data; NULL on failure.
 * `named`: the mesh file itself contains the name, so symbolic links are refused. */
typedef char *sinew_source_open(void *context, const char *path, bool named, const sinew_allocator *allocator,
                                size_t *size, sinew_error *error);

/* A mesh file whose content is in memory. */
typedef struct sinew_source {
    const char *name;  /* path of the mesh file: its ending selects the format; errors show it */
    const char *bytes; /* [size] content of the file, followed by a 0 byte */
    size_t size;
    sinew_source_open *open; /* opens files beside this mesh file; NULL: there are none */
    void *context;
} sinew_source;

/* Function that writes one file of a mesh. Stream errors persist until sinew_writer_commit() reports them. */
typedef void sinew_mesh_print(const sinew_mesh *mesh, FILE *stream, sinew_mesh_format format);

enum {
    SINEW_MESH_ENDINGS = 4
};

typedef struct sinew_mesh_kind {
    const char *endings[SINEW_MESH_ENDINGS]; /* file name endings of the format, in lower case, with the dot */
    /* bits 1 << sinew_mesh_format: variants of the format that a caller may select */
    unsigned variants;
    bool surface; /* true: the format has no tets; a mesh with tets and no triangles is written as its boundary */
    bool (*read)(const sinew_source *source, sinew_builder *builder);
    /* Functions that write the files of the format: print[0] alone, or one per ending if `several_files` is set. */
    sinew_mesh_print *print[SINEW_MESH_ENDINGS];
    bool several_files;  /* true: each ending is a separate file, and all are written */
    bool only_triangles; /* true: the format stores only triangles, in single precision (STL) */
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

/* Functions that write a mesh in one format, each in its own source file. */
sinew_mesh_print sinew_gmsh_print;
sinew_mesh_print sinew_vtu_print;

/* Fills an opened builder from a mesh file in memory; the ending of the file's name selects the format. */
bool sinew_source_fill(const sinew_source *source, sinew_builder *builder);
/* Reads the file at a path as a source that can open its siblings; the caller releases *bytes. Sets the error and
 * returns false on failure. */
bool sinew_source_read(const char *path, const sinew_allocator *allocator, sinew_source *source, char **bytes,
                       sinew_error *error);

/* Reads a mesh from a file in memory. NULL on failure. */
sinew_mesh *sinew_mesh_parse(const sinew_source *source, const sinew_allocator *allocator, sinew_error *error);

/* Writes a path with another ending to `buffer`; returns false if it does not fit. */
bool sinew_path_with_ending(const char *path, const char *ending, char *buffer, size_t size);

#endif
