/* SPDX-License-Identifier: MIT
 *
 * info_run.c: `sinew info run DIR`: prints summary.json of a run. For a running process the values are those of its
 * last checkpoint.
 */
#include <string.h>
#include <unistd.h>

#include "info_run.h"
#include "metrics.h"
#include "run.h"

static long long integer_at(const json_t *json, const char *key)
{
    return json_integer_value(json_object_get(json, key));
}

static double number_at(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

/* Returns the scene of a run so that `sinew run` finds it from any folder: the absolute path of its file where that is
 * known. */
static const char *scene_argument(const json_t *summary)
{
    const char *file = sinew_run_summary_text(json_object_get(summary, "origin"), "file");
    return *file ? file : sinew_run_summary_text(summary, "scene");
}

/* Prints status and progress of the run and, unless it is finished, the command that continues it. */
static void print_progress(const json_t *summary, const char *directory)
{
    const char *status = sinew_run_summary_text(summary, "status");
    const long long per_frame = integer_at(summary, "steps_per_frame"), step = integer_at(summary, "step");
    const long long last = integer_at(summary, "last_frame");
    const bool done = strcmp(status, "finished") == 0;
    char now[128];
    sinew_run_progress_text(directory, summary, now, sizeof now);
    printf("status     %s%s\n", strcmp(status, "running") == 0 ? now : status,
           strcmp(status, "running") == 0 ? "; below: as of its last checkpoint" : "");
    printf("progress   frame %lld of %lld, step %lld, %g s simulated\n", per_frame > 0 ? step / per_frame : 0, last,
           step, number_at(summary, "time"));
    if (strcmp(status, "starting") == 0)
        printf("           no checkpoint yet: run it again\n");
    else if (!done)
        printf("           go on: sinew run %s --resume %s, with the settings of the command above\n",
               scene_argument(summary), directory);
}

static void print_origin(const json_t *summary)
{
    printf("scene      %s, %lld particles\n", sinew_run_summary_text(summary, "scene"),
           integer_at(summary, "particles"));
    printf("command    %s\n", sinew_run_summary_text(summary, "command"));
    printf("made by    sinew %s, %s precision, %s, %lld threads\n", sinew_run_summary_text(summary, "version"),
           sinew_run_summary_text(summary, "precision"), sinew_run_summary_text(summary, "solver"),
           integer_at(summary, "threads"));
}

static void print_bits(const sinew_run_statistics *s)
{
    const uint32_t bits = sinew_run_bits(s);
    if (!bits)
        printf("steps      all %lld ok\n", (long long)s->steps);
    else
        printf("steps      %lld\n", (long long)s->steps);
    for (int i = 0; i < SINEW_RUN_BITS; i++)
        if (bits & 1u << i) {
            char text[512];
            sinew_run_place_text(&s->places[i], 1u << i, text, sizeof text);
            printf("           %s in %lld of them, first in step %lld\n", sinew_step_bit_name(1u << i),
                   (long long)s->bits[i].count, (long long)s->bits[i].first);
            if (text[0])
                printf("             %s\n", text);
        }
}

static void print_inverted(const sinew_run_statistics *s)
{
    if (s->inverted.step == 0)
        return;
    printf("inverted   at most %g tets, in step %lld; first in step %lld;", s->inverted.value,
           (long long)s->inverted.step, (long long)s->inverted_first);
    for (int32_t i = 0; i < s->tet_count; i++)
        printf("%s %d of energy %d", i ? "," : "", s->tets[i], s->energies[i]);
    printf("%s\n", s->inverted.value > s->tet_count ? ", ..." : "");
}

static void print_steps(const sinew_run_statistics *s)
{
    char text[320];
    print_bits(s);
    sinew_run_residual_text(s, text, sizeof text);
    printf("           %s", text);
    if (s->residual.step)
        printf(", in step %lld", (long long)s->residual.step);
    sinew_run_gap_text(s, text, sizeof text);
    printf("\n           %s", text);
    if (s->gap.step)
        printf(" (step %lld)", (long long)s->gap.step);
    printf("\n");
    sinew_run_position_text(s, text, sizeof text);
    if (text[0])
        printf("           %s\n", text);
    sinew_run_constraint_text(s, text, sizeof text);
    if (text[0])
        printf("           %s\n", text);
    print_inverted(s);
}

/* True if a file of the run exists under its final or its unfinished name. The list of files in summary.json also
 * names optional files, such as arrays of fields that the scene may lack. */
static bool is_there(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (access(path, F_OK) == 0)
        return true;
    snprintf(path, sizeof path, "%s/%s.partial", directory, name);
    return access(path, F_OK) == 0;
}

static void print_files(const json_t *summary, const char *directory)
{
    const json_t *files = json_object_get(summary, "files");
    const char *comma = "";
    printf("files      in %s:", directory);
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        const char *name = json_string_value(file);
        if (name && !is_there(directory, name))
            continue;
        printf("%s ", comma);
        comma = ",";
        if (name)
            printf("%s", name);
        else
            printf("%s.%04lld.%s to %04lld", sinew_run_summary_text(file, "name"), integer_at(file, "from"),
                   sinew_run_summary_text(file, "suffix"), integer_at(file, "to"));
    }
    printf("\n");
}

int sinew_info_run(const char *directory)
{
    bool foreign;
    sinew_run_statistics statistics;
    json_t *summary = sinew_run_summary_read(directory, &foreign);
    if (!summary)
        return sinew_usage_error("info",
                                 foreign ? "%s/summary.json: is not of a run"
                                         : "%s: no run's summary.json is in it; see sinew run --out",
                                 directory);
    if (!sinew_run_statistics_read(&statistics, json_object_get(summary, "steps"))) {
        json_decref(summary);
        return sinew_usage_error("info", "%s/summary.json: is damaged", directory);
    }
    const json_t *seconds = json_object_get(summary, "seconds");
    print_origin(summary);
    print_progress(summary, directory);
    print_steps(&statistics);
    printf("time       %.3g s, %.3g s a step; solving %.3g s, estimating gaps %.3g s\n", number_at(seconds, "wall"),
           number_at(seconds, "per_step"), number_at(seconds, "solver"), number_at(seconds, "gap"));
    print_files(summary, directory);
    json_decref(summary);
    return SINEW_EXIT_DONE;
}
