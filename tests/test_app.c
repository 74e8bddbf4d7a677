/* SPDX-License-Identifier: MIT
 *
 * test_app.c: the command `sinew` as a user meets it: exit status, standard output, standard error and written files.
 * Each test starts the program in a scratch folder.
 */
#include "app_fixture.h"

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

/* The library, its headers and the build (SINEW_BUILD_VERSION) agree. */
static void test_version(void **state)
{
    (void)state;
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%d.%d.%d", SINEW_VERSION_MAJOR, SINEW_VERSION_MINOR, SINEW_VERSION_PATCH);
    assert_string_equal(sinew_version(), numbers);
    assert_string_equal(sinew_version(), SINEW_VERSION);
    assert_string_equal(sinew_version(), SINEW_BUILD_VERSION);
}

/* ---- Scenes from any folder ------------------------------------------------------------------ */

/* Runs the command in the scratch folder, which has no scenes, without SINEW_SCENES. */
static outcome sinew_from_elsewhere(const char *program, const char *words)
{
    return finish(start_with_scenes(program, words, 0, NULL));
}

static void test_scenes_from_any_folder(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "run cantilever --frames 1 --out found_a --overwrite --quiet",
        "run cantilever.json --frames 1 --out found_b --overwrite --quiet",
        "run scenes/cantilever.json --frames 1 --out found_c --overwrite --quiet",
        "mesh check scenes/meshes/bean.obj",
        "info mesh scenes/meshes/bean.obj",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        outcome o = sinew_from_elsewhere(SINEW_COMMAND, lines[i]);
        expect(&o, 0, lines[i]);
    }
    outcome o = sinew_from_elsewhere(SINEW_COMMAND, "info scenes");
    expect(&o, 0, "info scenes");
    assert_non_null(strstr(o.out, "/share/sinew/scenes:\n"));
    assert_non_null(strstr(o.out, "\ncantilever "));
}

/* A scene in the current folder takes precedence over the product's scene of the same name. */
static void test_own_scenes_come_first(void **state)
{
    (void)state;
    mkdir(scratch("scenes"), 0777);
    write_text(scratch("scenes/cantilever.json"), "{\"sinew\": 1, \"own\": 1}");
    outcome o = sinew_from_elsewhere(SINEW_COMMAND, "run cantilever --frames 1");
    unlink(scratch("scenes/cantilever.json"));
    rmdir(scratch("scenes"));
    expect(&o, 2, "run cantilever");
    assert_non_null(strstr(o.err, "scenes/cantilever.json"));
    assert_non_null(strstr(o.err, "unknown key \"own\""));
}

/* Paths outside scenes/ are used literally, and the error message lists the searched folders. */
static void test_missing_scene_names_the_folders(void **state)
{
    (void)state;
    static const char *const words[] = {"run no_such", "run scenes/no_such.json", "run other/cantilever.json"};
    for (int i = 0; i < 3; i++) {
        outcome o = sinew_from_elsewhere(SINEW_COMMAND, words[i]);
        expect(&o, 2, words[i]);
        assert_non_null(strstr(o.err, "no such scene"));
        assert_non_null(strstr(o.err, "Looked for the file and in scenes, /"));
        assert_non_null(strstr(o.err, "/share/sinew/scenes, /"));
        assert_int_equal(count_lines(o.err), 1);
    }
}

/* A copy of the command in PREFIX/bin finds PREFIX/share/sinew/scenes for any PREFIX. */
static void test_installed_scenes(void **state)
{
    (void)state;
    char line[4096];
    snprintf(line, sizeof line,
             "cd '%s' && rm -rf prefix && mkdir -p prefix/bin prefix/share/sinew/scenes && cp '%s' "
             "prefix/bin/sinew && cp '%s/cantilever.json' prefix/share/sinew/scenes/moved.json",
             SINEW_TEST_DIR, SINEW_COMMAND, SCENES);
    assert_int_equal(system(line), 0);
    outcome o = sinew_from_elsewhere(scratch("prefix/bin/sinew"), "run moved --frames 1 --out found_d --overwrite");
    expect(&o, 0, "run moved");
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
        {"run twsit", "twsit: no such scene; did you mean \"twist\"?"},
        {"render hangin_cloth.json", "hangin_cloth.json: no such scene; did you mean \"hanging_cloth\"?"},
        {"run bad.json", "bad.json:3: bodis: unknown key \"bodis\" in the scene; did you mean \"bodies\"?"},
        {"run twist --sovler newton", "unknown option --sovler; did you mean --solver?"},
        {"run twist --frames", "--frames needs a value: --frames N"},
        {"run twist --frames many", "--frames: \"many\" is not a whole number"},
        {"run twist --frames -1", "--frames: \"-1\" is not a whole number"},
        {"run twist --frames 1 --frames 2", "--frames is given twice"},
        {"run twist --tolerance nan", "--tolerance: \"nan\" is not a number"},
        {"run twist --solver newtn", "--solver: unknown solver \"newtn\"; did you mean \"newton\"?"},
        {"run twist --format vtk", "--format: unknown format \"vtk\"; did you mean \"vtu\"?"},
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
        {"run ragdoll --solver admm", "admm cannot take joint: it has no proximal map; use xpbd, pbd"},
        {"compare ragdoll --solvers scd", "the reference is always newton: newton cannot keep"},
        {"info solver", "unknown topic \"solver\"; did you mean \"solvers\"?"},
        {"info solvers energies", "takes one topic"},
        {"info energies --all", "--all is for solvers"},
        {"info mesh", "needs one FILE: sinew info mesh FILE"},
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

/* Renamed keys have no alias: the message has the line and the current name. */
static void test_renamed_keys(void **state)
{
    (void)state;
    static const char *const keys[][2] = {
        {"guard", "intersection_free"}, {"rounds", "multiplier_interval"}, {"epochs", "max_detections"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char text[200], expected[200];
        snprintf(text, sizeof text, "{\n\"sinew\": 1,\n\"contact\": {\n\"%s\": 1},\n\"bodies\": []}", keys[i][0]);
        snprintf(expected, sizeof expected,
                 "old.json:4: contact.%s: unknown key \"%s\" in contact; did you mean \"%s\"?", keys[i][0], keys[i][0],
                 keys[i][1]);
        write_text(scratch("old.json"), text);
        outcome o = sinew("run old.json");
        expect(&o, 2, keys[i][0]);
        if (!strstr(o.err, expected))
            fail_msg("the key %s is refused by %s, expected %s", keys[i][0], o.err, expected);
        assert_int_equal(count_lines(o.err), 1);
    }
}

/* ---- File errors ----------------------------------------------------------------------------- */

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
    /* Copied alone to a folder, the command has no sibling of the other precision. */
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

/* The list omits expert parameters but counts them; `--all` lists them. */
static void test_expert_parameters(const char *listed)
{
    char all[65536], line[256];
    int experts = 0;
    const outcome o = sinew("info solvers --all");
    expect(&o, 0, "info solvers --all");
    snprintf(all, sizeof all, "%s", o.out);
    assert_non_null(strstr(listed, "expert parameters: --all"));
    for (int solver = 0; solver < SINEW_SOLVER_COUNT; solver++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)solver);
        for (int32_t i = 0; i < info->parameter_count; i++) {
            snprintf(line, sizeof line, "\n    %-18s ", info->parameters[i].name);
            assert_non_null(strstr(all, line));
            if (!info->parameters[i].expert)
                assert_non_null(strstr(listed, line));
            experts += info->parameters[i].expert;
        }
    }
    assert_true(experts > 0 && strstr(all, "(expert)") && !strstr(listed, "(expert)"));
}

static void test_info_names_everything(void **state)
{
    (void)state;
    outcome o = sinew("info");
    expect(&o, 0, "info");
    assert_non_null(strstr(o.out, SINEW_PRECISION));
    assert_non_null(strstr(o.out, sinew_simd_name()));
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
    test_expert_parameters(o.out);
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
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_scenes_from_any_folder),
        cmocka_unit_test(test_own_scenes_come_first),
        cmocka_unit_test(test_missing_scene_names_the_folders),
        cmocka_unit_test(test_installed_scenes),
        cmocka_unit_test(test_wrong_command_lines),
        cmocka_unit_test(test_renamed_keys),
        cmocka_unit_test(test_standard_output_that_is_full),
        cmocka_unit_test(test_other_precision),
        cmocka_unit_test(test_info_names_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
