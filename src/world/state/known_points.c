/* SPDX-License-Identifier: MIT
 *
 * known_points.c: state sections with one point per particle of a body (known_points.h). The bytes of a section are
 * untrusted.
 */
#include "world/state/known_points.h"

#include <math.h>
#include <string.h>

void sinew_known_points_put(const sinew_world *world, const sinew_real *points, const char *tag, int32_t index,
                            sinew_section_writer *writer)
{
    const sinew_body_record *body = &world->bodies[index];
    sinew_section_begin(writer, tag, true, (uint32_t)index);
    char *at = sinew_section_reserve(writer, 4 * (size_t)body->count * sizeof(sinew_real));
    for (int32_t i = body->first; at && i < body->first + body->count; i++, at += 4 * sizeof(sinew_real))
        memcpy(at, points + 4 * (size_t)world->inside[i], 4 * sizeof(sinew_real));
    sinew_section_end(writer);
}

sinew_status sinew_known_points_check(const char *tag, const char *what, int32_t index, size_t particles,
                                      sinew_section_reader *reader, sinew_error *error)
{
    size_t size;
    const char *content = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    if (!content)
        return SINEW_OK;
    if (size != 4 * particles * sizeof(sinew_real))
        return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: %s of body %d are not one per particle", what,
                          (int)index);
    for (size_t i = 0; i < 4 * particles; i++) {
        sinew_real value;
        memcpy(&value, content + i * sizeof value, sizeof value);
        if (!isfinite(value) || (i % 4 == 3 && value != 0 && value != 1))
            return sinew_fail(error, SINEW_ERROR_FORMAT, "is damaged: %s of body %d are no numbers", what, (int)index);
    }
    return SINEW_OK;
}

void sinew_known_points_take(const sinew_world *world, sinew_real *points, const char *tag, int32_t index,
                             sinew_section_reader *reader)
{
    const sinew_body_record *body = &world->bodies[index];
    size_t size;
    const char *at = sinew_sections_find(reader, tag, (uint32_t)index, &size);
    for (int32_t i = body->first; points && i < body->first + body->count; i++) {
        sinew_real *point = points + 4 * (size_t)world->inside[i];
        memset(point, 0, 4 * sizeof *point);
        if (at)
            memcpy(point, at + 4 * (size_t)(i - body->first) * sizeof *point, 4 * sizeof *point);
    }
}
