/* SPDX-License-Identifier: MIT
 *
 * info.c: `sinew info`: solvers, energies and other tables of this build.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sinew/extend.h>
#include <sinew/load.h>
#include <sinew/material.h>

#include "app.h"
#include "info_run.h"

static const char command[] = "info";

/* Description of an energy of the library or of one that the program registered; NULL: the index is out of range. */
static const sinew_energy_info *energy_at(int kind)
{
    return sinew_get_energy_info((sinew_energy_kind)kind);
}

static const sinew_solver_info *solver_at(int kind)
{
    return sinew_get_solver_info((sinew_solver_kind)kind);
}

/* ---- Topic: version, precision and compiler of the build -------------------------------------- */

static int print_build(void)
{
    printf("sinew %s\n", SINEW_VERSION);
    printf("precision  %s (%zu bytes a number)\n", SINEW_PRECISION, sizeof(sinew_real));
    printf("SIMD       %s, width %d\n", sinew_simd_name(), sinew_simd_width());
    printf("threads    %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
#ifdef __VERSION__
    printf("compiler   %s, C %ld\n", __VERSION__, __STDC_VERSION__);
#endif
#ifdef NDEBUG
    printf("build      release\n");
#else
    printf("build      debug\n");
#endif
    int solvers = 0, energies = 0;
    for (int kind = 0; kind < sinew_solver_kind_end(); kind++)
        solvers += solver_at(kind) != NULL;
    for (int kind = 0; kind < sinew_energy_kind_end(); kind++)
        energies += energy_at(kind) != NULL;
    printf("solvers    %d\nenergies   %d\n", solvers, energies);
    return SINEW_EXIT_DONE;
}

/* ---- Parameters of energies and solvers ------------------------------------------------------- */

static void print_choices(const sinew_parameter *p)
{
    int index = 0;
    for (const char *c = p->choices; c;) {
        size_t length = strcspn(c, "|");
        printf("%s%.*s%s", index ? ", " : "", (int)length, c, index == (int)p->preset ? " (default)" : "");
        c = c[length] ? c + length + 1 : NULL;
        index++;
    }
}

/* Prints parameters and returns the number of omitted ones: expert parameters, unless `all`. */
static int32_t print_parameters(const sinew_parameter *parameters, int32_t count, bool all)
{
    int32_t hidden = 0;
    for (int32_t i = 0; i < count; i++) {
        const sinew_parameter *p = &parameters[i];
        if (p->expert && !all) {
            hidden++;
            continue;
        }
        printf("    %-18s ", p->name);
        if (p->choices) {
            print_choices(p);
        } else {
            printf("%g%s%s, ", p->preset, *p->unit ? " " : "", p->unit);
            bool low = isfinite(p->minimum), high = isfinite(p->maximum);
            if (low)
                printf("%s %g", p->open_minimum ? ">" : ">=", p->minimum);
            if (high)
                printf("%s%s %g", low ? " and " : "", p->open_maximum ? "<" : "<=", p->maximum);
            if (!low && !high)
                printf("any");
        }
        printf(". %s%s\n", p->meaning, p->expert ? " (expert)" : "");
    }
    return hidden;
}

/* ---- Topics: energies and solvers ------------------------------------------------------------- */

static void print_capabilities(uint32_t bits)
{
    static const char *const names[] = {"constraint", "project", "prox", "vertex", "reduce", "jacobian"};
    bool any = false;
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++)
        if (bits & (1u << i)) {
            printf("%s%s", any ? ", " : "", names[i]);
            any = true;
        }
    puts(any ? "" : "none");
}

static int print_energies(void)
{
    printf("Parameters: default, range, meaning. Keys of an energy in a scene; numbers in SI or with a unit.\n");
    for (int kind = 0; kind < sinew_energy_kind_end(); kind++) {
        const sinew_energy_info *info = energy_at(kind);
        if (!info)
            continue;
        printf("\n%s: on %s. %s\n  can beyond value, gradient, Hessian: ", info->name,
               sinew_stencil_name(info->stencil), info->summary);
        print_capabilities(info->capabilities);
        print_parameters(info->parameters, info->parameter_count, true);
    }
    return SINEW_EXIT_DONE;
}

static int print_loads(void)
{
    printf("Parameters: default, range, meaning. Keys of a load in a scene; numbers in SI or with a unit.\n");
    for (int kind = 0; kind < SINEW_LOAD_COUNT; kind++) {
        const sinew_load_info *info = sinew_get_load_info((sinew_load_kind)kind);
        printf("\n%s: on %s. %s\n    %-18s [x, y, z] %s. %s\n", info->name, sinew_stencil_name(info->stencil),
               info->summary, info->vector.name, info->vector.unit, info->vector.meaning);
        print_parameters(info->parameters, info->parameter_count, true);
    }
    return SINEW_EXIT_DONE;
}

static void print_volume_materials(void)
{
    printf("\n%-13s %8s %9s %7s\n%-13s %8s %9s\n", "volume", "density", "young", "poisson", "", "kg/m3", "kPa");
    for (int32_t i = 0; i < sinew_volume_material_count(); i++) {
        const sinew_volume_material *m = sinew_volume_material_at(i);
        printf("%-13s %8g %9g %7g\n", m->name, m->density, 1e-3 * m->young, m->poisson);
    }
    printf("\n");
    for (int32_t i = 0; i < sinew_volume_material_count(); i++)
        printf("%-13s %s. %s\n", sinew_volume_material_at(i)->name, sinew_volume_material_at(i)->about,
               sinew_volume_material_at(i)->source);
}

static int print_materials(void)
{
    printf("%-13s %8s %9s %19s %9s %7s %21s\n%-13s %8s %9s %19s %9s %7s %21s\n", "sheet", "density", "thickness",
           "young warp, weft", "shear", "poisson", "rigidity warp, weft", "", "kg/m2", "mm", "MPa", "MPa", "",
           "1e-6 N m");
    for (int32_t i = 0; i < sinew_material_count(); i++) {
        const sinew_material *m = sinew_material_at(i);
        printf("%-13s %8g %9g %9g %9g %9g %7g %10g %10g\n", m->name, m->density, 1e3 * m->thickness, 1e-6 * m->young[0],
               1e-6 * m->young[1], 1e-6 * m->shear, m->poisson, 1e6 * m->rigidity[0], 1e6 * m->rigidity[1]);
    }
    printf("\n");
    for (int32_t i = 0; i < sinew_material_count(); i++)
        printf("%-13s %s. %s\n", sinew_material_at(i)->name, sinew_material_at(i)->about, sinew_material_at(i)->source);
    print_volume_materials();
    return SINEW_EXIT_DONE;
}

static void print_solver(sinew_solver_kind kind, bool all)
{
    const sinew_solver_info *info = sinew_get_solver_info(kind);
    printf("\n%s: %s\n  %d iteration%s by default, %s\n", info->name, info->summary, info->default_iterations,
           info->default_iterations == 1 ? "" : "s",
           info->static_only   ? "quasistatic only"
           : info->quasistatic ? "also quasistatic"
                               : "not quasistatic");
    const int32_t hidden = print_parameters(info->parameters, info->parameter_count, all);
    if (hidden > 0)
        printf("    and %d expert parameter%s: --all\n", hidden, hidden == 1 ? "" : "s");
}

/* Prints a word in the solver's column of the matrix of energies and solvers, padded to the width of the solver's
 * name. */
static void print_cell(int solver, const char *word)
{
    const int width = (int)strlen(solver_at(solver)->name);
    printf(" %-*s", width > 8 ? width : 8, word);
}

static void print_row(int energy)
{
    printf("%-22s", energy_at(energy)->name);
    for (int solver = 0; solver < sinew_solver_kind_end(); solver++)
        if (solver_at(solver))
            print_cell(solver, sinew_solver_accepts((sinew_solver_kind)solver, (sinew_energy_kind)energy, NULL, 0)
                                   ? "yes"
                                   : "-");
    printf("\n");
}

/* Prints the matrix of energies (rows) and solvers (columns) that support them; the reasons follow the table. */
static void print_matrix(void)
{
    printf("%-22s", "energy");
    for (int solver = 0; solver < sinew_solver_kind_end(); solver++)
        if (solver_at(solver))
            print_cell(solver, solver_at(solver)->name);
    printf("\n");
    for (int energy = 0; energy < sinew_energy_kind_end(); energy++)
        if (energy_at(energy))
            print_row(energy);
    for (int solver = 0; solver < sinew_solver_kind_end(); solver++)
        for (int energy = 0; energy < sinew_energy_kind_end(); energy++) {
            char why[512];
            if (solver_at(solver) && energy_at(energy) &&
                !sinew_solver_accepts((sinew_solver_kind)solver, (sinew_energy_kind)energy, why, sizeof why))
                printf("%s\n", why);
        }
}

static int list_solvers(bool all)
{
    print_matrix();
    for (int kind = 0; kind < sinew_solver_kind_end(); kind++)
        if (solver_at(kind))
            print_solver((sinew_solver_kind)kind, all);
    return SINEW_EXIT_DONE;
}

static int print_solvers(void)
{
    return list_solvers(false);
}

static int print_all_solvers(void)
{
    return list_solvers(true);
}

/* ---- Topic: scenes ---------------------------------------------------------------------------- */

static void print_scene(const char *folder, const char *name)
{
    char path[4600];
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    sinew_scene_def def = sinew_default_scene_def();
    def.path = path;
    sinew_error error;
    sinew_scene *scene = sinew_scene_read(&def, &error);
    printf("%-20s %s\n", name, scene ? sinew_scene_comment(scene) : error.text);
    sinew_scene_destroy(scene);
}

/* True if an earlier entry of the scene folders is the same folder: in a source tree, ./scenes and the folder beside
 * the program. */
static bool scenes_printed_before(int32_t index, const char *folder)
{
    char other[4096];
    char *own = realpath(folder, NULL);
    bool found = false;
    for (int32_t i = 0; own && !found && i < index && sinew_scene_folder(i, other, sizeof other); i++) {
        char *earlier = realpath(other, NULL);
        found = earlier && strcmp(earlier, own) == 0;
        free(earlier);
    }
    free(own);
    return found;
}

static int print_scenes(void)
{
    char folder[4096];
    bool any = false;
    for (int32_t i = 0; sinew_scene_folder(i, folder, sizeof folder); i++) {
        if (scenes_printed_before(i, folder))
            continue;
        char **names;
        const int32_t count = sinew_scene_names(folder, &names);
        for (int32_t k = 0; k < count; k++) {
            if (k == 0)
                printf("%s%s:\n", any ? "\n" : "", folder);
            print_scene(folder, names[k]);
            any = true;
        }
        sinew_scene_names_free(names, count);
    }
    if (!any)
        return sinew_usage_error(command, "no scenes found; set SINEW_SCENES to the folder that holds them");
    return SINEW_EXIT_DONE;
}

/* ---- Topics: schema and mesh ------------------------------------------------------------------- */

static int print_schema(void)
{
    size_t size = sinew_scene_schema(NULL, 0);
    char *text = size ? malloc(size + 1) : NULL;
    if (!text)
        return sinew_usage_error(command, "out of memory");
    sinew_scene_schema(text, size + 1);
    fputs(text, stdout);
    free(text);
    return SINEW_EXIT_DONE;
}

static void info_print_report(const sinew_mesh *mesh, const sinew_mesh_report *report)
{
    printf("vertices   %d\ntets       %d\ntriangles  %d\nedges      %d\n", sinew_mesh_vertex_count(mesh),
           sinew_mesh_tet_count(mesh), sinew_mesh_triangle_count(mesh), sinew_mesh_edge_count(mesh));
    printf("bounds     [%g, %g, %g] to [%g, %g, %g] m\n", report->bounds[0], report->bounds[1], report->bounds[2],
           report->bounds[3], report->bounds[4], report->bounds[5]);
    printf("volume     %g m3\narea       %g m2\nlength     %g m\n", report->volume, report->area, report->length);
    printf("quality    worst %.3g, mean %.3g (1: regular tet)\n", report->quality_min, report->quality_mean);
    printf("pieces     %d\nsurface    %s\n", report->component_count, report->closed_surface ? "closed" : "open");
    for (int kind = 0; kind < SINEW_FLAW_COUNT; kind++)
        if (report->counts[kind] > 0)
            printf("flaw       %s: %d\n", sinew_flaw_name((sinew_flaw_kind)kind), report->counts[kind]);
    if (*sinew_mesh_warnings(mesh))
        printf("notes      %s\n", sinew_mesh_warnings(mesh));
}

static int print_mesh(const char *path)
{
    sinew_error error;
    sinew_mesh_report report;
    char found[4096];
    sinew_mesh *mesh = sinew_mesh_read(sinew_find_example(path, found, sizeof found) ? found : path, NULL, &error);
    int status = SINEW_EXIT_DONE;
    if (!mesh || sinew_mesh_check(mesh, &report, NULL, 0, &error) < 0)
        status = sinew_usage_error(command, "%s", error.text);
    else
        info_print_report(mesh, &report);
    sinew_mesh_destroy(mesh);
    return status;
}

/* ---- Table of topics and the command ---------------------------------------------------------- */

static const struct topic {
    const char *name;
    const char *summary;
    int (*print)(void);
    int (*print_all)(void); /* prints the topic with --all; NULL: the topic omits nothing */
} topics[] = {
    {"solvers", "which solver takes which energy, and their parameters; --all: expert ones too", print_solvers,
     print_all_solvers},
    {"energies", "parameters with units, ranges and defaults", print_energies, NULL},
    {"loads", "wind, traction and couples: parameters with units", print_loads, NULL},
    {"materials", "sheets and volumes by name, with their numbers and sources", print_materials, NULL},
    {"formats", "caches that a run can write, and their fields", sinew_info_formats, NULL},
    {"scenes", "example scenes, with what to look for", print_scenes, NULL},
    {"schema", "JSON Schema of scene files", print_schema, NULL},
};

/* Topics of `sinew info` that take a path. */
static const struct subject {
    const char *name, *usage;
    const char *summary;
    int (*print)(const char *path);
} subjects[] = {
    {"mesh", "mesh FILE", "counts, bounds, volume, quality and flaws of a mesh file", print_mesh},
    {"run", "run DIR", "what became of a run: steps, worst residual and gap, inverted tets, times", sinew_info_run},
};
enum {
    TOPIC_COUNT = sizeof topics / sizeof topics[0],
    SUBJECT_COUNT = sizeof subjects / sizeof subjects[0]
};

static int info_print_help(void)
{
    printf("usage: sinew info [TOPIC] [--all] | sinew info mesh FILE | sinew info run DIR\n\n"
           "Without a topic: version, precision, SIMD variant, threads.\n\n");
    for (int i = 0; i < TOPIC_COUNT; i++)
        printf("  %-10s %s\n", topics[i].name, topics[i].summary);
    for (int i = 0; i < SUBJECT_COUNT; i++)
        printf("  %-10s %s\n", subjects[i].usage, subjects[i].summary);
    printf("\nExample: sinew info energies\n         sinew info run out/twist\n\n"
           "Scenes are looked for in $SINEW_SCENES, ./scenes, share/sinew/scenes beside this program and beside its\n"
           "folder (<prefix>/share/sinew/scenes).\n");
    return SINEW_EXIT_DONE;
}

static int print_topic(const sinew_arguments *arguments)
{
    const char *names[TOPIC_COUNT + SUBJECT_COUNT];
    const char *word = arguments->plain[0];
    for (int i = 0; i < SUBJECT_COUNT; i++) {
        names[TOPIC_COUNT + i] = subjects[i].name;
        if (strcmp(word, subjects[i].name) != 0)
            continue;
        if (arguments->plain_count == 2)
            return subjects[i].print(arguments->plain[1]);
        return sinew_usage_error(command, "needs one %s: sinew info %s", strchr(subjects[i].usage, ' ') + 1,
                                 subjects[i].usage);
    }
    if (arguments->plain_count > 1)
        return sinew_usage_error(command, "takes one topic; see sinew info --help");
    for (int i = 0; i < TOPIC_COUNT; i++) {
        names[i] = topics[i].name;
        if (strcmp(topics[i].name, word) != 0)
            continue;
        if (sinew_option_on(arguments, "all") && !topics[i].print_all)
            return sinew_usage_error(command, "--all is for solvers: %s leaves nothing out", word);
        return sinew_option_on(arguments, "all") ? topics[i].print_all() : topics[i].print();
    }
    const char *nearest = sinew_nearest_name(word, names, TOPIC_COUNT + SUBJECT_COUNT);
    if (nearest)
        return sinew_usage_error(command, "unknown topic \"%s\"; did you mean \"%s\"?", word, nearest);
    return sinew_usage_error(command, "unknown topic \"%s\"; see sinew info --help", word);
}

int sinew_command_info(int argc, char **argv)
{
    static const sinew_option options[] = {{"help", NULL, "this text", false},
                                           {"all", NULL, "solvers: expert parameters too", false}};
    sinew_arguments arguments;
    if (!sinew_arguments_read(&arguments, command, options, 2, argc, argv))
        return SINEW_EXIT_USAGE;
    int status;
    if (sinew_option_on(&arguments, "help"))
        status = info_print_help();
    else if (arguments.plain_count == 0)
        status = print_build();
    else
        status = print_topic(&arguments);
    sinew_arguments_free(&arguments);
    return status;
}
