/* SPDX-License-Identifier: MIT
 *
 * chart_axis.c: axes of charts: positions of values, and ticks whose labels do not overlap.
 */
#include <math.h>
#include <string.h>

#include "chart.h"

enum {
    TICK_LETTERS = 12, /* size of the letters of a tick's label, pixels */
    TICK_HEIGHT = 17,  /* minimum distance between labels of the y axis, pixels */
    TICK_GAP = 9       /* minimum gap between labels of the x axis, pixels */
};

/* ---- Texts of axis ticks ----------------------------------------------------------------------- */

/* Upper bound of the width of a text. Widths of letters are fractions of the letter size, rounded up from DejaVu Sans,
 * which is wider than most fonts of browsers. */
double sinew_text_width(const char *text, double size)
{
    static const char narrow[] = "ijlIf.,:;'|!()[] -rt/", wide[] = "mMwW%@";
    double width = 0;
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if ((c & 0xc0) == 0x80)
            continue;
        if (strchr(wide, c))
            width += 0.99;
        else if (strchr(narrow, c))
            width += 0.42;
        else
            width += c >= 'A' && c <= 'Z' ? 0.78 : 0.65;
    }
    return size * width;
}

/* Formats the value of a tick: "0.01", "200", "5e6". Values below 0.01 or above 9999 have an exponent. */
static void write_tick(double value, char text[SINEW_TICK_SIZE])
{
    const double size = fabs(value);
    if (size > 0 && (size < 0.999e-2 || size > 9999)) {
        const int power = (int)floor(log10(size) + 1e-9);
        snprintf(text, SINEW_TICK_SIZE, "%.3ge%d", value / pow(10, power), power);
    } else {
        snprintf(text, SINEW_TICK_SIZE, "%.4g", value);
    }
}

/* ---- Ranges of axes --------------------------------------------------------------------------- */

sinew_range sinew_range_empty(void)
{
    return (sinew_range){HUGE_VAL, -HUGE_VAL, HUGE_VAL};
}

void sinew_range_widen(sinew_range *r, double value)
{
    if (!isfinite(value))
        return;
    r->low = fmin(r->low, value);
    r->high = fmax(r->high, value);
    if (value > 0)
        r->lowest_positive = fmin(r->lowest_positive, value);
}

/* Tick distance: 1, 2 or 5 times a power of ten, so that the span has about four intervals. */
static double nice_step(double span)
{
    const double power = pow(10, floor(log10(span / 4))), rest = span / 4 / power;
    return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}

/* Rounds a positive value down (`up`: up) to 1, 2 or 5 times a power of ten. */
static double round_tick(double value, bool up)
{
    const double power = pow(10, floor(log10(value) + 1e-9)), rest = value / power;
    if (up)
        return power * (rest <= 1.0001 ? 1 : rest <= 2 ? 2 : rest <= 5 ? 5 : 10);
    return power * (rest >= 5 ? 5 : rest >= 2 ? 2 : 1);
}

void sinew_axis_set_log(sinew_axis *a, const sinew_range *r, double floor_value, double cap)
{
    const double low = fmax(r->lowest_positive, floor_value), high = fmin(fmax(r->high, low), cap);
    a->scale = SINEW_SCALE_LOG;
    a->fine = high < 300 * low;
    a->low = a->fine ? round_tick(low, false) : pow(10, floor(log10(low) + 1e-9));
    a->high = a->fine ? round_tick(high, true) : pow(10, ceil(log10(high) - 1e-9));
    if (a->high <= a->low)
        a->high = 10 * a->low;
}

void sinew_axis_set_linear(sinew_axis *a, const sinew_range *r, double cap)
{
    const double top = fmax(fmin(r->high, cap), r->low), span = top > r->low ? top - r->low : fmax(fabs(top), 1);
    const double step = nice_step(span);
    a->scale = SINEW_SCALE_LINEAR;
    a->low = step * floor(r->low / step + 1e-9);
    a->high = step * ceil(top / step - 1e-9);
    if (a->high <= a->low)
        a->high = a->low + step;
}

void sinew_axis_choose(sinew_axis *a, const sinew_range *r, double floor_value, double cap)
{
    const bool none = r->low > r->high, logarithmic = r->low >= 0 && r->lowest_positive < HUGE_VAL;
    /* A logarithmic axis over less than half a decade would have no tick. */
    if (none)
        sinew_axis_set_log(a, &(sinew_range){1, 1, 1}, 0, HUGE_VAL);
    else if (logarithmic && (r->low == 0 || r->high > 3 * r->lowest_positive))
        sinew_axis_set_log(a, r, floor_value, cap);
    else
        sinew_axis_set_linear(a, r, cap);
}

static double warp(const sinew_axis *a, double value)
{
    if (a->scale == SINEW_SCALE_LOG)
        return log10(fmax(value, a->low));
    return a->scale == SINEW_SCALE_COUNT ? log10(1 + fmax(value, 0)) : value;
}

double sinew_axis_position(const sinew_axis *a, double value)
{
    const double low = warp(a, a->low), high = warp(a, a->high);
    return a->from + (a->to - a->from) * (warp(a, value) - low) / (high - low);
}

/* ---- Ticks of axes ----------------------------------------------------------------------------- */

typedef struct tick_list {
    const sinew_axis *axis;
    bool upright;
    int32_t count;
    bool touching; /* true: two labels of ticks overlap */
    sinew_tick *ticks;
} tick_list;

static double axis_length_of(const tick_list *l, const sinew_tick *t)
{
    return l->upright ? TICK_HEIGHT : sinew_text_width(t->text, TICK_LETTERS) + TICK_GAP;
}

/* Adds a tick to the list. Values ascend, so its label can only overlap the previous one. */
static void add_tick(tick_list *l, double value)
{
    const sinew_axis *a = l->axis;
    const double slack = a->scale == SINEW_SCALE_LINEAR ? 1e-9 * (a->high - a->low) : 1e-9 * fabs(value);
    if (value < a->low - slack || value > a->high + slack)
        return;
    if (l->count == SINEW_TICK_MAX) {
        l->touching = true;
        return;
    }
    sinew_tick *t = &l->ticks[l->count++];
    t->at = sinew_axis_position(a, value);
    write_tick(a->scale != SINEW_SCALE_LOG && fabs(value) < 1e-12 * (fabs(a->low) + fabs(a->high)) ? 0 : value,
               t->text);
    if (l->count > 1)
        l->touching = l->touching || fabs(t->at - t[-1].at) < 0.5 * (axis_length_of(l, t) + axis_length_of(l, t - 1));
}

/* Adds the ticks of a logarithmic axis from set number `set`; set 0 is the densest. Returns false if `set` is past the
 * last set. */
static bool fill_log(tick_list *l, int32_t set)
{
    static const int strides[] = {1, 2, 3, 4, 5, 10, 20, 50, 100};
    const int low = (int)floor(log10(l->axis->low) + 1e-9), high = (int)ceil(log10(l->axis->high) - 1e-9);
    const int fine_sets = l->axis->fine ? 1 : 0;
    if (set < fine_sets) {
        for (int power = low; power <= high; power++)
            for (int k = 0; k < 3; k++)
                add_tick(l, pow(10, power) * (k == 0 ? 1 : k == 1 ? 2 : 5));
        return true;
    }
    if (set - fine_sets >= (int32_t)(sizeof strides / sizeof strides[0]))
        return false;
    const int stride = strides[set - fine_sets];
    for (int power = low - (low % stride + stride) % stride; power <= high; power += stride)
        add_tick(l, pow(10, power));
    return true;
}

static bool fill_counts(tick_list *l, int32_t set)
{
    if (set > 3)
        return false;
    add_tick(l, 0);
    for (double power = set > 1 ? 10 : 1; power <= l->axis->high; power *= set > 2 ? 100 : 10) {
        add_tick(l, power);
        if (set == 0)
            add_tick(l, 3 * power);
    }
    return true;
}

static bool fill_linear(tick_list *l, int32_t set)
{
    static const double factors[] = {1, 2, 5, 10, 20};
    const sinew_axis *a = l->axis;
    if (set >= (int32_t)(sizeof factors / sizeof factors[0]))
        return false;
    /* The tick distance is rounded again, because a multiple of a step of 2 is not a step of 1, 2 or 5. */
    double step = set == 0 ? nice_step(a->high - a->low) : nice_step(factors[set] * (a->high - a->low));
    step = a->whole ? fmax(step, 1) : step;
    for (double i = ceil(a->low / step - 1e-9); i * step <= a->high + 1e-9 * step; i++)
        add_tick(l, i * step);
    return true;
}

int32_t sinew_axis_ticks(const sinew_axis *a, bool upright, sinew_tick ticks[SINEW_TICK_MAX])
{
    /* Functions that fill a list of ticks, in the order of sinew_scale. */
    static bool (*const fills[])(tick_list *, int32_t) = {fill_linear, fill_log, fill_counts};
    for (int32_t set = 0;; set++) {
        tick_list l = {.axis = a, .upright = upright, .ticks = ticks};
        if (!fills[a->scale](&l, set))
            return 0;
        if (!l.touching)
            return l.count;
    }
}
