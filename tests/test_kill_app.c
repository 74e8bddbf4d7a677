/* SPDX-License-Identifier: MIT
 *
 * test_kill_app.c: runs that are stopped with SIGTERM or killed with SIGKILL at random moments, some of them twice, and
 * then resumed. Files and state must equal those of an uninterrupted run byte for byte, except for times.
 *
 * Moments are drawn over the whole life of a process. Half of them are drawn from its first and last fifth: reading the
 * scene, ordering, creating the files; the last checkpoint, closing the files. Checkpoints follow every frame, so that
 * many kills hit a checkpoint that is being written.
 */
#include "app_fixture.h"
#include "random_cases.h"

enum {
    PATIENCE = 120 /* s after which a process counts as hanging */
};

static const char scene_text[] =
    "{\"sinew\": 1, \"time_step\": 0.01, \"steps_per_frame\": 2, \"frames\": 10, \"solver\": {\"name\": \"newton\", "
    "\"tolerance\": 1e-3}, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [10, 3, 3], \"size\": [3, "
    "0.75, "
    "0.75]}, \"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"100 kPa\", \"poisson\": 0.4}], \"pins\": "
    "[{\"select\": {\"half_space\": {\"point\": [-1.5, 0, 0], \"normal\": [-1, 0, 0]}}}]}]}";

/* Two boxes that fall on each other and on a floor: contacts begin, end and carry forces at every checkpoint. */
static const char contact_text[] =
    "{\"sinew\": 1, \"time_step\": 0.01, \"steps_per_frame\": 3, \"frames\": 10, \"solver\": {\"name\": \"newton\", "
    "\"tolerance\": 0.3}, \"contact\": {\"thickness\": 0.01, \"friction\": 0.4}, \"colliders\": [{\"shape\": "
    "\"plane\"}], \"bodies\": ["
    "{\"mesh\": {\"generator\": \"beam\", \"cells\": [4, 3, 3], \"size\": [0.5, 0.4, 0.4]}, \"transform\": "
    "{\"translate\": [0, 0.23, 0]}, \"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"100 kPa\", "
    "\"poisson\": 0.3}]}, "
    "{\"mesh\": {\"generator\": \"beam\", \"cells\": [2, 2, 2], \"size\": [0.3, 0.3, 0.3]}, \"transform\": "
    "{\"translate\": [0.1, 0.62, 0.05]}, \"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"50 kPa\", "
    "\"poisson\": 0.3}]}]}";

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void wait_for(double seconds)
{
    struct timespec pause = {(time_t)seconds, (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&pause, NULL);
}

/* Waits for the process; a process that does not end is killed, and the test fails. */
static outcome finish_in_time(pid_t child)
{
    siginfo_t facts;
    for (const double began = now(); now() - began < PATIENCE; wait_for(0.001)) {
        facts.si_pid = 0;
        assert_int_equal(waitid(P_PID, (id_t)child, &facts, WEXITED | WNOHANG | WNOWAIT), 0);
        if (facts.si_pid == child)
            return finish(child);
    }
    kill(child, SIGKILL);
    finish(child);
    fail_msg("a run did not end within %d s", PATIENCE);
    return (outcome){0};
}

/* A random moment: from the whole life of the process, or from its beginning or end. */
static double draw_moment(random_cases *cases, double life)
{
    const int part = random_index(cases, 4);
    const double low = part == 3 ? 0.8 : 0, high = part == 2 ? 0.2 : 1.05;
    return life * random_between(cases, low, high);
}

typedef struct plan {
    const char *format;
    double life;            /* s, duration of an undisturbed run */
    int kills, early, late; /* all kills; those before the first and after the last checkpoint */
} plan;

static void command_line(const plan *p, const char *folder, bool resume, char *words, size_t size)
{
    snprintf(words, size, "run killed.json --threads 1 --record --quiet --checkpoint 0 %s %s%s%s",
             resume ? "--resume" : "--out", folder, resume ? "" : " --format ", resume ? "" : p->format);
}

/* A kill may come between the end of summary.json and the exit: the resumed run then has nothing left and exits 0. */
static bool is_over(const outcome *o)
{
    return o->status == 0;
}

/* Starts or resumes a run and stops it at a random moment; returns true if the run ended before. */
static bool start_and_stop(plan *p, random_cases *cases)
{
    char words[256];
    const bool resume = size_of("killed/state.bin") >= 0;
    command_line(p, "killed", resume, words, sizeof words);
    const int number = random_index(cases, 2) ? SIGTERM : SIGKILL;
    const double moment = draw_moment(cases, p->life);
    pid_t child = start(SINEW_COMMAND, words, 0);
    wait_for(moment);
    kill(child, number);
    outcome o = finish_in_time(child);
    if (is_over(&o))
        return true;
    p->kills++;
    p->early += size_of("killed/state.bin") < 0;
    p->late += size_of("killed/metrics.csv") >= 0;
    const bool stopped = o.status == -number || (number == SIGTERM && o.status == 128 + SIGTERM);
    if (!stopped)
        fail_msg("sinew %s, %s after %g s: exit %d\n%s", words, number == SIGTERM ? "SIGTERM" : "SIGKILL", moment,
                 o.status, o.err);
    return false;
}

/* Resumes the run to its end, from any state that the kill left. */
static void go_on(const plan *p)
{
    char words[256];
    command_line(p, "killed", size_of("killed/state.bin") >= 0, words, sizeof words);
    outcome o = finish_in_time(start(SINEW_COMMAND, words, 0));
    if (!is_over(&o))
        expect(&o, 0, words);
}

static void kill_scene(const char *format, const char *text)
{
    plan p = {.format = format};
    char words[256], whole[32];
    random_cases cases = random_cases_begin(format, 6, 200);
#ifdef SINEW_SANITIZED
    cases.count = cases.count < 3 ? cases.count : 3;
#endif
    snprintf(whole, sizeof whole, "whole_%s", format);
    write_text(scratch("killed.json"), text);
    command_line(&p, whole, false, words, sizeof words);
    const double began = now();
    for (int i = 0; i < 3; i++) {
        remove_files(whole);
        outcome o = finish_in_time(start(SINEW_COMMAND, words, 0));
        expect(&o, 0, words);
    }
    p.life = (now() - began) / 3;
    int32_t runs = 0;
    /* Kills after the end of a run do not count; the bound on runs ends the loop on a machine that has become faster.
     */
    for (; p.kills < cases.count && runs < 3 * cases.count; runs++) {
        const uint64_t seed = cases.state;
        remove_files("killed");
        bool done = start_and_stop(&p, &cases);
        if (!done && random_index(&cases, 3) == 0)
            done = start_and_stop(&p, &cases);
        if (!done)
            go_on(&p);
        if (!same_results(whole, "killed"))
            fail_msg("%s: case %d (state %llu) is not as if it had not been killed", format, (int)runs,
                     (unsigned long long)seed);
    }
    print_message(
        "%s: %d runs of %.2g s, %d stops (%d before the first checkpoint, %d when files were closed), all as if "
        "undisturbed\n",
        format, (int)runs, p.life, p.kills, p.early, p.late);
}

static void kill_format(const char *format)
{
    kill_scene(format, scene_text);
}

static void test_contact(void **state)
{
    (void)state;
    kill_scene("npy", contact_text);
}

static void test_pc2(void **state)
{
    (void)state;
    kill_format("pc2");
}

static void test_obj(void **state)
{
    (void)state;
    kill_format("obj");
}

static void test_vtu(void **state)
{
    (void)state;
    kill_format("vtu");
}

static void test_gltf(void **state)
{
    (void)state;
    kill_format("gltf");
}

static void test_csv(void **state)
{
    (void)state;
    kill_format("csv");
}

static void test_npy(void **state)
{
    (void)state;
    kill_format("npy");
}

static void test_usda(void **state)
{
    (void)state;
    kill_format("usda");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pc2),  cmocka_unit_test(test_obj),     cmocka_unit_test(test_vtu),
        cmocka_unit_test(test_gltf), cmocka_unit_test(test_csv),     cmocka_unit_test(test_npy),
        cmocka_unit_test(test_usda), cmocka_unit_test(test_contact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
