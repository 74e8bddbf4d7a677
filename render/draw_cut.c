/* SPDX-License-Identifier: MIT
 *
 * draw_cut.c: draws the tets of a body that remain after a cut by a plane.
 *
 * The cut removes each tet whose centroid is beyond the plane. The drawn faces are those that belong to exactly one
 * remaining tet. Faces of the body's surface have smooth normals; faces that the cut exposes are flat, with edges and
 * the value of their tet.
 */
#include "draw_world.h"

#include <stdlib.h>
#include <string.h>

#include "fail.h"

typedef struct tet_face {
    int32_t key[3];     /* particles at the corners of the tet's face, ascending */
    int32_t corners[3]; /* particles at the corners of the tet's face, in outward order */
    int32_t tet;
    bool kept; /* true: the cut keeps the face's tet */
} tet_face;

static int compare_faces(const void *a, const void *b)
{
    const tet_face *p = a, *q = b;
    for (int i = 0; i < 3; i++)
        if (p->key[i] != q->key[i])
            return p->key[i] < q->key[i] ? -1 : 1;
    return p->tet < q->tet ? -1 : p->tet > q->tet;
}

static void cut_sort_three(int32_t *v)
{
    for (int i = 0; i < 3; i++) {
        int32_t *a = v + i % 2, *b = a + 1;
        if (*a > *b) {
            const int32_t t = *a;
            *a = *b;
            *b = t;
        }
    }
}

static bool keeps_tet(drawing *d, const int32_t *corners, int32_t first)
{
    double middle[3] = {0};
    for (int i = 0; i < 4; i++) {
        if (!d->fine[first + corners[i]]) {
            d->left_out++;
            return false;
        }
        for (int c = 0; c < 3; c++)
            middle[c] += drawing_point(d, first + corners[i])[c] / 4;
    }
    return !drawing_cuts(d, middle);
}

static void list_faces(drawing *d, const drawn_body *body, const sinew_mesh *mesh, tet_face *faces)
{
    static const uint8_t sides[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        const int32_t *corners = sinew_mesh_tets(mesh) + 4 * (size_t)t;
        const bool kept = keeps_tet(d, corners, body->first);
        for (int side = 0; side < 4; side++) {
            tet_face *face = &faces[4 * (size_t)t + (size_t)side];
            for (int i = 0; i < 3; i++)
                face->key[i] = face->corners[i] = body->first + corners[sides[side][i]];
            cut_sort_three(face->key);
            face->tet = t;
            face->kept = kept;
        }
    }
    qsort(faces, 4 * (size_t)sinew_mesh_tet_count(mesh), sizeof *faces, compare_faces);
}

/* Draws the faces that belong to exactly one kept tet: either faces of the body's surface or (shown) faces that the cut
 * exposes. */
static void draw_faces(drawing *d, const drawn_body *body, const tet_face *faces, int64_t count, bool shown)
{
    const float *at_tet = d->field.at_tet ? d->field.at_tet + d->field.first_tet[body->id.index] : NULL;
    for (int64_t first = 0, last; first < count; first = last) {
        const tet_face *face = NULL;
        int kept = 0;
        for (last = first; last < count && memcmp(faces[last].key, faces[first].key, sizeof faces->key) == 0; last++)
            if (faces[last].kept) {
                face = &faces[last];
                kept++;
            }
        if (kept != 1 || shown != (last - first > 1))
            continue;
        const int32_t t = drawing_add_triangle(d, face->corners, shown ? body->cut_paint : body->skin_paint);
        for (int i = 0; i < 3 && t >= 0; i++)
            d->shape->values[3 * (size_t)t + (size_t)i] =
                shown && at_tet ? at_tet[face->tet] : drawing_value(d, face->corners[i]);
    }
}

sinew_status draw_cut_body(drawing *d, const drawn_body *body)
{
    const sinew_mesh *mesh = sinew_body_mesh(d->world, body->id);
    const int64_t count = 4 * (int64_t)sinew_mesh_tet_count(mesh);
    tet_face *faces = malloc((size_t)count * sizeof *faces + 1);
    if (!faces)
        return picture_fail_memory(d->error, "a cut");
    list_faces(d, body, mesh, faces);
    const int32_t begin = d->shape->triangle_count;
    draw_faces(d, body, faces, count, false);
    shape_smooth(d->shape, begin, d->shape->triangle_count, d->def->crease);
    draw_faces(d, body, faces, count, true);
    free(faces);
    return SINEW_OK;
}
