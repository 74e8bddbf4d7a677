/* SPDX-License-Identifier: MIT
 *
 * scene.c: builds a world from a scene in four stages: parse the JSON to nodes with lines; apply settings; check
 * against the tables of keys; build colliders, bodies with their energies, pins and forces, and couplings.
 *
 * Known limits: a scene file is at most 64 MiB (meshes and long lists of numbers belong in separate files).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "io/file.h"
#include "io/scene/reader.h"

static const size_t largest_scene = (size_t)64 << 20;
static const double max_steps = 1e6; /* maximum number of steps per frame, as in the table of keys */

sinew_scene_def sinew_default_scene_def(void)
{
    return (sinew_scene_def){.cookie = SINEW_COOKIE_SCENE};
}

void *sinew_reader_allocate(sinew_reader *reader, size_t count, size_t size, const char *what)
{
    void *memory = sinew_allocate(&reader->allocator, count, size);
    if (!memory)
        sinew_fail_memory(reader->error, what);
    return memory;
}

static char *copy_text(sinew_reader *reader, const char *text, size_t length)
{
    char *copy = sinew_reader_allocate(reader, length + 1, 1, "a text");
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}

bool sinew_reader_warn(sinew_reader *reader, const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    char *old = reader->scene->warnings;
    size_t used = strlen(old), length = strlen(line);
    char *warnings = sinew_reader_allocate(reader, used + length + 2, 1, "warnings");
    if (!warnings)
        return false;
    snprintf(warnings, used + length + 2, "%s%s%s", old, used ? "\n" : "", line);
    sinew_release(&reader->allocator, old);
    reader->scene->warnings = warnings;
    return true;
}

/* ---- Name, times and settings of the world ------------------------------------------------------- */

/* True for at most 100 letters, digits, - and _, since the scene's name becomes part of file names. */
static bool is_plain_name(const char *name)
{
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    return strspn(name, plain) == strlen(name) && strlen(name) <= 100;
}

static bool read_name_and_comment(sinew_reader *reader)
{
    const sinew_node *root = reader->tree.root, *name = sinew_node_get(root, "name");
    const char *comment = sinew_node_text(sinew_node_get(root, "comment"));
    if (name && !is_plain_name(sinew_node_text(name)))
        return sinew_tree_fail(&reader->tree, name, "must be at most 100 letters, digits, - and _, as files get it");
    const char *slash = strrchr(reader->path, '/');
    const char *text = name ? sinew_node_text(name) : slash ? slash + 1 : reader->path;
    const char *dot = strrchr(text, '.');
    size_t length = !name && dot && dot != text ? (size_t)(dot - text) : strlen(text);
    reader->scene->name = copy_text(reader, text, length);
    reader->scene->comment = copy_text(reader, comment ? comment : "", comment ? strlen(comment) : 0);
    reader->scene->warnings = copy_text(reader, "", 0);
    return reader->scene->name && reader->scene->comment && reader->scene->warnings;
}

static void read_solver(const sinew_node *node, sinew_solver_def *def)
{
    const sinew_node *name = sinew_node_get(node, "name"), *iterations = sinew_node_get(node, "iterations");
    const sinew_node *tolerance = sinew_node_get(node, "tolerance"), *budget = sinew_node_get(node, "time_budget");
    const sinew_node *accuracy = sinew_node_get(node, "accuracy");
    const sinew_node *measure = sinew_node_get(node, "measure"), *every = sinew_node_get(node, "gap_every");
    if (name)
        *def = sinew_default_solver_def(sinew_solver_by_name(sinew_node_text(name)));
    const sinew_solver_info *info = sinew_get_solver_info(def->kind);
    if (iterations)
        def->iterations = sinew_node_integer(iterations);
    if (tolerance)
        def->tolerance = (sinew_real)sinew_node_number(tolerance);
    if (accuracy)
        def->accuracy = (sinew_real)sinew_node_number(accuracy);
    if (budget)
        def->time_budget = sinew_node_number(budget);
    if (measure)
        def->measure = (sinew_measure)sinew_keyword_index(sinew_node_text(measure), SINEW_MEASURE_NAMES);
    if (every)
        def->gap_every = sinew_node_integer(every);
    sinew_reader_parameters(node, info->parameters, info->parameter_count, def->parameters);
}

static int32_t integer_or(const sinew_node *node, int32_t otherwise)
{
    return node ? sinew_node_integer(node) : otherwise;
}

/* fps h n = 1 relates fps, h = time_step and n = steps_per_frame: two give the third, and all three must agree. With
 * fps alone, n is the smallest number that keeps h at or below its default. */
static bool read_times(sinew_reader *reader, sinew_real *time_step)
{
    const sinew_node *root = reader->tree.root, *rate = sinew_node_get(root, "fps");
    const sinew_node *length = sinew_node_get(root, "time_step"), *count = sinew_node_get(root, "steps_per_frame");
    const double fps = rate ? sinew_node_number(rate) : 0;
    const double h = length ? sinew_node_number(length) : (double)*time_step;
    double steps = count ? sinew_node_integer(count) : 1;
    if (rate && !count)
        steps = length ? round(1 / (fps * h)) : ceil(1 / (fps * h) - 1e-6);
    steps = fmin(fmax(steps, 1), max_steps);
    if (length && rate && fabs(fps * h * steps - 1) > 1e-6)
        return sinew_tree_fail(&reader->tree, rate,
                               "a frame of 1/%g s is %.6g steps of time_step %g s, not %s%g; leave out time_step, or "
                               "make it %.9g s",
                               fps, 1 / (fps * h), h, count ? "steps_per_frame " : "", steps, 1 / (fps * steps));
    *time_step = (sinew_real)(rate && !length ? 1 / (fps * steps) : h);
    reader->scene->steps_per_frame = (int32_t)steps;
    reader->scene->fps = rate ? fps : 1 / (h * steps);
    return true;
}

static bool create_world(sinew_reader *reader)
{
    const sinew_node *root = reader->tree.root, *balance = sinew_node_get(root, "balance");
    const sinew_node *gravity = sinew_node_get(root, "gravity"), *damping = sinew_node_get(root, "damping");
    const sinew_node *quasistatic = sinew_node_get(root, "quasistatic"), *limit = sinew_node_get(root, "memory_limit");
    sinew_scene *scene = reader->scene;
    sinew_world_def def = sinew_default_world_def();
    def.allocator = reader->allocator;
    if (!read_times(reader, &def.time_step))
        return false;
    if (gravity)
        sinew_node_vector(gravity, def.gravity);
    if (damping)
        def.damping = (sinew_real)sinew_node_number(damping);
    def.quasistatic = quasistatic && json_is_true(quasistatic->value);
    def.balance = balance && json_is_true(balance->value);
    def.load_steps = integer_or(sinew_node_get(root, "load_steps"), 0);
    def.thread_count = integer_or(sinew_node_get(root, "threads"), 0);
    def.memory_limit = limit ? (uint64_t)sinew_node_number(limit) : 0;
    read_solver(sinew_node_get(root, "solver"), &def.solver);
    scene->frames = integer_or(sinew_node_get(root, "frames"), 60);
    scene->writes_bodies = sinew_node_get(root, "write") && sinew_node_text(sinew_node_get(root, "write"))[0] == 'b';
    scene->solver = def.solver;
    scene->time_step = def.time_step;
    scene->world = sinew_world_create(&def, reader->error);
    const sinew_node *solver = sinew_node_get(root, "solver");
    const bool small = limit && reader->error && reader->error->status == SINEW_ERROR_MEMORY;
    return scene->world || sinew_tree_blame(&reader->tree, small ? limit : solver ? solver : root);
}

/* ---- Stages of building a scene ------------------------------------------------------------------ */

static bool build_scene(sinew_reader *reader)
{
    const sinew_node *bodies = sinew_node_get(reader->tree.root, "bodies");
    const sinew_node *couplings = sinew_node_get(reader->tree.root, "couplings");
    const sinew_node *colliders = sinew_node_get(reader->tree.root, "colliders");
    if (!read_name_and_comment(reader) || !sinew_reader_view(reader) || !create_world(reader) ||
        !sinew_reader_contact(reader))
        return false;
    /* Pins may follow a collider, so colliders are read first. */
    for (const sinew_node *entry = colliders ? colliders->child : NULL; entry; entry = entry->next)
        if (!sinew_reader_collider(reader, entry))
            return false;
    for (const sinew_node *entry = bodies->child; entry; entry = entry->next)
        if (!sinew_reader_body(reader, entry))
            return false;
    for (const sinew_node *entry = couplings ? couplings->child : NULL; entry; entry = entry->next)
        if (!sinew_reader_coupling(reader, entry))
            return false;
    return sinew_reader_warn_of_cages(reader);
}

static bool read_tree(sinew_reader *reader, const char *text, size_t size, const sinew_scene_def *def)
{
    if (!sinew_tree_parse(&reader->tree, text, size))
        return false;
    for (int32_t i = 0; i < def->setting_count; i++)
        if (!sinew_tree_set(&reader->tree, def->settings[i]))
            return false;
    return sinew_shape_check(&reader->tree, reader->tree.root, &sinew_scene_shape);
}

/* Builds a scene from JSON text; NULL on failure. def->path is the name of the text in error messages; its folder is
 * the base of relative paths. */
static sinew_scene *parse_scene(const char *text, size_t size, const sinew_scene_def *def, sinew_error *error)
{
    sinew_error own;
    sinew_reader reader = {.allocator = sinew_allocator_or_system(&def->allocator), .error = error ? error : &own};
    reader.path = def->path ? def->path : "scene";
    reader.tree = (sinew_tree){.allocator = reader.allocator, .path = reader.path, .error = reader.error};
    sinew_error_clear(reader.error);
    if (size > largest_scene) {
        sinew_fail(reader.error, SINEW_ERROR_FORMAT,
                   "%s: a scene file is at most 64 MiB; put meshes and lists in files", reader.path);
        return NULL;
    }
    sinew_scene *scene = sinew_allocate_zero(&reader.allocator, 1, sizeof *scene);
    if (!scene) {
        sinew_fail_memory(reader.error, "a scene");
        return NULL;
    }
    scene->allocator = reader.allocator;
    reader.scene = scene;
    if (!read_tree(&reader, text, size, def) || !build_scene(&reader)) {
        sinew_scene_destroy(scene);
        scene = NULL;
    }
    sinew_tree_free(&reader.tree);
    return scene;
}

sinew_scene *sinew_scene_read(const sinew_scene_def *def, sinew_error *error)
{
    bool usable = SINEW_ASSERT(def != NULL) && SINEW_ASSERT(def->cookie == SINEW_COOKIE_SCENE) &&
                  SINEW_ASSERT(def->path || def->text) &&
                  SINEW_ASSERT(def->setting_count == 0 || def->settings != NULL);
    if (!usable) {
        sinew_fail(error, SINEW_ERROR_USAGE,
                   "sinew_scene_read: fill the def with sinew_default_scene_def() and a path or a text");
        return NULL;
    }
    if (def->text)
        return parse_scene(def->text, def->text_size, def, error);
    sinew_allocator allocator = sinew_allocator_or_system(&def->allocator);
    size_t size;
    char *text = sinew_file_read(def->path, &allocator, &size, error);
    sinew_scene *scene = text ? parse_scene(text, size, def, error) : NULL;
    sinew_release(&allocator, text);
    return scene;
}

void sinew_scene_destroy(sinew_scene *scene)
{
    if (!scene)
        return;
    sinew_allocator allocator = scene->allocator;
    sinew_world_destroy(scene->world);
    sinew_release(&allocator, scene->name);
    sinew_release(&allocator, scene->comment);
    sinew_release(&allocator, scene->warnings);
    sinew_release(&allocator, scene);
}

/* ---- Access to a scene --------------------------------------------------------------------------- */

sinew_world *sinew_scene_world(sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->world : NULL;
}

sinew_body sinew_scene_body(const sinew_scene *scene, const char *name)
{
    return SINEW_ASSERT(scene && name) ? sinew_world_body_by_name(scene->world, name) : (sinew_body){.index = -1};
}

const char *sinew_scene_name(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->name : "";
}

const char *sinew_scene_comment(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->comment : "";
}

const char *sinew_scene_warnings(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->warnings : "";
}

int32_t sinew_scene_frames(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->frames : 0;
}

int32_t sinew_scene_steps_per_frame(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->steps_per_frame : 0;
}

double sinew_scene_fps(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->fps : 0;
}

bool sinew_scene_writes_bodies(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) && scene->writes_bodies;
}

sinew_solver_def sinew_scene_solver(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->solver : sinew_default_solver_def(SINEW_SOLVER_NEWTON);
}

sinew_real sinew_scene_time_step(const sinew_scene *scene)
{
    return SINEW_ASSERT(scene != NULL) ? scene->time_step : 0;
}
