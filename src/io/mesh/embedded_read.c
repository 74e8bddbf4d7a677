/* SPDX-License-Identifier: MIT
 *
 * embedded_read.c: sinew_skin_read() runs the mesh readers (file_formats.h) with a builder that keeps faces, names
 * and values.
 *
 * A skin may take about 20 times the memory of its file, because a triangle of eight characters stores corners, a face
 * and names.
 */
#include "io/mesh/embedded_read.h"

#include "io/mesh/embedded_builder.h"
#include "mesh/mesh.h"

sinew_skin_def sinew_default_skin_def(void)
{
    return (sinew_skin_def){.cookie = SINEW_COOKIE_SKIN, .scale = 1};
}

sinew_skin *sinew_skin_parse(const sinew_source *source, const sinew_allocator *allocator, sinew_error *error)
{
    sinew_builder builder;
    sinew_embedded_builder faces;
    sinew_builder_open(&builder, allocator, error);
    sinew_skin_builder_open(&faces);
    builder.skin = &faces;
    sinew_skin *skin = sinew_source_fill(source, &builder) ? sinew_skin_builder_finish(&builder, source->name) : NULL;
    sinew_skin_builder_close(&builder, &faces);
    sinew_builder_close(&builder);
    return skin;
}

sinew_skin *sinew_skin_read(const sinew_skin_def *def, sinew_error *error)
{
    sinew_error_clear(error);
    if (!SINEW_ASSERT(def && def->cookie == SINEW_COOKIE_SKIN && def->path)) {
        sinew_fail(error, SINEW_ERROR_USAGE, "sinew_skin_read: fill the def with sinew_default_skin_def() and a path");
        return NULL;
    }
    if (sinew_orient_points(def->up, def->scale, 0, NULL, error) != SINEW_OK)
        return NULL;
    const sinew_allocator memory = sinew_allocator_or_system(&def->allocator);
    sinew_source source;
    char *bytes;
    if (!sinew_source_read(def->path, &memory, &source, &bytes, error))
        return NULL;
    sinew_skin *skin = sinew_skin_parse(&source, &memory, error);
    sinew_release(&memory, bytes);
    if (skin &&
        sinew_orient_points(def->up, def->scale, skin->mesh->vertex_count, skin->mesh->positions, error) != SINEW_OK) {
        sinew_skin_destroy(skin);
        return NULL;
    }
    return skin;
}
