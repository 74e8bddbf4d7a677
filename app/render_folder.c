/* SPDX-License-Identifier: MIT
 *
 * render_folder.c: frames of a run in a folder. summary.json names the scene, and the cache holds the positions. One
 * pass over the cache computes bounds and a second pass draws; memory holds one frame at a time.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "render.h"
#include "shell.h"

static const char command[] = "render";

bool sinew_is_run_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/* ---- Scene of the run in the folder ------------------------------------------------------------ */

static bool refuse_origin(const char *directory, const char *why)
{
    sinew_usage_error(command, "%s/summary.json: %s; render the scene itself, or run it again", directory, why);
    return false;
}

/* Reads the scene file and the settings of the run from summary.json. Refuses options that would change the simulation,
 * and a run in the other precision. */
static bool take_origin(sinew_render *r, const char *directory, const json_t *summary, const char **file)
{
    json_t *settings;
    static const char *const not_here[] = {"solver", "solvers", "iterations", "tolerance", "frames", "set"};
    for (size_t i = 0; i < sizeof not_here / sizeof not_here[0]; i++)
        if (sinew_option_on(&r->arguments, not_here[i])) {
            sinew_usage_error(command, "--%s: the run in %s is played as it is; render the scene instead", not_here[i],
                              directory);
            return false;
        }
    if (json_unpack(json_object_get(summary, "origin"), "{s:s, s:o}", "file", file, "settings", &settings) != 0)
        return refuse_origin(directory, "does not say which file its scene was, as runs of earlier versions do not");
    if (strcmp(sinew_run_summary_text(summary, "precision"), SINEW_PRECISION) != 0) {
        sinew_usage_error(command, "%s: is a run in %s precision, this program has %s; give --precision %s", directory,
                          sinew_run_summary_text(summary, "precision"), SINEW_PRECISION,
                          sinew_run_summary_text(summary, "precision"));
        return false;
    }
    for (size_t i = 0; i < json_array_size(settings) && r->settings.count < SINEW_SETTING_MAX; i++) {
        const char *text = json_string_value(json_array_get(settings, i));
        if (text)
            r->settings.texts[r->settings.count++] = text;
    }
    return true;
}

/* ---- Cache of the run -------------------------------------------------------------------------- */

/* Cache formats in order of exactness, each with the file ending that identifies it. */
static const struct known_cache {
    sinew_cache_format format;
    const char *ending;
    bool sequence;
} known_caches[] = {
    {SINEW_CACHE_NPY, "positions.npy", false},
    {SINEW_CACHE_CSV, "csv", false},
    {SINEW_CACHE_VTU, "vtu", true},
    {SINEW_CACHE_OBJ, "obj", true},
    {SINEW_CACHE_PC2, "pc2", false},
};

/* Returns the most exact cache of the folder; NULL: none. With `unfinished`, searches files that are still being
 * written. */
static const struct known_cache *find_cache(const char *directory, const char *name, int64_t first, bool unfinished)
{
    for (size_t i = 0; i < sizeof known_caches / sizeof known_caches[0]; i++) {
        char path[4096];
        const struct known_cache *known = &known_caches[i];
        if (known->sequence)
            snprintf(path, sizeof path, "%s/%s.%04lld.%s", directory, name, (long long)first, known->ending);
        else
            snprintf(path, sizeof path, "%s/%s.%s%s", directory, name, known->ending, unfinished ? ".partial" : "");
        if (access(path, F_OK) == 0)
            return known;
    }
    return NULL;
}

static bool open_cache(sinew_render *r, const char *directory, const json_t *summary)
{
    const char *name = sinew_scene_name(r->scene);
    const int64_t first = json_integer_value(json_object_get(summary, "first_frame"));
    const bool running = strcmp(sinew_run_summary_text(summary, "status"), "running") == 0;
    const struct known_cache *known = find_cache(directory, name, first, false);
    const bool unfinished = !known && running;
    if (unfinished)
        known = find_cache(directory, name, first, true);
    if (running) {
        char now[128];
        sinew_run_progress_text(directory, summary, now, sizeof now);
        fprintf(stderr, "%s: %s; complete frames only\n", directory, now);
    }
    if (!known) {
        sinew_usage_error(
            command,
            "%s: holds no finished cache %s.npy, .csv, .vtu, .obj or .pc2 (its run is %s); give `sinew run` "
            "--format pc2, or render the scene",
            directory, name, sinew_run_summary_text(summary, "status"));
        return false;
    }
    sinew_cache_reader_def def = sinew_default_cache_reader_def();
    def.directory = directory;
    def.name = name;
    def.format = known->format;
    def.unfinished = unfinished;
    r->whole_bodies = known->format == SINEW_CACHE_NPY;
    def.first_frame = first >= 0 && first < INT32_MAX ? (int32_t)first : 0;
    def.frame_time = (sinew_real)r->frame_time;
    r->cache = sinew_cache_reader_open(&def, &r->error);
    if (!r->cache)
        sinew_usage_error(command, "%s", r->error.text);
    return r->cache != NULL;
}

/* ---- Embedded surfaces in the cache ------------------------------------------------------------ */

/* Number of points that a cache of a world with skins has: points of skins, and of bodies without a skin. */
static int64_t count_shown(const sinew_world *world, bool *skinned)
{
    int64_t count = 0;
    *skinned = false;
    for (int32_t i = 0; i < sinew_world_body_count(world); i++) {
        const sinew_body body = sinew_world_body_at(world, i);
        const sinew_skin *skin = body.index >= 0 ? sinew_body_skin(world, body) : NULL;
        *skinned = *skinned || skin;
        if (body.index >= 0)
            count += skin ? sinew_skin_vertex_count(skin) : sinew_mesh_vertex_count(sinew_body_mesh(world, body));
    }
    return count;
}

/* Adds a body to the world of the cached surfaces; its vertices are the points of the cache. The mesh is embedded in
 * itself, so that its materials are kept. */
static bool add_shell(sinew_render *r, const sinew_skin *skin, const sinew_mesh *mesh)
{
    const sinew_body body = sinew_add_shell(r->shell, mesh, &r->error);
    sinew_embedding_def embedding = sinew_default_embedding_def();
    embedding.skin = skin;
    return body.index >= 0 && (!skin || sinew_body_set_skin(r->shell, body, &embedding, &r->error) == SINEW_OK);
}

/* Builds a world of the cached surfaces, for caches that hold skins in place of bodies. */
static bool make_shell(sinew_render *r)
{
    const sinew_world *world = sinew_scene_world(r->scene);
    const sinew_world_def def = sinew_default_world_def();
    r->shell = sinew_world_create(&def, &r->error);
    bool good = r->shell != NULL;
    for (int32_t i = 0; i < sinew_world_body_count(world) && good; i++) {
        const sinew_body body = sinew_world_body_at(world, i);
        const sinew_skin *skin = sinew_body_skin(world, body);
        good = add_shell(r, skin, skin ? sinew_skin_mesh(skin) : sinew_body_mesh(world, body));
    }
    if (!good)
        sinew_usage_error(command, "%s: %s", sinew_cache_reader_path(r->cache), r->error.text);
    return good;
}

/* True if the cache fits the scene: its points are the particles, or the points of surfaces, for which the function
 * builds the world `shell`. Otherwise prints a message. */
static bool check_points(sinew_render *r, const char *file)
{
    bool skinned;
    const sinew_world *world = sinew_scene_world(r->scene);
    const int32_t points = sinew_cache_reader_point_count(r->cache);
    const int32_t particles = sinew_world_particle_count(world);
    const int64_t shown = count_shown(world, &skinned);
    const sinew_colour_kind colour = r->style.snapshot.colour;
    if (skinned && points == shown && !r->whole_bodies) {
        if (colour == SINEW_COLOUR_BODY || colour == SINEW_COLOUR_SPEED)
            return make_shell(r);
        sinew_usage_error(command,
                          "--colour %s: %s holds the embedded surfaces, not the bodies; render the scene "
                          "%s instead, or run it with --format npy",
                          sinew_colour_name(colour), sinew_cache_reader_path(r->cache), file);
        return false;
    }
    if (points == particles)
        return true;
    sinew_usage_error(command,
                      "%s: has %d points a frame, the scene %s has %lld %s; the scene has changed since: run it again, "
                      "or render the scene",
                      sinew_cache_reader_path(r->cache), points, sinew_scene_name(r->scene),
                      skinned ? (long long)shown : (long long)particles, skinned ? "points" : "particles");
    return false;
}

static bool open_run(sinew_render *r, const char *directory, const json_t *summary)
{
    const char *file;
    char why[4200];
    if (!take_origin(r, directory, summary, &file))
        return false;
    if (access(file, R_OK) != 0) {
        snprintf(why, sizeof why, "its scene %s is not there any more", file);
        return refuse_origin(directory, why);
    }
    r->scene = sinew_open_scene(command, file, &r->settings);
    if (!r->scene || !sinew_style_read(&r->arguments, r->scene, &r->style))
        return false;
    if (sinew_colour_is_of_steps(r->style.snapshot.colour)) {
        sinew_usage_error(command,
                          "--colour %s: caches hold positions and not the forces and errors of steps; render the "
                          "scene %s instead",
                          sinew_colour_name(r->style.snapshot.colour), file);
        return false;
    }
    r->panel_count = 1;
    r->frame_time = 1 / sinew_scene_fps(r->scene);
    if (!open_cache(r, directory, summary) || !check_points(r, file))
        return false;
    r->lowest = json_integer_value(json_object_get(summary, "first_frame"));
    r->highest = r->lowest + sinew_cache_reader_frame_count(r->cache) - 1;
    const size_t count = 3 * (size_t)sinew_cache_reader_point_count(r->cache);
    r->q = malloc(count * sizeof *r->q);
    r->v = malloc(count * sizeof *r->v);
    if (!r->q || !r->v)
        sinew_usage_error(command, "out of memory for a frame");
    return r->q && r->v;
}

bool sinew_render_open_folder(sinew_render *r, const char *directory)
{
    bool foreign;
    json_t *summary = sinew_run_summary_read(directory, &foreign);
    if (!summary) {
        sinew_usage_error(command,
                          foreign ? "%s/summary.json: is not of a run"
                                  : "%s: is a folder without a run's summary.json; give a scene, or the --out of "
                                    "sinew run",
                          directory);
        return false;
    }
    bool good = open_run(r, directory, summary);
    /* The settings of the run are cleared first, because the summary owns their texts. */
    r->settings = (sinew_settings){0};
    json_decref(summary);
    return good;
}

/* ---- Frames of the cache ----------------------------------------------------------------------- */

sinew_snapshot *sinew_render_take(sinew_render *r, int64_t frame)
{
    sinew_world *world = r->shell ? r->shell : sinew_scene_world(r->scene);
    const int32_t count = sinew_cache_reader_point_count(r->cache);
    if (sinew_cache_reader_frame(r->cache, (int32_t)frame, r->q, r->v, &r->error) != SINEW_OK) {
        sinew_usage_error(command, "%s", r->error.text);
        return NULL;
    }
    sinew_snapshot *snapshot = NULL;
    r->style.snapshot.colliders = sinew_scene_world(r->scene);
    r->style.snapshot.collider_time = (double)frame * r->frame_time;
    if (sinew_world_set_positions(world, 0, count, r->q) != SINEW_OK ||
        sinew_world_set_velocities(world, 0, count, r->v) != SINEW_OK)
        sinew_usage_error(command, "%s: frame %lld: the world does not take its points",
                          sinew_cache_reader_path(r->cache), (long long)frame);
    else if (!(snapshot = sinew_snapshot_take(world, &r->style.snapshot, &r->error)))
        sinew_usage_error(command, "%s: frame %lld: %s", sinew_cache_reader_path(r->cache), (long long)frame,
                          r->error.text);
    return snapshot;
}

bool sinew_render_survey_folder(sinew_render *r)
{
    for (int64_t frame = r->first; frame <= r->last; frame++) {
        sinew_snapshot *snapshot = sinew_render_take(r, frame);
        if (!snapshot)
            return false;
        sinew_survey_add(&r->survey, snapshot);
        sinew_snapshot_destroy(snapshot);
    }
    return true;
}

void sinew_render_free_sources(sinew_render *r)
{
    for (int64_t i = 0; r->shots && i < r->shot_frames * r->panel_count; i++)
        sinew_snapshot_destroy(r->shots[i].snapshot);
    free(r->shots);
    free(r->q);
    free(r->v);
    sinew_cache_reader_close(r->cache);
    sinew_world_destroy(r->shell);
    sinew_scene_destroy(r->scene);
}
