/* SPDX-License-Identifier: MIT
 *
 * usda_text.c: writes the text of a USD cache.
 *
 *     #usda 1.0
 *     ( upAxis, metersPerUnit, timeCodesPerSecond, ... )
 *     def Xform "scene" {
 *         def Mesh "body" { extent, faces, points and velocities as time samples, primvars:st, GeomSubsets }
 *         def BasisCurves "rope" { the same with curveVertexCounts }
 *         def Scope "materials" { ... }
 *     }
 *
 * Time code k is frame number k, as in the file names of other formats. Extent and points also have the first sample as
 * default value, for readers that ignore samples.
 */
#include "io/cache/usda.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* ---- Numbers and lists of the USD text ----------------------------------------------------------- */

static sinew_status put_double(sinew_writer *writer, const char *before, double value, const char *after,
                               sinew_error *error)
{
    char number[SINEW_CACHE_NUMBER];
    sinew_cache_format_digits(number, value, 9);
    return sinew_cache_print(writer, error, "%s%s%s", before, number, after);
}

/* Writes a USD tuple such as (x, y, z) with `width` numbers; no comma follows if `last`. */
static sinew_status put_tuple(sinew_writer *writer, const float *values, int width, bool last, sinew_error *error)
{
    char text[3 * SINEW_CACHE_NUMBER + 16];
    int length = 0;
    text[length++] = '(';
    for (int i = 0; i < width; i++) {
        if (i > 0) {
            text[length++] = ',';
            text[length++] = ' ';
        }
        length += sinew_cache_format_float(text + length, values[i]);
    }
    text[length++] = ')';
    if (!last) {
        text[length++] = ',';
        text[length++] = ' ';
    }
    return sinew_cache_put(writer, text, (size_t)length, error);
}

static sinew_status put_integers(sinew_writer *writer, const char *head, const int32_t *values, int64_t count,
                                 sinew_error *error)
{
    sinew_status status = sinew_cache_print(writer, error, "%s = [", head);
    for (int64_t i = 0; i < count && status == SINEW_OK; i++)
        status = sinew_cache_print(writer, error, i ? ", %d" : "%d", (int)values[i]);
    return status == SINEW_OK ? sinew_cache_print(writer, error, "]\n") : status;
}

/* ---- Attributes with time samples ---------------------------------------------------------------- */

/* Reads the positions or velocities of a prim in one frame from the side file into own->bytes. */
static sinew_status usda_text_fetch(sinew_usda *own, FILE *side, const sinew_usda_prim *prim, int32_t frame, int array,
                                    sinew_error *error)
{
    const size_t size = 12 * (size_t)prim->vertex_count;
    if (fseeko(side, (off_t)sinew_usda_offset(own, frame, array, prim->first_vertex), SEEK_SET) == 0 &&
        fread(own->bytes, 1, size, side) == size)
        return SINEW_OK;
    return sinew_fail(error, SINEW_ERROR_FILE, "%s: cannot read it back: %s", own->side.partial,
                      ferror(side) ? strerror(errno) : "it has become shorter");
}

static void load_vector(const unsigned char *bytes, float vector[3])
{
    for (size_t axis = 0; axis < 3; axis++)
        vector[axis] = sinew_cache_load_float(bytes + 4 * axis);
}

/* Writes the vectors in own->bytes as USD tuples. */
static sinew_status put_vectors(sinew_usda *own, const sinew_usda_prim *prim, sinew_error *error)
{
    sinew_status status = SINEW_OK;
    for (int32_t i = 0; i < prim->vertex_count && status == SINEW_OK; i++) {
        float vector[3];
        load_vector(own->bytes + 12 * (size_t)i, vector);
        status = put_tuple(&own->text, vector, 3, i + 1 == prim->vertex_count, error);
    }
    return status;
}

/* Writes the bounding box of the points in own->bytes; for curves it includes their width. */
static sinew_status put_extent(sinew_usda *own, const sinew_usda_prim *prim, sinew_error *error)
{
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (int32_t i = 0; i < prim->vertex_count; i++) {
        float point[3];
        load_vector(own->bytes + 12 * (size_t)i, point);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = fminf(low[axis], point[axis] - (float)(prim->width / 2));
            high[axis] = fmaxf(high[axis], point[axis] + (float)(prim->width / 2));
        }
    }
    const sinew_status status = put_tuple(&own->text, low, 3, false, error);
    return status == SINEW_OK ? put_tuple(&own->text, high, 3, true, error) : status;
}

typedef struct usda_attribute {
    const char *head; /* USD type and name of the attribute */
    int array;        /* index of the attribute's array in the side file */
    sinew_status (*put)(sinew_usda *own, const sinew_usda_prim *prim, sinew_error *error);
    bool timeless; /* true: the attribute also has a default value, for readers that ignore time samples */
} usda_attribute;

static const usda_attribute extent_attribute = {"float3[] extent", SINEW_USDA_POINTS, put_extent, true};
static const usda_attribute points_attribute = {"point3f[] points", SINEW_USDA_POINTS, put_vectors, true};
static const usda_attribute velocities_attribute = {"vector3f[] velocities", SINEW_USDA_VELOCITIES, put_vectors, false};

/* Source of the USD text: the cache, its prims and the frames in the side file. */
typedef struct usda_source {
    const sinew_cache *cache;
    sinew_usda *own;
    FILE *side;
    int32_t frames; /* number of time samples; 0: the values have no time */
} usda_source;

static sinew_status put_attribute(const usda_source *from, const sinew_usda_prim *prim, const usda_attribute *attribute,
                                  sinew_error *error)
{
    sinew_usda *own = from->own;
    sinew_status status = SINEW_OK;
    if (attribute->timeless || from->frames == 0) {
        status = usda_text_fetch(own, from->side, prim, 0, attribute->array, error);
        if (status == SINEW_OK)
            status = sinew_cache_print(&own->text, error, "        %s = [", attribute->head);
        if (status == SINEW_OK)
            status = attribute->put(own, prim, error);
        if (status == SINEW_OK)
            status = sinew_cache_print(&own->text, error, "]\n");
    }
    if (status == SINEW_OK && from->frames > 0)
        status = sinew_cache_print(&own->text, error, "        %s.timeSamples = {\n", attribute->head);
    for (int32_t k = 0; k < from->frames && status == SINEW_OK; k++) {
        status = usda_text_fetch(own, from->side, prim, k, attribute->array, error);
        if (status == SINEW_OK)
            status = sinew_cache_print(&own->text, error, "            %lld: [", (long long)from->cache->first + k);
        if (status == SINEW_OK)
            status = attribute->put(own, prim, error);
        if (status == SINEW_OK)
            status = sinew_cache_print(&own->text, error, "],\n");
    }
    return status == SINEW_OK && from->frames > 0 ? sinew_cache_print(&own->text, error, "        }\n") : status;
}

/* ---- Texture coordinates and subsets of faces ---------------------------------------------------- */

/* Writes the texture coordinates of a prim's corners; corners without texture coordinates refer to an appended (0,
 * 0). */
static sinew_status put_uvs(sinew_usda *own, const sinew_usda_prim *prim, sinew_error *error)
{
    const sinew_cache_shape *shape = &own->shape;
    const int64_t from = shape->starts[prim->first_face], to = shape->starts[prim->first_face + prim->face_count];
    int32_t low = INT32_MAX, high = -1;
    bool bare = false;
    for (int64_t i = from; shape->corner_uvs && i < to; i++) {
        const int32_t uv = shape->corner_uvs[i];
        bare = bare || uv < 0;
        low = uv >= 0 && uv < low ? uv : low;
        high = uv > high ? uv : high;
    }
    if (high < 0)
        return SINEW_OK;
    sinew_status status = sinew_cache_print(&own->text, error, "        texCoord2f[] primvars:st = [");
    for (int32_t i = low; i <= high && status == SINEW_OK; i++)
        status = put_tuple(&own->text, shape->uvs + 2 * (size_t)i, 2, i == high && !bare, error);
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->text, error,
                                   "%s] (\n            interpolation = \"faceVarying\"\n        )\n"
                                   "        int[] primvars:st:indices = [",
                                   bare ? "(0, 0)" : "");
    for (int64_t i = from; i < to && status == SINEW_OK; i++) {
        const int32_t uv = shape->corner_uvs[i];
        status = sinew_cache_print(&own->text, error, i > from ? ", %d" : "%d", (int)((uv < 0 ? high + 1 : uv) - low));
    }
    return status == SINEW_OK ? sinew_cache_print(&own->text, error, "]\n") : status;
}

/* Writes the faces of a prim that have one name as a USD GeomSubset. */
static sinew_status put_subset(const usda_source *from, const sinew_usda_prim *prim, int set, int32_t name,
                               sinew_name_list *names, sinew_error *error)
{
    static const char *const families[SINEW_SKIN_SET_COUNT] = {
        [SINEW_SKIN_GROUP] = "group", [SINEW_SKIN_MATERIAL] = "materialBind"};
    sinew_usda *own = from->own;
    const bool binds = set == SINEW_SKIN_MATERIAL;
    const int32_t *faces = own->shape.face_names[set];
    const int32_t at = sinew_usda_add_name(from->cache, names, sinew_names_get(&own->shape.names[set], name), "subset");
    if (at < 0)
        return sinew_fail_memory(error, "the names of a USD cache");
    sinew_status status = sinew_cache_print(
        &own->text, error,
        "        def GeomSubset \"%s\"%s\n        {\n            uniform token elementType = \"face\"\n",
        sinew_names_get(names, at),
        binds ? " (\n            prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )" : "");
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->text, error,
                                   "            uniform token familyName = \"%s\"\n            int[] indices = [",
                                   families[set]);
    const char *comma = "";
    for (int64_t f = 0; f < prim->face_count && status == SINEW_OK; f++)
        if (faces[prim->first_face + f] == name) {
            status = sinew_cache_print(&own->text, error, "%s%lld", comma, (long long)f);
            comma = ", ";
        }
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->text, error, "]\n");
    if (status == SINEW_OK && binds)
        status =
            sinew_cache_print(&own->text, error, "            rel material:binding = </%s/" SINEW_USDA_SCOPE "/%s>\n",
                              sinew_names_get(&own->material_names, own->root),
                              sinew_names_get(&own->material_names, own->materials[name]));
    return status == SINEW_OK ? sinew_cache_print(&own->text, error, "        }\n") : status;
}

/* Writes one USD GeomSubset per name of the prim's faces, in the order of their first faces. */
static sinew_status put_subsets(const usda_source *from, const sinew_usda_prim *prim, sinew_error *error)
{
    sinew_usda *own = from->own;
    sinew_name_list names = {0};
    sinew_status status = SINEW_OK;
    for (int set = 0; set < SINEW_SKIN_SET_COUNT && status == SINEW_OK; set++) {
        const int32_t count = own->shape.names[set].count, *faces = own->shape.face_names[set];
        if (!faces || count == 0)
            continue;
        uint8_t *done = sinew_allocate_zero(&from->cache->allocator, (size_t)count, 1);
        status = done ? SINEW_OK : sinew_fail_memory(error, "the subsets of a USD cache");
        for (int64_t f = prim->first_face; f < prim->first_face + prim->face_count && status == SINEW_OK; f++) {
            if (faces[f] < 0 || done[faces[f]])
                continue;
            done[faces[f]] = 1;
            status = put_subset(from, prim, set, faces[f], &names, error);
        }
        sinew_release(&from->cache->allocator, done);
    }
    sinew_names_release(&from->cache->allocator, &names);
    return status;
}

static sinew_status put_materials(const usda_source *from, sinew_error *error)
{
    sinew_usda *own = from->own;
    const int32_t count = own->shape.names[SINEW_SKIN_MATERIAL].count;
    if (count == 0)
        return SINEW_OK;
    sinew_status status = sinew_cache_print(&own->text, error, "\n    def Scope \"" SINEW_USDA_SCOPE "\"\n    {\n");
    for (int32_t i = 0; i < count && status == SINEW_OK; i++)
        status = sinew_cache_print(&own->text, error, "        def Material \"%s\"\n        {\n        }\n",
                                   sinew_names_get(&own->material_names, own->materials[i]));
    return status == SINEW_OK ? sinew_cache_print(&own->text, error, "    }\n") : status;
}

/* ---- Prims and the whole USD file ---------------------------------------------------------------- */

static sinew_status put_faces(sinew_usda *own, const sinew_usda_prim *prim, sinew_error *error)
{
    const int32_t *starts = own->shape.starts + prim->first_face;
    sinew_status status = sinew_cache_print(&own->text, error, "        int[] faceVertexCounts = [");
    for (int64_t f = 0; f < prim->face_count && status == SINEW_OK; f++)
        status = sinew_cache_print(&own->text, error, f ? ", %d" : "%d", (int)(starts[f + 1] - starts[f]));
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->text, error, "]\n");
    if (status == SINEW_OK)
        status = put_integers(&own->text, "        int[] faceVertexIndices", own->shape.corners + starts[0],
                              starts[prim->face_count] - starts[0], error);
    if (status == SINEW_OK)
        status = put_uvs(own, prim, error);
    return status == SINEW_OK ? sinew_cache_print(&own->text, error,
                                                  "        uniform bool doubleSided = 1\n"
                                                  "        uniform token subdivisionScheme = \"none\"\n")
                              : status;
}

static sinew_status usda_text_put_curves(sinew_usda *own, const sinew_usda_prim *prim, sinew_error *error)
{
    sinew_status status = put_integers(&own->text, "        int[] curveVertexCounts",
                                       own->curve_counts + prim->first_face, prim->face_count, error);
    if (status == SINEW_OK)
        status = put_double(&own->text, "        float[] widths = [", (double)(float)prim->width,
                            "] (\n            interpolation = \"constant\"\n        )\n", error);
    return status == SINEW_OK ? sinew_cache_print(&own->text, error,
                                                  "        uniform token type = \"linear\"\n"
                                                  "        uniform token wrap = \"nonperiodic\"\n")
                              : status;
}

static sinew_status put_prim(const usda_source *from, const sinew_usda_prim *prim, sinew_error *error)
{
    sinew_usda *own = from->own;
    sinew_status status =
        sinew_cache_print(&own->text, error, "\n    def %s \"%s\"\n    {\n", prim->curves ? "BasisCurves" : "Mesh",
                          sinew_names_get(&own->names, prim->name));
    if (status == SINEW_OK)
        status = prim->curves ? usda_text_put_curves(own, prim, error) : put_faces(own, prim, error);
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->text, error,
                                   "        color3f[] primvars:displayColor = [(0.75, 0.35, 0.25)] (\n"
                                   "            interpolation = \"constant\"\n        )\n");
    if (status == SINEW_OK)
        status = put_attribute(from, prim, &extent_attribute, error);
    if (status == SINEW_OK)
        status = put_attribute(from, prim, &points_attribute, error);
    if (status == SINEW_OK)
        status = put_attribute(from, prim, &velocities_attribute, error);
    if (status == SINEW_OK && !prim->curves)
        status = put_subsets(from, prim, error);
    return status == SINEW_OK ? sinew_cache_print(&own->text, error, "    }\n") : status;
}

static sinew_status usda_text_put_head(const usda_source *from, sinew_error *error)
{
    sinew_usda *own = from->own;
    const sinew_cache *cache = from->cache;
    const char *root = sinew_names_get(&own->material_names, own->root);
    const double fps = sinew_cache_fps(cache);
    const long long first = cache->first, last = first + (from->frames > 0 ? from->frames - 1 : 0);
    sinew_status status = sinew_cache_print(&own->text, error,
                                            "#usda 1.0\n(\n    defaultPrim = \"%s\"\n    doc = \"sinew %s\"\n"
                                            "    endTimeCode = %lld\n",
                                            root, SINEW_VERSION, last);
    if (status == SINEW_OK)
        status = put_double(&own->text, "    framesPerSecond = ", fps, "\n    metersPerUnit = 1\n", error);
    if (status == SINEW_OK)
        status = sinew_cache_print(&own->text, error, "    startTimeCode = %lld\n", first);
    if (status == SINEW_OK)
        status = put_double(&own->text, "    timeCodesPerSecond = ", fps, "\n    upAxis = \"Y\"\n)\n\n", error);
    return status == SINEW_OK ? sinew_cache_print(&own->text, error, "def Xform \"%s\"\n{", root) : status;
}

sinew_status sinew_usda_write(const sinew_cache *cache, sinew_usda *own, FILE *side, int32_t frames, sinew_error *error)
{
    const usda_source from = {cache, own, side, frames};
    sinew_status status = usda_text_put_head(&from, error);
    for (int32_t i = 0; i < own->prim_count && status == SINEW_OK; i++)
        status = put_prim(&from, &own->prims[i], error);
    if (status == SINEW_OK)
        status = put_materials(&from, error);
    return status == SINEW_OK ? sinew_cache_print(&own->text, error, "}\n") : status;
}
