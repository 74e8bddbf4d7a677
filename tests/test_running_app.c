/* SPDX-License-Identifier: MIT
 *
 * test_running_app.c: a run under way is looked at with `sinew info run` and `sinew render`, again and again. Both say
 * how far it is and show complete frames; the run ends with the bytes of a run that nobody looked at. A killed run is
 * not called running.
 */
#include "app_fixture.h"

static const char scene_text[] =
    "{\"sinew\": 1, \"time_step\": 0.01, \"steps_per_frame\": 2, \"frames\": 60, \"solver\": {\"name\": \"newton\", "
    "\"tolerance\": 1e-3, \"measure\": \"residual\"}, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": "
    "[14, 5, 5], \"size\": [3, "
    "0.75, "
    "0.75]}, \"energies\": [{\"energy\": \"neo_hookean\", \"young\": \"100 kPa\", \"poisson\": 0.4}], \"pins\": "
    "[{\"select\": {\"half_space\": {\"point\": [-1.5, 0, 0], \"normal\": [-1, 0, 0]}}}]}]}";

/* Starts a run and waits for its first checkpoint. */
static pid_t start_run(const char *words)
{
    static char summary[TEXT_MAX];
    const pid_t child = start(SINEW_COMMAND, words, 0);
    for (int i = 0; i < 6000; i++) {
        read_text(scratch("watched/summary.json"), summary, sizeof summary);
        if (strstr(summary, "\"status\": \"running\""))
            break;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return child;
}

static bool is_over(pid_t child, int *status)
{
    return waitpid(child, status, WNOHANG) == child;
}

/* Looks once with both commands. Returns true if the run was said to be running. Near the end of the run files get
 * their final names between the steps of a look: render may then find no cache, and says so. */
static bool look(int *rendered)
{
    outcome o = sinew("info run watched");
    expect(&o, 0, "info run watched");
    const bool running = strstr(o.out, "running, step ") && strstr(o.out, " of 120");
    o = sinew("render watched --size 32x24 --samples 1 --out look.png");
    if (o.status != 0 && o.status != 2)
        expect(&o, 0, "render watched");
    if (o.status == 2 && count_lines(o.err) > 2)
        fail_msg("render of a running run says %s", o.err);
    *rendered += o.status == 0;
    return running;
}

static void watch_format(const char *format)
{
    char words[256];
    int status = 0, looks = 0, running = 0, rendered = 0;
    snprintf(words, sizeof words, "run watched.json --threads 1 --quiet --overwrite --format %s --out alone", format);
    const int expected = sinew(words).status; /* 1: a step is not solved to its tolerance, which does not matter here */
    assert_in_range(expected, 0, 1);
    remove_files("watched");
    snprintf(words, sizeof words, "run watched.json --threads 1 --quiet --checkpoint 0 --format %s --out watched",
             format);
    const pid_t child = start_run(words);
    for (; !is_over(child, &status); looks++)
        running += look(&rendered);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == expected);
    assert_true(same_results("alone", "watched"));
    print_message("%s: %d looks, %d while running, %d pictures\n", format, looks, running, rendered);
    assert_true(running > 0 && rendered > 0);
}

static void watched_runs(void **state)
{
    (void)state;
    static const char *const formats[] = {"pc2", "csv", "npy", "obj", "vtu"};
    write_text(scratch("watched.json"), scene_text);
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        watch_format(formats[i]);
}

static void killed_run(void **state)
{
    (void)state;
    write_text(scratch("watched.json"), scene_text);
    remove_files("watched");
    const pid_t child = start_run("run watched.json --threads 1 --quiet --frames 9000 --out watched");
    kill(child, SIGKILL);
    finish(child);
    outcome o = sinew("info run watched");
    expect(&o, 0, "info run watched");
    assert_non_null(strstr(o.out, "killed (or running on another machine), step "));
    assert_null(strstr(o.out, "status     running"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(watched_runs), cmocka_unit_test(killed_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
