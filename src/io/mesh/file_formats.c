/* SPDX-License-Identifier: MIT
 *
 * file_formats.c: sinew_mesh_read() and sinew_mesh_write() select a format table by the file name's ending.
 */
#include "io/mesh/file_formats.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "io/file.h"
#include "io/input.h"

static const sinew_mesh_kind *const kinds[] = {
    &sinew_mesh_kind_gmsh, &sinew_mesh_kind_tetgen, &sinew_mesh_kind_medit, &sinew_mesh_kind_vtk, &sinew_mesh_kind_vtu,
    &sinew_mesh_kind_obj,  &sinew_mesh_kind_ply,    &sinew_mesh_kind_stl,   &sinew_mesh_kind_off, &sinew_mesh_kind_gltf,
};
enum {
    KIND_COUNT = sizeof kinds / sizeof kinds[0]
};

/* Ending of a path: the file name from its last dot on; "" if it has no dot. */
static const char *ending_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash + 1 : path, '.');
    return dot ? dot : "";
}

bool sinew_path_with_ending(const char *path, const char *ending, char *buffer, size_t size)
{
    int stem = (int)(strlen(path) - strlen(ending_of(path)));
    int length = snprintf(buffer, size, "%.*s%s", stem, path, ending);
    return length >= 0 && (size_t)length < size;
}

/* Lists the file name endings that can be written, if `written`, else those that can be read, for error messages. */
static void list_endings(bool written, char *buffer, size_t size)
{
    size_t used = 0;
    buffer[0] = '\0';
    for (int i = 0; i < KIND_COUNT; i++)
        for (int e = 0; e < SINEW_MESH_ENDINGS && kinds[i]->endings[e]; e++)
            if ((!written || kinds[i]->print[0]) && used < size)
                used += (size_t)snprintf(buffer + used, size - used, " %s", kinds[i]->endings[e]);
}

static const sinew_mesh_kind *find_kind(const char *path, bool written, sinew_error *error)
{
    const char *ending = ending_of(path);
    for (int i = 0; i < KIND_COUNT; i++)
        for (int e = 0; e < SINEW_MESH_ENDINGS && kinds[i]->endings[e]; e++)
            if (strcasecmp(ending, kinds[i]->endings[e]) == 0 && (!written || kinds[i]->print[0]))
                return kinds[i];
    char endings[256];
    list_endings(written, endings, sizeof endings);
    sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s: meshes are not %s files with the ending '%s'; use one of%s", path,
               written ? "written to" : "read from", ending, endings);
    return NULL;
}

/* ---- Reading of mesh files ----------------------------------------------------------------------- */

bool sinew_source_fill(const sinew_source *source, sinew_builder *builder)
{
    const sinew_mesh_kind *kind = find_kind(source->name, false, builder->error);
    if (!kind)
        return false;
    if (source->size == 0) {
        sinew_fail(builder->error, SINEW_ERROR_FORMAT, "%s: the file is empty", source->name);
        return false;
    }
    return kind->read(source, builder);
}

sinew_mesh *sinew_mesh_parse(const sinew_source *source, const sinew_allocator *allocator, sinew_error *error)
{
    sinew_builder builder;
    sinew_builder_open(&builder, allocator, error);
    sinew_mesh *mesh = sinew_source_fill(source, &builder) ? sinew_builder_finish(&builder, source->name) : NULL;
    sinew_builder_close(&builder);
    return mesh;
}

static char *open_file(void *context, const char *path, bool named, const sinew_allocator *allocator, size_t *size,
                       sinew_error *error)
{
    (void)context;
    return (named ? sinew_file_read_beside : sinew_file_read)(path, allocator, size, error);
}

bool sinew_source_read(const char *path, const sinew_allocator *allocator, sinew_source *source, char **bytes,
                       sinew_error *error)
{
    *source = (sinew_source){.name = path, .open = open_file};
    /* The file name's ending is checked first, so that a wrong file is not read. */
    if (!find_kind(path, false, error))
        return false;
    *bytes = sinew_file_read(path, allocator, &source->size, error);
    source->bytes = *bytes;
    return *bytes != NULL;
}

sinew_mesh *sinew_mesh_read(const char *path, const sinew_allocator *allocator, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(path)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "sinew_mesh_read: the path is NULL");
        return NULL;
    }
    sinew_allocator memory = sinew_allocator_or_system(allocator);
    sinew_source source;
    char *bytes;
    if (!sinew_source_read(path, &memory, &source, &bytes, error))
        return NULL;
    sinew_mesh *mesh = sinew_mesh_parse(&source, &memory, error);
    sinew_release(&memory, bytes);
    return mesh;
}

/* ---- Writing of mesh files ----------------------------------------------------------------------- */

/* Writes the file, or all files, of a mesh format. All are written out under temporary names before the first is
 * renamed: a disk that is full changes none of them. */
static sinew_status file_formats_write_files(const sinew_mesh_kind *kind, const sinew_mesh *mesh, const char *path,
                                             sinew_mesh_format format, sinew_error *error)
{
    sinew_writer writers[SINEW_MESH_ENDINGS];
    int count = 0;
    sinew_status status = SINEW_OK;
    for (int i = 0; i < SINEW_MESH_ENDINGS && kind->print[i] && status == SINEW_OK; i++) {
        char file_path[1024];
        if (!sinew_path_with_ending(path, kind->several_files ? kind->endings[i] : ending_of(path), file_path,
                                    sizeof file_path))
            status = sinew_fail(error, SINEW_ERROR_FILE, "%.60s...: the path is too long", path);
        else
            status = sinew_writer_open(&writers[i], file_path, error);
        if (status != SINEW_OK)
            break;
        count++;
        kind->print[i](mesh, writers[i].stream, format);
        status = sinew_writer_flush(&writers[i], error);
    }
    for (int i = 0; i < count; i++) {
        if (status == SINEW_OK)
            status = sinew_writer_commit(&writers[i], error);
        else
            sinew_writer_abandon(&writers[i]);
    }
    return status;
}

/* True if every coordinate of the mesh lies within the range of single precision. */
static bool fits_single_precision(const sinew_mesh *mesh)
{
    const sinew_real *q = sinew_mesh_positions(mesh);
    for (size_t i = 0; i < 3 * (size_t)sinew_mesh_vertex_count(mesh); i++)
        if (fabs((double)q[i]) > (double)FLT_MAX)
            return false;
    return true;
}

static sinew_status check_write_request(const sinew_mesh_kind *kind, const sinew_mesh *mesh, const char *path,
                                        sinew_mesh_format format, sinew_error *error)
{
    if (format != SINEW_MESH_BY_ENDING && ((unsigned)format >= 32 || !(kind->variants & 1u << format)))
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s: the format asked for is not one of '%s' files; leave it to the ending", path,
                          ending_of(path));
    if (kind->only_triangles && sinew_mesh_triangle_count(mesh) == 0)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s: '%s' files hold only triangles and the mesh has none",
                          path, ending_of(path));
    if (kind->only_triangles && !fits_single_precision(mesh))
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED,
                          "%s: '%s' files are single precision, which cannot hold a coordinate of the mesh", path,
                          ending_of(path));
    return SINEW_OK;
}

/* Writes a mesh file in the C locale, so numbers do not depend on the host's locale; only this thread's locale is
 * changed, then restored. */
static sinew_status write_in_c_locale(const sinew_mesh_kind *kind, const sinew_mesh *mesh, const char *path,
                                      sinew_mesh_format format, sinew_error *error)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return sinew_fail_memory(error, "the C locale");
    locale_t before = uselocale(plain);
    sinew_status status = file_formats_write_files(kind, mesh, path, format, error);
    uselocale(before);
    freelocale(plain);
    return status;
}

sinew_status sinew_mesh_write(const sinew_mesh *mesh, const char *path, sinew_mesh_format format, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(mesh) || !SINEW_ASSERT(path))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_mesh_write: the mesh or the path is NULL");
    const sinew_mesh_kind *kind = find_kind(path, true, error);
    if (!kind)
        return SINEW_ERROR_UNSUPPORTED;
    sinew_mesh *surface = NULL;
    if (kind->surface && sinew_mesh_tet_count(mesh) > 0 && sinew_mesh_triangle_count(mesh) == 0) {
        sinew_error trouble = {SINEW_ERROR_MEMORY, ""};
        surface = sinew_mesh_surface(mesh, &trouble);
        if (!surface)
            return sinew_fail(error, trouble.status, "%s: %s", path, trouble.text);
        mesh = surface;
    }
    sinew_status status = check_write_request(kind, mesh, path, format, error);
    if (status == SINEW_OK)
        status = write_in_c_locale(kind, mesh, path, format, error);
    sinew_mesh_destroy(surface);
    return status;
}
