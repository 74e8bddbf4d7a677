/* SPDX-License-Identifier: MIT
 *
 * panel.c: the triangular solves of panel.h, once per lane variant (the instruction set counts, the width is always
 * four).
 */
#include "math/panel.h"

#include "math/lanes.h"

typedef sinew_real vec4 __attribute__((vector_size(4 * sizeof(sinew_real))));

static inline vec4 load4(const sinew_real *p)
{
    vec4 r;
    memcpy(&r, __builtin_assume_aligned(p, sizeof(vec4)), sizeof r);
    return r;
}

static inline void store4(sinew_real *p, vec4 a)
{
    memcpy(__builtin_assume_aligned(p, sizeof(vec4)), &a, sizeof a);
}

/* y = D^-1 y, D the lower triangular block of the panel's own columns */
static inline void solve_diagonal(const sinew_panel *panel, sinew_real *y)
{
    const sinew_real *l = panel->diagonal;
    for (int32_t r = 0; r < panel->column_count; r++) {
        vec4 even = load4(y + 4 * (size_t)r), odd = {0};
        int32_t c = 0;
        for (; c + 1 < r; c += 2) {
            even -= l[c] * load4(y + 4 * (size_t)c);
            odd -= l[c + 1] * load4(y + 4 * (size_t)c + 4);
        }
        if (c < r)
            even -= l[c] * load4(y + 4 * (size_t)c);
        store4(y + 4 * (size_t)r, (even + odd) * l[r]);
        l += r + 1;
    }
}

static void panel_forward(const sinew_panel *panels, int32_t count, sinew_real *x)
{
    for (int32_t k = 0; k < count; k++) {
        const sinew_panel *panel = &panels[k];
        sinew_real *y = x + 4 * (size_t)panel->first;
        solve_diagonal(panel, y);
        const sinew_real *l = panel->below;
        for (int32_t i = 0; i < panel->row_count; i += 4) {
            vec4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
            for (int32_t c = 0; c < panel->column_count; c++, l += 4) {
                const vec4 yc = load4(y + 4 * (size_t)c);
                s0 += l[0] * yc;
                s1 += l[1] * yc;
                s2 += l[2] * yc;
                s3 += l[3] * yc;
            }
            const vec4 s[4] = {s0, s1, s2, s3};
            for (int32_t r = 0; r < 4; r++) {
                sinew_real *xr = x + 4 * (size_t)panel->rows[i + r];
                store4(xr, load4(xr) - s[r]);
            }
        }
    }
}

/* y = D^-T y */
static inline void solve_diagonal_transposed(const sinew_panel *panel, sinew_real *y)
{
    const sinew_real *l = panel->diagonal + (size_t)panel->column_count * ((size_t)panel->column_count + 1) / 2;
    for (int32_t r = panel->column_count - 1; r >= 0; r--) {
        l -= r + 1;
        const vec4 yr = load4(y + 4 * (size_t)r) * l[r];
        store4(y + 4 * (size_t)r, yr);
        for (int32_t c = 0; c < r; c++)
            store4(y + 4 * (size_t)c, load4(y + 4 * (size_t)c) - l[c] * yr);
    }
}

static void panel_backward(const sinew_panel *panels, int32_t count, sinew_real *x)
{
    for (int32_t k = count - 1; k >= 0; k--) {
        const sinew_panel *panel = &panels[k];
        sinew_real *y = x + 4 * (size_t)panel->first;
        const sinew_real *l = panel->below;
        for (int32_t i = 0; i < panel->row_count; i += 4) {
            vec4 xr[4];
            for (int32_t r = 0; r < 4; r++)
                xr[r] = load4(x + 4 * (size_t)panel->rows[i + r]);
            for (int32_t c = 0; c < panel->column_count; c++, l += 4) {
                const vec4 a = l[0] * xr[0] + l[1] * xr[1], b = l[2] * xr[2] + l[3] * xr[3];
                store4(y + 4 * (size_t)c, load4(y + 4 * (size_t)c) - (a + b));
            }
        }
        solve_diagonal_transposed(panel, y);
    }
}

extern const sinew_panel_kernels SINEW_LANE_SYMBOL(sinew_panel_kernels);
const sinew_panel_kernels SINEW_LANE_SYMBOL(sinew_panel_kernels) = {.forward = panel_forward,
                                                                    .backward = panel_backward};
