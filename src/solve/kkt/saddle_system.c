/* SPDX-License-Identifier: MIT
 *
 * saddle_system.c: lays out, assembles, scales and factorises the saddle-point matrix. See saddle_system.h.
 */
#include "solve/kkt/saddle_system.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "solve/kkt/elimination_order.h"
#include "solve/kkt/overdetermined.h"
#include "solve/kkt/rank_check.h"

/* Scaled pivots of hard constraints up to this size count as zero. In single precision, rounded positions rotate
 * constraint gradients by 1e-7 and more. */
#define REDUNDANT (sizeof(sinew_real) == 4 ? 1e-9 : 1e-11)
/* Constraints that are eliminated before their particles get a scaled diagonal entry of at most -LIFTED in the factored
 * matrix. Iterative refinement corrects the change. */
#define LIFTED      1e-9
#define REFINEMENTS 8

/* ---- Pattern of the saddle-point matrix ------------------------------------------------------ */

/* Called for each entry of the saddle-point matrix in a fixed order: i and j are its unknowns, `at` is its index in
 * source array `list` (FROM_HESSIAN ..). */
typedef void saddle_visitor(void *context, int list, size_t at, int32_t i, int32_t j);

enum {
    FROM_HESSIAN,
    FROM_JACOBIAN,
    FROM_ALPHA,
    FROM_BLOCKS,
    LIST_COUNT
};

/* Visits the lower triangle of the assembled Hessian; of diagonal blocks only the lower half. */
static void visit_hessian(const sinew_saddle *s, saddle_visitor *visit, void *context)
{
    const sinew_assembly *as = s->assembly;
    for (int32_t j = 0; j < as->free_count; j++) {
        const int32_t blocks = as->column[j + 1] - as->column[j];
        for (int32_t k = 0; k < blocks; k++)
            for (int32_t c = 0; c < 3; c++)
                for (int32_t r = k == 0 ? c : 0; r < 3; r++) {
                    const int32_t i = as->row[as->column[j] + k];
                    visit(context, FROM_HESSIAN, 9 * (size_t)as->column[j] + (size_t)(3 * blocks * c + 3 * k + r),
                          s->particle_unknown[i] + r, s->particle_unknown[j] + c);
                }
    }
}

static void visit_jacobian(const sinew_saddle *s, const sinew_constraint_set *set, int32_t e, saddle_visitor *visit,
                           void *context)
{
    const int32_t *particles = sinew_constraint_particles(s->constraints, set, e), m = set->per_element;
    for (int32_t i = 0; i < m; i++) {
        const int32_t unknown = s->multiplier_unknown[sinew_constraint_index(set, e, i)];
        const size_t at = (size_t)(sinew_constraint_jacobian(s->constraints, set, e, i) - s->constraints->J);
        for (int32_t k = 0; k < 3 * set->vertex_count; k++)
            if (particles[k / 3] >= 0)
                visit(context, FROM_JACOBIAN, at + (size_t)k,
                      s->particle_unknown[sinew_saddle_free_of(s, particles[k / 3])] + k % 3, unknown);
        for (int32_t j = 0; j <= i && !(set->global && e > 0); j++)
            visit(context, FROM_ALPHA, set->compliance_at + (size_t)((e * m + i) * m + j),
                  s->multiplier_unknown[sinew_constraint_index(set, e, j)], unknown);
    }
}

static void visit_blocks(const sinew_saddle *s, const sinew_constraint_set *set, int32_t e, saddle_visitor *visit,
                         void *context)
{
    const int32_t *particles = sinew_constraint_particles(s->constraints, set, e), n = set->vertex_count;
    size_t at = set->block_at + (size_t)e * 9 * (size_t)(n * (n + 1) / 2);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++)
            for (int32_t k = 0; k < 9; k++, at++) {
                if (particles[a] < 0 || particles[b] < 0 || (a == b && k / 3 < k % 3))
                    continue;
                visit(context, FROM_BLOCKS, at, s->particle_unknown[sinew_saddle_free_of(s, particles[a])] + k / 3,
                      s->particle_unknown[sinew_saddle_free_of(s, particles[b])] + k % 3);
            }
}

static void visit_saddle_entries(const sinew_saddle *s, saddle_visitor *visit, void *context)
{
    visit_hessian(s, visit, context);
    for (int32_t t = 0; t < s->constraints->set_count; t++) {
        const sinew_constraint_set *set = &s->constraints->sets[t];
        for (int32_t e = 0; e < set->element_count; e++) {
            visit_jacobian(s, set, e, visit, context);
            if (s->curved && set->curved)
                visit_blocks(s, set, e, visit, context);
        }
    }
}

typedef struct key_list {
    int64_t *keys;
    size_t count;
} key_list;

static void collect_entry_key(void *context, int list, size_t at, int32_t i, int32_t j)
{
    key_list *keys = context;
    (void)list;
    (void)at;
    /* Sort key of an entry of the upper triangle: column << 32 | row. */
    if (keys->keys)
        keys->keys[keys->count] = (int64_t)(i > j ? i : j) << 32 | (i > j ? j : i);
    keys->count++;
}

static size_t find_entry(const sinew_saddle *s, int32_t i, int32_t j)
{
    const int32_t column = i > j ? i : j, row = i > j ? j : i;
    size_t low = s->column[column], high = s->column[column + 1];
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        if (s->row[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void map_entry(void *context, int list, size_t at, int32_t i, int32_t j)
{
    sinew_saddle *s = context;
    int32_t *const lists[LIST_COUNT] = {s->hessian_at, s->jacobian_at, s->alpha_at, s->block_at};
    lists[list][at] = (int32_t)find_entry(s, i, j);
}

static bool saddle_fill_columns(sinew_saddle *s, key_list *keys)
{
    const sinew_allocator *a = &s->allocator;
    const size_t count = sinew_saddle_sort_keys(keys->keys, keys->count);
    s->column = sinew_allocate_zero(a, (size_t)s->count + 1, sizeof *s->column);
    s->row = sinew_allocate(a, count, sizeof *s->row);
    if (!s->column || !s->row)
        return false;
    for (size_t k = 0; k < count; k++) {
        s->column[(keys->keys[k] >> 32) + 1]++;
        s->row[k] = (int32_t)(keys->keys[k] & 0xffffffff);
    }
    for (int32_t j = 0; j < s->count; j++)
        s->column[j + 1] += s->column[j];
    return true;
}

static void drop_columns(sinew_saddle *s)
{
    sinew_release(&s->allocator, s->column);
    sinew_release(&s->allocator, s->row);
    s->column = NULL;
    s->row = NULL;
}

/* Builds columns and rows of the saddle-point matrix for the current numbering of unknowns. */
static sinew_status build_columns(sinew_saddle *s, sinew_error *error)
{
    key_list keys = {0};
    visit_saddle_entries(s, collect_entry_key, &keys);
    if (keys.count > INT32_MAX)
        return sinew_fail(error, SINEW_ERROR_DATA, "the system of constraints has too many numbers: %.3g",
                          (double)keys.count);
    keys.keys = sinew_allocate(&s->allocator, keys.count, sizeof *keys.keys);
    keys.count = 0;
    bool good = keys.keys != NULL;
    if (good) {
        visit_saddle_entries(s, collect_entry_key, &keys);
        good = saddle_fill_columns(s, &keys);
    }
    sinew_release(&s->allocator, keys.keys);
    return good ? SINEW_OK : sinew_fail_memory(error, "the system of constraints");
}

/* ---- Elimination order of the unknowns ------------------------------------------------------- */

/* Builds the columns of the matrix for the current numbering of unknowns, and computes the cost of their
 * factorisation. */
static sinew_status cost_columns(sinew_saddle *s, double *cost, sinew_error *error)
{
    const sinew_status status = build_columns(s, error);
    return status == SINEW_OK ? sinew_ldl_cost(&s->allocator, s->count, s->column, s->row, cost, error) : status;
}

/* Replaces the order by particles by the order with constraints last if the latter has a cheaper factorisation. */
static sinew_status try_constraints_last(sinew_saddle *s, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    const size_t n = (size_t)s->free_count, m = (size_t)s->constraints->constraint_count;
    int32_t *const particles = s->particle_unknown, *const multipliers = s->multiplier_unknown;
    double cost[2];
    sinew_status status = cost_columns(s, &cost[0], error);
    if (status != SINEW_OK)
        return status;
    drop_columns(s);
    s->particle_unknown = sinew_allocate(a, n, sizeof *particles);
    s->multiplier_unknown = sinew_allocate(a, m, sizeof *multipliers);
    status = s->particle_unknown && s->multiplier_unknown ? sinew_saddle_order_constraints(s, error)
                                                          : sinew_fail_memory(error, "the order of constraints");
    if (status == SINEW_OK)
        status = cost_columns(s, &cost[1], error);
    const bool taken = status == SINEW_OK && cost[1] < cost[0];
    sinew_release(a, taken ? particles : s->particle_unknown);
    sinew_release(a, taken ? multipliers : s->multiplier_unknown);
    if (!taken) {
        drop_columns(s);
        s->particle_unknown = particles;
        s->multiplier_unknown = multipliers;
    }
    return status;
}

/* Numbers the unknowns and builds the columns of the saddle-point matrix. */
static sinew_status saddle_lay_out(sinew_saddle *s, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    s->particle_unknown = sinew_allocate(a, (size_t)s->free_count, sizeof *s->particle_unknown);
    s->multiplier_unknown = sinew_allocate(a, (size_t)s->constraints->constraint_count, sizeof *s->multiplier_unknown);
    s->early = sinew_allocate_zero(a, (size_t)s->constraints->constraint_count, 1);
    if (!s->particle_unknown || !s->multiplier_unknown || !s->early)
        return sinew_fail_memory(error, "the order of constraints");
    if (!sinew_saddle_choose_early(s))
        return sinew_fail_memory(error, "the order of constraints");
    sinew_status status = sinew_saddle_order_particles(s, error);
    if (status == SINEW_OK && !s->overdetermined && sinew_saddle_constraints_can_be_last(s))
        status = try_constraints_last(s, error);
    return status == SINEW_OK && !s->column ? build_columns(s, error) : status;
}

/* ---- Creation of the saddle-point system ----------------------------------------------------- */

static int32_t *allocate_entry_map(const sinew_saddle *s, size_t count)
{
    int32_t *map = sinew_allocate(&s->allocator, count, sizeof *map);
    for (size_t i = 0; map && i < count; i++)
        map[i] = -1;
    return map;
}

static bool map_all_entries(sinew_saddle *s)
{
    size_t numbers[LIST_COUNT] = {9 * (size_t)s->assembly->column[s->free_count]};
    for (int32_t t = 0; t < s->constraints->set_count; t++) {
        const sinew_constraint_set *set = &s->constraints->sets[t];
        const size_t e = (size_t)set->element_count, n = (size_t)set->vertex_count, m = (size_t)set->per_element;
        numbers[FROM_JACOBIAN] += e * m * n * 3;
        numbers[FROM_ALPHA] += e * m * m;
        numbers[FROM_BLOCKS] += s->curved && set->curved ? e * 9 * (n * (n + 1) / 2) : 0;
    }
    s->hessian = sinew_allocate(&s->allocator, numbers[FROM_HESSIAN], sizeof *s->hessian);
    s->hessian_at = allocate_entry_map(s, numbers[FROM_HESSIAN]);
    s->jacobian_at = allocate_entry_map(s, numbers[FROM_JACOBIAN]);
    s->alpha_at = allocate_entry_map(s, numbers[FROM_ALPHA]);
    s->block_at = allocate_entry_map(s, numbers[FROM_BLOCKS]);
    if (!s->hessian || !s->hessian_at || !s->jacobian_at || !s->alpha_at || !s->block_at)
        return false;
    visit_saddle_entries(s, map_entry, s);
    return true;
}

static sinew_status saddle_allocate_numbers(sinew_saddle *s, sinew_error *error)
{
    const sinew_allocator *a = &s->allocator;
    const size_t n = (size_t)s->count, entries = s->column[n];
    s->values = sinew_allocate(a, entries, sizeof *s->values);
    s->scaled = sinew_allocate(a, entries, sizeof *s->scaled);
    s->scale = sinew_allocate(a, n, sizeof *s->scale);
    s->floors = sinew_allocate(a, n, sizeof *s->floors);
    s->right = sinew_allocate(a, n, sizeof *s->right);
    s->solution = sinew_allocate(a, n, sizeof *s->solution);
    s->is_multiplier = sinew_allocate_zero(a, n, sizeof *s->is_multiplier);
    s->least = s->overdetermined ? sinew_allocate(a, n, sizeof *s->least) : NULL;
    s->uncertain = sinew_allocate(a, SINEW_RANK_CHECK_MAX, sizeof *s->uncertain);
    s->left = sinew_allocate(a, (size_t)SINEW_RANK_CHECK_MAX * SINEW_RANK_CHECK_MAX, sizeof *s->left);
    const bool good = s->values && s->scaled && s->scale && s->floors && s->right && s->solution && s->is_multiplier &&
                      s->uncertain && s->left && (s->least || !s->overdetermined);
    for (int32_t r = 0; good && r < s->constraints->constraint_count; r++)
        s->is_multiplier[s->multiplier_unknown[r]] = s->early[r] ? s->early[r] : 1;
    return good && map_all_entries(s) ? SINEW_OK : sinew_fail_memory(error, "the system of constraints");
}

sinew_saddle *sinew_saddle_create(sinew_objective *rest, const sinew_constraints *constraints, uint32_t kind,
                                  sinew_error *error)
{
    sinew_saddle *s = sinew_allocate_zero(&rest->allocator, 1, sizeof *s);
    sinew_status status = s ? SINEW_OK : sinew_fail_memory(error, "the system of constraints");
    if (s) {
        s->allocator = rest->allocator;
        s->kind = kind;
        s->rest = rest;
        s->constraints = constraints;
        for (int32_t t = 0; t < constraints->set_count && kind & (SINEW_SADDLE_CURVED | SINEW_SADDLE_TENSION_STIFFNESS);
             t++)
            s->curved |= constraints->sets[t].curved;
        s->assembly = sinew_assembly_create(rest, kind & SINEW_SADDLE_MASSES ? 0 : rest->task_count, NULL, error);
        status = s->assembly ? SINEW_OK : SINEW_ERROR_MEMORY;
    }
    if (status == SINEW_OK) {
        s->free_count = s->assembly->free_count;
        s->count = 3 * s->free_count + constraints->constraint_count;
        status = saddle_lay_out(s, error);
    }
    if (status == SINEW_OK)
        status = saddle_allocate_numbers(s, error);
    if (status == SINEW_OK)
        s->ldl = sinew_ldl_create(&s->allocator, sinew_simd()->dense, s->count, s->column, s->row, error);
    if (status == SINEW_OK && s->ldl)
        return s;
    sinew_saddle_destroy(s);
    return NULL;
}

void sinew_saddle_destroy(sinew_saddle *s)
{
    if (!s)
        return;
    const sinew_allocator allocator = s->allocator;
    sinew_ldl_destroy(s->ldl);
    if (s->assembly)
        sinew_assembly_destroy(s->rest, s->assembly);
    void *arrays[] = {
        s->particle_unknown, s->multiplier_unknown, s->column,   s->row,       s->values, s->scaled, s->hessian,
        s->hessian_at,       s->jacobian_at,        s->alpha_at, s->block_at,  s->scale,  s->floors, s->right,
        s->solution,         s->is_multiplier,      s->early,    s->uncertain, s->left,   s->least,  s};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        sinew_release(&allocator, arrays[i]);
}

/* ---- Contacts -------------------------------------------------------------------------------- */

typedef struct entry_search {
    const sinew_saddle *saddle;
    bool missing; /* true: some entry is not in the pattern of the matrix */
} entry_search;

static void note_missing_entry(void *context, int list, size_t at, int32_t i, int32_t j)
{
    entry_search *search = context;
    (void)list;
    (void)at;
    search->missing |= search->saddle->row[find_entry(search->saddle, i, j)] != (i > j ? j : i);
}

/* Replaces the Hessian of `rest` by one with the present contacts, if the pattern of the matrix contains it; else sets
 * *fits to false and changes nothing. */
static sinew_status saddle_replace_hessian(sinew_saddle *s, bool *fits, sinew_error *error)
{
    sinew_assembly *const before = s->assembly;
    sinew_assembly *now = sinew_assembly_create(s->rest, s->rest->task_count, NULL, error);
    entry_search search = {.saddle = s};
    *fits = false;
    if (!now)
        return error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
    s->assembly = now;
    visit_hessian(s, note_missing_entry, &search);
    const size_t numbers = 9 * (size_t)now->column[s->free_count];
    double *hessian = search.missing ? NULL : sinew_allocate(&s->allocator, numbers, sizeof *hessian);
    int32_t *at = search.missing ? NULL : allocate_entry_map(s, numbers);
    *fits = hessian && at;
    sinew_release(&s->allocator, *fits ? s->hessian : hessian);
    sinew_release(&s->allocator, *fits ? s->hessian_at : at);
    sinew_assembly_destroy(s->rest, *fits ? before : now);
    if (!*fits) {
        s->assembly = before;
        return search.missing ? SINEW_OK : sinew_fail_memory(error, "the system of constraints");
    }
    s->hessian = hessian;
    s->hessian_at = at;
    visit_hessian(s, map_entry, s);
    return SINEW_OK;
}

sinew_status sinew_saddle_take_contacts(sinew_saddle *plain, sinew_saddle **in_use, sinew_error *error)
{
    bool fits;
    if (*in_use != plain)
        sinew_saddle_destroy(*in_use);
    *in_use = plain;
    const sinew_status status = saddle_replace_hessian(plain, &fits, error);
    if (status != SINEW_OK || fits)
        return status;
    *in_use = sinew_saddle_create(plain->rest, plain->constraints, plain->kind & ~(uint32_t)SINEW_SADDLE_MASSES, error);
    return *in_use ? SINEW_OK : error && error->status != SINEW_OK ? error->status : SINEW_ERROR_MEMORY;
}

typedef struct hessian_product {
    const double *hessian; /* the numbers of the Hessian */
    const double *p;       /* [count] factor, by unknowns */
    double *out;           /* [count] product, by unknowns */
} hessian_product;

static void multiply_entry(void *context, int list, size_t at, int32_t i, int32_t j)
{
    const hessian_product *product = context;
    (void)list;
    product->out[i] += product->hessian[at] * product->p[j];
    if (i != j)
        product->out[j] += product->hessian[at] * product->p[i];
}

void sinew_saddle_add_product(sinew_saddle *s, const double *p, double *out)
{
    hessian_product product = {s->hessian, s->right, s->solution};
    memset(s->solution, 0, (size_t)s->count * sizeof *s->solution);
    for (int32_t j = 0; j < s->free_count; j++)
        memcpy(s->right + s->particle_unknown[j], p + 3 * (size_t)j, 3 * sizeof *p);
    visit_hessian(s, multiply_entry, &product);
    for (int32_t j = 0; j < s->free_count; j++)
        for (int32_t c = 0; c < 3; c++)
            out[3 * j + c] += s->solution[s->particle_unknown[j] + c];
}

/* ---- Values, scaling and factorisation of the matrix ----------------------------------------- */

static void add_hessian(sinew_saddle *s, const sinew_saddle_fill *fill)
{
    const sinew_assembly *as = s->assembly;
    const sinew_objective *o = s->rest;
    if (fill->hessian) {
        sinew_assembly_fill(s->assembly, s->rest, fill->q, fill->project, s->hessian);
        for (size_t k = 0; k < 9 * (size_t)as->column[as->free_count]; k++)
            if (s->hessian_at[k] >= 0)
                s->values[s->hessian_at[k]] += s->hessian[k];
        return;
    }
    for (int32_t j = 0; j < s->free_count && !o->step.quasistatic; j++)
        for (int32_t c = 0; c < 3; c++)
            s->values[s->column[s->particle_unknown[j] + c + 1] - 1] +=
                (double)o->step.mass[as->particle[j]] / (o->step.h * o->step.h);
}

static void add_constraints(sinew_saddle *s, const sinew_constraint_set *set, int32_t e, const uint8_t *active)
{
    const int32_t m = set->per_element;
    for (int32_t i = 0; i < m; i++) {
        const int32_t constraint = sinew_constraint_index(set, e, i);
        const double *J = sinew_constraint_jacobian(s->constraints, set, e, i);
        const bool on = !active || active[constraint];
        for (int32_t k = 0; k < 3 * set->vertex_count && on; k++)
            if (s->jacobian_at[J - s->constraints->J + k] >= 0)
                s->values[s->jacobian_at[J - s->constraints->J + k]] += J[k];
        for (int32_t j = 0; j <= i && !(set->global && e > 0); j++) {
            const bool both = on && (!active || active[sinew_constraint_index(set, e, j)]);
            s->values[s->alpha_at[set->compliance_at + (size_t)((e * m + i) * m + j)]] -=
                both     ? sinew_constraint_compliance(s->constraints, set, e, i, j)
                : i == j ? 1
                         : 0;
        }
    }
}

/* Subtracts an element's blocks of sum lambda d2C from A. If a vertex occurs twice in an element, its block is added
 * with its mirror image, so the diagonal counts twice. */
static void subtract_blocks(sinew_saddle *s, const sinew_constraint_set *set, int32_t e)
{
    const int32_t *particles = sinew_constraint_particles(s->constraints, set, e), n = set->vertex_count;
    size_t at = set->block_at + (size_t)e * 9 * (size_t)(n * (n + 1) / 2);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b <= a; b++) {
            const bool twice = a != b && particles[a] == particles[b];
            for (int32_t k = 0; k < 9; k++, at++)
                if (s->block_at[at] >= 0)
                    s->values[s->block_at[at]] -= (twice && k % 4 == 0 ? 2 : 1) * s->constraints->blocks[at];
        }
}

/* Sets s->mean, the mean diagonal entry of A, and s->trace_norm from the diagonal of A. */
static void measure_diagonal(sinew_saddle *s)
{
    double sum = 0, squares = 0;
    for (int32_t j = 0; j < s->free_count; j++) {
        double trace = 0;
        for (int32_t c = 0; c < 3; c++)
            trace += fabs(s->values[s->column[s->particle_unknown[j] + c + 1] - 1]);
        sum += trace;
        squares += trace * trace;
    }
    s->mean = s->free_count > 0 ? sum / (3 * (double)s->free_count) : 1;
    s->trace_norm = sqrt(squares);
}

void sinew_saddle_assemble(sinew_saddle *s, const sinew_saddle_fill *fill)
{
    memset(s->values, 0, s->column[s->count] * sizeof *s->values);
    add_hessian(s, fill);
    for (int32_t t = 0; t < s->constraints->set_count; t++) {
        const sinew_constraint_set *set = &s->constraints->sets[t];
        for (int32_t e = 0; e < set->element_count; e++) {
            add_constraints(s, set, e, fill->active);
            if (fill->curvature && set->curved)
                subtract_blocks(s, set, e);
        }
    }
    measure_diagonal(s);
}

/* Sets the squared inverse scale of constraints, J diag(A)^-1 J^T + alpha (Jacobian J, particle block A, compliance
 * alpha); needs the scales of particles. */
static void set_constraint_scales(sinew_saddle *s)
{
    for (int32_t r = 0; r < s->constraints->constraint_count; r++)
        s->scale[s->multiplier_unknown[r]] = fabs(s->values[s->column[s->multiplier_unknown[r] + 1] - 1]);
    for (int32_t k = 0; k < s->count; k++)
        for (size_t at = s->column[k]; at + 1 < s->column[k + 1]; at++) {
            const int32_t i = s->row[at];
            if (!s->is_multiplier[i] == !s->is_multiplier[k])
                continue;
            const int32_t multiplier = s->is_multiplier[k] ? k : i, particle = s->is_multiplier[k] ? i : k;
            s->scale[multiplier] += pow(s->values[at] * s->scale[particle], 2);
        }
}

/* Scaling of the saddle-point matrix: |A_ii|^-1/2 for particles (block A), (J diag(A)^-1 J^T + alpha)^-1/2 for
 * constraints (Jacobian J). Hard constraints get a pivot floor, early constraints a bound of the diagonal entry. */
static void find_scales(sinew_saddle *s, double shift)
{
    memset(s->floors, 0, (size_t)s->count * sizeof *s->floors);
    for (int32_t j = 0; j < s->free_count; j++)
        for (int32_t c = 0; c < 3; c++) {
            const int32_t k = s->particle_unknown[j] + c;
            const double size = fabs(s->values[s->column[k + 1] - 1] + shift * s->mean);
            s->scale[k] = size > 1e-10 * s->mean ? 1 / sqrt(size) : 1 / sqrt(s->mean > 0 ? s->mean : 1);
        }
    set_constraint_scales(s);
    for (int32_t r = 0; r < s->constraints->constraint_count; r++) {
        const int32_t k = s->multiplier_unknown[r];
        const double alpha = -s->values[s->column[k + 1] - 1];
        s->scale[k] = s->scale[k] > 0 ? 1 / sqrt(s->scale[k]) : 1;
        s->floors[k] = s->early[r] ? -LIFTED : alpha == 0 ? fmax(REDUNDANT, s->pivot_min) : 0;
    }
}

/* s->scaled = D (matrix + shift) D with D = diag(s->scale), the matrix to factorise; `shift` times the mean diagonal is
 * added to A. */
static void fill_scaled(sinew_saddle *s, double shift)
{
    for (int32_t k = 0; k < s->count; k++)
        for (size_t at = s->column[k]; at < s->column[k + 1]; at++)
            s->scaled[at] = s->values[at] * s->scale[k] * s->scale[s->row[at]];
    for (int32_t j = 0; j < s->free_count && shift > 0; j++)
        for (int32_t c = 0; c < 3; c++) {
            const int32_t k = s->particle_unknown[j] + c;
            s->scaled[s->column[k + 1] - 1] += shift * s->mean * s->scale[k] * s->scale[k];
        }
}

/* Factorises s->scaled, and again after a rank check if pivots of hard constraints are uncertain. Returns false on
 * failure. Constraints have negative pivots. A positive pivot, without a rank check or with an ill-conditioned A, is
 * round-off after a small pivot: the floor is raised, up to 1e-6, until no pivot of a constraint is positive. */
static bool factorise_constraints(sinew_saddle *s, double shift)
{
    bool good = sinew_ldl_factorise(s->ldl, s->scaled, s->floors, &s->inertia);
    const double clear = good ? sinew_saddle_certain_pivot(s) : 0;
    if (clear > 0) {
        sinew_saddle_check_rank(s, clear, fmax(REDUNDANT, s->pivot_min));
        fill_scaled(s, shift);
        good = sinew_ldl_factorise(s->ldl, s->scaled, s->floors, &s->inertia);
    }
    for (double floor = 100 * REDUNDANT; good && s->inertia.positive > 3 * s->free_count && floor < 1e-6;
         floor *= 100) {
        for (int32_t k = 0; k < s->count; k++)
            s->floors[k] = s->floors[k] > 0 ? fmax(s->floors[k], floor) : s->floors[k];
        good = sinew_ldl_factorise(s->ldl, s->scaled, s->floors, &s->inertia);
    }
    return good;
}

bool sinew_saddle_factorise(sinew_saddle *s, double shift)
{
    find_scales(s, shift);
    fill_scaled(s, shift);
    return factorise_constraints(s, shift) && s->inertia.positive == 3 * s->free_count;
}

bool sinew_saddle_dropped(const sinew_saddle *s, int32_t constraint)
{
    return sinew_ldl_dropped(s->ldl, s->multiplier_unknown[constraint]);
}

double sinew_saddle_solve(sinew_saddle *s, const double *a, const double *b, double *dq, double *y)
{
    for (int32_t j = 0; j < s->free_count; j++)
        for (int32_t c = 0; c < 3; c++) {
            const int32_t k = s->particle_unknown[j] + c;
            s->right[k] = s->scale[k] * a[3 * j + c];
        }
    for (int32_t r = 0; r < s->constraints->constraint_count; r++)
        s->right[s->multiplier_unknown[r]] = s->scale[s->multiplier_unknown[r]] * b[r];
    double left = sinew_ldl_solve(s->ldl, s->right, s->solution, REFINEMENTS);
    if (s->overdetermined)
        left = sinew_overdetermined_multipliers(s, REFINEMENTS);
    for (int32_t j = 0; j < s->free_count; j++)
        for (int32_t c = 0; c < 3; c++) {
            const int32_t k = s->particle_unknown[j] + c;
            dq[3 * j + c] = s->scale[k] * s->solution[k];
        }
    for (int32_t r = 0; r < s->constraints->constraint_count; r++)
        y[r] = -s->scale[s->multiplier_unknown[r]] * s->solution[s->multiplier_unknown[r]];
    return left;
}
