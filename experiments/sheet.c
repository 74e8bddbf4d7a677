/* SPDX-License-Identifier: MIT
 *
 * sheet.c: bodies of triangles for the experiments of Projective Dynamics. See sheet.h.
 */
#include "sheet.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "side_by_side.h"

/* ---- Meshes of sheets ------------------------------------------------------------------------- */

/* Pseudo-random number in [-1, 1], a hash of its arguments, platform-independent. */
static double sheet_scatter(int32_t i, int32_t axis)
{
    uint64_t z = ((uint64_t)(uint32_t)i * 3 + (uint64_t)axis + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return (double)((z ^ z >> 31) >> 11) / 4503599627370496.0 - 1;
}

/* True if d lies inside the circle through a, b, c (anticlockwise). */
static bool sheet_in_circle(const sinew_real *a, const sinew_real *b, const sinew_real *c, const sinew_real *d)
{
    double m[3][3];
    const sinew_real *p[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        m[i][0] = (double)p[i][0] - (double)d[0];
        m[i][1] = (double)p[i][1] - (double)d[1];
        m[i][2] = m[i][0] * m[i][0] + m[i][1] * m[i][1];
    }
    return m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0]) +
               m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]) >
           0;
}

/* Cuts the grid cells of a sheet along alternating diagonals, or by the Delaunay criterion if unstructured. */
static void cut_cells(int32_t nx, int32_t ny, const sinew_real *x, bool unstructured, int32_t *triangles)
{
    for (int32_t j = 0; j < ny; j++)
        for (int32_t i = 0; i < nx; i++) {
            const int32_t a = i + (nx + 1) * j, b = a + 1, c = a + nx + 2, d = a + nx + 1;
            /* x grows to the right and y falls with j, so that the corners d, c, b, a of a cell are anticlockwise. */
            const bool other =
                unstructured ? sheet_in_circle(x + 3 * d, x + 3 * c, x + 3 * a, x + 3 * b) : (i + j) % 2 != 0;
            const int32_t two[2][6] = {{a, d, c, a, c, b}, {a, d, b, d, c, b}};
            memcpy(triangles, two[other], sizeof two[0]);
            triangles += 6;
        }
}

sinew_mesh *sheet_rectangle(int32_t nx, int32_t ny, double width, double height, bool unstructured, sinew_error *error)
{
    const int32_t count = (nx + 1) * (ny + 1);
    sinew_real *x = malloc(3 * (size_t)count * sizeof *x);
    int32_t *triangles = malloc(6 * (size_t)nx * (size_t)ny * sizeof *triangles);
    sinew_mesh *mesh = NULL;
    for (int32_t v = 0; x && triangles && v < count; v++) {
        const int32_t i = v % (nx + 1), j = v / (nx + 1);
        const bool inside = i > 0 && i < nx && j > 0 && j < ny, moves = unstructured && inside;
        x[3 * v] = (sinew_real)(width / nx * (i + (moves ? 0.3 * sheet_scatter(v, 0) : 0)));
        x[3 * v + 1] = (sinew_real)(-height / ny * (j + (moves ? 0.3 * sheet_scatter(v, 1) : 0)));
        x[3 * v + 2] = 0;
    }
    if (x && triangles) {
        cut_cells(nx, ny, x, unstructured, triangles);
        sinew_mesh_def def = sinew_default_mesh_def();
        def.vertex_count = count;
        def.positions = x;
        def.triangle_count = 2 * nx * ny;
        def.triangles = triangles;
        mesh = sinew_mesh_create(&def, error);
    }
    free(x);
    free(triangles);
    return mesh;
}

sinew_mesh *sheet_bar(int32_t n, int32_t m, double length, double side, bool unstructured, sinew_error *error)
{
    sinew_beam_def def = sinew_default_beam_def();
    def.cells[0] = n;
    def.cells[1] = def.cells[2] = m;
    def.size[0] = (sinew_real)length;
    def.size[1] = def.size[2] = (sinew_real)side;
    sinew_mesh *bar = sinew_mesh_beam(&def, error);
    if (!bar || !unstructured)
        return bar;
    const int32_t count = sinew_mesh_vertex_count(bar);
    sinew_real *x = malloc(3 * (size_t)count * sizeof *x);
    sinew_mesh *moved = NULL;
    if (x) {
        memcpy(x, sinew_mesh_positions(bar), 3 * (size_t)count * sizeof *x);
        for (int32_t i = 0; i < 3 * count; i++) {
            const double half = (double)def.size[i % 3] / 2, cell = (double)def.size[i % 3] / def.cells[i % 3];
            /* Only interior coordinates move: coordinates on the surface stay. */
            if (fabs((double)x[i]) < half - 0.5 * cell)
                x[i] = (sinew_real)((double)x[i] + 0.2 * cell * sheet_scatter(i / 3, i % 3));
        }
        moved = sinew_mesh_moved(bar, x, error);
    }
    free(x);
    sinew_mesh_destroy(bar);
    return moved;
}

/* ---- Runs of sheets --------------------------------------------------------------------------- */

sinew_energy_def sheet_energy(sinew_energy_kind kind, ...)
{
    sinew_energy_def def = sinew_default_energy_def(kind);
    va_list list;
    va_start(list, kind);
    for (const char *name; (name = va_arg(list, const char *));)
        def.parameters[sinew_energy_parameter(kind, name)] = (sinew_real)va_arg(list, double);
    va_end(list);
    return def;
}

int32_t sheet_vertex_count(const sheet *s)
{
    return sinew_mesh_vertex_count(s->mesh);
}

bool sheet_pin(sheet *s, bool (*held)(const sinew_real *x))
{
    const sinew_real *x = sinew_mesh_positions(s->mesh);
    s->pinned = malloc((size_t)sheet_vertex_count(s) * sizeof *s->pinned);
    for (int32_t i = 0; s->pinned && i < sheet_vertex_count(s); i++)
        if (held(x + 3 * (size_t)i))
            s->pinned[s->pinned_count++] = i;
    return s->pinned != NULL;
}

static sinew_world *sheet_build(const sheet *s, sinew_pin *pin, sinew_error *error)
{
    sinew_world_def def = sinew_default_world_def();
    def.time_step = (sinew_real)s->h;
    def.gravity[1] = (sinew_real)-s->gravity;
    def.damping = (sinew_real)s->damping;
    def.thread_count = 1;
    def.solver = s->solver;
    sinew_world *world = sinew_world_create(&def, error);
    sinew_body_def body = sinew_default_body_def();
    body.mesh = s->mesh;
    body.density = (sinew_real)s->density;
    body.positions = s->start;
    const sinew_body added = sinew_world_add_body(world, &body, error);
    bool good = world && added.index >= 0;
    for (int32_t i = 0; good && i < s->energy_count; i++) {
        sinew_energy_def energy = s->energies[i];
        energy.body = added;
        good = sinew_world_add_energy(world, &energy, error).index >= 0;
    }
    if (good && s->pinned_count > 0) {
        sinew_pin_def held = sinew_default_pin_def();
        held.body = added;
        held.vertices = s->pinned;
        held.vertex_count = s->pinned_count;
        *pin = sinew_world_add_pins(world, &held, error);
        good = pin->index >= 0;
    }
    if (good)
        return world;
    sinew_world_destroy(world);
    return NULL;
}

static void move_pins(const sheet *s, sinew_world *world, sinew_pin pin, double fraction, sinew_real *targets)
{
    const sinew_real *rest = sinew_mesh_positions(s->mesh);
    for (int32_t i = 0; i < s->pinned_count; i++)
        s->mover(s, fraction, rest + 3 * (size_t)s->pinned[i], targets + 3 * (size_t)i);
    sinew_pin_set_targets(world, pin, targets, NULL);
}

static bool sheet_take(sheet *s)
{
    sinew_error error = {SINEW_OK, "out of memory"};
    sinew_pin pin = {0};
    sinew_step_result result = {0};
    sinew_real *targets = malloc((3 * (size_t)s->pinned_count + 1) * sizeof *targets);
    s->q = s->mesh ? malloc(3 * (size_t)sheet_vertex_count(s) * sizeof *s->q) : NULL;
    sinew_world *world = s->q && targets ? sheet_build(s, &pin, &error) : NULL;
    bool good = world && sinew_world_prepare(world, &error) == SINEW_OK;
    const clock_t began = clock();
    bool enough = false;
    for (int32_t i = 0; good && !enough && i < s->steps; i++) {
        if (s->mover && i < s->moving)
            move_pins(s, world, pin, (double)(i + 1) / s->moving, targets);
        const uint32_t bits = sinew_world_step(world, &result);
        good = (bits & (SINEW_STEP_NOT_FINITE | SINEW_STEP_UNPREPARED)) == 0;
        s->taken = i + 1;
        if (good && s->enough) {
            sinew_world_get_positions(world, 0, sheet_vertex_count(s), s->q);
            enough = s->enough(s);
        }
        if (!good)
            snprintf(error.text, sizeof error.text, "step %d: %.200s", i, sinew_world_error(world));
    }
    s->seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    s->residual = result.relative_residual;
    if (good)
        sinew_world_get_positions(world, 0, sheet_vertex_count(s), s->q);
    else
        snprintf(s->error, sizeof s->error, "%.255s", error.text);
    sinew_world_destroy(world);
    free(targets);
    return good;
}

static bool take_one(void *context, int32_t i)
{
    return sheet_take((sheet *)context + i);
}

static const char *failure_of(void *context, int32_t i)
{
    return ((const sheet *)context)[i].error;
}

bool sheets_take(const setting *s, sheet *sheets, int32_t count, const char *label, outcome *o)
{
    return side_by_side_run(&(side_by_side){take_one, failure_of, sheets}, count, true, s, label, o);
}

void sheets_release(sheet *sheets, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        sinew_mesh_destroy(sheets[i].mesh);
        free(sheets[i].pinned);
        free(sheets[i].start);
        free(sheets[i].q);
        sheets[i] = (sheet){0};
    }
}

/* ---- Measures of sheets ----------------------------------------------------------------------- */

static void edge_of(const sinew_real *x, int32_t from, int32_t to, double d[3])
{
    for (int c = 0; c < 3; c++)
        d[c] = (double)x[3 * (size_t)to + (size_t)c] - (double)x[3 * (size_t)from + (size_t)c];
}

static double sheet_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Computes the principal stretches of a triangle: the eigenvalues of C = F^T F are their squares. Trace and
 * determinant of C follow from the metrics of both shapes. */
void sheet_stretch(const sheet *s, int32_t triangle, double stretch[2])
{
    const int32_t *t = sinew_mesh_triangles(s->mesh) + 3 * (size_t)triangle;
    double g[2][3];
    for (int k = 0; k < 2; k++) {
        const sinew_real *x = k ? s->q : sinew_mesh_positions(s->mesh);
        double a[3], b[3];
        edge_of(x, t[0], t[1], a);
        edge_of(x, t[0], t[2], b);
        g[k][0] = sheet_dot(a, a);
        g[k][1] = sheet_dot(a, b);
        g[k][2] = sheet_dot(b, b);
    }
    const double area = g[0][0] * g[0][2] - g[0][1] * g[0][1];
    const double trace = (g[0][2] * g[1][0] - 2 * g[0][1] * g[1][1] + g[0][0] * g[1][2]) / area;
    const double det = (g[1][0] * g[1][2] - g[1][1] * g[1][1]) / area;
    const double root = sqrt(fmax(0.25 * trace * trace - det, 0));
    stretch[0] = sqrt(0.5 * trace + root);
    stretch[1] = sqrt(fmax(det, 0)) / stretch[0];
}

double sheet_depth(const sheet *s)
{
    const int32_t count = sheet_vertex_count(s);
    double mean = 0, square = 0;
    for (int32_t i = 0; i < count; i++)
        mean += (double)s->q[3 * (size_t)i + 2] / count;
    for (int32_t i = 0; i < count; i++) {
        const double d = (double)s->q[3 * (size_t)i + 2] - mean;
        square += d * d / count;
    }
    return sqrt(square);
}

void sheet_shape(figure *f, const sheet *s, const char *name)
{
    sinew_error error = {0};
    sinew_mesh *surface = sinew_mesh_tet_count(s->mesh) > 0 ? sinew_mesh_surface(s->mesh, &error) : NULL;
    const sinew_mesh *shown = surface ? surface : s->mesh;
    figure_shape(f, name, SINEW_SOLVER_PD, s->q, sheet_vertex_count(s));
    figure_surface(f, sinew_mesh_triangles(shown), sinew_mesh_triangle_count(shown));
    sinew_mesh_destroy(surface);
}
