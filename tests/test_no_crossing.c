/* SPDX-License-Identifier: MIT
 *
 * test_no_crossing.c: no surfaces intersect, for every solver, iteration count, time step and stiffness.
 *
 * The matrix has a run for every solver, scene and number of iterations; time steps and stiffnesses are distributed so
 * that every pair of settings occurs. Every frame is written, and tools/crossings, which shares no code with the
 * library, counts intersections. Also asserted: bodies fall as without contact until they touch; in a step whose status
 * is solved, no violation of the offset exceeds 1 % of the thickness (TOO NEAR). Printed, not asserted: at 50
 * iterations, the rest state of a scene beside newton's. `make test` draws a few short runs, `make nightly` runs all,
 * each for SECONDS at most; SINEW_RUN=N selects one.
 */
#include "no_crossing_scenes.h"
#include "random_cases.h"

#ifdef SINEW_SANITIZED
enum {
    SAMPLE = 2,
    SAMPLE_FRAMES = 6,
    SAMPLE_SECONDS = 5,
    FRAMES = 20,
    SECONDS = 60
};
#else
enum {
    SAMPLE = 6,
    SAMPLE_FRAMES = 40,
    SAMPLE_SECONDS = 5, /* s of processor time, after which a run ends early */
    FRAMES = 300,
    SECONDS = 40
};
#endif

static const sinew_solver_kind solvers[] = {
    SINEW_SOLVER_NEWTON, SINEW_SOLVER_QN,  SINEW_SOLVER_PD,    SINEW_SOLVER_ADMM,        SINEW_SOLVER_PBNG,
    SINEW_SOLVER_XPBD,   SINEW_SOLVER_PBD, SINEW_SOLVER_MPBNG, SINEW_SOLVER_PRIMAL_DUAL, SINEW_SOLVER_SAP};
#define MAX_FILTERED_RESIDUAL 0.01   /* fraction of the weight; force of the step filter in the last step */
#define MAX_VIOLATION         0.0101 /* fraction of the thickness in solved steps: 1 % plus the rounding of frames */

static const int iterations[] = {1, 5, 50};
static const double time_steps[] = {1.0 / 30, 1.0 / 60, 1.0 / 240};
static const double moduli[] = {1e3, 1e5, 1e7};
enum {
    SOLVERS = sizeof solvers / sizeof solvers[0],
    LEVELS = 3, /* levels of iterations, time step and stiffness */
    RUNS = SOLVERS * TIGHT_SCENES * LEVELS
};

/* Settings of one run: indices into the tables above. */
typedef struct run {
    int solver, scene, iterations, h, E;
} run;

/* Results of a run. */
typedef struct findings {
    int crossings;                 /* frames with intersections */
    int failed;                    /* steps that ended non-finite */
    int fall;                      /* steps before the first contact that differ from the world without contact */
    int frames, solved, truncated; /* numbers of steps */
    double violation, worst;       /* in thicknesses: of solved steps, of all steps */
    double fallen;                 /* m: fall of the twin without contact */
    double filtered_residual;      /* force of the step filter in the last step, in weights */
    double moved;                  /* m: largest displacement of a particle in the last tenth of the run */
    double height;                 /* m: mean height of all particles at the end */
    double seconds;
} findings;

/* ---- The matrix -------------------------------------------------------------------------------- */

/* The number of new triples (solver or scene or iterations, h, E) and (solver, scene, h or E) that a choice adds. */
static int new_to(const run *r, bool seen[5][64][9])
{
    const int of[5] = {r->solver, r->scene, r->iterations, r->solver * TIGHT_SCENES + r->scene,
                       r->solver * TIGHT_SCENES + r->scene};
    int count = 0;
    for (int k = 0; k < 5; k++)
        count += !seen[k][of[k]][k < 3 ? 3 * r->h + r->E : k == 3 ? r->h : r->E];
    return count;
}

static void mark(const run *r, bool seen[5][64][9])
{
    const int pair = r->solver * TIGHT_SCENES + r->scene;
    seen[0][r->solver][3 * r->h + r->E] = seen[1][r->scene][3 * r->h + r->E] = true;
    seen[2][r->iterations][3 * r->h + r->E] = true;
    seen[3][pair][r->h] = seen[4][pair][r->E] = true;
}

/* Greedy: each run takes the time step and stiffness that add the most new triples, from a start that varies by run. */
static void make_matrix(run runs[RUNS])
{
    bool seen[5][64][9] = {0};
    random_cases draw = {.state = 1};
    for (int i = 0; i < RUNS; i++) {
        run *r = &runs[i];
        *r = (run){i / (TIGHT_SCENES * LEVELS), i / LEVELS % TIGHT_SCENES, i % LEVELS, 0, 0};
        int best = -1;
        const int first = random_index(&draw, LEVELS * LEVELS);
        for (int k = 0; k < LEVELS * LEVELS; k++) {
            run trial = *r;
            trial.h = (first + k) % 9 / 3;
            trial.E = (first + k) % 3;
            const int found = new_to(&trial, seen);
            if (found > best) {
                best = found;
                r->h = trial.h;
                r->E = trial.E;
            }
        }
        mark(r, seen);
    }
}

/* Every two settings of different columns occur in a common run. */
static void test_every_pair_occurs(void **state)
{
    (void)state;
    run runs[RUNS];
    make_matrix(runs);
    bool met[5][5][SOLVERS][SOLVERS] = {0};
    const int sizes[5] = {SOLVERS, TIGHT_SCENES, LEVELS, LEVELS, LEVELS};
    for (int i = 0; i < RUNS; i++) {
        const int setting[5] = {runs[i].solver, runs[i].scene, runs[i].iterations, runs[i].h, runs[i].E};
        for (int a = 0; a < 5; a++)
            for (int b = 0; b < 5; b++)
                met[a][b][setting[a]][setting[b]] = true;
    }
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < a; b++)
            for (int i = 0; i < sizes[a] * sizes[b]; i++)
                assert_true(met[a][b][i % sizes[a]][i / sizes[a]]);
}

/* ---- Worlds and frames ------------------------------------------------------------------------- */

static sinew_world *make_run(const run *r, int max_iterations, bool touching)
{
    const tight_scene *scene = &tight_scenes[r->scene];
    sinew_error error = {0};
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 1;
    def.time_step = (sinew_real)time_steps[r->h];
    def.damping = 1;
    def.solver = sinew_default_solver_def(solvers[r->solver]);
    def.solver.iterations = max_iterations;
    def.solver.tolerance = (sinew_real)1e-4;
    def.solver.measure = SINEW_MEASURE_RESIDUAL;
    sinew_world *world = make_world(&def);
    scene->fill(world, moduli[r->E]);
    if (!touching)
        return world;
    sinew_contact_def contact = sinew_default_contact_def();
    contact.thickness = (sinew_real)scene->thickness;
    sinew_world_set_contact(world, &contact, &error);
    must(&error);
    return world;
}

/* The surface of a world; frames differ in positions only. */
static sinew_mesh *surface_of(const sinew_world *world)
{
    sinew_error error = {0};
    sinew_surface surface = {0};
    sinew_world_surface(world, &surface, &error);
    surface.triangles = make_array(3 * (size_t)surface.triangle_count, sizeof *surface.triangles);
    surface.edges = make_array(2 * (size_t)surface.edge_count, sizeof *surface.edges);
    assert_int_equal(sinew_world_surface(world, &surface, &error), SINEW_OK);
    sinew_real *q = positions_of(world);
    sinew_mesh_def def = sinew_default_mesh_def();
    def.vertex_count = sinew_world_particle_count(world);
    def.positions = q;
    def.triangle_count = surface.triangle_count;
    def.triangles = surface.triangles;
    def.edge_count = surface.edge_count;
    def.edges = surface.edges;
    sinew_mesh *mesh = sinew_mesh_create(&def, &error);
    must(&error);
    free(surface.triangles);
    free(surface.edges);
    free(q);
    return mesh;
}

static void write_frame(const sinew_mesh *surface, const sinew_real *q, int frame)
{
    sinew_error error = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/run.%04d.obj", SINEW_TEST_DIR, frame);
    sinew_mesh *moved = sinew_mesh_moved(surface, q, &error);
    must(&error);
    sinew_mesh_write(moved, path, SINEW_MESH_BY_ENDING, &error);
    must(&error);
    sinew_mesh_destroy(moved);
}

/* ---- The referee ------------------------------------------------------------------------------- */

/* Parses one line of tools/crossings. `solved` [frames] marks the frames that end a solved step. */
static void take_line(const char *line, double thickness, const bool *solved, findings *f)
{
    int frame, crossings;
    if (sscanf(line, "frame %d: crossings %d", &frame, &crossings) != 2)
        return;
    if (crossings > 0) {
        f->crossings++;
        if (f->crossings <= 3)
            print_message("  %s", line);
    }
    const char *told = strstr(line, "violation ");
    const double violation = told ? strtod(told + strlen("violation "), NULL) / thickness : 0;
    f->worst = fmax(f->worst, violation);
    if (solved[frame])
        f->violation = fmax(f->violation, violation);
}

static void ask_referee(const tight_scene *scene, int frames, const bool *solved, findings *f)
{
    char command[2048], line[1024];
    snprintf(command, sizeof command, "%s %s --frames 0:%d --thickness %g %s", SINEW_CROSSINGS, SINEW_TEST_DIR, frames,
             scene->thickness, scene->referee);
    FILE *referee = popen(command, "r");
    assert_non_null(referee);
    int lines = 0;
    for (; fgets(line, sizeof line, referee); lines++)
        take_line(line, scene->thickness, solved, f);
    const int status = pclose(referee);
    if (lines < frames || status < 0)
        fail_msg("the referee judged %d of %d frames: %s", lines, frames, command);
}

/* ---- A run ------------------------------------------------------------------------------------- */

static double weight_of(sinew_world *world)
{
    sinew_measures m;
    assert_int_equal(sinew_world_measure(world, &m), SINEW_OK);
    return 9.81 * m.mass;
}

static void take_end(sinew_world *world, const sinew_real *q, const sinew_real *late, const sinew_contact_report *last,
                     findings *f)
{
    const int32_t n = sinew_world_particle_count(world);
    for (int32_t i = 0; i < n; i++) {
        double square = 0;
        for (int c = 0; c < 3; c++)
            square += pow((double)q[3 * i + c] - (double)late[3 * i + c], 2);
        f->moved = fmax(f->moved, sqrt(square));
        f->height += (double)q[3 * i + 1] / n;
    }
    f->filtered_residual = last->filtered_residual / weight_of(world);
}

/* Steps the twin without contact and compares positions until it has fallen by `drop`. Contacts without force may
 * change round-off only. Returns whether it is still falling. */
static bool step_twin(const sinew_world *world, sinew_world *twin, double drop, findings *f)
{
    const double round_off = sizeof(sinew_real) == 4 ? 2e-5 : 1e-9; /* m */
    sinew_real *p = positions_of(twin);
    const double height = (double)p[1];
    free(p);
    sinew_world_step(twin, NULL);
    sinew_real *q = positions_of(world);
    p = positions_of(twin);
    f->fallen += height - (double)p[1];
    double max = 0;
    for (int32_t i = 0; i < 3 * sinew_world_particle_count(world); i++)
        max = fmax(max, fabs((double)q[i] - (double)p[i]));
    free(q);
    free(p);
    f->fall += f->fallen < drop && !(max <= round_off);
    return f->fallen < drop;
}

/* Steps a world and, until the first contact, its twin without contact. */
static sinew_contact_report step_both(sinew_world *world, sinew_world **twin, double drop, bool *solved, findings *f)
{
    sinew_error error = {0};
    sinew_contact_report report;
    const uint32_t bits = sinew_world_step(world, NULL);
    f->failed += (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)) != 0;
    f->truncated += (bits & SINEW_STEP_TRUNCATED) != 0;
    *solved = !(bits & (SINEW_STEP_NOT_CONVERGED | SINEW_STEP_CONTACT | SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED));
    f->solved += *solved;
    if (bits & SINEW_STEP_UNPREPARED)
        print_message("  unprepared: %s\n", sinew_world_error(world));
    if (sinew_world_contact_report(world, &report, &error) != SINEW_OK)
        report = (sinew_contact_report){.contacts = 1};
    if (*twin && step_twin(world, *twin, drop, f))
        return report;
    sinew_world_destroy(*twin);
    *twin = NULL;
    return report;
}

/* Runs the steps; `judged`: writes all frames and checks them for intersections. */
static findings go(const run *r, int max_iterations, int frames, int seconds, bool judged)
{
    findings f = {0};
    sinew_world *world = make_run(r, max_iterations, true);
    sinew_world *twin = judged && tight_scenes[r->scene].drop > 0 ? make_run(r, max_iterations, false) : NULL;
    const int32_t n = sinew_world_particle_count(world);
    sinew_mesh *surface = surface_of(world);
    sinew_real *q = positions_of(world), *late = positions_of(world);
    bool *solved = make_array((size_t)frames + 1, sizeof *solved);
    sinew_contact_report report = {0};
    if (judged)
        write_frame(surface, q, 0);
    const clock_t start = clock();
    for (int i = 1; i <= frames && f.failed == 0 && f.seconds < seconds; i++) {
        report = step_both(world, &twin, tight_scenes[r->scene].drop, &solved[i], &f);
        sinew_world_get_positions(world, 0, n, q);
        if (i == frames - frames / 10)
            memcpy(late, q, 3 * (size_t)n * sizeof *q);
        if (judged)
            write_frame(surface, q, i);
        f.frames = i;
        f.seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    }
    take_end(world, q, late, &report, &f);
    if (judged && f.failed == 0)
        ask_referee(&tight_scenes[r->scene], f.frames, solved, &f);
    free(q);
    free(late);
    free(solved);
    sinew_mesh_destroy(surface);
    sinew_world_destroy(world);
    sinew_world_destroy(twin);
    return f;
}

/* ---- The test ---------------------------------------------------------------------------------- */

/* At 50 iterations: compares with a converged newton, once for each scene, time step and stiffness. */
static void compare_with_newton(const run *r, int frames, const findings *f, findings references[TIGHT_SCENES][9])
{
    findings *reference = &references[r->scene][3 * r->h + r->E];
    const run newton = {0, r->scene, 0, r->h, r->E};
    if (reference->seconds == 0)
        *reference = go(&newton, 200, frames, SECONDS, false);
    if (reference->frames < frames)
        return;                                  /* newton exceeded the time limit */
    const double low = r->scene == 0 ? -0.4 : 0; /* m: height of the floor */
    const double height = f->height - low, wanted = reference->height - low;
    print_message("    %s: moves %.2g m in the end (newton %.2g), filtered residual %.2g of the weight, mean height "
                  "%.4f m (newton "
                  "%.4f, %+.1f %%)\n",
                  f->moved < 1e-3 ? "at rest" : "not at rest", f->moved, reference->moved, f->filtered_residual,
                  f->height, reference->height, 100 * (height - wanted) / fabs(wanted));
}

static bool judge(int number, const run *r, int frames, findings references[TIGHT_SCENES][9])
{
    const tight_scene *scene = &tight_scenes[r->scene];
    const bool whole = frames == FRAMES;
    const findings f = go(r, iterations[r->iterations], frames, whole ? SECONDS : SAMPLE_SECONDS, true);
    print_message(
        "%3d %-6s %-5s %2d iterations h 1/%-3.0f E %-5.0g: %d crossings, %d of %d steps solved, violation %.2g "
        "there, %.2g anywhere, %d held back, %.1f s%s%s%s\n",
        number, sinew_get_solver_info(solvers[r->solver])->name, scene->name, iterations[r->iterations],
        1 / time_steps[r->h], moduli[r->E], f.crossings, f.solved, f.frames, f.violation, f.worst, f.truncated,
        f.seconds, f.failed ? " FAILED" : "", f.fall ? " NO FREE FALL" : "",
        f.violation > MAX_VIOLATION ? " TOO NEAR" : "");
    fflush(stdout);
    const bool compared = iterations[r->iterations] == 50 && f.frames == FRAMES && scene->drop > 0;
    if (compared)
        compare_with_newton(r, frames, &f, references);
    /* With enough iterations the step filter carries no weight at the end. */
    const bool light = !compared || f.filtered_residual <= MAX_FILTERED_RESIDUAL;
    return f.crossings == 0 && f.failed == 0 && f.fall == 0 && f.violation <= MAX_VIOLATION && light;
}

static void test_nothing_crosses(void **state)
{
    (void)state;
    static findings references[TIGHT_SCENES][9];
    run runs[RUNS];
    make_matrix(runs);
    const char *one = getenv("SINEW_RUN");
    random_cases draw = random_cases_begin("no crossing", SAMPLE, RUNS);
    const bool all = draw.count == RUNS;
    int bad = 0;
    for (int i = 0; i < draw.count; i++) {
        const int number = one ? atoi(one) : all ? i : random_index(&draw, RUNS);
        bad += !judge(number, &runs[number], all || one ? FRAMES : SAMPLE_FRAMES, references);
        if (one)
            break;
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_occurs),
        cmocka_unit_test(test_nothing_crosses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
