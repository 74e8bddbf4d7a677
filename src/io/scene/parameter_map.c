/* SPDX-License-Identifier: MIT
 *
 * parameter_map.c: reads parameters that vary over a body: {"paint": NAME} of a surface's vertices, or {"image": FILE}
 * at their texture coordinates.
 *
 * Both give one number per surface vertex. With an embedded surface, an element gets the value at the surface point
 * nearest to its centre. Without one, the body's mesh file is the surface: an element gets the mean of its vertices,
 * also where layers of the surface lie on each other.
 */
#include <string.h>

#include "io/image.h"
#include "io/scene/reader.h"
#include "io/mesh/embedded_sample.h"

/* Sums the image values at the face corners of each surface vertex; fails at a corner without a texture coordinate. */
static bool sum_image_at_corners(sinew_reader *reader, const sinew_node *node, const sinew_skin *skin,
                                 const sinew_image *image, int32_t channel, float *sums, int32_t *counts)
{
    const int32_t *corners = sinew_skin_corners(skin), *corner_uvs = sinew_skin_corner_uvs(skin);
    const int32_t total = sinew_skin_face_starts(skin)[sinew_skin_face_count(skin)];
    int32_t uv_count;
    const float *uvs = sinew_skin_uvs(skin, &uv_count);
    if (!uvs || !corner_uvs)
        return sinew_tree_fail(&reader->tree, node,
                               "the surface has no texture coordinates to place an image by (vt of OBJ, TEXCOORD_0 of "
                               "glTF)");
    for (int32_t i = 0; i < total; i++) {
        const int32_t uv = corner_uvs[i];
        if (uv < 0)
            return sinew_tree_fail(&reader->tree, node, "vertex %d of the surface has no texture coordinate in a face",
                                   corners[i]);
        sums[corners[i]] +=
            (float)sinew_image_at(image, channel, (double)uvs[2 * (size_t)uv], (double)uvs[2 * (size_t)uv + 1]);
        counts[corners[i]]++;
    }
    return true;
}

/* Returns one image value per surface vertex, which the caller releases: the mean over its corners, which differ at
 * seams of texture coordinates.
 */
static float *sample_image_at_vertices(sinew_reader *reader, const sinew_node *map, const sinew_skin *skin)
{
    const sinew_node *file = sinew_node_get(map, "image"), *word = sinew_node_get(map, "channel");
    const int32_t channel = word ? sinew_keyword_index(sinew_node_text(word), SINEW_CHANNEL_NAMES) : 0;
    const size_t count = (size_t)sinew_skin_vertex_count(skin);
    char path[1024];
    sinew_image image;
    if (!sinew_reader_path(reader, file, path, sizeof path))
        return NULL;
    if (sinew_image_read(&image, path, &reader->allocator, reader->error) != SINEW_OK) {
        sinew_tree_blame(&reader->tree, file);
        return NULL;
    }
    float *values = sinew_reader_allocate(reader, count, sizeof *values, "an image on a surface");
    int32_t *counts = values ? sinew_reader_allocate(reader, count, sizeof *counts, "an image on a surface") : NULL;
    bool good = counts != NULL;
    if (good) {
        memset(values, 0, count * sizeof *values);
        memset(counts, 0, count * sizeof *counts);
        good = sum_image_at_corners(reader, file, skin, &image, channel, values, counts);
    }
    for (size_t i = 0; good && i < count; i++)
        values[i] /= (float)(counts[i] > 1 ? counts[i] : 1);
    sinew_release(&reader->allocator, counts);
    sinew_release(&reader->allocator, image.bytes);
    if (good)
        return values;
    sinew_release(&reader->allocator, values);
    return NULL;
}

/* Computes the mean of the painted values over each element's vertices; directors have no painted value and are
 * skipped. */
static bool average_over_elements(sinew_reader *reader, const sinew_node *map, const sinew_skin *skin,
                                  const float *painted, const sinew_selectable *elements, sinew_real *values)
{
    const sinew_mesh *mesh = sinew_body_mesh(reader->scene->world, elements->body);
    const int32_t count = sinew_skin_vertex_count(skin);
    const int32_t own = sinew_mesh_vertex_count(mesh) - sinew_mesh_director_count(mesh);
    if (count != own)
        return sinew_tree_fail(&reader->tree, map, "the surface of the mesh's file has %d vertices, the body %d", count,
                               own);
    for (int32_t i = 0; i < elements->count; i++) {
        const int32_t *cell = elements->cells + (size_t)i * (size_t)elements->width;
        const int32_t size = sinew_stencil_size(elements->stencil, cell, elements->width);
        double sum = 0;
        int32_t found = 0;
        for (int32_t k = 0; k < size; k++)
            if (cell[k] < count) {
                sum += (double)painted[cell[k]];
                found++;
            }
        values[i] = (sinew_real)(sum / (found > 1 ? found : 1));
    }
    return true;
}

static bool find_element_values(sinew_reader *reader, const sinew_node *map, const sinew_skin *skin, bool embedded,
                                const sinew_selectable *elements, sinew_real *values)
{
    const sinew_node *paint = sinew_node_get(map, "paint"), *channel = sinew_node_get(map, "channel");
    if (paint && channel)
        return sinew_tree_fail(&reader->tree, channel, "belongs to \"image\"; paint has its channels by name");
    float *image = paint ? NULL : sample_image_at_vertices(reader, map, skin);
    const float *painted = paint ? sinew_reader_painted(reader, paint, skin) : image;
    bool good = painted != NULL;
    if (good && embedded)
        good = sinew_skin_sample(skin, painted, &reader->allocator, elements->count, elements->points, values,
                                 reader->error) == SINEW_OK;
    else if (good)
        good = average_over_elements(reader, map, skin, painted, elements, values);
    sinew_release(&reader->allocator, image);
    return good;
}

bool sinew_reader_map_values(sinew_reader *reader, const sinew_node *map, const sinew_node *body_node,
                             const sinew_selectable *elements, sinew_real *values)
{
    const sinew_skin *embedded = sinew_body_skin(reader->scene->world, elements->body);
    sinew_skin *own = embedded ? NULL : sinew_reader_own_skin(reader, map, body_node);
    const bool good =
        (embedded || own) && find_element_values(reader, map, embedded ? embedded : own, embedded, elements, values);
    sinew_skin_destroy(own);
    if (!good)
        return false;
    const sinew_node *low = sinew_node_get(map, "from"), *high = sinew_node_get(map, "to");
    const double from = low ? sinew_node_number(low) : 0, to = high ? sinew_node_number(high) : 1;
    for (int32_t i = 0; i < elements->count; i++)
        values[i] = (sinew_real)(from + (to - from) * (double)values[i]);
    return true;
}
