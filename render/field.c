/* SPDX-License-Identifier: MIT
 *
 * field.c: values that set colours, at particles and in tets, from the fields of the public API.
 *
 * Fields of elements are first mapped to the tets of the meshes by their corners. If several energies act on one tet,
 * their energy densities add; for stretch and stress the largest value counts. A particle has the mean of its adjacent
 * tets, weighted by rest volume. Values that are not finite (a tet without volume has no finite stress) are ignored. A
 * particle without tets has the mean stretch of its adjacent triangles.
 */
#include "field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

void picture_field_free(picture_field *field)
{
    free(field->at_particle);
    free(field->at_tet);
    free(field->first_tet);
    *field = (picture_field){0};
}

/* ---- Fields with a value per particle -------------------------------------------------------- */

typedef struct field_request {
    sinew_world *world;
    const sinew_snapshot_def *def;
    picture_field *field;
    int32_t particle_count;
    sinew_error *error;
} field_request;

/* Takes the norms of the vectors [3 * particle_count] that `get` writes as the values of the particles. */
static sinew_status take_lengths(const field_request *r,
                                 sinew_status (*get)(const field_request *request, sinew_real *vectors))
{
    sinew_real *vectors = malloc(3 * (size_t)r->particle_count * sizeof *vectors + 1);
    if (!vectors)
        return picture_fail_memory(r->error, "the colours of a picture");
    const sinew_status status = get(r, vectors);
    for (size_t i = 0; i < (size_t)r->particle_count && status == SINEW_OK; i++) {
        const double x = (double)vectors[3 * i], y = (double)vectors[3 * i + 1], z = (double)vectors[3 * i + 2];
        r->field->at_particle[i] = (float)sqrt(x * x + y * y + z * z);
    }
    free(vectors);
    return status;
}

static sinew_status get_velocities(const field_request *r, sinew_real *vectors)
{
    return sinew_world_get_velocities(r->world, 0, r->particle_count, vectors);
}

static sinew_status get_residuals(const field_request *r, sinew_real *vectors)
{
    return sinew_world_field(r->world, SINEW_FIELD_RESIDUAL, 0, r->particle_count, vectors, r->error);
}

static sinew_status get_contact_forces(const field_request *r, sinew_real *vectors)
{
    return sinew_world_field(r->world, SINEW_FIELD_CONTACT_FORCE, 0, r->particle_count, vectors, r->error);
}

static sinew_status get_position_errors(const field_request *r, sinew_real *vectors)
{
    return sinew_world_field(r->world, SINEW_FIELD_POSITION_ERROR, 0, r->particle_count, vectors, r->error);
}

static sinew_status take_speed(const field_request *r)
{
    return take_lengths(r, get_velocities);
}

static sinew_status take_residual(const field_request *r)
{
    return take_lengths(r, get_residuals);
}

static sinew_status take_contact_force(const field_request *r)
{
    return take_lengths(r, get_contact_forces);
}

static sinew_status take_position_error(const field_request *r)
{
    return take_lengths(r, get_position_errors);
}

static sinew_status take_given(const field_request *r)
{
    if (!r->def->values)
        return picture_fail(r->error, SINEW_ERROR_USAGE, "colours by given values need `values`, one a particle");
    for (size_t i = 0; i < (size_t)r->particle_count; i++)
        r->field->at_particle[i] = (float)r->def->values[i];
    return SINEW_OK;
}

static sinew_status take_class(const field_request *r)
{
    int32_t *classes = malloc((size_t)r->particle_count * sizeof *classes + 1);
    if (!classes)
        return picture_fail_memory(r->error, "the colours of a picture");
    for (int32_t i = 0; i < r->particle_count; i++)
        classes[i] = -1;
    const sinew_status status = sinew_world_colours(r->world, &r->field->class_count, classes);
    int32_t known = 0;
    for (int32_t i = 0; i < r->particle_count && status == SINEW_OK; i++)
        if (classes[i] >= 0) {
            r->field->at_particle[i] = (float)classes[i];
            known++;
        }
    free(classes);
    const sinew_solver_info *solver = sinew_get_solver_info(sinew_world_solver(r->world).kind);
    if (status != SINEW_OK)
        return picture_fail(r->error, status, "class: the colour classes of %s cannot be had: %s", solver->name,
                            sinew_world_error(r->world));
    if (known == 0)
        return picture_fail(r->error, SINEW_ERROR_UNSUPPORTED,
                            "class: %s has no colour classes of particles; use the solver pbng, or another colour",
                            solver->name);
    return SINEW_OK;
}

/* ---- Lookup of tets by their corners ----------------------------------------------------------- */

typedef struct tet_key {
    int32_t corners[4]; /* particles at the tet's corners, ascending */
    int64_t tet;        /* index of the tet among the tets of all bodies */
} tet_key;

static void sort_four(int32_t *v)
{
    static const uint8_t pairs[5][2] = {{0, 1}, {2, 3}, {0, 2}, {1, 3}, {1, 2}};
    for (int i = 0; i < 5; i++) {
        int32_t *a = v + pairs[i][0], *b = v + pairs[i][1];
        if (*a > *b) {
            const int32_t t = *a;
            *a = *b;
            *b = t;
        }
    }
}

static int field_compare_keys(const void *a, const void *b)
{
    const tet_key *p = a, *q = b;
    for (int i = 0; i < 4; i++)
        if (p->corners[i] != q->corners[i])
            return p->corners[i] < q->corners[i] ? -1 : 1;
    return 0;
}

/* Numbers the tets of all bodies: writes the index of each body's first tet. Returns the total count. */
static int64_t count_tets(const sinew_world *world, int64_t *first_tet)
{
    int64_t count = 0;
    for (int32_t index = 0; index < sinew_world_body_count(world); index++) {
        const sinew_body body = sinew_world_body_at(world, index);
        first_tet[index] = count;
        count += body.index >= 0 ? sinew_mesh_tet_count(sinew_body_mesh(world, body)) : 0;
    }
    return count;
}

static void fill_keys(const sinew_world *world, tet_key *keys)
{
    int64_t at = 0;
    for (int32_t index = 0; index < sinew_world_body_count(world); index++) {
        const sinew_body body = sinew_world_body_at(world, index);
        if (body.index < 0)
            continue;
        const sinew_mesh *mesh = sinew_body_mesh(world, body);
        const int32_t first = sinew_body_first_particle(world, body);
        for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++, at++) {
            tet_key *key = &keys[at];
            for (int i = 0; i < 4; i++)
                key->corners[i] = first + sinew_mesh_tets(mesh)[4 * (size_t)t + (size_t)i];
            sort_four(key->corners);
            key->tet = at;
        }
    }
    qsort(keys, (size_t)at, sizeof *keys, field_compare_keys);
}

/* ---- Fields with a value per element --------------------------------------------------------- */

static const struct {
    sinew_field_kind field;
    bool sum; /* true: values of several energies on one tet are summed; false: the largest counts */
} element_fields[SINEW_COLOUR_COUNT] = {
    [SINEW_COLOUR_STRETCH] = {SINEW_FIELD_STRETCHES, false},
    [SINEW_COLOUR_VON_MISES] = {SINEW_FIELD_VON_MISES, false},
    [SINEW_COLOUR_ENERGY] = {SINEW_FIELD_ENERGY, true},
};

/* Maps the values [components * count] of one energy's elements to their tets. */
static void field_spread(const field_request *r, const tet_key *keys, int64_t tet_count, const int32_t *corners,
                         const sinew_real *values, int32_t count, int32_t components)
{
    float *at_tet = r->field->at_tet;
    for (int32_t e = 0; e < count; e++) {
        tet_key wanted = {.tet = -1};
        memcpy(wanted.corners, corners + 4 * (size_t)e, sizeof wanted.corners);
        sort_four(wanted.corners);
        const tet_key *key = bsearch(&wanted, keys, (size_t)tet_count, sizeof *keys, field_compare_keys);
        const float value = (float)values[(size_t)components * (size_t)e];
        if (!key || !isfinite(value))
            continue;
        float *at = &at_tet[key->tet];
        if (isnan(*at))
            *at = value;
        else
            *at = element_fields[r->def->colour].sum ? *at + value : fmaxf(*at, value);
    }
}

/* Maps the field of one energy over tets; *taken counts the energies that have the field. */
static sinew_status take_energy(const field_request *r, const tet_key *keys, int64_t tet_count, sinew_energy energy,
                                int32_t *taken)
{
    const sinew_field_kind field = element_fields[r->def->colour].field;
    const int32_t elements = sinew_energy_element_count(r->world, energy),
                  components = sinew_get_field_info(field)->component_count;
    int32_t count = 0;
    sinew_real *values = malloc((size_t)elements * (size_t)components * sizeof *values + 1);
    int32_t *corners = malloc(4 * (size_t)elements * sizeof *corners + 1);
    sinew_status status = values && corners ? SINEW_OK : picture_fail_memory(r->error, "the colours of a picture");
    if (status == SINEW_OK)
        status = sinew_energy_get_elements(r->world, energy, 0, elements, corners, NULL, r->error);
    if (status == SINEW_OK)
        status = sinew_energy_field(r->world, energy, field, elements * components, values, &count, r->error);
    if (status == SINEW_OK) {
        field_spread(r, keys, tet_count, corners, values, elements, components);
        ++*taken;
    }
    free(values);
    free(corners);
    return status == SINEW_ERROR_UNSUPPORTED ? SINEW_OK : status;
}

static bool is_over_tets(const sinew_world *world, sinew_energy energy)
{
    const sinew_energy_info *info =
        energy.index >= 0 ? sinew_get_energy_info(sinew_energy_kind_of(world, energy)) : NULL;
    return info && info->stencil == SINEW_STENCIL_TET;
}

/* Adds the largest stretch of each triangle of one energy, and a count, to the sums of the triangle's particles. */
static sinew_status field_add_sheet(const field_request *r, sinew_energy energy, double (*sums)[2], int32_t *taken)
{
    const int32_t elements = sinew_energy_element_count(r->world, energy);
    int32_t count = 0;
    sinew_real *values = malloc(3 * (size_t)elements * sizeof *values + 1);
    int32_t *corners = malloc(3 * (size_t)elements * sizeof *corners + 1);
    sinew_status status = values && corners ? SINEW_OK : picture_fail_memory(r->error, "the colours of a picture");
    if (status == SINEW_OK)
        status = sinew_energy_field(r->world, energy, SINEW_FIELD_STRETCHES, 3 * elements, values, &count, r->error);
    if (status == SINEW_OK)
        status = sinew_energy_get_elements(r->world, energy, 0, elements, corners, NULL, r->error);
    for (size_t i = 0; i < 3 * (size_t)elements && status == SINEW_OK; i++)
        if (isfinite((double)values[i / 3 * 3])) {
            sums[corners[i]][0] += (double)values[i / 3 * 3];
            sums[corners[i]][1] += 1;
        }
    *taken += status == SINEW_OK;
    free(values);
    free(corners);
    return status == SINEW_ERROR_UNSUPPORTED ? SINEW_OK : status;
}

static bool is_over_triangles(const sinew_world *world, sinew_energy energy)
{
    const sinew_energy_info *info =
        energy.index >= 0 ? sinew_get_energy_info(sinew_energy_kind_of(world, energy)) : NULL;
    return info && info->stencil == SINEW_STENCIL_TRIANGLE;
}

static sinew_status take_sheets(const field_request *r, int32_t *taken)
{
    sinew_status status = SINEW_OK;
    double(*sums)[2] = calloc((size_t)r->particle_count + 1, sizeof *sums);
    if (!sums)
        return picture_fail_memory(r->error, "the colours of a picture");
    for (int32_t index = 0; index < sinew_world_energy_count(r->world) && status == SINEW_OK; index++) {
        const sinew_energy energy = sinew_world_energy_at(r->world, index);
        if (is_over_triangles(r->world, energy))
            status = field_add_sheet(r, energy, sums, taken);
    }
    for (int32_t i = 0; i < r->particle_count && status == SINEW_OK; i++)
        if (sums[i][1] > 0)
            r->field->at_particle[i] = (float)(sums[i][0] / sums[i][1]);
    free(sums);
    return status;
}

static sinew_status take_energies(const field_request *r, const tet_key *keys, int64_t tet_count)
{
    int32_t taken = 0;
    sinew_status status = r->def->colour == SINEW_COLOUR_STRETCH ? take_sheets(r, &taken) : SINEW_OK;
    for (int32_t index = 0; index < sinew_world_energy_count(r->world) && status == SINEW_OK; index++) {
        const sinew_energy energy = sinew_world_energy_at(r->world, index);
        if (is_over_tets(r->world, energy))
            status = take_energy(r, keys, tet_count, energy, &taken);
    }
    if (status == SINEW_OK && taken == 0)
        return picture_fail(
            r->error, SINEW_ERROR_UNSUPPORTED,
            "%s: the world has %d energies, none of them over tetrahedra%s, which have it; colour by body, "
            "speed or residual",
            sinew_colour_name(r->def->colour), sinew_world_energy_count(r->world),
            r->def->colour == SINEW_COLOUR_STRETCH ? " or sheets" : "");
    return status;
}

static double rest_volume(const sinew_mesh *mesh, int32_t tet)
{
    const int32_t *corners = sinew_mesh_tets(mesh) + 4 * (size_t)tet;
    double e[3][3];
    for (int i = 0; i < 3; i++)
        for (size_t c = 0; c < 3; c++)
            e[i][c] = (double)(sinew_mesh_positions(mesh)[3 * (size_t)corners[i + 1] + c] -
                               sinew_mesh_positions(mesh)[3 * (size_t)corners[0] + c]);
    return fabs(e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
                e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0])) /
           6;
}

/* Averages the tets adjacent to each vertex of a body; sums [2 * vertex_count] is work space. */
static void average(const field_request *r, const sinew_mesh *mesh, int32_t first, const float *at_tet, double *sums)
{
    const int32_t vertices = sinew_mesh_vertex_count(mesh);
    memset(sums, 0, 2 * (size_t)vertices * sizeof *sums);
    for (int32_t t = 0; t < sinew_mesh_tet_count(mesh); t++) {
        const double volume = rest_volume(mesh, t);
        for (int i = 0; i < 4 && isfinite(at_tet[t]); i++) {
            double *sum = sums + 2 * (size_t)sinew_mesh_tets(mesh)[4 * (size_t)t + (size_t)i];
            sum[0] += volume * (double)at_tet[t];
            sum[1] += volume;
        }
    }
    for (int32_t i = 0; i < vertices; i++)
        if (sums[2 * (size_t)i + 1] > 0)
            r->field->at_particle[first + i] = (float)(sums[2 * (size_t)i] / sums[2 * (size_t)i + 1]);
}

static sinew_status take_averages(const field_request *r)
{
    double *sums = malloc(2 * (size_t)r->particle_count * sizeof *sums + 1);
    if (!sums)
        return picture_fail_memory(r->error, "the colours of a picture");
    for (int32_t index = 0; index < sinew_world_body_count(r->world); index++) {
        const sinew_body body = sinew_world_body_at(r->world, index);
        if (body.index >= 0)
            average(r, sinew_body_mesh(r->world, body), sinew_body_first_particle(r->world, body),
                    r->field->at_tet + r->field->first_tet[index], sums);
    }
    free(sums);
    return SINEW_OK;
}

static sinew_status take_elements(const field_request *r)
{
    r->field->first_tet = malloc((size_t)sinew_world_body_count(r->world) * sizeof *r->field->first_tet + 1);
    if (!r->field->first_tet)
        return picture_fail_memory(r->error, "the colours of a picture");
    const int64_t tet_count = count_tets(r->world, r->field->first_tet);
    tet_key *keys = malloc((size_t)tet_count * sizeof *keys + 1);
    r->field->at_tet = malloc((size_t)tet_count * sizeof *r->field->at_tet + 1);
    sinew_status status = keys && r->field->at_tet ? SINEW_OK : picture_fail_memory(r->error, "the colours of tets");
    if (status == SINEW_OK) {
        fill_keys(r->world, keys);
        for (int64_t t = 0; t < tet_count; t++)
            r->field->at_tet[t] = NAN;
        status = take_energies(r, keys, tet_count);
    }
    free(keys);
    return status == SINEW_OK ? take_averages(r) : status;
}

/* ---- Table of drawable fields ----------------------------------------------------------------- */

typedef sinew_status take_call(const field_request *r);
static take_call *const takers[SINEW_COLOUR_COUNT] = {
    [SINEW_COLOUR_SPEED] = take_speed,
    [SINEW_COLOUR_STRETCH] = take_elements,
    [SINEW_COLOUR_VON_MISES] = take_elements,
    [SINEW_COLOUR_ENERGY] = take_elements,
    [SINEW_COLOUR_RESIDUAL] = take_residual,
    [SINEW_COLOUR_CONTACT_FORCE] = take_contact_force,
    [SINEW_COLOUR_CLASS] = take_class,
    [SINEW_COLOUR_GIVEN] = take_given,
    [SINEW_COLOUR_POSITION_ERROR] = take_position_error,
};

sinew_status picture_field_take(sinew_world *world, const sinew_snapshot_def *def, picture_field *field,
                                sinew_error *error)
{
    if (!takers[def->colour])
        return SINEW_OK;
    const field_request r = {world, def, field, sinew_world_particle_count(world), error};
    field->at_particle = malloc((size_t)r.particle_count * sizeof *field->at_particle + 1);
    if (!field->at_particle)
        return picture_fail_memory(error, "the colours of a picture");
    for (int32_t i = 0; i < r.particle_count; i++)
        field->at_particle[i] = NAN;
    return takers[def->colour](&r);
}
