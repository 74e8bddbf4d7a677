/* SPDX-License-Identifier: MIT
 *
 * fields.c: fields of particles and elements as arrays, for colours, plots and sensors.
 *
 * Elements are evaluated one by one with the kernels of width one. Every value of a tetrahedron is computed from its
 * corners x (rest: X), its energy E and its gradient g_a = dE/dx_a, which is valid for any material:
 *
 *     F = Ds Dm^-1,  Ds = [x1-x0 x2-x0 x3-x0],  Dm the same at rest     det F = v / V, the signed volumes
 *     E = V psi(F),  g_a = V P grad N_a    =>    sum_a g_a (x_a - x_0)^T = V P F^T = v sigma
 *
 * where V and v count the filled fraction of the tet only (sinew_mesh_fractions), with the first Piola stress
 * P = dpsi/dF and the Cauchy stress sigma = P F^T / det F. Von Mises' stress is sqrt(3/2 s : s), s the deviator of
 * sigma (of its symmetric part: sigma of the linear energy is not symmetric after a rotation).
 */
#include "world/measure/fields.h"

#include <math.h>
#include <string.h>

#include "energy/registry.h"
#include "math/small/decompose_batch.h"
#include "contact/contact.h"
#include "world/world.h"

/* ---- Table of fields -------------------------------------------------------------------------- */

static const sinew_field_info infos[SINEW_FIELD_COUNT] = {
    [SINEW_FIELD_FORCE] = {"force", "N", "elastic and external force on each particle", 3, false},
    [SINEW_FIELD_RESIDUAL] = {"residual", "N", "gradient of the objective where the step ended", 3, false},
    [SINEW_FIELD_REACTION] = {"reaction", "N", "force of its pin on each particle", 3, false},
    [SINEW_FIELD_DETERMINANT] = {"determinant", "", "det F: how many times its rest volume a tet has", 1, true},
    [SINEW_FIELD_STRETCHES] = {"stretches", "",
                               "principal stretches of a tet, descending; of a sheet's triangle two, then 0", 3, true},
    [SINEW_FIELD_VON_MISES] = {"von_mises", "Pa", "von Mises stress of a tet", 1, true},
    [SINEW_FIELD_ENERGY] = {"energy", "J/m3|J", "energy density of a tet, energy of any other element", 1, true},
    [SINEW_FIELD_CONTACT_FORCE] = {"contact_force", "N", "force of contacts on each particle", 3, false},
    [SINEW_FIELD_POSITION_ERROR] = {"position_error", "m", "from where the step ended to the minimum, estimated", 3,
                                    false},
};

const sinew_field_info *sinew_get_field_info(sinew_field_kind field)
{
    return (unsigned)field < SINEW_FIELD_COUNT ? &infos[field] : NULL;
}

sinew_field_kind sinew_field_by_name(const char *name)
{
    for (int field = 0; name && field < SINEW_FIELD_COUNT; field++)
        if (strcmp(infos[field].name, name) == 0)
            return (sinew_field_kind)field;
    return SINEW_FIELD_COUNT;
}

/* ---- Fields with values per particle --------------------------------------------------------- */

double sinew_world_imbalance(sinew_world *world, const uint8_t *left_out, bool hard, sinew_real *out)
{
    /* A second objective with the same elements and work space evaluates forces in the quasistatic mode. */
    sinew_objective view = world->objective;
    view.step.quasistatic = true;
    view.step.pinned = left_out;
    view.omit_hard = !hard;
    /* If pins are not left out, reactions along constrained directions are also kept. */
    view.step.constrained_count = left_out == world->pinned ? view.step.constrained_count : 0;
    return sinew_objective_gradient(&view, world->q, out, NULL);
}

double sinew_world_elastic_energy(const sinew_world *world, bool hard)
{
    sinew_objective view = world->objective;
    view.omit_hard = !hard;
    while (sinew_contact_is_on(world) && view.task_count > view.fixed_task_count &&
           view.tasks[view.task_count - 1].batch->ops->contact)
        view.task_count--;
    return sinew_objective_elastic(&view, world->q);
}

/* Copies out [3 * count] = scale times values [particle_count][4]: forces of pins (`pinned` 1), forces on free
 * directions (0), or all (-1). */
static void field_copy_points(const sinew_world *world, const sinew_real *values, double scale, int pinned,
                              int32_t first, int32_t count, sinew_real *out)
{
    for (int32_t i = 0; i < count; i++) {
        const int32_t at = world->inside[first + i];
        /* Rows: free component of a particle's vector, constrained component, whole vector. */
        double split[3][3] = {{0}};
        for (size_t c = 0; at >= 0 && c < 3; c++)
            split[2][c] = (double)values[4 * (size_t)at + c];
        if (at >= 0)
            sinew_world_split_force(world, at, split[2], split[0], split[1]);
        for (size_t c = 0; c < 3; c++)
            out[3 * (size_t)i + c] = (sinew_real)(scale * split[pinned < 0 ? 2 : pinned][c]);
    }
}

/* Computes a field over particles from elastic and external forces of the current state, without inertia. */
static sinew_status static_field(sinew_world *world, sinew_field_kind field, int32_t first, int32_t count,
                                 sinew_real *out, sinew_error *error)
{
    /* SINEW_FIELD_FORCE excludes the contact forces of the last step. */
    if (field == SINEW_FIELD_FORCE)
        sinew_contact_detach(world);
    sinew_status status = sinew_world_make_ready(world, error);
    if (status != SINEW_OK)
        return status;
    const size_t n = (size_t)world->particle_count;
    uint8_t *nobody = sinew_allocate_zero(&world->allocator, n, 1);
    sinew_real *imbalance = sinew_allocate(&world->allocator, 4 * n, sizeof *imbalance);
    if (nobody && imbalance) {
        sinew_world_predict(world);
        sinew_world_external_forces(world, world->step_count);
        sinew_world_imbalance(world, nobody, true, imbalance);
        const bool force = field == SINEW_FIELD_FORCE;
        field_copy_points(world, imbalance, force ? -1 : 1, force ? -1 : field == SINEW_FIELD_REACTION, first, count,
                          out);
    } else {
        status = sinew_fail_memory(error, "a field");
    }
    sinew_release(&world->allocator, nobody);
    sinew_release(&world->allocator, imbalance);
    return status;
}

static sinew_status contact_force_field(const sinew_world *world, int32_t first, int32_t count, sinew_real *out,
                                        sinew_error *error)
{
    sinew_contact_view view;
    sinew_status status = sinew_contact_check_listed(world, error);
    if (status == SINEW_OK)
        status = sinew_world_contact_view(world, &view, error);
    if (status == SINEW_OK)
        sinew_contact_particle_forces(&view, first, count, out);
    return status;
}

static void copy_position_error(const sinew_world *world, int32_t first, int32_t count, sinew_real *out)
{
    const sinew_real *error = sinew_world_position_error(world);
    for (int32_t i = 0; i < count; i++) {
        const int32_t at = world->inside[first + i];
        for (size_t c = 0; c < 3; c++)
            out[3 * (size_t)i + c] = at < 0 ? 0 : error ? error[4 * (size_t)at + c] : (sinew_real)NAN;
    }
}

bool sinew_body_position_error(const sinew_world *world, sinew_body body, double *max, double *rms)
{
    const sinew_body_record *record = SINEW_ASSERT(world) ? sinew_world_find_body(world, body, NULL) : NULL;
    const sinew_real *error = record ? sinew_world_position_error(world) : NULL;
    double largest = 0, sum = 0;
    int32_t free_count = 0;
    for (int32_t i = 0; error && i < record->count; i++) {
        const int32_t at = world->inside[record->first + i];
        if (at < 0 || world->pinned[at])
            continue;
        const sinew_real *e = error + 4 * (size_t)at;
        const double square = (double)e[0] * (double)e[0] + (double)e[1] * (double)e[1] + (double)e[2] * (double)e[2];
        largest = fmax(largest, sqrt(square));
        sum += square;
        free_count++;
    }
    if (max)
        *max = error ? largest : NAN;
    if (rms)
        *rms = error ? (free_count > 0 ? sqrt(sum / free_count) : 0) : NAN;
    return error != NULL;
}

sinew_status sinew_world_field(sinew_world *world, sinew_field_kind field, int32_t first, int32_t count,
                               sinew_real *out, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    const sinew_field_info *info = sinew_get_field_info(field);
    if (!SINEW_ASSERT(sinew_world_has_range(world, first, count, out) && info))
        return sinew_fail(error, SINEW_ERROR_USAGE,
                          "sinew_world_field needs a world, a field, particles of the world "
                          "and an array");
    if (info->of_elements)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s is a field of elements; use sinew_energy_field",
                          info->name);
    if (field == SINEW_FIELD_CONTACT_FORCE)
        return contact_force_field(world, first, count, out, error);
    if (field == SINEW_FIELD_POSITION_ERROR) {
        copy_position_error(world, first, count, out);
        return SINEW_OK;
    }
    if (field == SINEW_FIELD_FORCE || world->def.quasistatic)
        return static_field(world, field, first, count, out, error);
    const sinew_real *imbalance = NULL;
    sinew_status status = sinew_balance_imbalance(world, info->name, &imbalance, error);
    if (status == SINEW_OK)
        field_copy_points(world, imbalance, 1, field == SINEW_FIELD_REACTION, first, count, out);
    return status;
}

/* ---- Fields with values per element ---------------------------------------------------------- */

/* Positions, energy and moment of one element in the current state, from which fields are computed. */
typedef struct element_state {
    int32_t n;
    bool is_tet, is_surface;
    /* Positions and rest positions of the element's vertices in the caller's order, in m. */
    double x[SINEW_STENCIL_MAX][3], rest[SINEW_STENCIL_MAX][3];
    double filled;       /* filled fraction of the element's tet, in (0, 1] */
    double psi;          /* energy of the element, in J */
    double moment[3][3]; /* [3][3] sum over vertices a of gradient g_a times (x_a - x_0)^T, in J */
} element_state;

void sinew_element_rest(const sinew_world *world, const sinew_energy_record *record, int32_t element, double (*rest)[3])
{
    const sinew_energy_store *store = &record->store;
    const size_t n = (size_t)record->batch->ops->info.vertex_count, first = n * (size_t)element;
    for (size_t a = 0; a < n; a++) {
        const sinew_real *point =
            store->rest_given ? store->rest + 3 * (first + a) : world->rest + 4 * (size_t)store->particles[first + a];
        for (int c = 0; c < 3; c++)
            rest[a][c] = (double)point[c];
    }
}

/* Computes the energy and the moment of an element's forces about its first vertex. */
static void evaluate_element_state(const sinew_world *world, const sinew_batch *batch, int32_t element,
                                   element_state *s)
{
    _Alignas(SINEW_ALIGNMENT) sinew_real x[SINEW_POINT * SINEW_STENCIL_MAX] = {0};
    _Alignas(SINEW_ALIGNMENT) sinew_real g[SINEW_POINT * SINEW_STENCIL_MAX] = {0};
    _Alignas(SINEW_ALIGNMENT) sinew_real data[SINEW_DATA_MAX];
    int32_t vertex[SINEW_STENCIL_MAX], particles[SINEW_STENCIL_MAX];
    sinew_batch_particles(batch, element, particles);
    sinew_batch_element(batch, element, data);
    for (int32_t a = 0; a < s->n; a++) {
        vertex[a] = SINEW_POINT * a;
        memcpy(x + SINEW_POINT * a, world->q + 4 * (size_t)particles[a], 3 * sizeof *x);
    }
    const sinew_kernel kernel = {.groups = {.count = 1, .vertex = vertex, .data = data}, .x = x, .g = g};
    s->psi = sinew_energy_scalar(batch->ops)->gradient(&kernel);
    memset(s->moment, 0, sizeof s->moment);
    for (int32_t a = 1; a < s->n; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                s->moment[i][j] += (double)g[SINEW_POINT * a + i] * ((double)x[SINEW_POINT * a + j] - (double)x[j]);
}

static void view_element(const sinew_world *world, const sinew_energy_record *record, int32_t element, element_state *s)
{
    s->n = record->batch->ops->info.vertex_count;
    s->is_tet = record->batch->ops->determinants != NULL;
    s->is_surface = record->batch->ops->is_surface;
    const int32_t *particles = record->store.particles + (size_t)s->n * (size_t)element;
    for (int32_t a = 0; a < s->n; a++)
        for (int c = 0; c < 3; c++)
            s->x[a][c] = (double)world->q[4 * (size_t)particles[a] + (size_t)c];
    s->filled = record->store.fractions_given ? (double)record->store.fractions[element] : 1;
    sinew_element_rest(world, record, element, s->rest);
    evaluate_element_state(world, record->batch, element, s);
}

/* Computes the columns x_a - x_0 of a tetrahedron in D, row-major; returns six times its signed volume, m^3. */
static double tet_edge_matrix(const double (*x)[3], double D[9])
{
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++)
            D[3 * c + a] = x[a + 1][c] - x[0][c];
    return D[0] * (D[4] * D[8] - D[5] * D[7]) - D[1] * (D[3] * D[8] - D[5] * D[6]) + D[2] * (D[3] * D[7] - D[4] * D[6]);
}

static void field_determinant(const element_state *s, double *out)
{
    double D[9];
    out[0] = tet_edge_matrix(s->x, D) / tet_edge_matrix(s->rest, D);
}

/* Deformation gradient F = Ds Dm^-1 of a tet, by the adjugate of Dm. */
static void tet_deformation_gradient(const element_state *s, double F[9])
{
    double Ds[9], D[9];
    const double det = tet_edge_matrix(s->rest, D);
    tet_edge_matrix(s->x, Ds);
    double inverse[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            inverse[3 * i + j] = (D[3 * a + c] * D[3 * b + d] - D[3 * a + d] * D[3 * b + c]) / det;
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            F[3 * i + j] = Ds[3 * i] * inverse[j] + Ds[3 * i + 1] * inverse[3 + j] + Ds[3 * i + 2] * inverse[6 + j];
}

/* Computes the deformation gradient F of a triangle, 3x2, in an orthonormal basis of its rest plane: [x1-x0 x2-x0]
 * times the inverse of the same matrix at rest, which is upper triangular because the basis starts with the first
 * edge. */
static void sheet_deformation(const element_state *s, double F[6])
{
    double a[3], b[3], along = 0, first = 0, across = 0;
    for (int c = 0; c < 3; c++) {
        a[c] = s->rest[1][c] - s->rest[0][c];
        b[c] = s->rest[2][c] - s->rest[0][c];
        first += a[c] * a[c];
    }
    first = sqrt(first);
    for (int c = 0; c < 3; c++)
        along += a[c] * b[c] / first;
    for (int c = 0; c < 3; c++)
        across += (b[c] - along * a[c] / first) * (b[c] - along * a[c] / first);
    across = sqrt(across);
    for (int c = 0; c < 3; c++) {
        F[2 * c] = (s->x[1][c] - s->x[0][c]) / first;
        F[2 * c + 1] = (s->x[2][c] - s->x[0][c] - along * F[2 * c]) / across;
    }
}

static void sheet_stretches(const element_state *s, double *out)
{
    _Alignas(SINEW_ALIGNMENT) sinew_real A[6], U[9], sigma[2], V[4];
    double F[6];
    sheet_deformation(s, F);
    for (int i = 0; i < 6; i++)
        A[i] = (sinew_real)F[i];
    sinew_decompose_batch_scalar.svd32(1, A, U, sigma, V);
    out[0] = (double)sigma[0];
    out[1] = (double)sigma[1];
    out[2] = 0;
}

static void stretches(const element_state *s, double *out)
{
    if (s->is_surface) {
        sheet_stretches(s, out);
        return;
    }
    _Alignas(SINEW_ALIGNMENT) sinew_real A[9], U[9], sigma[3], V[9];
    double F[9];
    tet_deformation_gradient(s, F);
    for (int i = 0; i < 9; i++)
        A[i] = (sinew_real)F[i];
    sinew_decompose_batch_scalar.svd3(1, A, U, sigma, V);
    for (int i = 0; i < 3; i++)
        out[i] = (double)sigma[i];
}

static void von_mises(const element_state *s, double *out)
{
    double D[9], sum = 0;
    const double mean = (s->moment[0][0] + s->moment[1][1] + s->moment[2][2]) / 3;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const double deviator = (s->moment[i][j] + s->moment[j][i]) / 2 - (i == j ? mean : 0);
            sum += deviator * deviator;
        }
    out[0] = sum > 0 ? sqrt(1.5 * sum) / (s->filled * fabs(tet_edge_matrix(s->x, D)) / 6) : sum;
}

static void energy_density(const element_state *s, double *out)
{
    double D[9];
    out[0] = s->is_tet ? s->psi / (s->filled * fabs(tet_edge_matrix(s->rest, D)) / 6) : s->psi;
}

typedef void element_field(const element_state *s, double *out);
static element_field *const evaluators[SINEW_FIELD_COUNT] = {
    [SINEW_FIELD_DETERMINANT] = field_determinant,
    [SINEW_FIELD_STRETCHES] = stretches,
    [SINEW_FIELD_VON_MISES] = von_mises,
    [SINEW_FIELD_ENERGY] = energy_density,
};

static sinew_status check_element_field(const sinew_field_info *info, sinew_field_kind field,
                                        const sinew_energy_ops *ops, sinew_error *error)
{
    if (!info->of_elements)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s is a field of particles; use sinew_world_field",
                          info->name);
    const bool has =
        ops->determinants || field == SINEW_FIELD_ENERGY || (field == SINEW_FIELD_STRETCHES && ops->is_surface);
    if (!has)
        return sinew_fail(error, SINEW_ERROR_UNSUPPORTED, "%s is a field of tetrahedra; %s has only the field%s energy",
                          info->name, ops->info.name, ops->is_surface ? "s stretches and" : "");
    return SINEW_OK;
}

static void fill_elements(const sinew_world *world, const sinew_energy_record *record, sinew_field_kind field,
                          sinew_real *out)
{
    const size_t width = (size_t)infos[field].component_count;
    for (int32_t e = 0; e < record->batch->element_count; e++) {
        element_state state;
        double values[3];
        view_element(world, record, e, &state);
        evaluators[field](&state, values);
        for (size_t k = 0; k < width; k++)
            out[width * (size_t)e + k] = (sinew_real)values[k];
    }
}

sinew_status sinew_energy_field(sinew_world *world, sinew_energy energy, sinew_field_kind field, int32_t capacity,
                                sinew_real *values, int32_t *count, sinew_error *error)
{
    sinew_error_clear(error);
    if (!sinew_world_may_change(world, __func__, error))
        return SINEW_ERROR_USAGE;
    const sinew_field_info *info = sinew_get_field_info(field);
    if (!SINEW_ASSERT(world && info && count && (values || capacity == 0)))
        return sinew_fail(error, SINEW_ERROR_USAGE, "sinew_energy_field needs a world, a field and an array");
    const sinew_energy_record *record = sinew_world_find_energy(world, energy, error);
    if (!record)
        return SINEW_ERROR_USAGE;
    *count = 0;
    sinew_status status = check_element_field(info, field, record->batch->ops, error);
    if (status != SINEW_OK)
        return status;
    *count = record->batch->element_count * info->component_count;
    if (capacity < *count)
        return sinew_fail(error, SINEW_ERROR_DATA, "%s has %d values and there is room for %d", info->name, *count,
                          capacity);
    sinew_world_predict(world);
    fill_elements(world, record, field, values);
    return SINEW_OK;
}
