/* SPDX-License-Identifier: MIT
 *
 * spelling.c: the edit distance behind "did you mean", renamed keys, and lists of keywords.
 */
#include "base/spelling.h"

#include <string.h>

#include "base/base.h"

/* Edit distance of two words (insertion, deletion, replacement, swap of adjacent letters) by dynamic programming; only
 * three rows of the table are kept. INT32_MAX for words longer than 63 letters, which resemble no name. */
static int32_t edit_distance(const char *a, const char *b)
{
    enum {
        LONGEST = 63
    };
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return INT32_MAX;
    int32_t rows[3][LONGEST + 1];
    for (size_t j = 0; j <= m; j++)
        rows[0][j] = (int32_t)j;
    for (size_t i = 1; i <= n; i++) {
        int32_t *row = rows[i % 3], *last = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
        row[0] = (int32_t)i;
        for (size_t j = 1; j <= m; j++) {
            int32_t best = last[j - 1] + (a[i - 1] != b[j - 1]);
            best = last[j] + 1 < best ? last[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

/* Scene keys and keywords that version 0.2.0 renamed: the error for an old name suggests the new one even if the
 * spelling differs much. */
static const struct {
    const char *before, *now;
} renamed_names[] = {
    {"guard", "intersection_free"}, {"rounds", "multiplier_interval"}, {"epochs", "max_detections"},
    {"rows", "constraints"},        {"held_back", "truncated"},        {"crossed", "intersecting"},
    {"crossings", "intersections"},
};

static const char *renamed_name(const char *word, const char *const *names, int32_t count)
{
    for (size_t k = 0; k < sizeof renamed_names / sizeof renamed_names[0]; k++)
        for (int32_t i = 0; strcmp(word, renamed_names[k].before) == 0 && i < count; i++)
            if (strcmp(names[i], renamed_names[k].now) == 0)
                return names[i];
    return NULL;
}

const char *sinew_nearest_name(const char *word, const char *const *names, int32_t count)
{
    if (!SINEW_ASSERT(word && (names || count <= 0)))
        return NULL;
    const char *nearest = renamed_name(word, names, count);
    if (nearest)
        return nearest;
    int32_t best = (int32_t)(strlen(word) + 2) / 3 + 1;
    for (int32_t i = 0; i < count; i++) {
        int32_t distance = edit_distance(word, names[i]);
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    return nearest;
}

int32_t sinew_keyword_index(const char *word, const char *choices)
{
    size_t length = strlen(word);
    for (int32_t index = 0; choices; index++) {
        const char *end = choices + strcspn(choices, "|");
        if ((size_t)(end - choices) == length && strncmp(choices, word, length) == 0)
            return index;
        choices = *end ? end + 1 : NULL;
    }
    return -1;
}
