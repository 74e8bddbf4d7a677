/* SPDX-License-Identifier: MIT
 *
 * summary.c: summary.json of `sinew compare`. What does not exist (no estimate, level not reached, not a number) is
 * null.
 */
#include <math.h>

#include "compare.h"
#include "metrics.h"

/* JSON texts: names, paths and comments may hold anything. */
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

static void put_number(FILE *stream, double number)
{
    if (isfinite(number))
        fprintf(stream, "%.17g", number);
    else
        fputs("null", stream);
}

/* `before` is what stands between the entry before and this one. */
static void put_entry(FILE *stream, const char *before, const char *key, double number)
{
    fprintf(stream, "%s\"%s\": ", before, key);
    put_number(stream, number);
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

static void put_levels(const sinew_answer *a, FILE *stream)
{
    fputs(",\n         \"reached\": {", stream);
    for (int i = 0; i < SINEW_LEVEL_COUNT; i++) {
        int32_t row = sinew_row_reaching(a, sinew_levels[i]);
        fprintf(stream, "%s\"1e%d\": ", i ? ", " : "", (int)lround(log10(sinew_levels[i])));
        if (row < 0) {
            fputs("null", stream);
        } else {
            put_entry(stream, "{", "iteration", a->rows[row].iteration);
            put_entry(stream, ", ", "seconds", a->rows[row].seconds);
            fputc('}', stream);
        }
    }
    fputs("},\n         \"relative_error_at\": {", stream);
    const char *before = "";
    for (int i = 0; i < SINEW_SAMPLE_COUNT && sinew_samples[i] < a->row_count; i++) {
        fprintf(stream, "%s\"%d\": ", before, sinew_samples[i]);
        put_number(stream, sinew_error_at(a, sinew_samples[i]));
        before = ", ";
    }
    fputc('}', stream);
}

/* In the order of sinew_gap_kind. */
static const char *const gap_words[] = {"none", "estimate", "below", "unknown"};

static void put_answer(const sinew_answer *a, FILE *stream)
{
    put_entry(stream, "{", "iterations", a->result.iterations);
    put_entry(stream, ", ", "objective", a->result.objective);
    put_entry(stream, ", ", "inertia", a->result.inertia);
    put_entry(stream, ", ", "elastic", a->result.elastic);
    put_entry(stream, ",\n         ", "relative_error", sinew_final_error(a));
    put_entry(stream, ", ", "residual", a->result.residual);
    put_entry(stream, ", ", "relative_residual", a->result.relative_residual);
    put_entry(stream, ", ", "gap", a->result.gap);
    fprintf(stream, ", \"gap_kind\": \"%s\", \"gap_reason\": \"%s\"", gap_words[a->result.gap_kind],
            a->result.gap_reason);
    put_entry(stream, ",\n         ", "seconds", a->result.seconds);
    put_entry(stream, ", ", "set_up_seconds", a->set_up);
    put_entry(stream, ",\n         ", "linear_momentum_drift", a->linear_drift);
    put_entry(stream, ", ", "angular_momentum_drift", a->angular_drift);
    put_entry(stream, ", ", "distance", a->distance);
    put_entry(stream, ", ", "inverted_tets", a->measures.inverted_count);
    put_bits(stream, a->result.bits);
    put_levels(a, stream);
    fputc('}', stream);
}

static void put_solver(const sinew_comparison *c, int32_t i, FILE *stream)
{
    const sinew_contender *contender = &c->contenders[i];
    const sinew_solver_info *info = sinew_get_solver_info(contender->def.kind);
    fputs("    {\"solver\": ", stream);
    put_text(stream, contender->label);
    fputs(", \"kind\": ", stream);
    put_text(stream, info->name);
    put_entry(stream, ", ", "iterations_at_most", contender->def.iterations);
    put_entry(stream, ", ", "tolerance", (double)contender->def.tolerance);
    fputs(",\n     \"parameters\": {", stream);
    for (int32_t k = 0; k < info->parameter_count; k++)
        put_entry(stream, k ? ", " : "", info->parameters[k].name, (double)contender->def.parameters[k]);
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
    fputs(",\n  \"machine\": {\"precision\": \"" SINEW_PRECISION "\", \"lanes\": ", stream);
    put_text(stream, sinew_lanes_name());
    put_entry(stream, ", ", "lane_width", sinew_lanes_width());
    put_entry(stream, ", ", "threads", sinew_world_thread_count(c->world));
    put_entry(stream, "},\n  ", "particles", sinew_world_particle_count(c->world));
    put_entry(stream, ",\n  ", "time_step", (double)sinew_scene_time_step(c->scene));
    put_entry(stream, ",\n  ", "linear_momentum_scale", c->linear_scale);
    put_entry(stream, ",\n  ", "angular_momentum_scale", c->angular_scale);
    put_entry(stream, ",\n  ", "motion", c->motion);
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
        put_entry(stream, step ? ", {" : "{", "start", c->start[step]);
        put_entry(stream, ", ", "lowest", c->lowest[step]);
        fputc('}', stream);
    }
    fputs("],\n  \"solvers\": [\n", stream);
    for (int32_t i = 0; i < c->contender_count; i++) {
        put_solver(c, i, stream);
        fputs(i + 1 < c->contender_count ? ",\n" : "\n  ]\n}\n", stream);
    }
}
