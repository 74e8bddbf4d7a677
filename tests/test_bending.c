/* SPDX-License-Identifier: MIT
 *
 * test_bending.c: energies on hinges and wheels against independent references: angles between normals, projections by
 * search over the set, curvatures of a sphere and a cylinder, and the plate rigidity of hinges on several kinds of
 * meshes.
 */
#include "bending_plate.h"

#ifdef SINEW_SINGLE
#define CLOSE 2e-4
#else
#define CLOSE 1e-9
#endif

enum {
    SHEET = 6 /* vertices along a side */
};

/* ---- The angle ----------------------------------------------------------------------------------- */

/* The angle between the normals; positive or negative by the side of one plane on which the opposite vertex lies. */
static double angle_by_normals(const double *x)
{
    double e[3], a[3], b[3], n[3], m[3];
    for (int i = 0; i < 3; i++) {
        e[i] = x[3 + i] - x[i];
        a[i] = x[6 + i] - x[i];
        b[i] = x[9 + i] - x[i];
    }
    cross(e, a, n);
    cross(b, e, m);
    const double cosine = dot(n, m) / sqrt(dot(n, n) * dot(m, m));
    return (dot(n, b) > 0 ? -1 : 1) * acos(fmax(-1, fmin(1, cosine)));
}

/* C = theta - theta_0 of one element. */
static double angle_by_energy(const sinew_energy_ops *ops, const sample *s)
{
    batch b = batch_make(best_lanes(), ops, s, 1);
    const size_t padded_count = (size_t)b.width;
    sinew_real *C = batch_array(padded_count, sizeof *C), *J = batch_array(12 * padded_count, sizeof *J);
    sinew_real *alpha = batch_array(padded_count, sizeof *alpha);
    const sinew_jacobian_kernel kernel = {.groups = {.count = 1, .vertex = b.vertex, .data = b.data},
                                          .x = b.x,
                                          .C = C,
                                          .jacobian = J,
                                          .compliance = alpha};
    ops->jacobian(&kernel);
    const double angle = (double)C[0];
    free(C);
    free(J);
    free(alpha);
    batch_free(&b);
    return angle;
}

static void angles_are_those_between_the_normals(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("angles", 2000, 200000);
    const sinew_energy_ops *ops = ops_of(SINEW_ENERGY_HINGE);
    double worst = 0;
    for (int32_t i = 0; i < r.count; i++) {
        const bool flat = random_index(&r, 2);
        sample s = plain_sample(ops);
        double size[2];
        set_parameter(ops, &s, "rest", flat);
        for (int k = 0; k < 12; k++) {
            s.rest[k] = (double)(sinew_real)random_between(&r, -1, 1);
            s.x[k] = (double)(sinew_real)random_between(&r, -1, 1);
        }
        const double rest = angle_by_normals(s.rest), now = angle_by_normals(s.x);
        for (int k = 0; k < 2; k++) { /* in single precision heights of thin triangles are round-off */
            const double *x = k ? s.x : s.rest;
            double e[3], a[3], n[3];
            size[k] = 1;
            for (int wing = 2; wing < 4; wing++) {
                for (int c = 0; c < 3; c++) {
                    e[c] = x[3 + c] - x[c];
                    a[c] = x[3 * wing + c] - x[c];
                }
                cross(e, a, n);
                size[k] = fmin(size[k], sqrt(dot(n, n)));
            }
        }
        if (size[0] < 0.05 || size[1] < 0.05 || fabs(rest) > 3.1 || fabs(now) > 3.1 || (!flat && fabs(rest) > 3))
            continue;
        const double error = fabs(angle_by_energy(ops, &s) - (now - (flat ? 0 : rest)));
        worst = fmax(worst, error);
    }
    printf("    angle: worst error %.1e (bound %.0e)\n", worst, 1e-7 > CLOSE ? 1e-7 : CLOSE);
    assert_true(worst <= fmax(CLOSE, 1e-7)); /* acos loses half the digits near flat */
}

/* Up to half a turn the angle of a folded hinge is continuous through the flat state. */
static void the_angle_is_continuous_but_where_triangles_meet(void **unused)
{
    (void)unused;
    const sinew_energy_ops *ops = ops_of(SINEW_ENERGY_HINGE);
    const double rest[12] = {0, 0, 0, 0, 1, 0, 1, 0.5, 0, -1, 0.4, 0};
    for (int step = -313; step <= 313; step++) {
        sample s = plain_sample(ops);
        const double turn = 0.01 * step;
        memcpy(s.rest, rest, sizeof rest);
        memcpy(s.x, rest, sizeof rest);
        s.x[9] = -cos(turn);
        s.x[11] = sin(turn);
        assert_true(fabs(fabs(angle_by_energy(ops, &s)) - fabs(turn)) <= CLOSE * 4);
        const double next = angle_by_energy(ops, &s);
        assert_true(step == 0 || (next > 0) == (angle_by_normals(s.x) > 0));
    }
}

/* Triangles that collapse during the motion give finite numbers. */
static void collapsed_hinges_stay_finite(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("collapsed hinges", 500, 20000);
    for (int32_t i = 0; i < r.count; i++) {
        const sinew_energy_ops *ops = ops_of(SINEW_ENERGY_HINGE);
        const state rest = states[0];
        random_state = random_bits(&r);
        sample s = sample_make(&ops->info, &rest);
        const int how = random_index(&r, 5);
        for (int k = 0; k < 12; k++) {
            const double scale = how == 0 ? 0 : how == 1 ? 1e-12 : 1;
            s.x[k] *= scale;
            if (how == 2 && k >= 6) /* opposite vertices on an end of the edge */
                s.x[k] = s.x[k % 3];
            if (how == 3) /* all vertices on a line */
                s.x[k] = (k / 3) * (k % 3 + 1);
            if (how == 4 && k < 6) /* an edge of length zero */
                s.x[k] = s.x[k % 3];
        }
        batch b = batch_make(best_lanes(), ops, &s, 1);
        double H[SIZE_MAX3 * SIZE_MAX3];
        assert_true(isfinite(batch_gradient(&b)));
        for (int k = 0; k < 12; k++)
            assert_true(isfinite((double)*batch_at(&b, b.g, 0, k)));
        for (int project = 0; project < 2; project++) {
            batch_linearise(&b, project);
            batch_hessian(&b, 0, H);
            for (int k = 0; k < 144; k++)
                assert_true(isfinite(H[k]));
        }
        batch_free(&b);
    }
}

/* ---- Small deflections --------------------------------------------------------------------------- */

/* At a flat rest shape both hinge energies have the same out-of-plane Hessian. */
static void isometric_is_the_hinge_in_small_angles(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("flat hinges", 200, 10000);
    const sinew_energy_kind kinds[2] = {SINEW_ENERGY_HINGE, SINEW_ENERGY_ISOMETRIC};
    for (int32_t i = 0; i < r.count; i++) {
        double H[2][SIZE_MAX3 * SIZE_MAX3], largest = 0;
        const double rest[12] = {random_between(&r, -0.2, 0.2),
                                 0,
                                 0,
                                 random_between(&r, 0.8, 1.2),
                                 0,
                                 0,
                                 random_between(&r, -0.5, 1.5),
                                 random_between(&r, 0.3, 1.5),
                                 0,
                                 random_between(&r, -0.5, 1.5),
                                 -random_between(&r, 0.3, 1.5),
                                 0};
        for (int k = 0; k < 2; k++) {
            sample s = plain_sample(ops_of(kinds[k]));
            memcpy(s.rest, rest, sizeof rest);
            memcpy(s.x, rest, sizeof rest);
            batch b = batch_make(best_lanes(), ops_of(kinds[k]), &s, 1);
            batch_linearise(&b, false);
            batch_hessian(&b, 0, H[k]);
            batch_free(&b);
        }
        for (int a = 0; a < 144; a++)
            largest = fmax(largest, fabs(H[0][a]));
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                const int at = (3 * a + 2) * 12 + 3 * b + 2;
                assert_true(fabs(H[0][at] - H[1][at]) <= CLOSE * largest);
            }
    }
}

/* ---- The plate rigidity of hinges ---------------------------------------------------------------- */

static void the_plate_depends_on_the_mesh(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("unstructured plate", 1, 20);
    const patch equilateral = {"equilateral", 0.5, sqrt(0.75), false, 0}, right = {"right-angled", 0, 1, false, 0};
    const patch jack = {"union jack", 0, 1, true, 0}, random = {"unstructured", 0.5, sqrt(0.75), false, 0.25};
    const struct {
        const patch *p;
        double degrees, wanted, within;
    } table[] = {{&equilateral, 0, 1, 1e-4}, {&equilateral, 11, 1, 1e-4}, {&right, 0, 1, 1e-4},
                 {&right, 17, 0.7535, 1e-3}, {&right, -17, 1.872, 1e-3},  {&jack, 0, 0.83, 0.01},
                 {&random, 0, 1.08, 0.2}};
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const double D = effective_rigidity(table[i].p, table[i].degrees, &r);
        printf("    %-14s turned by %3.0f degrees: rigidity %.4f D\n", table[i].p->name, table[i].degrees, D);
        assert_true(fabs(D - table[i].wanted) <= table[i].within);
    }
}

/* ---- Curvature ------------------------------------------------------------------------------------ */

/* Sum of psi over the wheels of a mesh, with rigidity 1 and a flat rest shape: half the integral of (k1 + k2)^2. */
static double curvature_energy(const sinew_mesh *mesh, int *count)
{
    const sinew_energy_ops *ops = ops_of(SINEW_ENERGY_MEAN_CURVATURE);
    const sinew_stencil_info *stencil_info = sinew_get_stencil(SINEW_STENCIL_WHEEL);
    cells wheels = find(mesh, SINEW_STENCIL_WHEEL, SINEW_STENCIL_MAX);
    double sum = 0;
    *count = wheels.count;
    for (int32_t w = 0; w < wheels.count; w++) {
        const int32_t *v = wheels.vertices + SINEW_STENCIL_MAX * w;
        sinew_real rest[SIZE_MAX3], parameters[SINEW_PARAMETER_MAX] = {1, 1}, data[SINEW_DATA_MAX];
        for (int k = 0; k < SIZE_MAX3; k++)
            rest[k] = mesh->positions[3 * v[k / 3] + k % 3];
        const sinew_element element = {.vertex_count = sinew_stencil_size(stencil_info, v, SINEW_STENCIL_MAX),
                                       .rest = rest,
                                       .parameters = parameters};
        assert_null(ops->prepare(&element, data));
        double z[3] = {0};
        for (int k = 0; k < SIZE_MAX3; k++)
            z[k % 3] += (double)data[3 + k / 3] * (double)rest[k];
        sum += 0.5 * (double)data[0] * dot(z, z);
    }
    cells_free(&wheels);
    return sum;
}

static void curvature_of_a_sphere_and_a_can(void **unused)
{
    (void)unused;
    int count;
    for (int n = 6; n <= 12; n += 6) {
        sinew_mesh *sphere = make_sphere(n);
        const double energy = curvature_energy(sphere, &count), wanted = 8 * MAKE_PI; /* 1/2 (2/R)^2 4 pi R^2 */
        printf("    sphere, %4d vertices: %.4f of 8 pi D\n", count, energy / wanted);
        assert_int_equal(count, sinew_mesh_vertex_count(sphere));
        assert_true(fabs(energy / wanted - 1) < (n == 6 ? 0.05 : 0.02));
        sinew_mesh_destroy(sphere);
    }
    const int n = 32, m = 20;
    const double radius = 0.5, length = 1.5, row = length / m;
    sinew_round_def def = sinew_default_round_def();
    sinew_error error = {0};
    def.segments = n;
    def.layers = m;
    def.radius = (sinew_real)radius;
    def.height = (sinew_real)length;
    sinew_mesh *can = sinew_mesh_can(&def, &error);
    must(&error);
    const double energy = curvature_energy(can, &count);
    const double wanted = 0.5 / (radius * radius) * 2 * MAKE_PI * radius * (length - row); /* wheels omit the rims */
    printf("    can, %4d of %d vertices: %.4f of D/2 area / R^2\n", count, sinew_mesh_vertex_count(can),
           energy / wanted);
    assert_int_equal(count, n * (m - 1));
    assert_true(fabs(energy / wanted - 1) < 0.01);
    sinew_mesh_destroy(can);
}

/* ---- Projection ------------------------------------------------------------------------------------ */

/* The smallest |z - p|^2 over the sphere of radius L that a search from many starts finds. */
static double nearest_by_search(random_cases *r, const double z[3], double L)
{
    double best = INFINITY;
    for (int start = 0; start < 12; start++) {
        double p[3] = {0}, step = 1, now = INFINITY;
        for (int tries = 0; tries < 300; tries++) {
            double t[3], length, off = 0;
            for (int c = 0; c < 3; c++)
                t[c] = p[c] + step * random_between(r, -1, 1);
            length = sqrt(dot(t, t));
            for (int c = 0; c < 3; c++) {
                t[c] *= length > 0 ? 1 / length : 0;
                off += (z[c] - L * t[c]) * (z[c] - L * t[c]);
            }
            if (off < now) {
                now = off;
                memcpy(p, t, sizeof p);
            } else {
                step *= 0.95;
            }
        }
        best = fmin(best, now);
    }
    return best;
}

/* psi = k/2 |z - p|^2, where p is the projection of PD's local step; p is in the set, and no point of the set is
 * nearer. */
static void check_projection(random_cases *r, const sinew_energy_ops *ops)
{
    const int n = ops->info.vertex_count;
    const state drawn = {.name = "drawn", .angle = 1, .sigma = {1.2, 0.9, 0.7}, .noise = 0.4};
    _Alignas(64) sinew_real D[SINEW_STENCIL_MAX * 16], weights[16];
    random_state = random_bits(r);
    const sample s = sample_make(&ops->info, &drawn);
    batch b = batch_make(best_lanes(), ops, &s, 1);
    sinew_reduced_kernel kernel = {
        .groups = {.count = 1, .vertex = b.vertex, .data = b.data}, .x = b.x, .D = D, .weights = weights};
    ops->reduce(&kernel);
    ops->stiffness(&kernel);
    const double psi = batch_value(&b), k = (double)weights[0];
    double z[3] = {0}, p[3] = {0}, square = 0, rest[3] = {0};
    memset(b.g, 0, sizeof *b.g * (size_t)(4 * b.width * n));
    kernel.g = b.g;
    ops->local_project(&kernel);
    for (int a = 0; a < n; a++) {
        const double c = (double)D[a * b.width];
        square += c * c;
        for (int i = 0; i < 3; i++) {
            z[i] += c * (double)*batch_at(&b, b.x, 0, 3 * a + i);
            rest[i] += c * s.rest[3 * a + i];
            p[i] += c * (double)*batch_at(&b, b.g, 0, 3 * a + i) / k;
        }
    }
    double apart = 0;
    for (int i = 0; i < 3; i++) {
        p[i] /= square;
        apart += (z[i] - p[i]) * (z[i] - p[i]);
    }
    const double L = sqrt(dot(rest, rest)), scale = dot(z, z) + L * L;
    assert_true(fabs(sqrt(dot(p, p)) - L) <= 10 * CLOSE * sqrt(scale));
    assert_true(fabs(psi - 0.5 * k * apart) <= 10 * CLOSE * k * scale);
    const double found = nearest_by_search(r, z, L);
    assert_true(apart <= found * (1 + CLOSE) + 10 * CLOSE * scale);
    assert_true(found <= apart + 1e-3 * scale); /* the search finds a point as near as p */
    batch_free(&b);
}

static void projections_are_nearest(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("projections", 200, 10000);
    for (int32_t i = 0; i < r.count; i++) {
        check_projection(&r, ops_of(SINEW_ENERGY_ISOMETRIC));
        check_projection(&r, ops_of(SINEW_ENERGY_MEAN_CURVATURE));
    }
}

/* The proximal map has a lower objective than its neighbours. */
static void check_prox(random_cases *r, const sinew_energy_ops *ops)
{
    const state drawn = {.name = "drawn", .angle = 1, .sigma = {1.2, 0.9, 0.7}, .noise = 0.4};
    _Alignas(64) sinew_real D[SINEW_STENCIL_MAX * 16], weights[16], u[3 * 16];
    random_state = random_bits(r);
    const sample s = sample_make(&ops->info, &drawn);
    batch b = batch_make(best_lanes(), ops, &s, 1);
    sinew_reduced_kernel kernel = {.groups = {.count = 1, .vertex = b.vertex, .data = b.data},
                                   .x = b.x,
                                   .g = b.g,
                                   .D = D,
                                   .weights = weights,
                                   .u = u};
    ops->reduce(&kernel);
    ops->stiffness(&kernel);
    const double k = (double)weights[0], w2 = k * random_magnitude(r, 0.01, 100);
    double y[3] = {0}, z[3], rest[3] = {0};
    for (int i = 0; i < 3 * b.width; i++)
        u[i] = (sinew_real)random_between(r, -1, 1);
    for (int i = 0; i < b.width; i++)
        weights[i] = (sinew_real)w2;
    for (int i = 0; i < 3; i++)
        y[i] = (double)u[i * b.width];
    for (int a = 0; a < ops->info.vertex_count; a++)
        for (int i = 0; i < 3; i++) {
            y[i] += (double)D[a * b.width] * (double)*batch_at(&b, b.x, 0, 3 * a + i);
            rest[i] += (double)D[a * b.width] * s.rest[3 * a + i];
        }
    ops->local_prox(&kernel);
    const double L = sqrt(dot(rest, rest));
    double own = 0, size = sqrt(dot(y, y)) + L;
    for (int trial = 0; trial < 50; trial++) {
        double t[3], off = 0;
        for (int i = 0; i < 3; i++) {
            z[i] = y[i] - (double)u[i * b.width];
            t[i] = z[i] + (trial ? size * random_magnitude(r, 1e-4, 1) * random_between(r, -1, 1) : 0);
            off += (t[i] - y[i]) * (t[i] - y[i]);
        }
        const double stretch = sqrt(dot(t, t)) - L, value = 0.5 * k * stretch * stretch + 0.5 * w2 * off;
        if (trial == 0)
            own = value;
        assert_true(own <= value + CLOSE * (k + w2) * size * size);
    }
    batch_free(&b);
}

static void proximal_maps_are_lowest(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("proximal maps", 200, 10000);
    for (int32_t i = 0; i < r.count; i++) {
        check_prox(&r, ops_of(SINEW_ENERGY_ISOMETRIC));
        check_prox(&r, ops_of(SINEW_ENERGY_MEAN_CURVATURE));
    }
}

/* ---- Directions and refusals ------------------------------------------------------------------------ */

/* A hinge across the warp bends the warp, a hinge along it the weft, a diagonal hinge both. */
static void warp_and_weft_bend_apart(void **unused)
{
    (void)unused;
    const sinew_energy_ops *ops = ops_of(SINEW_ENERGY_HINGE);
    for (int step = 0; step <= 6; step++) {
        const double angle = step * MAKE_PI / 12, c = cos(angle), s = sin(angle);
        const double along[3] = {c, s, 0}, across[3] = {-s, c, 0};
        sample one = plain_sample(ops);
        for (int i = 0; i < 3; i++) {
            one.rest[3 + i] = along[i];
            one.rest[6 + i] = 0.5 * along[i] + across[i];
            one.rest[9 + i] = 0.5 * along[i] - across[i];
        }
        memcpy(one.x, one.rest, sizeof one.x);
        one.x[11] = 0.3;
        set_parameter(ops, &one, "rigidity", 2);
        set_parameter(ops, &one, "weft_ratio", 0.25);
        batch b = batch_make(best_lanes(), ops, &one, 1);
        const double value = batch_value(&b), weight = 2.0 * 1 / (1 + 1); /* 2 |e| / (h + h) */
        const double theta = angle_by_normals(one.x), D = 2 * (s * s + 0.25 * c * c);
        assert_true(fabs(value - 0.5 * D * weight * theta * theta) <= 10 * CLOSE);
        batch_free(&b);
    }
}

/* Creates a mesh and checks that the energy refuses it with a message containing `words`. */
static void check_refusal(sinew_energy_kind kind, const sinew_real *x, int vertices, const int32_t *triangles,
                          int count, const char *words)
{
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = vertices;
    def.positions = x;
    def.triangle_count = count;
    def.triangles = triangles;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    const sinew_world_def world_def = sinew_default_world_def();
    sinew_world *world = make_world(&world_def);
    sinew_body_def body = sinew_default_body_def();
    const sinew_real masses[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    body.mesh = mesh;
    body.masses = masses;
    sinew_energy_def energy = sinew_default_energy_def(kind);
    energy.body = sinew_world_add_body(world, &body, &error);
    must(&error);
    sinew_world_add_energy(world, &energy, &error);
    if (!strstr(error.text, words))
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
}

static void bad_triangles_are_refused_by_name(void **unused)
{
    (void)unused;
    const sinew_real flat[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 2, 0, 0, 0, 0, 1};
    const int32_t three_sheets[] = {0, 1, 2, 1, 0, 4, 0, 1, 5};
    check_refusal(SINEW_ENERGY_HINGE, flat, 6, three_sheets, 3, "edge 0 1 belongs to 3 triangles");
    check_refusal(SINEW_ENERGY_MEAN_CURVATURE, flat, 6, three_sheets, 3, "edge 0 1 belongs to more than two");
    const int32_t thin[] = {0, 1, 2, 0, 1, 4}; /* vertices 0, 1, 4 are collinear */
    check_refusal(SINEW_ENERGY_HINGE, flat, 6, thin, 2, "hinge, element 0");
    check_refusal(SINEW_ENERGY_ISOMETRIC, flat, 6, thin, 2, "no area");
    const sinew_real wheel[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, -1, 0, 0, 0, -1, 0, 2, 0, 0, 0, 2, 0};
    const int32_t line[] = {0, 1, 2, 0, 2, 3, 0, 3, 4, 0, 4, 5, 0, 5, 1};
    check_refusal(SINEW_ENERGY_MEAN_CURVATURE, wheel, 7, line, 5, "mean_curvature, element 0");
    const int32_t folded[] = {0, 1, 2, 0, 1, 6}; /* one triangle folded onto the other */
    check_refusal(SINEW_ENERGY_HINGE, wheel, 7, folded, 2, "lie on each other");
    const sinew_real tents[] = {0, 0, 0, 1, 0, 1, -1, 1, 1, -1, -1, 1, 1, 0, -1, -1, 1, -1, -1, -1, -1};
    const int32_t two_tents[] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 0, 4, 5, 0, 5, 6, 0, 6, 4};
    check_refusal(SINEW_ENERGY_MEAN_CURVATURE, tents, 7, two_tents, 6, "vertex 0 is where sheets meet in a point");
}

/* ---- Solvers ----------------------------------------------------------------------------------------- */

/* Takes one step of a sheet that is clamped along one edge and bent. */
static void step_sheet(sinew_energy_kind bending, sinew_solver_kind solver, int32_t iterations, sinew_real *q)
{
    sinew_body sheet;
    sinew_world *world = make_sheet(SHEET, solver, iterations, &sheet);
    sinew_energy_def energy = sinew_default_energy_def(bending);
    energy.body = sheet;
    energy.parameters[0] = (sinew_real)0.02;
    add_energy(world, &energy);
    sinew_world_step(world, NULL);
    sinew_world_get_positions(world, 0, SHEET * SHEET, q);
    sinew_world_destroy(world);
}

/* Every solver that supports a bending energy reaches Newton's minimum. */
static void solvers_agree_on_bending(void **unused)
{
    (void)unused;
    const sinew_energy_kind kinds[3] = {SINEW_ENERGY_HINGE, SINEW_ENERGY_ISOMETRIC, SINEW_ENERGY_MEAN_CURVATURE};
    const sinew_solver_kind solvers[4] = {SINEW_SOLVER_QN, SINEW_SOLVER_PD, SINEW_SOLVER_ADMM, SINEW_SOLVER_PBNG};
    for (int k = 0; k < 3; k++) {
        sinew_real truth[3 * SHEET * SHEET], q[3 * SHEET * SHEET];
        double way = 0;
        step_sheet(kinds[k], SINEW_SOLVER_NEWTON, 50, truth);
        for (int i = 2; i < 3 * SHEET * SHEET; i += 3)
            way = fmax(way, fabs((double)truth[i]));
        for (int s = 0; s < 4; s++) {
            double off = 0;
            if (!sinew_solver_accepts(solvers[s], kinds[k], NULL, 0))
                continue;
            step_sheet(kinds[k], solvers[s], 400, q);
            for (int i = 0; i < 3 * SHEET * SHEET; i++)
                off = fmax(off, fabs((double)q[i] - (double)truth[i]));
            printf("    %-14s by %-5s %.1e of the way apart\n", sinew_get_energy_info(kinds[k])->name,
                   sinew_get_solver_info(solvers[s])->name, off / way);
            /* PD converges linearly, hence the wider bound. */
            assert_true(off <= (solvers[s] == SINEW_SOLVER_PD ? 1e-2 : 100 * CLOSE) * way);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(angles_are_those_between_the_normals),
        cmocka_unit_test(the_angle_is_continuous_but_where_triangles_meet),
        cmocka_unit_test(collapsed_hinges_stay_finite),
        cmocka_unit_test(isometric_is_the_hinge_in_small_angles),
        cmocka_unit_test(the_plate_depends_on_the_mesh),
        cmocka_unit_test(curvature_of_a_sphere_and_a_can),
        cmocka_unit_test(projections_are_nearest),
        cmocka_unit_test(proximal_maps_are_lowest),
        cmocka_unit_test(warp_and_weft_bend_apart),
        cmocka_unit_test(bad_triangles_are_refused_by_name),
        cmocka_unit_test(solvers_agree_on_bending),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
