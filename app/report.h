/* SPDX-License-Identifier: MIT
 *
 * report.h: the parts of report.html: page and tables (report.c), plots (report_plot.c), pictures (report_shape.c).
 */
#ifndef SINEW_REPORT_H
#define SINEW_REPORT_H

#include "chart.h"
#include "compare.h"

typedef struct sinew_report {
    const sinew_comparison *c;
    FILE *stream;
    int32_t order[SINEW_METHOD_MAX];  /* [order_count] indices of the methods without the reference, ordered by error */
    int32_t colour[SINEW_METHOD_MAX]; /* index of each method's colour in sinew_colours */
    int32_t order_count;
} sinew_report;

/* Writes text with HTML escapes for '<', '>', '&' and quotes. */
void sinew_put_escaped(FILE *stream, const char *text);
/* Formats a number in few characters: "0", "12.3", "4.1e-7"; "-" if it is not finite. Returns `text`. */
enum {
    SINEW_SHORT_SIZE = 32
};
const char *sinew_short(double number, char text[SINEW_SHORT_SIZE]);
const char *sinew_short_time(double seconds, char text[SINEW_SHORT_SIZE]); /* formats a time in s, e.g. "12 ms" */

void sinew_put_plots(const sinew_report *r);
/* Writes the pictures of the final shapes; returns false if memory is short. */
bool sinew_put_shapes(const sinew_report *r);

#endif
