/* SPDX-License-Identifier: MIT
 *
 * test_tear.c: bodies that tear. Random cuts conserve area, mass and corners, and every side remains a border or is
 * shared by two triangles. A torn world steps as one that is built from the torn mesh. A torn state loads into a new
 * world and continues with the same bits. A rope breaks at the strain of a closed form.
 */
#include "make_world.h"
#include "mesh/edit/split_along_edges.h"
#include "mesh/topology/facets.h"
#include "mesh/mesh.h"
#include "random_cases.h"
#include "sinew/scene.h"

static sinew_mesh *make_cloth(int32_t nx, int32_t ny, sinew_diagonals diagonals)
{
    sinew_error error = {0};
    sinew_cloth_def def = sinew_default_cloth_def();
    def.vertices[0] = nx;
    def.vertices[1] = ny;
    def.diagonals = diagonals;
    sinew_mesh *mesh = sinew_mesh_cloth(&def, &error);
    must(&error);
    return mesh;
}

/* ---- Cuts -------------------------------------------------------------------------------------- */

typedef struct facet_tally {
    int shared, border, crowded;
} facet_tally;

static void count_facet(void *context, const int32_t *vertices, const sinew_pair *uses, size_t use_count)
{
    facet_tally *tally = context;
    (void)vertices;
    (void)uses;
    tally->border += use_count == 1;
    tally->shared += use_count == 2;
    tally->crowded += use_count > 2;
}

static facet_tally facets_of(const int32_t *cells, int32_t count, int32_t size, int32_t vertex_count)
{
    facet_tally tally = {0};
    const sinew_elements elements = {cells, count, size};
    sinew_error error = {0};
    const sinew_allocator system = sinew_allocator_or_system(NULL);
    assert_int_equal(sinew_visit_facets(&system, vertex_count, &elements, count_facet, &tally, &error), SINEW_OK);
    return tally;
}

/* Vertices that join groups of cells only at that point. */
static int loose_points(const sinew_cut *cut, int32_t vertex_count)
{
    int loose = 0;
    for (int32_t v = 0; v < vertex_count; v++) {
        int32_t around[64], count = 0, reached = 1;
        for (int32_t c = 0; c < cut->cell_count; c++)
            for (int32_t i = 0; i < cut->size; i++)
                if (cut->after[c * cut->size + i] == v && count < 64)
                    around[count++] = c;
        for (bool grown = true; grown;) {
            grown = false;
            for (int32_t j = reached; j < count; j++)
                for (int32_t k = 0; k < reached && j >= reached; k++) {
                    int shared = 0;
                    for (int32_t a = 0; a < cut->size; a++)
                        for (int32_t b = 0; b < cut->size; b++)
                            shared += cut->after[around[j] * cut->size + a] == cut->after[around[k] * cut->size + b];
                    if (shared < cut->size - 1)
                        continue;
                    const int32_t swapped = around[reached];
                    around[reached] = around[j];
                    around[j] = swapped;
                    reached++;
                    grown = true;
                }
        }
        loose += count > 0 && reached < count;
    }
    return loose;
}

static void random_cut(random_cases *r, const sinew_mesh *mesh, const sinew_elements *cells)
{
    const sinew_allocator system = sinew_allocator_or_system(NULL);
    sinew_error error = {0};
    sinew_cut cut;
    const int32_t vertices = sinew_mesh_vertex_count(mesh);
    assert_int_equal(sinew_cut_begin(&cut, &system, vertices, cells, &error), SINEW_OK);
    int opened_count = 0;
    for (int i = 0; i < 12; i++) {
        const double direction[3] = {random_between(r, -1, 1), random_between(r, -1, 1), random_between(r, -1, 1)};
        opened_count += sinew_cut_vertex(&cut, sinew_mesh_positions(mesh), random_index(r, vertices), direction);
    }
    assert_true(cut.copy_count >= opened_count);
    for (int32_t i = 0; i < cut.cell_count * cut.size; i++) {
        const int32_t v = cut.after[i];
        assert_true(v < vertices + cut.copy_count);
        assert_int_equal(v < vertices ? v : cut.copies[v - vertices], cut.cells[i]);
    }
    const facet_tally before = facets_of(cut.cells, cut.cell_count, cut.size, vertices);
    const facet_tally after = facets_of(cut.after, cut.cell_count, cut.size, vertices + cut.copy_count);
    assert_int_equal(after.crowded, before.crowded);
    assert_int_equal(2 * after.shared + after.border, 2 * before.shared + before.border);
    if (opened_count > 0)
        assert_true(after.border > before.border);
    assert_int_equal(loose_points(&cut, vertices + cut.copy_count), 0);
    sinew_cut_end(&cut);
}

static void cuts_keep_surfaces(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("cuts", 40, 4000);
    for (int i = 0; i < r.count; i++) {
        sinew_mesh *cloth = make_cloth(3 + random_index(&r, 6), 3 + random_index(&r, 6),
                                       (sinew_diagonals)random_index(&r, SINEW_DIAGONALS_CROSS));
        random_cut(&r, cloth, &(sinew_elements){cloth->triangles, cloth->triangle_count, 3});
        sinew_mesh_destroy(cloth);
        sinew_mesh *beam =
            make_beam(1 + random_index(&r, 4), 1 + random_index(&r, 3), 1 + random_index(&r, 3), 1, 1, 1);
        random_cut(&r, beam, &(sinew_elements){beam->tets, beam->tet_count, 4});
        sinew_mesh_destroy(beam);
    }
}

/* ---- Worlds ------------------------------------------------------------------------------------ */

typedef struct tearing_world {
    sinew_world *world;
    sinew_body body;
    sinew_energy springs;
} tearing_world;

/* A cloth of springs, held along two sides that move apart. */
static tearing_world make_tearing(const sinew_mesh *mesh, sinew_solver_kind solver, bool split, double speed)
{
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)0.01;
    def.gravity[1] = 0;
    def.solver = sinew_default_solver_def(solver);
    def.solver.iterations = 30;
    tearing_world t = {.world = make_world(&def)};
    t.body = add_mesh(t.world, mesh, 0.2, NULL, NULL);
    sinew_energy_def spring = sinew_default_energy_def(SINEW_ENERGY_SPRING);
    spring.body = t.body;
    spring.parameters[0] = 300;
    t.springs = sinew_world_add_energy(t.world, &spring, &error);
    must(&error);
    const sinew_key keys[2] = {{0, {0}, {0}}, {10, {(sinew_real)(10 * speed), 0, 0}, {0}}};
    const sinew_motion motion = {2, keys, {0}};
    for (int side = 0; side < 2; side++) {
        int32_t held[64];
        const sinew_region end = {SINEW_REGION_HALF_SPACE, {(sinew_real)side, 0, 0}, {side ? 1 : -1, 0, 0}, 0};
        sinew_pin_def pin = sinew_default_pin_def();
        pin.body = t.body;
        pin.vertices = held;
        pin.vertex_count =
            sinew_region_select(&end, sinew_mesh_positions(mesh), sinew_mesh_vertex_count(mesh), held, 64);
        pin.motion = side ? &motion : NULL;
        sinew_world_add_pins(t.world, &pin, &error);
        must(&error);
    }
    sinew_tear_def tear = sinew_default_tear_def();
    tear.body = t.body;
    tear.limit = (sinew_real)0.3;
    tear.split = split;
    assert_int_equal(sinew_body_set_tear(t.world, &tear, &error), SINEW_OK);
    return t;
}

static double total_mass(const tearing_world *t)
{
    sinew_real m[4096];
    double sum = 0;
    const int32_t count = sinew_mesh_vertex_count(sinew_body_mesh(t->world, t->body));
    assert_int_equal(sinew_world_get_masses(t->world, sinew_body_first_particle(t->world, t->body), count, m),
                     SINEW_OK);
    for (int32_t i = 0; i < count; i++)
        sum += (double)m[i];
    return sum;
}

/* ---- Selection and order of torn edges ----------------------------------------------------------- */

typedef struct stretched_edge {
    double strain;
    int32_t edge;
} stretched_edge;

static int by_falling_strain(const void *a, const void *b)
{
    const double x = ((const stretched_edge *)a)->strain, y = ((const stretched_edge *)b)->strain;
    return (x < y) - (x > y);
}

static double length_between(const sinew_real *x, int32_t a, int32_t b)
{
    double square = 0;
    for (int c = 0; c < 3; c++)
        square += pow((double)x[3 * a + c] - (double)x[3 * b + c], 2);
    return sqrt(square);
}

/* The edges of a mesh at positions x, the most stretched first; the caller frees them. */
static stretched_edge *sorted_edges(const sinew_mesh *mesh, const sinew_real *x)
{
    const int32_t count = sinew_mesh_edge_count(mesh), *edge = sinew_mesh_edges(mesh);
    stretched_edge *list = make_array((size_t)count, sizeof *list);
    for (int32_t e = 0; e < count; e++) {
        const double rest = length_between(sinew_mesh_positions(mesh), edge[2 * e], edge[2 * e + 1]);
        list[e] = (stretched_edge){length_between(x, edge[2 * e], edge[2 * e + 1]) / rest - 1, e};
    }
    qsort(list, (size_t)count, sizeof *list, by_falling_strain);
    return list;
}

/* A cloth after one step, with vertices then displaced by up to `apart` m. The caller frees x. */
static tearing_world make_displaced(random_cases *r, const sinew_mesh *mesh, const sinew_tear_def *def, double apart,
                                    sinew_real **x)
{
    sinew_error error = {0};
    sinew_world_def world_def = sinew_default_world_def();
    world_def.time_step = (sinew_real)1e-6;
    world_def.gravity[1] = 0;
    tearing_world t = {.world = make_world(&world_def)};
    t.body = add_mesh(t.world, mesh, 0.2, NULL, NULL);
    t.springs = add_springs(t.world, t.body, 1);
    sinew_tear_def tear = *def;
    tear.body = t.body;
    assert_int_equal(sinew_body_set_tear(t.world, &tear, &error), SINEW_OK);
    sinew_world_step(t.world, NULL);
    const int32_t n = sinew_mesh_vertex_count(mesh);
    *x = make_array(3 * (size_t)n, sizeof **x);
    for (int32_t i = 0; i < 3 * n; i++)
        (*x)[i] = sinew_mesh_positions(mesh)[i] + (sinew_real)random_between(r, -apart, apart);
    assert_int_equal(sinew_world_set_positions(t.world, 0, n, *x), SINEW_OK);
    return t;
}

/* Edges beyond the limit tear, the most stretched first, at most `max` per step: exactly their springs are disabled. */
static void the_most_stretched_go_first(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("tear order", 10, 500);
    sinew_mesh *mesh = make_cloth(5, 4, SINEW_DIAGONALS_FORWARD);
    for (int i = 0; i < r.count; i++) {
        sinew_real *x;
        sinew_tear_report report;
        sinew_tear_def def = sinew_default_tear_def();
        def.split = false;
        def.limit = (sinew_real)random_between(&r, 0.05, 0.4);
        def.max = 1 + random_index(&r, 20);
        tearing_world t = make_displaced(&r, mesh, &def, 0.1, &x);
        stretched_edge *list = sorted_edges(mesh, x);
        sinew_world_step(t.world, NULL);
        int32_t torn = 0;
        for (int32_t e = 0; e < sinew_mesh_edge_count(mesh); e++) {
            const bool tears = e < def.max && list[e].strain > (double)def.limit;
            torn += tears;
            if (sinew_energy_is_on(t.world, t.springs, list[e].edge) == tears)
                fail_msg("edge %d of strain %g, number %d from above of %d, %s; the limit is %g", (int)list[e].edge,
                         list[e].strain, (int)e, (int)def.max, tears ? "stays" : "tears", (double)def.limit);
        }
        assert_int_equal(sinew_body_torn(t.world, t.body, &report, NULL), SINEW_OK);
        assert_int_equal(report.edges, torn);
        free(list);
        free(x);
        sinew_world_destroy(t.world);
    }
    sinew_mesh_destroy(mesh);
}

/* Whether a cloth can be cut across an edge at one of its ends. */
static bool opens_at(const sinew_mesh *mesh, const sinew_real *x, const int32_t *ends, int which)
{
    sinew_cut cut;
    sinew_error error = {0};
    const sinew_allocator system = sinew_allocator_or_system(NULL);
    const sinew_elements cells = {mesh->triangles, mesh->triangle_count, 3};
    double direction[3];
    for (int c = 0; c < 3; c++)
        direction[c] = (double)x[3 * ends[1] + c] - (double)x[3 * ends[0] + c];
    assert_int_equal(sinew_cut_begin(&cut, &system, sinew_mesh_vertex_count(mesh), &cells, &error), SINEW_OK);
    const bool opens = sinew_cut_vertex(&cut, x, ends[which], direction);
    sinew_cut_end(&cut);
    return opens;
}

/* With one edge per step: one end of the edge is duplicated in place, the end with fewer triangles if it can open. */
static void the_end_with_fewer_cells_opens(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("tear ends", 20, 500);
    sinew_mesh *mesh = make_cloth(6, 5, SINEW_DIAGONALS_ALTERNATING);
    const int32_t n = sinew_mesh_vertex_count(mesh), *triangle = sinew_mesh_triangles(mesh);
    int opened_count = 0;
    for (int i = 0; i < r.count; i++) {
        sinew_real *x;
        sinew_tear_report report;
        sinew_tear_def def = sinew_default_tear_def();
        def.limit = (sinew_real)0.05;
        def.max = 1;
        tearing_world t = make_displaced(&r, mesh, &def, 0.05, &x);
        stretched_edge *list = sorted_edges(mesh, x);
        sinew_world_step(t.world, NULL);
        assert_int_equal(sinew_body_torn(t.world, t.body, &report, NULL), SINEW_OK);
        assert_int_equal(report.edges, 1);
        /* Edges that cannot open are skipped. */
        const int32_t *ends = sinew_mesh_edges(mesh) + 2 * list[report.refused].edge;
        int32_t cells[2] = {0, 0}, copied = -1;
        for (int32_t c = 0; c < 3 * sinew_mesh_triangle_count(mesh); c++)
            for (int k = 0; k < 2; k++)
                cells[k] += triangle[c] == ends[k];
        sinew_real *q = positions_of(t.world);
        const int32_t first = sinew_body_first_particle(t.world, t.body);
        for (int k = 0; k < 2; k++)
            for (int32_t v = n; v < n + report.vertices; v++)
                if (length_between(q, first + v, first + ends[k]) < 1e-6)
                    copied = k;
        assert_true(copied >= 0);
        if (cells[0] != cells[1] && opens_at(mesh, x, ends, cells[1] < cells[0])) {
            opened_count++;
            assert_int_equal(copied, cells[1] < cells[0]);
        }
        free(q);
        free(list);
        free(x);
        sinew_world_destroy(t.world);
    }
    assert_true(opened_count > 0);
    sinew_mesh_destroy(mesh);
}

/* At exactly the limit nothing tears: a rope of unit edges stretched to 1.5 times its length, one edge slightly more.
 */
static void the_limit_itself_holds(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_rope(4, (const double[]){0, 0, 0}, (const double[]){3, 0, 0});
    const sinew_real drawn[12] = {0, 0, 0, (sinew_real)1.5, 0, 0, 3, 0, 0, (sinew_real)4.53125, 0, 0};
    for (int more = 0; more < 2; more++) {
        random_cases unused = {.state = 1};
        sinew_real *x;
        sinew_tear_def def = sinew_default_tear_def();
        def.split = false;
        tearing_world t = make_displaced(&unused, mesh, &def, 0, &x);
        memcpy(x, drawn, sizeof drawn);
        x[9] = more ? x[9] : (sinew_real)4.5;
        assert_int_equal(sinew_world_set_positions(t.world, 0, 4, x), SINEW_OK);
        sinew_world_step(t.world, NULL);
        for (int32_t e = 0; e < 3; e++)
            assert_int_equal(sinew_energy_is_on(t.world, t.springs, e), !(more && e == 2));
        free(x);
        sinew_world_destroy(t.world);
    }
    sinew_mesh_destroy(mesh);
}

/* Every solver that supports springs, with and without splitting vertices: the world tears, mass is conserved, and the
 * springs are those of the cells. */
static void worlds_tear(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_cloth(9, 7, SINEW_DIAGONALS_FORWARD);
    for (int kind = 0; kind < 2 * SINEW_SOLVER_COUNT; kind++) {
        const bool split = kind % 2 == 0;
        const sinew_solver_kind solver = (sinew_solver_kind)(kind / 2);
        /* Explicit integrators are unstable with these springs. */
        if (!sinew_solver_accepts(solver, SINEW_ENERGY_SPRING, NULL, 0) || solver == SINEW_SOLVER_XPBD_QS ||
            sinew_get_solver_info(solver)->explicit_step)
            continue;
        tearing_world t = make_tearing(mesh, solver, split, 3);
        const double mass = total_mass(&t);
        sinew_step_result result;
        sinew_tear_report report = {0};
        for (int i = 0; i < 40; i++)
            if (sinew_world_step(t.world, &result) & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
                fail_msg("step %d: %s", i, sinew_world_error(t.world));
        assert_int_equal(sinew_body_torn(t.world, t.body, &report, NULL), SINEW_OK);
        assert_true(report.edges > 0);
        assert_int_equal(report.vertices > 0, split);
        assert_true(fabs(total_mass(&t) - mass) < 1e-5 * mass);
        const sinew_mesh *torn = sinew_body_mesh(t.world, t.body);
        sinew_mesh_report check;
        assert_true(sinew_mesh_check(torn, &check, NULL, 0, NULL) >= 0);
        assert_int_equal(check.counts[SINEW_FLAW_NON_MANIFOLD_EDGE], 0);
        assert_int_equal(check.counts[SINEW_FLAW_DEGENERATE_TRIANGLE], 0);
        if (split) {
            assert_int_equal(sinew_mesh_triangle_count(torn), sinew_mesh_triangle_count(mesh));
            assert_int_equal(sinew_energy_element_count(t.world, t.springs), sinew_mesh_edge_count(torn));
        }
        sinew_world_destroy(t.world);
    }
    sinew_mesh_destroy(mesh);
}

/* A beam whose tets have filled fractions. */
static sinew_mesh *make_filled_beam(random_cases *r)
{
    sinew_error error = {0};
    sinew_mesh *beam = make_beam(3, 2, 2, 1, 1, 1);
    sinew_real *fractions = make_array((size_t)beam->tet_count, sizeof *fractions);
    for (int32_t t = 0; t < beam->tet_count; t++)
        fractions[t] = (sinew_real)random_between(r, 0.1, 1);
    assert_int_equal(sinew_mesh_set_fractions(beam, fractions, &error), SINEW_OK);
    free(fractions);
    return beam;
}

/* A torn body keeps the filled fractions of the tets that remain. Splitting keeps all tets in their order. */
static void filled_fractions_stay(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("filled", 6, 60);
    for (int i = 0; i < r.count; i++) {
        const bool split = i % 2 == 0;
        sinew_mesh *mesh = make_filled_beam(&r);
        sinew_tear_def def = sinew_default_tear_def();
        def.split = split;
        def.max = 2;
        sinew_real *x;
        tearing_world t = make_displaced(&r, mesh, &def, 0.6, &x);
        sinew_world_step(t.world, NULL);
        const sinew_mesh *torn = sinew_body_mesh(t.world, t.body);
        assert_non_null(sinew_mesh_fractions(torn));
        assert_int_equal(torn->tet_count == mesh->tet_count, split);
        for (int32_t k = 0, from = 0; k < torn->tet_count; k++, from++) {
            while (!split && memcmp(torn->tets + 4 * k, mesh->tets + 4 * from, 4 * sizeof *mesh->tets) != 0)
                assert_true(++from < mesh->tet_count);
            assert_true(torn->fractions[k] == mesh->fractions[from]);
        }
        free(x);
        sinew_world_destroy(t.world);
        sinew_mesh_destroy(mesh);
    }
}

/* A torn state continues in a new world with the same bits. */
static void states_carry_tears(void **state)
{
    (void)state;
    static const sinew_solver_kind solvers[] = {SINEW_SOLVER_PD, SINEW_SOLVER_XPBD, SINEW_SOLVER_PBNG};
    sinew_mesh *mesh = make_cloth(8, 6, SINEW_DIAGONALS_ALTERNATING);
    for (int i = 0; i < 6; i++) {
        const bool split = i % 2 == 0;
        tearing_world a = make_tearing(mesh, solvers[i / 2], split, 3),
                      b = make_tearing(mesh, solvers[i / 2], split, 3);
        sinew_tear_report report = {0}, again = {0};
        sinew_error error = {0};
        for (int s = 0; s < 100 && report.edges == 0; s++) {
            sinew_world_step(a.world, NULL);
            sinew_body_torn(a.world, a.body, &report, NULL);
        }
        assert_true(report.edges > 0);
        const size_t size = sinew_world_state_size(a.world);
        char *blob = malloc(size + 1);
        assert_int_equal(sinew_world_state_save(a.world, blob + 1, size), SINEW_OK); /* at any alignment */
        assert_int_equal(sinew_world_state_check(b.world, blob + 1, size, &error), SINEW_OK);
        assert_int_equal(sinew_world_state_load(b.world, blob + 1, size, &error), SINEW_OK);
        must(&error);
        assert_int_equal(sinew_body_torn(b.world, b.body, &again, NULL), SINEW_OK);
        assert_memory_equal(&again, &report, sizeof report);
        for (int s = 0; s < 10; s++) {
            sinew_world_step(a.world, NULL);
            sinew_world_step(b.world, NULL);
            assert_true(sinew_world_state_hash(a.world) == sinew_world_state_hash(b.world));
        }
        /* Tears are permanent: a state with fewer tears than the world is refused. */
        sinew_body_torn(a.world, a.body, &again, NULL);
        if (again.edges > report.edges)
            assert_int_equal(sinew_world_state_load(a.world, blob + 1, size, &error), SINEW_ERROR_FORMAT);
        free(blob);
        sinew_world_destroy(a.world);
        sinew_world_destroy(b.world);
    }
    sinew_mesh_destroy(mesh);
}

/* Removes from b the springs that are disabled in a. number [left]: the springs of a that b still has; returns the new
 * count. */
static int32_t take_out(const tearing_world *a, const tearing_world *b, int32_t *number, int32_t left)
{
    int32_t out[512], count = 0, kept = 0;
    for (int32_t i = 0; i < left; i++)
        if (sinew_energy_is_on(a->world, a->springs, number[i]))
            number[kept++] = number[i];
        else
            out[count++] = i;
    if (count > 0)
        assert_int_equal(sinew_energy_remove_elements(b->world, b->springs, out, count, NULL), SINEW_OK);
    return kept;
}

/* PD with a factor that is updated as springs tear, against PD prepared without these springs. */
static void updates_agree(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_cloth(9, 7, SINEW_DIAGONALS_FORWARD);
    tearing_world a = make_tearing(mesh, SINEW_SOLVER_PD, false, 3), b = make_tearing(mesh, SINEW_SOLVER_PD, false, 3);
    const int32_t count = sinew_world_particle_count(a.world);
    int32_t number[512], left = sinew_energy_element_count(a.world, a.springs);
    double worst = 0;
    sinew_error error = {0};
    sinew_tear_def never = sinew_default_tear_def();
    never.body = b.body;
    never.limit = 1000;
    assert_int_equal(sinew_body_set_tear(b.world, &never, &error), SINEW_OK);
    for (int32_t i = 0; i < left; i++)
        number[i] = i;
    for (int s = 0; s < 30; s++) {
        sinew_real qa[3 * 64], qb[3 * 64];
        sinew_world_step(a.world, NULL);
        left = take_out(&a, &b, number, left);
        sinew_world_step(b.world, NULL);
        sinew_world_get_positions(a.world, 0, count, qa);
        sinew_world_get_positions(b.world, 0, count, qb);
        for (int32_t i = 0; i < 3 * count; i++)
            worst = fmax(worst, fabs((double)qa[i] - (double)qb[i]));
    }
    sinew_tear_report report;
    sinew_body_torn(a.world, a.body, &report, NULL);
    printf("    %d springs removed, updated and refactored solutions differ by %.1e m\n", (int)report.edges, worst);
    assert_true(report.edges > 4);
    assert_true(worst < (sizeof(sinew_real) == 4 ? 1e-3 : 1e-9));
    sinew_world_destroy(a.world);
    sinew_world_destroy(b.world);
    sinew_mesh_destroy(mesh);
}

/* OBJ and VTU frames follow the torn cells, with the vertices of all bodies one after the other, without gaps. Formats
 * with a fixed topology refuse before the first step. */
static void caches_follow(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_cloth(8, 6, SINEW_DIAGONALS_FORWARD);
    for (int format = 0; format < SINEW_CACHE_COUNT; format++) {
        tearing_world t = make_tearing(mesh, SINEW_SOLVER_XPBD, true, 3);
        sinew_error error = {0};
        add_mesh(t.world, mesh, 0.2, NULL, NULL); /* a body behind it forces renumbering as it grows */
        sinew_cache_def def = sinew_default_cache_def();
        def.world = t.world;
        def.directory = SINEW_TEST_DIR;
        def.name = "torn";
        def.format = (sinew_cache_format)format;
        sinew_cache *cache = sinew_cache_open(&def, &error);
        const bool follows = format == SINEW_CACHE_OBJ || format == SINEW_CACHE_VTU;
        assert_int_equal(cache != NULL, follows);
        if (!follows)
            assert_non_null(strstr(error.text, "use obj or vtu"));
        for (int i = 0; i < 30 && follows; i++) {
            sinew_world_step(t.world, NULL);
            assert_int_equal(sinew_cache_frame(cache, &error), SINEW_OK);
        }
        if (follows) {
            assert_int_equal(sinew_cache_close(cache, &error), SINEW_OK);
            sinew_mesh *read = sinew_mesh_read(format == SINEW_CACHE_OBJ ? SINEW_TEST_DIR "/torn.0029.obj"
                                                                         : SINEW_TEST_DIR "/torn.0029.vtu",
                                               NULL, &error);
            must(&error);
            const sinew_mesh *torn = sinew_body_mesh(t.world, t.body);
            const int32_t vertices = sinew_mesh_vertex_count(torn), triangles = sinew_mesh_triangle_count(torn);
            assert_true(vertices > sinew_mesh_vertex_count(mesh));
            assert_true(sinew_body_first_particle(t.world, t.body) > 0);
            assert_int_equal(sinew_mesh_vertex_count(read), vertices + sinew_mesh_vertex_count(mesh));
            assert_int_equal(sinew_mesh_triangle_count(read), triangles + sinew_mesh_triangle_count(mesh));
            for (int32_t i = 0; i < 3 * triangles; i++)
                assert_int_equal(sinew_mesh_triangles(read)[i], sinew_mesh_triangles(torn)[i]);
            sinew_mesh_destroy(read);
        }
        sinew_world_destroy(t.world);
    }
    sinew_mesh_destroy(mesh);
}

/* A surface with a hole holds no gas. */
static void refuse_gas(void)
{
    static const sinew_real corners[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int32_t faces[] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
    sinew_error error = {0};
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = 4;
    def.positions = corners;
    def.triangle_count = 4;
    def.triangles = faces;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    tearing_world t = make_tearing(mesh, SINEW_SOLVER_NEWTON, true, 1);
    sinew_energy_def gas = sinew_default_energy_def(SINEW_ENERGY_PRESSURE);
    gas.body = t.body;
    sinew_world_add_energy(t.world, &gas, &error);
    must(&error);
    sinew_tear_def tear = sinew_default_tear_def();
    tear.body = t.body;
    assert_int_equal(sinew_body_set_tear(t.world, &tear, &error), SINEW_ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.text, "pressure"));
    sinew_world_destroy(t.world);
    sinew_mesh_destroy(mesh);
}

static void refusals(void **state)
{
    (void)state;
    sinew_mesh *mesh = make_cloth(3, 3, SINEW_DIAGONALS_FORWARD);
    tearing_world t = make_tearing(mesh, SINEW_SOLVER_PD, true, 1);
    sinew_tear_def def = sinew_default_tear_def();
    sinew_error error = {0};
    assert_int_equal(sinew_body_set_tear(t.world, &def, &error), SINEW_ERROR_USAGE);
    def.body = t.body;
    def.limit = 0;
    assert_int_equal(sinew_body_set_tear(t.world, &def, &error), SINEW_ERROR_DATA);
    assert_non_null(strstr(error.text, "must be above 0"));
    def.limit = 1;
    def.max = 0;
    assert_int_equal(sinew_body_set_tear(t.world, &def, &error), SINEW_ERROR_DATA);
    refuse_gas();
    sinew_world_destroy(t.world);
    sinew_mesh_destroy(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cuts_keep_surfaces),
                                       cmocka_unit_test(the_most_stretched_go_first),
                                       cmocka_unit_test(the_end_with_fewer_cells_opens),
                                       cmocka_unit_test(the_limit_itself_holds),
                                       cmocka_unit_test(worlds_tear),
                                       cmocka_unit_test(filled_fractions_stay),
                                       cmocka_unit_test(states_carry_tears),
                                       cmocka_unit_test(updates_agree),
                                       cmocka_unit_test(caches_follow),
                                       cmocka_unit_test(refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
