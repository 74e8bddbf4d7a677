/* SPDX-License-Identifier: MIT
 *
 * places.c: finds the bodies, vertices and elements that a status bit of the last step comes from.
 *
 * Limits: residuals are those of the solver's last evaluation, unknown with SINEW_MEASURE_NOTHING. Contacts are the
 * listed ones, with a force; the bit of contact is also set by friction, which has no location of its own.
 */
#include <math.h>
#include <string.h>

#include "contact/contact.h"
#include "world/measure/fields.h"

#define INVOLVED 0.1 /* bodies whose worst residual is at least this fraction of the largest residual are listed */

/* Locations found for a status bit, one entry per body slot; body.index -1: the body is not involved. */
typedef struct place_list {
    sinew_step_place *bodies; /* [body_count] worst location found so far in each body */
    const sinew_world *world;
} place_list;

static sinew_step_place *place_of_particle(const place_list *list, int32_t particle)
{
    const sinew_world *world = list->world;
    for (int32_t b = 0; b < world->body_count; b++) {
        const sinew_body_record *body = &world->bodies[b];
        if (body->mesh && particle >= body->start && particle < body->start + body->count)
            return &list->bodies[b];
    }
    return NULL;
}

/* Records a value at a particle; the largest value of a body is kept. */
static void record_at_particle(const place_list *list, int32_t particle, double value)
{
    sinew_step_place *place = place_of_particle(list, particle);
    if (!place || !isfinite(value) || (place->body.index >= 0 && !(value > place->value)))
        return;
    const int32_t slot = (int32_t)(place - list->bodies);
    place->body = (sinew_body){slot, list->world->bodies[slot].generation};
    place->vertex = list->world->outside[particle] - list->world->bodies[slot].first;
    place->value = value;
}

static void find_residuals(const place_list *list)
{
    const sinew_world *world = list->world;
    double largest = 0;
    if (!world->solve.gradient_known)
        return;
    for (int32_t i = 0; i < world->particle_count; i++) {
        const sinew_real *g = world->solve.gradient + 4 * (size_t)i;
        const double size =
            sqrt((double)g[0] * (double)g[0] + (double)g[1] * (double)g[1] + (double)g[2] * (double)g[2]);
        if (!world->pinned[i] && size > 0)
            record_at_particle(list, i, size);
        largest = !world->pinned[i] && size > largest ? size : largest;
    }
    for (int32_t b = 0; b < world->body_count; b++)
        if (list->bodies[b].value < INVOLVED * largest)
            list->bodies[b].body.index = -1;
}

/* Finds inverted tets. The recorded value is -det F while bodies are compared, because the largest value is kept. */
static void find_inverted(const place_list *list)
{
    const sinew_world *world = list->world;
    for (int32_t i = 0; i < world->energy_count; i++) {
        const sinew_energy_record *record = &world->energies[i];
        const bool tets = record->batch && record->batch->ops->determinants;
        for (int32_t e = 0; tets && e < record->batch->element_count; e++) {
            const double det = sinew_element_determinant(world, record, e);
            const int32_t particle = record->store.particles[4 * (size_t)e];
            sinew_step_place *place = place_of_particle(list, particle);
            if (!place || sinew_batch_is_off(record->batch, e) || det > 0 || !isfinite(det) ||
                (place->body.index >= 0 && -det <= place->value))
                continue;
            record_at_particle(list, particle, -det);
            place->energy = (sinew_energy){i, record->generation};
            place->element = e;
        }
    }
    for (int32_t b = 0; b < world->body_count; b++)
        list->bodies[b].value = -list->bodies[b].value;
}

/* Adds one to the number of particles that are listed for the particle's body. */
static void count_at_particle(const place_list *list, int32_t particle)
{
    const sinew_step_place *place = place_of_particle(list, particle);
    if (place)
        record_at_particle(list, particle, place->body.index >= 0 ? place->value + 1 : 1);
}

static void find_truncated(const place_list *list)
{
    const sinew_contact_work *c = list->world->contact;
    for (int32_t v = 0; c && c->truncated && v < c->mesh.moved_count; v++)
        if (c->truncated[v] && c->mesh.particle[v] >= 0)
            count_at_particle(list, c->mesh.particle[v]);
}

static void find_intersecting(const place_list *list)
{
    /* Const is cast away: the query of contacts writes to the contact buffers of the world. */
    sinew_world *world = (sinew_world *)list->world;
    int32_t count = 0, listed = 0;
    sinew_world_intersections(world, 0, NULL, &count, NULL);
    sinew_intersection *found = sinew_allocate(&world->allocator, (size_t)count, sizeof *found);
    if (found && sinew_world_intersections(world, count, found, &listed, NULL) == SINEW_OK)
        for (int32_t i = 0; i < listed; i++) {
            if (found[i].a.body.index >= 0)
                count_at_particle(list, world->inside[found[i].particles_a[0]]);
            if (found[i].b.body.index >= 0 && found[i].b.body.index != found[i].a.body.index)
                count_at_particle(list, world->inside[found[i].particles_b[0]]);
        }
    sinew_release(&world->allocator, found);
}

static void find_contacts(const place_list *list)
{
    const sinew_world *world = list->world;
    int32_t count = 0, listed = 0;
    sinew_world_contacts(world, 0, NULL, &count, NULL);
    sinew_contact *found = sinew_allocate(&world->allocator, (size_t)count, sizeof *found);
    if (found && sinew_world_contacts(world, count, found, &listed, NULL) == SINEW_OK)
        for (int32_t i = 0; i < listed; i++)
            for (int k = 0; k < SINEW_CONTACT_PARTICLES_MAX; k++)
                if (found[i].particles[k] >= 0 && found[i].weights[k] != 0 && found[i].force > 0 &&
                    found[i].clearance < 0)
                    record_at_particle(list, world->inside[found[i].particles[k]], -(double)found[i].clearance);
    sinew_release(&world->allocator, found);
}

/* For each status bit of a step result: the function that finds the bodies and particles it comes from. */
static const struct {
    uint32_t bit;
    void (*find)(const place_list *list);
    const char *unit;
    bool smallest; /* true: the smallest value of a location is the worst one; false: the largest */
} finders[] = {
    {SINEW_STEP_NOT_CONVERGED, find_residuals, "N", false},
    {SINEW_STEP_STALLED, find_residuals, "N", false},
    {SINEW_STEP_ROUND_OFF, find_residuals, "N", false},
    {SINEW_STEP_INVERTED, find_inverted, "det F", true},
    {SINEW_STEP_CONTACT, find_contacts, "m", false},
    {SINEW_STEP_TRUNCATED, find_truncated, "vertices", false},
    {SINEW_STEP_INTERSECTING, find_intersecting, "pairs", false},
};

enum {
    FINDERS = sizeof finders / sizeof finders[0]
};

static int find_finder(uint32_t bit)
{
    int i = 0;
    while (i < FINDERS && finders[i].bit != bit)
        i++;
    return i;
}

const char *sinew_step_place_unit(uint32_t bit)
{
    const int finder = find_finder(bit);
    return finder < FINDERS ? finders[finder].unit : "";
}

/* Moves the locations of involved bodies to the front, the worst first; equal ones stay in the order of bodies. */
static int32_t sort_places(sinew_step_place *places, int32_t count, bool smallest)
{
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++) {
        const sinew_step_place place = places[i];
        if (place.body.index < 0)
            continue;
        int32_t at = kept++;
        for (; at > 0 && (smallest ? place.value < places[at - 1].value : place.value > places[at - 1].value); at--)
            places[at] = places[at - 1];
        places[at] = place;
    }
    return kept;
}

int32_t sinew_world_step_places(const sinew_world *world, uint32_t bit, int32_t capacity, sinew_step_place *places)
{
    const int finder = find_finder(bit);
    if (!SINEW_ASSERT(world && (capacity == 0 || places)) || finder == FINDERS)
        return 0;
    place_list list = {.world = world};
    list.bodies = sinew_allocate(&world->allocator, (size_t)world->body_count, sizeof *list.bodies);
    if (!list.bodies)
        return 0;
    for (int32_t b = 0; b < world->body_count; b++)
        list.bodies[b] =
            (sinew_step_place){.body = {.index = -1}, .vertex = -1, .energy = {.index = -1}, .element = -1};
    finders[finder].find(&list);
    const int32_t count = sort_places(list.bodies, world->body_count, finders[finder].smallest);
    for (int32_t i = 0; i < count && i < capacity; i++)
        places[i] = list.bodies[i];
    sinew_release(&world->allocator, list.bodies);
    return count;
}
