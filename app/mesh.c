/* SPDX-License-Identifier: MIT
 *
 * mesh.c: `sinew mesh check|fix|fill|convert`: checks mesh files, repairs them, fills surfaces with tets, and converts
 * formats.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app.h"

static const char command[] = "mesh";

static const sinew_option options[] = {
    {"all", NULL, "check: list every flaw, not the first 20 of each kind", false},
    {"merge", "DISTANCE", "fix: make vertices at most this far apart one, m; default 0, -1: none", false},
    {"cells", "N", "fill: lattice cells along the longest side of the surface's box; default 24", false},
    {"conform", NULL, "fill: move boundary vertices to the surface", false},
    {"no-split", NULL, "fill: parts that share a cell but do not touch share its tets", false},
    {"threads", "N", "fill: the result is the same for any number; default all", false},
    {"out", "BODY", "fill: write the body, .vtu or .msh: these keep how much of each tet is filled", false},
    {"format", "FORMAT", "fix, fill, convert: gmsh2, gmsh2-binary, gmsh4, gmsh4-binary, vtk-binary, vtu-binary", false},
    {"up", "AXIS", "fix, fill, convert: the file's axis that becomes y: x, y, z, -x, -y, -z; default y", false},
    {"unit", "METRES", "fix, fill, convert: of one unit of the file, 0.01 for centimetres; default 1", false},
    {"help", NULL, "this text", false},
};
enum {
    OPTION_COUNT = sizeof options / sizeof options[0],
    LISTED = 20 /* number of defects of each kind that `sinew mesh check` prints without --all */
};

/* ---- Reading and writing of meshes ------------------------------------------------------------ */

/* Prints the warnings of a mesh, each on its own line after a prefix. */
static void print_warnings(const char *word, const sinew_mesh *mesh)
{
    for (const char *note = sinew_mesh_warnings(mesh); *note;) {
        size_t length = strcspn(note, "\n");
        printf("%s: %.*s\n", word, (int)length, note);
        note += length + (note[length] == '\n');
    }
}

/* Replaces the mesh by a copy in metres with y up. Returns NULL on failure. */
static sinew_mesh *orient(sinew_mesh *mesh, const char *up, double scale, sinew_error *error)
{
    const int32_t count = sinew_mesh_vertex_count(mesh);
    const size_t size = 3 * (size_t)count * sizeof(sinew_real);
    sinew_real *points = malloc(size ? size : 1);
    sinew_mesh *moved = NULL;
    if (points) {
        memcpy(points, sinew_mesh_positions(mesh), size);
        if (sinew_orient_points(up, scale, count, points, error) == SINEW_OK)
            moved = sinew_mesh_moved(mesh, points, error);
    } else {
        snprintf(error->text, sizeof error->text, "out of memory for %d vertices", count);
    }
    free(points);
    sinew_mesh_destroy(mesh);
    return moved;
}

/* Loads the first file of the command line; the options --up and --unit rotate and scale the mesh. NULL, with a
 * message, on failure. */
static sinew_mesh *read_mesh(const sinew_arguments *arguments)
{
    const char *up = sinew_option_text(arguments, "up"), *unit = sinew_option_text(arguments, "unit");
    double scale = 1;
    if (unit && !sinew_read_number(command, "--unit", unit, 1e-12, 1e12, &scale))
        return NULL;
    sinew_error error;
    char found[4096];
    const char *file = arguments->plain[1];
    sinew_mesh *mesh = sinew_mesh_read(sinew_find_example(file, found, sizeof found) ? found : file, NULL, &error);
    if (mesh && (up || unit)) {
        /* Prints warnings before the mesh is oriented, because the oriented copy has none. */
        print_warnings("read", mesh);
        mesh = orient(mesh, up, scale, &error);
    }
    if (!mesh)
        sinew_usage_error(command, "%s", error.text);
    return mesh;
}

static void print_counts(const char *path, const sinew_mesh *mesh)
{
    printf("%s: %d vertices, %d tets, %d triangles, %d edges\n", path, sinew_mesh_vertex_count(mesh),
           sinew_mesh_tet_count(mesh), sinew_mesh_triangle_count(mesh), sinew_mesh_edge_count(mesh));
}

static bool read_format(const sinew_arguments *arguments, sinew_mesh_format *format)
{
    static const char *const names[] = {"",           "gmsh2",     "gmsh2-binary", "gmsh4", "gmsh4-binary",
                                        "vtk-binary", "vtu-binary"};
    const char *text = sinew_option_text(arguments, "format");
    *format = SINEW_MESH_BY_ENDING;
    for (int i = 1; text && i < (int)(sizeof names / sizeof names[0]); i++)
        if (strcmp(text, names[i]) == 0)
            *format = (sinew_mesh_format)i;
    if (!text || *format != SINEW_MESH_BY_ENDING)
        return true;
    sinew_usage_error(command, "--format: unknown format \"%s\"; use %s, or leave it to the ending of the file", text,
                      "gmsh2, gmsh2-binary, gmsh4, gmsh4-binary, vtk-binary or vtu-binary");
    return false;
}

static int write_mesh(const sinew_mesh *mesh, const char *path, sinew_mesh_format format)
{
    sinew_error error;
    if (sinew_mesh_write(mesh, path, format, &error) != SINEW_OK)
        return sinew_usage_error(command, "%s", error.text);
    print_counts(path, mesh);
    return SINEW_EXIT_DONE;
}

/* ---- Action `check`: defects of a mesh -------------------------------------------------------- */

static void mesh_print_report(const sinew_mesh *mesh, const sinew_mesh_report *report)
{
    printf("vertices   %d\ntets       %d\ntriangles  %d\nedges      %d\n", sinew_mesh_vertex_count(mesh),
           sinew_mesh_tet_count(mesh), sinew_mesh_triangle_count(mesh), sinew_mesh_edge_count(mesh));
    printf("bounds     [%g, %g, %g] to [%g, %g, %g] m\n", report->bounds[0], report->bounds[1], report->bounds[2],
           report->bounds[3], report->bounds[4], report->bounds[5]);
    if (sinew_mesh_tet_count(mesh) > 0)
        printf("volume     %g m3\nquality    worst %.3g, mean %.3g (1: regular tet)\n", report->volume,
               report->quality_min, report->quality_mean);
    if (sinew_mesh_triangle_count(mesh) > 0)
        printf("area       %g m2\n", report->area);
    if (sinew_mesh_edge_count(mesh) > 0)
        printf("length     %g m\n", report->length);
    printf("pieces     %d\n", report->component_count);
    if (sinew_mesh_tet_count(mesh) + sinew_mesh_triangle_count(mesh) > 0)
        printf("surface    %s, %d boundary edges\n", report->closed_surface ? "closed" : "open",
               report->boundary_edge_count);
}

static void print_flaw(const sinew_flaw *flaw)
{
    static const char *const cells[] = {"vertex", "vertex", "edge", "triangle", "tet"};
    const char *cell = flaw->kind == SINEW_FLAW_DUPLICATE_CELL ? cells[(int)flaw->measure] : "";
    switch (flaw->kind) {
    case SINEW_FLAW_INVERTED_TET:
        printf("tet %d: inverted, volume %.3g m3\n", flaw->element, flaw->measure);
        break;
    case SINEW_FLAW_DEGENERATE_TET:
        printf("tet %d: degenerate, volume %.3g m3\n", flaw->element, flaw->measure);
        break;
    case SINEW_FLAW_SLIVER_TET:
        printf("tet %d: sliver, quality %.3g\n", flaw->element, flaw->measure);
        break;
    case SINEW_FLAW_DEGENERATE_TRIANGLE:
        printf("triangle %d: degenerate, area %.3g m2\n", flaw->element, flaw->measure);
        break;
    case SINEW_FLAW_DEGENERATE_EDGE:
        printf("edge %d: degenerate, length %.3g m\n", flaw->element, flaw->measure);
        break;
    case SINEW_FLAW_DUPLICATE_VERTEX:
        printf("vertex %d: in the same place as vertex %d\n", flaw->element, flaw->other);
        break;
    case SINEW_FLAW_UNUSED_VERTEX:
        printf("vertex %d: unused, no cell refers to it\n", flaw->element);
        break;
    case SINEW_FLAW_DUPLICATE_CELL:
        printf("%s %d: same vertices as %s %d\n", cell, flaw->element, cell, flaw->other);
        break;
    case SINEW_FLAW_NON_MANIFOLD_FACE:
        printf("tet %d: one of its faces belongs to %g tets, the next is tet %d\n", flaw->element, flaw->measure,
               flaw->other);
        break;
    case SINEW_FLAW_NON_MANIFOLD_EDGE:
        printf("triangle %d: one of its edges belongs to %g triangles, the next is triangle %d\n", flaw->element,
               flaw->measure, flaw->other);
        break;
    case SINEW_FLAW_FLIPPED_TRIANGLE:
        if (flaw->other >= 0)
            printf("triangle %d: oriented against triangle %d\n", flaw->element, flaw->other);
        else
            printf("triangle %d: oriented against most of its surface\n", flaw->element);
        break;
    case SINEW_FLAW_CROSSING_TRIANGLE:
        printf("triangle %d: crosses triangle %d\n", flaw->element, flaw->other);
        break;
    case SINEW_FLAW_COUNT:
        break;
    }
}

static void print_flaws(const sinew_mesh_report *report, const sinew_flaw *flaws, int64_t count, bool all)
{
    int32_t listed = 0;
    for (int64_t n = 0; n < count; n++) {
        sinew_flaw_kind kind = flaws[n].kind;
        listed = n > 0 && flaws[n - 1].kind == kind ? listed + 1 : 1;
        if (all || listed <= LISTED)
            print_flaw(&flaws[n]);
        else if (listed == LISTED + 1)
            printf("... and %d more of kind \"%s\"; --all lists them\n", report->counts[kind] - LISTED,
                   sinew_flaw_name(kind));
    }
    if (count == 0)
        printf("no flaws\n");
    else
        printf("%lld flaw%s\n", (long long)count, count == 1 ? "" : "s");
}

static int check_mesh(const sinew_arguments *arguments)
{
    sinew_mesh *mesh = read_mesh(arguments);
    if (!mesh)
        return SINEW_EXIT_USAGE;
    int status = SINEW_EXIT_USAGE;
    sinew_error error;
    sinew_mesh_report report;
    int64_t count = sinew_mesh_check(mesh, &report, NULL, 0, &error);
    sinew_flaw *flaws = count < 0 ? NULL : malloc(((size_t)count + 1) * sizeof *flaws);
    if (count >= 0 && !flaws) {
        sinew_usage_error(command, "out of memory for a list of %lld flaws", (long long)count);
    } else if (count < 0 || sinew_mesh_check(mesh, NULL, flaws, count, &error) < 0) {
        sinew_usage_error(command, "%s: %s", arguments->plain[1], error.text);
    } else {
        mesh_print_report(mesh, &report);
        print_warnings("note", mesh);
        print_flaws(&report, flaws, count, sinew_option_on(arguments, "all"));
        status = count > 0 ? SINEW_EXIT_UNMET : SINEW_EXIT_DONE;
    }
    free(flaws);
    sinew_mesh_destroy(mesh);
    return status;
}

/* ---- Actions `fix` and `convert` -------------------------------------------------------------- */

/* Prints the number of defects that a repaired mesh still has, by kind. */
static void print_left(const sinew_mesh *mesh)
{
    sinew_mesh_report report;
    if (sinew_mesh_check(mesh, &report, NULL, 0, NULL) <= 0)
        return;
    for (int kind = 0; kind < SINEW_FLAW_COUNT; kind++)
        if (report.counts[kind] > 0)
            printf("left: %d of kind \"%s\"\n", report.counts[kind], sinew_flaw_name((sinew_flaw_kind)kind));
}

static int fix_mesh(const sinew_arguments *arguments)
{
    double distance = 0;
    sinew_mesh_format format;
    const char *merge = sinew_option_text(arguments, "merge");
    if (merge && !sinew_read_number(command, "--merge", merge, -1, 1e30, &distance))
        return SINEW_EXIT_USAGE;
    sinew_mesh *mesh = read_format(arguments, &format) ? read_mesh(arguments) : NULL;
    if (!mesh)
        return SINEW_EXIT_USAGE;
    int status = SINEW_EXIT_USAGE;
    sinew_error error;
    sinew_mesh *good = sinew_mesh_fix(mesh, distance, NULL, &error);
    if (!good)
        sinew_usage_error(command, "%s: %s", arguments->plain[1], error.text);
    else if (sinew_mesh_vertex_count(good) == 0)
        sinew_usage_error(command, "%s: nothing is left after fixing%s", arguments->plain[1],
                          merge ? "; merge over a smaller distance" : "");
    else
        status = write_mesh(good, arguments->plain[2], format);
    if (status == SINEW_EXIT_DONE) {
        print_warnings("read", mesh);
        print_warnings("done", good);
        print_left(good);
    }
    sinew_mesh_destroy(good);
    sinew_mesh_destroy(mesh);
    return status;
}

static int convert_mesh(const sinew_arguments *arguments)
{
    sinew_mesh_format format;
    sinew_mesh *mesh = read_format(arguments, &format) ? read_mesh(arguments) : NULL;
    if (!mesh)
        return SINEW_EXIT_USAGE;
    int status = write_mesh(mesh, arguments->plain[2], format);
    if (status == SINEW_EXIT_DONE)
        print_warnings("note", mesh);
    sinew_mesh_destroy(mesh);
    return status;
}

/* ---- Action `fill`: tets inside a surface ----------------------------------------------------- */

static void print_filled(const char *path, const sinew_mesh *body, const sinew_fill_report *report, double seconds)
{
    printf("%s: filled in %.2f s\n", path, seconds);
    printf("cell       %g m\nvertices   %d\ntets       %d\n", report->cell, sinew_mesh_vertex_count(body),
           sinew_mesh_tet_count(body));
    printf("quality    worst %.3g, mean %.3g (1: regular tet)\n", report->quality_min, report->quality_mean);
    if (report->closed && report->surface_volume > 0)
        printf("volume     %g m3, %+.2f %% against the %g m3 that the surface encloses\n", report->volume,
               100 * (report->volume / report->surface_volume - 1), report->surface_volume);
    else
        printf("volume     %g m3; the surface %s\n", report->volume,
               report->open_edges > 0 ? "is open" : "crosses itself");
    printf("pieces     %d\n", report->components);
    print_warnings("odd", body);
}

/* Wall-clock time, in s. */
static double mesh_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static bool read_fill_options(const sinew_arguments *arguments, sinew_fill_def *def)
{
    int64_t cells = def->cells, threads = def->thread_count;
    const char *text = sinew_option_text(arguments, "cells"), *count = sinew_option_text(arguments, "threads");
    if (text && !sinew_read_integer(command, "--cells", text, 1, INT32_MAX, &cells))
        return false;
    if (count && !sinew_read_integer(command, "--threads", count, 1, 1024, &threads))
        return false;
    def->cells = (int32_t)cells;
    def->thread_count = (int32_t)threads;
    def->conform = sinew_option_on(arguments, "conform");
    def->split = !sinew_option_on(arguments, "no-split");
    return true;
}

static int fill_mesh(const sinew_arguments *arguments)
{
    sinew_error error;
    sinew_mesh_format format;
    sinew_fill_report report;
    sinew_fill_def def = sinew_default_fill_def();
    const char *out = sinew_option_text(arguments, "out");
    if (!read_fill_options(arguments, &def) || !read_format(arguments, &format))
        return SINEW_EXIT_USAGE;
    sinew_mesh *surface = read_mesh(arguments);
    if (!surface)
        return SINEW_EXIT_USAGE;
    def.surface = surface;
    const double start = mesh_now();
    sinew_mesh *body = sinew_mesh_fill(&def, &report, &error);
    int status = SINEW_EXIT_DONE;
    if (!body) {
        status = sinew_usage_error(command, "%s: %s", arguments->plain[1], error.text);
    } else {
        print_warnings("read", surface);
        print_filled(arguments->plain[1], body, &report, mesh_now() - start);
        status = out ? write_mesh(body, out, format) : SINEW_EXIT_DONE;
    }
    sinew_mesh_destroy(body);
    sinew_mesh_destroy(surface);
    return status;
}

/* ---- Table of actions of `sinew mesh` --------------------------------------------------------- */

static const struct action {
    const char *name;
    int32_t file_count;
    const char *usage;
    const char *meaning;
    const char *example;
    int (*run)(const sinew_arguments *arguments);
    bool takes[OPTION_COUNT]; /* options of the command's table that the action accepts */
} actions[] = {
    {"check",
     1,
     "check FILE [--all]",
     "Counts, bounds, volume, quality, pieces, and every flaw by the number of its element. Exit status 1 when\n"
     "there are flaws.",
     "sinew mesh check dragon.msh",
     check_mesh,
     {true, false, false, false, false, false, false, false, false, false, true}},
    {"fix",
     2,
     "fix IN OUT [--merge DISTANCE] [--up AXIS] [--unit METRES] [--format FORMAT]",
     "Turns inverted tets, makes triangles face one way (outwards when closed), merges vertices, drops\n"
     "degenerate and duplicate cells and unused vertices; says what it did and what is left. Slivers stay.",
     "sinew mesh fix scan.stl scan.obj --merge 1e-5",
     fix_mesh,
     {false, true, false, false, false, false, false, true, true, true, true}},
    {"fill",
     1,
     "fill SURFACE --cells N [--conform] [--no-split] [--up AXIS] [--unit METRES] [--out BODY] [--format FORMAT]",
     "Makes a body of tets around any surface, open, crossing itself, doubled or in parts: a body-centred\n"
     "lattice, of which those tets stay that the inside reaches into. Says what it made and what was odd.",
     "sinew mesh fill spot.obj --cells 24 --out spot.vtu",
     fill_mesh,
     {false, false, true, true, true, true, true, true, true, true, true}},
    {"convert",
     2,
     "convert IN OUT [--up AXIS] [--unit METRES] [--format FORMAT]",
     "Writes the mesh in the format of OUT's ending: .msh .node/.ele .mesh .vtk .vtu .obj .ply .stl .off.\n"
     "Formats for surfaces get the boundary of the tets.",
     "sinew mesh convert dragon.msh dragon.vtu --format vtu-binary",
     convert_mesh,
     {false, false, false, false, false, false, false, true, true, true, true}},
};
enum {
    ACTION_COUNT = sizeof actions / sizeof actions[0]
};

static int mesh_print_help(void)
{
    printf("usage:");
    for (int i = 0; i < ACTION_COUNT; i++)
        printf("%s sinew mesh %s\n", i ? "      " : "", actions[i].usage);
    printf("\n");
    sinew_options_print(options, OPTION_COUNT);
    for (int i = 0; i < ACTION_COUNT; i++)
        printf("\n%s: %s\nExample: %s\n", actions[i].name, actions[i].meaning, actions[i].example);
    printf("\nExit status: 0 done; 1 flaws were found; 2 wrong usage or bad input.\n");
    return SINEW_EXIT_DONE;
}

static int run_action(const struct action *action, const sinew_arguments *arguments)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (sinew_option_on(arguments, options[i].name) && !action->takes[i])
            return sinew_usage_error(command, "%s takes no --%s; usage: sinew mesh %s", action->name, options[i].name,
                                     action->usage);
    if (arguments->plain_count != action->file_count + 1)
        return sinew_usage_error(command, "%s needs %s; usage: sinew mesh %s", action->name,
                                 action->file_count == 1 ? "one file" : "two files", action->usage);
    return action->run(arguments);
}

static int find_action(const sinew_arguments *arguments)
{
    if (arguments->plain_count == 0)
        return sinew_usage_error(command, "needs check, fix, fill or convert; see sinew mesh --help");
    for (int i = 0; i < ACTION_COUNT; i++)
        if (strcmp(arguments->plain[0], actions[i].name) == 0)
            return run_action(&actions[i], arguments);
    return sinew_usage_error(command, "unknown action \"%s\"; use check, fix, fill or convert", arguments->plain[0]);
}

int sinew_command_mesh(int argc, char **argv)
{
    sinew_arguments arguments;
    if (!sinew_arguments_read(&arguments, command, options, OPTION_COUNT, argc, argv))
        return SINEW_EXIT_USAGE;
    int status = sinew_option_on(&arguments, "help") ? mesh_print_help() : find_action(&arguments);
    sinew_arguments_free(&arguments);
    return status;
}
