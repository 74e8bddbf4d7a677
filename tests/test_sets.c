/* SPDX-License-Identifier: MIT
 *
 * test_sets.c: Projective Dynamics with a choice of A and B: projections by sequential quadratic programming against
 * random search over the sets; the method's own objective never increases; its value.
 */
#include "failing_allocator.h"
#include "random_cases.h"
#include "solver_scenes.h"

#include "energy_batch.h"
#include "energy/registry.h"
#include "solve/projective/element_projection.h"

#define CLOSE (IS_SINGLE ? 2e-3 : 1e-6)

/* ---- Constraint sets outside the library ----------------------------------------------------------- */

/* C of four points: six volumes less data[1]; of three: (x1 - x0) . (x2 - x1) less data[1]. */
static double scalar_constraint(const sinew_real *x, int n, const sinew_real *data, double gradient[12])
{
    double e[3][3], sum = 0;
    for (int a = 0; a + 1 < n; a++)
        for (int c = 0; c < 3; c++)
            e[a][c] = (double)x[4 * (a + 1) + c] - (double)x[4 * (n == 4 ? 0 : a) + c];
    for (int i = 0; i < 3 * n; i++)
        gradient[i] = 0;
    for (int c = 0; n == 3 && c < 3; c++) {
        sum += e[0][c] * e[1][c];
        gradient[c] = -e[1][c];
        gradient[3 + c] = e[1][c] - e[0][c];
        gradient[6 + c] = e[0][c];
    }
    for (int a = 0; n == 4 && a < 3; a++)
        for (int c = 0; c < 3; c++) {
            const double *u = e[(a + 1) % 3], *v = e[(a + 2) % 3];
            const double cross = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
            gradient[3 + 3 * a + c] = cross;
            gradient[c] -= cross;
            sum += a == 0 ? cross * e[0][c] : 0;
        }
    return sum - (double)data[1];
}

static double scalar_gradient_any(const sinew_kernel *k, int n)
{
    double slope[12];
    const double C = scalar_constraint(k->x, n, k->groups.data, slope), weight = (double)k->groups.data[0];
    for (int i = 0; k->g && i < 3 * n; i++)
        k->g[4 * (i / 3) + i % 3] += (sinew_real)(weight * C * slope[i]);
    return 0.5 * weight * C * C;
}

/* Gradients are quadratic polynomials, so central differences are exact. */
static void scalar_hessian_any(const sinew_kernel *k, int n)
{
    const double reach = 0.25, weight = (double)k->groups.data[0];
    double slope[12], up[12], down[12], H[12][12];
    const double C = scalar_constraint(k->x, n, k->groups.data, slope);
    sinew_real x[16];
    memcpy(x, k->x, 4 * (size_t)n * sizeof *x);
    for (int j = 0; j < 3 * n; j++) {
        const sinew_real middle = x[4 * (j / 3) + j % 3];
        x[4 * (j / 3) + j % 3] = middle + (sinew_real)reach;
        scalar_constraint(x, n, k->groups.data, up);
        x[4 * (j / 3) + j % 3] = middle - (sinew_real)reach;
        scalar_constraint(x, n, k->groups.data, down);
        x[4 * (j / 3) + j % 3] = middle;
        for (int i = 0; i < 3 * n; i++)
            H[i][j] = weight * (slope[i] * slope[j] + (k->project ? 0 : C * (up[i] - down[i]) / (2 * reach)));
    }
    sinew_real *block = k->blocks;
    for (int a = 0; a < n; a++)
        for (int b = 0; b <= a; b++, block += 9)
            for (int i = 0; i < 9; i++)
                block[i] = (sinew_real)H[3 * a + i / 3][3 * b + i % 3];
}

static double fold_value(const sinew_kernel *kernel)
{
    sinew_kernel k = *kernel;
    k.g = NULL;
    return scalar_gradient_any(&k, 3);
}

static double fold_gradient(const sinew_kernel *kernel)
{
    return scalar_gradient_any(kernel, 3);
}

static double volume_value(const sinew_kernel *kernel)
{
    sinew_kernel k = *kernel;
    k.g = NULL;
    return scalar_gradient_any(&k, 4);
}

static double volume_gradient(const sinew_kernel *kernel)
{
    return scalar_gradient_any(kernel, 4);
}

static void no_tangent(const sinew_kernel *kernel)
{
    (void)kernel;
}

static void fold_hessian(const sinew_kernel *kernel)
{
    scalar_hessian_any(kernel, 3);
}

static void volume_hessian(const sinew_kernel *kernel)
{
    scalar_hessian_any(kernel, 4);
}

static const sinew_energy_ops fold_ops = {.info = {.name = "fold", .vertex_count = 3},
                                          .value = fold_value,
                                          .gradient = fold_gradient,
                                          .linearise = no_tangent,
                                          .hessian = fold_hessian};
static const sinew_energy_ops volume_ops = {.info = {.name = "volume", .vertex_count = 4},
                                            .value = volume_value,
                                            .gradient = volume_gradient,
                                            .linearise = no_tangent,
                                            .hessian = volume_hessian};

/* ---- Random search over a set -------------------------------------------------------------------- */

typedef enum set_kind {
    SPRING,
    TET,
    RUBBER, /* the same set as a tet of strain: both energies are zero for rotations only */
    HINGE,
    FOLD,
    VOLUME,
    SET_COUNT
} set_kind;

/* One random element, its metric and its positions. */
typedef struct set_case {
    set_kind kind;
    int n;
    double rest[12], x[12], metric[16], level;
    sinew_real data[SINEW_DATA_MAX], tangent[256], blocks[90];
    int32_t vertex[4];
    sinew_sqp sqp;
} set_case;

static double parameter_count(const set_case *c)
{
    return c->kind == SPRING ? 6 : c->kind == TET || c->kind == RUBBER ? 7 : 3 * c->n;
}

static double psi_of(const set_case *c, const double *p)
{
    sinew_real x[16] = {0};
    for (int i = 0; i < 3 * c->n; i++)
        x[4 * (i / 3) + i % 3] = (sinew_real)p[i];
    const sinew_kernel kernel = {.groups = {.count = 1, .vertex = c->vertex, .data = c->data}, .x = x};
    return c->sqp.element.ops->value(&kernel);
}

/* Rotates the second opposite vertex about the edge until the hinge has its rest angle: by sqrt(2 psi / k), to the
 * right side. */
static void fold_to_rest(const set_case *c, double *p)
{
    double e[3], arm[3], moved[12], best[12], min = HUGE_VAL, l = 0;
    const double turn = sqrt(2 * psi_of(c, p) / (double)c->data[0]);
    for (int i = 0; i < 3; i++)
        l += (p[3 + i] - p[i]) * (p[3 + i] - p[i]);
    for (int i = 0; i < 3; i++) {
        e[i] = (p[3 + i] - p[i]) / sqrt(l);
        arm[i] = p[9 + i] - p[i];
    }
    const double along = e[0] * arm[0] + e[1] * arm[1] + e[2] * arm[2];
    for (int side = -1; side <= 1; side += 2) {
        memcpy(moved, p, sizeof moved);
        for (int i = 0; i < 3; i++) {
            const double across = e[(i + 1) % 3] * arm[(i + 2) % 3] - e[(i + 2) % 3] * arm[(i + 1) % 3];
            moved[9 + i] = p[i] + along * e[i] + cos(turn) * (arm[i] - along * e[i]) + side * sin(turn) * across;
        }
        if (psi_of(c, moved) < min) {
            min = psi_of(c, moved);
            memcpy(best, moved, sizeof best);
        }
    }
    memcpy(p, best, sizeof best);
}

/* Maps parameters s to a point p of the set. */
static void point_of_set(const set_case *c, const double *s, double *p)
{
    memcpy(p, s, 3 * (size_t)c->n * sizeof *p);
    if (c->kind == SPRING) {
        const double l = sqrt(s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);
        for (int i = 0; i < 6; i++)
            p[i] = s[i % 3] + (i < 3 ? -0.5 : 0.5) * c->level * s[3 + i % 3] / l;
    } else if (c->kind == TET || c->kind == RUBBER) {
        const double l = sqrt(s[3] * s[3] + s[4] * s[4] + s[5] * s[5] + s[6] * s[6]);
        const double w = s[3] / l, q[3] = {s[4] / l, s[5] / l, s[6] / l};
        for (int a = 0; a < 4; a++) {
            const double *X = c->rest + 3 * a;
            const double t[3] = {2 * (q[1] * X[2] - q[2] * X[1]), 2 * (q[2] * X[0] - q[0] * X[2]),
                                 2 * (q[0] * X[1] - q[1] * X[0])};
            for (int i = 0; i < 3; i++)
                p[3 * a + i] =
                    s[i] + X[i] + w * t[i] + q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3];
        }
    } else if (c->kind == HINGE) {
        fold_to_rest(c, p);
    } else {
        sinew_real x[16] = {0};
        double slope[12], along = 0;
        for (int i = 0; i < 3 * c->n; i++)
            x[4 * (i / 3) + i % 3] = (sinew_real)s[i];
        const double C = scalar_constraint(x, c->n, c->data, slope);
        /* Both constraints are linear in the last point. */
        for (int i = 3 * c->n - 3; i < 3 * c->n; i++)
            along += slope[i] * slope[i];
        for (int i = 3 * c->n - 3; i < 3 * c->n; i++)
            p[i] -= C * slope[i] / along;
    }
}

/* The minimal distance that an evolution strategy finds from `starts` starts. */
static double search(const set_case *c, random_cases *r, int starts, int steps)
{
    const int count = (int)parameter_count(c);
    double best = HUGE_VAL, p[12];
    for (int start = 0; start < starts; start++) {
        double s[12], next[12], now, reach = 0.5;
        for (int i = 0; i < count; i++)
            s[i] = (c->kind >= HINGE ? c->x[i] : 0) + random_between(r, -1, 1);
        point_of_set(c, s, p);
        now = sinew_sqp_distance(&c->sqp, p);
        for (int step = 0; step < steps; step++) {
            for (int i = 0; i < count; i++)
                next[i] = s[i] + reach * (random_between(r, -1, 1) + random_between(r, -1, 1));
            point_of_set(c, next, p);
            const double then = sinew_sqp_distance(&c->sqp, p);
            reach *= then < now ? 1.6 : 0.92;
            if (then < now)
                memcpy(s, next, sizeof s);
            now = fmin(now, then);
        }
        best = fmin(best, now);
    }
    return best;
}

/* ---- Random elements ------------------------------------------------------------------------------ */

static const sinew_energy_ops *ops_of(set_kind kind)
{
    static const sinew_energy_kind kinds[] = {SINEW_ENERGY_SPRING, SINEW_ENERGY_STRAIN, SINEW_ENERGY_NEO_HOOKEAN,
                                              SINEW_ENERGY_HINGE};
    return kind == FOLD     ? &fold_ops
           : kind == VOLUME ? &volume_ops
                            : sinew_energy_scalar(sinew_energy_get_ops(kinds[kind]));
}

static void fill_data(set_case *c, random_cases *r)
{
    const sinew_energy_info *info = &ops_of(c->kind)->info;
    sample s = {.rest = {0}};
    for (int i = 0; i < info->parameter_count; i++)
        s.parameters[i] = info->parameters[i].preset;
    s.parameters[0] = random_magnitude(r, 1, 1e4);
    memcpy(s.rest, c->rest, sizeof c->rest);
    if (c->kind < FOLD && batch_prepare(ops_of(c->kind), &s, c->data))
        fail_msg("a random element was refused");
    double sum = 0;
    for (int i = 0; i < 3; i++)
        sum += (c->rest[3 + i] - c->rest[i]) * (c->rest[3 + i] - c->rest[i]);
    c->level = sqrt(sum);
    if (c->kind >= FOLD) {
        sinew_real x[16] = {0};
        double slope[12];
        for (int i = 0; i < 3 * c->n; i++)
            x[4 * (i / 3) + i % 3] = (sinew_real)c->rest[i];
        c->data[0] = 1;
        c->data[1] = 0;
        c->data[1] = (sinew_real)scalar_constraint(x, c->n, c->data, slope);
    }
}

/* A metric of one of the coordinates. */
static void fill_metric(set_case *c, random_cases *r)
{
    const int n = c->n, which = random_index(r, 4);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            c->metric[a * n + b] = which == 0   ? a == b
                                   : which == 1 ? (a == b) - 1.0 / n
                                   : which == 2 ? (a == b) * (a ? 1 : n - 1) - ((a == 0) != (b == 0))
                                                : (a == b) * random_between(r, 0.3, 2);
}

/* An edge of 1 m with an opposite vertex on either side, without slivers. */
static void draw_hinge(set_case *c, random_cases *r)
{
    memset(c->rest, 0, sizeof c->rest);
    c->rest[3] = 1;
    for (int wing = 0; wing < 2; wing++) {
        c->rest[6 + 3 * wing] = random_between(r, 0.2, 0.8);
        c->rest[7 + 3 * wing] = (wing ? -1 : 1) * random_between(r, 0.6, 1.2);
        c->rest[8 + 3 * wing] = random_between(r, -0.6, 0.6);
    }
}

static void draw(set_case *c, set_kind kind, random_cases *r)
{
    memset(c, 0, sizeof *c);
    c->kind = kind;
    c->n = kind == SPRING ? 2 : kind == FOLD ? 3 : 4;
    double volume = 0, slope[12];
    while (fabs(volume) < 0.2 && kind != SPRING && kind != FOLD && kind != HINGE) {
        sinew_real x[16] = {0};
        for (int i = 0; i < 12; i++)
            x[4 * (i / 3) + i % 3] = (sinew_real)(c->rest[i] = random_between(r, -1, 1));
        volume = scalar_constraint(x, 4, c->data, slope);
    }
    for (int i = 0; i < 12 && (kind == SPRING || kind == FOLD); i++)
        c->rest[i] = random_between(r, -1, 1);
    if (kind == HINGE)
        draw_hinge(c, r);
    fill_data(c, r);
    fill_metric(c, r);
    const double reach = random_magnitude(r, 1e-2, 0.4);
    for (int i = 0; i < 12; i++)
        c->x[i] = c->rest[i] + reach * random_between(r, -1, 1);
    for (int a = 0; a < 4; a++)
        c->vertex[a] = SINEW_POINT * a;
    c->sqp = (sinew_sqp){.element.ops = ops_of(kind),
                         .element.data = c->data,
                         .element.point_count = c->n,
                         .element.vertex = c->vertex,
                         .metric = c->metric,
                         .weight = 1,
                         .x = c->x,
                         .element.tangent = c->tangent,
                         .element.blocks = c->blocks};
    assert_true(c->sqp.element.ops->tangent_count <= 256);
    /* Scaled like the energy, as in pd_general.c. */
    double H[144], trace = 0;
    sinew_element_hessian(&c->sqp.element, c->rest, true, H);
    for (int i = 0; i < 3 * c->n; i++)
        trace += H[i * (3 * c->n + 1)];
    c->sqp.weight = trace / (3 * c->n);
}

/* The projection is in the set, and a search over the set finds no nearer point. */
static void test_projection(void **unused)
{
    static const char *const names[SET_COUNT] = {"spring", "strain", "neo-Hookean", "hinge", "fold", "volume"};
    random_cases r = random_cases_begin("projections", 60, 3000);
    (void)unused;
    for (int kind = 0; kind < SET_COUNT; kind++) {
        double worst = 0, off = 0;
        int missed = 0;
        for (int32_t i = 0; i < r.count; i++) {
            set_case c;
            double p[12];
            draw(&c, (set_kind)kind, &r);
            memcpy(p, c.x, sizeof p);
            if (!sinew_sqp_project(&c.sqp, false, p)) {
                missed++;
                continue;
            }
            const double found = sinew_sqp_distance(&c.sqp, p), min = search(&c, &r, 3, 1500);
            const double scale = min + CLOSE * CLOSE * c.sqp.weight;
            worst = fmax(worst, (found - min) / scale);
            off = fmax(off, psi_of(&c, p) / scale);
        }
        printf("  %-12s not found %d, farther than the search by %.1e, psi of p %.1e of the distance\n", names[kind],
               missed, worst, off);
        /* Hinges are missed in 0.3 % of the cases (10 of 3000): a sample of 60 has four with probability 5e-5. */
        assert_true(missed <= 3 + r.count / 100);
        assert_true(worst < (IS_SINGLE ? 0.05 : 1e-3) && off < (IS_SINGLE ? 2e-2 : 1e-4));
    }
}

/* ---- Worlds ---------------------------------------------------------------------------------------- */

enum {
    REDUCED,
    IDENTITY,
    MEAN,
    VERTEX,
    MASS,
    COORDINATES
};
static const char *const coordinate_names[COORDINATES] = {"reduced", "identity", "mean", "vertex", "mass"};

static sinew_solver_def pd_of(int coordinates, bool any, int iterations)
{
    sinew_solver_def def = solver_of(SINEW_SOLVER_PD, iterations);
    def.measure = SINEW_MEASURE_RESIDUAL;
    set(&def, "coordinates", coordinates);
    set(&def, "sets", any);
    return def;
}

/* Largest increase of the method's own objective between iterations, relative to its first value. */
static double largest_rise(const sinew_world *world, double *fall)
{
    int32_t count;
    const sinew_iteration *records = sinew_world_iterations(world, &count);
    double rise = 0;
    for (int32_t i = 1; i < count; i++)
        rise = fmax(rise, (records[i].own_objective - records[i - 1].own_objective) / fabs(records[0].own_objective));
    *fall = (records[0].own_objective - records[count - 1].own_objective) / fabs(records[0].own_objective);
    return rise;
}

static void test_never_rises(void **unused)
{
    static const int tried[] = {BEAM_SOFT, BEAM_STIFF, BEAM_STILL, BALL_SOFT, CLOTH_STIFF, RUBBER_SOFT, RUBBER_STILL};
    (void)unused;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++)
        for (int k = 0; k < COORDINATES; k++) {
            const scene *s = &scenes[tried[i]];
            const sinew_solver_def def = pd_of(k, s->kind == SINEW_ENERGY_NEO_HOOKEAN || k == REDUCED, 15);
            sinew_world *world = build(s, &def, 1, 1);
            double fall, rise;
            step_of(world);
            rise = largest_rise(world, &fall);
            printf("  %-26s %-9s rises by %.1e, falls by %.2g\n", s->name, coordinate_names[k], rise, fall);
            assert_true(rise <= (IS_SINGLE ? 1e-4 : 1e-10));
            assert_true(fall > 0);
            sinew_world_destroy(world);
        }
}

/* On edges the method's own objective is the world's in all coordinates, and its minimum is Newton's. */
static void test_edges_agree(void **unused)
{
    (void)unused;
    for (int which = CLOTH_SOFT; which <= CLOTH_STIFF; which++) {
        const double lowest = newton_minimum(&scenes[which], NULL);
        for (int k = 0; k < COORDINATES; k++) {
            const bool slow = k == IDENTITY || k == MASS;
            const sinew_solver_def def = pd_of(k, k == REDUCED, which == CLOTH_SOFT || !slow ? 150 : 30);
            sinew_world *world = build(&scenes[which], &def, 1, 1);
            int32_t count;
            step_of(world);
            const sinew_iteration *records = sinew_world_iterations(world, &count);
            double apart = 0;
            for (int32_t i = 0; i < count; i++)
                apart = fmax(apart, fabs(records[i].objective - records[i].own_objective) / records[0].objective);
            const double left = (records[count - 1].objective - lowest) / (records[0].objective - lowest);
            printf("  %-14s %-9s |g - Phi| %.1e, left after %d: %.1e\n", scenes[which].name, coordinate_names[k], apart,
                   count - 1, left);
            /* Between two projections the copies are those of the previous one, so the value is at least g. */
            assert_true(records[0].own_objective >= records[0].objective * (1 - CLOSE));
            assert_true(left < (slow && which == CLOTH_STIFF ? 0.7 : IS_SINGLE ? 1e-3 : 1e-5));
            sinew_world_destroy(world);
        }
    }
}

/* Reduced coordinates by sequential quadratic programming equal the closed form. */
static void test_closed_form(void **unused)
{
    static const int tried[] = {BEAM_SOFT, BALL_SOFT, CLOTH_STIFF};
    (void)unused;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        sinew_real *q[2];
        double apart = 0;
        for (int any = 0; any < 2; any++) {
            const sinew_solver_def def = pd_of(REDUCED, any == 1, 5);
            sinew_world *world = build(&scenes[tried[i]], &def, 1, 1);
            step_of(world);
            q[any] = positions_of(world);
            for (int32_t k = 0; any == 1 && k < 3 * sinew_world_particle_count(world); k++)
                apart = fmax(apart, fabs((double)q[0][k] - (double)q[1][k]));
            sinew_world_destroy(world);
        }
        printf("  %-14s apart by %.1e m after 5 iterations\n", scenes[tried[i]].name, apart);
        assert_true(apart < (IS_SINGLE ? 1e-3 : 1e-6));
        free(q[0]);
        free(q[1]);
    }
}

/* One hinge, folded by a radian, with its angle as a constraint. Its set contains the rest angle, on which copies
 * project by sequential quadratic programming: in a long step with negligible inertia the hinge unfolds. The reduced
 * coordinates of a hinge are one vector, which does not determine the angle. */
static void test_hinge(void **unused)
{
    static const sinew_real corners[12] = {0, 0, 0, 1, 0, 0, (sinew_real)0.5, 1, 0, (sinew_real)0.5, -1, 0};
    static const int32_t triangles[6] = {0, 1, 2, 1, 0, 3};
    (void)unused;
    for (int k = IDENTITY; k < MASS; k++) {
        sinew_real folded[12];
        sinew_error error = {0};
        sinew_mesh_def parts = sinew_default_mesh_def();
        sinew_world_def def = sinew_default_world_def();
        memcpy(folded, corners, sizeof folded);
        folded[10] = (sinew_real)-cos(1);
        folded[11] = (sinew_real)sin(1);
        parts.positions = corners;
        parts.vertex_count = 4;
        parts.triangles = triangles;
        parts.triangle_count = 2;
        def.gravity[1] = 0;
        def.time_step = 10;
        def.solver = pd_of(k, true, 200);
        sinew_mesh *mesh = sinew_mesh_create(&parts, &error);
        must(&error);
        sinew_world *world = make_world(&def);
        sinew_energy_def hinge = sinew_default_energy_def(SINEW_ENERGY_HINGE);
        hinge.body = add_mesh(world, mesh, 0.2, folded, NULL);
        hinge.parameters[0] = 1;
        add_energy(world, &hinge);
        sinew_measures before, after;
        double fall;
        sinew_world_measure(world, &before);
        step_of(world);
        sinew_world_measure(world, &after);
        const double rise = largest_rise(world, &fall);
        printf("  hinge, %-9s %.2g J, folded %.2g J; rises by %.1e\n", coordinate_names[k], after.elastic,
               before.elastic, rise);
        assert_true(rise <= (IS_SINGLE ? 1e-4 : 1e-10));
        assert_true(before.elastic > 0.1 && after.elastic < 1e-5 * before.elastic);
        sinew_mesh_destroy(mesh);
        sinew_world_destroy(world);
    }
}

/* ---- Changes and refusals ------------------------------------------------------------------------- */

/* A changed world steps as one built in the changed form. */
static void test_changes(void **unused)
{
    (void)unused;
    for (int k = IDENTITY; k < COORDINATES; k++) {
        uint64_t hash[2];
        for (int changed = 0; changed < 2; changed++) {
            const sinew_solver_def def = pd_of(k, false, 4);
            sinew_error error = {0};
            scene s = scenes[CLOTH_SOFT];
            s.h = changed ? 2e-2 : 1e-2;
            sinew_world *world = build(&s, &def, 1, 1 + changed);
            if (changed) {
                assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
                assert_int_equal(sinew_world_set_time_step(world, (sinew_real)1e-2, &error), SINEW_OK);
            }
            step_of(world);
            step_of(world);
            hash[changed] = sinew_world_state_hash(world);
            sinew_world_destroy(world);
        }
        assert_true(hash[0] == hash[1]);
    }
}

static void expect_refusal(const scene *s, const sinew_solver_def *def, const char *words)
{
    sinew_error error = {0};
    sinew_solver_def loose = pd_of(IDENTITY, true, 1);
    sinew_world *world = build(s, &loose, 1, 1);
    const bool good =
        sinew_world_set_solver(world, def, &error) == SINEW_OK && sinew_world_prepare(world, &error) == SINEW_OK;
    if (good || !strstr(error.text, words))
        fail_msg("expected \"%s\", got \"%s\"", words, error.text);
    sinew_world_destroy(world);
}

static void test_refusals(void **unused)
{
    sinew_solver_def def = pd_of(MEAN, false, 1);
    (void)unused;
    expect_refusal(&scenes[RUBBER_SOFT], &def, "not a distance to a constraint set");
    set(&def, "form", 1);
    expect_refusal(&scenes[BEAM_SOFT], &def, "form = position goes with");
}

/* Every allocation of the preparation fails once. */
static void test_memory(void **unused)
{
    (void)unused;
    for (int k = IDENTITY; k <= MEAN; k++) {
        bool good = false;
        for (int64_t fails = 1; !good; fails++) {
            failing_allocator memory = {0};
            scene s = scenes[CLOTH_SOFT];
            s.allocator = hooks_of(&memory);
            const sinew_solver_def def = pd_of(k, false, 2);
            sinew_world *world = build(&s, &def, 1, 1);
            sinew_error error = {0};
            memory.fail_at = memory.calls + fails;
            good = sinew_world_prepare(world, &error) == SINEW_OK;
            assert_true(good || error.status == SINEW_ERROR_MEMORY);
            memory.fail_at = 0;
            sinew_world_destroy(world);
            assert_int_equal(memory.live, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_projection),  cmocka_unit_test(test_never_rises), cmocka_unit_test(test_edges_agree),
        cmocka_unit_test(test_closed_form), cmocka_unit_test(test_changes),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_hinge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
