/* SPDX-License-Identifier: MIT
 *
 * test_fill_torture.c: damaged surfaces are filled, and the filled bodies stay finite for fifty steps; or the surfaces
 * are refused as flat or as enclosing no volume. Prints the refusals, the worst quality, the largest volume error and
 * the time. `make nightly` runs a thousand surfaces.
 */
#include "fill_cases.h"

#ifdef SINEW_SANITIZED
enum {
    SAMPLE = 4
};
#else
enum {
    SAMPLE = 16
};
#endif

/* The worst values seen. */
typedef struct tally {
    int filled, flat, nothing;
    double quality[2]; /* minimum for lattice meshes, and for conforming ones */
    double volume;     /* largest relative volume error of closed surfaces whose walls are at least one cell thick */
    double seconds;
} tally;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Fifty steps of a free, thrown and spinning body of a soft material. */
static void run_fifty_steps(const sinew_mesh *body, random_cases *r)
{
    sinew_world_def def = sinew_default_world_def();
    const bool newton = random_index(r, 4) == 0;
    def.solver = sinew_default_solver_def(newton ? SINEW_SOLVER_NEWTON : SINEW_SOLVER_XPBD);
    def.solver.iterations = newton ? 2 : 5;
    def.solver.measure = SINEW_MEASURE_NOTHING;
    sinew_world *world = make_world(&def);
    const int32_t count = sinew_mesh_vertex_count(body);
    sinew_real *v = make_array(3 * (size_t)count, sizeof *v);
    for (int32_t i = 0; i < 3 * count; i++)
        v[i] = (i % 3 == 1 ? -1 : 1) * sinew_mesh_positions(body)[i / 3 * 3 + (i % 3 == 0 ? 1 : 0)];
    const sinew_body added = add_mesh(world, body, 1000, NULL, v);
    add_material(world, added, SINEW_ENERGY_STABLE_NEO_HOOKEAN, 1e5, 0.4);
    for (int step = 0; step < 50; step++) {
        const uint32_t bits = sinew_world_step(world, NULL);
        if (bits & (SINEW_STEP_UNPREPARED | SINEW_STEP_NOT_FINITE))
            fail_msg("step %d ended with bits %x: %s", step, bits, sinew_world_error(world));
    }
    sinew_real *q = positions_of(world);
    for (int32_t i = 0; i < 3 * count; i++)
        assert_true(isfinite(q[i]));
    free(q);
    free(v);
    sinew_world_destroy(world);
}

static void take_case(random_cases *r, int32_t number, tally *t)
{
    sinew_error error = {0};
    sinew_fill_report report;
    sinew_mesh *surface = damaged_surface(r);
    sinew_fill_def def = sinew_default_fill_def();
    def.surface = surface;
    def.cells = 3 + random_index(r, 8);
    def.conform = random_index(r, 2);
    const double start = now();
    sinew_mesh *body = sinew_mesh_fill(&def, &report, &error);
    t->seconds += now() - start;
    if (!body) {
        printf("case %d, %d cells: %s\n", number, def.cells, error.text);
        t->flat += strstr(error.text, "flat") != NULL;
        t->nothing += strstr(error.text, "nothing inside") != NULL;
        assert_true(strstr(error.text, "flat") || strstr(error.text, "nothing inside"));
    } else {
        t->filled++;
        t->quality[def.conform] = fmin(t->quality[def.conform], report.quality_min);
        if (report.closed && report.thin_cells == 0 && report.surface_volume > 8 * pow(report.cell, 3))
            t->volume = fmax(t->volume, fabs(report.volume / report.surface_volume - 1));
        run_fifty_steps(body, r);
    }
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(surface);
}

static void damaged_surfaces_are_filled_or_refused(void **unused)
{
    (void)unused;
    random_cases r = random_cases_begin("damaged surfaces", SAMPLE, 1000);
    tally t = {.quality = {1, 1}};
    for (int32_t n = 0; n < r.count; n++)
        take_case(&r, n, &t);
    printf("%d filled, %d flat, %d with nothing inside; worst quality %.3f, conforming %.3f; largest error of a volume "
           "%.1f %%; %.3f s each\n",
           t.filled, t.flat, t.nothing, t.quality[0], t.quality[1], 100 * t.volume, t.seconds / r.count);
    assert_true(t.quality[0] > 0.929 && t.quality[1] > 0.399);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(damaged_surfaces_are_filled_or_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
