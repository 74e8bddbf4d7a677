/* SPDX-License-Identifier: MIT
 *
 * test_memory_limit_app.c: under any limit of address space (RLIMIT_AS, `ulimit -v`) the command ends with exit status
 * 2 and one line, and the library with SINEW_ERROR_MEMORY. No process hangs or is killed by a signal. Limits, solvers
 * and scenes are drawn at random; `make nightly` covers all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random_cases.h"
#include "sinew/sinew.h"

enum {
    LIMIT_MIN = 40, /* MB */
    LIMIT_MAX = 1000,
    STRIDE = 20,
    LIMITS = (LIMIT_MAX - LIMIT_MIN) / STRIDE + 1,
    SIZES = 2,
#ifdef SINEW_SANITIZED
    SANITIZED = true, /* sanitizers reserve terabytes of address space */
#else
    SANITIZED = false,
#endif
    PATIENCE = 240 /* s that one run may take on a busy machine before it counts as hanging */
};

/* Vertices along each edge of the two blocks: a small one, and one large enough that every stage can run out of memory.
 */
static const int sides[SIZES] = {5, 20};

static void write_scene(int side, char *path, size_t size)
{
    snprintf(path, size, SINEW_TEST_DIR "/block_%d.json", side);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"sinew\": 1, \"time_step\": 0.01, \"frames\": 1, \"bodies\": [{\"density\": 1000,"
            " \"mesh\": {\"generator\": \"box\", \"vertices\": [%d, %d, %d]},"
            " \"energies\": [{\"energy\": \"strain\", \"stiffness\": 1e5}],"
            " \"pins\": [{\"select\": {\"half_space\": {\"point\": [0, 0.999, 0], \"normal\": [0, 1, 0]}}}]}]}\n",
            side, side, side);
    assert_int_equal(fclose(file), 0);
}

/* ---- Runs under a limit ------------------------------------------------------------------------ */

static void limit_memory(long megabytes)
{
    const struct rlimit limit = {(rlim_t)megabytes << 20, (rlim_t)megabytes << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        _exit(99);
}

/* Returns the exit status of a child, or minus the number of its signal; kills a child that does not end. */
static int wait_for(pid_t child)
{
    int status = 0;
    for (int tenths = 0; waitpid(child, &status, WNOHANG) == 0; tenths++) {
        if (tenths == 100 * PATIENCE) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return -1000;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int run_command(long megabytes, char **argv)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return wait_for(child);
    const int out = open(SINEW_TEST_DIR "/out.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int err = open(SINEW_TEST_DIR "/err.txt", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    limit_memory(megabytes);
    execv(SINEW_COMMAND, argv);
    _exit(127); /* the status of a shell if the loader lacks memory */
}

static void read_errors(char *text, size_t size)
{
    FILE *file = fopen(SINEW_TEST_DIR "/err.txt", "r");
    assert_non_null(file);
    const size_t read = fread(text, 1, size - 1, file);
    text[read] = '\0';
    fclose(file);
}

static void expect_end(int status, long megabytes, const char *what)
{
    char errors[2000];
    read_errors(errors, sizeof errors);
    const char *end = strchr(errors, '\n');
    /* 1: the run did not converge within its iterations. */
    const bool ran = status == 0 || status == 1 || status == 127;
    const bool refused = status == 2 && end && end[1] == '\0' && strstr(errors, "memory");
    if (!ran && !refused)
        fail_msg("%ld MB, %s: exit %d\n%s", megabytes, what, status, errors);
}

/* Constraint systems: factorising all tets of a block as constraints takes minutes, so the tets remain an energy. */
static bool takes_rows(sinew_solver_kind kind)
{
    return sinew_solver_parameter(kind, "constraints") >= 0;
}

static int run_solver(long megabytes, sinew_solver_kind kind, int size)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    char path[500], what[600];
    write_scene(sides[size], path, sizeof path);
    char *argv[] = {"sinew",
                    "run",
                    path,
                    "--solver",
                    (char *)info->name,
                    "--iterations",
                    "2",
                    "--format",
                    "vtu",
                    "--out",
                    SINEW_TEST_DIR "/limited",
                    "--set",
                    info->static_only ? "quasistatic=true" : "quasistatic=false",
                    takes_rows(kind) ? "--set" : NULL,
                    "solver.constraints=hard",
                    NULL};
    assert_int_equal(system("rm -rf '" SINEW_TEST_DIR "/limited'"), 0);
    const int status = run_command(megabytes, argv);
    snprintf(what, sizeof what, "run block_%d.json --solver %s", sides[size], info->name);
    expect_end(status, megabytes, what);
    return status;
}

/* ---- The command ------------------------------------------------------------------------------- */

static void every_limit_ends_well(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("memory limits", 12, LIMITS * SINEW_SOLVER_COUNT * SIZES);
    const bool all = r.count > LIMITS;
    int ends[3] = {0};
    for (int i = 0; i < r.count; i++) {
        const int k = all ? i : random_index(&r, LIMITS * SINEW_SOLVER_COUNT * SIZES);
        const long megabytes =
            all ? LIMIT_MIN + STRIDE * (k % LIMITS) : (long)random_magnitude(&r, LIMIT_MIN, LIMIT_MAX);
        const int status = run_solver(megabytes, (sinew_solver_kind)(k / LIMITS % SINEW_SOLVER_COUNT),
                                      k / LIMITS / SINEW_SOLVER_COUNT);
        ends[status == 127 ? 2 : status == 2]++;
    }
    printf("%d runs: %d ran, %d refused for want of memory, %d not even loaded\n", r.count, ends[0], ends[1], ends[2]);
}

static void help_needs_little(void **state)
{
    (void)state;
    char *argv[] = {"sinew", "--help", NULL};
    for (long megabytes = LIMIT_MIN; megabytes <= LIMIT_MAX; megabytes += STRIDE)
        expect_end(run_command(megabytes, argv), megabytes, "--help");
}

/* With enough memory the run succeeds: only the limits above cause refusals. */
static void with_enough_it_runs(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("solvers with enough memory", 5, SINEW_SOLVER_COUNT);
    const int first = random_index(&r, SINEW_SOLVER_COUNT);
    for (int i = first; i < first + r.count; i++)
        assert_in_range(run_solver(4000, (sinew_solver_kind)(i % SINEW_SOLVER_COUNT), 1), 0, 1);
}

/* ---- The library ------------------------------------------------------------------------------- */

static sinew_world *make_world(sinew_solver_kind kind, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.thread_count = 3;
    def.solver = sinew_default_solver_def(kind);
    def.solver.iterations = 2;
    if (takes_rows(kind))
        def.solver.parameters[sinew_solver_parameter(kind, "constraints")] = 1;
    def.quasistatic = sinew_get_solver_info(kind)->static_only;
    sinew_box_def box = sinew_default_box_def();
    for (int c = 0; c < 3; c++)
        box.vertices[c] = sides[1];
    sinew_mesh *mesh = sinew_mesh_box(&box, error);
    sinew_world *world = mesh ? sinew_world_create(&def, error) : NULL;
    sinew_body_def body = sinew_default_body_def();
    body.mesh = mesh;
    sinew_energy_def energy = sinew_default_energy_def(SINEW_ENERGY_STRAIN);
    sinew_pin_def pin = sinew_default_pin_def();
    const int32_t corners[] = {0, 1, 2, 1000};
    pin.vertices = corners;
    pin.vertex_count = 4;
    bool good = world != NULL;
    if (good) {
        energy.body = pin.body = sinew_world_add_body(world, &body, error);
        good = energy.body.index >= 0 && sinew_world_add_energy(world, &energy, error).index >= 0 &&
               sinew_world_add_pins(world, &pin, error).index >= 0;
    }
    sinew_mesh_destroy(mesh);
    if (good)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

/* Steps in a child with `megabytes` more than its current size. Returns 0 on success, 2 for SINEW_ERROR_MEMORY, else an
 * error. */
static int step_in_child(sinew_solver_kind kind, long megabytes)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return wait_for(child);
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;
    if (!file || fscanf(file, "%ld", &pages) != 1)
        _exit(98);
    fclose(file);
    limit_memory(megabytes + (pages * sysconf(_SC_PAGESIZE) >> 20));
    sinew_error error = {0};
    sinew_world *world = make_world(kind, &error);
    if (!world)
        _exit(error.status == SINEW_ERROR_MEMORY ? 2 : 50);
    const sinew_status status = sinew_world_prepare(world, &error);
    const uint32_t bits = sinew_world_step(world, NULL);
    sinew_world_destroy(world);
    if (status == SINEW_OK)
        _exit(bits & SINEW_STEP_UNPREPARED ? 51 : 0);
    /* A step after a failure tries again, and may succeed with memory freed meanwhile. */
    _exit(status == SINEW_ERROR_MEMORY ? 2 : 52);
}

static void the_library_says_memory(void **state)
{
    (void)state;
    random_cases r = random_cases_begin("memory of worlds", 12, 200);
    int ends[2] = {0};
    for (int i = 0; i < r.count; i++) {
        const sinew_solver_kind kind = (sinew_solver_kind)random_index(&r, SINEW_SOLVER_COUNT);
        const long megabytes = (long)random_magnitude(&r, 1, 300);
        const int status = step_in_child(kind, megabytes);
        if (status != 0 && status != 2)
            fail_msg("%s with %ld MB more: %d", sinew_get_solver_info(kind)->name, megabytes, status);
        ends[status == 2]++;
    }
    printf("%d worlds: %d stepped, %d refused for want of memory\n", r.count, ends[0], ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_needs_little),
        cmocka_unit_test(with_enough_it_runs),
        cmocka_unit_test(every_limit_ends_well),
        cmocka_unit_test(the_library_says_memory),
    };
    return SANITIZED ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
