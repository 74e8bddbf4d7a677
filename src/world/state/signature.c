/* SPDX-License-Identifier: MIT
 *
 * signature.c: the composition of a world as names and values, by which a state identifies its world and a difference
 * can be named: "energies.0.neo_hookean.young was 100000, is 1e+06".
 *
 * Included: quasistatic or not, time step, gravity, damping, loads, tearing, the solver with its iterations, tolerance, time budget and
 * parameters, meshes and masses, energies with their parameters and elements, contact, colliders, pins and motions:
 * data that determine the next step. Skins are included because the contact cache of a state contains their vertices.
 * Not included: the state itself, callbacks, the number of threads, recording, accuracy, and the settings of the
 * optimality gap. Long lists are represented by their count and CRC-32.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tagged_blob.h"
#include "contact/contact.h"
#include "world/world.h"
#include "world/forces/loads.h"
#include "world/bodies/tear.h"

/* ---- Signature values as text ------------------------------------------------------------------ */

enum {
    TEXT_SIZE = 160
};

/* Writes the shortest text that reproduces a real number exactly, with a decimal point in every locale, so that
 * texts can be compared. */
static void write_shortest_number(double value, char *text, size_t size)
{
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (!isfinite(value) || (sinew_real)strtod(text, NULL) == (sinew_real)value)
            break;
    }
    char *end = text;
    for (const char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x80 && *c != ',')
            *end++ = *c;
        else if (end == text || end[-1] != '.')
            *end++ = '.';
    }
    *end = '\0';
}

typedef struct signature {
    sinew_signature_line *line;
    void *context;
    char prefix[64]; /* text before the name in each signature line, such as "solver." */
} signature;

static void signature_put_text(const signature *s, const char *name, const char *value)
{
    char full[TEXT_SIZE];
    snprintf(full, sizeof full, "%s%s", s->prefix, name);
    s->line(s->context, full, value);
}

static void signature_put_number(const signature *s, const char *name, double value)
{
    char text[TEXT_SIZE];
    write_shortest_number(value, text, sizeof text);
    signature_put_text(s, name, text);
}

static void put_format(const signature *s, const char *name, const char *format, ...) SINEW_PRINTF(3, 4);
static void put_format(const signature *s, const char *name, const char *format, ...)
{
    char text[TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    signature_put_text(s, name, text);
}

/* Writes the value of a parameter to the signature, or its keyword if the parameter has choices. */
static void put_parameter(const signature *s, const sinew_parameter *parameter, double value)
{
    const char *word = parameter->choices;
    for (int skip = word ? (int)value : 0; word && skip > 0; skip--) {
        word = strchr(word, '|');
        word = word ? word + 1 : NULL;
    }
    if (word)
        put_format(s, parameter->name, "%.*s", (int)strcspn(word, "|"), word);
    else
        signature_put_number(s, parameter->name, value);
}

/* ---- Sections of a world's signature ----------------------------------------------------------- */

uint32_t sinew_pin_digest(const sinew_world *world, const sinew_pin_record *pin)
{
    if (pin->count == 0)
        return 0;
    const int32_t first = pin->body.index < 0 ? 0 : world->bodies[pin->body.index].first;
    uint32_t digest = sinew_checksum(pin->motion_digest, &pin->body.index, sizeof pin->body.index);
    for (int32_t i = 0; i < pin->count; i++) {
        const int32_t vertex = world->outside[pin->particles[i]] - first;
        digest = sinew_checksum(digest, &vertex, sizeof vertex);
    }
    if (sinew_pin_is_partial(pin))
        digest = sinew_checksum(digest, pin->directions, (size_t)pin->direction_count * sizeof pin->directions[0]);
    return digest;
}

static void put_world(signature *s, const sinew_world *world)
{
    const sinew_world_def *def = &world->def;
    signature_put_number(s, "time_step", (double)def->time_step);
    signature_put_text(s, "quasistatic", def->quasistatic ? "true" : "false");
    for (int c = 0; c < 3; c++)
        signature_put_number(s, c == 0 ? "gravity.x" : c == 1 ? "gravity.y" : "gravity.z", (double)def->gravity[c]);
    signature_put_number(s, "damping", (double)def->damping);
    put_format(s, "load_steps", "%" PRId32, def->load_steps);
}

static void signature_put_solver(signature *s, const sinew_solver_def *def)
{
    const sinew_solver_info *info = sinew_get_solver_info(def->kind);
    signature_put_text(s, "solver", info->name);
    snprintf(s->prefix, sizeof s->prefix, "solver.");
    put_format(s, "iterations", "%" PRId32, def->iterations);
    signature_put_number(s, "tolerance", (double)def->tolerance);
    signature_put_number(s, "time_budget", def->time_budget);
    /* The line `residuals` is part of the signature because most solvers cannot stop at the tolerance without
     * residuals. */
    signature_put_text(s, "residuals", def->measure == SINEW_MEASURE_NOTHING ? "not measured" : "measured");
    for (int32_t p = 0; p < info->parameter_count; p++)
        put_parameter(s, &info->parameters[p], (double)def->parameters[p]);
    s->prefix[0] = '\0';
}

static uint32_t digest_of_mesh(const sinew_mesh *mesh)
{
    const size_t corner = sizeof(int32_t);
    uint32_t digest =
        sinew_checksum(0, sinew_mesh_positions(mesh), 3 * (size_t)sinew_mesh_vertex_count(mesh) * sizeof(sinew_real));
    digest = sinew_checksum(digest, sinew_mesh_tets(mesh), 4 * (size_t)sinew_mesh_tet_count(mesh) * corner);
    if (sinew_mesh_fractions(mesh))
        digest =
            sinew_checksum(digest, sinew_mesh_fractions(mesh), (size_t)sinew_mesh_tet_count(mesh) * sizeof(sinew_real));
    digest = sinew_checksum(digest, sinew_mesh_triangles(mesh), 3 * (size_t)sinew_mesh_triangle_count(mesh) * corner);
    digest = sinew_checksum(digest, sinew_mesh_edges(mesh), 2 * (size_t)sinew_mesh_edge_count(mesh) * corner);
    if (sinew_mesh_directors(mesh))
        digest =
            sinew_checksum(digest, sinew_mesh_directors(mesh), 3 * (size_t)sinew_mesh_director_count(mesh) * corner);
    return digest;
}

/* Writes the contact settings to the signature. Worlds without contact have no such lines, so that older states still
 * match. */
static void put_contact(signature *s, const sinew_world *world)
{
    if (!sinew_contact_is_on(world))
        return;
    const sinew_contact_def *def = &world->contact->def;
    snprintf(s->prefix, sizeof s->prefix, "contact.");
    signature_put_text(s, "mode", sinew_contact_mode_name(def->mode));
    signature_put_text(s, "self", def->self ? "true" : "false");
    signature_put_text(s, "intersection_free", def->intersection_free ? "true" : "false");
    signature_put_text(s, "untangle", def->untangle ? "true" : "false");
    signature_put_number(s, "thickness", (double)def->thickness);
    signature_put_number(s, "friction", (double)def->friction);
    signature_put_number(s, "restitution", (double)def->restitution);
    signature_put_number(s, "stiffness", (double)def->stiffness);
    signature_put_number(s, "penalty", (double)def->penalty);
    signature_put_number(s, "penalty_tangent", (double)def->penalty_tangent);
    put_format(s, "multiplier_interval", "%" PRId32, def->multiplier_interval);
    put_format(s, "max_detections", "%" PRId32, def->max_detections);
    put_format(s, "pair_limit", "%" PRId64, def->pair_limit);
    s->prefix[0] = '\0';
}

static void put_own_or_world(const signature *s, const char *name, sinew_real own)
{
    if (isnan(own))
        signature_put_text(s, name, "the world's");
    else
        signature_put_number(s, name, (double)own);
}

static void put_body_contact(const signature *s, const sinew_body_contact *own)
{
    static const char *const surfaces[] = {"cage", "skin", "none"};
    signature_put_text(s, "contact.surface", surfaces[own->surface]);
    put_own_or_world(s, "contact.thickness", own->thickness);
    put_own_or_world(s, "contact.friction", own->friction);
    put_own_or_world(s, "contact.restitution", own->restitution);
    signature_put_text(s, "contact.self", own->self ? "true" : "false");
    put_format(s, "contact.group", "%08" PRIx32 ", mask %08" PRIx32, own->group, own->mask);
}

static void signature_put_body(signature *s, const sinew_world *world, int32_t index)
{
    const sinew_body_record *body = &world->bodies[index];
    const sinew_mesh *mesh = body->mesh;
    double mass = 0;
    if (!body->mesh) {
        snprintf(s->prefix, sizeof s->prefix, "bodies.%" PRId32, index);
        signature_put_text(s, "", "removed");
        return;
    }
    for (int32_t i = body->start; i < body->start + body->count; i++)
        mass += (double)world->mass[i];
    char text[32];
    write_shortest_number(mass, text, sizeof text);
    snprintf(s->prefix, sizeof s->prefix, "bodies.%" PRId32 ".", index);
    put_format(s, "mesh", "%" PRId32 " vertices, %" PRId32 " tets, %" PRId32 " triangles, %" PRId32 " edges",
               body->count, sinew_mesh_tet_count(mesh), sinew_mesh_triangle_count(mesh), sinew_mesh_edge_count(mesh));
    put_format(s, "shape", "checksum %08" PRIx32, digest_of_mesh(mesh));
    put_format(s, "mass", "%s kg (checksum %08" PRIx32 ")", text,
               sinew_checksum(0, world->mass + body->start, (size_t)body->count * sizeof *world->mass));
    if (body->damping > 0)
        signature_put_number(s, "damping", (double)body->damping);
    if (body->velocity_filter > 0)
        signature_put_number(s, "velocity_filter", (double)body->velocity_filter);
    if (sinew_contact_is_on(world))
        put_body_contact(s, &body->contact);
    if (body->skin) {
        const size_t points = (size_t)sinew_skin_vertex_count(body->skin);
        const uint32_t digest = sinew_checksum(0, body->skin_vertices, 4 * points * sizeof *body->skin_vertices);
        put_format(s, "skin", "%zu vertices (checksum %08" PRIx32 ")", points,
                   sinew_checksum(digest, body->skin_weights, 4 * points * sizeof *body->skin_weights));
    }
    if (body->solid.radius > 0)
        put_format(s, "solid", "radius %g m (checksum %08" PRIx32 ")", (double)body->solid.radius,
                   sinew_checksum(0, &body->solid, sizeof body->solid));
    if (body->tear)
        put_format(s, "tear", "%s above %g, %" PRId32 " a step", body->tear->def.split ? "splits" : "removes",
                   (double)body->tear->def.limit, body->tear->def.max);
}

static void put_energy(signature *s, const sinew_world *world, int32_t index)
{
    const sinew_energy_record *record = &world->energies[index];
    const sinew_energy_info *info = sinew_get_energy_info(record->kind);
    char name[32];
    s->prefix[0] = '\0';
    snprintf(name, sizeof name, "energies.%" PRId32, index);
    if (!record->batch) {
        signature_put_text(s, name, "removed");
        return;
    }
    const sinew_energy_origin origin = sinew_energy_get_origin(world, record);
    put_format(s, name, "%s on body %" PRId32, info->name, origin.body);
    snprintf(s->prefix, sizeof s->prefix, "%s.%s.", name, info->name);
    for (int32_t p = 0; p < info->parameter_count; p++)
        if (origin.by_element & 1u << p)
            signature_put_text(s, info->parameters[p].name, "by element");
        else
            put_parameter(s, &info->parameters[p], (double)origin.parameters[p]);
    if (record->damping > 0)
        signature_put_number(s, "damping", (double)record->damping);
    put_format(s, "elements", "%" PRId32 " (checksum %08" PRIx32 ")", record->batch->element_count, origin.digest);
}

/* Calls `line` for each line of a signature text. */
static void put_lines(const char *text, sinew_signature_line *line, void *context)
{
    char name[TEXT_SIZE], value[TEXT_SIZE];
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        const size_t length = strcspn(at, "="), rest = strcspn(at + length + 1, "\n");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        snprintf(value, sizeof value, "%.*s", (int)rest, at + length + 1);
        line(context, name, value);
    }
}

/* Signature text that grows line by line; if `text` is NULL, only its length is counted. */
typedef struct line_sink {
    char *text;
    size_t length;
} line_sink;

static void keep_line(void *context, const char *name, const char *value)
{
    line_sink *sink = context;
    const size_t length = strlen(name) + strlen(value) + 2;
    if (sink->text)
        snprintf(sink->text + sink->length, length + 1, "%s=%s\n", name, value);
    sink->length += length;
}

bool sinew_world_keep_signature(sinew_world *world)
{
    line_sink sink = {0};
    if (world->signature)
        return true;
    sinew_world_signature(world, keep_line, &sink);
    sink.text = sinew_allocate(&world->allocator, sink.length + 1, 1);
    if (!sink.text)
        return false;
    sink.length = 0;
    sinew_world_signature(world, keep_line, &sink);
    world->signature = sink.text;
    return true;
}

/* Writes the loads to the signature. Worlds that never had a load have no such lines. */
static void put_loads(signature *s, const sinew_world *world)
{
    s->prefix[0] = '\0';
    for (int32_t i = 0; i < world->load_count; i++) {
        const sinew_load_record *record = &world->loads[i];
        char name[32];
        snprintf(name, sizeof name, "loads.%" PRId32, i);
        if (record->live)
            put_format(s, name, "%s on body %" PRId32 " (checksum %08" PRIx32 ")",
                       sinew_get_load_info(record->kind)->name, record->body.index, sinew_load_digest(record));
        else
            signature_put_text(s, name, "removed");
    }
}

/* Writes the colliders to the signature. Worlds that never had a collider have no such lines. */
static void put_colliders(signature *s, const sinew_world *world)
{
    s->prefix[0] = '\0';
    for (int32_t i = 0; i < world->collider_count; i++) {
        const sinew_collider_record *record = &world->colliders[i];
        char name[32];
        snprintf(name, sizeof name, "colliders.%" PRId32, i);
        if (record->there)
            put_format(s, name, "%s (checksum %08" PRIx32 ")", sinew_shape_name(record->kind), record->digest);
        else
            signature_put_text(s, name, "removed");
    }
}

void sinew_world_signature(const sinew_world *world, sinew_signature_line *line, void *context)
{
    signature s = {line, context, ""};
    if (world->signature) {
        put_lines(world->signature, line, context);
        return;
    }
    put_world(&s, world);
    signature_put_solver(&s, &world->def.solver);
    put_format(&s, "bodies", "%" PRId32, world->body_count);
    put_format(&s, "energies", "%" PRId32, world->energy_count);
    put_format(&s, "pins", "%" PRId32, world->pin_count);
    for (int32_t i = 0; i < world->body_count; i++)
        signature_put_body(&s, world, i);
    for (int32_t i = 0; i < world->energy_count; i++)
        put_energy(&s, world, i);
    put_loads(&s, world);
    put_contact(&s, world);
    put_colliders(&s, world);
    snprintf(s.prefix, sizeof s.prefix, "pins.");
    for (int32_t i = 0; i < world->pin_count; i++) {
        char name[16];
        snprintf(name, sizeof name, "%" PRId32, i);
        put_format(&s, name, "%" PRId32 " vertices (checksum %08" PRIx32 ")", world->pins[i].count,
                   sinew_pin_digest(world, &world->pins[i]));
    }
}

/* ---- Comparison of a saved signature with the world's ---------------------------------------- */

typedef struct comparison {
    const char *text, *end, *cursor; /* saved signature: its start, its end, and the line compared next */
    int64_t found;                   /* number of saved lines that the world's signature also has */
    int32_t differences;
    char first[2 * TEXT_SIZE + 64];
} comparison;

/* Finds the value of the saved signature line with this name, or NULL; the search starts after the last line found. */
static const char *saved_value(comparison *c, const char *name, size_t *length)
{
    const size_t name_length = strlen(name);
    const char *at = c->cursor;
    for (bool wrapped = false;; at = c->text, wrapped = true) {
        while (at < c->end) {
            const char *stop = memchr(at, '\n', (size_t)(c->end - at));
            const char *next = stop ? stop + 1 : c->end;
            const size_t line = (size_t)((stop ? stop : c->end) - at);
            if (line > name_length && memcmp(at, name, name_length) == 0 && at[name_length] == '=') {
                c->cursor = next;
                *length = line - name_length - 1;
                return at + name_length + 1;
            }
            at = next;
        }
        if (wrapped)
            return NULL;
    }
}

static void compare_line(void *context, const char *name, const char *value)
{
    comparison *c = context;
    size_t length = 0;
    const char *saved = saved_value(c, name, &length);
    c->found += saved != NULL;
    if (saved && length == strlen(value) && memcmp(saved, value, length) == 0)
        return;
    if (c->differences++ > 0)
        return;
    char was[TEXT_SIZE] = "not there";
    for (size_t i = 0; saved && i <= length && i < sizeof was; i++)
        was[i] = i == length || i + 1 == sizeof was ? '\0' : saved[i] >= ' ' && saved[i] <= '~' ? saved[i] : '?';
    snprintf(c->first, sizeof c->first, "%s was %s, is %s", name, was, value);
}

typedef struct line_search {
    const char *name;
    size_t length;
    bool found;
} line_search;

static void search_line(void *context, const char *name, const char *value)
{
    line_search *search = context;
    (void)value;
    search->found |= strlen(name) == search->length && memcmp(name, search->name, search->length) == 0;
}

static int64_t count_lines(const comparison *c)
{
    int64_t count = c->end > c->text && c->end[-1] != '\n';
    for (const char *at = c->text; at < c->end; at++)
        count += *at == '\n';
    return count;
}

/* Finds the first saved signature line of a setting that the world does not have, such as the damping of a body. */
static void compare_missing(comparison *c, const sinew_world *world)
{
    char name[TEXT_SIZE];
    if (c->found == count_lines(c))
        return;
    for (const char *at = c->text, *next; at < c->end && c->differences == 0; at = next) {
        const char *stop = memchr(at, '\n', (size_t)(c->end - at));
        next = stop ? stop + 1 : c->end;
        const char *equals = memchr(at, '=', (size_t)(next - at));
        line_search search = {at, equals ? (size_t)(equals - at) : 0, !equals};
        sinew_world_signature(world, search_line, &search);
        if (search.found)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)search.length, at);
        compare_line(c, name, "not there");
    }
}

sinew_status sinew_world_signature_check(const sinew_world *world, const char *text, size_t size, sinew_error *error)
{
    comparison c = {.text = text, .end = text + size, .cursor = text};
    sinew_world_signature(world, compare_line, &c);
    size_t length;
    if (world->load_count == 0 && saved_value(&c, "loads.0", &length))
        compare_line(&c, "loads.0", "not there");
    if (world->collider_count == 0 && saved_value(&c, "colliders.0", &length))
        compare_line(&c, "colliders.0", "not there");
    if (!sinew_contact_is_on(world) && saved_value(&c, "contact.mode", &length))
        compare_line(&c, "contact.mode", "not there");
    compare_missing(&c, world);
    if (c.differences == 0)
        return SINEW_OK;
    if (c.differences == 1)
        return sinew_fail(error, SINEW_ERROR_DATA, "belongs to another scene: %s", c.first);
    return sinew_fail(error, SINEW_ERROR_DATA, "belongs to another scene: %s (and %" PRId32 " more)", c.first,
                      c.differences - 1);
}
