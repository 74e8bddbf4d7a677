/* SPDX-License-Identifier: MIT
 *
 * render_scene.c: frames of a scene that is simulated for the picture, by its own solver or by several solvers in
 * sequence, each in a separate world.
 *
 * A snapshot for each frame and panel is kept until it is drawn. A snapshot holds visible data only (surface, colours),
 * not the world.
 */
#include <stdlib.h>
#include <string.h>

#include "metrics.h"
#include "progress.h"
#include "render.h"

static const char command[] = "render";

/* ---- Solvers of the panels --------------------------------------------------------------------- */

static bool read_solvers(sinew_render *r)
{
    const char *list = sinew_option_text(&r->arguments, "solvers");
    r->panel_count = 0;
    for (const char *word = list; word;) {
        const size_t length = strcspn(word, ",");
        if (r->panel_count == SINEW_PANEL_MAX) {
            sinew_usage_error(command, "--solvers: more than %d solvers do not fit into one picture", SINEW_PANEL_MAX);
            return false;
        }
        if (!sinew_method_read(command, word, length, &r->methods[r->panel_count++]))
            return false;
        word = word[length] ? word + length + 1 : NULL;
    }
    if (list && sinew_option_text(&r->arguments, "solver")) {
        sinew_usage_error(command, "--solver and --solvers exclude each other; give one of them");
        return false;
    }
    r->panel_count = list ? r->panel_count : 1;
    return true;
}

/* Returns the solver settings of a panel. The scene's settings apply to the scene's solver. Other solvers have their
 * defaults, iterations and tolerance of the command line, and the options of their label. */
static sinew_solver_def render_scene_solver_of(const sinew_render *r, const sinew_method *c)
{
    sinew_solver_def def = sinew_scene_solver(r->scene);
    if (c->label[0] && (c->def.kind != def.kind || strchr(c->label, ':'))) {
        const sinew_solver_def scene = def;
        def = c->def;
        if (!c->own_iterations && sinew_option_on(&r->arguments, "iterations"))
            def.iterations = scene.iterations;
        if (!c->own_tolerance && sinew_option_on(&r->arguments, "tolerance"))
            def.tolerance = scene.tolerance;
    }
    def.record = SINEW_RECORD_NONE;
    /* Only panels of --solvers show the optimality gap; other pictures skip it unless they colour by position error. */
    if (!c->label[0])
        def.measure = SINEW_MEASURE_RESIDUAL;
    if (r->style.snapshot.colour == SINEW_COLOUR_POSITION_ERROR) {
        def.measure = SINEW_MEASURE_GAP;
        def.gap_every = 1;
    }
    return def;
}

/* ---- Opening of the scene --------------------------------------------------------------------- */

static bool open_world(sinew_render *r, const char *name)
{
    sinew_scene_destroy(r->scene);
    r->scene = sinew_open_scene(command, name, &r->settings);
    return r->scene && sinew_style_read(&r->arguments, r->scene, &r->style);
}

bool sinew_render_open_scene(sinew_render *r, const char *name)
{
    if (!read_solvers(r) || !sinew_settings_add_options(&r->settings, &r->arguments) || !open_world(r, name))
        return false;
    /* Only worlds with `balance` store residuals, so the scene is read again with this setting. */
    if (r->style.snapshot.colour == SINEW_COLOUR_RESIDUAL) {
        sinew_settings_add_text(&r->settings, "balance", "true");
        if (!open_world(r, name))
            return false;
    }
    r->lowest = 0;
    r->highest = sinew_scene_frames(r->scene);
    r->frame_time = 1 / sinew_scene_fps(r->scene);
    return true;
}

/* ---- Steps of a panel's simulation ------------------------------------------------------------ */

/* Formats the caption of a panel: "12 iterations a step" and the gap, as `sinew run` prints it, but without the reason
 * of an unknown gap. */
static void write_caption(const sinew_run_statistics *s, char *caption, size_t size)
{
    char gap[320];
    if (s->steps == 0) {
        snprintf(caption, size, "start");
        return;
    }
    sinew_run_gap_text(s, gap, sizeof gap);
    char *reason = strstr(gap, ": ");
    if (reason)
        *reason = '\0';
    snprintf(caption, size, "%.3g iterations a step\n%s", (double)s->iterations / (double)s->steps, gap);
}

static bool take_shot(sinew_render *r, int32_t panel, int64_t frame)
{
    sinew_shot *shot = &r->shots[(frame - r->first) * r->panel_count + panel];
    shot->snapshot = sinew_snapshot_take(sinew_scene_world(r->scene), &r->style.snapshot, &r->error);
    if (!shot->snapshot) {
        sinew_usage_error(command, "%s: frame %lld: %s", sinew_scene_name(r->scene), (long long)frame, r->error.text);
        return false;
    }
    sinew_survey_add(&r->survey, shot->snapshot);
    if (!r->methods[panel].label[0])
        return true;
    if (r->failed_step)
        snprintf(shot->caption, sizeof shot->caption, "non-finite in step %lld", (long long)r->failed_step);
    else
        write_caption(&r->statistics, shot->caption, sizeof shot->caption);
    return true;
}

/* Takes one step of a panel's simulation. A non-finite or contradictory step sets failed_step. Returns false, with a
 * message, if the world cannot be prepared. */
static bool render_scene_take_step(sinew_render *r)
{
    sinew_step_result result;
    sinew_world *world = sinew_scene_world(r->scene);
    const int64_t step = sinew_world_step_count(world) + 1;
    sinew_world_step(world, &result);
    if (result.bits & SINEW_STEP_UNPREPARED) {
        sinew_usage_error(command, "%s: %s", sinew_scene_name(r->scene), sinew_world_error(world));
        return false;
    }
    if (result.bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_CONTRADICTORY)) {
        r->failed_step = step;
        r->failed = result;
        return true;
    }
    sinew_run_count(&r->statistics, world, step, &result);
    return true;
}

/* Simulates all frames of one panel. After a failed step the remaining frames show the last good state; without
 * --solvers they are omitted. */
static bool simulate_panel(sinew_render *r, int32_t panel, sinew_progress *progress)
{
    const int64_t per_frame = sinew_scene_steps_per_frame(r->scene);
    const sinew_method *method = &r->methods[panel];
    const sinew_solver_def solver = render_scene_solver_of(r, method);
    sinew_world *world = sinew_scene_world(r->scene);
    r->statistics = (sinew_run_statistics){0};
    r->failed_step = 0;
    if (sinew_world_set_solver(world, &solver, &r->error) != SINEW_OK) {
        sinew_usage_error(command, "%s: %s", sinew_scene_name(r->scene), r->error.text);
        return false;
    }
    for (int64_t frame = 0; frame <= r->last; frame++) {
        for (int64_t i = 0; frame > 0 && i < per_frame && !r->failed_step; i++) {
            if (!render_scene_take_step(r))
                return false;
            sinew_progress_show(progress, panel * r->last * per_frame + (frame - 1) * per_frame + i + 1,
                                method->label[0] ? method->label : "simulating");
        }
        if (r->failed_step && !method->label[0])
            return true;
        if (frame >= r->first && !take_shot(r, panel, frame))
            return false;
    }
    return true;
}

/* Ends the film before the failed frame if the only solver fails. Returns the exit status. */
static int end_early(sinew_render *r)
{
    const int64_t per_frame = sinew_scene_steps_per_frame(r->scene), reached = (r->failed_step - 1) / per_frame;
    if (r->failed.bits & SINEW_STEP_CONTRADICTORY) {
        sinew_usage_error(command, "%s: step %lld: constraints are %s; frames end with %lld of %lld",
                          sinew_scene_name(r->scene), (long long)r->failed_step, r->failed.constraints,
                          (long long)reached, (long long)r->last);
        r->last = reached;
        return SINEW_EXIT_UNMET;
    }
    sinew_usage_error(command, "%s: step %lld became non-finite; frames end with %lld of %lld; %s",
                      sinew_scene_name(r->scene), (long long)r->failed_step, (long long)reached, (long long)r->last,
                      sinew_not_finite_advice(sinew_scene_world(r->scene), &r->failed));
    r->last = reached;
    return SINEW_EXIT_NOT_FINITE;
}

int sinew_render_simulate(sinew_render *r)
{
    sinew_progress progress;
    int status = SINEW_EXIT_DONE;
    r->shot_frames = r->last - r->first + 1;
    r->shots = calloc((size_t)r->shot_frames * (size_t)r->panel_count, sizeof *r->shots);
    if (!r->shots)
        return sinew_usage_error(command, "out of memory for %lld frames", (long long)r->shot_frames);
    sinew_progress_start(&progress, r->last * sinew_scene_steps_per_frame(r->scene) * r->panel_count, r->quiet);
    for (int32_t panel = 0; panel < r->panel_count && status == SINEW_EXIT_DONE; panel++)
        if ((panel > 0 && !open_world(r, r->arguments.plain[0])) || !simulate_panel(r, panel, &progress))
            status = SINEW_EXIT_USAGE;
    sinew_progress_end(&progress);
    if (status == SINEW_EXIT_DONE && r->failed_step && !r->methods[0].label[0])
        status = end_early(r);
    return status;
}
