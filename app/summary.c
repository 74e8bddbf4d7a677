/* SPDX-License-Identifier: MIT
 *
 * summary.c: summary.json of `sinew compare`. Missing values (no estimate, level not reached, not a number) are null.
 */
#include <math.h>

#include "compare.h"
#include "metrics.h"

/* Writes a JSON string. Escapes control characters; copies bytes above 127, so `text` must be UTF-8. */
static void put_text(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(stream, "\\%c", *c);
        else if (*c < 0x20)
            fprintf(stream, "\\u%04x", *c);
        else
            fputc(*c, stream);
    }
    fputc('"', stream);
}

static void summary_put_number(FILE *stream, double number)
{
    if (isfinite(number))
        fprintf(stream, "%.17g", number);
    else
        fputs("null", stream);
}

/* Writes one JSON entry with a number; `before` is the separator from the previous entry. */
static void summary_put_entry(FILE *stream, const char *before, const char *key, double number)
{
    fprintf(stream, "%s\"%s\": ", before, key);
    summary_put_number(stream, number);
}

static void put_bits(FILE *stream, uint32_t bits)
{
    const char *before = "";
    fputs(", \"status\": [", stream);
    for (uint32_t bit = 1; bit; bit <<= 1)
        if (bits & bit) {
            fprintf(stream, "%s\"%s\"", before, sinew_step_bit_name(bit));
            before = ", ";
        }
    fputc(']', stream);
}

static void summary_put_levels(const sinew_answer *a, FILE *stream)
{
    fputs(",\n         \"reached\": {", stream);
    for (int i = 0; i < SINEW_LEVEL_COUNT; i++) {
        int32_t row = sinew_record_reaching(a, sinew_levels[i]);
        fprintf(stream, "%s\"1e%d\": ", i ? ", " : "", (int)lround(log10(sinew_levels[i])));
        if (row < 0) {
            fputs("null", stream);
        } else {
            summary_put_entry(stream, "{", "iteration", a->records[row].iteration);
            summary_put_entry(stream, ", ", "seconds", a->records[row].seconds);
            fputc('}', stream);
        }
    }
    fputs("},\n         \"relative_error_at\": {", stream);
    const char *before = "";
    for (int i = 0; i < SINEW_SAMPLE_COUNT && sinew_samples[i] < a->record_count; i++) {
        fprintf(stream, "%s\"%d\": ", before, sinew_samples[i]);
        summary_put_number(stream, sinew_error_at(a, sinew_samples[i]));
        before = ", ";
    }
    fputc('}', stream);
}

/* Names of the values of sinew_gap_kind in summary.json, in the order of the enum. */
static const char *const gap_words[] = {"none", "estimate", "below", "unknown"};

static void put_answer(const sinew_answer *a, FILE *stream)
{
    summary_put_entry(stream, "{", "iterations", a->result.iterations);
    summary_put_entry(stream, ", ", "objective", a->result.objective);
    summary_put_entry(stream, ", ", "inertia", a->result.inertia);
    summary_put_entry(stream, ", ", "elastic", a->result.elastic);
    summary_put_entry(stream, ",\n         ", "relative_error", sinew_final_error(a));
    summary_put_entry(stream, ", ", "residual", a->result.residual);
    summary_put_entry(stream, ", ", "relative_residual", a->result.relative_residual);
    summary_put_entry(stream, ", ", "gap", a->result.gap);
    fprintf(stream, ", \"gap_kind\": \"%s\", \"gap_reason\": \"%s\"", gap_words[a->result.gap_kind],
            a->result.gap_reason);
    summary_put_entry(stream, ",\n         ", "seconds", a->result.seconds);
    summary_put_entry(stream, ", ", "set_up_seconds", a->set_up);
    summary_put_entry(stream, ",\n         ", "linear_momentum_drift", a->linear_drift);
    summary_put_entry(stream, ", ", "angular_momentum_drift", a->angular_drift);
    summary_put_entry(stream, ", ", "distance", a->distance);
    summary_put_entry(stream, ", ", "inverted_tets", a->measures.inverted_count);
    put_bits(stream, a->result.bits);
    summary_put_levels(a, stream);
    fputc('}', stream);
}

static void put_solver(const sinew_comparison *c, int32_t i, FILE *stream)
{
    const sinew_method *method = &c->methods[i];
    const sinew_solver_info *info = sinew_get_solver_info(method->def.kind);
    fputs("    {\"solver\": ", stream);
    put_text(stream, method->label);
    fputs(", \"kind\": ", stream);
    put_text(stream, info->name);
    summary_put_entry(stream, ", ", "iterations_at_most", method->def.iterations);
    summary_put_entry(stream, ", ", "tolerance", (double)method->def.tolerance);
    fputs(",\n     \"parameters\": {", stream);
    for (int32_t k = 0; k < info->parameter_count; k++)
        summary_put_entry(stream, k ? ", " : "", info->parameters[k].name, (double)method->def.parameters[k]);
    fputs("},\n     \"steps\": [\n", stream);
    for (int32_t step = 0; step < c->step_count; step++) {
        fputs("        ", stream);
        put_answer(sinew_answer_of(c, step, i), stream);
        fputs(step + 1 < c->step_count ? ",\n" : "\n     ]}", stream);
    }
}

void sinew_write_summary(const sinew_comparison *c, FILE *stream)
{
    fputs("{\n  \"sinew\": \"" SINEW_VERSION "\",\n  \"scene\": ", stream);
    put_text(stream, sinew_scene_name(c->scene));
    fputs(",\n  \"command\": ", stream);
    put_text(stream, c->command_line);
    fputs(",\n  \"machine\": {\"precision\": \"" SINEW_PRECISION "\", \"simd\": ", stream);
    put_text(stream, sinew_simd_name());
    summary_put_entry(stream, ", ", "simd_width", sinew_simd_width());
    summary_put_entry(stream, ", ", "threads", sinew_world_thread_count(c->world));
    summary_put_entry(stream, "},\n  ", "particles", sinew_world_particle_count(c->world));
    summary_put_entry(stream, ",\n  ", "time_step", (double)sinew_scene_time_step(c->scene));
    summary_put_entry(stream, ",\n  ", "linear_momentum_scale", c->linear_scale);
    summary_put_entry(stream, ",\n  ", "angular_momentum_scale", c->angular_scale);
    summary_put_entry(stream, ",\n  ", "motion", c->motion);
    fputs(",\n  \"left_out\": [", stream);
    for (int32_t i = 0; i < c->refusal_count; i++) {
        fprintf(stream, "%s{\"solver\": ", i ? ", " : "");
        put_text(stream, c->refusals[i].name);
        fputs(", \"why\": ", stream);
        put_text(stream, c->refusals[i].why);
        fputc('}', stream);
    }
    fputs("],\n  \"objectives\": [", stream);
    for (int32_t step = 0; step < c->step_count; step++) {
        summary_put_entry(stream, step ? ", {" : "{", "start", c->start[step]);
        summary_put_entry(stream, ", ", "lowest", c->lowest[step]);
        fputc('}', stream);
    }
    fputs("],\n  \"solvers\": [\n", stream);
    for (int32_t i = 0; i < c->method_count; i++) {
        put_solver(c, i, stream);
        fputs(i + 1 < c->method_count ? ",\n" : "\n  ]\n}\n", stream);
    }
}
