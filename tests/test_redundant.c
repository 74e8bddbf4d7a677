/* SPDX-License-Identifier: MIT
 *
 * test_redundant.c: dependent hard constraints: braced frames, cliques in the plane and in space, rods along a line,
 * and linear constraints that are random combinations of others (plank_energy.h). The reference is the rank of the
 * dense Jacobian, by Gram-Schmidt with pivoting: the number of named constraints is the excess over the rank, the
 * others are independent, and the step satisfies the KKT conditions. Contradictory constraints are named as a minimal
 * set. The same constraints with compliance are solved as usual.
 */
#include "make_world.h"

#include "plank_energy.h"
#include "random_cases.h"
#include "small_world.h"

enum {
    VERTICES_MAX = 12,
    ROWS_MAX = 44,
    COLUMNS = 3 * VERTICES_MAX,
    ENDS = 2
};

#ifdef SINEW_SINGLE
#define RANK  1e-6 /* independent component of a constraint that counts as zero */
#define NEAR  1e-2 /* a constraint with a smaller independent component may be named; one with a larger must not be */
#define MET   2e-3
#define SAME  2e-4
#define WRONG 1e-3 /* fraction of a rod's length */
#define ROUGH 4    /* factor on the bounds of double precision */
#else
#define RANK  1e-9
#define NEAR  3e-5
#define MET   1e-8
#define SAME  1e-8
#define WRONG 1e-5
#define ROUGH 1
#endif

/* ---- Dense algebra ------------------------------------------------------------------------------- */

typedef struct dense {
    int rows;
    double J[ROWS_MAX][COLUMNS + 1]; /* the last column is the optional right-hand side */
} dense;

static double part_along(const double *a, const double *b, int columns)
{
    double sum = 0;
    for (int i = 0; i < columns; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Rank of the normalised constraint gradients that `kept` names (NULL: all); remainders shorter than `none` count as
 * zero. */
static int rank_above(double none, const dense *d, const uint8_t *kept, int columns)
{
    static double left[ROWS_MAX][COLUMNS + 1];
    int count = 0, rank = 0;
    for (int i = 0; i < d->rows; i++) {
        if (kept && !kept[i])
            continue;
        const double length = sqrt(part_along(d->J[i], d->J[i], columns));
        for (int c = 0; c < columns; c++)
            left[count][c] = length > 0 ? d->J[i][c] / length : 0;
        count++;
    }
    for (bool used[ROWS_MAX] = {false}; rank < count; rank++) {
        int best = -1;
        double max = none;
        for (int i = 0; i < count; i++) {
            const double length = used[i] ? 0 : sqrt(part_along(left[i], left[i], columns));
            best = length > max ? i : best;
            max = fmax(max, length);
        }
        if (best < 0)
            break;
        used[best] = true;
        for (int i = 0; i < count; i++)
            for (int again = 0; !used[i] && again < 2; again++) {
                const double part = part_along(left[i], left[best], columns) / (max * max);
                for (int c = 0; c < columns; c++)
                    left[i][c] -= part * left[best][c];
            }
    }
    return rank;
}

static int rank_of(const dense *d, const uint8_t *kept, int columns)
{
    return rank_above(RANK, d, kept, columns);
}

/* ---- Messages ------------------------------------------------------------------------------------ */

/* Marks the elements that the text names and returns their number. Every number follows the word "element". */
static int read_names(const char *text, uint8_t *marks)
{
    int count = 0;
    const char *at = strstr(text, "element");
    memset(marks, 0, ROWS_MAX);
    if (strstr(text, " more"))
        fail_msg("names are left out: %s", text);
    for (at = at ? at + 7 : ""; *at;) {
        char *end;
        const long number = strtol(at, &end, 10);
        if (end == at) {
            at++;
            continue;
        }
        assert_true(number >= 0 && number < ROWS_MAX && !marks[number]);
        marks[number] = 1;
        count++;
        at = end;
    }
    return count;
}

/* ---- Frames of rods ------------------------------------------------------------------------------ */

typedef struct frame {
    int32_t vertices, rods;
    int32_t ends[ENDS * ROWS_MAX];
    double q[COLUMNS], v[COLUMNS], mass[VERTICES_MAX];
    int32_t pin; /* -1: none */
} frame;

static void add_rod(frame *f, int32_t a, int32_t b)
{
    if (f->rods == ROWS_MAX || a == b)
        return;
    f->ends[ENDS * f->rods] = a;
    f->ends[ENDS * f->rods++ + 1] = b;
}

static void random_unit(random_cases *r, double e[3])
{
    double length = 0;
    while (length < 0.1) {
        for (int c = 0; c < 3; c++)
            e[c] = random_between(r, -1, 1);
        length = sqrt(part_along(e, e, 3));
    }
    for (int c = 0; c < 3; c++)
        e[c] /= length;
}

/* Random positions and velocities in the span of `dimensions` axes, so that rods stay there and dependent rods stay
 * dependent. */
static void place_frame(random_cases *r, frame *f, int dimensions)
{
    double axes[3][3];
    random_unit(r, axes[0]);
    for (int k = 1; k < 3; k++) {
        random_unit(r, axes[k]);
        for (int again = 0; again < 2; again++)
            for (int j = 0; j < k; j++) {
                const double part = part_along(axes[k], axes[j], 3);
                for (int c = 0; c < 3; c++)
                    axes[k][c] -= part * axes[j][c];
            }
        const double length = sqrt(part_along(axes[k], axes[k], 3));
        for (int c = 0; c < 3; c++)
            axes[k][c] /= length;
    }
    for (int32_t i = 0; i < f->vertices; i++) {
        f->mass[i] = random_magnitude(r, 0.1, 10);
        for (int k = 0; k < dimensions; k++) {
            /* Distinct positions, also along one axis. */
            const double at = k == 0 ? i + random_between(r, -0.3, 0.3) : random_between(r, -2, 2);
            const double v = random_between(r, -1, 1);
            for (int c = 0; c < 3; c++) {
                f->q[3 * i + c] += at * axes[k][c];
                f->v[3 * i + c] += v * axes[k][c];
            }
        }
    }
    for (int c = 0; f->pin >= 0 && c < 3; c++)
        f->v[3 * f->pin + c] = 0;
}

/* Rods between all vertices: 2 n - 3 suffice in the plane, 3 n - 6 in space, n - 1 along a line. */
static frame draw_clique(random_cases *r, int dimensions)
{
    frame f = {.vertices = 4 + random_index(r, 3) + (dimensions == 3), .pin = random_index(r, 3) - 1};
    for (int32_t a = 0; a < f.vertices; a++)
        for (int32_t b = 0; b < a; b++)
            add_rod(&f, a, b);
    place_frame(r, &f, dimensions);
    return f;
}

/* A closed ring with random braces, some of them duplicated: dependent or not. */
static frame draw_braced(random_cases *r, int dimensions)
{
    frame f = {.vertices = 6 + random_index(r, 6), .pin = random_index(r, 3) - 1};
    for (int32_t a = 0; a < f.vertices; a++)
        add_rod(&f, a, (a + 1) % f.vertices);
    for (int k = random_index(r, 26); k > 0; k--)
        add_rod(&f, random_index(r, f.vertices), random_index(r, f.vertices));
    place_frame(r, &f, dimensions);
    return f;
}

static void fill_dense(const frame *f, const double *q, dense *d)
{
    *d = (dense){.rows = f->rods};
    for (int32_t k = 0; k < f->rods; k++) {
        double n[3];
        for (int c = 0; c < 3; c++)
            n[c] = q[3 * f->ends[ENDS * k + 1] + c] - q[3 * f->ends[ENDS * k] + c];
        const double l = sqrt(part_along(n, n, 3));
        for (int e = 0; e < ENDS; e++)
            for (int c = 0; c < 3; c++)
                if (f->ends[ENDS * k + e] != f->pin)
                    d->J[k][3 * f->ends[ENDS * k + e] + c] += (e ? 1 : -1) * n[c] / l;
    }
}

/* A mesh of vertices and a chain of edges. */
static sinew_mesh *frame_mesh(const double *q, int32_t vertices)
{
    sinew_mesh_def shape = sinew_default_mesh_def();
    sinew_error error = {0};
    sinew_real positions[COLUMNS];
    int32_t edges[2 * VERTICES_MAX];
    for (int32_t i = 0; i < 3 * vertices; i++)
        positions[i] = (sinew_real)q[i];
    for (int32_t i = 0; i < 2 * (vertices - 1); i++)
        edges[i] = (i + 1) / 2;
    shape.positions = positions;
    shape.vertex_count = vertices;
    shape.edges = edges;
    shape.edge_count = vertices - 1;
    sinew_mesh *mesh = sinew_mesh_create(&shape, &error);
    must(&error);
    return mesh;
}

/* A world of free particles with these positions, velocities and masses, without gravity, h = 10 ms. */
static sinew_world *particle_world(const sinew_solver_def *solver, const double *q, const double *v, const double *mass,
                                   int32_t vertices, sinew_body *body)
{
    sinew_world_def def = sinew_default_world_def();
    sinew_body_def particles = sinew_default_body_def();
    sinew_real velocities[COLUMNS], masses[VERTICES_MAX];
    for (int32_t i = 0; i < 3 * vertices; i++)
        velocities[i] = (sinew_real)v[i];
    for (int32_t i = 0; i < vertices; i++)
        masses[i] = (sinew_real)mass[i];
    sinew_mesh *mesh = frame_mesh(q, vertices);
    def.solver = *solver;
    def.time_step = (sinew_real)0.01;
    def.thread_count = 1;
    for (int c = 0; c < 3; c++)
        def.gravity[c] = 0;
    sinew_world *world = make_world(&def);
    particles.mesh = mesh;
    particles.velocities = velocities;
    particles.masses = masses;
    *body = add_body(world, &particles);
    sinew_mesh_destroy(mesh);
    return world;
}

static sinew_world *frame_world(const frame *f, const sinew_solver_def *solver, bool hard, sinew_energy *energy)
{
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_world *world = particle_world(solver, f->q, f->v, f->mass, f->vertices, &rods.body);
    rods.elements = f->ends;
    rods.element_count = f->rods;
    rods.hard = hard;
    rods.parameters[0] = 1e5;
    *energy = add_energy(world, &rods);
    if (f->pin >= 0)
        add_pins(world, rods.body, &f->pin, 1, NULL);
    return world;
}

/* Checks grad g = J^T lambda at the end of the step, and the lengths of the rods. */
static void check_conditions(const frame *f, const sinew_world *world, sinew_energy energy)
{
    sinew_real lambda[ROWS_MAX], *at = positions_of(world);
    double q[COLUMNS], rest[COLUMNS] = {0}, scale = 0, left = 0, pulls = 0;
    int32_t count;
    dense d;
    assert_int_equal(sinew_energy_multipliers(world, energy, ROWS_MAX, lambda, &count, NULL), SINEW_OK);
    for (int i = 0; i < 3 * f->vertices; i++)
        q[i] = (double)at[i];
    fill_dense(f, q, &d);
    for (int i = 0; i < 3 * f->vertices; i++) {
        if (i / 3 == f->pin)
            continue;
        rest[i] = f->mass[i / 3] / 1e-4 * (q[i] - f->q[i] - 0.01 * f->v[i]);
        scale = fmax(scale, fmax(fabs(rest[i]), f->mass[i / 3] / 1e-4 * 0.01 * fabs(f->v[i])));
        for (int k = 0; k < f->rods; k++)
            rest[i] -= d.J[k][i] * (double)lambda[k];
        left = fmax(left, fabs(rest[i]));
    }
    /* Nearly dependent rods have large multipliers of opposite sign; only the sum of their forces is well determined.
     */
    for (int k = 0; k < f->rods; k++)
        pulls += 2 * (double)lambda[k] * (double)lambda[k];
    scale += sqrt(pulls);
    if (!(left <= MET * scale))
        fail_msg("grad g - J^T lambda is %g of %g N", left, scale);
    free(at);
}

static const sinew_solver_kind systems[] = {SINEW_SOLVER_SAP, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_KKT,
                                            SINEW_SOLVER_SCD};

/* Counts over all frames. */
typedef struct tally {
    int frames, redundant;
    int missed; /* redundant rods that were not named */
    int beyond; /* named rods with an independent component above NEAR */
    int near;   /* frames with a rod whose independent component is between RANK and NEAR: it may be named or not */
    int astray; /* steps that ended elsewhere and report it: unsolved, or with a vertex flipped over; also idle steps */
} tally;

/* The number of named rods is the excess over the rank, and the others have full rank. */
static void check_frame(const frame *f, sinew_solver_kind kind, tally *seen)
{
    sinew_solver_def def = sinew_default_solver_def(kind);
    sinew_energy energy;
    sinew_step_result result;
    uint8_t named[ROWS_MAX], kept[ROWS_MAX];
    dense d;
    def.tolerance = (sinew_real)(0.1 * MET);
    fill_dense(f, f->q, &d);
    const int rank = rank_of(&d, NULL, COLUMNS);
    sinew_world *world = frame_world(f, &def, true, &energy);
    const uint32_t bits = sinew_world_step(world, &result);
    const int count = read_names(result.constraints, named);
    const bool exact = kind == SINEW_SOLVER_PRIMAL_DUAL;
    assert_false(bits & SINEW_STEP_UNPREPARED);
    for (int k = 0; k < f->rods; k++)
        kept[k] = !named[k];
    seen->frames++;
    /* A step that starts within the tolerance assembles no system to find dependencies with. */
    const bool idle = result.linear_iterations == 0;
    if (idle || bits & SINEW_STEP_CONTRADICTORY || (exact && bits & SINEW_STEP_NOT_CONVERGED)) {
        assert_true(!idle || count == 0);
        seen->astray++;
        sinew_world_destroy(world);
        return;
    }
    const int clear = rank_above(NEAR, &d, NULL, COLUMNS);
    const int missed = f->rods - rank - count, beyond = count - (f->rods - clear);
    seen->missed += missed > 0 ? missed : 0;
    seen->beyond += beyond > 0 ? beyond : 0;
    seen->near += clear < rank;
    seen->redundant += count;
    if (beyond >= ROUGH || rank_of(&d, kept, COLUMNS) < clear - (ROUGH - 1))
        fail_msg("%s: %d rods of %d vertices have rank %d, \"%s\"", sinew_get_solver_info(kind)->name, f->rods,
                 f->vertices, rank, result.constraints);
    /* Rods under compression may make the matrix indefinite; only the end of the step counts. */
    if (exact && bits & ~(uint32_t)SINEW_STEP_INDEFINITE)
        fail_msg("bits %x: violation %g, stationarity %g", bits, result.violation, result.stationarity);
    if (exact)
        check_conditions(f, world, energy);
    sinew_world_destroy(world);
}

static void redundant_rods_are_counted(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("frames", 6, 300);
    tally seen = {0};
    for (int c = 0; c < r.count; c++)
        for (int dimensions = 1; dimensions <= 3; dimensions++)
            for (int braced = 0; braced < 2; braced++) {
                const frame f = braced ? draw_braced(&r, dimensions) : draw_clique(&r, dimensions);
                check_frame(&f, systems[random_index(&r, 4)], &seen);
            }
    print_message("%d redundant rods in %d frames, %d missed, %d beyond, %d nearly; %d went astray\n", seen.redundant,
                  seen.frames, seen.missed, seen.beyond, seen.near, seen.astray);
    assert_true(seen.redundant > seen.frames);
    /* None is missed in double precision. */
    assert_true(seen.missed <= (ROUGH - 1) * (2 + seen.redundant / 1000));
    assert_true(seen.beyond <= (ROUGH - 1) * (1 + seen.redundant / 1000) && 10 * seen.near <= seen.frames &&
                seen.astray <= ROUGH * (1 + seen.frames / 50));
}

/* Compliant springs instead of rods: nothing is redundant, and the end is Newton's. */
static void compliant_rods_are_solved(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("compliant", 3, 100);
    double max = 0;
    for (int c = 0; c < r.count; c++)
        for (int dimensions = 1; dimensions <= 3; dimensions++) {
            const frame f = draw_clique(&r, dimensions);
            sinew_real *at[2];
            for (int newton = 0; newton < 2; newton++) {
                sinew_solver_def def =
                    sinew_default_solver_def(newton ? SINEW_SOLVER_NEWTON : SINEW_SOLVER_PRIMAL_DUAL);
                sinew_error error = {0};
                sinew_energy energy;
                sinew_step_result result;
                if (!newton)
                    sinew_solver_def_set_keyword(&def, "constraints", "all", &error);
                must(&error);
                def.tolerance = (sinew_real)(sizeof(sinew_real) == 4 ? 1e-5 : 1e-12);
                def.iterations = 100;
                sinew_world *world = frame_world(&f, &def, false, &energy);
                const uint32_t bits = sinew_world_step(world, &result);
                assert_false(bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_CONVERGED | SINEW_STEP_CONSTRAINTS));
                assert_true(result.constraints[0] == '\0');
                at[newton] = positions_of(world);
                sinew_world_destroy(world);
            }
            for (int i = 0; i < 3 * f.vertices; i++)
                max = fmax(max, fabs((double)at[0][i] - (double)at[1][i]));
            free(at[0]);
            free(at[1]);
        }
    print_message("springs as rows and by newton: at most %.1e m apart\n", max);
    assert_true(max <= SAME);
}

/* ---- Random combinations ------------------------------------------------------------------------- */

static sinew_energy_kind planks[2];

static int register_planks(void **unused)
{
    (void)unused;
    static const sinew_foreign_energy foreign[2] = {{&plank_wide[0], &plank_scalar[0]},
                                                    {&plank_wide[1], &plank_scalar[1]}};
    sinew_error error = {0};
    for (int i = 0; i < 2; i++) {
        planks[i] = sinew_energy_register(&foreign[i], &error);
        must(&error);
    }
    return 0;
}

/* Constraints on four particles: `own` independent ones, then combinations of some of them. */
typedef struct row_list {
    dense d;                      /* J and, in column 12, b: C = J x - b */
    double q[12], v[12], mass[4]; /* q satisfies the independent constraints */
    uint8_t parts[ROWS_MAX][12];  /* independent constraints in each combination */
    int own;
} row_list;

static row_list draw_rows(random_cases *r, int own, int combinations)
{
    row_list l = {.own = own};
    l.d.rows = own + combinations;
    for (int i = 0; i < 12; i++) {
        l.q[i] = random_between(r, -1, 1);
        l.v[i] = random_between(r, -20, 20); /* so that all constraints must be solved again */
        l.mass[i / 3] = random_magnitude(r, 0.1, 10);
    }
    for (int k = 0; k < own; k++) {
        const double size = random_magnitude(r, 0.1, 10);
        for (int c = 0; c < 12; c++)
            l.d.J[k][c] = size * random_between(r, -1, 1);
        l.d.J[k][12] = part_along(l.d.J[k], l.q, 12);
    }
    for (int k = own; k < l.d.rows; k++)
        for (int i = 0, count = 0; i < own || count < 1; i++) {
            const int from = i % own;
            if (l.parts[k][from] || random_index(r, 2) == 0)
                continue;
            const double part = (random_index(r, 2) ? 1 : -1) * random_between(r, 0.3, 3);
            l.parts[k][from] = 1;
            count++;
            for (int c = 0; c < 13; c++)
                l.d.J[k][c] += part * l.d.J[from][c];
        }
    return l;
}

static sinew_world *rows_world(const row_list *l, const sinew_solver_def *solver, sinew_energy *energy)
{
    sinew_energy_def def = sinew_default_energy_def(planks[0]);
    int32_t elements[4 * ROWS_MAX];
    sinew_real numbers[PLANK_COUNT][ROWS_MAX];
    sinew_world *world = particle_world(solver, l->q, l->v, l->mass, 4, &def.body);
    for (int k = 0; k < l->d.rows; k++) {
        for (int a = 0; a < 4; a++)
            elements[4 * k + a] = a;
        numbers[PLANK_STIFFNESS][k] = 1;
        for (int c = 0; c < 13; c++)
            numbers[PLANK_SLOPES + c][k] = (sinew_real)l->d.J[k][c];
    }
    for (int p = 0; p < PLANK_COUNT; p++)
        def.element_parameters[p] = numbers[p];
    def.elements = elements;
    def.element_count = l->d.rows;
    def.hard = true;
    *energy = add_energy(world, &def);
    return world;
}

/* The exact step of linear constraints: projection of q_tilde in the metric of the masses, with the pivoting of
 * rank_of. */
static double distance_from_exact(const row_list *l, const sinew_world *world)
{
    double basis[12][13], x[12], far = 0;
    int count = 0;
    for (int i = 0; i < 12; i++)
        x[i] = l->q[i] + 0.01 * l->v[i];
    /* Orthonormal rows of J M^-1/2, with their right-hand sides for y = M^1/2 x. */
    for (int k = 0; k < l->own; k++) {
        double row[13];
        for (int c = 0; c < 12; c++)
            row[c] = l->d.J[k][c] / sqrt(l->mass[c / 3]);
        row[12] = l->d.J[k][12];
        for (int again = 0; again < 2; again++)
            for (int j = 0; j < count; j++) {
                const double part = part_along(row, basis[j], 12);
                for (int c = 0; c < 13; c++)
                    row[c] -= part * basis[j][c];
            }
        const double length = sqrt(part_along(row, row, 12));
        for (int c = 0; c < 13; c++)
            basis[count][c] = row[c] / length;
        count++;
    }
    for (int j = 0; j < count; j++) {
        double open = -basis[j][12];
        for (int c = 0; c < 12; c++)
            open += basis[j][c] * sqrt(l->mass[c / 3]) * x[c];
        for (int c = 0; c < 12; c++)
            x[c] -= open * basis[j][c] / sqrt(l->mass[c / 3]);
    }
    sinew_real *at = positions_of(world);
    for (int i = 0; i < 12; i++)
        far = fmax(far, fabs((double)at[i] - x[i]));
    free(at);
    return far;
}

static void random_combinations_are_counted(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("combinations", 20, 1000);
    double max = 0;
    for (int c = 0; c < r.count; c++) {
        const sinew_solver_kind kind = systems[random_index(&r, 2)];
        const row_list l = draw_rows(&r, 1 + random_index(&r, 9), 1 + random_index(&r, 6));
        sinew_solver_def def = sinew_default_solver_def(kind);
        sinew_energy energy;
        sinew_step_result result;
        uint8_t named[ROWS_MAX], kept[ROWS_MAX];
        sinew_world *world = rows_world(&l, &def, &energy);
        const uint32_t bits = sinew_world_step(world, &result);
        const int count = read_names(result.constraints, named), rank = rank_of(&l.d, NULL, 12);
        for (int k = 0; k < l.d.rows; k++)
            kept[k] = !named[k];
        /* A step that starts within the tolerance assembles no system to find dependencies with. */
        const int expected = result.linear_iterations == 0 ? 0 : l.d.rows - rank;
        if (rank != l.own || count != expected || rank_of(&l.d, kept, 12) != rank || bits != 0)
            fail_msg("case %d, %s: bits %x, %d rows of rank %d, \"%s\"", c, sinew_get_solver_info(kind)->name, bits,
                     l.d.rows, rank, result.constraints);
        max = fmax(max, distance_from_exact(&l, world));
        sinew_world_destroy(world);
    }
    print_message("steps are at most %.1e m from the dense ones\n", max);
    assert_true(max <= SAME);
}

/* ---- Contradictions ------------------------------------------------------------------------------ */

/* The set is dependent, up to negligible coefficients, and without any one of its constraints the others are not. */
static void check_minimal(const dense *d, const uint8_t *marks, int count, int columns)
{
    uint8_t some[ROWS_MAX];
    assert_true(rank_above(NEAR, d, marks, columns) < count);
    for (int k = 0; k < d->rows; k++) {
        memcpy(some, marks, sizeof some);
        some[k] = 0;
        if (marks[k])
            assert_int_equal(rank_of(d, some, columns), count - 1);
    }
}

/* One combination has a contradictory right-hand side: it and its parts are named, and no other constraint. In single
 * precision, once in some 30 000 cases, a small part is taken for round-off, or round-off for a part. */
static void contradictions_are_minimal(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("contradictions", 20, 1000);
    int misnamed = 0;
    for (int c = 0; c < r.count; c++) {
        const sinew_solver_kind kind = systems[random_index(&r, 2)];
        row_list l = draw_rows(&r, 1 + random_index(&r, 9), 1);
        sinew_solver_def def = sinew_default_solver_def(kind);
        sinew_energy energy;
        sinew_step_result result;
        uint8_t named[ROWS_MAX];
        l.d.J[l.own][12] += random_between(&r, 0.1, 1) * sqrt(part_along(l.d.J[l.own], l.d.J[l.own], 12));
        sinew_world *world = rows_world(&l, &def, &energy);
        const uint64_t before = sinew_world_state_hash(world);
        const uint32_t bits = sinew_world_step(world, &result);
        const int count = read_names(result.constraints, named);
        bool right = bits & SINEW_STEP_CONTRADICTORY && named[l.own];
        for (int k = 0; k < l.own; k++)
            right = right && named[k] == l.parts[l.own][k];
        misnamed += !right;
        if (!right && (sizeof(sinew_real) == 8 || !(bits & SINEW_STEP_CONTRADICTORY) || misnamed > 1))
            fail_msg("case %d, %s: bits %x, \"%s\"", c, sinew_get_solver_info(kind)->name, bits, result.constraints);
        if (right)
            check_minimal(&l.d, named, count, 12);
        assert_true(sinew_world_state_hash(world) == before);
        sinew_world_destroy(world);
    }
}

/* Scales the rest length of a rod by `factor`, keeping its first end. */
static void set_length(const frame *f, sinew_world *world, sinew_energy energy, int rod, double factor)
{
    sinew_real ends[6];
    sinew_error error = {0};
    for (int i = 0; i < 3; i++) {
        const double from = f->q[3 * f->ends[ENDS * rod] + i], to = f->q[3 * f->ends[ENDS * rod + 1] + i];
        ends[i] = (sinew_real)from;
        ends[3 + i] = (sinew_real)(from + factor * (to - from));
    }
    sinew_energy_set_rest(world, energy, rod, 1, ends, &error);
    must(&error);
}

/* |J_i| l of a rod, which scales its violation (docs/guides/constraints.md). */
static double rod_scale(const frame *f)
{
    double squares = 0;
    for (int c = 0; c < 3; c++) {
        double low = f->q[c], high = f->q[c];
        for (int32_t i = 1; i < f->vertices; i++) {
            low = fmin(low, f->q[3 * i + c]);
            high = fmax(high, f->q[3 * i + c]);
        }
        squares += (high - low) * (high - low);
    }
    return sqrt(2 * squares);
}

/* A clique with one rod too long or too short: the rods that contradict it are named. If the other rods are too flat to
 * be satisfied within the step, the step reports this and names none. */
static void wrong_rods_are_found(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("wrong rods", 12, 300);
    int sizes = 0, found = 0;
    for (int c = 0; c < r.count; c++) {
        const sinew_solver_kind kind = systems[random_index(&r, 2)];
        frame f = draw_clique(&r, 3);
        sinew_solver_def def = sinew_default_solver_def(kind);
        sinew_energy energy;
        sinew_step_result result;
        uint8_t named[ROWS_MAX];
        dense d;
        memset(f.v, 0, sizeof f.v);
        sinew_world *world = frame_world(&f, &def, true, &energy);
        const int wrong = random_index(&r, f.rods);
        const double factor = 1 + (random_index(&r, 2) ? 1 : -1) * random_magnitude(&r, WRONG, 20 * WRONG);
        set_length(&f, world, energy, wrong, factor);
        const uint64_t before = sinew_world_state_hash(world);
        const uint32_t bits = sinew_world_step(world, &result);
        /* A flat clique may have another solution for all of its rods. */
        if (!(bits & (SINEW_STEP_CONTRADICTORY | SINEW_STEP_CONSTRAINTS)) && !(result.violation <= MET * rod_scale(&f)))
            fail_msg("case %d, %s: rod %d is %g of its length: bits %x, \"%s\"", c, sinew_get_solver_info(kind)->name,
                     wrong, factor, bits, result.constraints);
        if (bits & SINEW_STEP_CONTRADICTORY) {
            const int count = read_names(result.constraints, named);
            assert_true(sizeof(sinew_real) == 4 || named[wrong]);
            fill_dense(&f, f.q, &d);
            /* In single precision components below a thousandth cannot be distinguished from zero. */
            if (sizeof(sinew_real) == 8)
                check_minimal(&d, named, count, COLUMNS);
            sizes += count;
            found++;
            assert_true(sinew_world_state_hash(world) == before);
        }
        sinew_world_destroy(world);
    }
    print_message("%d of %d found, sets of %.1f rods on average\n", found, r.count, (double)sizes / found);
    assert_true((sizeof(sinew_real) == 4 ? 3 : 4) * found >= (sizeof(sinew_real) == 4 ? 1 : 3) * r.count);
}

/* ---- Refusals -------------------------------------------------------------------------------------- */

static sinew_world *triangle_world(sinew_solver_kind kind, sinew_body *body)
{
    const double q[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, v[9] = {0}, mass[3] = {1, 1, 1};
    const sinew_solver_def def = sinew_default_solver_def(kind);
    return particle_world(&def, q, v, mass, 3, body);
}

static void assert_refused(sinew_energy energy, const sinew_error *error, const char *text)
{
    if (energy.index >= 0 || error->status != SINEW_ERROR_DATA || !strstr(error->text, text))
        fail_msg("index %d, \"%s\", wanted \"%s\"", energy.index, error->text, text);
}

static const int32_t three_rods[6] = {0, 1, 1, 2, 2, 0};

/* Constraints between pinned particles are refused if the energy is added last or the pins are added last; after the
 * first step they are not refused, and the step names the constraint. */
static void fixed_rows_are_refused(void **unused)
{
    (void)unused;
    static const int32_t pinned[2] = {1, 2};
    sinew_error error = {0};
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_pin_def pins = sinew_default_pin_def();
    sinew_world *world = triangle_world(SINEW_SOLVER_SAP, &rods.body);
    rods.elements = three_rods;
    rods.element_count = 3;
    rods.hard = true;
    add_pins(world, rods.body, pinned, 2, NULL);
    assert_refused(sinew_world_add_energy(world, &rods, &error), &error, "energy 0 (spring), element 1");
    sinew_world_destroy(world);
    world = triangle_world(SINEW_SOLVER_PRIMAL_DUAL, &rods.body);
    add_energy(world, &rods);
    pins.body = rods.body;
    pins.vertices = pinned;
    pins.vertex_count = 2;
    assert_true(sinew_world_add_pins(world, &pins, &error).index < 0);
    assert_non_null(strstr(error.text, "energy 0 (spring), element 1"));
    /* The refused pins leave no trace. */
    add_pins(world, rods.body, pinned, 1, NULL);
    assert_true(sinew_world_step(world, NULL) == 0);
    sinew_step_result result;
    /* A velocity makes the step violate the constraints, so that there is something to solve. */
    const sinew_real v[3] = {(sinew_real)0.1, 0, 0};
    add_pins(world, rods.body, pinned + 1, 1, NULL);
    sinew_world_set_velocities(world, 0, 1, v);
    assert_true(sinew_world_step(world, &result) == 0);
    assert_string_equal(result.constraints, "redundant: energy 0 (spring), element 1");
    sinew_world_destroy(world);
    /* Constraint sweeps ignore a constraint between pins. */
    world = triangle_world(SINEW_SOLVER_PBD, &rods.body);
    add_pins(world, rods.body, pinned, 2, NULL);
    add_energy(world, &rods);
    sinew_world_destroy(world);
}

static void zero_lengths_are_refused(void **unused)
{
    (void)unused;
    const double q[9] = {0, 0, 0, 1, 0, 0, 1, 0, 0}, v[9] = {0}, mass[3] = {1, 1, 1};
    sinew_error error = {0};
    sinew_solver_def def = sinew_default_solver_def(SINEW_SOLVER_SCD);
    sinew_energy_def rods = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    sinew_world *world = particle_world(&def, q, v, mass, 3, &rods.body);
    rods.elements = three_rods;
    rods.element_count = 3;
    rods.hard = true;
    assert_refused(sinew_world_add_energy(world, &rods, &error), &error, "spring, element 1: it is kept hard");
    /* A soft rod of length zero is an ordinary spring; a length that becomes zero later is refused by the step. */
    rods.hard = false;
    add_energy(world, &rods);
    sinew_world_destroy(world);
    world = triangle_world(SINEW_SOLVER_SCD, &rods.body);
    rods.hard = true;
    const sinew_energy energy = add_energy(world, &rods);
    const sinew_real none[6] = {0};
    sinew_energy_set_rest(world, energy, 2, 1, none, &error);
    must(&error);
    assert_true(sinew_world_step(world, NULL) == SINEW_STEP_UNPREPARED);
    assert_non_null(strstr(sinew_world_error(world), "spring, element 2: it is kept hard"));
    sinew_world_destroy(world);
}

/* Whether primal-dual accepts the mean curvature of a sheet as hard. The sheet is randomly rotated and translated,
 * rolled with `curvature` (1/m), and may bend by `slack` more. */
static bool takes_curvature(random_cases *r, double curvature, double slack)
{
    sinew_error error = {0};
    sinew_cloth_def cloth = sinew_default_cloth_def();
    cloth.vertices[0] = 3 + random_index(r, 6);
    cloth.vertices[1] = 3 + random_index(r, 6);
    sinew_mesh *flat = sinew_mesh_cloth(&cloth, &error);
    const int32_t count = sinew_mesh_vertex_count(flat);
    sinew_real *x = make_array(3 * (size_t)count, sizeof *x);
    const double angle = random_between(r, 0, 6), s = sin(angle), c = cos(angle), aside = random_between(r, -2, 2);
    memcpy(x, sinew_mesh_positions(flat), 3 * (size_t)count * sizeof *x);
    for (int32_t i = 0; i < count; i++) {
        const double along = (double)x[3 * i], y = (double)x[3 * i + 1];
        const double over = curvature > 0 ? sin(curvature * along) / curvature : along;
        const double up = curvature > 0 ? (1 - cos(curvature * along)) / curvature : 0;
        x[3 * i] = (sinew_real)(over + aside);
        x[3 * i + 1] = (sinew_real)(c * y - s * up);
        x[3 * i + 2] = (sinew_real)(s * y + c * up);
    }
    sinew_mesh *sheet = sinew_mesh_moved(flat, x, &error);
    sinew_world_def def = sinew_default_world_def();
    def.solver = sinew_default_solver_def(SINEW_SOLVER_PRIMAL_DUAL);
    sinew_world *world = make_world(&def);
    sinew_energy_def bending = sinew_default_energy_def(SINEW_ENERGY_MEAN_CURVATURE);
    bending.body = add_mesh(world, sheet, 1, NULL, NULL);
    bending.hard = true;
    sinew_energy_def_set(&bending, "slack_above", slack, &error);
    must(&error);
    const bool taken = sinew_world_add_energy(world, &bending, &error).index >= 0;
    assert_true(taken || strstr(error.text, "mean_curvature, element"));
    sinew_world_destroy(world);
    sinew_mesh_destroy(sheet);
    sinew_mesh_destroy(flat);
    free(x);
    return taken;
}

/* The gradient of a flat sheet's curvature is round-off with a random direction, so it is refused; a bent sheet, or one
 * with slack, is accepted. */
static void flat_curvatures_are_refused(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("flat sheets", 20, 500);
    for (int32_t i = 0; i < r.count; i++) {
        assert_false(takes_curvature(&r, 0, 0));
        assert_true(takes_curvature(&r, random_between(&r, 0.2, 2), 0));
        assert_true(takes_curvature(&r, 0, 1));
    }
}

static void distances_are_refused_by_systems(void **unused)
{
    (void)unused;
    sinew_error error = {0};
    sinew_energy_def def = sinew_default_energy_def(SINEW_ENERGY_POSITION);
    sinew_world *world = triangle_world(SINEW_SOLVER_SAP, &def.body);
    def.hard = true;
    assert_true(sinew_world_add_energy(world, &def, &error).index < 0 && error.status == SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "sap cannot keep position hard: its constraint is a distance"));
    assert_non_null(strstr(error.text, "; use admm, xpbd, pbd"));
    sinew_world_destroy(world);
}

/* Compliances of registered energies that are not symmetric positive semi-definite are refused. */
static void wrong_compliances_are_refused(void **unused)
{
    (void)unused;
    const struct {
        int which;
        double k, s, t;
        bool good;
    } cases[] = {{0, 1, 0, 0, true},      {0, -2, 0, 0, false},    {1, 1, 0.5, 0.5, true},
                 {1, 1, 0.5, 0.4, false}, {1, 1, 1.5, 1.5, false}, {1, 1, -1, -1, true}};
    const double q[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, v[12] = {0}, mass[4] = {1, 1, 1, 1};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        sinew_error error = {0};
        const sinew_solver_def solver = sinew_default_solver_def(SINEW_SOLVER_SAP);
        sinew_energy_def def = sinew_default_energy_def(planks[cases[c].which]);
        const int32_t elements[8] = {0, 1, 2, 3, 3, 2, 1, 0};
        sinew_world *world = particle_world(&solver, q, v, mass, 4, &def.body);
        const sinew_real stiffness[2] = {1, (sinew_real)cases[c].k}, s[2] = {0, (sinew_real)cases[c].s};
        const sinew_real t[2] = {0, (sinew_real)cases[c].t};
        def.elements = elements;
        def.element_count = 2;
        def.parameters[PLANK_SLOPES] = 1;
        def.element_parameters[PLANK_STIFFNESS] = stiffness;
        def.element_parameters[SKEW_S] = s;
        def.element_parameters[SKEW_T] = t;
        const sinew_energy energy = sinew_world_add_energy(world, &def, &error);
        if (cases[c].good)
            must(&error);
        else
            assert_refused(energy, &error, "element 1: its compliance is negative or not symmetric");
        sinew_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redundant_rods_are_counted),
        cmocka_unit_test(compliant_rods_are_solved),
        cmocka_unit_test(random_combinations_are_counted),
        cmocka_unit_test(contradictions_are_minimal),
        cmocka_unit_test(wrong_rods_are_found),
        cmocka_unit_test(fixed_rows_are_refused),
        cmocka_unit_test(zero_lengths_are_refused),
        cmocka_unit_test(flat_curvatures_are_refused),
        cmocka_unit_test(distances_are_refused_by_systems),
        cmocka_unit_test(wrong_compliances_are_refused),
    };
    return cmocka_run_group_tests(tests, register_planks, NULL);
}
