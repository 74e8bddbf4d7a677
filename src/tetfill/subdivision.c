/* SPDX-License-Identifier: MIT
 *
 * subdivision.c: subdivides a tet into 64 sub-tets of equal volume in two levels. Each level cuts a tet into four tets
 * at the corners and an octahedron, which is cut into four tets along one diagonal. Both sides of a face cut it into
 * the same sixteen triangles, so that sub-tets of neighbouring tets match in pairs.
 */
#include <string.h>

#include "tetfill/fill.h"

enum {
    WHOLE = 4 /* positions in the tet are integers, four times the barycentric weights, so their sum is this number */
};

/* Corners of a sub-tet as integer positions in the tet: four times their barycentric weights. */
typedef struct sub_tet {
    int8_t corner[4][4];
} sub_tet;

static void subdivision_middle(const int8_t a[4], const int8_t b[4], int8_t m[4])
{
    for (int i = 0; i < 4; i++)
        m[i] = (int8_t)((a[i] + b[i]) / 2);
}

/* Cuts a tet into eight sub-tets of equal volume. */
static void subdivision_cut(const sub_tet *whole, sub_tet sub_tets[8])
{
    /* Points 0 .. 3 are the tet's corners, 4 .. 9 the midpoints of its edges 01 02 03 12 13 23. */
    static const int8_t corners[8][4] = {{0, 4, 5, 6}, {4, 1, 7, 8}, {5, 7, 2, 9}, {6, 8, 9, 3},
                                         {4, 5, 6, 8}, {4, 5, 8, 7}, {5, 6, 8, 9}, {5, 7, 8, 9}};
    int8_t points[10][4];
    memcpy(points, whole->corner, sizeof whole->corner);
    for (int e = 0; e < 6; e++)
        subdivision_middle(whole->corner[sinew_tet_edges[e][0]], whole->corner[sinew_tet_edges[e][1]], points[4 + e]);
    for (int p = 0; p < 8; p++)
        for (int c = 0; c < 4; c++)
            memcpy(sub_tets[p].corner[c], points[corners[p][c]], sizeof points[0]);
}

static int common_corners(const sub_tet *a, const sub_tet *b)
{
    int found = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            found += memcmp(a->corner[i], b->corner[j], sizeof a->corner[i]) == 0;
    return found;
}

static void subdivision_list_links(fill_pattern *pattern, const sub_tet *sub_tets)
{
    int count = 0;
    int8_t used[FILL_SAMPLES] = {0};
    memset(pattern->link_of, -1, sizeof pattern->link_of);
    for (int a = 0; a < FILL_SAMPLES; a++)
        for (int b = a + 1; b < FILL_SAMPLES; b++)
            if (common_corners(&sub_tets[a], &sub_tets[b]) == 3) {
                pattern->link_of[a][used[a]++] = (int8_t)count;
                pattern->link_of[b][used[b]++] = (int8_t)count;
                pattern->links[count++] = (fill_link){(int8_t)a, (int8_t)b};
            }
    for (int v = 0; v < 4; v++)
        for (int a = 0; a < FILL_SAMPLES; a++)
            for (int c = 0; c < 4; c++)
                if (sub_tets[a].corner[c][v] == WHOLE)
                    pattern->links[count + v] = (fill_link){(int8_t)(-1 - v), (int8_t)a};
}

/* Lists the sub-tets with three corners in the tet's face opposite to vertex v. */
static void list_face(fill_pattern *pattern, const sub_tet *sub_tets, int v)
{
    int count = 0;
    for (int a = 0; a < FILL_SAMPLES; a++) {
        int8_t sum[4] = {0};
        int on = 0;
        for (int c = 0; c < 4; c++) {
            const bool there = sub_tets[a].corner[c][v] == 0;
            on += there;
            for (int i = 0; there && i < 4; i++)
                sum[i] = (int8_t)(sum[i] + sub_tets[a].corner[c][i]);
        }
        if (on == 3) {
            memcpy(pattern->face_position[v][count], sum, sizeof sum);
            pattern->face[v][count++] = (int8_t)a;
        }
    }
}

void sinew_fill_make_pattern(fill_pattern *pattern)
{
    sub_tet whole = {.corner = {{WHOLE, 0, 0, 0}, {0, WHOLE, 0, 0}, {0, 0, WHOLE, 0}, {0, 0, 0, WHOLE}}};
    sub_tet eight[8], sub_tets[FILL_SAMPLES];
    subdivision_cut(&whole, eight);
    for (int p = 0; p < 8; p++)
        subdivision_cut(&eight[p], sub_tets + (size_t)8 * (size_t)p);
    for (int a = 0; a < FILL_SAMPLES; a++)
        for (int i = 0; i < 4; i++)
            pattern->weights[a][i] = (sub_tets[a].corner[0][i] + sub_tets[a].corner[1][i] + sub_tets[a].corner[2][i] +
                                      sub_tets[a].corner[3][i]) /
                                     16.0;
    subdivision_list_links(pattern, sub_tets);
    for (int v = 0; v < 4; v++)
        list_face(pattern, sub_tets, v);
}
