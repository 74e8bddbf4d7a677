/* SPDX-License-Identifier: MIT
 *
 * test_objective.c: the objective and the linear algebra under Newton, each part against an independent reference:
 *
 *     gradient              fourth-order central differences of the value, a world with all energies at once
 *     matrix-free product   fourth-order central differences of the gradient
 *     assembled matrix      the product, column by column; symmetry; any row order
 *     projected matrix      its eigenvalues, by LAPACK
 *     sparse Cholesky       LAPACK's dense dposv
 *     conjugate gradients   LAPACK's dense dposv
 */
#include "make_world.h"

#include "linear/factor/cholesky.h"
#include "linear/krylov/block_jacobi.h"
#include "linear/krylov/pcg.h"
#include "objective/assembly.h"
#include "world/world.h"

#ifdef SINEW_SINGLE
#define STEP                0.02 /* m, of finite differences; cells are 0.33 m and larger */
#define STEP_ERROR          5e-5
#define AGREE               1e-6
#define SOLVE_ERROR         1e-11 /* the factorisation is in double in both builds */
#define EIGENVALUE_NEGATIVE 1e-5
#else
#define STEP                2e-4
#define STEP_ERROR          1e-10
#define AGREE               1e-14
#define SOLVE_ERROR         1e-11
#define EIGENVALUE_NEGATIVE 1e-13
#endif

#define MATERIAL_COUNT 7 /* SINEW_ENERGY_STRAIN .. SINEW_ENERGY_LINEAR */

void dposv_(const char *uplo, const int *n, const int *nrhs, double *A, const int *lda, double *B, const int *ldb,
            int *info);
void dsyev_(const char *jobz, const char *uplo, const int *n, double *A, const int *lda, double *w, double *work,
            const int *lwork, int *info);

/* ---- A world with all energies ------------------------------------------------------------------- */

/* Assigns material `kind` to every seventh tet of the beam. */
static void add_material_share(sinew_world *world, sinew_body body, const sinew_mesh *mesh, int kind)
{
    const int32_t count = sinew_mesh_tet_count(mesh), *tets = sinew_mesh_tets(mesh);
    int32_t *own = make_array(4 * (size_t)count, sizeof *own), used = 0;
    for (int32_t t = kind; t < count; t += MATERIAL_COUNT, used++)
        memcpy(own + 4 * used, tets + 4 * t, 4 * sizeof *own);
    sinew_energy_def def = sinew_default_energy_def((sinew_energy_kind)kind);
    def.body = body;
    def.elements = own;
    def.element_count = used;
    def.parameters[0] = (sinew_real)(1e4 * (1 + kind));
    if (kind != SINEW_ENERGY_STRAIN)
        def.parameters[1] = (sinew_real)(0.1 + 0.05 * kind);
    add_energy(world, &def);
    free(own);
}

static void add_anchors_and_sutures(sinew_world *world, sinew_body beam, sinew_body rope)
{
    static const int32_t corners[3] = {4, 9, 30};
    static const sinew_real targets[9] = {-1, 1, 0, (sinew_real)0.5, 1, 1, 2, 0, (sinew_real)0.3};
    sinew_energy_def position = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    position.body = beam;
    position.elements = corners;
    position.element_count = 3;
    position.targets = targets;
    add_energy(world, &position);

    /* Couples a point inside a tet of the beam to a point on the rope; the second pair has a common vertex on both
     * sides. */
    const int32_t first = sinew_body_first_particle(world, rope);
    const int32_t pairs[16] = {10, 11, 14, 17, first, first + 1, first + 2, first + 3, 20, 21, 22, 23, 20, 5, 6, 7};
    static const double shares[16] = {0.1, 0.2, 0.3, 0.4, 0.25, 0.25, 0.25, 0.25, 1, 0, 0, 0, 0.5, 0.25, 0.25, 0};
    sinew_real weights[16];
    for (int i = 0; i < 16; i++)
        weights[i] = (sinew_real)shares[i];
    static const sinew_real normals[6] = {1, 2, 3, 0, 1, 0};
    sinew_energy_def weak = sinew_default_energy_def(SINEW_ENERGY_WEAK);
    weak.elements = pairs;
    weak.element_count = 2;
    weak.weights = weights;
    weak.normals = normals;
    weak.parameters[1] = 300;
    add_energy(world, &weak);
}

static sinew_real *random_vector(int32_t count, double size, uint32_t seed)
{
    sinew_real *vector = make_array((size_t)count, sizeof *vector);
    for (int32_t i = 0; i < count; i++)
        vector[i] = (sinew_real)(size * next_random(&seed));
    return vector;
}

/* Beam with all seven materials, rope of springs, anchors, sutures, pins, damping, gravity, forces; deformed and
 * compressed, so that the Hessian has negative eigenvalues to project. */
static sinew_world *everything(bool quasistatic)
{
    static const int32_t held[4] = {0, 1, 2, 35};
    sinew_world_def def = sinew_default_world_def();
    def.quasistatic = quasistatic;
    def.damping = (sinew_real)0.7;
    def.time_step = (sinew_real)0.02;
    def.gravity[0] = 1;
    sinew_world *world = make_world(&def);
    sinew_mesh *mesh = make_beam(3, 2, 2, 3, 1, 1);
    sinew_mesh *line = make_rope(5, (double[]){1, 0, 0}, (double[]){2, 1, 1});
    const int32_t n = sinew_mesh_vertex_count(mesh);
    sinew_real *q = random_vector(3 * n, 0.06, 7), *v = random_vector(3 * n, 1, 8), *r = random_vector(15, 0.02, 10);
    for (int32_t i = 0; i < 3 * n; i++)
        q[i] += (sinew_real)(i % 3 == 0 ? 0.7 : 1) * sinew_mesh_positions(mesh)[i];
    for (int32_t i = 0; i < 15; i++)
        r[i] += (sinew_real)0.8 * sinew_mesh_positions(line)[i];
    sinew_body beam = add_mesh(world, mesh, 1000, q, v), rope = add_mesh(world, line, 2, r, NULL);
    for (int kind = 0; kind < MATERIAL_COUNT; kind++)
        add_material_share(world, beam, mesh, kind);
    add_springs(world, rope, 5000);
    add_springs(world, beam, 800);
    add_anchors_and_sutures(world, beam, rope);
    add_pins(world, beam, held, 4, NULL);
    const int32_t particles = sinew_world_particle_count(world);
    sinew_real *f = random_vector(3 * particles, 30, 9);
    assert_int_equal(sinew_world_set_forces(world, 0, particles, f), SINEW_OK);
    sinew_mesh_destroy(mesh);
    sinew_mesh_destroy(line);
    free(q);
    free(v);
    free(r);
    free(f);
    return world;
}

/* ---- Derivatives ------------------------------------------------------------------------------ */

static double value_at(sinew_world *world, const sinew_real *q, sinew_real *gradient)
{
    double value;
    assert_int_equal(sinew_world_objective(world, q, &value, gradient), SINEW_OK);
    assert_true(isfinite(value));
    return value;
}

/* Fourth-order central differences: (8 (f(1) - f(-1)) - (f(2) - f(-2))) / 12 step. */
static double difference(const double f[4], double step)
{
    return (8 * (f[2] - f[1]) - (f[3] - f[0])) / (12 * step);
}

static const int shifts[4] = {-2, -1, 1, 2};

static void check_gradient(bool quasistatic)
{
    sinew_world *world = everything(quasistatic);
    const int32_t n = 3 * sinew_world_particle_count(world);
    sinew_real *q = positions_of(world), *gradient = make_array((size_t)n, sizeof *gradient);
    double error = 0, size = 0;
    value_at(world, q, gradient);
    for (int32_t i = 0; i < n; i++) {
        if (world->pinned[world->inside[i / 3]]) {
            assert_true(gradient[i] == 0);
            continue;
        }
        const sinew_real kept = q[i];
        double f[4];
        for (int k = 0; k < 4; k++) {
            q[i] = (sinew_real)((double)kept + shifts[k] * STEP);
            f[k] = value_at(world, q, NULL);
        }
        q[i] = kept;
        const double d = (double)gradient[i] - difference(f, STEP);
        error += d * d;
        size += (double)gradient[i] * (double)gradient[i];
    }
    printf("gradient of the %s objective, all energies, against differences of the value: relative error %.1e\n",
           quasistatic ? "quasistatic" : "dynamic", sqrt(error / size));
    assert_true(sqrt(error / size) < STEP_ERROR);
    free(q);
    free(gradient);
    sinew_world_destroy(world);
}

static void test_gradient(void **state)
{
    (void)state;
    check_gradient(false);
    check_gradient(true);
}

/* Positions q [][4] of a prepared world in internal order. */
static sinew_real *inside_positions(sinew_world *world)
{
    sinew_error error = {0};
    assert_int_equal(sinew_world_prepare(world, &error), SINEW_OK);
    assert_int_equal(sinew_objective_need_tangents(&world->objective, &error), SINEW_OK);
    sinew_world_predict(world);
    const size_t size = 4 * (size_t)world->particle_count;
    /* aligned like the library's own arrays */
    sinew_real *q = sinew_allocate(&world->allocator, size, sizeof *q);
    assert_non_null(q);
    memcpy(q, world->q, size * sizeof *q);
    return q;
}

/* H [n][n], n = 3 particles, in internal order, column by column by the matrix-free product; zero at pins. */
static double *product_matrix(sinew_world *world, const sinew_real *q, bool project)
{
    sinew_objective *o = &world->objective;
    const size_t n = 3 * (size_t)o->particle_count;
    double *H = make_array(n * n, sizeof *H);
    sinew_real *p = sinew_allocate_zero(&world->allocator, 4 * n, sizeof *p);
    sinew_real *Hp = sinew_allocate_zero(&world->allocator, 4 * n, sizeof *Hp);
    sinew_objective_linearise(o, q, project);
    for (size_t j = 0; j < n; j++) {
        if (o->step.pinned[j / 3])
            continue;
        p[4 * (j / 3) + j % 3] = 1;
        sinew_objective_product(o, p, Hp);
        p[4 * (j / 3) + j % 3] = 0;
        for (size_t i = 0; i < n; i++)
            H[n * i + j] = (double)Hp[4 * (i / 3) + i % 3];
    }
    sinew_release(&world->allocator, p);
    sinew_release(&world->allocator, Hp);
    return H;
}

/* H by finite differences of the gradient, as in product_matrix(). */
static double *difference_matrix(sinew_world *world, sinew_real *q)
{
    sinew_objective *o = &world->objective;
    const size_t n = 3 * (size_t)o->particle_count;
    double *H = make_array(n * n, sizeof *H);
    sinew_real *g[4];
    for (int k = 0; k < 4; k++)
        g[k] = sinew_allocate_zero(&world->allocator, 4 * n, sizeof *g[k]);
    for (size_t j = 0; j < n; j++) {
        if (o->step.pinned[j / 3])
            continue;
        sinew_real *x = &q[4 * (j / 3) + j % 3], kept = *x;
        for (int k = 0; k < 4; k++) {
            *x = (sinew_real)((double)kept + shifts[k] * STEP);
            sinew_objective_gradient(o, q, g[k], NULL);
        }
        *x = kept;
        for (size_t i = 0; i < n; i++) {
            const size_t at = 4 * (i / 3) + i % 3;
            const double f[4] = {(double)g[0][at], (double)g[1][at], (double)g[2][at], (double)g[3][at]};
            H[n * i + j] = difference(f, STEP);
        }
    }
    for (int k = 0; k < 4; k++)
        sinew_release(&world->allocator, g[k]);
    return H;
}

/* H from the sparse matrix, as in product_matrix(); row order as given, NULL: ascending. */
static double *assembled_matrix(sinew_world *world, const sinew_real *q, bool project, const int32_t *order)
{
    sinew_objective *o = &world->objective;
    sinew_error error = {0};
    const size_t n = 3 * (size_t)o->particle_count;
    sinew_assembly *as = sinew_assembly_create(o, o->task_count, order, &error);
    must(&error);
    double *values = make_array(9 * (size_t)as->column[as->free_count], sizeof *values);
    double *H = make_array(n * n, sizeof *H);
    sinew_assembly_fill(as, o, q, project, values);
    for (int32_t j = 0; j < as->free_count; j++) {
        const size_t blocks = (size_t)(as->column[j + 1] - as->column[j]);
        for (size_t k = 0; k < blocks; k++)
            for (size_t r = 0; r < 3; r++)
                for (size_t c = 0; c < 3; c++) {
                    const int32_t row = as->row[(size_t)as->column[j] + k];
                    const size_t i = 3 * (size_t)as->particle[row] + r, l = 3 * (size_t)as->particle[j] + c;
                    const double entry = values[9 * (size_t)as->column[j] + 3 * blocks * c + 3 * k + r];
                    H[n * i + l] = H[n * l + i] = entry;
                }
    }
    free(values);
    sinew_assembly_destroy(o, as);
    return H;
}

/* |A - B| / |B|, Frobenius */
static double distance(const double *A, const double *B, size_t count)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < count; i++) {
        error += (A[i] - B[i]) * (A[i] - B[i]);
        size += B[i] * B[i];
    }
    return sqrt(error / size);
}

static double asymmetry(const double *A, size_t n)
{
    double error = 0, size = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            error += (A[n * i + j] - A[n * j + i]) * (A[n * i + j] - A[n * j + i]);
            size += A[n * i + j] * A[n * i + j];
        }
    return sqrt(error / size);
}

static void check_hessian(bool quasistatic)
{
    sinew_world *world = everything(quasistatic);
    sinew_real *q = inside_positions(world);
    const size_t n = 3 * (size_t)world->particle_count;
    double *product = product_matrix(world, q, false), *differences = difference_matrix(world, q);
    double *assembled = assembled_matrix(world, q, false, NULL);
    double *projected = product_matrix(world, q, true), *assembled_projected = assembled_matrix(world, q, true, NULL);
    const double by_differences = distance(product, differences, n * n),
                 by_assembly = distance(assembled, product, n * n);
    const double by_projected = distance(assembled_projected, projected, n * n);
    printf("Hessian of the %s objective, all energies: product against differences of the gradient %.1e, assembled "
           "against product %.1e, projected %.1e, asymmetry of the product %.1e\n",
           quasistatic ? "quasistatic" : "dynamic", by_differences, by_assembly, by_projected, asymmetry(product, n));
    assert_true(by_differences < STEP_ERROR);
    assert_true(by_assembly < AGREE);
    assert_true(by_projected < AGREE);
    assert_true(asymmetry(product, n) < AGREE);
    assert_true(distance(projected, product, n * n) > 1e-6); /* the projection has an effect here */

    double *diagonal = make_array(3 * n, sizeof *diagonal);
    sinew_objective_diagonal(&world->objective, q, false, diagonal);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++) {
            const double expected = world->pinned[i / 3] ? (i % 3 == c) : product[n * i + i / 3 * 3 + c];
            assert_true(fabs(diagonal[9 * (i / 3) + 3 * (i % 3) + c] - expected) <=
                        1e3 * AGREE * fabs(product[n * i + i]) + AGREE);
        }
    double *matrices[] = {product, differences, assembled, projected, assembled_projected, diagonal};
    for (size_t k = 0; k < sizeof matrices / sizeof matrices[0]; k++)
        free(matrices[k]);
    sinew_release(&world->allocator, q);
    sinew_world_destroy(world);
}

static void test_hessian(void **state)
{
    (void)state;
    check_hessian(false);
    check_hessian(true);
}

/* The free rows and columns of H [n][n], compacted; H is symmetric, so column-major equals row-major. */
static double *free_part(const sinew_world *world, const double *H, int *free_count)
{
    const size_t n = 3 * (size_t)world->particle_count;
    size_t *index = make_array(n, sizeof *index), count = 0;
    for (size_t i = 0; i < n; i++)
        if (!world->pinned[i / 3])
            index[count++] = i;
    double *A = make_array(count * count, sizeof *A);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            A[count * i + j] = H[n * index[i] + index[j]];
    free(index);
    *free_count = (int)count;
    return A;
}

/* Quasistatic, since inertia would hide negative eigenvalues. */
static void test_projection_is_semidefinite(void **state)
{
    (void)state;
    for (int project = 0; project < 2; project++) {
        sinew_world *world = everything(true);
        sinew_real *q = inside_positions(world);
        double *H = product_matrix(world, q, project), *A, work[4096], *w;
        int n, info, size = 4096;
        A = free_part(world, H, &n);
        w = make_array((size_t)n, sizeof *w);
        dsyev_("N", "L", &n, A, &n, w, work, &size, &info);
        assert_int_equal(info, 0);
        printf("%s Hessian: eigenvalues %.3e .. %.3e N/m\n", project ? "projected" : "exact", w[0], w[n - 1]);
        if (project)
            assert_true(w[0] > -EIGENVALUE_NEGATIVE * w[n - 1]);
        else
            assert_true(w[0] < -1e-3 * w[n - 1]); /* the exact matrix has a negative eigenvalue */
        free(A);
        free(w);
        free(H);
        sinew_release(&world->allocator, q);
        sinew_world_destroy(world);
    }
}

/* ---- Linear systems ---------------------------------------------------------------------------- */

/* Reverses the rows: another pattern of the same matrix. */
static void test_row_order(void **state)
{
    (void)state;
    sinew_world *world = everything(false);
    sinew_real *q = inside_positions(world);
    const size_t n = 3 * (size_t)world->particle_count;
    int32_t *order = make_array(n, sizeof *order), count = 0;
    for (int32_t i = 0; i < world->particle_count; i++)
        count += !world->pinned[i];
    for (int32_t k = 0; k < count; k++)
        order[k] = (7 * k + 3) % count; /* a permutation: 7 does not divide the count */
    assert_true(count % 7 != 0);
    double *plain = assembled_matrix(world, q, true, NULL), *shuffled = assembled_matrix(world, q, true, order);
    assert_true(distance(shuffled, plain, n * n) < AGREE);
    free(plain);
    free(shuffled);
    free(order);
    sinew_release(&world->allocator, q);
    sinew_world_destroy(world);
}

/* x = (A + shift)^-1 b by LAPACK */
static void dense_solve(const double *A, int n, double shift, const double *b, double *x)
{
    double *copy = make_array((size_t)n * (size_t)n, sizeof *copy);
    int one = 1, info;
    memcpy(copy, A, (size_t)n * (size_t)n * sizeof *copy);
    memcpy(x, b, (size_t)n * sizeof *x);
    for (int i = 0; i < n; i++)
        copy[i * n + i] += shift;
    dposv_("L", &n, &one, copy, &n, x, &n, &info);
    assert_int_equal(info, 0);
    free(copy);
}

static void test_cholesky(void **state)
{
    (void)state;
    sinew_world *world = everything(false);
    sinew_real *q = inside_positions(world);
    sinew_error error = {0};
    sinew_assembly *as = sinew_assembly_create(&world->objective, world->objective.task_count, NULL, &error);
    sinew_cholesky *cholesky =
        sinew_cholesky_create(&world->allocator, sinew_simd()->dense, as->free_count, as->column, as->row, &error);
    must(&error);
    double *H = assembled_matrix(world, q, true, NULL);
    int n;
    double *A = free_part(world, H, &n), *b = make_array((size_t)n, sizeof *b);
    double *x = make_array((size_t)n, sizeof *x), *y = make_array((size_t)n, sizeof *y);
    uint32_t seed = 5;
    for (int i = 0; i < n; i++)
        b[i] = next_random(&seed);
    for (int k = 0; k < 3; k++) {
        const double shift = k == 1 ? 1e4 : 0;
        sinew_assembly_fill(as, &world->objective, q, true, sinew_cholesky_values(cholesky));
        assert_int_equal(sinew_cholesky_factorise(cholesky, shift, &error), SINEW_OK);
        sinew_cholesky_solve(cholesky, b, y);
        dense_solve(A, n, shift, b, x);
        printf("sparse Cholesky against LAPACK dposv, %d unknowns, shift %g: relative difference %.1e\n", n, shift,
               distance(y, x, (size_t)n));
        assert_true(distance(y, x, (size_t)n) < SOLVE_ERROR);
        /* Between the solves, an indefinite matrix must be refused and not affect the next factorisation. */
        assert_int_equal(sinew_cholesky_factorise(cholesky, -1e9, &error), SINEW_ERROR_NUMERIC);
        assert_non_null(strstr(error.text, "not positive definite"));
    }
    double *arrays[] = {H, A, b, x, y};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free(arrays[k]);
    sinew_cholesky_destroy(cholesky);
    sinew_assembly_destroy(&world->objective, as);
    sinew_release(&world->allocator, q);
    sinew_world_destroy(world);
}

static void apply(void *context, const sinew_real *x, sinew_real *Ax)
{
    sinew_objective_product(context, x, Ax);
}

static void divide(void *context, const sinew_real *r, sinew_real *z)
{
    sinew_block_inverse_apply(context, r, z);
}

static void test_conjugate_gradients(void **state)
{
    (void)state;
    sinew_world *world = everything(false);
    sinew_objective *o = &world->objective;
    sinew_real *q = inside_positions(world);
    sinew_error error = {0};
    sinew_pcg pcg;
    sinew_block_inverse blocks;
    assert_int_equal(sinew_pcg_create(&world->allocator, &pcg, o->particle_count, 1, &error), SINEW_OK);
    assert_int_equal(sinew_block_inverse_create(&world->allocator, &blocks, o->particle_count, 1, &error), SINEW_OK);
    double *H = product_matrix(world, q, true), *diagonal = make_array(9 * (size_t)o->particle_count, sizeof *diagonal);
    int n;
    double *A = free_part(world, H, &n), *b = make_array((size_t)n, sizeof *b), *x = make_array((size_t)n, sizeof *x);
    double *y = make_array((size_t)n, sizeof *y);
    sinew_real *right = sinew_allocate_zero(&world->allocator, 4 * (size_t)o->particle_count, sizeof *right);
    sinew_real *left = sinew_allocate_zero(&world->allocator, 4 * (size_t)o->particle_count, sizeof *left);
    uint32_t seed = 5;
    for (int32_t i = 0, k = 0; i < o->particle_count; i++)
        for (size_t c = 0; !o->step.pinned[i] && c < 3; c++)
            b[k++] = (double)(right[4 * (size_t)i + c] = (sinew_real)next_random(&seed));
    sinew_objective_diagonal(o, q, true, diagonal);
    sinew_block_inverse_set(&blocks, diagonal);
    sinew_objective_linearise(o, q, true);
    sinew_pcg_result result = sinew_pcg_solve(&pcg, (sinew_linear_map){apply, o}, (sinew_linear_map){divide, &blocks},
                                              right, left, sizeof(sinew_real) == 4 ? 1e-6 : 1e-12, 500);
    for (int32_t i = 0, k = 0; i < o->particle_count; i++)
        for (size_t c = 0; !o->step.pinned[i] && c < 3; c++)
            y[k++] = (double)left[4 * (size_t)i + c];
    dense_solve(A, n, 0, b, x);
    printf("conjugate gradients against LAPACK: %d iterations, relative difference %.1e\n", result.iterations,
           distance(y, x, (size_t)n));
    assert_false(result.indefinite);
    assert_true(distance(y, x, (size_t)n) < (sizeof(sinew_real) == 4 ? 1e-5 : 1e-10));
    double *arrays[] = {H, diagonal, A, b, x, y};
    for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++)
        free(arrays[k]);
    sinew_release(&world->allocator, right);
    sinew_release(&world->allocator, left);
    sinew_pcg_destroy(&world->allocator, &pcg);
    sinew_block_inverse_destroy(&world->allocator, &blocks);
    sinew_release(&world->allocator, q);
    sinew_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_hessian),
        cmocka_unit_test(test_projection_is_semidefinite),
        cmocka_unit_test(test_row_order),
        cmocka_unit_test(test_cholesky),
        cmocka_unit_test(test_conjugate_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
