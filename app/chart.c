/* SPDX-License-Identifier: MIT
 *
 * chart.c: draws a chart from its title down to its axis. Texts have separate boxes; curves have dashes and marks, and
 * names beside their ends if there is space. A grid of cells records which areas of the chart are occupied.
 */
#include "chart.h"

#include <math.h>
#include <string.h>

#include "report.h"

enum {
    WIDTH = 480,
    AREA_HEIGHT = 206,
    EDGE = 8,     /* margin at the border of a chart, pixels */
    LETTERS = 12, /* size of the letters of a chart, pixels */
    TITLE = 14,   /* size of the letters of a chart's title, pixels */
    LINE = 17,    /* distance between lines of text in a chart, pixels */
    /* Largest width of a curve's name beside the curve, pixels; longer names appear in the legend only. */
    NAME_WIDTH = 96,
    NAME_HEIGHT = 14,
    CELL = 4, /* size of a cell of the map of occupied areas, pixels */
    MAP_ROWS = 160,
    MAP_COLUMNS = WIDTH / CELL,
    MARK_MAX = 24,
    MARK_SPACING = 64 /* distance along a curve from one mark to the next, pixels */
};

/* Colours of curves after Okabe and Ito, without yellow and with darker orange, because lines on white are thin; and
 * six more. */
const char *const sinew_colours[SINEW_LINE_COLOUR_COUNT] = {"#0072b2", "#d98200", "#009e73", "#cc6fa5",
                                                            "#d1480a", "#6b5b1f", "#3fa7dd", "#6a3fa0",
                                                            "#333333", "#8c8c8c", "#a3195b", "#7ba428"};

const char sinew_chart_style[] =
    ".ch{display:block;width:100%;height:auto;font-family:system-ui,'Segoe UI',Roboto,sans-serif}"
    ".ch text{font-size:12px;fill:#4d5560}.ch .ch-t{font-size:14px;font-weight:600;fill:#1b1f24}"
    ".ch .ch-n{fill:#1b1f24}.ch-g{stroke:#e4e7ea;fill:none}.ch-a{stroke:#b9bfc6;fill:none}"
    ".ch-l{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}.ch-m{fill:currentColor;stroke:#fff;"
    "stroke-width:.8}.ch-o{fill:#fff;stroke:currentColor;stroke-width:1.4}.ch-r{stroke:#646c76;fill:none;"
    "stroke-width:1.5;stroke-dasharray:5 5}.ch-e{stroke:currentColor;stroke-width:1;opacity:.6}\n";

static const char *const dashes[] = {"", "9 4", "2 3.5", "11 4 2 4", "5 3", "14 3", "8 3 2 3 2 3"};
static const char *const marks[] = {
    "m-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0z",
    "m-3.1-3.1h6.2v6.2h-6.2z",
    "m0-4.4l4 7h-8z",
    "m0-4.6l4.2 4.6l-4.2 4.6l-4.2-4.6z",
    "m0 4.4l4-7h-8z",
    "m-1.4-4.2h2.8v2.8h2.8v2.8h-2.8v2.8h-2.8v-2.8h-2.8v-2.8h2.8z",
    "m-1.8-4.2h3.6v8.4h-3.6z",
    "m-4.2-1.8h8.4v3.6h-8.4z",
};
enum {
    DASH_COUNT = sizeof dashes / sizeof dashes[0],
    MARK_COUNT = sizeof marks / sizeof marks[0]
};

/* ---- Occupied areas of a chart ----------------------------------------------------------------- */

typedef struct box {
    double left, top, right, bottom;
} box;

typedef struct cell_map {
    bool taken[MAP_ROWS][MAP_COLUMNS];
} cell_map;

static int32_t chart_cell_of(double pixel, int32_t count)
{
    return (int32_t)fmin(fmax(floor(pixel / CELL), 0), count - 1);
}

static void take_point(cell_map *m, double x, double y)
{
    m->taken[chart_cell_of(y, MAP_ROWS)][chart_cell_of(x, MAP_COLUMNS)] = true;
}

static void take_segment(cell_map *m, double x0, double y0, double x1, double y1)
{
    const int32_t steps = 1 + (int32_t)(fmin(hypot(x1 - x0, y1 - y0), 4 * WIDTH) / 2);
    for (int32_t i = 0; i <= steps; i++)
        take_point(m, x0 + (x1 - x0) * i / steps, y0 + (y1 - y0) * i / steps);
}

/* Visits the cells of the occupancy map in a box: marks them as occupied, or returns whether one of them is
 * occupied. */
static bool over_box(cell_map *m, const box *b, bool take)
{
    bool any = false;
    for (int32_t i = chart_cell_of(b->top, MAP_ROWS); i <= chart_cell_of(b->bottom, MAP_ROWS); i++)
        for (int32_t k = chart_cell_of(b->left, MAP_COLUMNS); k <= chart_cell_of(b->right, MAP_COLUMNS); k++) {
            any = any || m->taken[i][k];
            m->taken[i][k] = m->taken[i][k] || take;
        }
    return any;
}

/* ---- Title and labels of a chart --------------------------------------------------------------- */

/* Draws the chart's title, broken into lines. Returns the y coordinate below the title, pixels. */
static double put_title(FILE *stream, const char *title, double y)
{
    char line[200] = "";
    while (*title) {
        size_t length = 0, fits = 0;
        do {
            length += strcspn(title + length + (title[length] == ' '), " ") + (title[length] == ' ');
            snprintf(line, sizeof line, "%.*s", (int)length, title);
            if (fits == 0 || 1.12 * sinew_text_width(line, TITLE) <= WIDTH - 2 * EDGE)
                fits = length;
        } while (fits == length && title[length]);
        snprintf(line, sizeof line, "%.*s", (int)fits, title);
        y += LINE + 2;
        if (stream) {
            fprintf(stream, "<text class=\"ch-t\" x=\"%d\" y=\"%.0f\">", EDGE, y - 3);
            sinew_put_escaped(stream, line);
            fputs("</text>\n", stream);
        }
        title += fits + (title[fits] == ' ');
    }
    return y;
}

static void put_mark(FILE *stream, int32_t style, double x, double y)
{
    const char *kind = style / MARK_COUNT % 2 ? "ch-o" : "ch-m";
    fprintf(stream, "<path class=\"%s\" d=\"M%.1f %.1f%s\"/>", kind, x, y, marks[style % MARK_COUNT]);
}

static void put_line_style(FILE *stream, int32_t style)
{
    fprintf(stream, "<path class=\"ch-l\"");
    if (*dashes[style % DASH_COUNT])
        fprintf(stream, " stroke-dasharray=\"%s\"", dashes[style % DASH_COUNT]);
}

void sinew_put_swatch(FILE *stream, const char *colour, int32_t style)
{
    fprintf(stream, "<svg class=\"sw\" width=\"34\" height=\"12\" viewBox=\"0 0 34 12\" color=\"%s\">", colour);
    put_line_style(stream, style);
    fputs(" d=\"M1 6h32\"/>", stream);
    put_mark(stream, style, 17, 6);
    fputs("</svg>", stream);
}

static void put_legend_entry(FILE *stream, const sinew_curve *k, double x, double y)
{
    fprintf(stream, "<g color=\"%s\" data-s=\"%d\">", k->colour, k->group);
    put_line_style(stream, k->style);
    fprintf(stream, " d=\"M%.0f %.0fh30\"/>", x, y);
    put_mark(stream, k->style, x + 15, y);
    fprintf(stream, "<text class=\"ch-n\" x=\"%.0f\" y=\"%.0f\">", x + 35, y + 4);
    sinew_put_escaped(stream, k->name);
    fputs("</text></g>\n", stream);
}

/* Draws the legend of a chart. Returns the y coordinate below the legend, pixels. */
static double put_legend(FILE *stream, const sinew_chart *c, double y)
{
    double x = EDGE;
    for (int32_t i = 0; i < c->curve_count; i++) {
        const sinew_curve *k = &c->curves[i];
        const double width = 39 + sinew_text_width(k->name, LETTERS);
        if (x + width > WIDTH - EDGE && x > EDGE) {
            x = EDGE;
            y += LINE;
        }
        if (stream)
            put_legend_entry(stream, k, x, y + 9);
        x += width + 10;
    }
    return c->curve_count > 0 ? y + LINE + 3 : y;
}

/* ---- Axes of a chart --------------------------------------------------------------------------- */

static double widest(const sinew_tick *ticks, int32_t count)
{
    double width = 0;
    for (int32_t i = 0; i < count; i++)
        width = fmax(width, sinew_text_width(ticks[i].text, LETTERS));
    return width;
}

/* Width in pixels at the right of the plot for names of curves that end there. */
static double name_capacity(const sinew_chart *c)
{
    double capacity = 0;
    for (int32_t i = 0; i < c->curve_count; i++) {
        const double width = sinew_text_width(c->curves[i].name, LETTERS) + 12;
        capacity = width <= NAME_WIDTH ? fmax(capacity, width) : capacity;
    }
    return capacity;
}

static void put_axes(FILE *stream, sinew_chart *c, const box *area, cell_map *m)
{
    sinew_tick ticks[SINEW_TICK_MAX];
    int32_t count = sinew_axis_ticks(&c->y, true, ticks);
    for (int32_t i = 0; i < count; i++)
        fprintf(stream,
                "<path class=\"ch-g\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s"
                "</text>\n",
                area->left, ticks[i].at, area->right, area->left - 6, ticks[i].at + 4, ticks[i].text);
    count = sinew_axis_ticks(&c->x, false, ticks);
    for (int32_t i = 0; i < count; i++)
        fprintf(stream,
                "<path class=\"ch-g\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s"
                "</text>\n",
                ticks[i].at, area->top, area->bottom, ticks[i].at, area->bottom + 16, ticks[i].text);
    fprintf(stream, "<path class=\"ch-a\" d=\"M%.1f %.1fV%.1fH%.1f\"/>\n", area->left, area->top, area->bottom,
            area->right);
    fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">", 0.5 * (area->left + area->right),
            area->bottom + 16 + LINE);
    sinew_put_escaped(stream, c->x_name);
    fputs("</text>\n", stream);
    over_box(m, &(box){0, area->bottom - CELL, WIDTH, MAP_ROWS * CELL}, true);
}

/* ---- Curves of a chart ------------------------------------------------------------------------- */

typedef struct pen {
    FILE *stream;
    const box *area;
    cell_map *map;
    bool down;
    double x, y;           /* last position of the pen on the curve, pixels */
    double length, marked; /* length of the curve so far, and length at which the next mark follows, pixels */
    double spacing;        /* distance of marks along the curve in pixels; 0: every point has a mark */
    int32_t mark_count;
    double mark_x[MARK_MAX], mark_y[MARK_MAX];
} pen;

static void add_mark(pen *p, double x, double y)
{
    if (p->mark_count == MARK_MAX || y < p->area->top - 1 || y > p->area->bottom + 1)
        return;
    p->mark_x[p->mark_count] = x;
    p->mark_y[p->mark_count++] = y;
    over_box(p->map, &(box){x - 3, y - 3, x + 3, y + 3}, true);
}

/* False if a mark at (x, y) would lie within half a spacing of the curve's last mark, as on an oscillating curve. */
static bool apart_from_last_mark(const pen *p, double x, double y)
{
    const int32_t last = p->mark_count - 1;
    return last < 0 || hypot(x - p->mark_x[last], y - p->mark_y[last]) >= MARK_SPACING / 2.0;
}

static void move_pen(pen *p, double x, double y)
{
    /* Clamps points of a curve far above or below the plot to just above or below it. */
    y = fmin(fmax(y, p->area->top - 60), p->area->bottom + 60);
    fprintf(p->stream, "%c%.1f %.1f", p->down ? 'L' : 'M', x, y);
    if (p->down) {
        p->length += fabs(x - p->x) + fmin(fabs(y - p->y), MARK_SPACING);
        take_segment(p->map, p->x, p->y, x, y);
    }
    if (p->spacing == 0 || (p->length >= p->marked && apart_from_last_mark(p, x, y))) {
        add_mark(p, x, y);
        p->marked = p->length + p->spacing;
    }
    p->down = true;
    p->x = x;
    p->y = y;
}

static bool point_of(const sinew_chart *c, const sinew_curve *k, int32_t i, double *x, double *y)
{
    k->point(k->data, i, x, y);
    if (!isfinite(*x) || !isfinite(*y))
        return false;
    *x = sinew_axis_position(&c->x, *x);
    *y = sinew_axis_position(&c->y, *y);
    return true;
}

/* Draws the line of a curve. In each column of pixels only the first point, the extremes and the last point are drawn,
 * because a curve may have more points than pixels. */
static void trace(const sinew_chart *c, const sinew_curve *k, pen *p)
{
    double x, y, u, v;
    for (int32_t i = 0; i < k->count;) {
        if (!point_of(c, k, i++, &x, &y)) {
            p->down = false;
            continue;
        }
        double low = y, high = y, last = y;
        move_pen(p, x, y);
        while (i < k->count && point_of(c, k, i, &u, &v) && fabs(u - x) < 0.8) {
            low = fmin(low, v);
            high = fmax(high, v);
            last = v;
            i++;
        }
        if (high - low > 1) {
            move_pen(p, x, low);
            move_pen(p, x, high);
        }
        if (last != y)
            move_pen(p, x, last);
    }
}

/* End of a curve, beside which its name is placed. */
typedef struct curve_end {
    bool seen;
    double x, y;
} curve_end;

static curve_end put_curve(FILE *stream, const sinew_chart *c, int32_t index, const box *area, cell_map *m)
{
    const sinew_curve *k = &c->curves[index];
    pen p = {.stream = stream, .area = area, .map = m, .spacing = k->count > 12 ? MARK_SPACING : 0};
    /* Marks of nearly equal curves are offset, so that they do not cover each other. */
    p.marked = p.spacing * (1 + index % 4) / 5;
    fprintf(stream, "<g color=\"%s\" class=\"line\" data-s=\"%d\"><title>", k->colour, k->group);
    sinew_put_escaped(stream, k->name);
    fputs("</title>", stream);
    put_line_style(stream, k->style);
    fputs(" d=\"", stream);
    trace(c, k, &p);
    fputs("\"/>", stream);
    const bool seen = p.down && p.y >= area->top - 1 && p.y <= area->bottom + 1;
    if (seen && p.spacing > 0)
        add_mark(&p, p.x, p.y);
    for (int32_t i = 0; i < p.mark_count; i++)
        put_mark(stream, k->style, p.mark_x[i], p.mark_y[i]);
    fputs("</g>\n", stream);
    return (curve_end){seen, p.x, p.y};
}

/* Finds a free box for the name of a curve: beside its end, shifted up or down, or over or under the end. Returns false
 * if no candidate is free. */
static bool find_label_box(const curve_end *end, double width, const box *area, cell_map *m, box *label)
{
    static const double shifts[] = {0, -9, 9, -18, 18, -30, 30, -42, 42};
    const double tall = NAME_HEIGHT / 2.0;
    for (size_t i = 0; i < sizeof shifts / sizeof shifts[0] + 2; i++) {
        const bool beside = i < sizeof shifts / sizeof shifts[0];
        const double left = beside ? end->x + 8 : end->x - width / 2;
        const double middle = end->y + (beside ? shifts[i] : i % 2 ? -15 : 15);
        *label = (box){left, middle - tall, left + width, middle + tall};
        if (label->right <= WIDTH - 2 && label->left > area->left && label->top > area->top - LINE / 2 &&
            label->bottom < area->bottom + LINE / 2 && !over_box(m, label, false))
            return true;
    }
    return false;
}

static void put_name(FILE *stream, const sinew_curve *k, const curve_end *end, const box *label, cell_map *m)
{
    const double middle = 0.5 * (label->top + label->bottom);
    over_box(m, label, true);
    fprintf(stream, "<g color=\"%s\" data-s=\"%d\">", k->colour, k->group);
    if (label->left > end->x && fabs(middle - end->y) > 6)
        fprintf(stream, "<path class=\"ch-e\" d=\"M%.1f %.1fL%.1f %.1f\"/>", end->x + 3, end->y, label->left - 1,
                middle);
    fprintf(stream, "<text class=\"ch-n\" x=\"%.1f\" y=\"%.1f\">", label->left, middle + 4);
    sinew_put_escaped(stream, k->name);
    fputs("</text></g>\n", stream);
}

/* Moves the ascending y positions of labels within [low, high] until neighbours are one line of text apart. */
static void chart_spread(double *positions, int32_t count, double low, double high)
{
    double down[SINEW_CURVE_MAX], up[SINEW_CURVE_MAX];
    for (int32_t i = 0; i < count; i++)
        down[i] = fmax(positions[i], i ? down[i - 1] + NAME_HEIGHT : low);
    for (int32_t i = count - 1; i >= 0; i--)
        up[i] = fmin(positions[i], i + 1 < count ? up[i + 1] - NAME_HEIGHT : high);
    for (int32_t i = 0; i < count; i++)
        positions[i] = fmax(0.5 * (down[i] + up[i]), i ? positions[i - 1] + NAME_HEIGHT : low);
    for (int32_t i = count - 1; i >= 0; i--)
        positions[i] = fmin(positions[i], i + 1 < count ? positions[i + 1] - NAME_HEIGHT : high);
}

static bool has_short_name(const sinew_curve *k)
{
    return sinew_text_width(k->name, LETTERS) + 12 <= NAME_WIDTH;
}

/* Writes the names of curves that end at the right beside the plot, in the order of their ends. Later placement skips
 * these curves. */
static void put_right_names(FILE *stream, const sinew_chart *c, curve_end *ends, const box *area, cell_map *m)
{
    int32_t order[SINEW_CURVE_MAX], count = 0;
    double positions[SINEW_CURVE_MAX];
    for (int32_t i = 0; i < c->curve_count; i++) {
        if (!ends[i].seen || ends[i].x < area->right - 10 || !has_short_name(&c->curves[i]))
            continue;
        int32_t k = count++;
        for (; k > 0 && ends[order[k - 1]].y > ends[i].y; k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
    if (count * NAME_HEIGHT > AREA_HEIGHT)
        return;
    for (int32_t k = 0; k < count; k++)
        positions[k] = ends[order[k]].y;
    chart_spread(positions, count, area->top + 2, area->bottom - 2);
    for (int32_t k = 0; k < count; k++) {
        const sinew_curve *curve = &c->curves[order[k]];
        const double left = area->right + 9, width = sinew_text_width(curve->name, LETTERS);
        put_name(stream, curve, &ends[order[k]],
                 &(box){left, positions[k] - NAME_HEIGHT / 2.0, left + width, positions[k] + NAME_HEIGHT / 2.0}, m);
        ends[order[k]].seen = false;
    }
}

static void put_area(FILE *stream, const sinew_chart *c, const box *area, cell_map *m)
{
    curve_end ends[SINEW_CURVE_MAX];
    const double width = area->right - area->left + 10, height = area->bottom - area->top + 10;
    /* A nested svg with the plot's area and the same coordinates clips the curves to the plot. */
    fprintf(stream, "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f %.1f %.1f\">\n",
            area->left - 5, area->top - 5, width, height, area->left - 5, area->top - 5, width, height);
    if (isfinite(c->level)) {
        const double y = sinew_axis_position(&c->y, c->level);
        fprintf(stream, "<path class=\"ch-r\" data-s=\"0\" d=\"M%.1f %.1fH%.1f\"><title>reference</title></path>\n",
                area->left, y, area->right);
        take_segment(m, area->left, y, area->right, y);
    }
    for (int32_t i = 0; i < c->curve_count; i++)
        ends[i] = put_curve(stream, c, i, area, m);
    fputs("</svg>\n", stream);
    put_right_names(stream, c, ends, area, m);
    /* The label of the topmost curve is placed first. */
    for (int32_t i = c->curve_count - 1; i >= 0; i--) {
        box label;
        if (ends[i].seen && has_short_name(&c->curves[i]) &&
            find_label_box(&ends[i], sinew_text_width(c->curves[i].name, LETTERS), area, m, &label))
            put_name(stream, &c->curves[i], &ends[i], &label, m);
    }
    if (*c->message)
        fprintf(stream, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n",
                0.5 * (area->left + area->right), 0.5 * (area->top + area->bottom), c->message);
}

/* ---- Layout and drawing of the whole chart ----------------------------------------------------- */

/* Draws title, legend and the name of the y axis of a chart; without a stream it only measures their height. Returns
 * the y coordinate below them, pixels. */
static double put_words(FILE *stream, const sinew_chart *c)
{
    double y = *c->title || c->legend ? 4 : 0;
    if (*c->title)
        y = put_title(stream, c->title, y) + 4;
    if (c->legend)
        y = put_legend(stream, c, y);
    if (*c->y_name && stream) {
        fprintf(stream, "<text x=\"%d\" y=\"%.0f\">", EDGE, y + 12);
        sinew_put_escaped(stream, c->y_name);
        fputs("</text>\n", stream);
    }
    return y + (*c->y_name ? LINE : 0) + 10;
}

static void begin_chart(FILE *stream, const sinew_chart *c, double height)
{
    fprintf(stream, "<svg class=\"ch\" viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", WIDTH, height);
    sinew_put_escaped(stream, *c->title ? c->title : c->y_name);
    fputs(" over ", stream);
    sinew_put_escaped(stream, c->x_name);
    if (c->alone)
        fprintf(stream,
                "\" xmlns=\"http://www.w3.org/2000/svg\">\n<style>%s</style>\n<rect fill=\"#fff\" width=\"%d\" "
                "height=\"%.0f\"/>\n",
                sinew_chart_style, WIDTH, height);
    else
        fputs("\">\n", stream);
}

void sinew_put_chart(FILE *stream, sinew_chart *c)
{
    sinew_tick ticks[SINEW_TICK_MAX];
    cell_map map = {0};
    box area = {.top = put_words(NULL, c)};
    area.bottom = area.top + AREA_HEIGHT;
    c->y.from = area.bottom;
    c->y.to = area.top;
    area.left = EDGE + 6 + widest(ticks, sinew_axis_ticks(&c->y, true, ticks));
    c->x.from = area.left;
    c->x.to = WIDTH - 24;
    /* Half of the label at the last tick of the x axis lies beyond the axis. */
    area.right =
        WIDTH - fmax(fmax(name_capacity(c), 14), 4 + 0.5 * widest(ticks, sinew_axis_ticks(&c->x, false, ticks)));
    c->x.to = area.right;
    begin_chart(stream, c, area.bottom + 16 + LINE + 8);
    put_words(stream, c);
    put_axes(stream, c, &area, &map);
    put_area(stream, c, &area, &map);
    fputs("</svg>\n", stream);
}
