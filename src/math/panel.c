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

/* x[rows] -= L y for a block of rows. Eight keep enough sums going to hide the time that each addition takes. */
static inline __attribute__((always_inline)) const sinew_real *
subtract_rows(const sinew_real *l, const int32_t *rows, int height, int32_t columns, const sinew_real *y, sinew_real *x)
{
    vec4 s[8] = {{0}};
    for (int32_t c = 0; c < columns; c++, l += height) {
        const vec4 yc = load4(y + 4 * (size_t)c);
        for (int r = 0; r < height; r++)
            s[r] += l[r] * yc;
    }
    for (int r = 0; r < height; r++) {
        sinew_real *xr = x + 4 * (size_t)rows[r];
        store4(xr, load4(xr) - s[r]);
    }
    return l;
}

static void panel_forward(const sinew_panel *panels, int32_t count, sinew_real *x)
{
    for (int32_t k = 0; k < count; k++) {
        const sinew_panel *panel = &panels[k];
        sinew_real *y = x + 4 * (size_t)panel->first;
        solve_diagonal(panel, y);
        const sinew_real *l = panel->below;
        int32_t i = 0;
        for (; i + 8 <= panel->row_count; i += 8)
            l = subtract_rows(l, panel->rows + i, 8, panel->column_count, y, x);
        if (i < panel->row_count)
            subtract_rows(l, panel->rows + i, 4, panel->column_count, y, x);
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

/* y -= L^T x[rows] for a block of rows */
static inline __attribute__((always_inline)) const sinew_real *subtract_columns(const sinew_real *l,
                                                                                const int32_t *rows, int height,
                                                                                int32_t columns, const sinew_real *x,
                                                                                sinew_real *y)
{
    vec4 xr[8];
    for (int r = 0; r < height; r++)
        xr[r] = load4(x + 4 * (size_t)rows[r]);
    for (int32_t c = 0; c < columns; c++, l += height) {
        vec4 even = load4(y + 4 * (size_t)c), odd = {0};
        for (int r = 0; r < height; r += 2) {
            even -= l[r] * xr[r];
            odd -= l[r + 1] * xr[r + 1];
        }
        store4(y + 4 * (size_t)c, even + odd);
    }
    return l;
}

static void panel_backward(const sinew_panel *panels, int32_t count, sinew_real *x)
{
    for (int32_t k = count - 1; k >= 0; k--) {
        const sinew_panel *panel = &panels[k];
        sinew_real *y = x + 4 * (size_t)panel->first;
        const sinew_real *l = panel->below;
        int32_t i = 0;
        for (; i + 8 <= panel->row_count; i += 8)
            l = subtract_columns(l, panel->rows + i, 8, panel->column_count, x, y);
        if (i < panel->row_count)
            subtract_columns(l, panel->rows + i, 4, panel->column_count, x, y);
        solve_diagonal_transposed(panel, y);
    }
}

extern const sinew_panel_kernels SINEW_LANE_SYMBOL(sinew_panel_kernels);
const sinew_panel_kernels SINEW_LANE_SYMBOL(sinew_panel_kernels) = {.forward = panel_forward,
                                                                    .backward = panel_backward};
