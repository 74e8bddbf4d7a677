/* SPDX-License-Identifier: MIT
 *
 * test_app.c: the command as a person meets it: exit status, what it prints where, the files it leaves. Each test
 * starts the program, in a scratch folder.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "sinew/scene.h"

#define SCENES SINEW_SOURCE_DIR "/scenes"

enum {
    ARGUMENT_MAX = 32,
    TEXT_MAX = 65536
};

/* What one run of the program left. */
typedef struct outcome {
    int status; /* exit status, or -signal */
    char out[TEXT_MAX], err[TEXT_MAX];
} outcome;

static const char *scratch(const char *name)
{
    static char path[4][1024];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", SINEW_TEST_DIR, name);
    return path[turn];
}

static size_t read_text(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    text[length] = '\0';
    if (file)
        fclose(file);
    return length;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Starts the program in the scratch folder; words are separated by single spaces. */
static pid_t start(const char *program, const char *words, rlim_t largest_file)
{
    static char line[4096];
    char *argv[ARGUMENT_MAX] = {(char *)program};
    int count = 1;
    snprintf(line, sizeof line, "%s", words);
    for (char *word = strtok(line, " "); word && count < ARGUMENT_MAX - 1; word = strtok(NULL, " "))
        argv[count++] = word;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0)
        return child;
    int out = open(scratch("stdout.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    int err = open(scratch("stderr.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    struct rlimit limit = {largest_file, largest_file};
    if (chdir(SINEW_TEST_DIR) != 0 || (largest_file && setrlimit(RLIMIT_FSIZE, &limit) != 0))
        _exit(99);
    setenv("SINEW_SCENES", SCENES, 1);
    /* Many tests share the processors: threads that wait must not spin. */
    execv(program, argv);
    _exit(98);
}

static outcome finish(pid_t child)
{
    static outcome result;
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    read_text(scratch("stdout.txt"), result.out, TEXT_MAX);
    read_text(scratch("stderr.txt"), result.err, TEXT_MAX);
    return result;
}

static outcome sinew(const char *words)
{
    return finish(start(SINEW_COMMAND, words, 0));
}

static void expect(const outcome *o, int status, const char *words)
{
    if (o->status != status)
        fail_msg("sinew %s: exit %d, expected %d\n%s%s", words, o->status, status, o->out, o->err);
}

static int count_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static off_t size_of(const char *name)
{
    struct stat facts;
    return stat(scratch(name), &facts) == 0 ? facts.st_size : -1;
}

/* How many files of a folder have a name with `part` in it. */
static int count_files(const char *folder, const char *part)
{
    DIR *stream = opendir(scratch(folder));
    int count = 0;
    for (struct dirent *entry; stream && (entry = readdir(stream));)
        count += entry->d_name[0] != '.' && strstr(entry->d_name, part) != NULL;
    if (stream)
        closedir(stream);
    return count;
}

static void remove_files(const char *folder)
{
    DIR *stream = opendir(scratch(folder));
    for (struct dirent *entry; stream && (entry = readdir(stream));) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", scratch(folder), entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (stream)
        closedir(stream);
}

/* ---- Help ------------------------------------------------------------------------------------ */

static void test_help_and_version(void **state)
{
    (void)state;
    static const char *const lines[] = {"--help", "run --help", "info --help", "mesh --help"};
    for (int i = 0; i < 4; i++) {
        outcome o = sinew(lines[i]);
        expect(&o, 0, lines[i]);
        assert_non_null(strstr(o.out, "usage:"));
        assert_true(strstr(o.out, "Example: sinew") || strstr(o.out, "For a start:"));
        assert_string_equal(o.err, "");
    }
    outcome o = sinew("--version");
    expect(&o, 0, "--version");
    assert_string_equal(o.out, "sinew " SINEW_VERSION " (" SINEW_PRECISION ")\n");
}

/* ---- Wrong command lines --------------------------------------------------------------------- */

static void test_wrong_command_lines(void **state)
{
    (void)state;
    write_text(scratch("bad.json"), "{\n\"sinew\": 1,\n\"bodis\": []}");
    write_text(scratch("plain"), "a file");
    static const struct {
        const char *words, *fragment;
    } cases[] = {
        {"", "needs a command"},
        {"rnu", "unknown command \"rnu\"; did you mean \"run\"?"},
        {"xyzzy", "unknown command \"xyzzy\"; see sinew --help"},
        {"run", "needs a scene"},
        {"run a b", "takes one scene"},
        {"run nowhere", "nowhere: no such scene"},
        {"run nowhere.json", "no such scene"},
        {"run bad.json", "bad.json:3: bodis: unknown key \"bodis\" in the scene; did you mean \"bodies\"?"},
        {"run twist --sovler newton", "unknown option --sovler; did you mean --solver?"},
        {"run twist --frames", "--frames needs a value: --frames N"},
        {"run twist --frames many", "--frames: \"many\" is not a whole number"},
        {"run twist --frames -1", "--frames: \"-1\" is not a whole number"},
        {"run twist --frames 1 --frames 2", "--frames is given twice"},
        {"run twist --tolerance nan", "--tolerance: \"nan\" is not a number"},
        {"run twist --solver newtn", "--solver: unknown solver \"newtn\"; did you mean \"newton\"?"},
        {"run twist --format vtk", "--format: unknown format \"vtk\"; known are pc2, obj"},
        {"run twist --quiet=1", "--quiet takes no value"},
        {"run twist -q", "unknown option -q"},
        {"run twist --set frames", "--set frames: expected KEY=VALUE"},
        {"run twist --set bodies.0.energies.0.yuong=1", "did you mean \"young\"?"},
        {"run twist --set bodies.0.density=-1", "--set bodies.0.density=-1: is -1 kg/m3, must be > 0"},
        {"run twist --out plain/x --frames 1", "plain/x: cannot make this folder"},
        {"run twist --resume plain --frames 1", "plain"},
        {"run twist --resume nowhere.bin", "nowhere.bin"},
        {"run twist --precision half", "--precision: \"half\" is neither single nor double"},
        {"run twist --precision", "--precision needs a value"},
        {"info solver", "unknown topic \"solver\"; did you mean \"solvers\"?"},
        {"info solvers energies", "takes one topic"},
        {"info mesh", "needs one file"},
        {"info mesh nowhere.msh", "nowhere.msh"},
        {"info --hlep", "did you mean --help?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        outcome o = sinew(cases[i].words);
        expect(&o, 2, cases[i].words);
        if (!strstr(o.err, cases[i].fragment) || strncmp(o.err, "sinew", 5) != 0)
            fail_msg("sinew %s says %s, expected %s", cases[i].words, o.err, cases[i].fragment);
        assert_int_equal(count_lines(o.err), 1);
        assert_string_equal(o.out, "");
    }
}

/* ---- Run ------------------------------------------------------------------------------------- */

static void test_run_writes_every_format(void **state)
{
    (void)state;
    remove_files("all");
    outcome o = sinew("run torus --threads 1 --frames 2 --out all --format pc2,obj --format vtu,gltf --format=csv");
    expect(&o, 0, "run torus");
    assert_string_equal(o.err, "");
    assert_int_equal(count_lines(o.out), 1);
    static const char *const said[] = {"torus: 0.02 s simulated, 2 steps of newton",
                                       "residual",
                                       "relative",
                                       "), gap ",
                                       "status ok",
                                       "s a step",
                                       "in all:",
                                       "Blender",
                                       "ParaView",
                                       "metrics.csv",
                                       "state.bin"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (!strstr(o.out, said[i]))
            fail_msg("\"%s\" is not in: %s", said[i], o.out);
    static const char *const files[] = {"torus.pc2",      "torus.obj",      "torus.0000.obj", "torus.0002.obj",
                                        "torus.0000.vtu", "torus.0002.vtu", "torus.pvd",      "torus.glb",
                                        "torus.csv",      "metrics.csv",    "state.bin"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "all/%s", files[i]);
        if (size_of(name) <= 0)
            fail_msg("%s was not written", name);
    }
    assert_int_equal(count_files("all", ".partial"), 0);
    assert_int_equal(count_files("all", "torus.0003"), 0);
}

static void test_metrics_have_their_columns(void **state)
{
    (void)state;
    outcome o = sinew("run swinging_rope --threads 1 --frames 2 --format none --out metrics --quiet");
    expect(&o, 0, "run swinging_rope");
    assert_string_equal(o.out, "");
    char text[TEXT_MAX];
    read_text(scratch("metrics/metrics.csv"), text, sizeof text);
    const char *head = "solver,step,iteration,seconds,objective,inertia,elastic,residual,relative_error,"
                       "linear_momentum,angular_momentum\n";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    int steps = 0, rows = 0, last_step = 0;
    double first = 0;
    for (char *line = strtok(text + strlen(head), "\n"); line; line = strtok(NULL, "\n"), rows++) {
        char solver[16];
        int step, iteration;
        double n[7];
        int read = sscanf(line, "%15[^,],%d,%d,%lf,%lf,%lf,%lf,%lf,,%lf,%lf", solver, &step, &iteration, &n[0], &n[1],
                          &n[2], &n[3], &n[4], &n[5], &n[6]);
        assert_int_equal(read, 10);
        assert_string_equal(solver, "newton");
        /* Rows count on from 0 within a step, and the objective is the sum of its terms. */
        assert_int_equal(iteration == 0, step != last_step);
        assert_true(n[1] - n[2] - n[3] < 1e-5 * (1 + n[1]) && n[1] - n[2] - n[3] > -1e-5 * (1 + n[1]));
        /* Every iteration ends nearer to the minimum than the step began. */
        assert_true(iteration == 0 || n[4] < first);
        first = iteration == 0 ? n[4] : first;
        steps += iteration == 0;
        last_step = step;
    }
    assert_int_equal(steps, 8);
    assert_in_range(rows, 16, 400);
}

static void test_resume_comes_to_the_same_bits(void **state)
{
    (void)state;
    remove_files("whole");
    remove_files("rest");
    const char *lines[] = {"run twist --threads 1 --frames 6 --format csv --out whole",
                           "run twist --threads 1 --frames 3 --format none --out half",
                           "run twist --threads 2 --frames 6 --format csv --out rest --resume half/state.bin"};
    for (int i = 0; i < 3; i++) {
        outcome o = sinew(lines[i]);
        expect(&o, 0, lines[i]);
    }
    static char whole[1 << 20], rest[1 << 20];
    size_t size = read_text(scratch("whole/state.bin"), whole, sizeof whole);
    assert_true(size > 1000 && size < sizeof whole - 1);
    assert_int_equal(read_text(scratch("rest/state.bin"), rest, sizeof rest), size);
    assert_memory_equal(whole, rest, size);
    /* There is nothing left to do after the end. */
    outcome o = sinew("run twist --frames 6 --resume rest/state.bin --out rest");
    expect(&o, 2, "run --resume at the end");
    assert_non_null(strstr(o.err, "it is at frame 6 and the run ends with frame 6; raise --frames"));
}

static void test_unmet_tolerance_is_said(void **state)
{
    (void)state;
    outcome o = sinew("run twist --threads 1 --frames 1 --iterations 1 --tolerance 1e-9 --format none --out unmet");
    expect(&o, 1, "run --iterations 1");
    assert_non_null(strstr(o.out, "not_converged"));
    assert_true(size_of("unmet/state.bin") > 0);
}

static void test_non_finite_is_said(void **state)
{
    (void)state;
#ifdef SINEW_SINGLE
    const char *speed = "1e38";
#else
    const char *speed = "1e300";
#endif
    char text[512];
    snprintf(text, sizeof text,
             "{\"sinew\": 1, \"time_step\": 1000, \"frames\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"box\", "
             "\"vertices\": [2, 2, 2]}, \"energies\": [{\"energy\": \"neo_hookean\"}], \"initial\": {\"velocity\": "
             "[%s, 0, 0], \"angular_velocity\": [0, %s, 0]}}]}",
             speed, speed);
    write_text(scratch("fast.json"), text);
    outcome o = sinew("run fast.json --format none --out fast");
    expect(&o, 3, "run fast.json");
    assert_non_null(strstr(o.err, "became non-finite"));
    assert_int_equal(count_lines(o.err), 1);
}

/* ---- Trouble with files ---------------------------------------------------------------------- */

static void test_full_disk_leaves_nothing(void **state)
{
    (void)state;
    static const char *const formats[] = {"pc2", "obj", "vtu", "gltf", "csv", "none"};
    for (int i = 0; i < 6; i++) {
        char words[256];
        remove_files("full");
        snprintf(words, sizeof words, "run torus --threads 1 --frames 2 --out full --format %s", formats[i]);
        outcome o = finish(start(SINEW_COMMAND, words, 1100)); /* 1024 an OpenMP runtime takes for itself */
        expect(&o, 2, words);
        assert_int_equal(count_lines(o.err), 1);
        if (!strstr(o.err, "File too large"))
            fail_msg("%s: %s", formats[i], o.err);
        if (count_files("full", "") != 0)
            fail_msg("%s left %d files in a full folder", formats[i], count_files("full", ""));
    }
}

static void test_standard_output_that_is_full(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(open("/dev/full", O_WRONLY), STDOUT_FILENO);
        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        execl(SINEW_COMMAND, "sinew", "info", "energies", (char *)NULL);
        _exit(98);
    }
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(WEXITSTATUS(status), 2);
}

static void test_interrupt_finishes_the_step(void **state)
{
    (void)state;
    remove_files("stopped");
    pid_t child = start(SINEW_COMMAND, "run swinging_rope --threads 1 --frames 1000000 --format csv --out stopped", 0);
    /* Its files grow once it steps. */
    struct timespec pause = {0, 20000000};
    for (int i = 0; i < 500 && size_of("stopped/metrics.csv.partial") < 8192; i++)
        nanosleep(&pause, NULL);
    kill(child, SIGINT);
    outcome o = finish(child);
    expect(&o, 130, "run, interrupted");
    assert_non_null(strstr(o.out, "interrupted, swinging_rope:"));
    assert_true(size_of("stopped/metrics.csv") > 0 && size_of("stopped/swinging_rope.csv") > 0);
    assert_int_equal(count_files("stopped", ".partial"), 0);
    assert_true(size_of("stopped/state.bin") > 0);
}

/* ---- Precision ------------------------------------------------------------------------------- */

static void test_other_precision(void **state)
{
    (void)state;
    const char *other = strcmp(SINEW_PRECISION, "double") == 0 ? "single" : "double";
    char words[64], sibling[1024], expected[64];
    snprintf(words, sizeof words, "--precision %s --version", other);
    snprintf(expected, sizeof expected, "sinew " SINEW_VERSION " (%s)\n", other);
    snprintf(sibling, sizeof sibling, "%s", SINEW_COMMAND);
    strcpy(strrchr(sibling, '/') + 1, strcmp(other, "single") == 0 ? "sinew-single" : "sinew");
    if (access(sibling, X_OK) == 0) {
        outcome o = sinew(words);
        expect(&o, 0, words);
        assert_string_equal(o.out, expected);
    }
    /* Alone in a folder there is no sibling. */
    mkdir(scratch("alone"), 0777);
    unlink(scratch("alone/sinew-alone"));
    assert_int_equal(link(SINEW_COMMAND, scratch("alone/sinew-alone")), 0);
    outcome o = finish(start(scratch("alone/sinew-alone"), words, 0));
    expect(&o, 2, words);
    assert_non_null(strstr(o.err, "`make` builds it, or install it beside this program"));
    snprintf(words, sizeof words, "--version --precision=%s", SINEW_PRECISION);
    o = finish(start(scratch("alone/sinew-alone"), words, 0));
    expect(&o, 0, words);
}

/* ---- Info ------------------------------------------------------------------------------------ */

static void test_info_names_everything(void **state)
{
    (void)state;
    outcome o = sinew("info");
    expect(&o, 0, "info");
    assert_non_null(strstr(o.out, SINEW_PRECISION));
    assert_non_null(strstr(o.out, sinew_lanes_name()));
    o = sinew("info energies");
    expect(&o, 0, "info energies");
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++) {
        const sinew_energy_info *info = sinew_get_energy_info((sinew_energy_kind)kind);
        assert_non_null(strstr(o.out, info->name));
        for (int32_t i = 0; i < info->parameter_count; i++)
            assert_non_null(strstr(o.out, info->parameters[i].meaning));
    }
    o = sinew("info solvers");
    expect(&o, 0, "info solvers");
    for (int solver = 0; solver < SINEW_SOLVER_COUNT; solver++)
        assert_non_null(strstr(o.out, sinew_get_solver_info((sinew_solver_kind)solver)->name));
    for (int kind = 0; kind < SINEW_ENERGY_COUNT; kind++)
        assert_non_null(strstr(o.out, sinew_get_energy_info((sinew_energy_kind)kind)->name));
    o = sinew("info scenes");
    expect(&o, 0, "info scenes");
    assert_non_null(strstr(o.out, "twist_release"));
    assert_null(strstr(o.out, ".json:"));
    o = sinew("info mesh " SCENES "/meshes/bracket.msh");
    expect(&o, 0, "info mesh");
    assert_non_null(strstr(o.out, "vertices   201"));
    o = sinew("info schema");
    expect(&o, 0, "info schema");
    assert_non_null(strstr(o.out, "json-schema.org"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_help_and_version),
        cmocka_unit_test(test_wrong_command_lines),
        cmocka_unit_test(test_run_writes_every_format),
        cmocka_unit_test(test_metrics_have_their_columns),
        cmocka_unit_test(test_resume_comes_to_the_same_bits),
        cmocka_unit_test(test_unmet_tolerance_is_said),
        cmocka_unit_test(test_non_finite_is_said),
        cmocka_unit_test(test_full_disk_leaves_nothing),
        cmocka_unit_test(test_standard_output_that_is_full),
        cmocka_unit_test(test_interrupt_finishes_the_step),
        cmocka_unit_test(test_other_precision),
        cmocka_unit_test(test_info_names_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
