/* SPDX-License-Identifier: MIT
 *
 * test_energy_pages.c: the tables of docs/reference/energies/<name>.md give the parameters that the library has: names,
 * units, ranges and defaults. The pages are written by hand, so that a slip in either place shows.
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "energy/registry.h"

enum {
    CELLS_MAX = 6,
    WORDS_MAX = 8
};

typedef struct table_row {
    char text[512];
    char *cells[CELLS_MAX]; /* without the spaces around */
    int count;
} table_row;

/* U+2212, the minus sign of the pages, is three bytes long. */
static void use_hyphens(char *text)
{
    for (char *at; (at = strstr(text, "\xe2\x88\x92"));) {
        *at = '-';
        memmove(at + 1, at + 3, strlen(at + 3) + 1);
    }
}

static char *trim(char *text)
{
    while (*text == ' ')
        text++;
    for (size_t n = strlen(text); n > 0 && strchr(" \n", text[n - 1]); n--)
        text[n - 1] = 0;
    return text;
}

static bool row_read(table_row *row, FILE *page)
{
    if (!fgets(row->text, sizeof row->text, page))
        return false;
    use_hyphens(row->text);
    row->count = 0;
    if (row->text[0] != '|')
        return true;
    for (char *at = row->text + 1, *end; (end = strchr(at, '|')) && row->count < CELLS_MAX; at = end + 1) {
        *end = 0;
        row->cells[row->count++] = trim(at);
    }
    return true;
}

/* Words of a cell, separated by commas, without the marks of code. */
static int split(char *cell, char *words[WORDS_MAX])
{
    int count = 0;
    for (char *word = strtok(cell, ","); word && count < WORDS_MAX; word = strtok(NULL, ",")) {
        word = trim(word);
        word += *word == '`';
        word[strcspn(word, "`")] = 0;
        words[count++] = word;
    }
    return count;
}

static const sinew_parameter *parameter_named(const sinew_energy_info *info, const char *name)
{
    for (int i = 0; i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0)
            return &info->parameters[i];
    fail_msg("%s has no parameter %s, which its page names", info->name, name);
    return NULL;
}

/* The number that a word of the page means: of a parameter with choices the index of the word. */
static double number_of(const sinew_parameter *p, const char *word)
{
    if (!p->choices)
        return atof(word);
    int index = 0;
    for (const char *choice = p->choices; choice; choice = strchr(choice, '|'), index++) {
        choice += *choice == '|';
        if (strncmp(choice, word, strlen(word)) == 0 && strchr("|", choice[strlen(word)]))
            return index;
    }
    return -1;
}

static void assert_bound(const sinew_energy_info *info, const sinew_parameter *p, double bound, bool open, bool least)
{
    const double own = least ? p->minimum : p->maximum;
    const bool own_open = least ? p->open_minimum : p->open_maximum;
    if (fabs(own - bound) > 1e-12 * fabs(bound) || own_open != open)
        fail_msg("%s: %s of %s is %g%s, its page has %g%s", info->name, least ? "minimum" : "maximum", p->name, own,
                 own_open ? " (excluded)" : "", bound, open ? " (excluded)" : "");
}

/* "> a", ">= a", "a ... b", "a <= nu < b" as the pages write them; a range in other words is not compared. */
static void check_range(const sinew_energy_info *info, const sinew_parameter *p, const char *cell)
{
    char *rest;
    const double first = strtod(cell, &rest);
    if (strncmp(cell, "> ", 2) == 0)
        assert_bound(info, p, atof(cell + 2), true, true);
    else if (strncmp(cell, "\xe2\x89\xa5 ", 4) == 0)
        assert_bound(info, p, atof(cell + 4), false, true);
    else if (rest != cell && (strncmp(rest, " \xe2\x80\xa6 ", 5) == 0 || strncmp(rest, " .. ", 4) == 0)) {
        assert_bound(info, p, first, false, true);
        assert_bound(info, p, atof(rest + (rest[1] == '.' ? 4 : 5)), false, false);
    } else if (rest != cell && *rest) {
        const char *second = strrchr(rest, ' '); /* "-1 < nu <= 0.5" */
        assert_bound(info, p, first, rest[1] == '<', true);
        assert_bound(info, p, atof(second), second[-1] == '<', false);
    }
}

/* One row of the table; columns of unit, range (-1: none) and default. Returns the number of its parameters. */
static int check_row(const sinew_energy_info *info, table_row *row, int range, int preset)
{
    char *names[WORDS_MAX], *presets[WORDS_MAX], unit[64];
    const int count = split(row->cells[0], names), given = split(row->cells[preset], presets);
    snprintf(unit, sizeof unit, "%s", row->cells[1]);
    if (given == 0)
        return 0;
    assert_true(given == 1 || given == count);
    for (int i = 0; i < count; i++) {
        const sinew_parameter *p = parameter_named(info, names[i]);
        const double number = number_of(p, presets[given == 1 ? 0 : i]);
        if (fabs(p->preset - number) > 1e-12 * fabs(number))
            fail_msg("%s: the default of %s is %g, its page has %s", info->name, p->name, p->preset, presets[i]);
        if (!strstr(unit, " or ") && strcmp(p->unit, unit) != 0)
            fail_msg("%s: the unit of %s is '%s', its page has '%s'", info->name, p->name, p->unit, unit);
        if (range >= 0)
            check_range(info, p, row->cells[range]);
    }
    return count;
}

static void check_page(const sinew_energy_info *info)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/docs/reference/energies/%s.md", SINEW_SOURCE_DIR, info->name);
    FILE *page = fopen(path, "rb");
    assert_non_null(page);
    table_row row;
    int found = 0, range = -1, preset = 0;
    bool has_rows_elsewhere = false;
    while (row_read(&row, page)) {
        if (row.count > 3 && strcmp(row.cells[0], "parameter") == 0) {
            range = strcmp(row.cells[2], "range") == 0 ? 2 : -1;
            preset = range < 0 ? 2 : 3;
        } else if (preset && row.count > preset && row.cells[0][0] == '`') {
            has_rows_elsewhere |= row.cells[preset][0] == 0; /* "as of the joint" */
            found += check_row(info, &row, range, preset);
        } else if (row.count == 0)
            preset = 0;
    }
    fclose(page);
    if (found != info->parameter_count && !has_rows_elsewhere)
        fail_msg("%s has %d parameters, its page %d", info->name, (int)info->parameter_count, found);
}

static void pages_have_the_parameters(void **context)
{
    (void)context;
    int32_t count;
    const sinew_simd_variant *const *variants = sinew_simd_variants(&count);
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
        check_page(&variants[0]->energies[kind]->info);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pages_have_the_parameters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
