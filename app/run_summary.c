/* SPDX-License-Identifier: MIT
 *
 * run_summary.c: statistics of the steps of a run (status bits, worst residuals and gaps, inverted tets), which
 * state.bin stores, and summary.json, which reports them.
 */
#include <math.h>
#include <string.h>

#include "metrics.h"
#include "run.h"

/* ---- Statistics of a run's steps -------------------------------------------------------------- */

static void take_worst(sinew_run_worst *worst, double value, int64_t step)
{
    if (isfinite(value) && (worst->step == 0 || value > worst->value))
        *worst = (sinew_run_worst){value, step};
}

/* Index of the interval of the histogram that contains a position error, in m. */
static int decade_of(double error)
{
    const double at = error > 0 ? floor(4 * (log10(error) + 15)) : 0;
    return (int)fmin(fmax(at, 0), SINEW_RUN_DECADES - 1);
}

/* Upper end in m of an interval of the histogram of position errors. */
static double decade_end(int index)
{
    return pow(10, (index + 1) / 4.0 - 15);
}

/* Copies the name of the body with the largest position error in the last step. */
static void name_worst_body(const sinew_world *world, char *name, size_t size)
{
    double worst = -1, own;
    for (int32_t i = 0; i < sinew_world_body_count(world); i++) {
        const sinew_body body = sinew_world_body_at(world, i);
        if (sinew_body_position_error(world, body, &own, NULL) && own > worst) {
            worst = own;
            snprintf(name, size, "%s", sinew_body_name(world, body));
        }
    }
}

static void count_position(sinew_run_statistics *s, const sinew_world *world, int64_t step,
                           const sinew_step_result *result)
{
    const bool below = result->position_error_kind == SINEW_GAP_BELOW;
    if (!below && result->position_error_kind != SINEW_GAP_ESTIMATE)
        return;
    s->position_counts[decade_of(result->position_error)]++;
    if (result->position_error > fmax(s->position.value, s->position_below.value) || !s->position_body[0])
        name_worst_body(world, s->position_body, sizeof s->position_body);
    take_worst(below ? &s->position_below : &s->position, result->position_error, step);
}

static void count_gap(sinew_run_statistics *s, int64_t step, const sinew_step_result *result)
{
    s->gap_counts[result->gap_kind]++;
    if (result->gap_kind == SINEW_GAP_ESTIMATE)
        take_worst(&s->gap, result->gap, step);
    if (result->gap_kind == SINEW_GAP_BELOW)
        take_worst(&s->gap_below, result->gap, step);
    if (result->gap_kind == SINEW_GAP_UNKNOWN && s->gap_counts[SINEW_GAP_UNKNOWN] == 1) {
        s->gap_unknown_first = step;
        snprintf(s->gap_reason, sizeof s->gap_reason, "%s", result->gap_reason ? result->gap_reason : "");
    }
}

static void count_constraints(sinew_run_statistics *s, int64_t step, const sinew_step_result *result)
{
    take_worst(&s->violation, result->violation, step);
    take_worst(&s->complementarity, result->complementarity, step);
    if (s->constraints_first == 0 && result->constraints && result->constraints[0]) {
        s->constraints_first = step;
        snprintf(s->constraints, sizeof s->constraints, "%s", result->constraints);
    }
}

static void count_inverted(sinew_run_statistics *s, const sinew_world *world, int64_t step)
{
    sinew_energy energies[SINEW_RUN_TETS];
    int32_t tets[SINEW_RUN_TETS];
    const int32_t count = sinew_world_inverted(world, SINEW_RUN_TETS, energies, tets);
    if (s->inverted_first == 0)
        s->inverted_first = step;
    if (s->inverted.step != 0 && count <= s->inverted.value)
        return;
    s->inverted = (sinew_run_worst){count, step};
    s->tet_count = count < SINEW_RUN_TETS ? count : SINEW_RUN_TETS;
    for (int32_t i = 0; i < s->tet_count; i++) {
        s->energies[i] = energies[i].index;
        s->tets[i] = tets[i];
    }
}

void sinew_run_count(sinew_run_statistics *s, const sinew_world *world, int64_t step, const sinew_step_result *result)
{
    s->steps++;
    s->iterations += result->iterations;
    for (int i = 0; i < SINEW_RUN_BITS; i++)
        if (result->bits & 1u << i) {
            s->bits[i].first = s->bits[i].count++ == 0 ? step : s->bits[i].first;
        }
    sinew_run_count_places(s->places, world, step, result->bits);
    take_worst(&s->residual, result->residual, step);
    take_worst(&s->relative, result->relative_residual, step);
    count_gap(s, step, result);
    count_position(s, world, step, result);
    count_constraints(s, step, result);
    if (result->bits & SINEW_STEP_INVERTED)
        count_inverted(s, world, step);
}

uint32_t sinew_run_bits(const sinew_run_statistics *s)
{
    uint32_t bits = 0;
    for (int i = 0; i < SINEW_RUN_BITS; i++)
        bits |= s->bits[i].count > 0 ? 1u << i : 0;
    return bits;
}

void sinew_run_residual_text(const sinew_run_statistics *s, char *text, size_t size)
{
    if (s->residual.step == 0)
        snprintf(text, size, "residual not known");
    else if (s->relative.step == 0)
        snprintf(text, size, "residual at most %.3g N", s->residual.value);
    else
        snprintf(text, size, "residual at most %.3g N (relative %.3g)", s->residual.value, s->relative.value);
}

void sinew_run_constraint_text(const sinew_run_statistics *s, char *text, size_t size)
{
    int length = 0;
    text[0] = '\0';
    if (s->violation.step != 0)
        length = snprintf(text, size, "hard constraints violated by at most %.3g", s->violation.value);
    if (s->constraints_first != 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, "%sfrom step %lld %s", length ? "; " : "",
                 (long long)s->constraints_first, s->constraints);
}

void sinew_run_gap_text(const sinew_run_statistics *s, char *text, size_t size)
{
    const int64_t unknown = s->gap_counts[SINEW_GAP_UNKNOWN];
    int length = 0;
    const int64_t measured = s->steps - s->gap_counts[SINEW_GAP_NONE];
    if (s->gap.step != 0 && measured < s->steps)
        length = snprintf(text, size, "gap about %.3g J in the worst of %lld measured steps", s->gap.value,
                          (long long)measured);
    else if (s->gap.step != 0)
        length = snprintf(text, size, "gap about %.3g J in the worst step", s->gap.value);
    else if (s->gap_below.step != 0)
        length = snprintf(text, size, "gap below %.3g J", s->gap_below.value);
    else if (unknown == 0)
        length = snprintf(text, size, "gap not measured");
    if (unknown > 0 && length >= 0 && (size_t)length < size)
        snprintf(text + length, size - (size_t)length, "%s unknown in %lld of %lld steps: %s", length ? "," : "gap",
                 (long long)unknown, (long long)s->steps, s->gap_reason);
}

void sinew_run_position_text(const sinew_run_statistics *s, char *text, size_t size)
{
    const bool below = s->position_below.step != 0 && !(s->position.value >= s->position_below.value);
    const sinew_run_worst worst = below ? s->position_below : s->position;
    const char *body = s->position_body[0] ? s->position_body : "positions";
    int64_t measured = 0, within = 0;
    int last = 0;
    text[0] = '\0';
    if (worst.step == 0)
        return;
    for (int i = 0; i < SINEW_RUN_DECADES; i++)
        measured += s->position_counts[i];
    /* Finds the position error that nine of ten steps stay below. */
    for (last = 0; last < SINEW_RUN_DECADES && 10 * within < 9 * measured; last++)
        within += s->position_counts[last];
    const double usual = decade_end(last - 1);
    if (within == measured || !(usual < worst.value))
        snprintf(text, size, "%s within %.2g mm in %lld measured step%s", body, 1e3 * worst.value, (long long)measured,
                 measured == 1 ? "" : "s");
    else
        snprintf(text, size, "%s within %.2g mm in %lld of %lld measured steps, %.2g mm in the worst (step %lld)", body,
                 1e3 * usual, (long long)within, (long long)measured, 1e3 * worst.value, (long long)worst.step);
}

/* ---- Statistics as JSON ------------------------------------------------------------------------ */

static json_t *worst_json(const sinew_run_worst *worst)
{
    if (worst->step == 0)
        return json_null();
    return json_pack("{s:f, s:I}", "worst", worst->value, "step", (json_int_t)worst->step);
}

static bool worst_read(sinew_run_worst *worst, const json_t *json)
{
    json_int_t step;
    *worst = (sinew_run_worst){0};
    if (json_is_null(json))
        return true;
    if (json_unpack((json_t *)json, "{s:F, s:I}", "worst", &worst->value, "step", &step) != 0)
        return false;
    worst->step = step;
    return true;
}

static json_t *bits_json(const sinew_run_statistics *s)
{
    json_t *bits = json_object();
    for (int i = 0; i < SINEW_RUN_BITS; i++)
        if (s->bits[i].count > 0 &&
            json_object_set_new(bits, sinew_step_bit_name(1u << i),
                                json_pack("{s:I, s:I, s:o}", "first", (json_int_t)s->bits[i].first, "count",
                                          (json_int_t)s->bits[i].count, "where",
                                          sinew_run_place_json(&s->places[i], 1u << i))) != 0) {
            json_decref(bits);
            return NULL;
        }
    return bits;
}

static bool bits_read(sinew_run_statistics *s, const json_t *json)
{
    for (int i = 0; i < SINEW_RUN_BITS; i++) {
        const char *name = sinew_step_bit_name(1u << i);
        json_int_t first, count;
        const json_t *bit = *name ? json_object_get(json, name) : NULL;
        if (!bit)
            continue;
        if (json_unpack((json_t *)bit, "{s:I, s:I}", "first", &first, "count", &count) != 0)
            return false;
        s->bits[i].first = first;
        s->bits[i].count = count;
        if (!sinew_run_place_read(&s->places[i], json_object_get(bit, "where")))
            return false;
    }
    return true;
}

static json_t *gap_json(const sinew_run_statistics *s)
{
    const int64_t *counts = s->gap_counts;
    return json_pack("{s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:s}", "estimate", worst_json(&s->gap), "below",
                     worst_json(&s->gap_below), "not_measured", (json_int_t)counts[SINEW_GAP_NONE], "estimated",
                     (json_int_t)counts[SINEW_GAP_ESTIMATE], "below_round_off", (json_int_t)counts[SINEW_GAP_BELOW],
                     "unknown", (json_int_t)counts[SINEW_GAP_UNKNOWN], "unknown_first",
                     (json_int_t)s->gap_unknown_first, "unknown_reason", s->gap_reason);
}

static bool gap_read(sinew_run_statistics *s, const json_t *json)
{
    json_int_t counts[4], first;
    const char *reason;
    if (json_unpack((json_t *)json, "{s:I, s:I, s:I, s:I, s:I, s:s}", "not_measured", &counts[SINEW_GAP_NONE],
                    "estimated", &counts[SINEW_GAP_ESTIMATE], "below_round_off", &counts[SINEW_GAP_BELOW], "unknown",
                    &counts[SINEW_GAP_UNKNOWN], "unknown_first", &first, "unknown_reason", &reason) != 0)
        return false;
    for (int i = 0; i < 4; i++)
        s->gap_counts[i] = counts[i];
    s->gap_unknown_first = first;
    snprintf(s->gap_reason, sizeof s->gap_reason, "%s", reason);
    return worst_read(&s->gap, json_object_get(json, "estimate")) &&
           worst_read(&s->gap_below, json_object_get(json, "below"));
}

static json_t *constraints_json(const sinew_run_statistics *s)
{
    if (s->violation.step == 0 && s->constraints_first == 0)
        return json_null();
    return json_pack("{s:o, s:o, s:I, s:s}", "violation", worst_json(&s->violation), "complementarity",
                     worst_json(&s->complementarity), "first", (json_int_t)s->constraints_first, "note",
                     s->constraints);
}

/* Reads statistics of hard constraints; summaries of builds without such solvers lack this key. */
static bool constraints_read(sinew_run_statistics *s, const json_t *json)
{
    json_int_t first;
    const char *note;
    if (!json || json_is_null(json))
        return true;
    if (json_unpack((json_t *)json, "{s:I, s:s}", "first", &first, "note", &note) != 0)
        return false;
    s->constraints_first = first;
    snprintf(s->constraints, sizeof s->constraints, "%s", note);
    return worst_read(&s->violation, json_object_get(json, "violation")) &&
           worst_read(&s->complementarity, json_object_get(json, "complementarity"));
}

static json_t *inverted_json(const sinew_run_statistics *s)
{
    if (s->inverted.step == 0)
        return json_null();
    json_t *tets = json_array();
    for (int32_t i = 0; i < s->tet_count; i++)
        if (json_array_append_new(tets, json_pack("{s:i, s:i}", "energy", s->energies[i], "tet", s->tets[i])) != 0) {
            json_decref(tets);
            return NULL;
        }
    return json_pack("{s:I, s:I, s:I, s:o}", "most", (json_int_t)s->inverted.value, "step",
                     (json_int_t)s->inverted.step, "first", (json_int_t)s->inverted_first, "tets", tets);
}

static bool inverted_read(sinew_run_statistics *s, const json_t *json)
{
    json_int_t max, step, first;
    json_t *tets;
    if (json_is_null(json))
        return true;
    if (json_unpack((json_t *)json, "{s:I, s:I, s:I, s:o}", "most", &max, "step", &step, "first", &first, "tets",
                    &tets) != 0 ||
        json_array_size(tets) > SINEW_RUN_TETS)
        return false;
    s->inverted = (sinew_run_worst){(double)max, step};
    s->inverted_first = first;
    s->tet_count = (int32_t)json_array_size(tets);
    for (int32_t i = 0; i < s->tet_count; i++)
        if (json_unpack(json_array_get(tets, (size_t)i), "{s:i, s:i}", "energy", &s->energies[i], "tet", &s->tets[i]) !=
            0)
            return false;
    return true;
}

/* Writes position errors as JSON: the worst body, and the number of steps up to each error. */
static json_t *positions_json(const sinew_run_statistics *s)
{
    json_t *counts = json_array();
    for (int i = 0; i < SINEW_RUN_DECADES; i++)
        if (json_array_append_new(counts, json_integer((json_int_t)s->position_counts[i])) != 0) {
            json_decref(counts);
            return NULL;
        }
    return json_pack("{s:o, s:o, s:s, s:o}", "estimate", worst_json(&s->position), "below",
                     worst_json(&s->position_below), "body", s->position_body, "counts", counts);
}

static bool positions_read(sinew_run_statistics *s, const json_t *json)
{
    const char *body;
    const json_t *counts = json_object_get(json, "counts");
    if (json_unpack((json_t *)json, "{s:s}", "body", &body) != 0 || json_array_size(counts) != SINEW_RUN_DECADES)
        return false;
    snprintf(s->position_body, sizeof s->position_body, "%s", body);
    for (int i = 0; i < SINEW_RUN_DECADES; i++)
        s->position_counts[i] = json_integer_value(json_array_get(counts, (size_t)i));
    return worst_read(&s->position, json_object_get(json, "estimate")) &&
           worst_read(&s->position_below, json_object_get(json, "below"));
}

json_t *sinew_run_statistics_json(const sinew_run_statistics *s)
{
    return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "first_step", (json_int_t)s->first_step,
                     "steps", (json_int_t)s->steps, "iterations", (json_int_t)s->iterations, "status", bits_json(s),
                     "residual", worst_json(&s->residual), "relative_residual", worst_json(&s->relative), "gap",
                     gap_json(s), "position_error", positions_json(s), "constraints", constraints_json(s), "inverted",
                     inverted_json(s));
}

bool sinew_run_statistics_read(sinew_run_statistics *s, const json_t *json)
{
    json_int_t first, steps, iterations;
    *s = (sinew_run_statistics){0};
    if (json_unpack((json_t *)json, "{s:I, s:I, s:I}", "first_step", &first, "steps", &steps, "iterations",
                    &iterations) != 0)
        return false;
    s->first_step = first;
    s->steps = steps;
    s->iterations = iterations;
    return positions_read(s, json_object_get(json, "position_error")) &&
           worst_read(&s->residual, json_object_get(json, "residual")) &&
           worst_read(&s->relative, json_object_get(json, "relative_residual")) &&
           bits_read(s, json_object_get(json, "status")) && gap_read(s, json_object_get(json, "gap")) &&
           constraints_read(s, json_object_get(json, "constraints")) &&
           inverted_read(s, json_object_get(json, "inverted"));
}

/* ---- summary.json of a run --------------------------------------------------------------------- */

json_t *sinew_run_summary_read(const char *directory, bool *foreign)
{
    json_t *summary = sinew_read_summary(directory, foreign);
    *foreign = *foreign && !json_is_integer(json_object_get(summary, "sinew_run"));
    if (!*foreign)
        return summary;
    json_decref(summary);
    return NULL;
}

const char *sinew_run_summary_text(const json_t *summary, const char *key)
{
    const char *text = json_string_value(json_object_get(summary, key));
    return text ? text : "";
}

static json_t *seconds_json(const sinew_run *r)
{
    /* Monotonic clocks of some virtual machines step back, so that a negative duration counts as 0. */
    const double wall = r->seconds + fmax(sinew_run_clock() - r->began, 0);
    const double steps = (double)(r->statistics.steps > 0 ? r->statistics.steps : 1);
    return json_pack("{s:f, s:f, s:f, s:f}", "wall", wall, "per_step", wall / steps, "solver", r->solver_seconds, "gap",
                     r->gap_seconds);
}

/* Writes the scene's file and settings, with which programs that play the caches can open the scene again. The number
 * of threads and the memory limit are omitted, because no result depends on them. The value is null if the path or a
 * setting is not UTF-8. */
static json_t *origin_json(const sinew_run *r)
{
    json_t *settings = json_array();
    bool good = r->scene_file != NULL;
    for (int32_t i = 0; i < r->settings.count && good; i++)
        if (strncmp(r->settings.texts[i], "threads=", 8) != 0 &&
            strncmp(r->settings.texts[i], "memory_limit=", 13) != 0)
            good = json_array_append_new(settings, json_string(r->settings.texts[i])) == 0;
    json_t *origin = good ? json_pack("{s:s, s:O}", "file", r->scene_file, "settings", settings) : NULL;
    json_decref(settings);
    return origin ? origin : json_null();
}

static json_t *summary_json(const sinew_run *r, const char *status)
{
    const int64_t step = sinew_world_step_count(r->world);
    return json_pack(
        "{s:i, s:s, s:s, s:o, s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:b, s:I, s:f, s:o, s:o, s:o}",
        "sinew_run", 1, "status", status, "scene", sinew_scene_name(r->scene), "origin", origin_json(r), "command",
        r->command_line, "version", SINEW_VERSION, "precision", SINEW_PRECISION, "solver",
        sinew_get_solver_info(sinew_scene_solver(r->scene).kind)->name, "threads",
        (json_int_t)sinew_world_thread_count(r->world), "particles", (json_int_t)sinew_world_particle_count(r->world),
        "first_frame", (json_int_t)r->first_frame, "last_frame", (json_int_t)r->frames, "steps_per_frame",
        (json_int_t)r->per_frame, "fps", sinew_scene_fps(r->scene), "balance", (int)r->balance, "step",
        (json_int_t)step, "time", (double)sinew_world_time(r->world), "steps",
        sinew_run_statistics_json(&r->statistics), "seconds", seconds_json(r), "files",
        sinew_run_manifest(r, strcmp(status, "finished") == 0));
}

bool sinew_run_summary_write(sinew_run *r, const char *status)
{
    sinew_output out;
    json_t *summary = summary_json(r, status);
    if (summary && r->closed)
        json_object_set(summary, "closed", r->closed);
    char *text = summary ? json_dumps(summary, JSON_INDENT(2)) : NULL;
    json_decref(summary);
    if (!text) {
        sinew_usage_error("run", "%s/summary.json: cannot be made: out of memory, or a name is not UTF-8",
                          r->directory);
        return false;
    }
    bool good = sinew_output_open(&out, "run", r->directory, "summary.json");
    if (good) {
        fprintf(out.stream, "%s\n", text);
        good = sinew_output_sync(&out) && sinew_output_close(&out);
        sinew_output_drop(&out);
    }
    free(text);
    return good;
}
