/* SPDX-License-Identifier: MIT
 *
 * test_run_app.c: `sinew run` as a user meets it: its files, its messages, resuming, and which files it may overwrite.
 */
#include "app_fixture.h"

/* ---- Run ------------------------------------------------------------------------------------- */

static void test_run_writes_every_format(void **state)
{
    (void)state;
    remove_files("all");
    outcome o =
        sinew("run torus --threads 1 --frames 2 --out all --format pc2,obj --format vtu,gltf --format=csv,npy,usda");
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
    static const char *const files[] = {
        "torus.pc2",  "torus.obj",      "torus.0000.obj",      "torus.0002.obj",     "torus.0000.vtu", "torus.0002.vtu",
        "torus.pvd",  "torus.glb",      "torus.csv",           "metrics.csv",        "state.bin",      "summary.json",
        "torus.usda", "torus.npy.json", "torus.positions.npy", "torus.von_mises.npy"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "all/%s", files[i]);
        if (size_of(name) <= 0)
            fail_msg("%s was not written", name);
    }
    assert_int_equal(count_files("all", ".partial"), 0);
    assert_int_equal(count_files("all", "torus.0003"), 0);
}

/* The stored command, read by a shell, has the arguments of the run. */
static void test_summaries_store_the_command(void **state)
{
    (void)state;
    static const char words[] = "run swinging_rope --threads 1 --frames 1 --format none --quiet --overwrite --out ";
    static const char *const folders[] = {"plain", "it's", "''", "a$HOME'\"b", "#1", "~", "`id`", "!'&'!"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        char text[TEXT_MAX], line[TEXT_MAX], expected[1024];
        snprintf(line, sizeof line, "%s%s", words, folders[i]);
        outcome o = sinew(line);
        expect(&o, 0, line);
        snprintf(line, sizeof line, "%s/summary.json", folders[i]);
        read_text(scratch(line), text, sizeof text);
        json_t *summary = json_loads(text, 0, NULL);
        const char *command = json_string_value(json_object_get(summary, "command"));
        assert_int_equal(strncmp(command, "sinew ", 6), 0);
        snprintf(line, sizeof line, "printf '%%s ' %s > '%s'", command + 6, scratch("words.txt"));
        assert_int_equal(system(line), 0);
        snprintf(expected, sizeof expected, "%s%s %s", words, folders[i],
                 sizeof(sinew_real) == 4 ? "--precision single " : "");
        read_text(scratch("words.txt"), text, sizeof text);
        assert_string_equal(text, expected);
        json_decref(summary);
    }
}

static void test_metrics_have_their_columns(void **state)
{
    (void)state;
    outcome o =
        sinew("run swinging_rope --threads 1 --frames 2 --format none --out metrics --quiet --record --overwrite");
    expect(&o, 0, "run swinging_rope");
    assert_string_equal(o.out, "");
    char text[TEXT_MAX];
    read_text(scratch("metrics/metrics.csv"), text, sizeof text);
    const char *head = "solver,step,iteration,seconds,objective,inertia,elastic,residual,relative_error,"
                       "linear_momentum,angular_momentum,gap,position_error,status\n";
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
        /* Iterations count from 0 within a step, and the objective is the sum of its terms. */
        assert_int_equal(iteration == 0, step != last_step);
        assert_true(n[1] - n[2] - n[3] < 1e-5 * (1 + n[1]) && n[1] - n[2] - n[3] > -1e-5 * (1 + n[1]));
        /* Every iteration ends nearer to the minimum than the step's start. */
        assert_true(iteration == 0 || n[4] < first);
        first = iteration == 0 ? n[4] : first;
        steps += iteration == 0;
        last_step = step;
    }
    assert_int_equal(steps, 8);
    assert_in_range(rows, 16, 400);
}

/* Without --record there is one line per step, for its end. */
static void test_metrics_by_step(void **state)
{
    (void)state;
    outcome o = sinew("run swinging_rope --threads 1 --frames 2 --format none --out by_step --quiet --overwrite");
    expect(&o, 0, "run swinging_rope");
    o = sinew("run swinging_rope --threads 1 --frames 2 --format none --out by_iteration --quiet --record --overwrite");
    expect(&o, 0, "run swinging_rope --record");
    size_t size;
    char *few = whole_file("by_step", "metrics.csv", &size), *many = whole_file("by_iteration", "metrics.csv", &size);
    blank_seconds(few, 3);
    blank_seconds(many, 3);
    squeeze(few);
    squeeze(many);
    assert_int_equal(count_lines(few), 1 + 8);
    assert_true(count_lines(many) > 1 + 2 * 8);
    /* Each line of a step equals the last of its iterations. */
    for (char *row = strtok(few, "\n"); row; row = strtok(NULL, "\n"))
        assert_non_null(strstr(many, row));
    free(few);
    free(many);
}

/* ---- Resuming ---------------------------------------------------------------------------------------- */

static void test_resume_goes_on_with_the_same_files(void **state)
{
    (void)state;
    remove_files("whole");
    remove_files("half");
    go("run twist --threads 1 --frames 6 --format pc2,obj,vtu,gltf,csv,npy,usda --record --out whole", 0);
    go("run twist --threads 1 --frames 3 --format pc2,obj,vtu,gltf,csv,npy,usda --record --out half", 0);
    go("run twist --threads 2 --frames 5 --record --resume half", 0);
    refuse("run twist --frames 6 --resume half", "was begun with --record; give it again");
    refuse("run twist --frames 6 --record --format vtu --resume half", "has other formats");
    refuse("run twist --frames 4 --record --resume half", "it is at frame 5 and the run ends with frame 4");
    go("run twist --threads 1 --frames 6 --record --resume half/state.bin --checkpoint 0", 0);
    assert_true(same_results("whole", "half"));
    /* A finished run has nothing left to resume. */
    outcome again = sinew("run twist --frames 6 --record --resume half");
    expect(&again, 0, "run, finished before");
    assert_non_null(strstr(again.out, "finished already, at frame 6"));
    refuse("run twist --frames 6 --record --resume half --out elsewhere",
           "it is at frame 6 and the run ends with frame 6; raise --frames");
    assert_true(same_results("whole", "half"));
    mkdir(scratch("nothing"), 0777);
    refuse("run twist --resume nothing", "no state.bin is in it");
    refuse("run twist --resume half --overwrite", "give one of them");
    assert_int_equal(unlink(scratch("half/metrics.csv")), 0);
    refuse("run twist --frames 7 --record --resume half",
           "metrics.csv: is no longer there to go on with; start the run again");
}

/* The contact table belongs to the run: it is cut back to the checkpoint of a killed run, and never started midway. */
static void test_contact_rows_go_on(void **state)
{
    (void)state;
    write_text(scratch("touching.json"),
               "{\"sinew\": 1, \"frames\": 4, \"contact\": true, \"bodies\": [{\"mesh\": {\"generator\": \"box\", "
               "\"vertices\": [3, 3, 3], \"origin\": [0, 0.01, 0]}, \"energies\": [{\"energy\": \"neo_hookean\"}]}], "
               "\"colliders\": [{\"shape\": \"plane\"}]}");
    remove_files("touch_whole");
    remove_files("touch_half");
    outcome o = sinew("run touching.json --threads 1 --format none --out touch_whole");
    assert_true(o.status <= 1);
    assert_non_null(strstr(o.out, "contact.csv"));
    char text[TEXT_MAX];
    read_text(scratch("touch_whole/contact.csv"), text, sizeof text);
    const char *head =
        "step,contacts,began,ended,pairs,dropped,detections,updates,stationarity,violation,yielded,yield_depth,"
        "complementarity,cone_violation,friction_lag,filtered_vertices,filtered_residual,intersections,motion_lag,"
        "friction_heat,"
        "restitution_work,detection_seconds\n1,";
    assert_int_equal(strncmp(text, head, strlen(head)), 0);
    assert_int_equal(count_lines(text), 5);
    o = sinew("run touching.json --threads 1 --format none --frames 2 --out touch_half");
    assert_true(o.status <= 1);
    FILE *file = fopen(scratch("touch_half/contact.csv"), "a");
    assert_non_null(file);
    fputs("3,1,1,0,7", file);
    fclose(file);
    refuse("run touching.json --resume touch_half --force --set contact=false", "was begun with contact");
    o = sinew("run touching.json --threads 2 --resume touch_half");
    assert_true(o.status <= 1);
    assert_true(same_results("touch_whole", "touch_half"));
    refuse("run touching.json --format csv --set name=contact --out named", "contact.csv is another file of a run");
}

/* A scene with a renamed key is refused with exit status 2, the line and the new key. */
static void test_renamed_keys_are_refused(void **state)
{
    (void)state;
    static const char *const keys[][2] = {
        {"guard", "intersection_free"}, {"rounds", "multiplier_interval"}, {"epochs", "max_detections"}};
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
        char text[TEXT_MAX], part[TEXT_MAX];
        snprintf(text, sizeof text, "{\"sinew\": 1,\n \"contact\": {\n  \"%s\": 1}}", keys[k][0]);
        snprintf(part, sizeof part, "renamed.json:3: contact.%s: unknown key \"%s\" in contact; did you mean \"%s\"?",
                 keys[k][0], keys[k][0], keys[k][1]);
        write_text(scratch("renamed.json"), text);
        refuse("run renamed.json --out renamed", part);
    }
}

/* The state contains all data that a solver keeps between steps. */
static void test_every_solver_goes_on(void **state)
{
    (void)state;
    for (int kind = 0; kind < SINEW_SOLVER_COUNT; kind++) {
        const sinew_solver_info *info = sinew_get_solver_info((sinew_solver_kind)kind);
        char words[256];
        remove_files("straight");
        remove_files("in_parts");
        /* Explicit integrators are unstable with the scene's own springs. */
        const char *rest = info->static_only     ? "--set quasistatic=true --iterations 5"
                           : info->explicit_step ? "--set bodies.0.energies.0.stiffness=10"
                                                 : "--iterations 5";
        for (int frames = 3; frames <= 6; frames += 3) {
            snprintf(words, sizeof words,
                     "run swinging_rope --threads 1 --solver %s %s --frames %d --format csv --out %s", info->name, rest,
                     frames, frames == 3 ? "in_parts" : "straight");
            outcome o = sinew(words);
            if (o.status != 0)
                expect(&o, 1, words);
        }
        snprintf(words, sizeof words, "run swinging_rope --threads 2 --solver %s %s --frames 6 --resume in_parts",
                 info->name, rest);
        outcome o = sinew(words);
        if (o.status != 0)
            expect(&o, 1, words);
        if (!same_results("straight", "in_parts"))
            fail_msg("%s does not go on as if it had not been stopped", info->name);
    }
}

/* Resuming into another folder continues the numbering, and frames equal those of an uninterrupted run. */
static void test_resume_into_another_folder(void **state)
{
    (void)state;
    remove_files("start");
    remove_files("branch");
    remove_files("straight");
    go("run twist --threads 1 --frames 6 --format csv,obj --out straight", 0);
    go("run twist --threads 1 --frames 3 --format none --out start", 0);
    go("run twist --threads 1 --frames 5 --format csv,obj --out branch --resume start", 0);
    go("run twist --threads 1 --frames 6 --resume branch", 0);
    assert_int_equal(count_files("branch", ".obj"), 4);
    for (int frame = 3; frame <= 6; frame++) {
        char name[32];
        snprintf(name, sizeof name, "twist.%04d.obj", frame);
        assert_true(same_file("straight", "branch", name));
    }
    size_t size;
    char *csv = whole_file("branch", "twist.csv", &size), *all = whole_file("straight", "twist.csv", &size);
    assert_non_null(strstr(all, strstr(csv, "\n3,")));
    free(csv);
    free(all);
    outcome o = sinew("info run branch");
    expect(&o, 0, "info run branch");
    assert_non_null(strstr(o.out, "all 3 ok"));
}

static void test_state_of_another_scene(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *said;
    } cases[] = {
        {"--set bodies.0.energies.0.young=1e6", "energies.0.neo_hookean.young was 100000, is 1e+06"},
        {"--set bodies.0.energies.0.poisson=0.3", "energies.0.neo_hookean.poisson was 0.4, is 0.3"},
        {"--set bodies.0.energies.0.energy=corotated", "energies.0 was neo_hookean on body 0, is corotated on body 0"},
        {"--set gravity=[0,-9.81,0]", "gravity.y was 0, is -9.81"},
        {"--set bodies.0.density=900", "bodies.0.mass was 1687.5"},
        {"--set bodies.0.mesh.size=[3,0.75,0.8]", "bodies.0.shape was checksum"},
        {"--set time_step=0.01", "time_step was 0.02, is 0.01"},
        {"--set damping=1", "damping was 0, is 1"},
        {"--set bodies.0.pins.0.motion.keys.1.time=1.5", "pins.0 was 16 vertices"},
        {"--solver qn", "solver was newton, is qn"},
        {"--tolerance 1e-3", "solver.tolerance was 1e-06, is 0.001"},
        {"--set bodies.0.mesh.cells=[12,3,4]", "bodies.0.mesh was 208 vertices, 540 tets"},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    remove_files("signed");
    go("run twist --threads 1 --frames 2 --format csv --out signed", 0);
    for (size_t i = 0; i < count; i++) {
        char words[512];
        snprintf(words, sizeof words, "run twist --threads 1 --frames 3 --resume signed %s", cases[i].settings);
        refuse(words, cases[i].said);
    }
    refuse("run twist --frames 3 --resume signed --force --set bodies.0.mesh.cells=[12,3,4]", "build it the same way");
    remove_files("forced");
    go("run twist --threads 1 --frames 3 --resume signed --force --set bodies.0.energies.0.young=1e6 --out forced", 0);
}

/* ---- Files of other runs ----------------------------------------------------------------------------- */

static void test_folders_of_others(void **state)
{
    (void)state;
    remove_files("mine");
    go("run twist --threads 1 --frames 5 --format obj,vtu --out mine", 0);
    write_text(scratch("mine/notes.txt"), "keep");
    write_text(scratch("mine/twist.9999.obj"), "keep");
    write_text(scratch("mine/twist.00001.obj"), "keep");
    write_text(scratch("mine/other.0001.obj"), "keep");
    refuse("run twist --frames 2 --format obj --out mine", "mine/summary.json: a run of twist lies there (finished)");
    refuse("run torus --frames 2 --format obj --out mine", "--overwrite replaces it, or give another --out");
    assert_int_equal(count_files("mine", ".obj"), 9);
    go("run torus --threads 1 --frames 2 --format vtu --out mine --overwrite", 0);
    /* Exactly the files of the previous run were removed. */
    assert_int_equal(count_files("mine", ".obj"), 3);
    assert_int_equal(count_files("mine", "twist"), 2);
    assert_int_equal(count_files("mine", ".vtu"), 3);
    assert_true(size_of("mine/notes.txt") == 4);
    /* A shorter run leaves no frames of the longer one. */
    go("run torus --threads 1 --frames 1 --format vtu --out mine --overwrite", 0);
    assert_int_equal(count_files("mine", ".vtu"), 2);

    remove_files("foreign");
    mkdir(scratch("foreign"), 0777);
    write_text(scratch("foreign/twist.csv"), "somebody's");
    refuse("run twist --frames 1 --format csv --out foreign", "foreign/twist.csv: is there already; --overwrite");
    write_text(scratch("foreign/summary.json"), "{\"winner\": \"newton\"}");
    refuse("run twist --frames 1 --out foreign --overwrite", "foreign/summary.json: is not of a run");
    assert_int_equal(size_of("foreign/twist.csv"), 10);
}

/* The start has infinite energy: a smaller step does not help, and the message says so, also with records of steps. */
static void test_torn_start(void **state)
{
    (void)state;
    static const char *const ways[] = {"", " --record"};
    write_text(scratch("torn.json"),
               "{\"sinew\": 1, \"frames\": 1, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [2, 1, 1]}, "
               "\"initial\": {\"twist\": {\"axis\": \"x\", \"angle\": 9}}, \"energies\": [{\"energy\": "
               "\"neo_hookean_log\", \"young\": 1e6, \"poisson\": 0.45}]}]}");
    for (int way = 0; way < 2; way++) {
        char words[600];
        snprintf(words, sizeof words, "run %s --threads 1 --format none --quiet --out torn --overwrite%s",
                 scratch("torn.json"), ways[way]);
        const outcome o = sinew(words);
        expect(&o, 3, words);
        assert_non_null(strstr(o.err, "its energy is infinite where it begins"));
    }
}

/* A forged file list, of a starting or a finished run, does not make a new run delete foreign files. */
static void test_forged_lists(void **state)
{
    (void)state;
    static const char *const ways[] = {"starting", "finished"};
    for (int way = 0; way < 2; way++) {
        char text[400];
        remove_files("forged");
        mkdir(scratch("forged"), 0777);
        write_text(scratch("beside.csv"), "keep");
        write_text(scratch("forged/thesis.tex"), "keep");
        write_text(scratch("forged/thesis.0001.tex"), "keep");
        snprintf(text, sizeof text,
                 "{\"sinew_run\": 1, \"status\": \"%s\", \"files\": [\"thesis.tex\", \"../beside.csv\", \".\", 5, "
                 "{\"name\": \"thesis\", \"suffix\": \"tex\", \"from\": 0, \"to\": 9}]}",
                 ways[way]);
        write_text(scratch("forged/summary.json"), text);
        go(way == 0 ? "run twist --threads 1 --frames 1 --format none --out forged"
                    : "run twist --threads 1 --frames 1 --format none --out forged --overwrite",
           0);
        assert_int_equal(size_of("beside.csv"), 4);
        assert_int_equal(count_files("forged", ".tex"), 2);
    }
}

/* Symbolic links in place of unfinished files are not followed. */
static void test_links_are_not_followed(void **state)
{
    (void)state;
    static const char *const names[] = {"metrics.csv.partial", "state.bin.partial",    "summary.json.partial",
                                        "twist.csv.partial",   "twist.pc2.partial",    "twist.0001.obj.partial",
                                        "twist.glb.partial",   "twist.glb.bin.partial"};
    remove_files("linked");
    mkdir(scratch("linked"), 0777);
    write_text(scratch("victim"), "untouched");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[2048];
        snprintf(path, sizeof path, "%s/%s", scratch("linked"), names[i]);
        assert_int_equal(symlink(scratch("victim"), path), 0);
    }
    go("run twist --threads 1 --frames 1 --format pc2,obj,gltf,csv --out linked --overwrite", 0);
    assert_int_equal(size_of("victim"), 9);
    assert_int_equal(count_files("linked", ".partial"), 0);
}

/* ---- Messages ---------------------------------------------------------------------------------------- */

static void test_summary_counts_steps(void **state)
{
    (void)state;
    remove_files("counted");
    go("run twist --threads 1 --frames 4 --iterations 1 --accuracy 1e-12 --set solver.measure=gap --format none --out "
       "counted",
       1);
    size_t size;
    char *text = whole_file("counted", "summary.json", &size);
    json_t *summary = json_loads(text, 0, NULL), *steps = json_object_get(summary, "steps");
    json_int_t first, count, taken, worst;
    const char *version;
    assert_int_equal(json_unpack(summary, "{s:s, s:{s:I, s:{s:{s:I, s:I}}, s:{s:I}}}", "version", &version, "steps",
                                 "steps", &taken, "status", "not_converged", "first", &first, "count", &count,
                                 "residual", "step", &worst),
                     0);
    assert_string_equal(version, SINEW_VERSION);
    assert_int_equal(taken, 4);
    assert_int_equal(first, 1);
    assert_int_equal(count, 4);
    assert_in_range(worst, 1, 4);
    assert_true(json_is_null(json_object_get(steps, "inverted")));
    json_decref(summary);
    free(text);
    outcome o = sinew("info run counted");
    expect(&o, 0, "info run counted");
    assert_non_null(strstr(o.out, "not_converged in 4 of them, first in step 1"));
    assert_non_null(strstr(o.out, "frame 4 of 4"));
    refuse("info run nowhere", "no run's summary.json is in it");
}

static void test_unmet_accuracy_is_said(void **state)
{
    (void)state;
    outcome o =
        sinew("run twist --threads 1 --frames 1 --iterations 1 --accuracy 1e-12 --format none --out unmet --overwrite");
    expect(&o, 1, "run --iterations 1");
    assert_non_null(strstr(o.out, "not_converged"));
    assert_true(size_of("unmet/state.bin") > 0);
    refuse("run twist --accuracy -1", "--accuracy: \"-1\" is not a number from 1e-15 to 1");
    refuse("run twist --accuracy 0", "--accuracy: \"0\" is not a number from 1e-15 to 1");
    refuse("run twist --set solver.accuracy=-1", "is -1, must be >= 1e-15 and <= 1");
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
    outcome o = sinew("run fast.json --format none --out fast --overwrite");
    expect(&o, 3, "run fast.json");
    assert_non_null(strstr(o.out, "residual not known"));
    assert_non_null(strstr(o.err, "became non-finite"));
    assert_int_equal(count_lines(o.err), 1);
}

/* A rope with hard edges, by a solver of constraint systems; `mesh`, `energy` and `pins` are on lines 4 to 6. */
static void run_rope(const char *mesh, const char *energy, const char *pins, const char *said)
{
    char text[2048];
    snprintf(
        text, sizeof text,
        "{\"sinew\": 1, \"time_step\": 0.01, \"frames\": 1,\n \"solver\": {\"name\": \"sap\"},\n \"bodies\": [{\n"
        "  \"mesh\": %s, \"density\": 1,\n  \"energies\": [%s],\n  \"pins\": [{\"select\": {\"indices\": %s}}]}]}\n",
        mesh, energy, pins);
    write_text(scratch("rope.json"), text);
    outcome o = sinew("run rope.json --format none --out rope --overwrite");
    expect(&o, 2, "run rope.json");
    if (count_lines(o.err) != 1 || !strstr(o.err, said))
        fail_msg("\"%s\" is not in: %s", said, o.err);
}

/* Invalid constraints are refused with the file's line, the energy and the element. */
static void test_bad_constraints_are_refused(void **state)
{
    (void)state;
    const char *const rope = "{\"generator\": \"rope\", \"vertices\": 4, \"from\": [0, 0, 0], \"to\": [1, 0, 0]}";
    const char *const hard = "{\"energy\": \"spring\", \"hard\": true}";
    write_text(scratch("knot.obj"), "v 0 0 0\nv 1 0 0\nv 1 0 0\nv 2 0 0\nl 1 2\nl 2 3\nl 3 4\n");
    run_rope(rope, hard, "[1, 2]",
             "rope.json:6: bodies[0].pins[0]: energy 0 (spring), element 1: it is kept hard and all its vertices are "
             "pinned");
    run_rope(
        "{\"file\": \"knot.obj\"}", hard, "[0]",
        "rope.json:5: bodies[0].energies[0]: spring, element 1: it is kept hard, and its constraint has no direction");
    run_rope(rope, "{\"energy\": \"spring\", \"hard\": true, \"stiffness\": -1}", "[0]", "rope.json:5:");
    run_rope(rope, "{\"energy\": \"position\", \"hard\": true}", "[0]",
             "rope.json:5: bodies[0].energies[0]: sap cannot keep position hard: its constraint is a distance");
}

static void test_full_disk_leaves_nothing(void **state)
{
    (void)state;
    static const char *const formats[] = {"pc2", "obj", "vtu", "gltf", "csv", "npy", "usda", "none"};
    for (int i = 0; i < 6; i++) {
        char words[256];
        remove_files("full");
        snprintf(words, sizeof words, "run torus --threads 1 --frames 2 --out full --format %s", formats[i]);
        outcome o = finish(start(SINEW_COMMAND, words, 1100)); /* limit in bytes: no file of a run fits */
        expect(&o, 2, words);
        assert_int_equal(count_lines(o.err), 1);
        if (!strstr(o.err, "File too large"))
            fail_msg("%s: %s", formats[i], o.err);
        if (count_files("full", "") != 0)
            fail_msg("%s left %d files in a full folder", formats[i], count_files("full", ""));
    }
}

/* The disk fills during the run: the checkpoint is kept, and the run can be resumed once there is space. */
static void test_full_disk_can_be_gone_on_from(void **state)
{
    (void)state;
    remove_files("roomy");
    remove_files("cramped");
    go("run twist --threads 1 --frames 12 --format csv --record --out roomy", 0);
    const char *words = "run twist --threads 1 --frames 12 --format csv --record --out cramped --checkpoint 0";
    outcome o = finish(start(SINEW_COMMAND, words, 150000));
    expect(&o, 2, words);
    assert_non_null(strstr(o.err, "File too large"));
    assert_int_equal(count_lines(o.err), 1);
    go("run twist --threads 1 --frames 12 --record --resume cramped", 0);
    assert_true(same_results("roomy", "cramped"));
}

/* ---- Signals --------------------------------------------------------------------------------- */

/* Waits until the run has written `size` bytes, and stops it. */
static outcome stop(pid_t child, const char *file, off_t size, int signal_number)
{
    struct timespec pause = {0, 2000000};
    for (int i = 0; i < 10000 && size_of(file) < size; i++)
        nanosleep(&pause, NULL);
    kill(child, signal_number);
    return finish(child);
}

static void test_signals_interrupt_the_step(void **state)
{
    (void)state;
    static const struct {
        int number, status;
    } cases[] = {{SIGINT, 130}, {SIGTERM, 143}};
    remove_files("unstopped");
    go("run swinging_rope --threads 1 --frames 400 --format csv,gltf --record --out unstopped --quiet", 0);
    for (int i = 0; i < 2; i++) {
        remove_files("stopped");
        pid_t child = start(SINEW_COMMAND,
                            "run swinging_rope --threads 1 --frames 400 --format csv,gltf --record --out stopped", 0);
        outcome o = stop(child, "stopped/metrics.csv.partial", 8192, cases[i].number);
        expect(&o, cases[i].status, "run, interrupted");
        assert_non_null(strstr(o.out, "interrupted, swinging_rope:"));
        assert_true(size_of("stopped/metrics.csv") > 0 && size_of("stopped/swinging_rope.csv") > 0);
        assert_int_equal(count_files("stopped", ".partial"), 0);
        assert_true(size_of("stopped/state.bin") > 0);
        o = sinew("info run stopped");
        expect(&o, 0, "info run");
        assert_non_null(strstr(o.out, "/swinging_rope.json --resume stopped"));
        go("run swinging_rope --threads 1 --frames 400 --record --resume stopped --quiet", 0);
        assert_true(same_results("unstopped", "stopped"));
    }
}

/* A beam whose steps are long, so that the signal comes within a step. */
static const char slow_text[] =
    "{\"sinew\": 1, \"time_step\": 0.01, \"frames\": 2, \"solver\": {\"name\": \"%s\", \"tolerance\": 1e-9, "
    "\"iterations\": %d}, \"bodies\": [{\"mesh\": {\"generator\": \"beam\", \"cells\": [%d, 6, 6], \"size\": [4, 1, "
    "1]}, \"initial\": {\"velocity\": [0, 3, 1]}, \"energies\": [{\"energy\": \"strain\", \"stiffness\": 1e5}], "
    "\"pins\": [{\"select\": {\"half_space\": {\"point\": [-1.99, 0, 0], \"normal\": [-1, 0, 0]}}}]}]}";

/* A run that is stopped within its first step has the checkpoint from before it, and goes on with the same bytes. */
static void test_signals_within_the_first_step(void **state)
{
    (void)state;
    static const struct {
        const char *solver;
        int iterations, cells;
    } cases[] = {{"newton", 40, 24}, {"xpbd", 3000, 24}, {"primal-dual", 20, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024];
        struct timespec pause = {0, 2000000};
        snprintf(text, sizeof text, slow_text, cases[i].solver, cases[i].iterations, cases[i].cells);
        write_text(scratch("slow.json"), text);
        remove_files("slow_whole");
        remove_files("slow");
        outcome whole = sinew("run slow.json --threads 1 --format npy --out slow_whole --quiet");
        assert_true(whole.status == 0 || whole.status == 1);
        pid_t child = start(SINEW_COMMAND, "run slow.json --threads 1 --format npy --out slow --quiet", 0);
        for (int k = 0; k < 10000 && size_of("slow/state.bin") < 0; k++)
            nanosleep(&pause, NULL);
        outcome o = stop(child, "slow/state.bin", 1, SIGTERM);
        expect(&o, 143, "run, interrupted in its first step");
        assert_int_equal(count_files("slow", ".partial"), 0);
        o = sinew("run slow.json --threads 1 --resume slow --quiet");
        assert_int_equal(o.status, whole.status);
        assert_true(same_results("slow_whole", "slow"));
    }
}

/* Two processes do not write to the same folder. */
static void test_one_run_a_folder(void **state)
{
    (void)state;
    remove_files("busy");
    pid_t child = start(SINEW_COMMAND, "run swinging_rope --threads 1 --frames 1000000 --format none --out busy", 0);
    struct timespec pause = {0, 2000000};
    for (int i = 0; i < 10000 && size_of("busy/state.bin") < 0; i++)
        nanosleep(&pause, NULL);
    refuse("run swinging_rope --threads 1 --frames 1000000 --resume busy", "another run is writing there");
    kill(child, SIGTERM);
    finish(child);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run_writes_every_format),
        cmocka_unit_test(test_summaries_store_the_command),
        cmocka_unit_test(test_metrics_have_their_columns),
        cmocka_unit_test(test_metrics_by_step),
        cmocka_unit_test(test_resume_goes_on_with_the_same_files),
        cmocka_unit_test(test_contact_rows_go_on),
        cmocka_unit_test(test_renamed_keys_are_refused),
        cmocka_unit_test(test_every_solver_goes_on),
        cmocka_unit_test(test_resume_into_another_folder),
        cmocka_unit_test(test_state_of_another_scene),
        cmocka_unit_test(test_folders_of_others),
        cmocka_unit_test(test_forged_lists),
        cmocka_unit_test(test_torn_start),
        cmocka_unit_test(test_links_are_not_followed),
        cmocka_unit_test(test_summary_counts_steps),
        cmocka_unit_test(test_unmet_accuracy_is_said),
        cmocka_unit_test(test_non_finite_is_said),
        cmocka_unit_test(test_bad_constraints_are_refused),
        cmocka_unit_test(test_full_disk_leaves_nothing),
        cmocka_unit_test(test_full_disk_can_be_gone_on_from),
        cmocka_unit_test(test_signals_interrupt_the_step),
        cmocka_unit_test(test_signals_within_the_first_step),
        cmocka_unit_test(test_one_run_a_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
