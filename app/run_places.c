/* SPDX-License-Identifier: MIT
 *
 * run_places.c: where the status bits of a run come from: for each bit the bodies, the worst vertex or tet with its
 * step, and a remedy.
 *
 * A remedy is listed only if a recorded measurement shows that it helps (docs/guides/runs.md); bits without such a
 * measurement have none.
 */
#include <string.h>

#include "run.h"

/* ---- Counting of status bits ------------------------------------------------------------------- */

/* Writes the name of a body, or its number if it has no name or a long one. */
static void place_name(const sinew_world *world, sinew_body body, char name[SINEW_RUN_PLACE_NAME])
{
    const char *own = sinew_body_name(world, body);
    if (own[0] && strlen(own) < SINEW_RUN_PLACE_NAME)
        memcpy(name, own, strlen(own) + 1);
    else
        snprintf(name, SINEW_RUN_PLACE_NAME, "body %d", body.index);
}

static void place_count_body(sinew_run_place *p, const char *name)
{
    for (int32_t i = 0; i < p->body_count; i++)
        if (strcmp(p->bodies[i], name) == 0)
            return;
    if (p->body_count < SINEW_RUN_PLACE_BODIES)
        memcpy(p->bodies[p->body_count++], name, SINEW_RUN_PLACE_NAME);
}

static void place_take(sinew_run_place *p, uint32_t bit, const sinew_step_place *place, const char *name, int64_t step)
{
    const bool smallest = bit == SINEW_STEP_INVERTED;
    if (p->step != 0 && !(smallest ? place->value < p->value : place->value > p->value))
        return;
    p->step = step;
    memcpy(p->body, name, SINEW_RUN_PLACE_NAME);
    p->vertex = place->vertex;
    p->energy = place->energy.index;
    p->element = place->element;
    p->value = place->value;
}

void sinew_run_count_places(sinew_run_place *places, const sinew_world *world, int64_t step, uint32_t bits)
{
    for (int i = 0; i < SINEW_RUN_BITS; i++) {
        sinew_step_place found[SINEW_RUN_PLACE_BODIES];
        if (!(bits & 1u << i))
            continue;
        const int32_t count = sinew_world_step_places(world, 1u << i, SINEW_RUN_PLACE_BODIES, found);
        for (int32_t k = 0; k < count && k < SINEW_RUN_PLACE_BODIES; k++) {
            char name[SINEW_RUN_PLACE_NAME] = "";
            place_name(world, found[k].body, name);
            place_count_body(&places[i], name);
            if (k == 0)
                place_take(&places[i], 1u << i, &found[0], name, step);
        }
    }
}

/* ---- Remedies for status bits ------------------------------------------------------------------ */

const char *sinew_run_remedy(uint32_t bit)
{
    static const struct {
        uint32_t bit;
        const char *text;
    } remedies[] = {
        {SINEW_STEP_NOT_CONVERGED, "raise --iterations fourfold (a smaller time_step leaves as many such steps)"},
        {SINEW_STEP_CONTACT, "raise --iterations fourfold"},
    };
    for (size_t i = 0; i < sizeof remedies / sizeof remedies[0]; i++)
        if (remedies[i].bit == bit)
            return remedies[i].text;
    return "";
}

/* ---- Text about a status bit ------------------------------------------------------------------- */

void sinew_run_place_text(const sinew_run_place *p, uint32_t bit, char *text, size_t size)
{
    const char *remedy = sinew_run_remedy(bit);
    size_t length = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < p->body_count && length < size; i++)
        length += (size_t)snprintf(text + length, size - length, "%s%s", i ? ", " : "of ", p->bodies[i]);
    if (p->step != 0 && length < size) {
        char place[64];
        if (p->element >= 0)
            snprintf(place, sizeof place, "tet %d of energy %d", p->element, p->energy);
        else
            snprintf(place, sizeof place, "vertex %d", p->vertex);
        length += (size_t)snprintf(text + length, size - length, "; worst in step %lld, %s of %s: %.3g %s",
                                   (long long)p->step, place, p->body, p->value, sinew_step_place_unit(bit));
    }
    if (remedy[0] && length < size)
        snprintf(text + length, size - length, "%s%s", length ? "; " : "", remedy);
}

/* ---- JSON of a status bit ---------------------------------------------------------------------- */

json_t *sinew_run_place_json(const sinew_run_place *p, uint32_t bit)
{
    json_t *bodies = json_array();
    for (int32_t i = 0; bodies && i < p->body_count; i++)
        json_array_append_new(bodies, json_string(p->bodies[i]));
    return json_pack("{s:o, s:I, s:s, s:i, s:i, s:i, s:f, s:s, s:s}", "bodies", bodies, "step", (json_int_t)p->step,
                     "body", p->body, "vertex", p->vertex, "energy", p->energy, "element", p->element, "value",
                     p->value, "unit", sinew_step_place_unit(bit), "remedy", sinew_run_remedy(bit));
}

static bool place_read_name(const json_t *json, char name[SINEW_RUN_PLACE_NAME])
{
    const char *text = json_string_value(json);
    if (!text || strlen(text) >= SINEW_RUN_PLACE_NAME)
        return false;
    memcpy(name, text, strlen(text) + 1);
    return true;
}

bool sinew_run_place_read(sinew_run_place *p, const json_t *json)
{
    json_int_t step;
    json_t *bodies;
    *p = (sinew_run_place){0};
    if (!json)
        return true;
    if (json_unpack((json_t *)json, "{s:o, s:I, s:i, s:i, s:i, s:F}", "bodies", &bodies, "step", &step, "vertex",
                    &p->vertex, "energy", &p->energy, "element", &p->element, "value", &p->value) != 0 ||
        json_array_size(bodies) > SINEW_RUN_PLACE_BODIES || !place_read_name(json_object_get(json, "body"), p->body))
        return false;
    p->step = step;
    p->body_count = (int32_t)json_array_size(bodies);
    for (int32_t i = 0; i < p->body_count; i++)
        if (!place_read_name(json_array_get(bodies, (size_t)i), p->bodies[i]))
            return false;
    return true;
}
