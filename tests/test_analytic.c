/* SPDX-License-Identifier: MIT
 *
 * test_analytic.c: problems with closed-form solutions: homogeneous stretch, a hanging bar, a cantilever, a pendulum,
 * free flight and free fall, a catenary. Each test prints its measured value beside the closed form.
 */
#include "make_world.h"

#include "reference_material.h"

#ifdef SINEW_SINGLE
#define EXACT    2e-5 /* relative error where the closed form is the exact discrete solution */
#define PER_STEP 1e-5 /* relative change of a conserved quantity per step */
#define FLIGHT   1e-4 /* relative change of a conserved quantity over a hundred steps */
#define TIGHT    1e-6 /* solver tolerance */
#else
#define EXACT    1e-8
#define PER_STEP 1e-12
#define FLIGHT   1e-12
#define TIGHT    1e-14
#endif

static const char *name_of(int kind)
{
    return sinew_get_energy_info((sinew_energy_kind)kind)->name;
}

static sinew_world_def still(bool quasistatic)
{
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = quasistatic;
    def.gravity[1] = 0;
    def.thread_count = 1;
    def.solver.tolerance = (sinew_real)TIGHT;
    def.solver.measure = SINEW_MEASURE_GAP;
    return def;
}

/* ---- Homogeneous stretch --------------------------------------------------------------------- */

static const double block_size[3] = {1.2, 1, 0.9};
static const double young = 2e5, poisson = 0.3;

static double diagonal_stress(int kind, const double stretch[3], double P[3])
{
    double F[9] = {stretch[0], 0, 0, 0, stretch[1], 0, 0, 0, stretch[2]}, full[9];
    const double psi = reference_material((sinew_energy_kind)kind, young, poisson, F, full);
    for (int c = 0; c < 3; c++)
        P[c] = full[4 * c];
    return psi;
}

/* Finds by bisection the lateral stretch at which the last `count` axes carry no stress. */
static void relax(int kind, double stretch[3], int count)
{
    double low = 0.5, high = 1.2, P[3];
    for (int k = 0; k < 200; k++) {
        const double middle = (low + high) / 2;
        for (int c = 3 - count; c < 3; c++)
            stretch[c] = middle;
        diagonal_stress(kind, stretch, P);
        *(P[2] > 0 ? &high : &low) = middle;
    }
}

/* Pins the surface to the affine map and solves for the interior from a perturbed start. */
static void check_inside(int kind, const sinew_mesh *mesh, const double stretch[3], double psi)
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *start = make_array(3 * (size_t)n, sizeof *start), *targets = make_array(3 * (size_t)n, sizeof *targets);
    int32_t *surface = make_array((size_t)n, sizeof *surface), count = 0;
    uint32_t seed = 23;
    for (int32_t i = 0; i < n; i++) {
        bool outside = false;
        for (int c = 0; c < 3; c++)
            outside = outside || fabs(fabs((double)X[3 * i + c]) - block_size[c] / 2) < 1e-6;
        for (int c = 0; c < 3; c++)
            start[3 * i + c] =
                (sinew_real)(stretch[c] * (double)X[3 * i + c] + (outside ? 0 : 0.02 * next_random(&seed)));
        if (outside) {
            memcpy(targets + 3 * count, start + 3 * i, 3 * sizeof *start);
            surface[count++] = i;
        }
    }
    assert_true(count < n);
    sinew_world_def def = still(true);
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, start, NULL);
    add_material(world, body, (sinew_energy_kind)kind, young, poisson);
    add_pins(world, body, surface, count, targets);
    sinew_step_result result;
    assert_int_equal(sinew_world_step(world, &result), 0);
    sinew_real *q = positions_of(world);
    double error = 0;
    for (int32_t i = 0; i < 3 * n; i++)
        error = fmax(error, fabs((double)q[i] - stretch[i % 3] * (double)X[i]));
    const double volume = block_size[0] * block_size[1] * block_size[2];
    const double density_error = fabs(result.elastic / volume - psi) / psi;
    printf("  inside: %.1e m off the affine map; energy density %.6e J/m3, relative error %.1e\n", error, psi,
           density_error);
    assert_true(error < EXACT);
    assert_true(density_error < (sizeof(sinew_real) == 4 ? 1e-4 : EXACT));
    free(start);
    free(targets);
    free(surface);
    free(q);
    sinew_world_destroy(world);
}

/* With no pins and no motion, the gradient is purely elastic: its sum over a face is P times the area. */
static void check_faces(int kind, const sinew_mesh *mesh, const double stretch[3], const double P[3])
{
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q), *gradient = make_array(3 * (size_t)n, sizeof *gradient);
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] = (sinew_real)(stretch[i % 3] * (double)X[i]);
    sinew_world_def def = still(false);
    def.time_step = 10; /* inertia adds only round-off */
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, q, NULL);
    add_material(world, body, (sinew_energy_kind)kind, young, poisson);
    double value, worst = 0;
    assert_int_equal(sinew_world_objective(world, q, &value, gradient), SINEW_OK);
    for (int axis = 0; axis < 3; axis++) {
        const double area = block_size[(axis + 1) % 3] * block_size[(axis + 2) % 3];
        double force = 0;
        for (int32_t i = 0; i < n; i++)
            if (fabs((double)X[3 * i + axis] - block_size[axis] / 2) < 1e-6)
                force += (double)gradient[3 * i + axis];
        worst = fmax(worst, fabs(force - P[axis] * area) / (young * area));
    }
    printf("  faces: force against P x area, largest error %.1e of E x area\n", worst);
    assert_true(worst < (sizeof(sinew_real) == 4 ? 1e-5 : 1e-12));
    free(q);
    free(gradient);
    sinew_world_destroy(world);
}

static void test_stretch(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_beam(4, 3, 3, block_size[0], block_size[1], block_size[2]);
    for (int kind = 0; kind < REFERENCE_MATERIAL_COUNT; kind++)
        for (int biaxial = 0; biaxial < 2; biaxial++) {
            double stretch[3] = {1.3, biaxial ? 1.2 : 1, 1}, P[3];
            relax(kind, stretch, biaxial ? 1 : 2);
            const double psi = diagonal_stress(kind, stretch, P);
            printf("%s, %s stretch %.3f %.6f %.6f: P %.6e %.2e %.2e Pa\n", name_of(kind),
                   biaxial ? "biaxial" : "uniaxial", stretch[0], stretch[1], stretch[2], P[0], P[1], P[2]);
            assert_true(fabs(P[2]) < 1e-9 * young);
            check_inside(kind, mesh, stretch, psi);
            check_faces(kind, mesh, stretch, P);
        }
    sinew_mesh_destroy(mesh);
}

/* Near rest every material responds with Young's modulus and contracts by Poisson's ratio. */
static void test_small_strain_moduli(void **state)
{
    (void)state;
    for (int kind = SINEW_ENERGY_COROTATED; kind < REFERENCE_MATERIAL_COUNT; kind++) {
        const double strain = 1e-6;
        double stretch[3] = {1 + strain, 1, 1}, P[3];
        relax(kind, stretch, 2);
        diagonal_stress(kind, stretch, P);
        assert_true(fabs(P[0] / strain / young - 1) < 1e-4);
        assert_true(fabs((1 - stretch[1]) / strain / poisson - 1) < 1e-4);
    }
}

/* ---- Bars under their own weight ------------------------------------------------------------- */

/* Mean displacement of the free end of a bar along x, held at its left end, under gravity g along `axis`. */
static double end_displacement(int kind, double E, double g, int axis, int nx, int ny, double length)
{
    sinew_mesh *mesh = make_beam(nx, ny, ny, length, 1, 1);
    sinew_world_def def = still(true);
    def.gravity[axis] = (sinew_real)g;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, NULL, NULL);
    add_material(world, body, (sinew_energy_kind)kind, E, 0);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    int32_t *face = make_array((size_t)n, sizeof *face);
    int32_t count = vertices_at(mesh, 0, -length / 2, -length / 2, face);
    add_pins(world, body, face, count, NULL);
    assert_int_equal(sinew_world_step(world, NULL) & ~(uint32_t)SINEW_STEP_INVERTED, 0);
    sinew_real *q = positions_of(world);
    double sum = 0;
    count = vertices_at(mesh, 0, length / 2, length / 2, face);
    for (int32_t i = 0; i < count; i++)
        sum += (double)q[3 * face[i] + axis] - (double)sinew_mesh_positions(mesh)[3 * face[i] + axis];
    free(q);
    free(face);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return sum / count;
}

/* u = rho g L^2 / (2 E) at the free end, without contraction (Poisson's ratio 0). */
static void test_hanging_bar(void **state)
{
    (void)state;
    const double length = 3, E = 1e8, g = 9.81, exact = 1000 * g * length * length / (2 * E);
    for (int kind = SINEW_ENERGY_COROTATED; kind < REFERENCE_MATERIAL_COUNT; kind++) {
        const double u = end_displacement(kind, E, g, 0, 24, 4, length);
        printf("hanging bar, %-20s end moves %.6e m, rho g L^2 / 2E = %.6e m, relative difference %.1e\n",
               name_of(kind), u, exact, fabs(u / exact - 1));
        /* Materials other than `linear` add the strain itself, 1.5e-4 on average, as a relative error. */
        assert_true(fabs(u / exact - 1) < (kind == SINEW_ENERGY_LINEAR ? 2e-3 : 3e-3));
    }
    double last = 0;
    for (int ny = 2; ny <= 8; ny *= 2) {
        const double error = fabs(end_displacement(SINEW_ENERGY_LINEAR, E, g, 0, 6 * ny / 2, ny, length) / exact - 1);
        printf("hanging bar, linear, %d cells across: relative error %.2e%s", ny, error, last > 0 ? "" : "\n");
        if (last > 0)
            printf(", order %.2f\n", log2(last / error));
        assert_true(last == 0 || error < last || error < EXACT);
        last = error;
    }
}

/* w = q L^4 / 8 E I + q L^2 / 2 kappa G A with q = rho g A (Timoshenko; kappa 5/6, G = E/2 for Poisson's ratio 0). */
static void test_cantilever(void **state)
{
    (void)state;
    const double length = 8, E = 1e9, g = 10, load = 1000 * g, I = 1.0 / 12, kappa = 5.0 / 6, G = E / 2;
    const double bending = load * pow(length, 4) / (8 * E * I), shear = load * length * length / (2 * kappa * G);
    double last = 0, order = 0;
    printf("cantilever: Euler-Bernoulli %.6e m, with Timoshenko's shear %.6e m\n", bending, bending + shear);
    /* In single precision the round-off of positions times E times the cell size exceeds the error of the finest mesh.
     */
    for (int ny = 1; ny <= (sizeof(sinew_real) == 4 ? 4 : 8); ny *= 2) {
        const double w = end_displacement(SINEW_ENERGY_LINEAR, E, g, 1, 8 * ny, ny, length);
        const double error = fabs(w / (bending + shear) - 1);
        if (last > 0)
            order = log2(last / error);
        printf("cantilever, %2d x %d x %d cells: end moves %.6e m, relative error %.4f", 8 * ny, ny, ny, w, error);
        printf(last > 0 ? ", order %.2f\n" : "\n", order);
        assert_true(last == 0 || error < last);
        last = error;
    }
    assert_true(order >= 1.5);
}

/* ---- Pendulum -------------------------------------------------------------------------------- */

typedef struct swing {
    double period, decay; /* s; factor of the amplitude per step */
} swing;

/* Implicit Euler turns the phase of the linear pendulum by atan(w h) and shrinks it by (1 + w^2 h^2)^-1/2 per step. */
static swing measure_swing(double h, double angle)
{
    const double top[3] = {0, 0, 0}, bob[3] = {sin(angle), -cos(angle), 0};
    const sinew_real masses[2] = {1, 1};
    sinew_mesh *mesh = make_rope(2, top, bob);
    sinew_world_def def = still(false);
    def.gravity[1] = (sinew_real)-9.81;
    def.time_step = (sinew_real)h;
    sinew_world *world = make_world(&def);
    sinew_body_def body_def = sinew_default_body_def();
    body_def.mesh = mesh;
    body_def.masses = masses;
    sinew_body body = add_body(world, &body_def);
    add_springs(world, body, sizeof(sinew_real) == 4 ? 1e5 : 1e7);
    add_pins(world, body, (const int32_t[]){0}, 1, NULL);
    double before = sin(angle), first = 0, last = 0, largest[2] = {0, 0};
    int crossings = 0, at[2] = {0, 0};
    for (int step = 1; crossings < 5 && step < 100000; step++) {
        sinew_real q[3];
        assert_int_equal(sinew_world_step(world, NULL), 0);
        sinew_world_get_positions(world, 1, 1, q);
        const double x = (double)q[0];
        if (before * x < 0) {
            last = h * (step - 1 + before / (before - x));
            first = crossings++ == 0 ? last : first;
        }
        /* Records the amplitude of two half-periods of the same side: between zero crossings 1 and 2, and 3 and 4. */
        const int half = crossings == 1 ? 0 : crossings == 3 ? 1 : -1;
        if (half >= 0 && fabs(x) > largest[half]) {
            largest[half] = fabs(x);
            at[half] = step;
        }
        before = x;
    }
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return (swing){(last - first) / 2, pow(largest[1] / largest[0], 1.0 / (at[1] - at[0]))};
}

static void test_pendulum(void **state)
{
    (void)state;
    const double w = sqrt(9.81), exact = 2 * MAKE_PI / w, angle = sizeof(sinew_real) == 4 ? 0.05 : 0.002;
    double last = 0;
    for (int k = 0; k < 3; k++) {
        const double h = 0.04 / (1 << k);
        const swing s = measure_swing(h, angle);
        const double discrete = 2 * MAKE_PI * h / atan(w * h), decay = 1 / sqrt(1 + w * w * h * h);
        const double error = s.period / exact - 1;
        printf("pendulum, h %g: period %.6f s; 2 pi sqrt(L/g) = %.6f s, relative error %.2e%s", h, s.period, exact,
               error, last > 0 ? "" : "\n");
        if (last > 0)
            printf(", order %.2f\n", log2(last / error));
        printf("  implicit Euler's own: period %.6f s, relative difference %.1e; damping a step %.6f, measured %.6f\n",
               discrete, fabs(s.period / discrete - 1), decay, s.decay);
        assert_true(fabs(s.period / discrete - 1) < (sizeof(sinew_real) == 4 ? 2e-3 : 1e-4));
        assert_true(fabs(s.decay - decay) < 0.05 * (1 - decay));
        assert_true(last == 0 || error < last / 3.5 || sizeof(sinew_real) == 4);
        last = error;
    }
}

/* ---- Flight ---------------------------------------------------------------------------------- */

static double length_of(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* Sums m a x b over all particles. */
static void moment(const sinew_real *m, const sinew_real *a, const sinew_real *b, int32_t n, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    for (int32_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            const int d = (c + 1) % 3, e = (c + 2) % 3;
            out[c] += (double)m[i] *
                      ((double)a[3 * i + d] * (double)b[3 * i + e] - (double)a[3 * i + e] * (double)b[3 * i + d]);
        }
}

/* A thrown block off the origin; `turns` is its spin. */
static sinew_world *thrown(int kind, double h, double gravity, double turns)
{
    const double spin[3] = {turns, 2 * turns, -3 * turns}, speed[3] = {0.5, 1, 0.25};
    sinew_mesh *mesh = make_beam(3, 3, 3, 1, 0.8, 0.6);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    const sinew_real *X = sinew_mesh_positions(mesh);
    sinew_real *q = make_array(3 * (size_t)n, sizeof *q), *v = make_array(3 * (size_t)n, sizeof *v);
    for (int32_t i = 0; i < 3 * n; i++) {
        const int c = i % 3, d = (c + 1) % 3, e = (c + 2) % 3;
        q[i] = X[i] + (sinew_real)(c == 0 ? 0.7 : 0.2);
        v[i] = (sinew_real)(speed[c] + spin[d] * (double)X[i - c + e] - spin[e] * (double)X[i - c + d]);
    }
    sinew_world_def def = still(false);
    def.time_step = (sinew_real)h;
    def.gravity[1] = (sinew_real)gravity;
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1000, q, v);
    add_material(world, body, (sinew_energy_kind)kind, 1e5, 0.3);
    sinew_mesh_destroy(mesh);
    free(q);
    free(v);
    return world;
}

/* grad g(q') = 0; internal forces sum to zero and, by rotational invariance, have no moment about the origin at q':
 *     sum m (v' - v) = 0   and   sum m q' x (v' - v) = 0.
 * Linear momentum is conserved, and L = sum m q x v changes by h sum m v' x v, which is not zero: implicit Euler
 * reduces a spin by the fraction w^2 h^2 per step. Both laws are tested to round-off, and the reduction for its order.
 */
static void check_flight(int kind)
{
    const double h = 0.01;
    sinew_world *world = thrown(kind, h, 0, 1);
    const int32_t n = sinew_world_particle_count(world);
    sinew_real *m = make_array((size_t)n, sizeof *m), *q = make_array(3 * (size_t)n, sizeof *q);
    sinew_real *before = make_array(3 * (size_t)n, sizeof *before), *v = make_array(3 * (size_t)n, sizeof *v);
    sinew_world_get_masses(world, 0, n, m);
    double linear = 0, torque = 0, spin = 0;
    for (int step = 0; step < 50; step++) {
        sinew_measures was, is;
        sinew_world_get_velocities(world, 0, n, before);
        sinew_world_measure(world, &was);
        assert_int_equal(sinew_world_step(world, NULL), 0);
        sinew_world_measure(world, &is);
        sinew_world_get_velocities(world, 0, n, v);
        sinew_world_get_positions(world, 0, n, q);
        double change[3], cross[3], dL[3];
        moment(m, v, before, n, cross);
        for (int c = 0; c < 3; c++) {
            change[c] = is.linear_momentum[c] - was.linear_momentum[c];
            dL[c] = is.angular_momentum[c] - was.angular_momentum[c] - h * cross[c];
        }
        for (int32_t i = 0; i < 3 * n; i++)
            v[i] = (sinew_real)((double)v[i] - (double)before[i]);
        double arm[3];
        moment(m, q, v, n, arm);
        linear = fmax(linear, length_of(change) / length_of(is.linear_momentum));
        torque = fmax(torque, length_of(arm) / length_of(is.angular_momentum));
        spin = fmax(spin, length_of(dL) / length_of(is.angular_momentum));
    }
    printf(
        "free flight, %-20s a step: linear momentum changes by %.1e, sum m q' x (v' - v) is %.1e, L' - L - h sum m v' "
        "x v is %.1e (relative)\n",
        name_of(kind), linear, torque, spin);
    assert_true(linear < PER_STEP);
    assert_true(torque < PER_STEP);
    assert_true(spin < PER_STEP);
    free(m);
    free(q);
    free(before);
    free(v);
    sinew_world_destroy(world);
}

/* The fraction of the spin about the centre of mass that is left after 0.4 s. */
static double spin_left(int steps)
{
    sinew_world *world = thrown(SINEW_ENERGY_NEO_HOOKEAN, 0.4 / steps, 0, 1);
    double spin[2];
    for (int k = 0; k < 2; k++) {
        sinew_measures measures;
        for (int step = 0; k == 1 && step < steps; step++)
            sinew_world_step(world, NULL);
        sinew_world_measure(world, &measures);
        double own[3]; /* angular momentum about the centre of mass, L - x_c x p */
        const double *x = measures.centre_of_mass, *p = measures.linear_momentum;
        for (int c = 0; c < 3; c++)
            own[c] = measures.angular_momentum[c] - x[(c + 1) % 3] * p[(c + 2) % 3] + x[(c + 2) % 3] * p[(c + 1) % 3];
        spin[k] = length_of(own);
    }
    sinew_world_destroy(world);
    return spin[1] / spin[0];
}

/* Without spin, linear and angular momentum are conserved over a hundred steps. */
static void check_straight_flight(int kind)
{
    sinew_world *world = thrown(kind, 0.01, 0, 0);
    sinew_measures start, now;
    double linear = 0, angular = 0;
    sinew_world_measure(world, &start);
    for (int step = 0; step < 100; step++) {
        sinew_world_step(world, NULL);
        sinew_world_measure(world, &now);
        double dp[3], dL[3];
        for (int c = 0; c < 3; c++) {
            dp[c] = now.linear_momentum[c] - start.linear_momentum[c];
            dL[c] = now.angular_momentum[c] - start.angular_momentum[c];
        }
        linear = fmax(linear, length_of(dp) / length_of(start.linear_momentum));
        angular = fmax(angular, length_of(dL) / length_of(start.angular_momentum));
    }
    printf("straight flight, %-20s 100 steps: linear momentum changes by %.1e, angular by %.1e (relative)\n",
           sinew_get_energy_info((sinew_energy_kind)kind)->name, linear, angular);
    assert_true(linear < FLIGHT);
    assert_true(angular < FLIGHT);
    sinew_world_destroy(world);
}

static void test_free_flight(void **state)
{
    (void)state;
    for (int kind = 0; kind < SINEW_ENERGY_LINEAR; kind++)
        check_straight_flight(kind);
    for (int kind = 0; kind < SINEW_ENERGY_LINEAR; kind++)
        check_flight(kind);
    const double coarse = 1 - spin_left(40), fine = 1 - spin_left(80);
    printf("spin lost in 0.4 s: %.4f with h 0.01, %.4f with h 0.005: order %.2f\n", coarse, fine, log2(coarse / fine));
    assert_true(fabs(log2(coarse / fine) - 1) < 0.1);
}

/* x_n = x_0 + n h v_0 + g h^2 n (n + 1) / 2, independent of the deformation. */
static void test_free_fall(void **state)
{
    (void)state;
    const double h = 0.01, g = -9.81;
    sinew_world *world = thrown(SINEW_ENERGY_NEO_HOOKEAN, h, g, 1);
    sinew_measures start, now;
    sinew_world_measure(world, &start);
    double worst = 0;
    for (int n = 1; n <= 100; n++) {
        assert_int_equal(sinew_world_step(world, NULL), 0);
        sinew_world_measure(world, &now);
        for (int c = 0; c < 3; c++) {
            const double v = start.linear_momentum[c] / start.mass;
            const double exact = start.centre_of_mass[c] + n * h * v + (c == 1 ? g * h * h * n * (n + 1) / 2 : 0);
            worst = fmax(worst, fabs(now.centre_of_mass[c] - exact));
        }
    }
    printf("free fall of 4.95 m in 100 steps: centre of mass at most %.1e m off the parabola of implicit Euler\n",
           worst);
    assert_true(worst < (sizeof(sinew_real) == 4 ? 1e-4 : 1e-11));
    sinew_world_destroy(world);
}

/* ---- Catenary -------------------------------------------------------------------------------- */

/* Largest distance of the vertices of a hanging rope, length 1.5 m between ends 1 m apart, from
 * y = a (cosh(x/a) - cosh(d/2a)) with 2 a sinh(d/2a) = length. */
static double catenary_error(int32_t segments)
{
    const double length = 1.5, span = 1, stiffness = sizeof(sinew_real) == 4 ? 1e4 : 1e7; /* N */
    sinew_mesh *mesh = make_rope(segments + 1, (double[]){0, 0, 0}, (double[]){length, 0, 0});
    sinew_real *start = make_array(3 * (size_t)segments + 3, sizeof *start);
    const double slope = sqrt(length * length - span * span) / length; /* the start is a V of the right length */
    for (int32_t i = 0; i <= segments; i++) {
        start[3 * i] = (sinew_real)(span * i / segments - span / 2);
        start[3 * i + 1] = (sinew_real)(-slope * length / segments * (i < segments - i ? i : segments - i));
    }
    sinew_world_def def = still(true);
    def.gravity[1] = (sinew_real)-9.81;
    def.solver.iterations = 2000;
    def.solver.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-4 : 1e-10);
    sinew_world *world = make_world(&def);
    sinew_body body = add_mesh(world, mesh, 1, start, NULL);
    add_springs(world, body, stiffness * segments / length);
    add_pins(world, body, (const int32_t[]){0, segments}, 2, NULL);
    sinew_step_result result;
    sinew_world_step(world, &result);
    if (result.bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_NOT_FINITE))
        fail_msg("catenary of %d segments: bits %x, relative %g", segments, result.bits, result.relative_residual);
    double low = 1e-2, high = 1e2;
    for (int k = 0; k < 200; k++) {
        const double a = (low + high) / 2;
        *(2 * a * sinh(span / (2 * a)) > length ? &low : &high) = a;
    }
    sinew_real *q = positions_of(world);
    double worst = 0;
    for (int32_t i = 0; i <= segments; i++) {
        const double x = low * asinh((length * i / segments - length / 2) / low);
        const double y = low * (cosh(x / low) - cosh(span / (2 * low)));
        worst = fmax(worst, hypot((double)q[3 * i] - x, (double)q[3 * i + 1] - y));
    }
    printf("catenary, %3d segments: %d iterations, largest distance %.2e m", segments, result.iterations, worst);
    free(start);
    free(q);
    sinew_world_destroy(world);
    sinew_mesh_destroy(mesh);
    return worst;
}

static void test_catenary(void **state)
{
    (void)state;
    double last = 0, order = 0;
    for (int32_t segments = 8; segments <= (sizeof(sinew_real) == 4 ? 16 : 64); segments *= 2) {
        const double error = catenary_error(segments);
        order = last > 0 ? log2(last / error) : 0;
        printf(last > 0 ? ", order %.2f\n" : "\n", order);
        last = error;
    }
    assert_true(order > (sizeof(sinew_real) == 4 ? 1.5 : 1.9)); /* single: the softer rope of 1e4 N stretches visibly */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stretch),     cmocka_unit_test(test_small_strain_moduli),
        cmocka_unit_test(test_hanging_bar), cmocka_unit_test(test_cantilever),
        cmocka_unit_test(test_pendulum),    cmocka_unit_test(test_free_flight),
        cmocka_unit_test(test_free_fall),   cmocka_unit_test(test_catenary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
