/* SPDX-License-Identifier: MIT
 *
 * test_pbng_descent.c: no plain sweep of pbng increases the objective: every tet material, quasistatic and h = 1e-1 to
 * 1e-3 s, E = 1e3 to 1e9 Pa, up to 1000 sweeps, from a bar that is stretched, rotated and partly inverted, held at both
 * ends or at one.
 *
 * After each sweep g is recomputed from the formulas of the materials in long double, with a thousandth of the
 * round-off of the library's own objective. An increase counts as round-off up to
 *
 *     16 eps_long S + 1/2 sum_i K_i (32 eps L)^2        S: the sum of |terms| of g;  L: the largest coordinate
 *
 * The first term is the round-off of this test. The second is that of the sweep: with a block A that bounds the Hessian
 * and a step with error e, a node's move changes g by at most -1/2 grad A^-1 grad + 1/2 e A e. The error e is the
 * round-off of positions and of forces divided by the stiffness; K_i bounds A. The blocks of st_venant_kirchhoff and
 * neo_hookean_log are no bounds: their steps are accepted by an energy difference that is known to 16 eps of its terms,
 * with four visits a tet, so 64 eps S is added. The same holds for exact blocks, of which only neo_hookean's and
 * linear's are bounds.
 */
#include <float.h>

#include "solver_scenes.h"

#include "world/world.h"

typedef long double wide;

#define STRETCH 1.3
#define TURN    (MAKE_PI / 2)
#define THROW   0.45                                          /* m; cells are 0.5 m */
#define EPSILON (IS_SINGLE ? (wide)FLT_EPSILON : DBL_EPSILON) /* of the library's precision */

enum {
    CELLS_X = 4,
    CELLS_Y = 2,
    TETS = 5 * CELLS_X * CELLS_Y * CELLS_Y,
    VERTICES = (CELLS_X + 1) * (CELLS_Y + 1) * (CELLS_Y + 1),
#ifdef SINEW_SANITIZED
    SWEEPS = 100 /* sanitizers are ten times slower, and check memory only */
#else
    SWEEPS = 1000
#endif
};

/* ---- Materials ---------------------------------------------------------------------------------- */

/* The invariants that psi depends on. */
typedef struct strained {
    wide F[9], I, J; /* I = |F|^2 */
    wide mu, lambda;
} strained;

/* psi per volume; adds the absolute values of its terms to *terms. */
typedef wide density(const strained *s, wide *terms);

static wide dot(const wide *a, const wide *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Signed singular values by rotations of the rows of F until they are orthogonal (Hestenes 1958), which is accurate for
 * small ones; the smallest has the sign of J. */
static void singular_values(const strained *s, wide sigma[3])
{
    wide rows[9];
    memcpy(rows, s->F, sizeof rows);
    for (int pass = 0, turned = 1; turned && pass < 20; pass++) {
        turned = 0;
        for (int pair = 0; pair < 3; pair++) {
            wide *a = rows + 3 * (pair == 2), *b = rows + 3 * (pair == 0 ? 1 : 2);
            const wide aa = dot(a, a), bb = dot(b, b), ab = dot(a, b);
            if (ab * ab <= LDBL_EPSILON * LDBL_EPSILON * aa * bb)
                continue;
            const wide zeta = (bb - aa) / (2 * ab);
            const wide t = (zeta < 0 ? -1 : 1) / (fabsl(zeta) + sqrtl(1 + zeta * zeta)), c = 1 / sqrtl(1 + t * t);
            for (int i = 0; i < 3; i++) {
                const wide old = a[i];
                a[i] = c * (old - t * b[i]);
                b[i] = c * (b[i] + t * old);
            }
            turned = 1;
        }
    }
    int min = 0;
    for (int i = 0; i < 3; i++) {
        sigma[i] = sqrtl(dot(rows + 3 * i, rows + 3 * i));
        min = sigma[i] < sigma[min] ? i : min;
    }
    sigma[min] *= s->J < 0 ? -1 : 1;
}

static wide rotation_distance(const strained *s, wide *terms)
{
    wide sigma[3], sum = 0;
    singular_values(s, sigma);
    for (int i = 0; i < 3; i++)
        sum += (sigma[i] - 1) * (sigma[i] - 1);
    *terms += s->mu * (s->I + 3);
    return s->mu * sum;
}

static wide corotated(const strained *s, wide *terms)
{
    const wide volume = s->lambda / 2 * (s->J - 1) * (s->J - 1);
    *terms += s->lambda * (s->J * s->J + 1);
    return rotation_distance(s, terms) + volume;
}

static wide neo_hookean(const strained *s, wide *terms)
{
    const wide l = s->lambda + s->mu, growth = s->J - 1;
    *terms += s->mu * (s->I + 3) + l * (s->J * s->J + 1);
    return s->mu / 2 * (s->I - 3) - s->mu * growth + l / 2 * growth * growth;
}

static wide stable_neo_hookean(const strained *s, wide *terms)
{
    const wide m = 4 * s->mu / 3, l = s->lambda + 5 * s->mu / 6, growth = s->J - 1;
    *terms += m * (s->I + 3) + l * (s->J * s->J + 1);
    return m / 2 * (s->I - 3) - m / 2 * logl((1 + s->I) / 4) - 3 * m / 4 * growth + l / 2 * growth * growth;
}

static wide neo_hookean_log(const strained *s, wide *terms)
{
    if (!(s->J > 0))
        return HUGE_VALL;
    const wide log_J = logl(s->J);
    *terms += s->mu * (s->I + 3) + (s->mu + s->lambda) * (1 + log_J * log_J);
    return s->mu / 2 * (s->I - 3) - s->mu * log_J + s->lambda / 2 * log_J * log_J;
}

static wide st_venant_kirchhoff(const strained *s, wide *terms)
{
    wide square = 0;
    for (int i = 0; i < 9; i++) {
        const wide *F = s->F;
        const wide E = (F[i / 3] * F[i % 3] + F[3 + i / 3] * F[3 + i % 3] + F[6 + i / 3] * F[6 + i % 3]) / 2 -
                       (i % 4 == 0 ? (wide)0.5 : 0);
        square += E * E;
    }
    *terms += (s->mu + s->lambda) * (s->I + 3) * (s->I + 3) / 4;
    return s->mu * square + s->lambda / 8 * (s->I - 3) * (s->I - 3);
}

static wide linear(const strained *s, wide *terms)
{
    wide square = 0;
    for (int i = 0; i < 9; i++) {
        const wide e = (s->F[i] + s->F[i % 3 * 3 + i / 3]) / 2 - (i % 4 == 0 ? 1 : 0);
        square += e * e;
    }
    const wide trace = s->F[0] + s->F[4] + s->F[8] - 3;
    *terms += (s->mu + s->lambda) * (s->I + 3);
    return s->mu * square + s->lambda / 2 * trace * trace;
}

static const struct {
    sinew_energy_kind kind;
    density *psi;
    bool bounds[2]; /* whether the cheap and the exact block are bounds */
    bool no_throw;  /* its energy is infinite at inverted tets, so the start must not be */
} materials[] = {
    {SINEW_ENERGY_STRAIN, rotation_distance, {true, false}, false},
    {SINEW_ENERGY_COROTATED, corotated, {true, false}, false},
    {SINEW_ENERGY_NEO_HOOKEAN, neo_hookean, {true, true}, false},
    {SINEW_ENERGY_STABLE_NEO_HOOKEAN, stable_neo_hookean, {true, false}, false},
    {SINEW_ENERGY_LINEAR, linear, {true, true}, false},
    {SINEW_ENERGY_ST_VENANT_KIRCHHOFF, st_venant_kirchhoff, {false, false}, false},
    {SINEW_ENERGY_NEO_HOOKEAN_LOG, neo_hookean_log, {false, false}, true},
};

/* Settings of one run. */
typedef struct trial {
    int material;
    double E, nu, h; /* h = 0: quasistatic */
    bool exact;
    bool one_end; /* held at one end only */
} trial;

/* ---- The bar and its objective ------------------------------------------------------------------ */

typedef struct bar {
    sinew_world *world;
    density *psi;
    bool checked;
    wide mu, lambda, inertia; /* inertia: 1/h^2, 0 if quasistatic */
    int32_t tets[TETS][4];
    wide gradient[TETS][4][3], volume[TETS]; /* gradients of the shape functions, at rest */
    wide mass[VERTICES], target[3 * VERTICES], force[3 * VERTICES];
    bool pinned[VERTICES];
} bar;

static void cross(const wide *a, const wide *b, wide *c)
{
    for (int i = 0; i < 3; i++)
        c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

/* The gradient of a vertex's shape function is the normal of the opposite face over six times the volume. */
static void measure_tet(bar *b, int t, const sinew_real *X)
{
    wide edge[3][3], normal[3];
    for (int i = 0; i < 9; i++)
        edge[i / 3][i % 3] = (wide)X[3 * b->tets[t][1 + i / 3] + i % 3] - (wide)X[3 * b->tets[t][0] + i % 3];
    cross(edge[1], edge[2], normal);
    const wide det = dot(edge[0], normal);
    b->volume[t] = fabsl(det) / 6;
    for (int i = 0; i < 3; i++)
        b->gradient[t][0][i] = 0;
    for (int a = 0; a < 3; a++) {
        cross(edge[(a + 1) % 3], edge[(a + 2) % 3], normal);
        for (int i = 0; i < 3; i++) {
            b->gradient[t][a + 1][i] = normal[i] / det;
            b->gradient[t][0][i] -= normal[i] / det;
        }
    }
}

static void start_positions(const sinew_mesh *mesh, bool throw, const int32_t *fixed, int32_t fixed_count,
                            sinew_real *start)
{
    const sinew_real *X = sinew_mesh_positions(mesh);
    uint32_t random = 2024;
    for (int32_t i = 0; i < VERTICES; i++) {
        const double angle = TURN * ((double)X[3 * i] + 1) / 2, c = cos(angle), s = sin(angle);
        const double y = (double)X[3 * i + 1], z = (double)X[3 * i + 2];
        const double x[3] = {STRETCH * (double)X[3 * i], c * y - s * z, s * y + c * z};
        bool held = false;
        for (int32_t k = 0; k < fixed_count; k++)
            held |= fixed[k] == i;
        for (int k = 0; k < 3; k++)
            start[3 * i + k] = (sinew_real)(x[k] + (throw &&!held ? THROW * next_random(&random) : 0));
    }
}

/* Fills in the terms of the reference objective; q_tilde is for a bar at rest. */
static void fill_bar(bar *b, const sinew_mesh *mesh, const sinew_real *start, double h, const int32_t *fixed,
                     int32_t fixed_count)
{
    sinew_real masses[VERTICES];
    assert_int_equal(sinew_mesh_tet_count(mesh), TETS);
    memcpy(b->tets, sinew_mesh_tets(mesh), sizeof b->tets);
    for (int t = 0; t < TETS; t++)
        measure_tet(b, t, sinew_mesh_positions(mesh));
    assert_int_equal(sinew_world_get_masses(b->world, 0, VERTICES, masses), SINEW_OK);
    b->inertia = h > 0 ? 1 / ((wide)h * (wide)h) : 0;
    for (int i = 0; i < VERTICES; i++) {
        b->mass[i] = (wide)masses[i];
        b->pinned[i] = false;
        for (int k = 0; k < 3; k++) {
            const wide weight = k == 1 ? (wide)(sinew_real)-9.81 : 0;
            b->force[3 * i + k] = b->mass[i] * weight;
            b->target[3 * i + k] = (wide)start[3 * i + k] + (wide)h * (wide)h * weight;
        }
    }
    for (int32_t k = 0; k < fixed_count; k++)
        b->pinned[fixed[k]] = true;
}

static sinew_solver_def plain_sweeps(bool exact)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_PBNG, SWEEPS);
    def.record = SINEW_RECORD_NONE;
    set(&def, "acceleration", 0);
    set(&def, "hessian", exact);
    set(&def, "start", 1);
    return def;
}

/* A bar whose ends are held at the start positions. */
static bar make_bar(const trial *t)
{
    const sinew_energy_kind kind = materials[t->material].kind;
    bar b = {.psi = materials[t->material].psi, .checked = !materials[t->material].bounds[t->exact]};
    sinew_mesh *mesh = make_beam(CELLS_X, CELLS_Y, CELLS_Y, 2, 1, 1);
    sinew_world_def def = sinew_default_world_def();
    sinew_real start[3 * VERTICES];
    int32_t fixed[VERTICES];
    assert_int_equal(sinew_mesh_vertex_count(mesh), VERTICES);
    const int32_t count = vertices_at(mesh, 0, -1, t->one_end ? -1 : 1, fixed);
    start_positions(mesh, !materials[t->material].no_throw, fixed, count, start);
    def.thread_count = 1;
    def.quasistatic = t->h == 0;
    if (t->h > 0)
        def.time_step = (sinew_real)t->h;
    def.solver = plain_sweeps(t->exact);
    b.world = make_world(&def);
    sinew_body body = add_mesh(b.world, mesh, 1000, start, NULL);
    add_material(b.world, body, kind, t->E, t->nu);
    add_pins(b.world, body, fixed, count, NULL);
    const bool strain = kind == SINEW_ENERGY_STRAIN; /* its k is 2 mu */
    const wide e = (wide)(sinew_real)t->E, n = (wide)(sinew_real)t->nu;
    b.mu = strain ? e / 2 : e / (2 * (1 + n));
    b.lambda = strain ? 0 : e * n / ((1 + n) * (1 - 2 * n));
    fill_bar(&b, mesh, start, def.quasistatic ? 0 : (double)def.time_step, fixed, count);
    sinew_mesh_destroy(mesh);
    return b;
}

/* g and its accuracy. */
typedef struct value {
    wide g, terms;
    wide stiffness; /* N/m, the sum of the K_i */
    wide length;    /* m */
} value;

static void add_tets(const bar *b, const wide *x, value *v)
{
    for (int t = 0; t < TETS; t++) {
        strained s = {.mu = b->mu, .lambda = b->lambda};
        wide minor[3], square = 0, terms = 0;
        for (int a = 0; a < 4; a++) {
            for (int i = 0; i < 9; i++)
                s.F[i] += x[3 * b->tets[t][a] + i / 3] * b->gradient[t][a][i % 3];
            square += b->pinned[b->tets[t][a]] ? 0 : dot(b->gradient[t][a], b->gradient[t][a]);
        }
        for (int i = 0; i < 9; i++)
            s.I += s.F[i] * s.F[i];
        cross(s.F + 3, s.F + 6, minor);
        s.J = dot(s.F, minor);
        v->g += b->volume[t] * b->psi(&s, &terms);
        v->terms += b->volume[t] * terms;
        /* |cof F|^2 <= |F|^4 / 3, and the corresponding term of st_venant_kirchhoff is at most twice that. */
        v->stiffness += b->volume[t] * square * (3 * b->mu + b->lambda) * (1 + s.I * s.I);
    }
}

static value value_of(const bar *b, const wide *x)
{
    value v = {0};
    add_tets(b, x, &v);
    for (int i = 0; i < VERTICES; i++)
        for (int k = 0; k < 3; k++) {
            const wide apart = x[3 * i + k] - b->target[3 * i + k];
            const wide own =
                b->inertia > 0 ? b->inertia / 2 * b->mass[i] * apart * apart : -b->force[3 * i + k] * x[3 * i + k];
            v.length = fmaxl(v.length, fabsl(x[3 * i + k]));
            if (b->pinned[i] && b->inertia > 0)
                continue;
            v.g += own;
            v.terms += fabsl(own);
            v.stiffness += b->inertia * b->mass[i] / 3;
        }
    return v;
}

/* The largest increase of g between two iterates that counts as round-off, as in the head of this file. */
static wide round_off(const bar *b, const value *v)
{
    const wide off = 32 * EPSILON * v->length;
    return 16 * LDBL_EPSILON * v->terms + v->stiffness * off * off / 2 + (b->checked ? 64 * EPSILON * v->terms : 0);
}

/* ---- Sweeps ------------------------------------------------------------------------------------- */

/* Reads the iterate in the caller's numbering. Returns the largest change of a coordinate. */
static wide read_iterate(const sinew_world *world, wide *x)
{
    wide max = 0;
    for (int i = 0; i < 3 * VERTICES; i++) {
        const wide now = (wide)world->solve.q[4 * (size_t)world->inside[i / 3] + (size_t)(i % 3)];
        max = fmaxl(max, fabsl(now - x[i]));
        x[i] = now;
    }
    return max;
}

/* The library's objective, with its own formula for each material, equals the reference. */
static void assert_same_objective(const bar *b, const wide *x, const value *v)
{
    sinew_real q[3 * VERTICES];
    double g;
    for (int i = 0; i < 3 * VERTICES; i++)
        q[i] = (sinew_real)x[i];
    assert_int_equal(sinew_world_objective(b->world, q, &g, NULL), SINEW_OK);
    if (!(fabsl((wide)g - v->g) <= 16 * EPSILON * (v->terms + v->stiffness * v->length * EPSILON)))
        fail_msg("the objective is %.17g, by the formulas %.17Lg", g, v->g);
}

typedef struct tally {
    int64_t sweeps, rises;
    wide worst; /* largest increase in units of its round-off */
    wide worst_relative;
    int32_t inverted;
} tally;

/* Runs sweeps until no coordinate moves by more than a few units in the last place. */
static void run_sweeps(bar *b, tally *result)
{
    sinew_error error = {0};
    wide x[3 * VERTICES] = {0};
    sinew_solve *solve = &b->world->solve;
    sinew_measures before;
    assert_int_equal(sinew_world_prepare(b->world, &error), SINEW_OK);
    assert_int_equal(sinew_world_measure(b->world, &before), SINEW_OK);
    sinew_world_predict(b->world);
    memcpy(solve->q, b->world->q, 4 * VERTICES * sizeof *solve->q);
    solve->ops->begin(solve);
    read_iterate(b->world, x);
    value last = value_of(b, x);
    assert_same_objective(b, x, &last);
    for (int k = 0; k < SWEEPS; k++) {
        assert_int_equal(solve->ops->iterate(solve), 0);
        const wide moved = read_iterate(b->world, x);
        const value now = value_of(b, x);
        const wide rise = now.g - last.g, allowed = round_off(b, &last);
        result->sweeps++;
        result->rises += !(rise <= allowed);
        result->worst = fmaxl(result->worst, rise / allowed);
        result->worst_relative = fmaxl(result->worst_relative, rise / last.terms);
        last = now;
        if (!isfinite(now.g) || moved <= 4 * EPSILON * now.length)
            break;
    }
    if (isfinite(last.g))
        assert_same_objective(b, x, &last);
    result->inverted = before.inverted_count;
}

/* Runs all cases of a material; `stride` 1 takes every power of ten of E, 3 every third. */
static int64_t run_material(int material, bool exact, int stride)
{
    static const double steps[] = {0, 1e-1, 1e-2, 1e-3}, ratios[] = {0.1, 0.3, 0.45};
    const char *name = sinew_get_energy_info(materials[material].kind)->name;
    tally result = {0};
    for (int power = 3; power <= 9; power += stride)
        for (int i = 0; i < 4; i++) {
            const trial t = {material, pow(10, power), ratios[(power + i) % 3], steps[i], exact, power % 2 == 0};
            const int64_t known = result.rises;
            bar b = make_bar(&t);
            run_sweeps(&b, &result);
            if (result.rises > known)
                print_message("%s, E = %g Pa, nu = %g, h = %g s: %d sweeps raise the objective\n", name, t.E, t.nu, t.h,
                              (int)(result.rises - known));
            sinew_world_destroy(b.world);
        }
    print_message("%-20s %s, %2d of %d tets inverted, %5d sweeps: %d rise; at most by %.2Lf of the round-off, %.1Le of "
                  "the terms\n",
                  name, exact ? "exact" : "cheap", result.inverted, TETS, (int)result.sweeps, (int)result.rises,
                  result.worst, result.worst_relative);
    return result.rises;
}

static void plain_sweeps_never_raise_the_objective(void **unused)
{
    (void)unused;
    int64_t rises = 0;
    for (int exact = 0; exact < 2; exact++)
        for (size_t m = 0; m < sizeof materials / sizeof materials[0]; m++)
            rises += run_material((int)m, exact, exact ? 3 : 1);
    assert_int_equal(rises, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain_sweeps_never_raise_the_objective)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
