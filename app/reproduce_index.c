/* SPDX-License-Identifier: MIT
 *
 * reproduce_index.c: index.html over all reproductions in a folder, from this run and from earlier runs. The page has a
 * score and, for each experiment, its verdict, a picture, a published and a measured number, and a link to its report.
 * The data come from the summary.json files.
 */
#include <string.h>
#include <unistd.h>

#include "app.h"
#include "output.h"
#include "report.h"
#include "report_style.h"
#include "reproduce.h"

enum {
    RESULT_COUNT = HOLDS_NO + 1,
    PATH_SIZE = 2300
};

/* Second line of every index.html that `sinew reproduce` writes; pages without this line are not replaced. */
static const char mark[] = "<!-- sinew reproduce -->";

static const char style[] =
    "a{color:inherit}.score{display:flex;flex-wrap:wrap;gap:10px 28px;font-size:17px;margin:14px 0 4px}"
    ".score b{font-size:26px;font-weight:650;margin-right:6px}"
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,340px),1fr));gap:16px;margin:18px 0}"
    ".card{background:var(--panel);border:1px solid var(--line);border-radius:10px;overflow:hidden;"
    "text-decoration:none;display:flex;flex-direction:column;min-width:0}"
    ".card img{display:block;width:100%;aspect-ratio:16/10;object-fit:contain;background:#fff;"
    "border-bottom:1px solid var(--grid)}.card div{padding:10px 14px 12px}"
    ".card h3{margin:0 0 2px;font-size:16px;line-height:1.3;overflow-wrap:anywhere}.card p{margin:3px 0}"
    ".card small{color:var(--soft);font-size:13px}.tally{display:flex;height:7px;border-radius:4px;overflow:hidden;"
    "gap:1px;margin:7px 0}.tally i{display:block}"
    ".y{background:#009e73}.p{background:#e0a100}.n{background:#c8401f}.u{background:#c9cdd2}"
    "dl{margin:6px 0 0;display:grid;grid-template-columns:auto 1fr;gap:2px 10px;font-size:13.5px}"
    "dt{color:var(--soft)}dd{margin:0;overflow-wrap:anywhere}\n";

/* ---- Reading of summary.json files ------------------------------------------------------------- */

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Converts a word of summary.json to a verdict. */
static claim_result result_of(const json_t *object)
{
    const char *word = text_of(object, "holds");
    for (int v = 0; v < RESULT_COUNT; v++)
        if (strcmp(word, result_name((claim_result)v)) == 0)
            return (claim_result)v;
    return NOT_MEASURED;
}

static json_t *read_experiment(const char *out, const experiment *e)
{
    char folder[PATH_SIZE];
    bool found;
    if (snprintf(folder, sizeof folder, "%s/%s", out, e->name) >= (int)sizeof folder)
        return NULL;
    json_t *summary = sinew_read_summary(folder, &found);
    if (strcmp(text_of(summary, "experiment"), e->name) == 0)
        return summary;
    json_decref(summary);
    return NULL;
}

static bool has_digit(const char *text)
{
    return strpbrk(text, "0123456789") != NULL;
}

/* Selects the claim that represents an experiment: the first one with a verdict and with digits in both texts. If
 * there is none, the first with a verdict, then the first with digits, then the first claim. */
static const json_t *headline(const json_t *claims)
{
    const json_t *best = json_array_get(claims, 0), *c;
    int best_rank = -1;
    size_t i;
    json_array_foreach(claims, i, c)
    {
        const int judged = result_of(c) >= HOLDS_YES;
        const int numbers = has_digit(text_of(c, "published")) && has_digit(text_of(c, "measured"));
        if (2 * judged + numbers > best_rank) {
            best = c;
            best_rank = 2 * judged + numbers;
        }
    }
    return best;
}

/* Finds the picture file of an experiment, .png or .svg, relative to `out`; figures of bodies come before curves.
 * Returns false if there is none. */
static bool find_thumbnail(const char *out, const experiment *e, const json_t *figures, char name[PATH_SIZE])
{
    static const char *const endings[] = {"png", "svg"};
    const json_t *f;
    size_t i;
    for (int shapes = 1; shapes >= 0; shapes--)
        json_array_foreach(figures, i, f)
        {
            if (json_is_true(json_object_get(f, "shapes")) != shapes || strchr(text_of(f, "name"), '/'))
                continue;
            for (int k = 0; k < 2; k++) {
                char path[2 * PATH_SIZE];
                snprintf(name, PATH_SIZE, "%s/%s.%s", e->name, text_of(f, "name"), endings[k]);
                snprintf(path, sizeof path, "%s/%s", out, name);
                if (access(path, R_OK) == 0)
                    return true;
            }
        }
    return false;
}

/* ---- Parts of index.html ---------------------------------------------------------------------- */

static void count_claims(const json_t *claims, int32_t counts[RESULT_COUNT])
{
    const json_t *c;
    size_t i;
    json_array_foreach(claims, i, c) counts[result_of(c)]++;
}

/* Writes a bar with the number of claims of each verdict, and the same numbers in words. */
static void put_tally(FILE *stream, const int32_t counts[RESULT_COUNT])
{
    static const struct {
        claim_result v;
        const char *kind;
    } order[] = {{HOLDS_YES, "y"}, {HOLDS_PARTLY, "p"}, {HOLDS_NO, "n"}, {NOT_JUDGED, "u"}, {NOT_MEASURED, "u"}};
    const size_t count = sizeof order / sizeof order[0];
    fputs("<span class=\"tally\" aria-hidden=\"true\">", stream);
    for (size_t i = 0; i < count; i++)
        if (counts[order[i].v])
            fprintf(stream, "<i class=\"%s\" style=\"flex:%d\"></i>", order[i].kind, counts[order[i].v]);
    fputs("</span><small>statements: ", stream);
    const char *before = "";
    for (size_t i = 0; i < count; i++)
        if (counts[order[i].v]) {
            fprintf(stream, "%s%d %s", before, counts[order[i].v], result_name(order[i].v));
            before = ", ";
        }
    fputs("</small>", stream);
}

static void put_term(FILE *stream, const char *term, const char *text)
{
    fprintf(stream, "<dt>%s</dt><dd>", term);
    sinew_put_escaped(stream, text);
    fputs("</dd>", stream);
}

static void put_card(FILE *stream, const char *out, const experiment *e, const json_t *summary)
{
    const json_t *claims = json_object_get(summary, "claims"), *head = headline(claims);
    const char *word = result_name(result_of(summary));
    int32_t counts[RESULT_COUNT] = {0};
    char picture[PATH_SIZE];
    count_claims(claims, counts);
    fprintf(stream, "<a class=\"card\" href=\"%s/report.html\">", e->name);
    if (find_thumbnail(out, e, json_object_get(summary, "figures"), picture)) {
        fputs("<img loading=\"lazy\" alt=\"\" src=\"", stream);
        sinew_put_escaped(stream, picture);
        fputs("\">", stream);
    }
    fprintf(stream, "<div><h3>%s</h3><small>%s &middot; %s%s</small><p>holds: <b class=\"%s\">%s</b></p>", e->title,
            e->name, e->source, json_is_true(json_object_get(summary, "quick")) ? " &middot; quick version" : "", word,
            word);
    put_tally(stream, counts);
    fputs("<dl>", stream);
    put_term(stream, "statement", text_of(head, "what"));
    put_term(stream, "published", text_of(head, "published"));
    put_term(stream, "measured", text_of(head, "measured"));
    fputs("</dl></div></a>\n", stream);
}

static void put_score(FILE *stream, const char *what, const int32_t counts[RESULT_COUNT])
{
    fprintf(stream, "<p class=\"score\"><span>%s:</span>", what);
    for (int v = HOLDS_YES; v < RESULT_COUNT; v++)
        fprintf(stream, "<span class=\"%s\"><b>%d</b>%s</span>", result_name((claim_result)v), counts[v],
                result_name((claim_result)v));
    const int32_t open = counts[NOT_JUDGED] + counts[NOT_MEASURED];
    if (open > 0)
        fprintf(stream, "<span class=\"not\"><b>%d</b>not judged or not measured</span>", open);
    fputs("</p>\n", stream);
}

static void index_put_head(FILE *stream, json_t **summaries, int32_t count)
{
    int32_t experiments[RESULT_COUNT] = {0}, claims[RESULT_COUNT] = {0};
    for (int32_t i = 0; i < count; i++)
        if (summaries[i]) {
            experiments[result_of(summaries[i])]++;
            count_claims(json_object_get(summaries[i], "claims"), claims);
        }
    fprintf(stream,
            "<!DOCTYPE html>\n%s\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
            "content=\"width=device-width,initial-scale=1\"><title>sinew: reproductions</title><style>%s%s</style>"
            "</head><body><main>\n<h1>Published experiments, run again</h1>\n<p class=\"soft\">For every statement "
            "what was published, what is measured here, and whether it holds. Times are shown and not judged.</p>\n",
            mark, page_style, style);
    put_score(stream, "experiments that hold", experiments);
    put_score(stream, "statements that hold", claims);
}

static void put_missing(FILE *stream, json_t **summaries, int32_t count)
{
    bool any = false;
    for (int32_t i = 0; i < count; i++)
        if (!summaries[i]) {
            fprintf(stream, any ? ", %s" : "<p class=\"soft\">Not run here: %s", experiment_at(i)->name);
            any = true;
        }
    fputs(any ? ". <code>sinew reproduce NAME</code> runs one, without a name all.</p>\n" : "", stream);
}

/* ---- The page index.html as a whole ----------------------------------------------------------- */

bool sinew_index_is_ours(const char *out)
{
    char path[PATH_SIZE], line[64] = "";
    if (snprintf(path, sizeof path, "%s/index.html", out) >= (int)sizeof path || access(path, F_OK) != 0)
        return true;
    FILE *file = sinew_open_plain(path);
    bool ours = file && fgets(line, sizeof line, file) && fgets(line, sizeof line, file) &&
                strncmp(line, mark, sizeof mark - 1) == 0;
    if (file)
        fclose(file);
    if (!ours)
        sinew_usage_error("reproduce", "%s: is not of sinew reproduce and would be replaced; give another --out", path);
    return ours;
}

bool sinew_write_index(const char *out)
{
    json_t *summaries[EXPERIMENT_MAX];
    sinew_output file;
    int32_t count = 0;
    if (!sinew_output_open(&file, "reproduce", out, "index.html"))
        return false;
    for (; count < EXPERIMENT_MAX && experiment_at(count); count++)
        summaries[count] = read_experiment(out, experiment_at(count));
    index_put_head(file.stream, summaries, count);
    fputs("<div class=\"cards\">\n", file.stream);
    for (int32_t i = 0; i < count; i++)
        if (summaries[i])
            put_card(file.stream, out, experiment_at(i), summaries[i]);
    fputs("</div>\n", file.stream);
    put_missing(file.stream, summaries, count);
    fputs("</main></body></html>\n", file.stream);
    for (int32_t i = 0; i < count; i++)
        json_decref(summaries[i]);
    return sinew_output_close(&file);
}
