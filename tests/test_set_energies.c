/* SPDX-License-Identifier: MIT
 *
 * test_set_energies.c: energies that are distances to sets (edge_strain, strain_limit, fibre_strain, volume, examples):
 * the projection of random, degenerate and inverted elements against a search over the members of the set; the effect
 * of limits on value, force and stiffness; independence of the number of edges; refusals.
 */
#include "make_world.h"
#include "random_cases.h"

#include "energy_batch.h"

#ifdef SINEW_SINGLE
#define CLOSE 3e-5
#else
#define CLOSE 1e-10
#endif

enum {
    STARTS = 3,
    PROPOSALS = 400
};

/* ---- Elements ---------------------------------------------------------------------------------- */

typedef struct element {
    sinew_energy_kind kind;
    double low, high;
    double F[9]; /* edges: the first column is the edge over its rest length */
} element;

/* A random rotation. */
static void draw_rotation(random_cases *r, double max, double R[9])
{
    const double axis[3] = {random_between(r, -1, 1), random_between(r, -1, 1), random_between(r, 0.01, 1)};
    rotation(axis, random_between(r, -max, max), R);
}

/* U diag(s) V^T */
static void compose(const double U[9], const double s[3], const double V[9], double F[9])
{
    for (int i = 0; i < 9; i++) {
        F[i] = 0;
        for (int k = 0; k < 3; k++)
            F[i] += U[3 * (i / 3) + k] * s[k] * V[3 * (i % 3) + k];
    }
}

/* A random F, isotropic, flat, collapsed to a line, inverted, very large or nearly zero. */
static void draw_deformation(random_cases *r, double F[9])
{
    double U[9], V[9], s[3];
    const int shape = random_index(r, 8);
    for (int i = 0; i < 3; i++)
        s[i] = random_between(r, 0.3, 2);
    if (shape == 1)
        s[1] = s[0];
    if (shape == 2)
        s[1] = s[2] = s[0];
    if (shape == 3 || shape == 4)
        s[2] = 0;
    if (shape == 4)
        s[1] = 0;
    if (shape == 5)
        s[2] = -s[2];
    if (shape == 6)
        for (int i = 0; i < 3; i++)
            s[i] *= random_between(r, 1, 10);
    if (shape == 7)
        for (int i = 0; i < 3; i++)
            s[i] *= 1e-3;
    draw_rotation(r, 3, U);
    draw_rotation(r, 3, V);
    compose(U, s, V, F);
}

static element draw_element(random_cases *r, sinew_energy_kind kind)
{
    element e = {.kind = kind, .low = random_between(r, 0.5, 1.2)};
    e.high = e.low + (random_index(r, 3) ? random_between(r, 0, 0.5) : 0);
    draw_deformation(r, e.F);
    return e;
}

static void set_parameter(const sinew_energy_ops *ops, sample *s, const char *name, double value)
{
    for (int i = 0; i < ops->info.parameter_count; i++)
        if (strcmp(ops->info.parameters[i].name, name) == 0)
            s->parameters[i] = value;
}

/* The rest shape is the unit corner, or the edge along x, so that PD's local step gives k V T column by column. */
static sample sample_of(const sinew_energy_ops *ops, const element *e)
{
    static const double corner[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, none[3] = {0, 0, 0};
    sample s = sample_make(&ops->info, &states[0]);
    memcpy(s.rest, corner, sizeof corner);
    sample_move(&s, e->F, none);
    s.parameters[0] = 1;
    set_parameter(ops, &s, "minimum", e->low);
    set_parameter(ops, &s, "maximum", e->high);
    return s;
}

/* T of `local_project`, psi and its gradient for a group of elements. */
static void project(const sinew_simd_variant *simd, const element *elements, int count, double T[][9], double *psi)
{
    const sinew_energy_ops *ops = simd->energies[elements[0].kind];
    sample samples[BATCH_MAX] = {0};
    for (int e = 0; e < count; e++)
        samples[e] = sample_of(ops, &elements[e]);
    batch b = batch_make(simd, ops, samples, count);
    const sinew_reduced_kernel kernel = {
        .groups = {.count = b.group_count, .vertex = b.vertex, .data = b.data}, .x = b.x, .g = b.g};
    ops->local_project(&kernel);
    for (int e = 0; e < count; e++)
        for (int i = 0; i < 9; i++)
            T[e][i] = i % 3 < b.vertex_count - 1
                          ? (double)*batch_at(&b, b.g, e, 3 * (i % 3 + 1) + i / 3) * (b.vertex_count == 4 ? 6 : 1)
                          : 0;
    for (int e = 0; e < count; e++) {
        batch one = batch_make(simd, ops, &samples[e], 1);
        psi[e] = batch_value(&one) * (b.vertex_count == 4 ? 6 : 1);
        batch_free(&one);
    }
    batch_free(&b);
}

/* ---- Members of the sets ----------------------------------------------------------------------- */

/* A member of the set: U diag(s) V^T with s in the set; for lengths U e_x s0. */
typedef struct member {
    double U[9], V[9], s[3];
} member;

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

static void make_member(const element *e, member *m)
{
    for (int i = 0; i < 3; i++)
        m->s[i] = fmax(m->s[i], 1e-9);
    if (e->kind == SINEW_ENERGY_VOLUME) {
        const double J = m->s[0] * m->s[1] * m->s[2];
        m->s[2] *= clamp(J, e->low, e->high) / J;
        return;
    }
    for (int i = 0; i < 3; i++)
        m->s[i] = clamp(m->s[i], e->low, e->high);
}

/* The distance in the space of psi: all of F, or F e_x. */
static double distance_to(const element *e, const member *m)
{
    double T[9], sum = 0;
    compose(m->U, m->s, m->V, T);
    const bool whole = e->kind == SINEW_ENERGY_VOLUME || e->kind == SINEW_ENERGY_STRAIN_LIMIT;
    for (int i = 0; i < 9; i++) {
        const double other = whole ? T[i] : m->s[0] * m->U[i];
        if (whole || i % 3 == 0)
            sum += (e->F[i] - other) * (e->F[i] - other);
    }
    return sqrt(sum);
}

static void turn_member(random_cases *r, double max, double R[9])
{
    double turn[9], before[9];
    draw_rotation(r, max, turn);
    memcpy(before, R, sizeof before);
    for (int i = 0; i < 9; i++)
        R[i] = turn[3 * (i / 3)] * before[i % 3] + turn[3 * (i / 3) + 1] * before[3 + i % 3] +
               turn[3 * (i / 3) + 2] * before[6 + i % 3];
}

/* The nearest member that a search with decreasing steps finds from a random one. */
static double search(random_cases *r, const element *e)
{
    member best = {.s = {random_between(r, 0.1, 3), random_between(r, 0.1, 3), random_between(r, 0.1, 3)}};
    draw_rotation(r, 3, best.U);
    draw_rotation(r, 3, best.V);
    make_member(e, &best);
    double min = distance_to(e, &best);
    for (int k = 0; k < PROPOSALS; k++) {
        const double step = 2 * pow(1e-3, (double)k / PROPOSALS);
        member next = best;
        const int what = random_index(r, 3); /* changes one factor at a time */
        if (what < 2)
            turn_member(r, step, what ? next.U : next.V);
        for (int i = 0; what == 2 && i < 3; i++)
            next.s[i] *= exp(random_between(r, -step, step));
        make_member(e, &next);
        const double distance = distance_to(e, &next);
        if (distance < min) {
            min = distance;
            best = next;
        }
    }
    return min;
}

/* Distance of the projection; checks that it belongs to the set. */
static double check_member(const element *e, const double T[9])
{
    double sum = 0, length = sqrt(T[0] * T[0] + T[3] * T[3] + T[6] * T[6]), size = 0;
    const bool whole = e->kind == SINEW_ENERGY_VOLUME || e->kind == SINEW_ENERGY_STRAIN_LIMIT;
    for (int i = 0; i < 9; i++) {
        sum += whole || i % 3 == 0 ? (e->F[i] - T[i]) * (e->F[i] - T[i]) : 0;
        size += T[i] * T[i];
    }
    const double det =
        T[0] * (T[4] * T[8] - T[5] * T[7]) - T[1] * (T[3] * T[8] - T[5] * T[6]) + T[2] * (T[3] * T[7] - T[4] * T[6]);
    const double slack = 20 * CLOSE * (1 + size * sqrt(size));
    if (e->kind == SINEW_ENERGY_VOLUME)
        assert_true(det >= e->low - slack && det <= e->high + slack);
    else if (!whole)
        assert_true(length >= e->low - slack && length <= e->high + slack);
    else /* all stretches |T d| within the limits, and the orientation of the rest shape */
        assert_true(det > 0 && length >= e->low - slack && length <= e->high + slack);
    return sqrt(sum);
}

static void check_group(random_cases *r, const sinew_simd_variant *simd, sinew_energy_kind kind, double *gap)
{
    element elements[BATCH_MAX] = {0};
    double T[BATCH_MAX][9], psi[BATCH_MAX];
    for (int e = 0; e < simd->width; e++)
        elements[e] = draw_element(r, kind);
    project(simd, elements, simd->width, T, psi);
    for (int e = 0; e < simd->width; e++) {
        double size = 0, found = INFINITY;
        for (int i = 0; i < 9; i++)
            size = fmax(size, fabs(elements[e].F[i]));
        const double distance = check_member(&elements[e], T[e]), slack = 50 * CLOSE * (1 + size);
        assert_true(fabs(psi[e] - distance * distance / 2) <= slack * (1 + size));
        for (int k = 0; k < STARTS; k++)
            found = fmin(found, search(r, &elements[e]));
        if (!(found >= distance - slack))
            fail_msg("%s: a member is at %.12g, the projection at %.12g; limits %g %g, F %g %g %g, %g %g %g, %g %g %g",
                     simd->energies[kind]->info.name, found, distance, elements[e].low, elements[e].high,
                     elements[e].F[0], elements[e].F[1], elements[e].F[2], elements[e].F[3], elements[e].F[4],
                     elements[e].F[5], elements[e].F[6], elements[e].F[7], elements[e].F[8]);
        *gap += (found - distance) / (1 + distance);
    }
}

static const sinew_energy_kind sets[] = {SINEW_ENERGY_EDGE_STRAIN, SINEW_ENERGY_STRAIN_LIMIT, SINEW_ENERGY_FIBRE_STRAIN,
                                         SINEW_ENERGY_VOLUME};

static void no_member_is_nearer(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("projections", 240, 10000);
    const sinew_simd_variant *simd = sinew_simd();
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        double gap = 0;
        int32_t count = 0;
        for (; count < r.count; count += simd->width)
            check_group(&r, simd, sets[k], &gap);
        print_message("%-14s %5d elements, the search ends %.1e farther away on average\n",
                      simd->energies[sets[k]]->info.name, (int)count, gap / count);
        assert_true(gap / count < 0.1); /* otherwise the search is too weak */
    }
}

/* ---- Volumes by singular values -------------------------------------------------------------------- */

/* The minimum of |s - sigma| over s0 s1 s2 = c on a grid of s0 and s1 that is refined around the best point. */
static double grid_distance(const double sigma[3], double c)
{
    double low[2] = {1e-4, 1e-4}, high[2] = {12, 12}, min = INFINITY, at[2] = {1, 1};
    for (int pass = 0; pass < 12; pass++) {
        double step[2];
        for (int i = 0; i < 2; i++)
            step[i] = pow(high[i] / low[i], 1.0 / 40);
        for (int k = 0; k < 41 * 41; k++) {
            const double a = low[0] * pow(step[0], k / 41), b = low[1] * pow(step[1], k % 41);
            const double d[3] = {a - sigma[0], b - sigma[1], c / (a * b) - sigma[2]};
            const double distance = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (distance < min) {
                min = distance;
                at[0] = a;
                at[1] = b;
            }
        }
        for (int i = 0; i < 2; i++) {
            low[i] = at[i] / pow(step[i], 3);
            high[i] = at[i] * pow(step[i], 3);
        }
    }
    return sqrt(min);
}

/* For a uniform dilation by two, flattening one direction is nearer than shortening all three, where (26) from F would
 * end. A dilation by 1.5 is still shortened uniformly. */
static void volumes_are_nearest_on_a_grid(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("volumes", 12, 400);
    const sinew_simd_variant *simd = sinew_simd();
    for (int32_t k = 0; k < r.count; k++) {
        element e = draw_element(&r, SINEW_ENERGY_VOLUME);
        double s[3], T[1][9], psi;
        for (int i = 0; i < 3; i++)
            s[i] = k == 0 ? 2 : k == 1 ? 1.5 : random_between(&r, 0.2, 3);
        if (k > 1 && random_index(&r, 3) == 0)
            s[2] = -0.2 * random_between(&r, 0, 1); /* the last singular value carries the sign */
        const double F[9] = {s[0], 0, 0, 0, s[1], 0, 0, 0, s[2]}, J = s[0] * s[1] * s[2];
        memcpy(e.F, F, sizeof F);
        if (k < 2)
            e.low = e.high = 1;
        project(simd, &e, 1, T, &psi);
        const double expected = J >= e.low && J <= e.high ? 0 : grid_distance(s, J < e.low ? e.low : e.high);
        const double distance = sqrt(2 * psi);
        /* The projection is never farther; of two minima the grid may have found the slightly farther one. */
        if (!(distance <= expected + 1e-5 * (1 + expected) && expected <= distance + 0.01 * (1 + distance)))
            fail_msg("stretches %g %g %g, bounds %g %g: distance %.10g, by a grid %.10g", s[0], s[1], s[2], e.low,
                     e.high, distance, expected);
        if (k < 2)
            assert_true((fabs(T[0][0] - T[0][8]) > 0.1) == (k == 0));
    }
}

/* ---- Blends of examples ------------------------------------------------------------------------ */

/* R (1 + w0 E0 + w1 E1) for a random rotation and weights. */
static void blend_member(const sample *s, const double R[9], const double w[2], double T[9])
{
    static const int at[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};
    double H[9];
    for (int i = 0; i < 9; i++)
        H[i] = (i % 4 == 0) + w[0] * s->examples[at[i]] + w[1] * s->examples[6 + at[i]];
    for (int i = 0; i < 9; i++)
        T[i] = R[3 * (i / 3)] * H[i % 3] + R[3 * (i / 3) + 1] * H[3 + i % 3] + R[3 * (i / 3) + 2] * H[6 + i % 3];
}

static double matrix_distance(const double *A, const double *B)
{
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += (A[i] - B[i]) * (A[i] - B[i]);
    return sqrt(sum);
}

static double search_blend(random_cases *r, const sample *s, const double F[9])
{
    double R[9], w[2] = {random_between(r, -1, 1), random_between(r, -1, 1)}, T[9];
    draw_rotation(r, 3, R);
    blend_member(s, R, w, T);
    double min = matrix_distance(F, T);
    for (int k = 0; k < 2 * PROPOSALS; k++) {
        const double step = 2 * pow(1e-3, (double)k / (2 * PROPOSALS));
        double turned[9], next[2] = {w[0], w[1]};
        memcpy(turned, R, sizeof turned);
        if (random_index(r, 2))
            turn_member(r, step, turned);
        else
            for (int i = 0; i < 2; i++)
                next[i] += random_between(r, -step, step);
        blend_member(s, turned, next, T);
        const double distance = matrix_distance(F, T);
        if (distance < min) {
            min = distance;
            memcpy(R, turned, sizeof turned);
            memcpy(w, next, sizeof next);
        }
    }
    return min;
}

/* Elements near a blend of two examples, rotated and perturbed: no rotated blend is nearer than psi says. Alternating
 * minimisation finds a local minimum. Of 40000 elements it was not the global one in 101, three of them with a noise of
 * 0.06 to 0.1, none below. */
static void no_blend_is_nearer(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("blends", 100, 10000);
    const sinew_simd_variant *simd = sinew_simd();
    const sinew_energy_ops *ops = simd->energies[SINEW_ENERGY_EXAMPLES];
    double gap = 0;
    int missed = 0;
    for (int32_t k = 0; k < r.count; k++) {
        element e = {.kind = SINEW_ENERGY_EXAMPLES};
        sample s = sample_of(ops, &e);
        double R[9], noise = random_between(&r, 0, 0.3), found = INFINITY;
        const double w[2] = {random_between(&r, -0.7, 1), random_between(&r, -0.7, 1)};
        for (int i = 0; i < 12; i++)
            s.examples[i] = random_between(&r, -0.3, 0.3);
        draw_rotation(&r, 3, R);
        blend_member(&s, R, w, e.F);
        for (int i = 0; i < 9; i++)
            e.F[i] += random_between(&r, -noise, noise);
        const double none[3] = {0, 0, 0};
        sample_move(&s, e.F, none);
        batch b = batch_make(simd, ops, &s, 1);
        const double distance = sqrt(12 * batch_value(&b));
        batch_free(&b);
        for (int i = 0; i < 2 * STARTS; i++)
            found = fmin(found, search_blend(&r, &s, e.F));
        missed += found < distance - 50 * CLOSE;
        if (noise < 0.05 && found < distance - 50 * CLOSE)
            fail_msg("a blend is at %.9g, psi says %.9g; noise %g", found, distance, noise);
        gap += (found - distance) / (1 + distance);
    }
    print_message("%-14s %5d elements, the search ends %.1e farther away on average, nearer in %d\n", "examples",
                  (int)r.count, gap / r.count, missed);
    assert_true(gap / r.count < 0.05 && missed <= r.count / 50);
}

/* A body in the rotated shape of an example has zero energy, in another shape it does not. With prescribed weights the
 * energy is zero only at that blend. */
static void examples_cost_nothing(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(3, 2, 2, 1.5, 1, 1);
    const int32_t count = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *shape = make_array(3 * (size_t)count, sizeof *shape),
               *turned = make_array(3 * (size_t)count, sizeof *shape);
    for (int32_t i = 0; i < count; i++) { /* bent and thinned */
        const double x = (double)X[3 * i], y = (double)X[3 * i + 1], z = (double)X[3 * i + 2];
        const double at[3] = {1.2 * x, 0.9 * y + 0.2 * x * x, 0.95 * z + 0.1 * x * y};
        for (int c = 0; c < 3; c++)
            shape[3 * i + c] = (sinew_real)at[c];
        turned[3 * i] = -shape[3 * i + 1] + 2;
        turned[3 * i + 1] = shape[3 * i];
        turned[3 * i + 2] = shape[3 * i + 2] - 1;
    }
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_EXAMPLES);
    energy.body = add_mesh(world, mesh, 1000, NULL, NULL);
    energy.example_count = 1;
    energy.example_vertex_count = count;
    energy.examples[0] = shape;
    const sinew_energy added = add_energy(world, &energy);
    sinew_measures measures;
    sinew_error error = {0};
    assert_int_equal(sinew_world_measure(world, &measures), SINEW_OK);
    assert_true(measures.elastic < 1e5 * CLOSE);
    assert_int_equal(sinew_world_set_positions(world, 0, count, turned), SINEW_OK);
    sinew_world_measure(world, &measures);
    assert_true(measures.elastic < 1e5 * CLOSE);
    sinew_energy_set_parameter(world, added, "weights", 1, &error);
    must(&error);
    sinew_world_measure(world, &measures);
    assert_true(measures.elastic > 100);
    sinew_energy_set_parameter(world, added, "weight_1", 1, &error);
    must(&error);
    sinew_world_measure(world, &measures);
    assert_true(measures.elastic < 1e5 * CLOSE);
    free(shape);
    free(turned);
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* Examples of another mesh are refused with both counts, those with a degenerate tet by its number. */
static void other_topologies_are_refused(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    sinew_real flat[3 * 8] = {0};
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_EXAMPLES);
    energy.body = add_mesh(world, mesh, 1, NULL, NULL);
    energy.example_count = 1;
    energy.example_vertex_count = 7;
    energy.examples[0] = flat;
    for (int k = 0; k < 2; k++) {
        sinew_error error = {0};
        energy.example_vertex_count = 7 + k;
        sinew_world_add_energy(world, &energy, &error);
        assert_int_equal(error.status, SINEW_ERROR_DATA);
        assert_non_null(strstr(error.text, k ? "element 0" : "7 vertices and the body 8"));
    }
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* ---- Limits and refinement ------------------------------------------------------------------------- */

/* Between the limits value, force and stiffness are zero; beyond, they are those of the distance to the limit. */
static void limits_are_free(void **unused)
{
    (void)unused;
    const sinew_simd_variant *simd = sinew_simd();
    const double expected[3] = {0.05, 0, 0.15}, stretch[3] = {0.85, 1.02, 1.25};
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++)
        for (int i = 0; i < 3; i++) {
            const sinew_energy_ops *ops = simd->energies[sets[k]];
            const element e = {.kind = sets[k], .low = 0.9, .high = 1.1, .F = {stretch[i], 0, 0, 0, 1, 0, 0, 0, 1}};
            const sample s = sample_of(ops, &e);
            batch b = batch_make(simd, ops, &s, 1);
            double H[SIZE_MAX3 * SIZE_MAX3], size = 0, force = 0;
            const double unit = ops->info.vertex_count == 4 ? 6 : 1, value = batch_gradient(&b) * unit;
            batch_linearise(&b, false);
            batch_hessian(&b, 0, H);
            for (int j = 0; j < b.size * b.size; j++)
                size = fmax(size, fabs(H[j]));
            for (int j = 0; j < b.size; j++)
                force = fmax(force, fabs((double)*batch_at(&b, b.g, 0, j)) * unit);
            const bool exact = sets[k] != SINEW_ENERGY_VOLUME; /* the nearest point of `volume` changes all stretches */
            assert_true(i == 1 ? value == 0 && force == 0 && size == 0 : value > 0 && size > 0.01);
            if (exact && i != 1) {
                assert_true(fabs(value - expected[i] * expected[i] / 2) < CLOSE);
                assert_true(fabs(force - expected[i]) < 10 * CLOSE);
            }
            batch_free(&b);
        }
}

/* A rope of n edges under one stretch: n springs of stiffness k have k/n together; edge_strain is independent of n. */
static void halved_nets_are_as_stiff(void **unused)
{
    (void)unused;
    const sinew_simd_variant *simd = sinew_simd();
    const sinew_energy_ops *ops = simd->energies[SINEW_ENERGY_EDGE_STRAIN];
    for (int n = 1; n <= 16; n *= 2) {
        double total = 0;
        sample s = sample_make(&ops->info, &states[0]);
        s.parameters[0] = 3;
        for (int i = 0; i < 6; i++)
            s.rest[i] = s.x[i] = i == 3 ? 1.0 / n : 0;
        s.x[3] *= 1.25;
        batch b = batch_make(simd, ops, &s, 1);
        total = n * batch_gradient(&b);
        assert_true(fabs(total - 3.0 / 2 * 0.25 * 0.25) < 10 * CLOSE);
        assert_true(fabs((double)*batch_at(&b, b.g, 0, 3) - 3 * 0.25) < 10 * CLOSE);
        batch_free(&b);
    }
}

/* A weight on a rope of 4, 8 and 16 edges of edge_strain sinks by m g / k of its length, and by at least the free range
 * of the limits. */
static void ropes_sink_alike(void **unused)
{
    (void)unused;
    const double from[3] = {0, 0, 0}, to[3] = {0, -1, 0}, k = 50, load = 5, slack = 1.1;
    for (int edges = 4; edges <= 16; edges *= 2)
        for (int limited = 0; limited < 2; limited++) {
            sinew_world_def def = sinew_default_world_def();
            def.time_step = 10; /* so long that implicit Euler comes to rest */
            for (int c = 0; c < 3; c++)
                def.gravity[c] = 0;
            sinew_world *world = make_world(&def);
            sinew_mesh *mesh = make_rope(edges + 1, from, to);
            sinew_real taut[3 * 17]; /* a slack rope has no initial stiffness */
            for (int i = 0; i < 3 * (edges + 1); i++)
                taut[i] = (sinew_real)1.4 * sinew_mesh_positions(mesh)[i];
            const sinew_body body = add_mesh(world, mesh, 1, taut, NULL);
            sinew_energy_def strain = sinew_default_energy_def(SINEW_ENERGY_EDGE_STRAIN);
            strain.body = body;
            strain.parameters[0] = (sinew_real)k;
            strain.parameters[2] = (sinew_real)(limited ? slack : 1);
            strain.parameters[1] = limited ? 0 : 1;
            add_energy(world, &strain);
            const int32_t first = 0;
            add_pins(world, body, &first, 1, NULL);
            const sinew_real force[3] = {0, (sinew_real)-load, 0};
            assert_int_equal(sinew_world_set_forces(world, edges, 1, force), SINEW_OK);
            sinew_step_result result;
            for (int step = 0; step < 20; step++)
                sinew_world_step(world, &result);
            sinew_real *q = positions_of(world);
            const double expected = -((limited ? slack : 1) + load / k);
            if (!(fabs((double)q[3 * edges + 1] - expected) < 1e-4))
                fail_msg("%d edges, %s: %g, not %g", edges, limited ? "limited" : "plain", (double)q[3 * edges + 1],
                         expected);
            free(q);
            sinew_mesh_destroy(mesh);
            sinew_world_destroy(world);
        }
}

/* ---- Refusals ---------------------------------------------------------------------------------- */

/* Limits in the wrong order and zero directions are refused with energy, element and both numbers. */
static void wrong_limits_are_refused(void **unused)
{
    (void)unused;
    sinew_world_def def = sinew_default_world_def();
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(1, 1, 1, 1, 1, 1);
    const sinew_body body = add_mesh(world, mesh, 1, NULL, NULL);
    for (size_t k = 0; k < sizeof sets / sizeof sets[0]; k++) {
        sinew_error error = {0};
        sinew_energy_def energy = sinew_default_energy_def(sets[k]);
        energy.body = body;
        energy.parameters[1] = (sinew_real)1.25;
        energy.parameters[2] = (sinew_real)0.75;
        sinew_world_add_energy(world, &energy, &error);
        assert_int_equal(error.status, SINEW_ERROR_DATA);
        assert_non_null(strstr(error.text, "1.25"));
        assert_non_null(strstr(error.text, "0.75"));
        assert_non_null(strstr(error.text, "element 0"));
        assert_non_null(strstr(error.text, sinew_get_energy_info(sets[k])->name));
    }
    static const sinew_energy_kind directed[] = {SINEW_ENERGY_FIBRE_STRAIN, SINEW_ENERGY_REINFORCED};
    for (int k = 0; k < 2; k++) {
        sinew_error error = {0};
        sinew_energy_def energy = sinew_default_energy_def(directed[k]);
        energy.body = body;
        energy.parameters[sinew_energy_parameter(directed[k], "direction_x")] = 0;
        sinew_world_add_energy(world, &energy, &error);
        assert_int_equal(error.status, SINEW_ERROR_DATA);
        assert_non_null(strstr(error.text, "direction_x"));
    }
    sinew_mesh_destroy(mesh);
    sinew_world_destroy(world);
}

/* ---- Fibres ------------------------------------------------------------------------------------ */

/* A stretch along the fibres of fibre-reinforced rubber: psi and stress as published; slack fibres do not act. */
static void fibres_pull_as_printed(void **unused)
{
    (void)unused;
    const sinew_simd_variant *simd = sinew_simd();
    const sinew_energy_ops *ops = simd->energies[SINEW_ENERGY_REINFORCED],
                           *matrix = simd->energies[SINEW_ENERGY_NEO_HOOKEAN];
    for (int compress = 0; compress < 2; compress++)
        for (int i = 0; i < 3; i++) {
            const double s = 0.8 + 0.25 * i, k = 7, I4 = s * s;
            const element e = {.F = {1, 0, 0, 0, s, 0, 0, 0, 1}};
            sample both = sample_of(ops, &e), plain = sample_of(matrix, &e);
            both.parameters[1] = plain.parameters[1] = 0.3;
            plain.parameters[2] = 1;
            set_parameter(ops, &both, "fibre", k);
            set_parameter(ops, &both, "compress", compress);
            set_parameter(ops, &both, "direction_x", 0);
            set_parameter(ops, &both, "direction_y", 2); /* the direction may have any length */
            batch b = batch_make(simd, ops, &both, 1), c = batch_make(simd, matrix, &plain, 1);
            const bool taut = compress || s > 1;
            const double psi = 6 * (batch_gradient(&b) - batch_gradient(&c));
            const double P = 6 * ((double)*batch_at(&b, b.g, 0, 7) - (double)*batch_at(&c, c.g, 0, 7));
            assert_true(fabs(psi - (taut ? k / 8 * (I4 - 1) * (I4 - 1) : 0)) < 10 * CLOSE);
            assert_true(fabs(P - (taut ? k / 2 * (I4 - 1) * s : 0)) < 100 * CLOSE);
            batch_free(&b);
            batch_free(&c);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_member_is_nearer),    cmocka_unit_test(volumes_are_nearest_on_a_grid),
        cmocka_unit_test(limits_are_free),        cmocka_unit_test(halved_nets_are_as_stiff),
        cmocka_unit_test(ropes_sink_alike),       cmocka_unit_test(wrong_limits_are_refused),
        cmocka_unit_test(fibres_pull_as_printed), cmocka_unit_test(no_blend_is_nearer),
        cmocka_unit_test(examples_cost_nothing),  cmocka_unit_test(other_topologies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
