/* SPDX-License-Identifier: MIT
 *
 * test_mesh_app.c: `sinew mesh` as a user meets it: exit status, standard output, standard error and written files.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "mesh/mesh.h"
#include "sinew/mesh.h"

#define FOLDER SINEW_TEST_DIR "/"

static char printed[65536];
static char complaint[4096];

static void read_text(const char *path, char *text, size_t size)
{
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    size_t length = fread(text, 1, size - 1, stream);
    text[length] = '\0';
    fclose(stream);
}

/* Runs `sinew mesh ARGUMENTS` in the test's folder; fills `printed` and `complaint`, returns the exit status. */
static int run(const char *arguments)
{
    char line[4096];
    snprintf(line, sizeof line, "cd " SINEW_TEST_DIR " && " SINEW_COMMAND " mesh %s >printed.txt 2>complaint.txt",
             arguments);
    int status = system(line);
    assert_true(WIFEXITED(status));
    read_text(FOLDER "printed.txt", printed, sizeof printed);
    read_text(FOLDER "complaint.txt", complaint, sizeof complaint);
    return WEXITSTATUS(status);
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* Checks exit status 2, one line on standard error that contains `part`, and nothing on standard output. */
static void assert_refused(const char *arguments, const char *part)
{
    assert_int_equal(run(arguments), 2);
    assert_string_equal(printed, "");
    assert_int_equal(strncmp(complaint, "sinew mesh: ", 12), 0);
    assert_ptr_equal(strchr(complaint, '\n'), complaint + strlen(complaint) - 1);
    assert_says(complaint, part);
}

static int write_box(const char *path, int32_t n, bool ruin)
{
    sinew_box_def def = sinew_default_box_def();
    for (int k = 0; k < 3; k++)
        def.vertices[k] = n;
    sinew_mesh *mesh = sinew_mesh_box(&def, NULL);
    if (ruin) {
        int32_t swap = mesh->tets[4 * 17];
        mesh->tets[4 * 17] = mesh->tets[4 * 17 + 1];
        mesh->tets[4 * 17 + 1] = swap;
        mesh->tets[4 * 10] = mesh->tets[4 * 10 + 1];
    }
    sinew_error error;
    sinew_status status = sinew_mesh_write(mesh, path, SINEW_MESH_BY_ENDING, &error);
    sinew_mesh_destroy(mesh);
    return status;
}

static void check_prints_a_table_and_flaws(void **state)
{
    (void)state;
    assert_int_equal(write_box(FOLDER "good.msh", 4, false), SINEW_OK);
    assert_int_equal(run("check good.msh"), 0);
    assert_says(printed, "vertices   64\ntets       135\ntriangles  0\nedges      0\n");
    assert_says(printed, "bounds     [0, 0, 0] to [1, 1, 1] m\nvolume     1 m3\n");
    assert_says(printed, "pieces     1\nsurface    closed, 0 boundary edges\nno flaws\n");
    assert_string_equal(complaint, "");

    assert_int_equal(write_box(FOLDER "bad.msh", 4, true), SINEW_OK);
    assert_int_equal(run("check bad.msh"), 1);
    assert_says(printed, "tet 17: inverted, volume -0.00617 m3\ntet 10: degenerate, volume 0 m3\n2 flaws\n");
    assert_string_equal(complaint, "");
}

static void long_lists_are_cut(void **state)
{
    (void)state;
    /* Thirty unused vertices beside one tetrahedron. */
    sinew_mesh *mesh = sinew_mesh_allocate(NULL, 34, 1, 0, 0, NULL);
    for (int32_t v = 0; v < 34; v++)
        for (int k = 0; k < 3; k++)
            mesh->positions[3 * v + k] = (sinew_real)(v < 4 ? v == k + 1 : v);
    for (int32_t i = 0; i < 4; i++)
        mesh->tets[i] = i;
    assert_int_equal(sinew_mesh_write(mesh, FOLDER "loose.vtk", SINEW_MESH_BY_ENDING, NULL), SINEW_OK);
    sinew_mesh_destroy(mesh);
    assert_int_equal(run("check loose.vtk"), 1);
    assert_says(printed, "vertex 23: unused, no cell refers to it\n... and 10 more of kind \"unused vertex\"");
    assert_null(strstr(printed, "vertex 24:"));
    assert_int_equal(run("check loose.vtk --all"), 1);
    assert_says(printed, "vertex 33: unused");
    assert_says(printed, "30 flaws\n");
}

static void fix_repairs_and_says_what(void **state)
{
    (void)state;
    assert_int_equal(write_box(FOLDER "bad.msh", 4, true), SINEW_OK);
    assert_int_equal(run("fix bad.msh fixed.vtu"), 0);
    assert_says(printed, "fixed.vtu: 64 vertices, 134 tets, 0 triangles, 0 edges\n");
    assert_says(printed, "done: 1 inverted tets turned\ndone: 1 degenerate tets dropped\n");
    assert_int_equal(run("check fixed.vtu"), 0);
    /* A merge distance of 10 collapses the mesh into one vertex. */
    assert_refused("fix bad.msh nothing.vtu --merge 10", "nothing is left after fixing; merge over a smaller distance");
    assert_int_not_equal(access(FOLDER "nothing.vtu", F_OK), 0);
    assert_refused("fix bad.msh x.vtu --merge far", "\"far\" is not a number");
}

static void convert_keeps_the_mesh(void **state)
{
    (void)state;
    assert_int_equal(write_box(FOLDER "good.msh", 3, false), SINEW_OK);
    const char *const ways[] = {"convert good.msh a.msh --format gmsh2-binary",
                                "convert a.msh b.vtk --format vtk-binary", "convert b.vtk c.vtu --format=vtu-binary",
                                "convert c.vtu d.mesh", "convert d.mesh e.msh --format gmsh4-binary"};
    for (size_t n = 0; n < sizeof ways / sizeof ways[0]; n++)
        assert_int_equal(run(ways[n]), 0);
    sinew_mesh *first = sinew_mesh_read(FOLDER "good.msh", NULL, NULL);
    sinew_mesh *last = sinew_mesh_read(FOLDER "e.msh", NULL, NULL);
    assert_int_equal(last->vertex_count, 27);
    assert_int_equal(last->tet_count, 40);
    assert_memory_equal(last->positions, first->positions, 81 * sizeof *first->positions);
    assert_memory_equal(last->tets, first->tets, 160 * sizeof *first->tets);
    sinew_mesh_destroy(first);
    sinew_mesh_destroy(last);
    assert_refused("convert good.msh f.msh --format gmsh9", "unknown format \"gmsh9\"");
}

static void wrong_usage_is_one_line(void **state)
{
    (void)state;
    assert_refused("", "needs check, fix, fill or convert");
    assert_refused("mend a.msh", "unknown action \"mend\"");
    assert_refused("check", "check needs one file");
    assert_refused("fix a.msh", "fix needs two files");
    assert_refused("check missing.msh", "missing.msh: cannot read");
    assert_refused("check good.msh --merge 1", "check takes no --merge");
    assert_refused("convert good.msh no/such/folder.vtu", "cannot write");
    assert_refused("check --al good.msh", "did you mean --all?");
}

static void help_has_examples(void **state)
{
    (void)state;
    assert_int_equal(run("--help"), 0);
    assert_says(printed, "Example: sinew mesh check");
    assert_says(printed, "Example: sinew mesh fix");
    assert_says(printed, "Example: sinew mesh convert");
}

/* z up and centimetres: (1, 2, 3) becomes (1, 3, -2) / 100, and orientation is preserved. */
static void axes_and_units_are_given(void **state)
{
    (void)state;
    FILE *stream = fopen(FOLDER "upright.obj", "w");
    assert_non_null(stream);
    fputs("v 1 2 3\nv 4 2 3\nv 1 5 3\nf 1 2 3\n", stream);
    fclose(stream);
    assert_int_equal(run("convert upright.obj turned.obj --up z --unit 0.01"), 0);
    sinew_mesh *mesh = sinew_mesh_read(FOLDER "turned.obj", NULL, NULL);
    assert_non_null(mesh);
    const double expected[9] = {0.01, 0.03, -0.02, 0.04, 0.03, -0.02, 0.01, 0.03, -0.05};
    for (int i = 0; i < 9; i++)
        assert_true(fabs((double)sinew_mesh_positions(mesh)[i] - expected[i]) < 1e-8);
    sinew_mesh_destroy(mesh);
    assert_refused("convert upright.obj turned.obj --up w", "w");
    assert_refused("convert upright.obj turned.obj --unit 0", "--unit");
    assert_refused("check upright.obj --up z", "check takes no --up");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(axes_and_units_are_given), cmocka_unit_test(check_prints_a_table_and_flaws),
        cmocka_unit_test(long_lists_are_cut),       cmocka_unit_test(fix_repairs_and_says_what),
        cmocka_unit_test(convert_keeps_the_mesh),   cmocka_unit_test(wrong_usage_is_one_line),
        cmocka_unit_test(help_has_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
