/* SPDX-License-Identifier: MIT
 *
 * test_error_draws.c: the reported position error and `ok` of random draws of (scene, solver, precision), every third
 * with contact, against referees in double and long double.
 *
 * Draws without contact are steps of random_scene.h by each implicit solver in turn, draws with contact those of
 * contact_cases.h by each solver of contact in turn; half of both are steps of the single build. The double build draws
 * all of them, runs the single build of this program for its share (SINEW_ERROR_DRAWS names the file of their steps),
 * and finds the minima of all (recorded_step.h, contact_cases.h).
 *
 * Some draws of single precision whose error was unknown once are judged in every run.
 */
#include "contact_cases.h"
#include "random_cases.h"

#include <sys/wait.h>
#include <unistd.h>

#define SINGLE (sizeof(sinew_real) == 4)

typedef struct error_draw {
    bool contact, single;
    drawn_scene scene; /* without contact */
    touch_case touch;  /* with contact */
} error_draw;

static bool accepts(sinew_solver_kind kind, const drawn_scene *d)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    return sinew_solver_accepts(kind, d->energy, NULL, 0) && (d->h > 0 ? !info->static_only : info->quasistatic);
}

/* The i-th solver that minimises the objective, in turn. */
static sinew_solver_kind implicit_solver(int32_t i)
{
    sinew_solver_kind implicit[SINEW_SOLVER_COUNT];
    int32_t count = 0;
    for (int s = 0; s < SINEW_SOLVER_COUNT; s++)
        if (!sinew_get_solver_info((sinew_solver_kind)s)->explicit_step)
            implicit[count++] = (sinew_solver_kind)s;
    return implicit[i % count];
}

static error_draw draw_error(random_cases *r, int32_t i)
{
    error_draw d = {.contact = i % 3 == 2, .single = random_index(r, 2)};
    if (d.contact) {
        d.touch = draw_touch(r);
        d.touch.solver = touch_solvers[i / 3 % TOUCH_SOLVERS];
        return d;
    }
    const sinew_solver_kind solver = implicit_solver(i - i / 3);
    do
        d.scene = draw_scene(r);
    while (!accepts(solver, &d.scene));
    d.scene.solver = solver;
    return d;
}

static sinew_solver_kind solver_of(const error_draw *d)
{
    return d->contact ? d->touch.solver : d->scene.solver;
}

static recorded_step run_draw(const error_draw *d)
{
    return d->contact ? take_touch_steps(&d->touch) : take_steps(&d->scene);
}

/* Draws of single precision with seed 101 whose error was unknown: round-off was not measured (55, 147), slopes at the
 * ends of a searched step did not show its decrease (61), the way down ended at a saddle (80, 168), and multipliers
 * settled to round-off (182) or by searched steps (425). */
static const int32_t kept_draws[] = {55, 61, 80, 147, 168, 182, 425};
enum {
    KEPT_SEED = 101,
    KEPT_COUNT = sizeof kept_draws / sizeof kept_draws[0]
};

static error_draw kept_draw(int k)
{
    random_cases r = {.state = KEPT_SEED};
    for (int32_t i = 0; i < kept_draws[k]; i++)
        draw_error(&r, i);
    const error_draw d = draw_error(&r, kept_draws[k]);
    assert_true(d.single);
    return d;
}

/* ---- Steps of the single build ----------------------------------------------------------------- */

static void write_step(const error_draw *d, FILE *file)
{
    recorded_step t = run_draw(d);
    assert_true(pass_case(file, true, &t));
    recorded_free(&t);
}

/* Writes the steps of the kept draws, then those of the drawn cases of single precision, to the file that the double
 * build names. */
static void write_single_steps(random_cases *r, const char *path)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int k = 0; k < KEPT_COUNT; k++) {
        const error_draw d = kept_draw(k);
        write_step(&d, file);
    }
    for (int32_t i = 0; i < r->count; i++) {
        const error_draw d = draw_error(r, i);
        if (d.single)
            write_step(&d, file);
    }
    assert_int_equal(fclose(file), 0);
}

#ifdef SINEW_SINGLE_BUILD
/* Runs the single build of this program with the same seed; its output is not of interest unless it fails. */
static FILE *run_single_build(const char *path, uint64_t seed)
{
    char text[32];
    int status = -1;
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        setenv("SINEW_ERROR_DRAWS", path, 1);
        setenv("SINEW_SEED", text, 1);
        execl(SINEW_SINGLE_BUILD, SINEW_SINGLE_BUILD, (char *)NULL);
        _exit(127);
    }
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    return file;
}
#else
static FILE *run_single_build(const char *path, uint64_t seed)
{
    (void)path;
    (void)seed;
    return NULL;
}
#endif

/* ---- Judgement --------------------------------------------------------------------------------- */

typedef enum verdict {
    RIGHT,    /* reported error within a factor of 2 of the true one, or both at the round-off of positions */
    BOUND,    /* an upper bound was reported, and holds */
    NEAR,     /* reported error or violated bound within a factor of 5 of the true error */
    WRONG,    /* reported error more than a factor of 5 from the true one */
    UNKNOWN,  /* no position error reported */
    NO_STEP,  /* step not finite, or refused */
    UNJUDGED, /* no referee converged */
    VERDICT_COUNT
} verdict;

static const char *const verdict_names[] = {"within 2", "bound holds", "within 5", "worse",
                                            "unknown",  "no step",     "unjudged"};

static verdict compare(const recorded_step *t, double truth, double size)
{
    const double small = (t->single ? 1e-6 : 1e-12) * size, ratio = t->position_error / truth;
    if (truth <= small && t->position_error <= 3 * small)
        return RIGHT;
    if (t->position_kind == SINEW_GAP_BELOW)
        return truth <= t->position_error ? BOUND : truth <= 5 * t->position_error ? NEAR : WRONG;
    return ratio >= 0.5 && ratio <= 2 ? RIGHT : ratio >= 0.2 && ratio <= 5 ? NEAR : WRONG;
}

static bool is_ok(const recorded_step *t)
{
    return (t->bits & ~(uint32_t)SINEW_STEP_INVERTED) == 0;
}

/* Runs the referees until one confirms the report: g may have several minima. */
static verdict judge(const error_draw *d, const recorded_step *t, minima *truth)
{
    const int referees = d->contact ? 1 : REFEREES;
    verdict best = UNJUDGED;
    if (t->bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
        return NO_STEP;
    if (t->position_kind == SINEW_GAP_UNKNOWN && !is_ok(t))
        return UNKNOWN;
    for (int referee = 0; referee < referees && best != RIGHT; referee++) {
        const int count = truth->count;
        if (d->contact)
            find_touch_end(&d->touch, t, truth);
        else
            find_minimum(&d->scene, t, referee, truth);
        if (truth->count == count)
            continue;
        const verdict now = compare(t, truth->distance[count], recorded_size(t, 0));
        best = best == UNJUDGED || now < best ? now : best;
    }
    return t->position_kind == SINEW_GAP_UNKNOWN ? UNKNOWN : best;
}

/* One line of the table: all draws, or those with and without contact of one precision. */
typedef struct error_tally {
    int32_t of[VERDICT_COUNT];
    int32_t ok, ok_wrong; /* `ok` steps that a referee judged; farther away than three times the accuracy */
} error_tally;

static int32_t known(const error_tally *t)
{
    return t->of[RIGHT] + t->of[BOUND] + t->of[NEAR] + t->of[WRONG];
}

static void print_draw(int32_t index, const error_draw *d, const recorded_step *t, const minima *truth,
                       const char *word)
{
    printf("  %d %s: %s %.3e m, true", (int)index, word, t->single ? "single" : "double", t->position_error);
    for (int i = 0; i < truth->count; i++)
        printf(" %.3e", truth->distance[i]);
    printf(", bits %x: ", (unsigned)t->bits);
    if (d->contact)
        print_touch(&d->touch);
    else
        print_scene(&d->scene);
    printf(": %s\n", t->position_reason);
    fflush(stdout);
}

static void judge_draw(int32_t index, const error_draw *d, const recorded_step *t, error_tally *line)
{
    minima truth = {.fall = 0};
    const verdict v = judge(d, t, &truth);
    line->of[v]++;
    if (v != RIGHT)
        print_draw(index, d, t, &truth, verdict_names[v]);
    if (is_ok(t) && truth.count > 0) {
        line->ok++;
        line->ok_wrong += is_far(&truth);
        if (is_far(&truth))
            print_draw(index, d, t, &truth, "ok is WRONG");
    }
}

/* ---- The table --------------------------------------------------------------------------------- */

#define LINES 5
static const char *const line_names[LINES] = {"double", "single", "double, contact", "single, contact", "all"};

static void print_lines(const error_tally lines[LINES])
{
    printf("%-16s %6s %6s", "position error", "draws", "known");
    for (int v = 0; v < VERDICT_COUNT; v++)
        printf(" %11s", verdict_names[v]);
    printf(" %6s %9s\n", "ok", "ok wrong");
    for (int i = 0; i < LINES; i++) {
        int32_t draws = 0;
        for (int v = 0; v < VERDICT_COUNT; v++)
            draws += lines[i].of[v];
        printf("%-16s %6d %6d", line_names[i], (int)draws, (int)known(&lines[i]));
        for (int v = 0; v < VERDICT_COUNT; v++)
            printf(" %11d", (int)lines[i].of[v]);
        printf(" %6d %9d\n", (int)lines[i].ok, (int)lines[i].ok_wrong);
    }
}

static void add_lines(error_tally lines[LINES])
{
    error_tally *all = &lines[LINES - 1];
    for (int i = 0; i < LINES - 1; i++) {
        for (int v = 0; v < VERDICT_COUNT; v++)
            all->of[v] += lines[i].of[v];
        all->ok += lines[i].ok;
        all->ok_wrong += lines[i].ok_wrong;
    }
}

/* A count that a fraction of many cases allows in a sample: counts spread by the root of their mean. */
static double limit(double fraction, int32_t count)
{
    return fraction * count + 3 * sqrt(fraction * count);
}

static void check_lines(const error_tally lines[LINES], int32_t draws)
{
    const error_tally *all = &lines[LINES - 1];
    assert_true(all->of[NEAR] + all->of[WRONG] <= limit(0.1, known(all)));
    assert_true(all->of[WRONG] <= limit(0.01, known(all)) + 1);
    assert_true(all->ok_wrong <= limit(0.01, all->ok) + 1);
    assert_true(all->of[UNKNOWN] <= limit(0.1, draws));
}

/* The kept draws are known and right. Other SIMD widths and compilers round differently: one of them may be unknown. */
static void check_kept(FILE *file)
{
    error_tally line = {0};
    for (int k = 0; k < KEPT_COUNT; k++) {
        const error_draw d = kept_draw(k);
        recorded_step t = {0};
        assert_true(pass_case(file, false, &t));
        judge_draw(kept_draws[k], &d, &t, &line);
        recorded_free(&t);
    }
    assert_true(line.of[RIGHT] + line.of[BOUND] >= KEPT_COUNT - 1);
    assert_int_equal(line.of[WRONG], 0);
}

/* Judges all draws; file (may be NULL: draws of single precision are left out) has the steps of the single build. */
static void judge_all(random_cases *r, FILE *file, error_tally lines[LINES])
{
    int32_t of_solver[SINEW_SOLVER_COUNT] = {0};
    for (int32_t i = 0; i < r->count; i++) {
        const error_draw d = draw_error(r, i);
        recorded_step t = {0};
        if (d.single && !file)
            continue;
        if (d.single)
            assert_true(pass_case(file, false, &t));
        else
            t = run_draw(&d);
        of_solver[solver_of(&d)]++;
        judge_draw(i, &d, &t, &lines[2 * d.contact + d.single]);
        recorded_free(&t);
    }
    add_lines(lines);
    for (int s = 0; s < SINEW_SOLVER_COUNT; s++)
        if (of_solver[s] > 0) {
            printf("%s %d, ", sinew_get_solver_info((sinew_solver_kind)s)->name, (int)of_solver[s]);
            assert_true(!file || r->count < 500 || of_solver[s] >= 20);
        }
    printf("draws by solver\n");
}

static void errors_are_true(void **state)
{
    (void)state;
    const char *path = getenv("SINEW_ERROR_DRAWS"), *own = SINEW_TEST_DIR "/error_draws.bin";
    random_cases r = random_cases_begin("errors_are_true", 45, 500);
    if (path) {
        write_single_steps(&r, path);
        return;
    }
    if (SINGLE) {
        printf("the double build of this test runs the single one\n");
        return;
    }
    error_tally lines[LINES] = {0};
    FILE *file = run_single_build(own, r.state);
    if (file)
        check_kept(file);
    judge_all(&r, file, lines);
    print_lines(lines);
    check_lines(lines, r.count);
    if (file)
        fclose(file);
    remove(own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_true)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
