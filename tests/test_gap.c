/* SPDX-License-Identifier: MIT
 *
 * test_gap.c: the reported optimality gap of a step against minima of an independent method, for random scenes and
 * every solver.
 *
 * A case is one step of a random scene (random_scene.h) by a random solver. The true gap is g at the end of the step
 * less the local minimum below. For springs the minimum comes from a Newton's method in long double (spring_referee.h);
 * for solids, from the library's Newton and quasi-Newton methods in double, run to convergence on the step's objective.
 * If g has several local minima, both may end in different ones; the gap must be right for one of them.
 * The reported position error is compared with the distance from the end of the step to the same minima.
 *
 * The single build writes its cases to a file, and the double build of this program checks them with its smaller
 * round-off (SINEW_GAP_CASES names the file).
 */
#include "random_cases.h"
#include "recorded_step.h"

#include <sys/wait.h>
#include <unistd.h>

/* A true gap below this fraction of the step's decrease needs only to be reported as that small. */
#define SMALL_DOUBLE 1e-9
#define SMALL_SINGLE 1e-4

#if !defined(SINEW_SINGLE) || !defined(SINEW_REFEREE)
/* ---- Classification ---------------------------------------------------------------------------- */

typedef enum verdict {
    RIGHT, /* within a factor of 2, or small and reported as small */
    BELOW, /* correctly reported as below a round-off that is not small */
    NEAR,  /* within a factor of 10 */
    WRONG,
    UNKNOWN, /* no gap reported, and no tet inverted */
    UNKNOWN_INVERTED,
    NO_STEP,  /* step not finite, or refused */
    UNJUDGED, /* no reference found a minimum */
    RESULT_COUNT
} verdict;

static verdict compare_gap(const recorded_step *t, double truth, const minima *all)
{
    const double small = fmax((t->single ? SMALL_SINGLE : SMALL_DOUBLE) * all->fall, all->noise);
    if (truth <= small && t->gap <= 2 * small)
        return RIGHT;
    if (t->kind == SINEW_GAP_BELOW)
        return truth <= 2 * t->gap ? (t->gap <= 2 * small ? RIGHT : BELOW) : WRONG;
    const double ratio = t->gap / truth;
    return ratio >= 0.5 && ratio <= 2 ? RIGHT : ratio >= 0.1 && ratio <= 10 ? NEAR : WRONG;
}

/* The best classification over the references; later references run only if the first disagrees. */
static verdict judge(const drawn_scene *d, const recorded_step *t, minima *truth)
{
    if (t->bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED))
        return NO_STEP;
    if (t->kind == SINEW_GAP_UNKNOWN)
        return t->inverted > 0 ? UNKNOWN_INVERTED : UNKNOWN;
    verdict best = UNJUDGED;
    for (int referee = 0; referee < REFEREES && best != RIGHT; referee++) {
        const int count = truth->count;
        find_minimum(d, t, referee, truth);
        if (truth->count > count) {
            const verdict now = compare_gap(t, truth->gap[count], truth);
            best = best == UNJUDGED || now < best ? now : best;
        }
    }
    return best;
}

/* The position error against one minimum; NEAR: within a factor of 5. */
static verdict compare_position(const drawn_scene *d, const recorded_step *t, double truth)
{
    const double small = (t->single ? 1e-6 : 1e-12) * d->size, ratio = t->position_error / truth;
    if (truth <= small && t->position_error <= 3 * small)
        return RIGHT;
    if (t->position_kind == SINEW_GAP_BELOW)
        return truth <= 2 * t->position_error ? BELOW : WRONG;
    return ratio >= 0.5 && ratio <= 2 ? RIGHT : ratio >= 0.2 && ratio <= 5 ? NEAR : WRONG;
}

/* The best classification over the minima that the references found for the gap. */
static verdict judge_position(const drawn_scene *d, const recorded_step *t, const minima *truth)
{
    if (t->position_kind == SINEW_GAP_UNKNOWN)
        return t->inverted > 0 ? UNKNOWN_INVERTED : UNKNOWN;
    verdict best = UNJUDGED;
    for (int i = 0; i < truth->count; i++) {
        const verdict now = compare_position(d, t, truth->distance[i]);
        best = best == UNJUDGED || now < best ? now : best;
    }
    return best;
}

/* ---- The table ------------------------------------------------------------------------------- */

typedef struct tally {
    int32_t position[RESULT_COUNT]; /* classifications of the position error, of all solvers */
    int32_t of[SINEW_SOLVER_COUNT][RESULT_COUNT];
    int32_t not_solved; /* steps that were reported solved and are not */
} tally;

static void print_case(const drawn_scene *d, const recorded_step *t, const minima *truth, const char *word)
{
    printf("  %s: gap %.3e, true", word, t->gap);
    for (int i = 0; i < truth->count; i++)
        printf(" %.3e", truth->gap[i]);
    printf(" of %.3e, noise %.1e, kind %d, steps %d, inverted %d, bits %x, %.1f + %.1f ms: ", truth->fall, truth->noise,
           (int)t->kind, (int)t->steps, (int)t->inverted, (unsigned)t->bits, t->milliseconds, t->gap_milliseconds);
    print_scene(d);
    printf(" %s\n", t->reason);
    fflush(stdout);
}

static void judge_case(const drawn_scene *d, const recorded_step *t, tally *table)
{
    static const char *const words[] = {NULL,      "below",   "near", "WRONG", "unknown", "unknown, inverted",
                                        "no step", "unjudged"};
    minima truth = {.fall = 0};
    const verdict v = judge(d, t, &truth);
    table->of[d->solver][v]++;
    if (words[v])
        print_case(d, t, &truth, words[v]);
    if (v != NO_STEP) {
        const verdict p = judge_position(d, t, &truth);
        table->position[p]++;
        if (p == NEAR || p == WRONG) {
            printf("  position error %.3e m, true %.3e: ", t->position_error, truth.distance[0]);
            print_case(d, t, &truth, words[p]);
        }
    }
    if ((t->bits & ~(uint32_t)SINEW_STEP_INVERTED) == 0 && truth.count > 0 && is_far(&truth)) {
        table->not_solved++;
        print_case(d, t, &truth, "told solved");
    }
}

static int32_t sum_of(const tally *t, int solver, verdict v)
{
    int32_t sum = 0;
    for (int s = 0; s < SINEW_SOLVER_COUNT; s++)
        sum += solver < 0 || s == solver ? t->of[s][v] : 0;
    return sum;
}

/* The number of steps with a reported gap and a reference. */
static int32_t judged(const tally *t, int solver)
{
    return sum_of(t, solver, RIGHT) + sum_of(t, solver, BELOW) + sum_of(t, solver, NEAR) + sum_of(t, solver, WRONG);
}

static void print_table(const tally *t)
{
    printf("%-8s %7s %9s %9s %9s %8s %18s %8s %9s\n", "solver", "known", "within 2", "below", "within 10", "unknown",
           "unknown, inverted", "no step", "unjudged");
    for (int s = -1; s < SINEW_SOLVER_COUNT; s++)
        printf("%-8s %7d %7.1f %% %7.1f %% %7.1f %% %8d %18d %8d %9d\n",
               s < 0 ? "all" : sinew_get_solver_info((sinew_solver_kind)s)->name, (int)judged(t, s),
               100.0 * sum_of(t, s, RIGHT) / fmax(1, judged(t, s)), 100.0 * sum_of(t, s, BELOW) / fmax(1, judged(t, s)),
               100.0 * (1 - sum_of(t, s, WRONG) / fmax(1, judged(t, s))), (int)sum_of(t, s, UNKNOWN),
               (int)sum_of(t, s, UNKNOWN_INVERTED), (int)sum_of(t, s, NO_STEP), (int)sum_of(t, s, UNJUDGED));
}

/* Fractions that hold for hundreds of cases; a small sample may miss a few more by chance. In single precision stiff
 * springs and stiffness contrasts are often lost in round-off: more gaps are unknown, and one bound in a few hundred is
 * wrong. */
static void check_table(const tally *t, int32_t cases, bool single)
{
    const int32_t spare = cases < 200 ? 3 : 1;
    for (int s = 0; s < SINEW_SOLVER_COUNT; s++)
        if (judged(t, s) - sum_of(t, s, RIGHT) - sum_of(t, s, BELOW) > 0.05 * judged(t, s) + spare)
            fail_msg("%s: the gap is within 2 of the truth in %d of %d",
                     sinew_get_solver_info((sinew_solver_kind)s)->name, (int)sum_of(t, s, RIGHT), (int)judged(t, s));
    /* One wrong gap in 990 is known: a share of the nightly cases may draw it. */
    assert_true(sum_of(t, -1, WRONG) <= fmax(1, (single ? 0.01 : 0.002) * cases) + (spare > 1 ? 2 : 0));
    const int32_t upright = cases - sum_of(t, -1, UNKNOWN_INVERTED) - sum_of(t, -1, NO_STEP);
    /* The number of unknown ones in a small sample spreads by the root of its mean. */
    const double limit = (single ? 0.12 : 0.05) * upright;
    assert_true(sum_of(t, -1, UNKNOWN) <= limit + (cases < 200 ? 3 * sqrt(limit) : spare));
    assert_true(t->not_solved <= (spare > 1));
    const int32_t *p = t->position, known = p[RIGHT] + p[BELOW] + p[NEAR] + p[WRONG];
    printf("position error: %d known, within 2 %d, below %d, within 5 %d, worse %d; unknown %d, inverted %d\n", known,
           p[RIGHT], p[BELOW], p[NEAR], p[WRONG], p[UNKNOWN], p[UNKNOWN_INVERTED]);
    assert_true(p[NEAR] + p[WRONG] <= 0.1 * known + spare);
    /* Single precision hides soft modes of stiff springs: 6 of 609 were wrong, 104 of 711 unknown. */
    assert_true(p[WRONG] <= (single ? 0.02 : 0.01) * known + spare);
    const double hidden = (single ? 0.2 : 0.1) * upright;
    assert_true(p[UNKNOWN] <= hidden + (cases < 200 ? 3 * sqrt(hidden) : spare));
}
#endif

#if defined(SINEW_SINGLE) && defined(SINEW_REFEREE)
/* Runs the double build's program on the file. */
static int ask_double_build(const char *path, uint64_t seed)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
    const pid_t child = fork();
    if (child == 0) {
        setenv("SINEW_GAP_CASES", path, 1);
        setenv("SINEW_SEED", text, 1);
        execl(SINEW_REFEREE, SINEW_REFEREE, (char *)NULL);
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void gaps_are_true(void **state)
{
    (void)state;
    const char *path = SINEW_TEST_DIR "/gap_cases.bin";
    random_cases r = random_cases_begin("gaps_are_true", 60, 600);
    const uint64_t seed = r.state;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (int32_t i = 0; i < r.count; i++) {
        const drawn_scene d = draw_scene(&r);
        recorded_step t = take_steps(&d);
        assert_true(pass_case(file, true, &t));
        recorded_free(&t);
    }
    assert_int_equal(fclose(file), 0);
    assert_int_equal(ask_double_build(path, seed), 0);
    remove(path);
}
#else
static void gaps_are_true(void **state)
{
    (void)state;
    const char *path = getenv("SINEW_GAP_CASES");
    random_cases r = random_cases_begin(path ? "gaps_are_true, of the single build" : "gaps_are_true", 60, 600);
    FILE *file = path ? fopen(path, "rb") : NULL;
    tally table = {0};
    for (int32_t i = 0; i < r.count; i++) {
        const drawn_scene d = draw_scene(&r);
        recorded_step t = {0};
        if (file)
            assert_true(pass_case(file, false, &t));
        else
            t = take_steps(&d);
        judge_case(&d, &t, &table);
        recorded_free(&t);
    }
    if (file)
        fclose(file);
    print_table(&table);
    check_table(&table, r.count, path != NULL);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gaps_are_true)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
