/* SPDX-License-Identifier: MIT
 *
 * test_pages_app.c: HTML pages of `sinew compare` and `sinew reproduce`, without a browser. The texts of every chart
 * are parsed and must neither overlap nor leave the chart; no style is wider than a phone; the index agrees with the
 * summaries; other results are not overwritten.
 */
#include <math.h>

#include "app_fixture.h"
#include "random_cases.h"

enum {
    PAGE_MAX = 8 << 20,
    WORD_MAX = 400,
    PHONE = 360 /* smallest width of a phone in pixels */
};

static char page[PAGE_MAX];

static void read_page(const char *name)
{
    assert_true(read_text(scratch(name), page, sizeof page) > 0);
}

/* ---- Texts of a chart -------------------------------------------------------------------------- */

typedef struct word {
    double left, right, base, size;
    char text[80];
} word;

/* The value of a numeric attribute within one tag. */
static double attribute(const char *tag, const char *name)
{
    const char *end = strchr(tag, '>'), *at = strstr(tag, name);
    assert_true(at && end && at < end);
    return strtod(at + strlen(name), NULL);
}

static bool tag_has(const char *tag, const char *part)
{
    const char *at = strstr(tag, part);
    return at && at < strchr(tag, '>');
}

/* The characters of an element; an entity counts as one. */
static void read_letters(const char *tag, char text[80])
{
    size_t length = 0;
    for (const char *c = strchr(tag, '>') + 1; *c != '<' && length + 1 < 80; c++) {
        text[length++] = *c;
        if (*c == '&')
            c = strchr(c, ';');
    }
    text[length] = '\0';
}

/* The box of a text: a character is 0.6 of its size wide on average in DejaVu Sans, which is wide; bold is wider. */
static word read_word(const char *tag)
{
    word w = {.base = attribute(tag, " y=\""), .size = tag_has(tag, "ch-t") ? 14 : 12};
    read_letters(tag, w.text);
    const double at = attribute(tag, " x=\""), width = (w.size > 12 ? 0.66 : 0.6) * w.size * (double)strlen(w.text);
    const double share = tag_has(tag, "text-anchor=\"middle\"") ? 0.5 : tag_has(tag, "text-anchor=\"end\"") ? 1 : 0;
    w.left = at - share * width;
    w.right = w.left + width;
    return w;
}

static bool overlap(const word *a, const word *b)
{
    return a->left < b->right && b->left < a->right && a->base - 0.75 * a->size < b->base + 0.1 * b->size &&
           b->base - 0.75 * b->size < a->base + 0.1 * a->size;
}

/* Checks one chart; returns its number of texts. */
static int32_t check_chart(const char *name, const char *chart, const char *end)
{
    static word words[WORD_MAX];
    double width = 0, height = 0;
    int32_t count = 0;
    assert_int_equal(sscanf(strstr(chart, "viewBox=\""), "viewBox=\"0 0 %lf %lf\"", &width, &height), 2);
    for (const char *tag = chart; (tag = strstr(tag, "<text")) && tag < end && count < WORD_MAX; tag++)
        words[count++] = read_word(tag);
    for (int32_t i = 0; i < count; i++) {
        const word *w = &words[i];
        if (w->left < -1 || w->right > width + 1 || w->base - 0.7 * w->size < 0 || w->base > height)
            fail_msg("%s: \"%s\" leaves the chart: %g to %g of %g, at %g of %g", name, w->text, w->left, w->right,
                     width, w->base, height);
        for (int32_t k = 0; k < i; k++)
            if (overlap(w, &words[k]))
                fail_msg("%s: \"%s\" overlaps \"%s\"", name, w->text, words[k].text);
    }
    return count;
}

/* Checks all charts; returns their number. */
static int32_t check_charts(const char *name)
{
    int32_t charts = 0;
    read_page(name);
    for (const char *at = page; (at = strstr(at, "<svg class=\"ch\"")); at++) {
        /* The plot area is an svg within the chart's svg. */
        const char *inner = strstr(at, "</svg>"), *end = inner ? strstr(inner + 1, "</svg>") : NULL;
        assert_true(end && check_chart(name, at, end) >= 4);
        charts++;
    }
    return charts;
}

/* ---- Widths ---------------------------------------------------------------------------------- */

/* Fixed widths of a style must fit a phone; "min(100%,430px)" and conditions of media queries do not count. */
static void check_widths(const char *name)
{
    read_page(name);
    const char *style = strstr(page, "<style>"), *end = strstr(page, "</style>");
    assert_true(style && end && strstr(page, "name=\"viewport\""));
    for (const char *at = style; (at = strstr(at, "width:")) && at < end; at++) {
        const bool bound = strncmp(at - 4, "max-", 4) == 0 || at[-1] == '-';
        const bool minimum = strncmp(at - 4, "min-", 4) == 0;
        if ((!bound || minimum) && strtod(at + 6, NULL) > PHONE && strncmp(at + 6, "100%", 4) != 0)
            fail_msg("%s: %.40s", name, at);
    }
    for (const char *at = style; (at = strstr(at, "minmax(")) && at < end; at++)
        if (strncmp(at + 7, "min(100%", 8) != 0 && strtod(at + 7, NULL) > PHONE / 3)
            fail_msg("%s: %.40s", name, at);
    assert_true(!strstr(style, "overflow-x") || strstr(style, "overflow-x") > end);
}

/* Every cell of a table that becomes cards on a phone has a label, except the first, which is the heading. */
static void check_cells(const char *name)
{
    read_page(name);
    for (const char *at = page; (at = strstr(at, "<td")); at++)
        if (strncmp(at, "<td data-n=\"", 12) != 0 && strncmp(at - 1, ">", 1) != 0)
            fail_msg("%s: %.40s", name, at);
}

static void check_page(const char *name)
{
    check_charts(name);
    check_widths(name);
    check_cells(name);
}

/* ---- sinew compare --------------------------------------------------------------------------- */

static void run_sinew(const char *words, int max)
{
    const outcome o = sinew(words);
    if (o.status < 0 || o.status > max)
        fail_msg("sinew %s: exit %d\n%s", words, o.status, o.err);
}

static void test_compare_pages(void **state)
{
    (void)state;
    run_sinew("compare untwist --threads 1 --quiet --size 64x48 --out one", 0);
    check_page("one/report.html");
    assert_int_equal(check_charts("one/report.html"), 8);
    /* Long names, many curves, steps that start at the minimum, and few iterations. */
    run_sinew(
        "compare stretch_twist --size 64x48 --steps 3 --threads 1 --iterations 30 --quiet --out many --solvers "
        "newton,newton:linear=cg:inner=7,newton:linear=cg:inner=12:line_search=off,qn,admm,admm:weight=0.5,xpbd-qs,"
        "pbng,pbng:acceleration=sor,pbng:acceleration=none",
        1);
    check_page("many/report.html");
    run_sinew("compare hanging_cloth --size 64x48 --iterations 1 --threads 1 --quiet --out few", 1);
    check_page("few/report.html");
}

/* Random time steps, iterations and stiffnesses: axes over any number of decades. */
static void test_random_comparisons(void **state)
{
    (void)state;
#ifdef SINEW_SANITIZED
    random_cases r = random_cases_begin("pages", 2, 20);
#else
    random_cases r = random_cases_begin("pages", 6, 60);
#endif
    for (int32_t i = 0; i < r.count; i++) {
        char words[400];
        const double h = random_magnitude(&r, 1e-5, 1), stiffness = random_magnitude(&r, 1, 1e12);
        const int iterations = (int)random_magnitude(&r, 1, 300);
        snprintf(words, sizeof words,
                 "compare untwist --threads 1 --quiet --size 64x48 --out random --iterations %d --steps %d --set "
                 "time_step=%g --set "
                 "bodies.0.energies.0.stiffness=%g --solvers newton,pd,qn,admm,xpbd,pbd,pbng",
                 iterations, 1 + random_index(&r, 3), h, stiffness);
        run_sinew(words, 1);
        check_page("random/report.html");
    }
}

static void test_compare_spares_others(void **state)
{
    (void)state;
    size_t before, after;
    run_sinew("run twist --frames 1 --quiet --overwrite --out spared", 0);
    char *summary = whole_file("spared", "summary.json", &before);
    outcome o = sinew("compare twist --solvers newton --quiet --out spared");
    expect(&o, 2, "compare into the folder of a run");
    assert_non_null(strstr(o.err, "spared/summary.json: a run lies there and would be replaced; give another --out"));
    assert_int_equal(count_lines(o.err), 1);
    char *again = whole_file("spared", "summary.json", &after);
    assert_int_equal(before, after);
    assert_memory_equal(summary, again, before);
    free(summary);
    free(again);
    mkdir(scratch("foreign"), 0777);
    write_text(scratch("foreign/summary.json"), "no JSON");
    o = sinew("compare twist --solvers newton --quiet --out foreign");
    expect(&o, 2, "compare into a folder with somebody's summary");
    assert_non_null(strstr(o.err, "is not of a comparison and would be replaced"));
    /* The command replaces its own results. */
    run_sinew("compare untwist --solvers newton --quiet --size 64x48 --out own", 0);
    run_sinew("compare untwist --solvers newton --quiet --size 64x48 --out own", 0);
}

/* ---- sinew reproduce ------------------------------------------------------------------------- */

static const char *const names[] = {"pbng/acceleration", "pbng/gravity-bar", "pbng/xpbd-residual"};

static void check_card(const char *name)
{
    char path[600], part[512];
    snprintf(path, sizeof path, "index/%s/summary.json", name);
    json_t *summary = json_load_file(scratch(path), 0, NULL);
    const char *holds = json_string_value(json_object_get(summary, "holds"));
    snprintf(part, sizeof part, "<a class=\"card\" href=\"%s/report.html\">", name);
    const char *card = strstr(page, part);
    assert_true(card && holds);
    const char *end = strstr(card, "</a>"), *verdict = strstr(card, "holds: <b class=\""), *picture;
    assert_true(verdict && verdict < end && strncmp(verdict + 17, holds, strlen(holds)) == 0);
    picture = strstr(card, "src=\"");
    assert_true(picture && picture < end);
    assert_int_equal(sscanf(picture, "src=\"%500[^\"]", part), 1);
    snprintf(path, sizeof path, "index/%s", part);
    assert_true(size_of(path) > 500);
    assert_true(strstr(card, "<dt>published</dt><dd>") < end && strstr(card, "<dt>measured</dt><dd>") < end);
    json_decref(summary);
}

static void test_index(void **state)
{
    (void)state;
    char words[200];
    /* Commands run one after the other: the index keeps earlier results. */
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(words, sizeof words, "reproduce %s --quick --alone --out index", names[i]);
        run_sinew(words, 1);
    }
    check_widths("index/index.html");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_card(names[i]);
    assert_non_null(strstr(page, "Not run here: thesis/pbd-stiffness, "));
    int32_t cards = 0;
    for (const char *at = page; (at = strstr(at, "class=\"card\"")); at++)
        cards++;
    assert_int_equal(cards, 3);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(words, sizeof words, "index/%s/report.html", names[i]);
        check_page(words);
        assert_non_null(strstr(page, "<a href=\"../../index.html\">"));
    }
    assert_int_equal(check_charts("index/pbng/acceleration/frames.svg"), 1);
}

static void test_index_spares_others(void **state)
{
    (void)state;
    char text[64];
    mkdir(scratch("site"), 0777);
    write_text(scratch("site/index.html"), "<!DOCTYPE html>\n<p>mine\n");
    const outcome o = sinew("reproduce pbng/acceleration --quick --out site");
    expect(&o, 2, "reproduce beside somebody's index.html");
    assert_non_null(strstr(o.err, "site/index.html: is not of sinew reproduce and would be replaced"));
    read_text(scratch("site/index.html"), text, sizeof text);
    assert_string_equal(text, "<!DOCTYPE html>\n<p>mine\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compare_pages),         cmocka_unit_test(test_random_comparisons),
        cmocka_unit_test(test_compare_spares_others), cmocka_unit_test(test_index),
        cmocka_unit_test(test_index_spares_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
